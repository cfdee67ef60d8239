//! Bodies in fluids that are decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter
//! these tests fail).

use crate::alike::assert_same;
use crate::decomposition_floating::busy;
use crate::domains_on_a_gpu::{after, started};
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::world::{Domain, LeavingPolicy, Precision};

/// Asserts that two simulations are alike, with the fluid forces on bodies.
#[track_caller]
fn assert_alike(whole: &mut Simulation, decomposed: &mut Simulation, what: &str) {
    assert_same(whole, decomposed, what);
    assert_same_ledger(whole, decomposed, what);
    assert_eq!(whole.bodies(), decomposed.bodies(), "{what}");
    assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
    assert_eq!(whole.loads_of_fluids_on_bodies(), decomposed.loads_of_fluids_on_bodies(), "{what}");
}

#[test]
fn bodies_float_and_are_driven_through_all_domains() {
    let mut whole = after(&busy(), 1, Precision::Mixed, 200);
    for count in [2, 3] {
        let mut decomposed = after(&busy(), count, Precision::Mixed, 200);
        assert_alike(&mut whole, &mut decomposed, &format!("a raft and a rudder in {count} domains"));
    }
    let [push, _] = whole.loads_of_fluids_on_bodies()[0];
    assert!(whole.rebuilds() > 1 && push.iter().any(|x| x.abs() > 1e-2), "{push:?}");
}

#[test]
fn bodies_float_in_incompressible_fluids_of_all_domains() {
    let world = incompressible(busy());
    let [mut whole, mut decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, 60));
    assert_alike(&mut whole, &mut decomposed, "a raft and a rudder in an incompressible fluid");
    let [push, _] = whole.loads_of_fluids_on_bodies()[0];
    assert!(push.iter().any(|x| x.abs() > 1e-2), "{push:?}");
}

#[test]
fn bodies_in_fluids_go_on_among_another_number_of_domains() {
    let world = busy();
    let mut whole = after(&world, 1, Precision::F64, 120);
    let state = after(&world, 3, Precision::F64, 60).save().unwrap();
    let mut again = Simulation::restore(world.clone(), among(2, Precision::F64), &state).unwrap();
    again.advance(30).unwrap();
    again.observe().unwrap();
    again.advance(30).unwrap();
    again.observe().unwrap();
    assert_alike(&mut whole, &mut again, "from 3 to 2 domains");
}

#[test]
fn bodies_that_leave_or_are_taken_away_are_gone_from_all_fluids() {
    let mut world = busy();
    world.domain = Some(Domain::open([-1.0, -1.0, -1.0], [0.36, 2.0, 2.0], LeavingPolicy::Delete));
    world.grains.bodies[0].velocity = [2.0, 0.0, 0.0];
    let [mut whole, mut decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::F64, 400));
    assert_eq!(whole.bodies().len(), 1);
    assert_same(&mut whole, &mut decomposed, "a raft that leaves");
    assert_eq!(whole.bodies(), decomposed.bodies());
    assert_eq!(whole.fluid(), decomposed.fluid());
    let world = busy();
    let (raft, _) = world.grains.bodies[0].carries[0];
    let without_raft = |domains: usize| {
        let mut simulation = started(&world, domains, Precision::Mixed);
        simulation.advance(50).unwrap();
        simulation.remove(&[raft]).unwrap();
        simulation.advance(20).unwrap();
        simulation.observe().unwrap();
        simulation
    };
    let (mut whole, mut decomposed) = (without_raft(1), without_raft(2));
    assert_eq!(whole.bodies().len(), 1);
    assert_alike(&mut whole, &mut decomposed, "without a raft");
}
