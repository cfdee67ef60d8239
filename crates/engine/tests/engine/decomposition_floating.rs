//! Bodies in fluids that are decomposed into subdomains: the result is the same for any number.

use crate::alike::assert_same;
use crate::blocks::{Block, DENSITY, SPACING, hinged, momentum, pool, pushed, pushed_in_a_plane};
use crate::domains::{after, among, started};
use crate::ledgers::assert_same_ledger;
use crate::pools::G;
use crate::ranked::among_ranks;
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::world::{Domain, LeavingPolicy, WallMotion, World};
use seixo_transport::Transport;

/// Asserts that a decomposed world, after these steps, equals this one without decomposition, with the fluid forces on bodies.
#[track_caller]
fn assert_alike(world: &World, whole: &mut Simulation, domains: usize, steps: u64) -> Simulation {
    let what = format!("{domains} domains");
    let mut decomposed = after(world, domains, steps);
    assert_same(whole, &mut decomposed, &what);
    assert_same_ledger(whole, &decomposed, &what);
    assert_eq!(whole.bodies(), decomposed.bodies(), "{what}");
    assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
    assert_eq!(whole.loads_of_fluids_on_bodies(), decomposed.loads_of_fluids_on_bodies(), "{what}");
    decomposed
}

/// A pool with a raft that falls into it, a submerged rotating block in prescribed motion, and an oscillating wall.
pub fn busy() -> World {
    let mut world = pool([24, 8, 14], 8, None);
    let raft = Block {
        low: [14, 2, 8],
        cells: [6, 4, 2],
        density_ratio: 0.5,
    };
    raft.put(&mut world, [-0.5, 0.0, -0.5], false);
    let held = Block {
        low: [4, 2, 2],
        cells: [5, 3, 3],
        density_ratio: 2.0,
    };
    held.put(&mut world, [0.0; 3], true);
    world.grains.bodies[1].motion = Some(WallMotion {
        velocity: [0.1, 0.0, 0.0],
        angular_velocity: [0.0, 2.0, 0.0],
        ..WallMotion::default()
    });
    world
}

#[test]
fn bodies_float_and_are_driven_through_all_domains() {
    for (what, world, numbers, steps) in [
        ("a raft and a rudder", busy(), &[2, 4][..], 250),
        ("a block that is pushed through water", pushed(), &[2], 200),
        ("a block on a hinge", hinged(), &[2], 150),
        ("a block in a plane", pushed_in_a_plane(), &[2], 200),
    ] {
        let mut whole = after(&world, 1, steps);
        assert!(whole.rebuilds() > 2, "{what}: {}", whole.rebuilds());
        let [push, _] = whole.loads_of_fluids_on_bodies()[0];
        assert!(push.iter().any(|x| x.abs() > 1e-2), "{what}: {push:?}");
        for &domains in numbers {
            let decomposed = assert_alike(&world, &mut whole, domains, steps);
            assert!(decomposed.decomposition().unwrap().migrations > 0, "{what}");
        }
    }
}

#[test]
fn what_a_body_loses_of_momentum_the_water_of_two_domains_gains() {
    let mut simulation = started(&pushed(), 2);
    let before = momentum(&simulation);
    let (size, given) = (simulation.bodies()[0].mass, simulation.bodies()[0].velocity);
    simulation.advance(400).unwrap();
    simulation.observe().unwrap();
    let (after, kept) = (momentum(&simulation), simulation.bodies()[0].velocity);
    for k in 0..3 {
        assert!((after[k] - before[k]).abs() < 1e-11 * size, "{before:?} {after:?}");
    }
    assert!(kept[0] < 0.9 * given[0], "water held nothing: {kept:?}");
}

