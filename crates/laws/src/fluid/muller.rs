//! The fluid solver of Müller, Charypar & Gross \[Müller 2003\] in the form of \[Silva 2010\]. Numbers of equations are those of \[Silva 2010\].
//!
//! - density: ρ_i = Σ_j m_j W, i itself included, with [`poly6`] (2.5 of ρ itself, 2.18);
//! - pressure: p = k (ρ − ρ₀) (2.4);
//! - force of pressure per volume: f_i = −Σ_j V_j (p_i + p_j)/2 ∇W, with [`spiky`] (2.11, 2.20), V = m/ρ;
//! - force of viscosity per volume: f_i = Σ_j (μ_i + μ_j)/2 V_j (v_j − v_i) ∇²W, with [`viscosity`] (2.12, 2.24);
//! - acceleration: a_i = f_i/ρ_i + g, so the force on a particle is F_i = V_i f_i, and what one of a pair gets the other gives, whatever their
//!   densities;
//! - XSPH: v_i ← v_i + ε Σ_j V_j (v_j − v_i) W, with [`poly6`]. Equation 2.25 has the sign wrong and leaves v_i itself out.
//!
//! Over an even lattice Σ_j V_j ∇W vanishes, and with it what p_i adds: 2.11 is half of −∇p. So fluid at rest has dp/dz = −2ρg, and sound in it goes
//! at √(k/2).

use super::{Smoothing, Space, poly6, spiky, viscosity};
use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// What scales Müller's three functions.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Functions<R: Real> {
    /// 1/H \[1/m\].
    pub per_support: R,
    /// σ of the function for densities \[1/m³\].
    pub of_density: R,
    /// σ/H² of that for pressures \[1/m⁵\].
    pub of_pressure: R,
    /// σ/H² of that for viscosities \[1/m⁵\].
    pub of_viscosity: R,
    /// (10⁻⁷ H)² \[m²\]: what keeps quotients by the distance bounded.
    pub softening: R,
}

impl Functions<f64> {
    /// The functions of this support H \[m\], in space.
    pub fn new(support: f64) -> Functions<f64> {
        let [of_density, of_pressure, of_viscosity] =
            [Smoothing::Poly6, Smoothing::Spiky, Smoothing::Viscosity].map(|function| function.smoother(support, Space::Volume));
        Functions {
            per_support: of_density.per_support,
            of_density: of_density.norm,
            of_pressure: of_pressure.slope_norm,
            of_viscosity: of_viscosity.slope_norm,
            softening: of_density.softening,
        }
    }
}

/// A particle, as its neighbors see it.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Particle<R: Real> {
    /// V = m/ρ \[m³\].
    pub volume: R,
    /// Pressure \[Pa\].
    pub pressure: R,
    /// Dynamic viscosity μ \[Pa s\].
    pub viscosity: R,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
}

/// What one particle does to another.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Push<R: Real> {
    /// Force of pressure on i \[N\].
    pub pressure: Vector3<R>,
    /// Force of viscosity on i \[N\].
    pub viscous: Vector3<R>,
}

/// W of the function for densities at a distance whose square is given \[1/m³\]; zero from the support on.
#[cube]
#[inline(always)]
pub fn weight<R: Real>(square: R, functions: &Functions<R>) -> R {
    let share = smaller::<R>(square * functions.per_support * functions.per_support, R::new(1.0));
    poly6::value_of_square::<R>(share) * functions.of_density
}

/// What j does to i, where `apart` = x_i − x_j and `square` is the square of that. Beyond the support it does nothing.
#[cube]
#[inline(always)]
pub fn push<R: Real>(apart: &Vector3<R>, square: R, i: &Particle<R>, j: &Particle<R>, functions: &Functions<R>) -> Push<R> {
    let distance = square * R::inverse_root(square + functions.softening);
    let q = smaller::<R>(distance * functions.per_support, R::new(1.0));
    let volumes = i.volume * j.volume;
    let half = R::new(0.5);
    let slope = spiky::slope::<R>(q) * functions.of_pressure;
    let laplacian = viscosity::laplacian::<R>(q) * functions.of_viscosity;
    let mean_pressure = half * (i.pressure + j.pressure);
    let mean_viscosity = half * (i.viscosity + j.viscosity);
    Push::<R> {
        pressure: apart.times(-(volumes * mean_pressure * slope)),
        viscous: j.velocity.minus(&i.velocity).times(volumes * mean_viscosity * laplacian),
    }
}

/// V_j (v_j − v_i) W \[m/s\]: by how much j draws the velocity of i to its own, before that is multiplied by ε (XSPH
/// \[Monaghan 1989\]).
#[cube]
#[inline(always)]
pub fn draw<R: Real>(square: R, volume: R, own: &Vector3<R>, other: &Vector3<R>, functions: &Functions<R>) -> Vector3<R> {
    other.minus(own).times(volume * weight::<R>(square, functions))
}

/// Kinetic energy \[J\] that a change of its velocity gives a particle: ½ m ((v + Δv)² − v²), without loss of digits.
#[cube]
#[inline(always)]
pub fn gain<R: Real>(mass: R, velocity: &Vector3<R>, change: &Vector3<R>) -> R {
    mass * change.dot(&velocity.plus(&change.times(R::new(0.5))))
}

/// The velocity after a wall with this velocity was met, whose unit normal points to the fluid: of what approaches it along the normal, the share
/// `restitution` comes back (\[Silva 2010, § 5.3.6\]: all of it). What parts from the wall goes on as it does.
#[cube]
#[inline(always)]
pub fn rebound<R: Real>(velocity: &Vector3<R>, wall: &Vector3<R>, normal: &Vector3<R>, restitution: R) -> Vector3<R> {
    let approach = larger::<R>(-(velocity.minus(wall).dot(normal)), R::new(0.0));
    velocity.plus(&normal.times((R::new(1.0) + restitution) * approach))
}

/// The longest time step \[s\] at which explicit Euler does not let sound grow.
///
/// For a wave with the number q, one step takes (ξ, v) to (ξ + v Δt, (1 − εq²H²/22)(v − (c²q² ξ + νq² v) Δt)): the second moment of [`poly6`] is 3/11 H², and
/// XSPH takes a sixth of it. The determinant of that is 1 + q²(c²Δt² − νΔt − εH²/22) in the order of q², so amplitudes do not grow as long as
/// c²Δt² ≤ νΔt + εH²/22, with c² = k/2. Short waves ask for less, as forces are smoothed twice.
pub fn longest_step(stiffness: f64, kinematic_viscosity: f64, xsph: f64, support: f64) -> f64 {
    let square = 0.5 * stiffness;
    let (viscous, smoothed) = (kinematic_viscosity, xsph * support * support / 22.0);
    (viscous + (viscous * viscous + 4.0 * square * smoothed).sqrt()) / (2.0 * square)
}
