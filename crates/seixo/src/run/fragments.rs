//! The table of the fragments that bonded grains fell into.

use super::folder::{FRAGMENTS, disk};
use seixo_analysis::{Fragments, fragments};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{BondSnapshot, Simulation};
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use std::path::Path;

const COLUMNS: [&str; 11] = [
    "fragment",
    "grains",
    "mass [kg]",
    "diameter [m]",
    "x [m]",
    "y [m]",
    "z [m]",
    "velocity_x [m/s]",
    "velocity_y [m/s]",
    "velocity_z [m/s]",
    "passing [-]",
];

/// The fragments of all grains that are, or were, bonded: what never was, such as a stamp, is no piece of what broke.
pub(super) fn of_bonded(simulation: &Simulation, grains: &GrainSnapshot, bonds: &[BondSnapshot]) -> Fragments {
    let bonded = simulation.bonded_grains();
    fragments(grains, bonds, |i| bonded.binary_search(&grains.id[i]).is_ok())
}

/// Writes them as they are now, heaviest first, over those of an earlier time: all follows from the bonds that hold, so none of it is kept for
/// a continuation.
pub(super) fn write(layer: &dyn FileLayer, folder: &Path, simulation: &Simulation) -> Result<(), FilesError> {
    let found = of_bonded(simulation, &simulation.snapshot(), &simulation.bonds_now());
    let mut text = COLUMNS.join(",") + "\n";
    for (fragment, passing) in found.list.iter().zip(found.passing()) {
        let [x, y, z] = fragment.center.to_array();
        let [u, v, w] = fragment.velocity.to_array();
        let numbers = [fragment.mass, fragment.diameter(), x, y, z, u, v, w, passing].map(|number| format!("{number:?}"));
        text += &format!("{},{},{}\n", fragment.number, fragment.grains, numbers.join(","));
    }
    let path = folder.join(FRAGMENTS);
    replace(layer, &path, text.as_bytes()).map_err(disk(&path, "write it"))
}
