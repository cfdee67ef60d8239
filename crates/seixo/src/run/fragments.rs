//! The table of fragments of bonded grains.

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

/// Returns the fragments of all grains that are, or were, bonded. Grains that never were, such as a stamp, belong to no fragment.
pub(super) fn of_bonded(simulation: &Simulation, grains: &GrainSnapshot, bonds: &[BondSnapshot]) -> Fragments {
    let bonded = simulation.bonded_grains();
    fragments(grains, bonds, |i| bonded.binary_search(&grains.id[i]).is_ok())
}

/// Writes the current fragments, the heaviest first, over the earlier table. They follow from the intact bonds, so a checkpoint does not contain
/// them.
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
