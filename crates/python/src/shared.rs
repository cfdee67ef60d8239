//! A session that a simulation shares with the arrays that it shows.

use pyo3::exceptions::{PyBufferError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use seixo::device::gpu::CudaMemory;
use seixo::run::Session;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// A session that a simulation shares with the arrays that it shows. Whoever reads memory of the session has a share of it, so that it stays; while
/// there are such readers, nothing changes it.
pub(crate) struct Shared {
    pub(crate) session: Mutex<Session>,
    /// Process in which it was made. A fork of it lacks the threads, and may have got the lock from one of them.
    process: u32,
    /// Number of arrays of other libraries that read memory of the session.
    pub(crate) exports: AtomicUsize,
    /// Whether a block of `sim.hold()` is open.
    pub(crate) held: AtomicBool,
    /// Number of steps and changes so far, by which readers see whether what they know is still true.
    pub(crate) version: AtomicU64,
}

impl Shared {
    /// Shares a session, of which nothing is shown yet.
    pub(crate) fn new(session: Session) -> Arc<Shared> {
        Arc::new(Shared {
            session: Mutex::new(session),
            process: std::process::id(),
            exports: AtomicUsize::new(0),
            held: AtomicBool::new(false),
            version: AtomicU64::new(0),
        })
    }

    /// The session, for what leaves its particles as they are: reading, observing, saving. Waits without the GIL while another thread has it.
    ///
    /// # Errors
    /// If it was made in another process, or an earlier call ended in the middle of a change.
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, Session>> {
        if std::process::id() != self.process {
            return Err(PyRuntimeError::new_err(
                "this simulation was made in another process; make a new one, or resume from a checkpoint",
            ));
        }
        let locked = match self.session.try_lock() {
            Ok(session) => return Ok(session),
            Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
            // The thread that has it may wait for the GIL.
            Err(TryLockError::WouldBlock) => Python::attach(|py| self.session.lock_py_attached(py)),
        };
        locked.map_err(|_| {
            PyRuntimeError::new_err(
                "an earlier call failed in the middle of a change; make a new simulation, or resume one from a checkpoint",
            )
        })
    }

    /// The session, for steps and all else that changes its particles.
    ///
    /// # Errors
    /// `BufferError` while the simulation is held, or while arrays of other libraries read its memory; and as [`Shared::lock`].
    pub(crate) fn lock_for_change(&self) -> PyResult<MutexGuard<'_, Session>> {
        let session = self.lock()?;
        // Blocks are opened under the lock, and a share is counted before its block is found open. So whoever may read is seen here.
        if self.held.load(SeqCst) {
            return Err(PyBufferError::new_err(
                "the simulation is held; leave the block of sim.hold() first",
            ));
        }
        let (arrays, them) = match self.exports.load(SeqCst) {
            0 => {
                self.version.fetch_add(1, SeqCst);
                return Ok(session);
            }
            1 => ("1 array from sim.hold() is".to_owned(), "it"),
            count => (format!("{count} arrays from sim.hold() are"), "them"),
        };
        Err(PyBufferError::new_err(format!(
            "{arrays} still in use, and this would change {them}; delete {them} first, or copy inside the block"
        )))
    }
}

/// A share of the memory of a session: while it lives, the memory is there and does not change.
pub(crate) struct Share {
    shared: Arc<Shared>,
    /// The memory, if it is that of a GPU.
    memory: Option<CudaMemory>,
}

impl Share {
    /// Takes a share. It protects the memory only if a block is open afterwards.
    pub(crate) fn new(shared: &Arc<Shared>, memory: Option<CudaMemory>) -> Share {
        shared.exports.fetch_add(1, SeqCst);
        Share {
            shared: shared.clone(),
            memory,
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            // Kernels of the reader may still run, and the next step must not overwrite what they read. A lost device reads nothing more.
            let _ = memory.wait_for_all();
        }
        self.shared.exports.fetch_sub(1, SeqCst);
    }
}
