//! Normal contacts of smooth grains, found through cells that are rebuilt at every step: no list, no history, no rotation (the normal-only path of
//! \[PUC-Rio 2009\]). This is the GPU variant. Grains are not sorted in memory; the cells, numbered in rows, hold their indices.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::cells::{next_run, walk_around};
//! // Three cells in a row along x. Grain 1 is in the first, grain 2 in the second, grain 0 in the third.
//! let grids = [0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0];
//! let shapes = [3, 1, 1, 1, 1, 0, 0, 0];
//! let (cell_first, items) = ([0, 1, 2, 3], [1, 2, 0]);
//! let middle_of_first = Vector3 { x: 0.5, y: 0.5, z: 0.5 };
//! let mut walk = walk_around::<f64>(&middle_of_first, 1.0, &grids, &shapes, 0, true);
//! let run = next_run(&mut walk, &cell_first, true);
//! assert_eq!(items[run.first..run.end], [1, 2]);
//! assert!(!walk.goes_on());
//! ```

use crate::cells::{next_run, walk_around};
use crate::contact::stored_between;
use crate::grain::{ContactLoad, Grain, Neighbor, no_load};
use crate::layout::{BITS, Record, coefficients, last, xyz};
use crate::pair::depth_of;
use crate::periodic::{PeriodicBoundaries, nearest_image, open_sides};
use crate::smooth_pairs::push_if;
use crate::tiles::{ContactKernelConfig, if_uniform, of_pair};
use cubecl::prelude::*;
use seixo_laws::contact::{Coefficients, ContactHistory};
use seixo_laws::{Coordinate, Real, Vector3};

/// Grains that are tested before the contacts among them are computed: one for each bit of a word.
const TESTED: usize = BITS as usize;

/// Sum of the normal forces on grain i. Cell c holds the grains `items[cell_first[c]..cell_first[c + 1]]`, and `binned` holds their position records
/// in the same order.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn normal_forces_on<C: Coordinate<R>, R: Real>(
    i: usize,
    grain: &Grain<C, R>,
    grids: &[C],
    shapes: &[u32],
    number_of_grids: usize,
    cell_first: &[u32],
    items: &[u32],
    binned: &[Record<C>],
    velocity: &[Record<R>],
    material: &[u32],
    materials: u32,
    table: &[R],
    overlap_limit: R,
    #[comptime] kind: ContactKernelConfig,
) -> ContactLoad<R> {
    let mut all = no_load::<R>();
    let open = open_sides::<C, R>();
    let own_row = material[if_uniform(i, kind.uniform)] * materials;
    let own = coefficients::<R>(table, (own_row + material[if_uniform(i, kind.uniform)]) as usize);
    for g in 0..number_of_grids {
        let reach = grain.reach + grids[g * 8usize + 4usize];
        let mut walk = walk_around::<C>(&grain.position, reach, grids, shapes, g, true);
        let run = next_run(&mut walk, cell_first, true);
        let mut next_first = run.first;
        let mut next_end = run.end;
        let mut goes_on = true;
        while goes_on {
            // The bounds of the next run are read while this run is computed.
            let first = next_first;
            let end = next_end;
            goes_on = walk.goes_on();
            if goes_on {
                let run = next_run(&mut walk, cell_first, true);
                next_first = run.first;
                next_end = run.end;
            }
            // Contacts of as many grains as a word has bits are found first, then computed, so that adjacent threads compute theirs together.
            let mut k = first;
            while k < end {
                let stop = min(k + TESTED, end);
                let mut touched = 0u32.runtime();
                let mut at = k;
                while at < stop {
                    // Four at a time, so that the reads of one do not wait for the test of another. Behind the run, its last grain is read again.
                    #[unroll]
                    for ahead in 0..4usize {
                        let place = min(at + ahead, stop - 1usize);
                        let touches = is_touched::<C, R>(i, grain, binned[place], items[place], at + ahead < stop);
                        if touches {
                            touched |= 1u32 << ((at - k + ahead) as u32);
                        }
                    }
                    at += 4usize;
                }
                while touched != 0u32 {
                    let place = k + touched.trailing_zeros() as usize;
                    touched &= touched - 1u32;
                    push_from::<C, R>(
                        grain,
                        binned[place],
                        items[place],
                        velocity,
                        &own,
                        table,
                        own_row,
                        material,
                        &open,
                        overlap_limit,
                        &mut all,
                        kind,
                    );
                }
                k += TESTED;
            }
        }
    }
    all
}

