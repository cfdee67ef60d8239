//! `seixo bench`: measures throughput on this machine, relative to the limit of its memory bandwidth.

mod bandwidth;
mod bed;
mod case;
mod fluid;
mod frames;
mod history;
mod lattice;
mod median;
mod polyhedra;
mod published;
mod rigid_fluid;
mod scaling;
mod search;
mod settled;
mod tank;
mod view;

use super::{Done, Failure, write_file};
use crate::device_options::{DeviceArguments, is_on_cpu};
use crate::terminal;
use case::{Case, CaseDefaults};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use history::{RecordArguments, Recorder};
use median::spread;
use seixo_engine::Simulation;
use seixo_engine::world::{ForceAssembly, Settings, World};
use seixo_view::{Chart, ChartFormat, encode};
use serde::Serialize;
use settled::settled;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Usual solid fraction of beds at the start \[-\].
const SOLID_FRACTION: f64 = 0.30;

/// Measure particle-steps per second, with the time of each pass and the use of memory bandwidth
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench                                      the frictional Hertz-Mindlin bed of 10⁵ grains, all cores
  seixo bench bed normal-only --particles 10000,100000 --threads 1,2
  seixo bench --settle 2000 --steps 200 --json     a quick look: the grains are still falling
  seixo bench bed --radii 1:16                     grains of many sizes; --radii 1:1 is the same bed of one size, to be compared by contact
  seixo bench lattice --device gpu --particles 1000000,8000000
  seixo bench bed --device gpu --assembly fused,contact_list,sorted_contacts
                                                   what other methods of force assembly cost
  seixo bench bonds --device gpu --particles 1000000
  seixo bench tank --device gpu --particles 8000000 --support 2.7
  seixo bench falling-spheres --device gpu         a million spheres for 10 000 steps: the seconds it takes
  seixo bench muller --device gpu                  the fluid solver of [Müller 2003]
  seixo bench --record docs/evidence/history.csv --commit $(git rev-parse --short HEAD)
                                                   and add the measurement to a history
  seixo bench history                              the newest measurements of a history beside those before; see seixo bench history --help
  seixo bench published --short                    whole runs beside published wall times of other programs; see seixo bench published --help
  seixo bench rigid-fluid                          fluids and rigid bodies, beside the steps per second of [Silva 2010]; see seixo bench rigid-fluid --help
  seixo bench search                               the ways to find pairs beside each other; see seixo bench search --help
  seixo bench scaling --domains 1,2                how a bed scales over domains or GPUs; see seixo bench scaling --help
  seixo bench polyhedra                            rocks in a turning drum, or cubes at rest; see seixo bench polyhedra --help
  seixo bench frames --particles 1000000           what the frames of a run cost it; see seixo bench frames --help
  seixo bench view --device gpu                    pictures a second, and what looking costs a run; see seixo bench view --help

