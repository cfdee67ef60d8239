//! A GPU under CubeCL, and its failures as errors.

use super::cuda::Interop;
use super::patience::Patience;
use super::recording::outside_recordings;
use super::{Client, Description, GpuError};
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, streaming::StreamPolicy};
use cubecl::future::block_on;
use cubecl::server::{CommunicationId, ServerError};
use cubecl::wgpu::WgpuSetup;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An answer of CubeCL that is on its way.
pub type Coming<T> = Pin<Box<dyn Future<Output = Result<T, ServerError>> + Send>>;

/// A started GPU.
pub struct Runtime {
    /// Its description.
    pub description: Description,
    /// Queue for its work.
    pub client: Client,
    /// Largest buffer that the API allows \[bytes\].
    pub largest: Option<u64>,
    /// Last error of the API outside of any call.
    pub complaint: Arc<ApiError>,
    /// Device and queue, if it is reached through wgpu.
    pub setup: Option<WgpuSetup>,
    /// Graphics device on the same card, if CUDA is used and it was requested.
    pub interop: OnceLock<Option<Interop>>,
    /// Makes the device unusable, if the API supports that.
    pub lose: Option<Box<dyn Fn() + Send + Sync>>,
    /// Calls of the client since the last flush.
    pub queued: Mutex<usize>,
    /// Groups of GPUs with this one that are set up for sums.
    pub groups: Mutex<HashSet<CommunicationId>>,
    /// Whether allocations fail on purpose.
    pub is_full: AtomicBool,
}

/// Last message of an API that reports errors outside of calls.
#[derive(Default)]
pub struct ApiError(Mutex<Option<String>>);

impl ApiError {
    /// Stores a message.
    pub fn note(&self, message: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }

    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Launches and writes between flushes on a software GPU. Each flush waits until they are submitted. CubeCL's queue holds 32 entries. A thread that
/// finds it full spins for milliseconds, on a core that the kernels need.
const MAX_QUEUED: usize = 24;

impl Runtime {
    /// Client for a launch or a write.
    pub fn client(&self) -> &Client {
        if self.description.is_software {
            let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
            *queued += 1;
            if *queued == MAX_QUEUED {
                *queued = 0;
                // A failure is reported when the result is downloaded.
                let _ = caught(|| self.client.flush());
            }
        }
        &self.client
    }

    /// Graphics device on this CUDA card, started on the first call.
    pub fn interop(&self) -> Option<&Interop> {
        let _calls = outside_recordings();
        let open = || caught(|| Interop::open(&self.description)).and_then(|answer| answer).ok().flatten();
        self.interop.get_or_init(open).as_ref()
    }

    /// Waits until the device is idle.
    pub fn wait(&self, patience: &Patience) -> Result<(), GpuError> {
        let idle = self.guard(|| Ok(self.client.sync()))?;
        self.wait_for(idle, patience)
    }

    /// Waits for an answer of the device.
    pub fn wait_for<T: Send + 'static>(&self, coming: Coming<T>, patience: &Patience) -> Result<T, GpuError> {
        let _calls = outside_recordings();
        let wait = || caught(|| block_on(coming)).and_then(|answer| answer.map_err(|error| root(&error.to_string())));
        let answer = patience.bounded(wait).and_then(|answer| answer);
        answer.map_err(|cause| self.lost(cause))
    }

    /// Converts errors and panics of CubeCL to errors of this crate. Not for use in what is recorded: it waits until a recording is over.
    pub fn guard<T>(&self, body: impl FnOnce() -> Result<T, ServerError>) -> Result<T, GpuError> {
        let _calls = outside_recordings();
        let answer = caught(body).and_then(|answer| answer.map_err(|error| root(&error.to_string())));
        answer.map_err(|cause| self.lost(cause))
    }

    /// Error of a failed device, with the last error of the API.
    pub fn lost(&self, cause: String) -> GpuError {
        GpuError::Lost {
            cause: match self.complaint.take() {
                Some(complaint) if !cause.contains(&complaint) => format!("{cause} {complaint}"),
                _ => cause,
            },
        }
    }
}

/// Runs code that may panic because of a driver; returns the panic message as error.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or(payload.downcast_ref::<&str>().copied())
            .unwrap_or("the runtime panicked")
            .to_owned()
    })
}

/// Root cause of a failure. CubeCL's messages begin with the calls that failed and contain backtraces of its own threads.
pub fn root(message: &str) -> String {
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

/// Sets CubeCL's options for the whole process, before its first use. All threads use one queue, unless they enter another, so that launches run in the
/// order in which they were made. No `cubecl.toml` from a parent folder is read.
pub fn configure() {
    let mut settings = CubeClRuntimeConfig::default();
    settings.streaming.policy = StreamPolicy::Single;
    // It is set already if another GPU was opened before.
    let _ = CubeClRuntimeConfig::try_set(settings);
}
