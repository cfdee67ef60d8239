//! External loads on grains.

use crate::fields::{Fields, GIVEN_LOAD};
use crate::refusal::WorldError;
use crate::world::{Load, Vec3, World};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::kernels::bonds::LOAD_OF_GROUP;
use seixo_sweeps::layout::{RECORD, add, load};

/// Load on each grain of a group.
#[derive(Clone, Copy)]
pub(crate) struct GroupLoad {
    /// Force \[N\].
    pub(crate) force: Vector3<f64>,
    /// Torque \[N m\].
    pub(crate) torque: Vector3<f64>,
}

impl GroupLoad {
    /// A load at a time \[s\].
    fn at(load: &Load, time: f64) -> GroupLoad {
        GroupLoad {
            force: load.force.vector_at(time),
            torque: load.torque.vector_at(time),
        }
    }

    fn plus(&self, other: &GroupLoad) -> GroupLoad {
        GroupLoad {
            force: self.force.plus(&other.force),
            torque: self.torque.plus(&other.torque),
        }
    }
}

/// Loads of a world by group, with their present values; empty without loads.
#[derive(Clone, Default)]
pub(crate) struct Loads {
    given: Vec<Vec<Load>>,
    /// Sum of the loads of each group at the time of the last evaluation.
    now: Vec<Option<GroupLoad>>,
    depend_on_time: bool,
    /// Number of groups of all grains if some were given loads of their own, otherwise zero.
    groups_of_loaded_grains: u32,
    /// Grains that were lately given loads of their own.
    pub lately: LatelyLoaded,
}

impl Loads {
    /// Loads of a world, at time zero.
    ///
    /// # Errors
    /// If a number is not finite, or a group does not exist.
    pub fn of(world: &World) -> Result<Loads, WorldError> {
        let mut loads = Loads::default();
        for given in &world.loads {
            if given.group as usize >= world.groups.len() {
                return Err(WorldError::FluidSurroundings {
                    what: "group of a load",
                    value: f64::from(given.group),
                    must: "the index of a group of the world",
                });
            }
            let at_start = [given.force.at(0.0), given.torque.at(0.0)];
            if let Some(&value) = at_start.as_flattened().iter().find(|x| !x.is_finite()) {
                return Err(WorldError::FluidSurroundings {
                    what: "force or torque of a load at t = 0",
                    value,
                    must: "finite numbers",
                });
            }
            loads.given.resize(world.groups.len(), Vec::new());
            loads.given[given.group as usize].push(given.clone());
        }
        loads.find(0.0);
        Ok(loads)
    }

    /// Evaluates all loads at a time \[s\].
    fn find(&mut self, time: f64) {
        let Loads {
            given,
            now,
            depend_on_time,
            ..
        } = self;
        *depend_on_time = given.iter().flatten().any(Load::depends_on_time);
        now.clear();
        now.extend(given.iter().map(|given| sum_at(given, time)));
    }

    /// Evaluates loads that depend on time at this time \[s\].
    pub(crate) fn go_to(&mut self, time: f64) {
        if self.depend_on_time {
            self.find(time);
        }
    }

    /// Whether a load depends on time.
    pub(crate) fn depend_on_time(&self) -> bool {
        self.depend_on_time
    }

    /// The data that loads read, and the forces and torques that they add to.
    pub(crate) fn and_fields<'a>(&'a self, fields: &'a mut Fields) -> (LoadedGrains<'a>, &'a mut [f64], &'a mut [f64]) {
        let loaded = LoadedGrains {
            loads: self,
            group: &fields.group,
            member: &fields.member,
            velocity: &fields.velocity,
            spin: &fields.spin,
            given_load: &fields.given_load,
        };
        (loaded, &mut fields.force, &mut fields.torque)
    }

    /// Whether there are no loads.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && !self.act_on_single_grains()
    }

    /// Number of groups that may have loads.
    pub fn groups(&self) -> u32 {
        self.groups_of_loaded_grains.max(self.given.len() as u32)
    }

    /// Whether single grains were given loads of their own.
    pub fn act_on_single_grains(&self) -> bool {
        self.groups_of_loaded_grains > 0
    }

    /// Notes whether these grains were given loads of their own, and their groups: grains of all of these may come to a domain.
    pub fn follow(&mut self, fields: &Fields) {
        let groups = || fields.group.iter().max().map_or(0, |&last| last + 1);
        self.groups_of_loaded_grains = if fields.given_load.is_empty() { 0 } else { groups() };
    }

    /// Loads at a time \[s\] as [`LOAD_OF_GROUP`] numbers for each group up to `groups`.
    pub fn records(&self, groups: u32, time: f64) -> impl Iterator<Item = f64> {
        (0..groups as usize).flat_map(move |group| {
            let given = self.given.get(group).and_then(|given| sum_at(given, time));
            given.map_or([0.0; LOAD_OF_GROUP], |GroupLoad { force, torque }| {
                [force.x, force.y, force.z, 0.0, torque.x, torque.y, torque.z, 0.0]
            })
        })
    }

    /// Replaces the loads of a group, from this time \[s\] on.
    pub fn set(&mut self, given: &Load, time: f64) {
        let group = given.group as usize;
        self.given.resize(self.given.len().max(group + 1), Vec::new());
        self.given[group] = vec![given.clone()];
        self.find(time);
    }

    /// Load on the grains of a group.
    pub(crate) fn on(&self, group: u32) -> Option<&GroupLoad> {
        self.now.get(group as usize)?.as_ref()
    }
}

