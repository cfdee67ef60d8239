//! Which triangles, corners and edges of a mesh touch a grain.
//!
//! A thread of a GPU has no memory of its own for lists of features. So features are looked for in the row of the grain, by ascending numbers.

use crate::layout::{TRIANGLE, load};
use crate::shape_features::{feature_pair, square_between_boxes, unit};
use crate::shapes::{Part, Shape, nearest_on_part};
use cubecl::prelude::*;
use seixo_laws::nearest::{nearest_of_edges, nearest_on_edge};
use seixo_laws::wall::nearest_on_triangle;
use seixo_laws::{Quaternion, Real, Vector3};

/// A corner or an edge that is no feature.
pub const NO_FEATURE: u32 = u32::MAX;

/// Words of the features of a wall element. Of a triangle: the numbers of the corners of the mesh at its corners, and of the edges of the mesh from each
/// corner to the next, or [`NO_FEATURE`]; its number in the mesh; the first element of the mesh. Of others the last is their own number.
pub const FEATURES: usize = 8;

/// Place of the number of a triangle in its mesh among these words.
pub const NUMBER_IN_MESH: usize = 6;

/// Place of the first element of the mesh among these words.
pub const FIRST_OF_MESH: usize = 7;

/// The wall elements near a grain, and the mesh among these. Triangles of the mesh come by ascending numbers.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct MeshRow<C: Real> {
    /// First entry of the list of wall elements.
    pub first: usize,
    /// Entry after the last.
    pub end: usize,
    /// Number of the wall, as in the records of its elements.
    pub wall: C,
}

/// A corner of a mesh that touches a grain; [`NO_FEATURE`] if none does.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct MeshCorner<C: Real> {
    /// Its number in the mesh.
    pub number: u32,
    /// Relative to the center of the grain \[m\].
    pub place: Vector3<C>,
}

/// An edge of a mesh that touches an edge of a grain, from the end with the lower number to the other; [`NO_FEATURE`] if none does.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct MeshEdge<C: Real> {
    /// Its number in the mesh.
    pub number: u32,
    /// The end with the lower number, relative to the center of the grain \[m\].
    pub first: Vector3<C>,
    /// The other end \[m\].
    pub second: Vector3<C>,
}

/// Whether the element whose record starts at `e` is a triangle of this wall.
#[cube]
#[inline(always)]
pub(super) fn is_of_mesh<C: Real>(elements: &[C], e: usize, wall: C) -> bool {
    elements[e + 9usize] == C::new(TRIANGLE) && elements[e + 10usize] == wall
}

/// The point of a triangle nearest to a place. Both are relative to a center, so that no digits are lost.
#[cube]
#[inline(always)]
pub(super) fn on_triangle<C: Real>(place: &Vector3<C>, center: &Vector3<C>, elements: &[C], e: usize) -> Vector3<C> {
    let a = load::<C>(elements, e).minus(center);
    let b = load::<C>(elements, e + 3usize).minus(center);
    let c = load::<C>(elements, e + 6usize).minus(center);
    nearest_on_triangle::<C>(place, &a, &b, &c)
}

/// Whether the sphere about a place has a contact on the triangle of entry k: a local minimum of the distance. `bound` is the square of its radius, and
/// points nearer to each other than `same` are one.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn is_contact<C: Real>(
    k: usize,
    place: &Vector3<C>,
    center: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    bound: C,
    same: C,
) -> bool {
    let own = on_triangle::<C>(place, center, elements, list[k] as usize * 12usize);
    let gap = place.minus(&own);
    let square = gap.dot(&gap);
    let mut counts = square < bound;
    if counts {
        for s in row.first..row.end {
            let e = list[s] as usize * 12usize;
            if s != k && is_of_mesh::<C>(elements, e, row.wall) {
                let other = on_triangle::<C>(place, center, elements, e);
                let beyond = place.minus(&other);
                let other_square = beyond.dot(&beyond);
                if other_square < bound {
                    if own.minus(&other).length() < same {
                        counts = counts && k < s;
                    } else if other_square < square {
                        let on_other = on_triangle::<C>(&own, center, elements, e);
                        counts = counts && on_other.minus(&own).length() >= same;
                    }
                }
            }
        }
    }
    counts
}

