//! Rigid bodies made of grains.
//!
//! A grain of a body is in all fields, cells, lists and contacts as any other grain. Only its motion is that of its body. Every body has a row of
//! members. Their offsets from its center are stored in the frame of its principal axes. Each grain stores the number of its member, and each member
//! the index of its grain.
//!
//! ```
//! use seixo_sweeps::bodies::{FREE, GHOST, ghost_of, is_ghost, is_owned, original_of};
//! for member in [0, 7, FREE] {
//!     let ghost = ghost_of(member);
//!     assert!(is_owned(member) && is_ghost(ghost));
//!     assert_eq!(original_of(ghost), member);
//! }
//! assert_eq!(ghost_of(FREE), GHOST);
//! ```

use crate::layout::{load, recall, store};
use crate::motion::{Acceleration, MotionReport, StepParameters, acceleration, flags_of, kicked};
use crate::periodic::nearest_image;
use cubecl::prelude::*;
use seixo_laws::motion::{drift, kick, local_damping, velocity_ahead};
use seixo_laws::rotation::{angular_momentum, angular_velocity, rotated_freely};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, widened};

/// Member number of a grain without a body.
pub const FREE: u32 = u32::MAX;

/// Member number of a ghost particle whose original has no body. It moves with its original, and has no row of neighbors.
pub const GHOST: u32 = u32::MAX - 1;

/// Member number of a grain that is about to be removed. Larger ones belong to ghost particles, except [`FREE`]. Bodies have at most 2³¹ − 3 members.
pub const REMOVED: u32 = 1 << 31;

/// Whether this is the member number of a ghost particle.
#[cube]
#[inline(always)]
pub fn is_ghost(member: u32) -> bool {
    member > REMOVED && member != FREE
}

/// Whether a grain with this member number belongs to this subdomain: it is no ghost particle, and not about to be removed.
#[cube]
#[inline(always)]
pub fn is_owned(member: u32) -> bool {
    member < REMOVED || member == FREE
}

/// Whether a grain with this member number moves with a body, and belongs to this subdomain.
#[cube]
#[inline(always)]
pub fn is_carried(member: u32) -> bool {
    member < REMOVED
}

/// Member number of the ghost of a grain with this member number, which may be [`FREE`]. These numbers count down from [`GHOST`].
#[cube]
#[inline(always)]
pub fn ghost_of(member: u32) -> u32 {
    let mut ghost = GHOST.runtime();
    if member != FREE {
        ghost = GHOST - 1u32 - member;
    }
    ghost
}

/// Member number of a grain or, for a ghost, of its original.
#[cube]
#[inline(always)]
pub fn original_of(member: u32) -> u32 {
    let mut original = member;
    if member == GHOST {
        original = FREE.runtime();
    } else if is_ghost(member) {
        original = GHOST - 1u32 - member;
    }
    original
}

/// Sum of the contact forces on the grains of a body.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct BodyForce<C: Real> {
    /// Force \[N\].
    pub force: Vector3<C>,
    /// Torque about the center of mass \[N m\].
    pub torque: Vector3<C>,
}

/// The orientation at index `at`.
#[cube]
#[inline(always)]
pub fn orientation_at<C: Real>(orientation: &[C], at: usize) -> Quaternion<C> {
    let z = orientation[at + 3usize];
    Quaternion::<C> {
        w: orientation[at],
        x: orientation[at + 1usize],
        y: orientation[at + 2usize],
        z,
    }
}

/// As [`orientation_at()`], from a buffer that the sweep also writes.
#[cube]
#[inline(always)]
pub fn stored_orientation_at<C: Real>(orientation: &mut [C], at: usize) -> Quaternion<C> {
    let z = orientation[at + 3usize];
    Quaternion::<C> {
        w: orientation[at],
        x: orientation[at + 1usize],
        y: orientation[at + 2usize],
        z,
    }
}

/// Stores an orientation at index `at`.
#[cube]
#[inline(always)]
pub fn store_orientation<C: Real>(orientation: &mut [C], at: usize, value: &Quaternion<C>) {
    orientation[at] = value.w;
    orientation[at + 1usize] = value.x;
    orientation[at + 2usize] = value.y;
    orientation[at + 3usize] = value.z;
}

