//! Grains whose mass is given: they accelerate by F/m and T/(2/5 m R²), collide with the momentum balance of their masses, and keep their mass when they
//! are held, disabled, saved, and when they migrate. The time step follows the mass.

use crate::alike;
use crate::beds;
use crate::clumps::{heap, world};
use crate::devices::{on_gpu, on_threads};
use crate::domains::started;
use crate::resumed::assert_same_when_resumed;
use seixo_engine::world::{ExpectedGrains, Grains, Load, Precision, Scheme, World};
use seixo_engine::{Simulation, SurroundingsChange, WorldError, plan_time_step};
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::PI;

const RADIUS: f64 = 1e-3;
/// Mass by the density of the material \[kg\].
const BY_DENSITY: f64 = 4.0 / 3.0 * PI * RADIUS * RADIUS * RADIUS * 2500.0;

/// Two grains on the x axis, the second with this mass.
fn two(apart: f64, mass: f64, velocity: [f64; 3]) -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.grains.push(0, [0.0; 3], velocity, [0.0; 3], RADIUS, 0, 0);
    world.groups.push("given".into());
    world.grains.push(1, [apart, 0.0, 0.0], [0.0; 3], [0.0; 3], RADIUS, 0, 1);
    world.grains.masses.insert(1, mass);
    world
}

#[test]
fn a_grain_of_given_mass_accelerates_by_force_over_mass() {
    let (mass, force, torque) = (3.7e-4, 2e-3, 5e-9);
    let mut world = two(0.1, mass, [0.0; 3]);
    world.loads.push(Load::constant(1, [force, 0.0, 0.0], [0.0, torque, 0.0]));
    for settings in [on_threads(1), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        assert_eq!((simulation.given_mass(0), simulation.given_mass(1)), (None, Some(mass)));
        simulation.advance(500).unwrap();
        simulation.observe().unwrap();
        let (seen, time) = (simulation.snapshot(), simulation.time());
        assert_eq!(seen.mass[1], mass);
        assert!((seen.mass[0] / BY_DENSITY - 1.0).abs() < 1e-12);
        // The scheme is exact for constant forces.
        let speed = force / mass * time;
        assert!((seen.velocity[1][0] / speed - 1.0).abs() < 1e-9, "{:?} {speed}", seen.velocity);
        let rate = torque / (0.4 * mass * RADIUS * RADIUS) * time;
        assert!(
            (seen.angular_velocity[1][1] / rate - 1.0).abs() < 1e-9,
            "{:?} {rate}",
            seen.angular_velocity
        );
        let ledger = simulation.ledger();
        let kinetic = 0.5 * mass * speed * speed;
        assert!((ledger.kinetic / kinetic - 1.0).abs() < 1e-9, "{ledger:?}");
        assert!(ledger.residual.abs() < 1e-9 * kinetic, "{ledger:?}");
    }
}

#[test]
fn a_collision_balances_the_momenta_of_the_masses() {
    let (ratio, speed) = (5.0, 0.2);
    let mut world = two(2.1 * RADIUS, ratio * BY_DENSITY, [speed, 0.0, 0.0]);
    world.interactions[0].as_mut().unwrap().restitution = 1.0;
    for settings in [on_threads(1), on_gpu(Precision::F64)] {
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        let steps = (4.0 * RADIUS / speed / simulation.time_step().value).ceil() as u64;
        simulation.advance(steps).unwrap();
        simulation.observe().unwrap();
        let seen = simulation.snapshot();
        // An elastic collision: v (m_a - m_b)/(m_a + m_b) and v 2 m_a/(m_a + m_b), to the energy error of a scheme of second order in some forty
        // steps of contact.
        let expected = [speed * (1.0 - ratio) / (1.0 + ratio), speed * 2.0 / (1.0 + ratio)];
        for (velocity, expected) in seen.velocity.iter().zip(expected) {
            assert!((velocity[0] / expected - 1.0).abs() < 5e-3, "{:?} {expected}", seen.velocity);
        }
        let momentum = BY_DENSITY * (seen.velocity[0][0] + ratio * seen.velocity[1][0]);
        assert!((momentum / (BY_DENSITY * speed) - 1.0).abs() < 1e-12, "{momentum:e}");
    }
}

/// The limit of two grains of these masses over that of grains of the density of the material.
#[test]
fn the_time_step_follows_the_lightest_mass() {
    let planned = |masses: [f64; 2]| {
        let mut world = two(0.1, masses[1], [0.0; 3]);
        world.grains.masses.insert(0, masses[0]);
        plan_time_step(&world, Scheme::default()).unwrap().limit
    };
    let mut natural = two(0.1, 1.0, [0.0; 3]);
    natural.grains.masses.clear();
    let natural = plan_time_step(&natural, Scheme::default()).unwrap().limit;
    // The Rayleigh time grows with the root of the density.
    for (masses, share) in [([1.0, 0.25], 0.5), ([9.0, 4.0], 2.0), ([1.0, 1.0], 1.0)] {
        let found = planned(masses.map(|ratio| ratio * BY_DENSITY)) / natural;
        assert!((found / share - 1.0).abs() < 1e-9, "{masses:?}: {found}");
    }
    // Heavy grains do not lengthen the step of others.
    let mixed = plan_time_step(&two(0.1, 100.0 * BY_DENSITY, [0.0; 3]), Scheme::default()).unwrap();
    assert!((mixed.limit / natural - 1.0).abs() < 1e-9, "{mixed:?}");
}

