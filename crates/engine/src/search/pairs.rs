//! The Verlet list with its history.

use super::resize_with_room;
use crate::fields::{PART, part_range, parts};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan};
use seixo_sweeps::bodies::{FREE, drop_own};
use seixo_sweeps::cells::GRID;
use seixo_sweeps::contact::carry_history_of;
use seixo_sweeps::neighbors::{Lookup, RowPlan, neighbors_of};
use seixo_sweeps::sides::Sides;
use seixo_sweeps::views::RECORD;

/// What rows are looked up in.
#[derive(Clone, Copy)]
pub struct Index<'a> {
    /// How.
    pub lookup: Lookup,
    /// Records of grids or tables.
    pub grids: &'a [f64],
    /// Records of their shapes.
    pub shapes: &'a [u32],
    /// First item of every cell or bucket, and one more.
    pub first: &'a [u32],
    /// Grains by cell or bucket; empty where the grains are sorted by it.
    pub items: &'a [u32],
    /// Distance by which surfaces may be apart and still be near \[m\].
    pub skin: f64,
    /// Periodic sides.
    pub sides: Sides<f64, f64>,
    /// Which of them there are.
    pub kind: u32,
}

impl Index<'_> {
    /// The row of grain i, counted or written to `out` from `at` on; with `ONCE`, a pair inside the part is listed only by its first member.
    pub fn row<const ONCE: bool, const FILL: bool>(
        &self,
        i: usize,
        position: &[f64],
        (part_first, part_end): (usize, usize),
        at: usize,
        out: &mut [u32],
    ) -> u32 {
        let plan = RowPlan {
            lookup: self.lookup,
            stride: 1,
            once: ONCE,
            fill: FILL,
            sides: self.kind,
        };
        neighbors_of::<f64>(
            i,
            position,
            position.len() / RECORD,
            self.grids,
            self.shapes,
            self.grids.len() / GRID,
            self.first,
            self.items,
            self.skin,
            part_first,
            part_end,
            at,
            out,
            &self.sides,
            plan,
        )
    }
}

/// Rows of near pairs: a pair inside a part stands in the row of its first member, a pair across parts in both; or, of smooth grains and where a
/// world is divisible, every pair in both.
#[derive(Default)]
pub struct Pairs {
    /// First entry of every grain's row, and one more.
    pub row: Vec<u32>,
    /// Places of the partners.
    pub neighbors: Vec<u32>,
    /// Records of history, see [`seixo_sweeps::views`]; all zero where a pair does not touch.
    pub history: Vec<f64>,
    /// Those that may touch before long.
    pub shortlist: Picked,
    /// First entry of every part, and one more.
    pub part_row: Vec<u32>,
}

/// How many steps a shortlist is to last.
const PICKED_FOR: f64 = 8.0;

/// The shortlists of all parts, see [`seixo_sweeps::shortlist`].
#[derive(Default)]
pub struct Picked {
    /// Entries, with room for all of the list.
    pub entry: Vec<u32>,
    /// Their grains.
    pub grain: Vec<u16>,
    /// How many each part has inside and across its border.
    pub count: Vec<[u32; 2]>,
    /// How far surfaces may still come nearer to each other before another pair can touch \[m\].
    room: f64,
}

impl Picked {
    /// After a step in which no grain moved farther than `stride` \[m\]: the margin to pick with anew, if that is due. It is larger than what
    /// two grains part from each other in a step, so that a pair that touched is looked at once more, and lets go.
    pub fn margin_after(&mut self, stride: f64, skin: f64) -> Option<f64> {
        self.room -= 2.0 * stride;
        if self.room > 0.0 {
            return None;
        }
        let lasting = (PICKED_FOR * 2.0 * stride).clamp(skin / 64.0, skin / 4.0);
        self.room = lasting.max(4.0 * stride);
        Some(self.room)
    }
}

impl Pairs {
    /// Places of the partners of grain i.
    pub fn of(&self, i: usize) -> &[u32] {
        &self.neighbors[self.row[i] as usize..self.row[i + 1] as usize]
    }

