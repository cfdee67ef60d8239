//! Fluids: what particles exchange, what walls feel of the fluid before them, and how particles move.
//!
//! Records: `position` = x y z and the volume, negative for particles of walls; `flow` = velocity x y z and pressure; `drag` = the velocity that
//! viscosity sees x y z and padding; `rate` = force x y z and relative rate of change of the density.

use crate::motion::{Stepping, flags_of};
use crate::sides::{Sides, nearest_image};
use crate::views::load;
use cubecl::prelude::*;
use seixo_laws::fluid::{Medium, Parcel, Smoother, Smoothing, StateLaw, state};
use seixo_laws::motion::{drift, kick, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector};

/// Bit of a particle's kind that says that it belongs to a wall; the others are the wall's number.
pub const WALL: u32 = 1 << 31;

/// Numbers per fluid in a table: viscosity, artificial viscosity, diffusion, rest density, stiffness ρ₀ c², pressure at rest, mass of a particle,
/// law of state: 0 for Tait's, 1 for the linear one; pull and push of tension, and the share of both at walls.
pub const MEDIUM: usize = 11;

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

/// How fluids are put together and how they see walls: loops and kernels are compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowPlan {
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
    /// Whether a fluid has a viscosity beside an artificial one.
    pub laminar: bool,
    /// Whether the fluid, which then is the only one, has a surface tension.
    pub cohesive: bool,
}

/// What fluid is before a particle of a wall.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Before<R: Real> {
    /// Pressure with which the wall pushes back \[Pa\]; zero where there is no fluid.
    pub pressure: R,
    /// Mean velocity of the fluid \[m/s\].
    pub velocity: Vector3<R>,
    /// Σ W of the fluid particles that it sees \[1/m³\]; zero where there are none.
    pub share: R,
}

/// What the fluid before particle i of a wall is like, which has `acceleration` \[m/s²\]: p = Σ (p_j + ρ_j (g − a)·(x_i − x_j)) W / ΣW (Adami, Hu &
/// Adams 2012, J. Comput. Phys. 231:7057, eq. 27), never below zero, and the mean velocity (eq. 22).
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
            let apart = nearest_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, plan.sides);
            let apart = near_vector::<C, R>(&apart.apart);
            let weight = smoother.value(apart.length(), plan.smoothing);
            let mut density = media[3];
            if plan.mixed {
                density = media[kind[j] as usize * 11usize + 3usize];
            }
            pressure += weight * (flow[j * 4usize + 3usize] + density * pull.dot(&apart));
            velocity = velocity.plus(&load::<R>(flow, j * 4usize).times(weight));
            share += weight;
        }
    }
    let mut per_share = zero;
    if share > zero {
        per_share = R::new(1.0) / share;
    }
    Before::<R> {
        pressure: larger::<R>(pressure * per_share, zero),
        velocity: velocity.times(per_share),
        share,
    }
}

/// The velocity that makes viscosity see a wall that moves with `wall` \[m/s\]: fluid sticks to it (Adami, Hu & Adams 2012, eq. 23) or, where
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
    let mass = media[kind * 11usize + 6usize];
    let rate = force.times(R::new(1.0) / mass).plus(&stepping.gravity);
    let after = kick::<C, R>(half, &rate, stepping.dt);
    let place = drift::<C>(position, &after, C::wide(stepping.dt));
    let mean = swelling + R::new(0.5) * (swelling - swelling_before);
    let one = C::new(1.0);
    let excess = excess + (one + excess) * C::wide(stepping.dt * mean);
    let stride = near_vector::<C, R>(&after).times(stepping.dt);
    let far = near_vector::<C, R>(&place.minus(reference));
    let rest_volume = C::wide(mass / media[kind * 11usize + 3usize]);
    let velocity = velocity_ahead::<R>(&near_vector::<C, R>(&after), &rate, stepping.reads_ahead);
    let flags = flags_of::<C, R>(&place, stride.dot(&stride), far.dot(&far), stepping);
    Flown::<C, R> {
        half: after,
        position: place,
        velocity,
        excess,
        volume: rest_volume / (one + excess),
        pressure: pressure_at::<R>(C::near(excess), media, kind),
        flags,
    }
}

/// A particle as its neighbors see it, with a volume that is positive.
#[cube]
#[inline(always)]
pub fn parcel<R: Real>(volume: R, velocity: &Vector3<R>, drag_velocity: &Vector3<R>, pressure: R) -> Parcel<R> {
    let mut positive = volume;
    if volume < R::new(0.0) {
        positive = -volume;
    }
    Parcel::<R> {
        volume: positive,
        velocity: velocity.plus(&Vector3::<R>::zero()),
        drag_velocity: drag_velocity.plus(&Vector3::<R>::zero()),
        pressure,
    }
}
