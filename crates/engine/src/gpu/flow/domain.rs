//! Fluids of a subdomain on a GPU: the fluid and wall particles that it owns, and ghost particles.
//!
//! The pressure of a wall particle depends on all fluid in front of it. A subdomain computes it for all wall particles that its fluid sees, whichever
//! subdomain owns them. So its halo is twice as wide as the reach of its fluid. One halo exchange per step is enough: position and motion of fluid.
//! Ghosts of wall particles move with their walls, which all subdomains have. At a rebuild of the lists, particles migrate and ghosts are selected
//! again. The GPU does this itself, as for grains. Of ghosts that go from GPU to GPU, the host only learns the numbers.

mod boundary_forces;
mod columns;
mod ghosts;
mod halo;

use super::{GpuFluid, body_in_lists};
use crate::exchange::{DecodeError, HaltReason, SharedParticles, enclose, unfold};
use crate::flow::{Flow, IterationError};
use crate::gpu::domain::{HaltFlags, RESERVE, grouped_by_block, picked};
use crate::gpu::halo_exchange::{GhostExchange, HaloExchange, HaloSource};
use crate::gpu::index_map::{Candidates, invert_order, rename_places, sampled};
use crate::gpu::joint_halo::HaloPair;
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{Number, room_for_cubes};
use crate::search::ListCounts;
use crate::surroundings::Surroundings;
use crate::world::GhostSelection;
use boundary_forces::BoundaryForces;
pub(crate) use columns::{ColumnExchange, FluidColumn};
use halo::HaloSide;
use seixo_device::gpu::{Buffer, Copies, CudaMemory, Gpu, GpuError, Ticket, Word, units};
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::bodies::{FREE, GHOST, is_ghost};
use seixo_sweeps::domain::Block;
use seixo_sweeps::entries::TILE;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::kernels::domain::{mark_ghosts_removed, mark_removed, mark_without_rows};
use seixo_sweeps::layout::RECORD;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Ownership of particles in a decomposition-invariant run, and the halo of a subdomain.
pub(super) struct FlowDomainState<C, R> {
    /// Marks of particles that are owned, ghosts, or removed: the same as for grains, see [`seixo_sweeps::bodies`].
    pub owned: Buffer<u32>,
    /// Whether there are several subdomains.
    pub is_decomposed: bool,
    /// Number of particles at the last sort.
    known: usize,
    /// Number of owned particles, without ghosts.
    staying: usize,
    /// New index of each particle after the last sort.
    place_of: Buffer<u32>,
    sides: Vec<HaloSide<C, R>>,
    parcel: MigrationBuffer<C, R>,
    /// Number of fluid particles among those that were found.
    fluid_found: Buffer<u32>,
    /// Marks of the cells that have wall particles, of the last sort; used while ghosts are selected.
    wall_cells: Buffer<u32>,
    /// Parity of the last queued step after which the halo was packed for other GPUs. None if the host waits for every step.
    queued_parity: Option<u32>,
    /// Forces on body boundary particles, if these may be in several subdomains.
    boundary_forces: Option<BoundaryForces<R>>,
}

/// Buffers for packed particles, column by column.
struct MigrationBuffer<C, R> {
    words: Vec<Buffer<u32>>,
    coordinates: Vec<Buffer<C>>,
    motions: Vec<Buffer<R>>,
    /// Of ghosts, the places of the fluid particles among them.
    fluid: Buffer<u32>,
    /// Where all of this memory is for other GPUs, in this order, once one asked.
    memory: OnceLock<Vec<CudaMemory>>,
}

