//! Columns of fluid that subdomains exchange within a step: as joint columns of pairs of GPUs in batches of steps, otherwise by copies from GPU to GPU
//! where these reach each other, or in messages.

use super::super::GpuFluid;
use super::super::muller::GpuMuller;
use super::columns_of;
use crate::exchange::{DecodeError, HaltReason, enclose};
use crate::gpu::Number;
use crate::gpu::halo_exchange::HaloMessage;
use crate::gpu::joint_halo::await_all;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_sweeps::layout::RECORD;
use std::sync::Arc;

/// A column of records that subdomains exchange within a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FluidColumn {
    /// Velocities of particles that drift through the flow.
    ParticleVelocities,
    /// Densities of Müller's solver.
    Densities,
    /// Velocities of Müller's solver after forces.
    DrivenVelocities,
    /// Velocities before pressures, or accelerations by pressures, of incompressible fluids.
    Moving,
    /// Pressures of incompressible fluids.
    Pressures,
}

/// Columns of a subdomain on a GPU that go to the GPUs of its neighbors, which have numbers. Packed columns take turns in two buffers: those of the turn
/// before may still be on their way.
pub(crate) trait ColumnExchange {
    /// Packs a column of the fluid that is ghosts elsewhere, for all neighbors.
    fn pack_column(&self, column: FluidColumn, turn: usize);
    /// The packed column for a neighbor.
    fn hand_column(&self, side: usize, turn: usize) -> HaloMessage;
    /// Copies the packed columns of both between their GPUs. Returns the copies for the other one, and for this one.
    fn copy_column(&self, side: usize, turn: usize, theirs: HaloMessage) -> Result<[HaloMessage; 2], HaltReason>;
    /// Updates the ghosts with the column that was copied to this GPU.
    fn follow_column(&self, column: FluidColumn, side: usize, copied: HaloMessage) -> Result<(), HaltReason>;
    /// Packs a column, exchanges it as joint columns with each of these neighbors, which are all, and updates the ghosts with it. Later launches
    /// wait for them.
    ///
    /// # Errors
    /// If the GPU is lost.
    fn sum_column(&self, column: FluidColumn, sides: &[usize]) -> Result<(), GpuError>;
    /// Size of a packed column for all neighbors \[bytes\].
    fn column_bytes(&self) -> u64;
}

/// A packed column: its records, its number of particles, and the GPU that has it.
struct PackedColumn<R> {
    records: Arc<Buffer<R>>,
    particles: usize,
    gpu: Gpu,
}

