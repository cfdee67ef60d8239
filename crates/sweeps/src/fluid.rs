//! Fluids: interaction of particles, extrapolation of the flow to walls, and motion of particles.
//!
//! Records:
//!
//! - `position`: x y z and the volume, negative for wall particles;
//! - `flow`: velocity x y z and pressure;
//! - `drag`: viscous velocity x y z and padding;
//! - `rate`: force x y z and density rate;
//! - `motion`, if walls move: surface velocity x y z, and 1 if the surface of a wall at rest moves, else 0. For fluid, the velocity of its particles.
//!
//! ```
//! use seixo_sweeps::fluid::{OPEN_BOUNDARY, OUTLET, SUSPENDED, WALL, is_outward, is_passing, is_suspended};
//! // Particles of wall 3, of a grain in suspension, of an inlet and of an outlet.
//! let kinds = [WALL | 3, WALL | SUSPENDED, WALL | OPEN_BOUNDARY, WALL | OPEN_BOUNDARY | OUTLET];
//! assert_eq!(kinds.map(is_suspended), [false, true, false, false]);
//! assert_eq!(kinds.map(is_passing), [false, false, true, true]);
//! assert_eq!(kinds.map(is_outward), [false, false, false, true]);
//! ```

use crate::layout::load;
use crate::motion::{StepParameters, flags_of};
use crate::periodic::{PeriodicBoundaries, near_image, wrap};
use crate::wall_pose::point_of_wall;
use cubecl::prelude::*;
use seixo_laws::fluid::{FluidParticle, Medium, Smoother, Smoothing, StateLaw, ViscousForce, between_media, state};
use seixo_laws::motion::{drift, kick, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, widened};

/// Flag in the kind of a wall particle; the other bits are the number of its wall.
pub const WALL: u32 = 1 << WALL_BIT;

/// Number of that bit.
pub const WALL_BIT: u32 = 31;

/// The other bits: the number of the wall.
pub const BELOW_WALL: u32 = WALL - 1;

/// Flag beside [`WALL`] of a particle in an inlet or an outlet. Fluid treats it as a wall particle, but it moves on its own. The bits below
/// [`OUTLET`] are then the number of the inlet or outlet.
pub const OPEN_BOUNDARY: u32 = 1 << 30;

/// Flag beside [`OPEN_BOUNDARY`] of a particle in an outlet, which keeps its pressure. A particle in an inlet takes the pressure of the fluid in
/// front of it.
pub const OUTLET: u32 = 1 << 29;

/// Flag beside [`WALL`], without [`OPEN_BOUNDARY`], of a grain in suspension, smaller than fluid particles, see [`crate::suspension`]. The bits below
/// are then the number of its body boundary among walls and body boundaries.
pub const SUSPENDED: u32 = 1 << 29;

/// All flags, those of a grain in suspension, and those of a particle in an inlet or an outlet.
const MARKS: u32 = WALL | OPEN_BOUNDARY | SUSPENDED;
const SMALL_GRAIN: u32 = WALL | SUSPENDED;
const PASSING: u32 = WALL | OPEN_BOUNDARY;

/// Whether a kind is that of a grain in suspension.
#[cube]
#[inline(always)]
pub fn is_suspended(kind: u32) -> bool {
    (kind & MARKS) == SMALL_GRAIN
}

/// Whether a kind is that of a particle in an inlet or an outlet.
#[cube]
#[inline(always)]
pub fn is_passing(kind: u32) -> bool {
    (kind & PASSING) == PASSING
}

/// Whether a kind is that of a particle in an outlet.
#[cube]
#[inline(always)]
pub fn is_outward(kind: u32) -> bool {
    (kind & MARKS) == MARKS
}

/// Limit of the density error \[-\]; no flow reaches it, and beyond it the equation of state is meaningless.
pub const MAX_DENSITY_ERROR: f32 = 0.5;

/// Numbers per fluid in a table: viscosity, artificial viscosity, density diffusion, rest density, stiffness ρ₀ c², pressure at rest, mass of a
/// particle, equation of state (0: Tait, 1: linear), attraction and repulsion of surface tension, and the share of both at walls.
pub const MEDIUM: usize = 11;

