//! Concave meshes as unions of convex polyhedra.
//!
//! Again and again a plane cuts the part that fills the polyhedron around it least, as V-HACD \[Mamou 2016\] cuts voxels. Here the mesh itself is cut, as by
//! \[Wei 2022\], so a part is exact, and the planes of its own faces are tried, too. Then parts are joined where this costs least. No step depends on chance,
//! time or threads.

mod cuts;

use super::clipped::{ClippedMesh, HalfSpace};
use super::cut::corners_inside;
use super::{Polyhedron, PolyhedronError, PolyhedronFace, size_of};
use crate::solid::{Solid, solid_of_mesh};
use cuts::{Cutting, Part};
use glam::DVec3;
use seixo_engine::world::Triangle;

/// Share of the volume of the mesh by which the polyhedron around a part may be larger: such a part is as good as convex.
const CONVEX: f64 = 1e-3;
/// Share of a slab that must be inside of the mesh, where a part grows by it.
const MOSTLY: f64 = 0.98;

/// A closed mesh, and convex polyhedra whose union is nearly the same solid.
#[derive(Clone, Debug)]
pub struct ConvexParts {
    mesh: ClippedMesh,
    solid: Solid,
    parts: Vec<Polyhedron>,
}

/// By how much convex parts reach outside of their mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outside {
    /// Volume of the parts that is outside of the mesh, over the volume of the mesh. Where parts overlap there, it counts more than once.
    pub share: f64,
    /// Largest depth of the surface of the mesh inside of a part, at corners of triangles and in the middle of their sides and of themselves, in lengths.
    pub distance: f64,
}

impl ConvexParts {
    /// Cuts a closed mesh into at most so many parts, and takes the polyhedron around each. Parts share faces, and have room to be rounded by this radius,
    /// in lengths, if the mesh has. A convex mesh is one part. The largest part is first.
    ///
    /// # Errors
    /// As [`Polyhedron::around_mesh`], or if details of the mesh cannot be resolved.
    pub fn of_mesh(mesh: &[Triangle], most_parts: usize, rounding: f64) -> Result<ConvexParts, PolyhedronError> {
        let around = Polyhedron::around_mesh(mesh)?;
        let is_inward = solid_of_mesh(mesh).volume < 0.0;
        let outward: Vec<Triangle> = mesh
            .iter()
            .map(|&[a, b, c]| if is_inward { [a, c, b] } else { [a, b, c] })
            .collect();
        let solid = solid_of_mesh(&outward);
        let size = size_of(around.vertices.iter().copied());
        let whole = ClippedMesh::whole(&outward, solid.center, size);
        let excess = around.swept(0.0)?.volume - solid.volume;
        let part = Part {
            around,
            volume: solid.volume,
            excess,
        };
        let mut parts = Cutting::of(&whole, &solid, size, rounding).parts(part, most_parts);
        if parts.len() > most_parts.max(1) {
            return Err(PolyhedronError::Unresolved);
        }
        let lowest = |part: &Part| part.around.vertices[0].to_array();
        parts.sort_by(|a, b| {
            b.volume
                .total_cmp(&a.volume)
                .then_with(|| lowest(a).map(f64::to_bits).cmp(&lowest(b).map(f64::to_bits)))
        });
        Ok(ConvexParts {
            parts: parts.into_iter().map(|part| part.around).collect(),
            mesh: whole,
            solid,
        })
    }

    /// The parts.
    pub fn parts(&self) -> &[Polyhedron] {
        &self.parts
    }

    /// What the mesh encloses, whatever its parts are; exact but for rounding.
    pub fn solid(&self) -> Solid {
        self.solid
    }

    /// Leaves at most this many faces of each part, see [`Polyhedron::simplified`].
    ///
    /// # Errors
    /// As [`Polyhedron::simplified`].
    pub fn simplify(&mut self, most_faces: usize) -> Result<(), PolyhedronError> {
        for part in &mut self.parts {
            *part = part.simplified(most_faces)?;
        }
        Ok(())
    }

    /// Moves faces outward by a length where what a part gains is inside of the mesh. So parts that share a face overlap by this length, and are flush
    /// where they do if it is two radii by which edges are rounded.
    pub fn overlap(&mut self, length: f64) {
        let grown: Vec<Polyhedron> = self.parts.iter().map(|part| self.grown(part, length)).collect();
        self.parts = grown;
    }

    fn grown(&self, part: &Polyhedron, length: f64) -> Polyhedron {
        let mut grown = part.clone();
        let Ok(Solid { mut volume, center, .. }) = part.swept(0.0) else {
            return grown;
        };
        let mut planes: Vec<HalfSpace> = part.faces.iter().map(HalfSpace::behind).collect();
        for (k, face) in part.faces.iter().enumerate() {
            let corners = face.vertices.iter().map(|&vertex| part.vertices[vertex as usize]);
            let middle = corners.sum::<DVec3>() / face.vertices.len() as f64;
            if !self.mesh.holds(middle + face.normal * (0.5 * length)) {
                continue;
            }
            let mut moved = planes.clone();
            moved[k].offset += length;
            let Some((larger, solid)) = enclosed(&moved, center) else {
                continue;
            };
            let slab = self.mesh.inside(&planes[k].opposite()).inside(&moved[k]);
            let filled = moved.iter().fold(slab, |slab, plane| slab.inside(plane)).volume();
            if filled >= MOSTLY * (solid.volume - volume) {
                (grown, volume, planes) = (larger, solid.volume, moved);
            }
        }
        grown
    }

    /// By how much the parts reach outside of the mesh.
    ///
    /// # Errors
    /// As [`Polyhedron::swept`].
    pub fn outside(&self) -> Result<Outside, PolyhedronError> {
        let mut volume = 0.0;
        for part in &self.parts {
            let behind = |mesh: ClippedMesh, face: &PolyhedronFace| mesh.inside(&HalfSpace::behind(face));
            let inside = part.faces.iter().fold(self.mesh.clone(), behind).volume();
            volume += (part.swept(0.0)?.volume - inside).max(0.0);
        }
        let mut distance = 0.0;
        for &[a, b, c] in &self.mesh.surface {
            for point in [a, b, c, 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a), (a + b + c) / 3.0] {
                distance = self.parts.iter().fold(distance, |most, part| depth_in(part, point, most).max(most));
            }
        }
        Ok(Outside {
            share: volume / self.solid.volume,
            distance,
        })
    }
}

/// Depth of a point under the faces of a polyhedron; something smaller if it is below `least`.
fn depth_in(part: &Polyhedron, point: DVec3, least: f64) -> f64 {
    let mut depth = f64::INFINITY;
    for face in &part.faces {
        depth = depth.min(face.offset - face.normal.dot(point));
        if depth <= least {
            break;
        }
    }
    depth
}

/// The polyhedron that planes enclose, and its solid. `center` is inside of it.
fn enclosed(planes: &[HalfSpace], center: DVec3) -> Option<(Polyhedron, Solid)> {
    let about: Vec<(DVec3, f64)> = planes.iter().map(|plane| (plane.normal, -plane.height(center))).collect();
    let corners: Vec<DVec3> = corners_inside(&about).ok()?.into_iter().map(|corner| corner + center).collect();
    let polyhedron = Polyhedron::around(&corners).ok()?;
    let solid = polyhedron.swept(0.0).ok()?;
    Some((polyhedron, solid))
}

#[cfg(test)]
mod tests;
