//! `run.json` (what ran and how it went), `profile.csv` (where the time went) and `trace.csv` (what CPU and GPU were at when).

use super::course::Course;
use super::folder::{PROFILE, RECORD, TRACE, disk};
use super::log::Event;
use seixo_engine::state::Span;
use seixo_engine::world::{Bonded, Grains, WallShape, World};
use seixo_engine::{BroadPhase, Divided, Simulation, Traffic};
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It runs, or was killed.
    Running,
    /// It reached its end.
    Finished,
    /// It was asked to stop and can go on.
    Interrupted,
    /// It could not go on.
    Failed,
}

/// The time step of a run and what limits it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeStepRecord {
    /// The step in use \[s\].
    pub value: f64,
    /// What "auto" takes \[s\].
    pub auto: f64,
    /// The stable limit \[s\].
    pub limit: f64,
    /// What sets the limit.
    pub cause: String,
}

/// A stage that began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Its name.
    pub name: String,
    /// Simulated time at which it began \[s\].
    pub began: f64,
    /// Simulated time at which its condition held \[s\], if it did.
    pub ended: Option<f64>,
    /// What of the condition held.
    pub reason: Option<String>,
}

/// How grains and fluids are divided among domains.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct DividedRecord {
    /// Grains that each domain owns.
    pub grains: Vec<usize>,
    /// Particles of fluid that each domain owns; empty where nothing flows.
    #[serde(default)]
    pub fluid: Vec<usize>,
    /// How often a grain, or a particle of fluid or of a wall, went from one domain to another since the run was started or resumed.
    pub changed_hands: u64,
}

/// What a domain told the others since the run was started or resumed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct TrafficRecord {
    /// Messages to the domains beside it.
    pub messages: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// How often it waited for all domains.
    pub gathers: u64,
    /// Wall time in which it sent, and waited for what others send \[s\].
    pub seconds: f64,
}

impl TrafficRecord {
    fn new(told: &Traffic) -> TrafficRecord {
        TrafficRecord {
            messages: told.messages,
            bytes: told.bytes,
            gathers: told.gathers,
            seconds: told.spent.as_secs_f64(),
        }
    }
}

/// What the broad phase of rigid bodies found when the lists were made last: bodies by what they may touch, and what was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroadPhaseRecord {
    /// Bodies that may touch nothing.
    pub none: usize,
    /// Those that may touch fluids only.
    #[serde(rename = "F")]
    pub fluid: usize,
    /// Those that may touch grains, other bodies and walls only.
    #[serde(rename = "C")]
    pub solid: usize,
    /// Those that may touch both.
    #[serde(rename = "FC")]
    pub both: usize,
    /// Spheres of all bodies.
    pub spheres: usize,
    /// Those of them whose neighbors were looked for.
    pub among_grains: usize,
    /// Those of them that were compared with walls.
    pub among_walls: usize,
}

impl BroadPhaseRecord {
    fn new(found: &BroadPhase) -> BroadPhaseRecord {
        let [none, fluid, solid, both] = found.counts();
        BroadPhaseRecord {
            none,
            fluid,
            solid,
            both,
            spheres: found.spheres,
            among_grains: found.among_grains,
            among_walls: found.among_walls,
        }
    }
}

/// What ran and how it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the program.
    pub version: String,
    /// Title of the scene.
    pub title: String,
    /// BLAKE3 of the resolved scene and of the world made from it.
    pub scene_hash: String,
    /// The folder in which it was started, in full; of a run that was moved, what the scene names is looked for relative to it.
    #[serde(default)]
    pub folder: Option<String>,
    /// Where it computed.
    pub device: String,
    /// Threads at work.
    pub threads: usize,
    /// With how many digits it computed.
    pub precision: String,
    /// The time step.
    pub time_step: TimeStepRecord,
    /// Simulated time at which the run ends \[s\].
    pub until: f64,
    /// The stage that it is in, or was in at its end.
    #[serde(default)]
    pub stage: Option<String>,
    /// The stages that began.
    #[serde(default)]
    pub stages: Vec<StageRecord>,
    /// How it stands.
    pub result: Outcome,
    /// Why it failed.
    pub reason: Option<String>,
    /// Simulated time reached \[s\].
    pub time: f64,
    /// Steps done.
    pub steps: u64,
    /// Grains there.
    pub grains: usize,
    /// Particles of fluids there.
    #[serde(default)]
    pub fluid_particles: usize,
    /// Contacts that bear.
    pub contacts: u64,
    /// How often the neighbor lists were renewed.
    pub rebuilds: u64,
    /// What clumps may touch, where that is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broad_phase: Option<BroadPhaseRecord>,
    /// How the grains are divided among domains, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divided: Option<DividedRecord>,
    /// What each of these domains told the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficRecord>,
    /// Wall time of all starts and resumes \[s\].
    pub wall_time: f64,
    /// Grains and particles of fluids times steps of all starts and resumes.
    pub particle_steps: f64,
    /// The same over wall time \[1/s\].
    pub particle_steps_per_second: f64,
    /// How much it reached, since it was started, of the pace at which simulated time was held to wall time; `None` where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_pace: Option<f64>,
    /// Bytes held by the arrays of the simulation over the number of grains and particles of fluids.
    pub bytes_per_particle: f64,
}

