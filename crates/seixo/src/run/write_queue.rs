//! The queue between a run and the thread that writes its frames and checkpoints.

use super::checkpoint_job::{CheckpointJob, StoredCheckpoint};
use super::error::Halt;
use super::frame_files::{FrameData, FrameFiles};
use super::write_times::{CheckpointsRecord, FramesRecord};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::owner::Ownership;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope};
use std::time::Instant;

/// Frames in the queue, that which is being written included; then the run waits.
const LENGTH: usize = 2;

/// Frames and checkpoints that are to be written in this order, and the thread that writes them, once it is started.
pub(super) struct WriteQueue {
    shared: Arc<Shared>,
    /// Wall time for which the run waited for room \[s\].
    waited_for_room: f64,
    /// Wall time for which the run waited for checkpoints \[s\].
    waited_for_checkpoints: f64,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Locked while a frame or a checkpoint is written.
    files: Mutex<FrameFiles>,
}

/// What the thread writes.
enum Job {
    Frame(Box<FrameData>),
    Checkpoint(Box<CheckpointJob>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Frame,
    Checkpoint,
}

impl Job {
    fn kind(&self) -> Kind {
        match self {
            Job::Frame(_) => Kind::Frame,
            Job::Checkpoint(_) => Kind::Checkpoint,
        }
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    writing: Option<Kind>,
    /// Nothing more will come.
    is_closed: bool,
    /// The thread has ended.
    is_over: bool,
    error: Option<Halt>,
    /// Something could not be written, so nothing after it is: a frame must not be there without those before it, nor a checkpoint without its
    /// frames.
    has_failed: bool,
    warning: Option<String>,
    /// Checkpoints that the run has not reported yet.
    stored: Vec<StoredCheckpoint>,
    /// Simulated time of the newest checkpoint \[s\].
    newest: Option<f64>,
    frames: FramesRecord,
    checkpoints: CheckpointsRecord,
}

impl State {
    /// Number of jobs of a kind that are not done.
    fn count(&self, kind: Kind) -> usize {
        let waiting = self.waiting.iter().filter(|job| job.kind() == kind).count();
        waiting + usize::from(self.writing == Some(kind))
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.writing.is_none()
    }

    fn check(&mut self) -> Result<(), Halt> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl WriteQueue {
    /// An empty queue in front of these files.
    pub fn new(files: FrameFiles) -> WriteQueue {
        WriteQueue {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                changed: Condvar::new(),
                files: Mutex::new(files),
            }),
            waited_for_room: 0.0,
            waited_for_checkpoints: 0.0,
        }
    }

    /// Starts the thread.
    pub fn start<'scope, 'env>(&self, scope: &'scope Scope<'scope, 'env>, layer: &'env dyn FileLayer, owned: Option<Arc<Ownership<'env>>>) {
        let shared = self.shared.clone();
        scope.spawn(move || shared.write_all(layer, owned.as_deref()));
    }

    /// Returns once another frame has room.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn wait_for_room(&mut self) -> Result<(), Halt> {
        self.waited_for_room += self.shared.wait(|state| state.count(Kind::Frame) >= LENGTH);
        self.check()
    }

