//! Search for the features of pairs with a polyhedral grain that may touch.
//!
//! A pair keeps the features that it found, as a neighbor list keeps grains, see [`super::polyhedra_near`]. As long as its grains have hardly moved, it is
//! not searched. Then [`super::polyhedra_near::find_near_contacts()`] looks for contacts among the features that are kept. A pair that a plane separates
//! keeps that it has none, until its grains have moved by the distance at which they may touch.
//!
//! Few pairs may touch, few features of these are near, and threads that look for them one after the other find them at different times. So the threads
//! of a block share the work as flat lists of equal items, whichever pairs they belong to. First a thread tests a pair, by spheres, by its motion, and by
//! support planes. Then the block takes the pairs that are left, some at a time:
//!
//! 1. An item is a face, with the least height of the other grain over it. The face with the largest one separates the pair, or gives the axis along
//!    which the fewest features are near. A pair that it separates by half of the margin ends here. Pairs that touched in the last step have the
//!    direction of their nearest contact, which is as good. They look for faces only if it is so no longer.
//! 2. An item is a vertex. Those that are not beyond the support plane of the other grain become candidates. A thread computes how near a candidate is to
//!    each convex part.
//! 3. An item is a few edges. Those that are not beyond the support plane are listed by pair and grain.
//! 4. An item is a listed edge of i, with all those of j. Pairs of edges whose boxes are near enough become candidates, as above.
//!
//! Bounds and criteria are those of [`crate::shape_search`], with a wider bound. Places in lists come from sums over the block, so they do not depend on
//! which thread comes first. Keys are put in ascending order at the end.
//!
//! Blocks are small, so few threads wait at a barrier.

pub use super::polyhedra_candidates::SEARCH_THREADS;

use super::bonds::{quaternion, record_of};
use super::polyhedra_blocks::{RUN, number_in_block, place_of_pair};
use super::polyhedra_candidates::{
    EDGES_LISTED, FOUND, LISTS, PAIRS, SEARCH_BLOCK, SEARCH_COUNTS, SIZES, compute_candidates, largest_size, number_items, pair_of_item,
};
use super::polyhedra_edges::{MARKS, list_edges, search_listed_edges};
use super::polyhedra_items::{
    PLANES, POSE, axis_of_face, bound_of, frame_of, gap_over_face, is_near_vertex, outer_faces, plane_of_i, plane_of_j,
};
use super::polyhedra_lists::PAIR_LOAD;
use super::polyhedra_near::{KEPT, STAYS, are_kept, keep_pose, word_of_counts};
use super::polyhedra_pairs::shape_pair;
use super::{is_halted, raise};
use crate::layout::{BITS, Record, four_numbers, last, record, xyz};
use crate::motion::TOO_DEEP;
use crate::near_features::margin_of;
use crate::periodic::PeriodicBoundaries;
use crate::shape_features::{EDGES, KIND_BIT, PairSizes, ShapePair, frame_of_i};
use crate::shape_search::{Approach, Extents, approach_of, extents_of, gap_of_planes, sizes_of_search, spheres_meet};
use crate::shapes::shape_at;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, near_vector};

/// Pairs that a block tests.
pub const SEARCH_PAIRS: usize = 64;

/// Threads that put the keys of a pair in order.
const SORTERS: usize = SEARCH_THREADS / PAIRS;

/// Pairs that touched look for faces if features are near in more than this share of the bound along their axis.
const THICK: f32 = 0.25;

/// The number of no face.
const NONE: u32 = u32::MAX;

const _: () = assert!(SORTERS * PAIRS == SEARCH_THREADS);
const _: () = assert!(SEARCH_PAIRS / SEARCH_THREADS * SEARCH_THREADS == SEARCH_PAIRS && SEARCH_PAIRS / RUN * RUN == SEARCH_PAIRS);

