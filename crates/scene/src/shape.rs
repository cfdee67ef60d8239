//! Clumps: rigid bodies of spheres at the positions of a scene.

use crate::{
    assemble::CheckState,
    diagnostics::{UnlocatedDiagnostic, did_you_mean},
    fill::{Mesh, ShapeSize, si, sphere},
    mesh_placement::meters,
    schema::{EqualSpheres, SceneFile, ShapeSection, ShapeSpheres, Turn},
    section::Section,
    spheres::{VoxelizationRequest, spheres_of_mesh},
    walls::unit,
};
use glam::{DMat3, DQuat, DVec2, DVec3};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use seixo_analysis::{Solid, connected_parts, plate_of_disks, solid_of_spheres};
use seixo_engine::voxels::VoxelFilling;
use seixo_engine::world::{Body, DeviceChoice, Grains, Joint, Sphere, Triangle, Vec3};
use seixo_files::grains_in::{self, Limits};
use std::{collections::BTreeMap, f64::consts::PI, path::Path, sync::Arc};

/// Largest number of spheres of a shape: the union of more takes minutes.
const MAX_SPHERES: usize = 10_000;
/// Tolerance for principal moments that violate the triangle inequality.
const ROUNDING: f64 = 1e-9;

/// A shape, scaled so that the smallest sphere about its center of mass that contains it has radius one.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Offsets from the center of mass along the principal axes, and radii.
    spheres: Vec<(DVec3, f64)>,
    /// Volume of the solid; for a flat shape its area.
    volume: f64,
    /// Principal moments of inertia at density one.
    moments: DVec3,
    /// Rotates the principal axes into the axes in which the shape is defined.
    axes: DQuat,
    /// Whether the scene gives the properties of the solid, which then do not follow from its spheres.
    is_given: bool,
    /// Whether it is a section for a plane flow, a meter deep.
    is_flat: bool,
    /// Size in which it is defined: the radius of the smallest sphere that contains it \[m\].
    pub drawn: f64,
    /// The mesh that it was made from, scaled like the spheres; empty if there is none.
    pub outline: Arc<[Triangle]>,
}

/// Position and motion of a clump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// Center of mass \[m\].
    pub center: Vec3,
    /// Radius of the smallest sphere about the center of mass that contains it \[m\].
    pub radius: f64,
    /// Rotation relative to the axes in which the shape is defined.
    pub orientation: DQuat,
    /// \[m/s\].
    pub velocity: Vec3,
    /// \[rad/s\].
    pub angular_velocity: Vec3,
    /// Joint to space.
    pub joint: Option<Joint>,
}

impl Shape {
    /// One sphere.
    pub fn ball() -> Shape {
        Shape {
            spheres: vec![(DVec3::ZERO, 1.0)],
            volume: 4.0 / 3.0 * PI,
            moments: DVec3::splat(8.0 / 15.0 * PI),
            axes: DQuat::IDENTITY,
            is_given: false,
            is_flat: false,
            drawn: 1.0,
            outline: Arc::default(),
        }
    }

