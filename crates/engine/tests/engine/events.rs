//! Events between two steps: grains are inserted and removed, walls appear, vanish and change their motion, gravity changes. The ledger closes. The
//! bits do not depend on threads or interruptions. A GPU (software Vulkan suffices) gives the results of the CPU.

use crate::beds;
use crate::devices::{on_gpu, on_threads};
use crate::resumed::assert_same;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{
    DeviceChoice, Domain, ExpectedGrains, Grains, LeavingPolicy, Precision, Settings, Wall, WallMotion, WallShape, World,
};
use seixo_engine::{Simulation, SurroundingsChange, WorldError};
use seixo_laws::contact::TangentialLaw;
use seixo_laws::motion::Scheme;

fn kind(radius: [f64; 2]) -> ExpectedGrains {
    ExpectedGrains {
        material: 0,
        radius,
        mass_per_radius: None,
        shape: None,
        speed: 1.0,
        reach: 0.05,
        highest_id: None,
    }
}

/// A bed that falls into its box; more grains may be inserted.
fn bed(count: usize) -> World {
    let mut world = beds::falling(count, TangentialLaw::Mindlin);
    world.later.grains.push(kind([2.5e-4, 5e-4]));
    world.groups.push("sheet".into());
    world.domain = Some(Domain::open([-0.1; 3], [0.1; 3], LeavingPolicy::Delete));
    world
}

/// A sheet of grains of two sizes at this height.
fn sheet(height: f64, first_id: u64, side: u32) -> Grains {
    let mut grains = Grains::default();
    for k in 0..side * side {
        let center = [1e-3 + 1.2e-3 * f64::from(k % side), 1e-3 + 1.2e-3 * f64::from(k / side), height];
        let radius = if k % 3 == 0 { 3e-4 } else { 5e-4 };
        let noise = beds::noise(u64::from(k));
        grains.push(
            first_id as u32 + k,
            center,
            [0.1 * noise, 0.0, -0.2],
            [0.0, 30.0 * noise, 0.0],
            radius,
            0,
            1,
        );
    }
    grains
}

/// Kinetic, rotational and gravity energy of grains [J].
fn energy_of(grains: &Grains, density: f64, gravity: [f64; 3]) -> f64 {
    let square = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>();
    let one = |k: usize| {
        let radius = grains.radius[k];
        let mass = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * density;
        let height: f64 = (0..3).map(|axis| gravity[axis] * grains.position[k][axis]).sum();
        mass * (0.5 * square(grains.velocity[k]) + 0.2 * radius * radius * square(grains.angular_velocity[k]) - height)
    };
    (0..grains.len()).map(one).sum()
}

const INSERTION: u64 = 400;
const REMOVAL: u64 = 900;
const TURN: u64 = 1300;
const END: u64 = 1800;

fn changes() -> Vec<SurroundingsChange> {
    let slower = Box::new(WallMotion {
        velocity: [1e-3, 0.0, 0.0],
        ..WallMotion::default()
    });
    vec![
        SurroundingsChange::Wall { wall: 1, is_there: false },
        SurroundingsChange::Motion { wall: 0, motion: slower },
        SurroundingsChange::Gravity([20.0, 0.0, -190.0]),
    ]
}

/// Takes steps to `end`, with events at three of them.
fn play(simulation: &mut Simulation, end: u64) {
    for (step, event) in [(INSERTION, 0), (REMOVAL, 1), (TURN, 2), (END, 3)] {
        if simulation.steps() > step || (simulation.steps() == step && event == 3) {
            continue;
        }
        let before = step.min(end) - simulation.steps();
        simulation.advance(before).unwrap_or_else(|stop| panic!("{stop}"));
        if simulation.steps() >= end {
            return;
        }
        match event {
            0 => simulation.insert(&sheet(0.03, simulation.next_id(), 8)).unwrap(),
            1 => {
                let ids: Vec<u32> = (0..simulation.next_id() as u32).filter(|id| id % 17 == 0).collect();
                simulation.remove(&ids).unwrap();
            }
            2 => {
                simulation.change(&changes()).unwrap();
                simulation.set_velocity(1, [0.0, 0.0, 0.1]).unwrap();
            }
            _ => {}
        }
    }
}

fn played(world: &World, settings: Settings) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    play(&mut simulation, END);
    simulation.observe().unwrap();
    simulation
}

