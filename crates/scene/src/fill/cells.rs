//! Cells for the search of spheres by position, with a grid for each size class.

use glam::DVec3;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// A hash of the indices of cells, with a rotation and a product for each index. Random insertion looks up dozens of cells for a grain, and the hash of
/// the standard library is made to withstand keys that are chosen to collide, which cells are not.
#[derive(Default)]
struct CellHasher(u64);

/// An odd number with the bits of the golden ratio, so that products of neighboring indices are far apart.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for CellHasher {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            // The last byte is the highest: a product carries what differs in low bits to the high ones.
            let word = word.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte));
            self.write_u64(word);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(GOLDEN);
    }

    fn finish(&self) -> u64 {
        // The table takes the low bits, and a product is mixed best in the high ones.
        self.0 ^ (self.0 >> 32)
    }
}

/// Spheres by the cells of a grid.
type Grid = HashMap<[i64; 3], Vec<u32>, BuildHasherDefault<CellHasher>>;

/// Spheres sorted into cells: one grid per power of two of the radius. A sphere only overlaps spheres of the 27 cells around it.
pub(super) struct Cells {
    /// Slightly above the largest radius, so that equal spheres fill their class.
    unit: f64,
    /// Skin as a share of the sum of the two radii.
    slack: f64,
    grids: BTreeMap<i64, Grid>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    #[test]
    fn neighboring_cells_have_hashes_of_their_own() {
        let hasher = BuildHasherDefault::<CellHasher>::default();
        let cells = (0..32_768i64).map(|k| [k % 32 - 16, k / 32 % 32 - 16, k / 1024 - 16]);
        let hashes: Vec<u64> = cells.map(|cell| hasher.hash_one(cell)).collect();
        let different = |bits: &dyn Fn(u64) -> u64| hashes.iter().map(|&hash| bits(hash)).collect::<HashSet<u64>>().len();
        assert_eq!(different(&|hash| hash), 32_768);
        // Random numbers would leave a share of 1/e of as many places empty.
        assert!(different(&|hash| hash & 0x7fff) > 16_384);
        // The table compares seven high bits first.
        assert_eq!(different(&|hash| hash >> 57), 128);
    }
}