/// Number of threads that search this many pairs.
pub fn search_threads(pairs: usize) -> usize {
    pairs.div_ceil(SEARCH_PAIRS) * SEARCH_THREADS
}

/// The face of a pair over which the other grain is highest.
#[derive(CubeType, Clone, Copy, Debug)]
struct FarthestFace<C: Real> {
    /// Its number, or [`NONE`].
    face: u32,
    /// Least height of the vertices of the other grain over it \[m\].
    gap: C,
}

/// How a pair looks from afar.
#[derive(CubeType, Clone, Copy, Debug)]
struct FarPair<C: Real, R: Real> {
    /// Its sizes.
    sizes: PairSizes<C, R>,
    /// What a search takes from it first.
    approach: Approach<C>,
    /// How far its grains reach toward each other.
    extents: Extents<C>,
}

/// Looks for the face of each pair over which the other grain is highest. All threads of the block call it; `looks` says whether this thread has a pair
/// that needs one, whose support planes have this `gap`. Returns the face of its pair, or none if over no face the two are farther apart.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn farthest_face<C: Real>(
    looks: bool,
    gap: C,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    heights: &mut [C],
    counts: &mut [u32],
    first: &mut [u32],
) -> FarthestFace<C> {
    let unit = UNIT_POS as usize;
    let mut faces = 0u32.runtime();
    let mut farthest = gap;
    let mut face = NONE.runtime();
    if looks {
        let of_i = outer_faces(&shape_at(words, shapes[unit * 2usize]), words);
        let of_j = outer_faces(&shape_at(words, shapes[unit * 2usize + 1usize]), words);
        faces = of_i + of_j;
    }
    number_items(faces, counts, first);
    let all = first[PAIRS];
    let mut from = 0u32.runtime();
    while from < all {
        let item = from + UNIT_POS;
        if item < all {
            let pair = pair_of_item(item, first);
            heights[unit] = gap_over_face::<C>(item - first[pair], pair, poses, shapes, words, numbers);
        }
        sync_cube();
        if unit < PAIRS {
            let begin = max(first[unit], from);
            let end = min(first[unit + 1usize], from + SEARCH_BLOCK);
            for s in begin..end {
                let height = heights[(s - from) as usize];
                if height > farthest {
                    farthest = height;
                    face = s - first[unit];
                }
            }
        }
        sync_cube();
        from += SEARCH_BLOCK;
    }
    FarthestFace::<C> { face, gap: farthest }
}

