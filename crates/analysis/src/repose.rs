//! Angle of repose: the cone that fits the surface of a heap, and the plane that fits that of a bed in a drum.

use crate::region::Region;
use glam::{DQuat, DVec3};
use seixo_engine::state::GrainSnapshot;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Width of the cells in which the highest grain is part of the surface, in mean diameters.
const CELL: f64 = 2.0;
/// Distances from the axis between which the surface of a heap is fitted, as shares of the base radius: without the rounded tip and the scattered foot.
const FITTED: [f64; 2] = [0.2, 0.8];
/// Share of the width of the surface in a drum that is fitted, in its middle: without the grains that the wall lifts, and those that it stops.
const MIDDLE: f64 = 1.0 / 3.0;
/// Number of sectors whose slopes give the error of a heap.
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

/// A plane that fits the middle of the free surface in a rotating drum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrumAngle {
    /// Angle to the horizontal in the cross-section \[rad\]: positive for the side to which a drum tilts its bed that rotates about its axis by the
    /// right-hand rule.
    pub angle: f64,
    /// Standard error of the angle, from the residual of the fit \[rad\].
    pub error: f64,
    /// Height z of the plane in the middle of the surface \[m\].
    pub height: f64,
    /// Horizontal width of the whole surface in the cross-section \[m\].
    pub width: f64,
}

/// The free surface of grains, seen along gravity.
struct Surface {
    /// Top x y z of the highest grain of each cell \[m\]; x and y are from the center of mass.
    tops: Vec<[f64; 3]>,
    /// Mean distance of the grains from a vertical axis through the center of mass \[m\].
    spread: f64,
}

/// The line or plane z = h − s u + c v that fits points by least squares; c is zero if all v are.
struct Fit {
    /// Slope s downwards along u.
    slope: f64,
    /// Height h at u = v = 0 \[m\].
    height: f64,
    /// Standard error of the slope, from the residual.
    error: f64,
}

/// The cone of a group of grains, or of those of them whose centers are in a region; gravity acts along −z. Its axis goes through the center of mass.
///
/// The highest grain of each square cell of the map, two mean diameters wide, is part of the surface. A line z = t − s r is fitted by least squares to
/// the tops of these grains at their own distances r from the axis, between 0.2 and 0.8 of the base radius. That is twice the mean distance of all
/// grains, as of a cone. The error is the standard error of the mean over eight sectors, each fitted alone. Not a number for too few grains.
pub fn repose(grains: &GrainSnapshot, group: u32, region: Option<&Region>) -> Repose {
    let Surface { tops, spread } = surface(grains, group, region);
    let radius = 2.0 * spread;
    let (mut all, mut sectors) = (Vec::new(), [const { Vec::new() }; SECTORS]);
    for [x, y, top] in tops {
        let point = [x.hypot(y), 0.0, top];
        if (FITTED[0] * radius..=FITTED[1] * radius).contains(&point[0]) {
            all.push(point);
            sectors[((y.atan2(x) / TAU + 0.5) * SECTORS as f64) as usize % SECTORS].push(point);
        }
    }
    let Fit { slope, height: tip, .. } = fitted(&all);
    let angles = sectors.map(|points| fitted(&points).slope.atan());
    let mean = angles.iter().sum::<f64>() / SECTORS as f64;
    let square = angles.iter().map(|angle| (angle - mean).powi(2)).sum::<f64>();
    Repose {
        angle: slope.atan(),
        error: (square / ((SECTORS - 1) * SECTORS) as f64).sqrt(),
        tip,
        radius,
    }
}

/// The dynamic angle of repose of a group of grains in a drum, or of those of them whose centers are in a region; gravity acts along −z. The drum
/// rotates about this direction, whose horizontal part counts.
///
/// The surface is that of [`repose()`]. Of its width u, normal to the axis, the middle third counts. The plane z = h − s u + c v is fitted to it by least
/// squares, with v along the axis, and the angle is the arctangent of s. So an axis that is not horizontal does not matter. Not a number for too few
/// grains.
pub fn drum_angle(grains: &GrainSnapshot, group: u32, region: Option<&Region>, [x, y, _]: [f64; 3]) -> DrumAngle {
    let length = x.hypot(y);
    // Downhill is to the right of the axis: the wall lifts the bed on the other side.
    let in_drum = |[a, b, top]: [f64; 3]| [(a * y - b * x) / length, (a * x + b * y) / length, top];
    let tops: Vec<[f64; 3]> = surface(grains, group, region).tops.into_iter().map(in_drum).collect();
    let low = tops.iter().fold(f64::INFINITY, |low, point| low.min(point[0]));
    let high = tops.iter().fold(f64::NEG_INFINITY, |high, point| high.max(point[0]));
    let (middle, width) = (0.5 * (low + high), high - low);
    let points = tops.into_iter().map(|[u, v, top]| [u - middle, v, top]);
    let points: Vec<[f64; 3]> = points.filter(|point| point[0].abs() <= 0.5 * MIDDLE * width).collect();
    let Fit { slope, height, error } = fitted(&points);
    DrumAngle {
        angle: slope.atan(),
        error: error / (1.0 + slope * slope),
        height,
        width: if points.is_empty() { f64::NAN } else { width },
    }
}

