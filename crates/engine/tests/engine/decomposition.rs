//! A world decomposed into subdomains: the result is the same for any number.

use crate::alike::assert_same;
use crate::beds::falling;
use crate::domains::{after, among, started};
use crate::gases::gas;
use crate::ledgers::assert_same_ledger;
use crate::ranked::among_ranks;
use seixo_engine::world::{Domain, LeavingPolicy, Load, LoadBalance, Settings};
use seixo_engine::{Decomposition, Simulation, StepErrorCause, WorldError};
use seixo_laws::contact::TangentialLaw;
use seixo_transport::Transport;
use std::time::Duration;

/// Asserts that a bed of so many rough grains is the same in two, four and eight domains as in one, and of smooth ones in these numbers of domains.
#[track_caller]
fn assert_domains_equal_one(grains: usize, numbers_of_smooth: &[usize]) {
    for (tangential, numbers) in [(TangentialLaw::Mindlin, &[2, 4, 8][..]), (TangentialLaw::None, numbers_of_smooth)] {
        let world = falling(grains, tangential);
        let mut whole = after(&world, 1, 1500);
        assert!(whole.rebuilds() > 3 && whole.contacts() > grains as u64 / 6);
        for &domains in numbers {
            let what = format!("{tangential:?}, {domains} domains");
            let mut decomposed = after(&world, domains, 1500);
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            assert_eq!(whole.snapshot(), decomposed.snapshot());
        }
    }
}

#[test]
fn two_four_and_eight_domains_equal_one() {
    assert_domains_equal_one(3000, &[8]);
}

#[test]
fn six_thousand_grains_rough_or_smooth_are_the_same_in_two_four_and_eight_domains() {
    assert_domains_equal_one(6000, &[2, 4, 8]);
}

#[test]
fn grains_that_leave_and_walls_that_move_are_the_same_everywhere() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.domain = Some(Domain::open([-0.1, -0.1, -0.1], [0.1, 0.1, 0.0143], LeavingPolicy::Delete));
    let mut whole = after(&world, 1, 1500);
    assert!(whole.len() < 3000);
    for domains in [2, 3] {
        let mut decomposed = after(&world, domains, 1500);
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
        let forces = |simulation: &Simulation| simulation.walls().iter().map(|wall| wall.force).collect::<Vec<_>>();
        assert_eq!(forces(&whole), forces(&decomposed));
    }
}

#[test]
fn loads_and_local_damping_enter_the_ledger_once() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.local_damping = 0.1;
    world.loads.push(Load::constant(0, [2e-6, 0.0, 1e-6], [0.0, 1e-10, 0.0]));
    let mut whole = after(&world, 1, 800);
    let mut decomposed = after(&world, 4, 800);
    assert_same(&mut whole, &mut decomposed, "loads");
    assert_same_ledger(&whole, &decomposed, "loads");
    assert!(decomposed.ledger().wall_work.abs() > 0.0 && decomposed.ledger().local_damping > 0.0);
}

#[test]
fn domains_follow_the_grains() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    // All grains fall to one side, along the axis across which the box is cut.
    world.gravity = [-400.0, 0.0, -20.0];
    let [mut whole, mut decomposed] = [1, 3].map(|domains| after(&world, domains, 2000));
    let grains = decomposed.decomposition().unwrap().grains;
    assert!(grains.iter().all(|grains| (900..1100).contains(grains)), "{grains:?}");
    assert_same(&mut whole, &mut decomposed, "a fall to one side");
}

#[test]
fn a_gas_goes_round_through_all_domains() {
    let world = gas(1000);
    let mut whole = started(&world, 1);
    let mut decomposed: Vec<Simulation> = [2, 4, 8].into_iter().map(|domains| started(&world, domains)).collect();
    let before = whole.momentum();
    let edge = world.domain.unwrap().max[0];
    let mut at = whole.snapshot().position;
    let mut moves = 0;
    for _ in 0..40 {
        whole.advance(200).unwrap();
        let now = whole.snapshot().position;
        // The planes are nearly at the quarters.
        let quarter = |x: f64| (4.0 * x / edge) as u32;
        moves += at.iter().zip(&now).filter(|(a, b)| quarter(a[0]) != quarter(b[0])).count();
        at = now;
    }
    assert!(moves > 1000, "grains changed domains {moves} times only");
    for simulation in &mut decomposed {
        simulation.advance(8000).unwrap();
        simulation.observe().unwrap();
        assert_eq!(simulation.len(), 1000);
        let decomposed = simulation.decomposition().unwrap();
        assert_eq!(decomposed.grains.iter().sum::<usize>(), 1000);
        assert!(decomposed.migrations > 500, "{decomposed:?}");
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
    // Neither observations nor single steps change anything.
    for _ in 0..700 {
        saved.step().unwrap();
    }
    saved.observe().unwrap();
    assert_same(&mut whole, &mut saved, "step by step");
}

#[test]
fn planes_that_follow_clocks_change_no_bit_of_a_grain() {
    let world = falling(3000, TangentialLaw::Mindlin);
    let mut whole = after(&world, 1, 1500);
    let by_time = |domains: usize| Settings {
        load_balance: LoadBalance::Time,
        ..among(domains)
    };
    let mut saved = Simulation::new(world.clone(), by_time(3)).unwrap();
    saved.advance(700).unwrap();
    let state = saved.save().unwrap();
    for domains in [2, 4] {
        let mut again = Simulation::restore(world.clone(), by_time(domains), &state).unwrap();
        again.advance(800).unwrap();
        assert_same(&mut whole, &mut again, &format!("from 3 to {domains} domains"));
    }
    saved.advance(800).unwrap();
    saved.observe().unwrap();
    assert_same(&mut whole, &mut saved, "without a break");
    assert_same_ledger(&whole, &saved, "without a break");
    let found = saved.decomposition().unwrap();
    assert!(found.grain_work.iter().all(|time| *time > 0.0), "{found:?}");
    assert!(found.imbalance_by_time().is_some_and(|share| share >= 0.0), "{found:?}");
}

/// The decomposition of a world, without measured times.
fn decomposed_but_for_clocks(simulation: &Simulation) -> Decomposition {
    let mut decomposed = simulation.decomposition().unwrap();
    decomposed.grain_work.clear();
    decomposed
        .communication
        .iter_mut()
        .for_each(|traffic| (traffic.spent, traffic.selecting) = (Duration::ZERO, Duration::ZERO));
    decomposed
}

/// Takes steps, deletes a fifth of 3,000 grains in between, and gives the others another velocity.
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
        let expected = (threads.save().unwrap(), decomposed_but_for_clocks(&threads), threads.walls());
        let found = among_ranks(count, &world, |ranks, mut simulation| {
            change(&mut simulation);
            let seen = (
                simulation.save().unwrap(),
                decomposed_but_for_clocks(&simulation),
                simulation.walls(),
            );
            assert_eq!((simulation.len(), simulation.threads()), (2400, 1));
            ranks.clone().finish().unwrap();
            seen
        });
        assert_eq!(found.len(), count);
        for (rank, seen) in found.iter().enumerate() {
            // The ledger is identical, too: all ranks sum in the order of subdomains.
            assert!(*seen == expected, "rank {rank} of {count}");
        }
    }
}

