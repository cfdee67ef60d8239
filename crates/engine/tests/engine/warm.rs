//! Worlds with heat conduction and liquid films.

use crate::beds::noise;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Conduction, Thermal, World};

/// A world with heat conduction and films: grains from 300 K to 400 K, with films of up to 20 µm; the first and the last wall have temperatures.
pub fn conducting(mut world: World) -> World {
    let thermal = Thermal {
        conductivity: Some(200.0),
        specific_heat_capacity: Some(900.0),
        real_youngs_modulus: None,
    };
    world.grains.scalars[GrainScalar::Temperature] = (0..world.grains.len()).map(|k| 350.0 + 50.0 * noise(k as u64)).collect();
    world.grains.scalars[GrainScalar::FilmThickness] = (0..world.grains.len()).map(|k| 1e-5 * (1.0 + noise(k as u64 + 7))).collect();
    for interaction in world.interactions.iter_mut().flatten() {
        interaction.film_exchange = Some(100.0);
    }
    let mut walls = vec![None; world.walls.len()];
    if let Some(first) = walls.first_mut() {
        *first = Some(250.0);
    }
    if let Some(last) = walls.last_mut() {
        *last = Some(500.0);
    }
    world.conduction = Some(Conduction {
        materials: vec![thermal; world.materials.len()],
        walls,
    });
    world
}
