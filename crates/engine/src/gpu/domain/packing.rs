//! Packed grains: those that migrate, and the ghosts that are chosen at a rebuild of the lists.

use super::migration::{MigratingColumn, MigratingColumns, unfold_all, widths_of};
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{GpuGrains, Number};
use seixo_device::gpu::{Arrived, Buffer, Copies, CudaMemory, Gpu, GpuError, Ticket, units};
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::kernels::domain::{pack, take_first, unpack};
use seixo_sweeps::layout::RECORD;
use std::sync::{Arc, OnceLock};

/// Words of a packed grain: id, material, group and member number.
const WORDS: usize = 4;
/// Numbers of its coordinates: its position.
const COORDINATES: usize = RECORD;
/// Numbers of its motion: velocity and angular velocity for laws, each with what is kept beside it of that between steps.
const MOTIONS: usize = 4 * RECORD;

/// Room for packed grains in GPU memory.
pub(super) struct PackedGrains<C, R> {
    pub words: Buffer<u32>,
    pub coordinates: Buffer<C>,
    motions: Buffer<R>,
    belongings: MigratingColumns<C>,
    /// Where this memory is for other GPUs, once one asked.
    memory: OnceLock<GrainsMemory>,
}

/// Memory of packed grains that other GPUs read: of words, coordinates, motions and belongings.
#[derive(Clone)]
struct GrainsMemory {
    words: CudaMemory,
    coordinates: CudaMemory,
    motions: CudaMemory,
    belongings: Vec<CudaMemory>,
}

/// Downloads of packed grains, in progress.
pub(super) struct GrainsReadback<C, R> {
    words: Ticket<u32>,
    coordinates: Ticket<C>,
    motions: Ticket<R>,
    belongings: Vec<Ticket<C>>,
}

/// Packed grains that were downloaded, or received.
pub(super) struct HostGrains<C, R> {
    words: Vec<u32>,
    coordinates: Vec<C>,
    motions: Vec<R>,
    belongings: Vec<Vec<C>>,
    /// Values per grain of each column of belongings.
    widths: Vec<usize>,
}

impl<C: Number, R: Number> PackedGrains<C, R> {
    /// Without room yet.
    pub fn new(gpu: &Gpu) -> Result<PackedGrains<C, R>, GpuError> {
        Ok(PackedGrains {
            words: gpu.buffer(RECORD, "domains")?,
            coordinates: gpu.buffer(RECORD, "domains")?,
            motions: gpu.buffer(RECORD, "domains")?,
            belongings: MigratingColumns::new(),
            memory: OnceLock::new(),
        })
    }

    /// Makes room for m grains; the contents are lost. `widths` are the values per grain of the additional columns.
    pub fn make_room(&mut self, gpu: &Gpu, m: usize, widths: &[usize]) -> Result<(), GpuError> {
        if !self.holds(m, widths) {
            self.memory = OnceLock::new();
        }
        self.belongings.make_room(gpu, m, widths)?;
        make_room(gpu, &mut self.words, WORDS * m, "domains")?;
        make_room(gpu, &mut self.coordinates, COORDINATES * m, "domains")?;
        make_room(gpu, &mut self.motions, MOTIONS * m, "domains")
    }

    /// Whether there is room for m grains.
    fn holds(&self, m: usize, widths: &[usize]) -> bool {
        let holds_all = self.words.len() >= WORDS * m && self.coordinates.len() >= COORDINATES * m && self.motions.len() >= MOTIONS * m;
        holds_all && self.belongings.hold(m, widths)
    }

    /// The memory of these grains of this GPU; `None` if other GPUs cannot read it.
    fn memory(&self, gpu: &Gpu) -> Result<Option<GrainsMemory>, GpuError> {
        if let Some(known) = self.memory.get() {
            return Ok(Some(known.clone()));
        }
        let memory = (
            gpu.cuda_memory(&self.words)?,
            gpu.cuda_memory(&self.coordinates)?,
            gpu.cuda_memory(&self.motions)?,
        );
        let (Some(words), Some(coordinates), Some(motions)) = memory else {
            return Ok(None);
        };
        let Some(belongings) = self.belongings.memory(gpu)? else {
            return Ok(None);
        };
        let memory = GrainsMemory {
            words,
            coordinates,
            motions,
            belongings,
        };
        Ok(Some(self.memory.get_or_init(|| memory).clone()))
    }

