//! Rebuild of cells and neighbor lists on the GPU: the same cells, order and rows as on the host.

use super::bonds::GpuBonds;
use super::step::is_skin_used_up;
use super::tables::{Index, RowSearch};
use super::{Cells, DomainBackend, GpuGrains, Number, Rows, WallRows, done_by_sides, numbers, stepping};
use crate::broad_phase::{GRAINS, WALLS};
use crate::populations::Populations;
use crate::search::{self, ListCounts};
use crate::world::LeavingPolicy;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Order, Word, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::cells::{GRID, SHAPE};
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::domain::{REMOVED_KEYS, key_removed_last};
use seixo_sweeps::kernels::{THREADS, neighbor_lists};
use seixo_sweeps::layout::{ELEMENT, RECORD, WALL, WALL_CONTACT};
use seixo_sweeps::periodic::OPEN;
use seixo_sweeps::wall_pose::POSE;
use std::mem::swap;
use std::sync::Arc;

/// Corners of an infinite box.
pub(super) const UNBOUNDED: [[f64; 3]; 2] = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];

/// For every particle: its cell, its id, and its old index in the new order. If some particles may have been removed, also their marks.
pub(super) struct Keys<'a> {
    pub key: &'a Buffer<u32>,
    pub id: &'a Buffer<u32>,
    pub order: &'a Buffer<u32>,
    pub member: Option<&'a Buffer<u32>>,
}

