//! `seixo check`: is a scene right, how large is it, how long will it take.

use super::{Changes, Done, Failure};
use crate::say;
use clap::Args;
use seixo::Simulation;
use seixo::files::layer::Disk;
use seixo::run::{Course, folder};
use seixo::scene::{Inlet, Scene};
use seixo_engine::deepest_overlap;
use seixo_engine::world::{FluidInlet, Fluids, World};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Instant;

/// Check a scene: units, geometry, overlaps, time step, stages; size, memory and estimated time. Writes nothing
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo check silo.toml
  seixo check silo.toml --set \"grains.bed.fill.count=1000000\" --json

Exit code 0 if the scene can be run, 2 if not. The estimated time comes from half a second of steps that are thrown away.")]
pub struct CheckArguments {
    /// The scene file
    scene: PathBuf,
    #[command(flatten)]
    changes: Changes,
    /// Print one JSON object on the standard output
    #[arg(long)]
    json: bool,
}

/// Wall time given to the trial that the estimate comes from \[s\].
const TRIAL: f64 = 0.5;

/// Steps of the trial between two looks at the clock: enough for a GPU, which runs them in batches.
const MOST_AT_ONCE: u64 = 256;

#[derive(Serialize)]
struct Findings {
    scene: PathBuf,
    title: String,
    grains: usize,
    groups: Vec<(String, usize)>,
    radius: [f64; 2],
    /// Rigid bodies by groups: how many, and masses of the lightest and the heaviest.
    bodies: Vec<(String, usize, [f64; 2])>,
    /// Particles of fluids, by their names.
    fluids: Vec<(String, usize)>,
    /// Particles of walls.
    boundary_particles: usize,
    inlets: Vec<String>,
    outlets: Vec<String>,
    zones: Vec<String>,
    stages: Vec<String>,
    walls: Vec<String>,
    materials: Vec<String>,
    time_step: f64,
    time_step_limit: f64,
    time_step_cause: String,
    until: f64,
    steps: u64,
    deepest_overlap: Option<(u32, u32, f64)>,
    memory: u64,
    output: u64,
    free: u64,
    device: String,
    precision: &'static str,
    threads: usize,
    particle_steps_per_second: Option<f64>,
    estimated_time: Option<f64>,
    notices: Vec<String>,
}

/// Checks the scene.
pub fn check(arguments: &CheckArguments) -> Done {
    let found = arguments.changes.load(&arguments.scene).and_then(|scene| examine(arguments, scene));
    let found = found.map_err(|failure| failure.told(arguments.json))?;
    if arguments.json {
        say::json(&found)
    } else {
        say::out(&found.text())
    }
}

fn examine(arguments: &CheckArguments, scene: Scene) -> Result<Findings, Failure> {
    let refused = |refusal: seixo::Refusal| match scene.source.explain(&refusal) {
        Some(found) => Failure::Scene(Box::new(found)),
        None => Failure::Input(format!("{}: {refusal}", arguments.scene.display())),
    };
    let world = scene.world.clone();
    let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone()).map_err(refused)?;
    let step = simulation.time_step().clone();
    if let Some(found) = scene.source.endless(scene.run.until, step.value) {
        return Err(Failure::Scene(Box::new(found)));
    }
    let memory = simulation.bytes();
    let later = world.later.grains.iter().flat_map(|kind| &kind.radius);
    let radius = world
        .grains
        .radius
        .iter()
        .chain(later)
        .fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], &r| [low.min(r), high.max(r)]);
    let radius = if radius[1] > 0.0 { radius } else { [0.0; 2] };
    let fluids: Vec<(String, usize)> = world.fluids.as_ref().map_or_else(Vec::new, |fluids| {
        let size_of = |index: usize| fluids.particles.kind.iter().filter(|&&kind| kind as usize == index).count();
        let kinds = fluids.kinds.iter().enumerate();
        kinds.map(|(index, kind)| (kind.name.clone(), size_of(index))).collect()
    });
    let groups = world.groups.iter().enumerate();
    let size_of = |index: usize| world.grains.group.iter().filter(|&&group| group as usize == index).count();
    let mut notices = [&scene.notices, simulation.notices()].concat();
    notices.extend(scene.run.too_short(step.value));
    let steps = scene.run.steps(step.value);
    // Before the first step all places are known, so what happens then can be tried.
    let begun = match Course::new(&scene.plan, step.value).happen(&mut simulation) {
        Ok(_) => Ok(()),
        Err(seixo::Refusal::Stopped(stop)) => Err(*stop),
        Err(refusal) => return Err(refused(refusal)),
    };
    let speed = begun
        .and_then(|()| trial(&mut simulation, steps))
        .map_err(|stop| notices.push(format!("the run will stop early: {stop}")))
        .ok();
    Ok(Findings {
        scene: arguments.scene.clone(),
        title: scene.title.clone(),
        grains: world.grains.len(),
        groups: groups.map(|(index, name)| (name.clone(), size_of(index))).collect(),
        radius,
        bodies: bodies(&world),
        fluids,
        boundary_particles: world.fluids.as_ref().map_or(0, |fluids| fluids.boundary.wall.len()),
        inlets: inlets(&scene),
        outlets: scene.plan.fluid_outlets.clone(),
        zones: scene.plan.zones.iter().map(|zone| zone.name.clone()).collect(),
        stages: scene.plan.stages.iter().map(|stage| stage.text.clone()).collect(),
        walls: world.walls.iter().map(|wall| wall.name.clone()).collect(),
        materials: world.materials.iter().map(|material| material.name.clone()).collect(),
        time_step: step.value,
        time_step_limit: step.limit,
        time_step_cause: step.cause,
        until: scene.run.until,
        steps,
        deepest_overlap: deepest_overlap(&world),
        memory,
        output: seixo::run::expected_output(&scene, world.grains.len(), step.value),
        free: folder::free_space(&Disk, &folder::of_scene(&arguments.scene))?,
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        particle_steps_per_second: speed,
        estimated_time: speed
            .map(|speed| steps as f64 * (world.grains.len() + simulation.fluid_particles()) as f64 / speed)
            .filter(|time| time.is_finite()),
        notices,
    })
}