/// Fields that migrate with particles: ids and kinds, records of coordinates, and records of the flow, of the motion if walls move, and of the
/// forces if the fluid is incompressible.
struct Columns<'a, C, R> {
    words: [&'a Buffer<u32>; 2],
    coordinates: [&'a Buffer<C>; 4],
    motions: Vec<&'a Buffer<R>>,
}

/// Packed particles on the host, column by column, and their indices.
struct PackedParticles<C, R> {
    places: Vec<u32>,
    /// Ids and kinds.
    words: Vec<Vec<u32>>,
    /// Positions are first.
    coordinates: Vec<Vec<C>>,
    motions: Vec<Vec<R>>,
}

/// The other subdomains of a fluid on a GPU.
pub(crate) trait FluidNeighbors {
    /// Exchanges a column of the fluid that two subdomains have.
    fn exchange(&mut self, fluid: &dyn FluidDomainBackend, column: FluidColumn) -> Result<(), HaltReason>;
    /// The sum of the remaining errors of all subdomains.
    fn sum(&mut self, own: IterationError) -> Result<IterationError, HaltReason>;
}

/// There are no other subdomains.
pub(crate) struct NoNeighbors;

impl FluidNeighbors for NoNeighbors {
    fn exchange(&mut self, _: &dyn FluidDomainBackend, _: FluidColumn) -> Result<(), HaltReason> {
        Ok(())
    }

    fn sum(&mut self, own: IterationError) -> Result<IterationError, HaltReason> {
        Ok(own)
    }
}

/// Fluids of a subdomain on a GPU, independent of their precision. Messages go to the neighbor subdomains and come from them, in their order.
pub(crate) trait FluidDomainBackend: HaloExchange + GhostExchange + ColumnExchange {
    /// Takes over the shared fluid, by its indices before the upload.
    fn share(&mut self, shared: &[SharedParticles]) -> Result<(), GpuError>;
    /// A message with the forces on the own body boundary particles. `None` if no body is coupled to fluids.
    fn boundary_forces(&self) -> Result<Option<Vec<u8>>, GpuError>;
    /// Loads bodies with the forces on all body boundary particles, from the messages of all subdomains. After a step it `adds_up` their power.
    fn load_bodies(&mut self, host: &mut Flow, messages: &[Vec<u8>], adds_up: bool) -> Result<(), HaltReason>;
    /// Places wall particles for the step after that which was queued `ahead` steps after the host's clock. If one is too far from its listed position,
    /// this subdomain halts before that step.
    fn place_for_next_step(&self, host: &Flow, ahead: u32);
    /// Sends to the other subdomains whether this one halts before that step. Returns whether all must have sent before any receives.
    fn send_halt(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<bool, GpuError>;
    /// Receives whether any subdomain halts before that step. Launches later than this wait for it.
    ///
    /// # Errors
    /// If the GPU is lost.
    fn receive_halts(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<(), GpuError>;
    /// Packs the halo for other GPUs, with the flag whether this subdomain halts before that step.
    fn pack_queued_halo(&mut self, ahead: u32);
    /// Makes room for halos and columns until the next rebuild of the lists. Two GPUs exchange them by themselves for each of these neighbors that has a
    /// pair.
    ///
    /// # Errors
    /// If there is no memory.
    fn join_halos(&mut self, pairs: Vec<Option<HaloPair>>) -> Result<(), GpuError>;
    /// Packs the halo of a step that went on after it was closed. Returns messages if `by_messages`; otherwise peers copy the packed halo.
    fn pack_halo(&self, by_messages: bool) -> Result<Vec<Vec<u8>>, GpuError>;
    /// Messages with a column of the fluid that is ghosts elsewhere.
    fn column_messages(&self, column: FluidColumn) -> Result<Vec<Vec<u8>>, GpuError>;
    /// Updates a column of the ghosts of fluid from these messages.
    fn receive_column(&self, column: FluidColumn, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Updates the ghosts of fluid from these messages.
    fn follow(&mut self, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Counts of the lists, whose skin was used up.
    fn list_counts(&self, host: &Flow) -> Result<ListCounts, GpuError>;
    /// Prepares for migration.
    fn prepare(&mut self, host: &mut Flow) -> Result<(), GpuError>;
    /// Positions of some of the owned fluid \[m\].
    fn sample_positions(&mut self) -> Result<Vec<[f64; 3]>, GpuError>;
    /// Removes the particles that are in the blocks of others, and all ghosts. Returns the number of migrating particles and the messages. Fails if
    /// an owned particle is in none of these blocks.
    fn send_migrating(&mut self, host: &mut Flow, own: &Block<f64>, others: &[Block<f64>]) -> Result<(u64, Vec<Vec<u8>>), HaltReason>;
    /// Receives migrating particles.
    fn receive_migrating(&mut self, host: &mut Flow, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Selects and packs the ghosts for each of these blocks, which are twice as wide as the reach where walls have pressures. With the `near` blocks, which
    /// are as wide as the reach, ghosts beyond these may be those alone on which wall particles depend; all walls near the fluid here must be known then.
    /// Returns messages with the ghosts, which are empty unless they travel `by_messages`, and the time of their selection.
    fn ghosts_for(
        &mut self,
        host: &Flow,
        blocks_in_reach: &[Block<f64>],
        near: Option<&[Block<f64>]>,
        by_messages: bool,
    ) -> Result<(Vec<Vec<u8>>, Duration), GpuError>;
    /// Receives the ghosts, unless they came from GPUs, and rebuilds all lists.
    fn list_with(&mut self, host: &mut Flow, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
}

impl<C: Number, R: Number> FlowDomainState<C, R> {
    /// State for the particles of the host. `None` unless the run is decomposition-invariant.
    pub fn new(gpu: &Gpu, host: &Flow, surroundings: &Surroundings) -> Result<Option<FlowDomainState<C, R>>, GpuError> {
        if !host.decomposition_invariant {
            return Ok(None);
        }
        let n = host.fields.len();
        let owned: Vec<u32> = (0..n).map(|i| if host.is_ghost(i) { GHOST } else { FREE }).collect();
        let is_decomposed = surroundings.grains.has_ghosts;
        Ok(Some(FlowDomainState {
            owned: gpu.upload(&owned, "domains")?,
            is_decomposed,
            known: 0,
            staying: owned.iter().filter(|member| **member == FREE).count(),
            place_of: gpu.zeros(if is_decomposed { n } else { RECORD }, "domains")?,
            sides: Vec::new(),
            queued_parity: None,
            boundary_forces: if is_decomposed { BoundaryForces::new(gpu, host)? } else { None },
            parcel: MigrationBuffer::new(gpu)?,
            fluid_found: gpu.buffer(1, "domains")?,
            wall_cells: gpu.buffer(RECORD, "domains")?,
        }))
    }

    /// Marks those of n particles of these kinds that have no rows in a subdomain. Returns whether there are marks.
    pub fn mark_rowless(&self, gpu: &Gpu, kind: &Buffer<u32>, n: usize, marks: &Buffer<u32>) -> bool {
        if !self.is_decomposed {
            return false;
        }
        let (count, dim) = units(n);
        mark_without_rows::launch(
            gpu.client(),
            count,
            dim,
            kind.argument(),
            self.owned.argument(),
            marks.argument(),
            n as u32,
        );
        true
    }

    /// One word for each of n particles: 1 for ghosts, else 0. Empty if there is only one subdomain.
    pub fn ghost_flags(&self, gpu: &Gpu, n: usize) -> Result<Vec<u32>, GpuError> {
        if !self.is_decomposed {
            return Ok(Vec::new());
        }
        let owned = gpu.download_part(&self.owned, 0..n).wait()?;
        Ok(owned.into_iter().map(|member| u32::from(is_ghost(member))).collect())
    }
}

impl<C: Number, R: Number> MigrationBuffer<C, R> {
    /// Without room yet.
    fn new(gpu: &Gpu) -> Result<MigrationBuffer<C, R>, GpuError> {
        Ok(MigrationBuffer {
            words: rooms(gpu, 2)?,
            coordinates: rooms(gpu, 4)?,
            motions: rooms(gpu, 3)?,
            fluid: gpu.buffer(RECORD, "domains")?,
            memory: OnceLock::new(),
        })
    }

    /// Memory of all buffers of this GPU, in their order; `None` if other GPUs cannot read it.
    fn memory(&self, gpu: &Gpu) -> Result<Option<&[CudaMemory]>, GpuError> {
        if let Some(known) = self.memory.get() {
            return Ok(Some(&known[..]));
        }
        let words = self.words.iter().map(|room| gpu.cuda_memory(room));
        let coordinates = self.coordinates.iter().map(|room| gpu.cuda_memory(room));
        let motions = self.motions.iter().map(|room| gpu.cuda_memory(room));
        let all = words.chain(coordinates).chain(motions).chain([gpu.cuda_memory(&self.fluid)]);
        let memory: Option<Vec<CudaMemory>> = all.collect::<Result<_, GpuError>>()?;
        Ok(memory.map(|memory| &self.memory.get_or_init(|| memory)[..]))
    }

    /// As [`MigrationBuffer::make_room`], unless another subdomain still reads the particles: then there is new room.
    fn make_room_apart(packed: &mut Arc<MigrationBuffer<C, R>>, gpu: &Gpu, m: usize) -> Result<(), GpuError> {
        if let Some(unread) = Arc::get_mut(packed) {
            return unread.make_room(gpu, m);
        }
        let mut apart = MigrationBuffer::new(gpu)?;
        apart.make_room(gpu, m)?;
        *packed = Arc::new(apart);
        Ok(())
    }

    /// Makes room for m packed particles.
    fn make_room(&mut self, gpu: &Gpu, m: usize) -> Result<(), GpuError> {
        let holds = |len: usize| len >= RECORD * m;
        if !(self.words.iter().all(|room| room.len() >= m)
            && self.coordinates.iter().all(|room| holds(room.len()))
            && self.motions.iter().all(|room| holds(room.len()))
            && self.fluid.len() >= m)
        {
            self.memory = OnceLock::new();
        }
        for room in &mut self.words {
            make_room(gpu, room, m, "domains")?;
        }
        for room in &mut self.coordinates {
            make_room(gpu, room, RECORD * m, "domains")?;
        }
        for room in &mut self.motions {
            make_room(gpu, room, RECORD * m, "domains")?;
        }
        make_room(gpu, &mut self.fluid, m, "domains")
    }
}

impl<C: Number, R: Number> PackedParticles<C, R> {
    /// Position of particle k \[m\].
    fn position(&self, k: usize) -> Vector3<C> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.coordinates[0][RECORD * k + axis]);
        Vector3 { x, y, z }
    }

    /// Indices of the fluid particles.
    fn fluid(&self) -> Vec<u32> {
        let kinds = self.words.get(1).into_iter().flatten();
        let of_fluid = self.places.iter().zip(kinds).filter(|(_, kind)| **kind & WALL == 0);
        of_fluid.map(|(place, _)| *place).collect()
    }

    /// A message with these particles; empty without any.
    fn message_of(&self, which: &[usize]) -> Vec<u8> {
        let mut message = Vec::new();
        if which.is_empty() {
            return message;
        }
        self.words
            .iter()
            .for_each(|column| enclose(&mut message, &picked(column, 1, which)));
        let records = self.coordinates.iter();
        records.for_each(|column| enclose(&mut message, &picked(column, RECORD, which)));
        let records = self.motions.iter();
        records.for_each(|column| enclose(&mut message, &picked(column, RECORD, which)));
        message
    }
}

/// This many buffers with minimal room.
fn rooms<T: Word>(gpu: &Gpu, count: usize) -> Result<Vec<Buffer<T>>, GpuError> {
    (0..count).map(|_| gpu.buffer(RECORD, "domains")).collect()
}

/// Gathers those m items of each column that are first in an order, each of `width` numbers, and requests their download.
fn gathered<T: Word>(
    gpu: &Gpu,
    columns: &[&Buffer<T>],
    (order, m, width): (&Buffer<u32>, usize, usize),
    into: &[Buffer<T>],
    copies: &mut Copies,
) -> Vec<Ticket<T>> {
    let mut tickets = Vec::new();
    for (column, room) in columns.iter().zip(into) {
        gpu.gather(column, order, m, width, room);
        tickets.push(copies.add(room, 0..width * m));
    }
    tickets
}

/// Decodes the next columns of a message, each with this many numbers.
fn columns_of<T: Word>(message: &mut &[u8], columns: usize, numbers: usize) -> Result<Vec<Vec<T>>, DecodeError> {
    let mut read = Vec::new();
    for _ in 0..columns {
        let column: Vec<T> = unfold(message)?;
        if column.len() != numbers {
            return Err(DecodeError);
        }
        read.push(column);
    }
    Ok(read)
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    fn border(&self) -> &FlowDomainState<C, R> {
        self.border.as_ref().expect("a domain has a border")
    }

    fn border_mut(&mut self) -> &mut FlowDomainState<C, R> {
        self.border.as_mut().expect("a domain has a border")
    }

    fn columns(&self) -> Columns<'_, C, R> {
        let now = self.now;
        let motion = self.plan.moving.then_some(&self.motion);
        // Lists of incompressible fluids are rebuilt within a step, and bodies need these forces afterwards.
        let rate = self.is_incompressible().then_some(&self.rate);
        Columns {
            words: [&self.id, &self.kind],
            coordinates: [&self.position[now], &self.half_velocity, &self.thermal, &self.reference],
            motions: std::iter::once(&self.flowing[now]).chain(motion).chain(rate).collect(),
        }
    }

    /// Makes room for n particles.
    fn make_room_for(&mut self, n: usize) -> Result<(), GpuError> {
        if n <= self.id.len() {
            return Ok(());
        }
        let room = (n + n / RESERVE).next_multiple_of(RECORD);
        let (gpu, what) = (&self.gpu, "particles of fluids");
        let border = self.border.as_mut().expect("a domain has a border");
        let words = [&mut self.id, &mut self.kind, &mut self.member, &mut self.key, &mut self.order];
        let others = [&mut self.walls, &mut self.cells.lengths, &mut border.owned, &mut border.place_of];
        for words in words.into_iter().chain(others) {
            gpu.lengthen(words, room, what)?;
        }
        let kept = [&mut self.half_velocity, &mut self.thermal, &mut self.reference];
        for column in self.position.iter_mut().chain(kept) {
            gpu.lengthen(column, RECORD * room, what)?;
        }
        for column in self.flowing.iter_mut().chain([&mut self.seen, &mut self.rate]) {
            gpu.lengthen(column, RECORD * room, what)?;
        }
        if self.plan.moving {
            gpu.lengthen(&mut self.motion, RECORD * room, what)?;
        }
        self.compact.make_room(gpu, room)?;
        if self.is_incompressible() {
            self.projecting.make_room(gpu, room)?;
        }
        if let Some(muller) = &mut self.muller {
            muller.make_room(gpu, room)?;
        }
        gpu.lengthen(&mut self.rows.count, room, "rows of neighbors")?;
        gpu.lengthen(&mut self.rows.tile_first, room.div_ceil(TILE) + 1, "rows of neighbors")?;
        gpu.lengthen(&mut self.power, 2 * RECORD * room_for_cubes(room), "the ledger")
    }

    /// Finds the owned particles outside of the own block. Writes their indices to the start of the buffer `order`, and returns their number.
    fn find_leaving(&mut self, own: &Block<f64>) -> Result<usize, GpuError> {
        let owned = (&self.position[self.now], &self.border().owned, self.n);
        self.cells.mark_within(&self.gpu, owned, &self.cells.unbounded, own, true);
        self.cells.list_marked(&self.gpu, self.n, &self.order)
    }

    /// Finds owned particles in a block, among those in cells near it at the last sort and those that arrived since. Writes their indices to the start of
    /// the buffer `order`, and returns their number.
    fn find_in_layers(&mut self, host: &Flow, block: &Block<f64>) -> Result<usize, GpuError> {
        let border = self.border.as_ref().expect("a domain has a border");
        let among = Candidates {
            position: &self.position[self.now],
            member: &border.owned,
            is_bounded: false,
            n: self.n,
            sorted: border.known,
            motion: host.cells.largest_motion(),
            bonded: (&self.nothing, 0),
        };
        self.cells.list_in_layers(&self.gpu, &among, block, &self.order)
    }

    /// Packs and downloads the particles at the first m indices in the buffer `order`.
    fn packed(&mut self, m: usize) -> Result<PackedParticles<C, R>, GpuError> {
        if m == 0 {
            return Ok(PackedParticles {
                places: Vec::new(),
                words: Vec::new(),
                coordinates: Vec::new(),
                motions: Vec::new(),
            });
        }
        let gpu = self.gpu.clone();
        self.border_mut().parcel.make_room(&gpu, m)?;
        let parcel = &self.border().parcel;
        let columns = self.columns();
        let mut copies = gpu.copies();
        let places = copies.add(&self.order, 0..m);
        let records = (&self.order, m, RECORD);
        let words = gathered(&gpu, &columns.words, (&self.order, m, 1), &parcel.words, &mut copies);
        let coordinates = gathered(&gpu, &columns.coordinates, records, &parcel.coordinates, &mut copies);
        let motions = gathered(&gpu, &columns.motions, records, &parcel.motions, &mut copies);
        let arrived = copies.wait()?;
        Ok(PackedParticles {
            places: arrived.take(places),
            words: words.into_iter().map(|ticket| arrived.take(ticket)).collect(),
            coordinates: coordinates.into_iter().map(|ticket| arrived.take(ticket)).collect(),
            motions: motions.into_iter().map(|ticket| arrived.take(ticket)).collect(),
        })
    }

    /// Appends packed particles behind all others, with the mark `of` as owned or ghost. Returns the indices of the fluid particles among them.
    fn unpacked(&mut self, message: &[u8], of: u32) -> Result<Vec<u32>, HaltReason> {
        if message.is_empty() {
            return Ok(Vec::new());
        }
        let (mut message, first) = (message, self.n);
        let id: Vec<u32> = unfold(&mut message)?;
        let m = id.len();
        let kinds = columns_of::<u32>(&mut message, 1, m)?;
        let (of_coordinates, of_motions) = (self.columns().coordinates.len(), self.columns().motions.len());
        let coordinates = columns_of::<C>(&mut message, of_coordinates, RECORD * m)?;
        let motions = columns_of::<R>(&mut message, of_motions, RECORD * m)?;
        self.make_room_for(first + m)?;
        let (gpu, kind, columns) = (&self.gpu, &kinds[0], self.columns());
        for (column, words) in columns.words.into_iter().zip([&id, kind]) {
            gpu.write_part(column, first, words);
        }
        for (column, records) in columns.coordinates.into_iter().zip(&coordinates) {
            gpu.write_part(column, RECORD * first, records);
        }
        for (column, records) in columns.motions.into_iter().zip(&motions) {
            gpu.write_part(column, RECORD * first, records);
        }
        Ok(self.mark_appended(kind, of))
    }

    /// Counts particles of these kinds, which were written behind all others, and marks them as owned or ghosts. Returns the indices of the fluid
    /// particles among them.
    fn mark_appended(&mut self, kinds: &[u32], of: u32) -> Vec<u32> {
        let (m, first) = (kinds.len(), self.n);
        let bodies: Vec<u32> = kinds.iter().map(|kind| body_in_lists(*kind)).collect();
        self.gpu.write_part(&self.member, first, &bodies);
        self.gpu.write_part(&self.border().owned, first, &vec![of; m]);
        self.n += m;
        let of_fluid = (first as u32..).zip(kinds).filter(|(_, kind)| **kind & WALL == 0);
        of_fluid.map(|(place, _)| place).collect()
    }

    /// Replaces the indices before the sort by the current ones.
    fn rename_shared(&self) {
        let border = self.border();
        invert_order(&self.gpu, &self.order, self.n, &border.place_of);
        for side in &border.sides {
            rename_places(&self.gpu, &side.own, side.shown, &border.place_of);
            rename_places(&self.gpu, &side.ghosts, side.followed_ghosts, &border.place_of);
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> FluidDomainBackend for GpuFluid<C, R> {
    fn share(&mut self, shared: &[SharedParticles]) -> Result<(), GpuError> {
        let sides: Result<Vec<HaloSide<C, R>>, GpuError> = shared
            .iter()
            .map(|shared| HaloSide::new(&self.gpu, &shared.own, &shared.ghosts))
            .collect();
        self.border_mut().sides = sides?;
        self.rename_shared();
        Ok(())
    }

    fn boundary_forces(&self) -> Result<Option<Vec<u8>>, GpuError> {
        self.boundary_force_message()
    }

    fn load_bodies(&mut self, host: &mut Flow, messages: &[Vec<u8>], adds_up: bool) -> Result<(), HaltReason> {
        Ok(self.sum_boundary_forces(host, messages, adds_up)?)
    }

    fn place_for_next_step(&self, host: &Flow, ahead: u32) {
        self.place_boundaries(host, (ahead + 1) & 1, true);
    }

    fn send_halt(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        halts.send(&self.gpu, &self.flags, rank, ahead)
    }

    fn receive_halts(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<(), GpuError> {
        halts.receive(&self.gpu, &self.flags, rank, ahead)
    }

    fn pack_queued_halo(&mut self, ahead: u32) {
        self.border_mut().queued_parity = Some(ahead & 1);
        self.show();
    }

    fn join_halos(&mut self, pairs: Vec<Option<HaloPair>>) -> Result<(), GpuError> {
        self.join_sides(pairs)
    }

    fn pack_halo(&self, by_messages: bool) -> Result<Vec<Vec<u8>>, GpuError> {
        let mut copies = self.gpu.copies();
        let halo = self.request_halo(&mut copies, by_messages);
        if halo.is_empty() {
            return Ok(Vec::new());
        }
        Ok(Self::halo_messages(&copies.wait()?, halo))
    }

    fn column_messages(&self, column: FluidColumn) -> Result<Vec<Vec<u8>>, GpuError> {
        self.messages_with_column(column)
    }

    fn receive_column(&self, column: FluidColumn, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        self.follow_column_messages(column, messages)
    }

    fn follow(&mut self, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        for (k, (side, message)) in self.border().sides.iter().zip(messages).enumerate() {
            let (mut message, m) = (&message[..], side.followed_ghosts);
            let places = columns_of::<C>(&mut message, 1, RECORD * m)?;
            let flows = columns_of::<R>(&mut message, 1, RECORD * m)?;
            self.gpu.write_part(&side.halo.reported.coordinates, 0, &places[0]);
            self.gpu.write_part(&side.halo.reported.motions, 0, &flows[0]);
            self.update_ghosts(k, &side.halo.reported);
        }
        Ok(())
    }

    fn list_counts(&self, host: &Flow) -> Result<ListCounts, GpuError> {
        self.counts_of_lists(host)
    }

    fn prepare(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.wrap_and_keep_positions(host)?;
        self.border_mut().known = self.n;
        // It has been idle since the last step.
        self.gpu.submit_aside();
        Ok(())
    }

    fn sample_positions(&mut self) -> Result<Vec<[f64; 3]>, GpuError> {
        let (gpu, places) = (self.gpu.clone(), sampled(self.n));
        let m = places.len();
        gpu.write_part(&self.order, 0, &places);
        self.border_mut().parcel.make_room(&gpu, m)?;
        let FlowDomainState { owned, parcel, .. } = self.border();
        let mut copies = gpu.copies();
        let words = gathered(&gpu, &[owned, &self.kind], (&self.order, m, 1), &parcel.words, &mut copies);
        let position = &self.position[self.now];
        let position = gathered(&gpu, &[position], (&self.order, m, RECORD), &parcel.coordinates, &mut copies);
        let arrived = copies.wait()?;
        let words: Vec<Vec<u32>> = words.into_iter().map(|ticket| arrived.take(ticket)).collect();
        let records: Vec<C> = position.into_iter().flat_map(|ticket| arrived.take(ticket)).collect();
        let marks = words[0].iter().zip(&words[1]);
        let own_fluid = records
            .chunks_exact(RECORD)
            .zip(marks)
            .filter(|(_, (owned, kind))| **owned == FREE && **kind & WALL == 0);
        Ok(own_fluid.map(|(place, _)| [0, 1, 2].map(|axis| place[axis].double())).collect())
    }

    fn send_migrating(&mut self, host: &mut Flow, own: &Block<f64>, others: &[Block<f64>]) -> Result<(u64, Vec<Vec<u8>>), HaltReason> {
        let sent = self.find_leaving(own)?;
        let packed = self.packed(sent)?;
        // The host sees for which neighbor each is, as a search for each would wait for the GPU.
        let groups =
            grouped_by_block(sent, |k| packed.position(k), others).map_err(|k| HaltReason::fluid_passed_through(packed.words[0][k]))?;
        if sent > 0 {
            let (count, dim) = units(sent);
            mark_removed::launch(
                self.gpu.client(),
                count,
                dim,
                self.order.argument(),
                self.border().owned.argument(),
                sent as u32,
            );
        }
        let (count, dim) = units(self.n);
        mark_ghosts_removed::launch(self.gpu.client(), count, dim, self.border().owned.argument(), self.n as u32);
        host.count -= packed.fluid().len();
        self.border_mut().staying -= sent;
        Ok((sent as u64, groups.iter().map(|which| packed.message_of(which)).collect()))
    }

    fn receive_migrating(&mut self, host: &mut Flow, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        let before = self.n;
        for message in messages {
            host.count += self.unpacked(message, FREE)?.len();
        }
        let came = self.n - before;
        self.border_mut().staying += came;
        Ok(())
    }

    fn ghosts_for(
        &mut self,
        host: &Flow,
        blocks_in_reach: &[Block<f64>],
        near: Option<&[Block<f64>]>,
        by_messages: bool,
    ) -> Result<(Vec<Vec<u8>>, Duration), GpuError> {
        let (gpu, mut messages, mut spent) = (self.gpu.clone(), Vec::new(), Duration::ZERO);
        // No check limits how far particles of walls and bodies move in a step.
        let is_limited = !self.plan.moving;
        let sides = &mut self.border_mut().sides;
        sides.truncate(blocks_in_reach.len());
        while sides.len() < blocks_in_reach.len() {
            sides.push(HaloSide::new(&gpu, &[], &[])?);
        }
        let in_layers = is_limited && host.ghost_selection == GhostSelection::Layers;
        let near = near.filter(|_| !in_layers && self.has_walls_at_rest());
        if near.is_some() {
            self.mark_cells_of_walls()?;
        }
        for (k, block) in blocks_in_reach.iter().enumerate() {
            let clock = Instant::now();
            if in_layers {
                let m = self.find_in_layers(host, block)?;
                gpu.write_part(&self.cells.kept, 0, &[m as u32]);
            } else {
                self.queue_ghosts(host, block, near.map(|near| &near[k]))?;
            }
            if by_messages {
                let m = gpu.download(&self.cells.kept)?[0] as usize;
                spent += clock.elapsed();
                let packed = self.packed(m)?;
                self.border_mut().sides[k].show(&gpu, &packed.fluid())?;
                messages.push(packed.message_of(&(0..m).collect::<Vec<usize>>()));
                continue;
            }
            let found = self.count_found()?;
            spent += clock.elapsed();
            self.pack_ghosts(k, found)?;
        }
        if !by_messages {
            // Other GPUs read the ghosts as soon as their hosts know the numbers.
            gpu.wait()?;
        }
        Ok((messages, spent))
    }

    fn list_with(&mut self, host: &mut Flow, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        let (gpu, before) = (self.gpu.clone(), self.n);
        for k in 0..self.border().sides.len() {
            if let Some(ghosts) = self.border_mut().sides[k].incoming.take() {
                self.append_ghosts(k, &ghosts)?;
                continue;
            }
            let fluid = match messages.get(k) {
                Some(message) => self.unpacked(message, GHOST)?,
                None => Vec::new(),
            };
            self.border_mut().sides[k].follow(&gpu, &fluid)?;
        }
        let with_ghosts = self.border().staying + self.n - before;
        if with_ghosts == 0 {
            return Err(HaltReason::no_fluid());
        }
        self.sort(host, with_ghosts)?;
        self.rename_shared();
        Ok(self.list_pairs(host)?)
    }
}
