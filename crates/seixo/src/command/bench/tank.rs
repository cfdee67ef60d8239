//! The dam break: a cube of water of one meter in a tank of two by one meter, on a floor and between walls of particles.

use super::case::{plane, world_of};
use super::fluid::{DENSITY, GRAVITY, layers, tank_of, water};
use seixo_engine::world::{Interaction, World};

/// Speed of sound \[m/s\]: ten times √(2 g · 1 m), rounded down as in the decks of other programs.
const SOUND_SPEED: f64 = 44.0;

/// As many particles of water as come nearest to this number in a cube, that see each other up to so many spacings apart.
pub fn world(particles: usize, support: f64) -> World {
    let side = ((particles as f64).cbrt().round() as usize).max(2);
    let (spacing, cells) = (1.0 / side as f64, side as i64);
    let cube = layers(side.pow(3), [side; 2], spacing, |height| DENSITY * GRAVITY * (1.0 - height));
    let boundary = tank_of([2 * cells, cells, cells * 3 / 2], support.ceil() as i64, spacing);
    let walls = vec![plane([0.0; 3], [0.0, 0.0, 1.0])];
    World {
        fluids: Some(water(cube, boundary, [spacing, support], SOUND_SPEED, walls.len())),
        ..world_of(Default::default(), Interaction::default(), walls, -GRAVITY)
    }
}