/// Makes sure that a buffer has room, with a quarter more if it must grow; then its contents are lost.
pub(super) fn make_room<T: Word>(gpu: &Gpu, buffer: &mut Buffer<T>, len: usize, what: &'static str) -> Result<(), GpuError> {
    if buffer.len() < len {
        *buffer = gpu.buffer(RECORD, what)?;
        *buffer = gpu.buffer((len + len / 4).next_multiple_of(RECORD), what)?;
    }
    Ok(())
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Sorts the grains into cells and rebuilds the lists of pairs and walls. With `leaving`, grains outside the domain are removed.
    pub(super) fn rebuild_neighbor_lists(&mut self, host: &mut Populations, leaving: bool) -> Result<(), GpuError> {
        self.count_rebuild(host);
        if self.kind.sides != OPEN {
            self.wrap_grains(host)?;
        }
        if leaving {
            self.collect();
            host.ledger.work.left_domain += self.energy_outside(host)?;
            self.remove_bonds(host)?;
            self.add_bond_work(host)?;
            self.remove_leaving_scalars(host)?;
        }
        let cells = self.sort(host, leaving, false)?;
        if self.binned.is_some() {
            self.bin_grains(host, cells)?;
        } else {
            self.list_pairs(host)?;
        }
        self.list_walls(host)?;
        self.make_room_for_wall_flows()
    }

    /// Counts of the lists, which are out of date after steps that raised these flags.
    pub(super) fn counts_of_lists(&self, host: &Populations, raised: u32) -> Result<ListCounts, GpuError> {
        // Only now and then, as this waits for a download.
        let entries = if host.counts_entries() {
            self.rows.ends(&self.gpu, self.n)?
        } else {
            0
        };
        Ok(ListCounts {
            grains: self.owned_count() as f64,
            entries: entries as f64,
            is_skin_used_up: is_skin_used_up(host, raised),
        })
    }

    /// Counts a rebuild of the lists, and records its time.
    pub(super) fn count_rebuild(&mut self, host: &mut Populations) {
        host.walls.record_rebuild(host.context.time());
        self.interval = self.since_rebuild;
        self.since_rebuild = 0;
        host.grains.rebuilds += 1;
    }

    /// Wraps grains that left through periodic sides, see [`Populations::wrap_grains`].
    pub(super) fn wrap_grains(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        host.place_sides();
        host.grains.cells.sides = host.context.stepping.sides;
        let (count, dim) = units(self.n);
        neighbor_lists::wrap_grains::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.half_velocity.records(),
            self.energy.records(),
            self.member().argument(),
            stepping::<C, R>(&host.context.stepping),
            self.n as u32,
            self.has_members(),
        );
        host.ledger.work.wall += done_by_sides(&self.gpu, &self.energy, self.n)?;
        Ok(())
    }

    /// Corners of the box outside which grains are removed.
    pub(super) fn domain_of(host: &Populations, leaving: bool) -> Vec<f64> {
        match host
            .context
            .domain
            .filter(|domain| leaving && domain.leaving == LeavingPolicy::Delete)
        {
            Some(domain) => domain.open_corners().concat(),
            None => UNBOUNDED.concat(),
        }
    }

    /// Sorts the grains by cell, and returns the number of cells. With `moving`, some grains are marked as removed.
    pub(super) fn sort(&mut self, host: &mut Populations, leaving: bool, moving: bool) -> Result<usize, GpuError> {
        let n = self.n;
        let domain = Self::domain_of(host, leaving);
        let keys = Keys {
            key: &self.key,
            id: &self.id,
            order: &self.order,
            member: self.border.as_ref().filter(|_| moving).map(|border| &border.member),
        };
        let position = &self.position[self.now];
        let cells = self.cells.order(&self.gpu, &mut host.grains.cells, &domain, position, keys, n)?;
        if leaving || moving {
            self.n = self.gpu.download_part(&self.cells.first, cells..cells + 1).wait()?[0] as usize;
        }
        self.reorder();
        Ok(cells)
    }

    /// Computes the cell of every grain, numbered in rows or in blocks of cells. Grains outside the domain of the cells get the number `cells`.
    pub(super) fn find_cells(&self, host: &Populations, cells: usize, rows: bool) {
        let position = &self.position[self.now];
        self.cells
            .find(&self.gpu, host.grains.cells.grids(), position, &self.key, (self.n, cells), rows);
    }

    /// Puts every field into the new order. Each field is gathered into a buffer that is free, and that buffer becomes the field.
    fn reorder(&mut self) {
        let (n, now) = (self.n, self.now);
        let (gpu, order) = (&self.gpu, &self.order);
        gpu.gather(&self.id, order, n, 1, &self.key);
        swap(&mut self.id, &mut self.key);
        let members = match (&mut self.carriers, &mut self.border) {
            (_, Some(border)) => {
                // Ids of the grains in the old rows.
                swap(&mut border.old_id, &mut self.key);
                Some(&mut border.member)
            }
            (Some(carriers), None) => Some(&mut carriers.member),
            (None, None) => None,
        };
        let seats = self.holding.as_mut().and_then(GpuBonds::seats);
        let words = [&mut self.material, &mut self.group];
        for words in words.into_iter().chain(members).chain(seats) {
            gpu.gather(words, order, n, 1, &self.key);
            swap(words, &mut self.key);
        }
        let [of_old, of_new] = [now, now ^ 1];
        gpu.gather(&self.position[of_old], order, n, RECORD, &self.position[of_new]);
        gpu.gather(&self.velocity[of_old], order, n, RECORD, &self.velocity[of_new]);
        self.reorder_scalars(of_old, of_new);
        // The buffer of list positions is free: it is written below.
        gpu.gather(&self.half_velocity, order, n, RECORD, &self.reference);
        swap(&mut self.half_velocity, &mut self.reference);
        if let Some(orientations) = self.holding.as_mut().and_then(GpuBonds::orientations_to_sort) {
            gpu.gather(orientations, order, n, RECORD, &self.reference);
            swap(orientations, &mut self.reference);
        }
        for column in self
            .holding
            .iter_mut()
            .flat_map(|holding| holding.given_loads_to_sort(self.kind.frictional))
        {
            gpu.gather(column, order, n, RECORD, &self.reference);
            swap(column, &mut self.reference);
        }
        if let Some(geared) = &mut self.geared {
            geared.reorder(gpu, order, (n, self.kind.frictional), &mut self.reference);
        }
        if self.forces_known {
            gpu.gather(&self.force, order, n, RECORD, &self.velocity[of_old]);
            swap(&mut self.force, &mut self.velocity[of_old]);
        }
        if self.kind.frictional {
            gpu.gather(&self.spin[of_old], order, n, RECORD, &self.spin[of_new]);
            gpu.gather(&self.half_spin, order, n, RECORD, &self.reference);
            swap(&mut self.half_spin, &mut self.reference);
            if self.forces_known {
                gpu.gather(&self.torque, order, n, RECORD, &self.spin[of_old]);
                swap(&mut self.torque, &mut self.spin[of_old]);
            }
        }
        self.now = of_new;
        let (count, dim) = units(n);
        neighbor_lists::record_list_positions::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.reference.records(),
            n as u32,
        );
        self.find_members();
        self.find_seats();
    }

    pub(super) fn list_pairs(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        // Smooth grains have no contact history to carry over from the old rows.
        if self.kind.frictional {
            swap(&mut self.rows, &mut self.old_rows);
        }
        self.fill_tables(host)?;
        let (n, gpu) = (self.n, &self.gpu);
        let position = &self.position[self.now];
        let index = Index::of(&host.grains.cells, &self.cells, self.tables.as_ref(), &self.no_rows);
        let decomposed = self.border.as_ref().filter(|border| border.is_decomposed);
        let member = if self.mark_candidates(host, GRAINS) {
            Some(&self.key)
        } else {
            decomposed.map(|border| &border.member)
        };
        let search = RowSearch {
            index,
            position,
            n,
            all: n,
            lengths: &self.cells.lengths,
            member,
            // The next step overwrites it.
            room: &self.position[self.now ^ 1],
        };
        self.rows.count(gpu, &search)?;
        let entries = self.rows.entries(gpu, n)?;
        self.rows.fill(gpu, &search, entries)?;
        self.drop_inside_bodies();
        if host.context.settings.decomposition_invariant {
            self.rows.sort(gpu, &self.id, n);
        }
        if self.kind.frictional {
            make_room(gpu, &mut self.rows.history, entries * self.kind.numbers, "histories of contacts")?;
        }
        if let Some(contacts) = &mut self.contacts {
            contacts.make_room_for(gpu, n, entries, self.kind.frictional)?;
        }
        if self.kind.frictional {
            let (count, dim) = units(n);
            neighbor_lists::carry_histories::launch::<R>(
                gpu.client(),
                count,
                dim,
                self.rows.count.argument(),
                self.rows.tile_first.argument(),
                self.rows.list.argument(),
                self.rows.history.argument(),
                self.order.argument(),
                self.old_rows.count.argument(),
                self.old_rows.tile_first.argument(),
                self.old_rows.list.argument(),
                self.old_rows.history.argument(),
                self.id.argument(),
                decomposed.map_or(&self.material, |border| &border.old_id).argument(),
                self.rows_at_last_rebuild(),
                n as u32,
                self.kind.numbers,
                decomposed.is_some(),
            );
        }
        Ok(())
    }

    /// Lists the grains near walls, for the poses of the walls at this step.
    pub(super) fn list_walls(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        let Some(mut near) = self.walls.take() else {
            return Ok(());
        };
        let (n, gpu) = (self.n, &self.gpu);
        near.add_wear(gpu, host)?;
        // The grid of walls at rest changes with the skin only.
        if host.walls.has_moving() || host.walls.cell_first.is_empty() {
            host.walls.place(host.context.time(), false);
            near.send(gpu, host)?;
        }
        // Smooth grains have no contact history to carry over from the old rows.
        if self.kind.frictional {
            swap(&mut near.row, &mut near.old_row);
            swap(&mut near.list, &mut near.old_list);
            swap(&mut near.history, &mut near.old_history);
        }
        let member = if self.mark_candidates(host, WALLS) {
            &self.key
        } else {
            self.member()
        };
        self.wall_rows(&near, host, (member, &self.cells.lengths), false);
        gpu.exclusive_scan(&self.cells.lengths, n, &near.row)?;
        self.compact_near(&mut near)?;
        near.entries = gpu.download_part(&near.row, n..n + 1).wait()?[0] as usize;
        make_room(gpu, &mut near.list, near.entries, "grains near walls")?;
        make_room(
            gpu,
            &mut near.history,
            near.entries * host.walls.contact_histories,
            "histories of walls",
        )?;
        make_room(gpu, &mut near.wall_contacts, near.entries * WALL_CONTACT, "touches of walls")?;
        gpu.clear(&near.wall_contacts);
        if let Some(work) = &mut near.work {
            make_room(gpu, work, near.entries, "wear of walls")?;
            gpu.clear(work);
        }
        self.wall_rows(&near, host, (member, &near.list), true);
        if self.kind.frictional {
            let (count, dim) = units(n);
            neighbor_lists::carry_wall_histories::launch::<R, C>(
                gpu.client(),
                count,
                dim,
                near.row.argument(),
                near.list.argument(),
                near.elements.argument(),
                near.history.argument(),
                self.order.argument(),
                near.old_row.argument(),
                near.old_list.argument(),
                near.old_history.argument(),
                self.rows_at_last_rebuild(),
                n as u32,
                host.walls.contact_histories,
            );
        } else {
            gpu.clear(&near.history);
        }
        self.walls = Some(near);
        Ok(())
    }

    /// Lists the grains that have a row of wall elements.
    fn compact_near(&self, near: &mut WallRows<C, R>) -> Result<(), GpuError> {
        let (gpu, n) = (&self.gpu, self.n);
        let (count, dim) = units(n);
        neighbor_lists::have_rows::launch(gpu.client(), count, dim, self.cells.lengths.argument(), n as u32);
        gpu.compact(&self.cells.lengths, n, &near.grains, &self.cells.kept)?;
        near.near = gpu.download(&self.cells.kept)?[0] as usize;
        Ok(())
    }

    /// Counts the elements near every grain into `out`, or fills the rows with them. `member` has the marks of grains as [`GpuGrains::member`].
    fn wall_rows(&self, near: &WallRows<C, R>, host: &Populations, (member, out): (&Buffer<u32>, &Buffer<u32>), fill: bool) {
        let (touching, is_held) = self.prescribed_members([&self.id, &self.order]);
        let (count, dim) = units(self.n);
        neighbor_lists::wall_rows::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].argument(),
            near.elements.argument(),
            near.planes.argument(),
            near.grid.argument(),
            near.shape.argument(),
            near.cell_first.argument(),
            near.cell_list.argument(),
            near.row.argument(),
            member.argument(),
            touching.argument(),
            is_held.argument(),
            out.argument(),
            C::of(host.walls.skin),
            near.planes.len() as u32,
            self.n as u32,
            fill,
            self.has_members(),
        );
    }
}

