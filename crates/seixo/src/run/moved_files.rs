//! Finds the files of a scene after its run folder, or the files, were moved.

use super::RunError;
use seixo_files::layer::{Disk, FileLayer};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Returns the absolute path of a run folder, as stored in its record.
pub(super) fn whole(folder: &Path) -> String {
    std::path::absolute(folder)
        .unwrap_or_else(|_| folder.to_owned())
        .display()
        .to_string()
}

/// Moved paths, and files that are missing.
pub(super) struct MovedFiles {
    reported: Vec<(PathBuf, PathBuf)>,
    /// Old and new path of the run folder and of its parent folders, the nearest first.
    along: Vec<(PathBuf, PathBuf)>,
    missing: Mutex<Vec<PathBuf>>,
}

impl MovedFiles {
    /// For a run that started in the folder `first` and is in `folder` now. `reported` has the old and new paths that the user gives.
    pub fn new(reported: Vec<(PathBuf, PathBuf)>, first: &str, folder: &Path) -> MovedFiles {
        let now = whole(folder);
        let above = |path: &str| -> Vec<PathBuf> { Path::new(path).ancestors().map(Path::to_owned).collect() };
        MovedFiles {
            reported,
            along: above(first).into_iter().zip(above(&now)).collect(),
            missing: Mutex::default(),
        }
    }

    /// Returns the current path of a file of the scene: first as the user gives it, else at its old position relative to the run folder if it exists
    /// there, else its old path.
    pub fn place(&self, path: PathBuf) -> PathBuf {
        let is_there = |path: &PathBuf| Disk.exists(path).unwrap_or(false);
        let reported = self.reported.iter().find_map(|way| moved(&path, way));
        let along = || self.along.iter().find_map(|way| moved(&path, way)).filter(is_there);
        let place = reported.or_else(along).unwrap_or(path);
        if !is_there(&place) {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            if !missing.contains(&place) {
                missing.push(place.clone());
            }
        }
        place
    }

    /// Returns an error that names all missing files; `None` if there are none.
    pub fn missing(&self, folder: &Path) -> Option<RunError> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let above = missing.first()?.parent()?.to_owned();
        let files: Vec<String> = missing.iter().map(|path| path.display().to_string()).collect();
        Some(RunError::Missing {
            folder: folder.to_owned(),
            files: files.join(", "),
            above,
        })
    }
}

/// Returns the new path if `path` is `from` or is inside it.
fn moved(path: &Path, (from, to): &(PathBuf, PathBuf)) -> Option<PathBuf> {
    let inside = path.strip_prefix(from).ok()?;
    // Joined with an empty path, a file name would end in a slash.
    Some(if inside.as_os_str().is_empty() {
        to.clone()
    } else {
        to.join(inside)
    })
}
