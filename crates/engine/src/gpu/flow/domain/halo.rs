//! Halo of the fluids in a subdomain.

use super::super::GpuFluid;
use super::MigrationBuffer;
use super::ghosts::PackedGhosts;
use crate::exchange::enclose;
use crate::flow::Flow;
use crate::gpu::Number;
use crate::gpu::halo_exchange::{HaloSource, PackedHalo};
use crate::gpu::joint_halo::{HaloPair, JointColumn};
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::step_halo::StepHalo;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Rows, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::HALTED;
use seixo_sweeps::kernels::domain::{follow, show};
use seixo_sweeps::kernels::short_rows::watch_ghosts;
use seixo_sweeps::layout::RECORD;
use std::sync::Arc;

/// Fluid shared with one other subdomain.
pub(super) struct HaloSide<C, R> {
    /// Indices of the owned fluid particles that are ghosts there, and their number.
    pub own: Buffer<u32>,
    pub shown: usize,
    /// Indices of the ghosts of its fluid, and their number.
    pub ghosts: Buffer<u32>,
    pub followed_ghosts: usize,
    /// Records of owned fluid, position with volume, and velocity with pressure, and what comes in return.
    pub halo: StepHalo<C, R>,
    /// Packed records of a column that is sent within a step, in two turns.
    pub columns: [Arc<Buffer<R>>; 2],
    /// Such a column, and what comes in return, if the halo is joint.
    pub joint_column: Option<JointColumn<R>>,
    /// All its ghosts here, fluid and walls, as they were packed at the last rebuild for another GPU, and their number.
    pub outgoing: Arc<MigrationBuffer<C, R>>,
    pub packed: usize,
    /// Ghosts that came from the other GPU, until they are unpacked, and room for them.
    pub incoming: Option<PackedGhosts<C, R>>,
    pub room_for_incoming: Arc<MigrationBuffer<C, R>>,
}

impl<C: Number, R: Number> HaloSide<C, R> {
    /// A side with these owned particles and these ghosts, by their indices.
    pub fn new(gpu: &Gpu, own: &[u32], copies: &[u32]) -> Result<HaloSide<C, R>, GpuError> {
        let mut side = HaloSide {
            own: gpu.buffer(RECORD, "domains")?,
            shown: 0,
            ghosts: gpu.buffer(RECORD, "domains")?,
            followed_ghosts: 0,
            halo: StepHalo::new(gpu, RECORD)?,
            columns: two_columns(gpu, 1)?,
            joint_column: None,
            outgoing: Arc::new(MigrationBuffer::new(gpu)?),
            packed: 0,
            incoming: None,
            room_for_incoming: Arc::new(MigrationBuffer::new(gpu)?),
        };
        side.show(gpu, own)?;
        side.follow(gpu, copies)?;
        Ok(side)
    }

    /// From now on these owned fluid particles are sent to the other subdomain.
    pub fn show(&mut self, gpu: &Gpu, own: &[u32]) -> Result<(), GpuError> {
        make_room(gpu, &mut self.own, own.len(), "domains")?;
        gpu.write_part(&self.own, 0, own);
        self.shown = own.len();
        Ok(())
    }

    /// From now on these ghosts are updated with its fluid.
    pub fn follow(&mut self, gpu: &Gpu, copies: &[u32]) -> Result<(), GpuError> {
        make_room(gpu, &mut self.ghosts, copies.len(), "domains")?;
        gpu.write_part(&self.ghosts, 0, copies);
        self.followed_ghosts = copies.len();
        Ok(())
    }

    /// Makes room for halos and columns until the next rebuild of the lists. With a pair, its two GPUs exchange them by themselves.
    fn make_room(&mut self, gpu: &Gpu, pair: Option<HaloPair>) -> Result<(), GpuError> {
        let (before, counts) = (self.joint_column.take(), [self.shown, self.followed_ghosts]);
        self.halo.make_room(gpu, pair.clone(), counts, (&[], RECORD))?;
        if let Some(pair) = pair {
            if before.is_none() {
                // No column is copied any more.
                self.columns = two_columns(gpu, 1)?;
            }
            self.joint_column = Some(JointColumn::new(gpu, before, pair, counts)?);
        } else if self.columns[0].len() < RECORD * self.shown {
            self.columns = two_columns(gpu, self.shown + self.shown / 4)?;
        }
        Ok(())
    }
}

/// Room for two columns of this many records.
fn two_columns<R: Number>(gpu: &Gpu, records: usize) -> Result<[Arc<Buffer<R>>; 2], GpuError> {
    let column = || gpu.buffer(RECORD * records, "domains").map(Arc::new);
    Ok([column()?, column()?])
}

