//! Stages, one after the other, and zones that remove grains: the events that a scene plans.

mod actions;
mod freezing;
mod initially_met;
mod motion_duration;
mod set;

pub use actions::StageTarget;
pub use freezing::Freeze;

use crate::{
    Probe,
    assemble::CheckState,
    condition::{Condition, Names, unknown},
    diagnostics::UnlocatedDiagnostic,
    inlet::Inlet,
    quantity::{NotNegative, Positive, Quantity, Time},
    schema::{SceneFile, SimpleRegion},
    volume::Volume,
    walls::{NamedWalls, RegionServo},
};
use freezing::FreezeSection;
pub(crate) use freezing::{announce, check_section, frozen_sections};
pub(crate) use initially_met::note_early_end;
pub(crate) use motion_duration::bound_motions;
use schemars::JsonSchema;
use seixo_engine::world::{AxisControl, ExpectedGrains, Grains, Load, Vec3, WallMotion, World};
use seixo_engine::{Melting, PeriodicCell, PlacedGrain};
use serde::{Deserialize, Serialize};
use set::SetSection;
pub(crate) use set::complete_paths;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// A part of space from which grains are removed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ZoneSection {
    /// Removes grains whose centers are inside; a zone has no other action.
    pub remove: bool,
    /// Region of the zone.
    pub region: SimpleRegion,
    /// Groups that the zone removes; all if left out.
    #[schemars(example = serde_json::json!(["sand"]))]
    pub groups: Option<Vec<String>>,
    /// Simulated time between two checks; a thousandth of the run if left out.
    pub every: Option<Quantity<Time, Positive>>,
}

/// A part of the run, from the end of the previous stage until its own condition is met. Items that a later stage adds are absent before it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StageSection {
    /// Name of the stage, for messages and the log.
    #[schemars(example = &"settle")]
    pub name: String,
    /// Condition for its end, as in "kinetic_energy < 1e-6 J", "time > 2 s", "duration 0.5 s", "grains.bed > 1000", "coordination > 4",
    /// "largest_speed < 1 mm/s", "wall_force.lid > 10 N", "probe.core.sigma_zz > 100 kPa" or "drift.core.sigma_zz < 1 kPa over 0.5 s", joined by `and`
    /// and `or`; with the run if left out, which only the last may. `and` binds more tightly than `or`; there are no parentheses; `kinetic_energy` is of
    /// translation of grains, without fluids; `wall_force` is a magnitude; `probe` is a column of a probe at its last line, and `drift` its change, by
    /// the slope of its lines. Only stages have conditions: probes log during the whole run, and bonds are made at the start or by a stage.
    #[schemars(example = &"kinetic_energy < 1e-6 J")]
    pub until: Option<String>,
    /// Simulated time between two checks of the condition, counted from the start of the stage and rounded to whole steps. The first check is one such
    /// time after the start. Besides, it is checked at the step at which a `time` or `duration` of the condition is reached, and at which `hold` is
    /// over. So a stage may end up to one such time after its condition became true. Shorten it in runs of milliseconds.
    #[serde(default = "usual_look")]
    #[schemars(example = &"1 ms")]
    pub every: Quantity<Time, Positive>,
    /// Time for which the condition must be true at every check; the stage ends when it is over. It prevents an early end: grains that start at rest
    /// have no kinetic energy. `and duration 0.1 s` in the condition does the same at the start of the stage only.
    #[serde(default)]
    pub hold: Quantity<Time, NotNegative>,
    /// Items to remove at the start of the stage, as in "wall.plug", "wall.tank.top", "grains.seed", "inlet.rain", "zone.drain" or "bonds.cement".
    /// Removing grains also removes their inlet. Bonds that are removed do not count as broken.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["wall.plug"]))]
    pub remove: Vec<String>,
    /// Items to add at the start of the stage. Bonds connect grains at their positions at this moment, after all other changes of the stage.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["grains.load"]))]
    pub add: Vec<String>,
    /// Grains and clumps that melt at the start of the stage, as in "grains.ice": the fluid of `melts_into` replaces them.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["grains.ice"]))]
    pub melt: Vec<String>,
    /// Fluid that freezes at the start of the stage, after melting: all particles of a fluid in a region become one rigid body, which has their mass,
    /// momenta and moments of inertia.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = serde_json::json!([{
        "fluid": "water",
        "region": { "sphere": { "center": [0, 0, "10 cm"], "radius": "3 cm" } },
        "into": "grains.ice"
    }]))]
    pub freeze: Vec<FreezeSection>,
    /// Settings that change at the start of the stage.
    #[serde(default)]
    pub set: SetSection,
}

