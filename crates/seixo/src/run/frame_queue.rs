//! The queue between a run and the thread that writes its frames.

use super::frame_files::{FrameData, FrameFiles};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::owner::Ownership;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Instant;

/// Frames in the queue, that which is being written included; then the run waits.
const LENGTH: usize = 2;

/// Frames that are to be written, and the thread that writes them, once it is started.
pub(super) struct FrameQueue {
    shared: Arc<Shared>,
    /// Wall time for which the run waited for room \[s\].
    waited: f64,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Locked while a frame is written.
    files: Mutex<FrameFiles>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<FrameData>,
    is_writing: bool,
    /// No more frames will come.
    is_closed: bool,
    /// The thread has ended.
    is_over: bool,
    error: Option<FilesError>,
    warning: Option<String>,
}

impl State {
    fn frames(&self) -> usize {
        self.waiting.len() + usize::from(self.is_writing)
    }

    fn check(&mut self) -> Result<(), FilesError> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl FrameQueue {
    /// An empty queue in front of these files.
    pub fn new(files: FrameFiles) -> FrameQueue {
        FrameQueue {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                changed: Condvar::new(),
                files: Mutex::new(files),
            }),
            waited: 0.0,
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
    /// If an earlier frame could not be written.
    pub fn wait_for_room(&mut self) -> Result<(), FilesError> {
        let mut state = self.shared.lock();
        if state.frames() >= LENGTH {
            let clock = Instant::now();
            state = self.shared.wait_while(state, |state| state.frames() >= LENGTH);
            self.waited += clock.elapsed().as_secs_f64();
        }
        state.check()
    }

    /// Adds a frame.
    pub fn put(&self, frame: FrameData) {
        self.shared.lock().waiting.push_back(frame);
        self.shared.changed.notify_all();
    }

    /// Fails if a frame could not be written; the error is returned once.
    pub fn check(&self) -> Result<(), FilesError> {
        self.shared.lock().check()
    }

    /// Returns the warning of the files, as of the last frame.
    pub fn warning(&self) -> Option<String> {
        self.shared.lock().warning.clone()
    }

    /// Returns the wall time for which the run waited for room \[s\].
    pub fn waited(&self) -> f64 {
        self.waited
    }

    /// Waits until the queue is empty, then lists the frames.
    ///
    /// # Errors
    /// If a frame could not be written, or listing fails.
    pub fn list(&self, layer: &dyn FileLayer) -> Result<(), FilesError> {
        let state = self.shared.lock();
        let written = self.shared.wait_while(state, |state| state.frames() > 0).check();
        let listed = self.shared.files().list(layer);
        written.and(listed)
    }
}

impl Drop for FrameQueue {
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

    /// Waits for the thread that writes.
    fn wait_while<'a>(&self, state: MutexGuard<'a, State>, holds: impl Fn(&State) -> bool) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_while(state, |state| holds(state) && !state.is_over);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!holds(&state), "the thread that writes frames has panicked");
        state
    }

    /// Writes frames until no more will come. After an error the frames that wait are dropped: a frame must not be there without those before it.
    fn write_all(&self, layer: &dyn FileLayer, owned: Option<&Ownership>) {
        let _end = End(self);
        while let Some(frame) = self.next_frame() {
            let mut files = self.files();
            let is_ours = owned.map_or(Ok(()), Ownership::check);
            let written = is_ours.and_then(|()| files.write(layer, frame));
            let warning = files.warning();
            drop(files);
            let mut state = self.lock();
            state.is_writing = false;
            state.warning = warning;
            if let Err(error) = written {
                state.waiting.clear();
                state.error = Some(error);
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for the next frame; `None` if no more will come.
    fn next_frame(&self) -> Option<FrameData> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let frame = state.waiting.pop_front();
        state.is_writing = frame.is_some();
        frame
    }
}

/// Says that the thread has ended, also by a panic, so that the run does not wait for it forever.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}
