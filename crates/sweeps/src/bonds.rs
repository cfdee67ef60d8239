//! Bonds of grains: the sweep over them, and how orientations go on.
//!
//! A bond stands in the row of either of its grains, as contacts do: inside a part once, across parts in both, each time with the numbers of the
//! first and the second in the same order, so that both rows come to the same bits, whatever they do with them.

use crate::bodies::{recalled_turn, store_turn, turn_at};
use crate::sides::{Sides, nearest_image};
use crate::views::{add, load, store};
use cubecl::prelude::*;
use seixo_laws::bond::{Ends, GLUE, Glue, Hold, Rest, hold, utilization};
use seixo_laws::motion::inertia;
use seixo_laws::rotation::turned_by;
use seixo_laws::{Coordinate, Real, Vector3, widened};

/// Numbers per bond: axis or point in the frame of the first grain, and the length; the same of the second, and the size of the cross-section;
/// the turn w x y z; what the strengths are multiplied with, the row of the table of glue, how it broke (0: it holds), and its energy.
pub const BOND: usize = 16;

/// Place of the number that tells how it broke.
pub const BROKEN: usize = 14;

/// Place of the number that tells its energy, at the last step or when it broke \[J\].
pub const ENERGY: usize = 15;

/// Mark of a partner that is the first of the two.
pub const FIRST: u32 = 1 << 31;

/// How a bond stood when it was made, from its record.
#[cube]
#[inline(always)]
pub fn rest_at<R: Real>(bonds: &[R], at: usize) -> Rest<R> {
    let strength = bonds[at + 12usize];
    Rest::<R> {
        of_i: load::<R>(bonds, at),
        of_j: load::<R>(bonds, at + 4usize),
        turn: turn_at::<R>(bonds, at + 8usize),
        length: bonds[at + 3usize],
        size: bonds[at + 7usize],
        strength,
    }
}

/// A row of the table of glue.
#[cube]
#[inline(always)]
pub fn glue_at<R: Real>(table: &[R], row: usize) -> Glue<R> {
    let at = row * 16usize;
    let fracture_energy = table[at + 13usize];
    Glue::<R> {
        law: table[at],
        youngs_modulus: table[at + 1usize],
        shear_modulus: table[at + 2usize],
        shear_share: table[at + 3usize],
        area: table[at + 4usize],
        bending: table[at + 5usize],
        torsion: table[at + 6usize],
        bending_edge: table[at + 7usize],
        torsion_edge: table[at + 8usize],
        damping_ratio: table[at + 9usize],
        tensile_strength: table[at + 10usize],
        cohesion: table[at + 11usize],
        slope: table[at + 12usize],
        fracture_energy,
    }
}

/// The row of a table for this glue.
pub fn row_of(glue: &Glue<f64>) -> [f64; GLUE] {
    [
        glue.law,
        glue.youngs_modulus,
        glue.shear_modulus,
        glue.shear_share,
        glue.area,
        glue.bending,
        glue.torsion,
        glue.bending_edge,
        glue.torsion_edge,
        glue.damping_ratio,
        glue.tensile_strength,
        glue.cohesion,
        glue.slope,
        glue.fracture_energy,
        0.0,
        0.0,
    ]
}

