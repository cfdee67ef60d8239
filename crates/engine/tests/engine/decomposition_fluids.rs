//! Fluids that are decomposed into subdomains: the result is the same for any number.

use crate::alike::assert_same;
use crate::couette::{cavity, couette};
use crate::domains::{after, among, started};
use crate::driven::{drum, paddled, pressed, round_and_round};
use crate::floods::{assert_put_back, beside_grains, block, column, dry, falling_whirl, whirl};
use crate::ledgers::assert_same_ledger;
use crate::pools::{tank, wet};
use crate::solvers::incompressible;
use seixo_engine::world::{Domain, FluidInlet, LeavingPolicy, WallMotion, World};
use seixo_engine::{Simulation, StepErrorCause, SurroundingsChange};

/// Fluid loads on walls.
fn loads(simulation: &Simulation) -> Vec<[[f64; 3]; 2]> {
    simulation.walls().iter().map(|wall| [wall.force, wall.torque]).collect()
}

#[test]
fn fluids_among_walls_are_the_same_among_any_number_of_domains() {
    let worlds = [
        ("a column that breaks down", column(), [2, 4]),
        ("a paddle", paddled(), [2, 4]),
        ("a drum", drum(), [2, 4]),
        ("a piston", pressed(0.1, 0.1), [3, 6]),
        ("a flow between plates", couette(), [2, 4]),
        ("a plate that goes round and round", round_and_round(), [2, 4]),
    ];
    for (what, world, numbers) in worlds {
        let mut whole = after(&world, 1, 500);
        assert!(whole.rebuilds() > 2, "{what}: {}", whole.rebuilds());
        for domains in numbers {
            let what = format!("{what}, {domains} domains");
            let mut decomposed = after(&world, domains, 500);
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            assert_eq!(loads(&whole), loads(&decomposed), "{what}");
            assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
            assert_eq!(whole.fluid_particles(), decomposed.fluid_particles(), "{what}");
            assert_eq!(whole.fluid_neighbors().unwrap(), decomposed.fluid_neighbors().unwrap(), "{what}");
            let shares = decomposed.decomposition().unwrap().fluid;
            assert!(
                shares.len() == domains && shares.iter().sum::<usize>() == whole.fluid_particles(),
                "{shares:?}"
            );
        }
    }
}

#[test]
fn a_lid_drives_a_box_of_two_domains() {
    for (what, shifts) in [("a lid", false), ("a lid over shifted particles", true)] {
        let mut world = cavity();
        world.fluids.as_mut().unwrap().particle_shifting = shifts;
        let [mut whole, mut decomposed] = [1, 2].map(|domains| after(&world, domains, 400));
        assert_same(&mut whole, &mut decomposed, what);
        assert_same_ledger(&whole, &decomposed, what);
        assert!(decomposed.ledger().wall_work > 0.0);
    }
}

#[test]
fn a_whirl_goes_round_through_all_domains_and_keeps_its_momentum() {
    let world = whirl();
    let mut whole = started(&world, 1);
    let before = whole.momentum_of_fluids();
    whole.advance(1500).unwrap();
    for domains in [2, 4, 8] {
        let mut decomposed = after(&world, domains, 1500);
        let found = decomposed.decomposition().unwrap();
        assert!(found.migrations > 200, "{found:?}");
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
        // Over a thousand kilograms at 3 m/s, rounded per particle and step.
        for (a, b) in before.iter().zip(decomposed.momentum_of_fluids()) {
            assert!((a - b).abs() < 1e-8, "{before:?} {:?}", decomposed.momentum_of_fluids());
        }
        assert_eq!(decomposed.fluid_particles(), 480);
    }
}

#[test]
fn what_it_takes_to_put_fluid_back_periodic_sides_do() {
    for world in [falling_whirl(), incompressible(falling_whirl())] {
        let steps = (0.2 / started(&world, 1).time_step().value) as u64;
        let whole = after(&world, 1, steps);
        assert_put_back(&whole, &world);
        for domains in [2, 4] {
            assert_same_ledger(&whole, &after(&world, domains, steps), &format!("{domains} domains"));
        }
    }
}

#[test]
fn incompressible_fluids_are_the_same_among_any_number_of_domains() {
    let column = tank(dry(Some(1)), [32, 1, 24], [16, 1, 20], 3, None);
    for (what, world) in [("a column", column), ("a paddle", paddled()), ("a whirl", whirl())] {
        let world = incompressible(world);
        let mut whole = after(&world, 1, 250);
        assert!(whole.rebuilds() > 2, "{what}: {}", whole.rebuilds());
        for domains in [2, 4] {
            let what = format!("{what}, {domains} domains");
            let mut decomposed = after(&world, domains, 250);
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            assert_eq!(loads(&whole), loads(&decomposed), "{what}");
            assert_eq!(whole.solves_of_fluids(), decomposed.solves_of_fluids(), "{what}");
        }
    }
}

#[test]
fn incompressible_fluids_leave_and_go_on_among_another_number() {
    let mut world = wet(block(dry(None), [20, 5, 5], 0.0), 9.81, None, Vec::new());
    world.domain = Some(Domain::open([-1.0, -1.0, -0.1], [9.0; 3], LeavingPolicy::Delete));
    let world = incompressible(world);
    let steps = (0.21 / started(&world, 1).time_step().value) as u64;
    let mut whole = after(&world, 1, 2 * (steps / 2));
    assert!((100..400).contains(&whole.fluid_particles()), "{}", whole.fluid_particles());
    let state = after(&world, 4, steps / 2).save().unwrap();
    let mut again = Simulation::restore(world, among(2), &state).unwrap();
    again.advance(steps / 2).unwrap();
    assert_same(&mut whole, &mut again, "from 4 to 2 domains");
    assert_same_ledger(&whole, &again, "from 4 to 2 domains");
}

