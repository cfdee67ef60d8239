//! Rows of wall elements near grains on the GPU: the same rows as on the host.

use super::few_grains::blocks_of_one_launch;
use super::neighbor_lists::make_room;
use super::servos::ServoLoads;
use super::{GpuGrains, Number, WallRows, make_room_for_sums, numbers, put_numbers, words_of};
use crate::broad_phase::WALLS;
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, PART_WORDS, Ticket, Word, bytes_of, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::neighbor_lists;
use seixo_sweeps::kernels::wall_forces::WALL_THREADS;
use seixo_sweeps::layout::{ELEMENT, RECORD, WALL, WALL_CONTACT};
use seixo_sweeps::wall_pose::POSE;
use std::mem::swap;
use std::sync::Arc;

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Queues the count of wall elements near every grain, for the poses of the walls at this step. The rows of walls are returned, and belong to
    /// the grains again after [`GpuGrains::fill_near_walls`].
    pub(super) fn count_near_walls(&mut self, host: &mut Populations) -> Result<Option<WallRows<C, R>>, GpuError> {
        let Some(mut near) = self.walls.take() else {
            return Ok(None);
        };
        let n = self.n;
        near.add_wear(&self.gpu, host)?;
        // The grid of walls at rest changes with the skin only.
        if host.walls.has_moving() || host.walls.cell_first.is_empty() {
            host.walls.place(host.context.time(), false);
            near.send(&self.gpu, host)?;
        }
        // Smooth grains have no contact history to carry over from the old rows.
        if self.kind.frictional {
            swap(&mut near.row, &mut near.old_row);
            swap(&mut near.list, &mut near.old_list);
            swap(&mut near.history, &mut near.old_history);
        }
        self.wall_rows(&near, host, &self.cells.lengths, None);
        let (gpu, cells) = (&self.gpu, &mut self.cells);
        // Also lists the grains that have a row.
        let near_walls = (&near.grains, &cells.kept);
        cells.workspace.scan_and_compact(gpu, &cells.lengths, n, &near.row, near_walls)?;
        Ok(Some(near))
    }

    /// Requests the download of what was counted: the number of grains that have entries, and that of all entries.
    pub(super) fn request_counts_near(&self, copies: &mut Copies) -> Ticket<u32> {
        copies.add(&self.cells.kept, 0..2)
    }

    /// Queues the writing of the counted rows of walls, and of their contact histories, for the numbers of [`GpuGrains::request_counts_near`].
    pub(super) fn fill_near_walls(&mut self, host: &Populations, mut near: WallRows<C, R>, counts: &[u32]) -> Result<(), GpuError> {
        let (n, gpu) = (self.n, &self.gpu);
        (near.near, near.entries) = (counts[0] as usize, counts[1] as usize);
        make_room(gpu, &mut near.list, near.entries, "grains near walls")?;
        make_room(
            gpu,
            &mut near.history,
            near.entries * host.walls.contact_histories,
            "histories of walls",
        )?;
        make_room(gpu, &mut near.wall_contacts, near.entries * WALL_CONTACT, "touches of walls")?;
        make_room(gpu, &mut near.leads, near.near * RECORD, "grains near walls")?;
        if let Some(work) = &mut near.work {
            make_room(gpu, work, near.entries, "wear of walls")?;
            gpu.clear(work);
        }
        self.wall_rows(&near, host, &near.list, Some(near.near));
        // Where few grains are near walls, there are as many records as larger blocks of all grains need. In a step that is one launch, each block of
        // grains has its own.
        let of_one_launch = if self.are_few(host) { blocks_of_one_launch(n) } else { 0 };
        let cubes = near.near.div_ceil(WALL_THREADS).max(of_one_launch);
        make_room_for_sums(gpu, &mut self.wall_power, cubes)?;
        if self.kind.frictional {
            let (count, dim) = units(near.near);
            neighbor_lists::carry_wall_histories::launch::<R, C>(
                gpu.client(),
                count,
                dim,
                near.row.argument(),
                near.list.argument(),
                near.elements.argument(),
                near.history.argument(),
                near.grains.argument(),
                self.order.argument(),
                near.old_row.argument(),
                near.old_list.argument(),
                near.old_history.argument(),
                self.rows_at_last_rebuild(),
                near.near as u32,
                host.walls.contact_histories,
            );
        } else {
            gpu.clear(&near.history);
        }
        self.carry_shape_walls(&near)?;
        self.walls = Some(near);
        Ok(())
    }

    /// Marks of the grains that walls may be near, as [`GpuGrains::member`].
    fn marks_near_walls(&self, host: &Populations) -> &Buffer<u32> {
        if self.mark_candidates(host, WALLS) {
            &self.key
        } else {
            self.member()
        }
    }

    /// Counts the elements near every grain into `out`. With the number of the grains that were found near walls, fills their rows with the elements, and
    /// writes what steps need of these rows.
    fn wall_rows(&self, near: &WallRows<C, R>, host: &Populations, out: &Buffer<u32>, found: Option<usize>) {
        // Rows are filled for grains that have some elements, whatever their marks.
        let member = if found.is_none() {
            self.marks_near_walls(host)
        } else {
            self.member()
        };
        let (touching, is_held) = self.prescribed_members([&self.id, &self.order]);
        let threads = found.unwrap_or(self.n);
        let (count, dim) = units(threads);
        neighbor_lists::wall_rows::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].argument(),
            near.elements.argument(),
            near.planes.buffer.argument(),
            near.grid.buffer.argument(),
            near.shape.buffer.argument(),
            near.cell_first.buffer.argument(),
            near.cell_list.buffer.argument(),
            near.row.argument(),
            near.grains.argument(),
            member.argument(),
            touching.argument(),
            is_held.argument(),
            out.argument(),
            near.wall_contacts.argument(),
            near.leads.argument(),
            C::of(host.walls.skin),
            near.planes.sent.len() as u32,
            threads as u32,
            found.is_some(),
            self.has_members(),
        );
    }
}

