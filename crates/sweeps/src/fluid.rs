//! Fluids: what particles exchange, what walls feel of the fluid before them, and how particles move.
//!
//! Records: `position` = x y z and the volume, negative for particles of walls; `flow` = velocity x y z and pressure; `drag` = the velocity that
//! viscosity sees x y z and padding; `rate` = force x y z and relative rate of change of the density; `motion`, where walls move = velocity x y z of a
//! surface, and 1 if it runs while its wall stands, else 0; of fluid, the velocity with which its particles go on.

use crate::motion::{Stepping, flags_of};
use crate::pose::point_of_wall;
use crate::sides::{Sides, near_image, put_back};
use crate::views::load;
use cubecl::prelude::*;
use seixo_laws::fluid::{Medium, Parcel, Smoother, Smoothing, StateLaw, ViscousForce, between_media, state};
use seixo_laws::motion::{drift, kick, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, widened};

/// Bit of a particle's kind that says that it belongs to a wall; the others are the wall's number.
pub const WALL: u32 = 1 << 31;

/// Bit beside [`WALL`] of a particle in an inlet or an outlet: to fluid it is one of a wall, but it moves on by itself. The bits below
/// [`OUTWARD`] are then the number of the inlet or of the outlet.
pub const PASSING: u32 = 1 << 30;

/// Bit beside [`PASSING`] of a particle in an outlet, which keeps its pressure; one in an inlet has that of the fluid before it.
pub const OUTWARD: u32 = 1 << 29;

/// Bit beside [`WALL`], without [`PASSING`], of a grain that is smaller than these particles, see [`crate::suspension`]. The bits below are then the
/// number of its hull among walls and hulls.
pub const SUSPENDED: u32 = 1 << 29;

/// Whether a kind is that of a grain that is smaller than these particles.
#[cube]
#[inline(always)]
pub fn is_suspended(kind: u32) -> bool {
    (kind >> 29u32) == 5u32
}

/// Whether a kind is that of a particle in an inlet or an outlet.
#[cube]
#[inline(always)]
pub fn is_passing(kind: u32) -> bool {
    (kind >> 30u32) == 3u32
}

/// Whether a kind is that of a particle in an outlet.
#[cube]
#[inline(always)]
pub fn is_outward(kind: u32) -> bool {
    (kind >> 29u32) == 7u32
}

/// Excess of density \[-\] that no flow has: where it is reached, the equation of state means nothing any more.
pub const MOST_EXCESS: f32 = 0.5;

/// Numbers per fluid in a table: viscosity, artificial viscosity, diffusion, rest density, stiffness ρ₀ c², pressure at rest, mass of a particle,
/// law of state: 0 for Tait's, 1 for the linear one; pull and push of tension, and the share of both at walls.
pub const MEDIUM: usize = 11;

/// Number of the fluid that particle i is of, which is not one of a wall; where fluids are not `mixed`, there is but one.
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

/// What the laws need to know of fluid number `kind` of a table.
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

/// What is between fluids number `a`, whose medium is `own`, and `b`; with a wall, the viscosity of the fluid, the share of its tension, and nothing
/// else.
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
                // A particle of a wall has no fluid of its own.
                medium.viscosity = other.viscosity;
            } else {
                medium = between_media::<R>(own, &other);
            }
        }
    }
    medium
}

/// Pressure of fluid number `kind` at this excess of density.
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

/// How the motion of fluids is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Solver {
    /// Weakly compressible: one sweep over neighbors a step, densities follow the continuity equation.
    #[default]
    WeaklyCompressible,
    /// Incompressible and free of divergence: pressures are iterated for that keep the density at rest, see [`seixo_laws::fluid::dfsph`].
    Incompressible,
    /// As \[Müller 2003\] and \[Silva 2010\] do it: densities are sums, explicit Euler, walls put particles back.
    Muller2003,
}

impl Solver {
    /// Every solver, with its word.
    pub const ALL: [(Solver, &'static str); 3] = [
        (Solver::WeaklyCompressible, "wcsph"),
        (Solver::Incompressible, "dfsph"),
        (Solver::Muller2003, "muller2003"),
    ];
}

/// How fluids are put together and how they see walls: loops and kernels are compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowPlan {
    /// How their motion is found.
    pub solver: Solver,
    /// What smooths.
    pub smoothing: Smoothing,
    /// Which sides are periodic, see [`crate::sides`].
    pub sides: u32,
    /// Whether there is more than one fluid.
    pub mixed: bool,
    /// Whether there are particles of walls.
    pub bounded: bool,
    /// Whether these move.
    pub moving: bool,
    /// Whether some of them are in inlets or outlets, and move on by themselves.
    pub passing: bool,
    /// How viscosity acts, where a fluid has one beside an artificial one.
    pub viscous: Option<ViscousForce>,
    /// Whether the fluid, which then is the only one, has a surface tension.
    pub cohesive: bool,
    /// Whether bodies bear the forces on some particles of walls, which are found at every step then.
    pub laden: bool,
    /// Whether there are grains that are smaller than these particles, see [`crate::suspension`].
    pub carrying: bool,
    /// Whether particles are shifted, see [`crate::shifting`].
    pub shifting: bool,
}

