//! Tables of the grains in every cell or bucket on the GPU, and neighbor rows that are found with them or with the grids. Tables and rows are the
//! same as on the host.

use super::neighbor_lists::make_room;
use super::{Cells, GpuGrains, Number, Rows, numbers};
use crate::populations::Populations;
use crate::search;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Order, Room, Ticket, Workspace, units};
use seixo_laws::Coordinate;
use seixo_sweeps::cells::{GRID, SHAPE};
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::neighbor_marks::NOTE_WORDS;
use seixo_sweeps::kernels::{THREADS, neighbor_lists, neighbor_marks, row_order, rows_by_id};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::neighbors::{RowPlan, SearchStructure};
use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
use std::ops::Range;

/// Structure in which neighbors are looked up.
#[derive(Clone, Copy)]
pub(super) struct Index<'a, C> {
    lookup: SearchStructure,
    grids: &'a Buffer<C>,
    shapes: &'a Buffer<u32>,
    first: &'a Buffer<u32>,
    items: &'a Buffer<u32>,
    number: usize,
    skin: f64,
    sides: PeriodicBoundaries<f64, f64>,
    kind: u32,
}

impl<'a, C: Number> Index<'a, C> {
    /// Search structure of the host's cells; `nothing` is a placeholder for missing items.
    pub(super) fn of(host: &search::Cells, cells: &'a Cells<C>, tables: Option<&'a Tables<C>>, nothing: &'a Buffer<u32>) -> Index<'a, C> {
        match (tables, &host.tables) {
            (Some(tables), Some(laid_out)) => tables.index(laid_out, host.skin).across(host),
            _ => Index {
                lookup: host.lookup(),
                grids: &cells.grids,
                shapes: &cells.shapes,
                first: &cells.first,
                items: nothing,
                number: host.grids(),
                skin: host.skin,
                sides: host.sides,
                kind: host.kind,
            },
        }
    }
}

impl<C> Index<'_, C> {
    /// The same search across the periodic sides of the host's cells.
    fn across(self, host: &search::Cells) -> Self {
        Index {
            sides: host.sides,
            kind: host.kind,
            ..self
        }
    }
}

/// Grains by cell or bucket, see [`search::Tables`].
pub(super) struct Tables<C> {
    grids: Buffer<C>,
    shapes: Buffer<u32>,
    first: Buffer<u32>,
    items: Buffer<u32>,
    /// Cell or bucket, and grain, of each entry.
    key: Buffer<u32>,
    owner: Buffer<u32>,
    order: Buffer<u32>,
    /// Number of cells of every grain, and its first entry.
    count: Buffer<u32>,
    row: Buffer<u32>,
    workspace: Workspace,
    /// Whether tables of grains that never move follow.
    is_divided: bool,
}

/// Hash tables of members of bodies that are at rest for good, which last until one of them is elsewhere, see [`search::StaticTables`].
pub(super) struct StaticTables<C> {
    grains: usize,
    members: Buffer<u32>,
    /// 1 for each member of a body at rest, 0 for all other members.
    at_rest: Buffer<u32>,
    /// Indices of their grains after the last sort.
    place: Buffer<u32>,
    /// Their records of positions when the tables were filled.
    position: Buffer<C>,
    tables: Tables<C>,
    is_filled: bool,
    moved: Buffer<u32>,
}

impl<C: Number> StaticTables<C> {
    /// Empty tables for the members that the host has in such tables; `None` if there are none.
    pub(super) fn new(gpu: &Gpu, host: &Populations) -> Result<Option<StaticTables<C>>, GpuError> {
        let members: Vec<u32> = host.members_at_rest().iter().map(|&(member, _)| member).collect();
        let laid_out = host.grains.cells.tables.as_ref().and_then(search::Tables::at_rest);
        if laid_out.is_none_or(|fixed| fixed.names() != members) {
            return Ok(None);
        }
        let mut at_rest = vec![0u32; host.bodies.body_of.len()];
        for &member in &members {
            at_rest[member as usize] = 1;
        }
        let grains = members.len();
        Ok(Some(StaticTables {
            grains,
            members: gpu.upload(&members, "tables of grains at rest")?,
            at_rest: gpu.upload(&at_rest, "tables of grains at rest")?,
            place: gpu.buffer(grains, "tables of grains at rest")?,
            position: gpu.buffer(RECORD * grains, "tables of grains at rest")?,
            tables: Tables::new(gpu)?,
            is_filled: false,
            moved: gpu.zeros(1, "tables of grains at rest")?,
        }))
    }

