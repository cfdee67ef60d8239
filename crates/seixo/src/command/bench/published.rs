//! `seixo bench published`: whole runs, with frames, of set-ups for which others published wall times.

mod cases;
mod power;
mod publications;
mod shares;

use super::super::watch::signals;
use super::super::{Done, Failure, create_folder};
use super::bandwidth;
use crate::device_options::DeviceArguments;
use crate::run::folder::PROFILE;
use crate::run::{Control, Event, Observer, Options, Outcome, Record, start};
use crate::terminal;
use cases::Case;
use clap::{Args, ValueEnum};
use power::PowerMeter;
use publications::Published;
use seixo_engine::world::Precision;
use seixo_scene::load_text;
use serde::Serialize;
use shares::Shares;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run whole set-ups for which other programs published wall times, with frames, and print both
///
/// The scenes are built in and need no files. Where a publication starts from a packing of its own, the grains start from another one here; comments
/// in the scenes give all differences. Published wall times are of other machines, and count what their sources count.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench published --short                        all cases with few particles: does it run here
  seixo bench published drum --device gpu              the drum of PhasicFlow with a million grains
  seixo bench published drum --size 250k,8M --device cuda --precision mixed --json
  seixo bench published drum --until \"0.4 s\" --device gpu
                                                       a tenth of it: rates without the whole time
  seixo bench published dam-break --size 1M --device gpu --out runs
                                                       and keep the run folder, runs/dam-break-1000000

Whole cases take minutes on a GPU, and up to days on few cores. Ctrl-C stops.

The table has one line a case, and under it the published lines of its size: particles, steps, wall time, particle-steps a second, bytes a particle;
of the wall time the shares of steps, of rebuilds of neighbor lists, and of outputs that the run waits for; energy per particle-step.

With --json, one object a case:
  case, device, precision, threads                     what ran, and where
  is_whole                                             whether neither --short nor --until shortened it
  particles, time_step, steps, simulated               particles at the start; time step [s]; steps; simulated time [s]
  seconds, run_seconds                                 wall time from reading the scene to the last file [s]; of the run without its start [s]
  particle_steps, particle_steps_per_second            particles times steps, less what left; the same over run_seconds
  bytes_per_particle                                   arrays of the simulation at the end over the particles at the start
  share_of_steps, share_of_lists, share_of_outputs     shares of run_seconds
  rebuilds, contacts_per_particle                      rebuilds of neighbor lists; contacts at the end
  bytes_moved_per_particle_step, bandwidth_used        memory traffic of the steps as in seixo bench, and its rate [B/s]; null for silo and dam-break
  copy_bandwidth, share_of_ceiling                     on the CPU: speed of a copy [B/s], and the share of it that is used
  mean_power, energy, energy_per_particle_step         of the NVIDIA card, read by nvidia-smi: [W], [J] in seconds, [J]; else null
  published                                            program, hardware, particles, steps, seconds, particle_steps_per_second, bytes_per_particle, source")]
