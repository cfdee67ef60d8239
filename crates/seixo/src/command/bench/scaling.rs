//! `seixo bench scaling`: measures scaling over subdomains and GPUs, and predicts it for larger numbers with a fitted model.

mod kind;
mod least_squares;
mod measured;
mod model;

use super::super::{Done, Failure, write_file};
use super::median::spread;
use super::settled::settled;
use super::{WARMING, failed, refuse_solid_fraction, refused, seconds_of, warm_up};
use crate::device_options::{DeviceArguments, is_on_cpu};
use crate::run::timeline::chrome_trace;
use crate::terminal;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kind::{Kind, MIN_PARTICLES};
use measured::Measured;
use model::{Costs, Growth, Predicted, Reference, Sample};
use seixo_engine::Communication;
use seixo_engine::Simulation;
use seixo_engine::state::{Profile, State};
use seixo_engine::world::{DeviceChoice, GhostSelection, HaloOverlap, Settings};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Measure how a world scales over subdomains or GPUs, and predict its scaling to larger numbers
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench scaling --domains 1,2                  a bed of 10⁵ grains among domains of one thread each
  seixo bench scaling --gpus 1,2,4,8 --particles 1000000,8000000 --strong --weak --json scaling.json
  seixo bench scaling --case gas --gpus 1,2 --weak --particles 4000000
  seixo bench scaling --case gas --domains 2,8 --ghosts all,layers
  seixo bench scaling --case lattice --gpus 8 --particles 1000000000 --steps 100 --repeat 1
  seixo bench scaling --case lattice --domains 8 --gpus 4 --particles 1000000000 --steps 100 --repeat 1
  seixo bench scaling --gpus 1,2 --particles 1000000 --trace two.json
  seixo bench scaling --predict 64,1024 scaling.json

A world is made for each number of devices, settled, and stepped, including all rebuilds of neighbor lists. With --strong it has as many particles on any number,
and is the same to the bit; with --weak as many on each device, side by side along one axis, so that borders stay the same. One device is measured twice:
whole, as without all this, and with sums that do not depend on the number of domains, which others are compared with. What is printed
is the median of the repeats. docs/evidence/scaling.md says what the columns mean, and of what a prediction is made.")]
pub struct ScalingArguments {
    /// World to measure
    #[arg(long, value_enum, default_value_t)]
    case: Kind,
    /// Numbers of grains or water particles, at least 30 000, separated by commas: the total, or with --weak the number per device. Several numbers
    /// let the model separate costs that depend on the cross-section
    #[arg(long, visible_alias = "grains", value_delimiter = ',', default_values_t = [100_000],
        value_parser = clap::value_parser!(u32).range(i64::from(MIN_PARTICLES)..))]
    particles: Vec<u32>,
    /// Numbers of subdomains, separated by commas, on the CPU, on the GPU that --device names, or on --gpus; default: 1,2
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    domains: Vec<u32>,
    /// Numbers of GPUs of this machine, separated by commas, with one subdomain on each; or, with --domains, one number of GPUs, among which all
    /// subdomains are distributed
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    gpus: Vec<u32>,
    /// Strong scaling: the same total number of particles on any number of devices; this is the default
    #[arg(long)]
    strong: bool,
    /// Weak scaling: the same number of particles on each device
    #[arg(long)]
    weak: bool,
    /// Number of threads of each subdomain on the CPU; all subdomains together should not have more threads than there are cores
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// Solid fraction of the grains at the start, 0.05 to 0.6; dense beds settle sooner
    #[arg(long, value_name = "SHARE", default_value_t = 0.30)]
    solid_fraction: f64,
    /// Steps before the measurement, in which the grains settle; default: 20 000 for the bed, else 0
    #[arg(long, value_name = "STEPS")]
    settle: Option<u64>,
    /// Folder that keeps settled grains: they are read from it, or settled and written to it
    #[arg(long, value_name = "FOLDER")]
    settled: Option<PathBuf>,
    /// Number of steps of one measurement
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Number of measurements, of which the median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    place: DeviceArguments,
    /// How domains select the particles that are ghosts of their neighbors, separated by commas: among all, or among those in layers of cells at the
    /// border. Several domains are measured with each; no result changes
    #[arg(long, value_name = "HOW", value_delimiter = ',', value_parser = selections(), default_values = ["all"])]
    ghosts: Vec<GhostSelection>,
    /// Write a timeline of some steps after the measurement into this file, in the trace format of Chrome: passes and exchanges of each domain, and with
    /// CUDA the launches in each queue of its GPU. It has the last measurement with the most devices
    #[arg(long, value_name = "FILE", conflicts_with = "predict")]
    trace: Option<PathBuf>,
    /// Number of steps of the timeline
    #[arg(long, value_name = "STEPS", requires = "trace", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    trace_steps: u64,
    /// Leave out launches on GPUs, whose timing takes the host some microseconds each
    #[arg(long, requires = "trace")]
    trace_host: bool,
    /// Whether steps of grains in domains on GPUs compute the grains at the border first, and all others while halos travel: always or never; no result
    /// changes
    #[arg(long, value_name = "WHEN", value_parser = overlaps(), default_value = "never")]
    overlap: HaloOverlap,
    /// Write one JSON object per line into this file; without a file name, print them on the standard output instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<Option<PathBuf>>,
    /// Numbers of devices, separated by commas, for which a model predicts the scaling. The model is fitted to FILE, written earlier by --json;
    /// nothing is measured
    #[arg(long, value_name = "DEVICES", value_delimiter = ',', requires = "measured", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    predict: Vec<u32>,
    /// File that --json wrote
    #[arg(value_name = "FILE", requires = "predict")]
    measured: Option<PathBuf>,
}

