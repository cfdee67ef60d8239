//! A bed whose grains are fixed, released and loaded again during the run.

use crate::beds::falling;
use seixo_engine::world::{Load, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::contact::TangentialLaw;

/// Steps of the whole run.
pub const END: u64 = 1300;

/// Prescribes the motion of a group with this velocity \[m/s\] from then on.
pub fn hold(group: u32, velocity: [f64; 3]) -> SurroundingsChange {
    let motion = Box::new(WallMotion {
        velocity,
        ..WallMotion::default()
    });
    SurroundingsChange::Hold { group, motion }
}

/// The changes and their steps.
pub fn changes() -> Vec<(u64, Vec<SurroundingsChange>)> {
    let load = Load::constant(0, [2e-6, 0.0, 1e-6], [0.0, 0.0, 1e-11]);
    let turning = Box::new(WallMotion {
        angular_velocity: [0.0, 0.0, 5.0],
        through: [3e-3; 3],
        start: 1e-4,
        ..WallMotion::default()
    });
    vec![
        (300, vec![hold(1, [0.0; 3])]),
        (500, vec![SurroundingsChange::Load(load)]),
        (
            700,
            vec![
                SurroundingsChange::Hold { group: 1, motion: turning },
                SurroundingsChange::Gravity([10.0, 0.0, -150.0]),
            ],
        ),
        (900, vec![SurroundingsChange::Free { group: 1 }]),
        (1100, vec![hold(1, [0.0, 0.0, -5e-3]), hold(0, [0.0; 3])]),
    ]
}

/// Takes steps to `end`, and applies changes that are due before.
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

/// A falling bed in which every fifth grain is fixed from time to time.
pub fn bed() -> World {
    let mut world = falling(1200, TangentialLaw::Mindlin);
    world.groups = vec!["bed".into(), "others".into()];
    world.grains.group = world.grains.id.iter().map(|id| u32::from(id % 5 == 0)).collect();
    world.later.constrained_groups = vec![0, 1];
    world
}
