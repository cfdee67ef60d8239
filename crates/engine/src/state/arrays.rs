//! Arrays of particles where the engine keeps them.

use seixo_device::gpu::{CudaMemory, GpuError};

/// Type of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// Unsigned integers of 32 bits.
    U32,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl NumberType {
    /// Size of a number \[bytes\].
    pub fn bytes(self) -> usize {
        match self {
            NumberType::U32 | NumberType::F32 => 4,
            NumberType::F64 => 8,
        }
    }
}

/// A number that arrays consist of.
pub(crate) trait ArrayNumber {
    const NUMBER_TYPE: NumberType;
}

impl ArrayNumber for u32 {
    const NUMBER_TYPE: NumberType = NumberType::U32;
}

impl ArrayNumber for f32 {
    const NUMBER_TYPE: NumberType = NumberType::F32;
}

impl ArrayNumber for f64 {
    const NUMBER_TYPE: NumberType = NumberType::F64;
}

/// Memory of an array.
#[derive(Clone)]
pub enum ArrayMemory<'a> {
    /// Integers in the memory of this process.
    U32(&'a [u32]),
    /// Doubles in the memory of this process.
    F64(&'a [f64]),
    /// Numbers of this type in the memory of a GPU that is reached through CUDA.
    Cuda(CudaMemory, NumberType),
}

/// A number or a vector of each particle, where the engine keeps it. Several arrays may share memory: particle i has the numbers from
/// `first + i * stride` to `first + i * stride + width`.
#[derive(Clone)]
pub struct ParticleArray<'a> {
    /// Name, such as "position".
    pub name: &'static str,
    /// The memory, with what lies between the numbers of this array.
    pub memory: ArrayMemory<'a>,
    /// Number of particles.
    pub len: usize,
    /// Numbers per particle: 1, 3 for a vector, or 4 for a quaternion w x y z.
    pub width: usize,
    /// Index of the first number.
    pub first: usize,
    /// Numbers from one particle to the next.
    pub stride: usize,
    /// Whether the values belong to the present positions. If not, they are those of the step before, and [`crate::Simulation::observe`] brings them up
    /// to date in place.
    pub is_present: bool,
}

impl<'a> ParticleArray<'a> {
    /// The arrays that these records consist of.
    pub(crate) fn of_records(
        memory: ArrayMemory<'a>,
        len: usize,
        stride: usize,
        parts: &'static [RecordPart],
    ) -> impl Iterator<Item = ParticleArray<'a>> {
        parts.iter().map(move |part| ParticleArray {
            name: part.name,
            memory: memory.clone(),
            len,
            width: part.width,
            first: part.first,
            stride,
            is_present: !part.follows_forces,
        })
    }

    /// Type of the numbers.
    pub fn number_type(&self) -> NumberType {
        match &self.memory {
            ArrayMemory::U32(_) => NumberType::U32,
            ArrayMemory::F64(_) => NumberType::F64,
            ArrayMemory::Cuda(_, number_type) => *number_type,
        }
    }

    /// Address of the first number: in this process, or in the memory of the GPU. 0 without particles.
    pub fn address(&self) -> u64 {
        if self.len == 0 {
            return 0;
        }
        let start = match &self.memory {
            ArrayMemory::U32(numbers) => numbers.as_ptr() as u64,
            ArrayMemory::F64(numbers) => numbers.as_ptr() as u64,
            ArrayMemory::Cuda(memory, _) => memory.address(),
        };
        start + (self.first * self.number_type().bytes()) as u64
    }
}

/// Arrays of all particles at one time, see [`crate::Simulation::arrays`].
pub struct Arrays<'a> {
    /// Arrays of the grains.
    pub grains: Vec<ParticleArray<'a>>,
    /// Arrays of the fluid, wall and body boundary particles; `None` without fluids.
    pub fluid: Option<Vec<ParticleArray<'a>>>,
}

