//! Müller's fluid: sums over neighbors, what spheres of rigid bodies and it do to each other, and what walls do to particles that went through them.
//!
//! Every particle lists all its neighbors: its row begins at entry `first` of the list, and has `count` entries with `stride` places from one to the
//! next. Spheres of bodies stand in the same table, with the kind of particles of walls, and list the fluid around them.
//!
//! Records: `position` = x y z and, of fluid, a volume that no sweep here reads; of a sphere, minus the distance from which on it touches fluid, its
//! radius and half a spacing: so what is below zero is a sphere. `flow` and `kicked` = velocity x y z and what is not read; `motion` = velocity x y z of
//! spheres and padding, where there are any; `dense` = volume, pressure, excess of density, energy of springs; `container`, see [`HOLD`]. `media` is the
//! table of [`crate::fluid`], `habits` that of [`HABITS`].

use crate::fluid::{FlowPlan, kind_of, mass_at, pressure_at, rest_density_at};
use crate::motion::{Stepping, flags_of};
use crate::sides::{Sides, near_image};
use crate::views::{FRUSTUM, SPHERE, load};
use cubecl::prelude::*;
use seixo_laws::fluid::muller::{Functions, Particle, draw, gain, push, rebound, weight};
use seixo_laws::fluid::spring::{Pressed, energy, overlap, press};
use seixo_laws::motion::{drift, gravity_energy};
use seixo_laws::wall::{Beside, beside_frustum, beside_sphere, nearest_on_frustum};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, widened};

/// Numbers per fluid in a table of its own: XSPH's ε, the share of the velocity into a wall that comes back, and stiffness and damping between its
/// particles and spheres of bodies.
pub const HABITS: usize = 4;

/// Numbers per element of a wall that holds fluid: nine that say where it is and its kind, as in [`crate::views::ELEMENT`]; the sign of distances
/// on the side of the fluid; the number of its wall; a point of the wall's axis, its velocity and angular velocity, padding.
pub const HOLD: usize = 24;

/// Whether particle i is one of fluid, and no sphere of a body; where nothing is `bounded`, all are.
#[cube]
#[inline(always)]
pub fn is_fluid<C: Real>(position: &[C], i: usize, #[comptime] bounded: bool) -> bool {
    let mut is_it = true;
    if bounded {
        is_it = position[i * 4usize + 3usize] > C::new(0.0);
    }
    is_it
}

/// As [`kind_of()`], and 0 of a sphere, which is of no fluid.
#[cube]
#[inline(always)]
pub fn fluid_of(kind: &[u32], i: usize, #[comptime] plan: FlowPlan) -> usize {
    let mut own = kind_of(kind, i, plan.mixed);
    if comptime!(plan.mixed && plan.bounded) {
        if (kind[i] >> 31u32) == 1u32 {
            own = 0usize;
        }
    }
    own
}

/// What is summed up over the neighbors of a particle of fluid.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Summed<R: Real> {
    /// Density \[kg/m³\].
    pub density: R,
    /// Energy of the springs between it and spheres of bodies \[J\].
    pub elastic: R,
}

/// Density of particle i, which is one of fluid, and what springs to it store.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn density_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    kind: &[u32],
    media: &[R],
    habits: &[R],
    functions: &Functions<R>,
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Summed<R> {
    let here = load::<C>(position, i * 4usize);
    let own = kind_of(kind, i, plan.mixed);
    let mut density = mass_at::<R>(media, own) * weight::<R>(R::new(0.0), functions);
    let mut elastic = R::new(0.0);
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        let flows = is_fluid::<C>(position, j, plan.bounded);
        if flows {
            density += mass_at::<R>(media, kind_of(kind, j, plan.mixed)) * weight::<R>(apart.dot(&apart), functions);
        }
        if comptime!(plan.bounded) {
            if !flows {
                let depth = overlap::<R>(apart.dot(&apart), reach_of::<C, R>(position, j));
                elastic += energy::<R>(depth, habits[own * 4usize + 2usize]);
            }
        }
    }
    Summed::<R> { density, elastic }
}

/// The distance from which on sphere i of a body touches fluid \[m\].
#[cube]
#[inline(always)]
fn reach_of<C: Coordinate<R>, R: Real>(position: &[C], i: usize) -> R {
    -C::near(position[i * 4usize + 3usize])
}

/// What a density means.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Dense<R: Real> {
    /// Volume \[m³\].
    pub volume: R,
    /// Pressure \[Pa\].
    pub pressure: R,
    /// Excess over the density at rest \[-\].
    pub excess: R,
}

/// What this density of particle i means.
#[cube]
#[inline(always)]
pub fn dense_of<R: Real>(i: usize, density: R, kind: &[u32], media: &[R], #[comptime] plan: FlowPlan) -> Dense<R> {
    let fluid = kind_of(kind, i, plan.mixed);
    let rest_density = rest_density_at::<R>(media, fluid);
    let excess = (density - rest_density) / rest_density;
    Dense::<R> {
        volume: mass_at::<R>(media, fluid) / density,
        pressure: pressure_at::<R>(excess, media, fluid),
        excess,
    }
}