    /// Returns once no checkpoint is left to be written.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn wait_for_checkpoints(&mut self) -> Result<(), Halt> {
        self.waited_for_checkpoints += self.shared.wait(|state| state.count(Kind::Checkpoint) > 0);
        self.check()
    }

    /// Adds a frame.
    pub fn put_frame(&self, frame: FrameData) {
        self.put(Job::Frame(Box::new(frame)));
    }

    /// Adds a checkpoint. It is written after the frames before it, on which it relies.
    pub fn put_checkpoint(&self, checkpoint: CheckpointJob) {
        self.put(Job::Checkpoint(Box::new(checkpoint)));
    }

    fn put(&self, job: Job) {
        let mut state = self.shared.lock();
        if !state.has_failed {
            state.waiting.push_back(job);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Fails if something could not be written; the error is returned once.
    pub fn check(&self) -> Result<(), Halt> {
        self.shared.lock().check()
    }

    /// Returns the warning of the files, as of the last frame.
    pub fn warning(&self) -> Option<String> {
        self.shared.lock().warning.clone()
    }

    /// Returns the wall time for which the run waited for room \[s\].
    pub fn waited_for_room(&self) -> f64 {
        self.waited_for_room
    }

    /// Returns the checkpoints that were stored since the last call.
    pub fn take_stored(&self) -> Vec<StoredCheckpoint> {
        std::mem::take(&mut self.shared.lock().stored)
    }

    /// Waits until no checkpoint is left to be written, and returns the simulated time of the newest one \[s\]; `None` if there is none.
    pub fn newest_checkpoint(&self) -> Option<f64> {
        self.shared.wait(|state| state.count(Kind::Checkpoint) > 0);
        self.shared.lock().newest
    }

    /// Returns what was written so far, and the time that this took beside the run and in it, without the copies.
    pub fn times(&self) -> (FramesRecord, CheckpointsRecord) {
        let state = self.shared.lock();
        let frames = FramesRecord {
            waiting: self.waited_for_room,
            ..state.frames
        };
        let checkpoints = CheckpointsRecord {
            waiting: self.waited_for_checkpoints,
            ..state.checkpoints
        };
        (frames, checkpoints)
    }

    /// Waits until the queue is empty, then lists the frames.
    ///
    /// # Errors
    /// If something could not be written, or listing fails.
    pub fn list(&self, layer: &dyn FileLayer) -> Result<(), Halt> {
        self.shared.wait(|state| !state.is_idle());
        let written = self.check();
        let listed = self.shared.files().list(layer);
        written.and(listed.map_err(Halt::from))
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files(&self) -> MutexGuard<'_, FrameFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the thread that writes while this holds, and returns the wall time \[s\].
    fn wait(&self, holds: impl Fn(&State) -> bool) -> f64 {
        let state = self.lock();
        if !holds(&state) {
            return 0.0;
        }
        let clock = Instant::now();
        let waited = self.changed.wait_while(state, |state| holds(state) && !state.is_over);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!holds(&state), "the thread that writes frames and checkpoints has panicked");
        clock.elapsed().as_secs_f64()
    }

    /// Writes until nothing more will come.
    fn write_all(&self, layer: &dyn FileLayer, owned: Option<&Ownership>) {
        let _end = End(self);
        while let Some(job) = self.next_job() {
            let (clock, kind) = (Instant::now(), job.kind());
            let mut files = self.files();
            let is_ours = owned.map_or(Ok(()), Ownership::check);
            let written = is_ours.map_err(Halt::from).and_then(|()| match job {
                Job::Frame(frame) => files.write(layer, *frame).map(|()| None),
                Job::Checkpoint(checkpoint) => Ok(Some(store(*checkpoint, &mut files, layer)?)),
            });
            let (warning, bytes) = (files.warning(), files.bytes());
            drop(files);
            let mut unwritten = VecDeque::new();
            let mut state = self.lock();
            state.writing = None;
            state.warning = warning;
            match written {
                Ok(None) => {
                    state.frames.count += 1;
                    state.frames.bytes = bytes;
                }
                Ok(Some(stored)) => {
                    state.checkpoints.count += 1;
                    state.newest = Some(stored.time);
                    state.stored.push(stored);
                }
                Err(error) => {
                    unwritten = std::mem::take(&mut state.waiting);
                    state.has_failed = true;
                    state.error = Some(error);
                }
            }
            let seconds = clock.elapsed().as_secs_f64();
            match kind {
                Kind::Frame => state.frames.writing += seconds,
                Kind::Checkpoint => state.checkpoints.writing += seconds,
            }
            drop(state);
            self.changed.notify_all();
            // These wait for GPUs that are still copying them.
            drop(unwritten);
        }
    }

    /// Waits for the next job; `None` if none will come.
    fn next_job(&self) -> Option<Job> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let job = state.waiting.pop_front();
        state.writing = job.as_ref().map(Job::kind);
        job
    }
}

/// Stores a checkpoint. A run that resumes does not write the frames before it again, so the disk must have them first. It takes them while the checkpoint
/// is packed, or afterwards, if no other thread starts.
fn store(checkpoint: CheckpointJob, frames: &mut FrameFiles, layer: &dyn FileLayer) -> Result<StoredCheckpoint, FilesError> {
    // Only one thread lists them.
    let frames = Mutex::new(frames);
    let list = || frames.lock().unwrap_or_else(PoisonError::into_inner).list(layer);
    thread::scope(|scope| match Builder::new().spawn_scoped(scope, list) {
        Ok(listed) => checkpoint.store(layer, || listed.join().unwrap_or_else(|panic| resume_unwind(panic))),
        Err(_) => checkpoint.store(layer, list),
    })
}

/// Says that the thread has ended, also by a panic, so that the run does not wait for it forever.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}
