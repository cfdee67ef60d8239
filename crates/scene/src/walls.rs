//! Walls: planes, boxes, cylinders, cones, spheres, and meshes from files.

mod motion;
mod region_servo;

pub(crate) use motion::{motion_of_boundary, motion_of_stage};
pub use region_servo::RegionServo;
pub(crate) use region_servo::region_servos;

use crate::{
    assemble::CheckState,
    condition::unknown,
    diagnostics::UnlocatedDiagnostic,
    fill::{axis_between, corners, si},
    mesh_placement::{MeshPlacement, placed_mesh},
    schema::{BoxShape, BoxWall, Direction, Plane, Segments, WallSection},
    vocabulary::{End, Face, Vocabulary, WallSide, WholeNumber, Word},
};
use glam::DVec3;
use seixo_engine::world::{Frustum, Servo, ServoTarget, Triangle, Vec3, Wall, WallMotion, WallShape};
use seixo_laws::wear;
use std::{collections::BTreeMap, ops::Range, path::Path};

/// The walls of a scene by their names in probes, stages and conditions: the name of a section, which includes all faces of a box, or that of one
/// face, as in "tank.bottom".
#[derive(Clone, Copy)]
pub(crate) struct NamedWalls<'a> {
    /// The range of each section in `walls`.
    pub sections: &'a BTreeMap<String, Range<usize>>,
    /// All walls of the world.
    pub walls: &'a [Wall],
}

impl NamedWalls<'_> {
    /// The walls of this name.
    pub fn find(&self, name: &str) -> Result<Range<usize>, UnlocatedDiagnostic> {
        if let Some(range) = self.sections.get(name) {
            return Ok(range.clone());
        }
        let face = self.walls.iter().position(|wall| wall.name == name);
        let faces = self
            .walls
            .iter()
            .map(|wall| &wall.name)
            .filter(|name| !self.sections.contains_key(*name));
        face.map(|wall| wall..wall + 1)
            .ok_or_else(|| unknown("wall", name, self.sections.keys().chain(faces)))
    }
}

/// A direction as a unit vector.
pub(crate) fn unit(direction: &Direction) -> Result<Vec3, UnlocatedDiagnostic> {
    let vector = DVec3::from(si(direction));
    let scaled = vector / vector.abs().max_element();
    scaled.try_normalize().map(|unit| unit.to_array()).ok_or_else(|| {
        UnlocatedDiagnostic::new("a direction of length zero points nowhere")
            .limit("at least one component other than 0")
            .remedy("write a direction, as in [0, 0, 1]")
    })
}

/// Appends the walls of a section to `walls`; returns their range.
pub(crate) fn build(
    name: &str,
    section: &mut WallSection,
    material: u32,
    walls: &mut Vec<Wall>,
    findings: &mut CheckState,
) -> Range<usize> {
    let start = walls.len();
    let path = format!("wall.{name}");
    let motion = motion::motion(section, findings).unwrap_or_else(|(key, complaint)| {
        findings.add(&format!("{path}.{key}"), complaint.within(&path));
        WallMotion::default()
    });
    let specific_wear_rate = specific_wear_rate(section).unwrap_or_else(|(key, complaint)| {
        findings.add(&format!("{path}.{key}"), complaint.within(&path));
        0.0
    });
    let shapes = [
        section.plane.is_some(),
        section.mesh.is_some(),
        section.box_.is_some(),
        section.cylinder.is_some(),
        section.cone.is_some(),
        section.sphere.is_some(),
    ];
    if shapes.iter().filter(|is_given| **is_given).count() != 1 {
        let complaint = UnlocatedDiagnostic::new("a wall needs exactly one of `plane`, `mesh`, `box`, `cylinder`, `cone` and `sphere`");
        let remedy = if shapes.contains(&true) {
            "keep one shape, and write a wall for each of the others"
        } else {
            "add one, as in plane = { point = [0, 0, 0], normal = [0, 0, 1] }"
        };
        findings.add(&path, complaint.remedy(remedy).within(&path));
        return start..start;
    }
    let of_meshes = [
        ("unit", section.unit.is_some()),
        ("scale", section.scale.is_some()),
        ("rotate", section.rotate.is_some()),
        ("move", section.shift.is_some()),
    ];
    for (key, _) in of_meshes.into_iter().filter(|(_, is_given)| *is_given && section.mesh.is_none()) {
        findings.add(
            &format!("{path}.{key}"),
            UnlocatedDiagnostic::new(format!("`{key}` is for a mesh"))
                .remedy("remove it")
                .within(&path),
        );
    }
    if let Err(complaint) = check_side(section) {
        findings.add(&format!("{path}.side"), complaint.within(&path));
        return start..start;
    }
    match shapes_of(section, &path, findings) {
        Ok(shapes) => walls.extend(shapes.into_iter().map(|(suffix, shape)| Wall {
            name: format!("{name}{suffix}"),
            material,
            shape,
            motion: motion.clone(),
            specific_wear_rate,
        })),
        Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
    }
    start..walls.len()
}

