//! Items of a search for contacts of pairs, see [`super::polyhedra_search`]: faces, vertices and edges of a pair whose pose is in shared memory.
//!
//! Each function takes a pair by its place among those that the block searches, and reads its records, see [`POSE`], and `shapes`, those of i and j. Where
//! both grains are alike, `side` is 0 for i and 1 for j.

use super::bonds::quaternion;
use crate::layout::{BITS, Record, last, load, record, xyz};
use crate::shape_features::{Frame, end_of_edges, feature_pair, seen, square_between_boxes};
use crate::shape_search::{key_of_edges, key_of_vertex};
use crate::shapes::{Shape, edge_end, end_of_edge, extent_along, height_over_part, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::nearest::nearest_of_edges;
use seixo_laws::{Real, Vector3};

/// Records of the pose of a pair: orientation of i seen from j; center of i seen from j, and the bound; scale of i, scale of j, largest distance of a
/// contact, and length of rounding errors.
pub(super) const POSE: usize = 3;

/// Records of the support planes of a pair that is searched: what leaves out the vertices of i, see [`plane_of_i()`], and those of j.
pub(super) const PLANES: usize = 2;

/// An axis along which two grains may be apart: the normal of a face.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct FaceAxis<C: Real> {
    /// Whether the face is one of j.
    pub is_of_j: bool,
    /// Distance of the plane of the face from the center of its grain \[m\].
    pub offset: C,
    /// Place of the center of i along the axis, seen from that of j \[m\].
    pub center_i: C,
    /// Unit vector from j to i, in the frame of j.
    pub axis: Vector3<C>,
}

/// A vertex of one grain, as seen from the other.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct SeenVertex<C: Real> {
    /// Whether it is one of j.
    pub is_of_j: bool,
    /// Its number.
    pub vertex: u32,
    /// Shape of the other grain.
    pub other: u32,
    /// Scale of the other grain \[m\].
    pub scale: C,
    /// Its place in the frame of the other grain \[m\].
    pub place: Vector3<C>,
}

/// The nearest points of two features.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct NearestPoints<C: Real> {
    /// Key of their contact; zero if there is none.
    pub key: u32,
    /// Squared distance \[m²\]; negative if it is above the bound and was not computed.
    pub square: C,
    /// From the point of j to that of i, in the frame of j \[m\].
    pub gap: Vector3<C>,
}

/// The frame of i as seen from j.
#[cube]
pub(super) fn frame_of<C: Real>(pair: usize, poses: &[Record<C>]) -> Frame<C> {
    Frame::<C> {
        orientation: quaternion::<C>(poses[pair * POSE]),
        center: xyz::<C>(poses[pair * POSE + 1usize]),
    }
}

/// Features of a pair that are farther apart are not looked for \[m\].
#[cube]
pub(super) fn bound_of<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    last::<C>(poses[pair * POSE + 1usize])
}

/// Radius of the bounding sphere of a grain \[m\].
#[cube]
pub(super) fn scale_of<C: Real>(side: usize, pair: usize, poses: &[Record<C>]) -> C {
    let numbers = poses[pair * POSE + 2usize];
    let mut scale = numbers.extract(0usize);
    if side == 1usize {
        scale = numbers.extract(1usize);
    }
    scale
}

/// What leaves out the vertices of i beyond the highest place `high` of j along a unit vector from j to i, both seen from j \[m\]: this vector in the
/// frame of i, and the place along it beyond which no vertex of i may touch, over the scale of i.
#[cube]
pub(super) fn plane_of_i<C: Real>(axis: &Vector3<C>, high: C, pair: usize, poses: &[Record<C>]) -> Record<C> {
    let view = frame_of::<C>(pair, poses);
    let limit = (bound_of::<C>(pair, poses) + high - view.center.dot(axis)) / scale_of::<C>(0usize, pair, poses);
    record::<C>(&view.orientation.back().to_space(axis), limit)
}

/// As [`plane_of_i()`], for vertices of j beyond the lowest place `low` of i, along the vector from i to j in the frame of j.
#[cube]
pub(super) fn plane_of_j<C: Real>(axis: &Vector3<C>, low: C, pair: usize, poses: &[Record<C>]) -> Record<C> {
    let limit = (bound_of::<C>(pair, poses) - low) / scale_of::<C>(1usize, pair, poses);
    record::<C>(&axis.times(C::new(-1.0)), limit)
}

/// Number of faces of a shape of one convex part; zero for a union of parts, whose faces do not separate it from others.
#[cube]
pub(super) fn outer_faces(shape: &Shape, words: &[u32]) -> u32 {
    let mut faces = 0u32.runtime();
    if shape.parts == 1u32 {
        faces = part_of(shape, words, 0u32).faces;
    }
    faces
}

