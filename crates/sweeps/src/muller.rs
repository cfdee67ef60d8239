//! Müller 2003 solver: sums over neighbors, coupling with spheres of rigid bodies, and rebound at walls.
//!
//! Every particle lists all its neighbors. Its row begins at entry `first` of the list and has `count` entries, `stride` apart. Spheres of bodies are
//! in the same table, with the kind of wall particles, and list the fluid around them.
//!
//! Records:
//!
//! - `position`: x y z. The last number is a volume for fluid, which no sweep here reads. For a sphere it is minus its contact distance to fluid, its
//!   radius and half a spacing. So a negative number marks a sphere.
//! - `flow` and `kicked`: velocity x y z and an unused number;
//! - `motion`: velocity x y z of spheres and padding, if there are any;
//! - `dense`: volume, pressure, density error, energy of springs;
//! - `container`: see [`CONTAINER_ELEMENT`], and `samples`: signed distances of meshes on the grids of these elements \[m\]. Without `meshes` there
//!   are none;
//! - `media` is the table of [`crate::fluid`], and `fluid_parameters` that of [`MULLER_PARAMETERS`].
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::layout::SPHERE;
//! use seixo_sweeps::muller::{CONTAINER_ELEMENT, container_surface_point};
//! // A hollow sphere of radius 2 m with the fluid inside. Its surface is 1 m away from this point, and its normal points inward.
//! let mut container = [0.0; CONTAINER_ELEMENT];
//! (container[6], container[9], container[10]) = (2.0, f64::from(SPHERE), -1.0);
//! let inside = Vector3 { x: 1.0, y: 0.0, z: 0.0 };
//! let surface = container_surface_point::<f64, f64>(&inside, &container, 0, &[], false);
//! assert_eq!((surface.distance, surface.normal.x), (1.0, -1.0));
//! ```

use crate::fluid::{FluidKernelConfig, WALL, kind_of, mass_at, pressure_at, rest_density_at};
use crate::layout::{DISTANCE_GRID, FRUSTUM, SPHERE, load};
use crate::motion::{StepParameters, flags_of};
use crate::periodic::{PeriodicBoundaries, near_image};
use cubecl::prelude::*;
use seixo_laws::fluid::muller::{Functions, Particle, draw, gain, pair_force, rebound, weight};
use seixo_laws::fluid::spring::{SpringResponse, energy, overlap, spring_and_damper};
use seixo_laws::motion::{drift, gravity_energy};
use seixo_laws::wall::{SurfacePoint, beside_frustum, beside_sphere, nearest_on_frustum};
use seixo_laws::{Coordinate, Real, Vector3, blend, larger, near_vector, widened};

/// Numbers per fluid in a separate table: ε of XSPH, restitution at walls, and stiffness and damping between its particles and spheres of bodies.
pub const MULLER_PARAMETERS: usize = 4;

/// Numbers per element of a wall that contains fluid: nine for its geometry and its kind, as in [`crate::layout::ELEMENT`]; the sign of distances on
/// the side of the fluid; the number of its wall; a point of the wall's axis, its velocity and angular velocity; of a [`DISTANCE_GRID`] the spacing of
/// its samples, the number of its first block of samples, their number along its three axes, and the distance of all points outside of it; padding.
pub const CONTAINER_ELEMENT: usize = 28;

/// Samples per block. The samples of a grid begin with a block, as single precision holds the number of a block exactly.
pub const SAMPLE_BLOCK: usize = 256;

/// Whether particle i is a fluid particle and not a sphere of a body. Without `bounded` there are no spheres.
#[cube]
#[inline(always)]
pub fn is_fluid<C: Real>(position: &[C], i: usize, #[comptime] bounded: bool) -> bool {
    let mut is_it = true;
    if bounded {
        is_it = position[i * 4usize + 3usize] > C::new(0.0);
    }
    is_it
}

/// As [`kind_of()`], and 0 for a sphere.
#[cube]
#[inline(always)]
pub fn fluid_of(kind: &[u32], i: usize, #[comptime] plan: FluidKernelConfig) -> usize {
    let mut own = kind_of(kind, i, plan.mixed);
    if comptime!(plan.mixed && plan.bounded) {
        if (kind[i] & WALL) != 0u32 {
            own = 0usize;
        }
    }
    own
}

/// Sums over the neighbors of a fluid particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct NeighborSums<R: Real> {
    /// Density \[kg/m³\].
    pub density: R,
    /// Energy of the springs between it and spheres of bodies \[J\].
    pub elastic: R,
}

