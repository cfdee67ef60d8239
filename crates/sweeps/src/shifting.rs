//! Shifting of particles of fluids, see [`seixo_laws::fluid::shifting`]. One text for CPU and GPU. Records as in [`crate::fluid`]: of fluid, `flow` = its
//! velocity and pressure, `motion` = the velocity with which its particles go on. The rows of particles list all that is near them, with `stride` places
//! from one entry to the next.

use crate::fluid::FlowPlan;
use crate::sides::{Sides, near_image};
use crate::views::load;
use cubecl::prelude::*;
use seixo_laws::fluid::shifting::{Shifting, bounded, drift_by, taken_up};
use seixo_laws::fluid::{Apart, Smoother};
use seixo_laws::{Coordinate, Real, Vector3};

/// The drift of particle i of fluid beside its velocity \[m/s\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn drift_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    shifting: &Shifting<R>,
    smoother: &Smoother<R>,
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let own = C::near(position[i * 4usize + 3usize]);
    let mut drift = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let mut volume = C::near(position[j * 4usize + 3usize]);
        if volume < R::new(0.0) {
            volume = -volume;
        }
        let share = drift_by::<R>(&Apart::by(&apart, smoother), own * volume, shifting, smoother, plan.smoothing);
        drift = drift.plus(&share);
    }
    bounded::<R>(&drift, shifting)
}

/// What particle i of fluid, with this density at rest \[kg/m³\], takes up of the motion that is carried past it \[N\]. Walls do not drift.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn taken_up_by<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    motion: &[R],
    density: R,
    smoother: &Smoother<R>,
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let own_volume = C::near(position[i * 4usize + 3usize]);
    let own = load::<R>(flow, i * 4usize);
    let own_drift = load::<R>(motion, i * 4usize).minus(&own);
    let mut force = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let mut volume = C::near(position[j * 4usize + 3usize]);
        let other = load::<R>(flow, j * 4usize);
        let mut drift = load::<R>(motion, j * 4usize).minus(&other);
        if volume < R::new(0.0) {
            volume = -volume;
            drift = Vector3::<R>::zero();
        }
        let share = taken_up::<R>(
            &Apart::by(&apart, smoother),
            density * own_volume * volume,
            &own_drift.plus(&drift),
            &other.minus(&own),
            smoother,
            plan.smoothing,
        );
        force = force.plus(&share);
    }
    force
}
