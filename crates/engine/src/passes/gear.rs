//! Pass of Gear's method, in place of kick and drift: it corrects each grain with the forces of the previous step, and predicts the next.

use crate::fields::{Fields, PART, part_range, parts};
use crate::populations::Populations;
use seixo_device::Strided;
use seixo_laws::motion::Scheme;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::gear::{
    GearForces, GearState, ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES, advance_by_gear, begin, extrapolate, rates_of,
    set_higher_derivatives,
};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{AT_REST, MotionReport};
use std::ops::Range;

impl Populations {
    /// Whether Gear's method integrates the grains.
    pub(crate) fn is_geared(&self) -> bool {
        self.context.settings.scheme.corrects().is_some()
    }

    /// Initializes Gear's method for some grains: second derivatives follow from the forces, third and fourth are zero.
    pub(crate) fn begin_gear(&mut self, grains: Range<usize>) {
        if !self.is_geared() {
            return;
        }
        let stepping = self.context.stepping;
        let (mut geared, pushed) = geared(&mut self.grains.fields);
        grains.for_each(|i| begin(i, &mut geared, |grains| rates_of(i, grains, &pushed, &stepping)));
    }

    /// Second derivatives of some grains under the present forces; none without Gear's method.
    pub(crate) fn second_derivatives(&mut self, grains: &[usize]) -> Vec<([f64; 3], [f64; 4])> {
        if !self.is_geared() {
            return Vec::new();
        }
        let stepping = self.context.stepping;
        let (geared, pushed) = geared(&mut self.grains.fields);
        grains.iter().map(|&i| rates_of(i, &geared, &pushed, &stepping)).collect()
    }

    /// Adds to the second derivatives of some grains what forces changed since `before`: a jump of forces is no error of the series.
    pub(crate) fn shift_second_derivatives(&mut self, grains: &[usize], before: &[([f64; 3], [f64; 4])]) {
        let now = self.second_derivatives(grains);
        let fields = &mut self.grains.fields;
        for ((&i, before), now) in grains.iter().zip(before).zip(&now) {
            let second = &mut fields.position_derivatives[i * POSITION_DERIVATIVES..][..3];
            for (slot, (now, before)) in second.iter_mut().zip(now.0.iter().zip(&before.0)) {
                *slot += now - before;
            }
            // The second derivative of the orientation is behind the first.
            let at = i * ORIENTATION_DERIVATIVES + RECORD;
            if let Some(second) = fields.orientation_derivatives.get_mut(at..at + RECORD) {
                for (slot, (now, before)) in second.iter_mut().zip(now.1.iter().zip(&before.1)) {
                    *slot += now - before;
                }
            }
        }
    }

    /// Like [`Populations::begin_gear`], for those of some bodies that move freely.
    pub(crate) fn begin_gear_of_bodies(&mut self, bodies: Range<usize>) {
        if !self.is_geared() {
            return;
        }
        self.bodies.make_room_for_gear();
        bodies.for_each(|b| self.bodies.begin_gear(b, &self.grains.fields, &self.context.stepping));
    }

    /// Like [`Populations::begin_gear`] at time zero for all grains and bodies, with third and fourth derivatives, without which the first step would
    /// lose two orders.
    ///
    /// These follow from the forces at the positions one step later and earlier. Contact histories are cleared for each evaluation.
    pub(crate) fn begin_gear_at_start(&mut self) {
        if !self.is_geared() {
            return;
        }
        let n = self.grains.fields.len();
        self.begin_gear(0..n);
        self.begin_gear_of_bodies(0..self.bodies.len());
        let (dt, stepping, bonds) = (self.context.stepping.dt, self.context.stepping, self.bonds.clone());
        // The first round uses a series that ends with the second derivative.
        for _round in 0..2 {
            let start = (self.grains.fields.clone(), self.bodies.clone());
            let (mut rates, mut of_bodies) = (Vec::new(), Vec::new());
            for time in [-dt, dt] {
                let (mut there, _) = geared(&mut self.grains.fields);
                (0..n).for_each(|i| extrapolate(i, &mut there, time));
                self.bodies.extrapolate(time);
                self.place_members_of_free_bodies();
                self.initial_forces();
                of_bodies.push(self.bodies.second_derivatives(&self.grains.fields, &stepping));
                let (there, pushed) = geared(&mut self.grains.fields);
                rates.push((0..n).map(|i| rates_of(i, &there, &pushed, &stepping)).collect::<Vec<_>>());
                (self.grains.fields, self.bodies) = start.clone();
                self.bonds = bonds.clone();
            }
            let (mut grains, _) = geared(&mut self.grains.fields);
            (0..n).for_each(|i| set_higher_derivatives(i, &mut grains, &rates[0][i], &rates[1][i], dt));
            self.bodies.set_higher_derivatives(&of_bodies[0], &of_bodies[1], dt);
        }
        self.initial_forces();
    }

