//! Polyhedral grains: from the keys of a shape to a convex polyhedron with rounded edges, and to grains of this shape.
//!
//! Keys give the outer surface. Its faces are moved inward by the rounding radius, and what is left is swept by a sphere of this radius. So the faces of
//! a grain are where the scene puts them.

mod cut_mesh;

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::{ShapeSize, sphere},
    mesh_placement::{MeshPlacement, meters, placed_mesh},
    rounding::{error_of_rounding, range_of_rounding},
    schema::{CapsuleShape, MOST_PARTS, SceneFile, ShapeSection, Sides},
    shape::{Placement, given_solid, orientation, possible_moments},
    vocabulary::WholeNumber,
};
use cut_mesh::cut_mesh;
use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_analysis::{GrainShape, Polyhedron, PolyhedronError, ShapeSurface, Solid, grain_shape_of_parts, solid_of_mesh, solid_of_parts};
use seixo_engine::world::{Grains, PolyhedralGrain, PolyhedralShape, Triangle};
use std::{collections::BTreeMap, sync::Arc};

/// Most corners of a face: one contact is kept for each.
const MOST_CORNERS: usize = 32;
/// Sides of prisms and tablets that give no number.
const USUAL_SIDES: u32 = 12;
/// Neighbors of rocks that give no number.
const USUAL_NEIGHBORS: u32 = 18;
/// Share of the volume by which the polyhedron around a mesh may be larger without a note.
const ALIKE: f64 = 0.01;
/// Share by which it may be larger if the mesh is the whole shape: grains that are much larger than their mesh are not what was meant.
const CONCAVE: f64 = 0.2;
/// Share by which the volume of a union may be beyond what its parts allow: lines measure it much better, unless they miss a part.
const UNSURE: f64 = 0.02;
/// Most vertices or edges of a shape: a contact history has 15 bits for each.
const MOST_FEATURES: usize = 32_767;
/// Random rocks are drawn from another stream than grains.
const ROCKS: u64 = 0x726f_636b_7321_0001;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// A shape of polyhedral grains, with the size in which it is defined.
#[derive(Clone, Debug)]
pub(crate) struct DrawnPolyhedron {
    /// The shape, with a bounding sphere of radius one.
    pub shape: PolyhedralShape,
    /// Radius of the bounding sphere about the center of mass in the size in which it is defined \[m\].
    pub drawn: f64,
}

impl DrawnPolyhedron {
    /// A polyhedron in place: its principal axes are turned as those of the grain, and its size is in meters.
    pub fn in_place(grain: GrainShape) -> DrawnPolyhedron {
        DrawnPolyhedron {
            drawn: grain.radius,
            shape: grain.shape,
        }
    }

    /// Its size, and its share of the sphere around it.
    pub fn size(&self) -> ShapeSize {
        ShapeSize {
            radius: self.drawn,
            solid_share: self.shape.volume / sphere(1.0),
        }
    }

    /// Adds a grain with this id to the table of grains, and the body that it is on a joint. The shape has the index `shape` in the world.
    pub fn put(&self, grains: &mut Grains, shape: u32, id: u32, placed: &Placement, density: f64, (material, group): (u32, u32)) {
        let turn = placed.orientation * axes_of(&self.shape);
        grains.push_polyhedron(&PolyhedralGrain {
            id,
            shape,
            radius: placed.radius,
            mass: self.shape.mass(placed.radius, density),
            center: placed.center,
            orientation: [turn.w, turn.x, turn.y, turn.z],
            velocity: placed.velocity,
            angular_velocity: placed.angular_velocity,
            material,
            group,
        });
        if let Some(joint) = placed.joint {
            grains.put_on_joint(grains.len() - 1, &self.shape, joint);
        }
    }

    /// Its surface with round edges, about the center of mass, along the principal axes and in lengths of its radius.
    pub fn surface(&self) -> Arc<[Triangle]> {
        let ShapeSurface { position, triangles, .. } = ShapeSurface::fine(&self.shape);
        let corners = |triangle: &[u32; 3]| triangle.map(|corner| position[corner as usize]);
        triangles.iter().map(corners).collect()
    }
}

/// Rotates the principal axes of a shape into the axes in which it is defined.
fn axes_of(shape: &PolyhedralShape) -> DQuat {
    shape
        .drawn_axes
        .map_or(DQuat::IDENTITY, |[w, x, y, z]| DQuat::from_xyzw(x, y, z, w))
}

/// The polyhedron that grains of an inlet are.
#[derive(Clone, Debug)]
pub(crate) struct PolyhedronOfInlet {
    /// Index of its shape in the world.
    pub index: u32,
    /// The polyhedron.
    pub drawn: DrawnPolyhedron,
}

