//! Polyhedral grains in domains with periodic sides.

use crate::corners::{about, turned, world};
use crate::devices::on_threads;
use crate::polyhedra::{cube, rough};
use seixo_engine::Simulation;
use seixo_engine::world::{Domain, LeavingPolicy, Settings, Vec3, World};

const LENGTH: f64 = 4.0;

/// Two cubes that meet, with this shift of both, in a periodic box.
fn meeting(shift: Vec3) -> World {
    let mut world = world(vec![cube()], rough());
    let moved = |place: Vec3| [0, 1, 2].map(|k| (place[k] + shift[k]).rem_euclid(LENGTH));
    let (one, other) = (moved([1.4, 2.0, 2.0]), moved([2.6, 2.2, 2.1]));
    turned(&mut world, 0, 0.7, one, about([0.6, 0.0, 0.8], 0.4), [0.4, 0.0, 0.0]);
    turned(&mut world, 0, 0.6, other, about([0.0, 0.6, 0.8], 0.9), [-0.4, 0.0, 0.0]);
    world.domain = Some(Domain {
        periodic: [true; 3],
        ..Domain::open([0.0; 3], [LENGTH; 3], LeavingPolicy::Error)
    });
    world
}

#[test]
fn cubes_that_meet_across_a_periodic_side_move_as_in_the_middle() {
    let after = |shift: Vec3| {
        let settings = Settings {
            time_step: Some(1e-4),
            ..on_threads(1)
        };
        let mut simulation = Simulation::new(meeting(shift), settings).expect("the world is sound");
        simulation.advance(6000).expect("sound steps");
        simulation.snapshot()
    };
    let inside = after([0.0; 3]);
    let turn = inside.angular_velocity[0].iter().map(|w| w * w).sum::<f64>().sqrt();
    assert!(turn > 1e-2, "they have met: {inside:?}");
    // Across a side, an edge and a corner of the box.
    for shift in [[2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [2.0, 1.9, 1.95]] {
        let across = after(shift);
        for k in 0..2 {
            for axis in 0..3 {
                let moved = across.position[k][axis] - inside.position[k][axis] - shift[axis];
                let apart = moved - LENGTH * (moved / LENGTH).round();
                assert!(apart.abs() < 1e-9, "{shift:?}: {across:?}");
                let [a, b] = [&across, &inside].map(|seen| (seen.velocity[k][axis], seen.angular_velocity[k][axis]));
                assert!((a.0 - b.0).abs() < 1e-8 && (a.1 - b.1).abs() < 1e-8, "{shift:?}: {across:?}");
            }
        }
    }
}
