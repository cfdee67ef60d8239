//! `seixo bench scaling`: how worlds scale over domains and GPUs, and what a model that is made of this predicts of more of them.

mod kind;
mod least_squares;
mod measured;
mod model;

use super::super::{Done, Failure, write_file};
use super::settled::settled;
use super::{WARMING, failed, refuse_solid_fraction, refused, seconds_of, warm_up};
use crate::say;
use clap::Args;
use kind::{Kind, LEAST_PARTICLES};
use measured::Measured;
use model::{Costs, Growth, Predicted, Reference, Sample};
use seixo::Simulation;
use seixo::place::{PlaceArguments, is_on_cpu};
use seixo_engine::Traffic;
use seixo_engine::state::{Profile, State};
use seixo_engine::world::{DeviceChoice, Settings};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Measure how a world scales over domains or GPUs, and predict how it does over more
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench scaling --domains 1,2                  a bed of 10⁵ grains among domains of one thread each
  seixo bench scaling --gpus 1,2,4,8 --particles 1000000,8000000 --strong --weak --json scaling.json
  seixo bench scaling --case gas --gpus 1,2 --weak --particles 4000000
  seixo bench scaling --predict 64,1024 scaling.json

A world is made for each number of devices, settled, and stepped, with all renewals of lists. With --strong it has as many particles on any number,
and is the same to the bit; with --weak as many on each device, side by side along one axis, so that borders stay the same. One device is measured twice:
whole, as without all this, and with sums that do not depend on the number of domains, which others are compared with. What is printed
is the median of the repeats. docs/evidence/scaling.md says what the columns mean, and of what a prediction is made.")]
pub struct ScalingArguments {
    /// What to measure
    #[arg(long, value_enum, default_value_t)]
    case: Kind,
    /// Numbers of grains, or of particles of water, at least 30 000: in all, or, with --weak, on each device; several tell what depends on the cross-section
    #[arg(long, visible_alias = "grains", value_delimiter = ',', default_values_t = [100_000],
        value_parser = clap::value_parser!(u32).range(i64::from(LEAST_PARTICLES)..))]
    particles: Vec<u32>,
    /// Numbers of domains, on the CPU or on the GPU that --device names; 1,2 if left out
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    domains: Vec<u32>,
    /// Numbers of GPUs of this machine, with a domain on each
    #[arg(long, value_delimiter = ',', conflicts_with = "domains", value_parser = clap::value_parser!(u32).range(1..=1024))]
    gpus: Vec<u32>,
    /// As many particles in all on any number of devices, which is measured where nothing is said
    #[arg(long)]
    strong: bool,
    /// As many particles on each device
    #[arg(long)]
    weak: bool,
    /// Threads of each domain on the CPU; all domains together should not have more than there are cores
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// Share of space that the grains take at the start, 0.05 to 0.6; dense beds settle sooner
    #[arg(long, value_name = "SHARE", default_value_t = 0.30)]
    solid_fraction: f64,
    /// Steps before the measurement, in which the grains come to rest; 20 000 for the bed, else none
    #[arg(long, value_name = "STEPS")]
    settle: Option<u64>,
    /// Keep settled grains in this folder, and begin with those that are kept there
    #[arg(long, value_name = "FOLDER")]
    settled: Option<PathBuf>,
    /// Steps of one measurement
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Measurements, whose median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    place: PlaceArguments,
    /// Write one JSON object a line into this file; without one, print them on the standard output in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<Option<PathBuf>>,
    /// Numbers of devices of which a model is asked that is made of what --json wrote; nothing is measured
    #[arg(long, value_name = "DEVICES", value_delimiter = ',', requires = "measured", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    predict: Vec<u32>,
    /// What --json wrote
    #[arg(value_name = "FILE", requires = "predict")]
    measured: Option<PathBuf>,
}

impl ScalingArguments {
    /// Whether the standard output is JSON.
    pub fn tells_json(&self) -> bool {
        matches!(self.json, Some(None))
    }

