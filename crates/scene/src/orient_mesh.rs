//! Orientation of closed meshes whose triangles do not agree about the outside.

use crate::{diagnostics::UnlocatedDiagnostic, fill::Mesh};
use glam::DVec3;
use seixo_analysis::solid_of_mesh;
use seixo_engine::voxels::{Edges, NonManifoldEdge, Parts, is_collapsed};
use seixo_engine::world::Triangle;

/// Volume over the cube of the longest side that is only rounding error.
pub(crate) const NO_VOLUME: f64 = 1e-12;
/// Number of triangles of a part that vote whether it is inside of another one.
const SAMPLES: usize = 16;

/// A part of a mesh that is closed by itself.
#[derive(Default)]
struct Part {
    /// Its triangles, all facing the same side.
    triangles: Vec<Triangle>,
    /// Their indices in the mesh, and whether they face the other side there.
    places: Vec<(usize, bool)>,
}

impl Part {
    fn turn(&mut self) {
        self.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        self.places.iter_mut().for_each(|(_, is_over)| *is_over = !*is_over);
    }

    /// Number of triangles that face the other side in the mesh.
    fn over(&self) -> usize {
        self.places.iter().filter(|(_, is_over)| *is_over).count()
    }

    /// Corners of the box around it.
    fn bounds(&self) -> [DVec3; 2] {
        let corners = || self.triangles.iter().flatten().map(|corner| DVec3::from(*corner));
        [
            corners().fold(DVec3::INFINITY, DVec3::min),
            corners().fold(DVec3::NEG_INFINITY, DVec3::max),
        ]
    }

    /// Flips it as a whole so that it faces outward; if it encloses no volume, so that fewer of its triangles are flipped.
    fn face_outward(&mut self) {
        let [low, high] = self.bounds();
        let volume = solid_of_mesh(&self.triangles).volume;
        let is_over = if volume.abs() > NO_VOLUME * (high - low).max_element().powi(3) {
            volume < 0.0
        } else {
            2 * self.over() > self.places.len()
        };
        if is_over {
            self.turn();
        }
    }

    /// Centers of some of its triangles.
    fn middles(&self) -> impl Iterator<Item = DVec3> {
        let step = self.triangles.len().div_ceil(SAMPLES).max(1);
        let chosen = self.triangles.iter().step_by(step);
        chosen.map(|[a, b, c]| (DVec3::from(*a) + DVec3::from(*b) + DVec3::from(*c)) / 3.0)
    }
}

/// Flips the triangles of a closed mesh that face the wrong side, and returns their number.
///
/// Each part that is connected by edges is oriented as a whole so that it faces outward. A part inside of another is a hollow if most or half of its
/// triangles indicate it: if they face inward or, where all triangles around it are inside out, outward. A mesh whose triangles are all inside out is
/// left unchanged: its volume is negative. An open mesh is left unchanged, too, as well as one whose edges of more than two triangles are balanced,
/// but not those of each part.
///
/// # Errors
/// If the triangles of a closed mesh cannot be oriented consistently.
pub(crate) fn turn_outward(mesh: &mut [Triangle], edges: &Edges) -> Result<usize, UnlocatedDiagnostic> {
    if edges.open > 0 {
        return Ok(0);
    }
    let places: Vec<usize> = (0..mesh.len()).filter(|&place| !is_collapsed(&mesh[place])).collect();
    let triangles: Vec<Triangle> = places.iter().map(|&place| mesh[place]).collect();
    let found = Parts::of(&triangles);
    if let Some(edge) = &found.one_sided {
        return Err(one_sided(edge));
    }
    let mut parts: Vec<Part> = (0..found.count()).map(|_| Part::default()).collect();
    for ((place, triangle), (part, is_over)) in places.iter().zip(triangles).zip(found.triangles) {
        let [a, b, c] = triangle;
        parts[part].triangles.push(if is_over { [a, c, b] } else { [a, b, c] });
        parts[part].places.push((*place, is_over));
    }
    if let Some(edge) = &edges.first_with_too_many_faces
        && parts.iter().any(|part| !Edges::of(&part.triangles).is_closed())
    {
        return if edges.turned > 0 {
            Err(not_manifold(edge, DVec3::ZERO))
        } else {
            Ok(0)
        };
    }
    parts.iter_mut().for_each(Part::face_outward);
    let is_hollow = hollows(&parts);
    let hollow = parts.iter_mut().zip(is_hollow).filter(|(_, is_hollow)| *is_hollow);
    hollow.for_each(|(part, _)| part.turn());
    let turned: Vec<usize> = parts
        .iter()
        .flat_map(|part| &part.places)
        .filter(|(_, is_over)| *is_over)
        .map(|(place, _)| *place)
        .collect();
    if turned.len() == places.len() {
        return Ok(0);
    }
    turned.iter().for_each(|&place| mesh[place].swap(1, 2));
    Ok(turned.len())
}

