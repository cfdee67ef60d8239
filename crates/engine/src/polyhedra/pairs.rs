//! The list of pairs with a polyhedral grain, in the order of ids.

use super::records::PairRecords;
use crate::measure::NO_CONTACT;
use seixo_device::exclusive_scan;
use seixo_laws::Vector3;
use seixo_sweeps::contact::Stored;
use seixo_sweeps::shape_pairs::PairLoad;

const ZERO: Vector3<f64> = Vector3 { x: 0.0, y: 0.0, z: 0.0 };

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
    conducting_radius: 0.0,
    direction: ZERO,
    contacts: 0,
};

/// The list of pairs with a polyhedral grain, sorted by ids. The first grain of a pair is that with the lower id.
#[derive(Default)]
pub(crate) struct ShapePairs {
    pub records: PairRecords<PairLoad<f64>>,
    /// Indices of both grains of each pair.
    pub places: Vec<[u32; 2]>,
    /// Index of the first end of each grain, and the total number.
    pub row: Vec<u32>,
    /// Ends of pairs by grain: twice the index of the pair, plus one for its second grain. They are in the order of the ids of the partners.
    pub ends: Vec<u32>,
}

impl ShapePairs {
    /// Lists these pairs of indices, some of which may be there twice, for grains with these ids.
    pub fn rebuild(&mut self, taken: &[[u32; 2]], ids: &[u32]) {
        let ordered = taken.iter().map(|&[i, j]| {
            let places = if ids[i as usize] < ids[j as usize] { [i, j] } else { [j, i] };
            (places.map(|place| ids[place as usize]), places)
        });
        let mut list: Vec<([u32; 2], [u32; 2])> = ordered.collect();
        list.sort_unstable();
        list.dedup();
        self.records.relist(list.iter().map(|&(ids, _)| ids), NO_LOAD);
        self.places = list.into_iter().map(|(_, places)| places).collect();
        self.sort_ends(ids.len());
    }

    /// Finds the ends of pairs by grain. Pairs are sorted by ids, so the partners of a grain come in the order of ids, too: first those before it, which
    /// are first grains of their pairs, then those after it.
    fn sort_ends(&mut self, grains: usize) {
        self.row.clear();
        self.row.resize(grains + 1, 0);
        for &place in self.places.as_flattened() {
            self.row[place as usize] += 1;
        }
        let ends = exclusive_scan(&mut self.row) as usize;
        self.ends.clear();
        self.ends.resize(ends, 0);
        let mut next = self.row.clone();
        for (end, &place) in (0..).zip(self.places.as_flattened()) {
            let slot = &mut next[place as usize];
            self.ends[*slot as usize] = end;
            *slot += 1;
        }
    }

    /// Ends of the pairs of grain i.
    pub fn of(&self, i: usize) -> &[u32] {
        &self.ends[self.row[i] as usize..self.row[i + 1] as usize]
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = self.row.capacity() + self.ends.capacity() + 2 * self.places.capacity();
        words as u64 * 4 + self.records.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_come_in_the_order_of_ids() {
        let mut pairs = ShapePairs::default();
        // Grain 40 is at place 0, and so on.
        pairs.rebuild(&[[0, 1], [2, 1], [1, 2], [0, 3]], &[40, 10, 30, 20]);
        assert_eq!(pairs.records.ids, [[10, 30], [10, 40], [20, 40]]);
        assert_eq!(pairs.places[1], [1, 0]);
        // Grain 10 is first of the pairs 0 and 1; grain 40 is second of the pairs 1 and 2.
        assert_eq!((pairs.of(1), pairs.of(0), pairs.of(3)), (&[0, 2][..], &[3, 5][..], &[4][..]));
        // The order of the cells changes, and a pair is lost.
        pairs.rebuild(&[[3, 2], [1, 0]], &[10, 40, 30, 20]);
        assert_eq!(
            (&pairs.records.ids[..], &pairs.places[..]),
            (&[[10, 40], [20, 30]][..], &[[0, 1], [3, 2]][..])
        );
    }
}
