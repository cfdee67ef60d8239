//! Migration of a hundred thousand grains between subdomains without loss, and the messages meanwhile.

use crate::alike::assert_same;
use crate::beds::falling;
use crate::domains::{after, among, started};
use crate::gases::gas;
use crate::ledgers::assert_same_ledger;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Settings, World};
use seixo_engine::{Communication, Simulation};
use seixo_laws::contact::TangentialLaw;

/// Number of migrations that are required.
const MOVES: u64 = 100_000;
/// Mean velocity along each axis \[m/s\].
const WIND: f64 = 20.0;
/// A twentieth of a collision \[s\]. "auto" would take less because of the mean velocity, though no grains collide at that speed.
const STEP: f64 = 2e-6;

/// A gas with a mean velocity in a periodic box: grains migrate with it, and it does not affect their collisions.
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

/// Kinetic energy relative to the mean velocity \[J\].
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
fn a_hundred_thousand_grains_migrate_and_nothing_is_lost() {
    let world = storm();
    let [mut whole, mut decomposed] = [1, 8].map(|domains| blown(&world, domains));
    let (before, momentum) = (decomposed.snapshot(), decomposed.momentum().linear);
    let moves = |simulation: &Simulation| simulation.decomposition().map_or(0, |decomposed| decomposed.migrations);
    while moves(&decomposed) <= MOVES {
        assert!(
            decomposed.steps() < 10_000,
            "{} moves in {} steps",
            moves(&decomposed),
            decomposed.steps()
        );
        decomposed.advance(250).unwrap();
        decomposed.observe().unwrap();
    }
    whole.advance(decomposed.steps()).unwrap();
    whole.observe().unwrap();

    let shares = decomposed.decomposition().unwrap().grains;
    assert!(shares.len() == 8 && shares.iter().sum::<usize>() == 3000, "{shares:?}");
    let after = decomposed.snapshot();
    assert_eq!(after.id, (0..3000).collect::<Vec<u32>>());
    assert!(after.id == before.id && after.mass == before.mass && after.radius == before.radius);

    let scale: f64 = before.mass.iter().sum::<f64>() * WIND;
    for (a, b) in momentum.iter().zip(decomposed.momentum().linear) {
        assert!((a - b).abs() < 1e-12 * scale, "{a} {b}");
    }
    let (ledger, energy) = (decomposed.ledger(), energy_in_the_wind(&before));
    assert!(ledger.friction > 1e-3 * energy, "they slide with friction: {ledger:?}");
    assert!(ledger.residual.abs() < 1e-2 * energy, "of {energy:e} J: {ledger:?}");

    assert_same(&mut whole, &mut decomposed, "a storm");
    assert_same_ledger(&whole, &decomposed, "a storm");
    assert_eq!(whole.snapshot(), after);
}

#[test]
fn domains_report_those_beside_them_and_what_they_report_is_counted() {
    let world = falling(3000, TangentialLaw::Mindlin);
    assert_eq!(started(&world, 1).decomposition(), None);
    let mut decomposed = after(&world, 3, 100);
    let first = decomposed.decomposition().unwrap().communication;
    decomposed.advance(300).unwrap();
    decomposed.observe().unwrap();
    let then = decomposed.decomposition().unwrap().communication;
    let of = |count: fn(&Communication) -> u64| -> Vec<u64> {
        then.iter().zip(&first).map(|(now, before)| count(now) - count(before)).collect()
    };
    // All subdomains synchronize at least once a step, and equally often.
    let collectives = of(|traffic| traffic.collectives);
    assert!(
        collectives.len() == 3 && collectives[0] >= 300 && collectives.iter().all(|one| *one == collectives[0]),
        "{collectives:?}"
    );
    let messages = of(|traffic| traffic.messages);
    // A third of the box borders the halves of the rest, and these border each other.
    assert_eq!(decomposed.decomposition().unwrap().space.borders(3).unwrap().beside, 2);
    assert!(messages[0] >= 600 && messages.iter().all(|one| *one == messages[0]), "{messages:?}");
    // Each step sends positions, velocities and angular velocities of one or two layers of some two hundred grains; the third subdomain sends a whole
    // side.
    let bytes = of(|traffic| traffic.bytes);
    let layer = 150 * 9 * size_of::<f64>() as u64;
    assert!(
        bytes.iter().all(|bytes| (300 * layer..300 * 10 * layer).contains(bytes)),
        "{bytes:?}"
    );
    assert!(then.iter().zip(&first).all(|(now, before)| now.spent > before.spent));
}
