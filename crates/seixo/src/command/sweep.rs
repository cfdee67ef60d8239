//! `seixo sweep`: runs a scene at many points of its parameters.
//!
//! Each point is a process of this program: `seixo run` in a folder of its own, or `seixo resume` after an interruption. So a point has the bits of a
//! run without a sweep, its memory is its own, and a point that aborts, as by a driver or for want of memory, ends no other. All of a sweep is in its
//! folder: which points are finished follows from their run folders, so that a sweep that was killed needs no state of its own.

mod plan;
mod point_process;
mod results;
mod variation;

use super::watch::{bar, signals};
use super::{Done, Failure, Verbosity, quantity_in, setting, write_file};
use crate::terminal;
use clap::Args;
use indicatif::ProgressBar;
use plan::{Plan, Settings};
use point_process::{Input, Place, PointProcess, State, is_finished};
use results::{Results, TABLE};
use seixo::device::gpu::list;
use seixo::device_options::DeviceArguments;
use seixo::engine::world::DeviceChoice;
use seixo::scene::{Device, Diagnostics, check_keys, load_text_from};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use variation::{Sample, Variation};

/// Wall time between two tests for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Wall time between two lines of progress in JSON, and between two writes of the table.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Length of the progress bar for each point.
const PARTS: u64 = 1000;

/// Run a scene at many points: all combinations of lists and ranges of values, or a sample of them
///
/// Each point is run as by `seixo run SCENE --set KEY=VALUE …`, with the same bits, in a folder of its own that is named by a digest of its settings.
/// Several points run at the same time. The folder of the sweep has the table sweep.csv with settings, state, run time, and final and mean values of
/// all probes of each point. The same command continues a sweep that was stopped or killed: finished points are kept, points under way continue from
/// their last checkpoints, and failed points are tried again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo sweep shear.toml --vary interaction.a-b.friction=0.2,0.3,0.4 --vary run.seed=1..5
                                                       15 points, into shear.sweep/
  seixo sweep shear.toml --vary run.seed=1..5 --dry-run          lists the points and writes nothing
  seixo sweep drum.toml --vary \"grains.bed.fill.radius=1..2..0.25 mm\" --set run.until=2 --out radii
  seixo sweep drum.toml --vary interaction.a-a.friction=0.1..0.9 --vary run.seed=1..5 --sample lhs:40
                                                       40 points, spread evenly over the range of each key
  seixo sweep drum.toml --vary run.seed=1..8 --gpus 4  on four GPUs, a point on each
  seixo sweep drum.toml --vary run.seed=1..8 --average-from \"1 s\"  means without the start

Values of a key:
  0.2,0.3,0.4        a list; commas inside brackets and quotes belong to a value
  1..5               1, 2, 3, 4, 5; of ends with fractions a step is needed, or --sample
  0.2..0.4..0.05     with a step, which must reach the end; both ends count
  1,2,5 mm           a unit at the end holds for all numbers before it; 1..5..2 mm likewise
  a.stl,b.stl        texts

Ctrl-C, TERM and HUP stop all points after a checkpoint, with exit code 130. Exit code 1 if a point failed; the others are run all the same.")]
pub struct SweepArguments {
    /// Scene file, such as silo.toml
    scene: PathBuf,
    /// A key of the scene and its values, such as run.seed=1..5; repeat the option for more keys
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    vary: Vec<Variation>,
    /// Draw a Latin hypercube sample of N points, as lhs:N, in place of all combinations. Ranges without a step are continuous
    #[arg(long, value_name = "lhs:N")]
    sample: Option<Sample>,
    /// Seed of the sample; run.seed of the scene is another one
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    sample_seed: u64,
    /// Folder of the sweep; default: SCENE.sweep in the current folder, such as silo.sweep for silo.toml
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Change a value of the scene for all points, as in `seixo run`; repeat the option for more values
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    place: DeviceArguments,
    /// Simulated time at which each point ends, such as "5 s" or 5 (seconds); default: run.until of the scene
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Number of points at the same time; default: as many as there are cores for, or 1 for scenes on a GPU
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Number of CPU threads of all points together; 0 = all cores. Each point has its share, unless the scene sets run.threads. Results have the same
    /// bits for any number
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Number of GPUs of this machine to use, with one point at a time on each. They are of the kind that --device names, else of the best kind found
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "jobs")]
    gpus: Option<u32>,
    /// Simulated time from which means are taken, such as "1 s"; default: the start
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = seconds)]
    average_from: f64,
    /// List the points, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    voice: Verbosity,
}

