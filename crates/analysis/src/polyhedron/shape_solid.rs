//! How much of a grain with a shape is in half spaces.

use super::ShapeSurface;
use super::clipped::{ClippedMesh, Corners, HalfSpace};
use glam::DVec3;
use seixo_engine::world::{PolyhedralShape, Triangle};

/// Share by which the volume of a shape may differ from what its surface encloses if only the triangles of its edges make the difference.
const ALIKE: f64 = 0.05;

/// A shape of polyhedral grains as what its surface encloses, in scales about its center of mass.
pub(crate) struct ShapeSolid {
    mesh: ClippedMesh,
    /// Area of the mesh, and the volume inside of it.
    area: f64,
    enclosed: f64,
    /// Volume of the shape.
    volume: f64,
    /// Whether the shape is what the mesh encloses: one part, and not hollow.
    is_enclosed: bool,
}

fn area(triangles: &[Corners]) -> f64 {
    let twice = |[a, b, c]: &Corners| (*b - *a).cross(*c - *a).length();
    0.5 * triangles.iter().map(twice).sum::<f64>()
}

impl ShapeSolid {
    /// The solid of a shape without a flaw.
    pub fn of(shape: &PolyhedralShape) -> ShapeSolid {
        let ShapeSurface { position, triangles, .. } = ShapeSurface::fine(shape);
        let corners = |triangle: &[u32; 3]| triangle.map(|corner| position[corner as usize]);
        let triangles: Vec<Triangle> = triangles.iter().map(corners).collect();
        let mesh = ClippedMesh::whole(&triangles, DVec3::ZERO, 2.0);
        let enclosed = mesh.volume();
        ShapeSolid {
            area: area(&mesh.surface),
            enclosed,
            volume: shape.volume,
            is_enclosed: shape.parts.is_empty() && (shape.volume / enclosed - 1.0).abs() <= ALIKE,
            mesh,
        }
    }

    /// Its volume where n·x ≤ d for all of these outward unit normals n and distances d, in scales and scales³. What it is in half spaces that fill space
    /// adds up to its volume.
    ///
    /// Round edges are between triangles inside of them: what these lack is spread over the surface, so that a cut that meets flat faces only is exact.
    /// A shape of several parts, or with the volume of another solid, is spread evenly over the inside of its parts.
    pub fn volume_inside(&self, half_spaces: &[(DVec3, f64)]) -> f64 {
        let mut part = self.mesh.clone();
        for &(normal, offset) in half_spaces {
            part = part.inside(&HalfSpace { normal, offset });
        }
        let volume = part.volume();
        if self.is_enclosed {
            volume + (self.volume - self.enclosed) * area(&part.surface) / self.area
        } else {
            volume * self.volume / self.enclosed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Polyhedron;
    use super::*;

    #[test]
    fn parts_that_fill_space_add_up_and_cuts_through_faces_are_exact() {
        let die = Polyhedron::block([13.0; 3]).unwrap().grain_shape("die", 1.5).unwrap();
        let capsule = Polyhedron::segment([DVec3::NEG_Z, DVec3::Z]).grain_shape("capsule", 0.5).unwrap();
        for shape in [&die.shape, &capsule.shape] {
            let solid = ShapeSolid::of(shape);
            for (normal, offset) in [(DVec3::X, 0.1), (DVec3::new(0.6, 0.0, 0.8), -0.3), (DVec3::Y, 0.0)] {
                let [below, above] = [(normal, offset), (-normal, -offset)].map(|cut| solid.volume_inside(&[cut]));
                assert!(((below + above) / shape.volume - 1.0).abs() < 1e-12, "{below} {above}");
                assert!(offset != 0.0 || (below / above - 1.0).abs() < 1e-9, "{below} {above}");
            }
        }
        // The middle half of a die, between planes that leave its round edges outside.
        let cube: [(DVec3, f64); 6] = std::array::from_fn(|face| {
            let normal = if face < 3 { DVec3::AXES[face] } else { -DVec3::AXES[face - 3] };
            (die.rotation.transpose() * normal, 4.0 / die.radius)
        });
        let inside = ShapeSolid::of(&die.shape).volume_inside(&cube) * die.radius.powi(3);
        assert!((inside - 512.0).abs() < 1e-6, "{inside}");
    }

    #[test]
    fn a_hollow_shape_has_its_own_volume() {
        let block = Polyhedron::block([2.0; 3]).unwrap();
        let mut shape = block.grain_shape("crate", 0.1).unwrap().shape;
        shape.volume *= 0.25;
        let half = ShapeSolid::of(&shape).volume_inside(&[(DVec3::X, 0.0)]);
        assert!((half / shape.volume - 0.5).abs() < 1e-9, "{half}");
    }
}
