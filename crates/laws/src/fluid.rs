//! Smoothed particle hydrodynamics: interaction of two fluid particles, or of a fluid particle and a wall particle.
//!
//! A particle has the volume V = m/ρ. Its density follows the continuity equation, and its pressure follows from an equation of [`state`]. W′ is the
//! derivative of the smoothing function with respect to the distance, and ∇W = (W′/r) (x_i − x_j).
//!
//! - Density rate: (dρ/dt)_i / ρ_i = Σ_j V_j (v_i − v_j)·∇W (\[Monaghan 2005, eq. 2.18\], in the form of \[Colagrossi 2003\], which allows jumps of
//!   density).
//! - Pressure: f_i = −Σ_j V_i V_j (p_i + p_j) ∇W \[Colagrossi 2003, eq. 11\]. The force on j is opposite. Its work is exactly the energy that the
//!   density rate stores.
//! - Viscosity, with the harmonic mean of the two viscosities: see [`ViscousForce`].
//! - Artificial viscosity: f_i = Σ_j V_i V_j α h c ρ₀ (v_i − v_j)·(x_i − x_j) / r² ∇W \[Monaghan 1983\]. It acts on approach and on separation, as in
//!   \[Antuono 2010, eq. 3\]. It is central and conserves the angular momentum.
//! - Density diffusion: (dρ/dt)_i += −Σ_j V_j 2δ (h/c) (W′/r) (p_j − p_i − ρ₀ g·(x_j − x_i)) \[Antuono 2010\]. The hydrostatic part is subtracted as
//!   in \[Fourtakas 2019, eq. 10\].
//! - Surface tension: f_i = −(U′/r) (x_i − x_j), with the potential of [`tension`].
//!
//! The coupling of fluids and grains smaller than fluid particles is in [`suspension`]. Particles that do not move with the flow are in
//! [`shifting`] and [`xsph`].
//!
//! ```
//! use seixo_laws::{Vector3, fluid::{FluidParticle, Medium, Separation, Smoothing, Space, exchange}};
//! let (still, smoother) = (Vector3::<f64>::zero(), Smoothing::Wendland.smoother(0.3, Space::Volume));
//! let medium = Medium { viscosity: 0.0, artificial_viscosity: 0.0, diffusion: 0.0, rest_density: 1e3, pull: 0.0, push: 0.0, share_of_wall: 0.0 };
//! let particle = FluidParticle { volume: 1e-3, velocity: still, surface_velocity: still, viscous_velocity: still, pressure: 500.0 };
//! let force = |x: f64| {
//!     let apart = Separation::by(&Vector3 { x, y: 0.0, z: 0.0 }, &smoother);
//!     exchange::<f64>(&apart, &particle, &particle, &medium, &still, &smoother, Smoothing::Wendland, None, false).force.x
//! };
//! // Pressure drives two particles apart with opposite forces. Beyond the support there is no force.
//! assert!(force(0.1) > 0.0 && force(-0.1) == -force(0.1) && force(0.4) == 0.0);
//! ```

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
pub mod xsph;

pub use smoothing::{Smoother, Smoothing, Space};
pub use state::StateLaw;

use crate::real::{Real, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Viscous force between two particles.
///
/// Central forces act along the line between the two, as those of Monaghan & Gingold \[Monaghan 1983\]: f_i = −Σ_j V_i V_j μ k W
/// ((v_i − v_j)·(x_i − x_j)) (x_i − x_j). So they conserve momentum and angular momentum, and a rigid-body motion dissipates nothing.
///
/// With s = x_j − x_i and v_j = v_i + (s·∇)v + ½(s·∇)²v, the sum per volume becomes ½ μ k ∂_l∂_m v_c ∫ W s_a s_c s_l s_m dV. The mean of n_a n_c n_l
/// n_m over all directions is (δ_ac δ_lm + δ_al δ_cm + δ_am δ_cl)/(d(d + 2)). So with k = 2d(d + 2)/∫ W r⁴ dV the sum is μ(∇²v + 2∇(∇·v)). This is
/// the divergence of 2μD with a bulk viscosity of 5/3 μ in space and 2 μ in a plane. At a free surface the sum over the existing half acts as a
/// surface without traction. The sum of Morris does not \[Colagrossi 2011\].
///
/// Monaghan & Gingold have −W′/r³ in place of W. With four spacings in the support, a square lattice then has 4 % too little viscosity along its rows
/// and 4 % too much across them. With W, s_a s_c s_l s_m is smooth at zero, and the error is within 0.3 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViscousForce {
    /// Along the line between the two particles.
    #[default]
    Central,
    /// f_i = Σ_j V_i V_j 2μ (W′/r) (v_i − v_j) \[Morris 1997, eq. 22\]: μ∇²v inside, with the traction μ ∂v/∂n at surfaces. It does not conserve
    /// angular momentum: free drops stop rotating, and waves lose half of what they should.
    Morris,
}

