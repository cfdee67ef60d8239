//! What domains on GPUs show each other at every step, of grains and of fluids alike: records of coordinates, and records of motion. GPUs that reach each
//! other copy it by themselves.

use super::Number;
use crate::division::{Halt, Illegible};
use seixo_device::gpu::{Buffer, Gpu, GpuError};
use seixo_sweeps::views::RECORD;
use std::any::Any;
use std::sync::Arc;

/// What one domain hands another of the same process.
pub(crate) type Handed = Box<dyn Any + Send>;

/// Where particles are that another domain has copies of, and how they move.
pub(super) struct Packed<C, R> {
    pub coordinates: Buffer<C>,
    pub motions: Buffer<R>,
}

impl<C: Number, R: Number> Packed<C, R> {
    /// Room for so many particles, with so many numbers of motion each.
    pub fn new(gpu: &Gpu, particles: usize, numbers: usize) -> Result<Packed<C, R>, GpuError> {
        Ok(Packed {
            coordinates: gpu.buffer(RECORD * particles, "domains")?,
            motions: gpu.buffer(numbers * particles, "domains")?,
        })
    }

    /// The same with room for hardly any, twice: what was packed at the step before may still be on its way to another GPU.
    pub fn twice(gpu: &Gpu, numbers: usize) -> Result<[Arc<Packed<C, R>>; 2], GpuError> {
        Ok([Arc::new(Packed::new(gpu, 1, numbers)?), Arc::new(Packed::new(gpu, 1, numbers)?)])
    }

    /// Has room for so many particles, whatever stood there.
    pub fn make_room(packed: &mut [Arc<Packed<C, R>>; 2], gpu: &Gpu, particles: usize, numbers: usize) -> Result<(), GpuError> {
        for packed in packed {
            if packed.coordinates.len() < RECORD * particles {
                *packed = Arc::new(Packed::new(gpu, particles + particles / 4, numbers)?);
            }
        }
        Ok(())
    }
}

/// The same on its way to another GPU: what is to be copied, and where that is.
struct Handing<C, R> {
    packed: Arc<Packed<C, R>>,
    particles: usize,
    gpu: Gpu,
}

impl<C: Number, R: Number> Handing<C, R> {
    /// Copied to a GPU, with so many numbers of motion of each particle; none where there are no particles.
    fn copied(&self, numbers: usize, to: &Gpu) -> Result<Option<Packed<C, R>>, GpuError> {
        if self.particles == 0 {
            return Ok(None);
        }
        Ok(Some(Packed {
            coordinates: self.gpu.copy_to(&self.packed.coordinates, RECORD * self.particles, to)?,
            motions: self.gpu.copy_to(&self.packed.motions, numbers * self.particles, to)?,
        }))
    }
}

/// Particles of a domain on a GPU, of which it shows some to the domains beside it, and has copies of some of theirs.
pub(super) trait Shows {
    /// The type of coordinates.
    type Coordinate: Number;
    /// The type of all else.
    type Real: Number;
    /// The GPU.
    fn gpu_of_domain(&self) -> &Gpu;
    /// Numbers of motion of a particle.
    fn numbers_of_motion(&self) -> usize;
    /// What was packed last for the domain beside this one with this number.
    fn packed_for(&self, side: usize) -> &Arc<Packed<Self::Coordinate, Self::Real>>;
    /// How many particles that are.
    fn shown(&self, side: usize) -> usize;
    /// Copies of that domain's particles.
    fn followed(&self, side: usize) -> usize;
    /// Puts these copies where their originals are, as they were packed.
    fn put_copies(&self, side: usize, packed: &Packed<Self::Coordinate, Self::Real>);
}

/// What the host of a domain does for it to swap what it shows, whatever its precision.
pub(crate) trait Swaps {
    /// What the domain beside this one with this number is to get.
    fn hand(&self, side: usize) -> Handed;
    /// Bytes of it.
    fn bytes_handed(&self, side: usize) -> u64;
    /// Copies what that domain handed over, and what it is to get, between their GPUs; returns the latter.
    fn swap(&self, side: usize, handed: Handed) -> Result<Handed, Halt>;
    /// Puts copies where their originals are, from what was copied to this GPU.
    fn follow_handed(&self, side: usize, handed: Handed) -> Result<(), Halt>;
}

/// What the domain beside this one with this number is to get.
fn handing<T: Shows + ?Sized>(domain: &T, side: usize) -> Handing<T::Coordinate, T::Real> {
    Handing {
        packed: domain.packed_for(side).clone(),
        particles: domain.shown(side),
        gpu: domain.gpu_of_domain().clone(),
    }
}

/// Puts copies where their originals are, if there are any.
fn follow<T: Shows + ?Sized>(domain: &T, side: usize, came: Option<Packed<T::Coordinate, T::Real>>) -> Result<(), Halt> {
    let followed = domain.followed(side);
    match came {
        None if followed == 0 => Ok(()),
        Some(packed) if packed.coordinates.len() == RECORD * followed => {
            domain.put_copies(side, &packed);
            Ok(())
        }
        _ => Err(Illegible.into()),
    }
}

impl<T: Shows> Swaps for T {
    fn hand(&self, side: usize) -> Handed {
        Box::new(handing(self, side))
    }

    fn bytes_handed(&self, side: usize) -> u64 {
        let each = RECORD * size_of::<T::Coordinate>() + self.numbers_of_motion() * size_of::<T::Real>();
        (self.shown(side) * each) as u64
    }

    fn swap(&self, side: usize, handed: Handed) -> Result<Handed, Halt> {
        let theirs = handed
            .downcast::<Handing<T::Coordinate, T::Real>>()
            .map_err(|_| Halt::from(Illegible))?;
        let (own, numbers) = (handing(self, side), self.numbers_of_motion());
        let there = own.copied(numbers, &theirs.gpu)?;
        let here = theirs.copied(numbers, &own.gpu)?;
        follow(self, side, here)?;
        Ok(Box::new(there))
    }

    fn follow_handed(&self, side: usize, handed: Handed) -> Result<(), Halt> {
        let came = handed
            .downcast::<Option<Packed<T::Coordinate, T::Real>>>()
            .map_err(|_| Halt::from(Illegible))?;
        follow(self, side, *came)
    }
}
