//! Time-averaged velocity in the cells of a grid, and the share of what is there that hardly moves.

use crate::coarse::Grid;
use glam::DVec3;
use seixo_engine::PeriodicCell;
use seixo_engine::state::{FluidSnapshot, GrainSnapshot};

/// A speed below which a cell is dead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedLimit {
    /// This speed \[m/s\].
    Speed(f64),
    /// This share of the mean speed \[-\].
    OfMean(f64),
}

/// The dead part of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeadZone {
    /// Share of the volume of all grains and fluid in the grid that is in dead cells \[-\].
    pub share: f64,
    /// Mean of the speeds of the cells, weighted by the volume in them \[m/s\].
    pub mean_speed: f64,
    /// Speed below which a cell is dead \[m/s\].
    pub limit: f64,
    /// Mean share of the volume of the grid that grains and fluid fill \[-\].
    pub filled: f64,
}

/// Sums over samples of what is in each cell of a grid. The point of a cell is its center, and each grain or particle is in the cell of its center.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanFlow {
    /// The cells.
    pub grid: Grid,
    /// Number of samples.
    pub samples: u64,
    /// Volume in each cell, summed over the samples \[m³\].
    pub volume: Vec<f64>,
    /// Mass, summed likewise \[kg\].
    pub mass: Vec<f64>,
    /// Momentum, summed likewise \[kg m/s\].
    pub momentum: Vec<[f64; 3]>,
}

impl MeanFlow {
    /// The sums before the first sample.
    pub fn new(grid: Grid) -> MeanFlow {
        MeanFlow {
            samples: 0,
            volume: vec![0.0; grid.len()],
            mass: vec![0.0; grid.len()],
            momentum: vec![[0.0; 3]; grid.len()],
            grid,
        }
    }

    /// Adds the grains of a sample, of one group or of all.
    pub fn add_grains(&mut self, grains: &GrainSnapshot, group: Option<u32>) {
        for k in (0..grains.id.len()).filter(|&k| group.is_none_or(|group| grains.group[k] == group)) {
            let amount = [grains.volume_of(k), grains.mass[k]];
            self.add(grains.position[k], grains.velocity[k], amount, &grains.cell);
        }
    }

    /// Adds the particles of a sample, of one fluid or of all, with the particle mass of each fluid \[kg\].
    pub fn add_fluid(&mut self, fluid: &FluidSnapshot, kind: Option<u32>, masses: &[f64], cell: &PeriodicCell) {
        for k in (0..fluid.id.len()).filter(|&k| kind.is_none_or(|kind| fluid.kind[k] == kind)) {
            let mass = masses[fluid.kind[k] as usize];
            self.add(fluid.position[k], fluid.velocity[k], [mass / fluid.density[k], mass], cell);
        }
    }

    /// Adds a particle, with its volume \[m³\] and mass \[kg\], and its images in the grid.
    fn add(&mut self, place: [f64; 3], velocity: [f64; 3], [volume, mass]: [f64; 2], cell: &PeriodicCell) {
        let Grid { origin, spacing, points } = self.grid;
        let low = origin - 0.5 * spacing;
        let high = low + spacing * DVec3::from(points.map(|points| points as f64));
        for image in cell.images([place; 2], [low.to_array(), high.to_array()]) {
            let site = (DVec3::from(image.of(place)) - low) / spacing;
            let [x, y, z] = [0, 1, 2].map(|axis| (site[axis] as usize).min(points[axis] - 1));
            let index = (z * points[1] + y) * points[0] + x;
            self.volume[index] += volume;
            self.mass[index] += mass;
            for (axis, sum) in self.momentum[index].iter_mut().enumerate() {
                *sum += mass * (velocity[axis] + image.velocity[axis]);
            }
        }
    }

    /// Mean velocity in each cell, by mass \[m/s\]; zero in cells that were always empty.
    pub fn velocity(&self) -> Vec<[f64; 3]> {
        let mean = |(momentum, &mass): (&[f64; 3], &f64)| momentum.map(|momentum| if mass > 0.0 { momentum / mass } else { 0.0 });
        self.momentum.iter().zip(&self.mass).map(mean).collect()
    }

    /// Length of the mean velocity in each cell \[m/s\].
    pub fn speed(&self) -> Vec<f64> {
        self.velocity().into_iter().map(|velocity| DVec3::from(velocity).length()).collect()
    }

    /// Mean share of the volume of each cell that is filled \[-\].
    pub fn filled(&self) -> Vec<f64> {
        let whole = self.samples as f64 * self.grid.cell();
        self.volume.iter().map(|volume| volume / whole).collect()
    }

