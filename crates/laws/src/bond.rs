//! Bonds between grains: what two grains that were glued together do to each other, and when the glue gives way.
//!
//! A bond remembers how its two grains stood when it was made, and nothing else: forces and torques follow from where they stand now. So
//! turning the whole by any angle loads no bond, nothing drifts, and what a bond did is undone when its grains go back.
//!
//! Conventions: from the first grain i to the second j; a positive axial force pulls them together.

pub mod beam;
pub mod point;

use crate::real::{Real, larger};
use crate::rotation::Quaternion;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Code of [`BondLaw::Point`].
const POINT: f32 = 1.0;

/// What a bond is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BondLaw {
    /// An elastic beam from center to center: it is stretched, sheared, bent and twisted.
    #[default]
    Beam,
    /// A spring with dashpot between a material point of either grain (S1).
    Point,
}

impl BondLaw {
    /// Every law.
    pub const ALL: [BondLaw; 2] = [BondLaw::Beam, BondLaw::Point];

    /// Its word in a scene.
    pub fn keyword(self) -> &'static str {
        match self {
            BondLaw::Beam => "beam",
            BondLaw::Point => "point",
        }
    }

    /// Its number in a row of coefficients.
    pub fn code(self) -> f64 {
        match self {
            BondLaw::Beam => 0.0,
            BondLaw::Point => f64::from(POINT),
        }
    }
}

/// How a bond gave way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BreakMode {
    /// The axial force pulled it apart.
    Tension,
    /// The edge that bending stretches tore.
    Bending,
    /// The two slid past each other.
    Shear,
    /// Torsion sheared its rim.
    Twist,
    /// It held more energy than its surface takes to part.
    Energy,
}

impl BreakMode {
    /// Every mode, in the order of their codes, which start at 1.
    pub const ALL: [BreakMode; 5] = [
        BreakMode::Tension,
        BreakMode::Bending,
        BreakMode::Shear,
        BreakMode::Twist,
        BreakMode::Energy,
    ];

    /// The mode of this code; none for a bond that holds.
    pub fn of(code: f64) -> Option<BreakMode> {
        BreakMode::ALL.get((code as usize).checked_sub(1)?).copied()
    }

    /// Its word in tables.
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

/// Numbers per row of a table of bond laws: those of [`Glue`], padded.
pub const GLUE: usize = 16;

/// What a kind of bonds is made of. Its cross-section of size s – a radius, or a side – has the area c_A s², the moments c_I s⁴ and c_J s⁴,
/// and the section moduli c_W s³ and c_T s³.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Glue<R: Real> {
    /// Code of the law, [`BondLaw::code`].
    pub law: R,
    /// Young's modulus E \[Pa\].
    pub youngs_modulus: R,
    /// Shear modulus G \[Pa\].
    pub shear_modulus: R,
    /// Timoshenko's shear coefficient κ \[-\].
    pub shear_share: R,
    /// c_A \[-\].
    pub area: R,
    /// c_I \[-\].
    pub bending: R,
    /// c_J \[-\].
    pub torsion: R,
    /// c_W \[-\].
    pub bending_edge: R,
    /// c_T \[-\].
    pub torsion_edge: R,
    /// Damping ratio ζ \[-\].
    pub damping_ratio: R,
    /// Tensile strength σ_t \[Pa\].
    pub tensile_strength: R,
    /// Cohesion c \[Pa\].
    pub cohesion: R,
    /// Slope tan φ of Mohr and Coulomb's line \[-\].
    pub slope: R,
    /// Energy that a unit of its area takes to part \[J/m²\].
    pub fracture_energy: R,
}

/// How the grains of a bond stood when it was made.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Rest<R: Real> {
    /// Of a beam, its axis in the frame of i, of length one; of a point bond, its point \[m\].
    pub of_i: Vector3<R>,
    /// The same in the frame of j.
    pub of_j: Vector3<R>,
    /// q_j* q_i: the turn from the frame of i to that of j.
    pub turn: Quaternion<R>,
    /// Distance of the centers \[m\].
    pub length: R,
    /// Size s of the cross-section \[m\].
    pub size: R,
    /// What its strengths are multiplied with \[-\].
    pub strength: R,
}

