//! Fluid that leaked out of its walls.

use super::Flow;
use crate::walls::Walls;
use crate::world::array;
use seixo_sweeps::layout::{ELEMENT, FRUSTUM, RECORD, SPHERE, TRIANGLE};

/// Smallest share of gravity along one axis at which that axis is vertical.
const DOWNWARD: f64 = 0.9;

/// Smallest vertical component of its normal at which a plane faces up.
const UPWARD: f64 = 1e-6;

/// Depth of the lowest point of a wall element along an axis with the sign `down` of gravity \[m\]. A plane that faces up stops all that falls; other
/// planes stop nothing. They count as ending at their given points: faces of a box at its corners.
fn depth_of_element(element: &[f64], axis: usize, down: f64) -> f64 {
    let (kind, depth, along) = (element[9], down * element[axis], down * element[3 + axis]);
    if kind == f64::from(TRIANGLE) {
        depth.max(along).max(down * element[6 + axis])
    } else if kind == f64::from(SPHERE) {
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
    /// Fluid particles that are below all walls by more than a spacing, at the last observation: nothing there can stop them. None if gravity is
    /// along no axis.
    pub(crate) fn below_all_walls(&self, walls: &Walls) -> Vec<usize> {
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
