//! Boundaries made of grains: sections with a prescribed motion, as one rigid body or, with a shape, as bodies that move together, whatever forces act on
//! them.

use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic, fill::si, schema::GrainsSection, walls::motion_of_boundary};
use glam::DVec3;
use seixo_engine::world::{Body, Grains, Vec3, WallMotion};
use seixo_files::grains_in::GrainRow;
use std::f64::consts::PI;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// A grain of a boundary.
pub(crate) struct Member {
    pub id: u32,
    /// Center \[m\].
    pub position: Vec3,
    /// \[m\].
    pub radius: f64,
    /// Index into [`seixo_engine::world::World::materials`].
    pub material: u32,
    /// \[kg/m³\].
    pub density: f64,
    /// \[kg\], in place of the density.
    pub given_mass: Option<f64>,
    /// Whether it is a disk, a meter deep, in a plane flow, and not a sphere.
    pub is_disk: bool,
}

impl Member {
    /// \[kg\].
    fn mass(&self) -> f64 {
        let volume = if self.is_disk {
            PI * self.radius.powi(2)
        } else {
            4.0 / 3.0 * PI * self.radius.powi(3)
        };
        self.given_mass.unwrap_or(volume * self.density)
    }

    /// Square of the radius of gyration about its axis \[m²\].
    fn gyration_square(&self) -> f64 {
        let share = if self.is_disk { 0.5 } else { 0.4 };
        share * self.radius * self.radius
    }
}

/// The prescribed motion of a section; `None` if its grains move freely.
pub(crate) fn motion(section: &mut GrainsSection, findings: &CheckState) -> Result<Option<WallMotion>, At> {
    if !section.is_boundary() {
        return Ok(None);
    }
    if section.fixed && section.motion.is_some() {
        let complaint = UnlocatedDiagnostic::new("grains that are `fixed` have no `motion`");
        return Err((
            "fixed",
            complaint.remedy("keep `fixed` for a boundary that stays, or `motion` for one that moves"),
        ));
    }
    let is_pushed = "a boundary moves as its `motion` says, whatever pushes it";
    let others = [
        (
            "inlet",
            section.inlet.is_some(),
            "the grains of a boundary are there from the start",
            "use `file`, `fill` or `at`",
        ),
        ("joint", section.joint.is_some(), is_pushed, "remove one of the two"),
        (
            "velocity",
            si(&section.velocity) != [0.0; 3],
            "`motion` says how fast a boundary is",
            "write motion = { translate = [0, 0, \"1 m/s\"] }",
        ),
        (
            "angular_velocity",
            si(&section.angular_velocity) != [0.0; 3],
            "`motion` says how fast a boundary turns",
            "write motion = { rotate = \"2 rad/s\", axis = [0, 1, 0], through = [0, 0, 0] }",
        ),
        (
            "carried_by_fluid",
            section.carried_by_fluid,
            is_pushed,
            "remove it, or write displaces_fluid = true for grains that are thicker than some spacings of the fluid",
        ),
        (
            "force",
            section.force.is_some(),
            is_pushed,
            "remove it, or let the grains move freely",
        ),
        (
            "torque",
            section.torque.is_some(),
            is_pushed,
            "remove it, or let the grains move freely",
        ),
    ];
    if let Some((key, _, reason, remedy)) = others.into_iter().find(|(_, is_given, ..)| *is_given) {
        let by = if section.fixed { "fixed" } else { "motion" };
        let complaint = UnlocatedDiagnostic::new(format!("`{key}` does not go with `{by}`: {reason}"));
        return Err((key, complaint.remedy(remedy)));
    }
    match &mut section.motion {
        Some(motion) => motion_of_boundary(motion, findings).map(Some),
        None => Ok(Some(WallMotion::default())),
    }
}

/// Refuses velocities in the file of a boundary.
pub(crate) fn refuse_moving(rows: &[GrainRow]) -> Result<(), At> {
    let is_moving = |row: &&GrainRow| row.velocity != [0.0; 3] || row.angular_velocity != [0.0; 3];
    rows.iter().find(is_moving).map_or(Ok(()), |row| {
        let complaint = UnlocatedDiagnostic::new(format!("line {}: a grain of a boundary has a velocity of its own", row.line));
        Err((
            "file",
            complaint.remedy("drop the columns of velocities; `motion` says how a boundary moves"),
        ))
    })
}

/// Adds spheres to the table, and the rigid body that they form.
pub(crate) fn put(grains: &mut Grains, members: &[Member], motion: WallMotion, group: u32) {
    for member in members {
        let (at, still) = (member.position, [0.0; 3]);
        grains.masses.extend(member.given_mass.map(|mass| (member.id, mass)));
        grains.push(member.id, at, still, still, member.radius, member.material, group);
    }
    bind(grains, members, motion);
}

/// Adds the rigid body that grains of the table form. Its axes are those of space: torques do not rotate it, so its moments of inertia do not matter.
pub(crate) fn bind(grains: &mut Grains, members: &[Member], motion: WallMotion) {
    if members.is_empty() {
        return;
    }
    let mass: f64 = members.iter().map(Member::mass).sum();
    let weighted = members.iter().map(|member| member.mass() * DVec3::from(member.position));
    let center = weighted.sum::<DVec3>() / mass;
    let (mut moments, mut carries) = (DVec3::ZERO, Vec::with_capacity(members.len()));
    for member in members {
        let arm = DVec3::from(member.position) - center;
        let square = arm * arm;
        let across = DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y);
        moments += member.mass() * (across + member.gyration_square());
        carries.push((member.id, arm.to_array()));
    }
    grains.bodies.push(Body {
        id: grains.bodies.len() as u32,
        mass,
        moments: moments.to_array(),
        center: center.to_array(),
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        carries,
        motion: Some(motion),
        joint: None,
    });
}
