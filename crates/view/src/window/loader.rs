//! Loads data in the background, so that the window does not wait.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::plots;
use crate::{
    FrameSource, PATIENCE, Particle, PictureOptions, Snapshot, ViewError, chart::Chart, frame_source::ParticleDetails, picture::title_of,
    plot,
};

/// Wall time between two readings of the tables of a run \[s\].
const TABLES_EVERY: Duration = Duration::from_secs(1);

/// Event for a window.
pub enum LoaderEvent {
    /// A frame has arrived.
    Frame(Arc<Snapshot>),
    /// Requested details of a particle have arrived.
    ParticleDetails(ParticleDetails),
    /// Energies, probes and seconds per pass of a run so far.
    Plots(Vec<Chart>, Vec<(String, f64, String)>),
    /// A reading has failed.
    Failed(String),
    /// Redraw the window after this time.
    Repaint(Duration),
    /// The source has ended.
    AdvanceResult,
}

/// Request of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowRequest {
    /// Frame and view.
    pub options: PictureOptions,
    /// Whether new frames are wanted after the last one, from a running simulation or a growing recording.
    pub goes_on: bool,
    /// Number of the frame and particle for which details are wanted.
    pub details: Option<(u64, Particle)>,
    /// Whether a picked particle is to be found in each frame, even if it is absent now.
    pub is_following: bool,
    /// Whether charts are wanted.
    pub has_plots: bool,
}

