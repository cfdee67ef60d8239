//! Incompressible fluids: density errors, pressures and viscosity. The same code runs on CPU and GPU. The row of a fluid particle lists all its
//! neighbors. The row of a wall particle lists its fluid neighbors. Entries are `stride` numbers apart.
//!
//! Records beside those of [`crate::fluid`]:
//!
//! - `moving`: velocity x y z and padding for fluid, or acceleration x y z and the pressure that causes it;
//! - `walls`: surface velocities of walls, read if walls move;
//! - `solving`: extrapolated pressure, pressure of the last iteration, source, pressure step.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::dfsph::pressure_corrected;
//! let along_x = |x: f64| Vector3 { x, y: 0.0, z: 0.0 };
//! let (before, mass) = (along_x(1.0), 2.0);
//! let after = pressure_corrected::<f64, f64>(&along_x(0.5), &Vector3::zero(), &before, &before, 1.0, mass, 1.0);
//! // Pressures take as much energy as the motion loses.
//! let lost = 0.5 * mass * (before.dot(&before) - after.velocity.dot(&after.velocity));
//! assert_eq!(after.projected, lost);
//! ```

use crate::fluid::{FluidKernelConfig, going, kind_of, medium_at, medium_of, parcel, rest_density_at};
use crate::layout::load;
use crate::periodic::{PeriodicBoundaries, near_image, nearest_image};
use cubecl::prelude::*;
use seixo_laws::fluid::{FluidParticle, Separation, Smoother, dfsph, exchange};
use seixo_laws::motion::kick;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Density error and related sums of a fluid particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct DensityError<R: Real> {
    /// Relative density error, by summation \[-\]; negative at a free surface.
    pub excess: R,
    /// Its rate of change \[1/s\].
    pub density_rate: R,
    /// A_i, see [`seixo_laws::fluid::dfsph`] \[m/kg\].
    pub stiffness: R,
}

/// Density error of fluid particle i, where fluid moves with `moving`. Densities are summed in the precision of coordinates, with the smoothing
/// function `in_full`. In single precision, rounding gives a false density error of 10⁻⁷, and pressures would react to it again and again in confined
/// fluid.
///
/// The row begins at entry `first` of the list and has `count` entries.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn density_error_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    moving: &[R],
    walls: &[R],
    kind: &[u32],
    media: &[R],
    smoother: &Smoother<R>,
    in_full: &Smoother<C>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> DensityError<R> {
    let here = load::<C>(position, i * 4usize);
    let own = load::<R>(moving, i * 4usize);
    let zero = R::new(0.0);
    let mut density = position[i * 4usize + 3usize] * in_full.value(C::new(0.0), plan.smoothing);
    let mut gradients = Vector3::<R>::zero();
    let (mut density_rate, mut of_neighbors) = (zero, zero);
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let image = nearest_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let apart = near_vector::<C, R>(&image.apart);
        let mut room = position[j * 4usize + 3usize];
        let mut other = Vector3::<R>::zero();
        let mut lightness = zero;
        if room > C::new(0.0) {
            other = load::<R>(moving, j * 4usize);
            lightness = R::new(1.0) / rest_density_at::<R>(media, kind_of(kind, j, plan.mixed));
        } else {
            room = -room;
            if plan.moving {
                other = going::<R>(&load::<R>(walls, j * 4usize), walls[j * 4usize + 3usize]);
            }
        }
        let parting = own.minus(&other);
        let adds = dfsph::density_term::<R>(&apart, &parting, C::near(room), lightness, smoother, plan.smoothing);
        density += room * in_full.value(image.apart.length(), plan.smoothing);
        density_rate += adds.density_rate;
        of_neighbors += adds.stiffness;
        gradients = gradients.plus(&adds.gradient);
    }
    let rest_density = rest_density_at::<R>(media, kind_of(kind, i, plan.mixed));
    DensityError::<R> {
        excess: C::near(density - C::new(1.0)),
        density_rate,
        stiffness: dfsph::stiffness::<R>(&gradients, rest_density, of_neighbors),
    }
}

/// Σ_j V_j (p_i + p_j) ∇W \[Pa/m\] with the pressures at index `slot` of the records: for a fluid or wall particle, its force over −V_i.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn pressure_acceleration_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    records: &[R],
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] slot: usize,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let zero = R::new(0.0);
    // Wall particles have no pressure of their own.
    let mut own = zero;
    if C::near(position[i * 4usize + 3usize]) > zero {
        own = records[i * 4usize + slot];
    }
    let mut sum = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let mut volume = C::near(position[j * 4usize + 3usize]);
        let mut pressures = own;
        if volume > zero {
            pressures += records[j * 4usize + slot];
        } else {
            volume = -volume;
        }
        sum = sum.plus(&dfsph::pressure_term::<R>(&apart, volume, pressures, smoother, plan.smoothing));
    }
    sum
}

