//! Polyhedral grains of several convex parts.

use crate::corners::{about, block, put, through_a_collision, turned, world};
use crate::devices::{on_threads, started};
use crate::vectors::distance;
use seixo_engine::Simulation;
use seixo_engine::world::{Interaction, PartEnds, PolyhedralShape, Settings};

/// Outer half length and half width of the bars of a cross, over its scale.
const REACH: f64 = 0.948_528_137_423_857;

/// A cross of two bars, three times as long as wide. Its volume and moments are near those of the solid.
fn cross() -> PolyhedralShape {
    let [one, other] = [[0.8, 0.2, 0.2], [0.2, 0.8, 0.2]].map(|half| block("cross", half, 0.1));
    let first = one.vertices.len() as u32;
    let later = |vertex: u32| first + vertex;
    let edges = other.edges.iter().map(|edge| edge.map(later));
    let faces = other
        .faces
        .iter()
        .map(|face| face.iter().map(|&vertex| later(vertex)).collect::<Vec<u32>>());
    let end = |count: u32| PartEnds {
        vertices: 8 * count,
        edges: 12 * count,
        faces: 6 * count,
    };
    PolyhedralShape {
        name: "cross".into(),
        rounding: one.rounding,
        volume: 1.7 * one.volume,
        moments: [0, 1, 2].map(|k| 0.5 * (one.moments[k] + other.moments[k])),
        vertices: [&one.vertices[..], &other.vertices[..]].concat(),
        edges: one.edges.iter().copied().chain(edges).collect(),
        faces: one.faces.iter().cloned().chain(faces).collect(),
        parts: vec![end(1), end(2)],
        ..PolyhedralShape::default()
    }
}

#[test]
fn a_ball_fits_into_the_corner_of_a_cross_and_touches_both_bars() {
    let with_ball = |gap: f64| {
        let mut world = world(vec![cross()], Interaction::default());
        assert_eq!(world.shapes[0].flaw(), None);
        put(&mut world, 0, REACH, [0.0; 3], [0.0; 3]);
        // Bars are 0.3 wide from their axes. The polyhedron around the cross would have the ball inside.
        let place = 0.3 + 0.2 + gap;
        world.grains.push(1, [place, place, 0.0], [0.0; 3], [0.0; 3], 0.2, 0, 0);
        started(world)
    };
    assert_eq!(with_ball(0.01).contacts(), 0);
    let simulation = with_ball(-0.001);
    assert_eq!(simulation.contacts(), 1, "one pair");
    let [x, y, z] = simulation.snapshot().force[1];
    assert!(x > 0.0 && (x / y - 1.0).abs() < 1e-9 && z.abs() < 1e-9 * x, "{x} {y} {z}");
    assert!(distance(simulation.snapshot().force[0], [-x, -y, -z]) < 1e-12 * x);
}

#[test]
fn two_crosses_that_meet_keep_momentum_and_energy() {
    let mut world = world(vec![cross()], Interaction::default());
    let turn = about([0.6, 0.0, 0.8], 0.5);
    turned(&mut world, 0, REACH, [0.0; 3], turn, [0.1, 0.0, 0.0]);
    turned(
        &mut world,
        0,
        REACH,
        [1.75, 0.2, 0.1],
        about([0.0, 0.6, 0.8], 1.1),
        [-0.2, 0.0, 0.0],
    );
    let settings = Settings {
        time_step: Some(1e-4),
        ..on_threads(1)
    };
    let mut simulation = Simulation::new(world, settings).expect("the world is sound");
    let (before, energy) = (simulation.momentum(), simulation.ledger().kinetic);
    through_a_collision(&mut simulation);
    let (after, ledger) = (simulation.momentum(), simulation.ledger());
    let scale = simulation.snapshot().mass[0] * 0.2;
    assert!(distance(before.linear, after.linear) < 1e-12 * scale, "{before:?} {after:?}");
    assert!(distance(before.angular, after.angular) < 1e-11 * scale, "{before:?} {after:?}");
    assert!(ledger.rotational > 1e-3 * energy, "they turn: {ledger:?}");
    let moving = ledger.kinetic + ledger.rotational;
    assert!((moving / energy - 1.0).abs() < 2e-3, "{energy} J became {moving} J");
}
