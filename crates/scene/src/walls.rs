//! Walls: planes, boxes, round mantles in triangles, and meshes from files.

use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    fill::{axis_between, corners, si},
    schema::{BoxShape, BoxWall, Direction, Motion, Plane, WallSection},
    words::{End, Face, Vocabulary, Word},
};
use glam::DVec3;
use seixo_engine::world::{Triangle, Vec3, Wall, WallMotion, WallShape};
use std::{f64::consts::TAU, ops::Range, path::Path};

/// A direction at length one.
pub(crate) fn unit(direction: &Direction) -> Result<Vec3, Complaint> {
    let vector = DVec3::from(si(direction));
    let scaled = vector / vector.abs().max_element();
    scaled.try_normalize().map(|unit| unit.to_array()).ok_or_else(|| {
        Complaint::new("a direction of length zero points nowhere")
            .limit("at least one component other than 0")
            .remedy("write a direction, as in [0, 0, 1]")
    })
}

/// The walls of a section, appended to `walls`; the range they take there.
pub(crate) fn build(name: &str, section: &mut WallSection, material: u32, walls: &mut Vec<Wall>, findings: &mut Findings) -> Range<usize> {
    let start = walls.len();
    let path = format!("wall.{name}");
    let motion = match motion(&section.motion) {
        Ok(motion) => motion,
        Err((key, complaint)) => {
            findings.add(&format!("{path}.motion{key}"), complaint.within(&path));
            WallMotion::default()
        }
    };
    let shapes = [
        section.plane.is_some(),
        section.mesh.is_some(),
        section.box_.is_some(),
        section.cylinder.is_some(),
        section.cone.is_some(),
    ];
    if shapes.iter().filter(|is_given| **is_given).count() != 1 {
        let complaint = Complaint::new("a wall needs exactly one of `plane`, `mesh`, `box`, `cylinder` and `cone`");
        findings.add(
            &path,
            complaint
                .remedy("keep one shape, and write a wall for each of the others")
                .within(&path),
        );
        return start..start;
    }
    if section.scale.is_some() && section.mesh.is_none() {
        findings.add(
            &format!("{path}.scale"),
            Complaint::new("`scale` is for a mesh").remedy("remove it").within(&path),
        );
    }
    match shapes_of(section, &path, findings) {
        Ok(shapes) => walls.extend(shapes.into_iter().map(|(suffix, shape)| Wall {
            name: format!("{name}{suffix}"),
            material,
            shape,
            motion,
        })),
        Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
    }
    start..walls.len()
}

