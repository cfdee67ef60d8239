//! Bodies on joints to space: tests against physics.

use crate::clumps::{Fill as _, Shape, domain, heap, rod, world};
use crate::resumed::assert_same_when_resumed;
use crate::tied::{tie, with_joints};
use crate::vectors::{distance, vector};
use seixo_engine::world::{Joint, LeavingPolicy, Load, Settings, Vec3, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::Vector3;
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::PI;

const G: f64 = 9.81;
/// Orientation of a shape as it was drawn.
const AS_DRAWN: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// A ball of a decimeter, with motions slow enough to simulate seconds.
fn ball() -> Shape {
    Shape::of(vec![([0.0; 3], 0.1)])
}

/// A smooth, elastic world with one body on a joint, under gravity.
fn hung(shape: &Shape, center: Vec3, orientation: [f64; 4], angular_velocity: Vec3, joint: Joint) -> World {
    let mut world = world(TangentialLaw::None);
    world.gravity = [0.0, 0.0, -G];
    world.interactions[0].as_mut().expect("one").restitution = 1.0;
    world
        .grains
        .clear_and(|grains| shape.put(grains, center, orientation, [0.0; 3], angular_velocity));
    world.grains.bodies[0].joint = Some(joint);
    world
}

fn started(world: World, time_step: Option<f64>) -> Simulation {
    let settings = Settings {
        threads: 1,
        time_step,
        ..Settings::default()
    };
    Simulation::new(world, settings).expect("the world is sound")
}

/// Arithmetic–geometric mean (Gauss).
pub fn gauss_mean(a: f64, b: f64) -> f64 {
    (0..10).fold((a, b), |(a, b), _| (0.5 * (a + b), (a * b).sqrt())).0
}

#[test]
fn a_pendulum_swings_with_the_period_of_elliptic_integrals() {
    for angle in [0.05f64, 2.6] {
        let (arm, shape, dt) = (1.0, ball(), 1e-3);
        let hinge = Joint::Hinge {
            through: [0.0, 3.0, 0.0],
            axis: [0.0, -2.0, 0.0],
        };
        let center = [arm * angle.sin(), 0.0, -arm * angle.cos()];
        let world = hung(&shape, center, [0.8, 0.0, 0.36, 0.48], [0.0; 3], hinge);
        let mut simulation = started(world, Some(dt));
        let moment = shape.moments[0] + shape.mass * arm * arm;
        let rate = (shape.mass * G * arm / moment).sqrt();
        // T = 4 K(sin θ₀/2)/ω₀, and K(k) = π/2M(1, √(1 − k²)) with Gauss's mean M.
        let period = 2.0 * PI / (rate * gauss_mean(1.0, (0.5 * angle).cos()));
        let (mut passed, mut before) = (Vec::new(), center[0]);
        while passed.len() < 2 {
            simulation.step().expect("a sound step");
            let [x, y, z] = simulation.bodies()[0].center;
            assert!(
                (x.hypot(z) - arm).abs() < 1e-14 && y.abs() < 1e-14,
                "it is {} m from the axis",
                x.hypot(z)
            );
            if before > 0.0 && x <= 0.0 && z < 0.0 {
                passed.push(simulation.time() - dt * x / (x - before));
            }
            before = x;
        }
        let found = passed[1] - passed[0];
        // Leap-frog oscillates faster by a relative (ω₀Δt)²/24, which is 4·10⁻⁷ for small amplitudes, and less for large ones, which are slow.
        assert!((found / period - 1.0).abs() < 6e-7, "{angle}: {found} s of {period} s");
        assert!((passed[0] / (0.25 * period) - 1.0).abs() < 6e-7, "{angle}: {passed:?}");
        let body = simulation.bodies()[0];
        assert_eq!(body.moments, shape.moments);
        let ledger = simulation.ledger();
        // Kinetic energy of the center of mass, and of the rotation about it.
        let square = vector(body.velocity).dot(&vector(body.velocity));
        assert!((ledger.kinetic - 0.5 * shape.mass * square).abs() < 1e-12 * ledger.kinetic);
        assert!(ledger.residual.abs() < 1e-5 * ledger.kinetic, "{ledger:?}");
    }
}

#[test]
fn a_state_of_a_body_with_other_axes_is_refused() {
    let hinge = Joint::Hinge {
        through: [0.0; 3],
        axis: [0.0, 1.0, 0.0],
    };
    let world = hung(&rod(3, 1e-2), [0.1, 0.05, -0.02], AS_DRAWN, [0.0; 3], hinge);
    let mut simulation = started(world.clone(), None);
    simulation.advance(10).expect("sound steps");
    let state = simulation.save().expect("a sound state");
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let flaw = |world: World| {
        let restored = Simulation::restore(world, settings.clone(), &state);
        restored.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(flaw(world.clone()), "");
    // The same rod in space, as a version would read the scene that chose the axes in another order.
    let mut turned = world;
    let (body, half) = (&mut turned.grains.bodies[0], std::f64::consts::FRAC_1_SQRT_2);
    for (_, offset) in &mut body.carries {
        let [x, y, z] = *offset;
        *offset = [-y, x, z];
    }
    body.moments.swap(0, 1);
    body.orientation = [half, 0.0, 0.0, -half];
    let found = flaw(turned);
    assert!(
        found.contains("rigid body 0 had other axes") && found.contains("resume with the scene and version that wrote it"),
        "{found}"
    );
}

#[test]
fn a_torque_spins_a_body_up_about_its_hinge_alone() {
    let (axis, torque) = ([1.0, 2.0, 2.0], [1e-3, -2e-3, 4e-3]);
    let hinge = Joint::Hinge { through: [0.0; 3], axis };
    let mut world = hung(&rod(3, 1e-2), [0.1, 0.05, -0.02], [0.8, 0.0, 0.6, 0.0], [0.0; 3], hinge);
    world.gravity = [0.0; 3];
    world.loads.push(Load::constant(0, [0.0; 3], torque));
    let mut simulation = started(world, None);
    let start = simulation.snapshot();
    let unit = vector(axis).times(1.0 / 3.0);
    let moment: f64 = (0..3)
        .map(|k| {
            let (at, radius) = (vector(start.position[k]), start.radius[k]);
            let height = at.dot(&unit);
            start.mass[k] * (0.4 * radius * radius + at.dot(&at) - height * height)
        })
        .sum();
    simulation.advance(3000).expect("sound steps");
    let (time, body) = (simulation.time(), simulation.bodies()[0]);
    let rate = 3.0 * unit.dot(&vector(torque)) / moment * time;
    let spin = unit.times(rate);
    assert!(rate * time > 0.5, "it turned by {} rad", 0.5 * rate * time);
    assert!(
        vector(body.angular_velocity).minus(&spin).length() < 1e-11 * rate.abs(),
        "{body:?} {spin:?}"
    );
    let swings = spin.cross(&vector(body.center));
    assert!(vector(body.velocity).minus(&swings).length() < 1e-11 * swings.length());
    // All work of the load is kinetic energy, and the pivot has not moved.
    let ledger = simulation.ledger();
    let energy = 0.5 * moment * rate * rate;
    assert!((ledger.wall_work / energy - 1.0).abs() < 1e-10, "{ledger:?} {energy}");
    assert!(((ledger.kinetic + ledger.rotational) / energy - 1.0).abs() < 1e-10, "{ledger:?}");
    let end = simulation.snapshot();
    for (before, after) in start.position.iter().zip(&end.position) {
        let [before, after] = [before, after].map(|at| vector(*at));
        assert!((before.dot(&unit) - after.dot(&unit)).abs() < 1e-15);
        assert!((before.length() - after.length()).abs() < 1e-15);
    }
}

#[test]
fn a_body_on_a_slider_slides_down_an_incline_and_does_not_turn() {
    let slope = 0.5f64;
    let along = [slope.cos(), 0.0, -slope.sin()];
    for damping in [0.0, 0.3] {
        let (center, orientation) = ([1e-3, 2e-3, 3e-3], [0.8, 0.36, 0.0, 0.48]);
        let slider = Joint::Slider {
            along: along.map(|x| 7.0 * x),
        };
        let mut world = hung(&Shape::tetrahedron(1e-3), center, orientation, [0.0; 3], slider);
        world.local_damping = damping;
        let mut simulation = started(world, None);
        let start = simulation.bodies()[0];
        simulation.advance(3000).expect("sound steps");
        let (time, dt, body) = (simulation.time(), simulation.time_step().value, simulation.bodies()[0]);
        let pulled = (1.0 - damping) * G * slope.sin();
        let velocity = vector(along).times(pulled * time);
        // Damping does not act before the body moves: half a step at the start.
        let late = damping * G * dt;
        let off = vector(body.velocity).minus(&velocity).length();
        assert!(off < late + 1e-12 * velocity.length(), "{body:?} {velocity:?}");
        let way = vector(body.center).minus(&vector(center));
        let expected = 0.5 * pulled * time * time;
        assert!(
            (way.dot(&vector(along)) - expected).abs() < late * time + 1e-12 * expected,
            "{body:?}"
        );
        assert!(way.cross(&vector(along)).length() < 1e-17, "it left its line by {way:?}");
        let drawn = simulation.snapshot();
        assert_eq!((body.orientation, body.angular_velocity), (start.orientation, [0.0; 3]));
        assert!(drawn.velocity.iter().all(|v| distance(*v, body.velocity) == 0.0));
        let ledger = simulation.ledger();
        assert_eq!(ledger.local_damping > 0.0, damping > 0.0);
        let of_start = body.mass * late * velocity.length();
        assert!(ledger.residual.abs() < of_start + 1e-9 * ledger.kinetic, "{ledger:?}");
    }
}

/// A symmetric top of moments 0.06 and 0.08 kg m² whose center is 20 cm from the pivot, at the origin.
fn top(lean: f64) -> (Shape, Vec3, [f64; 4]) {
    let mut shape = ball();
    shape.moments = [0.06, 0.06, 0.08];
    let center = [0.2 * lean.sin(), 0.0, 0.2 * lean.cos()];
    (shape, center, [(0.5 * lean).cos(), 0.0, (0.5 * lean).sin(), 0.0])
}

#[test]
fn a_heavy_top_precesses_steadily() {
    let (lean, precession, arm) = (0.6f64, 2.0, 0.2);
    let (shape, center, orientation) = top(lean);
    let [across, _, along] = shape.moments;
    let moment = across + shape.mass * arm * arm;
    // I₁ Ω² cos θ − I₃ ω₃ Ω + m g l = 0 for a top that precesses at Ω without nutation, with I₁ about the pivot.
    let spin = (shape.mass * G * arm + moment * precession * precession * lean.cos()) / (along * precession);
    let axis = vector(center).times(1.0 / arm);
    let up = Vector3 { x: 0.0, y: 0.0, z: 1.0 };
    let turns = up.times(precession).plus(&axis.times(spin - precession * lean.cos()));
    let world = hung(
        &shape,
        center,
        orientation,
        [turns.x, turns.y, turns.z],
        Joint::Ball { through: [0.0; 3] },
    );
    let mut simulation = started(world, Some(4e-4));
    // A little more than half a revolution.
    simulation.advance(4000).expect("sound steps");
    let body = simulation.bodies()[0];
    let (sin, cos) = (precession * simulation.time()).sin_cos();
    let expected = [center[0] * cos, center[0] * sin, center[2]];
    // A step rotates it by 0.055 rad: second order, some 10⁻⁶ of the path of 0.36 m.
    assert!(distance(body.center, expected) < 1e-6, "{:?} {expected:?}", body.center);
    assert!((vector(body.center).length() - arm).abs() < 1e-15);
}

#[test]
fn a_body_on_a_ball_joint_keeps_energy_and_angular_momentum_about_the_vertical() {
    let mut shape = ball();
    shape.moments = [0.06, 0.08, 0.1];
    // Not on a principal axis, so that the principal axes about the pivot differ.
    let through = [0.3, -0.2, 0.5];
    let center = [0.4, 0.0, 0.35];
    let world = hung(&shape, center, [0.5, 0.7, 0.1, 0.5], [3.0, -2.0, 4.0], Joint::Ball { through });
    let mut simulation = started(world, Some(4e-4));
    let about_pivot = |simulation: &Simulation| {
        let body = simulation.bodies()[0];
        let arm = vector(body.center).minus(&vector(through));
        arm.cross(&vector(body.velocity).times(body.mass))
            .plus(&vector(body.angular_momentum))
    };
    let (before, start) = (about_pivot(&simulation), simulation.ledger());
    let (mut swung, mut rose) = (0.0f64, 0.0f64);
    for _ in 0..200 {
        simulation.advance(100).expect("sound steps");
        let (now, ledger) = (about_pivot(&simulation), simulation.ledger());
        assert!((now.z - before.z).abs() < 1e-12 * before.length(), "{now:?} {before:?}");
        swung = swung.max((now.x - before.x).abs());
        rose = rose.max((ledger.gravity - start.gravity).abs());
        // The energy of a symplectic scheme oscillates, here by (ω Δt)² at 7 rad/s, and does not drift.
        assert!(ledger.residual.abs() < 1e-5 * start.kinetic, "{ledger:?}");
        let body = simulation.bodies()[0];
        assert!((distance(body.center, through) - distance(center, through)).abs() < 1e-14);
    }
    assert!(swung > 1.0 && rose > 5.0, "{swung} {rose}");
}

#[test]
fn a_grain_that_hits_a_hinged_rod_gives_it_its_angular_momentum() {
    let (radius, speed) = (1e-3, 0.02);
    let shape = rod(3, radius);
    let hinge = Joint::Hinge {
        through: [0.0, 0.0, 5e-3],
        axis: [0.0, 0.0, 1.0],
    };
    let mut world = hung(&shape, [2.0 * radius, 0.0, 0.0], AS_DRAWN, [0.0; 3], hinge);
    (world.gravity, world.materials[0].youngs_modulus) = ([0.0; 3], 1e9);
    let arm = 4.0 * radius;
    let at = [arm, -2.0 * radius - 1e-7, 0.0];
    world.grains.push(3, at, [0.0, speed, 0.0], [0.0; 3], radius, 0, 0);
    let usual = started(world.clone(), None).time_step().value;
    let mut simulation = started(world, Some(0.25 * usual));
    let (before, energy) = (simulation.momentum(), simulation.ledger());
    let mut has_touched = false;
    while !has_touched || simulation.contacts() > 0 {
        simulation.step().expect("a sound step");
        has_touched |= simulation.contacts() > 0;
        assert!(simulation.steps() < 1_000_000, "they never met");
    }
    let (after, ledger) = (simulation.momentum(), simulation.ledger());
    assert!((after.angular[2] / before.angular[2] - 1.0).abs() < 1e-12, "{before:?} {after:?}");
    // The hinge took the impulse that the rod did not gain.
    assert!((after.linear[1] / before.linear[1] - 1.0).abs() > 0.05, "{before:?} {after:?}");
    assert!(ledger.residual.abs() < 5e-6 * energy.kinetic, "{ledger:?}");
    let mass = shape.mass / 3.0;
    let moment = shape.moments[2] + shape.mass * (2.0 * radius).powi(2);
    let turns = 2.0 * mass * arm * speed / (moment + mass * arm * arm);
    // The collision has a finite duration, in which the rod rotates by some 1e-4.
    let body = simulation.bodies()[0];
    assert!(
        (body.angular_velocity[2] / turns - 1.0).abs() < 2e-3,
        "{:?} {turns}",
        body.angular_velocity
    );
    assert_eq!([body.angular_velocity[0], body.angular_velocity[1]], [0.0; 2]);
    let rebounds = turns * arm - speed;
    let velocity = simulation.snapshot().velocity[3];
    assert!((velocity[1] - rebounds).abs() < 2e-3 * speed, "{velocity:?} {rebounds}");
}

#[test]
fn joints_go_with_periodic_sides() {
    let (edge, speed, rate) = (2e-2, 3.0, 300.0);
    let mut world = world(TangentialLaw::Mindlin);
    world.domain = Some(domain([true; 3], LeavingPolicy::Error, edge));
    let (start, pivot) = ([5e-3, 4e-3, 4e-3], [5e-4, 1.4e-2, 1.4e-2]);
    world.grains.clear_and(|grains| {
        rod(3, 1e-3).put(grains, start, [0.8, 0.0, 0.6, 0.0], [speed, 0.0, 0.0], [0.0; 3]);
        let center = [pivot[0] + 1e-3, pivot[1], pivot[2]];
        rod(3, 1e-3).put(grains, center, AS_DRAWN, [0.0; 3], [0.0, 0.0, rate]);
    });
    world.grains.bodies[0].joint = Some(Joint::Slider { along: [1.0, 0.0, 0.0] });
    world.grains.bodies[1].joint = Some(Joint::Hinge {
        through: pivot,
        axis: [0.0, 0.0, 1.0],
    });
    let mut simulation = started(world, None);
    simulation.advance(4000).expect("sound steps");
    let bodies = simulation.bodies();
    let periods = (bodies[0].center[0] - start[0] - speed * simulation.time()) / edge;
    assert!(periods < -1.5 && (periods - periods.round()).abs() < 1e-10, "{periods}");
    assert_eq!([bodies[0].center[1], bodies[0].center[2]], [start[1], start[2]]);
    assert!((bodies[1].angular_velocity[2] / rate - 1.0).abs() < 1e-13);
    assert!((distance(bodies[1].center, pivot) / 1e-3 - 1.0).abs() < 1e-12);
    let seen = simulation.snapshot();
    for (k, at) in seen.position.iter().enumerate() {
        let center = bodies[k / 3].center;
        let nearest = [0, 1, 2].map(|axis| {
            let apart = at[axis] - center[axis];
            apart - edge * (apart / edge).round()
        });
        let expected = if k % 3 == 1 { 0.0 } else { 2e-3 };
        assert!((vector(nearest).length() - expected).abs() < 1e-15, "{k}: {at:?} of {center:?}");
    }
    assert!(simulation.ledger().residual.abs() < 1e-12 * simulation.ledger().kinetic);
}

#[test]
fn gravity_that_turns_leaves_velocities_and_pulls_the_other_way_from_there() {
    let hinge = Joint::Hinge {
        through: [0.0; 3],
        axis: [0.0, 1.0, 0.0],
    };
    let mut simulation = started(hung(&ball(), [1.0, 0.0, 0.0], AS_DRAWN, [0.0; 3], hinge), Some(1e-3));
    simulation.advance(200).expect("sound steps");
    let before = simulation.bodies()[0].angular_velocity;
    simulation
        .change(&[SurroundingsChange::Gravity([0.0, 0.0, G])])
        .expect("a sound change");
    let after = simulation.bodies()[0].angular_velocity;
    assert!(distance(before, after) < 1e-14 && before[1] > 1.0, "{before:?} {after:?}");
    simulation.advance(100).expect("sound steps");
    assert!(simulation.bodies()[0].angular_velocity[1] < 0.8 * before[1]);
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-5 * ledger.kinetic, "{ledger:?}");
    // Setting another velocity has no effect either.
    let before = simulation.bodies();
    simulation.set_velocity(0, [5.0, 0.0, 0.0]).expect("a sound event");
    assert_eq!(simulation.bodies(), before);
}

#[test]
fn a_heap_around_joints_balances_and_goes_on_to_the_bit() {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let world = with_joints(heap(60, Some(LeavingPolicy::Delete)));
    let state = assert_same_when_resumed(&world, &settings, [1500, 1500]);
    let all = world.grains.bodies.len();
    let left = Simulation::restore(world, settings, &state)
        .expect("a state of this world")
        .bodies();
    // Indices in the table differ from those in the world by now.
    assert!(left.len() < all && left.iter().any(|body| body.id == 20), "{} of {all}", left.len());

    let mut world = with_joints(heap(60, None));
    world.local_damping = 0.05;
    let pivot = world.grains.bodies[20].center;
    let mut simulation = started(world, None);
    simulation.advance(10_000).expect("sound steps");
    let ledger = simulation.ledger();
    // As for a heap of clumps that move freely.
    assert!(ledger.residual.abs() < 2e-3 * ledger.initial, "{ledger:?}");
    assert!(ledger.friction > 0.0 && ledger.local_damping > 0.0);
    let hung = simulation.bodies()[20];
    let through = [pivot[0] + 1e-3, pivot[1], pivot[2] + 2e-3];
    assert!((distance(hung.center, through) - 5f64.sqrt() * 1e-3).abs() < 1e-15);
}

#[test]
fn impossible_joints_are_refused() {
    let hinge = |through: Vec3, axis: Vec3| Joint::Hinge { through, axis };
    let refused = |joint: Joint, change: &dyn Fn(&mut World)| {
        let mut world = world(TangentialLaw::Mindlin);
        let mut sides = domain([true, false, false], LeavingPolicy::Error, 2e-2);
        sides.max[2] = 5e-2;
        world.domain = Some(sides);
        world
            .grains
            .clear_and(|grains| rod(3, 1e-3).put(grains, [5e-3; 3], AS_DRAWN, [0.0; 3], [0.0; 3]));
        tie(&mut world, 0, joint);
        change(&mut world);
        let refusal = Simulation::new(world, Settings::default()).err();
        refusal.map_or("nothing".to_owned(), |refusal| refusal.to_string())
    };
    let as_it_is = |_: &mut World| {};
    let upright = hinge([5e-3; 3], [0.0, 0.0, 1.0]);
    assert_eq!(refused(upright, &as_it_is), "nothing");
    assert_eq!(
        refused(upright, &|world| world.grains.bodies[0].angular_velocity = [0.0, 0.0, 5.0]),
        "nothing"
    );
    let reported = refused(upright, &|world| world.grains.bodies[0].angular_velocity = [1.0, 0.0, 5.0]);
    assert!(
        reported.contains("body 0: its hinge lets through [0.0, 0.0, 5.0] rad/s"),
        "{reported}"
    );
    let reported = refused(upright, &|world| world.grains.bodies[0].velocity = [0.0, 0.3, 0.0]);
    assert!(
        reported.contains("not of [0.0, 0.3, 0.0] m/s; leave the velocity out"),
        "{reported}"
    );
    let reported = refused(upright, &|world| world.grains.bodies[0].motion = Some(WallMotion::default()));
    assert!(reported.contains("it is held, and on a hinge; keep"), "{reported}");
    let reported = refused(hinge([5e-3; 3], [0.0; 3]), &as_it_is);
    assert!(
        reported.contains("the direction [0.0, 0.0, 0.0] of its hinge points nowhere"),
        "{reported}"
    );
    let reported = refused(Joint::Ball { through: [f64::NAN; 3] }, &as_it_is);
    assert!(reported.contains("its ball joint goes through [NaN, NaN, NaN] m"), "{reported}");
    let reported = refused(
        Joint::Ball {
            through: [-1e-3, 5e-3, 5e-3],
        },
        &as_it_is,
    );
    assert!(
        reported.contains("is at x = -0.001 m, outside of periodic sides at 0 and 0.02 m"),
        "{reported}"
    );
    let reported = refused(hinge([5e-3, 5e-3, 4e-2], [0.0, 1.0, 0.0]), &as_it_is);
    assert!(reported.contains("where the domain is periodic after 2.0000e-2 m"), "{reported}");
    // About an axis along the periodic one, the body may be at any distance.
    assert_eq!(refused(hinge([5e-3, 5e-3, 4e-2], [1.0, 0.0, 0.0]), &as_it_is), "nothing");
    let slider = |along: Vec3| Joint::Slider { along };
    let reported = refused(slider([1.0, 0.0, 1.0]), &as_it_is);
    assert!(
        reported.contains("leads aslant through sides that are periodic along x"),
        "{reported}"
    );
    let reported = refused(slider([0.0, 0.0, 1.0]), &|world| {
        world.grains.bodies[0].angular_velocity = [0.0, 0.0, 5.0]
    });
    assert!(reported.contains("its slider lets through [0.0, 0.0, 0.0] rad/s"), "{reported}");
}
