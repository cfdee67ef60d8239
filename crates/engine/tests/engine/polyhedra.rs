//! Polyhedral grains: tests against physics.

use crate::corners::{about, block, capsule, prism, put, through_a_collision, turned, world};
use crate::devices::{on_threads, started};
use crate::floors::floor;
use crate::vectors::{distance, length};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{DeviceChoice, Frustum, Interaction, PolyhedralShape, Settings, Wall, WallShape, World};
use seixo_engine::{Partner, Simulation, SurroundingsChange};
use seixo_laws::contact::{Cohesion, NormalLaw, TangentialLaw};

pub fn rough() -> Interaction {
    Interaction {
        tangential: TangentialLaw::Mindlin,
        restitution: 0.6,
        friction: 0.5,
        ..Interaction::default()
    }
}

/// A cube whose outer edge is five times the half edge of its core.
pub fn cube() -> PolyhedralShape {
    block("cube", [0.4; 3], 0.1)
}

/// Scale of such a cube with an outer edge of one meter: 0.4 √3 + 0.1 \[m\].
pub const OF_UNIT_CUBE: f64 = 0.792_820_323_027_550_9;

#[test]
fn a_free_box_keeps_angular_momentum_and_energy() {
    let mut world = world(vec![block("box", [0.6, 0.4, 0.25], 0.05)], Interaction::default());
    put(&mut world, 0, 1.0, [0.0; 3], [0.0; 3]);
    world.grains.angular_velocity[0] = [0.02, 1.0, 0.01];
    let settings = Settings {
        time_step: Some(1e-5),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let (before, energy) = (simulation.momentum().angular, simulation.ledger().rotational);
    simulation.advance(100_000).expect("sound steps");
    let (after, ledger) = (simulation.momentum().angular, simulation.ledger());
    assert!(distance(before, after) < 1e-9 * length(before), "{before:?} {after:?}");
    assert!((ledger.rotational / energy - 1.0).abs() < 1e-9, "{energy} {}", ledger.rotational);
    // It did turn: about one radian about y.
    let [w, ..] = simulation.snapshot().orientation[0];
    assert!((w.abs() - 0.5f64.cos()).abs() < 1e-2, "{w}");
}

#[test]
fn two_cubes_face_on_give_their_elastic_energy_back() {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.501], [0.0, 0.0, -0.2]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.1, 0.05, -0.501], [0.0, 0.0, 0.3]);
    let settings = Settings {
        time_step: Some(1e-4),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let (before, energy) = (simulation.momentum(), simulation.ledger().kinetic);
    let mass = simulation.snapshot().mass[0];
    let mut most = 0.0f64;
    let mut has_touched = false;
    for _ in 0..1_000_000 {
        simulation.step().expect("a sound step");
        most = most.max(simulation.ledger().elastic_normal);
        if has_touched && simulation.contacts() == 0 {
            break;
        }
        has_touched |= simulation.contacts() > 0;
    }
    let (after, ledger) = (simulation.momentum(), simulation.ledger());
    // Most of the energy of the approach, ¼ m v², was stored, and all came back. Off the middle, the cubes turn.
    assert!(most > 0.5 * 0.25 * mass * 0.5f64.powi(2), "{most}");
    let moving = ledger.kinetic + ledger.rotational;
    assert!((moving / energy - 1.0).abs() < 1e-4, "{energy} J became {moving} J");
    assert!(ledger.residual.abs() < 1e-4 * energy, "{ledger:?}");
    let scale = mass * 0.3;
    assert!(distance(before.linear, after.linear) < 1e-12 * scale, "{before:?} {after:?}");
    assert!(distance(before.angular, after.angular) < 1e-12 * scale, "{before:?} {after:?}");
    assert!(simulation.snapshot().velocity[0][2] > 0.0);
}