/// Finds the vertices that are near convex parts in the pairs that are searched. All threads of the block call it; `is_searched` says whether the pair
/// of this thread is searched.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn search_vertices<C: Real>(
    is_searched: bool,
    poses: &[Record<C>],
    planes: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    most: &[u32],
    lists: &[u32],
    counts: &mut [u32],
    first: &mut [u32],
    candidates: &mut [u32],
    found: &mut [u32],
    found_counts: &mut [u32],
    found_keys: &mut [u32],
) {
    let unit = UNIT_POS as usize;
    let mut own = 0u32.runtime();
    if is_searched {
        own = shape_at(words, shapes[unit * 2usize]).vertices + shape_at(words, shapes[unit * 2usize + 1usize]).vertices;
    }
    number_items(own, counts, first);
    let parts = largest_size(most, 0usize);
    let all = first[PAIRS];
    let mut from = 0u32.runtime();
    while from < all {
        let rounds = min((all - from + comptime!(SEARCH_BLOCK - 1)) / SEARCH_BLOCK, BITS);
        let mut bits = 0u32.runtime();
        let mut passed = 0u32.runtime();
        for b in 0u32..rounds {
            let item = from + b * SEARCH_BLOCK + UNIT_POS;
            if item < all {
                let pair = pair_of_item(item, first);
                if is_near_vertex::<C>(item - first[pair], pair, planes, shapes, words, numbers) {
                    bits |= 1u32 << b;
                    passed += 1u32;
                }
            }
        }
        compute_candidates::<C>(
            bits,
            passed,
            from + UNIT_POS,
            SEARCH_BLOCK,
            false,
            parts,
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
        from += comptime!(SEARCH_BLOCK * BITS);
    }
}

/// A pair as it looks from afar, along its direction.
#[cube]
fn far_pair<C: Coordinate<R>, R: Coordinate<R>>(pair: &ShapePair<C, R>, words: &[u32], numbers: &[C]) -> FarPair<C, R> {
    let sizes = sizes_of_search::<C, R>(pair, words, numbers);
    let approach = approach_of::<C, R>(pair, &sizes);
    let extents = extents_of::<C, R>(pair, &approach, words, numbers);
    FarPair::<C, R> { sizes, approach, extents }
}

/// The list of a pair that is kept: that of the features that are near, or that of its contacts if there are too many others.
#[cube]
fn list_of(pair: usize, found_counts: &mut [u32]) -> usize {
    let mut list = pair * LISTS;
    if found_counts[list] > comptime!(KEPT as u32) {
        list += 1usize;
    }
    list
}

/// Finds the features of pairs that may touch, and keeps them in `near`, `near_counts` and `near_poses`, see [`crate::kernels::polyhedra_near`]. Blocks have
/// [`SEARCH_THREADS`] threads, and take [`SEARCH_PAIRS`] of n pairs, in this order. A pair that keeps its features already, or that it has none, is left
/// as it is.
///
/// The direction in `loads` becomes the normal of the face that separates a pair best, if one does so better.
///
/// A pair with more contacts than can be kept raises the flag of a too deep overlap.
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
    near: &mut [u32],
    near_counts: &mut [u32],
    near_poses: &mut [Record<C>],
    loads: &mut [Record<R>],
    flags: &mut [u32],
    sides: &PeriodicBoundaries<C, R>,
    n: u32,
    parity: u32,
    #[comptime] kind: u32,
) {
    let mut searched = Shared::<[u32]>::new_slice(SEARCH_PAIRS);
    let mut poses = Shared::<[Record<C>]>::new_slice(PAIRS * POSE);
    let mut planes = Shared::<[Record<C>]>::new_slice(PAIRS * PLANES);
    let mut shapes = Shared::<[u32]>::new_slice(PAIRS * 2);
    let mut most = Shared::<[u32]>::new_slice(PAIRS * SIZES);
    let mut heights = Shared::<[C]>::new_slice(SEARCH_THREADS);
    let mut counts = Shared::<[u32]>::new_slice(SEARCH_COUNTS);
    let mut first = Shared::<[u32]>::new_slice(PAIRS + 1);
    let mut candidates = Shared::<[u32]>::new_slice(SEARCH_THREADS);
    let mut found = Shared::<[u32]>::new_slice(SEARCH_THREADS * FOUND);
    let mut marks = Shared::<[u32]>::new_slice(PAIRS * 2 * MARKS);
    let mut lists = Shared::<[u32]>::new_slice(PAIRS * 2 * EDGES_LISTED);
    let mut lengths = Shared::<[u32]>::new_slice(PAIRS * 2);
    let mut indices = Shared::<[u32]>::new_slice(PAIRS);
    let mut found_counts = Shared::<[u32]>::new_slice(PAIRS * LISTS);
    let mut found_keys = Shared::<[u32]>::new_slice(PAIRS * LISTS * KEPT);
    let unit = UNIT_POS as usize;
    if !is_halted(flags, parity) {
        // The pairs to be searched.
        let mut all = 0u32.runtime();
        let mut tests = 0usize.runtime();
        while tests < SEARCH_PAIRS {
            let place = place_of_pair(tests + unit);
            let mut is_left = 0u32.runtime();
            let mut index = 0u32.runtime();
            if place < n as usize {
                index = order[place];
                let k = index as usize;
                let direction = xyz::<R>(loads[k * PAIR_LOAD + 3usize]);
                let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &direction, sides, kind);
                // Most pairs end here, so these tests come before all that needs the shapes.
                if spheres_meet::<C, R>(&pair) {
                    if !are_kept::<C, R>(k, &pair, near_counts, near_poses) {
                        let far = far_pair::<C, R>(&pair, words, numbers);
                        let allowed = gap_of_planes::<C>(&far.approach, &far.extents) - far.approach.bound;
                        if allowed < C::new(0.0) {
                            is_left = 1u32;
                        } else {
                            keep_pose::<C>(k, &frame_of_i::<C, R>(&pair), allowed, near_poses);
                            near_counts[k] = STAYS;
                        }
                    }
                } else {
                    near_counts[k] = 0u32;
                }
            }
            let numbered = number_in_block(is_left, &mut counts, SEARCH_THREADS);
            if is_left == 1u32 {
                searched[(all + numbered.before) as usize] = index;
            }
            all += numbered.all;
            tests += SEARCH_THREADS;
        }
        sync_cube();

        // All threads of the block come along, as they wait for each other.
        let mut begin = 0u32.runtime();
        while begin < all {
            let is_own = unit < PAIRS && begin + UNIT_POS < all;
            let mut looks = false;
            let mut gap = C::new(0.0);
            if unit < PAIRS {
                found_counts[unit * LISTS] = 0u32;
                found_counts[unit * LISTS + 1usize] = 0u32;
            }
            if is_own {
                let k = searched[(begin + UNIT_POS) as usize] as usize;
                let direction = xyz::<R>(loads[k * PAIR_LOAD + 3usize]);
                let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &direction, sides, kind);
                let far = far_pair::<C, R>(&pair, words, numbers);
                let view = frame_of_i::<C, R>(&pair);
                let at = unit * POSE;
                let low = far.approach.center_i + far.extents.low_i;
                let high = far.extents.high_j;
                let bound = far.approach.bound;
                let margin = margin_of::<C>(pair.i.scale, pair.j.scale);
                poses[at] = record_of::<C>(&view.orientation);
                poses[at + 1usize] = record::<C>(&view.center, bound + margin);
                // Looser than the criteria of the kernel that finds contacts among these, by more than rounding errors.
                let nothing = C::new(0.5) * far.sizes.nothing;
                poses[at + 2usize] = four_numbers::<C>(pair.i.scale, pair.j.scale, bound, nothing);
                keep_pose::<C>(k, &view, margin, near_poses);
                planes[unit * PLANES] = plane_of_i::<C>(&far.approach.axis_j, high, unit, &poses);
                planes[unit * PLANES + 1usize] = plane_of_j::<C>(&far.approach.axis_j, low, unit, &poses);
                gap = gap_of_planes::<C>(&far.approach, &far.extents);
                looks = last::<R>(loads[k * PAIR_LOAD]) == R::new(0.0) || bound - gap > C::new(THICK) * bound;
                shapes[unit * 2usize] = pair.i.shape;
                shapes[unit * 2usize + 1usize] = pair.j.shape;
                indices[unit] = k as u32;
            }
            sync_cube();

            let farthest = farthest_face::<C>(looks, gap, &poses, &shapes, words, numbers, &mut heights, &mut counts, &mut first);
            let mut is_searched = is_own;
            if farthest.face != NONE {
                let face = axis_of_face::<C>(farthest.face, unit, &poses, &shapes, words, numbers);
                let mut low = face.center_i - face.offset;
                let mut high = low - farthest.gap;
                if face.is_of_j {
                    low = face.offset + farthest.gap;
                    high = face.offset;
                }
                planes[unit * PLANES] = plane_of_i::<C>(&face.axis, high, unit, &poses);
                planes[unit * PLANES + 1usize] = plane_of_j::<C>(&face.axis, low, unit, &poses);
                let k = indices[unit] as usize;
                let limits = poses[unit * POSE + 2usize];
                let contact_bound = limits.extract(2usize);
                let allowed = farthest.gap - contact_bound;
                let margin = bound_of::<C>(unit, &poses) - contact_bound;
                is_searched = allowed <= C::new(0.5) * margin;
                if !is_searched {
                    // No feature is within the bound of contacts until then. Those within the margin, too, are not looked for.
                    keep_pose::<C>(k, &frame_of::<C>(unit, &poses), allowed, near_poses);
                }
                let turn_j = quaternion::<C>(orientation[pairs[k * 2usize + 1usize] as usize]);
                loads[k * PAIR_LOAD + 3usize] = record::<R>(&near_vector::<C, R>(&turn_j.to_space(&face.axis)), R::new(-1.0));
            }
            if unit < PAIRS {
                let mut parts = 0u32.runtime();
                let mut edges_i = 0u32.runtime();
                let mut edges_j = 0u32.runtime();
                if is_searched {
                    let shape_i = shape_at(words, shapes[unit * 2usize]);
                    let shape_j = shape_at(words, shapes[unit * 2usize + 1usize]);
                    parts = max(shape_i.parts, shape_j.parts);
                    edges_i = shape_i.edges;
                    edges_j = shape_j.edges;
                }
                most[unit * SIZES] = parts;
                most[unit * SIZES + 1usize] = edges_i;
                most[unit * SIZES + 2usize] = edges_j;
            }
            search_vertices::<C>(
                is_searched,
                &poses,
                &planes,
                &shapes,
                words,
                numbers,
                &most,
                &lists,
                &mut counts,
                &mut first,
                &mut candidates,
                &mut found,
                &mut found_counts,
                &mut found_keys,
            );
            // Lists have room for some edges of each grain, so they are taken in turns.
            let most_i = largest_size(&most, 1usize);
            let most_j = largest_size(&most, 2usize);
            let mut start_i = 0u32.runtime();
            while start_i < most_i {
                let mut start_j = 0u32.runtime();
                while start_j < most_j {
                    list_edges::<C>(
                        start_i,
                        start_j,
                        is_searched,
                        &planes,
                        &shapes,
                        words,
                        numbers,
                        &mut counts,
                        &mut first,
                        &mut marks,
                        &mut lists,
                        &mut lengths,
                    );
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
                        &mut found,
                        &mut found_counts,
                        &mut found_keys,
                    );
                    start_j += comptime!(EDGES_LISTED as u32);
                }
                start_i += comptime!(EDGES_LISTED as u32);
            }
            sync_cube();

            // Keys in ascending order: each goes behind those that are smaller.
            let sorted = unit / SORTERS;
            let its_list = list_of(sorted, &mut found_counts);
            let listed = min(found_counts[its_list], comptime!(KEPT as u32)) as usize;
            let mut place = unit % SORTERS;
            while place < listed {
                let key = found_keys[its_list * KEPT + place];
                let mut rank = 0usize.runtime();
                for d in 0..listed {
                    if found_keys[its_list * KEPT + d] < key {
                        rank += 1usize;
                    }
                }
                near[indices[sorted] as usize * KEPT + rank] = key;
                place += SORTERS;
            }
            if is_own {
                let list = list_of(unit, &mut found_counts);
                let features = min(found_counts[list], comptime!(KEPT as u32));
                let mut edges = 0u32.runtime();
                for d in 0u32..features {
                    if found_keys[list * KEPT + d as usize] >> KIND_BIT == EDGES {
                        edges += 1u32;
                    }
                }
                let mut mark = STAYS.runtime();
                if list > unit * LISTS {
                    // Its contacts are those of this step alone.
                    mark = 0u32;
                    if found_counts[list] > features {
                        raise(flags, parity, TOO_DEEP);
                    }
                }
                near_counts[indices[unit] as usize] = word_of_counts(features - edges, edges) | mark;
            }
            sync_cube();
            begin += comptime!(PAIRS as u32);
        }
    }
}
