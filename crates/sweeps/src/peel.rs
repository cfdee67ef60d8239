//! Meshes looked through along parallel lines, a column of cubes at a time: depth peeling \[Silva 2010, § 3.4\], all layers of a line in one pass.
//!
//! Lengths are whole units of a lattice, see [`seixo_laws::crossing`]. Through every cube go 16 × 16 lines, 2 `half_gap` apart and off its
//! sides by `half_gap`, so that a cube is 32 `half_gap` wide; one more line goes through its middle.

use cubecl::prelude::*;
use seixo_laws::crossing::{Corner, crossing, turn};

/// Lines through a cube from side to side.
pub const LINES: u32 = 16;
/// Numbers per triangle in the slice `corners`: u, v, w of each corner.
pub const CORNERS: usize = 9;

/// The corner whose coordinates start at `at`.
#[cube]
#[inline(always)]
pub fn corner_at(corners: &[u32], at: usize) -> Corner {
    Corner {
        u: corners[at] as i64,
        v: corners[at + 1usize] as i64,
        w: corners[at + 2usize] as i64,
    }
}

/// The first line that is not below a coordinate.
#[cube]
#[inline(always)]
fn line_from(coordinate: u32, half_gap: u32) -> u32 {
    (coordinate + half_gap - 1u32) / (half_gap * 2u32)
}

/// The line behind the last that is not above a coordinate.
#[cube]
#[inline(always)]
fn line_behind(coordinate: u32, half_gap: u32) -> u32 {
    (coordinate + half_gap) / (half_gap * 2u32)
}

/// Coordinate of a line across it.
#[cube]
#[inline(always)]
fn place_of(line: u32, half_gap: u32) -> i64 {
    ((line * 2u32 + 1u32) * half_gap) as i64
}

/// Looks through a column of `slices` cubes, number `column` of those that stand `wide` in a row along u, at the triangles
/// `triangles[first[column]..first[column + 1]]`. From place `at` on, a cube of the column that a line meets a triangle in gets a 1 in
/// `touched`; `turns` grows by what the winding number of its middle is above that of the middle of the cube before.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn peel(
    column: usize,
    wide: u32,
    slices: u32,
    half_gap: u32,
    first: &[u32],
    triangles: &[u32],
    corners: &[u32],
    at: usize,
    touched: &mut [u32],
    turns: &mut [i32],
) {
    let first_u = (column as u32 % wide) * 16u32;
    let first_v = (column as u32 / wide) * 16u32;
    let edge = half_gap * 32u32;
    let middle_u = (first_u * (half_gap * 2u32) + half_gap * 16u32) as i64;
    let middle_v = (first_v * (half_gap * 2u32) + half_gap * 16u32) as i64;
    let entry = first[column];
    let end = first[column + 1usize];
    for k in entry..end {
        let place = triangles[k as usize] as usize * 9usize;
        let a = corner_at(corners, place);
        let b = corner_at(corners, place + 3usize);
        let c = corner_at(corners, place + 6usize);
        let low_u = min(corners[place], min(corners[place + 3usize], corners[place + 6usize]));
        let high_u = max(corners[place], max(corners[place + 3usize], corners[place + 6usize]));
        let low_v = min(corners[place + 1usize], min(corners[place + 4usize], corners[place + 7usize]));
        let high_v = max(corners[place + 1usize], max(corners[place + 4usize], corners[place + 7usize]));
        let from_u = max(first_u, line_from(low_u, half_gap));
        let end_u = min(first_u + 16u32, line_behind(high_u, half_gap));
        let from_v = max(first_v, line_from(low_v, half_gap));
        let end_v = min(first_v + 16u32, line_behind(high_v, half_gap));
        for i in from_u..end_u {
            for j in from_v..end_v {
                let height = crossing(&a, &b, &c, place_of(i, half_gap), place_of(j, half_gap));
                if height > 0i64 {
                    let slice = (height as u32) / edge;
                    touched[at + slice as usize] = 1u32;
                }
            }
        }
        let by = turn(&a, &b, &c, middle_u, middle_v);
        if by != 0i32 {
            let height = crossing(&a, &b, &c, middle_u, middle_v) as u32;
            let slice = height / edge;
            touched[at + slice as usize] = 1u32;
            // The first cube whose middle is above.
            let above = (height + half_gap * 16u32) / edge;
            if above < slices {
                turns[at + above as usize] += by;
            }
        }
    }
}
