//! The neighbor list (Verlet list) with contact histories.

use super::resize_with_room;
use crate::fields::{PART, part_range, parts};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan};
use seixo_sweeps::bodies::{FREE, drop_own};
use seixo_sweeps::cells::GRID;
use seixo_sweeps::contact::carry_history_of;
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, RECORD, sign_of_second};
use seixo_sweeps::neighbors::{RowPlan, SearchStructure, neighbors_of};
use seixo_sweeps::periodic::PeriodicBoundaries;

/// Structure for the lookup of rows.
#[derive(Clone, Copy)]
pub struct Index<'a> {
    /// Kind of structure.
    pub lookup: SearchStructure,
    /// Records of grids or tables.
    pub grids: &'a [f64],
    /// Records of the shapes of grids or tables.
    pub shapes: &'a [u32],
    /// Index of the first item of each cell or bucket, and the total number.
    pub first: &'a [u32],
    /// Grains by cell or bucket; empty if the grains are sorted by cells.
    pub items: &'a [u32],
    /// Gap between surfaces up to which grains are neighbors \[m\].
    pub skin: f64,
    /// Periodic sides.
    pub sides: PeriodicBoundaries<f64, f64>,
    /// Which sides are periodic.
    pub kind: u32,
}

impl Index<'_> {
    /// Counts the row of grain i, or writes it to `out` from `at` on. With `ONCE`, a pair inside the part is listed by its first member only.
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

/// Rows of near pairs. A pair inside a part is in the row of its first member, a pair across parts in both rows. For smooth grains,
/// and in decomposition-invariant worlds, each pair is in both rows.
#[derive(Default)]
pub struct Pairs {
    /// Index of the first entry of each grain's row, and the total number.
    pub row: Vec<u32>,
    /// Indices of the neighbors.
    pub neighbors: Vec<u32>,
    /// Contact histories, see [`seixo_sweeps::views`]; all zero for pairs without contact.
    pub history: Vec<f64>,
    /// Pairs that may be in contact soon.
    pub shortlist: Shortlists,
    /// Index of the first entry of each part, and the total number.
    pub part_row: Vec<u32>,
}

/// Number of steps that a shortlist should last.
const PICKED_FOR: f64 = 8.0;

/// The shortlists of all parts, see [`seixo_sweeps::shortlist`].
#[derive(Default)]
pub struct Shortlists {
    /// Entries, with room for the whole list.
    pub entry: Vec<u32>,
    /// Their grains.
    pub grain: Vec<u16>,
    /// Number of entries inside and across the border of each part.
    pub count: Vec<[u32; 2]>,
    /// Distance by which surfaces may still approach each other before another pair can be in contact \[m\].
    room: f64,
}

impl Shortlists {
    /// Returns the margin of a new shortlist \[m\], if it is due after a step in which no grain moved farther than `stride` \[m\].
    ///
    /// The margin is larger than the separation of two grains in a step. So a pair whose contact ends is computed once more, and releases its
    /// history.
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
    /// Indices of the neighbors of grain i.
    pub fn of(&self, i: usize) -> &[u32] {
        &self.neighbors[self.row[i] as usize..self.row[i + 1] as usize]
    }

