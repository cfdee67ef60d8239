//! Contact histories of grains that migrate.

use super::DomainState;
use super::packing::picked;
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::index_map::rename_places;
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::polyhedra::MigratingShapes;
use crate::gpu::{GpuGrains, Number};
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::domain::{
    count_in_contact, count_near, pack_histories, pack_wall_histories, unpack_histories, unpack_wall_histories,
};
use seixo_sweeps::layout::RECORD;

/// Contact histories of grains that migrated here, which have successive indices from `first` on: those with grains, and those with walls.
pub(super) struct ArrivedHistories {
    pub first: usize,
    pub count: usize,
    pub messages: [Vec<u8>; 2],
    /// The same of polyhedral grains, if there are any.
    pub of_shapes: Option<[Vec<u8>; 2]>,
}

/// Room for packed contact histories in GPU memory: the first entry of each grain, and for each entry the number of the grain among those packed,
/// the other grain or wall element, and the history.
pub(super) struct HistoryBuffer<R> {
    start: Buffer<u32>,
    whose: Buffer<u32>,
    history: Buffer<R>,
}

/// Downloads of packed contact histories, in progress.
pub(super) struct HistoryReadback<R> {
    start: Ticket<u32>,
    whose: Ticket<u32>,
    history: Ticket<R>,
    numbers: usize,
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
        Ok(HistoryBuffer {
            start: gpu.buffer(RECORD, "domains")?,
            whose: gpu.buffer(RECORD, "domains")?,
            history: gpu.buffer(RECORD, "domains")?,
        })
    }

    /// Makes room for m grains and this many entries, each with this many values.
    fn make_room(&mut self, gpu: &Gpu, m: usize, entries: usize, numbers: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.start, m + 1, "domains")?;
        make_room(gpu, &mut self.whose, 2 * entries, "domains")?;
        make_room(gpu, &mut self.history, numbers * entries, "domains")
    }

    /// Requests the download of the first entries of m grains and the one behind, and of this many entries with `numbers` values each.
    fn ask(&self, copies: &mut Copies, m: usize, entries: usize, numbers: usize) -> HistoryReadback<R> {
        HistoryReadback {
            start: copies.add(&self.start, 0..m + 1),
            whose: copies.add(&self.whose, 0..2 * entries),
            history: copies.add(&self.history, 0..numbers * entries),
            numbers,
        }
    }
}

impl<R: Number> HistoryReadback<R> {
    /// The histories, once they have arrived.
    pub fn histories(self, arrived: &Arrived) -> HostHistories<R> {
        HostHistories {
            start: arrived.take(self.start),
            whose: arrived.take(self.whose),
            history: arrived.take(self.history),
            numbers: self.numbers,
        }
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
        let (count, dim) = units(m);
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
        of_grains.make_room(gpu, m, rooms[0], numbers)?;
        self.cells.workspace.exclusive_scan(gpu, &self.key, m, &of_grains.start)?;
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
            numbers,
        );
        let of_grains = of_grains.ask(copies, m, rooms[0], numbers);
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) else {
            return Ok([Some(of_grains), None]);
        };
        count_near::launch(
            gpu.client(),
            count.clone(),
            dim,
            parcel.place.argument(),
            near.row.argument(),
            self.key.argument(),
            m as u32,
        );
        near_walls.make_room(gpu, m, rooms[1], of_walls)?;
        self.cells.workspace.exclusive_scan(gpu, &self.key, m, &near_walls.start)?;
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
            of_walls,
        );
        Ok([Some(of_grains), Some(near_walls.ask(copies, m, rooms[1], of_walls))])
    }

    /// Restores the contact histories of grains that migrated here, in the lists that were just built.
    pub(super) fn restore_migrated_histories(&mut self, arrived: &ArrivedHistories, of_walls: usize) -> Result<(), HaltReason> {
        let gpu = &self.gpu;
        let DomainState { parcel, place_of, .. } = self.border.as_mut().expect("a domain has a border");
        // Their current indices.
        let places: Vec<u32> = (arrived.first..arrived.first + arrived.count).map(|place| place as u32).collect();
        make_room(gpu, &mut parcel.start, arrived.count, "domains")?;
        gpu.write_part(&parcel.start, 0, &places);
        rename_places(gpu, &parcel.start, arrived.count, place_of);
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
            packed.make_room(gpu, 0, entries, numbers)?;
            gpu.write_part(&packed.whose, 0, &whose);
            gpu.write_part(&packed.history, 0, &contact_histories);
            let (count, dim) = units(entries);
            match &self.walls {
                Some(near) if is_of_walls => unpack_wall_histories::launch::<R, C>(
                    gpu.client(),
                    count,
                    dim,
                    packed.whose.argument(),
                    packed.history.argument(),
                    parcel.start.argument(),
                    near.row.argument(),
                    near.list.argument(),
                    near.elements.argument(),
                    near.history.argument(),
                    entries as u32,
                    numbers,
                ),
                _ => unpack_histories::launch::<R>(
                    gpu.client(),
                    count,
                    dim,
                    packed.whose.argument(),
                    packed.history.argument(),
                    parcel.start.argument(),
                    self.rows.count.argument(),
                    self.rows.tile_first.argument(),
                    self.rows.list.argument(),
                    self.rows.history.argument(),
                    self.id.argument(),
                    entries as u32,
                    numbers,
                ),
            }
        }
        Ok(())
    }

    /// Restores the contact histories of polyhedral grains that migrated here, after [`GpuGrains::restore_migrated_histories`], which finds the present
    /// indices of these grains.
    pub(super) fn restore_migrated_shapes(&mut self, arrived: &ArrivedHistories) -> Result<(), HaltReason> {
        let present = self.present_slots();
        let (Some(shapes), Some(messages)) = (&self.shapes, &arrived.of_shapes) else {
            return Ok(());
        };
        let parcel = &mut self.border.as_mut().expect("a domain has a border").parcel;
        let grains = MigratingShapes {
            place: &parcel.start,
            m: arrived.count,
            id: &self.id,
            present,
        };
        let [packed, _] = &mut parcel.shape_contacts;
        shapes.restore_arrived(&self.gpu, self.walls.as_ref(), &grains, messages, packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
