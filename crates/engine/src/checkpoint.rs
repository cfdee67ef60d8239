//! Checkpoints: saving a simulation and resuming it bit by bit.
//!
//! Lists are not saved: they follow from the saved order of the grains and their reference positions.

use crate::measure::{NO_CONTACT, Work};
use crate::refusal::WorldError;
use crate::state::{Column, State};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::layout::EXTENDED_HISTORY_STRIDE;
use std::collections::BTreeMap;

/// Sections of the sliding work on walls that wear: by element, by entry of the list, and the grain and element of each entry.
pub(crate) const WEAR: [&str; 3] = ["walls/wear", "walls/wear_since_listed", "walls/wearing"];

/// Sections of given masses: ids, and masses \[kg\].
pub(crate) const GIVEN_MASSES: [&str; 2] = ["given_masses/id", "given_masses/mass"];

/// Section of the digests of the shapes of polyhedral grains.
pub(crate) const SHAPES: &str = "shapes/digest";

pub(crate) fn misfit(what: &str) -> WorldError {
    WorldError::State { what: what.into() }
}

pub(crate) fn numbers<'a>(state: &'a State, name: &str, len: Option<usize>) -> Result<&'a [f64], WorldError> {
    match state.get(name) {
        Some(Column::F64(values)) if len.is_none_or(|len| values.len() == len) => Ok(values),
        _ => Err(misfit(&format!("section {name} is missing or of the wrong size"))),
    }
}

pub(crate) fn words<'a>(state: &'a State, name: &str) -> Result<&'a [u32], WorldError> {
    match state.get(name) {
        Some(Column::U32(values)) => Ok(values),
        _ => Err(misfit(&format!("section {name} is missing"))),
    }
}

/// Ledger of the contacts, as [`Populations::save_ledger`] saved it.
pub(crate) fn contact_ledger(state: &State) -> Result<(Work, PowerSums<f64>), WorldError> {
    let [
        normal_damping,
        tangential,
        tangential_damping,
        local_damping,
        wall,
        left_domain,
        inserted,
        initial,
    ] = *numbers(state, "ledger/work", Some(8))?
    else {
        unreachable!("the length was checked")
    };
    let [normal_power, tangential_power, damping_power, wall_power, excess] = *numbers(state, "ledger/last", Some(5))? else {
        unreachable!("the length was checked")
    };
    let work = Work {
        normal_damping,
        tangential,
        tangential_damping,
        local_damping,
        wall,
        left_domain,
        inserted,
        initial,
    };
    let last = PowerSums {
        normal_power,
        tangential_power,
        damping_power,
        wall_power,
        excess,
        ..NO_CONTACT
    };
    Ok((work, last))
}

/// Saved masses that were given \[kg\], by ids; `None` if there are none.
pub(crate) fn given_masses(state: &State) -> Option<BTreeMap<u32, f64>> {
    match GIVEN_MASSES.map(|name| state.get(name)) {
        [Some(Column::U32(ids)), Some(Column::F64(masses))] => Some(ids.iter().copied().zip(masses.iter().copied()).collect()),
        _ => None,
    }
}

/// Saved digests of the shapes of polyhedral grains; none in a state without such shapes, or of a version that did not save them.
pub(crate) fn digests_of_shapes(state: &State) -> &[u64] {
    match state.get(SHAPES) {
        Some(Column::U64(digests)) => digests,
        _ => &[],
    }
}

/// Number of saved fluid particles.
pub(crate) fn particles_of_fluid(state: &State) -> usize {
    let kinds = words(state, "fluid/kind").unwrap_or_default();
    kinds.iter().filter(|&&kind| kind & WALL == 0).count()
}

/// Contact history, with zeros for values that this kind of contact does not have.
pub(crate) fn padded(record: &[f64]) -> [f64; EXTENDED_HISTORY_STRIDE] {
    std::array::from_fn(|c| record.get(c).copied().unwrap_or(0.0))
}
