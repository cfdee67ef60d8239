//! Joints of rigid bodies to space.

use super::principal::principal;
use super::{Body, Domain, Vec3};
use crate::world::{array, vector};
use seixo_laws::wall::perpendicular;
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::joints::{BALL, HINGE, JointConstraint, SLIDER, unconstrained_rotation, velocity_on};

/// A joint of a rigid body to space. It bears the forces and torques in its constrained directions, without friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// The body rotates about a fixed axis.
    Hinge {
        /// A point of the axis \[m\].
        through: Vec3,
        /// Direction of the axis, of any length.
        axis: Vec3,
    },
    /// The body rotates freely about a fixed point.
    Ball {
        /// The point \[m\].
        through: Vec3,
    },
    /// The body moves along a direction and does not rotate.
    Slider {
        /// The direction, of any length.
        along: Vec3,
    },
}

/// Reason for which a body cannot be on its joint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct JointFlaw {
    /// The problem, with value and limit.
    pub what: String,
    /// Remedy.
    pub remedy: &'static str,
}

/// Largest relative deviation of a velocity from those that a joint permits: rounding to a few digits in a scene.
const ROUNDING: f64 = 1e-6;
/// Largest deviation of a direction from an axis of the domain.
const SLANT: f64 = 1e-9;

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

fn component(v: &Vector3<f64>, axis: usize) -> f64 {
    array(v)[axis]
}

impl Joint {
    fn name(&self) -> &'static str {
        match self {
            Joint::Hinge { .. } => "hinge",
            Joint::Ball { .. } => "ball joint",
            Joint::Slider { .. } => "slider",
        }
    }

    /// Invalid number of the joint, if there is one.
    fn flaw(&self) -> Option<JointFlaw> {
        let (point, direction) = match *self {
            Joint::Hinge { through, axis } => (Some(through), Some(axis)),
            Joint::Ball { through } => (Some(through), None),
            Joint::Slider { along } => (None, Some(along)),
        };
        if let Some(point) = point.filter(|point| point.iter().any(|x| x.is_nan() || x.abs() >= 1e15)) {
            return Some(JointFlaw {
                what: format!("its {} goes through {point:?} m", self.name()),
                remedy: "give three finite numbers, below 1e15",
            });
        }
        let points_nowhere = |direction: &Vec3| {
            let length = vector(*direction).length();
            !(length.is_finite() && length > 0.0)
        };
        direction.filter(points_nowhere).map(|direction| JointFlaw {
            what: format!("the direction {direction:?} of its {} points nowhere", self.name()),
            remedy: "give a direction of some finite length",
        })
    }
}

impl Body {
    /// Reason for which the body cannot be on its joint in this domain, if there is one.
    ///
    /// Reasons are invalid numbers, a prescribed motion as well, velocities that the joint does not permit, and rotation or sliding through
    /// periodic sides that cannot be followed.
    pub fn flaw_of_joint(&self, domain: Option<&Domain>) -> Option<JointFlaw> {
        let joint = self.joint.as_ref()?;
        if self.motion.is_some() {
            return Some(JointFlaw {
                what: format!("it is held, and on a {}", joint.name()),
                remedy: "keep the motion that is prescribed, or the joint",
            });
        }
        let of_velocities = || self.flaw_of_velocities(joint);
        let of_sides = || self.flaw_of_sides(joint, domain?);
        joint.flaw().or_else(of_velocities).or_else(of_sides)
    }

    fn flaw_of_velocities(&self, joint: &Joint) -> Option<JointFlaw> {
        let [velocity, spin] = start_of(self);
        let is_off = |given: Vec3, left: &Vector3<f64>| {
            let given = vector(given);
            given.minus(left).length() > ROUNDING * (given.length() + left.length())
        };
        let name = joint.name();
        if is_off(self.angular_velocity, &spin) {
            return Some(JointFlaw {
                what: format!(
                    "its {name} lets through {:?} rad/s of its angular velocity of {:?} rad/s",
                    array(&spin),
                    self.angular_velocity
                ),
                remedy: "let it turn about the axis of a hinge, and not at all on a slider",
            });
        }
        // On a hinge or ball joint, a velocity that is not given follows from the angular velocity.
        let is_left_out = self.velocity == [0.0; 3];
        (!is_left_out && is_off(self.velocity, &velocity)).then(|| JointFlaw {
            what: format!(
                "with its angular velocity, its {name} lets it have a velocity of {:?} m/s, not of {:?} m/s",
                array(&velocity),
                self.velocity
            ),
            remedy: "leave the velocity out, which on a pivot follows from the angular velocity, or let it be along the slider",
        })
    }

