//! Worlds that start with the grains that another simulation saved.

use crate::beds;
use crate::cemented::{cemented, pressed};
use crate::clumps;
use crate::vectors::{distance, length};
use seixo_engine::world::{Bonded, Interaction, Material, SavedGrains, Scheme, Settings, Vec3, WallShape, World};
use seixo_engine::{ContactRecord, Partner, Simulation, plan_time_step};
use seixo_laws::contact::TangentialLaw;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A box in which 150 grains come to rest on each other, with friction.
fn settling() -> World {
    let mut world = beds::falling(150, TangentialLaw::Mindlin);
    world.walls[0].motion = Default::default();
    world.local_damping = 0.3;
    world
}

/// A time step for both runs; what it would be by itself depends on how fast the grains are at the start.
fn paced() -> Settings {
    Settings {
        time_step: Some(1.5e-6),
        ..Settings::default()
    }
}

/// Settings whose results do not depend on when neighbor lists are rebuilt.
fn invariant() -> Settings {
    Settings {
        decomposition_invariant: true,
        ..paced()
    }
}

fn saved_by(simulation: &mut Simulation) -> SavedGrains {
    SavedGrains::of(&simulation.save().unwrap()).unwrap()
}

/// The world with these grains in place of its own.
pub fn with(world: &World, saved: SavedGrains) -> World {
    World {
        grains: saved.grains.clone(),
        saved: Some(Arc::new(saved)),
        ..world.clone()
    }
}

fn begun(world: World, settings: &Settings) -> Simulation {
    Simulation::new(world, settings.clone()).unwrap()
}

/// Largest kinetic energy in the next steps \[J\].
fn largest_kinetic(simulation: &mut Simulation) -> f64 {
    let mut largest = 0.0f64;
    for _ in 0..40 {
        simulation.advance(5).unwrap();
        largest = largest.max(simulation.ledger().kinetic);
    }
    largest
}

/// Tangential forces by the ids of both grains, or of the grain and the wall.
fn tangential_forces(simulation: &mut Simulation) -> BTreeMap<(u32, Partner), Vec3> {
    let of = |contact: &ContactRecord| ((contact.a, contact.b), contact.tangential_force);
    simulation.contacts_now().unwrap().iter().map(of).collect()
}

/// A run that goes on in an unchanged world is the run that was never interrupted, in one domain and in two, bit by bit.
#[test]
fn an_unchanged_world_goes_on_with_the_same_bits() {
    let (world, settings) = (settling(), invariant());
    let mut whole = begun(world.clone(), &settings);
    whole.advance(700).unwrap();
    let saved = saved_by(&mut whole);
    assert!(whole.ledger().elastic_tangential > 0.0, "no friction to remember");
    whole.advance(500).unwrap();
    whole.observe().unwrap();
    let expected = whole.snapshot();
    for domains in [1, 2] {
        let settings = Settings {
            domains,
            ..settings.clone()
        };
        let mut second = begun(with(&world, saved.clone()), &settings);
        assert_eq!(second.steps(), 0);
        second.advance(500).unwrap();
        second.observe().unwrap();
        let found = second.snapshot();
        assert!(found.position == expected.position, "positions in {domains} domains");
        assert!(found.velocity == expected.velocity, "velocities in {domains} domains");
        assert!(
            found.angular_velocity == expected.angular_velocity,
            "angular velocities in {domains} domains"
        );
    }
}