    /// Finds the grains after a sort, which gave each member this place, and fills the tables if a grain is elsewhere. Returns whether it did.
    fn update(&mut self, gpu: &Gpu, host: &search::Tables, position: &Buffer<C>, place: &Buffer<u32>, skin: f64) -> Result<bool, GpuError> {
        let n = self.grains;
        gpu.gather(place, &self.members, n, 1, &self.place);
        if self.is_filled {
            gpu.clear(&self.moved);
            let (count, dim) = units(n);
            neighbor_lists::note_moved::launch::<C>(
                gpu.client(),
                count,
                dim,
                position.records(),
                self.place.argument(),
                self.position.records(),
                self.moved.argument(),
                n as u32,
            );
            if gpu.download(&self.moved)?[0] == 0 {
                return Ok(false);
            }
        }
        gpu.gather(position, &self.place, n, RECORD, &self.position);
        self.tables.fill(gpu, host, &self.position, 0..n, skin)?;
        self.is_filled = true;
        Ok(true)
    }
}

impl<C: Number> Tables<C> {
    /// Empty tables.
    pub(super) fn new(gpu: &Gpu) -> Result<Tables<C>, GpuError> {
        let words = || gpu.buffer(RECORD, "tables of cells");
        Ok(Tables {
            grids: gpu.buffer(GRID, "tables of cells")?,
            shapes: gpu.buffer(SHAPE, "tables of cells")?,
            first: words()?,
            items: words()?,
            key: words()?,
            owner: words()?,
            order: words()?,
            count: words()?,
            row: words()?,
            workspace: Workspace::new(gpu)?,
            is_divided: false,
        })
    }

    /// Writes the records of tables, and makes room for this many first places and items.
    fn write_records(&mut self, gpu: &Gpu, (grids, shapes): (&[f64], &[u32]), (firsts, entries): (usize, usize)) -> Result<(), GpuError> {
        if self.grids.len() != grids.len() {
            self.grids = gpu.buffer(grids.len(), "tables of cells")?;
            self.shapes = gpu.buffer(shapes.len(), "tables of cells")?;
        }
        gpu.write(&self.grids, &numbers::<C>(grids.iter().copied()));
        gpu.write(&self.shapes, shapes);
        make_room(gpu, &mut self.first, firsts, "tables of cells")?;
        make_room(gpu, &mut self.items, entries, "tables of cells")
    }

