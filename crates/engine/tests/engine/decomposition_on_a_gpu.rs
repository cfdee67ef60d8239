//! A world decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter these tests
//! fail).

use crate::alike;
use crate::beds::falling;
use crate::bonded::{self, STEP, ring};
use crate::domains_on_a_gpu::{after, started};
use crate::gases::{gas, sheared};
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::requested::assert_arrive;
use crate::warm::conducting;
use seixo_engine::state::{Column, GrainColumns, PendingState, State};
use seixo_engine::world::{Domain, GhostSelection, HaloOverlap, LeavingPolicy, Precision, Settings, Shear};
use seixo_engine::{Simulation, StepErrorCause, WorldError};
use seixo_laws::contact::TangentialLaw;

/// Asserts that saved states and observations are bitwise identical.
#[track_caller]
fn assert_same(whole: &mut Simulation, decomposed: &mut Simulation, what: &str) {
    alike::assert_same(whole, decomposed, what);
    assert_eq!(whole.snapshot(), decomposed.snapshot(), "{what}");
}

#[test]
fn two_four_and_eight_domains_equal_one() {
    let all: [(TangentialLaw, Precision, &[usize]); 4] = [
        (TangentialLaw::Mindlin, Precision::Mixed, &[2, 4, 8]),
        (TangentialLaw::Mindlin, Precision::F64, &[3]),
        (TangentialLaw::Mindlin, Precision::F32, &[2]),
        (TangentialLaw::None, Precision::Mixed, &[2]),
    ];
    for (tangential, precision, numbers) in all {
        let world = falling(1000, tangential);
        let mut whole = after(&world, 1, precision, 400);
        assert!(
            whole.rebuilds() > 3 && whole.contacts() > 100,
            "{} {}",
            whole.rebuilds(),
            whole.contacts()
        );
        for &domains in numbers {
            let what = format!("{tangential:?}, {precision:?}, {domains} domains");
            let mut decomposed = after(&world, domains, precision, 400);
            assert!(
                decomposed.decomposition().unwrap().migrations > 3,
                "{what}: {:?}",
                decomposed.decomposition()
            );
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
        }
    }
}

#[test]
fn grains_that_leave_and_walls_that_move_are_the_same_everywhere() {
    let mut world = falling(1500, TangentialLaw::Mindlin);
    world.domain = Some(Domain::open([-0.1, -0.1, -0.1], [0.1, 0.1, 0.0112], LeavingPolicy::Delete));
    // The topmost grains leave.
    for (position, velocity) in world.grains.position.iter().zip(&mut world.grains.velocity) {
        velocity[2] += if position[2] > 0.009 { 3.0 } else { 0.0 };
    }
    let mut whole = after(&world, 1, Precision::Mixed, 400);
    assert!((800..1490).contains(&whole.len()), "{}", whole.len());
    for domains in [2, 3] {
        let mut decomposed = after(&world, domains, Precision::Mixed, 400);
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
        let forces = |simulation: &Simulation| simulation.walls().iter().map(|wall| wall.force).collect::<Vec<_>>();
        assert_eq!(forces(&whole), forces(&decomposed));
    }
}

#[test]
fn domains_follow_the_grains() {
    let mut world = falling(1500, TangentialLaw::Mindlin);
    // All grains fall to one side, along the axis across which the box is cut.
    world.gravity = [-400.0, 0.0, -20.0];
    let [mut whole, mut decomposed] = [1, 3].map(|domains| after(&world, domains, Precision::Mixed, 1000));
    let grains = decomposed.decomposition().unwrap().grains;
    assert!(grains.iter().all(|grains| (440..560).contains(grains)), "{grains:?}");
    assert_same(&mut whole, &mut decomposed, "a fall to one side");
}

#[test]
fn a_layer_of_grains_migrates_at_once() {
    let mut world = falling(1500, TangentialLaw::Mindlin);
    // Layers of more than a hundred grains move across any cut of the box: at first there is not room for so many that leave.
    world.walls.retain(|wall| wall.name == "floor");
    for velocity in &mut world.grains.velocity {
        *velocity = [8.0, 8.0, 0.0];
    }
    let [mut whole, mut decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, 200));
    assert!(
        decomposed.decomposition().unwrap().migrations > 100,
        "{:?}",
        decomposed.decomposition()
    );
    assert_same(&mut whole, &mut decomposed, "layers");
    assert_same_ledger(&whole, &decomposed, "layers");
}

