//! The possible uses of a mesh in a scene.

use crate::{
    fill::{Enclosed, Mesh},
    walls::without_area,
};
use seixo_engine::{voxels::Edges, world::Triangle};
use seixo_files::mesh_in::degenerate;

/// The possible uses of a mesh in a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshUses {
    /// As a wall: if any of its triangles has an area.
    pub wall: bool,
    /// As the shape of a body of spheres. Its mass follows from the mesh if that encloses a volume, else from the spheres.
    pub body: bool,
    /// As a region to fill: if it encloses a volume.
    pub region: bool,
    /// The same in words, with the reason against each impossible use.
    pub summary: String,
}

/// The possible uses of a mesh.
pub fn uses_of_mesh(mesh: &[Triangle]) -> MeshUses {
    if degenerate(mesh).len() == mesh.len() {
        return MeshUses {
            wall: false,
            body: false,
            region: false,
            summary: format!("usable for nothing: {}", without_area().message),
        };
    }
    let edges = Edges::of(mesh);
    let closed = match (edges.open, edges.is_oriented()) {
        (0, true) => "closed and oriented",
        (0, false) => "closed, not oriented",
        (_, true) => "not closed",
        (_, false) => "neither closed nor oriented",
    };
    let enclosed = Mesh::enclosed_by(mesh.to_vec());
    let uses = match &enclosed {
        Ok(Enclosed { turned: 0, .. }) => "usable as wall, as body and as region to fill".to_owned(),
        Ok(Enclosed { turned, .. }) => format!(
            "usable as wall, and, with {turned} of {} triangles taken turned over, as body and as region to fill",
            mesh.len()
        ),
        Err(flaw) => format!(
            "usable as wall, and as body with the mass of its spheres; not as region to fill, nor as body with the mass of the mesh: {}; {}",
            flaw.message, flaw.remedy
        ),
    };
    MeshUses {
        wall: true,
        body: true,
        region: enclosed.is_ok(),
        summary: format!("{closed}: {uses}"),
    }
}
