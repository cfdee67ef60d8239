//! The log of events: one JSON object per line.

use super::folder::{LOG, disk};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::table::{Mark, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Event of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run starts.
    Started {
        /// Run folder.
        folder: PathBuf,
        /// Title of the scene.
        title: String,
        /// Number of grains.
        grains: usize,
        /// Number of particles of fluids.
        fluid_particles: usize,
        /// Name of the device.
        device: String,
        /// Precision of the device.
        precision: &'static str,
        /// Number of threads.
        threads: usize,
        /// Simulated time at the end of the run \[s\].
        until: f64,
        /// Time step \[s\].
        time_step: f64,
        /// Largest stable time step \[s\].
        time_step_limit: f64,
        /// Cause of the limit.
        time_step_cause: String,
        /// Notices for the user; none of them is an error.
        notices: Vec<String>,
    },
    /// The run resumes from a checkpoint.
    Resumed {
        /// Path of the checkpoint.
        checkpoint: PathBuf,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
        /// Name of the device.
        device: String,
        /// Precision of the device.
        precision: &'static str,
        /// Number of threads.
        threads: usize,
        /// Simulated time at the end of the run \[s\].
        until: f64,
        /// Notices for the user; none of them is an error.
        notices: Vec<String>,
    },
    /// A checkpoint is stored permanently on the disk.
    Checkpoint {
        /// Path of the checkpoint.
        path: PathBuf,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// A stage begins.
    StageBegan {
        /// Name of the stage.
        stage: String,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// The condition of a stage is fulfilled.
    StageEnded {
        /// Name of the stage.
        stage: String,
        /// Fulfilled part of the condition, with the measured values.
        reason: String,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// A notice for the user; it is not an error.
    Notice {
        /// Text of the notice.
        text: String,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// A user action of a viewer changed the run.
    UserAction {
        /// Description of the action.
        text: String,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// The run stopped on request.
    Interrupted {
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// The run stopped because of an error.
    Failed {
        /// Text of the error.
        reason: String,
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
    },
    /// The run reached its end.
    Finished {
        /// Simulated time \[s\].
        time: f64,
        /// Number of completed steps.
        steps: u64,
        /// Wall time of all starts and resumes \[s\].
        wall_time: f64,
        /// Grains and fluid particles times steps over wall time \[1/s\].
        particle_steps_per_second: f64,
    },
}

/// The log of a run.
pub(super) struct Log(Table);

impl Log {
    /// Creates a new log.
    pub fn create(layer: &dyn FileLayer, folder: &Path) -> Result<Log, FilesError> {
        Table::create_log(layer, &folder.join(LOG)).map(Log)
    }

    /// Continues a log. It removes an incomplete last line after a crash, and keeps everything else.
    pub fn resume(layer: &dyn FileLayer, folder: &Path) -> Result<Log, FilesError> {
        let path = folder.join(LOG);
        if !layer.exists(&path).map_err(disk(&path, "look at it"))? {
            return Log::create(layer, folder);
        }
        let mut bytes = layer.read(&path).map_err(disk(&path, "read it"))?;
        bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let mark = Mark {
            bytes: bytes.len() as u64,
            blake3: blake3::hash(&bytes).to_string(),
        };
        Table::resume(layer, &path, &mark).map(Log)
    }

    /// Adds a line with the time of day, in seconds since 1970.
    pub fn write(&mut self, event: &Event) -> Result<(), FilesError> {
        #[derive(Serialize)]
        struct Line<'a> {
            at: f64,
            #[serde(flatten)]
            event: &'a Event,
        }
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at = (1e3 * at.as_secs_f64()).round() / 1e3;
        self.0.line(&serde_json::to_string(&Line { at, event }).unwrap_or_default())
    }
}
