//! Bonds between grains: forces, torques and breakage.
//!
//! A bond stores the relative position and orientation of its two grains at the time at which it was made. Forces and torques follow from that and
//! from the present positions and orientations. So a rotation of the whole network loads no bond, no error accumulates, and a deformation is undone
//! when the grains return.
//!
//! Conventions: vectors point from the first grain i to the second grain j. A positive axial force is tension.
//!
//! ```
//! use seixo_laws::bond::{deformed, rotation_since};
//! use seixo_laws::{Quaternion, Vector3};
//! let unturned = Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };
//! let quarter = Quaternion { w: 0.5f64.sqrt(), x: 0.0, y: 0.0, z: 0.5f64.sqrt() };
//! let (rest, now) = (Vector3 { x: 2.0, y: 0.0, z: 0.0 }, Vector3 { x: 0.0, y: 2.0, z: 0.0 });
//! let rotation = rotation_since::<f64>(&quarter, &quarter, &unturned);
//! let shape = deformed::<f64, f64>(&now, &quarter, &rotation, &rest, 0.5);
//! // A quarter turn of both grains and of the line between them deforms nothing.
//! assert!(shape.stretch.abs() < 1e-12 && shape.gap.length() < 1e-12 && shape.bow.length() < 1e-12);
//! ```

pub mod beam;
pub mod point;

use crate::real::{Coordinate, Real, larger, smaller};
use crate::rotation::Quaternion;
use crate::vector::{Vector3, between, near_vector};
use cubecl::prelude::*;

/// Code of [`BondLaw::Point`].
const POINT: f32 = 1.0;

/// Law of a bond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BondLaw {
    /// An elastic beam from center to center, with stretch, shear, bending and torsion.
    #[default]
    Beam,
    /// A spring and a dashpot between one material point of each grain \[PUC-Rio n.d.\].
    Point,
}

impl BondLaw {
    /// Every law.
    pub const ALL: [BondLaw; 2] = [BondLaw::Beam, BondLaw::Point];

    /// Keyword in a scene.
    pub fn keyword(self) -> &'static str {
        match self {
            BondLaw::Beam => "beam",
            BondLaw::Point => "point",
        }
    }

    /// Code in a row of coefficients.
    pub fn code(self) -> f64 {
        match self {
            BondLaw::Beam => 0.0,
            BondLaw::Point => f64::from(POINT),
        }
    }
}

/// How a bond broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BreakMode {
    /// The axial force exceeded the tensile strength.
    Tension,
    /// Bending exceeded the tensile strength at the edge of the cross-section.
    Bending,
    /// The two grains slid past each other.
    Shear,
    /// Torsion sheared the edge of the cross-section.
    Twist,
    /// The elastic energy exceeded the fracture energy of the cross-section.
    Energy,
}

impl BreakMode {
    /// Code of [`BreakMode::Tension`].
    pub const TENSION: f32 = 1.0;
    /// Code of [`BreakMode::Bending`].
    pub const BENDING: f32 = 2.0;
    /// Code of [`BreakMode::Shear`].
    pub const SHEAR: f32 = 3.0;
    /// Code of [`BreakMode::Twist`].
    pub const TWIST: f32 = 4.0;
    /// Code of [`BreakMode::Energy`].
    pub const ENERGY: f32 = 5.0;

    /// All modes, in the order of their codes, which start at 1.
    pub const ALL: [BreakMode; 5] = [
        BreakMode::Tension,
        BreakMode::Bending,
        BreakMode::Shear,
        BreakMode::Twist,
        BreakMode::Energy,
    ];

    /// The mode of this code; `None` for an intact bond.
    pub fn of(code: f64) -> Option<BreakMode> {
        BreakMode::ALL.get((code as usize).checked_sub(1)?).copied()
    }

    /// Code of the mode.
    pub fn code(self) -> f64 {
        f64::from(match self {
            BreakMode::Tension => BreakMode::TENSION,
            BreakMode::Bending => BreakMode::BENDING,
            BreakMode::Shear => BreakMode::SHEAR,
            BreakMode::Twist => BreakMode::TWIST,
            BreakMode::Energy => BreakMode::ENERGY,
        })
    }

    /// Keyword in tables.
    pub fn keyword(self) -> &'static str {
        match self {
            BreakMode::Tension => "tension",
            BreakMode::Bending => "bending",
            BreakMode::Shear => "shear",
            BreakMode::Twist => "twist",
            BreakMode::Energy => "energy",
        }
    }
}

/// Numbers per row of a table of bond parameters: those of [`BondParameters`].
pub const BOND_PARAMETERS: usize = 17;

