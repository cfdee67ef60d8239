//! Bonds between grains: what two grains that were glued together do to each other, and when the glue gives way.
//!
//! A bond remembers how its two grains stood when it was made, and nothing else: forces and torques follow from where they stand now. So
//! turning the whole by any angle loads no bond, nothing drifts, and what a bond did is undone when its grains go back.
//!
//! Conventions: from the first grain i to the second j; a positive axial force pulls them together.

pub mod beam;
pub mod point;

use crate::real::{Coordinate, Real, larger, smaller};
use crate::rotation::Quaternion;
use crate::vector::{Vector3, between, near_vector};
use cubecl::prelude::*;

/// Code of [`BondLaw::Point`].
const POINT: f32 = 1.0;

/// What a bond is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BondLaw {
    /// An elastic beam from center to center: it is stretched, sheared, bent and twisted.
    #[default]
    Beam,
    /// A spring with dashpot between a material point of either grain \[PUC-Rio n.d.\].
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

    /// Its code.
    pub fn code(self) -> f64 {
        f64::from(self as u8 + 1)
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

/// What a kind of bonds is made of, as the laws need it: what can be divided once is. Its cross-section of size s – a radius, or a side – has the
/// area c_A s², the moments c_I s⁴ and c_J s⁴, and the section moduli c_W s³ and c_T s³.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Glue<R: Real> {
    /// Code of the law, [`BondLaw::code`].
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
    /// Slope tan φ of Mohr and Coulomb's line \[-\].
    pub slope: R,
    /// 1/(c_A G_c) of the energy that a unit of its area takes to part \[m²/J\].
    pub per_fracture_energy: R,
    /// Size of the cross-section over the smaller of the two radii \[-\]; zero where it does not depend on them.
    pub size_share: R,
    /// What is added to that \[m\].
    pub size_length: R,
}

/// Size s of the cross-section between grains of these radii \[m\].
#[cube]
#[inline(always)]
pub fn size_between<R: Real>(glue: &Glue<R>, radius_i: R, radius_j: R) -> R {
    glue.size_share * smaller::<R>(radius_i, radius_j) + glue.size_length
}

/// How the grains of a bond stood when it was made.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Rest<C: Real> {
    /// From the center of i to that of j, in the frame of i \[m\]; its length is L₀.
    pub axis: Vector3<C>,
    /// q_j* q_i: the turn from the frame of i to that of j.
    pub turn: Quaternion<C>,
}

/// How the grains of a bond move.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Moves<R: Real> {
    /// v_j − v_i \[m/s\].
    pub velocity: Vector3<R>,
    /// Angular velocity of i \[rad/s\].
    pub spin_i: Vector3<R>,
    /// Angular velocity of j \[rad/s\].
    pub spin_j: Vector3<R>,
    /// m_i m_j/(m_i + m_j) \[kg\].
    pub effective_mass: R,
    /// The same of the moments of inertia \[kg m²\].
    pub effective_inertia: R,
}

/// What a bond measures when it is made, and how strong it is beside its kind.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Span<R: Real> {
    /// Distance L₀ of the centers when it was made \[m\].
    pub length: R,
    /// 1/L₀ \[1/m\].
    pub per_length: R,
    /// From the center of i to where the two touch \[m\].
    pub arm: R,
    /// Size s of the cross-section \[m\].
    pub size: R,
    /// What its strengths are multiplied with \[-\].
    pub strength: R,
}

/// How a bond is deformed. What is small is the difference of two things that are not: it is taken in the precision of coordinates, so that a small
/// strain keeps its digits where laws have fewer.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Deformed<R: Real> {
    /// Direction e from i to j.
    pub direction: Vector3<R>,
    /// The axis as it lies in i, a_i.
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
    /// Vector part of the turn D of j relative to i, sine of half the angle times the axis.
    pub twist: Vector3<R>,
    /// Cosine of half the angle.
    pub cosine: R,
}

/// The turn D of j relative to i since the bond was made, from their orientations now and q_j* q_i then.
#[cube]
#[inline(always)]
pub fn turned_since<C: Real>(turn_i: &Quaternion<C>, turn_j: &Quaternion<C>, then: &Quaternion<C>) -> Quaternion<C> {
    turn_j.after(then).after(&turn_i.back())
}

/// How a bond with this axis at rest is deformed where its grains stand `apart` from i to j \[m\], i has this orientation, and j turned relative to
/// it by `turn` since; `per_length` is 1/L₀.
#[cube]
#[inline(always)]
pub fn deformed<C: Coordinate<R>, R: Real>(
    apart: &Vector3<C>,
    turn_i: &Quaternion<C>,
    turn: &Quaternion<C>,
    rest: &Vector3<C>,
    per_length: R,
) -> Deformed<R> {
    let one = R::new(1.0);
    let two = R::new(2.0);
    let square = rest.dot(rest);
    let in_i = turn_i.turned(rest);
    let gap = between::<C, R>(&in_i, apart);
    // L²/L₀² − 1, and what its root leaves of it.
    let more = C::near(apart.dot(apart) - square) * per_length * per_length;
    let stretch = more / (one + R::root(one + more));
    let shrink = R::inverse(one + stretch);
    let scaled = near_vector::<C, R>(apart).times(per_length);
    let twist = Vector3::<R> {
        x: C::near(turn.x),
        y: C::near(turn.y),
        z: C::near(turn.z),
    };
    let cosine = C::near(turn.w);
    let axis = near_vector::<C, R>(&in_i).times(per_length);
    // a_j is a_i turned by D.
    let turning = twist.cross(&axis).times(two);
    Deformed::<R> {
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
pub fn hold<R: Real>(shape: &Deformed<R>, moves: &Moves<R>, span: &Span<R>, glue: &Glue<R>) -> Hold<R> {
    let mut held = beam::hold::<R>(shape, moves, span, glue);
    if glue.law == R::new(1.0) {
        let point = point::hold::<R>(shape, moves, span, glue);
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
/// Mohr and Coulomb's line, Q/A + T/W_t ≤ c − N/A tan φ (\[Potyondy 2004, eqs. 14–16\], with the
/// line in place of a constant), and energy against that of its surface. Of two parts of a stress, the larger one names the mode.
#[cube]
#[inline(always)]
pub fn utilization<R: Real>(held: &Hold<R>, span: &Span<R>, glue: &Glue<R>) -> Utilization<R> {
    let per_size = R::inverse(span.size);
    let per_square = per_size * per_size;
    let per_area = glue.per_area * per_square;
    let per_strength = R::inverse(span.strength);
    let axial = held.tension * per_area;
    let bent = held.bending * glue.per_bending_edge * per_square * per_size;
    let sheared = held.shear * per_area;
    let twisted = held.torsion * glue.per_torsion_edge * per_square * per_size;

    let mut share = (axial + bent) * glue.per_tensile_strength * per_strength;
    let mut mode = R::new(1.0);
    if bent > axial {
        mode = R::new(2.0);
    }
    // Far out on the tension side there is nothing left to slide on: any shear breaks it, none does not.
    let resistance = larger::<R>(glue.cohesion * span.strength - axial * glue.slope, R::new(1.0e-30));
    let sliding = (sheared + twisted) / resistance;
    if sliding > share {
        share = sliding;
        mode = R::new(3.0);
        if twisted > sheared {
            mode = R::new(4.0);
        }
    }
    let stored = held.energy * glue.per_fracture_energy * per_square * per_strength;
    if stored > share {
        share = stored;
        mode = R::new(5.0);
    }
    Utilization::<R> { share, mode }
}
