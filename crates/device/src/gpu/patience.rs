//! Limits of waits. A GPU that waits for another one, as in a copy between them, never answers if that one fails or their link does.

use seixo_transport::receive_awake;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which a wait looks at its limit, which may have changed.
const LOOK: Duration = Duration::from_millis(20);

type Task = Box<dyn FnOnce() + Send>;

/// How long a host waits for a GPU.
#[derive(Default)]
pub struct Patience {
    /// The longest wait \[ms\]; 0 = no limit.
    limit: AtomicU64,
    /// Threads that wait in place of others, and have nothing to wait for now. A thread that waits in vain never comes back.
    idle: Arc<Mutex<Vec<Sender<Task>>>>,
}

impl Patience {
    /// Limits waits, also those that are under way if they were limited before. `None` = no limit.
    pub fn limit(&self, longest: Option<Duration>) {
        let limit = longest.map_or(0, |longest| (longest.as_millis() as u64).max(1));
        self.limit.store(limit, Relaxed);
    }

    /// The longest wait.
    pub fn longest(&self) -> Option<Duration> {
        let limit = self.limit.load(Relaxed);
        (limit > 0).then(|| Duration::from_millis(limit))
    }

    /// Waits, on this thread if there is no limit.
    ///
    /// # Errors
    /// With the cause, if it takes too long.
    pub fn bounded<T: Send + 'static>(&self, wait: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
        if self.longest().is_none() {
            return Ok(wait());
        }
        let worker = self.worker();
        let (answer, answered) = channel();
        // If the wait took too long, there is no receiver any more.
        let task: Task = Box::new(move || drop(answer.send(wait())));
        if let Err(SendError(task)) = worker.send(task) {
            task();
        }
        let begun = Instant::now();
        loop {
            match receive_awake(&answered).map_or_else(|| answered.recv_timeout(LOOK), Ok) {
                Ok(answer) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
                    return Ok(answer);
                }
                Err(RecvTimeoutError::Disconnected) => return Err("the thread that waits for it panicked".to_owned()),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(longest) = self.longest().filter(|longest| begun.elapsed() >= *longest) {
                        return Err(too_long(longest));
                    }
                }
            }
        }
    }

    /// Has a thread that waits in place of others do this. Does not wait for it.
    pub fn aside(&self, work: impl FnOnce() + Send + 'static) {
        let worker = self.worker();
        let (idle, own) = (self.idle.clone(), worker.clone());
        let task: Task = Box::new(move || {
            work();
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        });
        if let Err(SendError(task)) = worker.send(task) {
            task();
        }
    }

    /// A thread that waits in place of others.
    fn worker(&self) -> Sender<Task> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| {
            let (tasks, given) = channel::<Task>();
            thread::spawn(move || {
                while let Ok(task) = receive_awake(&given).map_or_else(|| given.recv(), Ok) {
                    task();
                }
            });
            tasks
        })
    }
}

/// Cause of an error after a wait of this time.
pub fn too_long(waited: Duration) -> String {
    format!(
        "it did not answer within {:.0} s, as after the failure of a GPU that it exchanges data with, or of the link between them",
        waited.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_in_vain_ends_and_others_go_on() {
        let patience = Arc::new(Patience::default());
        assert_eq!(patience.bounded(|| thread::current().id()), Ok(thread::current().id()));
        patience.limit(Some(Duration::from_secs(600)));
        // A thread that waited waits again for the next one.
        let [first, second] = [(); 2].map(|()| patience.bounded(|| thread::current().id()));
        assert!(first.is_ok() && first == second && first != Ok(thread::current().id()));
        let (never, waits) = channel::<()>();
        let shortened = patience.clone();
        let begun = Instant::now();
        let impatient = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            shortened.limit(Some(Duration::from_millis(200)));
        });
        let cause = patience.bounded(move || waits.recv()).unwrap_err();
        assert!(cause.contains("did not answer"), "{cause}");
        assert!(begun.elapsed() < Duration::from_secs(60));
        impatient.join().unwrap();
        assert_eq!(patience.bounded(|| 7), Ok(7));
        drop(never);
    }

    #[test]
    fn work_aside_is_done_by_a_thread_that_waits_afterwards() {
        let patience = Patience::default();
        patience.limit(Some(Duration::from_secs(600)));
        let ((reported, heard), (may_end, goes_on)) = (channel(), channel());
        patience.aside(move || {
            reported.send(thread::current().id()).unwrap();
            goes_on.recv().unwrap();
        });
        let aside = heard.recv().unwrap();
        assert_ne!(aside, thread::current().id());
        // It still works, so another thread waits.
        assert_ne!(patience.bounded(|| thread::current().id()), Ok(aside));
        may_end.send(()).unwrap();
        while patience.idle.lock().unwrap().len() < 2 {
            thread::yield_now();
        }
        assert_eq!(patience.bounded(|| thread::current().id()), Ok(aside));
    }

    #[test]
    fn a_panic_is_no_answer() {
        let patience = Patience::default();
        patience.limit(Some(Duration::from_secs(600)));
        assert!(patience.bounded(|| -> u32 { panic!("meant") }).is_err());
        assert_eq!(patience.bounded(|| 7), Ok(7));
    }
}