/// Sum of forces and, if present, torques on the members from `first` to before `end`, in their order, about the center of their body.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn push_on<C: Coordinate<R>, R: Real>(
    first: usize,
    end: usize,
    place: &[u32],
    offset: &[C],
    orientation: &Quaternion<C>,
    force: &[R],
    torque: &[R],
    #[comptime] twists: bool,
) -> BodyForce<C> {
    let mut total = Vector3::<C>::zero();
    let mut turning = Vector3::<C>::zero();
    for m in first..end {
        let grain = place[m] as usize * 4usize;
        let arm = orientation.to_space(&load::<C>(offset, m * 4usize));
        let push = widened::<C, R>(&load::<R>(force, grain));
        if twists {
            turning = turning.plus(&widened::<C, R>(&load::<R>(torque, grain)));
        }
        turning = turning.plus(&arm.cross(&push));
        total = total.plus(&push);
    }
    BodyForce::<C> {
        force: total,
        torque: turning,
    }
}

/// Numbers of the external load on a body: force and torque about its center, one record each.
pub const LOAD: usize = 8;

/// Adds the external load on body b.
#[cube]
#[inline(always)]
pub fn with_load<C: Real>(push: &BodyForce<C>, b: usize, loads: &[C]) -> BodyForce<C> {
    BodyForce::<C> {
        force: push.force.plus(&load::<C>(loads, b * 8usize)),
        torque: push.torque.plus(&load::<C>(loads, b * 8usize + 4usize)),
    }
}

/// Rate of change of the angular momentum of a body \[N m\], and the torque of local damping, which acts on `damped`.
#[cube]
#[inline(always)]
pub fn torque_of<C: Real>(spin: &Vector3<C>, torque: &Vector3<C>, damped: &Vector3<C>, local: C) -> Acceleration<C> {
    let brake = local_damping::<C>(damped, spin, local);
    Acceleration::<C> {
        rate: torque.plus(&brake),
        brake,
    }
}

/// Moves body b by one step. Of its flags only that for leaving the domain is returned; the others are raised by its grains.
///
/// `center` holds centers and masses. `half_velocity` and `momentum` are the stored values, at half steps for leap-frog. `velocity` and `spin`
/// receive the values that laws read.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance_body<C: Coordinate<C>>(
    b: usize,
    push: &BodyForce<C>,
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    orientation: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
    stepping: &StepParameters<C, C>,
) -> MotionReport<C> {
    let at = b * 4usize;
    let mass = center[at + 3usize];
    let moving = acceleration::<C, C>(&recall::<C>(velocity, at), mass, &push.force, stepping);
    let onward = kicked::<C, C, C>(&recall::<C>(half_velocity, at), &moving, stepping, stepping.lag);
    let new = drift::<C>(&recall::<C>(center, at), &onward.moving, stepping.dt);

    let own = load::<C>(moments, at);
    let before = stored_orientation_at::<C>(orientation, at);
    let turning = torque_of::<C>(&recall::<C>(spin, at), &push.torque, &push.torque, stepping.local_damping);
    let kept = recall::<C>(momentum, at);
    let after = kick::<C, C>(&kept, &turning.rate, stepping.dt);
    let turns_with = after.plus(&kept.minus(&after).times(stepping.lag));
    let turned = rotated_freely::<C>(&before, &turns_with, &own, stepping.dt);
    let read = velocity_ahead::<C>(&after, &turning.rate, stepping.reads_ahead);
    let middle = angular_velocity::<C>(&before, &kept.plus(&after), &own);

    store::<C>(half_velocity, at, &onward.half);
    store::<C>(velocity, at, &onward.whole);
    store::<C>(center, at, &new);
    store::<C>(momentum, at, &after);
    store_orientation::<C>(orientation, at, &turned);
    store::<C>(spin, at, &angular_velocity::<C>(&turned, &read, &own));
    let nowhere = C::new(0.0);
    MotionReport::<C> {
        flags: flags_of::<C, C>(&new, nowhere, nowhere, stepping) & 8u32,
        damping_work: onward.damping_work - turning.brake.dot(&middle) * (C::new(0.5) * stepping.dt),
        stride_square: nowhere,
    }
}

/// Numbers of the pose of a body with prescribed motion: center, velocity, angular velocity, orientation, padding.
pub const POSE_OF_BODY: usize = 16;

