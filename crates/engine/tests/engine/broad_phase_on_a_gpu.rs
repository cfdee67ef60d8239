//! The broad phase of bodies on the cores beside a GPU: its result, and results that do not depend on it (software Vulkan suffices; without any adapter
//! these tests fail).

use crate::bodies_in_muller::compressed_splash;
use crate::broad_phase::{RADIUS, assert_near_and_far, near_and_far, pebbles, steps_to_blows, swarm};
use crate::clumps::heap;
use crate::devices::{on_gpu, with_default_skin};
use crate::on_gpus::among;
use crate::resumed::{assert_same, assert_same_when_resumed};
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::world::{LeavingPolicy, Precision, Search, Settings, WallMotion, World};

/// On a GPU, with the broad phase on the cores.
fn split(precision: Precision) -> Settings {
    Settings {
        broad_phase: Some(true),
        threads: 2,
        ..on_gpu(precision)
    }
}

/// Asserts that a world has the same bits after some steps with and without the broad phase, which does not choose the skin. Returns the simulation with
/// it.
#[track_caller]
fn assert_same_with_and_without(world: &World, settings: &Settings, steps: u64) -> Simulation {
    let settings = &with_default_skin(world, settings.clone());
    let [mut with, mut without] = [settings.broad_phase, None].map(|broad_phase| {
        let settings = Settings {
            broad_phase,
            ..settings.clone()
        };
        let mut simulation = Simulation::new(world.clone(), settings).expect("the world is sound");
        simulation.advance(steps).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    });
    assert!(with.broad_phase().is_some() && without.broad_phase().is_none());
    assert_eq!(with.rebuilds(), without.rebuilds());
    assert!(with.rebuilds() > 1, "{}", with.rebuilds());
    let (a, b) = (with.save().expect("a sound state"), without.save().expect("a sound state"));
    assert_same(&a, &b, &format!("{settings:?}"));
    with
}

#[test]
fn bodies_that_drift_together_keep_the_contacts_that_they_may_have() {
    let (mut world, near) = near_and_far();
    // A sphere moves by half the skin in some hundred steps, past nothing.
    let velocity = [0.1, 0.0, 0.0];
    world.grains.velocity.fill(velocity);
    world.grains.bodies.iter_mut().for_each(|body| body.velocity = velocity);
    for precision in [Precision::F64, Precision::F32] {
        let mut simulation = Simulation::new(world.clone(), split(precision)).expect("the world is sound");
        let before = simulation.rebuilds();
        while simulation.rebuilds() < before + 2 {
            assert!(simulation.steps() < 100_000);
            simulation.advance(50).expect("sound steps");
        }
        simulation.observe().expect("a sound state");
        assert!(simulation.bodies()[0].center[0] > 0.1 * RADIUS);
        assert_near_and_far(&simulation.broad_phase().expect("the cores look"), &near);
    }
}

#[test]
fn bodies_that_fall_into_a_tank_may_touch_the_fluid_each_other_both_or_nothing() {
    let (world, may) = pebbles();
    let mut simulation = Simulation::new(world, split(Precision::F64)).expect("the world is sound");
    simulation.observe().expect("a sound state");
    let found = simulation.broad_phase().expect("the cores look");
    assert_eq!(found.bodies, may);
    assert_eq!(found.counts(), [1, 1, 2, 2]);
    let height = |simulation: &Simulation| simulation.bodies()[3].center[2];
    let start = height(&simulation);
    // By a skin: the lists were rebuilt.
    while start - height(&simulation) < 2e-3 {
        assert!(simulation.steps() < 100_000);
        simulation.advance(5).expect("sound steps");
        simulation.observe().expect("a sound state");
    }
    let found = simulation.broad_phase().expect("the cores look");
    for (k, (found, may)) in found.bodies.iter().zip(&may).enumerate() {
        assert_eq!(found.fluid, may.fluid, "body {k}");
        // Water may push the pair in it apart.
        assert!(found.solid == may.solid || may.fluid, "body {k}: {found:?}");
    }
}

#[test]
fn a_heap_is_the_same_with_and_without_on_a_gpu() {
    for (leaving, precision, search) in [
        (None, Precision::Mixed, Search::Auto),
        (None, Precision::F64, Search::SpatialHash),
        (Some(LeavingPolicy::Error), Precision::F32, Search::Auto),
        (Some(LeavingPolicy::Delete), Precision::F64, Search::Auto),
    ] {
        let mut world = heap(60, leaving);
        // Every tenth body stays where it is.
        for body in world.grains.bodies.iter_mut().step_by(10) {
            body.motion = Some(WallMotion::default());
            (body.velocity, body.angular_velocity) = ([0.0; 3], [0.0; 3]);
        }
        let settings = Settings {
            search,
            ..split(precision)
        };
        let simulation = assert_same_with_and_without(&world, &settings, 1600);
        assert!(simulation.contacts() > 0, "{leaving:?}");
    }
}

#[test]
fn few_spheres_of_bodies_in_flight_are_searched_and_the_bits_stay() {
    let world = swarm();
    let steps = steps_to_blows(&world);
    let simulation = assert_same_with_and_without(&world, &split(Precision::Mixed), steps);
    assert!(simulation.ledger().normal_damping > 0.0);
    let found = simulation.broad_phase().expect("the cores look");
    assert!(2 * found.near_grains < found.spheres, "{found:?}");
}

#[test]
fn bodies_and_fluids_are_the_same_with_and_without() {
    for (world, precision, steps) in [
        (compressed_splash(), Precision::Mixed, 150),
        (pebbles().0, Precision::Mixed, 150),
        (pebbles().0, Precision::F32, 150),
        (incompressible(pebbles().0), Precision::F64, 30),
    ] {
        assert_same_with_and_without(&world, &split(precision), steps);
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits() {
    assert_same_when_resumed(&heap(60, None), &split(Precision::Mixed), [773, 400]);
}

#[test]
fn domains_on_gpus_refuse_the_broad_phase_on_the_cores() {
    let settings = Settings {
        broad_phase: Some(true),
        ..among(2, Precision::Mixed)
    };
    let refused = Simulation::new(heap(60, None), settings).err().expect("a refusal").to_string();
    assert!(refused.contains("broad phase of rigid bodies"), "{refused}");
}
