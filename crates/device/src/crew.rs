//! Threads that help in short passes and stay awake between them.
//!
//! The system takes some 50 µs to wake a thread, as long as a short pass takes. So helpers look for the next pass for a short time before they sleep. So
//! does a thread that waits for its last helper.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a thread stays awake while it waits. Longer waits, as for an output, are worth a sleep.
const PATIENCE: Duration = Duration::from_micros(200);
/// Looks in a row, after each of which the core pauses for a few cycles. Then other threads may use it.
const LOOKS: usize = 32;

/// Fields of [`Board::state`]. The number of helpers that call the work:
const CALLS: u64 = (1 << 24) - 1;
const CALL: u64 = 1;
/// The number of helpers that may still join:
const PLACES: u64 = CALLS << 24;
const PLACE: u64 = 1 << 24;
/// Whether the thread that shares the work sleeps until the last call ends:
const IS_AWAITED: u64 = 1 << 48;
/// Whether there will be no more work:
const IS_OVER: u64 = 1 << 49;

/// Helpers of any thread that has work to share.
pub struct Crew {
    board: Arc<Board>,
    helpers: Vec<JoinHandle<()>>,
    /// Whether a thread shares work.
    is_busy: AtomicBool,
}

/// Where helpers find work.
struct Board {
    /// Helpers join and leave by atomic changes of this number, without a lock. It is zero while no work is shared.
    state: AtomicU64,
    /// The work, while there are places or calls.
    work: AtomicPtr<&'static (dyn Fn(bool) + Sync)>,
    /// Number of helpers that sleep. Work is posted with this lock, so no helper falls asleep beside it.
    asleep: Mutex<usize>,
    posted: Condvar,
    ended: Condvar,
    /// Payload of a helper that panicked in the work.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    patience: Duration,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew {
    /// Starts so many helpers.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn new(helpers: usize) -> std::io::Result<Crew> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let board = Board {
            state: AtomicU64::new(0),
            work: AtomicPtr::default(),
            asleep: Mutex::new(0),
            posted: Condvar::new(),
            ended: Condvar::new(),
            panic: Mutex::new(None),
            // With more threads than cores, one that stays awake takes the core of another.
            patience: if helpers < cores { PATIENCE } else { Duration::ZERO },
        };
        let mut crew = Crew {
            board: Arc::new(board),
            helpers: Vec::with_capacity(helpers),
            is_busy: AtomicBool::new(false),
        };
        for k in 0..helpers {
            let board = crew.board.clone();
            let helper = thread::Builder::new()
                .name(format!("seixo-helper-{k}"))
                .spawn(move || board.help())?;
            crew.helpers.push(helper);
        }
        Ok(crew)
    }

    /// Calls `work(true)` here and, meanwhile, `work(false)` on at most `places` helpers, on each as soon as it is ready. Returns after the last call.
    /// A call should return when nothing is left to do: no helper joins after the first of them has returned. If the helpers are busy with other
    /// work, as inside `work` itself, calls `work(true)` alone. Allocates nothing.
    ///
    /// # Panics
    /// If a call panics, after the others have returned. The crew remains usable.
    pub fn share(&self, places: usize, work: &(dyn Fn(bool) + Sync)) {
        let places = places.min(self.helpers.len());
        if places == 0 || self.is_busy.swap(true, Acquire) {
            return work(true);
        }
        self.board.work.store((&raw const work).cast_mut().cast(), Relaxed);
        self.board.post(places, self.helpers.len());
        let own = catch_unwind(AssertUnwindSafe(|| work(true)));
        self.board.withdraw();
        let of_helper = locked(&self.board.panic).take();
        self.is_busy.store(false, Release);
        if let Some(panic) = own.err().or(of_helper) {
            resume_unwind(panic);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let asleep = locked(&self.board.asleep);
        self.board.state.fetch_or(IS_OVER, Relaxed);
        drop(asleep);
        self.board.posted.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper does not panic outside work.
            let _ = helper.join();
        }
    }
}

impl Board {
    /// Offers the work in so many places, and wakes helpers if too few of them are awake.
    fn post(&self, places: usize, helpers: usize) {
        let asleep = locked(&self.asleep);
        self.state.store(places as u64 * PLACE, Release);
        let sleepers = *asleep;
        drop(asleep);
        match places.saturating_sub(helpers - sleepers) {
            0 => {}
            // One call of the system instead of many.
            missing if missing == sleepers => self.posted.notify_all(),
            missing => (0..missing).for_each(|_| self.posted.notify_one()),
        }
    }

