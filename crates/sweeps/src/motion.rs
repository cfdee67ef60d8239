//! Motion of grains over one time step.

use crate::sides::Sides;
use crate::views::{load, recall, store};
use cubecl::prelude::*;
use seixo_laws::motion::{drift, inertia, kick, local_damping, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// A grain moved farther than half the skin since the cells were sorted.
pub const STALE: u32 = 1;
/// A grain's position is not a finite number.
pub const NOT_FINITE: u32 = 2;
/// A grain moved more than a cell in one step.
pub const TOO_FAST: u32 = 4;
/// A grain's center left the domain.
pub const LEFT: u32 = 8;
/// A grain overlaps another, or a wall, too deeply.
pub const TOO_DEEP: u32 = 16;

/// Heat flows through a grain faster than the time step can follow.
pub const TOO_CONDUCTIVE: u32 = 32;

/// The density of a fluid is far from that at rest.
pub const TOO_COMPRESSED: u32 = 64;

/// What all grains need to know to move.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug)]
pub struct Stepping<C: Real, R: Real> {
    /// Time step \[s\].
    pub dt: R,
    /// By how much the velocity that laws read is ahead of the one that is kept \[s\].
    pub reads_ahead: R,
    /// By how much the velocity of the whole step is ahead of the one that is kept \[s\].
    pub shows_ahead: R,
    /// 1 where grains move with the velocity from before the kick, else 0.
    pub lag: C,
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vector3<R>,
    /// Local damping α \[-\].
    pub local_damping: R,
    /// (half the skin)² \[m²\].
    pub stale_square: R,
    /// (largest allowed motion in one step)² \[m²\].
    pub stride_square: R,
    /// Lower corner of the domain \[m\].
    pub domain_min: Vector3<C>,
    /// Upper corner of the domain \[m\].
    pub domain_max: Vector3<C>,
    /// Periodic sides.
    pub sides: Sides<C, R>,
}

/// What came of moving one grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Moved<R: Real> {
    /// Raised flags.
    pub flags: u32,
    /// Energy that local damping took in this step \[J\].
    pub damping_work: R,
    /// (distance that it moved)² \[m²\].
    pub stride_square: R,
}

/// No grain moved.
pub const STILL: Moved<f64> = Moved {
    flags: 0,
    damping_work: 0.0,
    stride_square: 0.0,
};

/// What local damping adds to a grain's force and what the two together do to its velocity.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Acceleration<R: Real> {
    /// Rate of change of the velocity \[m/s²\] or angular velocity \[rad/s²\].
    pub rate: Vector3<R>,
    /// Force \[N\] or torque \[N m\] of local damping.
    pub brake: Vector3<R>,
}

/// Acceleration of a grain of this mass under the force of its contacts.
#[cube]
#[inline(always)]
pub fn acceleration<C: Real, R: Real>(velocity: &Vector3<R>, mass: R, force: &Vector3<R>, stepping: &Stepping<C, R>) -> Acceleration<R> {
    let push = force.plus(&stepping.gravity.times(mass));
    let brake = local_damping::<R>(&push, velocity, stepping.local_damping);
    let rate = push.plus(&brake).times(R::inverse(mass));
    Acceleration::<R> { rate, brake }
}

/// Angular acceleration of a solid sphere, I = 2/5 m R².
#[cube]
#[inline(always)]
pub fn angular_acceleration<C: Real, R: Real>(
    spin: &Vector3<R>,
    mass: R,
    radius: R,
    torque: &Vector3<R>,
    stepping: &Stepping<C, R>,
) -> Acceleration<R> {
    let brake = local_damping::<R>(torque, spin, stepping.local_damping);
    let rate = torque.plus(&brake).times(R::inverse(inertia::<R>(mass, radius)));
    Acceleration::<R> { rate, brake }
}

/// A velocity or angular velocity one step on.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Onward<C: Real, R: Real> {
    /// As it is kept, with the digits of coordinates: what a step adds is small beside it.
    pub half: Vector3<C>,
    /// As laws read it.
    pub whole: Vector3<R>,
    /// What grains move with.
    pub moving: Vector3<C>,
    /// Energy that local damping took \[J\].
    pub damping_work: R,
}

