//! Fixes, releases and loads grains between two steps.

use crate::bodies::PRESCRIBED_BODIES;
use crate::checkpoint::misfit;
use crate::events::SurroundingsChange;
use crate::flow::check_motion;
use crate::group_constraints::ConstraintContext;
use crate::populations::Populations;
use crate::prescribed_motion::PRESCRIBED;
use crate::refusal::WorldError;
use crate::state::{Column, State};
use crate::time_step::check_speed_of_surface;
use crate::world::{Load, Solver, Wall, WallMotion};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, LOAD, orientation_at};
use seixo_sweeps::layout::{RECORD, load, store};
use std::collections::BTreeSet;

impl Populations {
    /// Rejects impossible changes of fixed or loaded grains, and motions that walls cannot get, before anything is changed.
    pub(crate) fn check_switches(&self, changes: &[SurroundingsChange]) -> Result<(), WorldError> {
        for change in changes {
            if let SurroundingsChange::Motion { wall, motion } = change {
                let boundary = self.flow.as_deref().map(|flow| &flow.plan.boundary);
                check_motion(boundary, (*wall, &self.walls.given[*wall]), motion)?;
            }
            let (SurroundingsChange::Hold { group, .. }
            | SurroundingsChange::Free { group }
            | SurroundingsChange::Load(Load { group, .. })) = change
            else {
                continue;
            };
            let Some((_, name)) = self.constrained_groups.iter().find(|(known, _)| known == group) else {
                return Err(WorldError::Switch {
                    group: format!("of group {group}"),
                    what: "it is not announced that they may be held, set free or loaded; add their group to World::later".to_owned(),
                });
            };
            if let Some(what) = self.circumstances(*group).flaw_of(change) {
                return Err(WorldError::Switch { group: name.clone(), what });
            }
        }
        let motions = changes.iter().filter_map(|change| match change {
            SurroundingsChange::Motion { wall, motion } => Some((*wall, &**motion)),
            _ => None,
        });
        let (smallest, dt) = (self.grains.prepared.smallest(), self.context.stepping.dt);
        let is_slow_enough = |wall: &Wall, reach: f64| check_speed_of_surface(wall, reach, smallest, dt);
        self.walls.check_motions(motions, self.context.time(), is_slow_enough)
    }

    /// Conditions for the grains of a group.
    pub(super) fn circumstances(&self, group: u32) -> ConstraintContext {
        let grains = (0..self.grains.fields.len()).filter(|&i| self.grains.fields.group[i] == group);
        let bodies: BTreeSet<usize> = grains.filter_map(|i| self.body_of(i)).collect();
        let is_coupled = |b: &usize| {
            let body_boundaries = self.flow.as_deref().map(|flow| &flow.body_boundaries);
            body_boundaries.is_some_and(|body_boundaries| body_boundaries.of_body(self.bodies.id[*b]).is_some())
        };
        ConstraintContext {
            scalar: self.diffusions.first().map(|diffusion| diffusion.scalar),
            slides: self.images_move(),
            are_carried: bodies.iter().any(|b| !self.bodies.held.is_body_prescribed(*b)),
            couple_to_fluid: bodies.iter().any(is_coupled),
            has_polyhedra: self.has_polyhedra(),
        }
    }

    /// Fixes, releases and loads grains at this time \[s\].
    pub(crate) fn switch(&mut self, changes: &[SurroundingsChange], time: f64) {
        for change in changes {
            match change {
                SurroundingsChange::Hold { group, motion } => {
                    self.change_prescribed(|populations| populations.prescribe_group(*group, &motion.begun(time)))
                }
                SurroundingsChange::Free { group } => self.change_prescribed(|populations| populations.free_group(*group)),
                SurroundingsChange::Load(load) => self.change_forces(|populations| populations.replace_load(load)),
                SurroundingsChange::Wall { .. }
                | SurroundingsChange::Motion { .. }
                | SurroundingsChange::Inlet { .. }
                | SurroundingsChange::Cell(_)
                | SurroundingsChange::Gravity(_) => {}
            }
        }
    }

    /// Repeats [`Populations::switch`] of this time \[s\] with a checkpoint that contains the bodies of the grains.
    ///
    /// # Errors
    /// If the checkpoint lacks the values of prescribed motion.
    pub(crate) fn switch_again(&mut self, changes: &[SurroundingsChange], time: f64, state: &State) -> Result<(), WorldError> {
        for change in changes {
            match change {
                SurroundingsChange::Hold { group, motion } => {
                    let (count, motion) = (self.bodies.len(), motion.begun(time));
                    for b in self.bodies_of_group(*group) {
                        let Some(Column::F64(numbers)) = state.get(PRESCRIBED_BODIES) else {
                            return Err(misfit("the values of prescribed bodies are missing"));
                        };
                        let Some(numbers) = numbers.get(b * PRESCRIBED..(b + 1) * PRESCRIBED) else {
                            return Err(misfit("the values of a prescribed body are missing"));
                        };
                        self.bodies.held.prescribe_from_state((b, count), &motion, numbers);
                    }
                }
                SurroundingsChange::Free { group } => {
                    for b in self.bodies_of_group(*group) {
                        self.bodies.held.end_prescribed(b);
                    }
                }
                SurroundingsChange::Load(load) => self.loads.set(load, time),
                SurroundingsChange::Wall { .. }
                | SurroundingsChange::Motion { .. }
                | SurroundingsChange::Inlet { .. }
                | SurroundingsChange::Cell(_)
                | SurroundingsChange::Gravity(_) => {}
            }
        }
        Ok(())
    }

    /// Bodies that carry grains of a group.
    fn bodies_of_group(&self, group: u32) -> Vec<usize> {
        (0..self.bodies.len()).filter(|&b| self.group_of_body(b) == group).collect()
    }