    /// Enters the grains of the first `moving` owners into tables that the host has laid out, and appends the tables of all others.
    fn fill_divided(
        &mut self,
        gpu: &Gpu,
        host: &search::Tables,
        position: &Buffer<C>,
        moving: usize,
        (fixed, of_host): (&StaticTables<C>, &search::Tables),
    ) -> Result<(), GpuError> {
        let (keys, appended) = (host.keys(), of_host.keys() + 1);
        let (grids, shapes) = host.divided_records(of_host);
        self.write_records(gpu, (&grids[..], &shapes[..]), (keys + 1 + appended, moving + fixed.grains))?;
        make_room(gpu, &mut self.key, moving, "tables of cells")?;
        let (count, dim) = units(moving);
        neighbor_lists::buckets_of_listed::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.argument(),
            self.grids.argument(),
            self.shapes.argument(),
            self.owner.argument(),
            self.key.argument(),
            host.grids() as u32,
            moving as u32,
        );
        self.sort_entries(gpu, moving, keys)?;
        let (count, dim) = units(appended.max(fixed.grains));
        neighbor_lists::append_tables::launch(
            gpu.client(),
            count,
            dim,
            fixed.tables.first.argument(),
            fixed.tables.items.argument(),
            fixed.place.argument(),
            self.first.argument(),
            self.items.argument(),
            moving as u32,
            keys as u32 + 1,
            appended as u32,
            fixed.grains as u32,
        );
        self.is_divided = true;
        Ok(())
    }

    /// Enters the grains with these indices into tables that the host has laid out.
    pub(super) fn fill(
        &mut self,
        gpu: &Gpu,
        host: &search::Tables,
        position: &Buffer<C>,
        places: Range<usize>,
        skin: f64,
    ) -> Result<(), GpuError> {
        self.write_records(gpu, (&host.grids[..], &host.shapes[..]), (host.keys() + 1, places.len()))?;
        let entries = match host.lookup() {
            SearchStructure::TouchedCells => self.list_touched_cells(gpu, position, places.len(), skin)?,
            _ => self.list_buckets(gpu, host, position, places)?,
        };
        make_room(gpu, &mut self.items, entries, "tables of cells")?;
        self.is_divided = false;
        self.sort_entries(gpu, entries, host.keys())
    }

    /// Sorts the entries by these keys.
    fn sort_entries(&mut self, gpu: &Gpu, entries: usize, keys: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.order, entries, "tables of cells")?;
        let into = Order {
            order: &self.order,
            first: &self.first,
            room: &self.items,
        };
        self.workspace.order_by_key(gpu, &self.key, &self.owner, entries, keys, into)?;
        gpu.gather(&self.owner, &self.order, entries, 1, &self.items);
        Ok(())
    }

    fn make_entries(&mut self, gpu: &Gpu, entries: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.key, entries, "tables of cells")?;
        make_room(gpu, &mut self.owner, entries, "tables of cells")
    }

    /// Computes the bucket of every grain.
    fn list_buckets(&mut self, gpu: &Gpu, host: &search::Tables, position: &Buffer<C>, places: Range<usize>) -> Result<usize, GpuError> {
        let n = places.len();
        self.make_entries(gpu, n)?;
        let (count, dim) = units(n);
        neighbor_lists::buckets::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.argument(),
            self.grids.argument(),
            self.shapes.argument(),
            self.key.argument(),
            self.owner.argument(),
            host.grids() as u32,
            places.start as u32,
            n as u32,
        );
        Ok(n)
    }

    /// Lists the cells that the bounding box of each of n grains touches: counts them, sums the counts, and writes cells and grains.
    fn list_touched_cells(&mut self, gpu: &Gpu, position: &Buffer<C>, n: usize, skin: f64) -> Result<usize, GpuError> {
        make_room(gpu, &mut self.count, n, "tables of cells")?;
        make_room(gpu, &mut self.row, n + 1, "tables of cells")?;
        self.launch_boxes(gpu, position, &self.count, n, skin, false);
        self.workspace.exclusive_scan(gpu, &self.count, n, &self.row)?;
        let entries = gpu.download_part(&self.row, n..n + 1).wait()?[0] as usize;
        self.make_entries(gpu, entries)?;
        self.launch_boxes(gpu, position, &self.key, n, skin, true);
        Ok(entries)
    }

    fn launch_boxes(&self, gpu: &Gpu, position: &Buffer<C>, cells: &Buffer<u32>, n: usize, skin: f64, fill: bool) {
        let (count, dim) = units(n);
        neighbor_lists::cells_of_boxes::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.argument(),
            self.grids.argument(),
            self.shapes.argument(),
            self.row.argument(),
            cells.argument(),
            self.owner.argument(),
            C::of(skin),
            n as u32,
            fill,
        );
    }

    /// Search structure for tables that the host has laid out.
    pub(super) fn index(&self, host: &search::Tables, skin: f64) -> Index<'_, C> {
        let (lookup, halves) = if self.is_divided {
            (SearchStructure::DividedBuckets, 2)
        } else {
            (host.lookup(), 1)
        };
        Index {
            lookup,
            grids: &self.grids,
            shapes: &self.shapes,
            first: &self.first,
            items: &self.items,
            number: halves * host.grids(),
            skin,
            sides: PeriodicBoundaries::open(),
            kind: OPEN,
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Fills the tables of the pair search, if it uses some, after a sort.
    pub(super) fn fill_tables(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        let (n, skin) = (self.n, host.grains.cells.skin);
        let (gpu, position) = (&self.gpu, &self.position[self.now]);
        let (Some(tables), Some(laid_out)) = (&mut self.tables, &mut host.grains.cells.tables) else {
            return Ok(());
        };
        let (Some(fixed), Some(carriers)) = (&mut self.at_rest, &self.carriers) else {
            return tables.fill(gpu, laid_out, position, 0..n, skin);
        };
        let moving = n - fixed.grains;
        let Some(of_host) = laid_out.at_rest().filter(|_| moving > 0).map(search::StaticTables::tables) else {
            return tables.fill(gpu, laid_out, position, 0..n, skin);
        };
        let is_new = fixed.update(gpu, of_host, position, &carriers.place, skin)?;
        let member = self.border.as_ref().map_or(&carriers.member, |border| &border.member);
        let marks = &self.cells.lengths;
        let (count, dim) = units(n);
        neighbor_lists::mark_moving::launch(
            gpu.client(),
            count,
            dim,
            member.argument(),
            fixed.at_rest.argument(),
            marks.argument(),
            n as u32,
        );
        make_room(gpu, &mut tables.owner, n, "tables of cells")?;
        tables.workspace.compact(gpu, marks, n, &tables.owner, &self.cells.kept)?;
        tables.fill_divided(gpu, laid_out, position, moving, (&*fixed, of_host))?;
        if is_new {
            laid_out.count_static_fill();
        }
        Ok(())
    }
}