/// Number of the fluid of particle i, which is not a wall particle. Without `mixed` there is only one fluid.
#[cube]
#[inline(always)]
pub fn kind_of(kind: &[u32], i: usize, #[comptime] mixed: bool) -> usize {
    let mut own = 0usize;
    if mixed {
        own = kind[i] as usize;
    }
    own
}

/// Rest density of fluid number `kind` of a table \[kg/m³\].
#[cube]
#[inline(always)]
pub fn rest_density_at<R: Real>(media: &[R], kind: usize) -> R {
    media[kind * 11usize + 3usize]
}

/// Mass of a particle of fluid number `kind` of a table \[kg\].
#[cube]
#[inline(always)]
pub fn mass_at<R: Real>(media: &[R], kind: usize) -> R {
    media[kind * 11usize + 6usize]
}

/// The medium of fluid number `kind` of a table.
#[cube]
#[inline(always)]
pub fn medium_at<R: Real>(media: &[R], kind: usize) -> Medium<R> {
    let at = kind * 11usize;
    Medium::<R> {
        viscosity: media[at],
        artificial_viscosity: media[at + 1usize],
        diffusion: media[at + 2usize],
        rest_density: media[at + 3usize],
        pull: media[at + 8usize],
        push: media[at + 9usize],
        share_of_wall: media[at + 10usize],
    }
}

/// The medium between the fluids `a`, with the medium `own`, and `b`. With a wall it has the viscosity of the fluid and the wall's share of its
/// surface tension; all else is zero.
#[cube]
#[inline(always)]
pub fn medium_of<R: Real>(own: &Medium<R>, media: &[R], a: usize, b: usize, is_wall: bool, #[comptime] mixed: bool) -> Medium<R> {
    let mut of_fluids = R::new(1.0);
    let mut held = R::new(1.0);
    if is_wall {
        of_fluids = R::new(0.0);
        held = own.share_of_wall;
    }
    let mut medium = Medium::<R> {
        viscosity: own.viscosity,
        artificial_viscosity: own.artificial_viscosity * of_fluids,
        diffusion: own.diffusion * of_fluids,
        rest_density: own.rest_density,
        pull: own.pull * held,
        push: own.push * held,
        share_of_wall: own.share_of_wall,
    };
    if mixed {
        if a != b {
            let other = medium_at::<R>(media, b);
            if is_wall {
                // A wall particle has no fluid of its own.
                medium.viscosity = other.viscosity;
            } else {
                medium = between_media::<R>(own, &other);
            }
        }
    }
    medium
}

/// Pressure of fluid number `kind` at this density error \[Pa\].
#[cube]
#[inline(always)]
pub fn pressure_at<R: Real>(excess: R, media: &[R], kind: usize) -> R {
    let at = kind * 11usize;
    let mut pressure = state::pressure::<R>(excess, media[at + 4usize], StateLaw::Tait);
    if media[at + 7usize] > R::new(0.5) {
        pressure = state::pressure::<R>(excess, media[at + 4usize], StateLaw::Linear);
    }
    pressure + media[at + 5usize]
}

/// Solver of fluids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Solver {
    /// Weakly compressible: one sweep over neighbors per step; densities follow the continuity equation.
    #[default]
    WeaklyCompressible,
    /// Incompressible and divergence-free: pressures are iterated so that the density stays at rest density, see [`seixo_laws::fluid::dfsph`].
    Incompressible,
    /// The solver of \[Müller 2003\] and \[Silva 2010\]: summed densities, explicit Euler, rebound at walls.
    Muller2003,
}

