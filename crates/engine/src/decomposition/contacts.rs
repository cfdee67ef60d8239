//! Histories of contacts across borders, which both owners report.

use crate::polyhedra::merge_contacts_of_polyhedra;
use crate::state::{Column, Sections, State};
use std::borrow::Cow;

/// Sections for contacts between grains: their ids, and the histories of the first and of the second grain.
const OF_GRAINS: [&str; 3] = ["contacts/pair", "contacts/history", "contacts/of_second"];

/// Sections of the contacts of polyhedral grains.
const OF_POLYHEDRA: &str = "polyhedra/";

/// Merges the contacts that subdomains reported into one state. Each grain gets the history that its own subdomain reported. A subdomain reports
/// contacts of its own grains, and lists its own grain first if the other one is a ghost. Those of polyhedral grains are the same in all subdomains.
pub fn merged_contacts(reported: Vec<State>) -> State {
    let (mut pairs, mut of_first, mut of_second) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = State::default();
    merge_contacts_of_polyhedra(&reported, &mut all);
    for state in reported {
        for (name, column) in state.sections {
            match (name.as_str(), column) {
                ("contacts/pair", Column::U32(column)) => pairs.extend(column),
                ("contacts/history", Column::F64(column)) => of_first.extend(column),
                ("contacts/of_second", Column::F64(column)) => of_second.extend(column),
                (merged, _) if merged.starts_with(OF_POLYHEDRA) => {}
                (_, column) => append(&mut all, &name, column),
            }
        }
    }
    let numbers = of_first.len() / (pairs.len() / 2).max(1);
    let ends = |k: usize| [pairs[2 * k], pairs[2 * k + 1]];
    let mut order: Vec<usize> = (0..pairs.len() / 2).collect();
    // Each key is computed once, as it is far away in memory.
    order.sort_by_cached_key(|&k| (ends(k)[0].min(ends(k)[1]), ends(k)[0].max(ends(k)[1]), ends(k)[0]));
    let (mut pair, mut history, mut other) = (Vec::new(), Vec::new(), Vec::new());
    let record = |k: usize| k * numbers..(k + 1) * numbers;
    for both in order.chunk_by(|&a, &b| ends(a) == [ends(b)[1], ends(b)[0]]) {
        pair.extend(ends(both[0]));
        history.extend_from_slice(&of_first[record(both[0])]);
        other.extend_from_slice(match both.get(1) {
            Some(&of_partner) => &of_first[record(of_partner)],
            None => &of_second[record(both[0])],
        });
    }
    for (name, column) in OF_GRAINS
        .into_iter()
        .zip([Column::U32(pair), Column::F64(history), Column::F64(other)])
    {
        all.put(name, column);
    }
    all
}

/// The contacts in these states, so that each grain gets the history that its owner reported. On a CPU the histories of the two grains of a contact are
/// exactly opposite, and the states are these; on a GPU they differ by rounding, and the states are merged.
pub fn each_by_its_owner(held: &[State]) -> Cow<'_, [State]> {
    let [_, _, of_second] = OF_GRAINS;
    if held.len() < 2 || held.iter().all(|state| state.get(of_second).is_none()) {
        return Cow::Borrowed(held);
    }
    let is_of_contacts = |name: &str| ["contacts/", "walls/", OF_POLYHEDRA].iter().any(|table| name.starts_with(table));
    let contacts = held.iter().map(|state| State {
        sections: state.sections.iter().filter(|(name, _)| is_of_contacts(name)).cloned().collect(),
    });
    Cow::Owned(vec![merged_contacts(contacts.collect())])
}

/// Appends a column to the one of this name.
fn append(to: &mut State, name: &str, column: Column) {
    let known = to.sections.iter_mut().find(|(known, _)| known == name);
    match (known.map(|(_, known)| known), column) {
        (Some(Column::F64(known)), Column::F64(more)) => known.extend(more),
        (Some(Column::U32(known)), Column::U32(more)) => known.extend(more),
        (Some(Column::U64(known)), Column::U64(more)) => known.extend(more),
        (_, column) => to.put(name, column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(pair: &[u32], history: &[f64], of_second: &[f64]) -> State {
        let columns = [
            Column::U32(pair.to_vec()),
            Column::F64(history.to_vec()),
            Column::F64(of_second.to_vec()),
        ];
        let sections = OF_GRAINS.map(str::to_owned).into_iter().zip(columns);
        State {
            sections: sections.collect(),
        }
    }

    #[test]
    fn each_remembers_what_its_own_domain_reported() {
        // Grains 1 and 2 are in one subdomain, 3 and 4 in another.
        let here = reported(&[1, 2, 2, 3], &[12.0, 23.0], &[21.0, -23.0]);
        let there = reported(&[4, 3, 3, 2], &[43.0, 32.0], &[34.0, -32.0]);
        let all = merged_contacts(vec![here, there]);
        assert_eq!(all, reported(&[1, 2, 2, 3, 4, 3], &[12.0, 23.0, 43.0], &[21.0, 32.0, 34.0]));
    }

    #[test]
    fn a_grain_that_migrates_brings_the_history_of_its_own_domain() {
        // Grain 2 comes from there to grain 1; each domain stores the history of the other grain as the opposite of its own.
        let mut here = reported(&[1, 2], &[12.0], &[-12.0]);
        here.put("walls/touching", Column::U32(vec![1, 0]));
        let mut there = reported(&[2, 1], &[21.5], &[-21.5]);
        there.put("grains/id", Column::U32(vec![2]));
        there.put("walls/touching", Column::U32(vec![2, 0]));
        let held = [here, there];
        let all = each_by_its_owner(&held);
        let mut expected = State::default();
        expected.put("walls/touching", Column::U32(vec![1, 0, 2, 0]));
        expected.sections.extend(reported(&[1, 2], &[12.0], &[21.5]).sections);
        assert_eq!(*all, [expected]);
        // Without other domains, and where histories are exactly opposite, nothing is merged.
        assert!(matches!(each_by_its_owner(&held[..1]), Cow::Borrowed(_)));
    }
}
