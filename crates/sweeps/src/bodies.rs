//! Rigid bodies that carry grains.
//!
//! A carried grain is in all fields, cells, lists and contacts as any other; only its motion is that of its body. Every body has a row of
//! members, whose offsets from its center are kept in the frame of its principal axes; a grain knows its member, a member its grain's place.

use crate::motion::{Acceleration, Moved, Stepping, acceleration, flags_of, kicked};
use crate::sides::nearest_image;
use crate::views::{load, recall, store};
use cubecl::prelude::*;
use seixo_laws::motion::{drift, kick, local_damping, velocity_ahead};
use seixo_laws::rotation::{angular_momentum, angular_velocity, turned_freely};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, widened};

/// The member of a grain that no body carries.
pub const FREE: u32 = u32::MAX;

/// The member of a grain that is a copy of one of another domain, which no body carries: it goes where that goes, and has no row of neighbors.
pub const GHOST: u32 = u32::MAX - 1;

/// From here on, members are those of copies, but for [`FREE`]: there are at most 2³¹ − 2 members of bodies.
const FIRST_GHOST: u32 = 1 << 31;

/// Whether this is the member of a copy.
pub fn is_ghost(member: u32) -> bool {
    member >= FIRST_GHOST && member != FREE
}

/// The member of a copy of a grain that is this member of a body, or of none: they count down from [`GHOST`].
pub fn ghost_of(member: u32) -> u32 {
    GHOST.wrapping_sub(member.wrapping_add(1))
}

/// The member that a grain is or, of a copy, the one that its original is.
pub fn original_of(member: u32) -> u32 {
    if is_ghost(member) {
        GHOST.wrapping_sub(member).wrapping_sub(1)
    } else {
        member
    }
}

/// What the contacts of its grains do to a body.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Push<C: Real> {
    /// Force \[N\].
    pub force: Vector3<C>,
    /// Torque about the center of mass \[N m\].
    pub torque: Vector3<C>,
}

/// The orientation that starts at number `at`.
#[cube]
#[inline(always)]
pub fn turn_at<C: Real>(turn: &[C], at: usize) -> Quaternion<C> {
    let z = turn[at + 3usize];
    Quaternion::<C> {
        w: turn[at],
        x: turn[at + 1usize],
        y: turn[at + 2usize],
        z,
    }
}

/// As [`turn_at()`], from numbers that the sweep also writes.
#[cube]
#[inline(always)]
pub fn recalled_turn<C: Real>(turn: &mut [C], at: usize) -> Quaternion<C> {
    let z = turn[at + 3usize];
    Quaternion::<C> {
        w: turn[at],
        x: turn[at + 1usize],
        y: turn[at + 2usize],
        z,
    }
}

/// Overwrites an orientation.
#[cube]
#[inline(always)]
pub fn store_turn<C: Real>(turn: &mut [C], at: usize, value: &Quaternion<C>) {
    turn[at] = value.w;
    turn[at + 1usize] = value.x;
    turn[at + 2usize] = value.y;
    turn[at + 3usize] = value.z;
}

/// Forces and, if they have any, torques of the members from `first` to before `end`, summed up in their order, about the center of their body.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn push_on<C: Coordinate<R>, R: Real>(
    first: usize,
    end: usize,
    place: &[u32],
    offset: &[C],
    turn: &Quaternion<C>,
    force: &[R],
    torque: &[R],
    #[comptime] twists: bool,
) -> Push<C> {
    let mut total = Vector3::<C>::zero();
    let mut turning = Vector3::<C>::zero();
    for m in first..end {
        let grain = place[m] as usize * 4usize;
        let arm = turn.turned(&load::<C>(offset, m * 4usize));
        let push = widened::<C, R>(&load::<R>(force, grain));
        if twists {
            turning = turning.plus(&widened::<C, R>(&load::<R>(torque, grain)));
        }
        turning = turning.plus(&arm.cross(&push));
        total = total.plus(&push);
    }
    Push::<C> {
        force: total,
        torque: turning,
    }
}

