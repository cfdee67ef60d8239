//! What moves with walls: their elements, and what else is told of them or goes with them.

use super::Walls;
use super::motion::is_moving;
use crate::world::Domain;
use seixo_sweeps::pose::{POSE, SERVO, place_element, place_wall};
use seixo_sweeps::views::WALL;
use std::ops::Range;

impl Walls {
    /// Whether a wall moves.
    pub fn moves(&self, wall: usize) -> bool {
        is_moving(&self.given[wall].motion)
    }

    /// The elements of a wall.
    pub fn elements_of_wall(&self, wall: usize) -> Range<usize> {
        self.first[wall]..self.first[wall + 1]
    }

    /// Writes the records that moving walls (or `all`) and their elements have in these poses, see [`POSE`].
    pub fn put(&self, poses: &[f64], all: bool, records: &mut [f64], elements: &mut [f64]) {
        for wall in (0..self.given.len()).filter(|&wall| all || self.moves(wall)) {
            place_wall::<f64>(wall, &self.at_rest, poses, 0, &self.servos, records);
            for element in self.elements_of_wall(wall) {
                place_element::<f64>(element, &self.start, &self.at_rest, poses, 0, &self.servos, elements);
            }
        }
        for image in self.images_to_place(all) {
            place_element::<f64>(image, &self.start, &self.at_rest, poses, 0, &self.servos, elements);
        }
    }

    /// Which walls are there.
    pub fn all_there(&self) -> &[bool] {
        &self.there
    }

    /// Whether the surface of a wall runs while the wall stands.
    pub fn has_running(&self) -> bool {
        self.records.chunks_exact(WALL).any(|record| record[10] > 0.0)
    }

    /// Appends poses, as [`Walls::poses`] gives them, with walls brought back along periodic sides by whole lengths: to within half of one from where
    /// they were when their motions began.
    pub fn poses_within(&self, domain: Option<&Domain>, time: f64, poses: &mut Vec<f64>) {
        let first = poses.len();
        poses.extend(self.poses(time, time));
        let Some(domain) = domain else { return };
        let walls = poses[first..].chunks_exact_mut(POSE);
        for ((pose, servo), rest) in walls.zip(self.servos.chunks_exact(SERVO)).zip(self.at_rest.chunks_exact(WALL)) {
            for axis in (0..3).filter(|&axis| domain.periodic[axis]) {
                let length = domain.max[axis] - domain.min[axis];
                let way = pose[axis] + servo[axis] * servo[7] - rest[axis];
                pose[axis] -= length * (way / length).round();
            }
        }
    }
}
