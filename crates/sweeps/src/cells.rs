//! Cells of the uniform grids, and iteration over them.
//!
//! Cells are numbered in blocks of 8 × 8 × 8, so that grains sorted by cell have their neighbors close in memory. Alternatively they are numbered in
//! rows, so that adjacent GPU threads visit the same number of runs.
//!
//! ```
//! use seixo_sweeps::cells::cell_number;
//! // 16 × 8 × 8 cells, which are 2 × 1 × 1 blocks. Cell 8 0 0 is the first of the second block.
//! let shapes = [16, 8, 8, 2, 1, 0, 0, 0];
//! assert_eq!(cell_number(&shapes, 0, 8, 0, 0, false), 512);
//! // Numbered in rows, it follows cell 7 0 0.
//! assert_eq!(cell_number(&shapes, 0, 8, 0, 0, true), 8);
//! ```

use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Numbers per grid in the slice `grids`: origin x y z, cells per length, largest radius in it, padding.
pub const GRID: usize = 8;
/// Numbers per grid in the slice `shapes`: cells x y z, blocks x y, first cell, padding.
pub const SHAPE: usize = 8;

/// Index of the cell with this coordinate. Outside coordinates are in the outermost cell.
#[cube]
#[inline(always)]
pub fn cell_index<R: Real>(coordinate: R, origin: R, cells_per_length: R, cells: u32) -> u32 {
    min(R::whole((coordinate - origin) * cells_per_length), cells - 1u32)
}

/// Number of the cell x y z of grid `g`.
#[cube]
#[inline(always)]
pub fn cell_number(shapes: &[u32], g: usize, x: u32, y: u32, z: u32, #[comptime] rows: bool) -> u32 {
    let width_x = width_of(shapes, g, 0usize, rows);
    let width_y = width_of(shapes, g, 1usize, rows);
    row_of(shapes[g * 8usize + 5usize], width_x, width_y, y, z, rows) + along_row(x, rows)
}

/// Number of the cell of grid `g` that holds the point p.
#[cube]
#[inline(always)]
pub fn cell_of<R: Real>(p: &Vector3<R>, grids: &[R], shapes: &[u32], g: usize, #[comptime] rows: bool) -> u32 {
    let at = g * 8usize;
    let x = cell_index::<R>(p.x, grids[at], grids[at + 3usize], shapes[at]);
    let y = cell_index::<R>(p.y, grids[at + 1usize], grids[at + 3usize], shapes[at + 1usize]);
    let z = cell_index::<R>(p.z, grids[at + 2usize], grids[at + 3usize], shapes[at + 2usize]);
    cell_number(shapes, g, x, y, z, rows)
}

/// Grid of a grain of this radius: the last, and so the finest, that admits this radius.
#[cube]
#[inline(always)]
pub fn class_of<R: Real>(radius: R, grids: &[R], number_of_grids: usize) -> usize {
    let mut class = 0usize;
    for g in 0..number_of_grids {
        if radius <= grids[g * 8usize + 4usize] {
            class = g;
        }
    }
    class
}

/// A box of cells: the first and last index along each axis.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Span {
    /// First cell along x.
    pub x_first: u32,
    /// Last cell along x.
    pub x_last: u32,
    /// First cell along y.
    pub y_first: u32,
    /// Last cell along y.
    pub y_last: u32,
    /// First cell along z.
    pub z_first: u32,
    /// Last cell along z.
    pub z_last: u32,
}

/// The cells of grid `g` for all centers between two corners.
#[cube]
#[inline(always)]
pub fn span_between<R: Real>(low: &Vector3<R>, high: &Vector3<R>, grids: &[R], shapes: &[u32], g: usize) -> Span {
    let at = g * 8usize;
    let scale = grids[at + 3usize];
    Span {
        x_first: cell_index::<R>(low.x, grids[at], scale, shapes[at]),
        x_last: cell_index::<R>(high.x, grids[at], scale, shapes[at]),
        y_first: cell_index::<R>(low.y, grids[at + 1usize], scale, shapes[at + 1usize]),
        y_last: cell_index::<R>(high.y, grids[at + 1usize], scale, shapes[at + 1usize]),
        z_first: cell_index::<R>(low.z, grids[at + 2usize], scale, shapes[at + 2usize]),
        z_last: cell_index::<R>(high.z, grids[at + 2usize], scale, shapes[at + 2usize]),
    }
}

