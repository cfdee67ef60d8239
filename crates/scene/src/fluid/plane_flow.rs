//! Checks of a plane flow: nothing may move fluids out of the plane.

use super::AXES;
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    schema::SceneFile,
    stage::{Plan, StageAction},
};
use seixo_engine::world::{MotionFrame, Vec3, WallMotion, WallParticles, World};
use std::{collections::BTreeMap, ops::Range};

/// The error for gravity along this axis.
fn of_gravity(what: &str, axis: usize) -> UnlocatedDiagnostic {
    let axis = AXES[axis];
    let complaint = UnlocatedDiagnostic::new(format!("{what}: it acts along {axis}, across the plane in which fluids flow"));
    complaint
        .limit(format!("0 along {axis}"))
        .remedy("choose another `plane`, or turn gravity")
}

/// Refuses gravity and velocities along this axis, which is normal to the plane of the flow.
pub(super) fn refuse_flow(file: &SceneFile, axis: usize, gravity: Vec3, findings: &mut CheckState) {
    if gravity[axis] != 0.0 {
        findings.add("world.gravity", of_gravity("world.gravity", axis));
    }
    for (name, section) in &file.fluid {
        if si(&section.velocity)[axis] != 0.0 {
            let complaint = UnlocatedDiagnostic::new(format!("fluid.{name}: its velocity points out of the plane in which it flows"));
            findings.add(
                &format!("fluid.{name}.velocity"),
                complaint
                    .limit(format!("0 along {}", AXES[axis]))
                    .remedy("choose another `plane`, or velocity"),
            );
        }
    }
}

/// Refuses walls that bound fluids and move along this axis, or rotate about another, at the start or in a stage; and gravity that a stage turns out
/// of the plane.
pub(super) fn refuse_changes(
    world: &World,
    ranges: &BTreeMap<String, Range<usize>>,
    plan: &Plan,
    boundary: &WallParticles,
    axis: usize,
    findings: &mut CheckState,
) {
    let bounds = |walls: &Range<usize>| boundary.wall.iter().any(|&wall| walls.contains(&(wall as usize)));
    let complaint = |name: &str, what: &str| {
        let along = AXES[axis];
        let complaint = UnlocatedDiagnostic::new(format!("wall.{name}: its {what} takes fluids across the plane in which they flow"));
        complaint
            .limit(format!("motion with nothing along {along}, and turning about {along}"))
            .remedy("choose another `plane`, or motion")
    };
    for (name, walls) in ranges {
        if bounds(walls)
            && let Some(key) = leaves_plane(&world.walls[walls.start].motion, axis)
        {
            let what = key.rsplit('.').next().unwrap_or(key);
            findings.add(&format!("wall.{name}.{key}"), complaint(name, what));
        }
    }
    for (number, stage) in plan.stages.iter().enumerate() {
        let within = format!("stage {}", stage.name);
        for act in &stage.actions {
            match act {
                StageAction::Gravity(gravity) if gravity[axis] != 0.0 => {
                    let path = format!("stage.{number}.set.gravity");
                    findings.add(&path, of_gravity("gravity", axis).within(&within));
                }
                StageAction::Motion(walls, motion) if bounds(walls) => {
                    let section = ranges.iter().find(|(_, range)| *range == walls);
                    let name = section.map_or(&world.walls[walls.start].name, |(name, _)| name);
                    if let Some(key) = leaves_plane(motion, axis) {
                        let what = key.rsplit('.').next().unwrap_or(key);
                        let path = format!("stage.{number}.set.wall.{name}.{key}");
                        findings.add(&path, complaint(name, what).within(&within));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The key of a motion that has a component along an axis, or a rotation about another.
pub(super) fn leaves_plane(motion: &WallMotion, axis: usize) -> Option<&'static str> {
    let is_along = |vector: &Vec3| vector[axis] != 0.0;
    let is_about_another = |vector: &Vec3| (0..3).any(|other| other != axis && vector[other] != 0.0);
    let path = motion.path.as_ref();
    let first = path.map_or(0.0, |path| path.position[0][axis]);
    let strays = path.is_some_and(|path| {
        let turns = !path.angle.is_empty() && is_about_another(&path.axis);
        turns || path.position.iter().any(|place| place[axis] != first)
    });
    let surface = &motion.surface;
    let is_of_frame = |frame: MotionFrame| is_along(&frame.velocity) || is_about_another(&frame.angular_velocity);
    let keys = [
        ("motion.frame", motion.frame.is_some_and(is_of_frame)),
        ("motion.translate", is_along(&motion.velocity)),
        ("motion.rotate", is_about_another(&motion.angular_velocity)),
        ("motion.vibrate", motion.vibrations.iter().any(|swing| is_along(&swing.amplitude))),
        ("motion.path", strays),
        (
            "motion.servo",
            motion.servo.is_some_and(|servo| {
                if servo.turns() {
                    is_about_another(&servo.along)
                } else {
                    is_along(&servo.along)
                }
            }),
        ),
        ("surface_velocity", is_along(&surface.velocity)),
        ("surface_rotation", is_about_another(&surface.angular_velocity)),
    ];
    keys.into_iter().find(|(_, is)| *is).map(|(key, _)| key)
}
