//! Indices of particles in a subdomain: selection of those in a block, and new indices after a sort. The same for grains and fluids.

use super::neighbor_lists::make_room;
use super::{Cells, Number};
use crate::exchange::MAX_SAMPLED;
use crate::gpu::vector;
use crate::search::{Layer, layers_near};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_sweeps::domain::{Block, BlockLaunch};
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::domain::{find_among, find_for_others, find_within, invert, rename};
use seixo_sweeps::kernels::neighbor_lists::BOUNDS;

/// The particles of a subdomain, among which ghosts of others are selected.
pub(super) struct Candidates<'a, C> {
    pub position: &'a Buffer<C>,
    pub member: &'a Buffer<u32>,
    /// Whether only particles inside [`Cells::domain`] are selected.
    pub is_bounded: bool,
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

/// A block as a kernel argument.
pub(super) fn block_launch<C: Number>(block: &Block<f64>) -> BlockLaunch<C> {
    BlockLaunch::new(vector(&block.low), vector(&block.high), vector(&block.length))
}

impl<C: Number> Cells<C> {
    /// Marks those of n particles at these positions that are owned, inside the domain with these corners, and in a block, or outside it if `beyond`.
    pub(super) fn mark_within(
        &self,
        gpu: &Gpu,
        (position, member, n): (&Buffer<C>, &Buffer<u32>, usize),
        domain: &Buffer<C>,
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
            domain.argument(),
            self.lengths.argument(),
            block_launch(block),
            n as u32,
            beyond,
        );
    }

    /// Marks those of n particles at these positions that are for others, and finds the box around all inside the domain with these corners: see
    /// [`find_for_others()`], which has this many `blocks`.
    pub(super) fn find_for_others(
        &self,
        gpu: &Gpu,
        (position, member, n): (&Buffer<C>, &Buffer<u32>, usize),
        domain: &Buffer<C>,
        (blocks, number): (&Buffer<C>, usize),
    ) {
        let (count, dim) = units(BOUNDS * THREADS);
        find_for_others::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.records(),
            member.argument(),
            domain.argument(),
            blocks.argument(),
            self.lengths.argument(),
            self.corners.records(),
            number as u32,
            n as u32,
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
        let domain = if among.is_bounded { &self.domain } else { &self.unbounded };
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
                domain.argument(),
                self.first.argument(),
                self.shapes.argument(),
                among.bonded.0.argument(),
                self.starts.argument(),
                list.unwrap_or(&self.counts).argument(),
                block_launch(block),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::neighbor_lists::box_around;
    use seixo_laws::Vector3;
    use seixo_sweeps::bodies::{FREE, GHOST, REMOVED, is_owned};
    use seixo_sweeps::domain::is_in_block;
    use seixo_sweeps::kernels::domain::LEAVES;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn one_search_finds_the_grains_that_leave_and_the_ghosts_of_all_neighbors() {
        let gpu = Gpu::open(None).unwrap();
        // More than there are threads.
        let n = 70_000;
        let coordinate = |i: usize, axis: usize| ((i as f64 * [0.618_034, 0.754_878, 0.819_173][axis]) % 1.0) as f32;
        let place = |i: usize| [0, 1, 2].map(|axis| coordinate(i, axis));
        let position: Vec<f32> = (0..n).flat_map(|i| [&place(i)[..], &[0.01]].concat()).collect();
        let member: Vec<u32> = (0..n).map(|i| [FREE, GHOST, FREE, REMOVED, 7][i % 5]).collect();
        let block = |low: f32, high: f32, period: f32| Block {
            low: Vector3 { x: low, y: -1.0, z: 0.1 },
            high: Vector3 { x: high, y: 2.0, z: 0.9 },
            length: Vector3 { x: period, y: 0.0, z: 0.0 },
        };
        // The own block, and three of neighbors, the last of which sees images.
        let blocks = [
            block(0.3, 0.7, 0.0),
            block(0.0, 0.35, 0.0),
            block(0.65, 1.0, 0.0),
            block(1.3, 1.4, 1.0),
        ];
        let numbers_of = |block: &Block<f32>| [block.low, block.high, block.length].map(|v| [v.x, v.y, v.z]).concat();
        let table: Vec<f32> = blocks.iter().flat_map(numbers_of).collect();
        let cells = Cells::<f32>::new(&gpu, 1, n).unwrap();
        let [positions, table] = [position, table].map(|numbers| gpu.upload(&numbers, "a test").unwrap());
        let members = gpu.upload(&member, "a test").unwrap();
        cells.find_for_others(&gpu, (&positions, &members, n), &cells.unbounded, (&table, blocks.len()));
        let marks = gpu.download(&cells.lengths).unwrap();
        let mut seen = [0; 5];
        for (i, (&mark, &member)) in marks.iter().zip(&member).enumerate() {
            let [x, y, z] = place(i);
            let is_in = |k: usize| is_in_block::<f32>(&Vector3 { x, y, z }, &blocks[k]);
            let ghost: u32 = (1..blocks.len()).filter(|&k| is_in(k)).map(|k| 1u32 << k).sum();
            let expected = match (is_owned(member), is_in(0)) {
                (false, _) => 0,
                (true, false) => LEAVES,
                (true, true) => ghost,
            };
            assert_eq!(mark, expected, "grain {i}");
            (0..5).for_each(|bit| seen[bit] += (mark >> bit) & 1);
        }
        assert!(seen[..4].iter().all(|count| *count > 1000) && seen[4] == 0, "{seen:?}");
        let (found, counted) = box_around(&gpu.download(&cells.corners).unwrap());
        for axis in 0..3 {
            let along = (0..n).map(|i| f64::from(coordinate(i, axis)));
            let [low, high] = along.fold([1.0, 0.0], |[low, high], x| [x.min(low), x.max(high)]);
            assert_eq!([found.low[axis], found.high[axis]], [low, high]);
        }
        assert_eq!(counted, n);
    }
}