#[test]
fn a_rod_hit_beside_its_middle_turns_as_in_the_closed_form() {
    let (half, rounding) = (0.9, 0.1);
    let mut world = world(vec![capsule("rod", half, rounding)], Interaction::default());
    let rod = put(&mut world, 0, half + rounding, [0.0; 3], [0.0; 3]);
    let (beside, speed) = (0.5, 0.01);
    world.grains.push(1, [beside, 0.0, 0.2005], [0.0, 0.0, -speed], [0.0; 3], 0.1, 0, 0);
    let moment = rod.mass * world.shapes[0].moments[1];
    let mut simulation = started(world);
    through_a_collision(&mut simulation);
    let seen = simulation.snapshot();
    let (ball, rod_mass) = (seen.mass[1], seen.mass[0]);
    // The point that is hit moves as if it had this mass; nothing is lost.
    let inverse = 1.0 / rod_mass + beside * beside / moment + 1.0 / ball;
    let impulse = 2.0 * speed / inverse;
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 2e-3;
    assert!(near(seen.velocity[0][2], -impulse / rod_mass), "{seen:?}");
    assert!(near(seen.velocity[1][2] + speed, impulse / ball), "{seen:?}");
    // A push down at the side of x turns the rod about y, from z to x.
    assert!(near(seen.angular_velocity[0][1], beside * impulse / moment), "{seen:?}");
}

/// Two balls that hit each other beside the line of their centers, as spheres or as shapes.
fn two_balls(is_shape: [bool; 2]) -> Simulation {
    let mut world = world(vec![PolyhedralShape::ball("ball")], rough());
    let states = [
        ([0.0, 0.0, 0.0], [0.3, 0.1, 0.0], 0.1),
        ([0.2152, 0.04, 0.03], [-0.2, 0.0, 0.1], 0.12),
    ];
    for (k, ((center, velocity, radius), is_shape)) in states.into_iter().zip(is_shape).enumerate() {
        let grain = put(&mut world, 0, radius, center, velocity);
        if !is_shape {
            // A sphere with the same mass and id.
            world.grains.shape[k] = 0;
            assert_eq!(grain.id as usize, k);
        }
    }
    if is_shape == [false; 2] {
        world.shapes.clear();
        (world.grains.shape, world.grains.orientation) = (Vec::new(), Vec::new());
    }
    let settings = Settings {
        time_step: Some(1e-6),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    simulation.advance(6000).expect("sound steps");
    simulation
}

#[test]
fn a_shape_that_is_a_ball_moves_as_a_sphere() {
    let spheres = two_balls([false, false]).snapshot();
    assert!(length(spheres.angular_velocity[0]) > 0.1, "they have touched: {spheres:?}");
    for is_shape in [[true, true], [true, false], [false, true]] {
        let shapes = two_balls(is_shape).snapshot();
        for k in 0..2 {
            assert!(distance(spheres.position[k], shapes.position[k]) < 1e-12, "{is_shape:?} {shapes:?}");
            assert!(distance(spheres.velocity[k], shapes.velocity[k]) < 1e-12, "{is_shape:?} {shapes:?}");
            assert!(
                distance(spheres.angular_velocity[k], shapes.angular_velocity[k]) < 1e-10,
                "{is_shape:?} {shapes:?}"
            );
        }
    }
}

/// Steps after which many of the swarm touch.
const STEPS: u64 = 3000;

/// Cubes, rods and spheres that fly to one place.
pub fn swarm() -> World {
    let mut world = world(vec![cube(), capsule("rod", 0.7, 0.3)], rough());
    for k in 0..36u32 {
        let [x, y, z] = [k % 3, k / 3 % 3, k / 9].map(|index| 0.0565 * (f64::from(index) - 1.2));
        let velocity = [-5.0 * x, -5.0 * y, -5.0 * z];
        let axis = [0.6, 0.0, 0.8];
        match k % 4 {
            3 => world.grains.push(k, [x, y, z], velocity, [0.0; 3], 0.02, 0, 0),
            kind => {
                turned(
                    &mut world,
                    u32::from(kind == 2),
                    0.028,
                    [x, y, z],
                    about(axis, f64::from(k)),
                    velocity,
                );
            }
        }
    }
    world
}

#[test]
fn threads_do_not_change_a_bit() {
    let after = |threads: usize| {
        let mut simulation = Simulation::new(swarm(), on_threads(threads)).expect("the world is sound");
        simulation.advance(STEPS).expect("sound steps");
        (simulation.snapshot(), simulation.ledger(), simulation.contacts())
    };
    let one = after(1);
    assert!(one.2 > 5, "{} contacts", one.2);
    for threads in [2, 4] {
        assert_eq!(after(threads), one, "{threads} threads");
    }
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    let mut whole = started(swarm());
    whole.advance(STEPS).expect("sound steps");
    let state = whole.save().expect("a sound state");
    let mut resumed = Simulation::restore(swarm(), on_threads(2), &state).expect("the state fits");
    assert_eq!(resumed.contacts_now().unwrap(), whole.contacts_now().unwrap());
    assert_eq!(resumed.ledger(), whole.ledger());
    for simulation in [&mut whole, &mut resumed] {
        simulation.advance(500).expect("sound steps");
    }
    assert_eq!(resumed.snapshot(), whole.snapshot());
    assert_eq!(resumed.save().unwrap(), whole.save().unwrap());
}

/// A simulation that was restored keeps no near features of its pairs, so it looks for them in other steps than one that goes on.
#[test]
fn features_that_are_kept_over_steps_change_no_bit() {
    let mut whole = started(swarm());
    whole.advance(STEPS).expect("sound steps");
    assert!(whole.contacts() > 5, "{} contacts", whole.contacts());
    let mut state = whole.save().expect("a sound state");
    for _ in 0..60 {
        let mut resumed = Simulation::restore(swarm(), on_threads(1), &state).expect("the state fits");
        resumed.advance(7).expect("sound steps");
        state = resumed.save().expect("a sound state");
    }
    whole.advance(60 * 7).expect("sound steps");
    assert_eq!(state, whole.save().unwrap());
}

#[test]
fn momentum_is_kept_and_the_ledger_closes_with_friction_and_damping() {
    let mut simulation = started(swarm());
    let (before, ledger) = (simulation.momentum(), simulation.ledger());
    let energy = ledger.kinetic + ledger.rotational;
    simulation.advance(2 * STEPS).expect("sound steps");
    let (after, ledger) = (simulation.momentum(), simulation.ledger());
    let scale: f64 = simulation.snapshot().mass.iter().sum::<f64>() * 0.2;
    assert!(distance(before.linear, after.linear) < 1e-12 * scale, "{before:?} {after:?}");
    assert!(distance(before.angular, after.angular) < 1e-12 * scale, "{before:?} {after:?}");
    assert!(ledger.normal_damping > 0.05 * energy && ledger.friction > 0.0, "{ledger:?}");
    assert!(ledger.residual.abs() < 5e-3 * energy, "{ledger:?}");
}

#[test]
fn the_force_on_a_cube_is_that_of_its_contacts() {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.499], [0.0; 3]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.1, 0.0, -0.499], [0.0; 3]);
    let mut simulation = started(world);
    let records = simulation.contacts_now().unwrap();
    let [record] = records[..] else { panic!("one pair: {records:?}") };
    assert_eq!((record.a, record.b), (0, Partner::Grain(1)));
    assert!(distance(record.normal, [0.0, 0.0, 1.0]) < 1e-12, "{record:?}");
    assert!((record.overlap - 0.002).abs() < 1e-12, "{record:?}");
    // The middle of the common face.
    assert!(distance(record.point, [0.05, 0.0, 0.0]) < 1e-9, "{record:?}");
    let force = simulation.snapshot().force;
    assert!(record.normal_force[2] > 0.0 && distance(force[0], record.force()) < 1e-12 * length(force[0]));
    // Partners count, not the four corners of the common face.
    assert_eq!(simulation.snapshot().coordination, [1, 1]);
    assert_eq!(simulation.contacts(), 1);
}

