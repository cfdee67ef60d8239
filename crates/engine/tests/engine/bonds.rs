//! Bonded grains against physics: oscillation as springs, rotation as rods, wave propagation, and breakage.

use crate::bars::{MODULUS, RADIUS, SIDE, SPACING, bonds, mass, row, settings};
use crate::devices::on_gpu;
use crate::resumed::assert_same_when_resumed;
use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, Domain, Grains, LeavingPolicy, Precision, Settings, World};
use seixo_engine::{Simulation, plan_time_step};
use seixo_laws::bond::{BondLaw, BreakMode};
use seixo_laws::motion::Scheme;
use std::f64::consts::TAU;

/// Two grains oscillate along their bond with √(k/m*), k = EA/L or as given; with a dashpot, a share e^{-2πζ/√(1-ζ²)} remains after a period.
#[test]
fn two_grains_swing_as_a_spring_does() {
    let cases = BondLaw::ALL.map(|law| (law, None)).into_iter().chain([(BondLaw::Point, Some(5e4))]);
    for (law, given) in cases {
        let stiffness = given.unwrap_or(MODULUS * SIDE * SIDE / SPACING);
        let omega = (stiffness / (0.5 * mass())).sqrt();
        for zeta in [0.0f64, 0.1] {
            let bond_parameters = Bonds {
                damping_ratio: zeta,
                stiffness: given,
                ..bonds(law)
            };
            let speed = 1e-3;
            let world = row(2, |k| [if k == 0 { -speed } else { speed }, 0.0, 0.0], bond_parameters);
            let period = TAU / omega / (1.0 - zeta * zeta).sqrt();
            let dt = period / 1000.0;
            let mut simulation = Simulation::new(world, settings(dt)).unwrap();
            simulation.advance(1000).unwrap();
            let after = simulation.snapshot();
            let left = (-TAU * zeta / (1.0 - zeta * zeta).sqrt()).exp();
            // The scheme is of second order: an error of (ω Δt)²/24 in the phase, and a similar one in the amplitude.
            let second_order = (omega * dt).powi(2);
            assert!(
                (after.velocity[1][0] / (speed * left) - 1.0).abs() < second_order,
                "{law:?} {zeta}: {:?}",
                after.velocity
            );
            let way = after.position[1][0] - SPACING;
            assert!(way.abs() < second_order * TAU * speed / omega, "{law:?} {zeta}: {way:e}");
            let ledger = simulation.ledger();
            assert!(ledger.residual.abs() < second_order * ledger.initial, "{ledger:?}");
            assert!(zeta > 0.0 || ledger.bond_damping == 0.0);
        }
    }
}

/// With a dashpot c, e^{-cT/(2m*)} of the velocity remains after the period T = 2π/√(k/m* - (c/(2m*))²).
#[test]
fn a_given_dashpot_takes_its_share_on_every_device() {
    let (stiffness, damping, speed) = (5e4, 0.3, 1e-3);
    let reduced = 0.5 * mass();
    let decay = damping / (2.0 * reduced);
    let omega = (stiffness / reduced - decay * decay).sqrt();
    let period = TAU / omega;
    let dt = period / 1000.0;
    let bond_parameters = Bonds {
        stiffness: Some(stiffness),
        damping: Some(damping),
        ..bonds(BondLaw::Point)
    };
    let world = row(2, |k| [if k == 0 { -speed } else { speed }, 0.0, 0.0], bond_parameters);
    let left = (-decay * period).exp();
    assert!(left > 0.1 && left < 0.9, "{left}");
    let on_gpu = Settings {
        time_step: Some(dt),
        ..on_gpu(Precision::F64)
    };
    for settings in [settings(dt), on_gpu] {
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        simulation.advance(1000).unwrap();
        simulation.observe().unwrap();
        let velocity = simulation.snapshot().velocity[1][0];
        // As for a damping ratio: the scheme is of second order.
        let second_order = (omega * dt).powi(2);
        assert!(
            (velocity / (speed * left) - 1.0).abs() < 2.0 * second_order,
            "{velocity:e} {:e}",
            speed * left
        );
        let ledger = simulation.ledger();
        let taken = (1.0 - left * left) * ledger.initial;
        assert!((ledger.bond_damping / taken - 1.0).abs() < 4.0 * second_order, "{ledger:?}");
    }
}