/// The valid polyhedra of a scene, by name; paths of meshes are made absolute.
pub(crate) fn polyhedra(file: &mut SceneFile, findings: &mut CheckState) -> BTreeMap<String, DrawnPolyhedron> {
    let mut found = BTreeMap::new();
    let seed = file.run.seed.0;
    for (name, section) in file.shape.iter_mut().filter(|(_, section)| section.is_polyhedron()) {
        let path = format!("shape.{name}");
        match drawn(name, section, seed, findings) {
            Ok(polyhedron) => {
                found.insert(name.clone(), polyhedron);
            }
            Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
        }
    }
    found
}

/// The error of a polyhedron, at a key.
fn at(key: &'static str) -> impl Fn(PolyhedronError) -> At {
    move |error| (key, UnlocatedDiagnostic::from_message(&error.to_string()))
}

/// The error of a polyhedron with these convex parts at its rounding radius.
fn at_rounding(error: &PolyhedronError, sharp: &[Polyhedron], section: &ShapeSection) -> At {
    // A `scale` is a unit, or a factor besides one.
    let unit = match (&section.unit, &section.scale) {
        (Some(unit), None) => unit.symbol.as_str(),
        (None, None) => "m",
        (_, Some(_)) => "lengths of the shape",
    };
    ("rounding", error_of_rounding(error, range_of_rounding(sharp), unit))
}

fn drawn(name: &str, section: &mut ShapeSection, seed: u64, findings: &mut CheckState) -> Result<DrawnPolyhedron, At> {
    let Parts {
        all: parts,
        rounding,
        of_mesh,
    } = parts(name, section, seed, findings)?;
    check_features(&parts)?;
    let solid = match (given_solid(section), of_mesh, &parts[..]) {
        (Some(given), _, _) => {
            check_center(given.center, &parts, rounding)?;
            given
        }
        (None, Some(of_mesh), _) => of_mesh,
        (None, None, [one]) => {
            let swept = one.core.swept(rounding);
            swept.map_err(|error| at_rounding(&error, std::slice::from_ref(&one.sharp), section))?
        }
        (None, None, _) => solid_of_union(&parts, rounding, section)?,
    };
    possible_moments(&solid)?;
    let (sharp, cores): (Vec<Polyhedron>, Vec<Polyhedron>) = parts.into_iter().map(|part| (part.sharp, part.core)).unzip();
    let mut grain = grain_shape_of_parts(name, rounding, &cores, &solid).map_err(|error| match &section.capsule {
        Some(capsule) => ("capsule.length", too_long(capsule)),
        None => at_rounding(&error, &sharp, section),
    })?;
    if let Some(corners) = grain.shape.faces.iter().map(Vec::len).find(|corners| *corners > MOST_CORNERS) {
        let complaint = UnlocatedDiagnostic::new(format!("a face has {corners} corners"));
        let complaint = complaint.limit(format!("{MOST_CORNERS} corners of a face: each may be a contact"));
        return Err((
            "faces",
            complaint.remedy("write `faces` with a smaller number, or draw the face with fewer corners"),
        ));
    }
    if let Some(flaw) = grain.shape.flaw() {
        let (key, remedy) = if section.solid.is_some() {
            ("solid", "check the numbers of `solid`")
        } else {
            (
                "",
                "check the numbers of the shape; of a mesh, remove triangles that are slivers, or write `faces`",
            )
        };
        return Err((key, UnlocatedDiagnostic::new(flaw).remedy(remedy)));
    }
    let rotation = section.rotate.as_ref().map(orientation).transpose();
    let rotation = rotation.map_err(|complaint| ("rotate.axis", complaint))?;
    if let Some(rotation) = rotation {
        let axes = (rotation * axes_of(&grain.shape)).normalize();
        grain.shape.drawn_axes = Some([axes.w, axes.x, axes.y, axes.z]);
    }
    Ok(DrawnPolyhedron {
        shape: grain.shape,
        drawn: grain.radius * meters(section.unit.as_ref(), section.scale.as_ref())?,
    })
}

/// A convex part of a shape, before and after its faces are moved inward by the rounding radius.
struct Part {
    sharp: Polyhedron,
    core: Polyhedron,
}

/// All parts of a shape.
struct Parts {
    all: Vec<Part>,
    /// Rounding radius, in lengths of the shape.
    rounding: f64,
    /// What the mesh encloses that was cut into them.
    of_mesh: Option<Solid>,
}