/// Parses the name of a [`GhostSelection`].
fn selections() -> impl TypedValueParser<Value = GhostSelection> {
    PossibleValuesParser::new(GhostSelection::ALL.map(GhostSelection::name)).map(|word| {
        GhostSelection::ALL
            .into_iter()
            .find(|selection| selection.name() == word)
            .unwrap_or_default()
    })
}

/// Parses the name of a [`HaloOverlap`].
fn overlaps() -> impl TypedValueParser<Value = HaloOverlap> {
    PossibleValuesParser::new(HaloOverlap::ALL.map(HaloOverlap::name)).map(|word| {
        HaloOverlap::ALL
            .into_iter()
            .find(|overlap| overlap.name() == word)
            .unwrap_or_default()
    })
}

/// How a world is computed on a number of devices.
#[derive(Clone, Copy)]
struct Way {
    domains: usize,
    decomposition_invariant: bool,
    ghosts: GhostSelection,
}

impl ScalingArguments {
    /// Whether the standard output is JSON.
    pub fn prints_json(&self) -> bool {
        matches!(self.json, Some(None))
    }

    /// Returns the numbers of devices in ascending order.
    fn devices(&self) -> Vec<usize> {
        let asked = match (self.domains.is_empty(), self.gpus.is_empty()) {
            (false, _) => &self.domains[..],
            (true, false) => &self.gpus[..],
            (true, true) => &[1, 2],
        };
        let mut devices: Vec<usize> = asked.iter().map(|&count| count as usize).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// Returns the number of GPUs among which all domains are distributed, if they do not have one each.
    fn shared_gpus(&self) -> Option<usize> {
        let gpus = self.gpus.first().filter(|_| !self.domains.is_empty());
        gpus.map(|&gpus| gpus as usize)
    }

    /// Returns the ways to compute a world on a number of devices.
    fn ways(&self, domains: usize) -> Vec<Way> {
        let way = |decomposition_invariant: bool, ghosts: GhostSelection| Way {
            domains,
            decomposition_invariant,
            ghosts,
        };
        if domains == 1 {
            [false, true]
                .map(|is_invariant| way(is_invariant, GhostSelection::default()))
                .to_vec()
        } else {
            self.ghosts.iter().map(|&ghosts| way(true, ghosts)).collect()
        }
    }

    /// Returns the settings for a world of `particles` particles, or several such worlds.
    fn settings(&self, particles: usize, way: Way) -> Result<Settings, Failure> {
        let mut settings = self.case.settings(particles);
        self.place.apply(&mut settings).map_err(Failure::Input)?;
        let domains = way.domains;
        (settings.domains, settings.decomposition_invariant) = (domains, way.decomposition_invariant);
        settings.ghost_selection = way.ghosts;
        settings.halo_overlap = self.overlap;
        if !self.gpus.is_empty() {
            settings.gpus = self.shared_gpus().map_or(domains, |gpus| gpus.min(domains));
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

/// Measures or predicts.
pub fn scaling(arguments: &ScalingArguments) -> Done {
    if let Some(file) = &arguments.measured {
        return predict(arguments, file);
    }
    refuse_solid_fraction(arguments.solid_fraction)?;
    if !arguments.domains.is_empty() && arguments.gpus.len() > 1 {
        return Err(Failure::Input(
            "--domains goes with one number of --gpus, among which all domains are distributed; give one, or leave --domains out"
                .to_owned(),
        ));
    }
    let growths = [
        (Growth::Strong, arguments.strong || !arguments.weak),
        (Growth::Weak, arguments.weak),
    ];
    let mut reported: Vec<Measured> = Vec::new();
    for (growth, _) in growths.into_iter().filter(|(_, is_asked)| *is_asked) {
        for &particles in &arguments.particles {
            measure_series(arguments, growth, particles as usize, &mut reported)?;
        }
    }
    Ok(())
}

/// Measures a world on each number of devices.
fn measure_series(arguments: &ScalingArguments, growth: Growth, particles: usize, reported: &mut Vec<Measured>) -> Done {
    let devices = arguments.devices();
    let first = reported.len();
    let mut kept: Option<(usize, Option<State>)> = None;
    for &domains in &devices {
        let side_by_side = if growth == Growth::Weak { domains } else { 1 };
        // In strong scaling the world is settled once, on the largest number of devices.
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
        for way in arguments.ways(domains) {
            let mut measured = measure(arguments, (growth, particles, way), state.as_ref())?;
            let of_one = reported[first..].iter().find(|one| one.domains == 1 && one.decomposition_invariant);
            let each = measured.grain_steps_per_second_and_device;
            measured.efficiency = match of_one {
                Some(one) => Some(each / one.grain_steps_per_second_and_device),
                None => (domains == 1 && way.decomposition_invariant).then_some(1.0),
            };
            if !arguments.prints_json() && reported.len() == first {
                terminal::out(&format!("{} scaling, {}\n{}", growth.name(), measured.title(), measured.heads()))?;
            }
            reported.push(measured);
            print_row(arguments, reported)?;
        }
        kept = Some((side_by_side, state));
    }
    Ok(())
}

/// Prints the last measurement. A file gets all measurements again, so that it is complete if the next one fails.
fn print_row(arguments: &ScalingArguments, reported: &[Measured]) -> Done {
    if let Some(Some(file)) = &arguments.json {
        let lines: Vec<String> = reported
            .iter()
            .map(|one| serde_json::to_string(one).unwrap_or_default() + "\n")
            .collect();
        write_file(file, lines.concat().as_bytes())?;
    }
    match reported.last() {
        Some(last) if arguments.prints_json() => terminal::json(last),
        Some(last) => terminal::out(&last.line()),
        None => Ok(()),
    }
}

/// Returns the state of `side_by_side` worlds before the measurement, settled on `domains` devices.
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
        let way = Way {
            domains,
            decomposition_invariant: true,
            ghosts: GhostSelection::default(),
        };
        Simulation::new(world, arguments.settings(particles, way)?).map_err(refused)
    })
}

/// Measures one line of the table.
fn measure(
    arguments: &ScalingArguments,
    (growth, particles, way): (Growth, usize, Way),
    state: Option<&State>,
) -> Result<Measured, Failure> {
    let settings = arguments.settings(particles, way)?;
    let domains = way.domains;
    let side_by_side = if growth == Growth::Weak { domains } else { 1 };
    if side_by_side * particles > u32::MAX as usize {
        return Err(Failure::Input(format!(
            "{} on each of {domains} devices are too many, as ids have 32 bits; use fewer --particles",
            terminal::many(particles, "particle")
        )));
    }
    let world = |particles: usize| arguments.case.world(side_by_side, particles, arguments.solid_fraction);
    let in_parts = domains > 1 && matches!(settings.device, DeviceChoice::Gpu(_));
    let parts = arguments.case.parts(side_by_side, particles).filter(|_| in_parts);
    let mut simulation = match (state, parts) {
        (Some(state), _) => Simulation::restore(world(particles), settings.clone(), state),
        (None, Some((world, source))) => Simulation::in_parts(&world, &source, settings.clone()),
        (None, None) => Simulation::new(world(particles), settings.clone()),
    }
    .map_err(refused)?;
    let threads = (settings.device == DeviceChoice::Cpu).then_some(arguments.threads as usize);
    let on_gpus = !is_on_cpu(&simulation);
    if on_gpus {
        let few = particles.min(WARMING / side_by_side);
        warm_up(world(few), arguments.settings(few, way)?)?;
    }
    simulation
        .notices()
        .iter()
        .for_each(|notice| terminal::note(&format!("note: {notice}")));
    // Warm-up: caches, lists and buffers grow, and a GPU compiles its kernels, at first use.
    simulation.advance((arguments.steps / 10).clamp(1, 50)).map_err(failed)?;
    simulation.observe_counts().map_err(failed)?;
    let before = (simulation.rebuilds(), rebuild_seconds(simulation.profile()), traffic(&simulation));
    let measurements = seconds_of(&mut simulation, arguments.steps, arguments.repeat).map_err(failed)?;
    simulation.observe_counts().map_err(failed)?;
    let total: f64 = measurements.iter().sum();
    let [shortest, median, longest] = spread(measurements.iter().copied());
    let seconds_per_step = median / arguments.steps as f64;
    // One of the two is zero.
    let grains = simulation.len() + simulation.fluid_particles();
    let speed = |seconds: f64| grains as f64 * arguments.steps as f64 / seconds;
    let steps = (arguments.steps * u64::from(arguments.repeat)) as f64;
    let now = traffic(&simulation);
    let reported = |count: fn(&Communication) -> u64| -> f64 {
        let counts = now.iter().zip(&before.2).map(|(now, before)| count(now) - count(before));
        counts.max().unwrap_or(0) as f64 / steps
    };
    let spent = now
        .iter()
        .zip(&before.2)
        .map(|(now, before)| (now.spent - before.spent).as_secs_f64() / total);
    let shares: Vec<f64> = spent.collect();
    let is_whole = shares.is_empty();
    let selecting = now
        .iter()
        .zip(&before.2)
        .map(|(now, before)| (now.selecting - before.selecting).as_secs_f64() / total);
    let space = simulation.decomposition().map(|decomposed| decomposed.space).unwrap_or_default();
    let measured = Measured {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        case: arguments.case.name().to_owned(),
        scaling: growth,
        device: simulation.device_name(),
        precision: simulation.precision().name().to_owned(),
        threads,
        gpus: arguments.shared_gpus(),
        domains,
        decomposition_invariant: way.decomposition_invariant,
        ghosts: (!is_whole).then(|| way.ghosts.name().to_owned()),
        particles,
        extent: space.extent,
        periodic: space.periodic,
        reach: space.reach,
        grains,
        bytes_per_particle: simulation.bytes() as f64 / grains as f64,
        steps: arguments.steps,
        seconds_per_step,
        grain_steps_per_second: grains as f64 / seconds_per_step,
        slowest: speed(longest),
        fastest: speed(shortest),
        grain_steps_per_second_and_device: grains as f64 / seconds_per_step / domains as f64,
        efficiency: None,
        rebuilds_per_step: (simulation.rebuilds() - before.0) as f64 / steps,
        rebuilding: is_whole.then(|| (rebuild_seconds(simulation.profile()) - before.1) / total),
        exchanging: if is_whole {
            0.0
        } else {
            shares.iter().sum::<f64>() / shares.len() as f64
        },
        least_exchanging: shares.iter().copied().reduce(f64::min).unwrap_or(0.0),
        selecting: selecting.fold(0.0, f64::max),
        tested_per_step: reported(|traffic| traffic.tested),
        messages_per_step: reported(|traffic| traffic.messages),
        bytes_per_step: reported(|traffic| traffic.bytes),
        collectives_per_step: reported(|traffic| traffic.collectives),
        measurements,
    };
    if let Some(file) = arguments.trace.as_ref().filter(|_| arguments.devices().last() == Some(&domains)) {
        simulation.begin_timeline(!arguments.trace_host);
        simulation.advance(arguments.trace_steps).map_err(failed)?;
        write_file(file, chrome_trace(&simulation.end_timeline()).as_bytes())?;
    }
    Ok(measured)
}

/// Returns the seconds in which a single device rebuilt lists.
fn rebuild_seconds(profile: &Profile) -> f64 {
    let passes = profile
        .passes
        .iter()
        .filter(|(name, _, _)| ["neighbor lists", "fluid neighbor lists"].contains(name));
    passes.map(|(_, seconds, _)| seconds).sum()
}

/// Returns the communication of each subdomain; empty for a single domain.
fn traffic(simulation: &Simulation) -> Vec<Communication> {
    simulation.decomposition().map_or(Vec::new(), |decomposed| decomposed.communication)
}

/// A fitted model, and its largest relative error.
#[derive(Serialize)]
struct FittedModel {
    costs: Costs,
    measurements: usize,
    off_by_at_most: f64,
}

/// Fits a model to measurements, and prints its predictions.
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
            "{}: {} domains do not fit into the measured space",
            file.display(),
            largest.domains
        )));
    };
    if arguments.prints_json() {
        terminal::json(&FittedModel {
            costs,
            measurements: samples.len(),
            off_by_at_most,
        })?;
    } else {
        terminal::out(&format!(
            "{}\n{}",
            largest.title(),
            costs_text(&costs, samples.len(), off_by_at_most)
        ))?;
    }
    for growth in [Growth::Strong, Growth::Weak] {
        if !arguments.prints_json() {
            let each = if growth == Growth::Weak { " on each device" } else { "" };
            terminal::out(&format!(
                "{} scaling, {}{each}",
                growth.name(),
                terminal::many(largest.particles, largest.particle())
            ))?;
        }
        for &domains in &arguments.predict {
            match reference.predict(&costs, growth, domains as usize) {
                Some(predicted) if arguments.prints_json() => terminal::json(&predicted)?,
                Some(predicted) => terminal::out(&format!("  {}", line_of(&predicted)))?,
                None => terminal::note(&format!(
                    "{domains:>8} domains: there is room for {} only",
                    terminal::count(reference.most_domains() as u64)
                )),
            }
        }
    }
    Ok(())
}

