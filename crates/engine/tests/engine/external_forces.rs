//! Forces and torques that a program gives to single grains: Newton's law, the ledger, rigid bodies, and the same results on a GPU, in domains and after
//! a checkpoint.

use crate::alike::assert_same;
use crate::bars::{bonds, mass, row, settings};
use crate::beds::{falling, noise};
use crate::clumps::{Fill, rod, world};
use crate::devices::{apart, assert_same_ledger, on_cpu, on_gpu};
use crate::{domains, ledgers, on_gpus};
use seixo_engine::world::{Grains, Precision, Scheme, Settings, Vec3, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;

const DT: f64 = 1e-6;

/// Grains at rest in a row along x, without contacts and gravity.
fn apart_from_each_other(count: usize) -> World {
    let mut world = row(count, |_| [0.0; 3], bonds(BondLaw::Beam));
    world.bonds.clear();
    world.gravity = [0.0; 3];
    world
}

fn by(scheme: Scheme) -> Settings {
    Settings { scheme, ..settings(DT) }
}

fn started(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn give(simulation: &mut Simulation, ids: &[u32], forces: &[Vec3]) {
    simulation
        .set_external_forces(ids, forces, None)
        .unwrap_or_else(|refusal| panic!("{refusal}"));
}

#[test]
fn a_force_that_begins_moves_a_grain_as_gravity_does() {
    let gravity: Vec3 = [3.0, 0.0, -7.0];
    let force = gravity.map(|g| g * mass());
    for scheme in [Scheme::Leapfrog, Scheme::VelocityVerlet, Scheme::SymplecticEuler, Scheme::Gear] {
        for late in [0, 100] {
            let [mut pulled, mut falls] = [0, 1].map(|_| started(apart_from_each_other(1), by(scheme)));
            for simulation in [&mut pulled, &mut falls] {
                simulation.advance(late).unwrap();
            }
            give(&mut pulled, &[0], &[force]);
            falls.change(&[SurroundingsChange::Gravity(gravity)]).unwrap();
            for simulation in [&mut pulled, &mut falls] {
                simulation.advance(500).unwrap();
            }
            let (pulled, falls) = (pulled.snapshot(), falls.snapshot());
            let time = 500.0 * DT;
            for (axis, g) in gravity.into_iter().enumerate() {
                let (x, v) = (pulled.position[0][axis], pulled.velocity[0][axis]);
                let what = format!("{scheme:?} from step {late}, axis {axis}: {x:e} {v:e}");
                assert!((x - falls.position[0][axis]).abs() <= 1e-12 * x.abs(), "{what}");
                assert!((v - falls.velocity[0][axis]).abs() <= 1e-12 * v.abs(), "{what}");
                let exact = 0.5 * g * time * time;
                let bar = if scheme == Scheme::SymplecticEuler { 3e-3 } else { 1e-12 };
                assert!((x - exact).abs() <= bar * exact.abs(), "{what}, not {exact:e}");
            }
            assert_eq!(pulled.force[0], force);
        }
    }
}

#[test]
fn opposite_forces_keep_the_momentum_and_do_force_times_way() {
    let mut simulation = started(apart_from_each_other(2), settings(DT));
    let force: Vec3 = [2e-4, -1e-4, 3e-4];
    give(&mut simulation, &[1, 0], &[force, force.map(|f| -f)]);
    simulation.advance(300).unwrap();
    let way = |simulation: &Simulation| simulation.snapshot().position;
    let first = way(&simulation);
    give(&mut simulation, &[0, 1], &[force.map(|f| -2.0 * f), force.map(|f| 2.0 * f)]);
    simulation.advance(200).unwrap();
    let second = way(&simulation);
    simulation.clear_external_forces().unwrap();
    simulation.advance(100).unwrap();
    assert_eq!(simulation.momentum().linear, [0.0; 3]);
    let start = apart_from_each_other(2).grains.position;
    let done = |from: &[Vec3], to: &[Vec3], times: f64| -> f64 {
        let along = |k: usize, sign: f64| {
            (0..3)
                .map(|axis| sign * times * force[axis] * (to[k][axis] - from[k][axis]))
                .sum::<f64>()
        };
        along(0, -1.0) + along(1, 1.0)
    };
    let expected = done(&start, &first, 1.0) + done(&first, &second, 2.0);
    let ledger = simulation.ledger();
    // Ways are 1e-7 m, of coordinates whose last digit is 1e-18 m.
    assert!((ledger.wall_work / expected - 1.0).abs() < 1e-9, "{} {expected}", ledger.wall_work);
    assert!((ledger.kinetic / ledger.wall_work - 1.0).abs() < 1e-12, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-12 * expected, "{ledger:?}");
    assert!(simulation.external_forces().unwrap().force.as_flattened().iter().all(|&f| f == 0.0));
}

/// Position and velocity of a grain on a spring that a program sets in every step, and the residual of the ledger over the energy of the spring.
fn swinging(dt: f64) -> [f64; 3] {
    let (amplitude, frequency, time): (f64, f64, f64) = (1e-4, 500.0, 1.6e-3);
    let stiffness = mass() * frequency * frequency;
    let mut world = apart_from_each_other(1);
    world.grains.position[0] = [amplitude, 0.0, 0.0];
    let mut simulation = started(world, settings(dt));
    for _ in 0..(time / dt).round() as u64 {
        let x = simulation.snapshot().position[0];
        give(&mut simulation, &[0], &[x.map(|x| -stiffness * x)]);
        simulation.advance(1).unwrap();
    }
    let phase = frequency * time;
    // The force at this time belongs to the velocity at this time.
    let x = simulation.snapshot().position[0];
    give(&mut simulation, &[0], &[x.map(|x| -stiffness * x)]);
    let seen = simulation.snapshot();
    [
        seen.position[0][0] / amplitude - phase.cos(),
        seen.velocity[0][0] / (amplitude * frequency) + phase.sin(),
        simulation.ledger().residual / (0.5 * stiffness * amplitude * amplitude),
    ]
}

#[test]
fn a_spring_that_a_program_sets_in_every_step_is_of_second_order() {
    let (coarse, fine) = (swinging(2e-6), swinging(1e-6));
    for k in 0..3 {
        // (w dt)² is 1e-6 for the longer step; half a step of delay would cost about w dt / 4, 2.5e-4.
        assert!(coarse[k].abs() < 5e-7, "{k}: {coarse:?}");
    }
    for k in 0..2 {
        assert!((coarse[k] / fine[k] - 4.0).abs() < 0.1, "{k}: {coarse:?} {fine:?}");
    }
}

/// A rod along x without contacts.
fn free_rod() -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world
        .grains
        .clear_and(|grains| rod(3, 1e-3).put(grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]));
    world
}