/// The rigid bodies of each group that has some: how many, and masses of the lightest and the heaviest.
fn bodies(world: &World) -> Vec<(String, usize, [f64; 2])> {
    let groups: HashMap<u32, u32> = world.grains.id.iter().copied().zip(world.grains.group.iter().copied()).collect();
    let mut masses: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for body in &world.grains.bodies {
        let group = body.carries.first().and_then(|(id, _)| groups.get(id));
        if let Some(group) = group {
            masses.entry(*group).or_default().push(body.mass);
        }
    }
    let of_group = |(group, masses): (u32, Vec<f64>)| {
        let lightest = masses.iter().copied().fold(f64::INFINITY, f64::min);
        let heaviest = masses.iter().copied().fold(0.0, f64::max);
        (world.groups[group as usize].clone(), masses.len(), [lightest, heaviest])
    };
    masses.into_iter().map(of_group).collect()
}

/// An inlet of grains in a line.
fn described(inlet: &Inlet, until: f64) -> String {
    let [from, to] = [inlet.from, inlet.to.min(until)].map(|time| say::scaled(time, "s"));
    let grains = say::count(inlet.grains_until(until) as u64);
    format!("{}, {} from {from} to {to}, about {grains} grains", inlet.name, inlet.rate)
}

/// All inlets, a line for each.
fn inlets(scene: &Scene) -> Vec<String> {
    let until = scene.run.until;
    let mut lines: Vec<String> = scene.plan.inlets.iter().map(|inlet| described(inlet, until)).collect();
    if let Some(fluids) = &scene.world.fluids {
        lines.extend(fluids.inlets.iter().map(|inlet| described_of_fluid(inlet, fluids, until)));
    }
    lines
}

/// An inlet of a fluid in a line.
fn described_of_fluid(inlet: &FluidInlet, fluids: &Fluids, until: f64) -> String {
    let [from, to] = [inlet.from, inlet.to.min(until)].map(|time| say::scaled(time, "s"));
    let particles = say::count(inlet.particles_until(until, fluids.spacing) as u64);
    let (fluid, speed) = (&fluids.kinds[inlet.kind as usize].name, say::scaled(inlet.speed, "m/s"));
    let layer = inlet.sites.len();
    format!(
        "{}, {fluid} at {speed} in layers of {layer} from {from} to {to}, about {particles} particles",
        inlet.name
    )
}

/// Particle-steps per second of the first steps.
fn trial(simulation: &mut Simulation, most: u64) -> Result<f64, seixo::Stop> {
    // A GPU compiles its kernels at their first use.
    if most > 1 {
        simulation.advance(1)?;
    }
    let (clock, mut particle_steps, mut steps) = (Instant::now(), 0.0, 1);
    while clock.elapsed().as_secs_f64() < TRIAL && simulation.steps() < most {
        simulation.advance(steps)?;
        particle_steps += steps as f64 * (simulation.len() + simulation.fluid_particles()) as f64;
        steps = (2 * steps).min(MOST_AT_ONCE).min(most - simulation.steps());
    }
    Ok(particle_steps / clock.elapsed().as_secs_f64())
}

