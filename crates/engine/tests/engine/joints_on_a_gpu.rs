//! Bodies on joints on a GPU (software Vulkan suffices; without any adapter these tests fail) give the results of the CPU.

use crate::clumps::{Fill as _, heap, rod, world};
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::resumed::assert_same_when_resumed;
use crate::tied::with_joints;
use crate::vectors::vector;
use seixo_engine::world::{Joint, LeavingPolicy, Precision};
use seixo_engine::{BodySnapshot, Simulation, SurroundingsChange};
use seixo_laws::Quaternion;
use seixo_laws::contact::TangentialLaw;

/// Largest difference of centers and velocities of bodies, and of orientations, relative to the largest value of each.
fn apart_as_bodies(a: &[BodySnapshot], b: &[BodySnapshot]) -> f64 {
    assert_eq!(a.len(), b.len());
    let columns: [fn(&BodySnapshot) -> Vec<f64>; 4] = [
        |body| body.center.to_vec(),
        |body| body.orientation.to_vec(),
        |body| body.velocity.to_vec(),
        |body| body.angular_velocity.to_vec(),
    ];
    let largest_of = |column: &fn(&BodySnapshot) -> Vec<f64>| {
        let pairs = || a.iter().flat_map(column).zip(b.iter().flat_map(column));
        let difference = pairs().fold(0.0f64, |most, (x, y)| most.max((x - y).abs()));
        difference / pairs().fold(0.0f64, |most, (x, _)| most.max(x.abs()))
    };
    columns.iter().map(largest_of).fold(0.0, f64::max)
}

#[test]
fn a_heap_around_joints_goes_the_same_way() {
    for leaving in [None, Some(LeavingPolicy::Error)] {
        let mut world = with_joints(heap(200, leaving));
        world.local_damping = 0.1;
        let steps = 3000;
        let (cpu, gpu) = (after(&world, on_cpu(), steps), after(&world, on_gpu(Precision::F64), steps));
        let found = apart(&cpu.snapshot(), &gpu.snapshot()).max(apart_as_bodies(&cpu.bodies(), &gpu.bodies()));
        println!("{leaving:?}: {found:.1e}, {} contacts", gpu.contacts());
        // Differences of rounding grow as grains collide: 3e-12 to 1e-9 on two processors. A joint that is wrong is seen at 1e-3.
        assert!(found < 1e-7, "{leaving:?}: {found:e}");
        assert!(gpu.contacts() > 20 && cpu.contacts() == gpu.contacts(), "{}", gpu.contacts());
        assert_same_ledger(&cpu, &gpu, &format!("{leaving:?}"));
    }
}

#[test]
fn going_on_is_the_same_to_the_bit() {
    let world = with_joints(heap(100, None));
    assert_same_when_resumed(&world, &on_gpu(Precision::Mixed), [473, 400]);
}

#[test]
fn gravity_that_turns_leaves_velocities_on_joints() {
    let world = with_joints(heap(100, None));
    let turned = |settings| {
        let mut simulation = after(&world, settings, 300);
        let before = simulation.bodies();
        simulation.change(&[SurroundingsChange::Gravity([30.0, 0.0, -20.0])]).unwrap();
        let off = apart_as_bodies(&before, &simulation.bodies());
        assert!(off < 1e-12, "{off:e}");
        simulation.advance(300).unwrap();
        simulation.observe().unwrap();
        simulation
    };
    let (cpu, gpu): (Simulation, Simulation) = (turned(on_cpu()), turned(on_gpu(Precision::F64)));
    let found = apart_as_bodies(&cpu.bodies(), &gpu.bodies());
    assert!(found < 1e-9, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "turned");
}

#[test]
fn a_wheel_stays_on_its_hinge_in_single_precision() {
    let (axis, lever) = (vector([2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0]), vector([1e-3, 0.0, -1e-3]));
    let (center, pivot) = ([8e-3, 3e-3, 5e-3], vector([8e-3, 3e-3, 5e-3]).minus(&lever));
    let spin = axis.times(2000.0);
    let mut world = world(TangentialLaw::None);
    world.grains.clear_and(|grains| {
        rod(3, 1e-3).put(grains, center, [0.8, 0.0, 0.6, 0.0], [0.0; 3], [spin.x, spin.y, spin.z]);
    });
    world.grains.bodies[0].joint = Some(Joint::Hinge {
        through: [pivot.x, pivot.y, pivot.z],
        axis: [axis.x, axis.y, axis.z],
    });
    let start = Quaternion {
        w: 0.8,
        x: 0.0,
        y: 0.6,
        z: 0.0,
    };
    let own = start.back().to_space(&axis);
    let simulation = after(&world, on_gpu(Precision::F32), 3000);
    assert!(2000.0 * simulation.time() > 10.0, "it hardly turned");
    let body = simulation.bodies()[0];
    let arm = vector(body.center).minus(&pivot);
    // Rounding of coordinates is 5·10⁻¹⁰ m here and does not accumulate.
    assert!(
        (arm.length() - lever.length()).abs() < 4e-9 && arm.dot(&axis).abs() < 4e-9,
        "{arm:?}"
    );
    let [w, x, y, z] = body.orientation;
    let along = Quaternion { w, x, y, z }.to_space(&own);
    assert!(along.cross(&axis).length() < 1e-6, "{along:?}");
    assert!(vector(body.angular_velocity).cross(&axis).length() < 1e-6 * 2000.0);
    assert!((vector(body.angular_velocity).length() / 2000.0 - 1.0).abs() < 3e-6, "{body:?}");
}
