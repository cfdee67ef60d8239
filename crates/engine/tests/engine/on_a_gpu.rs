//! Simulations on a GPU (software Vulkan suffices; without any adapter these tests fail) give the results of the CPU.

use crate::beds;
use crate::bonded;
use crate::clumps;
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu, with_default_skin};
use crate::gases::sheared;
use crate::overflowing::losing_its_top;
use crate::requested::assert_arrive;
use crate::resumed;
use crate::warm;
use seixo_device::gpu::{Gpu, list};
use seixo_engine::state::{Column, GrainColumns, GrainSnapshot, PendingState, State};
use seixo_engine::world::{DeviceChoice, Domain, LeavingPolicy, Precision, Search, Settings, World};
use seixo_engine::{ColorScalar, Preview, Simulation, StepErrorCause};
use seixo_laws::contact::TangentialLaw;
use seixo_laws::motion::Scheme;

#[test]
fn one_step_from_the_same_state_gives_the_same_forces() {
    for &tangential in TangentialLaw::ALL {
        let mut world = beds::falling(1000, TangentialLaw::Mindlin);
        world.interactions[0].as_mut().unwrap().tangential = tangential;
        world.interactions[0].as_mut().unwrap().tangential_stiffness = (tangential == TangentialLaw::Linear).then_some(1e3);
        // Grains move, so that contacts have a history.
        let mut simulation = after(&world, on_cpu(), 1500);
        assert!(simulation.contacts() > 300, "{}", simulation.contacts());
        let state = simulation.save().unwrap();
        let one_step = |settings: Settings| {
            let mut simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
            simulation.step().unwrap();
            simulation.observe().unwrap();
            simulation.snapshot()
        };
        let expected = one_step(on_cpu());
        // Tolerances of the criterion "devices": 1e-12 in f64, 1e-5 otherwise. Single-precision coordinates lose another two digits for overlaps of a
        // thousandth of the radius, which are 10⁻⁷ of a coordinate of 30 radii.
        for (precision, bar) in [(Precision::F64, 1e-12), (Precision::Mixed, 1e-5), (Precision::F32, 3e-3)] {
            let found = apart(&expected, &one_step(on_gpu(precision)));
            println!("{tangential:?} {precision:?}: {found:.1e}");
            assert!(found < bar, "{tangential:?} {precision:?}: {found:e}");
        }
    }
}

#[test]
fn hundreds_of_steps_with_rebuilt_lists_and_moving_walls_stay_together() {
    // Without a skin, cells are rebuilt at every step, and there are no lists.
    for (tangential, skin) in [
        (TangentialLaw::Mindlin, None),
        (TangentialLaw::None, None),
        (TangentialLaw::None, Some(0.0)),
    ] {
        let world = beds::falling(1000, tangential);
        let way = |settings: Settings| match skin {
            None => with_default_skin(&world, settings),
            given => Settings { skin: given, ..settings },
        };
        let (cpu, gpu) = (after(&world, way(on_cpu()), 600), after(&world, way(on_gpu(Precision::F64)), 600));
        let (of_cpu, of_gpu) = (cpu.rebuilds(), gpu.rebuilds());
        // Cells that a GPU rebuilds at every step are not counted: the host counts only the sorts in between.
        let is_listed = skin.is_none();
        assert!(of_cpu > 3 && of_gpu > 3 && (of_cpu == of_gpu) == is_listed, "{of_cpu} {of_gpu}");
        let found = apart(&cpu.snapshot(), &gpu.snapshot());
        println!("{tangential:?}: {found:.1e}, {} contacts", gpu.contacts());
        assert!(found < 1e-9, "{found:e}");
        assert_eq!(cpu.contacts(), gpu.contacts());
        assert_same_ledger(&cpu, &gpu, &format!("{tangential:?}"));
        for (a, b) in cpu.walls().iter().zip(gpu.walls()) {
            for axis in 0..3 {
                assert!((a.force[axis] - b.force[axis]).abs() < 1e-9, "{:?} {:?}", a.force, b.force);
            }
        }
    }
}

