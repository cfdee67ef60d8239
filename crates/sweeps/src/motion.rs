//! Motion of grains over one time step.

use crate::views::{load, recall, store};
use cubecl::prelude::*;
use seixo_laws::motion::{drift, kick, local_damping, whole_step_velocity};
use seixo_laws::{Real, Vector3};

/// A grain moved farther than half the skin since the cells were sorted.
pub const STALE: u32 = 1;
/// A grain's position is not a finite number.
pub const NOT_FINITE: u32 = 2;
/// A grain moved more than a cell in one step.
pub const TOO_FAST: u32 = 4;
/// A grain's center left the domain.
pub const LEFT: u32 = 8;

/// What all grains need to know to move.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Stepping<R: Real> {
    /// Time step \[s\].
    pub dt: R,
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vector3<R>,
    /// Local damping α \[-\].
    pub local_damping: R,
    /// (half the skin)² \[m²\].
    pub stale_square: R,
    /// (largest allowed motion in one step)² \[m²\].
    pub stride_square: R,
    /// Lower corner of the domain \[m\].
    pub domain_min: Vector3<R>,
    /// Upper corner of the domain \[m\].
    pub domain_max: Vector3<R>,
}

/// What came of moving one grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Moved<R: Real> {
    /// Raised flags.
    pub flags: u32,
    /// Energy that local damping took in this step \[J\].
    pub damping_work: R,
}

/// What local damping adds to a grain's force and what the two together do to its velocity.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Acceleration<R: Real> {
    /// Rate of change of the velocity \[m/s²\] or angular velocity \[rad/s²\].
    pub rate: Vector3<R>,
    /// Force \[N\] or torque \[N m\] of local damping.
    pub brake: Vector3<R>,
}

/// Acceleration of the grain in slot i of these slices.
#[cube]
#[inline(always)]
pub fn acceleration_of<R: Real>(i: usize, velocity: &mut [R], force: &[R], stepping: &Stepping<R>) -> Acceleration<R> {
    let at = i * 4usize;
    let mass = velocity[at + 3usize];
    let v = recall::<R>(velocity, at);
    let push = load::<R>(force, at).plus(&stepping.gravity.times(mass));
    let brake = local_damping::<R>(&push, &v, stepping.local_damping);
    let rate = push.plus(&brake).times(R::new(1.0) / mass);
    Acceleration::<R> { rate, brake }
}

/// Angular acceleration of the solid sphere in slot i of these slices, I = 2/5 m R².
#[cube]
#[inline(always)]
pub fn angular_acceleration_of<R: Real>(
    i: usize,
    position: &mut [R],
    velocity: &mut [R],
    spin: &mut [R],
    torque: &[R],
    stepping: &Stepping<R>,
) -> Acceleration<R> {
    let at = i * 4usize;
    let radius = position[at + 3usize];
    let inertia = R::new(2.0) / R::new(5.0) * velocity[at + 3usize] * radius * radius;
    let w = recall::<R>(spin, at);
    let bend = load::<R>(torque, at);
    let brake = local_damping::<R>(&bend, &w, stepping.local_damping);
    let rate = bend.plus(&brake).times(R::new(1.0) / inertia);
    Acceleration::<R> { rate, brake }
}

/// Moves the grain in slot i of all these slices by one leap-frog step.
///
/// `half_velocity` and `half_spin` (three numbers each) hold the velocities at half steps; `velocity` and `spin` receive those
/// extrapolated to the new time, which laws read. Without `frictional` nothing rotates.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn advance<R: Real>(
    i: usize,
    position: &mut [R],
    velocity: &mut [R],
    spin: &mut [R],
    half_velocity: &mut [R],
    half_spin: &mut [R],
    force: &[R],
    torque: &[R],
    reference: &[R],
    stepping: &Stepping<R>,
    #[comptime] frictional: bool,
) -> Moved<R> {
    let at = i * 4usize;
    let dt = stepping.dt;
    let half_dt = R::new(0.5) * dt;
    let mut damping_work = R::new(0.0);
    if frictional {
        let turning = angular_acceleration_of::<R>(i, position, velocity, spin, torque, stepping);
        let before = recall::<R>(half_spin, i * 3usize);
        let after = kick::<R>(&before, &turning.rate, dt);
        damping_work -= turning.brake.dot(&before.plus(&after)) * half_dt;
        store::<R>(half_spin, i * 3usize, &after);
        store::<R>(spin, at, &whole_step_velocity::<R>(&after, &turning.rate, dt));
    }
    let moving = acceleration_of::<R>(i, velocity, force, stepping);
    let before = recall::<R>(half_velocity, i * 3usize);
    let after = kick::<R>(&before, &moving.rate, dt);
    damping_work -= moving.brake.dot(&before.plus(&after)) * half_dt;
    let old = recall::<R>(position, at);
    let new = drift::<R>(&old, &after, dt);
    store::<R>(half_velocity, i * 3usize, &after);
    store::<R>(velocity, at, &whole_step_velocity::<R>(&after, &moving.rate, dt));
    store::<R>(position, at, &new);
    let moved = new.minus(&load::<R>(reference, i * 3usize));
    let square = moved.dot(&moved);
    let stride = after.times(dt);
    let stride_square = stride.dot(&stride);
    let mut flags = 0u32;
    if square > stepping.stale_square {
        flags |= 1u32;
    }
    // A comparison with a number that is not finite is false.
    let finite = square < R::new(1.0e37);
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
    Moved::<R> { flags, damping_work }
}
