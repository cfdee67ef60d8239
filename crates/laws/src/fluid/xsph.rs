//! XSPH: particles follow the velocities of their neighbors \[Monaghan 1989\].
//!
//! With ρ̄ = (ρ_i + ρ_j)/2, a particle moves with
//!
//! v̂_i = v_i + Σ_j ε (m_j/ρ̄) (v_j − v_i) W.
//!
//! Only fluid particles count. Weights of a pair are symmetric: between two fluids ε is the mean of both. So Σ m v̂ = Σ m v and Σ m v̂ × v = 0:
//! momentum and angular momentum stay. Particles at rest, and those that all have the same velocity, have v̂ = v exactly.
//!
//! [`muller`](super::muller) replaces velocities by v̂, with m_j/ρ_j in place of m_j/ρ̄.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::fluid::xsph::{draw, mean_volume};
//! let along = |x: f64| Vector3 { x, y: 0.0, z: 0.0 };
//! // Particles of 2 kg at 1000 kg/m³ and of 1 kg at 500 kg/m³, whose mean density is 750 kg/m³.
//! let (of_heavy, of_light) = (mean_volume::<f64>(2.0, 500.0, 1000.0), mean_volume::<f64>(1.0, 1000.0, 500.0));
//! assert!((of_light - 1.0 / 750.0).abs() < 1e-15);
//! // The slower one is drawn along, and the momentum that the changes would carry is opposite.
//! let (slow, fast) = (along(1.0), along(3.0));
//! let (heavy, light) = (draw::<f64>(100.0, of_light, &slow, &fast).x, draw::<f64>(100.0, of_heavy, &fast, &slow).x);
//! assert!(heavy > 0.0 && (2.0 * heavy + light).abs() < 1e-15);
//! ```

use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// m_j/ρ̄ \[m³\] of a neighbor with this mass \[kg\], from both densities \[kg/m³\].
#[cube]
#[inline(always)]
pub fn mean_volume<R: Real>(mass: R, own_density: R, density: R) -> R {
    R::new(2.0) * mass / (own_density + density)
}

/// V (v_j − v_i) W: contribution of a neighbor with this volume \[m³\] to v̂_i, before the factor ε \[m/s\].
#[cube]
#[inline(always)]
pub fn draw<R: Real>(weight: R, volume: R, own: &Vector3<R>, other: &Vector3<R>) -> Vector3<R> {
    other.minus(own).times(volume * weight)
}