#[test]
fn every_search_moves_grains_as_on_the_cpu() {
    // Without a skin, cells are rebuilt at every step, and there are no lists.
    for (tangential, skin) in [
        (TangentialLaw::Mindlin, None),
        (TangentialLaw::None, None),
        (TangentialLaw::None, Some(0.0)),
    ] {
        let way = |settings: Settings| Settings { skin, ..settings };
        let world = beds::falling(400, tangential);
        for search in Search::ALL {
            let with = |settings: Settings| way(Settings { search, ..settings });
            let (cpu, gpu) = (after(&world, with(on_cpu()), 250), after(&world, with(on_gpu(Precision::F64)), 250));
            let found = apart(&cpu.snapshot(), &gpu.snapshot());
            println!("{search:?} {tangential:?}: {found:.1e}, {} contacts", gpu.contacts());
            assert!(found < 1e-9, "{search:?} {tangential:?}: {found:e}");
            assert!(gpu.contacts() > 10 && cpu.contacts() == gpu.contacts(), "{search:?} {tangential:?}");
        }
    }
}

/// Asserts that runs of this number of grains end with the same bits, also one that goes on from a state saved half-way. `runs` are those with lists in
/// mixed and in double precision, and those of smooth grains without lists.
#[track_caller]
fn assert_same_bits(grains: usize, [half, end]: [u64; 2], runs: [usize; 3]) {
    let world = losing_its_top(grains, TangentialLaw::Mindlin);
    let mut smooth = world.clone();
    smooth.interactions[0].as_mut().unwrap().tangential = TangentialLaw::None;
    let mixed = on_gpu(Precision::Mixed);
    let without_lists = Settings {
        skin: Some(0.0),
        ..mixed.clone()
    };
    let ways = [(&world, mixed), (&world, on_gpu(Precision::F64)), (&smooth, without_lists)];
    for ((world, settings), runs) in ways.into_iter().zip(runs) {
        let whole = || {
            let mut simulation = Simulation::new(world.clone(), settings.clone()).unwrap();
            simulation.advance(half).unwrap();
            let state = simulation.save().unwrap();
            simulation.advance(end - half).unwrap();
            (state, simulation.save().unwrap())
        };
        let (half_way, last) = whole();
        for run in 1..runs {
            assert!(whole().1 == last, "run {run} differs");
        }
        let mut second = Simulation::restore(world.clone(), settings.clone(), &half_way).unwrap();
        second.advance(end - half).unwrap();
        resumed::assert_same(&last, &second.save().unwrap(), &format!("{settings:?}"));
        second.observe().unwrap();
        assert!(second.contacts() > 20, "{} contacts", second.contacts());
        assert!(second.len() < grains, "grains leave");
    }
}

#[test]
fn two_runs_are_the_same_bits_and_so_is_going_on_from_a_saved_state() {
    // What goes on from a saved state is itself another run of the second half.
    assert_same_bits(500, [173, 400], [2, 1, 1]);
}

#[test]
fn ten_runs_are_the_same_bits_and_so_is_going_on_from_a_saved_state() {
    assert_same_bits(1000, [473, 1000], [10, 3, 3]);
}

