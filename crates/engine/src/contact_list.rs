//! Contacts of a step in a list, for force assembly by contacts \[PUC-Rio 2009, § 5.3.1\].

use crate::fields::{PART, part_range, parts};
use crate::measure::NO_CONTACT;
use crate::search::Pairs;
use seixo_device::{Cpu, Ranges, Strided};
use seixo_laws::Vector3;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::pair::depth_of;

/// The contacts of a step.
#[derive(Default)]
pub(crate) struct ContactList {
    /// Number of the first contact of each grain, and the number of all.
    pub first: Vec<u32>,
    /// The grain in whose row each contact is, and its entry.
    pub found: Vec<[u32; 2]>,
    /// First entry of each part of the contacts, and the number of entries.
    pub part_entry: Vec<u32>,
    /// Result of each contact for its grain.
    pub computed: Vec<ContactResult>,
}

/// A contact's force \[N\] and torque \[N m\] on its grain, and half of its powers.
#[derive(Clone, Copy)]
pub(crate) struct ContactResult {
    pub force: Vector3<f64>,
    pub torque: Vector3<f64>,
    pub power: PowerSums<f64>,
}

impl ContactResult {
    /// The result before it is computed.
    pub const NONE: ContactResult = ContactResult {
        force: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
        torque: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
        power: NO_CONTACT,
    };
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
        let words = self.first.capacity() + 2 * self.found.capacity() + self.part_entry.capacity();
        (4 * words + self.computed.capacity() * size_of::<ContactResult>()) as u64
    }

    /// Counts the contacts of each grain, and clears the histories of pairs without contact.
    pub fn count(&mut self, device: &Cpu, pairs: &mut Pairs, position: &[f64]) {
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
                        count.items[i - first] += 1;
                    } else if !history.items.is_empty() {
                        let at = (entry - row[first] as usize) * RECORD;
                        history.items[at..at + RECORD].fill(0.0);
                    }
                }
            }
        });
    }

    /// Finds the grain and the entry of each of `contacts`.
    pub fn identify(&mut self, device: &Cpu, pairs: &Pairs, position: &[f64], contacts: usize) {
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
                let mut touching = entries.filter(|&entry| apart(position, i, neighbors[entry] as usize).1 > 0.0);
                let entry = touching.nth(k - first[i] as usize).unwrap_or_default();
                *slot = [i as u32, entry as u32];
            }
        });
        // The first part also has the entries before its first contact.
        let firsts = self.found.iter().step_by(PART).skip(1).map(|&[_, entry]| entry);
        self.part_entry.clear();
        self.part_entry.push(0);
        self.part_entry.extend(firsts.chain([row[row.len() - 1]]));
    }
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
        list.count(&device, &mut pairs, &position);
        assert_eq!(list.first, [2, 1, 1, 0, 0]);
        assert_eq!(exclusive_scan(&mut list.first), 4);
        assert_eq!(list.first, [0, 2, 3, 4, 4]);
        list.identify(&device, &pairs, &position, 4);
        assert_eq!(list.found, [[0, 1], [0, 2], [1, 3], [2, 4]]);
        // Histories of pairs without contact are cleared.
        let kept: Vec<bool> = pairs
            .history
            .chunks(RECORD)
            .map(|history| history.iter().all(|&x| x == 1.0))
            .collect();
        assert_eq!(kept, [false, true, true, true, true, false]);
    }
}
