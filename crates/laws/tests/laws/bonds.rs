//! Bonds: forces are derivatives of the energy, action equals reaction, and small strains agree with Timoshenko's beam.

use proptest::prelude::*;
use seixo_laws::bond::{
    BondForces, BondGeometry, BondLaw, BondMotion, BondParameters, BondReference, BreakMode, bond_forces, deformed, rotation_since,
    utilization,
};
use seixo_laws::rotation::rotated_by;
use seixo_laws::{Quaternion, Vector3};

type V = Vector3<f64>;

fn vector([x, y, z]: [f64; 3]) -> V {
    V { x, y, z }
}

const NO_ROTATION: Quaternion<f64> = Quaternion {
    w: 1.0,
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

/// A rotation by an angle of any size \[rad\], composed of many small ones.
fn rotation(angle: V) -> Quaternion<f64> {
    (0..2000).fold(NO_ROTATION, |rotation, _| rotated_by(&rotation, &angle.times(1.0 / 2000.0), 1.0))
}

/// The square cross-section of 10 mm of the cantilever in the validation.
fn bond_parameters(law: BondLaw) -> BondParameters<f64> {
    let (young, shear) = (1e9, 1e9 / 2.4);
    BondParameters {
        law: law.code(),
        axial: young,
        bending: young / 12.0,
        torsion: shear * 0.140577,
        softness: young / (12.0 / 14.2 * shear),
        per_area: 1.0,
        per_bending_edge: 6.0,
        per_torsion_edge: 1.0 / 0.20817,
        damping_ratio: 0.0,
        per_tensile_strength: 1e-7,
        cohesion: 5e6,
        slope: 0.5,
        per_fracture_energy: 1e-30,
        size_share: 0.0,
        size_length: SIDE,
        stiffness: 0.0,
        damping: 0.0,
    }
}

const LENGTH: f64 = 0.1;
const SIDE: f64 = 0.01;

const REST: BondReference<f64> = BondReference {
    axis: V { x: LENGTH, y: 0.0, z: 0.0 },
    orientation: NO_ROTATION,
};

const SPAN: BondGeometry<f64> = BondGeometry {
    length: LENGTH,
    per_length: 1.0 / LENGTH,
    arm: 0.5 * LENGTH,
    size: SIDE,
    strength: 1.0,
};

const STILL: BondMotion<f64> = BondMotion {
    velocity: V { x: 0.0, y: 0.0, z: 0.0 },
    spin_i: V { x: 0.0, y: 0.0, z: 0.0 },
    spin_j: V { x: 0.0, y: 0.0, z: 0.0 },
    effective_mass: 0.5,
    effective_inertia: 1e-4,
};

/// Relative position and orientations of the grains of a bond.
struct Ends {
    apart: V,
    orientation_i: Quaternion<f64>,
    orientation_j: Quaternion<f64>,
}

/// The second grain at `apart` from the first, with the grains rotated by these angles.
fn ends(apart: V, angle_i: V, angle_j: V) -> Ends {
    Ends {
        apart,
        orientation_i: rotation(angle_i),
        orientation_j: rotation(angle_j),
    }
}

/// Forces of a bond between grains with these positions, orientations and motions.
fn held_by(bond_parameters: &BondParameters<f64>, ends: &Ends, moves: &BondMotion<f64>) -> BondForces<f64> {
    bond_forces(
        &deformed::<f64, f64>(
            &ends.apart,
            &ends.orientation_i,
            &rotation_since(&ends.orientation_i, &ends.orientation_j, &REST.orientation),
            &REST.axis,
            SPAN.per_length,
        ),
        moves,
        &SPAN,
        bond_parameters,
    )
}

fn held(law: BondLaw, ends: &Ends) -> BondForces<f64> {
    held_by(&bond_parameters(law), ends, &STILL)
}

/// A vector with components of magnitude below `size`.
fn small(size: f64) -> impl Strategy<Value = V> {
    prop::array::uniform3(-size..size).prop_map(vector)
}

fn law() -> impl Strategy<Value = BondLaw> {
    prop::sample::select(BondLaw::ALL.to_vec())
}

proptest! {
    /// Strains of up to a tenth, with the whole rotated by any angle. Only the energy is used for comparison.
    #[test]
    fn forces_and_torques_are_slopes_of_the_energy(law in law(), whole in small(3.0), bent in small(0.1), stretch in small(0.01), way in small(1.0)) {
        let all = rotation(whole);
        let at = |shift: V, more_i: V, more_j: V| {
            let mut ends = ends(vector([LENGTH, 0.0, 0.0]).plus(&stretch), V::zero(), bent);
            ends.apart = all.to_space(&ends.apart).plus(&shift);
            ends.orientation_i = rotation(more_i).after(&all.after(&ends.orientation_i));
            ends.orientation_j = rotation(more_j).after(&all.after(&ends.orientation_j));
            held(law, &ends)
        };
        let now = at(V::zero(), V::zero(), V::zero());
        // Central differences: their error is about h² times the third derivative, and the rounding error is about 1e-16 over h.
        let h = 1e-5;
        let slope = |f: &dyn Fn(f64) -> BondForces<f64>| (f(h).energy - f(-h).energy) / (2.0 * h);
        let [push, orientation_i, orientation_j] = [
            slope(&|s| at(way.times(s * LENGTH), V::zero(), V::zero())),
            slope(&|s| at(V::zero(), way.times(s), V::zero())),
            slope(&|s| at(V::zero(), V::zero(), way.times(s))),
        ];
        let scale = 1e6 * LENGTH * LENGTH * 1e-3;
        prop_assert!((push + LENGTH * now.force.dot(&way)).abs() < 1e-6 * scale, "{push} {}", now.force.dot(&way));
        prop_assert!((orientation_i + now.torque_i.dot(&way)).abs() < 1e-6 * scale, "{orientation_i} {}", now.torque_i.dot(&way));
        prop_assert!((orientation_j + now.torque_j.dot(&way)).abs() < 1e-6 * scale, "{orientation_j} {}", now.torque_j.dot(&way));
    }

    /// A rotation of the whole loads no bond and rotates its forces. Torques balance. Dashpots only dissipate.
    #[test]
    fn no_direction_is_special_and_nothing_comes_from_nothing(
        law in law(), whole in small(3.0), bent in small(0.2), stretch in small(0.02), velocity in small(1.0), spins in prop::array::uniform2(small(5.0)), damping in 0.0..1.0,
    ) {
        let bond_parameters = BondParameters { damping_ratio: damping, ..bond_parameters(law) };
        let here = ends(vector([LENGTH, 0.0, 0.0]).plus(&stretch), V::zero(), bent);
        let moves = BondMotion { velocity, spin_i: spins[0], spin_j: spins[1], ..STILL };
        let all = rotation(whole);
        let turned = |v: &V| all.to_space(v);
        let there = Ends { apart: turned(&here.apart), orientation_i: all.after(&here.orientation_i), orientation_j: all.after(&here.orientation_j) };
        let moves_there = BondMotion { velocity: turned(&velocity), spin_i: turned(&spins[0]), spin_j: turned(&spins[1]), ..STILL };
        let (a, b) = (held_by(&bond_parameters, &here, &moves), held_by(&bond_parameters, &there, &moves_there));
        let scale = 1e6 * LENGTH + 1e3;
        for (one, other) in [(&a.force, &b.force), (&a.torque_i, &b.torque_i), (&a.torque_j, &b.torque_j)] {
            prop_assert!(turned(one).minus(other).length() < 1e-11 * scale);
        }
        let rigid = held_by(&bond_parameters, &Ends { apart: turned(&vector([LENGTH, 0.0, 0.0])), orientation_i: all, orientation_j: all }, &STILL);
        prop_assert!(rigid.force.length() < 1e-11 * scale && rigid.torque_i.length() < 1e-11 * scale);
        let left = a.torque_i.plus(&a.torque_j).plus(&here.apart.cross(&a.force));
        prop_assert!(left.length() < 1e-13 * scale, "{left:?}");
        prop_assert!(a.damping_power >= 0.0);
        // The dissipated power is the power of the spring alone minus that of all forces.
        let still = held_by(&bond_parameters, &here, &STILL);
        let power = |h: &BondForces<f64>| h.force.dot(&velocity) + h.torque_i.dot(&spins[0]) + h.torque_j.dot(&spins[1]);
        prop_assert!((power(&still) - power(&a) - a.damping_power).abs() < 1e-10 * scale);
    }
}

/// With the first end clamped and the second loaded: stretch FL/EA, twist TL/GJ, bend ML/EI, and tip deflection of Timoshenko's cantilever. Newton's
/// method on the six motions of the second end gives deflections from forces, so small that strains are of order 1e-6.
#[test]
fn one_bond_is_timoshenkos_beam() {
    let solve = |force: V, torque: V| {
        let (mut shift, mut angle) = (V::zero(), V::zero());
        let state = |shift: &V, angle: &V| {
            let held = held(BondLaw::Beam, &ends(vector([LENGTH, 0.0, 0.0]).plus(shift), V::zero(), *angle));
            let (f, t) = (held.force.plus(&force), held.torque_j.plus(&torque));
            [f.x, f.y, f.z, t.x, t.y, t.z]
        };
        for _ in 0..4 {
            let now = state(&shift, &angle);
            let steps = [1e-9, 1e-9, 1e-9, 1e-8, 1e-8, 1e-8];
            let mut matrix = [[0.0; 7]; 6];
            for (column, step) in steps.into_iter().enumerate() {
                let mut moved = [shift.x, shift.y, shift.z, angle.x, angle.y, angle.z];
                moved[column] += step;
                let there = state(&vector([moved[0], moved[1], moved[2]]), &vector([moved[3], moved[4], moved[5]]));
                (0..6).for_each(|row| matrix[row][column] = (there[row] - now[row]) / step);
            }
            (0..6).for_each(|row| matrix[row][6] = -now[row]);
            for pivot in 0..6 {
                let best = (pivot..6)
                    .max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()))
                    .unwrap();
                matrix.swap(pivot, best);
                let by = matrix[pivot];
                for row in (0..6).filter(|&row| row != pivot) {
                    let factor = matrix[row][pivot] / by[pivot];
                    (0..7).for_each(|k| matrix[row][k] -= factor * by[k]);
                }
            }
            let step: Vec<f64> = (0..6).map(|k| matrix[k][6] / matrix[k][k]).collect();
            shift = shift.plus(&vector([step[0], step[1], step[2]]));
            angle = angle.plus(&vector([step[3], step[4], step[5]]));
        }
        (shift, angle)
    };
    let (e, g, area) = (1e9, 1e9 / 2.4, SIDE * SIDE);
    let (bending, torsion) = (SIDE.powi(4) / 12.0, 0.140577 * SIDE.powi(4));
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    let zero = V::zero();
    close(solve(vector([1.0, 0.0, 0.0]), zero).0.x, LENGTH / (e * area));
    close(solve(zero, vector([1e-3, 0.0, 0.0])).1.x, 1e-3 * LENGTH / (g * torsion));
    close(solve(zero, vector([0.0, 0.0, 1e-3])).1.z, 1e-3 * LENGTH / (e * bending));
    let load = 1e-3;
    let tip = load * (LENGTH.powi(3) / (3.0 * e * bending) + LENGTH / (12.0 / 14.2 * g * area));
    close(solve(vector([0.0, 0.0, -load]), zero).0.z, -tip);
    close(tip / load, 4.0284e-4);
}

