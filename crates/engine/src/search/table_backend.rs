//! Hash tables that are built and searched on a device, for comparisons.

use super::tables::Tables;
use seixo_device::gpu::GpuError;
use std::ops::Range;

/// Particles in common hash tables, one for each size class.
pub(crate) struct FiledParticles {
    pub tables: Tables,
    pub places: Range<usize>,
}

/// Device on which tables are built and searched.
pub(crate) trait TableBackend {
    /// Fills the tables of this group of particles.
    fn file(&mut self, group: usize) -> Result<(), GpuError>;
    /// Lists the neighbors in this group of all moving particles.
    fn list(&mut self, group: usize) -> Result<(), GpuError>;
    /// Waits for the end of all work.
    fn wait(&self) -> Result<(), GpuError>;
    /// Number of listed neighbors.
    fn listed(&self) -> Result<u64, GpuError>;
}
