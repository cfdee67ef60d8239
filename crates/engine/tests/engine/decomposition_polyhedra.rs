//! Decomposed worlds of polyhedral grains: the result is the same for any number of domains.

use crate::alike::assert_same;
use crate::bars::bonds;
use crate::beds::noise;
use crate::clumps::rod;
use crate::corners::{UPRIGHT, about, put, turned, world};
use crate::domains::{after, among};
use crate::floors::floor;
use crate::ledgers::assert_same_ledger;
use crate::polyhedra::{OF_UNIT_CUBE, cube, rough};
use crate::polyhedra_with_heat::heated;
use crate::ranked::among_ranks;
use crate::switched::hold;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{
    BondSize, Bonded, Bonds, Domain, Interaction, Joint, LeavingPolicy, Settings, Wall, WallMotion, WallShape, World,
};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::bond::BondLaw;
use seixo_transport::Transport;

/// Number of columns of four grains, and their distance along x \[m\].
pub const COLUMNS: u32 = 11;
const APART: f64 = 0.04;

/// Steps after which many grains touch.
const STEPS: u64 = 1200;

/// Cubes and balls in two layers that turn, fall, and slide on each other along periodic sides; a wall pushes them from one side.
pub fn pile() -> World {
    let mut world = world(vec![cube()], rough());
    world.gravity = [0.0, 0.0, -9.81];
    for k in 0..4 * COLUMNS {
        let [column, row, layer] = [k % COLUMNS, k / COLUMNS % 2, k / (2 * COLUMNS)].map(f64::from);
        let random = |n: u64| noise(10 * u64::from(k) + n);
        let center = [
            (column + 0.5) * APART + 1.5e-3 * random(0),
            0.037 * (row - 0.5),
            0.016 + 0.03 * layer,
        ];
        let velocity = [0.25 - 0.5 * layer, 0.1 * random(1), -0.1 - 0.2 * layer];
        if k % 8 == 5 {
            world.grains.push(k, center, velocity, [0.0; 3], 0.0126, 0, 0);
            continue;
        }
        // Nearly upright, so that no two overlap.
        let orientation = about([0.1, 0.0, 0.99f64.sqrt()], 0.8 + 0.7 * random(2));
        turned(&mut world, 0, 0.02, center, orientation, velocity);
        world.grains.angular_velocity[k as usize] = [3, 4, 5].map(|n| 8.0 * random(n));
    }
    let side = |name: &str, y: f64| Wall {
        name: name.into(),
        shape: WallShape::Plane {
            point: [0.0, y, 0.0],
            normal: [0.0, -y.signum(), 0.0],
        },
        ..floor()
    };
    let mut pusher = side("pusher", -0.0375);
    pusher.motion.velocity = [0.0, 0.1, 0.0];
    world.walls = vec![floor(), pusher, side("back", 0.0375)];
    world.domain = Some(Domain {
        periodic: [true, false, false],
        ..Domain::open([0.0, -0.2, -0.1], [f64::from(COLUMNS) * APART, 0.2, 0.3], LeavingPolicy::Error)
    });
    world
}

/// The pile with open sides, on a mesh.
fn on_a_mesh() -> World {
    let mut world = pile();
    world.domain = None;
    let [a, b, c, d] = [[-0.2, -0.2, 0.0], [0.6, -0.2, 0.0], [0.6, 0.2, 0.0], [-0.2, 0.2, 0.0]];
    world.walls[0].shape = WallShape::Mesh(vec![[a, b, c], [a, c, d]]);
    world
}

/// Settings with a skin so narrow that lists are often rebuilt.
fn often_listed(domains: usize) -> Settings {
    Settings {
        skin: Some(2e-3),
        ..among(domains)
    }
}

fn advanced(world: &World, domains: usize, steps: u64) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), often_listed(domains)).expect("the world is sound");
    simulation.advance(steps).expect("sound steps");
    simulation.observe().expect("a sound state");
    simulation
}