impl Solver {
    /// All solvers with their keywords.
    pub const ALL: [(Solver, &'static str); 3] = [
        (Solver::WeaklyCompressible, "wcsph"),
        (Solver::Incompressible, "dfsph"),
        (Solver::Muller2003, "muller2003"),
    ];
}

/// Properties of fluids and walls for which loops and kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FluidKernelConfig {
    /// Solver.
    pub solver: Solver,
    /// Smoothing function.
    pub smoothing: Smoothing,
    /// Which sides are periodic, see [`crate::periodic`].
    pub sides: u32,
    /// Whether there is more than one fluid.
    pub mixed: bool,
    /// Whether there are wall particles.
    pub bounded: bool,
    /// Whether wall particles move.
    pub moving: bool,
    /// Whether some wall particles are in inlets or outlets, and move on their own.
    pub passing: bool,
    /// Viscous force, if a fluid has a viscosity beside an artificial one.
    pub viscous: Option<ViscousForce>,
    /// Whether the fluid has surface tension; then it is the only fluid.
    pub cohesive: bool,
    /// Whether some wall particles belong to bodies, so that the forces on them are computed at every step.
    pub laden: bool,
    /// Whether there are grains in suspension, see [`crate::suspension`].
    pub carrying: bool,
    /// Whether particle shifting is on, see [`crate::shifting`].
    pub shifting: bool,
    /// Whether a weakly compressible fluid has XSPH, see [`crate::xsph`]; never together with `shifting`.
    pub xsph: bool,
}

impl FluidKernelConfig {
    /// Whether fluid particles drift: they move with another velocity than the flow.
    pub fn has_drift(&self) -> bool {
        self.shifting || self.xsph
    }

    /// Whether viscosity or surface tension takes power from the motion between fluid and walls. Artificial viscosity and diffusion do not act there.
    pub fn walls_take_power(&self) -> bool {
        self.viscous.is_some() || self.cohesive
    }
}

/// State of the fluid extrapolated to a wall particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct FluidAtWall<R: Real> {
    /// Pressure of the wall on the fluid \[Pa\]; zero without fluid.
    pub pressure: R,
    /// Mean velocity of the fluid \[m/s\]. Velocities are transferred to the position of the wall particle by the rotation of the wall.
    pub velocity: Vector3<R>,
    /// Σ W over its fluid neighbors \[1/m³\]; zero without neighbors.
    pub share: R,
}

/// Fluid extrapolated to wall particle i: p = Σ (p_j + ρ_j (g − a)·(x_i − x_j)) W / ΣW \[Adami 2012, eq. 27\], and the mean velocity (eq. 22). The
/// pressure is never negative unless particles are shifted. `pull` is g − a, gravity minus the acceleration of the wall \[m/s²\].
///
/// A wall that rotates with `spin` \[rad/s\] is faster by spin × (x_j − x_i) at the position of particle j. This difference is subtracted from fluid
/// velocities. So fluid that rotates with the wall has the velocity of the wall particle at any depth below the surface, and no drag arises.
///
/// The row begins at entry `first` of the list, and has `count` entries, `stride` apart. Only its fluid particles count.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn fluid_before<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    count: u32,
    list: &[u32],
    position: &[C],
    flow: &[R],
    kind: &[u32],
    media: &[R],
    pull: &Vector3<R>,
    spin: &Vector3<R>,
    smoother: &Smoother<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FluidKernelConfig,
) -> FluidAtWall<R> {
    let here = load::<C>(position, i * 4usize);
    let zero = R::new(0.0);
    let (mut pressure, mut share) = (zero, zero);
    let mut velocity = Vector3::<R>::zero();
    for s in 0..count {
        let j = list[first + s as usize * stride] as usize;
        if position[j * 4usize + 3usize] > C::new(0.0) {
            let apart = near_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
            let weight = smoother.value(apart.length(), plan.smoothing);
            let density = rest_density_at::<R>(media, kind_of(kind, j, plan.mixed));
            pressure += weight * (flow[j * 4usize + 3usize] + density * pull.dot(&apart));
            let mut moves = load::<R>(flow, j * 4usize);
            if plan.moving {
                moves = moves.plus(&spin.cross(&apart));
            }
            velocity = velocity.plus(&moves.times(weight));
            share += weight;
        }
    }
    let mut per_share = zero;
    if share > zero {
        per_share = R::new(1.0) / share;
    }
    let mut mean = pressure * per_share;
    if comptime!(!plan.shifting) {
        mean = larger::<R>(mean, zero);
    }
    FluidAtWall::<R> {
        pressure: mean,
        velocity: velocity.times(per_share),
        share,
    }
}