#[test]
fn forces_and_torques_on_grains_of_a_body_turn_and_move_it() {
    let shape = rod(3, 1e-3);
    let force = 1e-7;
    for scheme in [Scheme::Leapfrog, Scheme::Gear] {
        let mut turned = started(free_rod(), by(scheme));
        let mut moved = started(free_rod(), by(scheme));
        turned.advance(10).unwrap();
        moved.advance(10).unwrap();
        // The arms of its ends are two radii long.
        give(&mut turned, &[0, 2], &[[0.0, 0.0, force], [0.0, 0.0, -force]]);
        let torque = [0.0, 2e-3 * force, 0.0];
        moved
            .set_external_forces(&[1, 0], &[[force, 0.0, 0.0], [0.0; 3]], Some(&[[0.0; 3], torque]))
            .unwrap();
        turned.advance(1000).unwrap();
        moved.advance(1000).unwrap();
        let time = 1000.0 * DT;
        let spin = |torque: f64| torque * time / shape.moments[1];
        let (turned, moved) = (turned.bodies()[0], moved.bodies()[0]);
        assert!(
            (turned.angular_velocity[1] / spin(4e-3 * force) - 1.0).abs() < 1e-6,
            "{scheme:?} {turned:?}"
        );
        assert!(turned.velocity.iter().all(|v| v.abs() < 1e-18), "{scheme:?} {turned:?}");
        assert!(
            (moved.angular_velocity[1] / spin(torque[1]) - 1.0).abs() < 1e-6,
            "{scheme:?} {moved:?}"
        );
        assert!(
            (moved.velocity[0] / (force * time / shape.mass) - 1.0).abs() < 1e-9,
            "{scheme:?} {moved:?}"
        );
    }
}

/// Gives every third grain a force and a torque that depend on the step.
fn shake(simulation: &mut Simulation) {
    let step = simulation.steps();
    let all = simulation.external_forces().unwrap();
    let ids: Vec<u32> = all.id.iter().copied().filter(|id| id % 3 == 0).collect();
    let vector = |id: u32, axis: u64, size: f64| size * noise(u64::from(id) * 1000 + 10 * step + axis);
    let forces: Vec<Vec3> = ids.iter().map(|&id| [0, 1, 2].map(|axis| vector(id, axis, 3e-4))).collect();
    let torques: Vec<Vec3> = ids.iter().map(|&id| [3, 4, 5].map(|axis| vector(id, axis, 1e-8))).collect();
    simulation.set_external_forces(&ids, &forces, Some(&torques)).unwrap();
}

