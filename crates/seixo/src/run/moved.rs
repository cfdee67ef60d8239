//! Where the files of a scene are after its run folder, or they, were moved.

use super::RunError;
use seixo_files::layer::{Disk, FileLayer};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The absolute path of a run folder, as its record keeps it.
pub(super) fn whole(folder: &Path) -> String {
    std::path::absolute(folder)
        .unwrap_or_else(|_| folder.to_owned())
        .display()
        .to_string()
}

/// What was moved, and what is found nowhere.
pub(super) struct Moved {
    told: Vec<(PathBuf, PathBuf)>,
    /// The run folder when the run began and now, and the folders above, the nearest first.
    along: Vec<(PathBuf, PathBuf)>,
    missing: Mutex<Vec<PathBuf>>,
}

impl Moved {
    /// Of a run that began in the folder `first` and is in `folder` now, with what somebody says of its files.
    pub fn new(told: Vec<(PathBuf, PathBuf)>, first: &str, folder: &Path) -> Moved {
        let now = whole(folder);
        let above = |path: &str| -> Vec<PathBuf> { Path::new(path).ancestors().map(Path::to_owned).collect() };
        Moved {
            told,
            along: above(first).into_iter().zip(above(&now)).collect(),
            missing: Mutex::default(),
        }
    }

    /// Where a file is by the path that the scene gives it: where somebody says, else where it lay relative to the run folder, if it is there; else
    /// where it was.
    pub fn place(&self, path: PathBuf) -> PathBuf {
        let is_there = |path: &PathBuf| Disk.exists(path).unwrap_or(false);
        let told = self.told.iter().find_map(|way| moved(&path, way));
        let along = || self.along.iter().find_map(|way| moved(&path, way)).filter(is_there);
        let place = told.or_else(along).unwrap_or(path);
        if !is_there(&place) {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            if !missing.contains(&place) {
                missing.push(place.clone());
            }
        }
        place
    }

    /// The error that names the files that are found nowhere; `None` if all are there.
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

/// Where something is now if it is, or is in, what was moved.
fn moved(path: &Path, (from, to): &(PathBuf, PathBuf)) -> Option<PathBuf> {
    let inside = path.strip_prefix(from).ok()?;
    // Joined with nothing, a file would end in a slash.
    Some(if inside.as_os_str().is_empty() {
        to.clone()
    } else {
        to.join(inside)
    })
}
