//! The features of a pair in a search: which are worth computing, the keys of those in contact, and what they give the direction.

use super::{Approach, Extents};
use crate::shape_features::{
    EDGES, FEATURE_BITS, FEATURES, Frame, KIND_BIT, PairSizes, ShapePair, VERTEX_OF_I, VERTEX_OF_J, end_of_edges, feature_pair, frame_of_i,
    key_of, seen, seen_from, square_between_boxes,
};
use crate::shapes::{Part, Shape, edge_end, height_over_part, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::nearest::nearest_of_edges;
use seixo_laws::{Coordinate, Real, Vector3, larger, smaller};

/// What a search has found so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<C: Real> {
    /// Squared distance of the features that give the direction so far \[m²\], see [`gives_direction()`]; negative before the first.
    pub least: C,
    /// Vector between these nearest points, from j to i, in the frame of j \[m\].
    pub nearest: Vector3<C>,
    /// Number of contacts or near features so far.
    pub contacts: u32,
}

/// Whether features with at least this squared distance \[m²\] may touch, or be nearer than the nearest so far: only then are they computed. `bound` is
/// the squared distance beyond which features have no overlap.
#[inline(always)]
fn is_worth_computing<C: Real>(square: C, bound: C, least: C) -> bool {
    square < bound || least < C::new(0.0) || square < least
}

/// Whether features with this key and squared distance \[m²\] give the direction of a pair, rather than those so far, of which so many are listed. It is
/// that of the nearest features that are listed, and of the one with the lower key among features equally near. So it depends on the poses of the two
/// alone. As long as none is listed, the key is zero, and it is that of the nearest features.
#[inline(always)]
fn gives_direction<C: Real>(key: u32, square: C, least: C, listed: u32) -> bool {
    let is_nearer = least < C::new(0.0) || square < least;
    let is_alike = key != 0 || listed == 0;
    let is_first = key != 0 && listed == 0;
    is_first || (is_nearer && is_alike)
}

/// Remembers features as those that give the direction so far: their gap, from j to i in the frame of j \[m\], and its square.
#[inline(always)]
fn note<C: Real>(gap: &Vector3<C>, square: C, search: &mut Search<C>) {
    search.least = square;
    search.nearest = gap.plus(&Vector3::<C>::zero());
}

/// A contact of two features at this squared distance \[m²\] is at one of its ends, where its share is zero, if the squared distance of this end is not
/// above the result. Overlaps differ by as much as distances do, so the search needs no overlap. Lengths below `nothing` are rounding errors \[m\].
#[cube]
#[inline(always)]
fn square_at_end<C: Real>(square: C, nothing: C) -> C {
    let distance = C::root(square) + nothing;
    distance * distance
}

/// Whether the contact of the vertex at `place` of j with a convex part of i, at this squared distance \[m²\], is at no vertex of the part, in the frame of
/// i.
#[cube]
#[inline(always)]
fn is_off_vertices<C: Real>(place: &Vector3<C>, square: C, part: &Part, shape: &Shape, numbers: &[C], scale: C, nothing: C) -> bool {
    let at_end = square_at_end::<C>(square, nothing);
    let mut is_off = true;
    for v in part.vertex_first..part.vertex_end {
        let gap = vertex_of::<C>(shape, numbers, v, scale).minus(place);
        if gap.dot(&gap) <= at_end {
            is_off = false;
        }
    }
    is_off
}

/// Whether the contact of two edges at this squared distance \[m²\] is at none of their ends.
#[cube]
#[inline(always)]
fn is_off_ends<C: Real>(e1: &Vector3<C>, e2: &Vector3<C>, f1: &Vector3<C>, f2: &Vector3<C>, square: C, nothing: C) -> bool {
    let at_end = square_at_end::<C>(square, nothing);
    let mut is_off = true;
    for k in 0..4u32 {
        if end_of_edges::<C>(k, e1, e2, f1, f2).square <= at_end {
            is_off = false;
        }
    }
    is_off
}

/// Key of the contact of a vertex with a convex part of the other grain, at this squared distance \[m²\]; zero if they have none. `part` is the number of
/// the part, and `place` is that of the vertex in the frame of the other grain. The vertex is one of j if it is `of_j`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn key_of_vertex<C: Real>(
    vertex: u32,
    part: u32,
    place: &Vector3<C>,
    square: C,
    of_part: &Part,
    other: &Shape,
    numbers: &[C],
    scale: C,
    reach: C,
    nothing: C,
    #[comptime] of_j: bool,
) -> u32 {
    let mut key = 0u32.runtime();
    if square < reach * reach {
        if of_j {
            if is_off_vertices::<C>(place, square, of_part, other, numbers, scale, nothing) {
                key = key_of(VERTEX_OF_J, part, vertex);
            }
        } else {
            key = key_of(VERTEX_OF_I, vertex, part);
        }
    }
    key
}

