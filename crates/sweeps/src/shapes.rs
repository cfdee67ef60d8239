//! Shapes of polyhedral grains: one table for all grains, and access to it.
//!
//! A shape is the set of all points within the rounding radius of its core, which is a union of convex parts. It is scaled so that its bounding sphere
//! about the center of mass has radius one, in the frame of its principal axes. The table has a buffer of words and a buffer of numbers. Addresses in
//! it are indices in one of them.
//!
//! | record | content |
//! |---|---|
//! | [`SHAPE_HEADER`] words a shape, at the start | address of its numbers; number of parts, address of the first; number of vertices, address of the first; number of edges, address of the first; padding |
//! | [`PART`] words | first vertex and that after the last; first edge and that after the last; address of the first face, number of faces; padding |
//! | [`EDGE`] words | both ends, as numbers of vertices of the shape |
//! | [`FACE`] words | address of its normal and offset; address of the first word of its loop, and of that after the last |
//! | loops, words | vertices around a face, counterclockwise seen from outside |
//! | [`SHAPE_NUMBERS`] numbers | rounding radius, radius for contact radii, radius of the largest sphere inside, volume, three moments, padding |
//! | 3 numbers a vertex, 4 a face | position; unit normal and offset along it |
//!
//! Edges between two faces of one plane are no features, so they are left out. A sphere is a shape with one vertex at its center and the rounding
//! radius one.
//!
//! ```
//! use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out, rounding_of, shape_at, vertex_of};
//! // A capsule: two vertices and one edge.
//! let capsule = ShapeGeometry {
//!     rounding: 0.25,
//!     contact_radius: 0.25,
//!     inscribed: 0.25,
//!     volume: 0.36,
//!     moments: [0.03, 0.03, 0.01],
//!     vertices: &[[0.0, 0.0, -0.75], [0.0, 0.0, 0.75]],
//!     edges: &[[0, 1]],
//!     loops: &[],
//!     face_ends: &[],
//!     parts: &[PartEnds { vertices: 2, edges: 1, faces: 0 }],
//! };
//! let (mut words, mut numbers) = (Vec::new(), Vec::new());
//! lay_out(&[capsule], |word| words.push(word), |number| numbers.push(number));
//! let shape = shape_at(&words, 0);
//! assert_eq!((shape.vertices, shape.edges, rounding_of::<f64>(&shape, &numbers)), (2, 1, 0.25));
//! assert_eq!(vertex_of::<f64>(&shape, &numbers, 1, 2.0).z, 1.5);
//! ```

use crate::layout::load;
use cubecl::prelude::*;
use seixo_laws::nearest::{distance_from_plane, is_inside_of_side, nearest_on_edge};
use seixo_laws::{Real, Vector3};

/// Words of the header of a shape.
pub const SHAPE_HEADER: usize = 8;

/// Numbers of a shape beside its vertices and faces.
pub const SHAPE_NUMBERS: usize = 8;

/// Words of a convex part.
pub const PART: usize = 8;

/// Words of an edge.
pub const EDGE: usize = 2;

/// Words of a face.
pub const FACE: usize = 3;

/// Largest number of vertices, edges or parts of a shape, so that a feature fits into a key of a contact.
pub const MOST_FEATURES: usize = 32_767;

/// Where the vertices, edges and faces of a convex part end. They start where those of the part before end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEnds {
    /// Vertex after the last.
    pub vertices: u32,
    /// Edge after the last.
    pub edges: u32,
    /// Face after the last.
    pub faces: u32,
}

/// A shape for the table. Its unit of length is the radius of its bounding sphere, and its axes are the principal axes.
#[derive(Clone, Copy, Debug)]
pub struct ShapeGeometry<'a> {
    /// Rounding radius \[-\].
    pub rounding: f64,
    /// Radius for contact radii and the effective radius \[-\]; the rounding radius, unless the user gives another.
    pub contact_radius: f64,
    /// Radius of the largest sphere inside \[-\].
    pub inscribed: f64,
    /// Volume \[-\].
    pub volume: f64,
    /// Principal moments of inertia over mass and squared radius \[-\].
    pub moments: [f64; 3],
    /// Vertices of the core about the center of mass \[-\].
    pub vertices: &'a [[f64; 3]],
    /// Ends of each edge that is a feature, as indices of vertices.
    pub edges: &'a [[u32; 2]],
    /// Vertices around each face, counterclockwise seen from outside, face after face.
    pub loops: &'a [u32],
    /// Where the loop of each face ends in `loops`.
    pub face_ends: &'a [u32],
    /// Convex parts; at least one.
    pub parts: &'a [PartEnds],
}

