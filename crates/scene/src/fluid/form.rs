//! Space that bodies fill: closed meshes, or the union of spheres; in a plane flow their sections.

use super::{
    Shared,
    cells::{Cells, ROUNDING},
};
use crate::{
    diagnostics::UnlocatedDiagnostic,
    fill::{Mesh, refuse_too_many_of},
    section::Section,
};
use glam::DVec3;
use seixo_engine::world::{Body, Triangle, Vec3};
use std::collections::HashMap;

/// Tolerance above a whole number of spacings up to which the number of cells stays the same \[spacings\]. Cells are at most a quarter wider.
const WIDER: f64 = 0.2;
/// How often cells at a surface are halved, in space and in a plane flow: the error of volumes is then a thousandth.
const HALVINGS: [u32; 2] = [3, 4];
/// Smallest volume of the largest particle of a body, over that of a fluid particle.
const LEAST: f64 = 0.5;
/// Distance beyond a surface at which a test point decides whether it is a real surface \[spacings\].
const BEYOND: f64 = 1e-3;

/// Space that a body fills, in the frame of its principal axes.
pub(super) enum Form {
    /// A closed mesh, whose parts may overlap.
    Mesh {
        triangles: Vec<Triangle>,
        inside: Mesh,
        overlaps: bool,
    },
    /// The section of a closed mesh with the plane of the flow, and the corners of the box around the mesh \[m\].
    Section {
        section: Section,
        overlaps: bool,
        bounds: [DVec3; 2],
    },
    /// A union of spheres: centers and radii \[m\].
    Spheres(Vec<(DVec3, f64)>),
}

impl Form {
    /// The space that a body fills, given the radii of its spheres by their ids, and its mesh if it has one; in space, or in the plane normal to an
    /// axis.
    pub(super) fn of(body: &Body, radii: &HashMap<u32, f64>, outline: Option<&[Triangle]>, across: Option<usize>) -> Form {
        let spheres: Vec<(DVec3, f64)> = body.carries.iter().map(|(id, at)| (DVec3::from(*at), radii[id])).collect();
        let reach = spheres.iter().map(|(at, radius)| at.length() + radius).fold(0.0, f64::max);
        let triangles = outline.map(|outline| {
            let scaled = |triangle: &Triangle| triangle.map(|corner| corner.map(|x| x * reach));
            outline.iter().map(scaled).collect::<Vec<Triangle>>()
        });
        let mesh = triangles.and_then(|triangles| Some((Mesh::new(&triangles, DVec3::ZERO).ok()?, triangles)));
        match (mesh, across) {
            (Some((inside, triangles)), None) => Form::Mesh {
                overlaps: inside.overlaps_itself(),
                triangles,
                inside,
            },
            (Some((inside, triangles)), Some(axis)) => Form::Section {
                section: Section::of(&triangles, axis),
                overlaps: inside.overlaps_itself(),
                bounds: bounds_of(triangles.iter().flatten().map(|corner| [DVec3::from(*corner); 2])),
            },
            (None, _) => Form::Spheres(spheres),
        }
    }

    /// Depth of a position inside, negative outside \[m\], if it is less than `reach` in magnitude.
    fn depth(&self, at: DVec3, reach: f64, spacing: f64) -> f64 {
        self.surface(at, reach, spacing).0
    }

    /// Depth of a position inside, as of [`Form::depth`], and the direction from the nearest point of the surface to it; zero if none is near.
    pub(super) fn surface(&self, at: DVec3, reach: f64, spacing: f64) -> (f64, DVec3) {
        match self {
            Form::Spheres(spheres) => {
                let depths = spheres.iter().map(|(center, radius)| (radius - center.distance(at), at - center));
                let (depth, away) = depths.fold((f64::NEG_INFINITY, DVec3::ZERO), |a, b| if b.0 > a.0 { b } else { a });
                (depth, away.normalize_or_zero())
            }
            Form::Mesh { inside, overlaps, .. } => {
                let is_inside = |at: DVec3| inside.is_inside(at).unwrap_or(true);
                let mut near = Vec::new();
                inside.visit_near(at, reach, |distance, away| near.push((distance, away)));
                end_of(near, at, reach, spacing, *overlaps, &is_inside)
            }
            Form::Section { section, overlaps, .. } => {
                let mut near = Vec::new();
                section.visit_near(at, reach, |distance, away| near.push((distance, away)));
                end_of(near, at, reach, spacing, *overlaps, &|at| section.is_inside(at))
            }
        }
    }

    /// Centers and radii of its spheres \[m\]; empty for a mesh.
    pub(super) fn spheres(&self) -> &[(DVec3, f64)] {
        match self {
            Form::Mesh { .. } | Form::Section { .. } => &[],
            Form::Spheres(spheres) => spheres,
        }
    }

    /// The centers of its spheres, if the support of the fluid is large enough to reach each.
    pub(super) fn middles(&self, shared: &Shared) -> Result<Vec<Vec3>, UnlocatedDiagnostic> {
        let largest = shared.support * shared.spacing - 0.5 * shared.spacing;
        match self.spheres().iter().find(|(_, radius)| *radius > largest * (1.0 + 1e-9)) {
            Some((_, radius)) => Err(too_large(*radius, largest)),
            None => Ok(self.spheres().iter().map(|(center, _)| center.to_array()).collect()),
        }
    }