/// A bond breaks at its criterion and not below, and reports the mode.
#[test]
fn a_bond_breaks_at_its_strength() {
    let area = SIDE * SIDE;
    let share = |held: BondForces<f64>, bond_parameters: &BondParameters<f64>| {
        let used = utilization(&held, &SPAN, bond_parameters);
        (used.share, used.mode)
    };
    let nothing = held(BondLaw::Beam, &ends(vector([LENGTH, 0.0, 0.0]), V::zero(), V::zero()));
    let strong = bond_parameters(BondLaw::Beam);
    let cases = [
        (
            BondForces {
                tension: 1e7 * area,
                ..nothing
            },
            1.0,
            BondParameters { cohesion: 1e30, ..strong },
        ),
        (
            BondForces {
                bending: 1e7 * SIDE.powi(3) / 6.0,
                ..nothing
            },
            2.0,
            strong,
        ),
        (
            BondForces {
                shear: 5e6 * area,
                ..nothing
            },
            3.0,
            strong,
        ),
        // Under a compression of 2 MPa its shear strength is larger by tan φ times that.
        (
            BondForces {
                tension: -2e6 * area,
                shear: 6e6 * area,
                ..nothing
            },
            3.0,
            strong,
        ),
        (
            BondForces {
                torsion: 5e6 * 0.20817 * SIDE.powi(3),
                ..nothing
            },
            4.0,
            strong,
        ),
        (
            BondForces {
                energy: 7.0 * area,
                ..nothing
            },
            5.0,
            BondParameters {
                per_fracture_energy: 1.0 / 7.0,
                ..strong
            },
        ),
    ];
    for (held, mode, bond_parameters) in cases {
        let (used, by) = share(held, &bond_parameters);
        assert!((used - 1.0).abs() < 1e-12 && by == mode, "{used} {by} {mode}");
    }
}

