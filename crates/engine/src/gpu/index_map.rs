//! Indices of particles in a subdomain: selection of those in a block, and new indices after a sort. The same for grains and fluids.

use super::neighbor_lists::make_room;
use super::{Cells, Number};
use crate::exchange::MAX_SAMPLED;
use crate::gpu::vector;
use crate::search::{Layer, layers_near};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_sweeps::domain::{Block, BlockLaunch};
use seixo_sweeps::kernels::domain::{find_among, find_within, invert, rename};

/// The particles of a subdomain, among which ghosts of others are selected.
pub(super) struct Candidates<'a, C> {
    pub position: &'a Buffer<C>,
    pub member: &'a Buffer<u32>,
    /// Number of particles, and of those that were sorted; the others arrived later and stand behind them.
    pub n: usize,
    pub sorted: usize,
    /// Largest distance that a particle can have moved since the sort \[m\].
    pub motion: f64,
    /// Indices of owned particles that are ghosts in any case, and their number.
    pub bonded: (&'a Buffer<u32>, usize),
}

/// Some candidates, which a launch tests.
#[derive(Clone, Copy)]
enum Tested {
    /// Particles of these cells.
    InLayer(Layer),
    /// Particles from this index on.
    Arrived(usize),
    Bonded,
}

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

    /// Finds owned particles in a block, as [`Cells::mark_within`], but tests only those in the cells near it at the last sort and those that arrived
    /// since \[Harada 2010\]. Writes their indices, and those of bonded particles, to the start of `found`, and returns their number.
    pub(super) fn list_in_layers(
        &mut self,
        gpu: &Gpu,
        among: &Candidates<'_, C>,
        block: &Block<f64>,
        found: &Buffer<u32>,
    ) -> Result<usize, GpuError> {
        let (grids, shapes) = &self.sorted_by;
        let mut tested: Vec<(Tested, usize)> = layers_near(block, among.motion, (&grids[..], &shapes[..]), C::of)
            .into_iter()
            .map(|layer| {
                (
                    Tested::InLayer(layer),
                    layer.widths().map(|cells| cells as usize).iter().product::<usize>(),
                )
            })
            .collect();
        tested.push((Tested::Arrived(among.sorted), among.n - among.sorted));
        tested.push((Tested::Bonded, among.bonded.1));
        tested.retain(|(_, count)| *count > 0);
        let candidates: usize = tested.iter().map(|(_, count)| count).sum();
        if candidates == 0 {
            return Ok(0);
        }
        make_room(gpu, &mut self.counts, candidates, "domains")?;
        make_room(gpu, &mut self.starts, candidates + 1, "domains")?;
        self.test(gpu, among, block, &tested, None);
        self.workspace.exclusive_scan(gpu, &self.counts, candidates, &self.starts)?;
        self.test(gpu, among, block, &tested, Some(found));
        Ok(gpu.download_part(&self.starts, candidates..candidates + 1).wait()?[0] as usize)
    }

    /// Counts the particles in a block among these candidates, or lists them.
    fn test(&self, gpu: &Gpu, among: &Candidates<'_, C>, block: &Block<f64>, tested: &[(Tested, usize)], list: Option<&Buffer<u32>>) {
        let mut from = 0;
        for &(tested, m) in tested {
            let (mut grid, mut low, mut widths, mut first) = (0, [0; 3], [1; 3], 0);
            match tested {
                Tested::InLayer(layer) => {
                    (grid, widths) = (layer.grid, layer.widths());
                    low = [layer.span.x_first, layer.span.y_first, layer.span.z_first];
                }
                Tested::Arrived(index) => first = index,
                Tested::Bonded => {}
            }
            let (count, dim) = units(m);
            find_among::launch::<C>(
                gpu.client(),
                count,
                dim,
                among.position.records(),
                among.member.argument(),
                self.domain.argument(),
                self.first.argument(),
                self.shapes.argument(),
                among.bonded.0.argument(),
                self.starts.argument(),
                list.unwrap_or(&self.counts).argument(),
                BlockLaunch::new(vector(&block.low), vector(&block.high), vector(&block.length)),
                grid as u32,
                low[0],
                low[1],
                low[2],
                widths[0],
                widths[1],
                first as u32,
                from as u32,
                m as u32,
                matches!(tested, Tested::InLayer(_)),
                matches!(tested, Tested::Bonded),
                list.is_some(),
            );
            from += m;
        }
    }

    /// Queues the writing of the indices of the marked ones of n particles to the start of `found`, and of their number to `kept`.
    pub(super) fn queue_marked(&mut self, gpu: &Gpu, n: usize, found: &Buffer<u32>) -> Result<(), GpuError> {
        self.workspace.compact(gpu, &self.lengths, n, found, &self.kept)
    }

    /// As [`Cells::queue_marked`]. Waits for the number, and returns it.
    pub(super) fn list_marked(&mut self, gpu: &Gpu, n: usize, found: &Buffer<u32>) -> Result<usize, GpuError> {
        self.queue_marked(gpu, n, found)?;
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