#[test]
fn a_state_saved_right_after_grains_left_is_gone_on_from_to_the_bit() {
    let mut world = beds::falling(300, TangentialLaw::Mindlin);
    world.walls.retain(|wall| wall.name == "floor");
    // It leaves at the corner from which cells are counted: with it, all others are in other cells than without. It moves by 10 µm a step, so that lists
    // last for 21 steps. It leaves in step 221, ten steps before the next rebuild.
    world.grains.velocity[0] = [-5.0, 0.0, 0.0];
    let end = world.grains.position[0][0] - 220.5e-5;
    world.domain = Some(Domain::open([end, -0.1, -0.1], [0.1, 0.1, 0.1], LeavingPolicy::Delete));
    let stepped = |settings: Settings| Settings {
        time_step: Some(2e-6),
        skin: Some(4.1e-4),
        ..settings
    };
    for settings in [on_cpu(), on_gpu(Precision::F64), on_gpu(Precision::Mixed), on_gpu(Precision::F32)].map(stepped) {
        let mut simulation = after(&world, settings.clone(), 225);
        assert!(
            simulation.len() == 300 && simulation.snapshot().position[0][0] < end,
            "{settings:?}"
        );
        let state = simulation.save().unwrap();
        let mut second = Simulation::restore(world.clone(), settings.clone(), &state).unwrap();
        for simulation in [&mut simulation, &mut second] {
            simulation.advance(300).unwrap();
        }
        let (whole, parts) = (simulation.save().unwrap(), second.save().unwrap());
        resumed::assert_same(&whole, &parts, &format!("{settings:?}"));
        assert_eq!(second.len(), 299, "{settings:?}");
        // Any device continues from the state of any other.
        let mut elsewhere = Simulation::restore(world.clone(), stepped(on_cpu()), &state).unwrap();
        assert_eq!(elsewhere.len(), 300, "{settings:?}");
        elsewhere.advance(10).unwrap();
        assert_eq!(elsewhere.len(), 299, "{settings:?}");
    }
}

#[test]
fn a_gpu_goes_on_while_the_host_reports_what_it_saw() {
    let world = beds::falling(300, TangentialLaw::Mindlin);
    for settings in [on_cpu(), on_gpu(Precision::Mixed)] {
        let mut plain = Simulation::new(world.clone(), settings.clone()).unwrap();
        let mut meanwhile = Simulation::new(world.clone(), settings).unwrap();
        // More steps than the GPU queues at once, across rebuilds, and few steps.
        for steps in [700, 3, 1, 400] {
            for simulation in [&mut plain, &mut meanwhile] {
                simulation.observe().unwrap();
            }
            let expected = (plain.steps(), plain.snapshot(), plain.ledger());
            plain.advance(steps).unwrap();
            let (seen, advanced) =
                meanwhile.advance_while(steps, |simulation| (simulation.steps(), simulation.snapshot(), simulation.ledger()));
            advanced.unwrap();
            assert!(seen == expected, "what was seen at step {}", expected.0);
            assert_eq!(meanwhile.steps(), plain.steps());
        }
        resumed::assert_same(&plain.save().unwrap(), &meanwhile.save().unwrap(), "a run that goes on meanwhile");
    }
}

#[test]
fn a_checkpoint_whose_columns_are_made_later_is_that_of_its_step() {
    let world = beds::falling(1000, TangentialLaw::Mindlin);
    let start = after(&world, on_cpu(), 1500).save().unwrap();
    let mut simulation = Simulation::restore(world, on_gpu(Precision::Mixed), &start).unwrap();
    simulation.advance(3).unwrap();
    let expected = simulation.save().unwrap();
    assert!(matches!(expected.get("contacts/pair"), Some(Column::U32(pair)) if pair.len() > 300));
    let mut pending = PendingState::default();
    simulation.save_to(&mut pending).unwrap();
    simulation.advance(200).unwrap();
    let mut state = State::default();
    pending.put_to(&mut state);
    assert!(state == expected);
}

#[test]
fn columns_that_are_not_requested_are_empty_and_the_others_the_same() {
    let simulation = after(&beds::falling(300, TangentialLaw::Mindlin), on_gpu(Precision::Mixed), 200);
    let all = simulation.snapshot();
    let few = simulation.snapshot_with(GrainColumns {
        angular_velocity: false,
        force: false,
        mass: false,
        group: false,
        ..GrainColumns::ALL
    });
    assert!(!all.force.is_empty() && !all.torque.is_empty());
    let expected = GrainSnapshot {
        angular_velocity: Vec::new(),
        force: Vec::new(),
        mass: Vec::new(),
        group: Vec::new(),
        ..all
    };
    assert!(few == expected);
}

