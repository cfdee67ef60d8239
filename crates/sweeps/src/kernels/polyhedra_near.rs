//! Features of pairs with a polyhedral grain that are near each other, kept over steps, and the contacts among them.
//!
//! See [`crate::near_features`] for which they are, and how long they are kept. A pair has words with their keys in ascending order, a word with their
//! numbers, and the pose of i as seen from j when [`super::polyhedra_search`] looked for them.
//!
//! A pair that a plane separates by more than the bound has no contact until its grains have moved by the rest of that distance. It keeps no features, and
//! its pose with this distance in place of the margin.
//!
//! Contacts of all pairs are found here among features, by one kernel, whether they were kept or found in this step. So neither keys nor the direction of
//! a pair in contact depend on when its features were looked for. Features are not part of the state: a new list of pairs begins without any.

use super::bonds::{quaternion, record_of};
use super::polyhedra_blocks::{RUN, SEGMENT, number_in_block, owner_of, place_of_pair};
use super::polyhedra_items::{NearestPoints, POSE, bound_of, nearest_of_edge_pair, nearest_to_part, seen_vertex};
use super::polyhedra_lists::PAIR_LOAD;
use super::polyhedra_pairs::shape_pair;
use super::{is_halted, raise};
use crate::layout::{Record, four_numbers, last, record, xyz};
use crate::motion::TOO_DEEP;
use crate::near_features::motion_since;
use crate::periodic::PeriodicBoundaries;
use crate::shape_features::{EDGES, FEATURE_BITS, FEATURES, Frame, KIND_BIT, ShapePair, VERTEX_OF_J, frame_of_i};
use crate::shape_search::{bound_of_contacts, direction_along, sizes_of_search};
use crate::shapes::shape_at;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3};

/// Features that a pair can keep. Two equal cubes face on have forty.
pub const KEPT: usize = 40;

/// Records of the pose that a pair keeps: orientation of i; its center, both seen from j, and how far the grains may move from there until features are
/// looked for again.
pub const NEAR_POSE: usize = 2;

/// Threads of a block that finds contacts. Each has a pair.
pub const NEAR_THREADS: usize = 64;

/// The mark of features, or of none, that stay after this step, in the word with their numbers.
pub(super) const STAYS: u32 = 1 << 31;

/// Bits of a number of features in a word.
const COUNT_BITS: u32 = 15;

/// The lowest of two such numbers in a word.
const COUNT: u32 = (1 << COUNT_BITS) - 1;

/// Words for the counts of a block, see [`number_in_block()`].
const NEAR_COUNTS: usize = NEAR_THREADS + NEAR_THREADS / SEGMENT;

const _: () = assert!(NEAR_THREADS / SEGMENT * SEGMENT == NEAR_THREADS && NEAR_THREADS / RUN * RUN == NEAR_THREADS);
const _: () = assert!(NEAR_THREADS * KEPT <= COUNT as usize);

/// The numbers of vertices and of pairs of edges among the features of a pair as a word.
#[cube]
pub(super) fn word_of_counts(vertices: u32, edges: u32) -> u32 {
    vertices | (edges << COUNT_BITS)
}

/// The number of vertices in such a word.
#[cube]
fn vertices_of(word: u32) -> u32 {
    word & COUNT
}

/// The number of pairs of edges in such a word.
#[cube]
fn edges_of(word: u32) -> u32 {
    (word >> COUNT_BITS) & COUNT
}

/// Keeps the pose of pair k, with i as seen from j, and how far the grains may move from there until a contact may be none of the features that are kept
/// \[m\].
#[cube]
pub(super) fn keep_pose<C: Real>(k: usize, view: &Frame<C>, allowed: C, near_poses: &mut [Record<C>]) {
    near_poses[k * NEAR_POSE] = record_of::<C>(&view.orientation);
    near_poses[k * NEAR_POSE + 1usize] = record::<C>(&view.center, allowed);
}

/// Whether pair k keeps features, or that it has none, and its grains are still so near to where these were looked for that all its contacts are among
/// them.
#[cube]
pub(super) fn are_kept<C: Coordinate<R>, R: Real>(
    k: usize,
    pair: &ShapePair<C, R>,
    near_counts: &mut [u32],
    near_poses: &mut [Record<C>],
) -> bool {
    let mut kept = false;
    if near_counts[k] >= STAYS {
        let view = frame_of_i::<C, R>(pair);
        let old_orientation = quaternion::<C>(near_poses[k * NEAR_POSE]);
        let place = near_poses[k * NEAR_POSE + 1usize];
        let old_center = xyz::<C>(place);
        let motion = motion_since::<C>(&view.orientation, &view.center, &old_orientation, &old_center, pair.i.scale);
        kept = motion <= last::<C>(place);
    }
    kept
}

