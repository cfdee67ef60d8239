//! What is read, or waited for, while the window goes on.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::plots;
use crate::{PATIENCE, Particle, PictureOptions, Show, Snapshot, ViewError, chart::Chart, plot, show::Details};

/// Wall time between two looks at the tables of a run \[s\].
const TABLES_EVERY: Duration = Duration::from_secs(1);

/// What a window is told.
pub enum News {
    /// A frame is there.
    Frame(Arc<Snapshot>),
    /// What was asked for of a particle.
    Details(Details),
    /// Energies, probes and seconds per pass of a run, as far as it went.
    Plots(Vec<Chart>, Vec<(String, f64, String)>),
    /// Something could not be read.
    Failed(String),
    /// The window is to be drawn anew after a while.
    Repaint(Duration),
    /// There will be nothing more to see.
    Gone,
}

/// What a window wishes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Which frame, and how.
    pub options: PictureOptions,
    /// Whether frames are wanted: after the last one those of a simulation that runs, or of a recording that goes on.
    pub goes_on: bool,
    /// The particle of which details are wanted, and the number of the frame.
    pub details: Option<(u64, Particle)>,
    /// Whether a particle was picked, which is looked for in each frame, be it there or not.
    pub is_following: bool,
    /// Whether charts are wanted.
    pub has_plots: bool,
}

