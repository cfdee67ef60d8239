//! Rigid bodies decomposed into subdomains: the result is the same for any number.

use crate::alike::assert_same;
use crate::clumps::{Fill as _, Shape, domain, heap, rod, world};
use crate::domains::{after, among, started};
use crate::ledgers::assert_same_ledger;
use crate::tied::{tie, with_joints};
use seixo_engine::world::{Joint, LeavingPolicy, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::contact::TangentialLaw;

/// Orientation of a shape as it was drawn.
pub const AS_DRAWN: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// Asserts that grains, bodies and ledgers are the same.
#[track_caller]
pub fn assert_one_answer(whole: &mut Simulation, decomposed: &mut Simulation, what: &str) {
    assert_same(whole, decomposed, what);
    assert_same_ledger(whole, decomposed, what);
    assert_eq!(whole.bodies(), decomposed.bodies(), "{what}");
}

#[test]
fn clumps_and_grains_pile_up_in_a_box() {
    let mut world = heap(200, None);
    world.local_damping = 0.1;
    let mut whole = after(&world, 1, 3000);
    assert!(whole.contacts() > 20 && whole.rebuilds() > 3, "{}", whole.contacts());
    assert!(whole.ledger().local_damping > 0.0);
    for domains in [2, 4, 8] {
        let what = format!("{domains} domains");
        let mut decomposed = after(&world, domains, 3000);
        assert!(decomposed.decomposition().unwrap().migrations > 0, "{what}");
        assert_one_answer(&mut whole, &mut decomposed, &what);
    }
}

#[test]
fn a_heap_goes_on_among_any_number_of_domains() {
    let world = heap(200, None);
    let mut whole = after(&world, 1, 2500);
    let mut saved = after(&world, 4, 1500);
    let state = saved.save().unwrap();
    for domains in [1, 2, 5] {
        let mut again = Simulation::restore(world.clone(), among(domains), &state).unwrap();
        again.advance(1000).unwrap();
        again.observe().unwrap();
        assert_one_answer(&mut whole, &mut again, &format!("from 4 to {domains} domains"));
    }
    // Observations change nothing either.
    for _ in 0..100 {
        saved.advance(10).unwrap();
        saved.observe().unwrap();
    }
    assert_one_answer(&mut whole, &mut saved, "with many looks");
}

#[test]
fn bodies_pass_periodic_sides_and_leave_through_a_hole() {
    let mut world = heap(200, Some(LeavingPolicy::Delete));
    // Gravity along the periodic axes: wrapped grains gain potential energy from the sides.
    world.gravity = [10.0, 10.0, -50.0];
    let mut whole = after(&world, 1, 3000);
    let (left, ledger) = (whole.bodies().len(), whole.ledger());
    assert!(0 < left && left < world.grains.bodies.len(), "{left}");
    assert!(ledger.wall_work != 0.0 && ledger.left_domain != 0.0, "{ledger:?}");
    for domains in [2, 4] {
        let what = format!("{domains} domains");
        let mut decomposed = after(&world, domains, 3000);
        assert_one_answer(&mut whole, &mut decomposed, &what);
        // In an observation, centers may be outside of the periodic sides: that is no work.
        let mut first = after(&world, domains, 1300);
        let mut second = Simulation::restore(world.clone(), among(domains + 1), &first.save().unwrap()).unwrap();
        second.advance(1700).unwrap();
        second.observe().unwrap();
        assert_one_answer(&mut whole, &mut second, &format!("from {what}"));
    }
}

/// A long rod through all subdomains. A row of grains hits one half from below and the other half from above.
pub fn plank(joint: Option<Joint>) -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -10.0];
    world.grains.clear_and(|grains| {
        rod(30, 1e-3).put(grains, [3e-2, 0.0, 0.0], AS_DRAWN, [0.0; 3], [0.0; 3]);
        for k in 0..14 {
            let (along, across) = (4e-3 * f64::from(k) + 2e-3, 3e-4 * f64::from(k % 3));
            let side = if k < 7 { -1.0 } else { 1.0 };
            let id = grains.len() as u32;
            grains.push(id, [along, across, 3.2e-3 * side], [0.0, 0.0, -0.5 * side], [0.0; 3], 1.5e-3, 0, 0);
        }
    });
    if let Some(joint) = joint {
        tie(&mut world, 0, joint);
    }
    world
}

#[test]
fn a_body_through_all_domains_feels_what_acts_on_it_in_each() {
    let hinge = Joint::Hinge {
        through: [3e-2, 0.0, 0.0],
        axis: [0.0, 1.0, 0.0],
    };
    for joint in [None, Some(hinge)] {
        let world = plank(joint);
        let mut whole = after(&world, 1, 1500);
        let turning = whole.bodies()[0].angular_velocity[1];
        assert!(turning > 1.0 && whole.ledger().normal_damping > 0.0, "{turning}");
        for domains in [2, 4] {
            let what = format!("{domains} domains, {:?}", world.grains.bodies[0].joint);
            let mut decomposed = after(&world, domains, 1500);
            let grains = decomposed.decomposition().unwrap().grains;
            assert!(grains.iter().all(|grains| *grains > 0), "{what}: {grains:?}");
            assert_one_answer(&mut whole, &mut decomposed, &what);
        }
    }
}

