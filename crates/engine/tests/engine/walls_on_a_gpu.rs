//! Walls of every kind in every motion give the same on a GPU as on the CPU (software Vulkan suffices; without any adapter these tests fail).

use crate::beds;
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::resumed::{assert_same, assert_same_when_resumed, assert_same_when_resumed_after};
use crate::steered::{under_a_flap, under_a_plate};
use seixo_engine::world::{
    Domain, ExpectedGrains, Frustum, Grains, LeavingPolicy, MotionFrame, Precision, Servo, ServoTarget, Settings, SurfaceMotion, Vibration,
    Wall, WallMotion, WallPath, WallShape, World,
};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::contact::TangentialLaw;

/// Grains that fall onto moving walls of every kind: a rotating drum, a cone on a path, a vibrating sphere, a belt, and a plate above that a servo
/// presses down.
fn among_walls_of_all_kinds(tangential: TangentialLaw) -> World {
    let mut world = beds::falling(500, tangential);
    let middle = 4.35e-3;
    let mut add = |name: &str, shape: WallShape, motion: WallMotion| {
        world.walls.push(Wall {
            name: name.into(),
            material: 0,
            shape,
            motion,
            specific_wear_rate: 0.0,
        });
    };
    let still = WallMotion::default();
    let drum = Frustum {
        base: [middle, middle, 1e-4],
        axis: [0.0, 0.0, 1.0],
        height: 20e-3,
        radii: [5.8e-3, 5.85e-3],
    };
    let turning = WallMotion {
        angular_velocity: [0.0, 0.0, 40.0],
        through: [middle, middle, 0.0],
        start: 4e-4,
        ..still.clone()
    };
    add(
        "drum",
        WallShape::Round(vec![drum, Frustum::disk(drum.base, drum.axis, 1.5e-3)]),
        turning,
    );
    let cone = Frustum {
        base: [2.73e-3, 2.73e-3, -2e-3],
        axis: [0.0, 0.0, 1.0],
        height: 2.1e-3,
        radii: [2e-3, 0.0],
    };
    let lifting = WallPath {
        time: vec![0.0, 1e-3, 3e-3],
        position: vec![[0.0; 3], [0.0, 0.0, 2e-4], [1e-4, 0.0, 0.0]],
        angle: vec![0.0, 0.05, -0.1],
        axis: [0.0, 0.6, 0.8],
    };
    let on_a_path = WallMotion {
        path: Some(lifting),
        through: cone.base,
        frame: Some(MotionFrame {
            velocity: [0.0, 0.01, 0.0],
            angular_velocity: [2.0, 0.0, 3.0],
            through: [middle; 3],
        }),
        ..still.clone()
    };
    add("cone", WallShape::Round(vec![cone]), on_a_path);
    let vibrating = WallMotion {
        vibrations: vec![Vibration {
            amplitude: [1e-4, 0.0, 5e-5],
            frequency: 900.0,
            phase: 0.5,
        }],
        ..still.clone()
    };
    let center = [6e-3, 6e-3, -1.4e-3];
    add("sphere", WallShape::Sphere { center, radius: 1.5e-3 }, vibrating);
    let running = SurfaceMotion {
        velocity: [0.3, 0.0, 1.0],
        angular_velocity: [0.0, 0.0, 30.0],
        through: [middle; 3],
    };
    let belt = WallMotion {
        surface: running,
        ..still.clone()
    };
    let floor = WallShape::Plane {
        point: [0.0, 0.0, 5e-5],
        normal: [0.0, 0.0, 1.0],
    };
    add("belt", floor, belt);
    let pressing = WallMotion {
        servo: Some(Servo {
            along: [0.0, 0.0, -1.0],
            target: ServoTarget::Force(0.05),
            velocity_limit: 0.5,
            ..Servo::default()
        }),
        ..still
    };
    let lid = WallShape::Plane {
        point: [0.0, 0.0, 8.9e-3],
        normal: [0.0, 0.0, -1.0],
    };
    add("lid", lid, pressing);
    // Remove planes and the floor of triangles.
    world.walls.drain(..5);
    world
}

