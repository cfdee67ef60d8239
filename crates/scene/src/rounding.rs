//! Rounding radii that polyhedra can have, and the error of others.

use crate::diagnostics::UnlocatedDiagnostic;
use glam::DVec3;
use seixo_analysis::{Polyhedron, PolyhedronError};
use seixo_engine::world::PolyhedralShape;

/// Suggested rounding radius, as a share of the largest one.
const SUGGESTED: f64 = 0.2;
/// Halvings of an interval in search of the largest one: more digits than are shown.
const HALVINGS: usize = 24;

/// Least and largest rounding radius of a shape of these convex parts with sharp edges, in their lengths: a share of the radius of the bounding sphere,
/// and what leaves a core of each part that a sphere of this radius can round.
pub(crate) fn range_of_rounding(sharp: &[Polyhedron]) -> [f64; 2] {
    let (mut volume, mut center, mut most) = (0.0, DVec3::ZERO, f64::INFINITY);
    for part in sharp {
        if let Ok(solid) = part.swept(0.0) {
            volume += solid.volume;
            center += (solid.center - center) * (solid.volume / volume);
        }
        most = most.min(largest_rounding(part));
    }
    let corners = sharp.iter().flat_map(|part| part.vertices().iter());
    let farthest = corners.map(|corner| corner.distance(center)).fold(0.0, f64::max);
    [PolyhedralShape::LEAST_ROUNDING * farthest, most]
}

/// The largest rounding radius of a convex part, in its lengths, or a little less.
fn largest_rounding(sharp: &Polyhedron) -> f64 {
    let is_possible = |radius: f64| sharp.shrunk(radius).and_then(|core| core.swept(radius)).is_ok();
    // No part can shrink by any distance: the error has the largest one.
    let Err(PolyhedronError::RoundingRadius { most, .. }) = sharp.shrunk(f64::INFINITY) else {
        return 0.0;
    };
    if is_possible(most) {
        return most;
    }
    let (mut possible, mut beyond) = (0.0, most);
    for _ in 0..HALVINGS {
        let between = 0.5 * (possible + beyond);
        if is_possible(between) {
            possible = between;
        } else {
            beyond = between;
        }
    }
    possible
}

/// The error of a polyhedron. If that is its rounding radius, it has the range of radii that are possible; lengths have this unit.
pub(crate) fn error_of_rounding(error: &PolyhedronError, [least, most]: [f64; 2], unit: &str) -> UnlocatedDiagnostic {
    let PolyhedronError::RoundingRadius { radius, .. } = error else {
        return UnlocatedDiagnostic::from_message(&error.to_string());
    };
    let complaint = UnlocatedDiagnostic::new(format!("the rounding radius is {radius} {unit}"));
    let [low, high] = [three_digits(least, f64::ceil), three_digits(most, f64::floor)];
    if low > high {
        return complaint
            .limit(format!("at least {low} {unit}, and at most {high} {unit}: no radius is both"))
            .remedy("remove faces that are near the center of mass, or write `faces` to simplify the mesh");
    }
    let suggested = three_digits(SUGGESTED * most, f64::round).clamp(low, high);
    complaint
        .limit(format!("from {low} {unit} to {high} {unit}"))
        .remedy(format!("write a radius in this range, such as {suggested} {unit}"))
}

/// A positive number with three digits, rounded in this way.
fn three_digits(value: f64, rounded: fn(f64) -> f64) -> f64 {
    let near = format!("{value:.2e}").parse().unwrap_or(value);
    if near == value || !value.is_normal() {
        return near;
    }
    let digit = 10f64.powf(value.abs().log10().floor() - 2.0);
    let whole = rounded(value / digit) * digit;
    format!("{whole:.2e}").parse().unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_rounded_into_the_range() {
        let limits = [(7.6, [7.6, 7.6]), (1.3856e-3, [1.38e-3, 1.39e-3]), (0.95 * 8.0, [7.6, 7.6])];
        for (value, expected) in limits {
            let found = [three_digits(value, f64::floor), three_digits(value, f64::ceil)];
            assert_eq!(found, expected, "{value}");
        }
        assert_eq!([three_digits(9.999, f64::ceil), three_digits(9.999, f64::floor)], [10.0, 9.99]);
    }
}
