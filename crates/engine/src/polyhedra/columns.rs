//! Columns of the contacts of polyhedral grains, in checkpoints and in messages between domains.

use crate::state::{Column, Sections, State};
use crate::world::{LoadNumbers, OF_LOAD};
use seixo_sweeps::layout::RECORD;

/// Names of the columns of a list: ids of the pairs in contact, and their numbers of contacts; keys and histories of the contacts; and what each of
/// these pairs did in the last step, which readers see before the next one.
pub(crate) type ColumnNames = [&'static str; 5];

/// Columns of pairs of grains.
pub(crate) const OF_PAIRS: ColumnNames = [
    "polyhedra/pair",
    "polyhedra/contacts",
    "polyhedra/key",
    "polyhedra/history",
    "polyhedra/load",
];

/// Columns of grains at walls; the second number of a pair is that of a wall element.
pub(crate) const AT_WALLS: ColumnNames = [
    "polyhedra/wall",
    "polyhedra/wall_contacts",
    "polyhedra/wall_key",
    "polyhedra/wall_history",
    "polyhedra/wall_load",
];

/// Columns of a list, in the order of their names.
#[derive(Default)]
pub(crate) struct ContactColumns {
    ids: Vec<u32>,
    counts: Vec<u32>,
    keys: Vec<u32>,
    histories: Vec<f64>,
    loads: Vec<f64>,
}

impl ContactColumns {
    /// Appends a pair with the keys and histories of its contacts.
    pub fn push(&mut self, ids: &[u32; 2], (keys, histories): (&[u32], &[f64]), load: &LoadNumbers) {
        self.ids.extend_from_slice(ids);
        self.counts.push(keys.len() as u32);
        self.keys.extend_from_slice(keys);
        self.histories.extend_from_slice(histories);
        self.loads.extend_from_slice(load);
    }

    /// Puts all columns under these names.
    pub fn put(self, names: ColumnNames, to: &mut dyn Sections) {
        let words = [self.ids, self.counts, self.keys].map(Column::U32).into_iter();
        let columns = words.chain([self.histories, self.loads].map(Column::F64));
        names.into_iter().zip(columns).for_each(|(name, column)| to.put(name, column));
    }
}

/// The columns of a list in a state.
struct ListedContacts<'a> {
    pairs: &'a [[u32; 2]],
    /// First contact of each pair, and the number of all.
    first: Vec<usize>,
    keys: &'a [u32],
    histories: &'a [f64],
    loads: &'a [LoadNumbers],
}