/// Search for the neighbors of the first n of `all` particles.
pub(super) struct RowSearch<'a, C> {
    /// Structure in which neighbors are looked up.
    pub index: Index<'a, C>,
    /// Records of positions.
    pub position: &'a Buffer<C>,
    /// Number of particles with rows.
    pub n: usize,
    /// Number of particles among which neighbors are searched.
    pub all: usize,
    /// Room for one word per tile, whose contents are lost.
    pub lengths: &'a Buffer<u32>,
    /// Marks of ghosts, which have no rows, if there may be some.
    pub member: Option<&'a Buffer<u32>>,
    /// Room for marks of candidates, whose contents are lost. With more room, the second pass compares fewer positions.
    pub room: &'a Buffer<C>,
    /// Whether [`Rows::fill`] is to do what [`Rows::put_touching_first`] does, if it can.
    pub touching_first: bool,
    /// Whether most rows have few entries. With room for notes, the second pass then reads neighbors from these.
    pub rows_are_short: bool,
}

impl<C: Number> RowSearch<'_, C> {
    /// Whether the first pass marks candidates for the second.
    fn marks_candidates(&self) -> bool {
        matches!(self.index.lookup, SearchStructure::Grids) && self.index.kind == OPEN
    }

    /// Words of room per particle.
    fn words(&self) -> usize {
        self.room.words() / self.n.max(1)
    }

    /// Whether the first pass also marks the neighbors that overlap, and the second puts them first.
    pub(super) fn marks_touching(&self) -> bool {
        self.touching_first && self.marks_candidates() && self.words() >= 2
    }

    /// Whether the first pass takes notes for the second, see [`neighbor_marks`].
    pub(super) fn takes_notes(&self) -> bool {
        self.rows_are_short && self.marks_candidates() && self.index.number == 1 && self.words() >= NOTE_WORDS
    }

    /// Words of bits of candidates per particle.
    fn candidate_words(&self) -> usize {
        if self.takes_notes() {
            NOTE_WORDS - 1
        } else {
            self.words() - usize::from(self.marks_touching())
        }
    }
}

