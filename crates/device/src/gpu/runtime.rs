//! A GPU that CubeCL runs, and its failures as errors.

use super::{Client, Description, GpuError};
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, streaming::StreamPolicy};
use cubecl::future::block_on;
use cubecl::server::ServerError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// A GPU that was started.
pub struct Runtime {
    /// Which it is.
    pub description: Description,
    /// Where its work is queued.
    pub client: Client,
    /// The largest buffer that the API takes \[bytes\].
    pub largest: Option<u64>,
    /// What the API complained about last, outside of any call.
    pub complaint: Arc<Complaint>,
    /// Looks whether the device is done with something, where the API waits for that in its sleep and wakes late.
    pub look: Option<Look>,
}

/// Looks for news of a device.
pub type Look = Box<dyn Fn() + Send + Sync>;

/// How long a wait does nothing but look; then it sleeps between looks, for a small share of the time waited.
const WATCHFUL: Duration = Duration::from_millis(1);
/// One over that share.
const SHARE: u32 = 64;

/// The last message of an API that reports errors outside of calls.
#[derive(Default)]
pub struct Complaint(Mutex<Option<String>>);

impl Complaint {
    /// Notes a message.
    pub fn note(&self, message: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }

    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Runtime {
    /// Waits until the device is idle.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.guard(|| self.answer(self.client.sync()))
    }

    /// Waits for an answer of the device.
    ///
    /// Drivers of Vulkan were seen to wake 5 to 10 ms after the work was done, the time of many steps.
    pub fn answer<T>(&self, answer: impl Future<Output = T>) -> T {
        let Some(look) = &self.look else {
            return block_on(answer);
        };
        let mut answer = pin!(answer);
        let start = Instant::now();
        loop {
            if let Poll::Ready(value) = answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return value;
            }
            look();
            match start.elapsed() {
                waited if waited < WATCHFUL => yield_now(),
                waited => sleep(waited / SHARE),
            }
        }
    }

    /// Turns errors and panics of CubeCL into errors of ours.
    pub fn guard<T>(&self, body: impl FnOnce() -> Result<T, ServerError>) -> Result<T, GpuError> {
        let answer = caught(body).and_then(|answer| answer.map_err(|error| root(&error.to_string())));
        answer.map_err(|cause| GpuError::Lost {
            cause: match self.complaint.take() {
                Some(complaint) if !cause.contains(&complaint) => format!("{cause} {complaint}"),
                _ => cause,
            },
        })
    }
}

/// Runs what may panic for reasons that lie in drivers; the panic's message is the error.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or(payload.downcast_ref::<&str>().copied())
            .unwrap_or("the runtime panicked")
            .to_owned()
    })
}

/// The root of a failure. CubeCL's messages begin with the calls that met it and carry backtraces of its own threads.
fn root(message: &str) -> String {
    let mut is_trace = false;
    let (_, root) = message.rsplit_once("Caused by:").unwrap_or(("", message));
    let kept = root.lines().filter(|line| {
        let starts_trace = line.contains("acktrace") || line.starts_with("Asked at");
        let continues_trace = is_trace && line.starts_with(' ');
        is_trace = starts_trace || continues_trace;
        !is_trace && !line.trim().is_empty()
    });
    kept.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Settings of CubeCL for the whole process, before its first use: one queue for all threads, so that launches run in the order
/// in which they were made, and no `cubecl.toml` that happens to lie in a folder above.
pub fn configure() {
    let mut settings = CubeClRuntimeConfig::default();
    settings.streaming.policy = StreamPolicy::Single;
    // It is set already when another GPU was opened before.
    let _ = CubeClRuntimeConfig::try_set(settings);
}
