//! Fluids decomposed into subdomains on a GPU: the result is the same for any number (software Vulkan suffices; without any adapter these tests
//! fail).

use crate::couette::{cavity, couette};
use crate::domains_on_a_gpu::{after, started};
use crate::driven::{drum, paddled, pressed, round_and_round, served};
use crate::drops::{SPACING, droplet};
use crate::floods::{assert_put_back, beside_grains, block, column, dry, falling_whirl, whirl};
use crate::floors::floor;
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::pools::{domain, drop_in, sites, tank, wet};
use crate::solvers::incompressible;
use seixo_engine::world::{Domain, LeavingPolicy, Precision, Settings, World};
use seixo_engine::{Simulation, StepErrorCause};

/// Water that flows between two walls in a plane, through periodic sides.
fn stream() -> World {
    let mut fluids = dry(Some(1));
    fluids.kinds[0].background_pressure = 5e3;
    let spacing = fluids.spacing;
    for x in sites([0; 3], [40, 1, 8], spacing, true) {
        drop_in(&mut fluids, x, [2.0, 0.0, 0.0], 5e3);
    }
    for (low, high) in [(-3, 0), (8, 11)] {
        let layers = sites([0, 0, low], [40, 1, high], spacing, true);
        fluids.boundary.wall.resize(fluids.boundary.wall.len() + layers.len(), 0);
        fluids.boundary.position.extend(layers);
    }
    fluids.slips = vec![false];
    let length = 40.0 * spacing;
    let channel = domain([0.0, -1.0, -1.0], [length, 1.0, 2.0], [true, false, false]);
    wet(fluids, 0.0, Some(channel), vec![floor()])
}

/// Asserts that fluids are bitwise identical, with as many rebuilds, and that sums over them agree up to rounding.
#[track_caller]
fn assert_same(whole: &Simulation, decomposed: &Simulation, what: &str) {
    let fluid = whole.fluid().unwrap();
    assert!(!fluid.id.is_empty());
    assert_eq!(fluid, decomposed.fluid().unwrap(), "{what}");
    assert_eq!(whole.rebuilds(), decomposed.rebuilds(), "{what}");
    assert_eq!(whole.fluid_particles(), decomposed.fluid_particles(), "{what}");
    assert_same_ledger(whole, decomposed, what);
    let [one, other] = [whole, decomposed].map(|simulation| simulation.walls().iter().map(|wall| wall.force).collect::<Vec<_>>());
    let largest = one.iter().flatten().fold(0.0, |most: f64, force| most.max(force.abs()));
    for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
        assert!((a - b).abs() <= 1e-9 * largest, "{what}: {one:?} {other:?}");
    }
    let shares = decomposed.decomposition().unwrap().fluid;
    assert_eq!(shares.iter().sum::<usize>(), whole.fluid_particles(), "{what}: {shares:?}");
}

#[test]
fn fluids_among_walls_are_the_same_among_any_number_of_domains() {
    let worlds: [(&str, World, Precision, &[usize]); 6] = [
        ("a column that breaks down", column(), Precision::Mixed, &[2]),
        ("a paddle", paddled(), Precision::Mixed, &[3]),
        ("a drum", drum(), Precision::F64, &[2]),
        ("a piston", pressed(0.1, 0.1), Precision::Mixed, &[3]),
        ("a flow between plates", couette(), Precision::F32, &[2]),
        ("a plate that goes round and round", round_and_round(), Precision::Mixed, &[2]),
    ];
    for (what, world, precision, numbers) in worlds {
        let whole = after(&world, 1, precision, 200);
        assert!(whole.rebuilds() > 1, "{what}: {}", whole.rebuilds());
        for &domains in numbers {
            let decomposed = after(&world, domains, precision, 200);
            assert_same(&whole, &decomposed, &format!("{what}, {precision:?}, {domains} domains"));
        }
    }
}

#[test]
fn fluids_go_round_through_all_domains() {
    for (what, world, precision, domains) in [("a whirl", whirl(), Precision::Mixed, 2), ("a stream", stream(), Precision::F32, 3)] {
        let whole = after(&world, 1, precision, 300);
        let what = format!("{what}, {precision:?}, {domains} domains");
        let decomposed = after(&world, domains, precision, 300);
        let found = decomposed.decomposition().unwrap();
        assert!(found.migrations > 20, "{what}: {found:?}");
        assert_same(&whole, &decomposed, &what);
    }
}

