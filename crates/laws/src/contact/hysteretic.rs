//! Elastic–plastic contact: loading along k₁ δ, unloading and reloading along k₂ (δ − δ₀) with k₂ = k₁/e². So the restitution e is the same at every
//! speed \[Walton 1986\]. The contact history holds the largest overlap.
//!
//! ```
//! use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive, hysteretic};
//! let pair = PairOfMaterials { stiffness: 1e4, restitution: 0.6, ..PairOfMaterials::default() };
//! let laws = derive(NormalLaw::Hysteretic, TangentialLaw::None, &pair);
//! let force = |overlap: f64, largest: f64| hysteretic::elastic::<f64>(overlap, largest, &laws.coefficients, &laws.extended_coefficients);
//! // At the same overlap an unloading contact pushes less than a loading one, so a cycle takes energy.
//! assert!(force(0.9e-5, 1e-5) < force(0.9e-5, 0.0));
//! // A part of the overlap is permanent: the force is zero before the overlap is.
//! assert_eq!(force(0.6e-5, 1e-5), 0.0);
//! ```

use super::{Coefficients, ExtendedCoefficients, PairOfMaterials};
use crate::real::{Real, larger, smaller};
use cubecl::prelude::*;

/// Loading stiffness k₁ \[N/m\] and no dashpot.
pub fn normal_parameters(pair: &PairOfMaterials) -> (f64, f64) {
    (pair.stiffness, 0.0)
}

/// Unloading stiffness k₂ = k₁/e² \[N/m\].
pub fn unloading_stiffness(pair: &PairOfMaterials) -> f64 {
    pair.stiffness / (pair.restitution * pair.restitution)
}

/// Spring force \[N\] of a contact whose largest overlap so far is `largest` \[m\].
#[cube]
#[inline(always)]
pub fn elastic<R: Real>(overlap: R, largest: R, coefficients: &Coefficients<R>, extended_coefficients: &ExtendedCoefficients<R>) -> R {
    let loading = coefficients.normal_stiffness * overlap;
    let top = coefficients.normal_stiffness * larger::<R>(largest, overlap);
    let unloading = top - extended_coefficients.unloading_stiffness * (larger::<R>(largest, overlap) - overlap);
    larger::<R>(smaller::<R>(loading, unloading), R::new(0.0))
}

/// Recoverable energy of the spring, F²/(2 k₂) \[J\].
#[cube]
#[inline(always)]
pub fn energy<R: Real>(elastic: R, extended_coefficients: &ExtendedCoefficients<R>) -> R {
    elastic * elastic / (extended_coefficients.unloading_stiffness + extended_coefficients.unloading_stiffness)
}

/// Power dissipated by plastic flow while the overlap exceeds its largest value so far, k₁ (1 − k₁/k₂) δ δ̇ \[W\].
#[cube]
#[inline(always)]
pub fn plastic_power<R: Real>(
    overlap: R,
    approach: R,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> R {
    let stiffness = coefficients.normal_stiffness;
    let lost = R::new(1.0) - stiffness / extended_coefficients.unloading_stiffness;
    stiffness * lost * overlap * larger::<R>(approach, R::new(0.0))
}