type Shapes = Vec<(String, WallShape)>;
/// A complaint with the key it is about.
type At = (&'static str, Complaint);

fn shapes_of(section: &mut WallSection, path: &str, findings: &mut Findings) -> Result<Shapes, At> {
    let one = |shape| vec![(String::new(), shape)];
    if let Some(Plane { point, normal }) = &section.plane {
        let normal = unit(normal).map_err(|complaint| ("plane.normal", complaint))?;
        return Ok(one(WallShape::Plane { point: si(point), normal }));
    }
    if let Some(box_) = &section.box_ {
        return planes_of(box_).map_err(|complaint| ("box", complaint));
    }
    if let Some(shape) = &section.cylinder {
        let radii = [shape.radius.si; 2];
        return mantle([si(&shape.from), si(&shape.to)], radii, shape.segments.0, &shape.caps)
            .map(|mesh| one(WallShape::Mesh(mesh)))
            .map_err(|complaint| ("cylinder", complaint));
    }
    if let Some(shape) = &section.cone {
        let radii = shape.radii.map(|radius| radius.si);
        return mantle([si(&shape.from), si(&shape.to)], radii, shape.segments.0, &shape.caps)
            .map(|mesh| one(WallShape::Mesh(mesh)))
            .map_err(|complaint| ("cone", complaint));
    }
    let scale = section.scale.get_or_insert_default().0;
    let Some(file) = &mut section.mesh else { return Ok(Vec::new()) };
    let whole = findings.absolute(file);
    *file = whole.display().to_string();
    mesh(&whole, scale, path, findings)
        .map(|mesh| one(WallShape::Mesh(mesh)))
        .map_err(|complaint| ("mesh", complaint))
}

/// The triangles of a file, in meters.
pub(crate) fn scaled_mesh(file: &Path, scale: f64) -> Result<Vec<Triangle>, Complaint> {
    let mut triangles = seixo_files::mesh_in::read(file).map_err(|error| Complaint::of_file(&error))?;
    triangles.iter_mut().flatten().flatten().for_each(|coordinate| *coordinate *= scale);
    if triangles.iter().flatten().flatten().any(|coordinate| !coordinate.is_finite()) {
        return Err(
            Complaint::new(format!("scaled by {scale}, the mesh is beyond what a double can hold")).remedy("use a smaller `scale`"),
        );
    }
    Ok(triangles)
}

fn mesh(file: &Path, scale: f64, path: &str, findings: &mut Findings) -> Result<Vec<Triangle>, Complaint> {
    let mut triangles = scaled_mesh(file, scale)?;
    let flat = seixo_files::mesh_in::degenerate(&triangles);
    if let Some(first) = flat.first() {
        findings.notices.push(format!(
            "{path}: {} of {} triangles have no area and are left out, the first is number {}",
            flat.len(),
            triangles.len(),
            first + 1
        ));
    }
    let (mut index, mut flat) = (0.., flat.into_iter().peekable());
    triangles.retain(|_| flat.next_if_eq(&index.next().unwrap_or_default()).is_none());
    if triangles.is_empty() {
        return Err(Complaint::new("no triangle of the mesh has an area").remedy("check the mesh and its `scale`"));
    }
    Ok(triangles)
}

/// The closed faces of a box, their normals inward.
fn planes_of(shape: &BoxWall) -> Result<Shapes, Complaint> {
    let (min, max) = corners(&BoxShape {
        min: shape.min,
        max: shape.max,
    })?;
    let face = |face: Face| {
        let (point, normal) = match face {
            Face::Left => (min, DVec3::X),
            Face::Right => (max, DVec3::NEG_X),
            Face::Front => (min, DVec3::Y),
            Face::Back => (max, DVec3::NEG_Y),
            Face::Bottom => (min, DVec3::Z),
            Face::Top => (max, DVec3::NEG_Z),
        };
        WallShape::Plane {
            point: point.to_array(),
            normal: normal.to_array(),
        }
    };
    let closed = Face::words().into_iter().filter(|(_, which)| !shape.open.contains(&Word(*which)));
    Ok(closed.map(|(name, which)| (format!(".{name}"), face(which))).collect())
}

/// The triangles of a cut cone, its corners at `radii`.
fn mantle(ends: [Vec3; 2], radii: [f64; 2], segments: u64, caps: &[Word<End>]) -> Result<Vec<Triangle>, Complaint> {
    let ends = ends.map(DVec3::from);
    let (u, v) = axis_between(ends[0], ends[1])?.any_orthonormal_pair();
    if radii == [0.0; 2] {
        return Err(Complaint::new("both radii are 0")
            .limit("at least one radius above 0")
            .remedy("give the wall a width"));
    }
    let corner = |end: usize, segment: u64| {
        // The last corner is the first again, to the bit.
        let angle = TAU * (segment % segments) as f64 / segments as f64;
        (ends[end] + radii[end] * (angle.cos() * u + angle.sin() * v)).to_array()
    };
    let mut triangles = Vec::new();
    for segment in 0..segments {
        let [a, b, c, d] = [
            corner(0, segment),
            corner(0, segment + 1),
            corner(1, segment + 1),
            corner(1, segment),
        ];
        if radii[0] > 0.0 {
            triangles.push([a, b, c]);
        }
        if radii[1] > 0.0 {
            triangles.push([a, c, d]);
        }
        for (end, which) in [End::From, End::To].into_iter().enumerate() {
            if radii[end] > 0.0 && caps.contains(&Word(which)) {
                triangles.push([ends[end].to_array(), corner(end, segment), corner(end, segment + 1)]);
            }
        }
    }
    Ok(triangles)
}

fn motion(motion: &Motion) -> Result<WallMotion, At> {
    let velocity = si(&motion.translate);
    if motion.rotate.si == 0.0 {
        return Ok(WallMotion {
            velocity,
            ..WallMotion::default()
        });
    }
    let (Some(axis), Some(through)) = (&motion.axis, &motion.through) else {
        let complaint = Complaint::new("a rotation needs `axis` and `through`")
            .remedy("write motion = { rotate = \"2 rad/s\", axis = [0, 1, 0], through = [0, 0, 0] }");
        return Err(("", complaint));
    };
    let axis = unit(axis).map_err(|complaint| (".axis", complaint))?;
    Ok(WallMotion {
        velocity,
        angular_velocity: axis.map(|component| component * motion.rotate.si),
        through: si(through),
    })
}