/// Number of particles from which on their rows may have 2³² entries: more than two hundred each are rare.
const MAY_BE_TOO_LONG: usize = 1 << 24;

/// The sum of these sums of blocks.
pub(super) fn sum_of_blocks(sums: &[u32]) -> u64 {
    sums.iter().copied().map(u64::from).sum()
}

/// How often sums of counts below 2³² wrapped.
fn times_wrapped(sums: &[u32]) -> u64 {
    sums.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64
}

impl<R: Number> Rows<R> {
    /// Counts the neighbors of every particle, and sums the counts by tile. Waits for nothing.
    pub(super) fn count<C: Number>(&mut self, gpu: &Gpu, search: &RowSearch<'_, C>) -> Result<(), GpuError> {
        let (n, tiles) = (search.n, search.n.div_ceil(TILE));
        self.counted = n;
        if search.marks_candidates() {
            self.mark(gpu, search);
        } else {
            self.launch(gpu, search, false);
        }
        self.workspace.exclusive_scan(gpu, search.lengths, tiles, &self.tile_first)
    }

    /// Requests the download of the number of entries of the rows that were counted for n particles, with gaps.
    pub(super) fn request_entries(&self, copies: &mut Copies, n: usize) -> Ticket<u32> {
        let tiles = n.div_ceil(TILE);
        copies.add(&self.tile_first, tiles..tiles + 1)
    }

    /// The number of [`Rows::request_entries`]. Waits for the count.
    pub(super) fn entries(&self, gpu: &Gpu, n: usize) -> Result<usize, GpuError> {
        let mut copies = gpu.copies();
        let entries = self.request_entries(&mut copies, n);
        Ok(copies.wait()?.take(entries)[0] as usize)
    }

    /// Refuses the rows that were counted for n particles if 32 bits cannot number their entries. Waits for the count if there are so many particles that
    /// this may be.
    pub(super) fn refuse_too_long(&self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        if n < MAY_BE_TOO_LONG {
            return Ok(());
        }
        let first = gpu.download_part(&self.tile_first, 0..n.div_ceil(TILE) + 1).wait()?;
        let wraps = times_wrapped(&first);
        if wraps == 0 {
            return Ok(());
        }
        let word = size_of::<u32>() as u64;
        let needed = word * ((wraps << 32) + u64::from(first[first.len() - 1]));
        Err(gpu.out_of_memory("neighbors", needed, Room::Block(word * gpu.most_items::<u32>() as u64)))
    }

    /// Writes the neighbors that [`Rows::count`] found with the same search to rows with this number of entries.
    pub(super) fn fill<C: Number>(&mut self, gpu: &Gpu, search: &RowSearch<'_, C>, entries: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.list, entries + 2 * TILE, "neighbors")?;
        if search.marks_candidates() {
            self.write_marked(gpu, search);
        } else {
            self.launch(gpu, search, true);
        }
        Ok(())
    }

    /// Sorts the rows of the first n grains by these ids of the neighbors. No entry may be marked yet.
    pub(super) fn sort(&self, gpu: &Gpu, id: &Buffer<u32>, n: usize) {
        let (count, dim) = units(n);
        rows_by_id::sort_rows::launch(
            gpu.client(),
            count,
            dim,
            self.tile_first.argument(),
            self.count.argument(),
            self.list.argument(),
            id.argument(),
            n as u32,
        );
    }

    /// Puts the neighbors that overlap a particle before all others of its row, see [`row_order`]. No entry may be marked yet.
    pub(super) fn put_touching_first<C: Number>(&self, gpu: &Gpu, search: &RowSearch<'_, C>) {
        let (index, n) = (&search.index, search.n);
        let (count, dim) = units(n);
        row_order::touching_first::launch::<C>(
            gpu.client(),
            count,
            dim,
            search.position.records(),
            self.tile_first.argument(),
            self.count.argument(),
            self.list.argument(),
            super::sides::<C, C>(&index.sides),
            n as u32,
            index.kind,
        );
    }