/// Density of fluid particle i, and energy of its springs.
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
    fluid_parameters: &[R],
    functions: &Functions<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> NeighborSums<R> {
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
                elastic += energy::<R>(depth, fluid_parameters[own * 4usize + 2usize]);
            }
        }
    }
    NeighborSums::<R> { density, elastic }
}

/// Contact distance of sphere i of a body to fluid \[m\].
#[cube]
#[inline(always)]
fn reach_of<C: Coordinate<R>, R: Real>(position: &[C], i: usize) -> R {
    -C::near(position[i * 4usize + 3usize])
}

/// State of a particle that follows from its density.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct DensityState<R: Real> {
    /// Volume \[m³\].
    pub volume: R,
    /// Pressure \[Pa\].
    pub pressure: R,
    /// Relative density error \[-\].
    pub excess: R,
}

/// State of particle i at this density.
#[cube]
#[inline(always)]
pub fn dense_of<R: Real>(i: usize, density: R, kind: &[u32], media: &[R], #[comptime] plan: FluidKernelConfig) -> DensityState<R> {
    let fluid = kind_of(kind, i, plan.mixed);
    let rest_density = rest_density_at::<R>(media, fluid);
    let excess = (density - rest_density) / rest_density;
    DensityState::<R> {
        volume: mass_at::<R>(media, fluid) / density,
        pressure: pressure_at::<R>(excess, media, fluid),
        excess,
    }
}

/// Forces on a particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ParticleForces<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Power taken by viscosity from the motion of the particle, and by dampers from that of both partners \[W\].
    pub viscous_power: R,
}

/// Properties of particle i that its neighbors read.
#[cube]
#[inline(always)]
fn particle<R: Real>(i: usize, flow: &[R], dense: &[R], kind: &[u32], media: &[R], #[comptime] plan: FluidKernelConfig) -> Particle<R> {
    Particle::<R> {
        volume: dense[i * 4usize],
        pressure: dense[i * 4usize + 1usize],
        viscosity: media[fluid_of(kind, i, plan) * 11usize],
        velocity: load::<R>(flow, i * 4usize),
    }
}

/// Force of a sphere of a body on a fluid particle at the distance vector `apart`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn spring_force_on_fluid<C: Coordinate<R>, R: Real>(
    sphere: usize,
    fluid: usize,
    apart: &Vector3<R>,
    position: &[C],
    flow: &[R],
    motion: &[R],
    kind: &[u32],
    fluid_parameters: &[R],
    functions: &Functions<R>,
    #[comptime] mixed: bool,
) -> SpringResponse<R> {
    let parameters_of_fluid = kind_of(kind, fluid, mixed) * 4usize;
    let moving = load::<R>(flow, fluid * 4usize).minus(&load::<R>(motion, sphere * 4usize));
    spring_and_damper::<R>(
        apart,
        &moving,
        overlap::<R>(apart.dot(apart), reach_of::<C, R>(position, sphere)),
        fluid_parameters[parameters_of_fluid + 2usize],
        fluid_parameters[parameters_of_fluid + 3usize],
        functions.softening,
    )
}

/// Forces of neighbors on particle i. For a sphere it is the force of the fluid, exactly opposite to that on the fluid.
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
    fluid_parameters: &[R],
    functions: &Functions<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> ParticleForces<R> {
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
            let passed = pair_force::<R>(&apart, apart.dot(&apart), &own, &other, functions);
            pressing = pressing.plus(&passed.pressure);
            dragging = dragging.plus(&passed.viscous);
        }
        if comptime!(plan.bounded) {
            if !other_flows {
                let pressed =
                    spring_force_on_fluid::<C, R>(j, i, &apart, position, flow, motion, kind, fluid_parameters, functions, plan.mixed);
                springing = springing.plus(&pressed.force);
                braking += pressed.taken;
            }
            if !flows {
                // Evaluated from the side of the fluid, so that both get the same numbers.
                let from_here = near_image::<C, R>(&there.minus(&here), sides, plan.sides);
                let pressed = spring_force_on_fluid::<C, R>(
                    i,
                    j,
                    &from_here,
                    position,
                    flow,
                    motion,
                    kind,
                    fluid_parameters,
                    functions,
                    plan.mixed,
                );
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
    ParticleForces::<R> { force, viscous_power }
}

/// XSPH velocity of fluid particle i before the factor ε \[m/s\]; `kicked` are velocities after forces.
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
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
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

/// A velocity after XSPH smoothing.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct XsphVelocity<C: Real, R: Real> {
    /// Velocity \[m/s\].
    pub velocity: Vector3<C>,
    /// Energy that XSPH took from the motion \[J\].
    pub taken: R,
}