fn usual_look() -> Quantity<Time, Positive> {
    Quantity::new(1e-3)
}

/// Planned events of a scene during the run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Grains that a later stage adds.
    pub reserve: Grains,
    /// Inlets of grains.
    pub inlets: Vec<Inlet>,
    /// Names of the inlets of fluids.
    pub fluid_inlets: Vec<String>,
    /// Names of the outlets of fluids.
    pub fluid_outlets: Vec<String>,
    /// Zones.
    pub zones: Vec<Zone>,
    /// Stages in their order.
    pub stages: Vec<Stage>,
    /// Servos of walls that reach and keep the stress of a region.
    pub region_servos: Vec<RegionServo>,
    /// Items that are not present at the start.
    pub absent: Vec<StageItem>,
}

/// An item that a stage can add or remove.
#[derive(Clone, Debug, PartialEq)]
pub enum StageItem {
    /// Walls, by their range in [`World::walls`]: those of one section.
    Walls(Range<usize>),
    /// A group of grains, with its inlet.
    Group(u32),
    /// The inlet of a group, without its grains.
    Inlet(u32),
    /// An inlet of fluids, by its index in [`seixo_engine::world::Fluids::inlets`].
    FluidInlet(usize),
    /// A zone, by its index in [`Plan::zones`].
    Zone(usize),
    /// Bonds, by their index in [`World::bonds`].
    Bonds(usize),
}

/// An action at the start of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum StageAction {
    /// Removes an item.
    Remove(StageItem),
    /// Adds an item.
    Add(StageItem),
    /// Sets gravity \[m/s²\].
    Gravity(Vec3),
    /// Sets what controls the lengths of the periodic domain along x, y and z.
    Cell([AxisControl; 3]),
    /// Replaces the motion of walls.
    Motion(Range<usize>, Box<WallMotion>),
    /// Sets the velocity of a group of grains \[m/s\].
    Velocity(u32, Vec3),
    /// Prescribes a motion of a group of grains, from its current position.
    Hold(u32, Box<WallMotion>),
    /// Ends the prescribed motion of a group of grains.
    Free(u32),
    /// Replaces the load of a group of grains.
    Load(Load),
    /// Melts a group of grains, with the data of its bodies.
    Melt(u32, Vec<Melting>),
    /// Melts the bodies of a group that froze, into the fluid with this index into [`seixo_engine::world::Fluids::kinds`].
    MeltFrozen(u32, u32),
    /// Freezes fluid into a body of a group of grains.
    Freeze(Freeze),
    /// Disables a group of grains, which keeps its state.
    Disable(u32),
    /// Enables a disabled group of grains.
    Enable(u32),
}

/// A part of the run.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Name as in the scene.
    pub name: String,
    /// Condition for its end; with the run if there is none.
    pub until: Option<Condition>,
    /// Simulated time between two checks of the condition, from the start of the stage on \[s\].
    pub every: f64,
    /// Time for which the condition must be true \[s\].
    pub hold: f64,
    /// Actions at its start, in this order.
    pub actions: Vec<StageAction>,
    /// Summary in a line.
    pub text: String,
}

/// A part of space from which grains are removed.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Name as in the scene.
    pub name: String,
    /// Simulated time between two checks \[s\].
    pub every: f64,
    groups: Option<Vec<u32>>,
    volume: Volume,
}

impl Zone {
    /// Whether it removes a grain in this cell.
    pub fn takes(&self, grain: &PlacedGrain, cell: &PeriodicCell) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.contains(&grain.group)) && self.volume.holds_image(grain.center, cell)
    }
}