/// The cells of grid `g` for all centers within `reach` of p.
#[cube]
#[inline(always)]
pub fn cells_around<R: Real>(p: &Vector3<R>, reach: R, grids: &[R], shapes: &[u32], g: usize) -> Span {
    let low = Vector3::<R> {
        x: p.x - reach,
        y: p.y - reach,
        z: p.z - reach,
    };
    let high = Vector3::<R> {
        x: p.x + reach,
        y: p.y + reach,
        z: p.z + reach,
    };
    span_between::<R>(&low, &high, grids, shapes, g)
}

/// Iteration over a box of cells, run by run. Cells in a row of a block have consecutive numbers, so their grains form one run.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Walk {
    x: u32,
    y: u32,
    z: u32,
    /// Number of the cell x = 0 of this row, if all its blocks were in line.
    row: u32,
    x_first: u32,
    x_last: u32,
    y_first: u32,
    y_last: u32,
    z_last: u32,
    width_x: u32,
    width_y: u32,
    first_cell: u32,
}

/// A range of consecutive grains.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Run {
    /// First index.
    pub first: usize,
    /// Index after the last.
    pub end: usize,
}

/// Width of a grid along x or y for numbering: in blocks, or in cells if numbered in rows.
#[cube]
#[inline(always)]
fn width_of(shapes: &[u32], g: usize, axis: usize, #[comptime] rows: bool) -> u32 {
    let mut at = g * 8usize + 3usize + axis;
    if rows {
        at = g * 8usize + axis;
    }
    shapes[at]
}

/// Number of the first cell in a row of cells along x.
#[cube]
#[inline(always)]
fn row_of(first_cell: u32, width_x: u32, width_y: u32, y: u32, z: u32, #[comptime] rows: bool) -> u32 {
    let mut number = (z * width_y + y) * width_x;
    if !rows {
        let block = ((z >> 3u32) * width_y + (y >> 3u32)) * width_x;
        number = block * 512u32 + (((z & 7u32) << 6u32) | ((y & 7u32) << 3u32));
    }
    first_cell + number
}

/// Offset of a cell in its row.
#[cube]
#[inline(always)]
fn along_row(x: u32, #[comptime] rows: bool) -> u32 {
    let mut number = x;
    if !rows {
        number = (x >> 3u32) * 512u32 + (x & 7u32);
    }
    number
}

/// Starts an iteration over a box of cells of grid `g`.
#[cube]
#[inline(always)]
pub fn walk_through(span: &Span, shapes: &[u32], g: usize, #[comptime] rows: bool) -> Walk {
    let width_x = width_of(shapes, g, 0usize, rows);
    let width_y = width_of(shapes, g, 1usize, rows);
    let first_cell = shapes[g * 8usize + 5usize];
    Walk {
        x: span.x_first,
        y: span.y_first,
        z: span.z_first,
        row: row_of(first_cell, width_x, width_y, span.y_first, span.z_first, rows),
        x_first: span.x_first,
        x_last: span.x_last,
        y_first: span.y_first,
        y_last: span.y_last,
        z_last: span.z_last,
        width_x,
        width_y,
        first_cell,
    }
}

/// Starts an iteration over the cells of grid `g` for all centers within `reach` of p.
#[cube]
#[inline(always)]
pub fn walk_around<R: Real>(p: &Vector3<R>, reach: R, grids: &[R], shapes: &[u32], g: usize, #[comptime] rows: bool) -> Walk {
    let span = cells_around::<R>(p, reach, grids, shapes, g);
    walk_through(&span, shapes, g, rows)
}

#[cube]
impl Walk {
    /// Whether there is another run.
    #[inline(always)]
    pub fn goes_on(&self) -> bool {
        self.z <= self.z_last
    }
}

