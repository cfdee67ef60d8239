//! Müller's fluid in vessels of meshes: signed distances on grids hold it as the surfaces that they sample.

use crate::meshes::{block, moved};
use crate::vessels::{G, SPACING, add_distances, cup, cup_distance, fluids, pour, sampled_splash, sides, wall, world};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, Settings, Vec3, Wall, WallMotion, WallShape, World};

fn started(world: World) -> Simulation {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

fn positions(simulation: &Simulation) -> Vec<Vec3> {
    simulation.fluid().unwrap().position
}

/// Distance of a position inside a box with these corners from its nearest side \[m\], or minus that of a position outside.
fn box_distance([low, high]: [Vec3; 2]) -> impl Fn(Vec3) -> f64 {
    move |at: Vec3| {
        let beyond = [0, 1, 2].map(|axis| (low[axis] - at[axis]).max(at[axis] - high[axis]));
        let most = beyond.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let outside = beyond.map(|by| by.max(0.0));
        if most < 0.0 {
            -most
        } else {
            -outside[0].hypot(outside[1]).hypot(outside[2])
        }
    }
}

/// Fluids in a closed box with these corners, which is a mesh with this motion; the samples of its distance are `apart` \[m\].
fn in_box(fluids: Fluids, gravity: f64, corners: [Vec3; 2], motion: WallMotion, apart: f64) -> World {
    let [low, high] = corners;
    let edges = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    let mesh = moved(&block(edges), |at| [0, 1, 2].map(|axis| at[axis] + 0.5 * (low[axis] + high[axis])));
    let vessel = Wall {
        motion,
        ..wall(WallShape::Mesh(mesh))
    };
    let mut world = world(fluids, gravity, None, vec![vessel], vec![false]);
    let band = 2.0 * SPACING;
    let bounds = [low.map(|x| x - band), high.map(|x| x + band)];
    add_distances(&mut world, 0, bounds, apart, box_distance(corners));
    world
}

#[test]
fn a_particle_bounces_in_a_box_of_a_mesh_that_turns_as_between_planes_that_turn() {
    // A distance that is linear is interpolated exactly, so the reflections at flat faces are the same, away from edges.
    let half = 0.2;
    let drop = || {
        let mut drop = fluids(1.0);
        pour(&mut drop, [0, 0, 0], [1, 1, 1]);
        drop.particles.velocity.fill([1.0, 0.1, 0.0]);
        drop
    };
    let motion = || WallMotion {
        velocity: [0.1, 0.0, 0.0],
        angular_velocity: [0.0, 0.0, 0.8],
        ..WallMotion::default()
    };
    let planes = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]].map(|normal: Vec3| Wall {
        motion: motion(),
        ..wall(WallShape::Plane {
            point: normal.map(|x| -half * x),
            normal,
        })
    });
    let mut between_planes = started(world(drop(), 0.0, None, planes.to_vec(), vec![false; 4]));
    let mut in_mesh = started(in_box(drop(), 0.0, [[-half; 3], [half; 3]], motion(), 0.005));
    let before = between_planes.fluid().unwrap().velocity[0];
    let steps = (0.75 / between_planes.time_step().value) as u64;
    for simulation in [&mut between_planes, &mut in_mesh] {
        simulation.advance(steps).unwrap();
    }
    let [expected, found] = [&between_planes, &in_mesh].map(|simulation| simulation.fluid().unwrap());
    // Two reflections.
    assert!((expected.velocity[0][1] - before[1]).abs() > 0.3, "{expected:?}");
    for (one, other) in [(&expected.position, &found.position), (&expected.velocity, &found.velocity)] {
        for (a, b) in one[0].iter().zip(other[0]) {
            assert!((a - b).abs() < 1e-10, "{expected:?} {found:?}");
        }
    }
}

#[test]
fn a_pool_comes_to_the_same_height_in_a_box_of_a_mesh_and_between_planes() {
    let pool = || {
        let mut water = fluids((2.0 * G * 10.0 * SPACING).sqrt());
        pour(&mut water, [0, 0, 0], [8, 8, 10]);
        water
    };
    let side = 8.0 * SPACING;
    let corners = [[0.0; 3], [side, side, 20.0 * SPACING]];
    let heights = [
        world(pool(), G, None, sides([8, 8]), vec![false; 5]),
        in_box(pool(), G, corners, WallMotion::default(), 0.5 * SPACING),
    ]
    .map(|world| {
        let mut simulation = started(world);
        simulation.advance((0.5 / simulation.time_step().value) as u64).unwrap();
        let found = positions(&simulation);
        for x in &found {
            // Edges of a box are rounded by less than half a distance of samples.
            let out = x[..2].iter().map(|x| (-x).max(x - side)).fold(-x[2], f64::max);
            assert!(out < 0.1 * SPACING, "{x:?}");
        }
        found.iter().map(|x| x[2]).sum::<f64>() / found.len() as f64
    });
    // Both keep moving; their means over all particles differ by a part of a spacing.
    assert!((heights[0] - heights[1]).abs() < 0.25 * SPACING, "{heights:?}");
}