#[test]
fn grains_can_go_between_two_steps_and_the_others_keep_their_contacts() {
    let mut simulation = started(swarm());
    simulation.advance(STEPS).expect("sound steps");
    let before = simulation.contacts_now().unwrap();
    let gone = before
        .iter()
        .find(|record| matches!(record.b, Partner::Grain(_)))
        .expect("a contact")
        .a;
    simulation.remove(&[gone]).expect("a possible change");
    let after = simulation.contacts_now().unwrap();
    let expected: Vec<_> = before
        .into_iter()
        .filter(|record| record.a != gone && record.b != Partner::Grain(gone))
        .collect();
    assert_eq!(after, expected);
    simulation.advance(100).expect("sound steps");
}

#[test]
fn a_grain_that_gets_another_velocity_keeps_its_rotation() {
    let mut world = world(vec![block("box", [0.6, 0.4, 0.25], 0.05)], Interaction::default());
    put(&mut world, 0, 1.0, [0.0; 3], [0.0; 3]);
    world.grains.angular_velocity[0] = [0.2, 1.0, 0.1];
    let settings = Settings {
        time_step: Some(1e-3),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    simulation.advance(500).expect("sound steps");
    let before = simulation.snapshot();
    simulation.set_velocity(0, [0.0, 0.0, 0.5]).expect("a possible change");
    let after = simulation.snapshot();
    assert!(distance(before.angular_velocity[0], [0.2, 1.0, 0.1]) > 1e-3, "the axis moves");
    assert!(distance(before.angular_velocity[0], after.angular_velocity[0]) < 1e-12);
    assert_eq!((after.velocity[0], &after.orientation), ([0.0, 0.0, 0.5], &before.orientation));
    let [seen] = simulation.polyhedra()[..] else { panic!("one grain") };
    assert_eq!((seen.id, seen.shape, seen.radius), (0, 0, 1.0));
    assert_eq!((seen.center, seen.velocity), (after.position[0], after.velocity[0]));
    assert_eq!(seen.orientation, after.orientation[0]);
    let momentum = simulation.momentum().angular;
    simulation.advance(500).expect("sound steps");
    assert!(distance(momentum, simulation.momentum().angular) < 1e-10 * length(momentum));
}

#[test]
fn overlaps_are_shares_of_the_rounding_radius_and_messages_say_so() {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.51], [0.0, 0.0, -5.0]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, -0.51], [0.0, 0.0, 5.0]);
    let stop = started(world.clone()).advance(10_000).expect_err("a deep overlap").to_string();
    assert!(
        stop.contains("% of the smaller rounding radius; the limit is 50.0 %") && stop.contains("a larger `rounding` of the shape"),
        "{stop}"
    );
    // They overlap by 9 cm, and the rounding radius is 10 cm.
    world.grains.position[0][2] = 0.4;
    let refused = Simulation::new(world, on_threads(1)).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("at the start, 90.0 % of the smaller rounding radius"), "{refused}");
}

