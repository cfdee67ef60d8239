//! Rigid bodies of grains: tests against physics.

use crate::clumps::{Fill as _, Shape, domain, heap, rod, world};
use crate::devices::{on_threads, started};
use crate::floors::floor;
use crate::vectors::{distance, dot};
use seixo_engine::Simulation;
use seixo_engine::world::{LeavingPolicy, Settings, Vec3, World};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

fn one_sphere(radius: f64) -> Shape {
    Shape::of(vec![([0.0; 3], radius)])
}

/// Two spheres along x, `half` from the middle.
fn dumbbell(radius: f64, half: f64) -> Shape {
    Shape::of(vec![([half, 0.0, 0.0], radius), ([-half, 0.0, 0.0], radius)])
}

/// Advances until all contacts have ended.
fn through_a_collision(simulation: &mut Simulation) {
    let mut has_touched = false;
    for _ in 0..2_000_000 {
        simulation.step().expect("a sound step");
        let wall_contacts = simulation.contacts() > 0;
        if has_touched && !wall_contacts {
            return;
        }
        has_touched |= wall_contacts;
    }
    panic!("no collision, or one without end");
}

/// A free top in the frame of its principal axes.
fn top(dt: f64, end: f64) -> (Vec3, f64, f64) {
    let mut world = world(TangentialLaw::None);
    let mut shape = one_sphere(0.1);
    (shape.mass, shape.moments) = (1.0, [1.0, 2.0, 3.0]);
    world
        .grains
        .clear_and(|grains| shape.put(grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.01, 1.0, 0.0]));
    let settings = Settings {
        time_step: Some(dt),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    simulation.advance((end / dt).round() as u64).expect("sound steps");
    let body = simulation.bodies()[0];
    let energy = 2.0 * simulation.ledger().rotational;
    (body.angular_velocity, energy, dot(body.angular_momentum, body.angular_momentum))
}

#[test]
fn a_free_top_is_followed_to_second_order() {
    let [coarse, middle, fine] = [4e-4, 2e-4, 1e-4].map(|dt| top(dt, 12.0).0);
    let ratio = distance(coarse, middle) / distance(middle, fine);
    assert!((ratio - 4.0).abs() < 0.2, "halving the step divides the error by {ratio}");
}

#[test]
fn a_free_top_keeps_angular_momentum_and_energy() {
    let (_, energy, square) = top(4e-4, 40.0);
    assert!((square / 4.0001 - 1.0).abs() < 1e-13, "L² = {square}");
    // The energy of a symplectic scheme oscillates by a share of (ω Δt)² and does not drift.
    assert!((energy / 2.0001 - 1.0).abs() < 1e-7, "2T = {energy}");
}

#[test]
fn one_sphere_as_a_body_is_a_grain() {
    let falling = |as_body: bool| {
        let mut world = world(TangentialLaw::Mindlin);
        world.gravity = [0.3, 0.0, -9.81];
        world.walls.push(floor());
        let shape = one_sphere(1e-3);
        let (at, velocity, spin) = ([0.0, 0.0, 1.2e-3], [0.2, 0.0, -0.5], [30.0, -20.0, 10.0]);
        world.grains.clear_and(|grains| {
            if as_body {
                shape.put(grains, at, [1.0, 0.0, 0.0, 0.0], velocity, spin);
            } else {
                grains.push(0, at, velocity, spin, 1e-3, 0, 0);
            }
        });
        let mut simulation = started(world);
        simulation.advance(20_000).expect("sound steps");
        (simulation.snapshot(), simulation.ledger(), simulation.momentum())
    };
    let ((grain, ledger, momentum), (body, of_body, its_momentum)) = (falling(false), falling(true));
    // Rounding of some hundred thousand steps, which contacts amplify.
    assert!(
        distance(grain.position[0], body.position[0]) < 1e-11,
        "{:?} {:?}",
        grain.position,
        body.position
    );
    assert!(distance(grain.velocity[0], body.velocity[0]) < 1e-9);
    assert!(distance(grain.angular_velocity[0], body.angular_velocity[0]) < 1e-6);
    assert!((ledger.kinetic - of_body.kinetic).abs() < 1e-8 * ledger.initial.abs());
    assert!((ledger.rotational - of_body.rotational).abs() < 1e-8 * ledger.initial.abs());
    assert!(distance(momentum.angular, its_momentum.angular) < 1e-13);
    assert_eq!(grain.mass.len(), 1);
    assert!((grain.mass[0] / body.mass[0] - 1.0).abs() < 1e-12);
}

