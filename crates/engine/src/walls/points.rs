//! Points of walls: where they are and how fast, for what moves with a wall and is not one of its elements.

use super::motion::{Stance, is_moving};
use super::{Walls, vector};
use crate::world::{Vec3, Wall};
use seixo_laws::Vector3;
use seixo_sweeps::pose::SERVO;
use seixo_sweeps::views::{WALL, load};

impl Walls {
    /// Upper bound of how far any wall moved between two times \[m\]; of servos, as far as they can have gone.
    pub fn moved_between(&self, then: f64, now: f64) -> f64 {
        let moving = self.given.iter().enumerate().filter(|(_, wall)| is_moving(&wall.motion));
        let moved = moving.map(|(index, Wall { motion, .. })| {
            let limit = self.servos[index * SERVO + 5];
            let at = |time: f64| Stance::at(motion, time);
            at(now).distance(&at(then), self.farthest[index], &Vector3::zero()) + limit * (now - then)
        });
        moved.fold(0.0, f64::max)
    }

    /// Whether a wall moves.
    pub fn moves(&self, wall: usize) -> bool {
        is_moving(&self.given[wall].motion)
    }

    /// Which walls are there.
    pub fn all_there(&self) -> &[bool] {
        &self.there
    }

    /// The point of a wall's axis now \[m\].
    pub fn axis_point(&self, wall: usize) -> Vector3<f64> {
        load(&self.records, wall * WALL)
    }

    /// Whether the surface of a wall runs while the wall stands.
    pub fn has_running(&self) -> bool {
        self.records.chunks_exact(WALL).any(|record| record[10] > 0.0)
    }

    /// Where a point of a wall at time zero is now \[m\], and its velocity, or that of the surface there if it runs \[m/s\].
    pub fn point(&self, wall: usize, point: &Vec3) -> [Vec3; 2] {
        let place = self.moved(wall, point);
        let from_axis = vector(&place).minus(&self.axis_point(wall));
        let record = |at: usize| load::<f64>(&self.records, wall * WALL + at);
        let of_surface = record(15).cross(&vector(&place).minus(&record(18))).plus(&record(12));
        let Vector3 { x, y, z } = record(3).plus(&record(6).cross(&from_axis)).plus(&of_surface);
        [place, [x, y, z]]
    }
}
