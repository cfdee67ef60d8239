//! Time steps that walls limit: no wall flies through a grain between two steps.

use seixo_engine::world::{Grains, Interaction, Material, Settings, Triangle, Vec3, Vibration, Wall, WallMotion, WallShape, World};
use seixo_engine::{Simulation, WorldError};

const RADIUS: f64 = 1e-3;

/// A ball at rest, and a plate 6 mm below it: two triangles or, with zero extent, a plane.
fn over_a_plate(extent: f64, motion: WallMotion) -> World {
    let mut grains = Grains::default();
    grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    let corner = |x: f64, y: f64| [extent * x, extent * y, -6.0 * RADIUS];
    let triangle = |sign: f64| -> Triangle { [corner(-1.0, -1.0), corner(sign, -sign), corner(1.0, 1.0)] };
    let shape = if extent > 0.0 {
        WallShape::Mesh(vec![triangle(1.0), triangle(-1.0)])
    } else {
        WallShape::Plane {
            point: corner(0.0, 0.0),
            normal: [0.0, 0.0, 1.0],
        }
    };
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 5e6,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction {
            restitution: 0.5,
            ..Interaction::default()
        })],
        groups: vec!["a".into()],
        grains,
        walls: vec![Wall {
            name: "plate".into(),
            material: 0,
            shape,
            motion,
            specific_wear_rate: 0.0,
        }],
        ..World::default()
    }
}

fn moving(velocity: Vec3) -> WallMotion {
    WallMotion {
        velocity,
        ..WallMotion::default()
    }
}

fn vibrating(frequency: f64) -> WallMotion {
    WallMotion {
        vibrations: vec![Vibration {
            amplitude: [0.0, 0.0, 1e-6],
            frequency,
            phase: 0.0,
        }],
        ..WallMotion::default()
    }
}

fn started(world: &World, time_step: Option<f64>) -> Result<Simulation, WorldError> {
    let settings = Settings {
        threads: 1,
        time_step,
        ..Settings::default()
    };
    Simulation::new(world.clone(), settings)
}

#[test]
fn a_plate_never_flies_through_a_ball() {
    for speed in [2.0, 20.0, 200.0] {
        let mut simulation = started(&over_a_plate(0.01, moving([0.0, 0.0, speed])), None).unwrap();
        let steps = (12.0 * RADIUS / speed / simulation.time_step().value).ceil() as u64;
        // Either the plate throws the ball, or the run reports that the plate is too fast for such a soft ball.
        match simulation.advance(steps) {
            Ok(()) => {
                let thrown = simulation.snapshot().velocity[0][2] / speed;
                assert!((thrown - 1.5).abs() < 0.05, "at {speed} m/s it leaves with {thrown} of it");
            }
            Err(stop) => assert!(
                speed > 2.0 && stop.to_string().contains("overlaps wall plate"),
                "at {speed} m/s: {stop}"
            ),
        }
    }
}

#[test]
fn steps_in_which_walls_go_too_far_are_refused_with_the_cause() {
    let usual = started(&over_a_plate(0.01, WallMotion::default()), None)
        .unwrap()
        .time_step()
        .clone();
    let refused = |world: &World| started(world, Some(usual.value)).err().map(|refusal| refusal.to_string());
    let plate = |motion: WallMotion| over_a_plate(0.01, motion);
    let reported = refused(&plate(moving([0.0, 0.0, 200.0]))).unwrap();
    assert!(
        reported.contains("above the stable limit") && reported.contains("wall plate, whose surface moves at up to 2.000e2 m/s"),
        "{reported}"
    );
    let reported = refused(&plate(vibrating(40e3))).unwrap();
    assert!(reported.contains("wall plate, which vibrates at 4.000e4 Hz"), "{reported}");
    let turning = WallMotion {
        angular_velocity: [0.0, 2e4, 0.0],
        ..WallMotion::default()
    };
    assert!(refused(&plate(turning)).unwrap().contains("wall plate"));
    // Motions of later stages count, too.
    let mut later = plate(WallMotion::default());
    later.later.motions = vec![(0, moving([0.0, 0.0, 200.0]))];
    assert!(refused(&later).unwrap().contains("wall plate"));
    // Slow walls, and a plane that moves along itself, do not reduce the step.
    for world in [
        plate(moving([0.0, 0.0, 0.5])),
        plate(vibrating(50.0)),
        over_a_plate(0.0, moving([200.0, 0.0, 0.0])),
    ] {
        assert_eq!(started(&world, None).unwrap().time_step(), &usual);
    }
}
