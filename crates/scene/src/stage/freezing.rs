//! Fluid that a stage freezes into a rigid body, and the grains that such bodies are.

use super::{Cast, Plan, Stage, StageAction, StageItem, volume_of};
use crate::{
    assemble::CheckState,
    condition::unknown,
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    interactions::Materials,
    schema::{GrainsSection, SceneFile, SimpleRegion},
    volume::Volume,
};
use schemars::JsonSchema;
use seixo_engine::PeriodicCell;
use seixo_engine::world::{ExpectedGrains, Fluids, Solver, Vec3, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Fluid that becomes a rigid body.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FreezeSection {
    /// Name of the fluid.
    #[schemars(example = &"water")]
    pub fluid: String,
    /// Region of space; the particles of the fluid that are inside freeze. It should end a spacing before walls and grains.
    pub region: SimpleRegion,
    /// Grains to which the body is added, as in "grains.ice". Their section has a material and displaces_fluid = true, and no places.
    #[schemars(example = &"grains.ice")]
    pub into: String,
}

/// Fluid that a stage freezes into a rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Freeze {
    /// Index into [`Fluids::kinds`].
    pub fluid: u32,
    /// Group of the spheres of the body: index into [`World::groups`].
    pub group: u32,
    /// Their material: index into [`World::materials`].
    pub material: u32,
    volume: Volume,
}

impl Freeze {
    /// Whether it takes a particle of this fluid in this cell.
    pub fn takes(&self, fluid: u32, position: Vec3, cell: &PeriodicCell) -> bool {
        fluid == self.fluid && self.volume.holds_image(position, cell)
    }

    /// The kind of the spheres.
    fn expected(&self, fluids: &Fluids) -> ExpectedGrains {
        let (low, high) = self.volume.bounds();
        ExpectedGrains {
            material: self.material,
            radius: [0.5 * fluids.spacing; 2],
            speed: fluids.largest_speed,
            reach: low.iter().chain(&high).fold(0.0, |most, x| most.max(x.abs())),
            highest_id: None,
            mass_per_radius: None,
            shape: None,
        }
    }
}

impl Plan {
    /// All fluid that stages freeze.
    pub(crate) fn freezes(&self) -> impl Iterator<Item = &Freeze> {
        let actions = self.stages.iter().flat_map(|stage| &stage.actions);
        actions.filter_map(|act| match act {
            StageAction::Freeze(freeze) => Some(freeze),
            _ => None,
        })
    }
}

/// Names of the sections of grains that are bodies which freeze out of fluids.
pub(crate) fn frozen_sections(file: &SceneFile) -> BTreeSet<String> {
    let into = file.stage.iter().flat_map(|stage| &stage.freeze).map(|freeze| &freeze.into);
    into.filter_map(|name| name.strip_prefix("grains.")).map(str::to_owned).collect()
}

/// Refuses keys that grains cannot have which freeze out of a fluid, and missing ones.
pub(crate) fn check_section(section: &GrainsSection, materials: &Materials) -> Result<(), (&'static str, UnlocatedDiagnostic)> {
    let given = [
        ("file", section.file.is_some()),
        ("rows", section.rows.is_some()),
        ("scale", section.scale.is_some()),
        ("fill", section.fill.is_some()),
        ("inlet", section.inlet.is_some()),
        ("at", section.at.is_some()),
        ("blocks", section.blocks.is_some()),
        ("shape", section.shape.is_some()),
        ("orientation", section.orientation.is_some()),
        ("radius", section.radius.is_some()),
        ("mass", section.mass.is_some()),
        ("velocity", si(&section.velocity) != [0.0; 3]),
        ("angular_velocity", si(&section.angular_velocity) != [0.0; 3]),
        ("temperature", section.temperature.is_some()),
        ("film_thickness", section.film_thickness.is_some()),
        ("motion", section.motion.is_some()),
        ("fixed", section.fixed),
        ("joint", section.joint.is_some()),
        ("carried_by_fluid", section.carried_by_fluid),
    ];
    if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let complaint = UnlocatedDiagnostic::new(format!(
            "`{key}` is not for grains that freeze out of a fluid: they have the places and velocities of its particles"
        ));
        return Err((
            key,
            complaint.remedy("remove it, or let the fluid freeze into a section of its own"),
        ));
    }
    if !section.displaces_fluid {
        let complaint = UnlocatedDiagnostic::new("grains that freeze out of a fluid displace it");
        return Err(("", complaint.remedy("add displaces_fluid = true")));
    }
    match &section.material {
        Some(material) => materials.index(material).map(|_| ()).map_err(|complaint| ("material", complaint)),
        None => {
            let complaint = UnlocatedDiagnostic::new("`material` is missing");
            Err(("", complaint.remedy(format!("add material = \"…\"; {}", materials.known()))))
        }
    }
}

