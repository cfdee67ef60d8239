//! GPU kernels: one thread per grain, each of which calls a sweep. CubeCL calls threads units and blocks cubes.
//!
//! A step never waits for the host. Every kernel of a step first checks whether an earlier step raised a halt, because the skin was exceeded or an
//! error occurred. Then it does nothing. So the state stays as it was until the host, which reads the flags later, handles them.
//!
//! ```
//! use seixo_sweeps::kernels::{DONE, FLAGS, HALTED, KINDS, LONG_STRIDES};
//! use seixo_sweeps::motion::TOO_COMPRESSED;
//! // Every flag of the motion has a word in the flag buffer. The words that control steps come after these.
//! assert!(TOO_COMPRESSED < 1u32 << KINDS);
//! assert_eq!([HALTED, DONE, LONG_STRIDES, FLAGS], [KINDS, KINDS + 2, KINDS + 4, KINDS + 20]);
//! ```

pub mod assembly;
pub mod bins;
pub mod bodies;
pub mod body_boundary;
pub mod bonds;
pub mod boundary;
pub mod dfsph;
pub mod diffusion;
pub mod domain;
pub mod few_grains;
pub mod fluid;
pub mod fluid_ghosts;
pub mod gear;
pub mod measure;
pub mod muller;
pub mod neighbor_lists;
pub mod neighbor_marks;
pub mod old_contacts;
pub mod polyhedra;
mod polyhedra_blocks;
mod polyhedra_candidates;
mod polyhedra_edges;
mod polyhedra_items;
pub mod polyhedra_lists;
pub mod polyhedra_migration;
pub mod polyhedra_near;
pub mod polyhedra_pairs;
pub mod polyhedra_search;
pub mod polyhedra_walls;
pub mod row_order;
pub mod rows_by_id;
pub mod servos;
pub mod shifting;
pub mod short_rows;
pub mod step;
pub mod suspension;
pub mod voxelize;
pub mod wall_forces;
pub mod walls;
pub mod xsph;

use crate::layout::{Record, four_numbers, last};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real};

/// Threads per block of all kernels that sum powers per block.
pub const THREADS: usize = 256;

/// Number of flag kinds: the first words of the flag buffer, in the order of their bits.
pub const KINDS: usize = 8;

/// Index of the first of two words that halt steps, of parity 0 and 1.
pub const HALTED: usize = KINDS;

/// Index of the word that counts the completed steps.
pub const DONE: usize = HALTED + 2;

/// Number of levels of strides, see [`LONG_STRIDES`].
pub const STRIDE_LEVELS: usize = 16;

/// Index of the first of [`STRIDE_LEVELS`] words, which say whether a grain moved farther in a step than the stride of a level. From level to level
/// the square of this stride is multiplied by [`STRIDE_RATIO`].
pub const LONG_STRIDES: usize = KINDS + 4;

/// See [`LONG_STRIDES`].
pub const STRIDE_RATIO: f32 = 0.4;

/// A launch of a step that computes all rows. The rows of other launches do not overlap, and together they are all rows of the step.
pub const WHOLE: u32 = 0;

/// A launch for the grains that are ghosts in another subdomain: the first of a step in parts.
pub const BORDER: u32 = 1;

/// A launch for the ghost particles of this subdomain.
pub const GHOST_ROWS: u32 = 2;

/// A launch for all grains that are in no other part.
pub const INNER: u32 = 3;

/// Words of the flag buffer: the kinds, two halt flags for steps of parity 0 and 1, the number of completed steps, whether bonds broke, and the levels
/// of strides.
///
/// Parities alternate. So a flag that a step raises halts the next step, and not those of its own threads that have yet to begin. The step number is
/// not an argument, so all launches are alike, which is faster in graphics APIs.
pub const FLAGS: usize = LONG_STRIDES + STRIDE_LEVELS;

/// Whether a step before this one, of parity `parity`, raised a halt.
#[cube]
fn is_halted(flags: &mut [u32], parity: u32) -> bool {
    flags[parity as usize + HALTED] != 0u32
}

/// Raises flags in a step. Threads that write at the same time write the same value.
#[cube]
fn raise(flags: &mut [u32], parity: u32, raised: u32) {
    if raised != 0u32 {
        flags[(1u32 - parity) as usize + HALTED] = 1u32;
        #[unroll]
        for kind in 0..8usize {
            if ((raised >> (kind as u32)) & 1u32) == 1u32 {
                flags[kind] = 1u32;
            }
        }
    }
}