impl Findings {
    fn text(&self) -> String {
        let groups: Vec<String> = self
            .groups
            .iter()
            .map(|(name, size)| format!("{} {name}", say::count(*size as u64)))
            .collect();
        let radii = self.radius.map(|radius| say::scaled(radius, "m"));
        let radii = if radii[0] == radii[1] {
            radii[0].clone()
        } else {
            radii.join(" to ")
        };
        let overlap = self.deepest_overlap.map_or("none at the start".to_owned(), |(a, b, depth)| {
            format!("{} at the start, the deepest, between grains {a} and {b}", say::scaled(depth, "m"))
        });
        let of_grains = |line: String| if self.groups.is_empty() { String::new() } else { line };
        let lines = [
            (
                "grains",
                of_grains(format!(
                    "{} ({}), radius {radii}",
                    say::count(self.grains as u64),
                    groups.join(", ")
                )),
            ),
            ("bodies", self.bodies()),
            ("fluids", self.fluids()),
            ("materials", of_grains(self.materials.join(", "))),
            (
                "walls",
                if self.walls.is_empty() {
                    "none".to_owned()
                } else {
                    self.walls.join(", ")
                },
            ),
            ("overlap", of_grains(overlap)),
            ("inlets", self.inlets.join("; ")),
            ("outlets", self.outlets.join(", ")),
            ("zones", self.zones.join(", ")),
            ("stages", self.stages.join("; ")),
            (
                "time step",
                format!(
                    "{}; stable below {}, set by {}",
                    say::scaled(self.time_step, "s"),
                    say::scaled(self.time_step_limit, "s"),
                    self.time_step_cause
                ),
            ),
            (
                "run",
                format!(
                    "{} in {} step{}",
                    say::scaled(self.until, "s"),
                    say::count(self.steps),
                    if self.steps == 1 { "" } else { "s" }
                ),
            ),
            (
                "memory",
                format!(
                    "{}, {} a {}",
                    say::scaled(self.memory as f64, "B"),
                    self.memory / self.particles().max(1) as u64,
                    if self.fluids.is_empty() { "grain" } else { "particle" }
                ),
            ),
            (
                "output",
                format!(
                    "about {}; {} are free here",
                    say::scaled(self.output as f64, "B"),
                    say::scaled(self.free as f64, "B")
                ),
            ),
            ("time", self.time()),
        ];
        let mut text = format!("{}: {}\n", self.scene.display(), self.title);
        for (what, line) in lines.into_iter().filter(|(_, line)| !line.is_empty()) {
            text += &format!("  {what:10} {line}\n");
        }
        self.notices.iter().for_each(|notice| text += &format!("note: {notice}\n"));
        text + &format!("right; next: seixo run {}", self.scene.display())
    }

    /// Grains, and particles of fluids.
    fn particles(&self) -> usize {
        self.grains + self.fluids.iter().map(|(_, size)| size).sum::<usize>()
    }

    /// Rigid bodies and their masses, in a line.
    fn bodies(&self) -> String {
        let named = |(name, count, [lightest, heaviest]): &(String, usize, [f64; 2])| {
            let [from, to] = [lightest, heaviest].map(|mass| say::scaled(1e3 * mass, "g"));
            let masses = if from == to { from } else { format!("{from} to {to}") };
            format!("{} {name} of {masses}", say::count(*count as u64))
        };
        self.bodies.iter().map(named).collect::<Vec<String>>().join(", ")
    }

    /// Particles of fluids and of what bounds them, in a line.
    fn fluids(&self) -> String {
        if self.fluids.is_empty() {
            return String::new();
        }
        let named = |(name, size): &(String, usize)| format!("{} {name}", say::count(*size as u64));
        let fluids: Vec<String> = self.fluids.iter().map(named).collect();
        let of_walls = say::count(self.boundary_particles as u64);
        format!("{} particles, {of_walls} particles of walls", fluids.join(", "))
    }

    fn time(&self) -> String {
        let (Some(time), Some(speed)) = (self.estimated_time, self.particle_steps_per_second) else {
            let reason = if self.particles() == 0 {
                "grains are still to come"
            } else {
                "the first steps fail"
            };
            return format!("unknown, because {reason}");
        };
        format!(
            "about {} on {}, at the {} particle-steps/s of the first steps; contacts that are still to come add to it",
            say::duration(time),
            say::place(&self.device, self.precision, self.threads),
            say::scaled(speed, ""),
        )
    }
}
