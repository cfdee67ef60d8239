//! Worlds of polyhedral grains decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter
//! these tests fail).

use crate::alike::assert_same;
use crate::corners::{about, turned, world};
use crate::decomposition_polyhedra::{COLUMNS, breaking_bar, pile, pile_with_joints_and_clumps};
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough};
use crate::polyhedra_at_meshes::{mesh, rectangle};
use crate::polyhedra_with_heat::heated;
use crate::switched::hold;
use seixo_engine::state::{GrainScalar, State};
use seixo_engine::world::{DeviceChoice, Domain, LeavingPolicy, Precision, Settings, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange};

/// Time step \[s\]. In [`STEPS`] steps the grains and their walls go by the distance of two columns.
const TIME_STEP: f64 = 2e-5;
const STEPS: u64 = 400;
/// Their velocity along x \[m/s\].
const SPEED: f64 = 5.0;

/// Steps after which many grains touch.
const BEFORE: u64 = 1200;

/// The pile with its walls, in motion along x, so that all grains pass the borders of subdomains.
fn moving_pile() -> World {
    let mut world = pile();
    world.grains.velocity.iter_mut().for_each(|velocity| velocity[0] += SPEED);
    world.walls.iter_mut().for_each(|wall| wall.motion.velocity[0] += SPEED);
    world
}

/// With a skin so narrow that lists are often rebuilt.
fn often_listed(domains: usize, precision: Precision) -> Settings {
    Settings {
        skin: Some(2e-3),
        time_step: Some(TIME_STEP),
        ..among(domains, precision)
    }
}

/// The state when many grains touch, from a CPU.
fn touching(world: &World) -> State {
    let settings = Settings {
        device: DeviceChoice::Cpu,
        precision: None,
        ..often_listed(1, Precision::F64)
    };
    let mut simulation = Simulation::new(world.clone(), settings).expect("the world is sound");
    simulation.advance(BEFORE).expect("sound steps");
    simulation.save().expect("a sound state")
}

fn resumed(world: &World, state: &State, (domains, precision): (usize, Precision), steps: u64) -> Simulation {
    let settings = often_listed(domains, precision);
    let mut simulation = Simulation::restore(world.clone(), settings, state).expect("the state fits");
    simulation.advance(steps).expect("sound steps");
    simulation.observe().expect("a sound state");
    simulation
}

#[track_caller]
fn assert_all_same(whole: &mut Simulation, decomposed: &mut Simulation, what: &str) {
    assert_same(whole, decomposed, what);
    assert_eq!(whole.snapshot(), decomposed.snapshot(), "{what}");
    assert_eq!(whole.polyhedra(), decomposed.polyhedra(), "{what}");
}

#[test]
fn a_pile_that_passes_through_domains_is_that_of_one() {
    let world = moving_pile();
    let state = touching(&world);
    let all: [(Precision, &[usize]); 3] = [(Precision::Mixed, &[2, 4]), (Precision::F64, &[2]), (Precision::F32, &[3])];
    for (precision, numbers) in all {
        let mut whole = resumed(&world, &state, (1, precision), STEPS);
        assert!(
            whole.contacts() > 5 && whole.rebuilds() > 10,
            "{} contacts, {} rebuilds",
            whole.contacts(),
            whole.rebuilds()
        );
        for &domains in numbers {
            let what = format!("{precision:?}, {domains} domains");
            let mut decomposed = resumed(&world, &state, (domains, precision), STEPS);
            let found = decomposed.decomposition().expect("it is divided");
            assert!(found.migrations > 3, "{what}: {found:?}");
            assert_all_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
        }
    }
}

#[test]
fn a_divided_pile_goes_on_among_any_number_of_domains() {
    let world = moving_pile();
    let (state, precision) = (touching(&world), Precision::Mixed);
    let mut whole = resumed(&world, &state, (1, precision), STEPS / 2);
    let mut divided = resumed(&world, &state, (3, precision), STEPS / 4);
    let saved = divided.save().expect("a sound state");
    for domains in [1, 2] {
        let mut again = resumed(&world, &saved, (domains, precision), STEPS / 4);
        assert_all_same(&mut whole, &mut again, &format!("from 3 to {domains} domains"));
    }
    // Single steps change nothing either.
    for _ in 0..STEPS / 4 {
        divided.step().expect("a sound step");
    }
    divided.observe().expect("a sound state");
    assert_all_same(&mut whole, &mut divided, "step by step");
}

