//! Particle shifting: rejection of settings for which it is not implemented or not valid.

use super::{Fluids, Solver};
use crate::refusal::WorldError;

/// Shortest support with which a free surface is distinguished from the interior of a fluid \[spacings\].
const MIN_SHIFTED_SUPPORT: f64 = 2.5;

/// Rejects particle shifting where it is not implemented. Free surfaces are detected after all neighbors are known.
pub(super) fn check_shifting(fluids: &Fluids) -> Result<(), WorldError> {
    if !fluids.particle_shifting {
        return Ok(());
    }
    let why = if fluids.solver != Solver::WeaklyCompressible {
        "which is for solver = \"wcsph\" alone; leave it out, or use that".to_owned()
    } else if fluids.kinds.iter().any(|fluid| fluid.surface_tension > 0.0) {
        "and a surface tension, whose surfaces it would dissolve; leave one of both out".to_owned()
    } else if fluids.body_boundaries.iter().any(|body_boundary| body_boundary.suspended.is_some()) {
        "and carry grains that are smaller than their particles, which is not built yet; leave one of both out".to_owned()
    } else if fluids.support < MIN_SHIFTED_SUPPORT * fluids.spacing * (1.0 - 1e-9) {
        format!(
            "and a support of {:.3} spacings, with which free surfaces are not found; use at least {MIN_SHIFTED_SUPPORT}",
            fluids.support / fluids.spacing
        )
    } else if !(fluids.largest_speed.is_finite() && fluids.largest_speed > 0.0) {
        format!(
            "which is as strong as the flow is fast, and the fastest flow that is expected is {} m/s; it must be positive",
            fluids.largest_speed
        )
    } else {
        return Ok(());
    };
    Err(WorldError::Fluid(format!("fluids have particle shifting, {why}")))
}
