//! Concave meshes that are cut into convex parts.

use super::{At, at};
use crate::{
    assemble::CheckState,
    mesh_placement::{MeshPlacement, placed_mesh},
    schema::ShapeSection,
    vocabulary::WholeNumber,
};
use seixo_analysis::{ConvexParts, Polyhedron, Solid};

/// Overlap of two parts, in rounding radii: each is round over one of them beside its end, so that both are flush.
const OVERLAP: f64 = 2.0;

/// At most so many convex parts of the mesh of a section, and what the mesh encloses. The path of the mesh is made absolute, and notes are for the user.
pub(super) fn cut_mesh(
    name: &str,
    section: &mut ShapeSection,
    most: usize,
    rounding: f64,
    findings: &mut CheckState,
) -> Result<(Vec<Polyhedron>, Solid), At> {
    let whole = findings.absolute(section.mesh.as_deref().unwrap_or_default());
    let triangles = placed_mesh(&whole, &MeshPlacement::scaled(1.0)).map_err(|complaint| ("mesh", complaint))?;
    let mut found = ConvexParts::of_mesh(&triangles, most, rounding).map_err(at("mesh"))?;
    if let Some(WholeNumber(faces)) = section.faces {
        let (before, volume) = measured(found.parts())?;
        found.simplify(faces as usize).map_err(at("faces"))?;
        let (after, left) = measured(found.parts())?;
        if after < before {
            findings.notices.push(format!(
                "shape.{name}: {after} of {before} faces are left, with {:.1} % of the volume of the parts",
                100.0 * left / volume
            ));
        }
    }
    found.overlap(OVERLAP * rounding);
    let outside = found.outside().map_err(at("mesh"))?;
    findings.notices.push(format!(
        "shape.{name}: convex parts of the mesh: {}; they reach outside of it by {:.2} % of its volume, and by up to {:.2e} lengths",
        found.parts().len(),
        100.0 * outside.share,
        outside.distance
    ));
    section.mesh = Some(whole.display().to_string());
    Ok((found.parts().to_vec(), found.solid()))
}

/// Number of faces of all parts, and the sum of their volumes.
fn measured(parts: &[Polyhedron]) -> Result<(usize, f64), At> {
    let (mut faces, mut volume) = (0, 0.0);
    for part in parts {
        faces += part.faces().len();
        volume += part.swept(0.0).map_err(at("faces"))?.volume;
    }
    Ok((faces, volume))
}
