//! GPUs through CUDA, whose libraries are loaded at run time.

use super::Description;
use super::runtime::Runtime;
use std::sync::{Arc, Mutex};

/// An address, and what keeps the memory there.
type KeptMemory = (u64, Arc<Mutex<dyn Send>>);

#[cfg(feature = "cuda")]
pub use present::{address, link, list, open, room, synchronize};

#[cfg(not(feature = "cuda"))]
pub use absent::{address, link, list, open, room, synchronize};

#[cfg(all(feature = "cuda", target_os = "linux"))]
pub use super::interop::Interop;

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
pub use apart::Interop;

#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "libraries of CUDA are loaded by name")]
mod present {
    use super::super::recording::outside_recordings;
    use super::super::runtime::configure;
    use super::super::{Api, Room};
    use super::{Description, KeptMemory, Runtime};
    use cubecl::client::Client;
    use cubecl::cuda::CudaRuntime;
    use cubecl::device::Device;
    use cubecl::server::{Handle, ServerError};
    use cudarc::driver::{CudaContext, DriverError, result, sys};
    use std::sync::{Arc, Mutex};

    /// What CubeCL calls the server of CUDA.
    type Server = <CudaRuntime as cubecl_runtime::runtime::Runtime>::Server;

    /// All GPUs that the driver lists.
    pub fn list() -> Result<Vec<Description>, String> {
        // SAFETY: loading NVIDIA's libraries runs only their own initialization.
        let (has_driver, has_compiler) = unsafe { (sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !has_driver {
            return Err("libcuda was not found; it comes with NVIDIA's driver".into());
        }
        if !has_compiler {
            return Err("libnvrtc was not found; it comes with the CUDA toolkit, and LD_LIBRARY_PATH may name its folder".into());
        }
        if cubecl::cuda::install::cuda_path().is_none() {
            return Err("the CUDA toolkit was not found; CUDA_PATH may name its folder".into());
        }
        let found = describe().map_err(|error| format!("the driver refuses: {error}"))?;
        if found.is_empty() {
            return Err("the driver offers no GPU".into());
        }
        Ok(found)
    }

    fn describe() -> Result<Vec<Description>, DriverError> {
        let count = CudaContext::device_count()?;
        let one = |index: i32| {
            let device = result::device::get(index)?;
            Ok(Description {
                api: Api::Cuda,
                index: index as usize,
                name: format!("{} (CUDA)", result::device::get_name(device)?),
                is_software: false,
                has_f64: true,
                // SAFETY: the driver has just returned this device.
                memory: Some(unsafe { result::device::total_mem(device)? } as u64),
            })
        };
        (0..count).map(one).collect()
    }

    /// Starts the GPU of this description.
    pub fn open(description: Description) -> Result<Runtime, String> {
        configure();
        let device = Device::cuda(description.index).map_err(|error| error.to_string())?;
        Ok(Runtime {
            client: device.client(),
            largest: None,
            description,
            complaint: Default::default(),
            setup: None,
            interop: Default::default(),
            lose: None,
            queued: Default::default(),
            groups: Default::default(),
            is_full: Default::default(),
        })
    }

    /// What the driver reports of the memory.
    pub fn room(description: &Description) -> Room {
        let _calls = outside_recordings();
        let reported = CudaContext::new(description.index).and_then(|context| context.mem_get_info());
        reported.map_or(Room::Unknown, |(free, total)| Room::Memory {
            free: free as u64,
            total: total as u64,
        })
    }

    /// Address of memory of this client, and what keeps it in place.
    pub fn address(client: &Client, memory: Handle) -> Result<Option<KeptMemory>, ServerError> {
        let resource = client.get_resource::<Server>(memory)?;
        let address = resource.resource().ptr;
        let kept: Arc<Mutex<dyn Send>> = Arc::new(Mutex::new(resource));
        Ok(Some((address, kept)))
    }

    /// Lets launches on a device access the memory of another one. Returns whether the driver links the two.
    pub fn link(from: usize, to: usize) -> Result<bool, String> {
        let _calls = outside_recordings();
        let words = |error: DriverError| error.to_string();
        let (here, there) = (CudaContext::new(from).map_err(words)?, CudaContext::new(to).map_err(words)?);
        let mut is_linked = 0;
        // SAFETY: the driver has returned both devices, and writes one number.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&mut is_linked, here.cu_device(), there.cu_device()) };
        asked.result().map_err(words)?;
        if is_linked == 0 {
            return Ok(false);
        }
        here.bind_to_thread().map_err(words)?;
        // SAFETY: both are primary contexts, which CubeCL holds, too, and that of `from` is current on this thread.
        let enabled = unsafe { sys::cuCtxEnablePeerAccess(there.cu_ctx(), 0) };
        // NCCL may have enabled it.
        match enabled {
            sys::CUresult::CUDA_SUCCESS | sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(true),
            failed => Err(format!("{failed:?}")),
        }
    }

    /// Waits for all work in the primary context of this device.
    pub fn synchronize(device: usize) -> Result<(), String> {
        let _calls = outside_recordings();
        let context = CudaContext::new(device).map_err(|error| error.to_string())?;
        context.synchronize().map_err(|error| error.to_string())
    }
}

#[cfg(not(feature = "cuda"))]
mod absent {
    use super::super::Room;
    use super::{Description, KeptMemory, Runtime};
    use cubecl::client::Client;
    use cubecl::server::{Handle, ServerError};

    const REASON: &str = "this build has no CUDA (cargo feature cuda)";

    /// Returns the reason why there are no CUDA GPUs.
    pub fn list() -> Result<Vec<Description>, String> {
        Err(REASON.into())
    }

    /// Returns the reason why CUDA is not available.
    pub fn open(_description: Description) -> Result<Runtime, String> {
        Err(REASON.into())
    }

    /// Returns that nothing is reported.
    pub fn room(_description: &Description) -> Room {
        Room::Unknown
    }

    /// Returns `None`.
    pub fn address(_client: &Client, _memory: Handle) -> Result<Option<KeptMemory>, ServerError> {
        Ok(None)
    }

    /// Returns that no devices are linked.
    pub fn link(_from: usize, _to: usize) -> Result<bool, String> {
        Ok(false)
    }

    /// Returns the reason why CUDA is not available.
    pub fn synchronize(_device: usize) -> Result<(), String> {
        Err(REASON.into())
    }
}

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
mod apart {
    use super::super::shared_buffer::SharedBuffer;
    use super::Description;
    use cubecl::client::Client;
    use cubecl::server::Handle;
    use cubecl::wgpu::WgpuSetup;

    /// A graphics device that shares memory with CUDA; this build has none.
    pub struct Interop {
        /// Never constructed.
        pub setup: WgpuSetup,
        never: std::convert::Infallible,
    }

    impl Interop {
        /// Returns `None`.
        pub fn open(_description: &Description) -> Result<Option<Interop>, String> {
            Ok(None)
        }

        /// Never called.
        pub fn share(&self, _client: &Client, _handles: &[Handle]) -> Result<Vec<SharedBuffer>, String> {
            match self.never {}
        }
    }
}
