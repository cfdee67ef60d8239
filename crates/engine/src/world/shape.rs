//! Shapes of polyhedral grains: convex cores or unions of some, rounded by a sphere.
//!
//! A shape is a table of plain numbers, in the frame of its principal axes, with the center of mass at the origin. Its scale is one: the bounding sphere
//! about the center of mass has radius one. A grain has an index of a shape, a scale and an orientation.
//!
//! ```
//! use seixo_engine::world::PolyhedralShape;
//! let ball = PolyhedralShape::ball("ball");
//! assert_eq!(ball.flaw(), None);
//! // The volume and the mass of a sphere with a radius of half a meter.
//! let volume = std::f64::consts::PI / 6.0;
//! assert!((ball.mass(0.5, 2000.0) - 2000.0 * volume).abs() < 1e-9);
//! ```

use super::{PartEnds, Vec3, volume_of_sphere};
use std::ops::Range;

/// Largest number of vertices or edges of a shape: a contact history has 15 bits for each feature.
const MOST_FEATURES: usize = 32_767;
/// Volume of the bounding sphere, in scales³.
const MOST_VOLUME: f64 = 4.0 / 3.0 * std::f64::consts::PI;
/// Largest deviation of the radius of the bounding sphere, in scales, and of a moment from what is possible, as a share.
const RESOLUTION: f64 = 1e-6;
/// Largest distance of the vertices of a face from its plane, in scales. Faces of meshes are flat to seven digits.
const FLATNESS: f64 = 1e-5;

/// Quantum of the numbers in a digest, in scales: rounding errors are far below it, and differences of other axes are far above it.
const QUANTUM: f64 = 1e-6;

/// A shape of polyhedral grains: all that is nearer than the rounding radius to a core. The core is a convex polyhedron, a segment or a point, or a union
/// of convex polyhedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyhedralShape {
    /// Its name, for messages.
    pub name: String,
    /// Radius of the sphere that rounds corners and edges, in scales.
    pub rounding: f64,
    /// Volume with the rounding, in scales³.
    pub volume: f64,
    /// Principal moments of inertia over mass and squared scale \[-\].
    pub moments: Vec3,
    /// Vertices of the core, in scales.
    pub vertices: Vec<Vec3>,
    /// Ends of the edges of the core, as indices of vertices. An edge between two faces of one plane is no feature and is left out.
    pub edges: Vec<[u32; 2]>,
    /// Vertices of each face of the core, counterclockwise seen from outside; no faces of a segment or a point.
    pub faces: Vec<Vec<u32>>,
    /// Where the vertices, edges and faces of each convex part of a union end; they start where those of the part before end. Empty if the core is one
    /// part.
    pub parts: Vec<PartEnds>,
    /// Rotation from this frame into the axes in which the shape was drawn, a unit quaternion w x y z; `None` if it was drawn in this frame.
    pub drawn_axes: Option<[f64; 4]>,
}

/// Vertices, edges and faces of a convex part.
struct ConvexPart {
    vertices: Range<usize>,
    edges: Range<usize>,
    faces: Range<usize>,
}

impl PolyhedralShape {
    /// Smallest rounding radius, in scales. Faces are flat to a millionth of a scale, and overlaps, which are a share of the radius, must be above that.
    pub const LEAST_ROUNDING: f64 = 1e-4;

    /// A ball: the core is a point.
    pub fn ball(name: &str) -> PolyhedralShape {
        PolyhedralShape {
            name: name.to_owned(),
            rounding: 1.0,
            volume: volume_of_sphere(1.0),
            moments: [0.4; 3],
            vertices: vec![[0.0; 3]],
            ..PolyhedralShape::default()
        }
    }

    /// Volume of a grain of this shape and scale \[m\], in m³.
    pub fn volume_at(&self, scale: f64) -> f64 {
        self.volume * scale.powi(3)
    }

    /// Mass of a grain of this shape, of this scale \[m\] and density \[kg/m³\], in kg.
    pub fn mass(&self, scale: f64, density: f64) -> f64 {
        self.volume_at(scale) * density
    }

    /// Principal moments of inertia of a grain of this shape, of this mass \[kg\] and scale \[m\], in kg m².
    pub fn moments_of_inertia(&self, mass: f64, scale: f64) -> Vec3 {
        self.moments.map(|moment| moment * mass * scale * scale)
    }