#[test]
fn cubes_that_leave_or_are_removed_do_so_in_all_domains() {
    let mut world = moving_pile();
    // Only the last column passes this side, after many grains touch.
    let side = f64::from(COLUMNS) * 0.04 + SPEED * TIME_STEP * BEFORE as f64;
    world.domain = Some(Domain::open([-0.2, -0.2, -0.1], [side, 0.2, 0.3], LeavingPolicy::Delete));
    let state = touching(&world);
    let [mut whole, mut decomposed] = [1, 2].map(|domains| {
        let mut simulation = resumed(&world, &state, (domains, Precision::Mixed), STEPS);
        simulation.remove(&[3, 7]).expect("a possible change");
        simulation.advance(50).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    });
    let all = 4 * COLUMNS as usize;
    assert!(whole.len() < all - 2 && whole.len() > all / 2, "{} of {all}", whole.len());
    assert_all_same(&mut whole, &mut decomposed, "cubes that leave");
}

/// Cubes in two rows that slide and turn on one mesh, in opposite directions: domains stay where they are, and grains of both rows pass a border. The
/// triangles are so narrow that the first one near a grain is another at each rebuild of the lists.
fn sliding_on_a_mesh() -> World {
    let mut world = world(vec![cube()], rough());
    world.gravity = [0.0, 0.0, -9.81];
    let strip = |k: i32| {
        let [near, far] = [k, k + 1].map(|x| 1e-3 * f64::from(x));
        rectangle([[near, -0.1, 0.0], [far, -0.1, 0.0], [far, 0.1, 0.0], [near, 0.1, 0.0]])
    };
    world.walls = vec![mesh((-200..200).flat_map(strip).collect())];
    let radius: f64 = 0.02;
    let [half, rounding] = [0.4, 0.1].map(|length| length * radius / OF_UNIT_CUBE);
    for k in 0..16 {
        let (column, towards) = (f64::from(k / 2), if k % 2 == 0 { 1.0 } else { -1.0 });
        let tilt = 0.04 * column;
        let height = half * (tilt.cos() + tilt.sin()) + rounding - 2e-5;
        let center = [towards * (0.04 * (column - 3.5) + 0.015), 0.05 * towards, height];
        let orientation = about([0.0, 1.0, 0.0], tilt);
        turned(&mut world, 0, radius, center, orientation, [3.0 * towards, 0.0, 0.0]);
    }
    world.grains.angular_velocity.iter_mut().for_each(|spin| spin[2] = 8.0);
    world
}

fn advanced(world: &World, settings: Settings, steps: u64) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), settings).expect("the world is sound");
    simulation.advance(steps).expect("sound steps");
    simulation.observe().expect("a sound state");
    simulation
}

#[test]
fn heat_of_a_divided_pile_flows_as_in_one_domain() {
    let world = heated(moving_pile());
    let state = touching(&world);
    let mut whole = resumed(&world, &state, (1, Precision::Mixed), STEPS / 2);
    let ledger = whole.scalar_ledger(GrainScalar::Temperature).expect("it has one");
    assert!(
        ledger.from_walls > 0.0 && ledger.residual.abs() < 1e-6 * ledger.initial,
        "{ledger:?}"
    );
    for domains in [2, 3] {
        let mut decomposed = resumed(&world, &state, (domains, Precision::Mixed), STEPS / 2);
        assert_all_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        let (expected, found) = (whole.heat_of_walls(), decomposed.heat_of_walls());
        for (a, b) in expected.iter().flatten().zip(found.iter().flatten()) {
            assert!((a - b).abs() <= 1e-12 * a.abs(), "{domains} domains: {expected:?} {found:?}");
        }
    }
}

#[test]
fn cubes_that_are_held_and_set_free_are_the_same_in_two_domains_on_a_gpu() {
    let mut world = moving_pile();
    world.domain = None;
    world.groups.push("held".into());
    for (k, group) in world.grains.group.iter_mut().enumerate() {
        *group = u32::from(k % 7 == 0);
    }
    world.later.constrained_groups = vec![1];
    let state = touching(&world);
    let turning = Box::new(WallMotion {
        velocity: [SPEED, 0.0, 0.05],
        angular_velocity: [0.0, 0.0, 0.2],
        through: [0.2, 0.0, 0.0],
        ..WallMotion::default()
    });
    let changes = [
        hold(1, [SPEED, 0.0, 0.0]),
        SurroundingsChange::Hold { group: 1, motion: turning },
        SurroundingsChange::Free { group: 1 },
    ];
    let [mut whole, mut decomposed] = [1, 2].map(|domains| resumed(&world, &state, (domains, Precision::Mixed), 50));
    for (k, change) in changes.iter().enumerate() {
        for simulation in [&mut whole, &mut decomposed] {
            simulation.change(std::slice::from_ref(change)).expect("a possible change");
            simulation.advance(100).expect("sound steps");
            simulation.observe().expect("a sound state");
        }
        assert_eq!(whole.bodies().len(), usize::from(k < 2));
        let what = format!("after change {k}");
        assert_all_same(&mut whole, &mut decomposed, &what);
        assert_same_ledger(&whole, &decomposed, &what);
    }
}

