//! Saving a simulation and going on from what was saved, bit for bit as if it had never stopped.
//!
//! Lists are not saved: they follow from the order of the grains and their reference positions, which are.

use crate::bodies::Bodies;
use crate::bonds::Network;
use crate::events::Change;
use crate::fields::Fields;
use crate::guard::Stop;
use crate::measure::Work;
use crate::place::of_partner;
use crate::placement::placed;
use crate::refusal::Refusal;
use crate::search::Pairs;
use crate::simulation::Simulation;
use crate::state::{Column, Sections, State};
use crate::walls::ended_ways;
use crate::world::{Settings, World};
use seixo_sweeps::contact::Tally;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::views::{COMPOUND, ELEMENT, RECORD, TOUCH, remembered};

/// Sections of the work of sliding on walls that wear: of each element, of entries of the list, and which those are by grain and element.
pub(crate) const WEAR: [&str; 3] = ["walls/wear", "walls/wear_since_listed", "walls/wearing"];

pub(crate) fn misfit(what: &str) -> Refusal {
    Refusal::State { what: what.into() }
}

pub(crate) fn numbers<'a>(state: &'a State, name: &str, len: Option<usize>) -> Result<&'a [f64], Refusal> {
    match state.get(name) {
        Some(Column::F64(values)) if len.is_none_or(|len| values.len() == len) => Ok(values),
        _ => Err(misfit(&format!("section {name} is missing or of the wrong size"))),
    }
}

fn words<'a>(state: &'a State, name: &str) -> Result<&'a [u32], Refusal> {
    match state.get(name) {
        Some(Column::U32(values)) => Ok(values),
        _ => Err(misfit(&format!("section {name} is missing"))),
    }
}

/// What was booked of contacts, as [`Simulation::save_books`] told it.
pub(crate) fn books(state: &State) -> Result<(Work, Tally<f64>), Refusal> {
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
    let last = Tally {
        normal_power,
        tangential_power,
        damping_power,
        wall_power,
        excess,
    };
    Ok((work, last))
}

/// How many particles of fluid were saved.
fn particles_of_fluid(state: &State) -> usize {
    let kinds = words(state, "fluid/kind").unwrap_or_default();
    kinds.iter().filter(|&&kind| kind & WALL == 0).count()
}

/// What a contact remembers, with zeros for what this kind of contact does not.
pub(crate) fn padded(record: &[f64]) -> [f64; COMPOUND] {
    std::array::from_fn(|c| record.get(c).copied().unwrap_or(0.0))
}

