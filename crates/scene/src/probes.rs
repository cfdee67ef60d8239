//! Probes: from the keys of a scene to logged quantities.

mod bodies;
mod carrier;
mod columns;
mod dead_zone;
mod fluid;
mod residence;

pub use carrier::Carrier;
pub use fluid::FluidProbe;
pub use residence::{Enclosure, Passage};

use crate::{
    Average, Probe, ProbeKind,
    assemble::{CheckState, MAX_LINES, check_interval},
    diagnostics::{UnlocatedDiagnostic, did_you_mean},
    fill::{axis_between, corners, si},
    quantity::{Positive, Quantity, Time},
    schema::{Direction, FragmentsOf, ProbeSection, SceneFile, SimpleRegion},
    stage::{Plan, StageItem},
    walls::{self, NamedWalls},
};
use glam::DVec3;
use seixo_analysis as analysis;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Domain, Vec3, World};
use std::{collections::BTreeMap, ops::Range};

/// The logged quantity of a probe, or the key at fault and the reason.
type Kind = Result<ProbeKind, (String, UnlocatedDiagnostic)>;

/// Number of samples of an average if the scene does not say how often they are taken, and the largest number, which are in memory.
const USUAL_SAMPLES: f64 = 100.0;
const MAX_SAMPLES: f64 = 1e5;

/// Largest vertical part of the axis of a drum: the sine of 60 degrees.
const STEEPEST: f64 = 0.866;

/// Smallest number of grains from whose positions a strain in space follows.
const MIN_TO_STRAIN: usize = 4;

/// The probes of a scene, in alphabetical order.
pub(crate) fn probes(
    file: &mut SceneFile,
    world: &World,
    walls: &BTreeMap<String, Range<usize>>,
    plan: &Plan,
    findings: &mut CheckState,
) -> Vec<Probe> {
    let until = file.run.until.si;
    let usual: Quantity<Time, Positive> = file.output.energies_every.unwrap_or(Quantity::new(until / 100.0));
    let walls = NamedWalls {
        sections: walls,
        walls: &world.walls,
    };
    let is_sound = findings.is_sound();
    let stages: Vec<String> = file.stage.iter().map(|stage| stage.name.clone()).collect();
    let mut probes = Vec::new();
    for (name, section) in &mut file.probe {
        let every = section.every.get_or_insert(usual).si;
        check_interval(&format!("probe.{name}.every"), until, every, MAX_LINES, findings);
        let average = match average(section, every) {
            Ok(average) => average,
            Err((key, complaint)) => {
                findings.add(&format!("probe.{name}.{key}"), complaint.within(&format!("probe.{name}")));
                continue;
            }
        };
        if let Some(average) = average {
            check_interval(
                &format!("probe.{name}.sample_every"),
                until,
                average.sample_every,
                MAX_LINES,
                findings,
            );
        }
        let stay = section.residence_time.as_mut();
        let stay = stay.map(|stay| residence::residence(stay, world, &plan.inlets, findings));
        let dead = section.dead_zone.as_mut();
        let dead = dead.map(|dead| dead_zone::dead_zone(dead, every, world, is_sound));
        let ready: Vec<Kind> = stay.into_iter().chain(dead).collect();
        let what = probe_kind(section, ready, (world, &plan.absent, &stages), walls, is_sound);
        let what = what.and_then(|what| Ok((carried(section, &what, world, walls, is_sound)?, what)));
        match what {
            Ok((carrier, what)) => probes.push(Probe {
                name: name.clone(),
                every,
                average,
                what,
                carrier,
            }),
            Err((key, complaint)) => findings.add(&format!("probe.{name}.{key}"), complaint.within(&format!("probe.{name}"))),
        }
    }
    probes
}

/// What carries the places of a probe.
fn carried(
    section: &ProbeSection,
    what: &ProbeKind,
    world: &World,
    walls: NamedWalls,
    is_sound: bool,
) -> Result<Option<Carrier>, (String, UnlocatedDiagnostic)> {
    let Some(name) = &section.on else { return Ok(None) };
    let found = carrier::carrier(name, world, walls, is_sound);
    // Of refused sections there may be another kind in place of that which is meant.
    let checked = found.and_then(|found| {
        if is_sound {
            carrier::check_carried(what, world.domain.as_ref()).map(|()| found)
        } else {
            Ok(found)
        }
    });
    checked.map_err(|complaint| ("on".to_owned(), complaint))
}

