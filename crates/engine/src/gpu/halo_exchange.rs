//! Halo exchange of subdomains on GPUs at every step, for grains and fluids alike: records of coordinates, and records of motion. GPUs with peer
//! access copy these directly.

use super::Number;
use crate::exchange::{DecodeError, HaltReason};
use seixo_device::gpu::{Buffer, Gpu, GpuError};
use seixo_sweeps::layout::RECORD;
use std::any::Any;
use std::sync::Arc;

/// Data that one subdomain passes to another of the same process.
pub(crate) type HaloMessage = Box<dyn Any + Send>;

/// Positions and motion of the particles that are ghosts in another subdomain.
pub(super) struct PackedHalo<C, R> {
    pub coordinates: Buffer<C>,
    pub motions: Buffer<R>,
}

impl<C: Number, R: Number> PackedHalo<C, R> {
    /// Room for this many particles, with this many numbers of motion each.
    pub fn new(gpu: &Gpu, particles: usize, numbers: usize) -> Result<PackedHalo<C, R>, GpuError> {
        Ok(PackedHalo {
            coordinates: gpu.buffer(RECORD * particles, "domains")?,
            motions: gpu.buffer(numbers * particles, "domains")?,
        })
    }

    /// Two buffers with minimal room: the data of the step before may still be on their way to another GPU.
    pub fn twice(gpu: &Gpu, numbers: usize) -> Result<[Arc<PackedHalo<C, R>>; 2], GpuError> {
        Ok([
            Arc::new(PackedHalo::new(gpu, 1, numbers)?),
            Arc::new(PackedHalo::new(gpu, 1, numbers)?),
        ])
    }

    /// Makes room for this many particles; the contents are lost.
    pub fn make_room(packed: &mut [Arc<PackedHalo<C, R>>; 2], gpu: &Gpu, particles: usize, numbers: usize) -> Result<(), GpuError> {
        for packed in packed {
            if packed.coordinates.len() < RECORD * particles {
                *packed = Arc::new(PackedHalo::new(gpu, particles + particles / 4, numbers)?);
            }
        }
        Ok(())
    }
}

/// A packed halo that is to be copied to another GPU: its data, number of particles, and GPU.
struct PeerCopy<C, R> {
    packed: Arc<PackedHalo<C, R>>,
    particles: usize,
    gpu: Gpu,
}

impl<C: Number, R: Number> PeerCopy<C, R> {
    /// Copies the halo to a GPU, with this many numbers of motion of each particle. `None` without particles.
    fn copied(&self, numbers: usize, to: &Gpu) -> Result<Option<PackedHalo<C, R>>, GpuError> {
        if self.particles == 0 {
            return Ok(None);
        }
        Ok(Some(PackedHalo {
            coordinates: self.gpu.copy_to(&self.packed.coordinates, RECORD * self.particles, to)?,
            motions: self.gpu.copy_to(&self.packed.motions, numbers * self.particles, to)?,
        }))
    }
}

/// Particles of a subdomain on a GPU, some of which are ghosts in the neighbor subdomains, with ghosts of theirs.
pub(super) trait HaloSource {
    /// Type of coordinates.
    type Coordinate: Number;
    /// Type of all other numbers.
    type Real: Number;
    /// The GPU.
    fn gpu_of_domain(&self) -> &Gpu;
    /// Numbers of motion of a particle.
    fn numbers_of_motion(&self) -> usize;
    /// The last packed halo for the neighbor subdomain with this number.
    fn packed_for(&self, side: usize) -> &Arc<PackedHalo<Self::Coordinate, Self::Real>>;
    /// Number of particles in it.
    fn shown(&self, side: usize) -> usize;
    /// Number of ghosts of that subdomain's particles.
    fn followed(&self, side: usize) -> usize;
    /// Updates these ghosts with the packed positions and motion.
    fn update_ghosts(&self, side: usize, packed: &PackedHalo<Self::Coordinate, Self::Real>);
}

/// Halo exchange as the host of a subdomain sees it, independent of the precision.
pub(crate) trait HaloExchange {
    /// Data for the neighbor subdomain with this number.
    fn hand(&self, side: usize) -> HaloMessage;
    /// Size of these data \[bytes\].
    fn bytes_exchanged(&self, side: usize) -> u64;
    /// Copies the halos of this subdomain and the other one between their GPUs, and updates the ghosts here. Returns the copy for the other one.
    fn copy_between_peers(&self, side: usize, halo_messages: HaloMessage) -> Result<HaloMessage, HaltReason>;
    /// Updates the ghosts from the data that were copied to this GPU.
    fn receive_ghost_updates(&self, side: usize, halo_messages: HaloMessage) -> Result<(), HaltReason>;
}

/// Data for the neighbor subdomain with this number.
fn handing<T: HaloSource + ?Sized>(domain: &T, side: usize) -> PeerCopy<T::Coordinate, T::Real> {
    PeerCopy {
        packed: domain.packed_for(side).clone(),
        particles: domain.shown(side),
        gpu: domain.gpu_of_domain().clone(),
    }
}

/// Updates the ghosts, if there are any.
fn follow<T: HaloSource + ?Sized>(domain: &T, side: usize, came: Option<PackedHalo<T::Coordinate, T::Real>>) -> Result<(), HaltReason> {
    let followed = domain.followed(side);
    match came {
        None if followed == 0 => Ok(()),
        Some(packed) if packed.coordinates.len() == RECORD * followed => {
            domain.update_ghosts(side, &packed);
            Ok(())
        }
        _ => Err(DecodeError.into()),
    }
}

impl<T: HaloSource> HaloExchange for T {
    fn hand(&self, side: usize) -> HaloMessage {
        Box::new(handing(self, side))
    }

    fn bytes_exchanged(&self, side: usize) -> u64 {
        let each = RECORD * size_of::<T::Coordinate>() + self.numbers_of_motion() * size_of::<T::Real>();
        (self.shown(side) * each) as u64
    }

    fn copy_between_peers(&self, side: usize, halo_messages: HaloMessage) -> Result<HaloMessage, HaltReason> {
        let theirs = halo_messages
            .downcast::<PeerCopy<T::Coordinate, T::Real>>()
            .map_err(|_| HaltReason::from(DecodeError))?;
        let (own, numbers) = (handing(self, side), self.numbers_of_motion());
        let there = own.copied(numbers, &theirs.gpu)?;
        let here = theirs.copied(numbers, &own.gpu)?;
        follow(self, side, here)?;
        Ok(Box::new(there))
    }

    fn receive_ghost_updates(&self, side: usize, halo_messages: HaloMessage) -> Result<(), HaltReason> {
        let came = halo_messages
            .downcast::<Option<PackedHalo<T::Coordinate, T::Real>>>()
            .map_err(|_| HaltReason::from(DecodeError))?;
        follow(self, side, *came)
    }
}