impl Cast<'_> {
    /// The action that freezes fluid; the grains of its group are present afterwards.
    pub(super) fn freezing(
        &self,
        section: &FreezeSection,
        presence: &mut Vec<(StageItem, bool)>,
    ) -> Result<StageAction, UnlocatedDiagnostic> {
        let name = &section.into;
        let StageItem::Group(group) = self.thing(name)? else {
            let complaint = UnlocatedDiagnostic::new(format!("no fluid freezes into {name}")).limit("grains.NAME");
            return Err(complaint.remedy("write it as in into = \"grains.ice\""));
        };
        let Some(fluid) = self.file.fluid.keys().position(|fluid| *fluid == section.fluid) else {
            return Err(unknown("fluid", &section.fluid, self.file.fluid.keys()));
        };
        let volume = volume_of(&section.region)?;
        let thing = StageItem::Group(group);
        match presence.iter_mut().find(|(other, _)| *other == thing) {
            // Another body may join those that froze before.
            Some((_, is_there)) => *is_there = true,
            None => presence.push((thing, true)),
        }
        let material = self.file.grains[&self.world.groups[group as usize]].material.as_ref();
        // A material that is missing or unknown is reported with its section.
        let material = self.world.materials.iter().position(|known| Some(&known.name) == material);
        Ok(StageAction::Freeze(Freeze {
            fluid: fluid as u32,
            group,
            material: material.unwrap_or_default() as u32,
            volume,
        }))
    }

    /// Whether a section of grains has the bodies that freeze out of fluids.
    pub(super) fn is_frozen(&self, name: &str) -> bool {
        let mut freezes = self.file.stage.iter().flat_map(|stage| &stage.freeze);
        freezes.any(|freeze| freeze.into == name)
    }
}

/// Announces the bodies that freeze out of fluids; refuses them where no fluid can freeze.
pub(crate) fn announce(world: &mut World, plan: &Plan, findings: &mut CheckState) {
    let Some(fluids) = &world.fluids else { return };
    let kinds: Vec<ExpectedGrains> = plan.freezes().map(|freeze| freeze.expected(fluids)).collect();
    if kinds.is_empty() {
        return;
    }
    let flaw = if fluids.solver == Solver::Incompressible {
        Some((
            "fluids of solver = \"dfsph\" do not freeze, as nothing melts into them again".to_owned(),
            "use solver = \"wcsph\" or \"muller2003\"".to_owned(),
        ))
    } else if fluids.across.is_some() {
        Some(("only fluids that flow in space freeze".to_owned(), "leave `plane` out".to_owned()))
    } else {
        world.scalars().first().map(|scalar| {
            (
                format!("fluids do not freeze where grains have {}, which fluids do not have", scalar.noun()),
                "leave that out, or let nothing freeze".to_owned(),
            )
        })
    };
    let is_freezing = |stage: &Stage| stage.actions.iter().any(|act| matches!(act, StageAction::Freeze(_)));
    if let (Some((what, remedy)), Some(number)) = (flaw, plan.stages.iter().position(is_freezing)) {
        let complaint = UnlocatedDiagnostic::new(what).remedy(remedy);
        findings.add(
            &format!("stage.{number}.freeze"),
            complaint.within(&format!("stage {}", plan.stages[number].name)),
        );
    }
    world.later.freezes = true;
    world.later.grains.extend(kinds);
}
