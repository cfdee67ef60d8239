//! Contact histories of grains that migrate.

use super::DomainState;
use super::packing::{numbers_in, picked, room_of, successive_places};
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::index_map::rename_places;
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::polyhedra::MigratingShapes;
use crate::gpu::{GpuGrains, Number, put_numbers, words_of};
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::domain::{
    count_in_contact, count_near, pack_histories, pack_wall_histories, unpack_histories, unpack_wall_histories,
};
use std::marker::PhantomData;

/// Contact histories of grains that migrated here, which have successive indices from `first` on: those with grains, and those with walls.
pub(super) struct ArrivedHistories {
    pub first: usize,
    pub count: usize,
    pub messages: [Vec<u8>; 2],
    /// The same of polyhedral grains, if there are any.
    pub of_shapes: Option<[Vec<u8>; 2]>,
}

/// Room for packed contact histories in GPU memory: the first entry of each grain and the end of the last, and for each entry the number of the grain among
/// those packed, the other grain or wall element, and the history. All are in one memory, so that one copy takes all along.
pub(super) struct HistoryBuffer<R> {
    whole: Buffer<u32>,
    layout: HistoryLayout,
    start: Buffer<u32>,
    whose: Buffer<u32>,
    history: Buffer<R>,
}

/// Where the parts of packed contact histories are: numbers of grains and of entries for which there is room, and values of each history.
#[derive(Clone, Copy)]
struct HistoryLayout {
    grains: usize,
    room: usize,
    numbers: usize,
}

impl HistoryLayout {
    /// The words at which the entries and their histories begin, and all words, for histories of this type.
    fn words<R>(self) -> [usize; 3] {
        let whose = room_of(self.grains + 1);
        let history = whose + 2 * self.room;
        [whose, history, history + words_of::<R>(self.numbers * self.room)]
    }
}

/// A download of packed contact histories, in progress.
pub(super) struct HistoryReadback<R> {
    whole: Ticket<u32>,
    layout: HistoryLayout,
    histories: PhantomData<R>,
}

/// Packed contact histories that were downloaded, each with `numbers` values. If there was not room for all, the last ones are missing.
pub(super) struct HostHistories<R> {
    start: Vec<u32>,
    whose: Vec<u32>,
    history: Vec<R>,
    numbers: usize,
}

impl<R: Number> HistoryBuffer<R> {
    /// Without room yet.
    pub fn new(gpu: &Gpu) -> Result<HistoryBuffer<R>, GpuError> {
        let layout = HistoryLayout {
            grains: 0,
            room: room_of(0),
            numbers: 0,
        };
        let [.., all] = layout.words::<R>();
        Ok(HistoryBuffer::within(gpu.buffer(all, "domains")?, layout))
    }

    /// Parts of this memory.
    fn within(whole: Buffer<u32>, layout: HistoryLayout) -> HistoryBuffer<R> {
        let [whose, history, _] = layout.words::<R>();
        HistoryBuffer {
            start: whole.part_from(0, layout.grains + 1),
            whose: whole.part_from(whose, 2 * layout.room),
            history: whole.part_from(history, layout.numbers * layout.room),
            layout,
            whole,
        }
    }

    /// Makes room for m grains and this many entries, each with this many values.
    fn make_room(&mut self, gpu: &Gpu, m: usize, entries: usize, numbers: usize) -> Result<(), GpuError> {
        let layout = HistoryLayout {
            grains: m,
            room: room_of(entries),
            numbers,
        };
        let [.., all] = layout.words::<R>();
        if self.whole.len() < all {
            // All parts keep the old memory, which must be free before there is more.
            *self = HistoryBuffer::new(gpu)?;
            make_room(gpu, &mut self.whole, all, "domains")?;
        }
        let least = self.whole.part_from(0, 1);
        *self = HistoryBuffer::within(std::mem::replace(&mut self.whole, least), layout);
        Ok(())
    }

