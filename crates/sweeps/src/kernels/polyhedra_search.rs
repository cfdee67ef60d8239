//! Search for the contacts of pairs with a polyhedral grain.
//!
//! Few pairs may touch, few features of these are near, and threads that look for them one after the other find them at different times. So the threads
//! of a block share the work as flat lists of equal items, whichever pairs they belong to. First a thread tests a pair, by spheres and support planes.
//! Then the block takes the pairs that are left, eight at a time:
//!
//! 1. An item is a face, with the least height of the other grain over it. The face with the largest one separates the pair, or gives the axis along
//!    which the fewest features are near.
//! 2. An item is a vertex and a convex part of the other grain. Those near enough become candidates. When a batch of items is tested, a thread computes
//!    the nearest points of a candidate.
//! 3. An item is an edge between the support planes, with all such edges of the other grain. Pairs of edges near enough become candidates, as above.
//!
//! Bounds and criteria are those of [`crate::shape_search`], so both find the same contacts. Places in lists come from sums over the block, so they do not
//! depend on which thread comes first. Keys are put in ascending order at the end.

use super::bonds::{quaternion, record_of};
use super::polyhedra::CONTACT_THREADS;
use super::polyhedra_items::{
    POSE, axis_of, axis_of_face, bound_of, edge_of_i_is_near, edge_of_j_is_near, frame_of, gap_over_face, high_of_j, key_of_edges,
    key_of_vertex, low_of_i, may_touch, nothing_of, outer_faces, reach_of, scale_of_i, scale_of_j, seen_vertex, square_to_edge,
    vertices_that_meet,
};
use super::polyhedra_lists::PAIR_LOAD;
use super::polyhedra_pairs::shape_pair;
use super::{is_halted, raise};
use crate::layout::{Record, four_numbers, record, xyz};
use crate::motion::TOO_DEEP;
use crate::periodic::PeriodicBoundaries;
use crate::shape_features::{frame_of_i, seen};
use crate::shape_search::{approach_of, extents_of, planes_meet, sizes_of_search};
use crate::shapes::{edge_end, shape_at};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Threads of a block, which are also the pairs that it tests.
const BLOCK: u32 = CONTACT_THREADS as u32;

/// Pairs that a block takes one after the other from the order of pairs.
const RUN: usize = 8;

/// Pairs that a block searches at a time.
const PAIRS: usize = 8;

/// Items that a thread tests before candidates are computed: the bits of a word.
const ITEMS: u32 = 32;

/// Edges of a grain that are listed at a time.
const EDGES_LISTED: usize = 64;

/// The number of no face.
const NONE: u32 = u32::MAX;

/// A count of this thread among those of the block.
#[derive(CubeType, Clone, Copy, Debug)]
struct Numbered {
    /// Sum over the threads before this one.
    before: u32,
    /// Sum over all threads.
    all: u32,
}

/// The face of a pair over which the other grain is highest.
#[derive(CubeType, Clone, Copy, Debug)]
struct FarthestFace<C: Real> {
    /// Its number, or [`NONE`].
    face: u32,
    /// Least height of the vertices of the other grain over it \[m\].
    gap: C,
}

/// Place in the order of pairs of the one that thread `unit` of this block tests. Threads of a block take short runs of pairs from all over the order, as
/// those that touched come first in it, and would be searched by few blocks.
#[cube]
fn place_of_pair(unit: usize) -> usize {
    ((unit / RUN) * CUBE_COUNT + CUBE_POS) * RUN + unit % RUN
}

/// Adds up a number of each thread. All threads of the block call it; `counts` has a word for each.
#[cube]
fn number_in_block(own: u32, counts: &mut [u32]) -> Numbered {
    let unit = UNIT_POS as usize;
    counts[unit] = own;
    sync_cube();
    let mut before = 0u32.runtime();
    let mut all = 0u32.runtime();
    for s in 0..CONTACT_THREADS {
        let count = counts[s];
        if s < unit {
            before += count;
        }
        all += count;
    }
    sync_cube();
    Numbered { before, all }
}

