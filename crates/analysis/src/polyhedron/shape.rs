//! From a polyhedron with rounded edges to the shape of grains.

use super::{Polyhedron, PolyhedronError, PolyhedronFace};
use crate::solid::Solid;
use glam::{DMat3, DQuat, DVec3};
use seixo_engine::world::{PartEnds, PolyhedralShape};

/// The shape of a polyhedron with rounded edges, and the pose and scale at which a grain of this shape is it.
#[derive(Clone, Debug, PartialEq)]
pub struct GrainShape {
    /// The shape.
    pub shape: PolyhedralShape,
    /// Radius of the bounding sphere about the center of mass, in lengths.
    pub radius: f64,
    /// Center of mass.
    pub center: DVec3,
    /// Rotation from the principal axes to the axes of the polyhedron.
    pub rotation: DMat3,
}

impl Polyhedron {
    /// The shape of all points that are at most `rounding` away from it, in lengths, of constant density.
    ///
    /// # Errors
    /// As [`Polyhedron::swept`] and [`grain_shape_of_parts`].
    pub fn grain_shape(&self, name: &str, rounding: f64) -> Result<GrainShape, PolyhedronError> {
        self.grain_shape_of(name, rounding, &self.swept(rounding)?)
    }

    /// As [`Polyhedron::grain_shape`], with the volume, center of mass and inertia of another solid, as of a hollow body.
    ///
    /// # Errors
    /// As [`grain_shape_of_parts`].
    pub fn grain_shape_of(&self, name: &str, rounding: f64, solid: &Solid) -> Result<GrainShape, PolyhedronError> {
        grain_shape_of_parts(name, rounding, std::slice::from_ref(self), solid)
    }
}