#[test]
fn grains_that_are_requested_arrive_as_they_were_while_the_gpu_goes_on() {
    for (tangential, precision) in [
        (TangentialLaw::Mindlin, Precision::Mixed),
        (TangentialLaw::Mindlin, Precision::F64),
        (TangentialLaw::None, Precision::F32),
    ] {
        let world = beds::falling(300, tangential);
        let new = || Simulation::new(world.clone(), on_gpu(precision)).unwrap();
        assert_arrive(new, 700, &format!("{tangential:?} {precision:?}"));
    }
}

#[test]
fn grains_that_are_requested_of_worlds_without_walls_arrive_as_they_were() {
    let mut open = beds::falling(64, TangentialLaw::Mindlin);
    open.walls.clear();
    for (what, world, precision) in [
        ("no walls", open, Precision::Mixed),
        ("sliding sides", sheared(125), Precision::F64),
    ] {
        assert_arrive(|| Simulation::new(world.clone(), on_gpu(precision)).unwrap(), 200, what);
    }
}

#[test]
fn smooth_grains_that_are_requested_arrive_as_they_were_without_lists_and_by_gears_method() {
    let world = beds::falling(100, TangentialLaw::None);
    let without_lists = Settings {
        skin: Some(0.0),
        ..on_gpu(Precision::Mixed)
    };
    let geared = Settings {
        scheme: Scheme::Gear,
        ..on_gpu(Precision::F64)
    };
    for (what, settings) in [("cells at each step", without_lists), ("Gear's method", geared)] {
        assert_arrive(|| Simulation::new(world.clone(), settings.clone()).unwrap(), 200, what);
    }
}

#[test]
fn grains_that_are_requested_and_not_waited_for_change_nothing() {
    let world = beds::falling(100, TangentialLaw::Mindlin);
    let new = || Simulation::new(world.clone(), on_gpu(Precision::Mixed)).unwrap();
    let (mut plain, mut ahead) = (new(), new());
    for steps in [300, 1, 40] {
        plain.advance(steps).unwrap();
        plain.observe().unwrap();
        ahead.advance(steps).unwrap();
        drop(ahead.request_grains(GrainColumns::ALL).unwrap().expect("grains on their way"));
    }
    for simulation in [&mut plain, &mut ahead] {
        simulation.advance(50).unwrap();
    }
    resumed::assert_same(&plain.save().unwrap(), &ahead.save().unwrap(), "a run that waits for none");
}

#[test]
fn grains_that_were_requested_arrive_without_their_simulation() {
    let world = beds::falling(100, TangentialLaw::Mindlin);
    let expected = after(&world, on_gpu(Precision::Mixed), 300).snapshot();
    let mut simulation = Simulation::new(world, on_gpu(Precision::Mixed)).unwrap();
    simulation.advance(300).unwrap();
    let pending = simulation.request_grains(GrainColumns::ALL).unwrap().expect("grains on their way");
    simulation.advance(20).unwrap();
    drop(simulation);
    assert!(pending.wait().unwrap() == expected);
}

#[test]
fn grains_are_requested_while_they_leave_and_after_all_have_left() {
    let world = emptying(27);
    let new = || Simulation::new(world.clone(), on_gpu(Precision::F64)).unwrap();
    let (mut plain, mut ahead) = (new(), new());
    let mut requested = Vec::new();
    for _ in 0..25 {
        for simulation in [&mut plain, &mut ahead] {
            simulation.advance(100).unwrap();
        }
        plain.observe().unwrap();
        match ahead.request_grains(GrainColumns::ALL).unwrap() {
            Some(pending) => requested.push((pending, plain.snapshot())),
            None => {
                ahead.observe().unwrap();
                assert!(ahead.snapshot() == plain.snapshot());
            }
        }
        assert_eq!(ahead.ledger(), plain.ledger());
    }
    assert!(
        plain.is_empty() && ahead.is_empty(),
        "{} and {} grains are left",
        plain.len(),
        ahead.len()
    );
    let mut numbers = Vec::new();
    for (pending, expected) in requested {
        let arrived = pending.wait().unwrap();
        assert!(arrived == expected, "{} grains, not {}", arrived.id.len(), expected.id.len());
        numbers.push(arrived.id.len());
    }
    // Those of the first request are waited for after all have left.
    assert!(numbers[0] == 27 && numbers.is_sorted_by(|a, b| a >= b), "{numbers:?}");
}