/// Numbers the items of all pairs that are searched: those of a pair start at its word of `first`, and one more word has their number. All threads of the
/// block call it; those of pairs with the `items` of theirs.
#[cube]
fn number_items(items: u32, counts: &mut [u32], first: &mut [u32]) {
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
fn pair_of_item(item: u32, first: &mut [u32]) -> usize {
    let mut pair = 0usize.runtime();
    for s in 1usize..PAIRS {
        if first[s] <= item {
            pair += 1usize;
        }
    }
    pair
}

/// Lists the items of this thread that passed, one a bit, if their numbers among the candidates of the block are in the window from `done` on. The word of
/// bit b is `base` + b `stride`.
#[cube]
fn list_candidates(bits: u32, base: u32, #[comptime] stride: u32, numbered: &Numbered, done: u32, candidates: &mut [u32]) {
    let mut rest = bits;
    let mut number = numbered.before;
    while rest != 0u32 {
        let bit = rest.trailing_zeros();
        if number >= done && number < done + BLOCK {
            candidates[(number - done) as usize] = base + bit * stride;
        }
        number += 1u32;
        rest -= 1u32 << bit;
    }
}

/// Adds the keys that the threads of the block found to those of their pairs, as far as there are slots. All threads call it; those without a contact with
/// the key zero.
#[cube]
fn take_keys(key: u32, pair: usize, marks: &mut [u32], contacts: &mut [u32], found_keys: &mut [u32], #[comptime] slots: usize) {
    let unit = UNIT_POS as usize;
    let mut mark = 0u32.runtime();
    if key != 0u32 {
        mark = pair as u32 + 1u32;
    }
    marks[unit] = mark;
    sync_cube();
    let mut before = 0u32.runtime();
    let mut all = 0u32.runtime();
    if mark != 0u32 {
        for s in 0..CONTACT_THREADS {
            if marks[s] == mark {
                if s < unit {
                    before += 1u32;
                }
                all += 1u32;
            }
        }
        let at = (contacts[pair] + before) as usize;
        if at < slots {
            found_keys[pair * slots + at] = key;
        }
    }
    sync_cube();
    if mark != 0u32 {
        if before == 0u32 {
            contacts[pair] += all;
        }
    }
}

/// Lists the edges of i (`side` 0) or of j (`side` 1) that are between the support planes, of the [`EDGES_LISTED`] from `start` on. All threads of the
/// block call it; `is_searched` says whether the pair of this thread is searched. Returns how many edges the block looked at: zero after the last.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn list_edges<C: Real>(
    start: u32,
    is_searched: bool,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    counts: &mut [u32],
    first: &mut [u32],
    lists: &mut [u32],
    lengths: &mut [u32],
    #[comptime] side: usize,
) -> u32 {
    let unit = UNIT_POS as usize;
    let mut own = 0u32.runtime();
    let mut looks = is_searched;
    if comptime!(side == 1) {
        if unit < PAIRS {
            // Edges of j count beside some of i only.
            looks = is_searched && lengths[unit * 2usize] > 0u32;
        }
    }
    if looks {
        let edges = shape_at(words, shapes[unit * 2usize + side]).edges;
        if edges > start {
            own = min(edges - start, comptime!(EDGES_LISTED as u32));
        }
    }
    number_items(own, counts, first);
    let all = first[PAIRS];
    let mut item = UNIT_POS;
    while item < all {
        let pair = pair_of_item(item, first);
        let place = item - first[pair];
        let mut is_near = false;
        if comptime!(side == 0) {
            is_near = edge_of_i_is_near::<C>(start + place, pair, poses, shapes, words, numbers);
        } else {
            is_near = edge_of_j_is_near::<C>(start + place, pair, poses, shapes, words, numbers);
        }
        let mut mark = 0u32.runtime();
        if is_near {
            mark = 1u32;
        }
        lists[(pair * 2usize + side) * EDGES_LISTED + place as usize] = mark;
        item += BLOCK;
    }
    sync_cube();
    // Marks become numbers of edges. No place is written before its mark is read.
    if unit < PAIRS {
        let at = (unit * 2usize + side) * EDGES_LISTED;
        let mut length = 0u32.runtime();
        for place in 0u32..own {
            if lists[at + place as usize] == 1u32 {
                lists[at + length as usize] = start + place;
                length += 1u32;
            }
        }
        lengths[unit * 2usize + side] = length;
    }
    sync_cube();
    all
}

