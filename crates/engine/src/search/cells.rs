//! Grids that sort the grains.

use super::pairs::Index;
use super::tables::Tables;
use crate::fields::{PART, Sorted, part_range, parts};
use crate::world::Search;
use seixo_device::{Cpu, Ranges, Strided, stable_order_by_key};
use seixo_sweeps::cells::{GRID, SHAPE, cell_of, class_of};
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::neighbors::SearchStructure;
use seixo_sweeps::periodic::PeriodicBoundaries;

/// Largest number of size classes; radii halve from class to class.
pub const MAX_CLASSES: usize = 8;

/// Grains of similar radius.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizeClass {
    /// Largest radius \[m\].
    pub largest: f64,
    /// Number of grains.
    pub grains: usize,
}

/// Non-empty size classes, from large to small.
pub fn size_classes(radii: impl Iterator<Item = f64> + Clone, most: usize) -> Vec<SizeClass> {
    let top = radii.clone().fold(0.0, f64::max);
    let mut classes = vec![SizeClass::default(); most];
    for radius in radii {
        let halvings = (1..most).take_while(|&c| radius <= top / (1u32 << c) as f64).count();
        classes[halvings].largest = classes[halvings].largest.max(radius);
        classes[halvings].grains += 1;
    }
    classes.retain(|class| class.largest > 0.0);
    classes
}

/// Number of cells along each axis between two corners, and their edge \[m\]. The edge is the given one, or larger if there would be too many cells.
pub fn cells_between(low: [f64; 3], high: [f64; 3], edge: f64, fits: impl Fn([f64; 3]) -> bool) -> ([u32; 3], f64) {
    let mut edge = edge;
    loop {
        let shape = [0, 1, 2].map(|axis| ((high[axis] - low[axis]) / edge).floor().max(0.0) + 1.0);
        if fits(shape) {
            return (shape.map(|cells| cells as u32), edge);
        }
        edge *= 1.26;
    }
}

/// Number of cells of all grids of these `shapes`, see [`SHAPE`].
pub fn number_of_cells(shapes: &[u32]) -> usize {
    let blocks = |shape: &[u32; SHAPE]| (shape[3] * shape[4] * shape[2].div_ceil(8)) as usize;
    let shapes = shapes.as_chunks::<SHAPE>().0;
    shapes.iter().map(|shape| 512 * blocks(shape)).sum()
}

/// Whether a grid of this shape has at most a few cells per grain.
pub fn is_small(shape: [f64; 3], n: usize) -> bool {
    shape.iter().product::<f64>() <= (4 * n + 4096) as f64
}

/// The record of a grid, see [`GRID`].
pub(super) fn grid_record(low: [f64; 3], edge: f64, largest: f64) -> [f64; GRID] {
    [low[0], low[1], low[2], 1.0 / edge, largest, 0.0, 0.0, 0.0]
}

/// Uniform grids, one per size class, over the bounding box of all grains. They sort the grains for any method of the pair search.
#[derive(Clone, Default)]
pub struct Cells {
    /// Records of the grids, see [`seixo_sweeps::cells::GRID`].
    pub grids: Vec<f64>,
    /// Records of the grids' shapes, see [`seixo_sweeps::cells::SHAPE`].
    pub shapes: Vec<u32>,
    /// Index of the first grain of each cell, and the total number.
    pub first: Vec<u32>,
    /// Index of each grain in the previous order.
    pub old_of: Vec<u32>,
    /// Gap between surfaces up to which grains are listed \[m\].
    pub skin: f64,
    /// The largest value that it may get, for everything that is laid out only once \[m\].
    pub widest: f64,
    /// Part of the skin across which grains may attract each other; the rest is for motion \[m\].
    pub gap: f64,
    /// Periodic sides at the last rebuild.
    pub sides: PeriodicBoundaries<f64, f64>,
    /// Which sides are periodic.
    pub kind: u32,
    /// Tables of the pair search, if it does not use these grids.
    pub tables: Option<Tables>,
    /// Number of cells along each axis for the reach of a pair, beyond one. In dense regions, more cells mean fewer useless tests.
    pub halvings: u32,
    /// Structure of the pair search.
    lookup: SearchStructure,
    /// The size classes in use, from large to small.
    classes: Vec<SizeClass>,
}