/// The time step that is stable with a strong dashpot, of twice the critical damping, is that of a damping ratio of two.
#[test]
fn a_given_dashpot_limits_the_step_as_its_damping_ratio_does() {
    let stiffness = 5e4;
    let limit = |damping_ratio: f64, damping: Option<f64>| {
        let bond_parameters = Bonds {
            stiffness: Some(stiffness),
            damping_ratio,
            damping,
            ..bonds(BondLaw::Point)
        };
        plan_time_step(&row(2, |_| [0.0; 3], bond_parameters), Scheme::default())
            .unwrap()
            .limit
    };
    let critical = 2.0 * (stiffness * 0.5 * mass()).sqrt();
    let (by_ratio, by_dashpot) = (limit(2.0, None), limit(0.0, Some(2.0 * critical)));
    assert!(by_ratio < 0.9 * limit(0.0, None));
    assert!((by_dashpot / by_ratio - 1.0).abs() < 1e-9, "{by_dashpot:e} {by_ratio:e}");
}

/// Where a dashpot c outweighs the spring, a bond relaxes at the rate c/m*, so that the stable step is in proportion to 1/c, however strong c is.
#[test]
fn the_step_of_strong_dashpots_is_short_and_not_zero() {
    let plan = |damping: f64| {
        let bond_parameters = Bonds {
            stiffness: Some(5e4),
            damping: Some(damping),
            ..bonds(BondLaw::Point)
        };
        plan_time_step(&row(2, |_| [0.0; 3], bond_parameters), Scheme::default()).unwrap()
    };
    let (strong, strongest) = (plan(1e6), plan(1e9));
    assert!(
        (1e3 * strongest.limit / strong.limit - 1.0).abs() < 1e-6,
        "{:e} {:e}",
        strong.limit,
        strongest.limit
    );
    assert!(strongest.cause.contains("damping outweighs their stiffness"), "{}", strongest.cause);
    assert!(!plan(1e-3).cause.contains("damping"), "{}", plan(1e-3).cause);
}

/// A rod that rotates ten times and wobbles conserves energy, momentum and angular momentum: bonds allow rotations of any size.
#[test]
fn a_whirling_rod_keeps_what_it_has() {
    let count = 6;
    let middle = 0.5 * (count - 1) as f64 * SPACING;
    let rate = 200.0;
    let world = row(
        count,
        |k| [0.01, rate * (k as f64 * SPACING - middle), if k % 2 == 0 { 0.02 } else { -0.02 }],
        bonds(BondLaw::Beam),
    );
    let mut simulation = Simulation::new(world, settings(2e-6)).unwrap();
    let (start, energy) = (simulation.momentum(), simulation.ledger().kinetic);
    let steps = (10.0 * TAU / rate / 2e-6) as u64;
    for _ in 0..10 {
        simulation.advance(steps / 10).unwrap();
        let (now, ledger) = (simulation.momentum(), simulation.ledger());
        for axis in 0..3 {
            assert!((now.linear[axis] - start.linear[axis]).abs() < 1e-12 * mass() * rate * middle);
            // Angular momentum is computed with the velocities at the whole step: second order in the time step.
            assert!(
                (now.angular[axis] - start.angular[axis]).abs() < 1e-5 * start.angular[2].abs(),
                "{now:?} {start:?}"
            );
        }
        assert!(ledger.residual.abs() < 1e-3 * energy, "{ledger:?}");
    }
    // The rod did rotate, and its length is unchanged except for the stretch by centrifugal force.
    let after = simulation.snapshot();
    let ends: f64 = (0..3)
        .map(|k| (after.position[count - 1][k] - after.position[0][k]).powi(2))
        .sum::<f64>()
        .sqrt();
    assert!((ends / (2.0 * middle) - 1.0).abs() < 0.01, "{ends}");
}

/// A pulse at one end arrives at the other after L/√(E/ρ'), with the density ρ' from the mass of grains and the cross-section of bonds.
#[test]
fn a_bar_carries_sound() {
    let count = 200;
    let world = row(count, |k| [if k < 10 { 1e-3 } else { 0.0 }, 0.0, 0.0], bonds(BondLaw::Beam));
    let mut simulation = Simulation::new(world, settings(1e-6)).unwrap();
    let density = mass() / (SIDE * SIDE * SPACING);
    let speed = (MODULUS / density).sqrt();
    // Time at which the middle of the front passes the middle of the bar.
    let time = (100.0 - 9.5) * SPACING / speed;
    let mut passed = 0.0;
    while passed == 0.0 {
        simulation.advance(1).unwrap();
        if simulation.snapshot().velocity[100][0] > 0.25e-3 {
            passed = simulation.time();
        }
    }
    // A front in a lattice is a few grains wide: three of ninety.
    assert!((passed / time - 1.0).abs() < 0.035, "{passed} {time}");
}