    /// Its section with the plane of a flow normal to an axis, in its defined orientation, a meter deep: the section of its mesh, if that is closed,
    /// or else the disks of its spheres.
    pub fn flat(&self, axis: usize) -> Result<Shape, UnlocatedDiagnostic> {
        let drawn: Vec<(DVec3, f64)> = self.spheres.iter().map(|(at, radius)| (self.axes * *at, *radius)).collect();
        let along = ["x", "y", "z"][axis];
        // For a mesh that is no prism the center of mass may be beside them.
        let height = drawn.first().map_or(0.0, |(at, _)| at[axis]);
        if drawn.iter().any(|(at, _)| (at[axis] - height).abs() > ROUNDING) {
            let complaint = UnlocatedDiagnostic::new("the fluid flows in a plane, and the spheres of the shape are not in one");
            let remedy = if self.outline.is_empty() {
                "draw the shape in that plane".to_owned()
            } else {
                format!("make the mesh no thicker along {along} than one of its spheres: the fluid sees its section alone")
            };
            return Err(complaint
                .limit(format!("centers with one and the same {along}"))
                .remedy(format!("{remedy}; or leave `plane` out of the fluids")));
        }
        if self.is_given {
            let complaint = UnlocatedDiagnostic::new("`solid` says what the shape is in space, and the fluid flows in a plane");
            return Err(
                complaint.remedy("leave `solid` out: the shape is then what its disks are together; or leave `plane` out of the fluids")
            );
        }
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let disks: Vec<(DVec2, f64)> = drawn.iter().map(|(at, radius)| (DVec2::new(at[u], at[v]), *radius)).collect();
        let outline: Vec<Triangle> = self
            .outline
            .iter()
            .map(|triangle| triangle.map(|corner| (self.axes * DVec3::from(corner) - DVec3::AXES[axis] * height).to_array()))
            .collect();
        let is_closed = !outline.is_empty() && Mesh::new(&outline, DVec3::ZERO).is_ok();
        let section = is_closed.then(|| Section::of(&outline, axis).plate()).flatten();
        let plate = section.unwrap_or_else(|| plate_of_disks(&disks));
        let reach = disks
            .iter()
            .map(|(at, radius)| at.distance(plate.center) + radius)
            .fold(0.0, f64::max);
        let place = |at: DVec2| {
            let DVec2 { x, y } = (at - plate.center) / reach;
            DVec3::AXES[u] * x + DVec3::AXES[v] * y
        };
        // It only rotates in the plane: the other moments do not matter.
        let mut moments = DVec3::splat(0.5 * plate.moment / reach.powi(4));
        moments[axis] *= 2.0;
        Ok(Shape {
            spheres: disks.iter().map(|(at, radius)| (place(*at), radius / reach)).collect(),
            volume: plate.area / reach.powi(2),
            moments,
            is_flat: true,
            drawn: self.drawn * reach,
            outline: outline
                .iter()
                .map(|triangle| {
                    triangle.map(|[x, y, z]| {
                        let mut corner = DVec3::new(x, y, z);
                        corner[u] -= plate.center.x;
                        corner[v] -= plate.center.y;
                        (corner / reach).to_array()
                    })
                })
                .collect(),
            ..Shape::ball()
        })
    }

    /// Its size, and its share of the sphere around it.
    pub fn size(&self) -> ShapeSize {
        ShapeSize {
            radius: self.drawn,
            solid_share: self.volume / sphere(1.0),
        }
    }

    /// Number of spheres.
    pub fn len(&self) -> usize {
        self.spheres.len()
    }

    /// Adds a clump to the table of grains, with these ids for its spheres, a material and a group.
    pub fn put(&self, grains: &mut Grains, placed: &Placement, ids: &[u32], density: f64, (material, group): (u32, u32)) {
        let spheres: Vec<Sphere> = ids
            .iter()
            .zip(&self.spheres)
            .map(|(&id, (offset, radius))| Sphere {
                id,
                offset: (*offset * placed.radius).to_array(),
                radius: radius * placed.radius,
            })
            .collect();
        let turn = placed.orientation * self.axes;
        let (to_mass, to_moment) = if self.is_flat { (2, 4) } else { (3, 5) };
        let body = Body {
            id: grains.bodies.len() as u32,
            mass: density * self.volume * placed.radius.powi(to_mass),
            moments: (self.moments * density * placed.radius.powi(to_moment)).to_array(),
            center: placed.center,
            orientation: [turn.w, turn.x, turn.y, turn.z],
            velocity: placed.velocity,
            angular_velocity: placed.angular_velocity,
            motion: None,
            joint: placed.joint,
            carries: Vec::new(),
        };
        grains.push_body(body, &spheres, material, group);
    }
}

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// The spheres and the solid of a section.
#[derive(Default)]
struct Drawn {
    /// Centers and radii.
    spheres: Vec<(DVec3, f64)>,
    /// The solid, if it is not the union of the spheres.
    solid: Option<Solid>,
    /// The mesh that they were made from.
    outline: Vec<Triangle>,
}

/// The valid shapes of a scene, by name; paths of files are made absolute.
pub(crate) fn shapes(file: &mut SceneFile, findings: &mut CheckState) -> BTreeMap<String, Shape> {
    let mut shapes = BTreeMap::new();
    let threads = file.run.threads.0 as usize;
    for (name, section) in file.shape.iter_mut().filter(|(_, section)| !section.is_polyhedron()) {
        let path = format!("shape.{name}");
        match drawn(section, threads, &path, findings).and_then(|drawn| shape(section, drawn, &path, findings)) {
            Ok(shape) => {
                shapes.insert(name.clone(), shape);
            }
            Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
        }
    }
    shapes
}

