//! What a domain saves, and what it restores.

use crate::checkpoint::{GIVEN_MASSES, WEAR, given_masses, misfit, numbers, padded, words};
use crate::grains::DisabledGrains;
use crate::measure::Work;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::{Pairs, of_partner};
use crate::state::{Column, Sections, State};
use seixo_sweeps::layout::{ELEMENT, RECORD, WALL_CONTACT, history_stride};
use std::collections::HashSet;

impl Populations {
    /// Disabled grains of a checkpoint, whose bonds are in the bond network.
    pub(crate) fn disabled_of(&self, state: &State) -> Result<DisabledGrains, WorldError> {
        let disabled = DisabledGrains::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let (fields, bonds) = (&disabled.fields, self.bonds.as_ref().map_or(0, |network| network.len()));
        let is_right = fields.position.len() == fields.len() * RECORD
            && fields.group.len() == fields.len()
            && fields.material.iter().all(|&material| material < self.context.materials.count)
            && disabled.bonds.iter().all(|&bond| (bond as usize) < bonds);
        if is_right {
            Ok(disabled)
        } else {
            Err(misfit("its disabled grains have other columns, materials or bonds"))
        }
    }

    /// Saves the given masses of the grains that are here or disabled, if there are any.
    pub(crate) fn save_given_masses(&self, to: &mut dyn Sections) {
        if self.grains.given_masses.is_empty() {
            return;
        }
        let ids = self.grains.fields.id.iter().chain(&self.grains.disabled.fields.id);
        let there: HashSet<u32> = ids.copied().collect();
        let kept = self.grains.given_masses.iter().filter(|(id, _)| there.contains(id));
        let (ids, masses): (Vec<u32>, Vec<f64>) = kept.unzip();
        if !ids.is_empty() {
            to.put(GIVEN_MASSES[0], Column::U32(ids));
            to.put(GIVEN_MASSES[1], Column::F64(masses));
        }
    }

    /// Restores given masses; without them, those of the world remain.
    pub(crate) fn restore_given_masses(&mut self, state: &State) {
        if let Some(masses) = given_masses(state) {
            self.grains.given_masses = masses;
        }
    }

    /// Saves the ledger of the contacts.
    pub(crate) fn save_ledger(&self, to: &mut dyn Sections) {
        let Work {
            normal_damping,
            tangential,
            tangential_damping,
            local_damping,
            wall,
            left_domain,
            inserted,
            initial,
        } = self.ledger.work;
        let work = vec![
            normal_damping,
            tangential,
            tangential_damping,
            local_damping,
            wall,
            left_domain,
            inserted,
            initial,
        ];
        to.put("ledger/work", Column::F64(work));
        let last = &self.ledger.last_power_sums;
        let last = vec![
            last.normal_power,
            last.tangential_power,
            last.damping_power,
            last.wall_power,
            last.excess,
        ];
        to.put("ledger/last", Column::F64(last));
    }