    /// Copies the first m grains of another GPU into this room on a GPU that [accesses](Gpu::accesses) it. They were packed before the other host waited
    /// for its GPU. Returns whether that was possible.
    pub fn fetch(&self, gpu: &Gpu, (from, of): (&PackedGrains<C, R>, &Gpu), m: usize, widths: &[usize]) -> Result<bool, GpuError> {
        let Some(memory) = from.memory(of)? else {
            return Ok(false);
        };
        gpu.fetch((&from.words, &memory.words), WORDS * m, &self.words);
        gpu.fetch((&from.coordinates, &memory.coordinates), COORDINATES * m, &self.coordinates);
        gpu.fetch((&from.motions, &memory.motions), MOTIONS * m, &self.motions);
        self.belongings.fetch(gpu, (&from.belongings, &memory.belongings), m, widths);
        Ok(true)
    }

    /// As [`PackedGrains::make_room`], unless another subdomain still reads the grains: then there is new room.
    pub fn make_room_apart(packed: &mut Arc<PackedGrains<C, R>>, gpu: &Gpu, m: usize, widths: &[usize]) -> Result<(), GpuError> {
        if let Some(unread) = Arc::get_mut(packed) {
            return unread.make_room(gpu, m, widths);
        }
        let mut apart = PackedGrains::new(gpu)?;
        apart.make_room(gpu, m, widths)?;
        *packed = Arc::new(apart);
        Ok(())
    }

    /// Requests the download of the first m grains.
    pub fn ask(&self, copies: &mut Copies, m: usize, widths: &[usize]) -> GrainsReadback<C, R> {
        GrainsReadback {
            words: copies.add(&self.words, 0..WORDS * m),
            coordinates: copies.add(&self.coordinates, 0..COORDINATES * m),
            motions: copies.add(&self.motions, 0..MOTIONS * m),
            belongings: self.belongings.ask(copies, m, widths),
        }
    }

    /// A copy of the first m grains on another GPU, after all launches here so far, see [`Gpu::copy_to`]. On the same GPU, these grains themselves.
    pub fn copied(
        packed: &Arc<PackedGrains<C, R>>,
        m: usize,
        widths: &[usize],
        from: &Gpu,
        to: &Gpu,
    ) -> Result<Arc<PackedGrains<C, R>>, GpuError> {
        if from.is_same(to) {
            return Ok(packed.clone());
        }
        Ok(Arc::new(PackedGrains {
            words: from.copy_to(&packed.words, WORDS * m, to)?,
            coordinates: from.copy_to(&packed.coordinates, COORDINATES * m, to)?,
            motions: from.copy_to(&packed.motions, MOTIONS * m, to)?,
            belongings: packed.belongings.copied(m, widths, from, to)?,
            memory: OnceLock::new(),
        }))
    }

    /// Size of a packed grain \[bytes\].
    pub fn bytes_each(widths: &[usize]) -> u64 {
        let coordinates = COORDINATES + widths.iter().sum::<usize>();
        (WORDS * size_of::<u32>() + coordinates * size_of::<C>() + MOTIONS * size_of::<R>()) as u64
    }
}

impl<C: Number, R: Number> GrainsReadback<C, R> {
    /// The first m grains, once they have arrived, with columns of these widths.
    pub fn grains(self, arrived: &Arrived, m: usize, widths: &[usize]) -> HostGrains<C, R> {
        let first = |column: &[C], width: usize| column[..width * m].to_vec();
        let belongings = self.belongings.into_iter().zip(widths);
        HostGrains {
            words: arrived.make(self.words, |words| words[..WORDS * m].to_vec()),
            coordinates: arrived.make(self.coordinates, |coordinates| first(coordinates, COORDINATES)),
            motions: arrived.make(self.motions, |motions| motions[..MOTIONS * m].to_vec()),
            belongings: belongings
                .map(|(ticket, width)| arrived.make(ticket, |column| first(column, *width)))
                .collect(),
            widths: widths.to_vec(),
        }
    }
}

impl<C: Number, R: Number> HostGrains<C, R> {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.words.len() / WORDS
    }

    /// Id of grain k.
    pub fn id(&self, k: usize) -> u32 {
        self.words[WORDS * k]
    }

    /// Position of grain k \[m\].
    pub fn position(&self, k: usize) -> Vector3<C> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.coordinates[COORDINATES * k + axis]);
        Vector3 { x, y, z }
    }

    /// The grains at these indices.
    pub fn picked(&self, which: &[usize]) -> HostGrains<C, R> {
        let columns = self.belongings.iter().zip(&self.widths);
        HostGrains {
            words: picked(&self.words, WORDS, which),
            coordinates: picked(&self.coordinates, COORDINATES, which),
            motions: picked(&self.motions, MOTIONS, which),
            belongings: columns.map(|(column, width)| picked(column, *width, which)).collect(),
            widths: self.widths.clone(),
        }
    }

    /// Appends the grains to a message.
    pub fn enclose_in(&self, message: &mut Vec<u8>) {
        enclose(message, &self.words);
        enclose(message, &self.coordinates);
        enclose(message, &self.motions);
        self.belongings.iter().for_each(|column| enclose(message, column));
    }

    /// Takes grains from a message, with columns of these widths.
    fn unfold_from(message: &mut &[u8], widths: &[usize]) -> Result<HostGrains<C, R>, DecodeError> {
        let (words, coordinates): (Vec<u32>, Vec<C>) = (unfold(message)?, unfold(message)?);
        let motions: Vec<R> = unfold(message)?;
        let m = words.len() / WORDS;
        let belongings = unfold_all(message, m, widths)?;
        if words.len() != WORDS * m || coordinates.len() != COORDINATES * m || motions.len() != MOTIONS * m {
            return Err(DecodeError);
        }
        Ok(HostGrains {
            words,
            coordinates,
            motions,
            belongings,
            widths: widths.to_vec(),
        })
    }
}