/// Goes on to a step, with forces that begin at every 25th step and change in the two steps after it.
fn go_on(simulation: &mut Simulation, to: u64) {
    while simulation.steps() < to {
        let phase = simulation.steps() % 25;
        if phase < 3 {
            shake(simulation);
        }
        let next = if phase < 3 { 1 } else { 25 - phase };
        simulation.advance(next.min(to - simulation.steps())).unwrap();
    }
    simulation.observe().unwrap();
}

fn shaken(world: &World, settings: Settings, steps: u64) -> Simulation {
    let mut simulation = started(world.clone(), settings);
    go_on(&mut simulation, steps);
    simulation
}

/// As [`shaken()`], with a checkpoint between two changes that follow each other, and other settings after it.
fn in_parts(world: &World, [first, second]: [Settings; 2], steps: u64) -> Simulation {
    let state = shaken(world, first, 51).save().unwrap();
    let mut then = Simulation::restore(world.clone(), second, &state).unwrap();
    go_on(&mut then, steps);
    then
}

fn bed() -> World {
    falling(400, TangentialLaw::Mindlin)
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    for scheme in [Scheme::Leapfrog, Scheme::VelocityVerlet, Scheme::Gear] {
        let of = |threads| Settings {
            scheme,
            threads,
            ..Settings::default()
        };
        let mut whole = shaken(&bed(), of(1), 150);
        let mut parts = in_parts(&bed(), [of(1), of(2)], 150);
        assert_same(&mut whole, &mut parts, &format!("{scheme:?}"));
    }
}

#[test]
fn domains_change_no_bit_and_the_ledger_closes_as_without_forces() {
    let world = bed();
    let mut whole = shaken(&world, domains::among(1), 150);
    let mut parts = in_parts(&world, [1, 2].map(domains::among), 150);
    assert_same(&mut whole, &mut parts, "domains");
    ledgers::assert_same_ledger(&whole, &parts, "domains");
    let alone = domains::after(&world, 1, 150).ledger();
    let ledger = whole.ledger();
    assert!((ledger.wall_work - alone.wall_work).abs() > 1e-3 * ledger.kinetic, "{ledger:?}");
    assert!(
        ledger.residual.abs() < 1e-3 * ledger.kinetic + 2.0 * alone.residual.abs(),
        "{ledger:?}"
    );
}

#[test]
fn a_gpu_applies_the_forces_of_single_grains() {
    let world = bed();
    let (cpu, gpu) = (shaken(&world, on_cpu(), 100), shaken(&world, on_gpu(Precision::F64), 100));
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-9, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "external forces");
    let force: Vec3 = [3e-4, 0.0, -7e-4];
    for (precision, bar) in [(Precision::F64, 1e-12), (Precision::Mixed, 1e-6), (Precision::F32, 1e-4)] {
        let mut simulation = started(
            apart_from_each_other(2),
            Settings {
                threads: 1,
                ..on_gpu(precision)
            },
        );
        simulation.advance(5).unwrap();
        simulation.observe().unwrap();
        give(&mut simulation, &[1], &[force]);
        // The second time, the GPU takes only the loads.
        give(&mut simulation, &[1], &[force]);
        let begun = simulation.time();
        simulation.advance(50).unwrap();
        simulation.observe().unwrap();
        let (seen, time) = (simulation.snapshot(), simulation.time() - begun);
        for (axis, f) in force.into_iter().enumerate() {
            let exact = f / mass() * time;
            let v = seen.velocity[1][axis];
            assert!((v - exact).abs() <= bar * exact.abs(), "{precision:?}: {v:e}, not {exact:e}");
        }
        assert_eq!(seen.velocity[0], [0.0; 3], "{precision:?}");
    }
}

