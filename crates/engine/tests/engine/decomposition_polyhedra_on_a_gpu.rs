//! Worlds of polyhedral grains decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter
//! these tests fail).

use crate::alike::assert_same;
use crate::decomposition_polyhedra::{COLUMNS, breaking_bar, on_a_mesh, pile};
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::polyhedra_with_heat::heated;
use crate::switched::hold;
use seixo_engine::state::{GrainScalar, State};
use seixo_engine::world::{DeviceChoice, Domain, LeavingPolicy, Precision, Settings, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange, WorldError};

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
fn meshes_and_bonds_are_refused_in_domains_on_a_gpu() {
    let worlds = [
        (on_a_mesh(), "walls from meshes in several domains on GPUs"),
        (breaking_bar(), "bonds in several domains on GPUs"),
    ];
    for (world, expected) in worlds {
        let refused = Simulation::new(world, among(2, Precision::F64)).map(|_| ()).unwrap_err();
        assert!(
            matches!(&refused, WorldError::WithPolyhedra { what, .. } if *what == expected),
            "{refused}"
        );
    }
}
