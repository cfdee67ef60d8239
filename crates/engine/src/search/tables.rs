//! Tables of the grains in each cell or bucket, for searches that do not use the sorting grids.

use super::cells::{SizeClass, cells_between, grid_record, is_small};
use super::pairs::Index;
use super::resize_with_room;
use crate::fields::{PART, part_range, parts, start_parts};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan, stable_order_by_key};
use seixo_sweeps::buckets::bucket_of_grain;
use seixo_sweeps::cells::{GRID, SHAPE};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::neighbors::{SearchStructure, overlapped_cells};
use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
use std::ops::Range;

/// Largest number of cells of a hash table along an axis: their indices must fit into 32 bits.
const MAX_CELLS: f64 = (1u32 << 31) as f64;
/// Number of buckets per grain of a table.
const BUCKETS_PER_GRAIN: usize = 2;

/// Layout of the cells.
#[derive(Clone)]
enum Layout {
    /// One grid, whose edge follows from the means of R, R² and R³ \[m, m², m³\], for radii up to the last number \[m\].
    TouchedCells([f64; 3], f64),
    /// One hash table for each size class.
    Buckets(Vec<SizeClass>),
}

/// Grains by cell or bucket.
#[derive(Clone)]
pub struct Tables {
    /// Records of the grid or of the tables, see [`seixo_sweeps::cells::GRID`].
    pub grids: Vec<f64>,
    /// Records of their shapes, see [`seixo_sweeps::cells::SHAPE`] and [`seixo_sweeps::buckets`].
    pub shapes: Vec<u32>,
    /// Index of the first item of each cell or bucket, and the total number.
    first: Vec<u32>,
    /// Indices of grains, by cell or bucket.
    items: Vec<u32>,
    layout: Layout,
    /// Number of cells, or of buckets of all tables.
    keys: usize,
    key: Vec<u32>,
    owner: Vec<u32>,
    order: Vec<u32>,
    /// Index of the first entry of each grain, and of each part; with divided tables, 0 for grains that never move.
    row: Vec<u32>,
    part_row: Vec<u32>,
    /// Tables of the grains that never move, and whether they now follow the tables of all others.
    at_rest: Option<Box<StaticTables>>,
    is_divided: bool,
}

/// Hash tables of grains that never move, which last until these grains change \[Silva 2010, § 4.2\].
#[derive(Clone)]
pub struct StaticTables {
    /// Numbers that name the grains, in ascending order.
    names: Vec<u32>,
    /// Their records of positions \[m\] when the tables were filled.
    position: Vec<f64>,
    /// Tables of the indices of these names.
    tables: Tables,
    /// Number of times that the tables were filled.
    fills: u64,
}

impl StaticTables {
    /// Numbers that name the grains, in ascending order.
    pub fn names(&self) -> &[u32] {
        &self.names
    }

    /// The tables, as the host laid them out.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Number of times that the tables were filled, on any device.
    pub fn fills(&self) -> u64 {
        self.fills
    }

    /// Fills the tables, unless they hold the same grains at the same positions already. `classes` are those of all grains.
    fn update(&mut self, device: &Cpu, position: &[f64], at_rest: &[(u32, u32)], classes: &[SizeClass], skin: f64) {
        let record = |place: u32| &position[place as usize * RECORD..][..RECORD];
        let is_same = |(known, &(name, place)): ((&u32, &[f64]), &(u32, u32))| *known.0 == name && known.1 == record(place);
        let known = self.names.iter().zip(self.position.chunks_exact(RECORD));
        if self.names.len() == at_rest.len() && known.zip(at_rest).all(is_same) {
            return;
        }
        self.names.clear();
        self.position.clear();
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for &(name, place) in at_rest {
            let center = record(place);
            self.names.push(name);
            self.position.extend(center);
            for axis in 0..3 {
                low[axis] = low[axis].min(center[axis]);
                high[axis] = high[axis].max(center[axis]);
            }
        }
        let own = classes.iter().map(|class| SizeClass {
            grains: class.grains.min(at_rest.len()),
            ..*class
        });
        self.tables = Tables::of_buckets(&own.collect::<Vec<_>>());
        self.tables.lay_out(low, high, at_rest.len(), skin);
        self.tables.fill(device, &self.position, 0..at_rest.len(), skin);
        self.fills += 1;
    }
}

