//! Candidates of a search for contacts of pairs, see [`super::polyhedra_search`]: how items of pairs are numbered, and how the threads of a block share
//! those that passed.

use super::polyhedra_blocks::{SEGMENT, bits_in_block, list_passed, number_in_block, owner_of};
use super::polyhedra_items::{bound_of, near_parts, nearest_of_edge_pair, nearest_to_part, seen_vertex};
use super::polyhedra_near::KEPT;
use crate::layout::{BITS, Record};
use crate::shape_features::{EDGES, VERTEX_OF_I, VERTEX_OF_J, key_of};
use cubecl::prelude::*;
use seixo_laws::Real;

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

/// Lists of keys of a pair that is searched: that of the features that are near, and that of its contacts. Each has room for [`KEPT`].
pub(super) const LISTS: usize = 2;

/// Words of a feature that a thread found: its pair, its key, and its key again if it is a contact, otherwise zero.
pub(super) const FOUND: usize = 3;

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

/// Adds a key to a list, as far as there is room. The list counts all.
#[cube]
fn add_key(key: u32, list: usize, found_counts: &mut [u32], found_keys: &mut [u32]) {
    let count = found_counts[list];
    if count < comptime!(KEPT as u32) {
        found_keys[list * KEPT + count as usize] = key;
    }
    found_counts[list] = count + 1u32;
}

/// Adds the features that the threads of the block found to the lists of their pairs, see [`LISTS`]. All threads call it: those that found none that are
/// near with a `feature` of zero, and those that found no contact with a `contact` of zero.
#[cube]
fn take_features(
    feature: u32,
    contact: u32,
    pair: usize,
    counts: &mut [u32],
    found: &mut [u32],
    found_counts: &mut [u32],
    found_keys: &mut [u32],
) {
    let unit = UNIT_POS as usize;
    let mut is_near = 0u32.runtime();
    if feature != 0u32 {
        is_near = 1u32;
    }
    let numbered = number_in_block(is_near, counts, SEARCH_THREADS);
    if is_near == 1u32 {
        let at = numbered.before as usize * FOUND;
        found[at] = pair as u32;
        found[at + 1usize] = feature;
        found[at + 2usize] = contact;
    }
    // The same for all threads of the block.
    if numbered.all > 0u32 {
        sync_cube();
        if unit < PAIRS {
            for s in 0u32..numbered.all {
                let at = s as usize * FOUND;
                if found[at] == UNIT_POS {
                    let its_feature = found[at + 1usize];
                    let its_contact = found[at + 2usize];
                    add_key(its_feature, unit * LISTS, found_counts, found_keys);
                    if its_contact != 0u32 {
                        add_key(its_contact, unit * LISTS + 1usize, found_counts, found_keys);
                    }
                }
            }
        }
    }
}

/// Whether features at this squared distance \[m²\] are near; it is negative if it was not computed.
#[cube]
fn is_near<C: Real>(square: C, pair: usize, poses: &[Record<C>]) -> bool {
    let bound = bound_of::<C>(pair, poses);
    square >= C::new(0.0) && square < bound * bound
}

/// Computes the nearest points of the items of this thread that passed, one a bit, see [`list_passed()`], of which there are so many, and lists those that
/// are near. They are pairs of listed edges, or vertices, each with as many `parts` of the other grain. All threads of the block call it.
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
    found_counts: &mut [u32],
    found_keys: &mut [u32],
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
                let mut feature = 0u32.runtime();
                let mut contact = 0u32.runtime();
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
                        if is_near::<C>(points.square, pair, poses) {
                            feature = key_of(EDGES, e, f);
                            contact = points.key;
                        }
                    } else {
                        pair = pair_of_item(candidate, first);
                        let corner = seen_vertex::<C>(candidate - first[pair], pair, poses, shapes, words, numbers);
                        let points = nearest_to_part::<C>(&corner, part, pair, poses, words, numbers);
                        if is_near::<C>(points.square, pair, poses) {
                            if corner.is_of_j {
                                feature = key_of(VERTEX_OF_J, part, corner.vertex);
                            } else {
                                feature = key_of(VERTEX_OF_I, corner.vertex, part);
                            }
                            contact = points.key;
                        }
                    }
                }
                take_features(feature, contact, pair, counts, found, found_counts, found_keys);
            }
            part += 1u32;
        }
        done += SEARCH_BLOCK;
    }
}