#[test]
fn a_gas_goes_round_through_all_domains() {
    let world = gas(1000);
    let mut whole = after(&world, 1, Precision::Mixed, 400);
    for domains in [2, 4] {
        let mut decomposed = started(&world, domains, Precision::Mixed);
        let before = decomposed.momentum();
        decomposed.advance(400).unwrap();
        decomposed.observe().unwrap();
        let found = decomposed.decomposition().unwrap();
        assert_eq!(found.grains.iter().sum::<usize>(), 1000);
        assert!(found.migrations > 15, "{found:?}");
        assert_same(&mut whole, &mut decomposed, "a gas");
        // Velocities are summed in double precision, but forces in single: each of some 10⁵ impulses has a relative error of 2⁻²⁴.
        let scale: f64 = 1000.0 * 2.0 * 1.3e-6;
        for (a, b) in before.linear.iter().zip(decomposed.momentum().linear) {
            assert!((a - b).abs() < 1e-6 * scale, "{a} {b}");
        }
    }
}

#[test]
fn a_run_goes_on_among_any_number_of_domains() {
    let world = gas(600);
    let mut whole = after(&world, 1, Precision::Mixed, 400);
    let mut saved = after(&world, 3, Precision::Mixed, 250);
    let state = saved.save().unwrap();
    for domains in [1, 2, 4] {
        let mut again = Simulation::restore(world.clone(), among(domains, Precision::Mixed), &state).unwrap();
        again.advance(150).unwrap();
        assert_same(&mut whole, &mut again, &format!("from 3 to {domains} domains"));
    }
    // Single steps change nothing either.
    for _ in 0..150 {
        saved.step().unwrap();
    }
    assert_same(&mut whole, &mut saved, "step by step");
}

#[test]
fn contacts_of_all_domains_are_saved_while_the_run_goes_on() {
    let world = falling(1000, TangentialLaw::Mindlin);
    let [mut whole, mut decomposed] = [1, 3].map(|domains| after(&world, domains, Precision::Mixed, 400));
    let expected = decomposed.save().unwrap();
    assert!(matches!(expected.get("contacts/pair"), Some(Column::U32(pair)) if pair.len() > 100));
    let mut pending = PendingState::default();
    decomposed.save_to(&mut pending).unwrap();
    assert_same(&mut whole, &mut decomposed, "without lists");
    assert_eq!(whole.contacts(), decomposed.contacts());
    // Reading single contacts lists all grains; nothing else changes.
    let (ledger, momentum) = (decomposed.ledger(), decomposed.momentum());
    let ends = |simulation: &mut Simulation| -> Vec<_> {
        let contacts = simulation.contacts_now().unwrap();
        contacts.iter().map(|contact| (contact.a, contact.b)).collect()
    };
    assert_eq!(ends(&mut whole), ends(&mut decomposed));
    assert!(decomposed.list_entries().unwrap() > 100);
    assert_eq!((ledger, momentum), (decomposed.ledger(), decomposed.momentum()));
    assert_same(&mut whole, &mut decomposed, "with lists");
    for simulation in [&mut whole, &mut decomposed] {
        simulation.advance(50).unwrap();
    }
    let mut state = State::default();
    pending.put_to(&mut state);
    assert!(state == expected);
    let mut again = Simulation::restore(world, among(2, Precision::Mixed), &state).unwrap();
    again.advance(50).unwrap();
    for other in [&mut decomposed, &mut again] {
        assert_same(&mut whole, other, "50 steps later");
    }
}

#[test]
fn grains_that_are_requested_of_all_domains_arrive_as_they_were_while_these_go_on() {
    let cases = [
        ("a fall", falling(600, TangentialLaw::Mindlin), Precision::Mixed, 2, 150),
        // Grains of all blocks are ghosts in others, and migrate.
        ("sliding sides", sheared(600), Precision::F64, 2, 130),
    ];
    for (what, world, precision, domains, first) in cases {
        let [observed, requested] = assert_arrive(|| started(&world, domains, precision), first, what);
        // Ghosts are copied with the grains, but do not count.
        let [one, other] = [&observed, &requested].map(|simulation| simulation.decomposition().unwrap());
        assert_eq!((&one.grains, one.migrations), (&other.grains, other.migrations), "{what}");
        let migrate = one.migrations > 0 || what == "a fall";
        assert!(one.grains.iter().all(|&grains| grains > 0) && migrate, "{what}: {one:?}");
    }
}