/// The zones of a scene.
pub(crate) fn zones(file: &mut SceneFile, findings: &mut CheckState) -> Vec<Zone> {
    let usual = Quantity::new(file.run.until.si / 1000.0);
    let groups: Vec<String> = file.grains.keys().cloned().collect();
    let mut zones = Vec::new();
    for (name, section) in &mut file.zone {
        match zone(name, section, usual, &groups) {
            Ok(zone) => zones.push(zone),
            Err((key, complaint)) => findings.add(&format!("zone.{name}.{key}"), complaint.within(&format!("zone.{name}"))),
        }
    }
    zones
}

/// The part of space that a region of the scene means.
fn volume_of(region: &SimpleRegion) -> Result<Volume, UnlocatedDiagnostic> {
    match region {
        SimpleRegion::Box(shape) => Volume::upright(shape),
        SimpleRegion::Cylinder(shape) => Volume::cylinder(shape),
        SimpleRegion::Sphere(shape) => Ok(Volume::sphere(shape)),
    }
}

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

fn zone(name: &str, section: &mut ZoneSection, usual: Quantity<Time, Positive>, known: &[String]) -> Result<Zone, At> {
    if !section.remove {
        let complaint = UnlocatedDiagnostic::new("a zone that takes nothing away does nothing").limit("remove = true");
        return Err(("remove", complaint.remedy("write remove = true, or leave the zone out")));
    }
    let volume = volume_of(&section.region);
    let groups = section.groups.as_ref().map(|groups| {
        let index = |group: &String| known.iter().position(|other| other == group).map(|index| index as u32);
        let indices = groups
            .iter()
            .map(|group| index(group).ok_or_else(|| unknown("group of grains", group, known.iter())));
        indices.collect::<Result<Vec<_>, _>>()
    });
    Ok(Zone {
        name: name.to_owned(),
        every: section.every.get_or_insert(usual).si,
        groups: groups.transpose().map_err(|complaint| ("groups", complaint))?,
        volume: volume.map_err(|complaint| ("region", complaint))?,
    })
}

/// The stages of a scene, and the items that are not present at the start: those that are added before they are ever removed.
pub(crate) fn stages(
    file: &SceneFile,
    world: &World,
    ranges: &BTreeMap<String, Range<usize>>,
    findings: &mut CheckState,
) -> (Vec<Stage>, Vec<StageItem>) {
    let walls = NamedWalls {
        sections: ranges,
        walls: &world.walls,
    };
    let cast = Cast { file, world, walls };
    let (mut stages, mut absent, mut states) = (Vec::new(), Vec::new(), BTreeMap::new());
    // Whether each item named so far is present.
    let mut presence: Vec<(StageItem, bool)> = Vec::new();
    for (number, section) in file.stage.iter().enumerate() {
        let path = format!("stage.{number}");
        let reported = |complaint: UnlocatedDiagnostic| complaint.within(&format!("stage {}", section.name));
        let is_last = number + 1 == file.stage.len();
        if section.name.is_empty() || file.stage[..number].iter().any(|other| other.name == section.name) {
            let complaint = UnlocatedDiagnostic::new(format!("{:?} cannot be the name of stage {}", section.name, number + 1));
            let complaint = complaint.limit("a name that no other stage has").remedy("rename it");
            findings.add(&format!("{path}.name"), complaint);
        }
        let mut actions = Vec::new();
        let named = |names: &[String], comes: bool| names.iter().cloned().map(move |name| (name, comes)).collect::<Vec<_>>();
        for (name, comes) in [named(&section.remove, false), named(&section.add, true)].concat() {
            let key = if comes { "add" } else { "remove" };
            let checked = cast.thing(&name).and_then(|thing| {
                set::refuse_to_turn_disabled(&name, &thing, &states)?;
                let is_new = cast.turn(&name, &thing, comes, &mut presence)?;
                Ok((thing, is_new))
            });
            match checked {
                Ok((thing, is_new)) => {
                    if comes && is_new {
                        absent.push(thing.clone());
                    }
                    actions.push(if comes {
                        StageAction::Add(thing)
                    } else {
                        StageAction::Remove(thing)
                    });
                }
                Err(complaint) => findings.add(&format!("{path}.{key}"), reported(complaint)),
            }
        }
        for name in &section.melt {
            match cast.melting(name, &mut presence) {
                Ok(act) => actions.push(act),
                Err(complaint) => findings.add(&format!("{path}.melt"), reported(complaint)),
            }
        }
        for freeze in &section.freeze {
            match cast.freezing(freeze, &mut presence) {
                Ok(act) => actions.push(act),
                Err(complaint) => findings.add(&format!("{path}.freeze"), reported(complaint)),
            }
        }
        match cast.settings(&section.set, (&mut states, &mut presence), findings) {
            Ok(set) => actions.extend(set),
            Err((key, complaint)) => findings.add(&format!("{path}.set.{key}"), reported(complaint)),
        }
        let names = Names {
            groups: &world.groups,
            walls,
        };
        let until = section.until.as_ref().map(|text| Condition::read(text, &names)).transpose();
        let until = until.unwrap_or_else(|complaint| {
            findings.add(&format!("{path}.until"), reported(complaint));
            None
        });
        if world.groups.is_empty()
            && let Some(quantity) = until.as_ref().and_then(Condition::quantity_of_grains)
        {
            let place = findings.location_text(&format!("{path}.until"));
            findings.notices.push(format!(
                "{place}: stage {}: `{quantity}` is a quantity of grains, and the scene has no grains; use `time`, `duration`, or `wall_force.NAME`, \
                 which includes fluids; the probe `fluid = true` logs the kinetic energy of fluids",
                section.name
            ));
        }
        if section.until.is_none() && !is_last {
            let complaint = UnlocatedDiagnostic::new("it never ends, so the stages after it never begin").limit("a condition");
            findings.add(
                &path,
                reported(complaint.remedy("add until = \"duration 0.5 s\", or another condition")),
            );
        }
        stages.push(Stage {
            name: section.name.clone(),
            until,
            every: section.every.si,
            hold: section.hold.si,
            actions,
            text: described(section),
        });
    }
    (stages, absent)
}

