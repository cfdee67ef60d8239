//! Fluid that got out of what holds it.

use super::Flow;
use crate::contact_records::array;
use crate::simulation::Simulation;
use crate::walls::Walls;
use seixo_sweeps::views::{ELEMENT, FRUSTUM, RECORD, SPHERE};

/// Share of gravity along one axis from which on that axis is the way down.
const DOWNWARD: f64 = 0.9;

/// From which share of its normal on a plane counts as one that faces up.
const UPWARD: f64 = 1e-6;

/// The depth of the lowest point of an element of a wall along an axis, down which gravity pulls with the sign `down` \[m\]. A plane that faces up stops
/// all that falls; others stop nothing, and are told to end where they are given: faces of a box at its corners.
fn depth_of_element(element: &[f64], axis: usize, down: f64) -> f64 {
    let (kind, depth, along) = (element[9], down * element[axis], down * element[3 + axis]);
    if kind == f64::from(SPHERE) {
        depth + element[6]
    } else if kind == f64::from(FRUSTUM) {
        let ([height, base, end], lean) = ([element[6], element[7], element[8]], (1.0 - along * along).max(0.0).sqrt());
        depth + (base * lean).max(height * along + end * lean)
    } else if along < -UPWARD {
        f64::INFINITY
    } else {
        depth
    }
}

impl Flow {
    /// Particles of fluid that are below all walls by more than a spacing, as the host saw them last: nothing is there to stop them. None where gravity
    /// is along no axis.
    fn below_all_walls(&self, walls: &Walls) -> Vec<usize> {
        let gravity = array(&self.stepping.gravity);
        let is_down = |axis: &usize| gravity[*axis].abs() > DOWNWARD * self.stepping.gravity.length();
        let Some(axis) = (0..3).find(is_down) else {
            return Vec::new();
        };
        let down = gravity[axis].signum();
        let depth = |i: usize| down * self.fields.position[i * RECORD + axis];
        // Walls of Müller's fluid have no particles.
        let elements = walls.elements.chunks_exact(ELEMENT).zip(0..);
        let holding = elements.filter(|(_, element)| self.muller.is_some() && walls.is_there(*element));
        let of_elements = holding.map(|(record, _)| depth_of_element(record, axis, down));
        let of_walls = self.walls.iter().map(|&i| depth(i as usize)).chain(of_elements);
        let lowest = of_walls.fold(f64::NEG_INFINITY, f64::max);
        let is_below = |i: &usize| lowest.is_finite() && depth(*i) > lowest + self.plan.spacing;
        self.of_fluid().filter(is_below).collect()
    }
}

impl Simulation {
    /// What should be told of fluid that leaked, or flowed over a rim, if any is seen: in a world without a domain nothing takes it away, and nothing
    /// stops the run. On a GPU it is seen as of the last observation.
    pub fn leak_of_fluids(&self) -> Option<String> {
        let flow = self.flow.as_ref().filter(|_| self.domain.is_none())?;
        let below = flow.below_all_walls(&self.walls);
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