#[test]
fn joints_and_clumps_in_a_pile_are_the_same_in_any_number_of_domains_on_a_gpu() {
    let (world, precision, steps) = (pile_with_joints_and_clumps(), Precision::Mixed, 150);
    let state = touching(&world);
    let mut whole = resumed(&world, &state, (1, precision), steps);
    let turning = whole.bodies().iter().filter(|body| body.angular_velocity != [0.0; 3]).count();
    assert!(
        whole.contacts() > 5 && whole.bodies().len() == 6 && turning > 2,
        "{:?}",
        whole.bodies()
    );
    let mut decomposed = resumed(&world, &state, (2, precision), steps);
    assert_all_same(&mut whole, &mut decomposed, "2 domains");
    assert_same_ledger(&whole, &decomposed, "2 domains");
    assert_eq!(whole.bodies(), decomposed.bodies());
    let saved = decomposed.save().expect("a sound state");
    whole.advance(50).expect("sound steps");
    whole.observe().expect("a sound state");
    let mut again = resumed(&world, &saved, (3, precision), 50);
    assert_all_same(&mut whole, &mut again, "from 2 to 3 domains");
    assert_eq!(whole.bodies(), again.bodies());
}

#[test]
fn cubes_slide_on_a_mesh_from_domain_to_domain_with_their_friction() {
    let world = sliding_on_a_mesh();
    let all: [(Precision, &[usize]); 2] = [(Precision::Mixed, &[2, 4]), (Precision::F64, &[2])];
    for (precision, numbers) in all {
        let mut whole = advanced(&world, often_listed(1, precision), STEPS);
        let (ledger, push) = (whole.ledger(), whole.walls()[0].force);
        assert!(
            ledger.friction > 0.0 && push[2] != 0.0 && whole.rebuilds() > 10,
            "{ledger:?}, {push:?}, {} rebuilds",
            whole.rebuilds()
        );
        for &domains in numbers {
            let what = format!("{precision:?}, {domains} domains");
            let mut decomposed = advanced(&world, often_listed(domains, precision), STEPS);
            let found = decomposed.decomposition().expect("it is divided");
            assert!(found.migrations > 1, "{what}: {found:?}");
            assert_all_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
        }
    }
}

#[test]
fn cubes_on_a_mesh_go_on_among_any_number_of_domains() {
    let world = sliding_on_a_mesh();
    let settings = |domains: usize| often_listed(domains, Precision::Mixed);
    let mut whole = advanced(&world, settings(1), 200);
    let saved = advanced(&world, settings(2), 100).save().expect("a sound state");
    let mut again = resumed(&world, &saved, (4, Precision::Mixed), 100);
    assert_all_same(&mut whole, &mut again, "from 2 to 4 domains");
}

/// Two bars of bonded cubes that pass each other. The long one breaks at the border of two domains, over which later one cube of each goes.
fn passing_bars() -> World {
    let mut world = breaking_bar();
    for (k, velocity) in world.grains.velocity.iter_mut().enumerate().take(20) {
        velocity[0] = if k < 8 { 3.95 } else { 4.05 };
    }
    for center in &mut world.grains.position[20..] {
        center[0] += 0.2;
    }
    world
}

#[test]
fn a_bonded_bar_breaks_alike_in_any_number_of_domains() {
    let (world, steps) = (passing_bars(), 600);
    let settings = |domains: usize, precision: Precision| Settings {
        time_step: Some(1e-4),
        skin: Some(0.05),
        ..among(domains, precision)
    };
    let all: [(Precision, &[usize]); 2] = [(Precision::Mixed, &[2, 4]), (Precision::F64, &[2])];
    for (precision, numbers) in all {
        let mut whole = advanced(&world, settings(1, precision), steps);
        let breaks = whole.drain_bond_breaks();
        assert!(breaks.iter().any(|broken| broken.grains == [7, 8]), "{breaks:?}");
        let [made, intact] = whole.bond_counts();
        assert!(made == 28 && intact > 0 && breaks.len() == made - intact, "{intact} of {made}");
        for &domains in numbers {
            let what = format!("{precision:?}, {domains} domains");
            let mut decomposed = advanced(&world, settings(domains, precision), steps);
            let found = decomposed.decomposition().expect("it is divided");
            assert!(found.migrations > 0, "{what}: {found:?}");
            assert_eq!(breaks, decomposed.drain_bond_breaks(), "{what}");
            assert_all_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            assert_eq!(whole.bonds_now(), decomposed.bonds_now(), "{what}");
        }
        if precision == Precision::Mixed {
            let saved = advanced(&world, settings(2, precision), steps / 2).save().expect("a sound state");
            let mut again = Simulation::restore(world.clone(), settings(3, precision), &saved).expect("the state fits");
            again.advance(steps / 2).expect("sound steps");
            again.observe().expect("a sound state");
            assert_all_same(&mut whole, &mut again, "from 2 to 3 domains");
            assert_eq!(whole.bonds_now(), again.bonds_now());
        }
    }
}
