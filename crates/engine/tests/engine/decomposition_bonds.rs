//! Bonded grains decomposed into subdomains: the result is the same for any number.

use crate::alike::assert_same;
use crate::bars::{RADIUS, SPACING, bonds, mass, row, settings};
use crate::bonded::{COUNT, STEP, after, assert_rubber_holds, assert_too_long_is_refused, beam, block};
use crate::bonded::{decomposed_alike, leaving, parting, ring, started, step_of};
use crate::ledgers::assert_same_ledger;
use seixo_engine::Simulation;
use seixo_engine::world::{Body, Bonded, Domain, GhostSelection, LeavingPolicy, Settings, Sphere, World};
use seixo_laws::bond::BondLaw;

/// On two threads, with this number of subdomains; without decomposition, with the same order of sums.
fn among(domains: usize, time_step: f64) -> Settings {
    Settings {
        threads: 2,
        domains,
        decomposition_invariant: true,
        ..settings(time_step)
    }
}

/// The beam as a chain: every two grains are one body, and bonds connect the bodies.
fn chain() -> World {
    let mut world = beam();
    let all = std::mem::take(&mut world.grains);
    let (half, about) = (0.5 * SPACING, 0.8 * mass() * RADIUS * RADIUS);
    let across = about + 2.0 * mass() * half * half;
    for k in (0..COUNT).step_by(2) {
        let [x, y, z] = all.position[k];
        let body = Body {
            id: k as u32,
            mass: 2.0 * mass(),
            moments: [about, across, across],
            center: [x + half, y, z],
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: all.velocity[k],
            angular_velocity: [0.0; 3],
            motion: None,
            joint: None,
            carries: Vec::new(),
        };
        let sphere = |(k, side): (usize, f64)| Sphere {
            id: all.id[k],
            offset: [side * half, 0.0, 0.0],
            radius: RADIUS,
        };
        world.grains.push_body(body, &[(k, -1.0), (k + 1, 1.0)].map(sphere), 0, 0);
    }
    world.grains.group = all.group;
    world
}

/// Steps it on this number of subdomains, with frequent rebuilds of the neighbor lists.
fn cracking(world: &World, domains: usize) -> Settings {
    Settings {
        skin: Some(2e-5),
        ..among(domains, step_of(world))
    }
}

#[test]
fn a_beam_that_bends_across_domains_is_that_of_one() {
    let world = beam();
    let mut whole = after(&world, among(1, STEP), 2000);
    let now = whole.snapshot().position;
    assert!(now[0][2] - now[COUNT / 2][2] > 2e-3, "{now:?}");
    assert!(whole.bonds_now().iter().any(|bond| bond.bending > 0.0) && whole.ledger().bond_damping > 0.0);
    for domains in [2, 4] {
        let decomposed = decomposed_alike(&world, &mut whole, domains, among(domains, STEP), 2000);
        assert!(decomposed.decomposition().unwrap().migrations > 0, "{domains} domains");
    }
}

#[test]
fn bodies_hang_together_by_bonds_across_domains() {
    let world = chain();
    let mut whole = after(&world, among(1, STEP), 2000);
    let now = whole.snapshot().position;
    assert!(now[0][2] - now[COUNT / 2][2] > 1e-3, "{now:?}");
    assert_eq!(whole.bond_counts(), [COUNT / 2 - 1; 2]);
    for domains in [2, 4] {
        let decomposed = decomposed_alike(&world, &mut whole, domains, among(domains, STEP), 2000);
        assert!(decomposed.decomposition().unwrap().migrations > 0, "{domains} domains");
        assert_eq!(whole.bodies(), decomposed.bodies());
    }
}

#[test]
fn a_ring_goes_round_through_all_domains() {
    let world = ring();
    let mut whole = after(&world, among(1, STEP), 2000);
    assert_eq!(whole.bond_counts(), [COUNT; 2]);
    let before = started(&world, among(1, STEP)).momentum();
    for domains in [2, 4] {
        let decomposed = decomposed_alike(&world, &mut whole, domains, among(domains, STEP), 2000);
        let now = decomposed.momentum();
        for (a, b) in before.linear.iter().zip(now.linear) {
            assert!((a - b).abs() < 1e-12 * 2.0 * COUNT as f64 * mass(), "{domains} domains: {a} {b}");
        }
    }
}

#[test]
fn a_block_that_falls_on_a_floor_cracks_alike_in_all_divisions() {
    let world = block();
    let mut whole = after(&world, cracking(&world, 1), 1000);
    let [made, holding] = whole.bond_counts();
    let breaks = whole.drain_bond_breaks();
    assert!(0 < holding && holding < made && breaks.len() == made - holding, "{made} {holding}");
    for domains in [2, 4] {
        let mut decomposed = decomposed_alike(&world, &mut whole, domains, cracking(&world, domains), 1000);
        assert!(decomposed.decomposition().unwrap().migrations > 0, "{domains} domains");
        assert!(
            decomposed.drain_bond_breaks() == breaks,
            "{domains} domains: other bonds broke, or in another order"
        );
    }
}