impl Record {
    /// What is known of a simulation before it runs.
    pub(super) fn new(simulation: &mut Simulation, title: &str, scene_hash: &str, until: f64) -> Record {
        let step = simulation.time_step();
        let mut record = Record {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: title.to_owned(),
            scene_hash: scene_hash.to_owned(),
            folder: None,
            device: simulation.device_name(),
            threads: simulation.threads(),
            precision: simulation.precision().name().to_owned(),
            time_step: TimeStepRecord {
                value: step.value,
                auto: step.auto,
                limit: step.limit,
                cause: step.cause.clone(),
            },
            until,
            stage: None,
            stages: Vec::new(),
            result: Outcome::Running,
            reason: None,
            time: 0.0,
            steps: 0,
            grains: 0,
            fluid_particles: 0,
            contacts: 0,
            rebuilds: 0,
            broad_phase: None,
            divided: None,
            traffic: Vec::new(),
            wall_time: 0.0,
            particle_steps: 0.0,
            particle_steps_per_second: 0.0,
            share_of_pace: None,
            bytes_per_particle: 0.0,
        };
        record.measure(simulation);
        record
    }

    /// Brings up to date what changes while a simulation runs. Of one that a GPU does not give back any more, contacts and memory stay what
    /// they were.
    pub(super) fn measure(&mut self, simulation: &mut Simulation) {
        self.time = simulation.time();
        self.steps = simulation.steps();
        self.grains = simulation.len();
        self.fluid_particles = simulation.fluid_particles();
        self.rebuilds = simulation.rebuilds();
        self.particle_steps_per_second = if self.wall_time > 0.0 {
            self.particle_steps / self.wall_time
        } else {
            0.0
        };
        if simulation.observe().is_ok() {
            self.contacts = simulation.contacts();
            self.divided = simulation.divided().map(|divided| {
                let Divided {
                    grains,
                    fluid,
                    changed_hands,
                    traffic,
                    ..
                } = divided;
                self.traffic = traffic.iter().map(TrafficRecord::new).collect();
                DividedRecord {
                    grains,
                    fluid,
                    changed_hands,
                }
            });
            self.broad_phase = simulation.broad_phase().as_ref().map(BroadPhaseRecord::new);
            self.bytes_per_particle = simulation.bytes() as f64 / (self.grains + self.fluid_particles).max(1) as f64;
        }
    }

    /// Books what happened to a stage.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::StageBegan { stage, time, .. } => {
                self.stage = Some(stage.clone());
                self.stages.push(StageRecord {
                    name: stage.clone(),
                    began: *time,
                    ended: None,
                    reason: None,
                });
            }
            Event::StageEnded { reason, time, .. } => {
                if let Some(stage) = self.stages.last_mut() {
                    (stage.ended, stage.reason) = (Some(*time), Some(reason.clone()));
                }
            }
            _ => {}
        }
    }

    /// Takes over the stages that `course` knows of from the record of the run before; what was written after the checkpoint is to come.
    pub(super) fn take_stages(&mut self, before: Vec<StageRecord>, course: &Course) {
        self.stages = before;
        self.stages.truncate(course.stages().count());
        self.stage = self.stages.last().map(|stage| stage.name.clone());
        if let Some(last) = self.stages.last_mut().filter(|_| !course.is_over()) {
            (last.ended, last.reason) = (None, None);
        }
    }

    /// Reads the record of a run folder; `None` where there is none that makes sense.
    pub fn read(layer: &dyn FileLayer, folder: &Path) -> Option<Record> {
        serde_json::from_slice(&layer.read(&folder.join(RECORD)).ok()?).ok()
    }

    pub(super) fn write(&self, layer: &dyn FileLayer, folder: &Path) -> Result<(), FilesError> {
        let path = folder.join(RECORD);
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        replace(layer, &path, &text).map_err(disk(&path, "write it"))
    }
}

