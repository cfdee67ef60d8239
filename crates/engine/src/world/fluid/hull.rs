//! What of rigid bodies fluids feel.

use super::{Fluids, Solver};
use crate::refusal::Refusal;
use crate::world::{Body, Vec3};
use std::collections::HashMap;

/// The particles of a rigid body that fluids feel, as they feel those of walls: all that is within a support of its surface, half a spacing and more
/// inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Id of the body, one of [`crate::world::Grains::bodies`].
    pub body: u32,
    /// Where they are from its center, in the frame of its principal axes \[m\].
    pub offset: Vec<Vec3>,
    /// Whether fluids slip along it freely; else they stick to it.
    pub slips: bool,
}

/// Refuses hulls of bodies that are not there, or that have several.
pub(super) fn check_hulls(fluids: &Fluids, bodies: &[Body]) -> Result<(), Refusal> {
    let mut known: HashMap<u32, bool> = bodies.iter().map(|body| (body.id, false)).collect();
    for hull in &fluids.hulls {
        let id = hull.body;
        let flaw = match known.insert(id, true) {
            None => Some("is not there"),
            Some(true) => Some("has another hull"),
            Some(false) if hull.offset.iter().flatten().any(|x| !x.is_finite()) => Some("has a particle at a place that is none"),
            Some(false) => None,
        };
        if let Some(flaw) = flaw {
            return Err(Refusal::Fluid(format!(
                "fluids are to feel body {id}, which {flaw}; a hull belongs to one body of the world, and its places are finite"
            )));
        }
    }
    if let (Solver::Muller2003, Some(hull)) = (fluids.solver, fluids.hulls.first()) {
        return Err(Refusal::Fluid(format!(
            "fluids are to feel body {}, which solver = \"muller2003\" does not do; use solver = \"wcsph\"",
            hull.body
        )));
    }
    Ok(())
}