/// Sets the areas of servos with a stress between walls, once all walls are known.
pub(crate) fn set_areas(
    file: &BTreeMap<String, WallSection>,
    sections: &BTreeMap<String, Range<usize>>,
    walls: &mut [Wall],
    findings: &mut CheckState,
) {
    for (name, section) in file {
        let Some(servo) = section.motion.servo.as_ref().filter(|servo| servo.between.is_some()) else {
            continue;
        };
        let area = motion::area_between(servo, NamedWalls { sections, walls });
        let given = sections.get(name).filter(|range| range.len() == 1).map(|range| range.start);
        let placed = area.and_then(|area| {
            // Without a wall or a servo of its own, another error says so.
            let Some(index) = given else { return Ok(()) };
            let Some(Servo {
                target: ServoTarget::Stress { area: of_servo, .. },
                ..
            }) = &mut walls[index].motion.servo
            else {
                return Ok(());
            };
            *of_servo = area;
            let flaw = walls[index].motion.servo.and_then(|servo| servo.flaw_of_area(walls));
            flaw.map_or(Ok(()), |what| Err(UnlocatedDiagnostic::new(what)))
        });
        if let Err(complaint) = placed {
            let path = format!("wall.{name}");
            findings.add(&format!("{path}.motion.servo.between"), complaint.within(&path));
        }
    }
}

/// The specific wear rate of a wall \[1/Pa\]; 0 without keys of wear.
fn specific_wear_rate(section: &WallSection) -> Result<f64, At> {
    match (section.wear_coefficient, section.hardness, section.specific_wear_rate) {
        (None, None, rate) => Ok(rate.map_or(0.0, |rate| rate.si)),
        (Some(coefficient), Some(hardness), None) => Ok(wear::specific_wear_rate(coefficient.si, hardness.si)),
        (_, _, Some(_)) => {
            let complaint =
                UnlocatedDiagnostic::new("`specific_wear_rate` is wear_coefficient over hardness, and one of these is given, too");
            Err((
                "specific_wear_rate",
                complaint.remedy("keep `specific_wear_rate`, or `wear_coefficient` and `hardness`"),
            ))
        }
        (Some(_), None, None) => {
            let complaint = UnlocatedDiagnostic::new("a wall with a `wear_coefficient` needs a `hardness`");
            Err((
                "wear_coefficient",
                complaint.remedy("add hardness = \"2 GPa\", or give K over hardness as specific_wear_rate = \"2e-5 mm^3/N/m\""),
            ))
        }
        (None, Some(_), None) => {
            let complaint = UnlocatedDiagnostic::new("`hardness` is for wear, and there is no `wear_coefficient`");
            Err(("hardness", complaint.remedy("add wear_coefficient = 1e-4, or remove `hardness`")))
        }
    }
}

type Shapes = Vec<(String, WallShape)>;
/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

fn shapes_of(section: &mut WallSection, path: &str, findings: &mut CheckState) -> Result<Shapes, At> {
    let one = |shape| vec![(String::new(), shape)];
    if let Some(Plane { point, normal }) = &section.plane {
        let normal = unit(normal).map_err(|complaint| ("plane.normal", complaint))?;
        return Ok(one(WallShape::Plane { point: si(point), normal }));
    }
    let is_solid = section.is_solid();
    if let Some(box_) = &section.box_ {
        let shapes = if is_solid { surface_of(box_).map(one) } else { planes_of(box_) };
        return shapes.map_err(|complaint| ("box", complaint));
    }
    let both = [Word(End::From), Word(End::To)];
    if let Some(shape) = &section.cylinder {
        let radii = [shape.radius.si; 2];
        let caps = if is_solid { &both[..] } else { &shape.caps[..] };
        let round = round([si(&shape.from), si(&shape.to)], radii, shape.segments, caps);
        return round.map_err(|complaint| ("cylinder", complaint));
    }
    if let Some(shape) = &section.cone {
        let radii = shape.radii.map(|radius| radius.si);
        let caps = if is_solid { &both[..] } else { &shape.caps[..] };
        let round = round([si(&shape.from), si(&shape.to)], radii, shape.segments, caps);
        return round.map_err(|complaint| ("cone", complaint));
    }
    if let Some(shape) = &section.sphere {
        let (center, radius) = (si(&shape.center), shape.radius.si);
        return Ok(one(WallShape::Sphere { center, radius }));
    }
    let Some(file) = &mut section.mesh else { return Ok(Vec::new()) };
    let whole = findings.absolute(file);
    *file = whole.display().to_string();
    section.scale.get_or_insert_default();
    let placement = MeshPlacement::new(
        section.unit.as_ref(),
        section.scale.as_ref(),
        section.rotate.as_ref(),
        section.shift.as_ref(),
    )?;
    mesh(&whole, &placement, path, findings)
        .map(|mesh| one(WallShape::Mesh(mesh)))
        .map_err(|complaint| ("mesh", complaint))
}