#[test]
fn what_polyhedra_do_not_go_with_is_refused_with_a_remedy() {
    let mut plain = world(vec![cube()], Interaction::default());
    put(&mut plain, 0, 0.1, [0.0; 3], [0.0; 3]);
    type Spoil = fn(&mut World, &mut Settings);
    let spoiled: [(Spoil, &str); 9] = [
        (
            |_, settings| settings.device = DeviceChoice::Heterogeneous(None),
            "at the same time yet; use --device cpu or --device gpu",
        ),
        (
            |world, _| {
                world.walls.push(floor());
                // A tube without ends.
                world.walls[0].shape = WallShape::Round(vec![Frustum {
                    base: [0.0; 3],
                    axis: [1.0, 0.0, 0.0],
                    height: 1.0,
                    radii: [1.0; 2],
                }]);
            },
            "wall floor: it is open, and polyhedral grains go only with closed round walls around them so far; close both ends",
        ),
        (
            |world, _| {
                world.grains.put_on_body(0, &world.shapes[0], None);
                world.grains.bodies[0].carries.push((1, [1.0, 0.0, 0.0]));
                world.grains.push(1, [1.0, 0.0, 0.0], [0.0; 3], [0.0; 3], 0.1, 0, 0);
            },
            "rigid bodies of polyhedral grains and others yet; let each body be one polyhedral grain",
        ),
        (
            |world, _| {
                world.interactions[0] = Some(Interaction {
                    cohesion: Some(Cohesion::Dmt { surface_energy: 0.1 }),
                    ..Interaction::default()
                });
            },
            "interaction stone-stone: cohesion does not go with polyhedral grains yet; leave it out",
        ),
        (
            |world, _| {
                world.interactions[0] = Some(Interaction {
                    film_exchange: Some(100.0),
                    ..Interaction::default()
                });
            },
            "liquid films yet; leave film_exchange out",
        ),
        (
            |world, _| {
                world.interactions[0] = Some(Interaction {
                    normal: NormalLaw::Hysteretic,
                    stiffness: Some(1e4),
                    restitution: 0.5,
                    ..Interaction::default()
                });
            },
            "interaction stone-stone: normal = \"hysteretic\" does not go with polyhedral grains yet; use \"hertz\" or \"linear\"",
        ),
        (
            |world, _| world.grains.orientation[0] = [2.0, 0.0, 0.0, 0.0],
            "length of the orientation is 2",
        ),
        (|world, _| world.grains.masses.clear(), "mass is NaN, must be given"),
        (|world, _| world.shapes[0].rounding = 0.5, "shape cube: it reaches"),
    ];
    for (spoil, what) in spoiled {
        let (mut world, mut settings) = (plain.clone(), on_threads(1));
        spoil(&mut world, &mut settings);
        let refused = Simulation::new(world, settings).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(what), "{what}: {refused}");
    }
}

