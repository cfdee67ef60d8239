//! Polyhedral grains that displace fluids: a body of its own carries each.

use crate::alike::assert_same;
use crate::blocks::{Block, SPACING, momentum, pool, pushed};
use crate::corners::{UPRIGHT, block};
use crate::domains::{after, among, started};
use crate::ledgers::assert_same_ledger;
use crate::polyhedra::rough;
use crate::resumed::assert_same_when_resumed;
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::world::{PolyhedralGrain, Settings, World};

/// Rounding radius of bricks \[m\]: so large that the spheres around them are small enough for the periodic box, and for three domains.
const ROUNDING: f64 = 0.015;

/// The world with a polyhedral brick of this many spacings in place of the grain of each body. Boundary particles stay as they are.
pub fn with_bricks(mut world: World, cells: &[[i64; 3]]) -> World {
    let bodies = std::mem::take(&mut world.grains).bodies;
    for (id, (body, cells)) in (0u32..).zip(bodies.iter().zip(cells)) {
        let half = cells.map(|n| 0.5 * n as f64 * SPACING - ROUNDING);
        let shape = block("brick", half, ROUNDING);
        let grain = PolyhedralGrain {
            id,
            shape: id,
            radius: half.iter().map(|x| x * x).sum::<f64>().sqrt() + ROUNDING,
            mass: body.mass,
            center: body.center,
            orientation: UPRIGHT,
            velocity: body.velocity,
            angular_velocity: body.angular_velocity,
            material: 0,
            group: 0,
        };
        world.grains.push_polyhedron(&grain);
        assert_eq!(world.grains.put_on_body(id as usize, &shape, None), body.id);
        world.shapes.push(shape);
    }
    world
}

/// A brick that is pushed through water in a periodic box, without gravity.
pub fn pushed_brick() -> World {
    with_bricks(pushed(), &[[4, 3, 4]])
}

/// Two cubes that float in a pool, and press on each other with a face each.
pub fn colliding() -> World {
    let mut world = pool([20, 7, 10], 6, None);
    for (low, velocity) in [([7, 2, 4], [0.1, 0.05, 0.0]), ([10, 2, 4], [-0.1, 0.0, 0.0])] {
        let cube = Block {
            low,
            cells: [3; 3],
            density_ratio: 0.6,
        };
        cube.put(&mut world, velocity, false);
    }
    let mut world = with_bricks(world, &[[3; 3]; 2]);
    world.materials[0].youngs_modulus = 1e7;
    world.interactions = vec![Some(rough())];
    world
}

/// Largest difference of two lists of numbers.
pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn what_a_brick_loses_of_momentum_the_water_gains() {
    for domains in [1, 2] {
        let mut simulation = started(&pushed_brick(), domains);
        let (before, given) = (momentum(&simulation), simulation.bodies()[0]);
        let steps = (0.06 / simulation.time_step().value) as u64;
        simulation.advance(steps).expect("sound steps");
        simulation.observe().expect("a sound state");
        let (after, body) = (momentum(&simulation), simulation.bodies()[0]);
        assert!(apart(&after, &before) < 1e-11 * body.mass, "{before:?} {after:?}");
        assert!(body.velocity[0] < 0.9 * given.velocity[0], "water held nothing: {body:?}");
        // The grain turns with its body.
        assert!(apart(&body.orientation, &UPRIGHT) > 1e-3, "{body:?}");
        let [grain] = simulation.polyhedra()[..] else { panic!("one brick") };
        assert!(apart(&grain.orientation, &body.orientation) < 1e-12, "{grain:?} {body:?}");
    }
}

#[test]
fn a_brick_as_dense_as_water_stays_where_it_is_in_water_at_rest() {
    let mut world = pushed();
    let body = &mut world.grains.bodies[0];
    body.mass *= 0.5;
    (body.velocity, body.angular_velocity) = ([0.0; 3], [0.0; 3]);
    let mut simulation = started(&with_bricks(world, &[[4, 3, 4]]), 1);
    let before = simulation.bodies()[0];
    simulation.advance(200).expect("sound steps");
    let body = simulation.bodies()[0];
    // The pressure is the same on all sides, so its sum is zero up to rounding.
    assert!(apart(&body.velocity, &[0.0; 3]) < 1e-9, "{body:?}");
    assert!(apart(&body.angular_velocity, &[0.0; 3]) < 1e-7, "{body:?}");
    assert!(apart(&body.center, &before.center) < 1e-9, "{body:?}");
}

#[test]
fn the_velocity_of_a_brick_in_water_can_be_set() {
    let mut simulation = started(&pushed_brick(), 1);
    simulation.advance(20).expect("sound steps");
    let before = simulation.bodies()[0];
    simulation.set_velocity_of(0, [0.0, 0.0, 0.5]).expect("a possible change");
    let body = simulation.bodies()[0];
    assert!(apart(&body.velocity, &[0.0, 0.0, 0.5]) < 1e-9, "{body:?}");
    assert!(
        apart(&body.angular_velocity, &before.angular_velocity) < 1e-9,
        "{before:?} {body:?}"
    );
}

/// Asserts that two simulations have the same grains, bodies and fluid, to the bit.
#[track_caller]
pub fn assert_alike(whole: &mut Simulation, other: &mut Simulation, what: &str) {
    assert_same(whole, other, what);
    assert_same_ledger(whole, other, what);
    assert_eq!(whole.polyhedra(), other.polyhedra(), "{what}");
    assert_eq!(whole.bodies(), other.bodies(), "{what}");
    assert_eq!(whole.fluid(), other.fluid(), "{what}");
    assert_eq!(whole.loads_of_fluids_on_bodies(), other.loads_of_fluids_on_bodies(), "{what}");
}

#[test]
fn floating_cubes_that_collide_are_the_same_in_any_number_of_domains_and_after_a_resume() {
    let (world, steps, later) = (colliding(), 200, 60);
    let mut whole = after(&world, 1, steps);
    assert!(whole.ledger().normal_damping > 0.0, "no contact: {:?}", whole.ledger());
    let mut saved = Vec::new();
    for domains in [2, 3] {
        let mut decomposed = after(&world, domains, steps);
        assert_alike(&mut whole, &mut decomposed, &format!("{domains} domains"));
        saved.push((domains, decomposed.save().expect("a sound state")));
    }
    whole.advance(later).expect("sound steps");
    whole.observe().expect("a sound state");
    for (domains, state) in saved {
        let others = if domains == 2 { 3 } else { 1 };
        let mut resumed = Simulation::restore(world.clone(), among(others), &state).expect("the state fits");
        resumed.advance(later).expect("sound steps");
        resumed.observe().expect("a sound state");
        assert_alike(&mut whole, &mut resumed, &format!("from {domains} to {others} domains"));
    }
}

#[test]
fn cubes_that_collide_in_incompressible_water_are_the_same_in_two_domains() {
    let world = incompressible(colliding());
    let mut whole = after(&world, 1, 60);
    let [push, _] = whole.loads_of_fluids_on_bodies()[0];
    assert!(push[2] > 0.1, "water lifts nothing: {push:?}");
    assert_alike(&mut whole, &mut after(&world, 2, 60), "two domains");
}

#[test]
fn floating_cubes_go_on_from_a_checkpoint_on_more_threads() {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    assert_same_when_resumed(&colliding(), &settings, [200, 50]);
}

#[test]
fn a_mass_that_is_not_that_of_the_body_is_refused() {
    let mut world = pushed_brick();
    world.grains.bodies[0].mass *= 2.0;
    let refused = Simulation::new(world, Settings::default()).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("that of the rigid body that carries it"), "{refused}");
}
