//! A checkpoint in memory, which a thread writes beside the run.

use super::folder::disk;
use seixo_engine::state::PendingState;
use seixo_files::FilesError;
use seixo_files::checkpoint::{self, Header};
use seixo_files::layer::FileLayer;
use std::path::PathBuf;

/// A checkpoint that is to be written: the whole state at its step.
pub(super) struct CheckpointJob {
    /// Folder of the checkpoints.
    pub folder: PathBuf,
    pub header: Header,
    pub state: PendingState,
    /// Whether the checkpoint before is kept.
    pub keeps_previous: bool,
    /// Number of threads that pack it.
    pub threads: usize,
}

/// A checkpoint that survives a power cut.
pub(super) struct StoredCheckpoint {
    pub path: PathBuf,
    /// Simulated time \[s\].
    pub time: f64,
    /// Number of completed steps.
    pub steps: u64,
}

impl CheckpointJob {
    /// Writes the checkpoint. Its columns are made, and freed, a few at a time. It replaces the one before only if `relied_on` succeeds, which is called
    /// once all columns are made.
    pub fn store(self, layer: &dyn FileLayer, relied_on: impl FnOnce() -> Result<(), FilesError>) -> Result<StoredCheckpoint, FilesError> {
        let CheckpointJob {
            folder,
            header,
            state,
            keeps_previous,
            threads,
        } = self;
        let path = checkpoint::write_on_threads(layer, &folder, threads, &header, |to| {
            state.put_to(to);
            relied_on()
        })?;
        if !keeps_previous {
            let previous = path.with_extension("checkpoint.prev");
            if layer.exists(&previous).map_err(disk(&previous, "look at it"))? {
                layer.remove(&previous).map_err(disk(&previous, "remove it"))?;
            }
        }
        Ok(StoredCheckpoint {
            path,
            time: header.time,
            steps: header.steps,
        })
    }
}
