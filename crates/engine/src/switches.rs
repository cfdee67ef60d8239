//! Grains that are held, set free or loaded anew between two steps.
//!
//! Grains that are held are one body, as those of a boundary are; the body goes when they are set free. What pushes on grains stays what it was at
//! this moment, and so do the bonds between them.

use crate::assemble::mass_of_sphere;
use crate::bodies::{Bodies, HELD_BODIES};
use crate::events::Change;
use crate::fields::Fields;
use crate::flow::check_motion;
use crate::held::HELD;
use crate::refusal::Refusal;
use crate::resume::misfit;
use crate::simulation::Simulation;
use crate::state::{Column, State};
use crate::world::{Load, Solver, SurfaceMotion, WallMotion};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, LOAD, turn_at};
use seixo_sweeps::sides::SHEARED;
use seixo_sweeps::views::{RECORD, load, store};
use std::collections::BTreeSet;

impl Bodies {
    /// Makes a body of grains at these places that no body carries yet, with the axes of space: products of inertia do not matter to what is
    /// not turned by torques.
    fn gather(&mut self, grains: &[usize], lowest_id: u32, fields: &mut Fields) {
        let of_grain = |i: usize| {
            let place = load::<f64>(&fields.position, i * RECORD);
            (place, fields.position[i * RECORD + 3], fields.velocity[i * RECORD + 3])
        };
        let (mut mass, mut cubes, mut weighted) = (0.0, 0.0, Vector3::<f64>::zero());
        for &i in grains {
            let (place, radius, own) = of_grain(i);
            mass += own;
            cubes += radius.powi(3);
            weighted = weighted.plus(&place.times(own));
        }
        let center = weighted.times(1.0 / mass);
        let mut moments = [0.0; 3];
        for &i in grains {
            let (place, radius, own) = of_grain(i);
            let arm = place.minus(&center);
            let (x, y, z, of_sphere) = (arm.x * arm.x, arm.y * arm.y, arm.z * arm.z, 0.4 * radius * radius);
            for (moment, across) in moments.iter_mut().zip([y + z, z + x, x + y]) {
                *moment += own * (across + of_sphere);
            }
            self.offset.extend([arm.x, arm.y, arm.z, radius.powi(3) / cubes]);
        }
        if !fields.turn.is_empty() {
            // Those that are carried so far stand as their bodies do, unless they tell otherwise.
            if self.own_turn.is_empty() {
                self.own_turn.extend(self.body_of.iter().flat_map(|_| [1.0, 0.0, 0.0, 0.0]));
            }
            for &i in grains {
                self.own_turn.extend_from_slice(&fields.turn[i * RECORD..][..RECORD]);
            }
        }
        let b = self.id.len() as u32;
        for &i in grains {
            fields.member[i] = self.body_of.len() as u32;
            self.body_of.push(b);
            self.place.push(i as u32);
        }
        self.row.push(self.body_of.len() as u32);
        let highest = self.id.iter().max().copied();
        self.id.push(highest.map_or(lowest_id, |highest| lowest_id.max(highest + 1)));
        self.center.extend([center.x, center.y, center.z, mass]);
        self.moments.extend([moments[0], moments[1], moments[2], 0.0]);
        self.turn.extend([1.0, 0.0, 0.0, 0.0]);
        for column in [&mut self.half_velocity, &mut self.momentum, &mut self.velocity, &mut self.spin] {
            column.extend([0.0; RECORD]);
        }
        if !self.load.is_empty() {
            self.load.extend([0.0; LOAD]);
        }
    }
}

/// What decides whether the grains of a group can be held, set free or loaded: as a simulation has them, or as a plan will.
pub(crate) struct Circumstances {
    /// Whether heat flows through grains.
    pub conducts: bool,
    /// Whether sides slide past each other.
    pub slides: bool,
    /// Whether rigid bodies that move carry some of them.
    pub are_carried: bool,
    /// Whether fluids feel some of these bodies, be they held or not.
    pub are_felt: bool,
}

impl Circumstances {
    /// Why grains cannot be held, set free or loaded like this.
    pub fn flaw_of(&self, change: &Change) -> Option<String> {
        match change {
            Change::Hold { motion, .. } => self.flaw_of_holding(motion),
            Change::Free { .. } if self.are_felt => Some(
                "grains that displace a fluid cannot be set free, as each would go its own way and the fluid into it; let them move from the start, or hold them for good"
                    .to_owned(),
            ),
            Change::Load(Load { force, torque, .. }) if !force.iter().chain(torque).all(|x| x.is_finite()) => {
                Some("a number of their load is not finite".to_owned())
            }
            _ => None,
        }
    }