    /// Requests the download of all for which there is room.
    fn ask(&self, copies: &mut Copies) -> HistoryReadback<R> {
        let [.., all] = self.layout.words::<R>();
        HistoryReadback {
            whole: copies.add(&self.whole, 0..all),
            layout: self.layout,
            histories: PhantomData,
        }
    }

    /// Writes received entries, which have `numbers` values each.
    fn write(&mut self, gpu: &Gpu, whose: &[u32], histories: &[R], numbers: usize) -> Result<(), GpuError> {
        self.make_room(gpu, 0, whose.len() / 2, numbers)?;
        let [whose_at, histories_at, all] = self.layout.words::<R>();
        let mut words = vec![0; all];
        put_numbers(&mut words, whose_at, whose);
        put_numbers(&mut words, histories_at, histories);
        gpu.write_items(&self.whole, 0, words);
        Ok(())
    }
}

impl<R: Number> HistoryReadback<R> {
    /// The histories, once they have arrived.
    pub fn histories(self, arrived: &Arrived) -> HostHistories<R> {
        let HistoryLayout { grains, room, numbers } = self.layout;
        let [whose, history, _] = self.layout.words::<R>();
        arrived.make(self.whole, |words| HostHistories {
            start: words[..=grains].to_vec(),
            whose: words[whose..history].to_vec(),
            history: numbers_in(words, history, numbers * room),
            numbers,
        })
    }
}

impl<R: Number> HostHistories<R> {
    /// Number of entries of the first m grains.
    pub fn entries(&self, m: usize) -> usize {
        self.start[m] as usize
    }

    /// A message with the entries of these grains, which are numbered from zero on.
    pub fn message_of(&self, which: &[usize]) -> Vec<u8> {
        let (mut whose, mut entries) = (Vec::new(), Vec::new());
        for (number, &k) in which.iter().enumerate() {
            for entry in self.start[k] as usize..self.start[k + 1] as usize {
                whose.extend([number as u32, self.whose[2 * entry + 1]]);
                entries.push(entry);
            }
        }
        let mut message = Vec::new();
        enclose(&mut message, &whose);
        enclose(&mut message, &picked(&self.history, self.numbers, &entries));
        message
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Queues the packing of the contact histories of the first m grains that leave, with grains and with walls, and requests their download. There is
    /// room for this many of each.
    pub(super) fn pack_leaving_histories(
        &mut self,
        m: usize,
        rooms: [usize; 2],
        of_walls: usize,
        copies: &mut Copies,
    ) -> Result<[Option<HistoryReadback<R>>; 2], GpuError> {
        if !self.kind.frictional {
            return Ok([None, None]);
        }
        let (gpu, rows, numbers) = (&self.gpu, &self.rows, self.kind.numbers);
        let parcel = &mut self.border.as_mut().expect("a domain has a border").parcel;
        let [of_grains, near_walls] = &mut parcel.histories;
        debug_assert!(m > 0, "a block that counts by itself writes no first entry without grains");
        // One block counts its contacts by itself.
        let counts = m <= THREADS;
        let (count, dim) = units(m);
        of_grains.make_room(gpu, m, rooms[0], numbers)?;
        if !counts {
            count_in_contact::launch(
                gpu.client(),
                count.clone(),
                dim,
                parcel.place.argument(),
                rows.count.argument(),
                rows.tile_first.argument(),
                rows.list.argument(),
                self.key.argument(),
                m as u32,
            );
            self.cells.workspace.exclusive_scan(gpu, &self.key, m, &of_grains.start)?;
        }
        pack_histories::launch::<R>(
            gpu.client(),
            count.clone(),
            dim,
            parcel.place.argument(),
            of_grains.start.argument(),
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            rows.history.argument(),
            self.id.argument(),
            of_grains.whose.argument(),
            of_grains.history.argument(),
            rooms[0] as u32,
            m as u32,
            counts,
            numbers,
        );
        let of_grains = of_grains.ask(copies);
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) else {
            return Ok([Some(of_grains), None]);
        };
        near_walls.make_room(gpu, m, rooms[1], of_walls)?;
        if !counts {
            count_near::launch(
                gpu.client(),
                count.clone(),
                dim,
                parcel.place.argument(),
                near.row.argument(),
                self.key.argument(),
                m as u32,
            );
            self.cells.workspace.exclusive_scan(gpu, &self.key, m, &near_walls.start)?;
        }
        pack_wall_histories::launch::<R>(
            gpu.client(),
            count,
            dim,
            parcel.place.argument(),
            near_walls.start.argument(),
            near.row.argument(),
            near.list.argument(),
            near.history.argument(),
            near_walls.whose.argument(),
            near_walls.history.argument(),
            rooms[1] as u32,
            m as u32,
            counts,
            of_walls,
        );
        Ok([Some(of_grains), Some(near_walls.ask(copies))])
    }

