//! Suspension: forces between a fluid and grains that are smaller than its particles. The same code runs on CPU and GPU. The row of a grain lists all
//! its neighbors. The row of a fluid particle lists the grains near it. Entries are `stride` numbers apart.
//!
//! Records are those of [`crate::fluid`], except for these grains:
//!
//! - `position`: x y z and their volume, negative;
//! - `motion`: their velocities x y z and padding;
//! - `flow`: the force on the grain over Σ V W of the surrounding fluid x y z, and the power that the fluid loses by it.
//!
//! `rate` holds the forces on the fluid without those of grains.
//!
//! ```
//! use seixo_laws::fluid::{Smoothing, Space};
//! use seixo_sweeps::fluid::{FluidKernelConfig, Solver};
//! use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
//! use seixo_sweeps::suspension::borne_by;
//! let (smoothing, sides) = (Smoothing::Wendland, PeriodicBoundaries::open());
//! let plan = FluidKernelConfig { solver: Solver::WeaklyCompressible, smoothing, sides: OPEN, mixed: false, bounded: true, moving: false,
//!     passing: false, viscous: None, cohesive: false, laden: false, carrying: true, shifting: false, xsph: false };
//! let smoother = smoothing.smoother(0.3, Space::Volume);
//! // Only one fluid particle is near the grain, on which the fluid acts with 3 N. So it gets the whole reaction.
//! let (position, pull) = ([0.0, 0.0, 0.0, 1e-3, 0.1, 0.0, 0.0, -1e-6], 3.0 / (1e-3 * smoother.value(0.1, smoothing)));
//! let force = borne_by::<f64, f64>(0, 0, 1, &[1], &position, &[0.0, 0.0, 0.0, 0.0, pull, 0.0, 0.0, 0.0], &smoother, &sides, 1, plan);
//! assert!((force.x + 3.0).abs() < 1e-12);
//! ```

use crate::fluid::{FluidKernelConfig, is_suspended, kind_of, medium_at};
use crate::layout::load;
use crate::periodic::{PeriodicBoundaries, near_image};
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::fluid::suspension::{Coupling, Grain, LocalFluid, grain_force};
use seixo_laws::{Coordinate, Real, Vector3, larger, smaller};

/// Force of the fluid on a grain, and its reaction on the fluid.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct SuspendedGrain<R: Real> {
    /// Force on the grain \[N\].
    pub force: Vector3<R>,
    /// Power that drag dissipates \[W\].
    pub drag_power: R,
    /// The force over Σ V W of the surrounding fluid \[N\].
    pub pull: Vector3<R>,
    /// Power that the fluid loses to the grain \[W\].
    pub lost_power: R,
}

/// Force of the fluid on grain i. `mass` is that of its body, and `before` the force of the step before.
///
/// The row begins at entry `first` of the list and has `count` entries. From Σ V W of walls and other solids follows the share of the surroundings
/// that fluid can fill. It is a half beside a wall and an eighth in a corner; smaller values do not count. Fluid that fills seven eighths of this
/// share counts as complete, because its particles are never quite evenly spread. At a flat surface the result is four sevenths.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn suspended<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    motion: &[R],
    rate: &[R],
    kind: &[u32],
    media: &[R],
    mass: R,
    before: &Vector3<R>,
    coupling: &Coupling<R>,
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> SuspendedGrain<R> {
    let here = load::<C>(position, i * 4usize);
    let own_volume = -C::near(position[i * 4usize + 3usize]);
    let zero = R::new(0.0);
    let one = R::new(1.0);
    let (mut share, mut of_walls, mut of_grains, mut sharp) = (zero, zero, zero, zero);
    let (mut density, mut viscosity, mut thickness) = (zero, zero, zero);
    let mut velocity = Vector3::<R>::zero();
    let mut push = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let value = smoother.value(apart.length(), plan.smoothing);
        let weight = C::near(position[j * 4usize + 3usize]) * value;
        if weight > zero {
            let medium = medium_at::<R>(media, kind_of(kind, j, plan.mixed));
            share += weight;
            sharp += weight * value;
            velocity = velocity.plus(&load::<R>(flow, j * 4usize).times(weight));
            push = push.plus(&load::<R>(rate, j * 4usize).times(value));
            density += weight * medium.rest_density;
            viscosity += weight * medium.viscosity;
            thickness += weight * (medium.viscosity + medium.artificial_viscosity / coupling.artificial_over_shear);
        } else if is_suspended(kind[j]) {
            of_grains -= weight;
        } else {
            of_walls -= weight;
        }
    }
    let mut force = Vector3::<R>::zero();
    let mut pull = Vector3::<R>::zero();
    let (mut drag_power, mut lost_power) = (zero, zero);
    if share > zero {
        let least = R::new(0.125);
        let room = larger::<R>(one - of_walls, least);
        let per_share = one / share;
        let grain = Grain::<R> {
            velocity: load::<R>(motion, i * 4usize),
            volume: own_volume,
            mass,
            before: before.plus(&Vector3::<R>::zero()),
        };
        let bath = LocalFluid::<R> {
            velocity: velocity.times(per_share),
            push: push.times(per_share),
            density: density * per_share,
            viscosity: viscosity * per_share,
            thickness: thickness * per_share,
            wetness: smaller::<R>(share / (room * R::new(0.875)), one),
            // The grain itself counts as one more in a suspension, and not at all if it is alone.
            solid_fraction: of_grains / larger::<R>(room - own_volume * smoother.value(zero, plan.smoothing), least),
            own: own_volume * sharp * per_share * per_share,
        };
        let found = grain_force::<R>(&grain, &bath, coupling);
        drag_power = found.drag_power;
        lost_power = found.force.dot(&bath.velocity);
        pull = found.force.times(per_share);
        force = found.force.plus(&Vector3::<R>::zero());
    }
    SuspendedGrain::<R> {
        force,
        drag_power,
        pull,
        lost_power,
    }
}

/// Force of the surrounding grains on fluid particle j: its shares V_j W/ΣV W of the reaction of each grain \[N\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn borne_by<C: Coordinate<R>, R: Real>(
    j: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> Vector3<R> {
    let here = load::<C>(position, j * 4usize);
    let volume = C::near(position[j * 4usize + 3usize]);
    let mut sum = Vector3::<R>::zero();
    for s in 0..count {
        let i = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, i * 4usize)), sides, plan.sides);
        let value = smoother.value(apart.length(), plan.smoothing);
        sum = sum.minus(&load::<R>(flow, i * 4usize).times(value));
    }
    sum.times(volume)
}