/// The spheres of a section.
fn drawn(section: &mut ShapeSection, threads: usize, path: &str, findings: &mut CheckState) -> Result<Drawn, At> {
    if let Some(key) = section.key_of_polyhedra() {
        let complaint = UnlocatedDiagnostic::new(format!("`{key}` is for polyhedra, and the shape is a clump of spheres"));
        return Err((key, complaint.remedy(format!("add kind = \"polyhedron\", or remove `{key}`"))));
    }
    match (&section.spheres, &mut section.file, &mut section.mesh) {
        (Some(ShapeSpheres::Listed(list)), None, None) => {
            let spheres = list.iter().map(|sphere| (DVec3::from(si(&sphere.at)), sphere.radius.si));
            Ok(Drawn {
                spheres: spheres.collect(),
                ..Drawn::default()
            })
        }
        (None, Some(file), None) => {
            let whole = findings.absolute(file);
            *file = whole.display().to_string();
            let spheres = of_table(&whole, &mut findings.notices).map_err(|complaint| ("file", complaint))?;
            Ok(Drawn { spheres, ..Drawn::default() })
        }
        (Some(ShapeSpheres::Equal(equal)), None, Some(mesh)) => {
            let whole = findings.absolute(mesh);
            *mesh = whole.display().to_string();
            let (drawn, notices) = of_mesh(&whole, equal, threads).map_err(|complaint| ("mesh", complaint))?;
            findings.notices.extend(notices.iter().map(|notice| format!("{path}: {notice}")));
            Ok(drawn)
        }
        _ => Err((
            "",
            UnlocatedDiagnostic::new("a shape comes from a list of spheres, a `file` of them, or a `mesh` with the radius of its spheres").remedy(
                "write spheres = [{ at = [0, 0, 0], radius = 1 }, …], or file = \"NAME.csv\", or mesh = \"NAME.stl\" and spheres = { radius = 0.1 }",
            ),
        )),
    }
}

/// The spheres of a table.
fn of_table(file: &Path, notices: &mut Vec<String>) -> Result<Vec<(DVec3, f64)>, UnlocatedDiagnostic> {
    let limits = Limits {
        rows: MAX_SPHERES,
        ..Limits::default()
    };
    let rows = grains_in::read(file, &limits, notices).map_err(|error| UnlocatedDiagnostic::of_file(&error))?;
    let spheres: Option<_> = rows.iter().map(|row| Some((DVec3::from(row.position), row.radius?))).collect();
    spheres.ok_or_else(|| {
        UnlocatedDiagnostic::new(format!("{}: no column `radius`", file.display())).remedy("name x, y, z and radius in the first line")
    })
}

/// The spheres of a mesh, with notes for the user.
fn of_mesh(file: &Path, equal: &EqualSpheres, threads: usize) -> Result<(Drawn, Vec<String>), UnlocatedDiagnostic> {
    let request = VoxelizationRequest {
        radius: equal.radius.si,
        filling: equal.fill.0,
        // The CPU gives the same spheres as a GPU, and is faster than the start of one.
        device: DeviceChoice::Cpu,
        threads,
    };
    let found = spheres_of_mesh(file, 1.0, &request)?;
    let excess = found.centers.len() as f64 / MAX_SPHERES as f64;
    if excess > 1.0 {
        let larger = match request.filling {
            VoxelFilling::Surface => excess.sqrt(),
            VoxelFilling::Solid => excess.cbrt(),
        };
        let complaint =
            UnlocatedDiagnostic::new(format!("a shape of {} spheres", found.centers.len())).limit(format!("1 to {MAX_SPHERES}"));
        return Err(complaint.remedy(format!("use larger ones: a radius of about {:.2e}", request.radius * larger)));
    }
    let drawn = Drawn {
        spheres: found.centers.iter().map(|&center| (center.into(), request.radius)).collect(),
        solid: Some(*found.solid()),
        outline: found.mesh,
    };
    Ok((drawn, found.notices))
}