#[test]
fn a_cracking_block_goes_on_among_any_number_of_domains() {
    let world = block();
    let mut whole = after(&world, cracking(&world, 1), 500);
    let mut saved = after(&world, cracking(&world, 2), 500);
    assert!(whole.drain_bond_breaks() == saved.drain_bond_breaks());
    let state = saved.save().unwrap();
    whole.advance(500).unwrap();
    let breaks = whole.drain_bond_breaks();
    for domains in [1, 4] {
        let what = format!("from 2 to {domains} domains");
        let mut again = Simulation::restore(world.clone(), cracking(&world, domains), &state).unwrap();
        again.advance(500).unwrap();
        again.observe().unwrap();
        assert_same(&mut whole, &mut again, &what);
        assert!(
            again.drain_bond_breaks() == breaks,
            "{what}: other bonds broke, or in another order"
        );
    }
    // Observations change nothing either.
    for _ in 0..50 {
        saved.advance(10).unwrap();
        saved.observe().unwrap();
    }
    assert_same(&mut whole, &mut saved, "with many looks");
    assert!(
        saved.drain_bond_breaks() == breaks,
        "with many looks: other bonds broke, or in another order"
    );
}

#[test]
fn glue_comes_and_goes_while_the_world_is_divided() {
    let mut world = beam();
    world.later.bonds = vec![0];
    let play = |domains: usize| {
        let mut simulation = started(&world, among(domains, STEP));
        simulation.advance(200).unwrap();
        simulation.bond(&[0]).unwrap();
        simulation.advance(300).unwrap();
        simulation.unbond(&[0]).unwrap();
        simulation.advance(100).unwrap();
        simulation.bond(&[0]).unwrap();
        simulation.advance(300).unwrap();
        simulation.observe().unwrap();
        simulation
    };
    let (mut whole, mut decomposed) = (play(1), play(4));
    let joints = COUNT - 1;
    assert_eq!(decomposed.bond_counts(), [2 * joints, joints]);
    assert_same(&mut whole, &mut decomposed, "glue that came and went");
    assert_same_ledger(&whole, &decomposed, "glue that came and went");
}

#[test]
fn bonds_of_grains_that_leave_enter_the_ledger_once() {
    let world = leaving();
    let mut whole = after(&world, among(1, STEP), 6000);
    assert!(whole.len() < 15 && whole.ledger().left_domain > 0.0 && whole.ledger().elastic_bonds > 0.0);
    for domains in [2, 4] {
        decomposed_alike(&world, &mut whole, domains, among(domains, STEP), 6000);
    }
}

#[test]
fn bonds_across_a_border_go_with_the_grain_that_leaves() {
    // A row with a kink like a roof, whose ridge is at a border: the first grain behind it leaves alone.
    let mut world = row(20, |k| [0.0, if k % 2 == 0 { 0.05 } else { -0.05 }, 5.0], bonds(BondLaw::Beam));
    for (k, position) in (0..).zip(&mut world.grains.position) {
        position[2] = -0.1 * SPACING * f64::abs(f64::from(k) - 10.0);
    }
    world.domain = Some(Domain::open([-1.0; 3], [1.0, 1.0, SPACING], LeavingPolicy::Delete));
    let mut whole = after(&world, among(1, STEP), 800);
    let ledger = whole.ledger();
    assert!(
        (1..15).contains(&whole.len()) && ledger.elastic_bonds > 0.0,
        "{} {ledger:?}",
        whole.len()
    );
    for domains in [2, 4] {
        decomposed_alike(&world, &mut whole, domains, among(domains, STEP), 800);
    }
}

#[test]
fn a_bond_that_is_stretched_far_over_a_border_holds() {
    assert_rubber_holds(|domains| among(domains, STEP));
}

#[test]
fn a_bond_that_reaches_over_a_whole_domain_is_refused() {
    assert_too_long_is_refused(|domains| among(domains, STEP));
    // A bond that is too long from the start is rejected before the run.
    let mut world = parting([0.0; 2]);
    world.bonds[0].between = Bonded::Pairs(vec![[0, 8]]);
    let refusal = Simulation::new(world, among(3, STEP)).err().unwrap().to_string();
    assert!(refusal.contains("use at most 1"), "{refusal}");
}

#[test]
fn bonded_ghosts_from_layers_of_cells_are_those_among_all_grains() {
    let (ring, beam, block) = (ring(), beam(), block());
    let settings = [among(2, STEP), among(4, STEP), cracking(&block, 3)];
    for (world, settings) in [&ring, &beam, &block].into_iter().zip(settings) {
        let [mut all, mut layers] = GhostSelection::ALL.map(|ghost_selection| {
            let settings = Settings {
                ghost_selection,
                ..settings.clone()
            };
            after(world, settings, 600)
        });
        let what = format!("{} grains", world.grains.len());
        assert_eq!(all.bonds_now(), layers.bonds_now(), "{what}");
        assert_same(&mut all, &mut layers, &what);
        assert_eq!(all.snapshot(), layers.snapshot(), "{what}");
    }
}
