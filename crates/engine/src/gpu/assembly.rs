//! Force assembly in several launches, for comparison with the single launch of [`super::step`]; see [`seixo_sweeps::kernels::assembly`].

use super::neighbor_lists::make_room;
use super::{GpuGrains, Number};
use crate::populations::Populations;
use crate::world::ForceAssembly;
use seixo_device::gpu::{Bins, Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::assembly::{assemble, compute_ends, compute_pairs, count_contacts, identify_contacts};
use seixo_sweeps::layout::RECORD;

/// The contacts of a step. Only the GPU has their number: there is room for as many as the lists allow.
pub(super) struct Contacts<C, R> {
    /// Number of contacts that each grain counts, and the index of the first of them.
    count: Buffer<u32>,
    first: Buffer<u32>,
    /// Grain in whose row a contact is, and the entry.
    grain: Buffer<u32>,
    entry: Buffer<u32>,
    /// Force and torque of each contact on its grains, one record each.
    force: Buffer<R>,
    torque: Buffer<R>,
    /// Power of the contacts, one sum for each block.
    pub(super) power: Buffer<C>,
    /// Maximum number of contacts according to the lists.
    pub(super) room: usize,
    /// Present if every contact is computed once.
    by_grain: Option<ByGrain>,
}

/// Order of the contact forces by grain: two items for every contact.
struct ByGrain {
    key: Buffer<u32>,
    order: Buffer<u32>,
    first: Buffer<u32>,
    bins: Bins,
}

impl ByGrain {
    /// Room for this many items of n grains.
    fn new(gpu: &Gpu, n: usize, items: usize) -> Result<ByGrain, GpuError> {
        Ok(ByGrain {
            key: gpu.buffer(items, "the order of contacts")?,
            order: gpu.buffer(items, "the order of contacts")?,
            // One key for every grain, and one for every item without a grain.
            first: gpu.buffer(n + items + 1, "the order of contacts")?,
            bins: Bins::new(gpu, items, n + items)?,
        })
    }
}

impl<C: Number, R: Number> Contacts<C, R> {
    /// For n grains without lists yet. `None` if forces are computed in one launch.
    pub(super) fn new(gpu: &Gpu, n: usize, assembly: ForceAssembly) -> Result<Option<Contacts<C, R>>, GpuError> {
        let by_grain = match assembly {
            ForceAssembly::Fused => return Ok(None),
            ForceAssembly::ContactList => None,
            ForceAssembly::SortedContacts => Some(ByGrain::new(gpu, n, RECORD)?),
        };
        Ok(Some(Contacts {
            count: gpu.buffer(n, "contacts")?,
            first: gpu.buffer(n + 1, "contacts")?,
            grain: gpu.buffer(RECORD, "contacts")?,
            entry: gpu.buffer(RECORD, "contacts")?,
            force: gpu.buffer(RECORD, "forces of contacts")?,
            torque: gpu.buffer(RECORD, "torques of contacts")?,
            power: gpu.zeros(2 * RECORD, "the ledger")?,
            room: 0,
            by_grain,
        }))
    }

    /// Makes room for the contacts of n grains whose lists have this many entries.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, n: usize, entries: usize, frictional: bool) -> Result<(), GpuError> {
        self.room = if self.by_grain.is_some() { entries / 2 } else { entries };
        make_room(gpu, &mut self.grain, self.room, "contacts")?;
        make_room(gpu, &mut self.entry, self.room, "contacts")?;
        // One record for each of the two grains, with either method.
        make_room(gpu, &mut self.force, RECORD * entries, "forces of contacts")?;
        if frictional {
            make_room(gpu, &mut self.torque, RECORD * entries, "torques of contacts")?;
        }
        if let Some(sorted) = &mut self.by_grain
            && sorted.order.len() < entries
        {
            *sorted = ByGrain::new(gpu, n, entries + entries / 4)?;
        }
        let cubes = self.room.div_ceil(THREADS).max(1);
        if self.power.len() < 2 * RECORD * cubes {
            // The present sums are kept.
            let mut ledger = gpu.download(&self.power)?;
            ledger.resize(2 * RECORD * (cubes + cubes / 4), C::of(0.0));
            self.power = gpu.upload(&ledger, "the ledger")?;
        }
        Ok(())
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Computes the forces on all grains, those of walls included, and writes them to the buffers of forces and torques. Does nothing if forces are
    /// up to date, or are computed in one launch with the motion.
    ///
    /// Scan and sort do not check for a halt; after a halt their results are not read.
    pub(super) fn assemble_forces(&self, host: &Populations, parity: u32) -> Result<(), GpuError> {
        let Some(contacts) = self.contacts.as_ref().filter(|_| !self.forces_known) else {
            return Ok(());
        };
        self.count_contacts(contacts, parity);
        self.gpu.exclusive_scan(&contacts.count, self.n, &contacts.first)?;
        self.identify_contacts(contacts, parity);
        if let Some(ByGrain { key, order, first, bins }) = &contacts.by_grain {
            self.compute_pairs(contacts, key, host, parity);
            let items = 2 * contacts.room;
            bins.fill(&self.gpu, key, items, self.n + items, order, first);
            self.add_up(contacts, first, Some(order), parity);
        } else {
            self.compute_ends(contacts, host, parity);
            self.add_up(contacts, &contacts.first, None, parity);
        }
        Ok(())
    }

    /// Counts the contacts of every grain.
    fn count_contacts(&self, contacts: &Contacts<C, R>, parity: u32) {
        let (count, dim) = units(self.n);
        count_contacts::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.rows.history.argument(),
            self.position[self.now].records(),
            self.flags.argument(),
            contacts.count.argument(),
            self.n as u32,
            parity,
            self.kind.frictional,
            self.kind.numbers,
            contacts.by_grain.is_some(),
        );
    }

    /// Finds grain and entry of every contact.
    fn identify_contacts(&self, contacts: &Contacts<C, R>, parity: u32) {
        let (count, dim) = units(contacts.room);
        identify_contacts::launch(
            self.gpu.client(),
            count,
            dim,
            contacts.first.argument(),
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            contacts.grain.argument(),
            contacts.entry.argument(),
            self.flags.argument(),
            self.n as u32,
            parity,
            contacts.by_grain.is_some(),
        );
    }

    /// Computes the force of every contact on the grain in whose row it is.
    fn compute_ends(&self, contacts: &Contacts<C, R>, host: &Populations, parity: u32) {
        let (count, dim) = units(contacts.room);
        compute_ends::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            contacts.first.argument(),
            contacts.grain.argument(),
            contacts.entry.argument(),
            self.rows.list.argument(),
            self.rows.history.argument(),
            self.material.argument(),
            self.table.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            contacts.force.records(),
            contacts.torque.records(),
            self.flags.argument(),
            contacts.power.records(),
            R::of(host.context.stepping.dt),
            R::of(host.context.settings.overlap_limit),
            self.n as u32,
            host.context.materials.count,
            parity,
            self.kind,
        );
    }

    /// Computes the forces of every contact on both of its grains, whose indices go to `key`.
    fn compute_pairs(&self, contacts: &Contacts<C, R>, key: &Buffer<u32>, host: &Populations, parity: u32) {
        let (count, dim) = units(contacts.room);
        compute_pairs::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            contacts.first.argument(),
            contacts.grain.argument(),
            contacts.entry.argument(),
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.rows.history.argument(),
            self.material.argument(),
            self.table.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            key.argument(),
            contacts.force.records(),
            contacts.torque.records(),
            self.flags.argument(),
            contacts.power.records(),
            R::of(host.context.stepping.dt),
            R::of(host.context.settings.overlap_limit),
            contacts.room as u32,
            self.n as u32,
            host.context.materials.count,
            parity,
            self.kind,
        );
    }

    /// Sums the forces of all contacts of every grain: its items follow each other from `first` on, directly or through `order`.
    fn add_up(&self, contacts: &Contacts<C, R>, first: &Buffer<u32>, order: Option<&Buffer<u32>>, parity: u32) {
        let (count, dim) = units(self.n);
        let near_walls = self.walls.as_ref().filter(|near| near.entries > 0);
        assemble::launch::<R>(
            self.gpu.client(),
            count,
            dim,
            first.argument(),
            order.unwrap_or(&contacts.entry).argument(),
            contacts.force.records(),
            contacts.torque.records(),
            near_walls.map_or(&self.no_rows, |near| &near.row).argument(),
            self.force.records(),
            self.torque.records(),
            self.flags.argument(),
            self.n as u32,
            parity,
            self.kind.frictional,
            order.is_some(),
            near_walls.is_some(),
        );
    }
}
