//! Download of the contact histories of grains.

use super::{GpuGrains, Number, PendingHistories};
use crate::fields::{computed, one_each, part_range, parts};
use crate::search::of_partner;
use seixo_device::gpu::GpuError;
use seixo_device::{Cpu, Strided};
use seixo_laws::Coordinate;
use seixo_sweeps::entries::{IN_CONTACT, PLACE, TILE};
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, RECORD};

/// Contact histories of pairs of grains, as columns of a checkpoint have them. The two histories of a pair are opposite except for rounding.
#[derive(Default, PartialEq)]
pub(crate) struct PairHistories {
    /// Indices of the two grains of each pair.
    pub pairs: Vec<[u32; 2]>,
    /// Numbers of a history, see [`history_stride`](seixo_sweeps::layout::history_stride).
    pub numbers: usize,
    /// Histories of the first grains of all pairs.
    pub of_first: Vec<f64>,
    /// Histories of the second grains.
    pub of_second: Vec<f64>,
}

impl PairHistories {
    /// The histories of the first and of the second grain of pair k.
    pub fn of(&self, k: usize) -> [&[f64]; 2] {
        [&self.of_first, &self.of_second].map(|all| &all[k * self.numbers..][..self.numbers])
    }
}

/// Downloaded rows of neighbors in tiles.
struct DownloadedRows<'a> {
    count: &'a [u32],
    /// First entry of each tile.
    first: &'a [u32],
    list: &'a [u32],
}

/// A pair in contact: its grains, the entry of the second in the row of the first, and that of the first in the row of the second. The latter is
/// missing where the second is a ghost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Touch {
    grains: [u32; 2],
    entry: usize,
    of_second: Option<usize>,
}

impl Touch {
    /// Its grains in the order of their indices.
    fn in_order(&self) -> [u32; 2] {
        let [i, j] = self.grains;
        [i.min(j), i.max(j)]
    }
}

impl DownloadedRows<'_> {
    /// Entries in the row of a grain that are in contact, with the indices of these neighbors.
    fn touching(&self, grain: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        let i = grain as usize;
        let row = 0..self.count.get(i).map_or(0, |&count| count as usize);
        let entries = row.map(move |s| self.first[i / TILE] as usize + s * TILE + i % TILE);
        let found = entries.map(move |entry| (entry, self.list[entry]));
        found
            .filter(|(_, word)| word & IN_CONTACT != 0)
            .map(|(entry, word)| (entry, word & PLACE))
    }

    /// All pairs in contact, in the order of the smaller, then of the larger of their indices.
    fn pairs(&self, device: &Cpu) -> Vec<Touch> {
        let n = self.count.len();
        let mut found: Vec<Vec<Touch>> = vec![Vec::new(); parts(n)];
        // Ghosts may come before the grains that touch them.
        let mut before: Vec<Vec<Touch>> = vec![Vec::new(); parts(n)];
        let data = (one_each(&mut found), one_each(&mut before));
        device.run(
            parts(n),
            data,
            |part, (found, before): (Strided<Vec<Touch>>, Strided<Vec<Touch>>)| {
                let (first, end) = part_range(part, n);
                for i in first as u32..end as u32 {
                    let start = found.items[0].len();
                    for (entry, j) in self.touching(i) {
                        let of_second = self.touching(j).find(|&(_, other)| other == i).map(|(entry, _)| entry);
                        let touch = Touch {
                            grains: [i, j],
                            entry,
                            of_second,
                        };
                        // Of two ends, that of the smaller index stands for the pair.
                        if i < j {
                            found.items[0].push(touch);
                        } else if of_second.is_none() {
                            before.items[0].push(touch);
                        }
                    }
                    found.items[0][start..].sort_unstable_by_key(|touch| touch.grains[1]);
                }
            },
        );
        let mut before = before.concat();
        before.sort_unstable_by_key(Touch::in_order);
        // Each of these few joins the part of the smaller of its indices.
        device.run(parts(n), (one_each(&mut found),), |part, (found,): (Strided<Vec<Touch>>,)| {
            let (first, end) = part_range(part, n);
            let [from, to] = [first, end].map(|index| before.partition_point(|touch| (touch.in_order()[0] as usize) < index));
            if from < to {
                found.items[0].extend_from_slice(&before[from..to]);
                found.items[0].sort_unstable_by_key(Touch::in_order);
            }
        });
        found.concat()
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Downloads the contact histories of the pairs that were in contact at the last step.
    pub(super) fn touching(&self) -> Result<PendingHistories, GpuError> {
        if !self.kind.frictional {
            return Ok(Box::new(|_: &Cpu| PairHistories::default()));
        }
        let (gpu, rows, numbers, is_extended) = (&self.gpu, &self.rows, self.kind.numbers, self.kind.is_extended);
        let entries = rows.entries(gpu, self.n)?;
        let mut copies = gpu.copies();
        let (count, first) = (
            copies.add(&rows.count, 0..self.n),
            copies.add(&rows.tile_first, 0..self.n.div_ceil(TILE)),
        );
        let (list, history) = (copies.add(&rows.list, 0..entries), copies.add(&rows.history, 0..entries * numbers));
        let arrived = copies.wait()?;
        Ok(Box::new(move |device: &Cpu| {
            let (count, first) = (arrived.take(count), arrived.take(first));
            let pairs = arrived.make(list, |list| {
                let (count, first) = (&count[..], &first[..]);
                DownloadedRows { count, first, list }.pairs(device)
            });
            arrived.make(history, |history: &[R]| {
                if is_extended {
                    with_histories::<R, EXTENDED_HISTORY_STRIDE>(&pairs, history, numbers, device)
                } else {
                    with_histories::<R, RECORD>(&pairs, history, numbers, device)
                }
            })
        }))
    }
}

