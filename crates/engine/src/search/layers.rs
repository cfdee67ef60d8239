//! Layers of cells near a block: where the particles were at the last sort that may be in the block now.
//!
//! Ghost particles are selected from these cells in place of all particles \[Harada 2010\]. Particles have moved since the cells were filled. So the
//! block is widened by the largest distance that any of them can have moved, as in the source.

use super::Cells;
use seixo_laws::Real;
use seixo_sweeps::cells::{GRID, SHAPE, Span, cell_index, next_run, walk_through};
use seixo_sweeps::domain::Block;
use std::ops::Range;

/// Factor for the largest motion, so that rounding cannot matter \[-\].
const MARGIN: f64 = 1.01;

/// Images of a block along a periodic axis, in lengths of that axis. An image of the particle may be in the block, and the particle may have been
/// wrapped since the sort.
const IMAGES: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];

/// A box of cells of one grid.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Index of the grid.
    pub grid: usize,
    /// The cells.
    pub span: Span,
}

impl Layer {
    /// Number of cells along each axis.
    pub fn widths(&self) -> [u32; 3] {
        let Span {
            x_first,
            x_last,
            y_first,
            y_last,
            z_first,
            z_last,
        } = self.span;
        [x_last - x_first + 1, y_last - y_first + 1, z_last - z_first + 1]
    }
}

impl Cells {
    /// Upper limit of the distance that a grain can have moved since the last sort \[m\]. Lists are rebuilt after the step in which a grain moved half
    /// the skin, and a grain that moves farther than the smallest cell in a step stops the run. The other half of the skin is room for rounding. The skin
    /// may be another one since then.
    pub fn largest_motion(&self) -> f64 {
        MARGIN * (self.widest + self.smallest_edge_with(self.widest))
    }

    /// Ranges of indices at the last sort that contain all particles which may be in this block now.
    pub fn ranges_near(&self, block: &Block<f64>) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        for Layer { grid, span } in layers_near(block, self.largest_motion(), (&self.grids[..], &self.shapes[..]), |x| x) {
            let mut walk = walk_through(&span, &self.shapes, grid, false);
            while walk.goes_on() {
                let run = next_run(&mut walk, &self.first, false);
                if run.first < run.end {
                    ranges.push(run.first..run.end);
                }
            }
        }
        ranges
    }
}

/// The cells of these grids in which particles may have been that are in a block now, if none moved farther than `motion` \[m\]. No cell is listed
/// twice. Numbers are rounded by `of`, as they were when the cells were filled: rounding keeps the order of coordinates, so no cell is missed.
pub fn layers_near<C: Real>(block: &Block<f64>, motion: f64, (grids, shapes): (&[C], &[u32]), of: impl Fn(f64) -> C) -> Vec<Layer> {
    let [low, high, length] = [block.low, block.high, block.length].map(|corner| [corner.x, corner.y, corner.z]);
    let mut layers = Vec::new();
    for grid in 0..shapes.len() / SHAPE {
        let [along_x, along_y, along_z] = [0, 1, 2].map(|axis| {
            let ends = [low[axis] - motion, high[axis] + motion];
            let cells = (grids[grid * GRID + axis], grids[grid * GRID + 3], shapes[grid * SHAPE + axis]);
            ranges_along(ends, length[axis], cells, &of)
        });
        for &[z_first, z_last] in &along_z {
            for &[y_first, y_last] in &along_y {
                for &[x_first, x_last] in &along_x {
                    let span = Span {
                        x_first,
                        x_last,
                        y_first,
                        y_last,
                        z_first,
                        z_last,
                    };
                    layers.push(Layer { grid, span });
                }
            }
        }
    }
    layers
}

