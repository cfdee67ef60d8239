//! Runs a scene at many points of its parameters, into one folder.
//!
//! Each point is a process of the command line: `seixo run` in a folder of its own, or `seixo resume` after an interruption. So a point has the bits of
//! a run without a sweep, its memory is its own, and a point that aborts, as by a driver or for want of memory, ends no other. All of a sweep is in its
//! folder: which points are finished follows from their run folders, so that a sweep that was killed needs no state of its own.
//!
//! ```no_run
//! use seixo::sweep::{NoSweepObserver, Program, Request, Sweep};
//! use std::sync::atomic::AtomicBool;
//!
//! let request = Request { vary: vec!["run.seed=1..5".parse()?], ..Request::new("silo.toml") };
//! let sweep = Sweep::new(request)?;
//! let program = Program::new("/usr/bin/seixo".into(), Vec::new());
//! let end = sweep.run("seeds".as_ref(), &program, &AtomicBool::new(false), &mut NoSweepObserver)?;
//! println!("{} of {} points, see {}", end.finished(), end.states.len(), end.table.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod plan;
mod point_process;
mod progress;
mod results;
mod variation;

pub use error::SweepError;
pub use plan::{Point, Settings};
pub use point_process::{Place, Program, State, is_finished};
pub use progress::{NoSweepObserver, SweepEnd, SweepObserver, SweepProgress};
pub use results::TABLE;
pub use variation::{Sample, Variation};

use crate::device_options::DeviceArguments;
use crate::run::folder::{SCENE, disk};
use plan::Plan;
use progress::Running;
use seixo_device::gpu::list;
use seixo_engine::world::DeviceChoice;
use seixo_files::layer::{Disk, replace};
use seixo_scene::{Device, Diagnostics, check_keys, load_text_from, text_of};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What a sweep runs, and where.
#[derive(Clone, Debug)]
pub struct Request {
    /// Scene file.
    pub scene: PathBuf,
    /// Text in place of that of the file, for a scene that was edited in memory; it names its files by absolute paths. It is written into the folder of
    /// the sweep.
    pub text: Option<String>,
    /// The keys that vary, with their values.
    pub vary: Vec<Variation>,
    /// A sample in place of all combinations.
    pub sample: Option<Sample>,
    /// Seed of the sample.
    pub sample_seed: u64,
    /// Settings of all points.
    pub settings: Settings,
    /// Device and precision of all points.
    pub place: DeviceArguments,
    /// Number of points at the same time; `None` for as many as there are cores for, or 1 for scenes on a GPU.
    pub jobs: Option<u32>,
    /// Number of CPU threads of all points together; `None` or 0 for all cores.
    pub threads: Option<u32>,
    /// Number of GPUs with one point at a time on each, in place of `jobs`.
    pub gpus: Option<u32>,
    /// Simulated time from which means are taken \[s\].
    pub average_from: f64,
}

impl Request {
    /// A sweep of this scene file, with no key that varies.
    pub fn new(scene: impl Into<PathBuf>) -> Request {
        Request {
            scene: scene.into(),
            text: None,
            vary: Vec::new(),
            sample: None,
            sample_seed: 1,
            settings: Settings::new(),
            place: DeviceArguments::default(),
            jobs: None,
            threads: None,
            gpus: None,
            average_from: 0.0,
        }
    }

    /// All settings that the points have in common.
    fn settings_of_all(&self) -> Settings {
        let mut place = self.place.clone();
        if self.gpus.is_some() {
            place.device.get_or_insert(Device::Gpu(None));
        }
        self.settings.iter().cloned().chain(place.overrides()).collect()
    }

    fn keys(&self) -> Vec<&str> {
        self.vary.iter().map(|variation| variation.key.as_str()).collect()
    }