/// The parts that are hollows inside of others; all face outward.
fn hollows(parts: &[Part]) -> Vec<bool> {
    let bounds: Vec<[DVec3; 2]> = parts.iter().map(Part::bounds).collect();
    let mut trees: Vec<Option<Mesh>> = parts.iter().map(|_| None).collect();
    let mut around: Vec<Vec<usize>> = Vec::with_capacity(parts.len());
    for (inner, [low, high]) in bounds.iter().enumerate() {
        let is_around = |outer: &usize| {
            let [its_low, its_high] = bounds[*outer];
            *outer != inner && its_low.cmple(*low).all() && its_high.cmpge(*high).all()
        };
        let boxed: Vec<usize> = (0..parts.len()).filter(is_around).collect();
        let holds = |outer: &usize| {
            let tree = trees[*outer].get_or_insert_with(|| Mesh::of(&parts[*outer].triangles));
            parts[inner].middles().all(|middle| tree.is_inside(middle) == Some(true))
        };
        around.push(boxed.into_iter().filter(holds).collect());
    }
    let is_hollow = |(part, around_it): (&Part, &Vec<usize>)| {
        let Some(first) = around_it.first() else { return false };
        let outermost = around_it.iter().find(|&&outer| around[outer].is_empty()).unwrap_or(first);
        let is_inside_out = parts[*outermost].over() == parts[*outermost].places.len();
        match (2 * part.over()).cmp(&part.places.len()) {
            std::cmp::Ordering::Equal => true,
            most => most.is_gt() != is_inside_out,
        }
    };
    parts.iter().zip(&around).map(is_hollow).collect()
}

/// The note about a mesh of which some triangles were flipped.
pub(crate) fn notice(turned: usize, all: usize) -> String {
    format!("{turned} of {all} triangles of the closed mesh face the wrong side: they are taken turned over")
}

fn one_sided(edge: &NonManifoldEdge) -> UnlocatedDiagnostic {
    let message = format!(
        "the mesh has one side only, like a Möbius strip: its triangles cannot agree which is outside at the edge {}",
        between(edge, DVec3::ZERO)
    );
    UnlocatedDiagnostic::new(message)
        .limit("a surface with an inside and an outside")
        .remedy("export the mesh again as a closed solid")
}

/// The error for an edge at which neighbors are ambiguous; `center` is added to its position.
pub(crate) fn not_manifold(edge: &NonManifoldEdge, center: DVec3) -> UnlocatedDiagnostic {
    let message = format!(
        "the mesh is not manifold: {} triangles meet at the edge {}, and some face the wrong side",
        edge.triangles,
        between(edge, center)
    );
    UnlocatedDiagnostic::new(message)
        .limit("2 triangles at every edge, or all facing outward")
        .remedy("separate the parts that meet there, or turn the triangles over that face the wrong side")
}

/// Position of an edge; `center` is added.
pub(crate) fn between(edge: &NonManifoldEdge, center: DVec3) -> String {
    let [from, to] = edge.ends.map(|corner| DVec3::from(corner) + center);
    format!("from {from:.6} to {to:.6} m")
}
