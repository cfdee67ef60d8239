//! Parts of space, and what of points, lines and balls is inside.

use crate::ball;
use glam::DVec3;
use seixo_engine::state::GrainSnapshot;
use std::f64::consts::PI;

/// A part of space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// An upright box.
    Box {
        /// Lower corner \[m\].
        min: DVec3,
        /// Upper corner \[m\].
        max: DVec3,
    },
    /// The inside of a cylinder.
    Cylinder {
        /// Center of one end \[m\].
        from: DVec3,
        /// Center of the other end \[m\].
        to: DVec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// The inside of a sphere.
    Sphere {
        /// Center \[m\].
        center: DVec3,
        /// Radius \[m\].
        radius: f64,
    },
}

/// The parameters t between which a point on a line is inside; the first is above the second where the line passes by.
type Span = [f64; 2];

const NOWHERE: Span = [f64::INFINITY, f64::NEG_INFINITY];
const EVERYWHERE: Span = [f64::NEG_INFINITY, f64::INFINITY];

/// Where low ≤ start + t rate ≤ high.
fn between(start: f64, rate: f64, low: f64, high: f64) -> Span {
    if rate == 0.0 {
        return if (low..=high).contains(&start) { EVERYWHERE } else { NOWHERE };
    }
    let ends = [(low - start) / rate, (high - start) / rate];
    [ends[0].min(ends[1]), ends[0].max(ends[1])]
}

/// Where |start + t rate| ≤ radius.
fn within(start: DVec3, rate: DVec3, radius: f64) -> Span {
    let (a, b, c) = (rate.length_squared(), start.dot(rate), start.length_squared() - radius * radius);
    if a == 0.0 {
        return if c <= 0.0 { EVERYWHERE } else { NOWHERE };
    }
    let square = b * b - a * c;
    if square < 0.0 {
        return NOWHERE;
    }
    [(-b - square.sqrt()) / a, (-b + square.sqrt()) / a]
}

impl Region {
    /// Volume \[m³\].
    pub fn volume(&self) -> f64 {
        match *self {
            Region::Box { min, max } => (max - min).element_product(),
            Region::Cylinder { from, to, radius } => PI * radius * radius * (to - from).length(),
            Region::Sphere { radius, .. } => ball::volume(radius),
        }
    }

    /// Whether a point is inside.
    pub fn contains(&self, point: DVec3) -> bool {
        self.share_of_line(point, point) > 0.0
    }

    /// The share of a straight line between two points that is inside; of a line without length all or nothing.
    pub fn share_of_line(&self, start: DVec3, end: DVec3) -> f64 {
        let rate = end - start;
        let spans = match *self {
            Region::Box { min, max } => [0, 1, 2].map(|axis| between(start[axis], rate[axis], min[axis], max[axis])),
            Region::Cylinder { from, to, radius } => {
                let length = (to - from).length();
                let axis = (to - from) / length;
                let [aside, turning] = [start - from, rate].map(|v| v - axis * axis.dot(v));
                let along = between(axis.dot(start - from), axis.dot(rate), 0.0, length);
                [along, within(aside, turning, radius), EVERYWHERE]
            }
            Region::Sphere { center, radius } => [within(start - center, rate, radius), EVERYWHERE, EVERYWHERE],
        };
        let first = spans.iter().fold(0.0, |first: f64, span| first.max(span[0]));
        let last = spans.iter().fold(1.0, |last: f64, span| last.min(span[1]));
        (last - first).max(0.0)
    }

    /// Volume of a ball that is inside \[m³\]: exact for a box and a sphere; see [`ball::in_cylinder`] for a cylinder.
    pub(crate) fn volume_of_ball(&self, center: DVec3, radius: f64) -> f64 {
        match *self {
            Region::Box { min, max } => ball::in_box(center, radius, min, max),
            Region::Sphere {
                center: middle,
                radius: other,
            } => ball::in_ball((center - middle).length(), radius, other),
            Region::Cylinder {
                from,
                to,
                radius: cylinder,
            } => {
                let length = (to - from).length();
                let axis = (to - from) / length;
                let height = axis.dot(center - from);
                let aside = (center - from - axis * height).length();
                ball::in_cylinder(aside, -height, length - height, radius, cylinder)
            }
        }
    }
}

/// Volume of the grains inside a region over its volume \[-\]; where grains overlap, both count.
pub fn solid_fraction(region: &Region, grains: &GrainSnapshot) -> f64 {
    let balls = grains.position.iter().zip(&grains.radius);
    balls
        .map(|(&center, &radius)| region.volume_of_ball(center.into(), radius))
        .sum::<f64>()
        / region.volume()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_cross_the_surface() {
        let cases = [
            (
                Region::Box {
                    min: DVec3::ZERO,
                    max: DVec3::ONE,
                },
                [-1.0, 0.5, 0.5],
                [3.0, 0.5, 0.5],
                0.25,
            ),
            (
                Region::Box {
                    min: DVec3::ZERO,
                    max: DVec3::ONE,
                },
                [-1.0, 2.0, 0.5],
                [3.0, 2.0, 0.5],
                0.0,
            ),
            (
                Region::Sphere {
                    center: DVec3::Y,
                    radius: 2.0,
                },
                [0.0, 1.0, 0.0],
                [0.0, 1.0, 8.0],
                0.25,
            ),
            (
                Region::Sphere {
                    center: DVec3::Y,
                    radius: 2.0,
                },
                [0.0, 9.0, 0.0],
                [0.0, 7.0, 0.0],
                0.0,
            ),
            (
                Region::Cylinder {
                    from: DVec3::ZERO,
                    to: DVec3::Z * 2.0,
                    radius: 1.0,
                },
                [-4.0, 0.0, 1.0],
                [4.0, 0.0, 1.0],
                0.25,
            ),
            (
                Region::Cylinder {
                    from: DVec3::ZERO,
                    to: DVec3::Z * 2.0,
                    radius: 1.0,
                },
                [0.5, 0.0, -2.0],
                [0.5, 0.0, 6.0],
                0.25,
            ),
            (
                Region::Cylinder {
                    from: DVec3::ZERO,
                    to: DVec3::Z * 2.0,
                    radius: 1.0,
                },
                [1.5, 0.0, -2.0],
                [1.5, 0.0, 6.0],
                0.0,
            ),
        ];
        for (region, start, end, expected) in cases {
            let share = region.share_of_line(start.into(), end.into());
            assert!((share - expected).abs() < 1e-15, "{region:?}: {share} {expected}");
        }
        let tube = Region::Cylinder {
            from: DVec3::ZERO,
            to: DVec3::Z * 2.0,
            radius: 1.0,
        };
        assert!(tube.contains(DVec3::new(0.7, 0.7, 1.9)) && !tube.contains(DVec3::new(0.8, 0.7, 1.9)) && !tube.contains(DVec3::Z * 2.1));
    }
}