/// Looks for the face of each pair over which the other grain is highest. All threads of the block call it; `is_own` says whether this thread has a pair.
/// Returns that of its pair, or none if along its axis the two are as far apart.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn farthest_face<C: Real>(
    is_own: bool,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    gaps: &mut [C],
    counts: &mut [u32],
    first: &mut [u32],
) -> FarthestFace<C> {
    let unit = UNIT_POS as usize;
    let mut faces = 0u32.runtime();
    let mut gap = C::new(0.0);
    let mut face = NONE.runtime();
    if is_own {
        let of_i = outer_faces(&shape_at(words, shapes[unit * 2usize]), words);
        let of_j = outer_faces(&shape_at(words, shapes[unit * 2usize + 1usize]), words);
        faces = of_i + of_j;
        gap = low_of_i::<C>(unit, poses) - high_of_j::<C>(unit, poses);
    }
    number_items(faces, counts, first);
    let all = first[PAIRS];
    let mut from = 0u32.runtime();
    while from < all {
        let item = from + UNIT_POS;
        if item < all {
            let pair = pair_of_item(item, first);
            gaps[unit] = gap_over_face::<C>(item - first[pair], pair, poses, shapes, words, numbers);
        }
        sync_cube();
        if unit < PAIRS {
            let begin = max(first[unit], from);
            let end = min(first[unit + 1usize], from + BLOCK);
            for s in begin..end {
                let of_face = gaps[(s - from) as usize];
                if of_face > gap {
                    gap = of_face;
                    face = s - first[unit];
                }
            }
        }
        sync_cube();
        from += BLOCK;
    }
    FarthestFace::<C> { face, gap }
}

/// Finds the contacts of vertices with convex parts in the pairs that are searched. All threads of the block call it; `is_searched` says whether the pair
/// of this thread is searched.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn search_vertices<C: Real>(
    is_searched: bool,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    counts: &mut [u32],
    first: &mut [u32],
    candidates: &mut [u32],
    contacts: &mut [u32],
    found_keys: &mut [u32],
    #[comptime] slots: usize,
) {
    let unit = UNIT_POS as usize;
    // A part of every grain at a time, until none has more parts.
    let mut part = 0u32.runtime();
    let mut has_parts = true;
    while has_parts {
        let mut own = 0u32.runtime();
        if is_searched {
            let shape_i = shape_at(words, shapes[unit * 2usize]);
            let shape_j = shape_at(words, shapes[unit * 2usize + 1usize]);
            own = vertices_that_meet(part, &shape_i, &shape_j) + vertices_that_meet(part, &shape_j, &shape_i);
        }
        number_items(own, counts, first);
        let all = first[PAIRS];
        let mut from = 0u32.runtime();
        while from < all {
            let rounds = min((all - from + comptime!(BLOCK - 1)) / BLOCK, ITEMS);
            let mut bits = 0u32.runtime();
            let mut passed = 0u32.runtime();
            for b in 0u32..rounds {
                let item = from + b * BLOCK + UNIT_POS;
                if item < all {
                    let pair = pair_of_item(item, first);
                    let corner = seen_vertex::<C>(item - first[pair], part, pair, poses, shapes, words, numbers);
                    if may_touch::<C>(&corner, part, bound_of::<C>(pair, poses), words, numbers) {
                        bits |= 1u32 << b;
                        passed += 1u32;
                    }
                }
            }
            let numbered = number_in_block(passed, counts);
            let mut done = 0u32.runtime();
            while done < numbered.all {
                list_candidates(bits, from + UNIT_POS, BLOCK, &numbered, done, candidates);
                sync_cube();
                let mut key = 0u32.runtime();
                let mut pair = 0usize.runtime();
                if done + UNIT_POS < numbered.all {
                    let item = candidates[unit];
                    pair = pair_of_item(item, first);
                    let corner = seen_vertex::<C>(item - first[pair], part, pair, poses, shapes, words, numbers);
                    let reach = reach_of::<C>(pair, poses);
                    key = key_of_vertex::<C>(&corner, part, reach, nothing_of::<C>(pair, poses), words, numbers);
                }
                take_keys(key, pair, counts, contacts, found_keys, slots);
                done += BLOCK;
            }
            from += comptime!(BLOCK * ITEMS);
        }
        part += 1u32;
        has_parts = all > 0u32;
    }
}

