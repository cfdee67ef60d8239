//! A world divided among domains: one answer, whatever their number.

mod beds;

use beds::{falling, noise};
use seixo_engine::state::State;
use seixo_engine::world::{Domain, Leaving, Load, Scheme, Settings, World};
use seixo_engine::{Cause, Refusal, Simulation};
use seixo_laws::contact::TangentialLaw;

/// On two threads, among so many domains; undivided with the sums that divisions ask for.
fn among(domains: usize) -> Settings {
    Settings {
        threads: 2,
        domains,
        divisible: true,
        ..Settings::default()
    }
}

fn started(world: &World, domains: usize) -> Simulation {
    Simulation::new(world.clone(), among(domains)).unwrap()
}

fn after(world: &World, domains: usize, steps: u64) -> Simulation {
    let mut simulation = started(world, domains);
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}

/// That all is the same to the bit, but for sums over all grains, which are so to rounding.
fn assert_same(whole: &mut Simulation, divided: &mut Simulation, what: &str) {
    let states: [State; 2] = [whole, divided].map(|simulation| simulation.save().unwrap());
    let [a, b] = states
        .each_ref()
        .map(|state| state.sections.iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(a, b);
    for ((name, left), (_, right)) in states[0].sections.iter().zip(&states[1].sections) {
        assert!(left == right || name.starts_with("ledger/"), "{what}: section {name} differs");
    }
}

fn assert_same_ledger(whole: &Simulation, divided: &Simulation, what: &str) {
    let (one, other) = (whole.ledger(), divided.ledger());
    let scale = one.initial.abs() + one.kinetic + one.normal_damping;
    for ((a, b), name) in one.values().iter().zip(other.values()).zip(seixo_engine::state::Ledger::NAMES) {
        assert!((a - b).abs() < 1e-12 * scale, "{what}: {name}: {a} {b}");
    }
}

/// A gas of spheres that rub in a box with periodic sides.
fn gas(count: usize) -> World {
    let mut world = falling(count, TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.walls.clear();
    for interaction in world.interactions.iter_mut().flatten() {
        (interaction.restitution, interaction.friction) = (1.0, 0.1);
    }
    let edge = (count as f64).cbrt().ceil() * 1.05e-3 + 1.1e-3;
    let mut domain = Domain::open([0.0; 3], [edge; 3], Leaving::Error);
    domain.periodic = [true; 3];
    world.domain = Some(domain);
    for (k, velocity) in world.grains.velocity.iter_mut().enumerate() {
        *velocity = [0, 1, 2].map(|axis| 2.0 * noise((77 * k + axis) as u64));
    }
    world
}

#[test]
fn two_four_and_eight_domains_equal_one() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = falling(6000, tangential);
        let mut whole = after(&world, 1, 1500);
        assert!(whole.rebuilds() > 3 && whole.contacts() > 1000);
        for domains in [2, 4, 8] {
            let what = format!("{tangential:?}, {domains} domains");
            let mut divided = after(&world, domains, 1500);
            assert_same(&mut whole, &mut divided, &what);
            assert_same_ledger(&whole, &divided, &what);
            assert_eq!(whole.snapshot(), divided.snapshot());
        }
    }
}

#[test]
fn grains_that_leave_and_walls_that_move_are_the_same_everywhere() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.domain = Some(Domain::open([-0.1, -0.1, -0.1], [0.1, 0.1, 0.0143], Leaving::Delete));
    let mut whole = after(&world, 1, 1500);
    assert!(whole.len() < 3000);
    for domains in [2, 3] {
        let mut divided = after(&world, domains, 1500);
        assert_same(&mut whole, &mut divided, &format!("{domains} domains"));
        assert_same_ledger(&whole, &divided, &format!("{domains} domains"));
        let forces = |simulation: &Simulation| simulation.walls().iter().map(|wall| wall.force).collect::<Vec<_>>();
        assert_eq!(forces(&whole), forces(&divided));
    }
}

#[test]
fn loads_and_local_damping_are_booked_once() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    world.local_damping = 0.1;
    world.loads.push(Load {
        group: 0,
        force: [2e-6, 0.0, 1e-6],
        torque: [0.0, 1e-10, 0.0],
    });
    let mut whole = after(&world, 1, 800);
    let mut divided = after(&world, 4, 800);
    assert_same(&mut whole, &mut divided, "loads");
    assert_same_ledger(&whole, &divided, "loads");
    assert!(divided.ledger().wall_work.abs() > 0.0 && divided.ledger().local_damping > 0.0);
}

