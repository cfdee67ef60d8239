//! Gear's predictor and corrector of five values for equations of second order \[PUC-Rio n.d., algorithms 3 and 5; Allen 1987, appendix E\].
//!
//! A Taylor series predicts a coordinate and its four derivatives. The force there gives the correct second derivative. All five values are corrected
//! by a share of its error.
//!
//! ```
//! use seixo_laws::motion::gear::{TaylorSeries, corrected, predicted};
//! // The motion x = t⁴.
//! let at = |t: f64| TaylorSeries { value: t.powi(4), first: 4.0 * t.powi(3), second: 12.0 * t * t, third: 24.0 * t, fourth: 24.0 };
//! let next = predicted::<f64>(&at(1.0), 2.0);
//! // A polynomial of fourth order is predicted without error, and so the force corrects nothing.
//! assert!((next.value - 81.0).abs() < 1e-12 && (next.first - 108.0).abs() < 1e-12);
//! assert_eq!(corrected::<f64>(&next, next.second, 19.0 / 90.0, 2.0), next);
//! ```

use crate::real::Real;
use cubecl::prelude::*;

/// A coordinate and its derivatives in time.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct TaylorSeries<R: Real> {
    /// The coordinate.
    pub value: R,
    /// Its first derivative.
    pub first: R,
    /// Its second derivative.
    pub second: R,
    /// Its third derivative.
    pub third: R,
    /// Its fourth derivative.
    pub fourth: R,
}

/// The series one step later, predicted.
#[cube]
#[inline(always)]
pub fn predicted<R: Real>(series: &TaylorSeries<R>, dt: R) -> TaylorSeries<R> {
    let c2 = R::new(0.5) * dt * dt;
    let c3 = c2 * dt / R::new(3.0);
    let c4 = c3 * dt * R::new(0.25);
    TaylorSeries::<R> {
        value: series.value + dt * series.first + c2 * series.second + c3 * series.third + c4 * series.fourth,
        first: series.first + dt * series.second + c2 * series.third + c3 * series.fourth,
        second: series.second + dt * series.third + c2 * series.fourth,
        third: series.third + dt * series.fourth,
        fourth: series.fourth,
    }
}

/// The corrected series, with the second derivative from the force: derivative k gains α_k k!/Δt^k ½Δt² of the error. `share` is α₀: 19/90 for forces
/// that depend on velocities, 19/120 for forces that depend on positions only. The other α_k are 3/4, 1, 1/2 and 1/12.
#[cube]
#[inline(always)]
pub fn corrected<R: Real>(series: &TaylorSeries<R>, second: R, share: R, dt: R) -> TaylorSeries<R> {
    let missed = second - series.second;
    let half = R::new(0.5) * missed;
    TaylorSeries::<R> {
        value: series.value + share * half * dt * dt,
        first: series.first + R::new(0.75) * half * dt,
        second,
        third: series.third + R::new(3.0) * half / dt,
        fourth: series.fourth + R::new(2.0) * half / (dt * dt),
    }
}
