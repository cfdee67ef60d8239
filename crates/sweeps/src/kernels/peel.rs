//! Meshes looked through along parallel lines, a unit for every column of cubes.

use crate::peel::peel;
use cubecl::prelude::*;

/// All columns, each as [`peel()`] does it; those of a grid stand one after the other in `touched` and `turns`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn peel_columns(
    first: &[u32],
    triangles: &[u32],
    corners: &[u32],
    touched: &mut [u32],
    turns: &mut [i32],
    columns: u32,
    wide: u32,
    slices: u32,
    half_gap: u32,
) {
    let column = ABSOLUTE_POS;
    if column < columns as usize {
        let at = column * slices as usize;
        peel(column, wide, slices, half_gap, first, triangles, corners, at, touched, turns);
    }
}
