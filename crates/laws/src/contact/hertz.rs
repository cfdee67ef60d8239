//! Hertz law: F_n = 4/3 E* √R* δ^{3/2} + 2 ζ √(m* k_n) δ̇ with the tangent stiffness k_n = 2 E* √(R* δ) \[Thornton 2013\], limited to repulsion.
//!
//! ```
//! use seixo_laws::contact::{ContactPair, NormalLaw, PairOfMaterials, TangentialLaw, derive, hertz};
//! let pair = PairOfMaterials { effective_modulus: 1e7, ..PairOfMaterials::default() };
//! let coefficients = derive(NormalLaw::Hertz, TangentialLaw::None, &pair).coefficients;
//! let touch = |overlap: f64| ContactPair { overlap, contact_radius: (1e-3 * overlap).sqrt(), effective_mass: 1e-3 };
//! let force = |overlap: f64| hertz::normal::<f64>(&touch(overlap), &coefficients).elastic;
//! let energy = |overlap: f64| hertz::energy::<f64>(&touch(overlap), &coefficients);
//! // Four times the overlap gives eight times the force. The force is the slope of the energy.
//! assert!((force(4e-6) / force(1e-6) - 8.0).abs() < 1e-12);
//! assert!(((energy(1.001e-6) - energy(0.999e-6)) / (2e-9 * force(1e-6)) - 1.0).abs() < 1e-6);
//! ```

use super::{Coefficients, ContactPair, NormalSpring, PairOfMaterials};
use crate::real::Real;
use cubecl::prelude::*;

/// 4/3 E* \[Pa\] and 2 ζ √(2 E*) \[√Pa\].
pub fn normal_parameters(pair: &PairOfMaterials, damping_ratio: f64) -> (f64, f64) {
    (
        4.0 / 3.0 * pair.effective_modulus,
        2.0 * damping_ratio * (2.0 * pair.effective_modulus).sqrt(),
    )
}

/// Spring force \[N\], and the tangent stiffness over 2 E* \[m\].
#[cube]
#[inline(always)]
pub fn normal<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> NormalSpring<R> {
    NormalSpring::<R> {
        elastic: coefficients.normal_stiffness * touch.contact_radius * touch.overlap,
        tangent: touch.contact_radius,
    }
}

/// Energy stored in the normal spring \[J\]: 8/15 E* √R* δ^{5/2}.
#[cube]
#[inline(always)]
pub fn energy<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> R {
    coefficients.normal_stiffness * touch.contact_radius * touch.overlap * touch.overlap * (R::new(2.0) / R::new(5.0))
}
