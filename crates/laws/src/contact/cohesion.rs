//! Attraction at contacts, added to the normal law.
//!
//! | law | attraction | range |
//! |---|---|---|
//! | `sjkr` | c · 2π R* δ, c a cohesion energy density: the lens of the overlap to first order (compared in \[Hærvig 2017\]) | in contact |
//! | `dmt` | 4π γ R* \[Derjaguin 1975\] | in contact |
//! | `jkr` | replaces Hertz: δ = a²/R* − √(4πγ a/E*), F = 4 E* a³/(3 R*) − √(16πγ E* a³), γ the surface energy of each body \[Johnson 1971\] | from first contact to rupture of the neck |
//! | `capillary` | 4π R* σ cos θ (1 − S/√(S² + V/(π R*))), S the gap \[Rabinovich 2005, eqs. 19–20\] | from first contact to S = (1 + θ/2) V^{1/3} \[Lian 1993\] |
//!
//! ```
//! use seixo_laws::contact::cohesion::cohesive_force;
//! use seixo_laws::contact::{Cohesion, NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! let adhesive = Some(Cohesion::Jkr { surface_energy: 0.05 });
//! for effective_modulus in [1e7, 1e9] {
//!     let pair = PairOfMaterials { effective_modulus, adhesive, ..PairOfMaterials::default() };
//!     let laws = derive(NormalLaw::Hertz, TangentialLaw::None, &pair);
//!     let touching = cohesive_force::<f64>(0.0, 0.0, 0.0, 1e-3, &laws.coefficients, &laws.extended_coefficients);
//!     // Without overlap, bodies of any stiffness attract each other with 8/9 of the pull-off force 3π γ R*.
//!     assert!((touching.pull / (3.0 * std::f64::consts::PI * 0.05 * 1e-3) - 8.0 / 9.0).abs() < 1e-9);
//! }
//! ```

use super::{Coefficients, CohesionLaw, ExtendedCoefficients};
use crate::real::{Real, cube_root, larger, smaller};
use cubecl::prelude::*;

/// Attraction of two bodies, from their relative position.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct CohesiveForce<R: Real> {
    /// Attraction, to be subtracted from the normal force \[N\].
    pub pull: R,
    /// Contact radius \[m\].
    pub contact_radius: R,
    /// Load on the surfaces beyond the normal force, for friction, rolling and twisting \[N\].
    pub load: R,
    /// Energy stored beyond that of the normal law, relative to separate bodies \[J\].
    pub energy: R,
}

/// Radius and energies of a JKR neck (Johnson, Kendall and Roberts), in units of their values at rupture.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct JkrNeck<R: Real> {
    /// Its radius at rupture, a_c = (π γ R*²/(4 E*))^{1/3} \[m\].
    pub radius: R,
    /// √(a/a_c), at least 1 \[-\].
    pub width: R,
    /// a_c²/R* \[m\].
    pub length: R,
    /// 4/3 E* a_c³/R* \[N\].
    pub force: R,
}