/// Parameters of a kind of bonds, in the form in which the laws need them. Quotients are computed once, on the host.
///
/// A cross-section of size s (a radius or a side) has the area c_A s², the moments of area c_I s⁴ and c_J s⁴, and the section moduli c_W s³ and c_T
/// s³.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct BondParameters<R: Real> {
    /// Code of the law, [`BondLaw::code`] \[-\].
    pub law: R,
    /// E c_A \[Pa\].
    pub axial: R,
    /// E c_I \[Pa\].
    pub bending: R,
    /// G c_J \[Pa\].
    pub torsion: R,
    /// 12 E c_I/(κ G c_A) with Timoshenko's shear coefficient κ: Φ over (s/L₀)² \[-\].
    pub softness: R,
    /// 1/c_A \[-\].
    pub per_area: R,
    /// 1/c_W \[-\].
    pub per_bending_edge: R,
    /// 1/c_T \[-\].
    pub per_torsion_edge: R,
    /// Damping ratio ζ \[-\].
    pub damping_ratio: R,
    /// 1/σ_t of the tensile strength \[1/Pa\].
    pub per_tensile_strength: R,
    /// Cohesion c \[Pa\].
    pub cohesion: R,
    /// Slope tan φ of the Mohr–Coulomb line \[-\].
    pub slope: R,
    /// 1/(c_A G_c), with the fracture energy G_c per area \[m²/J\].
    pub per_fracture_energy: R,
    /// Size of the cross-section over the smaller of the two radii \[-\]; zero if it does not depend on them.
    pub size_share: R,
    /// Length that is added to this size \[m\].
    pub size_length: R,
    /// Stiffness k of a point bond that is given \[N/m\]; zero if it follows from E c_A.
    pub stiffness: R,
    /// Coefficient of the dashpot of a point bond that is given \[N s/m\]; zero if it follows from the damping ratio.
    pub damping: R,
}

/// Size s of the cross-section between grains of these radii \[m\].
#[cube]
#[inline(always)]
pub fn size_between<R: Real>(bond_parameters: &BondParameters<R>, radius_i: R, radius_j: R) -> R {
    bond_parameters.size_share * smaller::<R>(radius_i, radius_j) + bond_parameters.size_length
}

/// Relative position and orientation of two grains when their bond was made.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct BondReference<C: Real> {
    /// From the center of i to that of j, in the frame of i \[m\]; its length is L₀.
    pub axis: Vector3<C>,
    /// q_j* q_i: the rotation from the frame of i to that of j.
    pub orientation: Quaternion<C>,
}

/// Relative motion of the grains of a bond.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct BondMotion<R: Real> {
    /// v_j − v_i \[m/s\].
    pub velocity: Vector3<R>,
    /// Angular velocity of i \[rad/s\].
    pub spin_i: Vector3<R>,
    /// Angular velocity of j \[rad/s\].
    pub spin_j: Vector3<R>,
    /// m_i m_j/(m_i + m_j) \[kg\].
    pub effective_mass: R,
    /// Effective moment of inertia, I_i I_j/(I_i + I_j) \[kg m²\].
    pub effective_inertia: R,
}

/// Lengths of a bond when it was made, and its own strength factor.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct BondGeometry<R: Real> {
    /// Distance L₀ of the centers when it was made \[m\].
    pub length: R,
    /// 1/L₀ \[1/m\].
    pub per_length: R,
    /// Distance from the center of i to the contact point \[m\].
    pub arm: R,
    /// Size s of the cross-section \[m\].
    pub size: R,
    /// Factor on its strengths \[-\].
    pub strength: R,
}

/// Deformation of a bond. Small quantities are differences of large ones. They are computed in the precision of coordinates, so a small strain keeps
/// its digits where laws have fewer.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct BondDeformation<R: Real> {
    /// Direction e from i to j.
    pub direction: Vector3<R>,
    /// The axis at rest, turned with i: a_i.
    pub axis: Vector3<R>,
    /// (L − L₀)/L₀ \[-\].
    pub stretch: R,
    /// 1/L \[1/m\].
    pub per_length: R,
    /// a_i − e.
    pub off: Vector3<R>,
    /// a_j − a_i.
    pub bow: Vector3<R>,
    /// x_j − x_i − L₀ a_i \[m\].
    pub gap: Vector3<R>,
    /// Vector part of the rotation D of j relative to i: the sine of half the angle times the axis.
    pub twist: Vector3<R>,
    /// Cosine of half the angle of D.
    pub cosine: R,
}

/// The rotation D of j relative to i since the bond was made, from the orientations now and from q_j* q_i then.
#[cube]
#[inline(always)]
pub fn rotation_since<C: Real>(orientation_i: &Quaternion<C>, orientation_j: &Quaternion<C>, then: &Quaternion<C>) -> Quaternion<C> {
    orientation_j.after(then).after(&orientation_i.back())
}

