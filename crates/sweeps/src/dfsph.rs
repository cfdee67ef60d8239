//! Incompressible fluids: how crowded it is around a particle, and how pressures and viscosity push it. One text for CPU and GPU: rows list all
//! neighbors of a particle, those of fluid for one of a wall, with `stride` places from one entry to the next.
//!
//! Records beside those of [`crate::fluid`]: `moving` = velocities x y z and padding of fluid, or its accelerations x y z and the pressure that they come
//! from; `walls` = how surfaces of walls move, read where they do; `solving` = the pressure that is looked at, the one that the last iteration found, the
//! source, the step of pressure.

use crate::fluid::{FlowPlan, going, kind_of, medium_at, medium_of, parcel, rest_density_at};
use crate::sides::{Sides, near_image, nearest_image};
use crate::views::load;
use cubecl::prelude::*;
use seixo_laws::fluid::{Apart, Parcel, Smoother, dfsph, exchange};
use seixo_laws::motion::kick;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// How crowded it is around a particle of fluid.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Crowd<R: Real> {
    /// Excess of density over that at rest, by summation \[-\]; negative at a free surface.
    pub excess: R,
    /// Rate at which it changes \[1/s\].
    pub swelling: R,
    /// A_i, see [`seixo_laws::fluid::dfsph`] \[m/kg\].
    pub stiffness: R,
}

/// How crowded it is around particle i of fluid, where fluid moves with `moving`. Densities are summed with the digits of coordinates, for which `in_full`
/// is the smoothing function: an excess that is none but rounding, of 10⁻⁷ in single precision, would be met by pressures again and again where there is
/// no room to give way to.
///
/// Its row begins at entry `first` of the list, and has `count` entries.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn crowd_of<C: Coordinate<R>, R: Real>(
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
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Crowd<R> {
    let here = load::<C>(position, i * 4usize);
    let own = load::<R>(moving, i * 4usize);
    let zero = R::new(0.0);
    let mut density = position[i * 4usize + 3usize] * in_full.value(C::new(0.0), plan.smoothing);
    let mut gradients = Vector3::<R>::zero();
    let (mut swelling, mut of_neighbors) = (zero, zero);
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
        let adds = dfsph::crowding::<R>(&apart, &parting, C::near(room), lightness, smoother, plan.smoothing);
        density += room * in_full.value(image.apart.length(), plan.smoothing);
        swelling += adds.swelling;
        of_neighbors += adds.stiffness;
        gradients = gradients.plus(&adds.gradient);
    }
    let rest_density = rest_density_at::<R>(media, kind_of(kind, i, plan.mixed));
    Crowd::<R> {
        excess: C::near(density - C::new(1.0)),
        swelling,
        stiffness: dfsph::stiffness::<R>(&gradients, rest_density, of_neighbors),
    }
}

/// Σ_j V_j (p_i + p_j) ∇W \[Pa/m\] with the pressures that are number `slot` of records: over a particle of fluid or of a wall, the force on it over −V_i.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn lean_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    records: &[R],
    smoother: &Smoother<R>,
    sides: &Sides<C, R>,
    #[comptime] slot: usize,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let zero = R::new(0.0);
    // Walls have no pressure of their own.
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
        sum = sum.plus(&dfsph::lean::<R>(&apart, volume, pressures, smoother, plan.smoothing));
    }
    sum
}

/// D_i of what `moving` holds \[1/s\] or, of accelerations, \[1/s²\], over neighbors of particle i of fluid. Walls stand still in it.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn swelling_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    moving: &[R],
    smoother: &Smoother<R>,
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
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
        sum += dfsph::swelling::<R>(&apart, &own.minus(&other), volume, smoother, plan.smoothing);
    }
    sum
}

/// Particle i, of this volume, as viscosities see it; pressures are not of their sweep.
#[cube]
#[inline(always)]
fn dragged<R: Real>(i: usize, volume: R, flow: &[R], seen: &[R], walls: &[R], #[comptime] plan: FlowPlan) -> Parcel<R> {
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

/// Force of viscosities on particle i, of fluid or of a wall \[N\]. Fluid moves with `flow`, and sees in walls what `seen` has for them.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn drag_of<C: Coordinate<R>, R: Real>(
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
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
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
            &Apart::by(&apart, smoother),
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

/// A particle after pressures pushed it.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Pushed<C: Real, R: Real> {
    /// Velocity as it is kept \[m/s\].
    pub kept: Vector3<C>,
    /// Velocity as neighbors read it \[m/s\].
    pub velocity: Vector3<R>,
    /// Force of the pressures \[N\].
    pub force: Vector3<R>,
    /// Energy that viscosities took from the motion \[J\].
    pub viscous: R,
    /// Energy that pressures took from the motion \[J\].
    pub projected: R,
}

/// Pushes a particle of fluid that had the velocity `before`, and then was brought to `kept` by a force `drag` of viscosities and by gravity. What a
/// force took is its work with the mean of the velocities before and behind, with which all works add up to the change of the kinetic energy.
#[cube]
#[inline(always)]
pub fn pushed<C: Coordinate<R>, R: Real>(
    lean: &Vector3<R>,
    drag: &Vector3<R>,
    before: &Vector3<R>,
    kept: &Vector3<C>,
    volume: R,
    mass: R,
    dt: R,
) -> Pushed<C, R> {
    let force = lean.times(-volume);
    let after = kick::<C, R>(kept, &force.times(R::new(1.0) / mass), dt);
    let velocity = near_vector::<C, R>(&after);
    let way = before.plus(&velocity).times(R::new(0.5) * dt);
    let viscous = -drag.dot(&way);
    let projected = -force.dot(&way);
    Pushed::<C, R> {
        kept: after,
        velocity,
        force,
        viscous,
        projected,
    }
}