/// A thread that asks the show.
pub struct Loader {
    shared: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    wish: Wish,
    /// Whether there may be something else to do than when the thread looked last.
    is_new: bool,
    /// Whether a frame was sent that the window has not drawn: as long as it does not, it needs no other. Those of large scenes would fill the memory.
    is_untaken: bool,
    /// Whether the window was drawn since tables were sent last: one that is hidden needs none.
    is_drawn: bool,
    is_over: bool,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Loader {
    /// A thread that tells a window what the show has, until `tell` says that it hears nothing any more.
    pub fn new(show: &Arc<dyn Show>, tell: impl Fn(News) -> bool + Send + 'static, options: &PictureOptions) -> Loader {
        let state = State {
            wish: Wish {
                options: options.clone(),
                goes_on: true,
                ..Wish::default()
            },
            is_new: true,
            is_untaken: false,
            is_drawn: true,
            is_over: false,
        };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let (show, state) = (show.clone(), shared.clone());
        std::thread::spawn(move || load(show.as_ref(), tell, &state));
        Loader { shared }
    }

    /// Says what is wished from now on: with every picture that is drawn.
    pub fn ask(&self, wish: Wish) {
        let (state, changed) = self.shared.as_ref();
        let mut state = locked(state);
        state.is_drawn = true;
        if state.wish != wish {
            (state.wish, state.is_new) = (wish, true);
            changed.notify_one();
        }
    }

    /// Says that the frame that came is drawn now, so that another may come.
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

fn load(show: &dyn Show, tell: impl Fn(News) -> bool, (state, changed): &(Mutex<State>, Condvar)) {
    let mut seen: Option<(PictureOptions, u64)> = None;
    let mut told = None;
    let mut tables: Option<Instant> = None;
    let mut complaint = None;
    loop {
        let last = last_of(show);
        let (wish, has_room, is_drawn) = {
            let mut state = locked(state);
            let has_last = last.is_some() && number_seen(&seen, &state.wish) == last;
            let is_idle = state.is_untaken || complaint.is_some() || !state.wish.goes_on || has_last;
            if is_idle && !state.is_new && !state.is_over {
                // What could not be shown may be in a moment, tables grow, and a run ends.
                state = changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.is_over {
                return;
            }
            state.is_new = false;
            (state.wish.clone(), !state.is_untaken, state.is_drawn)
        };
        if show.is_gone() {
            tell(News::Gone);
            return;
        }
        let known = number_seen(&seen, &wish);
        // A recording whose last frame is known would wait for another one, deaf to what is wished meanwhile.
        let is_wanted = known.is_none() || (wish.goes_on && known != last_of(show));
        let mut news = Vec::new();
        if has_room && is_wanted {
            match show.frame(&wish.options, known) {
                Ok(Some(snapshot)) => {
                    complaint = None;
                    seen = Some((wish.options.clone(), snapshot.number));
                    // What takes its time is found here, not on the thread that draws.
                    snapshot.extent();
                    if wish.is_following {
                        // Who follows a particle looks for it among all. If they cannot be had, it hears of that.
                        let _ = snapshot.here();
                    }
                    locked(state).is_untaken = true;
                    news.push(News::Frame(snapshot));
                }
                Ok(None) => {}
                Err(error) => {
                    seen = Some((wish.options.clone(), u64::MAX));
                    let told = complaint.replace(error.to_string());
                    if told != complaint {
                        news.push(News::Failed(error.to_string()));
                    }
                }
            }
        }
        if wish.details != told {
            told = wish.details;
            if let Some((number, particle)) = wish.details {
                news.push(match show.details(number, particle) {
                    Ok(details) => News::Details(details),
                    Err(error) => News::Failed(error.to_string()),
                });
            }
        }
        if wish.has_plots && is_drawn && tables.is_none_or(|last| last.elapsed() >= TABLES_EVERY) {
            tables = Some(Instant::now());
            if let Some(folder) = show.folder() {
                locked(state).is_drawn = false;
                news.push(charts(&folder).unwrap_or_else(|error| News::Failed(error.to_string())));
            }
        }
        if !news.into_iter().all(&tell) {
            return;
        }
    }
}

/// The number of the last frame of a recording.
fn last_of(show: &dyn Show) -> Option<u64> {
    show.frames().map(|frames| frames.saturating_sub(1) as u64)
}

/// The number of the frame that was seen last, if it was as it is wished now.
fn number_seen(seen: &Option<(PictureOptions, u64)>, wish: &Wish) -> Option<u64> {
    let seen = seen.as_ref().filter(|(options, _)| *options == wish.options);
    seen.map(|&(_, number)| number)
}

fn charts(folder: &Path) -> Result<News, ViewError> {
    let mut charts = plot::charts_of(folder)?;
    plots::thin(&mut charts);
    Ok(News::Plots(charts, plot::seconds_of(folder)?))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    /// A simulation that is always a step farther.
    #[derive(Default)]
    struct Endless(AtomicU64);

    impl Show for Endless {
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

        fn details(&self, _: u64, _: Particle) -> Result<Details, ViewError> {
            Ok(Details::default())
        }
    }

    /// A recording that grows, and how often it was asked for more than it had.
    struct Growing {
        frames: AtomicU64,
        in_vain: AtomicU64,
    }

    impl Show for Growing {
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

        fn details(&self, _: u64, _: Particle) -> Result<Details, ViewError> {
            Ok(Details::default())
        }
    }

    #[test]
    fn at_the_end_of_a_recording_only_wishes_are_waited_for_and_what_comes() {
        let growing = Arc::new(Growing {
            frames: AtomicU64::new(2),
            in_vain: AtomicU64::new(0),
        });
        let show: Arc<dyn Show> = growing.clone();
        let (to, news) = channel();
        let loader = Loader::new(&show, move |one| to.send(one).is_ok(), &PictureOptions::default());
        for number in 1..3 {
            match news.recv_timeout(20 * PATIENCE) {
                Ok(News::Frame(snapshot)) => assert_eq!(snapshot.number, number),
                _ => panic!("no frame"),
            }
            loader.taken();
            assert!(news.recv_timeout(PATIENCE).is_err());
            growing.frames.fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!(growing.in_vain.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_window_that_draws_nothing_is_sent_nothing_more() {
        let endless = Arc::new(Endless::default());
        let show: Arc<dyn Show> = endless.clone();
        let (to, news) = channel();
        let loader = Loader::new(&show, move |one| to.send(one).is_ok(), &PictureOptions::default());
        let next = || match news.recv_timeout(20 * PATIENCE) {
            Ok(News::Frame(snapshot)) => snapshot.number,
            _ => panic!("no frame"),
        };
        assert_eq!(next(), 0);
        assert!(news.recv_timeout(2 * PATIENCE).is_err());
        assert_eq!(endless.0.load(Ordering::Relaxed), 1, "frames that were asked for");
        for number in 1..100 {
            loader.taken();
            assert_eq!(next(), number);
        }
    }
}
