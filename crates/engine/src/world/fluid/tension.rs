//! Surface tension: limits of its validity.

use super::{Fluid, Fluids};
use crate::refusal::WorldError;
use seixo_laws::fluid::Smoothing;
use std::f64::consts::PI;

/// Shortest support of a fluid with surface tension \[spacings\]. With less, particles hold each other in a lattice, and drops keep
/// any shape.
pub const MIN_COHESIVE_SUPPORT: f64 = 4.0;

/// Range of contact angles that were reproduced at walls, to about 6° \[rad\].
pub const CONTACT_ANGLES: [f64; 2] = [PI / 6.0, 13.0 * PI / 18.0];

/// Speed √(σ/(ρ h)) at which a surface tension \[N/m\] moves fluid of this density \[kg/m³\] over a smoothing length \[m\] \[m/s\].
///
/// The speed of sound must be ten times as high; otherwise the pressure of the surface layer changes densities by more than a few percent.
pub fn capillary_speed(surface_tension: f64, density: f64, smoothing_length: f64) -> f64 {
    (surface_tension / (density * smoothing_length)).sqrt()
}

/// Rejects a fluid whose surface tension would not be reproduced.
pub(super) fn check_tension(fluids: &Fluids, fluid: &Fluid) -> Result<(), WorldError> {
    if fluid.surface_tension == 0.0 {
        return Ok(());
    }
    let Fluid {
        name,
        sound_speed,
        contact_angle,
        ..
    } = fluid;
    let capillary = capillary_speed(fluid.surface_tension, fluid.density, fluids.smoothing_length());
    let [least_angle, most_angle] = CONTACT_ANGLES;
    let what = if fluids.kinds.len() > 1 {
        "and is not alone: tension between fluids is not built yet; leave surface_tension out, or the other fluids".to_owned()
    } else if !(fluids.inlets.is_empty() && fluids.outlets.is_empty()) {
        "and comes by inlets or leaves by outlets, which are walls to its tension; leave surface_tension out, or inlets and outlets"
            .to_owned()
    } else if fluids.smoothing != Smoothing::Wendland {
        "which is known for Wendland's smoothing function alone; write smoothing = \"wendland\"".to_owned()
    } else if fluids.support < MIN_COHESIVE_SUPPORT * fluids.spacing * (1.0 - 1e-9) {
        format!(
            "and a support of {:.3} spacings, with which particles hold each other in a lattice; use at least {MIN_COHESIVE_SUPPORT}",
            fluids.support / fluids.spacing
        )
    } else if *sound_speed < 10.0 * capillary * (1.0 - 1e-9) {
        format!(
            "and a sound speed of {sound_speed} m/s, which must be ten times \u{221a}(\u{3c3}/(\u{3c1}h)) = {capillary:.4} m/s; write sound_speed = {:.4} or \
             leave it out",
            10.0 * capillary
        )
    } else if !(least_angle - 1e-9..=most_angle + 1e-9).contains(contact_angle) {
        format!(
            "and a contact angle of {:.1}\u{b0}; it must be from {:.0}\u{b0} to {:.0}\u{b0}",
            contact_angle.to_degrees(),
            least_angle.to_degrees(),
            most_angle.to_degrees()
        )
    } else {
        return Ok(());
    };
    Err(WorldError::Fluid(format!(
        "fluid {name:?} has a surface tension of {} N/m, {what}",
        fluid.surface_tension
    )))
}
