//! What a list of pairs keeps from step to step: loads, contact histories and near features, by two ids.

use super::contacts::{KeptContacts, SLOTS};
use super::features::KeptFeatures;
use crate::fields::one_each;
use crate::measure::{NO_CONTACT, sum};
use seixo_device::{Cpu, Strided};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::near_features::NearFeatures;
use seixo_sweeps::shape_features::Frame;

/// Pairs that are computed one after the other: the unit of work.
const PAIRS_OF_PART: usize = 64;

/// Number of parts of this many pairs.
fn parts_of_pairs(pairs: usize) -> usize {
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
    /// Near features of the pairs of each part.
    pub features: Vec<KeptFeatures>,
    /// Powers of each part.
    pub power_sums: Vec<PowerSums<f64>>,
}

/// Loads, contact histories before and after a step, near features, and powers of some parts.
type Parts<'a, L> = (
    Strided<'a, L>,
    Strided<'a, KeptContacts>,
    Strided<'a, KeptContacts>,
    Strided<'a, KeptFeatures>,
    Strided<'a, PowerSums<f64>>,
);

/// Room for the contacts of a pair. Only slots before the first key of zero have a meaning: pairs use the same room one after the other.
pub(crate) struct Slots {
    /// Keys before the step, and histories.
    pub old_keys: [u32; SLOTS],
    pub old_springs: [f64; SLOTS * RECORD],
    /// Keys after it, and histories.
    pub keys: [u32; SLOTS],
    pub springs: [f64; SLOTS * RECORD],
    /// Near features before it, or after it if they are new.
    pub near: NearFeatures<f64>,
}

impl Slots {
    fn new() -> Slots {
        Slots {
            old_keys: [0; SLOTS],
            old_springs: [0.0; SLOTS * RECORD],
            keys: [0; SLOTS],
            springs: [0.0; SLOTS * RECORD],
            near: NearFeatures::none(),
        }
    }

    /// From now on these are the contacts and the near features before the step.
    fn begin(&mut self, (keys, histories): (&[u32], &[f64]), (since, features): (Option<Frame<f64>>, &[u32])) {
        self.old_keys[..keys.len()].copy_from_slice(keys);
        if let Some(free) = self.old_keys.get_mut(keys.len()) {
            *free = 0;
        }
        self.old_springs[..histories.len()].copy_from_slice(histories);
        self.near.begin(since, features);
    }

    /// Keys and histories of the contacts after the step.
    fn found(&self) -> (&[u32], &[f64]) {
        let found = self.keys.iter().take_while(|key| **key != 0).count();
        (&self.keys[..found], &self.springs[..RECORD * found])
    }
}

impl<L> Default for PairRecords<L> {
    fn default() -> PairRecords<L> {
        PairRecords {
            ids: Vec::new(),
            loads: Vec::new(),
            contacts: Vec::new(),
            spare: Vec::new(),
            features: Vec::new(),
            power_sums: Vec::new(),
        }
    }
}

impl<L: Copy> PairRecords<L> {
    /// Appends a pair, whose ids are above those of all others. It has no near features.
    pub fn push(&mut self, ids: [u32; 2], load: L, keys: &[u32], histories: &[f64]) {
        if self.ids.len().is_multiple_of(PAIRS_OF_PART) {
            self.contacts.push(KeptContacts::default());
            self.features.push(KeptFeatures::default());
        }
        self.ids.push(ids);
        self.loads.push(load);
        if let Some(part) = self.contacts.last_mut() {
            part.push(keys, histories);
        }
    }

    /// Lists pairs with these ascending ids. Those that were listed keep their loads, histories and near features; others have none, and the load
    /// `none`.
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
                let (since, features) = before.features[was / PAIRS_OF_PART].of(was % PAIRS_OF_PART);
                if let Some(part) = self.features.last_mut().filter(|_| since.is_some()) {
                    part.replace((self.ids.len() - 1) % PAIRS_OF_PART, since, features);
                }
            } else {
                self.push(ids, none, &[], &[]);
            }
        }
        let parts = parts_of_pairs(self.ids.len());
        self.spare.resize(parts, KeptContacts::default());
        self.power_sums.resize(parts, NO_CONTACT);
    }

    /// After contacts of the same pairs were computed between two steps: pairs that had contacts `before` are as they were. All others keep what was
    /// computed, which `begin` changes. Their contacts are as at their beginning: with keys, so that they are saved and sent to domains, and histories of
    /// zeros, which act like none. Near features stay: grains have not moved since.
    pub fn go_back(&mut self, before: PairRecords<L>, touches: impl Fn(&L) -> bool, begin: impl Fn(&mut L)) {
        let now = std::mem::take(self);
        for (k, (&ids, old)) in now.ids.iter().zip(&before.loads).enumerate() {
            if touches(old) {
                let (keys, histories) = before.contacts_of(k);
                self.push(ids, *old, keys, histories);
            } else {
                let mut new = now.loads[k];
                begin(&mut new);
                let (keys, histories) = now.contacts_of(k);
                self.push(ids, new, keys, &vec![0.0; histories.len()]);
            }
        }
        (self.spare, self.features, self.power_sums) = (now.spare, now.features, before.power_sums);
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
        let contacts: u64 = self.contacts.iter().chain(&self.spare).map(KeptContacts::bytes).sum();
        own as u64 + contacts + self.features.iter().map(KeptFeatures::bytes).sum::<u64>()
    }
}