/// The shape of all points that are at most `rounding` away from one of these parts, in lengths, with the volume, center of mass and inertia of this solid.
/// Several parts must have faces.
///
/// # Errors
/// If the radius is not a number, or less than [`PolyhedralShape::LEAST_ROUNDING`] of that of the bounding sphere.
pub fn grain_shape_of_parts(name: &str, rounding: f64, parts: &[Polyhedron], solid: &Solid) -> Result<GrainShape, PolyhedronError> {
    let (moments, rotation) = solid.principal_axes();
    let to_axes = rotation.transpose();
    let vertices = parts.iter().flat_map(|part| &part.vertices);
    let places: Vec<DVec3> = vertices.map(|&vertex| to_axes * (vertex - solid.center)).collect();
    let farthest = places.iter().map(|place| place.length()).fold(0.0, f64::max);
    let radius = farthest + rounding;
    // The comparison fails for what is not a number, too.
    let is_round = rounding > 0.0 && rounding / radius >= PolyhedralShape::LEAST_ROUNDING;
    if !is_round {
        return Err(PolyhedronError::RoundingRadius {
            radius: rounding,
            least: PolyhedralShape::LEAST_ROUNDING * radius,
            most: farthest,
        });
    }
    let (mut edges, mut faces, mut ends) = (Vec::<[u32; 2]>::new(), Vec::<Vec<u32>>::new(), Vec::<PartEnds>::new());
    for part in parts {
        let first = ends.last().map_or(0, |end| end.vertices);
        edges.extend(part.edges.iter().map(|edge| edge.ends.map(|vertex| first + vertex)));
        let own = |face: &PolyhedronFace| face.vertices.iter().map(|&vertex| first + vertex).collect::<Vec<u32>>();
        faces.extend(part.faces.iter().map(own));
        ends.push(PartEnds {
            vertices: first + part.vertices.len() as u32,
            edges: edges.len() as u32,
            faces: faces.len() as u32,
        });
    }
    if parts.len() == 1 {
        ends.clear();
    }
    let axes = DQuat::from_mat3(&rotation).normalize();
    let shape = PolyhedralShape {
        name: name.to_owned(),
        rounding: rounding / radius,
        volume: solid.volume / radius.powi(3),
        moments: (moments / (solid.volume * radius * radius)).to_array(),
        vertices: places.iter().map(|&place| (place / radius).to_array()).collect(),
        edges,
        faces,
        parts: ends,
        drawn_axes: Some([axes.w, axes.x, axes.y, axes.z]),
    };
    Ok(GrainShape {
        shape,
        radius,
        center: solid.center,
        rotation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::EulerRot;
    use std::f64::consts::PI;

    /// Corners of a box of 4 x 2 x 1 about the origin, rotated and shifted.
    fn corners() -> Vec<DVec3> {
        let turn = DQuat::from_euler(EulerRot::XYZ, 0.4, -0.9, 0.3);
        let side = |k: u32, bit: u32| f64::from((k >> bit) & 1) - 0.5;
        let corner = |k: u32| DVec3::new(4.0 * side(k, 0), 2.0 * side(k, 1), side(k, 2));
        (0..8).map(|k| turn * corner(k) + DVec3::new(3.0, -2.0, 7.0)).collect()
    }

    #[test]
    fn a_grain_of_the_shape_is_the_polyhedron() {
        let block = Polyhedron::around(&corners()).unwrap();
        let found = block.grain_shape("block", 0.2).unwrap();
        let shape = &found.shape;
        assert_eq!(shape.flaw(), None);
        assert_eq!([shape.vertices.len(), shape.edges.len(), shape.faces.len()], [8, 12, 6]);
        assert!(found.center.distance(DVec3::new(3.0, -2.0, 7.0)) < 1e-12);
        // V + S r + π r² L + 4/3 π r³ with the mean edges 4, 2 and 1.
        let volume = 8.0 + 28.0 * 0.2 + PI * 0.04 * 7.0 + 4.0 / 3.0 * PI * 0.008;
        assert!((shape.mass(found.radius, 3.0) / (3.0 * volume) - 1.0).abs() < 1e-12);
        let [w, x, y, z] = shape.drawn_axes.unwrap();
        let drawn = DQuat::from_xyzw(x, y, z, w);
        for (place, vertex) in shape.vertices.iter().zip(block.vertices()) {
            let own = DVec3::from(*place) * found.radius;
            for there in [found.rotation * own, drawn * own].map(|arm| found.center + arm) {
                assert!(there.distance(*vertex) < 1e-12, "{there} {vertex}");
            }
        }
        // The largest moment is about the shortest edge.
        let [first, second, third] = shape.moments;
        assert!(first > second && second > third && third > 0.0, "{:?}", shape.moments);
    }

    #[test]
    fn points_and_segments_are_balls_and_capsules() {
        let ball = Polyhedron::point(DVec3::ONE).grain_shape("ball", 0.3).unwrap();
        let expected = PolyhedralShape::ball("ball");
        assert!((ball.radius - 0.3).abs() < 1e-12 && (ball.shape.rounding - 1.0).abs() < 1e-12);
        assert_eq!(ball.shape.flaw(), None);
        assert!((ball.shape.volume / expected.volume - 1.0).abs() < 1e-12);
        assert!(ball.shape.moments.iter().all(|moment| (moment - 0.4).abs() < 1e-12));
        let capsule = Polyhedron::segment([DVec3::ZERO, DVec3::X]).grain_shape("capsule", 0.25).unwrap();
        assert!((capsule.radius - 0.75).abs() < 1e-12);
        assert_eq!(capsule.shape.flaw(), None);
    }

    #[test]
    fn sharp_edges_are_refused() {
        let block = Polyhedron::around(&corners()).unwrap();
        for rounding in [0.0, 1e-9, f64::NAN] {
            let refused = block.grain_shape("block", rounding);
            assert!(matches!(refused, Err(PolyhedronError::RoundingRadius { .. })), "{rounding}");
        }
        // The farthest vertex is at √21/2. A ten-thousandth of it is enough.
        let found = block.grain_shape("block", 2.4e-4).unwrap();
        assert_eq!(found.shape.flaw(), None);
    }
}
