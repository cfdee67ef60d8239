//! Source of frames for windows and pages: a recording or a running simulation.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    fluid::{SphereSet, Stamp},
    live::RunControl,
    particle_details::details_of,
    picture::frames_of,
};

/// Longest wait for a new frame before the answer is that there is none \[s\].
pub const PATIENCE: Duration = Duration::from_millis(250);

/// Source of frames. Windows and pages request frames from any thread, and none waits for another.
pub trait FrameSource: Send + Sync {
    /// Title of the scene, or a name of the source if there is none.
    fn title(&self) -> String;
    /// Number of frames in a recording so far; `None` for a running simulation.
    fn frames(&self) -> Option<usize>;
    /// The run folder.
    fn folder(&self) -> Option<PathBuf> {
        None
    }
    /// Run control of a running simulation that accepts it.
    fn controls(&self) -> Option<&RunControl> {
        None
    }
    /// GPU that may hold snapshots, for drawing there.
    fn graphics(&self) -> Option<&Graphics> {
        None
    }
    /// Whether the source has ended and no more frames will follow. Windows then close.
    fn has_ended(&self) -> bool {
        false
    }
    /// The requested frame. If the viewer has already seen it, waits for the next one, at most [`PATIENCE`]; `None` if there is none by then. A
    /// running simulation always returns its newest frame. The frame number identifies the state: it is the number of steps plus the number of
    /// changes by user actions.
    ///
    /// # Errors
    /// If the frame cannot be read, or lacks the field for its color.
    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError>;
    /// Details of a particle in the snapshot of this number, or in the current state of a running simulation.
    ///
    /// # Errors
    /// If they cannot be read.
    fn details(&self, number: u64, particle: Particle) -> Result<ParticleDetails, ViewError>;
}

/// A grain or a fluid particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Particle {
    /// Its id among the particles of its kind.
    pub id: u32,
    /// Whether it is a grain.
    pub is_grain: bool,
}

/// Details of a particle; empty if it does not exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleDetails {
    /// Names and values with units.
    pub values: Vec<(String, String)>,
    /// Number of contacts, if known.
    pub touching: Option<usize>,
    /// The first contacts, one line each.
    pub contacts: Vec<String>,
}

/// The frames of a run folder, which may still grow.
pub struct Recording {
    folder: PathBuf,
    /// Whether links that point outside of the folder are refused.
    is_confined: bool,
    /// Number of frames so far, and the time of that count.
    counted: Mutex<(usize, Instant)>,
    /// The frame that was read last. Another view of it, or its details, then needs no reading, which takes longer than the rest.
    last: Mutex<Option<Read>>,
}

/// The tables of a frame.
struct Read {
    file: PathBuf,
    stamp: Stamp,
    balls: Arc<SphereSet>,
}

impl Recording {
    /// The recording in a run folder.
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

    /// The same recording restricted to files inside the folder, for pages.
    ///
    /// # Errors
    /// If a link in the folder points outside of it.
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

    /// The tables of the frame with this file; the last ones read are reused if the file has not changed.
    fn tables(&self, file: &Path) -> Result<Arc<SphereSet>, ViewError> {
        let stamp = SphereSet::stamp(file);
        // The lock is released while reading, so that no thread waits. Unneeded tables are dropped before.
        let known = self.last().take().filter(|last| last.file == file && last.stamp == stamp);
        let balls = match known {
            Some(known) => known.balls,
            None => Arc::new(SphereSet::read(file)?),
        };
        *self.last() = Some(Read {
            file: file.to_owned(),
            stamp,
            balls: balls.clone(),
        });
        Ok(balls)
    }
}

/// Checks that no link among the shown files of a run folder points outside of it.
fn check_links(folder: &Path) -> Result<(), ViewError> {
    let whole = folder.canonicalize().map_err(ViewError::io(folder))?;
    let check = |path: PathBuf| {
        // A missing file or a broken link is not shown either.
        let to = path.canonicalize().unwrap_or_else(|_| whole.clone());
        if to.starts_with(&whole) {
            Ok(())
        } else {
            Err(ViewError::Outside { path, to })
        }
    };
    for file in ["bonds.csv", "run.json"] {
        check(folder.join(file))?;
    }
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

impl FrameSource for Recording {
    fn title(&self) -> String {
        crate::picture::title_of(&self.folder)
    }

    fn frames(&self) -> Option<usize> {
        Some(self.count())
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.folder.clone())
    }

    fn details(&self, number: u64, particle: Particle) -> Result<ParticleDetails, ViewError> {
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
    fn a_recording_and_its_frames_have_the_title_of_the_scene() {
        let folder = run_folder();
        let titles = || {
            let recording = Recording::open(folder.path()).unwrap();
            let frame = recording.frame(&PictureOptions::default(), None).unwrap().unwrap();
            [recording.title(), frame.title.clone()]
        };
        let name = crate::picture::name_of(folder.path());
        assert_eq!(titles(), [name.clone(), name]);
        fs::write(folder.path().join("run.json"), r#"{ "title": "Little heap" }"#).unwrap();
        assert_eq!(titles(), ["Little heap", "Little heap"]);
    }

    #[test]
    fn a_frame_is_read_once_until_it_is_written_again() {
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
        // Damaged, but with the same length and time.
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
