//! `seixo sweep`: runs a scene at many points of its parameters.

use super::watch::{bar, signals};
use super::{Done, Failure, Verbosity, quantity_in, setting};
use crate::device_options::DeviceArguments;
use crate::sweep::{
    Place, Point, Program, Request, Sample, State, Sweep, SweepError, SweepObserver, SweepProgress, Variation, is_finished,
};
use crate::terminal;
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Wall time between two lines of progress in JSON.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Length of the progress bar for each point.
const PARTS: f64 = 1000.0;

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

/// Runs the sweep, with points as processes of this program, or of the one that the host names.
pub fn sweep(arguments: &SweepArguments, program: Option<&Program>) -> Done {
    let is_json = arguments.voice.json;
    arguments.run(program).map_err(|failure| failure.with_json(is_json))
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Failure {
        match error {
            SweepError::Input(text) => Failure::Input(text),
            SweepError::Scene(found) => Failure::Scene(found),
            SweepError::Run(error) => Failure::from(*error),
            SweepError::Files(error) => Failure::from(error),
        }
    }
}

impl SweepArguments {
    fn run(&self, program: Option<&Program>) -> Done {
        let sweep = Sweep::new(self.request())?;
        let folder = self.out.clone().unwrap_or_else(|| {
            let mut name = self.scene.file_stem().unwrap_or_default().to_owned();
            name.push(".sweep");
            name.into()
        });
        if self.dry_run {
            return self.list(sweep.points(), &folder);
        }
        let program = match program {
            Some(program) => program.clone(),
            None => Program::this().map_err(|error| Failure::Run(format!("the path of this program is unknown: {error}")))?,
        };
        let control = signals()?;
        let mut watcher = SweepWatcher {
            voice: self.voice,
            folder: &folder,
            bar: bar(self.voice.quiet || self.voice.json),
            last_line: Instant::now(),
            stop: control.stop.clone(),
            failure: None,
        };
        let ended = sweep.run(&folder, &program, &control.stop, &mut watcher);
        watcher.bar.finish_and_clear();
        let end = ended?;
        if let Some(failure) = watcher.failure {
            return Err(failure);
        }
        let points = sweep.points();
        let failed: Vec<String> = end
            .failed()
            .map(|(index, reason)| format!("\n{} ({}): {reason}", points[index].name, points[index].text()))
            .collect();
        let (finished, points) = (end.finished(), points.len());
        if end.is_interrupted() {
            return Err(Failure::Interrupted(format!(
                "stopped with {finished} of {points} points finished; the same command continues{}",
                failed.concat()
            )));
        }
        if !failed.is_empty() {
            return Err(Failure::Run(format!(
                "{} of {points} points failed; the others are in {}. The same command tries them again{}",
                failed.len(),
                end.table.display(),
                failed.concat()
            )));
        }
        if self.voice.json {
            return terminal::json(&json!({"event": "finished", "points": points, "table": end.table.display().to_string()}));
        }
        if self.voice.quiet {
            return Ok(());
        }
        terminal::out(&format!(
            "{} finished; their settings and results are in {}",
            terminal::many(points, "point"),
            end.table.display()
        ))
    }

    fn request(&self) -> Request {
        let until = self.until.clone().map(|until| ("run.until".to_owned(), until));
        Request {
            vary: self.vary.clone(),
            sample: self.sample,
            sample_seed: self.sample_seed,
            settings: self.settings.iter().cloned().chain(until).collect(),
            place: self.place.clone(),
            jobs: self.jobs,
            threads: self.threads,
            gpus: self.gpus,
            average_from: self.average_from,
            ..Request::new(&self.scene)
        }
    }

    /// Lists the points.
    fn list(&self, points: &[Point], folder: &Path) -> Done {
        let mut text = String::new();
        for point in points {
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
            terminal::many(points.len(), "point"),
            folder.display()
        ))
    }
}

/// Settings as an object of JSON.
fn as_object(settings: &[(String, String)]) -> serde_json::Map<String, serde_json::Value> {
    settings.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect()
}

/// Shows a sweep: a progress bar and lines on the error stream, or JSON lines on the standard output.
struct SweepWatcher<'a> {
    voice: Verbosity,
    folder: &'a Path,
    bar: ProgressBar,
    last_line: Instant,
    /// Stops the sweep.
    stop: Arc<AtomicBool>,
    /// Why a line could not be printed.
    failure: Option<Failure>,
}

impl SweepWatcher<'_> {
    fn say(&self, text: &str) {
        if !self.voice.quiet && !self.voice.json {
            self.bar.suspend(|| terminal::note(text));
        }
    }

    /// Prints a line of JSON; the sweep stops if that fails.
    fn line(&mut self, value: &serde_json::Value) {
        if let Err(failure) = terminal::json(value) {
            self.failure.get_or_insert(failure);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl SweepObserver for SweepWatcher<'_> {
    fn begun(&mut self, progress: &SweepProgress, places: &[Place]) {
        self.bar.set_length((PARTS * progress.points as f64) as u64);
        self.progress(progress);
        self.bar.reset_eta();
        let of_place = |place: &Place| match (&place.device, place.threads) {
            (Some(device), _) => device.clone(),
            (None, Some(threads)) => terminal::many(threads, "thread"),
            (None, None) => "threads as the scene sets them".to_owned(),
        };
        let on: Vec<String> = places.iter().map(of_place).collect();
        self.say(&format!(
            "{} into {}, {} of them to run, on {}",
            terminal::many(progress.points, "point"),
            self.folder.display(),
            progress.points - progress.finished,
            on.join(" | ")
        ));
    }

    fn ended(&mut self, point: &Point, state: &State, wall_time: Option<f64>) {
        let reason = match state {
            State::Failed(reason) => Some(reason.as_str()),
            _ => None,
        };
        if self.voice.json {
            let settings = as_object(&point.settings);
            self.line(
                &json!({"event": "point", "point": point.name, "state": state.word(), "settings": settings, "wall_time": wall_time, "reason": reason}),
            );
        }
        let lasted = wall_time.map_or_else(String::new, |seconds| format!(" in {}", terminal::duration(seconds)));
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.say(&format!("{} ({}) {}{lasted}{reason}", point.name, point.text(), state.word()));
    }

    fn progress(&mut self, progress: &SweepProgress) {
        let SweepProgress {
            points,
            finished,
            running,
            failed,
            done,
        } = *progress;
        self.bar.set_position((PARTS * done) as u64);
        self.bar.set_message(format!(
            "{finished} of {points} points finished · {running} running · {failed} failed"
        ));
        if self.voice.json && self.last_line.elapsed() >= REPORT_EVERY {
            self.last_line = Instant::now();
            let share = done / points as f64;
            self.line(
                &json!({"event": "progress", "points": points, "finished": finished, "running": running, "failed": failed, "share": share}),
            );
        }
    }
}
