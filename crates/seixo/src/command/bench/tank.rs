//! The dam break: a cube of water of one meter in a tank of two by one meter, on a floor and between walls of particles; or a wider block.

use super::case::{plane, world_of};
use super::fluid::{DENSITY, GRAVITY, layers, tank_of, water};
use seixo_engine::world::{Interaction, World};

/// Speed of sound \[m/s\]: ten times √(2 g · 1 m), rounded down as in the decks of other programs.
const SOUND_SPEED: f64 = 44.0;

/// Support of the water where the command line does not say \[spacings\]: some 80 neighbors.
pub const SUPPORT: f64 = 2.7;

/// As many particles of water as come nearest to this number in a cube, that see each other up to so many spacings apart.
pub fn world(particles: usize, support: f64) -> World {
    let side = ((particles as f64).cbrt().round() as usize).max(2);
    block([side; 3], support)
}

/// Cells along the edge of a block that is twice as wide as long and high, for about so many particles.
pub fn edge(particles: usize) -> usize {
    ((particles as f64 / 2.0).cbrt().round() as usize).max(2)
}

/// So many of these blocks side by side along y, without walls between them.
pub fn row(blocks: usize, particles: usize) -> World {
    let edge = edge(particles);
    block([edge, 2 * edge * blocks, edge], SUPPORT)
}

/// Water of so many cells in a tank that is twice as long, a meter high.
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
