//! Contact histories of polyhedral grains in checkpoints, across changes between two steps, and in simulations that start from another one.

use crate::checkpoint::{SHAPES, digests_of_shapes, misfit, numbers, words};
use crate::polyhedra::{AT_WALLS, ColumnNames, ContactColumns, NO_LOAD, OF_PAIRS, PairRecords, SLOTS};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{LoadNumbers, OF_LOAD, PolyhedralShape, SavedGrains, SavedShapeContacts, array, flaw_of_shapes};
use seixo_laws::Vector3;
use seixo_sweeps::contact::Stored;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::shape_pairs::PairLoad;
use seixo_sweeps::shape_walls::{NO_WALL_LOAD, ShapeWallLoad};

fn flat(vectors: [&Vector3<f64>; 3], stored: &Stored<f64>, [overlap, radius]: [f64; 2]) -> LoadNumbers {
    let [[a, b, c], [d, e, f], [g, h, i]] = vectors.map(array);
    [a, b, c, d, e, f, g, h, i, stored.normal, stored.tangential, overlap, radius]
}

fn vectors_of(record: &LoadNumbers) -> [Vector3<f64>; 3] {
    [0, 3, 6].map(|at| load(record, at))
}

fn stored_of(record: &LoadNumbers) -> Stored<f64> {
    Stored {
        normal: record[9],
        tangential: record[10],
    }
}

fn numbers_of_pair(load: &PairLoad<f64>) -> LoadNumbers {
    let sizes = [load.powers.excess, load.conducting_radius];
    flat([&load.force, &load.torque_i, &load.direction], &load.stored, sizes)
}

fn load_of_pair(record: &LoadNumbers, contacts: u32) -> PairLoad<f64> {
    let [force, torque_i, direction] = vectors_of(record);
    let mut restored = PairLoad {
        force,
        torque_i,
        direction,
        stored: stored_of(record),
        conducting_radius: record[12],
        contacts,
        ..NO_LOAD
    };
    restored.powers.excess = record[11];
    restored
}

fn numbers_at_wall(load: &ShapeWallLoad<f64, f64>) -> LoadNumbers {
    let sizes = [load.overlap, load.conducting_radius];
    flat([&load.force, &load.torque, &load.point], &load.stored, sizes)
}

fn load_at_wall(record: &LoadNumbers, contacts: u32) -> ShapeWallLoad<f64, f64> {
    let [force, torque, point] = vectors_of(record);
    ShapeWallLoad {
        force,
        torque,
        point,
        stored: stored_of(record),
        overlap: record[11],
        conducting_radius: record[12],
        contacts,
        ..NO_WALL_LOAD
    }
}

/// Largest difference of the overlaps of a contact with a wall, in radii of the bounding sphere, at which it is the same as before. Rounding of a
/// rotation is far below it.
const SAME_OVERLAP: f64 = 1e-6;

/// The same for the distance of the means of its contact points, whose weights change with the laws.
const SAME_PLACE: f64 = 1e-2;

/// Contacts of polyhedral grains with each other, and with walls, that a simulation saved.
pub(crate) fn saved_shape_contacts(state: &State) -> Result<[Vec<SavedShapeContacts>; 2], WorldError> {
    let of_list = |names: ColumnNames| -> Result<Vec<SavedShapeContacts>, WorldError> {
        if state.get(names[0]).is_none() {
            return Ok(Vec::new());
        }
        let saved = saved_records(state, names, |load: &LoadNumbers, _| *load)?;
        let contacts = |k: usize| {
            let (keys, histories) = saved.contacts_of(k);
            SavedShapeContacts {
                ids: saved.ids[k],
                keys: keys.to_vec(),
                histories: histories.to_vec(),
                load: saved.loads[k],
            }
        };
        Ok((0..saved.ids.len()).map(contacts).collect())
    };
    Ok([of_list(OF_PAIRS)?, of_list(AT_WALLS)?])
}