/// The contact histories of these pairs, N numbers each, which are those of entries in tiles, with so many numbers each.
fn with_histories<R: Number, const N: usize>(pairs: &[Touch], history: &[R], numbers: usize, device: &Cpu) -> PairHistories {
    let record = |entry: usize| -> [f64; N] {
        let number = |c: usize| history[(entry / TILE * numbers + c) * TILE + entry % TILE].double();
        std::array::from_fn(|c| if c < numbers { number(c) } else { 0.0 })
    };
    let of_second = |touch: &Touch| match touch.of_second {
        Some(entry) => record(entry),
        None => of_partner(&record(touch.entry)),
    };
    PairHistories {
        pairs: computed(device, pairs.len(), |k| pairs[k].grains),
        numbers: N,
        of_first: computed(device, pairs.len(), |k| record(pairs[k].entry)).into_flattened(),
        of_second: computed(device, pairs.len(), |k| of_second(&pairs[k])).into_flattened(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of these neighbors; those with `true` are in contact.
    fn pairs_of(rows: &[&[(u32, bool)]], threads: usize) -> Vec<Touch> {
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let count: Vec<u32> = rows.iter().map(|row| row.len() as u32).collect();
        let first: Vec<u32> = (0..=rows.len() / TILE).map(|tile| (tile * TILE * longest) as u32).collect();
        let mut list = vec![0; first.len() * TILE * longest];
        for (i, row) in rows.iter().enumerate() {
            for (s, &(j, is_in_contact)) in row.iter().enumerate() {
                list[first[i / TILE] as usize + s * TILE + i % TILE] = if is_in_contact { j | IN_CONTACT } else { j };
            }
        }
        let (count, first, list) = (&count[..], &first[..], &list[..]);
        DownloadedRows { count, first, list }.pairs(&Cpu::new(threads).unwrap())
    }

    #[test]
    fn each_pair_in_contact_is_found_once_with_both_ends_in_the_order_of_indices() {
        // Grain 3 is near three others and touches two of them; grain 1 is a ghost, which has no row.
        let rows: [&[(u32, bool)]; 5] = [
            &[(4, true), (3, true)],
            &[],
            &[(3, false), (1, true)],
            &[(0, true), (2, false), (4, true)],
            &[(3, true), (0, true)],
        ];
        let entry = |i: usize, s: usize| s * TILE + i;
        let touch = |grains: [u32; 2], s: usize, of_second: Option<(usize, usize)>| Touch {
            grains,
            entry: entry(grains[0] as usize, s),
            of_second: of_second.map(|(i, s)| entry(i, s)),
        };
        let expected = [
            touch([0, 3], 1, Some((3, 0))),
            touch([0, 4], 0, Some((4, 1))),
            touch([2, 1], 1, None),
            touch([3, 4], 2, Some((4, 0))),
        ];
        for threads in [1, 3] {
            assert_eq!(pairs_of(&rows, threads), expected);
        }
    }

    #[test]
    fn many_pairs_are_in_the_same_order_on_any_number_of_threads() {
        // A ring of grains, each of which touches the next.
        let n = 3000u32;
        let rows: Vec<[(u32, bool); 2]> = (0..n).map(|i| [((i + 1) % n, true), ((i + n - 1) % n, true)]).collect();
        let rows: Vec<&[(u32, bool)]> = rows.iter().map(|row| &row[..]).collect();
        let found = pairs_of(&rows, 1);
        assert_eq!(found.len(), n as usize);
        assert!(found.is_sorted_by_key(|touch| touch.grains) && found.iter().all(|touch| touch.of_second.is_some()));
        assert_eq!(pairs_of(&rows, 4), found);
        // Some are ghosts, which have no rows, and come before or behind a grain that touches them.
        let rows: Vec<&[(u32, bool)]> = rows
            .iter()
            .zip(0..)
            .map(|(row, i)| if i % 7 == 2 { &row[..0] } else { *row })
            .collect();
        let found = pairs_of(&rows, 1);
        assert_eq!(found.len(), n as usize);
        assert!(found.is_sorted_by_key(Touch::in_order) && found.iter().any(|touch| touch.grains[0] > touch.grains[1]));
        assert_eq!(pairs_of(&rows, 4), found);
    }
}