/// Numbers of what else pushes on a body: force and torque about its center, each a record.
pub const LOAD: usize = 8;

/// With what else pushes on body b.
#[cube]
#[inline(always)]
pub fn with_load<C: Real>(push: &Push<C>, b: usize, loads: &[C]) -> Push<C> {
    Push::<C> {
        force: push.force.plus(&load::<C>(loads, b * 8usize)),
        torque: push.torque.plus(&load::<C>(loads, b * 8usize + 4usize)),
    }
}

/// Rate of change of the angular momentum of a body \[N m\], and the torque of local damping.
#[cube]
#[inline(always)]
pub fn turning_of<C: Real>(spin: &Vector3<C>, torque: &Vector3<C>, local: C) -> Acceleration<C> {
    let brake = local_damping::<C>(torque, spin, local);
    Acceleration::<C> {
        rate: torque.plus(&brake),
        brake,
    }
}

/// Moves body b by one step. Of its flags, only that it left the domain is told: all else is seen at its grains.
///
/// `center` holds centers and masses; `half_velocity` and `momentum` are kept, at half steps for leap-frog; `velocity` and `spin` receive what
/// laws read.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance_body<C: Coordinate<C>>(
    b: usize,
    push: &Push<C>,
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    turn: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
    stepping: &Stepping<C, C>,
) -> Moved<C> {
    let at = b * 4usize;
    let mass = center[at + 3usize];
    let moving = acceleration::<C, C>(&recall::<C>(velocity, at), mass, &push.force, stepping);
    let onward = kicked::<C, C, C>(&recall::<C>(half_velocity, at), &moving, stepping, stepping.lag);
    let new = drift::<C>(&recall::<C>(center, at), &onward.moving, stepping.dt);

    let own = load::<C>(moments, at);
    let before = recalled_turn::<C>(turn, at);
    let turning = turning_of::<C>(&recall::<C>(spin, at), &push.torque, stepping.local_damping);
    let kept = recall::<C>(momentum, at);
    let after = kick::<C, C>(&kept, &turning.rate, stepping.dt);
    let turns_with = after.plus(&kept.minus(&after).times(stepping.lag));
    let turned = turned_freely::<C>(&before, &turns_with, &own, stepping.dt);
    let read = velocity_ahead::<C>(&after, &turning.rate, stepping.reads_ahead);
    let middle = angular_velocity::<C>(&before, &kept.plus(&after), &own);

    store::<C>(half_velocity, at, &onward.half);
    store::<C>(velocity, at, &onward.whole);
    store::<C>(center, at, &new);
    store::<C>(momentum, at, &after);
    store_turn::<C>(turn, at, &turned);
    store::<C>(spin, at, &angular_velocity::<C>(&turned, &read, &own));
    let nowhere = C::new(0.0);
    Moved::<C> {
        flags: flags_of::<C, C>(&new, nowhere, nowhere, stepping) & 8u32,
        damping_work: onward.damping_work - turning.brake.dot(&middle) * (C::new(0.5) * stepping.dt),
        stride_square: nowhere,
    }
}

/// Numbers of the pose of a body that is held: center, velocity, angular velocity, orientation, padding.
pub const POSE_OF_BODY: usize = 16;

/// Puts body b, which is held, where the pose that starts at number `at` has it.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn put_held<C: Real>(
    b: usize,
    at: usize,
    poses: &[C],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    turn: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
) {
    let body = b * 4usize;
    let moving = load::<C>(poses, at + 3usize);
    let turning = load::<C>(poses, at + 6usize);
    let stands = turn_at::<C>(poses, at + 9usize);
    store::<C>(center, body, &load::<C>(poses, at));
    store::<C>(half_velocity, body, &moving);
    store::<C>(velocity, body, &moving);
    store::<C>(spin, body, &turning);
    store::<C>(momentum, body, &angular_momentum::<C>(&stands, &turning, &load::<C>(moments, body)));
    store_turn::<C>(turn, body, &stands);
}

