//! The broad phase of rigid bodies: possible contacts of bodies, the spheres searched, and results that do not depend on it.

use crate::clumps::{Fill as _, Shape, domain, heap, rod, world};
use crate::devices::on_threads;
use crate::floors::floor;
use crate::pools;
use crate::pools::{G, fluids, tank, water};
use crate::resumed::assert_same_when_resumed;
use seixo_engine::state::State;
use seixo_engine::world::{BodyBoundary, Interaction, LeavingPolicy, Search, Settings, Vec3, WallMotion, World};
use seixo_engine::{BroadPhase, PossibleContacts, Simulation};
use seixo_laws::contact::TangentialLaw;

/// Radius of spheres \[m\]; the default skin is a fifth of it.
pub const RADIUS: f64 = 1e-3;
const UPRIGHT: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

fn found(world: World) -> BroadPhase {
    let simulation = Simulation::new(world, on_threads(2)).expect("the world is sound");
    simulation.broad_phase().expect("there are bodies of several spheres")
}

pub fn near_solids(found: &BroadPhase) -> Vec<bool> {
    found.bodies.iter().map(|body| body.solid).collect()
}

/// A block of touching spheres, `count` along each axis.
fn block(count: usize) -> Shape {
    let place = |k: usize| RADIUS * (2.0 * k as f64 - (count as f64 - 1.0));
    let spheres = (0..count.pow(3)).map(|k| ([k % count, k / count % count, k / count / count].map(place), RADIUS));
    Shape::of(spheres.collect())
}

/// Rods of three spheres along x at these positions, at rest.
fn rods(places: &[Vec3]) -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.grains.clear_and(|grains| {
        for &center in places {
            rod(3, RADIUS).put(grains, center, UPRIGHT, [0.0; 3], [0.0; 3]);
        }
    });
    world
}

