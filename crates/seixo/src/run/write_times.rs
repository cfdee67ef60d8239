//! What frames and checkpoints cost a run, and the thread that writes them.

use serde::{Deserialize, Serialize};

/// Frames that were written since the run was started or resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FramesRecord {
    /// Number of frames.
    pub count: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Wall time for which the run stood still to copy what frames show, with the download from a GPU; for free spheres on GPUs, until the energies came
    /// and the copies were queued \[s\].
    pub copying: f64,
    /// Part of `copying` for the first frame, at the start or after a resume \[s\]; 0 in records of earlier versions.
    #[serde(default)]
    pub first_copying: f64,
    /// Wall time for which the run waited until earlier frames were written \[s\].
    pub waiting: f64,
    /// Wall time of writing, beside the run, with the wait for grains that a GPU still copies \[s\].
    pub writing: f64,
}

/// Checkpoints that were written since the run was started or resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointsRecord {
    /// Number of checkpoints.
    pub count: u64,
    /// Wall time for which the run stood still to copy its state and to store its tables \[s\].
    pub copying: f64,
    /// Wall time for which the run waited until a checkpoint was stored: before the next one, and at its end \[s\].
    pub waiting: f64,
    /// Wall time of writing, beside the run; that of the frames is not part of it \[s\].
    pub writing: f64,
}
