//! Gases of spheres.

use crate::beds::{falling, noise};
use seixo_engine::world::{Domain, LeavingPolicy, Shear, World};
use seixo_laws::contact::TangentialLaw;

/// A gas of spheres with frictional contacts in a box with periodic sides.
pub fn gas(count: usize) -> World {
    let mut world = falling(count, TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.walls.clear();
    for interaction in world.interactions.iter_mut().flatten() {
        (interaction.restitution, interaction.friction) = (1.0, 0.1);
    }
    let edge = (count as f64).cbrt().ceil() * 1.05e-3 + 1.1e-3;
    let mut domain = Domain::open([0.0; 3], [edge; 3], LeavingPolicy::Error);
    domain.periodic = [true; 3];
    world.domain = Some(domain);
    for (k, velocity) in world.grains.velocity.iter_mut().enumerate() {
        *velocity = [0, 1, 2].map(|axis| 2.0 * noise((77 * k + axis) as u64));
    }
    world
}

/// As [`gas()`], between sides that slide.
pub fn sheared(count: usize) -> World {
    let mut world = gas(count);
    world.domain.as_mut().unwrap().shear = Some(Shear {
        flow: 0,
        gradient: 2,
        rate: 100.0,
    });
    world
}