/// The axis of a face of a pair: those of j come first, then those of i.
#[cube]
pub(super) fn axis_of_face<C: Real>(
    face: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> FaceAxis<C> {
    let view = frame_of::<C>(pair, poses);
    let faces_of_j = outer_faces(&shape_at(words, shapes[pair * 2usize + 1usize]), words);
    let is_of_j = face < faces_of_j;
    let mut side = 1usize.runtime();
    let mut number = face;
    if !is_of_j {
        side = 0usize;
        number = face - faces_of_j;
    }
    let part = part_of(&shape_at(words, shapes[pair * 2usize + side]), words, 0u32);
    let plane = words[part.faces_at + number as usize * 3usize] as usize;
    let offset = numbers[plane + 3usize] * scale_of::<C>(side, pair, poses);
    let mut axis = load::<C>(numbers, plane);
    if !is_of_j {
        axis = view.orientation.to_space(&axis).times(C::new(-1.0));
    }
    let center_i = axis.dot(&view.center);
    FaceAxis::<C> {
        is_of_j,
        offset,
        center_i,
        axis,
    }
}

/// Least height of the vertices of the other grain over a face \[m\]: the two grains are no nearer to each other.
#[cube]
pub(super) fn gap_over_face<C: Real>(face: u32, pair: usize, poses: &[Record<C>], shapes: &[u32], words: &[u32], numbers: &[C]) -> C {
    let found = axis_of_face::<C>(face, pair, poses, shapes, words, numbers);
    // The axis from the other grain to the face, as the other sees it.
    let mut other = 1usize.runtime();
    let mut toward = found.axis.plus(&Vector3::<C>::zero());
    if found.is_of_j {
        other = 0usize;
        let back = frame_of::<C>(pair, poses).orientation.back();
        toward = back.to_space(&found.axis).times(C::new(-1.0));
    }
    let shape = shape_at(words, shapes[pair * 2usize + other]);
    found.center_i - found.offset - extent_along::<C>(&shape, numbers, scale_of::<C>(other, pair, poses), &toward)
}

/// Whether a vertex of one grain is not beyond the support plane of the other.
#[cube]
fn is_near<C: Real>(vertex: u32, side: usize, pair: usize, shape: &Shape, planes: &[Record<C>], numbers: &[C]) -> bool {
    let plane = planes[pair * PLANES + side];
    load::<C>(numbers, shape.vertices_at + vertex as usize * 3usize).dot(&xyz::<C>(plane)) < last::<C>(plane)
}

/// Whether the vertex of an item of a pair is not beyond the support plane of the other grain. Those of i come first, then those of j.
#[cube]
pub(super) fn is_near_vertex<C: Real>(item: u32, pair: usize, planes: &[Record<C>], shapes: &[u32], words: &[u32], numbers: &[C]) -> bool {
    let of_i = shape_at(words, shapes[pair * 2usize]).vertices;
    let mut side = 0usize.runtime();
    let mut vertex = item;
    if item >= of_i {
        side = 1usize;
        vertex = item - of_i;
    }
    let shape = shape_at(words, shapes[pair * 2usize + side]);
    is_near::<C>(vertex, side, pair, &shape, planes, numbers)
}

/// Whether an edge of one grain is not beyond the support plane of the other.
#[cube]
pub(super) fn is_near_edge<C: Real>(
    edge: u32,
    side: usize,
    pair: usize,
    shape: &Shape,
    planes: &[Record<C>],
    words: &[u32],
    numbers: &[C],
) -> bool {
    let first = is_near::<C>(end_of_edge(shape, words, edge, 0u32), side, pair, shape, planes, numbers);
    let second = is_near::<C>(end_of_edge(shape, words, edge, 1u32), side, pair, shape, planes, numbers);
    first || second
}

/// The vertex of an item of a pair, see [`is_near_vertex()`], as the other grain sees it.
#[cube]
pub(super) fn seen_vertex<C: Real>(
    item: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> SeenVertex<C> {
    let of_i = shape_at(words, shapes[pair * 2usize]).vertices;
    let view = frame_of::<C>(pair, poses);
    let is_of_j = item >= of_i;
    // One rotation for both, so that threads with vertices of i and of j go together. Twice reversed is a copy.
    let mut side = 0usize.runtime();
    let mut other = 1usize.runtime();
    let mut vertex = item;
    let mut turn = view.orientation.back().back();
    let mut before = Vector3::<C>::zero();
    let mut after = view.center.plus(&Vector3::<C>::zero());
    if is_of_j {
        side = 1usize;
        other = 0usize;
        vertex = item - of_i;
        turn = view.orientation.back();
        before = view.center.plus(&Vector3::<C>::zero());
        after = Vector3::<C>::zero();
    }
    let shape = shape_at(words, shapes[pair * 2usize + side]);
    let own = vertex_of::<C>(&shape, numbers, vertex, scale_of::<C>(side, pair, poses));
    SeenVertex::<C> {
        is_of_j,
        vertex,
        other: shapes[pair * 2usize + other],
        scale: scale_of::<C>(other, pair, poses),
        place: turn.to_space(&own.minus(&before)).plus(&after),
    }
}

/// The parts of the other grain that a vertex may touch: one bit each, of as many as a word has bits, from part `from` on.
#[cube]
pub(super) fn near_parts<C: Real>(
    corner: &SeenVertex<C>,
    from: u32,
    pair: usize,
    poses: &[Record<C>],
    words: &[u32],
    numbers: &[C],
) -> u32 {
    let shape = shape_at(words, corner.other);
    let mut near = 0u32.runtime();
    let end = min(shape.parts, from + BITS);
    for part in from..end {
        let height = height_over_part::<C>(&corner.place, &part_of(&shape, words, part), words, numbers, corner.scale);
        if height < bound_of::<C>(pair, poses) {
            near |= 1u32 << (part - from);
        }
    }
    near
}

/// The nearest points of a vertex and this part of the other grain, if it has the part and the vertex may touch it.
#[cube]
pub(super) fn nearest_to_part<C: Real>(
    corner: &SeenVertex<C>,
    part: u32,
    pair: usize,
    poses: &[Record<C>],
    words: &[u32],
    numbers: &[C],
) -> NearestPoints<C> {
    let shape = shape_at(words, corner.other);
    let mut key = 0u32.runtime();
    let mut square = C::new(-1.0);
    let mut gap = Vector3::<C>::zero();
    if part < shape.parts {
        let of_shape = part_of(&shape, words, part);
        if height_over_part::<C>(&corner.place, &of_shape, words, numbers, corner.scale) < bound_of::<C>(pair, poses) {
            let there = nearest_on_part::<C>(&corner.place, &of_shape, &shape, words, numbers, corner.scale);
            let feature = feature_pair::<C>(&corner.place, &there);
            let sizes = poses[pair * POSE + 2usize];
            let reach = sizes.extract(2usize);
            square = feature.square;
            if corner.is_of_j {
                let view = frame_of::<C>(pair, poses);
                gap = view.orientation.to_space(&feature.gap).times(C::new(-1.0));
                key = key_of_vertex::<C>(
                    corner.vertex,
                    part,
                    &corner.place,
                    feature.square,
                    &of_shape,
                    &shape,
                    numbers,
                    corner.scale,
                    reach,
                    last::<C>(sizes),
                    true,
                );
            } else {
                gap = feature.gap.plus(&Vector3::<C>::zero());
                key = key_of_vertex::<C>(
                    corner.vertex,
                    part,
                    &corner.place,
                    feature.square,
                    &of_shape,
                    &shape,
                    numbers,
                    corner.scale,
                    reach,
                    last::<C>(sizes),
                    false,
                );
            }
        }
    }
    NearestPoints::<C> { key, square, gap }
}

/// Squared distance of the boxes around an edge of i with these ends, seen from j, and an edge of j with this shape and scale \[m²\].
#[cube]
pub(super) fn square_to_edge<C: Real>(
    edge: u32,
    e1: &Vector3<C>,
    e2: &Vector3<C>,
    shape: &Shape,
    words: &[u32],
    numbers: &[C],
    scale: C,
) -> C {
    let f1 = edge_end::<C>(shape, words, numbers, edge, 0u32, scale);
    let f2 = edge_end::<C>(shape, words, numbers, edge, 1u32, scale);
    square_between_boxes::<C>(e1, e2, &f1, &f2)
}

/// The nearest points of an edge of i and an edge of j. Parallel ones have no contact: an end of one is as near as any of its points.
#[cube]
pub(super) fn nearest_of_edge_pair<C: Real>(
    e: u32,
    f: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> NearestPoints<C> {
    let shape_i = shape_at(words, shapes[pair * 2usize]);
    let shape_j = shape_at(words, shapes[pair * 2usize + 1usize]);
    let scale_i = scale_of::<C>(0usize, pair, poses);
    let scale_j = scale_of::<C>(1usize, pair, poses);
    let view = frame_of::<C>(pair, poses);
    let e1 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 0u32, scale_i), &view);
    let e2 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 1u32, scale_i), &view);
    let f1 = edge_end::<C>(&shape_j, words, numbers, f, 0u32, scale_j);
    let f2 = edge_end::<C>(&shape_j, words, numbers, f, 1u32, scale_j);
    let nearest = nearest_of_edges::<C>(&e1, &e2, &f1, &f2);
    let mut key = 0u32.runtime();
    let mut square = C::new(-1.0);
    let mut gap = Vector3::<C>::zero();
    if nearest.square >= C::new(0.0) {
        let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
        let sizes = poses[pair * POSE + 2usize];
        let reach = sizes.extract(2usize);
        square = feature.square;
        gap = feature.gap.plus(&Vector3::<C>::zero());
        key = key_of_edges::<C>(e, f, &e1, &e2, &f1, &f2, feature.square, reach, last::<C>(sizes));
    } else {
        for k in 0..4u32 {
            let end = end_of_edges::<C>(k, &e1, &e2, &f1, &f2);
            if square < C::new(0.0) || end.square < square {
                square = end.square;
                gap = end.gap.plus(&Vector3::<C>::zero());
            }
        }
    }
    NearestPoints::<C> { key, square, gap }
}
