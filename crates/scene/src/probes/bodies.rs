//! Probes of rigid bodies and of loads: from the keys of a scene to logged quantities.

use super::{Kind, group_of};
use crate::{
    ProbeKind,
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    schema::{BodyOf, LoadOn},
};
use seixo_engine::world::{Body, World};
use std::collections::HashSet;

/// The probe of a body of a group.
pub(super) fn body(of: &BodyOf, world: &World, is_sound: bool) -> Kind {
    let at = |key: &str, complaint: UnlocatedDiagnostic| (format!("body.{key}"), complaint);
    let group = group_of(&of.group, world).map_err(|complaint| at("group", complaint))?;
    let about = of.about.as_ref().map(si);
    let number = of.number.map(|number| number.0 as usize);
    let found = find(&of.group, number, world, is_sound).map_err(|(key, complaint)| at(key, complaint))?;
    Ok(found.map_or(ProbeKind::GroupLoad { group, about }, |body| of_body(body, about)))
}

/// The body of a known group with this number, or its only one; `None` if grains were refused, as they have no bodies then.
pub(super) fn find<'a>(
    name: &str,
    number: Option<usize>,
    world: &'a World,
    is_sound: bool,
) -> Result<Option<&'a Body>, (&'static str, UnlocatedDiagnostic)> {
    let is_named = |group: u32| world.groups[group as usize] == name;
    let grains = world.grains.id.iter().zip(&world.grains.group);
    let members: HashSet<u32> = grains.filter(|(_, own)| is_named(**own)).map(|(id, _)| *id).collect();
    let is_own = |body: &&Body| body.carries.iter().any(|(id, _)| members.contains(id));
    let bodies: Vec<&Body> = world.grains.bodies.iter().filter(is_own).collect();
    match (number, bodies.as_slice()) {
        (None, [body]) => Ok(Some(*body)),
        (Some(number), bodies) if (1..=bodies.len()).contains(&number) => Ok(Some(bodies[number - 1])),
        _ if !is_sound => Ok(None),
        (_, []) => {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name} have no rigid body at the start"));
            Err((
                "group",
                complaint
                    .limit("clumps, boundaries, and grains with a joint or displaces_fluid = true")
                    .remedy("name another group, or log group_center"),
            ))
        }
        (None, bodies) => {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name} have {} bodies, and one is meant", bodies.len()));
            Err(("group", complaint.remedy(format!("add `number`, from 1 to {}", bodies.len()))))
        }
        (Some(number), bodies) => {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name} have no body number {number}"));
            Err((
                "number",
                complaint.limit(format!("1 to {}", bodies.len())).remedy("choose a smaller number"),
            ))
        }
    }
}

fn of_body(body: &Body, about: Option<[f64; 3]>) -> ProbeKind {
    ProbeKind::Body {
        body: body.id,
        orientation: body.orientation,
        about,
    }
}

/// The probe of the load on a group.
pub(super) fn group_load(on: &LoadOn, world: &World) -> Kind {
    let group = group_of(&on.group, world).map_err(|complaint| ("group_load.group".to_owned(), complaint))?;
    Ok(ProbeKind::GroupLoad {
        group,
        about: on.about.as_ref().map(si),
    })
}