    /// Computes the forces at the current positions as at time zero, without contact histories.
    fn initial_forces(&mut self) {
        self.grains.pairs.clear_histories();
        self.walls.history.fill(0.0);
        self.contact_forces();
        self.wall_contacts();
        self.bond_forces();
        self.add_loads(0..self.grains.fields.len());
    }

    /// Integrates all grains over one step.
    pub(crate) fn advance_grains_by_gear(&mut self) {
        self.context.steps += 1;
        let share = self.context.settings.scheme.corrects().unwrap_or(Scheme::GEAR);
        let n = self.grains.fields.len();
        let Fields {
            member,
            position,
            velocity,
            spin,
            half_velocity,
            half_spin,
            force,
            torque,
            reference,
            orientation,
            position_derivatives,
            orientation_derivatives,
            ..
        } = &mut self.grains.fields;
        let (member, force, torque, reference, stepping) = (&member[..], &force[..], &torque[..], &reference[..], &self.context.stepping);
        let rotating = usize::from(!orientation.is_empty());
        let records = |items, per_grain: usize| Strided {
            items,
            per_part: PART * per_grain,
        };
        let data = (
            (records(&mut position[..], RECORD), records(&mut velocity[..], RECORD)),
            (
                records(&mut half_velocity[..], 3),
                records(&mut position_derivatives[..], POSITION_DERIVATIVES),
            ),
            (records(&mut spin[..], RECORD * rotating), records(&mut half_spin[..], 3 * rotating)),
            (
                records(&mut orientation[..], RECORD * rotating),
                records(&mut orientation_derivatives[..], ORIENTATION_DERIVATIVES * rotating),
            ),
            Strided {
                items: &mut self.grains.motion_reports[..],
                per_part: 1,
            },
        );
        type Numbers<'a> = (Strided<'a, f64>, Strided<'a, f64>);
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, MotionReport<f64>>);
        self.context
            .device
            .run(parts(n), data, |part, (places, rates, spins, orientations, moves): Data| {
                let (first, end) = part_range(part, n);
                let mut geared = GearState {
                    position: places.0.items,
                    velocity: places.1.items,
                    half_velocity: rates.0.items,
                    position_derivatives: rates.1.items,
                    spin: spins.0.items,
                    half_spin: spins.1.items,
                    orientation: orientations.0.items,
                    orientation_derivatives: orientations.1.items,
                };
                let pushed = GearForces {
                    force: &force[first * RECORD..],
                    torque: torque.get(first * RECORD..).unwrap_or(&[]),
                    reference: &reference[first * 3..],
                };
                let mut all = AT_REST;
                for i in 0..end - first {
                    if member.get(first + i).is_some_and(|&member| member != FREE) {
                        continue;
                    }
                    let moved = advance_by_gear(i, &mut geared, &pushed, stepping, share);
                    all.flags |= moved.flags;
                    all.stride_square = all.stride_square.max(moved.stride_square);
                    all.damping_work += moved.damping_work;
                }
                moves.items[0] = all;
            });
    }
}

/// State of all grains for Gear's method, with room for their derivatives, and the forces on them.
pub(crate) fn geared(fields: &mut Fields) -> (GearState<'_>, GearForces<'_>) {
    fields.position_derivatives.resize(fields.id.len() * POSITION_DERIVATIVES, 0.0);
    fields
        .orientation_derivatives
        .resize(fields.orientation.len() / RECORD * ORIENTATION_DERIVATIVES, 0.0);
    let grains = GearState {
        position: &mut fields.position,
        velocity: &mut fields.velocity,
        half_velocity: &mut fields.half_velocity,
        position_derivatives: &mut fields.position_derivatives,
        spin: &mut fields.spin,
        half_spin: &mut fields.half_spin,
        orientation: &mut fields.orientation,
        orientation_derivatives: &mut fields.orientation_derivatives,
    };
    let pushed = GearForces {
        force: &fields.force,
        torque: &fields.torque,
        reference: &fields.reference,
    };
    (grains, pushed)
}