    /// Lets no more helpers join, and waits until all that have joined return.
    fn withdraw(&self) {
        self.state.fetch_and(!PLACES, Relaxed);
        let has_ended = || self.state.load(Acquire) & CALLS == 0;
        if self.comes_soon(has_ended) {
            return;
        }
        let mut asleep = locked(&self.asleep);
        self.state.fetch_or(IS_AWAITED, Relaxed);
        while !has_ended() {
            asleep = self.ended.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        drop(asleep);
        self.state.fetch_and(!IS_AWAITED, Relaxed);
    }

    /// What a helper does.
    fn help(&self) {
        while self.state.load(Relaxed) & IS_OVER == 0 {
            if self.joins() {
                self.call();
            } else {
                self.wait();
            }
        }
    }

    /// Takes a place and counts a call, if there is a place.
    fn joins(&self) -> bool {
        let join = |state: u64| (state & PLACES > 0).then(|| state - PLACE + CALL);
        self.state.try_update(Acquire, Relaxed, join).is_ok()
    }

    /// Calls the work, after this helper has joined, and leaves.
    #[allow(unsafe_code, reason = "threads that outlive a pass can borrow its data in no safe way")]
    fn call(&self) {
        let called = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the pointer is to the argument `work` of `Crew::share`, which has not returned, since this call is counted in `CALLS` from the
            // moment in which it took a place until its end below. Places exist only between `post` and `withdraw`. The latter takes them away, and
            // returns once no call is counted. Between both `share` cannot unwind: its own call is caught. Meanwhile `is_busy` keeps other threads
            // from posting, so the pointer remains as it is. It was stored before the places (Release), and is read after one was taken (Acquire).
            // Many threads may call the work, as it is `Sync`. Calls happen before `share` returns, by Release below and Acquire in `withdraw`.
            let work = unsafe { *self.work.load(Relaxed) };
            work(false);
        }));
        if let Err(panic) = called {
            // An earlier payload is not dropped: if that panicked, this call would never end.
            std::mem::forget(locked(&self.panic).replace(panic));
        }
        // From here on the work may be gone.
        let before = self.state.update(Release, Relaxed, |state| (state & !PLACES) - CALL);
        if before & CALLS == CALL && before & IS_AWAITED > 0 {
            // With the lock once, as the thread that waits may be between its look and its sleep.
            drop(locked(&self.asleep));
            self.ended.notify_one();
        }
    }

    /// Waits for work, or for the end.
    fn wait(&self) {
        let has_news = || self.state.load(Relaxed) & (PLACES | IS_OVER) > 0;
        if self.comes_soon(has_news) {
            return;
        }
        let mut asleep = locked(&self.asleep);
        if !has_news() {
            *asleep += 1;
            // Once: a helper that wakes too late for this work stays awake for the next.
            asleep = self.posted.wait(asleep).unwrap_or_else(PoisonError::into_inner);
            *asleep -= 1;
        }
    }

    /// Whether something becomes true while a thread stays awake for it.
    fn comes_soon(&self, is_true: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if is_true() {
                    return true;
                }
                spin_loop();
            }
            if begun.elapsed() >= self.patience {
                return false;
            }
            thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Waits until so many threads have come; false if they do not within a minute.
    fn meet(come: &AtomicUsize, count: usize) -> bool {
        come.fetch_add(1, Relaxed);
        let begun = Instant::now();
        while come.load(Relaxed) < count {
            if begun.elapsed() > Duration::from_secs(60) {
                return false;
            }
            thread::yield_now();
        }
        true
    }

    #[test]
    fn helpers_take_all_places_whether_they_are_awake_or_sleep() {
        for (helpers, places) in [(1, 1), (3, 2), (7, 7)] {
            let crew = Crew::new(helpers).unwrap();
            for pause in [0, 0, 5, 0, 5] {
                thread::sleep(Duration::from_millis(pause));
                let [come, met, own] = [(); 3].map(|()| AtomicUsize::new(0));
                crew.share(places, &|is_caller: bool| {
                    met.fetch_add(usize::from(meet(&come, places + 1)), Relaxed);
                    own.fetch_add(usize::from(is_caller), Relaxed);
                });
                assert_eq!([met, own].map(AtomicUsize::into_inner), [places + 1, 1], "{helpers}, {pause} ms");
            }
        }
    }

    #[test]
    fn work_ends_with_its_last_call() {
        let crew = Crew::new(1).unwrap();
        // The caller waits awake, then in its sleep.
        for pause in [Duration::ZERO, PATIENCE / 4, Duration::from_millis(5)] {
            let (come, has_ended) = (AtomicUsize::new(0), AtomicBool::new(false));
            crew.share(1, &|is_caller: bool| {
                let has_met = meet(&come, 2);
                if !is_caller {
                    thread::sleep(pause);
                    has_ended.store(has_met, Relaxed);
                }
            });
            assert!(has_ended.into_inner(), "{pause:?}");
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_helpers_remain() {
        let crew = Crew::new(2).unwrap();
        for (of_caller, of_helpers) in [(true, false), (false, true), (true, true), (false, true)] {
            let come = AtomicUsize::new(0);
            let work = |is_caller: bool| {
                assert!(meet(&come, 3));
                let panics = if is_caller { of_caller } else { of_helpers };
                if panics {
                    resume_unwind(Box::new(is_caller));
                }
            };
            let panic = catch_unwind(AssertUnwindSafe(|| crew.share(2, &work))).unwrap_err();
            // Its own comes first.
            assert_eq!(panic.downcast_ref::<bool>(), Some(&of_caller));
        }
        // None is left for later work.
        crew.share(2, &|_| {});
    }

    #[test]
    fn work_inside_work_stays_on_its_thread() {
        let crew = Crew::new(1).unwrap();
        let [come, inner] = [(); 2].map(|()| AtomicUsize::new(0));
        crew.share(1, &|_| {
            assert!(meet(&come, 2));
            let here = thread::current().id();
            crew.share(1, &|is_caller: bool| {
                assert!(is_caller && thread::current().id() == here);
                inner.fetch_add(1, Relaxed);
            });
        });
        assert_eq!(inner.into_inner(), 2);
    }

    #[test]
    fn helpers_end_with_their_crew_whether_they_are_awake_or_sleep() {
        for pause in [0, 5] {
            let crew = Crew::new(3).unwrap();
            crew.share(3, &|_| {});
            thread::sleep(Duration::from_millis(pause));
            let board = Arc::downgrade(&crew.board);
            drop(crew);
            assert_eq!(board.strong_count(), 0, "{pause} ms");
        }
    }
}
