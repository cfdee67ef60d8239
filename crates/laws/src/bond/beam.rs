//! Beam bond from center to center: Timoshenko's beam at small strains and arbitrary rotation of the whole.
//!
//! The energy is a function of three unit vectors and a rotation D \[Kuzkin 2012\]. Two vectors are the axis at rest turned with either grain, a_i
//! and a_j; the third is the line e between the centers. D is the rotation of j relative to i since the bond was made; the twist is taken from all of
//! D.
//!
//! U = ½ k (L − L₀)² + ½ P (|a_i − e|² + |a_j − e|²) − ½ B |a_i − a_j|² + 2 T |D|²,
//!
//! k = EA/L₀, T = GJ/L₀, P = 6EI/(L₀(1 + Φ)), B = EI(2 − Φ)/(L₀(1 + Φ)) + T, Φ = 12EI/(κGA L₀²). For small angles this is the energy of Timoshenko's
//! beam. Forces and torques are its derivatives. So energy, momentum and angular momentum are conserved to rounding error at any strain.
//!
//! ```
//! use seixo_laws::bond::{BondGeometry, BondParameters, beam};
//! let geometry = BondGeometry { length: 2.0, per_length: 0.5, arm: 1.0, size: 1.0, strength: 1.0 };
//! let slender = BondParameters {
//!     law: 0.0, axial: 9.0, bending: 3.0, torsion: 2.0, softness: 0.0, damping_ratio: 0.0, size_share: 0.0, size_length: 1.0, stiffness: 0.0,
//!     damping: 0.0,
//!     per_area: 1.0, per_bending_edge: 1.0, per_torsion_edge: 1.0, per_tensile_strength: 0.0, cohesion: 0.0, slope: 0.0,
//!     per_fracture_energy: 0.0,
//! };
//! let found = beam::stiffness::<f64>(&geometry, &slender);
//! // A slender beam with one end clamped and the other pinned resists a rotation of the pinned end with 4 EI/L.
//! assert!((found.swing - found.couple + found.twist - 4.0 * 3.0 / 2.0).abs() < 1e-12);
//! ```

use super::{BondDeformation, BondForces, BondGeometry, BondMotion, BondParameters};
use crate::real::{Real, larger};
use cubecl::prelude::*;

/// The stiffnesses k, P, B and T.
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
pub fn stiffness<R: Real>(span: &BondGeometry<R>, bond_parameters: &BondParameters<R>) -> Stiffness<R> {
    let square = span.size * span.size;
    let axial = bond_parameters.axial * square * span.per_length;
    let bending = bond_parameters.bending * square * square * span.per_length;
    let twist = bond_parameters.torsion * square * square * span.per_length;
    // Φ, and the bending stiffness over 1 + Φ.
    let softness = bond_parameters.softness * square * span.per_length * span.per_length;
    let left = bending * R::inverse(R::new(1.0) + softness);
    Stiffness::<R> {
        axial,
        swing: R::new(6.0) * left,
        couple: (R::new(2.0) - softness) * left + twist,
        twist,
    }
}

/// Forces and torques of the beam. Dashpots at its middle damp the relative motion: 2 ζ √(k m*) along and across, 2 ζ √(B I*) in rotation.
#[cube]
#[inline(always)]
pub fn beam_forces<R: Real>(
    shape: &BondDeformation<R>,
    moves: &BondMotion<R>,
    span: &BondGeometry<R>,
    bond_parameters: &BondParameters<R>,
) -> BondForces<R> {
    let stiffness = stiffness::<R>(span, bond_parameters);
    let half = R::new(0.5);
    let e = &shape.direction;
    let length = span.length * (R::new(1.0) + shape.stretch);
    let stretch = span.length * shape.stretch;
    let off_i = &shape.off;
    let off_j = off_i.plus(&shape.bow);

    let tension = stiffness.axial * stretch;
    let both = off_i.plus(&off_j);
    let across = both.minus(&e.times(both.dot(e))).times(stiffness.swing * shape.per_length);
    let swing_i = off_i.cross(e).times(stiffness.swing);
    let swing_j = off_j.cross(e).times(stiffness.swing);
    let twist = R::new(2.0) * stiffness.twist;
    let between = shape
        .twist
        .times(twist * shape.cosine)
        .minus(&shape.axis.cross(&shape.bow).times(stiffness.couple));
    let moment_i = swing_i.plus(&between);
    let moment_j = swing_j.minus(&between);
    let energy = half * stiffness.axial * stretch * stretch + half * stiffness.swing * (off_i.dot(off_i) + off_j.dot(&off_j))
        - half * stiffness.couple * shape.bow.dot(&shape.bow)
        + twist * shape.twist.dot(&shape.twist);

    let torsion = moment_i.dot(e);
    let bent_i = moment_i.minus(&e.times(torsion));
    let bent_j = moment_j.minus(&e.times(moment_j.dot(e)));

    let drag = R::new(2.0) * bond_parameters.damping_ratio * R::root(stiffness.axial * moves.effective_mass);
    let turning_drag =
        R::new(2.0) * bond_parameters.damping_ratio * R::root(larger::<R>(stiffness.couple, R::new(0.0)) * moves.effective_inertia);
    let middle = e.times(half * length);
    let sliding = moves.velocity.minus(&moves.spin_i.plus(&moves.spin_j).cross(&middle));
    let turning = moves.spin_j.minus(&moves.spin_i);
    let brake = sliding.times(-drag);
    let turning_brake = turning.times(-turning_drag);
    let lever = middle.cross(&brake).times(R::new(-1.0));

    BondForces::<R> {
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
