//! Triangles of walls and bodies as a surface: smooth normals where it bends gently, edges where it is sharp or ends.

use std::collections::{BTreeMap, HashMap};

use glam::DVec3;

/// Cosine of the angle between neighboring triangles from which on their common side is an edge.
const SHARP: f64 = 0.82;

/// Corners and edges of a set of triangles.
#[derive(Default)]
pub struct Surface {
    /// Position and unit normal of the three corners of each triangle.
    pub triangles: Vec<[(DVec3, DVec3); 3]>,
    /// Sides that are sharp or belong to one triangle only.
    pub edges: Vec<[DVec3; 2]>,
}

impl Surface {
    /// The surface of these triangles; those without an area are left out.
    pub fn new(triangles: &[[DVec3; 3]]) -> Surface {
        let flat: Vec<([DVec3; 3], DVec3)> = triangles
            .iter()
            .filter_map(|&corners| Some((corners, (corners[1] - corners[0]).cross(corners[2] - corners[0]).try_normalize()?)))
            .collect();
        let extent = flat
            .iter()
            .flat_map(|(corners, _)| corners)
            .fold(0.0, |extent: f64, corner| extent.max(corner.abs().max_element()));
        // Corners written with few digits meet after rounding to a millionth of the scene.
        let grain = (extent * 1e-6).max(f64::MIN_POSITIVE);
        let key = |corner: DVec3| (corner / grain).round().to_array().map(|c| c as i64);
        let mut around: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
        let mut sides: BTreeMap<[[i64; 3]; 2], Side> = BTreeMap::new();
        for (index, (corners, normal)) in flat.iter().enumerate() {
            for (i, &corner) in corners.iter().enumerate() {
                let next = corners[(i + 1) % 3];
                around.entry(key(corner)).or_default().push(index);
                let mut ends = [key(corner), key(next)];
                ends.sort_unstable();
                sides
                    .entry(ends)
                    .and_modify(|side| side.is_edge = normal.dot(side.normal).abs() < SHARP)
                    .or_insert(Side {
                        ends: [corner, next],
                        normal: *normal,
                        is_edge: true,
                    });
            }
        }
        let smooth = |corner: DVec3, normal: DVec3| {
            let near = around[&key(corner)]
                .iter()
                .map(|&other| flat[other].1)
                .filter(|other| other.dot(normal).abs() > SHARP);
            near.map(|other| other * other.dot(normal).signum())
                .sum::<DVec3>()
                .normalize_or(normal)
        };
        let edges = sides.into_values().filter(|side| side.is_edge).map(|side| side.ends).collect();
        Surface {
            triangles: flat
                .iter()
                .map(|&(corners, normal)| corners.map(|corner| (corner, smooth(corner, normal))))
                .collect(),
            edges,
        }
    }
}

/// A mesh with normals that are smooth where it bends gently.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmoothMesh {
    /// Vertices: corners that have place and normal in common are one.
    pub position: Vec<[f64; 3]>,
    /// Unit normals at these.
    pub normal: Vec<[f64; 3]>,
    /// Triangles, by their vertices.
    pub triangles: Vec<[u32; 3]>,
}

impl SmoothMesh {
    /// That of these triangles; those without an area are left out.
    pub fn new(triangles: &[[[f64; 3]; 3]]) -> SmoothMesh {
        let corners: Vec<[DVec3; 3]> = triangles.iter().map(|corners| corners.map(DVec3::from)).collect();
        let (mut mesh, mut known) = (SmoothMesh::default(), HashMap::new());
        for corners in Surface::new(&corners).triangles {
            let triangle = corners.map(|(corner, normal)| {
                // Normals that differ by rounding are one.
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

/// A side of a triangle, with the normal of the first triangle that has it.
struct Side {
    ends: [DVec3; 2],
    normal: DVec3,
    is_edge: bool,
}
