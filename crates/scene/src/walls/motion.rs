//! Motion of a wall, and of its surface.

use super::{At, NamedWalls, unit};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::{axis_between, si},
    quantity::Length,
    schema::{Direction, FrameSection, Motion, ServoSection, SurfaceRotation, Vector, Vibrate, WallSection},
};
use seixo_engine::world::{Extent, MotionFrame, Servo, ServoTarget, SurfaceMotion, Vec3, Vibration, WallMotion, WallPath};

/// The motion of a section, with its path read from the file. An error has the key of the section.
pub(super) fn motion(section: &mut WallSection, findings: &CheckState) -> Result<WallMotion, At> {
    let surface = surface(section)?;
    let mut motion = prescribed(&mut section.motion, findings)?;
    let mut servo = section.motion.servo.as_ref().map(servo).transpose()?;
    if servo.is_some() && section.box_.is_some() && !section.is_solid() {
        let complaint = UnlocatedDiagnostic::new("a servo moves one wall, and each face of a box is one");
        return Err(("motion.servo", complaint.remedy("write the face that the servo moves as a `plane`")));
    }
    if let Some(servo) = servo.as_mut().filter(|servo| servo.turns()) {
        if motion.angular_velocity != [0.0; 3] || motion.path.as_ref().is_some_and(|path| !path.angle.is_empty()) {
            let complaint = UnlocatedDiagnostic::new("a servo with a torque turns the wall, and so does another part of its motion");
            return Err((
                "motion.servo",
                complaint.remedy("remove `rotate` or the column `angle` of the path, or `torque`"),
            ));
        }
        (servo.along, motion.through) = axis(&section.motion)?;
    }
    Ok(WallMotion { servo, surface, ..motion })
}

/// The motion of a boundary made of grains, with its path read from the file.
pub(crate) fn motion_of_boundary(motion: &mut Motion, findings: &CheckState) -> Result<WallMotion, At> {
    if motion.servo.is_some() {
        let complaint = UnlocatedDiagnostic::new("a servo moves a wall, not grains").limit("translate, rotate, vibrate and path");
        return Err(("motion.servo", complaint.remedy("remove it, or write the boundary as a wall")));
    }
    prescribed(motion, findings)
}

/// The parts of a motion that depend on time only, with its path read from the file.
fn prescribed(motion: &mut Motion, findings: &CheckState) -> Result<WallMotion, At> {
    let (start, stop) = (motion.start.si, motion.stop.map(|stop| stop.si));
    if let Some(stop) = stop.filter(|&stop| stop <= start) {
        let complaint = UnlocatedDiagnostic::new(format!("it stops at {stop} s, but starts at {start} s")).limit("a stop after the start");
        return Err(("motion.stop", complaint.remedy("move `start` or `stop`")));
    }
    let path = motion.path.as_mut().map(|file| path(file, findings)).transpose()?;
    let turns_by_path = path.as_ref().is_some_and(|path| !path.angle.is_empty());
    let rate = motion.rotate.si;
    if turns_by_path && rate != 0.0 {
        let complaint = UnlocatedDiagnostic::new("it rotates at a constant rate and by the angles of its path");
        return Err((
            "motion.rotate",
            complaint.remedy("remove `rotate`, or the column `angle` of the path"),
        ));
    }
    let turn = if turns_by_path || rate != 0.0 { Some(axis(motion)?) } else { None };
    let (axis, through) = turn.unwrap_or_default();
    Ok(WallMotion {
        velocity: si(&motion.translate),
        angular_velocity: axis.map(|component| component * rate),
        through,
        vibrations: vibrations(motion)?,
        path: path.map(|path| WallPath { axis, ..path }),
        start,
        stop,
        frame: frame(motion)?,
        ..WallMotion::default()
    })
}

/// A motion that starts with a stage: translation, rotation and vibration, in a frame.
pub(crate) fn motion_of_stage(motion: &Motion) -> Result<WallMotion, At> {
    if motion.path.is_some() || motion.servo.is_some() {
        let complaint = UnlocatedDiagnostic::new("a stage cannot set a path or a servo");
        let remedy = "write it in the section of the wall; a stage sets translate, rotate and vibrate";
        return Err(("motion", complaint.remedy(remedy)));
    }
    let rate = motion.rotate.si;
    let (axis, through) = if rate == 0.0 { Default::default() } else { axis(motion)? };
    Ok(WallMotion {
        velocity: si(&motion.translate),
        angular_velocity: axis.map(|component| component * rate),
        through,
        vibrations: vibrations(motion)?,
        start: motion.start.si,
        stop: motion.stop.map(|stop| stop.si),
        frame: frame(motion)?,
        ..WallMotion::default()
    })
}

/// Axis of the rotation of a motion, and a point of it.
fn axis(motion: &Motion) -> Result<(Vec3, Vec3), At> {
    axis_through(motion.axis.as_ref(), motion.through.as_ref(), ["motion", "motion.axis"])
}

