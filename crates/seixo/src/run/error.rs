//! Why a run did not start or did not reach its end.

use super::folder::LOCK;
use seixo_device::gpu::GpuError;
use seixo_engine::{Refusal, Stop};
use seixo_files::FilesError;
use seixo_files::owner::Holder;
use seixo_scene::{Diagnostics, Source};
use seixo_transport::Lost;
use std::path::{Path, PathBuf};

/// A run that did not start or did not reach its end; every message names the thing, its value, the limit and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder holds an earlier run.
    #[error(
        "{folder}: holds an earlier run, and nothing was overwritten; go on with it by `seixo resume {folder}`, \
         name another folder with --out, or remove it and run anew with --force",
        folder = folder.display()
    )]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds something that no run wrote.
    #[error("{}: is not empty and not a run folder (it has no run.json), so nothing in it was touched; name another folder with --out", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// A run began in the folder and ended before it had written its record.
    #[error(
        "{}: a run began here and was cut off before it could go on from anything (there is no run.json); run anew in this folder with --force, or name \
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
        /// Which process.
        by: String,
        /// What to do.
        remedy: String,
    },
    /// Files that the scene names are not there.
    #[error(
        "{folder}: its scene names what is not there any more: {files}; put it back, or say where it is now with \
         `seixo resume {folder} --moved {above}=NEW`, for a folder or a file",
        folder = folder.display(), above = above.display()
    )]
    Missing {
        /// The run folder.
        folder: PathBuf,
        /// Which files.
        files: String,
        /// The folder of the first of them.
        above: PathBuf,
    },
    /// The folder is no run folder.
    #[error("{}: is not a run folder (it has no scene.toml); give the folder that `seixo run` wrote, such as silo.out", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// The output would not fit.
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
        /// What the disk has left \[bytes\].
        free: u64,
    },
    /// The checkpoint is of another scene.
    #[error(
        "{}: scene.toml, or a file that it names, is not as it was when the checkpoint was written; put it back, or run the changed scene anew",
        folder.display()
    )]
    OtherScene {
        /// The run folder.
        folder: PathBuf,
    },
    /// The run is asked to end before the time that its checkpoint is at.
    #[error(
        "{folder}: it cannot end at t = {until:.6e} s, because its newest checkpoint is at t = {reached:.6e} s, and a run does not go back; give a later time \
         with --until, or leave that out to go on to the end that its scene gives",
        folder = folder.display()
    )]
    Passed {
        /// The run folder.
        folder: PathBuf,
        /// When it is to end \[s\].
        until: f64,
        /// Time of the checkpoint \[s\].
        reached: f64,
    },
    /// The scene is wrong.
    #[error("{0}")]
    Scene(Diagnostics),
    /// The world cannot be simulated.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What should have come as a stage began, or through an inlet, could not; or what somebody did by hand left nothing that can go on.
    #[error("{}t = {time:.6e} s: {refusal}\nthe last good state, t = {checkpoint_time:.6e} s, is in {}", before(place), folder.display())]
    Event {
        /// Where the scene asks for it, as `file:line:column`, if it does.
        place: Option<String>,
        /// Why.
        refusal: Box<Refusal>,
        /// Simulated time \[s\].
        time: f64,
        /// Time of the last checkpoint \[s\].
        checkpoint_time: f64,
        /// Where the checkpoints are.
        folder: PathBuf,
    },
    /// A grain's state became impossible, or the GPU failed.
    #[error("{stop}\nthe last good state, t = {checkpoint_time:.6e} s, is in {}", folder.display())]
    Stopped {
        /// Which grain, where, when and why; or what the GPU reported.
        stop: Box<Stop>,
        /// Time of the last checkpoint \[s\].
        checkpoint_time: f64,
        /// Where the checkpoints are.
        folder: PathBuf,
    },
    /// One of several ranks does not read what the others do.
    #[error("rank {rank} reads {what} otherwise than the first rank does; give all ranks the same files, best on a disk that they share")]
    Unlike {
        /// Which rank, the first that does not.
        rank: usize,
        /// What it reads.
        what: &'static str,
    },
    /// Somebody would look at a run of several ranks, which all come to an answer together or not at all.
    #[error(
        "{folder}: a run that is divided among {ranks} ranks cannot be looked at while it goes on; leave Options::audience out, and look at the folder: \
         `seixo view {folder}` follows it while it grows",
        folder = folder.display()
    )]
    WatchedRanks {
        /// How many ranks.
        ranks: usize,
        /// The run folder.
        folder: PathBuf,
    },
    /// Another rank cannot be reached any more.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// A place as it stands before what is said of it.
fn before(place: &Option<String>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!("{place}: "))
}

impl RunError {
    /// A folder that another process has.
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
                    "{wait}; if it has ended, which this file system cannot tell, remove {}",
                    lock.display()
                )
            },
        }
    }

    /// What the engine refuses, with the place of the scene where that is the cause.
    pub(super) fn refused(refusal: Refusal, source: &Source) -> RunError {
        match source.explain(&refusal) {
            Some(found) => RunError::Scene(found),
            None => RunError::Refused(refusal),
        }
    }

    /// Whether the input is wrong, rather than the run or the disk failed.
    pub fn is_input(&self) -> bool {
        match self {
            RunError::Exists { .. } | RunError::Occupied { .. } | RunError::NotARun { .. } | RunError::WatchedRanks { .. } => true,
            RunError::CutOff { .. } | RunError::Owned { .. } | RunError::Missing { .. } | RunError::Passed { .. } => true,
            RunError::Refused(Refusal::Gpu(GpuError::Lost { .. }) | Refusal::Stopped(_)) => false,
            RunError::OtherScene { .. } | RunError::Scene(_) | RunError::Refused(_) | RunError::Unlike { .. } => true,
            RunError::NoSpace { .. } | RunError::Event { .. } | RunError::Stopped { .. } => false,
            RunError::Lost(_) | RunError::Files(_) => false,
        }
    }
}