/// Places body b, which has prescribed motion, at the pose that starts at index `at`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn place_prescribed_body<C: Real>(
    b: usize,
    at: usize,
    poses: &[C],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    orientation: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
) {
    let body = b * 4usize;
    let moving = load::<C>(poses, at + 3usize);
    let turning = load::<C>(poses, at + 6usize);
    let body_orientation = orientation_at::<C>(poses, at + 9usize);
    store::<C>(center, body, &load::<C>(poses, at));
    store::<C>(half_velocity, body, &moving);
    store::<C>(velocity, body, &moving);
    store::<C>(spin, body, &turning);
    store::<C>(
        momentum,
        body,
        &angular_momentum::<C>(&body_orientation, &turning, &load::<C>(moments, body)),
    );
    store_orientation::<C>(orientation, body, &body_orientation);
}

/// Motion of a grain that is a member of a body.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct MemberMotion<C: Real> {
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Velocity for laws, V + ω × r \[m/s\].
    pub velocity: Vector3<C>,
    /// Angular velocity for laws \[rad/s\].
    pub spin: Vector3<C>,
    /// Velocity of its displacement in this step \[m/s\].
    pub moving: Vector3<C>,
    /// Raised flags.
    pub flags: u32,
    /// Squared displacement in this step \[m²\].
    pub stride_square: C,
}

/// Motion of member m of body b. Its position before the step is `old`, and its position at the last list rebuild is `reference`. The result is the
/// image nearest to `reference`. Bodies may extend beyond the domain, but their centers may not leave it.
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
    orientation: &[C],
    velocity: &[C],
    spin: &[C],
    stepping: &StepParameters<C, C>,
    #[comptime] sides: u32,
) -> MemberMotion<C> {
    let at = b * 4usize;
    let arm = orientation_at::<C>(orientation, at).to_space(&load::<C>(offset, m * 4usize));
    let mut position = load::<C>(center, at).plus(&arm);
    if comptime!(sides > 0) {
        let moved = position.minus(reference);
        position = reference.plus(&nearest_image::<C, C>(&moved, &stepping.sides, sides).apart);
    }
    let spinning = load::<C>(spin, at);
    let stride = position.minus(old);
    let far = position.minus(reference);
    MemberMotion::<C> {
        velocity: load::<C>(velocity, at).plus(&spinning.cross(&arm)),
        spin: spinning,
        moving: stride.times(C::new(1.0) / stepping.dt),
        flags: flags_of::<C, C>(&position, stride.dot(&stride), far.dot(&far), stepping) & 7u32,
        stride_square: stride.dot(&stride),
        position,
    }
}

/// Value of `across` in [`in_plane()`] for flow in three dimensions.
pub const IN_SPACE: u32 = 3;

/// A vector of a body for flow in a plane across an axis, 0 to 2. Its component along that axis is that of `plane`. So neither rounding nor a lateral
/// force on a body moves the flow out of the plane.
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

/// Angular velocity of a body for flow in a plane across an axis: only the component about the axis.
#[cube]
#[inline(always)]
pub fn angular_velocity_in_plane<C: Real>(spin: &Vector3<C>, #[comptime] across: u32) -> Vector3<C> {
    let mut seen = spin.plus(&Vector3::<C>::zero());
    if comptime!(across != 3u32) {
        seen = spin.minus(&in_plane::<C>(spin, &Vector3::<C>::zero(), across));
    }
    seen
}

/// Removes entries from a row of neighbors that belong to the body `own` of its owner, because grains of one body have no contact. The entries start
/// at index `at`, `stride` apart. Returns the number of remaining entries.
#[cube]
#[inline(always)]
pub fn drop_own(own: u32, at: usize, count: u32, stride: usize, neighbors: &mut [u32], member: &[u32], body_of: &[u32]) -> u32 {
    let mut kept = 0u32;
    for k in 0..count {
        let j = neighbors[at + k as usize * stride];
        let other = original_of(member[j as usize]);
        let mut of_other = FREE.runtime();
        if other != FREE {
            of_other = body_of[other as usize];
        }
        if of_other != own {
            neighbors[at + kept as usize * stride] = j;
            kept += 1u32;
        }
    }
    kept
}