/// Cell edge with the least work for a search through overlapped cells \[m\], from the means of D, D² and D³, with D = 2R + skin.
///
/// A box of edge D overlaps (D/e + 1)³ cells on average. So a volume e³ compares the square of n Σ(D + e)³ grains. The derivative of
/// ⟨(D + e)³⟩²/e³ vanishes at the root of e³ + ⟨D⟩ e² − ⟨D²⟩ e − ⟨D³⟩. For grains of one size this is e = D. A grain is then in at most
/// 12 cells on average.
fn best_edge([d, d2, d3]: [f64; 3]) -> f64 {
    let excess = |e: f64| ((e + d) * e - d2) * e - d3;
    // The root is at least the mean of D. At the largest D, which is at least the root, the excess is positive.
    let (mut low, mut high) = (d, d);
    while excess(high) < 0.0 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

impl Tables {
    fn new(layout: Layout) -> Tables {
        Tables {
            grids: Vec::new(),
            shapes: Vec::new(),
            first: Vec::new(),
            items: Vec::new(),
            layout,
            keys: 0,
            key: Vec::new(),
            owner: Vec::new(),
            order: Vec::new(),
            row: Vec::new(),
            part_row: Vec::new(),
            at_rest: None,
            is_divided: false,
        }
    }

    /// A table of all cells that each grain overlaps \[PUC-Rio 2009, § 5.1.2\].
    pub fn of_touched_cells(radii: impl Iterator<Item = f64>) -> Tables {
        let (sums, grains, largest) = radii.fold(([0.0; 3], 0.0, 0.0), |(sums, grains, largest), r| {
            ([sums[0] + r, sums[1] + r * r, sums[2] + r * r * r], grains + 1.0, r.max(largest))
        });
        Tables::new(Layout::TouchedCells(sums.map(|sum: f64| sum / grains), largest))
    }

    /// A hash table for each size class \[Silva 2010\].
    pub fn of_buckets(classes: &[SizeClass]) -> Tables {
        Tables::new(Layout::Buckets(classes.to_vec()))
    }

    /// Tables of the grains that never move, if there are some.
    pub fn at_rest(&self) -> Option<&StaticTables> {
        self.at_rest.as_deref().filter(|fixed| !fixed.names.is_empty())
    }

    /// Counts a filling of these tables on a GPU.
    pub fn count_static_fill(&mut self) {
        if let Some(fixed) = &mut self.at_rest {
            fixed.fills += 1;
        }
    }

    /// Kind of lookup structure, if all grains are in the same tables.
    pub fn lookup(&self) -> SearchStructure {
        match self.layout {
            Layout::TouchedCells(..) => SearchStructure::TouchedCells,
            Layout::Buckets(_) => SearchStructure::Buckets,
        }
    }

    /// Number of cells, or of buckets of all tables.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Number of grids or tables.
    pub fn grids(&self) -> usize {
        self.grids.len() / GRID
    }

    /// Lays out the tables for n grains between two corners.
    pub fn lay_out(&mut self, low: [f64; 3], high: [f64; 3], n: usize, skin: f64) {
        self.grids.clear();
        self.shapes.clear();
        match &self.layout {
            Layout::TouchedCells([r, r2, r3], largest) => {
                let d = 2.0 * r + skin;
                let d2 = 4.0 * (r2 + r * skin) + skin * skin;
                let d3 = 8.0 * r3 + skin * (12.0 * r2 + skin * (6.0 * r + skin));
                let (shape, edge) = cells_between(low, high, best_edge([d, d2, d3]), |shape| is_small(shape, n));
                self.grids.extend(grid_record(low, edge, *largest));
                self.shapes.extend([shape[0], shape[1], shape[2], 0, 0, 0, 0, 0]);
                self.keys = shape.iter().product::<u32>() as usize;
            }
            Layout::Buckets(classes) => {
                let mut total = 0;
                for class in classes {
                    let fits = |shape: [f64; 3]| shape.iter().all(|&cells| cells <= MAX_CELLS);
                    let (shape, edge) = cells_between(low, high, 2.0 * class.largest + skin, fits);
                    let buckets = BUCKETS_PER_GRAIN * class.grains + 1;
                    self.grids.extend(grid_record(low, edge, class.largest));
                    self.shapes
                        .extend([shape[0], shape[1], shape[2], buckets as u32, 0, total as u32, 0, 0]);
                    total += buckets;
                }
                self.keys = total;
            }
        }
        debug_assert_eq!(self.shapes.len(), self.grids() * SHAPE);
    }

    /// Records of these tables, followed by those of tables of grains that never move.
    pub fn divided_records(&self, fixed: &Tables) -> (Vec<f64>, Vec<u32>) {
        let mut shapes = [&self.shapes[..], &fixed.shapes[..]].concat();
        for shape in shapes[self.shapes.len()..].chunks_exact_mut(SHAPE) {
            // The first places of the other tables come after those of these, which end with the total number.
            shape[5] += self.keys as u32 + 1;
        }
        ([&self.grids[..], &fixed.grids[..]].concat(), shapes)
    }

    /// Fills hash tables with all grains; those `at_rest` for good stand in tables of their own, which are kept while they do not change. Numbers
    /// that name them are in ascending order, with their indices.
    pub fn fill_divided(&mut self, device: &Cpu, position: &[f64], at_rest: &[(u32, u32)], skin: f64) {
        let n = position.len() / RECORD;
        let classes = match &self.layout {
            Layout::Buckets(classes) if !at_rest.is_empty() => classes.clone(),
            _ => {
                // Without such grains, those that were there may come back elsewhere.
                if let Some(fixed) = &mut self.at_rest {
                    fixed.names.clear();
                }
                return self.fill(device, position, 0..n, skin);
            }
        };
        let mut fixed = self.at_rest.take().unwrap_or_else(|| {
            Box::new(StaticTables {
                names: Vec::new(),
                position: Vec::new(),
                tables: Tables::of_buckets(&classes),
                fills: 0,
            })
        });
        fixed.update(device, position, at_rest, &classes, skin);
        self.row.clear();
        self.row.resize(n, 1);
        for &(_, place) in at_rest {
            self.row[place as usize] = 0;
        }
        let moves = &self.row;
        self.owner.clear();
        self.owner.extend((0..n as u32).filter(|&i| moves[i as usize] > 0));
        self.list_buckets(device, position);
        self.sort_entries();
        let moving = self.items.len() as u32;
        (self.grids, self.shapes) = self.divided_records(&fixed.tables);
        self.first.extend(fixed.tables.first.iter().map(|first| moving + first));
        self.items.extend(fixed.tables.items.iter().map(|&name| at_rest[name as usize].1));
        self.at_rest = Some(fixed);
        self.is_divided = true;
    }

    /// Fills the tables with the grains of these indices.
    pub fn fill(&mut self, device: &Cpu, position: &[f64], places: Range<usize>, skin: f64) {
        match self.layout {
            Layout::TouchedCells(..) => self.list_touched_cells(device, position, skin),
            Layout::Buckets(_) => {
                self.owner.clear();
                self.owner.extend(places.start as u32..places.end as u32);
                self.list_buckets(device, position);
            }
        }
        self.sort_entries();
        self.is_divided = false;
    }

    /// Sorts the entries by cell or bucket.
    fn sort_entries(&mut self) {
        resize_with_room(&mut self.order, self.key.len());
        stable_order_by_key(&self.key, self.keys, &mut self.order, &mut self.first);
        resize_with_room(&mut self.items, self.key.len());
        for (item, &entry) in self.items.iter_mut().zip(&self.order) {
            *item = self.owner[entry as usize];
        }
    }

    /// Computes the bucket of each owner of an entry.
    fn list_buckets(&mut self, device: &Cpu, position: &[f64]) {
        let n = self.owner.len();
        let (owner, grids, shapes, tables) = (&self.owner[..], &self.grids[..], &self.shapes[..], self.grids.len() / GRID);
        self.key.resize(n, 0);
        let data = (Strided {
            items: &mut self.key[..],
            per_part: PART,
        },);
        device.run(parts(n), data, |part, (key,): (Strided<u32>,)| {
            let (first, _) = part_range(part, n);
            for (k, key) in key.items.iter_mut().enumerate() {
                *key = bucket_of_grain::<f64>(owner[first + k] as usize, position, grids, shapes, tables);
            }
        });
    }

    /// Lists the cells that the bounding box of each grain overlaps: counts, prefix sum, write of cell and grain.
    fn list_touched_cells(&mut self, device: &Cpu, position: &[f64], skin: f64) {
        let n = position.len() / RECORD;
        let (grids, shapes) = (&self.grids[..], &self.shapes[..]);
        self.row.resize(n + 1, 0);
        self.row[n] = 0;
        let data = (Strided {
            items: &mut self.row[..n],
            per_part: PART,
        },);
        device.run(parts(n), data, |part, (count,): (Strided<u32>,)| {
            let (first, _) = part_range(part, n);
            for (k, count) in count.items.iter_mut().enumerate() {
                *count = overlapped_cells::<f64>(first + k, position, grids, shapes, skin, 0, &mut [], &mut [], false);
            }
        });
        let entries = exclusive_scan(&mut self.row);
        start_parts(&self.row, &mut self.part_row);
        resize_with_room(&mut self.key, entries as usize);
        resize_with_room(&mut self.owner, entries as usize);
        let row = &self.row[..];
        let data = (
            Ranges {
                items: &mut self.key[..],
                bounds: &self.part_row,
                stride: 1,
            },
            Ranges {
                items: &mut self.owner[..],
                bounds: &self.part_row,
                stride: 1,
            },
        );
        device.run(parts(n), data, |part, (key, owner): (Ranges<u32>, Ranges<u32>)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let at = (row[i] - row[first]) as usize;
                overlapped_cells::<f64>(i, position, grids, shapes, skin, at, key.items, owner.items, true);
            }
        });
    }

    /// Structure for the lookup of rows.
    pub fn index(&self, skin: f64) -> Index<'_> {
        Index {
            lookup: if self.is_divided {
                SearchStructure::DividedBuckets
            } else {
                self.lookup()
            },
            grids: &self.grids,
            shapes: &self.shapes,
            first: &self.first,
            items: &self.items,
            skin,
            sides: PeriodicBoundaries::open(),
            kind: OPEN,
        }
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = [
            &self.first,
            &self.items,
            &self.key,
            &self.owner,
            &self.order,
            &self.row,
            &self.part_row,
        ];
        let own: u64 = words.iter().map(|words| 4 * words.capacity() as u64).sum();
        let of_fixed =
            |fixed: &StaticTables| 4 * fixed.names.capacity() as u64 + 8 * fixed.position.capacity() as u64 + fixed.tables.bytes();
        own + self.at_rest.as_deref().map_or(0, of_fixed)
    }
}
