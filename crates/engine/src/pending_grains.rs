//! Grains that may still be on their way from a GPU.

use crate::state::GrainSnapshot;
use seixo_device::gpu::GpuError;

/// Grains at the time at which they were requested. A GPU may still be transferring them while it takes steps.
///
/// ```
/// use seixo_engine::Simulation;
/// use seixo_engine::state::{GrainColumns, GrainSnapshot};
/// use seixo_engine::world::{Settings, World};
///
/// fn grains_of(simulation: &mut Simulation) -> Result<GrainSnapshot, Box<dyn std::error::Error>> {
///     if let Some(grains) = simulation.request_grains(GrainColumns::ALL)? {
///         simulation.advance(10)?;
///         return Ok(grains.wait()?);
///     }
///     simulation.observe()?;
///     Ok(simulation.snapshot())
/// }
/// # let mut empty = Simulation::new(World::default(), Settings { threads: 1, ..Settings::default() })?;
/// assert!(grains_of(&mut empty)?.id.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PendingGrains(Box<dyn FnOnce() -> Result<GrainSnapshot, GpuError> + Send>);

impl PendingGrains {
    /// Grains that `make` waits for.
    pub(crate) fn of(make: impl FnOnce() -> Result<GrainSnapshot, GpuError> + Send + 'static) -> PendingGrains {
        PendingGrains(Box::new(make))
    }

    /// As [`PendingGrains::wait`].
    pub(crate) fn arrive(self) -> Result<GrainSnapshot, GpuError> {
        (self.0)()
    }

    /// Waits for the grains, on any thread, and lists them in the order of their ids.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn wait(self) -> Result<GrainSnapshot, String> {
        self.arrive().map_err(|error| error.to_string())
    }
}
