//! Which features of two polyhedral grains are in contact.
//!
//! Few pairs of a list touch, and few features of a pair that touches are in contact. Features that are farther apart than the sum of the rounding radii
//! have no overlap. So bounds of their distance leave out most of them and change no bit: first the bounding spheres, then the support planes along the
//! direction of the last step, then the faces of a part under a vertex and the boxes around two edges.
//!
//! Bounds take few operations, and nearest points take many. A loop goes from feature to feature until the bounds leave one; then its nearest points are
//! computed. On a GPU, the threads of a block share the features of many pairs by the same bounds and criteria, see [`crate::kernels::polyhedra_search`].
//! Shares of contacts are left to the law: here it is enough that a contact is at none of its ends.
//!
//! ```
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::shape_features::{PosedShape, ShapePair, VERTEX_OF_I, key_of};
//! use seixo_sweeps::shape_search::find_contacts;
//! use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out};
//! // Two balls of radius 1 at a distance of 1: the only vertex of i touches the only part of j.
//! let ball = ShapeGeometry {
//!     rounding: 1.0,
//!     contact_radius: 1.0,
//!     inscribed: 1.0,
//!     volume: 4.2,
//!     moments: [0.4; 3],
//!     vertices: &[[0.0; 3]],
//!     edges: &[],
//!     loops: &[],
//!     face_ends: &[],
//!     parts: &[PartEnds { vertices: 1, edges: 0, faces: 0 }],
//! };
//! let (mut words, mut numbers) = (Vec::new(), Vec::new());
//! lay_out(&[ball], |word| words.push(word), |number| numbers.push(number));
//! let orientation = Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };
//! let posed = PosedShape { shape: 0, scale: 1.0, orientation, spin: Vector3::<f64>::zero(), mass: 1.0 };
//! let apart = Vector3 { x: 1.0, y: 0.0, z: 0.0 };
//! let pair = ShapePair { apart, velocity: Vector3::zero(), direction: Vector3::zero(), i: posed, j: posed };
//! let mut keys = [9; 4];
//! let found = find_contacts::<f64, f64>(&pair, &words, &numbers, 0, 4, &mut keys);
//! assert_eq!((found.contacts, found.direction.x), (1, 1.0));
//! assert_eq!(keys[..2], [key_of(VERTEX_OF_I, 0, 0), 0]);
//! ```

use crate::shape_features::{
    EDGES, Frame, PairSizes, ShapePair, SlotPlaces, VERTEX_OF_I, VERTEX_OF_J, end_of_edges, feature_pair, frame_of_i, key_of, seen,
    seen_from, sizes_of, square_between_boxes, unit,
};
use crate::shapes::{Part, Shape, edge_end, extent_along, height_over_part, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::nearest::nearest_of_edges;
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, larger, near_vector, smaller, widened};

/// Result of a search in a pair.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct FoundContacts<R: Real> {
    /// Number of contacts. If it exceeds the number of slots, the keys of those beyond are nowhere.
    pub contacts: u32,
    /// Value of [`ShapePair::direction`] for the next step.
    pub direction: Vector3<R>,
}

/// What a search has found so far.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
struct Search<C: Real> {
    /// Smallest squared distance of two features \[m²\]; negative before the first.
    pub least: C,
    /// Vector between these nearest points, from j to i, in the frame of j \[m\].
    pub nearest: Vector3<C>,
    /// Contacts so far, in the slots of the pair.
    pub at: SlotPlaces,
}

/// Whether features with at least this squared distance \[m²\] may touch, or be nearer than the nearest so far: only then are they computed. `bound` is
/// the squared distance beyond which features have no overlap.
#[cube]
#[inline(always)]
fn is_worth_computing<C: Real>(square: C, bound: C, least: C) -> bool {
    square < bound || least < C::new(0.0) || square < least
}

/// Whether features with this squared distance \[m²\] are nearer than the nearest so far.
#[cube]
#[inline(always)]
fn is_nearer<C: Real>(square: C, least: C) -> bool {
    least < C::new(0.0) || square < least
}

/// Remembers features as the nearest so far: their gap, from j to i in the frame of j \[m\], and its square.
#[cube]
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

