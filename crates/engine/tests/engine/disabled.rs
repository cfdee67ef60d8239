//! Groups that are disabled and enabled: grains pass where a disabled block was, and rest on it again; bonded grains go on as if no time had passed. The
//! bits do not depend on threads, domains or interruptions.

use crate::alike;
use crate::bars::{MODULUS, RADIUS, SIDE, SPACING, bonds, mass, row, settings};
use crate::beds;
use crate::clumps::{heap, world};
use crate::devices::{on_gpu, on_threads};
use crate::domains::started;
use crate::resumed::assert_same;
use seixo_engine::world::{Grains, Precision, Settings, World};
use seixo_engine::{Simulation, SurroundingsChange, WorldError};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::TAU;

const GRAVITY: f64 = 10.0;
const RESTITUTION: f64 = 0.6;

/// A grain that is held as a grate, one that lies on it, and one that falls from 2 cm.
fn grate() -> Simulation {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -GRAVITY];
    world.materials[0].youngs_modulus = 1e8;
    world.interactions[0].as_mut().unwrap().restitution = RESTITUTION;
    world.groups = vec!["grate".into(), "balls".into()];
    world.later.constrained_groups = vec![0];
    for (k, height) in [0.0, 2.002e-3, 2e-2].into_iter().enumerate() {
        world
            .grains
            .push(k as u32, [0.0, 0.0, height], [0.0; 3], [0.0; 3], 1e-3, 0, k.min(1) as u32);
    }
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(world, settings).unwrap();
    simulation.change(&[hold()]).unwrap();
    simulation
}

fn hold() -> SurroundingsChange {
    SurroundingsChange::Hold {
        group: 0,
        motion: Box::default(),
    }
}

/// Goes on to a time \[s\].
fn go_to(simulation: &mut Simulation, time: f64) {
    let steps = (time / simulation.time_step().value).round() as u64;
    simulation
        .advance(steps - simulation.steps())
        .unwrap_or_else(|stop| panic!("{stop}"));
}

#[test]
fn grains_fall_through_a_disabled_block_and_rest_on_it_again() {
    let mut simulation = grate();
    go_to(&mut simulation, 0.01);
    let lying = simulation.snapshot();
    assert!((lying.position[1][2] / 2e-3 - 1.0).abs() < 2e-3, "{:?}", lying.position);
    simulation.disable(0).unwrap();
    assert_eq!((simulation.len(), simulation.snapshot().id), (2, vec![1, 2]));
    // The held block has no energy in the ledger; its contact has less than m g times the first fall of 2 um.
    assert!(simulation.ledger().left_domain.abs() < 1e-9, "{:?}", simulation.ledger());
    let began = simulation.time();

    go_to(&mut simulation, 0.025);
    let refused = simulation.enable(0).unwrap_err();
    assert!(matches!(refused, WorldError::Taken { id: 0, at } if at == [0.0; 3]), "{refused}");
    assert_eq!(simulation.len(), 2);
    let mut twin = Grains::default();
    twin.push(0, [0.1, 0.0, 0.0], [0.0; 3], [0.0; 3], 1e-3, 0, 1);
    assert!(matches!(simulation.insert(&twin), Err(WorldError::DuplicateId { id: 0 })));

    go_to(&mut simulation, 0.045);
    let time = simulation.time() - began;
    let fallen = lying.velocity[1][2] * time - 0.5 * GRAVITY * time * time;
    let found = simulation.snapshot().position[0][2] - lying.position[1][2];
    // The contact at the moment of the change acts for half a step more.
    assert!((found / fallen - 1.0).abs() < 1e-3, "{found:e} {fallen:e}");
    simulation.enable(0).unwrap();
    simulation.change(&[hold()]).unwrap();
    assert_eq!((simulation.len(), simulation.snapshot().position[0]), (3, [0.0; 3]));

    // The other grain falls by 18 mm onto the block, and rebounds.
    let speed = (2.0 * GRAVITY * 18e-3).sqrt();
    go_to(&mut simulation, 0.07);
    let since = simulation.time() - speed / GRAVITY;
    let rebound = RESTITUTION * speed - GRAVITY * since;
    let seen = simulation.snapshot();
    // The contact lasts for some 0.1 ms, in which gravity changes the velocity by 1 mm/s.
    assert!((seen.velocity[2][2] / rebound - 1.0).abs() < 0.03, "{:?} {rebound}", seen.velocity);
    assert_eq!(seen.position[0], [0.0; 3]);
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-2 * ledger.normal_damping, "{ledger:?}");
}