/// Kicks a velocity, and tells what laws and what the motion read of it.
#[cube]
#[inline(always)]
pub fn kicked<C: Coordinate<R>, R: Real, X: Real>(
    half: &Vector3<C>,
    acceleration: &Acceleration<R>,
    stepping: &Stepping<X, R>,
    lag: C,
) -> Onward<C, R> {
    let after = kick::<C, R>(half, &acceleration.rate, stepping.dt);
    let whole = velocity_ahead::<R>(&near_vector::<C, R>(&after), &acceleration.rate, stepping.reads_ahead);
    let damping_work = -acceleration.brake.dot(&near_vector::<C, R>(&half.plus(&after))) * (R::new(0.5) * stepping.dt);
    let moving = after.plus(&half.minus(&after).times(lag));
    Onward::<C, R> {
        half: after,
        whole,
        moving,
        damping_work,
    }
}

/// Flags of a grain that came to a new center by a stride of this square, and now is `far_square` (a square, too) away from where it was
/// listed: whether it went too far since the lists were made, in this step, or out of the domain.
#[cube]
#[inline(always)]
pub fn flags_of<C: Real, R: Real>(new: &Vector3<C>, stride_square: R, far_square: R, stepping: &Stepping<C, R>) -> u32 {
    let mut flags = 0u32;
    if far_square > stepping.stale_square {
        flags |= 1u32;
    }
    // A comparison with a number that is not finite is false.
    let finite = far_square < R::new(1.0e37);
    if !finite {
        flags |= 2u32;
    }
    if stride_square > stepping.stride_square {
        flags |= 4u32;
    }
    if new.x < stepping.domain_min.x || new.y < stepping.domain_min.y || new.z < stepping.domain_min.z {
        flags |= 8u32;
    }
    if new.x > stepping.domain_max.x || new.y > stepping.domain_max.y || new.z > stepping.domain_max.z {
        flags |= 8u32;
    }
    flags
}

/// Moves the grain in slot i of all these slices by one step.
///
/// `half_velocity` and `half_spin` (three numbers each) hold the velocities that are kept, at half steps for leap-frog; `velocity` and
/// `spin` receive those which laws read. Without `frictional` nothing rotates.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance(
    i: usize,
    position: &mut [f64],
    velocity: &mut [f64],
    spin: &mut [f64],
    half_velocity: &mut [f64],
    half_spin: &mut [f64],
    force: &[f64],
    torque: &[f64],
    reference: &[f64],
    stepping: &Stepping<f64, f64>,
    frictional: bool,
) -> Moved<f64> {
    let at = i * 4;
    let (radius, mass) = (position[at + 3], velocity[at + 3]);
    let mut damping_work = 0.0;
    if frictional {
        let turning = angular_acceleration(&recall(spin, at), mass, radius, &load(torque, at), stepping);
        let onward = kicked(&recall(half_spin, i * 3), &turning, stepping, stepping.lag);
        store(half_spin, i * 3, &onward.half);
        store(spin, at, &onward.whole);
        damping_work += onward.damping_work;
    }
    let moving = acceleration(&recall(velocity, at), mass, &load(force, at), stepping);
    let onward = kicked(&recall(half_velocity, i * 3), &moving, stepping, stepping.lag);
    let new = drift(&recall(position, at), &onward.moving, stepping.dt);
    let moved = new.minus(&load(reference, i * 3));
    let stride = onward.half.times(stepping.dt);
    store(half_velocity, i * 3, &onward.half);
    store(velocity, at, &onward.whole);
    store(position, at, &new);
    let moving = onward.moving.times(stepping.dt);
    Moved {
        flags: flags_of(&new, stride.dot(&stride), moved.dot(&moved), stepping),
        damping_work: damping_work + onward.damping_work,
        stride_square: moving.dot(&moving),
    }
}
