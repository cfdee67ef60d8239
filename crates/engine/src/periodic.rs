//! Periodic sides: kinds, images and checks.

use crate::periodic_cell::PeriodicCell;
use crate::refusal::WorldError;
use crate::world::{Domain, World, vector};
use seixo_sweeps::periodic::{FAR_AWAY, OPEN, PERIODIC, PeriodicBoundaries, SHEARED, STRETCHED};

/// Kind of periodic sides of a domain, in constants of the sweeps.
pub(crate) fn kind_of(domain: Option<&Domain>) -> u32 {
    match domain {
        Some(domain) if domain.shear.is_some() => SHEARED,
        Some(domain) if domain.control.is_some() => STRETCHED,
        Some(domain) if domain.periodic.contains(&true) => PERIODIC,
        _ => OPEN,
    }
}

/// Images of a domain at this time \[s\].
pub(crate) fn sides_of(domain: Option<&Domain>, time: f64) -> PeriodicBoundaries<f64, f64> {
    let mut sides = PeriodicBoundaries::open();
    let Some(domain) = domain else { return sides };
    let cell = PeriodicCell::of(Some(domain), time);
    let pick = |axis: usize, open: f64, periodic: f64| if cell.is_periodic(axis) { periodic } else { open };
    let far = f64::from(FAR_AWAY);
    sides.low = vector([0, 1, 2].map(|axis| pick(axis, -0.5 * far, cell.low[axis])));
    sides.length = vector([0, 1, 2].map(|axis| pick(axis, far, cell.length[axis])));
    (sides.offset, sides.slide) = (vector(cell.offset), vector(cell.slide));
    if let Some(shear) = domain.shear {
        sides.across = vector([0, 1, 2].map(|axis| if axis == shear.gradient { 1.0 } else { 0.0 }));
    }
    sides
}

/// Rejects a domain that is too short along a periodic axis for interactions of this reach \[m\]: no object may interact with two images of another.
pub(crate) fn check_periods(domain: &Domain, reach: f64) -> Result<(), WorldError> {
    let length = |axis: usize| domain.max[axis] - domain.min[axis];
    let short = (0..3).find(|&axis| domain.periodic[axis] && length(axis) <= 2.0 * reach);
    short.map_or(Ok(()), |axis| {
        Err(WorldError::PeriodicSide {
            axis: ["x", "y", "z"][axis],
            length: length(axis),
            limit: 2.0 * reach,
        })
    })
}

/// Rejects impossible periodic sides: a grain must not be in contact with an image of itself, or with two images of another.
///
/// # Errors
/// If the domain is too small for the largest grain and the reach of the lists, or sheared sides are not periodic.
pub(crate) fn check_sides(world: &World, reach: f64) -> Result<(), WorldError> {
    let Some(domain) = &world.domain else { return Ok(()) };
    check_periods(domain, reach)?;
    let Some(shear) = domain.shear else { return Ok(()) };
    let sound = shear.flow < 3 && shear.gradient < 3 && shear.flow != shear.gradient && shear.rate.is_finite();
    if !sound || !domain.periodic[shear.flow] || !domain.periodic[shear.gradient] {
        return Err(WorldError::Shear);
    }
    if world.local_damping > 0.0 {
        return Err(WorldError::DampedShear);
    }
    Ok(())
}