/// Rejects parts with more vertices or edges than a contact history can name.
fn check_features(parts: &[Part]) -> Result<(), At> {
    let vertices: usize = parts.iter().map(|part| part.core.vertices().len()).sum();
    let edges: usize = parts.iter().map(|part| part.core.edges().len()).sum();
    if vertices.max(edges) <= MOST_FEATURES {
        return Ok(());
    }
    let complaint = UnlocatedDiagnostic::new(format!("the parts have {vertices} vertices and {edges} edges"));
    Err((
        "faces",
        complaint
            .limit(format!("{MOST_FEATURES} of each"))
            .remedy("write `faces` with a smaller number, or use fewer parts"),
    ))
}

/// Rejects a given center of mass that no solid of this shape has: it is in the smallest convex polyhedron around all parts.
fn check_center(center: DVec3, parts: &[Part], rounding: f64) -> Result<(), At> {
    let vertices: Vec<DVec3> = parts.iter().flat_map(|part| part.core.vertices()).copied().collect();
    let beyond = if let [start, end] = vertices[..] {
        let along = end - start;
        let share = ((center - start).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        center.distance(start + along * share)
    } else {
        let around = Polyhedron::around(&vertices).map_err(at("solid.center"))?;
        let heights = around.faces().iter().map(|face| face.normal.dot(center) - face.offset);
        heights.fold(f64::NEG_INFINITY, f64::max)
    };
    if beyond <= rounding {
        return Ok(());
    }
    let complaint = UnlocatedDiagnostic::new(format!("the center of mass {center} is outside of the shape"));
    Err((
        "solid.center",
        complaint
            .limit("inside of the smallest convex polyhedron around it, as for every solid")
            .remedy("correct the center, or leave `solid` out"),
    ))
}

/// The union of several parts.
fn solid_of_union(parts: &[Part], rounding: f64, section: &ShapeSection) -> Result<Solid, At> {
    let sharp: Vec<Polyhedron> = parts.iter().map(|part| part.sharp.clone()).collect();
    let cores: Vec<Polyhedron> = parts.iter().map(|part| part.core.clone()).collect();
    let of_rounding = |error: PolyhedronError| at_rounding(&error, &sharp, section);
    let union = solid_of_parts(&cores, rounding).map_err(of_rounding)?;
    let (mut largest, mut all) = (0.0f64, 0.0);
    for core in &cores {
        let volume = core.swept(rounding).map_err(of_rounding)?.volume;
        largest = largest.max(volume);
        all += volume;
    }
    // It fails for what is not a number, too.
    if (largest * (1.0 - UNSURE)..=all * (1.0 + UNSURE)).contains(&union.volume) {
        return Ok(union);
    }
    let complaint = UnlocatedDiagnostic::new("the parts are too thin, or too small for their distance, to measure their union");
    Err((
        "parts",
        complaint.remedy("check the positions of the meshes, or give volume, center and inertia as `solid`"),
    ))
}

/// The error of a capsule whose radius is too small a share of its length for a rounding radius.
fn too_long(capsule: &CapsuleShape) -> UnlocatedDiagnostic {
    let (radius, length) = (capsule.radius.si, capsule.length.si);
    UnlocatedDiagnostic::new(format!("a capsule of length {length} and radius {radius}"))
        .limit(format!("at most {}", 2.0 * radius / PolyhedralShape::LEAST_ROUNDING))
        .remedy("write a smaller length, or a larger radius")
}

/// The convex parts of a section.
fn parts(name: &str, section: &mut ShapeSection, seed: u64, findings: &mut CheckState) -> Result<Parts, At> {
    let key = only_source(section)?;
    for (foreign, is_there) in [("spheres", section.spheres.is_some()), ("file", section.file.is_some())] {
        if is_there {
            let complaint = UnlocatedDiagnostic::new(format!("`{foreign}` is for clumps, and the shape is a polyhedron"));
            return Err((foreign, complaint.remedy(format!("remove `{foreign}`, or leave `kind` out"))));
        }
    }
    if section.faces.is_some() && !["mesh", "parts"].contains(&key) {
        let complaint = UnlocatedDiagnostic::new("`faces` simplifies meshes");
        return Err((
            "faces",
            complaint.remedy(format!("remove it: `{key}` says how many faces there are")),
        ));
    }
    if section.convex_parts.is_some() && key != "mesh" {
        let complaint = UnlocatedDiagnostic::new(format!("`convex_parts` cuts a `mesh`, and the shape comes from `{key}`"));
        return Err(("convex_parts", complaint.remedy("remove it")));
    }
    if let Some(shape) = &section.capsule {
        let (radius, length) = (shape.radius.si, shape.length.si);
        let half = 0.5 * length - radius;
        if section.rounding.is_some() {
            let complaint = UnlocatedDiagnostic::new("the rounding radius of a capsule is its radius");
            return Err(("rounding", complaint.remedy("remove it")));
        }
        if half <= 0.0 {
            let complaint = UnlocatedDiagnostic::new(format!("a capsule of length {length} and radius {radius}"));
            return Err((
                "capsule.length",
                complaint
                    .limit(format!("above {}", 2.0 * radius))
                    .remedy("write a larger length, or leave `shape` out of the grains, as they are spheres"),
            ));
        }
        let core = Polyhedron::segment([DVec3::Z * -half, DVec3::Z * half]);
        let sharp = core.clone();
        return Ok(Parts {
            all: vec![Part { sharp, core }],
            rounding: radius,
            of_mesh: None,
        });
    }
    let Some(rounding) = section.rounding.map(|rounding| rounding.si) else {
        let complaint = UnlocatedDiagnostic::new("`rounding` is missing: edges and corners need a radius, and overlaps are a share of it");
        return Err((
            "",
            complaint
                .limit("above 0")
                .remedy("add `rounding`, in lengths of the shape: for instance a tenth of its smallest width"),
        ));
    };
    let (sharp, of_mesh) = if let Some(WholeNumber(most)) = section.convex_parts {
        let (sharp, solid) = cut_mesh(name, section, most as usize, rounding, findings)?;
        (sharp, Some(solid))
    } else if let Some(meshes) = section.parts.clone() {
        (around_meshes(name, meshes, section, findings)?, None)
    } else {
        (vec![outer(name, section, seed, key, findings)?], None)
    };
    let shrunk = |(k, part): (usize, &Polyhedron)| -> Result<Polyhedron, At> {
        let core = part.shrunk(rounding).map_err(|error| at_rounding(&error, &sharp, section));
        core.map_err(|(key, complaint)| (key, if sharp.len() > 1 { of_part(k, complaint) } else { complaint }))
    };
    let cores: Result<Vec<Polyhedron>, At> = sharp.iter().enumerate().map(shrunk).collect();
    let all = sharp.into_iter().zip(cores?).map(|(sharp, core)| Part { sharp, core });
    Ok(Parts {
        all: all.collect(),
        rounding,
        of_mesh,
    })
}

/// Names the part at fault.
fn of_part(part: usize, complaint: UnlocatedDiagnostic) -> UnlocatedDiagnostic {
    complaint.within(&format!("part {part}"))
}

/// The polyhedra around the meshes of parts.
fn around_meshes(name: &str, meshes: Vec<String>, section: &mut ShapeSection, findings: &mut CheckState) -> Result<Vec<Polyhedron>, At> {
    if !(1..=MOST_PARTS as usize).contains(&meshes.len()) {
        let complaint = UnlocatedDiagnostic::new(format!("a shape of {} parts", meshes.len())).limit(format!("1 to {MOST_PARTS}"));
        let remedy = if meshes.is_empty() {
            "list the meshes of the parts, as in parts = [\"a.obj\", \"b.obj\"]"
        } else {
            "join some parts, or use another decomposition of the mesh"
        };
        return Err(("parts", complaint.remedy(remedy)));
    }
    let (mut paths, mut all) = (Vec::new(), Vec::new());
    for (k, mesh) in meshes.iter().enumerate() {
        let what = format!("{name}: part {k}");
        let found = around_mesh(&what, mesh, section.faces, "parts", findings);
        let (path, polyhedron) = found.map_err(|(key, complaint)| (key, of_part(k, complaint)))?;
        paths.push(path);
        all.push(polyhedron);
    }
    section.parts = Some(paths);
    Ok(all)
}

/// The only key of a section that gives a polyhedron.
fn only_source(section: &ShapeSection) -> Result<&'static str, At> {
    let of_meshes = [("mesh", section.mesh.is_some()), ("parts", section.parts.is_some())];
    let all = section.solids().into_iter().chain(of_meshes);
    let given: Vec<&'static str> = all.filter(|(_, is_there)| *is_there).map(|(key, _)| key).collect();
    if let [key] = given[..] {
        return Ok(key);
    }
    let complaint = UnlocatedDiagnostic::new(
        "a polyhedron comes from exactly one of `mesh`, `parts`, `box`, `tetrahedron`, `cylinder`, `capsule`, `tablet` and `rock`",
    );
    Err((
        given.get(1).copied().unwrap_or_default(),
        complaint.remedy(if given.is_empty() {
            "add one, as in box = [1, 1, 1]"
        } else {
            "keep one, and write a shape for each of the others"
        }),
    ))
}

