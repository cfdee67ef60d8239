//! Stages, one after the other, and zones that take grains away: what a scene plans to happen while it runs.

mod acts;
mod early;
mod lasting;
mod set;

pub use acts::Staged;

use crate::{
    assemble::Findings,
    condition::{Condition, Names, unknown},
    diagnostics::Complaint,
    inlet::Inlet,
    quantity::{NotNegative, Positive, Quantity, Time},
    schema::{BoxShape, CylinderRegion, SceneFile, SphereRegion},
    volume::Volume,
    walls::NamedWalls,
};
pub(crate) use early::note_early_end;
pub(crate) use lasting::bound_motions;
use schemars::JsonSchema;
use seixo_engine::world::{Expected, Grains, Load, Vec3, WallMotion, World};
use seixo_engine::{Melting, PeriodicCell, Seen};
use serde::{Deserialize, Serialize};
use set::SetSection;
pub(crate) use set::complete_paths;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// A part of space from which grains are taken away.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ZoneSection {
    /// Takes grains away whose centers are inside; nothing else can be asked of a zone.
    pub remove: bool,
    /// Where.
    pub region: ZoneRegion,
    /// Groups that it takes; all if left out.
    #[schemars(example = serde_json::json!(["sand"]))]
    pub groups: Option<Vec<String>>,
    /// Simulated time between two looks; a thousandth of the run if left out.
    pub every: Option<Quantity<Time, Positive>>,
}

/// The part of space of a zone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ZoneRegion {
    /// Between two corners.
    Box(BoxShape),
    /// Inside a cylinder.
    Cylinder(CylinderRegion),
    /// Inside a sphere.
    Sphere(SphereRegion),
}

/// A part of the run: from the end of the stage before to when its own condition holds. What a later stage adds is absent before it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StageSection {
    /// Name, for messages and the log.
    #[schemars(example = &"settle")]
    pub name: String,
    /// When it ends, as in "kinetic_energy < 1e-6 J", "time > 2 s", "duration 0.5 s", "grains.bed > 1000", "coordination > 4",
    /// "largest_speed < 1 mm/s" or "wall_force.lid > 10 N", joined by `and` and `or`; with the run if left out, which only the last may.
    #[schemars(example = &"kinetic_energy < 1e-6 J")]
    pub until: Option<String>,
    /// Simulated time between two looks at the condition; the first look is after the beginning.
    #[serde(default = "usual_look")]
    pub every: Quantity<Time, Positive>,
    /// How long the condition must hold, at every look: grains that start at rest have no kinetic energy, either. `and duration 0.1 s` in the
    /// condition does the same for the beginning alone.
    #[serde(default)]
    pub hold: Quantity<Time, NotNegative>,
    /// What goes as it begins, as in "wall.plug", "wall.tank.top", "grains.seed", "inlet.rain", "zone.drain" or "bonds.cement"; with its grains, an
    /// inlet ends, too.
    /// Bonds that are removed are dissolved: they vanish, and are not among those that broke.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["wall.plug"]))]
    pub remove: Vec<String>,
    /// What comes as it begins. Bonds that are added join grains as they stand at this moment, after all else of the stage has changed.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["grains.load"]))]
    pub add: Vec<String>,
    /// Grains and clumps that melt as it begins, as in "grains.ice": they go, and the fluid of `melts_into` comes in their place.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["grains.ice"]))]
    pub melt: Vec<String>,
    /// What changes as it begins.
    #[serde(default)]
    pub set: SetSection,
}

fn usual_look() -> Quantity<Time, Positive> {
    Quantity::new(1e-3)
}

/// What a scene plans to happen while it runs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Grains that come in a later stage.
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
    /// What is not there at the start.
    pub absent: Vec<Thing>,
}

/// Something that a stage can add or remove.
#[derive(Clone, Debug, PartialEq)]
pub enum Thing {
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

/// Something that happens as a stage begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Something goes.
    Remove(Thing),
    /// Something comes.
    Add(Thing),
    /// Gravity becomes this \[m/s²\].
    Gravity(Vec3),
    /// Walls move in another way.
    Motion(Range<usize>, Box<WallMotion>),
    /// A group of grains gets this velocity \[m/s\].
    Velocity(u32, Vec3),
    /// A group of grains is held from where it is, and moves like this.
    Hold(u32, Box<WallMotion>),
    /// A group of grains that is held is set free.
    Free(u32),
    /// A group of grains bears this load in place of the one before.
    Load(Load),
    /// A group of grains melts, its bodies like this.
    Melt(u32, Vec<Melting>),
}

