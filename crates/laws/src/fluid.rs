//! Smoothed particle hydrodynamics: what two particles of fluid, or one of fluid and one of a wall, do to each other.
//!
//! A particle stands for a volume V = m/ρ. Its density follows the continuity equation, its pressure an equation of [`state`]. With W′ the slope of
//! the smoothing function over the distance, ∇W = (W′/r) (x_i − x_j), and
//!
//! - swelling: (dρ/dt)_i / ρ_i = Σ_j V_j (v_i − v_j)·∇W (\[Monaghan 2005, eq. 2.18\], in the form of
//!   \[Colagrossi 2003\], which allows jumps of density);
//! - pressure: f_i = −Σ_j V_i V_j (p_i + p_j) ∇W \[Colagrossi 2003, eq. 11\]: opposite seen from j, and exactly the work that the swelling stores;
//! - viscosity, with the harmonic mean of two: see [`ViscousForce`];
//! - artificial viscosity: f_i = Σ_j V_i V_j α h c ρ₀ (v_i − v_j)·(x_i − x_j) / r² ∇W (\[Monaghan 1983\]; acting on approach and
//!   parting alike as in \[Antuono 2010, eq. 3\]), which is central and keeps the angular momentum;
//! - diffusion of density: (dρ/dt)_i += −Σ_j V_j 2δ (h/c) (W′/r) (p_j − p_i − ρ₀ g·(x_j − x_i)) (\[Antuono 2010\] with the hydrostatic part taken
//!   out as by \[Fourtakas 2019, eq. 10\]);
//! - tension: f_i = −(U′/r) (x_i − x_j), with the potential of [`tension`].
//!
//! What fluids and grains that are smaller than these particles do to each other is in [`suspension`], how particles are kept evenly apart in
//! [`shifting`].

pub mod cubic_spline;
pub mod dfsph;
pub mod muller;
pub mod poly6;
pub mod shifting;
pub mod smoothing;
pub mod spiky;
pub mod spring;
pub mod state;
pub mod suspension;
pub mod tension;
pub mod viscosity;
pub mod wendland;

pub use smoothing::{Smoother, Smoothing, Space};
pub use state::StateLaw;

use crate::real::{Real, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// How viscosity acts between two particles.
///
/// Central forces, f_i = −Σ_j V_i V_j μ k W ((v_i − v_j)·(x_i − x_j)) (x_i − x_j), are along the line between the two, as those of Monaghan & Gingold
/// \[Monaghan 1983\] are. So they keep angular momentum as well as momentum, and a motion as of a rigid body costs nothing. With
/// s = x_j − x_i and v_j = v_i + (s·∇)v + ½(s·∇)²v, what is left of the sum per volume is ½ μ k ∂_l∂_m v_c ∫ W s_a s_c s_l s_m dV. The mean of
/// n_a n_c n_l n_m over all directions is (δ_ac δ_lm + δ_al δ_cm + δ_am δ_cl)/(d(d + 2)), so k = 2d(d + 2)/∫ W r⁴ dV makes that
/// μ(∇²v + 2∇(∇·v)), the divergence of 2μD with a bulk viscosity of 5/3 μ in space and 2 μ in a plane. At a free surface the sum over the half that is
/// there acts as a surface without traction does, which that of Morris does not \[Colagrossi 2011\].
/// Monaghan & Gingold have −W′/r³ in place of W: over a square lattice that is 4 % too little along its rows and 4 % too much across
/// them, with four spacings in the support; W, which lets s_a s_c s_l s_m be smooth at zero, is within 0.3 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViscousForce {
    /// Along the line between the two.
    #[default]
    Central,
    /// f_i = Σ_j V_i V_j 2μ (W′/r) (v_i − v_j) \[Morris 1997, eq. 22\]: μ∇²v inside, with the traction μ ∂v/∂n at
    /// surfaces. It does not keep angular momentum: free drops stop spinning, and waves lose half of what they should.
    Morris,
}

impl ViscousForce {
    /// Every one, with its word.
    pub const ALL: [(ViscousForce, &'static str); 2] = [(ViscousForce::Central, "central"), (ViscousForce::Morris, "morris")];
}

/// A particle, as its neighbors see it.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Parcel<R: Real> {
    /// V = m/ρ \[m³\].
    pub volume: R,
    /// Velocity with which it goes on \[m/s\].
    pub velocity: Vector3<R>,
    /// Velocity of its surface \[m/s\]: that with which it goes on, but of a wall that stands while its surface runs.
    pub surface_velocity: Vector3<R>,
    /// The velocity that viscosity sees \[m/s\]: of a wall, that which makes the fluid stick to it or slip along it.
    pub drag_velocity: Vector3<R>,
    /// Pressure \[Pa\].
    pub pressure: R,
}

/// What a fluid, or a pair of fluids, means to the laws, derived once on the host.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Medium<R: Real> {
    /// Dynamic viscosity μ \[Pa s\].
    pub viscosity: R,
    /// α h c ρ₀ \[Pa s\]; zero at walls, where it would be a friction that nobody asked for.
    pub artificial_viscosity: R,
    /// 2δ h / (c ρ₀) \[m³ s/kg\]; zero between two fluids, and at walls.
    pub diffusion: R,
    /// Rest density ρ₀ \[kg/m³\].
    pub rest_density: R,
    /// How strongly tension lets particles pull each other \[N/m\], see [`tension::strengths`].
    pub pull: R,
    /// How strongly it lets them push each other away \[N/m\].
    pub push: R,
    /// Share of both with which the fluid and a wall act on each other.
    pub share_of_wall: R,
}