/// Viscous velocity of a wall that moves with `wall` \[m/s\]: no slip \[Adami 2012, eq. 23\] or, with `slips`, no drag on the fluid.
#[cube]
#[inline(always)]
pub fn viscous_velocity<R: Real>(wall: &Vector3<R>, before: &Vector3<R>, slips: bool) -> Vector3<R> {
    let mut seen = wall.plus(&wall.minus(before));
    if slips {
        seen = before.plus(&Vector3::<R>::zero());
    }
    seen
}

/// Velocity of a particle in an outlet after a step \[m/s\]. It takes the speed along `normal` of the fluid in front of it, if there is any, by the
/// share `pace` of the difference. So the flow beyond an outlet has no gradient along the normal. Backflow is excluded.
#[cube]
#[inline(always)]
pub fn outlet_velocity<R: Real>(velocity: &Vector3<R>, before: &FluidAtWall<R>, normal: &Vector3<R>, pace: R) -> Vector3<R> {
    let onward = larger::<R>(before.velocity.dot(normal), R::new(0.0));
    let mut share = R::new(0.0);
    if before.share > R::new(0.0) {
        share = pace;
    }
    velocity.plus(&normal.times(onward).minus(velocity).times(share))
}

/// Motion of a wall particle that moves with its wall.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct WallParticlePose<C: Real> {
    /// Position, inside periodic sides \[m\].
    pub position: Vector3<C>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<C>,
    /// Acceleration \[m/s²\].
    pub acceleration: Vector3<C>,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// Motion of the wall particle with the position `start` at the start of the wall's motion, and `reference` at the last list rebuild. Poses are such
/// that walls are less than a period away from the start of their motion. Arguments from `wall` to `servos` are those of [`point_of_wall()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "fields of a particle and of its wall")]
pub fn carried<C: Coordinate<R>, R: Real>(
    wall: usize,
    start: &Vector3<C>,
    at_rest: &[C],
    poses: &[C],
    first_pose: usize,
    servos: &[C],
    reference: &Vector3<C>,
    stepping: &StepParameters<C, R>,
    #[comptime] sides: u32,
) -> WallParticlePose<C> {
    let point = point_of_wall::<C>(wall, start, at_rest, poses, first_pose, servos);
    let mut place = point.position.plus(&Vector3::<C>::zero());
    if comptime!(sides > 0) {
        let returned = wrap::<C, R>(&point.position, &stepping.sides);
        place = returned.position.plus(&Vector3::<C>::zero());
    }
    let far = near_image::<C, R>(&place.minus(reference), &stepping.sides, sides);
    let mut flags = 0u32;
    if far.dot(&far) > stepping.skin_exceeded_square {
        flags |= 1u32;
    }
    WallParticlePose::<C> {
        position: place,
        velocity: point.velocity,
        acceleration: point.acceleration,
        flags,
    }
}

/// A fluid particle after one step.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct AdvectedParticle<C: Real, R: Real> {
    /// Velocity at half steps \[m/s\].
    pub half: Vector3<C>,
    /// Position \[m\].
    pub position: Vector3<C>,
    /// Velocity at the whole step \[m/s\].
    pub velocity: Vector3<R>,
    /// Density error \[-\].
    pub excess: C,
    /// Volume \[m³\].
    pub volume: C,
    /// Pressure \[Pa\].
    pub pressure: R,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// Velocity of a particle of this mass after a step, by a force and gravity.
#[cube]
#[inline(always)]
pub fn kicked<C: Coordinate<R>, R: Real>(
    velocity: &Vector3<C>,
    force: &Vector3<R>,
    mass: R,
    stepping: &StepParameters<C, R>,
) -> Vector3<C> {
    let rate = force.times(R::new(1.0) / mass).plus(&stepping.gravity);
    kick::<C, R>(velocity, &rate, stepping.dt)
}