#[test]
fn domains_follow_the_grains() {
    let mut world = falling(3000, TangentialLaw::Mindlin);
    // They all fall to one side, along the axis across which the box is cut.
    world.gravity = [-400.0, 0.0, -20.0];
    let [mut whole, mut divided] = [1, 3].map(|domains| after(&world, domains, 2000));
    let grains = divided.divided().unwrap().grains;
    assert!(grains.iter().all(|grains| (900..1100).contains(grains)), "{grains:?}");
    assert_same(&mut whole, &mut divided, "a fall to one side");
}

#[test]
fn a_gas_goes_round_through_all_domains() {
    let world = gas(1000);
    let mut whole = started(&world, 1);
    let mut divided: Vec<Simulation> = [2, 4, 8].into_iter().map(|domains| started(&world, domains)).collect();
    let before = whole.momentum();
    let edge = world.domain.unwrap().max[0];
    let mut at = whole.snapshot().position;
    let mut moves = 0;
    for _ in 0..40 {
        whole.advance(200).unwrap();
        let now = whole.snapshot().position;
        // Planes lie nearly at quarters.
        let quarter = |x: f64| (4.0 * x / edge) as u32;
        moves += at.iter().zip(&now).filter(|(a, b)| quarter(a[0]) != quarter(b[0])).count();
        at = now;
    }
    assert!(moves > 1000, "grains changed domains {moves} times only");
    for simulation in &mut divided {
        simulation.advance(8000).unwrap();
        simulation.observe().unwrap();
        assert_eq!(simulation.len(), 1000);
        let divided = simulation.divided().unwrap();
        assert_eq!(divided.grains.iter().sum::<usize>(), 1000);
        assert!(divided.changed_hands > 500, "{divided:?}");
        assert_same(&mut whole, simulation, "a gas");
        let now = simulation.momentum();
        let scale: f64 = 1000.0 * 2.0 * 1.3e-6;
        for (a, b) in before.linear.iter().zip(now.linear) {
            assert!((a - b).abs() < 1e-12 * scale, "{a} {b}");
        }
    }
}

#[test]
fn a_run_goes_on_among_any_number_of_domains() {
    let world = gas(1000);
    let mut whole = after(&world, 1, 1400);
    let mut saved = after(&world, 4, 700);
    let state = saved.save().unwrap();
    for domains in [1, 2, 4, 8] {
        let mut again = Simulation::restore(world.clone(), among(domains), &state).unwrap();
        again.advance(700).unwrap();
        assert_same(&mut whole, &mut again, &format!("from 4 to {domains} domains"));
    }
    // Nor does looking change anything, nor taking one step at a time.
    for _ in 0..700 {
        saved.step().unwrap();
    }
    saved.observe().unwrap();
    assert_same(&mut whole, &mut saved, "step by step");
}

#[test]
fn grains_come_and_go_while_the_world_is_divided() {
    let world = falling(3000, TangentialLaw::Mindlin);
    let change = |simulation: &mut Simulation| {
        simulation.advance(400).unwrap();
        simulation.remove(&(0..3000).step_by(5).collect::<Vec<u32>>()).unwrap();
        simulation.advance(400).unwrap();
        simulation.set_velocity(0, [0.1, 0.0, 0.2]).unwrap();
        simulation.advance(400).unwrap();
        simulation.observe().unwrap();
    };
    let [mut whole, mut divided] = [1, 4].map(|domains| started(&world, domains));
    change(&mut whole);
    change(&mut divided);
    assert_eq!(divided.len(), 2400);
    assert_same(&mut whole, &mut divided, "after changes");
    assert_same_ledger(&whole, &divided, "after changes");
}

#[test]
fn what_fails_in_one_domain_stops_all_with_its_word() {
    let mut world = gas(1000);
    // Two grains meet so fast that they are deep in each other after one step.
    world.grains.velocity[500] = [3000.0, 0.0, 0.0];
    let mut divided = started(&world, 4);
    let stop = divided.advance(2000).unwrap_err();
    let mut whole = started(&world, 1);
    let alone = whole.advance(2000).unwrap_err();
    assert_eq!((stop.grain, stop.step, &stop.cause), (alone.grain, alone.step, &alone.cause));
    assert!(!matches!(stop.cause, Cause::Device { .. }));
}

#[test]
fn what_cannot_be_divided_is_refused_by_name() {
    let world = gas(1000);
    let refusal = Simulation::new(world.clone(), among(40)).err().unwrap();
    assert!(
        matches!(&refusal, Refusal::Division(what) if what.contains("use at most")),
        "{refusal}"
    );
    let mut heavy = world;
    heavy.local_damping = 0.2;
    assert!(Simulation::new(heavy.clone(), among(2)).is_ok());
    heavy.domain = None;
    heavy.grains.bodies.clear();
    let geared = Settings {
        scheme: Scheme::Gear,
        ..among(2)
    };
    let refusal = Simulation::new(heavy, geared).err().unwrap().to_string();
    assert!(refusal.contains("Gear's method") && refusal.contains("--domains"), "{refusal}");
}
