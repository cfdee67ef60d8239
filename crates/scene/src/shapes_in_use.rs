//! Shapes of polyhedral grains in the order in which a scene uses them. Checkpoints have only their numbers.

use crate::{
    assemble::CheckState,
    blocks::blocks,
    diagnostics::{Diagnostics, UnlocatedDiagnostic},
    grains::fnv1a,
    polyhedra::polyhedra,
    start::scene_of,
};
use seixo_engine::world::PolyhedralShape;
use std::path::Path;

/// Index of a shape among those in use, to which it is added if it is not there.
pub(crate) fn index_of(used: &mut Vec<PolyhedralShape>, shape: &PolyhedralShape) -> u32 {
    let index = used.iter().position(|known| known == shape).unwrap_or(used.len());
    if index == used.len() {
        used.push(shape.clone());
    }
    index as u32
}

/// The shapes that the run in this folder uses, in their order there: its own, and then those of the run from which it started. If that one is gone, its
/// shapes are missing at the end.
pub(crate) fn shapes_of_run(folder: &Path) -> Result<Vec<PolyhedralShape>, UnlocatedDiagnostic> {
    let (mut file, root) = scene_of(folder)?;
    let mut used = Vec::new();
    // The scene of a run is sound: it did run.
    let mut findings = CheckState::new(root, Diagnostics::default(), &|path| path);
    let polyhedra = polyhedra(&mut file, &mut findings);
    let seed = file.run.seed.0;
    for (name, section) in &file.grains {
        if let Some(drawn) = section.shape.as_ref().and_then(|shape| polyhedra.get(shape)) {
            index_of(&mut used, &drawn.shape);
        }
        for block in blocks(name, section, seed, fnv1a(name)).map_err(|(_, complaint)| complaint)? {
            index_of(&mut used, &block.drawn.shape);
        }
    }
    if let Some(start) = &file.start
        && let Ok(before) = shapes_of_run(Path::new(&start.from))
    {
        for shape in &before {
            index_of(&mut used, shape);
        }
    }
    Ok(used)
}
