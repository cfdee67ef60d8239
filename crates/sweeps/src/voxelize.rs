//! Voxelization of meshes by parallel lines, one column of cubes at a time: depth peeling \[Silva 2010, § 3.4\], all layers of a line in one pass.
//!
//! Lengths are integer units of a lattice, see [`seixo_laws::ray_triangle`]. 16 × 16 lines pass through every cube, 2 `half_gap` apart and `half_gap`
//! away from its sides. So a cube is 32 `half_gap` wide. One more line passes through its middle.
//!
//! ```
//! use seixo_sweeps::voxelize::cast_rays;
//! // A column of two cubes, each 64 units wide. A triangle above the middle of the lower cube faces downward: the upper cube is inside.
//! let corners = [1, 1, 33, 1, 201, 33, 201, 1, 33];
//! let (mut touched, mut windings) = ([0, 0], [0, 0]);
//! cast_rays(0, 1, 2, 2, &[0, 1], &[0], &corners, 0, &mut touched, &mut windings);
//! assert_eq!(touched, [1, 0]);
//! assert_eq!(windings, [0, 1]);
//! ```

use cubecl::prelude::*;
use seixo_laws::ray_triangle::{Corner, crossing, winding_increment};

/// Lines per cube along each side.
pub const RAYS: u32 = 16;
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

/// The first line at or above a coordinate.
#[cube]
#[inline(always)]
fn line_from(coordinate: u32, half_gap: u32) -> u32 {
    (coordinate + half_gap - 1u32) / (half_gap * 2u32)
}

/// The line after the last that is at or below a coordinate.
#[cube]
#[inline(always)]
fn line_behind(coordinate: u32, half_gap: u32) -> u32 {
    (coordinate + half_gap) / (half_gap * 2u32)
}

/// Coordinate of a line.
#[cube]
#[inline(always)]
fn place_of(line: u32, half_gap: u32) -> i64 {
    ((line * 2u32 + 1u32) * half_gap) as i64
}

/// Intersects a column of `slices` cubes with the triangles `triangles[first[column]..first[column + 1]]`. Its number is `column`, with `wide`
/// columns in a row along u. From index `at` on, `touched` is set to 1 for a cube in which a line meets a triangle. `windings` is increased by the
/// difference of the winding numbers between the middle of a cube and that of the cube before.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn cast_rays(
    column: usize,
    wide: u32,
    slices: u32,
    half_gap: u32,
    first: &[u32],
    triangles: &[u32],
    corners: &[u32],
    at: usize,
    touched: &mut [u32],
    windings: &mut [i32],
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
        let by = winding_increment(&a, &b, &c, middle_u, middle_v);
        if by != 0i32 {
            let height = crossing(&a, &b, &c, middle_u, middle_v) as u32;
            let slice = height / edge;
            touched[at + slice as usize] = 1u32;
            // The first cube with its middle above the intersection.
            let above = (height + half_gap * 16u32) / edge;
            if above < slices {
                windings[at + above as usize] += by;
            }
        }
    }
}
