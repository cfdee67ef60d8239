//! Polyhedra that planes cut out of space, and polyhedra whose faces were moved inward.
//!
//! The planes n·x = d about the origin, d > 0, are the points n/d of the dual space. The faces of the smallest polyhedron around these points are the
//! vertices of what the planes enclose: the face m·y = q is the vertex m/q.

use super::{Polyhedron, PolyhedronError, PolyhedronFace, RESOLUTION, size_of};
use glam::DVec3;

/// Largest share of the depth by which faces may move inward: what is left keeps its digits.
const DEEPEST: f64 = 0.95;

/// Corners of what planes enclose, given by their outward unit normals and their distances from the origin, in lengths. Planes without a face may be
/// among them.
///
/// # Errors
/// If the planes do not enclose the origin, or as [`Polyhedron::around`].
pub(super) fn corners_inside(planes: &[(DVec3, f64)]) -> Result<Vec<DVec3>, PolyhedronError> {
    if planes.iter().any(|(_, distance)| *distance <= 0.0) {
        return Err(PolyhedronError::Unbounded);
    }
    let duals: Vec<DVec3> = planes.iter().map(|(normal, distance)| *normal / *distance).collect();
    let dual = Polyhedron::around(&duals).map_err(|error| match error {
        PolyhedronError::TooFewPoints { .. } | PolyhedronError::Flat { .. } => PolyhedronError::Unbounded,
        other => other,
    })?;
    // Where the origin is not inside of the dual polyhedron, the planes leave a direction open.
    let least = RESOLUTION * size_of(duals.iter().copied());
    if dual.faces.iter().any(|face| face.offset <= least) {
        return Err(PolyhedronError::Unbounded);
    }
    Ok(dual.faces.iter().map(|face| face.normal / face.offset).collect())
}

impl Polyhedron {
    /// The polyhedron whose faces are further inside by a distance, in lengths. Small faces may vanish. Swept by a sphere of this radius, it is in the
    /// original one and touches all faces that are left.
    ///
    /// # Errors
    /// If the distance is negative, not a number, or above 95 % of the smallest distance of a face from the center of mass.
    pub fn shrunk(&self, distance: f64) -> Result<Polyhedron, PolyhedronError> {
        if distance == 0.0 {
            return Ok(self.clone());
        }
        let middle = self.swept(0.0)?.center;
        let depth = |face: &PolyhedronFace| face.offset - face.normal.dot(middle);
        let most = DEEPEST * self.faces.iter().map(depth).fold(f64::INFINITY, f64::min);
        if !(0.0..=most).contains(&distance) {
            return Err(PolyhedronError::RoundingRadius {
                radius: distance,
                least: 0.0,
                most,
            });
        }
        let planes: Vec<(DVec3, f64)> = self.faces.iter().map(|face| (face.normal, depth(face) - distance)).collect();
        let corners: Vec<DVec3> = corners_inside(&planes)?.into_iter().map(|corner| corner + middle).collect();
        Polyhedron::around(&corners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(polyhedron: &Polyhedron) -> DVec3 {
        let [low, high] = [DVec3::min, DVec3::max].map(|pick| polyhedron.vertices().iter().copied().reduce(pick).unwrap());
        high - low
    }

    #[test]
    fn a_box_loses_the_distance_on_each_side() {
        let shift = DVec3::new(3.0, -2.0, 7.0);
        let block = Polyhedron::block([4.0, 2.0, 1.0]).unwrap();
        let moved: Vec<DVec3> = block.vertices().iter().map(|vertex| *vertex + shift).collect();
        let inner = Polyhedron::around(&moved).unwrap().shrunk(0.2).unwrap();
        assert_eq!([inner.vertices().len(), inner.edges().len(), inner.faces().len()], [8, 12, 6]);
        assert!(widths(&inner).distance(DVec3::new(3.6, 1.6, 0.6)) < 1e-9);
        assert!(inner.swept(0.0).unwrap().center.distance(shift) < 1e-9);
        // Rounded again, it is as large as before.
        let volume = inner.swept(0.2).unwrap().volume;
        assert!(volume < 8.0 && volume > 0.9 * 8.0, "{volume}");
    }

    #[test]
    fn small_faces_vanish() {
        // A cube whose corners are cut off a little.
        let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from((k >> 1) & 1), f64::from(k >> 2)) * 2.0 - 1.0;
        let cut = (0..8).flat_map(|k| DVec3::AXES.map(|axis| corner(k) - axis * corner(k) * 0.1));
        let cut = Polyhedron::around(&cut.collect::<Vec<_>>()).unwrap();
        assert_eq!(cut.faces().len(), 14);
        // After that, a cut would be 2.9/√3 − 0.5 from the center, and the corners of the cube are √3/2.
        assert_eq!(cut.shrunk(0.5).unwrap().faces().len(), 6);
    }

    #[test]
    fn a_radius_that_is_larger_than_the_part_is_refused_with_the_limit() {
        let block = Polyhedron::block([4.0, 2.0, 1.0]).unwrap();
        let refused = block.shrunk(0.6).unwrap_err();
        let PolyhedronError::RoundingRadius { radius, most, .. } = refused else {
            panic!("{refused}")
        };
        assert!(radius == 0.6 && (most - 0.475).abs() < 1e-12, "{most}");
        assert!(block.shrunk(f64::NAN).is_err() && block.shrunk(-0.1).is_err());
        assert_eq!(block.shrunk(0.0).unwrap(), block);
    }

    #[test]
    fn planes_that_leave_a_direction_open_enclose_nothing() {
        let sides = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z].map(|normal| (normal, 1.0));
        assert_eq!(corners_inside(&sides), Err(PolyhedronError::Unbounded));
        assert_eq!(corners_inside(&sides[..3]), Err(PolyhedronError::Unbounded));
        let closed = [&sides[..], &[(DVec3::NEG_Z, 2.0)]].concat();
        assert_eq!(corners_inside(&closed).unwrap().len(), 8);
    }
}