pub struct PublishedArguments {
    /// Cases to run; default: all
    #[arg(value_enum, value_name = "CASE")]
    cases: Vec<Case>,
    /// Numbers of particles, separated by commas: 250k, 500k, 1M, 2M, 4M or 8M for drum, any from 5000 on for dam-break. Default: 1M and a spacing of 20 mm
    #[arg(long = "size", value_name = "PARTICLES", value_delimiter = ',', value_parser = cases::particles, conflicts_with = "short")]
    sizes: Vec<u32>,
    /// Run small versions that take seconds on two cores; they compare with nothing
    #[arg(long)]
    short: bool,
    /// Simulated time at which the runs end, such as "0.4 s"; default: that of the publication
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Number of CPU threads; 0 = all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Folder that keeps the run folders, named CASE or CASE-PARTICLES; default: a temporary folder, which is removed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    place: DeviceArguments,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// Measurement of a case.
#[derive(Serialize)]
struct Measured {
    case: &'static str,
    device: String,
    precision: String,
    threads: usize,
    is_whole: bool,
    particles: usize,
    time_step: f64,
    steps: u64,
    simulated: f64,
    seconds: f64,
    run_seconds: f64,
    particle_steps: f64,
    particle_steps_per_second: f64,
    bytes_per_particle: f64,
    #[serde(flatten)]
    shares: Shares,
    rebuilds: u64,
    contacts_per_particle: f64,
    #[serde(flatten)]
    traffic: Traffic,
    mean_power: Option<f64>,
    energy: Option<f64>,
    energy_per_particle_step: Option<f64>,
    published: Vec<Published>,
}

/// Memory traffic of the steps, if it can be counted, and on a CPU its limit.
#[derive(Default, Serialize)]
struct Traffic {
    bytes_moved_per_particle_step: Option<f64>,
    bandwidth_used: Option<f64>,
    copy_bandwidth: Option<f64>,
    share_of_ceiling: Option<f64>,
}

/// Notes how many particles a run starts with.
#[derive(Default)]
struct Opening {
    particles: usize,
}

impl Observer for Opening {
    fn event(&mut self, event: &Event) {
        if let Event::Started {
            title,
            grains,
            fluid_particles,
            device,
            until,
            time_step,
            ..
        } = event
        {
            self.particles = grains + fluid_particles;
            terminal::note(&format!(
                "{title}: {}, {} steps on {device}",
                terminal::many(self.particles, "particle"),
                terminal::count((until / time_step).round() as u64)
            ));
        }
    }
}

/// Runs the cases.
pub fn published(arguments: &PublishedArguments) -> Done {
    let cases = match arguments.cases.as_slice() {
        [] => Case::value_variants(),
        asked => asked,
    };
    let sizes: Vec<Option<u32>> = match arguments.sizes.as_slice() {
        [] => vec![None],
        asked => asked.iter().copied().map(Some).collect(),
    };
    // A size that a case does not have is reported before the first run, which may take hours.
    let mut runs = Vec::new();
    for &case in cases {
        for &size in &sizes {
            let changes = if arguments.short {
                case.short()
            } else {
                case.sized(size).map_err(Failure::Input)?
            };
            runs.push((case, size, changes));
        }
    }
    let temporary = std::env::temp_dir().join(format!("seixo-bench-published-{}", std::process::id()));
    let root = arguments.out.as_ref().unwrap_or(&temporary);
    for (case, size, _) in &runs {
        let folder = folder_of(root, *case, *size);
        if folder.exists() {
            let remedy = "name another folder with --out, or remove it";
            return Err(Failure::Input(format!("{} exists; {remedy}", folder.display())));
        }
    }
    create_folder(root)?;
    let ran = measure_all(&runs, root, arguments);
    if arguments.out.is_none() {
        // The result of the measurement is returned even if the removal fails.
        let _ = std::fs::remove_dir_all(&temporary);
    }
    ran
}

/// A case, its number of particles if it is not the usual one, and the changes of its scene.
type Planned = (Case, Option<u32>, Vec<(String, String)>);

fn measure_all(runs: &[Planned], root: &Path, arguments: &PublishedArguments) -> Done {
    let control = signals()?;
    if !arguments.json {
        terminal::out(&heads())?;
    }
    for run in runs {
        let measured = measure(run, root, &control, arguments)?;
        if arguments.json {
            terminal::json(&measured)?;
        } else {
            terminal::out(&measured.text())?;
        }
    }
    Ok(())
}

/// Run folder of a case below `root`.
fn folder_of(root: &Path, case: Case, size: Option<u32>) -> PathBuf {
    let name = case.name();
    root.join(size.map_or_else(|| name.to_owned(), |size| format!("{name}-{size}")))
}

/// Runs a case into a folder below `root`.
fn measure((case, size, changes): &Planned, root: &Path, control: &Control, arguments: &PublishedArguments) -> Result<Measured, Failure> {
    let folder = folder_of(root, *case, *size);
    let mut changes = changes.clone();
    changes.extend(arguments.place.overrides());
    changes.push(("run.threads".to_owned(), arguments.threads.to_string()));
    changes.extend(arguments.until.clone().map(|until| ("run.until".to_owned(), until)));
    let meter = PowerMeter::start();
    let clock = Instant::now();
    let mut opening = Opening::default();
    let ran = run(*case, &changes, &folder, control, &mut opening);
    let seconds = clock.elapsed().as_secs_f64();
    let device = ran.as_ref().map_or("", |record| record.device.as_str());
    let mean_power = meter.and_then(|meter| meter.finish(device));
    let record = ran?;
    let path = folder.join(PROFILE);
    let profile = std::fs::read_to_string(&path).map_err(|error| Failure::Run(format!("{}: cannot read it: {error}", path.display())))?;
    if arguments.out.is_none() {
        // Frames of large cases need gigabytes. The next case runs even if they stay.
        let _ = std::fs::remove_dir_all(&folder);
    }
    let shares = Shares::of(&profile, record.wall_time);
    let particles = opening.particles.max(1);
    let at_end = (record.grains + record.fluid_particles).max(1);
    let contacts = record.contacts as f64 / particles as f64;
    let energy = mean_power.map(|power| power * seconds);
    // Only the drum has published lines of several sizes.
    let is_comparable = |line: &Published| !arguments.short && (*case != Case::Drum || line.particles as usize == particles);
    Ok(Measured {
        case: case.name(),
        is_whole: !arguments.short && arguments.until.is_none(),
        particles,
        time_step: record.time_step.value,
        steps: record.steps,
        simulated: record.time,
        seconds,
        run_seconds: record.wall_time,
        particle_steps: record.particle_steps,
        particle_steps_per_second: record.particle_steps_per_second,
        bytes_per_particle: record.bytes_per_particle * at_end as f64 / particles as f64,
        rebuilds: record.rebuilds,
        contacts_per_particle: contacts,
        traffic: Traffic::of(*case, &record, contacts, shares.steps),
        shares,
        mean_power,
        energy,
        energy_per_particle_step: energy.map(|energy| energy / record.particle_steps),
        published: publications::of(*case).into_iter().filter(is_comparable).collect(),
        device: record.device,
        precision: record.precision,
        threads: record.threads,
    })
}

/// Runs the scene of a case to its end, and returns the record of the run.
fn run(case: Case, changes: &[(String, String)], folder: &Path, control: &Control, opening: &mut Opening) -> Result<Record, Failure> {
    let file = format!("{}.toml", case.name());
    let scene = load_text(case.scene(), Path::new(&file), changes).map_err(|found| Failure::Scene(Box::new(found)))?;
    let options = Options {
        control: control.clone(),
        ..Options::new(opening)
    };
    let record = start(scene, folder, options)?.record;
    match record.result {
        Outcome::Finished => Ok(record),
        _ => Err(Failure::Interrupted(format!("{} was stopped; it is not measured", case.name()))),
    }
}

impl Traffic {
    /// Traffic of the steps of a run, which took this share of its wall time. A copy is timed on the CPU only.
    fn of(case: Case, record: &Record, contacts: f64, share_of_steps: f64) -> Traffic {
        let known = [Precision::F64, Precision::Mixed, Precision::F32];
        let precision = known.into_iter().find(|precision| precision.name() == record.precision);
        let (Some(counted), Some(precision)) = (case.traffic(), precision) else {
            return Traffic::default();
        };
        // Grains are on the cores also where fluids are on a GPU.
        let is_on_cpu = record.device.starts_with("CPU");
        let moved = if is_on_cpu {
            let of_grains = if record.device == "CPU" { precision } else { Precision::F64 };
            counted.bytes_moved(contacts, 0.0, of_grains)
        } else {
            counted.bytes_moved_on_gpu(contacts, 0.0, precision)
        };
        let used = moved * record.particle_steps / (share_of_steps * record.wall_time);
        let copy_bandwidth = is_on_cpu.then(|| bandwidth::of_copying(record.threads));
        Traffic {
            bytes_moved_per_particle_step: Some(moved),
            bandwidth_used: Some(used),
            copy_bandwidth,
            share_of_ceiling: copy_bandwidth.map(|copy| used / copy),
        }
    }
}

/// Column headers of the table.
fn heads() -> String {
    line([
        "case, device",
        "particles",
        "steps",
        "wall time",
        "particle-steps/s",
        "bytes",
        "in steps",
        "in lists",
        "in outputs",
        "energy",
    ])
}

impl Measured {
    /// Line of the table, and under it the published lines.
    fn text(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let own = line([
            &format!("{} · {}", self.case, terminal::place(&self.device, &self.precision, self.threads)),
            &terminal::count(self.particles as u64),
            &terminal::count(self.steps),
            &terminal::duration(self.seconds),
            &terminal::scaled(self.particle_steps_per_second, ""),
            &format!("{:.0}", self.bytes_per_particle),
            &percent(self.shares.steps),
            &percent(self.shares.lists),
            &percent(self.shares.outputs),
            &self
                .energy_per_particle_step
                .map_or_else(String::new, |energy| terminal::scaled(energy, "J")),
        ]);
        let published = self.published.iter().map(published_line);
        std::iter::once(own).chain(published).collect::<Vec<_>>().join("\n")
    }
}

/// Line of the table for another program.
fn published_line(of: &Published) -> String {
    line([
        &format!("  {} · {}", of.program, of.hardware),
        &terminal::count(u64::from(of.particles)),
        &terminal::count(of.steps),
        &terminal::duration(of.seconds),
        &terminal::scaled(of.particle_steps_per_second, ""),
        &of.bytes_per_particle.map_or_else(String::new, |bytes| format!("{bytes:.0}")),
        "",
        "",
        "",
        "",
    ])
}

/// Formats a line of the table.
fn line(cells: [&str; 10]) -> String {
    let [
        case,
        particles,
        steps,
        seconds,
        speed,
        bytes,
        of_steps,
        of_lists,
        of_outputs,
        energy,
    ] = cells;
    let text = format!(
        "{case:<48}  {particles:>10}  {steps:>9}  {seconds:>12}  {speed:>16}  {bytes:>5}  {of_steps:>8}  {of_lists:>8}  {of_outputs:>10}  {energy:>8}"
    );
    text.trim_end().to_owned()
}