/// Finds the columns of probes that the conditions of stages name.
pub(crate) fn find_columns(stages: &mut [Stage], file: &SceneFile, probes: &[Probe], findings: &mut CheckState) {
    let known: Vec<&str> = file.probe.keys().map(String::as_str).collect();
    for (number, stage) in stages.iter_mut().enumerate() {
        let Some(until) = &mut stage.until else { continue };
        if let Err(complaint) = until.find_columns(probes, &known) {
            findings.add(&format!("stage.{number}.until"), complaint.within(&format!("stage {}", stage.name)));
        }
    }
}

/// Summary of a stage in a line.
fn described(section: &StageSection) -> String {
    let until = section.until.as_deref().unwrap_or("the end of the run");
    let list = |word: &str, names: &[String]| {
        if names.is_empty() {
            String::new()
        } else {
            format!(", {word} {}", names.join(", "))
        }
    };
    let [remove, add, melt] =
        [("removes", &section.remove), ("adds", &section.add), ("melts", &section.melt)].map(|(word, names)| list(word, names));
    let frozen = section.freeze.iter().map(|freeze| format!("{} into {}", freeze.fluid, freeze.into));
    format!(
        "{} until {until}{remove}{add}{melt}{}{}",
        section.name,
        list("freezes", &frozen.collect::<Vec<String>>()),
        list("sets", &section.set.names())
    )
}

/// Items that stages can name.
struct Cast<'a> {
    file: &'a SceneFile,
    world: &'a World,
    walls: NamedWalls<'a>,
}

