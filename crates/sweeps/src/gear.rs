//! Motion of grains and bodies by Gear's method: correction by the force of the step before, then prediction.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::gear::{POSITION_DERIVATIVES, gear_translation};
//! // Under a constant acceleration of 2 m/s² the series is exact: x = v t + ½ a t².
//! let along_x = |x: f64| Vector3 { x, y: 0.0, z: 0.0 };
//! let mut derivatives = [0.0; POSITION_DERIVATIVES];
//! derivatives[0] = 2.0;
//! let (start, velocity, rate) = (along_x(0.0), along_x(1.0), along_x(2.0));
//! let after = gear_translation::<f64>(0, &start, &velocity, &rate, &mut derivatives, 19.0 / 90.0, 0.5);
//! assert_eq!((after.position.x, after.velocity.x), (0.75, 2.0));
//! ```

use crate::bodies::{BodyForce, orientation_at, store_orientation, stored_orientation_at, torque_of};
use crate::layout::{load, recall, store};
use crate::motion::{MotionReport, StepParameters, acceleration, angular_acceleration, flags_of};
use cubecl::prelude::*;
use seixo_laws::motion::gear::{TaylorSeries, corrected, predicted};
use seixo_laws::rotation::{angular_acceleration_of_body, angular_momentum};
use seixo_laws::{Quaternion, Real, Vector3};

/// Numbers of the higher position derivatives of a grain or a body: second, third and fourth.
pub const POSITION_DERIVATIVES: usize = 9;

/// Numbers of the derivatives of its orientation: first to fourth.
pub const ORIENTATION_DERIVATIVES: usize = 16;

/// State of grains for Gear's method, slot by slot; or that of bodies, of which [`begin()`], [`extrapolate()`], [`second_derivatives()`] and
/// [`set_higher_derivatives()`] need no values for laws.
pub struct GearState<'a> {
    /// Centers, and radii of grains.
    pub position: &'a mut [f64],
    /// Velocities, and masses of grains.
    pub velocity: &'a mut [f64],
    /// Velocities for laws; equal to `velocity`.
    pub half_velocity: &'a mut [f64],
    /// Second to fourth derivatives of positions.
    pub position_derivatives: &'a mut [f64],
    /// Angular velocities; empty without rotation.
    pub spin: &'a mut [f64],
    /// Angular velocities for laws; equal to `spin`.
    pub half_spin: &'a mut [f64],
    /// Orientations.
    pub orientation: &'a mut [f64],
    /// First to fourth derivatives of orientations.
    pub orientation_derivatives: &'a mut [f64],
}

/// Forces that act on grains, slot by slot.
pub struct GearForces<'a> {
    /// Contact forces.
    pub force: &'a [f64],
    /// Torques; empty without rotation.
    pub torque: &'a [f64],
    /// Positions of grains at the last list rebuild.
    pub reference: &'a [f64],
}

impl GearState<'_> {
    /// Position of the grain in slot i along an axis, with its derivatives.
    fn position_series(&self, i: usize, axis: usize) -> TaylorSeries<f64> {
        let position_derivatives = i * POSITION_DERIVATIVES + axis;
        TaylorSeries {
            value: self.position[i * 4 + axis],
            first: self.velocity[i * 4 + axis],
            second: self.position_derivatives[position_derivatives],
            third: self.position_derivatives[position_derivatives + 3],
            fourth: self.position_derivatives[position_derivatives + 6],
        }
    }

    /// A component of the orientation of the grain in slot i, with its derivatives.
    fn orientation_series(&self, i: usize, part: usize) -> TaylorSeries<f64> {
        let orientation_derivatives = &self.orientation_derivatives[i * ORIENTATION_DERIVATIVES..];
        TaylorSeries {
            value: self.orientation[i * 4 + part],
            first: orientation_derivatives[part],
            second: orientation_derivatives[4 + part],
            third: orientation_derivatives[8 + part],
            fourth: orientation_derivatives[12 + part],
        }
    }
}

/// A vector as a quaternion.
#[cube]
#[inline(always)]
fn pure<C: Real>(v: &Vector3<C>) -> Quaternion<C> {
    Quaternion::<C> {
        w: C::new(0.0),
        x: v.x,
        y: v.y,
        z: v.z,
    }
}

/// ω = 2 q̇ q* in space.
#[cube]
#[inline(always)]
fn spin_of<C: Real>(orientation: &Quaternion<C>, rate: &Quaternion<C>) -> Vector3<C> {
    let half = rate.after(&orientation.back());
    Vector3::<C> {
        x: half.x * C::new(2.0),
        y: half.y * C::new(2.0),
        z: half.z * C::new(2.0),
    }
}