/// Whether the sphere about a place has a contact on the triangle with this number, as [`is_contact()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn touches_triangle<C: Real>(
    number: u32,
    place: &Vector3<C>,
    center: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
    bound: C,
    same: C,
) -> bool {
    let mut touches = 0u32.runtime();
    for s in row.first..row.end {
        let element = list[s] as usize;
        if is_of_mesh::<C>(elements, element * 12usize, row.wall) {
            if features[element * FEATURES + NUMBER_IN_MESH] == number {
                if is_contact::<C>(s, place, center, row, list, elements, bound, same) {
                    touches = 1u32;
                }
            }
        }
    }
    touches == 1u32
}

/// The corner of the mesh with the lowest number, at least `from`, that is nearer to a part of the grain than `reach`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn corner_from<C: Real>(
    from: u32,
    center: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
    back: &Quaternion<C>,
    part: &Part,
    shape: &Shape,
    words: &[u32],
    numbers: &[C],
    scale: C,
    reach: C,
) -> MeshCorner<C> {
    let mut number = NO_FEATURE.runtime();
    let mut place = Vector3::<C>::zero();
    for k in row.first..row.end {
        let element = list[k] as usize;
        if is_of_mesh::<C>(elements, element * 12usize, row.wall) {
            for c in 0..3usize {
                let own = features[element * FEATURES + c];
                if own >= from && own < number {
                    let corner = load::<C>(elements, element * 12usize + c * 3usize).minus(center);
                    if corner.length() < scale {
                        let viewed = back.to_space(&corner);
                        let there = nearest_on_part::<C>(&viewed, part, shape, words, numbers, scale);
                        if feature_pair::<C>(&there, &viewed).square < reach * reach {
                            number = own;
                            place = corner.plus(&Vector3::<C>::zero());
                        }
                    }
                }
            }
        }
    }
    MeshCorner::<C> { number, place }
}

/// Number of triangles at an edge of the mesh.
#[cube]
#[inline(always)]
fn sides_of<C: Real>(edge: u32, row: &MeshRow<C>, list: &[u32], elements: &[C], features: &[u32]) -> u32 {
    let mut sides = 0u32.runtime();
    for k in row.first..row.end {
        let element = list[k] as usize;
        if is_of_mesh::<C>(elements, element * 12usize, row.wall) {
            for c in 0..3usize {
                if features[element * FEATURES + 3usize + c] == edge {
                    sides += 1u32;
                }
            }
        }
    }
    sides
}

/// Whether a corner of the mesh is the bottom of a hollow as seen along a vector from it: the triangles around are nearer there, and vertices touch them.
/// A corner at a rim is none.
#[cube]
#[inline(always)]
pub(super) fn is_hollow_corner<C: Real>(
    number: u32,
    gap: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
) -> bool {
    // Sum of unit vectors from it along both sides of each of its triangles.
    let mut into = Vector3::<C>::zero();
    let mut rims = 0u32.runtime();
    for k in row.first..row.end {
        let element = list[k] as usize;
        let e = element * 12usize;
        if is_of_mesh::<C>(elements, e, row.wall) {
            for c in 0..3usize {
                if features[element * FEATURES + c] == number {
                    let next = (c + 1usize) % 3usize;
                    let last = (c + 2usize) % 3usize;
                    let corner = load::<C>(elements, e + c * 3usize);
                    let to_next = load::<C>(elements, e + next * 3usize).minus(&corner);
                    let to_last = load::<C>(elements, e + last * 3usize).minus(&corner);
                    let both = unit::<C>(&to_next, to_next.dot(&to_next)).plus(&unit::<C>(&to_last, to_last.dot(&to_last)));
                    into = into.plus(&both);
                    let onward = features[element * FEATURES + 3usize + c];
                    if onward != NO_FEATURE {
                        if sides_of::<C>(onward, row, list, elements, features) != 2u32 {
                            rims += 1u32;
                        }
                    }
                    let before = features[element * FEATURES + 3usize + last];
                    if before != NO_FEATURE {
                        if sides_of::<C>(before, row, list, elements, features) != 2u32 {
                            rims += 1u32;
                        }
                    }
                }
            }
        }
    }
    rims == 0u32 && into.dot(gap) > C::new(0.0)
}

