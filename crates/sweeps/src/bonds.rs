//! Bonds of grains: the sweep over them, and how orientations go on.
//!
//! A bond stands in the row of either of its grains, as contacts do: inside a part once, across parts and in divisible worlds in both, each time with
//! the numbers of the first and the second in the same order, so that both rows come to the same bits, whatever they do with them.

use crate::bodies::{recalled_turn, store_turn, turn_at};
use crate::sides::{Sides, nearest_image};
use crate::views::{load, store};
use cubecl::prelude::*;
use seixo_laws::bond::{GLUE, Glue, Moves, Rest, Span, point, size_between};
use seixo_laws::motion::inertia;
use seixo_laws::rotation::turned_by;
use seixo_laws::{Coordinate, Quaternion, Real, Vector3};

/// Numbers that tell how a bond was made: from the first to the second grain in the frame of the first, and what its strengths are multiplied
/// with; the turn w x y z.
pub const MADE: usize = 8;

/// Place of the number that tells the row of the table of glue.
pub const KIND: usize = 8;

/// Place of the number that tells how it broke; 0: it holds.
pub const BROKEN: usize = 9;

/// Place of the number that tells its energy, at the last step or when it broke \[J\].
pub const ENERGY: usize = 10;

/// Numbers per bond on the host, with padding.
pub const BOND: usize = 12;

/// In the place of a mode, of a bond that did not break, but was dissolved or went with its grain.
pub const GONE: f64 = -1.0;

/// Mark of a partner that is the first of the two.
pub const FIRST: u32 = 1 << 31;

/// How a bond stood when it was made, from its record.
#[cube]
#[inline(always)]
pub fn rest_at<C: Real>(bonds: &[C], at: usize) -> Rest<C> {
    Rest::<C> {
        axis: load::<C>(bonds, at),
        turn: turn_at::<C>(bonds, at + 4usize),
    }
}

/// What a bond between these grains measures.
#[cube]
#[inline(always)]
pub fn span_of<C: Coordinate<R>, R: Real>(i: &End<C, R>, j: &End<C, R>, axis: &Vector3<C>, strength: R, glue: &Glue<R>) -> Span<R> {
    let square = C::near(axis.dot(axis));
    let per_length = R::inverse_root(square);
    let length = square * per_length;
    Span::<R> {
        length,
        per_length,
        arm: point::arm::<R>(length, i.radius, j.radius),
        size: size_between::<R>(glue, i.radius, j.radius),
        strength,
    }
}

/// A row of the table of glue.
#[cube]
#[inline(always)]
pub fn glue_at<R: Real>(table: &[R], row: usize) -> Glue<R> {
    let at = row * 16usize;
    let size_length = table[at + 14usize];
    Glue::<R> {
        law: table[at],
        axial: table[at + 1usize],
        bending: table[at + 2usize],
        torsion: table[at + 3usize],
        softness: table[at + 4usize],
        per_area: table[at + 5usize],
        per_bending_edge: table[at + 6usize],
        per_torsion_edge: table[at + 7usize],
        damping_ratio: table[at + 8usize],
        per_tensile_strength: table[at + 9usize],
        cohesion: table[at + 10usize],
        slope: table[at + 11usize],
        per_fracture_energy: table[at + 12usize],
        size_share: table[at + 13usize],
        size_length,
    }
}

/// The row of a table for this glue.
pub fn row_of(glue: &Glue<f64>) -> [f64; GLUE] {
    [
        glue.law,
        glue.axial,
        glue.bending,
        glue.torsion,
        glue.softness,
        glue.per_area,
        glue.per_bending_edge,
        glue.per_torsion_edge,
        glue.damping_ratio,
        glue.per_tensile_strength,
        glue.cohesion,
        glue.slope,
        glue.per_fracture_energy,
        glue.size_share,
        glue.size_length,
        0.0,
    ]
}

/// A grain at an end of a bond.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct End<C: Real, R: Real> {
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Radius \[m\].
    pub radius: R,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
    /// Mass \[kg\].
    pub mass: R,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
    /// Orientation.
    pub turn: Quaternion<C>,
}

