//! Couette's flow.

use super::pools::{domain, drop_in, floor, fluids, sites, water, wet};
use seixo_engine::world::{SurfaceMotion, World};

/// Height of the gap of [`couette()`] \[m\], and the speed of its upper wall \[m/s\].
pub const GAP: [f64; 2] = [0.5, 0.2];

/// A viscous fluid, 5 Pa s, between a floor and a surface that runs along x, in a plane; periodic along x.
pub fn couette() -> World {
    let spacing = 0.025;
    let mut medium = water(2.0);
    (medium.viscosity, medium.background_pressure, medium.density_diffusion) = (5.0, 100.0, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 4.0, Some(1));
    fluids.fastest = GAP[1];
    for x in sites([0; 3], [10, 1, 20], spacing, true) {
        drop_in(&mut fluids, x, [0.0; 3], 100.0);
    }
    for (wall, [low, high]) in [[-4, 0], [20, 24]].into_iter().enumerate() {
        for x in sites([0, 0, low], [10, 1, high], spacing, true) {
            fluids.boundary.position.push(x);
            fluids.boundary.wall.push(wall as u32);
        }
    }
    fluids.slips = vec![false; 2];
    let mut lid = floor();
    lid.name = "lid".to_owned();
    lid.motion.surface = SurfaceMotion {
        velocity: [GAP[1], 0.0, 0.0],
        ..SurfaceMotion::default()
    };
    let channel = Some(domain([0.0, -1.0, -1.0], [0.25, 1.0, 2.0], [true, false, false]));
    wet(fluids, 0.0, channel, vec![floor(), lid])
}