    /// A number by which checkpoints know the shape again. Another size, other axes and another order of vertices, edges or faces give another number;
    /// rounding errors and the name do not.
    pub(crate) fn digest(&self) -> u64 {
        let numbers = [self.rounding, self.volume].into_iter().chain(self.moments);
        let numbers = numbers.chain(self.vertices.iter().flatten().copied());
        // Steps between quanta lie at uncommon numbers. In the middle they would be at binary fractions such as 1/128, and rounding errors would cross
        // them.
        let quanta = numbers.map(|x| ((x / QUANTUM + 0.381_966_011).floor() as i64).cast_unsigned());
        let ends = self.part_ends().into_iter().flat_map(|end| [end.vertices, end.edges, end.faces]);
        let loops = self.faces.iter().flat_map(|face| [&[face.len() as u32][..], &face[..]].concat());
        let words = ends.chain(self.edges.iter().flatten().copied()).chain(loops);
        // Fowler, Noll and Vo's hash, variant 1a, of words: the same on every machine and in every version.
        words
            .map(u64::from)
            .chain(quanta)
            .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3))
    }

    /// The problem of the shape, with value and limit; `None` if it has none.
    pub fn flaw(&self) -> Option<String> {
        self.flaw_of_numbers()
            .or_else(|| self.flaw_of_parts())
            .or_else(|| self.flaw_of_edges())
            .or_else(|| self.convex_parts().find_map(|part| self.flaw_of_faces(&part)))
    }

    /// Where the features of each convex part end; at least one part.
    pub(crate) fn part_ends(&self) -> Vec<PartEnds> {
        if self.parts.is_empty() {
            return vec![self.end()];
        }
        self.parts.clone()
    }

    /// Where the features of the last part end.
    fn end(&self) -> PartEnds {
        PartEnds {
            vertices: self.vertices.len() as u32,
            edges: self.edges.len() as u32,
            faces: self.faces.len() as u32,
        }
    }

    fn convex_parts(&self) -> impl Iterator<Item = ConvexPart> {
        self.part_ends().into_iter().scan([0; 3], |start, end| {
            let [vertices, edges, faces] = *start;
            *start = [end.vertices as usize, end.edges as usize, end.faces as usize];
            Some(ConvexPart {
                vertices: vertices..start[0],
                edges: edges..start[1],
                faces: faces..start[2],
            })
        })
    }

    fn flaw_of_parts(&self) -> Option<String> {
        let last = self.parts.last()?;
        if *last != self.end() {
            return Some(format!(
                "its last part ends at {last:?}, must end with the shape, at {:?}",
                self.end()
            ));
        }
        self.convex_parts().enumerate().find_map(|(k, part)| {
            if part.vertices.len() < 4 || part.faces.len() < 4 {
                return Some(format!(
                    "part {k} has {} vertices and {} faces, must be a polyhedron with at least 4 of each",
                    part.vertices.len(),
                    part.faces.len()
                ));
            }
            let is_own = |vertex: &u32| part.vertices.contains(&(*vertex as usize));
            let edges = self.edges.get(part.edges.clone()).unwrap_or_default();
            let faces = self.faces.get(part.faces.clone()).unwrap_or_default();
            let are_own = edges.iter().flatten().all(is_own) && faces.iter().flatten().all(is_own);
            (!are_own).then(|| format!("an edge or a face of part {k} has a vertex of another part, must have its own ones"))
        })
    }

    fn flaw_of_numbers(&self) -> Option<String> {
        let (vertices, edges) = (self.vertices.len(), self.edges.len());
        if !(1..=MOST_FEATURES).contains(&vertices) || edges > MOST_FEATURES {
            return Some(format!(
                "it has {vertices} vertices and {edges} edges, must have 1 to {MOST_FEATURES} vertices and at most as many edges"
            ));
        }
        if let Some(k) = self.vertices.iter().position(|vertex| !vertex.iter().all(|x| x.is_finite())) {
            return Some(format!("vertex {k} has a coordinate that is not a number"));
        }
        if !(Self::LEAST_ROUNDING..=1.0).contains(&self.rounding) {
            return Some(format!(
                "its rounding radius is {}, must be from {:e} to 1: make edges and corners rounder",
                self.rounding,
                Self::LEAST_ROUNDING
            ));
        }
        let farthest = self.vertices.iter().map(length).fold(0.0, f64::max);
        let reach = farthest + self.rounding;
        if (reach - 1.0).abs() > RESOLUTION {
            return Some(format!(
                "it reaches {reach} from its center, must be 1: divide all lengths by this number"
            ));
        }
        let [a, b, c] = self.moments;
        let is_positive = |x: f64| x.is_finite() && x > 0.0;
        // What a rod has about its axis may be small, but each moment is at most the sum of the others.
        let are_possible = [[a, b, c], [b, c, a], [c, a, b]]
            .iter()
            .all(|[a, b, c]| *a <= (b + c) * (1.0 + RESOLUTION));
        if !self.moments.iter().copied().all(is_positive) || !are_possible {
            return Some(format!(
                "its moments are {:?}, must be positive, and each at most the sum of the others",
                self.moments
            ));
        }
        if a + b + c > 2.0 * (1.0 + RESOLUTION) {
            return Some(format!(
                "its moments are {:?}, must add up to at most 2, as all of its mass is within the bounding sphere",
                self.moments
            ));
        }
        let is_possible = is_positive(self.volume) && self.volume <= MOST_VOLUME * (1.0 + RESOLUTION);
        (!is_possible).then(|| {
            format!(
                "its volume is {}, must be positive and at most {MOST_VOLUME:.4}, that of the bounding sphere",
                self.volume
            )
        })
    }

    fn flaw_of_edges(&self) -> Option<String> {
        let count = self.vertices.len();
        let is_wrong = |edge: &[u32; 2]| edge.iter().any(|&end| end as usize >= count) || edge[0] == edge[1];
        if let Some(k) = self.edges.iter().position(is_wrong) {
            return Some(format!(
                "edge {k} has the ends {:?}, must be two different ones of {count} vertices",
                self.edges[k]
            ));
        }
        let edges = self.edges.len();
        (self.faces.is_empty() && (count > 2 || edges + 1 != count))
            .then(|| format!("it has {count} vertices and {edges} edges without faces, must be a point, or a segment with one edge"))
    }

    fn flaw_of_faces(&self, part: &ConvexPart) -> Option<String> {
        let count = self.vertices.len();
        let own = &self.vertices[part.vertices.clone()];
        for (k, face) in self.faces.iter().enumerate().take(part.faces.end).skip(part.faces.start) {
            if face.len() < 3 || face.iter().any(|&vertex| vertex as usize >= count) {
                return Some(format!(
                    "face {k} has the vertices {face:?}, must be at least 3 of {count} vertices"
                ));
            }
            let (normal, offset) = self.plane(face);
            let height = |vertex: &Vec3| dot(&normal, vertex) - offset;
            let highest = own.iter().map(height).fold(f64::NEG_INFINITY, f64::max);
            let lowest = face
                .iter()
                .map(|&vertex| height(&self.vertices[vertex as usize]))
                .fold(0.0, f64::min);
            // Comparisons with what is not a number fail, too.
            let is_outside = offset > 0.0 || !self.parts.is_empty();
            let is_convex = highest <= FLATNESS && lowest >= -FLATNESS && is_outside;
            if !is_convex {
                return Some(format!(
                    "face {k} is a plane at {offset} from the center, and vertices are from {lowest} below to {highest} above it; it must be outside of the center, and flat, with no vertex above it within {FLATNESS}"
                ));
            }
        }
        None
    }

    /// Outward unit normal of a face, and its distance from the center of mass along it, in scales.
    fn plane(&self, face: &[u32]) -> (Vec3, f64) {
        let corner = |k: usize| self.vertices[face[k % face.len()] as usize];
        let start = corner(0);
        let from_start = |k: usize| {
            let place = corner(k);
            [0, 1, 2].map(|axis| place[axis] - start[axis])
        };
        let mut area = [0.0; 3];
        for k in 1..face.len() - 1 {
            let ([a, b, c], [d, e, f]) = (from_start(k), from_start(k + 1));
            let part = [b * f - c * e, c * d - a * f, a * e - b * d];
            area.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        let size = length(&area);
        let normal = area.map(|x| x / size);
        let offset = (0..face.len()).map(|k| dot(&corner(k), &normal)).sum::<f64>() / face.len() as f64;
        (normal, offset)
    }

    /// Planes of the faces of each convex part where they are outside, with the rounding: outward unit normals, and distances from the center of mass, in
    /// scales.
    pub(crate) fn outer_planes(&self) -> Vec<Vec<(Vec3, f64)>> {
        let outer = |face: &Vec<u32>| {
            let (normal, offset) = self.plane(face);
            (normal, offset + self.rounding)
        };
        let parts = self.convex_parts().map(|part| &self.faces[part.faces]);
        parts.map(|faces| faces.iter().map(outer).collect()).collect()
    }

    /// Radius of the largest sphere about the center of mass that is inside of a convex part, in scales; zero if the center is outside of all.
    pub(crate) fn inscribed(&self) -> f64 {
        let of_parts = self.convex_parts().map(|part| {
            let offsets = self.faces[part.faces].iter().map(|face| self.plane(face).1);
            let least = offsets.fold(f64::INFINITY, f64::min);
            self.rounding + if least.is_finite() { least } else { 0.0 }
        });
        of_parts.fold(0.0, f64::max)
    }

    /// Largest number of corners of a face, summed over convex parts; 2 of a segment, 1 of a point. So many contacts may push a grain at once.
    pub(crate) fn most_corners(&self) -> usize {
        let of_parts = self.convex_parts().map(|part| {
            let of_faces = self.faces[part.faces].iter().map(Vec::len).max();
            of_faces.unwrap_or(part.vertices.len())
        });
        of_parts.sum()
    }

    /// Smallest ratio of the effective mass at a vertex to the mass: a push there moves and turns the grain \[-\].
    pub(crate) fn lightness(&self) -> f64 {
        let most = self.vertices.iter().map(|vertex| self.turning_ease(vertex)).fold(0.0, f64::max);
        1.0 / (1.0 + most)
    }

    /// Largest (r × n)ᵀ M⁻¹ (r × n) for a vertex r, the moments M, and any unit vector n: the larger eigenvalue of a matrix of rank two.
    fn turning_ease(&self, &[x, y, z]: &Vec3) -> f64 {
        let turns = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
        let entry = |i: usize, j: usize| (0..3).map(|k| turns[k][i] * turns[k][j] / self.moments[k]).sum::<f64>();
        let trace: f64 = (0..3).map(|i| entry(i, i)).sum();
        let square: f64 = (0..9).map(|k| entry(k / 3, k % 3).powi(2)).sum();
        0.5 * (trace + (2.0 * square - trace * trace).max(0.0).sqrt())
    }
}

