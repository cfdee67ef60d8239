//! Bonded grains divided among domains whose grains are on a GPU: one answer, whatever their number (software Vulkan will do; without any adapter these
//! tests fail).

mod alike;
mod bars;
mod beds;
mod bonded;
mod glued;
mod ledgers;

use alike::assert_same;
use bars::settings;
use bonded::{COUNT, STEP, after, assert_rubber_holds, assert_too_long_is_refused, beam, block};
use bonded::{divided_alike, leaving, ring, step_of};
use ledgers::assert_same_ledger;
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, Precision, Settings, World};

/// On a GPU, among so many domains; undivided with the sums that divisions ask for.
fn among(domains: usize, time_step: f64) -> Settings {
    Settings {
        threads: 2,
        domains,
        divisible: true,
        device: DeviceChoice::Gpu(None),
        precision: Some(Precision::Mixed),
        ..settings(time_step)
    }
}

/// How the block is stepped, with lists that are made anew again and again.
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
    let divided = divided_alike(&world, &mut whole, 3, among(3, STEP), 2000);
    assert!(divided.divided().unwrap().changed_hands > 0);
}

#[test]
fn a_ring_goes_round_through_all_domains() {
    let world = ring();
    let mut whole = after(&world, among(1, STEP), 600);
    assert_eq!(whole.bonds_made_and_holding(), [COUNT; 2]);
    divided_alike(&world, &mut whole, 2, among(2, STEP), 600);
}

#[test]
fn a_block_that_falls_on_a_floor_cracks_alike_in_all_divisions() {
    let world = block();
    let mut whole = after(&world, cracking(&world, 1), 1000);
    let [made, holding] = whole.bonds_made_and_holding();
    let breaks = whole.take_breaks();
    assert!(0 < holding && holding < made && breaks.len() == made - holding, "{made} {holding}");
    let [first, then] = [2, 3];
    let what = format!("{first} domains and then {then}");
    let mut divided = after(&world, cracking(&world, first), 600);
    let mut broken = divided.take_breaks();
    let state = divided.save().unwrap();
    let changed_hands = divided.divided().unwrap().changed_hands;
    let mut divided = Simulation::restore(world.clone(), cracking(&world, then), &state).unwrap();
    divided.advance(400).unwrap();
    assert_same(&mut whole, &mut divided, &what);
    assert_same_ledger(&whole, &divided, &what);
    assert!(changed_hands + divided.divided().unwrap().changed_hands > 0, "{what}");
    broken.extend(divided.take_breaks());
    assert!(broken == breaks, "{what}: other bonds broke, or in another order");
    assert_eq!(whole.bonds_now(), divided.bonds_now());
}

#[test]
fn a_cracked_block_on_walls_goes_on_alike_after_a_look_and_a_new_start() {
    // Where grains touch grains and walls and are bonded, too, the order in which the three are added up shows in the last digit.
    let world = block();
    let mut looked_at = after(&world, cracking(&world, 1), 650);
    let state = looked_at.save().unwrap();
    let mut new = Simulation::restore(world.clone(), cracking(&world, 1), &state).unwrap();
    let mut unseen = after(&world, cracking(&world, 1), 900);
    for going_on in [&mut looked_at, &mut new] {
        going_on.advance(250).unwrap();
        going_on.observe().unwrap();
        assert_same(&mut unseen, going_on, "seen or begun anew at step 650");
    }
}

#[test]
fn bonds_of_grains_that_leave_are_booked_once() {
    let world = leaving();
    let mut whole = after(&world, among(1, STEP), 2600);
    assert!(whole.len() < 17 && whole.ledger().left_domain > 0.0 && whole.ledger().elastic_bonds > 0.0);
    divided_alike(&world, &mut whole, 2, among(2, STEP), 2600);
}

#[test]
fn a_bond_that_is_stretched_far_over_a_border_holds() {
    assert_rubber_holds(|domains| among(domains, STEP));
}

#[test]
fn a_bond_that_reaches_over_a_whole_domain_is_refused() {
    assert_too_long_is_refused(|domains| among(domains, STEP));
}
