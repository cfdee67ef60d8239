//! Worlds of all kinds among domains whose grains are on a GPU: loads, walls that wear or bear a load, heat, and Gear's method (software Vulkan will do;
//! without any adapter these tests fail).

mod alike;
mod beds;
mod ledgers;
mod on_gpus;
mod warm;

use alike::assert_same;
use beds::falling;
use ledgers::assert_same_ledger;
use on_gpus::among;
use seixo_engine::world::{Domain, Leaving, Load, Precision, Scheme, Servo, Settings, WallMotion, WallShape, World};
use seixo_engine::{Refusal, Simulation};
use seixo_laws::contact::TangentialLaw;
use warm::conducting;

/// Takes so many steps, whole, and among two domains and then three, and the other way round: all must be the same. `also` says what else is compared.
/// Returns the one that is whole.
fn compare(world: &World, with: impl Fn(usize) -> Settings, steps: u64, also: impl Fn(&Simulation, &Simulation, &str)) -> Simulation {
    let mut whole = Simulation::new(world.clone(), with(1)).unwrap();
    whole.advance(steps).unwrap();
    whole.observe().unwrap();
    let mut changed_hands = 0;
    let [first, then] = [2, 3];
    let what = format!("{first} domains and then {then}");
    let mut divided = Simulation::new(world.clone(), with(first)).unwrap();
    divided.advance(steps / 2).unwrap();
    let state = divided.save().unwrap();
    changed_hands += divided.divided().unwrap().changed_hands;
    let mut divided = Simulation::restore(world.clone(), with(then), &state).unwrap();
    divided.advance(steps - steps / 2).unwrap();
    assert_same(&mut whole, &mut divided, &what);
    assert_same_ledger(&whole, &divided, &what);
    changed_hands += divided.divided().unwrap().changed_hands;
    also(&whole, &divided, &what);
    assert!(changed_hands > 0 && whole.rebuilds() > 1, "{changed_hands} {}", whole.rebuilds());
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
    // Each group is drawn another way, and one by gravity alone.
    for (group, force, torque) in [(0, [2e-4, 0.0, 1e-4], [0.0, 0.0, 1e-9]), (2, [-1e-4, 1e-4, 0.0], [0.0, -1e-9, 0.0])] {
        world.loads.push(Load { group, force, torque });
    }
    let whole = compare(&world, |domains| among(domains, precision), 800, |_, _, _| {});
    let ledger = whole.ledger();
    // Copies are loaded, too: were their share booked, books would tell.
    assert!(ledger.wall_work.abs() > 1e-3 * ledger.kinetic, "{ledger:?}");
}

/// What is worn of each wall that wears \[m³\].
fn worn(simulation: &Simulation) -> Vec<f64> {
    let walls = simulation.walls();
    walls.iter().filter_map(|wall| wall.wear.as_ref()).map(|wear| wear.volume).collect()
}

/// Grains that fall into a box and to a side, of which the floor and that side wear.
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
    compare(&wearing(), mixed, 900, |whole, divided, what| {
        let (expected, found) = (worn(whole), worn(divided));
        assert_eq!((expected.len(), found.len()), (2, 2));
        for (a, b) in expected.iter().zip(&found) {
            assert!(*a > 0.0 && (b / a - 1.0).abs() < 1e-12, "{what}: {a} {b}");
        }
    });
}

#[test]
fn looking_wears_nothing() {
    let mut divided = Simulation::new(wearing(), mixed(3)).unwrap();
    divided.advance(700).unwrap();
    divided.observe().unwrap();
    let before = worn(&divided);
    assert!(before.iter().any(|volume| *volume > 0.0));
    divided.observe().unwrap();
    assert_eq!(worn(&divided), before);
    divided.advance(1).unwrap();
    divided.observe().unwrap();
    assert!(worn(&divided).iter().zip(&before).all(|(now, then)| now >= then));
    // Nor does an event, for which the grains come home.
    let before = worn(&divided);
    divided.remove(&[0, 700, 1100]).unwrap();
    divided.observe().unwrap();
    for (a, b) in before.iter().zip(worn(&divided)) {
        assert!((a - b).abs() <= 1e-12 * a, "{a} {b}");
    }
}

#[test]
fn heat_flows_between_domains() {
    let (tangential, precision) = (TangentialLaw::Mindlin, Precision::F64);
    let mut world = conducting(falling(1200, tangential));
    // Some grains fly out at the top, and take their heat along.
    world.domain = Some(Domain::open([-0.1; 3], [0.1, 0.1, 0.0101], Leaving::Delete));
    let whole = compare(
        &world,
        |domains| among(domains, precision),
        900,
        |whole, divided, what| {
            for ([flow, given], [divided_flow, divided_given]) in whole.heat_of_walls().into_iter().zip(divided.heat_of_walls()) {
                assert_eq!(flow, divided_flow, "{what}");
                assert!(
                    (given - divided_given).abs() <= 1e-12 * given.abs(),
                    "{what}: {given} {divided_given}"
                );
            }
            // In mixed precision, masses are singles.
            let books = divided.heat().unwrap();
            assert!(books.residual.abs() < 1e-6 * books.initial, "{what}: {books:?}");
        },
    );
    let books = whole.heat().unwrap();
    assert!(whole.len() < 1200 && books.left > 0.0 && books.from_walls != 0.0, "{books:?}");
}

#[test]
fn heat_asks_for_the_same_digits_among_domains_as_undivided() {
    let world = conducting(falling(1000, TangentialLaw::None));
    let refusal = Simulation::new(world, among(2, Precision::F32)).err();
    assert!(matches!(refusal, Some(Refusal::HeatInSingle)), "{refusal:?}");
}

/// Where the plate of [`pressed()`] begins \[m\], and how fast it goes down where nothing bears it \[m/s\].
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
            force: 0.5,
            velocity_limit: SPEED,
            gain: None,
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
        |whole, divided, what| {
            assert_eq!(whole.walls()[5], divided.walls()[5], "{what}");
        },
    );
    // It went down, and not as if there were no grains.
    let (plate, free) = (&whole.walls()[5], START - SPEED * whole.time());
    assert!(plate.position[2] < START - 5e-5 && plate.position[2] > free + 1e-5, "{plate:?}");
}

#[test]
fn grains_take_their_derivatives_along_to_other_domains() {
    // Friction turns grains: they have orientations, and derivatives of these.
    let tangential = TangentialLaw::Mindlin;
    let with = |domains: usize| Settings {
        scheme: Scheme::Gear,
        ..mixed(domains)
    };
    let whole = compare(&falling(1200, tangential), with, 1400, |_, _, _| {});
    assert!(whole.contacts() > 20, "{}", whole.contacts());
}
