//! Runs a scene into a folder, and resumes a run from its folder. A [`Session`] runs a scene without a folder, step by step in the hands of a program.
//!
//! ```no_run
//! use seixo::run::{self, NoObserver, Options};
//! let scene = seixo::scene::load("silo.toml".as_ref(), &[])?;
//! let ending = run::start(scene, "silo.out".as_ref(), Options::new(&mut NoObserver))?;
//! println!("{} steps, {:.3e} particle-steps/s", ending.record.steps, ending.record.particle_steps_per_second);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Files of a run do not depend on wall time, threads or interruptions, except `run.json`, `log.jsonl`, `profile.csv` and `trace.csv`. Outputs belong
//! to step numbers, which follow from the scene alone. On GPUs and with several subdomains, interruptions change sums over time, as in
//! `energies.csv`, by rounding.

mod bodies;
mod bond_breaks;
mod changes;
mod checkpoint_job;
mod course;
mod dead_zone;
mod driver;
mod error;
mod exchange;
mod fluids;
pub mod folder;
mod fragments;
mod frame_files;
mod frames;
mod full_frame;
mod log;
mod measure;
mod moved_files;
mod outputs;
mod pacing;
pub(crate) mod plane_counter;
pub mod preview;
mod probe_lines;
mod probes;
mod rank_agreement;
mod record;
mod region_servos;
mod residence;
mod schedule;
mod session;
mod stage_runner;
mod startup;
mod statistics;
mod stress;
mod surfaces;
pub(crate) mod timeline;
mod until;
mod user_actions;
mod user_change;
mod user_record;
mod viewers;
mod volume;
mod warnings;
mod write_queue;
mod write_times;

pub use changes::Change;
pub use error::RunError;
pub use log::Event;
pub use record::{
    BroadPhaseRecord, CommunicationRecord, DecompositionRecord, Outcome, Record, StageRecord, StaticTableRecord, TimeStepRecord,
};
pub use schedule::Schedule;
pub use session::Session;
pub use stage_runner::StageRunner;
pub use startup::{resume, start};
pub use stress::stress_now;
pub use timeline::TimelineOptions;
pub use until::Until;
pub use user_change::UserChange;
pub use volume::{entering_later, expected_output};
pub use write_times::{CheckpointsRecord, FramesRecord};

use seixo_engine::Ranks;
use seixo_files::layer::{Disk, FileLayer, Unwritten};
use seixo_transport::Transport;
use seixo_view::Live;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Output, control and files of a run.
pub struct Options<'a> {
    /// Writes the files.
    pub layer: &'a dyn FileLayer,
    /// Requests from outside.
    pub control: Control,
    /// Receives the progress and the log.
    pub observer: &'a mut dyn Observer,
    /// Whether an earlier run in the same folder may be removed.
    pub overwrite: bool,
    /// Moved files of a resumed run, or folders above them: old and new path, both absolute.
    pub moved: Vec<(PathBuf, PathBuf)>,
    /// Serves viewers, if the run has any; not allowed with ranks.
    pub viewers: Option<Arc<Live>>,
    /// Ranks over which the particles are decomposed, if there are several. All ranks run the same scene; the first one writes the files.
    pub ranks: Option<Ranks>,
    /// A timeline of some steps, if one is wanted: with ranks, of the domains of the first one.
    pub timeline: Option<TimelineOptions>,
}

impl<'a> Options<'a> {
    /// Writes to the real disk, and never over an earlier run.
    pub fn new(observer: &'a mut dyn Observer) -> Options<'a> {
        Options {
            layer: &Disk,
            control: Control::default(),
            observer,
            overwrite: false,
            moved: Vec::new(),
            viewers: None,
            ranks: None,
            timeline: None,
        }
    }

    /// Whether this process writes files.
    fn writes(&self) -> bool {
        self.ranks.as_ref().is_none_or(Ranks::is_first)
    }

    /// Prepares the options for a run into this folder: a process that does not write gets a layer that discards changes.
    fn settled(self, folder: &Path) -> Result<Options<'a>, RunError> {
        if let (Some(ranks), Some(_)) = (&self.ranks, &self.viewers) {
            return Err(RunError::WatchedRanks {
                ranks: ranks.ranks(),
                folder: folder.to_owned(),
            });
        }
        Ok(if self.writes() {
            self
        } else {
            Options { layer: &Unwritten, ..self }
        })
    }
}

/// Requests to a run from outside, such as from signals. The run sees them within 0.2 s, or at the next step if a step takes longer.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Write a checkpoint and stop.
    pub stop: Arc<AtomicBool>,
    /// Write a checkpoint and continue; reset by the run.
    pub checkpoint: Arc<AtomicBool>,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time \[s\].
    pub time: f64,
    /// Simulated time at the end of the run \[s\].
    pub until: f64,
    /// Number of completed steps.
    pub steps: u64,
    /// Number of steps at the end of the run.
    pub steps_at_end: u64,
    /// Number of grains.
    pub grains: usize,
    /// Wall time since this start or resume \[s\].
    pub wall_time: f64,
    /// Grains and fluid particles times steps over the wall time of the last steps \[1/s\].
    pub particle_steps_per_second: f64,
    /// Kinetic energy at the last line of the energy ledger \[J\].
    pub kinetic: f64,
    /// Reached share of the requested speed relative to wall time; `None` without such a request.
    pub real_time_ratio: Option<f64>,
}

/// Receives the progress and the log of a run.
pub trait Observer {
    /// Called several times a second.
    fn progress(&mut self, _progress: &Progress) {}
    /// Called for each line of the log.
    fn event(&mut self, _event: &Event) {}
}

/// An observer that does nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

/// Result of a run: complete, or interrupted by a request.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// Content of `run.json`.
    pub record: Record,
    /// Checkpoint from which the run can be resumed.
    pub checkpoint: PathBuf,
}
