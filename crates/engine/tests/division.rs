//! A world divided among domains: one answer, whatever their number.

mod alike;
mod beds;
mod domains;
mod gases;
mod ledgers;
mod ranked;

use alike::assert_same;
use beds::falling;
use domains::{after, among, started};
use gases::gas;
use ledgers::assert_same_ledger;
use ranked::among_ranks;
use seixo_engine::world::{Domain, Leaving, Load};
use seixo_engine::{Cause, Divided, Refusal, Simulation};
use seixo_laws::contact::TangentialLaw;
use seixo_transport::Transport;
use std::time::Duration;

#[test]
fn two_four_and_eight_domains_equal_one() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = falling(6000, tangential);
        let mut whole = after(&world, 1, 1500);
        assert!(whole.rebuilds() > 3 && whole.contacts() > 1000);
        for domains in [2, 4, 8] {
            let what = format!("{tangential:?}, {domains} domains");
            let mut divided = after(&world, domains, 1500);
            assert_same(&mut whole, &mut divided, &what);
            assert_same_ledger(&whole, &divided, &what);
            assert_eq!(whole.snapshot(), divided.snapshot());
        }
    }
}

#[test]
fn grains_that_leave_and_walls_that_move_are_the_same_everywhere() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.domain = Some(Domain::open([-0.1, -0.1, -0.1], [0.1, 0.1, 0.0143], Leaving::Delete));
    let mut whole = after(&world, 1, 1500);
    assert!(whole.len() < 3000);
    for domains in [2, 3] {
        let mut divided = after(&world, domains, 1500);
        assert_same(&mut whole, &mut divided, &format!("{domains} domains"));
        assert_same_ledger(&whole, &divided, &format!("{domains} domains"));
        let forces = |simulation: &Simulation| simulation.walls().iter().map(|wall| wall.force).collect::<Vec<_>>();
        assert_eq!(forces(&whole), forces(&divided));
    }
}

#[test]
fn loads_and_local_damping_are_booked_once() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.local_damping = 0.1;
    world.loads.push(Load {
        group: 0,
        force: [2e-6, 0.0, 1e-6],
        torque: [0.0, 1e-10, 0.0],
    });
    let mut whole = after(&world, 1, 800);
    let mut divided = after(&world, 4, 800);
    assert_same(&mut whole, &mut divided, "loads");
    assert_same_ledger(&whole, &divided, "loads");
    assert!(divided.ledger().wall_work.abs() > 0.0 && divided.ledger().local_damping > 0.0);
}

#[test]
fn domains_follow_the_grains() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    // They all fall to one side, along the axis across which the box is cut.
    world.gravity = [-400.0, 0.0, -20.0];
    let [mut whole, mut divided] = [1, 3].map(|domains| after(&world, domains, 2000));
    let grains = divided.divided().unwrap().grains;
    assert!(grains.iter().all(|grains| (900..1100).contains(grains)), "{grains:?}");
    assert_same(&mut whole, &mut divided, "a fall to one side");
}

#[test]
fn a_gas_goes_round_through_all_domains() {
    let world = gas(1000);
    let mut whole = started(&world, 1);
    let mut divided: Vec<Simulation> = [2, 4, 8].into_iter().map(|domains| started(&world, domains)).collect();
    let before = whole.momentum();
    let edge = world.domain.unwrap().max[0];
    let mut at = whole.snapshot().position;
    let mut moves = 0;
    for _ in 0..40 {
        whole.advance(200).unwrap();
        let now = whole.snapshot().position;
        // Planes lie nearly at quarters.
        let quarter = |x: f64| (4.0 * x / edge) as u32;
        moves += at.iter().zip(&now).filter(|(a, b)| quarter(a[0]) != quarter(b[0])).count();
        at = now;
    }
    assert!(moves > 1000, "grains changed domains {moves} times only");
    for simulation in &mut divided {
        simulation.advance(8000).unwrap();
        simulation.observe().unwrap();
        assert_eq!(simulation.len(), 1000);
        let divided = simulation.divided().unwrap();
        assert_eq!(divided.grains.iter().sum::<usize>(), 1000);
        assert!(divided.changed_hands > 500, "{divided:?}");
        assert_same(&mut whole, simulation, "a gas");
        let now = simulation.momentum();
        let scale: f64 = 1000.0 * 2.0 * 1.3e-6;
        for (a, b) in before.linear.iter().zip(now.linear) {
            assert!((a - b).abs() < 1e-12 * scale, "{a} {b}");
        }
    }
}

