//! Contacts before a rebuild of the neighbor lists, whose histories the new rows get.
//!
//! Few pairs of a row are in contact. So their histories are packed before new rows are written over the old: this takes less memory than a second set
//! of rows, and less is read. Most of them are packed into buffers that only steps need.

use super::neighbor_lists::make_room;
use super::{Number, Rows};
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, Workspace, units};
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::old_contacts;
use seixo_sweeps::layout::RECORD;
use std::mem::swap;

/// Buffers whose contents no one needs while lists are rebuilt. All have the same length.
#[derive(Clone, Copy)]
pub(super) struct SpareBuffers<'a, R> {
    pub buffers: [&'a Buffer<R>; 4],
    /// Whether they are free at this rebuild. If not, they are only passed to kernels.
    pub are_free: bool,
}

impl<R> SpareBuffers<'_, R> {
    /// Number of contacts whose histories they have room for, one number in each buffer.
    fn room(&self, numbers: usize) -> usize {
        if self.are_free && numbers <= self.buffers.len() {
            self.buffers[0].len()
        } else {
            0
        }
    }
}

/// The contacts in the rows before a rebuild, by grain.
pub(super) struct OldContacts<R> {
    /// First entry of each tile of the old rows.
    tile_first: Buffer<u32>,
    /// First contact of each grain, and the end of the last.
    start: Buffer<u32>,
    /// Old index of the other grain of each contact, or its id.
    partner: Buffer<u32>,
    /// Histories for which the spare buffers have no room.
    rest: Buffer<R>,
    /// Number of grains that had rows.
    grains: usize,
}

impl<R: Number> OldContacts<R> {
    /// No contacts; room for n grains.
    pub(super) fn new(gpu: &Gpu, n: usize) -> Result<OldContacts<R>, GpuError> {
        Ok(OldContacts {
            tile_first: gpu.zeros(n.div_ceil(TILE) + 1, "rows of neighbors")?,
            start: gpu.zeros(n + 1, "rows of neighbors")?,
            partner: gpu.buffer(RECORD, "histories of contacts")?,
            rest: gpu.buffer(RECORD, "histories of contacts")?,
            grains: 0,
        })
    }