#[test]
fn what_needs_more_than_spheres_is_observed() {
    let mut worn = beds::falling(40, TangentialLaw::Mindlin);
    worn.walls[0].specific_wear_rate = 1e-12;
    let more = [
        ("bonds", bonded::beam()),
        ("clumps", clumps::heap(8, None)),
        ("heat", warm::conducting(beds::falling(40, TangentialLaw::Mindlin))),
        ("wear", worn),
    ];
    for (what, world) in more {
        let mut simulation = Simulation::new(world, on_gpu(Precision::Mixed)).unwrap();
        simulation.advance(2).unwrap();
        assert!(simulation.request_grains(GrainColumns::ALL).unwrap().is_none(), "{what}");
        simulation.observe_ledger().unwrap();
        assert!(
            simulation.ledger().residual.is_finite() && !simulation.snapshot().id.is_empty(),
            "{what}"
        );
    }
    let mut simulation = after(&beds::falling(40, TangentialLaw::Mindlin), on_cpu(), 2);
    assert!(simulation.request_grains(GrainColumns::ALL).unwrap().is_none(), "on a CPU");
}

#[test]
fn places_are_tried_again_where_a_run_goes_on_and_it_goes_on_from_what_was_saved() {
    let world = beds::falling(300, TangentialLaw::Mindlin);
    let mut whole = after(&world, on_cpu(), 500);
    let anywhere = Settings {
        device: DeviceChoice::Auto,
        ..on_gpu(Precision::F64)
    };
    let mut second = Simulation::restore(world, anywhere, &whole.save().unwrap()).unwrap();
    // "auto" does not count a software driver as a GPU: then there is no choice.
    let has_choice = list().found.iter().any(|gpu| !gpu.is_software);
    let reported = second.notices().iter().any(|notice| notice.starts_with("tried "));
    assert_eq!(reported, has_choice, "{:?}", second.notices());
    assert_eq!(second.steps(), 500);
    for simulation in [&mut whole, &mut second] {
        simulation.advance(100).unwrap();
        simulation.observe().unwrap();
    }
    assert!(apart(&whole.snapshot(), &second.snapshot()) < 1e-9);
}

#[test]
fn a_state_goes_from_the_gpu_to_the_cpu_and_back() {
    let world = beds::falling(1000, TangentialLaw::Mindlin);
    let mut gpu = after(&world, on_gpu(Precision::F64), 500);
    let mut cpu = Simulation::restore(world.clone(), on_cpu(), &gpu.save().unwrap()).unwrap();
    assert!(apart(&gpu.snapshot(), &cpu.snapshot()) < 1e-15);
    cpu.advance(100).unwrap();
    gpu.advance(100).unwrap();
    gpu.observe().unwrap();
    assert!(apart(&gpu.snapshot(), &cpu.snapshot()) < 1e-9);
    let mut back = Simulation::restore(world, on_gpu(Precision::F64), &cpu.save().unwrap()).unwrap();
    assert!(apart(&back.snapshot(), &cpu.snapshot()) < 1e-15);
    back.advance(100).unwrap();
    cpu.advance(100).unwrap();
    back.observe().unwrap();
    assert!(apart(&back.snapshot(), &cpu.snapshot()) < 1e-9);
}

#[test]
fn a_blow_up_names_the_grain_as_on_the_cpu() {
    let mut world = beds::falling(300, TangentialLaw::Mindlin);
    world.grains.velocity[42] = [0.0, 0.0, -300.0];
    let fails = |mut settings: Settings| {
        settings.time_step = Some(1e-6);
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        let stop = simulation.advance(400).unwrap_err();
        (stop.grain, std::mem::discriminant(&stop.cause), stop)
    };
    let (cpu, gpu) = (fails(on_cpu()), fails(on_gpu(Precision::F64)));
    assert_eq!((cpu.0, cpu.1), (gpu.0, gpu.1), "{} | {}", cpu.2, gpu.2);
    assert!(!matches!(gpu.2.cause, StepErrorCause::Device { .. }));
}

