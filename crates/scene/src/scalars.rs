//! Scalars of grains: what asks for one that no grain has.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    schema::{ProbeSection, SceneFile},
};
use seixo_engine::state::GrainScalar;
use seixo_engine::world::World;
use seixo_files::vtk::Field;
use std::collections::BTreeSet;

/// Keys of probes that show a scalar, with whether a section has them.
pub(crate) type ProbeKeys = fn(&ProbeSection) -> Vec<(&'static str, bool)>;

/// Indices of the materials of which grains are made, now or later.
pub(crate) fn materials_of_grains(file: &SceneFile, world: &World) -> BTreeSet<u32> {
    let of_sections = file.grains.values().filter_map(|section| section.material.as_deref());
    let named = |name: &str| world.materials.iter().zip(0..).find(|(material, _)| material.name == name);
    let later = of_sections.filter_map(|name| named(name).map(|(_, index)| index));
    world.grains.material.iter().copied().chain(later).collect()
}

/// Refuses clumps and held grains in a scene whose grains carry a scalar.
pub(crate) fn refuse_bodies(file: &SceneFile, scalar: GrainScalar, findings: &mut CheckState) {
    for (name, section) in &file.grains {
        let (key, what, instead) = match (section.shape.is_some(), section.motion.is_some(), section.fixed) {
            (true, ..) => ("shape", "clumps", "plain grains"),
            (_, true, _) => ("motion", "held grains", "a wall"),
            (.., true) => ("fixed", "held grains", "a wall"),
            _ => continue,
        };
        let complaint = UnlocatedDiagnostic::new(format!("grains.{name}: {what} do not go with {}", scalar.amount()));
        let remedy = format!("use {instead}, or leave `{}` out of the whole scene", scalar.name());
        findings.add(&format!("grains.{name}.{key}"), complaint.remedy(remedy));
    }
}

/// Refuses output and probes of a scalar that no grain has, and these other keys. Does nothing if there are errors already: a file that was refused may
/// have the scalar.
pub(crate) fn refuse_what_shows(
    file: &SceneFile,
    scalar: GrainScalar,
    keys: ProbeKeys,
    others: Vec<String>,
    remedy: &str,
    findings: &mut CheckState,
) {
    if !findings.is_sound() {
        return;
    }
    let is_shown = file.output.fields.iter().flatten().any(|field| field.0 == Field::Scalar(scalar));
    let probes = file.probe.iter().filter_map(|(name, section)| {
        let asked = keys(section).into_iter().find(|(_, is_given)| *is_given);
        asked.map(|(key, _)| format!("probe.{name}.{key}"))
    });
    let all = others.into_iter().chain(is_shown.then(|| "output.fields".to_owned())).chain(probes);
    for path in all {
        let complaint = UnlocatedDiagnostic::new(format!("{path}: no grain has {}", scalar.noun()));
        findings.add(&path, complaint.remedy(remedy));
    }
}