#[test]
fn domains_with_more_than_spheres_are_observed() {
    let mut simulation = started(&conducting(falling(300, TangentialLaw::Mindlin)), 2, Precision::Mixed);
    simulation.advance(2).unwrap();
    assert!(simulation.request_grains(GrainColumns::ALL).unwrap().is_none());
    simulation.observe_ledger().unwrap();
    assert!(simulation.ledger().residual.is_finite() && simulation.snapshot().id.len() == 300);
}

#[test]
fn what_is_seen_at_the_start_is_what_gpus_have() {
    let world = falling(600, TangentialLaw::Mindlin);
    for precision in [Precision::Mixed, Precision::F32] {
        let [mut whole, mut decomposed] = [1, 3].map(|domains| started(&world, domains, precision));
        assert_same(&mut whole, &mut decomposed, "at the start");
    }
}

#[test]
fn of_two_grains_each_remembers_for_itself_in_any_number_of_domains() {
    let world = gas(600);
    let mut state = after(&world, 3, Precision::Mixed, 250).save().unwrap();
    // As on processors that round the histories of the two grains of a contact differently.
    for (name, column) in &mut state.sections {
        if let ("contacts/of_second", Column::F64(numbers)) = (name.as_str(), column) {
            numbers.iter_mut().for_each(|x| *x = f64::from((*x * 1.0001) as f32));
        }
    }
    let on = |domains: usize| Simulation::restore(world.clone(), among(domains, Precision::Mixed), &state).unwrap();
    let mut whole = on(1);
    let mut decomposed = [2, 4].map(on);
    for decomposed in &mut decomposed {
        assert_same(&mut whole, decomposed, "as it was saved");
    }
    whole.advance(50).unwrap();
    for decomposed in &mut decomposed {
        decomposed.advance(50).unwrap();
        assert_same(&mut whole, decomposed, "50 steps later");
    }
}

#[test]
fn what_fails_in_one_domain_stops_all_with_its_word() {
    let mut world = gas(1000);
    // Two grains collide so fast that they overlap deeply after one step.
    world.grains.velocity[500] = [3000.0, 0.0, 0.0];
    let mut decomposed = started(&world, 4, Precision::Mixed);
    let stop = decomposed.advance(2000).unwrap_err();
    let mut whole = started(&world, 1, Precision::Mixed);
    let alone = whole.advance(2000).unwrap_err();
    assert_eq!((stop.grain, stop.step, &stop.cause), (alone.grain, alone.step, &alone.cause));
    assert!(!matches!(stop.cause, StepErrorCause::Device { .. }));
}

#[test]
fn sides_slide_past_each_other_between_domains() {
    // Cuts across the gradient, and across the vorticity axis.
    for (flow, gradient, precision, domains) in [(0, 2, Precision::Mixed, 4), (2, 0, Precision::F64, 2)] {
        let mut world = gas(1000);
        let rate = 100.0;
        world.domain.as_mut().unwrap().shear = Some(Shear { flow, gradient, rate });
        let mut whole = after(&world, 1, precision, 600);
        let ledger = whole.ledger();
        // Grains that cross the sides are accelerated or slowed down, as the sides move at 1.2 m/s.
        assert!(ledger.wall_work.abs() > 0.01 * ledger.initial, "{ledger:?}");
        let what = format!("flow along {flow}, {domains} domains");
        let mut decomposed = after(&world, domains, precision, 600);
        assert!(decomposed.decomposition().unwrap().migrations > 100, "{what}");
        assert_same(&mut whole, &mut decomposed, &what);
        assert_same_ledger(&whole, &decomposed, &what);
    }
}

#[test]
fn ghosts_from_layers_of_cells_are_those_among_all_grains() {
    // Grains of two size classes that circulate through blocks in all directions, and between sliding sides.
    let sheared = sheared(1000);
    let mut leaving = falling(1000, TangentialLaw::Mindlin);
    leaving.domain = Some(Domain::open([-0.1, -0.1, -0.1], [0.1, 0.1, 0.0105], LeavingPolicy::Delete));
    for velocity in &mut leaving.grains.velocity {
        velocity[2] += 3.0;
    }
    let bonded = Settings {
        time_step: Some(STEP),
        ..among(2, Precision::Mixed)
    };
    let cases = [
        ("gas in mixed precision", gas(1000), among(8, Precision::Mixed)),
        ("gas in single precision", gas(1000), among(3, Precision::F32)),
        ("sliding sides", sheared, among(4, Precision::Mixed)),
        ("grains that leave", leaving, among(3, Precision::F64)),
        ("a bonded ring", ring(), bonded),
    ];
    for (what, world, settings) in cases {
        let [mut all, mut layers] = GhostSelection::ALL.map(|ghost_selection| {
            let settings = Settings {
                ghost_selection,
                ..settings.clone()
            };
            bonded::after(&world, settings, 300)
        });
        assert!(layers.rebuilds() > 3, "{what}: {}", layers.rebuilds());
        assert_same(&mut all, &mut layers, what);
        assert_same_ledger(&all, &layers, what);
        let found = layers.decomposition().unwrap();
        assert!(
            found.communication.iter().all(|counts| !counts.selecting.is_zero()),
            "{what}: {found:?}"
        );
    }
}

