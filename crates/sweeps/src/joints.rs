//! Rigid bodies on joints fixed in space: a hinge, a ball joint or a slider.
//!
//! The constraints hold exactly, so nothing is iterated and nothing drifts. A body on a hinge or a ball joint only rotates about its pivot, with the
//! angular momentum and the inertia about the pivot. Its center of mass follows from its orientation. A body on a slider moves along its line.
//! Rounding errors are removed at every step.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::joints::{HINGE, JOINT, joint_at, unconstrained_rotation};
//! // A hinge with the axis z leaves only the rotation about z.
//! let mut joints = [0.0; JOINT];
//! (joints[0], joints[6]) = (f64::from(HINGE), 1.0);
//! let hinge = joint_at::<f64>(&joints, 0);
//! let spin = Vector3 { x: 3.0, y: 4.0, z: 5.0 };
//! assert_eq!(unconstrained_rotation::<f64>(&spin, &hinge), Vector3 { x: 0.0, y: 0.0, z: 5.0 });
//! ```

use crate::bodies::{BodyForce, orientation_at, store_orientation, stored_orientation_at, torque_of};
use crate::layout::{load, recall, store};
use crate::motion::{Acceleration, MotionReport, StepParameters, flags_of, kicked};
use cubecl::prelude::*;
use seixo_laws::motion::{drift, kick, local_damping, velocity_ahead};
use seixo_laws::rotation::{angular_velocity, nearest_rotation_about, rotated_freely};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3};

/// Numbers of the joint of a body: those of a [`JointConstraint`] in their order, and padding.
pub const JOINT: usize = 24;

/// Kind of joint: none.
pub const NO_JOINT: f32 = 0.0;

/// Kind of joint: a hinge.
pub const HINGE: f32 = 1.0;

/// Kind of joint: a ball joint.
pub const BALL: f32 = 2.0;

/// Kind of joint: a slider.
pub const SLIDER: f32 = 3.0;

/// Constraint of a body by a joint.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct JointConstraint<C: Real> {
    /// Kind of the joint, see [`NO_JOINT`] and the constants after it.
    pub kind: C,
    /// Pivot \[m\]. For a hinge it is the point of its axis nearest to the center of mass, for a slider a point of its line.
    pub point: Vector3<C>,
    /// Unit vector of a hinge or a slider; zero for a ball joint.
    pub axis: Vector3<C>,
    /// Vector from the pivot to the center of mass, in the body frame; zero for a slider \[m\].
    pub lever: Vector3<C>,
    /// Principal moments of inertia about the pivot \[kg m²\]. For a hinge all three are that about its axis, for a slider they are one.
    pub moments: Vector3<C>,
    /// Rotation from the principal axes about the pivot to the body frame. For a hinge, the third of these axes is that of the hinge.
    pub frame: Quaternion<C>,
    /// Orientation of the body at the start.
    pub start: Quaternion<C>,
}

/// The joint of body b.
#[cube]
#[inline(always)]
pub fn joint_at<C: Real>(joints: &[C], b: usize) -> JointConstraint<C> {
    let at = b * 24usize;
    JointConstraint::<C> {
        kind: joints[at],
        point: load::<C>(joints, at + 1usize),
        axis: load::<C>(joints, at + 4usize),
        lever: load::<C>(joints, at + 7usize),
        moments: load::<C>(joints, at + 10usize),
        frame: orientation_at::<C>(joints, at + 13usize),
        start: orientation_at::<C>(joints, at + 17usize),
    }
}

/// The component of a vector along a unit vector.
#[cube]
#[inline(always)]
fn along<C: Real>(v: &Vector3<C>, axis: &Vector3<C>) -> Vector3<C> {
    axis.times(v.dot(axis))
}

/// The unconstrained part of a torque, an angular velocity or an angular momentum.
#[cube]
#[inline(always)]
pub fn unconstrained_rotation<C: Real>(v: &Vector3<C>, joint: &JointConstraint<C>) -> Vector3<C> {
    let mut left = v.plus(&Vector3::<C>::zero());
    if joint.kind == C::new(HINGE) {
        left = along::<C>(v, &joint.axis);
    }
    if joint.kind == C::new(SLIDER) {
        left = Vector3::<C>::zero();
    }
    left
}

/// Rates of change of a body on a joint.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct JointResponse<C: Real> {
    /// Rate of its velocity along a slider; zero on other joints.
    pub sliding: Acceleration<C>,
    /// Rate of its angular momentum about the pivot; zero on a slider.
    pub turning: Acceleration<C>,
}

/// Response of a body on a joint to a force, gravity and local damping. `body_orientation` is its orientation.
#[cube]
#[inline(always)]
pub fn joint_response<C: Real>(
    push: &BodyForce<C>,
    joint: &JointConstraint<C>,
    body_orientation: &Quaternion<C>,
    velocity: &Vector3<C>,
    spin: &Vector3<C>,
    mass: C,
    stepping: &StepParameters<C, C>,
) -> JointResponse<C> {
    let pull = push.force.plus(&stepping.gravity.times(mass));
    let damped_pull = push.force.plus(&stepping.gravity.times(mass * stepping.damped_gravity));
    let arm = body_orientation.to_space(&joint.lever);
    let torque = unconstrained_rotation::<C>(&push.torque.plus(&arm.cross(&pull)), joint);
    let damped_torque = unconstrained_rotation::<C>(&push.torque.plus(&arm.cross(&damped_pull)), joint);
    let mut force = Vector3::<C>::zero();
    let mut damped_force = Vector3::<C>::zero();
    if joint.kind == C::new(SLIDER) {
        force = along::<C>(&pull, &joint.axis);
        damped_force = along::<C>(&damped_pull, &joint.axis);
    }
    let brake = local_damping::<C>(&damped_force, velocity, stepping.local_damping);
    let rate = force.plus(&brake).times(C::inverse(mass));
    JointResponse::<C> {
        sliding: Acceleration::<C> { rate, brake },
        turning: torque_of::<C>(spin, &torque, &damped_torque, stepping.local_damping),
    }
}

