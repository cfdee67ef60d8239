//! Particles that fill bodies and walls of meshes. Each cell of a lattice becomes a particle with the volume of its filled part, at the centroid of
//! that part. The total volume is thus exact for any form, and the particles are as symmetric as the form: rounding at a surface decides nothing.

use glam::DVec3;
use std::collections::BTreeMap;

/// Smallest filled share of a cell with its own particle, if it has fuller neighbors.
const LEAST: f64 = 0.5;
/// Smallest filled share of a cell that counts.
const NOTHING: f64 = 1e-9;
/// Margin at thresholds, so that rounding does not decide \[-\].
pub(super) const ROUNDING: f64 = 1e-6;

/// Volume of a fluid particle at this spacing \[m³\], in a plane flow its area \[m²\].
pub(super) fn volume(spacing: f64, across: Option<usize>) -> f64 {
    spacing.powi(if across.is_some() { 2 } else { 3 })
}

/// Depth of a position in the filled space, negative outside \[m\]. Beyond the given distance any number of at least that magnitude is valid.
pub(super) type Depth<'a> = &'a dyn Fn(DVec3, f64) -> f64;

/// A particle of the filled space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Portion {
    /// Its position \[m\].
    pub place: DVec3,
    /// Its volume \[m³\], in a plane flow its area \[m²\].
    pub volume: f64,
}

/// A lattice of cells.
pub(super) struct Cells {
    /// Corner of the cell 0 0 0 \[m\].
    pub corner: DVec3,
    /// Edges of a cell \[m\].
    pub step: DVec3,
    /// Axis normal to the plane of the flow: there is one layer of cells, at zero.
    pub across: Option<usize>,
    /// How often cells at a surface are halved to measure their filled part.
    pub halvings: u32,
}

impl Cells {
    /// The middle of a cell.
    pub(super) fn middle(&self, cell: [i64; 3]) -> DVec3 {
        let mut middle = self.corner + self.step * (DVec3::from_array(cell.map(|index| index as f64)) + 0.5);
        if let Some(axis) = self.across {
            middle[axis] = 0.0;
        }
        middle
    }

    /// Indices along an axis of the cells whose centers are from one coordinate on and before another.
    pub(super) fn between(&self, axis: usize, from: f64, to: f64) -> std::ops::Range<i64> {
        if self.across == Some(axis) {
            return 0..1;
        }
        let first_from = |x: f64| ((x - self.corner[axis]) / self.step[axis] - 0.5).ceil() as i64;
        first_from(from)..first_from(to)
    }

    /// Volume of a block with these edges \[m³\], in a plane flow its area \[m²\].
    fn volume(&self, edges: DVec3) -> f64 {
        (0..3).filter(|axis| self.across != Some(*axis)).map(|axis| edges[axis]).product()
    }

    /// The particles of these cells, in the order of z, y, x.
    pub(super) fn portions(&self, cells: impl Iterator<Item = [i64; 3]>, depth: Depth<'_>) -> Vec<Portion> {
        let mut edges = self.step;
        if let Some(axis) = self.across {
            edges[axis] = 0.0;
        }
        let mut found = BTreeMap::new();
        for [x, y, z] in cells {
            let (volume, moment) = self.measure(depth, self.middle([x, y, z]), edges, self.halvings);
            if volume > NOTHING * self.volume(self.step) {
                found.insert([z, y, x], (volume, moment));
            }
        }
        self.gathered(&found)
    }

