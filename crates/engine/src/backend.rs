//! Where a simulation is computed: host or GPU.

use crate::gpu::{FluidGpuBackend, GpuBackend};
use seixo_device::gpu::Gpu;

/// Where a simulation is computed, and what is known of it here.
pub(crate) struct Backend {
    /// The GPU that steps the grains; unused without grains.
    pub gpu: Option<Gpu>,
    /// The grains, if they are on a GPU.
    pub grains: Option<Box<dyn GpuBackend>>,
    /// The fluids, if they are on a GPU.
    pub fluids: Option<Box<dyn FluidGpuBackend>>,
    /// Whether fields and ledger contain the current state.
    pub is_current: bool,
    /// Whether a GPU takes a batch of steps already.
    pub is_batch_queued: bool,
    /// Why the GPU failed, if it did. Work that ended halfway, as a rebuild without memory, leaves no state there that could be read.
    pub failure: Option<String>,
}

impl Default for Backend {
    fn default() -> Backend {
        Backend {
            gpu: None,
            grains: None,
            fluids: None,
            is_current: true,
            is_batch_queued: false,
            failure: None,
        }
    }
}
