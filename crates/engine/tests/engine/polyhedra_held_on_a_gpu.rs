//! Polyhedral grains with prescribed motion on a GPU: against closed forms, and against the CPU.

use crate::corners::{UPRIGHT, put, world};
use crate::devices::{apart, on_cpu, on_gpu};
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough};
use crate::polyhedra_held::{assert_turns_with_its_body, prescribe, swarm_with_changes};
use crate::polyhedra_on_a_gpu::{assert_resumes, with_step};
use seixo_engine::Simulation;
use seixo_engine::world::{Interaction, Precision, Settings, WallMotion, World};

/// Speed of the cube that moves up \[m/s\].
const SPEED: f64 = 0.25;

/// A cube that moves up, whatever forces act on it, and a free one above it.
fn pushed(interaction: Interaction) -> World {
    let mut world = world(vec![cube()], interaction);
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, -0.5005], [0.0; 3]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.5005], [0.0; 3]);
    let motion = WallMotion {
        velocity: [0.0, 0.0, SPEED],
        ..WallMotion::default()
    };
    prescribe(&mut world, 1, UPRIGHT, motion);
    world
}

#[test]
fn a_cube_that_moves_throws_another_at_twice_its_speed_on_a_gpu() {
    let settings = with_step(2e-4, on_gpu(Precision::F64));
    let mut simulation = Simulation::new(pushed(Interaction::default()), settings).expect("the world is sound");
    let mut has_touched = false;
    for _ in 0..200 {
        simulation.advance(25).expect("sound steps");
        simulation.observe().expect("a sound state");
        let touches = simulation.contacts() > 0;
        if has_touched && !touches {
            break;
        }
        has_touched |= touches;
    }
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    assert!(has_touched && simulation.contacts() == 0, "{seen:?}");
    assert!((seen.velocity[1][2] / (2.0 * SPEED) - 1.0).abs() < 1e-3, "{seen:?}");
    assert_eq!(seen.velocity[0], [0.0, 0.0, SPEED]);
    let way = SPEED * simulation.time();
    assert!((seen.position[0][2] + 0.5005 - way).abs() < 1e-9, "{seen:?}");
    assert!((ledger.wall_work / ledger.kinetic - 1.0).abs() < 1e-3, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-3 * ledger.kinetic, "{ledger:?}");
}

#[test]
fn grains_of_a_turning_body_turn_with_it_on_a_gpu() {
    assert_turns_with_its_body(on_gpu(Precision::F64), 1000);
}

#[test]
fn cubes_that_are_held_and_set_free_do_the_same_on_cpu_and_gpu() {
    let (world, changes) = swarm_with_changes();
    let mut start = Simulation::new(world.clone(), on_cpu()).expect("the world is sound");
    start.advance(3000).expect("sound steps");
    let state = start.save().expect("a sound state");
    let energy = start.ledger().kinetic + start.ledger().rotational;
    let played = |settings: Settings| {
        let mut simulation = Simulation::restore(world.clone(), settings, &state).expect("the state fits");
        for (_, changes) in &changes {
            simulation.advance(100).expect("sound steps");
            simulation.observe().expect("a sound state");
            let before = simulation.ledger().residual;
            simulation.change(changes).expect("a possible change");
            simulation.observe().expect("a sound state");
            let jump = simulation.ledger().residual - before;
            assert!(jump.abs() < 1e-9 * energy, "{jump} J after {changes:?}");
        }
        simulation.advance(100).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (cpu, gpu) = (played(on_cpu()), played(on_gpu(Precision::F64)));
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-6, "{found:e}");
    for (a, b) in cpu.polyhedra().iter().zip(gpu.polyhedra()) {
        let turn: f64 = (0..4).map(|k| (a.orientation[k] - b.orientation[k]).abs()).sum();
        assert!(a.id == b.id && turn < 1e-7, "{a:?} {b:?}");
    }
    let (expected, found) = (cpu.ledger(), gpu.ledger());
    assert!(expected.wall_work != 0.0, "{expected:?}");
    for (a, b) in expected.values().into_iter().zip(found.values()) {
        assert!((a - b).abs() < 1e-7 * energy, "{expected:?} {found:?}");
    }
}

#[test]
fn a_held_cube_that_is_resumed_on_a_gpu_keeps_its_bits() {
    let settings = with_step(2e-4, on_gpu(Precision::Mixed));
    let mut start = Simulation::new(pushed(rough()), settings.clone()).expect("the world is sound");
    start.advance(100).expect("sound steps");
    assert_resumes(&pushed(rough()), &settings, &mut start, 50);
}
