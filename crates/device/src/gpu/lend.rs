//! Memory that pictures are drawn from where it lies, or, of CUDA, from a copy of it that never leaves the card.

use super::buffer::{Copies, Ticket};
use super::runtime::caught;
use super::{Api, Gpu, GpuError};
use cubecl::server::{Handle, ServerError};
use cubecl::wgpu::{AutoCompiler, WgpuServer, WgpuSetup, wgpu};
use std::any::Any;
use std::ops::Range;

/// The memory of some items as wgpu has it. It is nobody else's while this is held, and holds what the launches before made of it for all that is
/// submitted to the queue from now on.
pub struct Lent {
    /// Where it lies.
    pub buffer: wgpu::Buffer,
    /// Which bytes of that it is.
    pub part: Range<u64>,
    /// What keeps it from being given to others.
    _held: Box<dyn Any + Send + Sync>,
}

impl Lent {
    /// Bytes of a buffer that belong to nobody else while `held` is there.
    pub(super) fn new(buffer: wgpu::Buffer, part: Range<u64>, held: impl Any + Send + Sync) -> Lent {
        Lent {
            buffer,
            part,
            _held: Box::new(held),
        }
    }
}

impl Gpu {
    /// The device with its queue, for who draws on it, where wgpu reaches it; of CUDA, one on the same card.
    pub fn graphics(&self) -> Option<&WgpuSetup> {
        let runtime = &self.runtime;
        match runtime.description.api {
            Api::Wgpu => runtime.setup.as_ref(),
            Api::Cuda => runtime.interop().map(|interop| &interop.setup),
        }
    }
}

impl Copies {
    /// Lends what would be copied for these tickets; `None` where it cannot be drawn from. With CUDA, whoever asks has waited for something that was launched
    /// after what was to compute it.
    ///
    /// # Errors
    /// If what was to compute it failed, there is no memory, or the device is lost.
    pub fn lend<T>(&self, tickets: &[&Ticket<T>]) -> Result<Option<Vec<Lent>>, GpuError> {
        let runtime = &self.gpu.runtime;
        let handles = tickets.iter().filter_map(|ticket| ticket.index.map(|index| &self.handles[index]));
        match runtime.description.api {
            Api::Wgpu if runtime.setup.is_none() => Ok(None),
            Api::Wgpu => runtime.guard(|| {
                let lent = handles.map(|handle| self.lend_one(handle)).collect::<Result<_, _>>()?;
                runtime.client.flush()?;
                Ok(Some(lent))
            }),
            Api::Cuda => {
                let Some(interop) = runtime.interop() else { return Ok(None) };
                let handles: Vec<Handle> = handles.cloned().collect();
                let lent = caught(|| interop.lend(&runtime.client, &handles)).and_then(|lent| lent);
                lent.map(Some).map_err(|cause| GpuError::Lost { cause })
            }
        }
    }

    /// The memory of one buffer, once all launches are handed on.
    pub(super) fn lend_one(&self, handle: &Handle) -> Result<Lent, ServerError> {
        let client = &self.gpu.runtime.client;
        let held = client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone())?;
        let resource = held.resource();
        let part = resource.offset..resource.offset + resource.size;
        Ok(Lent::new(resource.buffer.clone(), part, held))
    }
}