/// The present pairs, of which some have saved contacts; others keep what they have. All keep their near features, as shapes and scales are the same.
fn with_saved<'a, L: Copy>(
    present: &PairRecords<L>,
    saved: impl Fn(usize) -> Option<&'a SavedShapeContacts>,
    load_of: impl Fn(&LoadNumbers, u32) -> L,
) -> PairRecords<L> {
    let mut all = PairRecords::default();
    for (k, &ids) in present.ids.iter().enumerate() {
        if let Some(before) = saved(k) {
            let load = load_of(&before.load, before.keys.len() as u32);
            all.push(ids, load, &before.keys, &before.histories);
        } else {
            let (keys, histories) = present.contacts_of(k);
            all.push(ids, present.loads[k], keys, histories);
        }
    }
    (all.spare, all.features, all.power_sums) = (present.spare.clone(), present.features.clone(), present.power_sums.clone());
    all
}

impl Populations {
    /// Lets contacts of polyhedral grains go on as another simulation saved them. Contacts with walls go on where they are as they were; which walls
    /// these are does not matter.
    pub(crate) fn go_on_with_contacts_of_polyhedra(&mut self, saved: &SavedGrains) {
        let Some(polyhedra) = &mut self.polyhedra else { return };
        let position = &self.grains.fields.position;
        let (pairs, at_walls) = (&polyhedra.pairs.records, &polyhedra.at_walls);
        let of_pair = |k: usize| {
            let found = saved.shape_contacts.binary_search_by_key(&pairs.ids[k], |contacts| contacts.ids);
            found.ok().map(|at| &saved.shape_contacts[at])
        };
        let of_wall = |k: usize| {
            let (id, now) = (at_walls.records.ids[k][0], &at_walls.records.loads[k]);
            let scale = position[at_walls.places[k][0] as usize * RECORD + 3];
            let keys = at_walls.records.contacts_of(k).0;
            let first = saved.shape_wall_contacts.partition_point(|contacts| contacts.ids[0] < id);
            let mut of_grain = saved.shape_wall_contacts[first..]
                .iter()
                .take_while(|contacts| contacts.ids[0] == id);
            of_grain.find(|contacts| {
                let before = load_at_wall(&contacts.load, contacts.keys.len() as u32);
                contacts.keys == keys
                    && (before.overlap - now.overlap).abs() <= SAME_OVERLAP * scale
                    && before.point.minus(&now.point).length() <= SAME_PLACE * scale
            })
        };
        let pairs = with_saved(pairs, of_pair, load_of_pair);
        let at_walls = with_saved(&at_walls.records, of_wall, load_at_wall);
        (polyhedra.pairs.records, polyhedra.at_walls.records) = (pairs, at_walls);
    }

    /// Saves the contact histories of polyhedral grains, by ids.
    pub(crate) fn save_polyhedra(&self, to: &mut dyn Sections) {
        if let Some(polyhedra) = &self.polyhedra {
            save_records(&polyhedra.pairs.records, OF_PAIRS, numbers_of_pair, to);
            save_records(&polyhedra.at_walls.records, AT_WALLS, numbers_at_wall, to);
        }
    }

    /// Restores the contact histories of polyhedral grains in the present lists, from the states of one or more domains. Without `all`, those of pairs
    /// that are no longer listed are skipped.
    pub(crate) fn restore_polyhedra(&mut self, states: &[State], all: bool) -> Result<(), WorldError> {
        let Some(polyhedra) = &mut self.polyhedra else { return Ok(()) };
        let (pairs, at_walls) = (&mut polyhedra.pairs.records, &mut polyhedra.at_walls.records);
        *pairs = listed_as(pairs, saved_in_all(states, OF_PAIRS, load_of_pair)?, NO_LOAD, all)?;
        *at_walls = listed_as(at_walls, saved_in_all(states, AT_WALLS, load_at_wall)?, NO_WALL_LOAD, all)?;
        Ok(())
    }