    /// Saves the contact histories of grains and walls, by ids of grains and elements of walls.
    pub(crate) fn save_wall_histories(&self, to: &mut dyn Sections) {
        let kept = history_stride(self.context.materials.are_extended);
        let (mut touching, mut history, mut wall_contacts) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..self.grains.fields.len() {
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                let touch = &self.walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT];
                if touch[7] > 0.0 {
                    touching.extend([self.grains.fields.id[i], self.walls.list[k]]);
                    history.extend(&self.walls.history[k * kept..][..kept]);
                    wall_contacts.extend(touch);
                }
            }
        }
        to.put("walls/touching", Column::U32(touching));
        to.put("walls/history", Column::F64(history));
        to.put("walls/touches", Column::F64(wall_contacts));
    }

    /// Saves the sliding work on walls that wear.
    pub(crate) fn save_wear(&self, to: &mut dyn Sections) {
        if !self.walls.wears() {
            return;
        }
        let work = &self.walls.work;
        let (mut wearing, mut since_listed) = (Vec::new(), Vec::new());
        for i in 0..self.grains.fields.len() {
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                if work.by_entry[k] > 0.0 {
                    wearing.extend([self.grains.fields.id[i], self.walls.list[k]]);
                    since_listed.push(work.by_entry[k]);
                }
            }
        }
        let columns = [
            Column::F64(work.by_element.clone()),
            Column::F64(since_listed),
            Column::U32(wearing),
        ];
        for (name, column) in WEAR.into_iter().zip(columns) {
            to.put(name, column);
        }
    }

    /// Restores the sliding work on walls.
    pub(crate) fn restore_wear(&mut self, state: &State) -> Result<(), WorldError> {
        if self.walls.wears() {
            let elements = self.walls.work.by_element.len();
            self.walls.work.by_element = numbers(state, WEAR[0], Some(elements))?.to_vec();
        }
        self.restore_wear_since_rebuild(state, true)
    }

    /// Restores the sliding work on walls since the last rebuild. Without `all`, work of grains that are not here is skipped.
    pub(crate) fn restore_wear_since_rebuild(&mut self, state: &State, all: bool) -> Result<(), WorldError> {
        if !self.walls.wears() {
            return Ok(());
        }
        let elements = self.walls.elements.len() / ELEMENT;
        let wearing = words(state, WEAR[2])?;
        let since_listed = numbers(state, WEAR[1], Some(wearing.len() / 2))?;
        let mut place: Vec<(u32, u32)> = self.grains.fields.id.iter().copied().zip(0..).collect();
        place.sort_unstable();
        for (entry, &work) in wearing.chunks_exact(2).zip(since_listed) {
            let found = place.binary_search_by_key(&entry[0], |&(id, _)| id);
            match found.ok().map(|i| place[i].1 as usize).filter(|_| (entry[1] as usize) < elements) {
                Some(i) if self.is_ghost(i) => {}
                Some(i) => self.walls.restore_wear(i, entry[1], work),
                None if all => return Err(misfit("it holds wear by a grain or of a wall that is not there")),
                None => {}
            }
        }
        Ok(())
    }

    /// Rebuilds the last lists, of this time \[s\], from the positions of grains and walls at that time.
    pub(crate) fn list_from_references(&mut self, listed_at: f64) {
        let (steps, rebuilds) = (self.context.steps, self.grains.rebuilds);
        // Centers of bodies that have passed periodic sides since are wrapped and then restored, which is no work.
        let ledger = (self.ledger.work, self.bodies.ledger);
        let (now, centers) = (self.grains.fields.position.clone(), self.bodies.center.clone());
        let servos = self.walls.servo_state();
        let sides = self.context.stepping.sides;
        if self.cell.is_some() {
            self.context.stepping.sides.length = self.grains.cells.sides.length;
        }
        let references = self.grains.fields.reference.chunks_exact(3);
        for (center, reference) in self.grains.fields.position.chunks_exact_mut(RECORD).zip(references) {
            center[..3].copy_from_slice(reference);
        }
        self.walls.set_servos(&servos, true);
        self.walls.place(listed_at, true);
        self.context.steps = (listed_at / self.context.stepping.dt).round() as u64;
        // Grains and bodies that left since stay until the next rebuild.
        self.list_grains(None);
        // The order is the same as then, unless the coordinates of a GPU, with fewer digits, put a grain into the next cell.
        let records = self.grains.cells.old_of.iter().flat_map(|&i| &now[i as usize * RECORD..][..RECORD]);
        self.grains.fields.position = records.copied().collect();
        self.bodies.center = centers;
        (self.context.steps, self.grains.rebuilds) = (steps, rebuilds);
        (self.ledger.work, self.bodies.ledger) = ledger;
        self.walls.listed_at = listed_at;
        self.walls.set_servos(&servos, false);
        self.walls.place(self.context.time(), true);
        if self.cell.is_some() {
            self.context.stepping.sides = sides;
        }
        self.place_sides();
    }

    /// Clears contact histories and their lists.
    pub(crate) fn forget_contacts(&mut self) {
        self.grains.pairs = Pairs::default();
        self.grains.of_second.clear();
        if let Some(polyhedra) = &mut self.polyhedra {
            polyhedra.forget();
        }
        self.walls.forget();
    }

    /// Indices of all grains in the order of their ids.
    pub(crate) fn order_by_id(&self) -> Vec<u32> {
        order_of(&self.grains.fields.id)
    }

    /// A function that finds the indices of these grains by their ids.
    pub(crate) fn index_by_id(&self) -> impl Fn(u32) -> u32 + use<> {
        let places = PlacesById::of(&self.grains.fields.id);
        move |id| places.place(id).map_or(NOWHERE, |place| place as u32)
    }

    /// Restores contact histories at this step, as [`crate::Simulation::save_contacts`] saved them. Without `all`, histories of grains and walls that no
    /// longer exist are skipped.
    pub(crate) fn restore_contact_histories(&mut self, state: &State, all: bool) -> Result<(), WorldError> {
        self.restore_histories_of_domains(std::slice::from_ref(state), all)
    }

    /// Like [`Populations::restore_contact_histories`], as several domains saved them: a contact across a border is in the states of both owners.
    pub(crate) fn restore_histories_of_domains(&mut self, states: &[State], all: bool) -> Result<(), WorldError> {
        states.iter().try_for_each(|state| self.restore_histories_in_rows(state, all))?;
        self.restore_polyhedra(states, all)
    }

    /// Restores the histories of the contacts that are in rows of grains: those of spheres, and touches of all grains with walls.
    pub(crate) fn restore_histories_in_rows(&mut self, state: &State, all: bool) -> Result<(), WorldError> {
        let places = PlacesById::of(&self.grains.fields.id);
        let place_of = |id: u32| places.place(id);
        let entry_of =
            |row: &[u32], list: &[u32], i: usize, wanted: u32| (row[i] as usize..row[i + 1] as usize).find(|&k| list[k] == wanted);
        let unknown = || misfit("it holds a contact that the positions do not give");
        let gone = || if all { Err(unknown()) } else { Ok(()) };

        let pair = words(state, "contacts/pair")?;
        let kept = history_stride(self.context.materials.are_extended);
        let history = numbers(state, "contacts/history", Some(pair.len() / 2 * kept))?;
        // Smooth grains may have rows, too, but no contact history.
        let has_histories = self.context.materials.has_friction;
        let mut histories = if has_histories {
            self.grains.pairs.histories(kept)
        } else {
            Vec::new()
        };
        let of_second = match state.get("contacts/of_second") {
            Some(Column::F64(of_second)) => &of_second[..],
            _ => &[],
        };
        for (k, (ids, record)) in pair.chunks_exact(2).zip(history.chunks_exact(kept)).enumerate() {
            let (Some(i), Some(j)) = (place_of(ids[0]), place_of(ids[1])) else {
                gone()?;
                continue;
            };
            let of_first = padded(record);
            let known = of_second.get(k * kept..(k + 1) * kept).map(padded);
            let both = [(i, of_first), (j, known.unwrap_or_else(|| of_partner(&of_first)))];
            let [(i, of_i), (j, of_j)] = if i < j { both } else { [both[1], both[0]] };
            // A pair inside a part may be in the row of either grain. Ghost particles have no rows: their own subdomain stores their history.
            let in_second = if self.is_ghost(i) { of_j } else { of_partner(&of_i) };
            let mut is_listed = false;
            for (first, second, record) in [(i, j, of_i), (j, i, in_second)] {
                if let Some(k) = entry_of(&self.grains.pairs.row, &self.grains.pairs.neighbors, first, second as u32) {
                    histories[k * kept..][..kept].copy_from_slice(&record[..kept]);
                    is_listed = true;
                }
            }
            // Contacts between bodies with prescribed motion are released.
            let has_row = ![i, j].iter().all(|&end| self.is_ghost(end));
            if !is_listed && has_row && (all || !self.excluded_from_contact(i, j)) {
                return Err(unknown());
            }
            if known.is_some() {
                self.grains.of_second.push((i as u32, j as u32, of_j));
            }
        }
        // Keys are sorted alone, as a record is many times as long.
        self.grains.of_second.sort_by_cached_key(|&(i, j, _)| (i, j));
        if has_histories {
            self.grains.pairs.set_histories(histories, kept);
        }
        let touching = words(state, "walls/touching")?;
        let history = numbers(state, "walls/history", Some(touching.len() / 2 * kept))?;
        let wall_contacts = numbers(state, "walls/touches", Some(touching.len() * 4))?;
        let records = history.chunks_exact(kept).zip(wall_contacts.chunks_exact(WALL_CONTACT));
        for (entry, (record, touch)) in touching.chunks_exact(2).zip(records) {
            let is_kept = |&i: &usize| all || self.walls.is_there(entry[1]) && !self.is_prescribed(i) && !self.is_ghost(i);
            let Some(i) = place_of(entry[0]).filter(is_kept) else {
                gone()?;
                continue;
            };
            // The force of a mesh on a polyhedral grain is at the first of its triangles in the row, which another list may leave out.
            let of_polyhedron = self.polyhedra.as_ref().and_then(|polyhedra| {
                let ids = [entry[0], polyhedra.meshes.first_of(entry[1])];
                polyhedra.at_walls.entry_of(ids)
            });
            let listed = of_polyhedron.or_else(|| self.walls.entry_of(i, entry[1]));
            let k = listed.ok_or_else(unknown)?;
            self.walls.history[k * kept..][..kept].copy_from_slice(record);
            self.walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT].copy_from_slice(touch);
        }
        Ok(())
    }
}