/// The free surface of a group of grains, or of those of them whose centers are in a region: the highest grain of each square cell of the map, two mean
/// diameters wide. Empty without grains.
fn surface(grains: &GrainSnapshot, group: u32, region: Option<&Region>) -> Surface {
    let is_meant = |&k: &usize| grains.group[k] == group && region.is_none_or(|region| region.contains(grains.position[k].into()));
    let heap: Vec<usize> = (0..grains.id.len()).filter(is_meant).collect();
    let Some(&first) = heap.first() else {
        return Surface {
            tops: Vec::new(),
            spread: f64::NAN,
        };
    };
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
    let width = CELL * 2.0 * heap.iter().map(|&k| grains.radius[k]).sum::<f64>() / count;
    let mut tops: BTreeMap<[i64; 2], [f64; 3]> = BTreeMap::new();
    for (&k, [x, y, z]) in heap.iter().zip(&places) {
        let top = [*x, *y, z + axis[2] + height_of_top(grains, k)];
        let highest = tops.entry([x, y].map(|along| (along / width).floor() as i64)).or_insert(top);
        if top[2] > highest[2] {
            *highest = top;
        }
    }
    Surface {
        tops: tops.into_values().collect(),
        spread: places.iter().map(|[x, y, _]| x.hypot(*y)).sum::<f64>() / count,
    }
}

/// Height of the top of the grain at this place of the snapshot above its center \[m\]: of a polyhedral grain that of its highest vertex and the rounding
/// there, else the radius. It is the radius, too, if the snapshot has no orientations.
fn height_of_top(grains: &GrainSnapshot, k: usize) -> f64 {
    let scale = grains.radius[k];
    grains
        .shape_of(k)
        .zip(grains.orientation.get(k))
        .map_or(scale, |(shape, &[w, x, y, z])| {
            let up = DQuat::from_xyzw(x, y, z, w).conjugate() * DVec3::Z;
            let heights = shape.vertices.iter().map(|&vertex| up.dot(vertex.into()));
            scale * (heights.fold(f64::NEG_INFINITY, f64::max) + shape.rounding)
        })
}