    /// The values of all keys at each point. Each value is checked with the first values of the other keys.
    fn rows(&self, text: &str, settings: &[(String, String)]) -> Result<Vec<Vec<String>>, SweepError> {
        let mut keys = BTreeSet::new();
        for key in self.keys() {
            if !keys.insert(key) {
                return Err(SweepError::Input(format!(
                    "{key} is varied twice; give all of its values in one --vary"
                )));
            }
            if settings.iter().any(|(set, _)| set == key) {
                return Err(SweepError::Input(format!(
                    "{key} is varied, and also set for all points; leave one of the two out"
                )));
            }
        }
        let Some(sample) = self.sample else {
            let rows = plan::grid(&self.vary).map_err(SweepError::Input)?;
            let all: Result<Vec<Vec<String>>, String> = self.vary.iter().map(Variation::all).collect();
            self.check_values(text, settings, &all.map_err(SweepError::Input)?)?;
            return Ok(rows);
        };
        let mut columns = Vec::new();
        for variation in &self.vary {
            let shares = sample.shares(self.sample_seed, &variation.key);
            let is_accepted = |value: &str| {
                let is_for_it = |found: &Diagnostics| found.list().iter().all(|one| !one.message.contains(&variation.key));
                let with = [settings, &[(variation.key.clone(), value.to_owned())]].concat();
                check_keys(text, &self.scene, &with).map_or_else(|found| is_for_it(&found), |()| true)
            };
            columns.push(variation.at(&shares, is_accepted).map_err(SweepError::Input)?);
        }
        self.check_values(text, settings, &columns)?;
        let count = columns.first().map_or(0, Vec::len);
        Ok((0..count)
            .map(|k| columns.iter().map(|column| column[k].clone()).collect())
            .collect())
    }

    /// Refuses unknown keys and values that cannot be read, before anything is run.
    fn check_values(&self, text: &str, settings: &[(String, String)], columns: &[Vec<String>]) -> Result<(), SweepError> {
        let first = self
            .vary
            .iter()
            .zip(columns)
            .filter_map(|(variation, values)| Some((variation.key.clone(), values.first()?.clone())));
        let first: Settings = settings.iter().cloned().chain(first).collect();
        for (k, values) in columns.iter().enumerate() {
            let values: BTreeSet<&String> = values.iter().collect();
            for value in values {
                let mut with = first.clone();
                with[settings.len() + k].1.clone_from(value);
                check_keys(text, &self.scene, &with).map_err(|found| SweepError::Scene(Box::new(found)))?;
            }
        }
        Ok(())
    }

    /// Loads the first point that can be loaded. A point that cannot is a failure of its own, unless no point can.
    fn first_point(&self, text: &str, plan: &Plan) -> Result<FirstPoint, SweepError> {
        let mut refused = None;
        for point in &plan.points {
            let files = Mutex::new(BTreeSet::new());
            let place = |path: PathBuf| {
                files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
                path
            };
            match load_text_from(text, &self.scene, &plan.overrides(point), &place) {
                Ok(scene) => {
                    let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
                    return Ok(FirstPoint {
                        threads: scene.settings.threads,
                        is_on_cpu: scene.settings.device == DeviceChoice::Cpu,
                        digest: digest(text, &files)?,
                    });
                }
                Err(found) => {
                    refused.get_or_insert(found);
                }
            }
        }
        Err(refused.map_or_else(
            || SweepError::Input("there is no point; give values with --vary".to_owned()),
            |found| SweepError::Scene(Box::new(found)),
        ))
    }

    /// Where points are computed: as many places as there are points at the same time.
    fn places(&self, first: &FirstPoint, gpus: Option<Vec<String>>, points: usize) -> Vec<Place> {
        let cores = match self.threads {
            None | Some(0) => thread::available_parallelism().map_or(1, usize::from),
            Some(threads) => threads as usize,
        };
        let mut devices: Vec<Option<String>> = match (gpus, self.jobs) {
            (Some(gpus), _) => gpus.into_iter().map(Some).collect(),
            (None, Some(jobs)) => vec![None; (jobs as usize).min(points.max(1))],
            (None, None) if first.is_on_cpu => vec![None; (cores / first.threads.max(1)).clamp(1, points.max(1))],
            (None, None) => vec![None],
        };
        devices.truncate(points.max(1));
        let count = devices.len();
        let place = |(k, device): (usize, Option<String>)| {
            let share = (cores / count + usize::from(k < cores % count)).max(1);
            Place {
                threads: (first.threads == 0).then_some(share),
                device,
            }
        };
        devices.into_iter().enumerate().map(place).collect()
    }