/// The statistics of a probe with this time between two lines \[s\]; completes the section.
fn average(section: &mut ProbeSection, every: f64) -> Result<Option<Average>, (String, UnlocatedDiagnostic)> {
    let Some(window) = section.average else {
        if section.sample_every.is_some() {
            let complaint = UnlocatedDiagnostic::new("`sample_every` is for statistics, and the probe has none");
            return Err((
                "sample_every".to_owned(),
                complaint.remedy("add average = \"0.1 s\", or another time, or remove `sample_every`"),
            ));
        }
        return Ok(None);
    };
    let usual = Quantity::new(every.min(window.si / USUAL_SAMPLES));
    let sample_every = section.sample_every.get_or_insert(usual).si;
    let samples = window.si / sample_every;
    if samples < 1.0 - 1e-9 {
        let complaint = UnlocatedDiagnostic::new(format!(
            "an average over {} s has no sample when samples are {sample_every} s apart",
            window.si
        ));
        let complaint = complaint.limit(format!("`sample_every` up to {} s", window.si));
        return Err((
            "sample_every".to_owned(),
            complaint.remedy("sample more often, or average over a longer time"),
        ));
    }
    if samples > MAX_SAMPLES {
        let complaint = UnlocatedDiagnostic::new(format!("an average over {} s has {samples:.3e} samples", window.si));
        let complaint = complaint.limit(format!(
            "{MAX_SAMPLES:e} samples, that is one every {:e} s",
            window.si / MAX_SAMPLES
        ));
        return Err((
            "sample_every".to_owned(),
            complaint.remedy("sample less often, or average over a shorter time"),
        ));
    }
    Ok(Some(Average {
        window: window.si,
        sample_every,
    }))
}

