//! Bonds between the faces of polyhedral grains, against physics.

use crate::bars::{bonds, settings};
use crate::corners::{block, put, world};
use crate::polyhedra::{OF_UNIT_CUBE, cube};
use crate::resumed::assert_same_when_resumed;
use crate::vectors::{distance, length};
use seixo_engine::Simulation;
use seixo_engine::world::{BondSize, Bonded, Bonds, Interaction, Load, World};
use seixo_laws::bond::{BondLaw, BreakMode};
use std::f64::consts::TAU;

/// Edge of the cubes \[m\].
const EDGE: f64 = 1.0;
/// Distance of their centers \[m\]: contacts in the gap would support the bonds.
pub const APART: f64 = 1.005;
const MODULUS: f64 = 1e6;
const POISSON_RATIO: f64 = 0.2;

/// Bonds as thick as the faces, whose cross-section is a square.
pub fn glue(law: BondLaw) -> Bonds {
    Bonds {
        between: Bonded::Near {
            groups: vec![0, 1],
            tolerance: 0.05,
        },
        size: BondSize::Share(1.0),
        youngs_modulus: MODULUS,
        poisson_ratio: POISSON_RATIO,
        ..bonds(law)
    }
}

/// A row of cubes of an edge of a meter along x, with these bonds.
pub fn bar(cubes: usize, glue: Bonds) -> World {
    let mut world = world(vec![cube()], Interaction::default());
    world.groups.push("end".into());
    world.bonds = vec![glue];
    for k in 0..cubes {
        put(&mut world, 0, OF_UNIT_CUBE, [k as f64 * APART, 0.0, 0.0], [0.0; 3]);
    }
    world
}

fn mass_of(world: &World, id: u32) -> f64 {
    world.grains.masses[&id]
}

/// Two cubes swing along their bond with √(k/m*), k = E A/L. The area is that of the whole faces, not only of their flat part.
#[test]
fn two_cubes_swing_as_a_bar_of_their_cross_section() {
    for law in BondLaw::ALL {
        let mut world = bar(2, glue(law));
        let speed = 0.01;
        (world.grains.velocity[0], world.grains.velocity[1]) = ([-speed, 0.0, 0.0], [speed, 0.0, 0.0]);
        let omega = (MODULUS * EDGE * EDGE / APART / (0.5 * mass_of(&world, 0))).sqrt();
        let dt = TAU / omega / 4000.0;
        let mut simulation = Simulation::new(world, settings(dt)).unwrap();
        assert_eq!(simulation.bond_counts(), [1, 1]);
        simulation.advance(4000).unwrap();
        let after = simulation.snapshot();
        // The scheme is of second order: an error of (ω Δt)²/24 in the phase, and a similar one in the amplitude.
        let second_order = (omega * dt).powi(2);
        assert!(
            (after.velocity[1][0] / speed - 1.0).abs() < second_order,
            "{law:?}: {:?}",
            after.velocity
        );
        let way = after.position[1][0] - APART;
        assert!(way.abs() < second_order * TAU * speed / omega, "{law:?}: {way:e}");
    }
}

/// Two slabs whose faces overlap in part, so that the bond is beside both centers. They turn, slide and swing.
#[test]
fn bonds_beside_the_centers_keep_momentum_and_energy() {
    for law in BondLaw::ALL {
        let shapes = vec![block("slab", [0.4, 0.9, 0.4], 0.1)];
        let mut world = world(shapes, Interaction::default());
        world.groups.push("end".into());
        world.bonds = vec![glue(law)];
        let radius = (0.4f64 * 0.4 + 0.9 * 0.9 + 0.4 * 0.4).sqrt() + 0.1;
        put(&mut world, 0, radius, [0.0; 3], [0.002, 0.004, 0.0]);
        put(&mut world, 0, radius, [APART, 0.7, 0.3], [0.002, -0.002, 0.001]);
        world.grains.angular_velocity = vec![[0.001, -0.0005, 0.001], [-0.0005, 0.0005, -0.0005]];
        let mut simulation = Simulation::new(world, settings(1e-4)).unwrap();
        assert_eq!(simulation.bond_counts(), [1, 1]);
        let (before, ledger) = (simulation.momentum(), simulation.ledger());
        let energy = ledger.kinetic + ledger.rotational;
        let mut most = 0.0f64;
        for _ in 0..50 {
            simulation.advance(100).unwrap();
            most = most.max(simulation.ledger().elastic_bonds);
        }
        assert!(most > 0.02 * energy, "{law:?}: the bond was hardly loaded: {most} of {energy} J");
        assert_eq!((simulation.contacts(), simulation.bond_counts()), (0, [1, 1]), "{law:?}");
        let (after, ledger) = (simulation.momentum(), simulation.ledger());
        assert!(distance(before.linear, after.linear) < 1e-9 * length(before.linear), "{law:?}");
        assert!(distance(before.angular, after.angular) < 1e-9 * length(before.angular), "{law:?}");
        // Leapfrog's energy swings by (ω Δt)², with vibrations of the bond of at most 100 1/s.
        assert!(ledger.residual.abs() < 1e-3 * energy, "{law:?}: {ledger:?}");
    }
}