impl ShapeGeometry<'_> {
    /// Words of the shape after the headers.
    fn words(&self) -> usize {
        PART * self.parts.len() + EDGE * self.edges.len() + FACE * self.face_ends.len() + self.loops.len()
    }

    /// Numbers of the shape.
    fn numbers(&self) -> usize {
        SHAPE_NUMBERS + 3 * self.vertices.len() + 4 * self.face_ends.len()
    }

    /// Vertices around this face.
    fn face(&self, face: usize) -> &[u32] {
        let first = if face == 0 { 0 } else { self.face_ends[face - 1] };
        &self.loops[first as usize..self.face_ends[face] as usize]
    }

    /// Unit normal of a face, as the sum of the vector products of its corners, and the mean offset of its corners along it.
    fn plane(&self, face: usize) -> [f64; 4] {
        let corners = self.face(face);
        let corner = |k: usize| {
            let [x, y, z] = self.vertices[corners[k % corners.len()] as usize];
            Vector3 { x, y, z }
        };
        // Differences from the first corner keep their digits.
        let start = corner(0);
        let area = (0..corners.len()).fold(Vector3::zero(), |sum: Vector3<f64>, k| {
            sum.plus(&corner(k).minus(&start).cross(&corner(k + 1).minus(&start)))
        });
        let normal = area.times(1.0 / area.length());
        let offset = (0..corners.len()).map(|k| corner(k).dot(&normal)).sum::<f64>() / corners.len() as f64;
        [normal.x, normal.y, normal.z, offset]
    }
}

/// Writes the table of these shapes, one word and one number after the other.
pub fn lay_out(shapes: &[ShapeGeometry<'_>], mut word: impl FnMut(u32), mut number: impl FnMut(f64)) {
    let (mut words, mut numbers) = (shapes.len() * SHAPE_HEADER, 0);
    for shape in shapes {
        let header: [usize; SHAPE_HEADER] = [
            numbers,
            shape.parts.len(),
            words,
            shape.vertices.len(),
            numbers + SHAPE_NUMBERS,
            shape.edges.len(),
            words + PART * shape.parts.len(),
            0,
        ];
        header.into_iter().for_each(|value| word(value as u32));
        words += shape.words();
        numbers += shape.numbers();
    }
    let (mut words, mut numbers) = (shapes.len() * SHAPE_HEADER, 0);
    for shape in shapes {
        let faces_at = words + PART * shape.parts.len() + EDGE * shape.edges.len();
        let loops_at = faces_at + FACE * shape.face_ends.len();
        let planes_at = numbers + SHAPE_NUMBERS + 3 * shape.vertices.len();
        let mut before = PartEnds {
            vertices: 0,
            edges: 0,
            faces: 0,
        };
        for part in shape.parts {
            let first_face = (faces_at + FACE * before.faces as usize) as u32;
            let record: [u32; PART] = [
                before.vertices,
                part.vertices,
                before.edges,
                part.edges,
                first_face,
                part.faces - before.faces,
                0,
                0,
            ];
            record.into_iter().for_each(&mut word);
            before = *part;
        }
        shape.edges.iter().flatten().for_each(|&end| word(end));
        for face in 0..shape.face_ends.len() {
            let end = loops_at + shape.face_ends[face] as usize;
            let record = [planes_at + 4 * face, end - shape.face(face).len(), end];
            record.into_iter().for_each(|value| word(value as u32));
        }
        shape.loops.iter().for_each(|&vertex| word(vertex));
        let [first, second, third] = shape.moments;
        let own = [
            shape.rounding,
            shape.contact_radius,
            shape.inscribed,
            shape.volume,
            first,
            second,
            third,
            0.0,
        ];
        own.into_iter().for_each(&mut number);
        shape.vertices.iter().flatten().for_each(|&coordinate| number(coordinate));
        for face in 0..shape.face_ends.len() {
            shape.plane(face).into_iter().for_each(&mut number);
        }
        words += shape.words();
        numbers += shape.numbers();
    }
}

/// Header of a shape.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Shape {
    /// Address of its numbers.
    pub numbers_at: usize,
    /// Number of convex parts.
    pub parts: u32,
    /// Address of the first part.
    pub parts_at: usize,
    /// Number of vertices.
    pub vertices: u32,
    /// Address of the first vertex.
    pub vertices_at: usize,
    /// Number of edges.
    pub edges: u32,
    /// Address of the first edge.
    pub edges_at: usize,
}

