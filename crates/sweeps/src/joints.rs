//! Rigid bodies on joints to space, which bear what they do not let through: a hinge, a ball joint or a slider.
//!
//! What a joint forbids is never there, so nothing is iterated and nothing drifts. A body on a hinge or a ball joint has no motion but a turn about
//! its pivot, with the angular momentum and the inertia about that; its center of mass follows from its orientation. One on a slider goes along its
//! line. What rounding adds is left out again in every step.

use crate::bodies::{Push, recalled_turn, store_turn, turn_at, turning_of};
use crate::motion::{Acceleration, Moved, Stepping, flags_of, kicked};
use crate::views::{load, recall, store};
use cubecl::prelude::*;
use seixo_laws::motion::{drift, kick, local_damping, velocity_ahead};
use seixo_laws::rotation::{angular_velocity, turned_about_alone, turned_freely};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3};

/// Numbers of the joint of a body: those of a [`Bearing`] in their order, padding.
pub const JOINT: usize = 24;

/// Kind of joint: none.
pub const LOOSE: f32 = 0.0;

/// Kind of joint: a hinge.
pub const HINGE: f32 = 1.0;

/// Kind of joint: a ball joint.
pub const BALL: f32 = 2.0;

/// Kind of joint: a slider.
pub const SLIDER: f32 = 3.0;

/// How a joint bears its body.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Bearing<C: Real> {
    /// Its kind, see [`LOOSE`] and its like.
    pub kind: C,
    /// The pivot, which for a hinge is the point of its axis nearest to the center of mass; for a slider a point of its line \[m\].
    pub point: Vector3<C>,
    /// Unit vector along a hinge or a slider; zero for a ball joint.
    pub axis: Vector3<C>,
    /// From the pivot to the center of mass, in the frame of the body; zero for a slider \[m\].
    pub lever: Vector3<C>,
    /// Principal moments of inertia about the pivot; for a hinge all three are that about its axis, for a slider one \[kg m²\].
    pub moments: Vector3<C>,
    /// Turns the principal axes about the pivot, for a hinge axes of which the third is its own, into the frame of the body.
    pub frame: Quaternion<C>,
    /// Orientation of the body at the start.
    pub start: Quaternion<C>,
}

/// The joint of body b.
#[cube]
#[inline(always)]
pub fn bearing_at<C: Real>(joints: &[C], b: usize) -> Bearing<C> {
    let at = b * 24usize;
    Bearing::<C> {
        kind: joints[at],
        point: load::<C>(joints, at + 1usize),
        axis: load::<C>(joints, at + 4usize),
        lever: load::<C>(joints, at + 7usize),
        moments: load::<C>(joints, at + 10usize),
        frame: turn_at::<C>(joints, at + 13usize),
        start: turn_at::<C>(joints, at + 17usize),
    }
}

/// The part of a vector along a unit vector.
#[cube]
#[inline(always)]
fn along<C: Real>(v: &Vector3<C>, axis: &Vector3<C>) -> Vector3<C> {
    axis.times(v.dot(axis))
}

/// What a joint lets through of a torque, an angular velocity or an angular momentum.
#[cube]
#[inline(always)]
pub fn turning_left<C: Real>(v: &Vector3<C>, joint: &Bearing<C>) -> Vector3<C> {
    let mut left = v.plus(&Vector3::<C>::zero());
    if joint.kind == C::new(HINGE) {
        left = along::<C>(v, &joint.axis);
    }
    if joint.kind == C::new(SLIDER) {
        left = Vector3::<C>::zero();
    }
    left
}

/// What a push does to a body on a joint.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Yielded<C: Real> {
    /// To its velocity along a slider; a rate of zero on other joints.
    pub sliding: Acceleration<C>,
    /// To its angular momentum about the pivot; a rate of zero on a slider.
    pub turning: Acceleration<C>,
}

/// What a push, gravity and local damping do to a body on a joint that stands and moves like this.
#[cube]
#[inline(always)]
pub fn yielded<C: Real>(
    push: &Push<C>,
    joint: &Bearing<C>,
    stands: &Quaternion<C>,
    velocity: &Vector3<C>,
    spin: &Vector3<C>,
    mass: C,
    stepping: &Stepping<C, C>,
) -> Yielded<C> {
    let pull = push.force.plus(&stepping.gravity.times(mass));
    let arm = stands.turned(&joint.lever);
    let torque = turning_left::<C>(&push.torque.plus(&arm.cross(&pull)), joint);
    let mut force = Vector3::<C>::zero();
    if joint.kind == C::new(SLIDER) {
        force = along::<C>(&pull, &joint.axis);
    }
    let brake = local_damping::<C>(&force, velocity, stepping.local_damping);
    let rate = force.plus(&brake).times(C::inverse(mass));
    Yielded::<C> {
        sliding: Acceleration::<C> { rate, brake },
        turning: turning_of::<C>(spin, &torque, stepping.local_damping),
    }
}

