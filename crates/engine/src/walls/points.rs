//! What moves with a wall and is not one of its elements.

use super::Walls;
use super::motion::is_moving;
use crate::world::Domain;
use seixo_sweeps::pose::{POSE, SERVO};
use seixo_sweeps::views::WALL;

impl Walls {
    /// Whether a wall moves.
    pub fn moves(&self, wall: usize) -> bool {
        is_moving(&self.given[wall].motion)
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
