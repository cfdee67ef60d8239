//! Rigid bodies on a GPU (software Vulkan suffices; without any adapter these tests fail) give the results of the CPU.

use crate::clumps::{Fill as _, domain, heap, rod, world};
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu, with_default_skin};
use crate::floors::floor;
use crate::resumed::assert_same;
use seixo_engine::world::{ForceAssembly, LeavingPolicy, Load, Precision, Settings};
use seixo_engine::{BodySnapshot, Simulation};
use seixo_laws::contact::TangentialLaw;

/// Largest difference of centers, orientations and velocities, relative to the largest value of each.
fn apart_as_bodies(a: &[BodySnapshot], b: &[BodySnapshot]) -> f64 {
    assert_eq!(a.len(), b.len());
    let columns: [fn(&BodySnapshot) -> Vec<f64>; 4] = [
        |body| body.center.to_vec(),
        |body| body.orientation.to_vec(),
        |body| body.velocity.to_vec(),
        |body| body.angular_velocity.to_vec(),
    ];
    let largest_of = |column: &fn(&BodySnapshot) -> Vec<f64>| {
        let (mut difference, mut size) = (0.0f64, 0.0f64);
        for (x, y) in a.iter().flat_map(column).zip(b.iter().flat_map(column)) {
            difference = difference.max((x - y).abs());
            size = size.max(x.abs());
        }
        difference / size
    };
    columns.iter().map(largest_of).fold(0.0, f64::max)
}

#[test]
fn one_step_from_the_same_state_gives_the_same_forces() {
    let world = heap(200, None);
    let mut simulation = after(&world, on_cpu(), 6000);
    assert!(simulation.contacts() > 50, "{}", simulation.contacts());
    let state = simulation.save().unwrap();
    let one_step = |settings: Settings| {
        let mut simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
        simulation.step().unwrap();
        simulation.observe().unwrap();
        (simulation.snapshot(), simulation.bodies())
    };
    let (expected, bodies) = one_step(on_cpu());
    // Tolerances of single grains, see `on_a_gpu.rs`.
    for (precision, bar) in [(Precision::F64, 1e-12), (Precision::Mixed, 1e-5), (Precision::F32, 3e-3)] {
        let (grains, moved) = one_step(on_gpu(precision));
        let found = apart(&expected, &grains).max(apart_as_bodies(&bodies, &moved));
        println!("{precision:?}: {found:.1e}");
        assert!(found < bar, "{precision:?}: {found:e}");
    }
}

#[test]
fn hundreds_of_steps_with_rebuilt_lists_stay_together() {
    for leaving in [None, Some(LeavingPolicy::Error)] {
        let mut world = heap(200, leaving);
        world.local_damping = 0.1;
        let steps = 3000;
        let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_default_skin(&world, settings), steps));
        assert!(
            cpu.rebuilds() > 3 && cpu.rebuilds() == gpu.rebuilds(),
            "{} {}",
            cpu.rebuilds(),
            gpu.rebuilds()
        );
        let found = apart(&cpu.snapshot(), &gpu.snapshot()).max(apart_as_bodies(&cpu.bodies(), &gpu.bodies()));
        println!("{leaving:?}: {found:.1e}, {} contacts", gpu.contacts());
        assert!(found < 1e-9, "{leaving:?}: {found:e}");
        assert!(gpu.contacts() > 20 && cpu.contacts() == gpu.contacts(), "{}", gpu.contacts());
        assert_same_ledger(&cpu, &gpu, &format!("{leaving:?}"));
        assert_eq!(cpu.snapshot().body, gpu.snapshot().body);
        assert_eq!([&cpu, &gpu].map(|known| known.bodies_now().is_some()), [true, false]);
        let (a, b) = (cpu.momentum(), gpu.momentum());
        let scale = a.linear.iter().fold(0.0f64, |most, p| most.max(p.abs()));
        for axis in 0..3 {
            assert!((a.linear[axis] - b.linear[axis]).abs() < 1e-9 * scale, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_body_of_hundreds_of_spheres_that_lands_on_one_end_turns_as_on_the_cpu() {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -50.0];
    world.walls.push(floor());
    world.grains.clear_and(|grains| {
        // One end of the long rod is 0.6 mm above the floor, the other 2.4 mm. A block of threads sums its forces, one thread those of the short rod.
        let tilted = [0.0015f64.cos(), 0.0, 0.0015f64.sin(), 0.0];
        rod(300, 1e-3).put(grains, [0.0, 0.0, 2.5e-3], tilted, [0.1, 0.0, -0.5], [0.0; 3]);
        rod(3, 1e-3).put(grains, [0.0, 0.05, 1.5e-3], tilted, [0.1, 0.0, -0.5], [0.0; 3]);
    });
    let dt = Simulation::new(world.clone(), on_cpu()).unwrap().time_step().value;
    let steps = (2.5e-3 / dt) as u64;
    let (cpu, gpu) = (after(&world, on_cpu(), steps), after(&world, on_gpu(Precision::F64), steps));
    let spin = cpu.bodies()[0].angular_velocity[1].abs();
    assert!(spin > 0.5, "{spin} rad/s");
    let found = apart(&cpu.snapshot(), &gpu.snapshot()).max(apart_as_bodies(&cpu.bodies(), &gpu.bodies()));
    println!("{steps} steps: {found:.1e}");
    // Sums in another order, as in the other tests.
    assert!(found < 1e-9, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "long rod");
}

#[test]
fn a_state_goes_from_the_gpu_to_the_cpu_and_back() {
    let world = heap(100, Some(LeavingPolicy::Error));
    let mut there = after(&world, on_gpu(Precision::F64), 1700);
    let state = there.save().unwrap();
    let mut here = Simulation::restore(world.clone(), on_cpu(), &state).unwrap();
    here.advance(300).unwrap();
    let mut back = Simulation::restore(world, on_gpu(Precision::F64), &here.save().unwrap()).unwrap();
    back.advance(300).unwrap();
    back.observe().unwrap();
    there.advance(600).unwrap();
    there.observe().unwrap();
    let found = apart(&there.snapshot(), &back.snapshot()).max(apart_as_bodies(&there.bodies(), &back.bodies()));
    assert!(found < 1e-9, "{found:e}");
}

#[test]
fn runs_are_the_same_bits_and_so_is_going_on_from_a_saved_state() {
    let world = heap(100, None);
    let settings = on_gpu(Precision::Mixed);
    let whole = || {
        let mut simulation = Simulation::new(world.clone(), settings.clone()).unwrap();
        simulation.advance(473).unwrap();
        let state = simulation.save().unwrap();
        simulation.advance(400).unwrap();
        (state, simulation.save().unwrap())
    };
    let (half_way, end) = whole();
    assert!(whole().1 == end);
    let mut second = Simulation::restore(world.clone(), settings.clone(), &half_way).unwrap();
    second.advance(400).unwrap();
    assert_same(&end, &second.save().unwrap(), "resumed");
}

#[test]
fn a_body_leaves_as_a_whole_as_on_the_cpu() {
    let mut world = world(TangentialLaw::Mindlin);
    world.domain = Some(domain([false; 3], LeavingPolicy::Delete, 1e-2));
    world.grains.clear_and(|grains| {
        rod(3, 1e-3).put(grains, [7e-3, 5e-3, 5e-3], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]);
        rod(3, 1e-3).put(grains, [4e-3, 8e-3, 2e-3], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0; 3]);
        grains.push(100, [2e-3; 3], [-2.0, 0.0, 0.0], [0.0; 3], 1e-3, 0, 0);
    });
    let dt = Simulation::new(world.clone(), on_cpu()).unwrap().time_step().value;
    let mut left = Vec::new();
    for milliseconds in [2.5e-3, 3.5e-3, 0.1] {
        let steps = (milliseconds / dt) as u64;
        let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_default_skin(&world, settings), steps));
        assert_eq!((cpu.len(), cpu.steps()), (gpu.len(), gpu.steps()));
        if cpu.is_empty() {
            assert_eq!(gpu.ledger().kinetic, 0.0);
            assert!((cpu.ledger().left_domain / gpu.ledger().left_domain - 1.0).abs() < 1e-10);
        } else {
            assert_same_ledger(&cpu, &gpu, "leaving");
        }
        left.push(gpu.len());
    }
    assert_eq!(left, [6, 3, 0]);
}