#[test]
fn a_run_goes_on_among_any_number_of_domains() {
    let world = gas(1000);
    let mut whole = after(&world, 1, 1400);
    let mut saved = after(&world, 4, 700);
    let state = saved.save().unwrap();
    for domains in [1, 2, 4, 8] {
        let mut again = Simulation::restore(world.clone(), among(domains), &state).unwrap();
        again.advance(700).unwrap();
        assert_same(&mut whole, &mut again, &format!("from 4 to {domains} domains"));
    }
    // Nor does looking change anything, nor taking one step at a time.
    for _ in 0..700 {
        saved.step().unwrap();
    }
    saved.observe().unwrap();
    assert_same(&mut whole, &mut saved, "step by step");
}

/// How a world is divided, but for what a clock told.
fn divided_but_for_clocks(simulation: &Simulation) -> Divided {
    let mut divided = simulation.divided().unwrap();
    divided.traffic.iter_mut().for_each(|traffic| traffic.spent = Duration::ZERO);
    divided
}

/// Takes steps, and a fifth of 3,000 grains away meanwhile, and gives the others another velocity.
fn change(simulation: &mut Simulation) {
    simulation.advance(400).unwrap();
    simulation.remove(&(0..3000).step_by(5).collect::<Vec<u32>>()).unwrap();
    simulation.advance(400).unwrap();
    simulation.set_velocity(0, [0.1, 0.0, 0.2]).unwrap();
    simulation.advance(400).unwrap();
    simulation.observe().unwrap();
}

#[test]
fn every_rank_holds_the_same_picture() {
    let world = falling(3000, TangentialLaw::Mindlin);
    for count in [2, 3] {
        let mut threads = started(&world, count);
        change(&mut threads);
        let expected = (threads.save().unwrap(), divided_but_for_clocks(&threads), threads.walls());
        let found = among_ranks(count, &world, |ranks, mut simulation| {
            change(&mut simulation);
            let seen = (simulation.save().unwrap(), divided_but_for_clocks(&simulation), simulation.walls());
            assert_eq!((simulation.len(), simulation.threads()), (2400, 1));
            ranks.clone().finish().unwrap();
            seen
        });
        assert_eq!(found.len(), count);
        for (rank, seen) in found.iter().enumerate() {
            // The ledger, too: all add up in the order of domains.
            assert!(*seen == expected, "rank {rank} of {count}");
        }
    }
}

#[test]
fn what_fails_on_one_rank_is_told_by_all() {
    let mut world = gas(1000);
    world.grains.velocity[500] = [3000.0, 0.0, 0.0];
    let mut whole = started(&world, 1);
    let alone = whole.advance(2000).unwrap_err();
    let stops = among_ranks(3, &world, |ranks, mut simulation| {
        let stop = simulation.advance(2000).unwrap_err();
        // It can be looked at as it was then.
        simulation.observe().unwrap();
        assert_eq!(simulation.len(), 1000);
        ranks.clone().finish().unwrap();
        stop
    });
    assert_eq!(stops.len(), 3);
    for stop in stops {
        assert_eq!((stop.grain, stop.step, &stop.cause), (alone.grain, alone.step, &alone.cause));
        assert_eq!((stop.position, stop.velocity), (alone.position, alone.velocity));
    }
}

#[test]
fn a_rank_that_leaves_ends_the_others() {
    let world = gas(1000);
    let told = among_ranks(3, &world, |ranks, mut simulation| {
        // Others may still be at the first steps when they hear of it.
        let taken = simulation.advance(50).and_then(|()| {
            if ranks.rank() == 1 {
                ranks.leave();
            }
            simulation.advance(1000)
        });
        let stop = taken.unwrap_err();
        assert!(simulation.observe().is_err());
        (ranks.rank(), stop.to_string())
    });
    for (rank, told) in told {
        let why = if rank == 1 {
            "it has left the others"
        } else {
            "it ended before the others"
        };
        assert!(told.contains("domain 1 cannot be reached") && told.contains(why), "{rank}: {told}");
    }
}

