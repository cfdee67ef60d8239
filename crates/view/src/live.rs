//! A simulation that runs, and who looks at it: the run is asked for snapshots, and waits for nobody.

mod desk;
mod reins;

pub use reins::{Controls, Drawn, Hand, Status};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    show::{Details, PATIENCE, Particle, Show},
};
use desk::{Desk, Found, Fresh, Shelf};

/// Nobody is shown a frame that is older than this once the run has gone on \[s\].
const OLDEST_FRAME: Duration = Duration::from_millis(100);
/// The same of details, for which the run has to be looked at as a whole: who follows a particle has that done twice a second \[s\].
const OLDEST_DETAILS: Duration = Duration::from_millis(500);

/// What somebody wants to know of a simulation that runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// What is to be seen of it, in this way.
    Frame(Box<PictureOptions>),
    /// A particle, closely.
    Details(Particle),
}

/// What becomes a snapshot on the thread of who looks, so that it costs the run no time.
pub type Making = Box<dyn FnOnce() -> Result<Snapshot, ViewError> + Send>;
/// The same of what is known of a particle.
pub type MakingDetails = Box<dyn FnOnce() -> Result<Details, ViewError> + Send>;

/// The meeting place of a simulation that runs and those who look at it.
///
/// What the run was like is told by a number that is another one for each of its states: its steps, and one more for all that was done to it by hand.
pub struct Live {
    title: String,
    folder: PathBuf,
    controls: Controls,
    /// Whether viewers may go on looking when the run is over.
    stays: bool,
    is_gone: AtomicBool,
    desk: Mutex<Desk>,
    put: Condvar,
    graphics: OnceLock<Graphics>,
}

impl Live {
    /// One that a run into this folder will serve, when it is over, too, if it stays.
    pub fn new(title: String, folder: PathBuf, stays: bool) -> Live {
        Live {
            stays,
            is_gone: AtomicBool::new(false),
            title,
            folder,
            controls: Controls::default(),
            desk: Mutex::default(),
            put: Condvar::new(),
            graphics: OnceLock::new(),
        }
    }

    /// Lets snapshots lie on this device, for who draws there.
    pub fn draw_on(&self, graphics: Graphics) {
        self.graphics.get_or_init(|| graphics);
    }

    /// The reins.
    pub fn reins(&self) -> &Controls {
        &self.controls
    }

    /// Whether viewers may go on looking when the run is over.
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// Says that nobody answers any more. For who runs the simulation.
    pub fn leave(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What somebody waits for who does not know the state of this number, in which the simulation is now; nothing where nobody looks. For who runs it.
    pub fn requests(&self, number: u64) -> Vec<Request> {
        let (frames, details) = self.desk().take_wanted(number);
        let frames = frames.into_iter().map(|options| Request::Frame(Box::new(options)));
        frames.chain(details.into_iter().map(Request::Details)).collect()
    }

    /// Answers a request for a frame, with one of the state of this number. For who runs the simulation.
    pub fn put_frame(&self, options: &PictureOptions, number: u64, making: Making) {
        self.desk().frames().put(options.clone(), number, making);
        self.put.notify_all();
    }

    /// Answers a request for details. For who runs the simulation.
    pub fn put_details(&self, particle: Particle, number: u64, making: MakingDetails) {
        self.desk().details().put(particle, number, making);
        self.put.notify_all();
    }

    /// What there is, or comes if it is asked for, and not after too long.
    fn find<K: Clone + PartialEq, M, T: Clone>(
        &self,
        shelf: fn(&mut Desk) -> &mut Shelf<K, M, T>,
        what: &K,
        (seen, oldest): (Option<u64>, Duration),
    ) -> Option<Found<M, T>> {
        let since = Instant::now();
        let mut desk = self.desk();
        let mut is_asked = false;
        loop {
            let now = desk.now;
            let shelf = shelf(&mut desk);
            if let Some(found) = shelf.find(what, seen, Fresh { now, since, oldest }) {
                return Some(found);
            }
            if !is_asked {
                shelf.want(what, seen);
                is_asked = true;
            }
            let left = PATIENCE.checked_sub(since.elapsed())?;
            desk = self.put.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Keeps what was made of an answer for others who ask for it.
    fn keep<K: Clone + PartialEq, M, T: Clone>(
        &self,
        shelf: fn(&mut Desk) -> &mut Shelf<K, M, T>,
        (what, number): (&K, u64),
        made: Result<T, ViewError>,
    ) -> Result<T, String> {
        let made = made.map_err(|error| error.to_string());
        shelf(&mut self.desk()).put_made(what, number, made.clone());
        self.put.notify_all();
        made
    }
}

/// What makes a snapshot another: not its size, nor from where it is looked at.
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

impl Show for Live {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn frames(&self) -> Option<usize> {
        None
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.folder.clone())
    }

    fn controls(&self) -> Option<&Controls> {
        Some(&self.controls)
    }

    fn graphics(&self) -> Option<&Graphics> {
        self.graphics.get()
    }

    fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
        let options = asked(options);
        let made = match self.find(Desk::frames, &options, (seen, OLDEST_FRAME)) {
            None => return Ok(None),
            Some(Found::Made(made)) => made,
            Some(Found::Raw(make, number)) => {
                if seen.is_some() {
                    // Who looks on has the next one taken while this one is made.
                    self.desk().frames().want(&options, Some(number));
                }
                self.keep(Desk::frames, (&options, number), make().map(Arc::new))
            }
        };
        made.map(Some).map_err(|cause| ViewError::Live { cause })
    }

    fn details(&self, _: u64, particle: Particle) -> Result<Details, ViewError> {
        // While it stands still no later answer would follow.
        let is_still = self.controls.stands_still() || self.controls.status().is_over;
        let oldest = if is_still { Duration::ZERO } else { OLDEST_DETAILS };
        let made = match self.find(Desk::details, &particle, (None, oldest)) {
            None => Err("the simulation has not answered yet: its steps take longer than that".to_owned()),
            Some(Found::Made(made)) => made,
            Some(Found::Raw(make, number)) => self.keep(Desk::details, (&particle, number), make()),
        };
        made.map_err(|cause| ViewError::Live { cause })
    }
}
