//! Axis-aligned bounding boxes and the spheres near them: the broad phase of rigid bodies \[Silva 2010, § 5.3.4\], on a CPU.
//!
//! A box is compared with the spheres in the cells that it overlaps, not with other boxes. This gives fewer candidates, the cells exist already, and
//! periodic images are treated as for lists.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::bounding_boxes::Bounds;
//! let center = Vector3 { x: 1.0, y: 2.0, z: 3.0 };
//! let sphere = Bounds::around(&center, 0.5);
//! assert_eq!((sphere.low, sphere.high), ([0.5, 1.5, 2.5], [1.5, 2.5, 3.5]));
//! assert_eq!(Bounds::NOTHING.with(&sphere), sphere);
//! assert!(!Bounds::NOTHING.overlaps(&sphere));
//! ```

use crate::bodies::FREE;
use crate::cells::{GRID, next_run, span_between, walk_through};
use crate::layout::{RECORD, load};
use crate::periodic::{IMAGES, OPEN, PeriodicBoundaries, image_shift, reaches_domain};
use seixo_laws::Vector3;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower corner \[m\].
    pub low: [f64; 3],
    /// Upper corner \[m\].
    pub high: [f64; 3],
}

impl Bounds {
    /// The empty box.
    pub const NOTHING: Bounds = Bounds {
        low: [f64::INFINITY; 3],
        high: [f64::NEG_INFINITY; 3],
    };

    /// The box around a sphere.
    #[inline]
    pub fn around(center: &Vector3<f64>, radius: f64) -> Bounds {
        let center = [center.x, center.y, center.z];
        Bounds { low: center, high: center }.widened(radius)
    }

    /// The smallest box around this one and another.
    #[inline]
    pub fn with(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: [0, 1, 2].map(|k| self.low[k].min(other.low[k])),
            high: [0, 1, 2].map(|k| self.high[k].max(other.high[k])),
        }
    }

    /// The box extended by this length on every side \[m\].
    #[inline]
    pub fn widened(&self, by: f64) -> Bounds {
        Bounds {
            low: self.low.map(|x| x - by),
            high: self.high.map(|x| x + by),
        }
    }

    /// Lengths of the edges \[m\].
    pub fn edges(&self) -> [f64; 3] {
        [0, 1, 2].map(|k| self.high[k] - self.low[k])
    }

    /// The largest absolute coordinate \[m\].
    pub fn farthest(&self) -> f64 {
        self.low.iter().chain(&self.high).fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// Whether the two boxes share a point.
    pub fn overlaps(&self, other: &Bounds) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    /// Whether a condition holds for the box or one of its periodic images. Images farther than `reach` \[m\] from the domain are skipped.
    pub fn any_image(&self, reach: f64, sides: &PeriodicBoundaries<f64, f64>, kind: u32, is_so: impl Fn(&Bounds) -> bool) -> bool {
        if kind == OPEN {
            return is_so(self);
        }
        let (low, high) = (load::<f64>(&self.low, 0), load::<f64>(&self.high, 0));
        let middle = low.plus(&high).times(0.5);
        let half = (0..3).fold(0.0, |most: f64, k| most.max(0.5 * (self.high[k] - self.low[k])));
        (0..IMAGES).any(|k| {
            let shift = image_shift::<f64, f64>(k, sides);
            if !reaches_domain::<f64, f64>(&middle.plus(&shift), half + reach, sides) {
                return false;
            }
            let by = [shift.x, shift.y, shift.z];
            is_so(&Bounds {
                low: [0, 1, 2].map(|axis| self.low[axis] + by[axis]),
                high: [0, 1, 2].map(|axis| self.high[axis] + by[axis]),
            })
        })
    }
}

/// Spheres in the cells of their grids, with the bodies to which they belong.
pub struct Spheres<'a> {
    /// Centers and radii.
    pub position: &'a [f64],
    /// Member number of each sphere.
    pub member: &'a [u32],
    /// Body of each member, for the exclusion of contacts.
    pub body_of: &'a [u32],
    /// Records of the grids, see [`GRID`].
    pub grids: &'a [f64],
    /// Shape records of the grids.
    pub shapes: &'a [u32],
    /// First sphere of every cell, and the end of the last cell.
    pub first: &'a [u32],
    /// Largest distance of surfaces that count as near \[m\].
    pub skin: f64,
}

impl Spheres<'_> {
    /// Whether a sphere that is not of body `own` is near this box.
    pub fn are_near(&self, bounds: &Bounds, own: u32) -> bool {
        (0..self.grids.len() / GRID).any(|g| {
            let largest = self.grids[g * GRID + 4];
            let reach = bounds.widened(largest + self.skin);
            let span = span_between::<f64>(&load(&reach.low, 0), &load(&reach.high, 0), self.grids, self.shapes, g);
            let mut walk = walk_through(&span, self.shapes, g, false);
            while walk.goes_on() {
                let run = next_run(&mut walk, self.first, false);
                if (run.first..run.end).any(|j| self.is_of_other_domain(j, own) && self.is_near(j, bounds)) {
                    return true;
                }
            }
            false
        })
    }

    fn is_of_other_domain(&self, j: usize, own: u32) -> bool {
        let member = self.member[j];
        member == FREE || self.body_of[member as usize] != own
    }

    fn is_near(&self, j: usize, bounds: &Bounds) -> bool {
        let at = j * RECORD;
        let reach = self.position[at + 3] + self.skin;
        Bounds::around(&load(self.position, at), reach).overlaps(bounds)
    }
}