impl Cast<'_> {
    fn thing(&self, name: &str) -> Result<StageItem, UnlocatedDiagnostic> {
        let (kind, own) = name.split_once('.').unwrap_or((name, ""));
        match kind {
            "wall" => self.walls.find(own).map(StageItem::Walls),
            "grains" => self.group(own).map(StageItem::Group),
            "inlet" => {
                let inlets = self.file.grains.iter().filter(|(_, section)| section.inlet.is_some());
                let of_fluids = self.file.inlet.keys();
                match (of_fluids.clone().position(|name| name == own), self.group(own)) {
                    (Some(index), _) => Ok(StageItem::FluidInlet(index)),
                    (None, Ok(group)) if inlets.clone().any(|(name, _)| name == own) => Ok(StageItem::Inlet(group)),
                    _ => Err(unknown("inlet", own, inlets.map(|(name, _)| name).chain(of_fluids))),
                }
            }
            "zone" => {
                let found = self.file.zone.keys().position(|other| other == own);
                found
                    .map(StageItem::Zone)
                    .ok_or_else(|| unknown("zone", own, self.file.zone.keys()))
            }
            "bonds" => {
                let found = self.file.bonds.keys().position(|other| other == own);
                found
                    .map(StageItem::Bonds)
                    .ok_or_else(|| unknown("section of bonds", own, self.file.bonds.keys()))
            }
            _ => {
                let complaint = UnlocatedDiagnostic::new(format!("a stage cannot add or remove \"{name}\""));
                Err(complaint
                    .limit("wall.NAME, grains.NAME, inlet.NAME, zone.NAME and bonds.NAME")
                    .remedy("write it as in remove = [\"wall.plug\"]"))
            }
        }
    }

    fn group(&self, name: &str) -> Result<u32, UnlocatedDiagnostic> {
        let found = self.world.groups.iter().position(|group| group == name);
        found
            .map(|index| index as u32)
            .ok_or_else(|| unknown("group of grains", name, self.world.groups.iter()))
    }

    /// The action that melts the grains of a group; they are absent afterwards.
    fn melting(&self, name: &str, presence: &mut Vec<(StageItem, bool)>) -> Result<StageAction, UnlocatedDiagnostic> {
        let StageItem::Group(group) = self.thing(name)? else {
            let complaint = UnlocatedDiagnostic::new(format!("{name} cannot melt")).limit("grains.NAME");
            return Err(complaint.remedy("write it as in melt = [\"grains.ice\"]"));
        };
        let section = &self.file.grains[&self.world.groups[group as usize]];
        let Some(fluid) = section.melts_into.as_ref().filter(|_| section.displaces_fluid) else {
            let complaint = UnlocatedDiagnostic::new(format!("{name} cannot melt: nothing says into which fluid that it displaces"));
            return Err(complaint.remedy("write displaces_fluid = true and melts_into = \"NAME\" in its section"));
        };
        let Some(into) = self.file.fluid.keys().position(|other| other == fluid) else {
            return Err(unknown("fluid", fluid, self.file.fluid.keys()));
        };
        let thing = StageItem::Group(group);
        let is_frozen = self.is_frozen(name);
        if is_frozen && !presence.contains(&(thing.clone(), true)) {
            let complaint = UnlocatedDiagnostic::new(format!("{name} cannot melt: nothing has frozen into it before"));
            return Err(complaint.remedy("let a fluid freeze into it in an earlier stage"));
        }
        self.turn(name, &thing, false, presence)?;
        Ok(if is_frozen {
            StageAction::MeltFrozen(group, into as u32)
        } else {
            StageAction::Melt(group, Vec::new())
        })
    }

    /// Records that an item is added or removed; returns whether it is named for the first time. Faces of a box count separately.
    fn turn(&self, name: &str, thing: &StageItem, comes: bool, presence: &mut Vec<(StageItem, bool)>) -> Result<bool, UnlocatedDiagnostic> {
        let StageItem::Walls(walls) = thing else {
            return self.turn_one(name, thing, comes, presence);
        };
        let mut are_new = Vec::new();
        for wall in walls.clone() {
            let name = format!("wall.{}", self.world.walls[wall].name);
            are_new.push(self.turn_one(&name, &StageItem::Walls(wall..wall + 1), comes, presence)?);
        }
        let is_new = are_new.iter().all(|is_new| *is_new);
        if comes && !is_new && are_new.contains(&true) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "{name} was there in part: some of its faces were removed before, others are new"
            ));
            return Err(complaint.remedy("name the faces one by one, those that were removed and those that are new"));
        }
        Ok(is_new)
    }

    fn turn_one(
        &self,
        name: &str,
        thing: &StageItem,
        comes: bool,
        presence: &mut Vec<(StageItem, bool)>,
    ) -> Result<bool, UnlocatedDiagnostic> {
        let Some((_, is_there)) = presence.iter_mut().find(|(other, _)| other == thing) else {
            presence.push((thing.clone(), comes));
            return Ok(true);
        };
        if *is_there == comes {
            let state = if comes { "there already" } else { "gone already" };
            return Err(UnlocatedDiagnostic::new(format!("{name} is {state}")).remedy("name it once, in the stage where that happens"));
        }
        *is_there = comes;
        let has_inlet = |group: u32| self.file.grains[&self.world.groups[group as usize]].inlet.is_some();
        match thing {
            StageItem::Group(group) if comes && !has_inlet(*group) => {
                Err(UnlocatedDiagnostic::new(format!("{name} was removed, and cannot come again"))
                    .remedy("add a section of grains like it under another name, or let it come through an inlet"))
            }
            _ => Ok(false),
        }
    }
}

