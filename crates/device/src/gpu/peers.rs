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

    /// Begins to sum the first words of buffers of several GPUs (all-reduce). `all` includes this GPU; each GPU gets the sums in its buffer `sums`, which
    /// may be `words` itself. The sum runs after all launches here so far, beside later ones. Neither buffer may be used until [`Gpu::await_sums`]. The
    /// host does not wait.
    ///
    /// All of these GPUs must call it with the same `len`, in one common order with all copies between them: see [`Gpu::copy_to`].
    ///
    /// # Errors
    /// If a device is lost, or can reach the others only through the host.
    ///
    /// # Panics
    /// If `len` is zero or exceeds a buffer.
    pub fn start_sum(&self, words: &Buffer<u32>, sums: &Buffer<u32>, len: usize, all: &[Gpu]) -> Result<(), GpuError> {
        let (from, to) = (words.part(len), sums.part(len));
        let devices = all.iter().map(|gpu| gpu.client().service_id().device).collect();
        self.runtime.guard(|| {
            let mut client = self.client().clone();
            let word = ElemType::UInt(UIntKind::U32);
            client.all_reduce(from, to, word, devices, ReduceOperation::Sum);
            Ok(())
        })
    }

    /// Makes later launches wait for all sums that [`Gpu::start_sum`] began here. The host does not wait.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn await_sums(&self) -> Result<(), GpuError> {
        self.runtime.guard(|| {
            self.client().sync_collective();
            Ok(())
        })
    }
}