/// Sum of these loads at a time \[s\]; `None` if there are none.
fn sum_at(loads: &[Load], time: f64) -> Option<GroupLoad> {
    loads
        .iter()
        .map(|load| GroupLoad::at(load, time))
        .reduce(|sum, load| sum.plus(&load))
}

/// Data of the grains that loads read. `spin` is empty without rotation.
pub(crate) struct LoadedGrains<'a> {
    pub loads: &'a Loads,
    pub group: &'a [u32],
    pub member: &'a [u32],
    pub velocity: &'a [f64],
    pub spin: &'a [f64],
    /// Loads of single grains; empty if none were given.
    pub given_load: &'a [f64],
}

impl LoadedGrains<'_> {
    /// Load on grain i: that of its group and its own.
    fn on(&self, i: usize) -> Option<GroupLoad> {
        let of_group = self.loads.on(self.group[i]).copied();
        let Some(given) = self.given_load.get(i * GIVEN_LOAD..(i + 1) * GIVEN_LOAD) else {
            return of_group;
        };
        let own = GroupLoad {
            force: load(given, 0),
            torque: load(given, 3),
        };
        Some(of_group.map_or(own, |group| group.plus(&own)))
    }

    /// Adds its load to the force and torque of grain i in slot `slot`; returns the power of the load \[W\].
    pub(crate) fn lay_on(&self, i: usize, slot: usize, force: &mut [f64], torque: &mut [f64]) -> f64 {
        if let Some(pull) = self.on(i) {
            add(force, slot * RECORD, &pull.force);
            if !self.spin.is_empty() {
                add(torque, slot * RECORD, &pull.torque);
            }
        }
        self.power(i)
    }

    /// Power of the load on grain i \[W\]; zero for a ghost particle, whose subdomain adds it to the ledger.
    pub(crate) fn power(&self, i: usize) -> f64 {
        if self.member.get(i).is_some_and(|&member| is_ghost(member)) {
            return 0.0;
        }
        let Some(pull) = self.on(i) else { return 0.0 };
        let power = pull.force.dot(&load(self.velocity, i * RECORD));
        if self.spin.is_empty() {
            return power;
        }
        power + pull.torque.dot(&load(self.spin, i * RECORD))
    }
}

/// A load that is given to a grain.
#[derive(Clone, Copy)]
pub(crate) struct GivenLoad {
    /// Id of the grain.
    pub id: u32,
    /// Force \[N\].
    pub force: Vec3,
    /// Torque \[N m\]; `None` keeps that which it has.
    pub torque: Option<Vec3>,
}

/// Which grains were given loads of their own in the latest step with such a change, and in the step before that.
///
/// Loads that a program gives to a grain in every step are samples of a load that changes all the time; others begin when they are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LatelyLoaded {
    pub step: u64,
    /// Ids in the step before, ascending.
    pub before: Vec<u32>,
    /// Ids in this step, ascending.
    pub now: Vec<u32>,
}

impl LatelyLoaded {
    /// Goes to a step.
    pub fn go_to(&mut self, step: u64) {
        if step == self.step {
            return;
        }
        let now = std::mem::take(&mut self.now);
        self.before = if step == self.step + 1 { now } else { Vec::new() };
        self.step = step;
    }

    /// Notes that grains with these ids are given loads in this step.
    pub fn note(&mut self, ids: impl IntoIterator<Item = u32>) {
        self.now.extend(ids);
        self.now.sort_unstable();
        self.now.dedup();
    }

    /// Whether a grain was given a load in the step before.
    pub fn includes(&self, id: u32) -> bool {
        self.before.binary_search(&id).is_ok()
    }
}
