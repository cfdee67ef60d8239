//! The list of pairs with a polyhedral grain, in the order of ids.

use super::contacts::KeptContacts;
use crate::measure::NO_CONTACT;
use seixo_device::exclusive_scan;
use seixo_laws::Vector3;
use seixo_sweeps::contact::{PowerSums, Stored};
use seixo_sweeps::shape_pairs::PairLoad;

/// Pairs that are computed one after the other: the unit of work.
pub(crate) const PAIRS_OF_PART: usize = 64;

/// A pair of grains of which one is polyhedral.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PairOfGrains {
    /// Ids, the lower first.
    pub ids: [u32; 2],
    /// Indices of the grains, in the same order.
    pub places: [u32; 2],
}

/// What a pair without contacts does.
pub(crate) const NO_LOAD: PairLoad<f64> = PairLoad {
    force: ZERO,
    torque_i: ZERO,
    torque_j: ZERO,
    powers: NO_CONTACT,
    stored: Stored {
        normal: 0.0,
        tangential: 0.0,
    },
    direction: ZERO,
    contacts: 0,
};

const ZERO: Vector3<f64> = Vector3 { x: 0.0, y: 0.0, z: 0.0 };

/// The list of pairs with a polyhedral grain, sorted by ids.
#[derive(Default)]
pub(crate) struct ShapePairs {
    pub list: Vec<PairOfGrains>,
    /// What each pair does since its contacts were last computed.
    pub loads: Vec<PairLoad<f64>>,
    /// Contact histories of the pairs of each part.
    pub contacts: Vec<KeptContacts>,
    /// Room for those of the next step.
    pub spare: Vec<KeptContacts>,
    /// Powers of each part.
    pub power_sums: Vec<PowerSums<f64>>,
    /// Index of the first end of each grain, and the total number.
    pub row: Vec<u32>,
    /// Ends of pairs by grain: twice the index of the pair, plus one for its second grain. They are in the order of the ids of the partners.
    pub ends: Vec<u32>,
}

/// Number of parts of this many pairs.
pub(crate) fn parts_of_pairs(pairs: usize) -> usize {
    pairs.div_ceil(PAIRS_OF_PART)
}

impl ShapePairs {
    /// Lists these pairs of indices, some of which may be there twice, for grains with these ids. Contact histories are carried over by ids.
    pub fn rebuild(&mut self, taken: &[[u32; 2]], ids: &[u32]) {
        let ordered = taken.iter().map(|&[i, j]| {
            let places = if ids[i as usize] < ids[j as usize] { [i, j] } else { [j, i] };
            PairOfGrains {
                ids: places.map(|place| ids[place as usize]),
                places,
            }
        });
        let mut list: Vec<PairOfGrains> = ordered.collect();
        list.sort_unstable();
        list.dedup();
        let (old, old_loads) = (std::mem::take(&mut self.contacts), std::mem::take(&mut self.loads));
        let before = std::mem::replace(&mut self.list, list);
        let mut was = 0;
        for (k, pair) in self.list.iter().enumerate() {
            if k % PAIRS_OF_PART == 0 {
                self.contacts.push(KeptContacts::default());
            }
            while before.get(was).is_some_and(|old| old.ids < pair.ids) {
                was += 1;
            }
            let is_kept = before.get(was).is_some_and(|old| old.ids == pair.ids);
            let (keys, histories) = if is_kept {
                old[was / PAIRS_OF_PART].of(was % PAIRS_OF_PART)
            } else {
                (&[][..], &[][..])
            };
            self.loads.push(if is_kept { old_loads[was] } else { NO_LOAD });
            if let Some(part) = self.contacts.last_mut() {
                part.push(keys, histories);
            }
        }
        let parts = parts_of_pairs(self.list.len());
        self.spare.resize(parts, KeptContacts::default());
        self.power_sums.resize(parts, NO_CONTACT);
        self.sort_ends(ids.len());
    }

    /// Finds the ends of pairs by grain. Pairs are sorted by ids, so the partners of a grain come in the order of ids, too: first those before it, which
    /// are first grains of their pairs, then those after it.
    fn sort_ends(&mut self, grains: usize) {
        self.row.clear();
        self.row.resize(grains + 1, 0);
        for place in self.list.iter().flat_map(|pair| pair.places) {
            self.row[place as usize] += 1;
        }
        let ends = exclusive_scan(&mut self.row) as usize;
        self.ends.clear();
        self.ends.resize(ends, 0);
        let mut next = self.row.clone();
        for (end, place) in (0..).zip(self.list.iter().flat_map(|pair| pair.places)) {
            let slot = &mut next[place as usize];
            self.ends[*slot as usize] = end;
            *slot += 1;
        }
    }

    /// Ends of the pairs of grain i.
    pub fn of(&self, i: usize) -> &[u32] {
        &self.ends[self.row[i] as usize..self.row[i + 1] as usize]
    }

    /// Energy stored in the contacts of all pairs \[J\], of normal and of tangential springs.
    pub fn stored(&self) -> [f64; 2] {
        let stored = self.loads.iter().map(|load| [load.stored.normal, load.stored.tangential]);
        stored.fold([0.0; 2], |[normal, tangential], [more, sliding]| {
            [normal + more, tangential + sliding]
        })
    }

    /// Keys and histories of the contacts of pair k.
    pub fn contacts_of(&self, k: usize) -> (&[u32], &[f64]) {
        self.contacts[k / PAIRS_OF_PART].of(k % PAIRS_OF_PART)
    }

    /// Removes all contact histories, and their pairs.
    pub fn forget(&mut self) {
        *self = ShapePairs::default();
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = self.row.capacity() + self.ends.capacity();
        let list = self.list.capacity() * size_of::<PairOfGrains>() + self.loads.capacity() * size_of::<PairLoad<f64>>() + words * 4;
        list as u64 + self.contacts.iter().chain(&self.spare).map(KeptContacts::bytes).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_follow_ids_and_partners_come_in_the_order_of_ids() {
        let mut pairs = ShapePairs::default();
        // Grain 40 is at place 0, and so on.
        pairs.rebuild(&[[0, 1], [2, 1], [1, 2], [0, 3]], &[40, 10, 30, 20]);
        let ids: Vec<[u32; 2]> = pairs.list.iter().map(|pair| pair.ids).collect();
        assert_eq!(ids, [[10, 30], [10, 40], [20, 40]]);
        assert_eq!(pairs.list[1].places, [1, 0]);
        // Grain 10 is first of the pairs 0 and 1; grain 40 is second of the pairs 1 and 2.
        assert_eq!((pairs.of(1), pairs.of(0), pairs.of(3)), (&[0, 2][..], &[3, 5][..], &[4][..]));
        pairs.contacts[0].clear();
        [&[7u32][..], &[], &[3, 8]].map(|keys| pairs.contacts[0].push(keys, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]));
        // The order of the cells changes, a pair is lost, and another one comes first.
        pairs.rebuild(&[[3, 2], [1, 3], [0, 1]], &[10, 40, 30, 20]);
        let ids: Vec<[u32; 2]> = pairs.list.iter().map(|pair| pair.ids).collect();
        assert_eq!(ids, [[10, 40], [20, 30], [20, 40]]);
        assert_eq!([0, 1].map(|k| pairs.contacts_of(k).0.len()), [0, 0]);
        assert_eq!(pairs.contacts_of(2), (&[3, 8][..], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0][..]));
    }
}
