//! What is read, or waited for, while the window goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use winit::event_loop::EventLoopProxy;

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
    /// Whether charts are wanted.
    pub has_plots: bool,
}

/// A thread that asks the show.
pub struct Loader {
    shared: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    wish: Wish,
    is_new: bool,
    is_over: bool,
}

impl Loader {
    /// A thread that tells a window what the show has.
    pub fn new(show: &Arc<dyn Show>, to: EventLoopProxy<News>, options: &PictureOptions) -> Loader {
        let state = State {
            wish: Wish {
                options: options.clone(),
                goes_on: true,
                ..Wish::default()
            },
            is_new: true,
            is_over: false,
        };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let (show, state) = (show.clone(), shared.clone());
        std::thread::spawn(move || load(show.as_ref(), &to, &state));
        Loader { shared }
    }

    /// Says what is wished from now on.
    pub fn ask(&self, wish: Wish) {
        let (state, changed) = self.shared.as_ref();
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.wish != wish {
            (state.wish, state.is_new) = (wish, true);
            changed.notify_one();
        }
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        let (state, changed) = self.shared.as_ref();
        state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        changed.notify_one();
    }
}

fn load(show: &dyn Show, to: &EventLoopProxy<News>, (state, changed): &(Mutex<State>, Condvar)) {
    let mut seen: Option<(PictureOptions, u64)> = None;
    let mut told = None;
    let mut tables: Option<Instant> = None;
    let mut complaint = None;
    loop {
        let wish = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if complaint.is_some() && !state.is_new && !state.is_over {
                // What could not be shown may be in a moment.
                state = changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            }
            while !state.is_new && !state.is_over && !state.wish.goes_on && !state.wish.has_plots {
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.is_over {
                return;
            }
            state.is_new = false;
            state.wish.clone()
        };
        if show.is_gone() {
            // A window that was closed needs nothing any more.
            let _ = to.send_event(News::Gone);
            return;
        }
        let known = seen
            .as_ref()
            .filter(|(options, _)| *options == wish.options)
            .map(|&(_, number)| number);
        let mut news = Vec::new();
        if known.is_none() || wish.goes_on {
            match show.frame(&wish.options, known) {
                Ok(Some(snapshot)) => {
                    complaint = None;
                    seen = Some((wish.options.clone(), snapshot.number));
                    if wish.details.is_some() {
                        // Who follows a particle looks for it among all: not on the thread that draws. If they cannot be had, it hears of that.
                        let _ = snapshot.here();
                    }
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
        if wish.has_plots && tables.is_none_or(|last| last.elapsed() >= TABLES_EVERY) {
            tables = Some(Instant::now());
            if let Some(folder) = show.folder() {
                news.push(charts(&folder).unwrap_or_else(|error| News::Failed(error.to_string())));
            }
        }
        for one in news {
            // A window that was closed needs nothing any more.
            if to.send_event(one).is_err() {
                return;
            }
        }
        if !wish.goes_on && wish.has_plots {
            std::thread::sleep(TABLES_EVERY / 4);
        }
    }
}

fn charts(folder: &Path) -> Result<News, ViewError> {
    let folder = PathBuf::from(folder);
    Ok(News::Plots(plot::charts_of(&folder)?, plot::seconds_of(&folder)?))
}
