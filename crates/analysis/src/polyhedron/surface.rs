//! The surface of a shape of polyhedral grains as triangles, with the normals of the round surface.
//!
//! Each vertex is on the surface: a vertex of the core, moved by the rounding radius along a normal. Between two faces the normals turn about their
//! edge, and at a vertex of the core they cover the part of a sphere between the normals of its faces.

use glam::DVec3;
use seixo_engine::world::{PolyhedralShape, Vec3};
use std::collections::{BTreeMap, HashMap};
use std::f64::consts::FRAC_PI_4;

/// Largest distance of the triangles from a right edge, in scales: of surfaces that are drawn, and of those that displace fluids.
const DEVIATION: f64 = 0.02;
const FINE_DEVIATION: f64 = 0.002;
/// Most parts of a right edge.
const MOST_PARTS: u32 = 8;
/// Fewest parts of a quarter circle where all is round.
const FEWEST_OF_ROUND: u32 = 4;
/// The same among so many grains that their faces are drawn with sharp edges.
const FEWEST_OF_SMALL: u32 = 2;
/// Largest distance of a sharp corner from the vertex of the core, in rounding radii: that of a tetrahedron is 3.
const SHARPEST: f64 = 4.0;

/// The surface of a shape of polyhedral grains as triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeSurface {
    /// Vertices, in scales.
    pub position: Vec<Vec3>,
    /// Outward unit normal at each.
    pub normal: Vec<Vec3>,
    /// Triangles by their vertices, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl ShapeSurface {
    /// The surface of a shape without a flaw. Round edges with a right angle are approximated to 2 % of the scale.
    pub fn of(shape: &PolyhedralShape) -> ShapeSurface {
        ShapeSurface::within(shape, DEVIATION)
    }

    /// As [`ShapeSurface::of`], with a tenth of the deviation and at most eight parts of a right edge: for bodies in fluids, whose volume counts.
    pub fn fine(shape: &PolyhedralShape) -> ShapeSurface {
        ShapeSurface::within(shape, FINE_DEVIATION)
    }

    /// The surface of a shape without a flaw, whose triangles are so near to right edges, in scales.
    fn within(shape: &PolyhedralShape, deviation: f64) -> ShapeSurface {
        let parts = (1..MOST_PARTS).find(|&parts| {
            let half = FRAC_PI_4 / f64::from(parts);
            shape.rounding * (1.0 - half.cos()) <= deviation
        });
        let mut rounded = RoundedSurface::new(shape, parts.unwrap_or(MOST_PARTS));
        if shape.faces.is_empty() {
            rounded.parts = rounded.parts.max(FEWEST_OF_ROUND);
            rounded.add_capsule();
        } else {
            rounded.add_polyhedron();
        }
        rounded.surface
    }

    /// A surface of few triangles, for grains that are small in a picture: faces where they are, between sharp edges. Edges are exact where all faces of
    /// their ends are as steep, as those of a box. A shape without faces is still round.
    pub fn sharp(shape: &PolyhedralShape) -> ShapeSurface {
        let mut rounded = RoundedSurface::new(shape, FEWEST_OF_SMALL);
        if shape.faces.is_empty() {
            rounded.add_capsule();
        } else {
            rounded.add_sharp_faces();
        }
        rounded.surface
    }
}

/// A vertex of the core, and the bits of a normal.
type Key = (u32, [u64; 3]);

/// A surface in the making.
struct RoundedSurface<'a> {
    shape: &'a PolyhedralShape,
    /// Parts of the way from one normal to the next.
    parts: u32,
    surface: ShapeSurface,
    /// Vertices so far.
    known: HashMap<Key, u32>,
}

/// The unit vector between some with these weights. It has the same bits in any order of two vectors, and is a vector itself where all others have no
/// weight.
fn between(weighted: [(u32, DVec3); 3]) -> DVec3 {
    let mut counted = weighted.into_iter().filter(|&(weight, _)| weight > 0);
    let Some((weight, first)) = counted.next() else {
        return DVec3::ZERO;
    };
    let others = counted
        .map(|(weight, vector)| f64::from(weight) * vector)
        .reduce(|sum, more| sum + more);
    others.map_or(first, |others| (f64::from(weight) * first + others).normalize_or_zero())
}

