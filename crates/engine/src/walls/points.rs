//! Positions of wall elements, and other data of moving walls.

use super::Walls;
use super::motion::is_moving;
use crate::world::Domain;
use seixo_sweeps::layout::WALL;
use seixo_sweeps::wall_pose::{POSE, SERVO, place_element, place_wall};
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

    /// Writes the records of moving walls (or `all`) and of their elements in these poses, see [`POSE`].
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

    /// Whether each wall exists.
    pub fn all_there(&self) -> &[bool] {
        &self.there
    }

    /// Whether a wall has a surface motion.
    pub fn has_running(&self) -> bool {
        self.records.chunks_exact(WALL).any(|record| record[10] > 0.0)
    }

    /// Appends poses, as [`Walls::poses`] gives them, with walls shifted along periodic sides by whole lengths: to within half a length of their
    /// positions at the start of their motions.
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
