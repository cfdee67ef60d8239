//! Buffers for grains that migrate to other subdomains, and room for those that arrive.
//!
//! Beside the fields of all grains, there are columns that only some simulations have: scalars, derivatives, orientations and angular momenta.

use super::RESERVE;
use super::contact_histories::HistoryBuffer;
use super::packing::PackedGrains;
use crate::exchange::{DecodeError, enclose, unfold};
use crate::gpu::polyhedra::ShapeContactBuffer;
use crate::gpu::{GpuGrains, Number, room_for_cubes};
use seixo_device::gpu::{Arrived, Buffer, Gpu, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::domain::MOST_NEIGHBORS;
use seixo_sweeps::layout::RECORD;

/// Buffers for grains that migrate.
pub(super) struct MigrationBuffer<C, R> {
    pub packed: PackedGrains<C, R>,
    /// Lists of indices of the grains that leave, and of the first ghosts for each neighbor: the room of each list, and the numbers of grains, which may be
    /// larger.
    pub found: Buffer<u32>,
    pub found_room: usize,
    pub kept: Buffer<u32>,
    /// Indices of the grains that leave.
    pub place: Buffer<u32>,
    /// Contact histories with grains, and with walls.
    pub histories: [HistoryBuffer<R>; 2],
    /// The same of polyhedral grains.
    pub shape_contacts: [ShapeContactBuffer<R>; 2],
    /// Numbers for which the next migration has room at first.
    pub room: MigratingCounts,
    /// Indices of single grains: those that are bonded to grains of others, or those that arrived.
    pub start: Buffer<u32>,
}

/// Numbers of grains that leave, and of their contact histories with grains and with walls: of spheres, and of polyhedral grains by pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MigratingCounts {
    pub grains: usize,
    pub histories: [usize; 2],
    pub shape_contacts: [usize; 2],
}

/// Numbers that are multiples of this many have room.
const STEP: usize = 64;

impl MigratingCounts {
    /// Somewhat larger numbers, as a later migration may have more.
    pub fn with_reserve(self) -> MigratingCounts {
        MigratingCounts {
            grains: with_reserve(self.grains),
            histories: self.histories.map(with_reserve),
            shape_contacts: self.shape_contacts.map(with_reserve),
        }
    }

    /// Whether there is room for these numbers.
    pub fn holds(self, found: MigratingCounts) -> bool {
        let fit = |found: [usize; 2], room: [usize; 2]| found.iter().zip(room).all(|(found, room)| *found <= room);
        found.grains <= self.grains && fit(found.histories, self.histories) && fit(found.shape_contacts, self.shape_contacts)
    }
}

/// Room for a number that may be larger the next time.
pub(super) fn with_reserve(found: usize) -> usize {
    (found + found / RESERVE + 1).next_multiple_of(STEP)
}

impl<C: Number, R: Number> MigrationBuffer<C, R> {
    pub fn new(gpu: &Gpu) -> Result<MigrationBuffer<C, R>, GpuError> {
        Ok(MigrationBuffer {
            packed: PackedGrains::new(gpu)?,
            found: gpu.buffer(RECORD, "domains")?,
            found_room: 0,
            kept: gpu.buffer(1 + MOST_NEIGHBORS, "domains")?,
            place: gpu.buffer(RECORD, "domains")?,
            histories: [HistoryBuffer::new(gpu)?, HistoryBuffer::new(gpu)?],
            shape_contacts: [ShapeContactBuffer::new(gpu)?, ShapeContactBuffer::new(gpu)?],
            room: MigratingCounts {
                grains: STEP,
                histories: [STEP; 2],
                shape_contacts: [STEP; 2],
            },
            start: gpu.buffer(RECORD, "domains")?,
        })
    }
}

/// A column of numbers, and its values per grain.
pub(super) type MigratingColumn<'a, C> = (&'a Buffer<C>, usize);

/// Values per grain in these columns.
pub(super) fn widths_of<C>(columns: &[MigratingColumn<'_, C>]) -> Vec<usize> {
    columns.iter().map(|(_, width)| *width).collect()
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

    /// Makes room for n grains.
    pub(super) fn make_room_for(&mut self, n: usize) -> Result<(), GpuError> {
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
        for column in [position, other_position, &mut self.reference] {
            gpu.lengthen(column, RECORD * room, "grains")?;
        }
        let [velocity, other_velocity] = &mut self.velocity;
        for column in [velocity, other_velocity, &mut self.half_velocity, &mut self.force] {
            gpu.lengthen(column, RECORD * room, "grains")?;
        }
        let [spin, other_spin] = &mut self.spin;
        for column in [spin, other_spin, &mut self.half_spin, &mut self.torque] {
            gpu.lengthen(column, turning, "grains")?;
        }
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
        if let Some(shapes) = &mut self.shapes {
            shapes.make_room_for(gpu, room)?;
        }
        for diffusion in &mut self.diffusions {
            diffusion.make_room_for(gpu, room)?;
        }
        match &mut self.geared {
            Some(geared) => geared.make_room_for(gpu, room, self.kind.frictional),
            None => Ok(()),
        }
    }
}
