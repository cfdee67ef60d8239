//! What a list of pairs keeps from step to step: loads and contact histories, by two ids.

use super::contacts::KeptContacts;
use crate::measure::NO_CONTACT;
use seixo_sweeps::contact::PowerSums;

/// Pairs that are computed one after the other: the unit of work.
pub(crate) const PAIRS_OF_PART: usize = 64;

/// Number of parts of this many pairs.
pub(crate) fn parts_of_pairs(pairs: usize) -> usize {
    pairs.div_ceil(PAIRS_OF_PART)
}

/// Loads and contact histories of a list of pairs, by two ids.
#[derive(Clone)]
pub(crate) struct PairRecords<L> {
    /// Two ids of each pair. Pairs ascend.
    pub ids: Vec<[u32; 2]>,
    /// What each pair does since its contacts were last computed.
    pub loads: Vec<L>,
    /// Contact histories of the pairs of each part.
    pub contacts: Vec<KeptContacts>,
    /// Room for those of the next step.
    pub spare: Vec<KeptContacts>,
    /// Powers of each part.
    pub power_sums: Vec<PowerSums<f64>>,
}

impl<L> Default for PairRecords<L> {
    fn default() -> PairRecords<L> {
        PairRecords {
            ids: Vec::new(),
            loads: Vec::new(),
            contacts: Vec::new(),
            spare: Vec::new(),
            power_sums: Vec::new(),
        }
    }
}

impl<L: Copy> PairRecords<L> {
    /// Appends a pair, whose ids are above those of all others.
    pub fn push(&mut self, ids: [u32; 2], load: L, keys: &[u32], histories: &[f64]) {
        if self.ids.len().is_multiple_of(PAIRS_OF_PART) {
            self.contacts.push(KeptContacts::default());
        }
        self.ids.push(ids);
        self.loads.push(load);
        if let Some(part) = self.contacts.last_mut() {
            part.push(keys, histories);
        }
    }

    /// Lists pairs with these ascending ids. Those that were listed keep their loads and histories; others have none, and the load `none`.
    pub fn relist(&mut self, ids: impl IntoIterator<Item = [u32; 2]>, none: L) {
        let before = std::mem::take(self);
        let mut was = 0;
        for ids in ids {
            while before.ids.get(was).is_some_and(|old| *old < ids) {
                was += 1;
            }
            if before.ids.get(was) == Some(&ids) {
                let (keys, histories) = before.contacts_of(was);
                self.push(ids, before.loads[was], keys, histories);
            } else {
                self.push(ids, none, &[], &[]);
            }
        }
        let parts = parts_of_pairs(self.ids.len());
        self.spare.resize(parts, KeptContacts::default());
        self.power_sums.resize(parts, NO_CONTACT);
    }

    /// The pairs of several lists. A pair that is in some of them has the same numbers there.
    pub fn merged(mut lists: Vec<PairRecords<L>>) -> PairRecords<L> {
        if lists.len() < 2 {
            return lists.pop().unwrap_or_default();
        }
        let listed = |(list, records): (usize, &PairRecords<L>)| {
            let pairs = records.ids.iter().enumerate();
            pairs.map(|(k, &ids)| (ids, list, k)).collect::<Vec<_>>()
        };
        let mut order: Vec<([u32; 2], usize, usize)> = lists.iter().enumerate().flat_map(listed).collect();
        order.sort_unstable();
        order.dedup_by_key(|(ids, ..)| *ids);
        let mut all = PairRecords::default();
        for (ids, list, k) in order {
            let (keys, histories) = lists[list].contacts_of(k);
            all.push(ids, lists[list].loads[k], keys, histories);
        }
        all
    }

    /// Keys and histories of the contacts of pair k.
    pub fn contacts_of(&self, k: usize) -> (&[u32], &[f64]) {
        self.contacts[k / PAIRS_OF_PART].of(k % PAIRS_OF_PART)
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let own = self.ids.capacity() * size_of::<[u32; 2]>() + self.loads.capacity() * size_of::<L>();
        own as u64 + self.contacts.iter().chain(&self.spare).map(KeptContacts::bytes).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_what_they_have_by_ids() {
        let mut records = PairRecords::default();
        let histories = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        for k in 0..100 {
            let keys: &[u32] = if k == 70 { &[3, 8] } else { &[] };
            records.push([k, k + 1], k, keys, &histories);
        }
        // Two pairs come first, and one is lost.
        records.relist([[0, 0], [0, 1], [5, 5], [70, 71], [98, 99]], 1000);
        assert_eq!(records.loads, [1000, 0, 1000, 70, 98]);
        assert_eq!(records.contacts_of(3), (&[3, 8][..], &histories[..]));
        assert!([0, 1, 2, 4].iter().all(|&k| records.contacts_of(k).0.is_empty()));
        assert_eq!((records.spare.len(), records.power_sums.len()), (1, 1));
    }

    #[test]
    fn pairs_of_several_lists_stand_once_in_their_order() {
        let of = |pairs: &[[u32; 2]]| {
            let mut records = PairRecords::default();
            for &[a, b] in pairs {
                records.push([a, b], a + b, &[a, b], &[f64::from(a); 8]);
            }
            records
        };
        let merged = PairRecords::merged(vec![of(&[[1, 2], [4, 5]]), of(&[]), of(&[[1, 2], [1, 3], [6, 7]])]);
        assert_eq!(
            (&merged.ids[..], &merged.loads[..]),
            (&[[1, 2], [1, 3], [4, 5], [6, 7]][..], &[3, 4, 9, 13][..])
        );
        assert_eq!(merged.contacts_of(2), (&[4, 5][..], &[4.0; 8][..]));
        assert_eq!(PairRecords::merged(vec![of(&[[1, 2]])]).loads, [3]);
    }
}
