//! Ghosts of fluids that go from GPU to GPU at a rebuild of the lists. The host only learns which of them are fluid.

use super::super::GpuFluid;
use super::MigrationBuffer;
use crate::exchange::{DecodeError, HaltReason};
use crate::gpu::Number;
use crate::gpu::halo_exchange::{GhostExchange, HaloMessage};
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::GHOST;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::kernels::domain::count_from;
use seixo_sweeps::layout::RECORD;
use std::sync::{Arc, OnceLock};

/// Particles that are ghosts in another subdomain, on the GPU of either, with their kinds.
pub(super) struct PackedGhosts<C, R> {
    packed: Arc<MigrationBuffer<C, R>>,
    kinds: Arc<Vec<u32>>,
    gpu: Gpu,
}

impl<C: Number, R: Number> PackedGhosts<C, R> {
    /// These ghosts on another GPU, with this many columns of motion, see [`Gpu::copy_to`]. On the same GPU, these particles themselves.
    fn copied(&self, motions: usize, to: &Gpu) -> Result<PackedGhosts<C, R>, GpuError> {
        let (from, m) = (&self.gpu, self.kinds.len());
        let packed = if m == 0 || from.is_same(to) {
            self.packed.clone()
        } else {
            let (mut words, mut coordinates, mut motion) = (Vec::new(), Vec::new(), Vec::new());
            for column in &self.packed.words {
                words.push(from.copy_to(column, m, to)?);
            }
            for column in &self.packed.coordinates {
                coordinates.push(from.copy_to(column, RECORD * m, to)?);
            }
            for column in &self.packed.motions[..motions] {
                motion.push(from.copy_to(column, RECORD * m, to)?);
            }
            Arc::new(MigrationBuffer {
                words,
                coordinates,
                motions: motion,
                memory: OnceLock::new(),
            })
        };
        Ok(PackedGhosts {
            packed,
            kinds: self.kinds.clone(),
            gpu: to.clone(),
        })
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Packs the m particles at the first indices of [`GpuFluid::find`] for neighbor k.
    pub(super) fn pack_ghosts(&mut self, k: usize, m: usize) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let (mut fluid, mut kinds) = (Vec::new(), Vec::new());
        if m > 0 {
            MigrationBuffer::make_room_apart(&mut self.border_mut().sides[k].outgoing, &gpu, m)?;
            let packed = &self.border().sides[k].outgoing;
            let columns = self.columns();
            for (column, room) in columns.words.into_iter().zip(&packed.words) {
                gpu.gather(column, &self.order, m, 1, room);
            }
            for (column, room) in columns.coordinates.into_iter().zip(&packed.coordinates) {
                gpu.gather(column, &self.order, m, RECORD, room);
            }
            for (column, room) in columns.motions.into_iter().zip(&packed.motions) {
                gpu.gather(column, &self.order, m, RECORD, room);
            }
            let mut copies = gpu.copies();
            let (place, kind) = (copies.add(&self.order, 0..m), copies.add(&packed.words[1], 0..m));
            let arrived = copies.wait()?;
            kinds = arrived.take(kind);
            let places = arrived.take(place);
            let of_fluid = places.iter().zip(&kinds).filter(|(_, kind)| **kind & WALL == 0);
            fluid = of_fluid.map(|(place, _)| *place).collect();
        }
        let side = &mut self.border_mut().sides[k];
        side.outgoing_kinds = Arc::new(kinds);
        side.show(&gpu, &fluid)
    }

    /// Appends ghosts that came from a GPU behind all other particles. Returns the indices of the fluid particles among them.
    pub(super) fn append_ghosts(&mut self, ghosts: &PackedGhosts<C, R>) -> Result<Vec<u32>, GpuError> {
        let (m, first) = (ghosts.kinds.len(), self.n);
        if m == 0 {
            return Ok(Vec::new());
        }
        self.make_room_for(first + m)?;
        let (gpu, packed, columns) = (&self.gpu, &ghosts.packed, self.columns());
        // The sort that follows overwrites the order.
        let (count, dim) = units(m);
        count_from::launch(gpu.client(), count, dim, self.order.argument(), first as u32, m as u32);
        for (column, words) in columns.words.into_iter().zip(&packed.words) {
            gpu.scatter(words, &self.order, m, 1, column);
        }
        for (column, records) in columns.coordinates.into_iter().zip(&packed.coordinates) {
            gpu.scatter(records, &self.order, m, RECORD, column);
        }
        for (column, records) in columns.motions.into_iter().zip(&packed.motions) {
            gpu.scatter(records, &self.order, m, RECORD, column);
        }
        Ok(self.mark_appended(&ghosts.kinds, GHOST))
    }

