//! Wear of walls by sliding grains.

use crate::beds;
use crate::resumed::assert_same_when_resumed;
use seixo_engine::Simulation;
use seixo_engine::state::WallWear;
use seixo_engine::world::{
    DeviceChoice, Domain, Frustum, Grains, LeavingPolicy, Precision, Settings, SurfaceMotion, Triangle, Vec3, Wall, WallMotion, WallShape,
    World,
};
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::PI;

const GRAVITY: f64 = 9.81;
/// Radius of the balls \[m\].
const RADIUS: f64 = 2e-3;
/// Specific wear rate \[1/Pa\]: K = 10⁻³ on 1 GPa.
const RATE: f64 = 1e-12;
const DENSITY: f64 = 2500.0;

fn weight() -> f64 {
    4.0 / 3.0 * PI * RADIUS.powi(3) * DENSITY * GRAVITY
}

fn wall(shape: WallShape) -> Wall {
    Wall {
        name: "liner".into(),
        material: 0,
        shape,
        motion: WallMotion::default(),
        specific_wear_rate: RATE,
    }
}

fn plane() -> Wall {
    wall(WallShape::Plane {
        point: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
    })
}

/// Triangles of the plane z = 0, `count` squares from x = 0 on, each 4 mm long and 20 mm wide.
fn tiles(count: usize) -> Vec<Triangle> {
    let square = |k: usize| {
        let (left, right, front, back) = (4e-3 * k as f64, 4e-3 * (k + 1) as f64, -9e-3, 11e-3);
        let [a, b, c, d] = [[left, front, 0.0], [right, front, 0.0], [right, back, 0.0], [left, back, 0.0]];
        [[a, b, c], [a, c, d]]
    };
    (0..count).flat_map(square).collect()
}

/// A ball on the plane z = 0 with the overlap at rest, at this velocity.
fn ball(x: f64, velocity: Vec3, tangential: TangentialLaw, wall: Wall) -> World {
    let mut world = beds::falling(1, tangential);
    world.gravity = [0.0, 0.0, -GRAVITY];
    let modulus = 1e7 / (2.0 * (1.0 - 0.3 * 0.3));
    let overlap = (0.75 * weight() / (modulus * RADIUS.sqrt())).powf(2.0 / 3.0);
    world.grains = Grains::default();
    world.grains.push(0, [x, 0.0, RADIUS - overlap], velocity, [0.0; 3], RADIUS, 0, 0);
    world.walls = vec![wall];
    world
}

fn after(world: &World, settings: Settings, time: f64) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    let steps = (time / simulation.time_step().value).round() as u64;
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}

fn wear_of(simulation: &Simulation) -> WallWear {
    simulation.walls()[0].wear.clone().expect("the wall wears")
}

#[test]
fn wear_by_a_ball_that_left_stays() {
    let (speed, way) = (0.2, 5e-3);
    let mut world = ball(1e-3, [speed, 0.0, 0.0], TangentialLaw::None, plane());
    world.domain = Some(Domain::open([-1.0; 3], [1e-3 + way, 1.0, 1.0], LeavingPolicy::Delete));
    // Lists last for 2 mm, so the last of the way is in their entries. The ball goes at the third rebuild, a millimeter outside.
    let half_skin = 2e-3;
    let settings = Settings {
        skin: Some(2.0 * half_skin),
        ..Settings::default()
    };
    let left = after(&world, settings, 1.3 * way / speed);
    assert!(left.is_empty());
    // Each of these lists may last for a step more, of 7 µm of the way or less.
    let expected = RATE * weight() * 3.0 * half_skin;
    assert!(
        (wear_of(&left).volume / expected - 1.0).abs() < 5e-3,
        "{} {expected}",
        wear_of(&left).volume
    );
}

