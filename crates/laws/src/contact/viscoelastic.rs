//! Viscoelastic law of spheres: F_n = 4/3 E* √R* (δ^{3/2} + 3/2 A √δ δ̇) \[Kuwabara 1987; Brilliantov 1996\]. The dissipative time A is a material
//! constant. The restitution decreases with speed, 1 − e ∝ v^{1/5}.
//!
//! ```
//! use seixo_laws::contact::{ContactPair, NormalLaw, PairOfMaterials, TangentialLaw, derive, viscoelastic};
//! let pair = PairOfMaterials { effective_modulus: 1e7, dissipative_time: 1e-5, ..PairOfMaterials::default() };
//! let coefficients = derive(NormalLaw::Viscoelastic, TangentialLaw::None, &pair).coefficients;
//! let at = |overlap: f64| {
//!     let contact_radius = (1e-3 * overlap).sqrt();
//!     viscoelastic::normal::<f64>(&ContactPair { overlap, contact_radius, effective_mass: 1e-3 }, &coefficients)
//! };
//! let slope = (at(1.001e-5).elastic - at(0.999e-5).elastic) / 2e-8;
//! // The dashpot adds what the elastic force gains in the dissipative time.
//! assert!((at(1e-5).damping / (1e-5 * slope) - 1.0).abs() < 1e-6);
//! ```

use super::{Coefficients, ContactPair, NormalForce, PairOfMaterials, hertz};
use crate::real::Real;
use cubecl::prelude::*;

/// 4/3 E* \[Pa\] and 2 E* A \[Pa s\].
pub fn normal_parameters(pair: &PairOfMaterials) -> (f64, f64) {
    let (stiffness, _) = hertz::normal_parameters(pair, 0.0);
    (stiffness, 1.5 * stiffness * pair.dissipative_time)
}

/// Spring force \[N\] and dashpot \[N s/m\].
#[cube]
#[inline(always)]
pub fn normal<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> NormalForce<R> {
    NormalForce::<R> {
        elastic: coefficients.normal_stiffness * touch.contact_radius * touch.overlap,
        damping: coefficients.normal_damping * touch.contact_radius,
    }
}
