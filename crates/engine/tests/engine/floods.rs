//! Water that collapses, circulates or falls.

use crate::beds::{falling, noise};
use crate::pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, Solver, World};
use seixo_laws::contact::TangentialLaw;
use std::f64::consts::TAU;

/// Spacing of most fluids here \[m\].
const SPACING: f64 = 0.05;

/// Fluid without particles, in space or in a plane.
pub fn dry(across: Option<usize>) -> Fluids {
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, across);
    fluids.largest_speed = 4.4;
    fluids
}

/// A column of water that collapses in a tank.
pub fn column() -> World {
    tank(dry(None), [26, 4, 12], [16, 4, 10], 3, None)
}

/// A plane vortex that drifts through periodic sides.
pub fn whirl() -> World {
    let mut fluids = dry(Some(1));
    fluids.kinds[0].background_pressure = 5e4;
    let cells = [40, 1, 12];
    let [length, height] = [cells[0], cells[2]].map(|count| count as f64 * SPACING);
    for x in sites([0; 3], cells, SPACING, true) {
        let [a, b] = [TAU * x[0] / length, TAU * x[2] / height];
        // A divergence-free field.
        let whirling = [a.sin() * b.cos() * length / height, 0.0, -a.cos() * b.sin()];
        drop_in(&mut fluids, x, [3.0 + 0.3 * whirling[0], 0.0, 0.3 * whirling[2]], 5e4);
    }
    let space = domain([0.0, -1.0, 0.0], [length, 1.0, height], [true, false, true]);
    wet(fluids, 0.0, Some(space), Vec::new())
}

/// The same vortex, which falls through one pair of periodic sides and is driven through the other.
pub fn falling_whirl() -> World {
    let mut world = whirl();
    world.gravity = [3.0, 0.0, -G];
    world
}

/// Asserts that the ledger of a falling vortex closes, with the work of periodic sides that lift wrapped fluid.
#[track_caller]
pub fn assert_put_back(whirl: &Simulation, world: &World) {
    let (ledger, fluids, time) = (whirl.ledger(), world.fluids.as_ref().unwrap(), whirl.time());
    let mass = whirl.fluid_particles() as f64 * fluids.kinds[0].density * fluids.volume();
    let pull: f64 = world.gravity.iter().map(|g| g * g).sum();
    // Incompressible fluid falls with the velocities at the ends of all steps, half a step ahead.
    let ahead = match fluids.solver {
        Solver::Incompressible => 0.5 * whirl.time_step().value,
        _ => 0.0,
    };
    let missed = -mass * pull * time * ahead;
    // Starting at 3 m/s, it moves by 0.6 m along a driving acceleration of 3 m/s² and by 0.2 m along gravity: some 4 kJ. Of this, the sides return
    // whole periods of the domain only.
    assert!(ledger.wall_work > 2e3, "{ledger:?}");
    assert!((ledger.residual - missed).abs() < 1e-3 * ledger.wall_work, "{missed} {ledger:?}");
}

/// A falling block of water.
pub fn block(mut fluids: Fluids, cells: [i64; 3], height: f64) -> Fluids {
    for (k, [x, y, z]) in sites([0; 3], cells, fluids.spacing, false).into_iter().enumerate() {
        let velocity = [0, 1, 2].map(|axis| 0.2 * noise((3 * k + axis) as u64));
        drop_in(&mut fluids, [x, y, z + height], velocity, 0.0);
    }
    fluids
}

/// This many grains that fall into a box, and a block of water high above that never touches them.
pub fn beside_grains(count: usize) -> World {
    let mut world = falling(count, TangentialLaw::Mindlin);
    let mut medium = water(10.0);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    let mut fluids = fluids(vec![medium], 1e-3, 3.0, None);
    fluids.largest_speed = 1.0;
    fluids.slips = vec![false; world.walls.len()];
    world.fluids = Some(block(fluids, [20, 6, 6], 0.1));
    world
}