#[test]
fn a_smooth_ball_wears_by_its_weight_times_the_way_it_slides() {
    let (speed, time) = (0.2, 0.2);
    let flat = after(
        &ball(1e-3, [speed, 0.0, 0.0], TangentialLaw::None, plane()),
        Settings::default(),
        time,
    );
    let mesh = wall(WallShape::Mesh(tiles(12)));
    let tiled = after(&ball(1e-3, [speed, 0.0, 0.0], TangentialLaw::None, mesh), Settings::default(), time);
    let expected = RATE * weight() * speed * flat.time();
    let (flat, tiled) = (wear_of(&flat), wear_of(&tiled));
    println!(
        "{:e} on a plane, {:e} on triangles, expected {expected:e} m³",
        flat.volume, tiled.volume
    );
    // The overlap is that at rest, except for the time step: a millionth.
    assert!((flat.volume / expected - 1.0).abs() < 1e-5, "{} {expected}", flat.volume);
    assert!((tiled.volume / expected - 1.0).abs() < 1e-5, "{} {expected}", tiled.volume);
    // It rolls from x = 1 mm to 41 mm at y = 0 and wears every whole square on its path equally: of 4 mm, some 1.8 mm are below the diagonal.
    let squares: Vec<f64> = tiled.volumes.chunks(2).map(|pair| pair.iter().sum()).collect();
    for square in &squares[1..10] {
        assert!((square / (RATE * weight() * 4e-3) - 1.0).abs() < 5e-3, "{squares:?}");
    }
    assert_eq!(squares[11], 0.0, "where it never was");
    let diagonal = 4e-3 * 9.0 / 20.0;
    assert!(
        (tiled.volumes[11] / (RATE * weight() * diagonal) - 1.0).abs() < 1e-2,
        "{:?}",
        tiled.volumes
    );
    let area = 0.5 * 4e-3 * 20e-3;
    for (depth, volume) in tiled.depths.iter().zip(&tiled.volumes) {
        assert!((depth * area - volume).abs() <= 1e-12 * tiled.volume);
    }
}

#[test]
fn a_ball_wears_until_it_rolls() {
    // It slides while friction rotates it, v − ω R = v₀ − 7/2 μ g t, and then rolls: the sliding distance is v₀²/(7 μ g).
    let (speed, friction) = (0.3, 0.5);
    let world = ball(0.0, [speed, 0.0, 0.0], TangentialLaw::Mindlin, plane());
    let expected = RATE * weight() * speed * speed / (7.0 * friction * GRAVITY);
    let simulation = after(&world, Settings::default(), 0.05);
    let worn = wear_of(&simulation).volume;
    println!("{worn:e} m³, expected {expected:e} m³");
    // The contact spring deforms by some μ F/k of 2.6 mm before it slides, and oscillates by that when the ball rolls: 10⁻³.
    assert!((worn / expected - 1.0).abs() < 5e-3, "{worn} {expected}");
    // The energy dissipated by friction is μ times the work of sliding.
    let friction_work = simulation.ledger().friction;
    assert!(
        (worn / RATE * friction / friction_work - 1.0).abs() < 5e-3,
        "{worn} {friction_work}"
    );
    let (rolls, slid) = (after(&world, Settings::default(), 0.1), worn);
    assert!(
        (wear_of(&rolls).volume / slid - 1.0).abs() < 1e-3,
        "a ball that rolls wears nothing"
    );
}

#[test]
fn a_belt_that_runs_and_a_cylinder_that_turns_wear_as_much_as_slides_over_them() {
    let (speed, time) = (0.2, 0.05);
    let mut belt = plane();
    belt.motion.surface = SurfaceMotion {
        velocity: [-speed, 0.0, 0.3],
        ..SurfaceMotion::default()
    };
    let under = after(&ball(0.0, [0.0; 3], TangentialLaw::None, belt), Settings::default(), time);
    let (ratio, drum_radius) = (wear_of(&under).volume / (RATE * weight() * speed * under.time()), 20e-3);
    assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
    // A drum about y whose lowest point is the origin, without friction: the ball stays in place while the drum slides past.
    let drum = Frustum {
        base: [0.0, -10e-3, drum_radius],
        axis: [0.0, 1.0, 0.0],
        height: 20e-3,
        radii: [drum_radius; 2],
    };
    let mut turning = wall(WallShape::Round(vec![drum]));
    turning.motion.angular_velocity = [0.0, speed / drum_radius, 0.0];
    turning.motion.through = drum.base;
    let inside = after(&ball(0.0, [0.0; 3], TangentialLaw::None, turning), Settings::default(), time);
    let worn = wear_of(&inside);
    let expected = RATE * weight() * speed * inside.time();
    assert!((worn.volume / expected - 1.0).abs() < 1e-5, "{} {expected}", worn.volume);
    // A lateral surface has one depth all around, over which its volume is distributed.
    let area = 2.0 * PI * drum_radius * 20e-3;
    assert!(worn.depths.iter().all(|depth| (depth * area / worn.volume - 1.0).abs() < 1e-12));
    assert!((worn.volumes.iter().sum::<f64>() / worn.volume - 1.0).abs() < 1e-12);
}