Settling takes most of the time of the beds: 20 000 steps, once for each case and size. What is printed is the median of the repeats.
On the CPU, the floor is the time that the memory traffic of a step takes at the measured speed of a copy, each field moved once per pass
that needs it. On a GPU, that traffic is given at the rate reached, to be held beside the bandwidth in its data sheet.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArguments {
    #[command(subcommand)]
    part: Option<Part>,
    /// Cases to measure
    #[arg(value_enum, default_values = ["bed"])]
    cases: Vec<Case>,
    /// Numbers of grains, separated by commas; lattices take the nearest cube. Default: 100 000, for falling-spheres 1 000 000
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    particles: Vec<u32>,
    /// Numbers of CPU threads, separated by commas; 0 = all cores
    #[arg(long, value_delimiter = ',', default_values_t = [0])]
    threads: Vec<usize>,
    /// Solid fraction of the beds and of falling-spheres at the start, 0.05 to 0.6; dense beds settle sooner
    #[arg(long, value_name = "SHARE", default_value_t = SOLID_FRACTION)]
    solid_fraction: f64,
    /// Grains of many sizes in bed and normal-only: the smallest to the largest radius, 1:1 to 1:64; every octave of radii has the same volume, and
    /// the smallest grains are those of the usual bed. The floor is that of a cube, so such beds are higher
    #[arg(long, value_name = "1:RATIO", value_parser = ratio_of_radii)]
    radii: Option<f64>,
    /// Support of the kernel in the tank, in spacings, 1.5 to 6: 2.7 gives about 80 neighbors, 3 about 110
    #[arg(long, value_name = "SPACINGS", default_value_t = tank::SUPPORT)]
    support: f64,
    /// Skin of the neighbor lists, in meters; default: that of a run, which follows the motion
    #[arg(long, value_name = "METERS")]
    skin: Option<f64>,
    /// Steps before the measurement, in which the grains settle; default: 20 000 for beds, else 0
    #[arg(long, value_name = "STEPS")]
    settle: Option<u64>,
    /// Folder that keeps settled grains: they are read from it, or settled and written to it
    #[arg(long, value_name = "FOLDER")]
    settled: Option<PathBuf>,
    /// Steps of one measurement; default: 500 for beds and muller, 200 for lattice, bonds and tank, 50 for lattices without friction, 10 000 for falling-spheres
    #[arg(long)]
    steps: Option<u64>,
    /// Number of measurements, of which the median is printed; default: 3, for falling-spheres 1
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// Force assembly: fused computes the forces of a grain at once, on a GPU with its motion; the others are methods of the literature, for comparison
    #[arg(long, value_name = "HOW", value_delimiter = ',', value_parser = assemblies(), default_values = ["fused"])]
    assembly: Vec<ForceAssembly>,
    #[command(flatten)]
    place: DeviceArguments,
    #[command(flatten)]
    history: RecordArguments,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    json: bool,
}

/// Benchmarks of parts of the program.
#[derive(Subcommand)]
enum Part {
    Published(published::PublishedArguments),
    Search(search::SearchArguments),
    #[command(alias = "s4")]
    RigidFluid(rigid_fluid::RigidFluidArguments),
    Scaling(scaling::ScalingArguments),
    View(view::ViewArguments),
    History(history::HistoryArguments),
    Frames(frames::FramesArguments),
    Polyhedra(polyhedra::PolyhedraArguments),
}

/// Parses the name of a [`ForceAssembly`].
fn assemblies() -> impl TypedValueParser<Value = ForceAssembly> {
    PossibleValuesParser::new(ForceAssembly::ALL.map(ForceAssembly::name)).map(|word| {
        ForceAssembly::ALL
            .into_iter()
            .find(|assembly| assembly.name() == word)
            .unwrap_or_default()
    })
}

/// Parses a ratio of radii, such as `1:16`, into the largest over the smallest.
fn ratio_of_radii(text: &str) -> Result<f64, String> {
    let [smallest, largest] = text.split_once(':').map_or([f64::NAN; 2], |(smallest, largest)| {
        [smallest, largest].map(|radius| radius.trim().parse().unwrap_or(f64::NAN))
    });
    let ratio = largest / smallest;
    if smallest > 0.0 && (1.0..=64.0).contains(&ratio) {
        Ok(ratio)
    } else {
        Err("write the smallest to the largest radius, 1:1 to 1:64, such as 1:16".to_owned())
    }
}

