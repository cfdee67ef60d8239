//! External loads on grains, and their power.

use crate::fields::{Fields, PART, part_range, parts};
use crate::loads::LoadedGrains;
use crate::populations::Populations;
use crate::world::Load;
use seixo_device::Strided;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, add};
use std::ops::Range;

impl Populations {
    /// Whether there are or may be loads or prescribed motion.
    pub(crate) fn has_external_loads(&self) -> bool {
        !self.loads.is_empty() || !self.bodies.held.is_empty() || !self.constrained_groups.is_empty()
    }

    /// Whether loads depend on time.
    pub(crate) fn has_loads_of_time(&self) -> bool {
        self.loads.depend_on_time()
    }

    /// Evaluates the loads that depend on time at the present time.
    pub(crate) fn evaluate_loads(&mut self) {
        self.loads.go_to(self.context.time());
    }

    /// Adds the loads to the forces on grains, after all other forces. Adds the power of loads and prescribed motion to the power of walls.
    pub(crate) fn external_loads(&mut self) {
        self.apply_loads();
        let power = self.power_of_prescribed_motion();
        if let Some(power_sums) = self.grains.wall_power_sums.first_mut() {
            power_sums.wall_power += power;
        }
    }

    /// Like [`Populations::external_loads`], at time zero; returns the power \[W\].
    pub(crate) fn initial_external_loads(&mut self) -> f64 {
        let laid = self.add_loads(0..self.grains.fields.len());
        laid + self.power_of_prescribed_motion()
    }

    /// Adds the present loads of some grains, one after the other; returns the power \[W\].
    pub(crate) fn add_loads(&mut self, grains: Range<usize>) -> f64 {
        self.evaluate_loads();
        let (loaded, force, torque) = self.loads.and_fields(&mut self.grains.fields);
        grains.fold(0.0, |power, i| power + loaded.lay_on(i, i, force, torque))
    }

    /// Replaces the load of a group, and corrects the current forces.
    pub(crate) fn replace_load(&mut self, load: &Load) {
        self.evaluate_loads();
        self.add_load_of(load.group, -1.0);
        self.loads.set(load, self.context.time());
        self.add_load_of(load.group, 1.0);
    }

    /// Adds the load of a group, times a factor, to the forces on its grains.
    fn add_load_of(&mut self, group: u32, times: f64) {
        let Some(pull) = self.loads.on(group).copied() else { return };
        let fields = &mut self.grains.fields;
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

    /// Power of loads and of prescribed motion, with the current forces \[W\].
    pub(crate) fn power_of_external_loads(&mut self) -> f64 {
        self.evaluate_loads();
        let Fields {
            group,
            member,
            velocity,
            spin,
            given_load,
            ..
        } = &self.grains.fields;
        let loaded = LoadedGrains {
            loads: &self.loads,
            group,
            member,
            velocity,
            spin,
            given_load,
        };
        let of_loads = (0..group.len()).fold(0.0, |power, i| power + loaded.power(i));
        of_loads + self.power_of_prescribed_motion()
    }

    /// Adds the loads of all grains.
    fn apply_loads(&mut self) {
        if self.loads.is_empty() {
            return;
        }
        let n = self.grains.fields.len();
        let rotating = usize::from(self.context.materials.has_friction);
        let (loaded, force, torque) = self.loads.and_fields(&mut self.grains.fields);
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
                items: &mut self.grains.wall_power_sums[..],
                per_part: 1,
            },
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Strided<'a, PowerSums<f64>>);
        self.context.device.run(parts(n), data, |part, (force, torque, power_sums): Data| {
            let (first, end) = part_range(part, n);
            let power = (first..end).fold(0.0, |power, i| power + loaded.lay_on(i, i - first, force.items, torque.items));
            power_sums.items[0].wall_power += power;
        });
    }
}