    fn flaw_of_sides(&self, joint: &Joint, domain: &Domain) -> Option<JointFlaw> {
        let bearing = constraint_of(self, joint);
        (0..3).filter(|&axis| domain.periodic[axis]).find_map(|axis| {
            let (name, length) = (AXES[axis], domain.max[axis] - domain.min[axis]);
            if matches!(joint, Joint::Slider { .. }) {
                let slope = component(&bearing.axis, axis).abs();
                return (slope > SLANT && slope < 1.0 - SLANT).then(|| JointFlaw {
                    what: format!(
                        "its slider along {:?} leads aslant through sides that are periodic along {name}",
                        array(&bearing.axis)
                    ),
                    remedy: "let it lead along an axis of the domain, or open these sides",
                });
            }
            let pivot = component(&bearing.point, axis);
            if !(domain.min[axis]..=domain.max[axis]).contains(&pivot) {
                return Some(JointFlaw {
                    what: format!(
                        "the pivot of its {} is at {name} = {pivot} m, outside of periodic sides at {} and {} m",
                        joint.name(),
                        domain.min[axis],
                        domain.max[axis]
                    ),
                    remedy: "put it into the domain, or open these sides",
                });
            }
            let reach = self.swing(&bearing, axis);
            (reach >= 0.5 * length).then(|| JointFlaw {
                what: format!(
                    "on its {} it reaches {reach:.4e} m along {name}, where the domain is periodic after {length:.4e} m; less than half of that can be followed",
                    joint.name()
                ),
                remedy: "enlarge world.domain, or open these sides",
            })
        })
    }

    /// Largest distance of its center of mass and its grains from the pivot along an axis \[m\].
    fn swing(&self, bearing: &JointConstraint<f64>, axis: usize) -> f64 {
        let offsets = self.carries.iter().map(|(_, offset)| vector(*offset)).chain([Vector3::zero()]);
        let reach = |offset: Vector3<f64>| {
            let arm = self.quaternion().to_space(&bearing.lever.plus(&offset));
            // The axis of a ball joint is zero, so the whole arm is perpendicular to it.
            let (along, slope) = (arm.dot(&bearing.axis), component(&bearing.axis, axis));
            let across = arm.minus(&bearing.axis.times(along)).length();
            (along * slope).abs() + across * (1.0 - slope * slope).max(0.0).sqrt()
        };
        offsets.map(reach).fold(0.0, f64::max)
    }
}