#[test]
fn a_heap_falls_on_bodies_on_joints_and_one_that_is_held() {
    let mut world = with_joints(heap(200, None));
    world.grains.bodies[4].motion = Some(WallMotion {
        velocity: [0.05, 0.0, 0.0],
        ..WallMotion::default()
    });
    let mut whole = after(&world, 1, 3000);
    let hinged = whole.bodies()[10].angular_velocity;
    assert!(hinged.iter().any(|rate| rate.abs() > 1.0), "{hinged:?}");
    assert!(whole.ledger().wall_work != 0.0);
    for domains in [2, 4] {
        let mut decomposed = after(&world, domains, 3000);
        assert_one_answer(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
}

/// A rod that leaves the domain, beside another rod and grains at rest.
pub fn leaver(leaving: LeavingPolicy) -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.domain = Some(domain([false; 3], leaving, 4e-2));
    world.grains.clear_and(|grains| {
        rod(12, 1e-3).put(grains, [3e-2, 5e-3, 5e-3], AS_DRAWN, [1.0, 0.0, 0.0], [0.0; 3]);
        rod(12, 1e-3).put(grains, [1.4e-2, 1.2e-2, 2e-3], AS_DRAWN, [0.0; 3], [0.0; 3]);
        for k in 0..10 {
            let id = grains.len() as u32;
            grains.push(id, [4e-3 * f64::from(k) + 2e-3, 2e-2, 2e-2], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
        }
    });
    world
}

/// Steps after which the rod of [`leaver()`] is outside by a millimeter.
fn until_out(world: &World) -> u64 {
    (1.1e-2 / started(world, 1).time_step().value) as u64
}

#[test]
fn a_body_leaves_all_domains_as_a_whole() {
    let world = leaver(LeavingPolicy::Delete);
    let steps = until_out(&world);
    let mut whole = after(&world, 1, steps);
    assert_eq!((whole.len(), whole.bodies().len()), (22, 1));
    let moving = started(&world, 1).ledger().kinetic;
    for domains in [2, 4] {
        let mut decomposed = after(&world, domains, steps);
        assert_one_answer(&mut whole, &mut decomposed, &format!("{domains} domains"));
        let left = decomposed.ledger().left_domain;
        assert!((left / moving - 1.0).abs() < 1e-12, "{left} J of {moving} J");
        decomposed.advance(100).unwrap();
    }
}

#[test]
fn a_body_that_must_not_leave_stops_all_domains() {
    let world = leaver(LeavingPolicy::Error);
    let steps = until_out(&world);
    let alone = started(&world, 1).advance(steps).unwrap_err();
    for domains in [2, 4] {
        let mut decomposed = started(&world, domains);
        let stop = decomposed.advance(steps).unwrap_err();
        assert_eq!((stop.grain, stop.step, &stop.cause), (alone.grain, alone.step, &alone.cause));
        // An observation shows the state at the time of the error.
        decomposed.observe().unwrap();
        assert_eq!((decomposed.len(), decomposed.bodies().len()), (34, 2));
    }
}

/// Two rotating clumps, far apart, that fly into empty space.
pub fn void() -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -10.0];
    world.local_damping = 0.1;
    world.grains.clear_and(|grains| {
        let clump = Shape::tetrahedron(1e-3);
        clump.put(grains, [0.0; 3], AS_DRAWN, [1.0, 0.0, 0.0], [30.0, 20.0, 10.0]);
        clump.put(grains, [0.1, 0.0, 0.0], AS_DRAWN, [-0.8, 0.1, 0.0], [-10.0, 0.0, 40.0]);
    });
    world
}

#[test]
fn domains_without_grains_know_where_bodies_are() {
    let world = void();
    let mut whole = after(&world, 1, 2000);
    let way = whole.bodies()[0].center[0];
    assert!(way > 5e-3 && whole.rebuilds() > 3, "{way}");
    let begun = started(&world, 4).decomposition().unwrap().grains;
    assert_eq!(begun, [4, 0, 0, 4]);
    let mut decomposed = after(&world, 4, 2000);
    assert!(decomposed.decomposition().unwrap().migrations > 0);
    assert_one_answer(&mut whole, &mut decomposed, "clumps in the void");
}

/// Takes steps, removes two bodies in between, gives the others another velocity, and tilts gravity.
pub fn change(simulation: &mut Simulation) {
    simulation.advance(700).unwrap();
    simulation.remove(&[0, 40]).unwrap();
    simulation.advance(700).unwrap();
    simulation.set_velocity(0, [0.2, 0.1, -0.2]).unwrap();
    simulation.advance(300).unwrap();
    simulation.change(&[SurroundingsChange::Gravity([5.0, 0.0, -40.0])]).unwrap();
    simulation.advance(700).unwrap();
    simulation.observe().unwrap();
}

#[test]
fn bodies_are_changed_while_the_world_is_divided() {
    let world = with_joints(heap(120, None));
    let mut whole = started(&world, 1);
    change(&mut whole);
    assert!(whole.bodies().len() < world.grains.bodies.len());
    for domains in [2, 3] {
        let mut decomposed = started(&world, domains);
        change(&mut decomposed);
        assert_one_answer(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
}
