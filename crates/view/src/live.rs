//! A simulation that runs, and who looks at it: the run is asked for snapshots, and waits for nobody.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    show::{Details, PATIENCE, Particle, Show},
};

/// Nobody is shown what was taken longer ago \[s\].
const STALE: Duration = Duration::from_millis(100);
/// Snapshots that are kept for those who look in different ways.
const MOST_KEPT: usize = 8;

/// What somebody does to a simulation that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hand {
    /// Gravity is this from now on \[m/s²\].
    Gravity([f64; 3]),
    /// A grain, or the body that carries it, is pushed in this direction.
    Push {
        /// Id of the grain.
        id: u32,
        /// Direction, of length 1.
        along: [f64; 3],
    },
    /// A grain, or the body that carries it, is drawn to a place.
    Drag {
        /// Id of the grain.
        id: u32,
        /// Where its center is to be \[m\].
        to: [f64; 3],
        /// Simulated time in which it shall come there, if it is free to \[s\].
        within: f64,
    },
    /// A handful of grains like those there falls in from above.
    Drop,
}

/// Where a simulation stands that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Simulated time \[s\].
    pub time: f64,
    /// Simulated time at which it ends \[s\].
    pub until: f64,
    /// Steps.
    pub steps: u64,
    /// Grains and particles of fluids times steps over wall time \[1/s\].
    pub particle_steps_per_second: f64,
    /// Simulated time over wall time, of late.
    pub pace: f64,
    /// Gravity \[m/s²\].
    pub gravity: [f64; 3],
    /// Whether it has ended.
    pub is_over: bool,
}

/// The reins of a simulation that runs.
#[derive(Debug, Default)]
pub struct Controls {
    reins: Mutex<Reins>,
    /// Told whenever something is asked for.
    asked: Condvar,
}

#[derive(Debug, Default)]
struct Reins {
    is_paused: bool,
    steps: u64,
    rate: Option<f64>,
    hands: Vec<Hand>,
    status: Status,
}

