//! Which particles of fluids are ghosts in another subdomain.
//!
//! A subdomain needs all particles within the reach of its own. Beyond, it needs only fluid: what is within the reach of the wall particles there, as
//! their pressures depend on it. So marks of the cells that have wall particles leave out most of the fluid.

use crate::bodies::is_owned;
use crate::cells::{cell_index, cell_number, cell_of};
use crate::domain::{Block, is_in_block};
use crate::fluid::WALL_BIT;
use crate::layout::{Record, xyz};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Marks the cells of the first grid that have wall particles, of n particles. Other marks stay.
#[cube(launch)]
pub fn mark_wall_cells<C: Real>(position: &[Record<C>], kind: &[u32], grids: &[C], shapes: &[u32], marks: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if kind[i] >> WALL_BIT != 0u32 {
            marks[cell_of::<C>(&xyz::<C>(position[i]), grids, shapes, 0usize, false) as usize] = 1u32;
        }
    }
}

/// For each of n particles: whether this subdomain owns it, and it is in the `near` block of another subdomain, or it is fluid in the `far` block with a
/// marked cell at most `reach` cells away along each axis, see [`mark_wall_cells()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn find_ghosts_of_fluid<C: Real>(
    position: &[Record<C>],
    kind: &[u32],
    owned: &[u32],
    grids: &[C],
    shapes: &[u32],
    marks: &[u32],
    keep: &mut [u32],
    near: &Block<C>,
    far: &Block<C>,
    reach: u32,
    n: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut kept = 0u32.runtime();
        if is_owned(owned[i]) {
            let p = xyz::<C>(position[i]);
            if is_in_block::<C>(&p, near) {
                kept = 1u32;
            } else if kind[i] >> WALL_BIT == 0u32 && is_in_block::<C>(&p, far) {
                let x = cell_index::<C>(p.x, grids[0], grids[3], shapes[0]);
                let y = cell_index::<C>(p.y, grids[1], grids[3], shapes[1]);
                let z = cell_index::<C>(p.z, grids[2], grids[3], shapes[2]);
                let x_first = x - min(x, reach);
                let y_first = y - min(y, reach);
                let z_first = z - min(z, reach);
                let x_end = min(x + reach + 1u32, shapes[0]);
                let y_end = min(y + reach + 1u32, shapes[1]);
                let z_end = min(z + reach + 1u32, shapes[2]);
                for at_z in z_first..z_end {
                    for at_y in y_first..y_end {
                        for at_x in x_first..x_end {
                            kept |= marks[cell_number(shapes, 0usize, at_x, at_y, at_z, false) as usize];
                        }
                    }
                }
            }
        }
        keep[i] = kept;
    }
}
