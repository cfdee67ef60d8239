//! Bodies in prescribed motion, and grains under loads: tests against physics.

use crate::clumps::{Fill as _, Shape, heap, rod, world};
use crate::devices::on_threads;
use crate::floors::floor;
use crate::resumed::assert_same_when_resumed;
use crate::vectors::vector;
use seixo_engine::state::Ledger;
use seixo_engine::world::Scheme;
use seixo_engine::world::{LeavingPolicy, Load, Servo, ServoTarget, Settings, SurfaceMotion, Vec3, Vibration, WallMotion, World};
use seixo_engine::{Simulation, plan_time_step};
use seixo_laws::Vector3;
use seixo_laws::contact::TangentialLaw;
use seixo_laws::wall::rotated;

/// Radius of all grains \[m\].
const RADIUS: f64 = 1e-3;
/// Initial distance of a grain and the body that it hits \[m\].
const GAP: f64 = 1e-6;
/// Speed of their impact \[m/s\].
const SPEED: f64 = 0.5;

/// A simulation with time steps shorter than usual by this factor.
fn started(world: World, finer: u64) -> Simulation {
    let usual = plan_time_step(&world, Scheme::default()).expect("the world is sound").value;
    let settings = Settings {
        time_step: Some(usual / finer as f64),
        ..on_threads(1)
    };
    Simulation::new(world, settings).expect("the world is sound")
}

fn one_sphere() -> Shape {
    Shape::of(vec![([0.0; 3], RADIUS)])
}

/// A body at the origin in prescribed motion, and a single grain, all smooth and elastic.
fn beside_held(shape: &Shape, motion: WallMotion, position: Vec3, velocity: Vec3) -> World {
    let mut world = world(TangentialLaw::None);
    world.interactions[0].as_mut().expect("one").restitution = 1.0;
    world.grains.clear_and(|grains| {
        shape.put(grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        grains.push(grains.len() as u32, position, velocity, [0.0; 3], RADIUS, 0, 0);
    });
    world.grains.bodies[0].motion = Some(motion);
    world
}

fn apart(a: Vec3, b: &Vector3<f64>) -> f64 {
    vector(a).minus(b).length()
}

#[test]
fn a_grain_dropped_on_a_fixed_one_rebounds_with_the_restitution() {
    let above = [0.0, 0.0, 2.0 * RADIUS + GAP];
    let mut world = beside_held(&one_sphere(), WallMotion::default(), above, [0.0, 0.0, -SPEED]);
    world.gravity = [0.0, 0.0, -9.81];
    world.interactions[0].as_mut().expect("one").restitution = 0.6;
    // The residual falls with the square of the step; the collision takes some sixty usual steps.
    let finer = 2048;
    let mut simulation = started(world, finer);
    let (fixed, energy) = (simulation.bodies()[0], simulation.ledger().kinetic);
    simulation.advance(64 * finer).expect("sound steps");
    assert_eq!(simulation.contacts(), 0);
    let reached = simulation.snapshot().velocity[1][2] / SPEED;
    // Gravity changes the speed by a thousandth or two.
    assert!((reached - 0.6).abs() < 5e-3, "rebounds with {reached}");
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-9 * energy, "{ledger:?}");
    assert!((ledger.normal_damping / energy - (1.0 - 0.36)).abs() < 1e-2, "{ledger:?}");
    assert_eq!(ledger.wall_work, 0.0);
    assert_eq!(simulation.bodies()[0], fixed);
}

#[test]
fn a_held_rod_takes_up_the_momentum_of_a_grain_that_it_throws_back() {
    let before_its_end = [4.0 * RADIUS + GAP, 0.0, 0.0];
    let finer = 4;
    let thrown = beside_held(&rod(3, RADIUS), WallMotion::default(), before_its_end, [-SPEED, 0.0, 0.0]);
    let mut simulation = started(thrown, finer);
    let (held, before) = (simulation.bodies()[0], simulation.momentum());
    assert!(before.linear[0] < 0.0);
    simulation.advance(64 * finer).expect("sound steps");
    let after = simulation.momentum();
    assert_eq!(simulation.contacts(), 0);
    // Second order in the step.
    assert!((after.linear[0] / before.linear[0] + 1.0).abs() < 1e-5, "{before:?} {after:?}");
    assert_eq!(simulation.bodies()[0], held);
    // An event does not move it either.
    simulation.set_velocity(0, [0.0, 0.1, 0.0]).expect("a sound event");
    simulation.advance(10).expect("sound steps");
    let velocity = simulation.snapshot().velocity;
    assert_eq!(velocity, [[0.0; 3], [0.0; 3], [0.0; 3], [0.0, 0.1, 0.0]]);
    assert_eq!(simulation.bodies()[0], held);
}