/// Reads the measurements of a file, except those that are not decomposition-invariant.
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
    found.retain(|one| one.decomposition_invariant);
    Ok(found)
}

/// Formats the costs of the model.
fn costs_text(costs: &Costs, measurements: usize, off_by_at_most: f64) -> String {
    let seconds = |number: f64| terminal::scaled(number, "s");
    let speed = if costs.byte > 0.0 {
        format!("bytes at {}", terminal::scaled(1.0 / costs.byte, "B/s"))
    } else {
        "bytes nothing".to_owned()
    };
    format!(
        "  a step of a grain {}, a rebuild of lists {} a grain, a step of a domain {},\n  a wait of all {} a doubling, a message {}, {speed};\n  \
         found from {}, and off by {:.0} % at most",
        seconds(costs.grain),
        seconds(costs.rebuild),
        seconds(costs.domain),
        seconds(costs.collective),
        seconds(costs.message),
        terminal::many(measurements, "measurement"),
        100.0 * off_by_at_most
    )
}

/// Formats a prediction.
fn line_of(predicted: &Predicted) -> String {
    let beside = predicted.largest_of_exchange.filter(|name| *name != predicted.largest);
    let beside = beside.map_or(String::new(), |name| {
        format!(", then {name} {:.0} %", 100.0 * predicted.share_of_exchange)
    });
    format!(
        "{:>6} domains, {} beside each, {} grains: {} a step, {} grain-steps/s, efficiency {:.0} %; largest term: {} {:.0} %{beside}",
        predicted.domains,
        predicted.beside,
        terminal::count(predicted.grains as u64),
        terminal::scaled(predicted.seconds_per_step, "s"),
        terminal::scaled(predicted.grain_steps_per_second, ""),
        100.0 * predicted.efficiency,
        predicted.largest,
        100.0 * predicted.share,
    )
}