#[derive(Serialize)]
struct Measured {
    case: &'static str,
    /// Largest over smallest radius, for grains of many sizes.
    ratio_of_radii: Option<f64>,
    #[serde(skip)]
    is_fluid: bool,
    device: String,
    precision: &'static str,
    assembly: &'static str,
    particles: usize,
    threads: usize,
    particle_steps_per_second: f64,
    slowest: f64,
    fastest: f64,
    seconds: f64,
    /// Seconds of each measurement, in the order of measurement.
    measurements: Vec<f64>,
    passes: Vec<(&'static str, f64)>,
    bytes_per_particle: f64,
    contacts_per_particle: f64,
    /// Wall time of a step over the number of contacts, times the number of threads on the CPU \[s\]; `None` without contacts of grains.
    seconds_per_contact: Option<f64>,
    /// Speed over that with the first number of threads.
    speedup: Option<f64>,
    bonds_per_particle: f64,
    /// Skin of the neighbor lists of grains, or of fluids \[m\], and number of their entries for each particle.
    skin: f64,
    entries_per_particle: f64,
    steps: u64,
    repeats: u32,
    rebuilds: u64,
    kinetic_per_particle: f64,
    bytes_moved_per_particle_step: f64,
    bandwidth_used: f64,
    #[serde(flatten)]
    floor: Option<Floor>,
}

/// Limit set by the memory bandwidth of this machine.
#[derive(Serialize)]
struct Floor {
    copy_bandwidth: f64,
    ceiling: f64,
    share_of_ceiling: f64,
}

/// Runs the cases.
pub fn bench(arguments: &BenchArguments) -> Done {
    match &arguments.part {
        Some(Part::Published(arguments)) => return published::published(arguments).map_err(|failure| failure.with_json(arguments.json)),
        Some(Part::Search(arguments)) => return search::search(arguments).map_err(|failure| failure.with_json(arguments.json)),
        Some(Part::RigidFluid(arguments)) => {
            return rigid_fluid::rigid_fluid(arguments).map_err(|failure| failure.with_json(arguments.json));
        }
        Some(Part::Scaling(arguments)) => return scaling::scaling(arguments).map_err(|failure| failure.with_json(arguments.prints_json())),
        Some(Part::Frames(arguments)) => return frames::frames(arguments).map_err(|failure| failure.with_json(arguments.json)),
        Some(Part::Polyhedra(arguments)) => return polyhedra::polyhedra(arguments).map_err(|failure| failure.with_json(arguments.json)),
        Some(Part::History(arguments)) => return history::history(arguments).map_err(|failure| failure.with_json(arguments.json)),
        Some(Part::View(arguments)) => return view::view(arguments).map_err(|failure| failure.with_json(arguments.json)),
        None => {}
    }
    let wrong = |text: String| Err(Failure::Input(text).with_json(arguments.json));
    if arguments.steps == Some(0) {
        return wrong("--steps is 0, must be at least 1".to_owned());
    }
    refuse_solid_fraction(arguments.solid_fraction).map_err(|failure| failure.with_json(arguments.json))?;
    if !(1.5..=6.0).contains(&arguments.support) {
        return wrong(format!("--support is {}, must be 1.5 to 6", arguments.support));
    }
    if arguments.radii.is_some()
        && let Some(case) = arguments.cases.iter().find(|case| !case.has_sizes())
    {
        return wrong(format!("--radii is for bed and normal-only, not for {}", case.name()));
    }
    // Beyond it, random positions without overlap are hard to find.
    if arguments.radii.is_some() && arguments.solid_fraction > 0.32 {
        return wrong(format!(
            "--solid-fraction is {}, must be 0.05 to 0.32 with --radii",
            arguments.solid_fraction
        ));
    }
    let recorder = arguments.history.recorder().map_err(|failure| failure.with_json(arguments.json))?;
    for &case in &arguments.cases {
        let sizes = if arguments.particles.is_empty() {
            case.defaults().particles
        } else {
            &arguments.particles
        };
        for &particles in sizes {
            bench_case(case, particles, arguments, recorder.as_ref()).map_err(|failure| failure.with_json(arguments.json))?;
        }
    }
    Ok(())
}

/// Refuses solid fractions \[-\] with which the grains of a bed cannot start.
fn refuse_solid_fraction(share: f64) -> Done {
    if (0.05..=0.6).contains(&share) {
        return Ok(());
    }
    Err(Failure::Input(format!("--solid-fraction is {share}, must be 0.05 to 0.6")))
}

/// Time that a GPU steps other grains before a measurement. After idling while the host built a world, a GPU was seen 3 times slower at first.
const WARM_UP: Duration = Duration::from_secs(2);
/// Largest number of these grains.
const WARMING: usize = 1_000_000;

/// Settles the grains once, if requested, then measures them with each number of threads from the same state. Each measurement builds its own world,
/// since a second copy of millions of grains would need too much memory.
fn bench_case(case: Case, particles: u32, arguments: &BenchArguments, recorder: Option<&Recorder>) -> Done {
    let world = || match arguments.radii {
        Some(spread) => case
            .world_of_many_sizes(particles as usize, spread, arguments.solid_fraction)
            .map_err(Failure::Input),
        None => Ok(case.world(particles as usize, arguments.solid_fraction, arguments.support)),
    };
    let settings = |threads: usize, assembly: ForceAssembly| -> Result<Settings, Failure> {
        let mut settings = case.settings(threads);
        arguments.place.apply(&mut settings).map_err(Failure::Input)?;
        settings.assembly = assembly;
        settings.skin = arguments.skin.or(settings.skin);
        if arguments.radii.is_some() {
            // A large grain that lands may press a small one flat.
            settings.overlap_limit = 1.0;
        }
        Ok(settings)
    };
    // Unsupported assemblies are reported before the grains settle, which takes long.
    for &assembly in arguments.assembly.iter().filter(|&&assembly| assembly != ForceAssembly::Fused) {
        Simulation::new(case.world(8, arguments.solid_fraction, arguments.support), settings(0, assembly)?).map_err(refused)?;
    }
    let settle = arguments.settle.unwrap_or(case.defaults().settle);
    let with_skin = arguments.skin.map_or_else(String::new, |skin| format!("-skin-{skin}"));
    let with_radii = arguments.radii.map_or_else(String::new, |ratio| format!("-radii-{ratio}"));
    let kept = arguments.settled.as_ref().map(|folder| {
        folder.join(format!(
            "{}-{particles}-{}-{settle}{with_skin}{with_radii}",
            case.name(),
            arguments.solid_fraction
        ))
    });
    let settled = settled(settle, kept.as_deref(), || {
        Simulation::new(world()?, settings(0, ForceAssembly::Fused)?).map_err(refused)
    })?;
    let mut first: Option<(ForceAssembly, f64)> = None;
    for (&assembly, &threads) in arguments
        .assembly
        .iter()
        .flat_map(|how| arguments.threads.iter().map(move |many| (how, many)))
    {
        let settings = settings(threads, assembly)?;
        let mut simulation = match &settled {
            None => Simulation::new(world()?, settings.clone()),
            Some(state) => Simulation::restore(world()?, settings.clone(), state),
        }
        .map_err(refused)?;
        if !is_on_cpu(&simulation) {
            let world = case.world(WARMING.min(particles as usize), arguments.solid_fraction, arguments.support);
            warm_up(world, settings)?;
        }
        let mut measured = measure(case, &mut simulation, assembly, arguments).map_err(failed)?;
        match first.filter(|(of, _)| *of == assembly) {
            Some((_, speed)) => measured.speedup = Some(measured.particle_steps_per_second / speed),
            None => first = Some((assembly, measured.particle_steps_per_second)),
        }
        if let Some(recorder) = recorder {
            recorder.add(&measured, options_of(case, assembly, arguments))?;
        }
        if arguments.json {
            terminal::json(&measured)?;
        } else {
            simulation
                .notices()
                .iter()
                .for_each(|notice| terminal::note(&format!("note: {notice}")));
            terminal::out(&measured.text())?;
        }
    }
    Ok(())
}

/// Returns the options that change the work of a case, as on the command line.
fn options_of(case: Case, assembly: ForceAssembly, arguments: &BenchArguments) -> String {
    let CaseDefaults { settle, steps, .. } = case.defaults();
    let unlike = |number: u64, usual: u64| (number != usual).then(|| number.to_string());
    let is_other = |number: f64, usual: f64| (number != usual).then(|| number.to_string());
    let options = [
        ("--solid-fraction", is_other(arguments.solid_fraction, SOLID_FRACTION)),
        ("--radii", arguments.radii.map(|ratio| format!("1:{ratio}"))),
        ("--support", is_other(arguments.support, tank::SUPPORT)),
        ("--skin", arguments.skin.map(|skin| skin.to_string())),
        ("--settle", unlike(arguments.settle.unwrap_or(settle), settle)),
        ("--steps", unlike(arguments.steps.unwrap_or(steps), steps)),
        ("--assembly", (assembly != ForceAssembly::Fused).then(|| assembly.name().to_owned())),
    ];
    let given = options
        .into_iter()
        .filter_map(|(option, value)| Some(format!("{option} {}", value?)));
    given.collect::<Vec<_>>().join(" ")
}

/// Writes a chart as SVG, and says where it is.
fn write_chart(path: &Path, chart: &Chart) -> Done {
    let bytes = encode(chart, ChartFormat::Svg).map_err(|error| Failure::Run(error.to_string()))?;
    write_file(path, &bytes)?;
    terminal::note(&path.display().to_string());
    Ok(())
}

fn refused(refusal: seixo_engine::WorldError) -> Failure {
    Failure::Input(refusal.to_string())
}

fn failed(stop: seixo_engine::StepError) -> Failure {
    Failure::Run(stop.to_string())
}

/// Steps another world for the time [`WARM_UP`].
fn warm_up(world: World, settings: Settings) -> Done {
    let mut other = Simulation::new(world, settings).map_err(refused)?;
    let clock = Instant::now();
    while clock.elapsed() < WARM_UP {
        other.advance(20).map_err(failed)?;
    }
    Ok(())
}

/// Measures the wall time \[s\] of `steps` steps, `repeat` times in order.
fn seconds_of(simulation: &mut Simulation, steps: u64, repeat: u32) -> Result<Vec<f64>, seixo_engine::StepError> {
    let one = |_: u32| -> Result<f64, seixo_engine::StepError> {
        let clock = Instant::now();
        simulation.advance(steps)?;
        Ok(clock.elapsed().as_secs_f64())
    };
    (0..repeat).map(one).collect()
}

fn measure(
    case: Case,
    simulation: &mut Simulation,
    assembly: ForceAssembly,
    arguments: &BenchArguments,
) -> Result<Measured, seixo_engine::StepError> {
    let particles = simulation.len() + simulation.fluid_particles();
    let CaseDefaults { steps, repeat, .. } = case.defaults();
    let (steps, repeat) = (arguments.steps.unwrap_or(steps), arguments.repeat.unwrap_or(repeat));
    // Warm-up: caches, lists and buffers grow, and a GPU compiles its kernels, at first use.
    simulation.advance((steps / 10).clamp(1, 50))?;
    let contacts = |simulation: &mut Simulation| -> Result<f64, seixo_engine::StepError> {
        simulation.observe()?;
        let [neighbors, _] = simulation.fluid_neighbors()?;
        Ok(simulation.contacts() as f64 / particles as f64 + neighbors)
    };
    let contacts_before = contacts(simulation)?;
    let (rebuilds, before) = (simulation.rebuilds(), simulation.profile().clone());
    let measurements = seconds_of(simulation, steps, repeat)?;
    let total: f64 = measurements.iter().sum();
    let [shortest, median, longest] = spread(measurements.iter().copied());
    let speed = |seconds: f64| particles as f64 * steps as f64 / seconds;
    let contacts = 0.5 * (contacts_before + contacts(simulation)?);
    let (skin, entries_per_particle) = match simulation.skin_of_fluids().filter(|_| case.is_fluid()) {
        Some(skin) => (skin, simulation.fluid_neighbors()?[1]),
        None => (simulation.skin(), simulation.list_entries()? as f64 / particles as f64),
    };
    let passes = simulation.profile().passes.iter().zip(&before.passes);
    let bonds = simulation.bond_counts()[1] as f64 / particles as f64;
    let is_on_cpu = is_on_cpu(simulation);
    let moved = if is_on_cpu {
        case.bytes_moved(contacts, bonds, simulation.precision())
    } else {
        case.bytes_moved_on_gpu(contacts, bonds, simulation.precision())
    };
    Ok(Measured {
        case: case.name(),
        ratio_of_radii: arguments.radii,
        is_fluid: case.is_fluid(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        assembly: assembly.name(),
        particles,
        threads: simulation.threads(),
        particle_steps_per_second: speed(median),
        slowest: speed(longest),
        fastest: speed(shortest),
        seconds: median,
        measurements,
        passes: passes
            .map(|(now, before)| (now.0, (now.1 - before.1) / total))
            .filter(|(_, share)| *share > 0.0)
            .collect(),
        bytes_per_particle: simulation.bytes() as f64 / particles as f64,
        contacts_per_particle: contacts,
        seconds_per_contact: (contacts > 0.0 && !case.is_fluid()).then(|| {
            let workers = if is_on_cpu { simulation.threads() } else { 1 };
            median * workers as f64 / (steps as f64 * contacts * particles as f64)
        }),
        speedup: None,
        bonds_per_particle: bonds,
        skin,
        entries_per_particle,
        steps: u64::from(repeat) * steps,
        repeats: repeat,
        rebuilds: simulation.rebuilds() - rebuilds,
        kinetic_per_particle: simulation.ledger().kinetic / particles as f64,
        bytes_moved_per_particle_step: moved,
        bandwidth_used: moved * speed(median),
        floor: is_on_cpu.then(|| {
            let copy_bandwidth = bandwidth::of_copying(simulation.threads());
            Floor {
                copy_bandwidth,
                ceiling: copy_bandwidth / moved,
                share_of_ceiling: speed(median) * moved / copy_bandwidth,
            }
        }),
    })
}

impl Measured {
    fn text(&self) -> String {
        let mut text = format!(
            "{}{} · {} · {}{}\n  {} particle-steps/s ({} to {}), {} for {} steps\n",
            self.case,
            self.ratio_of_radii.map_or_else(String::new, |ratio| format!(", radii 1:{ratio}")),
            terminal::many(self.particles, if self.is_fluid { "particle" } else { "grain" }),
            terminal::place(&self.device, self.precision, self.threads),
            if self.assembly == ForceAssembly::Fused.name() {
                String::new()
            } else {
                format!(", {}", self.assembly)
            },
            terminal::scaled(self.particle_steps_per_second, ""),
            terminal::scaled(self.slowest, ""),
            terminal::scaled(self.fastest, ""),
            terminal::scaled(self.seconds, "s"),
            terminal::count(self.steps / u64::from(self.repeats)),
        );
        if let Some(speedup) = self.speedup {
            text += &format!("  {speedup:.2} times as fast as with the first number of threads\n");
        }
        if !self.passes.is_empty() {
            let shares = self.passes.iter().map(|(pass, share)| format!("{pass} {:.1} %", 100.0 * share));
            text += &format!("  {}\n", shares.collect::<Vec<_>>().join(", "));
        }
        text += &format!(
            "  {:.0} bytes, {:.2} contacts and {:.2} bonds a grain, {} rebuilds in {} steps\n",
            self.bytes_per_particle, self.contacts_per_particle, self.bonds_per_particle, self.rebuilds, self.steps
        );
        if let Some(seconds) = self.seconds_per_contact {
            let whose = if self.floor.is_some() { " of a thread" } else { "" };
            text += &format!("  {}{whose} for a contact and step\n", terminal::scaled(seconds, "s"));
        }
        let moved = self.bytes_moved_per_particle_step;
        text + &match &self.floor {
            Some(floor) => format!(
                "  floor: {moved:.0} bytes a particle-step at {} give {} particle-steps/s at most; {:.0} % of that reached",
                terminal::scaled(floor.copy_bandwidth, "B/s"),
                terminal::scaled(floor.ceiling, ""),
                100.0 * floor.share_of_ceiling,
            ),
            None => format!(
                "  {moved:.0} bytes a particle-step at this rate are {}, lists rebuilt not counted",
                terminal::scaled(self.bandwidth_used, "B/s")
            ),
        }
    }
}
