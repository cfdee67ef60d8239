//! Polyhedral grains on joints to space: tests against physics.

use crate::corners::{UPRIGHT, about, block, capsule, put, through_a_collision, turned, world};
use crate::devices::{on_threads, started};
use crate::joints::gauss_mean;
use crate::polyhedra::rough;
use crate::polyhedra_at_meshes::with_step;
use crate::resumed::assert_same_when_resumed;
use crate::vectors::{distance, vector};
use seixo_engine::Simulation;
use seixo_engine::world::{Interaction, Joint, Settings, Vec3, World};
use seixo_laws::Quaternion;
use std::f64::consts::PI;

const G: f64 = 9.81;

/// Puts the first grain on a joint.
fn tie(world: &mut World, joint: Joint) {
    world.grains.put_on_joint(0, &world.shapes[0], joint);
}

/// A world with gravity and a box of three different edges, with its center and orientation.
fn hung_box(center: Vec3, orientation: [f64; 4]) -> World {
    let mut world = world(vec![block("box", [0.6, 0.4, 0.25], 0.05)], Interaction::default());
    world.gravity = [0.0, 0.0, -G];
    turned(&mut world, 0, 0.1, center, orientation, [0.0; 3]);
    world
}

#[test]
fn a_box_on_a_hinge_swings_with_the_period_of_a_compound_pendulum() {
    // Once about a principal axis, and once about another one.
    for (orientation, angle) in [(about([0.0, 1.0, 0.0], 0.7), 0.3f64), (about([0.6, 0.0, 0.8], 1.1), 1.2)] {
        let (arm, dt) = (0.05, 2e-4);
        let mut world = hung_box([arm * angle.sin(), 0.0, -arm * angle.cos()], orientation);
        tie(
            &mut world,
            Joint::Hinge {
                through: [0.0, 0.4, 0.0],
                axis: [0.0, 3.0, 0.0],
            },
        );
        let (mass, [a, b, c]) = (world.grains.bodies[0].mass, world.grains.bodies[0].moments);
        let [w, x, y, z] = orientation;
        let axis = Quaternion { w, x, y, z }.back().to_space(&vector([0.0, 1.0, 0.0]));
        let own = a * axis.x * axis.x + b * axis.y * axis.y + c * axis.z * axis.z;
        // T₀ = 2π √(I/(m g d)) for small amplitudes, and T = T₀/M(1, cos ½θ₀) with Gauss's mean M.
        let small = 2.0 * PI * ((own + mass * arm * arm) / (mass * G * arm)).sqrt();
        let period = small / gauss_mean(1.0, (0.5 * angle).cos());
        let mut simulation = with_step(world, dt);
        let (mut passed, mut before) = (Vec::new(), arm * angle.sin());
        while passed.len() < 2 {
            simulation.step().expect("a sound step");
            assert!(simulation.time() < 3.0 * period, "it does not swing");
            let (body, seen, ledger) = (simulation.bodies()[0], simulation.polyhedra()[0], simulation.ledger());
            let [x, y, z] = body.center;
            assert!((x.hypot(z) - arm).abs() < 1e-14 && y.abs() < 1e-14, "{body:?}");
            assert_eq!((seen.center, seen.velocity), (body.center, body.velocity));
            let same: f64 = (0..4).map(|k| seen.orientation[k] * body.orientation[k]).sum();
            assert!((same.abs() - 1.0).abs() < 1e-13, "{seen:?} {body:?}");
            assert!(ledger.residual.abs() < 1e-5 * mass * G * arm, "{ledger:?}");
            if before > 0.0 && x <= 0.0 && z < 0.0 {
                passed.push(simulation.time() - dt * x / (x - before));
            }
            before = x;
        }
        let found = passed[1] - passed[0];
        // Leap-frog oscillates faster by a relative (ω₀Δt)²/24, some 2·10⁻⁷ here.
        assert!((found / period - 1.0).abs() < 1e-6, "{angle}: {found} s of {period} s");
        assert!((passed[0] / (0.25 * period) - 1.0).abs() < 1e-6, "{angle}: {passed:?}");
    }
}

#[test]
fn a_box_on_an_axle_spins_freely() {
    let (center, rate) = ([0.1, -0.2, 0.3], 5.0);
    let axis = vector([1.0, 2.0, 2.0]).times(1.0 / 3.0);
    let mut world = hung_box(center, about([0.6, 0.0, 0.8], 1.1));
    let spin = axis.times(rate);
    world.grains.angular_velocity[0] = [spin.x, spin.y, spin.z];
    tie(
        &mut world,
        Joint::Hinge {
            through: center,
            axis: [1.0, 2.0, 2.0],
        },
    );
    let mut simulation = with_step(world, 2e-4);
    let (start, energy) = (simulation.bodies()[0], simulation.ledger().rotational);
    let about_axle = |simulation: &Simulation| vector(simulation.bodies()[0].angular_momentum).dot(&axis);
    let before = about_axle(&simulation);
    simulation.advance(4000).expect("sound steps");
    let (end, ledger) = (simulation.bodies()[0], simulation.ledger());
    assert!(distance(end.center, center) < 1e-15, "{end:?}");
    assert!(vector(end.angular_velocity).minus(&spin).length() < 1e-11 * rate, "{end:?}");
    assert!((about_axle(&simulation) / before - 1.0).abs() < 1e-11 && before > 0.0, "{before}");
    assert!(
        (ledger.rotational / energy - 1.0).abs() < 1e-10 && ledger.kinetic < 1e-20,
        "{ledger:?}"
    );
    // It turned about the axle by the angle of this rate.
    let (sine, cosine) = (0.5 * rate * simulation.time()).sin_cos();
    let turn = Quaternion {
        w: cosine,
        x: sine * axis.x,
        y: sine * axis.y,
        z: sine * axis.z,
    };
    let [w, x, y, z] = start.orientation;
    let expected = turn.after(&Quaternion { w, x, y, z });
    let [w, x, y, z] = end.orientation;
    let same = (w * expected.w + x * expected.x + y * expected.y + z * expected.z).abs();
    // The half angle between two orientations is about √(2 (1 − same)).
    assert!((same - 1.0).abs() < 1e-11, "{end:?} {expected:?}");
}