/// The edge of the mesh with the lowest number, at least `from`, that is nearer to the edge of the grain from e1 to e2 than `reach`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn edge_from<C: Real>(
    from: u32,
    center: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
    e1: &Vector3<C>,
    e2: &Vector3<C>,
    scale: C,
    reach: C,
) -> MeshEdge<C> {
    // The margin keeps rounding errors from being a criterion.
    let bound = reach + C::new(1.0e-4) * scale;
    let mut number = NO_FEATURE.runtime();
    let mut first = Vector3::<C>::zero();
    let mut second = Vector3::<C>::zero();
    for k in row.first..row.end {
        let element = list[k] as usize;
        let e = element * 12usize;
        if is_of_mesh::<C>(elements, e, row.wall) {
            for c in 0..3usize {
                let own = features[element * FEATURES + 3usize + c];
                if own >= from && own < number {
                    let next = (c + 1usize) % 3usize;
                    let here = load::<C>(elements, e + c * 3usize).minus(center);
                    let there = load::<C>(elements, e + next * 3usize).minus(center);
                    let mut f1 = here.plus(&Vector3::<C>::zero());
                    let mut f2 = there.plus(&Vector3::<C>::zero());
                    // From all triangles it has the same bits.
                    if features[element * FEATURES + c] > features[element * FEATURES + next] {
                        f1 = there.plus(&Vector3::<C>::zero());
                        f2 = here.plus(&Vector3::<C>::zero());
                    }
                    let nearest_to_center = nearest_on_edge::<C>(&Vector3::<C>::zero(), &f1, &f2);
                    if nearest_to_center.length() < scale && square_between_boxes::<C>(e1, e2, &f1, &f2) < bound * bound {
                        let nearest = nearest_of_edges::<C>(e1, e2, &f1, &f2);
                        if nearest.square >= C::new(0.0) && nearest.square < reach * reach {
                            number = own;
                            first = f1.plus(&Vector3::<C>::zero());
                            second = f2.plus(&Vector3::<C>::zero());
                        }
                    }
                }
            }
        }
    }
    MeshEdge::<C> { number, first, second }
}

/// As [`is_hollow_corner()`], for an edge at the bottom of a valley.
#[cube]
#[inline(always)]
pub(super) fn is_hollow_edge<C: Real>(
    number: u32,
    gap: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
) -> bool {
    // Sum of unit vectors across it, into each of its triangles.
    let mut into = Vector3::<C>::zero();
    let mut sides = 0u32.runtime();
    for k in row.first..row.end {
        let element = list[k] as usize;
        let e = element * 12usize;
        if is_of_mesh::<C>(elements, e, row.wall) {
            for c in 0..3usize {
                if features[element * FEATURES + 3usize + c] == number {
                    let next = (c + 1usize) % 3usize;
                    let last = (c + 2usize) % 3usize;
                    let corner = load::<C>(elements, e + c * 3usize);
                    let to_next = load::<C>(elements, e + next * 3usize).minus(&corner);
                    let to_last = load::<C>(elements, e + last * 3usize).minus(&corner);
                    let along = unit::<C>(&to_next, to_next.dot(&to_next));
                    let across = to_last.minus(&along.times(to_last.dot(&along)));
                    into = into.plus(&unit::<C>(&across, across.dot(&across)));
                    sides += 1u32;
                }
            }
        }
    }
    sides == 2u32 && into.dot(gap) > C::new(0.0)
}
