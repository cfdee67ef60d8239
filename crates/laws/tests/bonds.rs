//! Bonds: forces are slopes of their energy, what one grain gets the other gives, and small strains are those of Timoshenko's beam.

use proptest::prelude::*;
use seixo_laws::bond::{BondLaw, BreakMode, Glue, Hold, Moves, Rest, Span, deformed, hold, turned_since, utilization};
use seixo_laws::rotation::turned_by;
use seixo_laws::{Quaternion, Vector3};

type V = Vector3<f64>;

fn vector([x, y, z]: [f64; 3]) -> V {
    V { x, y, z }
}

const NO_TURN: Quaternion<f64> = Quaternion {
    w: 1.0,
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

/// A turn by an angle of any size \[rad\], in many small ones.
fn turn(angle: V) -> Quaternion<f64> {
    (0..2000).fold(NO_TURN, |turn, _| turned_by(&turn, &angle.times(1.0 / 2000.0), 1.0))
}

/// The square of 10 mm of the validation's cantilever.
fn glue(law: BondLaw) -> Glue<f64> {
    let (young, shear) = (1e9, 1e9 / 2.4);
    Glue {
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
    }
}

const LENGTH: f64 = 0.1;
const SIDE: f64 = 0.01;

const REST: Rest<f64> = Rest {
    axis: V { x: LENGTH, y: 0.0, z: 0.0 },
    turn: NO_TURN,
};

const SPAN: Span<f64> = Span {
    length: LENGTH,
    per_length: 1.0 / LENGTH,
    arm: 0.5 * LENGTH,
    size: SIDE,
    strength: 1.0,
};

const STILL: Moves<f64> = Moves {
    velocity: V { x: 0.0, y: 0.0, z: 0.0 },
    spin_i: V { x: 0.0, y: 0.0, z: 0.0 },
    spin_j: V { x: 0.0, y: 0.0, z: 0.0 },
    effective_mass: 0.5,
    effective_inertia: 1e-4,
};

/// Where the grains of a bond stand.
struct Ends {
    apart: V,
    turn_i: Quaternion<f64>,
    turn_j: Quaternion<f64>,
}

/// The second grain at `apart` from the first, both turned by these angles.
fn ends(apart: V, angle_i: V, angle_j: V) -> Ends {
    Ends {
        apart,
        turn_i: turn(angle_i),
        turn_j: turn(angle_j),
    }
}

/// What a bond between grains that stand and move like this does.
fn held_by(glue: &Glue<f64>, ends: &Ends, moves: &Moves<f64>) -> Hold<f64> {
    hold(
        &deformed::<f64, f64>(
            &ends.apart,
            &ends.turn_i,
            &turned_since(&ends.turn_i, &ends.turn_j, &REST.turn),
            &REST.axis,
            SPAN.per_length,
        ),
        moves,
        &SPAN,
        glue,
    )
}

fn held(law: BondLaw, ends: &Ends) -> Hold<f64> {
    held_by(&glue(law), ends, &STILL)
}

/// A vector with components below `size`.
fn small(size: f64) -> impl Strategy<Value = V> {
    prop::array::uniform3(-size..size).prop_map(vector)
}

fn law() -> impl Strategy<Value = BondLaw> {
    prop::sample::select(BondLaw::ALL.to_vec())
}

proptest! {
    /// Strains as large as a tenth, the whole turned by any angle: nothing but the energy is used.
    #[test]
    fn forces_and_torques_are_slopes_of_the_energy(law in law(), whole in small(3.0), bent in small(0.1), stretch in small(0.01), way in small(1.0)) {
        let all = turn(whole);
        let at = |shift: V, more_i: V, more_j: V| {
            let mut ends = ends(vector([LENGTH, 0.0, 0.0]).plus(&stretch), V::zero(), bent);
            ends.apart = all.turned(&ends.apart).plus(&shift);
            ends.turn_i = turn(more_i).after(&all.after(&ends.turn_i));
            ends.turn_j = turn(more_j).after(&all.after(&ends.turn_j));
            held(law, &ends)
        };
        let now = at(V::zero(), V::zero(), V::zero());
        // Central differences: their error is some h² of the third derivative, rounding some 1e-16 over h.
        let h = 1e-5;
        let slope = |f: &dyn Fn(f64) -> Hold<f64>| (f(h).energy - f(-h).energy) / (2.0 * h);
        let [push, turn_i, turn_j] = [
            slope(&|s| at(way.times(s * LENGTH), V::zero(), V::zero())),
            slope(&|s| at(V::zero(), way.times(s), V::zero())),
            slope(&|s| at(V::zero(), V::zero(), way.times(s))),
        ];
        let scale = 1e6 * LENGTH * LENGTH * 1e-3;
        prop_assert!((push + LENGTH * now.force.dot(&way)).abs() < 1e-6 * scale, "{push} {}", now.force.dot(&way));
        prop_assert!((turn_i + now.torque_i.dot(&way)).abs() < 1e-6 * scale, "{turn_i} {}", now.torque_i.dot(&way));
        prop_assert!((turn_j + now.torque_j.dot(&way)).abs() < 1e-6 * scale, "{turn_j} {}", now.torque_j.dot(&way));
    }

    /// Turning the whole loads no bond and turns what it does; torques balance; dashpots only take.
    #[test]
    fn no_direction_is_special_and_nothing_comes_from_nothing(
        law in law(), whole in small(3.0), bent in small(0.2), stretch in small(0.02), velocity in small(1.0), spins in prop::array::uniform2(small(5.0)), damping in 0.0..1.0,
    ) {
        let glue = Glue { damping_ratio: damping, ..glue(law) };
        let here = ends(vector([LENGTH, 0.0, 0.0]).plus(&stretch), V::zero(), bent);
        let moves = Moves { velocity, spin_i: spins[0], spin_j: spins[1], ..STILL };
        let all = turn(whole);
        let turned = |v: &V| all.turned(v);
        let there = Ends { apart: turned(&here.apart), turn_i: all.after(&here.turn_i), turn_j: all.after(&here.turn_j) };
        let moves_there = Moves { velocity: turned(&velocity), spin_i: turned(&spins[0]), spin_j: turned(&spins[1]), ..STILL };
        let (a, b) = (held_by(&glue, &here, &moves), held_by(&glue, &there, &moves_there));
        let scale = 1e6 * LENGTH + 1e3;
        for (one, other) in [(&a.force, &b.force), (&a.torque_i, &b.torque_i), (&a.torque_j, &b.torque_j)] {
            prop_assert!(turned(one).minus(other).length() < 1e-11 * scale);
        }
        let rigid = held_by(&glue, &Ends { apart: turned(&vector([LENGTH, 0.0, 0.0])), turn_i: all, turn_j: all }, &STILL);
        prop_assert!(rigid.force.length() < 1e-11 * scale && rigid.torque_i.length() < 1e-11 * scale);
        let left = a.torque_i.plus(&a.torque_j).plus(&here.apart.cross(&a.force));
        prop_assert!(left.length() < 1e-13 * scale, "{left:?}");
        prop_assert!(a.damping_power >= 0.0);
        // What dashpots take is what all forces do, less what the spring does.
        let still = held_by(&glue, &here, &STILL);
        let power = |h: &Hold<f64>| h.force.dot(&velocity) + h.torque_i.dot(&spins[0]) + h.torque_j.dot(&spins[1]);
        prop_assert!((power(&still) - power(&a) - a.damping_power).abs() < 1e-10 * scale);
    }
}

/// The first end clamped, the second loaded: stretch FL/EA, twist TL/GJ, bend ML/EI, and tip of Timoshenko's cantilever. Deflections follow from
/// forces by Newton's method on the six motions of the second end, small enough that strains are of order 1e-6.
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

/// One bond breaks at its criterion and not before, and tells how.
#[test]
fn a_bond_gives_way_at_its_strength() {
    let area = SIDE * SIDE;
    let share = |held: Hold<f64>, glue: &Glue<f64>| {
        let used = utilization(&held, &SPAN, glue);
        (used.share, used.mode)
    };
    let nothing = held(BondLaw::Beam, &ends(vector([LENGTH, 0.0, 0.0]), V::zero(), V::zero()));
    let strong = glue(BondLaw::Beam);
    let cases = [
        (
            Hold {
                tension: 1e7 * area,
                ..nothing
            },
            1.0,
            Glue { cohesion: 1e30, ..strong },
        ),
        (
            Hold {
                bending: 1e7 * SIDE.powi(3) / 6.0,
                ..nothing
            },
            2.0,
            strong,
        ),
        (
            Hold {
                shear: 5e6 * area,
                ..nothing
            },
            3.0,
            strong,
        ),
        // Pressed by 2 MPa it bears tan φ times that more.
        (
            Hold {
                tension: -2e6 * area,
                shear: 6e6 * area,
                ..nothing
            },
            3.0,
            strong,
        ),
        (
            Hold {
                torsion: 5e6 * 0.20817 * SIDE.powi(3),
                ..nothing
            },
            4.0,
            strong,
        ),
        (
            Hold {
                energy: 7.0 * area,
                ..nothing
            },
            5.0,
            Glue {
                per_fracture_energy: 1.0 / 7.0,
                ..strong
            },
        ),
    ];
    for (held, mode, glue) in cases {
        let (used, by) = share(held, &glue);
        assert!((used - 1.0).abs() < 1e-12 && by == mode, "{used} {by} {mode}");
    }
}

/// With coordinates in double precision, laws in single precision keep the digits of a strain that these alone could not tell from none.
#[test]
fn a_small_strain_keeps_its_digits_in_mixed_precision() {
    let here = ends(
        vector([LENGTH * (1.0 + 1e-7), 2e-9, -1e-9]),
        vector([0.3, -0.2, 0.1]),
        vector([0.3 + 2e-7, -0.2, 0.1 - 3e-7]),
    );
    let rest = Rest {
        axis: here.turn_i.back().turned(&vector([LENGTH, 0.0, 0.0])),
        turn: NO_TURN,
    };
    for law in BondLaw::ALL {
        let double = hold(
            &deformed::<f64, f64>(
                &here.apart,
                &here.turn_i,
                &turned_since(&here.turn_i, &here.turn_j, &rest.turn),
                &rest.axis,
                SPAN.per_length,
            ),
            &STILL,
            &SPAN,
            &glue(law),
        );
        let single = |v: &V| Vector3 {
            x: v.x as f32,
            y: v.y as f32,
            z: v.z as f32,
        };
        let wide = |v: &Vector3<f32>| vector([f64::from(v.x), f64::from(v.y), f64::from(v.z)]);
        let still = Moves {
            velocity: single(&V::zero()),
            spin_i: single(&V::zero()),
            spin_j: single(&V::zero()),
            effective_mass: 0.5,
            effective_inertia: 1e-4,
        };
        let span = Span {
            length: LENGTH as f32,
            per_length: 1.0 / LENGTH as f32,
            arm: 0.5 * LENGTH as f32,
            size: SIDE as f32,
            strength: 1.0,
        };
        let g = glue(law);
        let in_single = Glue {
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
        };
        let mixed = hold(
            &deformed::<f64, f32>(
                &here.apart,
                &here.turn_i,
                &turned_since(&here.turn_i, &here.turn_j, &rest.turn),
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