/// Parses a time \[s\].
fn seconds(text: &str) -> Result<f64, String> {
    quantity_in("s", text).map(|parsed| parsed.value)
}

/// What the first point that can be read shows of the scene.
struct FirstPoint {
    /// Number of threads that the scene sets; 0 = all cores.
    threads: usize,
    is_on_cpu: bool,
    /// BLAKE3 of the scene and of the files that it names.
    digest: String,
}

/// Runs the sweep.
pub fn sweep(arguments: &SweepArguments) -> Done {
    let is_json = arguments.voice.json;
    arguments.run().map_err(|failure| failure.with_json(is_json))
}

impl SweepArguments {
    fn run(&self) -> Done {
        let settings = self.settings();
        let points = plan::named(&settings, &self.keys(), self.rows(&settings)?);
        let mut plan = Plan {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scene: std::path::absolute(&self.scene)
                .unwrap_or_else(|_| self.scene.clone())
                .display()
                .to_string(),
            digest: String::new(),
            settings,
            points,
        };
        let first = self.first_point(&plan)?;
        plan.digest.clone_from(&first.digest);
        let folder = self.out.clone().unwrap_or_else(|| {
            let mut name = self.scene.file_stem().unwrap_or_default().to_owned();
            name.push(".sweep");
            name.into()
        });
        if self.dry_run {
            return self.list(&plan, &folder);
        }
        let program = std::env::current_exe().map_err(|error| Failure::Run(format!("the path of this program is unknown: {error}")))?;
        let gpus = self.gpus.map(|asked| self.gpus_to_use(asked as usize)).transpose()?;
        let control = signals()?;
        let _owned = plan.claim(&folder)?;
        let mut sweep = Sweep::new(&plan, &folder, self)?;
        let places = self.places(&first, gpus, sweep.unfinished().count());
        sweep.begin(&places);
        sweep.complete(&program, &places, &control.stop);
        sweep.conclude()
    }

    /// Settings of all points.
    fn settings(&self) -> Settings {
        let mut place = self.place.clone();
        if self.gpus.is_some() {
            place.device.get_or_insert(Device::Gpu(None));
        }
        let until = self.until.clone().map(|until| ("run.until".to_owned(), until));
        self.settings.iter().cloned().chain(place.overrides()).chain(until).collect()
    }

    fn keys(&self) -> Vec<&str> {
        self.vary.iter().map(|variation| variation.key.as_str()).collect()
    }

    /// The values of all keys at each point. Each value is checked with the first values of the other keys.
    fn rows(&self, settings: &[(String, String)]) -> Result<Vec<Vec<String>>, Failure> {
        let mut keys = BTreeSet::new();
        for key in self.keys() {
            if !keys.insert(key) {
                return Err(Failure::Input(format!(
                    "{key} is varied twice; give all of its values in one --vary"
                )));
            }
            if settings.iter().any(|(set, _)| set == key) {
                return Err(Failure::Input(format!(
                    "{key} is varied, and also set for all points; leave one of the two out"
                )));
            }
        }
        let Some(sample) = self.sample else {
            let rows = plan::grid(&self.vary).map_err(Failure::Input)?;
            let all: Result<Vec<Vec<String>>, String> = self.vary.iter().map(Variation::all).collect();
            self.check_values(settings, &all.map_err(Failure::Input)?)?;
            return Ok(rows);
        };
        let mut columns = Vec::new();
        for variation in &self.vary {
            let shares = sample.shares(self.sample_seed, &variation.key);
            let is_accepted = |value: &str| {
                let is_for_it = |found: &Diagnostics| found.list().iter().all(|one| !one.message.contains(&variation.key));
                let with = [settings, &[(variation.key.clone(), value.to_owned())]].concat();
                check_keys(&self.scene, &with).map_or_else(|found| is_for_it(&found), |()| true)
            };
            columns.push(variation.at(&shares, is_accepted).map_err(Failure::Input)?);
        }
        self.check_values(settings, &columns)?;
        let count = columns.first().map_or(0, Vec::len);
        Ok((0..count)
            .map(|k| columns.iter().map(|column| column[k].clone()).collect())
            .collect())
    }

