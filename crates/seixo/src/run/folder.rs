//! Files and folders of a run folder.
//!
//! ```
//! use seixo::files::layer::{FaultyDisk, FileLayer};
//! use seixo::run::folder::{check_free, of_scene};
//! use std::path::Path;
//!
//! let folder = of_scene(Path::new("scenes/silo.toml"));
//! assert_eq!(folder, Path::new("silo.out"));
//! let disk = FaultyDisk::new();
//! check_free(&disk, &folder, false)?;
//! disk.create_dir_all(&folder)?;
//! disk.create(&folder.join("thesis.txt"))?;
//! assert!(check_free(&disk, &folder, true).is_err(), "no run wrote this file");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::RunError;
use seixo_files::FilesError;
use seixo_files::checkpoint::FILE_NAME;
use seixo_files::layer::FileLayer;
use seixo_files::owner::{Owner, Ownership, holder};
use std::io;
use std::path::{Path, PathBuf};

/// Record of the run.
pub const RECORD: &str = "run.json";
/// Name of the process that writes into the folder; exists while it does.
pub const LOCK: &str = "lock";
/// Scene with all defaults.
pub const SCENE: &str = "scene.toml";
/// Log of events.
pub const LOG: &str = "log.jsonl";
/// Table of the energy ledger over time.
pub const ENERGIES: &str = "energies.csv";
/// Table of grains that entered through inlets and were removed by zones, over time.
pub const EXCHANGE: &str = "exchange.csv";
/// Table of broken bonds.
pub const BREAKS: &str = "bonds.csv";
/// Table of the fragments of bonded grains, at the newest checkpoint.
pub const FRAGMENTS: &str = "fragments.csv";
/// Table of seconds per pass.
pub const PROFILE: &str = "profile.csv";
/// Table of the activity of CPU and GPU in the latest steps, if both compute at the same time.
pub const TRACE: &str = "trace.csv";
/// Folder with the tables of the probes.
pub const PROBES: &str = "probes";
/// Folder with results of probes that are no tables over time, if the scene requests them.
pub const RESULTS: &str = "results";
/// Folder with the frames.
pub const FIELDS: &str = "fields";
/// Folder with the contacts of frames, if the scene requests them.
pub const CONTACTS: &str = "contacts";
/// Folder with coarse-grained fields, if the scene requests them.
pub const COARSE: &str = "coarse";
/// Folder with the checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";

/// Returns the default run folder of a scene, in the current folder: `silo.out` for `silo.toml`.
pub fn of_scene(scene: &Path) -> PathBuf {
    let mut name = scene.file_stem().unwrap_or_default().to_owned();
    name.push(".out");
    name.into()
}

/// Converts an error of the system to one that names the file.
pub(crate) fn disk(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> FilesError {
    let path = path.to_owned();
    move |source| FilesError::Disk { path, action, source }
}

/// Whether a file or folder exists.
fn is_there(layer: &dyn FileLayer, path: &Path) -> Result<bool, FilesError> {
    layer.exists(path).map_err(disk(path, "look at it"))
}

/// Lists a folder.
fn list(layer: &dyn FileLayer, folder: &Path) -> Result<Vec<PathBuf>, FilesError> {
    layer.list(folder).map_err(disk(folder, "list it"))
}

/// Refuses a folder that another process owns. A folder with content is refused too, unless it is a run folder and `overwrite` is true.
///
/// # Errors
/// If the folder is refused or cannot be read.
pub fn check_free(layer: &dyn FileLayer, folder: &Path, overwrite: bool) -> Result<(), RunError> {
    if !is_there(layer, folder)? || list(layer, folder)?.is_empty() {
        return Ok(());
    }
    match holder(layer, &folder.join(LOCK))? {
        Some(holder) => Err(RunError::owned(folder, holder)),
        None => check_content(layer, folder, overwrite),
    }
}

/// Refuses a folder with more than a lock, unless it is a run folder and `overwrite` is true.
fn check_content(layer: &dyn FileLayer, folder: &Path, overwrite: bool) -> Result<(), RunError> {
    let lock = folder.join(LOCK);
    let mut inside = list(layer, folder)?;
    inside.retain(|path| *path != lock);
    if inside.is_empty() {
        return Ok(());
    }
    let here = || folder.to_owned();
    if is_there(layer, &folder.join(RECORD))? {
        return if overwrite {
            Ok(())
        } else {
            Err(RunError::Exists { folder: here() })
        };
    }
    let is_begun = Owner::named(layer, &lock).is_some() || inside.iter().all(|path| is_of_a_beginning(layer, folder, path));
    match (is_begun, overwrite) {
        (true, true) => Ok(()),
        (true, false) => Err(RunError::CutOff { folder: here() }),
        (false, _) => Err(RunError::Occupied { folder: here() }),
    }
}

/// Whether a run creates this path before its record: an empty folder, or the temporary file of the record.
fn is_of_a_beginning(layer: &dyn FileLayer, folder: &Path, path: &Path) -> bool {
    let is_one_of_its = |name: &&str| *path == folder.join(name);
    if [CHECKPOINTS, FIELDS, PROBES, CONTACTS, COARSE, RESULTS].iter().any(is_one_of_its) {
        layer.list(path).is_ok_and(|inside| inside.is_empty())
    } else {
        *path == folder.join(RECORD).with_extension("json.tmp")
    }
}

/// Makes this process the owner of a folder: only the owner writes.
///
/// # Errors
/// If another process owns it, or the disk fails.
pub fn own<'a>(layer: &'a dyn FileLayer, folder: &Path) -> Result<Ownership<'a>, RunError> {
    Ownership::claim(layer, &folder.join(LOCK))?.map_err(|holder| RunError::owned(folder, holder))
}