/// Angular velocity \[rad/s\] of a body on a joint with this angular momentum about the pivot \[kg m²/s\].
#[cube]
#[inline(always)]
pub fn spin_on<C: Real>(joint: &Bearing<C>, stands: &Quaternion<C>, momentum: &Vector3<C>) -> Vector3<C> {
    let spin = angular_velocity::<C>(&stands.after(&joint.frame), momentum, &joint.moments);
    turning_left::<C>(&spin, joint)
}

/// Velocity \[m/s\] of the center of mass of a body on a joint that turns with this angular velocity \[rad/s\]; on a slider, what that leaves of
/// `sliding` \[m/s\].
#[cube]
#[inline(always)]
pub fn velocity_on<C: Real>(joint: &Bearing<C>, stands: &Quaternion<C>, spin: &Vector3<C>, sliding: &Vector3<C>) -> Vector3<C> {
    let mut velocity = spin.cross(&stands.turned(&joint.lever));
    if joint.kind == C::new(SLIDER) {
        velocity = along::<C>(sliding, &joint.axis);
    }
    velocity
}

/// Center of mass \[m\] of a body on a joint; on a slider, the place of its line next to `slid` \[m\].
#[cube]
#[inline(always)]
pub fn center_on<C: Real>(joint: &Bearing<C>, stands: &Quaternion<C>, slid: &Vector3<C>) -> Vector3<C> {
    let mut arm = stands.turned(&joint.lever);
    if joint.kind == C::new(SLIDER) {
        arm = along::<C>(&slid.minus(&joint.point), &joint.axis);
    }
    joint.point.plus(&arm)
}

/// Orientation of a body on a joint one step on, with this angular momentum about the pivot \[kg m²/s\].
#[cube]
#[inline(always)]
fn turned_on<C: Real>(joint: &Bearing<C>, stands: &Quaternion<C>, momentum: &Vector3<C>, dt: C) -> Quaternion<C> {
    let own = turned_freely::<C>(&stands.after(&joint.frame), momentum, &joint.moments, dt);
    let mut turned = own.after(&joint.frame.back());
    if joint.kind == C::new(HINGE) {
        turned = turned_about_alone::<C>(&turned, &joint.start, &joint.axis);
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

/// As [`crate::bodies::advance_body()`], of a body on a joint: `momentum` keeps its angular momentum about the pivot.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance_on_joint<C: Coordinate<C>>(
    b: usize,
    push: &Push<C>,
    joints: &[C],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    turn: &mut [C],
    velocity: &mut [C],
    spin: &mut [C],
    stepping: &Stepping<C, C>,
) -> Moved<C> {
    let at = b * 4usize;
    let mass = center[at + 3usize];
    let joint = bearing_at::<C>(joints, b);
    let before = recalled_turn::<C>(turn, at);
    let moves = recall::<C>(velocity, at);
    let turns = recall::<C>(spin, at);
    let yields = yielded::<C>(push, &joint, &before, &moves, &turns, mass, stepping);
    let onward = kicked::<C, C, C>(&recall::<C>(half_velocity, at), &yields.sliding, stepping, stepping.lag);
    let slid = drift::<C>(&recall::<C>(center, at), &onward.moving, stepping.dt);

    let kept = recall::<C>(momentum, at);
    let after = turning_left::<C>(&kick::<C, C>(&kept, &yields.turning.rate, stepping.dt), &joint);
    let turns_with = after.plus(&kept.minus(&after).times(stepping.lag));
    let turned = turned_on::<C>(&joint, &before, &turns_with, stepping.dt);
    let read = velocity_ahead::<C>(&after, &yields.turning.rate, stepping.reads_ahead);
    let turning = spin_on::<C>(&joint, &turned, &read);
    let middle = spin_on::<C>(&joint, &before, &kept.plus(&after));
    let new = center_on::<C>(&joint, &turned, &slid);

    store::<C>(half_velocity, at, &velocity_on::<C>(&joint, &turned, &turning, &onward.half));
    store::<C>(velocity, at, &velocity_on::<C>(&joint, &turned, &turning, &onward.whole));
    store::<C>(center, at, &new);
    store::<C>(momentum, at, &after);
    store_turn::<C>(turn, at, &turned);
    store::<C>(spin, at, &turning);
    let nowhere = C::new(0.0);
    Moved::<C> {
        flags: flags_of::<C, C>(&new, nowhere, nowhere, stepping) & 8u32,
        damping_work: onward.damping_work - yields.turning.brake.dot(&middle) * (C::new(0.5) * stepping.dt),
        stride_square: nowhere,
    }
}