/// The next run of an iteration.
#[cube]
#[inline(always)]
pub fn next_run(walk: &mut Walk, cell_first: &[u32], #[comptime] rows: bool) -> Run {
    let mut x_end = walk.x_last;
    if !rows {
        x_end = min(walk.x_last, walk.x | 7u32);
    }
    let first = cell_first[(walk.row + along_row(walk.x, rows)) as usize] as usize;
    let end = cell_first[(walk.row + along_row(x_end, rows)) as usize + 1usize] as usize;
    walk.x = x_end + 1u32;
    if walk.x > walk.x_last {
        walk.x = walk.x_first;
        walk.y += 1u32;
        if walk.y > walk.y_last {
            walk.y = walk.y_first;
            walk.z += 1u32;
        }
        walk.row = row_of(walk.first_cell, walk.width_x, walk.width_y, walk.y, walk.z, rows);
    }
    Run { first, end }
}

/// Whether [`first_of_run()`] finds the runs of a box of cells: at most three cells along y and z, in at most two blocks along x. These are 18 runs.
#[cube]
#[inline(always)]
pub fn has_few_runs(span: &Span) -> bool {
    let blocks = (span.x_last >> 3u32) - (span.x_first >> 3u32) + 1u32;
    let width = span.y_last - span.y_first + 1u32;
    let planes = span.z_last - span.z_first + 1u32;
    blocks <= 2u32 && width <= 3u32 && planes <= 3u32
}

/// First index of a run of a box of cells of grid `g` numbered in blocks. Runs have numbers from 0 on, in the order of [`next_run()`].
#[cube]
#[inline(always)]
pub fn first_of_run(span: &Span, number: u32, shapes: &[u32], g: usize, cell_first: &[u32]) -> usize {
    // 1 if each row of cells is in two blocks, otherwise 0.
    let border = (span.x_last >> 3u32) - (span.x_first >> 3u32);
    let width = span.y_last - span.y_first + 1u32;
    let row = number >> border;
    let mut plane = 0u32;
    // Cheaper than a quotient.
    if row >= width {
        plane = 1u32;
    }
    if row >= width + width {
        plane = 2u32;
    }
    let mut x = span.x_first;
    if (number & border) == 1u32 {
        x = (span.x_first | 7u32) + 1u32;
    }
    let y = span.y_first + row - plane * width;
    let z = span.z_first + plane;
    let width_x = width_of(shapes, g, 0usize, false);
    let width_y = width_of(shapes, g, 1usize, false);
    let number_of_row = row_of(shapes[g * 8usize + 5usize], width_x, width_y, y, z, false);
    cell_first[(number_of_row + along_row(x, false)) as usize] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_by_their_numbers() {
        // 3 × 2 × 2 blocks behind 7 other cells; one grain in each cell.
        let shapes = [20, 16, 16, 3, 2, 7, 0, 0];
        let cell_first: Vec<u32> = (0..=7 + 12 * 512).collect();
        for (x, x_last) in [(0, 2), (6, 8), (7, 9), (14, 15), (8, 8), (3, 12)] {
            for (y, y_last) in [(0, 0), (7, 8), (6, 8), (13, 15)] {
                for (z, z_last) in [(15, 15), (7, 9), (3, 4)] {
                    let span = Span {
                        x_first: x,
                        x_last,
                        y_first: y,
                        y_last,
                        z_first: z,
                        z_last,
                    };
                    assert!(has_few_runs(&span));
                    let mut walk = walk_through(&span, &shapes, 0, false);
                    let mut number = 0;
                    while walk.goes_on() {
                        let run = next_run(&mut walk, &cell_first, false);
                        assert_eq!(
                            first_of_run(&span, number, &shapes, 0, &cell_first),
                            run.first,
                            "run {number} of {span:?}"
                        );
                        number += 1;
                    }
                    assert!(number <= 18);
                    for wider in [
                        Span { x_last: x + 16, ..span },
                        Span { y_last: y + 3, ..span },
                        Span { z_last: z + 3, ..span },
                    ] {
                        assert!(!has_few_runs(&wider));
                    }
                }
            }
        }
    }
}