/// Two grains that oscillate along their bond, and a third, far away and at rest.
fn swinging() -> World {
    let mut world = row(2, |k| [if k == 0 { -1e-3 } else { 1e-3 }, 0.0, 0.0], bonds(BondLaw::Beam));
    world.groups.push("witness".into());
    world.grains.push(9, [0.0, 0.0, 1.0], [0.0; 3], [0.0; 3], RADIUS, 0, 1);
    world
}

#[test]
fn bonded_grains_go_on_as_if_no_time_had_passed() {
    let pulse = (MODULUS * SIDE * SIDE / SPACING / (0.5 * mass())).sqrt();
    let step = TAU / pulse / 1000.0;
    let on_gpu = Settings {
        time_step: Some(step),
        ..on_gpu(Precision::F64)
    };
    for settings in [settings(step), on_gpu] {
        let mut without = Simulation::new(swinging(), settings.clone()).unwrap();
        without.advance(700).unwrap();
        without.observe().unwrap();
        let mut paused = Simulation::new(swinging(), settings).unwrap();
        paused.advance(100).unwrap();
        paused.observe().unwrap();
        let (before, at) = (paused.ledger(), paused.snapshot());
        assert!(before.elastic_bonds > 0.1 * before.kinetic, "{before:?}");
        paused.disable(0).unwrap();
        assert_eq!((paused.snapshot().id, paused.bond_counts()), (vec![9], [1, 0]));
        let ledger = paused.ledger();
        assert!(
            ledger.kinetic == 0.0 && ledger.elastic_bonds.abs() < 1e-9 * before.elastic_bonds,
            "{ledger:?}"
        );
        assert!(
            (ledger.left_domain / (before.kinetic + before.elastic_bonds) - 1.0).abs() < 1e-9,
            "{ledger:?}"
        );
        paused.advance(333).unwrap();
        paused.enable(0).unwrap();
        paused.observe().unwrap();
        let (after, back) = (paused.ledger(), paused.snapshot());
        assert_eq!((&back.id, &back.position, paused.bond_counts()), (&at.id, &at.position, [1, 1]));
        for (now, then) in back.velocity.iter().flatten().zip(at.velocity.iter().flatten()) {
            assert!((now - then).abs() < 1e-12, "{now:e} {then:e}");
        }
        assert!((after.inserted / after.left_domain - 1.0).abs() < 1e-9, "{after:?}");
        assert!((after.residual - before.residual).abs() < 1e-9 * before.kinetic, "{after:?}");
        paused.advance(600).unwrap();
        paused.observe().unwrap();
        let amplitude = 1e-3 / pulse;
        let (seen, expected) = (paused.snapshot(), without.snapshot());
        for (now, then) in seen.position.iter().flatten().zip(expected.position.iter().flatten()) {
            assert!((now - then).abs() < 1e-6 * amplitude, "{now:e} {then:e}");
        }
    }
}

#[test]
fn bonds_that_are_removed_meanwhile_do_not_come_back() {
    let mut simulation = Simulation::new(swinging(), settings(1e-7)).unwrap();
    simulation.disable(0).unwrap();
    simulation.unbond(&[0]).unwrap();
    simulation.enable(0).unwrap();
    assert_eq!((simulation.len(), simulation.bond_counts()), (3, [1, 0]));
    simulation.bond(&[0]).unwrap();
    assert_eq!(simulation.bond_counts(), [2, 1]);
}

