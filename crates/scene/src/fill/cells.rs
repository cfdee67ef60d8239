//! Cells for the search of spheres by position, with a grid for each size class.

use glam::DVec3;
use std::collections::{BTreeMap, HashMap};

/// Spheres sorted into cells: one grid per power of two of the radius. A sphere only overlaps spheres of the 27 cells around it.
pub(super) struct Cells {
    /// Slightly above the largest radius, so that equal spheres fill their class.
    unit: f64,
    /// Skin as a share of the sum of the two radii.
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

    /// The cell of a position in the grid of a class.
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

    /// The spheres of the same and of larger classes that may overlap a sphere, and some more.
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
