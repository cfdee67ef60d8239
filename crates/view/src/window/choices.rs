//! Available views and fields of a window.

use crate::{Shown, bonds};

/// Fields of walls with wear.
const OF_WALLS: [&str; 2] = ["wear_depth", "worn_volume"];

/// The available views. A running simulation has no surface mesh, which takes longer than many steps.
pub fn shown(is_recorded: bool) -> impl Iterator<Item = Shown> {
    let all = [
        Shown::Grains,
        Shown::Smooth,
        Shown::Surface,
        Shown::Contacts,
        Shown::ForceChains,
        Shown::Bonds,
        Shown::BondBreaks { has_bonds: true },
        Shown::BondBreaks { has_bonds: false },
        Shown::Walls,
    ];
    all.into_iter().filter(move |shown| is_recorded || *shown != Shown::Surface)
}

/// Name of a view.
pub fn word_for(shown: Shown) -> &'static str {
    match shown {
        Shown::Grains => "particles",
        Shown::Smooth => "fluids as a smooth surface",
        Shown::Surface => "fluids as a mesh of their surface",
        Shown::Contacts => "contacts",
        Shown::ForceChains => "force chains",
        Shown::Bonds => "bonds",
        Shown::BondBreaks { has_bonds: true } => "cracks among bonds",
        Shown::BondBreaks { has_bonds: false } => "cracks",
        Shown::Walls => "walls that wear",
    }
}

/// Names of the fields of a view, given those of particles.
pub fn fields_of(shown: Shown, of_particles: &[String]) -> Vec<String> {
    match shown {
        Shown::Grains | Shown::Smooth | Shown::Surface => of_particles.to_vec(),
        Shown::Bonds => bonds::FIELDS.map(str::to_owned).to_vec(),
        Shown::Walls => OF_WALLS.map(str::to_owned).to_vec(),
        // Colored by normal force, and by break mode.
        Shown::Contacts | Shown::ForceChains | Shown::BondBreaks { .. } => Vec::new(),
    }
}