#[test]
fn grains_come_and_go_while_the_world_is_divided() {
    let world = falling(3000, TangentialLaw::Mindlin);
    let [mut whole, mut divided] = [1, 4].map(|domains| started(&world, domains));
    change(&mut whole);
    change(&mut divided);
    assert_eq!(divided.len(), 2400);
    assert_same(&mut whole, &mut divided, "after changes");
    assert_same_ledger(&whole, &divided, "after changes");
}

#[test]
fn a_divided_run_goes_on_with_less_than_fills_its_domains() {
    let world = falling(1000, TangentialLaw::Mindlin);
    let [mut whole, mut divided] = [1, 4].map(|domains| started(&world, domains));
    // Some go, then all but three that are neighbors, then the last.
    for (left, are_divided) in [(900, true), (3, false), (0, false)] {
        for simulation in [&mut whole, &mut divided] {
            simulation.advance(100).unwrap();
            simulation.remove(&(left..1000).collect::<Vec<u32>>()).unwrap();
            simulation.advance(100).unwrap();
            simulation.observe().unwrap();
        }
        assert_eq!(divided.len(), left as usize);
        assert_eq!(divided.divided().is_some(), are_divided, "{left} grains");
        if left > 0 {
            assert_same(&mut whole, &mut divided, &format!("{left} grains"));
        }
        assert_same_ledger(&whole, &divided, &format!("{left} grains"));
    }
    assert!(
        divided.notices().iter().any(|notice| notice.contains("4 domains")),
        "{:?}",
        divided.notices()
    );
}

#[test]
fn what_fails_in_one_domain_stops_all_with_its_word() {
    let mut world = gas(1000);
    // Two grains meet so fast that they are deep in each other after one step.
    world.grains.velocity[500] = [3000.0, 0.0, 0.0];
    let mut divided = started(&world, 4);
    let stop = divided.advance(2000).unwrap_err();
    let mut whole = started(&world, 1);
    let alone = whole.advance(2000).unwrap_err();
    assert_eq!((stop.grain, stop.step, &stop.cause), (alone.grain, alone.step, &alone.cause));
    assert!(!matches!(stop.cause, Cause::Device { .. }));
}

#[test]
fn what_cannot_be_divided_is_refused_by_name() {
    let world = gas(1000);
    let refusal = Simulation::new(world.clone(), among(40_000)).err().unwrap();
    assert!(
        matches!(&refusal, Refusal::Division(what) if what.contains("domains are too many")),
        "{refusal}"
    );
    let mut damped = world;
    damped.local_damping = 0.2;
    assert!(Simulation::new(damped, among(2)).is_ok());
}

#[test]
fn grains_at_rest_feel_what_flies_in_from_another_domain() {
    // What one domain owns rests, so it alone would not look for what may touch anew; half of a block flies into the other half.
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.walls.clear();
    let all = std::mem::take(&mut world.grains);
    for k in (0..all.len()).filter(|&k| all.position[k][1] < 0.012) {
        world
            .grains
            .push(all.id[k], all.position[k], [0.0; 3], [0.0; 3], all.radius[k], 0, 0);
    }
    let mut along: Vec<f64> = world.grains.position.iter().map(|place| place[0]).collect();
    along.sort_unstable_by(f64::total_cmp);
    let middle = along[along.len() / 2];
    for (place, velocity) in world.grains.position.iter().zip(&mut world.grains.velocity) {
        velocity[0] = if place[0] < middle { 0.0 } else { -0.5 };
    }
    let [mut whole, mut divided] = [1, 2].map(|domains| after(&world, domains, 600));
    assert!(whole.contacts() > 20, "{}", whole.contacts());
    assert_same(&mut whole, &mut divided, "a blow");
    assert_same_ledger(&whole, &divided, "a blow");
}