#[test]
fn memory_that_runs_out_at_any_allocation_is_an_error_that_names_what_it_was_for() {
    let world = beds::falling(300, TangentialLaw::Mindlin);
    let gpu = Gpu::open(None).unwrap();
    let mut failures = 0;
    for k in 1.. {
        gpu.fail_allocation(k);
        let message = match Simulation::new_on(gpu.clone(), world.clone(), on_gpu(Precision::F64)) {
            Err(refusal) => refusal.to_string(),
            Ok(mut simulation) => match simulation.advance(200).and_then(|()| simulation.observe()) {
                Err(stop) => {
                    assert!(matches!(stop.cause, StepErrorCause::Device { .. }), "{stop}");
                    // Lists that were half rebuilt are not read.
                    assert!(simulation.observe().is_err() && simulation.advance(1).is_err() && simulation.save().is_err());
                    stop.to_string()
                }
                Ok(()) => break,
            },
        };
        let name = format!("{} has no memory left for", gpu.description());
        assert!(message.contains(&name) && message.contains("are needed"), "{message}");
        failures += 1;
    }
    gpu.fail_allocation(0);
    assert!(failures > 50, "{failures} allocations");
    assert_eq!(gpu.bytes_in_use(), 0, "what failed gave its memory back");
}

/// Two spheres that overlap by a thousandth of their radius, far from the origin, and one that moves slowly.
fn far_away(distance: f64, creep: f64) -> World {
    let mut world = beds::falling(3, TangentialLaw::None);
    world.gravity = [0.0; 3];
    world.walls.clear();
    let radius = 5e-4;
    let x = distance * radius;
    world.grains.radius = vec![radius; 3];
    world.grains.position = vec![[x, x, x], [x + 1.999 * radius, x, x], [x, x + 10.0 * radius, x]];
    world.grains.velocity = vec![[0.0; 3], [0.0; 3], [creep, 0.0, 0.0]];
    world
}

#[test]
fn mixed_precision_keeps_small_overlaps_and_slow_motions_far_from_the_origin() {
    let radius = 5e-4;
    let world = far_away(1e4, 0.0);
    let of = |settings: Settings| after(&world, settings, 0).snapshot().force[1][0];
    // At rest F ∝ δ^{3/2}, so the error of the force gives that of the overlap.
    let (exact, mixed) = (of(on_cpu()), {
        let mut simulation = Simulation::new(world.clone(), on_gpu(Precision::Mixed)).unwrap();
        // Forces of step 0 come from the host; those of the next step are from the GPU, after a displacement of 10⁻⁹ radii.
        simulation.advance(1).unwrap();
        simulation.observe().unwrap();
        simulation.snapshot().force[1][0]
    });
    let one_step_on = after(&world, on_cpu(), 1).snapshot().force[1][0];
    assert!(exact > 0.0);
    let error_of_overlap = (mixed - one_step_on).abs() / one_step_on / 1.5 * 1e-3 * radius;
    println!("overlap is off by {:.1e} R", error_of_overlap / radius);
    assert!(error_of_overlap < 1e-6 * radius, "{:e} R", error_of_overlap / radius);

    let dt = Simulation::new(world, on_cpu()).unwrap().time_step().value;
    let world = far_away(1e4, 1e-9 * radius / dt);
    let mut simulation = Simulation::new(world.clone(), on_gpu(Precision::Mixed)).unwrap();
    simulation.advance(10_000).unwrap();
    simulation.observe().unwrap();
    let moved = (simulation.snapshot().position[2][0] - world.grains.position[2][0]) / radius;
    println!("crept by {moved:.4e} R");
    // The time step is rounded to single precision (6e-8), the position to double precision (10⁻¹² R here, each step).
    assert!((moved / 1e-5 - 1.0).abs() < 1e-3, "{moved:e}");
}

