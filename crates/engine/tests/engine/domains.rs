//! Worlds with and without decomposition into subdomains.

use seixo_engine::Simulation;
use seixo_engine::world::{Settings, World};

/// On two threads, with this number of subdomains; without decomposition, with the same order of sums.
pub fn among(domains: usize) -> Settings {
    Settings {
        threads: 2,
        domains,
        decomposition_invariant: true,
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
