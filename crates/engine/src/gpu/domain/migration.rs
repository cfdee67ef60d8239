//! Grains that migrate to other subdomains: packing, unpacking, and buffers for them.
//!
//! Beside the fields of all grains, there are columns that only some simulations have: scalars, derivatives and orientations.

use super::RESERVE;
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{GpuGrains, Number, room_for_cubes};
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::domain::{pack, unpack};
use seixo_sweeps::layout::RECORD;

/// Words of a packed grain: id, material, group and member number.
const WORDS: usize = 4;

/// Buffers for packed grains.
pub(super) struct MigrationBuffer<C, R> {
    pub words: Buffer<u32>,
    pub coordinates: Buffer<C>,
    motions: Buffer<R>,
    belongings: MigratingColumns<C>,
    pub start: Buffer<u32>,
    pub whose: Buffer<u32>,
    pub history: Buffer<R>,
}

impl<C: Number, R: Number> MigrationBuffer<C, R> {
    pub fn new(gpu: &Gpu) -> Result<MigrationBuffer<C, R>, GpuError> {
        Ok(MigrationBuffer {
            words: gpu.buffer(RECORD, "domains")?,
            coordinates: gpu.buffer(RECORD, "domains")?,
            motions: gpu.buffer(RECORD, "domains")?,
            belongings: MigratingColumns::new(),
            start: gpu.buffer(RECORD, "domains")?,
            whose: gpu.buffer(RECORD, "domains")?,
            history: gpu.buffer(RECORD, "domains")?,
        })
    }

    /// Makes room for m packed grains. `widths` are the values per grain of the additional columns.
    pub fn make_room(&mut self, gpu: &Gpu, m: usize, widths: &[usize]) -> Result<(), GpuError> {
        self.belongings.make_room(gpu, m, widths)?;
        make_room(gpu, &mut self.words, WORDS * m, "domains")?;
        make_room(gpu, &mut self.coordinates, 3 * RECORD * m, "domains")?;
        make_room(gpu, &mut self.motions, 2 * RECORD * m, "domains")
    }
}

/// A column of numbers, and its values per grain.
pub(super) type MigratingColumn<'a, C> = (&'a Buffer<C>, usize);

