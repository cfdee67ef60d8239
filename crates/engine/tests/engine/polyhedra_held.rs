//! Polyhedral grains with prescribed motion: from the start, and from a change on.

use crate::corners::{about, block, put, through_a_collision, turned, world};
use crate::devices::{on_threads, started};
use crate::floors::floor;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough, swarm};
use crate::resumed::assert_same_when_resumed_after;
use crate::switched::hold;
use seixo_engine::world::{Body, Interaction, Scheme, Settings, Vec3, WallMotion, WallShape, World};
use seixo_engine::{Simulation, SurroundingsChange, plan_time_step};

/// Prescribes the motion of the first `count` grains, as a body with its center at the origin and this orientation.
pub fn prescribe(world: &mut World, count: usize, orientation: [f64; 4], motion: WallMotion) {
    let mut body = Body {
        id: 0,
        mass: 1.0,
        moments: [1.0; 3],
        center: [0.0; 3],
        orientation,
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        motion: Some(motion),
        joint: None,
        carries: Vec::new(),
    };
    let [w, x, y, z] = orientation;
    let back = Body {
        orientation: [w, -x, -y, -z],
        ..body.clone()
    };
    body.carries = (0..count)
        .map(|k| (world.grains.id[k], back.place(world.grains.position[k])))
        .collect();
    world.grains.bodies.push(body);
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The rotation by `first`, then by `second`.
fn after(second: [f64; 4], first: [f64; 4]) -> [f64; 4] {
    let ([a, b, c, d], [w, x, y, z]) = (second, first);
    [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
}

#[test]
fn a_cube_that_falls_on_a_fixed_one_comes_to_rest_on_it() {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.0; 3], [0.0; 3]);
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.01, 0.005, 0.1001], [0.0; 3]);
    prescribe(&mut world, 1, about([0.0, 0.6, 0.8], 0.7), WallMotion::default());
    let mut simulation = started(world);
    let before = simulation.polyhedra();
    let steps = 0.3 / simulation.time_step().value;
    simulation.advance(steps as u64).expect("sound steps");
    let (now, ledger) = (simulation.polyhedra(), simulation.ledger());
    assert_eq!(now[0], before[0]);
    assert!(apart(&before[0].orientation, &[1.0, 0.0, 0.0, 0.0]) < 1e-12, "{before:?}");
    assert!((now[1].center[2] - 0.1).abs() < 5e-4 && simulation.contacts() == 1, "{now:?}");
    assert!(apart(&now[1].velocity, &[0.0; 3]) < 1e-3, "{now:?}");
    assert!(ledger.residual.abs() < 5e-2 * ledger.normal_damping, "{ledger:?}");
    assert_eq!(ledger.wall_work, 0.0);
}

#[test]
fn grains_of_a_turning_body_go_around_its_axis_and_turn_with_it() {
    assert_turns_with_its_body(on_threads(1), 4000);
}

/// Asserts the places, orientations and angular velocities of two boxes on a body that turns, after this many steps.
#[track_caller]
pub fn assert_turns_with_its_body(settings: Settings, steps: u64) {
    let mut world = world(vec![block("box", [0.6, 0.4, 0.25], 0.05)], Interaction::default());
    let orientations = [about([0.6, 0.8, 0.0], 0.4), about([0.0, 0.6, 0.8], 2.0)];
    let centers: [Vec3; 2] = [[0.3, 0.0, 0.1], [-0.2, 0.5, 0.0]];
    for (center, orientation) in centers.into_iter().zip(orientations) {
        turned(&mut world, 0, 0.1, center, orientation, [0.0; 3]);
    }
    // A third grain makes the world move.
    put(&mut world, 0, 0.1, [5.0, 0.0, 0.0], [0.0; 3]);
    let rate = 3.0;
    let motion = WallMotion {
        angular_velocity: [0.0, 0.0, rate],
        through: [0.1, 0.0, 0.0],
        ..WallMotion::default()
    };
    prescribe(&mut world, 2, about([0.0, 0.0, 1.0], 0.3), motion);
    let settings = Settings {
        time_step: Some(5e-5),
        ..settings
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    simulation.advance(steps).expect("sound steps");
    simulation.observe().expect("a sound state");
    let angle = rate * simulation.time();
    let (sine, cosine) = angle.sin_cos();
    let (seen, spins) = (simulation.polyhedra(), simulation.snapshot().angular_velocity);
    for (k, [x, y, z]) in centers.into_iter().enumerate() {
        let expected = [0.1 + (x - 0.1) * cosine - y * sine, (x - 0.1) * sine + y * cosine, z];
        assert!(apart(&seen[k].center, &expected) < 1e-9, "{seen:?} {expected:?}");
        let orientation = after(about([0.0, 0.0, 1.0], angle), orientations[k]);
        assert!(apart(&seen[k].orientation, &orientation) < 1e-9, "{seen:?} {orientation:?}");
        assert!(apart(&spins[k], &[0.0, 0.0, rate]) < 1e-12, "{spins:?}");
    }
}

#[test]
fn a_cube_that_moves_throws_a_ball_at_twice_its_speed() {
    let speed = 0.05;
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.0; 3], [0.0; 3]);
    world.grains.push(1, [0.070_01, 0.0, 0.0], [0.0; 3], [0.0; 3], 0.02, 0, 0);
    let motion = WallMotion {
        velocity: [speed, 0.0, 0.0],
        ..WallMotion::default()
    };
    prescribe(&mut world, 1, [1.0, 0.0, 0.0, 0.0], motion);
    let usual = plan_time_step(&world, Scheme::default()).expect("the world is sound").value;
    let settings = Settings {
        time_step: Some(usual / 16.0),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    through_a_collision(&mut simulation);
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    assert!((seen.velocity[1][0] / (2.0 * speed) - 1.0).abs() < 1e-3, "{seen:?}");
    assert!((ledger.wall_work / ledger.kinetic - 1.0).abs() < 1e-3, "{ledger:?}");
    assert_eq!(seen.velocity[0], [speed, 0.0, 0.0]);
    assert!(simulation.bodies()[0].mass == 1.0 && seen.mass[0] == 1.0, "{:?}", seen.mass);
}