impl<L: Copy + Send> PairRecords<L> {
    /// Computes the contacts of all pairs. The `law` gets the index of a pair, its ids, its last load, its slots, and room that pairs of a part use one
    /// after the other; it fills the slots after the step, with a key of zero after the last contact, and returns the new load. `powers` gets the index of
    /// a pair and its load, and returns what counts here.
    pub fn compute<S: Default>(
        &mut self,
        device: &Cpu,
        powers: impl Fn(usize, &L) -> PowerSums<f64> + Sync,
        law: impl Fn(usize, [u32; 2], &L, &mut Slots, &mut S) -> L + Sync,
    ) {
        let PairRecords {
            ids,
            loads,
            contacts,
            spare,
            features,
            power_sums,
        } = self;
        let (ids, parts) = (&ids[..], parts_of_pairs(ids.len()));
        let loads = Strided {
            items: &mut loads[..],
            per_part: PAIRS_OF_PART,
        };
        let data = (loads, one_each(contacts), one_each(spare), one_each(features), one_each(power_sums));
        device.run(parts, data, |part, (loads, kept, next, features, power_sums): Parts<L>| {
            let (kept, next, features) = (&mut kept.items[0], &mut next.items[0], &mut features.items[0]);
            next.clear();
            let (mut all, mut slots, mut room) = (NO_CONTACT, Slots::new(), S::default());
            for (k, now) in loads.items.iter_mut().enumerate() {
                let pair = part * PAIRS_OF_PART + k;
                slots.begin(kept.of(k), features.of(k));
                *now = law(pair, ids[pair], now, &mut slots, &mut room);
                let (keys, histories) = slots.found();
                next.push(keys, histories);
                if slots.near.are_new {
                    features.replace(k, slots.near.since, slots.near.keys());
                }
                all = sum(all, &powers(pair, now));
            }
            std::mem::swap(kept, next);
            power_sums.items[0] = all;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::half_of;
    use crate::polyhedra::features::tests::frame;

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
    fn pairs_keep_near_features_by_ids() {
        let mut records = PairRecords::default();
        records.relist((0..100).map(|k| [k, k + 1]), 0);
        records.features[70 / PAIRS_OF_PART].replace(70 % PAIRS_OF_PART, Some(frame(2.0)), &[4, 9]);
        records.relist([[5, 5], [70, 71], [98, 99]], 0);
        assert_eq!([0, 1, 2].map(|k| records.features[0].of(k).1.len()), [0, 2, 0]);
        let (since, features) = records.features[0].of(1);
        assert_eq!((since.map(|frame| frame.center.x), features), (Some(2.0), &[4, 9][..]));
    }

    #[test]
    fn new_contacts_between_two_steps_have_keys_and_no_history() {
        let of = |pairs: [(u32, &[u32]); 3], history: f64| {
            let mut records = PairRecords::default();
            for (k, (load, keys)) in (0..).zip(pairs) {
                records.push([k, 9], load, keys, &[history; 8]);
            }
            records.power_sums = vec![NO_CONTACT];
            records
        };
        let before = of([(2, &[3, 8]), (0, &[]), (0, &[])], 5.0);
        let mut now = of([(1, &[3]), (2, &[4, 6]), (0, &[])], 7.0);
        now.spare = vec![KeptContacts::default()];
        now.features[0].replace(1, Some(frame(2.0)), &[4, 6, 9]);
        now.go_back(before, |&load| load > 0, |new| *new *= 10);
        assert_eq!((&now.ids[..], &now.loads[..]), (&[[0, 9], [1, 9], [2, 9]][..], &[2, 20, 0][..]));
        assert_eq!(now.contacts_of(0), (&[3, 8][..], &[5.0; 8][..]));
        assert_eq!(now.contacts_of(1), (&[4, 6][..], &[0.0; 8][..]));
        assert!(now.contacts_of(2).0.is_empty());
        assert_eq!((now.contacts.len(), now.spare.len(), now.power_sums.len()), (1, 1, 1));
        assert_eq!([0, 1, 2].map(|k| now.features[0].of(k).1), [&[][..], &[4, 6, 9], &[]]);
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

    #[test]
    fn pairs_of_all_parts_are_computed_with_their_own_contacts_and_powers() {
        let mut records = PairRecords::default();
        let pairs = 2 * PAIRS_OF_PART as u32 + 5;
        records.relist((0..pairs).map(|k| [k, 1000 + k]), NO_CONTACT);
        let count = |load: &PowerSums<f64>| load.normal_power;
        for step in 0..3_u32 {
            records.compute(
                &Cpu::new(2).unwrap(),
                // The last pair is computed elsewhere, too.
                |k, load| if k + 1 == pairs as usize { half_of(load) } else { *load },
                |k, [i, j], load: &PowerSums<f64>, slots, _: &mut ()| {
                    assert!(i as usize == k && j == 1000 + i && count(load) == f64::from(step * i));
                    // A contact for each step so far: each was kept. Every third pair has none.
                    let contacts = |steps: u32| if i % 3 == 1 { 0 } else { steps };
                    let had = slots.old_keys.iter().take_while(|key| **key != 0).count() as u32;
                    assert!(had == contacts(step) && (had == 0 || slots.old_springs[0] == f64::from(i)));
                    for slot in 0..contacts(step + 1) {
                        slots.keys[slot as usize] = slot + 1;
                        slots.springs[slot as usize * RECORD] = f64::from(i);
                    }
                    slots.keys[contacts(step + 1) as usize] = 0;
                    let mut now = *load;
                    now.normal_power += f64::from(i);
                    now
                },
            );
        }
        let all: f64 = records.power_sums.iter().map(count).sum();
        let (of_all, of_last) = (f64::from(3 * pairs * (pairs - 1) / 2), f64::from(3 * (pairs - 1)));
        assert_eq!((records.power_sums.len(), all), (3, of_all - 0.5 * of_last));
        assert_eq!(records.contacts_of(pairs as usize - 1).0, [1, 2, 3]);
        assert!(records.contacts_of(pairs as usize - 3).0.is_empty());
    }
}
