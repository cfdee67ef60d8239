//! Communication between GPUs.

use super::recording::outside_recordings;
use super::runtime::{caught, root};
use super::{Buffer, Gpu, GpuError};
use bytemuck::Pod;
use cubecl::future::block_on;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::server::{CommunicationId, ReduceOperation, ServerError};
use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};

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
    /// host does not wait, but for the first sum of these GPUs, which all must begin.
    ///
    /// All of these GPUs must call it with the same `len`, in one common order with all copies between them: see [`Gpu::copy_to`].
    ///
    /// # Errors
    /// If a device is lost, or can reach the others only through the host; also if the others do not call it within the limit of waits, the first time.
    ///
    /// # Panics
    /// If `len` is zero or exceeds a buffer.
    pub fn start_sum(&self, words: &Buffer<u32>, sums: &Buffer<u32>, len: usize, all: &[Gpu]) -> Result<(), GpuError> {
        let (from, to) = (words.part(len), sums.part(len));
        let devices: Vec<_> = all.iter().map(|gpu| gpu.client().service_id().device).collect();
        let group = CommunicationId::from(devices.clone());
        if !self.groups().contains(&group) {
            let (mut client, members) = (self.client().clone(), devices.clone());
            self.await_set_up(move || {
                client.ensure_init_collective(members);
                block_on(client.sync())
            })?;
            self.groups().insert(group);
        }
        self.runtime.guard(|| {
            let mut client = self.client().clone();
            let word = ElemType::UInt(UIntKind::U32);
            client.all_reduce(from, to, word, devices, ReduceOperation::Sum);
            Ok(())
        })
    }

    /// Groups of GPUs with this one that are set up for sums.
    fn groups(&self) -> MutexGuard<'_, HashSet<CommunicationId>> {
        self.runtime.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a set-up in which NCCL waits for other GPUs, within the limit of waits. If the host of one of these has failed, the thread that submits
    /// launches of this GPU waits in vain, and each call of CubeCL would wait for that thread. So another thread waits, as in [`Gpu::wait`].
    fn await_set_up(&self, set_up: impl FnOnce() -> Result<(), ServerError> + Send + 'static) -> Result<(), GpuError> {
        let _calls = outside_recordings();
        let wait = || caught(set_up).and_then(|answer| answer.map_err(|error| root(&error.to_string())));
        let answer = self.account.patience.bounded(wait).and_then(|answer| answer);
        answer.map_err(|cause| self.runtime.lost(cause))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_set_up_that_waits_in_vain_ends_in_an_error() {
        let gpu = Gpu::open(None).unwrap();
        gpu.await_set_up(|| Ok(())).unwrap();
        gpu.limit_waits(Some(Duration::from_millis(100)));
        let (never, waits) = channel::<()>();
        let lost = gpu.await_set_up(move || {
            // The other host never answers.
            let _ = waits.recv();
            Ok(())
        });
        assert!(
            matches!(&lost, Err(GpuError::Lost { cause }) if cause.contains("did not answer")),
            "{lost:?}"
        );
        gpu.limit_waits(None);
        gpu.await_set_up(|| Ok(())).unwrap();
        drop(never);
    }
}
