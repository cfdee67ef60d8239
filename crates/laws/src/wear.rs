//! Wear of a wall by what slides along it: Archard's law \[Archard 1953\].
//!
//! The worn volume is V = K ∫ F_n |v_t| dt / H with the force F_n that presses a grain onto the wall, the speed |v_t| at which it slides, the
//! hardness H of the wall and a number K that experiments tell; factors such as Archard's 1/3 for hemispherical asperities are within K. What a
//! step has to add up is the work of sliding ∫ F_n |v_t| dt alone: K/H multiplies it when somebody looks.

use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// F_n |v_t| \[W\] of a contact, from the force on the grain \[N\], the velocity of its surface relative to the wall's \[m/s\] and the normal
/// towards the grain. A contact that pulls wears nothing.
#[cube]
#[inline(always)]
pub fn sliding_power<R: Real>(force: &Vector3<R>, velocity: &Vector3<R>, normal: &Vector3<R>) -> R {
    let along = velocity.minus(&normal.times(velocity.dot(normal)));
    larger::<R>(force.dot(normal), R::new(0.0)) * along.length()
}

/// Volume that wears per work of sliding \[1/Pa\], from the wear coefficient K \[-\] and the hardness H \[Pa\].
pub fn specific_wear_rate(wear_coefficient: f64, hardness: f64) -> f64 {
    wear_coefficient / hardness
}
