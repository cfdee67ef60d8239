//! Memory for drawing without a copy through the host. With CUDA it is a copy on the same card.

use super::buffer::{Arrived, Copies, Ticket};
use super::runtime::caught;
use super::{Api, Gpu, GpuError};
use cubecl::server::{Handle, ServerError};
use cubecl::wgpu::{AutoCompiler, WgpuServer, WgpuSetup, wgpu};
use std::any::Any;
use std::ops::Range;

/// Memory of some items as a wgpu buffer. Nothing else uses it while this value exists. Commands submitted from now on see the results of the earlier
/// launches.
pub struct SharedBuffer {
    /// Buffer that contains the memory.
    pub buffer: wgpu::Buffer,
    /// Byte range within the buffer.
    pub part: Range<u64>,
    /// Guard that keeps the memory from being reused.
    _held: Box<dyn Any + Send + Sync>,
}

impl SharedBuffer {
    /// Bytes of a buffer that nothing else uses while `held` exists.
    pub(super) fn new(buffer: wgpu::Buffer, part: Range<u64>, held: impl Any + Send + Sync) -> SharedBuffer {
        SharedBuffer {
            buffer,
            part,
            _held: Box::new(held),
        }
    }
}

impl Gpu {
    /// Device and queue for drawing on this GPU, if wgpu reaches it. With CUDA, a Vulkan device on the same card.
    pub fn graphics(&self) -> Option<&WgpuSetup> {
        let runtime = &self.runtime;
        match runtime.description.api {
            Api::Wgpu => runtime.setup.as_ref(),
            Api::Cuda => runtime.interop().map(|interop| &interop.setup),
        }
    }
}

impl Copies {
    /// Shares the memory of these tickets for drawing, and downloads the copies `others`, which include all launches so far. `None` if no graphics
    /// device can access the memory.
    ///
    /// # Errors
    /// If a kernel that computes it failed, there is no memory, or the device is lost.
    pub fn share<T>(&self, tickets: &[&Ticket<T>], others: Copies) -> Result<Option<(Vec<SharedBuffer>, Arrived)>, GpuError> {
        let runtime = &self.gpu.runtime;
        let handles = tickets
            .iter()
            .filter_map(|ticket| ticket.index.map(|index| self.handles[index].clone()));
        let handles: Vec<Handle> = handles.collect();
        match runtime.description.api {
            Api::Wgpu if runtime.setup.is_none() => Ok(None),
            Api::Wgpu => {
                let shared = self.share_all(&handles)?;
                // These copies submit all earlier launches as well.
                Ok(Some((shared, others.carry_off().wait()?)))
            }
            Api::Cuda => {
                let Some(interop) = runtime.interop() else { return Ok(None) };
                // When these copies have arrived, all earlier launches have finished.
                let arrived = others.carry_off().wait()?;
                let shared = caught(|| interop.share(&runtime.client, &handles)).and_then(|shared| shared);
                Ok(Some((shared.map_err(|cause| runtime.lost(cause))?, arrived)))
            }
        }
    }

    /// Memory of these buffers as wgpu buffers, once all launches are submitted.
    pub(super) fn share_all(&self, handles: &[Handle]) -> Result<Vec<SharedBuffer>, GpuError> {
        let runtime = &self.gpu.runtime;
        let share = |handle: &Handle| {
            let held = runtime.client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone())?;
            let resource = held.resource();
            let part = resource.offset..resource.offset + resource.size;
            Ok::<_, ServerError>(SharedBuffer::new(resource.buffer.clone(), part, held))
        };
        runtime.guard(|| handles.iter().map(share).collect())
    }
}
