//! Items of a search for contacts of pairs, see [`super::polyhedra_search`]: faces, vertices and edges of a pair whose pose is in shared memory.
//!
//! Each function takes a pair by its place among those that the block searches, and reads its records, see [`POSE`], and `shapes`, those of i and j.

use super::bonds::quaternion;
use crate::layout::{Record, last, load, xyz};
use crate::shape_features::{EDGES, Frame, VERTEX_OF_I, VERTEX_OF_J, feature_pair, key_of, seen, seen_from, square_between_boxes};
use crate::shape_search::{is_off_ends, is_off_vertices};
use crate::shapes::{Shape, edge_end, extent_along, height_over_part, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::nearest::nearest_of_edges;
use seixo_laws::{Real, Vector3, larger, smaller};

/// Records of a pair that is searched: orientation of i seen from j; center of i seen from j, and the bound; axis, and lowest place of i along it; highest
/// place of j along it, reach, length of rounding errors, and scale of i; scale of j, and 1 if the axis is that of a face.
pub(super) const POSE: usize = 5;

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
    /// Its distance from the support plane of the other grain along the axis of the pair \[m\].
    pub height: C,
    /// Its place in the frame of the other grain \[m\].
    pub place: Vector3<C>,
}

/// The frame of i as seen from j.
#[cube]
pub(super) fn frame_of<C: Real>(pair: usize, poses: &[Record<C>]) -> Frame<C> {
    Frame::<C> {
        orientation: quaternion::<C>(poses[pair * POSE]),
        center: xyz::<C>(poses[pair * POSE + 1usize]),
    }
}

/// Features of a pair that are farther apart do not touch \[m\].
#[cube]
pub(super) fn bound_of<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    last::<C>(poses[pair * POSE + 1usize])
}

/// Unit vector from j to i, in the frame of j.
#[cube]
pub(super) fn axis_of<C: Real>(pair: usize, poses: &[Record<C>]) -> Vector3<C> {
    xyz::<C>(poses[pair * POSE + 2usize])
}

/// Place of the lowest vertex of i along the axis, seen from the center of j \[m\].
#[cube]
pub(super) fn low_of_i<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    last::<C>(poses[pair * POSE + 2usize])
}

/// Place of the highest vertex of j along the axis, seen from its center \[m\].
#[cube]
pub(super) fn high_of_j<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    let numbers = poses[pair * POSE + 3usize];
    numbers.extract(0usize)
}

/// Sum of the rounding radii \[m\].
#[cube]
pub(super) fn reach_of<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    let numbers = poses[pair * POSE + 3usize];
    numbers.extract(1usize)
}

/// Lengths below it are rounding errors \[m\].
#[cube]
pub(super) fn nothing_of<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    let numbers = poses[pair * POSE + 3usize];
    numbers.extract(2usize)
}

/// Scale of i \[m\].
#[cube]
pub(super) fn scale_of_i<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    last::<C>(poses[pair * POSE + 3usize])
}

/// Scale of j \[m\].
#[cube]
pub(super) fn scale_of_j<C: Real>(pair: usize, poses: &[Record<C>]) -> C {
    let numbers = poses[pair * POSE + 4usize];
    numbers.extract(0usize)
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
    let mut own = shapes[pair * 2usize + 1usize];
    let mut number = face;
    let mut scale = scale_of_j::<C>(pair, poses);
    if !is_of_j {
        own = shapes[pair * 2usize];
        number = face - faces_of_j;
        scale = scale_of_i::<C>(pair, poses);
    }
    let part = part_of(&shape_at(words, own), words, 0u32);
    let plane = words[part.faces_at + number as usize * 3usize] as usize;
    let offset = numbers[plane + 3usize] * scale;
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
    let mut other = shapes[pair * 2usize + 1usize];
    let mut scale = scale_of_j::<C>(pair, poses);
    let mut toward = found.axis.plus(&Vector3::<C>::zero());
    if found.is_of_j {
        other = shapes[pair * 2usize];
        scale = scale_of_i::<C>(pair, poses);
        let back = frame_of::<C>(pair, poses).orientation.back();
        toward = back.to_space(&found.axis).times(C::new(-1.0));
    }
    let shape = shape_at(words, other);
    found.center_i - found.offset - extent_along::<C>(&shape, numbers, scale, &toward)
}

/// Number of vertices of i that meet this part of j, if j has it.
#[cube]
pub(super) fn vertices_that_meet(part: u32, of_vertices: &Shape, of_parts: &Shape) -> u32 {
    let mut vertices = 0u32.runtime();
    if part < of_parts.parts {
        vertices = of_vertices.vertices;
    }
    vertices
}

