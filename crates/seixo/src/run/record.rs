//! `run.json` (record of the run), `profile.csv` (time per pass) and `trace.csv` (activity of CPU and GPU over time).

use super::changes::Change;
use super::folder::{PROFILE, RECORD, TRACE, disk};
use super::log::Event;
use super::stage_runner::StageRunner;
use super::write_times::{CheckpointsRecord, FramesRecord};
use seixo_engine::state::Span;
use seixo_engine::world::{Bonded, Grains, WallShape, World};
use seixo_engine::{BroadPhase, Communication, Decomposition, Simulation, StaticTable};
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use seixo_scene::Scene;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The run is in progress, or was killed.
    Running,
    /// The run reached its end.
    Finished,
    /// The run stopped on request and can be resumed.
    Interrupted,
    /// The run stopped because of an error.
    Failed,
}

/// Time step of a run, and its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeStepRecord {
    /// Time step in use \[s\].
    pub value: f64,
    /// Time step of "auto" \[s\].
    pub auto: f64,
    /// Stable limit \[s\].
    pub limit: f64,
    /// Cause of the limit.
    pub cause: String,
}

/// Record of a stage that began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Name of the stage.
    pub name: String,
    /// Simulated time at its start \[s\].
    pub began: f64,
    /// Simulated time at which its condition was fulfilled \[s\], if it was.
    pub ended: Option<f64>,
    /// Fulfilled part of the condition.
    pub reason: Option<String>,
}

/// Decomposition of grains and fluids.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct DecompositionRecord {
    /// Number of own grains of each subdomain.
    pub grains: Vec<usize>,
    /// Number of own fluid particles of each subdomain; empty without fluids.
    #[serde(default)]
    pub fluid: Vec<usize>,
    /// Number of migrations of grains, fluid particles and wall particles since the run was started or resumed.
    #[serde(alias = "changed_hands")]
    pub migrations: u64,
    /// Particles of the subdomain with most of them, relative to the mean, less 1 \[-\].
    #[serde(default)]
    pub imbalance_by_count: f64,
    /// Likewise the work time of a step; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imbalance_by_time: Option<f64>,
    /// How often planes between subdomains moved since the run was started or resumed.
    #[serde(default)]
    pub cut_moves: u64,
}

/// Communication of a subdomain since the run was started or resumed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct CommunicationRecord {
    /// Number of messages to neighbor subdomains.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Number of global reductions.
    #[serde(alias = "gathers")]
    pub collectives: u64,
    /// Wall time of sending and of waiting for messages \[s\].
    pub seconds: f64,
}

impl CommunicationRecord {
    fn new(reported: &Communication) -> CommunicationRecord {
        CommunicationRecord {
            messages: reported.messages,
            bytes: reported.bytes,
            collectives: reported.collectives,
            seconds: reported.spent.as_secs_f64(),
        }
    }
}

/// Result of the last broad phase of rigid bodies: number of bodies by their possible contacts, and of spheres that were searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroadPhaseRecord {
    /// Bodies without possible contacts.
    pub none: usize,
    /// Bodies with possible contacts with fluids only.
    #[serde(rename = "F")]
    pub fluid: usize,
    /// Bodies with possible contacts with grains, other bodies and walls only.
    #[serde(rename = "C")]
    pub solid: usize,
    /// Bodies with possible contacts of both kinds.
    #[serde(rename = "FC")]
    pub both: usize,
    /// Number of spheres of all bodies.
    pub spheres: usize,
    /// Number of spheres whose neighbors were searched.
    #[serde(alias = "among_grains")]
    pub near_grains: usize,
    /// Number of spheres that were compared with walls.
    #[serde(alias = "among_walls")]
    pub near_walls: usize,
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
            near_grains: found.near_grains,
            near_walls: found.near_walls,
        }
    }
}

/// Hash tables of fixed spheres, which are kept while these spheres do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticTableRecord {
    /// Number of spheres in them.
    pub spheres: usize,
    /// Number of times that they were filled since the start or the last resume.
    pub fills: u64,
}

