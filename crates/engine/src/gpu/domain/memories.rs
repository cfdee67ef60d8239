//! What contacts remember of grains that change hands.

use super::Border;
use super::parcels::Parcel;
use crate::division::{Halt, Illegible, enclose, unfold};
use crate::gpu::lists::make_room;
use crate::gpu::places::rename_places;
use crate::gpu::{Number, OnGpu};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::domain::{count_near, count_touched, give_histories, give_wall_histories, take_histories, take_wall_histories};

/// What contacts of grains remember that came to stand from a place on: those with grains, and those with walls.
pub(super) struct Arrived {
    pub first: usize,
    pub count: usize,
    pub letters: [Vec<u8>; 2],
}

impl<C: Number, R: Number> Parcel<C, R> {
    /// Sums the first m counts up into where the share of each begins, and makes room for all, with so many numbers each; says how many they are.
    fn begin_memories(&mut self, gpu: &Gpu, counts: &Buffer<u32>, m: usize, numbers: usize) -> Result<usize, GpuError> {
        make_room(gpu, &mut self.start, m + 1, "domains")?;
        gpu.exclusive_scan(counts, m, &self.start)?;
        let entries = gpu.download_part(&self.start, m..m + 1).wait()?[0] as usize;
        self.make_room_for_memories(gpu, entries, numbers)?;
        Ok(entries)
    }

    /// Room for so many entries, with so many numbers each.
    fn make_room_for_memories(&mut self, gpu: &Gpu, entries: usize, numbers: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.whose, 2 * entries, "domains")?;
        make_room(gpu, &mut self.remembered, numbers * entries, "domains")
    }

    /// What was put into so many entries, with so many numbers each.
    fn memories(&self, gpu: &Gpu, entries: usize, numbers: usize) -> Result<Vec<u8>, GpuError> {
        let mut copies = gpu.copies();
        let whose = copies.add(&self.whose, 0..2 * entries);
        let remembered = copies.add(&self.remembered, 0..numbers * entries);
        let arrived = copies.wait()?;
        let mut letter = Vec::new();
        enclose(&mut letter, &arrived.take(whose));
        enclose(&mut letter, &arrived.take(remembered));
        Ok(letter)
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// What the m grains remember, whose places are the first of [`OnGpu::find`]: of grains, and of walls.
    pub(super) fn memories_of(&mut self, m: usize, of_walls: usize) -> Result<[Vec<u8>; 2], GpuError> {
        if m == 0 || !self.kind.frictional {
            return Ok(Default::default());
        }
        let (gpu, rows, numbers) = (&self.gpu, &self.rows, self.kind.numbers);
        let parcel = &mut self.border.as_mut().expect("a domain has a border").parcel;
        let (count, dim) = units(m);
        count_touched::launch(
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
        let entries = parcel.begin_memories(gpu, &self.key, m, numbers)?;
        take_histories::launch::<R>(
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
            parcel.remembered.argument(),
            m as u32,
            numbers,
        );
        let of_grains = parcel.memories(gpu, entries, numbers)?;
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
        let entries = parcel.begin_memories(gpu, &self.key, m, of_walls)?;
        take_wall_histories::launch::<R>(
            gpu.client(),
            count,
            dim,
            self.order.argument(),
            parcel.start.argument(),
            near.row.argument(),
            near.list.argument(),
            near.history.argument(),
            parcel.whose.argument(),
            parcel.remembered.argument(),
            m as u32,
            of_walls,
        );
        Ok([of_grains, parcel.memories(gpu, entries, of_walls)?])
    }

    /// Gives grains that came what their contacts remember, in the lists just made.
    pub(super) fn give_memories(&mut self, arrived: &Arrived, of_walls: usize) -> Result<(), Halt> {
        let gpu = &self.gpu;
        let Border { parcel, place_of, .. } = self.border.as_mut().expect("a domain has a border");
        // Where they are now.
        let places: Vec<u32> = (arrived.first..arrived.first + arrived.count).map(|place| place as u32).collect();
        make_room(gpu, &mut parcel.start, arrived.count, "domains")?;
        gpu.write_part(&parcel.start, 0, &places);
        rename_places(gpu, &parcel.start, arrived.count, place_of);
        for (letter, (numbers, is_of_walls)) in arrived.letters.iter().zip([(self.kind.numbers, false), (of_walls, true)]) {
            if letter.is_empty() {
                continue;
            }
            let mut letter = &letter[..];
            let whose: Vec<u32> = unfold(&mut letter)?;
            let remembered: Vec<R> = unfold(&mut letter)?;
            let entries = whose.len() / 2;
            let is_named = whose.chunks_exact(2).all(|entry| (entry[0] as usize) < arrived.count);
            if whose.len() != 2 * entries || remembered.len() != numbers * entries || !is_named {
                return Err(Illegible.into());
            }
            if entries == 0 {
                continue;
            }
            parcel.make_room_for_memories(gpu, entries, numbers)?;
            gpu.write_part(&parcel.whose, 0, &whose);
            gpu.write_part(&parcel.remembered, 0, &remembered);
            let (count, dim) = units(entries);
            match &self.walls {
                Some(near) if is_of_walls => give_wall_histories::launch::<R, C>(
                    gpu.client(),
                    count,
                    dim,
                    parcel.whose.argument(),
                    parcel.remembered.argument(),
                    parcel.start.argument(),
                    near.row.argument(),
                    near.list.argument(),
                    near.elements.argument(),
                    near.history.argument(),
                    entries as u32,
                    numbers,
                ),
                _ => give_histories::launch::<R>(
                    gpu.client(),
                    count,
                    dim,
                    parcel.whose.argument(),
                    parcel.remembered.argument(),
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