    /// Restores the contact histories of grains that migrated here, in the lists that were just built.
    pub(super) fn restore_migrated_histories(&mut self, arrived: &ArrivedHistories, of_walls: usize) -> Result<(), HaltReason> {
        let gpu = &self.gpu;
        let DomainState { parcel, place_of, .. } = self.border.as_mut().expect("a domain has a border");
        for (message, (numbers, is_of_walls)) in arrived.messages.iter().zip([(self.kind.numbers, false), (of_walls, true)]) {
            if message.is_empty() {
                continue;
            }
            let mut message = &message[..];
            let whose: Vec<u32> = unfold(&mut message)?;
            let contact_histories: Vec<R> = unfold(&mut message)?;
            let entries = whose.len() / 2;
            let is_named = whose.chunks_exact(2).all(|entry| (entry[0] as usize) < arrived.count);
            if whose.len() != 2 * entries || contact_histories.len() != numbers * entries || !is_named {
                return Err(DecodeError.into());
            }
            if entries == 0 {
                continue;
            }
            let [packed, _] = &mut parcel.histories;
            packed.write(gpu, &whose, &contact_histories, numbers)?;
            let (count, dim) = units(entries);
            match &self.walls {
                Some(near) if is_of_walls => unpack_wall_histories::launch::<R, C>(
                    gpu.client(),
                    count,
                    dim,
                    packed.whose.argument(),
                    packed.history.argument(),
                    place_of.argument(),
                    near.row.argument(),
                    near.list.argument(),
                    near.elements.argument(),
                    near.history.argument(),
                    arrived.first as u32,
                    entries as u32,
                    numbers,
                ),
                _ => unpack_histories::launch::<R>(
                    gpu.client(),
                    count,
                    dim,
                    packed.whose.argument(),
                    packed.history.argument(),
                    place_of.argument(),
                    self.rows.count.argument(),
                    self.rows.tile_first.argument(),
                    self.rows.list.argument(),
                    self.rows.history.argument(),
                    self.id.argument(),
                    arrived.first as u32,
                    entries as u32,
                    numbers,
                ),
            }
        }
        Ok(())
    }