#[test]
fn two_bodies_collide_and_lose_nothing() {
    let mut world = world(TangentialLaw::None);
    world.interactions[0].as_mut().expect("one").restitution = 1.0;
    world.grains.clear_and(|grains| {
        let turned = [0.8, 0.6 * 0.6, 0.6 * 0.8, 0.0];
        rod(3, 1e-3).put(grains, [0.0; 3], turned, [0.3, 0.1, 0.0], [5.0, -3.0, 8.0]);
        dumbbell(1.2e-3, 1.1e-3).put(
            grains,
            [6e-3, 0.9e-3, 0.5e-3],
            [0.6, 0.0, 0.0, 0.8],
            [-0.4, 0.0, 0.1],
            [0.0, 20.0, -7.0],
        );
    });
    let fine = Settings {
        time_step: Some(0.25 * started(world.clone()).time_step().value),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, fine).expect("the world is sound");
    let (before, energy) = (simulation.momentum(), simulation.ledger());
    let spins: Vec<Vec3> = simulation.bodies().iter().map(|body| body.angular_velocity).collect();
    through_a_collision(&mut simulation);
    let (after, left) = (simulation.momentum(), simulation.ledger());
    let changed = simulation
        .bodies()
        .iter()
        .zip(&spins)
        .any(|(body, spin)| distance(body.angular_velocity, *spin) > 1.0);
    assert!(changed, "the blow is off center");
    let scale = simulation.bodies()[0].mass * 0.4;
    assert!(distance(before.linear, after.linear) < 1e-12 * scale);
    assert!(
        distance(before.angular, after.angular) < 1e-12 * scale * 3e-3,
        "{:?} {:?}",
        before.angular,
        after.angular
    );
    let [then, now] = [energy, left].map(|ledger| ledger.kinetic + ledger.rotational);
    // Second order in the time step; a collision takes some two hundred steps.
    assert!((now / then - 1.0).abs() < 5e-6, "energy changed by {:e}", now / then - 1.0);
}

#[test]
fn a_dumbbell_that_hits_a_plane_off_center_gets_the_impulse_of_rigid_bodies() {
    let mut world = world(TangentialLaw::None);
    world.interactions[0].as_mut().expect("one").restitution = 1.0;
    world.materials[0].youngs_modulus = 1e9;
    world.walls.push(floor());
    let (radius, half) = (1e-3, 1.5e-3);
    let shape = dumbbell(radius, half);
    // Inclined by 30° to the horizontal in the plane of x and z; the axis of the body is x.
    let lean = std::f64::consts::FRAC_PI_6;
    let turn = [(0.5 * lean).cos(), 0.0, (0.5 * lean).sin(), 0.0];
    let speed = 0.02;
    let height = radius + half * lean.sin() + 1e-6;
    world
        .grains
        .clear_and(|grains| shape.put(grains, [0.0, 0.0, height], turn, [0.0, 0.0, -speed], [0.0; 3]));
    let mut simulation = started(world);
    through_a_collision(&mut simulation);
    let body = simulation.bodies()[0];
    // The sphere on the side of +x is lower: the impulse J on it rotates the body about −y.
    let arm = half * lean.cos();
    let impulse = 2.0 * speed / (1.0 / shape.mass + arm * arm / shape.moments[1]);
    let rises = impulse / shape.mass - speed;
    let turns = arm * impulse / shape.moments[1];
    // The collision has a finite duration, in which the body rotates by some 1e-4.
    assert!((body.velocity[2] - rises).abs() < 2e-3 * speed, "{} {rises}", body.velocity[2]);
    assert!(
        (body.angular_velocity[1].abs() / turns - 1.0).abs() < 2e-3,
        "{:?} {turns}",
        body.angular_velocity
    );
    assert!(body.angular_velocity[1] < 0.0);
    assert!(body.velocity[0].abs() < 1e-12 && body.angular_velocity[0].abs() < 1e-6 * turns);
}

