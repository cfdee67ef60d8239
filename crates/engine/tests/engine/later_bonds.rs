//! Bonds that are made and dissolved while grains move: unloaded when made, with a ledger that closes, and identical after a restart.

use crate::bars::{MODULUS, RADIUS, SIDE, SPACING, bonds, mass, row, settings};
use crate::floors::floor;
use crate::resumed::assert_same;
use seixo_engine::world::{Bonded, Bonds, Grains, Load, Scheme, Settings, World};
use seixo_engine::{Simulation, SurroundingsChange, plan_time_step};
use seixo_laws::bond::BondLaw;
use std::f64::consts::TAU;

/// The world, with its first kind of bonds made later.
fn later(mut world: World) -> World {
    world.later.bonds = vec![0];
    world
}

/// Two grains that fly apart; a later bond makes them oscillate.
fn parting(speed: f64) -> World {
    row(2, |k| [if k == 0 { -speed } else { speed }, 0.0, 0.0], bonds(BondLaw::Beam))
}

/// Angular frequency of the two grains \[rad/s\].
fn pulse() -> f64 {
    (MODULUS * SIDE * SIDE / SPACING / (0.5 * mass())).sqrt()
}

#[test]
fn a_bond_begins_free_of_load_where_its_grains_are() {
    let (speed, period) = (1e-3, TAU / pulse());
    let dt = period / 1000.0;
    let mut simulation = Simulation::new(later(parting(speed)), settings(dt)).unwrap();
    simulation.advance(500).unwrap();
    assert_eq!((simulation.bond_counts(), simulation.bonds_now().len()), ([0, 0], 0));
    let apart = SPACING + 2.0 * speed * simulation.time();
    let before = simulation.ledger();
    simulation.bond(&[0]).unwrap();
    assert_eq!(simulation.bond_counts(), [1, 1]);
    let made = simulation.bonds_now()[0];
    // Rounding of positions over the length, times EA.
    let rounding = 1e-15 * MODULUS * SIDE * SIDE;
    assert!(made.tension.abs() < rounding && made.shear.abs() < rounding, "{made:?}");
    assert!((made.ends[1][0] - made.ends[0][0] - apart).abs() < 1e-15);
    let after = simulation.ledger();
    assert!(after.elastic_bonds.abs() < 1e-12 * before.kinetic);
    assert!((after.kinetic / before.kinetic - 1.0).abs() < 1e-12 && after.inserted.abs() < 1e-12 * before.kinetic);
    // After a quarter of a period all energy is in the bond, after a whole one the initial state is back.
    let second_order = (TAU / 1000.0f64).powi(2);
    simulation.advance(250).unwrap();
    let stretched = simulation.ledger();
    assert!(
        (stretched.elastic_bonds / before.kinetic - 1.0).abs() < 2.0 * second_order,
        "{stretched:?}"
    );
    simulation.advance(750).unwrap();
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    assert!((seen.velocity[1][0] / speed - 1.0).abs() < second_order, "{:?}", seen.velocity);
    assert!(ledger.residual.abs() < second_order * before.kinetic, "{ledger:?}");
}

#[test]
fn a_bond_that_is_dissolved_releases_and_its_energy_enters_the_ledger() {
    let (speed, period) = (1e-3, TAU / pulse());
    let mut simulation = Simulation::new(parting(speed), settings(period / 1000.0)).unwrap();
    simulation.advance(100).unwrap();
    let before = simulation.ledger();
    simulation.unbond(&[0]).unwrap();
    let (after, velocity) = (simulation.ledger(), simulation.snapshot().velocity);
    assert!(before.elastic_bonds > 0.1 * before.kinetic, "{before:?}");
    assert_eq!((after.fracture, simulation.bond_counts()), (before.elastic_bonds, [1, 0]));
    assert!((after.kinetic / before.kinetic - 1.0).abs() < 1e-12);
    assert!((after.residual - before.residual).abs() < 1e-12 * before.kinetic, "{after:?}");
    assert!(simulation.drain_bond_breaks().is_empty());
    // From here on they fly with their velocities of that moment.
    simulation.advance(1000).unwrap();
    let flown = simulation.snapshot().velocity;
    assert!((flown[1][0] / velocity[1][0] - 1.0).abs() < 1e-9, "{flown:?} {velocity:?}");
    let ledger = simulation.ledger();
    assert!((ledger.residual - before.residual).abs() < 1e-9 * before.kinetic, "{ledger:?}");
    // The bond can be made again.
    simulation.bond(&[0]).unwrap();
    assert_eq!(simulation.bond_counts(), [2, 1]);
}

