//! Fluids: tests against physics.

use crate::couette::{GAP, cavity, couette};
use crate::devices::{on_threads, started};
use crate::driven::{PADDLE, drum, paddled, pressed, round_and_round};
use crate::floors::floor;
use crate::pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::state::Column;
use seixo_engine::world::{Fluids, Settings, WallMotion, WallShape, World};
use seixo_engine::{Simulation, StepErrorCause, SurroundingsChange, WorldError};
use std::f64::consts::TAU;

/// Water half a meter wide and deep, in a tank with room above, in a plane.
fn pool() -> World {
    let fastest = (2.0 * G * 0.5f64).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.02, 0.1);
    let mut fluids = fluids(vec![medium], 0.025, 4.0, Some(1));
    fluids.largest_speed = fastest;
    tank(fluids, [20, 1, 30], [20, 1, 20], 4, None)
}

/// A column that collapses in a tank twice as wide.
fn column() -> World {
    let mut medium = water(44.0);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.05, 0.1);
    let mut fluids = fluids(vec![medium], 0.05, 3.0, Some(1));
    fluids.largest_speed = 4.4;
    tank(fluids, [32, 1, 24], [16, 1, 20], 3, None)
}

#[test]
fn still_water_stays_still_and_weighs_what_it_weighs() {
    let mut simulation = started(pool());
    let start = simulation.ledger();
    simulation.advance(4000).unwrap();
    let fluid = simulation.fluid().unwrap();
    let depth = 0.5;
    let speed = (fluid.velocity.iter().flatten().map(|v| v * v).sum::<f64>() / fluid.id.len() as f64).sqrt();
    assert!(speed < 1e-3 * (G * depth).sqrt(), "v_rms {speed}");
    // Farther from the surface than the support, the pressure is hydrostatic.
    for (x, p) in fluid.position.iter().zip(&fluid.pressure).filter(|(x, _)| x[2] < depth - 0.1) {
        let expected = 1000.0 * G * (depth - x[2]);
        assert!((p - expected).abs() < 0.02 * 1000.0 * G * depth, "{x:?}: {p} {expected}");
    }
    // The forces of opposite sides cancel.
    let force = simulation.walls()[0].force;
    let weight = 1000.0 * 0.5 * 0.5 * G;
    assert!(
        (force[2] + weight).abs() < 0.01 * weight && force[0].abs() < 0.01 * weight,
        "{force:?} {weight}"
    );
    // The error of the ledger is that of leap-frog, much less than the energy that crossed the sides.
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-3 * ledger.viscosity.max(1e-3), "{ledger:?}");
    assert_eq!(fluid.id.len(), 400);
    assert!((ledger.gravity - start.gravity).abs() < 1e-3 * start.gravity);
}

