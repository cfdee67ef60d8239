//! A GPU that CubeCL runs, and its failures as errors.

use super::cuda::Interop;
use super::{Client, Description, GpuError};
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, streaming::StreamPolicy};
use cubecl::future::block_on;
use cubecl::server::ServerError;
use cubecl::wgpu::WgpuSetup;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    /// The device with its queue, where wgpu reaches it.
    pub setup: Option<WgpuSetup>,
    /// What draws on the same card, where CUDA reaches it and somebody asked for that.
    pub interop: OnceLock<Option<Interop>>,
    /// Takes the device away, where the API lets us.
    pub lose: Option<Box<dyn Fn() + Send + Sync>>,
    /// How often the client was asked for since all was handed on.
    pub queued: Mutex<usize>,
}

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

/// Launches and writes after which all wait until they are handed on where a processor stands in for a GPU.
/// CubeCL's queue holds 32; who finds it full turns in place for milliseconds, on a core that the kernels need.
const MOST_QUEUED: usize = 24;

impl Runtime {
    /// Where to queue a launch or a write.
    pub fn client(&self) -> &Client {
        if self.description.is_software {
            let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
            *queued += 1;
            if *queued == MOST_QUEUED {
                *queued = 0;
                // What failed is told to whoever reads what was to be written.
                let _ = caught(|| self.client.flush());
            }
        }
        &self.client
    }

    /// What draws on this card of CUDA, started when it is asked for first.
    pub fn interop(&self) -> Option<&Interop> {
        let open = || caught(|| Interop::open(&self.description)).and_then(|answer| answer).ok().flatten();
        self.interop.get_or_init(open).as_ref()
    }

    /// Waits until the device is idle.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.guard(|| block_on(self.client.sync()))
    }

    /// Turns errors and panics of CubeCL into errors of ours.
    pub fn guard<T>(&self, body: impl FnOnce() -> Result<T, ServerError>) -> Result<T, GpuError> {
        let answer = caught(body).and_then(|answer| answer.map_err(|error| root(&error.to_string())));
        answer.map_err(|cause| self.lost(cause))
    }

    /// The device failed, and what the API complained about meanwhile.
    pub fn lost(&self, cause: String) -> GpuError {
        GpuError::Lost {
            cause: match self.complaint.take() {
                Some(complaint) if !cause.contains(&complaint) => format!("{cause} {complaint}"),
                _ => cause,
            },
        }
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
