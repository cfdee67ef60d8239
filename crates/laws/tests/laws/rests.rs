//! Numbers that are kept as a number in single precision and what it lacks.

use seixo_laws::{Coordinate, Vector3, rest_of, with_rest};

fn rest(number: f64, near: f32) -> f32 {
    <f64 as Coordinate<f32>>::rest(number, near)
}

fn restored(near: f32, rest: f32) -> f64 {
    <f64 as Coordinate<f32>>::with_rest(near, rest)
}

#[test]
fn only_the_difference_is_rounded_and_only_once() {
    for exponent in -20..20 {
        let number = 1.7 * 10f64.powi(exponent) / 3.0;
        for apart in [0.0, 1e-7, 1e-3, 0.5, -3.0] {
            let near = (number * (1.0 + apart)) as f32;
            let difference = (number - f64::from(near)).abs();
            let held = restored(near, rest(number, near));
            let error = (held - number).abs();
            assert!(
                error <= 6e-8 * difference + 2.3e-16 * number,
                "{number:e} beside {near:e}: {error:e}"
            );
            assert_eq!(restored(near, rest(held, near)), held, "{number:e} beside {near:e}");
        }
    }
}

#[test]
fn changes_of_a_billionth_add_up() {
    let (kick, steps) = (1e-9, 100_000u32);
    let (mut near, mut kept) = (1.0f32, 0.0f32);
    for _ in 0..steps {
        let after = restored(near, kept) + kick;
        near = after as f32;
        kept = rest(after, near);
    }
    let gained = (restored(near, kept) - 1.0) / (f64::from(steps) * kick);
    // The difference is below 2^-24, so a change is rounded to a multiple of 2^-48 at worst: 1.8e-6 of it.
    assert!((gained - 1.0).abs() < 2e-6, "{gained}");
}

#[test]
fn with_one_precision_the_number_itself_is_kept() {
    let number = Vector3 {
        x: 0.1,
        y: -1e10,
        z: 1e-300,
    };
    let near = Vector3 { x: 7.0, y: 1.0, z: -5.0 };
    let kept = rest_of::<f64, f64>(&number, &near);
    assert_eq!(kept, number);
    assert_eq!(with_rest::<f64, f64>(&near, &kept), number);
}
