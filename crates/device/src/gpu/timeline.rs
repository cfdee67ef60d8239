//! When launches ran: with CUDA, by the events that CubeCL records in a queue before and after each of them.
//!
//! While launches are timed, the thread that makes one waits until CubeCL's thread of the device has passed it to the driver. It never waits for the GPU.

use super::runtime::caught;
use super::{Api, Gpu};
use cubecl::future::block_on;
use cubecl::logging::{LaunchObservation, LaunchObserver, ProfileDuration, TimingRequest};
use cubecl_environment::stream::StreamId;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Whether launches are timed now.
static IS_TIMED: AtomicBool = AtomicBool::new(false);

/// What was timed, with events that are not read yet.
static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());

thread_local! {
    /// See [`own_launches`].
    static OWNER: Cell<usize> = const { Cell::new(0) };
}

/// A time that no launch takes \[s\]; CubeCL reports a longer one where it cannot read its events.
pub(super) const UNREADABLE: f64 = 1800.0;

/// Work on a GPU that was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedWork {
    /// Name of the kernel with its module, or the name that was given to [`Gpu::timed`].
    pub name: String,
    /// Number of the threads that asked for it, see [`own_launches`].
    pub owner: usize,
    /// Number of its queue.
    pub queue: u64,
    /// Whether it was timed by [`Gpu::timed`]: kernels may run in it.
    pub is_given: bool,
    /// Start, since [`LaunchTimes::since`] \[s\].
    pub from: f64,
    /// End \[s\].
    pub to: f64,
}

struct Pending {
    name: String,
    owner: usize,
    queue: u64,
    is_given: bool,
    times: ProfileDuration,
}

/// Times the launches of this process as long as it exists.
pub struct LaunchTimes {
    since: Instant,
    /// `None` once it has ended.
    observation: Option<LaunchObservation>,
}

struct Observer;

impl LaunchObserver for Observer {
    fn launched(&self, _kernel: &'static str) {}

    fn timing(&self) -> TimingRequest {
        TimingRequest::Deferred
    }

    fn profiled(&self, kernel: &'static str, times: ProfileDuration) {
        keep(short_name(kernel), false, times);
    }
}

impl LaunchTimes {
    /// Begins to time launches, relative to a moment. `None` if launches are timed already.
    pub fn since(moment: Instant) -> Option<LaunchTimes> {
        if IS_TIMED.swap(true, Relaxed) {
            return None;
        }
        // A launch may have been timed after the last end.
        pending().clear();
        Some(LaunchTimes {
            since: moment,
            observation: Some(LaunchObservation::new(Arc::new(Observer))),
        })
    }

    /// Ends the timing, waits for the launches that were timed, and returns them in the order in which they were made.
    pub fn end(self) -> Vec<TimedWork> {
        let (since, timed) = (self.since, std::mem::take(&mut *pending()));
        drop(self);
        timed.into_iter().filter_map(|one| one.read(since)).collect()
    }
}

impl Drop for LaunchTimes {
    fn drop(&mut self) {
        // Before another one may begin.
        drop(self.observation.take());
        IS_TIMED.store(false, Relaxed);
    }
}

impl Pending {
    /// Waits for the events. `None` if they cannot be read.
    fn read(self, since: Instant) -> Option<TimedWork> {
        let Pending {
            name,
            owner,
            queue,
            is_given,
            times,
        } = self;
        let times = caught(|| block_on(times.resolve())).ok().flatten()?;
        let (from, to) = (times.start_duration_since(since), times.end_duration_since(since));
        (times.duration().as_secs_f64() < UNREADABLE).then_some(TimedWork {
            name,
            owner,
            queue,
            is_given,
            from: from.as_secs_f64(),
            to: to.as_secs_f64(),
        })
    }
}

/// Whether launches are timed now.
pub(super) fn are_launches_timed() -> bool {
    IS_TIMED.load(Relaxed)
}

/// Gives what this thread asks of GPUs a number, see [`TimedWork::owner`]. It is 0 otherwise.
pub fn own_launches(owner: usize) {
    OWNER.set(owner);
}

impl Gpu {
    /// Runs `work`, which queues something that is no launch, such as copies to other GPUs. While [launches are timed](LaunchTimes), it is timed under
    /// this name, from the end of all that was queued before on this queue, with CUDA.
    pub fn timed<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        if !are_launches_timed() || self.description().api != Api::Cuda {
            return work();
        }
        let client = &self.runtime.client;
        // A failure of the device is reported by what comes after.
        let window = caught(|| client.profile_start()).ok().and_then(Result::ok);
        let done = work();
        if let Some(window) = window
            && let Ok(Ok(times)) = caught(|| client.profile_end(window))
        {
            keep(name.to_owned(), true, times);
        }
        done
    }
}

fn pending() -> MutexGuard<'static, Vec<Pending>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(name: String, is_given: bool, times: ProfileDuration) {
    pending().push(Pending {
        name,
        owner: OWNER.get(),
        queue: StreamId::current().value,
        is_given,
        times,
    });
}

/// Name of a kernel with its module. CubeCL puts the type of each kernel into a module that has the name of the function.
fn short_name(kernel: &str) -> String {
    let path = kernel.split('<').next().unwrap_or(kernel);
    let mut segments: Vec<&str> = path.split("::").collect();
    if let [.., function, kind] = segments[..]
        && function.replace('_', "") == kind.to_lowercase()
    {
        segments.pop();
    }
    segments[segments.len().saturating_sub(2)..].join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_named_by_module_and_function() {
        let names = [
            ("seixo_sweeps::kernels::domain::send_halt::SendHalt<f32>", "domain::send_halt"),
            ("seixo_device::gpu::scan::add::Add", "scan::add"),
            ("seixo_device::gpu::sort::Digits<u32>", "sort::Digits"),
            ("alone", "alone"),
        ];
        for (kernel, expected) in names {
            assert_eq!(short_name(kernel), expected);
        }
    }

    #[test]
    fn only_one_at_a_time_has_the_times_of_launches() {
        let first = LaunchTimes::since(Instant::now()).unwrap();
        assert!(LaunchTimes::since(Instant::now()).is_none());
        drop(first);
        assert!(LaunchTimes::since(Instant::now()).is_some());
    }
}