impl<'a> RoundedSurface<'a> {
    /// The surface of a shape, without triangles so far.
    fn new(shape: &'a PolyhedralShape, parts: u32) -> RoundedSurface<'a> {
        RoundedSurface {
            shape,
            parts,
            surface: ShapeSurface::default(),
            known: HashMap::new(),
        }
    }

    fn core(&self, vertex: u32) -> DVec3 {
        DVec3::from(self.shape.vertices[vertex as usize])
    }

    /// The vertex of the surface beyond a vertex of the core, along a normal.
    fn vertex(&mut self, core: u32, normal: DVec3) -> u32 {
        let position = self.core(core) + self.shape.rounding * normal;
        let surface = &mut self.surface;
        let key = (core, normal.to_array().map(f64::to_bits));
        *self.known.entry(key).or_insert_with(|| {
            surface.position.push(position.to_array());
            surface.normal.push(normal.to_array());
            surface.position.len() as u32 - 1
        })
    }

    /// The strip along an edge of the core, from the normal of the face on its left to that on its right, seen from outside along the edge.
    fn add_edge(&mut self, [from, to]: [u32; 2], [left, right]: [DVec3; 2]) {
        let parts = self.parts;
        let normal = |k: u32| between([(parts - k, left), (k, right), (0, DVec3::ZERO)]);
        for k in 0..parts {
            let [here, next] = [normal(k), normal(k + 1)];
            let [a, b] = [self.vertex(from, here), self.vertex(from, next)];
            let [c, d] = [self.vertex(to, next), self.vertex(to, here)];
            self.surface.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }

    /// The part of a sphere about a vertex of the core between three normals, counterclockwise seen from outside.
    fn add_corner(&mut self, core: u32, [a, b, c]: [DVec3; 3]) {
        let parts = self.parts;
        let normal = |i: u32, j: u32| between([(parts - i - j, a), (i, b), (j, c)]);
        for i in 0..parts {
            for j in 0..parts - i {
                let [first, second, third] = [[i, j], [i + 1, j], [i, j + 1]].map(|[i, j]| self.vertex(core, normal(i, j)));
                self.surface.triangles.push([first, second, third]);
                if i + j + 2 <= parts {
                    let fourth = self.vertex(core, normal(i + 1, j + 1));
                    self.surface.triangles.push([second, fourth, third]);
                }
            }
        }
    }

    /// A core that is a segment or a point.
    fn add_capsule(&mut self) {
        let (first, last) = (0, self.shape.vertices.len() as u32 - 1);
        let axis = (self.core(last) - self.core(first)).try_normalize().unwrap_or(DVec3::Z);
        let u = axis.any_orthonormal_vector();
        let w = axis.cross(u);
        let around = [u, w, -u, -w];
        for k in 0..4 {
            let [here, next] = [around[k], around[(k + 1) % 4]];
            self.add_corner(last, [axis, here, next]);
            self.add_corner(first, [-axis, next, here]);
            if first != last {
                self.add_edge([first, last], [here, next]);
            }
        }
    }

    fn add_polyhedron(&mut self) {
        let shape = self.shape;
        let normals: Vec<DVec3> = shape.faces.iter().map(|face| self.normal_of(face)).collect();
        // The face on the left of each edge, by the ends of the edge in its direction, and the end before the edge.
        let mut left: BTreeMap<[u32; 2], (usize, u32)> = BTreeMap::new();
        for (face, corners) in shape.faces.iter().enumerate() {
            let count = corners.len();
            for k in 0..count {
                let before = corners[(k + count - 1) % count];
                left.insert([corners[k], corners[(k + 1) % count]], (face, before));
            }
        }
        for (corners, &normal) in shape.faces.iter().zip(&normals) {
            let around: Vec<u32> = corners.iter().map(|&corner| self.vertex(corner, normal)).collect();
            let fan = around[1..].windows(2).map(|pair| [around[0], pair[0], pair[1]]);
            self.surface.triangles.extend(fan);
        }
        for (&[from, to], &(face, _)) in left.iter().filter(|([from, to], _)| from < to) {
            if let Some(&(other, _)) = left.get(&[to, from]) {
                self.add_edge([from, to], [normals[face], normals[other]]);
            }
        }
        for core in 0..shape.vertices.len() as u32 {
            let around: Vec<DVec3> = faces_around(core, &left).into_iter().map(|face| normals[face]).collect();
            if let [a, b, c] = around[..] {
                self.add_corner(core, [a, b, c]);
                continue;
            }
            let middle = around.iter().sum::<DVec3>().normalize_or_zero();
            for k in 0..around.len() {
                self.add_corner(core, [middle, around[k], around[(k + 1) % around.len()]]);
            }
        }
    }

    /// Faces that are further outside by the rounding radius, with a normal of their own.
    fn add_sharp_faces(&mut self) {
        let shape = self.shape;
        let normals: Vec<DVec3> = shape.faces.iter().map(|face| self.normal_of(face)).collect();
        // Sums of the normals around each vertex, and their numbers.
        let mut around = vec![(DVec3::ZERO, 0.0); shape.vertices.len()];
        for (corners, normal) in shape.faces.iter().zip(&normals) {
            for &corner in corners {
                let (sum, count) = &mut around[corner as usize];
                *sum += *normal;
                *count += 1.0;
            }
        }
        // Planes at the distance one with n unit normals, whose sum is s, meet at n s/|s|², if all are as steep.
        let outward = |corner: u32| {
            let (sum, count) = around[corner as usize];
            let length: f64 = sum.length();
            sum.normalize_or_zero() * (count / length).min(SHARPEST)
        };
        for (corners, &normal) in shape.faces.iter().zip(&normals) {
            let first = self.surface.position.len() as u32;
            for &corner in corners {
                let position = self.core(corner) + shape.rounding * outward(corner);
                self.surface.position.push(position.to_array());
                self.surface.normal.push(normal.to_array());
            }
            let fan = (1..corners.len() as u32 - 1).map(|k| [first, first + k, first + k + 1]);
            self.surface.triangles.extend(fan);
        }
    }

    /// Outward unit normal of a face.
    fn normal_of(&self, face: &[u32]) -> DVec3 {
        let start = self.core(face[0]);
        let area = |pair: &[u32]| (self.core(pair[0]) - start).cross(self.core(pair[1]) - start);
        face[1..].windows(2).map(area).sum::<DVec3>().normalize_or_zero()
    }
}

/// Faces around a vertex of the core, counterclockwise seen from outside. `left` has the face on the left of each edge, with the end before the edge.
/// Empty if the faces do not close.
fn faces_around(core: u32, left: &BTreeMap<[u32; 2], (usize, u32)>) -> Vec<usize> {
    let Some((&start, _)) = left.range([core, 0]..=[core, u32::MAX]).next() else {
        return Vec::new();
    };
    let (mut around, mut edge) = (Vec::new(), start);
    loop {
        let Some(&(face, before)) = left.get(&edge) else {
            return Vec::new();
        };
        if around.contains(&face) {
            return Vec::new();
        }
        around.push(face);
        // The edge into the vertex ends this face. Backward, it begins the next one.
        edge = [core, before];
        if edge == start {
            return around;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Polyhedron;
    use super::*;
    use crate::solid::solid_of_mesh;
    use std::collections::BTreeSet;

    fn shape_of(core: &Polyhedron, rounding: f64) -> PolyhedralShape {
        core.grain_shape("shape", rounding).unwrap().shape
    }

    /// Distance of a point from a box with these half edges.
    fn beyond(point: Vec3, half: Vec3) -> f64 {
        (DVec3::from(point).abs() - DVec3::from(half)).max(DVec3::ZERO).length()
    }

    #[test]
    fn surfaces_are_closed_and_enclose_the_volume_of_their_shape() {
        let mut random = 7u32;
        let mut share = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(random >> 8) / f64::from(1u32 << 24)
        };
        let cores = [
            (Polyhedron::block([4.0, 2.0, 1.0]).unwrap(), 0.3),
            (Polyhedron::block([2.0; 3]).unwrap(), 0.02),
            (Polyhedron::tetrahedron(1.0).unwrap(), 0.1),
            (Polyhedron::prism(1.0, 1.0, 12).unwrap(), 0.2),
            (Polyhedron::tablet(1.0, 0.5, 0.3, 12).unwrap(), 0.1),
            (Polyhedron::rock([1.0, 0.8, 0.7], 18, &mut share).unwrap(), 0.05),
            (Polyhedron::segment([DVec3::ZERO, DVec3::new(1.0, 2.0, -0.5)]), 0.4),
            (Polyhedron::point(DVec3::ONE), 0.5),
        ];
        for (core, rounding) in cores {
            let shape = shape_of(&core, rounding);
            assert_eq!(shape.flaw(), None);
            let found = ShapeSurface::of(&shape);
            let corners = |triangle: &[u32; 3]| triangle.map(|corner| found.position[corner as usize]);
            let triangles: Vec<[Vec3; 3]> = found.triangles.iter().map(corners).collect();
            let volume = solid_of_mesh(&triangles).volume;
            assert!((0.9..=1.0 + 1e-9).contains(&(volume / shape.volume)), "{volume} {}", shape.volume);
            let fine = ShapeSurface::fine(&shape);
            let corners = |triangle: &[u32; 3]| triangle.map(|corner| fine.position[corner as usize]);
            let volume = solid_of_mesh(&fine.triangles.iter().map(corners).collect::<Vec<_>>()).volume;
            assert!((0.97..=1.0 + 1e-9).contains(&(volume / shape.volume)), "{volume} {}", shape.volume);
            let mut edges = BTreeSet::new();
            for &[a, b, c] in &found.triangles {
                assert!(
                    [[a, b], [b, c], [c, a]].into_iter().all(|edge| edges.insert(edge)),
                    "an edge is used twice"
                );
            }
            assert!(edges.iter().all(|&[a, b]| edges.contains(&[b, a])), "the surface is open");
            // It bulges outward everywhere.
            for (&[a, b, c], triangle) in found.triangles.iter().zip(&triangles) {
                let [p, q, r] = triangle.map(DVec3::from);
                let outward = (q - p).cross(r - p);
                let normals = [a, b, c].map(|corner| DVec3::from(found.normal[corner as usize]));
                assert!(
                    normals
                        .iter()
                        .all(|normal| normal.dot(outward) >= 0.0 && (normal.length() - 1.0).abs() < 1e-12)
                );
            }
        }
    }

    #[test]
    fn sharp_surfaces_have_the_fewest_triangles_and_their_faces_where_they_are() {
        let volume_of = |found: &ShapeSurface| {
            let corners = |triangle: &[u32; 3]| triangle.map(|corner| found.position[corner as usize]);
            solid_of_mesh(&found.triangles.iter().map(corners).collect::<Vec<_>>()).volume
        };
        let block = Polyhedron::block([4.0, 2.0, 1.0]).unwrap().grain_shape("block", 0.3).unwrap();
        let found = ShapeSurface::sharp(&block.shape);
        assert_eq!((found.triangles.len(), found.position.len(), found.normal.len()), (12, 24, 24));
        let volume = volume_of(&found) * block.radius.powi(3);
        assert!((volume - 4.6 * 2.6 * 1.6).abs() < 1e-9, "{volume}");
        let tetrahedron = Polyhedron::tetrahedron(1.0).unwrap().grain_shape("tetrahedron", 0.1).unwrap();
        let found = ShapeSurface::sharp(&tetrahedron.shape);
        assert_eq!(found.triangles.len(), 4);
        // A face of a tetrahedron with the edge a is a/√24 from its center.
        let edge = 1.0 + 0.1 * 24f64.sqrt();
        let volume = volume_of(&found) * tetrahedron.radius.powi(3);
        assert!((volume - edge.powi(3) / 72f64.sqrt()).abs() < 1e-9, "{volume}");
        // A capsule stays round, with fewer triangles.
        let capsule = shape_of(&Polyhedron::segment([DVec3::ZERO, DVec3::X]), 0.3);
        let [fine, few] = [ShapeSurface::of(&capsule), ShapeSurface::sharp(&capsule)].map(|found| found.triangles.len());
        assert!(few > 0 && 2 * few < fine, "{few} {fine}");
    }

    #[test]
    fn vertices_are_on_the_round_surface_and_faces_are_flat() {
        let shape = shape_of(&Polyhedron::block([2.0, 4.0, 1.0]).unwrap(), 0.25);
        let found = ShapeSurface::of(&shape);
        let core = shape.vertices[0].map(f64::abs);
        for (&position, normal) in found.position.iter().zip(&found.normal) {
            assert!((beyond(position, core) - shape.rounding).abs() < 1e-12);
            let foot = [0, 1, 2].map(|axis| position[axis] - shape.rounding * normal[axis]);
            assert!(beyond(foot, core) < 1e-12);
        }
        // Six faces of two triangles have one normal at all corners.
        let is_flat = |triangle: &&[u32; 3]| {
            triangle
                .iter()
                .all(|&corner| found.normal[corner as usize] == found.normal[triangle[0] as usize])
        };
        assert_eq!(found.triangles.iter().filter(is_flat).count(), 12);
    }
}
