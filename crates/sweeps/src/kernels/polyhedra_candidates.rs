//! Candidates of a search for contacts of pairs, see [`super::polyhedra_search`]: how items of pairs are numbered, and how the threads of a block share
//! those that passed.

use super::polyhedra_blocks::{SEGMENT, bits_in_block, list_passed, number_in_block, owner_of};
use super::polyhedra_items::{bound_of, near_parts, nearest_of_edge_pair, nearest_to_part, seen_vertex};
use crate::layout::{BITS, Record, last, record};
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Threads of a block.
pub const SEARCH_THREADS: usize = 32;

/// The same, as items are counted.
pub(super) const SEARCH_BLOCK: u32 = SEARCH_THREADS as u32;

/// Words for the counts of a block, see [`number_in_block()`].
pub(super) const SEARCH_COUNTS: usize = SEARCH_THREADS + SEARCH_THREADS / SEGMENT;

/// Pairs that a block searches at a time.
pub(super) const PAIRS: usize = 8;

/// Edges of a grain that are listed at a time.
pub(super) const EDGES_LISTED: usize = 64;

/// Numbers of a pair of which a block needs the largest: convex parts of a grain, edges of i and edges of j.
pub(super) const SIZES: usize = 3;

const _: () = assert!(2 * PAIRS <= SEARCH_THREADS && SEARCH_THREADS / SEGMENT * SEGMENT == SEARCH_THREADS);

/// Numbers the items of all pairs that are searched: those of a pair start at its word of `first`, and one more word has their number. All threads of the
/// block call it; those of pairs with the `items` of theirs.
#[cube]
pub(super) fn number_items(items: u32, counts: &mut [u32], first: &mut [u32]) {
    let unit = UNIT_POS as usize;
    if unit < PAIRS {
        counts[unit] = items;
    }
    sync_cube();
    if unit <= PAIRS {
        let mut sum = 0u32.runtime();
        for s in 0..unit {
            sum += counts[s];
        }
        first[unit] = sum;
    }
    sync_cube();
}

/// The pair of an item, see [`number_items()`].
#[cube]
pub(super) fn pair_of_item(item: u32, first: &mut [u32]) -> usize {
    owner_of(item, first, comptime!(PAIRS as u32))
}

/// The largest of these [`SIZES`] of all pairs.
#[cube]
pub(super) fn largest_size(most: &[u32], #[comptime] which: usize) -> u32 {
    let mut largest = 0u32.runtime();
    for s in 0..PAIRS {
        largest = max(largest, most[s * SIZES + which]);
    }
    largest
}

/// Adds the contacts that the threads of the block found to those of their pairs, as far as there are slots, and remembers the nearest points of each pair:
/// those of a contact if it has one, and the smallest key of those equally near, so that they depend on nothing but the poses of its grains. All threads
/// call it; those that computed no nearest points with a negative `square`.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn take_nearest<C: Real>(
    key: u32,
    gap: &Vector3<C>,
    square: C,
    pair: usize,
    poses: &[Record<C>],
    counts: &mut [u32],
    found: &mut [u32],
    gaps: &mut [Record<C>],
    contacts: &mut [u32],
    found_keys: &mut [u32],
    nearest: &mut [Record<C>],
    nearest_keys: &mut [u32],
    #[comptime] slots: usize,
) {
    let unit = UNIT_POS as usize;
    // Features without contact give a direction to pairs that are hardly apart.
    let mut counts_here = 0u32.runtime();
    if square >= C::new(0.0) {
        let far = C::new(2.0) * bound_of::<C>(pair, poses);
        if square < far * far {
            counts_here = 1u32;
        }
    }
    let numbered = number_in_block(counts_here, counts, SEARCH_THREADS);
    if counts_here == 1u32 {
        let at = numbered.before as usize;
        found[at * 2usize] = pair as u32;
        found[at * 2usize + 1usize] = key;
        gaps[at] = record::<C>(gap, square);
    }
    // The same for all threads of the block.
    if numbered.all > 0u32 {
        sync_cube();
        if unit < PAIRS {
            for s in 0u32..numbered.all {
                let at = s as usize;
                if found[at * 2usize] == UNIT_POS {
                    let its_key = found[at * 2usize + 1usize];
                    let its_square = last::<C>(gaps[at]);
                    let least = last::<C>(nearest[unit]);
                    let before = contacts[unit];
                    let mut replaces = false;
                    if its_key != 0u32 {
                        let comes_first = its_key < nearest_keys[unit];
                        replaces = before == 0u32 || its_square < least || (its_square == least && comes_first);
                        if before < comptime!(slots as u32) {
                            found_keys[unit * slots + before as usize] = its_key;
                        }
                        contacts[unit] = before + 1u32;
                    } else if before == 0u32 {
                        replaces = least < C::new(0.0) || its_square < least;
                    }
                    if replaces {
                        nearest[unit] = gaps[at];
                        nearest_keys[unit] = its_key;
                    }
                }
            }
        }
    }
}