/// Pairs of rods, a grain beside a rod, and rods above a floor, each nearer than the skin or farther. The second value is what may have a contact.
pub fn near_and_far() -> (World, [bool; 8]) {
    let (near, far) = (0.5 * 0.2 * RADIUS, 1.5 * 0.2 * RADIUS);
    let side_by_side = |gap: f64| 2.0 * RADIUS + gap;
    let mut world = rods(&[
        [0.0, 0.0, 0.1],
        [0.1, 0.0, 0.1],
        [0.1, side_by_side(near), 0.1],
        [0.2, 0.0, 0.1],
        [0.2, side_by_side(far), 0.1],
        [0.3, 0.0, 0.1],
        [0.4, 0.0, RADIUS + near],
        [0.5, 0.0, RADIUS + far],
    ]);
    world.walls.push(floor());
    let grain = [0.3, 0.0, 0.1 + side_by_side(near)];
    world.grains.push(1000, grain, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    (world, [false, true, true, false, false, true, true, false])
}

/// Asserts the result of the broad phase of [`near_and_far`].
#[track_caller]
pub fn assert_near_and_far(found: &BroadPhase, near: &[bool; 8]) {
    assert_eq!(near_solids(found), near);
    assert_eq!(found.counts(), [4, 0, 4, 0]);
    // Two rods near each other and one near a grain; one near the floor.
    assert_eq!([found.spheres, found.near_grains, found.near_walls], [24, 9, 3]);
}

#[test]
fn bodies_may_touch_what_is_within_the_skin_of_them() {
    let (world, near) = near_and_far();
    assert_near_and_far(&found(world), &near);
}

#[test]
fn bodies_meet_across_periodic_sides_but_not_themselves() {
    let edge = 20.0 * RADIUS;
    let periodic = |places: &[Vec3], is_closed: bool| {
        let mut world = rods(places);
        world.domain = Some(domain([true, true, is_closed], LeavingPolicy::Error, edge));
        world
    };
    let middle = 10.0 * RADIUS;
    // One rod ends a tenth of a radius before the side, the other begins at it.
    let pair = [[16.9 * RADIUS, middle, middle], [3.0 * RADIUS, middle, middle]];
    assert_eq!(near_solids(&found(periodic(&pair, true))), [true, true]);
    let apart = [[16.5 * RADIUS, middle, middle], [3.0 * RADIUS, middle, middle]];
    assert_eq!(near_solids(&found(periodic(&apart, true))), [false, false]);
    let corner = [19.5 * RADIUS; 3];
    assert_eq!(near_solids(&found(periodic(&[corner], true))), [false]);
    // A rod across the side, and a grain beside its middle, seen from either end.
    let mut crossed = periodic(&[[0.0, middle, middle]], true);
    crossed
        .grains
        .push(1000, [19.0 * RADIUS, middle, 12.1 * RADIUS], [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    assert_eq!(near_solids(&found(crossed)), [true]);
    // A rod nearly as long as the domain: its own end is near, but does not count.
    let mut long = periodic(&[], true);
    long.grains
        .clear_and(|grains| rod(9, RADIUS).put(grains, [15.0 * RADIUS, middle, middle], UPRIGHT, [0.0; 3], [0.0; 3]));
    assert_eq!(near_solids(&found(long)), [false]);
    let mut over_floor = periodic(&[[0.0, middle, 1.1 * RADIUS], [0.0, middle, middle]], false);
    over_floor.walls.push(floor());
    assert_eq!(near_solids(&found(over_floor)), [true, false]);
}

#[test]
fn of_a_large_body_spheres_far_from_contact_are_not_looked_up() {
    let body = block(8);
    let mut world = world(TangentialLaw::Mindlin);
    world.walls.push(floor());
    world.grains.clear_and(|grains| {
        body.put(grains, [0.0, 0.0, 8.1 * RADIUS], UPRIGHT, [0.0; 3], [0.0; 3]);
        // At a corner of the upper side.
        let place = [7.0 * RADIUS, 7.0 * RADIUS, 17.2 * RADIUS];
        grains.push(1000, place, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    });
    let found = found(world);
    assert_eq!(near_solids(&found), [true]);
    assert_eq!(found.spheres, 512);
    // At most an octant of the body is near the grain, and its lower half near the floor; at least the closest spheres.
    assert!((1..=64).contains(&found.near_grains), "{found:?}");
    assert!((64..=256).contains(&found.near_walls), "{found:?}");
}

#[test]
fn bodies_with_prescribed_motion_are_looked_up_where_something_is_near_and_touch_no_walls() {
    let row = |has_grain: bool| {
        let mut world = world(TangentialLaw::Mindlin);
        world.walls.push(floor());
        world.grains.clear_and(|grains| {
            rod(64, RADIUS).put(grains, [0.0, 0.0, RADIUS], UPRIGHT, [0.0; 3], [0.0; 3]);
            // A second body that touches the first; no contact forces arise.
            rod(64, RADIUS).put(grains, [0.0, 2.0 * RADIUS, RADIUS], UPRIGHT, [0.0; 3], [0.0; 3]);
            if has_grain {
                let place = [63.0 * RADIUS, 0.0, 3.1 * RADIUS];
                grains.push(1000, place, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
            }
        });
        for body in &mut world.grains.bodies {
            body.motion = Some(WallMotion::default());
        }
        found(world)
    };
    let alone = row(false);
    assert_eq!(near_solids(&alone), [false, false]);
    assert_eq!([alone.near_grains, alone.near_walls], [0, 0]);
    let beside = row(true);
    assert!(near_solids(&beside)[0]);
    assert!((1..=32).contains(&beside.near_grains), "{beside:?}");
    assert_eq!(beside.near_walls, 0);
}

/// Pebbles in a tank of water and above it, alone and in pairs. The second value is what each may touch.
pub fn pebbles() -> (World, [PossibleContacts; 6]) {
    let spacing: f64 = 0.02;
    let fastest = (2.0 * G * 8.0 * spacing).sqrt();
    let mut water = fluids(vec![water(10.0 * fastest)], spacing, 3.0, None);
    water.largest_speed = fastest;
    let bounds = pools::domain([-0.1; 3], [1.0; 3], [false; 3]);
    let mut world = tank(water, [10, 10, 12], [10, 10, 8], 3, Some(bounds));
    world.groups = vec!["pebbles".to_owned()];
    world.materials[0].youngs_modulus = 1e6;
    world.interactions = vec![Some(Interaction::default())];
    let radius = 0.5 * spacing;
    let pebble = Shape::of(vec![([radius, 0.0, 0.0], radius), ([-radius, 0.0, 0.0], radius)]);
    let beside = 2.05 * radius;
    let centers = [
        [0.05, 0.05, 0.09],
        [0.13, 0.05, 0.09],
        [0.13, 0.05 + beside, 0.09],
        [0.05, 0.05, 0.5],
        [0.13, 0.05, 0.5],
        [0.13, 0.05 + beside, 0.5],
    ];
    for center in centers {
        pebble.put(&mut world.grains, center, UPRIGHT, [0.0; 3], [0.0; 3]);
    }
    let fluids = world.fluids.as_mut().expect("a wet world");
    fluids.body_boundaries.extend((0..centers.len() as u32).map(|body| BodyBoundary {
        body,
        offset: vec![[0.0; 3]],
        slips: true,
        radius: Vec::new(),
        volume: Vec::new(),
        suspended: None,
    }));
    // Remove the water in its place.
    let before = std::mem::take(&mut fluids.particles);
    for (place, pressure) in before.position.into_iter().zip(before.pressure) {
        let far_from = |center: &Vec3| (0..3).map(|k| (place[k] - center[k]).powi(2)).sum::<f64>() > (0.75 * spacing).powi(2);
        if centers.iter().all(far_from) {
            pools::drop_in(fluids, place, [0.0; 3], pressure);
        }
    }
    let may = |fluid: bool, solid: bool| PossibleContacts { fluid, solid };
    let (nothing, wet, solid, both) = (may(false, false), may(true, false), may(false, true), may(true, true));
    (world, [wet, both, both, nothing, solid, solid])
}

#[test]
fn bodies_in_a_tank_may_touch_the_fluid_each_other_both_or_nothing() {
    let (world, may) = pebbles();
    let found = found(world);
    assert_eq!(found.bodies, may);
    assert_eq!(found.counts(), [1, 1, 2, 2]);
}

/// Rotating blocks that drift through a periodic box, and one that flies into its neighbor.
pub fn swarm() -> World {
    let (side, spacing) = (3, 14.0 * RADIUS);
    let mut world = world(TangentialLaw::Mindlin);
    world.domain = Some(domain([true; 3], LeavingPolicy::Error, f64::from(side) * spacing));
    let body = block(3);
    world.grains.clear_and(|grains| {
        for k in 0..side * side * side {
            let center = [k % side, k / side % side, k / side / side].map(|c| (f64::from(c) + 0.5) * spacing);
            let angle = 2.4 * f64::from(k);
            let drift = [angle.sin(), (1.3 * angle).cos(), (2.1 * angle).sin()].map(|v| 0.03 * v);
            let velocity = if k == 0 { [0.4, 0.02, 0.03] } else { drift };
            let spin = [30.0 * (1.7 * angle).cos(), 0.0, 15.0];
            body.put(grains, center, UPRIGHT, velocity, spin);
        }
    });
    world
}

/// The states after this many steps, with and without the broad phase.
fn with_and_without(world: &World, settings: &Settings, steps: u64) -> [State; 2] {
    [true, false].map(|broad_phase| {
        let settings = Settings {
            broad_phase: Some(broad_phase),
            ..settings.clone()
        };
        let mut simulation = Simulation::new(world.clone(), settings).expect("the world is sound");
        simulation.advance(steps).expect("sound steps");
        assert_eq!(simulation.broad_phase().is_some(), broad_phase);
        assert!(simulation.rebuilds() > 3);
        simulation.save().expect("a sound state")
    })
}

/// Steps until two bodies have collided, while most others are far from all.
pub fn steps_to_blows(world: &World) -> u64 {
    let mut simulation = Simulation::new(world.clone(), on_threads(1)).expect("the world is sound");
    let start = simulation.broad_phase().expect("there are bodies of several spheres");
    assert_eq!((start.counts(), start.near_grains), ([27, 0, 0, 0], 0));
    while simulation.ledger().normal_damping <= 0.0 {
        assert!(simulation.steps() < 100_000, "no two of them met");
        simulation.advance(20).expect("sound steps");
    }
    let found = simulation.broad_phase().expect("there are bodies of several spheres");
    // Spheres of both bodies, in groups of half a block, and perhaps of others that come near.
    assert!(found.near_grains > 0 && 4 * found.near_grains < found.spheres, "{found:?}");
    simulation.steps() + 300
}

#[test]
fn bodies_in_flight_go_the_same_ways_with_and_without() {
    let world = swarm();
    let steps = steps_to_blows(&world);
    let [with, without] = with_and_without(&world, &on_threads(2), steps);
    assert!(with == without);
    // Between two rebuilds, and with another number of threads.
    assert_same_when_resumed(&world, &on_threads(1), [steps - 137, 200]);
}

#[test]
fn a_heap_is_the_same_with_and_without_however_pairs_are_found() {
    for periodic in [None, Some(LeavingPolicy::Delete)] {
        for search in [Search::Auto, Search::GridMultiCell, Search::SpatialHash] {
            let settings = Settings { search, ..on_threads(1) };
            let [with, without] = with_and_without(&heap(60, periodic), &settings, 3000);
            assert!(with == without, "{periodic:?} {search:?}");
        }
    }
}

#[test]
fn what_is_near_is_known_again_when_a_run_goes_on() {
    let world = swarm();
    let mut straight = Simulation::new(world.clone(), on_threads(1)).expect("the world is sound");
    straight.advance(steps_to_blows(&world)).expect("sound steps");
    let state = straight.save().expect("a sound state");
    let resumed = Simulation::restore(world, on_threads(3), &state).expect("a state of this world");
    assert!(straight.broad_phase().is_some());
    assert_eq!(straight.broad_phase(), resumed.broad_phase());
}

#[test]
fn without_bodies_of_several_spheres_there_is_none() {
    let mut world = world(TangentialLaw::Mindlin);
    world.grains.clear_and(|grains| {
        rod(1, RADIUS).put(grains, [0.0; 3], UPRIGHT, [0.0; 3], [0.0; 3]);
        grains.push(1000, [5.0 * RADIUS; 3], [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    });
    let simulation = Simulation::new(world, on_threads(1)).expect("the world is sound");
    assert_eq!(simulation.broad_phase(), None);
}