impl Cells {
    /// Grids with size classes for these radii.
    pub fn new(radii: impl Iterator<Item = f64> + Clone, search: Search, skin: f64) -> Cells {
        let search = search.chosen_for(radii.clone());
        let classes = size_classes(radii.clone(), if search == Search::Grid { 1 } else { MAX_CLASSES });
        let (lookup, tables) = match search {
            Search::Auto | Search::Grid | Search::HierarchicalGrid => (SearchStructure::Grids, None),
            Search::BruteForce => (SearchStructure::All, None),
            Search::GridMultiCell => (SearchStructure::TouchedCells, Some(Tables::of_touched_cells(radii))),
            Search::SpatialHash | Search::SpatialHashStatic => (SearchStructure::Buckets, Some(Tables::of_buckets(&classes))),
        };
        Cells {
            classes,
            skin,
            widest: skin,
            lookup,
            tables,
            ..Cells::default()
        }
    }

    /// Number of grids.
    pub fn grids(&self) -> usize {
        self.classes.len()
    }

    /// Structure of the pair search.
    pub fn lookup(&self) -> SearchStructure {
        self.lookup
    }

    /// Largest radius \[m\].
    pub fn largest_radius(&self) -> f64 {
        self.classes[0].largest
    }

    /// Smallest cell edge for these radii \[m\].
    pub fn smallest_edge(&self) -> f64 {
        self.smallest_edge_with(self.skin)
    }

    /// The same with another skin \[m\].
    pub fn smallest_edge_with(&self, skin: f64) -> f64 {
        2.0 * self.classes[self.classes.len() - 1].largest + skin
    }

    /// Lays out grids, and tables, with at most a few cells per grain, for n grains between two corners. Returns the number of cells.
    pub fn lay_out(&mut self, low: [f64; 3], high: [f64; 3], n: usize) -> usize {
        self.grids.clear();
        self.shapes.clear();
        let mut total = 0;
        for class in &self.classes {
            let edge = (2.0 * class.largest + self.skin) / f64::from(1 << self.halvings);
            let (shape, edge) = cells_between(low, high, edge, |shape| is_small(shape, n));
            self.grids.extend(grid_record(low, edge, class.largest));
            let blocks = shape.map(|cells| cells.div_ceil(8));
            self.shapes
                .extend([shape[0], shape[1], shape[2], blocks[0], blocks[1], total, 0, 0]);
            total += blocks.iter().product::<u32>() * 512;
        }
        debug_assert_eq!((self.grids.len(), self.shapes.len()), (self.grids() * GRID, self.grids() * SHAPE));
        if let Some(tables) = &mut self.tables {
            tables.lay_out(low, high, n, self.skin);
        }
        total as usize
    }

    /// Sorts the grains as [`Cells::order`], and fills the tables of the search with all of them.
    pub fn sort(&mut self, device: &Cpu, fields: &mut impl Sorted, keep: impl Fn([f64; 3]) -> bool + Sync) {
        self.order(device, fields, keep);
        self.fill_tables(device, fields.places(), &[]);
    }

    /// Fills the tables of the search, if it uses some, after [`Cells::order`]. Grains `at_rest` for good stand in tables of their own: numbers that
    /// name them, in ascending order, with their indices.
    pub fn fill_tables(&mut self, device: &Cpu, position: &[f64], at_rest: &[(u32, u32)]) {
        if let Some(tables) = &mut self.tables {
            tables.fill_divided(device, position, at_rest, self.skin);
        }
    }

