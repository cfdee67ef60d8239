//! Angle of repose: the cone that fits the surface of a heap.

use crate::region::Region;
use seixo_engine::state::GrainSnapshot;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Width of the cells in which the highest grain is part of the surface, in mean diameters.
const CELL: f64 = 2.0;
/// Distances from the axis between which the surface is fitted, as shares of the base radius: without the rounded tip and the scattered foot.
const FITTED: [f64; 2] = [0.2, 0.8];
/// Number of sectors whose slopes give the error.
const SECTORS: usize = 8;
/// Smallest number of points from which a slope follows.
const MIN_POINTS: usize = 3;

/// A cone on a horizontal base that fits the surface of a heap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repose {
    /// Angle of its side to the horizontal \[rad\].
    pub angle: f64,
    /// Standard error of the angle, from the angles of eight sectors \[rad\].
    pub error: f64,
    /// Height z of its tip \[m\].
    pub tip: f64,
    /// Radius of the base of a cone with the same mean distance of the grains from the axis \[m\].
    pub radius: f64,
}

impl Repose {
    const NONE: Repose = Repose {
        angle: f64::NAN,
        error: f64::NAN,
        tip: f64::NAN,
        radius: f64::NAN,
    };
}

/// The cone of a group of grains, or of those of them whose centers are in a region; gravity acts along −z. Its axis goes through the center of mass.
///
/// The highest grain of each square cell of the map, two mean diameters wide, is part of the surface. A line z = t − s r is fitted by least squares to
/// the tops of these grains at their own distances r from the axis, between 0.2 and 0.8 of the base radius. That is twice the mean distance of all
/// grains, as of a cone. The error is the standard error of the mean over eight sectors, each fitted alone. Not a number for too few grains.
pub fn repose(grains: &GrainSnapshot, group: u32, region: Option<&Region>) -> Repose {
    let is_meant = |&k: &usize| grains.group[k] == group && region.is_none_or(|region| region.contains(grains.position[k].into()));
    let heap: Vec<usize> = (0..grains.id.len()).filter(is_meant).collect();
    let Some(&first) = heap.first() else { return Repose::NONE };
    // Across periodic sides a heap is seen from one of its grains, and then from its center.
    let seen_from = |center: [f64; 3], k: usize| {
        let apart = [0, 1, 2].map(|axis| grains.position[k][axis] - center[axis]);
        grains.cell.nearest(apart).of(apart)
    };
    let origin = grains.position[first];
    let (mut mass, mut moment) = (0.0, [0.0; 3]);
    for &k in &heap {
        let place = seen_from(origin, k);
        mass += grains.mass[k];
        moment = [0, 1, 2].map(|axis| moment[axis] + grains.mass[k] * place[axis]);
    }
    let axis = [origin[0] + moment[0] / mass, origin[1] + moment[1] / mass, origin[2]];
    let places: Vec<[f64; 3]> = heap.iter().map(|&k| seen_from(axis, k)).collect();
    let count = heap.len() as f64;
    let radius = 2.0 * places.iter().map(|[x, y, _]| x.hypot(*y)).sum::<f64>() / count;
    let width = CELL * 2.0 * heap.iter().map(|&k| grains.radius[k]).sum::<f64>() / count;
    let mut tops: BTreeMap<[i64; 2], [f64; 3]> = BTreeMap::new();
    for (&k, [x, y, z]) in heap.iter().zip(&places) {
        let top = [*x, *y, z + axis[2] + grains.radius[k]];
        let highest = tops.entry([x, y].map(|along| (along / width).floor() as i64)).or_insert(top);
        if top[2] > highest[2] {
            *highest = top;
        }
    }
    let (mut all, mut sectors) = (Vec::new(), [const { Vec::new() }; SECTORS]);
    for [x, y, top] in tops.into_values() {
        let point = [x.hypot(y), top];
        if (FITTED[0] * radius..=FITTED[1] * radius).contains(&point[0]) {
            all.push(point);
            sectors[((y.atan2(x) / TAU + 0.5) * SECTORS as f64) as usize % SECTORS].push(point);
        }
    }
    let [slope, tip] = fitted(&all);
    let angles = sectors.map(|points| fitted(&points)[0].atan());
    let mean = angles.iter().sum::<f64>() / SECTORS as f64;
    let square = angles.iter().map(|angle| (angle - mean).powi(2)).sum::<f64>();
    Repose {
        angle: slope.atan(),
        error: (square / ((SECTORS - 1) * SECTORS) as f64).sqrt(),
        tip,
        radius,
    }
}

