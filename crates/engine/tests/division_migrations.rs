//! A hundred thousand grains that go from one domain to another, and nothing that is lost; and what domains tell each other meanwhile.

mod alike;
mod beds;
mod domains;
mod gases;
mod ledgers;

use alike::assert_same;
use beds::falling;
use domains::{after, among, started};
use gases::gas;
use ledgers::assert_same_ledger;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Settings, World};
use seixo_engine::{Simulation, Traffic};
use seixo_laws::contact::TangentialLaw;

/// How often grains are to change hands.
const MOVES: u64 = 100_000;
/// Along each axis \[m/s\].
const WIND: f64 = 20.0;
/// A twentieth of a collision \[s\]; the wind would shorten what "auto" takes, though nothing meets at its speed.
const STEP: f64 = 2e-6;

/// A gas that a wind blows round and round: it takes grains from domain to domain, and is not felt where they meet.
fn storm() -> World {
    let mut world = gas(3000);
    for velocity in world.grains.velocity.iter_mut().flatten() {
        *velocity = 0.5 * *velocity + WIND;
    }
    world
}

fn blown(world: &World, domains: usize) -> Simulation {
    let settings = Settings {
        time_step: Some(STEP),
        ..among(domains)
    };
    Simulation::new(world.clone(), settings).unwrap()
}

/// Kinetic energy beside that of the wind \[J\].
fn energy_in_the_wind(grains: &GrainSnapshot) -> f64 {
    let square = |velocity: &[f64; 3]| velocity.iter().map(|v| (v - WIND) * (v - WIND)).sum::<f64>();
    grains
        .velocity
        .iter()
        .zip(&grains.mass)
        .map(|(velocity, mass)| 0.5 * mass * square(velocity))
        .sum()
}

#[test]
fn a_hundred_thousand_grains_change_hands_and_nothing_is_lost() {
    let world = storm();
    let [mut whole, mut divided] = [1, 8].map(|domains| blown(&world, domains));
    let (before, momentum) = (divided.snapshot(), divided.momentum().linear);
    let moves = |simulation: &Simulation| simulation.divided().map_or(0, |divided| divided.changed_hands);
    while moves(&divided) <= MOVES {
        assert!(divided.steps() < 10_000, "{} moves in {} steps", moves(&divided), divided.steps());
        divided.advance(250).unwrap();
        divided.observe().unwrap();
    }
    whole.advance(divided.steps()).unwrap();
    whole.observe().unwrap();

    let shares = divided.divided().unwrap().grains;
    assert!(shares.len() == 8 && shares.iter().sum::<usize>() == 3000, "{shares:?}");
    let after = divided.snapshot();
    assert_eq!(after.id, (0..3000).collect::<Vec<u32>>());
    assert!(after.id == before.id && after.mass == before.mass && after.radius == before.radius);

    let scale: f64 = before.mass.iter().sum::<f64>() * WIND;
    for (a, b) in momentum.iter().zip(divided.momentum().linear) {
        assert!((a - b).abs() < 1e-12 * scale, "{a} {b}");
    }
    let (ledger, energy) = (divided.ledger(), energy_in_the_wind(&before));
    assert!(ledger.friction > 1e-3 * energy, "they rub: {ledger:?}");
    assert!(ledger.residual.abs() < 1e-2 * energy, "of {energy:e} J: {ledger:?}");

    assert_same(&mut whole, &mut divided, "a storm");
    assert_same_ledger(&whole, &divided, "a storm");
    assert_eq!(whole.snapshot(), after);
}

#[test]
fn domains_tell_those_beside_them_and_what_they_tell_is_counted() {
    let world = falling(3000, TangentialLaw::Mindlin);
    assert_eq!(started(&world, 1).divided(), None);
    let mut divided = after(&world, 3, 100);
    let first = divided.divided().unwrap().traffic;
    divided.advance(300).unwrap();
    divided.observe().unwrap();
    let then = divided.divided().unwrap().traffic;
    let of = |count: fn(&Traffic) -> u64| -> Vec<u64> { then.iter().zip(&first).map(|(now, before)| count(now) - count(before)).collect() };
    // All wait for each other at least once a step, and equally often.
    let gathers = of(|traffic| traffic.gathers);
    assert!(
        gathers.len() == 3 && gathers[0] >= 300 && gathers.iter().all(|one| *one == gathers[0]),
        "{gathers:?}"
    );
    let messages = of(|traffic| traffic.messages);
    // A third of the box is beside the halves of what is left, and these are beside each other.
    assert_eq!(divided.divided().unwrap().space.borders(3).unwrap().beside, 2);
    assert!(messages[0] >= 600 && messages.iter().all(|one| *one == messages[0]), "{messages:?}");
    // At each step places, velocities and spins of one or two layers of grains, of some two hundred each: the third has a whole side to tell of.
    let bytes = of(|traffic| traffic.bytes);
    let layer = 150 * 9 * size_of::<f64>() as u64;
    assert!(
        bytes.iter().all(|bytes| (300 * layer..300 * 10 * layer).contains(bytes)),
        "{bytes:?}"
    );
    assert!(then.iter().zip(&first).all(|(now, before)| now.spent > before.spent));
}
