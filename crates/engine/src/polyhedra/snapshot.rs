//! A polyhedral grain at one time.

use crate::world::{Vec3, array, vector};
use seixo_sweeps::bodies::orientation_at;

/// A polyhedral grain at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolyhedronSnapshot {
    /// Its id.
    pub id: u32,
    /// Index into [`crate::world::World::shapes`].
    pub shape: u32,
    /// Radius of the bounding sphere about the center of mass: the scale of the shape \[m\].
    pub radius: f64,
    /// Center of mass \[m\].
    pub center: Vec3,
    /// Unit quaternion w x y z that rotates vectors of the shape into space.
    pub orientation: [f64; 4],
    /// Velocity of the center of mass \[m/s\].
    pub velocity: Vec3,
}

impl PolyhedronSnapshot {
    /// A direction of the shape, in space.
    pub fn turned(&self, direction: Vec3) -> Vec3 {
        array(&orientation_at(&self.orientation, 0).to_space(&vector(direction)))
    }

    /// Position in space \[m\] of a point of the shape, in scales.
    pub fn place(&self, point: Vec3) -> Vec3 {
        let arm = self.turned(point);
        [0, 1, 2].map(|axis| self.center[axis] + self.radius * arm[axis])
    }
}
