//! Worlds that start with the polyhedral grains that another simulation saved.

use crate::corners::about;
use crate::devices::on_threads;
use crate::floors::floor;
use crate::polyhedra::swarm;
use crate::saved::with;
use crate::vectors::distance;
use seixo_engine::state::State;
use seixo_engine::world::{Grains, SavedGrains, Scheme, Settings, Vec3, WallShape, World};
use seixo_engine::{Partner, Simulation, plan_time_step};

/// Steps of the first run, after which many grains touch.
const STEPS: u64 = 3000;

/// The swarm, which falls on a floor; rows of neighbors are in the order of ids, whenever they are listed.
fn falling() -> (World, Settings) {
    let mut world = swarm();
    world.gravity = [0.0, 0.0, -9.81];
    world.walls.push(floor());
    world.walls[0].shape = WallShape::Plane {
        point: [0.0, 0.0, -0.0975],
        normal: [0.0, 0.0, 1.0],
    };
    // What it would be by itself depends on how fast the grains are at the start.
    let time_step = plan_time_step(&world, Scheme::default()).expect("the world is sound").value;
    let settings = Settings {
        decomposition_invariant: true,
        time_step: Some(time_step),
        ..on_threads(1)
    };
    (world, settings)
}

fn after(world: World, settings: &Settings, steps: u64) -> Simulation {
    let mut simulation = Simulation::new(world, settings.clone()).expect("the world is sound");
    simulation.advance(steps).expect("sound steps");
    simulation.observe().expect("a sound state");
    simulation
}

fn saved_by(simulation: &mut Simulation) -> SavedGrains {
    SavedGrains::of(&simulation.save().expect("a sound state")).expect("it has grains")
}

/// A vector after a quarter turn about x.
fn turned([x, y, z]: Vec3) -> Vec3 {
    [x, -z, y]
}

#[test]
fn an_unchanged_world_goes_on_with_the_same_bits() {
    let (world, settings) = falling();
    let mut whole = after(world.clone(), &settings, STEPS);
    assert!(
        whole.contacts() > 5 && whole.ledger().elastic_tangential > 0.0,
        "{} contacts",
        whole.contacts()
    );
    let saved = saved_by(&mut whole);
    let records = whole.contacts_now().expect("a sound state");
    whole.advance(500).expect("sound steps");
    whole.observe().expect("a sound state");
    let expected = whole.snapshot();
    let mut second = Simulation::new(with(&world, saved.clone()), settings.clone()).expect("the world is sound");
    assert_eq!(second.steps(), 0);
    assert_eq!(second.contacts_now().expect("a sound state"), records);
    let ledger = second.ledger();
    assert!(ledger.residual.abs() < 1e-12 * ledger.kinetic, "{ledger:?}");
    // Lists are rebuilt at other steps.
    let settings = Settings {
        skin: Some(2e-3),
        ..settings
    };
    let found = after(with(&world, saved), &settings, 500).snapshot();
    assert!(found.position == expected.position, "positions");
    assert!(found.velocity == expected.velocity, "velocities");
    assert!(found.orientation == expected.orientation, "orientations");
    assert!(found.angular_velocity == expected.angular_velocity, "angular velocities");
}

#[test]
fn a_rotated_swarm_behaves_the_same() {
    let (world, settings) = falling();
    let mut first = after(world.clone(), &settings, STEPS);
    let mut saved = saved_by(&mut first);
    saved.place(about([1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2), [0.0; 3]);
    let mut there = World {
        gravity: turned(world.gravity),
        ..world
    };
    there.walls[0].shape = WallShape::Plane {
        point: turned([0.0, 0.0, -0.0975]),
        normal: turned([0.0, 0.0, 1.0]),
    };
    let second = after(with(&there, saved), &settings, 300);
    first.advance(300).expect("sound steps");
    first.observe().expect("a sound state");
    let (one, other) = (first.snapshot(), second.snapshot());
    for k in 0..one.id.len() {
        assert_eq!(one.id[k], other.id[k]);
        for (what, [a, b]) in [
            ("position", [one.position[k], other.position[k]]),
            ("velocity", [one.velocity[k], other.velocity[k]]),
            ("angular velocity", [one.angular_velocity[k], other.angular_velocity[k]]),
        ] {
            let off = distance(turned(a), b);
            assert!(
                off < 1e-8 * (1.0 + distance(a, [0.0; 3])),
                "{what} of grain {}: {a:?} {b:?}",
                one.id[k]
            );
        }
    }
    let friction = first.ledger().elastic_tangential;
    assert!((second.ledger().elastic_tangential / friction - 1.0).abs() < 1e-6, "{friction} J");
}

#[test]
fn a_cut_keeps_the_contacts_of_the_rest() {
    let (world, settings) = falling();
    let mut first = after(world.clone(), &settings, STEPS);
    let records = first.contacts_now().expect("a sound state");
    let gone = records.first().expect("a contact").a;
    let mut saved = saved_by(&mut first);
    saved.retain(|id| id != gone);
    let mut second = Simulation::new(with(&world, saved), settings).expect("the world is sound");
    let kept: Vec<_> = records
        .into_iter()
        .filter(|record| record.a != gone && record.b != Partner::Grain(gone))
        .collect();
    assert!(!kept.is_empty());
    assert_eq!(second.contacts_now().expect("a sound state"), kept);
    second.advance(100).expect("sound steps");
}

#[test]
fn a_state_of_shapes_with_other_axes_is_refused() {
    let (world, settings) = falling();
    let flaw = |world: &World, state: &State| {
        let restored = Simulation::restore(world.clone(), settings.clone(), state);
        restored.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let state = after(world.clone(), &settings, 10).save().expect("a sound state");
    let saved = SavedGrains::of(&state).expect("it has grains");
    assert_eq!((flaw(&world, &state), saved.flaw_of_shapes(&world.shapes)), (String::new(), None));
    // As a version would read the scene that chose other axes of the equal moments of the cube.
    let mut turned = world.clone();
    let sine = std::f64::consts::FRAC_1_SQRT_2;
    for vertex in &mut turned.shapes[0].vertices {
        let [x, y, z] = *vertex;
        *vertex = [sine * (x - y), sine * (x + y), z];
    }
    let found = flaw(&turned, &state);
    assert!(
        found.contains("shape `cube` had other axes") && found.contains("resume with the scene and version that wrote it"),
        "{found}"
    );
    assert!(saved.flaw_of_shapes(&turned.shapes).is_some_and(|flaw| flaw.contains("`cube`")));
    // Earlier versions did not save the digests. Their checkpoints without polyhedral grains are sound.
    let of_earlier_version = |mut state: State| {
        state.sections.retain(|(name, _)| name != "shapes/digest");
        state
    };
    let found = flaw(&world, &of_earlier_version(state));
    assert!(found.contains("shape `cube` may have had other axes"), "{found}");
    let mut spheres = World {
        grains: Grains::default(),
        ..world
    };
    spheres.grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], 0.02, 0, 0);
    let state = after(spheres.clone(), &settings, 10).save().expect("a sound state");
    assert_eq!(flaw(&spheres, &of_earlier_version(state)), "");
}