#[test]
fn a_rod_that_falls_flat_rises_flat_and_a_leaning_one_tumbles() {
    let fallen = |lean: f64| {
        let mut world = world(TangentialLaw::None);
        let pair = world.interactions[0].as_mut().expect("one");
        (pair.normal, pair.stiffness, pair.restitution) = (NormalLaw::Linear, Some(1e4), 0.8);
        world.walls.push(floor());
        let turn = [(0.5 * lean).cos(), 0.0, (0.5 * lean).sin(), 0.0];
        let height = 1e-3 + 2e-3 * lean.sin() + 1e-6;
        world
            .grains
            .clear_and(|grains| rod(3, 1e-3).put(grains, [0.0, 0.0, height], turn, [0.0, 0.0, -0.05], [0.0; 3]));
        let mut simulation = started(world);
        through_a_collision(&mut simulation);
        simulation.bodies()[0]
    };
    let flat = fallen(0.0);
    // Each of the three contacts has the dashpot of the whole body: three springs and dashpots in parallel have √3 times the ζ of one.
    let decay = 0.8f64.ln().abs();
    let ratio = 3f64.sqrt() * decay / (decay * decay + std::f64::consts::PI.powi(2)).sqrt();
    let root = (1.0 - ratio * ratio).sqrt();
    // The contact ends when its force vanishes [Schwager 2007].
    let expected = (-ratio / root * (std::f64::consts::PI - (2.0 * ratio * root).atan2(2.0 * ratio * ratio - 1.0))).exp();
    let full = (-ratio / root * std::f64::consts::PI).exp();
    let reached = flat.velocity[2] / 0.05;
    let (low, high) = (expected.min(full), expected.max(full));
    assert!(
        reached > low - 0.01 && reached < high + 0.01,
        "rises with {reached} of {low} to {high}"
    );
    assert!(dot(flat.angular_velocity, flat.angular_velocity).sqrt() < 1e-9 * 0.05 / 1e-3);
    let leaning = fallen(0.1);
    assert!(leaning.velocity[2] < 0.5 * flat.velocity[2]);
    assert!(leaning.angular_velocity[1] < -1.0);
}

