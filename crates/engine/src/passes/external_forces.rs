//! Loads that a program gives to single grains, between two steps.

use crate::bodies::Moving;
use crate::checkpoint::words;
use crate::fields::GIVEN_LOAD;
use crate::loads::{GivenLoad, LatelyLoaded};
use crate::populations::Populations;
use crate::state::{Column, Sections, State};
use seixo_laws::Vector3;
use seixo_laws::motion::kinetic_energy;
use seixo_sweeps::layout::{RECORD, add, load, store};
use std::collections::BTreeSet;

/// Sections of a checkpoint: the step of the latest change, and the ids of the grains that were given loads then and in the step before.
const LATELY: [&str; 3] = ["external/step", "external/now", "external/before"];

impl Populations {
    /// Gives grains loads from this time on, in place of those that they were given before. There is one load for each grain, in the order of their ids.
    ///
    /// A load that begins now acts in the second half of the kick at this time, so the velocity at this time is kept. That of a grain that was given a
    /// load in the step before is the next sample of a load that changes all the time. It acts in the whole kick, as contact forces do: otherwise it
    /// would come half a step late.
    pub(crate) fn give_loads(&mut self, given: &[GivenLoad]) {
        let fields = &mut self.grains.fields;
        fields.given_load.resize(fields.len() * GIVEN_LOAD, 0.0);
        self.loads.follow(&self.grains.fields);
        self.loads.lately.go_to(self.context.steps);
        let (mut next, mut begun) = (Vec::new(), Vec::new());
        for (i, id) in self.grains.fields.id.iter().enumerate() {
            if let Ok(k) = given.binary_search_by_key(id, |load| load.id) {
                let sort = if self.loads.lately.includes(*id) { &mut next } else { &mut begun };
                sort.push((i, given[k]));
            }
        }
        self.change_prescribed(|populations| {
            populations.go_on_with_loads(&next);
            populations.begin_loads(&begun);
        });
        self.loads.lately.note(given.iter().map(|load| load.id));
    }

    /// Ends all loads that were given to single grains.
    pub(crate) fn end_given_loads(&mut self) {
        let end = |&id: &u32| GivenLoad {
            id,
            force: [0.0; 3],
            torque: Some([0.0; 3]),
        };
        let mut given: Vec<GivenLoad> = self.grains.fields.id.iter().map(end).collect();
        given.sort_unstable_by_key(|load| load.id);
        self.give_loads(&given);
        self.grains.fields.given_load = Vec::new();
        self.grains.disabled.fields.given_load = Vec::new();
        self.loads.follow(&self.grains.fields);
        self.loads.lately = LatelyLoaded::default();
    }

    /// Replaces loads by their next samples. Velocities half a step back are kept, so those at this time change; this is work of the loads in the last
    /// step.
    fn go_on_with_loads(&mut self, given: &[(usize, GivenLoad)]) {
        let bodies = self.bodies_under(given);
        let before = self.energy_of_motion(given, &bodies);
        given.iter().for_each(|(i, load)| self.replace_given_load(*i, load));
        let now = self.energy_of_motion(given, &bodies);
        self.ledger.work.wall += now - before;
    }

    /// Replaces loads from this time on; velocities at this time are kept.
    fn begin_loads(&mut self, given: &[(usize, GivenLoad)]) {
        let stepping = self.context.stepping;
        let bodies = self.bodies_under(given).into_iter();
        let bodies: Vec<(usize, Moving)> = bodies.map(|b| (b, self.bodies.moving(b, &self.grains.fields, &stepping))).collect();
        let free: Vec<usize> = given.iter().map(|(i, _)| *i).filter(|&i| self.body_of(i).is_none()).collect();
        let velocities: Vec<(Vector3<f64>, Vector3<f64>)> = free.iter().map(|&i| self.velocities(i, &[])).collect();
        let rates = self.second_derivatives(&free);
        given.iter().for_each(|(i, load)| self.replace_given_load(*i, load));
        for (&i, (velocity, spin)) in free.iter().zip(&velocities) {
            store(&mut self.grains.fields.half_velocity, 3 * i, velocity);
            if self.context.materials.has_friction {
                store(&mut self.grains.fields.half_spin, 3 * i, spin);
            }
        }
        self.set_half_step_velocities(free.iter().copied());
        self.shift_second_derivatives(&free, &rates);
        for (b, moving) in &bodies {
            self.bodies.go_on_from(*b, moving, &self.grains.fields, &stepping);
        }
    }

    /// Bodies that carry some of these grains.
    fn bodies_under(&self, given: &[(usize, GivenLoad)]) -> BTreeSet<usize> {
        given.iter().filter_map(|(i, _)| self.body_of(*i)).collect()
    }

    /// Kinetic and rotational energy at this time of those of these grains that are free, and of these bodies \[J\].
    fn energy_of_motion(&self, given: &[(usize, GivenLoad)], bodies: &BTreeSet<usize>) -> f64 {
        let free = given.iter().map(|(i, _)| *i).filter(|&i| self.body_of(i).is_none());
        let of_grains = free.fold(0.0, |sum, i| {
            let (velocity, spin) = self.velocities(i, &[]);
            let mass = self.grains.fields.velocity[i * RECORD + 3];
            sum + kinetic_energy(mass, &velocity) + self.rotation_of(i, &spin).0
        });
        bodies.iter().fold(of_grains, |sum, &b| {
            let [kinetic, rotational, _] = self.energies_of_body(b);
            sum + kinetic + rotational
        })
    }

    /// Replaces the given load of grain i, and corrects the current force and torque on it.
    fn replace_given_load(&mut self, i: usize, given: &GivenLoad) {
        let fields = &mut self.grains.fields;
        let own = &mut fields.given_load[i * GIVEN_LOAD..][..GIVEN_LOAD];
        let before = [load::<f64>(own, 0), load::<f64>(own, 3)];
        own[..3].copy_from_slice(&given.force);
        if let Some(torque) = &given.torque {
            own[3..].copy_from_slice(torque);
        }
        let [force, torque] = [load::<f64>(own, 0).minus(&before[0]), load::<f64>(own, 3).minus(&before[1])];
        add(&mut fields.force, i * RECORD, &force);
        if !fields.torque.is_empty() {
            add(&mut fields.torque, i * RECORD, &torque);
        }
    }

    /// Saves which grains were given loads lately, as far as it matters for changes at this time or later.
    pub(crate) fn save_lately_loaded(&self, to: &mut dyn Sections) {
        let lately = &self.loads.lately;
        let is_over = self.context.steps > lately.step + 1;
        if is_over || (lately.now.is_empty() && lately.before.is_empty()) {
            return;
        }
        to.put(LATELY[0], Column::U64(vec![lately.step]));
        to.put(LATELY[1], Column::U32(lately.now.clone()));
        to.put(LATELY[2], Column::U32(lately.before.clone()));
    }

    /// Restores which grains were given loads lately.
    pub(crate) fn restore_lately_loaded(&mut self, state: &State) {
        let Some(Column::U64(step)) = state.get(LATELY[0]) else { return };
        if let (&[step], Ok(now), Ok(before)) = (step.as_slice(), words(state, LATELY[1]), words(state, LATELY[2])) {
            self.loads.lately = LatelyLoaded {
                step,
                before: before.to_vec(),
                now: now.to_vec(),
            };
        }
    }
}