/// Finds the contacts of the listed edges of i with those of j, in the pairs that are searched. All threads of the block call it.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn search_listed_edges<C: Real>(
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    lists: &[u32],
    lengths: &[u32],
    counts: &mut [u32],
    first: &mut [u32],
    candidates: &mut [u32],
    contacts: &mut [u32],
    found_keys: &mut [u32],
    #[comptime] slots: usize,
) {
    let unit = UNIT_POS as usize;
    let mut longest = 0u32.runtime();
    for s in 0..PAIRS {
        longest = max(
            longest,
            min(lengths[s * 2usize + 1usize], lengths[s * 2usize] * comptime!(EDGES_LISTED as u32)),
        );
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
                let scale_i = scale_of_i::<C>(pair, poses);
                let scale_j = scale_of_j::<C>(pair, poses);
                let view = frame_of::<C>(pair, poses);
                let bound = bound_of::<C>(pair, poses);
                let bound_square = bound * bound;
                let of_i = pair * 2usize * EDGES_LISTED;
                let of_j = of_i + EDGES_LISTED;
                let e = lists[of_i + place as usize];
                let e1 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 0u32, scale_i), &view);
                let e2 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 1u32, scale_i), &view);
                let end = min(lengths[pair * 2usize + 1usize], start + ITEMS);
                for k in start..end {
                    let f = lists[of_j + k as usize];
                    if square_to_edge::<C>(f, &e1, &e2, &shape_j, words, numbers, scale_j) < bound_square {
                        bits |= 1u32 << (k - start);
                        passed += 1u32;
                    }
                }
            }
            let numbered = number_in_block(passed, counts);
            let mut done = 0u32.runtime();
            while done < numbered.all {
                list_candidates(bits, base, 1u32, &numbered, done, candidates);
                sync_cube();
                let mut key = 0u32.runtime();
                let mut pair = 0usize.runtime();
                if done + UNIT_POS < numbered.all {
                    let places = candidates[unit] as usize;
                    let of_both = places / EDGES_LISTED;
                    pair = of_both / EDGES_LISTED;
                    let of_i = pair * 2usize * EDGES_LISTED;
                    let e = lists[of_i + of_both % EDGES_LISTED];
                    let f = lists[of_i + EDGES_LISTED + places % EDGES_LISTED];
                    key = key_of_edges::<C>(e, f, pair, poses, shapes, words, numbers);
                }
                take_keys(key, pair, counts, contacts, found_keys, slots);
                done += BLOCK;
            }
            from += BLOCK;
        }
        start += ITEMS;
    }
}

