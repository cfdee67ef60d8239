//! Halo of a subdomain: the exchange of grain positions at every step.

use super::ghosts::PackedGhosts;
use super::migration::{enclose_all, unfold_all, widths_of, with_reserve};
use super::packing::PackedGrains;
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::halo_exchange::{HaloSource, PackedHalo};
use crate::gpu::step_halo::StepHalo;
use crate::gpu::{GpuGrains, Number};
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Rows, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::kernels::HALTED;
use seixo_sweeps::kernels::domain::{follow, rename_both, show};
use seixo_sweeps::layout::RECORD;
use std::sync::Arc;

/// Grains shared with one other subdomain.
pub(super) struct HaloSide<C, R> {
    /// Indices of the owned grains that are ghosts there, and their number: on the GPU only at a rebuild of the lists.
    pub own: Buffer<u32>,
    pub kept: Buffer<u32>,
    pub shown: usize,
    /// Number of such grains for which the next rebuild has room at first.
    pub room: usize,
    /// The first of these grains as they were packed at the last rebuild, their number, and messages with all others, which came after these were selected.
    pub outgoing: Arc<PackedGrains<C, R>>,
    pub packed: usize,
    pub newcomers: Vec<Vec<u8>>,
    /// A box that contains the centers of all of these grains \[m\].
    pub outgoing_box: Bounds,
    /// Ghosts that came from the other GPU, until they are unpacked, and room for them.
    pub incoming: Option<PackedGhosts<C, R>>,
    pub room_for_incoming: Arc<PackedGrains<C, R>>,
    /// Indices of the ghosts of its grains, and their number.
    pub ghosts: Buffer<u32>,
    pub followed_ghosts: usize,
    /// Positions, motion and [changing columns](GpuGrains::changing) of the owned grains, and what comes in return.
    pub halo: StepHalo<C, R>,
}

/// Downloads of the grains that are ghosts in another subdomain, in progress.
pub(in crate::gpu) struct HaloReadback<C, R> {
    coordinates: Ticket<C>,
    motions: Ticket<R>,
    belongings: Vec<Ticket<C>>,
}

impl<C: Number, R: Number> HaloSide<C, R> {
    pub fn new(gpu: &Gpu) -> Result<HaloSide<C, R>, GpuError> {
        Ok(HaloSide {
            own: gpu.buffer(RECORD, "domains")?,
            kept: gpu.buffer(1, "domains")?,
            shown: 0,
            room: with_reserve(0),
            outgoing: Arc::new(PackedGrains::new(gpu)?),
            packed: 0,
            newcomers: Vec::new(),
            outgoing_box: Bounds::NOTHING,
            incoming: None,
            room_for_incoming: Arc::new(PackedGrains::new(gpu)?),
            ghosts: gpu.buffer(RECORD, "domains")?,
            followed_ghosts: 0,
            halo: StepHalo::new(gpu, 2 * RECORD)?,
        })
    }

    /// Takes note that m of n grains are ghosts there. Returns whether all of them were packed.
    pub fn keep_found(&mut self, m: usize, n: usize) -> bool {
        let are_packed = m <= self.room.min(n);
        self.room = with_reserve(m);
        if are_packed {
            (self.shown, self.packed) = (m, m);
        }
        are_packed
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Packs positions, motion and changing columns of the owned grains that are ghosts elsewhere, after the step that was queued `ahead` steps after the
    /// host's clock, and the flag whether this subdomain halts then. Halos that are not packed are read when they are sent.
    pub(in crate::gpu) fn show(&mut self, ahead: u32) {
        let parity = ahead & 1;
        self.border.iter_mut().for_each(|border| border.parity = parity);
        for side in self.sides().iter().filter(|side| !side.halo.is_straight()) {
            let (count, dim) = units(side.shown.max(1));
            let packed = side.halo.packed(self.now);
            show::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                side.own.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                self.flags.argument(),
                packed.coordinates.records(),
                packed.motions.records(),
                packed.halts.argument(),
                side.shown as u32,
                parity,
                self.kind.frictional,
            );
            if side.shown > 0 {
                for ((column, width), packed) in self.changing().into_iter().zip(&packed.columns) {
                    self.gpu.gather(column, &side.own, side.shown, width, packed);
                }
            }
        }
    }

    /// Updates the ghosts from the positions in these messages.
    pub(super) fn receive_ghost_positions(&self, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        let (numbers, widths) = (self.numbers_of_motion(), widths_of(&self.changing()));
        let border = self.border.as_ref().expect("a domain has a border");
        for (k, (side, message)) in border.sides.iter().zip(messages).enumerate() {
            let mut message = &message[..];
            let coordinates: Vec<C> = unfold(&mut message)?;
            let motions: Vec<R> = unfold(&mut message)?;
            let belongings: Vec<Vec<C>> = unfold_all(&mut message, side.followed_ghosts, &widths)?;
            if coordinates.len() != RECORD * side.followed_ghosts || motions.len() != numbers * side.followed_ghosts {
                return Err(DecodeError.into());
            }
            if side.followed_ghosts == 0 {
                continue;
            }
            self.gpu.write_part(&side.halo.reported.coordinates, 0, &coordinates);
            self.gpu.write_part(&side.halo.reported.motions, 0, &motions);
            for (column, numbers) in side.halo.reported.columns.iter().zip(&belongings) {
                self.gpu.write_part(column, 0, numbers);
            }
            self.update_ghosts(k, &side.halo.reported);
        }
        Ok(())
    }

