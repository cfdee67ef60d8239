//! Decomposed worlds of all kinds on a GPU: loads, walls with wear or a load, heat, and Gear's method (software Vulkan suffices; without any adapter
//! these tests fail).

use crate::alike::assert_same;
use crate::beds::falling;
use crate::decomposition_kinds::worn;
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::overflowing::losing_its_top;
use crate::warm::conducting;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{
    Formula, Load, Precision, Scheme, Servo, ServoTarget, Settings, TimeFunction, VectorOfTime, WallMotion, WallShape, World,
};
use seixo_engine::{Simulation, WorldError};
use seixo_laws::contact::TangentialLaw;

/// Runs a world without decomposition, on two and then three subdomains, and in the reverse order: all must be equal. `also` compares further
/// results. Returns the simulation without decomposition.
fn compare(world: &World, with: impl Fn(usize) -> Settings, steps: u64, also: impl Fn(&Simulation, &Simulation, &str)) -> Simulation {
    let mut whole = Simulation::new(world.clone(), with(1)).unwrap();
    whole.advance(steps).unwrap();
    whole.observe().unwrap();
    let mut migrations = 0;
    let [first, then] = [2, 3];
    let what = format!("{first} domains and then {then}");
    let mut decomposed = Simulation::new(world.clone(), with(first)).unwrap();
    decomposed.advance(steps / 2).unwrap();
    let state = decomposed.save().unwrap();
    migrations += decomposed.decomposition().unwrap().migrations;
    let mut decomposed = Simulation::restore(world.clone(), with(then), &state).unwrap();
    decomposed.advance(steps - steps / 2).unwrap();
    assert_same(&mut whole, &mut decomposed, &what);
    assert_same_ledger(&whole, &decomposed, &what);
    migrations += decomposed.decomposition().unwrap().migrations;
    also(&whole, &decomposed, &what);
    assert!(migrations > 0 && whole.rebuilds() > 1, "{migrations} {}", whole.rebuilds());
    whole
}

fn mixed(domains: usize) -> Settings {
    among(domains, Precision::Mixed)
}

#[test]
fn loads_are_laid_on_the_grains_of_all_domains() {
    let (tangential, precision) = (TangentialLaw::Mindlin, Precision::Mixed);
    let mut world = falling(1200, tangential);
    world.groups = vec!["bed".into(), "others".into(), "more".into()];
    world.grains.group = world.grains.id.iter().map(|id| id % 3).collect();
    // Each group has another load, and one swings with time.
    let swing = TimeFunction::Formula(Formula::read("2e-4 * cos(2000 * t)", 1.0).unwrap());
    world.loads.push(Load {
        group: 1,
        force: VectorOfTime([swing, TimeFunction::Constant(0.0), TimeFunction::Constant(0.0)]),
        ..Load::default()
    });
    for (group, force, torque) in [(0, [2e-4, 0.0, 1e-4], [0.0, 0.0, 1e-9]), (2, [-1e-4, 1e-4, 0.0], [0.0, -1e-9, 0.0])] {
        world.loads.push(Load::constant(group, force, torque));
    }
    let whole = compare(&world, |domains| among(domains, precision), 800, |_, _, _| {});
    let ledger = whole.ledger();
    // Ghosts have loads, too: if their share entered the ledger, the ledger would differ.
    assert!(ledger.wall_work.abs() > 1e-3 * ledger.kinetic, "{ledger:?}");
}

/// Grains that fall into a box and to a side; the floor and that side wear.
fn wearing() -> World {
    let mut world = falling(1200, TangentialLaw::Mindlin);
    world.gravity = [-100.0, 0.0, -200.0];
    for (wall, rate) in [(0, 1e-12), (4, 2e-12)] {
        world.walls[wall].specific_wear_rate = rate;
    }
    world
}

#[test]
fn walls_wear_by_the_grains_of_all_domains() {
    compare(&wearing(), mixed, 900, |whole, decomposed, what| {
        let (expected, found) = (worn(whole), worn(decomposed));
        assert_eq!((expected.len(), found.len()), (2, 2));
        for (a, b) in expected.iter().zip(&found) {
            assert!(*a > 0.0 && (b / a - 1.0).abs() < 1e-12, "{what}: {a} {b}");
        }
    });
}