/// Whether grain i touches another grain with this position record, if that `is_there`.
#[cube]
#[inline(always)]
fn is_touched<C: Coordinate<R>, R: Real>(i: usize, grain: &Grain<C, R>, there: Record<C>, item: u32, is_there: bool) -> bool {
    let depth = depth_of::<C>(&grain.position.minus(&xyz::<C>(there)), grain.reach + last::<C>(there));
    let is_other = item as usize != i;
    let felt = select(is_other, depth, C::new(-1.0));
    select(is_there, felt, C::new(-1.0)) > C::new(0.0)
}

/// Adds the force of grain `item`, which touches, with the position record `there`. Arguments are those of [`normal_forces_on()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn push_from<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    there: Record<C>,
    item: u32,
    velocity: &[Record<R>],
    own: &Coefficients<R>,
    table: &[R],
    own_row: u32,
    material: &[u32],
    open: &PeriodicBoundaries<C, R>,
    overlap_limit: R,
    all: &mut ContactLoad<R>,
    #[comptime] kind: ContactKernelConfig,
) {
    let j = item as usize;
    let moving = velocity[j];
    let neighbor = Neighbor::<C, R> {
        place: item,
        in_contact: 0u32,
        position: xyz::<C>(there),
        reach: last::<C>(there),
        velocity: xyz::<R>(moving),
        mass: last::<R>(moving),
        spin: Vector3::<R>::zero(),
        stored_history: ContactHistory::<R> {
            force: Vector3::<R>::zero(),
            contact_radius: R::new(0.0),
        },
    };
    let pair = of_pair::<R>(own, table, own_row, material, j, kind);
    // Without a branch, as compilers would move the reads into it, one behind the other.
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), open, 0u32);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    push_if::<C, R>(
        depth > C::new(0.0),
        grain,
        &neighbor,
        &image,
        depth,
        &pair,
        open,
        overlap_limit,
        all,
        0u32,
    );
}

/// Half of the energy stored in the contacts of grain i \[J\]. Arguments are those of [`normal_forces_on()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn stored_around<C: Coordinate<R>, R: Real>(
    i: usize,
    grids: &[C],
    shapes: &[u32],
    number_of_grids: usize,
    cell_first: &[u32],
    items: &[u32],
    position: &[Record<C>],
    material: &[u32],
    materials: u32,
    table: &[R],
) -> R {
    let mut stored = R::new(0.0);
    let here = xyz::<C>(position[i]);
    let reach_i = last::<C>(position[i]);
    for g in 0..number_of_grids {
        let reach = reach_i + grids[g * 8usize + 4usize];
        let mut walk = walk_around::<C>(&here, reach, grids, shapes, g, true);
        while walk.goes_on() {
            let run = next_run(&mut walk, cell_first, true);
            for k in run.first..run.end {
                let j = items[k] as usize;
                if j != i {
                    let apart = here.minus(&xyz::<C>(position[j]));
                    let pair = coefficients::<R>(table, (material[i] * materials + material[j]) as usize);
                    let spring = Vector3::<R>::zero();
                    let both = stored_between::<C, R>(&apart, reach_i, last::<C>(position[j]), &spring, &pair);
                    stored += R::new(0.5) * both.normal;
                }
            }
        }
    }
    stored
}
