//! Short rows of fluids: the entries of rows whose pairs may come within the support soon.
//!
//! With a skin wide enough to last, a third of the pairs in rows, or more, are beyond the support. They add exactly nothing, but a step reads and
//! computes them. So steps read short rows, which have a narrow skin and are selected from the rows several times between two rebuilds of the lists.
//! They have the order of the rows, so no bit of a result depends on when they were selected.
//!
//! Two words say whether short rows are out of date: before a step that reads the first buffer of positions, and before one that reads the second.
//! A step sets the word of the next one, and clears its own, which only the selection before it reads. Short rows that are selected without need do no
//! harm.
//!
//! In a subdomain ghosts move, too, when the halo arrives. So each step first compares them with where they were, and sets its own word. So a
//! subdomain finds by itself when its short rows are out of date.

use super::HALTED;
use super::fluid::{compact_of, compacted};
use crate::compact_position::{CompactScale, compact_apart};
use crate::entries::{TILE, first_entry};
use crate::layout::{Record, last, xyz};
use crate::motion::StepParameters;
use crate::periodic::near_image;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Selects the short rows of n particles if the word number `now` of `outdated` is set: the entries of rows at less than the root of `reach_square`
/// \[m²\]. Wall particles get empty ones. `selected_at` gets the positions for which rows were selected.
///
/// If it `uses_compact` positions, distances are those between the records in `compact`, as in [`flow()`](crate::kernels::fluid::flow()). `kind` says which
/// sides are periodic, see [`crate::periodic`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn select_short_rows<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    position: &[Record<C>],
    compact: &[Record<u32>],
    outdated: &[u32],
    short_count: &mut [u32],
    short_list: &mut [u32],
    selected_at: &mut [Record<C>],
    compact_scale: &CompactScale<C, R>,
    stepping: &StepParameters<C, R>,
    reach_square: R,
    now: u32,
    n: u32,
    #[comptime] kind: u32,
    #[comptime] uses_compact: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if outdated[now as usize] != 0u32 {
            let here = position[i];
            let mut entries = 0u32;
            if last::<C>(here) > C::new(0.0) {
                entries = count[i];
            }
            let mut entry = first_entry(i, tile_first);
            let mut place = first_entry(i, tile_first);
            let mut selected = 0u32;
            for _s in 0..entries {
                let j = list[entry];
                let mut apart = Vector3::<R>::zero();
                if comptime!(uses_compact) {
                    apart = compact_apart::<C, R>(&compact_of(compact[i]), &compact_of(compact[j as usize]), compact_scale);
                } else {
                    let between = xyz::<C>(here).minus(&xyz::<C>(position[j as usize]));
                    apart = near_image::<C, R>(&between, &stepping.sides, kind);
                }
                if apart.dot(&apart) < reach_square {
                    short_list[place] = j;
                    place += TILE;
                    selected += 1u32;
                }
                entry += TILE;
            }
            short_count[i] = selected;
            selected_at[i] = here;
        }
    }
}

/// Prepares a step for m ghosts of fluid particles, which the halo has moved. Their indices are `place`. If it `uses_compact` positions, `compact`
/// gets those of the ghosts.
///
/// If rows are `short`, it sets the word number `now` of `outdated` when a ghost is farther from where it was in `selected_at` than the root of
/// `stray_square` \[m²\]. It does not in a step that halts, of parity `parity`, as this buffer may then hold the positions of the step before.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn watch_ghosts<R: Real, C: Coordinate<R>>(
    place: &[u32],
    position: &[Record<C>],
    selected_at: &[Record<C>],
    flags: &[u32],
    compact: &mut [Record<u32>],
    outdated: &mut [u32],
    compact_scale: &CompactScale<C, R>,
    stray_square: R,
    now: u32,
    m: u32,
    parity: u32,
    #[comptime] uses_compact: bool,
    #[comptime] short: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let here = position[i];
        if comptime!(uses_compact) {
            compact[i] = compacted::<R, C>(here, compact_scale);
        }
        if comptime!(short) {
            if flags[parity as usize + HALTED] == 0u32 {
                let strayed = near_vector::<C, R>(&xyz::<C>(here).minus(&xyz::<C>(selected_at[i])));
                if strayed.dot(&strayed) > stray_square {
                    // Reads of one word by many threads are faster than writes.
                    if outdated[now as usize] == 0u32 {
                        outdated[now as usize] = 1u32;
                    }
                }
            }
        }
    }
}