#[test]
fn clumps_are_not_disabled_and_groups_that_are_not_disabled_are_not_changed() {
    let mut simulation = Simulation::new(heap(3, None), Settings::default()).unwrap();
    let refused = simulation.disable(0).unwrap_err();
    assert!(matches!(refused, WorldError::Switch { .. }), "{refused}");
    assert!(
        refused.to_string().contains("clumps, and bodies on joints, cannot be disabled"),
        "{refused}"
    );
    let before = simulation.save().unwrap();
    simulation.enable(0).unwrap();
    assert_same(&before, &simulation.save().unwrap(), "nothing was disabled");
}

const DISABLED: u64 = 200;
const ENABLED: u64 = 400;
const END: u64 = 700;

/// A bed whose upper layers are a group of their own, at some distance above the others.
fn layers() -> World {
    let mut world = beds::falling(600, TangentialLaw::Mindlin);
    world.groups.push("top".into());
    for (position, group) in world.grains.position.iter_mut().zip(&mut world.grains.group) {
        if position[2] > 4.5e-3 {
            position[2] += 1e-3;
            *group = 1;
        }
    }
    world
}

/// Takes steps to `end`; the upper layers are disabled and enabled meanwhile.
fn play(simulation: &mut Simulation, end: u64) {
    for (step, comes) in [(DISABLED, false), (ENABLED, true)] {
        if simulation.steps() > step {
            continue;
        }
        simulation.advance(step.min(end) - simulation.steps()).unwrap();
        if simulation.steps() >= end {
            return;
        }
        let done = if comes { simulation.enable(1) } else { simulation.disable(1) };
        done.unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    simulation.advance(end - simulation.steps()).unwrap();
}

#[test]
fn going_on_while_a_group_is_disabled_is_the_same_to_the_bit() {
    let world = layers();
    let mut whole = Simulation::new(world.clone(), on_threads(1)).unwrap();
    play(&mut whole, END);
    let ledger = whole.ledger();
    let moved = ledger.normal_damping + ledger.tangential_damping + ledger.friction;
    assert!(whole.len() == 600 && ledger.left_domain != 0.0 && moved > 0.0, "{ledger:?}");
    // Contacts of grains that come back act from the next step on: half a step of each of some that last for about fifty.
    assert!(ledger.residual.abs() < 3e-2 * moved, "{ledger:?}");
    let whole = whole.save().unwrap();
    for split in [100, DISABLED, DISABLED + 1, 300, ENABLED, ENABLED + 1, 550] {
        let mut first = Simulation::new(world.clone(), on_threads(1)).unwrap();
        play(&mut first, split);
        let mut second = Simulation::restore(world.clone(), on_threads(3), &first.save().unwrap()).unwrap();
        assert_eq!((first.ledger(), first.len()), (second.ledger(), second.len()));
        play(&mut second, END);
        assert_same(&whole, &second.save().unwrap(), &format!("split at {split}"));
    }
}

#[test]
fn any_number_of_domains_and_a_gpu_do_the_same() {
    let world = layers();
    let mut whole = started(&world, 1);
    for end in [300, END] {
        play(&mut whole, end);
        whole.observe().unwrap();
        for domains in [2, 3] {
            let mut decomposed = started(&world, domains);
            play(&mut decomposed, end);
            alike::assert_same(&mut whole, &mut decomposed, &format!("{domains} domains, {end} steps"));
        }
    }
    let mut gpu = Simulation::new(world, on_gpu(Precision::F64)).unwrap();
    play(&mut gpu, END);
    gpu.observe().unwrap();
    let (a, b) = (whole.snapshot(), gpu.snapshot());
    assert_eq!((&a.id, &a.group), (&b.id, &b.group));
    let apart = a.position.iter().flatten().zip(b.position.iter().flatten());
    let farthest = apart.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    // As in other tests of a GPU: sums in another order, over some collisions.
    assert!(farthest < 1e-8, "{farthest:e} m");
}
