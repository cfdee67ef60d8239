//! Contact histories of polyhedral grains in checkpoints, and across changes between two steps.

use crate::checkpoint::{misfit, numbers, words};
use crate::polyhedra::{KeptContacts, NO_LOAD, PAIRS_OF_PART, PairOfGrains, SLOTS, ShapePairs};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::array;
use seixo_laws::Vector3;
use seixo_sweeps::contact::{PowerSums, Stored};
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::shape_pairs::PairLoad;

/// Sections of the pairs in contact: ids of both grains, and the number of contacts.
const PAIRS: [&str; 2] = ["polyhedra/pair", "polyhedra/contacts"];
/// Sections of their contacts: keys, and histories.
const CONTACTS: [&str; 2] = ["polyhedra/key", "polyhedra/history"];
/// Section of what each of these pairs did in the last step, which readers see before the next one.
const LOADS: &str = "polyhedra/load";
/// Numbers of the latter: force and torque on the first grain, direction, energies, excess of the overlap.
const OF_LOAD: usize = 12;

fn numbers_of(load: &PairLoad<f64>) -> [f64; OF_LOAD] {
    let ([a, b, c], [d, e, f], [g, h, i]) = (array(&load.force), array(&load.torque_i), array(&load.direction));
    let (stored, excess) = (&load.stored, load.powers.excess);
    [a, b, c, d, e, f, g, h, i, stored.normal, stored.tangential, excess]
}

fn load_of(record: &[f64; OF_LOAD], contacts: u32) -> PairLoad<f64> {
    let vector = |at: usize| -> Vector3<f64> { load(record, at) };
    PairLoad {
        force: vector(0),
        torque_i: vector(3),
        direction: vector(6),
        stored: Stored {
            normal: record[9],
            tangential: record[10],
        },
        powers: PowerSums {
            excess: record[11],
            ..NO_LOAD.powers
        },
        contacts,
        ..NO_LOAD
    }
}

impl Populations {
    /// Saves the contact histories of polyhedral grains, by ids.
    pub(crate) fn save_polyhedra(&self, to: &mut dyn Sections) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let (mut ids, mut counts, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let (mut histories, mut loads) = (Vec::new(), Vec::new());
        let pairs = &polyhedra.pairs;
        for (k, (pair, load)) in pairs.list.iter().zip(&pairs.loads).enumerate() {
            let (of_pair, springs) = pairs.contacts_of(k);
            if of_pair.is_empty() {
                continue;
            }
            ids.extend(pair.ids);
            counts.push(of_pair.len() as u32);
            keys.extend_from_slice(of_pair);
            histories.extend_from_slice(springs);
            loads.extend(numbers_of(load));
        }
        for (name, column) in PAIRS.into_iter().zip([ids, counts]) {
            to.put(name, Column::U32(column));
        }
        to.put(CONTACTS[0], Column::U32(keys));
        to.put(CONTACTS[1], Column::F64(histories));
        to.put(LOADS, Column::F64(loads));
    }

    /// Restores the contact histories of polyhedral grains in the present list. Without `all`, those of pairs that are no longer listed are skipped.
    pub(crate) fn restore_polyhedra(&mut self, state: &State, all: bool) -> Result<(), WorldError> {
        let Some(polyhedra) = &mut self.polyhedra else { return Ok(()) };
        let saved = saved_pairs(state)?;
        let present = &polyhedra.pairs.list;
        let is_listed = |pair: &PairOfGrains| present.binary_search_by_key(&pair.ids, |pair| pair.ids).is_ok();
        if all && !saved.list.iter().all(is_listed) {
            return Err(misfit("it holds a contact of polyhedral grains that the positions do not give"));
        }
        let places: Vec<[u32; 2]> = present.iter().map(|pair| pair.places).collect();
        polyhedra.pairs = saved;
        polyhedra.pairs.rebuild(&places, &self.grains.fields.id);
        Ok(())
    }

    /// Rejects restored grains with shapes that the world does not have, or without orientations.
    pub(crate) fn check_restored_shapes(&self, shapes: usize) -> Result<(), WorldError> {
        let fields = &self.grains.fields;
        let (n, most) = (fields.len(), fields.shape.iter().copied().max().unwrap_or(0));
        if most as usize > shapes || most > 0 && !self.has_polyhedra() {
            return Err(misfit("its grains have shapes that those of the scene do not have"));
        }
        let are_complete = fields.orientation.len() == n * RECORD && fields.angular_momentum.len() == n * 3;
        if most > 0 && !are_complete {
            return Err(misfit("its polyhedral grains have no orientations or angular momenta"));
        }
        Ok(())
    }
}

/// Saved pairs, sorted by ids as they were saved. Their grains have no places.
fn saved_pairs(state: &State) -> Result<ShapePairs, WorldError> {
    let (ids, counts) = (words(state, PAIRS[0])?.as_chunks::<2>().0, words(state, PAIRS[1])?);
    let keys = words(state, CONTACTS[0])?;
    let histories = numbers(state, CONTACTS[1], Some(keys.len() * RECORD))?;
    let loads = numbers(state, LOADS, Some(ids.len() * OF_LOAD))?.as_chunks::<OF_LOAD>().0;
    let total: usize = counts.iter().map(|&count| count as usize).sum();
    let are_few = counts.iter().all(|&count| count as usize <= SLOTS);
    if !are_few || counts.len() != ids.len() || total != keys.len() || !ids.is_sorted() {
        return Err(misfit("its contacts of polyhedral grains are incomplete"));
    }
    let mut saved = ShapePairs::default();
    let mut first = 0;
    for (k, (&ids, &count)) in ids.iter().zip(counts).enumerate() {
        let end = first + count as usize;
        saved.list.push(PairOfGrains { ids, places: [0; 2] });
        saved.loads.push(load_of(&loads[k], count));
        if k % PAIRS_OF_PART == 0 {
            saved.contacts.push(KeptContacts::default());
        }
        if let Some(part) = saved.contacts.last_mut() {
            part.push(&keys[first..end], &histories[first * RECORD..end * RECORD]);
        }
        first = end;
    }
    Ok(saved)
}