impl ViscousForce {
    /// All forces with their keywords.
    pub const ALL: [(ViscousForce, &'static str); 2] = [(ViscousForce::Central, "central"), (ViscousForce::Morris, "morris")];
}

/// Properties of a particle that its neighbors read.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct FluidParticle<R: Real> {
    /// V = m/ρ \[m³\].
    pub volume: R,
    /// Velocity of the particle \[m/s\].
    pub velocity: Vector3<R>,
    /// Velocity of its surface \[m/s\]. It differs from `velocity` for a wall at rest with a moving surface.
    pub surface_velocity: Vector3<R>,
    /// Velocity that viscosity uses \[m/s\]. For a wall it makes the fluid stick to the wall or slip along it.
    pub viscous_velocity: Vector3<R>,
    /// Pressure \[Pa\].
    pub pressure: R,
}

/// Coefficients of a fluid, or of a pair of fluids, derived once on the host.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Medium<R: Real> {
    /// Dynamic viscosity μ \[Pa s\].
    pub viscosity: R,
    /// α h c ρ₀ \[Pa s\]; zero at walls, where it would add an unphysical friction.
    pub artificial_viscosity: R,
    /// 2δ h / (c ρ₀) \[m³ s/kg\]; zero between two fluids, and at walls.
    pub diffusion: R,
    /// Rest density ρ₀ \[kg/m³\].
    pub rest_density: R,
    /// Strength of the attraction by surface tension \[N/m\], see [`tension::strengths`].
    pub pull: R,
    /// Strength of the repulsion by surface tension \[N/m\].
    pub push: R,
    /// Share of both strengths with which the fluid and a wall act on each other \[-\].
    pub share_of_wall: R,
}

/// Force, rates and powers of a pair of particles.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct PairRates<R: Real> {
    /// Force on i \[N\]; the force on j is exactly opposite.
    pub force: Vector3<R>,
    /// (v_i − v_j)·∇W \[1/(m³ s)\]. Times the volume of the other particle, it is the relative density rate of either.
    pub density_rate: R,
    /// Relative rate of change of the density of i by diffusion, over the volume of j \[1/(m³ s)\]; that of j is opposite.
    pub diffusion: R,
    /// Power that viscosity takes from the motion of the two \[W\].
    pub viscous_power: R,
    /// Power that diffusion takes from the energy stored by pressure \[W\].
    pub diffusive_power: R,
    /// Power that surface tension takes from the motion of the two and stores \[W\].
    pub tension_power: R,
}

/// Relative position of two particles.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Separation<R: Real> {
    /// x_i − x_j \[m\].
    pub vector: Vector3<R>,
    /// Squared distance \[m²\].
    pub square: R,
    /// One over the distance \[1/m\], with [`Smoother::softening`] added to its square.
    pub per_distance: R,
}

#[cube]
impl<R: Real> Separation<R> {
    /// The separation of two particles with this vector between them.
    #[inline(always)]
    pub fn by(vector: &Vector3<R>, smoother: &Smoother<R>) -> Separation<R> {
        let square = vector.dot(vector);
        Separation::<R> {
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

/// Interaction of i and j, zero beyond the support. Without a `viscous` force the medium has artificial viscosity only. Surface tension acts only if
/// the medium is `cohesive`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "two particles, where they are, and what is between them")]
pub fn exchange<R: Real>(
    apart: &Separation<R>,
    i: &FluidParticle<R>,
    j: &FluidParticle<R>,
    medium: &Medium<R>,
    gravity: &Vector3<R>,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
    #[comptime] viscous: Option<ViscousForce>,
    #[comptime] cohesive: bool,
) -> PairRates<R> {
    let distance = apart.square * apart.per_distance;
    let slope = smoother.slope(distance, smoothing);
    let volumes = i.volume * j.volume;
    let common = volumes * slope;
    let parting = i.velocity.minus(&j.velocity).dot(&apart.vector);
    let brake = medium.artificial_viscosity * parting * apart.per_distance * apart.per_distance * common;
    let mut force = apart.vector.times(brake - (i.pressure + j.pressure) * common);
    let mut viscous_power = -(brake * parting);
    if comptime!(viscous == Some(ViscousForce::Central)) {
        let dragged = i.viscous_velocity.minus(&j.viscous_velocity).dot(&apart.vector);
        let weight = volumes * smoother.value(distance, smoothing);
        let shear = apart.vector.times(-(medium.viscosity * smoother.shear * weight * dragged));
        viscous_power -= shear.dot(&i.surface_velocity.minus(&j.surface_velocity));
        force = force.plus(&shear);
    }
    if comptime!(viscous == Some(ViscousForce::Morris)) {
        let dragged = i.viscous_velocity.minus(&j.viscous_velocity);
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
    PairRates::<R> {
        force,
        density_rate: parting * slope,
        diffusion,
        viscous_power,
        diffusive_power: volumes * diffusion * excess,
        tension_power,
    }
}

/// Energy that surface tension stores between two particles with the vector `apart` between them \[J\]; zero beyond the support.
#[cube]
#[inline(always)]
pub fn surface_energy<R: Real>(apart: &Vector3<R>, medium: &Medium<R>, smoother: &Smoother<R>) -> R {
    let q = smaller::<R>(apart.length() * smoother.per_support, R::new(1.0));
    tension::potential::<R>(q, medium.pull, medium.push) / (smoother.per_support * smoother.per_support)
}

/// The medium between two fluids: harmonic mean of the viscosities, mean of the artificial ones, no diffusion, no surface tension.
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
