//! GPUs reached through wgpu: Vulkan, Metal or DirectX 12.

use super::runtime::{ApiError, Runtime, configure};
use super::{Api, Description};
use cubecl::device::Device;
use cubecl::future::block_on;
use cubecl::wgpu::wgpu::{Adapter, Backend, Backends, DeviceDescriptor, DeviceType, Features, Instance, InstanceDescriptor, MemoryHints};
use cubecl::wgpu::{RuntimeOptions, WgpuSetup, try_init_device};
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};

/// The APIs in order of preference. Several APIs may reach the same GPU.
const BACKENDS: [Backends; 3] = [Backends::METAL, Backends::VULKAN, Backends::DX12];

/// Kinds of adapters in order of capability.
const KINDS: [DeviceType; 5] = [
    DeviceType::DiscreteGpu,
    DeviceType::IntegratedGpu,
    DeviceType::VirtualGpu,
    DeviceType::Other,
    DeviceType::Cpu,
];

/// All GPUs of the first API with a hardware GPU; software only if no API has one.
pub fn list() -> Result<Vec<Description>, String> {
    let adapters = &adapters().1;
    if adapters.is_empty() {
        return Err("no driver offers an adapter".into());
    }
    Ok((0..).zip(adapters).map(|(index, adapter)| describe(index, adapter)).collect())
}

/// Starts the GPU of this description.
pub fn open(description: Description) -> Result<Runtime, String> {
    configure();
    let (instance, adapters) = adapters();
    let adapter = &adapters[description.index];
    // Leave out experimental features of wgpu: with ray tracing, drivers start components that are not needed here.
    let features = adapter.features() - Features::all_experimental_mask() - Features::MAPPABLE_PRIMARY_BUFFERS;
    let (device, queue) = block_on(adapter.request_device(&DeviceDescriptor {
        required_features: features,
        required_limits: adapter.limits(),
        memory_hints: MemoryHints::MemoryUsage,
        ..DeviceDescriptor::default()
    }))
    .map_err(|error| error.to_string())?;
    let setup = WgpuSetup {
        instance: instance.clone(),
        adapter: adapter.clone(),
        device: device.clone(),
        queue,
        backend: adapter.get_info().backend,
    };
    let options = RuntimeOptions::try_default().map_err(|error| error.to_string())?;
    let client = Device::Wgpu(try_init_device(setup.clone(), options).map_err(|error| error.to_string())?).client();
    let complaint = Arc::new(ApiError::default());
    let notes = complaint.clone();
    // By default CubeCL panics on its thread when an error occurs outside of a call, and the user sees no cause. Unwinding without a message has the
    // same effect there: pending writes count as failed. The message goes into our error.
    device.on_uncaptured_error(Arc::new(move |error| {
        notes.note(error.to_string());
        resume_unwind(Box::new(error.to_string()))
    }));
    Ok(Runtime {
        largest: Some(client.properties().memory.max_page_size),
        description,
        client,
        complaint,
        setup: Some(setup),
        interop: Default::default(),
        lose: Some(Box::new(move || device.destroy())),
        queued: Default::default(),
        groups: Default::default(),
        is_full: Default::default(),
    })
}

/// All adapters, enumerated once: Vulkan loaders crash when several threads create and drop instances.
pub fn adapters() -> &'static (Instance, Vec<Adapter>) {
    static ADAPTERS: OnceLock<(Instance, Vec<Adapter>)> = OnceLock::new();
    ADAPTERS.get_or_init(|| {
        let instance = Instance::new(InstanceDescriptor {
            backends: Backends::METAL | Backends::VULKAN | Backends::DX12,
            ..InstanceDescriptor::new_without_display_handle()
        });
        let is_hardware = |adapter: &Adapter| adapter.get_info().device_type != DeviceType::Cpu;
        let answers = BACKENDS.map(|backend| block_on(instance.enumerate_adapters(backend)));
        let with_hardware = answers.iter().find(|adapters| adapters.iter().any(is_hardware));
        let any = || answers.iter().find(|adapters| !adapters.is_empty());
        let mut adapters = with_hardware.or_else(any).cloned().unwrap_or_default();
        adapters.sort_by_key(|adapter| KINDS.iter().position(|kind| *kind == adapter.get_info().device_type));
        (instance, adapters)
    })
}

fn describe(index: usize, adapter: &Adapter) -> Description {
    let info = adapter.get_info();
    let backend = match info.backend {
        Backend::Vulkan => "Vulkan",
        Backend::Metal => "Metal",
        _ => "DirectX 12",
    };
    Description {
        api: Api::Wgpu,
        index,
        name: format!("{} ({backend})", info.name),
        is_software: info.device_type == DeviceType::Cpu,
        has_f64: adapter.features().contains(Features::SHADER_F64),
        memory: None,
    }
}
