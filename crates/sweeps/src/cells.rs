//! Cells of the uniform grids, and the neighbors found through them.
//!
//! Cells are numbered block by block of 8 × 8 × 8, so that grains sorted by cell keep their neighbors close in memory.

use crate::views::load;
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Numbers per grid in the slice `grids`: origin x y z, cells per length, largest radius in it, padding.
pub const GRID: usize = 8;
/// Numbers per grid in the slice `shapes`: cells x y z, blocks x y, first cell, padding.
pub const SHAPE: usize = 8;

/// Index of the cell that holds a coordinate; coordinates outside fall into the outermost cell.
#[cube]
#[inline(always)]
pub fn cell_index<R: Real>(coordinate: R, origin: R, cells_per_length: R, cells: u32) -> u32 {
    min(R::whole((coordinate - origin) * cells_per_length), cells - 1u32)
}

/// Number of the cell x y z of grid `g`.
#[cube]
#[inline(always)]
pub fn cell_number(shapes: &[u32], g: usize, x: u32, y: u32, z: u32) -> u32 {
    let at = g * 8usize;
    let block = ((z >> 3u32) * shapes[at + 4usize] + (y >> 3u32)) * shapes[at + 3usize] + (x >> 3u32);
    shapes[at + 5usize] + block * 512u32 + (((z & 7u32) << 6u32) | ((y & 7u32) << 3u32) | (x & 7u32))
}

/// Number of the cell of grid `g` that holds grain i.
#[cube]
#[inline(always)]
pub fn cell_of<R: Real>(i: usize, position: &[R], grids: &[R], shapes: &[u32], g: usize) -> u32 {
    let p = load::<R>(position, i * 4usize);
    let at = g * 8usize;
    let x = cell_index::<R>(p.x, grids[at], grids[at + 3usize], shapes[at]);
    let y = cell_index::<R>(p.y, grids[at + 1usize], grids[at + 3usize], shapes[at + 1usize]);
    let z = cell_index::<R>(p.z, grids[at + 2usize], grids[at + 3usize], shapes[at + 2usize]);
    cell_number(shapes, g, x, y, z)
}

/// The grid of a grain of this radius: the last, and so the finest, whose grains may be as large.
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

/// A box of cells, from the first to the last along each axis.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct CellBox {
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

/// Cells of grid `g` that hold all centers within `reach` of p.
#[cube]
#[inline(always)]
pub fn cells_within<R: Real>(p: &Vector3<R>, reach: R, grids: &[R], shapes: &[u32], g: usize) -> CellBox {
    let at = g * 8usize;
    let scale = grids[at + 3usize];
    CellBox {
        x_first: cell_index::<R>(p.x - reach, grids[at], scale, shapes[at]),
        x_last: cell_index::<R>(p.x + reach, grids[at], scale, shapes[at]),
        y_first: cell_index::<R>(p.y - reach, grids[at + 1usize], scale, shapes[at + 1usize]),
        y_last: cell_index::<R>(p.y + reach, grids[at + 1usize], scale, shapes[at + 1usize]),
        z_first: cell_index::<R>(p.z - reach, grids[at + 2usize], scale, shapes[at + 2usize]),
        z_last: cell_index::<R>(p.z + reach, grids[at + 2usize], scale, shapes[at + 2usize]),
    }
}

/// Neighbors of grain i: all j whose surfaces are nearer than `skin`, in the order of grids, cells and places.
///
/// Counts them, and writes them to `neighbors` from `at` on, each `stride` after the one before, when `fill`. With `once`, a pair inside the places `part_first..part_end` is
/// listed only by its first member; pairs across the border of a part are listed by both.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn neighbors_of<R: Real>(
    i: usize,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    number_of_grids: usize,
    cell_first: &[u32],
    skin: R,
    part_first: usize,
    part_end: usize,
    at: usize,
    neighbors: &mut [u32],
    #[comptime] stride: usize,
    #[comptime] once: bool,
    #[comptime] fill: bool,
) -> u32 {
    let p = load::<R>(position, i * 4usize);
    let radius = position[i * 4usize + 3usize];
    let mut count = 0u32;
    for g in 0..number_of_grids {
        let reach = radius + grids[g * 8usize + 4usize] + skin;
        let near = cells_within::<R>(&p, reach, grids, shapes, g);
        for z in near.z_first..near.z_last + 1u32 {
            for y in near.y_first..near.y_last + 1u32 {
                let mut x = near.x_first;
                while x <= near.x_last {
                    // Cells of one row of a block follow each other in number: their grains are one range.
                    let x_end = min(near.x_last, x | 7u32);
                    let first = cell_first[cell_number(shapes, g, x, y, z) as usize] as usize;
                    let end = cell_first[cell_number(shapes, g, x_end, y, z) as usize + 1usize] as usize;
                    x = x_end + 1u32;
                    for j in first..end {
                        let d = p.minus(&load::<R>(position, j * 4usize));
                        let limit = radius + position[j * 4usize + 3usize] + skin;
                        let mut wanted = d.dot(&d) < limit * limit && j != i;
                        if once {
                            wanted = wanted && (j > i || j < part_first || j >= part_end);
                        }
                        if wanted {
                            if fill {
                                neighbors[at + count as usize * stride] = j as u32;
                            }
                            count += 1u32;
                        }
                    }
                }
            }
        }
    }
    count
}