/// Writes the key of the next contact, if there is a slot for it; a key of zero is that of none.
#[cube]
#[inline(always)]
fn take<C: Real>(key: u32, first_slot: usize, slots: u32, keys: &mut [u32], search: &mut Search<C>) {
    if key != 0u32 {
        if search.at.contacts < slots {
            keys[first_slot + search.at.contacts as usize] = key;
        }
        search.at.contacts += 1u32;
    }
}

/// What a search takes from two grains before it looks at their features.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct Approach<C: Real> {
    /// Whether the bounding spheres are near enough.
    pub spheres_meet: bool,
    /// Features that are farther apart do not touch \[m\].
    pub bound: C,
    /// Unit vector from j to i in space: the direction of the last step, or from center to center.
    pub axis: Vector3<C>,
    /// The same in the frame of i.
    pub axis_i: Vector3<C>,
    /// The same in the frame of j.
    pub axis_j: Vector3<C>,
    /// Place of the center of i along it, seen from that of j \[m\].
    pub center_i: C,
}

/// How far the vertices of two grains reach toward each other along the axis of their [`Approach`].
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct Extents<C: Real> {
    /// Least place of a vertex of i, seen from its center \[m\].
    pub low_i: C,
    /// Largest place of a vertex of j, seen from its center \[m\].
    pub high_j: C,
}

/// Features of a pair that are farther apart do not touch \[m\]. The margin keeps rounding errors from being a criterion, in any precision, and vertices
/// that are beside the plane of their face, as in meshes.
#[cube]
#[inline(always)]
pub(crate) fn bound_of_contacts<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>, sizes: &PairSizes<C, R>) -> C {
    sizes.reach + C::new(5.0e-5) * (pair.i.scale + pair.j.scale)
}

/// Whether the bounding spheres of two grains are near enough for a contact.
#[cube]
#[inline(always)]
pub(crate) fn spheres_meet<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>) -> bool {
    // As the margin of the bound.
    let spheres = C::new(1.00001) * (pair.i.scale + pair.j.scale);
    pair.apart.dot(&pair.apart) < spheres * spheres
}

/// Looks at two grains from afar.
#[cube]
#[inline(always)]
pub(crate) fn approach_of<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>, sizes: &PairSizes<C, R>) -> Approach<C> {
    let mut toward_i = widened::<C, R>(&pair.direction);
    if toward_i.dot(&toward_i) < C::new(0.5) {
        toward_i = pair.apart.plus(&Vector3::<C>::zero());
    }
    let axis = unit::<C>(&toward_i, toward_i.dot(&toward_i));
    Approach::<C> {
        spheres_meet: spheres_meet::<C, R>(pair),
        bound: bound_of_contacts::<C, R>(pair, sizes),
        axis_i: pair.i.orientation.back().to_space(&axis),
        axis_j: pair.j.orientation.back().to_space(&axis),
        center_i: pair.apart.dot(&axis),
        axis,
    }
}

/// How far two grains reach toward each other.
#[cube]
#[inline(always)]
pub(crate) fn extents_of<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    approach: &Approach<C>,
    words: &[u32],
    numbers: &[C],
) -> Extents<C> {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    Extents::<C> {
        low_i: -extent_along::<C>(&shape_i, numbers, pair.i.scale, &approach.axis_i.times(C::new(-1.0))),
        high_j: extent_along::<C>(&shape_j, numbers, pair.j.scale, &approach.axis_j),
    }
}

/// Distance of the support planes of the two along this axis \[m\]; negative where they overlap.
#[cube]
#[inline(always)]
pub(crate) fn gap_of_planes<C: Real>(approach: &Approach<C>, extents: &Extents<C>) -> C {
    approach.center_i + extents.low_i - extents.high_j
}

/// Whether support planes of the two along this axis are near enough for a contact.
#[cube]
#[inline(always)]
pub(crate) fn planes_meet<C: Real>(approach: &Approach<C>, extents: &Extents<C>) -> bool {
    gap_of_planes::<C>(approach, extents) < approach.bound
}

/// A search that has found nothing yet.
#[cube]
#[inline(always)]
fn nothing_found<C: Real>() -> Search<C> {
    Search::<C> {
        least: C::new(-1.0),
        nearest: Vector3::<C>::zero(),
        at: SlotPlaces { old: 0u32, contacts: 0u32 },
    }
}

