//! Fluids on a GPU give the results of the CPU.

use crate::channels::{channel, jet, shaken, speeding};
use crate::couette::{cavity, couette};
use crate::devices::first_skin_of_fluids;
use crate::driven::{drum, paddled, pressed, round_and_round};
use crate::drops::{SIGMA, SPACING, droplet};
use crate::floors::floor;
use crate::incompressible::incompressible;
use crate::muller_on_a_gpu::after;
use crate::pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use crate::resumed::assert_same_when_resumed;
use seixo_device::gpu::Gpu;
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{DeviceChoice, LeavingPolicy, Precision, Settings, WallMotion, World};
use seixo_engine::{Simulation, StepErrorCause, SurroundingsChange};

/// A column of water that collapses in a tank twice as wide, in a plane or in space.
fn column(is_plane: bool) -> World {
    let spacing = 0.05;
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 3.0, is_plane.then_some(1));
    fluids.largest_speed = 4.4;
    let cells = if is_plane { [32, 1, 24] } else { [16, 6, 14] };
    let filled = if is_plane { [16, 1, 20] } else { [8, 6, 10] };
    tank(fluids, cells, filled, 3, None)
}

fn on(device: DeviceChoice, precision: Option<Precision>, world: World) -> Simulation {
    let settings = Settings {
        device,
        precision,
        skin: first_skin_of_fluids(&world),
        threads: 1,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// Largest difference of two fields, relative to the largest value of the first.
fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let most = a.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let difference = a
        .iter()
        .flatten()
        .zip(b.iter().flatten())
        .fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
    difference / most
}

#[test]
fn a_gpu_goes_the_way_of_the_cpu() {
    for (is_plane, precision, tolerance) in [
        (true, Precision::F64, 1e-9),
        (false, Precision::F64, 1e-9),
        // Forces in single precision have relative errors of 10⁻⁷, which add up over 300 steps.
        (true, Precision::Mixed, 1e-6),
    ] {
        let mut here = on(DeviceChoice::Cpu, None, column(is_plane));
        let mut there = on(DeviceChoice::Gpu(None), Some(precision), column(is_plane));
        let (mine, its) = (after(&mut here, 300), after(&mut there, 300));
        assert_eq!(mine.id, its.id);
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        let (a, b) = (here.ledger(), there.ledger());
        println!(
            "{precision:?} plane {is_plane}: x {x:.2e} v {v:.2e} rebuilds {} {}",
            here.rebuilds(),
            there.rebuilds()
        );
        println!("{a:?}\n{b:?}");
        assert!(x < tolerance && v < 10.0 * tolerance, "{precision:?} plane {is_plane}: {x:e} {v:e}");
        // The differences of ledgers [J], relative to the initial energy.
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < tolerance * 1000.0 * G, "{a:?} {b:?}");
        }
        let [force, same] = [&here, &there].map(|simulation| simulation.walls()[0].force);
        assert!(apart(&[force], &[same]) < 10.0 * tolerance, "{force:?} {same:?}");
    }
}

/// Oil under water in a periodic box, with a vortex; without walls.
fn two_fluids() -> World {
    let spacing = 0.1;
    let mut oil = water(30.0);
    oil.name = "oil".to_owned();
    (oil.density, oil.viscosity, oil.background_pressure, oil.density_diffusion) = (800.0, 3.0, 2e4, 0.1);
    let mut medium = water(30.0);
    (medium.viscosity, medium.background_pressure, medium.density_diffusion) = (1.0, 2e4, 0.1);
    let mut fluids = fluids(vec![medium, oil], spacing, 3.0, None);
    fluids.largest_speed = 3.0;
    for x in sites([0; 3], [10; 3], spacing, false) {
        let turn = std::f64::consts::TAU * x[0];
        drop_in(&mut fluids, x, [0.0, 0.3 * turn.cos(), 0.5 * turn.sin()], 2e4);
        *fluids.particles.kind.last_mut().unwrap() = u32::from(x[2] < 0.5);
    }
    wet(fluids, 0.0, Some(domain([0.0; 3], [1.0; 3], [true; 3])), Vec::new())
}