impl<C: Number, R: Number> WallRows<C, R> {
    /// Walls of the host, without rows yet.
    pub(super) fn new(gpu: &Gpu, host: &mut Populations, n: usize, batch: usize) -> Result<WallRows<C, R>, GpuError> {
        let frictional = host.context.materials.has_friction;
        let walls = &host.walls;
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "walls");
        let mut near = WallRows {
            elements: gpu.buffer(walls.start.len(), "walls")?,
            start: upload(&walls.start)?,
            at_rest: upload(&walls.at_rest)?,
            records: gpu.buffer(walls.given.len() * WALL, "walls")?,
            servos: Arc::new(gpu.buffer(walls.servos.len(), "walls")?),
            poses: gpu.buffer(
                if walls.has_moving() { batch * walls.given.len() * POSE } else { 1 },
                "poses of walls",
            )?,
            planes: gpu.buffer(0, "walls")?,
            grid: gpu.buffer(0, "walls")?,
            shape: gpu.buffer(0, "walls")?,
            cell_first: gpu.buffer(0, "walls")?,
            cell_list: gpu.buffer(0, "walls")?,
            row: gpu.zeros(n + 1, "rows of walls")?,
            old_row: gpu.zeros(if frictional { n + 1 } else { 0 }, "rows of walls")?,
            list: gpu.buffer(0, "grains near walls")?,
            old_list: gpu.buffer(0, "grains near walls")?,
            history: gpu.buffer(0, "histories of walls")?,
            old_history: gpu.buffer(0, "histories of walls")?,
            wall_contacts: gpu.buffer(0, "touches of walls")?,
            work: walls.wears().then(|| gpu.buffer(0, "wear of walls")).transpose()?,
            grains: gpu.buffer(n, "grains near walls")?,
            near: 0,
            entries: 0,
        };
        near.send(gpu, host)?;
        Ok(near)
    }

    /// Sends the elements in their current pose, and the grid with which they are found.
    pub(super) fn send(&mut self, gpu: &Gpu, host: &mut Populations) -> Result<(), GpuError> {
        host.walls.sort(host.grains.cells.largest_radius());
        let walls = &host.walls;
        debug_assert_eq!(walls.elements.len() % ELEMENT, 0);
        gpu.write(&self.elements, &numbers::<C>(walls.elements.iter().copied()));
        gpu.write(&self.records, &numbers::<C>(walls.records.iter().copied()));
        gpu.write(&self.servos, &numbers::<C>(walls.servos.iter().copied()));
        self.planes = gpu.upload(&walls.planes, "walls")?;
        self.grid = gpu.upload(&numbers::<C>(walls.grid.iter().copied()), "walls")?;
        self.shape = gpu.upload(&walls.shape, "walls")?;
        self.cell_first = gpu.upload(&walls.cell_first, "walls")?;
        self.cell_list = gpu.upload(&walls.cell_list, "walls")?;
        Ok(())
    }
}

