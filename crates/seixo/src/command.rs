//! The commands, one file each, and what they share: flags, failures, progress.

pub mod bench;
pub mod check;
pub mod explain;
pub mod film;
pub mod info;
pub mod new;
pub mod picture;
pub mod plot;
pub mod ranks;
pub mod resume;
pub mod run;
pub mod slice;
pub mod spheres;
pub mod surface;
pub mod view;
mod watch;

use crate::say;
use clap::Args;
use seixo::place::{DivisionArguments, PlaceArguments};
use seixo::run::RunError;
use seixo::scene::quantity::{self, Parsed};
use seixo::scene::{Complaint, Diagnostics, Scene};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Why a command did not do what it was asked to.
pub enum Failure {
    /// The input is wrong.
    Input(String),
    /// The scene is wrong.
    Scene(Box<Diagnostics>),
    /// The run, or the machine, failed.
    Run(String),
    /// It was interrupted; what it says is how to go on.
    Interrupted(String),
    /// It was said already.
    Told(u8),
}

/// What a command comes to.
pub type Done = Result<(), Failure>;

/// The exit code of a run that was interrupted and can go on.
const INTERRUPTED: u8 = 130;

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Input(_) | Failure::Scene(_) => 2,
            Failure::Run(_) => 1,
            Failure::Interrupted(_) => INTERRUPTED,
            Failure::Told(code) => *code,
        }
    }

    /// Whether nothing went wrong but that it was interrupted.
    fn is_interruption(&self) -> bool {
        self.code() == INTERRUPTED
    }

    /// Says what is wrong and gives the exit code.
    pub fn exit(&self) -> ExitCode {
        match self {
            Failure::Input(text) | Failure::Run(text) => say::error(text),
            Failure::Scene(diagnostics) => say::found(diagnostics),
            Failure::Interrupted(text) => say::note(text),
            Failure::Told(_) => {}
        }
        // Other ranks would wait for this one.
        #[cfg(feature = "mpi")]
        seixo::transport::end_job(self.code());
        ExitCode::from(self.code())
    }

    /// Says it as a line of JSON instead, if that is wanted.
    pub fn told(self, as_json: bool) -> Failure {
        if !as_json {
            return self;
        }
        let line = match &self {
            Failure::Input(text) | Failure::Run(text) => json!({"event": "error", "exit_code": self.code(), "message": text}),
            Failure::Scene(found) => {
                let (diagnostics, further) = (found.to_json(), found.further());
                json!({"event": "error", "exit_code": 2, "message": "the scene is wrong", "diagnostics": diagnostics, "further_checks": further})
            }
            Failure::Interrupted(text) => json!({"event": "interrupted", "exit_code": INTERRUPTED, "message": text}),
            Failure::Told(_) => return self,
        };
        match say::json(&line) {
            Ok(()) => Failure::Told(self.code()),
            // Then the error stream tells it.
            Err(_) => self,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Scene(diagnostics) => Failure::Scene(Box::new(diagnostics)),
            error if error.is_input() => Failure::Input(error.to_string()),
            error => Failure::Run(error.to_string()),
        }
    }
}

impl From<Complaint> for Failure {
    fn from(complaint: Complaint) -> Failure {
        let Complaint { message, limit, remedy } = complaint;
        let limit = limit.map(|limit| format!(" (accepted: {limit})")).unwrap_or_default();
        Failure::Input(format!("{message}{limit}; {remedy}"))
    }
}

impl From<seixo::files::FilesError> for Failure {
    fn from(error: seixo::files::FilesError) -> Failure {
        Failure::Run(error.to_string())
    }
}

/// The flags that change a scene; each stands for a `--set`.
#[derive(Args, Clone, Debug, Default)]
pub struct Changes {
    /// Change a value of the scene; repeat it for more
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    limits: Limits,
}

/// The flags that change where, on how many threads and how far a scene runs.
#[derive(Args, Clone, Debug, Default)]
pub struct Limits {
    #[command(flatten)]
    place: PlaceArguments,
    /// Threads; 0 = all cores, but one among ranks of MPI, of which each has as many. Results are the same bits on any number
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    #[command(flatten)]
    division: DivisionArguments,
    /// Simulated time at which the run ends, such as "5 s" or 5
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl Limits {
    fn overrides(&self) -> Vec<(String, String)> {
        let threads = self.threads.map(|threads| ("run.threads".to_owned(), threads.to_string()));
        let place = self.place.overrides();
        place
            .into_iter()
            .chain(threads)
            .chain(self.division.overrides())
            .chain(self.until.clone().map(|until| ("run.until".to_owned(), until)))
            .collect()
    }
}

impl Changes {
    fn overrides(&self) -> Vec<(String, String)> {
        [self.settings.clone(), self.limits.overrides()].concat()
    }

    /// Reads the scene with the changes.
    fn load(&self, scene: &Path) -> Result<Scene, Failure> {
        load(scene, &self.overrides())
    }
}

/// Reads a scene with changes.
fn load(scene: &Path, overrides: &[(String, String)]) -> Result<Scene, Failure> {
    seixo::scene::load(scene, overrides).map_err(|diagnostics| Failure::Scene(Box::new(diagnostics)))
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write it as path.to.key=value, such as run.until=2 or \"material.glass.youngs_modulus=1 GPa\"".to_owned()),
    }
}

/// A number in SI from the command line; what names a unit must be of the kind of `unit`.
fn quantity_in(unit: &str, text: &str) -> Result<Parsed, String> {
    let parsed = quantity::parse(text).map_err(|complaint| format!("{}; {}", complaint.message, complaint.remedy))?;
    let wanted = quantity::parse(&format!("1 {unit}")).ok().and_then(|one| one.powers);
    match (parsed.powers, wanted) {
        (Some(found), Some(wanted)) if found != wanted => Err(format!("\"{text}\" is {found}, but {wanted} belongs here")),
        _ => Ok(parsed),
    }
}

/// How much a command says.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Voice {
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object a line on the standard output
    #[arg(long)]
    json: bool,
}

/// Writes a manual page for each command into a folder.
pub fn manual(program: clap::Command, folder: &Path) -> Done {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error| Failure::Run(format!("manual pages cannot be written into {}: {error}", folder.display())))
}

/// Writes a file that a command makes beside a run, whole or not at all.
fn write_file(path: &Path, bytes: &[u8]) -> Done {
    use seixo::files::{FilesError, layer};
    let path: PathBuf = path.to_owned();
    let written = layer::replace(&layer::Disk, &path, bytes);
    written.map_err(|source| {
        FilesError::Disk {
            path,
            action: "write it",
            source,
        }
        .into()
    })
}
