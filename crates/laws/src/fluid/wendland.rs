//! Wendland's C2 function \[Wendland 1995; Dehnen 2012, table 1\]: w = (1 − q)⁴ (1 + 4q).
//!
//! ```
//! use seixo_laws::fluid::wendland::{slope, value};
//! // The function and its slope end at the support without a jump.
//! assert!(value::<f64>(1.0) == 0.0 && slope::<f64>(1.0) == 0.0);
//! // Close to the support, half of the distance to it leaves a sixteenth of the value.
//! assert!((value::<f64>(1.0 - 1e-4) / value::<f64>(1.0 - 0.5e-4) - 16.0).abs() < 1e-2);
//! ```

use crate::real::Real;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// σ H³ in space, σ H² in a plane.
pub(super) const NORM: [f64; 2] = [21.0 / (2.0 * PI), 7.0 / PI];

/// w(q), 0 ≤ q ≤ 1.
#[cube]
#[inline(always)]
pub fn value<R: Real>(q: R) -> R {
    let left = R::new(1.0) - q;
    let square = left * left;
    square * square * (R::new(1.0) + R::new(4.0) * q)
}

/// w′(q)/q = −20 (1 − q)³.
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R) -> R {
    let left = R::new(1.0) - q;
    R::new(-20.0) * left * left * left
}