/// Groups of grains whose motion or load stages change.
pub(crate) fn switched(stages: &[Stage]) -> Vec<u32> {
    let actions = stages.iter().flat_map(|stage| &stage.actions);
    let groups = actions.filter_map(|act| match act {
        StageAction::Hold(group, _) | StageAction::Free(group) | StageAction::Load(Load { group, .. }) => Some(*group),
        _ => None,
    });
    groups.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Motions that stages give to walls, in their order.
pub(crate) fn motions(stages: &[Stage]) -> Vec<(usize, WallMotion)> {
    let actions = stages.iter().flat_map(|stage| &stage.actions);
    let given = actions.filter_map(|act| match act {
        StageAction::Motion(walls, motion) => Some((walls, motion)),
        _ => None,
    });
    given
        .flat_map(|(walls, motion)| walls.clone().map(move |wall| (wall, WallMotion::clone(motion))))
        .collect()
}

/// Marks items that are absent at the start as later ones in the world, and keeps their grains for stages; refuses actions that are impossible.
pub(crate) fn set_aside(world: &mut World, plan: &mut Plan, ranges: &BTreeMap<String, Range<usize>>, findings: &mut CheckState) {
    for thing in &plan.absent {
        match thing {
            StageItem::Walls(walls) => world.later.walls.extend(walls.clone()),
            StageItem::Bonds(kind) => world.later.bonds.push(*kind),
            StageItem::Group(_) | StageItem::Inlet(_) | StageItem::FluidInlet(_) | StageItem::Zone(_) => {}
        }
    }
    let all = std::mem::take(&mut world.grains);
    for k in 0..all.len() {
        let is_absent = plan.absent.contains(&StageItem::Group(all.group[k]));
        let into = if is_absent { &mut plan.reserve } else { &mut world.grains };
        into.push_from(&all, k);
    }
    // Groups of clumps, and boundaries, are present from the start.
    world.grains.bodies = all.bodies;
    world.later.grains.extend(kinds_of(&plan.reserve));
    actions::refuse_impossible(plan, world, ranges, findings);
}

/// The kinds of grains, one for each of their materials and shapes, and one for those of each material whose mass is given.
fn kinds_of(grains: &Grains) -> impl Iterator<Item = ExpectedGrains> {
    let mut kinds: BTreeMap<(u32, Option<u32>, bool), ExpectedGrains> = BTreeMap::new();
    for k in 0..grains.len() {
        let (radius, id) = (grains.radius[k], grains.id[k]);
        let shape = grains.shape.get(k).and_then(|shape| shape.checked_sub(1));
        let mass_per_radius = grains.masses.get(&id).map(|mass| mass / radius);
        let kind = kinds
            .entry((grains.material[k], shape, mass_per_radius.is_some()))
            .or_insert(ExpectedGrains {
                material: grains.material[k],
                radius: [radius; 2],
                mass_per_radius,
                shape,
                speed: 0.0,
                reach: 0.0,
                highest_id: None,
            });
        kind.radius = [kind.radius[0].min(radius), kind.radius[1].max(radius)];
        kind.mass_per_radius = kind.mass_per_radius.zip(mass_per_radius).map(|(least, own)| least.min(own));
        kind.speed = kind.speed.max(grains.velocity[k].iter().map(|v| v * v).sum::<f64>().sqrt());
        kind.reach = grains.position[k].iter().fold(kind.reach, |most, x| most.max(x.abs()));
        kind.highest_id = kind.highest_id.max(Some(id));
    }
    kinds.into_values()
}