/// The end of a bar of cubes sinks as Timoshenko's beam: P L³/(3 E I) + P L/(κ G A).
#[test]
fn a_cantilever_of_cubes_bends_as_a_beam() {
    let (cubes, push) = (5, 10.0);
    let mut world = bar(cubes, glue(BondLaw::Beam));
    // The first cube is so heavy that it holds the bar: grains cannot be fixed.
    world.grains.masses.insert(0, 1e12);
    let last = cubes - 1;
    world.grains.group[last] = 1;
    world.loads.push(Load::constant(1, [0.0, 0.0, -push], [0.0; 3]));
    world.local_damping = 0.5;
    let mut simulation = Simulation::new(world, settings(1e-3)).unwrap();
    simulation.advance(40_000).unwrap();
    let sunk = -simulation.snapshot().position[last][2];
    let length = last as f64 * APART;
    let shear_modulus = MODULUS / (2.0 * (1.0 + POISSON_RATIO));
    let kappa = 10.0 * (1.0 + POISSON_RATIO) / (12.0 + 11.0 * POISSON_RATIO);
    let bent = push * length.powi(3) / (3.0 * MODULUS * EDGE.powi(4) / 12.0);
    let sheared = push * length / (kappa * shear_modulus * EDGE * EDGE);
    // Nodes of beams are exact for loads at nodes. What is left are the last vibrations.
    assert!((sunk / (bent + sheared) - 1.0).abs() < 0.01, "{sunk:e} {:e}", bent + sheared);
    assert_eq!(simulation.contacts(), 0, "the gap closed, and contacts carry load, too");
}

/// A pull of σ A breaks the bond. A critically damped bond is loaded without overshoot.
#[test]
fn a_bar_breaks_at_the_strength_times_the_area() {
    let strength = 1e3;
    let pulled = |share: f64| {
        let mut world = bar(
            2,
            Bonds {
                tensile_strength: strength,
                damping_ratio: 1.0,
                ..glue(BondLaw::Beam)
            },
        );
        world.grains.group[1] = 1;
        let pull = share * strength * EDGE * EDGE;
        world.loads.push(Load::constant(0, [-pull, 0.0, 0.0], [0.0; 3]));
        world.loads.push(Load::constant(1, [pull, 0.0, 0.0], [0.0; 3]));
        let mut simulation = Simulation::new(world, settings(5e-5)).unwrap();
        // 1 s is 30 times 1/ω.
        simulation.advance(20_000).unwrap();
        simulation
    };
    let mut holds = pulled(0.99);
    assert_eq!((holds.bond_counts(), holds.drain_bond_breaks().len()), ([1, 1], 0));
    let mut breaks = pulled(1.01);
    let broken = breaks.drain_bond_breaks();
    assert_eq!((breaks.bond_counts(), broken.len()), ([1, 0], 1));
    assert_eq!((broken[0].mode, broken[0].grains), (BreakMode::Tension, [0, 1]));
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    let mut world = bar(3, glue(BondLaw::Beam));
    // The last cube is on top of both others, and a load bends the arch.
    world.grains.position[2] = [0.2, 0.1, APART];
    world.grains.group[1] = 1;
    world.loads.push(Load::constant(1, [1.0, -2.0, 3.0], [0.5, 0.0, 0.1]));
    let simulation = Simulation::new(world.clone(), settings(1e-4)).unwrap();
    assert_eq!(simulation.bond_counts(), [3, 3]);
    let state = assert_same_when_resumed(&world, &settings(1e-4), [300, 300]);
    assert!(state.get("bonds/attachment").is_some());
}

#[test]
fn pairs_without_a_common_face_are_refused() {
    let named = |world: &mut World| {
        world.bonds[0].between = Bonded::Pairs(vec![[0, 1]]);
    };
    let refused = |world: World| {
        Simulation::new(world, settings(1e-4))
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let mut world = bar(2, glue(BondLaw::Beam));
    named(&mut world);
    world.grains.position[1][1] = 1.1;
    assert!(refused(world).contains("grains 0 and 1, which have no common face"));
    let mut world = bar(1, glue(BondLaw::Beam));
    world.grains.push(1, [1.0, 0.0, 0.0], [0.0; 3], [0.0; 3], 0.5, 0, 0);
    assert!(refused(world.clone()).contains("are a sphere beside a polyhedron, and these are never bonded; let `among`"));
    named(&mut world);
    assert!(refused(world).contains("of which one is a sphere and one a polyhedron"));
}