#[track_caller]
fn assert_all_same(whole: &mut Simulation, decomposed: &mut Simulation, what: &str) {
    assert_same(whole, decomposed, what);
    assert_same_ledger(whole, decomposed, what);
    assert_eq!(whole.snapshot(), decomposed.snapshot(), "{what}");
    assert_eq!(whole.polyhedra(), decomposed.polyhedra(), "{what}");
    assert_eq!(whole.contacts_now().unwrap(), decomposed.contacts_now().unwrap(), "{what}");
}

#[test]
fn a_tumbling_pile_is_the_same_in_any_number_of_domains_and_after_a_resume() {
    let (world, later) = (pile(), 800);
    let mut whole = advanced(&world, 1, STEPS);
    assert!(
        whole.contacts() > 5 && whole.rebuilds() > 3,
        "{} contacts, {} rebuilds",
        whole.contacts(),
        whole.rebuilds()
    );
    let mut saved = Vec::new();
    for domains in [2, 4] {
        let mut decomposed = advanced(&world, domains, STEPS);
        assert_all_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        saved.push((domains, decomposed));
    }
    whole.advance(later).expect("sound steps");
    let ledger = whole.ledger();
    assert!(ledger.normal_damping > 0.0 && ledger.friction > 0.0, "{ledger:?}");
    for (domains, mut decomposed) in saved {
        let state = decomposed.save().expect("a sound state");
        decomposed.advance(later).expect("sound steps");
        decomposed.observe().expect("a sound state");
        let migrations = decomposed.decomposition().expect("it is divided").migrations;
        assert!(migrations > 0, "{domains} domains");
        assert_all_same(&mut whole, &mut decomposed, &format!("{domains} domains, later"));
        let others = if domains == 2 { 4 } else { 1 };
        let mut resumed = Simulation::restore(world.clone(), often_listed(others), &state).expect("the state fits");
        resumed.advance(later).expect("sound steps");
        resumed.observe().expect("a sound state");
        assert_all_same(&mut whole, &mut resumed, &format!("from {domains} to {others} domains"));
    }
}

#[test]
fn a_pile_on_a_mesh_is_the_same_in_three_domains() {
    let world = on_a_mesh();
    let mut whole = advanced(&world, 1, STEPS);
    assert!(whole.walls()[0].force[2] != 0.0, "they lie on the mesh");
    let mut decomposed = advanced(&world, 3, STEPS);
    assert_all_same(&mut whole, &mut decomposed, "on a mesh");
}

/// The pile with a cube on each kind of joint, and three clumps that fall on it.
pub fn pile_with_joints_and_clumps() -> World {
    let mut world = pile();
    // Beside their centers, so that gravity turns them.
    let beside = |k: usize| {
        let [x, y, z] = world.grains.position[k];
        [x + 3e-3, y, z + 5e-3]
    };
    let joints = [
        (
            35,
            Joint::Hinge {
                through: beside(35),
                axis: [0.0, 1.0, 0.2],
            },
        ),
        (14, Joint::Ball { through: beside(14) }),
        (41, Joint::Slider { along: [0.0, 0.0, 1.0] }),
    ];
    for (k, joint) in joints {
        (world.grains.velocity[k], world.grains.angular_velocity[k]) = ([0.0; 3], [0.0; 3]);
        world.grains.put_on_joint(k, &world.shapes[0], joint);
    }
    for (x, y) in [(0.06, -0.0185), (0.2, 0.0185), (0.34, 0.0185)] {
        rod(2, 0.012).put(&mut world.grains, [x, y, 0.0745], UPRIGHT, [0.3, 0.0, -0.8], [0.0; 3]);
    }
    world
}