/// With coordinates in double precision, laws in single precision keep the digits of a strain below their own resolution.
#[test]
fn a_small_strain_keeps_its_digits_in_mixed_precision() {
    let here = ends(
        vector([LENGTH * (1.0 + 1e-7), 2e-9, -1e-9]),
        vector([0.3, -0.2, 0.1]),
        vector([0.3 + 2e-7, -0.2, 0.1 - 3e-7]),
    );
    let rest = BondReference {
        axis: here.orientation_i.back().to_space(&vector([LENGTH, 0.0, 0.0])),
        orientation: NO_ROTATION,
    };
    for law in BondLaw::ALL {
        let double = bond_forces(
            &deformed::<f64, f64>(
                &here.apart,
                &here.orientation_i,
                &rotation_since(&here.orientation_i, &here.orientation_j, &rest.orientation),
                &rest.axis,
                SPAN.per_length,
            ),
            &STILL,
            &SPAN,
            &bond_parameters(law),
        );
        let single = |v: &V| Vector3 {
            x: v.x as f32,
            y: v.y as f32,
            z: v.z as f32,
        };
        let wide = |v: &Vector3<f32>| vector([f64::from(v.x), f64::from(v.y), f64::from(v.z)]);
        let still = BondMotion {
            velocity: single(&V::zero()),
            spin_i: single(&V::zero()),
            spin_j: single(&V::zero()),
            effective_mass: 0.5,
            effective_inertia: 1e-4,
        };
        let span = BondGeometry {
            length: LENGTH as f32,
            per_length: 1.0 / LENGTH as f32,
            arm: 0.5 * LENGTH as f32,
            size: SIDE as f32,
            strength: 1.0,
        };
        let g = bond_parameters(law);
        let in_single = BondParameters {
            law: g.law as f32,
            axial: g.axial as f32,
            bending: g.bending as f32,
            torsion: g.torsion as f32,
            softness: g.softness as f32,
            per_area: g.per_area as f32,
            per_bending_edge: g.per_bending_edge as f32,
            per_torsion_edge: g.per_torsion_edge as f32,
            damping_ratio: g.damping_ratio as f32,
            per_tensile_strength: g.per_tensile_strength as f32,
            cohesion: g.cohesion as f32,
            slope: g.slope as f32,
            per_fracture_energy: g.per_fracture_energy as f32,
            size_share: g.size_share as f32,
            size_length: g.size_length as f32,
            stiffness: g.stiffness as f32,
            damping: g.damping as f32,
        };
        let mixed = bond_forces(
            &deformed::<f64, f32>(
                &here.apart,
                &here.orientation_i,
                &rotation_since(&here.orientation_i, &here.orientation_j, &rest.orientation),
                &rest.axis,
                span.per_length,
            ),
            &still,
            &span,
            &in_single,
        );
        for (fine, coarse) in [
            (&double.force, &mixed.force),
            (&double.torque_i, &mixed.torque_i),
            (&double.torque_j, &mixed.torque_j),
        ] {
            assert!(fine.length() > 0.0);
            assert!(fine.minus(&wide(coarse)).length() < 3e-6 * fine.length(), "{fine:?} {coarse:?}");
        }
    }
}

#[test]
fn every_way_to_break_is_found_by_its_code() {
    for mode in BreakMode::ALL {
        assert_eq!(BreakMode::of(mode.code()), Some(mode));
    }
    assert_eq!(BreakMode::of(0.0), None);
}