/// How the grains of a bond stand and move.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Ends<R: Real> {
    /// x_j − x_i \[m\].
    pub apart: Vector3<R>,
    /// v_j − v_i \[m/s\].
    pub velocity: Vector3<R>,
    /// Orientation of i.
    pub turn_i: Quaternion<R>,
    /// Orientation of j.
    pub turn_j: Quaternion<R>,
    /// Angular velocity of i \[rad/s\].
    pub spin_i: Vector3<R>,
    /// Angular velocity of j \[rad/s\].
    pub spin_j: Vector3<R>,
    /// m_i m_j/(m_i + m_j) \[kg\].
    pub effective_mass: R,
    /// The same of the moments of inertia \[kg m²\].
    pub effective_inertia: R,
}

/// What a bond does, and what it bears.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Hold<R: Real> {
    /// Force on j \[N\]; i gets the opposite.
    pub force: Vector3<R>,
    /// Torque on i \[N m\].
    pub torque_i: Vector3<R>,
    /// Torque on j \[N m\].
    pub torque_j: Vector3<R>,
    /// Elastic energy \[J\].
    pub energy: R,
    /// Power that damping takes \[W\].
    pub damping_power: R,
    /// Elastic axial force, positive where it pulls \[N\].
    pub tension: R,
    /// Size of the elastic force across the axis \[N\].
    pub shear: R,
    /// The larger of the bending moments at its ends \[N m\].
    pub bending: R,
    /// Size of the torsion moment \[N m\].
    pub torsion: R,
}

/// What a bond does, by its law.
#[cube]
#[inline(always)]
pub fn hold<R: Real>(ends: &Ends<R>, rest: &Rest<R>, glue: &Glue<R>) -> Hold<R> {
    let mut held = beam::hold::<R>(ends, rest, glue);
    if glue.law == R::new(1.0) {
        let point = point::hold::<R>(ends, rest, glue);
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

/// How far a bond is towards giving way, and how it would.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Utilization<R: Real> {
    /// Stress over strength, the largest of all criteria \[-\]; the bond breaks above 1.
    pub share: R,
    /// Code of the mode, see [`BreakMode::of`].
    pub mode: R,
}

/// How much of its strength a bond uses: axial and bending stress against the tensile strength, N/A + M/W ≤ σ_t, shear and torsion against
/// Mohr and Coulomb's line, Q/A + T/W_t ≤ c − N/A tan φ (Potyondy & Cundall 2004, Int. J. Rock Mech. Min. Sci. 41:1329, eq. 14–16, with the
/// line in place of a constant), and energy against that of its surface. Of two parts of a stress, the larger one names the mode.
#[cube]
#[inline(always)]
pub fn utilization<R: Real>(held: &Hold<R>, rest: &Rest<R>, glue: &Glue<R>) -> Utilization<R> {
    let square = rest.size * rest.size;
    let area = glue.area * square;
    let axial = held.tension / area;
    let bent = held.bending / (glue.bending_edge * square * rest.size);
    let sheared = held.shear / area;
    let twisted = held.torsion / (glue.torsion_edge * square * rest.size);

    let mut share = (axial + bent) / (glue.tensile_strength * rest.strength);
    let mut mode = R::new(1.0);
    if bent > axial {
        mode = R::new(2.0);
    }
    // Far out on the tension side there is nothing left to slide on: any shear breaks it, none does not.
    let resistance = larger::<R>(glue.cohesion * rest.strength - axial * glue.slope, R::new(1.0e-30));
    let sliding = (sheared + twisted) / resistance;
    if sliding > share {
        share = sliding;
        mode = R::new(3.0);
        if twisted > sheared {
            mode = R::new(4.0);
        }
    }
    let stored = held.energy / (glue.fracture_energy * rest.strength * area);
    if stored > share {
        share = stored;
        mode = R::new(5.0);
    }
    Utilization::<R> { share, mode }
}
