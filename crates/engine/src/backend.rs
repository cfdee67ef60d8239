//! Where a simulation is computed: host or GPU.

use crate::gpu::{FluidGpuBackend, GpuBackend};
use seixo_device::gpu::Gpu;

/// What the host has, or needs, of the current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Observed {
    /// The ledger, and the places of walls.
    Ledger,
    /// Everything.
    Everything,
}

/// Where a simulation is computed, and what is known of it here.
pub(crate) struct Backend {
    /// The GPU that steps the grains; unused without grains.
    pub gpu: Option<Gpu>,
    /// The grains, if they are on a GPU.
    pub grains: Option<Box<dyn GpuBackend>>,
    /// The fluids, if they are on a GPU.
    pub fluids: Option<Box<dyn FluidGpuBackend>>,
    /// What fields and ledger contain of the current state; `None` if steps were taken since.
    pub observed: Option<Observed>,
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
            observed: Some(Observed::Everything),
            is_batch_queued: false,
            failure: None,
        }
    }
}
