//! Polyhedral grains on a GPU: tests against physics, and against the CPU.

use crate::alike::assert_same;
use crate::bonded_faces::{APART, bar, glue};
use crate::corners::{about, prism, put, turned, world};
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::floors::floor;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough, swarm};
use crate::polyhedra_at_meshes::{mesh, plate, rectangle};
use crate::vectors::distance;
use seixo_engine::Simulation;
use seixo_engine::world::{Bonds, Interaction, Load, Precision, Settings, Wall, WallShape, World};
use seixo_laws::bond::BondLaw;

pub fn with_step(time_step: f64, settings: Settings) -> Settings {
    Settings {
        time_step: Some(time_step),
        ..settings
    }
}

/// A cube that falls on a plane with a corner first, and one that lies on it.
pub fn on_a_plane() -> World {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(floor());
    let tilted = about([0.6, 0.8, 0.0], 0.7);
    turned(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.775], tilted, [0.0, 0.0, -1.0]);
    put(&mut world, 0, OF_UNIT_CUBE, [3.0, 0.0, 0.4999], [0.1, 0.0, 0.0]);
    world
}

/// The swarm on the CPU when many of its grains touch.
fn touching() -> Simulation {
    let mut simulation = Simulation::new(swarm(), on_cpu()).expect("the world is sound");
    simulation.advance(3000).expect("sound steps");
    simulation
}

#[test]
fn two_cubes_face_on_give_their_energy_back_on_a_gpu() {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.5005], [0.0, 0.0, -0.2]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.1, 0.05, -0.5005], [0.0, 0.0, 0.3]);
    let settings = with_step(2e-4, on_gpu(Precision::F64));
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let (before, energy) = (simulation.momentum(), simulation.ledger().kinetic);
    let mut most = 0.0f64;
    let mut has_touched = false;
    for _ in 0..400 {
        simulation.advance(25).expect("sound steps");
        simulation.observe().expect("a sound state");
        most = most.max(simulation.ledger().elastic_normal);
        let touches = simulation.contacts() > 0;
        if has_touched && !touches {
            break;
        }
        has_touched |= touches;
    }
    let (after, ledger) = (simulation.momentum(), simulation.ledger());
    assert!(
        has_touched && simulation.contacts() == 0 && most > 0.2 * energy,
        "{most} J of {energy} J"
    );
    let moving = ledger.kinetic + ledger.rotational;
    assert!((moving / energy - 1.0).abs() < 1e-3, "{energy} J became {moving} J");
    assert!(ledger.residual.abs() < 1e-3 * energy, "{ledger:?}");
    let scale = simulation.snapshot().mass[0] * 0.3;
    assert!(distance(before.linear, after.linear) < 1e-11 * scale, "{before:?} {after:?}");
    assert!(distance(before.angular, after.angular) < 1e-11 * scale, "{before:?} {after:?}");
    assert!(simulation.snapshot().velocity[0][2] > 0.0);
}

#[test]
fn cubes_on_a_plane_do_the_same_on_cpu_and_gpu() {
    let after = |settings: Settings| {
        let mut simulation = Simulation::new(on_a_plane(), with_step(1e-4, settings)).expect("the world is sound");
        simulation.advance(400).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (cpu, gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
    assert!(cpu.contacts() > 0 && cpu.ledger().elastic_normal > 0.0, "{:?}", cpu.ledger());
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-8, "{found:e}");
    assert_eq!(cpu.contacts(), gpu.contacts());
    assert_same_ledger(&cpu, &gpu, "cubes on a plane");
    for (a, b) in cpu.polyhedra().iter().zip(gpu.polyhedra()) {
        assert_eq!((a.id, a.shape), (b.id, b.shape));
        let turn: f64 = (0..4).map(|k| (a.orientation[k] - b.orientation[k]).abs()).sum();
        assert!(turn < 1e-9, "{a:?} {b:?}");
    }
    // The force on the wall.
    let [of_cpu, of_gpu] = [&cpu, &gpu].map(|simulation| simulation.walls()[0].force);
    assert!(
        distance(of_cpu, of_gpu) < 1e-6 * distance(of_cpu, [0.0; 3]),
        "{of_cpu:?} {of_gpu:?}"
    );
}

#[test]
fn cubes_with_local_damping_do_the_same_on_cpu_and_gpu() {
    let world = World {
        local_damping: 0.3,
        ..on_a_plane()
    };
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_step(1e-4, settings), 400));
    let ledger = cpu.ledger();
    assert!(cpu.contacts() > 0 && ledger.local_damping > 1e-3 * ledger.kinetic, "{ledger:?}");
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-8, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "cubes with local damping");
}

