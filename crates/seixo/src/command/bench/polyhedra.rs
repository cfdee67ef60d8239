//! `seixo bench polyhedra`: measures steps of polyhedral grains, in a turning drum and at rest.

mod worlds;

use super::super::{Done, Failure};
use super::median::spread;
use super::{WARMING, failed, refused, seconds_of, warm_up};
use crate::device_options::{DeviceArguments, is_on_cpu};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_engine::Simulation;
use seixo_engine::world::{Settings, World};
use serde::Serialize;
use worlds::{Drum, Form};

/// Largest overlap over the smaller rounding radius \[-\]: cores of two grains that land on each other may come near, and would meet at 2.
const OVERLAP_LIMIT: f64 = 1.6;
/// Steps before the measurement in a drum, if none are given: enough for the few grains of a quick look.
const SETTLE: u64 = 40_000;

/// Measure steps of polyhedral grains
///
/// Rocks or cubes in a drum that turns, filled by about 35 %, start on a lattice and fall while they settle, the longer the more they are. They have
/// settled when the contacts a grain and the speed stay about the same with more steps. Or cubes lie on each other from the first step. Candidates are the
/// pairs in the list: their bounding spheres, with the skin, overlap.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench polyhedra                                        2 000 rocks in a drum, all cores
  seixo bench polyhedra --settle 2000 --steps 50               a quick look: the grains are still falling
  seixo bench polyhedra --device gpu --particles 81000 --settle 80000
  seixo bench polyhedra --shape cube --threads 1,2             cubes in the drum
  seixo bench polyhedra --case rest --device gpu --particles 1000000
                                                               a million cubes at rest: memory, and time of a step")]
pub struct PolyhedraArguments {
    /// What to measure
    #[arg(long, value_enum, default_value = "drum")]
    case: Layout,
    /// Numbers of grains, separated by commas; cubes at rest take the nearest cube
    #[arg(long, value_delimiter = ',', default_values_t = [2000], value_parser = clap::value_parser!(u32).range(1..))]
    particles: Vec<u32>,
    /// Polyhedra in the drum; default: rock. At rest they are cubes
    #[arg(long, value_enum)]
    shape: Option<Form>,
    /// Steps before the measurement, in which the grains settle; default: 40 000 in the drum, 0 at rest
    #[arg(long, value_name = "STEPS")]
    settle: Option<u64>,
    /// Steps of one measurement
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Number of measurements, of which the median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Skin of the neighbor lists, in meters; default: that of a run, which follows the motion
    #[arg(long, value_name = "METERS")]
    skin: Option<f64>,
    /// Time step, in seconds; default: that of a run, from the stiffness of the contacts
    #[arg(long, value_name = "SECONDS")]
    time_step: Option<f64>,
    /// Numbers of CPU threads, separated by commas; 0 = all cores
    #[arg(long, value_delimiter = ',', default_values_t = [0])]
    threads: Vec<usize>,
    #[command(flatten)]
    place: DeviceArguments,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// Where the polyhedra are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum Layout {
    /// In a turning drum
    Drum,
    /// On a lattice, on each other
    Rest,
}

#[derive(Serialize)]
struct Measured {
    case: Layout,
    shape: Form,
    /// Smallest and largest number of faces of a grain.
    faces: [usize; 2],
    drum: Option<Drum>,
    device: String,
    precision: &'static str,
    threads: usize,
    particles: usize,
    particle_steps_per_second: f64,
    slowest: f64,
    fastest: f64,
    /// Seconds of each measurement, in the order of measurement.
    measurements: Vec<f64>,
    /// Steps of one measurement, and time step \[s\].
    steps: u32,
    time_step: f64,
    settle: u64,
    passes: Vec<(&'static str, f64)>,
    share_of_lists: f64,
    rebuilds: u64,
    skin: f64,
    /// Listed pairs, pairs in contact and contacts of all pairs, after the measurement.
    candidates_per_particle: f64,
    touching_pairs_per_particle: f64,
    contacts_per_particle: f64,
    bytes_per_particle: f64,
    kinetic_per_particle: f64,
    /// Root mean square of the speeds \[m/s\].
    speed: f64,
}

/// Runs the measurements.
pub fn polyhedra(arguments: &PolyhedraArguments) -> Done {
    if arguments.case == Layout::Rest && arguments.shape == Some(Form::Rock) {
        return Err(Failure::Input(
            "--shape is rock, must be cube with --case rest: rocks do not lie on a lattice".to_owned(),
        ));
    }
    for &particles in &arguments.particles {
        for &threads in &arguments.threads {
            let measured = measure(arguments, particles as usize, threads)?;
            if arguments.json {
                terminal::json(&measured)?;
            } else {
                terminal::out(&measured.text())?;
            }
        }
    }
    Ok(())
}

impl PolyhedraArguments {
    fn form(&self) -> Form {
        self.shape.unwrap_or(match self.case {
            Layout::Drum => Form::Rock,
            Layout::Rest => Form::Cube,
        })
    }

    fn world(&self, particles: usize) -> Result<(World, Option<Drum>), Failure> {
        let made = match self.case {
            Layout::Drum => worlds::drum(particles, self.form()).map(|(world, drum)| (world, Some(drum))),
            Layout::Rest => worlds::rest(particles).map(|world| (world, None)),
        };
        made.map_err(|error| Failure::Run(error.to_string()))
    }