/// Value of [`ShapePair::direction`] for the next step, if the nearest points were found at this vector from j to i in the frame of j, which has this
/// orientation.
#[cube]
#[inline(always)]
pub(crate) fn direction_along<C: Coordinate<R>, R: Real>(nearest: &Vector3<C>, orientation: &Quaternion<C>) -> Vector3<R> {
    near_vector::<C, R>(&unit::<C>(&orientation.to_space(nearest), nearest.dot(nearest)))
}

/// The sizes of a pair that a search needs, which are all but the limit of the overlap.
#[cube]
#[inline(always)]
pub(crate) fn sizes_of_search<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>, words: &[u32], numbers: &[C]) -> PairSizes<C, R> {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    sizes_of::<C, R>(pair, &shape_i, &shape_j, numbers, R::new(0.0))
}

/// Finds the contacts of two polyhedral grains, and writes their keys in ascending order to `keys` from `first_slot` on, as far as the `slots` of the pair
/// have room. The key after the last contact is zero.
///
/// `words` and `numbers` are the table of shapes, see [`crate::shapes`].
#[cube]
#[inline(always)]
pub fn find_contacts<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    words: &[u32],
    numbers: &[C],
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
) -> FoundContacts<R> {
    let sizes = sizes_of_search::<C, R>(pair, words, numbers);
    let approach = approach_of::<C, R>(pair, &sizes);
    let mut search = nothing_found::<C>();
    if approach.spheres_meet {
        let extents = extents_of::<C, R>(pair, &approach, words, numbers);
        if planes_meet::<C>(&approach, &extents) {
            let bound_square = approach.bound * approach.bound;
            // A pair that is apart looks once more, at all features that may be nearer than the nearest so far. Then the direction is that of the
            // nearest points, in which the distance of the planes is that of the cores. So the next steps end above, until the grains come nearer.
            let mut limit = approach.bound;
            let mut round = 0u32;
            let mut goes_on = true;
            while goes_on {
                search_features::<C, R>(
                    pair,
                    &sizes,
                    &approach,
                    &extents,
                    words,
                    numbers,
                    limit,
                    first_slot,
                    slots,
                    keys,
                    &mut search,
                );
                round += 1u32;
                goes_on = round < 2u32 && search.at.contacts == 0u32 && search.least > bound_square;
                limit = C::root(larger::<C>(search.least, bound_square));
            }
        }
    }
    if search.at.contacts < slots {
        keys[first_slot + search.at.contacts as usize] = 0u32;
    }
    let mut direction = near_vector::<C, R>(&approach.axis);
    if search.least >= C::new(0.0) {
        direction = direction_along::<C, R>(&search.nearest, &pair.j.orientation);
    }
    FoundContacts::<R> {
        contacts: search.at.contacts,
        direction,
    }
}

/// Searches the vertices of a grain for contacts with the convex parts of the other grain, in the ascending order of keys: those of j if they are `of_j`,
/// otherwise those of i. Vertices `beyond` this place along a unit vector, both in the frame of their grain, are too far away \[m\].
#[cube]
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
    #[comptime] of_j: bool,
) {
    let mut vertex = 0u32.runtime();
    let mut part = 0u32.runtime();
    let mut goes_on = true;
    while goes_on {
        let mut found_vertex = 0u32.runtime();
        let mut found_part = 0u32.runtime();
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
                vertex += 1u32;
                if vertex >= own.vertices {
                    vertex = 0u32;
                    part += 1u32;
                }
                goes_on = part < other.parts;
            } else {
                part += 1u32;
                // A vertex that is far away is so from all parts.
                if part >= other.parts || !is_near {
                    part = 0u32;
                    vertex += 1u32;
                }
                goes_on = vertex < own.vertices;
            }
            looks = !found && goes_on;
        }
        if found {
            let of_part = part_of(other, words, found_part);
            let there = nearest_on_part::<C>(&place, &of_part, other, words, numbers, scale_other);
            let feature = feature_pair::<C>(&place, &there);
            if of_j {
                if is_nearer::<C>(feature.square, search.least) {
                    let from_j = i_from_j.orientation.to_space(&feature.gap).times(C::new(-1.0));
                    note::<C>(&from_j, feature.square, search);
                }
            } else if is_nearer::<C>(feature.square, search.least) {
                note::<C>(&feature.gap, feature.square, search);
            }
            let key = key_of_vertex::<C>(
                found_vertex,
                found_part,
                &place,
                feature.square,
                &of_part,
                other,
                numbers,
                scale_other,
                sizes.reach,
                sizes.nothing,
                of_j,
            );
            take::<C>(key, first_slot, slots, keys, search);
        }
    }
}

