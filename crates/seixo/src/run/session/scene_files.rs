//! The files that a scene names, which a session keeps: its checkpoints hold them, so a resume needs no other file.

use crate::run::RunError;
use crate::run::folder::disk;
use seixo_files::layer::{FileLayer, Unwritten};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest total size of the files that are kept, besides those in the temporary folder \[bytes\].
const LIMIT: u64 = 64 << 20;

/// A file of a scene.
pub(super) struct SceneFile {
    /// Its path in the text of the scene.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// The `earlier` files and those that are `named`, each by its path in the text of the scene and by its current one. Files in the system's temporary
/// folder are always kept, as they soon vanish; the others are kept if they are small.
pub(super) fn kept(named: impl IntoIterator<Item = (PathBuf, PathBuf)>, earlier: Vec<SceneFile>) -> Vec<SceneFile> {
    let temporary = std::env::temp_dir();
    let is_temporary = |path: &Path| path.starts_with(&temporary);
    let is_new = |path: &Path| earlier.iter().all(|file| file.path != path);
    // The folder of a run has no size. It may be huge, and remains where it is.
    let found: Vec<(PathBuf, PathBuf, u64)> = named
        .into_iter()
        .filter(|(path, _)| is_new(path))
        .filter_map(|(path, now)| Unwritten.size(&now).ok().map(|size| (path, now, size)))
        .collect();
    let total: u64 = found.iter().filter(|(path, ..)| !is_temporary(path)).map(|(.., size)| size).sum();
    let mut kept = earlier;
    for (path, now, _) in found {
        if total > LIMIT && !is_temporary(&path) {
            continue;
        }
        // Of a file that vanished after the scene was read, a resume says that it is missing.
        if let Ok(bytes) = Unwritten.read(&now) {
            kept.push(SceneFile { path, bytes });
        }
    }
    kept
}

/// A temporary folder with the files that are no longer there, or no longer the same; it is removed in the end.
pub(super) struct Unpacked {
    folder: Option<PathBuf>,
    /// Paths in the text of the scene, and in the folder.
    pub places: Vec<(PathBuf, PathBuf)>,
}

impl Unpacked {
    pub fn new(files: &[SceneFile]) -> Result<Unpacked, RunError> {
        let mut unpacked = Unpacked {
            folder: None,
            places: Vec::new(),
        };
        let is_there = |file: &SceneFile| Unwritten.read(&file.path).is_ok_and(|bytes| bytes == file.bytes);
        for (index, file) in files.iter().enumerate().filter(|(_, file)| !is_there(file)) {
            let folder = match &unpacked.folder {
                Some(folder) => folder.clone(),
                None => unpacked.folder.insert(new_folder()?).clone(),
            };
            // Files of the same name differ by the number; the ending may say what the file is.
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let place = folder.join(format!("{index}-{name}"));
            std::fs::write(&place, &file.bytes).map_err(disk(&place, "write it"))?;
            unpacked.places.push((file.path.clone(), place));
        }
        Ok(unpacked)
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // What cannot be removed is left to the system, as other temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Makes a folder that no one else has.
fn new_folder() -> Result<PathBuf, RunError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("seixo-scene-{}-{number}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(disk(&folder, "create it")(error).into()),
        }
    }
}
