//! Couette flow, and a lid-driven cavity.

use crate::floors::floor;
use crate::pools::{domain, drop_in, fluids, sites, water, wet};
use seixo_engine::world::{Fluids, SurfaceMotion, Wall, World};

/// Gap height of [`couette()`] \[m\], and the speed of its upper wall \[m/s\].
pub const GAP: [f64; 2] = [0.5, 0.2];

/// Spacing of particles \[m\].
const SPACING: f64 = 0.025;

/// A viscous fluid, 5 Pa s, at rest on these sites in a plane, at a pressure of 100 Pa.
fn viscous(low: [i64; 3], high: [i64; 3]) -> Fluids {
    let mut medium = water(2.0);
    (medium.viscosity, medium.background_pressure, medium.density_diffusion) = (5.0, 100.0, 0.1);
    let mut fluids = fluids(vec![medium], SPACING, 4.0, Some(1));
    fluids.largest_speed = GAP[1];
    for x in sites(low, high, SPACING, true) {
        drop_in(&mut fluids, x, [0.0; 3], 100.0);
    }
    fluids.slips = vec![false; 2];
    fluids
}

/// Adds particles of a wall at these sites.
fn stand(fluids: &mut Fluids, wall: u32, low: [i64; 3], high: [i64; 3]) {
    for x in sites(low, high, SPACING, true) {
        fluids.boundary.position.push(x);
        fluids.boundary.wall.push(wall);
    }
}

/// A wall whose surface moves along x.
fn lid() -> Wall {
    let mut lid = floor();
    lid.name = "lid".to_owned();
    lid.motion.surface = SurfaceMotion {
        velocity: [GAP[1], 0.0, 0.0],
        ..SurfaceMotion::default()
    };
    lid
}

/// A viscous fluid between a floor and a surface that moves along x, in a plane; periodic along x.
pub fn couette() -> World {
    let mut fluids = viscous([0; 3], [10, 1, 20]);
    stand(&mut fluids, 0, [0, 0, -4], [10, 1, 0]);
    stand(&mut fluids, 1, [0, 0, 20], [10, 1, 24]);
    let channel = Some(domain([0.0, -1.0, -1.0], [0.25, 1.0, 2.0], [true, false, false]));
    wet(fluids, 0.0, channel, vec![floor(), lid()])
}

/// The fluid in a box, half as wide as the gap of [`couette()`] is high, with the moving surface as its lid.
pub fn cavity() -> World {
    let mut fluids = viscous([0; 3], [10, 1, 10]);
    stand(&mut fluids, 0, [-4, 0, -4], [14, 1, 0]);
    stand(&mut fluids, 0, [-4, 0, 0], [0, 1, 14]);
    stand(&mut fluids, 0, [10, 0, 0], [14, 1, 14]);
    stand(&mut fluids, 1, [0, 0, 10], [10, 1, 14]);
    wet(fluids, 0.0, None, vec![floor(), lid()])
}
