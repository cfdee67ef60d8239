//! Polyhedral grains on joints, and clumps beside polyhedral grains, on a GPU: against closed forms, and against the CPU (software Vulkan suffices;
//! without any adapter these tests fail).

use crate::corners::{about, block, put, through_a_collision, turned, world};
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::joints::gauss_mean;
use crate::polyhedra::OF_UNIT_CUBE;
use crate::polyhedra_on_a_gpu::{assert_resumes, with_step};
use crate::polyhedra_with_clumps::{clump_above_a_cube, clump_that_hits_a_cube};
use crate::vectors::{distance, length};
use seixo_engine::world::{Interaction, Joint, Precision, Scheme, Vec3, World};
use seixo_engine::{Simulation, plan_time_step};
use std::f64::consts::PI;

const G: f64 = 9.81;

/// Distance of the box from its hinge \[m\], and its angle at the start.
const ARM: f64 = 0.05;
const ANGLE: f64 = 0.3;

/// Center of the box that spins \[m\].
const AXIS: Vec3 = [0.1, 2.0, 0.3];

/// Two boxes of three different edges: one at rest beside its hinge, and one that spins on a ball joint at its center. Nothing touches, and the material
/// is soft, so that it permits a long time step.
fn tied_boxes() -> World {
    let mut world = world(vec![block("box", [0.6, 0.4, 0.25], 0.05)], Interaction::default());
    world.materials[0].youngs_modulus = 1e5;
    world.gravity = [0.0, 0.0, -G];
    let hung = [ARM * ANGLE.sin(), 0.0, -ARM * ANGLE.cos()];
    turned(&mut world, 0, 0.1, hung, about([0.0, 1.0, 0.0], 0.7), [0.0; 3]);
    turned(&mut world, 0, 0.1, AXIS, about([0.6, 0.0, 0.8], 1.1), [0.0; 3]);
    world.grains.angular_velocity[1] = [3.0, -2.0, 4.0];
    let hinge = Joint::Hinge {
        through: [0.0, 0.4, 0.0],
        axis: [0.0, 3.0, 0.0],
    };
    world.grains.put_on_joint(0, &world.shapes[0], hinge);
    world.grains.put_on_joint(1, &world.shapes[0], Joint::Ball { through: AXIS });
    world
}

#[test]
fn a_box_on_a_hinge_keeps_its_period_and_one_on_a_ball_joint_its_angular_momentum_on_a_gpu() {
    let world = tied_boxes();
    let (mass, own) = (world.grains.bodies[0].mass, world.grains.bodies[0].moments[1]);
    // T₀ = 2π √(I/(m g d)) for small amplitudes, and T = T₀/M(1, cos ½θ₀) with Gauss's mean M.
    let small = 2.0 * PI * ((own + mass * ARM * ARM) / (mass * G * ARM)).sqrt();
    let period = small / gauss_mean(1.0, (0.5 * ANGLE).cos());
    let time_step = period / 1200.0;
    let start = Simulation::new(world.clone(), with_step(time_step, on_cpu())).expect("the world is sound");
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_step(time_step, settings), 1500));
    let (hung, spinning) = (gpu.bodies()[0], gpu.bodies()[1]);
    // After 5/4 periods it passes the bottom, to that side to which it fell. Leap-frog is faster by a relative (ω₀Δt)²/24, 10⁻⁶ here; this is 6·10⁻⁶.
    let [x, y, z] = hung.center;
    assert!((x.hypot(z) - ARM).abs() < 1e-13 && y.abs() < 1e-13, "{hung:?}");
    assert!(x.abs() < 5e-5 * ARM * ANGLE && z < 0.0 && hung.velocity[0] < 0.0, "{hung:?}");
    let before = start.bodies()[1].angular_momentum;
    let change = distance(spinning.angular_momentum, before);
    assert!(change < 1e-11 * length(before), "{spinning:?} {before:?}");
    assert!(distance(spinning.center, AXIS) < 1e-14, "{spinning:?}");
    assert!(
        distance(spinning.angular_velocity, start.bodies()[1].angular_velocity) > 0.1,
        "a box of three edges does not spin steadily: {spinning:?}"
    );
    assert_same_ledger(&cpu, &gpu, "tied boxes");
    for ((seen, body), expected) in gpu.polyhedra().iter().zip(gpu.bodies()).zip(cpu.polyhedra()) {
        assert_eq!((seen.center, seen.velocity), (body.center, body.velocity));
        assert!(distance(seen.center, expected.center) < 1e-10 * ARM, "{seen:?} {expected:?}");
        let turn: f64 = (0..4).map(|k| (seen.orientation[k] - expected.orientation[k]).abs()).sum();
        assert!(turn < 1e-9, "{seen:?} {expected:?}");
    }
}

