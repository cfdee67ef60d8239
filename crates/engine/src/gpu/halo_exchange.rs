//! Halo exchange of subdomains on GPUs at every step, for grains and fluids alike: records of coordinates, columns that only some simulations have, and
//! records of motion. GPUs with peer access copy these directly.

use super::joint_halo::await_all;
use super::step_halo::StepHalo;
use super::{Number, words_of};
use crate::exchange::{DecodeError, HaltReason};
use seixo_device::gpu::{Buffer, Gpu, GpuError, PART_WORDS, Rows};
use seixo_sweeps::layout::RECORD;
use std::any::Any;
use std::sync::Arc;

/// Data that one subdomain passes to another of the same process.
pub(crate) type HaloMessage = Box<dyn Any + Send>;

/// Words before the records of a packed halo; the first one is a halt flag.
const HEADER: usize = PART_WORDS;

/// Positions and motion of the particles that are ghosts in another subdomain, in one memory, so that one copy takes all along.
pub(super) struct PackedHalo<C, R> {
    whole: Arc<Buffer<u32>>,
    /// Whether the subdomain halts: one word.
    pub halts: Buffer<u32>,
    pub coordinates: Buffer<C>,
    /// Other columns that change in a step, such as temperatures.
    pub columns: Vec<Buffer<C>>,
    pub motions: Buffer<R>,
}

/// Number of particles for which a halo of this many has room. Its parts begin where parts of a buffer may.
fn room_for(particles: usize) -> usize {
    particles.max(1).next_multiple_of(PART_WORDS)
}

/// The words at which coordinates, columns and motions begin, and all words, for this many particles. Each has as many numbers in the columns as their
/// `widths` say, and this many `numbers` of motion.
fn layout<C, R>(particles: usize, widths: &[usize], numbers: usize) -> [usize; 4] {
    let room = room_for(particles);
    let columns = HEADER + words_of::<C>(RECORD * room);
    let motions = columns + words_of::<C>(widths.iter().sum::<usize>() * room);
    [HEADER, columns, motions, motions + words_of::<R>(numbers * room)]
}

impl<C: Number, R: Number> PackedHalo<C, R> {
    /// Room for this many particles with columns of these `widths`, and with this many `numbers` of motion each. The halt flag is zero.
    pub fn new(gpu: &Gpu, particles: usize, widths: &[usize], numbers: usize) -> Result<PackedHalo<C, R>, GpuError> {
        let [.., all] = layout::<C, R>(particles, widths, numbers);
        Ok(PackedHalo::within(Arc::new(gpu.zeros(all, "domains")?), particles, widths, numbers))
    }

    /// Words of a halo of this many particles with columns of these `widths`, and with this many `numbers` of motion each: a multiple of
    /// [`PART_WORDS`].
    pub fn words(particles: usize, widths: &[usize], numbers: usize) -> usize {
        let [.., all] = layout::<C, R>(particles, widths, numbers);
        all
    }

    /// A halo in the memory of these words.
    fn within(whole: Arc<Buffer<u32>>, particles: usize, widths: &[usize], numbers: usize) -> PackedHalo<C, R> {
        PackedHalo::from_word(whole, 0, particles, widths, numbers)
    }

    /// A halo in the memory of these words, from word `first` on, a multiple of [`PART_WORDS`].
    pub fn from_word(whole: Arc<Buffer<u32>>, first: usize, particles: usize, widths: &[usize], numbers: usize) -> PackedHalo<C, R> {
        let [coordinates, mut column, motions, _] = layout::<C, R>(particles, widths, numbers).map(|word| first + word);
        let room = room_for(particles);
        let mut columns = Vec::with_capacity(widths.len());
        for width in widths {
            columns.push(whole.part_from(column, width * room));
            column += words_of::<C>(width * room);
        }
        PackedHalo {
            halts: whole.part_from(first, 1),
            coordinates: whole.part_from(coordinates, RECORD * room),
            columns,
            motions: whole.part_from(motions, numbers * room),
            whole,
        }
    }

    /// Two buffers with minimal room: the data of the step before may still be on their way to another GPU.
    pub fn twice(gpu: &Gpu, numbers: usize) -> Result<[Arc<PackedHalo<C, R>>; 2], GpuError> {
        Ok([
            Arc::new(PackedHalo::new(gpu, 1, &[], numbers)?),
            Arc::new(PackedHalo::new(gpu, 1, &[], numbers)?),
        ])
    }