/// Whether a step is to be executed. If so, it is counted if it moves the grains. Otherwise its halt is passed to the next step.
#[cube]
fn begins(flags: &mut [u32], parity: u32, #[comptime] advance: bool) -> bool {
    let goes = !is_halted(flags, parity);
    if ABSOLUTE_POS == 0usize {
        if goes {
            if advance {
                flags[DONE] += 1u32;
            }
        } else {
            flags[(1u32 - parity) as usize + HALTED] = 1u32;
        }
    }
    goes
}

/// As [`begins()`], for one of the launches of a step in parts. The first of them counts the step.
#[cube]
fn begins_part(flags: &mut [u32], parity: u32, part: u32, #[comptime] advance: bool) -> bool {
    let goes = !is_halted(flags, parity);
    if ABSOLUTE_POS == 0usize {
        if goes {
            if advance {
                if part <= BORDER {
                    flags[DONE] += 1u32;
                }
            }
        } else {
            flags[(1u32 - parity) as usize + HALTED] = 1u32;
        }
    }
    goes
}

/// Sum over the threads of a block, in a fixed order; thread 0 gets the sum.
#[cube]
fn sum_of_cube<R: Real>(amounts: Record<R>) -> Record<R> {
    sum_of_square_cube::<R>(amounts, 16usize)
}

/// As [`sum_of_cube()`], over a block of `side` times `side` threads.
#[cube]
fn sum_of_square_cube<R: Real>(amounts: Record<R>, #[comptime] side: usize) -> Record<R> {
    let threads = comptime!(side * side);
    let mut shared = Shared::<[Record<R>]>::new_slice(threads);
    let unit = UNIT_POS as usize;
    shared[unit] = amounts;
    sync_cube();
    let mut sum = Record::<R>::new(R::new(0.0));
    if unit < side {
        for k in 0..side {
            sum += shared[unit * side + k];
        }
    }
    sync_cube();
    if unit < side {
        shared[unit] = sum;
    }
    sync_cube();
    let mut total = Record::<R>::new(R::new(0.0));
    if unit == 0usize {
        for k in 0..side {
            total += shared[k];
        }
    }
    total
}

/// Stores the sum over the threads of a block in the first of the two records of the block.
#[cube]
fn put_sum<C: Real>(sums: &mut [Record<C>], amounts: Record<C>) {
    let total = sum_of_cube::<C>(amounts);
    if UNIT_POS == 0u32 {
        sums[CUBE_POS * 2usize] = total;
    }
}

/// A record of the laws in the precision of coordinates.
#[cube]
fn widened_record<C: Coordinate<R>, R: Real>(narrow: Record<R>) -> Record<C> {
    four_numbers::<C>(
        C::wide(narrow.extract(0usize)),
        C::wide(narrow.extract(1usize)),
        C::wide(narrow.extract(2usize)),
        C::wide(last::<R>(narrow)),
    )
}

/// Adds the sum over a block to the first of the two records of the block.
#[cube]
fn add_sum<C: Coordinate<R>, R: Real>(power: &mut [Record<C>], amounts: Record<R>) {
    let total = sum_of_cube::<R>(amounts);
    if UNIT_POS == 0u32 {
        let at = CUBE_POS * 2usize;
        power[at] += widened_record::<C, R>(total);
    }
}

/// Stores the sum over a block in the second of the two records of the block.
#[cube]
fn store_sum<C: Coordinate<R>, R: Real>(power: &mut [Record<C>], amounts: Record<R>) {
    let total = sum_of_cube::<R>(amounts);
    if UNIT_POS == 0u32 {
        power[CUBE_POS * 2usize + 1usize] = widened_record::<C, R>(total);
    }
}

/// Adds the sum over a block of `side` times `side` threads to the first of its two records, and stores it in the second.
#[cube]
fn add_and_store_sum<C: Coordinate<R>, R: Real>(power: &mut [Record<C>], took: Record<R>, #[comptime] side: usize) {
    let total = widened_record::<C, R>(sum_of_square_cube::<R>(took, side));
    let at = CUBE_POS * 2usize;
    // A grid of several rows may have more blocks than there are records.
    if UNIT_POS == 0u32 && at < power.len() {
        power[at] += total;
        power[at + 1usize] = total;
    }
}
