//! A point of a sweep as a process: `seixo run` or `seixo resume` in a folder of its own.

use super::plan::Settings;
use crate::failure::INTERRUPTED;
use crate::run::folder::{CHECKPOINTS, LOCK};
use crate::run::{Outcome, Record};
use seixo_device::THREADS_VARIABLE;
use seixo_files::checkpoint::FILE_NAME;
use seixo_files::layer::Disk;
use seixo_files::owner::{Holder, holder};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Wall time between two looks at a folder that another process owns.
const PAUSE: Duration = Duration::from_millis(50);

/// State of a point.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It was not begun by this process.
    Waiting,
    /// This share of its simulated time is done.
    Running(f64),
    /// It reached its end.
    Finished,
    /// It stopped after a checkpoint.
    Interrupted,
    /// It failed, for this reason.
    Failed(String),
}

impl State {
    /// The state in a word.
    pub fn word(&self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running(_) => "running",
            State::Finished => "finished",
            State::Interrupted => "interrupted",
            State::Failed(_) => "failed",
        }
    }
}

/// Standard input of the process of a point. The process stops after a checkpoint when it is dropped, also because this process was killed.
#[derive(Default)]
pub struct Input(Mutex<Option<ChildStdin>>);

impl Input {
    fn slot(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it.
    pub fn end(&self) {
        *self.slot() = None;
    }
}

/// Where points are computed, one after the other.
#[derive(Clone, Debug)]
pub struct Place {
    /// Number of threads; `None` if the scene gives it.
    pub threads: Option<usize>,
    /// Device; `None` if the scene gives it.
    pub device: Option<String>,
}

/// How the command line of Seixo is started as a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    /// A program that takes the words of a command, such as `run silo.toml`, after these arguments; for Python, `-m seixo`.
    pub fn new(path: PathBuf, arguments: Vec<OsString>) -> Program {
        Program { path, arguments }
    }

    /// This process is the command line.
    ///
    /// # Errors
    /// If the path of its program is unknown.
    pub fn this() -> io::Result<Program> {
        std::env::current_exe().map(|path| Program::new(path, Vec::new()))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        command
    }
}

/// A point to compute.
pub struct PointProcess<'a> {
    /// The command line of Seixo.
    pub program: &'a Program,
    /// Scene file.
    pub scene: &'a Path,
    /// Settings of the point.
    pub overrides: Settings,
    /// Folder of the point.
    pub folder: PathBuf,
    /// Where it is computed.
    pub place: &'a Place,
}

/// Whether the run in a folder reached its end.
pub fn is_finished(folder: &Path) -> bool {
    Record::read(&Disk, folder).is_some_and(|record| record.result == Outcome::Finished)
}

/// Whether a process owns a folder.
fn is_owned(folder: &Path) -> bool {
    matches!(holder(&Disk, &folder.join(LOCK)), Ok(Some(Holder { is_certain: true, .. })))
}

impl PointProcess<'_> {
    /// Computes the point, from its last checkpoint if there is one, until its end or until `stop`. `report` receives the share that is done.
    pub fn complete(&self, stop: &AtomicBool, input: &Input, report: &mut dyn FnMut(f64)) -> State {
        let is_stopped = || stop.load(Ordering::Relaxed);
        loop {
            // A sweep that was killed leaves processes that are about to stop.
            while is_owned(&self.folder) && !is_stopped() {
                thread::sleep(PAUSE);
            }
            if is_stopped() {
                return State::Waiting;
            }
            if is_finished(&self.folder) {
                return State::Finished;
            }
            let ended = run(self.command(), input, report);
            // Such a process may also claim the folder first.
            if !matches!(ended, State::Failed(_)) || !is_owned(&self.folder) {
                return ended;
            }
        }
    }

    /// The command that begins or continues the point.
    fn command(&self) -> Command {
        let mut command = self.program.command();
        let checkpoint = self.folder.join(CHECKPOINTS).join(FILE_NAME);
        if checkpoint.exists() || checkpoint.with_extension("checkpoint.prev").exists() {
            command.arg("resume").arg(&self.folder);
        } else {
            command.arg("run").arg(self.scene).arg("--out").arg(&self.folder);
            for (key, value) in &self.overrides {
                command.arg("--set").arg(format!("{key}={value}"));
            }
            if std::fs::read_dir(&self.folder).is_ok_and(|mut inside| inside.next().is_some()) {
                // It was killed before its first checkpoint.
                command.arg("--force");
            }
        }
        if let Some(device) = &self.place.device {
            command.args(["--device", device]);
        }
        if let Some(threads) = self.place.threads {
            // The option --threads would be stored in the scene of the point.
            command.env(THREADS_VARIABLE, threads.to_string());
        }
        command.args(["--json", "--stop-at-end-of-input"]);
        command
    }
}

