//! Probes of rigid bodies, and of loads on groups of grains.

use super::outputs::Sample;
use seixo_analysis::center_of_group;
use seixo_engine::PeriodicCell;
use seixo_laws::{Quaternion, Vector3};
use std::collections::BTreeSet;

/// Force \[N\] and torque \[N m\] about a point.
#[derive(Clone, Copy)]
struct Load {
    force: Vector3<f64>,
    torque: Vector3<f64>,
}

impl Load {
    const NONE: Load = Load {
        force: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
        torque: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
    };

    /// Adds a force and torque about a point `arm` away from that of this load \[m\].
    fn plus(&self, [force, torque]: [[f64; 3]; 2], arm: &Vector3<f64>) -> Load {
        let force = vector(force);
        Load {
            force: self.force.plus(&force),
            torque: self.torque.plus(&vector(torque)).plus(&arm.cross(&force)),
        }
    }

    fn values(&self) -> [f64; 6] {
        let Load { force, torque } = self;
        [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    }
}

fn vector([x, y, z]: [f64; 3]) -> Vector3<f64> {
    Vector3 { x, y, z }
}

/// Returns the vector from a point to another one, or to its nearest image \[m\].
fn arm(from: [f64; 3], to: [f64; 3], cell: &PeriodicCell) -> Vector3<f64> {
    let apart = [0, 1, 2].map(|axis| to[axis] - from[axis]);
    vector(cell.nearest(apart).of(apart))
}

/// Returns the load on a group about a point, or about its center of mass: by contacts, bonds and external loads, and by fluids.
pub(super) fn load_on_group(sample: &Sample, group: u32, about: Option<[f64; 3]>) -> [f64; 12] {
    let grains = sample.grains();
    let about = about.unwrap_or_else(|| center_of_group(grains, group));
    let (mut of_grains, mut of_fluids, mut bodies) = (Load::NONE, Load::NONE, BTreeSet::new());
    for index in (0..grains.id.len()).filter(|&index| grains.group[index] == group) {
        match grains.body.get(index).and_then(|&body| u32::try_from(body).ok()) {
            Some(body) => {
                bodies.insert(body);
            }
            None => {
                let arm = arm(about, grains.position[index], &grains.cell);
                of_grains = of_grains.plus([grains.force[index], grains.torque[index]], &arm);
            }
        }
    }
    let [by_grains, by_fluids] = sample.loads_on_bodies();
    for (index, body) in sample.bodies().iter().enumerate().filter(|(_, body)| bodies.contains(&body.id)) {
        let arm = arm(about, body.center, &grains.cell);
        of_grains = of_grains.plus(by_grains[index], &arm);
        of_fluids = of_fluids.plus(by_fluids[index], &arm);
    }
    let [contact, fluid] = [of_grains.values(), of_fluids.values()];
    std::array::from_fn(|k| if k < 6 { contact[k] } else { fluid[k - 6] })
}

/// Returns position, rotation, velocity and angular velocity of a body, and the load on it as in [`load_on_group()`]; NaN once it has left.
pub(super) fn motion_and_load(sample: &Sample, id: u32, start: &[f64; 4], about: Option<[f64; 3]>) -> [f64; 24] {
    let Some(index) = sample.bodies().iter().position(|body| body.id == id) else {
        return [f64::NAN; 24];
    };
    let body = &sample.bodies()[index];
    let rotation = quaternion(&body.orientation).after(&quaternion(start).back());
    let arm = arm(about.unwrap_or(body.center), body.center, &sample.grains().cell);
    let [contact, fluid] = sample
        .loads_on_bodies()
        .each_ref()
        .map(|loads| Load::NONE.plus(loads[index], &arm).values());
    let motion = [body.center, angles(&rotation), body.velocity, body.angular_velocity];
    let all = motion.as_flattened().iter().chain(&contact).chain(&fluid);
    let mut values = [0.0; 24];
    values.iter_mut().zip(all).for_each(|(value, &found)| *value = found);
    values
}

fn quaternion(&[w, x, y, z]: &[f64; 4]) -> Quaternion<f64> {
    Quaternion { w, x, y, z }
}

/// Returns the angles of the rotations about x, then y, then z, which are axes fixed in space, that make up a rotation \[rad\]: from the rotation matrix
/// R = R_z(yaw) R_y(pitch) R_x(roll).
fn angles(rotation: &Quaternion<f64>) -> [f64; 3] {
    let turned = |x: f64, y: f64, z: f64| rotation.to_space(&Vector3 { x, y, z });
    let (x, y, z) = (turned(1.0, 0.0, 0.0), turned(0.0, 1.0, 0.0), turned(0.0, 0.0, 1.0));
    [y.z.atan2(z.z), (-x.z).clamp(-1.0, 1.0).asin(), x.y.atan2(x.x)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rotation by an angle about an axis of space.
    fn about(axis: usize, angle: f64) -> Quaternion<f64> {
        let mut parts = [(0.5 * angle).cos(), 0.0, 0.0, 0.0];
        parts[axis + 1] = (0.5 * angle).sin();
        quaternion(&parts)
    }

    #[test]
    fn rotations_about_three_axes_in_turn_give_their_angles() {
        for [roll, pitch, yaw] in [[0.3, -0.7, 2.0], [-3.0, 1.5, 0.0], [0.0, 0.0, -3.1], [1.0, 0.0, 0.0]] {
            let rotation = about(2, yaw).after(&about(1, pitch)).after(&about(0, roll));
            let found = angles(&rotation);
            let off = [roll - found[0], pitch - found[1], yaw - found[2]];
            assert!(off.iter().all(|off| off.abs() < 1e-12), "{found:?}");
        }
    }

    #[test]
    fn a_force_has_the_torque_of_its_arm() {
        // 2 N along z, a meter away along x: −2 N m about y.
        let load = Load::NONE.plus([[0.0, 0.0, 2.0], [0.0, 0.5, 0.0]], &vector([1.0, 0.0, 0.0]));
        assert_eq!(load.values(), [0.0, 0.0, 2.0, 0.0, -1.5, 0.0]);
    }
}
