//! Parts of space, and what of points, lines and balls is inside.

use crate::ball;
use crate::rigid_motion::RigidMotion;
use glam::{DMat3, DVec3};
use seixo_engine::world::volume_of_sphere;
use seixo_engine::{Image, PeriodicCell};
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
    /// A box in any orientation.
    Block {
        /// Center \[m\].
        center: DVec3,
        /// Directions of its edges, unit vectors at right angles.
        axes: DMat3,
        /// Half of its edges \[m\].
        half: DVec3,
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
            Region::Sphere { radius, .. } => volume_of_sphere(radius),
            Region::Block { half, .. } => 8.0 * half.element_product(),
        }
    }

    /// Corners of the upright box around it \[m\].
    pub fn bounds(&self) -> [DVec3; 2] {
        match *self {
            Region::Box { min, max } => [min, max],
            Region::Cylinder { from, to, radius } => {
                let along = (to - from).normalize();
                // A disk reaches as far along an axis as its normal is turned away from it.
                let half = DVec3::from([0, 1, 2].map(|axis| radius * (1.0 - along[axis].powi(2)).max(0.0).sqrt()));
                [from.min(to) - half, from.max(to) + half]
            }
            Region::Sphere { center, radius } => [center - radius, center + radius],
            Region::Block { center, axes, half } => {
                let reach = axes.x_axis.abs() * half.x + axes.y_axis.abs() * half.y + axes.z_axis.abs() * half.z;
                [center - reach, center + reach]
            }
        }
    }

    /// Its center \[m\].
    pub fn center(&self) -> DVec3 {
        let [low, high] = self.bounds();
        0.5 * (low + high)
    }

    /// The region where a rigid motion takes it.
    pub fn moved(&self, motion: &RigidMotion) -> Region {
        let place = |point: DVec3| DVec3::from(motion.place(point.to_array()));
        match *self {
            Region::Box { min, max } => Region::Block {
                center: place(0.5 * (min + max)),
                axes: motion.axes(),
                half: 0.5 * (max - min),
            },
            Region::Cylinder { from, to, radius } => Region::Cylinder {
                from: place(from),
                to: place(to),
                radius,
            },
            Region::Sphere { center, radius } => Region::Sphere {
                center: place(center),
                radius,
            },
            Region::Block { center, axes, half } => Region::Block {
                center: place(center),
                axes: motion.axes() * axes,
                half,
            },
        }
    }

    /// Whether a point is inside, its images left aside.
    pub fn contains(&self, point: DVec3) -> bool {
        self.share_of_line(point, point) > 0.0
    }

    /// The share of a straight line between two points that is inside; of a line without length all or nothing.
    fn share_of_line(&self, start: DVec3, end: DVec3) -> f64 {
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
            Region::Block { center, axes, half } => {
                let [start, rate] = [start - center, rate].map(|v| axes.transpose() * v);
                [0, 1, 2].map(|axis| between(start[axis], rate[axis], -half[axis], half[axis]))
            }
        };
        let first = spans.iter().fold(0.0, |first: f64, span| first.max(span[0]));
        let last = spans.iter().fold(1.0, |last: f64, span| last.min(span[1]));
        (last - first).max(0.0)
    }

    /// Outward unit normals of its faces, and the distances of their planes from the origin \[m\]; `None` of a round region.
    pub(crate) fn planes(&self) -> Option<[(DVec3, f64); 6]> {
        let (center, axes, half) = match *self {
            Region::Box { min, max } => (0.5 * (min + max), DMat3::IDENTITY, 0.5 * (max - min)),
            Region::Block { center, axes, half } => (center, axes, half),
            Region::Cylinder { .. } | Region::Sphere { .. } => return None,
        };
        Some(std::array::from_fn(|face| {
            let axis = face / 2;
            let normal = if face % 2 == 0 { axes.col(axis) } else { -axes.col(axis) };
            (normal, normal.dot(center) + half[axis])
        }))
    }

    /// Volume of a ball that is inside \[m³\]: exact for boxes and a sphere; see [`ball::in_cylinder`] for a cylinder.
    pub(crate) fn volume_of_ball(&self, center: DVec3, radius: f64) -> f64 {
        match *self {
            Region::Box { min, max } => ball::in_box(center, radius, min, max),
            Region::Sphere {
                center: middle,
                radius: other,
            } => ball::in_ball((center - middle).length(), radius, other),
            Region::Block {
                center: middle,
                axes,
                half,
            } => ball::in_box(axes.transpose() * (center - middle), radius, -half, half),
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

/// A region of space that a periodic cell fills with its images: what of the images of points, lines and balls is inside. All that is measured
/// in a region is measured through this.
///
/// A box that is longer than the cell along a periodic axis is cut to one length of it, so that nothing counts twice; a cylinder or a sphere
/// that is, meets some images twice, as it would in a lattice of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionInCell {
    region: Region,
    cell: PeriodicCell,
}

impl Region {
    /// The region among the images of a cell.
    pub(crate) fn in_cell(&self, cell: &PeriodicCell) -> RegionInCell {
        let mut region = *self;
        if let Region::Box { min, max } = &mut region {
            *max = DVec3::min(*max, *min + DVec3::from(cell.length));
        }
        RegionInCell { region, cell: *cell }
    }
}

impl RegionInCell {
    /// The images in which what lies between two corners may reach into the region.
    pub fn reaching(&self, low: DVec3, high: DVec3) -> impl Iterator<Item = Image> + use<> {
        let into = self.region.bounds().map(|corner| corner.to_array());
        self.cell.images([low.to_array(), high.to_array()], into)
    }

    /// The region itself.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Corners of the upright box around it \[m\].
    pub fn bounds(&self) -> [DVec3; 2] {
        self.region.bounds()
    }

    /// Volume \[m³\].
    pub fn volume(&self) -> f64 {
        self.region.volume()
    }

    /// The images in which a point is inside.
    pub fn images_of(&self, point: DVec3) -> impl Iterator<Item = Image> + use<> {
        let region = self.region;
        // Boxes contain what reaches into them, and their faces are shared out there.
        let is_box = matches!(region, Region::Box { .. });
        self.reaching(point, point)
            .filter(move |image| is_box || region.contains(point + DVec3::from(image.shift)))
    }

    /// In how many images a point is inside.
    pub fn count(&self, point: DVec3) -> usize {
        self.images_of(point).count()
    }

    /// The share of a straight line between two points that is inside, of all of its images together.
    pub fn share_of_line(&self, start: DVec3, end: DVec3) -> f64 {
        let mut share = 0.0;
        for image in self.reaching(start.min(end), start.max(end)) {
            let shift = DVec3::from(image.shift);
            share += self.region.share_of_line(start + shift, end + shift);
        }
        share
    }

    /// Volume of a ball that is inside, of all of its images together \[m³\].
    pub fn volume_of_ball(&self, center: DVec3, radius: f64) -> f64 {
        let mut volume = 0.0;
        for image in self.reaching(center - radius, center + radius) {
            volume += self.region.volume_of_ball(center + DVec3::from(image.shift), radius);
        }
        volume
    }
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
        // A cube on an edge is wider and holds as much.
        let (sin, cos) = 0.5_f64.sin_cos();
        let motion = RigidMotion::new([1.0, 0.0, 0.0], [cos, 0.0, sin, 0.0]);
        let cube = Region::Box {
            min: DVec3::ZERO,
            max: DVec3::new(1.0, 2.0, 3.0),
        };
        let block = cube.moved(&motion);
        assert!((block.volume() - 6.0).abs() < 1e-12 && block.bounds()[1].x - block.bounds()[0].x > 1.1);
        for point in [[0.9, 1.9, 2.9], [0.1, 0.1, 0.1], [1.1, 1.0, 1.0], [0.5, -0.1, 1.0]] {
            let here = DVec3::from(motion.place(point));
            assert_eq!(block.contains(here), cube.contains(point.into()), "{point:?}");
            let [whole, now] = [(&cube, DVec3::from(point)), (&block, here)].map(|(region, center)| region.volume_of_ball(center, 0.3));
            assert!((whole - now).abs() < 1e-9, "{point:?}: {whole} {now}");
        }
        let tube = Region::Cylinder {
            from: DVec3::ZERO,
            to: DVec3::Z * 2.0,
            radius: 1.0,
        };
        assert!(tube.contains(DVec3::new(0.7, 0.7, 1.9)) && !tube.contains(DVec3::new(0.8, 0.7, 1.9)) && !tube.contains(DVec3::Z * 2.1));
    }
}
