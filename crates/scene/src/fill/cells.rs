//! Cells in which balls are looked up by place, a grid for each class of sizes.

use glam::DVec3;
use std::collections::{BTreeMap, HashMap};

/// Balls sorted into cells: one grid per power of two of the radius, its cells so large that a ball touches those of the 27 around it only.
pub(super) struct Cells {
    /// A little more than the largest radius, so that equal balls fill their class.
    unit: f64,
    /// Further reach as a share of the two radii.
    slack: f64,
    grids: BTreeMap<i64, HashMap<[i64; 3], Vec<u32>>>,
}

impl Cells {
    pub(super) fn new(largest: f64, slack: f64) -> Cells {
        Cells {
            unit: largest * (1.0 + 1e-6),
            slack,
            grids: BTreeMap::new(),
        }
    }

    /// The class of a radius: the exponent of its binary representation.
    fn class(&self, radius: f64) -> i64 {
        ((radius / self.unit).to_bits() >> 52) as i64
    }

    /// The cell of a place in the grid of a class.
    fn cell(&self, class: i64, place: DVec3) -> [i64; 3] {
        // Twice the upper bound of the class.
        let edge = 4.0 * f64::from_bits((class as u64) << 52) * self.unit * (1.0 + self.slack);
        (place / edge).floor().to_array().map(|index| index as i64)
    }

    pub(super) fn add(&mut self, index: u32, place: DVec3, radius: f64) {
        let class = self.class(radius);
        let cell = self.cell(class, place);
        self.grids.entry(class).or_default().entry(cell).or_default().push(index);
    }

    /// The balls of the same class and of larger ones that may touch a ball, and some more.
    pub(super) fn near(&self, place: DVec3, radius: f64) -> impl Iterator<Item = u32> {
        self.grids.range(self.class(radius)..).flat_map(move |(class, grid)| {
            let [x, y, z] = self.cell(*class, place);
            let around = (0..27).filter_map(move |n| {
                grid.get(&[
                    x.saturating_add(n % 3 - 1),
                    y.saturating_add(n / 3 % 3 - 1),
                    z.saturating_add(n / 9 - 1),
                ])
            });
            around.flatten().copied()
        })
    }
}
