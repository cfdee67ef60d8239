//! Worlds whole and divided among domains.

use seixo_engine::Simulation;
use seixo_engine::world::{Settings, World};

/// On two threads, among so many domains; undivided with the sums that divisions ask for.
pub fn among(domains: usize) -> Settings {
    Settings {
        threads: 2,
        domains,
        divisible: true,
        ..Settings::default()
    }
}

pub fn started(world: &World, domains: usize) -> Simulation {
    Simulation::new(world.clone(), among(domains)).unwrap()
}

pub fn after(world: &World, domains: usize, steps: u64) -> Simulation {
    let mut simulation = started(world, domains);
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}
