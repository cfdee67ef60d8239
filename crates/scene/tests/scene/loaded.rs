//! Scenes from text, for tests.

use seixo_scene::{Scene, load_text};
use std::path::Path;

/// The scene of a valid text.
pub fn scene(text: &str) -> Scene {
    load_text(text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// A scene without grains.
pub const GLASS: &str = r#"
[run]
until = 1
[material.glass]
density = 2500
youngs_modulus = 1e9
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.3
"#;
