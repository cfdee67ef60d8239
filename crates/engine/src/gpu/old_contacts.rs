//! Contacts before a rebuild of the neighbor lists, whose histories the new rows get.
//!
//! Few pairs of a row are in contact. So their histories are packed before new rows are written over the old: this takes less memory than a second set
//! of rows, and less is read. Most of them are packed into buffers that only steps need.

use super::neighbor_lists::make_room;
use super::{Number, Rows};
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, Workspace, units};
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::old_contacts;
use seixo_sweeps::layout::RECORD;
use std::mem::swap;

/// Buffers whose contents no one needs while lists are rebuilt. All have the same length.
#[derive(Clone, Copy)]
pub(super) struct SpareBuffers<'a, R> {
    pub buffers: [&'a Buffer<R>; 4],
    /// Whether they are free at this rebuild. If not, they are only passed to kernels.
    pub are_free: bool,
}

impl<R> SpareBuffers<'_, R> {
    /// Number of contacts whose histories they have room for, one number in each buffer.
    fn room(&self, numbers: usize) -> usize {
        if self.are_free && numbers <= self.buffers.len() {
            self.buffers[0].len()
        } else {
            0
        }
    }
}

/// The contacts in the rows before a rebuild, by grain.
pub(super) struct OldContacts<R> {
    /// First entry of each tile of the old rows.
    tile_first: Buffer<u32>,
    /// First contact of each grain, and the end of the last.
    start: Buffer<u32>,
    /// Old index of the other grain of each contact.
    partner: Buffer<u32>,
    /// Histories for which the spare buffers have no room.
    rest: Buffer<R>,
    /// Number of grains that had rows.
    grains: usize,
}

impl<R: Number> OldContacts<R> {
    /// No contacts; room for n grains.
    pub(super) fn new(gpu: &Gpu, n: usize) -> Result<OldContacts<R>, GpuError> {
        Ok(OldContacts {
            tile_first: gpu.zeros(n.div_ceil(TILE) + 1, "rows of neighbors")?,
            start: gpu.zeros(n + 1, "rows of neighbors")?,
            partner: gpu.buffer(RECORD, "histories of contacts")?,
            rest: gpu.buffer(RECORD, "histories of contacts")?,
            grains: 0,
        })
    }

    /// Makes room for n grains.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        gpu.lengthen(&mut self.tile_first, n.div_ceil(TILE) + 1, "rows of neighbors")?;
        gpu.lengthen(&mut self.start, n + 1, "rows of neighbors")
    }

    /// Queues the count of the contacts in rows, which can then be counted again; their entries must stay until the contacts are packed. `room` has one
    /// word per grain, whose contents are lost.
    pub(super) fn count(
        &mut self,
        gpu: &Gpu,
        rows: &mut Rows<R>,
        (workspace, room): (&mut Workspace, &Buffer<u32>),
    ) -> Result<(), GpuError> {
        self.grains = rows.counted;
        let (count, dim) = units(self.grains);
        old_contacts::count_contacts::launch(
            gpu.client(),
            count,
            dim,
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            room.argument(),
            self.grains as u32,
        );
        workspace.exclusive_scan(gpu, room, self.grains, &self.start)?;
        swap(&mut self.tile_first, &mut rows.tile_first);
        Ok(())
    }

    /// Requests the download of the number of contacts.
    pub(super) fn request_number(&self, copies: &mut Copies) -> Ticket<u32> {
        copies.add(&self.start, self.grains..self.grains + 1)
    }

    /// Queues the packing of this many contacts, each with this many numbers, from the entries of the old rows.
    pub(super) fn pack(
        &mut self,
        gpu: &Gpu,
        rows: &Rows<R>,
        spare: SpareBuffers<'_, R>,
        (contacts, numbers): (usize, usize),
    ) -> Result<(), GpuError> {
        let in_spare = spare.room(numbers);
        let [a, b, c, d] = spare.buffers;
        make_room(gpu, &mut self.partner, contacts, "histories of contacts")?;
        make_room(
            gpu,
            &mut self.rest,
            contacts.saturating_sub(in_spare) * numbers,
            "histories of contacts",
        )?;
        let (count, dim) = units(self.grains);
        old_contacts::pack_contacts::launch::<R>(
            gpu.client(),
            count,
            dim,
            self.tile_first.argument(),
            rows.list.argument(),
            rows.history.argument(),
            self.start.argument(),
            self.partner.argument(),
            a.argument(),
            b.argument(),
            c.argument(),
            d.argument(),
            self.rest.argument(),
            in_spare as u32,
            self.grains as u32,
            numbers,
        );
        Ok(())
    }

    /// Queues the copies of the packed histories, each with this many numbers, to the new rows of n grains. `spare` is that of
    /// [`OldContacts::pack`].
    /// `order` has the old indices of grains, which are below `known` if they had a row. With ids `by_id` of the grains before, pairs are matched by
    /// these ids.
    pub(super) fn carry(
        &self,
        gpu: &Gpu,
        rows: &Rows<R>,
        spare: SpareBuffers<'_, R>,
        [order, id]: [&Buffer<u32>; 2],
        by_id: Option<&Buffer<u32>>,
        (known, n, numbers): (u32, usize, usize),
    ) {
        let in_spare = spare.room(numbers);
        let [a, b, c, d] = spare.buffers;
        let (count, dim) = units(n);
        old_contacts::carry_histories::launch::<R>(
            gpu.client(),
            count,
            dim,
            rows.count.argument(),
            rows.tile_first.argument(),
            rows.list.argument(),
            rows.history.argument(),
            order.argument(),
            self.start.argument(),
            self.partner.argument(),
            a.argument(),
            b.argument(),
            c.argument(),
            d.argument(),
            self.rest.argument(),
            in_spare as u32,
            id.argument(),
            // Not read without ids.
            by_id.unwrap_or(&self.tile_first).argument(),
            known.min(self.grains as u32),
            n as u32,
            numbers,
            by_id.is_some(),
        );
    }

    /// A buffer that kernels do not read: a placeholder argument in a step, when no contacts are packed.
    pub(super) fn placeholder(&self) -> &Buffer<R> {
        &self.rest
    }
}