/// Three grains fall on a floor and come to rest on each other; then they are bonded, and the last one is pulled up.
#[test]
fn grains_that_settled_are_bonded_and_lifted_together() {
    let bond_parameters = Bonds {
        between: Bonded::Near {
            groups: vec![0, 1],
            tolerance: 0.05,
        },
        youngs_modulus: 1e7,
        stiffness: None,
        damping_ratio: 0.3,
        one_piece: true,
        ..bonds(BondLaw::Beam)
    };
    let mut world = later(row(1, |_| [0.0; 3], bond_parameters));
    world.interactions[0].as_mut().unwrap().restitution = 0.4;
    world.gravity = [0.0, 0.0, -9.81];
    world.groups.push("top".into());
    world.later.constrained_groups = vec![1];
    world.grains = Grains::default();
    for k in 0..3u32 {
        let height = (1.0 + 2.0 * f64::from(k)) * RADIUS;
        world.grains.push(k, [0.0, 0.0, height], [0.0; 3], [0.0; 3], RADIUS, 0, k / 2);
    }
    world.walls.push(floor());
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(world, settings).unwrap();
    let steps_of = |simulation: &Simulation, time: f64| (time / simulation.time_step().value).ceil() as u64;
    simulation.advance(steps_of(&simulation, 0.05)).unwrap();
    let settled = simulation.snapshot();
    simulation.bond(&[0]).unwrap();
    let weight = 3.0 * mass() * 9.81;
    let rounding = 1e-12 * weight;
    for bond in simulation.bonds_now() {
        assert!(bond.tension.abs() < rounding.max(1e-15 * 1e7 * SIDE * SIDE), "{bond:?}");
    }
    // Bonding does not move the grains.
    simulation.advance(steps_of(&simulation, 0.01)).unwrap();
    let bonded = simulation.snapshot();
    for (now, then) in bonded.position.iter().zip(&settled.position) {
        assert!((now[2] - then[2]).abs() < 1e-9, "{now:?} {then:?}");
    }
    let load = Load::constant(1, [0.0, 0.0, 3.0 * weight], [0.0; 3]);
    simulation.change(&[SurroundingsChange::Load(load)]).unwrap();
    let (start, before) = (simulation.time(), simulation.ledger());
    simulation.advance(steps_of(&simulation, 0.02)).unwrap();
    // A load of three weights against one weight.
    let speed = 2.0 * 9.81 * (simulation.time() - start);
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    for velocity in &seen.velocity {
        assert!((velocity[2] / speed - 1.0).abs() < 0.02, "{:?} {speed}", seen.velocity);
    }
    assert!(
        ledger.wall_work > 0.0 && (ledger.residual - before.residual).abs() < 0.01 * ledger.wall_work,
        "{ledger:?}"
    );
    assert_eq!(simulation.bond_counts(), [2, 2]);
}

