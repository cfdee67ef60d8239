//! The commands, one file each, and their common parts: options, failures, output of files.

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
pub mod sweep;
pub mod table;
pub mod view;
mod watch;

pub use crate::failure::{Done, Failure};

use clap::Args;
use seixo::device_options::{DecompositionArguments, DeviceArguments};
use seixo::scene::Scene;
use seixo::scene::quantity::{self, Parsed};
use std::path::{Path, PathBuf};

/// Options that change a scene; each stands for a `--set`.
#[derive(Args, Clone, Debug, Default)]
pub struct SceneChanges {
    /// Change a value of the scene, such as --set run.until=2 or --set "material.glass.youngs_modulus=1 GPa"; repeat the option for more values
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    limits: Limits,
}

/// Options for device, threads, decomposition and end time.
#[derive(Args, Clone, Debug, Default)]
pub struct Limits {
    #[command(flatten)]
    place: DeviceArguments,
    /// Number of CPU threads; 0 = all cores, or 1 for each rank under MPI, where the number is per rank. Results have the same bits for any number
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    #[command(flatten)]
    decomposition: DecompositionArguments,
    /// Simulated time at which the run ends, such as "5 s" or 5 (seconds); default: run.until of the scene
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
            .chain(self.decomposition.overrides())
            .chain(self.until.clone().map(|until| ("run.until".to_owned(), until)))
            .collect()
    }
}

impl SceneChanges {
    fn overrides(&self) -> Vec<(String, String)> {
        [self.settings.clone(), self.limits.overrides()].concat()
    }

    /// Reads the scene with the changes.
    fn load(&self, scene: &Path) -> Result<Scene, Failure> {
        load(scene, &self.overrides())
    }
}

/// Reads a scene with overrides.
fn load(scene: &Path, overrides: &[(String, String)]) -> Result<Scene, Failure> {
    seixo::scene::load(scene, overrides).map_err(|diagnostics| Failure::Scene(Box::new(diagnostics)))
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write it as path.to.key=value, such as run.until=2 or \"material.glass.youngs_modulus=1 GPa\"".to_owned()),
    }
}

/// Parses a quantity of the command line in SI; a unit in the text must have the dimension of `unit`.
fn quantity_in(unit: &str, text: &str) -> Result<Parsed, String> {
    let parsed = quantity::parse(text).map_err(|complaint| format!("{}; {}", complaint.message, complaint.remedy))?;
    let wanted = quantity::parse(&format!("1 {unit}")).ok().and_then(|one| one.powers);
    match (parsed.powers, wanted) {
        (Some(found), Some(wanted)) if found != wanted => Err(format!("\"{text}\" is {found}, but {wanted} belongs here")),
        _ => Ok(parsed),
    }
}

/// Options for the amount of output.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Verbosity {
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    json: bool,
}

/// Writes a manual page for each command into a folder.
pub fn manual(program: clap::Command, folder: &Path) -> Done {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error| Failure::Run(format!("manual pages cannot be written into {}: {error}", folder.display())))
}

/// Creates a folder for files, with those above it.
fn create_folder(folder: &Path) -> Done {
    std::fs::create_dir_all(folder).map_err(|error| Failure::Run(format!("{}: cannot create it: {error}", folder.display())))
}

/// Writes a file completely or not at all.
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