impl Controls {
    fn reins(&self) -> MutexGuard<'_, Reins> {
        self.reins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, change: impl FnOnce(&mut Reins)) {
        change(&mut self.reins());
        self.asked.notify_all();
    }

    /// Lets the simulation stand still, or go on.
    pub fn pause(&self, is_paused: bool) {
        self.ask(|reins| (reins.is_paused, reins.steps) = (is_paused, 0));
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.reins().is_paused
    }

    /// Lets it take so many steps more, if it stands still.
    pub fn step(&self, steps: u64) {
        self.ask(|reins| reins.steps += steps);
    }

    /// Holds simulated time to this multiple of wall time; `None` lets it run as fast as it can.
    pub fn set_rate(&self, rate: Option<f64>) {
        self.ask(|reins| reins.rate = rate);
    }

    /// See [`Controls::set_rate`].
    pub fn rate(&self) -> Option<f64> {
        self.reins().rate
    }

    /// Does something to it before its next step.
    pub fn reach_in(&self, hand: Hand) {
        self.ask(|reins| {
            // Of a drag only where it leads to now counts.
            if let (Hand::Drag { id, .. }, Some(Hand::Drag { id: last, .. })) = (&hand, reins.hands.last())
                && id == last
            {
                reins.hands.pop();
            }
            reins.hands.push(hand);
        });
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.reins().status
    }

    /// Says where it stands. For who runs it.
    pub fn tell(&self, status: Status) {
        self.reins().status = status;
    }

    /// What was done to it since the last time. For who runs it.
    pub fn hands(&self) -> Vec<Hand> {
        std::mem::take(&mut self.reins().hands)
    }

    /// How many steps it may take now: as many as these, if it does not stand still. For who runs it.
    pub fn steps_allowed(&self, steps: u64) -> u64 {
        let mut reins = self.reins();
        if !reins.is_paused {
            return steps;
        }
        let allowed = reins.steps.min(steps);
        reins.steps -= allowed;
        allowed
    }

    /// Waits until something is asked for, but no longer than viewers do. For who runs it.
    pub fn wait(&self) {
        let reins = self.reins();
        if reins.is_paused && reins.steps == 0 && reins.hands.is_empty() {
            let waited = self.asked.wait_timeout(reins, PATIENCE / 10);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// What somebody wants to see of a simulation that runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// All of it, in this way.
    Frame(Box<PictureOptions>),
    /// A particle, closely.
    Details(Particle),
}

/// The meeting place of a simulation that runs and those who look at it.
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

/// What becomes a snapshot on the thread of who looks, so that it costs the run no time.
pub type Making = Box<dyn FnOnce() -> Result<Snapshot, ViewError> + Send>;

enum Frame {
    /// All that a snapshot is made from, and when it was taken.
    Raw(Making, Instant),
    /// Somebody makes it just now.
    Taken,
    /// It is there.
    Made(Result<Arc<Snapshot>, String>),
}

#[derive(Default)]
struct Desk {
    requests: Vec<Request>,
    frames: Vec<(PictureOptions, Frame)>,
    details: Vec<(Particle, Result<Details, String>)>,
}

impl Desk {
    fn put(&mut self, options: &PictureOptions, frame: Frame) {
        self.frames.retain(|(known, _)| known != options);
        if self.frames.len() >= MOST_KEPT {
            drop(self.frames.remove(0));
        }
        self.frames.push((options.clone(), frame));
    }
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

    /// What somebody waits for; nothing where nobody looks. For who runs the simulation.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.desk().requests)
    }

    /// Answers a request for a frame. For who runs the simulation.
    pub fn put_frame(&self, options: &PictureOptions, making: Making) {
        self.desk().put(options, Frame::Raw(making, Instant::now()));
        self.put.notify_all();
    }

    /// Answers a request for details. For who runs the simulation.
    pub fn put_details(&self, particle: Particle, answer: Result<Details, ViewError>) {
        self.desk().details.push((particle, answer.map_err(|error| error.to_string())));
        self.put.notify_all();
    }

    /// Asks, and waits for what is found on the desk, but not for long.
    fn ask<T>(&self, request: Request, mut find: impl FnMut(&mut Desk) -> Option<T>) -> Option<T> {
        let mut desk = self.desk();
        if !desk.requests.contains(&request) {
            desk.requests.push(request);
        }
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = find(&mut desk) {
                return Some(found);
            }
            let left = until.checked_duration_since(Instant::now())?;
            desk = self.put.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0;
        }
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
        let request = Request::Frame(Box::new(options.clone()));
        let found = self.ask(request.clone(), |desk| {
            let (_, frame) = desk.frames.iter_mut().find(|(known, _)| *known == options)?;
            match frame {
                Frame::Raw(_, taken) if taken.elapsed() > STALE => {
                    *frame = Frame::Taken;
                    None
                }
                // Who looks on has the next one taken while this one is made.
                Frame::Raw(..) => {
                    if seen.is_some() {
                        desk.requests.push(request.clone());
                    }
                    Some(std::mem::replace(frame, Frame::Taken))
                }
                Frame::Made(Ok(snapshot)) if seen != Some(snapshot.number) => Some(Frame::Made(Ok(snapshot.clone()))),
                _ => None,
            }
        });
        let answer = match found {
            None | Some(Frame::Taken) => return Ok(None),
            Some(Frame::Made(answer)) => answer,
            Some(Frame::Raw(make, _)) => {
                let answer = make().map(Arc::new).map_err(|error| error.to_string());
                let mut desk = self.desk();
                // Unless a later one has come meanwhile.
                if let Some((_, frame @ Frame::Taken)) = desk.frames.iter_mut().find(|(known, _)| *known == options) {
                    *frame = Frame::Made(answer.clone());
                }
                drop(desk);
                self.put.notify_all();
                answer
            }
        };
        match answer {
            Ok(snapshot) if seen == Some(snapshot.number) => Ok(None),
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(cause) => Err(ViewError::Live { cause }),
        }
    }

    fn details(&self, _: u64, particle: Particle) -> Result<Details, ViewError> {
        let found = self.ask(Request::Details(particle), |desk| {
            let at = desk.details.iter().position(|(known, _)| *known == particle)?;
            Some(desk.details.swap_remove(at).1)
        });
        let late = || Err("the simulation has not answered yet: its steps take longer than that".to_owned());
        found.unwrap_or_else(late).map_err(|cause| ViewError::Live { cause })
    }
}
