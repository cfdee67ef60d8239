//! Motion of grains over one time step.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, SKIN_EXCEEDED, StepParameters, flags_of};
//! let (zero, corner) = (Vector3::zero(), Vector3 { x: 1.0, y: 1.0, z: 1.0 });
//! let stepping = StepParameters::<f64, f64> {
//!     dt: 1e-3, reads_ahead: 5e-4, velocity_lead: 5e-4, lag: 0.0, gravity: zero, local_damping: 0.0, damped_gravity: 1.0,
//!     skin_exceeded_square: 0.01, stride_square: 1.0, domain_min: zero, domain_max: corner, sides: Default::default(),
//! };
//! // A grain at a corner of the domain, one beyond it that is far from its reference, and one with a position that is NaN.
//! assert_eq!(flags_of::<f64, f64>(&corner, 0.0, 0.0, &stepping), 0);
//! assert_eq!(flags_of::<f64, f64>(&corner.times(2.0), 0.0, 0.04, &stepping), SKIN_EXCEEDED | LEFT_DOMAIN);
//! assert_eq!(flags_of::<f64, f64>(&zero.times(f64::NAN), 0.0, f64::NAN, &stepping), NOT_FINITE);
//! ```

use crate::layout::{load, recall, store};
use crate::periodic::PeriodicBoundaries;
use cubecl::prelude::*;
use seixo_laws::motion::{drift, inertia, kick, local_damping, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// A grain moved farther than half the skin since the cells were built.
pub const SKIN_EXCEEDED: u32 = 1;
/// A grain's position is not a finite number.
pub const NOT_FINITE: u32 = 2;
/// A grain moved more than a cell in one step.
pub const TOO_FAST: u32 = 4;
/// A grain's center left the domain of the parameters, which is unbounded where grains may leave.
pub const LEFT_DOMAIN: u32 = 8;
/// A grain overlaps another, or a wall, too deeply.
pub const TOO_DEEP: u32 = 16;

/// The heat flow through a grain is too large for the time step.
pub const TOO_CONDUCTIVE: u32 = 32;

/// The density of a fluid differs too much from the rest density.
pub const TOO_COMPRESSED: u32 = 64;

/// Parameters of a step for the motion of all grains.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug)]
pub struct StepParameters<C: Real, R: Real> {
    /// Time step \[s\].
    pub dt: R,
    /// Time by which the velocity that laws read is ahead of the stored one \[s\].
    pub reads_ahead: R,
    /// Time by which the velocity at the whole step is ahead of the stored one \[s\].
    pub velocity_lead: R,
    /// 1 if grains move with the velocity before its update, else 0.
    pub lag: C,
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vector3<R>,
    /// Local damping α \[-\].
    pub local_damping: R,
    /// 1 if local damping also acts on weight, else 0.
    pub damped_gravity: R,
    /// (half the skin)² \[m²\].
    pub skin_exceeded_square: R,
    /// (largest allowed motion in one step)² \[m²\].
    pub stride_square: R,
    /// Lower corner of the domain \[m\].
    pub domain_min: Vector3<C>,
    /// Upper corner of the domain \[m\].
    pub domain_max: Vector3<C>,
    /// Periodic sides.
    pub sides: PeriodicBoundaries<C, R>,
}

/// Result of the motion of one grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct MotionReport<R: Real> {
    /// Raised flags.
    pub flags: u32,
    /// Energy dissipated by local damping in this step \[J\].
    pub damping_work: R,
    /// Squared displacement in this step \[m²\].
    pub stride_square: R,
}

/// Result for grains at rest.
pub const AT_REST: MotionReport<f64> = MotionReport {
    flags: 0,
    damping_work: 0.0,
    stride_square: 0.0,
};

/// Acceleration of a grain including local damping.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Acceleration<R: Real> {
    /// Rate of change of the velocity \[m/s²\] or angular velocity \[rad/s²\].
    pub rate: Vector3<R>,
    /// Force \[N\] or torque \[N m\] of local damping.
    pub brake: Vector3<R>,
}

/// Acceleration of a grain of this mass under its contact force.
#[cube]
#[inline(always)]
pub fn acceleration<C: Real, R: Real>(
    velocity: &Vector3<R>,
    mass: R,
    force: &Vector3<R>,
    stepping: &StepParameters<C, R>,
) -> Acceleration<R> {
    let push = force.plus(&stepping.gravity.times(mass));
    let damped = force.plus(&stepping.gravity.times(mass * stepping.damped_gravity));
    let brake = local_damping::<R>(&damped, velocity, stepping.local_damping);
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
    stepping: &StepParameters<C, R>,
) -> Acceleration<R> {
    let brake = local_damping::<R>(torque, spin, stepping.local_damping);
    let rate = torque.plus(&brake).times(R::inverse(inertia::<R>(mass, radius)));
    Acceleration::<R> { rate, brake }
}

/// A velocity or angular velocity after one step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct IntegratedVelocity<C: Real, R: Real> {
    /// Stored value, in the precision of coordinates, as the change in a step is comparatively small.
    pub half: Vector3<C>,
    /// Value for laws.
    pub whole: Vector3<R>,
    /// Value that moves grains.
    pub moving: Vector3<C>,
    /// Energy dissipated by local damping \[J\].
    pub damping_work: R,
}

/// Updates a velocity. Returns the stored value, and those for laws and for the motion.
#[cube]
#[inline(always)]
pub fn kicked<C: Coordinate<R>, R: Real, X: Real>(
    half: &Vector3<C>,
    acceleration: &Acceleration<R>,
    stepping: &StepParameters<X, R>,
    lag: C,
) -> IntegratedVelocity<C, R> {
    let after = kick::<C, R>(half, &acceleration.rate, stepping.dt);
    let whole = velocity_ahead::<R>(&near_vector::<C, R>(&after), &acceleration.rate, stepping.reads_ahead);
    let damping_work = -acceleration.brake.dot(&near_vector::<C, R>(&half.plus(&after))) * (R::new(0.5) * stepping.dt);
    let moving = after.plus(&half.minus(&after).times(lag));
    IntegratedVelocity::<C, R> {
        half: after,
        whole,
        moving,
        damping_work,
    }
}

/// Flags of a grain at a new position. `stride_square` is its squared displacement in the step, and `far_square` that since the last list rebuild.
/// The flags are for an exceeded skin, a position that is not finite, a too large step, and a position outside the domain.
#[cube]
#[inline(always)]
pub fn flags_of<C: Real, R: Real>(new: &Vector3<C>, stride_square: R, far_square: R, stepping: &StepParameters<C, R>) -> u32 {
    let mut flags = 0u32;
    if far_square > stepping.skin_exceeded_square {
        flags |= 1u32;
    }
    // A comparison with NaN is false.
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
/// `half_velocity` and `half_spin` (three numbers each) hold the stored velocities, at half steps for leap-frog. `velocity` and `spin` receive those
/// for laws. Without `frictional` grains do not rotate.
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
    stepping: &StepParameters<f64, f64>,
    frictional: bool,
) -> MotionReport<f64> {
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
    MotionReport {
        flags: flags_of(&new, stride.dot(&stride), moved.dot(&moved), stepping),
        damping_work: damping_work + onward.damping_work,
        stride_square: moving.dot(&moving),
    }
}
