//! A bed that loses grains at its top.

use crate::beds::falling;
use seixo_engine::world::{Domain, LeavingPolicy, World};
use seixo_laws::contact::TangentialLaw;

/// A bed as [`falling()`], in a domain that ends at the topmost grain. The uppermost layer rises out of it by millimeters, and is removed.
pub fn losing_its_top(count: usize, tangential: TangentialLaw) -> World {
    let mut world = falling(count, tangential);
    let top = world.grains.position.iter().map(|x| x[2]).fold(0.0, f64::max);
    for (center, velocity) in world.grains.position.iter().zip(&mut world.grains.velocity) {
        velocity[2] += if center[2] > top - 1e-4 { 1.0 } else { 0.0 };
    }
    world.domain = Some(Domain::open([-0.1; 3], [0.1, 0.1, top + 1e-6], LeavingPolicy::Delete));
    world
}
