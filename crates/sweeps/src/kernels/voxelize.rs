//! Voxelization of meshes by parallel lines, one thread per column of cubes.

use crate::voxelize::cast_rays;
use cubecl::prelude::*;

/// All columns, each by [`cast_rays()`]. The columns of a grid follow each other in `touched` and `windings`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn cast_rays_in_columns(
    first: &[u32],
    triangles: &[u32],
    corners: &[u32],
    touched: &mut [u32],
    windings: &mut [i32],
    columns: u32,
    wide: u32,
    slices: u32,
    half_gap: u32,
) {
    let column = ABSOLUTE_POS;
    if column < columns as usize {
        let at = column * slices as usize;
        cast_rays(column, wide, slices, half_gap, first, triangles, corners, at, touched, windings);
    }
}