    /// As [`GpuGrains::restore_migrated_histories`], of polyhedral grains.
    pub(super) fn restore_migrated_shapes(&mut self, arrived: &ArrivedHistories) -> Result<(), HaltReason> {
        let present = self.present_slots();
        let (Some(shapes), Some(messages)) = (&self.shapes, &arrived.of_shapes) else {
            return Ok(());
        };
        let (gpu, DomainState { parcel, place_of, .. }) = (&self.gpu, self.border.as_mut().expect("a domain has a border"));
        // Their current indices.
        let places = successive_places(arrived.first, arrived.count);
        make_room(gpu, &mut parcel.start, arrived.count, "domains")?;
        gpu.write_part(&parcel.start, 0, &places);
        rename_places(gpu, &parcel.start, arrived.count, place_of);
        let grains = MigratingShapes {
            place: &parcel.start,
            m: arrived.count,
            id: &self.id,
            present,
        };
        let [packed, _] = &mut parcel.shape_contacts;
        shapes.restore_arrived(gpu, self.walls.as_ref(), &grains, messages, packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::entries::IN_CONTACT;

    #[test]
    fn a_message_has_the_histories_of_its_grains_alone() {
        // The first of three grains has two contacts, the second none.
        let all = HostHistories {
            start: vec![0, 2, 2, 3],
            whose: vec![0, 70, 0, 71, 2, 72],
            history: vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0],
            numbers: 2,
        };
        assert_eq!([1, 2, 3].map(|m| all.entries(m)), [2, 2, 3]);
        let parts = |which: &[usize]| {
            let message = all.message_of(which);
            let mut rest = &message[..];
            (unfold::<u32>(&mut rest).unwrap(), unfold::<f32>(&mut rest).unwrap())
        };
        assert_eq!(parts(&[1, 2]), (vec![1, 72], vec![5.0, 6.0]));
        assert_eq!(parts(&[0]), (vec![0, 70, 0, 71], vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(parts(&[1]), (Vec::new(), Vec::new()));
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_block_that_counts_packs_what_a_scan_does() {
        let gpu = Gpu::open(None).unwrap();
        let (grains, m, numbers, room) = (64, 50, 3, 256);
        // Two tiles of rows with three entries each.
        let entries = 3 * grains;
        let mark = |entry: usize| if entry * 37 % 11 < 4 { IN_CONTACT } else { 0 };
        let list: Vec<u32> = (0..entries).map(|entry| (entry * 7 % grains) as u32 | mark(entry)).collect();
        let history: Vec<f32> = (0..entries * numbers).map(|k| k as f32).collect();
        let place: Vec<u32> = (0..m).map(|k| (k * 13 % grains) as u32).collect();
        let ids: Vec<u32> = (0..grains as u32).map(|k| 1000 + k).collect();
        let tiles = [0, 96, 192];
        let [place, list, ids, count, tile_first] =
            [&place[..], &list, &ids, &vec![3; grains], &tiles].map(|words| gpu.upload(words, "a test").unwrap());
        let (history, counted) = (gpu.upload(&history, "a test").unwrap(), gpu.zeros(m, "a test").unwrap());
        let packed_by = |counts: bool| {
            let mut packed = HistoryBuffer::<f32>::new(&gpu).unwrap();
            packed.make_room(&gpu, m, room, numbers).unwrap();
            let (cubes, dim) = units(m);
            if !counts {
                count_in_contact::launch(
                    gpu.client(),
                    cubes.clone(),
                    dim,
                    place.argument(),
                    count.argument(),
                    tile_first.argument(),
                    list.argument(),
                    counted.argument(),
                    m as u32,
                );
                gpu.exclusive_scan(&counted, m, &packed.start).unwrap();
            }
            pack_histories::launch::<f32>(
                gpu.client(),
                cubes,
                dim,
                place.argument(),
                packed.start.argument(),
                count.argument(),
                tile_first.argument(),
                list.argument(),
                history.argument(),
                ids.argument(),
                packed.whose.argument(),
                packed.history.argument(),
                room as u32,
                m as u32,
                counts,
                numbers,
            );
            let mut copies = gpu.copies();
            let coming = packed.ask(&mut copies);
            coming.histories(&copies.wait().unwrap())
        };
        let [scanned, counted] = [false, true].map(packed_by);
        let all = scanned.entries(m);
        assert!(all > 20 && all <= room, "{all} contacts");
        assert_eq!(scanned.start, counted.start);
        assert_eq!(scanned.whose[..2 * all], counted.whose[..2 * all]);
        assert_eq!(scanned.history[..numbers * all], counted.history[..numbers * all]);
        assert!(scanned.history[..numbers * all].iter().any(|number| *number > 0.0));
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn one_copy_takes_received_histories_to_their_places() {
        let gpu = Gpu::open(None).unwrap();
        let (whose, histories) = ([0, 70, 0, 71, 2, 72], [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let mut packed = HistoryBuffer::<f32>::new(&gpu).unwrap();
        packed.write(&gpu, &whose, &histories, 2).unwrap();
        assert_eq!(gpu.download_part(&packed.whose, 0..6).wait().unwrap(), whose);
        assert_eq!(gpu.download_part(&packed.history, 0..6).wait().unwrap(), histories);
    }
}