    /// Changes loads or prescribed motion, and corrects the power of this step by the change.
    pub(super) fn change_prescribed(&mut self, change: impl FnOnce(&mut Populations)) {
        let before = self.power_of_external_loads();
        change(self);
        let now = self.power_of_external_loads();
        self.ledger.last_power_sums.wall_power += now - before;
    }

    /// Changes the forces at this time for later steps. The kick at this time uses half of the old and half of the new forces; velocities at
    /// this time are kept.
    pub(crate) fn change_forces(&mut self, change: impl FnOnce(&mut Populations)) {
        let bodies = self.bodies.all_moving(&self.grains.fields, &self.context.stepping);
        let free: Vec<usize> = (0..self.grains.fields.len()).filter(|&i| self.body_of(i).is_none()).collect();
        let velocities: Vec<_> = free.iter().map(|&i| self.velocities(i, &bodies)).collect();
        self.change_prescribed(change);
        for (&i, (velocity, spin)) in free.iter().zip(&velocities) {
            store(&mut self.grains.fields.half_velocity, 3 * i, velocity);
            if self.context.materials.has_friction {
                store(&mut self.grains.fields.half_spin, 3 * i, spin);
            }
        }
        self.set_half_step_velocities(free);
        for (b, moving) in bodies.iter().enumerate() {
            self.bodies.go_on_from(b, moving, &self.grains.fields, &self.context.stepping);
        }
    }

    /// Recomputes the forces of weakly compressible fluids after a change between two steps, as a GPU does at the start of a step.
    ///
    /// Velocities at this time are kept, and so are all values that the change does not affect. Other solvers compute their forces in the next step.
    pub(crate) fn recompute_forces_of_fluids(&mut self) {
        if !self.flows() {
            return;
        }
        // Removed bodies must not act on fluids any more, with any solver.
        self.with_flow(|flow, surroundings| {
            if flow.follow_bodies(surroundings) {
                flow.rebuild_neighbor_lists(surroundings);
            }
        });
        if self.solver_of_fluids() != Solver::WeaklyCompressible {
            return;
        }
        let (bodies, before) = (
            self.bodies.all_moving(&self.grains.fields, &self.context.stepping),
            self.bodies.load.clone(),
        );
        self.change_prescribed(|populations| {
            populations.with_flow(|flow, surroundings| flow.recompute_fluid_forces(surroundings));
            populations.recompute_body_loads();
        });
        for (b, moving) in bodies.iter().enumerate() {
            let of_body = b * LOAD..(b + 1) * LOAD;
            if before.get(of_body.clone()) != self.bodies.load.get(of_body) {
                self.bodies.go_on_from(b, moving, &self.grains.fields, &self.context.stepping);
            }
        }
    }

    /// Prescribes the motion of the grains of a group from their current positions; free grains become one body.
    fn prescribe_group(&mut self, group: u32, motion: &WallMotion) {
        self.bodies.are_present = true;
        let n = self.grains.fields.len();
        self.grains.fields.member.resize(n, FREE);
        if self.bodies.row.is_empty() {
            self.bodies.row.push(0);
        }
        let is_loose = |i: &usize| self.grains.fields.group[*i] == group && self.grains.fields.member[*i] == FREE;
        let loose: Vec<usize> = (0..n).filter(is_loose).collect();
        if !loose.is_empty() {
            // A new body with the id of a removed one would get its boundary particles.
            let lowest_id = self.flow.as_ref().map_or(0, |flow| flow.body_boundaries.lowest_free_id());
            self.bodies.gather(&loose, lowest_id, &mut self.grains.fields);
        }
        let count = self.bodies.len();
        for b in self.bodies_of_group(group) {
            let (center, orientation) = (
                load(&self.bodies.center, b * RECORD),
                orientation_at(&self.bodies.orientation, b * RECORD),
            );
            self.bodies.held.prescribe((b, count), motion, &center, orientation);
        }
        self.move_prescribed_bodies(true);
        for i in (0..n).filter(|&i| self.grains.fields.group[i] == group).collect::<Vec<usize>>() {
            if let Some(b) = self.body_of(i) {
                self.move_with_body(i, b);
            }
        }
    }

    /// Ends the prescribed motion of the grains of a group; they keep their velocities.
    pub(super) fn free_group(&mut self, group: u32) {
        let is_held = |b: usize| self.bodies.held.is_body_prescribed(b) && self.group_of_body(b) == group;
        let goes: Vec<bool> = (0..self.bodies.len()).map(is_held).collect();
        let is_freed = |i: &usize| self.body_of(*i).is_some_and(|b| goes[b]);
        let freed: Vec<usize> = (0..self.grains.fields.len()).filter(is_freed).collect();
        if freed.is_empty() {
            return;
        }
        // Bonds between bodies with prescribed motion have a dashpot for the multiple of their mass: too strong for free grains, even for half a
        // step.
        let between = self.bonds_between_prescribed(&freed);
        let held = self.bond_actions(&between);
        self.retain_bodies(|b| !goes[b]);
        for &i in &freed {
            let at = i * RECORD;
            let (velocity, spin): (Vector3<f64>, Vector3<f64>) =
                (load(&self.grains.fields.velocity, at), load(&self.grains.fields.spin, at));
            store(&mut self.grains.fields.half_velocity, 3 * i, &velocity);
            store(&mut self.grains.fields.half_spin, 3 * i, &spin);
            self.grains.fields.velocity[at + 3] = self.mass_alone(i);
            self.begin_gear(i..i + 1);
        }
        if !between.is_empty() {
            let free = self.bond_actions(&between);
            self.add_bond_actions(&held, -1.0);
            self.add_bond_actions(&free, 1.0);
        }
        self.set_half_step_velocities(freed);
    }
}
