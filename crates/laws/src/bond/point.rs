//! Point bond: a spring and a dashpot between a material point of each grain, which rotates with its grain \[PUC-Rio n.d., § 8.2.3\]. It holds the
//! two points together and lets the grains rotate about them.
//!
//! ```
//! use seixo_laws::bond::point::arm;
//! let (length, radius_i, radius_j) = (3.5, 1.0, 2.0);
//! let [from_i, from_j] = [arm::<f64>(length, radius_i, radius_j), arm::<f64>(length, radius_j, radius_i)];
//! // Both grains agree on one contact point. It is as far from one surface as from the other.
//! assert!((from_i + from_j - length).abs() < 1e-12);
//! assert!(((from_i - radius_i) - (from_j - radius_j)).abs() < 1e-12);
//! ```

use super::{BondDeformation, BondForces, BondGeometry, BondMotion, BondParameters};
use crate::real::Real;
use cubecl::prelude::*;

/// Stiffness k \[N/m\] in all directions: EA/L₀, or that which was given. Then E c_A is zero.
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(size: R, per_length: R, bond_parameters: &BondParameters<R>) -> R {
    bond_parameters.axial * size * size * per_length + bond_parameters.stiffness
}

/// Coefficient of the dashpot \[N s/m\]: 2 ζ √(k m*), or that which was given. Then ζ is zero.
#[cube]
#[inline(always)]
pub fn drag<R: Real>(stiffness: R, effective_mass: R, bond_parameters: &BondParameters<R>) -> R {
    R::new(2.0) * bond_parameters.damping_ratio * R::root(stiffness * effective_mass) + bond_parameters.damping
}

/// Forces and torques of the spring and the dashpot. Both act in the middle between the two points, so that
/// the torques of the forces balance.
#[cube]
#[inline(always)]
pub fn spring_forces<R: Real>(
    shape: &BondDeformation<R>,
    moves: &BondMotion<R>,
    span: &BondGeometry<R>,
    bond_parameters: &BondParameters<R>,
) -> BondForces<R> {
    let stiffness = stiffness::<R>(span.size, span.per_length, bond_parameters);
    let left = span.arm - span.length;
    let arm_i = shape.axis.times(span.arm);
    let arm_j = shape.axis.plus(&shape.bow).times(left);
    let gap = shape.gap.plus(&shape.bow.times(left));
    let middle = gap.times(R::new(0.5));
    let from_i = arm_i.plus(&middle);
    let from_j = arm_j.minus(&middle);
    let drag = drag::<R>(stiffness, moves.effective_mass, bond_parameters);
    let sliding = moves
        .velocity
        .plus(&moves.spin_j.cross(&from_j))
        .minus(&moves.spin_i.cross(&from_i));
    let spring = gap.times(-stiffness);
    let force = spring.minus(&sliding.times(drag));
    let e = &shape.direction;
    let tension = -spring.dot(e);
    let zero = R::new(0.0);
    BondForces::<R> {
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

/// Distance of the contact point from the center of the first grain \[m\]. It divides the gap or overlap of the two surfaces equally.
#[cube]
#[inline(always)]
pub fn arm<R: Real>(length: R, radius_i: R, radius_j: R) -> R {
    radius_i + R::new(0.5) * (length - radius_i - radius_j)
}
