//! Polyhedral grains that come while a simulation runs.

use crate::corners::{put, world};
use crate::devices::on_threads;
use crate::floors::floor;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough};
use seixo_engine::Simulation;
use seixo_engine::world::{ExpectedGrains, Frustum, Grains, Settings, Wall, WallShape, World};

/// A cube with an edge of a meter that falls on a plane, in a table of its own.
fn falling() -> Grains {
    let mut table = world(vec![cube()], rough());
    put(&mut table, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.81], [0.1, 0.0, -1.0]);
    table.grains.orientation[0] = [0.0, 0.6, 0.0, 0.8];
    table.grains.angular_velocity[0] = [0.0, 0.2, 0.1];
    table.grains
}

/// A plane on which such cubes may fall, without grains.
fn empty() -> World {
    let mut world = world(vec![cube()], rough());
    world.gravity = [0.0, 0.0, -9.81];
    world.materials[0].youngs_modulus = 1e8;
    world.walls.push(floor());
    world.later.grains.push(ExpectedGrains {
        material: 0,
        radius: [OF_UNIT_CUBE; 2],
        mass_per_radius: None,
        shape: Some(0),
        speed: 2.0,
        reach: 2.0,
        highest_id: None,
    });
    world
}

fn settings() -> Settings {
    Settings {
        time_step: Some(1e-4),
        ..on_threads(1)
    }
}

#[test]
fn a_cube_that_comes_later_moves_as_one_that_was_there() {
    let mut with_cube = empty();
    with_cube.grains = falling();
    let mut there = Simulation::new(with_cube, settings()).expect("the world is sound");
    let mut coming = Simulation::new(empty(), settings()).expect("a world without grains is sound");
    assert!(coming.polyhedra().is_empty());
    coming.insert(&falling()).expect("it was announced");
    for simulation in [&mut there, &mut coming] {
        simulation.advance(2500).expect("sound steps");
    }
    assert!(there.ledger().normal_damping > 0.0, "it has hit the plane");
    let (a, b) = (there.snapshot(), coming.snapshot());
    for axis in 0..3 {
        assert!((a.position[0][axis] - b.position[0][axis]).abs() < 1e-12, "{a:?} {b:?}");
        assert!(
            (a.angular_velocity[0][axis] - b.angular_velocity[0][axis]).abs() < 1e-9,
            "{a:?} {b:?}"
        );
    }
    let ledger = coming.ledger();
    assert!(ledger.residual.abs() < 1e-2 * ledger.inserted.abs(), "{ledger:?}");
    // A state with the grain that came goes on with the same bits.
    let state = coming.save().expect("a sound state");
    let mut resumed = Simulation::restore(empty(), settings(), &state).expect("the state fits");
    for simulation in [&mut coming, &mut resumed] {
        simulation.advance(200).expect("sound steps");
    }
    assert_eq!(resumed.save().unwrap(), coming.save().unwrap());
}

type Spoil = fn(&mut World, &mut Grains);

#[test]
fn unannounced_polyhedra_are_refused() {
    let refusal = |spoil: Spoil| {
        let (mut world, mut grains) = (empty(), falling());
        spoil(&mut world, &mut grains);
        let mut simulation = Simulation::new(world, settings()).expect("the world is sound");
        simulation
            .insert(&grains)
            .map(|()| String::new())
            .unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(refusal(|_, _| {}), "");
    let spoiled: [(Spoil, &str); 4] = [
        (|_, grains| grains.shape[0] = 2, "one more than the index of a shape"),
        (
            |_, grains| {
                grains.masses.values_mut().for_each(|mass| *mass *= 0.5);
            },
            "of this radius were prepared with at least",
        ),
        (
            |_, grains| {
                grains.masses.values_mut().for_each(|mass| *mass *= 10.0);
                (grains.radius[0], grains.position[0][2]) = (1.5 * OF_UNIT_CUBE, 2.0);
            },
            "were prepared with radii",
        ),
        (
            |world, _| {
                let axis = [0.0, 0.0, 1.0];
                let mantle = Frustum {
                    base: [5.0, 5.0, 0.0],
                    axis,
                    height: 1.0,
                    radii: [1.0; 2],
                };
                let ends = [0.0, 1.0].map(|z| Frustum::disk([5.0, 5.0, z], axis, 1.0));
                world.walls.push(Wall {
                    shape: WallShape::Round(vec![mantle, ends[0], ends[1]]),
                    ..floor()
                });
            },
            "wall floor: polyhedral grain 0 at",
        ),
    ];
    for (spoil, what) in spoiled {
        let message = refusal(spoil);
        assert!(message.contains(what), "{what}: {message}");
    }
}