/// What passes between two particles.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Exchange<R: Real> {
    /// Force on i \[N\]; on j acts exactly the opposite.
    pub force: Vector3<R>,
    /// (v_i − v_j)·∇W \[1/(m³ s)\]: times the other's volume, the relative rate of change of either density.
    pub swelling: R,
    /// Relative rate of change of the density of i by diffusion, over the volume of j \[1/(m³ s)\]; that of j is the opposite.
    pub diffusion: R,
    /// Power that viscosity takes from the motion of the two \[W\].
    pub viscous_power: R,
    /// Power that diffusion takes from what pressure stores \[W\].
    pub diffusive_power: R,
    /// Power with which tension takes from the motion of the two and stores \[W\].
    pub tension_power: R,
}

/// How two particles are apart.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Apart<R: Real> {
    /// x_i − x_j \[m\].
    pub vector: Vector3<R>,
    /// The square of their distance \[m²\].
    pub square: R,
    /// One over their distance \[1/m\], of a square that [`Smoother::softening`] was added to.
    pub per_distance: R,
}

#[cube]
impl<R: Real> Apart<R> {
    /// All of it from the vector between them.
    #[inline(always)]
    pub fn by(vector: &Vector3<R>, smoother: &Smoother<R>) -> Apart<R> {
        let square = vector.dot(vector);
        Apart::<R> {
            vector: Vector3::<R> {
                x: vector.x,
                y: vector.y,
                z: vector.z,
            },
            square,
            per_distance: R::inverse_root(square + smoother.softening),
        }
    }
}

/// What passes between i and j. Beyond the support nothing does. Without a `viscous` force, the medium has no viscosity but an artificial one; only if
/// it is `cohesive` has it a tension.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "two particles, where they are, and what is between them")]
pub fn exchange<R: Real>(
    apart: &Apart<R>,
    i: &Parcel<R>,
    j: &Parcel<R>,
    medium: &Medium<R>,
    gravity: &Vector3<R>,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
    #[comptime] viscous: Option<ViscousForce>,
    #[comptime] cohesive: bool,
) -> Exchange<R> {
    let distance = apart.square * apart.per_distance;
    let slope = smoother.slope(distance, smoothing);
    let volumes = i.volume * j.volume;
    let common = volumes * slope;
    let parting = i.velocity.minus(&j.velocity).dot(&apart.vector);
    let brake = medium.artificial_viscosity * parting * apart.per_distance * apart.per_distance * common;
    let mut force = apart.vector.times(brake - (i.pressure + j.pressure) * common);
    let mut viscous_power = -(brake * parting);
    if comptime!(viscous == Some(ViscousForce::Central)) {
        let dragged = i.drag_velocity.minus(&j.drag_velocity).dot(&apart.vector);
        let weight = volumes * smoother.value(distance, smoothing);
        let shear = apart.vector.times(-(medium.viscosity * smoother.shear * weight * dragged));
        viscous_power -= shear.dot(&i.surface_velocity.minus(&j.surface_velocity));
        force = force.plus(&shear);
    }
    if comptime!(viscous == Some(ViscousForce::Morris)) {
        let dragged = i.drag_velocity.minus(&j.drag_velocity);
        let shear = dragged.times(R::new(2.0) * medium.viscosity * common);
        viscous_power -= shear.dot(&i.surface_velocity.minus(&j.surface_velocity));
        force = force.plus(&shear);
    }
    let mut tension_power = R::new(0.0);
    if cohesive {
        let q = smaller::<R>(distance * smoother.per_support, R::new(1.0));
        let attraction = tension::slope::<R>(q, medium.pull, medium.push);
        tension_power = attraction * parting;
        force = force.minus(&apart.vector.times(attraction));
    }
    let excess = j.pressure - i.pressure;
    let diffusion = -(medium.diffusion * slope * (excess + medium.rest_density * gravity.dot(&apart.vector)));
    Exchange::<R> {
        force,
        swelling: parting * slope,
        diffusion,
        viscous_power,
        diffusive_power: volumes * diffusion * excess,
        tension_power,
    }
}

/// What the tension between two particles stores \[J\], which are `apart`; zero from the support on.
#[cube]
#[inline(always)]
pub fn surface_energy<R: Real>(apart: &Vector3<R>, medium: &Medium<R>, smoother: &Smoother<R>) -> R {
    let q = smaller::<R>(apart.length() * smoother.per_support, R::new(1.0));
    tension::potential::<R>(q, medium.pull, medium.push) / (smoother.per_support * smoother.per_support)
}

/// The medium between two fluids: the harmonic mean of their viscosities, the mean of their artificial ones, no diffusion, no tension.
#[cube]
#[inline(always)]
pub fn between_media<R: Real>(a: &Medium<R>, b: &Medium<R>) -> Medium<R> {
    let sum = a.viscosity + b.viscosity;
    let mut viscosity = R::new(0.0);
    if sum > R::new(0.0) {
        viscosity = R::new(2.0) * a.viscosity * b.viscosity / sum;
    }
    Medium::<R> {
        viscosity,
        artificial_viscosity: R::new(0.5) * (a.artificial_viscosity + b.artificial_viscosity),
        diffusion: R::new(0.0),
        rest_density: R::new(0.5) * (a.rest_density + b.rest_density),
        pull: R::new(0.0),
        push: R::new(0.0),
        share_of_wall: R::new(0.0),
    }
}
