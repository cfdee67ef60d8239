//! Indices of particles in a subdomain: selection of those in a block, and new indices after a sort. The same for grains and fluids.

use super::{Cells, Number};
use crate::exchange::MAX_SAMPLED;
use crate::gpu::vector;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_sweeps::domain::{Block, BlockLaunch};
use seixo_sweeps::kernels::domain::{find_within, invert, rename};

impl<C: Number> Cells<C> {
    /// Marks those of n particles at these positions that are owned and in a block, or outside it if `beyond`.
    pub(super) fn mark_within(
        &self,
        gpu: &Gpu,
        (position, member, n): (&Buffer<C>, &Buffer<u32>, usize),
        block: &Block<f64>,
        beyond: bool,
    ) {
        let (count, dim) = units(n);
        find_within::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.records(),
            member.argument(),
            self.domain.argument(),
            self.lengths.argument(),
            BlockLaunch::new(vector(&block.low), vector(&block.high), vector(&block.length)),
            n as u32,
            beyond,
        );
    }

    /// Writes the indices of the marked ones of n particles to the start of `found`, and returns their number.
    pub(super) fn list_marked(&self, gpu: &Gpu, n: usize, found: &Buffer<u32>) -> Result<usize, GpuError> {
        gpu.compact(&self.lengths, n, found, &self.kept)?;
        Ok(gpu.download(&self.kept)?[0] as usize)
    }
}

/// New index of each of n particles after this order was applied.
pub(super) fn invert_order(gpu: &Gpu, order: &Buffer<u32>, n: usize, place_of: &Buffer<u32>) {
    let (count, dim) = units(n);
    invert::launch(gpu.client(), count, dim, order.argument(), place_of.argument(), n as u32);
}

/// Replaces m indices before the sort by the current ones.
pub(super) fn rename_places(gpu: &Gpu, places: &Buffer<u32>, m: usize, place_of: &Buffer<u32>) {
    if m > 0 {
        let (count, dim) = units(m);
        rename::launch(gpu.client(), count, dim, places.argument(), place_of.argument(), m as u32);
    }
}

/// Indices among n particles at which a subdomain samples positions.
pub(super) fn sampled(n: usize) -> Vec<u32> {
    let sampled = n.min(MAX_SAMPLED);
    (0..sampled).map(|k| (k * n / sampled) as u32).collect()
}