    /// The same memory for this many particles, or other memory if there is too little; the contents are lost.
    pub fn resized(&self, gpu: &Gpu, particles: usize, widths: &[usize], numbers: usize) -> Result<PackedHalo<C, R>, GpuError> {
        let [.., all] = layout::<C, R>(particles, widths, numbers);
        if all <= self.whole.len() {
            return Ok(PackedHalo::within(self.whole.clone(), particles, widths, numbers));
        }
        let [.., room] = layout::<C, R>(particles + particles / 4, widths, numbers);
        Ok(PackedHalo::within(
            Arc::new(gpu.zeros(room, "domains")?),
            particles,
            widths,
            numbers,
        ))
    }

    /// Resizes both halos.
    pub fn make_room(
        packed: &mut [Arc<PackedHalo<C, R>>; 2],
        gpu: &Gpu,
        particles: usize,
        widths: &[usize],
        numbers: usize,
    ) -> Result<(), GpuError> {
        for packed in packed {
            *packed = Arc::new(packed.resized(gpu, particles, widths, numbers)?);
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

/// A halo that was copied to a GPU, and its number of particles.
struct ArrivedHalo<C, R> {
    packed: PackedHalo<C, R>,
    particles: usize,
}

impl<C: Number, R: Number> PeerCopy<C, R> {
    /// Copies the halo to a GPU, with columns of these `widths` and this many `numbers` of motion of each particle.
    fn copied(&self, widths: &[usize], numbers: usize, to: &Gpu) -> Result<ArrivedHalo<C, R>, GpuError> {
        let [.., all] = layout::<C, R>(self.particles, widths, numbers);
        let whole = self.gpu.copy_to(&self.packed.whole, all, to)?;
        Ok(ArrivedHalo {
            packed: PackedHalo::within(Arc::new(whole), self.particles, widths, numbers),
            particles: self.particles,
        })
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
    /// Numbers of a particle in each of the other columns that change in a step.
    fn widths_of_columns(&self) -> Vec<usize>;
    /// Numbers of motion of a particle.
    fn numbers_of_motion(&self) -> usize;
    /// Number of neighbor subdomains.
    fn neighbor_count(&self) -> usize;
    /// The halo for the neighbor subdomain with this number.
    fn halo(&self, side: usize) -> &StepHalo<Self::Coordinate, Self::Real>;
    /// Number of the step, of two in turn, whose halo was packed last.
    fn packed_last(&self) -> usize;
    /// Number of particles in it.
    fn shown(&self, side: usize) -> usize;
    /// Number of ghosts of that subdomain's particles.
    fn followed(&self, side: usize) -> usize;
    /// Records of the particles in it, and the flag whether this subdomain halts, for a halo that is not packed.
    fn shown_rows(&self, side: usize) -> Rows<'_, Self::Coordinate, Self::Real>;
    /// Records of those ghosts, and the same flag.
    fn followed_rows(&self, side: usize) -> Rows<'_, Self::Coordinate, Self::Real>;
    /// Updates these ghosts, of which there may be none, with the packed positions, columns and motion.
    fn update_ghosts(&self, side: usize, packed: &PackedHalo<Self::Coordinate, Self::Real>);
}

/// Halo exchange as the host of a subdomain sees it, independent of the precision.
pub(crate) trait HaloExchange {
    /// Data for the neighbor subdomain with this number.
    fn hand(&self, side: usize) -> HaloMessage;
    /// Size of these data \[bytes\].
    fn bytes_exchanged(&self, side: usize) -> u64;
    /// Copies the halos of this subdomain and the other one between their GPUs, unless these are joint. Returns the copies for the other one, and for this
    /// one.
    fn copy_between_peers(&self, side: usize, halo_messages: HaloMessage) -> Result<[HaloMessage; 2], HaltReason>;
    /// Updates the ghosts from the data that were copied to this GPU.
    fn receive_ghost_updates(&self, side: usize, halo_messages: HaloMessage) -> Result<(), HaltReason>;
    /// Whether each pair of subdomains has joint halos, which their GPUs exchange by themselves: each subdomain with neighbors then has its own GPU.
    fn has_joint_halos(&self) -> bool;
    /// Begins to send the halos, packed or not, to these neighbors, by their numbers, beside the launches that follow. Only to those on other GPUs.
    ///
    /// # Errors
    /// If a GPU is lost.
    fn send_halos(&self, sides: &[usize]) -> Result<(), GpuError>;
    /// Makes later launches wait for the packed halos of neighbors on other GPUs.
    ///
    /// # Errors
    /// If the GPU is lost.
    fn await_halos(&self) -> Result<(), GpuError>;
    /// Updates the ghosts from the halos of neighbors on other GPUs. Waits for those that are not packed.
    ///
    /// # Errors
    /// If a GPU is lost.
    fn follow_halos(&self) -> Result<(), GpuError>;
    /// Exchanges the joint halos with each of these neighbors, which are all, and updates the ghosts. Later launches wait for them.
    ///
    /// # Errors
    /// If a GPU is lost.
    fn sum_halos(&self, sides: &[usize]) -> Result<(), GpuError>;
}

/// Exchange of the ghosts that were selected at a rebuild of the lists, between GPUs.
pub(crate) trait GhostExchange {
    /// Data for the neighbor with this number: the ghosts that were selected for it.
    fn hand_ghosts(&self, side: usize) -> HaloMessage;
    /// Copies the ghosts of both between their GPUs, and keeps those for this subdomain. Returns those for the other one.
    fn copy_ghosts(&mut self, side: usize, theirs: HaloMessage) -> Result<HaloMessage, HaltReason>;
    /// Keeps the ghosts that the other one copied to this GPU, or handed if this GPU reads them where they are.
    fn receive_ghosts(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason>;
    /// Size of all ghosts that were selected for others \[bytes\].
    fn ghost_bytes(&self) -> u64;
}

/// Data for the neighbor subdomain with this number.
fn handing<T: HaloSource + ?Sized>(domain: &T, side: usize) -> PeerCopy<T::Coordinate, T::Real> {
    PeerCopy {
        packed: domain.halo(side).packed(domain.packed_last()).clone(),
        particles: domain.shown(side),
        gpu: domain.gpu_of_domain().clone(),
    }
}

/// Updates the ghosts.
fn follow<T: HaloSource + ?Sized>(domain: &T, side: usize, came: &ArrivedHalo<T::Coordinate, T::Real>) -> Result<(), HaltReason> {
    if came.particles != domain.followed(side) {
        return Err(DecodeError.into());
    }
    domain.update_ghosts(side, &came.packed);
    Ok(())
}

impl<T: HaloSource> HaloExchange for T {
    fn hand(&self, side: usize) -> HaloMessage {
        Box::new(handing(self, side))
    }

    fn bytes_exchanged(&self, side: usize) -> u64 {
        let coordinates = RECORD + self.widths_of_columns().iter().sum::<usize>();
        let each = coordinates * size_of::<T::Coordinate>() + self.numbers_of_motion() * size_of::<T::Real>();
        (self.shown(side) * each) as u64
    }

    fn copy_between_peers(&self, side: usize, halo_messages: HaloMessage) -> Result<[HaloMessage; 2], HaltReason> {
        let theirs = halo_messages
            .downcast::<PeerCopy<T::Coordinate, T::Real>>()
            .map_err(|_| HaltReason::from(DecodeError))?;
        let (own, widths, numbers) = (handing(self, side), self.widths_of_columns(), self.numbers_of_motion());
        let there = own.copied(&widths, numbers, &theirs.gpu)?;
        let here = theirs.copied(&widths, numbers, &own.gpu)?;
        Ok([Box::new(there), Box::new(here)])
    }

    fn receive_ghost_updates(&self, side: usize, halo_messages: HaloMessage) -> Result<(), HaltReason> {
        let came = halo_messages
            .downcast::<ArrivedHalo<T::Coordinate, T::Real>>()
            .map_err(|_| HaltReason::from(DecodeError))?;
        follow(self, side, &came)
    }

    fn has_joint_halos(&self) -> bool {
        (0..self.neighbor_count()).any(|side| self.halo(side).joint.is_some())
    }

    fn send_halos(&self, sides: &[usize]) -> Result<(), GpuError> {
        let gpu = self.gpu_of_domain();
        for &side in sides {
            let Some(joint) = &self.halo(side).joint else { continue };
            match joint.straight() {
                Some((inboxes, ranks)) => inboxes.post_rows(gpu, ranks, &self.shown_rows(side))?,
                None => joint.send(gpu)?,
            }
        }
        Ok(())
    }

    fn await_halos(&self) -> Result<(), GpuError> {
        let joint = (0..self.neighbor_count()).filter_map(|side| self.halo(side).joint.as_ref());
        let packed = joint.filter(|joint| joint.straight().is_none());
        await_all(self.gpu_of_domain(), packed.map(|joint| &joint.memory))
    }

    fn follow_halos(&self) -> Result<(), GpuError> {
        let gpu = self.gpu_of_domain();
        for side in 0..self.neighbor_count() {
            let Some(joint) = &self.halo(side).joint else { continue };
            match joint.straight() {
                // This launch is also the wait.
                Some((inboxes, ranks)) => gpu.timed("halo exchange", || inboxes.collect_rows(gpu, ranks, &self.followed_rows(side)))?,
                None => self.update_ghosts(side, &joint.arrived),
            }
        }
        Ok(())
    }

    fn sum_halos(&self, sides: &[usize]) -> Result<(), GpuError> {
        self.gpu_of_domain().timed("halo exchange", || {
            self.send_halos(sides)?;
            self.await_halos()
        })?;
        self.follow_halos()
    }
}
