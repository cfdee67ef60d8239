//! Index of particle positions, for searches by distance.

use glam::DVec3;
use std::collections::HashMap;

/// Positions, each with its owner, sorted into cells.
pub(super) struct PointIndex {
    /// Edge of a cell \[m\].
    edge: f64,
    /// Ends of the domain along its periodic axes \[m\].
    periods: [Option<[f64; 2]>; 3],
    cells: HashMap<[i64; 3], Vec<(DVec3, u32)>>,
}

impl PointIndex {
    pub(super) fn new(edge: f64, periods: [Option<[f64; 2]>; 3]) -> PointIndex {
        PointIndex {
            edge,
            periods,
            cells: HashMap::new(),
        }
    }

    fn cell(&self, place: DVec3) -> [i64; 3] {
        (place / self.edge).floor().to_array().map(|index| index as i64)
    }

    pub(super) fn add(&mut self, place: DVec3, owner: u32) {
        let cell = self.cell(place);
        self.cells.entry(cell).or_default().push((place, owner));
    }

    /// The owner of a position within a distance, also across periodic sides.
    pub(super) fn nearer_than(&self, distance: f64, place: DVec3) -> Option<u32> {
        let mut images = vec![place];
        for (axis, period) in self.periods.iter().enumerate() {
            let Some([min, max]) = *period else { continue };
            let shift = if place[axis] - min < distance {
                max - min
            } else if max - place[axis] < distance {
                min - max
            } else {
                continue;
            };
            let moved: Vec<DVec3> = images.iter().map(|image| *image + DVec3::AXES[axis] * shift).collect();
            images.extend(moved);
        }
        images.into_iter().find_map(|image| self.straight(distance, image))
    }

    fn straight(&self, distance: f64, place: DVec3) -> Option<u32> {
        let (low, high) = (self.cell(place - distance), self.cell(place + distance));
        let is_near = |(other, _): &&(DVec3, u32)| other.distance_squared(place) < distance * distance;
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let near = self.cells.get(&[x, y, z]).and_then(|there| there.iter().find(is_near));
                    if let Some((_, owner)) = near {
                        return Some(*owner);
                    }
                }
            }
        }
        None
    }
}