/// The word at which records begin behind the numbers of elements.
fn word_of_records<C>(elements: usize) -> usize {
    words_of::<C>(elements).next_multiple_of(PART_WORDS)
}

impl<C: Number, R: Number> WallRows<C, R> {
    /// Walls of the host, without rows yet.
    pub(super) fn new(gpu: &Gpu, host: &mut Populations, n: usize, batch: usize) -> Result<WallRows<C, R>, GpuError> {
        let frictional = host.context.materials.has_friction;
        let walls = &host.walls;
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "walls");
        let (elements, records) = (walls.start.len(), walls.given.len() * WALL);
        let at_records = word_of_records::<C>(elements);
        let placed: Buffer<u32> = gpu.buffer(at_records + words_of::<C>(records), "walls")?;
        let mut near = WallRows {
            start: upload(&walls.start)?,
            at_rest: upload(&walls.at_rest)?,
            elements: placed.part_from(0, elements),
            records: placed.part_from(at_records, records),
            placed,
            servos: Arc::new(gpu.buffer(walls.servos.len(), "walls")?),
            poses: gpu.buffer(
                if walls.has_moving() { batch * walls.given.len() * POSE } else { 1 },
                "poses of walls",
            )?,
            planes: SentTable::new(gpu, "walls")?,
            grid: SentTable::new(gpu, "walls")?,
            shape: SentTable::new(gpu, "walls")?,
            cell_first: SentTable::new(gpu, "walls")?,
            cell_list: SentTable::new(gpu, "walls")?,
            row: gpu.zeros(n + 1, "rows of walls")?,
            old_row: gpu.zeros(if frictional { n + 1 } else { 0 }, "rows of walls")?,
            list: gpu.buffer(0, "grains near walls")?,
            old_list: gpu.buffer(0, "grains near walls")?,
            history: gpu.buffer(0, "histories of walls")?,
            old_history: gpu.buffer(0, "histories of walls")?,
            wall_contacts: gpu.buffer(0, "touches of walls")?,
            work: walls.wears().then(|| gpu.buffer(0, "wear of walls")).transpose()?,
            grains: gpu.buffer(n, "grains near walls")?,
            servo_loads: ServoLoads::new(gpu, host)?,
            near: 0,
            entries: 0,
            leads: gpu.buffer(0, "grains near walls")?,
        };
        near.send(gpu, host)?;
        Ok(near)
    }

    /// Sends the elements in their current pose, and the grid with which they are found.
    pub(super) fn send(&mut self, gpu: &Gpu, host: &mut Populations) -> Result<(), GpuError> {
        host.walls.sort(host.grains.cells.largest_radius());
        let walls = &host.walls;
        debug_assert_eq!(walls.elements.len() % ELEMENT, 0);
        assert_eq!(walls.elements.len(), self.elements.len(), "walls have other elements than before");
        assert_eq!(walls.records.len(), self.records.len(), "there are other walls than before");
        let mut words = vec![0; self.placed.len()];
        put_numbers(&mut words, 0, &numbers::<C>(walls.elements.iter().copied()));
        let at_records = word_of_records::<C>(walls.elements.len());
        put_numbers(&mut words, at_records, &numbers::<C>(walls.records.iter().copied()));
        gpu.write_items(&self.placed, 0, words);
        gpu.write(&self.servos, &numbers::<C>(walls.servos.iter().copied()));
        self.planes.send(gpu, &walls.planes)?;
        self.grid.send(gpu, &numbers::<C>(walls.grid.iter().copied()))?;
        self.shape.send(gpu, &walls.shape)?;
        self.cell_first.send(gpu, &walls.cell_first)?;
        self.cell_list.send(gpu, &walls.cell_list)
    }
}

/// A table of the host that is seldom another one at the next rebuild of the lists. It is sent only then, as each copy takes the time of a launch.
pub(super) struct SentTable<T> {
    /// Has room for at least the items.
    pub buffer: Buffer<T>,
    sent: Vec<T>,
    /// Names the memory in errors.
    what: &'static str,
}

impl<T: Word> SentTable<T> {
    pub fn new(gpu: &Gpu, what: &'static str) -> Result<SentTable<T>, GpuError> {
        Ok(SentTable {
            buffer: gpu.buffer(0, what)?,
            sent: Vec::new(),
            what,
        })
    }

    /// Sends these items, unless they are those that were sent last, bit for bit.
    pub fn send(&mut self, gpu: &Gpu, items: &[T]) -> Result<(), GpuError> {
        if bytes_of(&self.sent) == bytes_of(items) {
            return Ok(());
        }
        make_room(gpu, &mut self.buffer, items.len(), self.what)?;
        gpu.write_part(&self.buffer, 0, items);
        self.sent.clear();
        self.sent.extend_from_slice(items);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_table_is_sent_when_it_is_another_one() {
        let gpu = Gpu::open(None).unwrap();
        let mut table = SentTable::new(&gpu, "walls").unwrap();
        for items in [&[1u32, 2, 3][..], &[1, 2, 4], &[1, 2], &[5; 40]] {
            table.send(&gpu, items).unwrap();
            assert_eq!(table.sent, items);
            assert_eq!(gpu.download_part(&table.buffer, 0..items.len()).wait().unwrap(), items);
            // What is there already is not sent again.
            gpu.clear(&table.buffer);
            table.send(&gpu, items).unwrap();
            assert_eq!(
                gpu.download_part(&table.buffer, 0..items.len()).wait().unwrap(),
                vec![0; items.len()]
            );
        }
    }
}