/// Slope downwards, and height at distance zero, of the line that fits points (distance, height); not numbers for too few points.
fn fitted(points: &[[f64; 2]]) -> [f64; 2] {
    if points.len() < MIN_POINTS {
        return [f64::NAN; 2];
    }
    let mean = |k: usize| points.iter().map(|point| point[k]).sum::<f64>() / points.len() as f64;
    let (distance, height) = (mean(0), mean(1));
    let (mut product, mut square) = (0.0, 0.0);
    for point in points {
        product += (point[0] - distance) * (point[1] - height);
        square += (point[0] - distance).powi(2);
    }
    let slope = -product / square;
    [slope, height + slope * distance]
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::PeriodicCell;
    use seixo_engine::world::{Domain, LeavingPolicy};

    const RADIUS: f64 = 0.0025;
    const HEIGHT: f64 = 0.1;

    /// A cone of close-packed spheres with this angle, and its tip above (0.3, −0.2) m. No sphere reaches through its surface, and none is on its axis.
    fn cone(degrees: f64) -> GrainSnapshot {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let wide = HEIGHT * cos / sin;
        let reach = (wide / RADIUS) as i32 + 2;
        let mut grains = GrainSnapshot::default();
        for layer in 0..=(HEIGHT / (1.633 * RADIUS)) as i32 {
            for (i, j) in (-reach..reach).flat_map(|j| (-reach..reach).map(move |i| (i, j))) {
                let x = RADIUS * (0.37 + f64::from(2 * i + (j + layer).rem_euclid(2)));
                let y = RADIUS * (0.21 + 3.0_f64.sqrt() * (f64::from(j) + f64::from(layer % 2) / 3.0));
                let z = RADIUS + 1.633 * RADIUS * f64::from(layer);
                if (HEIGHT - z) * cos - x.hypot(y) * sin >= RADIUS {
                    grains.id.push(grains.id.len() as u32);
                    grains.position.push([x + 0.3, y - 0.2, z]);
                }
            }
        }
        let count = grains.id.len();
        grains.radius = vec![RADIUS; count];
        grains.mass = vec![1.0; count];
        grains.group = vec![2; count];
        grains
    }

    #[test]
    fn a_synthetic_cone_has_its_angle_within_its_error() {
        for degrees in [20.0, 30.0, 38.0] {
            let found = repose(&cone(degrees), 2, None);
            let off = found.angle.to_degrees() - degrees;
            assert!(
                off.abs() < 0.2 && found.error.to_degrees() < 0.2,
                "{degrees}: {off} ± {}",
                found.error.to_degrees()
            );
            // The lattice ends in steps: the surface is a sphere below the cone at most, and the foot is that much narrower.
            assert!((found.tip - HEIGHT).abs() < 3.0 * RADIUS, "{} m", found.tip);
            let wide = HEIGHT / degrees.to_radians().tan();
            assert!((found.radius / wide - 1.0).abs() < 0.06, "{} m, {wide} m", found.radius);
        }
    }

    #[test]
    fn neither_a_periodic_side_nor_grains_of_others_matter() {
        let first = cone(30.0);
        let mut second = cone(30.0);
        let domain = Domain {
            periodic: [true, false, false],
            ..Domain::open([-0.2, -1.0, -1.0], [0.3, 1.0, 1.0], LeavingPolicy::Error)
        };
        second.cell = PeriodicCell::of(Some(&domain), 0.0);
        // The cone lies across the side at 0.3 m.
        second.position.iter_mut().for_each(|place| *place = second.cell.inside(*place));
        second.id.push(second.id.len() as u32);
        second.position.push([0.1, 0.0, 5.0]);
        second.radius.push(1.0);
        second.mass.push(100.0);
        second.group.push(0);
        let [first, second] = [first, second].map(|grains| repose(&grains, 2, None));
        assert!((first.angle - second.angle).abs() < 1e-3 && (first.radius - second.radius).abs() < 1e-9);
        let none = repose(&cone(30.0), 7, None);
        assert!(none.angle.is_nan() && none.error.is_nan());
    }
}
