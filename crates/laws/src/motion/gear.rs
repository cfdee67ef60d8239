//! Gear's predictor and corrector of five values for equations of second order
//! \[PUC-Rio n.d., § 7.1; Allen 1987, appendix E\]: a coordinate and its four derivatives go on by their Taylor series, the force there gives
//! the value that the second one should have had, and all five are mended by a share of the difference.

use crate::real::Real;
use cubecl::prelude::*;

/// A coordinate and its derivatives in time.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Series<R: Real> {
    /// The coordinate.
    pub value: R,
    /// Its first derivative.
    pub first: R,
    /// Its second.
    pub second: R,
    /// Its third.
    pub third: R,
    /// Its fourth.
    pub fourth: R,
}

/// The series a step later.
#[cube]
#[inline(always)]
pub fn predicted<R: Real>(series: &Series<R>, dt: R) -> Series<R> {
    let c2 = R::new(0.5) * dt * dt;
    let c3 = c2 * dt / R::new(3.0);
    let c4 = c3 * dt * R::new(0.25);
    Series::<R> {
        value: series.value + dt * series.first + c2 * series.second + c3 * series.third + c4 * series.fourth,
        first: series.first + dt * series.second + c2 * series.third + c3 * series.fourth,
        second: series.second + dt * series.third + c2 * series.fourth,
        third: series.third + dt * series.fourth,
        fourth: series.fourth,
    }
}

/// The series whose second derivative is what the force says: derivative k gains α_k k!/Δt^k ½Δt² of what was missed. `share` is α₀: 19/90 where
/// forces depend on velocities, 19/120 where on places alone; the others are 3/4, 1, 1/2 and 1/12.
#[cube]
#[inline(always)]
pub fn corrected<R: Real>(series: &Series<R>, second: R, share: R, dt: R) -> Series<R> {
    let missed = second - series.second;
    let half = R::new(0.5) * missed;
    Series::<R> {
        value: series.value + share * half * dt * dt,
        first: series.first + R::new(0.75) * half * dt,
        second,
        third: series.third + R::new(3.0) * half / dt,
        fourth: series.fourth + R::new(2.0) * half / (dt * dt),
    }
}
