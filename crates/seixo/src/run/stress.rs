//! Mean stress in a region: a line of a probe, or now.

use super::outputs::Sample;
use seixo_analysis::{Region, Stress, stress_in};
use seixo_engine::{Simulation, StepError};
use seixo_scene::Carrier;

/// Mean stress in a region. The sample must have the contacts.
pub(super) fn stress_of(sample: &Sample, region: &Region) -> Stress {
    stress_in(region, sample.grains(), sample.contacts(), sample.bonds())
}

/// Mean stress now in a region, as stress probes log it. With a carrier the region is given at time zero, and moves with it; `None` once the body that
/// carries it has left.
///
/// # Errors
/// As [`Simulation::observe`].
pub fn stress_now(simulation: &mut Simulation, region: &Region, carrier: Option<&Carrier>) -> Result<Option<Stress>, StepError> {
    let contacts = simulation.contacts_now()?;
    let sample = Sample::of(simulation, contacts, None);
    let here = match carrier {
        None => Some(*region),
        Some(carrier) => sample.motion_of(carrier).map(|motion| region.moved(&motion)),
    };
    Ok(here.map(|region| stress_of(&sample, &region)))
}