/// Record of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the program.
    pub version: String,
    /// Title of the scene.
    pub title: String,
    /// Names of the groups of grains, in the order of their numbers in frames.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Names of the materials, likewise.
    #[serde(default)]
    pub materials: Vec<String>,
    /// Names of the fluids, likewise.
    #[serde(default)]
    pub fluids: Vec<String>,
    /// Whether masses of some grains are given, in place of densities; `None` in records of earlier versions.
    #[serde(default)]
    pub given_masses: Option<bool>,
    /// BLAKE3 of the resolved scene and of the world made from it.
    pub scene_hash: String,
    /// Absolute path of the folder in which the run started. For a moved run, files of the scene are searched relative to it.
    #[serde(default)]
    pub folder: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Number of threads.
    pub threads: usize,
    /// Precision of the device.
    pub precision: String,
    /// The time step.
    pub time_step: TimeStepRecord,
    /// Simulated time at the end of the run \[s\].
    pub until: f64,
    /// Current stage, or the stage at the end of the run.
    #[serde(default)]
    pub stage: Option<String>,
    /// Stages that began.
    #[serde(default)]
    pub stages: Vec<StageRecord>,
    /// Keys of the scene that changed when the run was resumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// State of the run.
    pub result: Outcome,
    /// Error of a failed run.
    pub reason: Option<String>,
    /// Simulated time reached \[s\].
    pub time: f64,
    /// Number of completed steps.
    pub steps: u64,
    /// Number of grains.
    pub grains: usize,
    /// Number of fluid particles.
    #[serde(default)]
    pub fluid_particles: usize,
    /// Number of contacts with a force.
    pub contacts: u64,
    /// Number of rebuilds of the neighbor lists.
    pub rebuilds: u64,
    /// Result of the broad phase for clumps, if it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broad_phase: Option<BroadPhaseRecord>,
    /// Hash tables of fixed spheres, if the search has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_table: Option<StaticTableRecord>,
    /// Decomposition, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "divided")]
    pub decomposition: Option<DecompositionRecord>,
    /// Communication of each subdomain.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "traffic")]
    pub communication: Vec<CommunicationRecord>,
    /// Wall time of all starts and resumes \[s\].
    pub wall_time: f64,
    /// Grains and fluid particles times steps, of all starts and resumes.
    pub particle_steps: f64,
    /// The same over wall time \[1/s\].
    pub particle_steps_per_second: f64,
    /// Reached share of the requested speed relative to wall time, since the start; `None` without such a request.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "share_of_pace")]
    pub real_time_ratio: Option<f64>,
    /// Bytes of the arrays of the simulation over the number of grains and fluid particles.
    pub bytes_per_particle: f64,
    /// Wall time of the start or of the last resume, up to its first frame or step \[s\]: of a resume with the reading of its folder. It is no part of
    /// `wall_time`. `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting: Option<f64>,
    /// Frames since the run was started or resumed, and the time that they took; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FramesRecord>,
    /// Checkpoints, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<CheckpointsRecord>,
}

impl Record {
    /// Creates the record of the simulation of a scene before it runs.
    pub(super) fn new(simulation: &mut Simulation, scene: &Scene, scene_hash: &str) -> Record {
        let step = simulation.time_step();
        let fluids = scene.world.fluids.iter().flat_map(|fluids| &fluids.kinds);
        let mut record = Record {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: scene.title.clone(),
            groups: scene.world.groups.clone(),
            materials: scene.world.materials.iter().map(|material| material.name.clone()).collect(),
            fluids: fluids.map(|fluid| fluid.name.clone()).collect(),
            given_masses: None,
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
            until: scene.run.until,
            stage: None,
            stages: Vec::new(),
            changes: Vec::new(),
            result: Outcome::Running,
            reason: None,
            time: 0.0,
            steps: 0,
            grains: 0,
            fluid_particles: 0,
            contacts: 0,
            rebuilds: 0,
            broad_phase: None,
            static_table: None,
            decomposition: None,
            communication: Vec::new(),
            wall_time: 0.0,
            particle_steps: 0.0,
            particle_steps_per_second: 0.0,
            real_time_ratio: None,
            bytes_per_particle: 0.0,
            starting: None,
            frames: None,
            checkpoints: None,
        };
        record.measure(simulation);
        record
    }

