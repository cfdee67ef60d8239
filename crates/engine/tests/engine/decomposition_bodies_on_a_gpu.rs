//! Rigid bodies decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter these tests
//! fail).

use crate::clumps::heap;
use crate::decomposition_bodies::{assert_one_answer, change, leaver, plank, void};
use crate::domains_on_a_gpu::{after, started};
use crate::on_gpus::among;
use crate::switched::{END, bed, play};
use crate::tied::with_joints;
use seixo_engine::Simulation;
use seixo_engine::world::{Joint, LeavingPolicy, Precision, WallMotion, World};

/// Compares a world on one subdomain with that on two and three.
fn compare(world: &World, precision: Precision, steps: u64) -> Simulation {
    let mut whole = after(world, 1, precision, steps);
    for domains in [2, 3] {
        let mut decomposed = after(world, domains, precision, steps);
        assert_one_answer(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
    whole
}

#[test]
fn clumps_and_grains_pile_up_in_a_box() {
    let mut world = heap(60, None);
    world.local_damping = 0.1;
    for precision in [Precision::Mixed, Precision::F64] {
        let whole = compare(&world, precision, 1600);
        let (damped, bounced) = (whole.ledger().local_damping, whole.ledger().normal_damping);
        assert!(whole.rebuilds() > 1 && damped > 0.0 && bounced > 0.0, "{damped} {bounced}");
    }
    // A run that goes on among another number of subdomains.
    let mut whole = after(&world, 1, Precision::Mixed, 1600);
    let state = after(&world, 3, Precision::Mixed, 900).save().unwrap();
    let mut again = Simulation::restore(world.clone(), among(2, Precision::Mixed), &state).unwrap();
    again.advance(700).unwrap();
    again.observe().unwrap();
    assert_one_answer(&mut whole, &mut again, "from 3 to 2 domains");
}

#[test]
fn a_body_through_all_domains_feels_what_acts_on_it_in_each() {
    let hinge = Joint::Hinge {
        through: [3e-2, 0.0, 0.0],
        axis: [0.0, 1.0, 0.0],
    };
    for joint in [None, Some(hinge)] {
        let whole = compare(&plank(joint), Precision::Mixed, 900);
        let turning = whole.bodies()[0].angular_velocity[1];
        assert!(turning > 1.0 && whole.ledger().normal_damping > 0.0, "{turning}");
    }
}

#[test]
fn a_heap_falls_on_bodies_on_joints_and_one_that_is_held() {
    let mut world = with_joints(heap(60, None));
    world.grains.bodies[4].motion = Some(WallMotion {
        velocity: [0.05, 0.0, 0.0],
        ..WallMotion::default()
    });
    let whole = compare(&world, Precision::Mixed, 1600);
    assert!(whole.ledger().wall_work != 0.0);
}

#[test]
fn bodies_with_prescribed_motion_alone_need_no_messages() {
    let mut world = heap(40, None);
    for (k, body) in world.grains.bodies.iter_mut().enumerate() {
        body.joint = None;
        body.motion = Some(WallMotion {
            velocity: [0.02 * k as f64, 0.0, 0.0],
            ..WallMotion::default()
        });
    }
    let whole = compare(&world, Precision::Mixed, 1600);
    assert!(whole.ledger().wall_work != 0.0);
}

#[test]
fn bodies_leave_all_domains_as_a_whole() {
    let world = leaver(LeavingPolicy::Delete);
    let steps = (1.1e-2 / started(&world, 1, Precision::F64).time_step().value) as u64;
    let whole = compare(&world, Precision::F64, steps);
    assert_eq!((whole.len(), whole.bodies().len()), (22, 1));
    let world = leaver(LeavingPolicy::Error);
    let mut decomposed = started(&world, 2, Precision::F64);
    let stop = decomposed.advance(steps).unwrap_err();
    let alone = started(&world, 1, Precision::F64).advance(steps).unwrap_err();
    assert_eq!((stop.grain, stop.step), (alone.grain, alone.step));
}

#[test]
fn bodies_pass_periodic_sides_and_leave_through_a_hole() {
    let mut world = heap(60, Some(LeavingPolicy::Delete));
    world.gravity = [10.0, 10.0, -50.0];
    let whole = compare(&world, Precision::F64, 2500);
    let left = whole.bodies().len();
    assert!(0 < left && left < world.grains.bodies.len(), "{left}");
}

#[test]
fn domains_without_grains_know_where_bodies_are() {
    let mut whole = after(&void(), 1, Precision::Mixed, 1500);
    assert!(whole.bodies()[0].center[0] > 4e-3);
    assert_eq!(started(&void(), 4, Precision::Mixed).decomposition().unwrap().grains, [4, 0, 0, 4]);
    let mut decomposed = after(&void(), 4, Precision::Mixed, 1500);
    assert_one_answer(&mut whole, &mut decomposed, "clumps in the void");
}

#[test]
fn bodies_are_changed_while_the_world_is_divided() {
    let world = with_joints(heap(60, None));
    let mut whole = started(&world, 1, Precision::Mixed);
    change(&mut whole);
    let mut decomposed = started(&world, 2, Precision::Mixed);
    change(&mut decomposed);
    assert_one_answer(&mut whole, &mut decomposed, "2 domains");
}

#[test]
fn groups_are_held_and_set_free_in_all_domains() {
    let played = |domains: usize| {
        let mut simulation = started(&bed(), domains, Precision::Mixed);
        play(&mut simulation, END);
        simulation.observe().unwrap();
        simulation
    };
    let (mut whole, mut decomposed) = (played(1), played(2));
    assert_one_answer(&mut whole, &mut decomposed, "2 domains");
}
