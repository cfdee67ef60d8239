//! What there is to look at, for windows and pages alike: a recording, or a simulation that runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{PictureOptions, Snapshot, ViewError, picture::frames_of};

/// Longest time that one asks for something new before the answer is that there is nothing \[s\].
pub const PATIENCE: Duration = Duration::from_millis(250);

/// What is shown: windows and pages ask it for frames, from any thread, and none waits for another.
pub trait Show: Send + Sync {
    /// What it is called.
    fn title(&self) -> String;
    /// How many frames a recording holds so far; `None` of a simulation that runs.
    fn frames(&self) -> Option<usize>;
    /// The frame that a viewer asks for, unless it is that which the viewer has seen last: then what comes next, if anything does within [`PATIENCE`].
    /// Of a simulation that runs this is always the newest.
    ///
    /// # Errors
    /// If the frame cannot be read, or does not have the field by which it is to be colored.
    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError>;
}

/// The frames in a folder, which may still become more.
pub struct Recording {
    folder: PathBuf,
    /// Frames so far, and when they were counted.
    counted: Mutex<(usize, Instant)>,
}

impl Recording {
    /// That of a run folder.
    ///
    /// # Errors
    /// If the folder holds no frames.
    pub fn open(folder: &Path) -> Result<Recording, ViewError> {
        Ok(Recording {
            folder: folder.to_owned(),
            counted: Mutex::new((frames_of(folder)?.len(), Instant::now())),
        })
    }

    fn count(&self) -> usize {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.1.elapsed() > PATIENCE {
            *counted = (frames_of(&self.folder).map_or(counted.0, |files| files.len()), Instant::now());
        }
        counted.0
    }
}

impl Show for Recording {
    fn title(&self) -> String {
        crate::picture::name_of(&self.folder)
    }

    fn frames(&self) -> Option<usize> {
        Some(self.count())
    }

    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
        let last = self.count() - 1;
        let frame = options.frame.unwrap_or(last).min(last);
        if seen == Some(frame as u64) {
            std::thread::sleep(PATIENCE);
            return Ok(None);
        }
        let options = PictureOptions {
            frame: Some(frame),
            ..options.clone()
        };
        Snapshot::read(&self.folder, &options).map(|snapshot| Some(Arc::new(snapshot)))
    }
}