    /// So many GPUs of one kind, as --device names them.
    fn gpus_to_use(&self, asked: usize) -> Result<Vec<String>, SweepError> {
        let found = list().found;
        let api = match self.place.device {
            None | Some(Device::Gpu(None)) => found.first().map(|gpu| gpu.api),
            Some(Device::Of(api, _)) => Some(api),
            Some(device) => {
                return Err(SweepError::Input(format!(
                    "--gpus gives each point a GPU of its own, and --device {device} does not name a kind of GPU; leave one of the two out, or give \
                     --device cuda or wgpu"
                )));
            }
        };
        let alike = found.iter().filter(|gpu| Some(gpu.api) == api);
        let alike: Vec<String> = alike.map(|gpu| Device::Of(gpu.api, gpu.index).to_string()).collect();
        if alike.len() < asked {
            return Err(SweepError::Input(format!(
                "{} asked for, and there {} of one kind on this machine (seixo info); use at most as many",
                if asked == 1 {
                    "1 GPU is".to_owned()
                } else {
                    format!("{asked} GPUs are")
                },
                if alike.len() == 1 {
                    "is 1".to_owned()
                } else {
                    format!("are {}", alike.len())
                }
            )));
        }
        Ok(alike.into_iter().take(asked).collect())
    }
}

/// What the first point that can be read shows of the scene.
#[derive(Clone, Debug)]
struct FirstPoint {
    /// Number of threads that the scene sets; 0 = all cores.
    threads: usize,
    is_on_cpu: bool,
    /// BLAKE3 of the scene and of the files that it names.
    digest: String,
}

/// BLAKE3 of a scene and of the files that it names.
fn digest(text: &str, files: &BTreeSet<PathBuf>) -> Result<String, SweepError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.as_bytes());
    for path in files {
        let hashed = File::open(path).and_then(|file| hasher.update_reader(file).map(|_| ()));
        hashed.map_err(disk(path, "read it"))?;
    }
    Ok(hasher.finalize().to_string())
}

/// A sweep whose points are known and whose values are checked.
#[derive(Clone, Debug)]
pub struct Sweep {
    request: Request,
    plan: Plan,
    first: FirstPoint,
}

impl Sweep {
    /// Finds the points of a sweep, and writes nothing.
    ///
    /// # Errors
    /// If a key is varied twice, a range or a value is wrong, there is no point or too many, or the scene cannot be loaded at any point.
    pub fn new(request: Request) -> Result<Sweep, SweepError> {
        let text = match &request.text {
            Some(text) => text.clone(),
            None => text_of(&request.scene).map_err(|found| SweepError::Scene(Box::new(found)))?,
        };
        let settings = request.settings_of_all();
        let points = plan::named(&settings, &request.keys(), request.rows(&text, &settings)?);
        let mut plan = Plan {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scene: std::path::absolute(&request.scene)
                .unwrap_or_else(|_| request.scene.clone())
                .display()
                .to_string(),
            digest: String::new(),
            settings,
            points,
        };
        let first = request.first_point(&text, &plan)?;
        plan.digest.clone_from(&first.digest);
        Ok(Sweep { request, plan, first })
    }

    /// The points, in order.
    pub fn points(&self) -> &[Point] {
        &self.plan.points
    }

    /// Runs the points that are not finished in this folder, until all have ended or until `stop`; then points under way end after a checkpoint.
    /// Their states, and the results of those that are finished, are in the [`TABLE`] of the folder.
    ///
    /// # Errors
    /// If the folder has something else or another sweep, another process owns it, there are too few GPUs, or the table cannot be written.
    pub fn run(
        &self,
        folder: &Path,
        program: &Program,
        stop: &AtomicBool,
        observer: &mut dyn SweepObserver,
    ) -> Result<SweepEnd, SweepError> {
        let gpus = self.request.gpus.map(|asked| self.request.gpus_to_use(asked as usize));
        let gpus = gpus.transpose()?;
        let _owned = self.plan.claim(folder)?;
        let mut scene = self.request.scene.clone();
        if let Some(text) = &self.request.text {
            scene = folder.join(SCENE);
            replace(&Disk, &scene, text.as_bytes()).map_err(disk(&scene, "write it"))?;
        }
        let mut running = Running::new(&self.plan, folder, &scene, self.request.average_from)?;
        let places = self.request.places(&self.first, gpus, running.unfinished().count());
        observer.begun(&running.progress(), &places);
        running.complete(program, &places, stop, observer);
        running.conclude()
    }
}
