//! What can be shown in a window, and by what it can be colored.

use crate::{Shown, bonds};

/// What walls can be colored by that wear.
const OF_WALLS: [&str; 2] = ["wear_depth", "worn_volume"];

/// What can be shown of a recording, or of a simulation that runs: of that no mesh is made of a surface, which takes longer than many steps.
pub fn shown(is_recorded: bool) -> impl Iterator<Item = Shown> {
    let all = [
        Shown::Grains,
        Shown::Smooth,
        Shown::Surface,
        Shown::Contacts,
        Shown::ForceChains,
        Shown::Bonds,
        Shown::Cracks { has_bonds: true },
        Shown::Cracks { has_bonds: false },
        Shown::Walls,
    ];
    all.into_iter().filter(move |shown| is_recorded || *shown != Shown::Surface)
}

/// What is shown, in words.
pub fn word_for(shown: Shown) -> &'static str {
    match shown {
        Shown::Grains => "particles",
        Shown::Smooth => "fluids as a smooth surface",
        Shown::Surface => "fluids as a mesh of their surface",
        Shown::Contacts => "contacts",
        Shown::ForceChains => "force chains",
        Shown::Bonds => "bonds",
        Shown::Cracks { has_bonds: true } => "cracks among bonds",
        Shown::Cracks { has_bonds: false } => "cracks",
        Shown::Walls => "walls that wear",
    }
}

/// Names of what it can be colored by, where particles can be by these.
pub fn fields_of(shown: Shown, of_particles: &[String]) -> Vec<String> {
    match shown {
        Shown::Grains | Shown::Smooth | Shown::Surface => of_particles.to_vec(),
        Shown::Bonds => bonds::FIELDS.map(str::to_owned).to_vec(),
        Shown::Walls => OF_WALLS.map(str::to_owned).to_vec(),
        // By their normal force, and by how they broke.
        Shown::Contacts | Shown::ForceChains | Shown::Cracks { .. } => Vec::new(),
    }
}