#[test]
fn two_fluids_go_the_same_way_and_keep_their_momentum() {
    let mut here = on(DeviceChoice::Cpu, None, two_fluids());
    let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), two_fluids());
    let before = there.momentum_of_fluids();
    let (mine, its) = (after(&mut here, 200), after(&mut there, 200));
    assert_eq!((&mine.id, &mine.kind), (&its.id, &its.kind));
    let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
    assert!(x < 1e-12 && v < 1e-11, "{x:e} {v:e}");
    // Nine hundred kilograms at half a meter a second, rounded per particle and step.
    for (a, b) in before.iter().zip(there.momentum_of_fluids()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn a_checkpoint_goes_on_anywhere() {
    let plain = || column(true);
    let worlds: [fn() -> World; 4] = [plain, paddled, drum, round_and_round];
    for world in worlds {
        let whole = after(&mut on(DeviceChoice::Gpu(None), Some(Precision::F64), world()), 240);
        let mut first = on(DeviceChoice::Gpu(None), Some(Precision::F64), world());
        first.advance(100).unwrap();
        let state = first.save().unwrap();
        let settings = |device| Settings {
            device,
            precision: Some(Precision::F64),
            skin: first_skin_of_fluids(&world()),
            threads: 1,
            ..Settings::default()
        };
        let mut there = Simulation::restore(world(), settings(DeviceChoice::Gpu(None)), &state).unwrap();
        assert_eq!(whole, after(&mut there, 140));
        let mut here = Simulation::restore(world(), settings(DeviceChoice::Cpu), &state).unwrap();
        let other = after(&mut here, 140);
        assert!(apart(&whole.position, &other.position) < 1e-10);
    }
}

#[test]
fn walls_that_move_do_the_same_on_a_gpu() {
    type Case = (&'static str, fn() -> World, Precision, f64);
    let cases: [Case; 4] = [
        ("paddle", paddled, Precision::F64, 1e-9),
        ("drum", drum, Precision::F64, 1e-8),
        ("lid", round_and_round, Precision::F64, 1e-11),
        // Forces in single precision have relative errors of 10⁻⁷, which add up over 400 steps.
        ("paddle", paddled, Precision::Mixed, 1e-5),
    ];
    for (name, world, precision, tolerance) in cases {
        let mut here = on(DeviceChoice::Cpu, None, world());
        let mut there = on(DeviceChoice::Gpu(None), Some(precision), world());
        // The lid moves more than one and a half times through the domain.
        let (mine, its) = (after(&mut here, 400), after(&mut there, 400));
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        let (a, b) = (here.ledger(), there.ledger());
        println!(
            "{name} {precision:?}: x {x:.2e} v {v:.2e} rebuilds {} {}",
            here.rebuilds(),
            there.rebuilds()
        );
        println!("{a:?}\n{b:?}");
        assert!(here.rebuilds() > 3 && there.rebuilds() > 3);
        assert!(x < tolerance && v < 10.0 * tolerance, "{name} {precision:?}: {x:e} {v:e}");
        // Paddle and lid do work on the fluid, and the ledgers of both devices agree.
        let [put_in, same] = [&a, &b].map(|ledger| ledger.wall_work);
        assert!(name == "drum" || put_in > 0.3 * a.kinetic, "{name}: {a:?}");
        assert!(
            (put_in - same).abs() < 1e3 * tolerance * put_in.abs(),
            "{name} {precision:?}: {put_in} {same}"
        );
        for (one, other) in here.walls().iter().zip(there.walls()) {
            let size = one.force.iter().fold(1.0, |most: f64, f| most.max(f.abs()));
            let apart = |a: [f64; 3], b: [f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).abs()).fold(0.0, f64::max);
            let off = apart(one.force, other.force).max(apart(one.torque, other.torque));
            assert!(off < 1e3 * tolerance * size, "{name} {precision:?}: {one:?} {other:?}");
        }
    }
}

#[test]
fn a_lid_that_a_stage_brings_to_rest_drags_no_more_on_a_gpu() {
    let mut here = on(DeviceChoice::Cpu, None, round_and_round());
    let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), round_and_round());
    let fastest = |fluid: &FluidSnapshot| fluid.velocity.iter().fold(0.0, |most: f64, v| most.max(v[0].abs()));
    let mut before = 0.0;
    for simulation in [&mut here, &mut there] {
        before = fastest(&after(simulation, 200));
        let motion = Box::new(WallMotion::default());
        simulation.change(&[SurroundingsChange::Motion { wall: 1, motion }]).unwrap();
    }
    let (mine, its) = (after(&mut here, 400), after(&mut there, 400));
    assert!(apart(&mine.velocity, &its.velocity) < 1e-9);
    // The dragged fluid spreads, and both walls slow it down: by erfc(z/√(4ν(t + t'))) − erfc(z/√(4νt')), a tenth remains.
    assert!(before > 0.1 && fastest(&its) < 0.2 * before, "{before} {}", fastest(&its));
}