#[test]
fn what_comes_flies_as_thrown() {
    let mut world = bed(27);
    world.gravity = [0.0, 0.0, -9.81];
    for settings in [on_threads(1), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        simulation.advance(50).unwrap();
        let thrown = sheet(0.05, simulation.next_id(), 2);
        simulation.insert(&thrown).unwrap();
        let began = simulation.time();
        simulation.advance(500).unwrap();
        simulation.observe().unwrap();
        let (seen, time) = (simulation.snapshot(), simulation.time() - began);
        for (k, id) in thrown.id.iter().enumerate() {
            let found = seen.id.binary_search(id).unwrap();
            for axis in 0..3 {
                let expected = thrown.position[k][axis] + thrown.velocity[k][axis] * time + 0.5 * world.gravity[axis] * time * time;
                // Leap-frog is exact for constant forces, if it starts with the correct half-step velocity.
                assert!((seen.position[found][axis] - expected).abs() < 1e-13, "axis {axis}");
                let speed = thrown.velocity[k][axis] + world.gravity[axis] * time;
                assert!((seen.velocity[found][axis] - speed).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn the_ledger_closes_and_report_what_came_and_went() {
    let world = bed(1500);
    for settings in [on_threads(2), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        play(&mut simulation, INSERTION);
        simulation.observe().unwrap();
        let before = simulation.ledger();
        let coming = sheet(0.03, simulation.next_id(), 8);
        simulation.insert(&coming).unwrap();
        let after = simulation.ledger();
        let brought = energy_of(&coming, 2500.0, world.gravity);
        assert!((after.inserted / brought - 1.0).abs() < 1e-9, "{} {brought}", after.inserted);
        // All contacts keep their history.
        assert!((after.elastic_normal / before.elastic_normal - 1.0).abs() < 1e-12);
        assert!((after.elastic_tangential / before.elastic_tangential - 1.0).abs() < 1e-12 && after.elastic_tangential > 0.0);

        simulation.advance(REMOVAL - INSERTION).unwrap();
        simulation.observe().unwrap();
        let (before, seen) = (simulation.ledger(), simulation.snapshot());
        let ids: Vec<u32> = seen.id.iter().copied().filter(|id| id % 17 == 0).collect();
        simulation.remove(&ids).unwrap();
        let (after, left) = (simulation.ledger(), simulation.snapshot());
        assert_eq!(
            (simulation.len(), left.id.len()),
            (seen.id.len() - ids.len(), seen.id.len() - ids.len())
        );
        let total = |ledger: &seixo_engine::state::Ledger| ledger.values()[..8].iter().sum::<f64>();
        assert!((after.left_domain - before.left_domain - (total(&before) - total(&after))).abs() < 1e-12);
        assert!(after.elastic_normal < before.elastic_normal && (after.friction - before.friction).abs() < 1e-15);

        play(&mut simulation, END);
        simulation.observe().unwrap();
        let ledger = simulation.ledger();
        let moved = ledger.normal_damping + ledger.tangential_damping + ledger.friction;
        println!("residual {:.1e} of {moved:.1e} J taken", ledger.residual);
        assert!(ledger.residual.abs() < 4e-3 * moved, "{ledger:?}");
    }
}

#[test]
fn one_thread_equals_two_and_three() {
    let world = bed(2500);
    let one = played(&world, on_threads(1)).save().unwrap();
    for threads in [2, 3] {
        assert_same(
            &one,
            &played(&world, on_threads(threads)).save().unwrap(),
            &format!("{threads} threads"),
        );
    }
}

#[test]
fn going_on_from_any_saved_state_equals_never_stopping() {
    let world = bed(800);
    for settings in [on_threads(2), on_gpu(Precision::Mixed), on_gpu(Precision::F64)] {
        let whole = played(&world, settings.clone()).save().unwrap();
        let all = [137, INSERTION, INSERTION + 1, 777, REMOVAL, REMOVAL + 1, TURN, TURN + 1, 1604];
        // Software GPUs are slow.
        let every = if settings.device == DeviceChoice::Cpu { 1 } else { 3 };
        for split in all.into_iter().skip(every / 2).step_by(every) {
            let mut first = Simulation::new(world.clone(), settings.clone()).unwrap();
            play(&mut first, split);
            let past = if split > TURN { vec![(TURN, changes())] } else { Vec::new() };
            let state = first.save().unwrap();
            let mut second = Simulation::restore_changed(world.clone(), settings.clone(), &state, &past).unwrap();
            assert_eq!(first.ledger(), second.ledger());
            assert_eq!(first.walls(), second.walls());
            let what = format!("{:?}, split at {split}", settings.precision);
            play(&mut second, END);
            let end = second.save().unwrap();
            // The order in which a GPU sums its ledger depends on observations: the reference was observed at the same steps.
            if settings.device == DeviceChoice::Cpu {
                assert_same(&whole, &end, &what);
            }
            play(&mut first, END);
            assert_same(&first.save().unwrap(), &end, &what);
        }
        // Right after an event, before another step.
        let mut first = Simulation::new(world.clone(), settings.clone()).unwrap();
        play(&mut first, INSERTION);
        first.insert(&sheet(0.03, first.next_id(), 8)).unwrap();
        let mut second = Simulation::restore(world.clone(), settings.clone(), &first.save().unwrap()).unwrap();
        for simulation in [&mut first, &mut second] {
            simulation.advance(300).unwrap();
        }
        assert_same(&first.save().unwrap(), &second.save().unwrap(), "right after grains came");
    }
}

#[test]
fn a_gpu_plays_the_same_as_the_cpu() {
    let world = bed(800);
    let cpu = played(&world, on_threads(2));
    let gpu = played(&world, on_gpu(Precision::F64));
    let (a, b) = (cpu.snapshot(), gpu.snapshot());
    assert_eq!((&a.id, &a.mass, &a.group), (&b.id, &b.mass, &b.group));
    let apart = a.position.iter().flatten().zip(b.position.iter().flatten());
    let farthest = apart.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    println!("{farthest:.1e} m apart");
    assert!(farthest < 1e-8, "{farthest:e} m");
    for (column, (a, b)) in cpu.ledger().values().into_iter().zip(gpu.ledger().values()).enumerate() {
        let scale = cpu.ledger().kinetic + cpu.ledger().gravity.abs();
        assert!((a - b).abs() < 1e-8 * scale, "ledger column {column}: {a} {b}");
    }
}

#[test]
fn a_world_without_grains_waits_for_some() {
    let mut world = bed(27);
    let ground = world.grains.clone();
    world.grains = Grains::default();
    for settings in [on_threads(1), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(world.clone(), settings.clone()).unwrap();
        simulation.advance(1000).unwrap();
        assert_eq!((simulation.steps(), simulation.len()), (1000, 0));
        // The pusher has moved on; inserted grains must not be inside of it.
        let mut second = Simulation::restore(world.clone(), settings, &simulation.save().unwrap()).unwrap();
        for simulation in [&mut simulation, &mut second] {
            simulation.insert(&ground).unwrap();
            simulation.advance(300).unwrap();
            simulation.observe().unwrap();
            assert_eq!(simulation.len(), 27);
        }
        assert_same(&simulation.save().unwrap(), &second.save().unwrap(), "from nothing");
        let all = simulation.snapshot().id;
        simulation.remove(&all).unwrap();
        simulation.advance(10).unwrap();
        let ledger = simulation.ledger();
        assert!(
            simulation.is_empty() && ledger.residual.abs() < 1e-3 * ledger.inserted.abs(),
            "{ledger:?}"
        );
    }
}

/// A grain at rest on a plate of two triangles above a floor; gravity is 10 m/s².
fn on_a_plate() -> World {
    let mut world = bed(1);
    world.gravity = [0.0, 0.0, -10.0];
    world.grains.position[0] = [0.0, 0.0, 4.9999e-4];
    (world.grains.velocity[0], world.grains.angular_velocity[0]) = ([0.0; 3], [0.0; 3]);
    world.grains.radius[0] = 5e-4;
    let plate = |name: &str, z: f64| {
        let corner = |x: f64, y: f64| [x, y, z];
        Wall {
            name: name.into(),
            material: 0,
            shape: WallShape::Mesh(vec![
                [corner(-1e-2, -1e-2), corner(1e-2, -1e-2), corner(1e-2, 1e-2)],
                [corner(-1e-2, -1e-2), corner(1e-2, 1e-2), corner(-1e-2, 1e-2)],
            ]),
            motion: WallMotion::default(),
            specific_wear_rate: 0.0,
        }
    };
    world.walls = vec![plate("plate", 0.0), plate("lid", 9.5e-4), plate("lift", -1e-5)];
    world.later.walls = vec![1, 2];
    world
}

#[test]
fn walls_bear_while_they_are_there_and_move_on_from_where_they_are() {
    let world = on_a_plate();
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 5e-4f64.powi(3) * 2500.0;
    let wall = |wall: usize, is_there: bool| SurroundingsChange::Wall { wall, is_there };
    let motion = |motion: WallMotion| SurroundingsChange::Motion {
        wall: 2,
        motion: Box::new(motion),
    };
    for settings in [on_threads(1), on_gpu(Precision::F64)] {
        let mut past = Vec::new();
        // The CPU takes the many steps until the grain is at rest, and hands the state over.
        let at_rest = |simulation: &mut Simulation, past: &[(u64, Vec<SurroundingsChange>)]| {
            let restored = |settings: Settings, from: &mut Simulation| {
                Simulation::restore_changed(world.clone(), settings, &from.save().unwrap(), past).unwrap()
            };
            let mut here = restored(on_threads(1), simulation);
            here.advance(20_000).unwrap();
            let mut there = restored(settings.clone(), &mut here);
            there.advance(100).unwrap();
            there.observe().unwrap();
            there
        };
        let mut change = |simulation: &mut Simulation, changes: SurroundingsChange| {
            past.push((simulation.steps(), vec![changes]));
            simulation.change(&past.last().unwrap().1).unwrap();
            past.clone()
        };
        let mut simulation = at_rest(&mut Simulation::new(world.clone(), settings.clone()).unwrap(), &[]);
        let borne: Vec<f64> = simulation.walls().iter().map(|wall| wall.force[2]).collect();
        assert!((borne[0] / (-mass * 10.0) - 1.0).abs() < 1e-6, "{borne:?}");
        assert_eq!(borne[1..], [0.0, 0.0], "walls that are not there bear nothing");

        // Without the plate the grain falls: half of the kick over the current time still contains the force of the plate.
        change(&mut simulation, wall(0, false));
        assert!(simulation.walls()[0].triangles.is_empty());
        let (from, began, dt) = (simulation.snapshot(), simulation.time(), simulation.time_step().value);
        let steps = |duration: f64| (duration / dt) as u64;
        simulation.advance(steps(0.3e-3)).unwrap();
        simulation.observe().unwrap();
        let (now, time) = (simulation.snapshot(), simulation.time() - began);
        let fallen = from.position[0][2] - now.position[0][2];
        assert!((fallen - 5.0 * time * time).abs() < 10.0 * time * dt, "{fallen} m in {time} s");
        // The lift below the plate appears in time and catches the grain, which falls for 1.4 ms.
        let past = change(&mut simulation, wall(2, true));
        simulation.advance(steps(2e-3)).unwrap();
        let mut simulation = at_rest(&mut simulation, &past);
        // It moves up, and carries the grain at its speed.
        let speed = 1e-2;
        let up = WallMotion {
            velocity: [0.0, 0.0, speed],
            ..WallMotion::default()
        };
        change(&mut simulation, motion(up));
        let (height, began) = (simulation.walls()[2].triangles[0][0][2], simulation.time());
        assert_eq!(height, -1e-5);
        simulation.advance(steps(1e-2)).unwrap();
        let past = change(&mut simulation, motion(WallMotion::default()));
        let risen = simulation.walls()[2].triangles[0][0][2] - height;
        assert!((risen / (speed * (simulation.time() - began)) - 1.0).abs() < 1e-9, "{risen}");
        let simulation = at_rest(&mut simulation, &past);
        let gap = simulation.snapshot().position[0][2] - simulation.walls()[2].triangles[0][0][2];
        assert!((gap / 5e-4 - 1.0).abs() < 1e-3, "{gap}");
        let ledger = simulation.ledger();
        // The lift bears the weight of the grain on its way, and gave it its speed.
        let work = mass * (10.0 * risen + speed * speed);
        assert!((ledger.wall_work / work - 1.0).abs() < 0.05, "{ledger:?}");
        assert!(ledger.residual.abs() < 1e-3 * ledger.wall_work, "{ledger:?}");
    }
}

/// One grain with this radius and mass, high above all others.
fn one_of(radius: f64, mass: Option<f64>) -> Grains {
    let mut grains = Grains::default();
    grains.push(700, [1.2e-3, 1.2e-3, 0.05], [0.0; 3], [0.0; 3], radius, 0, 0);
    grains.masses.extend(mass.map(|mass| (700, mass)));
    grains
}

#[test]
fn grains_of_all_radii_between_those_at_the_start_may_come_also_after_these_have_left() {
    // Radii are 0.25 mm and 0.5 mm.
    let world = beds::falling(20, TangentialLaw::Mindlin);
    let mass = |radius: f64| 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * f64::powi(radius, 3);
    let mut simulation = Simulation::new(world.clone(), on_threads(1)).unwrap();
    simulation.advance(10).unwrap();
    let all: Vec<u32> = simulation.snapshot().id;
    simulation.remove(&all).unwrap();
    let mut simulation = Simulation::restore(world, on_threads(1), &simulation.save().unwrap()).unwrap();
    for (radius, mass) in [(2.4e-4, None), (5.1e-4, None), (2.5e-4, Some(0.9 * mass(2.5e-4)))] {
        let error = simulation.insert(&one_of(radius, mass)).unwrap_err();
        assert!(matches!(error, WorldError::Unexpected { id: 700, .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("glass") && message.contains("prepared with"), "{message}");
    }
    for (radius, mass) in [(2.5e-4, None), (3.7e-4, None), (5e-4, None), (4e-4, Some(2.0 * mass(4e-4)))] {
        simulation.insert(&one_of(radius, mass)).unwrap_or_else(|error| panic!("{error}"));
        simulation.advance(10).unwrap();
        assert_eq!(simulation.snapshot().radius, [radius]);
        simulation.remove(&[700]).unwrap();
    }
}

#[test]
fn scalars_that_grains_do_not_carry_are_refused() {
    let mut simulation = Simulation::new(beds::falling(5, TangentialLaw::Mindlin), on_threads(1)).unwrap();
    for scalar in GrainScalar::ALL {
        let mut grains = one_of(5e-4, None);
        grains.scalars[scalar].push(1.0);
        let error = simulation.insert(&grains).unwrap_err().to_string();
        assert!(error.contains(scalar.name()) && error.contains("left out"), "{error}");
    }
    simulation.insert(&one_of(5e-4, None)).unwrap();
    simulation.advance(10).unwrap();
}

#[test]
fn what_would_be_inside_of_something_is_refused() {
    let world = on_a_plate();
    let mut simulation = Simulation::new(world.clone(), on_threads(1)).unwrap();
    let one = |id: u32, at: [f64; 3], radius: f64| {
        let mut grains = Grains::default();
        grains.push(id, at, [0.0; 3], [0.0; 3], radius, 0, 0);
        grains
    };
    let at_z = |z: f64| [2e-3, 0.0, z];
    assert!(matches!(
        simulation.insert(&one(7, [0.0, 0.0, 1.4e-3], 5e-4)),
        Err(WorldError::Taken { id: 7, .. })
    ));
    assert!(matches!(
        simulation.insert(&one(7, at_z(4e-4), 5e-4)),
        Err(WorldError::Taken { id: 7, .. })
    ));
    assert!(matches!(
        simulation.insert(&one(7, at_z(0.2), 5e-4)),
        Err(WorldError::Outside { id: 7, .. })
    ));
    assert!(matches!(
        simulation.insert(&one(0, at_z(2e-3), 5e-4)),
        Err(WorldError::DuplicateId { id: 0 })
    ));
    assert!(matches!(
        simulation.insert(&one(7, at_z(2e-3), 6e-4)),
        Err(WorldError::Unexpected { id: 7, .. })
    ));
    // A lid that intersects the grain.
    let lid = [SurroundingsChange::Wall { wall: 1, is_there: true }];
    let mut deep = world.clone();
    deep.walls[1].shape = match &world.walls[1].shape {
        WallShape::Mesh(triangles) => WallShape::Mesh(
            triangles
                .iter()
                .map(|triangle| triangle.map(|corner| [corner[0], corner[1], 6e-4]))
                .collect(),
        ),
        plane => plane.clone(),
    };
    let refused = Simulation::new(deep, on_threads(1)).unwrap().change(&lid).unwrap_err();
    assert!(refused.to_string().contains("wall lid cannot appear: grain 0"), "{refused}");
    // A lid that overlaps the grain by a tenth of its radius adds the elastic energy of that.
    simulation.change(&lid).unwrap();
    let ledger = simulation.ledger();
    assert!(
        ledger.inserted > 0.0 && (ledger.inserted / ledger.elastic_normal - 1.0).abs() < 1e-3,
        "{ledger:?}"
    );
    simulation.advance(200).unwrap();
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 2e-2 * ledger.inserted, "{ledger:?}");
}

/// A grain that falls freely in one gravity and then in another has the velocity of Newton's law, with every scheme.
#[test]
fn a_change_of_gravity_acts_from_its_moment_on_by_every_scheme() {
    let mut world = beds::falling(1, TangentialLaw::Mindlin);
    world.walls.clear();
    world.gravity = [0.0, 0.0, -10.0];
    let start = world.grains.velocity[0];
    for (scheme, word) in Scheme::ALL {
        let settings = Settings {
            scheme,
            time_step: Some(2e-7),
            ..on_threads(1)
        };
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        simulation.advance(50).unwrap();
        simulation.change(&[SurroundingsChange::Gravity([4.0, 0.0, -2.0])]).unwrap();
        simulation.advance(50).unwrap();
        let found = simulation.snapshot().velocity[0];
        for (axis, gained) in [4e-5, 0.0, -1.2e-4].into_iter().enumerate() {
            // Half a kick would be 8e-7 m/s.
            assert!((found[axis] - start[axis] - gained).abs() < 1e-12, "{word}: {found:?}");
        }
    }
}