#[test]
fn walls_of_all_kinds_and_motions_do_the_same() {
    for (tangential, skin) in [(TangentialLaw::Mindlin, None), (TangentialLaw::None, Some(0.0))] {
        let way = |settings: Settings| Settings { skin, ..settings };
        let world = among_walls_of_all_kinds(tangential);
        let (mut cpu, mut gpu) = (after(&world, way(on_cpu()), 0), after(&world, way(on_gpu(Precision::F64)), 0));
        let mut is_touched = vec![false; world.walls.len()];
        for _ in 0..12 {
            for _ in 0..150 {
                cpu.step().unwrap();
                let loads = cpu.walls().into_iter().map(|wall| wall.force);
                is_touched.iter_mut().zip(loads).for_each(|(is, load)| *is |= load != [0.0; 3]);
            }
            gpu.advance(150).unwrap();
            gpu.observe().unwrap();
            let found = apart(&cpu.snapshot(), &gpu.snapshot());
            println!("{tangential:?}: {found:.1e}, {} contacts", gpu.contacts());
            assert!(found < 1e-9, "{found:e}");
            for (a, b) in cpu.walls().iter().zip(gpu.walls()) {
                for axis in 0..3 {
                    assert!((a.force[axis] - b.force[axis]).abs() < 1e-9, "{:?} {:?}", a.force, b.force);
                    assert!(
                        (a.position[axis] - b.position[axis]).abs() < 1e-12,
                        "{:?} {:?}",
                        a.position,
                        b.position
                    );
                }
            }
            assert_same_ledger(&cpu, &gpu, &format!("{tangential:?}"));
        }
        assert!(is_touched.iter().all(|&is| is), "{is_touched:?}");
        let lid = &cpu.walls()[4];
        assert!(lid.position[2] < 8.8e-3, "the servo goes: {lid:?}");
    }
}

#[test]
fn walls_of_many_elements_are_placed_as_those_of_few_are() {
    let few = among_walls_of_all_kinds(TangentialLaw::Mindlin);
    let mut many = few.clone();
    // Out of reach, and too many for the launch of wall forces to place them.
    let far = |k: u32| {
        let x = 1e-4 * f64::from(k);
        [[x, 0.0, -4e-3], [x + 1e-4, 0.0, -4e-3], [x, 1e-4, -4e-3]]
    };
    many.walls.push(Wall {
        name: "far".into(),
        material: 0,
        shape: WallShape::Mesh((0..80).map(far).collect()),
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    });
    let [few, many] = [few, many].map(|world| after(&world, on_gpu(Precision::F64), 900));
    let found = apart(&few.snapshot(), &many.snapshot());
    assert!(found < 1e-9, "{found:e}");
    let touched = few.walls().iter().filter(|wall| wall.force != [0.0; 3]).count();
    assert!(touched > 0);
    for (a, b) in few.walls().iter().zip(many.walls()) {
        for axis in 0..3 {
            assert!((a.force[axis] - b.force[axis]).abs() < 1e-9, "{:?} {:?}", a.force, b.force);
        }
    }
}

#[test]
fn servos_of_stress_and_torque_do_the_same() {
    for (wall, world) in [("plate", under_a_plate()), ("flap", under_a_flap())] {
        let (mut cpu, mut gpu) = (after(&world, on_cpu(), 0), after(&world, on_gpu(Precision::F64), 0));
        let mut is_touched = false;
        for _ in 0..8 {
            for simulation in [&mut cpu, &mut gpu] {
                simulation.advance(200).unwrap();
                simulation.observe().unwrap();
            }
            let found = apart(&cpu.snapshot(), &gpu.snapshot());
            println!("{wall}: {found:.1e}");
            assert!(found < 1e-9, "{wall}: {found:e}");
            let [a, b] = [&cpu, &gpu].map(|simulation| simulation.walls()[5].clone());
            assert!((a.angle - b.angle).abs() < 1e-9, "{a:?} {b:?}");
            for axis in 0..3 {
                assert!((a.force[axis] - b.force[axis]).abs() < 1e-9, "{a:?} {b:?}");
                assert!((a.torque[axis] - b.torque[axis]).abs() < 1e-11, "{a:?} {b:?}");
                assert!((a.position[axis] - b.position[axis]).abs() < 1e-12, "{a:?} {b:?}");
            }
            assert_same_ledger(&cpu, &gpu, wall);
            is_touched |= a.force[2] > 0.0;
        }
        assert!(is_touched, "{wall}");
        for settings in [on_cpu(), on_gpu(Precision::F64), on_gpu(Precision::Mixed)] {
            assert_same_when_resumed(&world, &settings, [700, 300]);
        }
    }
}

