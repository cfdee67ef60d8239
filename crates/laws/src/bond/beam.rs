//! A beam from center to center: Timoshenko's for small strains, at any turn of the whole.
//!
//! Its energy is a function of four unit vectors – the axis as it lies in either grain, a_i and a_j, and the line e between the centers – and
//! of the turn D of j relative to i since the bond was made (V. A. Kuzkin & I. E. Asonov 2012, Phys. Rev. E 86:051301, with the twist taken from
//! the whole turn):
//!
//! U = ½ k (L − L₀)² + ½ P (|a_i − e|² + |a_j − e|²) − ½ B |a_i − a_j|² + 2 T |D|²,
//!
//! k = EA/L₀, T = GJ/L₀, P = 6EI/(L₀(1 + Φ)), B = EI(2 − Φ)/(L₀(1 + Φ)) + T, Φ = 12EI/(κGA L₀²). For small angles this is the energy of
//! Timoshenko's beam. Forces and torques are its slopes, so energy, momentum and angular momentum are kept to rounding, whatever the strain.

use super::{Ends, Glue, Hold, Rest};
use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// k, P, B and T.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Stiffness<R: Real> {
    /// k = EA/L₀ \[N/m\].
    pub axial: R,
    /// P \[N m\].
    pub swing: R,
    /// B \[N m\].
    pub couple: R,
    /// T = GJ/L₀ \[N m\].
    pub twist: R,
}

/// Stiffnesses of a beam of this length and size.
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(rest: &Rest<R>, glue: &Glue<R>) -> Stiffness<R> {
    let square = rest.size * rest.size;
    let per_length = R::new(1.0) / rest.length;
    let axial = glue.youngs_modulus * glue.area * square * per_length;
    let bending = glue.youngs_modulus * glue.bending * square * square * per_length;
    let twist = glue.shear_modulus * glue.torsion * square * square * per_length;
    let sheared = glue.shear_share * glue.shear_modulus * glue.area * square * rest.length;
    // Φ and what it leaves of the bending stiffness.
    let softness = R::new(12.0) * bending / sheared;
    let left = bending / (R::new(1.0) + softness);
    Stiffness::<R> {
        axial,
        swing: R::new(6.0) * left,
        couple: (R::new(2.0) - softness) * left + twist,
        twist,
    }
}

/// What the beam does. Dashpots at its middle take what the two move relative to each other: 2 ζ √(k m*) along and across, 2 ζ √(B I*) in turning.
#[cube]
#[inline(always)]
pub fn hold<R: Real>(ends: &Ends<R>, rest: &Rest<R>, glue: &Glue<R>) -> Hold<R> {
    let stiffness = stiffness::<R>(rest, glue);
    let length = ends.apart.length();
    let per_length = R::new(1.0) / length;
    let e = ends.apart.times(per_length);
    let a_i = ends.turn_i.turned(&rest.of_i);
    let a_j = ends.turn_j.turned(&rest.of_j);
    let turn = ends.turn_j.after(&rest.turn).after(&ends.turn_i.back());
    let axis = Vector3::<R> {
        x: turn.x,
        y: turn.y,
        z: turn.z,
    };

    let stretch = length - rest.length;
    let tension = stiffness.axial * stretch;
    let both = a_i.plus(&a_j);
    let across = both.minus(&e.times(both.dot(&e))).times(stiffness.swing * per_length);
    let swing_i = a_i.cross(&e).times(stiffness.swing);
    let swing_j = a_j.cross(&e).times(stiffness.swing);
    let twist = R::new(2.0) * stiffness.twist;
    let between = axis.times(twist * turn.w).minus(&a_i.cross(&a_j).times(stiffness.couple));
    let moment_i = swing_i.plus(&between);
    let moment_j = swing_j.minus(&between);

    let off_i = a_i.minus(&e);
    let off_j = a_j.minus(&e);
    let off = a_i.minus(&a_j);
    let half = R::new(0.5);
    let energy = half * stiffness.axial * stretch * stretch + half * stiffness.swing * (off_i.dot(&off_i) + off_j.dot(&off_j))
        - half * stiffness.couple * off.dot(&off)
        + twist * axis.dot(&axis);

    let torsion = moment_i.dot(&e);
    let bent_i = moment_i.minus(&e.times(torsion));
    let bent_j = moment_j.minus(&e.times(moment_j.dot(&e)));

    let drag = R::new(2.0) * glue.damping_ratio * R::root(stiffness.axial * ends.effective_mass);
    let turning_drag = R::new(2.0) * glue.damping_ratio * R::root(larger::<R>(stiffness.couple, R::new(0.0)) * ends.effective_inertia);
    let swept = ends.spin_i.plus(&ends.spin_j).times(half).cross(&ends.apart);
    let sliding = ends.velocity.minus(&swept);
    let turning = ends.spin_j.minus(&ends.spin_i);
    let brake = sliding.times(-drag);
    let turning_brake = turning.times(-turning_drag);
    let lever = ends.apart.times(half).cross(&brake).times(R::new(-1.0));

    Hold::<R> {
        force: across.minus(&e.times(tension)).plus(&brake),
        torque_i: moment_i.plus(&lever).minus(&turning_brake),
        torque_j: moment_j.plus(&lever).plus(&turning_brake),
        energy,
        damping_power: drag * sliding.dot(&sliding) + turning_drag * turning.dot(&turning),
        tension,
        shear: across.length(),
        bending: R::root(larger::<R>(bent_i.dot(&bent_i), bent_j.dot(&bent_j))),
        torsion: larger::<R>(torsion, -torsion),
    }
}