    fn flaw_of_holding(&self, motion: &WallMotion) -> Option<String> {
        let told = |what: &str| Some(what.to_owned());
        if self.conducts {
            return told("grains through which heat flows cannot be held; leave the temperatures out, or use a wall");
        }
        if self.slides {
            return told("grains cannot be held between sides that slide past each other; let the sides stand, or use a wall");
        }
        if motion.servo.is_some() || motion.surface != SurfaceMotion::default() {
            return told("servos and surfaces that run are for walls");
        }
        if let Some(flaw) = motion.flaw() {
            return Some(flaw);
        }
        if self.are_carried && self.are_felt {
            return told("grains that fluids push cannot be held while they move; hold them from the start, or use a wall");
        }
        if self.are_carried {
            return told(
                "clumps, and bodies on joints, cannot be held while they move; hold them from the start, or use spheres or a wall",
            );
        }
        None
    }
}

impl Simulation {
    /// Refuses to hold, free or load what cannot be held, freed or loaded, and motions that walls of fluids cannot have.
    pub(crate) fn check_switches(&self, changes: &[Change]) -> Result<(), Refusal> {
        for change in changes {
            if let Change::Motion { wall, motion } = change {
                let boundary = self.flow.as_deref().map(|flow| &flow.plan.boundary);
                check_motion(boundary, (*wall, &self.walls.given[*wall]), motion)?;
            }
            let (Change::Hold { group, .. } | Change::Free { group } | Change::Load(Load { group, .. })) = change else {
                continue;
            };
            let Some((_, name)) = self.switched.iter().find(|(known, _)| known == group) else {
                return Err(Refusal::Switch {
                    group: format!("of group {group}"),
                    what: "nobody announced that they may be held, set free or loaded; add their group to World::later".to_owned(),
                });
            };
            if let Some(what) = self.circumstances(*group).flaw_of(change) {
                return Err(Refusal::Switch { group: name.clone(), what });
            }
        }
        Ok(())
    }

    /// What decides about the grains of a group.
    fn circumstances(&self, group: u32) -> Circumstances {
        let grains = (0..self.fields.len()).filter(|&i| self.fields.group[i] == group);
        let bodies: BTreeSet<usize> = grains.filter_map(|i| self.body_of(i)).collect();
        let is_felt = |b: &usize| {
            let hulls = self.flow.as_deref().map(|flow| &flow.hulls);
            hulls.is_some_and(|hulls| hulls.of_body(self.bodies.id[*b]).is_some())
        };
        Circumstances {
            conducts: self.conducts(),
            slides: self.sides == SHEARED,
            are_carried: bodies.iter().any(|b| !self.bodies.held.holds(*b)),
            are_felt: bodies.iter().any(is_felt),
        }
    }

    /// Holds, frees and loads grains at this time \[s\].
    pub(crate) fn switch(&mut self, changes: &[Change], time: f64) {
        for change in changes {
            match change {
                Change::Hold { group, motion } => self.switch_holding(|simulation| simulation.hold_group(*group, &motion.begun(time))),
                Change::Free { group } => self.switch_holding(|simulation| simulation.free_group(*group)),
                Change::Load(load) => self.change_forces(|simulation| simulation.load_anew(load)),
                Change::Wall { .. } | Change::Motion { .. } | Change::Inlet { .. } | Change::Gravity(_) => {}
            }
        }
    }

    /// As [`Simulation::switch`] did at this time \[s\], where a state tells which grains bodies carry.
    ///
    /// # Errors
    /// If the state does not tell how bodies are held.
    pub(crate) fn switch_again(&mut self, changes: &[Change], time: f64, state: &State) -> Result<(), Refusal> {
        for change in changes {
            match change {
                Change::Hold { group, motion } => {
                    let (count, motion) = (self.bodies.len(), motion.begun(time));
                    for b in self.bodies_of_group(*group) {
                        let Some(Column::F64(numbers)) = state.get(HELD_BODIES) else {
                            return Err(misfit("it does not tell how grains are held"));
                        };
                        let Some(numbers) = numbers.get(b * HELD..(b + 1) * HELD) else {
                            return Err(misfit("it does not tell of all grains how they are held"));
                        };
                        self.bodies.held.hold_again((b, count), &motion, numbers);
                    }
                }
                Change::Free { group } => {
                    for b in self.bodies_of_group(*group) {
                        self.bodies.held.let_go(b);
                    }
                }
                Change::Load(load) => self.loads.set(load),
                Change::Wall { .. } | Change::Motion { .. } | Change::Inlet { .. } | Change::Gravity(_) => {}
            }
        }
        Ok(())
    }

    /// Bodies that carry grains of a group.
    fn bodies_of_group(&self, group: u32) -> Vec<usize> {
        (0..self.bodies.len()).filter(|&b| self.group_of_body(b) == group).collect()
    }

    /// Changes what is held. From this moment on what holds bodies does other work.
    fn switch_holding(&mut self, change: impl FnOnce(&mut Simulation)) {
        let before = self.power_of_driving();
        change(self);
        self.last_tally.wall_power += self.power_of_driving() - before;
    }