    /// Counts the neighbors in grids, and keeps marks of them.
    fn mark<C: Number>(&self, gpu: &Gpu, search: &RowSearch<'_, C>) {
        let (index, n) = (&search.index, search.n);
        let (count, dim) = units(n);
        neighbor_marks::mark_neighbors::launch::<C>(
            gpu.client(),
            count,
            dim,
            search.position.records(),
            index.grids.argument(),
            index.shapes.argument(),
            index.first.argument(),
            // Not read without marks.
            search.member.unwrap_or(&self.tile_first).argument(),
            search.room.as_words(),
            self.count.argument(),
            search.lengths.argument(),
            C::of(index.skin),
            index.number as u32,
            search.candidate_words() as u32,
            n as u32,
            search.marks_touching(),
            search.takes_notes(),
            search.member.is_some(),
        );
    }

    /// Writes the marked neighbors.
    fn write_marked<C: Number>(&self, gpu: &Gpu, search: &RowSearch<'_, C>) {
        let (index, n) = (&search.index, search.n);
        let (count, dim) = units(n);
        neighbor_marks::marked_rows::launch::<C>(
            gpu.client(),
            count,
            dim,
            search.position.records(),
            index.grids.argument(),
            index.shapes.argument(),
            index.first.argument(),
            self.tile_first.argument(),
            self.count.argument(),
            search.room.as_words(),
            self.list.argument(),
            C::of(index.skin),
            index.number as u32,
            search.candidate_words() as u32,
            n as u32,
            search.marks_touching(),
            search.takes_notes(),
        );
    }

    /// Counts neighbors with any search, or writes them.
    fn launch<C: Number>(&self, gpu: &Gpu, search: &RowSearch<'_, C>, fill: bool) {
        let (index, n) = (&search.index, search.n);
        let (out, unused) = if fill {
            (&self.list, &self.count)
        } else {
            (&self.count, &self.list)
        };
        let (count, dim) = units(n);
        neighbor_lists::neighbor_rows::launch::<C>(
            gpu.client(),
            count,
            dim,
            search.position.argument(),
            index.grids.argument(),
            index.shapes.argument(),
            index.first.argument(),
            index.items.argument(),
            self.tile_first.argument(),
            // Not read without marks.
            search.member.unwrap_or(unused).argument(),
            out.argument(),
            search.lengths.argument(),
            super::sides::<C, C>(&index.sides),
            C::of(index.skin),
            index.number as u32,
            search.all as u32,
            n as u32,
            RowPlan {
                lookup: index.lookup,
                stride: TILE,
                once: false,
                fill,
                sides: index.kind,
            },
            search.member.is_some(),
        );
    }

    /// Number of entries in the rows of the first n grains, without gaps. Waits for it.
    pub(super) fn ends(&self, gpu: &Gpu, n: usize) -> Result<u64, GpuError> {
        let mut copies = gpu.copies();
        let sums = self.request_ends(gpu, n, &mut copies);
        Ok(copies.wait()?.make(sums, sum_of_blocks))
    }

    /// Queues the count for [`Rows::ends`], and requests its sums, see [`sum_of_blocks`].
    pub(super) fn request_ends(&self, gpu: &Gpu, n: usize, copies: &mut Copies) -> Ticket<u32> {
        let (count, dim) = units(neighbor_lists::BOUNDS * THREADS);
        neighbor_lists::sum_lengths::launch(gpu.client(), count, dim, self.count.argument(), self.sums.argument(), n as u32);
        copies.add(&self.sums, 0..self.sums.len())
    }
}

#[cfg(test)]
mod tests {
    use super::times_wrapped;

    #[test]
    fn wraps_of_sums_are_counted() {
        assert_eq!(times_wrapped(&[0, 7, 7, 4_294_967_295]), 0);
        assert_eq!(times_wrapped(&[0, 4_000_000_000, 3_705_032_704, 3_705_032_704, 5]), 2);
    }
}
