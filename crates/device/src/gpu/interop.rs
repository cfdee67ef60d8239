//! A device that draws on the card where CUDA computes, and memory that both reach.
//!
//! Such memory goes one way: Vulkan allocates it and gives it away, and CUDA takes it for its own (`VK_KHR_external_memory_fd` and
//! `cuImportExternalMemory`).

#![allow(unsafe_code, reason = "memory of Vulkan is made for CUDA by hand")]

use super::lend::Lent;
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

/// How Linux names memory that goes from one API to another.
const OPAQUE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
/// Memory that is kept although nobody draws from it, in pieces.
const MOST_FREE: usize = 8;
/// Memory that is this many times as large as what is asked for is left to others.
const MUCH_LARGER: u64 = 4;

/// A device of Vulkan on a card of CUDA.
pub struct Interop {
    /// Through which pictures are drawn there.
    pub setup: WgpuSetup,
    context: Arc<CudaContext>,
    /// Of copies into memory of Vulkan.
    stream: Arc<CudaStream>,
    free: Arc<Mutex<Vec<Shelf>>>,
}

/// Memory that both reach. What CUDA has of it goes first.
struct Shelf {
    mapped: Mapped,
    buffer: wgpu::Buffer,
}

struct Mapped(MappedBuffer);

// SAFETY: handles of CUDA's driver may be used by any thread, and cudarc makes their context current before it uses one.
unsafe impl Send for Mapped {}
// SAFETY: as above; all that it lends without being owned is its address.
unsafe impl Sync for Mapped {}

/// A shelf that somebody draws from, and which is free for others afterwards.
struct Taken {
    /// Always there until this is dropped.
    shelf: Option<Shelf>,
    free: Arc<Mutex<Vec<Shelf>>>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(self.shelf.take());
        if free.len() > MOST_FREE {
            drop(free.remove(0));
        }
    }
}

impl Interop {
    /// Starts Vulkan on the card of this description; `None` where Vulkan does not reach it, or gives no memory away.
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

    /// Copies memory of this client, which whoever wrote it has left, to where it can be drawn from.
    ///
    /// # Errors
    /// If there is no memory, or one of both devices fails.
    pub fn lend(&self, client: &Client, handles: &[Handle]) -> Result<Vec<Lent>, String> {
        self.context.bind_to_thread().map_err(|error| error.to_string())?;
        let mut lent = Vec::with_capacity(handles.len());
        for handle in handles {
            // Keeps the memory from being given to others until it is copied.
            let held = client.get_resource::<<CudaRuntime as Runtime>::Server>(handle.clone());
            let held = held.map_err(|error| error.to_string())?;
            let (from, bytes) = (held.resource().ptr, held.resource().size);
            let shelf = self.take(bytes)?;
            // Whoever drew from it before it was free has submitted that, and is waited for.
            let drawn = self.setup.device.poll(wgpu::PollType::wait_indefinitely());
            drawn.map_err(|error| error.to_string())?;
            let (to, copying) = shelf.mapped.0.device_ptr(&self.stream);
            // SAFETY: CubeCL holds what is read, in the context of the same card; what is written has room for it, and as it was taken from those that
            // are free, nobody else knows it.
            let copied = unsafe { result::memcpy_dtod_async(to, from, bytes as usize, self.stream.cu_stream()) };
            drop(copying);
            copied.and_then(|()| self.stream.synchronize()).map_err(|error| error.to_string())?;
            let buffer = shelf.buffer.clone();
            let taken = Taken {
                shelf: Some(shelf),
                free: self.free.clone(),
            };
            lent.push(Lent::new(buffer, 0..bytes, taken));
        }
        Ok(lent)
    }

    /// Memory for so many bytes.
    fn take(&self, bytes: u64) -> Result<Shelf, String> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |shelf: &Shelf| (bytes..=MUCH_LARGER * bytes).contains(&shelf.buffer.size());
        match free.iter().position(fits) {
            Some(known) => Ok(free.remove(known)),
            None => {
                drop(free);
                self.shelf(bytes)
            }
        }
    }

    /// New memory for so many bytes.
    fn shelf(&self, bytes: u64) -> Result<Shelf, String> {
        let (buffer, file, size) = self.export(bytes)?;
        // SAFETY: so many bytes were allocated.
        let imported = unsafe { self.context.import_external_memory(file, size) };
        let mapped = imported.and_then(|memory| memory.map_all()).map_err(|error| error.to_string())?;
        Ok(Shelf {
            mapped: Mapped(mapped),
            buffer,
        })
    }

    /// A buffer with memory of its own, what CUDA takes that by, and its bytes.
    fn export(&self, bytes: u64) -> Result<(wgpu::Buffer, File, u64), String> {
        let words = |error: vk::Result| error.to_string();
        let device = &self.setup.device;
        // SAFETY: nothing of the device is destroyed here but what is made here.
        let hal = unsafe { device.as_hal::<Vulkan>() }.ok_or("the device that draws is not one of Vulkan")?;
        let (raw, instance) = (hal.raw_device(), hal.shared_instance().raw_instance());
        let mut for_others = vk::ExternalMemoryBufferCreateInfo::default().handle_types(OPAQUE);
        let description = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC)
            .push_next(&mut for_others);
        // SAFETY: the description is that of a buffer which this device can have, with the extension that it was started with.
        let buffer = unsafe { raw.create_buffer(&description, None) }.map_err(words)?;
        // SAFETY: the buffer was made just now, and the physical device is that of the device.
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
        // SAFETY: so much memory of a kind that the buffer takes; where there is none, the buffer, which nobody else knows, goes again.
        let memory = unsafe {
            raw.allocate_memory(&asked, None).map_err(|error| {
                raw.destroy_buffer(buffer, None);
                error.to_string()
            })?
        };
        // SAFETY: both were made just now, one for the other.
        let bound = unsafe { raw.bind_buffer_memory(buffer, memory, 0) };
        // SAFETY: both are wgpu's from here on, which frees them when nobody uses them any more; the description is that of the buffer. What is in it is
        // copied there before anybody draws from it.
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
        // SAFETY: the memory was allocated for that, and whoever asks owns the descriptor.
        let file = unsafe {
            let descriptor = external_memory_fd::Device::new(instance, raw).get_memory_fd(&handle);
            File::from_raw_fd(descriptor.map_err(words)?)
        };
        Ok((buffer, file, needs.size))
    }
}

/// Where a card is on its bus, as Vulkan tells it, too.
fn place_of(context: &CudaContext) -> Result<String, String> {
    let mut place = [0; 32];
    // SAFETY: no more is written than there is room for.
    let told = unsafe { sys::cuDeviceGetPCIBusId(place.as_mut_ptr(), place.len() as c_int, context.cu_device()) };
    told.result().map_err(|error| error.to_string())?;
    let bytes = place.map(|letter| letter as u8);
    let text = CStr::from_bytes_until_nul(&bytes).map_err(|error| error.to_string())?;
    Ok(text.to_string_lossy().into_owned())
}