/// Ids for each grain up to which a table of all ids is worth its memory.
const MOST_IDS: usize = 16;
/// What such a table holds for an id without a grain.
const NOWHERE: u32 = u32::MAX;

/// Indices in the order of these ids.
pub(crate) fn order_of(ids: &[u32]) -> Vec<u32> {
    PlacesById::of(ids).in_order()
}

/// Indices of grains by their ids. A table of all ids is found in one step; where few ids are left of many, there are pairs of id and index in order.
enum PlacesById {
    Table(Vec<u32>),
    Pairs(Vec<(u32, u32)>),
}

impl PlacesById {
    /// Of grains with these ids.
    fn of(ids: &[u32]) -> PlacesById {
        let end = ids.iter().max().map_or(0, |&last| last as usize + 1);
        let pairs = ids.iter().copied().zip(0..);
        if end > MOST_IDS * ids.len() {
            let mut pairs: Vec<(u32, u32)> = pairs.collect();
            pairs.sort_unstable();
            return PlacesById::Pairs(pairs);
        }
        let mut table = vec![NOWHERE; end];
        pairs.for_each(|(id, place)| table[id as usize] = place);
        PlacesById::Table(table)
    }

    /// All indices in the order of the ids.
    fn in_order(self) -> Vec<u32> {
        match self {
            PlacesById::Table(table) => table.into_iter().filter(|&place| place != NOWHERE).collect(),
            PlacesById::Pairs(pairs) => pairs.into_iter().map(|(_, place)| place).collect(),
        }
    }