/// The outer surface of a section with this source, with sharp edges.
fn outer(name: &str, section: &mut ShapeSection, seed: u64, key: &'static str, findings: &mut CheckState) -> Result<Polyhedron, At> {
    let sides = |sides: Option<Sides>| sides.map_or(USUAL_SIDES, |WholeNumber(sides)| sides as u32);
    let made = if let Some(edges) = &section.box_ {
        Polyhedron::block(edges.map(|edge| edge.si))
    } else if let Some(edge) = section.tetrahedron {
        Polyhedron::tetrahedron(edge.si)
    } else if let Some(shape) = &section.cylinder {
        Polyhedron::prism(shape.radius.si, shape.height.si, sides(shape.sides))
    } else if let Some(shape) = &section.tablet {
        if shape.cap.si > shape.radius.si {
            let complaint = UnlocatedDiagnostic::new(format!("caps of height {} on a radius of {}", shape.cap.si, shape.radius.si));
            let complaint = complaint.limit(format!("at most {}: half a ball", shape.radius.si));
            return Err(("tablet.cap", complaint.remedy("write lower caps, or a larger radius")));
        }
        Polyhedron::tablet(shape.radius.si, shape.band.si, shape.cap.si, sides(shape.sides))
    } else if let Some(shape) = &section.rock {
        let mut random = ChaCha12Rng::seed_from_u64(shape.seed.map_or(seed, |WholeNumber(seed)| seed));
        random.set_stream(name.bytes().fold(ROCKS, |stream, byte| stream.rotate_left(8) ^ u64::from(byte)));
        let neighbors = shape.neighbors.map_or(USUAL_NEIGHBORS, |WholeNumber(neighbors)| neighbors as u32);
        Polyhedron::rock(shape.widths.map(|width| width.si), neighbors, || random.random())
    } else {
        let mesh = section.mesh.clone().unwrap_or_default();
        let (path, polyhedron) = around_mesh(name, &mesh, section.faces, "mesh", findings)?;
        section.mesh = Some(path);
        return Ok(polyhedron);
    };
    made.map_err(at(key))
}

