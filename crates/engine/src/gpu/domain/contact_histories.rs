//! Contact histories of grains that migrate.

use super::DomainState;
use super::migration::MigrationBuffer;
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::index_map::rename_places;
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{GpuGrains, Number};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::domain::{
    count_in_contact, count_near, pack_histories, pack_wall_histories, unpack_histories, unpack_wall_histories,
};

/// Contact histories of grains that migrated here, which have successive indices from `first` on: those with grains, and those with walls.
pub(super) struct ArrivedHistories {
    pub first: usize,
    pub count: usize,
    pub messages: [Vec<u8>; 2],
}

impl<C: Number, R: Number> MigrationBuffer<C, R> {
    /// Computes the first entry of each of m grains from their counts, and makes room for all entries, each with this many values. Returns the number
    /// of entries.
    fn begin_migrated_histories(&mut self, gpu: &Gpu, counts: &Buffer<u32>, m: usize, numbers: usize) -> Result<usize, GpuError> {
        make_room(gpu, &mut self.start, m + 1, "domains")?;
        gpu.exclusive_scan(counts, m, &self.start)?;
        let entries = gpu.download_part(&self.start, m..m + 1).wait()?[0] as usize;
        self.reserve_histories(gpu, entries, numbers)?;
        Ok(entries)
    }

    /// Makes room for this many entries, each with this many values.
    fn reserve_histories(&mut self, gpu: &Gpu, entries: usize, numbers: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.whose, 2 * entries, "domains")?;
        make_room(gpu, &mut self.history, numbers * entries, "domains")
    }

    /// A message with this many packed entries, each with this many values.
    fn histories(&self, gpu: &Gpu, entries: usize, numbers: usize) -> Result<Vec<u8>, GpuError> {
        let mut copies = gpu.copies();
        let whose = copies.add(&self.whose, 0..2 * entries);
        let contact_histories = copies.add(&self.history, 0..numbers * entries);
        let arrived = copies.wait()?;
        let mut message = Vec::new();
        enclose(&mut message, &arrived.take(whose));
        enclose(&mut message, &arrived.take(contact_histories));
        Ok(message)
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Contact histories of the m grains at the first indices of [`GpuGrains::find`]: those with grains, and those with walls.
    pub(super) fn histories_of(&mut self, m: usize, of_walls: usize) -> Result<[Vec<u8>; 2], GpuError> {
        if m == 0 || !self.kind.frictional {
            return Ok(Default::default());
        }
        let (gpu, rows, numbers) = (&self.gpu, &self.rows, self.kind.numbers);
        let parcel = &mut self.border.as_mut().expect("a domain has a border").parcel;
        let (count, dim) = units(m);
        count_in_contact::launch(
            gpu.client(),
            count.clone(),
            dim,
            self.order.argument(),
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            self.key.argument(),
            m as u32,
        );
        let entries = parcel.begin_migrated_histories(gpu, &self.key, m, numbers)?;
        pack_histories::launch::<R>(
            gpu.client(),
            count.clone(),
            dim,
            self.order.argument(),
            parcel.start.argument(),
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            rows.history.argument(),
            self.id.argument(),
            parcel.whose.argument(),
            parcel.history.argument(),
            m as u32,
            numbers,
        );
        let of_grains = parcel.histories(gpu, entries, numbers)?;
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) else {
            return Ok([of_grains, Vec::new()]);
        };
        count_near::launch(
            gpu.client(),
            count.clone(),
            dim,
            self.order.argument(),
            near.row.argument(),
            self.key.argument(),
            m as u32,
        );
        let entries = parcel.begin_migrated_histories(gpu, &self.key, m, of_walls)?;
        pack_wall_histories::launch::<R>(
            gpu.client(),
            count,
            dim,
            self.order.argument(),
            parcel.start.argument(),
            near.row.argument(),
            near.list.argument(),
            near.history.argument(),
            parcel.whose.argument(),
            parcel.history.argument(),
            m as u32,
            of_walls,
        );
        Ok([of_grains, parcel.histories(gpu, entries, of_walls)?])
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
            parcel.reserve_histories(gpu, entries, numbers)?;
            gpu.write_part(&parcel.whose, 0, &whose);
            gpu.write_part(&parcel.history, 0, &contact_histories);
            let (count, dim) = units(entries);
            match &self.walls {
                Some(near) if is_of_walls => unpack_wall_histories::launch::<R, C>(
                    gpu.client(),
                    count,
                    dim,
                    parcel.whose.argument(),
                    parcel.history.argument(),
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
                    parcel.whose.argument(),
                    parcel.history.argument(),
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
}
