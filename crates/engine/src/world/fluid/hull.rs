//! What of rigid bodies fluids feel.

use super::{Fluids, Solver};
use crate::refusal::Refusal;
use crate::world::{Body, Vec3};
use std::collections::HashMap;

/// Radius of the largest grains that fluids can carry without flowing around them \[supports\]. In slow flow these stir what is taken for the fluid
/// around them with half of their own velocity, see [`seixo_laws::fluid::suspension`].
pub const LARGEST_SUSPENDED: f64 = 0.25;

/// The particles of a rigid body that fluids feel, as they feel those of walls: all that is within a support of its surface, half a spacing and more
/// inside. Or a grain that is too small for that.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Id of the body, one of [`crate::world::Grains::bodies`].
    pub body: u32,
    /// Where they are from its center, in the frame of its principal axes \[m\].
    pub offset: Vec<Vec3>,
    /// Whether fluids slip along it freely; else they stick to it.
    pub slips: bool,
    /// Radius of a grain that is smaller than the particles of fluids \[m\]: it has one particle, at its center, and drag and buoyancy stand for what fluids
    /// do at its surface, see [`seixo_laws::fluid::suspension`]. `None` for a body around which fluids flow.
    pub suspended: Option<f64>,
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
    fluids
        .hulls
        .iter()
        .try_for_each(|hull| hull.suspended.map_or(Ok(()), |radius| check_suspended(fluids, hull, radius)))?;
    if let (Solver::Muller2003, Some(hull)) = (fluids.solver, fluids.hulls.first()) {
        return Err(Refusal::Fluid(format!(
            "fluids are to feel body {}, which solver = \"muller2003\" does not do; use solver = \"wcsph\"",
            hull.body
        )));
    }
    Ok(())
}

/// Refuses a grain of this radius \[m\] that is to be carried without fluids flowing around it, where that means nothing.
fn check_suspended(fluids: &Fluids, hull: &Hull, radius: f64) -> Result<(), Refusal> {
    let refuse = |what: String| {
        Err(Refusal::Fluid(format!(
            "fluids are to carry body {} as a small grain, {what}",
            hull.body
        )))
    };
    if hull.offset != [[0.0; 3]] {
        return refuse("which has one particle, at its center: give it that".to_owned());
    }
    let largest = LARGEST_SUSPENDED * fluids.support;
    if !(radius > 0.0 && radius <= largest * (1.0 + 1e-9)) {
        return refuse(format!(
            "but its radius is {radius} m; it must be positive and at most {largest:.4e} m, a quarter of the support: use a larger spacing, or give it \
             a hull around which fluids flow"
        ));
    }
    if fluids.solver != Solver::WeaklyCompressible {
        return refuse("which solver = \"wcsph\" alone does: use that".to_owned());
    }
    if fluids.across.is_some() {
        return refuse("and flow in a plane, where nothing is a sphere: let them flow in space".to_owned());
    }
    Ok(())
}