/// Key of the contact of edge e of i with edge f of j, from `e1` to `e2` and from `f1` to `f2` in one frame, at this squared distance \[m²\]; zero if they
/// have none.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn key_of_edges<C: Real>(
    e: u32,
    f: u32,
    e1: &Vector3<C>,
    e2: &Vector3<C>,
    f1: &Vector3<C>,
    f2: &Vector3<C>,
    square: C,
    reach: C,
    nothing: C,
) -> u32 {
    let mut key = 0u32.runtime();
    if square < reach * reach {
        if is_off_ends::<C>(e1, e2, f1, f2, square, nothing) {
            key = key_of(EDGES, e, f);
        }
    }
    key
}

/// Writes the key of the next contact or near features, if there is a slot for it; a key of zero is that of none.
#[inline(always)]
fn take<C: Real>(key: u32, first_slot: usize, slots: u32, keys: &mut [u32], search: &mut Search<C>) {
    if key != 0 {
        if search.contacts < slots {
            keys[first_slot + search.contacts as usize] = key;
        }
        search.contacts += 1;
    }
}

/// A search that has found nothing yet.
#[inline(always)]
pub(super) fn nothing_found<C: Real>() -> Search<C> {
    Search::<C> {
        least: C::new(-1.0),
        nearest: Vector3::<C>::zero(),
        contacts: 0,
    }
}

/// Adds a vertex and a convex part of the other grain to a search. `place` is that of the vertex in the frame of the other grain. A search for `near`
/// features lists those nearer than the bound, whose square is given, and another one lists contacts.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn add_vertex<C: Coordinate<R>, R: Real>(
    vertex: u32,
    part: u32,
    place: &Vector3<C>,
    other: &Shape,
    scale_other: C,
    i_from_j: &Frame<C>,
    sizes: &PairSizes<C, R>,
    words: &[u32],
    numbers: &[C],
    bound_square: C,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    search: &mut Search<C>,
    of_j: bool,
    near: bool,
) {
    let of_part = part_of(other, words, part);
    let there = nearest_on_part::<C>(place, &of_part, other, words, numbers, scale_other);
    let feature = feature_pair::<C>(place, &there);
    let mut key = 0;
    if near {
        if feature.square < bound_square {
            if of_j {
                key = key_of(VERTEX_OF_J, part, vertex);
            } else {
                key = key_of(VERTEX_OF_I, vertex, part);
            }
        }
    } else {
        key = key_of_vertex::<C>(
            vertex,
            part,
            place,
            feature.square,
            &of_part,
            other,
            numbers,
            scale_other,
            sizes.reach,
            sizes.nothing,
            of_j,
        );
    }
    if gives_direction::<C>(key, feature.square, search.least, search.contacts) {
        if of_j {
            let from_j = i_from_j.orientation.to_space(&feature.gap).times(C::new(-1.0));
            note::<C>(&from_j, feature.square, search);
        } else {
            note::<C>(&feature.gap, feature.square, search);
        }
    }
    take::<C>(key, first_slot, slots, keys, search);
}

/// Adds edge e of i, from `e1` to `e2` as seen from j, and edge f of j to a search, as [`add_vertex()`] does with a vertex.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn add_edges<C: Coordinate<R>, R: Real>(
    e: u32,
    f: u32,
    e1: &Vector3<C>,
    e2: &Vector3<C>,
    shape_j: &Shape,
    scale_j: C,
    sizes: &PairSizes<C, R>,
    words: &[u32],
    numbers: &[C],
    bound_square: C,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    search: &mut Search<C>,
    near: bool,
) {
    let f1 = edge_end::<C>(shape_j, words, numbers, f, 0, scale_j);
    let f2 = edge_end::<C>(shape_j, words, numbers, f, 1, scale_j);
    let nearest = nearest_of_edges::<C>(e1, e2, &f1, &f2);
    if nearest.square >= C::new(0.0) {
        let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
        let mut key = 0;
        if near {
            if feature.square < bound_square {
                key = key_of(EDGES, e, f);
            }
        } else {
            key = key_of_edges::<C>(e, f, e1, e2, &f1, &f2, feature.square, sizes.reach, sizes.nothing);
        }
        if gives_direction::<C>(key, feature.square, search.least, search.contacts) {
            note::<C>(&feature.gap, feature.square, search);
        }
        take::<C>(key, first_slot, slots, keys, search);
    }
    if near {
        // Parallel edges have no contact, but may have one after a rotation.
        if nearest.square < C::new(0.0) {
            let mut key = 0;
            for k in 0..4 {
                if end_of_edges::<C>(k, e1, e2, &f1, &f2).square < bound_square {
                    key = key_of(EDGES, e, f);
                }
            }
            take::<C>(key, first_slot, slots, keys, search);
        }
    }
}