/// Finds the contacts of pairs. Their keys are written to `keys`, with `slots` slots a pair, and their number to `loads`, see [`PAIR_LOAD`], where all
/// forces are zero then. Blocks have [`CONTACT_THREADS`] threads, and take as many of n pairs, in this order.
///
/// A word of `keys` and `loads` is written by one thread of a block: by that which tests its pair, or after all if the pair is searched.
///
/// A pair with contacts for which there are too few slots raises the flag of a too deep overlap.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn search_shape_pairs<R: Coordinate<R>, C: Coordinate<R>>(
    pairs: &[u32],
    order: &[u32],
    shape: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    keys: &mut [u32],
    loads: &mut [Record<R>],
    flags: &mut [u32],
    sides: &PeriodicBoundaries<C, R>,
    n: u32,
    parity: u32,
    #[comptime] slots: usize,
    #[comptime] kind: u32,
) {
    let mut searched = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut planes = Shared::<[C]>::new_slice(CONTACT_THREADS * 2);
    let mut poses = Shared::<[Record<C>]>::new_slice(PAIRS * POSE);
    let mut shapes = Shared::<[u32]>::new_slice(PAIRS * 2);
    let mut gaps = Shared::<[C]>::new_slice(CONTACT_THREADS);
    let mut counts = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut first = Shared::<[u32]>::new_slice(PAIRS + 1);
    let mut candidates = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut lists = Shared::<[u32]>::new_slice(PAIRS * 2 * EDGES_LISTED);
    let mut lengths = Shared::<[u32]>::new_slice(PAIRS * 2);
    let mut contacts = Shared::<[u32]>::new_slice(PAIRS);
    let mut indices = Shared::<[u32]>::new_slice(PAIRS);
    let mut found_keys = Shared::<[u32]>::new_slice(comptime!(PAIRS * slots));
    let unit = UNIT_POS as usize;
    if !is_halted(flags, parity) {
        let place = place_of_pair(unit);
        let mut is_near = 0u32.runtime();
        if place < n as usize {
            let k = order[place] as usize;
            let at = k * PAIR_LOAD;
            let direction = xyz::<R>(loads[at + 3usize]);
            let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &direction, sides, kind);
            let sizes = sizes_of_search::<C, R>(&pair, words, numbers);
            let approach = approach_of::<C, R>(&pair, &sizes);
            if approach.spheres_meet {
                let extents = extents_of::<C, R>(&pair, &approach, words, numbers);
                if planes_meet::<C>(&approach, &extents) {
                    is_near = 1u32;
                }
                planes[unit * 2usize] = extents.low_i;
                planes[unit * 2usize + 1usize] = extents.high_j;
            }
            if is_near == 0u32 {
                let nothing = Record::<R>::new(R::new(0.0));
                loads[at] = nothing;
                loads[at + 1usize] = nothing;
                loads[at + 2usize] = nothing;
                loads[at + 3usize] = record::<R>(&direction, R::new(-1.0));
                keys[k * slots] = 0u32;
            }
        }
        // The pairs to be searched, by the threads that tested them.
        let tested = number_in_block(is_near, &mut counts);
        if is_near == 1u32 {
            searched[tested.before as usize] = UNIT_POS;
        }
        sync_cube();

        // All threads of the block come along, as they wait for each other.
        let mut begin = 0u32.runtime();
        while begin < tested.all {
            let turn = begin + UNIT_POS;
            let is_own = unit < PAIRS && turn < tested.all;
            if unit < PAIRS {
                contacts[unit] = 0u32;
            }
            if is_own {
                let tester = searched[turn as usize] as usize;
                let k = order[place_of_pair(tester)];
                let direction = xyz::<R>(loads[k as usize * PAIR_LOAD + 3usize]);
                let pair = shape_pair::<C, R>(
                    k as usize,
                    pairs,
                    shape,
                    position,
                    velocity,
                    spin,
                    orientation,
                    &direction,
                    sides,
                    kind,
                );
                let sizes = sizes_of_search::<C, R>(&pair, words, numbers);
                let approach = approach_of::<C, R>(&pair, &sizes);
                let view = frame_of_i::<C, R>(&pair);
                let at = unit * POSE;
                let zero = C::new(0.0);
                poses[at] = record_of::<C>(&view.orientation);
                poses[at + 1usize] = record::<C>(&view.center, approach.bound);
                poses[at + 2usize] = record::<C>(&approach.axis_j, approach.center_i + planes[tester * 2usize]);
                poses[at + 3usize] = four_numbers::<C>(planes[tester * 2usize + 1usize], sizes.reach, sizes.nothing, pair.i.scale);
                poses[at + 4usize] = four_numbers::<C>(pair.j.scale, zero, zero, zero);
                shapes[unit * 2usize] = pair.i.shape;
                shapes[unit * 2usize + 1usize] = pair.j.shape;
                indices[unit] = k;
            }
            sync_cube();

            let farthest = farthest_face::<C>(is_own, &poses, &shapes, words, numbers, &mut gaps, &mut counts, &mut first);
            let mut is_searched = is_own;
            if farthest.face != NONE {
                let found = axis_of_face::<C>(farthest.face, unit, &poses, &shapes, words, numbers);
                let mut low = found.center_i - found.offset;
                let mut high = low - farthest.gap;
                if found.is_of_j {
                    low = found.offset + farthest.gap;
                    high = found.offset;
                }
                let at = unit * POSE;
                let zero = C::new(0.0);
                let reach = reach_of::<C>(unit, &poses);
                let nothing = nothing_of::<C>(unit, &poses);
                let scale_i = scale_of_i::<C>(unit, &poses);
                let scale_j = scale_of_j::<C>(unit, &poses);
                poses[at + 2usize] = record::<C>(&found.axis, low);
                poses[at + 3usize] = four_numbers::<C>(high, reach, nothing, scale_i);
                poses[at + 4usize] = four_numbers::<C>(scale_j, C::new(1.0), zero, zero);
                // A pair that only two edges separate is searched in every step.
                is_searched = farthest.gap <= bound_of::<C>(unit, &poses);
            }
            search_vertices::<C>(
                is_searched,
                &poses,
                &shapes,
                words,
                numbers,
                &mut counts,
                &mut first,
                &mut candidates,
                &mut contacts,
                &mut found_keys,
                slots,
            );
            // Lists have room for some edges of each grain, so those of i are taken in turns, each with all of j.
            let mut start_i = 0u32.runtime();
            let mut has_edges_of_i = true;
            while has_edges_of_i {
                let edges_of_i = list_edges::<C>(
                    start_i,
                    is_searched,
                    &poses,
                    &shapes,
                    words,
                    numbers,
                    &mut counts,
                    &mut first,
                    &mut lists,
                    &mut lengths,
                    0usize,
                );
                let mut listed = 0u32.runtime();
                for s in 0..PAIRS {
                    listed += lengths[s * 2usize];
                }
                let mut start_j = 0u32.runtime();
                let mut has_edges_of_j = listed > 0u32;
                while has_edges_of_j {
                    let edges_of_j = list_edges::<C>(
                        start_j,
                        is_searched,
                        &poses,
                        &shapes,
                        words,
                        numbers,
                        &mut counts,
                        &mut first,
                        &mut lists,
                        &mut lengths,
                        1usize,
                    );
                    if edges_of_j > 0u32 {
                        search_listed_edges::<C>(
                            &poses,
                            &shapes,
                            words,
                            numbers,
                            &lists,
                            &lengths,
                            &mut counts,
                            &mut first,
                            &mut candidates,
                            &mut contacts,
                            &mut found_keys,
                            slots,
                        );
                    }
                    start_j += comptime!(EDGES_LISTED as u32);
                    has_edges_of_j = edges_of_j > 0u32;
                }
                start_i += comptime!(EDGES_LISTED as u32);
                has_edges_of_i = edges_of_i > 0u32;
            }
            sync_cube();

            // Keys in ascending order: each goes behind those that are smaller.
            let mut slot = unit;
            while slot < comptime!(PAIRS * slots) {
                let pair = slot / slots;
                let listed = min(contacts[pair], comptime!(slots as u32)) as usize;
                if slot % slots < listed {
                    let key = found_keys[slot];
                    let mut rank = 0usize.runtime();
                    for d in 0..listed {
                        if found_keys[pair * slots + d] < key {
                            rank += 1usize;
                        }
                    }
                    keys[indices[pair] as usize * slots + rank] = key;
                }
                slot += CONTACT_THREADS;
            }
            if is_own {
                let k = indices[unit] as usize;
                let at = k * PAIR_LOAD;
                let all = contacts[unit];
                let mut direction = xyz::<R>(loads[at + 3usize]);
                let sizes = poses[unit * POSE + 4usize];
                if sizes.extract(1usize) > C::new(0.0) {
                    let of_j = quaternion::<C>(orientation[pairs[k * 2usize + 1usize] as usize]);
                    direction = near_vector::<C, R>(&of_j.to_space(&axis_of::<C>(unit, &poses)));
                }
                if all > 0u32 {
                    // The state of pairs in contact is saved and migrates, so it must not depend on how long a domain has had the pair.
                    direction = Vector3::<R>::zero();
                }
                let nothing = Record::<R>::new(R::new(0.0));
                loads[at] = record::<R>(&Vector3::<R>::zero(), R::counted(all));
                loads[at + 1usize] = nothing;
                loads[at + 2usize] = nothing;
                loads[at + 3usize] = record::<R>(&direction, R::new(-1.0));
                if all < comptime!(slots as u32) {
                    keys[k * slots + all as usize] = 0u32;
                }
                if all > comptime!(slots as u32) {
                    raise(flags, parity, TOO_DEEP);
                }
            }
            sync_cube();
            begin += comptime!(PAIRS as u32);
        }
    }
}
