//! Arrays of fluid particles at their addresses on a GPU.

use super::GpuFluid;
use crate::gpu::Number;
use crate::gpu::arrays::CudaArrays;
use crate::state::arrays::{
    ArraysError, DENSITY_ERROR, FLUID_POSITION, FLUID_VELOCITY, HALF_STEP_VELOCITY, ID, KIND, OF_MULLER, POSITION_ALONE, ParticleArray,
    VELOCITY_ALONE,
};
use seixo_laws::Coordinate;
use seixo_sweeps::layout::RECORD;

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// The arrays of all particles.
    pub(super) fn cuda_arrays(&self) -> Result<Vec<ParticleArray<'static>>, ArraysError> {
        let mut arrays = CudaArrays::new(&self.gpu, self.n);
        arrays.add(&self.id, 1, ID)?;
        arrays.add(&self.kind, 1, KIND)?;
        let (position, velocity) = (&self.position[self.now], &self.flowing[self.now]);
        match &self.muller {
            Some(muller) => {
                arrays.add(position, RECORD, POSITION_ALONE)?;
                arrays.add(velocity, RECORD, VELOCITY_ALONE)?;
                arrays.add(&muller.dense, RECORD, OF_MULLER)?;
            }
            None => {
                arrays.add(position, RECORD, FLUID_POSITION)?;
                arrays.add(velocity, RECORD, FLUID_VELOCITY)?;
                arrays.add(&self.thermal, RECORD, DENSITY_ERROR)?;
            }
        }
        arrays.add(&self.half_velocity, RECORD, HALF_STEP_VELOCITY)?;
        arrays.finish()
    }
}
