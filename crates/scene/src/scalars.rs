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

/// Refuses rigid bodies in a scene whose grains carry a scalar: clumps, held grains, and grains on joints or with fluid around them. Polyhedra that move
/// by themselves are no bodies; they carry temperatures, but no films.
pub(crate) fn refuse_bodies(file: &SceneFile, scalar: GrainScalar, findings: &mut CheckState) {
    for (name, section) in &file.grains {
        let shape = section.shape.as_ref().map(|shape| file.shape.get(shape));
        let is_polyhedron = shape.flatten().is_some_and(|shape| shape.is_polyhedron());
        let is_clump = shape.is_some() && !is_polyhedron;
        let may_be_polyhedron = scalar == GrainScalar::Temperature;
        let reasons = [
            (is_clump, "shape", "clumps", "plain grains"),
            (is_polyhedron && !may_be_polyhedron, "shape", "polyhedra", "plain grains"),
            (section.motion.is_some(), "motion", "held grains", "a wall"),
            (section.fixed, "fixed", "held grains", "a wall"),
            (section.joint.is_some(), "joint", "grains on joints", "grains without `joint`"),
            (
                section.displaces_fluid,
                "displaces_fluid",
                "grains that displace fluid",
                "grains that fluids pass through",
            ),
        ];
        let Some((_, key, what, instead)) = reasons.into_iter().find(|(is_there, ..)| *is_there) else {
            continue;
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
