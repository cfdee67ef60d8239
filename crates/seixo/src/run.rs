//! Running a scene into a folder, and going on from what a folder holds.
//!
//! ```no_run
//! use seixo::run::{self, Options, Silent};
//! let scene = seixo::scene::load("silo.toml".as_ref(), &[])?;
//! let ending = run::start(scene, "silo.out".as_ref(), Options::new(&mut Silent))?;
//! println!("{} steps, {:.3e} particle-steps/s", ending.record.steps, ending.record.particle_steps_per_second);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing a run writes depends on wall time, threads or interruptions, except `run.json`, `log.jsonl`, `profile.csv` and `trace.csv`:
//! outputs belong to step numbers, and those follow from the scene alone. On GPUs and among domains sums over time, as `energies.csv` has them, depend on
//! interruptions by rounding.

mod agreement;
mod audience;
mod breaks;
mod course;
mod driver;
mod error;
mod exchange;
mod fluids;
pub mod folder;
mod fragments;
mod frames;
pub mod glimpse;
mod hands;
mod log;
mod look;
mod measure;
mod moved;
mod opening;
mod outputs;
pub(crate) mod passage;
mod probes;
mod record;
mod schedule;
mod surfaces;
mod tempo;
mod volume;
mod warnings;

pub use course::Course;
pub use error::RunError;
pub use log::Event;
pub use opening::{resume, start};
pub use record::{BroadPhaseRecord, DividedRecord, Outcome, Record, StageRecord, TimeStepRecord, TrafficRecord};
pub use volume::expected_output;

use seixo_engine::Ranks;
use seixo_files::layer::{Disk, FileLayer, Unwritten};
use seixo_transport::Transport;
use seixo_view::Live;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a run is watched, controlled and written.
pub struct Options<'a> {
    /// Where files go.
    pub layer: &'a dyn FileLayer,
    /// Requests from outside.
    pub control: Control,
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// Whether an earlier run in the same folder may be removed.
    pub overwrite: bool,
    /// Files that the scene of a run that goes on names, or folders above them: where they were, and where they are now; all absolute.
    pub moved: Vec<(PathBuf, PathBuf)>,
    /// Where viewers meet the run, if any may look; not where there are ranks.
    pub audience: Option<Arc<Live>>,
    /// The processes among which the grains are divided, where there are several. All run the same scene, and the first of them writes.
    pub ranks: Option<Ranks>,
}

impl<'a> Options<'a> {
    /// To the real disk, never over an earlier run.
    pub fn new(observer: &'a mut dyn Observer) -> Options<'a> {
        Options {
            layer: &Disk,
            control: Control::default(),
            observer,
            overwrite: false,
            moved: Vec::new(),
            audience: None,
            ranks: None,
        }
    }

    /// Whether this process writes.
    fn writes(&self) -> bool {
        self.ranks.as_ref().is_none_or(Ranks::is_first)
    }

    /// The same for a run into this folder, where a process that does not write has no way to.
    fn settled(self, folder: &Path) -> Result<Options<'a>, RunError> {
        if let (Some(ranks), Some(_)) = (&self.ranks, &self.audience) {
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

/// Requests to a run from outside, such as from signals; seen within a fifth of a second, or at the next step where one takes longer.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Write a checkpoint and stop.
    pub stop: Arc<AtomicBool>,
    /// Write a checkpoint and go on; set back once seen.
    pub checkpoint: Arc<AtomicBool>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time \[s\].
    pub time: f64,
    /// Simulated time at which the run ends \[s\].
    pub until: f64,
    /// Steps done.
    pub steps: u64,
    /// Steps done at the end.
    pub steps_at_end: u64,
    /// Grains there.
    pub grains: usize,
    /// Wall time since this start or resume \[s\].
    pub wall_time: f64,
    /// Grains and particles of fluids times steps over the wall time of the last steps \[1/s\].
    pub particle_steps_per_second: f64,
    /// Kinetic energy at the last line of the ledger \[J\].
    pub kinetic: f64,
    /// How much it reaches of the pace at which simulated time is held to wall time; `None` where it is not.
    pub share_of_pace: Option<f64>,
}

/// Watches a run.
pub trait Observer {
    /// Called several times a second.
    fn progress(&mut self, _progress: &Progress) {}
    /// Called for each line of the log.
    fn event(&mut self, _event: &Event) {}
}

/// An observer that does nothing.
pub struct Silent;

impl Observer for Silent {}

/// How a run ended: at its end, or earlier because it was asked to.
#[derive(Clone, Debug)]
pub struct Ending {
    /// What `run.json` says.
    pub record: Record,
    /// The checkpoint from which it can go on.
    pub checkpoint: PathBuf,
}