#[test]
fn a_target_that_is_set_between_steps_does_the_same_and_holds_when_resumed() {
    let (world, plate) = (under_a_plate(), 5);
    let pressed = |settings: Settings, is_set: bool| {
        let mut simulation = after(&world, settings, 900);
        if is_set {
            // Much less than before, so that the speed differs with contacts and without.
            simulation.set_servo_target(plate, 1.0).unwrap();
        }
        simulation.advance(20).unwrap();
        simulation
    };
    let [set, unset] = [true, false].map(|is_set| pressed(on_cpu(), is_set).walls()[plate].position[2]);
    assert_ne!(set, unset, "the target does nothing");
    let mut gpu = pressed(on_gpu(Precision::F64), true);
    gpu.observe().unwrap();
    let found = gpu.walls()[plate].position[2];
    assert!((found - set).abs() < 1e-12, "{found} {set}");
    for settings in [on_cpu(), on_gpu(Precision::F64), on_gpu(Precision::Mixed)] {
        let mut whole = pressed(settings.clone(), true);
        let mut resumed = Simulation::restore(world.clone(), settings.clone(), &whole.save().unwrap()).unwrap();
        let [whole, resumed] = [&mut whole, &mut resumed].map(|simulation| {
            simulation.advance(100).unwrap();
            simulation.save().unwrap()
        });
        assert_same(&whole, &resumed, &format!("{settings:?}"));
    }
}

#[test]
fn one_step_among_walls_of_all_kinds_gives_the_same_forces_in_every_precision() {
    let world = among_walls_of_all_kinds(TangentialLaw::Mindlin);
    let state = after(&world, on_cpu(), 900).save().unwrap();
    let one_step = |settings: Settings| {
        let mut simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
        simulation.step().unwrap();
        simulation.observe().unwrap();
        simulation.snapshot()
    };
    let expected = one_step(on_cpu());
    // Tolerances of the test with planes and triangles; a drum at a distance of twelve radii costs another digit in single precision.
    for (precision, bar) in [(Precision::F64, 1e-12), (Precision::Mixed, 1e-5), (Precision::F32, 1e-2)] {
        let found = apart(&expected, &one_step(on_gpu(precision)));
        println!("{precision:?}: {found:.1e}");
        assert!(found < bar, "{precision:?}: {found:e}");
    }
}

#[test]
fn going_on_among_walls_of_all_kinds_is_the_same_to_the_bit() {
    let world = among_walls_of_all_kinds(TangentialLaw::Mindlin);
    for settings in [on_cpu(), on_gpu(Precision::F64), on_gpu(Precision::Mixed), on_gpu(Precision::F32)] {
        assert_same_when_resumed(&world, &settings, [421, 400]);
    }
}

#[test]
fn a_servo_whose_wall_is_moved_on_is_where_it_was_when_resumed() {
    let world = among_walls_of_all_kinds(TangentialLaw::Mindlin);
    let lid = 4;
    let to = |motion: WallMotion| {
        let motion = Box::new(motion);
        vec![SurroundingsChange::Motion { wall: lid, motion }]
    };
    let up = WallMotion {
        velocity: [0.0, 0.0, 0.1],
        ..WallMotion::default()
    };
    let pressing = world.walls[lid].motion.clone();
    // The servo presses it down, then it is moved up, pressed down again, and moved up at last.
    let past = [(200, to(up.clone())), (280, to(pressing)), (360, to(up))];
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        for count in 1..=past.len() {
            let began = past[count - 1].0;
            assert_same_when_resumed_after(&world, &settings, &past[..count], [began + 30, 60]);
        }
    }
}