    /// Copies ghosts from another GPU whose memory this one accesses, and keeps them. Returns whether it does. The other host has waited for their kinds,
    /// so they are packed; and it packs new ones only after this GPU has listed these.
    fn fetch_ghosts(&mut self, side: usize, theirs: &PackedGhosts<C, R>) -> Result<bool, GpuError> {
        let gpu = self.gpu.clone();
        // Both of a pair decide alike.
        if gpu.is_same(&theirs.gpu) || !gpu.accesses(&theirs.gpu) || !theirs.gpu.accesses(&gpu) {
            return Ok(false);
        }
        let (from, m, motions) = (&theirs.packed, theirs.kinds.len(), self.columns().motions.len());
        let Some(memory) = from.memory(&theirs.gpu)? else {
            return Ok(false);
        };
        let side = &mut self.border_mut().sides[side];
        MigrationBuffer::make_room_apart(&mut side.room_for_incoming, &gpu, m)?;
        let room = &side.room_for_incoming;
        let (of_words, memory) = memory.split_at(from.words.len());
        let (of_coordinates, of_motions) = memory.split_at(from.coordinates.len());
        for ((column, memory), to) in from.words.iter().zip(of_words).zip(&room.words) {
            gpu.fetch((column, memory), m, to);
        }
        for ((column, memory), to) in from.coordinates.iter().zip(of_coordinates).zip(&room.coordinates) {
            gpu.fetch((column, memory), RECORD * m, to);
        }
        for ((column, memory), to) in from.motions.iter().zip(of_motions).zip(&room.motions).take(motions) {
            gpu.fetch((column, memory), RECORD * m, to);
        }
        side.incoming = Some(PackedGhosts {
            packed: room.clone(),
            kinds: theirs.kinds.clone(),
            gpu,
        });
        Ok(true)
    }

    fn outgoing_ghosts(&self, side: usize) -> PackedGhosts<C, R> {
        let side = &self.border().sides[side];
        PackedGhosts {
            packed: side.outgoing.clone(),
            kinds: side.outgoing_kinds.clone(),
            gpu: self.gpu.clone(),
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GhostExchange for GpuFluid<C, R> {
    fn hand_ghosts(&self, side: usize) -> HaloMessage {
        Box::new(self.outgoing_ghosts(side))
    }

    fn copy_ghosts(&mut self, side: usize, theirs: HaloMessage) -> Result<HaloMessage, HaltReason> {
        let theirs = theirs.downcast::<PackedGhosts<C, R>>().map_err(|_| HaltReason::from(DecodeError))?;
        let own = self.outgoing_ghosts(side);
        if self.fetch_ghosts(side, &theirs)? {
            // The other one does the same.
            return Ok(Box::new(own));
        }
        let motions = self.columns().motions.len();
        let there = own.copied(motions, &theirs.gpu)?;
        let here = theirs.copied(motions, &own.gpu)?;
        self.border_mut().sides[side].incoming = Some(here);
        Ok(Box::new(there))
    }

    fn receive_ghosts(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        let copied = copied.downcast::<PackedGhosts<C, R>>().map_err(|_| HaltReason::from(DecodeError))?;
        if !self.fetch_ghosts(side, &copied)? {
            self.border_mut().sides[side].incoming = Some(*copied);
        }
        Ok(())
    }

    fn ghost_bytes(&self) -> u64 {
        let columns = self.columns();
        let records = columns.coordinates.len() * size_of::<C>() + columns.motions.len() * size_of::<R>();
        let each = columns.words.len() * size_of::<u32>() + RECORD * records;
        let ghosts: usize = self.border().sides.iter().map(|side| side.outgoing_kinds.len()).sum();
        (ghosts * each) as u64
    }
}
