//! Results that do not depend on the decomposition.

use seixo_engine::Simulation;
use seixo_engine::state::{Column, State};
use std::collections::BTreeMap;

/// Asserts bitwise equality, except for sums over all grains and fluids (equal to rounding) and the order in which grains and contacts are listed.
#[track_caller]
pub fn assert_same(whole: &mut Simulation, decomposed: &mut Simulation, what: &str) {
    let states: [State; 2] = [whole, decomposed].map(|simulation| by_id(&simulation.save().unwrap()));
    let [a, b] = states
        .each_ref()
        .map(|state| state.sections.iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(a, b);
    let [one, other] = states.each_ref().map(histories);
    assert_eq!(one, other, "{what}");
    for ((name, left), (_, right)) in states[0].sections.iter().zip(&states[1].sections) {
        let is_same = match (name.as_str(), left, right) {
            ("walls/wear" | "heat/books", Column::F64(a), Column::F64(b)) => are_near(a, b),
            _ if name.starts_with("contacts/") && one.is_some() => true,
            _ => left == right || name.contains("ledger") || name == "fluid/books",
        };
        assert!(is_same, "{what}: section {name} differs");
    }
}

/// A state with grains sorted by id. GPUs round coordinates, so grains at the border of two cells may otherwise be sorted by rounding.
fn by_id(state: &State) -> State {
    let (Some(Column::U32(ids)), Some(Column::U32(touching))) = (state.get("grains/id"), state.get("walls/touching")) else {
        panic!("grains were saved");
    };
    let mut of_grains: Vec<usize> = (0..ids.len()).collect();
    of_grains.sort_unstable_by_key(|&i| ids[i]);
    let mut of_touches: Vec<usize> = (0..touching.len() / 2).collect();
    of_touches.sort_unstable_by_key(|&k| [touching[2 * k], touching[2 * k + 1]]);
    let sorted = |(name, column): &(String, Column)| {
        let order = match name.as_str() {
            "walls/touching" | "walls/history" | "walls/touches" => &of_touches,
            name if name.starts_with("grains/") => &of_grains,
            _ => return (name.clone(), column.clone()),
        };
        let column = match column {
            Column::F64(values) => Column::F64(in_order(values, order)),
            Column::U32(values) => Column::U32(in_order(values, order)),
            Column::U64(values) => Column::U64(in_order(values, order)),
        };
        (name.clone(), column)
    };
    State {
        sections: state.sections.iter().map(sorted).collect(),
    }
}

/// Records in the order of these indices.
fn in_order<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
    let numbers = values.len() / order.len().max(1);
    order.iter().flat_map(|&k| &values[k * numbers..][..numbers]).copied().collect()
}

/// Contact histories on GPUs, which store one history per grain; indexed by the ids of both grains, the lower first.
fn histories(state: &State) -> Option<BTreeMap<[u32; 2], Vec<f64>>> {
    let (Some(Column::U32(pairs)), Some(Column::F64(history)), Some(Column::F64(of_second))) = (
        state.get("contacts/pair"),
        state.get("contacts/history"),
        state.get("contacts/of_second"),
    ) else {
        return None;
    };
    let numbers = history.len() / (pairs.len() / 2).max(1);
    let memory = |(k, pair): (usize, &[u32])| {
        let record = |column: &[f64]| column[k * numbers..][..numbers].to_vec();
        let both = [record(history), record(of_second)];
        let [lower, higher] = if pair[0] < pair[1] { [0, 1] } else { [1, 0] };
        ([pair[lower], pair[higher]], [&both[lower][..], &both[higher]].concat())
    };
    Some(pairs.chunks_exact(2).enumerate().map(memory).collect())
}

/// Whether sums are equal up to rounding of the largest.
fn are_near(a: &[f64], b: &[f64]) -> bool {
    let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * largest)
}