#[test]
fn steps_in_parts_are_steps_at_once() {
    let cases = [
        ("a fall with friction", falling(1000, TangentialLaw::Mindlin), Precision::Mixed, 2),
        ("a fall without friction", falling(1000, TangentialLaw::None), Precision::F32, 3),
        // Some grains are ghosts in several blocks.
        ("a gas", gas(1000), Precision::F64, 8),
    ];
    for (what, world, precision, domains) in cases {
        let [mut at_once, mut in_parts] = [HaloOverlap::Never, HaloOverlap::Always].map(|halo_overlap| {
            let settings = Settings {
                halo_overlap,
                ..among(domains, precision)
            };
            bonded::after(&world, settings, 400)
        });
        assert!(in_parts.rebuilds() > 3, "{what}: {}", in_parts.rebuilds());
        assert_eq!(at_once.rebuilds(), in_parts.rebuilds(), "{what}");
        assert_same(&mut at_once, &mut in_parts, what);
        assert_eq!(at_once.ledger(), in_parts.ledger(), "{what}");
        // With two domains, halt flags travel on their own only if steps are in parts: on one GPU the hosts then meet at each step.
        let [at_once, in_parts] = [&at_once, &in_parts].map(|one| one.decomposition().unwrap().communication[0].collectives);
        assert!(domains > 2 || in_parts >= at_once + 400, "{what}: {at_once} {in_parts}");
    }
}

#[test]
fn a_grain_of_any_part_stops_all_domains_at_its_step() {
    let mut world = gas(1000);
    // Two grains collide so fast that they overlap deeply after one step; any of the grains is one of them.
    for struck in [0, 250, 500, 750] {
        let resting = world.grains.velocity[struck];
        world.grains.velocity[struck] = [3000.0, 0.0, 0.0];
        let stops = [HaloOverlap::Never, HaloOverlap::Always].map(|halo_overlap| {
            let settings = Settings {
                halo_overlap,
                ..among(2, Precision::Mixed)
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(2000).unwrap_err()
        });
        let [at_once, in_parts] = stops.map(|stop| (stop.grain, stop.step, stop.cause));
        assert_eq!(at_once, in_parts, "grain {struck}");
        world.grains.velocity[struck] = resting;
    }
}

#[test]
fn gpus_take_many_steps_of_bonded_and_of_warm_grains_while_no_host_waits() {
    let steps = 60;
    let of_ring = |domains| Settings {
        time_step: Some(STEP),
        ..among(domains, Precision::Mixed)
    };
    let bed = conducting(falling(1000, TangentialLaw::Mindlin));
    for (what, world, [one, two]) in [
        ("a bonded ring", ring(), [1, 2].map(of_ring)),
        ("a warm bed", bed, [1, 2].map(|domains| among(domains, Precision::Mixed))),
    ] {
        let (mut whole, mut decomposed) = (bonded::after(&world, one, steps), bonded::after(&world, two, steps));
        // Where hosts wait, they agree at least once a step.
        let found = decomposed.decomposition().unwrap();
        assert!(
            found.communication.iter().all(|counts| counts.collectives < steps),
            "{what}: {found:?}"
        );
        assert_same(&mut whole, &mut decomposed, what);
    }
}

#[test]
fn what_a_gpu_cannot_divide_is_refused_by_name() {
    let world = gas(1000);
    let many = Settings {
        gpus: 900,
        ..among(2, Precision::Mixed)
    };
    let refusal = Simulation::new(world, many).err().unwrap();
    assert!(
        matches!(&refusal, WorldError::Subdomains(what) if what.contains("900 GPUs") && what.contains("seixo info")),
        "{refusal}"
    );
}
