//! Voxelization of meshes on a GPU.

use crate::voxels::{RayCrossings, RayGrid};
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_sweeps::kernels::voxelize::cast_rays_in_columns;

impl RayGrid {
    /// Casts rays through all columns, on a GPU.
    pub(crate) fn cast_rays_on_gpu(&self, gpu: &Gpu) -> Result<RayCrossings, GpuError> {
        gpu.demand_long()?;
        let cubes = self.count() * self.slices as usize;
        if self.triangles.is_empty() {
            // All triangles are parallel to the rays, and no kernel takes an empty buffer.
            return Ok(RayCrossings {
                touched: vec![0; cubes],
                windings: vec![0; cubes],
            });
        }
        let upload = |words: &[u32]| gpu.upload(words, "a mesh");
        let (first, triangles, corners) = (upload(&self.first)?, upload(&self.triangles)?, upload(&self.corners)?);
        let (touched, turns) = (gpu.zeros::<u32>(cubes, "cubes")?, gpu.zeros::<i32>(cubes, "cubes")?);
        let (count, dim) = units(self.count());
        cast_rays_in_columns::launch(
            gpu.client(),
            count,
            dim,
            first.argument(),
            triangles.argument(),
            corners.argument(),
            touched.argument(),
            turns.argument(),
            self.count() as u32,
            self.wide,
            self.slices,
            self.half_gap,
        );
        Ok(RayCrossings {
            touched: gpu.download(&touched)?,
            windings: gpu.download(&turns)?,
        })
    }
}
