//! Reasons why a run did not start or did not reach its end.

use super::folder::LOCK;
use seixo_device::gpu::GpuError;
use seixo_engine::{StepError, StepErrorCause, WorldError};
use seixo_files::FilesError;
use seixo_files::owner::Holder;
use seixo_scene::{Diagnostics, Source};
use seixo_transport::Disconnected;
use std::path::{Path, PathBuf};

/// Reason why a run did not start or did not reach its end; every message gives object, value, limit and remedy.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder holds an earlier run.
    #[error(
        "{folder}: holds an earlier run, and nothing was overwritten; go on with it by `seixo resume {folder}`, \
         name another folder with --out, or remove it and start again with --force",
        folder = folder.display()
    )]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has files that no run wrote.
    #[error("{}: is not empty and not a run folder (it has no run.json), so nothing in it was touched; name another folder with --out", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// A run started in the folder and ended before it wrote its record.
    #[error(
        "{}: a run began here and was cut off before it could go on from anything (there is no run.json); start again in this folder with --force, or name \
         another one with --out",
        folder.display()
    )]
    CutOff {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process writes into the folder.
    #[error("{}: {by} writes into it; {remedy}", folder.display())]
    Owned {
        /// The folder.
        folder: PathBuf,
        /// The other process.
        by: String,
        /// Remedy.
        remedy: String,
    },
    /// Files that the scene names are missing.
    #[error(
        "{folder}: its scene names what is not there any more: {files}; put it back, or say where it is now with \
         `seixo resume {folder} --moved {above}=NEW`, for a folder or a file",
        folder = folder.display(), above = above.display()
    )]
    Missing {
        /// The run folder.
        folder: PathBuf,
        /// The missing files.
        files: String,
        /// Folder of the first of them.
        above: PathBuf,
    },
    /// The folder is not a run folder.
    #[error("{}: is not a run folder (it has no scene.toml); give the folder that `seixo run` wrote, such as silo.out", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// The output does not fit on the disk.
    #[error(
        "{}: the run will write about {needed} bytes, but only {free} are free; free some space, name a folder on another disk with --out, \
         or write less often (output.every)",
        folder.display()
    )]
    NoSpace {
        /// The folder.
        folder: PathBuf,
        /// Estimated output \[bytes\].
        needed: u64,
        /// Free space of the disk \[bytes\].
        free: u64,
    },
    /// The checkpoint belongs to another scene.
    #[error(
        "{}: scene.toml, or a file that it names, is not as it was when the checkpoint was written; put it back, or start the changed scene again with `seixo run`",
        folder.display()
    )]
    OtherScene {
        /// The run folder.
        folder: PathBuf,
    },
    /// The end time is before the time of the checkpoint.
    #[error(
        "{folder}: it cannot end at t = {until:.6e} s, because its newest checkpoint is at t = {reached:.6e} s, and a run does not go back; give a later time \
         with --until, or leave that out to go on to the end that its scene gives",
        folder = folder.display()
    )]
    PassedParticles {
        /// The run folder.
        folder: PathBuf,
        /// End time \[s\].
        until: f64,
        /// Time of the checkpoint \[s\].
        reached: f64,
    },
    /// A key may not change when a run resumes.
    #[error(
        "{folder}: {key} cannot change when a run resumes, because what it did until now depends on it; what can: {known}. For all else write a scene \
         that goes on from this run, with [start] from = \"{folder}\", and run that",
        folder = folder.display()
    )]
    Unchangeable {
        /// The run folder.
        folder: PathBuf,
        /// The key.
        key: String,
        /// Keys that may change.
        known: String,
    },
    /// The scene is wrong.
    #[error("{0}")]
    Scene(Diagnostics),
    /// The world cannot be simulated.
    #[error(transparent)]
    Refused(#[from] WorldError),
    /// A checkpoint is not of the scene as this version reads it.
    #[error("{}: {what}", path.display())]
    Misfit {
        /// The checkpoint.
        path: PathBuf,
        /// The mismatch and the remedy.
        what: String,
    },
    /// Grains of a stage or an inlet could not be added, or a user action left a state that cannot be simulated.
    #[error(
        "{}t = {time:.6e} s: {refusal}\nthe last good state, t = {checkpoint_time:.6e} s, is in {}{}",
        before(place), folder.display(), going_on(matches!(**refusal, WorldError::Gpu(_)), folder)
    )]
    Event {
        /// Position in the scene as `file:line:column`, if there is one.
        place: Option<String>,
        /// Reason.
        refusal: Box<WorldError>,
        /// Simulated time \[s\].
        time: f64,
        /// Time of the last checkpoint \[s\].
        checkpoint_time: f64,
        /// Folder of the checkpoints.
        folder: PathBuf,
    },
    /// The state of a grain became impossible, or the GPU failed.
    #[error("{stop}\nthe last good state, t = {checkpoint_time:.6e} s, is in {}{}", folder.display(), going_on(is_of_device(stop), folder))]
    Stopped {
        /// Grain, position, time and reason; or the error of the GPU.
        stop: Box<StepError>,
        /// Time of the last checkpoint \[s\].
        checkpoint_time: f64,
        /// Folder of the checkpoints.
        folder: PathBuf,
    },
    /// A program asked for a change that is impossible.
    #[error("{0}")]
    UserChange(String),
    /// A rank reads other data than the first rank.
    #[error("rank {rank} reads {what} otherwise than the first rank does; give all ranks the same files, best on a disk that they share")]
    Unlike {
        /// First rank with other data.
        rank: usize,
        /// Name of the data.
        what: &'static str,
    },
    /// A run of several ranks cannot serve viewers: all ranks would have to answer together.
    #[error(
        "{folder}: a run that is decomposed over {ranks} ranks cannot serve viewers; leave Options::viewers out, and look at the folder: \
         `seixo view {folder}` follows it while it grows",
        folder = folder.display()
    )]
    WatchedRanks {
        /// Number of ranks.
        ranks: usize,
        /// The run folder.
        folder: PathBuf,
    },
    /// Another rank is disconnected.
    #[error(transparent)]
    Lost(#[from] Disconnected),
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Reason why steps or outputs failed, before the run adds its newest checkpoint.
pub(super) enum Halt {
    Step(Box<StepError>),
    Files(FilesError),
}

impl From<StepError> for Halt {
    fn from(stop: StepError) -> Halt {
        Halt::Step(Box::new(stop))
    }
}

impl From<FilesError> for Halt {
    fn from(error: FilesError) -> Halt {
        Halt::Files(error)
    }
}

/// How to go on from these checkpoints, if a device was the cause and not the run itself.
fn going_on(is_of_device: bool, checkpoints: &Path) -> String {
    match (is_of_device, checkpoints.parent()) {
        (true, Some(run)) => format!("; `seixo resume {}` goes on from it", run.display()),
        _ => String::new(),
    }
}

/// Whether a device was the cause.
fn is_of_device(stop: &StepError) -> bool {
    matches!(stop.cause, StepErrorCause::Device { .. })
}

/// Formats a position as the prefix of a message.
fn before(place: &Option<String>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!("{place}: "))
}

