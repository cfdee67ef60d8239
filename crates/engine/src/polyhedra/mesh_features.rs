//! Corners and edges of walls from meshes that polyhedral grains can touch.

use crate::world::{Triangle, Vec3, Wall, WallShape, vector};
use seixo_laws::Vector3;
use seixo_sweeps::shape_meshes::{FEATURES, FIRST_OF_MESH, NO_FEATURE};
use std::collections::HashMap;

/// Largest sine of the angle between two triangles of one plane \[-\]: coordinates of STL files have seven digits.
const FLAT: f64 = 1e-4;

/// Corners and edges of a triangle of a mesh by their numbers in the mesh, or [`NO_FEATURE`]. An edge goes from the corner of its index to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TriangleFeatures {
    pub points: [u32; 3],
    pub edges: [u32; 3],
}

/// Features of all wall elements, without images beyond periodic sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeshFeatures {
    /// Words of each element, see [`FEATURES`].
    pub words: Vec<u32>,
}

/// Triangles at an edge.
#[derive(Default)]
struct Sides {
    /// Index of the triangle, and of the corner at which the edge starts.
    all: Vec<(usize, usize)>,
}

impl MeshFeatures {
    /// Those of the walls of a world, with the numbers of their elements.
    pub fn of(walls: &[Wall]) -> MeshFeatures {
        let mut features = MeshFeatures::default();
        for wall in walls {
            match &wall.shape {
                WallShape::Mesh(triangles) => features.push_mesh(triangles),
                WallShape::Round(frusta) => features.push_others(frusta.len()),
                WallShape::Plane { .. } | WallShape::Sphere { .. } => features.push_others(1),
            }
        }
        features
    }

    fn elements(&self) -> u32 {
        (self.words.len() / FEATURES) as u32
    }

    fn push_mesh(&mut self, triangles: &[Triangle]) {
        let first = self.elements();
        for (number, TriangleFeatures { points, edges }) in (0..).zip(of_mesh(triangles)) {
            self.words.extend(points.into_iter().chain(edges).chain([number, first]));
        }
    }

    fn push_others(&mut self, count: usize) {
        for _ in 0..count {
            let own = self.elements();
            self.words.extend([NO_FEATURE; FEATURES - 1].into_iter().chain([own]));
        }
    }

    /// The first element of the mesh of a wall element; the element itself if it is no triangle, as are all images beyond periodic sides.
    pub fn first_of(&self, element: u32) -> u32 {
        let word = self.words.get(element as usize * FEATURES + FIRST_OF_MESH);
        word.copied().unwrap_or(element)
    }

    /// Words of so many elements: those of the walls, and their images beyond periodic sides.
    pub fn words_of(&self, elements: usize) -> Vec<u32> {
        let mut all = self.clone();
        all.push_others(elements.saturating_sub(self.elements() as usize));
        all.words
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        self.words.capacity() as u64 * 4
    }
}

/// The bits of a point. The two zeros are one.
fn bits(point: &Vec3) -> [u64; 3] {
    point.map(|x| (x + 0.0).to_bits())
}