/// A cube with an outer edge of ten centimeters on a plane, at rest, in gravity that is tilted by an angle \[rad\], after this time \[s\].
fn on_a_slope(friction: f64, angle: f64, time: f64) -> Simulation {
    let interaction = Interaction {
        tangential: TangentialLaw::Mindlin,
        restitution: 0.3,
        friction,
        ..Interaction::default()
    };
    let mut world = world(vec![cube()], interaction);
    // So hard that the cube leans by less than a hundredth of a degree.
    world.materials[0].youngs_modulus = 1e9;
    world.gravity = [9.81 * angle.sin(), 0.0, -9.81 * angle.cos()];
    world.walls.push(floor());
    put(&mut world, 0, 0.1 * OF_UNIT_CUBE, [0.0, 0.0, 0.05], [0.0; 3]);
    let mut simulation = started(world);
    let steps = time / simulation.time_step().value;
    simulation.advance(steps as u64).expect("sound steps");
    simulation
}

#[test]
fn a_cube_slides_where_the_slope_is_steeper_than_its_friction() {
    let (friction, tenth) = (0.3f64, 0.1f64.to_radians());
    let speed = |angle: f64| on_a_slope(friction, angle, 0.4).snapshot().velocity[0][0];
    let (below, above) = (speed(friction.atan() - tenth), speed(friction.atan() + tenth));
    // A tenth of a degree above, it gains g sin(0.1°)/cos(arctan µ) in each second.
    let expected = 9.81 * tenth.sin() / friction.atan().cos() * 0.4;
    assert!(below.abs() < 0.1 * expected, "{below} m/s");
    assert!(
        above > 0.6 * expected && above < 1.4 * expected,
        "{above} m/s, expected {expected} m/s"
    );
}

#[test]
fn a_cube_topples_where_its_weight_passes_the_last_corners() {
    // The corners of the core are at four fifths of the half edge, which is the height of the center.
    let (limit, fifth) = (0.8f64.atan(), 0.2f64.to_radians());
    let leans = |angle: f64| {
        // It settles on a gentler slope: the fall until its weight is carried is enough to topple it near the limit.
        let mut simulation = on_a_slope(3.0, limit - 5.0 * fifth, 0.2);
        let gravity = [9.81 * angle.sin(), 0.0, -9.81 * angle.cos()];
        let raised = simulation.change(&[SurroundingsChange::Gravity(gravity)]);
        raised.expect("a possible change");
        let steps = 0.8 / simulation.time_step().value;
        simulation.advance(steps as u64).expect("sound steps");
        let [w, ..] = simulation.snapshot().orientation[0];
        2.0 * w.abs().min(1.0).acos()
    };
    let (below, above) = (leans(limit - fifth), leans(limit + fifth));
    assert!(below < 0.01, "it leans by {below} rad");
    assert!(above > 0.2, "it leans by {above} rad");
}

