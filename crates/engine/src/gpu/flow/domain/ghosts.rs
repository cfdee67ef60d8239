//! Ghosts of fluids that go from GPU to GPU at a rebuild of the lists. The host only learns how many there are, and how many of them are fluid: a list of
//! them would pass through its memory several times.

use super::super::GpuFluid;
use super::MigrationBuffer;
use crate::exchange::{DecodeError, HaltReason};
use crate::flow::Flow;
use crate::gpu::Number;
use crate::gpu::halo_exchange::{GhostExchange, HaloMessage};
use crate::gpu::index_map::block_launch;
use crate::gpu::neighbor_lists::make_room;
use crate::search::number_of_cells;
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::domain::Block;
use seixo_sweeps::fluid::Solver;
use seixo_sweeps::kernels::domain::{count_from, mark_fluid, mark_ghosts_of_fluid};
use seixo_sweeps::kernels::fluid_ghosts::{find_ghosts_of_fluid, mark_wall_cells};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::OPEN;
use std::sync::{Arc, OnceLock};

/// Numbers of particles that are ghosts in another subdomain, and of the fluid particles among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundGhosts {
    all: usize,
    fluid: usize,
}

/// Particles that are ghosts in another subdomain, on the GPU of either.
pub(super) struct PackedGhosts<C, R> {
    packed: Arc<MigrationBuffer<C, R>>,
    found: FoundGhosts,
    gpu: Gpu,
}

impl<C: Number, R: Number> PackedGhosts<C, R> {
    /// These ghosts on another GPU, with this many columns of motion, see [`Gpu::copy_to`]. On the same GPU, these particles themselves.
    fn copied(&self, motions: usize, to: &Gpu) -> Result<PackedGhosts<C, R>, GpuError> {
        let (from, m) = (&self.gpu, self.found.all);
        let packed = if m == 0 || from.is_same(to) {
            self.packed.clone()
        } else {
            let (mut words, mut coordinates, mut motion) = (Vec::new(), Vec::new(), Vec::new());
            for column in &self.packed.words {
                words.push(from.copy_to(column, m, to)?);
            }
            for column in &self.packed.coordinates {
                coordinates.push(from.copy_to(column, RECORD * m, to)?);
            }
            for column in &self.packed.motions[..motions] {
                motion.push(from.copy_to(column, RECORD * m, to)?);
            }
            Arc::new(MigrationBuffer {
                words,
                coordinates,
                motions: motion,
                // There is at least one word.
                fluid: from.copy_to(&self.packed.fluid, self.found.fluid.max(1), to)?,
                memory: OnceLock::new(),
            })
        };
        Ok(PackedGhosts {
            packed,
            found: self.found,
            gpu: to.clone(),
        })
    }
}

