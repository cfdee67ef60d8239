//! XSPH of weakly compressible fluids: rejection of settings for which it is not implemented or not valid.

use super::{Fluid, Fluids, Solver};
use crate::refusal::WorldError;

/// Rejects the XSPH of a fluid where it is not implemented or not valid. Müller's solver has its own.
pub(super) fn check_xsph(fluids: &Fluids, fluid: &Fluid) -> Result<(), WorldError> {
    if fluid.xsph == 0.0 {
        return Ok(());
    }
    let why = if fluids.solver == Solver::Incompressible {
        "where solver = \"dfsph\" makes velocities free of divergence, and particles that move with smoothed ones would change their densities; leave \
         xsph out, or use solver = \"wcsph\""
    } else if fluids.particle_shifting {
        "and particle shifting, but particles can only move with one of both velocities; leave xsph or particle_shifting out"
    } else if fluids.body_boundaries.iter().any(|body_boundary| body_boundary.suspended.is_some()) {
        "and carries grains that are smaller than its particles, which is not built yet; leave one of both out"
    } else {
        return Ok(());
    };
    Err(WorldError::Fluid(format!(
        "fluid {:?} has an XSPH share of {} {why}",
        fluid.name, fluid.xsph
    )))
}
