//! Elastic–plastic contact: loading along k₁ δ, unloading and loading again along k₂ (δ − δ₀) with k₂ = k₁/e², so that the restitution e
//! is the same at every speed \[Walton 1986\]. The contact remembers its largest overlap.

use super::{Coefficients, PairOfMaterials, Supplement};
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
pub fn elastic<R: Real>(overlap: R, largest: R, coefficients: &Coefficients<R>, supplement: &Supplement<R>) -> R {
    let loading = coefficients.normal_stiffness * overlap;
    let top = coefficients.normal_stiffness * larger::<R>(largest, overlap);
    let unloading = top - supplement.unloading_stiffness * (larger::<R>(largest, overlap) - overlap);
    larger::<R>(smaller::<R>(loading, unloading), R::new(0.0))
}

/// Energy that the spring would give back \[J\]: F²/(2 k₂).
#[cube]
#[inline(always)]
pub fn energy<R: Real>(elastic: R, supplement: &Supplement<R>) -> R {
    elastic * elastic / (supplement.unloading_stiffness + supplement.unloading_stiffness)
}

/// Power that plastic flow takes \[W\] while the overlap grows beyond all before at this speed: k₁ (1 − k₁/k₂) δ δ̇.
#[cube]
#[inline(always)]
pub fn plastic_power<R: Real>(overlap: R, approach: R, coefficients: &Coefficients<R>, supplement: &Supplement<R>) -> R {
    let stiffness = coefficients.normal_stiffness;
    let lost = R::new(1.0) - stiffness / supplement.unloading_stiffness;
    stiffness * lost * overlap * larger::<R>(approach, R::new(0.0))
}