/// q̈ = ½ ω̇ q − |q̇|² q with this angular acceleration in space \[PUC-Rio n.d., algorithm 6\].
#[cube]
#[inline(always)]
fn orientation_acceleration<C: Real>(orientation: &Quaternion<C>, rate: &Quaternion<C>, turning: &Vector3<C>) -> Quaternion<C> {
    let bend = pure::<C>(turning).after(orientation);
    let square = rate.w * rate.w + rate.x * rate.x + rate.y * rate.y + rate.z * rate.z;
    Quaternion::<C> {
        w: C::new(0.5) * bend.w - square * orientation.w,
        x: C::new(0.5) * bend.x - square * orientation.x,
        y: C::new(0.5) * bend.y - square * orientation.y,
        z: C::new(0.5) * bend.z - square * orientation.z,
    }
}

/// A number and its first derivative.
#[derive(CubeType, Clone, Copy, Debug)]
struct Pace<C: Real> {
    value: C,
    first: C,
}

/// A number and its first derivative after one step, corrected with the second derivative `second`. Its second to fourth derivatives are in `higher`
/// from index `at` on, `apart` from each other.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a number, its derivatives, and where they are")]
fn onward<C: Real>(higher: &mut [C], at: usize, apart: usize, value: C, first: C, second: C, share: C, dt: C) -> Pace<C> {
    let fourth = higher[at + apart + apart];
    let series = TaylorSeries::<C> {
        value,
        first,
        second: higher[at],
        third: higher[at + apart],
        fourth,
    };
    let mended = corrected::<C>(&series, second, share, dt);
    let next = predicted::<C>(&mended, dt);
    higher[at] = next.second;
    higher[at + apart] = next.third;
    higher[at + apart + apart] = next.fourth;
    Pace::<C> {
        value: next.value,
        first: next.first,
    }
}

/// Position and velocity of a grain after one step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct GearPosition<C: Real> {
    /// Its center \[m\].
    pub position: Vector3<C>,
    /// Its velocity \[m/s\].
    pub velocity: Vector3<C>,
}

/// Position and velocity of the grain in slot i after one step with this acceleration. Its other derivatives are in `position_derivatives`. `share` is that of
/// [`corrected()`].
#[cube]
#[inline(always)]
pub fn gear_translation<C: Real>(
    i: usize,
    position: &Vector3<C>,
    velocity: &Vector3<C>,
    rate: &Vector3<C>,
    position_derivatives: &mut [C],
    share: C,
    dt: C,
) -> GearPosition<C> {
    let at = i * 9usize;
    let x = onward::<C>(position_derivatives, at, 3usize, position.x, velocity.x, rate.x, share, dt);
    let y = onward::<C>(position_derivatives, at + 1usize, 3usize, position.y, velocity.y, rate.y, share, dt);
    let z = onward::<C>(position_derivatives, at + 2usize, 3usize, position.z, velocity.z, rate.z, share, dt);
    let place = Vector3::<C> {
        x: x.value,
        y: y.value,
        z: z.value,
    };
    let speed = Vector3::<C> {
        x: x.first,
        y: y.first,
        z: z.first,
    };
    GearPosition::<C> {
        position: place,
        velocity: speed,
    }
}

/// Orientation and angular velocity of a grain after one step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct GearOrientation<C: Real> {
    /// Orientation.
    pub orientation: Quaternion<C>,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<C>,
}

/// Orientation and angular velocity ω = 2 q̇ q* of the grain in slot i after one step with this angular acceleration. The conditions |q| = 1 and
/// q·q̇ = 0 are restored. Its derivatives are in `orientation_derivatives`.
#[cube]
#[inline(always)]
pub fn gear_rotation<C: Real>(
    i: usize,
    orientation: &Quaternion<C>,
    turning: &Vector3<C>,
    orientation_derivatives: &mut [C],
    share: C,
    dt: C,
) -> GearOrientation<C> {
    let at = i * 16usize;
    let rate = stored_orientation_at::<C>(orientation_derivatives, at);
    let second = orientation_acceleration::<C>(orientation, &rate, turning);
    let w = onward::<C>(
        orientation_derivatives,
        at + 4usize,
        4usize,
        orientation.w,
        rate.w,
        second.w,
        share,
        dt,
    );
    let x = onward::<C>(
        orientation_derivatives,
        at + 5usize,
        4usize,
        orientation.x,
        rate.x,
        second.x,
        share,
        dt,
    );
    let y = onward::<C>(
        orientation_derivatives,
        at + 6usize,
        4usize,
        orientation.y,
        rate.y,
        second.y,
        share,
        dt,
    );
    let z = onward::<C>(
        orientation_derivatives,
        at + 7usize,
        4usize,
        orientation.z,
        rate.z,
        second.z,
        share,
        dt,
    );
    let long = Quaternion::<C> {
        w: w.value,
        x: x.value,
        y: y.value,
        z: z.value,
    };
    let after = long.normalized();
    let along = after.w * w.first + after.x * x.first + after.y * y.first + after.z * z.first;
    let next = Quaternion::<C> {
        w: w.first - along * after.w,
        x: x.first - along * after.x,
        y: y.first - along * after.y,
        z: z.first - along * after.z,
    };
    store_orientation::<C>(orientation_derivatives, at, &next);
    let spin = spin_of::<C>(&after, &next);
    GearOrientation::<C> { orientation: after, spin }
}