    /// Requests the download of the packed halo, if it is sent by messages.
    pub(in crate::gpu) fn request_halo(&self, copies: &mut Copies, by_messages: bool) -> Vec<HaloReadback<C, R>> {
        let (numbers, widths) = (self.numbers_of_motion(), widths_of(&self.changing()));
        let sides = self.sides().iter().filter(|_| by_messages);
        let readback = |side: &HaloSide<C, R>| {
            let packed = side.halo.packed(self.now);
            let columns = packed.columns.iter().zip(&widths);
            HaloReadback {
                coordinates: copies.add(&packed.coordinates, 0..RECORD * side.shown),
                motions: copies.add(&packed.motions, 0..numbers * side.shown),
                belongings: columns.map(|(column, width)| copies.add(column, 0..width * side.shown)).collect(),
            }
        };
        sides.map(readback).collect()
    }

    /// The messages of the halo, once it has arrived.
    pub(in crate::gpu) fn halo_messages(arrived: &Arrived, halo: Vec<HaloReadback<C, R>>) -> Vec<Vec<u8>> {
        let message = |side: HaloReadback<C, R>| {
            let mut message = Vec::new();
            enclose(&mut message, &arrived.take(side.coordinates));
            enclose(&mut message, &arrived.take(side.motions));
            enclose_all(&mut message, arrived, side.belongings);
            message
        };
        halo.into_iter().map(message).collect()
    }

    fn sides(&self) -> &[HaloSide<C, R>] {
        self.border.as_ref().map_or(&[], |border| &border.sides)
    }

    fn side(&self, side: usize) -> &HaloSide<C, R> {
        &self.border.as_ref().expect("a domain has a border").sides[side]
    }

    /// The columns of a halo at these m places, and the flag whether the next step halts.
    fn rows_at<'a>(&'a self, places: &'a Buffer<u32>, m: usize) -> Rows<'a, C, R> {
        let border = self.border.as_ref().expect("a domain has a border");
        Rows {
            places,
            m,
            first: &self.position[self.now],
            second: &self.velocity[self.now],
            third: &self.spin[self.now],
            has_third: self.kind.frictional,
            flags: &self.flags,
            flag: (1 - border.parity) as usize + HALTED,
        }
    }

    /// Replaces the indices before the sort by the current ones.
    pub(super) fn rename_shared(&self) {
        let border = self.border.as_ref().expect("a domain has a border");
        for side in &border.sides {
            let (shown, followed) = (side.shown, side.followed_ghosts);
            if shown.max(followed) == 0 {
                continue;
            }
            let (count, dim) = units(shown.max(followed));
            rename_both::launch(
                self.gpu.client(),
                count,
                dim,
                side.own.argument(),
                side.ghosts.argument(),
                border.place_of.argument(),
                shown as u32,
                followed as u32,
            );
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> HaloSource for GpuGrains<C, R> {
    type Coordinate = C;
    type Real = R;

    fn gpu_of_domain(&self) -> &Gpu {
        &self.gpu
    }

    fn widths_of_columns(&self) -> Vec<usize> {
        widths_of(&self.changing())
    }

    fn numbers_of_motion(&self) -> usize {
        if self.kind.frictional { 2 * RECORD } else { RECORD }
    }

    fn neighbor_count(&self) -> usize {
        self.sides().len()
    }

    fn halo(&self, side: usize) -> &StepHalo<C, R> {
        &self.side(side).halo
    }

    fn packed_last(&self) -> usize {
        self.now
    }

    fn shown(&self, side: usize) -> usize {
        self.side(side).shown
    }

    fn followed(&self, side: usize) -> usize {
        self.side(side).followed_ghosts
    }

    fn shown_rows(&self, side: usize) -> Rows<'_, C, R> {
        let side = self.side(side);
        self.rows_at(&side.own, side.shown)
    }

    fn followed_rows(&self, side: usize) -> Rows<'_, C, R> {
        let side = self.side(side);
        self.rows_at(&side.ghosts, side.followed_ghosts)
    }

    fn update_ghosts(&self, side: usize, packed: &PackedHalo<C, R>) {
        let border = self.border.as_ref().expect("a domain has a border");
        let side = &border.sides[side];
        // Also without ghosts, as the other subdomain may halt.
        let (count, dim) = units(side.followed_ghosts.max(1));
        follow::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            side.ghosts.argument(),
            packed.coordinates.records(),
            packed.motions.records(),
            packed.halts.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.flags.argument(),
            side.followed_ghosts as u32,
            border.parity,
            self.kind.frictional,
        );
        for ((column, width), packed) in self.changing().into_iter().zip(&packed.columns) {
            self.gpu.scatter(packed, &side.ghosts, side.followed_ghosts, width, column);
        }
    }
}