#[test]
fn in_mixed_precision_too_things_fall_with_gravity() {
    let mut world = far_away(1e4, 0.0);
    world.gravity = [0.0, 0.0, -9.81];
    world.grains.position[1][0] += 1e-3;
    world.grains.velocity = vec![[0.0, 0.0, -1.0]; 3];
    let settings = Settings {
        time_step: Some(1e-6),
        ..on_gpu(Precision::Mixed)
    };
    let speed = after(&world, settings, 2000).snapshot().velocity[0][2];
    let gained = (speed + 1.0) / (-9.81 * 2e-3);
    println!("gained {gained} of what gravity gives");
    // A step adds 10⁻⁵ of the speed: in single precision each sum would have an error of up to 0.6 % of that, always with the same sign. The download
    // is rounded once, to 6e-8 of the speed: 3e-6 of the gain.
    assert!((gained - 1.0).abs() < 1e-5, "{gained}");
}

#[test]
fn grains_that_slow_down_before_they_use_up_their_skin_get_new_lists_as_on_the_cpu() {
    // Thrown upward, they cross 1/1.05 of the height of the throw in step 24 of 30, when they move 0.2 times as fast as at the start.
    let mut world = far_away(10.0, 0.0);
    let dt = 0.5 * Simulation::new(world.clone(), on_cpu()).unwrap().time_step().value;
    let (duration, skin) = (30.0 * dt, 1e-4);
    let height = 1.05 * 0.5 * skin;
    let gravity = 2.0 * height / (duration * duration);
    world.gravity = [0.0, 0.0, -gravity];
    world.grains.position[1][0] += 1e-3;
    world.grains.velocity = vec![[0.0, 0.0, gravity * duration]; 3];
    let rebuilds = |settings: Settings, steps: u64| {
        let settings = Settings {
            time_step: Some(dt),
            skin: Some(skin),
            ..settings
        };
        after(&world, settings, steps).rebuilds()
    };
    let expected = [20, 30].map(|steps| rebuilds(on_cpu(), steps));
    assert_eq!(expected[1], expected[0] + 1);
    // With few grains, only decomposition-invariant runs leave out comparisons that long strides show to be needless.
    for (precision, decomposition_invariant) in [(Precision::F64, false), (Precision::F64, true), (Precision::Mixed, true)] {
        let settings = Settings {
            decomposition_invariant,
            ..on_gpu(precision)
        };
        assert_eq!([20, 30].map(|steps| rebuilds(settings.clone(), steps)), expected, "{precision:?}");
    }
}

/// Grains that fall out of a domain that ends below them.
fn emptying(count: usize) -> World {
    let mut world = beds::falling(count, TangentialLaw::Mindlin);
    world.walls.truncate(4);
    world.gravity = [0.0, 0.0, -5000.0];
    let low = world.grains.position.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
    world.domain = Some(Domain::open([-0.1, -0.1, low - 1e-3], [0.1, 0.1, 0.1], LeavingPolicy::Delete));
    world
}

#[test]
fn a_world_that_empties_goes_on_empty() {
    let world = emptying(300);
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        let simulation = after(&world, settings, 2500);
        assert!(
            simulation.is_empty() && simulation.snapshot().id.is_empty(),
            "{} grains are left",
            simulation.len()
        );
        let ledger = simulation.ledger();
        assert!(ledger.residual.abs() < 1e-3 * ledger.left_domain.abs(), "{ledger:?}");
    }
}

const ORIGIN: [f64; 3] = [0.3, -0.2, 0.1];

/// Positions, radii and values by ids.
fn by_id(preview: &Preview) -> Vec<(u32, [f32; 4], f32)> {
    let numbers = preview.places.iter().zip(&preview.values);
    let mut all: Vec<_> = preview
        .id
        .iter()
        .zip(numbers)
        .map(|(&id, (&place, &value))| (id, place, value))
        .collect();
    all.sort_by_key(|&(id, ..)| id);
    all
}