/// Returns a notice if the former owner ended without releasing the folder.
pub(super) fn taken_over(owned: Option<&Ownership>) -> Vec<String> {
    let before = owned.and_then(Ownership::before);
    let note = before.map(|before| {
        format!(
            "taken over from {before}, which ended without giving the folder back: it was killed, its machine stopped, or the folder was moved"
        )
    });
    note.into_iter().collect()
}

/// Returns the free space of the disk with the folder, which need not exist yet \[bytes\].
pub fn free_space(layer: &dyn FileLayer, folder: &Path) -> Result<u64, FilesError> {
    let whole = std::path::absolute(folder).map_err(disk(folder, "find its place"))?;
    let standing = whole.ancestors().find(|path| layer.exists(path).unwrap_or(false)).unwrap_or(&whole);
    layer.free_space(standing).map_err(disk(folder, "ask for the free space"))
}

/// Creates and claims the folder and its subfolders, and removes the files of an earlier run, its record last.
pub(super) fn prepare<'a>(layer: &'a dyn FileLayer, folder: &Path, overwrite: bool) -> Result<Ownership<'a>, RunError> {
    layer.create_dir_all(folder).map_err(disk(folder, "create it"))?;
    let owned = own(layer, folder)?;
    // Another run may have written there since the first check.
    check_content(layer, folder, overwrite)?;
    let insides = [CHECKPOINTS, FIELDS, PROBES].map(|inside| folder.join(inside));
    for inside in &insides {
        layer.create_dir_all(inside).map_err(disk(inside, "create it"))?;
    }
    // A checkpoint survives a power cut only if its parent folders do. The parent of the run folder may not be accessible, so its error is ignored.
    layer.sync_dir(folder).map_err(disk(folder, "sync it"))?;
    let _ = layer.sync_dir(
        folder
            .parent()
            .filter(|above| !above.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
    );
    let mut left = Vec::new();
    for inside in [CONTACTS, COARSE, RESULTS].map(|inside| folder.join(inside)) {
        if is_there(layer, &inside)? {
            left.push(inside);
        }
    }
    for inside in insides.iter().chain(&left).map(PathBuf::as_path).chain([folder]) {
        for path in list(layer, inside)? {
            if is_of_a_run(folder, &path) && !path.ends_with(RECORD) {
                layer.remove(&path).map_err(disk(&path, "remove it"))?;
            }
        }
    }
    let record = folder.join(RECORD);
    if is_there(layer, &record)? {
        layer.remove(&record).map_err(disk(&record, "remove it"))?;
    }
    Ok(owned)
}

/// Whether a run writes files with this path.
fn is_of_a_run(folder: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(folder) else { return false };
    let is_temporary = inside.extension().is_some_and(|ending| ending == "tmp");
    let inside = if is_temporary {
        inside.with_extension("")
    } else {
        inside.to_owned()
    };
    let has = |ending: &str| inside.extension().is_some_and(|own| own == ending);
    match inside.parent().and_then(Path::to_str) {
        Some("") => [RECORD, SCENE, LOG, ENERGIES, EXCHANGE, BREAKS, FRAGMENTS, PROFILE, TRACE]
            .iter()
            .any(|name| inside == Path::new(name)),
        Some(CHECKPOINTS) => inside
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(FILE_NAME)),
        Some(FIELDS | CONTACTS) => has("vtp") || has("pvd"),
        Some(COARSE) => has("vti") || has("pvd"),
        Some(PROBES) => has("csv"),
        Some(RESULTS) => has("csv") || has("vti"),
        _ => false,
    }
}