impl Simulation {
    /// Everything that the continuation depends on.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn save(&mut self) -> Result<State, Stop> {
        let mut state = State::default();
        self.save_to(&mut state)?;
        Ok(state)
    }

    /// As [`Simulation::save`], section by section.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn save_to(&mut self, to: &mut dyn Sections) -> Result<(), Stop> {
        self.observe()?;
        self.fields.save(to);
        if self.carries {
            self.bodies.save(to);
        }
        if self.is_remote() {
            self.note_energies_of_bonds();
        }
        if let Some(network) = &mut self.bonds {
            network.save(to);
        }
        self.save_contacts(to)?;
        self.save_heat(to);
        if let Some(flow) = &self.flow {
            flow.save(to);
        }
        self.walls.save_servos(to);
        self.save_wear(to);
        to.put("clock/steps", Column::U64(vec![self.steps, self.rebuilds(), self.next_id]));
        to.put("clock/time_step", Column::F64(vec![self.stepping.dt, self.walls.listed_at]));
        self.save_books(to);
        Ok(())
    }

    /// What was booked of contacts.
    pub(crate) fn save_books(&self, to: &mut dyn Sections) {
        let Work {
            normal_damping,
            tangential,
            tangential_damping,
            local_damping,
            wall,
            left_domain,
            inserted,
            initial,
        } = self.work;
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
        let last = &self.last_tally;
        let last = vec![
            last.normal_power,
            last.tangential_power,
            last.damping_power,
            last.wall_power,
            last.excess,
        ];
        to.put("ledger/last", Column::F64(last));
    }

    /// What contacts remember, by ids of grains and elements of walls.
    pub(crate) fn save_contacts(&mut self, to: &mut dyn Sections) -> Result<(), Stop> {
        // On a GPU each of two grains remembers for itself.
        let are_two = self.is_remote() || self.division.is_some() && self.gpu.is_some();
        self.save_memories(to, are_two)
    }

    /// What contacts remember, if `are_two` of either grain.
    pub(crate) fn save_memories(&mut self, to: &mut dyn Sections, are_two: bool) -> Result<(), Stop> {
        let kept = remembered(self.is_compound);
        let (mut pair, mut history, mut of_second) = (Vec::new(), Vec::new(), Vec::new());
        self.visit_touching(|simulation, i, j, of_i, of_j| {
            pair.extend([i, j].map(|place| simulation.fields.id[place as usize]));
            history.extend(&of_i[..kept]);
            if are_two {
                of_second.extend(&of_j[..kept]);
            }
        })?;
        if are_two {
            to.put("contacts/of_second", Column::F64(of_second));
        }
        to.put("contacts/pair", Column::U32(pair));
        to.put("contacts/history", Column::F64(history));
        let (mut touching, mut history, mut touches) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..self.fields.len() {
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                let touch = &self.walls.touches[k * TOUCH..][..TOUCH];
                if touch[7] > 0.0 {
                    touching.extend([self.fields.id[i], self.walls.list[k]]);
                    history.extend(&self.walls.history[k * kept..][..kept]);
                    touches.extend(touch);
                }
            }
        }
        to.put("walls/touching", Column::U32(touching));
        to.put("walls/history", Column::F64(history));
        to.put("walls/touches", Column::F64(touches));
        Ok(())
    }

    /// What grains did to walls that wear, if any do.
    pub(crate) fn save_wear(&self, to: &mut dyn Sections) {
        if !self.walls.wears() {
            return;
        }
        let work = &self.walls.work;
        let (mut wearing, mut since_listed) = (Vec::new(), Vec::new());
        for i in 0..self.fields.len() {
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                if work.by_entry[k] > 0.0 {
                    wearing.extend([self.fields.id[i], self.walls.list[k]]);
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

    /// Takes it back.
    fn give_back_wear(&mut self, state: &State) -> Result<(), Refusal> {
        if self.walls.wears() {
            let elements = self.walls.work.by_element.len();
            self.walls.work.by_element = numbers(state, WEAR[0], Some(elements))?.to_vec();
        }
        self.give_back_wear_since_listed(state, true)
    }

    /// Takes back what grains did to walls since the lists were made. Unless it is of `all`, what grains did that are not here is let go.
    pub(crate) fn give_back_wear_since_listed(&mut self, state: &State, all: bool) -> Result<(), Refusal> {
        if !self.walls.wears() {
            return Ok(());
        }
        let elements = self.walls.elements.len() / ELEMENT;
        let wearing = words(state, WEAR[2])?;
        let since_listed = numbers(state, WEAR[1], Some(wearing.len() / 2))?;
        let mut place: Vec<(u32, u32)> = self.fields.id.iter().copied().zip(0..).collect();
        place.sort_unstable();
        for (entry, &work) in wearing.chunks_exact(2).zip(since_listed) {
            let found = place.binary_search_by_key(&entry[0], |&(id, _)| id);
            match found.ok().map(|i| place[i].1 as usize).filter(|_| (entry[1] as usize) < elements) {
                Some(i) if self.is_copy(i) => {}
                Some(i) => self.walls.give_back_wear(i, entry[1], work),
                None if all => return Err(misfit("it holds wear by a grain or of a wall that is not there")),
                None => {}
            }
        }
        Ok(())
    }

    /// Goes on from a saved state of the same world and settings; the number of threads may differ.
    ///
    /// # Errors
    /// If the world cannot be simulated, or the state is of another world.
    pub fn restore(world: World, settings: Settings, state: &State) -> Result<Simulation, Refusal> {
        Simulation::restore_changed(world, settings, state, &[])
    }

    /// As [`Simulation::restore`], of a simulation whose surroundings were changed before it was saved: `past` holds what
    /// [`Simulation::change`] was called with, and the steps at which it was.
    ///
    /// # Errors
    /// As [`Simulation::restore`].
    pub fn restore_changed(
        mut world: World,
        settings: Settings,
        state: &State,
        past: &[(u64, Vec<Change>)],
    ) -> Result<Simulation, Refusal> {
        let fields = Fields::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let n = fields.len();
        let materials = world.materials.len() as u32;
        if fields.position.len() != n * RECORD || fields.material.iter().any(|&m| m >= materials) {
            return Err(misfit("its grains have other columns or materials"));
        }
        let again = |settings| Simulation::restore_changed(world.clone(), settings, state, past);
        let (settings, tried) = placed(settings, [n, particles_of_fluid(state)], again);
        let mut simulation = Simulation::prepare(&world, settings, fields)?;
        simulation.notices.extend(tried);
        let fluids = world.fluids.take();
        if simulation.frictional == simulation.fields.spin.is_empty() && n > 0 {
            return Err(misfit("one of the two has friction, the other has not"));
        }
        let mut changes = past.iter().flat_map(|(_, changes)| changes);
        simulation.carries |= changes.any(|change| matches!(change, Change::Hold { .. }));
        if simulation.carries {
            if simulation.fields.member.len() != n {
                return Err(misfit("its grains are of no rigid body, those of the scene are"));
            }
            simulation.bodies = Bodies::load(state, &simulation.fields.member, &world.grains.bodies)?;
        }
        if simulation.is_geared() && simulation.fields.ways.is_empty() && n > 0 {
            return Err(misfit("its grains were not moved by Gear's method"));
        }
        if !world.bonds.is_empty() {
            if simulation.fields.turn.len() != n * RECORD {
                return Err(misfit("its grains have no orientations, those of the scene do"));
            }
            simulation.bonds = Some(Box::new(Network::load(&world, state)?));
        }
        let [dt, listed_at] = *numbers(state, "clock/time_step", Some(2))? else {
            unreachable!("the length was checked")
        };
        if dt != simulation.stepping.dt {
            return Err(misfit(&format!(
                "its time step is {dt:e} s, the scene's is {:e} s",
                simulation.stepping.dt
            )));
        }
        let Some(Column::U64(clock)) = state.get("clock/steps") else {
            return Err(misfit("section clock/steps is missing"));
        };
        let &[steps, rebuilds, next_id] = clock.as_slice() else {
            return Err(misfit("section clock/steps has the wrong size"));
        };

        simulation.tune_servos();
        let mut ways = ended_ways(state);
        for (step, changes) in past {
            let then = *step as f64 * dt;
            simulation.walls.place(then, true);
            for change in changes {
                simulation.walls.recall_servo(change, &mut ways)?;
                simulation.change_surroundings(std::slice::from_ref(change), then)?;
            }
            simulation.switch_again(changes, then, state)?;
        }
        simulation.walls.restore_servos(state)?;
        simulation.steps = steps;
        simulation.list_from_references(listed_at);
        simulation.rebuilds = rebuilds;
        simulation.next_id = next_id;
        simulation.give_back_histories(state, true)?;
        simulation.give_back_wear(state)?;
        (simulation.work, simulation.last_tally) = books(state)?;
        simulation.restore_heat(state)?;
        simulation.restore_fluids(fluids, state)?;
        simulation.go_where_asked()?;
        Ok(simulation)
    }

    /// Makes the lists that were made last, at this time \[s\], from where grains and walls were then.
    pub(crate) fn list_from_references(&mut self, listed_at: f64) {
        let (steps, rebuilds) = (self.steps, self.rebuilds);
        // Centers of bodies that passed periodic sides since are put back, and then out again: that is no work.
        let books = (self.work, self.bodies.booked);
        let (now, centers) = (self.fields.position.clone(), self.bodies.center.clone());
        let servos = self.walls.servo_state();
        let references = self.fields.reference.chunks_exact(3);
        for (center, reference) in self.fields.position.chunks_exact_mut(RECORD).zip(references) {
            center[..3].copy_from_slice(reference);
        }
        self.walls.set_servos(&servos, true);
        self.walls.place(listed_at, true);
        self.steps = (listed_at / self.stepping.dt).round() as u64;
        self.renew_lists();
        // The order is that of then, but where a GPU whose coordinates have fewer digits put a grain into the next cell.
        let records = self.cells.old_of.iter().flat_map(|&i| &now[i as usize * RECORD..][..RECORD]);
        self.fields.position = records.copied().collect();
        self.bodies.center = centers;
        (self.steps, self.rebuilds) = (steps, rebuilds);
        (self.work, self.bodies.booked) = books;
        self.walls.listed_at = listed_at;
        self.walls.set_servos(&servos, false);
        self.walls.place(self.time(), true);
        self.place_sides();
    }

    /// Forgets what contacts remember, with their lists.
    pub(crate) fn forget_contacts(&mut self) {
        (self.pairs, self.old_pairs) = (Pairs::default(), Pairs::default());
        self.of_second.clear();
        self.walls.forget();
    }

    /// Gives contacts back what they remember, as [`Simulation::save_contacts`] told it, at this step. Unless it is of `all`, what grains
    /// and walls remember that are no longer there is let go.
    pub(crate) fn give_back_histories(&mut self, state: &State, all: bool) -> Result<(), Refusal> {
        let n = self.fields.len();
        let mut place: Vec<(u32, u32)> = self.fields.id.iter().copied().zip(0..n as u32).collect();
        place.sort_unstable();
        let place_of = |id: u32| {
            let found = place.binary_search_by_key(&id, |&(id, _)| id).ok()?;
            Some(place[found].1 as usize)
        };
        let entry_of =
            |row: &[u32], list: &[u32], i: usize, wanted: u32| (row[i] as usize..row[i + 1] as usize).find(|&k| list[k] == wanted);
        let unknown = || misfit("it holds a contact that the positions do not give");
        let gone = || if all { Err(unknown()) } else { Ok(()) };

        let pair = words(state, "contacts/pair")?;
        let kept = remembered(self.is_compound);
        let history = numbers(state, "contacts/history", Some(pair.len() / 2 * kept))?;
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
            // A pair inside a part stands in the row of either. Copies of grains of other domains have no rows: there, each remembers for itself.
            let in_second = if self.is_copy(i) { of_j } else { of_partner(&of_i) };
            let mut is_listed = false;
            for (first, second, record) in [(i, j, of_i), (j, i, in_second)] {
                if let Some(k) = entry_of(&self.pairs.row, &self.pairs.neighbors, first, second as u32) {
                    self.pairs.history[k * kept..][..kept].copy_from_slice(&record[..kept]);
                    is_listed = true;
                }
            }
            // What is held from now on lets go of what it touches among its like.
            let has_row = ![i, j].iter().all(|&end| self.is_copy(end));
            if !is_listed && has_row && (all || !self.never_touch(i, j)) {
                return Err(unknown());
            }
            if known.is_some() {
                self.of_second.push((i as u32, j as u32, of_j));
            }
        }
        self.of_second.sort_unstable_by_key(|&(i, j, _)| (i, j));
        let touching = words(state, "walls/touching")?;
        let history = numbers(state, "walls/history", Some(touching.len() / 2 * kept))?;
        let touches = numbers(state, "walls/touches", Some(touching.len() * 4))?;
        let records = history.chunks_exact(kept).zip(touches.chunks_exact(TOUCH));
        for (entry, (record, touch)) in touching.chunks_exact(2).zip(records) {
            let is_kept = |&i: &usize| all || self.walls.is_there(entry[1]) && !self.is_held(i) && !self.is_copy(i);
            let Some(i) = place_of(entry[0]).filter(is_kept) else {
                gone()?;
                continue;
            };
            let k = self.walls.entry_of(i, entry[1]).ok_or_else(unknown)?;
            self.walls.history[k * kept..][..kept].copy_from_slice(record);
            self.walls.touches[k * TOUCH..][..TOUCH].copy_from_slice(touch);
        }
        Ok(())
    }
}
