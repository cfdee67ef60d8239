//! Autotune: trial of devices, of which the fastest is taken.

use crate::refusal::WorldError;
use crate::simulation::Simulation;
use crate::world::{DeviceChoice, Precision, Settings};
use seixo_device::gpu::list_with;
use std::time::Instant;

/// Largest number of grains and fluid particles for trials. The setup of more takes longer than the trials could save, and a GPU is then fastest.
const MAX_TRIED: usize = 200_000;
/// Number of steps for warming up, and smallest number between two readings of the clock.
const STEPS: u64 = 16;
/// Approximate time of a trial \[s\].
const TIMED: f64 = 0.2;

/// Devices for trials with these numbers of grains and fluid particles, with their names; empty without a choice.
fn places([grains, fluid]: [usize; 2], precision: Option<Precision>) -> Vec<(DeviceChoice, String)> {
    let listing = list_with(None);
    let Some(gpu) = listing.found.iter().find(|gpu| !gpu.is_software) else {
        return Vec::new();
    };
    if grains + fluid > MAX_TRIED {
        return Vec::new();
    }
    let which = Some((gpu.api, gpu.index));
    let mut places = vec![(DeviceChoice::Gpu(which), format!("{}:{}", gpu.api, gpu.index))];
    if precision.is_none_or(|precision| precision != Precision::F32) {
        places.push((DeviceChoice::Cpu, "cpu".to_owned()));
    }
    if fluid > 0 && grains > 0 {
        places.push((DeviceChoice::Heterogeneous(which), "heterogeneous".to_owned()));
    }
    places
}

/// Steps per second of a simulation; `None` if it stops with an error.
fn rate(mut simulation: Simulation) -> Option<f64> {
    simulation.advance(STEPS).ok()?;
    let (start, mut taken, mut next) = (Instant::now(), 0, STEPS);
    let seconds = loop {
        simulation.advance(next).ok()?;
        taken += next;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= TIMED {
            break seconds;
        }
        // A GPU may take many steps before the host waits: as many as fit into the remaining time.
        let fitting = (TIMED - seconds) * taken as f64 / seconds;
        next = (fitting as u64).clamp(STEPS, 2 * next);
    };
    // The download from a GPU is not part of a step, but it reports errors of the steps.
    simulation.observe().ok()?;
    Some(taken as f64 / seconds)
}

/// Replaces "auto" in the settings by the device on which copies of a simulation, made by `set_up`, are stepped fastest, and returns the
/// measurements.
/// Without a trial, "auto" remains and is resolved during setup.
pub(crate) fn placed(
    settings: Settings,
    [grains, fluid]: [usize; 2],
    set_up: impl Fn(Settings) -> Result<Simulation, WorldError>,
) -> (Settings, Option<String>) {
    // Ranks would measure different speeds.
    if settings.device != DeviceChoice::Auto || settings.ranks.is_some() || settings.domains > 1 {
        return (settings, None);
    }
    let places = places([grains, fluid], settings.precision);
    fastest(places, settings, set_up)
}

/// Like [`placed`], for these devices.
fn fastest(
    places: Vec<(DeviceChoice, String)>,
    settings: Settings,
    set_up: impl Fn(Settings) -> Result<Simulation, WorldError>,
) -> (Settings, Option<String>) {
    let at = |device: DeviceChoice| Settings {
        device,
        ..settings.clone()
    };
    let tried = places.into_iter().filter_map(|(device, word)| {
        let rate = rate(set_up(at(device)).ok()?)?;
        Some((device, word, rate))
    });
    let measured: Vec<(DeviceChoice, String, f64)> = tried.collect();
    let Some((device, word, _)) = measured.iter().max_by(|a, b| a.2.total_cmp(&b.2)) else {
        return (settings, None);
    };
    let reported: Vec<String> = measured.iter().map(|(_, word, rate)| format!("{word} {rate:.0} steps/s")).collect();
    (at(*device), Some(format!("tried {}: runs on {word}", reported.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::{fastest, placed};
    use crate::gpu::search_tests::world;
    use crate::refusal::WorldError;
    use crate::simulation::Simulation;
    use crate::world::{DeviceChoice, Precision, Settings};

    fn settings(device: DeviceChoice, precision: Precision) -> Settings {
        Settings {
            device,
            precision: Some(precision),
            ..Settings::default()
        }
    }

    fn set_up(settings: Settings) -> Result<Simulation, WorldError> {
        Simulation::new(world(&[([0.0; 3], 1.0), ([4.0, 0.0, 0.0], 1.0)]), settings)
    }

    #[test]
    fn the_place_that_was_fastest_is_taken() {
        // Software Vulkan is sufficient as a GPU.
        let places = [(DeviceChoice::Cpu, "cpu"), (DeviceChoice::Gpu(None), "gpu")];
        let words = places.map(|(device, word)| (device, word.to_owned())).to_vec();
        let (found, reported) = fastest(words, settings(DeviceChoice::Auto, Precision::F64), set_up);
        let reported = reported.expect("both can be tried");
        let rates = reported.split(" steps/s").filter_map(|part| part.rsplit(' ').next()?.parse().ok());
        let rates: Vec<f64> = rates.collect();
        assert_eq!(rates.len(), 2, "{reported}");
        let (device, word) = places[usize::from(rates[1] > rates[0])];
        assert!(
            found.device == device && reported.ends_with(&format!("runs on {word}")),
            "{reported}"
        );
    }

    #[test]
    fn nothing_is_tried_where_it_cannot_be_or_where_a_place_is_asked_for() {
        // The CPU does not compute in f32.
        let here = vec![(DeviceChoice::Cpu, "cpu".to_owned())];
        let (found, reported) = fastest(here, settings(DeviceChoice::Auto, Precision::F32), set_up);
        assert_eq!((found.device, reported), (DeviceChoice::Auto, None));
        let (found, reported) = placed(settings(DeviceChoice::Cpu, Precision::F64), [2, 0], set_up);
        assert_eq!((found.device, reported), (DeviceChoice::Cpu, None));
    }
}
