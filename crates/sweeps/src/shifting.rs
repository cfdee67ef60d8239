//! Particle shifting in fluids, see [`seixo_laws::fluid::shifting`]. The same code runs on CPU and GPU.
//!
//! Records are those of [`crate::fluid`]. For fluid, `flow` is its velocity and pressure, and `motion` the velocity of its particles. The rows of
//! particles list all neighbors, with `stride` numbers from one entry to the next.
//!
//! ```
//! use seixo_laws::fluid::{Smoothing, Space, shifting::shifting};
//! use seixo_sweeps::fluid::{FluidKernelConfig, Solver};
//! use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
//! use seixo_sweeps::shifting::drift_of;
//! let (smoothing, sides) = (Smoothing::Wendland, PeriodicBoundaries::open());
//! let plan = FluidKernelConfig { solver: Solver::WeaklyCompressible, smoothing, sides: OPEN, mixed: false, bounded: false, moving: false,
//!     passing: false, viscous: None, cohesive: false, laden: false, carrying: false, shifting: true, xsph: false };
//! let (strength, smoother) = (shifting(smoothing, Space::Volume, 0.3, 0.1, 1.0), smoothing.smoother(0.3, Space::Volume));
//! let position = [0.0, 0.0, 0.0, 1e-3, 0.1, 0.0, 0.0, 1e-3];
//! // Two particles drift away from each other, at the same speed.
//! let drift = [0, 1].map(|i| drift_of::<f64, f64>(i, i, 1, &[1, 0], &position, &strength, &smoother, &sides, 1, plan));
//! assert!(drift[0].x < 0.0 && drift[0] == drift[1].times(-1.0));
//! ```

use crate::fluid::FluidKernelConfig;
use crate::layout::load;
use crate::periodic::{PeriodicBoundaries, near_image};
use cubecl::prelude::*;
use seixo_laws::fluid::shifting::{Shifting, bounded, drift_by, taken_up};
use seixo_laws::fluid::{Separation, Smoother};
use seixo_laws::{Coordinate, Real, Vector3};

/// Drift of fluid particle i in addition to its velocity \[m/s\].
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
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
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
        let share = drift_by::<R>(&Separation::by(&apart, smoother), own * volume, shifting, smoother, plan.smoothing);
        drift = drift.plus(&share);
    }
    bounded::<R>(&drift, shifting)
}

/// Momentum per time that fluid particle i takes up by the drift \[N\]; `rest_density` is that of its fluid \[kg/m³\]. Walls do not drift.
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
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
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
            &Separation::by(&apart, smoother),
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
