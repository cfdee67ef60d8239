//! Addresses of GPU memory, for other libraries of this process.

use super::{Api, Buffer, Gpu, GpuError, cuda};
use std::sync::{Arc, Mutex};

/// Memory of a GPU at an address of CUDA. It is neither freed nor moved while this value or a clone of it lives.
#[derive(Clone)]
pub struct CudaMemory {
    address: u64,
    device: usize,
    /// What keeps CubeCL from freeing or moving the memory.
    _kept: Arc<Mutex<dyn Send>>,
}

impl CudaMemory {
    /// Address in the memory of the GPU. It belongs to the primary context of CUDA, which libraries share by default.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Index of the GPU among those of CUDA, from 0.
    pub fn device(&self) -> usize {
        self.device
    }

    /// Waits for all work on this GPU that was queued by this process, also for that of other libraries.
    ///
    /// # Errors
    /// If the device was lost.
    pub fn wait_for_all(&self) -> Result<(), GpuError> {
        cuda::synchronize(self.device).map_err(|cause| GpuError::Lost { cause })
    }
}

impl Gpu {
    /// The memory of a buffer at its address of CUDA; `None` through other APIs, which show no addresses. What was queued before may still run: see
    /// [`Gpu::wait`].
    ///
    /// # Errors
    /// If a kernel that computes the items failed, or the device is lost.
    pub fn cuda_memory<T>(&self, buffer: &Buffer<T>) -> Result<Option<CudaMemory>, GpuError> {
        if self.description().api != Api::Cuda {
            return Ok(None);
        }
        let shown = self.runtime.guard(|| cuda::address(self.client(), buffer.whole()))?;
        Ok(shown.map(|(address, kept)| CudaMemory {
            address,
            device: self.description().index,
            _kept: kept,
        }))
    }
}
