//! A running simulation and its viewers: viewers request snapshots, and the run does not wait for them.
//!
//! ```
//! use seixo_view::live::{Live, UserAction};
//!
//! let live = Live::new("Silo".into(), "silo.out".into(), false);
//! let control = live.run_control();
//! control.pause(true);
//! control.step(3);
//! assert_eq!(control.steps_allowed(100), 3);
//! assert!(control.is_stopped());
//! let moon = UserAction::Gravity([0.0, 0.0, -1.62]);
//! control.reach_in(moon);
//! assert_eq!(control.take_actions(), [moon]);
//! ```

mod requests;
mod run_control;

pub use run_control::{DraggedGrain, RunControl, Status, UserAction};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    frame_source::{FrameSource, PATIENCE, Particle, ParticleDetails},
};
use requests::{CacheLookup, FreshResponse, ResponseCache, ViewerRequests};

/// Oldest frame that is shown while the run continues \[s\].
const OLDEST_FRAME: Duration = Duration::from_millis(100);
/// Oldest details that are shown while the run continues \[s\]. Details need the full state of the run; a followed particle requests them twice a
/// second.
const OLDEST_DETAILS: Duration = Duration::from_millis(500);

/// A request to a running simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewerRequest {
    /// A frame with these options.
    Frame(Box<PictureOptions>),
    /// Details of a particle.
    ParticleDetails(Particle),
}

/// Job that makes a snapshot on the viewer's thread, so that it costs the run no time.
pub type SnapshotJob = Box<dyn FnOnce() -> Result<Snapshot, ViewError> + Send>;
/// Job that makes the details of a particle on the viewer's thread.
pub type DetailsJob = Box<dyn FnOnce() -> Result<ParticleDetails, ViewError> + Send>;

/// Exchange between a running simulation and its viewers.
///
/// A number identifies each state of the run: the number of steps plus the number of changes by user actions.
pub struct Live {
    title: String,
    folder: PathBuf,
    controls: RunControl,
    /// Whether viewers may stay when the run is over.
    stays: bool,
    is_gone: AtomicBool,
    viewer_requests: Mutex<ViewerRequests>,
    put: Condvar,
    graphics: OnceLock<Graphics>,
}

impl Live {
    /// Prepares viewers for a run into this folder. With `stays`, they may look at it after its end, too.
    pub fn new(title: String, folder: PathBuf, stays: bool) -> Live {
        Live {
            stays,
            is_gone: AtomicBool::new(false),
            title,
            folder,
            controls: RunControl::default(),
            viewer_requests: Mutex::default(),
            put: Condvar::new(),
            graphics: OnceLock::new(),
        }
    }

    /// Lets snapshots lie on this GPU, for drawing there.
    pub fn draw_on(&self, graphics: Graphics) {
        self.graphics.get_or_init(|| graphics);
    }

    /// The run control.
    pub fn run_control(&self) -> &RunControl {
        &self.controls
    }

    /// Whether viewers may stay when the run is over.
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// Notes that the run has stopped answering. Called by the run.
    pub fn leave(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }

    fn viewer_requests(&self) -> MutexGuard<'_, ViewerRequests> {
        self.viewer_requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pending requests of viewers that have not seen the current state, which has this number. Empty if there are no viewers. Called by the run.
    pub fn requests(&self, number: u64) -> Vec<ViewerRequest> {
        let (frames, details) = self.viewer_requests().take_requests(number);
        let frames = frames.into_iter().map(|options| ViewerRequest::Frame(Box::new(options)));
        frames.chain(details.into_iter().map(ViewerRequest::ParticleDetails)).collect()
    }

    /// Answers a request for a frame with a snapshot of the state of this number. Called by the run.
    pub fn answer_frame(&self, options: &PictureOptions, number: u64, making: SnapshotJob) {
        self.viewer_requests().frames().put(options.clone(), number, making);
        self.put.notify_all();
    }

    /// Answers a request for details. Called by the run.
    pub fn answer_details(&self, particle: Particle, number: u64, making: DetailsJob) {
        self.viewer_requests().details().put(particle, number, making);
        self.put.notify_all();
    }

    /// Looks up an answer; if there is none, requests it and waits, at most [`PATIENCE`].
    fn find<K: Clone + PartialEq, M, T: Clone>(
        &self,
        cache: fn(&mut ViewerRequests) -> &mut ResponseCache<K, M, T>,
        what: &K,
        (seen, oldest): (Option<u64>, Duration),
    ) -> Option<CacheLookup<M, T>> {
        let since = Instant::now();
        let mut viewer_requests = self.viewer_requests();
        let mut is_asked = false;
        loop {
            let now = viewer_requests.now;
            let cache = cache(&mut viewer_requests);
            if let Some(found) = cache.find(what, seen, FreshResponse { now, since, oldest }) {
                return Some(found);
            }
            if !is_asked {
                cache.want(what, seen);
                is_asked = true;
            }
            let left = PATIENCE.checked_sub(since.elapsed())?;
            viewer_requests = self
                .put
                .wait_timeout(viewer_requests, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Stores a finished answer for other viewers that request the same.
    fn keep<K: Clone + PartialEq, M, T: Clone>(
        &self,
        cache: fn(&mut ViewerRequests) -> &mut ResponseCache<K, M, T>,
        (what, number): (&K, u64),
        made: Result<T, ViewError>,
    ) -> Result<T, String> {
        let made = made.map_err(|error| error.to_string());
        cache(&mut self.viewer_requests()).store_answer(what, number, made.clone());
        self.put.notify_all();
        made
    }
}

/// The options that determine a snapshot; the size and the view direction do not.
fn asked(options: &PictureOptions) -> PictureOptions {
    let PictureOptions {
        shown,
        field,
        range,
        has_meshes,
        ..
    } = options;
    PictureOptions {
        shown: *shown,
        field: field.clone(),
        range: *range,
        has_meshes: *has_meshes,
        ..PictureOptions::default()
    }
}

impl FrameSource for Live {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn frames(&self) -> Option<usize> {
        None
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.folder.clone())
    }

    fn controls(&self) -> Option<&RunControl> {
        Some(&self.controls)
    }

    fn graphics(&self) -> Option<&Graphics> {
        self.graphics.get()
    }

    fn has_ended(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
        let options = PictureOptions {
            title: Some(self.title.clone()),
            ..asked(options)
        };
        let made = match self.find(ViewerRequests::frames, &options, (seen, OLDEST_FRAME)) {
            None => return Ok(None),
            Some(CacheLookup::Made(made)) => made,
            Some(CacheLookup::Raw(make, number)) => {
                if seen.is_some() {
                    // This viewer keeps watching: request the next frame while this one is being made.
                    self.viewer_requests().frames().want(&options, Some(number));
                }
                self.keep(ViewerRequests::frames, (&options, number), make().map(Arc::new))
            }
        };
        made.map(Some).map_err(|cause| ViewError::Live { cause })
    }

    fn details(&self, _: u64, particle: Particle) -> Result<ParticleDetails, ViewError> {
        // While the run is paused, no newer answer would follow.
        let is_still = self.controls.is_stopped() || self.controls.status().is_over;
        let oldest = if is_still { Duration::ZERO } else { OLDEST_DETAILS };
        let made = match self.find(ViewerRequests::details, &particle, (None, oldest)) {
            None => Err("the simulation has not answered yet: its steps take longer than that".to_owned()),
            Some(CacheLookup::Made(made)) => made,
            Some(CacheLookup::Raw(make, number)) => self.keep(ViewerRequests::details, (&particle, number), make()),
        };
        made.map_err(|cause| ViewError::Live { cause })
    }
}
