//! Bonded worlds for decomposition tests, and their results on any backend.

use crate::alike::assert_same;
use crate::bars::{SPACING, bonds, mass, row};
use crate::cemented::{cemented, pressed};
use crate::ledgers::assert_same_ledger;
use seixo_engine::world::{Bonded, Bonds, Domain, LeavingPolicy, Load, Scheme, Settings, World};
use seixo_engine::{Simulation, plan_time_step};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::{PI, TAU};

/// Number of grains of a beam.
pub const COUNT: usize = 40;
/// Time step of beams \[s\].
pub const STEP: f64 = 2e-6;

/// A beam whose weight two loads at its ends bear. Its middle moves down while it flies along its axis. Its grains have no contacts, and bonds are
/// longer than the range of contacts.
pub fn beam() -> World {
    let bond_parameters = Bonds {
        between: Bonded::Near {
            groups: vec![0, 1],
            tolerance: 0.3,
        },
        damping_ratio: 0.05,
        ..bonds(BondLaw::Beam)
    };
    let swing = |k: usize| -(PI * k as f64 / (COUNT - 1) as f64).sin();
    let mut world = row(COUNT, |k| [2.0, 0.0, swing(k)], bond_parameters);
    world.gravity = [0.0, 0.0, -9.81];
    world.groups.push("ends".into());
    (world.grains.group[0], world.grains.group[COUNT - 1]) = (1, 1);
    world
        .loads
        .push(Load::constant(1, [0.0, 0.0, 0.5 * COUNT as f64 * mass() * 9.81], [0.0; 3]));
    world
}

/// A beam that is closed through periodic sides to a ring, and that moves along its axis while it oscillates.
pub fn ring() -> World {
    let bond_parameters = Bonds {
        damping_ratio: 0.05,
        ..bonds(BondLaw::Beam)
    };
    let swing = |k: usize| (TAU * k as f64 / COUNT as f64).sin();
    let mut world = row(COUNT, |k| [2.0, 0.2 * swing(2 * k), 0.5 * swing(k)], bond_parameters);
    let end = (COUNT as f64 - 0.5) * SPACING;
    let domain = Domain::open([-0.5 * SPACING, -1.0, -1.0], [end, 1.0, 1.0], LeavingPolicy::Error);
    world.domain = Some(Domain {
        periodic: [true, false, false],
        ..domain
    });
    world
}

/// A block of cemented grains that falls on a floor and cracks.
pub fn block() -> World {
    cemented(pressed(1200, TangentialLaw::Mindlin))
}

/// The time step of [`block()`] \[s\].
pub fn step_of(world: &World) -> f64 {
    0.5 * plan_time_step(world, Scheme::default()).unwrap().auto
}

/// A row of grains that oscillates transversely, and whose grains leave the domain one after the other.
pub fn leaving() -> World {
    let mut world = row(20, |k| [5.0, 0.0, if k % 2 == 0 { 0.05 } else { -0.05 }], bonds(BondLaw::Beam));
    let end = 20.0 * SPACING;
    world.domain = Some(Domain::open([-1.0; 3], [end, 1.0, 1.0], LeavingPolicy::Delete));
    world
}

/// A row of grains at rest, and two grains beside it that move along it with these velocities \[m/s\], connected by a soft bond.
pub fn parting(velocities: [f64; 2]) -> World {
    let rubber = Bonds {
        between: Bonded::Pairs(vec![[4, 5]]),
        youngs_modulus: 10.0,
        ..bonds(BondLaw::Beam)
    };
    let along = |k: usize| k.checked_sub(4).and_then(|k| velocities.get(k)).copied().unwrap_or(0.0);
    let mut world = row(9, |k| [along(k), 0.0, 0.0], rubber);
    for k in [0, 1, 2, 3, 6, 7, 8] {
        world.grains.position[k][2] = 0.01;
    }
    world
}

pub fn started(world: &World, settings: Settings) -> Simulation {
    Simulation::new(world.clone(), settings).unwrap()
}

pub fn after(world: &World, settings: Settings, steps: u64) -> Simulation {
    let mut simulation = started(world, settings);
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}

/// Asserts that a decomposed world, after these steps, equals this one without decomposition; returns it.
#[track_caller]
pub fn decomposed_alike(world: &World, whole: &mut Simulation, domains: usize, settings: Settings, steps: u64) -> Simulation {
    let what = format!("{domains} domains");
    let mut decomposed = after(world, settings, steps);
    assert_eq!(decomposed.decomposition().map(|found| found.grains.len()), Some(domains), "{what}");
    assert_eq!(whole.bond_counts(), decomposed.bond_counts(), "{what}");
    assert_eq!(whole.bonds_now(), decomposed.bonds_now(), "{what}");
    assert_same(whole, &mut decomposed, &what);
    assert_same_ledger(whole, &decomposed, &what);
    decomposed
}

/// Asserts that a soft bond survives when it is stretched far across a subdomain boundary.
#[track_caller]
pub fn assert_rubber_holds(among: impl Fn(usize) -> Settings) {
    let world = parting([-3.0, 0.0]);
    let mut whole = after(&world, among(1), 2500);
    let now = whole.snapshot().position;
    assert!(now[5][0] - now[4][0] > 3.0 * SPACING, "{now:?}");
    let mut decomposed = after(&world, among(2), 2500);
    assert_eq!(decomposed.bond_counts(), [1; 2]);
    assert_same(&mut whole, &mut decomposed, "rubber");
}

/// Asserts that the run stops if a bond spans a whole subdomain.
#[track_caller]
pub fn assert_too_long_is_refused(among: impl Fn(usize) -> Settings) {
    let mut decomposed = started(&parting([-3.0, 3.0]), among(3));
    let stop = decomposed.advance(5000).unwrap_err().to_string();
    assert!(
        stop.contains("the bond between grains 4 and 5 reaches over a whole domain; use fewer domains"),
        "{stop}"
    );
}