/// A convex part of a shape.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Part {
    /// First vertex.
    pub vertex_first: u32,
    /// Vertex after the last.
    pub vertex_end: u32,
    /// First edge.
    pub edge_first: u32,
    /// Edge after the last.
    pub edge_end: u32,
    /// Address of the first face.
    pub faces_at: usize,
    /// Number of faces.
    pub faces: u32,
}

/// The header of this shape.
#[cube]
#[inline(always)]
pub fn shape_at(words: &[u32], shape: u32) -> Shape {
    let at = shape as usize * 8usize;
    Shape {
        numbers_at: words[at] as usize,
        parts: words[at + 1usize],
        parts_at: words[at + 2usize] as usize,
        vertices: words[at + 3usize],
        vertices_at: words[at + 4usize] as usize,
        edges: words[at + 5usize],
        edges_at: words[at + 6usize] as usize,
    }
}

/// A convex part of a shape.
#[cube]
#[inline(always)]
pub fn part_of(shape: &Shape, words: &[u32], part: u32) -> Part {
    let at = shape.parts_at + part as usize * 8usize;
    Part {
        vertex_first: words[at],
        vertex_end: words[at + 1usize],
        edge_first: words[at + 2usize],
        edge_end: words[at + 3usize],
        faces_at: words[at + 4usize] as usize,
        faces: words[at + 5usize],
    }
}

/// Rounding radius of a shape over its scale \[-\].
#[cube]
#[inline(always)]
pub fn rounding_of<C: Real>(shape: &Shape, numbers: &[C]) -> C {
    numbers[shape.numbers_at]
}

/// Radius of a shape for contact radii over its scale \[-\].
#[cube]
#[inline(always)]
pub fn contact_radius_of<C: Real>(shape: &Shape, numbers: &[C]) -> C {
    numbers[shape.numbers_at + 1usize]
}

/// Principal moments of inertia of a grain of this mass \[kg\] and scale \[m\], I_k = M_k m s² \[kg m²\].
#[cube]
#[inline(always)]
pub fn moments_of<C: Real>(shape: &Shape, numbers: &[C], mass: C, scale: C) -> Vector3<C> {
    load::<C>(numbers, shape.numbers_at + 4usize).times(mass * scale * scale)
}

/// A vertex of a shape of this scale \[m\], in its own frame.
#[cube]
#[inline(always)]
pub fn vertex_of<C: Real>(shape: &Shape, numbers: &[C], vertex: u32, scale: C) -> Vector3<C> {
    load::<C>(numbers, shape.vertices_at + vertex as usize * 3usize).times(scale)
}

/// The first (`end` 0) or second (`end` 1) vertex of an edge, by its number.
#[cube]
#[inline(always)]
pub fn end_of_edge(shape: &Shape, words: &[u32], edge: u32, end: u32) -> u32 {
    words[shape.edges_at + edge as usize * 2usize + end as usize]
}

/// The first (`end` 0) or second (`end` 1) end of an edge of a shape of this scale \[m\], in its own frame.
#[cube]
#[inline(always)]
pub fn edge_end<C: Real>(shape: &Shape, words: &[u32], numbers: &[C], edge: u32, end: u32, scale: C) -> Vector3<C> {
    vertex_of::<C>(shape, numbers, end_of_edge(shape, words, edge, end), scale)
}

/// Largest distance of a vertex of a shape of this scale along a unit vector in its own frame \[m\].
#[cube]
#[inline(always)]
pub fn extent_along<C: Real>(shape: &Shape, numbers: &[C], scale: C, axis: &Vector3<C>) -> C {
    let mut most = load::<C>(numbers, shape.vertices_at).dot(axis);
    for v in 1u32..shape.vertices {
        let extent = load::<C>(numbers, shape.vertices_at + v as usize * 3usize).dot(axis);
        if extent > most {
            most = extent;
        }
    }
    most * scale
}

