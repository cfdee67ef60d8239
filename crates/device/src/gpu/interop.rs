//! A Vulkan device on the card where CUDA computes, and memory that both can access.
//!
//! Memory can be shared in one direction only: Vulkan allocates and exports it, and CUDA imports it (`VK_KHR_external_memory_fd` and
//! `cuImportExternalMemory`).

#![allow(unsafe_code, reason = "memory of Vulkan is made for CUDA by hand")]

use super::shared_buffer::SharedBuffer;
use super::{Description, adapter};
use ash::khr::external_memory_fd;
use ash::vk;
use cubecl::client::Client;
use cubecl::cuda::CudaRuntime;
use cubecl::future::block_on;
use cubecl::server::Handle;
use cubecl::wgpu::WgpuSetup;
use cubecl::wgpu::wgpu::hal::vulkan::Buffer as VulkanBuffer;
use cubecl::wgpu::wgpu::hal::{Device, api::Vulkan};
use cubecl::wgpu::wgpu::{self, DeviceDescriptor, Features};
use cubecl_runtime::runtime::Runtime;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, MappedBuffer, result, sys};
use std::ffi::{CStr, c_int};
use std::fs::File;
use std::os::fd::FromRawFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Handle type for memory shared between APIs on Linux.
const OPAQUE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
/// Most unused allocations that are kept for reuse.
const MAX_FREE: usize = 8;
/// An allocation is not reused for a request smaller than its size divided by this factor.
const MUCH_LARGER: u64 = 4;

/// A Vulkan device on a CUDA card.
pub struct Interop {
    /// Device and queue for drawing.
    pub setup: WgpuSetup,
    context: Arc<CudaContext>,
    /// CUDA stream for copies into Vulkan memory.
    stream: Arc<CudaStream>,
    free: Arc<Mutex<Vec<SharedAllocation>>>,
}

/// Memory that both APIs can access. The CUDA mapping is dropped first.
struct SharedAllocation {
    mapped: Mapped,
    buffer: wgpu::Buffer,
}

struct Mapped(MappedBuffer);

// SAFETY: handles of CUDA's driver may be used by any thread, and cudarc makes their context current before it uses one.
unsafe impl Send for Mapped {}
// SAFETY: as above; a shared reference gives access to the address only.
unsafe impl Sync for Mapped {}

/// An allocation in use for drawing. A drop makes it free for reuse.
struct SharedAllocationGuard {
    /// `Some` until the drop.
    allocation: Option<SharedAllocation>,
    free: Arc<Mutex<Vec<SharedAllocation>>>,
}

impl Drop for SharedAllocationGuard {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(self.allocation.take());
        if free.len() > MAX_FREE {
            drop(free.remove(0));
        }
    }
}

impl Interop {
    /// Starts Vulkan on the card of this description. `None` if Vulkan does not reach it or cannot export memory.
    pub fn open(description: &Description) -> Result<Option<Interop>, String> {
        let context = CudaContext::new(description.index).map_err(|error| error.to_string())?;
        let place = place_of(&context)?;
        let (instance, adapters) = adapter::adapters();
        let is_there = |adapter: &&wgpu::Adapter| {
            adapter.get_info().device_pci_bus_id.eq_ignore_ascii_case(&place)
                && adapter.features().contains(Features::VULKAN_EXTERNAL_MEMORY_FD)
        };
        let Some(adapter) = adapters.iter().find(is_there) else {
            return Ok(None);
        };
        let (device, queue) = block_on(adapter.request_device(&DeviceDescriptor {
            required_features: Features::VULKAN_EXTERNAL_MEMORY_FD,
            required_limits: adapter.limits(),
            ..DeviceDescriptor::default()
        }))
        .map_err(|error| error.to_string())?;
        let stream = context.new_stream().map_err(|error| error.to_string())?;
        Ok(Some(Interop {
            setup: WgpuSetup {
                instance: instance.clone(),
                adapter: adapter.clone(),
                device,
                queue,
                backend: adapter.get_info().backend,
            },
            context,
            stream,
            free: Arc::default(),
        }))
    }

    /// Copies memory of this client to memory that can be drawn from. No launch may still write the source.
    ///
    /// # Errors
    /// If there is no memory, or one of the devices fails.
    pub fn share(&self, client: &Client, handles: &[Handle]) -> Result<Vec<SharedBuffer>, String> {
        self.context.bind_to_thread().map_err(|error| error.to_string())?;
        let mut shared = Vec::with_capacity(handles.len());
        for handle in handles {
            // Keeps the source memory from being reused before the copy.
            let held = client.get_resource::<<CudaRuntime as Runtime>::Server>(handle.clone());
            let held = held.map_err(|error| error.to_string())?;
            let (from, bytes) = (held.resource().ptr, held.resource().size);
            let allocation = self.take(bytes)?;
            // Earlier draws from this allocation were submitted before it became free; wait for them.
            let drawn = self.setup.device.poll(wgpu::PollType::wait_indefinitely());
            drawn.map_err(|error| error.to_string())?;
            let (to, copying) = allocation.mapped.0.device_ptr(&self.stream);
            // SAFETY: CubeCL holds the source, in the context of the same card. The destination is large enough, and nothing else uses it, since it
            // was taken from the free list.
            let copied = unsafe { result::memcpy_dtod_async(to, from, bytes as usize, self.stream.cu_stream()) };
            drop(copying);
            copied.and_then(|()| self.stream.synchronize()).map_err(|error| error.to_string())?;
            let buffer = allocation.buffer.clone();
            let taken = SharedAllocationGuard {
                allocation: Some(allocation),
                free: self.free.clone(),
            };
            shared.push(SharedBuffer::new(buffer, 0..bytes, taken));
        }
        Ok(shared)
    }

