//! Meshes looked through on a GPU.

use crate::voxels::{Columns, Peeled};
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_sweeps::kernels::peel::peel_columns;

impl Columns {
    /// Looks through all columns, on a GPU.
    pub(crate) fn peel_on(&self, gpu: &Gpu) -> Result<Peeled, GpuError> {
        gpu.demand_long()?;
        let cubes = self.count() * self.slices as usize;
        if self.triangles.is_empty() {
            // All triangles are seen edge on, and no kernel takes an empty buffer.
            return Ok(Peeled {
                touched: vec![0; cubes],
                turns: vec![0; cubes],
            });
        }
        let upload = |words: &[u32]| gpu.upload(words, "a mesh");
        let (first, triangles, corners) = (upload(&self.first)?, upload(&self.triangles)?, upload(&self.corners)?);
        let (touched, turns) = (gpu.zeros::<u32>(cubes, "cubes")?, gpu.zeros::<i32>(cubes, "cubes")?);
        let (count, dim) = units(self.count());
        peel_columns::launch(
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
        Ok(Peeled {
            touched: gpu.download(&touched)?,
            turns: gpu.download(&turns)?,
        })
    }
}
