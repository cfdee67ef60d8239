//! Müller's function for viscosity \[Silva 2010, eq. 2.22\]: w = −q³/2 + q² + 1/(2q) − 1, whose Laplacian is positive everywhere.
//!
//! ```
//! use seixo_laws::fluid::viscosity::{laplacian, slope, value};
//! let (q, step) = (0.5, 1e-4);
//! let second = (value::<f64>(q + step) - 2.0 * value::<f64>(q) + value::<f64>(q - step)) / (step * step);
//! // In space the Laplacian is w″ + 2w′/q. It is positive up to the support, so viscosity never adds energy.
//! assert!((second + 2.0 * slope::<f64>(q) - laplacian::<f64>(q)).abs() < 1e-5);
//! assert!(laplacian::<f64>(0.999) > 0.0 && laplacian::<f64>(1.0) == 0.0);
//! ```

use crate::real::{Real, larger};
use cubecl::prelude::*;
use std::f64::consts::PI;

/// σ H³ in space; σ H² in a plane, for a function with the same w.
pub(super) const NORM: [f64; 2] = [15.0 / (2.0 * PI), 10.0 / (3.0 * PI)];

/// w(q), 0 < q ≤ 1.
#[cube]
#[inline(always)]
pub fn value<R: Real>(q: R) -> R {
    let q = larger::<R>(q, R::new(1.0e-6));
    q * q * (R::new(1.0) - R::new(0.5) * q) + R::new(0.5) / q - R::new(1.0)
}

/// w′(q)/q = −3/2 q + 2 − 1/(2q³).
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R) -> R {
    let q = larger::<R>(q, R::new(1.0e-6));
    R::new(2.0) - R::new(1.5) * q - R::new(0.5) / (q * q * q)
}

/// ∇²W H²/σ = 6 (1 − q): 45/(π H⁶) (H − r) in space.
#[cube]
#[inline(always)]
pub fn laplacian<R: Real>(q: R) -> R {
    R::new(6.0) * (R::new(1.0) - q)
}