/// What fluid is before a particle of a wall.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Before<R: Real> {
    /// Pressure with which the wall pushes back \[Pa\]; zero where there is no fluid.
    pub pressure: R,
    /// Mean velocity of the fluid \[m/s\], each of its particles taken to the place of that of the wall as the wall turns.
    pub velocity: Vector3<R>,
    /// Σ W of the fluid particles that it sees \[1/m³\]; zero where there are none.
    pub share: R,
}

/// What the fluid before particle i of a wall is like: p = Σ (p_j + ρ_j (g − a)·(x_i − x_j)) W / ΣW \[Adami 2012, eq. 27\],
/// never below zero unless particles are shifted, and the mean velocity (eq. 22). `pull` is g − a, gravity less the acceleration of the wall \[m/s²\].
///
/// A wall that turns with `spin` \[rad/s\] would go by spin × (x_j − x_i) faster where particle j is. Velocities are compared with that: so fluid that
/// turns as the wall does is seen to go as the particle of the wall does, wherever that is below the surface, and nothing drags at it.
///
/// Its row begins at entry `first` of the list, and has `count` entries with `stride` places from one to the next; of those only fluid counts.
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
    sides: &Sides<C, R>,
    #[comptime] stride: usize,
    #[comptime] plan: FlowPlan,
) -> Before<R> {
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
    Before::<R> {
        pressure: mean,
        velocity: velocity.times(per_share),
        share,
    }
}

/// The velocity that makes viscosity see a wall that moves with `wall` \[m/s\]: fluid sticks to it \[Adami 2012, eq. 23\] or, where
/// it `slips`, is not held back.
#[cube]
#[inline(always)]
pub fn drag_velocity<R: Real>(wall: &Vector3<R>, before: &Vector3<R>, slips: bool) -> Vector3<R> {
    let mut seen = wall.plus(&wall.minus(before));
    if slips {
        seen = before.plus(&Vector3::<R>::zero());
    }
    seen
}

/// The velocity of a particle in an outlet, a step on \[m/s\]: it takes up the speed along `normal` of the fluid before it, if there is any, by the
/// share `pace` of the difference. So what is beyond an outlet goes as what comes to it, without a gradient along the normal; nothing comes back.
#[cube]
#[inline(always)]
pub fn led_on<R: Real>(velocity: &Vector3<R>, before: &Before<R>, normal: &Vector3<R>, pace: R) -> Vector3<R> {
    let onward = larger::<R>(before.velocity.dot(normal), R::new(0.0));
    let mut share = R::new(0.0);
    if before.share > R::new(0.0) {
        share = pace;
    }
    velocity.plus(&normal.times(onward).minus(velocity).times(share))
}

/// A particle of a wall where its wall has it now.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Carried<C: Real> {
    /// Place, inside periodic sides \[m\].
    pub position: Vector3<C>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<C>,
    /// Acceleration \[m/s²\].
    pub acceleration: Vector3<C>,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// The particle of a wall that is at `start` where the wall's motion begins, and was listed at `reference`. Poses are such that walls are less than
/// a length of periodic sides away from where their motions began; for the arguments from `wall` to `servos` see [`point_of_wall()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what is known of a particle and of its wall")]
pub fn carried<C: Coordinate<R>, R: Real>(
    wall: usize,
    start: &Vector3<C>,
    at_rest: &[C],
    poses: &[C],
    first_pose: usize,
    servos: &[C],
    reference: &Vector3<C>,
    stepping: &Stepping<C, R>,
    #[comptime] sides: u32,
) -> Carried<C> {
    let point = point_of_wall::<C>(wall, start, at_rest, poses, first_pose, servos);
    let mut place = point.position.plus(&Vector3::<C>::zero());
    if comptime!(sides > 0) {
        let returned = put_back::<C, R>(&point.position, &stepping.sides);
        place = returned.position.plus(&Vector3::<C>::zero());
    }
    let far = near_image::<C, R>(&place.minus(reference), &stepping.sides, sides);
    let mut flags = 0u32;
    if far.dot(&far) > stepping.stale_square {
        flags |= 1u32;
    }
    Carried::<C> {
        position: place,
        velocity: point.velocity,
        acceleration: point.acceleration,
        flags,
    }
}

/// A particle of fluid one step on.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Flown<C: Real, R: Real> {
    /// Velocity at half steps \[m/s\].
    pub half: Vector3<C>,
    /// Place \[m\].
    pub position: Vector3<C>,
    /// Velocity at the whole step \[m/s\].
    pub velocity: Vector3<R>,
    /// Excess of density \[-\].
    pub excess: C,
    /// Volume \[m³\].
    pub volume: C,
    /// Pressure \[Pa\].
    pub pressure: R,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// The velocity of a particle of this mass a step later, by a force and gravity.