/// Velocity of a particle after XSPH smoothing with the factor `xsph`.
#[cube]
#[inline(always)]
pub fn drawn<C: Coordinate<R>, R: Real>(kicked: &Vector3<C>, all: &Vector3<R>, xsph: R, mass: R) -> XsphVelocity<C, R> {
    let change = all.times(xsph);
    XsphVelocity::<C, R> {
        velocity: kicked.plus(&widened::<C, R>(&change)),
        taken: -gain::<R>(mass, &near_vector::<C, R>(kicked), &change),
    }
}

/// Signed distance on an edge of a grid's cell, along the first axis.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct EdgeDistance<C: Real> {
    /// Distance \[m\].
    pub distance: C,
    /// Its change along the edge \[m\].
    pub change: C,
}

/// Signed distance on the edge that begins with the sample `first`, at this share of its length.
#[cube]
#[inline(always)]
fn distance_on_edge<C: Coordinate<R>, R: Real>(samples: &[R], first: usize, share: C) -> EdgeDistance<C> {
    let from = C::wide(samples[first]);
    let to = C::wide(samples[first + 1usize]);
    EdgeDistance::<C> {
        distance: blend::<C>(from, to, share),
        change: to - from,
    }
}

/// Position of a point relative to a mesh, by trilinear interpolation of its signed distances. The normal is the direction of their gradient.
#[cube]
#[inline(always)]
fn beside_mesh<C: Coordinate<R>, R: Real>(place: &Vector3<C>, container: &[C], e: usize, samples: &[R]) -> SurfacePoint<C> {
    let zero = C::new(0.0);
    let one = C::new(1.0);
    let axis_x = load::<C>(container, e + 3usize);
    let axis_y = load::<C>(container, e + 6usize);
    let axis_z = axis_x.cross(&axis_y);
    let spacing = container[e + 21usize];
    let count_x = container[e + 23usize];
    let count_y = container[e + 24usize];
    let count_z = container[e + 25usize];
    let from_corner = place.minus(&load::<C>(container, e)).times(one / spacing);
    let x = from_corner.dot(&axis_x);
    let y = from_corner.dot(&axis_y);
    let z = from_corner.dot(&axis_z);
    let is_after = x >= zero && y >= zero && z >= zero;
    let is_before = x < count_x - one && y < count_y - one && z < count_z - one;
    let mut distance = container[e + 26usize];
    let mut normal = axis_z.plus(&Vector3::<C>::zero());
    if is_after && is_before {
        let i = C::whole(x);
        let j = C::whole(y);
        let k = C::whole(z);
        let share_x = x - C::counted(i);
        let share_y = y - C::counted(j);
        let share_z = z - C::counted(k);
        let row = C::whole(count_x) as usize;
        let layer = row * C::whole(count_y) as usize;
        let block = C::whole(container[e + 22usize]) as usize;
        let first = block * SAMPLE_BLOCK + i as usize + j as usize * row + k as usize * layer;
        let low_near = distance_on_edge::<C, R>(samples, first, share_x);
        let low_far = distance_on_edge::<C, R>(samples, first + row, share_x);
        let high_near = distance_on_edge::<C, R>(samples, first + layer, share_x);
        let high_far = distance_on_edge::<C, R>(samples, first + layer + row, share_x);
        let low = blend::<C>(low_near.distance, low_far.distance, share_y);
        let high = blend::<C>(high_near.distance, high_far.distance, share_y);
        distance = blend::<C>(low, high, share_z);
        let low_x = blend::<C>(low_near.change, low_far.change, share_y);
        let high_x = blend::<C>(high_near.change, high_far.change, share_y);
        let along_x = axis_x.times(blend::<C>(low_x, high_x, share_z));
        let low_y = low_far.distance - low_near.distance;
        let high_y = high_far.distance - high_near.distance;
        let along_y = axis_y.times(blend::<C>(low_y, high_y, share_z));
        let gradient = along_x.plus(&along_y).plus(&axis_z.times(high - low));
        let steepness = gradient.length();
        if steepness > zero {
            normal = gradient.times(one / steepness);
        }
    }
    SurfacePoint::<C> {
        distance,
        normal,
        within: zero,
    }
}

