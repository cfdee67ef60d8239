//! Rigid bodies in fluids: tests of buoyancy and of momentum.

use crate::blocks::{Block, DENSITY, SPACING, hinged, momentum, pool, pushed, pushed_in_a_plane, thrown_out};
use crate::pools::G;
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::world::{Grains, Load, Settings, Sphere, Vec3, World};

fn started(world: World) -> Simulation {
    let settings = Settings {
        threads: 2,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// Mean fluid force over some steps on the single grain of body 0, as in frames and probes \[N\].
fn mean_force(simulation: &mut Simulation, steps: u64) -> Vec3 {
    let mut sum = [0.0; 3];
    for _ in 0..steps {
        simulation.step().unwrap();
        let force = simulation.snapshot().force[0];
        sum = [0, 1, 2].map(|k| sum[k] + force[k] / steps as f64);
    }
    sum
}

#[test]
fn a_block_that_is_held_under_water_is_lifted_by_the_weight_of_its_volume() {
    for floor in [2, 5] {
        let mut world = pool([10, 10, 18], 13, None);
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
fn grains_of_a_body_share_what_water_does_to_it_by_their_volumes() {
    let mut world = pushed();
    let body = world.grains.bodies[0].clone();
    let spheres = [([0.02, 0.0, 0.0], 0.01), ([-0.01, 0.015, 0.0], 0.02), ([0.0, 0.0, -0.02], 0.015)];
    world.grains = Grains::default();
    let spheres: Vec<Sphere> = (0..)
        .zip(spheres)
        .map(|(id, (offset, radius))| Sphere { id, offset, radius })
        .collect();
    world.grains.push_body(body, &spheres, 0, 0);
    let mut simulation = started(world);
    simulation.advance(50).unwrap();
    let ([force, torque], body, grains) = (
        simulation.loads_of_fluids_on_bodies()[0],
        simulation.bodies()[0],
        simulation.snapshot(),
    );
    let (mut pushed, mut twisted) = ([0.0; 3], [0.0; 3]);
    for i in 0..3 {
        let (push, arm) = (grains.force[i], [0, 1, 2].map(|k| grains.position[i][k] - body.center[k]));
        let moment = [0, 1, 2].map(|k| arm[(k + 1) % 3] * push[(k + 2) % 3] - arm[(k + 2) % 3] * push[(k + 1) % 3]);
        pushed = [0, 1, 2].map(|k| pushed[k] + push[k]);
        twisted = [0, 1, 2].map(|k| twisted[k] + moment[k] + grains.torque[i][k]);
        let share = grains.mass[i] / body.mass;
        assert!((push[0] / (share * force[0]) - 1.0).abs() < 1e-12, "{push:?} of {force:?}");
    }
    let size = |v: Vec3| v.iter().map(|x| x.abs()).sum::<f64>();
    let off = |a: Vec3, b: Vec3| size([0, 1, 2].map(|k| a[k] - b[k]));
    assert!(size(force) > 0.1 && size(torque) > 1e-5, "{force:?} {torque:?}");
    assert!(off(pushed, force) < 1e-12 * size(force), "{pushed:?} of {force:?}");
    assert!(
        off(twisted, torque) < 1e-12 * (size(torque) + 0.05 * size(force)),
        "{twisted:?} of {torque:?}"
    );
}

#[test]
fn a_block_as_dense_as_water_neither_rises_nor_sinks() {
    let mut world = pool([10, 10, 18], 13, None);
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
    // Displacement by a fiftieth of its weight, with half of its volume of water as added mass.
    let time = simulation.time();
    let off = 0.5 * 0.02 * G / 1.5 * time * time;
    let moved = simulation.bodies()[0].center[2] - before;
    assert!(moved.abs() < off, "{moved} m of {off} m");
}

#[test]
fn a_raft_half_as_dense_as_water_sinks_in_by_half() {
    let (spacing, depth) = (SPACING, 8);
    let mut world = pool([14, 14, 14], depth, None);
    // Wide enough to float flat: stable above √1.5 times its height.
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
    // The water level, from the volume of water and displaced water together.
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
    // Second order in the time step.
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
    // The forces of the whole step are known, so this equals the leap-frog step.
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

#[test]
fn going_on_from_a_checkpoint_keeps_the_particles_that_it_has() {
    let in_tank = || {
        let mut world = pool([14, 1, 18], 13, Some(1));
        let block = Block {
            low: [5, -1, 5],
            cells: [4, 2, 4],
            density_ratio: 0.5,
        };
        block.put(&mut world, [0.0; 3], false);
        world
    };
    let worlds: [&dyn Fn() -> World; 2] = [&in_tank, &pushed];
    for of_scene in worlds {
        let mut one = started(of_scene());
        one.advance(100).unwrap();
        let state = one.save().unwrap();
        // Another version might place other particles for the same walls and bodies.
        let mut world = of_scene();
        let fluids = world.fluids.as_mut().unwrap();
        fluids.boundary.position.pop();
        fluids.boundary.wall.pop();
        fluids.body_boundaries[0].offset.truncate(5);
        let mut again = Simulation::restore(world, Settings::default(), &state).unwrap();
        one.advance(100).unwrap();
        again.advance(100).unwrap();
        let (one, again) = (one.bodies()[0], again.bodies()[0]);
        for axis in 0..3 {
            let off = (one.center[axis] - again.center[axis]).abs();
            assert!(off < 1e-9, "{off} m");
        }
    }
}

#[test]
fn in_a_plane_a_block_is_lifted_by_the_weight_of_the_water_in_its_section() {
    let mut world = pool([14, 1, 18], 13, Some(1));
    let block = Block {
        low: [5, -1, 5],
        cells: [4, 2, 4],
        density_ratio: 3.0,
    };
    block.put(&mut world, [0.0; 3], true);
    let mut simulation = started(world);
    let steps = (0.15 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let force = mean_force(&mut simulation, 2 * steps);
    // One meter deep.
    let lift = DENSITY * G * (4.0 * SPACING).powi(2);
    assert!((force[2] / lift - 1.0).abs() < 0.02, "{} of {lift} N/m", force[2]);
    assert!(force[0].abs() < 0.02 * lift && force[1] == 0.0, "{force:?}");
}

#[test]
fn in_a_plane_a_raft_half_as_dense_as_water_sinks_in_by_half() {
    let depth = 8;
    let mut world = pool([14, 1, 14], depth, Some(1));
    let block = Block {
        low: [3, -1, depth - 1],
        cells: [8, 2, 4],
        density_ratio: 0.5,
    };
    block.put(&mut world, [0.0; 3], false);
    let mut simulation = started(world);
    let steps = (0.8 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    // It still oscillates a little.
    let (mut height, looks) = (0.0, steps / 2);
    for _ in 0..looks {
        simulation.step().unwrap();
        height += simulation.bodies()[0].center[2] / looks as f64;
    }
    // The water level, from the cells that water and raft fill together.
    let level = ((14 * depth - 8) as f64 + 0.5 * 32.0) / 14.0;
    let draft = level - (height / SPACING - 2.0);
    assert!((draft - 2.0).abs() < 0.5, "{draft} of 2 spacings");
    let raft = simulation.bodies()[0];
    assert!(1.0 - raft.orientation[0].abs() < 0.01, "{:?}", raft.orientation);
    // Exactly zero: the pressures would push a body off the plane if it deviated a little.
    assert_eq!([raft.center[1], raft.orientation[1], raft.orientation[3]], [0.0; 3]);
    assert!(simulation.fluid().unwrap().position.iter().all(|at| at[1] == 0.0));
}

#[test]
fn what_pulls_a_block_out_of_the_plane_of_a_flow_moves_no_water() {
    let after = |force: f64| {
        let mut world = pushed_in_a_plane();
        world.loads = vec![Load::constant(0, [0.0, force, 0.0], [0.0; 3])];
        let mut simulation = started(world);
        simulation.advance(150).unwrap();
        simulation
    };
    let (left, pulled) = (after(0.0), after(5.0));
    let [before, block] = [&left, &pulled].map(|simulation| simulation.bodies()[0]);
    // There is no resistance along its own cross-section.
    let way = 0.5 * 5.0 / block.mass * pulled.time().powi(2);
    assert!((block.center[1] / way - 1.0).abs() < 1e-6, "{} of {way} m", block.center[1]);
    assert_eq!(before.center[1], 0.0);
    let (there, here) = (left.fluid().unwrap().position, pulled.fluid().unwrap().position);
    for (a, b) in there.iter().zip(&here) {
        assert_eq!(b[1], 0.0);
        // Neighbor lists may be rebuilt at other steps, and sums may have another order.
        assert!((a[0] - b[0]).abs() < 1e-9 && (a[2] - b[2]).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn a_body_that_leaves_the_plane_of_a_flow_is_refused() {
    type Change = fn(&mut World);
    let refused = |change: Change| {
        let mut world = pushed_in_a_plane();
        change(&mut world);
        let refusal = Simulation::new(world, Settings::default()).err().expect("a refusal");
        refusal.to_string()
    };
    let cases: [(Change, &str); 4] = [
        (|world| world.grains.bodies[0].center[1] = 1e-3, "center"),
        (|world| world.grains.bodies[0].velocity[1] = 0.1, "velocity"),
        (|world| world.grains.bodies[0].angular_velocity[0] = 1.0, "angular velocity"),
        (
            |world| world.fluids.as_mut().expect("a wet world").body_boundaries[0].offset[3][1] = 1e-3,
            "boundary particles",
        ),
    ];
    for (change, what) in cases {
        let reported = refused(change);
        assert!(
            reported.contains(&format!("leaves it by its {what};")) && reported.contains("y = 0 m"),
            "{reported}"
        );
    }
}

#[test]
fn a_body_that_leaves_viscous_water_is_felt_no_more_by_any_solver() {
    for change in [(|world| world) as fn(World) -> World, incompressible] {
        // The first body leaves, so that the index of the second changes.
        let mut world = thrown_out();
        world.fluids.as_mut().unwrap().kinds[0].viscosity = 0.1;
        let mut simulation = Simulation::new(change(world), Settings::default()).unwrap();
        let (particles, steps) = (simulation.fluid_particles(), (0.06 / simulation.time_step().value) as u64);
        simulation.advance(steps).unwrap();
        let bodies = simulation.bodies();
        assert!(bodies.len() == 1 && bodies[0].id == 1, "{bodies:?}");
        assert_eq!(simulation.fluid_particles(), particles);
        // Water brakes the one that fell into it.
        let falling = -bodies[0].velocity[2] / (0.5 + G * simulation.time());
        assert!(falling.abs() < 0.8, "{falling} of a free fall");
    }
}