#[test]
fn what_it_takes_to_put_fluid_back_periodic_sides_do_on_a_gpu() {
    for world in [falling_whirl(), incompressible(falling_whirl())] {
        let settings = Settings {
            decomposition_invariant: false,
            ..among(1, Precision::Mixed)
        };
        let mut whole = Simulation::new(world.clone(), settings).unwrap();
        whole.advance((0.2 / whole.time_step().value) as u64).unwrap();
        whole.observe().unwrap();
        assert_put_back(&whole, &world);
    }
    let world = falling_whirl();
    let steps = (0.2 / started(&world, 1, Precision::Mixed).time_step().value) as u64;
    let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, steps));
    assert_put_back(&whole, &world);
    assert_same_ledger(&whole, &decomposed, "2 domains");
}

#[test]
fn domains_follow_a_column_that_breaks_down() {
    let world = tank(dry(Some(1)), [40, 1, 24], [24, 1, 20], 3, None);
    let [whole, decomposed] = [1, 3].map(|domains| after(&world, domains, Precision::F32, 800));
    let found = decomposed.decomposition().unwrap();
    // An excess load of 5 % is tolerated, and neighbor lists are rebuilt only from time to time.
    assert!(found.fluid.iter().all(|count| (110..210).contains(count)), "{found:?}");
    assert!(found.migrations > 0, "{found:?}");
    assert_same(&whole, &decomposed, "a column that breaks down");
}

#[test]
fn drops_hold_together_across_domains() {
    for (what, world) in [("in the air", droplet(12, None)), ("on a floor", droplet(12, Some(1.0)))] {
        let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, 150));
        assert_same(&whole, &decomposed, what);
    }
}

#[test]
fn a_drop_that_leaves_takes_the_energy_of_its_surface_along() {
    let mut world = droplet(12, None);
    let fluids = world.fluids.as_mut().unwrap();
    fluids.particles.velocity.fill([0.5, 0.0, 0.0]);
    // Half of the drop is beyond the side within a hundredth of a second.
    world.domain = Some(Domain::open([-1.0; 3], [13.0 * SPACING, 1.0, 1.0], LeavingPolicy::Delete));
    let steps = (0.013 / started(&world, 1, Precision::Mixed).time_step().value) as u64;
    let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, steps));
    let left = whole.fluid_particles() as f64 / world.fluids.as_ref().unwrap().particles.id.len() as f64;
    assert!((0.1..0.9).contains(&left), "{left}");
    assert_same(&whole, &decomposed, "a drop that leaves");
}

#[test]
fn servos_move_the_wall_particles_of_all_domains() {
    for (what, world) in [("weakly compressible", served()), ("incompressible", incompressible(served()))] {
        let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, 300));
        assert_same(&whole, &decomposed, what);
        let place = |simulation: &Simulation| simulation.walls().last().unwrap().position;
        assert_eq!(place(&whole), place(&decomposed), "{what}");
    }
}

#[test]
fn fluid_that_leaves_is_gone_everywhere() {
    let mut world = wet(block(dry(None), [20, 5, 5], 0.0), 9.81, None, Vec::new());
    world.domain = Some(Domain::open([-1.0, -1.0, -0.1], [9.0; 3], LeavingPolicy::Delete));
    // By then, fluid that started in the middle has reached the side where it leaves.
    let steps = (0.21 / started(&world, 1, Precision::Mixed).time_step().value) as u64;
    let whole = after(&world, 1, Precision::Mixed, steps);
    assert!((100..400).contains(&whole.fluid_particles()), "{}", whole.fluid_particles());
    let domains = 3;
    let decomposed = after(&world, domains, Precision::Mixed, steps);
    assert_same(&whole, &decomposed, &format!("{domains} domains"));
}

#[test]
fn grains_and_fluids_that_never_meet_are_divided_together() {
    let world = beside_grains(1000);
    let [whole, decomposed] = [1, 3].map(|domains| after(&world, domains, Precision::Mixed, 900));
    assert!(whole.contacts() > 20 && whole.fluid_particles() == 720);
    assert_same(&whole, &decomposed, "grains and fluid");
    assert_eq!(whole.snapshot(), decomposed.snapshot());
    assert_eq!(decomposed.decomposition().unwrap().grains.iter().sum::<usize>(), 1000);
}

