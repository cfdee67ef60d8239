//! Communication between GPUs.

use super::{Buffer, Gpu, GpuError};
use bytemuck::Pod;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::server::ReduceOperation;
use std::sync::Arc;

impl Gpu {
    /// Whether both are the same GPU.
    pub fn is_same(&self, other: &Gpu) -> bool {
        Arc::ptr_eq(&self.runtime, &other.runtime)
    }

    /// Whether items can be copied to another GPU without the host: both use CUDA, and NCCL was found.
    pub fn reaches(&self, other: &Gpu) -> bool {
        let [api, other_api] = [self, other].map(|gpu| gpu.description().api);
        self.is_same(other) || api == other_api && self.client().has_device_transport()
    }

    /// Copies the first items of a buffer to another GPU, after all launches here so far and before later ones there. The host does not wait.
    ///
    /// Copies between two GPUs finish in the order in which they were requested. If several threads request copies between several GPUs, all must
    /// agree on one order for each GPU: otherwise they deadlock. The source must not change until a later copy from that GPU has arrived.
    ///
    /// # Errors
    /// If there is no memory, or a device is lost.
    ///
    /// # Panics
    /// If `len` is zero or exceeds the buffer.
    pub fn copy_to<T: Pod>(&self, from: &Buffer<T>, len: usize, to: &Gpu) -> Result<Buffer<T>, GpuError> {
        if self.is_same(to) {
            let copied = self.scratch(len)?;
            self.copy(from, len, &copied);
            return Ok(copied);
        }
        let handle = from.part(len);
        let arrived = self.runtime.guard(|| {
            let mut client = self.client().clone();
            Ok(client.to_client(handle, to.client(), ElemType::UInt(UIntKind::U32)))
        })?;
        Ok(to.adopt(arrived, len))
    }

    /// Sums the words of several GPUs (all-reduce). `all` includes this GPU; each GPU gets the sums in place of its words. The sum runs after all
    /// launches so far and before later ones, on every GPU. The host does not wait.
    ///
    /// All GPUs must call it, in one common order with all copies between them: see [`Gpu::copy_to`].
    ///
    /// # Errors
    /// If a device is lost, or can reach the others only through the host.
    pub fn add_up(&self, words: &Buffer<u32>, all: &[Gpu]) -> Result<(), GpuError> {
        let handle = words.part(words.len());
        let devices = all.iter().map(|gpu| gpu.client().service_id().device).collect();
        self.runtime.guard(|| {
            let mut client = self.client().clone();
            let word = ElemType::UInt(UIntKind::U32);
            client.all_reduce(handle.clone(), handle, word, devices, ReduceOperation::Sum);
            client.sync_collective();
            Ok(())
        })
    }
}