#[test]
fn a_shape_that_is_a_ball_rolls_on_a_plane_as_a_sphere() {
    let rolling = |is_shape: bool| {
        let mut world = world(vec![PolyhedralShape::ball("ball")], rough());
        world.gravity = [1.0, 0.0, -9.81];
        world.walls.push(floor());
        put(&mut world, 0, 0.1, [0.0, 0.0, 0.1005], [0.2, 0.1, -0.1]);
        if !is_shape {
            world.shapes.clear();
            (world.grains.shape, world.grains.orientation) = (Vec::new(), Vec::new());
        }
        let settings = Settings {
            time_step: Some(5e-6),
            ..on_threads(1)
        };
        let mut simulation = Simulation::new(world, settings).expect("the world is sound");
        simulation.advance(10_000).expect("sound steps");
        let walls = simulation.walls();
        (simulation.snapshot(), simulation.ledger(), walls[0].force)
    };
    let ((sphere, ledger, push), (shape, of_shape, its_push)) = (rolling(false), rolling(true));
    assert!(length(sphere.angular_velocity[0]) > 0.5, "it rolls: {sphere:?}");
    assert!(distance(sphere.position[0], shape.position[0]) < 1e-12, "{sphere:?} {shape:?}");
    assert!(distance(sphere.velocity[0], shape.velocity[0]) < 1e-11, "{sphere:?} {shape:?}");
    assert!(distance(sphere.angular_velocity[0], shape.angular_velocity[0]) < 1e-10);
    assert!(distance(push, its_push) < 1e-8 * length(push).max(1.0), "{push:?} {its_push:?}");
    assert!((ledger.elastic_normal - of_shape.elastic_normal).abs() < 1e-9 * ledger.initial.abs());
    assert!((ledger.residual - of_shape.residual).abs() < 1e-9 * ledger.initial.abs());
}

#[test]
fn a_cube_that_falls_on_a_corner_keeps_its_energy_and_can_be_resumed() {
    let falling = || {
        let mut world = world(vec![cube()], Interaction::default());
        world.materials[0].youngs_modulus = 1e8;
        world.gravity = [0.0, 0.0, -9.81];
        world.walls.push(floor());
        let tilted = about([0.6, 0.8, 0.0], 0.7);
        turned(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.85], tilted, [0.0, 0.0, -1.0]);
        world
    };
    let settings = Settings {
        time_step: Some(1e-4),
        ..on_threads(1)
    };
    let mut whole = Simulation::new(falling(), settings.clone()).expect("the world is sound");
    let initial = whole.ledger();
    // The first step with a contact, and some more.
    let touching = (0..20_000).find(|_| {
        whole.step().expect("a sound step");
        whole.contacts() > 0
    });
    assert!(touching.is_some(), "the cube falls on the plane");
    whole.advance(20).expect("sound steps");
    assert!(whole.ledger().elastic_normal > 0.0);
    let state = whole.save().expect("a sound state");
    let mut resumed = Simulation::restore(falling(), settings, &state).expect("the state fits");
    assert_eq!(resumed.ledger(), whole.ledger());
    for simulation in [&mut whole, &mut resumed] {
        simulation.advance(5000).expect("sound steps");
    }
    assert_eq!(resumed.save().unwrap(), whole.save().unwrap());
    let ledger = whole.ledger();
    assert!(ledger.residual.abs() < 1e-3 * initial.kinetic, "{initial:?} {ledger:?}");
    assert!(length(whole.snapshot().angular_velocity[0]) > 0.1, "the corner turned it");
}

/// A closed drum of this radius around the axis y, two meters wide.
fn drum(radius: f64) -> Wall {
    let axis = [0.0, 1.0, 0.0];
    let mantle = Frustum {
        base: [0.0, -1.0, 0.0],
        axis,
        height: 2.0,
        radii: [radius; 2],
    };
    let ends = [-1.0, 1.0].map(|y| Frustum::disk([0.0, y, 0.0], axis, radius));
    Wall {
        name: "drum".into(),
        shape: WallShape::Round(vec![mantle, ends[0], ends[1]]),
        ..floor()
    }
}