/// The polyhedron around a mesh with at most so many faces, with the absolute path of the mesh, and notes for the user. Errors are at this key.
fn around_mesh(
    name: &str,
    mesh: &str,
    faces: Option<WholeNumber<4, 200>>,
    key: &'static str,
    findings: &mut CheckState,
) -> Result<(String, Polyhedron), At> {
    let whole = findings.absolute(mesh);
    let path = whole.display().to_string();
    let triangles = placed_mesh(&whole, &MeshPlacement::scaled(1.0)).map_err(|complaint| (key, complaint))?;
    let around = Polyhedron::around_mesh(&triangles).map_err(at(key))?;
    let volume = around.swept(0.0).map_err(at(key))?.volume;
    let excess = volume / solid_of_mesh(&triangles).volume.abs() - 1.0;
    if key == "mesh" && excess > CONCAVE {
        return Err((key, concave(mesh, excess)));
    }
    if excess > ALIKE {
        findings.notices.push(format!(
            "shape.{name}: the mesh is not convex: the polyhedron around it is {:.1} % larger",
            100.0 * excess
        ));
    }
    let Some(WholeNumber(faces)) = faces else {
        return Ok((path, around));
    };
    let simple = around.simplified(faces as usize).map_err(at("faces"))?;
    let (before, after) = (around.faces().len(), simple.faces().len());
    if after < before {
        let share = simple.swept(0.0).map_err(at("faces"))?.volume / volume;
        findings.notices.push(format!(
            "shape.{name}: {after} of {before} faces are left, with {:.1} % of the volume",
            100.0 * share
        ));
    }
    Ok((path, simple))
}

/// The error of a mesh that is no polyhedron; the one around it is larger by this share.
fn concave(mesh: &str, excess: f64) -> UnlocatedDiagnostic {
    let complaint = UnlocatedDiagnostic::new(format!(
        "the mesh is concave: the polyhedron around it is {:.1} % larger",
        100.0 * excess
    ));
    complaint.limit(format!("at most {:.0} %", 100.0 * CONCAVE)).remedy(format!(
        "write convex_parts = 8, or another number, to cut it into at most so many convex parts; or list convex meshes, as in parts = [\"a.obj\", \"b.obj\"]; or write parts = [{mesh:?}] for the polyhedron around it"
    ))
}
