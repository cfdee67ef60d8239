//! Grains on walls that are round, that move, that have a moving surface, or that have a servo.

use crate::beds;
use seixo_engine::Simulation;
use seixo_engine::world::{
    Frustum, Grains, MotionFrame, Servo, ServoTarget, Settings, SurfaceMotion, Vec3, Vibration, Wall, WallMotion, WallPath, WallShape,
    World,
};
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::{PI, TAU};

const GRAVITY: f64 = 9.81;
/// Radius of the balls \[m\].
const RADIUS: f64 = 2e-3;

fn wall(name: &str, shape: WallShape) -> Wall {
    Wall {
        name: name.into(),
        material: 0,
        shape,
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }
}

fn plane(point: Vec3, normal: Vec3) -> Wall {
    wall("plane", WallShape::Plane { point, normal })
}

/// Balls at rest at these positions, and walls around them.
fn balls(places: &[Vec3], walls: Vec<Wall>) -> World {
    let mut world = beds::falling(1, TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -GRAVITY];
    world.grains = Grains::default();
    for (id, &place) in places.iter().enumerate() {
        world.grains.push(id as u32, place, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    }
    world.walls = walls;
    world
}

fn mass() -> f64 {
    4.0 / 3.0 * PI * RADIUS.powi(3) * 2500.0
}

/// Overlap of a ball at rest with a wall under this force: Hertz, R* = R, E* of two equal materials \[m\].
fn overlap_at(force: f64) -> f64 {
    let effective_modulus = 1e7 / (2.0 * (1.0 - 0.3 * 0.3));
    (0.75 * force / (effective_modulus * RADIUS.sqrt())).powf(2.0 / 3.0)
}

fn start(world: &World) -> Simulation {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    Simulation::new(world.clone(), settings).unwrap()
}

fn run(simulation: &mut Simulation, time: f64) {
    let steps = ((time - simulation.time()) / simulation.time_step().value).round() as u64;
    simulation.advance(steps).unwrap();
}

/// A horizontal cylinder along y.
fn tube(radius: f64) -> Frustum {
    Frustum {
        base: [0.0, -0.05, 0.0],
        axis: [0.0, 1.0, 0.0],
        height: 0.1,
        radii: [radius; 2],
    }
}

/// Position at an angle from the bottom of a tube, with the overlap at rest.
fn in_tube(radius: f64, angle: f64) -> Vec3 {
    let arm = radius - RADIUS + overlap_at(mass() * GRAVITY);
    [arm * angle.sin(), 0.0, -arm * angle.cos()]
}

#[test]
fn a_ball_rolls_in_a_cylinder_as_a_pendulum() {
    let radius = 20e-3;
    let mut world = balls(&[in_tube(radius, 0.05)], vec![wall("tube", WallShape::Round(vec![tube(radius)]))]);
    world.interactions[0].as_mut().unwrap().restitution = 0.9;
    let mut simulation = start(&world);
    let mut crossings = Vec::new();
    let mut before = simulation.snapshot().position[0][0];
    while crossings.len() < 3 {
        simulation.advance(1).unwrap();
        let now = simulation.snapshot().position[0][0];
        if before * now < 0.0 {
            crossings.push(simulation.time() - simulation.time_step().value * now / (now - before));
        }
        before = now;
        assert!(simulation.time() < 2.0, "it comes back");
    }
    let period = crossings[2] - crossings[0];
    // 7/5 m (R − r)² θ″ = −m g (R − r) θ: it rolls without slipping.
    let expected = TAU * (7.0 * (radius - RADIUS) / (5.0 * GRAVITY)).sqrt();
    println!("period {period} s, expected {expected} s");
    assert!((period / expected - 1.0).abs() < 0.01, "{period} {expected}");
}

#[test]
fn a_ball_comes_to_rest_where_a_wall_bears_its_weight() {
    let weight = mass() * GRAVITY;
    let depth = overlap_at(weight);
    let big = 20e-3;
    let sphere = |center: Vec3| wall("sphere", WallShape::Sphere { center, radius: big });
    let cone = Frustum {
        base: [0.0; 3],
        axis: [0.0, 0.0, 1.0],
        height: 20e-3,
        radii: [0.0, 20e-3],
    };
    let arm = big - RADIUS + depth;
    let cases = [
        (
            "in a tube",
            in_tube(big, 0.7),
            wall("tube", WallShape::Round(vec![tube(big)])),
            [0.0, 0.0, -arm],
        ),
        (
            "on a tube",
            [0.0, 0.0, big + RADIUS],
            wall("tube", WallShape::Round(vec![tube(big)])),
            [0.0, 0.0, big + RADIUS - depth],
        ),
        ("in a sphere", [1e-3, -2e-3, -17.8e-3], sphere([0.0; 3]), [0.0, 0.0, -arm]),
        (
            "on a sphere",
            [0.0, 0.0, big + RADIUS],
            sphere([0.0; 3]),
            [0.0, 0.0, big + RADIUS - depth],
        ),
        (
            "on a disk",
            [5e-3, 0.0, RADIUS],
            wall("disk", WallShape::Round(vec![Frustum::disk([0.0; 3], [0.0, 0.0, 1.0], 20e-3)])),
            [5e-3, 0.0, RADIUS - depth],
        ),
        ("on a tip", [0.0, 0.0, RADIUS], upside_down(cone), [0.0, 0.0, RADIUS - depth]),
    ];
    for (name, at, wall, expected) in cases {
        let mut world = balls(&[at], vec![wall]);
        world.local_damping = 0.7;
        let mut simulation = start(&world);
        run(&mut simulation, 3.0);
        let ball = simulation.snapshot();
        let force = simulation.walls()[0].force;
        println!("{name}: at {:?}, wall bears {force:?}, weight {weight}", ball.position[0]);
        assert_eq!(ball.coordination[0], 1, "{name}");
        for axis in 0..3 {
            // Local damping of 0.7 leaves a tenth of the distance to the bottom every 0.4 s.
            assert!(
                (ball.position[0][axis] - expected[axis]).abs() < 1e-4 * big,
                "{name}: {:?}",
                ball.position[0]
            );
            assert!((force[axis] - [0.0, 0.0, -weight][axis]).abs() < 1e-3 * weight, "{name}: {force:?}");
        }
        assert!(
            (ball.position[0][2] - expected[2]).abs() < 0.01 * depth,
            "{name}: {:?}",
            ball.position[0]
        );
    }
}

/// A cone with its base below and its tip at the origin.
fn upside_down(cone: Frustum) -> Wall {
    let axis = cone.axis.map(|x| -x);
    wall("cone", WallShape::Round(vec![Frustum { axis, ..cone }]))
}

#[test]
fn where_mantle_and_cap_meet_nothing_counts_twice() {
    // A closed cylinder that stands at the origin.
    let (radius, height) = (10e-3, 20e-3);
    let up = [0.0, 0.0, 1.0];
    let mantle = Frustum {
        base: [0.0; 3],
        axis: up,
        height,
        radii: [radius; 2],
    };
    let can = WallShape::Round(vec![
        mantle,
        Frustum::disk([0.0; 3], up, radius),
        Frustum::disk([0.0, 0.0, height], up, radius),
    ]);
    let touch = 0.99 * RADIUS;
    let aslant = touch / 2f64.sqrt();
    for (name, at, contacts, normals) in [
        (
            "on the rim from outside",
            [radius + aslant, 0.0, height + aslant],
            1,
            vec![[0.5f64.sqrt(), 0.0, 0.5f64.sqrt()]],
        ),
        ("on the cap beside the rim", [radius - 1e-6, 0.0, height + touch], 1, vec![up]),
        (
            "on the mantle below the rim",
            [0.0, -radius - touch, height - 1e-6],
            1,
            vec![[0.0, -1.0, 0.0]],
        ),
        ("in the corner", [radius - touch, 0.0, touch], 2, vec![[-1.0, 0.0, 0.0], up]),
        (
            "on the mantle inside",
            [radius - touch, 0.0, 0.5 * height],
            1,
            vec![[-1.0, 0.0, 0.0]],
        ),
    ] {
        let mut world = balls(&[at], vec![wall("can", can.clone())]);
        world.gravity = [0.0; 3];
        let ball = start(&world).snapshot();
        assert_eq!(ball.coordination[0], contacts, "{name}");
        let each = (0.01 * RADIUS / overlap_at(1.0)).powf(1.5);
        for axis in 0..3 {
            let expected = each * normals.iter().map(|normal| normal[axis]).sum::<f64>();
            assert!(
                (ball.force[0][axis] - expected).abs() < 1e-6 * each,
                "{name}: {:?} {expected}",
                ball.force[0]
            );
        }
    }
}

#[test]
fn a_grain_on_the_axis_or_at_the_center_stays_a_number() {
    let tip = Frustum {
        base: [0.0; 3],
        axis: [0.0, 0.0, 1.0],
        height: 20e-3,
        radii: [0.0, 20e-3],
    };
    for (name, shape, at) in [
        ("wide tube", WallShape::Round(vec![tube(10e-3)]), [0.0; 3]),
        ("narrow tube", WallShape::Round(vec![tube(0.99 * RADIUS)]), [0.0; 3]),
        (
            "tight sphere",
            WallShape::Sphere {
                center: [0.0; 3],
                radius: 0.99 * RADIUS,
            },
            [0.0; 3],
        ),
        ("cone", WallShape::Round(vec![tip]), [0.0, 0.0, 1.401 * RADIUS]),
    ] {
        let mut world = balls(&[at], vec![wall(name, shape)]);
        world.gravity = [0.0; 3];
        let mut simulation = start(&world);
        simulation.advance(200).unwrap();
        let ball = simulation.snapshot();
        let is_finite = [ball.position[0], ball.velocity[0], ball.force[0]]
            .as_flattened()
            .iter()
            .all(|x| x.is_finite());
        assert!(is_finite, "{name}: {ball:?}");
        assert_eq!(ball.position[0] == at, name == "wide tube", "{name}: {ball:?}");
    }
}

#[test]
fn a_round_wall_and_its_triangulation_agree() {
    let radius = 20e-3;
    let exact = balls(&[in_tube(radius, 0.8)], vec![wall("tube", WallShape::Round(vec![tube(radius)]))]);
    let mut flat = exact.clone();
    flat.walls[0].shape = WallShape::Mesh(tube(radius).triangles(512));
    let [exact, flat] = [exact, flat].map(|world| {
        let mut simulation = start(&world);
        run(&mut simulation, 0.25);
        (simulation.snapshot(), simulation.walls()[0].force)
    });
    // Faces are nearer to the axis by up to R (1 − cos(π/512)), 2·10⁻⁵ R, and collisions with their edges reduce the speed a little.
    for axis in 0..3 {
        let apart = [exact.0.position[0][axis], flat.0.position[0][axis]];
        assert!((apart[0] - apart[1]).abs() < 2e-3 * radius, "{apart:?}");
        let speeds = [exact.0.velocity[0][axis], flat.0.velocity[0][axis]];
        assert!((speeds[0] - speeds[1]).abs() < 5e-3, "{speeds:?}");
    }
    println!("{:?} {:?}, {:?} {:?}", exact.0.position, flat.0.position, exact.1, flat.1);
}

#[test]
fn a_vibrating_plate_carries_a_ball_and_the_ledger_closes() {
    let vibration = |amplitude: f64, frequency: f64| Vibration {
        amplitude: [0.0, 0.0, amplitude],
        frequency,
        phase: 0.0,
    };
    let rest = RADIUS - overlap_at(mass() * GRAVITY);
    let mut plate = plane([0.0; 3], [0.0, 0.0, 1.0]);
    // A third of gravity: the ball stays on the plate and moves with it.
    let (amplitude, frequency) = (1e-4, 28.0);
    plate.motion.vibrations = vec![vibration(amplitude, frequency)];
    let mut simulation = start(&balls(&[[0.0, 0.0, rest]], vec![plate.clone()]));
    let mut farthest = 0.0f64;
    while simulation.time() < 0.3 {
        simulation.advance(20).unwrap();
        let height = simulation.snapshot().position[0][2] - rest;
        // The first quarter of a period starts with a jump of the plate's speed.
        if simulation.time() > 0.1 {
            farthest = farthest.max((height - amplitude * (TAU * frequency * simulation.time()).sin()).abs());
        }
    }
    println!("farthest from the plate's place: {:.1e} of the amplitude", farthest / amplitude);
    assert!(farthest < 0.02 * amplitude, "{farthest}");

    // Six times gravity and a second mode: the ball is thrown about.
    plate.motion.vibrations = vec![vibration(4e-4, 60.0), vibration(1e-4, 95.0)];
    let places: Vec<Vec3> = (0..9)
        .map(|k| [5e-3 * f64::from(k % 3), 5e-3 * f64::from(k / 3), rest + 1e-4 * f64::from(k)])
        .collect();
    let world = balls(&places, vec![plate]);
    let usual = start(&world).time_step().value;
    let missing = [1.0, 0.25].map(|share| {
        let settings = Settings {
            threads: 1,
            time_step: Some(share * usual),
            ..Settings::default()
        };
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        run(&mut simulation, 0.3);
        let ledger = simulation.ledger();
        println!("{ledger:?}");
        assert!(ledger.wall_work > 1e-5 && ledger.normal_damping > 1e-5, "{ledger:?}");
        ledger.residual.abs() / ledger.wall_work
    });
    // "auto" resolves collisions with few steps; a quarter of the step leaves a sixteenth of the error.
    assert!(missing[0] < 5e-3 && missing[1] < 5e-4, "{missing:?}");
}

#[test]
fn a_plate_on_a_path_does_work_that_the_ledger_has_and_ends_at_rest() {
    let mut plate = plane([0.0; 3], [0.0, 0.0, 1.0]);
    plate.motion.path = Some(WallPath {
        time: vec![0.05, 0.15, 0.2],
        position: vec![[7.0, 0.0, 1.0], [7.0, 0.0, 1.01], [7.0, 0.0, 1.02]],
        ..WallPath::default()
    });
    let rest = RADIUS - overlap_at(mass() * GRAVITY);
    let mut world = balls(&[[0.0, 0.0, rest]], vec![plate]);
    world.local_damping = 0.1;
    let mut simulation = start(&world);
    run(&mut simulation, 0.4);
    let (ledger, height) = (simulation.ledger(), simulation.snapshot().position[0][2]);
    assert!((height - rest - 0.02).abs() < 1e-5, "{height}");
    let lifted = mass() * GRAVITY * 0.02;
    assert!((ledger.gravity - ledger.initial - lifted).abs() < 2e-3 * lifted, "{ledger:?}");
    assert!(ledger.wall_work > lifted && ledger.residual.abs() < 1e-3 * lifted, "{ledger:?}");
    let wall = &simulation.walls()[0];
    assert!((wall.position[2] - 0.02).abs() < 1e-12 && wall.angle == 0.0, "{wall:?}");
}

#[test]
fn a_belt_sets_a_ball_rolling_as_a_plate_that_moves_does() {
    let (speed, rest) = (0.2, RADIUS - overlap_at(mass() * GRAVITY));
    let mut belt = plane([0.0; 3], [0.0, 0.0, 1.0]);
    // Only the component along the surface counts.
    belt.motion.surface.velocity = [speed, 0.0, 7.0];
    let mut plate = plane([0.0; 3], [0.0, 0.0, 1.0]);
    plate.motion.velocity = [speed, 0.0, 0.0];
    let [on_belt, on_plate] = [belt, plate].map(|wall| {
        let mut simulation = start(&balls(&[[0.0, 0.0, rest]], vec![wall]));
        run(&mut simulation, 0.2);
        (simulation.snapshot(), simulation.ledger(), simulation.walls()[0].position)
    });
    let (ball, ledger) = (&on_belt.0, &on_belt.1);
    // Friction changes v and −5/2 R ω alike until the surfaces no longer slip: v = 2/7 of the belt's speed.
    let surface = ball.velocity[0][0] - ball.angular_velocity[0][1] * RADIUS;
    assert!((ball.velocity[0][0] / speed - 2.0 / 7.0).abs() < 1e-3, "{ball:?}");
    assert!((surface / speed - 1.0).abs() < 1e-3, "{surface}");
    assert!(ledger.residual.abs() < 1e-3 * ledger.wall_work, "{ledger:?}");
    assert_eq!(on_belt.2, [0.0; 3], "the belt stands");
    for axis in 0..3 {
        assert!((ball.position[0][axis] - on_plate.0.position[0][axis]).abs() < 1e-12);
    }
}

#[test]
fn the_skin_of_a_roller_drives_as_the_roller_that_turns_does() {
    let radius = 20e-3;
    let turn = [0.0, 30.0, 0.0];
    let start_at = [0.0, 0.0, radius + RADIUS - overlap_at(mass() * GRAVITY)];
    let mut skin = wall("roller", WallShape::Round(vec![tube(radius)]));
    skin.motion.surface = SurfaceMotion {
        angular_velocity: turn,
        through: [0.0, 1.0, 0.0],
        ..SurfaceMotion::default()
    };
    let mut roller = wall("roller", WallShape::Round(vec![tube(radius)]));
    roller.motion.angular_velocity = turn;
    let [by_skin, by_roller] = [skin, roller].map(|wall| {
        let mut simulation = start(&balls(&[start_at], vec![wall]));
        run(&mut simulation, 0.03);
        (simulation.snapshot(), simulation.ledger().wall_work)
    });
    assert!(by_skin.0.velocity[0][0] > 0.05, "{:?}", by_skin.0.velocity);
    for axis in 0..3 {
        assert!((by_skin.0.position[0][axis] - by_roller.0.position[0][axis]).abs() < 1e-12);
        assert!((by_skin.0.angular_velocity[0][axis] - by_roller.0.angular_velocity[0][axis]).abs() < 1e-8);
    }
    assert!((by_skin.1 / by_roller.1 - 1.0).abs() < 1e-8);
}

/// A plate above grains that a servo presses down.
fn press(height: f64, force: f64, velocity_limit: f64) -> Wall {
    let mut press = plane([0.0, 0.0, height], [0.0, 0.0, -1.0]);
    press.motion.servo = Some(Servo {
        along: [0.0, 0.0, -1.0],
        target: ServoTarget::Force(force),
        velocity_limit,
        ..Servo::default()
    });
    press
}

#[test]
fn a_servo_reaches_its_force_and_holds_it() {
    // One ball between floor and press: the displacement is known.
    let force = 0.05;
    let floor = plane([0.0; 3], [0.0, 0.0, 1.0]);
    let mut world = balls(&[[0.0, 0.0, RADIUS]], vec![floor, press(2.1 * RADIUS, force, 0.05)]);
    world.gravity = [0.0; 3];
    // A time after which nothing of the approach is left in the integral part.
    world.walls[1].motion.servo.as_mut().unwrap().integral_time = Some(5e-3);
    let mut simulation = start(&world);
    let mut fastest = 0.0f64;
    let mut before = simulation.walls()[1].position[2];
    for _ in 0..200 {
        let next = simulation.time() + 5e-4;
        run(&mut simulation, next);
        let now = simulation.walls()[1].position[2];
        fastest = fastest.max((now - before).abs() / 5e-4);
        before = now;
    }
    assert!(fastest < 0.0501 && fastest > 0.045, "{fastest}");
    let (height, load) = (simulation.walls()[1].position[2], simulation.walls()[1].force[2]);
    println!("one ball: {height} m, {load} N");
    assert!((load / force - 1.0).abs() < 1e-6, "{load}");
    assert!((height - 2.0 * (RADIUS - overlap_at(force))).abs() < 1e-9, "{height}");

    // A bed in a box: it is compressed, and the force stays.
    let mut world = beds::falling(512, TangentialLaw::Mindlin);
    world.walls[0].motion = WallMotion::default();
    world.walls.push(press(9.2e-3, 0.5, 0.2));
    let mut simulation = start(&world);
    run(&mut simulation, 0.03);
    let mut off = 0.0f64;
    for _ in 0..100 {
        simulation.advance(20).unwrap();
        off = off.max((simulation.walls()[5].force[2] / 0.5 - 1.0).abs());
    }
    let ledger = simulation.ledger();
    println!("bed: off by {off:.1e}, {ledger:?}");
    assert!(off < 0.01, "{off}");
    assert!(
        ledger.residual.abs() < 1e-3 * (ledger.wall_work.abs() + ledger.initial.abs()),
        "{ledger:?}"
    );
}

#[test]
fn a_tray_of_a_ferris_wheel_stays_level_and_bears_what_inertia_adds() {
    let (radius, rate) = (20e-3, 10.0);
    let mut tray = plane([radius, 0.0, 0.0], [0.0, 0.0, 1.0]);
    tray.motion = WallMotion {
        angular_velocity: [0.0, -rate, 0.0],
        through: [radius, 0.0, 0.0],
        frame: Some(MotionFrame {
            velocity: [0.0; 3],
            angular_velocity: [0.0, rate, 0.0],
            through: [0.0; 3],
        }),
        ..WallMotion::default()
    };
    // The ball starts with the velocity of the tray, which is vertical there.
    let mut world = balls(&[[radius, 0.0, RADIUS - overlap_at(mass() * GRAVITY)]], vec![tray]);
    world.grains.velocity[0] = [0.0, 0.0, -radius * rate];
    let mut simulation = start(&world);
    for share in [0.25, 0.5, 0.75, 1.0] {
        run(&mut simulation, share * TAU / rate);
        let (sin, cos) = (rate * simulation.time()).sin_cos();
        let tray = &simulation.walls()[0];
        let (at, normal) = tray.plane.unwrap();
        for (found, expected) in at.into_iter().chain(normal).zip([radius * cos, 0.0, -radius * sin, 0.0, 0.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{share}: {tray:?}");
        }
        assert!((tray.angle - rate * simulation.time()).abs() < 1e-12, "{tray:?}");
        // It goes down as −r sin ωt, so its acceleration is r ω² sin ωt. The ball follows within its contact time, some thousandths of a turn.
        let expected = mass() * (GRAVITY + radius * rate * rate * sin);
        assert!(
            (-tray.force[2] / expected - 1.0).abs() < 0.01,
            "{share}: {} {expected}",
            tray.force[2]
        );
    }
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 5e-3 * mass() * GRAVITY * radius, "{ledger:?}");
}

#[test]
fn walls_that_cannot_be_are_refused_with_their_name() {
    let flat = Frustum { height: 0.0, ..tube(1e-2) };
    let mut backwards = plane([0.0; 3], [0.0, 0.0, 1.0]);
    (backwards.motion.start, backwards.motion.stop) = (2.0, Some(1.0));
    let mut carried = press(1.0, 1.0, 1.0);
    carried.name = "plane".into();
    carried.motion.frame = Some(MotionFrame {
        velocity: [1.0, 0.0, 0.0],
        angular_velocity: [0.0; 3],
        through: [0.0; 3],
    });
    for (wall, phrase) in [
        (wall("ring", WallShape::Round(vec![flat])), "wall ring: a mantle of it"),
        (
            wall(
                "dot",
                WallShape::Sphere {
                    center: [0.0; 3],
                    radius: -1.0,
                },
            ),
            "wall dot: its radius is -1 m",
        ),
        (backwards, "wall plane: its motion stops at 1 s"),
        (
            carried,
            "wall plane: it has a servo, whose direction is fixed, and a frame that moves",
        ),
        (
            press(1.0, 0.0, 1.0),
            "target, velocity_limit, gain and integral_time must be positive",
        ),
    ] {
        let refused = Simulation::new(balls(&[[0.0, 0.0, 0.1]], vec![wall]), Settings::default());
        let message = refused.err().expect("such a wall is refused").to_string();
        assert!(message.contains(phrase), "{message}");
    }
}
