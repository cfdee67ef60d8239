//! From one GPU to another, and among several.

use super::{Buffer, Gpu, GpuError};
use bytemuck::Pod;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::server::ReduceOperation;
use std::sync::Arc;

impl Gpu {
    /// Whether this and another are one GPU.
    pub fn is_same(&self, other: &Gpu) -> bool {
        Arc::ptr_eq(&self.runtime, &other.runtime)
    }

    /// Whether items go to another GPU without the host: both are reached through CUDA, and NCCL was found.
    pub fn reaches(&self, other: &Gpu) -> bool {
        let [api, other_api] = [self, other].map(|gpu| gpu.description().api);
        self.is_same(other) || api == other_api && self.client().has_device_transport()
    }

    /// Copies the first items of a buffer into memory of another GPU, after the launches here so far and before later ones there. The host does not wait.
    ///
    /// Between two GPUs, copies come to an end in the order in which they were asked for. So if several threads ask for copies between several GPUs, each
    /// GPU must meet them in one order that all agree on: else one waits for another for ever. What is copied must stay as it is until a later copy has
    /// come from there.
    ///
    /// # Errors
    /// If there is no memory, or a device is lost.
    ///
    /// # Panics
    /// If the buffer has fewer items, or none are asked for.
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

    /// Adds up the words of this GPU with as many that others give: each of `all`, with this one among them, gets the sums in place of its words. Launches
    /// so far come before that, here and there, and later ones after it. The host does not wait.
    ///
    /// All have to ask for it, in one order with all copies between them: see [`Gpu::copy_to`].
    ///
    /// # Errors
    /// If a device is lost, or has no way to others but the host.
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