/// Values per grain in these columns.
pub(super) fn widths_of<C>(columns: &[MigratingColumn<'_, C>]) -> Vec<usize> {
    columns.iter().map(|(_, width)| *width).collect()
}

/// Packed values of some grains in such columns, column by column.
pub(super) struct MigratingColumns<C>(Vec<Buffer<C>>);

impl<C: Number> MigratingColumns<C> {
    pub fn new() -> MigratingColumns<C> {
        MigratingColumns(Vec::new())
    }

    /// Makes room for m grains with this many values each.
    pub fn make_room(&mut self, gpu: &Gpu, m: usize, widths: &[usize]) -> Result<(), GpuError> {
        while self.0.len() < widths.len() {
            self.0.push(gpu.buffer(RECORD, "domains")?);
        }
        let mut rooms = self.0.iter_mut().zip(widths);
        rooms.try_for_each(|(room, width)| make_room(gpu, room, width * m, "domains"))
    }

    /// Gathers the values of m grains at these indices.
    pub fn gather(&self, gpu: &Gpu, columns: &[MigratingColumn<'_, C>], place: &Buffer<u32>, m: usize) {
        for ((column, width), room) in columns.iter().zip(&self.0) {
            gpu.gather(column, place, m, *width, room);
        }
    }

    /// Requests the download of the values that were gathered for m grains.
    pub fn ask(&self, copies: &mut Copies, m: usize, widths: &[usize]) -> Vec<Ticket<C>> {
        let rooms = self.0.iter().zip(widths);
        rooms.map(|(room, width)| copies.add(room, 0..width * m)).collect()
    }

    /// Writes the received values of m grains at these indices into each column.
    pub fn scatter(&self, gpu: &Gpu, numbers: &[Vec<C>], places: &Buffer<u32>, m: usize, columns: &[MigratingColumn<'_, C>]) {
        for (((column, width), room), numbers) in columns.iter().zip(&self.0).zip(numbers) {
            gpu.write_part(room, 0, numbers);
            gpu.scatter(room, places, m, *width, column);
        }
    }
}

/// Appends the downloaded values to a message.
pub(super) fn enclose_all<C: Number>(message: &mut Vec<u8>, arrived: &Arrived, tickets: Vec<Ticket<C>>) {
    for ticket in tickets {
        enclose(message, &arrived.take(ticket));
    }
}

/// Decodes the values of m grains, this many per grain in each column.
pub(super) fn unfold_all<C: Number>(message: &mut &[u8], m: usize, widths: &[usize]) -> Result<Vec<Vec<C>>, DecodeError> {
    let columns: Result<Vec<Vec<C>>, DecodeError> = widths.iter().map(|_| unfold(message)).collect();
    let columns = columns?;
    let are_whole = columns.iter().zip(widths).all(|(numbers, width)| numbers.len() == width * m);
    are_whole.then_some(columns).ok_or(DecodeError)
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Columns that change between migrations: the halo exchange updates them in ghosts at every step.
    pub(super) fn changing(&self) -> Vec<MigratingColumn<'_, C>> {
        let scalars = self.diffusions.iter().map(|diffusion| (&diffusion.values[self.now], 1));
        let orientation = self.orientations().map(|orientation| (orientation, RECORD));
        scalars.chain(orientation).collect()
    }

    /// All columns that not every simulation has.
    fn belongings(&self) -> Vec<MigratingColumn<'_, C>> {
        let geared = self.geared.iter().flat_map(|geared| geared.columns(self.kind.frictional));
        let given = self.given_loads().map(|column| (column, RECORD));
        self.changing().into_iter().chain(geared).chain(given).collect()
    }

    /// Makes room for n grains.
    fn make_room_for(&mut self, n: usize) -> Result<(), GpuError> {
        if n <= self.id.len() {
            return Ok(());
        }
        let room = (n + n / RESERVE).next_multiple_of(RECORD);
        let (gpu, turning) = (&self.gpu, if self.kind.frictional { RECORD * room } else { RECORD });
        let border = self.border.as_mut().expect("a domain has a border");
        let words = [&mut self.id, &mut self.material, &mut self.group, &mut self.key, &mut self.order];
        let of_border = [
            &mut border.member,
            &mut border.old_id,
            &mut border.place_of,
            &mut self.cells.lengths,
        ];
        for words in words.into_iter().chain(of_border) {
            gpu.lengthen(words, room, "grains")?;
        }
        let [position, other_position] = &mut self.position;
        for column in [position, other_position, &mut self.half_velocity, &mut self.reference] {
            gpu.lengthen(column, RECORD * room, "grains")?;
        }
        let [velocity, other_velocity] = &mut self.velocity;
        for column in [velocity, other_velocity, &mut self.force] {
            gpu.lengthen(column, RECORD * room, "grains")?;
        }
        let [spin, other_spin] = &mut self.spin;
        for column in [spin, other_spin, &mut self.torque] {
            gpu.lengthen(column, turning, "grains")?;
        }
        gpu.lengthen(&mut self.half_spin, turning, "grains")?;
        gpu.lengthen(&mut self.rows.count, room, "rows of neighbors")?;
        gpu.lengthen(&mut self.rows.tile_first, room.div_ceil(TILE) + 1, "rows of neighbors")?;
        if self.kind.frictional {
            self.old_contacts.make_room_for(gpu, room)?;
        }
        if let Some(near) = &mut self.walls {
            for row in [&mut near.row, &mut near.old_row] {
                gpu.lengthen(row, room + 1, "rows of walls")?;
            }
            gpu.lengthen(&mut near.grains, room, "grains near walls")?;
        }
        let cubes = RECORD * room_for_cubes(room);
        for book in [&mut self.power, &mut self.wall_power, &mut self.energy] {
            gpu.lengthen(book, 2 * cubes, "the ledger")?;
        }
        gpu.lengthen(&mut self.wall_energy, cubes, "the ledger")?;
        if let Some(holding) = &mut self.holding {
            holding.make_room_for(gpu, room, room_for_cubes(room))?;
        }
        for diffusion in &mut self.diffusions {
            diffusion.make_room_for(gpu, room)?;
        }
        match &mut self.geared {
            Some(geared) => geared.make_room_for(gpu, room, self.kind.frictional),
            None => Ok(()),
        }
    }

    /// A message with the m grains at the first indices of [`GpuGrains::find`].
    pub(super) fn packed(&mut self, m: usize) -> Result<Vec<u8>, GpuError> {
        let mut message = Vec::new();
        if m == 0 {
            return Ok(message);
        }
        let (gpu, widths) = (self.gpu.clone(), widths_of(&self.belongings()));
        self.border().parcel.make_room(&gpu, m, &widths)?;
        let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
        let (count, dim) = units(m);
        pack::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            self.order.argument(),
            self.id.argument(),
            self.material.argument(),
            self.group.argument(),
            self.member().argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            parcel.words.argument(),
            parcel.coordinates.records(),
            parcel.motions.records(),
            m as u32,
            self.kind.frictional,
        );
        parcel.belongings.gather(&gpu, &self.belongings(), &self.order, m);
        let mut copies = gpu.copies();
        let words = copies.add(&parcel.words, 0..WORDS * m);
        let coordinates = copies.add(&parcel.coordinates, 0..3 * RECORD * m);
        let motions = copies.add(&parcel.motions, 0..2 * RECORD * m);
        let belongings = parcel.belongings.ask(&mut copies, m, &widths);
        let arrived = copies.wait()?;
        enclose(&mut message, &arrived.take(words));
        enclose(&mut message, &arrived.take(coordinates));
        enclose(&mut message, &arrived.take(motions));
        enclose_all(&mut message, &arrived, belongings);
        Ok(message)
    }

    /// Appends packed grains behind all others, as ghost particles or as own grains. Returns their number.
    pub(super) fn unpacked(&mut self, message: &mut &[u8], as_ghosts: bool) -> Result<usize, HaltReason> {
        if message.is_empty() {
            return Ok(0);
        }
        let words: Vec<u32> = unfold(message)?;
        let coordinates: Vec<C> = unfold(message)?;
        let motions: Vec<R> = unfold(message)?;
        let (m, widths) = (words.len() / WORDS, widths_of(&self.belongings()));
        let belongings: Vec<Vec<C>> = unfold_all(message, m, &widths)?;
        if words.len() != WORDS * m || coordinates.len() != 3 * RECORD * m || motions.len() != 2 * RECORD * m {
            return Err(DecodeError.into());
        }
        let gpu = self.gpu.clone();
        self.make_room_for(self.n + m)?;
        self.border().parcel.make_room(&gpu, m, &widths)?;
        let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
        gpu.write_part(&parcel.words, 0, &words);
        gpu.write_part(&parcel.coordinates, 0, &coordinates);
        gpu.write_part(&parcel.motions, 0, &motions);
        let (count, dim) = units(m);
        unpack::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            parcel.words.argument(),
            parcel.coordinates.records(),
            parcel.motions.records(),
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
        for ((column, width), numbers) in self.belongings().iter().zip(&belongings) {
            gpu.write_part(column, width * self.n, numbers);
        }
        self.n += m;
        Ok(m)
    }
}