/// Initializes the grain or body in slot i: its second derivatives are these `rates` of its position and orientation, its third and fourth are zero.
pub fn begin(i: usize, grains: &mut GearState, rates: impl FnOnce(&GearState) -> ([f64; 3], [f64; 4])) {
    grains.position_derivatives[i * POSITION_DERIVATIVES..(i + 1) * POSITION_DERIVATIVES].fill(0.0);
    if !grains.orientation.is_empty() {
        let (orientation, spin) = (orientation_at(grains.orientation, i * 4), load(grains.spin, i * 4));
        let first = pure(&spin.times(0.5)).after(&orientation);
        grains.orientation_derivatives[i * ORIENTATION_DERIVATIVES..(i + 1) * ORIENTATION_DERIVATIVES].fill(0.0);
        store_orientation(grains.orientation_derivatives, i * ORIENTATION_DERIVATIVES, &first);
    }
    let (way, turning) = rates(grains);
    grains.position_derivatives[i * POSITION_DERIVATIVES..][..3].copy_from_slice(&way);
    if !grains.orientation.is_empty() {
        grains.orientation_derivatives[i * ORIENTATION_DERIVATIVES + 4..][..4].copy_from_slice(&turning);
    }
}

/// Extrapolates the grain or body in slot i by its series over a time \[s\], without forces.
pub fn extrapolate(i: usize, grains: &mut GearState, time: f64) {
    let at = i * 4;
    for axis in 0..3 {
        let ahead = predicted(&grains.position_series(i, axis), time);
        (grains.position[at + axis], grains.velocity[at + axis]) = (ahead.value, ahead.first);
    }
    if grains.orientation.is_empty() {
        return;
    }
    for part in 0..4 {
        let ahead = predicted(&grains.orientation_series(i, part), time);
        (
            grains.orientation[at + part],
            grains.orientation_derivatives[i * ORIENTATION_DERIVATIVES + part],
        ) = (ahead.value, ahead.first);
    }
    let orientation = orientation_at(grains.orientation, at).normalized();
    store_orientation(grains.orientation, at, &orientation);
    store(
        grains.spin,
        at,
        &spin_of(
            &orientation,
            &orientation_at(grains.orientation_derivatives, i * ORIENTATION_DERIVATIVES),
        ),
    );
}

/// Second derivatives of position and orientation of the grain in slot i under the present forces.
pub fn rates_of(i: usize, grains: &GearState, pushed: &GearForces, stepping: &StepParameters<f64, f64>) -> ([f64; 3], [f64; 4]) {
    let at = i * 4;
    let (radius, mass) = (grains.position[at + 3], grains.velocity[at + 3]);
    let rate = acceleration(&load(grains.velocity, at), mass, &load(pushed.force, at), stepping).rate;
    let turning = if grains.orientation.is_empty() {
        Vector3::zero()
    } else {
        angular_acceleration(&load(grains.spin, at), mass, radius, &load(pushed.torque, at), stepping).rate
    };
    second_derivatives(i, grains, &rate, &turning)
}

/// Second derivatives of position and orientation of the grain or body in slot i, with this acceleration \[m/s²\] and angular acceleration in space
/// \[rad/s²\].
pub fn second_derivatives(i: usize, grains: &GearState, rate: &Vector3<f64>, turning: &Vector3<f64>) -> ([f64; 3], [f64; 4]) {
    let rate = [rate.x, rate.y, rate.z];
    if grains.orientation.is_empty() {
        return (rate, [0.0; 4]);
    }
    let Quaternion { w, x, y, z } = orientation_acceleration(
        &orientation_at(grains.orientation, i * 4),
        &orientation_at(grains.orientation_derivatives, i * ORIENTATION_DERIVATIVES),
        turning,
    );
    (rate, [w, x, y, z])
}