/// A part of the run.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Name as the scene spells it.
    pub name: String,
    /// When it ends; with the run if there is none.
    pub until: Option<Condition>,
    /// Simulated time between two looks at the condition \[s\].
    pub every: f64,
    /// How long the condition must hold \[s\].
    pub hold: f64,
    /// What happens as it begins, in this order.
    pub acts: Vec<Act>,
    /// What it is, in a line.
    pub text: String,
}

/// A part of space from which grains are taken away.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Name as the scene spells it.
    pub name: String,
    /// Simulated time between two looks \[s\].
    pub every: f64,
    groups: Option<Vec<u32>>,
    volume: Volume,
}

impl Zone {
    /// Whether it takes a grain in this cell away.
    pub fn takes(&self, grain: &Seen, cell: &PeriodicCell) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.contains(&grain.group)) && self.volume.holds_image(grain.center, cell)
    }
}

/// The zones of a scene.
pub(crate) fn zones(file: &mut SceneFile, findings: &mut Findings) -> Vec<Zone> {
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

/// A complaint with the key it is about.
type At = (&'static str, Complaint);

fn zone(name: &str, section: &mut ZoneSection, usual: Quantity<Time, Positive>, known: &[String]) -> Result<Zone, At> {
    if !section.remove {
        let complaint = Complaint::new("a zone that takes nothing away does nothing").limit("remove = true");
        return Err(("remove", complaint.remedy("write remove = true, or leave the zone out")));
    }
    let volume = match &section.region {
        ZoneRegion::Box(shape) => Volume::upright(shape),
        ZoneRegion::Cylinder(shape) => Volume::cylinder(shape),
        ZoneRegion::Sphere(shape) => Ok(Volume::sphere(shape)),
    };
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

/// The stages of a scene, and what is not there at the start: what is added before it is ever removed.
pub(crate) fn stages(
    file: &SceneFile,
    world: &World,
    ranges: &BTreeMap<String, Range<usize>>,
    findings: &mut Findings,
) -> (Vec<Stage>, Vec<Thing>) {
    let walls = NamedWalls {
        sections: ranges,
        walls: &world.walls,
    };
    let cast = Cast { file, world, walls };
    let (mut stages, mut absent, mut standings) = (Vec::new(), Vec::new(), BTreeMap::new());
    // Whether what was named so far is there.
    let mut presence: Vec<(Thing, bool)> = Vec::new();
    for (number, section) in file.stage.iter().enumerate() {
        let path = format!("stage.{number}");
        let told = |complaint: Complaint| complaint.within(&format!("stage {}", section.name));
        let is_last = number + 1 == file.stage.len();
        if section.name.is_empty() || file.stage[..number].iter().any(|other| other.name == section.name) {
            let complaint = Complaint::new(format!("{:?} cannot be the name of stage {}", section.name, number + 1));
            let complaint = complaint.limit("a name that no other stage has").remedy("rename it");
            findings.add(&format!("{path}.name"), complaint);
        }
        let mut acts = Vec::new();
        let named = |names: &[String], comes: bool| names.iter().cloned().map(move |name| (name, comes)).collect::<Vec<_>>();
        for (name, comes) in [named(&section.remove, false), named(&section.add, true)].concat() {
            let key = if comes { "add" } else { "remove" };
            let checked = cast.thing(&name).and_then(|thing| {
                let is_new = cast.turn(&name, &thing, comes, &mut presence)?;
                Ok((thing, is_new))
            });
            match checked {
                Ok((thing, is_new)) => {
                    if comes && is_new {
                        absent.push(thing.clone());
                    }
                    acts.push(if comes { Act::Add(thing) } else { Act::Remove(thing) });
                }
                Err(complaint) => findings.add(&format!("{path}.{key}"), told(complaint)),
            }
        }
        for name in &section.melt {
            match cast.melting(name, &mut presence) {
                Ok(act) => acts.push(act),
                Err(complaint) => findings.add(&format!("{path}.melt"), told(complaint)),
            }
        }
        match cast.settings(&section.set, &mut standings, findings) {
            Ok(set) => acts.extend(set),
            Err((key, complaint)) => findings.add(&format!("{path}.set.{key}"), told(complaint)),
        }
        let names = Names {
            groups: &world.groups,
            walls,
        };
        let until = section.until.as_ref().map(|text| Condition::read(text, &names)).transpose();
        let until = until.unwrap_or_else(|complaint| {
            findings.add(&format!("{path}.until"), told(complaint));
            None
        });
        if section.until.is_none() && !is_last {
            let complaint = Complaint::new("it never ends, so the stages after it never begin").limit("a condition");
            findings.add(
                &path,
                told(complaint.remedy("add until = \"duration 0.5 s\", or another condition")),
            );
        }
        stages.push(Stage {
            name: section.name.clone(),
            until,
            every: section.every.si,
            hold: section.hold.si,
            acts,
            text: described(section),
        });
    }
    (stages, absent)
}

/// A stage in a line.
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
    format!(
        "{} until {until}{remove}{add}{melt}{}",
        section.name,
        list("sets", &section.set.names())
    )
}

/// What stages can name.
struct Cast<'a> {
    file: &'a SceneFile,
    world: &'a World,
    walls: NamedWalls<'a>,
}

impl Cast<'_> {
    fn thing(&self, name: &str) -> Result<Thing, Complaint> {
        let (kind, own) = name.split_once('.').unwrap_or((name, ""));
        match kind {
            "wall" => self.walls.find(own).map(Thing::Walls),
            "grains" => self.group(own).map(Thing::Group),
            "inlet" => {
                let inlets = self.file.grains.iter().filter(|(_, section)| section.inlet.is_some());
                let of_fluids = self.file.inlet.keys();
                match (of_fluids.clone().position(|name| name == own), self.group(own)) {
                    (Some(index), _) => Ok(Thing::FluidInlet(index)),
                    (None, Ok(group)) if inlets.clone().any(|(name, _)| name == own) => Ok(Thing::Inlet(group)),
                    _ => Err(unknown("inlet", own, inlets.map(|(name, _)| name).chain(of_fluids))),
                }
            }
            "zone" => {
                let found = self.file.zone.keys().position(|other| other == own);
                found.map(Thing::Zone).ok_or_else(|| unknown("zone", own, self.file.zone.keys()))
            }
            "bonds" => {
                let found = self.file.bonds.keys().position(|other| other == own);
                found
                    .map(Thing::Bonds)
                    .ok_or_else(|| unknown("section of bonds", own, self.file.bonds.keys()))
            }
            _ => {
                let complaint = Complaint::new(format!("\"{name}\" is nothing that comes or goes"));
                Err(complaint
                    .limit("wall.NAME, grains.NAME, inlet.NAME, zone.NAME and bonds.NAME")
                    .remedy("write it as in remove = [\"wall.plug\"]"))
            }
        }
    }

    fn group(&self, name: &str) -> Result<u32, Complaint> {
        let found = self.world.groups.iter().position(|group| group == name);
        found
            .map(|index| index as u32)
            .ok_or_else(|| unknown("group of grains", name, self.world.groups.iter()))
    }

    /// The grains of a group that melts, which are gone then.
    fn melting(&self, name: &str, presence: &mut Vec<(Thing, bool)>) -> Result<Act, Complaint> {
        let Thing::Group(group) = self.thing(name)? else {
            let complaint = Complaint::new(format!("{name} cannot melt")).limit("grains.NAME");
            return Err(complaint.remedy("write it as in melt = [\"grains.ice\"]"));
        };
        let section = &self.file.grains[&self.world.groups[group as usize]];
        let Some(fluid) = section.melts_into.as_ref().filter(|_| section.displaces_fluid) else {
            let complaint = Complaint::new(format!("{name} cannot melt: nothing says into which fluid that it displaces"));
            return Err(complaint.remedy("write displaces_fluid = true and melts_into = \"NAME\" in its section"));
        };
        if !self.file.fluid.contains_key(fluid) {
            return Err(unknown("fluid", fluid, self.file.fluid.keys()));
        }
        self.turn(name, &Thing::Group(group), false, presence)?;
        Ok(Act::Melt(group, Vec::new()))
    }

    /// Notes that a thing comes or goes, unless it did already; tells whether that is the first that is heard of it. Of a box, each face comes or goes.
    fn turn(&self, name: &str, thing: &Thing, comes: bool, presence: &mut Vec<(Thing, bool)>) -> Result<bool, Complaint> {
        let Thing::Walls(walls) = thing else {
            return self.turn_one(name, thing, comes, presence);
        };
        let mut are_new = Vec::new();
        for wall in walls.clone() {
            let name = format!("wall.{}", self.world.walls[wall].name);
            are_new.push(self.turn_one(&name, &Thing::Walls(wall..wall + 1), comes, presence)?);
        }
        let is_new = are_new.iter().all(|is_new| *is_new);
        if comes && !is_new && are_new.contains(&true) {
            let complaint = Complaint::new(format!(
                "{name} was there in part: some of its faces were removed before, others are new"
            ));
            return Err(complaint.remedy("name the faces one by one, those that were removed and those that are new"));
        }
        Ok(is_new)
    }

    fn turn_one(&self, name: &str, thing: &Thing, comes: bool, presence: &mut Vec<(Thing, bool)>) -> Result<bool, Complaint> {
        let Some((_, is_there)) = presence.iter_mut().find(|(other, _)| other == thing) else {
            presence.push((thing.clone(), comes));
            return Ok(true);
        };
        if *is_there == comes {
            let state = if comes { "there already" } else { "gone already" };
            return Err(Complaint::new(format!("{name} is {state}")).remedy("name it once, in the stage where that happens"));
        }
        *is_there = comes;
        let has_inlet = |group: u32| self.file.grains[&self.world.groups[group as usize]].inlet.is_some();
        match thing {
            Thing::Group(group) if comes && !has_inlet(*group) => Err(Complaint::new(format!("{name} was removed, and cannot come again"))
                .remedy("add a section of grains like it under another name, or let it come through an inlet")),
            _ => Ok(false),
        }
    }
}