    /// Takes the pairs of another list that remember something, `remembered` numbers each, and those alone: what an old list is still good for.
    pub fn keep(&mut self, device: &Cpu, list: &Pairs, remembered: usize) {
        let n = list.row.len() - 1;
        let entries_of = |i: usize| {
            let entries = list.row[i] as usize..list.row[i + 1] as usize;
            entries.filter(|k| list.history[k * remembered..][..remembered].iter().any(|&number| number != 0.0))
        };
        self.row.resize(n + 1, 0);
        self.row[n] = 0;
        let count = (Strided {
            items: &mut self.row[..n],
            per_part: PART,
        },);
        device.run(parts(n), count, |part, (count,): (Strided<u32>,)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                count.items[i - first] = entries_of(i).count() as u32;
            }
        });
        let entries = exclusive_scan(&mut self.row) as usize;
        self.divide();
        resize_with_room(&mut self.neighbors, entries);
        resize_with_room(&mut self.history, entries * remembered);
        let data = (
            Ranges {
                items: &mut self.neighbors[..],
                bounds: &self.part_row,
                stride: 1,
            },
            Ranges {
                items: &mut self.history[..],
                bounds: &self.part_row,
                stride: remembered,
            },
        );
        device.run(parts(n), data, |part, (neighbors, history): (Ranges<u32>, Ranges<f64>)| {
            let (first, end) = part_range(part, n);
            let kept = neighbors.items.iter_mut().zip(history.items.chunks_exact_mut(remembered));
            for ((neighbor, record), k) in kept.zip((first..end).flat_map(entries_of)) {
                *neighbor = list.neighbors[k];
                record.copy_from_slice(&list.history[k * remembered..][..remembered]);
            }
        });
    }

    /// Takes over the history of pairs in the `old` list, `remembered` numbers each; `old_of` tells where the grains were in its order.
    pub fn take_over(&mut self, device: &Cpu, old_of: &[u32], old: &Pairs, remembered: usize) {
        let n = self.row.len() - 1;
        resize_with_room(&mut self.history, self.neighbors.len() * remembered);
        if remembered == RECORD {
            resize_with_room(&mut self.shortlist.entry, self.neighbors.len());
            resize_with_room(&mut self.shortlist.grain, self.neighbors.len());
            self.shortlist.count.resize(parts(n), [0; 2]);
        }
        self.shortlist.room = 0.0;
        let (row, neighbors) = (&self.row[..], &self.neighbors[..]);
        let data = (Ranges {
            items: &mut self.history[..],
            bounds: &self.part_row,
            stride: remembered,
        },);
        device.run(parts(n), data, |part, (history,): (Ranges<f64>,)| {
            let (first, end) = part_range(part, n);
            let base = row[first] as usize;
            for i in first..end {
                carry_history_of::<f64>(
                    i,
                    row[i] as usize - base,
                    row[i + 1] as usize - base,
                    &neighbors[base..],
                    history.items,
                    old_of,
                    &old.row,
                    &old.neighbors,
                    &old.history,
                    remembered,
                );
            }
        });
    }

    /// Drops pairs of grains that one body carries: they do not touch each other.
    pub fn drop_inside_bodies(&mut self, member: &[u32], body_of: &[u32]) {
        self.shorten_rows(|i, first, count, neighbors| {
            if member[i] == FREE {
                return count;
            }
            let own = body_of[member[i] as usize];
            drop_own(own, first as usize, count, 1, neighbors, member, body_of)
        });
    }

    /// Drops partners.
    pub fn drop_partners(&mut self, is_dropped: impl Fn(u32) -> bool) {
        self.shorten_rows(|_, first, count, neighbors| {
            let mut kept = first;
            for k in first..first + count {
                let j = neighbors[k as usize];
                if !is_dropped(j) {
                    neighbors[kept as usize] = j;
                    kept += 1;
                }
            }
            kept - first
        });
    }

    /// Lets something move what stays of each row to its beginning, and closes the gaps; it is given the grain, the first entry of its row, how many
    /// there are, and all entries, and tells how many stay.
    fn shorten_rows(&mut self, shorten: impl Fn(usize, u32, u32, &mut [u32]) -> u32) {
        let n = self.row.len() - 1;
        let (mut next, mut kept) = (0, 0);
        for i in 0..n {
            let first = std::mem::replace(&mut next, self.row[i + 1]);
            let count = shorten(i, first, next - first, &mut self.neighbors);
            self.neighbors.copy_within(first as usize..(first + count) as usize, kept as usize);
            self.row[i] = kept;
            kept += count;
        }
        self.row[n] = kept;
        self.neighbors.truncate(kept as usize);
        self.divide();
    }

    /// The rows of another list seen from its partners: in the row of each of those that are wanted stand the grains in whose rows it stands, in their
    /// order.
    pub fn turn_around(&mut self, list: &Pairs, is_wanted: impl Fn(u32) -> bool) {
        let n = list.row.len() - 1;
        self.row.clear();
        self.row.resize(n + 1, 0);
        for &j in list.neighbors.iter().filter(|j| is_wanted(**j)) {
            self.row[j as usize] += 1;
        }
        let entries = exclusive_scan(&mut self.row) as usize;
        resize_with_room(&mut self.neighbors, entries);
        let mut next = self.row.clone();
        for i in 0..n {
            for &j in list.of(i).iter().filter(|j| is_wanted(**j)) {
                let slot = &mut next[j as usize];
                self.neighbors[*slot as usize] = i as u32;
                *slot += 1;
            }
        }
        self.divide();
    }

    /// Puts every row into the order of these ids of its partners. No partner stands in it twice: nothing meets two images of another.
    pub fn sort_rows(&mut self, device: &Cpu, id: &[u32]) {
        let n = self.row.len() - 1;
        let row = &self.row[..];
        let data = (Ranges {
            items: &mut self.neighbors[..],
            bounds: &self.part_row,
            stride: 1,
        },);
        device.run(parts(n), data, |part, (neighbors,): (Ranges<u32>,)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let [from, to] = [row[i], row[i + 1]].map(|entry| (entry - row[first]) as usize);
                neighbors.items[from..to].sort_unstable_by_key(|&j| id[j as usize]);
            }
        });
    }

    /// Where the rows of each part begin.
    fn divide(&mut self) {
        let n = self.row.len() - 1;
        self.part_row.clear();
        self.part_row
            .extend((0..parts(n)).map(|part| self.row[part * PART]).chain([self.row[n]]));
    }

    /// Fills the rows of the first n grains: counts, sums the counts up, writes \[ME964 2011\]. With `ONCE`, a pair inside a part stands in one row.
    pub fn fill_rows<const ONCE: bool>(&mut self, device: &Cpu, index: &Index, position: &[f64], n: usize) {
        self.fill_rows_of::<ONCE>(device, index, position, n, |_| true);
    }

    /// As [`Pairs::fill_rows`], of those grains that are wanted; the rows of others are empty.
    pub fn fill_rows_of<const ONCE: bool>(
        &mut self,
        device: &Cpu,
        index: &Index,
        position: &[f64],
        n: usize,
        is_wanted: impl Fn(usize) -> bool + Sync,
    ) {
        self.row.resize(n + 1, 0);
        self.row[n] = 0;
        device.run(
            parts(n),
            (Strided {
                items: &mut self.row[..n],
                per_part: PART,
            },),
            |part, (count,): (Strided<u32>,)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    count.items[i - first] = 0;
                    if is_wanted(i) {
                        count.items[i - first] = index.row::<ONCE, false>(i, position, (first, end), 0, &mut []);
                    }
                }
            },
        );
        let entries = exclusive_scan(&mut self.row) as usize;
        self.divide();
        resize_with_room(&mut self.neighbors, entries);
        let row = &self.row[..];
        let data = (Ranges {
            items: &mut self.neighbors[..],
            bounds: &self.part_row,
            stride: 1,
        },);
        device.run(parts(n), data, |part, (neighbors,): (Ranges<u32>,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_wanted(i)) {
                let at = (row[i] - row[first]) as usize;
                index.row::<ONCE, true>(i, position, (first, end), at, neighbors.items);
            }
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let Picked { entry, grain, count, .. } = &self.shortlist;
        let words = self.row.capacity() + self.neighbors.capacity() + self.part_row.capacity() + entry.capacity() + 2 * count.capacity();
        (words * 4 + grain.capacity() * 2 + self.history.capacity() * 8) as u64
    }
}