/// Searches the features of a pair that are no farther apart than `limit` \[m\] along the axis of their approach, and writes the keys that it finds in
/// ascending order.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn search_features<C: Coordinate<R>, R: Real>(
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
) {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    let scale_i = pair.i.scale;
    let scale_j = pair.j.scale;
    let bound_square = approach.bound * approach.bound;
    let center_i = approach.center_i;
    let low_i = extents.low_i;
    let high_j = extents.high_j;
    // All is seen from j, in one frame, because each takes registers of a GPU. Only faces of i under vertices of j are seen from i.
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
    );
    // Edges of j between the support planes, by their numbers modulo 32: most are not, and are passed for each edge of i without being read.
    let mut reached = 0u32;
    if shape_i.edges > 0u32 {
        for k in 0u32..shape_j.edges {
            let f1 = edge_end::<C>(&shape_j, words, numbers, k, 0u32, scale_j);
            let f2 = edge_end::<C>(&shape_j, words, numbers, k, 1u32, scale_j);
            if center_i + low_i - larger::<C>(f1.dot(&approach.axis_j), f2.dot(&approach.axis_j)) < limit {
                reached |= 1u32 << (k % 32u32);
            }
        }
    }
    let mut e = 0u32.runtime();
    let mut f = 0u32.runtime();
    // The ends of edge e, as seen from j.
    let mut e1 = Vector3::<C>::zero();
    let mut e2 = Vector3::<C>::zero();
    while e < shape_i.edges {
        let mut of_i = 0u32.runtime();
        let mut of_j = 0u32.runtime();
        let mut found = false;
        let mut looks = true;
        while looks {
            if f == 0u32 {
                let first = edge_end::<C>(&shape_i, words, numbers, e, 0u32, scale_i);
                let second = edge_end::<C>(&shape_i, words, numbers, e, 1u32, scale_i);
                if center_i + smaller::<C>(first.dot(&approach.axis_i), second.dot(&approach.axis_i)) - high_j < limit {
                    e1 = seen::<C>(&first, &i_from_j);
                    e2 = seen::<C>(&second, &i_from_j);
                } else {
                    f = shape_j.edges;
                }
            }
            if f < shape_j.edges {
                if (reached >> (f % 32u32)) & 1u32 == 1u32 {
                    let f1 = edge_end::<C>(&shape_j, words, numbers, f, 0u32, scale_j);
                    let f2 = edge_end::<C>(&shape_j, words, numbers, f, 1u32, scale_j);
                    let square = square_between_boxes::<C>(&e1, &e2, &f1, &f2);
                    found = is_worth_computing::<C>(square, bound_square, search.least);
                    of_i = e;
                    of_j = f;
                }
                f += 1u32;
            }
            if f >= shape_j.edges {
                f = 0u32;
                e += 1u32;
            }
            looks = !found && e < shape_i.edges;
        }
        if found {
            let f1 = edge_end::<C>(&shape_j, words, numbers, of_j, 0u32, scale_j);
            let f2 = edge_end::<C>(&shape_j, words, numbers, of_j, 1u32, scale_j);
            let nearest = nearest_of_edges::<C>(&e1, &e2, &f1, &f2);
            if nearest.square >= C::new(0.0) {
                let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
                if is_nearer::<C>(feature.square, search.least) {
                    note::<C>(&feature.gap, feature.square, search);
                }
                let key = key_of_edges::<C>(of_i, of_j, &e1, &e2, &f1, &f2, feature.square, sizes.reach, sizes.nothing);
                take::<C>(key, first_slot, slots, keys, search);
            }
        }
    }
}
