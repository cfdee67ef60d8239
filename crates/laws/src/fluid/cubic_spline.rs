//! The cubic spline \[Monaghan 1985\]: with s = r/h = 2q, w = 1 − 3/2 s² + 3/4 s³ for s < 1, ¼ (2 − s)³ above.
//!
//! ```
//! use seixo_laws::fluid::cubic_spline::value;
//! // The sum over points that are H/2 apart on a line.
//! let sum = |place: f64| {
//!     let shares = (-3..=3).map(|k| value::<f64>((0.5 * (place - f64::from(k)).abs()).min(1.0)));
//!     shares.sum::<f64>()
//! };
//! // Such splines are a partition of unity: the sum is the same at every place.
//! assert!((sum(0.0) - 1.5).abs() < 1e-12 && (sum(0.3) - 1.5).abs() < 1e-12);
//! ```

use crate::real::Real;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// σ H³ in space, σ H² in a plane.
pub(super) const NORM: [f64; 2] = [8.0 / PI, 40.0 / (7.0 * PI)];

/// w(q), 0 ≤ q ≤ 1.
#[cube]
#[inline(always)]
pub fn value<R: Real>(q: R) -> R {
    let s = q + q;
    let left = R::new(2.0) - s;
    let mut w = R::new(0.25) * left * left * left;
    if s < R::new(1.0) {
        w = R::new(1.0) - s * s * (R::new(1.5) - R::new(0.75) * s);
    }
    w
}

/// w′(q)/q.
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R) -> R {
    let s = q + q;
    let left = R::new(2.0) - s;
    let mut slope = R::new(-12.0) + R::new(9.0) * s;
    if s >= R::new(1.0) {
        slope = R::new(-3.0) * left * left / s;
    }
    slope
}