fn shape(section: &ShapeSection, drawn: Drawn, path: &str, findings: &mut CheckState) -> Result<Shape, At> {
    let Drawn { spheres, solid, outline } = drawn;
    if spheres.is_empty() || spheres.len() > MAX_SPHERES {
        let complaint = UnlocatedDiagnostic::new(format!("a shape of {} spheres", spheres.len()));
        return Err((
            "spheres",
            complaint
                .limit(format!("1 to {MAX_SPHERES}"))
                .remedy("write spheres = [{ at = [0, 0, 0], radius = 1 }, …]"),
        ));
    }
    let parts = connected_parts(&spheres);
    if parts > 1 {
        findings.notices.push(format!(
            "{path}: its spheres hang together in {parts} parts, which move as one body all the same"
        ));
    }
    let solid = given_solid(section).or(solid).unwrap_or_else(|| solid_of_spheres(&spheres));
    let (moments, axes) = possible_moments(&solid)?;
    let reach = spheres
        .iter()
        .map(|(at, radius)| at.distance(solid.center) + radius)
        .fold(0.0, f64::max);
    let to_axes = axes.transpose();
    let rotation = section.rotate.as_ref().map(orientation).transpose();
    let rotation = rotation.map_err(|complaint| ("rotate.axis", complaint))?;
    let drawn_axes = DQuat::from_mat3(&axes).normalize();
    Ok(Shape {
        spheres: spheres
            .iter()
            .map(|(at, radius)| (to_axes * (*at - solid.center) / reach, radius / reach))
            .collect(),
        volume: solid.volume / reach.powi(3),
        moments: moments / reach.powi(5),
        axes: rotation.map_or(drawn_axes, |rotation| (rotation * drawn_axes).normalize()),
        is_given: section.solid.is_some(),
        is_flat: false,
        drawn: reach * meters(section.unit.as_ref(), section.scale.as_ref())?,
        outline: outline
            .iter()
            .map(|triangle| triangle.map(|corner| (to_axes * (DVec3::from(corner) - solid.center) / reach).to_array()))
            .collect(),
    })
}

/// The solid that a section gives, if it does.
pub(crate) fn given_solid(section: &ShapeSection) -> Option<Solid> {
    let given = section.solid.as_ref()?;
    let [xx, yy, zz, xy, xz, yz] = [0, 1, 2, 3, 4, 5].map(|k| given.inertia[k].si);
    Some(Solid {
        volume: given.volume.si,
        center: DVec3::from(si(&given.center)),
        inertia: DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)),
    })
}

/// Principal moments of a solid, from the largest to the smallest, and its axes.
///
/// # Errors
/// If no solid has these moments.
pub(crate) fn possible_moments(solid: &Solid) -> Result<(DVec3, DMat3), At> {
    let (moments, axes) = solid.principal_axes();
    let is_possible = moments.z > 0.0 && moments.x <= (moments.y + moments.z) * (1.0 + ROUNDING);
    if !is_possible {
        let complaint = UnlocatedDiagnostic::new(format!("no solid has the principal moments of inertia {moments}"));
        return Err((
            "solid.inertia",
            complaint
                .limit("all above zero, the largest at most the sum of the two others")
                .remedy("check the six numbers: xx, yy, zz, xy, xz, yz with xy = -∫ x y dV"),
        ));
    }
    Ok((moments, axes))
}

/// The shape of this name.
pub(crate) fn find<'a>(
    name: &str,
    shapes: &'a BTreeMap<String, Shape>,
    file_has: &[String],
) -> Result<Option<&'a Shape>, UnlocatedDiagnostic> {
    match shapes.get(name) {
        Some(shape) => Ok(Some(shape)),
        // The error of the shape itself is sufficient.
        None if file_has.iter().any(|known| known == name) => Ok(None),
        None => {
            let known = file_has.iter().map(String::as_str);
            Err(UnlocatedDiagnostic::new(format!("there is no shape `{name}`"))
                .limit("the tables [shape.NAME] of the scene")
                .remedy(did_you_mean(name, known)))
        }
    }
}

/// A rotation in a scene.
pub(crate) fn orientation(turn: &Turn) -> Result<DQuat, UnlocatedDiagnostic> {
    let axis = DVec3::from(unit(&turn.axis)?);
    Ok(DQuat::from_axis_angle(axis, turn.angle.si))
}

/// A random rotation, uniformly distributed \[Shoemake 1992\].
pub(crate) fn any_turn(random: &mut ChaCha12Rng) -> DQuat {
    let [share, first, second]: [f64; 3] = [random.random(), random.random(), random.random()];
    let ((sin_a, cos_a), (sin_b, cos_b)) = (
        (std::f64::consts::TAU * first).sin_cos(),
        (std::f64::consts::TAU * second).sin_cos(),
    );
    let (a, b) = ((1.0 - share).sqrt(), share.sqrt());
    DQuat::from_xyzw(a * sin_a, a * cos_a, b * sin_b, b * cos_b)
}