/// Sets the third and fourth derivatives of the grain or body in slot i from its second derivatives now, and a time `time` \[s\] before and after.
pub fn set_higher_derivatives(i: usize, grains: &mut GearState, before: &([f64; 3], [f64; 4]), after: &([f64; 3], [f64; 4]), time: f64) {
    let slopes = |now: f64, before: f64, after: f64| [(after - before) / (2.0 * time), (after - 2.0 * now + before) / (time * time)];
    let position_derivatives = &mut grains.position_derivatives[i * POSITION_DERIVATIVES..(i + 1) * POSITION_DERIVATIVES];
    for axis in 0..3 {
        [position_derivatives[3 + axis], position_derivatives[6 + axis]] =
            slopes(position_derivatives[axis], before.0[axis], after.0[axis]);
    }
    if grains.orientation.is_empty() {
        return;
    }
    let orientation_derivatives = &mut grains.orientation_derivatives[i * ORIENTATION_DERIVATIVES..(i + 1) * ORIENTATION_DERIVATIVES];
    for part in 0..4 {
        [orientation_derivatives[8 + part], orientation_derivatives[12 + part]] =
            slopes(orientation_derivatives[4 + part], before.1[part], after.1[part]);
    }
}

/// Moves the grain in slot i by one step. `share` is that of [`corrected()`].
pub fn advance_by_gear(
    i: usize,
    grains: &mut GearState,
    pushed: &GearForces,
    stepping: &StepParameters<f64, f64>,
    share: f64,
) -> MotionReport<f64> {
    let (at, dt) = (i * 4, stepping.dt);
    let (radius, mass) = (grains.position[at + 3], grains.velocity[at + 3]);
    let old: Vector3<f64> = recall(grains.position, at);
    let velocity: Vector3<f64> = recall(grains.velocity, at);
    let moving = acceleration(&velocity, mass, &load(pushed.force, at), stepping);
    let mut damping_work = -moving.brake.dot(&velocity) * dt;
    let gone = gear_translation(i, &old, &velocity, &moving.rate, grains.position_derivatives, share, dt);
    store(grains.position, at, &gone.position);
    store(grains.velocity, at, &gone.velocity);
    store(grains.half_velocity, i * 3, &gone.velocity);
    if !grains.orientation.is_empty() {
        let spin: Vector3<f64> = recall(grains.spin, at);
        let turning = angular_acceleration(&spin, mass, radius, &load(pushed.torque, at), stepping);
        damping_work -= turning.brake.dot(&spin) * dt;
        let turned = gear_rotation(
            i,
            &orientation_at(grains.orientation, at),
            &turning.rate,
            grains.orientation_derivatives,
            share,
            dt,
        );
        store_orientation(grains.orientation, at, &turned.orientation);
        store(grains.spin, at, &turned.spin);
        store(grains.half_spin, i * 3, &turned.spin);
    }
    let new = gone.position;
    let (stride, moved) = (new.minus(&old), new.minus(&load(pushed.reference, i * 3)));
    MotionReport {
        flags: flags_of(&new, stride.dot(&stride), moved.dot(&moved), stepping),
        damping_work,
        stride_square: stride.dot(&stride),
    }
}

/// As [`crate::bodies::advance_body()`], by Gear's method. `half_velocity` and `momentum` are those at the whole step, as `velocity` and `spin` are.
/// Derivatives of positions and orientations are in `position_derivatives` and `orientation_derivatives`. `share` is that of [`corrected()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance_body_by_gear<C: Real>(
    b: usize,
    push: &BodyForce<C>,
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    orientation: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
    position_derivatives: &mut [C],
    orientation_derivatives: &mut [C],
    stepping: &StepParameters<C, C>,
    share: C,
) -> MotionReport<C> {
    let at = b * 4usize;
    let mass = center[at + 3usize];
    let place = recall::<C>(center, at);
    let moves = recall::<C>(half_velocity, at);
    let rotates = recall::<C>(spin, at);
    let before = stored_orientation_at::<C>(orientation, at);
    let own = load::<C>(moments, at);
    let moving = acceleration::<C, C>(&moves, mass, &push.force, stepping);
    let turning = torque_of::<C>(&rotates, &push.torque, &push.torque, stepping.local_damping);
    let bend = angular_acceleration_of_body::<C>(&before, &rotates, &turning.rate, &own);
    let gone = gear_translation::<C>(b, &place, &moves, &moving.rate, position_derivatives, share, stepping.dt);
    let turned = gear_rotation::<C>(b, &before, &bend, orientation_derivatives, share, stepping.dt);

    store::<C>(center, at, &gone.position);
    store::<C>(half_velocity, at, &gone.velocity);
    store::<C>(velocity, at, &gone.velocity);
    store_orientation::<C>(orientation, at, &turned.orientation);
    store::<C>(spin, at, &turned.spin);
    store::<C>(momentum, at, &angular_momentum::<C>(&turned.orientation, &turned.spin, &own));
    let nowhere = C::new(0.0);
    MotionReport::<C> {
        flags: flags_of::<C, C>(&gone.position, nowhere, nowhere, stepping) & 8u32,
        damping_work: -moving.brake.dot(&moves) * stepping.dt - turning.brake.dot(&rotates) * stepping.dt,
        stride_square: nowhere,
    }
}
