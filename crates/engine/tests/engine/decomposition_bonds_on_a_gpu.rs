//! Bonded grains decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter these
//! tests fail).

use crate::alike::assert_same;
use crate::bars::settings;
use crate::bonded::{COUNT, STEP, after, assert_rubber_holds, assert_too_long_is_refused, beam, block};
use crate::bonded::{decomposed_alike, leaving, ring, step_of};
use crate::ledgers::assert_same_ledger;
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, Precision, Settings, World};

/// On a GPU, with this number of subdomains; without decomposition, with the same order of sums.
fn among(domains: usize, time_step: f64) -> Settings {
    Settings {
        threads: 2,
        domains,
        decomposition_invariant: true,
        device: DeviceChoice::Gpu(None),
        precision: Some(Precision::Mixed),
        ..settings(time_step)
    }
}

/// Steps the block with frequent rebuilds of the neighbor lists.
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
    assert!(whole.bonds_now().iter().any(|bond| bond.bending > 0.0) && whole.ledger().bond_damping > 0.0);
    let decomposed = decomposed_alike(&world, &mut whole, 3, among(3, STEP), 2000);
    assert!(decomposed.decomposition().unwrap().migrations > 0);
}

#[test]
fn a_ring_goes_round_through_all_domains() {
    let world = ring();
    let mut whole = after(&world, among(1, STEP), 600);
    assert_eq!(whole.bond_counts(), [COUNT; 2]);
    decomposed_alike(&world, &mut whole, 2, among(2, STEP), 600);
}

#[test]
fn a_block_that_falls_on_a_floor_cracks_alike_in_all_divisions() {
    let world = block();
    let mut whole = after(&world, cracking(&world, 1), 1000);
    let [made, holding] = whole.bond_counts();
    let breaks = whole.drain_bond_breaks();
    assert!(0 < holding && holding < made && breaks.len() == made - holding, "{made} {holding}");
    let [first, then] = [2, 3];
    let what = format!("{first} domains and then {then}");
    let mut decomposed = after(&world, cracking(&world, first), 600);
    let mut broken = decomposed.drain_bond_breaks();
    let state = decomposed.save().unwrap();
    let migrations = decomposed.decomposition().unwrap().migrations;
    let mut decomposed = Simulation::restore(world.clone(), cracking(&world, then), &state).unwrap();
    decomposed.advance(400).unwrap();
    assert_same(&mut whole, &mut decomposed, &what);
    assert_same_ledger(&whole, &decomposed, &what);
    assert!(migrations + decomposed.decomposition().unwrap().migrations > 0, "{what}");
    broken.extend(decomposed.drain_bond_breaks());
    assert!(broken == breaks, "{what}: other bonds broke, or in another order");
    assert_eq!(whole.bonds_now(), decomposed.bonds_now());
}

#[test]
fn a_cracked_block_on_walls_goes_on_alike_after_a_look_and_a_new_start() {
    // Where grains have contacts with grains and walls as well as bonds, the order of the three sums affects the last digit.
    let world = block();
    let mut looked_at = after(&world, cracking(&world, 1), 650);
    let state = looked_at.save().unwrap();
    let mut new = Simulation::restore(world.clone(), cracking(&world, 1), &state).unwrap();
    let mut unseen = after(&world, cracking(&world, 1), 900);
    for going_on in [&mut looked_at, &mut new] {
        going_on.advance(250).unwrap();
        going_on.observe().unwrap();
        assert_same(&mut unseen, going_on, "seen or restarted at step 650");
    }
}

#[test]
fn bonds_of_grains_that_leave_enter_the_ledger_once() {
    let world = leaving();
    let mut whole = after(&world, among(1, STEP), 2600);
    assert!(whole.len() < 17 && whole.ledger().left_domain > 0.0 && whole.ledger().elastic_bonds > 0.0);
    decomposed_alike(&world, &mut whole, 2, among(2, STEP), 2600);
}

#[test]
fn a_bond_that_is_stretched_far_over_a_border_holds() {
    assert_rubber_holds(|domains| among(domains, STEP));
}

#[test]
fn a_bond_that_reaches_over_a_whole_domain_is_refused() {
    assert_too_long_is_refused(|domains| among(domains, STEP));
}
