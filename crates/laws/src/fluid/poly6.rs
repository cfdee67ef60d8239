//! Müller's function for density (\[Silva 2010, eq. 2.18\], after \[Müller 2003\]): w = (1 − q²)³.
//!
//! ```
//! use seixo_laws::fluid::poly6::value;
//! let moment = |power: i32| {
//!     let shares = (0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0).map(|q: f64| q.powi(power) * value::<f64>(q));
//!     shares.sum::<f64>()
//! };
//! // In space the mean of r², weighted by this function, is 3/11 H².
//! assert!((moment(4) / moment(2) - 3.0 / 11.0).abs() < 1e-6);
//! ```

use crate::real::Real;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// σ H³ in space, σ H² in a plane.
pub(super) const NORM: [f64; 2] = [315.0 / (64.0 * PI), 4.0 / PI];

/// w(q), 0 ≤ q ≤ 1.
#[cube]
#[inline(always)]
pub fn value<R: Real>(q: R) -> R {
    value_of_square::<R>(q * q)
}

/// w from q², 0 ≤ q² ≤ 1; needs no square root.
#[cube]
#[inline(always)]
pub fn value_of_square<R: Real>(square: R) -> R {
    let left = R::new(1.0) - square;
    left * left * left
}

/// w′(q)/q = −6 (1 − q²)².
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R) -> R {
    let left = R::new(1.0) - q * q;
    R::new(-6.0) * left * left
}