#[test]
fn contacts_beside_a_body_go_on_when_grains_on_either_side_of_them_leave() {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.domain = Some(domain([false; 3], LeavingPolicy::Delete, 1e-2));
    world.grains.clear_and(|grains| {
        rod(3, 1e-3).put(grains, [5e-3, 8e-3, 2e-3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        // Whichever way cells are counted, one that leaves is before the two that slide on each other, and one is behind them.
        for (k, at, way) in [(100, 2e-3, -1.0), (101, 8.5e-3, 1.0)] {
            grains.push(k, [at; 3], [way; 3], [0.0; 3], 1e-3, 0, 0);
        }
        for (k, x, slide) in [(102, 4.01e-3, 1e-3), (103, 6e-3, -1e-3)] {
            grains.push(k, [x, 5e-3, 5e-3], [0.0, slide, 0.0], [0.0; 3], 1e-3, 0, 0);
        }
    });
    let dt = Simulation::new(world.clone(), on_cpu()).unwrap().time_step().value;
    let steps = (3e-3 / dt) as u64;
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_default_skin(&world, settings), steps));
    assert_eq!((cpu.len(), gpu.len()), (5, 5));
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-12, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "beside those that leave");
}

#[test]
fn other_ways_to_put_forces_together_are_refused() {
    let settings = Settings {
        assembly: ForceAssembly::ContactList,
        ..on_gpu(Precision::F64)
    };
    let refusal = Simulation::new(heap(10, None), settings).err().unwrap().to_string();
    assert!(refusal.contains("rigid bodies"), "{refusal}");
}

#[test]
fn a_body_in_mixed_precision_turns_by_angles_and_gains_spins_of_ten_millionths() {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.walls.clear();
    let rod = rod(2, 1e-3);
    rod.put(&mut world.grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0, 0.0, 1.0]);
    // In a step of 10⁻⁷ s it rotates by 10⁻⁷ rad. The torque on its two grains raises its angular velocity by a relative 10⁻⁷.
    world.loads = vec![Load::constant(0, [0.0; 3], [0.0, 0.0, 0.5 * rod.moments[2]])];
    let settings = Settings {
        time_step: Some(1e-7),
        ..on_gpu(Precision::Mixed)
    };
    let simulation = after(&world, settings, 2000);
    let (time, body) = (simulation.time(), simulation.bodies()[0]);
    let gained = (body.angular_velocity[2] - 1.0) / time;
    assert!((gained - 1.0).abs() < 1e-6, "{gained} rad/s\u{b2}");
    let turned = 2.0 * body.orientation[3].asin() / (time + 0.5 * time * time);
    assert!((turned - 1.0).abs() < 1e-6, "{turned} of the way");
}