/// D_i of the velocities in `moving` \[1/s\], or of accelerations \[1/s²\], over the neighbors of fluid particle i. Walls count as at rest.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn density_rate_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    moving: &[R],
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> R {
    let here = load::<C>(position, i * 4usize);
    let own = load::<R>(moving, i * 4usize);
    let zero = R::new(0.0);
    let mut sum = zero;
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let mut volume = C::near(position[j * 4usize + 3usize]);
        let mut other = Vector3::<R>::zero();
        if volume > zero {
            other = load::<R>(moving, j * 4usize);
        } else {
            volume = -volume;
        }
        sum += dfsph::divergence_term::<R>(&apart, &own.minus(&other), volume, smoother, plan.smoothing);
    }
    sum
}

/// Particle i with this volume, for viscous forces; its pressure is not used.
#[cube]
#[inline(always)]
fn dragged<R: Real>(i: usize, volume: R, flow: &[R], seen: &[R], walls: &[R], #[comptime] plan: FluidKernelConfig) -> FluidParticle<R> {
    let zero = R::new(0.0);
    let mut velocity = Vector3::<R>::zero();
    let mut runs = zero;
    let mut drag = load::<R>(seen, i * 4usize);
    if volume > zero {
        velocity = load::<R>(flow, i * 4usize);
        drag = load::<R>(flow, i * 4usize);
    } else if comptime!(plan.moving) {
        velocity = load::<R>(walls, i * 4usize);
        runs = walls[i * 4usize + 3usize];
    }
    parcel::<R>(volume, &velocity, runs, &drag, zero)
}

/// Viscous force on particle i of fluid or of a wall \[N\]. Fluid moves with `flow`; `seen` holds the viscous velocities of walls.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn viscous_force_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    seen: &[R],
    walls: &[R],
    kind: &[u32],
    media: &[R],
    gravity: &Vector3<R>,
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let zero = R::new(0.0);
    let volume = C::near(position[i * 4usize + 3usize]);
    let is_fluid = volume > zero;
    let mut own_kind = 0usize;
    if is_fluid {
        own_kind = kind_of(kind, i, plan.mixed);
    }
    let this = dragged::<R>(i, volume, flow, seen, walls, plan);
    let own_medium = medium_at::<R>(media, own_kind);
    let mut sum = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let other_volume = C::near(position[j * 4usize + 3usize]);
        let other = dragged::<R>(j, other_volume, flow, seen, walls, plan);
        let mut other_kind = own_kind;
        let mut is_wall = !is_fluid;
        if other_volume > zero {
            other_kind = kind_of(kind, j, plan.mixed);
        } else {
            is_wall = true;
        }
        let medium = medium_of::<R>(&own_medium, media, own_kind, other_kind, is_wall, plan.mixed);
        let passed = exchange::<R>(
            &Separation::by(&apart, smoother),
            &this,
            &other,
            &medium,
            gravity,
            smoother,
            plan.smoothing,
            plan.viscous,
            plan.cohesive,
        );
        sum = sum.plus(&passed.force);
    }
    sum
}

/// A particle after its pressure correction.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct PressureCorrected<C: Real, R: Real> {
    /// Stored velocity \[m/s\].
    pub kept: Vector3<C>,
    /// Velocity that neighbors read \[m/s\].
    pub velocity: Vector3<R>,
    /// Pressure force \[N\].
    pub force: Vector3<R>,
    /// Energy dissipated by viscosity \[J\].
    pub viscous: R,
    /// Energy that pressures took from the motion \[J\].
    pub projected: R,
}

/// Applies the pressure acceleration to a fluid particle. Its velocity was `before`; the viscous force `drag` and gravity then changed it to `kept`.
/// The work of each force uses the mean of the velocities before and after the step. So the sum of all works is the change of kinetic energy.
#[cube]
#[inline(always)]
pub fn pressure_corrected<C: Coordinate<R>, R: Real>(
    lean: &Vector3<R>,
    drag: &Vector3<R>,
    before: &Vector3<R>,
    kept: &Vector3<C>,
    volume: R,
    mass: R,
    dt: R,
) -> PressureCorrected<C, R> {
    let force = lean.times(-volume);
    let after = kick::<C, R>(kept, &force.times(R::new(1.0) / mass), dt);
    let velocity = near_vector::<C, R>(&after);
    let way = before.plus(&velocity).times(R::new(0.5) * dt);
    let viscous = -drag.dot(&way);
    let projected = -force.dot(&way);
    PressureCorrected::<C, R> {
        kept: after,
        velocity,
        force,
        viscous,
        projected,
    }
}