#[test]
fn gravity_that_a_stage_sets_pulls_alike_on_a_gpu() {
    let [mine, its] = [(DeviceChoice::Cpu, None), (DeviceChoice::Gpu(None), Some(Precision::F64))].map(|(device, precision)| {
        let mut simulation = on(device, precision, column(true));
        simulation.advance(40).unwrap();
        simulation.change(&[SurroundingsChange::Gravity([4.0, 0.0, -2.0 * G])]).unwrap();
        after(&mut simulation, 20)
    });
    let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
    assert!(x < 1e-12 && v < 1e-12, "{x:e} {v:e}");
}

#[test]
fn a_gpu_watches_densities_too() {
    let stops = [DeviceChoice::Cpu, DeviceChoice::Gpu(None)].map(|device| {
        let precision = Some(Precision::F64);
        on(device, precision, pressed(60.0, 1.0)).advance(500).unwrap_err()
    });
    let [here, there] = &stops;
    let StepErrorCause::FluidErrorCause(inner) = &there.cause else {
        panic!("{there}")
    };
    assert!(matches!(inner.cause, StepErrorCause::TooCompressed { .. }), "{there}");
    assert_eq!((here.step, here.grain), (there.step, there.grain), "{here}\n{there}");
}

#[test]
fn what_leaves_is_taken_away_on_a_gpu_too() {
    let mut fluids = fluids(vec![water(50.0)], 0.1, 3.0, Some(1));
    fluids.largest_speed = 5.0;
    for x in sites([0; 3], [4, 1, 4], 0.1, true) {
        drop_in(&mut fluids, x, [0.0; 3], 0.0);
    }
    let mut space = domain([-1.0; 3], [2.0; 3], [false; 3]);
    space.leaving = LeavingPolicy::Delete;
    let world = wet(fluids, G, Some(space), Vec::new());
    let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), world);
    there.advance(2000).unwrap();
    there.observe().unwrap();
    assert_eq!(there.fluid_particles(), 0);
}

#[test]
fn a_state_with_fluid_outside_is_gone_on_from_to_the_bit() {
    let mut fluids = fluids(vec![water(50.0)], 0.1, 3.0, Some(1));
    fluids.largest_speed = 5.0;
    for x in sites([0; 3], [4, 1, 4], 0.1, true) {
        drop_in(&mut fluids, x, [0.0, 0.0, -4.0], 0.0);
    }
    // The lowest row is outside after a centimeter. Lists last for five.
    let mut space = domain([-1.0, -1.0, 0.04], [2.0; 3], [false; 3]);
    space.leaving = LeavingPolicy::Delete;
    let world = wet(fluids, 0.0, Some(space), Vec::new());
    for (device, precision) in [(DeviceChoice::Cpu, None), (DeviceChoice::Gpu(None), Some(Precision::F64))] {
        let settings = Settings {
            device,
            precision,
            skin: Some(0.1),
            ..Settings::default()
        };
        let mut simulation = Simulation::new(world.clone(), settings.clone()).unwrap();
        // Three centimeters.
        let steps = (7.5e-3 / simulation.time_step().value) as u64;
        let fluid = after(&mut simulation, steps);
        let lowest = fluid.position.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
        assert!(fluid.id.len() == 16 && lowest < 0.04, "{settings:?}: {lowest}");
        // Nine, so that the next row is still inside.
        let end = assert_same_when_resumed(&world, &settings, [steps, 2 * steps]);
        let simulation = Simulation::restore(world.clone(), settings, &end).unwrap();
        assert_eq!(simulation.fluid_particles(), 12);
    }
}

