//! Springs and dampers between fluid particles and spheres: springs are conservative, dampers only dissipate, and neither attracts. A particle
//! rebounds with the given restitution, and steps are stable up to the stated time step.

use proptest::prelude::*;
use seixo_laws::Vector3;
use seixo_laws::fluid::spring::{damping, energy, longest_braked_step, longest_step, overlap, spring_and_damper};

type V = Vector3<f64>;

fn vector([x, y, z]: [f64; 3]) -> V {
    V { x, y, z }
}

/// Sum of the radii of a sphere and a particle \[m\].
const REACH: f64 = 0.03;
/// Stiffness of a spring \[N/m\].
const STIFFNESS: f64 = 500.0;
/// Mass of a particle \[kg\].
const MASS: f64 = 0.008;
/// Negligible softening \[m²\].
const SOFTENING: f64 = 1e-18;

/// The force on a particle that is `apart` from a sphere \[N\], and the power dissipated by its damper \[W\].
fn pressed(apart: &V, moving: &V, damping: f64) -> (V, f64) {
    let depth = overlap(apart.dot(apart), REACH);
    let found = spring_and_damper(apart, moving, depth, STIFFNESS, damping, SOFTENING);
    (found.force, found.taken)
}

fn small(size: f64) -> impl Strategy<Value = V> {
    prop::array::uniform3(-size..size).prop_map(vector)
}

proptest! {
    #[test]
    fn dampers_take_and_nothing_pulls(apart in small(0.03), moving in small(2.0), damping in 0.0..3.0f64) {
        let (force, taken) = pressed(&apart, &moving, damping);
        // To the rounding of sums of spring and damper forces.
        let slack = 1e-14 * (STIFFNESS * REACH + damping * moving.length());
        prop_assert!(taken >= -slack * moving.length(), "{taken}");
        prop_assert!(force.dot(&apart) >= -slack * apart.length(), "{force:?}");
        if apart.length() >= REACH {
            prop_assert_eq!((force.length(), taken), (0.0, 0.0));
        }
    }

    #[test]
    fn what_meets_a_sphere_is_held_back_and_what_slides_along_it_is_slowed_down(direction in small(1.0), along in small(1.0), damping in 0.1..1.0f64) {
        prop_assume!(direction.length() > 0.1);
        let normal = direction.times(1.0 / direction.length());
        let apart = normal.times(0.9 * REACH);
        let (still, _) = pressed(&apart, &V::zero(), damping);
        let (met, _) = pressed(&apart, &normal.times(-0.1), damping);
        prop_assert!(met.dot(&normal) > still.dot(&normal));
        let sliding = along.minus(&normal.times(along.dot(&normal)));
        prop_assume!(sliding.length() > 0.1);
        let (slid, _) = pressed(&apart, &sliding, damping);
        prop_assert!(slid.dot(&sliding) < 0.0);
    }
}

#[test]
fn pressing_a_spring_costs_what_it_stores() {
    let steps = 1000;
    let step = 0.3 * REACH / f64::from(steps);
    let mut work = 0.0;
    for k in 0..steps {
        let middle = vector([0.0, 0.0, REACH - (f64::from(k) + 0.5) * step]);
        work += pressed(&middle, &V::zero(), 0.7).0.z * step;
    }
    let stored = energy(overlap((0.7 * REACH).powi(2), REACH), STIFFNESS);
    // The sum is exact for a linear force.
    assert!((work / stored - 1.0).abs() < 1e-9, "{work} {stored}");
}

#[test]
fn a_particle_leaves_with_the_share_of_its_speed_that_is_asked_for() {
    for restitution in [0.3, 0.7, 0.95] {
        let damping = damping(STIFFNESS, MASS, restitution);
        // A ten-thousandth of the time scale of a collision.
        let dt = 1e-4 * (MASS / STIFFNESS).sqrt();
        let (mut place, mut velocity) = (vector([0.0, 0.0, REACH]), vector([0.0, 0.0, -0.2]));
        let mut taken = 0.0;
        while place.z <= REACH {
            let (force, power) = pressed(&place, &velocity, damping);
            velocity = velocity.plus(&force.times(dt / MASS));
            place = place.plus(&velocity.times(dt));
            taken += power * dt;
        }
        let left = velocity.z / 0.2;
        assert!((left - restitution).abs() < 2e-3, "{left} of {restitution}");
        let lost = 0.5 * MASS * 0.04 * (1.0 - left * left);
        assert!((taken / lost - 1.0).abs() < 2e-3, "{taken} {lost}");
    }
}

#[test]
fn swings_grow_beyond_the_longest_step_and_not_below() {
    let damping = damping(STIFFNESS, MASS, 0.7);
    let grown = |share: f64, springs: f64| {
        let dt = share * longest_step(STIFFNESS, damping);
        // Held down by a weight, so that it stays in contact.
        let rest = 0.1 * REACH;
        let weight = springs * STIFFNESS * rest;
        let start = 1e-4 * rest;
        let (mut place, mut velocity) = (REACH - rest + start, 0.0);
        let mut most = 0.0f64;
        for step in 0..3000 {
            let (force, _) = pressed(&vector([0.0, 0.0, place]), &vector([0.0, 0.0, velocity]), damping);
            let rate = (springs * force.z - weight) / MASS;
            // Explicit Euler.
            place += velocity * dt;
            velocity += rate * dt;
            if step >= 2000 {
                most = most.max((place - (REACH - rest)).abs());
            }
        }
        most / start
    };
    for springs in [1.0, 4.0] {
        let (below, beyond) = (grown(0.8, springs), grown(1.2, springs));
        assert!(below < 0.5 && beyond > 2.0, "{springs}: {below} {beyond}");
    }
}

#[test]
fn dampers_turn_velocities_around_beyond_the_longest_step_and_not_below() {
    let (damping, mass, pairs) = (0.5, 0.1, 60.0);
    // A body in fluid at rest. Its velocity is stored at half steps and read half a step ahead, by the rate of the step before.
    let grown = |share: f64| {
        let dt = share * longest_braked_step(damping, [0.0, MASS], [pairs, mass]);
        let (mut velocity, mut rate) = (1.0f64, 0.0f64);
        for _ in 0..400 {
            rate = -pairs * damping * (velocity + 0.5 * dt * rate) / mass;
            velocity += rate * dt;
        }
        velocity.abs()
    };
    assert!(grown(0.9) < 1e-3 && grown(1.1) > 1e3, "{} {}", grown(0.9), grown(1.1));
    // A particle between many bodies at rest.
    let dampers = 6.0;
    let grown = |share: f64| {
        let dt = share * longest_braked_step(damping, [dampers, MASS], [0.0, mass]);
        (1.0 - dampers * damping * dt / MASS).powi(100).abs()
    };
    assert!(grown(0.9) < 1e-3 && grown(1.1) > 1e3, "{} {}", grown(0.9), grown(1.1));
}
