//! Suspension: drag agrees with measurements, hindrance with the literature, and steps of any length are stable.

use seixo_laws::Vector3;
use seixo_laws::fluid::Smoothing;
use seixo_laws::fluid::suspension::{Coupling, Grain, LocalFluid, coupling, grain_force, hindrance, reach, resistance};
use std::f64::consts::PI;

/// ⟨1/|x − y|⟩ over two points with the densities W, integrated over piecewise polynomials by a computer algebra system: 1536/(715 H) for Wendland's
/// function, 35008/(17325 H) for the cubic spline.
#[test]
fn a_force_that_is_spread_is_as_mobile_as_the_sphere_that_it_should_be() {
    for (smoothing, expected) in [(Smoothing::Wendland, 715.0 / 1536.0), (Smoothing::CubicSpline, 17325.0 / 35008.0)] {
        // 2000 shells, of second order.
        let found = reach(smoothing, 0.3) / 0.3;
        assert!((found / expected - 1.0).abs() < 1e-6, "{smoothing:?} {found} {expected}");
    }
}

/// The standard drag curve of spheres as tabulated by \[Lapple 1940\].
#[test]
fn a_sphere_is_dragged_as_was_measured() {
    let measured = [
        (0.1, 244.0),
        (1.0, 27.2),
        (10.0, 4.26),
        (100.0, 1.09),
        (300.0, 0.653),
        (1000.0, 0.471),
    ];
    let (density, viscosity, diameter) = (1000.0, 1e-3, 2e-3);
    for (number, expected) in measured {
        let speed = number * viscosity / (density * diameter);
        let force = speed * resistance(speed, density, viscosity, diameter, PI);
        let coefficient = force / (0.5 * density * speed * speed * PI * diameter * diameter / 4.0);
        // Stated accuracy of Schiller and Naumann's curve.
        assert!((coefficient / expected - 1.0).abs() < 0.07, "{number}: {coefficient} {expected}");
    }
    // Without viscosity, Newton's drag.
    assert!((resistance(2.0, density, 0.0, diameter, PI) / resistance(1.0, density, 0.0, diameter, PI) - 2.0).abs() < 1e-12);
}

/// \[Di Felice 1994\], with an exponential, a logarithm and a power. One more power of the voids accounts for buoyancy by the fluid alone.
#[test]
fn a_crowd_hinders_as_was_published() {
    for solid_fraction in [0.0, 0.02, 0.1, 0.3, 0.5, 0.6] {
        for k in -30..40 {
            let number = 10f64.powf(0.1 * f64::from(k));
            let exponent = 3.7 - 0.65 * (-0.5 * (1.5 - number.log10()).powi(2)).exp();
            let expected = (1.0f64 - solid_fraction).powf(-exponent - 1.0);
            let found = hindrance(solid_fraction, number);
            assert!(
                (found / expected - 1.0).abs() < 0.013,
                "{solid_fraction} {number}: {found} {expected}"
            );
        }
    }
    // Limited to the value of a random close packing.
    assert_eq!(hindrance(0.7, 1.0), hindrance(2.0, 1.0));
}

const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;

/// Vertical force of water at rest on a grain without its own disturbance \[N\].
fn still(coupling: &Coupling<f64>, grain: &Grain<f64>) -> f64 {
    let bath = LocalFluid {
        velocity: Vector3::zero(),
        push: Vector3 {
            x: 0.0,
            y: 0.0,
            z: DENSITY * GRAVITY,
        },
        density: DENSITY,
        viscosity: 1.0,
        thickness: 1e12,
        wetness: 1.0,
        solid_fraction: 0.0,
        own: 0.0,
    };
    grain_force(grain, &bath, coupling).force.z
}

/// Velocities of a grain released from rest, by leap-frog. Laws read velocities extrapolated by half a step.
fn fall(dt: f64, steps: usize) -> Vec<f64> {
    let (diameter, density) = (1e-4f64, 2500.0);
    let volume = PI / 6.0 * diameter.powi(3);
    let mass = density * volume;
    let coupling = coupling(Smoothing::Wendland, 1.0, dt);
    let (mut half, mut acceleration, mut before) = (0.0, 0.0, 0.0);
    let mut velocities = Vec::new();
    for step in 0..steps {
        let velocity: f64 = half + 0.5 * dt * acceleration;
        let along = |z: f64| Vector3 { x: 0.0, y: 0.0, z };
        let grain = Grain {
            velocity: along(velocity),
            volume,
            mass,
            before: along(before),
        };
        before = still(&coupling, &grain);
        acceleration = before / mass - GRAVITY;
        // The first step starts half a step back.
        half += acceleration * if step == 0 { 0.5 * dt } else { dt };
        velocities.push(velocity);
    }
    velocities
}

/// Relaxation time m/(3π μ d) and Stokes velocity of that grain.
const RELAXATION: f64 = 2500.0 * 1e-8 / 18.0;
const STOKES: f64 = 1500.0 * GRAVITY * 1e-8 / 18.0;

#[test]
fn a_grain_sinks_as_stokes_says_whatever_the_step() {
    for over_relaxation in [0.1, 1.0, 30.0, 1e5] {
        let velocities = fall(over_relaxation * RELAXATION, 400);
        let last = velocities[velocities.len() - 1];
        // Re is 10⁻⁶, where Schiller and Naumann add 10⁻⁵.
        assert!((last / -STOKES - 1.0).abs() < 1e-4, "{over_relaxation}: {last} {STOKES}");
        let fastest = velocities.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        // It falls freely in its first steps.
        let free = 2.0 * GRAVITY * over_relaxation * RELAXATION;
        assert!(fastest < STOKES * 1.2 + free, "{over_relaxation}: {fastest}");
    }
}

#[test]
fn a_grain_gets_there_as_an_exponential_does_to_second_order() {
    let missed = |over_relaxation: f64| {
        let steps = (2.0 / over_relaxation).round() as usize;
        let velocities = fall(over_relaxation * RELAXATION, steps + 1);
        let expected = STOKES * (1.0 - f64::exp(-2.0));
        (velocities[steps] / -expected - 1.0).abs()
    };
    let (coarse, fine) = (missed(0.05), missed(0.025));
    assert!(coarse < 5e-3, "{coarse}");
    // A quarter, with a margin for Re and for higher orders.
    assert!(fine < coarse / 3.0, "{coarse} {fine}");
}
