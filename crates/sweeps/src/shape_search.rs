//! Which features of two polyhedral grains are in contact.
//!
//! Few pairs of a list touch, and few features of a pair that touches are in contact. Features that are farther apart than the sum of the rounding radii
//! have no overlap. So bounds of their distance leave out most of them and change no bit: first the bounding spheres, then the support planes along the
//! direction of the last step, then the faces of a part under a vertex and the boxes around two edges.
//!
//! Bounds take few operations, and nearest points take many. A loop goes from feature to feature until the bounds leave one; then its nearest points are
//! computed. So the threads of a warp, each with another pair, compute nearest points together, although they find their features at different places.
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
    EDGES, Frame, PairSizes, ShapePair, SlotPlaces, VERTEX_OF_I, VERTEX_OF_J, end_of_edges, feature_pair, key_of, seen, sizes_of,
    square_between_boxes, unit,
};
use crate::shapes::{Part, Shape, edge_end, extent_along, height_over_part, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::nearest::nearest_of_edges;
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller, widened};

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
pub(crate) struct Search<C: Real> {
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
fn is_nearer<C: Real>(square: C, search: &Search<C>) -> bool {
    search.least < C::new(0.0) || square < search.least
}

/// Remembers features as the nearest so far: their gap, from j to i in the frame of j \[m\], and its square.
#[cube]
#[inline(always)]
fn note<C: Real>(gap: &Vector3<C>, square: C, search: &mut Search<C>) {
    search.least = square;
    search.nearest = gap.plus(&Vector3::<C>::zero());
}

/// A contact of two features at this squared distance \[m²\] is at one of its ends, where its share is zero, if the squared distance of this end is not
/// above the result. Overlaps differ by as much as distances do, so the search needs no overlap.
#[cube]
#[inline(always)]
fn square_at_end<C: Real, R: Real>(square: C, sizes: &PairSizes<C, R>) -> C {
    let distance = C::root(square) + sizes.nothing;
    distance * distance
}

/// Whether the contact of the vertex at `place` of j with a convex part of i, at this squared distance \[m²\], is at no vertex of the part, in the frame of
/// i.
#[cube]
#[inline(always)]
fn is_off_vertices<C: Real, R: Real>(
    place: &Vector3<C>,
    square: C,
    part: &Part,
    shape: &Shape,
    numbers: &[C],
    scale: C,
    sizes: &PairSizes<C, R>,
) -> bool {
    let at_end = square_at_end::<C, R>(square, sizes);
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
fn is_off_ends<C: Real, R: Real>(
    e1: &Vector3<C>,
    e2: &Vector3<C>,
    f1: &Vector3<C>,
    f2: &Vector3<C>,
    square: C,
    sizes: &PairSizes<C, R>,
) -> bool {
    let at_end = square_at_end::<C, R>(square, sizes);
    let mut is_off = true;
    for k in 0..4u32 {
        if end_of_edges::<C>(k, e1, e2, f1, f2).square <= at_end {
            is_off = false;
        }
    }
    is_off
}

/// Writes the key of the next contact, if there is a slot for it.
#[cube]
#[inline(always)]
fn take<C: Real>(key: u32, first_slot: usize, slots: u32, keys: &mut [u32], search: &mut Search<C>) {
    if search.at.contacts < slots {
        keys[first_slot + search.at.contacts as usize] = key;
    }
    search.at.contacts += 1u32;
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
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    let scale_i = pair.i.scale;
    let scale_j = pair.j.scale;
    // A search needs no limit of the overlap.
    let sizes = sizes_of::<C, R>(pair, &shape_i, &shape_j, numbers, R::new(0.0));
    let reach_square = sizes.reach * sizes.reach;
    // Features that are farther apart than `reach` do not touch. The margins keep rounding errors from being a criterion, in any precision, and
    // vertices that are beside the plane of their face, as in meshes.
    let both = scale_i + scale_j;
    let spheres = C::new(1.00001) * both;
    let bound = sizes.reach + C::new(5.0e-5) * both;
    let bound_square = bound * bound;
    let mut toward_i = widened::<C, R>(&pair.direction);
    if toward_i.dot(&toward_i) < C::new(0.5) {
        toward_i = pair.apart.plus(&Vector3::<C>::zero());
    }
    let mut search = Search::<C> {
        least: C::new(-1.0),
        nearest: Vector3::<C>::zero(),
        at: SlotPlaces { old: 0u32, contacts: 0u32 },
    };
    if pair.apart.dot(&pair.apart) < spheres * spheres {
        let back_i = pair.i.orientation.back();
        let back_j = pair.j.orientation.back();
        let axis = unit::<C>(&toward_i, toward_i.dot(&toward_i));
        let axis_i = back_i.to_space(&axis);
        let axis_j = back_j.to_space(&axis);
        let low_i = -extent_along::<C>(&shape_i, numbers, scale_i, &axis_i.times(C::new(-1.0)));
        let high_j = extent_along::<C>(&shape_j, numbers, scale_j, &axis_j);
        let center_i = pair.apart.dot(&axis);
        if center_i + low_i - high_j < bound {
            // All is seen from j, in one frame, because each takes registers of a GPU. Only faces of i under vertices of j are seen from i.
            let i_from_j = Frame::<C> {
                orientation: back_j.after(&pair.i.orientation),
                center: back_j.to_space(&pair.apart),
            };
            let back = i_from_j.orientation.back();
            // A pair that is apart looks once more, at all features that may be nearer than the nearest so far. Then the direction is that of the
            // nearest points, in which the distance of the planes is that of the cores. So the next steps end above, until the grains come nearer.
            let mut limit = bound;
            let mut round = 0u32;
            let mut goes_on = true;
            while goes_on {
                let mut v = 0u32.runtime();
                let mut p = 0u32.runtime();
                while v < shape_i.vertices {
                    let mut of_i = 0u32.runtime();
                    let mut of_j = 0u32.runtime();
                    let mut place = Vector3::<C>::zero();
                    let mut found = false;
                    let mut looks = true;
                    while looks {
                        let vertex = vertex_of::<C>(&shape_i, numbers, v, scale_i);
                        if center_i + vertex.dot(&axis_i) - high_j < limit {
                            place = seen::<C>(&vertex, &i_from_j);
                            let part = part_of(&shape_j, words, p);
                            let height = height_over_part::<C>(&place, &part, words, numbers, scale_j);
                            found = is_worth_computing::<C>(height * height, bound_square, search.least);
                            of_i = v;
                            of_j = p;
                            p += 1u32;
                        } else {
                            p = shape_j.parts;
                        }
                        if p >= shape_j.parts {
                            p = 0u32;
                            v += 1u32;
                        }
                        looks = !found && v < shape_i.vertices;
                    }
                    if found {
                        let part = part_of(&shape_j, words, of_j);
                        let there = nearest_on_part::<C>(&place, &part, &shape_j, words, numbers, scale_j);
                        let feature = feature_pair::<C>(&place, &there);
                        if is_nearer::<C>(feature.square, &search) {
                            note::<C>(&feature.gap, feature.square, &mut search);
                        }
                        if feature.square < reach_square {
                            take::<C>(key_of(VERTEX_OF_I, of_i, of_j), first_slot, slots, keys, &mut search);
                        }
                    }
                }
                let mut q = 0u32.runtime();
                let mut w = 0u32.runtime();
                while q < shape_i.parts {
                    let mut of_i = 0u32.runtime();
                    let mut of_j = 0u32.runtime();
                    let mut place = Vector3::<C>::zero();
                    let mut found = false;
                    let mut looks = true;
                    while looks {
                        let vertex = vertex_of::<C>(&shape_j, numbers, w, scale_j);
                        if center_i + low_i - vertex.dot(&axis_j) < limit {
                            place = back.to_space(&vertex.minus(&i_from_j.center));
                            let part = part_of(&shape_i, words, q);
                            let height = height_over_part::<C>(&place, &part, words, numbers, scale_i);
                            found = is_worth_computing::<C>(height * height, bound_square, search.least);
                            of_i = q;
                            of_j = w;
                        }
                        w += 1u32;
                        if w >= shape_j.vertices {
                            w = 0u32;
                            q += 1u32;
                        }
                        looks = !found && q < shape_i.parts;
                    }
                    if found {
                        let part = part_of(&shape_i, words, of_i);
                        let there = nearest_on_part::<C>(&place, &part, &shape_i, words, numbers, scale_i);
                        let feature = feature_pair::<C>(&there, &place);
                        if is_nearer::<C>(feature.square, &search) {
                            note::<C>(&i_from_j.orientation.to_space(&feature.gap), feature.square, &mut search);
                        }
                        if feature.square < reach_square {
                            if is_off_vertices::<C, R>(&place, feature.square, &part, &shape_i, numbers, scale_i, &sizes) {
                                take::<C>(key_of(VERTEX_OF_J, of_i, of_j), first_slot, slots, keys, &mut search);
                            }
                        }
                    }
                }
                // Edges of j between the support planes, by their numbers modulo 32: most are not, and are passed for each edge of i without being read.
                let mut reached = 0u32;
                for k in 0u32..shape_j.edges {
                    let f1 = edge_end::<C>(&shape_j, words, numbers, k, 0u32, scale_j);
                    let f2 = edge_end::<C>(&shape_j, words, numbers, k, 1u32, scale_j);
                    if center_i + low_i - larger::<C>(f1.dot(&axis_j), f2.dot(&axis_j)) < limit {
                        reached |= 1u32 << (k % 32u32);
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
                            if center_i + smaller::<C>(first.dot(&axis_i), second.dot(&axis_i)) - high_j < limit {
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
                            if is_nearer::<C>(feature.square, &search) {
                                note::<C>(&feature.gap, feature.square, &mut search);
                            }
                            if feature.square < reach_square {
                                if is_off_ends::<C, R>(&e1, &e2, &f1, &f2, feature.square, &sizes) {
                                    take::<C>(key_of(EDGES, of_i, of_j), first_slot, slots, keys, &mut search);
                                }
                            }
                        }
                    }
                }
                round += 1u32;
                goes_on = round < 2u32 && search.at.contacts == 0u32 && search.least > bound_square;
                limit = C::root(larger::<C>(search.least, bound_square));
            }
        }
    }
    if search.at.contacts < slots {
        keys[first_slot + search.at.contacts as usize] = 0u32;
    }
    if search.least >= C::new(0.0) {
        toward_i = pair.j.orientation.to_space(&search.nearest);
    }
    FoundContacts::<R> {
        contacts: search.at.contacts,
        direction: near_vector::<C, R>(&unit::<C>(&toward_i, toward_i.dot(&toward_i))),
    }
}
