//! Rebuild of cells and neighbor lists on the GPU: the same cells, order and rows as on the host.

use super::bonds::GpuBonds;
use super::domain::DomainState;
use super::old_contacts::SpareBuffers;
use super::polyhedra::ShapesOfDomain;
use super::tables::{Index, RowSearch};
use super::{Cells, DomainBackend, GpuGrains, Number, Rows, done_by_sides, numbers, sides_do_work, stepping};
use crate::broad_phase::GRAINS;
use crate::populations::Populations;
use crate::search::{self, ListCounts};
use crate::world::Domain;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Order, Ticket, Word, Workspace, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::cells::{GRID, SHAPE};
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::domain::REMOVED_KEYS;
use seixo_sweeps::kernels::{THREADS, neighbor_lists};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::OPEN;
use std::mem::swap;

/// Corners of an infinite box.
pub(super) const UNBOUNDED: [[f64; 3]; 2] = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];

/// For every particle: its cell, its id, and its old index in the new order. If some particles may have been removed, also their marks.
pub(super) struct Keys<'a> {
    pub key: &'a Buffer<u32>,
    pub id: &'a Buffer<u32>,
    pub order: &'a Buffer<u32>,
    pub member: Option<&'a Buffer<u32>>,
}

/// What cells are laid out around.
#[derive(Clone, Copy)]
pub(super) enum Extent<'a> {
    /// The particles that are inside the domain with these corners \[m\], whose box is yet to be found.
    Domain(&'a [f64]),
    /// All particles, whose centers this box contains.
    Known(Bounds),
}

/// Bytes of a large buffer. A GPU may hold hardly more than a few of them.
const LARGE: usize = 16 << 20;

/// Length of a new buffer that needs room for `len` items. Spare room saves allocations when a few more items come: a quarter, but less in large
/// buffers, where it takes much memory.
fn with_spare_room<T>(len: usize) -> usize {
    let share = if len.saturating_mul(size_of::<T>()) > LARGE { 16 } else { 4 };
    (len + len / share).next_multiple_of(RECORD)
}

/// Makes sure that a buffer has room, with some more if it must grow; then its contents are lost.
pub(super) fn make_room<T: Word>(gpu: &Gpu, buffer: &mut Buffer<T>, len: usize, what: &'static str) -> Result<(), GpuError> {
    if buffer.len() < len {
        *buffer = gpu.buffer(RECORD, what)?;
        // Whole records, and no more than a buffer can have. An excess of the length itself is an error.
        let most = gpu.most_items::<T>() / RECORD * RECORD;
        *buffer = gpu.buffer(with_spare_room::<T>(len).min(most).max(len), what)?;
    }
    Ok(())
}