/// Computes the nearest points of the items of this thread that passed, one a bit, see [`list_passed()`], of which there are so many, and takes their
/// contacts. They are pairs of listed edges, or vertices, each with as many `parts` of the other grain. All threads of the block call it.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn compute_candidates<C: Real>(
    bits: u32,
    passed: u32,
    base: u32,
    #[comptime] stride: u32,
    #[comptime] are_edges: bool,
    parts: u32,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    lists: &[u32],
    counts: &mut [u32],
    first: &mut [u32],
    candidates: &mut [u32],
    found: &mut [u32],
    gaps: &mut [Record<C>],
    contacts: &mut [u32],
    found_keys: &mut [u32],
    nearest: &mut [Record<C>],
    nearest_keys: &mut [u32],
    #[comptime] slots: usize,
) {
    let unit = UNIT_POS as usize;
    let numbered = number_in_block(passed, counts, SEARCH_THREADS);
    let mut done = 0u32.runtime();
    while done < numbered.all {
        list_passed(bits, base, stride, numbered.before, done, SEARCH_BLOCK, candidates);
        sync_cube();
        let is_own = done + UNIT_POS < numbered.all;
        let mut reached = 1u32.runtime();
        let mut part = 0u32.runtime();
        while part < parts {
            // Few parts of a union are near a vertex. Rounds for those that are near none of the block have no barriers.
            if !are_edges {
                if parts > 1u32 && part & comptime!(BITS - 1) == 0u32 {
                    let mut near = 0u32.runtime();
                    if is_own {
                        let candidate = candidates[unit];
                        let pair = pair_of_item(candidate, first);
                        let corner = seen_vertex::<C>(candidate - first[pair], pair, poses, shapes, words, numbers);
                        near = near_parts::<C>(&corner, part, pair, poses, words, numbers);
                    }
                    reached = bits_in_block(near, counts, SEARCH_THREADS);
                }
            }
            if (reached >> (part % BITS)) & 1u32 == 1u32 {
                let mut key = 0u32.runtime();
                let mut square = C::new(-1.0);
                let mut gap = Vector3::<C>::zero();
                let mut pair = 0usize.runtime();
                if is_own {
                    let candidate = candidates[unit];
                    if are_edges {
                        let places = candidate as usize;
                        let of_both = places / EDGES_LISTED;
                        pair = of_both / EDGES_LISTED;
                        let of_i = pair * 2usize * EDGES_LISTED;
                        let e = lists[of_i + of_both % EDGES_LISTED];
                        let f = lists[of_i + EDGES_LISTED + places % EDGES_LISTED];
                        let points = nearest_of_edge_pair::<C>(e, f, pair, poses, shapes, words, numbers);
                        key = points.key;
                        square = points.square;
                        gap = points.gap.plus(&Vector3::<C>::zero());
                    } else {
                        pair = pair_of_item(candidate, first);
                        let corner = seen_vertex::<C>(candidate - first[pair], pair, poses, shapes, words, numbers);
                        let points = nearest_to_part::<C>(&corner, part, pair, poses, words, numbers);
                        key = points.key;
                        square = points.square;
                        gap = points.gap.plus(&Vector3::<C>::zero());
                    }
                }
                take_nearest::<C>(
                    key,
                    &gap,
                    square,
                    pair,
                    poses,
                    counts,
                    found,
                    gaps,
                    contacts,
                    found_keys,
                    nearest,
                    nearest_keys,
                    slots,
                );
            }
            part += 1u32;
        }
        done += SEARCH_BLOCK;
    }
}
