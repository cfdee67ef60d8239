//! The neighbor list (Verlet list) with contact histories.

use super::resize_with_room;
use super::shortlists::{HeldPairs, PartShortlist, Shortlists};
use crate::fields::{PART, one_each, part_range, parts, start_parts};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan};
use seixo_sweeps::bodies::{FREE, drop_own};
use seixo_sweeps::cells::{GRID, next_run, walk_around};
use seixo_sweeps::layout::{RECORD, load, sign_of_second};
use seixo_sweeps::neighbors::{NeighborQuery, RowPlan, SearchStructure, listed_in_run, neighbors_of};
use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
use std::borrow::Cow;

/// Number of entries by which rows that are being found get more room.
const MORE_ROOM: usize = 256;

/// Most entries of a part that wait in memory of their own: a thousand for each grain.
const MOST_WAITING: usize = 1024 * PART;

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

    /// Writes the row of grain i, found through grids without periodic sides, to `out` from `at` on, and returns its length. The room grows if needed.
    fn append_row<const ONCE: bool>(
        &self,
        i: usize,
        position: &[f64],
        (part_first, part_end): (usize, usize),
        at: usize,
        out: &mut Vec<u32>,
    ) -> usize {
        let seeker = NeighborQuery::<f64> {
            place: i,
            position: load(position, i * RECORD),
            radius: position[i * RECORD + 3],
            skin: self.skin,
            part_first,
            part_end,
        };
        let mut end = at;
        for (g, grid) in self.grids.chunks_exact(GRID).enumerate() {
            let reach = seeker.radius + grid[4] + seeker.skin;
            let mut walk = walk_around::<f64>(&seeker.position, reach, self.grids, self.shapes, g, false);
            while walk.goes_on() {
                let run = next_run(&mut walk, self.first, false);
                let most = end + run.end - run.first;
                if out.len() < most {
                    out.resize(most + MORE_ROOM, 0);
                }
                end += listed_in_run::<f64, ONCE>(&seeker, position, &run, &mut out[end..]);
            }
        }
        end - at
    }

    /// Writes the rows of the wanted grains of a part to its entries; `row` says where each begins.
    fn fill_part<const ONCE: bool>(
        &self,
        row: &[u32],
        position: &[f64],
        (first, end): (usize, usize),
        is_wanted: &impl Fn(usize) -> bool,
        neighbors: &mut [u32],
    ) {
        for i in (first..end).filter(|&i| is_wanted(i)) {
            let at = (row[i] - row[first]) as usize;
            self.row::<ONCE, true>(i, position, (first, end), at, neighbors);
        }
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
    /// Contact histories of all entries, see [`seixo_sweeps::layout`]; all zero for pairs without contact. Empty if the shortlists hold them.
    pub history: Vec<f64>,
    /// Pairs that may be in contact soon, with their contact histories.
    pub shortlist: Shortlists,
    /// Whether contact histories are stored with the shortlists only.
    pub has_shortlists: bool,
    /// Whether shortlists store contact histories in single precision.
    pub are_single: bool,
    /// Index of the first entry of each part, and the total number.
    pub part_row: Vec<u32>,
    /// Number of entries that the rows would have, if 32 bits cannot number them. All rows are then empty.
    pub too_many: Option<u64>,
}

impl Pairs {
    /// Indices of the neighbors of grain i.
    pub fn of(&self, i: usize) -> &[u32] {
        &self.neighbors[self.row[i] as usize..self.row[i + 1] as usize]
    }