#[test]
fn two_domains_lift_a_block_by_the_weight_of_its_volume() {
    let mut world = pool([10, 10, 18], 13, None);
    let block = Block {
        low: [3, 3, 5],
        cells: [4; 3],
        density_ratio: 3.0,
    };
    block.put(&mut world, [0.0; 3], true);
    let mut simulation = started(&world, 2);
    let steps = (0.15 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let mut lift = 0.0;
    let looks = steps / 4;
    for _ in 0..looks {
        simulation.advance(8).unwrap();
        simulation.observe().unwrap();
        lift += simulation.snapshot().force[0][2] / looks as f64;
    }
    let expected = DENSITY * G * block.volume(SPACING);
    assert!((lift / expected - 1.0).abs() < 0.02, "{lift} of {expected} N");
}

#[test]
fn bodies_in_incompressible_fluids_are_the_same_among_any_number_of_domains() {
    let world = incompressible(busy());
    let mut whole = after(&world, 1, 60);
    for domains in [2, 4] {
        assert_alike(&world, &mut whole, domains, 60);
    }
}

#[test]
fn a_body_that_leaves_is_gone_from_all_fluids() {
    let mut world = busy();
    world.domain = Some(Domain::open([-1.0, -1.0, -1.0], [0.36, 2.0, 2.0], LeavingPolicy::Delete));
    world.grains.bodies[0].velocity = [2.0, 0.0, 0.0];
    let mut whole = after(&world, 1, 400);
    assert_eq!(whole.bodies().len(), 1);
    for domains in [2, 3] {
        assert_alike(&world, &mut whole, domains, 400);
    }
}

#[test]
fn a_body_that_is_taken_away_is_gone_from_all_fluids() {
    for world in [busy(), incompressible(busy())] {
        let (raft, _) = world.grains.bodies[0].carries[0];
        let without_raft = |domains: usize| {
            let mut simulation = after(&world, domains, 50);
            simulation.remove(&[raft]).unwrap();
            simulation.advance(20).unwrap();
            simulation.observe().unwrap();
            simulation
        };
        let mut whole = without_raft(1);
        assert_eq!(whole.bodies().len(), 1);
        for domains in [2, 3] {
            let mut decomposed = without_raft(domains);
            let what = format!("{domains} domains");
            assert_same(&mut whole, &mut decomposed, &what);
            assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
        }
    }
}

#[test]
fn bodies_in_fluids_go_on_among_another_number_of_domains() {
    let world = busy();
    let mut whole = after(&world, 1, 200);
    let state = after(&world, 3, 100).save().unwrap();
    for domains in [1, 4] {
        let mut again = Simulation::restore(world.clone(), among(domains), &state).unwrap();
        again.advance(100).unwrap();
        again.observe().unwrap();
        let what = format!("from 3 to {domains} domains");
        assert_same(&mut whole, &mut again, &what);
        assert_same_ledger(&whole, &again, &what);
        assert_eq!(whole.loads_of_fluids_on_bodies(), again.loads_of_fluids_on_bodies(), "{what}");
    }
}

#[test]
fn every_rank_holds_the_same_water_and_bodies() {
    let world = busy();
    let look = |simulation: &mut Simulation| {
        simulation.advance(100).unwrap();
        simulation.observe().unwrap();
        let counts = (simulation.fluid_particles(), simulation.rebuilds());
        (simulation.save().unwrap(), simulation.loads_of_fluids_on_bodies(), counts)
    };
    for count in [2, 3] {
        let mut threads = started(&world, count);
        let expected = look(&mut threads);
        let of_domains = threads.decomposition().unwrap().fluid;
        let found = among_ranks(count, &world, |ranks, mut simulation| {
            let seen = look(&mut simulation);
            assert_eq!(simulation.decomposition().unwrap().fluid, of_domains);
            ranks.clone().finish().unwrap();
            seen
        });
        for (rank, seen) in found.iter().enumerate() {
            // The ledger is identical, too: all ranks sum in the order of subdomains.
            assert!(*seen == expected, "rank {rank} of {count}");
        }
    }
}
