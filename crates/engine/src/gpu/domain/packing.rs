//! Packed grains: those that migrate, and the ghosts that are chosen at a rebuild of the lists.

use super::migration::{MigratingColumn, unfold_all, widths_of};
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{GpuGrains, Number, put_numbers, words_of};
use seixo_device::gpu::{Arrived, Buffer, Copies, CudaMemory, Gpu, GpuError, PART_WORDS, Ticket, Word, bytes_of, items_of, units};
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::kernels::domain::{pack, unpack};
use seixo_sweeps::layout::RECORD;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Words of a packed grain: id, material, group and member number.
const WORDS: usize = 4;
/// Numbers of its coordinates: its position.
const COORDINATES: usize = RECORD;
/// Numbers of its motion: velocity and angular velocity for laws, each with what is kept beside it of that between steps.
const MOTIONS: usize = 4 * RECORD;

/// Room for packed grains in GPU memory: words, coordinates, further columns and motions, one after the other in one memory, so that one copy takes all
/// along.
pub(super) struct PackedGrains<C, R> {
    whole: Buffer<u32>,
    /// Number of grains for which the parts are laid out.
    room: usize,
    pub words: Buffer<u32>,
    pub coordinates: Buffer<C>,
    /// See [`GpuGrains::belongings`].
    belongings: Vec<Buffer<C>>,
    motions: Buffer<R>,
    /// Where this memory is for other GPUs, once one asked.
    memory: OnceLock<CudaMemory>,
}

/// A download of packed grains, in progress.
pub(super) struct GrainsReadback<C, R> {
    whole: Ticket<u32>,
    /// Number of grains for which it is laid out.
    room: usize,
    numbers: PhantomData<(C, R)>,
}

/// Number of grains or entries for which there is room if there are so many. Their columns begin where parts of a buffer may.
pub(super) fn room_of(items: usize) -> usize {
    items.max(1).next_multiple_of(PART_WORDS)
}

/// The indices of m grains, the first of which has this one.
pub(super) fn successive_places(first: usize, m: usize) -> Vec<u32> {
    (first..first + m).map(|place| place as u32).collect()
}

/// This many numbers of type T in words, from this word on.
pub(super) fn numbers_in<T: Word>(words: &[u32], first: usize, numbers: usize) -> Vec<T> {
    items_of(bytes_of(&words[first..first + words_of::<T>(numbers)])).expect("words hold whole numbers")
}