#[test]
fn what_fails_on_one_rank_is_reported_by_all() {
    let mut world = gas(1000);
    world.grains.velocity[500] = [3000.0, 0.0, 0.0];
    let mut whole = started(&world, 1);
    let alone = whole.advance(2000).unwrap_err();
    let stops = among_ranks(3, &world, |ranks, mut simulation| {
        let stop = simulation.advance(2000).unwrap_err();
        // An observation shows the state at the time of the error.
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
    let reported = among_ranks(3, &world, |ranks, mut simulation| {
        // Others may still be at the first steps when they receive the message.
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
    for (rank, reported) in reported {
        let why = if rank == 1 {
            "this rank has left the run"
        } else {
            "it ended before the others"
        };
        assert!(
            reported.contains("domain 1 cannot be reached") && reported.contains(why),
            "{rank}: {reported}"
        );
    }
}

#[test]
fn grains_come_and_go_while_the_world_is_divided() {
    let world = falling(3000, TangentialLaw::Mindlin);
    let [mut whole, mut decomposed] = [1, 4].map(|domains| started(&world, domains));
    change(&mut whole);
    change(&mut decomposed);
    assert_eq!(decomposed.len(), 2400);
    assert_same(&mut whole, &mut decomposed, "after changes");
    assert_same_ledger(&whole, &decomposed, "after changes");
}

#[test]
fn a_divided_run_goes_on_with_less_than_fills_its_domains() {
    let world = falling(1000, TangentialLaw::Mindlin);
    let [mut whole, mut decomposed] = [1, 4].map(|domains| started(&world, domains));
    // First some grains are removed, then all but three neighbors, then these.
    for (left, are_decomposed) in [(900, true), (3, false), (0, false)] {
        for simulation in [&mut whole, &mut decomposed] {
            simulation.advance(100).unwrap();
            simulation.remove(&(left..1000).collect::<Vec<u32>>()).unwrap();
            simulation.advance(100).unwrap();
            simulation.observe().unwrap();
        }
        assert_eq!(decomposed.len(), left as usize);
        assert_eq!(decomposed.decomposition().is_some(), are_decomposed, "{left} grains");
        if left > 0 {
            assert_same(&mut whole, &mut decomposed, &format!("{left} grains"));
        }
        assert_same_ledger(&whole, &decomposed, &format!("{left} grains"));
    }
    assert!(
        decomposed.notices().iter().any(|notice| notice.contains("4 domains")),
        "{:?}",
        decomposed.notices()
    );
}

#[test]
fn what_fails_in_one_domain_stops_all_with_its_word() {
    let mut world = gas(1000);
    // Two grains collide so fast that they overlap deeply after one step.
    world.grains.velocity[500] = [3000.0, 0.0, 0.0];
    let mut decomposed = started(&world, 4);
    let stop = decomposed.advance(2000).unwrap_err();
    let mut whole = started(&world, 1);
    let alone = whole.advance(2000).unwrap_err();
    assert_eq!((stop.grain, stop.step, &stop.cause), (alone.grain, alone.step, &alone.cause));
    assert!(!matches!(stop.cause, StepErrorCause::Device { .. }));
}

#[test]
fn what_cannot_be_divided_is_refused_by_name() {
    let world = gas(1000);
    let refusal = Simulation::new(world.clone(), among(40_000)).err().unwrap();
    assert!(
        matches!(&refusal, WorldError::Subdomains(what) if what.contains("domains are too many")),
        "{refusal}"
    );
    let mut damped = world;
    damped.local_damping = 0.2;
    assert!(Simulation::new(damped, among(2)).is_ok());
}

#[test]
fn grains_at_rest_feel_what_flies_in_from_another_domain() {
    // The grains of one subdomain are at rest, so it alone would not rebuild its neighbor lists. Half of a block flies into the other half.
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
    let [mut whole, mut decomposed] = [1, 2].map(|domains| after(&world, domains, 600));
    assert!(whole.contacts() > 20, "{}", whole.contacts());
    assert_same(&mut whole, &mut decomposed, "a blow");
    assert_same_ledger(&whole, &decomposed, "a blow");
}