/// First and last cell along an axis of each range that an interval and its images overlap, in ascending order. The cells are given by the origin,
/// the cells per length, and their number.
fn ranges_along<C: Real>(
    ends: [f64; 2],
    length: f64,
    (origin, cells_per_length, cells): (C, C, u32),
    of: &impl Fn(f64) -> C,
) -> Vec<[u32; 2]> {
    let images: &[f64] = if length > 0.0 { &IMAGES } else { &[0.0] };
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for image in images {
        let [low, high] = ends.map(|end| of(end + image * length));
        // Grids cover all particles of their sort.
        let is_beside = high < origin || C::whole((low - origin) * cells_per_length) > cells;
        if is_beside {
            continue;
        }
        let [first, last] = [low, high].map(|end| cell_index::<C>(end, origin, cells_per_length, cells));
        match ranges.last_mut() {
            Some(range) if first <= range[1] + 1 => range[1] = range[1].max(last),
            _ => ranges.push([first, last]),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::search::tests::{Sphere, arrangement};
    use crate::world::Search;
    use proptest::prelude::*;
    use seixo_device::Cpu;
    use seixo_laws::Vector3;
    use seixo_sweeps::domain::is_in_block;
    use seixo_sweeps::layout::{RECORD, load};

    const SKIN: f64 = 0.05;

    /// Cells that contain these spheres, and the sorted spheres.
    fn sorted(spheres: &[Sphere]) -> (Cells, Fields) {
        let mut fields = Fields::default();
        for (id, (center, radius)) in spheres.iter().enumerate() {
            fields.id.push(id as u32);
            fields.position.extend([center[0], center[1], center[2], *radius]);
        }
        let radii = spheres.iter().map(|(_, radius)| *radius);
        let mut cells = Cells::new(radii, Search::HierarchicalGrid, SKIN);
        cells.sort(&Cpu::new(1).unwrap(), &mut fields, |_| true);
        (cells, fields)
    }

    fn vector([x, y, z]: [f64; 3]) -> Vector3<f64> {
        Vector3 { x, y, z }
    }

    /// Whether each particle is in one of these ranges; none may be in two.
    fn covered(ranges: &[Range<usize>], n: usize) -> Vec<bool> {
        let mut covered = vec![false; n];
        for i in ranges.iter().flat_map(Range::clone) {
            assert!(!covered[i], "particle {i} is in two ranges");
            covered[i] = true;
        }
        covered
    }

    proptest! {
        #[test]
        fn all_that_moved_into_a_block_was_in_its_layers(
            spheres in arrangement(200),
            corners in [(-6.0..6.0f64, 0.1..6.0f64), (-6.0..6.0f64, 0.1..6.0f64), (-6.0..6.0f64, 0.1..6.0f64)],
            middle in any::<prop::sample::Index>(),
            way in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64],
            period in prop_oneof![Just(0.0), 8.0..30.0f64],
            wraps in -1..=1i32,
        ) {
            let (cells, mut fields) = sorted(&spheres);
            let n = fields.id.len();
            let near = middle.get(&spheres).0;
            let low = [0, 1, 2].map(|axis| near[axis] + corners[axis].0);
            let high = [0, 1, 2].map(|axis| low[axis] + corners[axis].1);
            let block = Block { low: vector(low), high: vector(high), length: vector([period; 3]) };
            let covered = covered(&cells.ranges_near(&block), n);
            // As far as a grain can move until lists are rebuilt, in any direction, and through a periodic side.
            let long = way.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
            let farthest = 0.5 * SKIN + cells.smallest_edge();
            for (k, record) in fields.position.chunks_exact_mut(RECORD).enumerate() {
                let share = (k % 3) as f64 / 2.0;
                for axis in 0..3 {
                    record[axis] += share * farthest * way[axis] / long + f64::from(wraps) * period;
                }
            }
            for (i, is_covered) in covered.iter().enumerate() {
                let is_inside = is_in_block(&load::<f64>(&fields.position, i * RECORD), &block);
                prop_assert!(!is_inside || *is_covered, "grain {i} of {n}");
            }
        }
    }

    #[test]
    fn layers_at_a_border_are_as_thick_as_the_range_and_the_motion() {
        // A rod of 100 x 4 x 4 equal spheres, and a neighbor that begins at its end.
        let spheres: Vec<Sphere> = (0..1600u32)
            .map(|k| ([f64::from(k / 16), f64::from(k / 4 % 4), f64::from(k % 4)], 0.5))
            .collect();
        let (cells, fields) = sorted(&spheres);
        let reach = 1.0 + SKIN;
        let (low, high) = ([99.5 - reach, -1e3, -1e3], [f64::INFINITY, 1e3, 1e3]);
        let block = Block {
            low: vector(low),
            high: vector(high),
            length: vector([0.0; 3]),
        };
        let covered = covered(&cells.ranges_near(&block), fields.id.len());
        let tested = covered.iter().filter(|is_covered| **is_covered).count();
        // The range is 1.05 spacings wide, and the motion 1.11, less half a spacing to the end of the rod. Cells are 1.05 wide.
        assert!((2 * 16..=4 * 16).contains(&tested), "{tested} of 1600");
    }
}
