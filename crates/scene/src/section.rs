//! The section of a mesh with the plane of a flow.

use glam::{DVec2, DVec3};
use seixo_analysis::{Plate, plate_of_outline};
use seixo_engine::world::Triangle;

/// A piece of the outline of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub ends: [DVec3; 2],
    /// Unit vector in the plane, outward.
    pub outward: DVec3,
}

impl Edge {
    /// The section of a triangle with the plane through the origin normal to an axis.
    pub fn of(corners: &[DVec3; 3], axis: usize) -> Option<Edge> {
        let [a, b, c] = *corners;
        let mut normal = (b - a).cross(c - a);
        normal[axis] = 0.0;
        let mut ends = Vec::with_capacity(2);
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            // A corner in the plane counts as above it, so that only one of its triangles yields an edge in the plane.
            if (a[axis] >= 0.0) != (b[axis] >= 0.0) {
                let mut end = a + (b - a) * (a[axis] / (a[axis] - b[axis]));
                end[axis] = 0.0;
                ends.push(end);
            }
        }
        let [from, to] = ends[..] else { return None };
        let outward = normal.try_normalize()?;
        (from != to).then_some(Edge { ends: [from, to], outward })
    }

    /// Its nearest point to a position.
    fn nearest(&self, at: DVec3) -> DVec3 {
        let [from, to] = self.ends;
        let along = to - from;
        from + along * ((at - from).dot(along) / along.length_squared()).clamp(0.0, 1.0)
    }
}

/// The section of a mesh whose triangles face outward.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    edges: Vec<Edge>,
    /// The axis normal to the plane.
    axis: usize,
}

impl Section {
    /// The section of these triangles with the plane through the origin normal to an axis.
    pub fn of(triangles: &[Triangle], axis: usize) -> Section {
        let edge = |triangle: &Triangle| Edge::of(&triangle.map(DVec3::from), axis);
        Section {
            edges: triangles.iter().filter_map(edge).collect(),
            axis,
        }
    }

    /// The axes in the plane.
    fn along(&self) -> [usize; 2] {
        [(self.axis + 1) % 3, (self.axis + 2) % 3]
    }

    /// Its area, center and moment of inertia, if it has an area; overlaps count twice.
    pub fn plate(&self) -> Option<Plate> {
        let [u, v] = self.along();
        let flat = |at: DVec3| DVec2::new(at[u], at[v]);
        let edges: Vec<([DVec2; 2], DVec2)> = self.edges.iter().map(|edge| (edge.ends.map(flat), flat(edge.outward))).collect();
        Some(plate_of_outline(&edges)).filter(|plate| plate.area > 0.0)
    }

    /// Whether a position in the plane is inside.
    pub fn is_inside(&self, at: DVec3) -> bool {
        let [u, v] = self.along();
        let mut turns = 0;
        for Edge { ends: [from, to], outward } in &self.edges {
            let crosses = (from[v] > at[v]) != (to[v] > at[v]);
            if crosses && from[u] + (to[u] - from[u]) * ((at[v] - from[v]) / (to[v] - from[v])) > at[u] {
                turns += if outward[u] > 0.0 { 1 } else { -1 };
            }
        }
        turns > 0
    }

    /// Visits the pieces of its outline within a distance of a position in the plane: distance, and direction from the piece to the position.
    pub fn visit_near(&self, at: DVec3, reach: f64, mut visit: impl FnMut(f64, DVec3)) {
        for edge in &self.edges {
            let away = at - edge.nearest(at);
            let distance = away.length();
            if distance < reach {
                visit(distance, away.try_normalize().unwrap_or(edge.outward));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prism along y over a polygon, counterclockwise as seen from its front, y below zero: x to the right, z up.
    fn prism(polygon: &[[f64; 2]], half: f64) -> Vec<Triangle> {
        let mut triangles = Vec::new();
        for (k, &[x, z]) in polygon.iter().enumerate() {
            let [next_x, next_z] = polygon[(k + 1) % polygon.len()];
            let [a, b, c, d] = [[x, -half, z], [next_x, -half, next_z], [next_x, half, next_z], [x, half, z]];
            triangles.extend([[a, c, b], [a, d, c]]);
        }
        triangles
    }

    #[test]
    fn an_angle_that_is_turned_has_its_area_center_and_moment() {
        // Two rectangles, 4 by 1 and 1 by 2, whose areas, centers and moments are known.
        let corners = [[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
        let (sin, cos) = 0.5_f64.sin_cos();
        let turned = corners.map(|[x, z]| [cos * x - sin * z + 7.0, sin * x + cos * z - 2.0]);
        let section = Section::of(&prism(&turned, 0.3), 1);
        let plate = section.plate().unwrap();
        assert!((plate.area - 6.0).abs() < 1e-12);
        let center = DVec2::new((4.0 * 2.0 + 2.0 * 0.5) / 6.0, (4.0 * 0.5 + 2.0 * 2.0) / 6.0);
        // In the plane across y the first axis is z.
        let expected = DVec2::new(sin * center.x + cos * center.y - 2.0, cos * center.x - sin * center.y + 7.0);
        assert!(plate.center.distance(expected) < 1e-12, "{} for {expected}", plate.center);
        let about_center = |area: f64, [a, b]: [f64; 2], at: DVec2| area * ((a * a + b * b) / 12.0 + at.distance_squared(center));
        let moment = about_center(4.0, [4.0, 1.0], DVec2::new(2.0, 0.5)) + about_center(2.0, [1.0, 2.0], DVec2::new(0.5, 2.0));
        assert!((plate.moment - moment).abs() < 1e-11, "{} for {moment}", plate.moment);
        // A position in the notch is outside, one in each leg inside.
        let place = |x: f64, z: f64| DVec3::new(cos * x - sin * z + 7.0, 0.0, sin * x + cos * z - 2.0);
        assert!(section.is_inside(place(3.0, 0.5)) && section.is_inside(place(0.5, 2.5)) && !section.is_inside(place(2.0, 2.0)));
        let mut nearest = (f64::INFINITY, DVec3::ZERO);
        section.visit_near(place(2.0, 1.5), 10.0, |distance, away| {
            if distance < nearest.0 {
                nearest = (distance, away);
            }
        });
        assert!(
            (nearest.0 - 0.5).abs() < 1e-12 && nearest.1.distance(DVec3::new(-sin, 0.0, cos)) < 1e-12,
            "{nearest:?}"
        );
    }
}
