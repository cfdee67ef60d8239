//! Bonds of grains: their sweep, and the integration of orientations.
//!
//! Bonds are in rows of grains, as contacts are. Inside a part a bond is in one row. Across parts and in decomposition-invariant runs it is in the
//! rows of both grains. Each row evaluates the first and the second grain in the same order, so both rows get the same bits.
//!
//! ```
//! use seixo_sweeps::bonds::{bond_parameters_at, row_of};
//! // Two rows of the table.
//! let table: Vec<f64> = (0..34).map(f64::from).collect();
//! let second = bond_parameters_at::<f64>(&table, 1);
//! assert_eq!(second.law, 17.0);
//! assert_eq!(row_of(&second), table[17..]);
//! ```

use crate::bodies::{orientation_at, store_orientation, stored_orientation_at};
use crate::layout::{load, store};
use crate::periodic::{PeriodicBoundaries, nearest_image};
use cubecl::prelude::*;
use seixo_laws::bond::{BOND_PARAMETERS, BondGeometry, BondMotion, BondParameters, BondReference, point, size_between};
use seixo_laws::motion::inertia;
use seixo_laws::rotation::rotated_by;
use seixo_laws::{Coordinate, Quaternion, Real, Vector3};

/// Numbers of the reference of a bond: the vector from the first to the second grain in the frame of the first, the strength factor, and the relative
/// orientation w x y z.
pub const BOND_REFERENCE: usize = 8;

/// Index of the row of the bond parameters in a bond record.
pub const KIND: usize = 8;

/// Index of the break mode in a bond record; 0 for an intact bond.
pub const BROKEN: usize = 9;

/// Index of the energy in a bond record, at the last step or at breakage \[J\].
pub const ENERGY: usize = 10;

/// Numbers per bond on the host, including padding.
pub const BOND: usize = 12;

/// Numbers of the attachment of a bond in a world with polyhedral grains: for each of its two grains the end of the bond in the frame of the grain, from
/// its center \[m\], and the radius that the bond laws take for that of the grain \[m\].
pub const ATTACHMENT: usize = 8;

/// Value in place of a break mode for a bond that was dissolved or removed with its grain.
pub const REMOVED: f64 = -1.0;

/// Flag of a partner that is the first grain of its bond.
pub const FIRST: u32 = 1 << 31;

/// Reference position and orientation of a bond, from its record.
#[cube]
#[inline(always)]
pub fn rest_at<C: Real>(bonds: &[C], at: usize) -> BondReference<C> {
    BondReference::<C> {
        axis: load::<C>(bonds, at),
        orientation: orientation_at::<C>(bonds, at + 4usize),
    }
}

/// Geometry of a bond between these grains.
#[cube]
#[inline(always)]
pub fn span_of<C: Coordinate<R>, R: Real>(
    i: &BondEnd<C, R>,
    j: &BondEnd<C, R>,
    axis: &Vector3<C>,
    strength: R,
    bond_parameters: &BondParameters<R>,
) -> BondGeometry<R> {
    let square = C::near(axis.dot(axis));
    let per_length = R::inverse_root(square);
    let length = square * per_length;
    BondGeometry::<R> {
        length,
        per_length,
        arm: point::arm::<R>(length, i.radius, j.radius),
        size: size_between::<R>(bond_parameters, i.radius, j.radius),
        strength,
    }
}

/// A row of the table of bond parameters.
#[cube]
#[inline(always)]
pub fn bond_parameters_at<R: Real>(table: &[R], row: usize) -> BondParameters<R> {
    let at = row * 17usize;
    // The last number is read first, so that one bounds check serves all.
    let damping = table[at + 16usize];
    BondParameters::<R> {
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
        size_length: table[at + 14usize],
        stiffness: table[at + 15usize],
        damping,
    }
}

/// The row of a table for these bond parameters.
pub fn row_of(bond_parameters: &BondParameters<f64>) -> [f64; BOND_PARAMETERS] {
    [
        bond_parameters.law,
        bond_parameters.axial,
        bond_parameters.bending,
        bond_parameters.torsion,
        bond_parameters.softness,
        bond_parameters.per_area,
        bond_parameters.per_bending_edge,
        bond_parameters.per_torsion_edge,
        bond_parameters.damping_ratio,
        bond_parameters.per_tensile_strength,
        bond_parameters.cohesion,
        bond_parameters.slope,
        bond_parameters.per_fracture_energy,
        bond_parameters.size_share,
        bond_parameters.size_length,
        bond_parameters.stiffness,
        bond_parameters.damping,
    ]
}

/// State of a grain at an end of a bond.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct BondEnd<C: Real, R: Real> {
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
    pub orientation: Quaternion<C>,
}

/// The grain at index i as an end of a bond.
#[inline]
pub fn end_at(i: usize, position: &[f64], velocity: &[f64], spin: &[f64], orientation: &[f64]) -> BondEnd<f64, f64> {
    let at = i * 4;
    BondEnd {
        position: load(position, at),
        radius: position[at + 3],
        velocity: load(velocity, at),
        mass: velocity[at + 3],
        spin: load(spin, at),
        orientation: orientation_at(orientation, at),
    }
}