fn assert_same(preview: &Preview, seen: &GrainSnapshot, value_of: impl Fn(usize) -> f64, speed: f64) {
    assert_eq!((preview.grains, preview.id.len()), (seen.id.len(), seen.id.len()));
    for (k, (id, place, value)) in by_id(preview).into_iter().enumerate() {
        assert_eq!(id, seen.id[k]);
        for axis in 0..3 {
            let expected = seen.position[k][axis] - ORIGIN[axis];
            // Seven digits of the farthest position.
            assert!(
                (f64::from(place[axis]) - expected).abs() < 2e-7,
                "grain {id}: {place:?}, not {expected}"
            );
        }
        assert!((f64::from(place[3]) - seen.radius[k]).abs() < 1e-7 * seen.radius[k]);
        let expected = value_of(k);
        // Velocities are those that the laws used, half a step's kick behind; a collision lasts some twenty steps.
        assert!(
            (f64::from(value) - expected).abs() < 0.05 * speed,
            "grain {id}: {value}, not {expected}"
        );
    }
}

#[test]
fn a_preview_equals_a_full_frame_while_the_steps_go_on() {
    let world = beds::falling(700, TangentialLaw::Mindlin);
    for settings in [on_cpu(), on_gpu(Precision::Mixed), on_gpu(Precision::F64)] {
        let at = |steps: u64, settings: Settings| {
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(steps).unwrap();
            simulation
        };
        let mut seen = at(250, settings.clone());
        seen.observe().unwrap();
        let seen = seen.snapshot();
        let speeds = seen.velocity.iter().map(|v| v.iter().map(|c| c * c).sum::<f64>().sqrt());
        let speeds: Vec<f64> = speeds.collect();
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        assert!(fastest > 0.01, "{fastest}");

        let mut simulation = at(250, settings.clone());
        let mut preview = |shade| simulation.preview(ORIGIN, shade).unwrap().unwrap();
        let [speed, along, radius] = [ColorScalar::Speed, ColorScalar::Velocity(2), ColorScalar::Radius].map(&mut preview);
        // The steps run before the host waits.
        simulation.advance(50).unwrap();
        assert_same(&speed.wait().unwrap(), &seen, |k| speeds[k], fastest);
        assert_same(&along.wait().unwrap(), &seen, |k| seen.velocity[k][2], fastest);
        assert_same(&radius.wait().unwrap(), &seen, |k| seen.radius[k], 1e-6);

        // An observation changes nothing.
        let mut unseen = at(300, settings);
        for simulation in [&mut simulation, &mut unseen] {
            simulation.observe().unwrap();
        }
        assert_eq!(simulation.snapshot(), unseen.snapshot());
    }
}

#[test]
fn worlds_far_from_the_origin_are_refused_in_single_precision() {
    let mut world = beds::falling(8, TangentialLaw::Mindlin);
    world.walls.retain(|wall| wall.name == "floor");
    world.grains.velocity.fill([0.0; 3]);
    for place in &mut world.grains.position {
        (place[0], place[1]) = (place[0] + 5e5, place[1] + 4.5e6);
    }
    let refused = Simulation::new(world.clone(), on_gpu(Precision::F32)).err().unwrap().to_string();
    for phrase in ["4.500e6 m", "5.000e-1 m apart", "2.500e-4 m", "--precision mixed"] {
        assert!(refused.contains(phrase), "{phrase}: {refused}");
    }
    for settings in [on_gpu(Precision::Mixed), on_cpu()] {
        let moved = after(&world, settings, 100).snapshot();
        assert!(
            moved.velocity.iter().all(|velocity| velocity[2] < 0.0),
            "they fall: {:?}",
            moved.velocity
        );
    }
    for place in &mut world.grains.position {
        place[0] += 1e12;
    }
    let refused = Simulation::new(world, on_cpu()).err().unwrap().to_string();
    assert!(refused.contains("f64") && refused.contains("nearer to the origin"), "{refused}");
}