/// Edges are features unless two triangles of one plane meet there. Corners are features at the ends of such edges.
fn of_mesh(triangles: &[Triangle]) -> Vec<TriangleFeatures> {
    let mut known = HashMap::new();
    let corners: Vec<[u32; 3]> = triangles
        .iter()
        .map(|triangle| {
            [0, 1, 2].map(|k| {
                let next = known.len() as u32;
                *known.entry(bits(&triangle[k])).or_insert(next)
            })
        })
        .collect();
    let ends = |t: usize, k: usize| {
        let [a, b] = [corners[t][k], corners[t][(k + 1) % 3]];
        [a.min(b), a.max(b)]
    };
    let mut edges: HashMap<[u32; 2], Sides> = HashMap::new();
    for t in 0..triangles.len() {
        for k in 0..3 {
            edges.entry(ends(t, k)).or_default().all.push((t, k));
        }
    }
    let (mut of_edges, mut of_points) = (HashMap::new(), HashMap::new());
    for t in 0..triangles.len() {
        for k in 0..3 {
            let edge = ends(t, k);
            if edge[0] != edge[1] && !is_flat(&edges[&edge], triangles) {
                let next = of_edges.len() as u32;
                of_edges.entry(edge).or_insert(next);
                for point in edge {
                    let next = of_points.len() as u32;
                    of_points.entry(point).or_insert(next);
                }
            }
        }
    }
    let number = |found: Option<&u32>| found.copied().unwrap_or(NO_FEATURE);
    let of_triangle = |t: usize| TriangleFeatures {
        points: corners[t].map(|corner| number(of_points.get(&corner))),
        edges: [0, 1, 2].map(|k| number(of_edges.get(&ends(t, k)))),
    };
    (0..triangles.len()).map(of_triangle).collect()
}

/// Whether exactly two triangles meet at an edge, on its two sides in one plane.
fn is_flat(sides: &Sides, triangles: &[Triangle]) -> bool {
    let [one, other] = sides.all[..] else { return false };
    // From the edge to the third corner, across the edge.
    let across = |(t, k): (usize, usize)| {
        let [start, end, third] = [k, (k + 1) % 3, (k + 2) % 3].map(|corner| vector(triangles[t][corner]));
        let along = unit(&end.minus(&start));
        let arm = third.minus(&start);
        unit(&arm.minus(&along.times(arm.dot(&along))))
    };
    across(one).plus(&across(other)).length() < FLAT
}

fn unit(v: &Vector3<f64>) -> Vector3<f64> {
    let length = v.length();
    v.times(if length > 0.0 { 1.0 / length } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::WallMotion;

    #[test]
    fn elements_are_numbered_over_all_walls() {
        let [a, b, c, d] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let wall = |shape: WallShape| Wall {
            name: "wall".into(),
            material: 0,
            shape,
            motion: WallMotion::default(),
            specific_wear_rate: 0.0,
        };
        let plane = WallShape::Plane {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        };
        let features = MeshFeatures::of(&[wall(plane), wall(WallShape::Mesh(vec![[a, b, c], [a, c, d]]))]);
        assert_eq!([0, 1, 2].map(|element| features.first_of(element)), [0, 1, 1]);
        // Corners and edges of the second triangle, and its number.
        assert_eq!(features.words[2 * FEATURES..][..7], [0, 2, 3, NO_FEATURE, 2, 3, 1]);
    }

    #[test]
    fn edges_between_triangles_of_one_plane_are_no_features() {
        // A square of two triangles, and a third one that stands on its side.
        let [a, b, c, d, up] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]];
        let found = of_mesh(&[[a, b, c], [a, c, d], [b, a, up]]);
        // The diagonal is none. All corners are at the rim.
        assert_eq!(found[0].edges, [0, 1, NO_FEATURE]);
        assert_eq!(found[1].edges, [NO_FEATURE, 2, 3]);
        assert_eq!(found[2].edges, [0, 4, 5]);
        assert_eq!((found[0].points, found[2].points), ([0, 1, 2], [1, 0, 4]));
        // A fin whose two sides lie on each other has a sharp edge.
        assert_ne!(of_mesh(&[[a, b, c], [b, a, c]])[0].edges[0], NO_FEATURE);
    }

    #[test]
    fn a_corner_inside_of_a_plane_is_no_feature() {
        let middle = [0.5, 0.5, 0.0];
        let rim = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let fan: Vec<Triangle> = (0..4).map(|k| [rim[k], rim[(k + 1) % 4], middle]).collect();
        for features in of_mesh(&fan) {
            assert_eq!(features.points[2], NO_FEATURE);
            assert!(features.points[0] != NO_FEATURE && features.edges[0] != NO_FEATURE);
            assert_eq!(features.edges[1..], [NO_FEATURE; 2]);
        }
    }
}
