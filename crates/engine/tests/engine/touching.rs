//! Grains at rest in contact, with temperatures and films.

use crate::beds;
use crate::warm::conducting;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Grains, World};
use seixo_laws::contact::TangentialLaw;

/// A world with heat conduction between grains only.
pub fn insulated(world: World) -> World {
    let mut world = conducting(world);
    world.conduction.as_mut().unwrap().walls.fill(None);
    world
}

/// Two copper grains of 1 mm that overlap by a hundredth, at rest. The law is so soft that forces do not matter.
pub fn touching_pair() -> World {
    let mut world = beds::falling(1, TangentialLaw::Mindlin);
    world.walls.clear();
    world.gravity = [0.0; 3];
    world.materials[0].youngs_modulus = 1e-3;
    world.grains = Grains::default();
    world.grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
    world.grains.push(1, [0.0, 2.95e-3, 0.0], [0.0; 3], [0.0; 3], 2e-3, 0, 0);
    let mut world = insulated(world);
    world.grains.scalars[GrainScalar::Temperature] = vec![300.0, 400.0];
    world
}