#[test]
fn a_body_rests_on_a_plane_without_drift() {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.5, 0.2, -9.81];
    world.walls.push(floor());
    world.grains.clear_and(|grains| {
        Shape::tetrahedron(1e-3).put(grains, [0.0, 0.0, 1.70e-3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
    });
    let mut simulation = started(world);
    let dt = simulation.time_step().value;
    simulation.advance((0.3 / dt) as u64).expect("sound steps");
    let before = simulation.bodies()[0];
    simulation.advance((0.3 / dt) as u64).expect("sound steps");
    let after = simulation.bodies()[0];
    assert_eq!(simulation.contacts(), 3);
    assert!(
        distance(before.center, after.center) < 1e-12,
        "crept by {:e} m",
        distance(before.center, after.center)
    );
    let turned: f64 = before.orientation.iter().zip(after.orientation).map(|(a, b)| a * b).sum();
    assert!((turned.abs() - 1.0).abs() < 1e-15);
    let floor = &simulation.walls()[0];
    let weight = after.mass * 9.81;
    assert!((floor.force[2] / -weight - 1.0).abs() < 1e-9, "bears {:?} of {weight}", floor.force);
}

#[test]
fn the_ledger_of_a_heap_balances() {
    let mut simulation = started(heap(40, None));
    simulation.advance(20_000).expect("sound steps");
    let ledger = simulation.ledger();
    assert!(ledger.friction > 0.0 && ledger.normal_damping > 0.0);
    // The power of a collision is summed over some forty steps, accurate to a thousandth, as for single grains.
    assert!(ledger.residual.abs() < 1e-3 * ledger.initial, "{ledger:?}");
}

#[test]
fn points_of_bodies_are_where_their_grains_are() {
    let world = heap(40, None);
    let mut simulation = started(world.clone());
    simulation.advance(2000).expect("sound steps");
    let grains = simulation.snapshot();
    let bodies = simulation.bodies();
    assert_eq!(simulation.bodies_now().as_ref(), Some(&bodies));
    for (body, given) in bodies.iter().zip(&world.grains.bodies) {
        assert!(body.orientation != given.orientation, "it has turned");
        for (id, offset) in &given.carries {
            let away = distance(body.place(*offset), grains.position[*id as usize]);
            assert!(away < 1e-15, "{away:e}");
        }
    }
}

#[test]
fn a_heap_is_the_same_on_any_number_of_threads() {
    let states = [1, 2, 3].map(|threads| {
        let mut simulation = Simulation::new(heap(400, None), on_threads(threads)).expect("the world is sound");
        simulation.advance(600).expect("sound steps");
        simulation.save().expect("a sound state")
    });
    assert!(states[0] == states[1] && states[0] == states[2]);
}

#[test]
fn going_on_from_a_saved_heap_is_the_same_to_the_bit() {
    for periodic in [None, Some(LeavingPolicy::Delete)] {
        let world = heap(60, periodic);
        let mut straight = started(world.clone());
        straight.advance(1500).expect("sound steps");
        let state = straight.save().expect("a sound state");
        let mut resumed = Simulation::restore(world, on_threads(2), &state).expect("a state of this world");
        assert!(resumed.save().expect("a sound state") == state, "what was read is what was written");
        straight.advance(1500).expect("sound steps");
        resumed.advance(1500).expect("sound steps");
        assert!(straight.save().expect("a sound state") == resumed.save().expect("a sound state"));
        assert!(straight.rebuilds() > 3);
    }
}

#[test]
fn bodies_cross_periodic_sides_as_if_there_were_none() {
    let moved = |by: f64| {
        let mut world = world(TangentialLaw::Mindlin);
        world.domain = Some(domain([true, true, true], LeavingPolicy::Error, 2e-2));
        world.grains.clear_and(|grains| {
            rod(3, 1e-3).put(grains, [by, 4e-3, 4e-3], [0.8, 0.0, 0.6, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 300.0]);
            rod(3, 1e-3).put(
                grains,
                [(by + 8e-3) % 2e-2, 4.4e-3, 4.2e-3],
                [0.6, 0.0, 0.0, 0.8],
                [-1.0, 0.0, 0.0],
                [0.0; 3],
            );
        });
        let mut simulation = started(world);
        simulation.advance(3000).expect("sound steps");
        simulation.bodies()
    };
    let (middle, across) = (moved(6e-3), moved(17e-3));
    assert!(middle[0].velocity[0] < 0.5, "they met");
    for (a, b) in middle.iter().zip(&across) {
        let shift = (b.center[0] - a.center[0] - 11e-3) / 2e-2;
        assert!((shift - shift.round()).abs() < 1e-9, "{shift}");
        assert!(distance(a.velocity, b.velocity) < 1e-9 && distance(a.angular_velocity, b.angular_velocity) < 1e-6);
        assert!((0.0..2e-2).contains(&b.center[0]) || shift.abs() < 2.0);
    }
}

#[test]
fn a_body_leaves_as_a_whole_when_its_center_does() {
    let mut world = world(TangentialLaw::Mindlin);
    world.domain = Some(domain([false; 3], LeavingPolicy::Delete, 1e-2));
    world.grains.clear_and(|grains| {
        rod(3, 1e-3).put(grains, [7e-3, 5e-3, 5e-3], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]);
        rod(3, 1e-3).put(grains, [4e-3, 8e-3, 2e-3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        grains.push(100, [2e-3; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
    });
    // So that lists last for a tenth of a millimeter.
    let settings = Settings {
        skin: Some(2e-4),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let dt = simulation.time_step().value;
    let initial = simulation.ledger().kinetic;
    simulation.advance((2.5e-3 / dt) as u64).expect("sound steps");
    // A third of the body is outside of the domain, but all of it is still present.
    assert_eq!((simulation.len(), simulation.bodies().len()), (7, 2));
    simulation.advance((1e-3 / dt) as u64).expect("sound steps");
    assert_eq!((simulation.len(), simulation.bodies().len()), (4, 1));
    let ledger = simulation.ledger();
    assert!((ledger.left_domain / initial - 1.0).abs() < 1e-12 && ledger.residual.abs() < 1e-12 * initial);
    let named = simulation.bodies()[0].id;
    assert!(simulation.snapshot().body.iter().filter(|body| **body == i64::from(named)).count() == 3);
    // If one grain is named, its whole body is removed.
    let one = simulation.snapshot().id[1];
    simulation.remove(&[one]).expect("it is there");
    assert_eq!((simulation.len(), simulation.bodies().len()), (1, 0));
    simulation.advance(10).expect("sound steps");
}

#[test]
fn impossible_bodies_are_refused() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = world(TangentialLaw::Mindlin);
        world
            .grains
            .clear_and(|grains| rod(3, 1e-3).put(grains, [5e-3; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]));
        change(&mut world);
        Simulation::new(world, on_threads(1))
            .err()
            .map_or("nothing".to_owned(), |refusal| refusal.to_string())
    };
    assert_eq!(refused(&|_| {}), "nothing");
    assert!(refused(&|world| world.grains.bodies[0].mass = 0.0).contains("mass is 0, must be positive"));
    assert!(refused(&|world| world.grains.bodies[0].moments = [1.0, 2.0, 4.0]).contains("at most the sum of the two others"));
    assert!(refused(&|world| world.grains.bodies[0].carries[1].0 = 77).contains("77, must be one that is there"));
    assert!(refused(&|world| world.grains.bodies[0].carries[1].0 = 0).contains("carried by no other body"));
    let sheared = refused(&|world| {
        let mut domain = domain([true; 3], LeavingPolicy::Error, 2e-2);
        domain.shear = Some(seixo_engine::world::Shear {
            flow: 0,
            gradient: 2,
            rate: 1.0,
        });
        world.domain = Some(domain);
    });
    assert!(sheared.contains("slide past each other"), "{sheared}");
}

#[test]
fn grains_of_a_body_have_its_orientation_in_a_snapshot() {
    // A rod, a tetrahedron and a single grain, the first two with a spin.
    let mut simulation = started(heap(3, None));
    let before = simulation.bodies();
    simulation.advance(100).expect("sound steps");
    let (grains, bodies) = (simulation.snapshot(), simulation.bodies());
    assert_eq!((bodies.len(), grains.orientation.len()), (2, grains.id.len()));
    assert!(bodies.iter().zip(&before).all(|(now, then)| now.orientation != then.orientation));
    for (&orientation, &carrier) in grains.orientation.iter().zip(&grains.body) {
        let body = bodies.iter().find(|body| i64::from(body.id) == carrier);
        assert_eq!(orientation, body.map_or([1.0, 0.0, 0.0, 0.0], |body| body.orientation));
    }
}
