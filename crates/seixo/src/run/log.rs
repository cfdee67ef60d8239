//! What happened when: one JSON object a line.

use super::folder::{LOG, disk};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::table::{Mark, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Something that happened to a run.
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
        /// Where it computes.
        device: String,
        /// With how many digits.
        precision: &'static str,
        /// Threads at work.
        threads: usize,
        /// Simulated time at which it ends \[s\].
        until: f64,
        /// Time step \[s\].
        time_step: f64,
        /// Largest stable time step \[s\].
        time_step_limit: f64,
        /// What sets the limit.
        time_step_cause: String,
        /// What the user should know although nothing is wrong.
        notices: Vec<String>,
    },
    /// The run goes on from a checkpoint.
    Resumed {
        /// The checkpoint.
        checkpoint: PathBuf,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
        /// Where it computes.
        device: String,
        /// With how many digits.
        precision: &'static str,
        /// Threads at work.
        threads: usize,
        /// Simulated time at which it ends \[s\].
        until: f64,
        /// What the user should know although nothing is wrong.
        notices: Vec<String>,
    },
    /// A checkpoint is on the disk, for good.
    Checkpoint {
        /// Its path.
        path: PathBuf,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// A stage begins.
    StageBegan {
        /// Its name.
        stage: String,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// The condition of a stage holds.
    StageEnded {
        /// Its name.
        stage: String,
        /// What of the condition holds, with the values that were seen.
        reason: String,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// The user should know something although nothing is wrong.
    Notice {
        /// What.
        text: String,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// Somebody who looks at the run reached into it.
    ByHand {
        /// What was done.
        text: String,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// The run stopped because it was asked to.
    Interrupted {
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// The run stopped because it could not go on.
    Failed {
        /// Why.
        reason: String,
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
    },
    /// The run reached its end.
    Finished {
        /// Simulated time \[s\].
        time: f64,
        /// Steps done.
        steps: u64,
        /// Wall time of all starts and resumes \[s\].
        wall_time: f64,
        /// Grains and particles of fluids times steps over wall time \[1/s\].
        particle_steps_per_second: f64,
    },
}

/// The log of a run.
pub(super) struct Log(Table);

impl Log {
    /// A new log.
    pub fn create(layer: &dyn FileLayer, folder: &Path) -> Result<Log, FilesError> {
        Table::create_log(layer, &folder.join(LOG)).map(Log)
    }

    /// Goes on with a log; a last line that a crash cut short is taken off, everything else stays.
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
