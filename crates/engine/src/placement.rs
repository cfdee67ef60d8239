//! Where a simulation is stepped fastest, tried out.

use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::world::{DeviceChoice, Precision, Settings};
use seixo_device::gpu::list;
use std::time::Instant;

/// Grains and particles of fluid up to which all places are tried: to set up more takes longer than what could be won, and a GPU wins.
const MOST_TRIED: usize = 200_000;
/// Steps after which a place is warm, and from one look at the clock to the next at least.
const STEPS: u64 = 16;
/// How long a place is timed, about \[s\].
const TIMED: f64 = 0.2;

/// The places that so many grains and particles of fluid can be tried at, with their words; none where there is nothing to choose.
fn places([grains, fluid]: [usize; 2], precision: Option<Precision>) -> Vec<(DeviceChoice, String)> {
    let listing = list();
    let Some(gpu) = listing.found.iter().find(|gpu| !gpu.is_software) else {
        return Vec::new();
    };
    if grains + fluid > MOST_TRIED {
        return Vec::new();
    }
    let which = Some((gpu.api, gpu.index));
    let mut places = vec![(DeviceChoice::Gpu(which), format!("{}:{}", gpu.api, gpu.index))];
    if precision.is_none_or(|precision| precision == Precision::F64) {
        places.push((DeviceChoice::Cpu, "cpu".to_owned()));
    }
    if fluid > 0 && grains > 0 {
        places.push((DeviceChoice::Heterogeneous(which), "heterogeneous".to_owned()));
    }
    places
}

/// Steps per second of a simulation; none where it stops.
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
        // A GPU takes many steps between two waits for the host, if it may: as many as will fit into what is left of the time.
        let fitting = (TIMED - seconds) * taken as f64 / seconds;
        next = (fitting as u64).clamp(STEPS, 2 * next);
    };
    // Bringing all home from a GPU is part of no step; but what went wrong there, it tells then.
    simulation.observe().ok()?;
    Some(taken as f64 / seconds)
}

/// Settings with the place in place of "auto" at which copies of a simulation, which `set_up` makes, are stepped fastest, and what was measured. Where
/// nothing was tried, "auto" itself: it is settled when the simulation is set up.
pub(crate) fn placed(
    settings: Settings,
    [grains, fluid]: [usize; 2],
    set_up: impl Fn(Settings) -> Result<Simulation, Refusal>,
) -> (Settings, Option<String>) {
    // Ranks would find different speeds.
    if settings.device != DeviceChoice::Auto || settings.ranks.is_some() || settings.domains > 1 {
        return (settings, None);
    }
    let places = places([grains, fluid], settings.precision);
    fastest(places, settings, set_up)
}

/// As [`placed`], of these places.
fn fastest(
    places: Vec<(DeviceChoice, String)>,
    settings: Settings,
    set_up: impl Fn(Settings) -> Result<Simulation, Refusal>,
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
    let told: Vec<String> = measured.iter().map(|(_, word, rate)| format!("{word} {rate:.0} steps/s")).collect();
    (at(*device), Some(format!("tried {}: runs on {word}", told.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::{fastest, placed};
    use crate::gpu::search_tests::world;
    use crate::refusal::Refusal;
    use crate::simulation::Simulation;
    use crate::world::{DeviceChoice, Precision, Settings};

    fn settings(device: DeviceChoice, precision: Precision) -> Settings {
        Settings {
            device,
            precision: Some(precision),
            ..Settings::default()
        }
    }

    fn set_up(settings: Settings) -> Result<Simulation, Refusal> {
        Simulation::new(world(&[([0.0; 3], 1.0), ([4.0, 0.0, 0.0], 1.0)]), settings)
    }

    #[test]
    fn the_place_that_was_fastest_is_taken() {
        // Software Vulkan will do as a GPU.
        let places = [(DeviceChoice::Cpu, "cpu"), (DeviceChoice::Gpu(None), "gpu")];
        let words = places.map(|(device, word)| (device, word.to_owned())).to_vec();
        let (found, told) = fastest(words, settings(DeviceChoice::Auto, Precision::F64), set_up);
        let told = told.expect("both can be tried");
        let rates = told.split(" steps/s").filter_map(|part| part.rsplit(' ').next()?.parse().ok());
        let rates: Vec<f64> = rates.collect();
        assert_eq!(rates.len(), 2, "{told}");
        let (device, word) = places[usize::from(rates[1] > rates[0])];
        assert!(found.device == device && told.ends_with(&format!("runs on {word}")), "{told}");
    }

    #[test]
    fn nothing_is_tried_where_it_cannot_be_or_where_a_place_is_asked_for() {
        // The CPU computes in f64 only.
        let here = vec![(DeviceChoice::Cpu, "cpu".to_owned())];
        let (found, told) = fastest(here, settings(DeviceChoice::Auto, Precision::F32), set_up);
        assert_eq!((found.device, told), (DeviceChoice::Auto, None));
        let (found, told) = placed(settings(DeviceChoice::Cpu, Precision::F64), [2, 0], set_up);
        assert_eq!((found.device, told), (DeviceChoice::Cpu, None));
    }
}