/// A thread that reads from the frame source.
pub struct Loader {
    shared: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    request: WindowRequest,
    /// Whether there may be new work since the last check of the thread.
    is_new: bool,
    /// Whether a frame was sent that the window has not drawn. Until then no other is loaded: frames of large scenes would fill the memory.
    is_untaken: bool,
    /// Whether the window was drawn since the last tables; a hidden window needs none.
    is_drawn: bool,
    is_over: bool,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Loader {
    /// Starts a thread that sends the events of a source to a window, until `send` returns false.
    pub fn new(show: &Arc<dyn FrameSource>, send: impl Fn(LoaderEvent) -> bool + Send + 'static, options: &PictureOptions) -> Loader {
        let state = State {
            request: WindowRequest {
                options: options.clone(),
                goes_on: true,
                ..WindowRequest::default()
            },
            is_new: true,
            is_untaken: false,
            is_drawn: true,
            is_over: false,
        };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let (show, state) = (show.clone(), shared.clone());
        std::thread::spawn(move || load(show.as_ref(), send, &state));
        Loader { shared }
    }

    /// Sets the request; called with every drawn picture.
    pub fn ask(&self, request: WindowRequest) {
        let (state, changed) = self.shared.as_ref();
        let mut state = locked(state);
        state.is_drawn = true;
        if state.request != request {
            (state.request, state.is_new) = (request, true);
            changed.notify_one();
        }
    }

    /// Notes that the last frame is drawn, so that another may follow.
    pub fn taken(&self) {
        let (state, changed) = self.shared.as_ref();
        let mut state = locked(state);
        (state.is_untaken, state.is_new) = (false, true);
        changed.notify_one();
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        let (state, changed) = self.shared.as_ref();
        locked(state).is_over = true;
        changed.notify_one();
    }
}

fn load(show: &dyn FrameSource, send: impl Fn(LoaderEvent) -> bool, (state, changed): &(Mutex<State>, Condvar)) {
    let mut seen: Option<(PictureOptions, u64)> = None;
    let mut reported = None;
    let mut tables: Option<Instant> = None;
    let mut complaint = None;
    loop {
        let last = last_of(show);
        let (request, has_room, is_drawn) = {
            let mut state = locked(state);
            let has_last = last.is_some() && number_seen(&seen, &state.request) == last;
            let is_idle = state.is_untaken || complaint.is_some() || !state.request.goes_on || has_last;
            if is_idle && !state.is_new && !state.is_over {
                // Wait only briefly: a failed frame may work later, tables grow, and a run ends.
                state = changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.is_over {
                return;
            }
            state.is_new = false;
            (state.request.clone(), !state.is_untaken, state.is_drawn)
        };
        if show.has_ended() {
            send(LoaderEvent::AdvanceResult);
            return;
        }
        let known = number_seen(&seen, &request);
        // At the last frame, a recording would wait for the next one and ignore new requests meanwhile.
        let is_wanted = known.is_none() || (request.goes_on && known != last_of(show));
        let mut loader_events = Vec::new();
        if has_room && is_wanted {
            match show.frame(&request.options, known) {
                Ok(Some(snapshot)) => {
                    complaint = None;
                    seen = Some((request.options.clone(), snapshot.number));
                    // Compute the bounds here, not on the drawing thread.
                    snapshot.extent();
                    if request.is_following {
                        // A picked particle is searched among all particles. A failed download is reported there.
                        let _ = snapshot.here();
                    }
                    locked(state).is_untaken = true;
                    loader_events.push(LoaderEvent::Frame(snapshot));
                }
                Ok(None) => {}
                Err(error) => {
                    seen = Some((request.options.clone(), u64::MAX));
                    let reported = complaint.replace(error.to_string());
                    if reported != complaint {
                        loader_events.push(LoaderEvent::Failed(error.to_string()));
                    }
                }
            }
        }
        if request.details != reported {
            reported = request.details;
            if let Some((number, particle)) = request.details {
                loader_events.push(match show.details(number, particle) {
                    Ok(details) => LoaderEvent::ParticleDetails(details),
                    Err(error) => LoaderEvent::Failed(error.to_string()),
                });
            }
        }
        if request.has_plots && is_drawn && tables.is_none_or(|last| last.elapsed() >= TABLES_EVERY) {
            tables = Some(Instant::now());
            if let Some(folder) = show.folder() {
                locked(state).is_drawn = false;
                loader_events.push(charts(&folder).unwrap_or_else(|error| LoaderEvent::Failed(error.to_string())));
            }
        }
        if !loader_events.into_iter().all(&send) {
            return;
        }
    }
}

/// Number of the last frame of a recording.
fn last_of(show: &dyn FrameSource) -> Option<u64> {
    show.frames().map(|frames| frames.saturating_sub(1) as u64)
}

/// Number of the last frame seen, if its options are those of the current request.
fn number_seen(seen: &Option<(PictureOptions, u64)>, request: &WindowRequest) -> Option<u64> {
    let seen = seen.as_ref().filter(|(options, _)| *options == request.options);
    seen.map(|&(_, number)| number)
}

/// Energies, probes and seconds per pass of a run so far.
fn charts(folder: &Path) -> Result<LoaderEvent, ViewError> {
    let run = title_of(folder);
    let probes = plot::probes_of(folder, &run)?;
    let energies = plot::energies_of(folder, &run)?;
    let mut charts: Vec<Chart> = energies.into_iter().chain(probes.into_iter().map(|(_, chart)| chart)).collect();
    plots::thin(&mut charts);
    Ok(LoaderEvent::Plots(charts, plot::seconds_of(folder)?))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    /// A simulation that advances by a step per request.
    #[derive(Default)]
    struct Endless(AtomicU64);

    impl FrameSource for Endless {
        fn title(&self) -> String {
            String::new()
        }

        fn frames(&self) -> Option<usize> {
            None
        }

        fn frame(&self, _: &PictureOptions, _: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
            Ok(Some(Arc::new(Snapshot {
                number: self.0.fetch_add(1, Ordering::Relaxed),
                ..Snapshot::default()
            })))
        }

        fn details(&self, _: u64, _: Particle) -> Result<ParticleDetails, ViewError> {
            Ok(ParticleDetails::default())
        }
    }

    /// A growing recording that counts requests beyond its last frame.
    struct Growing {
        frames: AtomicU64,
        in_vain: AtomicU64,
    }

    impl FrameSource for Growing {
        fn title(&self) -> String {
            String::new()
        }

        fn frames(&self) -> Option<usize> {
            Some(self.frames.load(Ordering::Relaxed) as usize)
        }

        fn frame(&self, _: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
            let number = self.frames.load(Ordering::Relaxed) - 1;
            if seen == Some(number) {
                self.in_vain.fetch_add(1, Ordering::Relaxed);
                return Ok(None);
            }
            Ok(Some(Arc::new(Snapshot {
                number,
                ..Snapshot::default()
            })))
        }

        fn details(&self, _: u64, _: Particle) -> Result<ParticleDetails, ViewError> {
            Ok(ParticleDetails::default())
        }
    }

    #[test]
    fn at_the_end_of_a_recording_only_requests_are_waited_for_and_what_comes() {
        let growing = Arc::new(Growing {
            frames: AtomicU64::new(2),
            in_vain: AtomicU64::new(0),
        });
        let show: Arc<dyn FrameSource> = growing.clone();
        let (to, loader_events) = channel();
        let loader = Loader::new(&show, move |one| to.send(one).is_ok(), &PictureOptions::default());
        for number in 1..3 {
            match loader_events.recv_timeout(20 * PATIENCE) {
                Ok(LoaderEvent::Frame(snapshot)) => assert_eq!(snapshot.number, number),
                _ => panic!("no frame"),
            }
            loader.taken();
            assert!(loader_events.recv_timeout(PATIENCE).is_err());
            growing.frames.fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!(growing.in_vain.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_window_that_draws_nothing_is_sent_nothing_more() {
        let endless = Arc::new(Endless::default());
        let show: Arc<dyn FrameSource> = endless.clone();
        let (to, loader_events) = channel();
        let loader = Loader::new(&show, move |one| to.send(one).is_ok(), &PictureOptions::default());
        let next = || match loader_events.recv_timeout(20 * PATIENCE) {
            Ok(LoaderEvent::Frame(snapshot)) => snapshot.number,
            _ => panic!("no frame"),
        };
        assert_eq!(next(), 0);
        assert!(loader_events.recv_timeout(2 * PATIENCE).is_err());
        assert_eq!(endless.0.load(Ordering::Relaxed), 1, "frames that were asked for");
        for number in 1..100 {
            loader.taken();
            assert_eq!(next(), number);
        }
    }
}
