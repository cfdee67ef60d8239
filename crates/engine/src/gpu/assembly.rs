//! Forces put together in several launches, to be compared with the one of [`super::step`]; see [`seixo_sweeps::kernels::assembly`].

use super::lists::make_room;
use super::{Number, OnGpu};
use crate::simulation::Simulation;
use crate::world::Assembly;
use seixo_device::gpu::{Bins, Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::UNITS;
use seixo_sweeps::kernels::assembly::{assemble, compute_ends, compute_pairs, count_contacts, identify_contacts};
use seixo_sweeps::views::RECORD;

/// The contacts of a step. How many there are, only the GPU knows: there is room for as many as the lists allow.
pub(super) struct Contacts<C, R> {
    /// How many every grain counts, and the number of its first.
    count: Buffer<u32>,
    first: Buffer<u32>,
    /// In whose row a contact stands, and where.
    grain: Buffer<u32>,
    entry: Buffer<u32>,
    /// What grains get of contacts, a record for each.
    force: Buffer<R>,
    torque: Buffer<R>,
    /// What contacts take, booked by cube.
    pub(super) power: Buffer<C>,
    /// Contacts that the lists allow.
    pub(super) room: usize,
    /// Where every contact is computed once.
    by_grain: Option<ByGrain>,
}

/// The order of grains of what they get: two items for every contact.
struct ByGrain {
    key: Buffer<u32>,
    order: Buffer<u32>,
    first: Buffer<u32>,
    bins: Bins,
}

impl ByGrain {
    /// Room for so many items of n grains.
    fn new(gpu: &Gpu, n: usize, items: usize) -> Result<ByGrain, GpuError> {
        Ok(ByGrain {
            key: gpu.buffer(items, "the order of contacts")?,
            order: gpu.buffer(items, "the order of contacts")?,
            // A key for every grain, and one for every item that has none.
            first: gpu.buffer(n + items + 1, "the order of contacts")?,
            bins: Bins::new(gpu, items, n + items)?,
        })
    }
}

impl<C: Number, R: Number> Contacts<C, R> {
    /// For n grains without lists yet; nothing where forces are found in one launch.
    pub(super) fn new(gpu: &Gpu, n: usize, assembly: Assembly) -> Result<Option<Contacts<C, R>>, GpuError> {
        let by_grain = match assembly {
            Assembly::Fused => return Ok(None),
            Assembly::ContactList => None,
            Assembly::SortedContacts => Some(ByGrain::new(gpu, n, RECORD)?),
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

    /// Makes sure that there is room for the contacts of n grains whose lists have so many entries.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, n: usize, entries: usize, frictional: bool) -> Result<(), GpuError> {
        self.room = if self.by_grain.is_some() { entries / 2 } else { entries };
        make_room(gpu, &mut self.grain, self.room, "contacts")?;
        make_room(gpu, &mut self.entry, self.room, "contacts")?;
        // A record for each of two grains, whichever way they are computed.
        make_room(gpu, &mut self.force, RECORD * entries, "forces of contacts")?;
        if frictional {
            make_room(gpu, &mut self.torque, RECORD * entries, "torques of contacts")?;
        }
        if let Some(sorted) = &mut self.by_grain
            && sorted.order.len() < entries
        {
            *sorted = ByGrain::new(gpu, n, entries + entries / 4)?;
        }
        let cubes = self.room.div_ceil(UNITS).max(1);
        if self.power.len() < 2 * RECORD * cubes {
            // What is booked already stays.
            let mut booked = gpu.download(&self.power)?;
            booked.resize(2 * RECORD * (cubes + cubes / 4), C::of(0.0));
            self.power = gpu.upload(&booked, "the ledger")?;
        }
        Ok(())
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Forces on all grains where they are, those of walls included, into the buffers of forces and torques; nothing where they are known,
    /// or found in one launch with the motion.
    ///
    /// Scan and sort do not see a halt; what they make then, nobody reads.
    pub(super) fn assemble_forces(&self, host: &Simulation, parity: u32) -> Result<(), GpuError> {
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

    /// How many contacts every grain has.
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

    /// Which contact is whose.
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

    /// What every contact does to the grain in whose row it stands.
    fn compute_ends(&self, contacts: &Contacts<C, R>, host: &Simulation, parity: u32) {
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
            R::of(host.stepping.dt),
            R::of(host.settings.overlap_limit),
            self.n as u32,
            host.materials,
            parity,
            self.kind,
        );
    }

    /// What every contact does to both of its grains; `key` says to whom.
    fn compute_pairs(&self, contacts: &Contacts<C, R>, key: &Buffer<u32>, host: &Simulation, parity: u32) {
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
            R::of(host.stepping.dt),
            R::of(host.settings.overlap_limit),
            contacts.room as u32,
            self.n as u32,
            host.materials,
            parity,
            self.kind,
        );
    }

    /// What all its contacts do to every grain: its items follow each other from `first` on, or in `order`.
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