/// A bond under slow tension breaks at σ A and releases ½F²/k. Bending, shear and torsion are tested with the laws.
#[test]
fn a_bond_tears_at_its_strength_and_says_so() {
    let strength = 1e6;
    let bond_parameters = Bonds {
        tensile_strength: strength,
        ..bonds(BondLaw::Beam)
    };
    let (area, stiffness) = (SIDE * SIDE, MODULUS * SIDE * SIDE / SPACING);
    let force = strength * area;
    // Twice the energy that the bond can store.
    let speed = (4.0 * force * force / stiffness / mass() / 2.0).sqrt();
    let world = row(2, |k| [if k == 0 { -speed } else { speed }, 0.0, 0.0], bond_parameters);
    let mut simulation = Simulation::new(world, settings(2e-8)).unwrap();
    simulation.advance(20_000).unwrap();
    let breaks = simulation.drain_bond_breaks();
    assert_eq!(breaks.len(), 1);
    assert_eq!((breaks[0].mode, breaks[0].grains), (BreakMode::Tension, [0, 1]));
    let released = 0.5 * force * force / stiffness;
    // It breaks in the step after it reached its strength: the relative extension in one step.
    let overshoot = 2.0 * 2.0 * speed * 2e-8 / (force / stiffness);
    assert!(
        breaks[0].energy >= released && breaks[0].energy < released * (1.0 + overshoot),
        "{:?} {released}",
        breaks[0]
    );
    let ledger = simulation.ledger();
    assert_eq!((ledger.fracture, ledger.elastic_bonds), (breaks[0].energy, 0.0));
    assert!(ledger.residual.abs() < overshoot * released, "{ledger:?}");
    assert_eq!(simulation.bond_counts(), [1, 0]);
    assert!(simulation.drain_bond_breaks().is_empty());
}

/// A bar that breaks in flight gives identical bits for any number of threads, and after a restart from a saved state.
#[test]
fn a_breaking_bar_is_the_same_when_it_is_taken_up() {
    let bond_parameters = Bonds {
        tensile_strength: 1e5,
        cohesion: 1e5,
        damping_ratio: 0.05,
        weibull_modulus: Some(5.0),
        ..bonds(BondLaw::Beam)
    };
    let world = row(
        3000,
        |k| [0.0, 0.3 * (0.01 * k as f64).sin(), 0.2 * (k as f64 / 7.0).cos()],
        bond_parameters,
    );
    let end = assert_same_when_resumed(&world, &settings(2e-6), [300, 300]);
    let broken = end.get("bonds/ledger").unwrap();
    let seixo_engine::state::Column::F64(ledger) = broken else {
        panic!()
    };
    assert!(ledger[1] > 0.0, "nothing broke");
}

/// Errors name the grains or parameters that cannot be bonded.
#[test]
fn bonds_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = row(3, |_| [0.0; 3], bonds(BondLaw::Beam));
        change(&mut world);
        Simulation::new(world, Settings::default()).err().unwrap().to_string()
    };
    let near = |tolerance| Bonded::Near {
        groups: vec![0],
        tolerance,
    };
    assert!(refused(&|world| world.bonds[0].between = near(0.0)).contains("bonds glue: no two grains are near enough"));
    assert!(refused(&|world| world.bonds[0].between = Bonded::Pairs(vec![[0, 9]])).contains("grain 9, which is not there"));
    assert!(refused(&|world| world.bonds[0].between = Bonded::Pairs(vec![[0, 1], [1, 0]])).contains("bonded already"));
    assert!(refused(&|world| world.bonds[0].tensile_strength = 0.0).contains("tensile_strength is 0"));
    let long = Simulation::new(row(3, |_| [0.0; 3], bonds(BondLaw::Beam)), settings(1e-4))
        .err()
        .unwrap()
        .to_string();
    assert!(long.contains("the bonds glue at grains"), "{long}");
}