/// A hundred pairs of cubes that touch with faces, each at another angle: more contacts than threads of a block.
fn touching_pairs() -> World {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    for k in 0..100u32 {
        let (x, y) = (2.5 * f64::from(k % 10), 2.5 * f64::from(k / 10));
        let turn = about([0.0, 0.0, 1.0], 0.1 + 0.011 * f64::from(k));
        put(&mut world, 0, OF_UNIT_CUBE, [x, y, -0.4998], [0.0, 0.0, 0.1]);
        turned(&mut world, 0, OF_UNIT_CUBE, [x + 0.05, y + 0.03, 0.4998], turn, [0.05, 0.0, -0.1]);
    }
    world
}

#[test]
fn more_contacts_than_threads_of_a_block_do_the_same_on_cpu_and_gpu() {
    let after = |settings: Settings| {
        let mut simulation = Simulation::new(touching_pairs(), with_step(1e-5, settings)).expect("the world is sound");
        simulation.advance(20).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (mut cpu, mut gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
    assert_eq!((cpu.contacts(), gpu.contacts()), (100, 100));
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-8, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "pairs of cubes");
    // The direction that the search stores is the normal of a record.
    let [of_cpu, of_gpu] = [&mut cpu, &mut gpu].map(|simulation| simulation.contacts_now().expect("a sound state"));
    assert_eq!((of_cpu.len(), of_gpu.len()), (100, 100));
    for (a, b) in of_cpu.iter().zip(&of_gpu) {
        assert!(
            distance(a.normal, b.normal) < 1e-3 && distance(b.normal, [0.0; 3]) > 0.99,
            "{a:?} {b:?}"
        );
    }
}

/// A plane parallel to the axis x, at this distance from the middles of cubes in a trough, in a direction of the plane yz.
fn along_x(name: &str, angle: f64, distance: f64) -> Wall {
    let (sine, cosine) = angle.to_radians().sin_cos();
    Wall {
        name: name.into(),
        shape: WallShape::Plane {
            point: [0.0, distance * cosine, 0.4998 + distance * sine],
            normal: [0.0, -cosine, -sine],
        },
        ..floor()
    }
}

/// Twenty cubes in a trough whose floor moves up. Each is near eight planes, and then touches both sides and the floor with four vertices each. So a block
/// has more entries than threads, and more contacts. Across the trough they are so slow that no damping is above the force of a spring.
fn in_a_trough() -> World {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    for k in [1u32, 2, 4, 5, 7, 8, 10, 11] {
        world.walls.push(along_x(&format!("plane {k}"), 30.0 * f64::from(k), 0.72));
    }
    world
        .walls
        .extend([along_x("left", 180.0, 0.4998), along_x("right", 0.0, 0.4998), floor()]);
    world.walls[10].motion.velocity = [0.0, 0.0, 0.1];
    for k in 0..20u32 {
        put(&mut world, 0, OF_UNIT_CUBE, [1.5 * f64::from(k), 0.0, 0.4998], [0.1, 5e-4, -0.1]);
    }
    world
}

#[test]
fn cubes_in_a_trough_do_the_same_on_cpu_and_gpu() {
    let after = |settings: Settings| {
        let mut simulation = Simulation::new(in_a_trough(), with_step(1e-5, settings)).expect("the world is sound");
        simulation.advance(5).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (cpu, gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
    assert_eq!(cpu.contacts(), gpu.contacts());
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-8, "{found:e}");
    assert_same_ledger(&cpu, &gpu, "cubes in a trough");
    for (of_cpu, of_gpu) in cpu.walls().iter().zip(gpu.walls()).skip(8) {
        let size = distance(of_cpu.force, [0.0; 3]);
        assert!(
            size > 0.0 && distance(of_cpu.force, of_gpu.force) < 1e-6 * size,
            "{of_cpu:?} {of_gpu:?}"
        );
    }
}

/// A cube on a belt of two triangles, and one that falls with a face on the rim of a plate that moves up.
pub fn on_meshes() -> World {
    let mut world = world(vec![cube()], rough());
    world.materials[0].youngs_modulus = 1e8;
    world.gravity = [0.0, 0.0, -9.81];
    let mut belt = mesh(rectangle([
        [-3.0, -3.0, -1.0],
        [3.0, -3.0, -1.0],
        [3.0, 3.0, -1.0],
        [-3.0, 3.0, -1.0],
    ]));
    belt.motion.surface.velocity = [0.5, 0.2, 0.0];
    let mut rising = Wall {
        name: "plate".into(),
        ..plate()
    };
    rising.motion.velocity = [0.0, 0.0, 0.1];
    world.walls = vec![belt, rising];
    // One corner of the first passes the diagonal.
    put(&mut world, 0, OF_UNIT_CUBE, [1.995, 2.0, -0.5001], [0.3, -0.2, 0.0]);
    let turn = about([0.0, 0.0, 1.0], 0.3);
    turned(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.505], turn, [0.0, 0.0, -0.5]);
    world
}

#[test]
fn cubes_on_meshes_do_the_same_on_cpu_and_gpu() {
    let after = |settings: Settings| {
        let mut simulation = Simulation::new(on_meshes(), with_step(1e-4, settings)).expect("the world is sound");
        simulation.advance(200).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (cpu, gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    assert!(found < 1e-8, "{found:e}");
    assert_eq!(cpu.contacts(), gpu.contacts());
    assert_same_ledger(&cpu, &gpu, "cubes on meshes");
    assert!(cpu.ledger().wall_work != 0.0 && cpu.ledger().friction > 0.0, "{:?}", cpu.ledger());
    for (of_cpu, of_gpu) in cpu.walls().iter().zip(gpu.walls()) {
        let size = distance(of_cpu.force, [0.0; 3]);
        assert!(
            size > 0.0 && distance(of_cpu.force, of_gpu.force) < 1e-6 * size,
            "{of_cpu:?} {of_gpu:?}"
        );
    }
}

#[test]
fn cubes_on_meshes_that_are_resumed_on_a_gpu_keep_their_bits() {
    let settings = with_step(1e-4, on_gpu(Precision::Mixed));
    let mut start = Simulation::new(on_meshes(), settings.clone()).expect("the world is sound");
    start.advance(150).expect("sound steps");
    assert_resumes(&on_meshes(), &settings, &mut start, 50);
}

/// Three bonded cubes, of which the last is beside the others; with a load, or with velocities.
fn arch(is_loaded: bool) -> World {
    let mut world = bar(3, glue(BondLaw::Beam));
    world.grains.position[2] = [0.2, 0.1, APART];
    world.grains.group[1] = 1;
    if is_loaded {
        world.loads.push(Load::constant(1, [1.0, -2.0, 3.0], [0.5, 0.0, 0.1]));
    }
    world.grains.velocity = vec![[0.02, 0.0, 0.0], [-0.01, 0.01, 0.0], [0.0, -0.02, 0.03]];
    world.grains.angular_velocity[0] = [0.05, 0.0, -0.02];
    world
}

#[test]
fn bonded_cubes_do_the_same_on_cpu_and_gpu() {
    for is_loaded in [false, true] {
        let after = |settings: Settings| {
            let mut simulation = Simulation::new(arch(is_loaded), with_step(1e-3, settings)).expect("the world is sound");
            assert_eq!(simulation.bond_counts(), [3, 3]);
            simulation.advance(200).expect("sound steps");
            simulation.observe().expect("a sound state");
            simulation
        };
        let (cpu, gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
        let found = apart(&cpu.snapshot(), &gpu.snapshot());
        assert!(found < 1e-8, "{found:e}");
        assert!(cpu.ledger().elastic_bonds > 0.0, "{:?}", cpu.ledger());
        assert_same_ledger(&cpu, &gpu, "bonded cubes");
        for (a, b) in cpu.bonds_now().iter().zip(gpu.bonds_now()) {
            assert_eq!(a.grains, b.grains);
            let size = distance(a.force, [0.0; 3]);
            assert!(distance(a.force, b.force) < 1e-6 * size, "{a:?} {b:?}");
        }
    }
}

#[test]
fn bonds_of_cubes_break_at_the_same_step_on_cpu_and_gpu() {
    let mut world = bar(
        3,
        Bonds {
            tensile_strength: 1e3,
            ..glue(BondLaw::Beam)
        },
    );
    world.grains.velocity = vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.01], [0.5, 0.0, 0.0]];
    let after = |settings: Settings| {
        let mut simulation = Simulation::new(world.clone(), with_step(5e-5, settings)).expect("the world is sound");
        simulation.advance(60).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (mut cpu, mut gpu) = (after(on_cpu()), after(on_gpu(Precision::F64)));
    let [expected, found] = [&mut cpu, &mut gpu].map(Simulation::drain_bond_breaks);
    assert!(!expected.is_empty() && expected.len() == found.len(), "{expected:?} {found:?}");
    for (a, b) in expected.iter().zip(&found) {
        assert_eq!((a.grains, a.mode, a.time), (b.grains, b.mode, b.time));
        assert!((a.energy / b.energy - 1.0).abs() < 1e-6, "{a:?} {b:?}");
    }
    assert_eq!(cpu.bond_counts(), gpu.bond_counts());
}

#[test]
fn bonded_cubes_that_are_resumed_on_a_gpu_keep_their_bits() {
    let settings = with_step(1e-3, on_gpu(Precision::F64));
    let mut start = Simulation::new(arch(true), settings.clone()).expect("the world is sound");
    start.advance(50).expect("sound steps");
    assert_resumes(&arch(true), &settings, &mut start, 50);
}

#[test]
fn one_step_from_the_same_contacts_gives_the_same_forces() {
    let state = touching().save().expect("a sound state");
    let one_step = |settings: Settings| {
        let mut simulation = Simulation::restore(swarm(), settings, &state).expect("the state fits");
        simulation.step().expect("a sound step");
        simulation.observe().expect("a sound state");
        simulation
    };
    let expected = one_step(on_cpu());
    assert!(expected.contacts() > 5, "{} contacts", expected.contacts());
    for (precision, bar) in [(Precision::F64, 1e-9), (Precision::Mixed, 1e-3)] {
        let simulation = one_step(on_gpu(precision));
        let found = apart(&expected.snapshot(), &simulation.snapshot());
        println!("{precision:?}: {found:.1e}");
        assert!(found < bar, "{precision:?}: {found:e}");
        assert_eq!(simulation.contacts(), expected.contacts());
    }
}

/// A state that a GPU saved, and simulations that go on from it with and without a break: the same bits.
#[track_caller]
pub fn assert_resumes(world: &World, settings: &Settings, start: &mut Simulation, steps: u64) {
    let state = start.save().expect("a sound state");
    let mut whole = Simulation::restore(world.clone(), settings.clone(), &state).expect("the state fits");
    whole.advance(steps).expect("sound steps");
    let saved = whole.save().expect("a sound state");
    let mut resumed = Simulation::restore(world.clone(), settings.clone(), &saved).expect("the state fits");
    assert_eq!(resumed.polyhedra(), whole.polyhedra());
    for simulation in [&mut whole, &mut resumed] {
        simulation.advance(2 * steps).expect("sound steps");
    }
    assert_same(&mut whole, &mut resumed, "a resumed run");
    // And back on the CPU.
    let cpu = Settings {
        time_step: settings.time_step,
        ..on_cpu()
    };
    let mut back = Simulation::restore(world.clone(), cpu, &saved).expect("the state fits");
    let ids = |simulation: &Simulation| simulation.polyhedra().iter().map(|grain| grain.id).collect::<Vec<u32>>();
    assert_eq!(ids(&back), ids(&whole));
    back.advance(steps).expect("sound steps");
}

#[test]
fn a_swarm_that_is_resumed_on_a_gpu_keeps_its_bits() {
    assert_resumes(&swarm(), &on_gpu(Precision::Mixed), &mut touching(), 100);
}

#[test]
fn cubes_on_a_plane_that_are_resumed_on_a_gpu_keep_their_bits() {
    let settings = with_step(1e-4, on_gpu(Precision::F64));
    let mut start = Simulation::new(on_a_plane(), settings.clone()).expect("the world is sound");
    start.advance(200).expect("sound steps");
    assert_resumes(&on_a_plane(), &settings, &mut start, 100);
}

/// The whole run keeps the features that it found in its first step, and the resumed one looks for them in the middle.
#[test]
fn features_that_are_kept_over_steps_change_no_bits() {
    for precision in [Precision::Mixed, Precision::F32] {
        let settings = with_step(1e-5, on_gpu(precision));
        let mut start = Simulation::new(touching_pairs(), settings.clone()).expect("the world is sound");
        start.advance(20).expect("sound steps");
        assert_resumes(&touching_pairs(), &settings, &mut start, 60);
    }
}

#[test]
fn friction_and_damping_on_a_gpu_close_the_ledger() {
    let state = touching().save().expect("a sound state");
    let mut simulation = Simulation::restore(swarm(), on_gpu(Precision::F64), &state).expect("the state fits");
    let (before, momentum) = (simulation.ledger(), simulation.momentum());
    simulation.advance(400).expect("sound steps");
    simulation.observe().expect("a sound state");
    let (after, now) = (simulation.ledger(), simulation.momentum());
    let energy = before.kinetic + before.rotational;
    assert!(after.normal_damping > before.normal_damping, "{before:?} {after:?}");
    assert!((after.residual - before.residual).abs() < 5e-3 * energy, "{before:?} {after:?}");
    let scale: f64 = simulation.snapshot().mass.iter().sum::<f64>() * 0.2;
    assert!(distance(momentum.linear, now.linear) < 1e-11 * scale, "{momentum:?} {now:?}");
    assert!(distance(momentum.angular, now.angular) < 1e-11 * scale, "{momentum:?} {now:?}");
}

#[test]
fn a_too_deep_overlap_of_cubes_is_named_on_a_gpu() {
    let mut world = world(vec![cube()], Interaction::default());
    put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 0.501], [0.0, 0.0, -20.0]);
    put(&mut world, 0, OF_UNIT_CUBE, [0.1, 0.05, -0.501], [0.0, 0.0, 20.0]);
    let settings = with_step(5e-5, on_gpu(Precision::F64));
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let stopped = (0..40).find_map(|_| simulation.advance(25).err()).expect("an error").to_string();
    assert!(stopped.contains("overlaps grain"), "{stopped}");
}

/// Two prisms that meet with their ends, of which the smaller one has forty vertices: more contacts than a pair has slots.
#[test]
fn too_many_contacts_of_a_pair_are_named_on_a_gpu() {
    let mut world = world(vec![prism("prism", 40, [0.3, 0.4], 0.1)], Interaction::default());
    put(&mut world, 0, 0.6, [0.0; 3], [0.5, 0.0, 0.0]);
    put(&mut world, 0, 0.54, [0.951, 0.0, 0.0], [-0.5, 0.0, 0.0]);
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(world.clone(), with_step(5e-5, settings)).expect("the world is sound");
        let stopped = (0..40).find_map(|_| simulation.advance(25).err()).expect("an error").to_string();
        assert!(
            stopped.contains("grain 0 (shape prism) and grain 1 (shape prism) have 40 contacts, and at most 32 are possible"),
            "{stopped}"
        );
    }
}
