//! Clumps: rigid bodies of spheres, put where a scene has places for them.

use crate::{
    assemble::Findings,
    diagnostics::{Complaint, did_you_mean},
    fill::si,
    schema::{SceneFile, ShapeSection, Turn},
    walls::unit,
};
use glam::{DMat3, DQuat, DVec3};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use seixo_analysis::{Solid, connected_parts, solid_of_spheres};
use seixo_engine::world::{Body, Grains, Sphere, Vec3};
use std::collections::BTreeMap;

/// Most spheres of a shape: the union of more takes minutes.
const MOST_SPHERES: usize = 10_000;
/// By how much principal moments may miss the inequality of the triangle.
const ROUNDING: f64 = 1e-9;

/// A shape of which the sphere that just holds it, about its center of mass, has radius one.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Offsets from the center of mass along the principal axes, and radii.
    spheres: Vec<(DVec3, f64)>,
    /// Volume of the solid.
    volume: f64,
    /// Principal moments of inertia at density one.
    moments: DVec3,
    /// Turns the principal axes into the axes along which the shape is drawn.
    axes: DQuat,
}

/// Where a clump is and how it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// Center of mass \[m\].
    pub center: Vec3,
    /// Radius of the sphere that just holds it \[m\].
    pub radius: f64,
    /// By what it is turned from the way that it is drawn.
    pub orientation: DQuat,
    /// \[m/s\].
    pub velocity: Vec3,
    /// \[rad/s\].
    pub angular_velocity: Vec3,
}

impl Shape {
    /// Number of spheres.
    pub fn len(&self) -> usize {
        self.spheres.len()
    }

    /// Adds a clump to the table of grains, with these ids for its spheres, of a material and a group.
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
        let body = Body {
            id: grains.bodies.len() as u32,
            mass: density * self.volume * placed.radius.powi(3),
            moments: (self.moments * density * placed.radius.powi(5)).to_array(),
            center: placed.center,
            orientation: [turn.w, turn.x, turn.y, turn.z],
            velocity: placed.velocity,
            angular_velocity: placed.angular_velocity,
            motion: None,
            carries: Vec::new(),
        };
        grains.push_body(body, &spheres, material, group);
    }
}

/// The shapes of a scene that are sound, by name.
pub(crate) fn shapes(file: &SceneFile, findings: &mut Findings) -> BTreeMap<String, Shape> {
    let mut shapes = BTreeMap::new();
    for (name, section) in &file.shape {
        let path = format!("shape.{name}");
        match shape(section) {
            Ok(shape) => {
                shapes.insert(name.clone(), shape);
            }
            Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
        }
        let spheres: Vec<(DVec3, f64)> = spheres_of(section).collect();
        let parts = connected_parts(&spheres);
        if parts > 1 {
            findings.notices.push(format!(
                "shape.{name}: its spheres hang together in {parts} parts, which move as one body all the same"
            ));
        }
    }
    shapes
}

fn spheres_of(section: &ShapeSection) -> impl Iterator<Item = (DVec3, f64)> + '_ {
    section.spheres.iter().map(|sphere| (DVec3::from(si(&sphere.at)), sphere.radius.si))
}

fn shape(section: &ShapeSection) -> Result<Shape, (&'static str, Complaint)> {
    let spheres: Vec<(DVec3, f64)> = spheres_of(section).collect();
    if spheres.is_empty() || spheres.len() > MOST_SPHERES {
        let complaint = Complaint::new(format!("a shape of {} spheres", spheres.len()));
        return Err((
            "spheres",
            complaint
                .limit(format!("1 to {MOST_SPHERES}"))
                .remedy("write spheres = [{ at = [0, 0, 0], radius = 1 }, …]"),
        ));
    }
    let solid = match &section.solid {
        None => solid_of_spheres(&spheres),
        Some(given) => {
            let [xx, yy, zz, xy, xz, yz] = [0, 1, 2, 3, 4, 5].map(|k| given.inertia[k].si);
            Solid {
                volume: given.volume.si,
                center: DVec3::from(si(&given.center)),
                inertia: DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)),
            }
        }
    };
    let (moments, axes) = solid.principal_axes();
    // Sorted from the largest to the smallest.
    let is_possible = moments.z > 0.0 && moments.x <= (moments.y + moments.z) * (1.0 + ROUNDING);
    if !is_possible {
        let complaint = Complaint::new(format!("no solid has the principal moments of inertia {moments}"));
        return Err((
            "solid.inertia",
            complaint
                .limit("all above zero, the largest at most the sum of the two others")
                .remedy("check the six numbers: xx, yy, zz, xy, xz, yz with xy = -∫ x y dV"),
        ));
    }
    let reach = spheres
        .iter()
        .map(|(at, radius)| at.distance(solid.center) + radius)
        .fold(0.0, f64::max);
    let to_axes = axes.transpose();
    Ok(Shape {
        spheres: spheres
            .iter()
            .map(|(at, radius)| (to_axes * (*at - solid.center) / reach, radius / reach))
            .collect(),
        volume: solid.volume / reach.powi(3),
        moments: moments / reach.powi(5),
        axes: DQuat::from_mat3(&axes).normalize(),
    })
}

/// The shape of this name.
pub(crate) fn find<'a>(name: &str, shapes: &'a BTreeMap<String, Shape>, file_has: &[String]) -> Result<Option<&'a Shape>, Complaint> {
    match shapes.get(name) {
        Some(shape) => Ok(Some(shape)),
        // A complaint about the shape itself is enough.
        None if file_has.iter().any(|known| known == name) => Ok(None),
        None => {
            let known = file_has.iter().map(String::as_str);
            Err(Complaint::new(format!("there is no shape `{name}`"))
                .limit("the tables [shape.NAME] of the scene")
                .remedy(did_you_mean(name, known)))
        }
    }
}

/// A turn of a scene.
pub(crate) fn orientation(turn: &Turn) -> Result<DQuat, Complaint> {
    let axis = DVec3::from(unit(&turn.axis)?);
    Ok(DQuat::from_axis_angle(axis, turn.angle.si))
}

/// A turn, all equally likely (Shoemake 1992).
pub(crate) fn any_turn(random: &mut ChaCha12Rng) -> DQuat {
    let [share, first, second]: [f64; 3] = [random.random(), random.random(), random.random()];
    let ((sin_a, cos_a), (sin_b, cos_b)) = (
        (std::f64::consts::TAU * first).sin_cos(),
        (std::f64::consts::TAU * second).sin_cos(),
    );
    let (a, b) = ((1.0 - share).sqrt(), share.sqrt());
    DQuat::from_xyzw(a * sin_a, a * cos_a, b * sin_b, b * cos_b)
}
