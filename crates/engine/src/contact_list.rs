//! Contacts of a step in a list, for force assembly by contacts: each in the rows of both grains \[PUC-Rio 2009, § 5.3.1\], or each once, with its two ends
//! sorted by grain \[ME964 2011\].

use crate::fields::{PART, part_range, parts};
use crate::measure::NO_CONTACT;
use crate::search::Pairs;
use seixo_device::{Cpu, Ranges, Strided, stable_order_by_key};
use seixo_laws::Vector3;
use seixo_laws::contact::ContactHistory;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::pair::depth_of;

/// The contacts of a step.
#[derive(Default)]
pub(crate) struct ContactList {
    /// Number of the first contact of each grain, and the number of all; of the first end, once ends are sorted.
    pub first: Vec<u32>,
    /// The grain in whose row each contact is, and its entry.
    pub found: Vec<[u32; 2]>,
    /// Result of each contact for its grain. If each contact is there once, of its two ends: the results for the grain in whose row it is, and for the
    /// other.
    pub computed: Vec<ContactResult>,
    /// Grains of the ends, by which they are sorted.
    key: Vec<u32>,
    /// Ends in the order of their grains.
    order: Vec<u32>,
}

/// A contact's force \[N\] and torque \[N m\] on one of its grains, half of its powers, and its history in the row of that grain.
#[derive(Clone, Copy)]
pub(crate) struct ContactResult {
    pub force: Vector3<f64>,
    pub torque: Vector3<f64>,
    pub power: PowerSums<f64>,
    pub history: ContactHistory<f64>,
}

impl ContactResult {
    /// The result before it is computed.
    pub const NONE: ContactResult = ContactResult {
        force: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
        torque: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
        power: NO_CONTACT,
        history: ContactHistory {
            force: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
            contact_radius: 0.0,
        },
    };

    /// The result for the second grain, from that for the first, and the torque on the second \[N m\].
    pub fn of_second(self, torque: Vector3<f64>) -> ContactResult {
        ContactResult {
            force: self.force.times(-1.0),
            torque,
            history: ContactHistory {
                force: self.history.force.times(-1.0),
                ..self.history
            },
            ..self
        }
    }
}

/// Vector between the centers of grains i and j \[m\], and the depth of their contact, see [`depth_of`].
pub(crate) fn apart(position: &[f64], i: usize, j: usize) -> (Vector3<f64>, f64) {
    let (here, there) = (i * RECORD, j * RECORD);
    let apart = load(position, here).minus(&load(position, there));
    let depth = depth_of(&apart, position[here + 3] + position[there + 3]);
    (apart, depth)
}