#[test]
fn a_cup_of_a_mesh_holds_a_splash() {
    let mut simulation = started(sampled_splash());
    for _ in 0..6 {
        simulation.advance(200).unwrap();
        for x in positions(&simulation) {
            // Trilinear interpolation moves the side by at most h²/(8 R), some thousandths of a spacing. At the edge of the bottom, and where fluid is
            // pressed between walls, a part of the step remains.
            assert!(x[2] > -0.05 * SPACING && x[0].hypot(x[1]) < 0.16 + 0.05 * SPACING, "{x:?}");
        }
    }
}

#[test]
fn water_in_a_vessel_that_moves_evenly_behaves_as_in_one_at_rest() {
    let speed = 0.7;
    let mut moving = sampled_splash();
    for wall in &mut moving.walls {
        wall.motion.velocity = [speed, 0.0, 0.0];
    }
    for velocity in &mut moving.fluids.as_mut().unwrap().particles.velocity {
        velocity[0] += speed;
    }
    let mut simulations = [started(sampled_splash()), started(moving)];
    for simulation in &mut simulations {
        simulation.advance(150).unwrap();
    }
    let way = speed * simulations[0].time_step().value * 150.0;
    let [here, there] = simulations.map(|simulation| simulation.fluid().unwrap());
    let all = here.id.iter().zip(&there.id).zip(here.position.iter().zip(&there.position));
    for ((id, other), (a, b)) in all {
        assert_eq!(id, other);
        let shifted = [a[0] + way, a[1], a[2]];
        let apart = (0..3).map(|axis| (shifted[axis] - b[axis]).abs()).fold(0.0, f64::max);
        // Rounding, which disorder amplifies.
        assert!(apart < 1e-8, "{id}: {a:?} {b:?}");
    }
}

#[test]
fn a_rim_neither_holds_nor_draws_in_what_falls_beside_it() {
    // What falls inside and what falls outside are two worlds: through a wall as thin as a mesh their particles would hold each other.
    let (radius, height) = (0.08, 0.06);
    let dropped = |blocks: &[[[i64; 3]; 2]]| {
        let mut water = fluids(2.0);
        blocks.iter().for_each(|[low, high]| pour(&mut water, *low, *high));
        let start = water.particles.position.clone();
        let mut world = world(water, G, None, vec![cup(radius, height)], vec![false]);
        let band = 2.0 * SPACING + 0.0037;
        let bounds = [
            [-radius - band, -radius - band, -band],
            [radius + band, radius + band, height + band],
        ];
        add_distances(&mut world, 0, bounds, 0.5 * SPACING, cup_distance(radius, height));
        let mut simulation = started(world);
        simulation.advance((0.25 / simulation.time_step().value) as u64).unwrap();
        (start, positions(&simulation), simulation.time())
    };
    let (_, caught, _) = dropped(&[[[-3, -2, 4], [3, 2, 8]]]);
    for x in caught {
        assert!(x[2] > -0.05 * SPACING && x[0].hypot(x[1]) < radius + 0.05 * SPACING, "{x:?}");
    }
    // Columns one particle thick, three eighths of a radius beside the rim. Their particles come down in 25 cm, and are as far apart as before.
    let (start, fallen, time) = dropped(&[[[5, 0, 4], [6, 1, 8]], [[-6, 0, 4], [-5, 1, 8]]]);
    for (from, to) in start.iter().zip(&fallen) {
        assert!((to[0] - from[0]).abs() < 0.1 * SPACING, "{from:?} {to:?}");
    }
    let middle = |all: &[Vec3]| all.iter().map(|x| x[2]).sum::<f64>() / all.len() as f64;
    let (fall, free) = (middle(&start) - middle(&fallen), 0.5 * G * time * time);
    // Explicit Euler falls short by a step over the time.
    assert!((fall / free - 1.0).abs() < 0.02, "{fall} m of {free} m");
}
