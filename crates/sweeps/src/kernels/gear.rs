//! Gear's method: grains advance by their series, with stored forces.

use super::bonds::{quaternion, record_of};
use super::{add_sum, begins, raise};
use crate::bodies::FREE;
use crate::gear::{gear_rotation, gear_translation};
use crate::layout::{Record, between_steps, kept_beside, last, record, xyz};
use crate::motion::{StepParameters, acceleration, angular_acceleration, flags_of};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, near_vector, widened};

/// A number of the laws in the precision of coordinates.
#[cube]
fn wide<C: Coordinate<R>, R: Real>(number: R) -> C {
    C::wide(number)
}

/// A number of coordinates in the precision of laws.
#[cube]
fn near<C: Coordinate<R>, R: Real>(number: C) -> R {
    C::near(number)
}

/// Advances the n grains by one step, except those of bodies, and counts the step. `half_velocity` keeps the first derivative of the position in the
/// precision of coordinates, and `half_spin` the angular velocity, see [`kept_beside()`]. Values for laws are written to `new_velocity` and `new_spin`.
/// Without `turning` grains do not rotate.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn advance_by_gear<R: Real, C: Coordinate<R> + Coordinate<C>>(
    member: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    force: &[Record<R>],
    torque: &[Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    position_derivatives: &mut [C],
    orientation: &mut [Record<C>],
    orientation_derivatives: &mut [C],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &StepParameters<C, C>,
    share: C,
    n: u32,
    parity: u32,
    #[comptime] damped: bool,
    #[comptime] turning: bool,
    #[comptime] carries: bool,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    let goes = begins(flags, parity, true);
    if goes && i < n as usize {
        let mut wanted = true;
        if carries {
            wanted = wanted && member[i] == FREE;
        }
        let here = position[i];
        let moving = velocity[i];
        if wanted {
            let mass = wide::<C, R>(last::<R>(moving));
            let half = half_velocity[i];
            let place = xyz::<C>(here);
            let speed = between_steps::<C, R>(moving, half);
            let push = widened::<C, R>(&xyz::<R>(force[i]));
            let pushed = acceleration::<C, C>(&speed, mass, &push, stepping);
            let mut damping_work = -pushed.brake.dot(&speed) * stepping.dt;
            let gone = gear_translation::<C>(i, &place, &speed, &pushed.rate, position_derivatives, share, stepping.dt);
            let stride = gone.position.minus(&place);
            let moved = gone.position.minus(&xyz::<C>(reference[i]));
            let raised = flags_of::<C, C>(&gone.position, stride.dot(&stride), moved.dot(&moved), stepping);
            new_position[i] = record::<C>(&gone.position, last::<C>(here));
            let read = near_vector::<C, R>(&gone.velocity);
            new_velocity[i] = record::<R>(&read, last::<R>(moving));
            half_velocity[i] = kept_beside::<C, R>(&gone.velocity, &read, last::<R>(half));
            if turning {
                let before = spin[i];
                let spun = widened::<C, R>(&xyz::<R>(before));
                let bend = widened::<C, R>(&xyz::<R>(torque[i]));
                let bent = angular_acceleration::<C, C>(&spun, mass, last::<C>(here), &bend, stepping);
                damping_work -= bent.brake.dot(&spun) * stepping.dt;
                let body_orientation = quaternion::<C>(orientation[i]);
                let turned = gear_rotation::<C>(i, &body_orientation, &bent.rate, orientation_derivatives, share, stepping.dt);
                orientation[i] = record_of::<C>(&turned.orientation);
                let sum = last::<R>(half_spin[i]);
                let read_spin = near_vector::<C, R>(&turned.spin);
                half_spin[i] = kept_beside::<C, R>(&turned.spin, &read_spin, sum);
                new_spin[i] = record::<R>(&read_spin, last::<R>(before));
            }
            took.insert(3usize, near::<C, R>(damping_work));
            raise(flags, parity, raised);
        } else {
            // Its body moves it.
            new_velocity[i] = moving;
            if turning {
                new_spin[i] = spin[i];
            }
        }
    }
    if damped {
        add_sum::<C, R>(power, took);
    }
}