#[test]
fn fluids_go_on_among_any_number_of_domains() {
    let world = paddled();
    let whole = after(&world, 1, Precision::Mixed, 400);
    let mut saved = after(&world, 3, Precision::Mixed, 200);
    let state = saved.save().unwrap();
    for domains in [1, 2] {
        let mut again = Simulation::restore(world.clone(), among(domains, Precision::Mixed), &state).unwrap();
        again.advance(200).unwrap();
        again.observe().unwrap();
        assert_eq!(whole.fluid(), again.fluid(), "from 3 to {domains} domains");
        assert_same_ledger(&whole, &again, &format!("from 3 to {domains} domains"));
    }
    // Neither observations nor single steps change anything.
    for step in 0..200 {
        saved.step().unwrap();
        if step % 50 == 0 {
            saved.observe().unwrap();
        }
    }
    saved.observe().unwrap();
    assert_same(&whole, &saved, "step by step");
}

#[test]
fn a_particle_that_goes_wrong_stops_all_domains_with_its_word() {
    let mut world = whirl();
    world.fluids.as_mut().unwrap().particles.velocity[300] = [0.0, 0.0, 3000.0];
    let [whole, decomposed] = [1, 3].map(|domains| started(&world, domains, Precision::Mixed).advance(100).unwrap_err());
    assert!(matches!(whole.cause, StepErrorCause::FluidErrorCause(_)), "{whole}");
    assert_eq!(whole, decomposed);
}

#[test]
fn incompressible_fluids_are_the_same_among_any_number_of_domains() {
    let column = tank(dry(Some(1)), [32, 1, 24], [16, 1, 20], 3, None);
    for (what, world, precision) in [
        ("a column", column, Precision::Mixed),
        ("a paddle", paddled(), Precision::F64),
        ("a whirl", whirl(), Precision::Mixed),
        ("a flow between plates", couette(), Precision::F32),
    ] {
        let world = incompressible(world);
        let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, precision, 120));
        assert!(whole.rebuilds() > 0, "{what}: {}", whole.rebuilds());
        assert_same(&whole, &decomposed, what);
        assert_eq!(whole.solves_of_fluids(), decomposed.solves_of_fluids(), "{what}");
    }
}

#[test]
fn incompressible_fluids_leave_and_go_on_among_another_number() {
    let mut world = wet(block(dry(None), [20, 5, 5], 0.0), 9.81, None, Vec::new());
    world.domain = Some(Domain::open([-1.0, -1.0, -0.1], [9.0; 3], LeavingPolicy::Delete));
    let world = incompressible(world);
    let steps = (0.21 / started(&world, 1, Precision::Mixed).time_step().value) as u64;
    let whole = after(&world, 1, Precision::Mixed, 2 * (steps / 2));
    assert!((100..400).contains(&whole.fluid_particles()), "{}", whole.fluid_particles());
    let state = after(&world, 3, Precision::Mixed, steps / 2).save().unwrap();
    let mut again = Simulation::restore(world.clone(), among(2, Precision::Mixed), &state).unwrap();
    again.advance(steps / 2).unwrap();
    again.observe().unwrap();
    assert_eq!(whole.fluid(), again.fluid());
    assert_same_ledger(&whole, &again, "from 3 to 2 domains");
}

#[test]
fn shifted_particles_are_the_same_among_any_number_of_domains() {
    for (what, mut world, precision) in [
        ("a whirl", whirl(), Precision::Mixed),
        ("a flow between plates", couette(), Precision::F64),
    ] {
        world.fluids.as_mut().unwrap().particle_shifting = true;
        let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, precision, 200));
        assert_same(&whole, &decomposed, what);
        // A shift moves particles elsewhere than the flow does.
        world.fluids.as_mut().unwrap().particle_shifting = false;
        assert_ne!(whole.fluid(), after(&world, 2, precision, 200).fluid(), "{what}");
    }
}

#[test]
fn particles_with_xsph_are_the_same_among_any_number_of_domains() {
    for (what, mut world, precision) in [
        ("a whirl", whirl(), Precision::Mixed),
        ("a flow between plates", couette(), Precision::F64),
    ] {
        world.fluids.as_mut().unwrap().kinds[0].xsph = 0.5;
        let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, precision, 200));
        assert_same(&whole, &decomposed, what);
        world.fluids.as_mut().unwrap().kinds[0].xsph = 0.0;
        assert_ne!(whole.fluid(), after(&world, 2, precision, 200).fluid(), "{what}");
    }
}

#[test]
fn fluids_that_gpus_cannot_divide_are_refused_by_name() {
    let refusal = |world: World| Simulation::new(world, among(2, Precision::Mixed)).err().unwrap().to_string();
    // The halo of wall particles is as wide as the support, so subdomains are twice as wide as on the CPU.
    let reported = refusal(cavity());
    assert!(reported.contains("use at most 1"), "{reported}");
}
