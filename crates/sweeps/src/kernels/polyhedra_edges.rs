//! Edges of a search for contacts of pairs, see [`super::polyhedra_search`]: lists of those that are near, and pairs of them.

use super::polyhedra_candidates::{EDGES_LISTED, PAIRS, SEARCH_BLOCK, compute_candidates, number_items, pair_of_item};
use super::polyhedra_items::{bound_of, frame_of, is_near_edge, scale_of, square_to_edge};
use crate::layout::{BITS, Record};
use crate::shape_features::seen;
use crate::shapes::{edge_end, shape_at};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Edges that a thread tests one after the other.
const EDGES_TOGETHER: u32 = 4;

/// Words with the marks of the edges of a grain that are listed at a time.
pub(super) const MARKS: usize = EDGES_LISTED / EDGES_TOGETHER as usize;

const _: () = assert!(EDGES_TOGETHER <= BITS && MARKS * EDGES_TOGETHER as usize == EDGES_LISTED);

/// How many of a number of edges are listed together from `start` on.
#[cube]
fn edges_from(start: u32, edges: u32) -> u32 {
    let mut listed = 0u32.runtime();
    if edges > start {
        listed = min(edges - start, comptime!(EDGES_LISTED as u32));
    }
    listed
}

/// Number of words with the marks of this many edges.
#[cube]
fn words_of_marks(edges: u32) -> u32 {
    (edges + comptime!(EDGES_TOGETHER - 1)) / EDGES_TOGETHER
}

/// Lists the edges that are not beyond the support plane of the other grain, of the [`EDGES_LISTED`] from `start_i` on of i and from `start_j` on of j.
/// All threads of the block call it; `is_searched` says whether the pair of this thread is searched.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn list_edges<C: Real>(
    start_i: u32,
    start_j: u32,
    is_searched: bool,
    planes: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    counts: &mut [u32],
    first: &mut [u32],
    marks: &mut [u32],
    lists: &mut [u32],
    lengths: &mut [u32],
) {
    let unit = UNIT_POS as usize;
    let mut own = 0u32.runtime();
    if is_searched {
        let of_i = edges_from(start_i, shape_at(words, shapes[unit * 2usize]).edges);
        let of_j = edges_from(start_j, shape_at(words, shapes[unit * 2usize + 1usize]).edges);
        own = words_of_marks(of_i) + words_of_marks(of_j);
    }
    number_items(own, counts, first);
    let all = first[PAIRS];
    let mut item = UNIT_POS;
    while item < all {
        let pair = pair_of_item(item, first);
        let place = item - first[pair];
        let of_i = words_of_marks(edges_from(start_i, shape_at(words, shapes[pair * 2usize]).edges));
        let mut side = 0usize.runtime();
        let mut word = place;
        let mut begin = start_i;
        if place >= of_i {
            side = 1usize;
            word = place - of_i;
            begin = start_j;
        }
        let shape = shape_at(words, shapes[pair * 2usize + side]);
        let from = begin + word * EDGES_TOGETHER;
        let mut bits = 0u32.runtime();
        for b in 0u32..EDGES_TOGETHER {
            let edge = from + b;
            if edge < shape.edges {
                if is_near_edge::<C>(edge, side, pair, &shape, planes, words, numbers) {
                    bits |= 1u32 << b;
                }
            }
        }
        marks[(pair * 2usize + side) * MARKS + word as usize] = bits;
        item += SEARCH_BLOCK;
    }
    sync_cube();
    // A thread a grain.
    if unit < comptime!(PAIRS * 2) {
        let pair = unit / 2usize;
        let mut length = 0u32.runtime();
        if first[pair + 1usize] > first[pair] {
            let mut begin = start_i;
            if unit % 2usize == 1usize {
                begin = start_j;
            }
            let marked = words_of_marks(edges_from(begin, shape_at(words, shapes[unit]).edges));
            for word in 0u32..marked {
                let mut rest = marks[unit * MARKS + word as usize];
                while rest != 0u32 {
                    let bit = rest.trailing_zeros();
                    lists[unit * EDGES_LISTED + length as usize] = begin + word * EDGES_TOGETHER + bit;
                    length += 1u32;
                    rest -= 1u32 << bit;
                }
            }
        }
        lengths[unit] = length;
    }
    sync_cube();
}

/// Finds the listed edges of i that are near those of j, in the pairs that are searched. All threads of the block call it.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn search_listed_edges<C: Real>(
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    lists: &[u32],
    lengths: &[u32],
    counts: &mut [u32],
    first: &mut [u32],
    candidates: &mut [u32],
    found: &mut [u32],
    found_counts: &mut [u32],
    found_keys: &mut [u32],
) {
    let unit = UNIT_POS as usize;
    let mut longest = 0u32.runtime();
    for s in 0..PAIRS {
        if lengths[s * 2usize] > 0u32 {
            longest = max(longest, lengths[s * 2usize + 1usize]);
        }
    }
    // As many edges of j at a time as a word has bits.
    let mut start = 0u32.runtime();
    while start < longest {
        let mut own = 0u32.runtime();
        if unit < PAIRS {
            if lengths[unit * 2usize + 1usize] > start {
                own = lengths[unit * 2usize];
            }
        }
        number_items(own, counts, first);
        let all = first[PAIRS];
        let mut from = 0u32.runtime();
        while from < all {
            let item = from + UNIT_POS;
            let mut bits = 0u32.runtime();
            let mut passed = 0u32.runtime();
            let mut base = 0u32.runtime();
            if item < all {
                let pair = pair_of_item(item, first);
                let place = item - first[pair];
                base = (pair as u32 * comptime!(EDGES_LISTED as u32) + place) * comptime!(EDGES_LISTED as u32) + start;
                let shape_i = shape_at(words, shapes[pair * 2usize]);
                let shape_j = shape_at(words, shapes[pair * 2usize + 1usize]);
                let scale_i = scale_of::<C>(0usize, pair, poses);
                let scale_j = scale_of::<C>(1usize, pair, poses);
                let view = frame_of::<C>(pair, poses);
                let bound = bound_of::<C>(pair, poses);
                let bound_square = bound * bound;
                let of_i = pair * 2usize * EDGES_LISTED;
                let of_j = of_i + EDGES_LISTED;
                let e = lists[of_i + place as usize];
                let e1 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 0u32, scale_i), &view);
                let e2 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 1u32, scale_i), &view);
                let end = min(lengths[pair * 2usize + 1usize], start + BITS);
                for k in start..end {
                    let f = lists[of_j + k as usize];
                    if square_to_edge::<C>(f, &e1, &e2, &shape_j, words, numbers, scale_j) < bound_square {
                        bits |= 1u32 << (k - start);
                        passed += 1u32;
                    }
                }
            }
            compute_candidates::<C>(
                bits,
                passed,
                base,
                1u32,
                true,
                1u32,
                poses,
                shapes,
                words,
                numbers,
                lists,
                counts,
                first,
                candidates,
                found,
                found_counts,
                found_keys,
            );
            from += SEARCH_BLOCK;
        }
        start += BITS;
    }
}