#[test]
fn looking_wears_nothing() {
    let mut decomposed = Simulation::new(wearing(), mixed(3)).unwrap();
    decomposed.advance(700).unwrap();
    decomposed.observe().unwrap();
    let before = worn(&decomposed);
    assert!(before.iter().any(|volume| *volume > 0.0));
    decomposed.observe().unwrap();
    assert_eq!(worn(&decomposed), before);
    decomposed.advance(1).unwrap();
    decomposed.observe().unwrap();
    assert!(worn(&decomposed).iter().zip(&before).all(|(now, then)| now >= then));
    // An event, for which the grains are downloaded, changes nothing either.
    let before = worn(&decomposed);
    decomposed.remove(&[0, 700, 1100]).unwrap();
    decomposed.observe().unwrap();
    for (a, b) in before.iter().zip(worn(&decomposed)) {
        assert!((a - b).abs() <= 1e-12 * a, "{a} {b}");
    }
}

#[test]
fn heat_flows_between_domains() {
    let (tangential, precision) = (TangentialLaw::Mindlin, Precision::F64);
    // The uppermost grains leave and take their heat along.
    let world = conducting(losing_its_top(1200, tangential));
    let whole = compare(
        &world,
        |domains| among(domains, precision),
        900,
        |whole, decomposed, what| {
            for ([flow, given], [decomposed_flow, decomposed_given]) in whole.heat_of_walls().into_iter().zip(decomposed.heat_of_walls()) {
                assert_eq!(flow, decomposed_flow, "{what}");
                assert!(
                    (given - decomposed_given).abs() <= 1e-12 * given.abs(),
                    "{what}: {given} {decomposed_given}"
                );
            }
            // In mixed precision, masses are in single precision.
            for scalar in GrainScalar::ALL {
                let ledger = decomposed.scalar_ledger(scalar).unwrap();
                assert!(
                    ledger.left > 0.0 && ledger.residual.abs() < 1e-6 * ledger.initial,
                    "{what}: {ledger:?}"
                );
            }
        },
    );
    let ledger = whole.scalar_ledger(GrainScalar::Temperature).unwrap();
    assert!(whole.len() < 1200 && ledger.left > 0.0 && ledger.from_walls != 0.0, "{ledger:?}");
}

#[test]
fn heat_asks_for_the_same_digits_among_domains_as_undivided() {
    let world = conducting(falling(1000, TangentialLaw::None));
    let refusal = Simulation::new(world, among(2, Precision::F32)).err();
    assert!(matches!(refusal, Some(WorldError::ScalarInSingle { .. })), "{refusal:?}");
}

/// Initial height of the plate of [`pressed()`] \[m\], and its speed without resistance \[m/s\].
const START: f64 = 9.6e-3;
const SPEED: f64 = 0.3;

/// A bed in a box, and a plate above that a servo presses down.
fn pressed() -> World {
    let mut world = falling(729, TangentialLaw::Mindlin);
    world.gravity = [-20.0, 0.0, -50.0];
    let mut plate = world.walls[1].clone();
    plate.name = "plate".into();
    plate.shape = WallShape::Plane {
        point: [0.0, 0.0, START],
        normal: [0.0, 0.0, -1.0],
    };
    plate.motion = WallMotion {
        servo: Some(Servo {
            along: [0.0, 0.0, -1.0],
            target: ServoTarget::Force(0.5),
            velocity_limit: SPEED,
            ..Servo::default()
        }),
        ..WallMotion::default()
    };
    world.walls.push(plate);
    world
}

#[test]
fn a_servo_goes_by_what_the_grains_of_all_domains_bear() {
    let precision = Precision::Mixed;
    let whole = compare(
        &pressed(),
        |domains| among(domains, precision),
        900,
        |whole, decomposed, what| {
            assert_eq!(whole.walls()[5], decomposed.walls()[5], "{what}");
        },
    );
    // The plate moved down, but less than without grains.
    let (plate, free) = (&whole.walls()[5], START - SPEED * whole.time());
    assert!(plate.position[2] < START - 5e-5 && plate.position[2] > free + 1e-5, "{plate:?}");
}

#[test]
fn grains_take_their_derivatives_along_to_other_domains() {
    // Friction rotates grains: they have orientations and derivatives of these.
    let tangential = TangentialLaw::Mindlin;
    let with = |domains: usize| Settings {
        scheme: Scheme::Gear,
        ..mixed(domains)
    };
    let whole = compare(&falling(1200, tangential), with, 1400, |_, _, _| {});
    assert!(whole.contacts() > 20, "{}", whole.contacts());
}
