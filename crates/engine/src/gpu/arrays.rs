//! Arrays of particles at their addresses on a GPU.

use super::{GpuGrains, Number};
use crate::state::arrays::{
    ANGULAR_VELOCITY, ArrayMemory, ArrayNumber, ArraysError, FORCE, GROUP, HALF_STEP_ANGULAR_VELOCITY, HALF_STEP_VELOCITY, ID, MATERIAL,
    ORIENTATION, POSITION, ParticleArray, RecordPart, TORQUE, VELOCITY,
};
use seixo_device::gpu::{Buffer, Gpu, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::restore;
use seixo_sweeps::layout::RECORD;

/// Arrays of as many particles, to which buffers are added.
pub(super) struct CudaArrays<'a> {
    gpu: &'a Gpu,
    len: usize,
    arrays: Vec<ParticleArray<'static>>,
}

impl<'a> CudaArrays<'a> {
    /// No arrays yet.
    pub fn new(gpu: &'a Gpu, len: usize) -> CudaArrays<'a> {
        CudaArrays {
            gpu,
            len,
            arrays: Vec::new(),
        }
    }

    /// Adds the arrays in a buffer with this many numbers per particle.
    pub fn add<N: ArrayNumber>(&mut self, buffer: &Buffer<N>, stride: usize, parts: &'static [RecordPart]) -> Result<(), ArraysError> {
        let memory = self.gpu.cuda_memory(buffer)?.ok_or_else(|| ArraysError::NoAddresses {
            device: self.gpu.description().to_string(),
        })?;
        let memory = ArrayMemory::Cuda(memory, N::NUMBER_TYPE);
        self.arrays.extend(ParticleArray::of_records(memory, self.len, stride, parts));
        Ok(())
    }

    /// The arrays, once all that was queued is done.
    pub fn finish(self) -> Result<Vec<ParticleArray<'static>>, ArraysError> {
        self.gpu.wait()?;
        Ok(self.arrays)
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// The arrays of the grains.
    pub(super) fn cuda_arrays(&self) -> Result<Vec<ParticleArray<'static>>, ArraysError> {
        let mut arrays = CudaArrays::new(&self.gpu, self.n);
        arrays.add(&self.id, 1, ID)?;
        arrays.add(&self.material, 1, MATERIAL)?;
        arrays.add(&self.group, 1, GROUP)?;
        arrays.add(&self.position[self.now], RECORD, POSITION)?;
        arrays.add(&self.velocity[self.now], RECORD, VELOCITY)?;
        self.add_between_steps(&mut arrays, [&self.velocity[self.now], &self.half_velocity], HALF_STEP_VELOCITY)?;
        arrays.add(&self.force, RECORD, FORCE)?;
        if self.kind.frictional {
            arrays.add(&self.spin[self.now], RECORD, ANGULAR_VELOCITY)?;
            self.add_between_steps(&mut arrays, [&self.spin[self.now], &self.half_spin], HALF_STEP_ANGULAR_VELOCITY)?;
            arrays.add(&self.torque, RECORD, TORQUE)?;
        }
        if let Some(orientation) = self.all_orientations() {
            arrays.add(orientation, RECORD, ORIENTATION)?;
        }
        arrays.finish()
    }

    /// Adds velocities between steps, given by the records that laws read and by what is kept beside them. If the latter are differences, the array is a
    /// copy of their sums.
    fn add_between_steps(
        &self,
        arrays: &mut CudaArrays<'_>,
        [read, kept]: [&Buffer<R>; 2],
        parts: &'static [RecordPart],
    ) -> Result<(), ArraysError> {
        if size_of::<C>() == size_of::<R>() {
            return arrays.add(kept, RECORD, parts);
        }
        let restored: Buffer<C> = self.gpu.buffer(RECORD * self.n.max(1), "velocities between steps")?;
        let (count, dim) = units(self.n);
        restore::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            read.records(),
            kept.records(),
            restored.records(),
            self.n as u32,
        );
        arrays.add(&restored, RECORD, parts)
    }
}
