//! Wear of a wall by sliding contacts: Archard's law \[Archard 1953\].
//!
//! The worn volume is V = K ∫ F_n |v_t| dt / H. F_n is the normal force on the wall, |v_t| the sliding speed, H the hardness of the wall, and K a
//! coefficient from experiments. K includes factors such as Archard's 1/3 for hemispherical asperities. A step adds up only the work of sliding ∫ F_n
//! |v_t| dt. The factor K/H is applied at output.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::wear::sliding_power;
//! let at = |x: f64, z: f64| Vector3 { x, y: 0.0, z };
//! let power = |force: f64, velocity: Vector3<f64>| sliding_power::<f64>(&at(0.0, force), &velocity, &at(0.0, 1.0));
//! // Twice the speed of sliding does twice the work.
//! assert!((power(3.0, at(4.0, 0.0)) - 2.0 * power(3.0, at(2.0, 0.0))).abs() < 1e-12 && power(3.0, at(2.0, 0.0)) > 0.0);
//! // An impact along the normal wears nothing, and neither does a contact in tension.
//! assert!(power(3.0, at(0.0, -2.0)) == 0.0 && power(-3.0, at(2.0, 0.0)) == 0.0);
//! ```

use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// F_n |v_t| of a contact \[W\], from the force on the grain \[N\], the velocity of its surface relative to the wall \[m/s\] and the normal towards
/// the grain. A contact in tension causes no wear.
#[cube]
#[inline(always)]
pub fn sliding_power<R: Real>(force: &Vector3<R>, velocity: &Vector3<R>, normal: &Vector3<R>) -> R {
    let along = velocity.minus(&normal.times(velocity.dot(normal)));
    larger::<R>(force.dot(normal), R::new(0.0)) * along.length()
}

/// Worn volume per work of sliding \[1/Pa\], from the wear coefficient K \[-\] and the hardness H \[Pa\].
pub fn specific_wear_rate(wear_coefficient: f64, hardness: f64) -> f64 {
    wear_coefficient / hardness
}
