//! Heat conduction: whether a scene has it, and which keys it lacks.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    scalars::{materials_of_grains, refuse_bodies, refuse_what_shows},
    schema::SceneFile,
};
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Conduction, Thermal, World};
use std::{collections::BTreeMap, ops::Range};

/// Settings of heat conduction; `None` if no grain has a temperature.
pub(crate) fn conduction(
    file: &SceneFile,
    world: &World,
    walls: &BTreeMap<String, Range<usize>>,
    findings: &mut CheckState,
) -> Option<Conduction> {
    if world.grains.scalars[GrainScalar::Temperature].is_empty() && file.grains.values().all(|section| section.temperature.is_none()) {
        refuse_what_asks_for_heat(file, findings);
        return None;
    }
    refuse_bodies(file, GrainScalar::Temperature, findings);
    refuse_grains_without(file, world, findings);
    let holds_grains = materials_of_grains(file, world);
    for (index, (name, section)) in file.material.iter().enumerate() {
        let needed = [
            ("thermal_conductivity", "1.1 W/m/K", section.thermal_conductivity.is_none()),
            ("specific_heat_capacity", "800 J/kg/K", section.specific_heat_capacity.is_none()),
        ];
        for (key, example, is_missing) in needed {
            if is_missing && holds_grains.contains(&(index as u32)) {
                let complaint = UnlocatedDiagnostic::new(format!("material.{name}: `{key}` is missing, as its grains have temperatures"));
                findings.add(
                    &format!("material.{name}"),
                    complaint.remedy(format!("add {key} = \"{example}\", or leave all temperatures out")),
                );
            }
        }
    }
    let mut temperatures = vec![None; world.walls.len()];
    for (name, section) in &file.wall {
        let Some(temperature) = section.temperature else { continue };
        let material = section.material.as_deref().unwrap_or_default();
        if file
            .material
            .get(material)
            .is_some_and(|found| found.thermal_conductivity.is_none())
        {
            let complaint = UnlocatedDiagnostic::new(format!(
                "wall.{name}: it has a temperature, but its material {material} conducts no heat"
            ));
            let remedy = format!("add thermal_conductivity = \"50 W/m/K\" to [material.{material}], or remove the temperature");
            findings.add(&format!("wall.{name}.temperature"), complaint.remedy(remedy));
        }
        if let Some(range) = walls.get(name) {
            temperatures[range.clone()].fill(Some(temperature.si));
        }
    }
    let thermal = |section: &crate::schema::MaterialSection| Thermal {
        conductivity: section.thermal_conductivity.map(|value| value.si),
        specific_heat_capacity: section.specific_heat_capacity.map(|value| value.si),
        real_youngs_modulus: section.real_youngs_modulus.map(|value| value.si),
    };
    Some(Conduction {
        materials: file.material.values().map(thermal).collect(),
        walls: temperatures,
    })
}

/// If some grains have temperatures, all need one.
fn refuse_grains_without(file: &SceneFile, world: &World, findings: &mut CheckState) {
    let grains = &world.grains;
    for (group, (name, section)) in file.grains.iter().enumerate() {
        let lacks = |k: usize| {
            grains.scalars[GrainScalar::Temperature]
                .get(k)
                .is_none_or(|temperature| temperature.is_nan())
        };
        let is_lacking = (0..grains.len()).any(|k| grains.group[k] == group as u32 && lacks(k));
        if is_lacking || section.inlet.is_some() && section.temperature.is_none() {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name}: `temperature` is missing, as other grains have one"));
            findings.add(
                &format!("grains.{name}"),
                complaint.remedy("add temperature = \"300 K\", or leave all temperatures out"),
            );
        }
    }
}

/// If no grain has a temperature: reports keys that make no sense, and notes keys without effect.
fn refuse_what_asks_for_heat(file: &SceneFile, findings: &mut CheckState) {
    let wall = |(name, section): (&String, &crate::schema::WallSection)| section.temperature.map(|_| format!("wall.{name}.temperature"));
    refuse_what_shows(
        file,
        GrainScalar::Temperature,
        |section| {
            vec![
                ("group_temperature", section.group_temperature.is_some()),
                ("wall_heat", section.wall_heat.is_some()),
                ("heat", section.heat == Some(true)),
            ]
        },
        file.wall.iter().filter_map(wall).collect(),
        "add temperature = \"300 K\" to every section of grains, or remove this",
        findings,
    );
    for (name, section) in &file.material {
        if section.thermal_conductivity.is_some() || section.specific_heat_capacity.is_some() || section.real_youngs_modulus.is_some() {
            findings.notices.push(format!(
                "material.{name}: thermal keys have no effect, as no grain has a `temperature`"
            ));
        }
    }
}
