//! Heat of polyhedral grains: through all contacts of a pair, and from walls.

use crate::beds::noise;
use crate::corners::{DENSITY, put, world};
use crate::devices::on_threads;
use crate::floors::floor;
use crate::heat::temperatures;
use crate::polyhedra::{OF_UNIT_CUBE, cube, swarm};
use crate::resumed::assert_same_when_resumed;
use seixo_engine::Simulation;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Conduction, Interaction, PolyhedralShape, Settings, Thermal, WallShape, World};

/// Thermal conductivity \[W/(m K)\], and specific heat capacity \[J/(kg K)\].
pub const CONDUCTIVITY: f64 = 200.0;
pub const CAPACITY: f64 = 900.0;

/// The world with grains from 300 K to 400 K, and walls of 500 K.
pub fn heated(mut world: World) -> World {
    let thermal = Thermal {
        conductivity: Some(CONDUCTIVITY),
        specific_heat_capacity: Some(CAPACITY),
        real_youngs_modulus: None,
    };
    world.grains.scalars[GrainScalar::Temperature] = (0..world.grains.len()).map(|k| 350.0 + 50.0 * noise(k as u64)).collect();
    world.conduction = Some(Conduction {
        materials: vec![thermal; world.materials.len()],
        walls: vec![Some(500.0); world.walls.len()],
    });
    world
}

/// A world so soft that forces do not matter while heat flows.
pub fn soft(shape: PolyhedralShape) -> World {
    let mut world = world(vec![shape], Interaction::default());
    world.materials[0].youngs_modulus = 1e-3;
    world
}

fn paced(time_step: f64) -> Settings {
    Settings {
        time_step: Some(time_step),
        ..on_threads(1)
    }
}

#[test]
fn a_shape_that_is_a_ball_conducts_as_a_sphere() {
    let after = |is_shape: [bool; 2]| {
        let mut world = soft(PolyhedralShape::ball("ball"));
        world.walls.push(floor());
        put(&mut world, 0, 0.1, [0.0, 0.0, 0.099], [0.0; 3]);
        put(&mut world, 0, 0.12, [0.0, 0.0, 0.317], [0.0; 3]);
        for (shape, is_shape) in world.grains.shape.iter_mut().zip(is_shape) {
            *shape = u32::from(is_shape);
        }
        if is_shape == [false; 2] {
            world.shapes.clear();
            (world.grains.shape, world.grains.orientation) = (Vec::new(), Vec::new());
        }
        let mut simulation = Simulation::new(heated(world), paced(1.0)).expect("the world is sound");
        simulation.advance(50).expect("sound steps");
        let ledger = simulation.scalar_ledger(GrainScalar::Temperature).expect("it has one");
        assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
        (temperatures(&simulation), simulation.heat_of_walls()[0])
    };
    let (spheres, from_wall) = after([false; 2]);
    assert!(from_wall.iter().all(|&heat| heat > 0.0), "{spheres:?} {from_wall:?}");
    for is_shape in [[true, true], [true, false], [false, true]] {
        let (shapes, of_wall) = after(is_shape);
        for (a, b) in spheres.iter().chain(&from_wall).zip(shapes.iter().chain(&of_wall)) {
            assert!((a / b - 1.0).abs() < 1e-9, "{is_shape:?}: {a} {b}");
        }
    }
}

#[test]
fn a_face_conducts_through_its_four_corners() {
    let (overlap, time_step) = (0.002, 1.0);
    let mut world = soft(cube());
    world.walls.push(floor());
    let lower = put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.5 - overlap], [0.0; 3]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 1.5 - 2.0 * overlap], [0.0; 3]);
    let mut world = heated(world);
    world.grains.scalars[GrainScalar::Temperature] = vec![300.0, 400.0];
    let mut simulation = Simulation::new(world, paced(time_step)).expect("the world is sound");
    // Radii of rounded corners are 0.1 m; two of them give half of it. Four contacts conduct 2 k a each.
    let of_corners = |effective_radius: f64| 4.0 * 2.0 * CONDUCTIVITY * (effective_radius * overlap).sqrt();
    let (from_floor, from_upper) = (of_corners(0.1) * 200.0, of_corners(0.05) * 100.0);
    let [now, _] = simulation.heat_of_walls()[0];
    assert!((now / from_floor - 1.0).abs() < 1e-9, "{now} W, expected {from_floor} W");
    simulation.step().expect("a sound step");
    let capacity = lower.mass * CAPACITY;
    assert!((lower.mass / (DENSITY * cube().volume * OF_UNIT_CUBE.powi(3)) - 1.0).abs() < 1e-12);
    let found = temperatures(&simulation);
    let warmer = (from_floor + from_upper) * time_step / capacity;
    assert!(
        ((found[0] - 300.0) / warmer - 1.0).abs() < 1e-6,
        "{found:?}, expected {warmer} K more"
    );
    let colder = from_upper * time_step / capacity;
    assert!(
        ((400.0 - found[1]) / colder - 1.0).abs() < 1e-6,
        "{found:?}, expected {colder} K less"
    );
}

#[test]
fn threads_and_a_resume_change_no_bit_of_the_heat() {
    let mut world = swarm();
    world.walls.push(floor());
    world.walls[0].shape = WallShape::Plane {
        point: [0.0, 0.0, -0.0975],
        normal: [0.0, 0.0, 1.0],
    };
    let world = heated(world);
    let state = assert_same_when_resumed(&world, &on_threads(1), [2500, 1000]);
    let mut again = Simulation::restore(world.clone(), on_threads(2), &state).expect("the state fits");
    let ledger = again.scalar_ledger(GrainScalar::Temperature).expect("it has one");
    assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
    let moved = |(a, b): (&f64, &f64)| (a - b).abs();
    let before = &world.grains.scalars[GrainScalar::Temperature];
    let most = temperatures(&again).iter().zip(before).map(moved).fold(0.0, f64::max);
    assert!(most > 1e-9, "heat flows: {most} K");
    again.step().expect("a sound step");
}