/// Position of a point relative to the unbounded surface of the container element whose record starts at `e`. Distances are positive on the side of
/// the fluid. A plane has no ends. Outside of the grid of a mesh its distance is the same everywhere.
#[cube]
#[inline(always)]
pub fn container_surface_point<C: Coordinate<R>, R: Real>(
    place: &Vector3<C>,
    container: &[C],
    e: usize,
    samples: &[R],
    #[comptime] meshes: bool,
) -> SurfacePoint<C> {
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
    if comptime!(meshes) {
        if kind == C::new(DISTANCE_GRID) {
            let beside = beside_mesh::<C, R>(place, container, e, samples);
            distance = beside.distance * sign;
            normal = beside.normal.times(sign);
            within = beside.within;
        }
    }
    SurfacePoint::<C> { distance, normal, within }
}

/// A particle inside its container after a step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct ContainedParticle<C: Real, R: Real> {
    /// Position \[m\].
    pub position: Vector3<C>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<C>,
    /// Energy supplied by walls \[J\].
    pub given: R,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// Moves a particle by its velocity `before`, from before its forces, and reflects it at walls. A particle that crossed an element of a wall is put
/// back on its surface. The velocity component into the wall is reversed.
///
/// Planes and spheres hold all particles behind them. A frustum has ends, so it holds only particles that were in front of it and within its ends.
/// Other elements may have moved a particle. So it may be behind a frustum by a tenth of the largest step, and beyond its ends by a thousandth.
///
/// A mesh may have ends, too. Beyond its rim signed distances jump from one side to the other. A particle that crossed the mesh came nearer by at most
/// √3 times its displacement, which is the bound of the gradient of a trilinear interpolation. One for which they fell by more passed the rim.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "fields of a particle")]
pub fn contain<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    before: &Vector3<C>,
    velocity: &Vector3<C>,
    reference: &Vector3<C>,
    mass: R,
    restitution: R,
    container: &[C],
    samples: &[R],
    elements: u32,
    stepping: &StepParameters<C, R>,
    #[comptime] meshes: bool,
) -> ContainedParticle<C, R> {
    let nothing = C::new(0.0);
    let dt = C::wide(stepping.dt);
    let there = drift::<C>(position, before, dt);
    let slack = C::root(C::wide(stepping.stride_square)) * C::new(0.1);
    let margin = slack * C::new(0.01);
    let mut place = there.plus(&Vector3::<C>::zero());
    let mut onward = velocity.plus(&Vector3::<C>::zero());
    // Another element may have moved the particle behind this one.
    for _round in 0..3u32 {
        for k in 0..elements {
            let e = k as usize * 28usize;
            let now = container_surface_point::<C, R>(&place, container, e, samples, meshes);
            let mut surface = place.minus(&now.normal.times(now.distance));
            let mut holds = now.distance < nothing;
            if container[e + 9usize] == C::new(FRUSTUM) {
                let at = load::<C>(container, e);
                let axis = load::<C>(container, e + 3usize);
                let was = container_surface_point::<C, R>(position, container, e, samples, meshes);
                surface = nearest_on_frustum::<C>(&place, &at, &axis, &load::<C>(container, e + 6usize));
                holds = now.distance < nothing && was.within >= -margin;
                if holds {
                    // The wall moved as well in this step.
                    let pace = velocity_of_container::<C>(container, e, &surface).dot(&now.normal);
                    holds = was.distance + pace * dt >= -slack;
                }
            }
            if comptime!(meshes) {
                if holds && container[e + 9usize] == C::new(DISTANCE_GRID) {
                    let was = container_surface_point::<C, R>(position, container, e, samples, meshes);
                    let pace = velocity_of_container::<C>(container, e, &surface).dot(&now.normal);
                    let moved = place.minus(position).length();
                    holds = was.distance + pace * dt >= -slack && was.distance - now.distance <= moved + moved + margin;
                }
            }
            if holds {
                let wall = velocity_of_container::<C>(container, e, &surface);
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
    // The lists are valid for displacements up to this limit, also for a particle moved by a wall.
    let farthest_square = larger::<R>(stride.dot(&stride), far.dot(&far));
    let flags = flags_of::<C, R>(&place, farthest_square, far.dot(&far), stepping);
    ContainedParticle::<C, R> {
        position: place,
        velocity: onward,
        given,
        flags,
    }
}

/// Velocity at a point of the wall of the element whose record starts at `e` \[m/s\].
#[cube]
#[inline(always)]
fn velocity_of_container<C: Real>(container: &[C], e: usize, point: &Vector3<C>) -> Vector3<C> {
    let arm = point.minus(&load::<C>(container, e + 12usize));
    let spin = load::<C>(container, e + 18usize);
    load::<C>(container, e + 15usize).plus(&spin.cross(&arm))
}
