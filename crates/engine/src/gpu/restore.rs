//! Positions and contact histories of the host, written to rows that were just built.
//!
//! Histories are restored slab by slab, since those of all grains would take more memory on the host than the grains themselves. The threads first
//! collect the contacts of a slab from the parts of the host's list, then look up each of them in the rows of the slab.

use super::upload::{PIECE, Upload};
use super::{GpuGrains, Number};
use crate::fields::{computed, one_each, part_range};
use crate::populations::Populations;
use seixo_device::gpu::GpuError;
use seixo_device::{Cpu, Ranges, Strided};
use seixo_laws::Coordinate;
use seixo_sweeps::entries::{IN_CONTACT, TILE, history_at};
use seixo_sweeps::layout::RECORD;
use std::ops::Range;

/// Tiles whose rows a thread completes at once.
const TILES: usize = 32;
/// Grains of a slab: whole numbers of such tiles. Most contacts of a part of the host's list are then in one slab or two.
const SLAB: usize = 1 << 22;

/// Ends of contacts in a slab, from one part of the host's list.
#[derive(Clone)]
struct Ends<R> {
    /// Index of a grain, that of its partner, and index of its history, in ascending order.
    keys: Vec<[u32; 3]>,
    /// Their histories, one after the other.
    histories: Vec<R>,
}

/// Rows of a slab, downloaded.
struct SlabRows {
    /// Grains of the slab.
    grains: Range<usize>,
    /// Lengths of their rows.
    count: Vec<u32>,
    /// First entries of their tiles, and the end of the last.
    first: Vec<u32>,
}

impl<R: Number> Ends<R> {
    /// Those of the contacts that a part of the host's list has in a slab. `place` has the index of each grain of the host.
    fn in_slab(host: &Populations, part: usize, place: &[u32], slab: &Range<usize>, numbers: usize) -> Ends<R> {
        let (mut keys, mut histories) = (Vec::new(), Vec::new());
        host.visit_listed_in_part(part, |i, j, of_i, of_j| {
            let [i, j] = [i, j].map(|grain| place[grain as usize]);
            for (grain, partner, history) in [(i, j, of_i), (j, i, of_j)] {
                if slab.contains(&(grain as usize)) {
                    keys.push([grain, partner, keys.len() as u32]);
                    histories.extend(history[..numbers].iter().map(|&x| R::of(x)));
                }
            }
        });
        keys.sort_unstable();
        Ends { keys, histories }
    }

    /// Those of the grains in a range.
    fn of(&self, grains: Range<usize>) -> &[[u32; 3]] {
        let [from, to] = [grains.start, grains.end].map(|end| self.keys.partition_point(|key| (key[0] as usize) < end));
        &self.keys[from..to]
    }
}

impl SlabRows {
    /// Marks the contacts of the grains of some tiles in `list`, and writes their histories. Both begin with the first entry of these tiles.
    fn complete<R: Number>(&self, tiles: Range<usize>, ends: &[Ends<R>], list: &mut [u32], history: &mut [R], numbers: usize) {
        let base = self.first[tiles.start];
        let grains = self.grains.start + tiles.start * TILE..(self.grains.start + tiles.end * TILE).min(self.grains.end);
        for of_part in ends {
            for &[grain, partner, k] in of_part.of(grains.clone()) {
                let row = grain as usize - self.grains.start;
                let first = (self.first[row / TILE] - base) as usize + row % TILE;
                let mut entries = (0..self.count[row] as usize).map(|s| first + s * TILE);
                let Some(entry) = entries.find(|&entry| list[entry] == partner) else {
                    continue;
                };
                list[entry] |= IN_CONTACT;
                for (c, &value) in of_part.histories[k as usize * numbers..][..numbers].iter().enumerate() {
                    history[history_at(entry, c, numbers)] = value;
                }
            }
        }
    }
}