/// How the grains i and j of a bond stand and move.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads")]
pub fn ends_of<C: Coordinate<R>, R: Real>(
    i: usize,
    j: usize,
    position: &[C],
    velocity: &[R],
    spin: &[R],
    turn: &[C],
    sides: &Sides<C, R>,
    #[comptime] kind: u32,
) -> Ends<C> {
    let (at_i, at_j) = (i * 4usize, j * 4usize);
    let apart = load::<C>(position, at_j).minus(&load::<C>(position, at_i));
    let (mass_i, mass_j) = (C::wide(velocity[at_i + 3usize]), C::wide(velocity[at_j + 3usize]));
    let inertia_i = inertia::<C>(mass_i, position[at_i + 3usize]);
    let inertia_j = inertia::<C>(mass_j, position[at_j + 3usize]);
    Ends::<C> {
        apart: nearest_image::<C, R>(&apart, sides, kind).apart,
        velocity: widened::<C, R>(&load::<R>(velocity, at_j).minus(&load::<R>(velocity, at_i))),
        turn_i: turn_at::<C>(turn, at_i),
        turn_j: turn_at::<C>(turn, at_j),
        spin_i: widened::<C, R>(&load::<R>(spin, at_i)),
        spin_j: widened::<C, R>(&load::<R>(spin, at_j)),
        effective_mass: mass_i * mass_j / (mass_i + mass_j),
        effective_inertia: inertia_i * inertia_j / (inertia_i + inertia_j),
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
    /// Row of glue of each entry of all rows.
    pub kind: &'a [u32],
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
    /// The largest share of its strength that any uses \[-\].
    pub used: f64,
}

impl BondTally {
    /// Sum of two tallies.
    pub fn plus(self, other: &BondTally) -> BondTally {
        BondTally {
            energy: self.energy + other.energy,
            released: self.released + other.released,
            damping_power: self.damping_power + other.damping_power,
            broken: self.broken + other.broken,
            used: self.used.max(other.used),
        }
    }
}

/// Bonds of all grains of a part. `records` are those of its entries, `force` and `torque` those of its grains; both gain what bonds do. A bond that
/// uses more than its strength breaks, and does nothing from this step on.
pub fn bonds_of_part<const SIDES: u32>(
    grains: &BondedGrains,
    rows: &BondRows,
    records: &mut [f64],
    force: &mut [f64],
    torque: &mut [f64],
) -> BondTally {
    let mut all = BondTally::default();
    let base = rows.row[rows.first] as usize;
    for i in rows.first..rows.end {
        for k in rows.row[i] as usize..rows.row[i + 1] as usize {
            let at = (k - base) * BOND;
            if records[at + BROKEN] != 0.0 {
                continue;
            }
            let is_second = rows.partner[k] & FIRST != 0;
            let j = (rows.partner[k] & !FIRST) as usize;
            let (first, second) = if is_second { (j, i) } else { (i, j) };
            let ends = ends_of::<f64, f64>(
                first,
                second,
                grains.position,
                grains.velocity,
                grains.spin,
                grains.turn,
                grains.sides,
                SIDES,
            );
            let rest = rest_at(records, at);
            let glue = glue_at(grains.glue, rows.kind[k] as usize);
            let held: Hold<f64> = hold(&ends, &rest, &glue);
            let used = utilization(&held, &rest, &glue);
            let is_inside = (rows.first..rows.end).contains(&j);
            let share = if is_inside { 1.0 } else { 0.5 };
            records[at + ENERGY] = held.energy;
            // A share that is no number is as good as broken: it must not pass unseen.
            if used.share > 1.0 || used.share.is_nan() {
                records[at + BROKEN] = used.mode;
                all.released += share * held.energy;
                all.broken += share;
                continue;
            }
            all.energy += share * held.energy;
            all.damping_power += share * held.damping_power;
            all.used = all.used.max(used.share);
            let opposite = held.force.times(-1.0);
            for (grain, push, moment) in [(first, &opposite, &held.torque_i), (second, &held.force, &held.torque_j)] {
                if is_inside || grain == i {
                    let slot = (grain - rows.first) * 4;
                    add(force, slot, push);
                    add(torque, slot, moment);
                }
            }
        }
    }
    all
}

/// The record of a bond that is made now between the grains i and j, as they stand: the law's axes or points in their frames.
pub fn made_now(ends: &Ends<f64>, in_space: [Vector3<f64>; 2], length: f64, size: f64, strength: f64) -> [f64; BOND] {
    let mut record = [0.0; BOND];
    let turn = ends.turn_j.back().after(&ends.turn_i);
    store(&mut record, 0, &ends.turn_i.back().turned(&in_space[0]));
    record[3] = length;
    store(&mut record, 4, &ends.turn_j.back().turned(&in_space[1]));
    record[7] = size;
    record[8..12].copy_from_slice(&[turn.w, turn.x, turn.y, turn.z]);
    record[12] = strength;
    record
}