/// Axis of a rotation with these keys, and a point of it.
fn axis_through(axis: Option<&Direction>, through: Option<&Vector<Length>>, [table, key]: [&'static str; 2]) -> Result<(Vec3, Vec3), At> {
    let (Some(axis), Some(through)) = (axis, through) else {
        let complaint = UnlocatedDiagnostic::new("a rotation needs `axis` and `through`").remedy(format!(
            "write {table} = {{ rotate = \"2 rad/s\", axis = [0, 1, 0], through = [0, 0, 0] }}"
        ));
        return Err((table, complaint));
    };
    let axis = unit(axis).map_err(|complaint| (key, complaint))?;
    Ok((axis, si(through)))
}

/// The motion of the frame, if there is one.
fn frame(motion: &Motion) -> Result<Option<MotionFrame>, At> {
    let Some(FrameSection {
        translate,
        rotate,
        axis,
        through,
    }) = &motion.frame
    else {
        return Ok(None);
    };
    if motion.servo.is_some() {
        let complaint = UnlocatedDiagnostic::new("a servo moves a wall along a direction that is fixed, and this frame moves");
        return Err(("motion.frame", complaint.remedy("remove one of the two")));
    }
    let rate = rotate.si;
    let (axis, through) = if rate == 0.0 {
        Default::default()
    } else {
        axis_through(axis.as_ref(), through.as_ref(), ["motion.frame", "motion.frame.axis"])?
    };
    Ok(Some(MotionFrame {
        velocity: si(translate),
        angular_velocity: axis.map(|component| component * rate),
        through,
    }))
}

fn vibrations(motion: &Motion) -> Result<Vec<Vibration>, At> {
    let vibration = |vibrate: &Vibrate| {
        let direction = unit(&vibrate.direction).map_err(|complaint| ("motion.vibrate", complaint))?;
        Ok(Vibration {
            amplitude: direction.map(|component| component * vibrate.amplitude.si),
            frequency: vibrate.frequency.si,
            phase: vibrate.phase.si,
        })
    };
    motion.vibrate.iter().map(vibration).collect()
}

fn path(file: &mut String, findings: &CheckState) -> Result<WallPath, At> {
    let whole = findings.absolute(file);
    *file = whole.display().to_string();
    seixo_files::path_in::read(&whole).map_err(|error| ("motion.path", UnlocatedDiagnostic::of_file(&error)))
}

/// The servo of a motion. [`super::set_areas()`] sets its area between walls, once all are known.
fn servo(section: &ServoSection) -> Result<Servo, At> {
    let wrong = |message: &str, remedy: &str| Err(("motion.servo", UnlocatedDiagnostic::new(message).remedy(remedy)));
    let target = match (section.force, section.stress, section.torque) {
        (Some(force), None, None) => ServoTarget::Force(force.si),
        (None, Some(stress), None) => stress_of(section, stress.si)?,
        (None, None, Some(torque)) => ServoTarget::Torque(torque.si),
        (None, None, None) => {
            return wrong(
                "a servo needs a target",
                "add force = \"100 N\", or `stress` and `area`, or `torque`",
            );
        }
        _ => return wrong("a servo has one target", "keep `force`, or `stress` and its area, or `torque`"),
    };
    if !(target.value().is_finite() && target.value() > 0.0) {
        return wrong(&format!("its target comes to {} N", target.value()), "check `stress` and `area`");
    }
    let is_of_area = section.area.is_some() || section.between.is_some() || section.width.is_some() || section.edge.is_some();
    if is_of_area && section.stress.is_none() {
        return wrong(
            "`area`, `between`, `width` and `edge` are for a `stress`",
            "remove them, or give `stress`",
        );
    }
    if section.of.is_some() && section.stress.is_none() {
        return wrong("`of` names where a `stress` is measured", "remove it, or give `stress`");
    }
    let servo = Servo {
        target,
        gain: section.gain.map(|gain| gain.si),
        integral_time: section.integral_time.map(|time| time.si),
        ..Servo::default()
    };
    if servo.turns() {
        if section.along.is_some() || section.velocity_limit.is_some() || section.gain.is_some() {
            return wrong(
                "`along`, `velocity_limit` and `gain` are for a force, and this servo has a torque",
                "remove them, and give `axis` and `through` of the motion, and `angular_velocity_limit`",
            );
        }
        let Some(limit) = section.angular_velocity_limit else {
            return wrong("`angular_velocity_limit` is missing", "add angular_velocity_limit = \"1 rad/s\"");
        };
        return Ok(Servo {
            velocity_limit: limit.si,
            ..servo
        });
    }
    if section.angular_velocity_limit.is_some() {
        return wrong("`angular_velocity_limit` is for a torque", "remove it, or give `torque`");
    }
    let Some(along) = &section.along else {
        return wrong(
            "`along` is missing",
            "add the direction in which the wall pushes the grains, as in along = [0, 0, -1]",
        );
    };
    let Some(limit) = section.velocity_limit else {
        return wrong("`velocity_limit` is missing", "add velocity_limit = \"0.1 m/s\"");
    };
    Ok(Servo {
        along: unit(along).map_err(|complaint| ("motion.servo.along", complaint))?,
        velocity_limit: limit.si,
        ..servo
    })
}

/// The target of a servo with a stress \[Pa\].
fn stress_of(section: &ServoSection, stress: f64) -> Result<ServoTarget, At> {
    let wrong = |message: &str, remedy: &str| Err(("motion.servo", UnlocatedDiagnostic::new(message).remedy(remedy)));
    match (section.area, &section.between) {
        (Some(area), None) => match (section.width, section.edge) {
            (None, None) => Ok(ServoTarget::Force(stress * area.si)),
            _ => wrong(
                "`width` and `edge` are for an area `between` walls",
                "remove them, or give `between` in place of `area`",
            ),
        },
        (None, Some(pairs)) => match (pairs.len(), section.width) {
            (1, None) => wrong(
                "one pair of walls gives one extent of the area",
                "add the other pair to `between`, or its constant extent as width = \"5 cm\"",
            ),
            (1, Some(_)) | (2, None) => Ok(ServoTarget::Stress {
                stress,
                area: [Extent::Length(1.0); 2],
            }),
            (2, Some(_)) => wrong(
                "two pairs of walls give both extents of the area",
                "remove `width`, or a pair of `between`",
            ),
            (count, _) => wrong(
                &format!("`between` names {count} pairs of walls, must be one or two"),
                "write between = [[\"left\", \"right\"], [\"front\", \"back\"]]",
            ),
        },
        (Some(_), Some(_)) => wrong("`area` is constant, and `between` is not", "keep one of them"),
        (None, None) => wrong(
            "a stress needs the `area` that it acts on",
            "add area = \"10 cm^2\", or the walls around it as `between`, or give `force`",
        ),
    }
}

/// The extents of the area of a servo with a stress between walls, which are known now.
pub(super) fn area_between(section: &ServoSection, named: NamedWalls) -> Result<[Extent; 2], UnlocatedDiagnostic> {
    let edge = section.edge.map_or(0.0, |edge| edge.si);
    let index = |name: &String| -> Result<usize, UnlocatedDiagnostic> {
        let range = named.find(name)?;
        if range.len() == 1 {
            return Ok(range.start);
        }
        let complaint = UnlocatedDiagnostic::new(format!("wall {name} has several faces, and a distance is between two"));
        Err(complaint.remedy(format!("name one face, as in \"{name}.left\"")))
    };
    let mut area = [Extent::Length(section.width.map_or(1.0, |width| width.si)); 2];
    for (extent, [one, other]) in area.iter_mut().zip(section.between.iter().flatten()) {
        *extent = Extent::Between {
            walls: [index(one)?, index(other)?],
            edge,
        };
    }
    Ok(area)
}

/// Velocity of the surface.
fn surface(section: &WallSection) -> Result<SurfaceMotion, At> {
    let mut surface = SurfaceMotion {
        velocity: section.surface_velocity.as_ref().map_or([0.0; 3], si),
        ..SurfaceMotion::default()
    };
    if let Some(SurfaceRotation { rate, axis, through }) = &section.surface_rotation {
        let ends = match (&section.cylinder, &section.cone) {
            (Some(shape), _) => Some([&shape.from, &shape.to]),
            (_, Some(shape)) => Some([&shape.from, &shape.to]),
            _ => None,
        };
        let ends = ends.map(|ends| ends.map(si));
        let of_shape = ends.map(|ends| axis_between(ends[0].into(), ends[1].into()));
        let axis = match (axis, of_shape) {
            (Some(axis), _) => unit(axis).map_err(|complaint| ("surface_rotation.axis", complaint))?,
            (None, Some(axis)) => axis.map_err(|complaint| ("surface_rotation", complaint))?.to_array(),
            (None, None) => {
                let complaint = UnlocatedDiagnostic::new("the rotation of this surface needs an `axis`");
                return Err(("surface_rotation", complaint.remedy("add axis = [0, 1, 0]")));
            }
        };
        let middle = ends.map(|ends| ends[0]).or(section.sphere.as_ref().map(|shape| si(&shape.center)));
        let Some(through) = through.as_ref().map(si).or(middle) else {
            let complaint = UnlocatedDiagnostic::new("the rotation of this surface needs a point of its axis");
            return Err(("surface_rotation", complaint.remedy("add through = [0, 0, 0]")));
        };
        surface.angular_velocity = axis.map(|component| component * rate.si);
        surface.through = through;
    }
    Ok(surface)
}
