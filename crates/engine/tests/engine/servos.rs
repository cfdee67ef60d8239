//! What servos set: a force while the bed is withdrawn, a stress while the area changes, a torque.

use crate::beds;
use seixo_engine::world::{Domain, Extent, Grains, LeavingPolicy, Servo, ServoTarget, Settings, Vec3, Wall, WallMotion, WallShape, World};
use seixo_engine::{Simulation, SurroundingsChange, WorldError};
use seixo_laws::contact::TangentialLaw;

/// Radius of the ball \[m\].
const RADIUS: f64 = 2e-3;

fn wall(name: &str, shape: WallShape, motion: WallMotion) -> Wall {
    Wall {
        name: name.into(),
        material: 0,
        shape,
        motion,
        specific_wear_rate: 0.0,
    }
}

fn plane(name: &str, point: Vec3, normal: Vec3, velocity: Vec3) -> Wall {
    let motion = WallMotion {
        velocity,
        ..WallMotion::default()
    };
    wall(name, WallShape::Plane { point, normal }, motion)
}

/// One ball without gravity, among these walls.
fn ball(position: Vec3, walls: Vec<Wall>) -> World {
    let mut world = beds::falling(1, TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.grains = Grains::default();
    world.grains.push(0, position, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    world.walls = walls;
    world
}

fn after(world: &World, time: f64) -> Simulation {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    let steps = (time / simulation.time_step().value).round() as u64;
    simulation.advance(steps).unwrap();
    simulation
}

/// A ball on a floor that moves down, and a press above.
fn withdrawn(target: ServoTarget, integral_time: Option<f64>, velocity: Vec3) -> World {
    let mut press = plane("press", [0.0, 0.0, 2.05 * RADIUS], [0.0, 0.0, -1.0], [0.0; 3]);
    press.motion.servo = Some(Servo {
        along: [0.0, 0.0, -1.0],
        target,
        velocity_limit: 0.05,
        integral_time,
        ..Servo::default()
    });
    ball([0.0, 0.0, RADIUS], vec![plane("floor", [0.0; 3], [0.0, 0.0, 1.0], velocity), press])
}

#[test]
fn no_force_is_missing_while_the_bed_is_withdrawn() {
    let (force, speed) = (0.05, 0.01);
    let load = |integral_time: Option<f64>| {
        let world = withdrawn(ServoTarget::Force(force), integral_time, [0.0, 0.0, -speed]);
        let simulation = after(&world, 0.6);
        let height = simulation.walls()[1].position[2];
        // The press follows the floor: the ball between them is as thick as before, within its overlaps.
        assert!(
            (height - (2.0 * RADIUS - speed * simulation.time())).abs() < 0.05 * RADIUS,
            "{height}"
        );
        simulation.walls()[1].force[2] / force
    };
    let (exact, lagging) = (load(None), load(Some(1e9)));
    println!("with an integral part {exact}, without {lagging}");
    assert!((exact - 1.0).abs() < 1e-3, "{exact}");
    // Proportional control needs an error to move at all.
    assert!(lagging < 0.97, "{lagging}");
}

/// Another motion for the press.
fn press_by(motion: WallMotion) -> [SurroundingsChange; 1] {
    [SurroundingsChange::Motion {
        wall: 1,
        motion: Box::new(motion),
    }]
}

#[test]
fn a_motion_that_is_refused_changes_nothing() {
    let mut world = withdrawn(ServoTarget::Force(0.05), None, [0.0; 3]);
    world.domain = Some(Domain {
        periodic: [true, true, false],
        ..Domain::open([-0.02; 3], [0.02; 3], LeavingPolicy::Error)
    });
    let [mut refused, mut other] = [0, 1].map(|_| after(&world, 2e-3));
    let fast = 0.11 * RADIUS / refused.time_step().value;
    let tilted = press_by(WallMotion {
        angular_velocity: [1.0, 0.0, 0.0],
        ..WallMotion::default()
    });
    let fast = press_by(WallMotion {
        velocity: [0.0, 0.0, fast],
        ..WallMotion::default()
    });
    let error = refused.change(&tilted).unwrap_err();
    assert!(matches!(&error, WorldError::Wall { name, .. } if name == "press"), "{error}");
    let error = refused.change(&fast).unwrap_err();
    assert!(matches!(&error, WorldError::TooFast { name, .. } if name == "press"), "{error}");
    assert!(refused.save().unwrap() == other.save().unwrap());
    for simulation in [&mut refused, &mut other] {
        simulation.advance(100).unwrap();
    }
    assert!(refused.save().unwrap() == other.save().unwrap());
    assert_eq!(refused.servo_target(1), Some(0.05));
}

#[test]
fn a_wall_may_go_a_tenth_of_the_smallest_radius_in_a_step() {
    let mut simulation = after(&withdrawn(ServoTarget::Force(0.05), None, [0.0; 3]), 0.0);
    let most = 0.1 * RADIUS / simulation.time_step().value;
    let up = |velocity: f64| {
        press_by(WallMotion {
            velocity: [0.0, 0.0, velocity],
            ..WallMotion::default()
        })
    };
    assert!(matches!(simulation.change(&up(1.01 * most)), Err(WorldError::TooFast { .. })));
    simulation.change(&up(0.99 * most)).unwrap();
    let [_, _, velocity] = simulation.velocities_of_wall(1)[0];
    assert!((velocity / most - 0.99).abs() < 1e-12, "{velocity}");
}

#[test]
fn a_stress_acts_on_the_area_that_walls_leave() {
    // The distance in x grows from 10 mm to 13 mm, without contact with the ball.
    let (stress, width, edge, speed) = (62.5, 0.1, 1e-3, 5e-3);
    let area = [Extent::Between { walls: [2, 3], edge }, Extent::Length(width)];
    let mut world = withdrawn(ServoTarget::Stress { stress, area }, None, [0.0; 3]);
    world.walls.push(plane("left", [-5e-3, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]));
    world
        .walls
        .push(plane("right", [5e-3, 0.0, 0.0], [-1.0, 0.0, 0.0], [speed, 0.0, 0.0]));
    let simulation = after(&world, 0.6);
    let expected = stress * width * (10e-3 + speed * simulation.time() - 2.0 * edge);
    let load = simulation.walls()[1].force[2];
    println!("{load} N of {expected} N");
    // The force rises at a constant rate, by 40 % in all. That takes a constant speed, for which nothing is missing.
    assert!((load / expected - 1.0).abs() < 5e-3, "{load} {expected}");
    // An area between planes that do not face each other, or that are none, is refused.
    for (walls, phrase) in [
        ([2, 2], "which do not face each other"),
        ([2, 0], "which do not face each other"),
        ([2, 9], "and there are 4"),
    ] {
        let mut world = world.clone();
        let area = [Extent::Between { walls, edge }, Extent::Length(width)];
        world.walls[1].motion.servo.as_mut().unwrap().target = ServoTarget::Stress { stress, area };
        let refused = Simulation::new(world, Settings::default());
        let message = refused.err().expect("such an area is refused").to_string();
        assert!(message.contains("wall press") && message.contains(phrase), "{message}");
    }
}

#[test]
fn a_torque_is_reached_and_held() {
    // A plate on the z axis pushes a ball at a distance of 10 mm against a plane.
    let (torque, gap) = (5e-4, 1e-4);
    let corners = [[0.0, -1e-2], [2e-2, -1e-2], [2e-2, 1e-2], [0.0, 1e-2]].map(|[x, z]| [x, 0.0, z]);
    let triangles = vec![[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]];
    let motion = WallMotion {
        servo: Some(Servo {
            along: [0.0, 0.0, 1.0],
            target: ServoTarget::Torque(torque),
            velocity_limit: 1.0,
            ..Servo::default()
        }),
        ..WallMotion::default()
    };
    let stop = plane("stop", [0.0, 2.0 * RADIUS + gap, 0.0], [0.0, -1.0, 0.0], [0.0; 3]);
    let mut world = ball(
        [1e-2, RADIUS + gap, 2e-3],
        vec![stop, wall("vane", WallShape::Mesh(triangles), motion)],
    );
    let simulation = after(&world, 1.0);
    let (vane, ledger) = (simulation.walls()[1].clone(), simulation.ledger());
    println!("{vane:?} {ledger:?}");
    assert!((vane.torque[2] / -torque - 1.0).abs() < 1e-3, "{vane:?}");
    // It turned by the gap over the distance, and by the overlaps.
    assert!(vane.angle > gap / 1e-2 && vane.angle < 3.0 * gap / 1e-2, "{vane:?}");
    assert!(
        ledger.wall_work > 0.0 && ledger.residual.abs() < 0.02 * ledger.wall_work,
        "{ledger:?}"
    );
    // A wall has one axis.
    world.walls[1].motion.angular_velocity = [0.0, 0.0, 1.0];
    let refused = Simulation::new(world, Settings::default());
    let message = refused.err().expect("two rotations are refused").to_string();
    assert!(message.contains("wall vane: a servo with a torque turns it"), "{message}");
}
