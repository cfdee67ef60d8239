//! Motion of a wall, and of its surface.

use super::{At, unit};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::{axis_between, si},
    quantity::Length,
    schema::{Direction, FrameSection, Motion, ServoSection, SurfaceRotation, Vector, Vibrate, WallSection},
};
use seixo_engine::world::{MotionFrame, Servo, SurfaceMotion, Vec3, Vibration, WallMotion, WallPath};

/// The motion of a section, with its path read from the file. An error has the key of the section.
pub(super) fn motion(section: &mut WallSection, findings: &CheckState) -> Result<WallMotion, At> {
    let surface = surface(section)?;
    let motion = prescribed(&mut section.motion, findings)?;
    let servo = section.motion.servo.as_ref().map(servo).transpose()?;
    if servo.is_some() && section.box_.is_some() && !section.is_solid() {
        let complaint = UnlocatedDiagnostic::new("a servo moves one wall, and each face of a box is one");
        return Err(("motion.servo", complaint.remedy("write the face that the servo moves as a `plane`")));
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

fn servo(section: &ServoSection) -> Result<Servo, At> {
    let wrong = |message: &str, remedy: &str| Err(("motion.servo", UnlocatedDiagnostic::new(message).remedy(remedy)));
    let force = match (section.force, section.stress, section.area) {
        (Some(force), None, None) => force.si,
        (None, Some(stress), Some(area)) => stress.si * area.si,
        (None, Some(_), None) => {
            return wrong(
                "a stress needs the `area` that it acts on",
                "add area = \"10 cm^2\", or give `force`",
            );
        }
        (None, None, _) => return wrong("a servo needs a target", "add force = \"100 N\", or `stress` and `area`"),
        (Some(_), ..) => return wrong("a servo has one target", "keep `force`, or `stress` and `area`"),
    };
    if !(force.is_finite() && force > 0.0) {
        return wrong(&format!("its target comes to {force} N"), "check `stress` and `area`");
    }
    Ok(Servo {
        along: unit(&section.along).map_err(|complaint| ("motion.servo.along", complaint))?,
        force,
        velocity_limit: section.velocity_limit.si,
        gain: section.gain.map(|gain| gain.si),
    })
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
