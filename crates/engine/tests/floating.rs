//! Rigid bodies in fluids: what Archimedes and Newton would look at.

mod blocks;
mod pools;

use blocks::{Block, DENSITY, SPACING, hinged, momentum, pool, pushed};
use pools::G;
use seixo_engine::Simulation;
use seixo_engine::world::{Settings, Vec3, World};

fn started(world: World) -> Simulation {
    let settings = Settings {
        threads: 2,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// Mean force of the fluid on body 0 over some steps \[N\].
fn mean_force(simulation: &mut Simulation, steps: u64) -> Vec3 {
    let mut sum = [0.0; 3];
    for _ in 0..steps {
        simulation.step().unwrap();
        let [force, _] = simulation.loads_of_fluids_on_bodies()[0];
        sum = [0, 1, 2].map(|k| sum[k] + force[k] / steps as f64);
    }
    sum
}

#[test]
fn a_block_that_is_held_under_water_is_lifted_by_the_weight_of_its_volume() {
    for floor in [2, 5] {
        let mut world = pool(SPACING, [10, 10, 18], 13);
        let block = Block {
            low: [3, 3, floor],
            cells: [4; 3],
            density_ratio: 3.0,
        };
        block.put(&mut world, [0.0; 3], true);
        let mut simulation = started(world);
        let steps = (0.15 / simulation.time_step().value) as u64;
        simulation.advance(steps).unwrap();
        let force = mean_force(&mut simulation, 2 * steps);
        let lift = DENSITY * G * block.volume(SPACING);
        assert!((force[2] / lift - 1.0).abs() < 0.02, "{} of {lift} N", force[2]);
        assert!(force[0].hypot(force[1]) < 0.02 * lift, "{force:?}");
    }
}

#[test]
fn a_block_as_dense_as_water_neither_rises_nor_sinks() {
    let mut world = pool(SPACING, [10, 10, 18], 13);
    let block = Block {
        low: [3, 3, 5],
        cells: [4; 3],
        density_ratio: 1.0,
    };
    block.put(&mut world, [0.0; 3], false);
    let mut simulation = started(world);
    let before = simulation.bodies()[0].center[2];
    let steps = (0.4 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    // What a fiftieth of its weight would do, with half of its volume of water coming along.
    let time = simulation.time();
    let off = 0.5 * 0.02 * G / 1.5 * time * time;
    let moved = simulation.bodies()[0].center[2] - before;
    assert!(moved.abs() < off, "{moved} m of {off} m");
}

#[test]
fn a_raft_half_as_dense_as_water_sinks_in_by_half() {
    let (spacing, depth) = (SPACING, 8);
    let mut world = pool(spacing, [14, 14, 14], depth);
    // Wide enough to lie flat: stable above √1.5 times its height.
    let block = Block {
        low: [3, 3, depth - 1],
        cells: [8, 8, 4],
        density_ratio: 0.5,
    };
    block.put(&mut world, [0.0; 3], false);
    let mut simulation = started(world);
    let start = simulation.ledger();
    let steps = (1.2 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let raft = simulation.bodies()[0];
    // The level, from the volume that water and raft displace together.
    let water = (14 * 14 * depth - 8 * 8) as f64 * spacing.powi(3);
    let displaced = 0.5 * block.volume(spacing);
    let level = (water + displaced) / (14.0 * spacing).powi(2);
    let draft = level - (raft.center[2] - 2.0 * spacing);
    assert!((draft - 2.0 * spacing).abs() < spacing, "{draft} m of {} m", 2.0 * spacing);
    let tilt = 1.0 - raft.orientation[0].abs();
    assert!(tilt < 0.01, "{:?}", raft.orientation);
    let ledger = simulation.ledger();
    let moved = ledger.viscosity + (ledger.gravity - start.gravity).abs();
    assert!(ledger.residual.abs() < 0.02 * moved, "{ledger:?}");
}

#[test]
fn what_a_body_loses_of_momentum_water_gains_and_of_energy_what_is_not_heat() {
    let mut simulation = started(pushed());
    let (before, start) = (momentum(&simulation), simulation.ledger());
    let given = simulation.bodies()[0].velocity;
    simulation.advance(400).unwrap();
    let (after, now) = (momentum(&simulation), simulation.ledger());
    let size = simulation.bodies()[0].mass;
    for k in 0..3 {
        assert!((after[k] - before[k]).abs() < 1e-11 * size, "{before:?} {after:?}");
    }
    let kept = simulation.bodies()[0].velocity;
    assert!(kept[0] < 0.9 * given[0], "water held nothing: {kept:?}");
    // Of second order in the time step.
    assert!((now.residual - start.residual).abs() < 2e-3 * start.kinetic, "{now:?}");
}

#[test]
fn water_turns_a_block_on_a_hinge_by_its_torque_about_that() {
    let mut simulation = started(hinged());
    let (start, energy, dt) = (simulation.bodies()[0], simulation.ledger(), simulation.time_step().value);
    let pivot = [start.center[0] - 0.04, start.center[1]];
    let torque = |simulation: &Simulation| {
        let [force, torque] = simulation.loads_of_fluids_on_bodies()[0];
        let center = simulation.bodies()[0].center;
        torque[2] + (center[0] - pivot[0]) * force[1] - (center[1] - pivot[1]) * force[0]
    };
    let (mut given, mut before) = (0.0, torque(&simulation));
    for _ in 0..200 {
        simulation.step().unwrap();
        let now = torque(&simulation);
        given += 0.5 * dt * (before + now);
        before = now;
    }
    let body = simulation.bodies()[0];
    let moment = body.moments[2] + body.mass * 0.04 * 0.04;
    let gained = moment * (body.angular_velocity[2] - start.angular_velocity[2]);
    // All forces of the step are there, so this is what leap-frog does.
    assert!((gained / given - 1.0).abs() < 1e-9, "{gained} of {given} N m s");
    assert!(gained < -0.01 * moment * start.angular_velocity[2], "water held nothing: {body:?}");
    let [x, y, z] = [0, 1, 2].map(|k| body.center[k] - [pivot[0], pivot[1], start.center[2]][k]);
    assert!((x.hypot(y) - 0.04).abs() < 1e-15 && z == 0.0, "{body:?}");
    let now = simulation.ledger();
    assert!(
        (now.residual - energy.residual).abs() < 5e-3 * (energy.kinetic + energy.rotational),
        "{now:?}"
    );
}

#[test]
fn going_on_from_a_checkpoint_and_more_threads_change_no_bit() {
    let whole = |threads: usize| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(pushed(), settings).unwrap();
        simulation.advance(150).unwrap();
        simulation
    };
    let (mut one, two) = (whole(1), whole(2));
    assert_eq!(one.bodies(), two.bodies());
    let state = one.save().unwrap();
    one.advance(100).unwrap();
    let mut again = Simulation::restore(pushed(), Settings::default(), &state).unwrap();
    again.advance(100).unwrap();
    assert_eq!(one.bodies(), again.bodies());
    assert_eq!(one.fluid(), again.fluid());
    assert_eq!(one.loads_of_fluids_on_bodies(), again.loads_of_fluids_on_bodies());
}