    /// Corners of the box around it \[m\].
    pub(super) fn bounds(&self) -> [DVec3; 2] {
        match self {
            Form::Mesh { triangles, .. } => bounds_of(triangles.iter().flatten().map(|corner| [DVec3::from(*corner); 2])),
            Form::Section { bounds, .. } => *bounds,
            Form::Spheres(spheres) => bounds_of(spheres.iter().map(|(center, radius)| [*center - *radius, *center + *radius])),
        }
    }

    /// Positions and volumes of boundary particles, down to the depth of the support, on cells that divide the box around it evenly.
    pub(super) fn portions(&self, shared: &Shared) -> Result<(Vec<Vec3>, Vec<f64>), UnlocatedDiagnostic> {
        let spacing = shared.spacing;
        let (cells, counts) = self.cells(spacing, shared.across)?;
        let depth = |at: DVec3, reach: f64| self.depth(at, reach, spacing);
        let deepest = (shared.support - 1e-9).ceil() * spacing * (1.0 + ROUNDING);
        let is_seen = |cell: &[i64; 3]| depth(cells.middle(*cell), 1.5 * deepest) <= deepest;
        let portions = cells.portions(each(counts).filter(is_seen), &depth);
        let enough = LEAST * shared.volume() * (1.0 - ROUNDING);
        if portions.iter().all(|portion| portion.volume < enough) {
            return Err(too_thin());
        }
        Ok(portions.iter().map(|portion| (portion.place.to_array(), portion.volume)).unzip())
    }

    /// A lattice of cells that divides the box around it evenly, and the number of cells along the axes.
    fn cells(&self, spacing: f64, across: Option<usize>) -> Result<(Cells, [i64; 3]), UnlocatedDiagnostic> {
        let [low, high] = self.bounds();
        let mut counts = ((high - low) / spacing - WIDER).ceil().max(DVec3::ONE);
        if let Some(axis) = across {
            counts[axis] = 1.0;
        }
        refuse_too_many_of(
            "particles of bodies",
            counts.element_product(),
            "use a larger spacing, or smaller bodies",
        )?;
        let cells = Cells {
            corner: low,
            step: (high - low) / counts,
            across,
            halvings: HALVINGS[usize::from(across.is_some())],
        };
        Ok((cells, counts.to_array().map(|count| count as i64)))
    }

    /// Positions of fluid particles if all of it melts: on a lattice about the center of the box around it.
    pub(super) fn room(&self, spacing: f64) -> Result<Vec<DVec3>, UnlocatedDiagnostic> {
        let [low, high] = self.bounds();
        let counts = ((high - low) / spacing - ROUNDING).ceil().max(DVec3::ONE);
        refuse_too_many_of(
            "particles of bodies",
            counts.element_product(),
            "use a larger spacing, or smaller bodies",
        )?;
        let cells = Cells {
            corner: 0.5 * (low + high - counts * spacing),
            step: DVec3::splat(spacing),
            across: None,
            halvings: 0,
        };
        let sites = each(counts.to_array().map(|count| count as i64)).map(|cell| cells.middle(cell));
        let sites: Vec<DVec3> = sites.filter(|at| self.depth(*at, spacing, spacing) > 0.0).collect();
        if sites.is_empty() { Err(too_thin()) } else { Ok(sites) }
    }
}

/// Corners of the box around boxes with these corners \[m\].
fn bounds_of(boxes: impl Iterator<Item = [DVec3; 2]>) -> [DVec3; 2] {
    boxes.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], [from, to]| {
        [low.min(from), high.max(to)]
    })
}

/// Depth of a position inside, and the direction from the nearest point of the surface to it. The input is the distance to each near piece and the
/// direction from it. If closed parts overlap, some of their surfaces are inside.
fn end_of(
    mut near: Vec<(f64, DVec3)>,
    at: DVec3,
    reach: f64,
    spacing: f64,
    overlaps: bool,
    is_inside: &dyn Fn(DVec3) -> bool,
) -> (f64, DVec3) {
    let is_within = is_inside(at);
    let is_end = |distance: f64, away: DVec3| !overlaps || is_inside(at - away * (distance + BEYOND * spacing)) != is_within;
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let end = near.iter().find(|(distance, away)| is_end(*distance, *away));
    let (distance, away) = end.map_or((reach, DVec3::ZERO), |end| *end);
    (if is_within { distance } else { -distance }, away)
}

/// All cells of a block of this size, along x first, then y, then z.
fn each([along_x, along_y, along_z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..along_z).flat_map(move |z| (0..along_y).flat_map(move |y| (0..along_x).map(move |x| [x, y, z])))
}

/// The error for a body that is too small for any boundary particle.
fn too_thin() -> UnlocatedDiagnostic {
    UnlocatedDiagnostic::new("a body has no room for a particle that fluids could feel")
        .limit("bodies that fill half of a cube of a spacing at least")
        .remedy("use a smaller spacing, or leave displaces_fluid out")
}

/// The error for a sphere of which the support of the fluid reaches only a part.
fn too_large(radius: f64, largest: f64) -> UnlocatedDiagnostic {
    UnlocatedDiagnostic::new(format!(
        "a sphere with a radius of {radius} m is larger than particles of solver = \"muller2003\" see, which touch it as spheres of half a spacing"
    ))
    .limit(format!("radii of at most {largest:.4e} m, the fluid's support less half a spacing"))
    .remedy("make the body of finer spheres, by a `shape`, or give the fluid a larger `support`; or use solver = \"wcsph\"")
}
