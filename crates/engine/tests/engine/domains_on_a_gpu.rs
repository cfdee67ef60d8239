//! Simulations of worlds with and without decomposition into subdomains on a GPU.

use crate::on_gpus::among;
use seixo_engine::Simulation;
use seixo_engine::world::{Precision, World};

pub fn started(world: &World, domains: usize, precision: Precision) -> Simulation {
    Simulation::new(world.clone(), among(domains, precision)).unwrap()
}

pub fn after(world: &World, domains: usize, precision: Precision, steps: u64) -> Simulation {
    let mut simulation = started(world, domains, precision);
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}