#[test]
fn a_clump_that_hits_a_cube_keeps_momentum_and_goes_as_on_the_cpu() {
    let world = clump_that_hits_a_cube();
    let usual = plan_time_step(&world, Scheme::default()).expect("the world is sound").value;
    let started = |settings| Simulation::new(world.clone(), with_step(0.5 * usual, settings)).expect("the world is sound");
    let (mut cpu, mut gpu) = (started(on_cpu()), started(on_gpu(Precision::F64)));
    through_a_collision(&mut cpu);
    let before = gpu.momentum();
    gpu.advance(cpu.steps()).expect("sound steps");
    gpu.observe().expect("a sound state");
    let now = gpu.momentum();
    let momentum = length(before.linear);
    assert!(distance(before.linear, now.linear) < 1e-11 * momentum, "{before:?} {now:?}");
    assert!(distance(before.angular, now.angular) < 1e-11 * 0.1 * momentum, "{before:?} {now:?}");
    let (clump, expected) = (gpu.bodies()[0], cpu.bodies()[0]);
    assert!(length(expected.angular_velocity) > 0.1, "it was hit at its end: {expected:?}");
    assert!(distance(clump.center, expected.center) < 1e-9, "{clump:?} {expected:?}");
    assert!(distance(clump.velocity, expected.velocity) < 1e-8, "{clump:?} {expected:?}");
    assert!(
        distance(clump.angular_velocity, expected.angular_velocity) < 1e-7,
        "{clump:?} {expected:?}"
    );
    let (cube, expected) = (gpu.polyhedra()[0], cpu.polyhedra()[0]);
    assert!(length(expected.velocity) > 1e-3, "the cube was hit: {expected:?}");
    assert!(distance(cube.velocity, expected.velocity) < 1e-8, "{cube:?} {expected:?}");
}

/// A clump above a cube on a floor, and a ball above a cube that hangs beside its center on a hinge; all is rough.
fn above_cubes() -> World {
    let mut world = clump_above_a_cube(0.02);
    let tied = world.grains.len();
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.4, 0.0, 0.2], [0.0; 3]);
    let hinge = Joint::Hinge {
        through: [0.41, 0.0, 0.21],
        axis: [0.0, 1.0, 0.2],
    };
    world.grains.put_on_joint(tied, &world.shapes[0], hinge);
    let ball = world.grains.len() as u32;
    world
        .grains
        .push(ball, [0.43, 0.01, 0.2701], [0.02, 0.0, -0.1], [0.0; 3], 0.02, 0, 0);
    world
}

/// The usual time step of this world \[s\], and the number of steps in which clump and ball come down on the cubes.
fn steps_of(world: &World) -> (f64, u64) {
    let usual = plan_time_step(world, Scheme::default()).expect("the world is sound").value;
    (usual, (0.012 / usual) as u64)
}

#[test]
fn a_clump_on_a_cube_and_a_ball_on_a_hinged_cube_do_the_same_on_cpu_and_gpu() {
    let world = above_cubes();
    let (time_step, steps) = steps_of(&world);
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_step(time_step, settings), steps));
    let (ledger, snapshot) = (cpu.ledger(), cpu.snapshot());
    assert!(ledger.normal_damping > 0.0, "{ledger:?}");
    assert!(
        length(cpu.bodies()[1].angular_velocity) > 0.1 && snapshot.velocity[6][2] > -0.1,
        "{snapshot:?}"
    );
    let found = apart(&snapshot, &gpu.snapshot());
    assert!(found < 1e-7, "{found:e}");
    assert_eq!(cpu.contacts(), gpu.contacts());
    assert_same_ledger(&cpu, &gpu, "bodies beside cubes");
    for (a, b) in cpu.bodies().iter().zip(gpu.bodies()) {
        assert!(
            distance(a.center, b.center) < 1e-9 && distance(a.velocity, b.velocity) < 1e-7,
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn joints_and_clumps_beside_cubes_that_are_resumed_on_a_gpu_keep_their_bits() {
    let world = above_cubes();
    let (time_step, steps) = steps_of(&world);
    let settings = with_step(time_step, on_gpu(Precision::Mixed));
    let mut start = Simulation::new(world.clone(), settings.clone()).expect("the world is sound");
    start.advance(steps / 2).expect("sound steps");
    assert_resumes(&world, &settings, &mut start, 50);
}