#[test]
fn a_box_on_a_ball_joint_at_its_center_keeps_its_angular_momentum() {
    let center = [0.1, -0.2, 0.3];
    let mut world = hung_box(center, about([0.6, 0.0, 0.8], 1.1));
    world.grains.angular_velocity[0] = [3.0, -2.0, 4.0];
    tie(&mut world, Joint::Ball { through: center });
    let mut simulation = with_step(world, 2e-4);
    let (before, energy) = (vector(simulation.bodies()[0].angular_momentum), simulation.ledger().rotational);
    for _ in 0..20 {
        simulation.advance(200).expect("sound steps");
        let (body, ledger) = (simulation.bodies()[0], simulation.ledger());
        let change = vector(body.angular_momentum).minus(&before).length();
        assert!(change < 1e-11 * before.length(), "{body:?} {before:?}");
        // The energy of a symplectic scheme oscillates by (ω Δt)², and does not drift.
        assert!((ledger.rotational / energy - 1.0).abs() < 1e-5, "{ledger:?} {energy}");
        assert!(distance(body.center, center) < 1e-15, "{body:?}");
    }
    let turns = vector(simulation.bodies()[0].angular_velocity).minus(&vector([3.0, -2.0, 4.0]));
    assert!(turns.length() > 0.1, "a box of three edges does not spin steadily: {turns:?}");
}

#[test]
fn a_ball_that_hits_a_hinged_rod_gives_it_its_angular_momentum() {
    let (half, rounding) = (0.9, 0.1);
    let mut world = world(vec![capsule("rod", half, rounding)], Interaction::default());
    put(&mut world, 0, half + rounding, [0.0; 3], [0.0; 3]);
    let (end, beside, speed) = (-0.5, 0.5, 0.01);
    tie(
        &mut world,
        Joint::Hinge {
            through: [end, 0.0, 0.0],
            axis: [0.0, 1.0, 0.0],
        },
    );
    let (mass, [_, across, _]) = (world.grains.bodies[0].mass, world.grains.bodies[0].moments);
    let moment = across + mass * end * end;
    world.grains.push(1, [beside, 0.0, 0.2005], [0.0, 0.0, -speed], [0.0; 3], 0.1, 0, 0);
    let mut simulation = started(world);
    let about_hinge = |simulation: &Simulation| {
        let momentum = simulation.momentum();
        momentum.angular[1] + end * momentum.linear[2]
    };
    let (before, energy) = (about_hinge(&simulation), simulation.ledger().kinetic);
    through_a_collision(&mut simulation);
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    assert!((about_hinge(&simulation) / before - 1.0).abs() < 1e-10, "{before}");
    assert!(
        ((ledger.kinetic + ledger.rotational) / energy - 1.0).abs() < 2e-3,
        "{ledger:?} {energy}"
    );
    // Nothing is lost, and the point that is hit moves as if it had the mass I/a².
    let (ball, arm) = (seen.mass[1], beside - end);
    let impulse = 2.0 * speed / (1.0 / ball + arm * arm / moment);
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 2e-3;
    assert!(near(seen.angular_velocity[0][1], arm * impulse / moment), "{seen:?}");
    assert!(near(seen.velocity[1][2] + speed, impulse / ball), "{seen:?}");
    assert!(seen.angular_velocity[0][0] == 0.0 && seen.angular_velocity[0][2] == 0.0, "{seen:?}");
}

#[test]
fn a_run_with_a_hinged_box_that_is_hit_resumes_with_the_same_bits() {
    let mut world = hung_box([0.0; 3], UPRIGHT);
    (world.gravity, world.materials[0].youngs_modulus) = ([0.0; 3], 1e9);
    world.interactions[0] = Some(rough());
    tie(
        &mut world,
        Joint::Hinge {
            through: [0.05, 0.0, 0.0],
            axis: [0.0, 1.0, 0.2],
        },
    );
    // Half a height of each, and a gap that closes in a millisecond.
    let height = 1.5 * 0.3 / (0.6f64.hypot(0.4).hypot(0.25) + 0.05) * 0.1;
    put(&mut world, 0, 0.05, [-0.03, 0.01, height + 1e-4], [0.0, 0.0, -0.1]);
    let settings = Settings {
        time_step: Some(1e-5),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world.clone(), settings.clone()).expect("the world is sound");
    simulation.advance(400).expect("sound steps");
    assert!(simulation.ledger().normal_damping > 0.0, "they have touched");
    assert_same_when_resumed(&world, &settings, [200, 200]);
}

#[test]
fn a_velocity_that_the_joint_does_not_permit_is_refused() {
    let mut world = hung_box([0.0; 3], about([0.0, 1.0, 0.0], 0.7));
    world.grains.angular_velocity[0] = [1.0, 0.0, 0.0];
    tie(
        &mut world,
        Joint::Hinge {
            through: [0.0; 3],
            axis: [0.0, 1.0, 0.0],
        },
    );
    let refused = Simulation::new(world, on_threads(1)).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("its hinge lets through"), "{refused}");
}
