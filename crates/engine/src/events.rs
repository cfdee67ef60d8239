//! What happens between two steps: grains come, go, get other velocities, or are held; walls appear, vanish, or move in another way; gravity turns.
//!
//! A change acts from the next step on: the forces of this step on grains stay what they were, those of weakly compressible fluids are found anew. It is
//! made on the host, with lists made anew and what contacts remember carried over by ids, as from a saved state; so going on from a state saved before or
//! after it is the same to the bit.

use crate::assemble::{check_grains, fields_of};
use crate::guard::Stop;
use crate::measure::NO_CONTACT;
use crate::refusal::Refusal;
use crate::simulation::{Simulation, vector};
use crate::state::State;
use crate::world::{Domain, Expected, Grains, Load, Vec3, WallMotion, check_temperatures};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::views::{RECORD, TOUCH};
use std::collections::HashSet;

/// A change of what surrounds the grains, or holds them.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A wall appears or vanishes.
    Wall {
        /// Index into [`crate::world::World::walls`].
        wall: usize,
        /// Whether it is there from now on.
        is_there: bool,
    },
    /// A wall moves in another way, from where it is; the point of the motion's axis is that of this moment.
    Motion {
        /// Index into [`crate::world::World::walls`].
        wall: usize,
        /// Its motion from now on.
        motion: Box<WallMotion>,
    },
    /// An inlet of fluids is opened or closed; what is closed stands still, as a wall.
    Inlet {
        /// Index into [`crate::world::Fluids::inlets`].
        inlet: usize,
        /// Whether fluid may come from now on.
        is_open: bool,
    },
    /// Gravitational acceleration from now on \[m/s²\].
    Gravity(Vec3),
    /// The grains of a group are held from where they are: those that move on their own as one body, and what is held already in this way in place
    /// of the one before. Start and stop of the motion count from now. Of a group without grains nothing is held.
    Hold {
        /// Index into [`crate::world::World::groups`].
        group: u32,
        /// How they move from now on, whatever pushes them.
        motion: Box<WallMotion>,
    },
    /// The grains of a group that are held move on their own, with the velocities that they have.
    Free {
        /// Index into [`crate::world::World::groups`].
        group: u32,
    },
    /// A load on a group from now on, in place of any before.
    Load(Load),
}

/// What may be inside of something else after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meets {
    /// Nothing that was not before.
    Nothing,
    /// Walls that appear.
    Walls,
    /// Grains that were held, in walls and in each other.
    Grains,
}

/// Refuses grains that could never be added where heat flows, or does not, whatever is there.
pub(crate) fn check_newcomers(grains: &Grains, domain: Option<&Domain>, conducts: bool) -> Result<(), Refusal> {
    if !grains.bodies.is_empty() {
        return Err(Refusal::WithBodies {
            what: "inlets and groups that are added later",
            remedy: "let bodies be there from the start",
        });
    }
    check_grains(grains, domain)?;
    if conducts { check_temperatures(grains) } else { Ok(()) }
}

pub(crate) fn stopped(stop: Stop) -> Refusal {
    Refusal::Stopped(Box::new(stop))
}