#[cube]
#[inline(always)]
pub fn kicked<C: Coordinate<R>, R: Real>(velocity: &Vector3<C>, force: &Vector3<R>, mass: R, stepping: &Stepping<C, R>) -> Vector3<C> {
    let rate = force.times(R::new(1.0) / mass).plus(&stepping.gravity);
    kick::<C, R>(velocity, &rate, stepping.dt)
}

/// Kicks a particle, lets it drift, and lets its density follow: leap-frog in velocity and place; the density by Adams' and Bashforth's two steps,
/// ρ^{t+Δt} = ρ^t (1 + Δt (3/2 D^t − 1/2 D^{t−Δt})), with D known at whole steps.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what is known of a particle")]
pub fn flown<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    half: &Vector3<C>,
    excess: C,
    force: &Vector3<R>,
    swelling: R,
    swelling_before: R,
    reference: &Vector3<C>,
    media: &[R],
    kind: usize,
    stepping: &Stepping<C, R>,
) -> Flown<C, R> {
    let mass = mass_at::<R>(media, kind);
    let rate = force.times(R::new(1.0) / mass).plus(&stepping.gravity);
    let after = kick::<C, R>(half, &rate, stepping.dt);
    let moved = flowed::<C, R>(position, &after, reference, stepping);
    let mean = swelling + R::new(0.5) * (swelling - swelling_before);
    let one = C::new(1.0);
    let excess = excess + (one + excess) * C::wide(stepping.dt * mean);
    let rest_volume = C::wide(mass / rest_density_at::<R>(media, kind));
    let velocity = velocity_ahead::<R>(&near_vector::<C, R>(&after), &rate, stepping.reads_ahead);
    let mut flags = moved.flags;
    let most = C::new(MOST_EXCESS);
    if excess >= most || excess <= -most {
        flags |= 64u32;
    }
    Flown::<C, R> {
        half: after,
        position: moved.position,
        velocity,
        excess,
        volume: rest_volume / (one + excess),
        pressure: pressure_at::<R>(C::near(excess), media, kind),
        flags,
    }
}

/// A particle that a step took on with its velocity.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Drifted<C: Real> {
    /// Place \[m\].
    pub position: Vector3<C>,
    /// Raised flags, see [`crate::motion`].
    pub flags: u32,
}

/// Takes a particle of fluid on with its velocity \[m/s\].
#[cube]
#[inline(always)]
pub fn flowed<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    velocity: &Vector3<C>,
    reference: &Vector3<C>,
    stepping: &Stepping<C, R>,
) -> Drifted<C> {
    let place = drift::<C>(position, velocity, C::wide(stepping.dt));
    let stride = near_vector::<C, R>(velocity).times(stepping.dt);
    let far = near_vector::<C, R>(&place.minus(reference));
    let flags = flags_of::<C, R>(&place, stride.dot(&stride), far.dot(&far), stepping);
    Drifted::<C> { position: place, flags }
}

/// As [`flowed()`], of a particle in an inlet or an outlet: all that it can do is to move too far since the lists were made.
#[cube]
#[inline(always)]
pub fn drifted<C: Coordinate<R>, R: Real>(
    position: &Vector3<C>,
    velocity: &Vector3<R>,
    reference: &Vector3<C>,
    stepping: &Stepping<C, R>,
) -> Drifted<C> {
    let place = drift::<C>(position, &widened::<C, R>(velocity), C::wide(stepping.dt));
    let far = near_vector::<C, R>(&place.minus(reference));
    let mut flags = 0u32;
    if far.dot(&far) > stepping.stale_square {
        flags |= 1u32;
    }
    Drifted::<C> { position: place, flags }
}

/// Velocity with which a particle goes on whose surface has this one \[m/s\]: none if the surface `runs`, which is 1 then and else 0. Were that of a
/// surface that runs taken for it, fluid would be compressed for ever where the surface ends.
#[cube]
#[inline(always)]
pub fn going<R: Real>(surface_velocity: &Vector3<R>, runs: R) -> Vector3<R> {
    surface_velocity.times(R::new(1.0) - runs)
}

/// A particle as its neighbors see it, with a volume that is positive.
#[cube]
#[inline(always)]
pub fn parcel<R: Real>(volume: R, surface_velocity: &Vector3<R>, runs: R, drag_velocity: &Vector3<R>, pressure: R) -> Parcel<R> {
    let mut positive = volume;
    if volume < R::new(0.0) {
        positive = -volume;
    }
    Parcel::<R> {
        volume: positive,
        velocity: going::<R>(surface_velocity, runs),
        surface_velocity: surface_velocity.plus(&Vector3::<R>::zero()),
        drag_velocity: drag_velocity.plus(&Vector3::<R>::zero()),
        pressure,
    }
}