    /// Numbers of devices, ascending.
    fn devices(&self) -> Vec<usize> {
        let asked = match (self.gpus.is_empty(), self.domains.is_empty()) {
            (false, _) => &self.gpus[..],
            (true, false) => &self.domains[..],
            (true, true) => &[1, 2],
        };
        let mut devices: Vec<usize> = asked.iter().map(|&count| count as usize).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// How so many domains are stepped, of a world of so many particles, or several such.
    fn settings(&self, particles: usize, domains: usize, divisible: bool) -> Result<Settings, Failure> {
        let mut settings = self.case.settings(particles);
        self.place.apply(&mut settings).map_err(Failure::Input)?;
        (settings.domains, settings.divisible) = (domains, divisible);
        if !self.gpus.is_empty() {
            settings.gpus = domains;
            if self.place.device.is_none() {
                settings.device = DeviceChoice::Gpu(None);
            }
        }
        if settings.device == DeviceChoice::Cpu {
            settings.threads = self.threads as usize * domains;
        }
        Ok(settings)
    }
}

/// Measures, or predicts.
pub fn scaling(arguments: &ScalingArguments) -> Done {
    if let Some(file) = &arguments.measured {
        return predict(arguments, file);
    }
    refuse_solid_fraction(arguments.solid_fraction)?;
    let growths = [
        (Growth::Strong, arguments.strong || !arguments.weak),
        (Growth::Weak, arguments.weak),
    ];
    let mut told: Vec<Measured> = Vec::new();
    for (growth, _) in growths.into_iter().filter(|(_, is_asked)| *is_asked) {
        for &particles in &arguments.particles {
            measure_series(arguments, growth, particles as usize, &mut told)?;
        }
    }
    Ok(())
}

/// Measures a world on all numbers of devices.
fn measure_series(arguments: &ScalingArguments, growth: Growth, particles: usize, told: &mut Vec<Measured>) -> Done {
    let devices = arguments.devices();
    let first = told.len();
    let mut kept: Option<(usize, Option<State>)> = None;
    for &domains in &devices {
        let side_by_side = if growth == Growth::Weak { domains } else { 1 };
        // What has as many grains on all is settled once, on as many devices as there are.
        let state = match kept.take().filter(|(of, _)| *of == side_by_side) {
            Some((_, state)) => state,
            None => {
                let most = if growth == Growth::Weak {
                    domains
                } else {
                    *devices.last().unwrap_or(&1)
                };
                settle(arguments, side_by_side, particles, most)?
            }
        };
        let ways: &[bool] = if domains == 1 { &[false, true] } else { &[true] };
        for &divisible in ways {
            let mut measured = measure(arguments, (growth, particles, domains, divisible), state.as_ref())?;
            let of_one = told[first..].iter().find(|one| one.domains == 1 && one.divisible);
            let each = measured.grain_steps_per_second_and_device;
            measured.efficiency = match of_one {
                Some(one) => Some(each / one.grain_steps_per_second_and_device),
                None => (domains == 1 && divisible).then_some(1.0),
            };
            if !arguments.tells_json() && told.len() == first {
                say::out(&format!("{} scaling, {}\n{}", growth.name(), measured.title(), measured.heads()))?;
            }
            told.push(measured);
            tell(arguments, told)?;
        }
        kept = Some((side_by_side, state));
    }
    Ok(())
}

/// Tells the last of what was measured; a file gets all of it, so that nothing is missing from it if the next fails.
fn tell(arguments: &ScalingArguments, told: &[Measured]) -> Done {
    if let Some(Some(file)) = &arguments.json {
        let lines: Vec<String> = told
            .iter()
            .map(|one| serde_json::to_string(one).unwrap_or_default() + "\n")
            .collect();
        write_file(file, lines.concat().as_bytes())?;
    }
    match told.last() {
        Some(last) if arguments.tells_json() => say::json(last),
        Some(last) => say::out(&last.line()),
        None => Ok(()),
    }
}

/// What comes of so many worlds side by side before they are measured, settled on so many devices.
fn settle(arguments: &ScalingArguments, side_by_side: usize, particles: usize, domains: usize) -> Result<Option<State>, Failure> {
    let steps = arguments.settle.unwrap_or(arguments.case.settle());
    let row = if side_by_side > 1 {
        format!("{side_by_side}x")
    } else {
        String::new()
    };
    let name = format!("{}-{row}{particles}-{}-{steps}", arguments.case.name(), arguments.solid_fraction);
    let kept = arguments.settled.as_ref().map(|folder| folder.join(name));
    settled(steps, kept.as_deref(), || {
        let world = arguments.case.world(side_by_side, particles, arguments.solid_fraction);
        Simulation::new(world, arguments.settings(particles, domains, true)?).map_err(refused)
    })
}

/// Takes the steps of one line of the table.
fn measure(
    arguments: &ScalingArguments,
    (growth, particles, domains, divisible): (Growth, usize, usize, bool),
    state: Option<&State>,
) -> Result<Measured, Failure> {
    let settings = arguments.settings(particles, domains, divisible)?;
    let side_by_side = if growth == Growth::Weak { domains } else { 1 };
    let world = |particles: usize| arguments.case.world(side_by_side, particles, arguments.solid_fraction);
    let mut simulation = match state {
        None => Simulation::new(world(particles), settings.clone()),
        Some(state) => Simulation::restore(world(particles), settings.clone(), state),
    }
    .map_err(refused)?;
    let threads = (settings.device == DeviceChoice::Cpu).then_some(arguments.threads as usize);
    let on_gpus = !is_on_cpu(&simulation);
    if on_gpus {
        let few = particles.min(WARMING / side_by_side);
        warm_up(world(few), arguments.settings(few, domains, divisible)?)?;
    }
    simulation.notices().iter().for_each(|notice| say::note(&format!("note: {notice}")));
    // Caches, lists and scratch that grow on first use, and a GPU's kernels, which are compiled then.
    simulation.advance((arguments.steps / 10).clamp(1, 50)).map_err(failed)?;
    simulation.observe().map_err(failed)?;
    let before = (simulation.rebuilds(), renewing(simulation.profile()), traffic(&simulation));
    let measurements = seconds_of(&mut simulation, arguments.steps, arguments.repeat).map_err(failed)?;
    simulation.observe().map_err(failed)?;
    let total: f64 = measurements.iter().sum();
    let mut sorted = measurements.clone();
    sorted.sort_by(f64::total_cmp);
    let seconds_per_step = sorted[sorted.len() / 2] / arguments.steps as f64;
    // Of one kind there are none.
    let grains = simulation.len() + simulation.fluid_particles();
    let speed = |seconds: f64| grains as f64 * arguments.steps as f64 / seconds;
    let steps = (arguments.steps * u64::from(arguments.repeat)) as f64;
    let now = traffic(&simulation);
    let told = |count: fn(&Traffic) -> u64| -> f64 {
        let counts = now.iter().zip(&before.2).map(|(now, before)| count(now) - count(before));
        counts.max().unwrap_or(0) as f64 / steps
    };
    let spent = now
        .iter()
        .zip(&before.2)
        .map(|(now, before)| (now.spent - before.spent).as_secs_f64() / total);
    let shares: Vec<f64> = spent.collect();
    let is_whole = shares.is_empty();
    let space = simulation.divided().map(|divided| divided.space).unwrap_or_default();
    Ok(Measured {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        case: arguments.case.name().to_owned(),
        scaling: growth,
        device: simulation.device_name(),
        precision: simulation.precision().name().to_owned(),
        threads,
        domains,
        divisible,
        particles,
        extent: space.extent,
        periodic: space.periodic,
        reach: space.reach,
        grains,
        steps: arguments.steps,
        seconds_per_step,
        grain_steps_per_second: grains as f64 / seconds_per_step,
        slowest: speed(sorted[sorted.len() - 1]),
        fastest: speed(sorted[0]),
        grain_steps_per_second_and_device: grains as f64 / seconds_per_step / domains as f64,
        efficiency: None,
        renewals_per_step: (simulation.rebuilds() - before.0) as f64 / steps,
        renewing: is_whole.then(|| (renewing(simulation.profile()) - before.1) / total),
        exchanging: if is_whole {
            0.0
        } else {
            shares.iter().sum::<f64>() / shares.len() as f64
        },
        least_exchanging: shares.iter().copied().reduce(f64::min).unwrap_or(0.0),
        messages_per_step: told(|traffic| traffic.messages),
        bytes_per_step: told(|traffic| traffic.bytes),
        gathers_per_step: told(|traffic| traffic.gathers),
        measurements,
    })
}

/// Seconds in which one device made lists.
fn renewing(profile: &Profile) -> f64 {
    let passes = profile
        .passes
        .iter()
        .filter(|(name, _, _)| ["cells", "lists", "lists of fluids"].contains(name));
    passes.map(|(_, seconds, _)| seconds).sum()
}

/// What domains told each other; nothing where there is one.
fn traffic(simulation: &Simulation) -> Vec<Traffic> {
    simulation.divided().map_or(Vec::new(), |divided| divided.traffic)
}

/// A model, and by how much it is off.
#[derive(Serialize)]
struct Told {
    costs: Costs,
    measurements: usize,
    off_by_at_most: f64,
}

/// Makes a model of what was measured, and says what it predicts.
fn predict(arguments: &ScalingArguments, file: &Path) -> Done {
    if let Some(Some(other)) = &arguments.json {
        return Err(Failure::Input(format!(
            "--json {}: measurements go into a file, predictions do not; give --json alone, as the last flag",
            other.display()
        )));
    }
    let measured = read(file)?;
    let samples: Vec<Sample> = measured.iter().map(Measured::sample).collect();
    let costs = Costs::fit(&samples);
    let off_by_at_most = costs.deviation(&samples);
    let largest = measured
        .iter()
        .filter(|one| one.domains > 1)
        .max_by_key(|one| (one.particles, one.domains));
    let Some(largest) = largest else {
        return Err(Failure::Input(format!(
            "{}: nothing there was measured on several devices; ask for some with --domains or --gpus",
            file.display()
        )));
    };
    let row = Kind::of(&largest.case).map_or(0, Kind::row);
    let side_by_side = if largest.scaling == Growth::Weak { largest.domains } else { 1 };
    let (step, particles) = (largest.sample().step, largest.particles as f64);
    let Some(reference) = Reference::of(&step, particles, (largest.space(), row), side_by_side) else {
        return Err(Failure::Input(format!(
            "{}: {} domains have no room in the space that it tells of",
            file.display(),
            largest.domains
        )));
    };
    if arguments.tells_json() {
        say::json(&Told {
            costs,
            measurements: samples.len(),
            off_by_at_most,
        })?;
    } else {
        say::out(&format!("{}\n{}", largest.title(), told_of(&costs, samples.len(), off_by_at_most)))?;
    }
    for growth in [Growth::Strong, Growth::Weak] {
        if !arguments.tells_json() {
            let each = if growth == Growth::Weak { " on each device" } else { "" };
            say::out(&format!(
                "{} scaling, {}{each}",
                growth.name(),
                say::many(largest.particles, largest.particle())
            ))?;
        }
        for &domains in &arguments.predict {
            match reference.predict(&costs, growth, domains as usize) {
                Some(predicted) if arguments.tells_json() => say::json(&predicted)?,
                Some(predicted) => say::out(&format!("  {}", line_of(&predicted)))?,
                None => say::note(&format!(
                    "{domains:>8} domains: there is room for {} only",
                    say::count(reference.most_domains() as u64)
                )),
            }
        }
    }
    Ok(())
}

/// What was measured with sums that do not depend on the number of domains, as a file tells it.
fn read(file: &Path) -> Result<Vec<Measured>, Failure> {
    let wrong = |what: String| Failure::Input(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    let mut found: Vec<Measured> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let one: Measured = serde_json::from_str(line).map_err(|error| {
            wrong(format!(
                "line {} is none that `seixo bench scaling --json` writes: {error}",
                number + 1
            ))
        })?;
        if let Some(other) = found.first().filter(|other| other.title() != one.title()) {
            let (other, one) = (other.title(), one.title());
            return Err(wrong(format!(
                "there are measurements of\n  {other}, and of\n  {one}\nkeep a file for each"
            )));
        }
        found.push(one);
    }
    found.retain(|one| one.divisible);
    Ok(found)
}

/// What everything costs, as text.
fn told_of(costs: &Costs, measurements: usize, off_by_at_most: f64) -> String {
    let seconds = |number: f64| say::scaled(number, "s");
    let speed = if costs.byte > 0.0 {
        format!("bytes at {}", say::scaled(1.0 / costs.byte, "B/s"))
    } else {
        "bytes nothing".to_owned()
    };
    format!(
        "  a step of a grain {}, a renewal of lists {} a grain, a step of a domain {},\n  a wait of all {} a doubling, a message {}, {speed};\n  \
         found from {}, and off by {:.0} % at most",
        seconds(costs.grain),
        seconds(costs.renewal),
        seconds(costs.domain),
        seconds(costs.gather),
        seconds(costs.message),
        say::many(measurements, "measurement"),
        100.0 * off_by_at_most
    )
}

/// A prediction as text.
fn line_of(predicted: &Predicted) -> String {
    let beside = predicted.largest_of_exchange.filter(|name| *name != predicted.largest);
    let beside = beside.map_or(String::new(), |name| {
        format!(", then {name} {:.0} %", 100.0 * predicted.share_of_exchange)
    });
    format!(
        "{:>6} domains, {} beside each, {} grains: {} a step, {} grain-steps/s, efficiency {:.0} %; largest term: {} {:.0} %{beside}",
        predicted.domains,
        predicted.beside,
        say::count(predicted.grains as u64),
        say::scaled(predicted.seconds_per_step, "s"),
        say::scaled(predicted.grain_steps_per_second, ""),
        100.0 * predicted.efficiency,
        predicted.largest,
        100.0 * predicted.share,
    )
}