/// Fits points u v z by least squares; not numbers for too few points.
fn fitted(points: &[[f64; 3]]) -> Fit {
    if points.len() < MIN_POINTS {
        return Fit {
            slope: f64::NAN,
            height: f64::NAN,
            error: f64::NAN,
        };
    }
    let means = [0, 1, 2].map(|k| points.iter().map(|point| point[k]).sum::<f64>() / points.len() as f64);
    let moment = |a: usize, b: usize| {
        let product = |point: &[f64; 3]| (point[a] - means[a]) * (point[b] - means[b]);
        points.iter().map(product).sum::<f64>()
    };
    let (along, across, mixed, rise) = (moment(0, 0), moment(1, 1), moment(0, 1), moment(1, 2));
    // Of u and z, what v explains is taken away; the slope is that of the rest.
    let share = if across > 0.0 { mixed / across } else { 0.0 };
    let square = along - share * mixed;
    let slope = -(moment(0, 2) - share * rise) / square;
    let lean = if across > 0.0 { (rise + slope * mixed) / across } else { 0.0 };
    let residual = |[u, v, z]: &[f64; 3]| z - means[2] + slope * (u - means[0]) - lean * (v - means[1]);
    let squares: f64 = points.iter().map(|point| residual(point).powi(2)).sum();
    let parameters = if across > 0.0 { 3.0 } else { 2.0 };
    Fit {
        slope,
        height: means[2] + slope * means[0] - lean * means[1],
        error: (squares / (points.len() as f64 - parameters) / square).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polyhedron;
    use seixo_engine::PeriodicCell;
    use seixo_engine::world::{Domain, LeavingPolicy};

    const RADIUS: f64 = 0.0025;
    const HEIGHT: f64 = 0.1;

    /// Group 2 of equal spheres at these places.
    fn of_equal_spheres(position: Vec<[f64; 3]>) -> GrainSnapshot {
        let count = position.len();
        GrainSnapshot {
            id: (0..count as u32).collect(),
            position,
            radius: vec![RADIUS; count],
            mass: vec![1.0; count],
            group: vec![2; count],
            ..GrainSnapshot::default()
        }
    }

    /// A cone of close-packed spheres with this angle, and its tip above (0.3, −0.2) m. No sphere reaches through its surface, and none is on its axis.
    fn cone(degrees: f64) -> GrainSnapshot {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let wide = HEIGHT * cos / sin;
        let reach = (wide / RADIUS) as i32 + 2;
        let mut position = Vec::new();
        for layer in 0..=(HEIGHT / (1.633 * RADIUS)) as i32 {
            for (i, j) in (-reach..reach).flat_map(|j| (-reach..reach).map(move |i| (i, j))) {
                let x = RADIUS * (0.37 + f64::from(2 * i + (j + layer).rem_euclid(2)));
                let y = RADIUS * (0.21 + 3.0_f64.sqrt() * (f64::from(j) + f64::from(layer % 2) / 3.0));
                let z = RADIUS + 1.633 * RADIUS * f64::from(layer);
                if (HEIGHT - z) * cos - x.hypot(y) * sin >= RADIUS {
                    position.push([x + 0.3, y - 0.2, z]);
                }
            }
        }
        of_equal_spheres(position)
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

    #[test]
    fn the_top_of_a_polyhedral_grain_is_that_of_its_pose() {
        let (edge, rounding) = (8e-3, 1e-3);
        let cube = Polyhedron::block([edge; 3]).unwrap().grain_shape("cube", rounding).unwrap();
        let flat = DQuat::from_mat3(&cube.rotation);
        let on_a_corner = DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::Z) * flat;
        let grains = GrainSnapshot {
            shape: vec![1; 2],
            shapes: [cube.shape].into(),
            orientation: [flat, on_a_corner].map(|turn| [turn.w, turn.x, turn.y, turn.z]).to_vec(),
            radius: vec![cube.radius; 2],
            ..of_equal_spheres(vec![[0.0, 0.0, 0.5], [0.1, 0.0, 0.5]])
        };
        let tops = surface(&grains, 2, None).tops;
        let expected = [0.5 * edge, 0.5 * 3.0_f64.sqrt() * edge].map(|half| 0.5 + half + rounding);
        assert_eq!(tops.len(), 2);
        for ([.., found], expected) in tops.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        // Without orientations, only the bounding spheres are known.
        let unturned = GrainSnapshot {
            orientation: Vec::new(),
            ..grains
        };
        let tops = surface(&unturned, 2, None).tops;
        assert!(tops.len() == 2 && tops.iter().all(|[.., top]| (top - 0.5 - cube.radius).abs() < 1e-12));
    }

    /// The upper four layers of a bed in a drum about y with this radius \[m\], below a plane with this angle that passes below the axis and rises to
    /// −x. Each sphere is up to a quarter of its radius above or below its layer, in an order without a pattern. None reaches through the wall.
    fn bed(degrees: f64, radius: f64) -> GrainSnapshot {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let reach = (radius / RADIUS) as i32 + 2;
        let (mut position, mut dice) = (Vec::new(), 1_u32);
        for layer in 0..4 {
            for (i, j) in (-reach..reach).flat_map(|j| (-reach..reach).map(move |i| (i, j))) {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let uneven = 0.5 * (f64::from(dice) / 2.0_f64.powi(32) - 0.5);
                let along = RADIUS * f64::from(2 * i + (j + layer).rem_euclid(2));
                let y = RADIUS * 3.0_f64.sqrt() * (f64::from(j) + f64::from(layer % 2) / 3.0);
                let above = RADIUS * (uneven - 1.0 - 1.633 * f64::from(layer)) - 0.1 * radius;
                let (x, z) = (along * cos + above * sin, above * cos - along * sin);
                if x.hypot(z) <= radius - RADIUS && y.abs() < 0.5 * radius {
                    position.push([x + 0.3, y - 0.2, z + 1.0]);
                }
            }
        }
        of_equal_spheres(position)
    }

    #[test]
    fn a_synthetic_bed_in_a_drum_has_its_angle_within_a_fifth_of_a_degree() {
        const DRUM: f64 = 0.15;
        for degrees in [-32.0, 0.0, 18.0, 25.0, 38.0] {
            let found = drum_angle(&bed(degrees, DRUM), 2, None, [0.0, 3.0, 0.0]);
            let (off, error) = (found.angle.to_degrees() - degrees, found.error.to_degrees());
            assert!(
                off.abs() < 0.2 && error < 0.2 && off.abs() < 4.0 * error,
                "{degrees}: {off} ± {error}"
            );
            // The chord of the drum at a tenth of its radius below the axis, less grains at both ends.
            let wide = 2.0 * DRUM * 0.99_f64.sqrt() * degrees.to_radians().cos();
            assert!((found.width / wide - 1.0).abs() < 0.1, "{} m, {wide} m", found.width);
            // The same from the other side, and with the axis turned on the map.
            let back = drum_angle(&bed(degrees, DRUM), 2, None, [0.0, -1.0, 0.2]);
            assert!((back.angle + found.angle).abs() < 1e-12);
        }
        let none = drum_angle(&bed(20.0, DRUM), 7, None, [0.0, 1.0, 0.0]);
        assert!(none.angle.is_nan() && none.error.is_nan() && none.width.is_nan());
    }
}
