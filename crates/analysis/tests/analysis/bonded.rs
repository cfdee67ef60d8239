//! Grains that bonds hold together: the stress that bonds carry, and the fragments that are left when some break.

use glam::{DMat3, DVec3};
use seixo_analysis::*;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, Grains, Interaction, Material, PairValues, Settings, World};
use seixo_engine::{BondSnapshot, Simulation};
use seixo_laws::bond::BondLaw;
use std::f64::consts::PI;

const RADIUS: f64 = 2e-3;
/// Centers are farther apart than two radii: no contact helps the bonds.
const EDGE: f64 = 5e-3;
const SIDE: f64 = 2e-3;
const MODULUS: f64 = 1e8;
/// Grains along each edge of the block.
const COUNT: usize = 12;

/// Bonds of square section, which tear at this stress \[Pa\].
fn glue(tensile_strength: f64) -> Bonds {
    Bonds {
        name: "glue".into(),
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.3,
        },
        law: BondLaw::Beam,
        section: CrossSection::Square,
        size: BondSize::Length(SIDE),
        youngs_modulus: MODULUS,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.2,
        damping_ratio: 0.0,
        damping: None,
        tensile_strength,
        cohesion: f64::INFINITY,
        friction_angle: 0.0,
        fracture_energy: f64::INFINITY,
        one_piece: false,
        weibull_modulus: None,
        seed: 1,
    }
}

/// Bonded grains on the first sites of a cubic lattice with so many along x and y, each with this velocity.
fn lattice([across, deep]: [usize; 2], count: usize, velocity: impl Fn(DVec3) -> DVec3, bonds: Bonds) -> World {
    let mut grains = Grains::default();
    for k in 0..count {
        let site = [k % across, k / across % deep, k / across / deep];
        let place = DVec3::from(site.map(|k| k as f64)) * EDGE;
        let velocity = velocity(place).to_array();
        grains.push(k as u32, place.to_array(), velocity, [0.0; 3], RADIUS, 0, 0);
    }
    World {
        materials: vec![Material {
            name: "stone".into(),
            density: 2500.0,
            youngs_modulus: 1e8,
            poisson_ratio: 0.2,
        }],
        interactions: vec![Some(Interaction::default())],
        groups: vec!["block".into()],
        grains,
        bonds: vec![bonds],
        ..World::default()
    }
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// A block that is stretched along x, two steps after it began: what its free faces do has not come far, and all of the inside bears
/// the same.
fn stretched() -> (GrainSnapshot, Vec<BondSnapshot>) {
    let block = |rate: f64, time_step: Option<f64>| {
        let velocity = |place: DVec3| DVec3::X * (rate * place.x);
        let world = lattice([COUNT; 2], COUNT.pow(3), velocity, glue(f64::INFINITY));
        let settings = Settings {
            time_step,
            ..Settings::default()
        };
        Simulation::new(world, settings).unwrap()
    };
    // Half of the stable step of grains at rest: those that move want a shorter one.
    let time_step = 0.5 * block(0.0, None).time_step().value;
    let mut simulation = block(1e-4 / (2.0 * time_step), Some(time_step));
    simulation.advance(2).unwrap();
    assert!(simulation.contacts_now().unwrap().is_empty());
    (simulation.snapshot(), simulation.bonds_now())
}

#[test]
fn a_stretched_block_bears_the_force_of_its_bonds_over_their_share_of_the_section() {
    let (grains, bonds) = stretched();
    assert_eq!(bonds.len(), 3 * (COUNT - 1) * COUNT * COUNT);
    let middle = (6 * COUNT + 6) * COUNT + 6;
    let strain = (grains.position[middle][0] - grains.position[middle - 1][0]) / EDGE - 1.0;
    near(strain, 1e-4, 1e-6);
    // F = E A ε of one bond for every EDGE² of the section, and tension is negative.
    let expected = -MODULUS * SIDE * SIDE * strain / (EDGE * EDGE);
    let cell = DVec3::new(1.0 + strain, 1.0, 1.0) * EDGE;
    // A box of whole cells, wherever it begins.
    for offset in [[0.1, 0.2, 0.3], [0.5, 0.77, 0.99]] {
        let [min, max] = [4.0, 7.0].map(|cells: f64| (DVec3::from(offset) + cells) * cell);
        let stress = stress_in(&Region::Box { min, max }, &grains, &[], &bonds).contact;
        let [xx, yy, zz, xy, xz, yz] = components(&stress);
        near(xx, expected, 1e-6 * expected.abs());
        let others = [yy, zz, xy, xz, yz];
        assert!(others.iter().all(|other| other.abs() < 1e-6 * expected.abs()), "{others:?}");
        assert_eq!(stress_in(&Region::Box { min, max }, &grains, &[], &[]).contact, DMat3::ZERO);
    }
    // A kernel of three edges to either side leaves ripples of the lattice, no more.
    let grid = Grid::between(DVec3::splat(5.25 * EDGE), DVec3::splat(5.75 * EDGE), 0.25 * EDGE);
    let coarse = coarse_grain(&grid, 1.5 * EDGE, &grains, &[], &bonds);
    for rows in &coarse.contact_stress {
        near(rows[0], expected, 5e-3 * expected.abs());
        assert!(rows[4].abs() < 1e-3 * expected.abs() && rows[8].abs() < 1e-3 * expected.abs());
    }
    // Inside a grain, over its own volume instead of that of its cell.
    let share = 4.0 / 3.0 * PI * RADIUS.powi(3) / EDGE.powi(3);
    let of_grain = stress_of_grains(&grains, &[], &bonds)[middle] * share;
    near(components(&of_grain)[0], expected, 1e-3 * expected.abs());
    let pressure = pressure_of_grains(&grains, &[], &bonds)[middle] * share;
    near(pressure, expected / 3.0, 1e-3 * expected.abs());
}

/// Two pairs of bonded grains and a grain alone: the two of the first pair fly apart, those of the second fly along together.
#[test]
fn a_pair_that_is_torn_is_two_fragments_and_one_that_holds_is_one() {
    let speeds = [-2.0, 2.0, 1.0, 1.0, 0.0];
    let pairs = Bonds {
        between: Bonded::Pairs(vec![[0, 1], [3, 2]]),
        ..glue(1e6)
    };
    let velocity = |place: DVec3| DVec3::X * speeds[(place.x / EDGE).round() as usize];
    let world = lattice([5, 1], 5, velocity, pairs);
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    let numbers = |simulation: &Simulation| {
        let found = fragments(&simulation.snapshot(), &simulation.bonds_now(), |_| true);
        let reported = found.list.iter().map(|fragment| (fragment.number, fragment.grains));
        reported.collect::<Vec<_>>()
    };
    assert_eq!(numbers(&simulation), [(0, 2), (2, 2), (4, 1)]);
    let steps = (2e-4 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    assert_eq!(simulation.drain_bond_breaks().len(), 1);
    assert_eq!(numbers(&simulation), [(2, 2), (0, 1), (1, 1), (4, 1)]);
    // The one that was never bonded is no fragment of what was.
    assert_eq!(simulation.bonded_grains(), [0, 1, 2, 3]);
    let bonded = fragments(&simulation.snapshot(), &simulation.bonds_now(), |i| i < 4);
    assert_eq!(bonded.list.len(), 3);
    assert_eq!(bonded.number_of, [0, 1, 2, 2, 4]);
    near(bonded.list[0].velocity.x, 1.0, 1e-12);
}
