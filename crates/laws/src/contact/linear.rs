//! Linear law: spring and dashpot, F_n = k_n δ − γ_n v_n \[ME964 2011\], limited to repulsion, and a tangential spring of constant stiffness.

use super::{Coefficients, ContactPair, NormalSpring, PairOfMaterials};
use crate::real::Real;
use cubecl::prelude::*;

/// Stiffness k_n \[N/m\] and damping parameter 2 ζ √k_n of the normal law.
pub fn normal_parameters(pair: &PairOfMaterials, damping_ratio: f64) -> (f64, f64) {
    (pair.stiffness, 2.0 * damping_ratio * pair.stiffness.sqrt())
}

/// Spring force \[N\], and the tangent stiffness over k_n \[-\].
#[cube]
#[inline(always)]
pub fn normal<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> NormalSpring<R> {
    NormalSpring::<R> {
        elastic: coefficients.normal_stiffness * touch.overlap,
        tangent: R::new(1.0),
    }
}

/// Energy stored in the normal spring \[J\]: ½ k_n δ².
#[cube]
#[inline(always)]
pub fn energy<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> R {
    R::new(0.5) * coefficients.normal_stiffness * touch.overlap * touch.overlap
}
