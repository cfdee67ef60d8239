//! What acts on grains from outside: loads, and what holds bodies.

use crate::fields::{Fields, PART, part_range, parts};
use crate::refusal::Refusal;
use crate::simulation::{Simulation, vector};
use crate::world::{Load, World};
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::contact::Tally;
use seixo_sweeps::views::{RECORD, add, load};
use std::ops::Range;

/// What acts on every grain of a group.
#[derive(Clone, Copy)]
struct Pull {
    /// \[N\].
    force: Vector3<f64>,
    /// \[N m\].
    torque: Vector3<f64>,
}

/// The loads of a world, added up by groups; empty where there are none.
#[derive(Clone, Default)]
pub(crate) struct Loads(Vec<Option<Pull>>);

impl Loads {
    /// Those of a world.
    ///
    /// # Errors
    /// If a number is not finite, or a group is not there.
    pub fn of(world: &World) -> Result<Loads, Refusal> {
        let mut loads = Loads::default();
        for given in &world.loads {
            if given.group as usize >= world.groups.len() {
                return Err(Refusal::Setting {
                    what: "group of a load",
                    value: f64::from(given.group),
                    must: "the index of a group of the world",
                });
            }
            if let Some(&value) = given.force.iter().chain(&given.torque).find(|x| !x.is_finite()) {
                return Err(Refusal::Setting {
                    what: "force or torque of a load",
                    value,
                    must: "finite numbers",
                });
            }
            loads.0.resize(world.groups.len(), None);
            let (force, torque) = (vector(given.force), vector(given.torque));
            let of_group = &mut loads.0[given.group as usize];
            *of_group = Some(of_group.map_or(Pull { force, torque }, |others| Pull {
                force: others.force.plus(&force),
                torque: others.torque.plus(&torque),
            }));
        }
        Ok(loads)
    }

    /// What they read of the grains, and the forces and torques that they add to.
    fn and_fields<'a>(&'a self, fields: &'a mut Fields) -> (Loaded<'a>, &'a mut [f64], &'a mut [f64]) {
        let loaded = Loaded {
            loads: self,
            group: &fields.group,
            member: &fields.member,
            velocity: &fields.velocity,
            spin: &fields.spin,
        };
        (loaded, &mut fields.force, &mut fields.torque)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Up to which group some may act on grains, wherever these are.
    pub fn groups(&self) -> u32 {
        self.0.len() as u32
    }

    /// Eight numbers for each of so many groups: force, padding, torque, padding.
    pub fn records(&self, groups: u32) -> Vec<f64> {
        let record = |group| {
            self.on(group).map_or([0.0; 8], |pull| {
                let Pull { force, torque } = pull;
                [force.x, force.y, force.z, 0.0, torque.x, torque.y, torque.z, 0.0]
            })
        };
        (0..groups).flat_map(record).collect()
    }

    /// Puts a load in place of all that acts on its group.
    pub fn set(&mut self, given: &Load) {
        let group = given.group as usize;
        self.0.resize(self.0.len().max(group + 1), None);
        self.0[group] = Some(Pull {
            force: vector(given.force),
            torque: vector(given.torque),
        });
    }

    /// What acts on the grains of a group.
    fn on(&self, group: u32) -> Option<&Pull> {
        self.0.get(group as usize)?.as_ref()
    }
}

/// What loads read of the grains. `spin` is empty where nothing turns.
struct Loaded<'a> {
    loads: &'a Loads,
    group: &'a [u32],
    member: &'a [u32],
    velocity: &'a [f64],
    spin: &'a [f64],
}

impl Loaded<'_> {
    /// Lays its load on grain i, whose force and torque stand in slot `slot`; returns the power of the load \[W\].
    fn lay_on(&self, i: usize, slot: usize, force: &mut [f64], torque: &mut [f64]) -> f64 {
        if let Some(pull) = self.loads.on(self.group[i]) {
            add(force, slot * RECORD, &pull.force);
            if !self.spin.is_empty() {
                add(torque, slot * RECORD, &pull.torque);
            }
        }
        self.power(i)
    }

    /// Power of the load on grain i \[W\]; that on a copy of a grain of another domain is booked there.
    fn power(&self, i: usize) -> f64 {
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

impl Simulation {
    /// Whether anything but gravity acts from outside, or may: loads, or what holds bodies.
    pub(crate) fn is_driven(&self) -> bool {
        !self.loads.is_empty() || !self.bodies.held.is_empty() || !self.switched.is_empty()
    }

    /// Lays the loads on the grains, after all else that pushes on them is found, and tallies what they and what holds bodies do with the
    /// work of walls.
    pub(crate) fn drive(&mut self) {
        self.lay_loads();
        let power = self.power_of_holding();
        if let Some(tally) = self.wall_tallies.first_mut() {
            tally.wall_power += power;
        }
    }

    /// As [`Simulation::drive`], at time zero; returns the power \[W\].
    pub(crate) fn drive_at_start(&mut self) -> f64 {
        let laid = self.lay_loads_on(0..self.fields.len());
        laid + self.power_of_holding()
    }

    /// Lays their loads on some grains, in turn; returns the power \[W\].
    pub(crate) fn lay_loads_on(&mut self, grains: Range<usize>) -> f64 {
        let (loaded, force, torque) = self.loads.and_fields(&mut self.fields);
        grains.fold(0.0, |power, i| power + loaded.lay_on(i, i, force, torque))
    }

    /// Puts a load in place of all that acts on its group, in the forces of this moment, too.
    pub(crate) fn load_anew(&mut self, load: &Load) {
        self.add_load_of(load.group, -1.0);
        self.loads.set(load);
        self.add_load_of(load.group, 1.0);
    }

    /// Adds the load of a group to the forces on its grains so many times.
    fn add_load_of(&mut self, group: u32, times: f64) {
        let Some(pull) = self.loads.on(group).copied() else { return };
        let fields = &mut self.fields;
        for i in 0..fields.len() {
            if fields.group[i] != group {
                continue;
            }
            add(&mut fields.force, i * RECORD, &pull.force.times(times));
            if !fields.torque.is_empty() {
                add(&mut fields.torque, i * RECORD, &pull.torque.times(times));
            }
        }
    }

    /// Power of loads, and of what holds bodies, with the forces of this moment \[W\].
    pub(crate) fn power_of_driving(&self) -> f64 {
        let Fields {
            group,
            member,
            velocity,
            spin,
            ..
        } = &self.fields;
        let loaded = Loaded {
            loads: &self.loads,
            group,
            member,
            velocity,
            spin,
        };
        let of_loads = (0..group.len()).fold(0.0, |power, i| power + loaded.power(i));
        of_loads + self.power_of_holding()
    }

    /// Lays the loads on all grains.
    fn lay_loads(&mut self) {
        if self.loads.is_empty() {
            return;
        }
        let n = self.fields.len();
        let rotating = usize::from(self.frictional);
        let (loaded, force, torque) = self.loads.and_fields(&mut self.fields);
        let data = (
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut torque[..],
                per_part: PART * RECORD * rotating,
            },
            Strided {
                items: &mut self.wall_tallies[..],
                per_part: 1,
            },
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Strided<'a, Tally<f64>>);
        self.device.run(parts(n), data, |part, (force, torque, tally): Data| {
            let (first, end) = part_range(part, n);
            let power = (first..end).fold(0.0, |power, i| power + loaded.lay_on(i, i - first, force.items, torque.items));
            tally.items[0].wall_power += power;
        });
    }
}