/// The items of these indices, each with `width` numbers.
pub(super) fn picked<N: Copy>(numbers: &[N], width: usize, which: &[usize]) -> Vec<N> {
    which.iter().flat_map(|k| &numbers[width * k..][..width]).copied().collect()
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// All columns that not every simulation has.
    pub(super) fn belongings(&self) -> Vec<MigratingColumn<'_, C>> {
        let geared = self.geared.iter().flat_map(|geared| geared.columns(self.kind.frictional));
        let given = self.given_loads().map(|column| (column, RECORD));
        let momentum = self.shapes.as_ref().map(|shapes| (&shapes.momentum, RECORD));
        self.changing().into_iter().chain(geared).chain(given).chain(momentum).collect()
    }

    /// Queues the packing of the first `room` of the found grains, whose indices are in the order, and their number in `found`. `place` receives their
    /// indices.
    pub(super) fn pack_found(&self, packed: &PackedGrains<C, R>, found: &Buffer<u32>, place: &Buffer<u32>, room: usize) {
        let (count, dim) = units(room);
        take_first::launch(
            self.gpu.client(),
            count,
            dim,
            self.order.argument(),
            found.argument(),
            place.argument(),
            room as u32,
        );
        let (count, dim) = units(room);
        pack::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            place.argument(),
            self.id.argument(),
            self.material.argument(),
            self.group.argument(),
            self.member().argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            packed.words.argument(),
            packed.coordinates.records(),
            packed.motions.records(),
            room as u32,
            self.kind.frictional,
        );
        packed.belongings.gather(&self.gpu, &self.belongings(), place, room);
    }

    /// Queues the unpacking of m grains behind all others, where there is room, as ghost particles or as own grains. Belongings excepted.
    fn unpack_behind(&self, packed: &PackedGrains<C, R>, m: usize, as_ghosts: bool) {
        let (count, dim) = units(m);
        unpack::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            packed.words.argument(),
            packed.coordinates.records(),
            packed.motions.records(),
            self.id.argument(),
            self.material.argument(),
            self.group.argument(),
            self.member().argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.n as u32,
            m as u32,
            as_ghosts,
            self.kind.frictional,
        );
    }

    /// Queues the unpacking of m grains behind all others, where there is room, as ghost particles with these indices.
    pub(super) fn unpack_ghosts(&self, packed: &PackedGrains<C, R>, m: usize, places: &Buffer<u32>) {
        self.unpack_behind(packed, m, true);
        packed.belongings.scatter_all(&self.gpu, places, m, &self.belongings());
        self.mark_arrived_shapes(m);
    }

    /// Appends the grains of a message behind all others, as ghost particles or as own grains. Returns their number.
    pub(super) fn unpacked(&mut self, message: &mut &[u8], as_ghosts: bool) -> Result<usize, HaltReason> {
        if message.is_empty() {
            return Ok(0);
        }
        let widths = widths_of(&self.belongings());
        let grains = HostGrains::<C, R>::unfold_from(message, &widths)?;
        let (m, gpu) = (grains.len(), self.gpu.clone());
        if m == 0 {
            return Ok(0);
        }
        self.make_room_for(self.n + m)?;
        self.border().parcel.packed.make_room(&gpu, m, &widths)?;
        let packed = &self.border.as_ref().expect("a domain has a border").parcel.packed;
        gpu.write_part(&packed.words, 0, &grains.words);
        gpu.write_part(&packed.coordinates, 0, &grains.coordinates);
        gpu.write_part(&packed.motions, 0, &grains.motions);
        self.unpack_behind(packed, m, as_ghosts);
        for ((column, width), numbers) in self.belongings().iter().zip(&grains.belongings) {
            gpu.write_part(column, width * self.n, numbers);
        }
        self.mark_arrived_shapes(m);
        self.n += m;
        Ok(m)
    }
}
