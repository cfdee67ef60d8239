//! Servos of walls whose stress is that of a region, as a probe measures it.

use crate::{
    Probe, ProbeKind,
    assemble::CheckState,
    condition::ProbeColumn,
    diagnostics::{UnlocatedDiagnostic, did_you_mean},
    schema::SceneFile,
};
use seixo_engine::world::{Servo, Vec3, World};
use std::{collections::BTreeMap, ops::Range};

/// A servo of a wall that reaches and keeps the stress of a region: the target of its wall is corrected by the lines of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionServo {
    /// Index into [`World::walls`].
    pub wall: usize,
    /// Name of the wall.
    pub name: String,
    /// The normal stress of the region.
    pub measured: ProbeColumn,
    /// Name of the probe.
    pub probe: String,
    /// Stress that is asked for at the start \[Pa\].
    pub stress: f64,
    /// Target of the servo per stress: 1, or the constant area \[m²\].
    pub target_per_stress: f64,
    /// Simulated time between two lines of the probe \[s\].
    pub every: f64,
    /// Time over which a line is a mean \[s\]; zero without.
    pub window: f64,
}

/// The name of the normal stress along a unit vector; `None` for an oblique one.
fn component(along: Vec3) -> Option<&'static str> {
    let mut axes = along.into_iter().zip(["sigma_xx", "sigma_yy", "sigma_zz"]);
    axes.find(|(part, _)| part.abs() > 1.0 - 1e-9).map(|(_, name)| name)
}

/// The servos of regions of a scene.
pub(crate) fn region_servos(
    file: &SceneFile,
    world: &World,
    ranges: &BTreeMap<String, Range<usize>>,
    probes: &[Probe],
    findings: &mut CheckState,
) -> Vec<RegionServo> {
    let mut servos = Vec::new();
    for (name, section) in &file.wall {
        let Some(section) = &section.motion.servo else { continue };
        let (Some(of), Some(stress)) = (&section.of, section.stress) else {
            continue;
        };
        // A wall with another error has no servo.
        let wall = ranges.get(name).filter(|range| range.len() == 1).map(|range| range.start);
        let servo = wall.and_then(|wall| Some((wall, world.walls.get(wall)?.motion.servo?)));
        let Some((wall, servo)) = servo else { continue };
        match measured(of, &servo, file, probes) {
            Ok(Some(measured)) => {
                let probe = &probes[measured.probe];
                servos.push(RegionServo {
                    wall,
                    name: name.clone(),
                    measured,
                    probe: of.clone(),
                    stress: stress.si,
                    target_per_stress: servo.target.value() / stress.si,
                    every: probe.every,
                    window: probe.average.map_or(0.0, |average| average.window),
                });
            }
            // The probe has an error of its own.
            Ok(None) => {}
            Err(complaint) => {
                let path = format!("wall.{name}");
                findings.add(&format!("{path}.motion.servo.of"), complaint.within(&path));
            }
        }
    }
    servos
}

/// The column of the stress that a servo sets; `None` if the probe of this name has an error.
fn measured(of: &str, servo: &Servo, file: &SceneFile, probes: &[Probe]) -> Result<Option<ProbeColumn>, UnlocatedDiagnostic> {
    let Some(component) = component(servo.along) else {
        let complaint = UnlocatedDiagnostic::new(format!(
            "`along` is oblique, and probe `{of}` gives the normal stresses along x, y and z"
        ));
        return Err(complaint
            .limit("a direction along x, y or z, or no `of`")
            .remedy("turn the scene so that the wall pushes along an axis, or remove `of`"));
    };
    let Some(probe) = probes.iter().position(|probe| probe.name == of) else {
        if file.probe.contains_key(of) {
            return Ok(None);
        }
        let complaint = UnlocatedDiagnostic::new(format!("no probe is named `{of}`"));
        return Err(complaint.remedy(did_you_mean(of, file.probe.keys().map(String::as_str))));
    };
    if !matches!(probes[probe].what, ProbeKind::Stress(_)) {
        let complaint = UnlocatedDiagnostic::new(format!("probe `{of}` does not measure the stress of a region"));
        return Err(complaint
            .limit("a probe with `stress`")
            .remedy("name one, as in [probe.core] with stress = { region = { box = { min = [0, 0, 0], max = [1, 1, 1] } } }"));
    }
    // Means over time have less noise.
    let wanted = if probes[probe].average.is_some() {
        format!("mean_{component}")
    } else {
        component.to_owned()
    };
    let columns = probes[probe].columns();
    let column = columns.iter().position(|header| header.split(' ').next() == Some(wanted.as_str()));
    Ok(column.map(|column| ProbeColumn { probe, column }))
}