/// Grains that rest on each other by friction go on resting. Without contact histories they slip: so this is no trivial bed.
#[test]
fn a_bed_at_rest_stays_at_rest() {
    let (world, settings) = (settling(), paced());
    let mut first = begun(world.clone(), &settings);
    first.advance(40_000).unwrap();
    let saved = saved_by(&mut first);
    let before = first.ledger();
    let undisturbed = largest_kinetic(&mut first);
    let at_rest = largest_kinetic(&mut begun(with(&world, saved.clone()), &settings));
    let forgetful = World {
        saved: None,
        ..with(&world, saved.clone())
    };
    let slipping = largest_kinetic(&mut begun(forgetful, &settings));
    let second = begun(with(&world, saved), &settings);
    let now = second.ledger();
    for (what, before, now) in [
        ("kinetic", before.kinetic, now.kinetic),
        ("rotational", before.rotational, now.rotational),
        ("elastic_normal", before.elastic_normal, now.elastic_normal),
        ("elastic_tangential", before.elastic_tangential, now.elastic_tangential),
    ] {
        assert!((now - before).abs() <= 1e-9 * before, "{what}: {before:e} J, now {now:e} J");
    }
    assert!(before.elastic_tangential > 0.0);
    assert_eq!((now.residual, now.friction), (0.0, 0.0), "the ledger begins");
    // Other lists round otherwise, and that is all.
    assert!(
        at_rest <= 1.01 * undisturbed,
        "{at_rest:e} J, {undisturbed:e} J without interruption"
    );
    assert!(
        slipping > 10.0 * at_rest,
        "{slipping:e} J without histories, {at_rest:e} J with them"
    );
}

/// Removing grains leaves the friction of all other contacts as it was.
#[test]
fn a_cut_keeps_the_histories_of_the_rest() {
    let (world, settings) = (settling(), paced());
    let mut first = begun(world.clone(), &settings);
    first.advance(3000).unwrap();
    let before = tangential_forces(&mut first);
    let mut saved = saved_by(&mut first);
    saved.retain(|id| !id.is_multiple_of(3));
    assert_eq!(saved.grains.len(), 100);
    let mut second = begun(with(&world, saved), &settings);
    let now = tangential_forces(&mut second);
    let stays = |a: u32, b: Partner| !a.is_multiple_of(3) && !matches!(b, Partner::Grain(id) if id.is_multiple_of(3));
    let staying: Vec<_> = before.iter().filter(|&(&(a, b), _)| stays(a, b)).collect();
    assert!(
        staying.len() > 50 && now.len() < before.len(),
        "{} of {}",
        staying.len(),
        before.len()
    );
    let largest = before.values().map(|force| length(*force)).fold(0.0, f64::max);
    for (ends, force) in staying {
        let found = now[ends];
        assert!(distance(found, *force) <= 1e-9 * largest, "{ends:?}: {force:?} N, now {found:?} N");
    }
}

/// A quarter turn about y, which maps z to x and x to −z.
fn turned([x, y, z]: Vec3) -> Vec3 {
    [z, y, -x]
}

/// A bed that is rotated together with its walls and gravity behaves as the bed itself.
#[test]
fn a_rotated_bed_under_rotated_gravity_behaves_the_same() {
    let (world, settings) = (settling(), paced());
    let mut first = begun(world.clone(), &settings);
    first.advance(3000).unwrap();
    let mut saved = saved_by(&mut first);
    let half = 0.5f64.sqrt();
    saved.place([half, 0.0, half, 0.0], [0.02, 0.0, 0.0]);
    let put = |point: Vec3| {
        let [x, y, z] = turned(point);
        [x + 0.02, y, z]
    };
    let mut other = world.clone();
    other.gravity = turned(world.gravity);
    for wall in &mut other.walls {
        wall.shape = match &wall.shape {
            WallShape::Plane { point, normal } => WallShape::Plane {
                point: put(*point),
                normal: turned(*normal),
            },
            WallShape::Mesh(triangles) => WallShape::Mesh(triangles.iter().map(|triangle| triangle.map(put)).collect()),
            other => other.clone(),
        };
    }
    let mut second = begun(with(&other, saved), &settings);
    let (before, now) = (first.ledger().elastic_tangential, second.ledger().elastic_tangential);
    assert!((now / before - 1.0).abs() < 1e-6, "{now:e} J in springs, {before:e} J before");
    for simulation in [&mut first, &mut second] {
        simulation.advance(400).unwrap();
        simulation.observe().unwrap();
    }
    let (first, second) = (first.snapshot(), second.snapshot());
    for (k, (before, now)) in first.position.iter().zip(&second.position).enumerate() {
        // A millionth of a radius: rounding grows with each collision.
        assert!(
            distance(put(*before), *now) < 1e-6 * first.radius[k],
            "grain {k}: {before:?}, {now:?}"
        );
    }
}