/// Looks for contacts among the features with these keys, which ascend, and writes the keys of contacts in this order. `i_from_j` is the frame of i as seen
/// from j. Each feature is computed as a search of all features does, so that bits do not depend on which were kept.
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn search_among<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    sizes: &PairSizes<C, R>,
    approach: &Approach<C>,
    i_from_j: &Frame<C>,
    features: &[u32],
    words: &[u32],
    numbers: &[C],
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    search: &mut Search<C>,
) {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    let (scale_i, scale_j) = (pair.i.scale, pair.j.scale);
    let bound_square = approach.bound * approach.bound;
    for &feature in features {
        let kind = feature >> KIND_BIT;
        let (of_i, of_j) = ((feature >> FEATURE_BITS) & FEATURES, feature & FEATURES);
        if kind == EDGES {
            let e1 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, of_i, 0, scale_i), i_from_j);
            let e2 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, of_i, 1, scale_i), i_from_j);
            let f1 = edge_end::<C>(&shape_j, words, numbers, of_j, 0, scale_j);
            let f2 = edge_end::<C>(&shape_j, words, numbers, of_j, 1, scale_j);
            let square = square_between_boxes::<C>(&e1, &e2, &f1, &f2);
            if is_worth_computing::<C>(square, bound_square, search.least) {
                add_edges::<C, R>(
                    of_i,
                    of_j,
                    &e1,
                    &e2,
                    &shape_j,
                    scale_j,
                    sizes,
                    words,
                    numbers,
                    bound_square,
                    first_slot,
                    slots,
                    keys,
                    search,
                    false,
                );
            }
        } else if kind == VERTEX_OF_J {
            let place = seen_from::<C>(&vertex_of::<C>(&shape_j, numbers, of_j, scale_j), i_from_j);
            let height = height_over_part::<C>(&place, &part_of(&shape_i, words, of_i), words, numbers, scale_i);
            if is_worth_computing::<C>(height * height, bound_square, search.least) {
                add_vertex::<C, R>(
                    of_j,
                    of_i,
                    &place,
                    &shape_i,
                    scale_i,
                    i_from_j,
                    sizes,
                    words,
                    numbers,
                    bound_square,
                    first_slot,
                    slots,
                    keys,
                    search,
                    true,
                    false,
                );
            }
        } else {
            let place = seen::<C>(&vertex_of::<C>(&shape_i, numbers, of_i, scale_i), i_from_j);
            let height = height_over_part::<C>(&place, &part_of(&shape_j, words, of_j), words, numbers, scale_j);
            if is_worth_computing::<C>(height * height, bound_square, search.least) {
                add_vertex::<C, R>(
                    of_i,
                    of_j,
                    &place,
                    &shape_j,
                    scale_j,
                    i_from_j,
                    sizes,
                    words,
                    numbers,
                    bound_square,
                    first_slot,
                    slots,
                    keys,
                    search,
                    false,
                    false,
                );
            }
        }
    }
}

/// Searches the vertices of a grain for contacts with the convex parts of the other grain, in the ascending order of keys: those of j if they are `of_j`,
/// otherwise those of i; or for `near` features, see [`super::search_pair()`]. Vertices `beyond` this place along a unit vector, both in the frame of their
/// grain, are too far away \[m\].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn search_vertices<C: Coordinate<R>, R: Real>(
    own: &Shape,
    other: &Shape,
    scale_own: C,
    scale_other: C,
    axis: &Vector3<C>,
    beyond: C,
    i_from_j: &Frame<C>,
    sizes: &PairSizes<C, R>,
    words: &[u32],
    numbers: &[C],
    bound_square: C,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    search: &mut Search<C>,
    of_j: bool,
    near: bool,
) {
    let mut vertex = 0;
    let mut part = 0;
    let mut goes_on = true;
    while goes_on {
        let mut found_vertex = 0;
        let mut found_part = 0;
        let mut place = Vector3::<C>::zero();
        let mut found = false;
        let mut looks = true;
        while looks {
            let corner = vertex_of::<C>(own, numbers, vertex, scale_own);
            let is_near = corner.dot(axis) < beyond;
            if is_near {
                if of_j {
                    place = seen_from::<C>(&corner, i_from_j);
                } else {
                    place = seen::<C>(&corner, i_from_j);
                }
                let of_part = part_of(other, words, part);
                let height = height_over_part::<C>(&place, &of_part, words, numbers, scale_other);
                found = is_worth_computing::<C>(height * height, bound_square, search.least);
                found_vertex = vertex;
                found_part = part;
            }
            if of_j {
                vertex += 1;
                if vertex >= own.vertices {
                    vertex = 0;
                    part += 1;
                }
                goes_on = part < other.parts;
            } else {
                part += 1;
                // A vertex that is far away is so from all parts.
                if part >= other.parts || !is_near {
                    part = 0;
                    vertex += 1;
                }
                goes_on = vertex < own.vertices;
            }
            looks = !found && goes_on;
        }
        if found {
            add_vertex::<C, R>(
                found_vertex,
                found_part,
                &place,
                other,
                scale_other,
                i_from_j,
                sizes,
                words,
                numbers,
                bound_square,
                first_slot,
                slots,
                keys,
                search,
                of_j,
                near,
            );
        }
    }
}

