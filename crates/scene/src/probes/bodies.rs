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
    let grains = world.grains.id.iter().zip(&world.grains.group);
    let members: HashSet<u32> = grains.filter(|(_, own)| **own == group).map(|(id, _)| *id).collect();
    let is_own = |body: &&Body| body.carries.iter().any(|(id, _)| members.contains(id));
    let bodies: Vec<&Body> = world.grains.bodies.iter().filter(is_own).collect();
    let number = of.number.map(|number| number.0 as usize);
    match (number, bodies.as_slice()) {
        (None, [body]) => Ok(of_body(body, about)),
        (Some(number), bodies) if (1..=bodies.len()).contains(&number) => Ok(of_body(bodies[number - 1], about)),
        // Refused grains have no bodies.
        _ if !is_sound => Ok(ProbeKind::GroupLoad { group, about }),
        (_, []) => {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{} have no rigid body at the start", of.group));
            Err(at(
                "group",
                complaint
                    .limit("clumps, boundaries, and grains with a joint or displaces_fluid = true")
                    .remedy("name another group, or log group_center"),
            ))
        }
        (None, bodies) => {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{} have {} bodies, and one is logged", of.group, bodies.len()));
            Err(at("group", complaint.remedy(format!("add `number`, from 1 to {}", bodies.len()))))
        }
        (Some(number), bodies) => {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{} have no body number {number}", of.group));
            Err(at(
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