    /// Updates the values that change during a run. If the download from a GPU fails, contacts and memory keep their old values.
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
            self.decomposition = simulation.decomposition().map(|decomposed| {
                let (imbalance_by_count, imbalance_by_time) = (decomposed.imbalance_by_count(), decomposed.imbalance_by_time());
                let Decomposition {
                    grains,
                    fluid,
                    migrations,
                    communication: traffic,
                    cut_moves,
                    ..
                } = decomposed;
                self.communication = traffic.iter().map(CommunicationRecord::new).collect();
                DecompositionRecord {
                    grains,
                    fluid,
                    migrations,
                    imbalance_by_count,
                    imbalance_by_time,
                    cut_moves,
                }
            });
            self.broad_phase = simulation.broad_phase().as_ref().map(BroadPhaseRecord::new);
            self.static_table = simulation
                .static_table()
                .map(|StaticTable { spheres, fills }| StaticTableRecord { spheres, fills });
            self.bytes_per_particle = simulation.bytes() as f64 / (self.grains + self.fluid_particles).max(1) as f64;
        }
    }

    /// Records the event of a stage.
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

    /// Takes over from the record of the earlier run those stages that `stage_runner` contains. Later ones began after the checkpoint, and will begin
    /// again.
    pub(super) fn take_stages(&mut self, before: Vec<StageRecord>, stage_runner: &StageRunner) {
        self.stages = before;
        self.stages.truncate(stage_runner.stages().count());
        self.stage = self.stages.last().map(|stage| stage.name.clone());
        if let Some(last) = self.stages.last_mut().filter(|_| !stage_runner.is_over()) {
            (last.ended, last.reason) = (None, None);
        }
    }

    /// Reads the record of a run folder; `None` if there is no valid one.
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

/// Writes the seconds per pass. "outputs" is the time for files. "steps" is the time of all passes if they cannot be separated, as on a GPU.
pub(super) fn write_profile(
    layer: &dyn FileLayer,
    folder: &Path,
    simulation: &Simulation,
    steps: (f64, u64),
    outputs: (f64, u64),
) -> Result<(), FilesError> {
    // A scene without heat has no pass for it.
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

/// Writes the activity of CPU and GPU in the latest steps; nothing unless both compute at the same time.
pub(super) fn write_trace(layer: &dyn FileLayer, folder: &Path, simulation: &Simulation) -> Result<(), FilesError> {
    let spans = simulation.trace();
    if spans.is_empty() {
        return Ok(());
    }
    let mut text = String::from("step,processor,pass,start [s],end [s]\n");
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

/// BLAKE3 hash of a resolved scene and of the data from its files: grains, also those that enter later, meshes, paths, and bonded pairs.
pub(super) fn scene_hash(resolved: &str, world: &World, reserve: &Grains) -> String {
    let mut hash = HashOfNumbers::default();
    hash.add(resolved.as_bytes());
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
        for value in vectors.chain(&grains.radius).chain(grains.masses.values()) {
            hash.add(&value.to_le_bytes());
        }
        for value in grains.id.iter().chain(&grains.material).chain(&grains.group) {
            hash.add(&value.to_le_bytes());
        }
    }
    for value in meshes.flatten().chain(places) {
        hash.add(&value.to_le_bytes());
    }
    for bonds in &world.bonds {
        if let Bonded::Pairs(pairs) = &bonds.between {
            pairs.as_flattened().iter().for_each(|id| hash.add(&id.to_le_bytes()));
        }
        for value in bonds.of_pairs.stiffness.iter().chain(&bonds.of_pairs.strength) {
            hash.add(&value.to_le_bytes());
        }
    }
    hash.finished()
}

/// Bytes that are hashed at once: each call has a cost of its own, and a vector unit hashes several kilobytes at a time.
const HASHED_AT_ONCE: usize = 1 << 16;

/// A BLAKE3 hash of many numbers.
#[derive(Default)]
struct HashOfNumbers {
    hasher: blake3::Hasher,
    waiting: Vec<u8>,
}

impl HashOfNumbers {
    fn add(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= HASHED_AT_ONCE {
            self.hasher.update(&self.waiting);
            self.waiting.clear();
        }
    }

    fn finished(mut self) -> String {
        self.hasher.update(&self.waiting);
        self.hasher.finalize().to_string()
    }
}