    /// The filled volume of a block with this center and these edges, and its first moment. Blocks that the surface intersects are halved. The filled
    /// share of the smallest blocks follows from a surface across their edges.
    fn measure(&self, depth: Depth<'_>, middle: DVec3, edges: DVec3, halvings: u32) -> (f64, DVec3) {
        let reach = 0.5 * edges.length();
        let at = depth(middle, reach);
        let is_cut = at.abs() < reach;
        if is_cut && halvings > 0 {
            let (mut volume, mut moment) = (0.0, DVec3::ZERO);
            for corner in 0..8_u32 {
                if self.across.is_some_and(|axis| corner >> axis & 1 == 1) {
                    continue;
                }
                let side = DVec3::from_array([0, 1, 2].map(|axis| if corner >> axis & 1 == 0 { -0.25 } else { 0.25 }));
                let (part, of_part) = self.measure(depth, middle + side * edges, 0.5 * edges, halvings - 1);
                volume += part;
                moment += of_part;
            }
            return (volume, moment);
        }
        let share = if is_cut {
            (0.5 + at / edges.max_element()).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(at > 0.0))
        };
        let volume = share * self.volume(edges);
        (volume, middle * volume)
    }

    /// Particles for the filled parts of cells. A cell that is less than half full gives its part to fuller neighbors, most of it to the nearest:
    /// volume and first moment are conserved.
    fn gathered(&self, found: &BTreeMap<[i64; 3], (f64, DVec3)>) -> Vec<Portion> {
        let whole = self.volume(self.step);
        let is_own = |volume: f64| volume >= LEAST * whole * (1.0 - ROUNDING);
        let mut gathered = found.clone();
        gathered.retain(|_, (volume, _)| is_own(*volume));
        for (&[z, y, x], &(volume, moment)) in found.iter().filter(|(_, (volume, _))| !is_own(*volume)) {
            let place = moment / volume;
            let around = (0..27).map(|k| [z + k / 9 - 1, y + k / 3 % 3 - 1, x + k % 3 - 1]);
            let near: Vec<([i64; 3], f64)> = around
                .filter_map(|cell| {
                    let (volume, moment) = found.get(&cell).filter(|(volume, _)| is_own(*volume))?;
                    let apart = (*moment / *volume - place) / self.step;
                    Some((cell, (-2.0 * apart.length_squared()).exp()))
                })
                .collect();
            let all: f64 = near.iter().map(|(_, weight)| weight).sum();
            for (cell, weight) in &near {
                let of_cell = gathered.entry(*cell).or_default();
                of_cell.0 += volume * (weight / all);
                of_cell.1 += moment * (weight / all);
            }
            if near.is_empty() {
                gathered.insert([z, y, x], (volume, moment));
            }
        }
        let portion = |(volume, moment): (f64, DVec3)| Portion {
            place: moment / volume,
            volume,
        };
        gathered.into_values().map(portion).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells around a box that is centered at the origin.
    fn around(half: DVec3, step: DVec3) -> (Cells, Vec<[i64; 3]>) {
        let cells = Cells {
            corner: DVec3::ZERO,
            step,
            across: None,
            halvings: 3,
        };
        let ranges = [0, 1, 2].map(|axis| cells.between(axis, -half[axis] - step[axis], half[axis] + step[axis]));
        let mut all = Vec::new();
        for z in ranges[2].clone() {
            for y in ranges[1].clone() {
                all.extend(ranges[0].clone().map(|x| [x, y, z]));
            }
        }
        (cells, all)
    }

    #[test]
    fn particles_have_the_volume_of_what_they_fill_wherever_it_is() {
        for shift in [DVec3::ZERO, DVec3::new(0.13, -0.41, 0.27), DVec3::splat(0.5)] {
            let (cells, all) = around(DVec3::splat(4.0), DVec3::ONE);
            let ball = |at: DVec3, _: f64| 2.6 - at.distance(shift);
            let found = cells.portions(all.into_iter(), &ball);
            let volume: f64 = found.iter().map(|portion| portion.volume).sum();
            let exact = 4.0 / 3.0 * std::f64::consts::PI * 2.6_f64.powi(3);
            assert!((volume / exact - 1.0).abs() < 1e-3, "{volume} of {exact} at {shift}");
            let center = found.iter().map(|portion| portion.place * portion.volume).sum::<DVec3>() / volume;
            assert!(center.distance(shift) < 1e-3, "{center} for {shift}");
            for portion in &found {
                assert!(portion.volume > 0.49 && portion.volume < 1.6, "{portion:?}");
                assert!(ball(portion.place, 0.0) > 0.2, "{portion:?}");
            }
        }
    }

    #[test]
    fn a_block_of_whole_cells_is_these_cells() {
        let (cells, all) = around(DVec3::new(3.0, 2.0, 2.0), DVec3::ONE);
        let block = |at: DVec3, _: f64| (DVec3::new(3.0, 2.0, 2.0) - at.abs()).min_element();
        let found = cells.portions(all.into_iter(), &block);
        assert_eq!(found.len(), 6 * 4 * 4);
        for portion in found {
            assert!((portion.volume - 1.0).abs() < 1e-12, "{portion:?}");
            let off = (portion.place - portion.place.floor() - 0.5).abs().max_element();
            assert!(off < 1e-12, "{portion:?}");
        }
    }

    #[test]
    fn what_is_thinner_than_half_a_cell_is_not_lost() {
        let (cells, all) = around(DVec3::splat(3.0), DVec3::ONE);
        let plate = |at: DVec3, _: f64| (DVec3::new(3.0, 3.0, 0.1) - (at - DVec3::new(0.0, 0.0, 0.3)).abs()).min_element();
        let found = cells.portions(all.into_iter(), &plate);
        let volume: f64 = found.iter().map(|portion| portion.volume).sum();
        assert!((volume / (6.0 * 6.0 * 0.2) - 1.0).abs() < 0.02, "{volume}");
        assert!(found.iter().all(|portion| (portion.place.z - 0.3).abs() < 0.01), "{found:?}");
    }
}