fn mesh(file: &Path, placement: &MeshPlacement, path: &str, findings: &mut CheckState) -> Result<Vec<Triangle>, UnlocatedDiagnostic> {
    let mut triangles = placed_mesh(file, placement)?;
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
        return Err(without_area());
    }
    Ok(triangles)
}

/// The error for a mesh none of whose triangles has an area.
pub(crate) fn without_area() -> UnlocatedDiagnostic {
    UnlocatedDiagnostic::new("no triangle of the mesh has an area").remedy("check the mesh and its `scale`")
}

/// Refuses a side that the shape of a section cannot have.
fn check_side(section: &WallSection) -> Result<(), UnlocatedDiagnostic> {
    let Some(Word(side)) = section.side else { return Ok(()) };
    if section.plane.is_some() {
        let complaint = UnlocatedDiagnostic::new("a plane has its grains on the side to which its normal points");
        return Err(complaint.remedy("remove `side`; for the other side, turn the normal"));
    }
    match (side, &section.box_) {
        (WallSide::Inside, None) => {
            let complaint = UnlocatedDiagnostic::new("both sides of this shape have contacts, so grains may be inside without `side`");
            Err(complaint
                .limit("\"outside\", for a solid; \"inside\" is for a `box`")
                .remedy("remove `side`"))
        }
        (WallSide::Outside, Some(shape)) if !shape.open.is_empty() => {
            let complaint = UnlocatedDiagnostic::new("a box whose grains are outside is a solid, and has no open sides");
            Err(complaint.remedy("remove `open`, or leave `side` out for a vessel"))
        }
        _ => Ok(()),
    }
}

/// Corners of the faces of a box, counterclockwise when seen from outside. Bits 0, 1 and 2 of a corner are set where x, y and z are the largest.
const FACES: [[usize; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// The closed surface of a box, its triangles facing outward.
fn surface_of(shape: &BoxWall) -> Result<WallShape, UnlocatedDiagnostic> {
    let (min, max) = corners(&BoxShape {
        min: shape.min,
        max: shape.max,
    })?;
    let corner = |number: usize| [0, 1, 2].map(|axis| if (number >> axis) & 1 == 0 { min[axis] } else { max[axis] });
    let triangles = FACES.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Ok(WallShape::Mesh(triangles.map(|triangle| triangle.map(corner)).collect()))
}

/// The closed faces of a box, their normals inward.
fn planes_of(shape: &BoxWall) -> Result<Shapes, UnlocatedDiagnostic> {
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

/// Mantle and caps of a cylinder or cone: exactly round, or flat faces with corners at these radii.
fn round(ends: [Vec3; 2], radii: [f64; 2], segments: Option<Segments>, caps: &[Word<End>]) -> Result<Shapes, UnlocatedDiagnostic> {
    let axis = axis_between(ends[0].into(), ends[1].into())?.to_array();
    if radii == [0.0; 2] {
        return Err(UnlocatedDiagnostic::new("both radii are 0")
            .limit("at least one radius above 0")
            .remedy("give the wall a width"));
    }
    let mut frusta = vec![Frustum {
        base: ends[0],
        axis,
        height: DVec3::from(ends[0]).distance(ends[1].into()),
        radii,
    }];
    for (end, which) in [End::From, End::To].into_iter().enumerate() {
        if radii[end] > 0.0 && caps.contains(&Word(which)) {
            frusta.push(Frustum::disk(ends[end], axis, radii[end]));
        }
    }
    let shape = match segments {
        Some(WholeNumber(segments)) => WallShape::Mesh(frusta.iter().flat_map(|frustum| frustum.triangles(segments)).collect()),
        None => WallShape::Round(frusta),
    };
    Ok(vec![(String::new(), shape)])
}
