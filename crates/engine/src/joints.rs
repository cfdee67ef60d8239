//! Bodies on joints to space: how each joint bears its body, found once from the world.

use crate::contact_records::array;
use crate::principal::principal;
use crate::simulation::vector;
use crate::world::{Body, Joint, Vec3};
use seixo_laws::wall::perpendicular;
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::bodies::store_turn;
use seixo_sweeps::joints::{BALL, Bearing, HINGE, JOINT, LOOSE, SLIDER, bearing_at, turning_left, velocity_on};
use seixo_sweeps::views::store;
use std::collections::HashMap;

/// No turn.
const AS_IT_IS: Quaternion<f64> = Quaternion {
    w: 1.0,
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

/// The turn of the axes of space into these three, which are of length one, at right angles and right-handed.
fn turn_into([x, y, z]: [Vec3; 3]) -> Quaternion<f64> {
    // Four ways to the same quaternion, each by one of its numbers: the largest of these loses no digits [Shepperd 1978].
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

/// Principal moments of inertia of a body about a pivot \[kg m²\] from which its center of mass is this far, in its frame \[m\], and what turns the
/// principal axes there into that frame.
fn about_pivot(body: &Body, lever: &Vector3<f64>) -> (Vector3<f64>, Quaternion<f64>) {
    let (arm, square) = (array(lever), lever.dot(lever));
    let mut inertia = [0, 1, 2].map(|i| [0, 1, 2].map(|j| -body.mass * arm[i] * arm[j]));
    for (k, row) in inertia.iter_mut().enumerate() {
        row[k] += body.moments[k] + body.mass * square;
    }
    let [(a, x), (b, y), (c, _)] = principal(inertia);
    let z = array(&vector(x).cross(&vector(y)));
    (vector([a, b, c]), turn_into([x, y, z]))
}

/// How the joint of a body bears it.
pub(crate) fn bearing_of(body: &Body, joint: &Joint) -> Bearing<f64> {
    let (start, center) = (body.turn(), vector(body.center));
    let unit = |direction: Vec3| {
        let direction = vector(direction);
        direction.times(1.0 / direction.length())
    };
    let seen = |from: &Vector3<f64>| start.back().turned(&center.minus(from));
    match *joint {
        Joint::Hinge { through, axis } => {
            let (through, axis) = (vector(through), unit(axis));
            let point = through.plus(&axis.times(center.minus(&through).dot(&axis)));
            let (lever, own) = (seen(&point), start.back().turned(&axis));
            let [x, y, z] = body.moments;
            let moment = x * own.x * own.x + y * own.y * own.y + z * own.z * own.z + body.mass * lever.dot(&lever);
            let across = perpendicular(&own);
            Bearing {
                kind: f64::from(HINGE),
                point,
                axis,
                lever,
                moments: vector([moment; 3]),
                frame: turn_into([across, own.cross(&across), own].map(|axis| array(&axis))),
                start,
            }
        }
        Joint::Ball { through } => {
            let point = vector(through);
            let lever = seen(&point);
            let (moments, frame) = about_pivot(body, &lever);
            Bearing {
                kind: f64::from(BALL),
                point,
                axis: Vector3::zero(),
                lever,
                moments,
                frame,
                start,
            }
        }
        Joint::Slider { along } => Bearing {
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

/// Velocity \[m/s\] and angular velocity \[rad/s\] with which a body starts: of those that the world gives, what its joint lets through. On a hinge or
/// a ball joint the velocity follows from the angular velocity.
pub(crate) fn start_of(body: &Body) -> [Vector3<f64>; 2] {
    let (velocity, spin) = (vector(body.velocity), vector(body.angular_velocity));
    let Some(joint) = &body.joint else { return [velocity, spin] };
    let bearing = bearing_of(body, joint);
    let spin = turning_left(&spin, &bearing);
    [velocity_on(&bearing, &body.turn(), &spin, &velocity), spin]
}

/// What a joint is to the table of bodies.
fn record_of(body: &Body) -> [f64; JOINT] {
    let mut numbers = [0.0; JOINT];
    if let Some(joint) = &body.joint {
        let bearing = bearing_of(body, joint);
        numbers[0] = bearing.kind;
        store(&mut numbers, 1, &bearing.point);
        store(&mut numbers, 4, &bearing.axis);
        store(&mut numbers, 7, &bearing.lever);
        store(&mut numbers, 10, &bearing.moments);
        store_turn(&mut numbers, 13, &bearing.frame);
        store_turn(&mut numbers, 17, &bearing.start);
    }
    numbers
}

/// The joints of all bodies, [`JOINT`] numbers each in the order of their table; empty where no body has one, and of bodies that came later there are
/// none.
#[derive(Clone, Default)]
pub(crate) struct Joints(Vec<f64>);

impl Joints {
    /// Those of the bodies with these ids, as the world has them.
    pub fn new(given: &[Body], ids: &[u32]) -> Joints {
        let records: HashMap<u32, [f64; JOINT]> = given
            .iter()
            .filter(|body| body.joint.is_some())
            .map(|body| (body.id, record_of(body)))
            .collect();
        if records.is_empty() {
            return Joints::default();
        }
        let record = |id: &u32| records.get(id).copied().unwrap_or([0.0; JOINT]);
        Joints(ids.iter().flat_map(record).collect())
    }

    /// Whether no body ever was on a joint.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their numbers from body b on.
    pub fn rest(&self, b: usize) -> &[f64] {
        self.0.get(b * JOINT..).unwrap_or_default()
    }

    /// The kind of joint that body b is on.
    fn kind(&self, b: usize) -> f64 {
        self.rest(b).first().copied().unwrap_or(f64::from(LOOSE))
    }

    /// Whether body b is on a joint.
    pub fn bears(&self, b: usize) -> bool {
        self.kind(b) != f64::from(LOOSE)
    }

    /// Whether body b is on a joint whose pivot stays where it is.
    pub fn pivots(&self, b: usize) -> bool {
        self.bears(b) && self.kind(b) != f64::from(SLIDER)
    }

    /// The joint of body b, if it is on one.
    pub fn of(&self, b: usize) -> Option<Bearing<f64>> {
        self.bears(b).then(|| bearing_at(&self.0, b))
    }

    /// Keeps only some bodies.
    pub fn kept(&self, stays: impl Fn(usize) -> bool) -> Joints {
        let records = self.0.chunks_exact(JOINT).enumerate().filter(|(b, _)| stays(*b));
        Joints(records.flat_map(|(_, record)| record).copied().collect())
    }

    /// Numbers that the table has room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_give_back_the_turn_that_made_them() {
        // One each of which the first, the second, the third and the last number is the largest.
        for [w, x, y, z] in [
            [0.9, 0.1, -0.3, 0.2],
            [0.1, -0.9, 0.3, 0.2],
            [-0.2, 0.1, 0.9, 0.3],
            [0.0, 0.3, -0.1, 0.9],
        ] {
            let turn = Quaternion { w, x, y, z }.normalized();
            let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            let found = turn_into(units.map(|unit| array(&turn.turned(&vector(unit)))));
            let same = found.w * turn.w + found.x * turn.x + found.y * turn.y + found.z * turn.z;
            assert!((same.abs() - 1.0).abs() < 1e-15, "{found:?} {turn:?}");
        }
    }
}