/// Downloads of the fluid that is ghosts in another subdomain, in progress: positions, and velocities with pressures.
pub(in crate::gpu::flow) type HaloReadback<C, R> = (Ticket<C>, Ticket<R>);

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Whether the steps that are queued exchanged their halos, so that the host need not.
    pub(in crate::gpu::flow) fn has_exchanged_halos(&self) -> bool {
        self.border.as_ref().is_some_and(|border| border.queued_parity.is_some())
    }

    /// The next steps that are queued have exchanged no halos yet.
    pub(in crate::gpu::flow) fn forget_exchanged_halos(&mut self) {
        self.border.iter_mut().for_each(|border| border.queued_parity = None);
    }

    /// Parity of the step whose halo is exchanged. Where the host waits for every step, this is the only one of its batch.
    fn parity_of_halo(&self) -> u32 {
        self.border().queued_parity.unwrap_or(0)
    }

    /// Packs the fluid that is ghosts elsewhere, and the flag whether this subdomain halts. Halos that are not packed are read when they are sent.
    pub(super) fn show(&self) {
        let now = self.now;
        let sides = self.border.as_ref().map_or(&[][..], |border| &border.sides);
        for side in sides.iter().filter(|side| !side.halo.is_straight()) {
            let (count, dim) = units(side.shown.max(1));
            let packed = side.halo.packed(now);
            // Fluid has no angular velocity: in place of it, these records are not read.
            show::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                side.own.argument(),
                self.position[now].records(),
                self.flowing[now].records(),
                self.seen.records(),
                self.flags.argument(),
                packed.coordinates.records(),
                packed.motions.records(),
                packed.halts.argument(),
                side.shown as u32,
                self.parity_of_halo(),
                false,
            );
        }
    }

    /// Prepares a step for the ghosts of fluid, which the halo has moved: computes their compact positions. If its rows are `short`, notes whether
    /// ghosts have left these out of date.
    pub(in crate::gpu::flow) fn watch_ghosts(&self, host: &Flow, parity: u32, short: bool) {
        let now = self.now;
        let sides = self.border.as_ref().map_or(&[][..], |border| &border.sides);
        for side in sides.iter().filter(|side| side.followed_ghosts > 0) {
            let (count, dim) = units(side.followed_ghosts);
            watch_ghosts::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                side.ghosts.argument(),
                self.position[now].records(),
                self.short.selected_at.records(),
                self.flags.argument(),
                self.compact.records[now].records(),
                self.short.outdated.argument(),
                self.compact.scale::<C, R>(),
                Self::stray_square(host),
                now as u32,
                side.followed_ghosts as u32,
                parity,
                self.compact.are_used,
                short,
            );
        }
    }

    /// The columns of a halo at these m places, and the flag whether the next step halts.
    fn rows_at<'a>(&'a self, places: &'a Buffer<u32>, m: usize) -> Rows<'a, C, R> {
        Rows {
            places,
            m,
            first: &self.position[self.now],
            second: &self.flowing[self.now],
            // Not read, as in `show`.
            third: &self.seen,
            has_third: false,
            flags: &self.flags,
            flag: (1 - self.parity_of_halo()) as usize + HALTED,
        }
    }

    /// As [`super::FluidDomainBackend::join_halos`].
    pub(super) fn join_sides(&mut self, pairs: Vec<Option<HaloPair>>) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let mut sides = self.border_mut().sides.iter_mut().zip(pairs);
        sides.try_for_each(|(side, pair)| side.make_room(&gpu, pair))
    }

    /// Packs the fluid that is ghosts elsewhere, and requests its download if it is sent by messages.
    pub(in crate::gpu::flow) fn request_halo(&self, copies: &mut Copies, by_messages: bool) -> Vec<HaloReadback<C, R>> {
        self.show();
        let sides = self.border.as_ref().map_or(&[][..], |border| &border.sides);
        let readback = |side: &HaloSide<C, R>| {
            let packed = side.halo.packed(self.now);
            let places = copies.add(&packed.coordinates, 0..RECORD * side.shown);
            (places, copies.add(&packed.motions, 0..RECORD * side.shown))
        };
        sides.iter().filter(|_| by_messages).map(readback).collect()
    }

    /// The messages of the halo, once it has arrived.
    pub(in crate::gpu::flow) fn halo_messages(arrived: &Arrived, halo: Vec<HaloReadback<C, R>>) -> Vec<Vec<u8>> {
        let message = |(places, flows): HaloReadback<C, R>| {
            let mut message = Vec::new();
            enclose(&mut message, &arrived.take(places));
            enclose(&mut message, &arrived.take(flows));
            message
        };
        halo.into_iter().map(message).collect()
    }
}

impl<C: Number + Coordinate<R>, R: Number> HaloSource for GpuFluid<C, R> {
    type Coordinate = C;
    type Real = R;

    fn gpu_of_domain(&self) -> &Gpu {
        &self.gpu
    }

    fn widths_of_columns(&self) -> Vec<usize> {
        Vec::new()
    }

    fn numbers_of_motion(&self) -> usize {
        RECORD
    }

    fn neighbor_count(&self) -> usize {
        self.border.as_ref().map_or(0, |border| border.sides.len())
    }

    fn halo(&self, side: usize) -> &StepHalo<C, R> {
        &self.border().sides[side].halo
    }

    fn packed_last(&self) -> usize {
        self.now
    }

    fn shown(&self, side: usize) -> usize {
        self.border().sides[side].shown
    }

    fn followed(&self, side: usize) -> usize {
        self.border().sides[side].followed_ghosts
    }

    fn shown_rows(&self, side: usize) -> Rows<'_, C, R> {
        let side = &self.border().sides[side];
        self.rows_at(&side.own, side.shown)
    }

    fn followed_rows(&self, side: usize) -> Rows<'_, C, R> {
        let side = &self.border().sides[side];
        self.rows_at(&side.ghosts, side.followed_ghosts)
    }

    fn update_ghosts(&self, side: usize, packed: &PackedHalo<C, R>) {
        let (now, side) = (self.now, &self.border().sides[side]);
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
            self.position[now].records(),
            self.flowing[now].records(),
            self.seen.records(),
            self.flags.argument(),
            side.followed_ghosts as u32,
            self.parity_of_halo(),
            false,
        );
    }
}