impl RunError {
    /// Error for a folder that another process owns.
    pub(super) fn owned(folder: &Path, holder: Holder) -> RunError {
        let by = holder.owner.map_or("another process".to_owned(), |owner| owner.to_string());
        let wait = "wait for its end, stop it there (kill -INT leaves a checkpoint), or use another folder";
        RunError::Owned {
            folder: folder.to_owned(),
            by,
            remedy: if holder.is_certain {
                wait.to_owned()
            } else {
                let lock = folder.join(LOCK);
                format!(
                    "{wait}; if it has ended, which this file system does not report, remove {}",
                    lock.display()
                )
            },
        }
    }

    /// Converts a refusal of the engine, with the position in the scene that is its cause, if there is one.
    pub(super) fn refused(refusal: WorldError, source: &Source) -> RunError {
        match source.explain(&refusal) {
            Some(found) => RunError::Scene(found),
            None => RunError::Refused(refusal),
        }
    }

    /// Converts a refusal of a state from this checkpoint, as [`RunError::refused`] does others.
    pub(super) fn refused_state(refusal: WorldError, source: &Source, checkpoint: &Path) -> RunError {
        match refusal {
            WorldError::State { .. } => RunError::Misfit {
                path: checkpoint.to_owned(),
                what: refusal.to_string(),
            },
            refusal => RunError::refused(refusal, source),
        }
    }

