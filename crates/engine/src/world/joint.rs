//! Joints of rigid bodies to space.

use super::{Body, Domain, Vec3};
use crate::contact_records::array;
use crate::joints::{bearing_of, start_of};
use crate::simulation::vector;
use seixo_laws::Vector3;
use seixo_sweeps::joints::Bearing;

/// What ties a rigid body to space: it bears all that it does not let through, without friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// The body turns about an axis that stands still.
    Hinge {
        /// A point of the axis \[m\].
        through: Vec3,
        /// Direction of the axis, of any length.
        axis: Vec3,
    },
    /// A point of the body stands still, about which it turns freely.
    Ball {
        /// The point \[m\].
        through: Vec3,
    },
    /// The body moves along a direction, and does not turn.
    Slider {
        /// The direction, of any length.
        along: Vec3,
    },
}

/// Why a body cannot be on its joint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct JointFlaw {
    /// What is wrong, with value and limit.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

/// By which share of themselves velocities may be off from those that a joint lets through: what a few digits of a scene leave.
const ROUNDING: f64 = 1e-6;
/// By how much a direction may be off from an axis of the domain.
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

    /// Whether its numbers are those of a joint, or what is wrong with them.
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
    /// Why it cannot be on its joint in this domain: with numbers that are none, a motion that is prescribed as well, velocities that the joint does not
    /// let through, or where it would swing or slide through periodic sides in a way that cannot be followed.
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
        // On a pivot, a velocity that is left out follows.
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
        let bearing = bearing_of(self, joint);
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

    /// How far its center of mass and its grains get from the pivot along an axis \[m\].
    fn swing(&self, bearing: &Bearing<f64>, axis: usize) -> f64 {
        let offsets = self.carries.iter().map(|(_, offset)| vector(*offset)).chain([Vector3::zero()]);
        let reach = |offset: Vector3<f64>| {
            let arm = self.turn().turned(&bearing.lever.plus(&offset));
            // The axis of a ball joint is zero, so all of the arm is across it.
            let (along, slope) = (arm.dot(&bearing.axis), component(&bearing.axis, axis));
            let across = arm.minus(&bearing.axis.times(along)).length();
            (along * slope).abs() + across * (1.0 - slope * slope).max(0.0).sqrt()
        };
        offsets.map(reach).fold(0.0, f64::max)
    }
}