/// Writes the seconds per pass; "outputs" is what files took, and "steps" what all passes took where they cannot be told apart: on a GPU.
pub(super) fn write_profile(
    layer: &dyn FileLayer,
    folder: &Path,
    simulation: &Simulation,
    steps: (f64, u64),
    outputs: (f64, u64),
) -> Result<(), FilesError> {
    // A scene without heat has no pass of it.
    let was_called = |(_, _, calls): &&(&str, f64, u64)| *calls > 0;
    let mut passes: Vec<_> = simulation.profile().passes.iter().filter(was_called).copied().collect();
    if passes.is_empty() {
        passes.push(("steps", steps.0, steps.1));
    }
    passes.push(("outputs", outputs.0, outputs.1));
    let total: f64 = passes.iter().map(|(_, seconds, _)| seconds).sum();
    let mut text = String::from("pass,seconds,share,calls\n");
    for (pass, seconds, calls) in passes {
        let share = if total > 0.0 { seconds / total } else { 0.0 };
        text += &format!("{pass},{seconds:.6},{share:.6},{calls}\n");
    }
    let path = folder.join(PROFILE);
    replace(layer, &path, text.as_bytes()).map_err(disk(&path, "write it"))
}

/// Writes what CPU and GPU were at in the latest steps; nothing where they are not at work at the same time.
pub(super) fn write_trace(layer: &dyn FileLayer, folder: &Path, simulation: &Simulation) -> Result<(), FilesError> {
    let spans = simulation.trace();
    if spans.is_empty() {
        return Ok(());
    }
    let mut text = String::from("step,where,pass,from [s],to [s]\n");
    for Span {
        pass,
        is_on_gpu,
        step,
        from,
        to,
    } in spans
    {
        let place = if is_on_gpu { "gpu" } else { "cpu" };
        text += &format!("{step},{place},{pass},{from:.9},{to:.9}\n");
    }
    let path = folder.join(TRACE);
    replace(layer, &path, text.as_bytes()).map_err(disk(&path, "write it"))
}

/// BLAKE3 of a resolved scene and of what its files gave: grains, those that come later, too, meshes, paths, and pairs that are bonded.
pub(super) fn scene_hash(resolved: &str, world: &World, reserve: &Grains) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(resolved.as_bytes());
    let meshes = world.walls.iter().filter_map(|wall| match &wall.shape {
        WallShape::Mesh(triangles) => Some(triangles.as_flattened().as_flattened()),
        _ => None,
    });
    let boundaries = world.grains.bodies.iter().filter_map(|body| body.motion.as_ref());
    let motions = world.walls.iter().map(|wall| &wall.motion).chain(boundaries);
    let paths = motions.filter_map(|motion| motion.path.as_ref());
    let places = paths.flat_map(|path| path.time.iter().chain(path.position.as_flattened()).chain(&path.angle));
    for grains in [&world.grains, reserve] {
        let vectors = [&grains.position, &grains.velocity, &grains.angular_velocity]
            .into_iter()
            .flat_map(|column| column.as_flattened());
        for value in vectors.chain(&grains.radius) {
            hasher.update(&value.to_le_bytes());
        }
        for value in grains.id.iter().chain(&grains.material).chain(&grains.group) {
            hasher.update(&value.to_le_bytes());
        }
    }
    for value in meshes.flatten().chain(places) {
        hasher.update(&value.to_le_bytes());
    }
    for bonds in &world.bonds {
        if let Bonded::Pairs(pairs) = &bonds.between {
            pairs.as_flattened().iter().for_each(|id| {
                hasher.update(&id.to_le_bytes());
            });
        }
    }
    hasher.finalize().to_string()
}