/// Searches the features of a pair that are no farther apart than `limit` \[m\] along the axis of their approach, and writes the keys that it finds in
/// ascending order, see [`super::search_pair()`].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn search_features<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    sizes: &PairSizes<C, R>,
    approach: &Approach<C>,
    extents: &Extents<C>,
    words: &[u32],
    numbers: &[C],
    limit: C,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    search: &mut Search<C>,
    near: bool,
) {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    let scale_i = pair.i.scale;
    let scale_j = pair.j.scale;
    let bound_square = approach.bound * approach.bound;
    let center_i = approach.center_i;
    let low_i = extents.low_i;
    let high_j = extents.high_j;
    // All is seen from j, in one frame. Only faces of i under vertices of j are seen from i.
    let i_from_j = frame_of_i::<C, R>(pair);
    search_vertices::<C, R>(
        &shape_i,
        &shape_j,
        scale_i,
        scale_j,
        &approach.axis_i,
        limit + high_j - center_i,
        &i_from_j,
        sizes,
        words,
        numbers,
        bound_square,
        first_slot,
        slots,
        keys,
        search,
        false,
        near,
    );
    search_vertices::<C, R>(
        &shape_j,
        &shape_i,
        scale_j,
        scale_i,
        &approach.axis_j.times(C::new(-1.0)),
        limit - center_i - low_i,
        &i_from_j,
        sizes,
        words,
        numbers,
        bound_square,
        first_slot,
        slots,
        keys,
        search,
        true,
        near,
    );
    // Edges of j between the support planes, by their numbers modulo 32: most are not, and are passed for each edge of i without being read.
    let mut reached = 0u32;
    if shape_i.edges > 0 {
        for k in 0..shape_j.edges {
            let f1 = edge_end::<C>(&shape_j, words, numbers, k, 0, scale_j);
            let f2 = edge_end::<C>(&shape_j, words, numbers, k, 1, scale_j);
            if center_i + low_i - larger::<C>(f1.dot(&approach.axis_j), f2.dot(&approach.axis_j)) < limit {
                reached |= 1u32 << (k % 32);
            }
        }
    }
    let mut e = 0;
    let mut f = 0;
    // The ends of edge e, as seen from j.
    let mut e1 = Vector3::<C>::zero();
    let mut e2 = Vector3::<C>::zero();
    while e < shape_i.edges {
        let mut of_i = 0;
        let mut of_j = 0;
        let mut found = false;
        let mut looks = true;
        while looks {
            if f == 0 {
                let first = edge_end::<C>(&shape_i, words, numbers, e, 0, scale_i);
                let second = edge_end::<C>(&shape_i, words, numbers, e, 1, scale_i);
                if center_i + smaller::<C>(first.dot(&approach.axis_i), second.dot(&approach.axis_i)) - high_j < limit {
                    e1 = seen::<C>(&first, &i_from_j);
                    e2 = seen::<C>(&second, &i_from_j);
                } else {
                    f = shape_j.edges;
                }
            }
            if f < shape_j.edges {
                if (reached >> (f % 32)) & 1 == 1 {
                    let f1 = edge_end::<C>(&shape_j, words, numbers, f, 0, scale_j);
                    let f2 = edge_end::<C>(&shape_j, words, numbers, f, 1, scale_j);
                    let square = square_between_boxes::<C>(&e1, &e2, &f1, &f2);
                    found = is_worth_computing::<C>(square, bound_square, search.least);
                    of_i = e;
                    of_j = f;
                }
                f += 1;
            }
            if f >= shape_j.edges {
                f = 0;
                e += 1;
            }
            looks = !found && e < shape_i.edges;
        }
        if found {
            add_edges::<C, R>(
                of_i,
                of_j,
                &e1,
                &e2,
                &shape_j,
                scale_j,
                sizes,
                words,
                numbers,
                bound_square,
                first_slot,
                slots,
                keys,
                search,
                near,
            );
        }
    }
}