    /// The part of the flow in cells whose speed is below a limit. Not a number without anything in the grid.
    pub fn dead_zone(&self, limit: SpeedLimit) -> DeadZone {
        let speeds = self.speed();
        let whole: f64 = self.volume.iter().sum();
        let mean_speed = self.volume.iter().zip(&speeds).map(|(volume, speed)| volume * speed).sum::<f64>() / whole;
        let limit = match limit {
            SpeedLimit::Speed(speed) => speed,
            SpeedLimit::OfMean(share) => share * mean_speed,
        };
        let dead = self.volume.iter().zip(&speeds).filter(|(_, speed)| **speed < limit);
        DeadZone {
            // The sum of nothing is 0, where `sum` has −0.
            share: dead.fold(0.0, |sum, (volume, _)| sum + volume) / whole,
            mean_speed,
            limit,
            filled: whole / (self.samples as f64 * self.grid.cell() * self.grid.len() as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{Domain, LeavingPolicy, volume_of_sphere};

    /// A grain in each cell of a square of 10 × 10 cells of 1 cm: at rest in a corner of 3 × 4 cells, and else at 0.2 m/s along x, where it also shakes.
    fn square(shake: f64) -> GrainSnapshot {
        let sites: Vec<[f64; 2]> = (0..100).map(|k| [f64::from(k % 10), f64::from(k / 10)]).collect();
        let is_dead = |[x, y]: [f64; 2]| x < 3.0 && y < 4.0;
        GrainSnapshot {
            id: (0..100).collect(),
            position: sites.iter().map(|[x, y]| [0.01 * x + 0.005, 0.01 * y + 0.005, 0.005]).collect(),
            velocity: sites
                .iter()
                .map(|&site| [if is_dead(site) { 0.0 } else { 0.2 }, shake, 0.0])
                .collect(),
            radius: vec![0.004; 100],
            mass: vec![2.0; 100],
            group: vec![1; 100],
            ..GrainSnapshot::default()
        }
    }

    fn grid() -> Grid {
        Grid::between(DVec3::ZERO, DVec3::new(0.1, 0.1, 0.01), 0.01)
    }

    #[test]
    fn a_corner_at_rest_is_its_share_of_the_volume() {
        let mut flow = MeanFlow::new(grid());
        // What shakes to and fro without moving on is dead.
        for shake in [0.5, -0.5, 0.1, -0.1] {
            flow.samples += 1;
            flow.add_grains(&square(shake), Some(1));
            flow.add_grains(&square(shake), Some(0));
        }
        for limit in [SpeedLimit::Speed(0.001), SpeedLimit::OfMean(0.5)] {
            let dead = flow.dead_zone(limit);
            assert!(
                (dead.share - 0.12).abs() < 1e-12 && (dead.mean_speed - 0.176).abs() < 1e-12,
                "{dead:?}"
            );
            assert!((dead.filled - volume_of_sphere(0.4)).abs() < 1e-9, "{dead:?}");
        }
        assert_eq!(flow.dead_zone(SpeedLimit::Speed(0.3)).share, 1.0);
        assert!(MeanFlow::new(grid()).dead_zone(SpeedLimit::Speed(0.3)).share.is_nan());
    }

    #[test]
    fn particles_of_fluids_count_with_their_volume_and_their_images() {
        let domain = Domain {
            periodic: [true, false, false],
            ..Domain::open([0.0; 3], [0.1, 1.0, 1.0], LeavingPolicy::Error)
        };
        let cell = PeriodicCell::of(Some(&domain), 0.0);
        let fluid = FluidSnapshot {
            id: vec![0, 1, 2],
            kind: vec![0, 1, 0],
            position: vec![[0.005; 3], [0.055, 0.005, 0.005], [0.055, 0.5, 0.005]],
            velocity: vec![[0.0; 3], [0.0, 0.0, 2.0], [9.0; 3]],
            density: vec![1000.0, 500.0, 1000.0],
            pressure: vec![0.0; 3],
        };
        // The grid is the domain, 3 cm on.
        let mut flow = MeanFlow::new(Grid {
            origin: grid().origin + DVec3::new(0.03, 0.0, 0.0),
            ..grid()
        });
        flow.samples = 1;
        flow.add_fluid(&fluid, None, &[1e-3, 1e-3], &cell);
        // The particle beyond the grid does not count; the second one has twice the volume of the first.
        let dead = flow.dead_zone(SpeedLimit::Speed(1.0));
        assert!(
            (dead.share - 1.0 / 3.0).abs() < 1e-12 && (dead.mean_speed - 4.0 / 3.0).abs() < 1e-12,
            "{dead:?}"
        );
        assert_eq!(flow.velocity()[2], [0.0, 0.0, 2.0]);
        assert!((flow.filled()[7] - 1.0).abs() < 1e-12, "an image of the first one");
    }
}