    /// Changes the forces of this moment for what comes after it: the kick over it is half by those before, half by those after, and velocities at
    /// this moment stay what they are.
    pub(crate) fn change_forces(&mut self, change: impl FnOnce(&mut Simulation)) {
        let bodies = self.bodies.all_moving(&self.fields, &self.stepping);
        let free: Vec<usize> = (0..self.fields.len()).filter(|&i| self.body_of(i).is_none()).collect();
        let velocities: Vec<_> = free.iter().map(|&i| self.velocities(i, &bodies)).collect();
        self.switch_holding(change);
        for (&i, (velocity, spin)) in free.iter().zip(&velocities) {
            store(&mut self.fields.half_velocity, 3 * i, velocity);
            if self.frictional {
                store(&mut self.fields.half_spin, 3 * i, spin);
            }
        }
        self.pull_back_half_a_step(free);
        for (b, moving) in bodies.iter().enumerate() {
            self.bodies.go_on_from(b, moving, &self.fields, &self.stepping);
        }
    }

    /// Finds anew what fluids do at this moment, after something was changed between two steps: as a GPU does, which finds it at the beginning of a step.
    /// Velocities of this moment stay what they are, and so does all that no change reaches. Forces of solvers that go step by step begin with the next.
    pub(crate) fn push_fluids_anew(&mut self) {
        if !self.flows() {
            return;
        }
        // What was taken away is not felt any more, whatever the solver.
        self.with_flow(|flow, simulation| {
            if flow.follow_bodies(simulation) {
                flow.renew_lists(simulation);
            }
        });
        if self.solver_of_fluids() != Solver::WeaklyCompressible {
            return;
        }
        let (bodies, before) = (self.bodies.all_moving(&self.fields, &self.stepping), self.bodies.load.clone());
        self.switch_holding(|simulation| {
            simulation.with_flow(|flow, simulation| flow.push_anew(simulation));
            simulation.load_bodies_anew();
        });
        for (b, moving) in bodies.iter().enumerate() {
            let of_body = b * LOAD..(b + 1) * LOAD;
            if before.get(of_body.clone()) != self.bodies.load.get(of_body) {
                self.bodies.go_on_from(b, moving, &self.fields, &self.stepping);
            }
        }
    }

    /// Holds the grains of a group from where they are: what is not held yet as one body.
    fn hold_group(&mut self, group: u32, motion: &WallMotion) {
        self.carries = true;
        let n = self.fields.len();
        self.fields.member.resize(n, FREE);
        if self.bodies.row.is_empty() {
            self.bodies.row.push(0);
        }
        let is_loose = |i: &usize| self.fields.group[*i] == group && self.fields.member[*i] == FREE;
        let loose: Vec<usize> = (0..n).filter(is_loose).collect();
        if !loose.is_empty() {
            // With the id of one that fluids felt, and that is gone, it would be felt in its place.
            let lowest_id = self.flow.as_ref().map_or(0, |flow| flow.hulls.lowest_free_id());
            self.bodies.gather(&loose, lowest_id, &mut self.fields);
        }
        let count = self.bodies.len();
        for b in self.bodies_of_group(group) {
            let (center, turn) = (load(&self.bodies.center, b * RECORD), turn_at(&self.bodies.turn, b * RECORD));
            self.bodies.held.hold((b, count), motion, &center, turn);
        }
        self.hold_bodies(true);
        for i in (0..n).filter(|&i| self.fields.group[i] == group).collect::<Vec<usize>>() {
            if let Some(b) = self.body_of(i) {
                self.move_with_body(i, b);
            }
        }
    }

    /// Lets the grains of a group that are held move on their own, with the velocities that they have.
    fn free_group(&mut self, group: u32) {
        let is_held = |b: usize| self.bodies.held.holds(b) && self.group_of_body(b) == group;
        let goes: Vec<bool> = (0..self.bodies.len()).map(is_held).collect();
        let is_freed = |i: &usize| self.body_of(*i).is_some_and(|b| goes[b]);
        let freed: Vec<usize> = (0..self.fields.len()).filter(is_freed).collect();
        if freed.is_empty() {
            return;
        }
        // Between grains that nothing moves a dashpot is as strong as for as many times their mass: no free grain bears that for half a step.
        let between = self.bonds_to_others_held(&freed);
        let held = self.pulls_of(&between);
        self.keep_bodies(|b| !goes[b]);
        for &i in &freed {
            let at = i * RECORD;
            let (velocity, spin): (Vector3<f64>, Vector3<f64>) = (load(&self.fields.velocity, at), load(&self.fields.spin, at));
            store(&mut self.fields.half_velocity, 3 * i, &velocity);
            store(&mut self.fields.half_spin, 3 * i, &spin);
            let density = self.densities[self.fields.material[i] as usize];
            self.fields.velocity[at + 3] = mass_of_sphere(self.fields.position[at + 3], density);
            self.begin_gear(i..i + 1);
        }
        if !between.is_empty() {
            let free = self.pulls_of(&between);
            self.pull(&held, -1.0);
            self.pull(&free, 1.0);
        }
        self.pull_back_half_a_step(freed);
    }
}