/// The vertex of an item of a pair: those of i come first, which meet this part of j, then those of j, which meet this part of i.
#[cube]
pub(super) fn seen_vertex<C: Real>(
    item: u32,
    part: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> SeenVertex<C> {
    let shape_i = shape_at(words, shapes[pair * 2usize]);
    let shape_j = shape_at(words, shapes[pair * 2usize + 1usize]);
    let view = frame_of::<C>(pair, poses);
    let axis = axis_of::<C>(pair, poses);
    let of_i = vertices_that_meet(part, &shape_i, &shape_j);
    let is_of_j = item >= of_i;
    let mut vertex = item;
    let mut other = shapes[pair * 2usize + 1usize];
    let mut scale = scale_of_j::<C>(pair, poses);
    let mut height = C::new(0.0);
    let mut place = Vector3::<C>::zero();
    if is_of_j {
        vertex = item - of_i;
        other = shapes[pair * 2usize];
        let own = vertex_of::<C>(&shape_j, numbers, vertex, scale);
        scale = scale_of_i::<C>(pair, poses);
        height = low_of_i::<C>(pair, poses) - own.dot(&axis);
        place = seen_from::<C>(&own, &view);
    } else {
        let own = vertex_of::<C>(&shape_i, numbers, vertex, scale_of_i::<C>(pair, poses));
        place = seen::<C>(&own, &view);
        height = place.dot(&axis) - high_of_j::<C>(pair, poses);
    }
    SeenVertex::<C> {
        is_of_j,
        vertex,
        other,
        scale,
        height,
        place,
    }
}

/// Whether a vertex may touch this part of the other grain.
#[cube]
pub(super) fn may_touch<C: Real>(corner: &SeenVertex<C>, part: u32, bound: C, words: &[u32], numbers: &[C]) -> bool {
    let mut may = false;
    if corner.height < bound {
        let shape = shape_at(words, corner.other);
        let of_shape = part_of(&shape, words, part);
        may = height_over_part::<C>(&corner.place, &of_shape, words, numbers, corner.scale) < bound;
    }
    may
}

/// Key of the contact of a vertex with this part of the other grain; zero if there is none.
#[cube]
pub(super) fn key_of_vertex<C: Real>(corner: &SeenVertex<C>, part: u32, reach: C, nothing: C, words: &[u32], numbers: &[C]) -> u32 {
    let shape = shape_at(words, corner.other);
    let of_shape = part_of(&shape, words, part);
    let there = nearest_on_part::<C>(&corner.place, &of_shape, &shape, words, numbers, corner.scale);
    let feature = feature_pair::<C>(&corner.place, &there);
    let mut key = 0u32.runtime();
    if feature.square < reach * reach {
        if corner.is_of_j {
            if is_off_vertices::<C>(&corner.place, feature.square, &of_shape, &shape, numbers, corner.scale, nothing) {
                key = key_of(VERTEX_OF_J, part, corner.vertex);
            }
        } else {
            key = key_of(VERTEX_OF_I, corner.vertex, part);
        }
    }
    key
}

/// Whether an edge of i is not beyond the support plane of j.
#[cube]
pub(super) fn edge_of_i_is_near<C: Real>(
    edge: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> bool {
    let shape = shape_at(words, shapes[pair * 2usize]);
    let scale = scale_of_i::<C>(pair, poses);
    let view = frame_of::<C>(pair, poses);
    let axis = axis_of::<C>(pair, poses);
    let axis_i = view.orientation.back().to_space(&axis);
    let first = edge_end::<C>(&shape, words, numbers, edge, 0u32, scale).dot(&axis_i);
    let second = edge_end::<C>(&shape, words, numbers, edge, 1u32, scale).dot(&axis_i);
    view.center.dot(&axis) + smaller::<C>(first, second) - high_of_j::<C>(pair, poses) < bound_of::<C>(pair, poses)
}

/// Whether an edge of j is not beyond the support plane of i.
#[cube]
pub(super) fn edge_of_j_is_near<C: Real>(
    edge: u32,
    pair: usize,
    poses: &[Record<C>],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
) -> bool {
    let shape = shape_at(words, shapes[pair * 2usize + 1usize]);
    let scale = scale_of_j::<C>(pair, poses);
    let axis = axis_of::<C>(pair, poses);
    let first = edge_end::<C>(&shape, words, numbers, edge, 0u32, scale).dot(&axis);
    let second = edge_end::<C>(&shape, words, numbers, edge, 1u32, scale).dot(&axis);
    low_of_i::<C>(pair, poses) - larger::<C>(first, second) < bound_of::<C>(pair, poses)
}

/// Squared distance of the boxes around a listed edge of i with these ends, seen from j, and an edge of j \[m²\].
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

/// Key of the contact of an edge of i with an edge of j; zero if there is none.
#[cube]
pub(super) fn key_of_edges<C: Real>(e: u32, f: u32, pair: usize, poses: &[Record<C>], shapes: &[u32], words: &[u32], numbers: &[C]) -> u32 {
    let shape_i = shape_at(words, shapes[pair * 2usize]);
    let shape_j = shape_at(words, shapes[pair * 2usize + 1usize]);
    let scale_i = scale_of_i::<C>(pair, poses);
    let scale_j = scale_of_j::<C>(pair, poses);
    let view = frame_of::<C>(pair, poses);
    let e1 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 0u32, scale_i), &view);
    let e2 = seen::<C>(&edge_end::<C>(&shape_i, words, numbers, e, 1u32, scale_i), &view);
    let f1 = edge_end::<C>(&shape_j, words, numbers, f, 0u32, scale_j);
    let f2 = edge_end::<C>(&shape_j, words, numbers, f, 1u32, scale_j);
    let reach = reach_of::<C>(pair, poses);
    let nearest = nearest_of_edges::<C>(&e1, &e2, &f1, &f2);
    let mut key = 0u32.runtime();
    if nearest.square >= C::new(0.0) {
        let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
        if feature.square < reach * reach {
            if is_off_ends::<C>(&e1, &e2, &f1, &f2, feature.square, nothing_of::<C>(pair, poses)) {
                key = key_of(EDGES, e, f);
            }
        }
    }
    key
}
