//! Boxes along the axes of space that hold spheres, and what comes near them: the broad phase of rigid bodies \[Silva 2010, § 5.3.4\], on a CPU.
//!
//! A box is compared with the spheres in the cells that it reaches, not with other boxes: what is told is sharper, the cells are there already, and
//! the images of a periodic domain are walked through as for lists.

use crate::bodies::FREE;
use crate::cells::{GRID, next_run, span_between, walk_through};
use crate::sides::{IMAGES, OPEN, Sides, image_shift, reaches_domain};
use crate::views::{RECORD, load};
use seixo_laws::Vector3;

/// A box along the axes of space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower corner \[m\].
    pub low: [f64; 3],
    /// Upper corner \[m\].
    pub high: [f64; 3],
}

impl Bounds {
    /// The box around nothing.
    pub const NOTHING: Bounds = Bounds {
        low: [f64::INFINITY; 3],
        high: [f64::NEG_INFINITY; 3],
    };

    /// The box around a sphere.
    pub fn around(center: &Vector3<f64>, radius: f64) -> Bounds {
        let center = [center.x, center.y, center.z];
        Bounds { low: center, high: center }.widened(radius)
    }

    /// The least box that holds this one and another.
    pub fn with(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: [0, 1, 2].map(|k| self.low[k].min(other.low[k])),
            high: [0, 1, 2].map(|k| self.high[k].max(other.high[k])),
        }
    }

    /// Wider by this length on every side \[m\].
    pub fn widened(&self, by: f64) -> Bounds {
        Bounds {
            low: self.low.map(|x| x - by),
            high: self.high.map(|x| x + by),
        }
    }

    /// The coordinate farthest from the origin \[m\].
    pub fn farthest(&self) -> f64 {
        self.low.iter().chain(&self.high).fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// Whether it shares a point with another.
    pub fn meets(&self, other: &Bounds) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    /// Whether something is so of it or, where sides are periodic, of one of its images of which a part is nearer to the domain than `reach`
    /// \[m\].
    pub fn any_image(&self, reach: f64, sides: &Sides<f64, f64>, kind: u32, is_so: impl Fn(&Bounds) -> bool) -> bool {
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

/// Spheres in the cells of the grids that sort them, and the bodies that they are of.
pub struct Spheres<'a> {
    /// Centers and radii.
    pub position: &'a [f64],
    /// Which member of a body each of them is.
    pub member: &'a [u32],
    /// The body of each member, as far as touching goes.
    pub body_of: &'a [u32],
    /// Records of the grids, see [`GRID`].
    pub grids: &'a [f64],
    /// Records of their shapes.
    pub shapes: &'a [u32],
    /// First sphere of every cell, and one more.
    pub first: &'a [u32],
    /// Distance by which surfaces may be apart and still be near \[m\].
    pub skin: f64,
}

impl Spheres<'_> {
    /// Whether one that is not of body `own` is near to what a box holds.
    pub fn are_near(&self, bounds: &Bounds, own: u32) -> bool {
        (0..self.grids.len() / GRID).any(|g| {
            let largest = self.grids[g * GRID + 4];
            let reach = bounds.widened(largest + self.skin);
            let span = span_between::<f64>(&load(&reach.low, 0), &load(&reach.high, 0), self.grids, self.shapes, g);
            let mut walk = walk_through(&span, self.shapes, g, false);
            while walk.goes_on() {
                let run = next_run(&mut walk, self.first, false);
                if (run.first..run.end).any(|j| self.is_foreign(j, own) && self.is_near(j, bounds)) {
                    return true;
                }
            }
            false
        })
    }

    fn is_foreign(&self, j: usize, own: u32) -> bool {
        let member = self.member[j];
        member == FREE || self.body_of[member as usize] != own
    }

    fn is_near(&self, j: usize, bounds: &Bounds) -> bool {
        let at = j * RECORD;
        let reach = self.position[at + 3] + self.skin;
        Bounds::around(&load(self.position, at), reach).meets(bounds)
    }
}
