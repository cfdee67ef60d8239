//! What heat conduction reads of the contacts of polyhedral grains.

use super::GpuShapes;
use crate::gpu::Number;
use seixo_device::gpu::Buffer;

/// Contacts of polyhedral grains, see [`seixo_sweeps::kernels::diffusion::diffuse()`].
pub(in crate::gpu) struct ConductingShapes<'a, C, R> {
    /// Shapes of all grains.
    pub marks: &'a Buffer<u32>,
    /// First end of a pair of each grain, the ends, and the indices of both grains of each pair.
    pub end_first: &'a Buffer<u32>,
    pub ends: &'a Buffer<u32>,
    pub pairs: &'a Buffer<u32>,
    /// What pairs do, and grains at the elements in the rows of walls.
    pub pair_loads: &'a Buffer<R>,
    pub wall_loads: &'a Buffer<C>,
}

impl<C: Number, R: Number> GpuShapes<C, R> {
    /// The present contacts.
    pub(in crate::gpu) fn conducting(&self) -> ConductingShapes<'_, C, R> {
        let (list, at_walls) = (&self.pairs, &self.at_walls);
        ConductingShapes {
            marks: &self.marks,
            end_first: &list.end_first[list.now],
            ends: &list.ends[list.now],
            pairs: &list.pairs[list.now],
            pair_loads: &list.loads[list.now],
            wall_loads: &at_walls.loads[at_walls.now],
        }
    }
}