/// Angular velocity of a body on a joint with this angular momentum about the pivot \[kg m²/s\], in \[rad/s\].
#[cube]
#[inline(always)]
pub fn spin_on<C: Real>(joint: &JointConstraint<C>, body_orientation: &Quaternion<C>, momentum: &Vector3<C>) -> Vector3<C> {
    let spin = angular_velocity::<C>(&body_orientation.after(&joint.frame), momentum, &joint.moments);
    unconstrained_rotation::<C>(&spin, joint)
}

/// Velocity of the center of mass of a body on a joint with this angular velocity \[rad/s\], in \[m/s\]. On a slider it is the component of `sliding`
/// \[m/s\] along the line.
#[cube]
#[inline(always)]
pub fn velocity_on<C: Real>(
    joint: &JointConstraint<C>,
    body_orientation: &Quaternion<C>,
    spin: &Vector3<C>,
    sliding: &Vector3<C>,
) -> Vector3<C> {
    let mut velocity = spin.cross(&body_orientation.to_space(&joint.lever));
    if joint.kind == C::new(SLIDER) {
        velocity = along::<C>(sliding, &joint.axis);
    }
    velocity
}

/// Center of mass of a body on a joint \[m\]. On a slider it is the point of its line nearest to `slid` \[m\].
#[cube]
#[inline(always)]
pub fn center_on<C: Real>(joint: &JointConstraint<C>, body_orientation: &Quaternion<C>, slid: &Vector3<C>) -> Vector3<C> {
    let mut arm = body_orientation.to_space(&joint.lever);
    if joint.kind == C::new(SLIDER) {
        arm = along::<C>(&slid.minus(&joint.point), &joint.axis);
    }
    joint.point.plus(&arm)
}

/// Orientation of a body on a joint after one step, with this angular momentum about the pivot \[kg m²/s\].
#[cube]
#[inline(always)]
fn rotated_on_joint<C: Real>(joint: &JointConstraint<C>, body_orientation: &Quaternion<C>, momentum: &Vector3<C>, dt: C) -> Quaternion<C> {
    let own = rotated_freely::<C>(&body_orientation.after(&joint.frame), momentum, &joint.moments, dt);
    let mut turned = own.after(&joint.frame.back());
    if joint.kind == C::new(HINGE) {
        turned = nearest_rotation_about::<C>(&turned, &joint.start, &joint.axis);
    }
    if joint.kind == C::new(SLIDER) {
        turned = Quaternion::<C> {
            w: joint.start.w,
            x: joint.start.x,
            y: joint.start.y,
            z: joint.start.z,
        };
    }
    turned
}

/// As [`crate::bodies::advance_body()`], for a body on a joint. `momentum` is its angular momentum about the pivot.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance_on_joint<C: Coordinate<C>>(
    b: usize,
    push: &BodyForce<C>,
    joints: &[C],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    orientation: &mut [C],
    velocity: &mut [C],
    spin: &mut [C],
    stepping: &StepParameters<C, C>,
) -> MotionReport<C> {
    let at = b * 4usize;
    let mass = center[at + 3usize];
    let joint = joint_at::<C>(joints, b);
    let before = stored_orientation_at::<C>(orientation, at);
    let moves = recall::<C>(velocity, at);
    let rotates = recall::<C>(spin, at);
    let yields = joint_response::<C>(push, &joint, &before, &moves, &rotates, mass, stepping);
    let onward = kicked::<C, C, C>(&recall::<C>(half_velocity, at), &yields.sliding, stepping, stepping.lag);
    let slid = drift::<C>(&recall::<C>(center, at), &onward.moving, stepping.dt);

    let kept = recall::<C>(momentum, at);
    let after = unconstrained_rotation::<C>(&kick::<C, C>(&kept, &yields.turning.rate, stepping.dt), &joint);
    let turns_with = after.plus(&kept.minus(&after).times(stepping.lag));
    let turned = rotated_on_joint::<C>(&joint, &before, &turns_with, stepping.dt);
    let read = velocity_ahead::<C>(&after, &yields.turning.rate, stepping.reads_ahead);
    let turning = spin_on::<C>(&joint, &turned, &read);
    let middle = spin_on::<C>(&joint, &before, &kept.plus(&after));
    let new = center_on::<C>(&joint, &turned, &slid);

    store::<C>(half_velocity, at, &velocity_on::<C>(&joint, &turned, &turning, &onward.half));
    store::<C>(velocity, at, &velocity_on::<C>(&joint, &turned, &turning, &onward.whole));
    store::<C>(center, at, &new);
    store::<C>(momentum, at, &after);
    store_orientation::<C>(orientation, at, &turned);
    store::<C>(spin, at, &turning);
    let nowhere = C::new(0.0);
    MotionReport::<C> {
        flags: flags_of::<C, C>(&new, nowhere, nowhere, stepping) & 8u32,
        damping_work: onward.damping_work - yields.turning.brake.dot(&middle) * (C::new(0.5) * stepping.dt),
        stride_square: nowhere,
    }
}
