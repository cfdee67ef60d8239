//! What carries the places of a probe: a wall or a rigid body.

use super::{FluidProbe, Passage, bodies, group_of};
use crate::{
    ProbeKind,
    diagnostics::{UnlocatedDiagnostic, did_you_mean},
    walls::NamedWalls,
};
use seixo_analysis::Region;
use seixo_engine::world::{Domain, Vec3, World};

/// What carries the places of a probe.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    /// A wall, by its index in [`World::walls`].
    Wall(usize),
    /// A rigid body.
    Body {
        /// Its id.
        id: u32,
        /// Its center of mass at time zero \[m\].
        center: Vec3,
        /// Its orientation at time zero, a unit quaternion w x y z.
        orientation: [f64; 4],
    },
}

/// What a name means.
enum Meant<'a> {
    Wall(&'a str),
    Body(&'a str),
}

/// The wall or body of this name; `None` if refused parts of the scene are absent.
pub(super) fn carrier(name: &str, world: &World, walls: NamedWalls, is_sound: bool) -> Result<Option<Carrier>, UnlocatedDiagnostic> {
    match meant(name, world, walls)? {
        Meant::Wall(name) => Ok(walls.find(name)?.next().map(Carrier::Wall)),
        Meant::Body(name) => {
            let (group, number) = numbered(name);
            group_of(group, world)?;
            let found = bodies::find(group, number, world, is_sound).map_err(|(_, complaint)| {
                complaint.remedy(format!(
                    "name a wall, a group with one rigid body, or a body by its number, as in on = \"grains.{group}.1\""
                ))
            })?;
            Ok(found.map(|body| Carrier::Body {
                id: body.id,
                center: body.center,
                orientation: body.orientation,
            }))
        }
    }
}

/// Whether a name is that of a wall or that of a body.
fn meant<'a>(name: &'a str, world: &World, walls: NamedWalls) -> Result<Meant<'a>, UnlocatedDiagnostic> {
    if let Some(wall) = name.strip_prefix("wall.") {
        return Ok(Meant::Wall(wall));
    }
    if let Some(group) = name.strip_prefix("grains.") {
        return Ok(Meant::Body(group));
    }
    let is_group = world.groups.iter().any(|group| group == numbered(name).0);
    match (walls.find(name).is_ok(), is_group) {
        (true, false) => Ok(Meant::Wall(name)),
        (false, true) => Ok(Meant::Body(name)),
        (true, true) => Err(UnlocatedDiagnostic::new(format!("`{name}` is a wall and a group of grains"))
            .remedy(format!("write \"wall.{name}\" or \"grains.{name}\""))),
        (false, false) => {
            let known = walls.sections.keys().chain(&world.groups).map(String::as_str);
            Err(UnlocatedDiagnostic::new(format!("no wall and no group of grains is named `{name}`")).remedy(did_you_mean(name, known)))
        }
    }
}

/// A name and the number of a body after its last dot, if there is one.
fn numbered(name: &str) -> (&str, Option<usize>) {
    let parts = name
        .rsplit_once('.')
        .and_then(|(group, number)| Some((group, number.parse().ok()?)));
    parts.map_or((name, None), |(group, number)| (group, Some(number)))
}

/// Refuses probes that have nothing to carry, and places that periodic sides would cut or repeat.
pub(super) fn check_carried(kind: &ProbeKind, domain: Option<&Domain>) -> Result<(), UnlocatedDiagnostic> {
    if kind.places().is_empty() {
        let complaint = UnlocatedDiagnostic::new("the probe has no place that could move with a wall or a body");
        let complaint = complaint.limit(
            "`fluid_pressure`, `fluid_velocity`, `surface_height`, `count_through`, `residence_time` to a plane or a zone, a `region` of `stress`, \
             `fabric`, `coordination`, `solid_fraction` or `angle_of_repose`, and `about` of `body` and `group_load`",
        );
        return Err(complaint.remedy("remove `on`"));
    }
    let Some(domain) = domain.filter(|domain| domain.periodic.contains(&true)) else {
        return Ok(());
    };
    match kind {
        ProbeKind::CountThrough { .. } | ProbeKind::ResidenceTime { .. } => {
            let complaint = UnlocatedDiagnostic::new("a plane or a zone that moves has no place among the images of a periodic domain");
            let complaint = complaint.limit("a domain without periodic sides");
            Err(complaint.remedy("remove `on`, or open the sides"))
        }
        _ => kind.region().map_or(Ok(()), |region| check_turning(region, domain)),
    }
}

/// Refuses a region that would overlap itself across periodic sides in some orientation.
fn check_turning(region: &Region, domain: &Domain) -> Result<(), UnlocatedDiagnostic> {
    let [low, high] = region.bounds();
    let across = (high - low).length();
    let is_short = |&axis: &usize| domain.periodic[axis] && domain.max[axis] - domain.min[axis] < across * (1.0 - 1e-9);
    match (0..3).find(is_short) {
        None => Ok(()),
        Some(axis) => {
            let length = domain.max[axis] - domain.min[axis];
            let complaint = UnlocatedDiagnostic::new(format!(
                "the region is {across} m long from corner to corner, and would count what is in it more than once as it turns"
            ));
            Err(complaint
                .limit(format!(
                    "the length of the periodic domain, {length} m in {}",
                    ["x", "y", "z"][axis]
                ))
                .remedy("use a smaller region, or remove `on`"))
        }
    }
}

impl ProbeKind {
    /// The places that a [`Carrier`] moves, at time zero: the points of gauges, with z = 0 for heights, or one place of another probe \[m\]. Empty if it
    /// has none.
    pub fn places(&self) -> Vec<Vec3> {
        let of_passage = |passage: &Passage| match passage {
            Passage::Plane { point, .. } => vec![*point],
            Passage::Entry(zone) | Passage::Exit(zone) => {
                let [low, high] = zone.bounds();
                vec![[0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]))]
            }
            Passage::Inlet { .. } => Vec::new(),
        };
        match self {
            ProbeKind::Fluid(FluidProbe::Pressure { at } | FluidProbe::Velocity { at }) => at.clone(),
            ProbeKind::Fluid(FluidProbe::SurfaceHeight { at }) => at.iter().map(|[x, y]| [*x, *y, 0.0]).collect(),
            ProbeKind::CountThrough { point, .. } => vec![*point],
            ProbeKind::ResidenceTime { to, .. } => of_passage(to),
            ProbeKind::GroupLoad { about, .. } | ProbeKind::Body { about, .. } => about.iter().copied().collect(),
            kind => kind.region().map(|region| region.center().to_array()).into_iter().collect(),
        }
    }

    /// The region in which grains or contacts are measured at each line.
    fn region(&self) -> Option<&Region> {
        match self {
            ProbeKind::Stress(region) | ProbeKind::SolidFraction(region) => Some(region),
            ProbeKind::Fabric(region) | ProbeKind::Coordination(region) | ProbeKind::AngleOfRepose { region, .. } => region.as_ref(),
            _ => None,
        }
    }
}
