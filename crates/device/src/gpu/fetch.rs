//! Downloads that the waiting thread performs. CubeCL's own downloads would block the thread that launches steps.

use super::GpuError;
use super::buffer::Copies;
use super::patience::{Patience, too_long};
use super::runtime::{Runtime, caught};
use cubecl::bytes::Bytes;
use cubecl::wgpu::WgpuSetup;
use cubecl::wgpu::wgpu;
use std::sync::mpsc::{Receiver, channel};

/// Pending copies of wgpu memory.
pub struct Fetch {
    device: wgpu::Device,
    buffer: wgpu::Buffer,
    submitted: wgpu::SubmissionIndex,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
    /// Bytes of each copy.
    sizes: Vec<u64>,
}

impl Copies {
    /// Submits all copies.
    pub(super) fn fetch(&self, setup: &WgpuSetup) -> Result<Fetch, GpuError> {
        let runtime = &self.gpu.runtime;
        let shared = self.share_all(&self.handles)?;
        runtime.guard(|| runtime.client.flush())?;
        let sizes: Vec<u64> = self.handles.iter().map(|handle| handle.size_in_used()).collect();
        runtime.guard(|| {
            let buffer = setup.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: sizes.iter().sum(),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            let mut encoder = setup.device.create_command_encoder(&Default::default());
            let mut start = 0;
            for (shared, &size) in shared.iter().zip(&sizes) {
                encoder.copy_buffer_to_buffer(&shared.buffer, shared.part.start, &buffer, start, size);
                start += size;
            }
            let submitted = setup.queue.submit([encoder.finish()]);
            let (reported, mapped) = channel();
            // The receiver may be gone; then the result is not needed.
            buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(reported.send(result)));
            Ok(Fetch {
                device: setup.device.clone(),
                buffer,
                submitted,
                mapped,
                sizes,
            })
        })
    }
}

impl Fetch {
    /// Waits for the copies.
    pub fn wait(self, runtime: &Runtime, patience: &Patience) -> Result<Vec<Bytes>, GpuError> {
        let timeout = patience.longest();
        let arrive = || -> Result<Vec<Bytes>, String> {
            let polled = self.device.poll(wgpu::PollType::Wait {
                submission_index: Some(self.submitted),
                timeout,
            });
            polled.map_err(|error| match (error, timeout) {
                (wgpu::PollError::Timeout, Some(waited)) => too_long(waited),
                (error, _) => error.to_string(),
            })?;
            let mapped = self.mapped.recv().map_err(|error| error.to_string())?;
            mapped.map_err(|error| error.to_string())?;
            let bytes = self.buffer.get_mapped_range(..).map_err(|error| error.to_string())?;
            let mut start = 0;
            let part = |&size: &u64| {
                let from = start as usize;
                start += size;
                Bytes::from_bytes_vec(bytes[from..start as usize].to_vec())
            };
            Ok(self.sizes.iter().map(part).collect())
        };
        let arrived = caught(arrive).and_then(|arrived| arrived);
        arrived.map_err(|cause| runtime.lost(cause))
    }
}