/// The logged quantity of a section; `ready` has those of keys that were completed.
fn probe_kind(
    section: &ProbeSection,
    ready: Vec<Kind>,
    (world, absent, stages): (&World, &[StageItem], &[String]),
    walls: NamedWalls,
    is_sound: bool,
) -> Kind {
    let mut kinds = ready;
    let mut add = |kind: Option<Kind>| kinds.extend(kind);
    let region = |key: &str, region: &SimpleRegion| {
        let found = region_of(region).and_then(|region| check_fits(region, world.domain.as_ref()));
        found.map_err(|complaint| (format!("{key}.region"), complaint))
    };
    let optional = |key: &str, wanted: &Option<SimpleRegion>| wanted.as_ref().map(|wanted| region(key, wanted)).transpose();
    add(section.position.map(|id| position(id.0 as u32, world, is_sound)));
    add(section.count_through.as_ref().map(|count| {
        let normal = walls::unit(&count.plane.normal).map_err(|complaint| ("count_through.plane.normal".to_owned(), complaint))?;
        Ok(ProbeKind::CountThrough {
            point: si(&count.plane.point),
            normal,
            radius: count.radius.map(|radius| radius.si),
        })
    }));
    add(section.energy.filter(|&is_wanted| is_wanted).map(|_| Ok(ProbeKind::Energy)));
    add(section.cell.filter(|&is_wanted| is_wanted).map(|_| cell(world)));
    add(section.group_center.as_ref().map(|name| {
        let group = group_of(name, world).map_err(|complaint| ("group_center".to_owned(), complaint))?;
        Ok(ProbeKind::GroupCenter { group })
    }));
    add(section.group_force.as_ref().map(|name| {
        let group = group_of(name, world).map_err(|complaint| ("group_force".to_owned(), complaint))?;
        Ok(ProbeKind::GroupForce { group })
    }));
    add(section.body.as_ref().map(|of| bodies::body(of, world, is_sound)));
    add(section.group_load.as_ref().map(|on| bodies::group_load(on, world)));
    add(section.bonds.filter(|&is_wanted| is_wanted).map(|_| Ok(ProbeKind::Bonds)));
    add(section.fragments.as_ref().and_then(|of| fragments(of, world, is_sound)));
    let of_wall = |key: &str, name: &String| walls.find(name).map_err(|complaint| (key.to_owned(), complaint));
    let force = |name: &String| of_wall("wall_force", name).map(|walls| ProbeKind::WallForce { walls });
    let torque = |name: &String| of_wall("wall_torque", name).map(|walls| ProbeKind::WallTorque { walls });
    let power = |name: &String| of_wall("wall_power", name).map(|walls| ProbeKind::WallPower { walls });
    let place = |name: &String| of_wall("wall_position", name).map(|walls| ProbeKind::WallPosition { walls });
    add(section.wall_force.as_ref().map(force));
    add(section.wall_torque.as_ref().map(torque));
    add(section.wall_power.as_ref().map(power));
    add(section.wall_position.as_ref().map(place));
    let heat = |name: &String| of_wall("wall_heat", name).map(|walls| ProbeKind::WallHeat { walls });
    add(section.wall_heat.as_ref().map(heat));
    add(section.group_temperature.as_ref().map(|name| {
        let group = group_of(name, world).map_err(|complaint| ("group_temperature".to_owned(), complaint))?;
        Ok(ProbeKind::GroupScalar {
            group,
            scalar: GrainScalar::Temperature,
        })
    }));
    add(section
        .film
        .filter(|&is_wanted| is_wanted)
        .map(|_| Ok(ProbeKind::ScalarLedger(GrainScalar::FilmThickness))));
    add(section.group_film.as_ref().map(|name| {
        let group = group_of(name, world).map_err(|complaint| ("group_film".to_owned(), complaint))?;
        Ok(ProbeKind::GroupScalar {
            group,
            scalar: GrainScalar::FilmThickness,
        })
    }));
    add(section
        .heat
        .filter(|&is_wanted| is_wanted)
        .map(|_| Ok(ProbeKind::ScalarLedger(GrainScalar::Temperature))));
    add(section.worn_volume.as_ref().map(|name| {
        let walls = of_wall("worn_volume", name)?;
        if is_sound && world.walls[walls.clone()].iter().all(|wall| wall.specific_wear_rate == 0.0) {
            let complaint = UnlocatedDiagnostic::new(format!("wall `{name}` does not wear"));
            let section = name.split('.').next().unwrap_or(name);
            let remedy = format!("give [wall.{section}] a wear_coefficient and a hardness, or a specific_wear_rate");
            return Err(("worn_volume".to_owned(), complaint.remedy(remedy)));
        }
        Ok(ProbeKind::WornVolume { walls })
    }));
    add(section
        .stress
        .as_ref()
        .map(|inside| region("stress", &inside.region).map(ProbeKind::Stress)));
    add(section.strain.as_ref().map(|wanted| {
        let group = group_of(&wanted.group, world).map_err(|complaint| ("strain.group".to_owned(), complaint))?;
        let region = optional("strain", &wanted.region)?;
        let stage = |name: &String| {
            let found = stages.iter().position(|stage| stage == name);
            found.ok_or_else(|| ("strain.since".to_owned(), unknown("stage", name, stages.iter().map(String::as_str))))
        };
        let since = wanted.since.as_ref().map(stage).transpose()?;
        if is_sound {
            check_strained((group, region.as_ref(), since), world, absent).map_err(|complaint| ("strain".to_owned(), complaint))?;
        }
        Ok(ProbeKind::Strain { group, region, since })
    }));
    add(section
        .fabric
        .as_ref()
        .map(|inside| optional("fabric", &inside.region).map(ProbeKind::Fabric)));
    add(section
        .coordination
        .as_ref()
        .map(|inside| optional("coordination", &inside.region).map(ProbeKind::Coordination)));
    add(section
        .solid_fraction
        .as_ref()
        .map(|inside| region("solid_fraction", &inside.region).map(ProbeKind::SolidFraction)));
    add(section.mixing.as_ref().map(|mixing| {
        let groups = mixing
            .groups
            .iter()
            .map(|name| group_of(name, world))
            .collect::<Result<Vec<u32>, _>>();
        let groups = groups.map_err(|complaint| ("mixing.groups".to_owned(), complaint))?;
        if groups.len() < 2 || (1..groups.len()).any(|k| groups[..k].contains(&groups[k])) {
            let complaint = UnlocatedDiagnostic::new("groups that mix are two or more, each named once");
            return Err((
                "mixing.groups".to_owned(),
                complaint.remedy("name two groups, as in [\"sand\", \"gravel\"]"),
            ));
        }
        let bounds = mixing.region.as_ref().map(corners).transpose();
        let bounds = bounds.map_err(|complaint| ("mixing.region".to_owned(), complaint))?;
        Ok(ProbeKind::Mixing {
            groups,
            cells: mixing.cells.map(|count| count.0 as usize),
            bounds: bounds.map(|(min, max)| [min.to_array(), max.to_array()]),
        })
    }));
    add(section.angle_of_repose.as_ref().map(|heap| {
        let group = group_of(&heap.group, world).map_err(|complaint| ("angle_of_repose.group".to_owned(), complaint))?;
        check_heights(world).map_err(|complaint| ("angle_of_repose".to_owned(), complaint))?;
        let region = optional("angle_of_repose", &heap.region)?;
        let axis = heap.axis.as_ref().map(horizontal).transpose();
        let axis = axis.map_err(|complaint| ("angle_of_repose.axis".to_owned(), complaint))?;
        Ok(ProbeKind::AngleOfRepose { group, region, axis })
    }));
    kinds.extend(fluid::kinds(section, world, is_sound));
    let remedy = if kinds.is_empty() {
        "add one, as in energy = true; `seixo explain probe` describes them"
    } else {
        "keep one, and write a probe for each of the others"
    };
    match kinds.pop() {
        Some(kind) if kinds.is_empty() => kind,
        _ => {
            let complaint = UnlocatedDiagnostic::new(
                "a probe logs exactly one of `position`, `count_through`, `residence_time`, `dead_zone`, `energy = true`, `group_center`, `group_force`, `group_load`, `body`, `bonds = true`, `fragments`, `wall_force`, `wall_torque`, \
                 `wall_power`, `wall_position`, `worn_volume`, `stress`, `strain`, `fabric`, `coordination`, `solid_fraction`, `mixing`, `angle_of_repose`, `group_temperature`, `wall_heat`, \
                 `heat = true`, `group_film`, `film = true`, `fluid = true`, `fluid_pressure`, `fluid_velocity`, `surface_height`, `front` and `flow_rate`",
            );
            Err((String::new(), complaint.remedy(remedy)))
        }
    }
}