/// Marks of the grains that get no row of neighbors: the candidates if they are marked, or those of a subdomain. `None` if all get one.
fn rowless<'a, C, R>(is_marked: bool, candidates: &'a Buffer<u32>, border: Option<&'a DomainState<C, R>>) -> Option<&'a Buffer<u32>> {
    let decomposed = border.filter(|border| border.is_decomposed);
    if is_marked {
        Some(candidates)
    } else {
        decomposed.map(|border| &border.member)
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Sorts the grains into cells and rebuilds the lists of pairs and walls. With `leaving`, grains outside the domain are removed. Otherwise the box
    /// of their centers may be `known` \[m\].
    pub(super) fn rebuild_neighbor_lists(&mut self, host: &mut Populations, leaving: bool, known: Option<Bounds>) -> Result<(), GpuError> {
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
        let known = known.map(|bounds| (bounds, self.n));
        self.count_old_contacts()?;
        let cells = self.sort(host, (leaving, false), known)?;
        self.bin_grains(host, cells)?;
        self.list_neighbors(host)?;
        self.make_room_for_wall_flows()
    }

    /// Counts of the lists, which are out of date.
    pub(super) fn counts_of_lists(&self, host: &Populations) -> Result<ListCounts, GpuError> {
        // Only now and then. If they did not come with the flags, this waits for a download.
        let entries = if host.counts_entries() {
            let of_polyhedra = self.shapes.as_ref().map_or(0, |shapes| shapes.listed_ends());
            let ends = self.entries_after_steps.map_or_else(|| self.rows.ends(&self.gpu, self.n), Ok)?;
            ends + of_polyhedra as u64
        } else {
            0
        };
        Ok(ListCounts {
            grains: self.owned_count() as f64,
            entries: entries as f64,
        })
    }

    /// Counts a rebuild of the lists, and records its time.
    pub(super) fn count_rebuild(&mut self, host: &mut Populations) {
        host.walls.record_rebuild(host.context.time());
        self.interval = self.since_rebuild;
        self.since_rebuild = 0;
        (self.box_after_steps, self.entries_after_steps) = (None, None);
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
        // The host waits for it, so only if it is not zero.
        let stepping = &host.context.stepping;
        if sides_do_work(self.kind.sides, &stepping.sides, &stepping.gravity) {
            host.ledger.work.wall += done_by_sides(&self.gpu, &self.energy, self.n)?;
        }
        Ok(())
    }

    /// Corners of the box outside which grains are removed.
    pub(super) fn domain_of(host: &Populations, leaving: bool) -> Vec<f64> {
        let domain = host.context.domain_to_leave().filter(|_| leaving);
        domain.map_or(UNBOUNDED, |domain| domain.open_corners()).concat()
    }

    /// Sorts the grains by cell, and returns the number of cells. With `leaving`, grains outside the domain are removed; with `moving`, those that are
    /// marked. Without `leaving`, a box that contains the centers of all grains \[m\] and the number of grains that stay may be `known`.
    pub(super) fn sort(
        &mut self,
        host: &mut Populations,
        (leaving, moving): (bool, bool),
        known: Option<(Bounds, usize)>,
    ) -> Result<usize, GpuError> {
        let n = self.n;
        let domain = Self::domain_of(host, leaving);
        let extent = known.map_or(Extent::Domain(&domain), |(bounds, _)| Extent::Known(bounds));
        let keys = Keys {
            key: &self.key,
            id: &self.id,
            order: &self.order,
            member: self.border.as_ref().filter(|_| moving).map(|border| &border.member),
        };
        let position = &self.position[self.now];
        let cells = self.cells.order(&self.gpu, &mut host.grains.cells, extent, position, keys, n)?;
        match known {
            Some((_, staying)) => self.n = staying,
            None if leaving || moving => self.n = self.gpu.download_part(&self.cells.first, cells..cells + 1).wait()?[0] as usize,
            None => {}
        }
        self.reorder();
        Ok(cells)
    }

    /// Computes the cell of every grain, numbered in rows of cells.
    pub(super) fn find_cells(&self, host: &Populations, cells: usize) {
        let places = (&self.position[self.now], &self.cells.unbounded);
        self.cells.find(
            &self.gpu,
            host.grains.cells.grids(),
            places,
            (&self.key, None),
            (self.n, cells),
            true,
        );
    }

    /// Puts every field into the new order. Each field is gathered into a buffer that is free, and that buffer becomes the field.
    fn reorder(&mut self) {
        let (n, now) = (self.n, self.now);
        let (gpu, order) = (&self.gpu, &self.order);
        let [of_old, of_new] = [now, now ^ 1];
        let (count, dim) = units(n);
        neighbor_lists::reorder_motion::launch::<R, C>(
            gpu.client(),
            count.clone(),
            dim,
            order.argument(),
            self.id.argument(),
            self.material.argument(),
            self.position[of_old].records(),
            self.velocity[of_old].records(),
            self.spin[of_old].records(),
            self.key.argument(),
            self.cells.lengths.argument(),
            self.position[of_new].records(),
            self.velocity[of_new].records(),
            self.spin[of_new].records(),
            n as u32,
            self.kind.frictional,
        );
        swap(&mut self.id, &mut self.key);
        swap(&mut self.material, &mut self.cells.lengths);
        if let Some(border) = &mut self.border {
            // Ids of the grains in the old rows.
            swap(&mut border.old_id, &mut self.key);
        }
        // Those of a border are put into the order with the rest.
        let alone = self.carriers.as_mut().filter(|_| self.border.is_none());
        let members = alone.map(|carriers| &mut carriers.member);
        let seats = self.holding.as_mut().and_then(GpuBonds::seats);
        for words in members.into_iter().chain(seats) {
            gpu.gather(words, order, n, 1, &self.key);
            swap(words, &mut self.key);
        }
        self.reorder_scalars(of_old, of_new);
        // The buffer of list positions is free: it is written last.
        if let Some(orientations) = self.holding.as_mut().and_then(GpuBonds::orientations_to_sort) {
            gpu.gather(orientations, order, n, RECORD, &self.reference);
            swap(orientations, &mut self.reference);
        }
        if let Some(shapes) = &mut self.shapes {
            gpu.gather(&shapes.marks, order, n, 1, &self.key);
            swap(&mut shapes.marks, &mut self.key);
            for column in shapes.records_to_sort() {
                gpu.gather(column, order, n, RECORD, &self.reference);
                swap(column, &mut self.reference);
            }
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
        if self.kind.frictional && self.forces_known {
            gpu.gather(&self.torque, order, n, RECORD, &self.spin[of_old]);
            swap(&mut self.torque, &mut self.spin[of_old]);
        }
        let bordering = self.border.as_ref();
        let (member, place_of) = bordering.map_or((&self.id, &self.cells.kept), |border| (&border.member, &border.place_of));
        neighbor_lists::reorder_rest::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            order.argument(),
            self.group.argument(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.position[of_new].records(),
            member.argument(),
            self.key.argument(),
            self.velocity[of_old].records(),
            self.spin[of_old].records(),
            self.position[of_old].records(),
            self.cells.lengths.argument(),
            place_of.argument(),
            n as u32,
            self.kind.frictional,
            bordering.is_some(),
            bordering.is_some_and(|border| border.is_decomposed),
        );
        if let Some(border) = &mut self.border {
            swap(&mut border.member, &mut self.cells.lengths);
        }
        swap(&mut self.group, &mut self.key);
        swap(&mut self.half_velocity, &mut self.velocity[of_old]);
        if self.kind.frictional {
            swap(&mut self.half_spin, &mut self.spin[of_old]);
        }
        // The list positions were written to the free buffer of positions.
        swap(&mut self.reference, &mut self.position[of_old]);
        self.now = of_new;
        self.find_members();
        self.find_seats();
    }

    /// Lists the pairs, unless cells are rebuilt at every step, and the grains near walls. [`GpuGrains::count_old_contacts`] comes before. Waits once, for
    /// the numbers of entries of both, and of the contacts whose histories the new lists get.
    pub(super) fn list_neighbors(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        let lists_pairs = self.binned.is_none();
        if lists_pairs {
            self.count_pairs(host)?;
            if host.walls.has_moving() {
                // The GPU searches while the host places walls and sends them.
                self.gpu.submit();
            }
        }
        let walls = self.count_near_walls(host)?;
        let mut copies = self.gpu.copies();
        let entries = lists_pairs.then(|| self.rows.request_entries(&mut copies, self.n));
        let contacts = (lists_pairs && self.kind.frictional).then(|| self.old_contacts.request_number(&mut copies));
        let near = walls.map(|near| (self.request_counts_near(&mut copies), near));
        let arrived = copies.wait()?;
        if let Some(entries) = entries {
            self.rows.refuse_too_long(&self.gpu, self.n)?;
            let contacts = contacts.map_or(0, |contacts| arrived.take(contacts)[0]);
            self.fill_pairs(host, arrived.take(entries)[0] as usize, contacts as usize)?;
        }
        match near {
            Some((counts, near)) => self.fill_near_walls(host, near, &arrived.take(counts)),
            None => Ok(()),
        }
    }

    /// Whether rows begin with the pairs that overlap. Bits may depend on which pairs overlapped at the rebuild: it follows from saved positions. Rows
    /// of laws in double precision have the order of those on a CPU, and those of decomposition-invariant runs the order of ids.
    fn puts_touching_first(&self, host: &Populations) -> bool {
        self.kind.frictional && size_of::<R>() == size_of::<f32>() && !host.context.settings.decomposition_invariant
    }

    /// Whether the search may write rows in this order: with bodies, pairs are dropped before, and those of polyhedra listed.
    fn writes_touching_first(&self, host: &Populations) -> bool {
        self.puts_touching_first(host) && self.carriers.is_none() && self.shapes.is_none()
    }

    /// Queues the count of the contacts in the rows so far, whose histories the new rows get. It comes before the sort, so that the GPU has work while
    /// the host lays out cells and sends them. The contents of `cells.lengths` are lost.
    pub(super) fn count_old_contacts(&mut self) -> Result<(), GpuError> {
        // Smooth grains have no contact history to carry over from the old rows.
        if self.kind.frictional && self.binned.is_none() {
            let room = (&mut self.cells.workspace, &self.cells.lengths);
            self.old_contacts.count(&self.gpu, &self.rows, room)?;
        }
        Ok(())
    }

    /// Queues the count of the pairs of sorted grains.
    fn count_pairs(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        if self.kind.frictional {
            self.old_contacts.keep_tiles(&mut self.rows);
        }
        self.fill_tables(host)?;
        let is_marked = self.mark_candidates(host, GRAINS);
        let search = RowSearch {
            index: Index::of(&host.grains.cells, &self.cells, self.tables.as_ref(), &self.no_rows),
            position: &self.position[self.now],
            n: self.n,
            all: self.n,
            lengths: &self.cells.lengths,
            member: rowless(is_marked, &self.key, self.border.as_ref()),
            // The next step overwrites it.
            room: &self.position[self.now ^ 1],
            touching_first: self.writes_touching_first(host),
            rows_are_short: true,
        };
        self.rows.count(&self.gpu, &search)
    }

    /// Queues the writing of the pairs, which have this many entries, and of the histories of this many contacts of the old rows.
    fn fill_pairs(&mut self, host: &Populations, entries: usize, contacts: usize) -> Result<(), GpuError> {
        let (n, gpu, numbers, present) = (self.n, &self.gpu, self.kind.numbers, self.present_slots());
        // The next step overwrites the first two, and the others unless forces are known.
        let spare = SpareBuffers {
            buffers: [&self.velocity[self.now ^ 1], &self.spin[self.now ^ 1], &self.force, &self.torque],
            are_free: !self.forces_known,
        };
        let decomposed = self.border.as_ref().filter(|border| border.is_decomposed);
        if contacts > 0 {
            let old_id = decomposed.map(|border| &border.old_id);
            self.old_contacts.pack(gpu, &self.rows, spare, old_id, (contacts, numbers))?;
        }
        // Once more, as the count of grains near walls overwrote the marks.
        let is_marked = self.mark_candidates(host, GRAINS);
        // The search of the count.
        let search = RowSearch {
            index: Index::of(&host.grains.cells, &self.cells, self.tables.as_ref(), &self.no_rows),
            position: &self.position[self.now],
            n,
            all: n,
            lengths: &self.cells.lengths,
            member: rowless(is_marked, &self.key, self.border.as_ref()),
            // The next step overwrites it.
            room: &self.position[self.now ^ 1],
            touching_first: self.writes_touching_first(host),
            rows_are_short: true,
        };
        self.rows.fill(gpu, &search, entries)?;
        // It has been idle since the counts, and can be busy while the host queues the rest.
        gpu.submit();
        let known = self.rows_at_last_rebuild();
        self.drop_inside_bodies();
        self.mark_held_shapes();
        if let Some(shapes) = &mut self.shapes {
            let of_domain = decomposed.map(|border| ShapesOfDomain {
                member: &border.member,
                old_id: &border.old_id,
                known,
            });
            shapes.list_pairs(gpu, &self.rows, [&self.id, &self.order], n, present, of_domain.as_ref())?;
        }
        if host.context.settings.decomposition_invariant {
            self.rows.sort(gpu, &self.id, n);
        } else if self.puts_touching_first(host) && !search.marks_touching() {
            self.rows.put_touching_first(gpu, &search);
        }
        if self.kind.frictional {
            make_room(gpu, &mut self.rows.history, entries * numbers, "histories of contacts")?;
        }
        if let Some(list) = &mut self.contacts {
            list.make_room_for(gpu, n, entries, self.kind.frictional)?;
        }
        if contacts > 0 {
            let by_id = decomposed.is_some();
            self.old_contacts
                .carry(gpu, &self.rows, spare, [&self.order, &self.id], by_id, (known, n, numbers));
        }
        Ok(())
    }
}

/// Whether a box has a corner outside this domain.
pub(super) fn is_beyond(bounds: &Bounds, domain: &Domain) -> bool {
    let [low, high] = domain.open_corners();
    (0..3).any(|axis| bounds.low[axis] < low[axis] || bounds.high[axis] > high[axis])
}

/// The box around the boxes that [`neighbor_lists::bounds()`] found \[m\], and their number of particles.
pub(super) fn box_around<C: Number>(corners: &[C]) -> (Bounds, usize) {
    let (mut low, mut high, mut kept) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0.0);
    for pair in corners.chunks_exact(2 * RECORD) {
        kept += pair[RECORD - 1].double();
        for axis in 0..3 {
            low[axis] = low[axis].min(pair[axis].double());
            high[axis] = high[axis].max(pair[RECORD + axis].double());
        }
    }
    (Bounds { low, high }, kept as usize)
}

impl<C: Number> Cells<C> {
    /// Computes the cell of each of n particles in these grids, numbered in rows or in blocks of cells. Particles outside the domain, whose corners are
    /// given, get the number `cells`. Those that are marked as removed come behind, if there are marks.
    fn find(
        &self,
        gpu: &Gpu,
        grids: usize,
        (position, domain): (&Buffer<C>, &Buffer<C>),
        (key, member): (&Buffer<u32>, Option<&Buffer<u32>>),
        (n, cells): (usize, usize),
        rows: bool,
    ) {
        let (count, dim) = units(n);
        neighbor_lists::keys::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.argument(),
            self.grids.argument(),
            self.shapes.argument(),
            domain.argument(),
            // Not read without marks.
            member.unwrap_or(&self.first).argument(),
            key.argument(),
            grids as u32,
            cells as u32,
            n as u32,
            rows,
            member.is_some(),
        );
    }

    /// Queues the search for the box around those of n particles that are inside the domain, whose corners are given. With member numbers, only free
    /// particles count.
    pub(super) fn find_bounds(&self, gpu: &Gpu, (position, domain): (&Buffer<C>, &Buffer<C>), member: Option<&Buffer<u32>>, n: usize) {
        let (count, dim) = units(neighbor_lists::BOUNDS * THREADS);
        neighbor_lists::bounds::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.records(),
            domain.argument(),
            member.unwrap_or(&self.shapes).argument(),
            self.corners.records(),
            n as u32,
            member.is_some(),
        );
    }

    /// Requests the corners of the box that [`Cells::find_bounds`] finds, see [`box_around`].
    pub(super) fn request_corners(&self, copies: &mut Copies) -> Ticket<C> {
        copies.add(&self.corners, 0..self.corners.len())
    }

    /// Bounding box of those of n particles that are inside the domain \[m\], and their number, see [`Cells::find_bounds`].
    pub(super) fn bounds(
        &self,
        gpu: &Gpu,
        places: (&Buffer<C>, &Buffer<C>),
        member: Option<&Buffer<u32>>,
        n: usize,
    ) -> Result<(Bounds, usize), GpuError> {
        self.find_bounds(gpu, places, member, n);
        let mut copies = gpu.copies();
        let corners = self.request_corners(&mut copies);
        Ok(copies.wait()?.make(corners, box_around))
    }

    /// Queues the search for the box around n grains after queued steps, and the request for its corners, see
    /// [`neighbor_lists::bounds_after_steps()`]. With member numbers, only free grains count.
    pub(super) fn request_bounds(
        &self,
        gpu: &Gpu,
        [even, odd]: [&Buffer<C>; 2],
        (member, n): (Option<&Buffer<u32>>, usize),
        (flags, is_last): (&Buffer<u32>, bool),
        copies: &mut Copies,
    ) -> Ticket<C> {
        let (count, dim) = units(neighbor_lists::BOUNDS * THREADS);
        neighbor_lists::bounds_after_steps::launch::<C>(
            gpu.client(),
            count,
            dim,
            even.records(),
            odd.records(),
            flags.argument(),
            member.unwrap_or(&self.shapes).argument(),
            self.corners.records(),
            n as u32,
            u32::from(is_last),
            member.is_some(),
        );
        self.request_corners(copies)
    }

    /// Box around the centers of n particles \[m\], with member numbers around those of the free ones; empty if there are none.
    pub(super) fn box_of_free(&self, gpu: &Gpu, position: &Buffer<C>, member: Option<&Buffer<u32>>, n: usize) -> Result<Bounds, GpuError> {
        let (bounds, kept) = self.bounds(gpu, (position, &self.unbounded), member, n)?;
        Ok(if kept > 0 { bounds } else { Bounds::NOTHING })
    }

    /// Lays out cells around n particles, or those inside a domain, and computes the order of the particles by cell. Returns the number of cells.
    pub(super) fn order(
        &mut self,
        gpu: &Gpu,
        host: &mut search::Cells,
        extent: Extent,
        position: &Buffer<C>,
        keys: Keys,
        n: usize,
    ) -> Result<usize, GpuError> {
        let (Bounds { low, high }, kept) = match extent {
            Extent::Domain(corners) => {
                gpu.write(&self.domain, &numbers::<C>(corners.iter().copied()));
                self.bounds(gpu, (position, &self.domain), None, n)?
            }
            Extent::Known(bounds) => (bounds, n),
        };
        let cells = host.lay_out(low, high, kept);
        let spread = if keys.member.is_some() { REMOVED_KEYS } else { 0 };
        make_room(gpu, &mut self.first, cells + 2 + spread, "cells")?;
        // The GPU waits for what the host writes: often the numbers of cells are as before.
        if self.sorted_by.1 != host.shapes {
            gpu.write(&self.shapes, &host.shapes);
        }
        self.sorted_by = (numbers(host.grids.iter().copied()), host.shapes.clone());
        gpu.write(&self.grids, &self.sorted_by.0);
        let domain = match extent {
            Extent::Domain(_) => &self.domain,
            Extent::Known(_) => &self.unbounded,
        };
        self.find(gpu, host.grids(), (position, domain), (keys.key, keys.member), (n, cells), false);
        let into = Order {
            order: keys.order,
            first: &self.first,
            room: &self.lengths,
        };
        self.workspace.order_by_key(gpu, keys.key, keys.id, n, cells + 1 + spread, into)?;
        Ok(cells)
    }

    /// Room for n particles and this many grids.
    pub(super) fn new(gpu: &Gpu, grids: usize, n: usize) -> Result<Cells<C>, GpuError> {
        let unbounded = || gpu.upload(&numbers::<C>(UNBOUNDED.concat()), "the domain");
        Ok(Cells {
            grids: gpu.buffer(grids * GRID, "the grids")?,
            shapes: gpu.buffer(grids * SHAPE, "the grids")?,
            sorted_by: (Vec::new(), Vec::new()),
            domain: unbounded()?,
            unbounded: unbounded()?,
            first: gpu.buffer(RECORD, "cells")?,
            corners: gpu.buffer(neighbor_lists::BOUNDS * 2 * RECORD, "the box of all grains")?,
            lengths: gpu.buffer(n, "lengths of rows")?,
            kept: gpu.buffer(2, "lengths of rows")?,
            workspace: Workspace::new(gpu)?,
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
            counted: 0,
            tile_first: gpu.zeros(n.div_ceil(TILE) + 1, "rows of neighbors")?,
            list: gpu.buffer(RECORD, "neighbors")?,
            history: gpu.buffer(RECORD, "histories of contacts")?,
            workspace: Workspace::new(gpu)?,
            sums: gpu.buffer(neighbor_lists::BOUNDS, "rows of neighbors")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_laws::Vector3;
    use seixo_sweeps::periodic::{PERIODIC, PeriodicBoundaries, SHEARED};

    #[test]
    fn periodic_sides_do_work_if_they_move_or_gravity_acts_from_one_to_the_other() {
        let down = Vector3 { x: 0.0, y: 0.0, z: -9.81 };
        let mut sides = PeriodicBoundaries::open();
        sides.length.x = 2.0;
        assert!(!sides_do_work(PERIODIC, &sides, &down));
        assert!(sides_do_work(PERIODIC, &sides, &Vector3 { x: 1.0, ..down }));
        assert!(sides_do_work(SHEARED, &sides, &down));
        sides.length.z = 2.0;
        assert!(sides_do_work(PERIODIC, &sides, &down));
    }

    #[test]
    fn small_buffers_have_a_quarter_of_spare_room_and_large_ones_a_sixteenth() {
        assert_eq!(with_spare_room::<u32>(1000), 1252);
        assert_eq!(with_spare_room::<u32>(16_000_000), 17_000_000);
        assert_eq!(with_spare_room::<u32>(0), 0);
    }
}
