//! The common face of two polyhedral grains, across which a bond joins them.

use crate::world::{PolyhedralShape, Vec3, vector};
use seixo_laws::{Quaternion, Vector3};

/// Largest cosine of the angle between the outward normals of two faces that face each other.
const FACING: f64 = -0.9;
/// Smallest area of a common face, over the square of the smaller radius \[-\].
const LEAST_AREA: f64 = 1e-4;
/// Cosine of the angle between normals above which two faces of a grain are in one plane.
const IN_ONE_PLANE: f64 = 1.0 - 1e-9;

/// A polyhedral grain in place.
pub(super) struct PlacedShape<'a> {
    pub shape: &'a PolyhedralShape,
    /// Radius of its bounding sphere \[m\].
    pub scale: f64,
    /// Orientation, a unit quaternion.
    pub orientation: Quaternion<f64>,
}

/// The polygon in which two faces lie on each other, as if edges were sharp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CommonFace {
    /// Area \[m²\].
    pub area: f64,
    /// Centroid, from the center of the first grain \[m\].
    pub center: Vector3<f64>,
    /// Unit normal, from the first to the second grain.
    pub normal: Vector3<f64>,
}

/// A plane: outward unit normal, and distance from the center of the first grain along it \[m\].
struct Plane {
    normal: Vector3<f64>,
    offset: f64,
}

impl PlacedShape<'_> {
    /// Rounding radius \[m\].
    fn rounding(&self) -> f64 {
        self.shape.rounding * self.scale
    }

    /// Planes of the faces of each convex part, with the center of the grain at this place.
    fn planes_of_parts(&self, at: &Vector3<f64>) -> Vec<Vec<Plane>> {
        let plane = |(normal, offset): (Vec3, f64)| {
            let normal = self.orientation.to_space(&vector(normal));
            let offset = offset * self.scale + normal.dot(at);
            Plane { normal, offset }
        };
        let parts = self.shape.outer_planes().into_iter();
        parts.map(|part| part.into_iter().map(plane).collect()).collect()
    }
}

/// The largest common face of two grains, whose centers are `apart`; `None` if they have none, or if a center is not behind it. Faces are nowhere farther
/// apart, or deeper in each other, than `tolerance` times the sum of the rounding radii.
pub(super) fn common_face([i, j]: [&PlacedShape; 2], apart: &Vector3<f64>, tolerance: f64) -> Option<CommonFace> {
    let reach = tolerance * (i.rounding() + j.rounding());
    let size = i.scale + j.scale + apart.length();
    let least = LEAST_AREA * i.scale.min(j.scale).powi(2);
    let (first, second) = (i.planes_of_parts(&Vector3::zero()), j.planes_of_parts(apart));
    let mut best: Option<CommonFace> = None;
    for (part, other_part) in first.iter().flat_map(|part| second.iter().map(move |other| (part, other))) {
        for (face, other) in part.iter().flat_map(|face| other_part.iter().map(move |other| (face, other))) {
            if face.normal.dot(&other.normal) > FACING {
                continue;
            }
            let sides = beside(part, face).chain(beside(other_part, other));
            let Some(found) = polygon_between([face, other], sides, size, reach) else {
                continue;
            };
            let are_behind = found.normal.dot(&found.center) > 0.0 && found.normal.dot(&apart.minus(&found.center)) > 0.0;
            if are_behind && found.area > best.map_or(least, |best| best.area) {
                best = Some(found);
            }
        }
    }
    best
}

/// The planes of a part without that of a face.
fn beside<'a>(part: &'a [Plane], face: &'a Plane) -> impl Iterator<Item = &'a Plane> {
    part.iter().filter(move |side| side.normal.dot(&face.normal) < IN_ONE_PLANE)
}

/// The polygon in the middle plane of two faces that is inside of all these sides, if both faces are near at all of its corners.
fn polygon_between<'a>([face, other]: [&Plane; 2], sides: impl Iterator<Item = &'a Plane>, size: f64, reach: f64) -> Option<CommonFace> {
    let across = face.normal.minus(&other.normal);
    let normal = across.times(1.0 / across.length());
    let height = (face.offset - other.offset) / across.length();
    let [u, v] = axes_across(&normal).map(|axis| axis.times(size));
    let center = normal.times(height);
    let mut polygon = vec![
        center.minus(&u).minus(&v),
        center.plus(&u).minus(&v),
        center.plus(&u).plus(&v),
        center.minus(&u).plus(&v),
    ];
    for side in sides {
        polygon = behind(&polygon, side);
    }
    // In the middle plane, the distances from both faces are equal.
    let is_near = |corner: &Vector3<f64>| 2.0 * (face.normal.dot(corner) - face.offset).abs() <= reach;
    if polygon.len() < 3 || !polygon.iter().all(is_near) {
        return None;
    }
    Some(measured(&polygon, normal))
}

/// Two unit vectors across a unit vector; the three of them are right-handed, with this one as the last.
fn axes_across(normal: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let sizes = [normal.x, normal.y, normal.z].map(f64::abs);
    let axis = if sizes[0] <= sizes[1] && sizes[0] <= sizes[2] {
        [1.0, 0.0, 0.0]
    } else if sizes[1] <= sizes[2] {
        [0.0, 1.0, 0.0]
    } else {
        [0.0, 0.0, 1.0]
    };
    let aside = normal.cross(&vector(axis));
    let u = aside.times(1.0 / aside.length());
    [u, normal.cross(&u)]
}

/// The part of a convex polygon behind a plane.
fn behind(polygon: &[Vector3<f64>], plane: &Plane) -> Vec<Vector3<f64>> {
    let height = |corner: &Vector3<f64>| plane.normal.dot(corner) - plane.offset;
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, corner) in polygon.iter().enumerate() {
        let next = &polygon[(k + 1) % polygon.len()];
        let [here, there] = [height(corner), height(next)];
        if here <= 0.0 {
            kept.push(*corner);
        }
        if (here <= 0.0) != (there <= 0.0) {
            kept.push(corner.plus(&next.minus(corner).times(here / (here - there))));
        }
    }
    kept
}

/// Area and centroid of a convex polygon that is counterclockwise about this unit normal.
fn measured(polygon: &[Vector3<f64>], normal: Vector3<f64>) -> CommonFace {
    let start = polygon[0];
    let (mut area, mut moment) = (0.0, Vector3::zero());
    for pair in polygon[1..].windows(2) {
        let [a, b] = [pair[0].minus(&start), pair[1].minus(&start)];
        let part = 0.5 * a.cross(&b).dot(&normal);
        area += part;
        moment = moment.plus(&a.plus(&b).times(part / 3.0));
    }
    // A polygon without area is refused by its area.
    let from_start = if area > 0.0 { moment.times(1.0 / area) } else { Vector3::zero() };
    CommonFace {
        area,
        center: start.plus(&from_start),
        normal,
    }
}