/// Grains that fall into a box; the floor and a side wear.
fn bed(tangential: TangentialLaw) -> World {
    let mut world = beds::falling(500, tangential);
    world.gravity[0] = -50.0;
    world.walls[0].specific_wear_rate = RATE;
    world.walls[4].specific_wear_rate = 2.0 * RATE;
    world.walls.swap(0, 4);
    world
}

fn on(device: DeviceChoice, precision: Option<Precision>) -> Settings {
    Settings {
        device,
        precision,
        threads: 2,
        ..Settings::default()
    }
}

#[test]
fn a_gpu_wears_walls_as_the_cpu_does() {
    // Tolerances of forces, with one digit more for the steps in between.
    for (tangential, precision, bar) in [
        (TangentialLaw::Mindlin, Precision::F64, 1e-10),
        (TangentialLaw::None, Precision::F64, 1e-10),
        (TangentialLaw::Mindlin, Precision::Mixed, 1e-3),
    ] {
        let world = bed(tangential);
        let run = |settings| {
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            for steps in [1, 299, 500] {
                simulation.advance(steps).unwrap();
                simulation.observe().unwrap();
            }
            simulation
        };
        let (cpu, gpu) = (run(on(DeviceChoice::Cpu, None)), run(on(DeviceChoice::Gpu(None), Some(precision))));
        assert!(cpu.rebuilds() > 2, "lists were rebuilt {} times", cpu.rebuilds());
        for (a, b) in cpu.walls().iter().zip(gpu.walls()) {
            assert_eq!(a.wear.is_some(), b.wear.is_some());
            let (Some(a), Some(b)) = (&a.wear, &b.wear) else { continue };
            println!("{tangential:?} {precision:?}: {:e} {:e} m³", a.volume, b.volume);
            assert!(
                a.volume > 0.0 && (b.volume / a.volume - 1.0).abs() < bar,
                "{} {}",
                a.volume,
                b.volume
            );
        }
    }
}

#[test]
fn any_number_of_threads_and_any_interruption_gives_the_same_bits() {
    let world = bed(TangentialLaw::Mindlin);
    let gpu = |precision| on(DeviceChoice::Gpu(None), Some(precision));
    for settings in [
        on(DeviceChoice::Cpu, None),
        gpu(Precision::F64),
        gpu(Precision::Mixed),
        gpu(Precision::F32),
    ] {
        let end = assert_same_when_resumed(&world, &settings, [421, 200]);
        assert!(end.get("walls/wear").is_some());
    }
}

#[test]
fn wear_goes_from_one_device_to_the_other_and_through_events() {
    let world = bed(TangentialLaw::Mindlin);
    let mut simulation = Simulation::new(world.clone(), on(DeviceChoice::Cpu, None)).unwrap();
    simulation.advance(600).unwrap();
    for precision in [Some(Precision::F64), None, Some(Precision::F32), None] {
        let device = precision.map_or(DeviceChoice::Cpu, |_| DeviceChoice::Gpu(None));
        let before = wear_of(&simulation).volume;
        simulation = Simulation::restore(world.clone(), on(device, precision), &simulation.save().unwrap()).unwrap();
        simulation.observe().unwrap();
        let now = wear_of(&simulation).volume;
        // In single precision, the displacement since the last rebuild has seven digits.
        assert!((now / before - 1.0).abs() < 1e-6, "{precision:?}: {before} {now}");
        let id = simulation.snapshot().id[0];
        simulation.remove(&[id]).unwrap();
        simulation.observe().unwrap();
        assert_eq!(wear_of(&simulation).volume, now, "{precision:?}: an event keeps it");
        simulation.advance(50).unwrap();
        simulation.observe().unwrap();
        assert!(wear_of(&simulation).volume > now);
    }
}

#[test]
fn a_world_without_wear_keeps_nothing_of_it() {
    let mut simulation = Simulation::new(beds::falling(100, TangentialLaw::Mindlin), Settings::default()).unwrap();
    simulation.advance(100).unwrap();
    assert!(simulation.walls().iter().all(|wall| wall.wear.is_none()));
    assert!(simulation.save().unwrap().sections.iter().all(|(name, _)| !name.contains("wear")));
}
