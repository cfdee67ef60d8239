//! Runs over several values.

use crate::errors;
use crate::scene::Scene;
use pyo3::prelude::*;
use seixo::device_options::DeviceArguments;
use seixo::scene::Device;
use seixo::sweep::{Program, Request, Sample, Settings, Sweep, SweepEnd, SweepError, SweepObserver, SweepProgress, Variation};
use std::ffi::OsString;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Wall time between two looks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The values of a key: a text such as `1..5`, or a list of values.
#[derive(FromPyObject)]
enum Values {
    Text(String),
    List(Vec<String>),
}

/// Options of a sweep, as items of a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SweepOptions {
    settings: Settings,
    sample: Option<String>,
    sample_seed: u64,
    device: Option<String>,
    precision: Option<String>,
    jobs: Option<u32>,
    threads: Option<u32>,
    gpus: Option<u32>,
    average_from: f64,
}

/// The points of a sweep, whose values are checked.
#[pyclass(frozen, module = "seixo._seixo")]
pub struct SweepPlan(Sweep);

#[pymethods]
impl SweepPlan {
    #[new]
    fn new(py: Python<'_>, scene: &Bound<'_, Scene>, vary: Vec<(String, Values)>, options: SweepOptions) -> PyResult<SweepPlan> {
        let (path, text) = file_or_text(py, scene)?;
        let variations: Result<Vec<Variation>, String> = vary.into_iter().map(variation).collect();
        let sample = options.sample.map(|text| text.parse::<Sample>()).transpose();
        let device = options.device.map(|text| text.parse::<Device>()).transpose();
        let request = Request {
            text,
            vary: variations.map_err(errors::wrong)?,
            sample: sample.map_err(errors::wrong)?,
            sample_seed: options.sample_seed,
            settings: options.settings,
            place: DeviceArguments {
                device: device.map_err(errors::wrong)?,
                precision: options.precision,
            },
            jobs: options.jobs,
            threads: options.threads,
            gpus: options.gpus,
            average_from: options.average_from,
            ..Request::new(path)
        };
        // Files of the scene are read and grains are placed.
        let planned = py.detach(|| Sweep::new(request));
        planned.map(SweepPlan).map_err(|error| of_sweep(py, &error))
    }

    /// Names and settings of the points, in order.
    #[getter]
    fn points(&self) -> Vec<(String, Settings)> {
        let points = self.0.points().iter();
        points.map(|point| (point.name.clone(), point.settings.clone())).collect()
    }

    /// Runs the points that are not finished in a folder. `program` starts the command line; `show` receives the numbers of points, of those that are
    /// finished, running and failed, and of those that are done, with shares.
    fn run(&self, py: Python<'_>, folder: PathBuf, program: Vec<OsString>, show: Option<Py<PyAny>>) -> PyResult<()> {
        let mut words = program.into_iter();
        let path = words.next().unwrap_or_default();
        let program = Program::new(path.into(), words.collect());
        let sweep = &self.0;
        let (ended, watched) = py.detach(|| run_watched(sweep, &folder, &program, show.as_ref()));
        watched?;
        ended.map(|_| ()).map_err(|error| of_sweep(py, &error))
    }
}

/// The path of a scene, and its text if that is not what the file has.
fn file_or_text(py: Python<'_>, scene: &Bound<'_, Scene>) -> PyResult<(PathBuf, Option<String>)> {
    let scene = scene.borrow();
    let path = scene.path().to_owned();
    if std::fs::read_to_string(&path).is_ok_and(|text| text == scene.text()) {
        return Ok((path, None));
    }
    // The resolved text names files by absolute paths, so that it may be read from another folder.
    let loaded = scene.load(&[]).map_err(|found| errors::of_scene(py, &found))?;
    Ok((path, Some(loaded.resolved)))
}

fn variation((key, values): (String, Values)) -> Result<Variation, String> {
    match values {
        Values::Text(text) => format!("{key}={text}").parse(),
        Values::List(values) => Ok(Variation::of_values(key, values)),
    }
}

/// The newest progress, which the thread of Python shows.
#[derive(Default)]
struct Latest(Mutex<Option<SweepProgress>>);

impl Latest {
    fn take(&self) -> Option<SweepProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl SweepObserver for &Latest {
    fn progress(&mut self, progress: &SweepProgress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
    }
}

/// Runs a sweep on a thread of its own, so that Python sees Ctrl-C meanwhile. An error of Python stops the sweep.
fn run_watched(sweep: &Sweep, folder: &Path, program: &Program, show: Option<&Py<PyAny>>) -> (Result<SweepEnd, SweepError>, PyResult<()>) {
    let stop = AtomicBool::new(false);
    let latest = Latest::default();
    thread::scope(|scope| {
        let running = scope.spawn(|| sweep.run(folder, program, &stop, &mut &latest));
        let mut watched = Ok(());
        while !running.is_finished() {
            thread::sleep(LOOK_EVERY);
            if watched.is_ok() {
                watched = Python::attach(|py| look(py, show, latest.take()));
                stop.store(watched.is_err(), Ordering::Relaxed);
            }
        }
        let ended = running.join().unwrap_or_else(|panic| resume_unwind(panic));
        (ended, watched)
    })
}

/// Lets handlers of signals run, and shows the progress.
fn look(py: Python<'_>, show: Option<&Py<PyAny>>, progress: Option<SweepProgress>) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(show), Some(now)) = (show, progress) {
        show.call1(py, (now.points, now.finished, now.running, now.failed, now.done))?;
    }
    Ok(())
}

fn of_sweep(py: Python<'_>, error: &SweepError) -> PyErr {
    match error {
        SweepError::Input(text) => errors::wrong(text.clone()),
        SweepError::Scene(found) => errors::of_scene(py, found),
        SweepError::Run(error) => errors::of_run(py, error),
        SweepError::Files(error) => errors::of_files(error),
    }
}

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SweepPlan>()
}
