//! Recordings: launches that a GPU repeats at the cost of one.
//!
//! While CUDA records, no thread of the process may make certain calls to it, such as waiting for a download or allocating memory: the call fails, and
//! the recording with it. So threads of this crate that call CUDA wait until a recording is over, and nothing is recorded while one of them is at it.
//! Calls of other libraries are out of reach: see [`claim_cuda`].

#![allow(unsafe_code, reason = "recorded launches refer to memory by its addresses")]

use super::runtime::{Runtime, caught, root};
use super::timeline::are_launches_timed;
use super::{Api, Gpu, GpuError, OPENED};
use cubecl::client::{Client, Graph};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Whether nothing else in this process uses CUDA.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Held by threads that call CUDA, together, or by one that records, alone. Recordings never wait for it, so a thread may hold it twice.
static CALLS: RwLock<()> = RwLock::new(());

/// Declares that all calls of CUDA in this process are made by this crate. Only then are launches recorded, as a recording would make calls of others
/// fail. For programs, not for libraries.
pub fn claim_cuda() {
    CLAIMED.store(true, Relaxed);
}

/// Waits until nothing is recorded; nothing is recorded while the result exists.
pub(super) fn outside_recordings() -> RwLockReadGuard<'static, ()> {
    CALLS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Launches that [`Gpu::replay`] repeats. They refer to the memory of their buffers, which stays allocated while this value exists.
pub struct Recording {
    graph: Graph,
}

/// Keeps other threads from calling CUDA, and other GPUs from being opened.
struct Alone {
    _opened: MutexGuard<'static, Vec<Arc<Runtime>>>,
    _calls: RwLockWriteGuard<'static, ()>,
}

impl Gpu {
    /// Whether [`Gpu::record`] can record launches: with CUDA, if it is [claimed](claim_cuda).
    pub fn can_record(&self) -> bool {
        self.description().api == Api::Cuda && CLAIMED.load(Relaxed)
    }

    /// Makes these launches and, if possible, makes them once more for a recording, without running them. `None` if they were made but not recorded:
    /// this GPU cannot, other threads use CUDA now, or launches are [timed](super::LaunchTimes).
    ///
    /// `launches` may only launch kernels, the same ones with the same arguments both times. It must not write, allocate or wait. It runs on another
    /// thread, on the [`Queue`](super::Queue) of this one. The recording belongs to this queue.
    ///
    /// # Errors
    /// If `launches` fails, or the device is lost.
    pub fn record(&self, mut launches: impl FnMut() -> Result<(), GpuError> + Send) -> Result<Option<Recording>, GpuError> {
        let Some(_alone) = self.alone() else {
            return launches().map(|()| None);
        };
        let client = &self.runtime.client;
        // On the thread that submits all launches to this GPU: those of other threads come before or after.
        let answer = caught(|| client.exclusive(|| record_on(client, &mut launches)));
        let answer = answer.and_then(|answer| answer.map_err(|error| root(&error.to_string())));
        let graph = answer.map_err(|cause| self.runtime.lost(cause))??;
        Ok(graph.map(|graph| Recording { graph }))
    }

    /// Makes the launches of a recording again, with the same arguments, after all launches on its queue so far. Call it on that queue.
    ///
    /// # Errors
    /// If the device was lost.
    pub fn replay(&self, recording: &Recording) -> Result<(), GpuError> {
        // SAFETY: the recording keeps the memory of its launches allocated and in place, and waits for them before it releases it. Buffers are used
        // on one queue; what reads them on another reads memory that no launch writes, see `Copies::carry_off`.
        self.runtime.guard(|| unsafe { recording.graph.replay() })
    }

    /// No other thread calls CUDA while the result exists. `None` if one does now, or may, or if launches are timed one by one.
    fn alone(&self) -> Option<Alone> {
        if !self.can_record() || are_launches_timed() {
            return None;
        }
        let opened = OPENED.try_lock().ok()?;
        let calls = CALLS.try_write().ok()?;
        // CubeCL has a thread for each GPU, and memory shared with the renderer is freed on any thread.
        let of_cuda = opened.iter().filter(|runtime| runtime.description.api == Api::Cuda).count();
        let is_shared = matches!(self.runtime.interop.get(), Some(Some(_)));
        (of_cuda == 1 && !is_shared).then_some(Alone {
            _opened: opened,
            _calls: calls,
        })
    }
}

/// Makes the launches, which compiles their kernels and gets what memory they need, and then records them.
fn record_on(client: &Client, launches: &mut impl FnMut() -> Result<(), GpuError>) -> Result<Option<Graph>, GpuError> {
    if client.graph_prepare().is_err() {
        return launches().map(|()| None);
    }
    let launched = caught(&mut *launches);
    if !matches!(launched, Ok(Ok(()))) || client.start_capture().is_err() {
        // Ends the preparation; there is nothing to keep.
        let _ = client.stop_capture();
        return launched.map_err(|cause| GpuError::Lost { cause })?.map(|()| None);
    }
    let recorded = caught(launches);
    let graph = client.stop_capture();
    recorded.map_err(|cause| GpuError::Lost { cause })??;
    // Buffers of a failed recording count as unwritten for CubeCL, so there is no way on.
    graph.map(Some).map_err(|error| GpuError::Lost {
        cause: root(&error.to_string()),
    })
}
