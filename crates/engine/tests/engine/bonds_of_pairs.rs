//! Bonds of single pairs with their own stiffness and strength: each pair oscillates and breaks by its own values, on every device, among domains, and
//! after a restart.

use crate::alike;
use crate::bars::{RADIUS, SIDE, SPACING, bonds, mass, row, settings};
use crate::devices::on_gpu;
use crate::resumed::assert_same_when_resumed;
use seixo_engine::Simulation;
use seixo_engine::world::{Bonded, Bonds, PairValues, Precision, Settings, World};
use seixo_laws::bond::{BondLaw, BreakMode};
use std::f64::consts::TAU;

/// Stiffnesses of pairs one after the other \[N/m\].
const STIFFNESS: [f64; 3] = [5e4, 1.1e5, 2.3e5];
const SPEED: f64 = 1e-3;

/// Pairs of grains in a row, in which both grains of each fly apart; a pair with its own stiffness and strength holds each.
fn pairs(count: usize, strength: Vec<f64>) -> World {
    let kind = Bonds {
        between: Bonded::Pairs((0..count as u32).map(|k| [2 * k + 1, 2 * k]).collect()),
        of_pairs: PairValues {
            stiffness: STIFFNESS.iter().copied().cycle().take(count).collect(),
            strength,
        },
        youngs_modulus: 0.0,
        ..bonds(BondLaw::Point)
    };
    row(2 * count, |k| [if k % 2 == 0 { -SPEED } else { SPEED }, 0.0, 0.0], kind)
}

/// Angular frequency of a pair \[rad/s\].
fn pulse(stiffness: f64) -> f64 {
    (stiffness / (0.5 * mass())).sqrt()
}

/// The shortest period in this many steps \[s\].
fn step(steps: f64) -> f64 {
    TAU / pulse(STIFFNESS[2]) / steps
}

#[test]
fn each_pair_has_the_period_of_its_own_stiffness() {
    let dt = step(1000.0);
    let gpu = Settings {
        time_step: Some(dt),
        ..on_gpu(Precision::F64)
    };
    for settings in [settings(dt), gpu] {
        let mut simulation = Simulation::new(pairs(3, Vec::new()), settings).unwrap();
        for _ in 0..5 {
            simulation.advance(317).unwrap();
            simulation.observe().unwrap();
            let (seen, time) = (simulation.snapshot(), simulation.time());
            for (k, stiffness) in STIFFNESS.into_iter().enumerate() {
                let omega = pulse(stiffness);
                let stretch = seen.position[2 * k + 1][0] - seen.position[2 * k][0] - SPACING;
                let expected = 2.0 * SPEED / omega * (omega * time).sin();
                // The scheme lags by (ω Δt)²/24 of the phase, here of up to ten radians.
                let near = 2.0 * (omega * dt).powi(2) * SPEED / omega;
                assert!((stretch - expected).abs() < near, "{k} at {time:e} s: {stretch:e} {expected:e}");
            }
        }
    }
}

#[test]
fn a_pair_breaks_at_its_own_strength() {
    // The largest force on the first pair is v_rel √(k m*). At the strength of its kind it would break at 2/3 of it.
    let largest = 2.0 * SPEED * (STIFFNESS[0] * 0.5 * mass()).sqrt();
    let limit = 2.0 / 3.0 * largest;
    let mut world = pairs(2, vec![0.5, 2.0]);
    world.bonds[0].of_pairs.stiffness = vec![STIFFNESS[0]; 2];
    world.bonds[0].tensile_strength = limit / (SIDE * SIDE);
    let dt = TAU / pulse(STIFFNESS[0]) / 4000.0;
    let gpu = Settings {
        time_step: Some(dt),
        ..on_gpu(Precision::F64)
    };
    for settings in [settings(dt), gpu] {
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        simulation.advance(4000).unwrap();
        simulation.observe().unwrap();
        let breaks = simulation.drain_bond_breaks();
        assert_eq!((breaks.len(), simulation.bond_counts()), (1, [2, 1]), "{breaks:?}");
        assert_eq!((breaks[0].grains, breaks[0].kind, breaks[0].mode), ([0, 1], 0, BreakMode::Tension));
        let expected = (0.5 * limit).powi(2) / (2.0 * STIFFNESS[0]);
        // Within the step of the break the force rises by ω Δt/tan(asin 1/3), 0.45 %, and the energy by twice as much.
        let excess = breaks[0].energy / expected - 1.0;
        assert!((0.0..0.01).contains(&excess), "{excess}");
    }
}

/// A chain of grains with bonds of different stiffness and strength, which flies along its axis and oscillates so far that some bonds break.
fn chain() -> World {
    let count = 40;
    let kind = Bonds {
        between: Bonded::Pairs((1..count as u32).map(|k| [k - 1, k]).collect()),
        of_pairs: PairValues {
            stiffness: (1..count).map(|k| STIFFNESS[k % 3]).collect(),
            strength: (1..count).map(|k| 0.2 + 0.1 * ((7 * k) % 11) as f64).collect(),
        },
        youngs_modulus: 0.0,
        damping: Some(0.1),
        tensile_strength: 1.5 * (STIFFNESS[0] * mass()).sqrt() / (SIDE * SIDE),
        ..bonds(BondLaw::Point)
    };
    row(count, |k| [2.0 + 0.5 * (0.4 * k as f64).sin(), 0.0, 0.0], kind)
}

#[test]
fn own_values_survive_a_restart() {
    let dt = step(60.0);
    let world = chain();
    let mut simulation = Simulation::new(world.clone(), settings(dt)).unwrap();
    simulation.advance(400).unwrap();
    let [made, holding] = simulation.bond_counts();
    assert!(made == 39 && holding < 39 && holding > 10, "{holding} of {made}");
    assert_same_when_resumed(&world, &settings(dt), [150, 250]);
}

#[test]
fn own_values_migrate_with_their_grains() {
    let dt = step(60.0);
    let world = chain();
    let among = |domains: usize| Settings {
        threads: 2,
        domains,
        decomposition_invariant: true,
        skin: Some(0.05 * RADIUS),
        ..settings(dt)
    };
    let mut whole = Simulation::new(world.clone(), among(1)).unwrap();
    whole.advance(400).unwrap();
    for domains in [2, 3] {
        let mut decomposed = Simulation::new(world.clone(), among(domains)).unwrap();
        decomposed.advance(400).unwrap();
        decomposed.observe().unwrap();
        assert_eq!(decomposed.decomposition().map(|found| found.grains.len()), Some(domains));
        assert_eq!(whole.bonds_now(), decomposed.bonds_now(), "{domains} domains");
        alike::assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
}

#[test]
fn values_that_no_pair_can_have_are_refused() {
    let refused = |change: &dyn Fn(&mut Bonds)| {
        let mut world = pairs(2, vec![1.0; 2]);
        change(&mut world.bonds[0]);
        Simulation::new(world, settings(1e-8)).err().unwrap().to_string()
    };
    assert!(refused(&|bonds| bonds.of_pairs.stiffness[1] = 0.0).contains("stiffness of a pair is 0"));
    assert!(refused(&|bonds| bonds.of_pairs.strength[0] = f64::NAN).contains("strength of a pair is NaN"));
    assert!(refused(&|bonds| bonds.of_pairs.strength.push(1.0)).contains("number of values of pairs is 3"));
    assert!(refused(&|bonds| bonds.law = BondLaw::Beam).contains("stiffness of a pair"));
}
