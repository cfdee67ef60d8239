//! Motion of a rigid thing: where it takes points and directions.

use glam::{DMat3, DQuat, DVec3};

/// Motion of a rigid thing since the start: a rotation about the origin, then a displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion {
    rotation: DQuat,
    displacement: DVec3,
}

impl RigidMotion {
    /// No motion.
    pub const NONE: RigidMotion = RigidMotion {
        rotation: DQuat::IDENTITY,
        displacement: DVec3::ZERO,
    };

    /// The motion that takes the origin to this point \[m\], with a rotation by a unit quaternion w x y z.
    pub fn new(origin: [f64; 3], rotation: [f64; 4]) -> RigidMotion {
        RigidMotion {
            rotation: quaternion(rotation),
            displacement: origin.into(),
        }
    }

    /// The motion between two poses of a body: its center \[m\], and its orientation as a unit quaternion w x y z.
    pub fn between(start: ([f64; 3], [f64; 4]), now: ([f64; 3], [f64; 4])) -> RigidMotion {
        let rotation = (quaternion(now.1) * quaternion(start.1).inverse()).normalize();
        RigidMotion {
            rotation,
            displacement: DVec3::from(now.0) - rotation * DVec3::from(start.0),
        }
    }

    /// Where it takes a point \[m\].
    pub fn place(&self, point: [f64; 3]) -> [f64; 3] {
        (self.rotation * DVec3::from(point) + self.displacement).to_array()
    }

    /// Where a point was at the start that is here now \[m\].
    pub fn back(&self, point: [f64; 3]) -> [f64; 3] {
        (self.rotation.inverse() * (DVec3::from(point) - self.displacement)).to_array()
    }

    /// Where it turns a direction.
    pub fn turned(&self, direction: [f64; 3]) -> [f64; 3] {
        (self.rotation * DVec3::from(direction)).to_array()
    }

    /// Its rotation as a matrix.
    pub(crate) fn axes(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }

    /// Its numbers, for a checkpoint: the place of the origin \[m\], and the quaternion w x y z.
    pub fn numbers(&self) -> [f64; 7] {
        let ([x, y, z], DQuat { x: i, y: j, z: k, w }) = (self.displacement.to_array(), self.rotation);
        [x, y, z, w, i, j, k]
    }
}

fn quaternion([w, x, y, z]: [f64; 4]) -> DQuat {
    DQuat::from_xyzw(x, y, z, w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_3;

    #[test]
    fn a_point_of_a_body_moves_with_it_and_back() {
        // A third of a half turn about z, through a center that moves: from (1, 0, 0) to (0, 0, 2) m.
        let (sin, cos) = (0.5 * FRAC_PI_3).sin_cos();
        let turned = |half: [f64; 2]| [half[0], 0.0, 0.0, half[1]];
        let motion = RigidMotion::between(([1.0, 0.0, 0.0], turned([1.0, 0.0])), ([0.0, 0.0, 2.0], turned([cos, sin])));
        let [x, y, z] = motion.place([3.0, 0.0, 0.5]);
        assert!((x - 1.0).abs() < 1e-14 && (y - 3.0_f64.sqrt()).abs() < 1e-14 && (z - 2.5).abs() < 1e-14);
        let there = motion.back([x, y, z]);
        assert!((there[0] - 3.0).abs() < 1e-14 && there[1].abs() < 1e-14 && (there[2] - 0.5).abs() < 1e-14);
        let [x, y, _] = motion.turned([0.0, 1.0, 0.0]);
        assert!((x + 0.75_f64.sqrt()).abs() < 1e-14 && (y - 0.5).abs() < 1e-14);
        let numbers = motion.numbers();
        let again = RigidMotion::new(
            [numbers[0], numbers[1], numbers[2]],
            [numbers[3], numbers[4], numbers[5], numbers[6]],
        );
        assert_eq!(again.place([3.0, 0.0, 0.5]), motion.place([3.0, 0.0, 0.5]));
        assert_eq!(RigidMotion::NONE.place([0.1, -0.2, 0.3]), [0.1, -0.2, 0.3]);
        assert_eq!(RigidMotion::NONE.back([0.1, -0.2, 0.3]), [0.1, -0.2, 0.3]);
    }
}