    /// Takes a free allocation of suitable size, or makes one.
    fn take(&self, bytes: u64) -> Result<SharedAllocation, String> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |allocation: &SharedAllocation| (bytes..=MUCH_LARGER * bytes).contains(&allocation.buffer.size());
        match free.iter().position(fits) {
            Some(known) => Ok(free.remove(known)),
            None => {
                drop(free);
                self.allocate_shared(bytes)
            }
        }
    }

    /// Makes a new allocation of this size.
    fn allocate_shared(&self, bytes: u64) -> Result<SharedAllocation, String> {
        let (buffer, file, size) = self.export(bytes)?;
        // SAFETY: this many bytes were allocated.
        let imported = unsafe { self.context.import_external_memory(file, size) };
        let mapped = imported.and_then(|memory| memory.map_all()).map_err(|error| error.to_string())?;
        Ok(SharedAllocation {
            mapped: Mapped(mapped),
            buffer,
        })
    }

    /// A buffer with dedicated memory, the file descriptor for CUDA, and its size \[bytes\].
    fn export(&self, bytes: u64) -> Result<(wgpu::Buffer, File, u64), String> {
        let words = |error: vk::Result| error.to_string();
        let device = &self.setup.device;
        // SAFETY: this function destroys only objects that it created.
        let hal = unsafe { device.as_hal::<Vulkan>() }.ok_or("the device that draws is not one of Vulkan")?;
        let (raw, instance) = (hal.raw_device(), hal.shared_instance().raw_instance());
        let mut for_others = vk::ExternalMemoryBufferCreateInfo::default().handle_types(OPAQUE);
        let description = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC)
            .push_next(&mut for_others);
        // SAFETY: the device supports this buffer, with the extension that it was started with.
        let buffer = unsafe { raw.create_buffer(&description, None) }.map_err(words)?;
        // SAFETY: the buffer was just created; the physical device belongs to the device.
        let (needs, kinds) = unsafe {
            (
                raw.get_buffer_memory_requirements(buffer),
                instance.get_physical_device_memory_properties(hal.raw_physical_device()),
            )
        };
        let is_fit = |kind: &u32| {
            let flags = kinds.memory_types[*kind as usize].property_flags;
            needs.memory_type_bits >> kind & 1 == 1 && flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
        };
        let kind = (0..kinds.memory_type_count).find(is_fit).unwrap_or_default();
        let mut given = vk::ExportMemoryAllocateInfo::default().handle_types(OPAQUE);
        let asked = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(kind)
            .push_next(&mut given);
        // SAFETY: the size and memory type suit the buffer. If the allocation fails, the buffer, which is used nowhere else, is destroyed.
        let memory = unsafe {
            raw.allocate_memory(&asked, None).map_err(|error| {
                raw.destroy_buffer(buffer, None);
                error.to_string()
            })?
        };
        // SAFETY: both were just created for each other.
        let bound = unsafe { raw.bind_buffer_memory(buffer, memory, 0) };
        // SAFETY: from here on wgpu owns both and frees them when they are unused. The description matches the buffer. The contents are copied there
        // before anything is drawn from it.
        let buffer = unsafe {
            let whole = VulkanBuffer::from_raw_managed(buffer, memory, 0, needs.size);
            if let Err(error) = bound {
                hal.destroy_buffer(whole);
                return Err(error.to_string());
            }
            device.create_buffer_from_hal::<Vulkan>(
                whole,
                &wgpu::BufferDescriptor {
                    label: None,
                    size: bytes,
                    usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                },
            )
        };
        let handle = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(OPAQUE);
        // SAFETY: the memory was allocated for export, and the caller owns the descriptor.
        let file = unsafe {
            let descriptor = external_memory_fd::Device::new(instance, raw).get_memory_fd(&handle);
            File::from_raw_fd(descriptor.map_err(words)?)
        };
        Ok((buffer, file, needs.size))
    }
}

/// PCI bus ID of a card, which Vulkan reports in the same format.
fn place_of(context: &CudaContext) -> Result<String, String> {
    let mut place = [0; 32];
    // SAFETY: the call writes at most `len` bytes.
    let reported = unsafe { sys::cuDeviceGetPCIBusId(place.as_mut_ptr(), place.len() as c_int, context.cu_device()) };
    reported.result().map_err(|error| error.to_string())?;
    let bytes = place.map(|message| message as u8);
    let text = CStr::from_bytes_until_nul(&bytes).map_err(|error| error.to_string())?;
    Ok(text.to_string_lossy().into_owned())
}
