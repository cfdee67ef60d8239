//! `seixo check`: checks a scene, and estimates its size, memory and run time.

mod sizes;

use super::{Done, Failure, SceneChanges};
use crate::run::{RunError, StageRunner, folder};
use crate::terminal;
use clap::Args;
use seixo_engine::world::{Body, FluidInlet, Fluids, World};
use seixo_engine::{Simulation, deepest_overlap};
use seixo_files::layer::Disk;
use seixo_scene::{Inlet, Scene};
use serde::Serialize;
use sizes::{BodySize, WallSize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Check units, geometry, overlaps, time step and stages of a scene; print size, memory and estimated time. Writes nothing
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo check silo.toml
  seixo check silo.toml --passes
  seixo check silo.toml --set \"grains.bed.fill.count=1000000\" --json

Exit code 0 if the scene can be run, 1 if its first steps fail, 2 if it is wrong.
The estimated time comes from half a second of steps that are thrown away. It is the
least time if grains hardly touch in these steps, or enter later.")]
pub struct CheckArguments {
    /// Scene file, such as silo.toml
    scene: PathBuf,
    #[command(flatten)]
    changes: SceneChanges,
    /// Also list the passes of a time step, in order, with the line of profile.csv that has their time
    #[arg(long)]
    passes: bool,
    /// Print one JSON object on the standard output
    #[arg(long)]
    json: bool,
}

/// Wall time of the trial for the estimate \[s\].
const TRIAL: f64 = 0.5;

/// Contacts per grain or body that forces move, each counted once, below which no bed carries itself: steps take longer once grains lie on others.
const CONTACTS_OF_BED: f64 = 1.0;

/// Largest number of trial steps between two looks at the clock: enough for a GPU, which runs steps in batches.
const MAX_AT_ONCE: u64 = 256;

#[derive(Serialize)]
struct Findings {
    scene: PathBuf,
    title: String,
    grains: usize,
    groups: Vec<(String, usize)>,
    radius: [f64; 2],
    /// Rigid bodies of each group: number, and mass of the lightest and the heaviest \[kg\].
    bodies: Vec<(String, usize, [f64; 2])>,
    /// The heaviest body of each group that moves freely.
    body_sizes: Vec<BodySize>,
    /// Number of particles of each fluid, with its name.
    fluids: Vec<(String, usize)>,
    /// Number of wall particles.
    boundary_particles: usize,
    inlets: Vec<String>,
    outlets: Vec<String>,
    zones: Vec<String>,
    stages: Vec<String>,
    walls: Vec<String>,
    wall_sizes: Vec<WallSize>,
    materials: Vec<String>,
    time_step: f64,
    time_step_limit: f64,
    time_step_cause: String,
    until: f64,
    steps: u64,
    deepest_overlap: Option<(u32, u32, f64)>,
    /// Memory at the start \[bytes\].
    memory: u64,
    /// Estimated numbers of grains and of fluid particles that enter later.
    entering_later: [u64; 2],
    output: u64,
    free: u64,
    device: String,
    precision: &'static str,
    threads: usize,
    particle_steps_per_second: Option<f64>,
    /// Contacts with grains and walls per grain after the first steps.
    contacts_per_grain: Option<f64>,
    /// Whether the grains that forces move have fewer contacts than in a bed.
    #[serde(skip)]
    is_loose: bool,
    estimated_time: Option<f64>,
    /// Whether the run takes this time at least, as grains will touch more, or more will enter.
    time_is_lower_bound: bool,
    /// Passes of a time step, if they are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passes: Vec<Pass>,
    notices: Vec<String>,
    /// Why the run will stop in its first steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<String>,
}

/// A pass of a time step.
#[derive(Serialize)]
struct Pass {
    name: &'static str,
    population: &'static str,
    profile: &'static str,
    /// Whether domains exchange data.
    exchanges: bool,
    /// What does it on a GPU.
    on_gpu: &'static str,
}

/// Checks the scene.
pub fn check(arguments: &CheckArguments) -> Done {
    let file = &arguments.scene;
    let found = arguments.changes.load(file).and_then(|scene| {
        examine(scene, file, arguments.passes).map_err(|error| match error {
            RunError::Refused(refusal) => Failure::Input(format!("{}: {refusal}", file.display())),
            error => error.into(),
        })
    });
    let found = found.map_err(|failure| failure.with_json(arguments.json))?;
    if arguments.json {
        terminal::json(&found)?;
    } else {
        terminal::out(&found.text())?;
    }
    found
        .stop
        .map_or(Ok(()), |stop| Err(Failure::Run(format!("{}: {stop}", file.display()))))
}

/// Text and JSON of what the command finds in a scene that was read from this file.
///
/// # Errors
/// If the world is refused, or the run has no end.
pub fn findings(scene: Scene, file: &Path) -> Result<(String, serde_json::Value), RunError> {
    let found = examine(scene, file, false)?;
    let values = serde_json::to_value(&found).unwrap_or_default();
    let stop = found.stop.as_ref().map_or_else(String::new, |stop| format!("\nerror: {stop}"));
    Ok((found.text() + &stop, values))
}

fn examine(scene: Scene, file: &Path, with_passes: bool) -> Result<Findings, RunError> {
    let refused = |refusal: seixo_engine::WorldError| match scene.source.explain(&refusal) {
        Some(found) => RunError::Scene(found),
        None => RunError::Refused(refusal),
    };
    let world = scene.world.clone();
    let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone()).map_err(refused)?;
    let step = simulation.time_step().clone();
    if let Some(found) = scene.source.endless(scene.run.until, &step) {
        return Err(RunError::Scene(found));
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
    notices.extend(scene.doubts());
    if !world.grains.is_empty() && simulation.skin() > 0.0 && !simulation.has_neighbor_lists() {
        notices.push(
            "run.search names a grid, so contacts without friction are searched at every step. With \"auto\" they have a neighbor list, which \
             is usually faster"
                .to_owned(),
        );
    }
    let steps = scene.run.steps(step.value);
    let passes = if with_passes { passes(&simulation) } else { Vec::new() };
    // All positions are known before the first step, so the actions at the start can be tried.
    let mut stages = StageRunner::new(&scene.plan, step.value);
    let begun = match stages.happen(&mut simulation) {
        Ok(_) => Ok(()),
        Err(seixo_engine::WorldError::Stopped(stop)) => Err(*stop),
        Err(refusal) => return Err(refused(refusal)),
    };
    // The trial has no later actions, which may keep the run from stopping.
    let is_certain = begun.is_err() || stages.is_empty() && scene.plan.region_servos.is_empty();
    let tried = begun.and_then(|()| trial(&mut simulation, steps));
    let mut stop = None;
    match &tried {
        Err(cause) if is_certain => stop = Some(format!("the run will stop early: {cause}")),
        Err(cause) => notices.push(format!(
            "the run will stop early, unless its stages, inlets, zones or servos prevent it: {cause}"
        )),
        Ok(_) => {}
    }
    let tried = tried.ok();
    let speed = tried.as_ref().map(|trial| trial.speed);
    let entering_later = crate::run::entering_later(&scene).map(|number| number.round() as u64);
    let touching = tried.filter(|trial| trial.grains > 0);
    let contacts_per_grain = touching.as_ref().map(|trial| trial.contacts as f64 / trial.grains as f64);
    let is_loose = fluids.is_empty() && world.bonds.is_empty() && touching.is_some_and(|trial| trial.is_loose(&world.grains.bodies));
    Ok(Findings {
        scene: file.to_owned(),
        title: scene.title.clone(),
        grains: world.grains.len(),
        groups: groups.map(|(index, name)| (name.clone(), size_of(index))).collect(),
        radius,
        bodies: bodies(&world),
        body_sizes: sizes::of_bodies(&world),
        fluids,
        boundary_particles: world.fluids.as_ref().map_or(0, |fluids| fluids.boundary.wall.len()),
        inlets: inlets(&scene),
        outlets: scene.plan.fluid_outlets.clone(),
        zones: scene.plan.zones.iter().map(|zone| zone.name.clone()).collect(),
        stages: scene.plan.stages.iter().map(|stage| stage.text.clone()).collect(),
        walls: world.walls.iter().map(|wall| wall.name.clone()).collect(),
        wall_sizes: sizes::of_walls(&world),
        materials: world.materials.iter().map(|material| material.name.clone()).collect(),
        time_step: step.value,
        time_step_limit: step.limit,
        time_step_cause: step.cause,
        until: scene.run.until,
        steps,
        deepest_overlap: deepest_overlap(&world),
        memory,
        entering_later,
        output: crate::run::expected_output(&scene, world.grains.len(), step.value),
        free: folder::free_space(&Disk, &folder::of_scene(file))?,
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        particle_steps_per_second: speed,
        contacts_per_grain,
        is_loose,
        time_is_lower_bound: is_loose || entering_later != [0; 2],
        estimated_time: speed
            .map(|speed| steps as f64 * (world.grains.len() + simulation.fluid_particles()) as f64 / speed)
            .filter(|time| time.is_finite()),
        passes,
        notices,
        stop,
    })
}

/// The passes of a time step.
fn passes(simulation: &Simulation) -> Vec<Pass> {
    let program = simulation.program();
    let passes = program.into_iter().map(|pass| Pass {
        name: pass.name,
        population: pass.population.name(),
        profile: pass.profile,
        exchanges: pass.exchanges,
        on_gpu: pass.on_gpu,
    });
    passes.collect()
}

/// Returns number and lightest and heaviest mass \[kg\] of the rigid bodies of each group that has bodies.
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

/// Describes an inlet of grains in one line.
fn described(inlet: &Inlet, until: f64) -> String {
    let [from, to] = [inlet.from, inlet.to.min(until)].map(|time| terminal::scaled(time, "s"));
    let grains = terminal::count(inlet.grains_until(until) as u64);
    format!("{}, {} from {from} to {to}, about {grains} grains", inlet.name, inlet.rate)
}

/// Describes all inlets, one line each.
fn inlets(scene: &Scene) -> Vec<String> {
    let until = scene.run.until;
    let mut lines: Vec<String> = scene.plan.inlets.iter().map(|inlet| described(inlet, until)).collect();
    if let Some(fluids) = &scene.world.fluids {
        lines.extend(fluids.inlets.iter().map(|inlet| described_of_fluid(inlet, fluids, until)));
    }
    lines
}

/// Describes an inlet of a fluid in one line.
fn described_of_fluid(inlet: &FluidInlet, fluids: &Fluids, until: f64) -> String {
    let [from, to] = [inlet.from, inlet.to.min(until)].map(|time| terminal::scaled(time, "s"));
    let particles = terminal::count(inlet.particles_until(until, fluids.spacing) as u64);
    let (fluid, speed) = (&fluids.kinds[inlet.kind as usize].name, terminal::scaled(inlet.speed, "m/s"));
    let layer = inlet.sites.len();
    format!(
        "{}, {fluid} at {speed} in layers of {layer} from {from} to {to}, about {particles} particles",
        inlet.name
    )
}

/// What the first steps show.
struct Trial {
    /// Particle-steps per second.
    speed: f64,
    /// Number of grains after them.
    grains: usize,
    /// Their contacts with grains and walls.
    contacts: u64,
}

impl Trial {
    /// Whether the grains have fewer contacts than in a bed. Those of a body move as one, and a prescribed motion needs no contacts.
    fn is_loose(&self, bodies: &[Body]) -> bool {
        let carried: usize = bodies.iter().map(|body| body.carries.len()).sum();
        let free = bodies.iter().filter(|body| body.motion.is_none()).count();
        let movers = self.grains.saturating_sub(carried) + free;
        (self.contacts as f64) < CONTACTS_OF_BED * movers as f64
    }
}

/// Measures the first steps.
fn trial(simulation: &mut Simulation, most: u64) -> Result<Trial, seixo_engine::StepError> {
    // A GPU compiles its kernels at their first use.
    if most > 1 {
        simulation.advance(1)?;
    }
    let (clock, mut particle_steps, mut steps) = (Instant::now(), 0.0, 1);
    while clock.elapsed().as_secs_f64() < TRIAL && simulation.steps() < most {
        simulation.advance(steps)?;
        particle_steps += steps as f64 * (simulation.len() + simulation.fluid_particles()) as f64;
        steps = (2 * steps).min(MAX_AT_ONCE).min(most - simulation.steps());
    }
    let speed = particle_steps / clock.elapsed().as_secs_f64();
    simulation.observe()?;
    Ok(Trial {
        speed,
        grains: simulation.len(),
        contacts: if simulation.is_empty() { 0 } else { simulation.contacts() },
    })
}

impl Findings {
    fn text(&self) -> String {
        let groups: Vec<String> = self
            .groups
            .iter()
            .map(|(name, size)| format!("{} {name}", terminal::count(*size as u64)))
            .collect();
        let radii = self.radius.map(|radius| terminal::scaled(radius, "m"));
        let radii = if radii[0] == radii[1] {
            radii[0].clone()
        } else {
            radii.join(" to ")
        };
        let overlap = self.deepest_overlap.map_or("none at the start".to_owned(), |(a, b, depth)| {
            format!(
                "{} at the start, the deepest, between grains {a} and {b}",
                terminal::scaled(depth, "m")
            )
        });
        let of_grains = |line: String| if self.groups.is_empty() { String::new() } else { line };
        let lines = [
            (
                "grains",
                of_grains(format!(
                    "{} ({}), radius {radii}",
                    terminal::count(self.grains as u64),
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
                    terminal::scaled(self.time_step, "s"),
                    terminal::scaled(self.time_step_limit, "s"),
                    self.time_step_cause
                ),
            ),
            (
                "run",
                format!(
                    "{} in {} step{}",
                    terminal::scaled(self.until, "s"),
                    terminal::count(self.steps),
                    if self.steps == 1 { "" } else { "s" }
                ),
            ),
            ("memory", self.memory()),
            (
                "output",
                format!(
                    "about {}; {} are free here",
                    terminal::scaled(self.output as f64, "B"),
                    terminal::scaled(self.free as f64, "B")
                ),
            ),
            ("time", self.time()),
        ];
        let mut text = format!("{}: {}\n", self.scene.display(), self.title);
        for (what, line) in lines.into_iter().filter(|(_, line)| !line.is_empty()) {
            text += &format!("  {what:10} {line}\n");
            let details: Vec<String> = match what {
                "bodies" => self.body_sizes.iter().map(BodySize::text).collect(),
                "walls" => self.wall_sizes.iter().map(WallSize::text).collect(),
                _ => Vec::new(),
            };
            details.iter().for_each(|detail| text += &format!("  {:10} {detail}\n", ""));
        }
        for (k, pass) in self.passes.iter().enumerate() {
            let exchanges = if pass.exchanges { ", exchanged between domains" } else { "" };
            text += &format!(
                "  pass {:<3}   {:40} {:8} ({}; on a GPU: {}{exchanges})\n",
                k + 1,
                pass.name,
                pass.population,
                pass.profile,
                pass.on_gpu
            );
        }
        self.notices.iter().for_each(|notice| text += &format!("note: {notice}\n"));
        if self.stop.is_some() {
            text.truncate(text.trim_end().len());
            return text;
        }
        text + &format!("right; next: seixo run {}", self.scene.display())
    }

    /// Number of grains and fluid particles.
    fn particles(&self) -> usize {
        self.grains + self.fluids.iter().map(|(_, size)| size).sum::<usize>()
    }

    /// Describes the memory at the start, and what enters later, in one line.
    fn memory(&self) -> String {
        let memory = terminal::scaled(self.memory as f64, "B");
        let [grains, particles] = self.entering_later;
        let entering: Vec<String> = [(grains, "grains"), (particles, "fluid particles")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, things)| format!("{} {things}", terminal::count(number)))
            .collect();
        let later = if entering.is_empty() {
            String::new()
        } else {
            format!(" at the start; about {} enter later", entering.join(" and "))
        };
        match self.particles() as u64 {
            0 => format!("{memory}{later}"),
            number => format!("{memory}, {} B per {}{later}", self.memory / number, self.particle()),
        }
    }

    /// Noun for what is simulated: fluids may have grains beside them.
    fn particle(&self) -> &'static str {
        if self.fluids.is_empty() { "grain" } else { "particle" }
    }

    /// Describes number and masses of the rigid bodies in one line.
    fn bodies(&self) -> String {
        let named = |(name, count, [lightest, heaviest]): &(String, usize, [f64; 2])| {
            let [from, to] = [lightest, heaviest].map(|mass| terminal::scaled(1e3 * mass, "g"));
            let masses = if from == to { from } else { format!("{from} to {to}") };
            format!("{} {name} of {masses}", terminal::count(*count as u64))
        };
        self.bodies.iter().map(named).collect::<Vec<String>>().join(", ")
    }

    /// Describes fluid particles and wall particles in one line.
    fn fluids(&self) -> String {
        if self.fluids.is_empty() {
            return String::new();
        }
        let named = |(name, size): &(String, usize)| format!("{} {name}", terminal::count(*size as u64));
        let fluids: Vec<String> = self.fluids.iter().map(named).collect();
        let of_walls = terminal::count(self.boundary_particles as u64);
        format!("{} particles, {of_walls} wall particles", fluids.join(", "))
    }

    fn time(&self) -> String {
        let (Some(time), Some(speed)) = (self.estimated_time, self.particle_steps_per_second) else {
            let reason = if self.particles() == 0 {
                format!("all {}s enter later", self.particle())
            } else {
                "the first steps fail".to_owned()
            };
            return format!("unknown, because {reason}");
        };
        let (about, more) = match self.contacts_per_grain {
            Some(contacts) if self.is_loose => (
                "at least",
                format!("a grain has {contacts:.2} contacts there, and each that comes adds to it"),
            ),
            _ if self.time_is_lower_bound => ("at least", "what enters later adds to it".to_owned()),
            _ => ("about", "later contacts add to it".to_owned()),
        };
        format!(
            "{about} {} on {}, at the {} particle-steps/s of the first steps; {more}",
            terminal::duration(time),
            terminal::place(&self.device, self.precision, self.threads),
            terminal::scaled(speed, ""),
        )
    }
}