#[test]
fn a_cube_that_falls_in_a_drum_keeps_its_energy() {
    let mut world = world(vec![cube()], Interaction::default());
    world.materials[0].youngs_modulus = 1e9;
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(drum(1.5));
    turned(
        &mut world,
        0,
        OF_UNIT_CUBE,
        [0.1, 0.0, -0.2],
        about([0.6, 0.8, 0.0], 0.2),
        [0.0, 0.3, -1.0],
    );
    let settings = Settings {
        time_step: Some(5e-5),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let mass = simulation.snapshot().mass[0];
    let mut most = 0.0f64;
    for _ in 0..12_000 {
        simulation.step().expect("a sound step");
        most = most.max(simulation.ledger().elastic_normal);
    }
    let (ledger, scale) = (simulation.ledger(), mass * 9.81);
    assert!(most > 0.1 * scale, "it has touched the drum: {most}");
    assert!(ledger.residual.abs() < 2e-3 * scale, "{ledger:?}");
    let [x, _, z] = simulation.snapshot().position[0];
    assert!(x.hypot(z) < 1.5 - 0.45, "{x} {z}");
}

#[test]
fn round_walls_must_be_closed_and_around_polyhedra() {
    let refused = |spoil: fn(&mut World)| {
        let mut world = world(vec![cube()], Interaction::default());
        world.walls.push(drum(1.5));
        put(&mut world, 0, 0.1, [0.0; 3], [0.0; 3]);
        spoil(&mut world);
        Simulation::new(world, on_threads(1))
            .map(|_| ())
            .err()
            .map(|refusal| refusal.to_string())
    };
    assert_eq!(refused(|_| {}), None);
    type Spoil = fn(&mut World);
    let spoiled: [(Spoil, &str); 4] = [
        (
            |world| {
                // A floor comes before the wall that is meant.
                world.walls.insert(0, floor());
                if let WallShape::Round(frusta) = &mut world.walls[1].shape {
                    frusta.pop();
                }
            },
            "wall drum: it is open, and polyhedral grains go only with closed round walls around them",
        ),
        (
            |world| world.grains.position[0] = [0.0, 0.0, 2.0],
            "wall drum: polyhedral grain 0 at (0.0000e0, 0.0000e0, 2.0000e0) m is not inside",
        ),
        (
            |world| world.walls[0].motion.surface.velocity = [0.0, 0.1, 0.0],
            "wall drum: its surface velocity or surface rotation does not go with polyhedral grains",
        ),
        (
            |world| world.walls[0].specific_wear_rate = 1e-13,
            "wall drum: wear does not go with polyhedral grains yet",
        ),
    ];
    for (spoil, what) in spoiled {
        let message = refused(spoil).unwrap_or_default();
        assert!(message.contains(what), "{what}: {message}");
    }
}

#[test]
fn too_many_contacts_with_a_wall_are_an_error_with_both_names() {
    // The prism falls on its end, which has forty vertices.
    let mut world = world(vec![prism("disk", 40, [0.3, 0.4], 0.1)], Interaction::default());
    world.walls.push(floor());
    let upright = about([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    turned(&mut world, 0, 0.6, [0.0, 0.0, 0.5001], upright, [0.0, 0.0, -0.5]);
    let settings = Settings {
        time_step: Some(5e-5),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let stopped = (0..40).find_map(|_| simulation.advance(25).err()).expect("an error").to_string();
    for phrase in [
        "grain 0 (shape disk) and wall floor have ",
        " contacts, and at most 32 are possible; use a shape of fewer faces",
    ] {
        assert!(stopped.contains(phrase), "no `{phrase}` in {stopped}");
    }
}

#[test]
fn the_normal_of_a_contact_with_a_round_wall_is_that_of_its_surface() {
    let mut world = world(Vec::new(), Interaction::default());
    world.walls.push(drum(1.5));
    // A sphere a millimeter deep in the wall, below the axis on the side of x.
    world
        .grains
        .push(0, [0.6 * 1.401, 0.2, -0.8 * 1.401], [0.0; 3], [0.0; 3], 0.1, 0, 0);
    let mut simulation = started(world);
    let records = simulation.contacts_now().unwrap();
    let [record] = records[..] else {
        panic!("one contact: {records:?}")
    };
    assert_eq!(record.b, Partner::Wall(0));
    assert!(distance(record.normal, [-0.6, 0.0, 0.8]) < 1e-9, "{record:?}");
    assert!((record.overlap - 1e-3).abs() < 1e-9 && length(record.tangential_force) < 1e-9 * length(record.normal_force));
}

#[test]
fn a_snapshot_has_the_volume_of_the_shape_and_not_of_the_bounding_sphere() {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, OF_UNIT_CUBE, [0.0; 3], [0.0; 3]);
    let density = world.materials[0].density;
    let grains = Simulation::new(world, on_threads(1)).expect("the world is sound").snapshot();
    assert!(
        (grains.volume_of(0) * density / grains.mass[0] - 1.0).abs() < 1e-12,
        "{:?}",
        grains.volume
    );
    assert!(grains.shape_of(0).is_some_and(|shape| shape.name == "cube"));
    // Also without the column.
    let without = GrainSnapshot {
        volume: Vec::new(),
        ..grains.clone()
    };
    assert_eq!(without.volume_of(0), grains.volume_of(0));
}