    /// Sorts the grains by cell and id, without those for which `keep` is false; `old_of` then contains their previous indices.
    pub fn order(&mut self, device: &Cpu, fields: &mut impl Sorted, keep: impl Fn([f64; 3]) -> bool + Sync) {
        let n = fields.ids().len();
        let (mut low, mut high, mut kept) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0);
        // The cells depend on the remaining grains only, as a run that resumes from a checkpoint has no others.
        for center in fields.places().chunks_exact(RECORD).filter(|x| keep([x[0], x[1], x[2]])) {
            kept += 1;
            for axis in 0..3 {
                low[axis] = low[axis].min(center[axis]);
                high[axis] = high[axis].max(center[axis]);
            }
        }
        let cells = self.lay_out(low, high, kept);
        let mut key = vec![0; n];
        let position = fields.places();
        device.run(
            parts(n),
            (Strided {
                items: &mut key[..],
                per_part: PART,
            },),
            |part, (key,): (Strided<u32>,)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let at = i * RECORD;
                    key.items[i - first] = if keep([position[at], position[at + 1], position[at + 2]]) {
                        let class = class_of::<f64>(position[at + 3], &self.grids, self.grids());
                        cell_of::<f64>(&load(position, at), &self.grids, &self.shapes, class, false)
                    } else {
                        cells as u32
                    };
                }
            },
        );
        stable_order_by_key(&key, cells + 1, &mut self.old_of, &mut self.first);
        self.first.truncate(cells + 1);
        self.old_of.truncate(self.first[cells] as usize);
        self.sort_within_cells(device, fields.ids());
        fields.reorder(device, &self.old_of);
    }

    /// Sorts the grains of each cell by their ids.
    fn sort_within_cells(&mut self, device: &Cpu, ids: &[u32]) {
        let (first, cells) = (&self.first[..], self.first.len() - 1);
        let bounds: Vec<u32> = (0..=parts(cells)).map(|part| first[(part * PART).min(cells)]).collect();
        let data = (Ranges {
            items: &mut self.old_of[..],
            bounds: &bounds,
            stride: 1,
        },);
        device.run(parts(cells), data, |part, (grains,): (Ranges<u32>,)| {
            let (start, end) = part_range(part, cells);
            for cell in first[start..=end].windows(2) {
                if cell[1] - cell[0] > 1 {
                    let [from, to] = [cell[0], cell[1]].map(|place| (place - first[start]) as usize);
                    grains.items[from..to].sort_unstable_by_key(|&i| ids[i as usize]);
                }
            }
        });
    }

    /// Structure for the lookup of rows.
    pub fn index(&self) -> Index<'_> {
        match &self.tables {
            Some(tables) => Index {
                sides: self.sides,
                kind: self.kind,
                ..tables.index(self.skin)
            },
            None => Index {
                lookup: self.lookup,
                ..self.index_of_grids(self.skin)
            },
        }
    }

    /// The grids as lookup structure, for any method of the pair search.
    fn index_of_grids(&self, skin: f64) -> Index<'_> {
        Index {
            lookup: SearchStructure::Grids,
            grids: &self.grids,
            shapes: &self.shapes,
            first: &self.first,
            items: &[],
            skin,
            sides: self.sides,
            kind: self.kind,
        }
    }

    /// Writes the neighbors of grain i with gaps below `skin` to `row`.
    pub fn neighbors(&self, i: usize, position: &[f64], skin: f64, row: &mut Vec<u32>) {
        let index = self.index_of_grids(skin);
        let count = index.row::<false, false>(i, position, (0, 0), 0, &mut []);
        row.resize(count as usize, 0);
        index.row::<false, true>(i, position, (0, 0), 0, row);
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let tables = self.tables.as_ref().map_or(0, Tables::bytes);
        (self.first.capacity() * 4 + self.old_of.capacity() * 4) as u64 + tables
    }
}