#[test]
fn the_step_must_suit_bonds_that_are_made_later() {
    let stiff = Bonds {
        youngs_modulus: 1e12,
        ..bonds(BondLaw::Beam)
    };
    let world = later(row(3, |_| [0.0; 3], stiff));
    let mut simulation = Simulation::new(world, settings(1e-6)).unwrap();
    simulation.advance(10).unwrap();
    let refused = simulation.bond(&[0]).unwrap_err().to_string();
    assert!(refused.contains("the bonds glue at grains"), "{refused}");
    assert!(refused.contains("above their stable limit"), "{refused}");
    assert!(simulation.bond(&[1]).unwrap_err().to_string().contains("kind of bonds is 1"));

    // A dense block: the time step that "auto" estimates is safe, and close to the actual limit.
    let dense = Bonds {
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.05,
        },
        youngs_modulus: 1e9,
        ..bonds(BondLaw::Beam)
    };
    let mut world = row(1, |_| [0.0; 3], dense);
    world.grains = Grains::default();
    for k in 0..343u32 {
        let at = [k % 7, k / 7 % 7, k / 49].map(|cell| f64::from(cell) * 2.0 * RADIUS);
        world.grains.push(k, at, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    }
    let now = plan_time_step(&world, Scheme::default()).unwrap();
    let foreseen = plan_time_step(&later(world.clone()), Scheme::default()).unwrap();
    assert!(now.cause.contains("the bonds glue"), "{now:?}");
    assert!(foreseen.auto < now.limit && foreseen.auto > 0.25 * now.auto, "{foreseen:?} {now:?}");
    let automatic = Settings {
        threads: 2,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(later(world), automatic).unwrap();
    simulation.bond(&[0]).unwrap();
    assert_eq!(simulation.bond_counts(), [3 * 7 * 7 * 6; 2]);
}

#[test]
fn networks_with_loose_parts_are_refused_where_one_piece_is_asked_for() {
    let whole = Bonds {
        one_piece: true,
        ..bonds(BondLaw::Beam)
    };
    let mut world = row(6, |_| [0.0; 3], whole);
    assert!(Simulation::new(world.clone(), settings(1e-7)).is_ok());
    for k in 3..6 {
        world.grains.position[k][0] += SPACING;
    }
    world.grains.position[5][0] += SPACING;
    let reported = |simulation: Result<Simulation, seixo_engine::WorldError>| simulation.err().unwrap().to_string();
    let refused = reported(Simulation::new(world.clone(), settings(1e-7)));
    for phrase in [
        "bonds glue: its 6 grains are in 3 pieces, not in one: 3 hang together",
        "grain 3 (a piece of 2), grain 5 (a piece of 1)",
    ] {
        assert!(refused.contains(phrase), "{refused}");
    }
    // Of pairs, only the named grains count.
    world.bonds[0].between = Bonded::Pairs(vec![[0, 1], [2, 1]]);
    assert!(Simulation::new(world.clone(), settings(1e-7)).is_ok());
    world.bonds[0].between = Bonded::Pairs(vec![[0, 1], [4, 3]]);
    assert!(reported(Simulation::new(world, settings(1e-7))).contains("in 2 pieces"));
}

#[test]
fn pairs_that_are_bonded_already_are_passed_over_or_refused() {
    let mut world = row(3, |_| [0.0; 3], bonds(BondLaw::Beam));
    world.bonds[0].between = Bonded::Pairs(vec![[0, 1]]);
    world.bonds.push(Bonds {
        name: "mortar".into(),
        ..bonds(BondLaw::Point)
    });
    world.later.bonds = vec![1];
    let mut simulation = Simulation::new(world.clone(), settings(1e-7)).unwrap();
    simulation.bond(&[1]).unwrap();
    let pairs: Vec<(u32, [u32; 2])> = simulation.bonds_now().iter().map(|bond| (bond.kind, bond.grains)).collect();
    assert_eq!(pairs, [(0, [0, 1]), (1, [1, 2])]);
    let again = simulation.bond(&[1]).unwrap_err().to_string();
    assert!(
        again.contains("bonds mortar: all grains that are near enough for it are bonded already"),
        "{again}"
    );
    world.bonds[1].between = Bonded::Pairs(vec![[1, 0]]);
    let mut simulation = Simulation::new(world, settings(1e-7)).unwrap();
    let refused = simulation.bond(&[1]).unwrap_err().to_string();
    assert!(refused.contains("grains 0 and 1, which are bonded already, by glue"), "{refused}");
}

const BONDED: u64 = 100;
const DISSOLVED: u64 = 400;
const BONDED_AGAIN: u64 = 450;
const END: u64 = 700;

/// Takes steps to `end`; bonds are made or dissolved at three of them.
fn play(simulation: &mut Simulation, end: u64) {
    for (step, comes) in [(BONDED, true), (DISSOLVED, false), (BONDED_AGAIN, true)] {
        if simulation.steps() > step {
            continue;
        }
        simulation.advance(step.min(end) - simulation.steps()).unwrap();
        if simulation.steps() >= end {
            return;
        }
        if comes {
            simulation.bond(&[0]).unwrap();
        } else {
            simulation.unbond(&[0]).unwrap();
        }
    }
    simulation.advance(end - simulation.steps()).unwrap();
}

#[test]
fn going_on_before_at_and_after_glue_comes_and_goes_is_the_same_to_the_bit() {
    let bond_parameters = Bonds {
        tensile_strength: 3e4,
        cohesion: 3e4,
        damping_ratio: 0.05,
        weibull_modulus: Some(5.0),
        ..bonds(BondLaw::Beam)
    };
    let world = later(row(
        1500,
        |k| [0.0, 0.3 * (0.01 * k as f64).sin(), 0.2 * (k as f64 / 7.0).cos()],
        bond_parameters,
    ));
    let mut whole = Simulation::new(world.clone(), settings(2e-6)).unwrap();
    play(&mut whole, END);
    let [made, holding] = whole.bond_counts();
    assert!(made > 2500 && holding < 1499 && holding > 0, "{made} {holding}");
    let whole = whole.save().unwrap();
    let elsewhere = Settings {
        threads: 3,
        ..settings(2e-6)
    };
    for split in [
        50,
        BONDED,
        BONDED + 1,
        250,
        DISSOLVED,
        DISSOLVED + 1,
        BONDED_AGAIN,
        BONDED_AGAIN + 1,
        600,
    ] {
        let mut first = Simulation::new(world.clone(), settings(2e-6)).unwrap();
        play(&mut first, split);
        let mut second = Simulation::restore(world.clone(), elsewhere.clone(), &first.save().unwrap()).unwrap();
        assert_eq!(first.ledger(), second.ledger());
        play(&mut second, END);
        assert_same(&whole, &second.save().unwrap(), &format!("split at {split}"));
    }
    // Right after bonds were made, before another step.
    let mut first = Simulation::new(world.clone(), settings(2e-6)).unwrap();
    play(&mut first, BONDED);
    first.bond(&[0]).unwrap();
    let mut second = Simulation::restore(world, elsewhere, &first.save().unwrap()).unwrap();
    for simulation in [&mut first, &mut second] {
        simulation.advance(200).unwrap();
    }
    assert_same(&first.save().unwrap(), &second.save().unwrap(), "right after glue came");
}