/// The words at which coordinates, belongings and motions begin, and all words, for this much room. Belongings have as many values per grain as `widths`
/// say.
fn layout<C, R>(room: usize, widths: &[usize]) -> [usize; 4] {
    let coordinates = WORDS * room;
    let belongings = coordinates + words_of::<C>(COORDINATES * room);
    let motions = belongings + words_of::<C>(widths.iter().sum::<usize>() * room);
    [coordinates, belongings, motions, motions + words_of::<R>(MOTIONS * room)]
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
    /// With minimal room.
    pub fn new(gpu: &Gpu) -> Result<PackedGrains<C, R>, GpuError> {
        let room = room_of(0);
        let [.., all] = layout::<C, R>(room, &[]);
        Ok(PackedGrains::within(gpu.buffer(all, "domains")?, room, &[]))
    }

    /// Parts of this memory for so many grains, with columns of these `widths`.
    fn within(whole: Buffer<u32>, room: usize, widths: &[usize]) -> PackedGrains<C, R> {
        let [coordinates, mut column, motions, _] = layout::<C, R>(room, widths);
        let mut belongings = Vec::with_capacity(widths.len());
        for width in widths {
            belongings.push(whole.part_from(column, width * room));
            column += words_of::<C>(width * room);
        }
        PackedGrains {
            words: whole.part_from(0, WORDS * room),
            coordinates: whole.part_from(coordinates, COORDINATES * room),
            belongings,
            motions: whole.part_from(motions, MOTIONS * room),
            whole,
            room,
            memory: OnceLock::new(),
        }
    }

    /// Makes room for m grains; the contents are lost. `widths` are the values per grain of the additional columns.
    pub fn make_room(&mut self, gpu: &Gpu, m: usize, widths: &[usize]) -> Result<(), GpuError> {
        let room = room_of(m);
        let [.., all] = layout::<C, R>(room, widths);
        if self.whole.len() < all {
            // All parts keep the old memory, which must be free before there is more.
            *self = PackedGrains::new(gpu)?;
            make_room(gpu, &mut self.whole, all, "domains")?;
        }
        let least = self.whole.part_from(0, 1);
        let (whole, memory) = (std::mem::replace(&mut self.whole, least), std::mem::take(&mut self.memory));
        *self = PackedGrains {
            memory,
            ..PackedGrains::within(whole, room, widths)
        };
        Ok(())
    }

    /// Number of grains for which there is room.
    pub fn room(&self) -> usize {
        self.room
    }

    /// The memory of these grains of this GPU; `None` if other GPUs cannot read it.
    fn memory(&self, gpu: &Gpu) -> Result<Option<CudaMemory>, GpuError> {
        if let Some(known) = self.memory.get() {
            return Ok(Some(known.clone()));
        }
        let Some(memory) = gpu.cuda_memory(&self.whole)? else {
            return Ok(None);
        };
        Ok(Some(self.memory.get_or_init(|| memory).clone()))
    }

    /// Copies the grains of another GPU into this memory, which has the same room, on a GPU that [accesses](Gpu::accesses) it. They were packed before the
    /// other host waited for its GPU. Returns whether that was possible.
    pub fn fetch(&self, gpu: &Gpu, (from, of): (&PackedGrains<C, R>, &Gpu), widths: &[usize]) -> Result<bool, GpuError> {
        let Some(memory) = from.memory(of)? else {
            return Ok(false);
        };
        debug_assert_eq!(self.room, from.room);
        let [.., all] = layout::<C, R>(from.room, widths);
        gpu.fetch((&from.whole, &memory), all, &self.whole);
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

    /// Requests the download of all grains for which there is room, with columns of these widths.
    pub fn ask(&self, copies: &mut Copies, widths: &[usize]) -> GrainsReadback<C, R> {
        let [.., all] = layout::<C, R>(self.room, widths);
        GrainsReadback {
            whole: copies.add(&self.whole, 0..all),
            room: self.room,
            numbers: PhantomData,
        }
    }

    /// A copy of these grains on another GPU, after all launches here so far, see [`Gpu::copy_to`]. On the same GPU, these grains themselves.
    pub fn copied(packed: &Arc<PackedGrains<C, R>>, widths: &[usize], from: &Gpu, to: &Gpu) -> Result<Arc<PackedGrains<C, R>>, GpuError> {
        if from.is_same(to) {
            return Ok(packed.clone());
        }
        let [.., all] = layout::<C, R>(packed.room, widths);
        let whole = from.copy_to(&packed.whole, all, to)?;
        Ok(Arc::new(PackedGrains::within(whole, packed.room, widths)))
    }

    /// Writes received grains, without their belongings.
    fn write(&mut self, gpu: &Gpu, grains: &HostGrains<C, R>) -> Result<(), GpuError> {
        self.make_room(gpu, grains.len(), &[])?;
        let [coordinates, _, motions, all] = layout::<C, R>(self.room, &[]);
        let mut words = vec![0; all];
        put_numbers(&mut words, 0, &grains.words);
        put_numbers(&mut words, coordinates, &grains.coordinates);
        put_numbers(&mut words, motions, &grains.motions);
        gpu.write_items(&self.whole, 0, words);
        Ok(())
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
        let [coordinates, belongings, motions, _] = layout::<C, R>(self.room, widths);
        arrived.make(self.whole, |words| {
            let mut first = belongings;
            let column = |width: &usize| {
                let numbers = numbers_in::<C>(words, first, width * m);
                first += words_of::<C>(width * self.room);
                numbers
            };
            HostGrains {
                belongings: widths.iter().map(column).collect(),
                words: words[..WORDS * m].to_vec(),
                coordinates: numbers_in(words, coordinates, COORDINATES * m),
                motions: numbers_in(words, motions, MOTIONS * m),
                widths: widths.to_vec(),
            }
        })
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

    /// A box that contains their centers \[m\].
    pub fn bounds(&self) -> Bounds {
        let place = |k: usize| {
            let Vector3 { x, y, z } = self.position(k);
            [x.double(), y.double(), z.double()]
        };
        let of_point = |place: [f64; 3]| Bounds { low: place, high: place };
        (0..self.len()).fold(Bounds::NOTHING, |bounds, k| bounds.with(&of_point(place(k))))
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
pub(in crate::gpu) fn picked<N: Copy>(numbers: &[N], width: usize, which: &[usize]) -> Vec<N> {
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

    /// Queues the packing of the first `room` grains of a list, by its number and the place at which its indices begin, of lists with these indices and
    /// numbers of grains. `place` receives their indices.
    pub(super) fn pack_found(
        &self,
        packed: &PackedGrains<C, R>,
        (indices, found): (&Buffer<u32>, &Buffer<u32>),
        (list, first): (usize, usize),
        place: &Buffer<u32>,
        room: usize,
    ) {
        let (count, dim) = units(room);
        pack::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            indices.argument(),
            found.argument(),
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
            list as u32,
            first as u32,
            room as u32,
            self.kind.frictional,
        );
        for ((column, width), values) in self.belongings().into_iter().zip(&packed.belongings) {
            self.gpu.gather(column, place, room, width, values);
        }
    }

    /// Queues the unpacking of m grains behind all others, where there is room: as ghost particles, whose indices are written to a buffer behind so many
    /// others, or as own grains. Belongings excepted.
    fn unpack_behind(&self, packed: &PackedGrains<C, R>, m: usize, ghosts: Option<(&Buffer<u32>, usize)>) {
        // Not written for own grains.
        let unused = &self.border.as_ref().expect("a domain has a border").parcel.place;
        let (places, listed) = ghosts.unwrap_or((unused, 0));
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
            places.argument(),
            listed as u32,
            self.n as u32,
            m as u32,
            ghosts.is_some(),
            self.kind.frictional,
        );
    }

    /// Queues the unpacking of m grains behind all others, where there is room, as ghost particles. Their indices are written to `places`.
    pub(super) fn unpack_ghosts(&self, packed: &PackedGrains<C, R>, m: usize, places: &Buffer<u32>) {
        self.unpack_behind(packed, m, Some((places, 0)));
        for ((column, width), values) in self.belongings().into_iter().zip(&packed.belongings) {
            self.gpu.scatter(values, places, m, width, column);
        }
        self.mark_arrived_shapes(m);
    }

    /// Appends the grains of a message behind all others, as ghost particles of the neighbor with this number, of which so many are listed, or as own
    /// grains. Returns their number.
    pub(super) fn unpacked(&mut self, message: &mut &[u8], ghosts_of: Option<(usize, usize)>) -> Result<usize, HaltReason> {
        if message.is_empty() {
            return Ok(0);
        }
        let widths = widths_of(&self.belongings());
        let grains = HostGrains::<C, R>::unfold_from(message, &widths)?;
        let (m, gpu) = (grains.len(), self.gpu.clone());
        if m == 0 {
            return Ok(0);
        }
        let first = self.n;
        self.make_room_for(first + m)?;
        let border = self.border();
        if let Some((side, listed)) = ghosts_of {
            let ghosts = &mut border.sides[side].ghosts;
            if listed == 0 {
                make_room(&gpu, ghosts, m, "domains")?;
            } else {
                gpu.lengthen(ghosts, listed + m, "domains")?;
            }
        }
        border.parcel.packed.write(&gpu, &grains)?;
        let border = self.border.as_ref().expect("a domain has a border");
        let places = ghosts_of.map(|(side, listed)| (&border.sides[side].ghosts, listed));
        self.unpack_behind(&border.parcel.packed, m, places);
        for ((column, width), numbers) in self.belongings().iter().zip(&grains.belongings) {
            gpu.write_part(column, width * self.n, numbers);
        }
        self.mark_arrived_shapes(m);
        self.n += m;
        let border = self.border();
        if ghosts_of.is_none() && border.begun.is_some() {
            border.newcomers.push((first, grains));
        }
        Ok(m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<N: Number>(count: usize, from: f64) -> Vec<N> {
        (0..count).map(|k| N::of(from + k as f64)).collect()
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn one_copy_has_all_columns_of_packed_grains() {
        let gpu = Gpu::open(None).unwrap();
        let widths = [1, RECORD];
        let mut packed = PackedGrains::<f64, f32>::new(&gpu).unwrap();
        // Less room in the same memory, then more.
        for m in [70, 3, 500] {
            packed.make_room(&gpu, m, &widths).unwrap();
            let words: Vec<u32> = (0..(WORDS * m) as u32).collect();
            let (coordinates, motions) = (numbers::<f64>(COORDINATES * m, 0.5), numbers::<f32>(MOTIONS * m, 0.25));
            let belongings = widths.map(|width| numbers::<f64>(width * m, 1e6));
            gpu.write_part(&packed.words, 0, &words);
            gpu.write_part(&packed.coordinates, 0, &coordinates);
            gpu.write_part(&packed.motions, 0, &motions);
            for (column, values) in packed.belongings.iter().zip(&belongings) {
                gpu.write_part(column, 0, values);
            }
            let mut copies = gpu.copies();
            let coming = packed.ask(&mut copies, &widths);
            let grains = coming.grains(&copies.wait().unwrap(), m, &widths);
            assert_eq!(
                (&grains.words, &grains.coordinates, &grains.motions),
                (&words, &coordinates, &motions)
            );
            assert_eq!(grains.belongings, belongings);
            // Each coordinate is larger than that of the grain before.
            let [of_first, of_last] = [0, m - 1].map(|k| [0, 1, 2].map(|axis| coordinates[COORDINATES * k + axis]));
            assert_eq!((grains.bounds().low, grains.bounds().high), (of_first, of_last));
            // Received grains have their belongings elsewhere.
            packed.write(&gpu, &grains).unwrap();
            assert_eq!(gpu.download_part(&packed.words, 0..words.len()).wait().unwrap(), words);
            assert_eq!(
                gpu.download_part(&packed.coordinates, 0..coordinates.len()).wait().unwrap(),
                coordinates
            );
            assert_eq!(gpu.download_part(&packed.motions, 0..motions.len()).wait().unwrap(), motions);
        }
    }
}
