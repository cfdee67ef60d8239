//! The fluid solver of Müller, Charypar & Gross \[Müller 2003\] in the form of \[Silva 2010\]. Equation numbers are those of \[Silva 2010\].
//!
//! - Density: ρ_i = Σ_j m_j W, including i itself, with [`poly6`] (2.5 for ρ, 2.18).
//! - Pressure: p = k (ρ − ρ₀) (2.4).
//! - Pressure force per volume: f_i = −Σ_j V_j (p_i + p_j)/2 ∇W, with [`spiky`] (2.11, 2.20), V = m/ρ.
//! - Viscous force per volume: f_i = Σ_j (μ_i + μ_j)/2 V_j (v_j − v_i) ∇²W, with [`viscosity`] (2.12, 2.24).
//! - Acceleration: a_i = f_i/ρ_i + g. So the force on a particle is F_i = V_i f_i, and the forces of a pair are opposite at any densities.
//! - XSPH: v_i ← v_i + ε Σ_j V_j (v_j − v_i) W, with [`poly6`]. Equation 2.25 has the wrong sign and omits v_i itself.
//!
//! On a regular lattice Σ_j V_j ∇W vanishes, and so does the contribution of p_i: 2.11 is half of −∇p. So fluid at rest has dp/dz = −2ρg, and the
//! speed of sound is √(k/2).
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::fluid::muller::{Functions, Particle, pair_force};
//! let functions = Functions::new(0.3);
//! let along = |x: f64| Vector3 { x, y: 0.0, z: 0.0 };
//! let i = Particle { volume: 1e-3, pressure: 100.0, viscosity: 0.5, velocity: along(1.0) };
//! let j = Particle { volume: 2e-3, velocity: along(-1.0), ..i };
//! let on_i = pair_force::<f64>(&along(0.1), 0.01, &i, &j, &functions);
//! let on_j = pair_force::<f64>(&along(-0.1), 0.01, &j, &i, &functions);
//! // Also between unequal particles the forces are opposite. Pressure repels, and viscosity opposes the relative motion.
//! assert!(on_i.pressure.x == -on_j.pressure.x && on_i.pressure.x > 0.0 && on_i.viscous.x == -on_j.viscous.x && on_i.viscous.x < 0.0);
//! ```

use super::{Smoothing, Space, poly6, spiky, viscosity, xsph};
use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Scale factors of Müller's three smoothing functions.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Functions<R: Real> {
    /// 1/H \[1/m\].
    pub per_support: R,
    /// σ of the function for density \[1/m³\].
    pub of_density: R,
    /// σ/H² of the function for pressure \[1/m⁵\].
    pub of_pressure: R,
    /// σ/H² of the function for viscosity \[1/m⁵\].
    pub of_viscosity: R,
    /// (10⁻⁷ H)² \[m²\]: keeps quotients by the distance bounded.
    pub softening: R,
}

impl Functions<f64> {
    /// The functions for this support H \[m\], in space.
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

/// Properties of a particle that its neighbors read.
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

/// Forces of one particle on another.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct PairForce<R: Real> {
    /// Pressure force on i \[N\].
    pub pressure: Vector3<R>,
    /// Viscous force on i \[N\].
    pub viscous: Vector3<R>,
}

/// W of the function for density at the squared distance `square` \[1/m³\]; zero beyond the support.
#[cube]
#[inline(always)]
pub fn weight<R: Real>(square: R, functions: &Functions<R>) -> R {
    let share = smaller::<R>(square * functions.per_support * functions.per_support, R::new(1.0));
    poly6::value_of_square::<R>(share) * functions.of_density
}

/// Force of j on i, with `apart` = x_i − x_j and `square` its squared length; zero beyond the support.
#[cube]
#[inline(always)]
pub fn pair_force<R: Real>(apart: &Vector3<R>, square: R, i: &Particle<R>, j: &Particle<R>, functions: &Functions<R>) -> PairForce<R> {
    let distance = square * R::inverse_root(square + functions.softening);
    let q = smaller::<R>(distance * functions.per_support, R::new(1.0));
    let volumes = i.volume * j.volume;
    let half = R::new(0.5);
    let slope = spiky::slope::<R>(q) * functions.of_pressure;
    let laplacian = viscosity::laplacian::<R>(q) * functions.of_viscosity;
    let mean_pressure = half * (i.pressure + j.pressure);
    let mean_viscosity = half * (i.viscosity + j.viscosity);
    PairForce::<R> {
        pressure: apart.times(-(volumes * mean_pressure * slope)),
        viscous: j.velocity.minus(&i.velocity).times(volumes * mean_viscosity * laplacian),
    }
}

/// V_j (v_j − v_i) W \[m/s\]: contribution of j to the XSPH velocity of i, before the factor ε \[Monaghan 1989\].
#[cube]
#[inline(always)]
pub fn draw<R: Real>(square: R, volume: R, own: &Vector3<R>, other: &Vector3<R>, functions: &Functions<R>) -> Vector3<R> {
    xsph::draw::<R>(weight::<R>(square, functions), volume, own, other)
}

/// Change of kinetic energy of a particle by a change of its velocity, ½ m ((v + Δv)² − v²), without loss of digits \[J\].
#[cube]
#[inline(always)]
pub fn gain<R: Real>(mass: R, velocity: &Vector3<R>, change: &Vector3<R>) -> R {
    mass * change.dot(&velocity.plus(&change.times(R::new(0.5))))
}

/// Velocity after a collision with a wall of this velocity, whose unit normal points to the fluid. The share `restitution` of the approach velocity
/// along the normal is reflected (all of it where \[Müller 2003\] reflects). A separating velocity is unchanged.
#[cube]
#[inline(always)]
pub fn rebound<R: Real>(velocity: &Vector3<R>, wall: &Vector3<R>, normal: &Vector3<R>, restitution: R) -> Vector3<R> {
    let approach = larger::<R>(-(velocity.minus(wall).dot(normal)), R::new(0.0));
    velocity.plus(&normal.times((R::new(1.0) + restitution) * approach))
}

/// The longest time step at which explicit Euler does not amplify sound \[s\].
///
/// For a wave with the wave number q, one step takes (ξ, v) to (ξ + v Δt, (1 − εq²H²/22)(v − (c²q² ξ + νq² v) Δt)). The second moment of [`poly6`] is
/// 3/11 H², and XSPH takes a sixth of it. The determinant is 1 + q²(c²Δt² − νΔt − εH²/22) to the order of q². So amplitudes do not grow if
/// c²Δt² ≤ νΔt + εH²/22, with c² = k/2. Short waves allow longer steps, as forces are smoothed twice.
pub fn longest_step(stiffness: f64, kinematic_viscosity: f64, xsph: f64, support: f64) -> f64 {
    let square = 0.5 * stiffness;
    let (viscous, smoothed) = (kinematic_viscosity, xsph * support * support / 22.0);
    (viscous + (viscous * viscous + 4.0 * square * smoothed).sqrt()) / (2.0 * square)
}