    /// Refuses unknown keys and values that cannot be read, before anything is run.
    fn check_values(&self, settings: &[(String, String)], columns: &[Vec<String>]) -> Done {
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
                check_keys(&self.scene, &with).map_err(|found| Failure::Scene(Box::new(found)))?;
            }
        }
        Ok(())
    }

    /// Loads the first point that can be loaded. A point that cannot is a failure of its own, unless no point can.
    fn first_point(&self, plan: &Plan) -> Result<FirstPoint, Failure> {
        let text = std::fs::read_to_string(&self.scene)
            .map_err(|error| Failure::Input(format!("{}: cannot be read: {error}", self.scene.display())))?;
        let mut refused = None;
        for point in &plan.points {
            let files = Mutex::new(BTreeSet::new());
            let place = |path: PathBuf| {
                files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
                path
            };
            match load_text_from(&text, &self.scene, &plan.overrides(point), &place) {
                Ok(scene) => {
                    let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
                    return Ok(FirstPoint {
                        threads: scene.settings.threads,
                        is_on_cpu: scene.settings.device == DeviceChoice::Cpu,
                        digest: digest(&text, &files)?,
                    });
                }
                Err(found) => {
                    refused.get_or_insert(found);
                }
            }
        }
        Err(refused.map_or_else(
            || Failure::Input("there is no point; give values with --vary".to_owned()),
            |found| Failure::Scene(Box::new(found)),
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
    fn gpus_to_use(&self, asked: usize) -> Result<Vec<String>, Failure> {
        let found = list().found;
        let api = match self.place.device {
            None | Some(Device::Gpu(None)) => found.first().map(|gpu| gpu.api),
            Some(Device::Of(api, _)) => Some(api),
            Some(device) => {
                return Err(Failure::Input(format!(
                    "--gpus gives each point a GPU of its own, and --device {device} does not name a kind of GPU; leave one of the two out, or give \
                     --device cuda or wgpu"
                )));
            }
        };
        let alike = found.iter().filter(|gpu| Some(gpu.api) == api);
        let alike: Vec<String> = alike.map(|gpu| Device::Of(gpu.api, gpu.index).to_string()).collect();
        if alike.len() < asked {
            return Err(Failure::Input(format!(
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

    /// Lists the points.
    fn list(&self, plan: &Plan, folder: &Path) -> Done {
        let mut text = String::new();
        for point in &plan.points {
            let state = if is_finished(&folder.join(&point.name)) {
                State::Finished
            } else {
                State::Waiting
            };
            if self.voice.json {
                terminal::json(
                    &json!({"event": "point", "point": point.name, "state": state.word(), "settings": as_object(&point.settings)}),
                )?;
            }
            text += &format!("{}  {:8}  {}\n", point.name, state.word(), point.text());
        }
        if self.voice.json {
            return Ok(());
        }
        terminal::out(&format!(
            "{text}{} into {}",
            terminal::many(plan.points.len(), "point"),
            folder.display()
        ))
    }
}

/// Settings as an object of JSON.
fn as_object(settings: &[(String, String)]) -> serde_json::Map<String, serde_json::Value> {
    settings.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect()
}

/// BLAKE3 of a scene and of the files that it names.
fn digest(text: &str, files: &BTreeSet<PathBuf>) -> Result<String, Failure> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.as_bytes());
    for path in files {
        let hashed = File::open(path).and_then(|file| hasher.update_reader(file).map(|_| ()));
        hashed.map_err(|error| Failure::Run(format!("{}: cannot be read: {error}", path.display())))?;
    }
    Ok(hasher.finalize().to_string())
}

/// A sweep while it runs.
struct Sweep<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    arguments: &'a SweepArguments,
    states: Vec<State>,
    results: Vec<Option<Results>>,
    bar: ProgressBar,
    last_line: Instant,
    last_table: Instant,
    /// Whether a point has started or ended since the table was written.
    is_table_old: bool,
    /// Why the table or a line could not be written.
    failure: Option<Failure>,
}

impl<'a> Sweep<'a> {
    /// The sweep as far as it is finished in its folder.
    fn new(plan: &'a Plan, folder: &'a Path, arguments: &'a SweepArguments) -> Result<Sweep<'a>, Failure> {
        let mut sweep = Sweep {
            plan,
            folder,
            arguments,
            states: vec![State::Waiting; plan.points.len()],
            results: plan.points.iter().map(|_| None).collect(),
            bar: bar(arguments.voice.quiet || arguments.voice.json),
            last_line: Instant::now(),
            last_table: Instant::now(),
            is_table_old: false,
            failure: None,
        };
        for index in 0..plan.points.len() {
            if is_finished(&sweep.folder_of(index)) {
                sweep.states[index] = State::Finished;
                sweep.results[index] = Some(sweep.read(index)?);
            }
        }
        sweep.write()?;
        Ok(sweep)
    }

    fn folder_of(&self, index: usize) -> PathBuf {
        self.folder.join(&self.plan.points[index].name)
    }

    fn read(&self, index: usize) -> Result<Results, Failure> {
        Ok(Results::read(&self.folder_of(index), self.arguments.average_from)?)
    }

    /// Writes the table.
    fn write(&self) -> Done {
        let text = results::text(self.plan, &self.states, &self.results);
        write_file(&self.folder.join(TABLE), text.as_bytes())
    }

    fn unfinished(&self) -> impl Iterator<Item = usize> {
        let states = self.states.iter().enumerate();
        states.filter(|(_, state)| **state != State::Finished).map(|(index, _)| index)
    }

    fn count(&self, of: impl Fn(&State) -> bool) -> usize {
        self.states.iter().filter(|state| of(state)).count()
    }

    /// Reports what begins.
    fn begin(&mut self, places: &[Place]) {
        self.bar.set_length(PARTS * self.states.len() as u64);
        self.show();
        self.bar.reset_eta();
        let of_place = |place: &Place| match (&place.device, place.threads) {
            (Some(device), _) => device.clone(),
            (None, Some(threads)) => terminal::many(threads, "thread"),
            (None, None) => "threads as the scene sets them".to_owned(),
        };
        let on: Vec<String> = places.iter().map(of_place).collect();
        let (points, left) = (terminal::many(self.states.len(), "point"), self.unfinished().count());
        let places = on.join(" | ");
        self.say(&format!(
            "{points} into {}, {left} of them to run, on {places}",
            self.folder.display()
        ));
    }

    fn say(&self, text: &str) {
        if !self.arguments.voice.quiet && !self.arguments.voice.json {
            self.bar.suspend(|| terminal::note(text));
        }
    }

    /// Runs the points that are not finished, in order, one after the other at each place, until `stop`.
    fn complete(&mut self, program: &Path, places: &[Place], stop: &AtomicBool) {
        let queue = Mutex::new(self.unfinished().collect::<Vec<usize>>().into_iter());
        let inputs: Vec<Input> = places.iter().map(|_| Input::default()).collect();
        let (plan, folder, scene) = (self.plan, self.folder, self.arguments.scene.as_path());
        let (sender, messages) = channel();
        let next = || {
            let is_stopped = stop.load(Ordering::Relaxed);
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            if is_stopped { None } else { queue.next() }
        };
        thread::scope(|scope| {
            for (place, input) in places.iter().zip(&inputs) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some(index) = next() {
                        let point = &plan.points[index];
                        let process = PointProcess {
                            program,
                            scene,
                            overrides: plan.overrides(point),
                            folder: folder.join(&point.name),
                            place,
                        };
                        // The receiver waits for all senders to go.
                        let mut report = |share: f64| drop(sender.send((index, State::Running(share))));
                        report(0.0);
                        let ended = process.complete(stop, input, &mut report);
                        let _ = sender.send((index, ended));
                    }
                });
            }
            drop(sender);
            loop {
                let entered = match messages.recv_timeout(LOOK_EVERY) {
                    Ok((index, state)) => self.enter(index, state),
                    Err(RecvTimeoutError::Timeout) => Ok(()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                let written = entered.and_then(|()| self.update());
                if let Err(failure) = written {
                    // Without its table, the sweep stops.
                    self.failure.get_or_insert(failure);
                    stop.store(true, Ordering::Relaxed);
                }
                if stop.load(Ordering::Relaxed) {
                    inputs.iter().for_each(Input::end);
                }
                self.show();
            }
        });
        self.bar.finish_and_clear();
    }

    /// Takes a new state of a point, and reports a point that has ended.
    fn enter(&mut self, index: usize, state: State) -> Done {
        self.is_table_old |= state.word() != self.states[index].word();
        self.states[index] = state;
        let point = &self.plan.points[index];
        let word = self.states[index].word();
        let mut reason = String::new();
        match &self.states[index] {
            State::Waiting | State::Running(_) => return Ok(()),
            State::Finished => self.results[index] = Some(self.read(index)?),
            State::Interrupted => {}
            State::Failed(why) => reason = format!(": {why}"),
        }
        let seconds = self.results[index].as_ref().map(|results| results.wall_time);
        if self.arguments.voice.json {
            let settings = as_object(&point.settings);
            let reason = reason.strip_prefix(": ");
            terminal::json(
                &json!({"event": "point", "point": point.name, "state": word, "settings": settings, "wall_time": seconds, "reason": reason}),
            )?;
        }
        let lasted = seconds.map_or_else(String::new, |seconds| format!(" in {}", terminal::duration(seconds)));
        self.say(&format!("{} ({}) {word}{lasted}{reason}", point.name, point.text()));
        Ok(())
    }

    /// Writes the table if a point has started or ended since, unless it was written a moment ago.
    fn update(&mut self) -> Done {
        if !self.is_table_old || self.last_table.elapsed() < REPORT_EVERY {
            return Ok(());
        }
        self.is_table_old = false;
        self.last_table = Instant::now();
        self.write()
    }

    /// Shows the progress of all points.
    fn show(&mut self) {
        let share = |state: &State| match state {
            State::Running(share) => *share,
            State::Finished | State::Failed(_) => 1.0,
            State::Waiting | State::Interrupted => 0.0,
        };
        let done: f64 = self.states.iter().map(share).sum();
        let [finished, running, failed] = ["finished", "running", "failed"].map(|word| self.count(|state| state.word() == word));
        let points = self.states.len();
        self.bar.set_position((PARTS as f64 * done) as u64);
        self.bar.set_message(format!(
            "{finished} of {points} points finished · {running} running · {failed} failed"
        ));
        if self.arguments.voice.json && self.last_line.elapsed() >= REPORT_EVERY {
            self.last_line = Instant::now();
            let line = json!({"event": "progress", "points": points, "finished": finished, "running": running, "failed": failed, "share": done / points as f64});
            if let Err(failure) = terminal::json(&line) {
                self.failure.get_or_insert(failure);
            }
        }
    }

    /// Writes the table and reports how the sweep ended.
    fn conclude(self) -> Done {
        let points = self.states.len();
        let finished = self.count(|state| *state == State::Finished);
        let table = self.folder.join(TABLE);
        let failed: Vec<String> = self
            .plan
            .points
            .iter()
            .zip(&self.states)
            .filter_map(|(point, state)| match state {
                State::Failed(reason) => Some(format!("\n{} ({}): {reason}", point.name, point.text())),
                _ => None,
            })
            .collect();
        let written = self.write();
        self.failure.map_or(written, Err)?;
        if finished + failed.len() < points {
            return Err(Failure::Interrupted(format!(
                "stopped with {finished} of {points} points finished; the same command continues{}",
                failed.concat()
            )));
        }
        if !failed.is_empty() {
            return Err(Failure::Run(format!(
                "{} of {points} points failed; the others are in {}. The same command tries them again{}",
                failed.len(),
                table.display(),
                failed.concat()
            )));
        }
        if self.arguments.voice.json {
            return terminal::json(&json!({"event": "finished", "points": points, "table": table.display().to_string()}));
        }
        if self.arguments.voice.quiet {
            return Ok(());
        }
        terminal::out(&format!(
            "{} finished; their settings and results are in {}",
            terminal::many(points, "point"),
            table.display()
        ))
    }
}