/// Gear's methods for two grains that oscillate on their bond and rotate relative to each other about it: halving the time step reduces the errors of
/// position and orientation by a fixed power.
#[test]
fn gear_is_of_its_order_on_bonded_grains() {
    let omega = (MODULUS * SIDE * SIDE / SPACING / (0.5 * mass())).sqrt();
    let torsion = MODULUS / 2.4 * 0.140_577 * SIDE.powi(4) / SPACING;
    let pulse = (torsion / (0.5 * 0.4 * mass() * RADIUS * RADIUS)).sqrt();
    let (speed, rate) = (1e-3, 1.0);
    let error = |scheme: Scheme, steps: u64| {
        let mut world = row(2, |k| [if k == 0 { -speed } else { speed }, 0.0, 0.0], bonds(BondLaw::Beam));
        for (k, spin) in world.grains.angular_velocity.iter_mut().enumerate() {
            *spin = [if k == 0 { -rate } else { rate }, 0.0, 0.0];
        }
        let time = 1.3 * TAU / omega.min(pulse);
        let dt = time / steps as f64;
        let settings = Settings { scheme, ..settings(dt) };
        let mut simulation = Simulation::new(world, settings).unwrap();
        simulation.advance(steps).unwrap();
        let after = simulation.snapshot();
        let way = (after.position[1][0] - SPACING) / (speed / omega) - (omega * time).sin();
        let [w, x, ..] = after.orientation[1];
        let angle = 2.0 * (x / w).atan() / (rate / pulse) - (pulse * time).sin();
        [way.abs(), angle.abs()]
    };
    for (scheme, order) in [(Scheme::Leapfrog, 2.0), (Scheme::Gear, 4.0), (Scheme::GearOfPlaces, 4.0)] {
        let (coarse, fine) = (error(scheme, 160), error(scheme, 320));
        for k in 0..2 {
            let found = (coarse[k] / fine[k]).log2();
            // Where terms of the next order are as large, the error shows one order more.
            assert!(
                (order - 0.3..order + 1.6).contains(&found),
                "{scheme:?}: {found} of {coarse:?} {fine:?}"
            );
        }
    }
}

/// A block of thirty rows of bonds with strong dashpots stays calm with the time step of "auto", with either integrator.
#[test]
fn the_step_that_is_taken_by_itself_is_stable() {
    for (scheme, zeta) in [
        (Scheme::Leapfrog, 0.0),
        (Scheme::Leapfrog, 0.5),
        (Scheme::Gear, 0.0),
        (Scheme::Gear, 0.5),
    ] {
        let bond_parameters = Bonds {
            damping_ratio: zeta,
            size: BondSize::Share(1.0),
            section: CrossSection::Circle,
            ..bonds(BondLaw::Beam)
        };
        let mut world = row(1, |_| [0.0; 3], bond_parameters);
        world.grains = Grains::default();
        for k in 0..343u32 {
            let at = [k % 7, k / 7 % 7, k / 49].map(|cell| f64::from(cell) * SPACING);
            let velocity = [0, 1, 2].map(|axis| 1e-3 * (f64::from(k * 3 + axis) * 0.7).sin());
            world.grains.push(k, at, velocity, [0.0; 3], RADIUS, 0, 0);
        }
        let settings = Settings {
            scheme,
            threads: 1,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(world, settings).unwrap();
        let start = simulation.ledger().kinetic;
        simulation.advance(3000).unwrap();
        let now = simulation.ledger();
        let held = now.kinetic + now.rotational + now.elastic_bonds;
        assert!(held < 1.05 * start, "{scheme:?} {zeta}: {held:e} of {start:e}");
    }
}

/// Bonds of leaving grains take their energy along: the ledger balances when a loaded bar leaves its domain.
#[test]
fn bonds_of_grains_that_leave_take_their_energy_along() {
    let mut world = row(20, |k| [0.5, 0.0, if k % 2 == 0 { 0.05 } else { -0.05 }], bonds(BondLaw::Beam));
    let end = 20.0 * SPACING;
    world.domain = Some(Domain::open([-1.0; 3], [end, 1.0, 1.0], LeavingPolicy::Delete));
    let mut simulation = Simulation::new(world, settings(2e-6)).unwrap();
    let energy = simulation.ledger().kinetic;
    simulation.advance(60_000).unwrap();
    let ledger = simulation.ledger();
    assert!(simulation.len() < 15 && !simulation.is_empty(), "{}", simulation.len());
    assert!(ledger.residual.abs() < 2e-3 * energy, "{ledger:?}");
}