impl<C: Number> Cells<C> {
    /// Computes the cell of each of n particles in these grids, numbered in rows or in blocks of cells. Particles outside the domain get the number
    /// `cells`.
    pub(super) fn find(&self, gpu: &Gpu, grids: usize, position: &Buffer<C>, key: &Buffer<u32>, (n, cells): (usize, usize), rows: bool) {
        let (count, dim) = units(n);
        neighbor_lists::keys::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.argument(),
            self.grids.argument(),
            self.shapes.argument(),
            self.domain.argument(),
            key.argument(),
            grids as u32,
            cells as u32,
            n as u32,
            rows,
        );
    }

    /// Bounding box of those of n particles that are inside the domain \[m\], and their number. With member numbers, only free particles count.
    pub(super) fn bounds(
        &self,
        gpu: &Gpu,
        position: &Buffer<C>,
        member: Option<&Buffer<u32>>,
        n: usize,
    ) -> Result<([f64; 3], [f64; 3], usize), GpuError> {
        let (count, dim) = units(neighbor_lists::BOUNDS * THREADS);
        neighbor_lists::bounds::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.records(),
            self.domain.argument(),
            member.unwrap_or(&self.shapes).argument(),
            self.corners.records(),
            n as u32,
            member.is_some(),
        );
        let corners = gpu.download(&self.corners)?;
        let (mut low, mut high, mut kept) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0.0);
        for pair in corners.chunks_exact(2 * RECORD) {
            kept += pair[RECORD - 1].double();
            for axis in 0..3 {
                low[axis] = low[axis].min(pair[axis].double());
                high[axis] = high[axis].max(pair[RECORD + axis].double());
            }
        }
        Ok((low, high, kept as usize))
    }

    /// Box around the centers of the free ones of n particles with these member numbers \[m\]; empty if there are none.
    pub(super) fn box_of_free(&self, gpu: &Gpu, position: &Buffer<C>, member: &Buffer<u32>, n: usize) -> Result<Bounds, GpuError> {
        gpu.write(&self.domain, &numbers::<C>(UNBOUNDED.concat()));
        let (low, high, kept) = self.bounds(gpu, position, Some(member), n)?;
        Ok(if kept > 0 { Bounds { low, high } } else { Bounds::NOTHING })
    }

    /// Lays out cells around those of n particles that are inside the domain with these corners, and computes the order of the particles by cell.
    /// Returns the number of cells.
    pub(super) fn order(
        &mut self,
        gpu: &Gpu,
        host: &mut search::Cells,
        domain: &[f64],
        position: &Buffer<C>,
        keys: Keys,
        n: usize,
    ) -> Result<usize, GpuError> {
        gpu.write(&self.domain, &numbers::<C>(domain.iter().copied()));
        let (low, high, kept) = self.bounds(gpu, position, None, n)?;
        let cells = host.lay_out(low, high, kept);
        let spread = if keys.member.is_some() { REMOVED_KEYS } else { 0 };
        make_room(gpu, &mut self.first, cells + 2 + spread, "cells")?;
        self.sorted_by = (numbers(host.grids.iter().copied()), host.shapes.clone());
        gpu.write(&self.grids, &self.sorted_by.0);
        gpu.write(&self.shapes, &self.sorted_by.1);
        self.find(gpu, host.grids(), position, keys.key, (n, cells), false);
        if let Some(member) = keys.member {
            let (count, dim) = units(n);
            key_removed_last::launch(
                gpu.client(),
                count,
                dim,
                member.argument(),
                keys.key.argument(),
                cells as u32,
                n as u32,
            );
        }
        let into = Order {
            order: keys.order,
            first: &self.first,
            room: &self.lengths,
        };
        gpu.order_by_key(keys.key, keys.id, n, cells + 1 + spread, into)?;
        Ok(cells)
    }

    /// Room for n particles and this many grids.
    pub(super) fn new(gpu: &Gpu, grids: usize, n: usize) -> Result<Cells<C>, GpuError> {
        Ok(Cells {
            grids: gpu.buffer(grids * GRID, "the grids")?,
            shapes: gpu.buffer(grids * SHAPE, "the grids")?,
            sorted_by: (Vec::new(), Vec::new()),
            domain: gpu.buffer(6, "the domain")?,
            first: gpu.buffer(RECORD, "cells")?,
            corners: gpu.buffer(neighbor_lists::BOUNDS * 2 * RECORD, "the box of all grains")?,
            lengths: gpu.buffer(n, "lengths of rows")?,
            kept: gpu.buffer(1, "lengths of rows")?,
            counts: gpu.buffer(RECORD, "domains")?,
            starts: gpu.buffer(RECORD, "domains")?,
        })
    }
}

impl<R: Number> Rows<R> {
    /// Empty rows of n grains.
    pub(super) fn new(gpu: &Gpu, n: usize) -> Result<Rows<R>, GpuError> {
        Ok(Rows {
            count: gpu.zeros(n, "rows of neighbors")?,
            tile_first: gpu.zeros(n.div_ceil(TILE) + 1, "rows of neighbors")?,
            list: gpu.buffer(RECORD, "neighbors")?,
            history: gpu.buffer(RECORD, "histories of contacts")?,
        })
    }
}