#[test]
fn what_holds_a_body_does_the_work_that_it_passes_on() {
    let motion = WallMotion {
        velocity: [SPEED, 0.0, 0.0],
        ..WallMotion::default()
    };
    let resting = beside_held(&one_sphere(), motion, [2.0 * RADIUS + GAP, 0.0, 0.0], [0.0; 3]);
    let mut simulation = started(resting, 64);
    assert_eq!(simulation.ledger().kinetic, 0.0);
    simulation.advance(2000).expect("sound steps");
    assert_eq!(simulation.contacts(), 0);
    let (velocity, ledger) = (simulation.snapshot().velocity, simulation.ledger());
    // In the frame of the body, the grain rebounds with its approach speed.
    assert!((velocity[1][0] / (2.0 * SPEED) - 1.0).abs() < 1e-6, "{velocity:?}");
    assert!((ledger.wall_work / ledger.kinetic - 1.0).abs() < 1e-6, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-6 * ledger.kinetic, "{ledger:?}");
    let body = simulation.bodies()[0];
    assert!((body.center[0] / (SPEED * simulation.time()) - 1.0).abs() < 1e-14);
    assert_eq!(body.velocity, [SPEED, 0.0, 0.0]);
}

#[test]
fn what_is_held_meets_neither_walls_nor_what_else_is_held() {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(floor());
    world.grains.clear_and(|grains| {
        // Two bodies overlap with the floor and with each other, one of which continues downward; a free body lies on the other one.
        for x in [0.0, 1.99 * RADIUS] {
            let center = [x, 0.0, 0.99 * RADIUS];
            one_sphere().put(grains, center, [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        }
        grains.push(2, [0.0, 0.0, 2.99 * RADIUS], [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    });
    let down = WallMotion {
        velocity: [0.0, 0.0, -1e-3],
        ..WallMotion::default()
    };
    world.grains.bodies[0].motion = Some(WallMotion::default());
    world.grains.bodies[1].motion = Some(down);
    let mut simulation = started(world, 1);
    simulation.advance(5000).expect("sound steps");
    let seen = simulation.snapshot();
    let weight = 9.81 * seen.mass[2];
    assert_eq!((seen.force[1], simulation.contacts()), ([0.0; 3], 1));
    assert!((seen.force[2][2] / weight - 1.0).abs() < 1e-6, "{:?}", seen.force);
    assert!((seen.force[0][2] / weight + 1.0).abs() < 1e-6, "{:?}", seen.force);
    assert_eq!(simulation.walls()[0].force, [0.0; 3]);
    assert_eq!(simulation.ledger().wall_work, 0.0);
}

#[test]
fn a_held_body_turns_as_it_is_reported_whatever_pulls_on_it() {
    let (spin, through) = ([60.0, -80.0, 100.0], [1e-3, -2e-3, 5e-4]);
    let mut world = world(TangentialLaw::Mindlin);
    (world.gravity, world.local_damping) = ([3.0, 0.0, -9.81], 0.3);
    world
        .grains
        .clear_and(|grains| rod(3, RADIUS).put(grains, [2e-3, 0.0, 0.0], [0.8, 0.0, 0.6, 0.0], [0.0; 3], [0.0; 3]));
    world.grains.bodies[0].motion = Some(WallMotion {
        angular_velocity: spin,
        through,
        ..WallMotion::default()
    });
    world.loads.push(Load::constant(0, [1e-3, 0.0, 0.0], [0.0, 1e-6, 0.0]));
    let mut simulation = started(world, 1);
    let before = simulation.snapshot();
    simulation.advance(3000).expect("sound steps");
    let after = simulation.snapshot();
    let (spin, through) = (vector(spin), vector(through));
    let rate = spin.length();
    let (sin, cos) = (rate * simulation.time()).sin_cos();
    assert!(rate * simulation.time() > 2.0);
    for (k, start) in before.position.iter().enumerate() {
        let arm = rotated(&vector(*start).minus(&through), &spin.times(1.0 / rate), cos, sin);
        assert!(apart(after.position[k], &through.plus(&arm)) < 1e-15, "{k}: {after:?}");
        assert!(apart(after.velocity[k], &spin.cross(&arm)) < 1e-13, "{k}: {after:?}");
        assert!(apart(after.angular_velocity[k], &spin) < 1e-12);
    }
    // The prescribed motion removes the work of the load.
    let ledger = simulation.ledger();
    assert!(ledger.wall_work.abs() < 1e-18, "{ledger:?}");
    let without = Ledger {
        wall_work: 0.0,
        residual: 0.0,
        ..ledger
    };
    assert_eq!(without, Ledger::default());
}

#[test]
fn a_load_accelerates_a_grain_and_does_the_work_of_its_way() {
    let (force, torque) = ([1e-5, 2e-5, -1e-5], [0.0, 3e-9, 0.0]);
    let mut world = world(TangentialLaw::Mindlin);
    world.groups.push("others".into());
    // The loads of a group add up.
    let share_of_load = |share: f64| Load::constant(0, force.map(|x: f64| share * x), torque.map(|x: f64| share * x));
    world.loads = vec![share_of_load(0.25), share_of_load(0.75)];
    world.grains.clear_and(|grains| {
        grains.push(0, [0.0; 3], [0.1, 0.0, 0.0], [0.0; 3], RADIUS, 0, 0);
        grains.push(1, [2e-2, 0.0, 0.0], [0.0; 3], [0.0; 3], RADIUS, 0, 1);
    });
    let mut simulation = started(world, 1);
    let start = simulation.snapshot();
    simulation.advance(2000).expect("sound steps");
    let (end, time) = (simulation.snapshot(), simulation.time());
    let (force, torque) = (vector(force), vector(torque));
    let mass = end.mass[0];
    let moment = 0.4 * mass * RADIUS * RADIUS;
    let velocity = vector(start.velocity[0]).plus(&force.times(time / mass));
    assert!(apart(end.velocity[0], &velocity) < 1e-12, "{:?} {velocity:?}", end.velocity);
    let spin = torque.times(time / moment);
    assert!(apart(end.angular_velocity[0], &spin) < 1e-10, "{:?} {spin:?}", end.angular_velocity);
    let way = vector(end.position[0]).minus(&vector(start.position[0]));
    let work = force.dot(&way) + torque.dot(&spin.times(0.5 * time));
    let ledger = simulation.ledger();
    assert!((ledger.wall_work / work - 1.0).abs() < 1e-11, "{ledger:?} {work}");
    assert!(ledger.residual.abs() < 1e-11 * work, "{ledger:?}");
    assert_eq!((end.velocity[1], end.position[1]), ([0.0; 3], start.position[1]));
}

/// Clumps under a load that fall onto the floor or through its hole. Two of them have a prescribed motion; one of these crosses periodic sides.
fn held_heap() -> World {
    let mut world = heap(60, Some(LeavingPolicy::Delete));
    let about = |b: usize| world.grains.bodies[b].center;
    let motions = [
        (
            20,
            WallMotion {
                velocity: [0.2, 0.0, 0.0],
                angular_velocity: [0.0, 0.0, 40.0],
                through: about(20),
                ..WallMotion::default()
            },
        ),
        (
            31,
            WallMotion {
                vibrations: vec![Vibration {
                    amplitude: [0.0, 0.0, 2e-4],
                    frequency: 200.0,
                    phase: 0.3,
                }],
                ..WallMotion::default()
            },
        ),
    ];
    for (b, motion) in motions {
        world.grains.bodies[b].motion = Some(motion);
    }
    world.loads.push(Load::constant(0, [1e-5, 0.0, 0.0], [0.0, 0.0, 1e-9]));
    world
}

#[test]
fn going_on_with_bodies_with_prescribed_motion_and_loads_is_the_same_to_the_bit() {
    let world = held_heap();
    let state = assert_same_when_resumed(&world, &on_threads(1), [1500, 1500]);
    let all = world.grains.bodies.len();
    let simulation = Simulation::restore(world, on_threads(1), &state).expect("a state of this world");
    let bodies = simulation.bodies();
    // Indices in the table differ from those in the world by now.
    assert!(bodies.len() < all, "some left");
    let held = bodies.iter().find(|body| body.id == 20).expect("it stays");
    assert_eq!((held.velocity, held.angular_velocity), ([0.2, 0.0, 0.0], [0.0, 0.0, 40.0]));
    let ledger = simulation.ledger();
    assert!(ledger.wall_work != 0.0 && ledger.left_domain != 0.0);
    assert!(ledger.residual.abs() < 5e-3 * (ledger.initial + ledger.wall_work), "{ledger:?}");
}

#[test]
fn impossible_motions_and_loads_are_refused() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = beside_held(&one_sphere(), WallMotion::default(), [0.0, 0.0, 5e-3], [0.0; 3]);
        change(&mut world);
        let refusal = Simulation::new(world, on_threads(1)).err();
        refusal.map_or("nothing".to_owned(), |refusal| refusal.to_string())
    };
    let with_motion = |motion: WallMotion| refused(&|world| world.grains.bodies[0].motion = Some(motion.clone()));
    assert_eq!(refused(&|_| {}), "nothing");
    let steered = WallMotion {
        servo: Some(Servo {
            along: [0.0, 0.0, 1.0],
            target: ServoTarget::Force(3.0),
            velocity_limit: 1.0,
            ..Servo::default()
        }),
        ..WallMotion::default()
    };
    assert!(with_motion(steered).contains("target of a servo is 3"));
    let running = WallMotion {
        surface: SurfaceMotion {
            velocity: [0.0, 2.0, 0.0],
            ..SurfaceMotion::default()
        },
        ..WallMotion::default()
    };
    assert!(with_motion(running).contains("motion of its surface is 2"));
    let stopping_first = WallMotion {
        stop: Some(-1.0),
        ..WallMotion::default()
    };
    assert!(with_motion(stopping_first).contains("body 0: its motion stops at -1 s"));
    let with_load = |group: u32, force: f64| {
        refused(&|world| {
            world.loads.push(Load::constant(group, [force; 3], [0.0; 3]));
        })
    };
    assert!(with_load(7, 1.0).contains("group of a load is 7"));
    assert!(with_load(0, f64::NAN).contains("a load at t = 0 is NaN"));
}