#[test]
fn joints_and_clumps_in_a_pile_are_the_same_in_any_number_of_domains_and_after_a_resume() {
    let (world, later) = (pile_with_joints_and_clumps(), 400);
    let mut whole = advanced(&world, 1, STEPS);
    let turns = |simulation: &Simulation| {
        let bodies = simulation.bodies();
        bodies.iter().filter(|body| body.angular_velocity != [0.0; 3]).count()
    };
    // Contacts alone turn clumps, and nothing turns the cube on the slider.
    assert_eq!((whole.bodies().len(), turns(&whole)), (6, 5), "{:?}", whole.bodies());
    let mut saved = Vec::new();
    for (domains, others) in [(2, 4), (4, 1)] {
        let (mut decomposed, what) = (advanced(&world, domains, STEPS), format!("{domains} domains"));
        assert_all_same(&mut whole, &mut decomposed, &what);
        assert_eq!(whole.bodies(), decomposed.bodies(), "{what}");
        saved.push((others, decomposed.save().expect("a sound state")));
    }
    whole.advance(later).expect("sound steps");
    for (others, state) in saved {
        let mut resumed = Simulation::restore(world.clone(), often_listed(others), &state).expect("the state fits");
        resumed.advance(later).expect("sound steps");
        resumed.observe().expect("a sound state");
        assert_all_same(&mut whole, &mut resumed, &format!("resumed in {others} domains"));
        assert_eq!(whole.bodies(), resumed.bodies(), "{others} domains");
    }
}

/// A bar of cubes that are bonded beside their centers. It flies along its axis and breaks in the middle, as its halves part.
pub fn breaking_bar() -> World {
    let mut world = world(vec![cube()], Interaction::default());
    world.bonds = vec![Bonds {
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.05,
        },
        size: BondSize::Share(1.0),
        youngs_modulus: 1e6,
        tensile_strength: 1e3,
        ..bonds(BondLaw::Beam)
    }];
    for k in 0..20 {
        let (beside, parting) = (if k % 2 == 0 { 0.2 } else { -0.1 }, if k < 10 { -0.05 } else { 0.05 });
        let center = [f64::from(k) * 1.005, beside, 0.1 * beside];
        put(&mut world, 0, OF_UNIT_CUBE, center, [4.0 + parting, 0.0, 0.02 * f64::from(k % 3)]);
    }
    // Domains move with a bar. A second one that passes it makes grains with bonds migrate.
    for k in 0..10 {
        put(&mut world, 0, OF_UNIT_CUBE, [f64::from(k) * 1.005, 3.0, 0.0], [-4.0, 0.0, 0.0]);
    }
    world
}

