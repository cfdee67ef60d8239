//! Bodies in fluids, with the fluids or both on a GPU.

use crate::blocks::{Block, DENSITY, SPACING, hinged, momentum, pool, pushed, pushed_in_a_plane, thrown_out};
use crate::pools::G;
use crate::solvers::incompressible;
use seixo_device::gpu::Gpu;
use seixo_engine::world::{DeviceChoice, Precision, Settings, World};
use seixo_engine::{BodySnapshot, ColorScalar, Simulation, SurroundingsChange};

const GPU: DeviceChoice = DeviceChoice::Gpu(None);
const BOTH: DeviceChoice = DeviceChoice::Heterogeneous(None);

fn on(device: DeviceChoice, precision: Option<Precision>, world: World) -> Simulation {
    let settings = Settings {
        device,
        precision,
        threads: 2,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

fn after(simulation: &mut Simulation, steps: u64) -> BodySnapshot {
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation.bodies()[0]
}

/// Largest difference of two rows of numbers.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

#[test]
fn a_block_goes_the_same_way_wherever_it_and_the_water_are() {
    for (world, steps) in [
        (pushed as fn() -> World, 120),
        (pushed_in_a_plane, 120),
        (hinged, 120),
        (|| incompressible(pushed()), 20),
    ] {
        let start = world().grains.bodies[0].clone();
        let here = after(&mut on(DeviceChoice::Cpu, None, world()), steps);
        let way = apart(&here.center, &start.center);
        let slowed = apart(&here.velocity, &start.velocity);
        assert!(way > 0.0 && slowed > 0.01, "{here:?}");
        // Forces in f32 differ by some 10⁻⁶, and trajectories of pairs diverge from there.
        for (device, precision, tolerance) in [(GPU, Precision::F64, 1e-9), (BOTH, Precision::Mixed, 2e-3)] {
            let there = after(&mut on(device, Some(precision), world()), steps);
            let off = apart(&here.center, &there.center) / way;
            assert!(off < tolerance, "{device:?} {precision:?}: off by {off} of the way");
            let off = apart(&here.velocity, &there.velocity) / slowed;
            assert!(off < tolerance, "{device:?} {precision:?}: off by {off} of the change of velocity");
            let off = apart(&here.angular_velocity, &there.angular_velocity) / 5.0;
            assert!(off < tolerance, "{device:?} {precision:?}: off by {off} of the turning");
        }
    }
}

#[test]
fn what_is_changed_between_two_steps_changes_the_same_wherever_block_and_water_are() {
    for world in [pushed as fn() -> World, hinged] {
        let changed = |device, precision| {
            let mut simulation = on(device, precision, world());
            simulation.advance(20).unwrap();
            simulation.change(&[SurroundingsChange::Gravity([40.0, 10.0, -G])]).unwrap();
            simulation.advance(20).unwrap();
            // A block on a hinge moves only as the hinge allows.
            simulation.set_velocity(0, [0.5, -0.5, 0.0]).unwrap();
            after(&mut simulation, 20)
        };
        let here = changed(DeviceChoice::Cpu, None);
        for device in [GPU, BOTH] {
            let there = changed(device, Some(Precision::F64));
            let off = apart(&here.velocity, &there.velocity).max(apart(&here.angular_velocity, &there.angular_velocity));
            assert!(off < 1e-9, "{device:?}: {off}");
        }
    }
}

#[test]
fn what_flows_in_a_plane_stays_in_it_to_the_bit() {
    for (device, precision) in [(GPU, Precision::F64), (GPU, Precision::Mixed), (BOTH, Precision::Mixed)] {
        let mut simulation = on(device, Some(precision), pushed_in_a_plane());
        let block = after(&mut simulation, 120);
        assert_eq!(block.center[1], 0.0, "{device:?} {precision:?}");
        let strays = simulation.fluid().unwrap().position.iter().filter(|at| at[1] != 0.0).count();
        assert_eq!(strays, 0, "{device:?} {precision:?}");
    }
}

#[test]
fn momentum_of_block_and_water_is_kept_on_a_gpu_and_beside_it() {
    for device in [GPU, BOTH] {
        let mut simulation = on(device, Some(Precision::F64), pushed());
        let (before, start) = (momentum(&simulation), simulation.ledger());
        // In several parts: an observation in between changes nothing.
        for steps in [1, 70, 130] {
            simulation.advance(steps).unwrap();
            simulation.observe().unwrap();
        }
        let (after, now) = (momentum(&simulation), simulation.ledger());
        let size = simulation.bodies()[0].mass;
        assert!(apart(&before, &after) < 1e-11 * size, "{device:?}: {before:?} {after:?}");
        assert!((now.residual - start.residual).abs() < 2e-3 * start.kinetic, "{device:?}: {now:?}");
    }
}

#[test]
fn contacts_are_found_while_incompressible_water_takes_its_step() {
    let mut simulation = on(BOTH, Some(Precision::F64), incompressible(pushed()));
    after(&mut simulation, 10);
    let trace = simulation.trace();
    let spans = |pass: &str, is_on_gpu: bool| {
        let of_pass = trace.iter().filter(|span| span.pass == pass && span.is_on_gpu == is_on_gpu);
        of_pass.copied().collect::<Vec<_>>()
    };
    let (fluids, contacts) = (spans("fluid steps", true), spans("contacts", false));
    assert_eq!((fluids.len(), contacts.len()), (10, 10));
    for (fluid, contact) in fluids.iter().zip(&contacts) {
        assert_eq!(fluid.step, contact.step);
        assert!(fluid.from <= contact.from && contact.to <= fluid.to, "{fluid:?} {contact:?}");
    }
}

#[test]
fn looking_changes_no_bit_and_runs_repeat() {
    for device in [GPU, BOTH] {
        let run = |parts: &[u64]| {
            let mut simulation = on(device, None, pushed());
            for &steps in parts {
                after(&mut simulation, steps);
            }
            (simulation.bodies(), simulation.fluid())
        };
        let whole = run(&[90]);
        assert_eq!(whole, run(&[90]), "{device:?}");
        // A GPU may rebuild neighbor lists at other steps: the observation is equal, later sums may have another order.
        let parts = run(&[30, 60]);
        let off = apart(&whole.0[0].center, &parts.0[0].center);
        assert!(off < 1e-9, "{device:?}: {off}");
    }
}

#[test]
fn a_run_goes_on_elsewhere_from_what_was_saved() {
    let whole = after(&mut on(DeviceChoice::Cpu, None, pushed()), 120);
    let settings = |device| Settings {
        device,
        precision: (device != DeviceChoice::Cpu).then_some(Precision::F64),
        ..Settings::default()
    };
    for (first, then) in [(GPU, BOTH), (BOTH, GPU), (GPU, DeviceChoice::Cpu), (DeviceChoice::Cpu, BOTH)] {
        let mut simulation = Simulation::new(pushed(), settings(first)).unwrap();
        after(&mut simulation, 50);
        let state = simulation.save().unwrap();
        let mut simulation = Simulation::restore(pushed(), settings(then), &state).unwrap();
        let end = after(&mut simulation, 70);
        let off = apart(&whole.center, &end.center).max(apart(&whole.velocity, &end.velocity));
        assert!(off < 1e-9, "{first:?} to {then:?}: {off}");
    }
}

#[test]
fn a_body_that_leaves_is_felt_no_more_and_the_others_are() {
    let mut end: Option<BodySnapshot> = None;
    for (device, precision) in [(DeviceChoice::Cpu, None), (GPU, Some(Precision::F64)), (BOTH, Some(Precision::F64))] {
        let mut simulation = on(device, precision, thrown_out());
        let particles = simulation.fluid_particles();
        assert_eq!(simulation.bodies().len(), 2);
        let steps = (0.05 / simulation.time_step().value) as u64;
        let left = after(&mut simulation, steps);
        let bodies = simulation.bodies();
        assert!(bodies.len() == 1 && left.id == 1, "{device:?}: {bodies:?}");
        assert_eq!(simulation.fluid_particles(), particles);
        // The fall is not free.
        let fallen = -0.5 - G * simulation.time();
        assert!(left.velocity[2] > fallen + 0.05, "{device:?}: {left:?} of {fallen} m/s");
        let first = end.get_or_insert(left);
        let off = apart(&first.center, &left.center).max(apart(&first.velocity, &left.velocity));
        assert!(off < 1e-9, "{device:?}: {off}");
    }
}

#[test]
fn water_on_a_gpu_lifts_what_it_displaces() {
    for device in [GPU, BOTH] {
        let mut world = pool([10, 10, 18], 13, None);
        let block = Block {
            low: [3, 3, 5],
            cells: [4; 3],
            density_ratio: 3.0,
        };
        block.put(&mut world, [0.0; 3], true);
        let mut simulation = on(device, None, world);
        let steps = (0.15 / simulation.time_step().value) as u64;
        simulation.advance(steps).unwrap();
        let (mut lift, looks) = (0.0, 50);
        for _ in 0..looks {
            simulation.advance(steps / 50).unwrap();
            simulation.observe().unwrap();
            lift += simulation.snapshot().force[0][2] / f64::from(looks);
        }
        let weight = DENSITY * G * block.volume(SPACING);
        assert!((lift / weight - 1.0).abs() < 0.02, "{device:?}: {lift} of {weight} N");
    }
}

#[test]
fn a_preview_shows_bodies_and_water_wherever_they_are() {
    for device in [DeviceChoice::Cpu, GPU, BOTH] {
        let mut simulation = on(device, (device != DeviceChoice::Cpu).then_some(Precision::F64), pushed());
        simulation.advance(20).unwrap();
        let [speed, radius] = [ColorScalar::Speed, ColorScalar::Radius].map(|shade| simulation.preview([0.0; 3], shade).unwrap().unwrap());
        let (speed, radius) = (speed.wait().unwrap(), radius.wait().unwrap());
        simulation.observe().unwrap();
        let (grains, water) = (simulation.snapshot(), simulation.fluid().unwrap());
        assert_eq!(speed.grains, grains.id.len());
        let order_of = |ids: &[u32]| {
            let mut order: Vec<usize> = (0..ids.len()).collect();
            order.sort_by_key(|&k| ids[k]);
            order
        };
        let of_water = &speed.id[speed.grains..];
        assert_eq!(of_water.len(), water.id.len(), "no wall particles and bodies");
        for (k, at) in order_of(of_water).into_iter().enumerate() {
            let here = speed.grains + at;
            assert_eq!(speed.id[here], water.id[k]);
            let place = speed.places[here].map(f64::from);
            assert!(apart(&place[..3], &water.position[k]) < 1e-6, "{device:?}");
            assert!(apart(&place[3..], &[0.5 * SPACING]) < 1e-6 && radius.values[here] == speed.places[here][3]);
            // The velocity half a step earlier.
            let expected = water.velocity[k].iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!((f64::from(speed.values[here]) - expected).abs() < 0.02, "{device:?}: {expected}");
        }
        for (k, at) in order_of(&speed.id[..speed.grains]).into_iter().enumerate() {
            let place = speed.places[at].map(f64::from);
            assert!(apart(&place[..3], &grains.position[k]) < 1e-6, "{device:?}");
        }
    }
}

#[test]
fn memory_that_runs_out_beside_the_cpu_ends_both_for_good() {
    let gpu = Gpu::open(None).unwrap();
    let name = format!("{} has no memory left for", gpu.description());
    let mut failures = 0;
    for k in (1..).step_by(5) {
        let settings = Settings {
            device: BOTH,
            precision: Some(Precision::Mixed),
            threads: 2,
            ..Settings::default()
        };
        gpu.fail_allocation(k);
        let message = match Simulation::new_on(gpu.clone(), pushed(), settings) {
            Err(refusal) => refusal.to_string(),
            Ok(mut simulation) => match simulation.advance(60).and_then(|()| simulation.observe()) {
                Err(stop) => {
                    assert!(simulation.observe().is_err() && simulation.advance(1).is_err() && simulation.save().is_err());
                    stop.to_string()
                }
                Ok(()) => break,
            },
        };
        assert!(message.contains(&name), "{message}");
        failures += 1;
    }
    gpu.fail_allocation(0);
    assert!(failures > 3, "{failures} failures");
    assert_eq!(gpu.bytes_in_use(), 0, "what failed gave its memory back");
}
