//! Places of particles in a domain: who stands in a block, and where particles go as they are sorted. Alike for grains and for fluids.

use super::{Cells, Number};
use crate::division::SAMPLED;
use crate::gpu::vector;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_sweeps::domain::{Block, BlockLaunch};
use seixo_sweeps::kernels::domain::{find_within, invert, rename};

impl<C: Number> Cells<C> {
    /// Marks those of n particles in these places that are own ones in a block, or beyond it.
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

    /// Of n particles lets the places of those that are marked become the first of `found`. Says how many.
    pub(super) fn list_marked(&self, gpu: &Gpu, n: usize, found: &Buffer<u32>) -> Result<usize, GpuError> {
        gpu.compact(&self.lengths, n, found, &self.kept)?;
        Ok(gpu.download(&self.kept)?[0] as usize)
    }
}

/// Where each of n particles of an order went.
pub(super) fn invert_order(gpu: &Gpu, order: &Buffer<u32>, n: usize, place_of: &Buffer<u32>) {
    let (count, dim) = units(n);
    invert::launch(gpu.client(), count, dim, order.argument(), place_of.argument(), n as u32);
}

/// From m places before particles were sorted to those where they are now.
pub(super) fn rename_places(gpu: &Gpu, places: &Buffer<u32>, m: usize, place_of: &Buffer<u32>) {
    if m > 0 {
        let (count, dim) = units(m);
        rename::launch(gpu.client(), count, dim, places.argument(), place_of.argument(), m as u32);
    }
}

/// Places among n at which a domain looks where particles are.
pub(super) fn sampled(n: usize) -> Vec<u32> {
    let sampled = n.min(SAMPLED);
    (0..sampled).map(|k| (k * n / sampled) as u32).collect()
}