    fn settings(&self, threads: usize) -> Result<Settings, Failure> {
        let mut settings = Settings {
            threads,
            overlap_limit: OVERLAP_LIMIT,
            skin: self.skin,
            time_step: self.time_step,
            ..Settings::default()
        };
        self.place.apply(&mut settings).map_err(Failure::Input)?;
        Ok(settings)
    }
}

fn measure(arguments: &PolyhedraArguments, particles: usize, threads: usize) -> Result<Measured, Failure> {
    let settings = arguments.settings(threads)?;
    let (world, drum) = arguments.world(particles)?;
    let faces = world.shapes.iter().map(|shape| shape.faces.len());
    let faces = [faces.clone().min(), faces.max()].map(Option::unwrap_or_default);
    let mass: f64 = world.grains.masses.values().sum();
    let mut simulation = Simulation::new(world, settings.clone()).map_err(refused)?;
    simulation
        .notices()
        .iter()
        .for_each(|notice| terminal::note(&format!("note: {notice}")));
    let settle = arguments.settle.unwrap_or(match arguments.case {
        Layout::Drum => SETTLE,
        Layout::Rest => 0,
    });
    simulation.advance(settle).map_err(failed)?;
    if settle == 0 && !is_on_cpu(&simulation) {
        warm_up(arguments.world(particles.min(WARMING))?.0, settings)?;
    }
    let steps = u64::from(arguments.steps);
    // Caches, lists and buffers grow, and a GPU compiles its kernels, at first use.
    simulation.advance((steps / 10).clamp(1, 50)).map_err(failed)?;
    simulation.observe().map_err(failed)?;
    let (rebuilds, before) = (simulation.rebuilds(), simulation.profile().clone());
    let measurements = seconds_of(&mut simulation, steps, arguments.repeat).map_err(failed)?;
    let after = simulation.profile().clone();
    simulation.observe().map_err(failed)?;

    let total: f64 = measurements.iter().sum();
    let passes = after.passes.iter().zip(&before.passes);
    let passes: Vec<(&'static str, f64)> = passes
        .map(|(now, before)| (now.0, (now.1 - before.1) / total))
        .filter(|(_, share)| *share > 0.0)
        .collect();
    let of_lists = passes.iter().filter(|(pass, _)| pass.ends_with("neighbor lists"));
    let share_of_lists = of_lists.map(|(_, share)| share).sum();
    let [shortest, median, longest] = spread(measurements.iter().copied());
    let particles = simulation.len();
    let speed = |seconds: f64| (particles as u64 * steps) as f64 / seconds;
    let each = |number: f64| number / particles as f64;
    let kinetic = simulation.ledger().kinetic;
    let [candidates, touching, contacts] = simulation.polyhedral_pairs().map(|pairs| each(pairs as f64));
    Ok(Measured {
        case: arguments.case,
        shape: arguments.form(),
        faces,
        drum,
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        particles,
        particle_steps_per_second: speed(median),
        slowest: speed(longest),
        fastest: speed(shortest),
        measurements,
        steps: arguments.steps,
        time_step: simulation.time_step().value,
        settle,
        passes,
        share_of_lists,
        rebuilds: simulation.rebuilds() - rebuilds,
        skin: simulation.skin(),
        candidates_per_particle: candidates,
        touching_pairs_per_particle: touching,
        contacts_per_particle: contacts,
        bytes_per_particle: each(simulation.bytes() as f64),
        kinetic_per_particle: each(kinetic),
        speed: (2.0 * kinetic / mass).sqrt(),
    })
}

impl Measured {
    fn text(&self) -> String {
        let [fewest, most] = self.faces;
        let form = match self.shape {
            Form::Rock => "rock",
            Form::Cube => "cube",
        };
        let place = match &self.drum {
            Some(drum) => format!(
                "in a drum of {}, {:.0} % full",
                terminal::scaled(drum.radius, "m"),
                100.0 * drum.fill
            ),
            None => "at rest".to_owned(),
        };
        let shares = self.passes.iter().map(|(pass, share)| format!("{pass} {:.1} %", 100.0 * share));
        format!(
            "polyhedra · {} of {fewest} to {most} faces {place} · {}\n  {} polyhedra-steps/s ({} to {}), {} steps of {} after {}\n  {}\n  \
             {:.2} candidate pairs, {:.2} pairs in contact, {:.2} contacts and {:.0} bytes a grain, at {}\n  {} rebuilds, {:.1} % of the time in lists",
            terminal::many(self.particles, form),
            terminal::place(&self.device, self.precision, self.threads),
            terminal::scaled(self.particle_steps_per_second, ""),
            terminal::scaled(self.slowest, ""),
            terminal::scaled(self.fastest, ""),
            terminal::count(u64::from(self.steps)),
            terminal::scaled(self.time_step, "s"),
            terminal::count(self.settle),
            shares.collect::<Vec<_>>().join(", "),
            self.candidates_per_particle,
            self.touching_pairs_per_particle,
            self.contacts_per_particle,
            self.bytes_per_particle,
            terminal::scaled(self.speed, "m/s"),
            self.rebuilds,
            100.0 * self.share_of_lists,
        )
    }
}
