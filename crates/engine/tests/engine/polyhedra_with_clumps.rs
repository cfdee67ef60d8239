//! Clumps that move freely beside polyhedral grains.

use crate::clumps::{Shape, rod};
use crate::corners::{UPRIGHT, about, put, through_a_collision, world};
use crate::devices::{on_threads, started};
use crate::floors::floor;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough};
use crate::resumed::assert_same_when_resumed;
use crate::vectors::{distance, length};
use seixo_engine::world::{Interaction, Scheme, Settings, World};
use seixo_engine::{Simulation, plan_time_step};

/// A cube of a decimeter on a floor, and a clump of four spheres just above it.
pub fn clump_above_a_cube(radius: f64) -> World {
    let mut world = world(vec![cube()], rough());
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(floor());
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.0, 0.0, 0.05], [0.0; 3]);
    let height = 0.1 + height_of_clump(radius) + 1e-4;
    Shape::tetrahedron(radius).put(&mut world.grains, [0.0, 0.0, height], UPRIGHT, [0.0; 3], [0.0; 3]);
    world
}

/// Height of the center of a clump of four spheres on a plane \[m\].
fn height_of_clump(radius: f64) -> f64 {
    radius * (1.0 + 1.0 / 6f64.sqrt())
}

#[test]
fn a_clump_that_falls_onto_a_cube_comes_to_rest_on_it() {
    let radius = 0.02;
    let mut simulation = started(clump_above_a_cube(radius));
    let steps = 0.5 / simulation.time_step().value;
    simulation.advance(steps as u64).expect("sound steps");
    let (clump, block, ledger) = (simulation.bodies()[0], simulation.polyhedra()[0], simulation.ledger());
    let height = 0.1 + height_of_clump(radius);
    assert!((clump.center[2] - height).abs() < 1e-3, "{clump:?} {height}");
    assert!(clump.center[0].abs() < 1e-4 && clump.center[1].abs() < 1e-4, "{clump:?}");
    assert!(
        length(clump.velocity) < 2e-3 && length(block.velocity) < 2e-3,
        "{clump:?} {block:?}"
    );
    // Three spheres on the cube, which is on the floor.
    assert!(simulation.contacts() >= 3, "{}", simulation.contacts());
    assert!(ledger.residual.abs() < 0.1 * ledger.normal_damping, "{ledger:?}");
}

/// Speed of the clump that hits a cube \[m/s\].
const SPEED: f64 = 0.05;

/// A smooth cube of a decimeter at rest, and a rod that flies to it: its last sphere hits an edge.
pub fn clump_that_hits_a_cube() -> World {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.0; 3], [0.0; 3]);
    let orientation = about([0.0, 1.0, 0.0], 0.4);
    rod(3, 0.02).put(&mut world.grains, [0.02, 0.01, 0.0825], orientation, [0.0, 0.0, -SPEED], [0.0; 3]);
    world
}

#[test]
fn a_clump_and_a_cube_that_collide_keep_momentum_and_energy() {
    let world = clump_that_hits_a_cube();
    let usual = plan_time_step(&world, Scheme::default()).expect("the world is sound").value;
    let settings = Settings {
        time_step: Some(usual / 8.0),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let (before, energy) = (simulation.momentum(), simulation.ledger().kinetic);
    through_a_collision(&mut simulation);
    let (after, ledger) = (simulation.momentum(), simulation.ledger());
    let momentum = length(before.linear);
    assert!(distance(before.linear, after.linear) < 1e-11 * momentum, "{before:?} {after:?}");
    assert!(
        distance(before.angular, after.angular) < 1e-11 * 0.1 * momentum,
        "{before:?} {after:?}"
    );
    let moving = ledger.kinetic + ledger.rotational;
    assert!((moving / energy - 1.0).abs() < 1e-3, "{energy} J became {moving} J");
    assert!(ledger.rotational > 1e-3 * energy, "{ledger:?}");
    assert!(length(simulation.polyhedra()[0].velocity) > 0.02 * SPEED, "the cube was hit");
}

#[test]
fn a_run_with_a_clump_on_a_cube_resumes_with_the_same_bits() {
    assert_same_when_resumed(&clump_above_a_cube(0.02), &on_threads(1), [700, 500]);
}
