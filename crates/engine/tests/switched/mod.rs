//! A bed whose grains are held, set free and loaded anew while they move.

use crate::beds::falling;
use seixo_engine::world::{Load, WallMotion, World};
use seixo_engine::{Change, Simulation};
use seixo_laws::contact::TangentialLaw;

/// Steps of the whole play.
pub const END: u64 = 1300;

/// Holds a group, which moves with this velocity \[m/s\] from then on.
pub fn hold(group: u32, velocity: [f64; 3]) -> Change {
    let motion = Box::new(WallMotion {
        velocity,
        ..WallMotion::default()
    });
    Change::Hold { group, motion }
}

/// What changes, and when.
pub fn changes() -> Vec<(u64, Vec<Change>)> {
    let load = Load {
        group: 0,
        force: [2e-6, 0.0, 1e-6],
        torque: [0.0, 0.0, 1e-11],
    };
    let turning = Box::new(WallMotion {
        angular_velocity: [0.0, 0.0, 5.0],
        through: [3e-3; 3],
        start: 1e-4,
        ..WallMotion::default()
    });
    vec![
        (300, vec![hold(1, [0.0; 3])]),
        (500, vec![Change::Load(load)]),
        (
            700,
            vec![Change::Hold { group: 1, motion: turning }, Change::Gravity([10.0, 0.0, -150.0])],
        ),
        (900, vec![Change::Free { group: 1 }]),
        (1100, vec![hold(1, [0.0, 0.0, -5e-3]), hold(0, [0.0; 3])]),
    ]
}

/// Takes steps to `end`, and changes what is due before.
pub fn play(simulation: &mut Simulation, end: u64) {
    for (step, changes) in changes() {
        if simulation.steps() > step {
            continue;
        }
        simulation.advance(step.min(end) - simulation.steps()).unwrap();
        if simulation.steps() >= end {
            return;
        }
        simulation.change(&changes).unwrap();
    }
    simulation.advance(end - simulation.steps()).unwrap();
}

/// A bed that falls, of which every fifth grain is held now and then.
pub fn bed() -> World {
    let mut world = falling(1200, TangentialLaw::Mindlin);
    world.groups = vec!["bed".into(), "others".into()];
    world.grains.group = world.grains.id.iter().map(|id| u32::from(id % 5 == 0)).collect();
    world.later.switched = vec![0, 1];
    world
}
