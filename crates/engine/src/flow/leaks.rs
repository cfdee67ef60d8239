//! Fluid that got out of what holds it.

use super::Flow;
use crate::contact_records::array;
use crate::simulation::Simulation;
use seixo_sweeps::views::RECORD;

/// Share of gravity along one axis from which on that axis is the way down.
const DOWNWARD: f64 = 0.9;

impl Flow {
    /// Particles of fluid that are below all particles of walls by more than a spacing, as the host saw them last: nothing is there to stop them.
    /// None where gravity is along no axis.
    fn below_all_walls(&self) -> Vec<usize> {
        let gravity = array(&self.stepping.gravity);
        let is_down = |axis: &usize| gravity[*axis].abs() > DOWNWARD * self.stepping.gravity.length();
        let Some(axis) = (0..3).find(is_down).filter(|_| !self.walls.is_empty()) else {
            return Vec::new();
        };
        let depth = |i: usize| gravity[axis].signum() * self.fields.position[i * RECORD + axis];
        let of_walls = self.walls.iter().map(|&i| depth(i as usize));
        let lowest = of_walls.fold(f64::NEG_INFINITY, f64::max) + self.plan.spacing;
        self.of_fluid().filter(|&i| depth(i) > lowest).collect()
    }
}

impl Simulation {
    /// What should be told of fluid that leaked, or flowed over a rim, if any is seen: in a world without a domain nothing takes it away, and nothing
    /// stops the run. On a GPU it is seen as of the last observation.
    pub fn leak_of_fluids(&self) -> Option<String> {
        let flow = self.flow.as_ref().filter(|_| self.domain.is_none())?;
        let below = flow.below_all_walls();
        let first = *below.iter().min_by_key(|&&i| flow.fields.id[i])?;
        let [x, y, z] = array(&flow.place(first));
        Some(format!(
            "particle {} of fluid {:?} is at ({x:.4}, {y:.4}, {z:.4}) m, below all walls, and {} more: it leaked, or flowed over a rim; a \
             world.domain with leaving = \"delete\" takes such away, one with \"error\" stops the run",
            flow.fields.id[first],
            flow.plan.kinds[flow.fields.kind[first] as usize].name,
            below.len() - 1
        ))
    }
}
