//! Müller's function for pressure (\[Silva 2010, eqs. 2.19 and 2.20\], after \[Desbrun 1996\]): w = (1 − q)³. Its derivative does not vanish at
//! q = 0.
//!
//! ```
//! use seixo_laws::fluid::{poly6, spiky};
//! let q = 1e-4;
//! // At zero distance the slope is −3, so close particles repel each other. The function for density is flat there.
//! assert!((q * spiky::slope::<f64>(q) + 3.0).abs() < 1e-2);
//! assert!((q * poly6::slope::<f64>(q)).abs() < 1e-2);
//! ```

use crate::real::{Real, larger};
use cubecl::prelude::*;
use std::f64::consts::PI;

/// σ H³ in space, σ H² in a plane.
pub(super) const NORM: [f64; 2] = [15.0 / PI, 10.0 / PI];

/// w(q), 0 ≤ q ≤ 1.
#[cube]
#[inline(always)]
pub fn value<R: Real>(q: R) -> R {
    let left = R::new(1.0) - q;
    left * left * left
}

/// w′(q)/q = −3 (1 − q)²/q. Coincident particles have no direction between them and get the value of a small distance.
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R) -> R {
    let left = R::new(1.0) - q;
    R::new(-3.0) * left * left / larger::<R>(q, R::new(1.0e-6))
}