    /// Makes room for n grains.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        gpu.lengthen(&mut self.tile_first, n.div_ceil(TILE) + 1, "rows of neighbors")?;
        gpu.lengthen(&mut self.start, n + 1, "rows of neighbors")
    }

    /// Queues the count of the contacts in rows, whose entries must stay until the contacts are packed. `room` has one word per grain, whose contents are
    /// lost.
    pub(super) fn count(&mut self, gpu: &Gpu, rows: &Rows<R>, (workspace, room): (&mut Workspace, &Buffer<u32>)) -> Result<(), GpuError> {
        self.grains = rows.counted;
        let (count, dim) = units(self.grains);
        old_contacts::count_contacts::launch(
            gpu.client(),
            count,
            dim,
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            room.argument(),
            self.grains as u32,
        );
        workspace.exclusive_scan(gpu, room, self.grains, &self.start)
    }

    /// Keeps where the tiles of the counted rows begin, so that rows can be counted again.
    pub(super) fn keep_tiles(&mut self, rows: &mut Rows<R>) {
        swap(&mut self.tile_first, &mut rows.tile_first);
    }

    /// Requests the download of the number of contacts.
    pub(super) fn request_number(&self, copies: &mut Copies) -> Ticket<u32> {
        copies.add(&self.start, self.grains..self.grains + 1)
    }

    /// Queues the packing of this many contacts, each with this many numbers, from the entries of the old rows. With the old ids of grains, pairs will be
    /// matched by ids; rows are in the order of ids then.
    pub(super) fn pack(
        &mut self,
        gpu: &Gpu,
        rows: &Rows<R>,
        spare: SpareBuffers<'_, R>,
        old_id: Option<&Buffer<u32>>,
        (contacts, numbers): (usize, usize),
    ) -> Result<(), GpuError> {
        let in_spare = spare.room(numbers);
        let [a, b, c, d] = spare.buffers;
        make_room(gpu, &mut self.partner, contacts, "histories of contacts")?;
        make_room(
            gpu,
            &mut self.rest,
            contacts.saturating_sub(in_spare) * numbers,
            "histories of contacts",
        )?;
        let (count, dim) = units(self.grains);
        old_contacts::pack_contacts::launch::<R>(
            gpu.client(),
            count,
            dim,
            self.tile_first.argument(),
            rows.list.argument(),
            rows.history.argument(),
            self.start.argument(),
            // Not read without ids.
            old_id.unwrap_or(&rows.count).argument(),
            self.partner.argument(),
            a.argument(),
            b.argument(),
            c.argument(),
            d.argument(),
            self.rest.argument(),
            in_spare as u32,
            self.grains as u32,
            numbers,
            old_contacts::most_collected(numbers, size_of::<R>()),
            old_id.is_some(),
        );
        Ok(())
    }

    /// Queues the copies of the packed histories, each with this many numbers, to the new rows of n grains. `spare` is that of [`OldContacts::pack`], and
    /// `by_id` says whether that was given ids. `order` has the old indices of grains, which are below `known` if they had a row.
    pub(super) fn carry(
        &self,
        gpu: &Gpu,
        rows: &Rows<R>,
        spare: SpareBuffers<'_, R>,
        [order, id]: [&Buffer<u32>; 2],
        by_id: bool,
        (known, n, numbers): (u32, usize, usize),
    ) {
        let in_spare = spare.room(numbers);
        let [a, b, c, d] = spare.buffers;
        let (count, dim) = units(n);
        old_contacts::carry_histories::launch::<R>(
            gpu.client(),
            count,
            dim,
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            rows.history.argument(),
            order.argument(),
            self.start.argument(),
            self.partner.argument(),
            a.argument(),
            b.argument(),
            c.argument(),
            d.argument(),
            self.rest.argument(),
            in_spare as u32,
            id.argument(),
            known.min(self.grains as u32),
            n as u32,
            numbers,
            by_id,
        );
    }

    /// A buffer that kernels do not read: a placeholder argument in a step, when no contacts are packed.
    pub(super) fn placeholder(&self) -> &Buffer<R> {
        &self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_device::gpu::THREADS_PER_BLOCK;
    use seixo_sweeps::entries::{IN_CONTACT, PLACE, history_at};

    /// More than a block has.
    const GRAINS: u32 = 300;

    /// The indices of all grains in an order that depends on a seed.
    fn shuffled(seed: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..GRAINS).collect();
        all.sort_unstable_by_key(|&k| (k + 1).wrapping_mul(2_654_435_761).wrapping_mul(2 * seed + 1) >> 7);
        all
    }

    /// Some other grains for each grain.
    fn neighbors(seed: u32) -> Vec<Vec<u32>> {
        let row = |i: u32| {
            let mut row = shuffled(seed + i);
            row.retain(|&j| j != i);
            row.truncate(8 + i as usize % 5);
            row
        };
        (0..GRAINS).map(row).collect()
    }

    /// Whether grain i was in contact with its neighbor j.
    fn was_in_contact(i: u32, j: u32) -> bool {
        (5 * i + 3 * j) % 7 < 5
    }

    /// Number c of the history of grain i with its neighbor j.
    fn number(i: u32, j: u32, c: usize) -> f64 {
        f64::from(1000 * i + j) + c as f64 / 16.0
    }

    /// The entry of each grain for each of its neighbors, and the first entry of each tile.
    fn laid_out(rows: &[Vec<u32>]) -> (Vec<u32>, Vec<Vec<usize>>) {
        let mut first = vec![0];
        let mut end = 0;
        for tile in rows.chunks(TILE) {
            end += (tile.iter().map(Vec::len).max().unwrap_or(0) * TILE) as u32;
            first.push(end);
        }
        let entries = rows.iter().enumerate().map(|(i, row)| {
            let start = first[i / TILE] as usize + i % TILE;
            (0..row.len()).map(|s| start + s * TILE).collect()
        });
        let entries = entries.collect();
        (first, entries)
    }

    /// Writes rows with these words, and their histories, in place of others.
    fn write<R: Number>(gpu: &Gpu, words: &[Vec<u32>], numbers: usize, history: impl Fn(u32, u32, usize) -> f64, rows: &mut Rows<R>) {
        let (first, entries) = laid_out(words);
        let room = first[first.len() - 1] as usize;
        let (mut list, mut histories) = (vec![0; room + 2 * TILE], vec![R::of(0.0); room * numbers]);
        for ((i, row), entries) in (0u32..).zip(words).zip(&entries) {
            for (&word, &entry) in row.iter().zip(entries) {
                list[entry] = word;
                for c in 0..numbers {
                    histories[history_at(entry, c, numbers)] = R::of(history(i, word & PLACE, c));
                }
            }
        }
        let count: Vec<u32> = words.iter().map(|row| row.len() as u32).collect();
        rows.counted = words.len();
        [rows.count, rows.tile_first, rows.list] = [count, first, list].map(|column| gpu.upload(&column, "rows").unwrap());
        rows.history = gpu.upload(&histories, "rows").unwrap();
    }

    fn check<R: Number>(gpu: &Gpu, numbers: usize, by_id: bool, are_free: bool) {
        let (n, known) = (GRAINS as usize, GRAINS - 2);
        let (mut old, mut new, old_of) = (neighbors(1), neighbors(100), shuffled(7));
        if by_id {
            // Ids grow with old indices.
            old.iter_mut().for_each(|row| row.sort_unstable());
            new.iter_mut().for_each(|row| row.sort_unstable_by_key(|&j| old_of[j as usize]));
        }
        let mut rows = Rows::<R>::new(gpu, n).unwrap();
        let mut before = old.clone();
        for (i, row) in (0u32..).zip(&mut before) {
            for word in row {
                if was_in_contact(i, *word) {
                    *word |= IN_CONTACT;
                }
            }
        }
        write(gpu, &before, numbers, number, &mut rows);
        let mut contacts = OldContacts::new(gpu, n).unwrap();
        let (mut workspace, room) = (Workspace::new(gpu).unwrap(), gpu.zeros(n, "lengths of rows").unwrap());
        contacts.count(gpu, &rows, (&mut workspace, &room)).unwrap();
        contacts.keep_tiles(&mut rows);
        // Too few for all contacts.
        let buffers = [(); 4].map(|()| gpu.buffer::<R>(80, "spare buffers").unwrap());
        let [a, b, c, d] = &buffers;
        let spare = SpareBuffers {
            buffers: [a, b, c, d],
            are_free,
        };
        let all = before.iter().flatten().filter(|&&word| word & IN_CONTACT != 0).count();
        let start = gpu.download(&contacts.start).unwrap();
        assert_eq!(start[n] as usize, all);
        let collected = old_contacts::most_collected(numbers, size_of::<R>());
        assert!(
            start[THREADS_PER_BLOCK as usize] as usize > collected,
            "a block collects {collected} contacts, not all"
        );
        let ids = |old: &[u32]| -> Buffer<u32> {
            let ids: Vec<u32> = old.iter().map(|old| 10 * old + 3).collect();
            gpu.upload(&ids, "ids").unwrap()
        };
        let (order, id) = (gpu.upload(&old_of, "order").unwrap(), ids(&old_of));
        let old_id = ids(&(0..GRAINS).collect::<Vec<u32>>());
        contacts.pack(gpu, &rows, spare, by_id.then_some(&old_id), (all, numbers)).unwrap();
        write(gpu, &new, numbers, |_, _, _| -1.0, &mut rows);
        contacts.carry(gpu, &rows, spare, [&order, &id], by_id, (known, n, numbers));
        let (list, history) = (gpu.download(&rows.list).unwrap(), gpu.download(&rows.history).unwrap());
        let mut carried = 0;
        for ((row, entries), &old_i) in new.iter().zip(laid_out(&new).1).zip(&old_of) {
            for (&j, entry) in row.iter().zip(entries) {
                let old_j = old_of[j as usize];
                let is_carried = old_i < known && was_in_contact(old_i, old_j) && old[old_i as usize].contains(&old_j);
                assert_eq!(list[entry], if is_carried { j | IN_CONTACT } else { j });
                for c in 0..numbers {
                    let expected = if is_carried { number(old_i, old_j, c) } else { -1.0 };
                    assert_eq!(history[history_at(entry, c, numbers)].double(), expected);
                }
                carried += usize::from(is_carried);
            }
        }
        assert!(carried > 20 && carried < all, "{carried} of {all} contacts are in the new rows");
    }

    #[test]
    fn histories_follow_their_pairs_to_rows_in_any_order() {
        let gpu = Gpu::open(None).unwrap();
        for (numbers, by_id, are_free) in [(3, false, true), (3, true, false), (4, true, true), (10, false, true)] {
            check::<f32>(&gpu, numbers, by_id, are_free);
            check::<f64>(&gpu, numbers, by_id, are_free);
        }
    }
}
