//! Where a world is stepped fastest, tried out.

use crate::simulation::Simulation;
use crate::world::{DeviceChoice, Precision, Settings, World};
use seixo_device::gpu::list;
use std::time::Instant;

/// Grains and particles of fluid up to which all places are tried: to set up more takes longer than what could be won, and a GPU wins.
const MOST_TRIED: usize = 200_000;
/// Steps after which a place is warm, and from one look at the clock to the next at least.
const STEPS: u64 = 16;
/// How long a place is timed, about \[s\].
const TIMED: f64 = 0.2;

/// The places that a world can be tried at, with their words; none where there is nothing to choose.
fn places(world: &World, precision: Option<Precision>) -> Vec<(DeviceChoice, String)> {
    let listing = list();
    let Some(gpu) = listing.found.iter().find(|gpu| !gpu.is_software) else {
        return Vec::new();
    };
    let fluid = world.fluids.as_ref().map_or(0, |fluids| fluids.particles.len());
    if world.grains.len() + fluid > MOST_TRIED {
        return Vec::new();
    }
    let which = Some((gpu.api, gpu.index));
    let mut places = vec![(DeviceChoice::Gpu(which), format!("{}:{}", gpu.api, gpu.index))];
    if precision.is_none_or(|precision| precision == Precision::F64) {
        places.push((DeviceChoice::Cpu, "cpu".to_owned()));
    }
    if fluid > 0 && !world.grains.is_empty() {
        places.push((DeviceChoice::Heterogeneous(which), "heterogeneous".to_owned()));
    }
    places
}

/// Steps per second at a place; none where it cannot be.
fn rate(world: &World, settings: &Settings) -> Option<f64> {
    let mut simulation = Simulation::new(world.clone(), settings.clone()).ok()?;
    simulation.advance(STEPS).ok()?;
    let (start, mut taken, mut next) = (Instant::now(), 0, STEPS);
    let seconds = loop {
        simulation.advance(next).ok()?;
        taken += next;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= TIMED {
            break seconds;
        }
        // A GPU takes many steps between two waits for the host, if it may: as many as will fit into what is left of the time.
        let fitting = (TIMED - seconds) * taken as f64 / seconds;
        next = (fitting as u64).clamp(STEPS, 2 * next);
    };
    // Bringing all home from a GPU is part of no step; but what went wrong there, it tells then.
    simulation.observe().ok()?;
    Some(taken as f64 / seconds)
}

/// Where a world is stepped fastest, and what was measured. Where nothing was tried, "auto" itself: it is settled when the world is set up.
pub(crate) fn fastest(world: &World, settings: &Settings) -> (DeviceChoice, Vec<String>) {
    let mut measured: Vec<(DeviceChoice, String, f64)> = Vec::new();
    for (device, word) in places(world, settings.precision) {
        let here = Settings {
            device,
            ..settings.clone()
        };
        if let Some(rate) = rate(world, &here) {
            measured.push((device, word, rate));
        }
    }
    let Some((device, word, _)) = measured.iter().max_by(|a, b| a.2.total_cmp(&b.2)) else {
        return (DeviceChoice::Auto, Vec::new());
    };
    let told: Vec<String> = measured.iter().map(|(_, word, rate)| format!("{word} {rate:.0} steps/s")).collect();
    (*device, vec![format!("tried {}: runs on {word}", told.join(", "))])
}
