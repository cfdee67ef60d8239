//! Runs into folders, and their progress.

use crate::errors;
use crate::scene::Scene;
use pyo3::prelude::*;
use seixo::run::{self, Control, Event, Observer, Options, Progress, RunError, folder};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Wall time between two looks at signals of Python.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Sends progress and events of a run as lines of JSON, as `seixo run --json` prints them.
struct Reporter(mpsc::Sender<String>);

impl Observer for Reporter {
    fn progress(&mut self, progress: &Progress) {
        let &Progress {
            time,
            until,
            steps,
            steps_at_end,
            grains,
            wall_time,
            particle_steps_per_second,
            kinetic,
            real_time_ratio,
        } = progress;
        let line = serde_json::json!({
            "event": "progress", "time": time, "until": until, "steps": steps, "steps_at_end": steps_at_end, "grains": grains,
            "wall_time": wall_time, "particle_steps_per_second": particle_steps_per_second, "kinetic": kinetic,
            "real_time_ratio": real_time_ratio,
        });
        // After an error no one listens.
        let _ = self.0.send(line.to_string());
    }

    fn event(&mut self, event: &Event) {
        let _ = self.0.send(serde_json::to_string(event).unwrap_or_default());
    }
}

/// Does the work on a thread of its own, and hands each line to `report`. A signal such as Ctrl-C, or an exception of `report`, lets the run write a
/// checkpoint and stop, and is then raised.
fn follow(
    py: Python<'_>,
    report: &Bound<'_, PyAny>,
    work: impl FnOnce(Control, &mut dyn Observer) -> Result<(), RunError> + Send + 'static,
) -> PyResult<()> {
    let control = Control::default();
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let of_worker = control.clone();
    let worker = thread::spawn(move || work(of_worker, &mut Reporter(sender)));
    let mut stopped: Option<PyErr> = None;
    loop {
        let line = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(LOOK_EVERY)
        });
        let heard = match line {
            Ok(line) if stopped.is_none() => report.call1((line,)).map(drop),
            Err(RecvTimeoutError::Disconnected) => break,
            Ok(_) | Err(RecvTimeoutError::Timeout) => Ok(()),
        };
        if let Err(error) = heard.and_then(|()| py.check_signals()) {
            control.stop.store(true, Ordering::Relaxed);
            stopped.get_or_insert(error);
        }
    }
    let ended = py.detach(move || worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
    let failed = ended.err().map(|error| errors::of_run(py, &error));
    match (stopped, failed) {
        (Some(error), failed) => {
            if failed.is_some() {
                error.set_cause(py, failed);
            }
            Err(error)
        }
        (None, Some(failed)) => Err(failed),
        (None, None) => Ok(()),
    }
}

/// Runs a scene into a folder, to its end; `report` gets each line of progress and of the log.
#[pyfunction]
fn run_scene(
    py: Python<'_>,
    scene: &Bound<'_, Scene>,
    folder: PathBuf,
    overrides: Vec<(String, String)>,
    overwrite: bool,
    report: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let (text, path) = {
        let scene = scene.borrow();
        (scene.text(), scene.path().to_owned())
    };
    follow(py, report, move |control, observer| {
        let scene = seixo::scene::load_text(&text, &path, &overrides).map_err(RunError::Scene)?;
        if control.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let options = Options {
            control,
            overwrite,
            ..Options::new(observer)
        };
        run::start(scene, &folder, options).map(drop)
    })
}

/// Resumes a run from the newest checkpoint of its folder; `moved` has old and new paths of files of the scene.
#[pyfunction]
fn resume_folder(
    py: Python<'_>,
    folder: PathBuf,
    overrides: Vec<(String, String)>,
    moved: Vec<(PathBuf, PathBuf)>,
    report: &Bound<'_, PyAny>,
) -> PyResult<()> {
    follow(py, report, move |control, observer| {
        let options = Options {
            control,
            moved,
            ..Options::new(observer)
        };
        run::resume(&folder, &overrides, options).map(drop)
    })
}

/// Default run folder of a scene, in the current folder.
#[pyfunction]
fn folder_of_scene(path: PathBuf) -> PathBuf {
    folder::of_scene(&path)
}

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_scene, module)?)?;
    module.add_function(wrap_pyfunction!(resume_folder, module)?)?;
    module.add_function(wrap_pyfunction!(folder_of_scene, module)?)
}
