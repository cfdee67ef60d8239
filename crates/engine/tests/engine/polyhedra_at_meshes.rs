//! Polyhedral grains at walls from meshes.

use crate::corners::{about, put, turned, world};
use crate::devices::on_threads;
use crate::floors::floor;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough};
use crate::vectors::distance;
use seixo_engine::state::{GrainSnapshot, Ledger};
use seixo_engine::world::{Domain, Interaction, LeavingPolicy, Settings, Triangle, Vec3, Wall, WallShape, World};
use seixo_engine::{Simulation, SurroundingsChange};

/// A rectangle of two triangles, from its corners.
pub fn rectangle([a, b, c, d]: [Vec3; 4]) -> Vec<Triangle> {
    vec![[a, b, c], [a, c, d]]
}

pub fn mesh(triangles: Vec<Triangle>) -> Wall {
    Wall {
        shape: WallShape::Mesh(triangles),
        ..floor()
    }
}

pub fn with_step(world: World, time_step: f64) -> Simulation {
    let settings = Settings {
        time_step: Some(time_step),
        ..on_threads(1)
    };
    Simulation::new(world, settings).expect("the world is sound")
}

/// A cube with this velocity on a wall at z = 0, after a quarter of a second.
fn sliding(wall: Wall, velocity: Vec3) -> (GrainSnapshot, Ledger, Vec3) {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(wall);
    // One of its corners passes the diagonal.
    put(&mut world, 0, OF_UNIT_CUBE, [-0.05, 0.0, 0.4999], velocity);
    let mut simulation = with_step(world, 1e-4);
    simulation.advance(2500).expect("sound steps");
    (simulation.snapshot(), simulation.ledger(), simulation.walls()[0].force)
}

#[test]
fn a_belt_of_two_triangles_takes_a_cube_along_as_a_plane_does() {
    let ground = rectangle([[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]]);
    let running = |mut wall: Wall| {
        wall.motion.surface.velocity = [1.0, 0.3, 0.0];
        wall.motion.surface.angular_velocity = [0.0, 0.0, 0.2];
        sliding(wall, [0.0; 3])
    };
    let ((plane, ledger, push), (on_mesh, its_ledger, its_push)) = (running(floor()), running(mesh(ground)));
    assert!(
        plane.velocity[0][0] > 0.5 && ledger.friction > 0.0 && ledger.wall_work != 0.0,
        "{plane:?} {ledger:?}"
    );
    assert!(distance(plane.position[0], on_mesh.position[0]) < 1e-8, "{plane:?} {on_mesh:?}");
    assert!(distance(plane.velocity[0], on_mesh.velocity[0]) < 1e-6, "{plane:?} {on_mesh:?}");
    for (a, b) in [(ledger.friction, its_ledger.friction), (ledger.wall_work, its_ledger.wall_work)] {
        assert!((a / b - 1.0).abs() < 1e-6, "{ledger:?} {its_ledger:?}");
    }
    assert!(distance(push, its_push) < 1e-3 * distance(push, [0.0; 3]), "{push:?} {its_push:?}");
}

/// What a belt that slides under a cube takes from its drive is friction times its velocity.
#[test]
fn the_power_of_a_belt_is_that_of_its_friction() {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    let ground = rectangle([[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]]);
    world.walls.push(mesh(ground));
    world.walls[0].motion.surface.velocity = [5.0, 0.0, 0.0];
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.4999], [0.0; 3]);
    let mut simulation = with_step(world, 1e-4);
    // Then the cube is pressed on most: its first swing on the contacts takes 0.1 s.
    simulation.advance(500).expect("sound steps");
    let seen = &simulation.walls()[0];
    assert!(seen.force[0] < 0.0, "{seen:?}");
    assert!((seen.power / (seen.force[0] * 5.0) - 1.0).abs() < 1e-6, "{seen:?}");
}

#[test]
fn a_cube_slides_over_two_triangles_as_over_a_plane() {
    let sliding = |wall: Wall| sliding(wall, [1.0, 0.3, 0.0]);
    let ground = rectangle([[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]]);
    let ((plane, ledger, push), (on_mesh, its_ledger, its_push)) = (sliding(floor()), sliding(mesh(ground)));
    assert!(plane.position[0][0] > 0.0 && ledger.friction > 0.0, "{plane:?}");
    assert!(distance(plane.position[0], on_mesh.position[0]) < 1e-8, "{plane:?} {on_mesh:?}");
    assert!(distance(plane.velocity[0], on_mesh.velocity[0]) < 1e-6, "{plane:?} {on_mesh:?}");
    assert!(
        (ledger.friction / its_ledger.friction - 1.0).abs() < 1e-6,
        "{ledger:?} {its_ledger:?}"
    );
    assert!(distance(push, its_push) < 1e-3 * distance(push, [0.0; 3]), "{push:?} {its_push:?}");
}