/// Why there are no arrays to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArraysError {
    /// Each domain has arrays of its own.
    #[error("the particles are distributed over {domains} domains, so that no array has all of them: take a snapshot, which gathers them")]
    Decomposed {
        /// Number of domains.
        domains: usize,
    },
    /// The API of the GPU shows no addresses.
    #[error("{device} shows no addresses of its memory, as only CUDA does: take a snapshot, which copies the particles to the CPU")]
    NoAddresses {
        /// The GPU.
        device: String,
    },
    /// The GPU changes the arrays at this moment.
    #[error("the GPU takes the next steps already: ask before they are queued")]
    StepsQueued,
    /// The GPU failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// A quantity within the record of a particle.
pub(crate) struct RecordPart {
    name: &'static str,
    first: usize,
    width: usize,
    /// Whether it is computed with the forces.
    follows_forces: bool,
}

impl RecordPart {
    /// Marks it as computed with the forces.
    const fn with_forces(self) -> RecordPart {
        RecordPart {
            follows_forces: true,
            ..self
        }
    }
}

/// Numbers of a record from this one on.
const fn part(name: &'static str, first: usize, width: usize) -> RecordPart {
    RecordPart {
        name,
        first,
        width,
        follows_forces: false,
    }
}

/// Unique id, which says what particle is where in the other arrays.
pub(crate) const ID: &[RecordPart] = &[part("id", 0, 1)];
pub(crate) const MATERIAL: &[RecordPart] = &[part("material", 0, 1)];
pub(crate) const GROUP: &[RecordPart] = &[part("group", 0, 1)];
pub(crate) const POSITION: &[RecordPart] = &[part("position", 0, 3), part("radius", 3, 1)];
pub(crate) const VELOCITY: &[RecordPart] = &[part("velocity", 0, 3), part("mass", 3, 1)];
pub(crate) const ANGULAR_VELOCITY: &[RecordPart] = &[part("angular_velocity", 0, 3)];
pub(crate) const HALF_STEP_VELOCITY: &[RecordPart] = &[part("half_step_velocity", 0, 3)];
pub(crate) const HALF_STEP_ANGULAR_VELOCITY: &[RecordPart] = &[part("half_step_angular_velocity", 0, 3)];
pub(crate) const FORCE: &[RecordPart] = &[part("force", 0, 3).with_forces(), part("coordination", 3, 1).with_forces()];
pub(crate) const TORQUE: &[RecordPart] = &[part("torque", 0, 3).with_forces()];
pub(crate) const ORIENTATION: &[RecordPart] = &[part("orientation", 0, 4)];
pub(crate) const KIND: &[RecordPart] = &[part("kind", 0, 1)];
pub(crate) const FLUID_POSITION: &[RecordPart] = &[part("position", 0, 3), part("volume", 3, 1)];
pub(crate) const FLUID_VELOCITY: &[RecordPart] = &[part("velocity", 0, 3), part("pressure", 3, 1)];
pub(crate) const DENSITY_ERROR: &[RecordPart] = &[part("density_error", 0, 1)];
/// Where Müller's solver on a GPU keeps the rest in [`OF_MULLER`].
pub(crate) const POSITION_ALONE: &[RecordPart] = &[part("position", 0, 3)];
/// As [`POSITION_ALONE`].
pub(crate) const VELOCITY_ALONE: &[RecordPart] = &[part("velocity", 0, 3)];
/// What Müller's solver on a GPU computes before the forces.
pub(crate) const OF_MULLER: &[RecordPart] = &[
    part("volume", 0, 1).with_forces(),
    part("pressure", 1, 1).with_forces(),
    part("density_error", 2, 1).with_forces(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_of_a_record_lie_behind_each_other() {
        let records = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let arrays: Vec<ParticleArray> = ParticleArray::of_records(ArrayMemory::F64(&records), 2, 4, POSITION).collect();
        let [position, radius] = &arrays[..] else {
            panic!("two quantities")
        };
        assert_eq!((position.name, position.width, position.stride), ("position", 3, 4));
        assert_eq!((radius.name, radius.width, radius.stride), ("radius", 1, 4));
        assert_eq!(position.address(), records.as_ptr() as u64);
        assert_eq!(radius.address() - position.address(), 24);
        assert_eq!(radius.number_type(), NumberType::F64);
        let none: Vec<ParticleArray> = ParticleArray::of_records(ArrayMemory::U32(&[]), 0, 1, ID).collect();
        assert_eq!(none[0].address(), 0);
    }
}
