//! Memory that pictures are drawn from where it lies, or, of CUDA, from a copy of it that never leaves the card.

use super::buffer::{Arrived, Copies, Ticket};
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
    /// Lends what would be copied for these tickets, and makes other copies of what was launched no earlier; `None` where nobody can draw from it.
    ///
    /// # Errors
    /// If what was to compute it failed, there is no memory, or the device is lost.
    pub fn lend<T>(&self, tickets: &[&Ticket<T>], others: Copies) -> Result<Option<(Vec<Lent>, Arrived)>, GpuError> {
        let runtime = &self.gpu.runtime;
        let handles = tickets
            .iter()
            .filter_map(|ticket| ticket.index.map(|index| self.handles[index].clone()));
        let handles: Vec<Handle> = handles.collect();
        match runtime.description.api {
            Api::Wgpu if runtime.setup.is_none() => Ok(None),
            Api::Wgpu => {
                let lent = self.lend_all(&handles)?;
                // All that was launched before is handed on with these.
                Ok(Some((lent, others.carry_off().wait()?)))
            }
            Api::Cuda => {
                let Some(interop) = runtime.interop() else { return Ok(None) };
                // Once these are here, what was launched before is there.
                let arrived = others.carry_off().wait()?;
                let lent = caught(|| interop.lend(&runtime.client, &handles)).and_then(|lent| lent);
                Ok(Some((lent.map_err(|cause| runtime.lost(cause))?, arrived)))
            }
        }
    }

    /// The memory of these buffers as wgpu has it, once all launches are handed on.
    pub(super) fn lend_all(&self, handles: &[Handle]) -> Result<Vec<Lent>, GpuError> {
        let runtime = &self.gpu.runtime;
        let lend = |handle: &Handle| {
            let held = runtime.client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone())?;
            let resource = held.resource();
            let part = resource.offset..resource.offset + resource.size;
            Ok::<_, ServerError>(Lent::new(resource.buffer.clone(), part, held))
        };
        runtime.guard(|| handles.iter().map(lend).collect())
    }
}