    /// Copies only the pairs with a contact history, of `stride` numbers each, from another list, which is not needed for more.
    pub fn keep(&mut self, device: &Cpu, list: &Pairs, stride: usize) {
        let n = list.row.len() - 1;
        let entries_of = |i: usize| {
            let entries = list.row[i] as usize..list.row[i + 1] as usize;
            entries.filter(|k| list.history[k * stride..][..stride].iter().any(|&number| number != 0.0))
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
        self.split_rows();
        resize_with_room(&mut self.neighbors, entries);
        resize_with_room(&mut self.history, entries * stride);
        let data = (
            Ranges {
                items: &mut self.neighbors[..],
                bounds: &self.part_row,
                stride: 1,
            },
            Ranges {
                items: &mut self.history[..],
                bounds: &self.part_row,
                stride,
            },
        );
        device.run(parts(n), data, |part, (neighbors, history): (Ranges<u32>, Ranges<f64>)| {
            let (first, end) = part_range(part, n);
            let kept = neighbors.items.iter_mut().zip(history.items.chunks_exact_mut(stride));
            for ((neighbor, record), k) in kept.zip((first..end).flat_map(entries_of)) {
                *neighbor = list.neighbors[k];
                record.copy_from_slice(&list.history[k * stride..][..stride]);
            }
        });
    }

    /// Takes over contact histories of pairs in the `old` list, `stride` numbers each; `old_of` contains the indices of the grains in its order.
    pub fn take_over(&mut self, device: &Cpu, old_of: &[u32], old: &Pairs, stride: usize) {
        let n = self.row.len() - 1;
        resize_with_room(&mut self.history, self.neighbors.len() * stride);
        if stride == RECORD {
            resize_with_room(&mut self.shortlist.entry, self.neighbors.len());
            resize_with_room(&mut self.shortlist.grain, self.neighbors.len());
            self.shortlist.count.resize(parts(n), [0; 2]);
        }
        self.shortlist.room = 0.0;
        let (row, neighbors) = (&self.row[..], &self.neighbors[..]);
        let data = (Ranges {
            items: &mut self.history[..],
            bounds: &self.part_row,
            stride,
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
                    stride,
                );
            }
        });
    }

    /// Removes pairs of grains of the same body: they have no contact.
    pub fn drop_inside_bodies(&mut self, member: &[u32], body_of: &[u32]) {
        self.shorten_rows(|i, first, count, neighbors| {
            if member[i] == FREE {
                return count;
            }
            let own = body_of[member[i] as usize];
            drop_own(own, first as usize, count, 1, neighbors, member, body_of)
        });
    }

    /// Removes neighbors.
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

    /// Shortens rows and closes the gaps. The closure `shorten` moves the remaining entries of a row to its start; its arguments are the grain, the
    /// first entry of its row, the number of entries, and all entries. It returns the number of remaining entries.
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
        self.split_rows();
    }

    /// Transposes the rows of another list: the row of each wanted neighbor contains the grains in whose rows it is, in their order.
    pub fn transpose_rows(&mut self, list: &Pairs, is_wanted: impl Fn(u32) -> bool) {
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
        self.split_rows();
    }

    /// Sorts each row by these ids of its neighbors. No neighbor is in a row twice, as no grain has contacts with two images of another.
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

    /// Finds the start of the rows of each part.
    fn split_rows(&mut self) {
        let n = self.row.len() - 1;
        self.part_row.clear();
        self.part_row
            .extend((0..parts(n)).map(|part| self.row[part * PART]).chain([self.row[n]]));
    }

    /// Fills the rows of the first n grains: counts, prefix sum, write \[ME964 2011\]. With `ONCE`, a pair inside a part is in one row.
    pub fn fill_rows<const ONCE: bool>(&mut self, device: &Cpu, index: &Index, position: &[f64], n: usize) {
        self.fill_rows_of::<ONCE>(device, index, position, n, |_| true);
    }

    /// Like [`Pairs::fill_rows`], for selected grains; the rows of others are empty.
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
        self.split_rows();
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

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let Shortlists { entry, grain, count, .. } = &self.shortlist;
        let words = self.row.capacity() + self.neighbors.capacity() + self.part_row.capacity() + entry.capacity() + 2 * count.capacity();
        (words * 4 + grain.capacity() * 2 + self.history.capacity() * 8) as u64
    }
}

/// Contact history of the second grain, from that of the first.
pub(crate) fn of_partner(of_first: &[f64; EXTENDED_HISTORY_STRIDE]) -> [f64; EXTENDED_HISTORY_STRIDE] {
    std::array::from_fn(|c| sign_of_second::<f64>(c) * of_first[c])
}
