//! Shifting of particles: with what it is not built, or would not be what is asked for.

use super::{Fluids, Solver};
use crate::refusal::Refusal;

/// The shortest support with which a free surface is told from the inside of a fluid \[spacings\].
const LEAST_SHIFTED_SUPPORT: f64 = 2.5;

/// Refuses to shift particles where that is not built; free surfaces are looked for once all neighbors are known.
pub(super) fn check_shifting(fluids: &Fluids) -> Result<(), Refusal> {
    if !fluids.particle_shifting {
        return Ok(());
    }
    let why = if fluids.solver != Solver::WeaklyCompressible {
        "which solver = \"wcsph\" alone knows; leave it out, or use that".to_owned()
    } else if fluids.kinds.iter().any(|fluid| fluid.surface_tension > 0.0) {
        "and a surface tension, whose surfaces it would dissolve; leave one of both out".to_owned()
    } else if fluids.hulls.iter().any(|hull| hull.suspended.is_some()) {
        "and carry grains that are smaller than their particles, which is not built yet; leave one of both out".to_owned()
    } else if fluids.support < LEAST_SHIFTED_SUPPORT * fluids.spacing * (1.0 - 1e-9) {
        format!(
            "and a support of {:.3} spacings, with which free surfaces are not found; use at least {LEAST_SHIFTED_SUPPORT}",
            fluids.support / fluids.spacing
        )
    } else if !(fluids.fastest.is_finite() && fluids.fastest > 0.0) {
        format!(
            "which is as strong as the flow is fast, and the fastest flow that is expected is {} m/s; it must be positive",
            fluids.fastest
        )
    } else {
        return Ok(());
    };
    Err(Refusal::Fluid(format!("fluids have particle shifting, {why}")))
}