impl Simulation {
    /// The lowest id above all that were ever used, or are kept for grains that may come.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Refuses grains that could not be added now; the simulation stays what it is.
    ///
    /// # Errors
    /// If a grain is not of a kind that was expected, and unlike all that are there, has the id of another, is outside of the domain, or is where something
    /// else is; and as [`Simulation::observe`].
    pub fn check_coming(&mut self, grains: &Grains) -> Result<(), Refusal> {
        check_newcomers(grains, self.domain.as_ref(), self.conducts())?;
        let largest = grains.radius.iter().copied().fold(0.0, f64::max);
        let bound = |of: fn(f64, f64) -> f64, start: f64| {
            let start = [start; 3];
            grains.position.iter().fold(start, |most, x| [0, 1, 2].map(|k| of(most[k], x[k])))
        };
        let mut room = self.room(bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY), largest)?;
        room.take_all(grains)?;
        let coming: HashSet<u32> = grains.id.iter().copied().collect();
        if let Some(&id) = self.fields.id.iter().find(|id| coming.contains(id)) {
            return Err(Refusal::DuplicateId { id });
        }
        for (k, &id) in grains.id.iter().enumerate() {
            let (radius, material) = (grains.radius[k], grains.material[k]);
            let is_of = |kind: &Expected| kind.material == material && (kind.radius[0]..=kind.radius[1]).contains(&radius);
            // What is like a grain that is there changes no limit that follows from the grains.
            let is_like = |i: usize| self.fields.material[i] == material && self.fields.position[i * RECORD + 3] == radius;
            if !self.expected.iter().any(is_of) && !(0..self.fields.len()).any(is_like) {
                return Err(Refusal::Unexpected { id, radius });
            }
        }
        Ok(())
    }

    /// Adds grains, with the velocities that they have at this moment. Their ids must be new.
    ///
    /// # Errors
    /// As [`Simulation::check_coming`], before anything is changed; whatever else goes wrong is the end of the simulation.
    pub fn insert(&mut self, grains: &Grains) -> Result<(), Refusal> {
        if grains.is_empty() {
            return Ok(());
        }
        self.check_coming(grains)?;
        self.next_id = grains.id.iter().fold(self.next_id, |next, &id| next.max(u64::from(id) + 1));
        let gained = self.edit(Meets::Nothing, |simulation| {
            let first = simulation.fields.len();
            let new = fields_of(grains, &simulation.densities, simulation.frictional);
            simulation.book_heat_inserted(&new);
            simulation.fields.append(&new);
            if simulation.carries {
                simulation.fields.member.resize(first + grains.len(), FREE);
            }
            simulation.orient_grains();
            let power = simulation.lay_loads_on(first..first + grains.len());
            simulation.last_tally.wall_power += power;
            simulation.begin_gear(first..first + grains.len());
            simulation.pull_back_half_a_step(first..first + grains.len());
        })?;
        self.work.inserted += gained;
        Ok(())
    }

    /// Removes grains, and the whole of a body that carries one of them; ids that are not there are passed over. The ledger books what they take along as what left.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn remove(&mut self, ids: &[u32]) -> Result<(), Refusal> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let gained = self.edit(Meets::Nothing, |simulation| {
            simulation.book_heat_leaving(|simulation, i| ids.binary_search(&simulation.fields.id[i]).is_ok());
            let id = simulation.fields.id.clone();
            simulation.keep_grains(|i| ids.binary_search(&id[i]).is_err());
        })?;
        self.work.left_domain -= gained;
        Ok(())
    }

    /// Gives all grains of a group this velocity \[m/s\], as of this moment, but for those of bodies that are held or on joints.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn set_velocity(&mut self, group: u32, velocity: Vec3) -> Result<(), Refusal> {
        self.set_velocities(
            velocity,
            |simulation, i| simulation.fields.group[i] == group,
            |simulation, b| simulation.group_of_body(b) == group,
        )
    }

    /// Gives one grain, or the body that carries it, this velocity \[m/s\], as of this moment, unless that is held or on a joint; an id that is not
    /// there is passed over.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn set_velocity_of(&mut self, id: u32, velocity: Vec3) -> Result<(), Refusal> {
        self.observe().map_err(stopped)?;
        let body = (0..self.fields.len())
            .find(|&i| self.fields.id[i] == id)
            .and_then(|i| self.body_of(i));
        self.set_velocities(
            velocity,
            |simulation, i| match body {
                Some(body) => simulation.body_of(i) == Some(body),
                None => simulation.fields.id[i] == id,
            },
            |_, b| body == Some(b),
        )
    }

    fn set_velocities(
        &mut self,
        velocity: Vec3,
        is_grain: impl Fn(&Simulation, usize) -> bool,
        is_body: impl Fn(&Simulation, usize) -> bool,
    ) -> Result<(), Refusal> {
        let gained = self.edit(Meets::Nothing, |simulation| {
            let chosen: Vec<usize> = (0..simulation.fields.len())
                .filter(|&i| is_grain(simulation, i) && !simulation.is_bound(i))
                .collect();
            for &i in &chosen {
                simulation.fields.velocity[i * RECORD..][..3].copy_from_slice(&velocity);
                simulation.fields.half_velocity[i * 3..][..3].copy_from_slice(&velocity);
            }
            simulation.pull_back_half_a_step(chosen);
            simulation.set_velocity_of_bodies(velocity, is_body);
        })?;
        self.work.inserted += gained;
        Ok(())
    }

    /// Changes what surrounds the grains, or holds them.
    ///
    /// # Errors
    /// If a wall would appear deep in a grain or in a fluid, or a grain go free deep in a wall or another one, if grains cannot be held or loaded or nobody
    /// announced that they may be, and as [`Simulation::observe`].
    pub fn change(&mut self, changes: &[Change]) -> Result<(), Refusal> {
        self.observe().map_err(stopped)?;
        self.check_switches(changes)?;
        let any = |is: fn(&Change) -> bool| changes.iter().any(is);
        let meets = if any(|change| matches!(change, Change::Free { .. })) {
            Meets::Grains
        } else if any(|change| matches!(change, Change::Wall { is_there: true, .. })) {
            Meets::Walls
        } else {
            Meets::Nothing
        };
        let mut refused = None;
        let gained = self.edit(meets, |simulation| {
            let (before, now) = (simulation.stepping.gravity, simulation.time());
            let on_joints = simulation.bodies.moving_on_joints(&simulation.fields, &simulation.stepping);
            let unfit = simulation.change_surroundings(changes, now).err();
            // The kick over this moment is half of the one gravity, half of the other; velocities of whole steps have had all of the one until now.
            let less = before.minus(&simulation.stepping.gravity);
            let pull = less.times(simulation.stepping.shows_ahead);
            for half in simulation.fields.half_velocity.chunks_exact_mut(3) {
                half.iter_mut().zip([pull.x, pull.y, pull.z]).for_each(|(v, change)| *v += change);
            }
            let bodies = &mut simulation.bodies;
            let halves = bodies.half_velocity.chunks_exact_mut(RECORD).enumerate();
            for (_, half) in halves.filter(|(b, _)| !bodies.held.holds(*b) && !bodies.joints.bears(*b)) {
                half.iter_mut().zip([pull.x, pull.y, pull.z]).for_each(|(v, change)| *v += change);
            }
            for (b, moving) in &on_joints {
                bodies.go_on_from(*b, moving, &simulation.fields, &simulation.stepping);
            }
            let gravity = simulation.stepping.gravity;
            let of_flow = simulation.with_flow(|flow, simulation| {
                flow.pull_otherwise(gravity, &less.times(0.5 * simulation.stepping.dt));
                flow.follow_walls(simulation)
            });
            if less != Vector3::zero() {
                // What is predicted for the next step follows from the gravity of now.
                simulation.begin_gear(0..simulation.fields.len());
            }
            refused = unfit.or(of_flow);
            simulation.switch(changes, now);
        })?;
        self.work.inserted += gained;
        refused.map_or(Ok(()), Err)
    }

    /// Makes changes at this time \[s\], at which the walls are where they are.
    ///
    /// # Errors
    /// If a wall cannot move like this from there.
    pub(crate) fn change_surroundings(&mut self, changes: &[Change], time: f64) -> Result<(), Refusal> {
        for change in changes {
            match change {
                Change::Wall { wall, is_there } => self.walls.set_there(*wall, *is_there),
                Change::Motion { wall, motion } => {
                    self.with_flow(|flow, simulation| flow.begin_from_here(simulation, *wall));
                    self.walls.set_motion(*wall, motion, time)?;
                    self.tune_servos();
                    self.with_flow(|flow, simulation| flow.move_otherwise(simulation, *wall));
                }
                Change::Inlet { inlet, is_open } => {
                    self.with_flow(|flow, simulation| flow.turn_inlet(*inlet, *is_open, simulation.steps));
                }
                Change::Gravity(gravity) => self.stepping.gravity = vector(*gravity),
                Change::Hold { .. } | Change::Free { .. } | Change::Load(_) => {}
            }
        }
        Ok(())
    }

    /// Changes what the host knows, makes lists anew, and lets the device go on from there. Returns the energy that came in \[J\]; what fluid that
    /// leaves just then takes along is booked as such, and what periodic sides do to what is put back just then as theirs.
    pub(crate) fn edit(&mut self, meets: Meets, change: impl FnOnce(&mut Simulation)) -> Result<f64, Refusal> {
        self.observe().map_err(stopped)?;
        let (before, left, by_walls) = (self.held_energies(), self.left_with_fluids(), self.wall_work());
        let mut contacts = State::default();
        self.save_contacts(&mut contacts).map_err(stopped)?;
        self.come_home();
        change(self);
        self.forget_contacts();
        self.renew_lists();
        self.give_back_histories(&contacts, false)?;
        if meets != Meets::Nothing {
            self.meet(meets)?;
        }
        self.tune_servos();
        self.push_fluids_anew();
        self.hand_over(true)?;
        let after = self.held_energies();
        // What springs had or have more is neither lost to friction nor won from it.
        self.work.tangential += after.elastic_tangential - before.elastic_tangential;
        let by_sides = self.wall_work() - by_walls;
        Ok(after.total() - before.total() + self.left_with_fluids() - left - by_sides)
    }

    /// Finds how deep grains are in walls that appeared, or in what they did not feel while they were held, for the books; forces follow with the
    /// next step.
    fn meet(&mut self, meets: Meets) -> Result<(), Refusal> {
        let (force, torque) = (self.fields.force.clone(), self.fields.torque.clone());
        let (of_pairs, history, touches) = (self.pairs.history.clone(), self.walls.history.clone(), self.walls.touches.clone());
        if meets == Meets::Grains {
            self.touch_grains();
        }
        self.touch_walls();
        if self.is_too_deep() {
            let (share, i, partner) = self.deepest_touch();
            let (id, share, limit) = (self.fields.id[i], 100.0 * share, 100.0 * self.settings.overlap_limit);
            return Err(match meets {
                Meets::Grains => Refusal::FreedInside { id, partner, share, limit },
                _ => Refusal::WallInGrain { partner, id, share, limit },
            });
        }
        self.pairs.history = of_pairs;
        for (new, old) in self.walls.touches.chunks_exact_mut(TOUCH).zip(touches.chunks_exact(TOUCH)) {
            if old[TOUCH - 1] > 0.0 {
                new.copy_from_slice(old);
            } else {
                new[4..TOUCH - 1].fill(0.0);
            }
        }
        (self.fields.force, self.fields.torque, self.walls.history) = (force, torque, history);
        self.wall_tallies.fill(NO_CONTACT);
        Ok(())
    }
}
