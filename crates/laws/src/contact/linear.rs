//! Linear law: spring and dashpot, F_n = k_n δ − γ_n m* v_n \[ME964 2011\], limited to repulsion, and a tangential spring of constant stiffness.
//!
//! With a restitution, the damping is a share of critical damping, so that γ_n = 2 ζ √(k_n/m*) decreases with the mass. With a given γ_n, heavier pairs
//! rebound less.
//!
//! ```
//! use seixo_laws::contact::{PairOfMaterials, linear};
//! let pair = PairOfMaterials { stiffness: 1e4, ..PairOfMaterials::default() };
//! let (stiffness, damping) = linear::normal_parameters(&pair, 1.0);
//! let mass: f64 = 0.02;
//! let dashpot = damping * mass.sqrt();
//! // The damping ratio 1 is critical: the equation m δ″ + γ δ′ + k δ = 0 has a double root.
//! assert!((dashpot * dashpot / (4.0 * mass * stiffness) - 1.0).abs() < 1e-12);
//! ```

use super::{Coefficients, ContactPair, NormalSpring, PairOfMaterials};
use crate::real::Real;
use cubecl::prelude::*;

/// Stiffness k_n \[N/m\] and damping parameter 2 ζ √k_n of the normal law.
pub fn normal_parameters(pair: &PairOfMaterials, damping_ratio: f64) -> (f64, f64) {
    (pair.stiffness, 2.0 * damping_ratio * pair.stiffness.sqrt())
}

/// Spring force \[N\], and the tangent stiffness over k_n \[-\]. A damping per mass acts at any overlap alike.
#[cube]
#[inline(always)]
pub fn normal<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> NormalSpring<R> {
    NormalSpring::<R> {
        elastic: coefficients.normal_stiffness * touch.overlap,
        tangent: R::new(1.0),
        factor: R::new(1.0),
    }
}

/// Energy stored in the normal spring \[J\]: ½ k_n δ².
#[cube]
#[inline(always)]
pub fn energy<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> R {
    R::new(0.5) * coefficients.normal_stiffness * touch.overlap * touch.overlap
}