#[test]
fn a_spring_on_a_gpu_swings_as_on_the_cpu() {
    let after = |settings: Settings| {
        let mut world = apart_from_each_other(1);
        world.grains.position[0] = [1e-4, 0.0, 0.0];
        let mut simulation = started(
            world,
            Settings {
                time_step: Some(DT),
                threads: 1,
                ..settings
            },
        );
        for _ in 0..40 {
            let x = simulation.snapshot().position[0];
            give(&mut simulation, &[0], &[x.map(|x| -1e3 * mass() / DT * x)]);
            simulation.advance(1).unwrap();
            simulation.observe().unwrap();
        }
        let seen = simulation.snapshot();
        (seen.position[0][0], seen.velocity[0][0], simulation.ledger().wall_work)
    };
    let (cpu, gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
    for (a, b) in [(cpu.0, gpu.0), (cpu.1, gpu.1), (cpu.2, gpu.2)] {
        assert!((a - b).abs() < 1e-11 * a.abs(), "{cpu:?} {gpu:?}");
    }
}

#[test]
fn domains_and_checkpoints_on_a_gpu_change_no_bit() {
    let world = bed();
    let of = |domains| on_gpus::among(domains, Precision::F64);
    let mut whole = shaken(&world, of(1), 100);
    let mut parts = in_parts(&world, [of(1), of(2)], 100);
    assert_same(&mut whole, &mut parts, "domains on a GPU");
}

#[test]
fn grains_that_come_have_no_force_and_those_that_return_have_theirs() {
    let mut world = apart_from_each_other(3);
    world.groups.push("away".into());
    world.grains.group = vec![0, 1, 0];
    let mut simulation = started(world, settings(DT));
    let force: Vec3 = [0.0, 1e-4, 0.0];
    give(&mut simulation, &[1, 2], &[force; 2]);
    simulation.disable(1).unwrap();
    let refusal = simulation.set_external_forces(&[1], &[force], None).unwrap_err();
    assert!(refusal.to_string().contains("no grain 1"), "{refusal}");
    let mut coming = Grains::default();
    coming.push(7, [0.0, 0.1, 0.0], [0.0; 3], [0.0; 3], crate::bars::RADIUS, 0, 0);
    simulation.insert(&coming).unwrap();
    assert_eq!(simulation.external_forces().unwrap().force, [[0.0; 3], force, [0.0; 3]]);
    simulation.remove(&[2]).unwrap();
    simulation.enable(1).unwrap();
    let all = simulation.external_forces().unwrap();
    assert_eq!((all.id, all.force), (vec![0, 1, 7], vec![[0.0; 3], force, [0.0; 3]]));
    simulation.advance(100).unwrap();
    let seen = simulation.snapshot();
    assert!(
        (seen.velocity[1][1] / (force[1] / mass() * 100.0 * DT) - 1.0).abs() < 1e-12,
        "{seen:?}"
    );
    assert_eq!([seen.velocity[0], seen.velocity[2]], [[0.0; 3]; 2]);
}

#[test]
fn a_simulation_without_external_forces_saves_none() {
    let mut simulation = started(apart_from_each_other(2), settings(DT));
    let has_some = |simulation: &mut Simulation| {
        let state = simulation.save().unwrap();
        state.sections.iter().any(|(name, _)| name.contains("external"))
    };
    assert!(!has_some(&mut simulation));
    give(&mut simulation, &[0], &[[1e-4, 0.0, 0.0]]);
    assert!(has_some(&mut simulation));
    simulation.clear_external_forces().unwrap();
    assert!(!has_some(&mut simulation));
}

#[test]
fn forces_that_cannot_be_given_are_refused_before_any_change() {
    let mut simulation = started(apart_from_each_other(2), settings(DT));
    let one = [1.0, 0.0, 0.0];
    let mut refused = |ids: &[u32], forces: &[Vec3], torques: Option<&[Vec3]>, why: &str| {
        let refusal = simulation.set_external_forces(ids, forces, torques).unwrap_err();
        assert!(refusal.to_string().contains(why), "{refusal}");
        assert_eq!(simulation.external_forces().unwrap().force, [[0.0; 3]; 2]);
    };
    refused(&[0, 5], &[one; 2], None, "no grain 5");
    refused(&[0, 1], &[one, [0.0, f64::NAN, 0.0]], None, "the force on grain 1");
    refused(&[0], &[one], Some(&[[f64::INFINITY; 3]]), "the torque on grain 0");
    refused(&[0, 1], &[one], None, "2 ids have 1 forces");
    refused(&[0], &[one], Some(&[one]), "do not rotate");
    // Of two values for one grain the last counts.
    give(&mut simulation, &[1, 1], &[one, [2.0, 0.0, 0.0]]);
    assert_eq!(simulation.external_forces().unwrap().force, [[0.0; 3], [2.0, 0.0, 0.0]]);
}
