//! What there is to look at, for windows and pages alike: a recording, or a simulation that runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    closely::details_of,
    fluid::{Balls, Stamp},
    live::Controls,
    picture::frames_of,
};

/// Longest time that one asks for something new before the answer is that there is nothing \[s\].
pub const PATIENCE: Duration = Duration::from_millis(250);

/// What is shown: windows and pages ask it for frames, from any thread, and none waits for another.
pub trait Show: Send + Sync {
    /// What it is called.
    fn title(&self) -> String;
    /// How many frames a recording holds so far; `None` of a simulation that runs.
    fn frames(&self) -> Option<usize>;
    /// The run folder.
    fn folder(&self) -> Option<PathBuf> {
        None
    }
    /// The reins, of a simulation that runs and may be steered.
    fn controls(&self) -> Option<&Controls> {
        None
    }
    /// The device that snapshots may lie on, for who can draw there.
    fn graphics(&self) -> Option<&Graphics> {
        None
    }
    /// Whether there will never be anything more to see, so that windows close.
    fn is_gone(&self) -> bool {
        false
    }
    /// The frame that a viewer asks for, unless it is that which the viewer has seen last: then what comes next, if anything does within [`PATIENCE`].
    /// Of a simulation that runs this is always the newest, and numbers tell its states apart: its steps, and one more for all that was done by hand.
    ///
    /// # Errors
    /// If the frame cannot be read, or does not have the field by which it is to be colored.
    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError>;
    /// All that is known of a particle, in the snapshot of this number, or now of a simulation that runs.
    ///
    /// # Errors
    /// If it cannot be read.
    fn details(&self, number: u64, particle: Particle) -> Result<Details, ViewError>;
}

/// A grain, or a particle of a fluid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Particle {
    /// Its id, among those of its kind.
    pub id: u32,
    /// Whether it is a grain.
    pub is_grain: bool,
}

/// All that is known of a particle; nothing if it is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Names and values, with units.
    pub values: Vec<(String, String)>,
    /// How many contacts it has, where these are known.
    pub touching: Option<usize>,
    /// The first of them, a line each.
    pub contacts: Vec<String>,
}

/// The frames in a folder, which may still become more.
pub struct Recording {
    folder: PathBuf,
    /// Whether links that lead out of the folder are refused.
    is_confined: bool,
    /// Frames so far, and when they were counted.
    counted: Mutex<(usize, Instant)>,
    /// For who looks at the same frame otherwise, or closely: to read takes longer than all else.
    last: Mutex<Option<Read>>,
}

/// The tables of a frame that was read.
struct Read {
    file: PathBuf,
    stamp: Stamp,
    balls: Arc<Balls>,
}

impl Recording {
    /// That of a run folder.
    ///
    /// # Errors
    /// If the folder holds no frames.
    pub fn open(folder: &Path) -> Result<Recording, ViewError> {
        Ok(Recording {
            folder: folder.to_owned(),
            is_confined: false,
            counted: Mutex::new((frames_of(folder)?.len(), Instant::now())),
            last: Mutex::default(),
        })
    }

    /// The same, of which nothing is shown that lies outside the folder: for pages.
    ///
    /// # Errors
    /// If a link in the folder leads out of it.
    pub fn confined(self) -> Result<Recording, ViewError> {
        check_links(&self.folder)?;
        Ok(Recording { is_confined: true, ..self })
    }

    fn count(&self) -> usize {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.1.elapsed() > PATIENCE {
            *counted = (frames_of(&self.folder).map_or(counted.0, |files| files.len()), Instant::now());
        }
        counted.0
    }

    fn last(&self) -> MutexGuard<'_, Option<Read>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables of the frame that has this file: those that were read last, if it is the same as then.
    fn tables(&self, file: &Path) -> Result<Arc<Balls>, ViewError> {
        let stamp = Balls::stamp(file);
        // Nobody waits while others read, and what is not needed any more is gone before.
        let known = self.last().take().filter(|last| last.file == file && last.stamp == stamp);
        let balls = match known {
            Some(known) => known.balls,
            None => Arc::new(Balls::read(file)?),
        };
        *self.last() = Some(Read {
            file: file.to_owned(),
            stamp,
            balls: balls.clone(),
        });
        Ok(balls)
    }
}

/// Refuses links in what is shown of a run folder that lead out of it.
fn check_links(folder: &Path) -> Result<(), ViewError> {
    let whole = folder.canonicalize().map_err(ViewError::io(folder))?;
    let check = |path: PathBuf| {
        // What is not there, or is a link to nothing, is not shown either.
        let to = path.canonicalize().unwrap_or_else(|_| whole.clone());
        if to.starts_with(&whole) {
            Ok(())
        } else {
            Err(ViewError::Outside { path, to })
        }
    };
    check(folder.join("bonds.csv"))?;
    for part in ["fields", "contacts"] {
        let part = folder.join(part);
        check(part.clone())?;
        for entry in part.read_dir().into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                check(entry.path())?;
            }
        }
    }
    Ok(())
}

impl Show for Recording {
    fn title(&self) -> String {
        crate::picture::name_of(&self.folder)
    }

    fn frames(&self) -> Option<usize> {
        Some(self.count())
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.folder.clone())
    }

    fn details(&self, number: u64, particle: Particle) -> Result<Details, ViewError> {
        if self.is_confined {
            check_links(&self.folder)?;
        }
        details_of(&self.folder, number as usize, particle, |file| self.tables(file))
    }

    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
        let last = self.count() - 1;
        let frame = options.frame.unwrap_or(last).min(last);
        if seen == Some(frame as u64) {
            std::thread::sleep(PATIENCE);
            return Ok(None);
        }
        if self.is_confined {
            check_links(&self.folder)?;
        }
        let options = PictureOptions {
            frame: Some(frame),
            ..options.clone()
        };
        let snapshot = Snapshot::read_by(&self.folder, &options, |file| self.tables(file))?;
        Ok(Some(Arc::new(snapshot)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::SystemTime;

    use super::*;
    use crate::picture_tests::run_folder;

    #[test]
    fn a_frame_is_read_once_until_it_is_written_anew() {
        let folder = run_folder();
        let recording = Recording::open(folder.path()).unwrap();
        let look = |field: &str| {
            let options = PictureOptions {
                field: Some(field.to_owned()),
                ..PictureOptions::default()
            };
            recording.frame(&options, None)
        };
        look("speed").unwrap();
        // Damaged, but by its length and its time the same.
        let path = folder.path().join("fields/grains_000001.vtp");
        let known = path.metadata().unwrap();
        fs::write(&path, vec![b' '; known.len() as usize]).unwrap();
        let date = |time: SystemTime| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let written = known.modified().unwrap();
        date(written);
        assert!(look("radius").is_ok());
        let grain = Particle { id: 3, is_grain: true };
        assert!(!recording.details(1, grain).unwrap().values.is_empty());
        date(written + Duration::from_secs(1));
        assert!(matches!(look("radius"), Err(ViewError::Frame(_))));
    }
}