fn dot(a: &Vec3, b: &Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn length(v: &Vec3) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> PolyhedralShape {
        PolyhedralShape {
            name: "rod".into(),
            rounding: 0.25,
            volume: 0.36,
            moments: [0.03, 0.2, 0.2],
            vertices: vec![[-0.75, 0.0, 0.0], [0.75, 0.0, 0.0]],
            edges: vec![[0, 1]],
            ..PolyhedralShape::default()
        }
    }

    #[test]
    fn a_shape_that_is_wrong_is_refused_with_its_value_and_the_limit() {
        assert_eq!(segment().flaw(), None);
        type Spoil = fn(&mut PolyhedralShape);
        let spoiled: [(Spoil, &str); 10] = [
            (|shape| shape.vertices.clear(), "0 vertices"),
            (|shape| shape.vertices[1][0] = f64::NAN, "vertex 1 has a coordinate"),
            (|shape| shape.rounding = 0.0, "its rounding radius is 0, must be from 1e-4 to 1"),
            (
                |shape| shape.rounding = 1e-7,
                "its rounding radius is 0.0000001, must be from 1e-4 to 1",
            ),
            (|shape| shape.rounding = 0.5, "it reaches 1.25 from its center, must be 1"),
            (|shape| shape.moments[0] = 0.5, "each at most the sum of the others"),
            (|shape| shape.moments = [0.7; 3], "must add up to at most 2"),
            (|shape| shape.volume = 4.2, "its volume is 4.2, must be positive and at most 4.1888"),
            (|shape| shape.edges[0][1] = 2, "edge 0 has the ends [0, 2]"),
            (|shape| shape.edges.clear(), "2 vertices and 0 edges without faces"),
        ];
        for (spoil, what) in spoiled {
            let mut shape = segment();
            spoil(&mut shape);
            let flaw = shape.flaw().unwrap_or_default();
            assert!(flaw.contains(what), "{what}: {flaw}");
        }
    }

    #[test]
    fn a_tetrahedron_must_be_closed_by_its_faces() {
        let (far, rounding) = (0.9, 0.1);
        let corner = far / 3.0f64.sqrt();
        let tetrahedron = PolyhedralShape {
            name: "tetrahedron".into(),
            rounding,
            volume: 0.6,
            moments: [0.13; 3],
            vertices: vec![
                [corner, corner, corner],
                [corner, -corner, -corner],
                [-corner, corner, -corner],
                [-corner, -corner, corner],
            ],
            edges: vec![[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
            faces: vec![vec![0, 1, 2], vec![0, 3, 1], vec![0, 2, 3], vec![1, 3, 2]],
            ..PolyhedralShape::default()
        };
        assert_eq!(tetrahedron.flaw(), None);
        // A face is a third as far as a vertex.
        assert!((tetrahedron.inscribed() - (far / 3.0 + rounding)).abs() < 1e-12);
        let mut turned = tetrahedron.clone();
        turned.faces[1].reverse();
        assert!(turned.flaw().is_some_and(|flaw| flaw.contains("face 1 is a plane")));
        let mut unknown = tetrahedron;
        unknown.faces[2][0] = 4;
        assert!(
            unknown
                .flaw()
                .is_some_and(|flaw| flaw.contains("face 2 has the vertices [4, 2, 3]"))
        );
    }

    #[test]
    fn each_part_of_a_union_must_be_convex_and_have_its_own_features() {
        let tetrahedron = |side: f64| {
            let corners = [[0.1, 0.0, 0.0], [0.8, 0.0, 0.0], [0.1, 0.4, 0.0], [0.1, 0.0, 0.4]];
            // Turned by half a revolution, so that faces keep their sense.
            corners.map(|[x, y, z]: Vec3| [side * x, side * y, z])
        };
        let faces = |first: u32| [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|face| face.map(|v: u32| first + v).to_vec());
        let end = |count: u32| PartEnds {
            vertices: 4 * count,
            edges: count,
            faces: 4 * count,
        };
        let union = PolyhedralShape {
            name: "hourglass".into(),
            rounding: 0.2,
            volume: 0.3,
            moments: [0.1, 0.2, 0.2],
            vertices: [tetrahedron(1.0), tetrahedron(-1.0)].concat(),
            edges: vec![[0, 1], [4, 5]],
            faces: [faces(0), faces(4)].concat(),
            parts: vec![end(1), end(2)],
            ..PolyhedralShape::default()
        };
        assert_eq!(union.flaw(), None);
        // Both parts may lie on a plane at once. The center is outside of both cores, but within their rounding.
        assert_eq!(union.most_corners(), 6);
        assert!((union.inscribed() - 0.1).abs() < 1e-12, "{}", union.inscribed());
        type Spoil = fn(&mut PolyhedralShape);
        let spoiled: [(Spoil, &str); 4] = [
            (|shape| shape.parts[1].faces = 7, "its last part ends at"),
            (|shape| shape.parts[0].vertices = 3, "part 0 has 3 vertices"),
            (|shape| shape.edges[1][0] = 1, "a vertex of another part"),
            (|shape| shape.faces[5].reverse(), "face 5 is a plane"),
        ];
        for (spoil, what) in spoiled {
            let mut shape = union.clone();
            spoil(&mut shape);
            let flaw = shape.flaw().unwrap_or_default();
            assert!(flaw.contains(what), "{what}: {flaw}");
        }
    }

    #[test]
    fn a_digest_depends_on_axes_and_features_and_not_on_rounding_errors_or_names() {
        let digest = segment().digest();
        type Change = fn(&mut PolyhedralShape);
        let same: [Change; 3] = [
            |shape| shape.name = "stick".into(),
            |shape| shape.vertices[0][0] += 1e-15,
            |shape| shape.vertices[0][1] = -0.0,
        ];
        let others: [Change; 5] = [
            |shape| shape.vertices = vec![[0.0, -0.75, 0.0], [0.0, 0.75, 0.0]],
            |shape| shape.vertices.reverse(),
            |shape| shape.edges[0].reverse(),
            |shape| shape.moments.reverse(),
            |shape| shape.volume = 0.37,
        ];
        for (changes, is_same) in [(&same[..], true), (&others[..], false)] {
            for (k, change) in changes.iter().enumerate() {
                let mut shape = segment();
                change(&mut shape);
                assert_eq!(shape.digest() == digest, is_same, "{k} of {is_same}");
            }
        }
    }

    #[test]
    fn rounding_errors_at_half_a_quantum_leave_a_digest() {
        let digest = |y: f64| {
            let mut shape = segment();
            shape.vertices[0][1] = y;
            shape.digest()
        };
        let half = 1.0 / 128.0;
        assert_eq!((half / QUANTUM).fract(), 0.5);
        for y in [half, -half] {
            assert_eq!(digest(y - 1e-15), digest(y + 1e-15));
            assert_ne!(digest(y), digest(y + QUANTUM));
        }
    }

    #[test]
    fn a_push_at_the_end_of_a_rod_moves_it_as_if_it_were_lighter() {
        // 1 + 0.75²/0.2 times the inverse mass: a push across the rod turns it, and one along it does not.
        assert!((segment().lightness() - 1.0 / 3.8125).abs() < 1e-12);
        assert_eq!((segment().most_corners(), PolyhedralShape::ball("ball").lightness()), (2, 1.0));
    }
}