#[test]
fn a_bonded_bar_breaks_in_the_same_way_in_any_number_of_domains_and_after_a_resume() {
    let (world, steps) = (breaking_bar(), 2000);
    let settings = |domains: usize| Settings {
        time_step: Some(1e-4),
        skin: Some(0.05),
        ..among(domains)
    };
    let advanced = |domains: usize| {
        let mut simulation = Simulation::new(world.clone(), settings(domains)).expect("the world is sound");
        simulation.advance(steps).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let mut whole = advanced(1);
    let breaks = whole.drain_bond_breaks();
    assert!(breaks.iter().any(|broken| broken.grains == [9, 10]), "{breaks:?}");
    let [made, intact] = whole.bond_counts();
    assert!(made == 28 && (1..28).contains(&intact), "{intact} of {made} bonds are intact");
    let mut saved = Vec::new();
    for domains in [2, 4] {
        let (mut decomposed, what) = (advanced(domains), format!("{domains} domains"));
        assert!(decomposed.decomposition().expect("it is divided").migrations > 0, "{what}");
        assert_all_same(&mut whole, &mut decomposed, &what);
        assert_eq!(whole.bonds_now(), decomposed.bonds_now(), "{what}");
        assert_eq!(breaks, decomposed.drain_bond_breaks(), "{what}");
        saved.push((domains, decomposed.save().expect("a sound state")));
    }
    whole.advance(steps).expect("sound steps");
    for (domains, state) in saved {
        let (others, what) = (if domains == 2 { 4 } else { 1 }, format!("resumed from {domains} domains"));
        let mut resumed = Simulation::restore(world.clone(), settings(others), &state).expect("the state fits");
        resumed.advance(steps).expect("sound steps");
        resumed.observe().expect("a sound state");
        assert_all_same(&mut whole, &mut resumed, &what);
        assert_eq!(whole.bonds_now(), resumed.bonds_now(), "{what}");
    }
}

#[test]
fn heat_flows_alike_in_any_number_of_domains() {
    let world = heated(pile());
    let mut whole = advanced(&world, 1, STEPS);
    let ledger = whole.scalar_ledger(GrainScalar::Temperature).expect("it has one");
    assert!(
        ledger.from_walls > 0.0 && ledger.residual.abs() < 1e-12 * ledger.initial,
        "{ledger:?}"
    );
    for domains in [2, 4] {
        let mut decomposed = advanced(&world, domains, STEPS);
        assert_all_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        for ([now, given], [same, as_much]) in whole.heat_of_walls().into_iter().zip(decomposed.heat_of_walls()) {
            assert_eq!(now, same, "{domains} domains");
            assert!(
                (given - as_much).abs() <= 1e-12 * given.abs(),
                "{domains} domains: {given} {as_much}"
            );
        }
    }
}

#[test]
fn cubes_that_are_held_and_set_free_are_the_same_in_any_number_of_domains() {
    let mut world = pile();
    world.domain = None;
    world.groups.push("held".into());
    for (k, group) in world.grains.group.iter_mut().enumerate() {
        *group = u32::from(k % 7 == 0);
    }
    world.later.constrained_groups = vec![1];
    let turning = Box::new(WallMotion {
        velocity: [0.0, 0.0, 0.05],
        angular_velocity: [0.0, 0.0, 0.2],
        through: [0.2, 0.0, 0.0],
        ..WallMotion::default()
    });
    let changes: [(u64, SurroundingsChange); 3] = [
        (500, hold(1, [0.0; 3])),
        (800, SurroundingsChange::Hold { group: 1, motion: turning }),
        (1100, SurroundingsChange::Free { group: 1 }),
    ];
    let played = |domains: usize, until: usize| {
        let mut simulation = Simulation::new(world.clone(), often_listed(domains)).expect("the world is sound");
        for (step, change) in &changes[..until] {
            simulation.advance(step - simulation.steps()).expect("sound steps");
            simulation.change(std::slice::from_ref(change)).expect("a possible change");
        }
        simulation.advance(250).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    for until in [1, 2, 3] {
        let mut whole = played(1, until);
        assert_eq!(whole.bodies().len(), usize::from(until < 3));
        for domains in [2, 4] {
            assert_all_same(
                &mut whole,
                &mut played(domains, until),
                &format!("{domains} domains, {until} changes"),
            );
        }
    }
}

#[test]
fn cubes_come_and_go_while_a_pile_is_divided() {
    let changed = |domains: usize| {
        let mut simulation = advanced(&pile(), domains, STEPS);
        simulation.remove(&[3, 7, 22]).expect("a possible change");
        simulation.advance(200).expect("sound steps");
        simulation.set_velocity(0, [0.1, 0.0, 0.1]).expect("a possible change");
        simulation.advance(200).expect("sound steps");
        simulation.observe().expect("a sound state");
        simulation
    };
    let (mut whole, mut decomposed) = (changed(1), changed(3));
    assert_eq!((whole.len(), decomposed.len()), (41, 41));
    assert_all_same(&mut whole, &mut decomposed, "after changes");
}

#[test]
fn every_rank_holds_the_same_cubes() {
    let world = pile();
    let expected = after(&world, 2, STEPS).save().expect("a sound state");
    let found = among_ranks(2, &world, |ranks, mut simulation| {
        simulation.advance(STEPS).expect("sound steps");
        let state = simulation.save().expect("a sound state");
        ranks.clone().finish().expect("all are there");
        state
    });
    assert!(found.len() == 2 && found.iter().all(|state| *state == expected));
}