#[test]
fn a_box_that_is_held_and_set_free_keeps_its_orientation_and_turns_on() {
    let mut world = world(vec![block("box", [0.6, 0.4, 0.25], 0.05)], Interaction::default());
    let grain = put(&mut world, 0, 0.1, [0.0; 3], [0.0; 3]);
    put(&mut world, 0, 0.1, [1.0, 0.0, 0.0], [0.0; 3]);
    world.grains.angular_velocity[0] = [2.0, 7.0, 1.0];
    world.groups.push("others".into());
    world.grains.group[1] = 1;
    world.later.constrained_groups = vec![0];
    let settings = Settings {
        time_step: Some(5e-5),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    simulation.advance(2000).expect("sound steps");
    let turned = simulation.polyhedra()[0].orientation;
    assert!(turned[0] < 0.99, "{turned:?}");
    simulation.change(&[hold(0, [0.0; 3])]).expect("a possible change");
    assert_eq!(simulation.polyhedra()[0].orientation, turned);
    simulation.advance(500).expect("sound steps");
    let held = simulation.polyhedra()[0];
    assert!(apart(&held.orientation, &turned) < 1e-14 && held.velocity == [0.0; 3], "{held:?}");
    assert_eq!(simulation.ledger().rotational, 0.0);
    let rate = 4.0;
    let turning = Box::new(WallMotion {
        angular_velocity: [0.0, 0.0, rate],
        ..WallMotion::default()
    });
    let changes = [SurroundingsChange::Hold { group: 0, motion: turning }];
    simulation.change(&changes).expect("a possible change");
    simulation.advance(2000).expect("sound steps");
    simulation
        .change(&[SurroundingsChange::Free { group: 0 }])
        .expect("a possible change");
    let (free, momentum) = (simulation.snapshot(), simulation.momentum().angular);
    assert!((free.mass[0] / grain.mass - 1.0).abs() < 1e-12 && simulation.bodies().is_empty());
    assert!(
        apart(&free.angular_velocity[0], &[0.0, 0.0, rate]) < 1e-9,
        "{:?}",
        free.angular_velocity
    );
    let expected = after(about([0.0, 0.0, 1.0], 0.1 * rate), turned);
    assert!(apart(&simulation.polyhedra()[0].orientation, &expected) < 1e-9);
    simulation.advance(2000).expect("sound steps");
    let later = simulation.momentum().angular;
    assert!(
        apart(&momentum, &later) < 1e-9 * apart(&momentum, &[0.0; 3]),
        "{momentum:?} {later:?}"
    );
}

/// The swarm over a floor, and changes by which a fifth of it is held, moved and set free.
pub fn swarm_with_changes() -> (World, Vec<(u64, Vec<SurroundingsChange>)>) {
    let mut world = swarm();
    world.groups.push("held".into());
    for (k, group) in world.grains.group.iter_mut().enumerate() {
        *group = u32::from(k % 5 == 0);
    }
    world.walls.push(floor());
    world.walls[0].shape = WallShape::Plane {
        point: [0.0, 0.0, -0.14],
        normal: [0.0, 0.0, 1.0],
    };
    world.gravity = [0.0, 0.0, -2.0];
    world.later.constrained_groups = vec![1];
    let turning = Box::new(WallMotion {
        angular_velocity: [0.0, 0.0, 0.5],
        velocity: [0.0, 0.0, 0.02],
        ..WallMotion::default()
    });
    let changes = vec![
        (1500, vec![hold(1, [0.0; 3])]),
        (2000, vec![SurroundingsChange::Hold { group: 1, motion: turning }]),
        (3200, vec![SurroundingsChange::Free { group: 1 }]),
    ];
    (world, changes)
}

#[test]
fn a_run_with_held_cubes_resumes_with_the_same_bits() {
    let (world, changes) = swarm_with_changes();
    for (count, before) in [(1, 1800), (2, 2600), (3, 3600)] {
        assert_same_when_resumed_after(&world, &on_threads(1), &changes[..count], [before, 400]);
    }
}

#[test]
fn the_ledger_closes_when_cubes_are_held_and_set_free() {
    let (world, changes) = swarm_with_changes();
    let mut simulation = started(world);
    let first = simulation.ledger();
    let energy = first.kinetic + first.rotational;
    for (step, changes) in &changes {
        simulation.advance(step - simulation.steps()).expect("sound steps");
        let before = simulation.ledger().residual;
        simulation.change(changes).expect("a possible change");
        let jump = simulation.ledger().residual - before;
        assert!(jump.abs() < 1e-9 * energy, "{jump} J at step {step}");
    }
    simulation.advance(1000).expect("sound steps");
    let ledger = simulation.ledger();
    assert!(ledger.wall_work != 0.0, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-2 * energy, "{ledger:?}");
}