/// Index of the cells per length in the record of a grid, see [`seixo_sweeps::cells::GRID`].
const CELLS_PER_LENGTH: usize = 3;
/// Part of the reach that rounding may take from the cells within it. Walls rest, so their fluid has half the skin left \[-\].
const ROUNDING: f64 = 1e-6;

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Whether wall particles rest, and none is across periodic sides: then those near the fluid of this domain are known here at a rebuild, unless planes
    /// moved.
    pub(super) fn has_walls_at_rest(&self) -> bool {
        let plan = &self.plan;
        let rests = plan.bounded && !plan.moving && !plan.passing && !plan.carrying;
        rests && plan.sides == OPEN && plan.solver == Solver::WeaklyCompressible
    }

    /// Queues marks of the cells that have wall particles, of the last sort.
    pub(super) fn mark_cells_of_walls(&mut self) -> Result<(), GpuError> {
        let (gpu, n) = (self.gpu.clone(), self.n);
        let (_, shapes) = &self.cells.sorted_by;
        let number = number_of_cells(shapes);
        let marks = &mut self.border_mut().wall_cells;
        make_room(&gpu, marks, number, "domains")?;
        gpu.clear(marks);
        let (count, dim) = units(n);
        mark_wall_cells::launch::<C>(
            gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.kind.argument(),
            self.cells.grids.argument(),
            self.cells.shapes.argument(),
            self.border().wall_cells.argument(),
            n as u32,
        );
        Ok(())
    }

    /// Queues the search for the ghosts of a neighbor with this block and its halo: all particles there or, with the `near` part of it, those in that part
    /// and the fluid near [marked cells](GpuFluid::mark_cells_of_walls). Their number comes to `kept` of the cells.
    pub(super) fn queue_ghosts(&mut self, host: &Flow, block: &Block<f64>, near: Option<&Block<f64>>) -> Result<(), GpuError> {
        let border = self.border();
        if let Some(near) = near {
            let (grids, _) = &self.cells.sorted_by;
            let reach = host.reach_of_lists() * (1.0 - ROUNDING) * grids[CELLS_PER_LENGTH].double();
            let (count, dim) = units(self.n);
            find_ghosts_of_fluid::launch::<C>(
                self.gpu.client(),
                count,
                dim,
                self.position[self.now].records(),
                self.kind.argument(),
                border.owned.argument(),
                self.cells.grids.argument(),
                self.cells.shapes.argument(),
                border.wall_cells.argument(),
                self.cells.lengths.argument(),
                block_launch(near),
                block_launch(block),
                reach.ceil() as u32,
                self.n as u32,
            );
        } else {
            let own = (&self.position[self.now], &border.owned, self.n);
            self.cells.mark_within(&self.gpu, own, &self.cells.unbounded, block, false);
        }
        self.cells.queue_marked(&self.gpu, self.n, &self.order)
    }

    /// Finds the fluid among the particles that were found for a neighbor, and writes its places in the buffer `order` to the start of the buffer `key`.
    /// Waits for the numbers of particles and of fluid.
    pub(super) fn count_found(&mut self) -> Result<FoundGhosts, GpuError> {
        let (gpu, n) = (self.gpu.clone(), self.n);
        let cells = &mut self.cells;
        let (count, dim) = units(n);
        mark_fluid::launch(
            gpu.client(),
            count,
            dim,
            self.order.argument(),
            cells.kept.argument(),
            self.kind.argument(),
            cells.lengths.argument(),
            n as u32,
        );
        let border = self.border.as_ref().expect("a domain has a border");
        cells.workspace.compact(&gpu, &cells.lengths, n, &self.key, &border.fluid_found)?;
        let mut copies = gpu.copies();
        let (all, fluid) = (copies.add(&cells.kept, 0..1), copies.add(&border.fluid_found, 0..1));
        let arrived = copies.wait()?;
        let [all, fluid] = [all, fluid].map(|number| arrived.take(number)[0] as usize);
        Ok(FoundGhosts { all, fluid })
    }

    /// Queues the packing of the particles of [`GpuFluid::count_found`] for neighbor k.
    pub(super) fn pack_ghosts(&mut self, k: usize, FoundGhosts { all: m, fluid }: FoundGhosts) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let side = &mut self.border_mut().sides[k];
        (side.packed, side.shown) = (m, fluid);
        if m == 0 {
            return Ok(());
        }
        MigrationBuffer::make_room_apart(&mut side.outgoing, &gpu, m)?;
        make_room(&gpu, &mut side.own, fluid, "domains")?;
        let side = &self.border().sides[k];
        let (packed, columns) = (&side.outgoing, self.columns());
        for (column, room) in columns.words.into_iter().zip(&packed.words) {
            gpu.gather(column, &self.order, m, 1, room);
        }
        for (column, room) in columns.coordinates.into_iter().zip(&packed.coordinates) {
            gpu.gather(column, &self.order, m, RECORD, room);
        }
        for (column, room) in columns.motions.into_iter().zip(&packed.motions) {
            gpu.gather(column, &self.order, m, RECORD, room);
        }
        gpu.copy(&self.key, fluid, &packed.fluid);
        gpu.gather(&self.order, &self.key, fluid, 1, &side.own);
        Ok(())
    }

    /// Appends ghosts of neighbor k that came from a GPU behind all other particles.
    pub(super) fn append_ghosts(&mut self, k: usize, ghosts: &PackedGhosts<C, R>) -> Result<(), GpuError> {
        let (FoundGhosts { all: m, fluid }, first) = (ghosts.found, self.n);
        self.border_mut().sides[k].followed_ghosts = fluid;
        if m == 0 {
            return Ok(());
        }
        self.make_room_for(first + m)?;
        let gpu = self.gpu.clone();
        make_room(&gpu, &mut self.border_mut().sides[k].ghosts, fluid, "domains")?;
        let (packed, columns) = (&ghosts.packed, self.columns());
        // The sort that follows overwrites the order.
        let (count, dim) = units(m);
        count_from::launch(gpu.client(), count.clone(), dim, self.order.argument(), first as u32, m as u32);
        for (column, words) in columns.words.into_iter().zip(&packed.words) {
            gpu.scatter(words, &self.order, m, 1, column);
        }
        for (column, records) in columns.coordinates.into_iter().zip(&packed.coordinates) {
            gpu.scatter(records, &self.order, m, RECORD, column);
        }
        for (column, records) in columns.motions.into_iter().zip(&packed.motions) {
            gpu.scatter(records, &self.order, m, RECORD, column);
        }
        let border = self.border();
        mark_ghosts_of_fluid::launch(
            gpu.client(),
            count,
            dim,
            // Ids and kinds.
            packed.words[1].argument(),
            packed.fluid.argument(),
            self.member.argument(),
            border.owned.argument(),
            border.sides[k].ghosts.argument(),
            first as u32,
            m as u32,
            fluid as u32,
        );
        self.n += m;
        Ok(())
    }

    /// Copies ghosts from another GPU whose memory this one accesses, and keeps them. Returns whether it does. The other host has waited until
    /// they were packed; and it packs new ones only after this GPU has listed these.
    fn fetch_ghosts(&mut self, side: usize, theirs: &PackedGhosts<C, R>) -> Result<bool, GpuError> {
        let gpu = self.gpu.clone();
        // Both of a pair decide alike.
        if gpu.is_same(&theirs.gpu) || !gpu.accesses(&theirs.gpu) || !theirs.gpu.accesses(&gpu) {
            return Ok(false);
        }
        let (from, m, motions) = (&theirs.packed, theirs.found.all, self.columns().motions.len());
        let Some(memory) = from.memory(&theirs.gpu)? else {
            return Ok(false);
        };
        let side = &mut self.border_mut().sides[side];
        MigrationBuffer::make_room_apart(&mut side.room_for_incoming, &gpu, m)?;
        let room = &side.room_for_incoming;
        let (of_words, memory) = memory.split_at(from.words.len());
        let (of_coordinates, memory) = memory.split_at(from.coordinates.len());
        let (of_motions, of_fluid) = memory.split_at(from.motions.len());
        for ((column, memory), to) in from.words.iter().zip(of_words).zip(&room.words) {
            gpu.fetch((column, memory), m, to);
        }
        for ((column, memory), to) in from.coordinates.iter().zip(of_coordinates).zip(&room.coordinates) {
            gpu.fetch((column, memory), RECORD * m, to);
        }
        for ((column, memory), to) in from.motions.iter().zip(of_motions).zip(&room.motions).take(motions) {
            gpu.fetch((column, memory), RECORD * m, to);
        }
        for memory in of_fluid {
            gpu.fetch((&from.fluid, memory), theirs.found.fluid, &room.fluid);
        }
        side.incoming = Some(PackedGhosts {
            packed: room.clone(),
            found: theirs.found,
            gpu,
        });
        Ok(true)
    }

    fn outgoing_ghosts(&self, side: usize) -> PackedGhosts<C, R> {
        let side = &self.border().sides[side];
        PackedGhosts {
            packed: side.outgoing.clone(),
            found: FoundGhosts {
                all: side.packed,
                fluid: side.shown,
            },
            gpu: self.gpu.clone(),
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GhostExchange for GpuFluid<C, R> {
    fn hand_ghosts(&self, side: usize) -> HaloMessage {
        Box::new(self.outgoing_ghosts(side))
    }

    fn copy_ghosts(&mut self, side: usize, theirs: HaloMessage) -> Result<HaloMessage, HaltReason> {
        let theirs = theirs.downcast::<PackedGhosts<C, R>>().map_err(|_| HaltReason::from(DecodeError))?;
        let own = self.outgoing_ghosts(side);
        if self.fetch_ghosts(side, &theirs)? {
            // The other one does the same.
            return Ok(Box::new(own));
        }
        let motions = self.columns().motions.len();
        let there = own.copied(motions, &theirs.gpu)?;
        let here = theirs.copied(motions, &own.gpu)?;
        self.border_mut().sides[side].incoming = Some(here);
        Ok(Box::new(there))
    }

    fn receive_ghosts(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        let copied = copied.downcast::<PackedGhosts<C, R>>().map_err(|_| HaltReason::from(DecodeError))?;
        if !self.fetch_ghosts(side, &copied)? {
            if !copied.gpu.is_same(&self.gpu) {
                return Err(HaltReason::unreadable_ghosts());
            }
            self.border_mut().sides[side].incoming = Some(*copied);
        }
        Ok(())
    }

    fn ghost_bytes(&self) -> u64 {
        let columns = self.columns();
        let records = columns.coordinates.len() * size_of::<C>() + columns.motions.len() * size_of::<R>();
        let each = columns.words.len() * size_of::<u32>() + RECORD * records;
        let ghosts: usize = self.border().sides.iter().map(|side| side.packed).sum();
        (ghosts * each) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::flow::body_in_lists;
    use crate::search;
    use crate::world::Search;
    use seixo_laws::Vector3;
    use seixo_sweeps::bodies::{FREE, GHOST};
    use seixo_sweeps::fluid::{OPEN_BOUNDARY, OUTLET, SUSPENDED, WALL};

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_gpu_marks_ghosts_as_the_host_does() {
        let gpu = Gpu::open(None).unwrap();
        let of_each = [
            0,
            1,
            WALL | 3,
            WALL | SUSPENDED,
            WALL | OPEN_BOUNDARY,
            WALL | OPEN_BOUNDARY | OUTLET,
        ];
        let (n, m, first) = (600, 300, 40);
        let kind: Vec<u32> = (0..n).map(|i| of_each[i * 5 % 7 % of_each.len()]).collect();
        let found: Vec<u32> = (0..m as u32).map(|k| n as u32 - 1 - 2 * k).collect();
        let kinds: Vec<u32> = found.iter().map(|&i| kind[i as usize]).collect();
        // Behind the found particles, their list has others.
        let listed: Vec<u32> = found.iter().copied().chain(0..(n - m) as u32).collect();
        let upload = |words: &[u32]| gpu.upload(words, "a test").unwrap();
        let zeros = |words: usize| gpu.zeros::<u32>(words, "a test").unwrap();
        let [listed, kept, kind, packed] = [&listed[..], &[m as u32], &kind, &kinds].map(upload);
        let [keep, places, number] = [n, n, 1].map(zeros);
        let (count, dim) = units(n);
        mark_fluid::launch(
            gpu.client(),
            count,
            dim,
            listed.argument(),
            kept.argument(),
            kind.argument(),
            keep.argument(),
            n as u32,
        );
        gpu.compact(&keep, n, &places, &number).unwrap();
        let of_fluid = (0u32..).zip(&kinds).filter(|(_, kind)| **kind & WALL == 0);
        let expected: Vec<u32> = of_fluid.map(|(place, _)| place).collect();
        let fluid = gpu.download(&number).unwrap()[0] as usize;
        assert!(fluid > 50 && fluid < m, "{fluid} of {m} are fluid");
        assert_eq!(gpu.download_part(&places, 0..fluid).wait().unwrap(), expected);
        let [member, owned, ghosts] = [first + m; 3].map(zeros);
        let (count, dim) = units(m);
        mark_ghosts_of_fluid::launch(
            gpu.client(),
            count,
            dim,
            packed.argument(),
            places.argument(),
            member.argument(),
            owned.argument(),
            ghosts.argument(),
            first as u32,
            m as u32,
            fluid as u32,
        );
        let bodies: Vec<u32> = kinds.iter().map(|kind| body_in_lists(*kind)).collect();
        let indices: Vec<u32> = expected.iter().map(|place| place + first as u32).collect();
        assert_eq!(gpu.download(&member).unwrap()[first..], bodies);
        assert_eq!(gpu.download(&owned).unwrap()[first..], vec![GHOST; m]);
        assert_eq!(gpu.download(&ghosts).unwrap()[..fluid], indices);
        // Particles before them stay as they were.
        assert!(gpu.download(&owned).unwrap()[..first].iter().all(|mark| *mark == 0));
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn far_ghosts_are_the_fluid_in_front_of_walls() {
        let gpu = Gpu::open(None).unwrap();
        // A block of fluid on a layer of wall particles, whose reach is three spacings. Every seventh particle is a ghost already.
        let (side, reach, planes) = (20u32, 3.0, [5.0, 8.0]);
        let n = side.pow(3) as usize;
        let place = |i: usize| [i as u32 % side, i as u32 / side % side, i as u32 / side.pow(2)].map(|k| f64::from(k) + 0.5);
        let mut cells = search::Cells::new(std::iter::once(0.5 * (reach - 0.3)), Search::Grid, 0.3);
        cells.halvings = 1;
        let number = cells.lay_out([0.0; 3], [f64::from(side); 3], n);
        assert_eq!(number, number_of_cells(&cells.shapes));
        let position: Vec<f64> = (0..n)
            .flat_map(|i| {
                let [x, y, z] = place(i);
                [x, y, z, 1.0]
            })
            .collect();
        let kind: Vec<u32> = (0..n).map(|i| if place(i)[2] < 1.0 { WALL } else { 0 }).collect();
        let owned: Vec<u32> = (0..n).map(|i| if i % 7 == 0 { GHOST } else { FREE }).collect();
        let position = gpu.upload(&position, "a test").unwrap();
        let grids = gpu.upload(&cells.grids, "a test").unwrap();
        let [kinds, marked, shapes] = [&kind, &owned, &cells.shapes].map(|words| gpu.upload(words, "a test").unwrap());
        let [walls, keep] = [number, n].map(|words| gpu.zeros::<u32>(words, "a test").unwrap());
        let (count, dim) = units(n);
        mark_wall_cells::launch::<f64>(
            gpu.client(),
            count.clone(),
            dim,
            position.records(),
            kinds.argument(),
            grids.argument(),
            shapes.argument(),
            walls.argument(),
            n as u32,
        );
        let below = |plane: f64| {
            let [low, high] = [f64::NEG_INFINITY, f64::INFINITY].map(|x| Vector3 { x, y: x, z: x });
            block_launch(&Block {
                low,
                high: Vector3 { y: plane, ..high },
                length: Vector3::zero(),
            })
        };
        find_ghosts_of_fluid::launch::<f64>(
            gpu.client(),
            count,
            dim,
            position.records(),
            kinds.argument(),
            marked.argument(),
            grids.argument(),
            shapes.argument(),
            walls.argument(),
            keep.argument(),
            below(planes[0]),
            below(planes[1]),
            2,
            n as u32,
        );
        let kept = gpu.download(&keep).unwrap();
        // Cells of half the reach find walls that are half as far again.
        let farthest = 1.5 * reach;
        let mut far = [0, 0];
        for (i, (mark, (kind, member))) in kept.iter().zip(kind.iter().zip(&owned)).enumerate() {
            let ([_, y, z], is_fluid, is_own) = (place(i), kind & WALL == 0, *member == FREE);
            let is_needed = is_own && (y < planes[0] || is_fluid && y < planes[1] && z - 0.5 <= reach);
            let may_be = is_own && (y < planes[0] || is_fluid && y < planes[1] && z - 0.5 <= farthest);
            let is_kept = *mark == 1;
            assert!(
                (is_kept || !is_needed) && (may_be || !is_kept),
                "{:?}: {is_kept}, {is_own}",
                place(i)
            );
            if is_own && is_fluid && (planes[0]..planes[1]).contains(&y) {
                far[usize::from(is_kept)] += 1;
            }
        }
        assert!(far[1] > 0 && far[0] > 2 * far[1], "{far:?} are left out and kept");
    }
}
