//! XSPH in weakly compressible fluids, see [`seixo_laws::fluid::xsph`]. The same code runs on CPU and GPU.
//!
//! Records are those of [`crate::fluid`]. For fluid, `flow` is its velocity and pressure. `shares` has the coefficient ε of each fluid. The rows of
//! particles list all neighbors, with `stride` numbers from one entry to the next.
//!
//! ```
//! use seixo_laws::fluid::{Smoothing, Space};
//! use seixo_sweeps::fluid::{FluidKernelConfig, MEDIUM, Solver};
//! use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
//! use seixo_sweeps::xsph::draw_on;
//! let (smoothing, sides) = (Smoothing::Wendland, PeriodicBoundaries::open());
//! let plan = FluidKernelConfig { solver: Solver::WeaklyCompressible, smoothing, sides: OPEN, mixed: false, bounded: false, moving: true,
//!     passing: false, viscous: None, cohesive: false, laden: false, carrying: false, shifting: false, xsph: true };
//! let (mut media, smoother) = ([0.0; MEDIUM], smoothing.smoother(0.3, Space::Volume));
//! media[6] = 1.0;
//! let position = [0.0, 0.0, 0.0, 1e-3, 0.1, 0.0, 0.0, 1e-3];
//! let flow = [2.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0];
//! // Two particles draw each other along, by opposite velocities.
//! let drawn = [0, 1].map(|i| draw_on::<f64, f64>(i, i, 1, &[1, 0], &position, &flow, &[0, 0], &media, &[0.5], &smoother, &sides, 1, plan));
//! assert!(drawn[0].x < 0.0 && drawn[0] == drawn[1].times(-1.0));
//! ```

use crate::fluid::{FluidKernelConfig, kind_of, mass_at};
use crate::layout::load;
use crate::periodic::{PeriodicBoundaries, near_image};
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::fluid::xsph::{draw, mean_volume};
use seixo_laws::{Coordinate, Real, Vector3};

/// v̂ − v: velocity of fluid particle i in addition to that of the flow \[m/s\]. Wall particles have no part in it.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn draw_on<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    kind: &[u32],
    media: &[R],
    shares: &[R],
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let own = load::<R>(flow, i * 4usize);
    let own_kind = kind_of(kind, i, plan.mixed);
    let own_density = mass_at::<R>(media, own_kind) / C::near(position[i * 4usize + 3usize]);
    let mut drift = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let volume = C::near(position[j * 4usize + 3usize]);
        if volume > R::new(0.0) {
            let other_kind = kind_of(kind, j, plan.mixed);
            let mass = mass_at::<R>(media, other_kind);
            let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
            let weight = smoother.value(apart.length(), plan.smoothing);
            let share = R::new(0.5) * (shares[own_kind] + shares[other_kind]);
            let filled = mean_volume::<R>(mass, own_density, mass / volume);
            let drawn = draw::<R>(weight, filled, &own, &load::<R>(flow, j * 4usize));
            drift = drift.plus(&drawn.times(share));
        }
    }
    drift
}