/// Runs a command to its end.
fn run(mut command: Command, input: &Input, report: &mut dyn FnMut(f64)) -> State {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C in a terminal reaches this process only, which then ends the input of the others.
    let mut child = match command.process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => return State::Failed(format!("its process cannot be started: {error}")),
    };
    *input.slot() = child.stdin.take();
    let errors = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).trim().to_owned()
        })
    });
    let mut reason = None;
    let lines = child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
    for line in lines.map_while(Result::ok) {
        let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
        match line["event"].as_str() {
            Some("progress") => {
                if let (Some(time), Some(until)) = (line["time"].as_f64(), line["until"].as_f64()) {
                    report(time / until);
                }
            }
            Some("error") => reason = Some(reason_of(&line)),
            _ => {}
        }
    }
    let status = child.wait();
    input.end();
    let errors = errors.and_then(|reading| reading.join().ok()).unwrap_or_default();
    match status {
        Ok(status) if status.success() => State::Finished,
        Ok(status) if status.code() == Some(i32::from(INTERRUPTED)) => State::Interrupted,
        Ok(status) => State::Failed(reason.unwrap_or_else(|| format!("its process ended with {status}. {errors}").trim_end().to_owned())),
        Err(error) => State::Failed(format!("its process cannot be waited for: {error}")),
    }
}

/// The message of an error, or those of all errors of a scene.
fn reason_of(line: &Value) -> String {
    let of_one = |found: &Value| {
        let limit = found["limit"].as_str().map(|limit| format!("accepted: {limit}"));
        let parts = [found["message"].as_str(), limit.as_deref(), found["remedy"].as_str()];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    };
    let found: Vec<String> = line["diagnostics"].as_array().into_iter().flatten().map(of_one).collect();
    if found.is_empty() {
        line["message"].as_str().unwrap_or_default().to_owned()
    } else {
        found.join(". ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ended(script: &str) -> (State, Vec<f64>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut shares = Vec::new();
        let state = run(command, &Input::default(), &mut |share| shares.push(share));
        (state, shares)
    }

    #[test]
    fn a_process_ends_with_its_state_and_its_words() {
        let progress = r#"echo '{"event":"progress","time":0.5,"until":2}'; echo 'no JSON'"#;
        assert_eq!(ended(progress), (State::Finished, vec![0.25]));
        assert_eq!(ended("exit 130").0, State::Interrupted);
        let error = r#"echo '{"event":"error","message":"the disk is full"}'; exit 1"#;
        assert_eq!(ended(error).0, State::Failed("the disk is full".to_owned()));
        let State::Failed(reason) = ended("echo no memory >&2; kill -KILL $$").0 else {
            panic!("it was killed");
        };
        assert!(reason.contains("signal: 9") && reason.contains("no memory"), "{reason}");
        let missing = run(Command::new("/nonexistent"), &Input::default(), &mut |_| {});
        assert!(matches!(missing, State::Failed(reason) if reason.contains("cannot be started")));
    }

    #[test]
    fn all_errors_of_a_scene_are_listed() {
        let line = json!({"message": "the scene is wrong", "diagnostics": [
            {"message": "friction is -1", "limit": ">= 0", "remedy": "give another"},
            {"message": "no grains", "limit": null, "remedy": ""},
        ]});
        assert_eq!(reason_of(&line), "friction is -1; accepted: >= 0; give another. no grains");
    }
}
