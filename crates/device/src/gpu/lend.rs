//! Memory that pictures are drawn from where it lies, by who draws through the same API on the same device.

use super::buffer::{Copies, Ticket};
use super::{Gpu, GpuError};
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
    /// What CubeCL keeps it by.
    _held: Box<dyn Any + Send + Sync>,
}

impl Gpu {
    /// The device with its queue, for who draws on it, where wgpu reaches it.
    pub fn graphics(&self) -> Option<&WgpuSetup> {
        self.runtime.setup.as_ref()
    }
}

impl Copies {
    /// Lends what would be copied for these tickets; `None` where no wgpu reaches the GPU.
    ///
    /// # Errors
    /// If what was to compute it failed, or the device is lost.
    pub fn lend<T>(&self, tickets: &[&Ticket<T>]) -> Result<Option<Vec<Lent>>, GpuError> {
        let runtime = &self.gpu.runtime;
        if runtime.setup.is_none() {
            return Ok(None);
        }
        let handles = tickets.iter().filter_map(|ticket| ticket.index.map(|index| &self.handles[index]));
        let lend = |handle: &Handle| {
            let held = runtime.client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone())?;
            let resource = held.resource();
            Ok::<_, ServerError>(Lent {
                buffer: resource.buffer.clone(),
                part: resource.offset..resource.offset + resource.size,
                _held: Box::new(held),
            })
        };
        runtime.guard(|| {
            let lent = handles.map(lend).collect::<Result<_, _>>()?;
            runtime.client.flush()?;
            Ok(Some(lent))
        })
    }
}