#[test]
fn a_running_surface_drags_as_much_on_a_gpu() {
    for world in [couette, cavity] {
        let mut here = on(DeviceChoice::Cpu, None, world());
        let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), world());
        let (mine, its) = (after(&mut here, 200), after(&mut there, 200));
        assert!(apart(&mine.velocity, &its.velocity) < 1e-11);
        let forces = |simulation: &Simulation| simulation.walls().iter().map(|wall| wall.force).collect::<Vec<_>>();
        assert!(apart(&forces(&here), &forces(&there)) < 1e-11);
        let ledger = |simulation: &Simulation| [simulation.ledger().viscosity, simulation.ledger().wall_work];
        for (mine, its) in ledger(&here).into_iter().zip(ledger(&there)) {
            assert!((mine - its).abs() < 1e-9 * mine.abs(), "{mine} {its}");
        }
    }
}

#[test]
fn a_gate_opens_on_a_gpu_too() {
    let mut world = column(true);
    world.walls.push(floor());
    let fluids = world.fluids.as_mut().unwrap();
    for x in sites([16, 0, 0], [19, 1, 24], fluids.spacing, true) {
        fluids.boundary.position.push(x);
        fluids.boundary.wall.push(1);
    }
    fluids.slips.push(true);
    let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), world);
    let front = |fluid: &FluidSnapshot| fluid.position.iter().fold(0.0, |most: f64, x| most.max(x[0]));
    assert!(front(&after(&mut there, 200)) < 0.81);
    let open = SurroundingsChange::Wall { wall: 1, is_there: false };
    there.change(&[open]).unwrap();
    assert!(front(&after(&mut there, 1000)) > 1.1);
}

#[test]
fn what_comes_and_goes_does_so_on_a_gpu_too() {
    let stirred = || channel(0.0, 10.0, 0.1);
    type Case = (fn() -> World, Precision, f64);
    let worlds: [Case; 5] = [
        (jet, Precision::F64, 1e-9),
        (stirred, Precision::F64, 1e-9),
        (speeding, Precision::F64, 1e-9),
        (shaken, Precision::F64, 1e-9),
        // Forces in single precision have relative errors of 10⁻⁷, which add up over 400 steps.
        (stirred, Precision::Mixed, 1e-5),
    ];
    for (world, precision, tolerance) in worlds {
        let mut here = on(DeviceChoice::Cpu, None, world());
        let mut there = on(DeviceChoice::Gpu(None), Some(precision), world());
        let (mine, its) = (after(&mut here, 400), after(&mut there, 400));
        assert_eq!((&mine.id, here.passed_fluids()), (&its.id, there.passed_fluids()));
        assert!(here.passed_fluids().iter().all(|passed| passed.count > 0));
        let passes = &there.profile().passes;
        let calls = |name: &str| passes.iter().find(|(pass, ..)| *pass == name).map_or(0, |(_, _, calls)| *calls);
        assert_eq!(calls("fluid steps"), 400);
        assert!(calls("fluid neighbor lists") > 0 && calls("open boundaries") > 0);
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        assert!(x < tolerance && v < 10.0 * tolerance, "{precision:?}: {x:e} {v:e}");
        let (a, b) = (here.ledger(), there.ledger());
        let most = a.values().into_iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < 10.0 * tolerance * most, "{a:?} {b:?}");
        }
    }
    let whole = after(&mut on(DeviceChoice::Gpu(None), Some(Precision::F64), jet()), 400);
    let mut first = on(DeviceChoice::Gpu(None), Some(Precision::F64), jet());
    first.advance(170).unwrap();
    let state = first.save().unwrap();
    let settings = Settings {
        device: DeviceChoice::Gpu(None),
        precision: Some(Precision::F64),
        skin: first_skin_of_fluids(&jet()),
        threads: 1,
        ..Settings::default()
    };
    let mut second = Simulation::restore(jet(), settings, &state).unwrap();
    assert_eq!(whole, after(&mut second, 230));
}