/// Advances a fluid particle and its density. Velocity and position use leap-frog. The density uses the two-step Adams–Bashforth scheme,
/// ρ^{t+Δt} = ρ^t (1 + Δt (3/2 D^t − 1/2 D^{t−Δt})), with D known at whole steps.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "fields of a particle")]
pub fn advected<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    half: &Vector3<C>,
    excess: C,
    force: &Vector3<R>,
    density_rate: R,
    previous_density_rate: R,
    reference: &Vector3<C>,
    media: &[R],
    kind: usize,
    stepping: &StepParameters<C, R>,
) -> AdvectedParticle<C, R> {
    let mass = mass_at::<R>(media, kind);
    let rate = force.times(R::new(1.0) / mass).plus(&stepping.gravity);
    let after = kick::<C, R>(half, &rate, stepping.dt);
    let moved = advanced::<C, R>(position, &after, reference, stepping);
    let mean = density_rate + R::new(0.5) * (density_rate - previous_density_rate);
    let one = C::new(1.0);
    let excess = excess + (one + excess) * C::wide(stepping.dt * mean);
    let rest_volume = C::wide(mass / rest_density_at::<R>(media, kind));
    let velocity = velocity_ahead::<R>(&near_vector::<C, R>(&after), &rate, stepping.reads_ahead);
    let mut flags = moved.flags;
    let most = C::new(MAX_DENSITY_ERROR);
    if excess >= most || excess <= -most {
        flags |= 64u32;
    }
    AdvectedParticle::<C, R> {
        half: after,
        position: moved.position,
        velocity,
        excess,
        volume: rest_volume / (one + excess),
        pressure: pressure_at::<R>(C::near(excess), media, kind),
        flags,
    }
}

/// A particle after a step with its velocity.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct DriftedParticle<C: Real> {
    /// Position \[m\].
    pub position: Vector3<C>,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// Moves a fluid particle by its velocity \[m/s\] over one step.
#[cube]
#[inline(always)]
pub fn advanced<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    velocity: &Vector3<C>,
    reference: &Vector3<C>,
    stepping: &StepParameters<C, R>,
) -> DriftedParticle<C> {
    let place = drift::<C>(position, velocity, C::wide(stepping.dt));
    let stride = near_vector::<C, R>(velocity).times(stepping.dt);
    let far = near_vector::<C, R>(&place.minus(reference));
    let flags = flags_of::<C, R>(&place, stride.dot(&stride), far.dot(&far), stepping);
    DriftedParticle::<C> { position: place, flags }
}

/// As [`advanced()`], for a particle in an inlet or an outlet. The only possible flag is that for an exceeded skin.
#[cube]
#[inline(always)]
pub fn drifted_position<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    velocity: &Vector3<R>,
    reference: &Vector3<C>,
    stepping: &StepParameters<C, R>,
) -> DriftedParticle<C> {
    let place = drift::<C>(position, &widened::<C, R>(velocity), C::wide(stepping.dt));
    let far = near_vector::<C, R>(&place.minus(reference));
    let mut flags = 0u32;
    if far.dot(&far) > stepping.skin_exceeded_square {
        flags |= 1u32;
    }
    DriftedParticle::<C> { position: place, flags }
}

/// Velocity of a particle with this surface velocity \[m/s\]: zero if the surface `runs`, which is 1 then and else 0. With the velocity of a moving
/// surface instead, fluid would be compressed forever at the end of the surface.
#[cube]
#[inline(always)]
pub fn going<R: Real>(surface_velocity: &Vector3<R>, runs: R) -> Vector3<R> {
    surface_velocity.times(R::new(1.0) - runs)
}

/// Properties of a particle that its neighbors read, with a positive volume.
#[cube]
#[inline(always)]
pub fn parcel<R: Real>(volume: R, surface_velocity: &Vector3<R>, runs: R, viscous_velocity: &Vector3<R>, pressure: R) -> FluidParticle<R> {
    let mut positive = volume;
    if volume < R::new(0.0) {
        positive = -volume;
    }
    FluidParticle::<R> {
        volume: positive,
        velocity: going::<R>(surface_velocity, runs),
        surface_velocity: surface_velocity.plus(&Vector3::<R>::zero()),
        viscous_velocity: viscous_velocity.plus(&Vector3::<R>::zero()),
        pressure,
    }
}