/// The neck between two bodies; a negative `overlap` \[m\] is a gap.
///
/// With v = √(a/a_c) the law is δ = (a_c²/R*) (v⁴ − 4v), F = (4 E* a_c³/(3R*)) (v⁶ − 6v³). The stable branch is v ≥ 1. With h = v − 1, Newton's
/// iteration solves h⁴ + 4h³ + 6h² = δ R*/a_c² + 3 from an upper bound of the root downward.
#[cube]
#[inline(always)]
pub fn neck<R: Real>(
    overlap: R,
    effective_radius: R,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> JkrNeck<R> {
    let cube = extended_coefficients.adhesion * effective_radius * effective_radius;
    let radius = cube_root::<R>(cube);
    let length = radius * radius / effective_radius;
    let above = larger::<R>(overlap / length + R::new(3.0), R::new(0.0));
    let root = R::root(above);
    let mut h = smaller::<R>(root / R::root(R::new(6.0)), R::root(root));
    for _k in 0..6u32 {
        let rest = h * h * (h * h + R::new(4.0) * h + R::new(6.0)) - above;
        let slope = R::new(4.0) * h * (h * h + R::new(3.0) * h + R::new(3.0));
        h -= rest / larger::<R>(slope, R::new(1.0e-30));
    }
    JkrNeck::<R> {
        radius,
        width: R::new(1.0) + h,
        length,
        force: coefficients.normal_stiffness * cube / effective_radius,
    }
}

/// Energy of a neck of this width, relative to separate bodies: ∫ F dδ \[J\].
#[cube]
#[inline(always)]
pub fn energy_of_neck<R: Real>(neck: &JkrNeck<R>, width: R) -> R {
    let cube = width * width * width;
    neck.force * neck.length * width * cube * (R::new(2.0) / R::new(5.0) * cube * cube - R::new(4.0) * cube + R::new(6.0))
}

/// Gap at which a neck ruptures, 3 a_c²/R* \[m\].
#[cube]
#[inline(always)]
pub fn longest_neck<R: Real>(effective_radius: R, extended_coefficients: &ExtendedCoefficients<R>) -> R {
    let radius = cube_root::<R>(extended_coefficients.adhesion * effective_radius * effective_radius);
    R::new(3.0) * radius * radius / effective_radius
}

/// Largest gap up to which bodies attract each other after a contact \[m\].
#[cube]
#[inline(always)]
pub fn longest_gap<R: Real>(effective_radius: R, extended_coefficients: &ExtendedCoefficients<R>) -> R {
    let mut gap = R::new(0.0);
    if extended_coefficients.cohesion_law == R::new(CohesionLaw::JKR) {
        gap = longest_neck::<R>(effective_radius, extended_coefficients);
    }
    if extended_coefficients.cohesion_law == R::new(CohesionLaw::CAPILLARY) {
        gap = extended_coefficients.bridge_length;
    }
    gap
}

/// Energy of a capillary bridge across a gap, relative to a ruptured one: F₀ [(S − √(S² + c)) − (S_r − √(S_r² + c))] \[J\].
#[cube]
#[inline(always)]
fn energy_of_bridge<R: Real>(gap: R, span: R, strength: R, longest: R) -> R {
    let here = gap - R::root(gap * gap + span);
    let torn = longest - R::root(longest * longest + span);
    strength * (here - torn)
}

/// Attraction of bodies that touch or are still connected. `contact_radius` \[m\] and `elastic` \[N\] are those of the normal law.
#[cube]
#[inline(always)]
pub fn cohesive_force<R: Real>(
    overlap: R,
    contact_radius: R,
    elastic: R,
    effective_radius: R,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> CohesiveForce<R> {
    let zero = R::new(0.0);
    let half = R::new(0.5);
    let law = extended_coefficients.cohesion_law;
    let depth = larger::<R>(overlap, zero);
    let strength = extended_coefficients.adhesion * effective_radius;
    let mut all = CohesiveForce::<R> {
        pull: zero,
        contact_radius,
        load: zero,
        energy: zero,
    };
    if law == R::new(1.0) {
        all.pull = strength * depth;
        all.energy = -half * strength * depth * depth;
    }
    if law == R::new(2.0) {
        if overlap > zero {
            all.pull = strength;
        }
        all.energy = -strength * depth;
    }
    if law == R::new(3.0) {
        let neck = neck::<R>(overlap, effective_radius, coefficients, extended_coefficients);
        let cube = neck.width * neck.width * neck.width;
        all.pull = elastic - neck.force * cube * (cube - R::new(6.0));
        all.contact_radius = neck.radius * neck.width * neck.width;
        // Twice the pull-off force of 9 F_c: sliding starts at μ (F + 2 F_pull-off) [Thornton 1991].
        all.load = R::new(18.0) * neck.force;
        let hertz = R::new(2.0) / R::new(5.0) * elastic * depth;
        all.energy = energy_of_neck::<R>(&neck, neck.width) - hertz;
    }
    if law == R::new(4.0) {
        let gap = larger::<R>(-overlap, zero);
        let span = extended_coefficients.bridge_span / effective_radius;
        all.pull = strength * (R::new(1.0) - gap / R::root(gap * gap + span));
        all.energy = energy_of_bridge::<R>(gap, span, strength, extended_coefficients.bridge_length) - strength * depth;
    }
    all
}

/// Energy released at the first contact of two bodies \[J\]: minus the energy stored where they just touch.
#[cube]
#[inline(always)]
pub fn released_by_touching<R: Real>(
    effective_radius: R,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> R {
    let zero = R::new(0.0);
    -cohesive_force::<R>(zero, zero, zero, effective_radius, coefficients, extended_coefficients).energy
}

/// Energy that is still stored at rupture, and lost \[J\].
#[cube]
#[inline(always)]
pub fn lost_by_tearing<R: Real>(effective_radius: R, coefficients: &Coefficients<R>, extended_coefficients: &ExtendedCoefficients<R>) -> R {
    let mut lost = R::new(0.0);
    if extended_coefficients.cohesion_law == R::new(CohesionLaw::JKR) {
        let zero = R::new(0.0);
        let neck = neck::<R>(zero, effective_radius, coefficients, extended_coefficients);
        lost = energy_of_neck::<R>(&neck, R::new(1.0));
    }
    lost
}