#[test]
fn the_angle_that_a_wall_turned_outlasts_its_motion() {
    let world = among_walls_of_all_kinds(TangentialLaw::Mindlin);
    let (mut simulation, drum) = (after(&world, on_cpu(), 900), 0);
    let turned = simulation.walls()[drum].angle;
    assert!(turned > 0.0);
    let stop = vec![SurroundingsChange::Motion {
        wall: drum,
        motion: Box::default(),
    }];
    simulation.change(&stop).unwrap();
    simulation.advance(20).unwrap();
    assert_eq!(simulation.walls()[drum].angle, turned);
    assert_same_when_resumed_after(&world, &on_cpu(), &[(900, stop)], [920, 20]);
}

/// Target force of the press [N], and its speed limit [m/s].
const PRESSED: f64 = 1e-3;
const FASTEST: f64 = 0.05;

/// A press that a servo moves down to a floor, with nothing in between; grains are inserted later.
fn press() -> World {
    let mut world = beds::falling(1, TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.grains = Grains::default();
    world.domain = Some(Domain::open([-0.1; 3], [0.1; 3], LeavingPolicy::Delete));
    world.later.grains.push(ExpectedGrains {
        material: 0,
        radius: [2.5e-4, 5e-4],
        mass_per_radius: None,
        shape: None,
        speed: 1.0,
        reach: 0.1,
        highest_id: None,
    });
    let plane = |name: &str, height: f64, up: f64| Wall {
        name: name.into(),
        material: 0,
        shape: WallShape::Plane {
            point: [0.0, 0.0, height],
            normal: [0.0, 0.0, up],
        },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    };
    world.walls = vec![plane("floor", 0.0, 1.0), plane("press", 1.05e-3, -1.0)];
    world.walls[1].motion.servo = Some(Servo {
        along: [0.0, 0.0, -1.0],
        target: ServoTarget::Force(PRESSED),
        // A time after which nothing of the approach is left in the integral part.
        integral_time: Some(1e-3),
        velocity_limit: FASTEST,
        ..Servo::default()
    });
    world
}

#[test]
fn a_servo_without_grains_goes_as_far_whoever_looks() {
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        let [mut seldom, mut often] = [(); 2].map(|()| Simulation::new(press(), settings.clone()).unwrap());
        seldom.advance(1000).unwrap();
        for _ in 0..200 {
            often.advance(5).unwrap();
            often.advance(0).unwrap();
            often.observe().unwrap();
        }
        seldom.observe().unwrap();
        assert_eq!(seldom.walls(), often.walls());
        // The whole force is missing, so it moves at its speed limit.
        let way = 1.05e-3 - seldom.walls()[1].position[2];
        assert!(
            (way / (FASTEST * seldom.time()) - 1.0).abs() < 1e-9,
            "{way} m in {} s",
            seldom.time()
        );
    }
}

#[test]
fn a_servo_reaches_its_force_on_grains_that_came_later() {
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(press(), settings.clone()).unwrap();
        simulation.advance(10).unwrap();
        // Two grains are inserted: a small one below the press, and a larger, stiffer one that leaves the domain.
        let mut coming = Grains::default();
        coming.push(0, [0.0, 0.0, 2.501e-4], [0.0; 3], [0.0; 3], 2.5e-4, 0, 0);
        coming.push(1, [0.098, 0.0, 5.1e-4], [5.0, 0.0, 0.0], [0.0; 3], 5e-4, 0, 0);
        simulation.insert(&coming).unwrap();
        simulation.advance((2e-3 / simulation.time_step().value) as u64).unwrap();
        let mut second = Simulation::restore(press(), settings, &simulation.save().unwrap()).unwrap();
        assert_eq!((simulation.len(), second.len()), (1, 1));
        for simulation in [&mut simulation, &mut second] {
            simulation.advance((0.016 / simulation.time_step().value) as u64).unwrap();
        }
        assert!(simulation.save().unwrap() == second.save().unwrap(), "it is tuned to what left");
        // With the gain of a press without contact, it would oscillate at its speed limit: one step of that changes the force by a tenth.
        for _ in 0..20 {
            simulation.advance(7).unwrap();
            simulation.observe().unwrap();
            let force = simulation.walls()[1].force[2];
            assert!((force / PRESSED - 1.0).abs() < 1e-6, "{force} N");
        }
    }
}