/// A plate that stands on its side, with its upper rim at z = 0.
pub fn plate() -> Wall {
    mesh(rectangle([
        [-2.0, 0.05, -1.0],
        [2.0, 0.05, -1.0],
        [2.0, 0.05, 0.0],
        [-2.0, 0.05, 0.0],
    ]))
}

fn falling_on_a_plate() -> World {
    let mut world = world(vec![cube()], Interaction::default());
    world.materials[0].youngs_modulus = 1e8;
    world.walls.push(plate());
    turned(
        &mut world,
        0,
        OF_UNIT_CUBE,
        [0.0, 0.0, 0.53],
        about([0.0, 0.0, 1.0], 0.3),
        [0.0, 0.0, -0.5],
    );
    world
}

#[test]
fn a_cube_that_falls_with_a_face_on_the_rim_of_a_plate_keeps_its_energy() {
    let mut simulation = with_step(falling_on_a_plate(), 1e-4);
    let energy = simulation.ledger().kinetic;
    let mut most = 0.0f64;
    for _ in 0..4000 {
        simulation.step().expect("a sound step");
        most = most.max(simulation.ledger().elastic_normal);
    }
    // Only edges of the cube and of the plate cross. Without edges of the mesh it would fall past the plate.
    assert!(most > 0.2 * energy, "{most} {energy}");
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    assert!(seen.velocity[0][2] > 0.0, "{seen:?}");
    assert!((ledger.kinetic + ledger.rotational - energy).abs() < 1e-3 * energy, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-3 * energy, "{ledger:?}");
}

#[test]
fn a_resumed_run_at_a_mesh_has_the_same_bits() {
    let mut whole = with_step(falling_on_a_plate(), 1e-4);
    let touching = (0..4000).find(|_| {
        whole.step().expect("a sound step");
        whole.contacts() > 0
    });
    assert!(touching.is_some(), "the cube reaches the plate");
    whole.advance(10).expect("sound steps");
    let state = whole.save().expect("a sound state");
    let settings = Settings {
        time_step: Some(1e-4),
        ..on_threads(2)
    };
    let mut resumed = Simulation::restore(falling_on_a_plate(), settings, &state).expect("the state fits");
    assert_eq!(resumed.ledger(), whole.ledger());
    for simulation in [&mut whole, &mut resumed] {
        simulation.advance(300).expect("sound steps");
    }
    assert_eq!(resumed.save().unwrap(), whole.save().unwrap());
}

#[test]
fn a_cube_that_passes_many_triangles_goes_on_after_any_change() {
    // Squares of half of the edge of the cube.
    let squares = (-4..8).flat_map(|x| (-3..3).map(move |y| [f64::from(x), f64::from(y)].map(|corner| 0.5 * corner)));
    let ground = squares.flat_map(|[x, y]| rectangle([[x, y, 0.0], [x + 0.5, y, 0.0], [x + 0.5, y + 0.5, 0.0], [x, y + 0.5, 0.0]]));
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(mesh(ground.collect()));
    put(&mut world, 0, OF_UNIT_CUBE, [-0.05, 0.0, 0.4999], [3.0, 0.0, 0.0]);
    let gravity = SurroundingsChange::Gravity(world.gravity);
    let [mut whole, mut changed] = [with_step(world.clone(), 1e-4), with_step(world, 1e-4)];
    // A change lists everything again. The triangle at which the force of the mesh is stored may then be too far away to be listed.
    for _ in 0..75 {
        whole.advance(20).expect("sound steps");
        changed.advance(20).expect("sound steps");
        changed.change(std::slice::from_ref(&gravity)).expect("gravity may change");
    }
    let now = whole.snapshot();
    assert!(now.position[0][0] > 0.2, "{now:?}");
    // Gravity is the same, so it is the same motion.
    let off = distance(changed.snapshot().position[0], now.position[0]);
    assert!(off < 1e-12, "{off:e}");
}

#[test]
fn what_meshes_and_polyhedra_do_not_go_with_is_refused() {
    let refused = |spoil: fn(&mut World)| {
        let mut world = falling_on_a_plate();
        spoil(&mut world);
        Simulation::new(world, on_threads(1)).map(|_| ()).unwrap_err().to_string()
    };
    let periodic = refused(|world| {
        let domain = Domain::open([-4.0; 3], [4.0; 3], LeavingPolicy::Error);
        world.domain = Some(Domain {
            periodic: [true, false, false],
            ..domain
        });
    });
    assert!(
        periodic.contains("wall floor: a mesh does not go with polyhedral grains in a domain with periodic sides yet"),
        "{periodic}"
    );
    let large = refused(|world| world.walls[0].shape = WallShape::Mesh(vec![[[0.0; 3], [1.0, 0.0, -2.0], [0.0, 1.0, -2.0]]; 43_691]));
    assert!(
        large.contains("wall floor: its mesh has 43691 triangles, and at most 43690"),
        "{large}"
    );
}
