//! External loads on grains.

use crate::fields::Fields;
use crate::refusal::WorldError;
use crate::world::{Load, World, vector};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::layout::{RECORD, add, load};

/// Load on each grain of a group.
#[derive(Clone, Copy)]
pub(crate) struct GroupLoad {
    /// Force \[N\].
    pub(crate) force: Vector3<f64>,
    /// Torque \[N m\].
    pub(crate) torque: Vector3<f64>,
}

/// Loads of a world, summed by group; empty without loads.
#[derive(Clone, Default)]
pub(crate) struct Loads(Vec<Option<GroupLoad>>);

impl Loads {
    /// Loads of a world.
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
            if let Some(&value) = given.force.iter().chain(&given.torque).find(|x| !x.is_finite()) {
                return Err(WorldError::FluidSurroundings {
                    what: "force or torque of a load",
                    value,
                    must: "finite numbers",
                });
            }
            loads.0.resize(world.groups.len(), None);
            let (force, torque) = (vector(given.force), vector(given.torque));
            let of_group = &mut loads.0[given.group as usize];
            *of_group = Some(of_group.map_or(GroupLoad { force, torque }, |others| GroupLoad {
                force: others.force.plus(&force),
                torque: others.torque.plus(&torque),
            }));
        }
        Ok(loads)
    }

    /// The data that loads read, and the forces and torques that they add to.
    pub(crate) fn and_fields<'a>(&'a self, fields: &'a mut Fields) -> (LoadedGrains<'a>, &'a mut [f64], &'a mut [f64]) {
        let loaded = LoadedGrains {
            loads: self,
            group: &fields.group,
            member: &fields.member,
            velocity: &fields.velocity,
            spin: &fields.spin,
        };
        (loaded, &mut fields.force, &mut fields.torque)
    }

    /// Whether there are no loads.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of groups that may have loads.
    pub fn groups(&self) -> u32 {
        self.0.len() as u32
    }

    /// Eight numbers for each group up to `groups`: force, padding, torque, padding.
    pub fn records(&self, groups: u32) -> Vec<f64> {
        let record = |group| {
            self.on(group).map_or([0.0; 8], |pull| {
                let GroupLoad { force, torque } = pull;
                [force.x, force.y, force.z, 0.0, torque.x, torque.y, torque.z, 0.0]
            })
        };
        (0..groups).flat_map(record).collect()
    }

    /// Replaces the load of a group.
    pub fn set(&mut self, given: &Load) {
        let group = given.group as usize;
        self.0.resize(self.0.len().max(group + 1), None);
        self.0[group] = Some(GroupLoad {
            force: vector(given.force),
            torque: vector(given.torque),
        });
    }

    /// Load on the grains of a group.
    pub(crate) fn on(&self, group: u32) -> Option<&GroupLoad> {
        self.0.get(group as usize)?.as_ref()
    }
}

/// Data of the grains that loads read. `spin` is empty without rotation.
pub(crate) struct LoadedGrains<'a> {
    pub loads: &'a Loads,
    pub group: &'a [u32],
    pub member: &'a [u32],
    pub velocity: &'a [f64],
    pub spin: &'a [f64],
}

impl LoadedGrains<'_> {
    /// Adds its load to the force and torque of grain i in slot `slot`; returns the power of the load \[W\].
    pub(crate) fn lay_on(&self, i: usize, slot: usize, force: &mut [f64], torque: &mut [f64]) -> f64 {
        if let Some(pull) = self.loads.on(self.group[i]) {
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
        let Some(pull) = self.loads.on(self.group[i]) else { return 0.0 };
        let power = pull.force.dot(&load(self.velocity, i * RECORD));
        if self.spin.is_empty() {
            return power;
        }
        power + pull.torque.dot(&load(self.spin, i * RECORD))
    }
}
