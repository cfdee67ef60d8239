//! Potential law: a continuous repulsive potential of the distance r of the centers, U = ε [(σ/r)¹² − 2 (σ/r)⁶ + 1] for r < σ. σ is the distance at
//! which the two surfaces just touch \[Weeks 1971\]. The force is continuous and conservative.
//!
//! ```
//! use seixo_laws::contact::potential::{elastic, energy};
//! let (reach, depth, step) = (2.0, 3.0, 1e-5);
//! let slope = (energy::<f64>(0.2 + step, reach, depth) - energy::<f64>(0.2 - step, reach, depth)) / (2.0 * step);
//! // The force is the slope of the energy, and both begin at zero.
//! assert!((slope / elastic::<f64>(0.2, reach, depth) - 1.0).abs() < 1e-7);
//! assert!(elastic::<f64>(0.0, reach, depth).abs() < 1e-12 && energy::<f64>(0.0, reach, depth).abs() < 1e-12);
//! ```

use super::PairOfMaterials;
use crate::real::Real;
use cubecl::prelude::*;

/// Depth ε \[J\] and no dashpot.
pub fn normal_parameters(pair: &PairOfMaterials) -> (f64, f64) {
    (pair.potential_energy, 0.0)
}

/// (σ/r)⁶ of two bodies with the contact distance `reach` \[m\] and the overlap `overlap` \[m\].
#[cube]
#[inline(always)]
fn sixth<R: Real>(overlap: R, reach: R) -> R {
    let ratio = reach * R::inverse(reach - overlap);
    let square = ratio * ratio;
    square * square * square
}

/// Force 12 ε/r [(σ/r)¹² − (σ/r)⁶] \[N\].
#[cube]
#[inline(always)]
pub fn elastic<R: Real>(overlap: R, reach: R, depth: R) -> R {
    let sixth = sixth::<R>(overlap, reach);
    R::new(12.0) * depth * R::inverse(reach - overlap) * sixth * (sixth - R::new(1.0))
}

/// Stored energy \[J\].
#[cube]
#[inline(always)]
pub fn energy<R: Real>(overlap: R, reach: R, depth: R) -> R {
    let above = sixth::<R>(overlap, reach) - R::new(1.0);
    depth * above * above
}

/// dF/dδ at zero overlap, 72 ε/σ² \[N/m\].
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(reach: R, depth: R) -> R {
    R::new(72.0) * depth * R::inverse(reach * reach)
}