/// Smallest and largest index, by `place`, of the grains in each part of the host's list and of their neighbors.
fn spans(host: &Populations, place: &[u32]) -> Vec<[u32; 2]> {
    let pairs = &host.grains.pairs;
    let mut spans = vec![[u32::MAX, 0]; host.listed_parts()];
    let (parts, n) = (spans.len(), pairs.row.len().saturating_sub(1));
    host.context
        .device
        .run(parts, (one_each(&mut spans),), |part, (span,): (Strided<[u32; 2]>,)| {
            let (first, end) = part_range(part, n);
            let [from, to] = [first, end].map(|i| pairs.row[i] as usize);
            let neighbors = pairs.neighbors[from..to].iter().map(|&j| place[j as usize]);
            let all = place[first..end].iter().copied().chain(neighbors);
            span.items[0] = all.fold([u32::MAX, 0], |[least, most], k| [least.min(k), most.max(k)]);
        });
    spans
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Writes the current positions and the contact histories, in the order of the lists that were just built.
    pub(super) fn restore_histories(&mut self, host: &Populations) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        // The buffers may have room for more grains.
        let order = gpu.download_part(&self.order, 0..self.n).wait()?;
        if self.restore_positions(host, &order)? {
            self.strides.begin_displaced(host.grains.rebuilds);
        }
        if self.kind.frictional {
            let mut place = vec![0u32; self.n];
            for (new, &old) in order.iter().enumerate() {
                place[old as usize] = new as u32;
            }
            self.restore_histories_of_pairs(host, &place)?;
        }
        if let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) {
            let (row, list) = (gpu.download(&near.row)?, gpu.download(&near.list)?);
            let mut history = vec![R::of(0.0); near.history.len()];
            let mut wall_contacts = vec![C::of(0.0); near.wall_contacts.len()];
            for (i, &old) in order.iter().enumerate() {
                for k in row[i] as usize..row[i + 1] as usize {
                    if let Some((contact_histories, touch)) = host.walls.wall_contact_of(old as usize, list[k]) {
                        for (slot, &x) in history[k * host.walls.contact_histories..].iter_mut().zip(contact_histories) {
                            *slot = R::of(x);
                        }
                        for (slot, &x) in wall_contacts[k * touch.len()..].iter_mut().zip(touch) {
                            *slot = C::of(x);
                        }
                    }
                }
            }
            gpu.write(&near.history, &history);
            gpu.write(&near.wall_contacts, &wall_contacts);
        }
        Ok(())
    }

    /// Writes the current positions of grains whose indices on the host are in `order`. Returns whether one of them is not where it was listed.
    fn restore_positions(&self, host: &Populations, order: &[u32]) -> Result<bool, GpuError> {
        let (gpu, to) = (&self.gpu, &self.position[self.now]);
        let device: &Cpu = &host.context.device;
        let position = &host.grains.fields.position[..];
        let mut is_displaced = false;
        for start in (0..RECORD * self.n).step_by(PIECE) {
            let items = start..(start + PIECE).min(RECORD * self.n);
            let now: Vec<C> = computed(device, items.len(), |k| {
                let k = start + k;
                C::of(position[order[k / RECORD] as usize * RECORD + k % RECORD])
            });
            let listed = gpu.download_part(&self.reference, items).wait()?;
            is_displaced |= now.iter().zip(&listed).any(|(now, listed)| now.double() != listed.double());
            gpu.write_items(to, start, now);
        }
        Ok(is_displaced)
    }

    /// Writes the histories of the host's pairs to the lists, in which `place` is the index of each grain of the host.
    fn restore_histories_of_pairs(&self, host: &Populations, place: &[u32]) -> Result<(), GpuError> {
        let spans = spans(host, place);
        for start in (0..self.n).step_by(SLAB) {
            let slab = start..(start + SLAB).min(self.n);
            let reaches = |[least, most]: [u32; 2]| (least as usize) < slab.end && most as usize >= slab.start;
            let near: Vec<usize> = (0..spans.len()).filter(|&part| reaches(spans[part])).collect();
            self.restore_histories_of_slab(host, place, slab, &near)?;
        }
        Ok(())
    }

    /// Writes the histories of the contacts of a slab, which are in these parts of the host's list.
    fn restore_histories_of_slab(&self, host: &Populations, place: &[u32], slab: Range<usize>, near: &[usize]) -> Result<(), GpuError> {
        let (gpu, rows, numbers) = (&self.gpu, &self.rows, self.kind.numbers);
        let device: &Cpu = &host.context.device;
        let nothing = Ends {
            keys: Vec::new(),
            histories: Vec::new(),
        };
        let mut ends: Vec<Ends<R>> = vec![nothing; near.len()];
        device.run(near.len(), (one_each(&mut ends),), |k, (of_part,): (Strided<Ends<R>>,)| {
            of_part.items[0] = Ends::in_slab(host, near[k], place, &slab, numbers);
        });
        ends.retain(|of_part| !of_part.keys.is_empty());
        if ends.is_empty() {
            // The lists of many grains take gigabytes of the host's memory.
            return Ok(());
        }
        let tiles = slab.start / TILE..slab.end.div_ceil(TILE);
        let mut copies = gpu.copies();
        let count = copies.add(&rows.count, slab.clone());
        let first = copies.add(&rows.tile_first, tiles.start..tiles.end + 1);
        let arrived = copies.wait()?;
        let of_slab = SlabRows {
            grains: slab,
            count: arrived.take(count),
            first: arrived.take(first),
        };
        // Tiles begin at whole tiles of entries, so that histories are laid out from the first entry of a slab on as from that of all.
        let first = &of_slab.first[..];
        let (number, entries) = (tiles.len(), first[0] as usize..first[tiles.len()] as usize);
        let mut list = gpu.download_part(&rows.list, entries.clone()).wait()?;
        let mut history = vec![R::default(); list.len() * numbers];
        let bounds: Vec<u32> = first[..number].iter().step_by(TILES).chain(&first[number..]).copied().collect();
        let data = (
            Ranges {
                items: &mut list[..],
                bounds: &bounds,
                stride: 1,
            },
            Ranges {
                items: &mut history[..],
                bounds: &bounds,
                stride: numbers,
            },
        );
        device.run(number.div_ceil(TILES), data, |part, (list, history): (Ranges<u32>, Ranges<R>)| {
            let tiles = part * TILES..((part + 1) * TILES).min(number);
            of_slab.complete(tiles, &ends, list.items, history.items, numbers);
        });
        let upload = Upload { gpu, device };
        upload.write(&rows.list, entries.clone(), |k| list[k - entries.start])?;
        upload.write(&rows.history, entries.start * numbers..entries.end * numbers, |k| {
            history[k - entries.start * numbers]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_marked_in_the_rows_of_their_slab() {
        // Three tiles, whose rows have at most 2, 3 and 1 entries. The entries of the slab begin at 640.
        let (mut count, numbers) = (vec![0; 96], 3);
        (count[36], count[66]) = (3, 1);
        let rows = SlabRows {
            grains: 64..160,
            count,
            first: [0, 2, 5, 6].map(|entries| 640 + 32 * entries).to_vec(),
        };
        let ends = Ends {
            keys: vec![[70, 8, 2], [100, 8, 0], [130, 5, 1]],
            histories: (1..10).map(|k| k as f32).collect(),
        };
        // Of the last two tiles: grain 100 is the fifth of the first of them, and grain 130 the third of the other.
        let (mut list, mut history) = (vec![1u32; 128], vec![0.0; 3 * 128]);
        (list[4], list[36], list[68], list[98]) = (7, 8, 9, 5);
        rows.complete(1..3, &[ends], &mut list, &mut history, numbers);
        assert_eq!([list[4], list[36], list[68], list[98]], [7, 8 | IN_CONTACT, 9, 5 | IN_CONTACT]);
        assert_eq!(list.iter().filter(|&&entry| entry & IN_CONTACT != 0).count(), 2);
        for (entry, expected) in [(36, [1.0, 2.0, 3.0]), (98, [4.0, 5.0, 6.0])] {
            assert_eq!([0, 1, 2].map(|c| history[history_at(entry, c, numbers)]), expected);
        }
        assert_eq!(history.iter().filter(|&&number| number != 0.0).count(), 6);
    }
}