/// The end of a bond that is attached to a grain beside its center, with the motion of the grain there, and the vector to it from the center of the grain
/// \[m\]. The bond is attached to its first grain with `end` 0, and to its second with 1.
pub fn attached(grain: &BondEnd<f64, f64>, attachment: &[f64], end: usize) -> (BondEnd<f64, f64>, Vector3<f64>) {
    let at = end * (ATTACHMENT / 2);
    let arm = grain.orientation.to_space(&load(attachment, at));
    let there = BondEnd {
        position: grain.position.plus(&arm),
        radius: attachment[at + 3],
        velocity: grain.velocity.plus(&grain.spin.cross(&arm)),
        ..*grain
    };
    (there, arm)
}

/// The vector from the first to the second grain of a bond \[m\].
#[cube]
#[inline(always)]
pub fn apart_of<C: Coordinate<R>, R: Real>(
    i: &BondEnd<C, R>,
    j: &BondEnd<C, R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] kind: u32,
) -> Vector3<C> {
    let apart = j.position.minus(&i.position);
    nearest_image::<C, R>(&apart, sides, kind).apart
}

/// Relative motion of the two grains of a bond.
#[cube]
#[inline(always)]
pub fn moves_of<C: Real, R: Real>(i: BondEnd<C, R>, j: BondEnd<C, R>) -> BondMotion<R> {
    let inertia_i = inertia::<R>(i.mass, i.radius);
    let inertia_j = inertia::<R>(j.mass, j.radius);
    BondMotion::<R> {
        velocity: j.velocity.minus(&i.velocity),
        spin_i: i.spin,
        spin_j: j.spin,
        effective_mass: i.mass * j.mass * R::inverse(i.mass + j.mass),
        effective_inertia: inertia_i * inertia_j * R::inverse(inertia_i + inertia_j),
    }
}

/// Rotates the grain in slot i by its angular velocity over a step, from half step to half step.
#[cube]
#[inline(always)]
pub fn integrate_orientation<C: Real>(i: usize, orientation: &mut [C], half_spin: &[C], dt: C) {
    let before = stored_orientation_at::<C>(orientation, i * 4usize);
    let after = rotated_by::<C>(&before, &load::<C>(half_spin, i * 3usize), dt);
    store_orientation::<C>(orientation, i * 4usize, &after);
}

/// Fields of all grains that bonds read.
pub struct BondedGrains<'a> {
    /// Centers and radii.
    pub position: &'a [f64],
    /// Velocities and masses.
    pub velocity: &'a [f64],
    /// Angular velocities.
    pub spin: &'a [f64],
    /// Orientations.
    pub orientation: &'a [f64],
    /// Table of bond parameters.
    pub bond_parameters: &'a [f64],
    /// Periodic sides.
    pub sides: &'a PeriodicBoundaries<f64, f64>,
}

/// The rows of a part in the bond list.
pub struct BondRows<'a> {
    /// First grain of the part.
    pub first: usize,
    /// Grain after the last of the part.
    pub end: usize,
    /// First entry of every grain's row, and the end of the last row.
    pub row: &'a [u32],
    /// The grain at the other end of each entry of all rows, flagged with [`FIRST`] if it is the first of the two.
    pub partner: &'a [u32],
    /// Attachments of the entries of all rows, [`ATTACHMENT`] numbers each; empty if all bonds end at the centers of their grains.
    pub attachments: &'a [f64],
    /// Whether a bond inside the part is in one row only. Otherwise it is in both rows, as bonds across the border of the part are.
    pub is_once: bool,
}

/// Sums over bonds in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BondPowerSums {
    /// Elastic energy of intact bonds \[J\].
    pub energy: f64,
    /// Elastic energy of bonds that broke in this step \[J\].
    pub released: f64,
    /// Power dissipated by damping \[W\].
    pub damping_power: f64,
    /// Number of bonds that broke in this step; a bond across parts counts one half in each.
    pub broken: f64,
}

impl BondPowerSums {
    /// Sum of two results.
    pub fn plus(self, other: &BondPowerSums) -> BondPowerSums {
        BondPowerSums {
            energy: self.energy + other.energy,
            released: self.released + other.released,
            damping_power: self.damping_power + other.damping_power,
            broken: self.broken + other.broken,
        }
    }
}

/// Record of a new bond of this kind; `apart` is the vector from the first to the second grain.
pub fn made_now(apart: &Vector3<f64>, ends: &[BondEnd<f64, f64>; 2], strength: f64, kind: usize) -> [f64; BOND] {
    let [i, j] = ends;
    let mut record = [0.0; BOND];
    store(&mut record, 0, &i.orientation.back().to_space(apart));
    record[3] = strength;
    store_orientation(&mut record, 4, &j.orientation.back().after(&i.orientation));
    record[KIND] = kind as f64;
    record
}
