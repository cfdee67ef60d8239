//! A spring with dashpot between a material point of one grain and one of the other, which turn with them (S1 § 5.2). It holds the two points
//! together and lets the grains turn about them.

use super::{Ends, Glue, Hold, Rest};
use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// What the spring does: k = EA/L₀ in all directions, damping 2 ζ √(k m*). Both act in the middle between the two points, so that the torques of
/// its forces balance.
#[cube]
#[inline(always)]
pub fn hold<R: Real>(ends: &Ends<R>, rest: &Rest<R>, glue: &Glue<R>) -> Hold<R> {
    let stiffness = glue.youngs_modulus * glue.area * rest.size * rest.size / rest.length;
    let arm_i = ends.turn_i.turned(&rest.of_i);
    let arm_j = ends.turn_j.turned(&rest.of_j);
    let gap = ends.apart.plus(&arm_j).minus(&arm_i);
    let middle = gap.times(R::new(0.5));
    let from_i = arm_i.plus(&middle);
    let from_j = arm_j.minus(&middle);
    let drag = R::new(2.0) * glue.damping_ratio * R::root(stiffness * ends.effective_mass);
    let sliding = ends.velocity.plus(&ends.spin_j.cross(&from_j)).minus(&ends.spin_i.cross(&from_i));
    let spring = gap.times(-stiffness);
    let force = spring.minus(&sliding.times(drag));
    let e = ends.apart.times(R::new(1.0) / ends.apart.length());
    let tension = -spring.dot(&e);
    let zero = R::new(0.0);
    Hold::<R> {
        torque_i: from_i.cross(&force).times(R::new(-1.0)),
        torque_j: from_j.cross(&force),
        energy: R::new(0.5) * stiffness * gap.dot(&gap),
        damping_power: drag * sliding.dot(&sliding),
        tension,
        shear: spring.plus(&e.times(tension)).length(),
        bending: zero,
        torsion: zero,
        force,
    }
}

/// The point of either grain where the two touch, in space, from its center: at equal shares of the gap or overlap between their surfaces.
pub fn arms(apart: &Vector3<f64>, radius_i: f64, radius_j: f64) -> (Vector3<f64>, Vector3<f64>) {
    let length = apart.length();
    let share = (radius_i + 0.5 * (length - radius_i - radius_j)) / length;
    (apart.times(share), apart.times(share - 1.0))
}
