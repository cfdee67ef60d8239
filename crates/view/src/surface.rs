//! Triangles of walls and bodies as a surface, with smooth normals at gentle bends and edges at sharp bends and boundaries.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use glam::DVec3;

/// Cosine of the angle between neighboring triangles below which their common side is an edge.
const SHARP: f64 = 0.82;
/// Distance at which corners count as equal, over the size of the scene: files may contain few digits.
const NEAR: f64 = 1e-6;

/// Corners and edges of a set of triangles.
#[derive(Default)]
pub struct Surface {
    /// Position and unit normal of the three corners of each triangle.
    pub triangles: Vec<[(DVec3, DVec3); 3]>,
    /// Sides that are sharp or belong to only one triangle.
    pub edges: Vec<[DVec3; 2]>,
    seams: Seams,
}

impl Surface {
    /// The surface of these triangles, without those of zero area.
    pub fn new(triangles: &[[DVec3; 3]]) -> Surface {
        Surface::default().moved(triangles)
    }

    /// The surface of these triangles. If they are those of this surface, moved, its topology is reused, which takes longest to compute. Walls that
    /// touch others on their way are not merged with them.
    pub fn moved(self, triangles: &[[DVec3; 3]]) -> Surface {
        let flat: Vec<Flat> = triangles.iter().filter_map(Flat::of).collect();
        let sizes = flat.iter().flat_map(|flat| flat.corners).map(|corner| corner.abs().max_element());
        let near = (NEAR * sizes.fold(0.0, f64::max)).max(f64::MIN_POSITIVE);
        let seams = if self.seams.hold(&flat, near) {
            self.seams
        } else {
            Seams::of(&flat, near)
        };
        let is_edge = |side: &&Side| match side.last {
            Some(last) => flat[last as usize].normal.dot(flat[side.start as usize / 3].normal).abs() < SHARP,
            None => true,
        };
        let smooth = |vertex: u32, normal: DVec3| {
            let normals = seams.around(vertex).iter().map(|&triangle| flat[triangle as usize].normal);
            let near = normals.filter(|other| other.dot(normal).abs() > SHARP);
            near.map(|other| other * other.dot(normal).signum())
                .sum::<DVec3>()
                .normalize_or(normal)
        };
        let corners = flat.iter().zip(&seams.vertices);
        Surface {
            triangles: corners
                .map(|(&Flat { corners, normal }, vertices)| [0, 1, 2].map(|i| (corners[i], smooth(vertices[i], normal))))
                .collect(),
            edges: seams.sides.iter().filter(is_edge).map(|side| side.ends(&flat)).collect(),
            seams,
        }
    }
}

/// A triangle of nonzero area with its unit normal.
struct Flat {
    corners: [DVec3; 3],
    normal: DVec3,
}

impl Flat {
    fn of(&corners: &[DVec3; 3]) -> Option<Flat> {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).try_normalize()?;
        Some(Flat { corners, normal })
    }
}

/// Topology of a set of triangles.
#[derive(Default)]
struct Seams {
    /// Vertex index of each corner.
    vertices: Vec<[u32; 3]>,
    /// Triangles grouped by vertex, and the start of each group.
    around: Vec<u32>,
    begins: Vec<usize>,
    sides: Vec<Side>,
}

/// A side of one or more triangles.
struct Side {
    /// Start of the side in its first triangle: three times the triangle plus the corner from which it leads to the next corner.
    start: u32,
    /// The last other triangle with this side.
    last: Option<u32>,
}

impl Side {
    fn ends(&self, flat: &[Flat]) -> [DVec3; 2] {
        let (triangle, corner) = (self.start as usize / 3, self.start as usize % 3);
        [corner, (corner + 1) % 3].map(|corner| flat[triangle].corners[corner])
    }
}

impl Seams {
    fn of(flat: &[Flat], near: f64) -> Seams {
        let mut known: HashMap<[i64; 3], u32> = HashMap::new();
        let mut vertex = |corner: DVec3| {
            let next = known.len() as u32;
            *known.entry((corner / near).round().to_array().map(|c| c as i64)).or_insert(next)
        };
        let vertices: Vec<[u32; 3]> = flat.iter().map(|flat| flat.corners.map(&mut vertex)).collect();

        let mut begins = vec![0; known.len() + 1];
        for &vertex in vertices.as_flattened() {
            begins[vertex as usize + 1] += 1;
        }
        for vertex in 1..begins.len() {
            begins[vertex] += begins[vertex - 1];
        }
        let mut next = begins.clone();
        let mut around = vec![0; 3 * vertices.len()];
        let mut sides = Vec::new();
        let mut side_between: HashMap<[u32; 2], usize> = HashMap::new();
        for (triangle, corners) in vertices.iter().enumerate() {
            for (i, &vertex) in corners.iter().enumerate() {
                around[next[vertex as usize]] = triangle as u32;
                next[vertex as usize] += 1;
                let mut ends = [vertex, corners[(i + 1) % 3]];
                ends.sort_unstable();
                match side_between.entry(ends) {
                    Entry::Vacant(free) => {
                        free.insert(sides.len());
                        sides.push(Side {
                            start: (3 * triangle + i) as u32,
                            last: None,
                        });
                    }
                    Entry::Occupied(side) => sides[*side.get()].last = Some(triangle as u32),
                }
            }
        }
        Seams {
            vertices,
            around,
            begins,
            sides,
        }
    }

