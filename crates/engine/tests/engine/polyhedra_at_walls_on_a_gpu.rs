//! Polyhedral grains at walls on a GPU, against the CPU (software Vulkan suffices; without any adapter these tests fail).

use crate::corners::{prism, put, world};
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::floors::floor;
use crate::polyhedra::rough;
use crate::polyhedra_on_a_gpu::{on_a_plane, with_step};
use crate::vectors::length;
use seixo_engine::Simulation;
use seixo_engine::world::{Precision, Settings, Vec3, Wall, WallShape, World};
use std::f64::consts::PI;

/// The world after so many steps on a CPU and on a GPU, where grains, walls and ledgers have to be the same.
#[track_caller]
fn on_both(world: &World, time_step: f64, steps: u64) -> [Simulation; 2] {
    let on = |settings: Settings| after(world, with_step(time_step, settings), steps);
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(on);
    assert_eq!(cpu.contacts(), gpu.contacts());
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-8, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "grains at walls");
    for (of_cpu, of_gpu) in cpu.walls().iter().zip(gpu.walls()) {
        let apart: Vec3 = [0, 1, 2].map(|k| of_cpu.force[k] - of_gpu.force[k]);
        assert!(
            length(of_cpu.force) > 0.0 && length(apart) < 1e-6 * length(of_cpu.force),
            "{of_cpu:?} {of_gpu:?}"
        );
    }
    [cpu, gpu]
}

/// Sides of the prisms between planes.
const SIDES: u32 = 24;

/// Eight prisms of 48 vertices along x, each with a side on each of eight planes around it. So a block has more vertices than it tests at once, and the
/// limit is between the two ends of a prism at one plane, which have friction. They are so slow that no damping is above the force of a spring.
fn between_planes() -> World {
    let (radius, rounding) = (0.3, 0.1);
    let mut world = world(vec![prism("prism", SIDES, [radius, 0.4], rounding)], rough());
    world.materials[0].youngs_modulus = 1e8;
    let half_side = PI / f64::from(SIDES);
    let distance = radius * half_side.cos() + rounding - 2e-4;
    // From whichever end the planes are taken, vertices of the third one are in both parts.
    for side in [9u32, 12, 15, 0, 3, 18, 21, 6] {
        let (sine, cosine) = (f64::from(2 * side + 1) * half_side).sin_cos();
        world.walls.push(Wall {
            name: format!("side {side}"),
            shape: WallShape::Plane {
                point: [0.0, distance * cosine, distance * sine],
                normal: [0.0, -cosine, -sine],
            },
            ..floor()
        });
    }
    for k in 0..8u32 {
        let place = f64::from(k);
        put(
            &mut world,
            0,
            0.6,
            [2.0 * place, 5e-6 * place, -3e-5],
            [1e-3 + 1e-4 * place, 5e-4, -1e-3],
        );
    }
    world.grains.angular_velocity.iter_mut().for_each(|spin| spin[0] = 2e-3);
    world
}

#[test]
fn vertices_that_a_block_tests_one_part_after_the_other_keep_their_friction_on_a_gpu() {
    let [cpu, gpu] = on_both(&between_planes(), 1e-5, 6);
    let [expected, found] = [&cpu, &gpu].map(|simulation| simulation.ledger().elastic_tangential);
    assert!(expected > 0.0 && (found / expected - 1.0).abs() < 1e-6, "{expected} J, {found} J");
}

/// Cubes on a plane beside spheres: some that touch it, one that falls onto it, and one that touches a cube, too.
fn spheres_beside_cubes() -> World {
    let mut world = on_a_plane();
    let spheres = [
        ([3.7999, 0.0, 0.2999], [0.0, 0.1, 0.0], 0.3),
        ([-1.5, 0.3, 0.1999], [0.2, 0.0, 0.0], 0.2),
        ([-2.5, 0.0, 0.405], [0.0, 0.3, -1.0], 0.4),
        ([1.6, 0.2, 0.2499], [0.0, -0.1, 0.0], 0.25),
    ];
    for (center, velocity, radius) in spheres {
        let id = world.grains.len() as u32;
        world.grains.push(id, center, velocity, [0.0; 3], radius, 0, 0);
    }
    world
}

#[test]
fn spheres_and_cubes_at_one_wall_do_the_same_on_cpu_and_gpu() {
    let [cpu, _] = on_both(&spheres_beside_cubes(), 1e-4, 200);
    assert!(cpu.contacts() > 3, "{} contacts", cpu.contacts());
}