#[test]
fn grains_that_were_held_or_disabled_keep_their_mass() {
    let mass = 0.3 * BY_DENSITY;
    let mut world = two(0.1, mass, [0.0; 3]);
    world.later.constrained_groups = vec![1];
    let mut simulation = Simulation::new(world.clone(), on_threads(1)).unwrap();
    let hold = SurroundingsChange::Hold {
        group: 1,
        motion: Box::default(),
    };
    simulation.change(std::slice::from_ref(&hold)).unwrap();
    simulation.advance(10).unwrap();
    simulation.disable(1).unwrap();
    simulation.advance(10).unwrap();
    let past = [(0, vec![hold.clone()])];
    let state = simulation.save().unwrap();
    let mut simulation = Simulation::restore_changed(world, on_threads(1), &state, &past).unwrap();
    simulation.enable(1).unwrap();
    assert_eq!(simulation.snapshot().mass[1], mass);
    simulation.change(&[hold]).unwrap();
    simulation.advance(10).unwrap();
    let load = Load::constant(1, [0.0, 1e-4, 0.0], [0.0; 3]);
    simulation
        .change(&[SurroundingsChange::Free { group: 1 }, SurroundingsChange::Load(load)])
        .unwrap();
    let began = simulation.time();
    simulation.advance(200).unwrap();
    let (seen, speed) = (simulation.snapshot(), 1e-4 / mass * (simulation.time() - began));
    assert!((seen.velocity[1][1] / speed - 1.0).abs() < 1e-9, "{:?} {speed}", seen.velocity);
}

#[test]
fn grains_that_come_bring_their_mass_if_it_was_announced() {
    let coming = |mass: Option<f64>| {
        let mut grains = Grains::default();
        grains.push(7, [0.0, 0.05, 0.0], [0.0; 3], [0.0; 3], RADIUS, 0, 1);
        grains.masses.extend(mass.map(|mass| (7, mass)));
        grains
    };
    let mut world = two(0.1, BY_DENSITY, [0.0; 3]);
    world.grains.masses.clear();
    world.later.grains.push(ExpectedGrains {
        material: 0,
        radius: [RADIUS; 2],
        mass_per_radius: Some(0.5 * BY_DENSITY / RADIUS),
        shape: None,
        speed: 0.0,
        reach: 0.1,
        highest_id: None,
    });
    let mut simulation = Simulation::new(world.clone(), on_threads(1)).unwrap();
    let refused = simulation.insert(&coming(Some(0.4 * BY_DENSITY))).unwrap_err();
    assert!(matches!(refused, WorldError::Unexpected { id: 7, .. }), "{refused}");
    simulation.insert(&coming(Some(0.5 * BY_DENSITY))).unwrap();
    simulation.advance(10).unwrap();
    let mut again = Simulation::restore(world, on_threads(1), &simulation.save().unwrap()).unwrap();
    assert_eq!(again.given_mass(7), Some(0.5 * BY_DENSITY));
    again.remove(&[7]).unwrap();
    again.insert(&coming(None)).unwrap();
    assert_eq!(again.given_mass(7), None);
    let seen = again.snapshot();
    assert!((seen.mass[2] / BY_DENSITY - 1.0).abs() < 1e-12, "{:?}", seen.mass);
}

#[test]
fn masses_that_no_grain_can_have_are_refused() {
    let refused = |world: World| Simulation::new(world, on_threads(1)).err().unwrap().to_string();
    for mass in [0.0, -1e-6, f64::NAN, 1e40] {
        let message = refused(two(0.1, mass, [0.0; 3]));
        assert!(
            message.contains("grain 1: mass is") && message.contains("from 1e-36 to 1e36 kg"),
            "{message}"
        );
    }
    let mut clump = heap(1, None);
    let id = clump.grains.id[0];
    clump.grains.masses.insert(id, 1e-3);
    assert!(refused(clump).contains("that of the rigid body that carries it"));
}

/// A bed in which every third grain is twice as heavy as its density says, and every fifth has half of that mass.
fn bed() -> World {
    let mut world = beds::falling(800, TangentialLaw::Mindlin);
    for k in 0..world.grains.len() {
        let by_density = 4.0 / 3.0 * PI * world.grains.radius[k].powi(3) * 2500.0;
        if k % 3 == 0 {
            world.grains.masses.insert(world.grains.id[k], 2.0 * by_density);
        } else if k % 5 == 0 {
            world.grains.masses.insert(world.grains.id[k], 0.5 * by_density);
        }
    }
    world
}

#[test]
fn a_bed_of_given_masses_is_the_same_when_it_is_taken_up_and_among_domains() {
    let world = bed();
    assert_same_when_resumed(&world, &on_threads(1), [300, 300]);
    let mut whole = started(&world, 1);
    whole.advance(600).unwrap();
    for domains in [2, 3] {
        let mut decomposed = started(&world, domains);
        decomposed.advance(600).unwrap();
        alike::assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
}