    /// The triangles at a vertex.
    fn around(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.around[self.begins[vertex]..self.begins[vertex + 1]]
    }

    /// Whether the topology also holds for these triangles.
    fn hold(&self, flat: &[Flat], near: f64) -> bool {
        let mut places = vec![DVec3::NAN; self.begins.len()];
        let mut meets = |vertex: u32, corner: DVec3| {
            let place = &mut places[vertex as usize];
            if place.is_nan() {
                *place = corner;
            }
            (*place - corner).abs().max_element() <= 2.0 * near
        };
        let corners = |(flat, vertices): (&Flat, &[u32; 3])| (0..3).all(|i| meets(vertices[i], flat.corners[i]));
        flat.len() == self.vertices.len() && flat.iter().zip(&self.vertices).all(corners)
    }
}

/// A mesh with normals that are smooth at gentle bends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmoothMesh {
    /// Vertices; corners with equal position and normal share one.
    pub position: Vec<[f64; 3]>,
    /// Unit normals at the vertices.
    pub normal: Vec<[f64; 3]>,
    /// Triangles as vertex indices.
    pub triangles: Vec<[u32; 3]>,
}

impl SmoothMesh {
    /// The mesh of these triangles, without those of zero area.
    pub fn new(triangles: &[[[f64; 3]; 3]]) -> SmoothMesh {
        let corners: Vec<[DVec3; 3]> = triangles.iter().map(|corners| corners.map(DVec3::from)).collect();
        let (mut mesh, mut known) = (SmoothMesh::default(), HashMap::new());
        for corners in Surface::new(&corners).triangles {
            let triangle = corners.map(|(corner, normal)| {
                // Normals that differ only by rounding are equal.
                let rounded = normal.as_vec3().to_array().map(f32::to_bits);
                *known.entry((corner.to_array().map(f64::to_bits), rounded)).or_insert_with(|| {
                    mesh.position.push(corner.to_array());
                    mesh.normal.push(normal.to_array());
                    mesh.position.len() as u32 - 1
                })
            });
            mesh.triangles.push(triangle);
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    /// Two plates with a common side, bent by this angle \[rad\].
    fn hinge(angle: f64) -> Vec<[DVec3; 3]> {
        let (sine, cosine) = angle.sin_cos();
        let end = DVec3::new(-cosine, 0.5, sine);
        vec![[DVec3::ZERO, DVec3::X, DVec3::Y], [DVec3::ZERO, DVec3::Y, end]]
    }

    fn assert_same(surface: &Surface, expected: &Surface) {
        assert_eq!(surface.triangles, expected.triangles);
        assert_eq!(surface.edges, expected.edges);
    }

    #[test]
    fn a_box_that_turns_keeps_its_twelve_edges() {
        let corner = |k: usize| DVec3::new((k & 1) as f64, 0.7 * (k >> 1 & 1) as f64, 0.3 * (k >> 2) as f64);
        let faces = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
        let halves = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        let still: Vec<[DVec3; 3]> = halves.map(|corners| corners.map(corner)).collect();
        let mut surface = Surface::new(&still);
        for turn in 1..=5 {
            let about = DQuat::from_rotation_y(0.4 * f64::from(turn)) * DQuat::from_rotation_x(0.9);
            let turned: Vec<_> = still
                .iter()
                .map(|corners| corners.map(|corner| about * corner + DVec3::X))
                .collect();
            surface = surface.moved(&turned);
            assert_eq!((surface.triangles.len(), surface.edges.len()), (12, 12));
            // The faces are flat: their normals are those of the box.
            let along = surface.triangles.iter().flatten().map(|&(_, normal)| about.inverse() * normal);
            along.for_each(|normal| assert!((normal.abs().max_element() - 1.0).abs() < 1e-12, "{normal}"));
            assert_same(&surface, &Surface::new(&turned));
        }
    }

    #[test]
    fn what_bends_tears_or_is_another_gets_the_surface_that_it_has_then() {
        let flat = Surface::new(&hinge(0.0));
        assert_eq!(flat.edges.len(), 4);
        let bent = flat.moved(&hinge(1.0));
        assert_eq!(bent.edges.len(), 5);
        let mut torn = hinge(0.0);
        torn[1].iter_mut().for_each(|corner| corner.z += 0.1);
        let torn_surface = bent.moved(&torn);
        assert_eq!(torn_surface.edges.len(), 6);
        assert_same(&torn_surface, &Surface::new(&torn));
        assert_same(&torn_surface.moved(&hinge(0.3)[..1]), &Surface::new(&hinge(0.3)[..1]));
    }
}
