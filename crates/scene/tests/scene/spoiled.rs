//! A valid scene, and the errors after changes to it.

use seixo_scene::{Diagnostics, load_text};
use std::path::Path;

/// A small valid scene that the cases below change; line numbers in the table refer to it.
pub const SOUND: &str = r#"title = "sound"
[run]
until = "1 s"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "1 GPa"
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.3
[grains.bed]
material = "glass"
at = [[0, 0, 0], ["3 mm", 0, 0]]
radius = "1 mm"
[wall.floor]
material = "glass"
plane = { point = [0, 0, "-2 mm"], normal = [0, 0, 1] }
[output]
every = "10 ms"
[probe.first]
position = 0
"#;

pub fn refused(text: &str) -> Diagnostics {
    load_text(text, Path::new("scene.toml"), &[]).expect_err(text)
}

/// (replaced text, replacement, required phrases of the message).
pub type Case = (&'static str, &'static str, &'static [&'static str]);

/// Asserts that the scene is refused after each replacement, with these phrases and a remedy.
pub fn assert_refused(cases: &[Case]) {
    for (what, by, phrases) in cases {
        assert_eq!(SOUND.matches(what).count(), 1, "{what}");
        let found = refused(&SOUND.replace(what, by));
        let message = found.plain();
        for phrase in *phrases {
            assert!(message.contains(phrase), "`{by}`: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "`{by}`: no remedy in\n{message}");
    }
}