/// Irregular particles with random velocities in a periodic box.
fn density_error() -> World {
    let spacing = 0.1;
    let mut medium = water(30.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (1.0, 0.1, 0.1);
    medium.background_pressure = 1e4;
    let mut fluids = fluids(vec![medium], spacing, 3.0, None);
    fluids.largest_speed = 3.0;
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    for x in sites([0; 3], [10; 3], spacing, false) {
        drop_in(&mut fluids, x, [random(), random(), random()], 1e4);
    }
    wet(fluids, 0.0, Some(domain([0.0; 3], [1.0; 3], [true; 3])), Vec::new())
}

#[test]
fn momentum_is_kept_to_rounding_and_energy_to_the_step() {
    let mut simulation = started(density_error());
    let before = simulation.momentum_of_fluids();
    let start = simulation.ledger();
    simulation.advance(500).unwrap();
    let after = simulation.momentum_of_fluids();
    let ledger = simulation.ledger();
    // A thousand kilograms at 0.3 m/s, rounded per particle and step.
    for (a, b) in before.iter().zip(after) {
        assert!((a - b).abs() < 1e-9, "{before:?} {after:?}");
    }
    // Viscosity dissipated most of the motion, and the ledger contains that.
    assert!(
        ledger.kinetic < 0.5 * start.kinetic && ledger.viscosity > 0.5 * start.kinetic,
        "{ledger:?}"
    );
    assert!(ledger.residual.abs() < 2e-3 * start.kinetic, "{ledger:?}");
    assert!(ledger.wall_work.abs() < 1e-9 * start.kinetic, "{ledger:?}");
}

#[test]
fn the_ledger_closes_better_with_a_shorter_step() {
    let missed = |share: f64| {
        let mut world = density_error();
        let kind = &mut world.fluids.as_mut().unwrap().kinds[0];
        (kind.artificial_viscosity, kind.density_diffusion) = (0.0, 0.0);
        let settings = Settings {
            time_step: Some(share * started(density_error()).time_step().auto),
            ..on_threads(1)
        };
        let mut simulation = Simulation::new(world, settings).unwrap();
        simulation.advance((20.0 / share) as u64).unwrap();
        simulation.ledger().residual.abs()
    };
    // Second order: a quarter with half the step; a third leaves room for higher-order terms.
    let (whole, half) = (missed(1.0), missed(0.5));
    assert!(half < whole / 3.0, "{whole} {half}");
}

#[test]
fn the_same_bits_on_any_number_of_threads_and_after_a_checkpoint() {
    for world in [column, paddled, drum, round_and_round] {
        let mut first = started(world());
        first.advance(300).unwrap();
        assert!(first.rebuilds() > 1);
        let mut second = Simulation::new(world(), on_threads(3)).unwrap();
        second.advance(130).unwrap();
        let state = second.save().unwrap();
        let mut third = Simulation::restore(world(), on_threads(2), &state).unwrap();
        assert_eq!(second.ledger(), third.ledger());
        assert_eq!(second.rebuilds(), third.rebuilds());
        second.advance(170).unwrap();
        third.advance(170).unwrap();
        for other in [second, third] {
            assert_eq!(first.fluid(), other.fluid());
            assert_eq!(first.ledger(), other.ledger());
            assert_eq!(first.walls(), other.walls());
            assert_eq!(first.rebuilds(), other.rebuilds());
        }
    }
}

#[test]
fn a_look_finds_all_around_periodic_sides_and_nothing_in_the_air() {
    let mut simulation = started(density_error());
    simulation.advance(100).unwrap();
    // All of these are the same point in a periodic box.
    let corners = simulation.sample_fluid(&[[0.0; 3], [1.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
    for corner in &corners {
        assert!((corner.share - corners[0].share).abs() < 1e-12, "{corner:?} {:?}", corners[0]);
        assert!((corner.pressure - corners[0].pressure).abs() < 1e-6, "{corner:?} {:?}", corners[0]);
        // The box is full except for disorder; without periodic images only an eighth of the support at a corner would be filled.
        assert!((corner.share - 1.0).abs() < 0.2, "{corner:?}");
    }
    let pool = started(pool());
    let [deep, above, outside] = [-0.1, 0.2, 9.0].map(|height| pool.sample_fluid(&[[0.25, 0.0, 0.5 + height]])[0]);
    assert!((deep.pressure - 1000.0 * G * 0.1).abs() < 10.0, "{deep:?}");
    assert_eq!([above.share, outside.share, outside.pressure], [0.0; 3]);
}

#[test]
fn what_leaves_while_a_wall_goes_enters_the_ledger_once() {
    let world = || {
        let mut space = domain([-1.0; 3], [3.0; 3], [false; 3]);
        space.leaving = seixo_engine::world::LeavingPolicy::Delete;
        World {
            domain: Some(space),
            ..behind_a_gate()
        }
    };
    let mut simulation = started(world());
    simulation.advance(10).unwrap();
    // A drop that has just been thrown out of the domain, to a height of 5 m.
    let mut state = simulation.save().unwrap();
    for (name, column) in &mut state.sections {
        if let (true, Column::F64(records)) = (name == "fluid/position", column) {
            let (records, _) = records.as_chunks_mut::<4>();
            records.iter_mut().find(|record| record[3] > 0.0).unwrap()[2] = 5.0;
        }
    }
    let mut simulation = Simulation::restore(world(), on_threads(1), &state).unwrap();
    let (before, count) = (simulation.ledger(), simulation.fluid_particles());
    simulation.change(&[SurroundingsChange::Wall { wall: 1, is_there: false }]).unwrap();
    assert_eq!(simulation.fluid_particles(), count - 1);
    let after = simulation.ledger();
    // Energy of a particle of 5 cm by 5 cm at that height, plus a little motion.
    let (taken, expected) = (after.left_domain - before.left_domain, 2.5 * G * 5.0);
    assert!((taken - expected).abs() < 0.01 * expected, "{taken} {expected}");
    assert!((after.inserted - before.inserted).abs() < 1e-9 * expected, "{before:?} {after:?}");
    assert!(
        (after.residual - before.residual).abs() < 1e-9 * before.initial.abs(),
        "{before:?} {after:?}"
    );
}

/// As [`column`], with a gate that holds the water until the gate is removed.
fn behind_a_gate() -> World {
    let mut world = column();
    world.walls.push(seixo_engine::world::Wall {
        name: "gate".to_owned(),
        ..floor()
    });
    let fluids = world.fluids.as_mut().unwrap();
    for x in sites([16, 0, 0], [19, 1, 24], fluids.spacing, true) {
        fluids.boundary.position.push(x);
        fluids.boundary.wall.push(1);
    }
    fluids.slips.push(true);
    world
}

pub fn front(simulation: &Simulation) -> f64 {
    let fluid = simulation.fluid().unwrap();
    fluid.position.iter().fold(0.0, |most: f64, x| most.max(x[0]))
}

#[test]
fn a_gate_holds_water_until_it_opens() {
    let mut simulation = started(behind_a_gate());
    let start = front(&simulation);
    simulation.advance(300).unwrap();
    assert!((front(&simulation) - start).abs() < 0.01, "{start} {}", front(&simulation));
    simulation.change(&[SurroundingsChange::Wall { wall: 1, is_there: false }]).unwrap();
    simulation.advance(1500).unwrap();
    assert!(front(&simulation) > start + 0.5, "{start} {}", front(&simulation));
}

#[test]
fn a_gate_closes_beside_water_and_not_in_it() {
    let turned = |simulation: &mut Simulation, is_there| simulation.change(&[SurroundingsChange::Wall { wall: 1, is_there }]);
    let mut simulation = started(behind_a_gate());
    // At the same step, before the water has moved.
    turned(&mut simulation, false).unwrap();
    turned(&mut simulation, true).unwrap();
    turned(&mut simulation, false).unwrap();
    simulation.advance(1000).unwrap();
    let refusal = turned(&mut simulation, true).unwrap_err();
    let text = refusal.to_string();
    let WorldError::WallInFluid {
        wall,
        fluid,
        time,
        at,
        distance,
        limit,
        ..
    } = refusal
    else {
        panic!("{text}")
    };
    assert_eq!((wall.as_str(), fluid.as_str()), ("gate", "water"));
    assert!((time - simulation.time()).abs() < 1e-12 && distance < limit, "{text}");
    // The gate is from 0.8 to 0.95 m.
    assert!(at[0] > 0.75 && at[0] < 1.0, "{text}");
    assert!(
        text.contains("wall gate cannot appear at t = ") && text.contains("of \"water\" at"),
        "{text}"
    );
}

#[test]
fn a_piston_presses_water_and_does_the_work_that_it_gains() {
    // The piston moves by a hundredth of the channel.
    let mut simulation = started(pressed(0.1, 0.1));
    let steps = (5.0 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    // One per cent less volume: Tait's pressure at a density of 1/0.99, on a fifth of a square meter. Particles near a wall also respond to the
    // motion of the wall itself, not only to smaller distances. The two supports near the walls, some 8 % of the gap each, add a quarter.
    let expected = 0.2 * 1000.0 * 400.0 / 7.0 * ((1.0f64 / 0.99).powi(7) - 1.0);
    let forces: Vec<f64> = simulation.walls().iter().map(|wall| wall.force[2]).collect();
    assert!(
        (forces[1] - expected).abs() < 0.04 * expected && (forces[0] + expected).abs() < 0.04 * expected,
        "{forces:?} {expected}"
    );
    let ledger = simulation.ledger();
    let stored = ledger.compression;
    assert!(
        ledger.wall_work > 0.9 * stored && ledger.residual.abs() < 0.01 * stored,
        "{ledger:?}"
    );
}

#[test]
fn water_that_is_pressed_too_hard_is_named() {
    // Three times the speed of sound.
    let stop = started(pressed(60.0, 1.0)).advance(2000).unwrap_err();
    let StepErrorCause::FluidErrorCause(inner) = &stop.cause else {
        panic!("{stop}")
    };
    assert!(
        matches!(inner.cause, StepErrorCause::TooCompressed { excess } if excess.abs() >= 0.5),
        "{stop}"
    );
    assert!(stop.to_string().contains("has a density that is"), "{stop}");
}

#[test]
fn a_paddle_puts_in_what_its_force_does() {
    let mut simulation = started(paddled());
    let [amplitude, frequency] = PADDLE;
    let (dt, turn) = (simulation.time_step().value, TAU * frequency);
    // Half an oscillation: the paddle is at its foremost position.
    let steps = (0.5 / frequency / dt) as u64;
    let power = |simulation: &Simulation| {
        let speed = amplitude * turn * (turn * simulation.time()).sin();
        -simulation.walls()[1].force[0] * speed
    };
    let (mut work, mut before) = (0.0, power(&simulation));
    for _ in 0..steps {
        simulation.step().unwrap();
        let now = power(&simulation);
        work += 0.5 * dt * (before + now);
        before = now;
    }
    let ledger = simulation.ledger();
    // The ledger also contains the work of walls at rest: 7 % here. Its error is as small as in other tests.
    assert!(work > 80.0 && (ledger.wall_work - work).abs() < 0.1 * work, "{work} {ledger:?}");
    assert!(ledger.residual.abs() < 1e-4 * work, "{ledger:?}");
}

#[test]
fn a_lid_that_goes_round_and_round_drags_fluid_along_until_it_rests() {
    let [height, speed] = GAP;
    let mut simulation = started(round_and_round());
    // Shear diffuses over the gap within L²/(π² ν) = 5 s. Meanwhile the lid moves 24 times through the domain.
    let steps = (30.0 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    for (x, v) in fluid.position.iter().zip(&fluid.velocity) {
        assert!((v[0] - speed * x[2] / height).abs() < 0.02 * speed, "{x:?} {v:?}");
    }
    let motion = Box::new(WallMotion::default());
    simulation.change(&[SurroundingsChange::Motion { wall: 1, motion }]).unwrap();
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    let fastest = fluid.velocity.iter().flatten().fold(0.0, |most: f64, v| most.max(v.abs()));
    // A factor of e^{-6} remains of the slowest mode.
    assert!(fastest < 0.02 * speed, "{fastest}");
}

#[test]
fn water_in_a_drum_does_not_see_by_what_shape_it_is_turned() {
    let mut round = started(drum());
    let mut flat = started({
        let mut world = drum();
        // Planes may only rotate about their normal.
        world.walls[0].shape = WallShape::Plane {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        };
        world
    });
    for simulation in [&mut round, &mut flat] {
        simulation.advance(600).unwrap();
    }
    assert_eq!(round.fluid(), flat.fluid());
    // A drum that rotates about y from z to x drags the fluid at its lowest point toward smaller x.
    let fluid = round.fluid().unwrap();
    let lowest = fluid.position.iter().zip(&fluid.velocity).filter(|(x, _)| x[2] < -0.42);
    let speeds: Vec<f64> = lowest.map(|(_, v)| v[0]).collect();
    assert!(!speeds.is_empty() && speeds.iter().sum::<f64>() < 0.0, "{speeds:?}");
}

#[test]
fn water_that_leaves_is_named_or_taken_away() {
    let falling = |leaving| {
        let mut fluids = fluids(vec![water(50.0)], 0.1, 3.0, Some(1));
        fluids.largest_speed = 5.0;
        for x in sites([0; 3], [4, 1, 4], 0.1, true) {
            drop_in(&mut fluids, x, [0.0; 3], 0.0);
        }
        let mut space = domain([-1.0; 3], [2.0; 3], [false; 3]);
        space.leaving = leaving;
        started(wet(fluids, G, Some(space), Vec::new()))
    };
    let stop = falling(seixo_engine::world::LeavingPolicy::Error).advance(20_000).unwrap_err();
    let StepErrorCause::FluidErrorCause(inner) = &stop.cause else {
        panic!("{stop}")
    };
    assert_eq!((&inner.cause, inner.fluid.as_str()), (&StepErrorCause::LeftDomain, "water"));
    assert!(stop.to_string().contains("of \"water\" at") && stop.position[2] < -1.0, "{stop}");
    let mut simulation = falling(seixo_engine::world::LeavingPolicy::Delete);
    simulation.advance(2000).unwrap();
    assert_eq!(simulation.fluid_particles(), 0);
    let ledger = simulation.ledger();
    // All of its energy left with it.
    assert!(
        (ledger.left_domain - ledger.initial).abs() < 1e-9 * ledger.initial.abs(),
        "{ledger:?}"
    );
}

#[test]
fn what_cannot_flow_is_refused_with_a_remedy() {
    let refused = |change: &dyn Fn(&mut Fluids)| {
        let mut world = pool();
        change(world.fluids.as_mut().unwrap());
        match Simulation::new(world, on_threads(1)) {
            Err(WorldError::Fluid(what)) => what,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was accepted"),
        }
    };
    assert!(refused(&|fluids| fluids.support = fluids.spacing).contains("must be at least 1.2 spacings"));
    assert!(refused(&|fluids| fluids.kinds[0].sound_speed = 5.0).contains("write sound_speed = 31.3"));
    assert!(refused(&|fluids| fluids.kinds[0].density = -1.0).contains("density of -1"));
    assert!(refused(&|fluids| fluids.particles.position[7][2] = f64::NAN).contains("particle 7"));
    assert!(refused(&|fluids| fluids.particles.id[7] = 8).contains("two particles of fluids have the id 8"));
    assert!(refused(&|fluids| fluids.particles.id[7] = u32::MAX).contains("give smaller ids"));
    assert!(refused(&|fluids| fluids.particles.pressure.truncate(3)).contains("3 times a pressure for 400 times a particle"));
    assert!(refused(&|fluids| fluids.slips.clear()).contains("0 times a slip for 1 times a wall"));
    assert!(refused(&|fluids| fluids.boundary.wall[5] = 1).contains("a particle of wall number 1"));
    assert!(refused(&|fluids| fluids.boundary.wall.truncate(5)).contains("5 times a wall for"));
    assert!(refused(&|fluids| fluids.kinds.clear()).contains("there is no fluid"));
    let too_long = Settings {
        time_step: Some(1e-2),
        ..on_threads(1)
    };
    let refusal = Simulation::new(pool(), too_long).err().unwrap().to_string();
    assert!(refusal.contains("sound in \"water\""), "{refusal}");
}

#[test]
fn a_running_surface_drags_fluid_along() {
    let [height, speed] = GAP;
    let mut simulation = started(couette());
    // Shear diffuses over the gap within L²/(π² ν) = 5 s; after six of these times the initial state is forgotten.
    let steps = (30.0 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    for (x, v) in fluid.position.iter().zip(&fluid.velocity) {
        assert!((v[0] - speed * x[2] / height).abs() < 0.02 * speed, "{x:?} {v:?}");
    }
    // μ U/L on a quarter of a square meter, on both sides. Viscosity dissipates the work of the lid.
    let expected = 5.0 * speed / height * 0.25;
    let forces: Vec<f64> = simulation.walls().iter().map(|wall| wall.force[0]).collect();
    assert!(
        (forces[0] - expected).abs() < 0.02 * expected && (forces[1] + expected).abs() < 0.02 * expected,
        "{forces:?} {expected}"
    );
    let before = simulation.ledger();
    simulation.advance(100).unwrap();
    let after = simulation.ledger();
    let (work, taken) = (after.wall_work - before.wall_work, after.viscosity - before.viscosity);
    assert!((work - taken).abs() < 0.02 * taken && taken > 0.0, "{work} {taken}");
}

#[test]
fn a_surface_that_runs_compresses_nothing() {
    let mut simulation = started(cavity());
    let at_rest = |simulation: &Simulation| simulation.fluid().unwrap().density;
    let before = at_rest(&simulation);
    // Fluid at rest between walls at rest cannot change its density, even if a wall has a moving surface.
    simulation.advance(1).unwrap();
    assert_eq!(at_rest(&simulation), before);
}

#[test]
fn what_bounds_a_fluid_moves_or_runs() {
    let mut world = cavity();
    world.walls[1].motion.velocity = [0.1, 0.0, 0.0];
    let refusal = Simulation::new(world, on_threads(1)).err().unwrap().to_string();
    assert!(
        refusal.contains("wall lid bounds a fluid and moves while its surface runs"),
        "{refusal}"
    );
    let mut simulation = started(cavity());
    let motion = Box::new(WallMotion {
        velocity: [0.1, 0.0, 0.0],
        ..cavity().walls[1].motion.clone()
    });
    let refusal = simulation
        .change(&[SurroundingsChange::Motion { wall: 1, motion }])
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("wall lid"), "{refusal}");
    simulation.advance(10).unwrap();
}