/// Deformation of a bond. `apart` is the vector from i to j \[m\], `orientation_i` the orientation of i, and `orientation` the rotation of j relative to i since
/// the bond was made. `rest` is the axis at rest \[m\], and `per_length` is 1/L₀ \[1/m\].
#[cube]
#[inline(always)]
pub fn deformed<C: Coordinate<R>, R: Real>(
    apart: &Vector3<C>,
    orientation_i: &Quaternion<C>,
    orientation: &Quaternion<C>,
    rest: &Vector3<C>,
    per_length: R,
) -> BondDeformation<R> {
    let one = R::new(1.0);
    let two = R::new(2.0);
    let square = rest.dot(rest);
    let in_i = orientation_i.to_space(rest);
    let gap = between::<C, R>(&in_i, apart);
    // L²/L₀² − 1; the stretch follows from it without loss of digits.
    let more = C::near(apart.dot(apart) - square) * per_length * per_length;
    let stretch = more / (one + R::root(one + more));
    let shrink = R::inverse(one + stretch);
    let scaled = near_vector::<C, R>(apart).times(per_length);
    let twist = Vector3::<R> {
        x: C::near(orientation.x),
        y: C::near(orientation.y),
        z: C::near(orientation.z),
    };
    let cosine = C::near(orientation.w);
    let axis = near_vector::<C, R>(&in_i).times(per_length);
    // a_j is a_i turned by D.
    let turning = twist.cross(&axis).times(two);
    BondDeformation::<R> {
        direction: scaled.times(shrink),
        stretch,
        per_length: per_length * shrink,
        off: scaled.times(stretch * shrink).minus(&gap.times(per_length)),
        bow: turning.times(cosine).plus(&twist.cross(&turning)),
        axis,
        gap,
        twist,
        cosine,
    }
}

/// Forces and torques of a bond, and its internal loads.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct BondForces<R: Real> {
    /// Force on j \[N\]; i gets the opposite.
    pub force: Vector3<R>,
    /// Torque on i \[N m\].
    pub torque_i: Vector3<R>,
    /// Torque on j \[N m\].
    pub torque_j: Vector3<R>,
    /// Elastic energy \[J\].
    pub energy: R,
    /// Power dissipated by damping \[W\].
    pub damping_power: R,
    /// Elastic axial force, positive in tension \[N\].
    pub tension: R,
    /// Magnitude of the elastic force across the axis \[N\].
    pub shear: R,
    /// The larger of the two bending moments at the ends \[N m\].
    pub bending: R,
    /// Magnitude of the torsion moment \[N m\].
    pub torsion: R,
}

/// Forces and torques of a bond, by its law.
#[cube]
#[inline(always)]
pub fn bond_forces<R: Real>(
    shape: &BondDeformation<R>,
    moves: &BondMotion<R>,
    span: &BondGeometry<R>,
    bond_parameters: &BondParameters<R>,
) -> BondForces<R> {
    let mut held = beam::beam_forces::<R>(shape, moves, span, bond_parameters);
    if bond_parameters.law == R::new(POINT) {
        let point = point::spring_forces::<R>(shape, moves, span, bond_parameters);
        held.force = point.force;
        held.torque_i = point.torque_i;
        held.torque_j = point.torque_j;
        held.energy = point.energy;
        held.damping_power = point.damping_power;
        held.tension = point.tension;
        held.shear = point.shear;
        held.bending = point.bending;
        held.torsion = point.torsion;
    }
    held
}

/// Share of the strength of a bond that is used, and the mode in which it would break.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Utilization<R: Real> {
    /// Stress over strength, the largest over all criteria \[-\]; above 1 the bond breaks.
    pub share: R,
    /// Code of the mode, see [`BreakMode::of`].
    pub mode: R,
}

/// Share of the strength of a bond that is used.
///
/// - Axial and bending stress against the tensile strength: N/A + M/W ≤ σ_t.
/// - Shear and torsion against the Mohr–Coulomb line: Q/A + T/W_t ≤ c − N/A tan φ.
/// - Elastic energy against the fracture energy of the cross-section.
///
/// The stresses are those of \[Potyondy 2004, eqs. 14–16\], with the line in place of a constant strength. The larger part of a stress gives the
/// mode.
#[cube]
#[inline(always)]
pub fn utilization<R: Real>(held: &BondForces<R>, span: &BondGeometry<R>, bond_parameters: &BondParameters<R>) -> Utilization<R> {
    let per_size = R::inverse(span.size);
    let per_square = per_size * per_size;
    let per_area = bond_parameters.per_area * per_square;
    let per_strength = R::inverse(span.strength);
    let axial = held.tension * per_area;
    let bent = held.bending * bond_parameters.per_bending_edge * per_square * per_size;
    let sheared = held.shear * per_area;
    let twisted = held.torsion * bond_parameters.per_torsion_edge * per_square * per_size;

    let mut share = (axial + bent) * bond_parameters.per_tensile_strength * per_strength;
    let mut mode = R::new(BreakMode::TENSION);
    if bent > axial {
        mode = R::new(BreakMode::BENDING);
    }
    // Under large tension the shear strength is zero. The lower bound makes any shear break the bond, but not zero shear.
    let resistance = larger::<R>(
        bond_parameters.cohesion * span.strength - axial * bond_parameters.slope,
        R::new(1.0e-30),
    );
    let sliding = (sheared + twisted) / resistance;
    if sliding > share {
        share = sliding;
        mode = R::new(BreakMode::SHEAR);
        if twisted > sheared {
            mode = R::new(BreakMode::TWIST);
        }
    }
    let stored = held.energy * bond_parameters.per_fracture_energy * per_square * per_strength;
    if stored > share {
        share = stored;
        mode = R::new(BreakMode::ENERGY);
    }
    Utilization::<R> { share, mode }
}