#[test]
fn memory_that_runs_out_when_fluid_comes_in_ends_the_run_for_good() {
    let gpu = Gpu::open(None).unwrap();
    let mut failures = 0;
    for k in (1..).step_by(5) {
        let settings = Settings {
            device: DeviceChoice::Gpu(None),
            precision: Some(Precision::Mixed),
            skin: first_skin_of_fluids(&jet()),
            threads: 1,
            ..Settings::default()
        };
        gpu.fail_allocation(k);
        let Ok(mut simulation) = Simulation::new_on(gpu.clone(), jet(), settings) else {
            continue;
        };
        let Err(stop) = simulation.advance(137).and_then(|()| simulation.observe()) else {
            assert!(simulation.passed_fluids()[0].count > 16, "fluid came in");
            break;
        };
        assert!(stop.to_string().contains(" has no memory left for"), "{stop}");
        // What was not uploaded again is nowhere in the state of this step.
        assert!(simulation.observe().is_err() && simulation.advance(1).is_err() && simulation.save().is_err());
        failures += 1;
    }
    gpu.fail_allocation(0);
    assert!(failures > 3, "{failures} failures");
    assert_eq!(gpu.bytes_in_use(), 0, "what failed gave its memory back");
}

#[test]
fn incompressible_fluids_go_the_same_way_on_a_gpu() {
    for (is_plane, precision, tolerance) in [
        (true, Precision::F64, 1e-9),
        (false, Precision::F64, 1e-9),
        // If single precision takes one iteration more or less, pressures differ by the remaining error: 2·10⁻⁵ of the density in a step.
        (true, Precision::Mixed, 1e-3),
    ] {
        let mut here = on(DeviceChoice::Cpu, None, incompressible(column(is_plane)));
        let mut there = on(DeviceChoice::Gpu(None), Some(precision), incompressible(column(is_plane)));
        let (mine, its) = (after(&mut here, 30), after(&mut there, 30));
        assert_eq!(mine.id, its.id);
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        let (a, b) = (here.ledger(), there.ledger());
        println!(
            "{precision:?} plane {is_plane}: x {x:.2e} v {v:.2e} {:?} {:?}",
            here.solves_of_fluids(),
            there.solves_of_fluids()
        );
        assert!(x < tolerance && v < 10.0 * tolerance, "{precision:?} plane {is_plane}: {x:e} {v:e}");
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < tolerance * 1000.0 * G, "{a:?} {b:?}");
        }
        if precision == Precision::F64 {
            assert_eq!(here.solves_of_fluids().iterations, there.solves_of_fluids().iterations);
            let [force, same] = [&here, &there].map(|simulation| simulation.walls()[0].force);
            assert!(apart(&[force], &[same]) < 1e-6, "{force:?} {same:?}");
        }
    }
}

#[test]
fn a_paddle_pushes_incompressible_water_alike_on_a_gpu() {
    let mut here = on(DeviceChoice::Cpu, None, incompressible(paddled()));
    let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), incompressible(paddled()));
    // The paddle moves two centimeters, more than twice the range of a neighbor list.
    let (mine, its) = (after(&mut here, 40), after(&mut there, 40));
    assert!(
        here.rebuilds() > 1 && there.rebuilds() > 1,
        "{} {}",
        here.rebuilds(),
        there.rebuilds()
    );
    let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
    assert!(x < 1e-9 && v < 1e-8, "{x:e} {v:e}");
    // The paddle bears some thousand newtons of hydrostatic pressure and accelerates the fluid; all of that is in the ledger on both devices.
    let [put_in, same] = [&here, &there].map(|simulation| simulation.ledger().wall_work);
    assert!(put_in > 5.0 && (put_in - same).abs() < 1e-6 * put_in, "{put_in} {same}");
    for (one, other) in here.walls().iter().zip(there.walls()) {
        assert!(apart(&[one.force], &[other.force]) < 1e-6, "{one:?} {other:?}");
    }
}