/// The identity rotation.
const AS_IT_IS: Quaternion<f64> = Quaternion {
    w: 1.0,
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

/// Rotation of the axes of space to these three orthonormal, right-handed axes.
pub(crate) fn rotation_to_axes([x, y, z]: [Vec3; 3]) -> Quaternion<f64> {
    // Four formulas for the same quaternion, each with a division by one of its numbers: the largest of these loses no digits [Shepperd 1978].
    let ways = [
        [1.0 + x[0] + y[1] + z[2], y[2] - z[1], z[0] - x[2], x[1] - y[0]],
        [y[2] - z[1], 1.0 + x[0] - y[1] - z[2], x[1] + y[0], z[0] + x[2]],
        [z[0] - x[2], x[1] + y[0], 1.0 - x[0] + y[1] - z[2], y[2] + z[1]],
        [x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 - x[0] - y[1] + z[2]],
    ];
    let best = (1..4).fold(0, |best, k| if ways[k][k] > ways[best][best] { k } else { best });
    let [w, x, y, z] = ways[best];
    Quaternion { w, x, y, z }.normalized()
}

/// Principal moments of inertia of a body about a pivot \[kg m²\], and the rotation of the principal axes there into the frame of the body.
/// `lever` is the vector from the pivot to the center of mass in this frame \[m\].
fn about_pivot(body: &Body, lever: &Vector3<f64>) -> (Vector3<f64>, Quaternion<f64>) {
    let (arm, square) = (array(lever), lever.dot(lever));
    let mut inertia = [0, 1, 2].map(|i| [0, 1, 2].map(|j| -body.mass * arm[i] * arm[j]));
    for (k, row) in inertia.iter_mut().enumerate() {
        row[k] += body.moments[k] + body.mass * square;
    }
    let [(a, x), (b, y), (c, _)] = principal(inertia);
    let z = array(&vector(x).cross(&vector(y)));
    (vector([a, b, c]), rotation_to_axes([x, y, z]))
}

/// Constraint of the joint of a body.
pub(crate) fn constraint_of(body: &Body, joint: &Joint) -> JointConstraint<f64> {
    let (start, center) = (body.quaternion(), vector(body.center));
    let unit = |direction: Vec3| {
        let direction = vector(direction);
        direction.times(1.0 / direction.length())
    };
    let seen = |from: &Vector3<f64>| start.back().to_space(&center.minus(from));
    match *joint {
        Joint::Hinge { through, axis } => {
            let (through, axis) = (vector(through), unit(axis));
            let point = through.plus(&axis.times(center.minus(&through).dot(&axis)));
            let (lever, own) = (seen(&point), start.back().to_space(&axis));
            let [x, y, z] = body.moments;
            let moment = x * own.x * own.x + y * own.y * own.y + z * own.z * own.z + body.mass * lever.dot(&lever);
            let across = perpendicular(&own);
            JointConstraint {
                kind: f64::from(HINGE),
                point,
                axis,
                lever,
                moments: vector([moment; 3]),
                frame: rotation_to_axes([across, own.cross(&across), own].map(|axis| array(&axis))),
                start,
            }
        }
        Joint::Ball { through } => {
            let point = vector(through);
            let lever = seen(&point);
            let (moments, frame) = about_pivot(body, &lever);
            JointConstraint {
                kind: f64::from(BALL),
                point,
                axis: Vector3::zero(),
                lever,
                moments,
                frame,
                start,
            }
        }
        Joint::Slider { along } => JointConstraint {
            kind: f64::from(SLIDER),
            point: center,
            axis: unit(along),
            lever: Vector3::zero(),
            moments: vector([1.0; 3]),
            frame: AS_IT_IS,
            start,
        },
    }
}

/// Initial velocity \[m/s\] and angular velocity \[rad/s\] of a body: the components of the given ones that its joint permits. On a hinge or
/// a ball joint the velocity follows from the angular velocity.
pub(crate) fn start_of(body: &Body) -> [Vector3<f64>; 2] {
    let (velocity, spin) = (vector(body.velocity), vector(body.angular_velocity));
    let Some(joint) = &body.joint else { return [velocity, spin] };
    let bearing = constraint_of(body, joint);
    let spin = unconstrained_rotation(&spin, &bearing);
    [velocity_on(&bearing, &body.quaternion(), &spin, &velocity), spin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_give_back_the_turn_that_made_them() {
        // One quaternion each in which the first, the second, the third and the last number is the largest.
        for [w, x, y, z] in [
            [0.9, 0.1, -0.3, 0.2],
            [0.1, -0.9, 0.3, 0.2],
            [-0.2, 0.1, 0.9, 0.3],
            [0.0, 0.3, -0.1, 0.9],
        ] {
            let orientation = Quaternion { w, x, y, z }.normalized();
            let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            let found = rotation_to_axes(units.map(|unit| array(&orientation.to_space(&vector(unit)))));
            let same = found.w * orientation.w + found.x * orientation.x + found.y * orientation.y + found.z * orientation.z;
            assert!((same.abs() - 1.0).abs() < 1e-15, "{found:?} {orientation:?}");
        }
    }
}