/// What drives a particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Driven<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Power that viscosity takes from its motion, and dampers from that of it and of what it touches \[W\].
    pub viscous_power: R,
}

/// Particle i as others see it.
#[cube]
#[inline(always)]
fn particle<R: Real>(i: usize, flow: &[R], dense: &[R], kind: &[u32], media: &[R], #[comptime] plan: FlowPlan) -> Particle<R> {
    Particle::<R> {
        volume: dense[i * 4usize],
        pressure: dense[i * 4usize + 1usize],
        viscosity: media[fluid_of(kind, i, plan) * 11usize],
        velocity: load::<R>(flow, i * 4usize),
    }
}

/// What a sphere of a body does to a particle of fluid, which is `apart` from it.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn press_of<C: Coordinate<R>, R: Real>(
    sphere: usize,
    fluid: usize,
    apart: &Vector3<R>,
    position: &[C],
    flow: &[R],
    motion: &[R],
    kind: &[u32],
    habits: &[R],
    functions: &Functions<R>,
    #[comptime] mixed: bool,
) -> Pressed<R> {
    let habit = kind_of(kind, fluid, mixed) * 4usize;
    let moving = load::<R>(flow, fluid * 4usize).minus(&load::<R>(motion, sphere * 4usize));
    press::<R>(
        apart,
        &moving,
        overlap::<R>(apart.dot(apart), reach_of::<C, R>(position, sphere)),
        habits[habit + 2usize],
        habits[habit + 3usize],
        functions.softening,
    )
}

/// What neighbors do to particle i. Of a sphere that is what fluid does to it, exactly the opposite of what it does to fluid.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn force_on<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    motion: &[R],
    dense: &[R],
    kind: &[u32],
    media: &[R],
    habits: &[R],
    functions: &Functions<R>,
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Driven<R> {
    let here = load::<C>(position, i * 4usize);
    let own = particle::<R>(i, flow, dense, kind, media, plan);
    let flows = is_fluid::<C>(position, i, plan.bounded);
    let mut pressing = Vector3::<R>::zero();
    let mut dragging = Vector3::<R>::zero();
    let mut springing = Vector3::<R>::zero();
    let mut braking = R::new(0.0);
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let there = load::<C>(position, j * 4usize);
        let apart = near_image::<C, R>(&here.minus(&there), sides, plan.sides);
        let other_flows = is_fluid::<C>(position, j, plan.bounded);
        if flows && other_flows {
            let other = particle::<R>(j, flow, dense, kind, media, plan);
            let passed = push::<R>(&apart, apart.dot(&apart), &own, &other, functions);
            pressing = pressing.plus(&passed.pressure);
            dragging = dragging.plus(&passed.viscous);
        }
        if comptime!(plan.bounded) {
            if !other_flows {
                let pressed = press_of::<C, R>(j, i, &apart, position, flow, motion, kind, habits, functions, plan.mixed);
                springing = springing.plus(&pressed.force);
                braking += pressed.taken;
            }
            if !flows {
                // Seen from the same end as the fluid sees it, so that both get the same numbers.
                let from_here = near_image::<C, R>(&there.minus(&here), sides, plan.sides);
                let pressed = press_of::<C, R>(i, j, &from_here, position, flow, motion, kind, habits, functions, plan.mixed);
                springing = springing.minus(&pressed.force);
            }
        }
    }
    let mut force = pressing.plus(&dragging);
    let mut viscous_power = -(dragging.dot(&own.velocity));
    if comptime!(plan.bounded) {
        force = force.plus(&springing);
        viscous_power += braking;
    }
    Driven::<R> { force, viscous_power }
}

/// By how much neighbors draw the velocity of particle i of fluid to theirs, before that is multiplied by ε \[m/s\]; `kicked` are velocities after forces.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn draw_on<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    kicked: &[R],
    dense: &[R],
    functions: &Functions<R>,
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Vector3<R> {
    let here = load::<C>(position, i * 4usize);
    let own = load::<R>(kicked, i * 4usize);
    let mut all = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
        if is_fluid::<C>(position, j, plan.bounded) {
            let other = load::<R>(kicked, j * 4usize);
            all = all.plus(&draw::<R>(apart.dot(&apart), dense[j * 4usize], &own, &other, functions));
        }
    }
    all
}

/// A velocity that neighbors drew to theirs.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Drawn<C: Real, R: Real> {
    /// Velocity \[m/s\].
    pub velocity: Vector3<C>,
    /// Energy that this took from the motion \[J\].
    pub taken: R,
}

/// The velocity of a particle that neighbors draw this far, with its share ε of it.
#[cube]
#[inline(always)]
pub fn drawn<C: Coordinate<R>, R: Real>(kicked: &Vector3<C>, all: &Vector3<R>, xsph: R, mass: R) -> Drawn<C, R> {
    let change = all.times(xsph);
    Drawn::<C, R> {
        velocity: kicked.plus(&widened::<C, R>(&change)),
        taken: -gain::<R>(mass, &near_vector::<C, R>(kicked), &change),
    }
}