/// Groups of grains that stages hold, set free or load anew.
pub(crate) fn switched(stages: &[Stage]) -> Vec<u32> {
    let acts = stages.iter().flat_map(|stage| &stage.acts);
    let groups = acts.filter_map(|act| match act {
        Act::Hold(group, _) | Act::Free(group) | Act::Load(Load { group, .. }) => Some(*group),
        _ => None,
    });
    groups.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Motions that stages give walls, in their order.
pub(crate) fn motions(stages: &[Stage]) -> Vec<(usize, WallMotion)> {
    let acts = stages.iter().flat_map(|stage| &stage.acts);
    let given = acts.filter_map(|act| match act {
        Act::Motion(walls, motion) => Some((walls, motion)),
        _ => None,
    });
    given
        .flat_map(|(walls, motion)| walls.clone().map(move |wall| (wall, WallMotion::clone(motion))))
        .collect()
}

/// Takes what is not there at the start out of the world, which knows of it as what may come later, and keeps the grains of it for stages; refuses what
/// these could not do.
pub(crate) fn set_aside(world: &mut World, plan: &mut Plan, ranges: &BTreeMap<String, Range<usize>>, findings: &mut Findings) {
    for thing in &plan.absent {
        match thing {
            Thing::Walls(walls) => world.later.walls.extend(walls.clone()),
            Thing::Bonds(kind) => world.later.bonds.push(*kind),
            Thing::Group(_) | Thing::Inlet(_) | Thing::FluidInlet(_) | Thing::Zone(_) => {}
        }
    }
    let all = std::mem::take(&mut world.grains);
    for k in 0..all.len() {
        let is_absent = plan.absent.contains(&Thing::Group(all.group[k]));
        let into = if is_absent { &mut plan.reserve } else { &mut world.grains };
        into.push_from(&all, k);
    }
    // Groups of clumps, and boundaries, are there from the start.
    world.grains.bodies = all.bodies;
    world.later.grains.extend(kinds_of(&plan.reserve));
    acts::refuse_impossible(plan, world, ranges, findings);
}

/// The kinds of grains, one for each of their materials.
fn kinds_of(grains: &Grains) -> impl Iterator<Item = Expected> {
    let mut kinds: BTreeMap<u32, Expected> = BTreeMap::new();
    for k in 0..grains.len() {
        let (radius, id) = (grains.radius[k], grains.id[k]);
        let kind = kinds.entry(grains.material[k]).or_insert(Expected {
            material: grains.material[k],
            radius: [radius; 2],
            speed: 0.0,
            reach: 0.0,
            highest_id: None,
        });
        kind.radius = [kind.radius[0].min(radius), kind.radius[1].max(radius)];
        kind.speed = kind.speed.max(grains.velocity[k].iter().map(|v| v * v).sum::<f64>().sqrt());
        kind.reach = grains.position[k].iter().fold(kind.reach, |most, x| most.max(x.abs()));
        kind.highest_id = kind.highest_id.max(Some(id));
    }
    kinds.into_values()
}