    /// Saves digests of the shapes, if there are any: orientations and keys of contacts are those of their axes and features.
    pub(crate) fn save_shapes(&self, to: &mut dyn Sections) {
        if let Some(polyhedra) = &self.polyhedra {
            let digests = polyhedra.shapes.given.iter().map(PolyhedralShape::digest);
            to.put(SHAPES, Column::U64(digests.collect()));
        }
    }

    /// Rejects a state whose grains, also disabled ones, have shapes with other axes or features than these.
    pub(crate) fn check_saved_shapes(&self, state: &State, shapes: &[PolyhedralShape]) -> Result<(), WorldError> {
        let used = self.grains.fields.shape.iter().chain(&self.grains.disabled.fields.shape);
        flaw_of_shapes(used.copied(), digests_of_shapes(state), shapes).map_or(Ok(()), |flaw| Err(misfit(&flaw)))
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

fn save_records<L: Copy>(records: &PairRecords<L>, names: ColumnNames, numbers_of: impl Fn(&L) -> LoadNumbers, to: &mut dyn Sections) {
    let mut columns = ContactColumns::default();
    for (k, (ids, load)) in records.ids.iter().zip(&records.loads).enumerate() {
        let of_pair = records.contacts_of(k);
        if !of_pair.0.is_empty() {
            columns.push(ids, of_pair, &numbers_of(load));
        }
    }
    columns.put(names, to);
}

/// Saved pairs in contact of all domains. A pair across a border is in two of them.
fn saved_in_all<L: Copy>(
    states: &[State],
    names: ColumnNames,
    load_of: impl Fn(&LoadNumbers, u32) -> L,
) -> Result<PairRecords<L>, WorldError> {
    let saved: Result<Vec<_>, WorldError> = states.iter().map(|state| saved_records(state, names, &load_of)).collect();
    Ok(PairRecords::merged(saved?))
}

/// Saved pairs in contact.
fn saved_records<L: Copy>(
    state: &State,
    names: ColumnNames,
    load_of: impl Fn(&LoadNumbers, u32) -> L,
) -> Result<PairRecords<L>, WorldError> {
    let (ids, counts, keys) = (
        words(state, names[0])?.as_chunks::<2>().0,
        words(state, names[1])?,
        words(state, names[2])?,
    );
    let histories = numbers(state, names[3], Some(keys.len() * RECORD))?;
    let loads = numbers(state, names[4], Some(ids.len() * OF_LOAD))?;
    let loads: &[LoadNumbers] = loads.as_chunks().0;
    let total: usize = counts.iter().map(|&count| count as usize).sum();
    let are_few = counts.iter().all(|&count| count as usize <= SLOTS);
    if !are_few || counts.len() != ids.len() || total != keys.len() || keys.contains(&0) || !ids.is_sorted() {
        return Err(misfit("its contacts of polyhedral grains are incomplete"));
    }
    let mut saved = PairRecords::default();
    let mut first = 0;
    for (k, (&pair, &count)) in ids.iter().zip(counts).enumerate() {
        let end = first + count as usize;
        let load = load_of(&loads[k], count);
        saved.push(pair, load, &keys[first..end], &histories[first * RECORD..end * RECORD]);
        first = end;
    }
    Ok(saved)
}

/// Saved pairs as they are listed now; others have the load `none`. With `all`, each of them must be listed.
fn listed_as<L: Copy>(present: &PairRecords<L>, mut saved: PairRecords<L>, none: L, all: bool) -> Result<PairRecords<L>, WorldError> {
    let is_listed = |ids: &[u32; 2]| present.ids.binary_search(ids).is_ok();
    if all && !saved.ids.iter().all(is_listed) {
        return Err(misfit("it holds a contact of polyhedral grains that the positions do not give"));
    }
    saved.relist(present.ids.iter().copied(), none);
    Ok(saved)
}