    /// The index of the grain with this id, if there is one.
    fn place(&self, id: u32) -> Option<usize> {
        let place = match self {
            PlacesById::Table(table) => *table.get(id as usize).filter(|place| **place != NOWHERE)?,
            PlacesById::Pairs(pairs) => pairs[pairs.binary_search_by_key(&id, |&(id, _)| id).ok()?].1,
        };
        Some(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grains_are_found_by_ids_that_are_dense_or_sparse() {
        for ids in [&[3, 0, 2][..], &[3000, 0, 2], &[u32::MAX, 7], &[]] {
            let places = PlacesById::of(ids);
            for (place, &id) in ids.iter().enumerate() {
                assert_eq!(places.place(id), Some(place), "{ids:?}");
            }
            assert_eq!([1, 4, 2999, u32::MAX - 1].map(|id| places.place(id)), [None; 4], "{ids:?}");
        }
        let orders: [(&[u32], &[u32]); 4] = [
            (&[3, 0, 2], &[1, 2, 0]),
            (&[3000, 0, 2], &[1, 2, 0]),
            (&[u32::MAX, 7], &[1, 0]),
            (&[], &[]),
        ];
        for (ids, order) in orders {
            assert_eq!(PlacesById::of(ids).in_order(), order, "{ids:?}");
        }
        assert!(matches!(PlacesById::of(&[3, 0, 2]), PlacesById::Table(_)));
        assert!(matches!(PlacesById::of(&[u32::MAX, 7]), PlacesById::Pairs(_)));
    }
}