/// A grain as its body carries it.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Carried<C: Real> {
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Velocity as laws read it, V + ω × r \[m/s\].
    pub velocity: Vector3<C>,
    /// Angular velocity as laws read it \[rad/s\].
    pub spin: Vector3<C>,
    /// What it moved with in this step \[m/s\].
    pub moving: Vector3<C>,
    /// Raised flags.
    pub flags: u32,
    /// (distance that it moved)² \[m²\].
    pub stride_square: C,
}

/// Where member m of body b is now, which was at `old` before the step and at `reference` when it was listed: the image next to that place.
/// Bodies may reach out of the domain; it is their center that can leave it.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn carry<C: Coordinate<C>>(
    b: usize,
    m: usize,
    old: &Vector3<C>,
    reference: &Vector3<C>,
    offset: &[C],
    center: &[C],
    turn: &[C],
    velocity: &[C],
    spin: &[C],
    stepping: &Stepping<C, C>,
    #[comptime] sides: u32,
) -> Carried<C> {
    let at = b * 4usize;
    let arm = turn_at::<C>(turn, at).turned(&load::<C>(offset, m * 4usize));
    let mut position = load::<C>(center, at).plus(&arm);
    if comptime!(sides > 0) {
        let moved = position.minus(reference);
        position = reference.plus(&nearest_image::<C, C>(&moved, &stepping.sides, sides).apart);
    }
    let spinning = load::<C>(spin, at);
    let stride = position.minus(old);
    let far = position.minus(reference);
    Carried::<C> {
        velocity: load::<C>(velocity, at).plus(&spinning.cross(&arm)),
        spin: spinning,
        moving: stride.times(C::new(1.0) / stepping.dt),
        flags: flags_of::<C, C>(&position, stride.dot(&stride), far.dot(&far), stepping) & 7u32,
        stride_square: stride.dot(&stride),
        position,
    }
}

/// No axis of [`in_plane()`]: flow in space.
pub const IN_SPACE: u32 = 3;

/// A vector of what a body carries as flow in a plane across an axis, 0 to 2, sees it: along that axis it has what is in the `plane`, so neither rounding
/// nor what pulls a body aside takes the flow out of it.
#[cube]
#[inline(always)]
pub fn in_plane<C: Real>(v: &Vector3<C>, plane: &Vector3<C>, #[comptime] across: u32) -> Vector3<C> {
    let mut x = v.x;
    let mut y = v.y;
    let mut z = v.z;
    if comptime!(across == 0u32) {
        x = plane.x;
    }
    if comptime!(across == 1u32) {
        y = plane.y;
    }
    if comptime!(across == 2u32) {
        z = plane.z;
    }
    Vector3::<C> { x, y, z }
}

/// The angular velocity of a body as flow in a plane across an axis sees it: that about the axis alone.
#[cube]
#[inline(always)]
pub fn turning_in_plane<C: Real>(spin: &Vector3<C>, #[comptime] across: u32) -> Vector3<C> {
    let mut seen = spin.plus(&Vector3::<C>::zero());
    if comptime!(across != 3u32) {
        seen = spin.minus(&in_plane::<C>(spin, &Vector3::<C>::zero(), across));
    }
    seen
}

/// Drops the entries of a row of neighbors that belong to the body of its owner, `own`: its grains do not touch each other. The entries stand
/// `stride` places apart from `at` on; tells how many are left.
#[cube]
#[inline(always)]
pub fn drop_own(own: u32, at: usize, count: u32, stride: usize, neighbors: &mut [u32], member: &[u32], body_of: &[u32]) -> u32 {
    let mut kept = 0u32;
    for k in 0..count {
        let j = neighbors[at + k as usize * stride];
        let other = member[j as usize];
        let mut of_other = 0xffff_ffffu32;
        if other != 0xffff_ffffu32 {
            of_other = body_of[other as usize];
        }
        if of_other != own {
            neighbors[at + kept as usize * stride] = j;
            kept += 1u32;
        }
    }
    kept
}