#[test]
fn incompressible_fluids_leave_a_domain_alike_on_a_gpu() {
    let spilling = || {
        let mut world = incompressible(column(true));
        // The front still has to move a centimeter, and lists last for half of that.
        let mut space = domain([-1.0; 3], [0.785, 1.0, 3.0], [false; 3]);
        space.leaving = LeavingPolicy::Delete;
        world.domain = Some(space);
        world
    };
    let mut here = on(DeviceChoice::Cpu, None, spilling());
    let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), spilling());
    let all = here.fluid_particles();
    let (mine, its) = (after(&mut here, 30), after(&mut there, 30));
    assert!(
        mine.id.len() < all - 3 && mine.id == its.id,
        "{} {} of {all}",
        mine.id.len(),
        its.id.len()
    );
    let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
    assert!(x < 1e-9 && v < 1e-8, "{x:e} {v:e}");
    assert_eq!(here.solves_of_fluids().iterations, there.solves_of_fluids().iterations);
    // The energy that left with the fluid, relative to the potential energy of the column.
    let (a, b) = (here.ledger(), there.ledger());
    assert!(a.left_domain > 0.0, "{a:?}");
    for (one, other) in a.values().into_iter().zip(b.values()) {
        assert!((one - other).abs() < 1e-8 * 1000.0 * G, "{a:?} {b:?}");
    }
}

#[test]
fn a_checkpoint_of_incompressible_fluids_goes_on_anywhere() {
    let plain = || column(true);
    let worlds: [fn() -> World; 2] = [plain, paddled];
    for world in worlds {
        let world = || incompressible(world());
        let whole = after(&mut on(DeviceChoice::Gpu(None), Some(Precision::F64), world()), 24);
        let mut first = on(DeviceChoice::Gpu(None), Some(Precision::F64), world());
        first.advance(10).unwrap();
        let state = first.save().unwrap();
        let settings = |device| Settings {
            device,
            precision: Some(Precision::F64),
            skin: first_skin_of_fluids(&world()),
            threads: 1,
            ..Settings::default()
        };
        let mut there = Simulation::restore(world(), settings(DeviceChoice::Gpu(None)), &state).unwrap();
        assert_eq!(whole, after(&mut there, 14));
        let mut here = Simulation::restore(world(), settings(DeviceChoice::Cpu), &state).unwrap();
        let other = after(&mut here, 14);
        assert!(apart(&whole.position, &other.position) < 1e-9);
    }
}

#[test]
fn drops_hold_together_as_much_on_a_gpu_and_wet_floors_alike() {
    for contact_angle in [None, Some(1.2)] {
        let mut here = on(DeviceChoice::Cpu, None, droplet(8, contact_angle));
        let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), droplet(8, contact_angle));
        let (mine, its) = (after(&mut here, 200), after(&mut there, 200));
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        assert!(x < 1e-9 && v < 1e-8, "{contact_angle:?}: {x:e} {v:e}");
        // The ledger with the surface energy, relative to that of a surface as long as the diameter.
        let (a, b) = (here.ledger(), there.ledger());
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < 1e-9 * SIGMA * 16.0 * SPACING, "{a:?} {b:?}");
        }
    }
}

#[test]
fn sound_of_a_millionth_of_the_density_goes_on_in_mixed_precision() {
    let [mine, its] = [(DeviceChoice::Cpu, None), (DeviceChoice::Gpu(None), Some(Precision::Mixed))].map(|(device, precision)| {
        let mut fluids = fluids(vec![water(20.0)], 0.05, 3.0, Some(1));
        fluids.largest_speed = 2.0;
        for x in sites([0; 3], [20, 1, 8], 0.05, true) {
            drop_in(&mut fluids, x, [2e-5 * (std::f64::consts::TAU * x[0]).sin(), 0.0, 0.0], 0.0);
        }
        let channel = domain([0.0, -1.0, 0.0], [1.0, 1.0, 0.4], [true, false, true]);
        after(&mut on(device, precision, wet(fluids, 0.0, Some(channel), Vec::new())), 150)
    });
    let excess = |fluid: &FluidSnapshot| fluid.density.iter().map(|density| [density - 1000.0, 0.0, 0.0]).collect::<Vec<_>>();
    let (density, velocity) = (apart(&excess(&mine), &excess(&its)), apart(&mine.velocity, &its.velocity));
    assert!(density < 1e-3 && velocity < 1e-3, "{density} {velocity}");
}