/// The point of a face nearest to p, in the frame of a shape of this scale \[m\]. `at` is the address of the face, and `height` is the distance of p
/// from its plane.
#[cube]
#[inline(always)]
pub fn nearest_on_polygon<C: Real>(
    p: &Vector3<C>,
    height: C,
    shape: &Shape,
    words: &[u32],
    numbers: &[C],
    at: usize,
    scale: C,
) -> Vector3<C> {
    let normal = load::<C>(numbers, words[at] as usize);
    let first = words[at + 1usize] as usize;
    let end = words[at + 2usize] as usize;
    let foot = p.minus(&normal.times(height));
    let mut is_inside = true;
    let mut least = C::new(0.0);
    let mut on_side = foot.plus(&Vector3::<C>::zero());
    let mut corner = vertex_of::<C>(shape, numbers, words[end - 1usize], scale);
    for k in first..end {
        let next = vertex_of::<C>(shape, numbers, words[k], scale);
        if !is_inside_of_side::<C>(&foot, &corner, &next, &normal) {
            let near = nearest_on_edge::<C>(p, &corner, &next);
            let gap = p.minus(&near);
            let square = gap.dot(&gap);
            // The nearest side is one of those beyond which p lies.
            if is_inside || square < least {
                least = square;
                on_side = near.plus(&Vector3::<C>::zero());
            }
            is_inside = false;
        }
        corner = next.plus(&Vector3::<C>::zero());
    }
    on_side
}

/// Largest height of p over the planes of the faces of a convex part, in the frame of a shape of this scale \[m\]: no point of the part is nearer to p.
/// It is zero for p inside, and for a part without faces.
#[cube]
#[inline(always)]
pub fn height_over_part<C: Real>(p: &Vector3<C>, part: &Part, words: &[u32], numbers: &[C], scale: C) -> C {
    let mut most = C::new(0.0);
    for k in 0..part.faces {
        let plane = words[part.faces_at + k as usize * 3usize] as usize;
        let height = distance_from_plane::<C>(p, &load::<C>(numbers, plane), numbers[plane + 3usize] * scale);
        if height > most {
            most = height;
        }
    }
    most
}

/// The point of a convex part nearest to p, in the frame of a shape of this scale \[m\]. For p inside it is p.
///
/// Among the faces with p on their outer side, the nearest point of each polygon is taken; the nearest of all counts. A part without faces is an edge
/// or a vertex.
#[cube]
#[inline(always)]
pub fn nearest_on_part<C: Real>(p: &Vector3<C>, part: &Part, shape: &Shape, words: &[u32], numbers: &[C], scale: C) -> Vector3<C> {
    let mut nearest = p.plus(&Vector3::<C>::zero());
    if part.faces > 0u32 {
        let mut least = C::new(-1.0);
        let mut k = 0u32.runtime();
        while k < part.faces {
            // The next face with p on its outer side, so that threads that find it at different places compute the nearest points together.
            let mut height = C::new(0.0);
            let mut face = 0u32.runtime();
            let mut looks = true;
            while looks {
                let plane = words[part.faces_at + k as usize * 3usize] as usize;
                height = distance_from_plane::<C>(p, &load::<C>(numbers, plane), numbers[plane + 3usize] * scale);
                face = k;
                k += 1u32;
                looks = height <= C::new(0.0) && k < part.faces;
            }
            if height > C::new(0.0) {
                let at = part.faces_at + face as usize * 3usize;
                let near = nearest_on_polygon::<C>(p, height, shape, words, numbers, at, scale);
                let gap = p.minus(&near);
                let square = gap.dot(&gap);
                if least < C::new(0.0) || square < least {
                    least = square;
                    nearest = near.plus(&Vector3::<C>::zero());
                }
            }
        }
    } else if part.edge_end > part.edge_first {
        let first = vertex_of::<C>(shape, numbers, end_of_edge(shape, words, part.edge_first, 0u32), scale);
        let second = vertex_of::<C>(shape, numbers, end_of_edge(shape, words, part.edge_first, 1u32), scale);
        nearest = nearest_on_edge::<C>(p, &first, &second);
    } else {
        nearest = vertex_of::<C>(shape, numbers, part.vertex_first, scale);
    }
    nearest
}