impl ContactList {
    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = self.first.capacity() + 2 * self.found.capacity() + self.key.capacity() + self.order.capacity();
        (4 * words + self.computed.capacity() * size_of::<ContactResult>()) as u64
    }

    /// Counts the contacts of each grain, and clears the histories of pairs without contact. With `once`, only the earlier of two grains counts.
    pub fn count(&mut self, device: &Cpu, pairs: &mut Pairs, position: &[f64], once: bool) {
        let n = pairs.row.len() - 1;
        let (row, neighbors) = (&pairs.row[..], &pairs.neighbors[..]);
        self.first.clear();
        self.first.resize(n + 1, 0);
        let data = (
            Strided {
                items: &mut self.first[..n],
                per_part: PART,
            },
            Ranges {
                items: &mut pairs.history[..],
                bounds: &pairs.part_row,
                stride: RECORD,
            },
        );
        device.run(parts(n), data, |part, (count, history): (Strided<u32>, Ranges<f64>)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let entries = row[i] as usize..row[i + 1] as usize;
                for (entry, &j) in entries.clone().zip(&neighbors[entries]) {
                    if apart(position, i, j as usize).1 > 0.0 {
                        count.items[i - first] += u32::from(is_counted(i, j, once));
                    } else if !history.items.is_empty() {
                        let at = (entry - row[first] as usize) * RECORD;
                        history.items[at..at + RECORD].fill(0.0);
                    }
                }
            }
        });
    }

    /// Finds the grain and the entry of each of `contacts`, counted with the same `once`.
    pub fn identify(&mut self, device: &Cpu, pairs: &Pairs, position: &[f64], contacts: usize, once: bool) {
        self.found.resize(contacts, [0; 2]);
        let (first, row, neighbors) = (&self.first[..], &pairs.row[..], &pairs.neighbors[..]);
        let found = (Strided {
            items: &mut self.found[..],
            per_part: PART,
        },);
        device.run(parts(contacts), found, |part, (found,): (Strided<[u32; 2]>,)| {
            for (k, slot) in (part * PART..).zip(found.items.iter_mut()) {
                // The last grain whose first contact is at or before k. A grain without contacts has the first contact of the next.
                let i = first.partition_point(|&first| first as usize <= k) - 1;
                let entries = row[i] as usize..row[i + 1] as usize;
                let mut touching = entries.filter(|&entry| {
                    let j = neighbors[entry];
                    is_counted(i, j, once) && apart(position, i, j as usize).1 > 0.0
                });
                let entry = touching.nth(k - first[i] as usize).unwrap_or_default();
                *slot = [i as u32, entry as u32];
            }
        });
    }

    /// Sorts the two ends of each contact by grain, where each contact is there once.
    pub fn sort_ends(&mut self, pairs: &Pairs) {
        let ends = self.found.iter().flat_map(|&[i, entry]| [i, pairs.neighbors[entry as usize]]);
        self.key.clear();
        self.key.extend(ends);
        stable_order_by_key(&self.key, pairs.row.len() - 1, &mut self.order, &mut self.first);
    }

    /// The results of all contacts of grain i, each with its entry in the row of i. `once` says whether ends were sorted.
    pub fn of<'a>(
        &'a self,
        i: usize,
        row: &'a [u32],
        neighbors: &'a [u32],
        once: bool,
    ) -> impl ExactSizeIterator<Item = (&'a ContactResult, usize)> {
        (self.first[i] as usize..self.first[i + 1] as usize).map(move |at| {
            let (result, contact) = if once {
                let end = self.order[at] as usize;
                (end, end / 2)
            } else {
                (at, at)
            };
            let [first, entry] = self.found[contact];
            let entry = if first as usize == i {
                entry as usize
            } else {
                let mut entries = row[i] as usize..row[i + 1] as usize;
                entries.find(|&entry| neighbors[entry] == first).unwrap_or_default()
            };
            (&self.computed[result], entry)
        })
    }
}

/// Whether grain i counts its contact with grain j.
fn is_counted(i: usize, j: u32, once: bool) -> bool {
    !once || i < j as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_device::exclusive_scan;

    #[test]
    fn four_grains_are_counted_scanned_and_identified() {
        // The first touches the next two, and the last is only near: 2, 1, 1 and 0 contacts.
        let position = [
            [0.0, 0.0, 0.0, 1.0],
            [1.9, 0.0, 0.0, 1.0],
            [0.0, 1.9, 0.0, 1.0],
            [0.0, -2.1, 0.0, 1.0],
        ]
        .concat();
        let mut pairs = Pairs {
            row: vec![0, 3, 4, 5, 6],
            neighbors: vec![3, 1, 2, 0, 0, 0],
            history: vec![1.0; 6 * RECORD],
            part_row: vec![0, 6],
            ..Pairs::default()
        };
        let (device, mut list) = (Cpu::new(1).unwrap(), ContactList::default());
        list.count(&device, &mut pairs, &position, false);
        assert_eq!(list.first, [2, 1, 1, 0, 0]);
        assert_eq!(exclusive_scan(&mut list.first), 4);
        assert_eq!(list.first, [0, 2, 3, 4, 4]);
        list.identify(&device, &pairs, &position, 4, false);
        assert_eq!(list.found, [[0, 1], [0, 2], [1, 3], [2, 4]]);
        // Histories of pairs without contact are cleared.
        let kept: Vec<bool> = pairs
            .history
            .chunks(RECORD)
            .map(|history| history.iter().all(|&x| x == 1.0))
            .collect();
        assert_eq!(kept, [false, true, true, true, true, false]);
        // Each contact once: the first grain has two, and the ends of the two others follow its own.
        list.count(&device, &mut pairs, &position, true);
        assert_eq!(exclusive_scan(&mut list.first), 2);
        list.identify(&device, &pairs, &position, 2, true);
        assert_eq!(list.found, [[0, 1], [0, 2]]);
        list.sort_ends(&pairs);
        assert_eq!((&list.first[..], &list.order[..]), (&[0, 2, 3, 4, 4][..], &[0, 2, 1, 3][..]));
    }
}