/// The axis of a drum as a unit vector; refuses one along gravity.
fn horizontal(axis: &Direction) -> Result<Vec3, UnlocatedDiagnostic> {
    let unit = walls::unit(axis)?;
    if unit[2].abs() < STEEPEST {
        return Ok(unit);
    }
    let complaint = UnlocatedDiagnostic::new("the axis of the drum is vertical, and its bed has no slope across it");
    let complaint = complaint.limit("an axis of less than 60 degrees to the horizontal");
    Err(complaint.remedy("write the direction of the axis of rotation, as in axis = [0, 1, 0]"))
}

/// Refuses heights in a world whose gravity does not point along −z.
fn check_heights(world: &World) -> Result<(), UnlocatedDiagnostic> {
    let [x, y, z] = world.gravity;
    if x == 0.0 && y == 0.0 && z < 0.0 {
        return Ok(());
    }
    let complaint = UnlocatedDiagnostic::new("heights are measured against gravity, and that of this scene does not point along -z");
    let complaint = complaint.limit("world.gravity = [0, 0, -9.81], of any size");
    Err(complaint.remedy("turn the scene, or remove the probe"))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> UnlocatedDiagnostic {
    UnlocatedDiagnostic::new(format!("no {what} is named `{name}`")).remedy(did_you_mean(name, known))
}

fn position(grain: u32, world: &World, is_sound: bool) -> Kind {
    // Refused grains have no ids to look up.
    if !is_sound || world.grains.id.contains(&grain) {
        return Ok(ProbeKind::Position { grain });
    }
    let highest = world.grains.id.iter().max().copied().unwrap_or(0);
    let complaint = UnlocatedDiagnostic::new(format!("no grain has the id {grain}")).limit(format!("ids up to {highest}"));
    Err((
        "position".to_owned(),
        complaint.remedy("use an id of the scene's grains, or group_center = \"NAME\" for a group of one"),
    ))
}

fn fragments(of: &FragmentsOf, world: &World, is_sound: bool) -> Option<Kind> {
    let at = |key: &str, complaint: UnlocatedDiagnostic| -> Option<Kind> { Some(Err((key.to_owned(), complaint))) };
    let groups = match of {
        FragmentsOf::Bonded(false) => return None,
        FragmentsOf::Bonded(true) => None,
        FragmentsOf::Groups(of) if of.groups.is_empty() => {
            let complaint = UnlocatedDiagnostic::new("fragments of no grains").limit("one section of grains, or several");
            let complaint = complaint.remedy("write groups = [\"NAME\"], or fragments = true");
            return at("fragments.groups", complaint);
        }
        FragmentsOf::Groups(of) => {
            let groups: Result<Vec<u32>, UnlocatedDiagnostic> = of.groups.iter().map(|name| group_of(name, world)).collect();
            match groups {
                Ok(groups) => Some(groups),
                Err(complaint) => return at("fragments.groups", complaint),
            }
        }
    };
    // Refused bonds are absent.
    if is_sound && world.bonds.is_empty() {
        let complaint = UnlocatedDiagnostic::new("fragments are what bonds hold together, and the scene has none");
        return at("fragments", complaint.remedy("add a section [bonds.NAME], or remove the probe"));
    }
    Some(Ok(ProbeKind::Fragments { groups }))
}

/// Refuses a cell that no periodic sides bound.
fn cell(world: &World) -> Kind {
    match &world.domain {
        Some(domain) if domain.periodic.contains(&true) => Ok(ProbeKind::Cell {
            min: domain.min,
            max: domain.max,
        }),
        _ => {
            let complaint = UnlocatedDiagnostic::new("no sides of the domain are periodic, so there is no cell");
            let remedy = "remove the probe, or write sides = [\"periodic\", \"periodic\", \"periodic\"] in world.domain";
            Err(("cell".to_owned(), complaint.remedy(remedy)))
        }
    }
}

fn group_of(name: &str, world: &World) -> Result<u32, UnlocatedDiagnostic> {
    let found = world.groups.iter().position(|group| group == name);
    found
        .map(|index| index as u32)
        .ok_or_else(|| unknown("group of grains", name, world.groups.iter().map(String::as_str)))
}

/// Refuses grains without a well-defined strain.
fn check_strained(
    (group, region, since): (u32, Option<&analysis::Region>, Option<usize>),
    world: &World,
    absent: &[StageItem],
) -> Result<(), UnlocatedDiagnostic> {
    let name = &world.groups[group as usize];
    if world.domain.is_some_and(|domain| domain.periodic.contains(&true)) {
        return Err(
            UnlocatedDiagnostic::new("a grain that crosses a periodic side has no displacement to measure a strain from")
                .limit("a domain without periodic sides")
                .remedy("leave the probe out: how a periodic domain is deformed is what the scene says"),
        );
    }
    // Where grains are when a stage begins is not known yet.
    if since.is_some() {
        return Ok(());
    }
    let grains = &world.grains;
    let is_there = |k: &usize| grains.group[*k] == group && !absent.contains(&StageItem::Group(group));
    let is_meant = |k: &usize| is_there(k) && region.is_none_or(|region| region.contains(grains.position[*k].into()));
    let count = (0..grains.len()).filter(is_meant).count();
    if count >= MIN_TO_STRAIN {
        return Ok(());
    }
    let there = if region.is_some() { "there at the start" } else { "at the start" };
    Err(
        UnlocatedDiagnostic::new(format!("a strain is fitted to where grains go, and `{name}` has {count} {there}"))
            .limit("four grains or more that do not lie in a plane")
            .remedy("choose a larger region, or a group whose grains are there from the start"),
    )
}

/// Refuses round regions that would overlap themselves across periodic sides; a box longer than the domain covers all of it.
fn check_fits(region: analysis::Region, domain: Option<&Domain>) -> Result<analysis::Region, UnlocatedDiagnostic> {
    let (analysis::Region::Cylinder { .. } | analysis::Region::Sphere { .. }, Some(domain)) = (region, domain) else {
        return Ok(region);
    };
    let [low, high] = region.bounds();
    let length = |axis: usize| domain.max[axis] - domain.min[axis];
    let is_long = |axis: &usize| domain.periodic[*axis] && high[*axis] - low[*axis] > (1.0 + 1e-9) * length(*axis);
    match (0..3).find(is_long) {
        None => Ok(region),
        Some(axis) => {
            let (name, long) = (["x", "y", "z"][axis], high[axis] - low[axis]);
            let complaint = UnlocatedDiagnostic::new(format!(
                "the region is {long} m long in {name}, where sides are periodic, and would count what is in it more than once"
            ));
            Err(complaint
                .limit(format!("the length of the domain, {} m", length(axis)))
                .remedy("use a smaller radius or length, or a box: one that is longer than the domain is all of it"))
        }
    }
}

fn region_of(region: &SimpleRegion) -> Result<analysis::Region, UnlocatedDiagnostic> {
    Ok(match region {
        SimpleRegion::Box(shape) => {
            let (min, max) = corners(shape)?;
            analysis::Region::Box { min, max }
        }
        SimpleRegion::Cylinder(shape) => {
            let (from, to) = (DVec3::from(si(&shape.from)), DVec3::from(si(&shape.to)));
            axis_between(from, to)?;
            analysis::Region::Cylinder {
                from,
                to,
                radius: shape.radius.si,
            }
        }
        SimpleRegion::Sphere(shape) => analysis::Region::Sphere {
            center: si(&shape.center).into(),
            radius: shape.radius.si,
        },
    })
}
