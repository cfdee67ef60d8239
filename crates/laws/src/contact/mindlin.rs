//! Mindlin law: no-slip tangential stiffness k_t = 8 G* √(R* δ), incremental. The stored force is scaled down while the contact unloads, so that a
//! cycle never gains energy (\[Thornton 2013\]: `mindlin`).
//!
//! Some codes use one of two other methods for a contact radius that changes. `mindlin_force` leaves the stored force as it is (LAMMPS'
//! `mindlin/force`). `mindlin_displacement` stores the displacement, F = k_t ξ, so that the force follows the radius both ways (LAMMPS' `mindlin`,
//! LIGGGHTS' `tangential history`). Both can gain energy over a cycle.
//!
//! ```
//! use seixo_laws::contact::{PairOfMaterials, mindlin};
//! let (young, poisson): (f64, f64) = (1e7, 0.3);
//! let pair = PairOfMaterials {
//!     effective_modulus: young / (2.0 * (1.0 - poisson * poisson)),
//!     effective_shear_modulus: young / (4.0 * (1.0 + poisson) * (2.0 - poisson)),
//!     ..PairOfMaterials::default()
//! };
//! let ratio = mindlin::parameter(&pair) / (2.0 * pair.effective_modulus);
//! // For equal materials the tangential stiffness over the normal one is 2 (1 − ν)/(2 − ν), at any contact radius.
//! assert!((ratio - 2.0 * (1.0 - poisson) / (2.0 - poisson)).abs() < 1e-12);
//! ```

use super::{Coefficients, PairOfMaterials};
use crate::real::{Real, larger, smaller};
use cubecl::prelude::*;

/// 8 G* \[Pa\].
pub fn parameter(pair: &PairOfMaterials) -> f64 {
    8.0 * pair.effective_shear_modulus
}

/// Tangential stiffness \[N/m\].
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(contact_radius: R, coefficients: &Coefficients<R>) -> R {
    coefficients.tangential_stiffness * contact_radius
}

/// The contact radius `now` over that of `before` \[-\], which is finite from a radius of zero, too.
#[cube]
#[inline(always)]
fn ratio_of_radii<R: Real>(before: R, now: R) -> R {
    now * R::inverse(larger::<R>(before, R::new(1.0e-37)))
}

/// Share of the stored force that remains when the contact radius changes from `before` to `now` \[-\].
#[cube]
#[inline(always)]
pub fn stored_force_left<R: Real>(before: R, now: R) -> R {
    smaller::<R>(ratio_of_radii::<R>(before, now), R::new(1.0))
}

/// Factor on the stored force if the displacement is stored \[-\].
#[cube]
#[inline(always)]
pub fn displacement_kept<R: Real>(before: R, now: R) -> R {
    let mut left = ratio_of_radii::<R>(before, now);
    if before <= R::new(0.0) {
        left = R::new(0.0);
    }
    left
}