impl<R: Number> PackedColumn<R> {
    /// A copy on another GPU, see [`Gpu::copy_to`].
    fn copied(&self, to: &Gpu) -> Result<PackedColumn<R>, GpuError> {
        // Copies cannot be empty.
        let records = self.gpu.copy_to(&self.records, RECORD * self.particles.max(1), to)?;
        Ok(PackedColumn {
            records: Arc::new(records),
            particles: self.particles,
            gpu: to.clone(),
        })
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// A column that subdomains exchange within a step.
    fn column(&self, column: FluidColumn) -> &Buffer<R> {
        let of_muller = |column: fn(&GpuMuller<C, R>) -> &Buffer<R>| self.muller.as_ref().map_or(&self.seen, column);
        match column {
            FluidColumn::ParticleVelocities => &self.motion,
            FluidColumn::Densities => of_muller(|muller| &muller.dense),
            FluidColumn::DrivenVelocities => of_muller(|muller| &muller.driven),
            FluidColumn::Moving => &self.projecting.moving,
            FluidColumn::Pressures => &self.projecting.solving,
        }
    }

    /// As [`super::FluidDomainBackend::column_messages`].
    pub(super) fn messages_with_column(&self, column: FluidColumn) -> Result<Vec<Vec<u8>>, GpuError> {
        self.pack_column(column, 0);
        let mut copies = self.gpu.copies();
        let sides = self.border().sides.iter();
        let tickets: Vec<Ticket<R>> = sides.map(|side| copies.add(&side.columns[0], 0..RECORD * side.shown)).collect();
        let arrived = copies.wait()?;
        let message = |ticket: Ticket<R>| {
            let mut message = Vec::new();
            enclose(&mut message, &arrived.take(ticket));
            message
        };
        Ok(tickets.into_iter().map(message).collect())
    }

    /// As [`super::FluidDomainBackend::receive_column`].
    pub(super) fn follow_column_messages(&self, column: FluidColumn, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        let column = self.column(column);
        for (side, message) in self.border().sides.iter().zip(messages) {
            let m = side.followed_ghosts;
            let records = columns_of::<R>(&mut &message[..], 1, RECORD * m)?;
            if m > 0 {
                self.gpu.write_part(&side.halo.reported.motions, 0, &records[0]);
                self.gpu.scatter(&side.halo.reported.motions, &side.ghosts, m, RECORD, column);
            }
        }
        Ok(())
    }

    /// The packed column of this turn for a neighbor.
    fn packed_column(&self, side: usize, turn: usize) -> PackedColumn<R> {
        let side = &self.border().sides[side];
        PackedColumn {
            records: side.columns[turn].clone(),
            particles: side.shown,
            gpu: self.gpu.clone(),
        }
    }

    /// Updates the ghosts of a neighbor's fluid with a column that is on this GPU.
    fn take_column(&self, column: FluidColumn, side: usize, came: &PackedColumn<R>) -> Result<(), HaltReason> {
        let side = &self.border().sides[side];
        if came.particles != side.followed_ghosts {
            return Err(DecodeError.into());
        }
        let (m, column) = (came.particles, self.column(column));
        self.gpu.scatter(&came.records, &side.ghosts, m, RECORD, column);
        Ok(())
    }
}

/// The packed column in a message.
fn unwrapped<R: Number>(message: HaloMessage) -> Result<Box<PackedColumn<R>>, HaltReason> {
    message.downcast().map_err(|_| HaltReason::from(DecodeError))
}

impl<C: Number + Coordinate<R>, R: Number> ColumnExchange for GpuFluid<C, R> {
    fn pack_column(&self, column: FluidColumn, turn: usize) {
        let column = self.column(column);
        for side in self.border().sides.iter().filter(|side| side.shown > 0) {
            self.gpu.gather(column, &side.own, side.shown, RECORD, &side.columns[turn]);
        }
    }

    fn hand_column(&self, side: usize, turn: usize) -> HaloMessage {
        Box::new(self.packed_column(side, turn))
    }

    fn copy_column(&self, side: usize, turn: usize, theirs: HaloMessage) -> Result<[HaloMessage; 2], HaltReason> {
        let (own, theirs) = (self.packed_column(side, turn), unwrapped::<R>(theirs)?);
        let there = own.copied(&theirs.gpu)?;
        let here = theirs.copied(&own.gpu)?;
        Ok([Box::new(there), Box::new(here)])
    }

    fn follow_column(&self, column: FluidColumn, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        let came: Box<PackedColumn<R>> = unwrapped(copied)?;
        self.take_column(column, side, &came)
    }

    fn sum_column(&self, column: FluidColumn, sides: &[usize]) -> Result<(), GpuError> {
        let (all, column) = (&self.border().sides, self.column(column));
        for side in all.iter().filter(|side| side.shown > 0) {
            if let Some(joint) = &side.joint_column {
                self.gpu.gather(column, &side.own, side.shown, RECORD, &joint.packed);
            }
        }
        let mut joint = sides.iter().filter_map(|&side| all[side].joint_column.as_ref());
        self.gpu.timed("halo exchange", || {
            joint.try_for_each(|joint| joint.send(&self.gpu))?;
            let all = all.iter().filter_map(|side| side.joint_column.as_ref());
            await_all(&self.gpu, all.map(|joint| &joint.memory))
        })?;
        for side in all {
            if let Some(joint) = &side.joint_column {
                self.gpu.scatter(&joint.arrived, &side.ghosts, side.followed_ghosts, RECORD, column);
            }
        }
        Ok(())
    }

    fn column_bytes(&self) -> u64 {
        let shown: usize = self.border().sides.iter().map(|side| side.shown).sum();
        (RECORD * shown * size_of::<R>()) as u64
    }
}