impl<'a> ListedContacts<'a> {
    /// Those with these names; `None` if they are not there, or do not fit together.
    fn of(state: &'a State, names: ColumnNames) -> Option<ListedContacts<'a>> {
        let [
            Some(Column::U32(ids)),
            Some(Column::U32(counts)),
            Some(Column::U32(keys)),
            Some(Column::F64(histories)),
            Some(Column::F64(loads)),
        ] = names.map(|name| state.get(name))
        else {
            return None;
        };
        let mut first = vec![0];
        let mut end = 0;
        for &count in counts {
            end += count as usize;
            first.push(end);
        }
        let (pairs, loads) = (ids.as_chunks::<2>().0, loads.as_chunks::<OF_LOAD>().0);
        let fit = [counts.len(), loads.len()] == [pairs.len(); 2] && [keys.len(), histories.len()] == [end, end * RECORD];
        fit.then_some(ListedContacts {
            pairs,
            first,
            keys,
            histories,
            loads,
        })
    }

    /// Appends pair k to other columns.
    fn append_to(&self, k: usize, to: &mut ContactColumns) {
        let (first, end) = (self.first[k], self.first[k + 1]);
        let of_pair = (&self.keys[first..end], &self.histories[first * RECORD..end * RECORD]);
        to.push(&self.pairs[k], of_pair, &self.loads[k]);
    }
}

/// Puts the contacts of the grains whose ids `are_meant`, if there are columns of polyhedral grains.
pub(crate) fn pick_contacts_of_polyhedra(contacts: &State, are_meant: impl Fn(&u32) -> bool, to: &mut dyn Sections) {
    // The second number of a contact with a wall is not an id.
    for (names, ends) in [(OF_PAIRS, 2), (AT_WALLS, 1)] {
        let Some(listed) = ListedContacts::of(contacts, names) else {
            continue;
        };
        let mut picked = ContactColumns::default();
        for (k, pair) in listed.pairs.iter().enumerate() {
            if pair[..ends].iter().any(&are_meant) {
                listed.append_to(k, &mut picked);
            }
        }
        picked.put(names, to);
    }
}

/// Puts the contacts in the states of several domains, if these have columns of polyhedral grains. A pair across a border has the same numbers in both
/// states, and is put once.
pub(crate) fn merge_contacts_of_polyhedra(states: &[State], to: &mut dyn Sections) {
    for names in [OF_PAIRS, AT_WALLS] {
        let lists: Vec<ListedContacts<'_>> = states.iter().filter_map(|state| ListedContacts::of(state, names)).collect();
        if lists.is_empty() {
            continue;
        }
        let mut order: Vec<([u32; 2], usize, usize)> = Vec::new();
        for (list, listed) in lists.iter().enumerate() {
            order.extend(listed.pairs.iter().enumerate().map(|(k, &ids)| (ids, list, k)));
        }
        order.sort_unstable();
        order.dedup_by_key(|(ids, ..)| *ids);
        let mut merged = ContactColumns::default();
        order.iter().for_each(|&(_, list, k)| lists[list].append_to(k, &mut merged));
        merged.put(names, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pair with these keys, whose histories and loads are numbers of its own.
    fn push(columns: &mut ContactColumns, ids: [u32; 2], keys: &[u32]) {
        let number = f64::from(10 * ids[0] + ids[1]);
        columns.push(&ids, (keys, &vec![number; keys.len() * RECORD]), &[number; OF_LOAD]);
    }

    /// Ids and keys of some pairs of grains, and of grains at walls.
    const PAIRS: [([u32; 2], &[u32]); 3] = [([1, 2], &[5, 6]), ([2, 7], &[8]), ([3, 4], &[9, 10, 11])];
    const WALLS: [([u32; 2], &[u32]); 2] = [([1, 3], &[12]), ([3, 0], &[13, 14])];

    /// A state with those that have these indices.
    fn state(of_pairs: &[usize], at_walls: &[usize]) -> State {
        let mut all = [ContactColumns::default(), ContactColumns::default()];
        of_pairs.iter().for_each(|&k| push(&mut all[0], PAIRS[k].0, PAIRS[k].1));
        at_walls.iter().for_each(|&k| push(&mut all[1], WALLS[k].0, WALLS[k].1));
        let mut state = State::default();
        all.into_iter()
            .zip([OF_PAIRS, AT_WALLS])
            .for_each(|(columns, names)| columns.put(names, &mut state));
        state
    }

    #[test]
    fn a_pair_across_a_border_is_merged_once() {
        let domains = [state(&[1, 2], &[1]), state(&[], &[]), state(&[0, 1], &[0])];
        let mut merged = State::default();
        merge_contacts_of_polyhedra(&domains, &mut merged);
        assert_eq!(merged, state(&[0, 1, 2], &[0, 1]));
        let mut none = State::default();
        merge_contacts_of_polyhedra(&[State::default()], &mut none);
        assert_eq!(none, State::default(), "without polyhedral grains nothing is put");
    }

    #[test]
    fn grains_migrate_with_their_contacts() {
        let all = state(&[0, 1, 2], &[0, 1]);
        // Grain 3 is the second of no pair, and wall element 3 is no grain.
        let expected: [(u32, &[usize], &[usize]); 3] = [(3, &[2], &[1]), (2, &[0, 1], &[]), (9, &[], &[])];
        for (grain, of_pairs, at_walls) in expected {
            let mut picked = State::default();
            pick_contacts_of_polyhedra(&all, |&id| id == grain, &mut picked);
            assert_eq!(picked, state(of_pairs, at_walls), "{grain}");
        }
        let mut none = State::default();
        pick_contacts_of_polyhedra(&State::default(), |_| true, &mut none);
        assert_eq!(none, State::default(), "without polyhedral grains nothing is sent");
    }
}