/// Forgets the features of n pairs, which are those of a new list.
#[cube(launch)]
pub fn forget_near_features(near_counts: &mut [u32], n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        near_counts[k] = 0u32;
    }
}

/// The nearest points of the features with this key, in a pair whose pose is in shared memory.
#[cube]
fn nearest_of_features<C: Real>(
    key: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> NearestPoints<C> {
    let kind = key >> KIND_BIT;
    let of_i = (key >> FEATURE_BITS) & FEATURES;
    let of_j = key & FEATURES;
    let mut contact = 0u32.runtime();
    let mut square = C::new(-1.0);
    let mut gap = Vector3::<C>::zero();
    if kind == EDGES {
        let points = nearest_of_edge_pair::<C>(of_i, of_j, pair, poses, shapes, words, numbers);
        contact = points.key;
        square = points.square;
        gap = points.gap.plus(&Vector3::<C>::zero());
    }
    if kind != EDGES {
        let mut item = of_i;
        let mut part = of_j;
        if kind == VERTEX_OF_J {
            item = shape_at(words, shapes[pair * 2usize]).vertices + of_j;
            part = of_i;
        }
        let corner = seen_vertex::<C>(item, pair, poses, shapes, words, numbers);
        let points = nearest_to_part::<C>(&corner, part, pair, poses, words, numbers);
        contact = points.key;
        square = points.square;
        gap = points.gap.plus(&Vector3::<C>::zero());
    }
    NearestPoints::<C> { key: contact, square, gap }
}

/// Finds the contacts of pairs among their features, which [`crate::kernels::polyhedra_search::search_shape_pairs()`] has found. Their keys are written
/// to `keys` in ascending order, with `slots` slots a pair, and their number to `loads`, see [`PAIR_LOAD`], where all forces are zero then. Blocks have
/// [`NEAR_THREADS`] threads, and each takes one of n pairs, in this order.
///
/// An item is a feature of any pair of the block. Vertices come first, then edges, as threads side by side that take different branches wait for each
/// other. Then each thread takes the contacts of its own pair in the order of keys.
///
/// The direction of a pair in contact is that of its nearest contact, and of the one with the lower key among contacts equally near. So it depends on the
/// poses of the two alone. That of another pair is that of its nearest features, if these are within the bound.
///
/// A pair with contacts for which there are too few slots raises the flag of a too deep overlap.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn find_near_contacts<R: Coordinate<R>, C: Coordinate<R>>(
    pairs: &[u32],
    order: &[u32],
    shape: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    near: &[u32],
    near_counts: &[u32],
    keys: &mut [u32],
    loads: &mut [Record<R>],
    flags: &mut [u32],
    sides: &PeriodicBoundaries<C, R>,
    n: u32,
    parity: u32,
    #[comptime] slots: usize,
    #[comptime] kind: u32,
) {
    let mut counts = Shared::<[u32]>::new_slice(NEAR_COUNTS);
    let mut poses = Shared::<[Record<C>]>::new_slice(NEAR_THREADS * POSE);
    let mut shapes = Shared::<[u32]>::new_slice(NEAR_THREADS * 2);
    let mut indices = Shared::<[u32]>::new_slice(NEAR_THREADS);
    // First item of the vertices of each pair, then of the edges of each pair.
    let mut first = Shared::<[u32]>::new_slice(NEAR_THREADS * 2);
    // Of the items that are computed together.
    let mut contact_keys = Shared::<[u32]>::new_slice(NEAR_THREADS);
    let mut gaps = Shared::<[Record<C>]>::new_slice(NEAR_THREADS);
    let unit = UNIT_POS as usize;
    if !is_halted(flags, parity) {
        let place = place_of_pair(unit);
        let is_own = place < n as usize;
        let mut index = 0u32.runtime();
        let mut vertices = 0u32.runtime();
        let mut edges = 0u32.runtime();
        if is_own {
            index = order[place];
            let word = near_counts[index as usize];
            vertices = vertices_of(word);
            edges = edges_of(word);
        }
        let k = index as usize;
        indices[unit] = index;
        if vertices + edges > 0u32 {
            // Only the search needs a direction.
            let none = Vector3::<R>::zero();
            let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &none, sides, kind);
            let sizes = sizes_of_search::<C, R>(&pair, words, numbers);
            let view = frame_of_i::<C, R>(&pair);
            let at = unit * POSE;
            poses[at] = record_of::<C>(&view.orientation);
            poses[at + 1usize] = record::<C>(&view.center, bound_of_contacts::<C, R>(&pair, &sizes));
            poses[at + 2usize] = four_numbers::<C>(pair.i.scale, pair.j.scale, sizes.reach, sizes.nothing);
            shapes[unit * 2usize] = pair.i.shape;
            shapes[unit * 2usize + 1usize] = pair.j.shape;
        }
        let numbered = number_in_block(word_of_counts(vertices, edges), &mut counts, NEAR_THREADS);
        let all_vertices = vertices_of(numbered.all);
        let all = all_vertices + edges_of(numbered.all);
        let first_vertex = vertices_of(numbered.before);
        let first_edge = all_vertices + edges_of(numbered.before);
        first[unit] = first_vertex;
        first[unit + NEAR_THREADS] = first_edge;
        sync_cube();

        let mut contacts = 0u32.runtime();
        let mut least = C::new(-1.0);
        let mut nearest = Vector3::<C>::zero();
        // The number of rounds is the same for all threads of the block.
        let mut begin = 0u32.runtime();
        while begin < all {
            let item = begin + UNIT_POS;
            if item < all {
                let slot = owner_of(item, &mut first, comptime!(2 * NEAR_THREADS as u32));
                let mut owner = slot;
                let mut number = item - first[slot];
                if slot >= NEAR_THREADS {
                    // In the words of a pair edges come after vertices. The vertices of the last pair end where edges begin.
                    owner = slot - NEAR_THREADS;
                    number += first[owner + 1usize] - first[owner];
                }
                let key = near[indices[owner] as usize * KEPT + number as usize];
                let points = nearest_of_features::<C>(key, owner, &poses, &shapes, words, numbers);
                contact_keys[unit] = points.key;
                gaps[unit] = record::<C>(&points.gap, points.square);
            }
            sync_cube();
            // Those of its vertices, then those of its edges, that are among these items.
            for run in 0u32..2u32 {
                let mut from = first_vertex;
                let mut count = vertices;
                if run == 1u32 {
                    from = first_edge;
                    count = edges;
                }
                let low = max(from, begin);
                let high = min(from + count, begin + comptime!(NEAR_THREADS as u32));
                for item in low..high {
                    let s = (item - begin) as usize;
                    let key = contact_keys[s];
                    let square = last::<C>(gaps[s]);
                    let mut replaces = false;
                    if key != 0u32 {
                        replaces = contacts == 0u32 || square < least;
                        if contacts < comptime!(slots as u32) {
                            keys[k * slots + contacts as usize] = key;
                        }
                        contacts += 1u32;
                    } else if contacts == 0u32 && square >= C::new(0.0) {
                        // Beyond the bound not all features are computed.
                        let bound = bound_of::<C>(unit, &poses);
                        replaces = square < bound * bound && (least < C::new(0.0) || square < least);
                    }
                    if replaces {
                        least = square;
                        nearest = xyz::<C>(gaps[s]);
                    }
                }
            }
            sync_cube();
            begin += comptime!(NEAR_THREADS as u32);
        }
        if is_own {
            let at = k * PAIR_LOAD;
            let touched = last::<R>(loads[at]) != R::new(0.0);
            let has_nearest = least >= C::new(0.0);
            // Most pairs have no contact. Their forces are zero already, unless they touched in the last step.
            if contacts > 0u32 || touched {
                let nothing = Record::<R>::new(R::new(0.0));
                loads[at] = record::<R>(&Vector3::<R>::zero(), R::counted(contacts));
                loads[at + 1usize] = nothing;
                loads[at + 2usize] = nothing;
            }
            if touched || has_nearest {
                let mut direction = xyz::<R>(loads[at + 3usize]);
                if has_nearest {
                    let turn_j = quaternion::<C>(orientation[pairs[k * 2usize + 1usize] as usize]);
                    direction = direction_along::<C, R>(&nearest, &turn_j);
                }
                loads[at + 3usize] = record::<R>(&direction, R::new(-1.0));
            }
            if contacts < comptime!(slots as u32) {
                keys[k * slots + contacts as usize] = 0u32;
            }
            if contacts > comptime!(slots as u32) {
                raise(flags, parity, TOO_DEEP);
            }
        }
    }
}