/// Rigid bodies keep their motion, and walls that are elsewhere do not matter to them in flight.
#[test]
fn clumps_go_on() {
    let (world, settings) = (clumps::heap(27, None), invariant());
    let mut whole = begun(world.clone(), &settings);
    whole.advance(1500).unwrap();
    let saved = saved_by(&mut whole);
    assert_eq!(saved.grains.bodies.len(), world.grains.bodies.len());
    let mut second = begun(with(&world, saved), &settings);
    for simulation in [&mut whole, &mut second] {
        simulation.advance(300).unwrap();
        simulation.observe().unwrap();
    }
    for (expected, found) in whole.bodies().iter().zip(&second.bodies()) {
        // Orientations are normalized at the start, which rounds.
        assert!(distance(expected.center, found.center) < 1e-9, "{expected:?}, {found:?}");
        assert!(
            distance(expected.angular_velocity, found.angular_velocity) < 1e-3,
            "{expected:?}, {found:?}"
        );
    }
}

/// Bonds keep their load, and broken ones stay broken.
#[test]
fn bonds_go_on() {
    let mut world = cemented(pressed(64, TangentialLaw::Mindlin));
    world.walls[0].motion = Default::default();
    // Some of them are weak.
    world.bonds[0].weibull_modulus = Some(2.0);
    let settings = Settings {
        time_step: Some(0.5 * plan_time_step(&world, Scheme::default()).unwrap().auto),
        ..invariant()
    };
    let mut whole = begun(world.clone(), &settings);
    whole.advance(800).unwrap();
    let saved = saved_by(&mut whole);
    let [made, holding] = whole.bond_counts();
    assert!(0 < holding && holding < made, "{holding} of {made} bonds hold");
    let mut other = with(&world, saved);
    let pairs = other.saved.iter().flat_map(|saved| saved.bonds(1)).map(|(ids, _)| ids).collect();
    other.bonds[0].between = Bonded::Pairs(pairs);
    let mut second = begun(other, &settings);
    assert_eq!(second.bond_counts(), [holding, holding]);
    let (before, now) = (whole.ledger().elastic_bonds, second.ledger().elastic_bonds);
    assert!(before > 0.0 && (now / before - 1.0).abs() < 1e-9, "{before:e} J, now {now:e} J");
    for simulation in [&mut whole, &mut second] {
        simulation.advance(200).unwrap();
        simulation.observe().unwrap();
    }
    let (whole, second) = (whole.snapshot(), second.snapshot());
    for (expected, found) in whole.position.iter().zip(&second.position) {
        assert!(distance(*expected, *found) < 1e-9, "{expected:?}, {found:?}");
    }
}

/// A grain in free fall goes on with its velocity, with another time step, without gravity, and with both.
#[test]
fn velocities_do_not_depend_on_the_next_time_step_and_gravity() {
    let mut world = World {
        gravity: [0.0, 0.0, -10.0],
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction::default())],
        groups: vec!["ball".into()],
        ..World::default()
    };
    world.grains.push(0, [0.0; 3], [0.3, 0.0, 0.0], [0.0; 3], 1e-3, 0, 0);
    let step = |dt: f64| Settings {
        time_step: Some(dt),
        ..Settings::default()
    };
    let mut first = begun(world.clone(), &step(8e-6));
    first.advance(1000).unwrap();
    let saved = saved_by(&mut first);
    let (fallen, speed) = (-0.5 * 10.0 * 8e-3f64.powi(2), -10.0 * 8e-3);
    for (dt, gravity) in [(8e-6, -10.0), (2e-6, -10.0), (8e-6, 0.0), (2e-6, 4.0)] {
        let other = World {
            gravity: [0.0, 0.0, gravity],
            ..with(&world, saved.clone())
        };
        let mut second = begun(other, &step(dt));
        second.advance(500).unwrap();
        second.observe().unwrap();
        let time = 500.0 * dt;
        // Under a constant force the leap-frog scheme is exact.
        let expected = fallen + speed * time + 0.5 * gravity * time * time;
        let found = second.snapshot().position[0][2];
        assert!(
            (found - expected).abs() < 1e-12,
            "{dt:e} s, {gravity} m/s^2: {found:e} m, not {expected:e} m"
        );
    }
}
