//! Migration of a hundred thousand grains between subdomains without loss, the messages meanwhile, and the selection of ghosts.

use crate::alike::assert_same;
use crate::beds::falling;
use crate::domains::{after, among, started};
use crate::gases::gas;
use crate::ledgers::assert_same_ledger;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Domain, GhostSelection, LeavingPolicy, Settings, World};
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

/// The same grains, of two size classes, in a long pipe with periodic sides, which is cut into slabs.
fn pipe() -> World {
    let mut world = storm();
    let (cells, spacing) = ([100, 6, 5], 1.05e-3);
    for (k, position) in world.grains.position.iter_mut().enumerate() {
        *position = [k % 100, k / 100 % 6, k / 600].map(|cell| (cell as f64 + 0.5) * spacing);
    }
    let length = cells.map(|cells| f64::from(cells) * spacing);
    world.domain = Some(Domain {
        periodic: [true; 3],
        ..Domain::open([0.0; 3], length, LeavingPolicy::Error)
    });
    world
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

#[test]
fn ghosts_from_layers_of_cells_are_those_among_all_grains() {
    let world = pipe();
    let run = |domains: usize, ghost_selection: GhostSelection| {
        let settings = Settings {
            time_step: Some(STEP),
            ghost_selection,
            ..among(domains)
        };
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        simulation.advance(400).unwrap();
        simulation.observe().unwrap();
        simulation
    };
    let mut whole = run(1, GhostSelection::All);
    for domains in [4, 8] {
        let [mut all, mut layers] = GhostSelection::ALL.map(|selection| run(domains, selection));
        let what = format!("{domains} domains");
        assert_same(&mut whole, &mut layers, &what);
        assert_same(&mut all, &mut layers, &what);
        assert_eq!(all.snapshot(), layers.snapshot(), "{what}");
        let [of_all, of_layers] = [&all, &layers].map(|simulation| simulation.decomposition().unwrap());
        assert!(of_layers.migrations > 1000, "{what}: {} moves", of_layers.migrations);
        let sum = |counts: &[Communication], count: fn(&Communication) -> u64| counts.iter().map(count).sum::<u64>();
        let both = |count: fn(&Communication) -> u64| [&of_all, &of_layers].map(|found| sum(&found.communication, count));
        let [bytes, bytes_of_layers] = both(|counts| counts.bytes);
        assert_eq!(bytes, bytes_of_layers, "{what}: other ghosts were sent");
        // Slabs are 25 or 13 spacings long. The range is one spacing, the motion since the last sort half of one, and cells are up to one spacing long.
        let [tested, tested_of_layers] = both(|counts| counts.tested);
        assert!(
            0 < tested_of_layers && 2 * tested_of_layers < tested,
            "{what}: {tested_of_layers} of {tested}"
        );
        assert!(of_layers.communication.iter().all(|counts| !counts.selecting.is_zero()), "{what}");
    }
}