/// The grain at place i as an end of a bond.
pub fn end_at(i: usize, position: &[f64], velocity: &[f64], spin: &[f64], turn: &[f64]) -> End<f64, f64> {
    let at = i * 4;
    End {
        position: load(position, at),
        radius: position[at + 3],
        velocity: load(velocity, at),
        mass: velocity[at + 3],
        spin: load(spin, at),
        turn: turn_at(turn, at),
    }
}

/// The vector from the first to the second grain of a bond \[m\].
#[cube]
#[inline(always)]
pub fn apart_of<C: Coordinate<R>, R: Real>(i: &End<C, R>, j: &End<C, R>, sides: &Sides<C, R>, #[comptime] kind: u32) -> Vector3<C> {
    let apart = j.position.minus(&i.position);
    nearest_image::<C, R>(&apart, sides, kind).apart
}

/// How the two grains of a bond move.
#[cube]
#[inline(always)]
pub fn moves_of<C: Real, R: Real>(i: End<C, R>, j: End<C, R>) -> Moves<R> {
    let inertia_i = inertia::<R>(i.mass, i.radius);
    let inertia_j = inertia::<R>(j.mass, j.radius);
    Moves::<R> {
        velocity: j.velocity.minus(&i.velocity),
        spin_i: i.spin,
        spin_j: j.spin,
        effective_mass: i.mass * j.mass * R::inverse(i.mass + j.mass),
        effective_inertia: inertia_i * inertia_j * R::inverse(inertia_i + inertia_j),
    }
}

/// Turns the grain in slot i with the angular velocity that it moves with, from half a step to half a step.
#[cube]
#[inline(always)]
pub fn turn_on<C: Real>(i: usize, turn: &mut [C], half_spin: &[C], dt: C) {
    let before = recalled_turn::<C>(turn, i * 4usize);
    let after = turned_by::<C>(&before, &load::<C>(half_spin, i * 3usize), dt);
    store_turn::<C>(turn, i * 4usize, &after);
}

/// What bonds read of all grains.
pub struct BondedGrains<'a> {
    /// Centers and radii.
    pub position: &'a [f64],
    /// Velocities and masses.
    pub velocity: &'a [f64],
    /// Angular velocities.
    pub spin: &'a [f64],
    /// Orientations.
    pub turn: &'a [f64],
    /// Rows of glue.
    pub glue: &'a [f64],
    /// Periodic sides.
    pub sides: &'a Sides<f64, f64>,
}

/// The rows of a part in the list of bonds.
pub struct BondRows<'a> {
    /// First grain of the part.
    pub first: usize,
    /// The grain after its last.
    pub end: usize,
    /// First entry of every grain's row, and one more.
    pub row: &'a [u32],
    /// The grain at the other end of each entry of all rows, marked where it is the first of the two.
    pub partner: &'a [u32],
    /// Whether a bond inside the part stands in one row only; else it stands in both, as bonds across its border do.
    pub is_once: bool,
}

/// What became of bonds in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BondTally {
    /// Elastic energy of those that hold \[J\].
    pub energy: f64,
    /// Elastic energy of those that broke in this step \[J\].
    pub released: f64,
    /// Power that damping takes \[W\].
    pub damping_power: f64,
    /// How many broke in this step, halves where another part has the other half.
    pub broken: f64,
}

impl BondTally {
    /// Sum of two tallies.
    pub fn plus(self, other: &BondTally) -> BondTally {
        BondTally {
            energy: self.energy + other.energy,
            released: self.released + other.released,
            damping_power: self.damping_power + other.damping_power,
            broken: self.broken + other.broken,
        }
    }
}

/// The record of a bond of this kind that is made now between grains that stand `apart` from the first to the second.
pub fn made_now(apart: &Vector3<f64>, ends: &[End<f64, f64>; 2], strength: f64, kind: usize) -> [f64; BOND] {
    let [i, j] = ends;
    let mut record = [0.0; BOND];
    store(&mut record, 0, &i.turn.back().turned(apart));
    record[3] = strength;
    store_turn(&mut record, 4, &j.turn.back().after(&i.turn));
    record[KIND] = kind as f64;
    record
}
