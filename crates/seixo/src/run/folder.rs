//! What lies where in a run folder.

use super::RunError;
use seixo_files::FilesError;
use seixo_files::checkpoint::FILE_NAME;
use seixo_files::layer::FileLayer;
use seixo_files::owner::{Owner, Ownership, holder};
use std::io;
use std::path::{Path, PathBuf};

/// What ran and how it went.
pub const RECORD: &str = "run.json";
/// Which process writes into the folder; there while one does.
pub const LOCK: &str = "lock";
/// The scene with every default filled in.
pub const SCENE: &str = "scene.toml";
/// What happened when.
pub const LOG: &str = "log.jsonl";
/// The energy ledger over time.
pub const ENERGIES: &str = "energies.csv";
/// What came through inlets and what zones took, over time.
pub const EXCHANGE: &str = "exchange.csv";
/// Table of the bonds that broke.
pub const BREAKS: &str = "bonds.csv";
/// Table of the fragments that bonded grains are in, at the newest checkpoint.
pub const FRAGMENTS: &str = "fragments.csv";
/// Seconds per pass.
pub const PROFILE: &str = "profile.csv";
/// What CPU and GPU were at in the latest steps, where both are at work at the same time.
pub const TRACE: &str = "trace.csv";
/// Folder of the probes' tables.
pub const PROBES: &str = "probes";
/// Folder of the frames.
pub const FIELDS: &str = "fields";
/// Folder of the contacts of frames, where a scene asks for them.
pub const CONTACTS: &str = "contacts";
/// Folder of coarse-grained fields, where a scene asks for them.
pub const COARSE: &str = "coarse";
/// Folder of the checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";

/// The folder of a scene's run where none is named: `silo.toml` runs into `silo.out`, here.
pub fn of_scene(scene: &Path) -> PathBuf {
    let mut name = scene.file_stem().unwrap_or_default().to_owned();
    name.push(".out");
    name.into()
}

/// Turns the system's answer into a message that names the file.
pub(super) fn disk(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> FilesError {
    let path = path.to_owned();
    move |source| FilesError::Disk { path, action, source }
}

/// Whether there is a file or folder of this name.
fn is_there(layer: &dyn FileLayer, path: &Path) -> Result<bool, FilesError> {
    layer.exists(path).map_err(disk(path, "look at it"))
}

/// What is in the folder.
fn list(layer: &dyn FileLayer, folder: &Path) -> Result<Vec<PathBuf>, FilesError> {
    layer.list(folder).map_err(disk(folder, "list it"))
}

/// Refuses a folder into which another process writes, and one that holds anything, unless it is a run folder and may be overwritten.
///
/// # Errors
/// If it is refused, or cannot be looked at.
pub fn check_free(layer: &dyn FileLayer, folder: &Path, overwrite: bool) -> Result<(), RunError> {
    if !is_there(layer, folder)? || list(layer, folder)?.is_empty() {
        return Ok(());
    }
    match holder(layer, &folder.join(LOCK))? {
        Some(holder) => Err(RunError::owned(folder, holder)),
        None => check_content(layer, folder, overwrite),
    }
}

/// Refuses a folder that holds anything but a lock, unless it is a run folder and may be overwritten.
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

/// Whether a run that begins makes this before its record: folders, still empty, and what becomes the record.
fn is_of_a_beginning(layer: &dyn FileLayer, folder: &Path, path: &Path) -> bool {
    let is_one_of_its = |name: &&str| *path == folder.join(name);
    if [CHECKPOINTS, FIELDS, PROBES, CONTACTS, COARSE].iter().any(is_one_of_its) {
        layer.list(path).is_ok_and(|inside| inside.is_empty())
    } else {
        *path == folder.join(RECORD).with_extension("json.tmp")
    }
}

/// Makes this process the one that writes into a folder.
///
/// # Errors
/// If another one does, or the disk fails.
pub(super) fn own<'a>(layer: &'a dyn FileLayer, folder: &Path) -> Result<Ownership<'a>, RunError> {
    Ownership::claim(layer, &folder.join(LOCK))?.map_err(|holder| RunError::owned(folder, holder))
}

/// What should be told of who had the folder before, and ended without giving it back.
pub(super) fn taken_over(owned: Option<&Ownership>) -> Vec<String> {
    let before = owned.and_then(Ownership::before);
    let note = before.map(|before| {
        format!(
            "taken over from {before}, which ended without giving the folder back: it was killed, its machine stopped, or the folder was moved"
        )
    });
    note.into_iter().collect()
}

/// Space left where the folder is, or will be \[bytes\].
pub fn free_space(layer: &dyn FileLayer, folder: &Path) -> Result<u64, FilesError> {
    let whole = std::path::absolute(folder).map_err(disk(folder, "find its place"))?;
    let standing = whole.ancestors().find(|path| layer.exists(path).unwrap_or(false)).unwrap_or(&whole);
    layer.free_space(standing).map_err(disk(folder, "ask for the free space"))
}

/// Makes the folder and those inside it, all of them this process's, and removes what an earlier run wrote there, the record last.
pub(super) fn prepare<'a>(layer: &'a dyn FileLayer, folder: &Path, overwrite: bool) -> Result<Ownership<'a>, RunError> {
    layer.create_dir_all(folder).map_err(disk(folder, "create it"))?;
    let owned = own(layer, folder)?;
    // Another run may have been there since this one looked.
    check_content(layer, folder, overwrite)?;
    let insides = [CHECKPOINTS, FIELDS, PROBES].map(|inside| folder.join(inside));
    for inside in &insides {
        layer.create_dir_all(inside).map_err(disk(inside, "create it"))?;
    }
    // A checkpoint that survives a power cut needs the folders above it to survive, too; not every folder may be opened for that.
    layer.sync_dir(folder).map_err(disk(folder, "sync it"))?;
    let _ = layer.sync_dir(
        folder
            .parent()
            .filter(|above| !above.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
    );
    let mut left = Vec::new();
    for inside in [CONTACTS, COARSE].map(|inside| folder.join(inside)) {
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

/// Whether a run writes files of this name at this place.
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
        _ => false,
    }
}
