//! The dam break: a cube of water with an edge of 1 m in a tank of 2 m × 1 m with a floor and walls of particles; or a wider block.

use super::case::{plane, world_of};
use super::fluid::{DENSITY, GRAVITY, layers, tank_of, water};
use seixo_engine::world::{Interaction, World};

/// Speed of sound \[m/s\]: ten times √(2 g · 1 m), rounded down as in benchmarks of other programs.
const SOUND_SPEED: f64 = 44.0;

/// Default support of the water \[spacings\]: some 80 neighbors.
pub const SUPPORT: f64 = 2.7;

/// A cube with about `particles` water particles and this support \[spacings\].
pub fn world(particles: usize, support: f64) -> World {
    let side = ((particles as f64).cbrt().round() as usize).max(2);
    block([side; 3], support)
}

/// Number of cells along the edge of a block with about `particles` particles; the block is twice as wide as long and high.
pub fn edge(particles: usize) -> usize {
    ((particles as f64 / 2.0).cbrt().round() as usize).max(2)
}

/// Blocks side by side along y, without walls between them.
pub fn row(blocks: usize, particles: usize) -> World {
    let edge = edge(particles);
    block([edge, 2 * edge * blocks, edge], SUPPORT)
}

/// Water of these numbers of cells in a tank twice as long and 1 m high.
fn block([length, width, height]: [usize; 3], support: f64) -> World {
    let spacing = 1.0 / height as f64;
    let particles = length * width * height;
    let water_at_rest = layers(particles, [length, width], spacing, |height| DENSITY * GRAVITY * (1.0 - height));
    let cells = [2 * length, width, height * 3 / 2].map(|cells| cells as i64);
    let boundary = tank_of(cells, support.ceil() as i64, spacing);
    let walls = vec![plane([0.0; 3], [0.0, 0.0, 1.0])];
    World {
        fluids: Some(water(water_at_rest, boundary, [spacing, support], SOUND_SPEED, walls.len())),
        ..world_of(Default::default(), Interaction::default(), walls, -GRAVITY)
    }
}