#[test]
fn domains_follow_a_column_that_breaks_down() {
    let decomposed = after(&column(), 4, 800);
    let found = decomposed.decomposition().unwrap();
    // An excess load of 5 % is tolerated, planes follow from samples of the particles, and neighbor lists are rebuilt only from time to time.
    assert!(found.fluid.iter().all(|count| (110..210).contains(count)), "{found:?}");
    assert!(found.migrations > 0, "{found:?}");
}

#[test]
fn fluid_that_leaves_is_gone_everywhere() {
    let mut world = wet(block(dry(None), [20, 5, 5], 0.0), 9.81, None, Vec::new());
    world.domain = Some(Domain::open([-1.0, -1.0, -0.1], [9.0; 3], LeavingPolicy::Delete));
    // By then, fluid that started in the middle has reached the side where it leaves.
    let steps = (0.21 / started(&world, 1).time_step().value) as u64;
    let mut whole = after(&world, 1, steps);
    assert!((100..400).contains(&whole.fluid_particles()), "{}", whole.fluid_particles());
    for domains in [2, 4] {
        let mut decomposed = after(&world, domains, steps);
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
    }
}

#[test]
fn grains_and_fluids_that_never_meet_are_divided_together() {
    let world = beside_grains(2000);
    let [mut whole, mut decomposed] = [1, 3].map(|domains| after(&world, domains, 1200));
    assert!(whole.contacts() > 50 && whole.fluid_particles() == 720);
    assert_same(&mut whole, &mut decomposed, "grains and fluid");
    assert_same_ledger(&whole, &decomposed, "grains and fluid");
    let found = decomposed.decomposition().unwrap();
    assert!(
        found.grains.iter().sum::<usize>() == 2000 && found.fluid.iter().sum::<usize>() == 720,
        "{found:?}"
    );
}

#[test]
fn fluids_go_on_among_any_number_of_domains() {
    let world = paddled();
    let mut whole = after(&world, 1, 600);
    let mut saved = after(&world, 3, 300);
    let state = saved.save().unwrap();
    for domains in [1, 2, 4] {
        let mut again = Simulation::restore(world.clone(), among(domains), &state).unwrap();
        again.advance(300).unwrap();
        assert_same(&mut whole, &mut again, &format!("from 3 to {domains} domains"));
        assert_same_ledger(&whole, &again, &format!("from 3 to {domains} domains"));
    }
    // Neither observations nor single steps change anything.
    for step in 0..300 {
        saved.step().unwrap();
        if step % 50 == 0 {
            saved.observe().unwrap();
        }
    }
    saved.observe().unwrap();
    assert_same(&mut whole, &mut saved, "step by step");
}

#[test]
fn what_bounds_fluids_changes_while_they_are_divided() {
    let world = paddled();
    let change = |simulation: &mut Simulation| {
        let slow = WallMotion {
            velocity: [0.05, 0.0, 0.0],
            ..WallMotion::default()
        };
        let changes = [
            SurroundingsChange::Gravity([0.5, 0.0, -9.0]),
            SurroundingsChange::Motion {
                wall: 1,
                motion: Box::new(slow),
            },
            SurroundingsChange::Wall { wall: 1, is_there: false },
        ];
        for change in changes {
            simulation.advance(100).unwrap();
            simulation.change(&[change]).unwrap();
        }
        simulation.advance(150).unwrap();
        simulation.observe().unwrap();
    };
    let [mut whole, mut decomposed] = [1, 4].map(|domains| started(&world, domains));
    change(&mut whole);
    change(&mut decomposed);
    assert_same(&mut whole, &mut decomposed, "after changes");
    assert_same_ledger(&whole, &decomposed, "after changes");
}

#[test]
fn a_particle_that_goes_wrong_stops_all_domains_with_its_word() {
    let mut world = whirl();
    let particles = &mut world.fluids.as_mut().unwrap().particles;
    particles.velocity[300] = [0.0, 0.0, 3000.0];
    let [whole, decomposed] = [1, 4].map(|domains| started(&world, domains).advance(100).unwrap_err());
    assert!(matches!(whole.cause, StepErrorCause::FluidErrorCause(_)), "{whole}");
    assert_eq!(whole, decomposed);
}

#[test]
fn fluids_that_cannot_be_divided_are_refused_by_name() {
    let refusal = |world: World, domains: usize| Simulation::new(world, among(domains)).err().unwrap().to_string();
    let reported = refusal(whirl(), 40);
    assert!(reported.contains("use at most 36"), "{reported}");
    let mut fed = dry(None);
    fed.inlets.push(FluidInlet {
        name: "tap".to_owned(),
        kind: 0,
        sites: vec![[0.0; 3]],
        normal: [0.0, 0.0, -1.0],
        speed: 1.0,
        from: 0.0,
        to: f64::INFINITY,
        max_layers: u64::MAX,
        is_open: true,
    });
    let reported = refusal(wet(fed, 9.81, None, Vec::new()), 2);
    assert!(
        reported.contains("inlets or outlets of fluids") && reported.contains("--domains"),
        "{reported}"
    );
}
