//! Polyhedral grains in fluids on a GPU: against physics, and against the CPU (software Vulkan suffices; without any adapter these tests fail).

use crate::blocks::{momentum, pool};
use crate::corners::{UPRIGHT, put};
use crate::devices::{after, on_cpu, on_gpu};
use crate::domains_on_a_gpu;
use crate::polyhedra::cube;
use crate::polyhedra_floating::{apart, assert_alike, colliding, pushed_brick};
use crate::pools::G;
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::world::{Interaction, Precision};

#[test]
fn a_brick_goes_the_same_way_through_water_on_cpu_and_gpu() {
    for (world, steps) in [(pushed_brick(), 60), (incompressible(pushed_brick()), 12)] {
        let start = world.grains.bodies[0].clone();
        let [here, there] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, settings, steps));
        let (a, b) = (here.bodies()[0], there.bodies()[0]);
        let (way, slowed) = (apart(&a.center, &start.center), apart(&a.velocity, &start.velocity));
        assert!(way > 0.0 && slowed > 0.01, "{a:?}");
        assert!(apart(&a.center, &b.center) < 1e-8 * way, "{a:?} {b:?}");
        assert!(apart(&a.velocity, &b.velocity) < 1e-8 * slowed, "{a:?} {b:?}");
        assert!(apart(&a.angular_velocity, &b.angular_velocity) < 1e-7, "{a:?} {b:?}");
        // The grain is where its body is, and turns with it.
        let [grain] = there.polyhedra()[..] else { panic!("one brick") };
        assert!(apart(&grain.center, &b.center) < 1e-12, "{grain:?} {b:?}");
        assert!(apart(&grain.orientation, &UPRIGHT) > 1e-3, "{grain:?}");
        assert!(apart(&grain.orientation, &b.orientation) < 1e-12, "{grain:?} {b:?}");
    }
}

#[test]
fn what_a_brick_loses_of_momentum_the_water_gains_on_a_gpu() {
    let mut simulation = Simulation::new(pushed_brick(), on_gpu(Precision::F64)).expect("the world is sound");
    let (before, given, start) = (momentum(&simulation), simulation.bodies()[0], simulation.ledger());
    // In several parts: an observation in between changes nothing.
    for steps in [1, 25, 34] {
        simulation.advance(steps).expect("sound steps");
        simulation.observe().expect("a sound state");
    }
    let (end, body, ledger) = (momentum(&simulation), simulation.bodies()[0], simulation.ledger());
    assert!(apart(&end, &before) < 1e-11 * body.mass, "{before:?} {end:?}");
    assert!(body.velocity[0] < given.velocity[0] - 0.01, "water held nothing: {body:?}");
    assert!((ledger.residual - start.residual).abs() < 2e-3 * start.kinetic, "{ledger:?}");
}

#[test]
fn water_passes_through_a_cube_that_displaces_none_on_a_gpu() {
    let mut world = pool([6; 3], 3, None);
    world.groups = vec!["stones".into()];
    world.shapes = vec![cube()];
    world.interactions = vec![Some(Interaction::default())];
    world.materials[0].youngs_modulus = 1e6;
    let height = 0.04;
    put(&mut world, 0, 0.02, [0.06, 0.06, height], [0.0; 3]);
    let simulation = after(&world, on_gpu(Precision::F64), 60);
    let fallen = 0.5 * G * simulation.time().powi(2);
    assert!(fallen > 1e-6, "{fallen} m");
    let [grain] = simulation.polyhedra()[..] else { panic!("one cube") };
    assert!((height - grain.center[2] - fallen).abs() < 1e-9 * height, "{grain:?} {fallen} m");
}

#[test]
fn floating_cubes_that_collide_are_the_same_in_two_domains_on_a_gpu() {
    for (world, steps) in [(colliding(), 80), (incompressible(colliding()), 20)] {
        let [mut whole, mut divided] = [1, 2].map(|domains| domains_on_a_gpu::after(&world, domains, Precision::Mixed, steps));
        let [push, _] = whole.loads_of_fluids_on_bodies()[0];
        assert!(push[2] > 0.1, "water lifts nothing: {push:?}");
        assert!(whole.ledger().normal_damping > 0.0, "no contact: {:?}", whole.ledger());
        assert_alike(&mut whole, &mut divided, "two domains");
    }
}