    /// Contact histories of the entries of a part, `stride` numbers each; all zero for pairs without contact.
    pub fn histories_of_part(&self, part: usize, stride: usize) -> Cow<'_, [f64]> {
        let (first, end) = part_range(part, self.row.len() - 1);
        let [from, to] = [first, end].map(|i| self.row[i] as usize);
        if !self.has_shortlists {
            return Cow::Borrowed(&self.history[from * stride..to * stride]);
        }
        let of_part = self.shortlist.parts.get(part);
        Cow::Owned(of_part.map_or_else(|| vec![0.0; (to - from) * stride], |shortlist| shortlist.histories(to - from)))
    }

    /// Contact histories of all entries, `stride` numbers each.
    pub fn histories(&self, stride: usize) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.neighbors.len() * stride);
        for part in 0..parts(self.row.len().saturating_sub(1)) {
            all.extend_from_slice(&self.histories_of_part(part, stride));
        }
        all
    }

    /// Replaces the contact histories of all entries, `stride` numbers each.
    pub fn set_histories(&mut self, histories: Vec<f64>, stride: usize) {
        if !self.has_shortlists {
            self.history = histories;
            return;
        }
        let n = self.row.len() - 1;
        let of_part = |part: usize| {
            let (first, end) = part_range(part, n);
            let [from, to] = [first, end].map(|i| self.row[i] as usize * stride);
            PartShortlist::with_histories(&self.row[first..=end], &histories[from..to], self.are_single)
        };
        self.shortlist = Shortlists::of_parts((0..parts(n)).map(of_part).collect());
    }

    /// Removes all contact histories.
    pub fn clear_histories(&mut self) {
        self.history.fill(0.0);
        self.shortlist.parts.iter_mut().for_each(PartShortlist::clear_histories);
    }

    /// Entries of grain i with a contact history; `histories` are those of its part, which begins with grain `first`.
    fn entries_with_history(&self, i: usize, first: usize, histories: &[f64], stride: usize) -> impl Iterator<Item = usize> {
        let base = self.row[first] as usize;
        let entries = self.row[i] as usize..self.row[i + 1] as usize;
        entries.filter(move |k| histories[(k - base) * stride..][..stride].iter().any(|&number| number != 0.0))
    }

    /// Only the pairs with a contact history, of `stride` numbers each.
    pub fn with_histories(&self, device: &Cpu, stride: usize) -> Pairs {
        if self.has_shortlists {
            return self.with_histories_of_shortlists(device);
        }
        let n = self.row.len() - 1;
        let mut kept = Pairs::default();
        kept.row.resize(n + 1, 0);
        let count = (Strided {
            items: &mut kept.row[..n],
            per_part: PART,
        },);
        device.run(parts(n), count, |part, (count,): (Strided<u32>,)| {
            let (first, end) = part_range(part, n);
            let of_part = self.histories_of_part(part, stride);
            for i in first..end {
                count.items[i - first] = self.entries_with_history(i, first, &of_part, stride).count() as u32;
            }
        });
        let entries = exclusive_scan(&mut kept.row) as usize;
        kept.split_rows();
        kept.neighbors.resize(entries, 0);
        kept.history.resize(entries * stride, 0.0);
        let data = (
            Ranges {
                items: &mut kept.neighbors[..],
                bounds: &kept.part_row,
                stride: 1,
            },
            Ranges {
                items: &mut kept.history[..],
                bounds: &kept.part_row,
                stride,
            },
        );
        device.run(parts(n), data, |part, (neighbors, history): (Ranges<u32>, Ranges<f64>)| {
            let (first, end) = part_range(part, n);
            let of_part = self.histories_of_part(part, stride);
            let (histories, base) = (&of_part[..], self.row[first] as usize);
            let places = neighbors.items.iter_mut().zip(history.items.chunks_exact_mut(stride));
            let entries = (first..end).flat_map(|i| self.entries_with_history(i, first, histories, stride));
            for ((neighbor, record), k) in places.zip(entries) {
                *neighbor = self.neighbors[k];
                record.copy_from_slice(&histories[(k - base) * stride..][..stride]);
            }
        });
        kept
    }

    /// The same from the shortlists, without histories of all entries.
    fn with_histories_of_shortlists(&self, device: &Cpu) -> Pairs {
        let n = self.row.len() - 1;
        let none = PartShortlist::default();
        let of_part = |part: usize| self.shortlist.parts.get(part).unwrap_or(&none);
        let mut kept = Pairs::default();
        kept.row.resize(n + 1, 0);
        let count = (Strided {
            items: &mut kept.row[..n],
            per_part: PART,
        },);
        device.run(parts(n), count, |part, (count,): (Strided<u32>,)| {
            of_part(part).held().for_each(|(_, grain, _)| count.items[grain] += 1);
        });
        let entries = exclusive_scan(&mut kept.row) as usize;
        kept.split_rows();
        kept.neighbors.resize(entries, 0);
        kept.history.resize(entries * RECORD, 0.0);
        let row = &kept.row[..];
        let data = (
            Ranges {
                items: &mut kept.neighbors[..],
                bounds: &kept.part_row,
                stride: 1,
            },
            Ranges {
                items: &mut kept.history[..],
                bounds: &kept.part_row,
                stride: RECORD,
            },
        );
        device.run(parts(n), data, |part, (neighbors, history): (Ranges<u32>, Ranges<f64>)| {
            let (first, end) = part_range(part, n);
            let own = &self.neighbors[self.row[first] as usize..];
            let (records, _) = history.items.as_chunks_mut::<RECORD>();
            let mut next: Vec<u32> = row[first..end].iter().map(|entry| entry - row[first]).collect();
            for (entry, grain, record) in of_part(part).held() {
                let place = next[grain] as usize;
                next[grain] += 1;
                (neighbors.items[place], records[place]) = (own[entry], record);
            }
        });
        kept
    }

    /// The entry of a pair in the row of grain i, or else in that of its partner j, and whether it is in that of j.
    fn entry_of(&self, i: u32, j: u32) -> Option<(usize, bool)> {
        let in_row = |i: u32, j: u32| {
            let first = self.row[i as usize] as usize;
            self.of(i as usize).iter().position(|&other| other == j).map(|place| first + place)
        };
        in_row(i, j)
            .map(|entry| (entry, false))
            .or_else(|| in_row(j, i).map(|entry| (entry, true)))
    }

    /// Takes over contact histories of pairs in the `old` list, `stride` numbers each; `old_of` contains the indices of the grains in its order.
    pub fn take_over(&mut self, device: &Cpu, old_of: &[u32], old: &Pairs, stride: usize) {
        let n = self.row.len() - 1;
        let (row, neighbors, are_single) = (&self.row[..], &self.neighbors[..], self.are_single);
        if !self.has_shortlists {
            resize_with_room(&mut self.history, neighbors.len() * stride);
            let data = (Ranges {
                items: &mut self.history[..],
                bounds: &self.part_row,
                stride,
            },);
            device.run(parts(n), data, |part, (history,): (Ranges<f64>,)| {
                let (first, end) = part_range(part, n);
                let mut records = history.items.chunks_exact_mut(stride);
                for i in first..end {
                    let own = &neighbors[row[i] as usize..row[i + 1] as usize];
                    for (&j, record) in own.iter().zip(&mut records) {
                        let Some((entry, is_of_partner)) = old.entry_of(old_of[i], old_of[j as usize]) else {
                            record.fill(0.0);
                            continue;
                        };
                        record.copy_from_slice(&old.history[entry * stride..][..stride]);
                        if is_of_partner {
                            let numbers = record.iter_mut().enumerate();
                            numbers.for_each(|(number, slot)| *slot *= sign_of_second::<f64>(number));
                        }
                    }
                }
            });
            return;
        }
        let (records, _) = old.history.as_chunks::<RECORD>();
        let mut shortlists = vec![PartShortlist::default(); parts(n)];
        device.run(
            parts(n),
            (one_each(&mut shortlists),),
            |part, (shortlist,): (Strided<PartShortlist>,)| {
                let (first, end) = part_range(part, n);
                let mut held = HeldPairs::default();
                for i in first..end {
                    let own = &neighbors[row[i] as usize..row[i + 1] as usize];
                    for (k, &j) in (row[i] - row[first]..).zip(own) {
                        if let Some((entry, is_of_partner)) = old.entry_of(old_of[i], old_of[j as usize]) {
                            let record = &records[entry];
                            held.push(k, i - first, if is_of_partner { of_partner(record) } else { *record });
                        }
                    }
                }
                shortlist.items[0] = PartShortlist::of_held(held, are_single);
            },
        );
        self.shortlist = Shortlists::of_parts(shortlists);
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
        self.shorten_rows(|_, first, count, neighbors| without_dropped(first, count, neighbors, &is_dropped));
    }

    /// Removes all pairs with a grain that `is_taken`, and returns them by their indices; a pair that is in two rows is returned twice.
    pub fn take_pairs(&mut self, is_taken: impl Fn(u32) -> bool) -> Vec<[u32; 2]> {
        let n = self.row.len() - 1;
        let mut taken = Vec::new();
        for i in 0..n as u32 {
            let is_own = is_taken(i);
            let partners = self.of(i as usize).iter().filter(|&&j| is_own || is_taken(j));
            taken.extend(partners.map(|&j| [i, j]));
        }
        if !taken.is_empty() {
            self.shorten_rows(|i, first, count, neighbors| {
                if is_taken(i as u32) {
                    return 0;
                }
                without_dropped(first, count, neighbors, &is_taken)
            });
        }
        taken
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
        start_parts(&self.row, &mut self.part_row);
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
        if self.lay_out_rows() == 0 {
            return;
        }
        let row = &self.row[..];
        let data = (Ranges {
            items: &mut self.neighbors[..],
            bounds: &self.part_row,
            stride: 1,
        },);
        device.run(parts(n), data, |part, (neighbors,): (Ranges<u32>,)| {
            index.fill_part::<ONCE>(row, position, part_range(part, n), &is_wanted, neighbors.items);
        });
    }

    /// Like [`Pairs::fill_rows_of`], but each row is searched once: entries wait in memory of their part until their places are known. Rows that are not
    /// found through grids, or across periodic sides, are counted first, as are those of a part with very many entries.
    pub fn fill_rows_at_once<const ONCE: bool>(
        &mut self,
        device: &Cpu,
        index: &Index,
        position: &[f64],
        n: usize,
        is_wanted: impl Fn(usize) -> bool + Sync,
    ) {
        if index.lookup != SearchStructure::Grids || index.kind != OPEN {
            return self.fill_rows_of::<ONCE>(device, index, position, n, is_wanted);
        }
        self.row.resize(n + 1, 0);
        self.row[n] = 0;
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); parts(n)];
        let before = &self.part_row[..];
        let data = (
            Strided {
                items: &mut self.row[..n],
                per_part: PART,
            },
            one_each(&mut found),
        );
        device.run(parts(n), data, |part, (count, found): (Strided<u32>, Strided<Vec<u32>>)| {
            let (first, end) = part_range(part, n);
            let entries = &mut found.items[0];
            // A part mostly has about as many entries as before.
            if let Some(&[from, to]) = before.get(part..part + 2).and_then(<[u32]>::first_chunk::<2>) {
                entries.resize((to - from) as usize + MORE_ROOM, 0);
            }
            let (mut filled, mut waits) = (0, true);
            for i in first..end {
                let own = if !is_wanted(i) {
                    0
                } else if waits {
                    index.append_row::<ONCE>(i, position, (first, end), filled, entries)
                } else {
                    index.row::<ONCE, false>(i, position, (first, end), 0, &mut []) as usize
                };
                count.items[i - first] = own as u32;
                filled += own;
                if waits && filled > MOST_WAITING {
                    waits = false;
                    *entries = Vec::new();
                }
            }
            if waits {
                entries.truncate(filled);
            }
        });
        if self.lay_out_rows() == 0 {
            return;
        }
        let row = &self.row[..];
        let data = (
            Ranges {
                items: &mut self.neighbors[..],
                bounds: &self.part_row,
                stride: 1,
            },
            one_each(&mut found),
        );
        device.run(parts(n), data, |part, (neighbors, found): (Ranges<u32>, Strided<Vec<u32>>)| {
            let entries = &found.items[0][..];
            if entries.len() == neighbors.items.len() {
                neighbors.items.copy_from_slice(entries);
            } else {
                index.fill_part::<ONCE>(row, position, part_range(part, n), &is_wanted, neighbors.items);
            }
        });
    }

    /// Turns the number of entries of each row into its place, makes room for all, and returns their number: zero if 32 bits cannot number them.
    fn lay_out_rows(&mut self) -> usize {
        let counted: u64 = self.row.iter().map(|&count| u64::from(count)).sum();
        self.too_many = (counted > u64::from(u32::MAX)).then_some(counted);
        if self.too_many.is_some() {
            self.row.fill(0);
        }
        let entries = exclusive_scan(&mut self.row) as usize;
        self.split_rows();
        resize_with_room(&mut self.neighbors, entries);
        entries
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = self.row.capacity() + self.neighbors.capacity() + self.part_row.capacity();
        (words * 4 + self.history.capacity() * 8) as u64 + self.shortlist.bytes()
    }
}

/// Moves the neighbors of a row that are not dropped to its start, and returns their number. The row has `count` entries from `first` on.
fn without_dropped(first: u32, count: u32, neighbors: &mut [u32], is_dropped: impl Fn(u32) -> bool) -> u32 {
    let mut kept = first;
    for k in first..first + count {
        let j = neighbors[k as usize];
        if !is_dropped(j) {
            neighbors[kept as usize] = j;
            kept += 1;
        }
    }
    kept - first
}

/// Contact history of the second grain, from that of the first.
pub(crate) fn of_partner<const N: usize>(of_first: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|c| sign_of_second::<f64>(c) * of_first[c])
}