    /// Whether the input is wrong; otherwise the run or the disk failed.
    pub fn is_input(&self) -> bool {
        match self {
            RunError::Exists { .. } | RunError::Occupied { .. } | RunError::NotARun { .. } | RunError::WatchedRanks { .. } => true,
            RunError::Unchangeable { .. }
            | RunError::CutOff { .. }
            | RunError::Owned { .. }
            | RunError::Missing { .. }
            | RunError::UserChange(_)
            | RunError::Misfit { .. }
            | RunError::PassedParticles { .. } => true,
            RunError::Refused(WorldError::Stopped(_)) => false,
            RunError::Refused(WorldError::Gpu(GpuError::Lost { .. } | GpuError::OutOfMemory { .. } | GpuError::NoStart { .. })) => false,
            RunError::OtherScene { .. } | RunError::Scene(_) | RunError::Refused(_) | RunError::Unlike { .. } => true,
            RunError::NoSpace { .. } | RunError::Event { .. } | RunError::Stopped { .. } => false,
            RunError::Lost(_) | RunError::Files(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_device::gpu::Room;

    #[test]
    fn a_device_that_failed_does_not_end_a_run_for_good() {
        let ended_by = |cause: StepErrorCause| {
            let stop = StepError {
                grain: 0,
                affected: 0,
                position: [0.0; 3],
                velocity: [0.0; 3],
                cause,
                step: 7,
                time: 0.5,
            };
            let error = RunError::Stopped {
                stop: Box::new(stop),
                checkpoint_time: 0.25,
                folder: Path::new("silo.out").join("checkpoints"),
            };
            error.to_string()
        };
        let what = "domain 1 of 2 on cuda:1: the GPU failed".to_owned();
        let of_device = ended_by(StepErrorCause::Device { what });
        assert!(
            of_device.contains("domain 1 of 2") && of_device.contains("`seixo resume silo.out` goes on from it"),
            "{of_device}"
        );
        assert!(!ended_by(StepErrorCause::NotFinite).contains("seixo resume"));
    }

    #[test]
    fn a_device_that_fails_at_the_start_or_at_an_event_is_no_wrong_input() {
        let full = || GpuError::OutOfMemory {
            gpu: "cuda:1 a card".to_owned(),
            what: "neighbors",
            needed: 1000,
            held: 2000,
            room: Room::Unknown,
        };
        let no_start = GpuError::NoStart {
            gpu: "cuda:1 a card".to_owned(),
            reason: "out of memory".to_owned(),
        };
        for error in [full(), no_start] {
            let error = RunError::Refused(error.into());
            assert!(!error.is_input() && error.to_string().contains("cuda:1 a card"), "{error}");
        }
        let missing = GpuError::None { looked: String::new() };
        assert!(RunError::Refused(missing.into()).is_input());
        let at_event = RunError::Event {
            place: None,
            refusal: Box::new(full().into()),
            time: 0.5,
            checkpoint_time: 0.25,
            folder: Path::new("silo.out").join("checkpoints"),
        };
        assert!(
            !at_event.is_input() && at_event.to_string().ends_with("`seixo resume silo.out` goes on from it"),
            "{at_event}"
        );
    }
}
