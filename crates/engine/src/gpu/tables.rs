//! Tables of the grains in every cell or bucket on the GPU, and neighbor rows that are found with them or with the grids. Tables and rows are the
//! same as on the host.

use super::neighbor_lists::make_room;
use super::{Cells, Number, Rows, numbers};
use crate::search;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Order, units};
use seixo_sweeps::cells::{GRID, SHAPE};
use seixo_sweeps::entries::TILE;
use seixo_sweeps::kernels::neighbor_lists;
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
        })
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
        if self.grids.len() != host.grids.len() {
            self.grids = gpu.buffer(host.grids.len(), "tables of cells")?;
            self.shapes = gpu.buffer(host.shapes.len(), "tables of cells")?;
        }
        gpu.write(&self.grids, &numbers::<C>(host.grids.iter().copied()));
        gpu.write(&self.shapes, &host.shapes);
        let entries = match host.lookup() {
            SearchStructure::TouchedCells => self.list_touched_cells(gpu, position, places.len(), skin)?,
            _ => self.list_buckets(gpu, host, position, places)?,
        };
        make_room(gpu, &mut self.first, host.keys() + 1, "tables of cells")?;
        make_room(gpu, &mut self.items, entries, "tables of cells")?;
        make_room(gpu, &mut self.order, entries, "tables of cells")?;
        let into = Order {
            order: &self.order,
            first: &self.first,
            room: &self.items,
        };
        gpu.order_by_key(&self.key, &self.owner, entries, host.keys(), into)?;
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
        gpu.exclusive_scan(&self.count, n, &self.row)?;
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
        Index {
            lookup: host.lookup(),
            grids: &self.grids,
            shapes: &self.shapes,
            first: &self.first,
            items: &self.items,
            number: host.grids(),
            skin,
            sides: PeriodicBoundaries::open(),
            kind: OPEN,
        }
    }
}

impl<R: Number> Rows<R> {
    /// Fills the rows of the first n of `all` grains: counts neighbors, sums the counts of tiles, writes the neighbors. Returns the number of
    /// entries. `lengths` has room for one word per tile. `member` marks ghosts, which have no rows, if there may be some.
    pub(super) fn fill<C: Number>(
        &mut self,
        gpu: &Gpu,
        index: &Index<'_, C>,
        position: &Buffer<C>,
        (n, all): (usize, usize),
        lengths: &Buffer<u32>,
        member: Option<&Buffer<u32>>,
    ) -> Result<usize, GpuError> {
        let among = (n, all, member.unwrap_or(lengths), member.is_some());
        self.launch(gpu, index, position, among, false);
        let tiles = n.div_ceil(TILE);
        let (count, dim) = units(tiles);
        neighbor_lists::tile_sizes::launch(
            gpu.client(),
            count,
            dim,
            self.count.argument(),
            lengths.argument(),
            n as u32,
            tiles as u32,
        );
        gpu.exclusive_scan(lengths, tiles, &self.tile_first)?;
        let entries = gpu.download_part(&self.tile_first, tiles..tiles + 1).wait()?[0] as usize;
        make_room(gpu, &mut self.list, entries + 2 * TILE, "neighbors")?;
        self.launch(gpu, index, position, among, true);
        Ok(entries)
    }

    /// Sorts the rows of the first n grains by these ids of the neighbors. No entry may be marked yet.
    pub(super) fn sort(&self, gpu: &Gpu, id: &Buffer<u32>, n: usize) {
        let (count, dim) = units(n);
        neighbor_lists::sort_rows::launch(
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

    fn launch<C: Number>(
        &self,
        gpu: &Gpu,
        index: &Index<'_, C>,
        position: &Buffer<C>,
        (n, all, member, copies): (usize, usize, &Buffer<u32>, bool),
        fill: bool,
    ) {
        let (count, dim) = units(n);
        neighbor_lists::neighbor_rows::launch::<C>(
            gpu.client(),
            count,
            dim,
            position.argument(),
            index.grids.argument(),
            index.shapes.argument(),
            index.first.argument(),
            index.items.argument(),
            self.tile_first.argument(),
            member.argument(),
            if fill { &self.list } else { &self.count }.argument(),
            super::sides::<C, C>(&index.sides),
            C::of(index.skin),
            index.number as u32,
            all as u32,
            n as u32,
            RowPlan {
                lookup: index.lookup,
                stride: TILE,
                once: false,
                fill,
                sides: index.kind,
            },
            copies,
        );
    }

    /// Number of entries in the rows of the first n grains.
    pub(super) fn ends(&self, gpu: &Gpu, n: usize) -> Result<u64, GpuError> {
        let counts = gpu.download_part(&self.count, 0..n).wait()?;
        Ok(counts.into_iter().map(u64::from).sum())
    }
}