/// Where a place is beside the endless surface of the element of a container whose record starts at `e`: distances are positive on the side of the
/// fluid, and a plane has no end that a place is within or beyond.
#[cube]
#[inline(always)]
pub fn beside_hold<C: Real>(place: &Vector3<C>, container: &[C], e: usize) -> Beside<C> {
    let kind = container[e + 9usize];
    let sign = container[e + 10usize];
    let at = load::<C>(container, e);
    let axis = load::<C>(container, e + 3usize);
    let shape = load::<C>(container, e + 6usize);
    let mut distance = place.minus(&at).dot(&axis);
    let mut normal = axis.plus(&Vector3::<C>::zero());
    let mut within = C::new(0.0);
    if kind == C::new(SPHERE) {
        let beside = beside_sphere::<C>(place, &at, shape.x);
        distance = beside.distance * sign;
        normal = beside.normal.times(sign);
        within = beside.within;
    }
    if kind == C::new(FRUSTUM) {
        let beside = beside_frustum::<C>(place, &at, &axis, &shape);
        distance = beside.distance * sign;
        normal = beside.normal.times(sign);
        within = beside.within;
    }
    Beside::<C> { distance, normal, within }
}

/// A particle that moved, within its container.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Settled<C: Real, R: Real> {
    /// Place \[m\].
    pub position: Vector3<C>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<C>,
    /// Energy that walls gave it \[J\].
    pub given: R,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// Moves a particle by the velocity that it had, `before` its forces acted, and puts it back where it went through an element of a wall: onto the
/// surface, with the part of its velocity that points into the wall turned around.
///
/// A plane and a sphere hold everything that is behind them. A frustum has ends, so it holds what was before it: a particle that was behind it, or
/// beyond its ends, comes from elsewhere. A tenth of the way that a particle may move in a step is left behind it, and a thousandth beyond its ends, for
/// what other elements moved.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what is known of a particle")]
pub fn settled<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    before: &Vector3<C>,
    velocity: &Vector3<C>,
    reference: &Vector3<C>,
    mass: R,
    restitution: R,
    container: &[C],
    elements: u32,
    stepping: &Stepping<C, R>,
) -> Settled<C, R> {
    let nothing = C::new(0.0);
    let dt = C::wide(stepping.dt);
    let there = drift::<C>(position, before, dt);
    let slack = C::root(C::wide(stepping.stride_square)) * C::new(0.1);
    let margin = slack * C::new(0.01);
    let mut place = there.plus(&Vector3::<C>::zero());
    let mut onward = velocity.plus(&Vector3::<C>::zero());
    // What one element moves may come to lie behind another.
    for _round in 0..3u32 {
        for k in 0..elements {
            let e = k as usize * 24usize;
            let now = beside_hold::<C>(&place, container, e);
            let mut surface = place.minus(&now.normal.times(now.distance));
            let mut holds = now.distance < nothing;
            if container[e + 9usize] == C::new(FRUSTUM) {
                let at = load::<C>(container, e);
                let axis = load::<C>(container, e + 3usize);
                let was = beside_hold::<C>(position, container, e);
                surface = nearest_on_frustum::<C>(&place, &at, &axis, &load::<C>(container, e + 6usize));
                holds = now.distance < nothing && was.within >= -margin;
                if holds {
                    // The wall moved, too, since the particle was there.
                    let pace = velocity_of_hold::<C>(container, e, &surface).dot(&now.normal);
                    holds = was.distance + pace * dt >= -slack;
                }
            }
            if holds {
                let wall = velocity_of_hold::<C>(container, e, &surface);
                onward = rebound::<C>(&onward, &wall, &now.normal, C::wide(restitution));
                place = surface.plus(&Vector3::<C>::zero());
            }
        }
    }
    let shifted = near_vector::<C, R>(&place.minus(&there));
    let change = near_vector::<C, R>(&onward.minus(velocity));
    let stride = near_vector::<C, R>(&onward).times(stepping.dt);
    let far = near_vector::<C, R>(&place.minus(reference));
    let given = gain::<R>(mass, &near_vector::<C, R>(velocity), &change) + gravity_energy::<R>(mass, &stepping.gravity, &shifted);
    // Lists hold for what goes no farther than this, be it moved by a wall.
    let farthest_square = larger::<R>(stride.dot(&stride), far.dot(&far));
    let flags = flags_of::<C, R>(&place, farthest_square, far.dot(&far), stepping);
    Settled::<C, R> {
        position: place,
        velocity: onward,
        given,
        flags,
    }
}

/// Velocity of the wall of the element whose record starts at `e`, at a point of it \[m/s\].
#[cube]
#[inline(always)]
fn velocity_of_hold<C: Real>(container: &[C], e: usize, point: &Vector3<C>) -> Vector3<C> {
    let arm = point.minus(&load::<C>(container, e + 12usize));
    let spin = load::<C>(container, e + 18usize);
    load::<C>(container, e + 15usize).plus(&spin.cross(&arm))
}
