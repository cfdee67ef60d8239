//! Wall poses: elements and records of walls at the pose of a step, and their motion by servos.
//!
//! ```
//! use seixo_sweeps::wall_pose::{SERVO, steer};
//! // A servo along z with a target load of 10 N. Without load it moves at its limit of 0.1 m/s. At the target load it stands still.
//! let mut servo = [0.0; SERVO];
//! servo[2..6].copy_from_slice(&[1.0, 10.0, 0.5, 0.1]);
//! steer::<f64>(0, 0.0, 0.0, 1.0, 2.0, &mut servo);
//! assert_eq!((servo[7], servo[8]), (0.2, 0.1));
//! steer::<f64>(0, 10.0, 1.0, 1.0, 2.0, &mut servo);
//! assert_eq!((servo[7], servo[8]), (0.2, 0.0));
//! ```

use crate::layout::{TRIANGLE, load, store};
use cubecl::prelude::*;
use seixo_laws::wall::{acceleration_of_point, rotated, servo_speed, velocity_of_point};
use seixo_laws::{Real, Vector3, larger};

/// Numbers of a pose: present point of the axis, the axis, cosine and sine of the angle of rotation, velocity of the axis, angular velocity about it,
/// whether a servo acts in the next step, acceleration of the axis, angular acceleration about it; and for a wall in a moving frame, else zero: angular
/// velocity and angular acceleration normal to the axis, and 1.
pub const POSE: usize = 24;

/// Numbers of a servo: unit direction, target load, gain, limit of the speed, whether the gain is per grain in contact; displacement so far, speed,
/// padding. All are zero for a wall without a servo.
pub const SERVO: usize = 12;

/// The present point of the wall's axis.
#[cube]
#[inline(always)]
fn axis_point<C: Real>(poses: &[C], pose: usize, servos: &[C], wall: usize) -> Vector3<C> {
    let servo = wall * 12usize;
    load::<C>(poses, pose).plus(&load::<C>(servos, servo).times(servos[servo + 7usize]))
}

/// A direction of the wall, rotated to its present orientation.
#[cube]
#[inline(always)]
fn turned<C: Real>(v: &Vector3<C>, poses: &[C], pose: usize) -> Vector3<C> {
    rotated::<C>(v, &load::<C>(poses, pose + 3usize), poses[pose + 6usize], poses[pose + 7usize])
}

/// Angular velocity of the wall.
#[cube]
#[inline(always)]
fn turning<C: Real>(poses: &[C], pose: usize) -> Vector3<C> {
    let mut spin = load::<C>(poses, pose + 3usize).times(poses[pose + 11usize]);
    if poses[pose + 23usize] > C::new(0.0) {
        spin = spin.plus(&load::<C>(poses, pose + 17usize));
    }
    spin
}

/// Angular acceleration of the wall.
#[cube]
#[inline(always)]
fn turning_faster<C: Real>(poses: &[C], pose: usize) -> Vector3<C> {
    let mut spin_up = load::<C>(poses, pose + 3usize).times(poses[pose + 16usize]);
    if poses[pose + 23usize] > C::new(0.0) {
        spin_up = spin_up.plus(&load::<C>(poses, pose + 20usize));
    }
    spin_up
}

/// Moves element `e` to the present pose of its wall. `start` holds its record at time zero, and `at_rest` the records of walls then. `first_pose` is
/// the index of the first of the present poses.
#[cube]
pub fn place_element<C: Real>(e: usize, start: &[C], at_rest: &[C], poses: &[C], first_pose: usize, servos: &[C], elements: &mut [C]) {
    let at = e * 12usize;
    let wall = C::whole(start[at + 10usize]) as usize;
    let pose = (first_pose + wall) * 24usize;
    let from = load::<C>(at_rest, wall * 24usize);
    let to = axis_point::<C>(poses, pose, servos, wall);
    let first = load::<C>(start, at).minus(&from);
    store::<C>(elements, at, &turned::<C>(&first, poses, pose).plus(&to));
    // For all kinds except triangles, the second three numbers are a direction, and the rest are lengths.
    let mut second = turned::<C>(&load::<C>(start, at + 3usize), poses, pose);
    let mut third = load::<C>(start, at + 6usize);
    if start[at + 9usize] == C::new(TRIANGLE) {
        second = turned::<C>(&load::<C>(start, at + 3usize).minus(&from), poses, pose).plus(&to);
        third = turned::<C>(&third.minus(&from), poses, pose).plus(&to);
    }
    store::<C>(elements, at + 3usize, &second);
    store::<C>(elements, at + 6usize, &third);
}

/// Writes the present motion of a wall to its record. Arguments are those of [`place_element()`].
#[cube]
pub fn place_wall<C: Real>(wall: usize, at_rest: &[C], poses: &[C], first_pose: usize, servos: &[C], records: &mut [C]) {
    let at = wall * 24usize;
    let pose = (first_pose + wall) * 24usize;
    let servo = wall * 12usize;
    let to = axis_point::<C>(poses, pose, servos, wall);
    store::<C>(records, at, &to);
    let velocity = load::<C>(poses, pose + 8usize).plus(&load::<C>(servos, servo).times(servos[servo + 8usize]));
    store::<C>(records, at + 3usize, &velocity);
    store::<C>(records, at + 6usize, &turning::<C>(poses, pose));
    store::<C>(records, at + 12usize, &turned::<C>(&load::<C>(at_rest, at + 12usize), poses, pose));
    store::<C>(records, at + 15usize, &turned::<C>(&load::<C>(at_rest, at + 15usize), poses, pose));
    let from_axis = load::<C>(at_rest, at + 18usize).minus(&load::<C>(at_rest, at));
    store::<C>(records, at + 18usize, &turned::<C>(&from_axis, poses, pose).plus(&to));
}

/// Present motion of a point of a wall.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct WallPoint<C: Real> {
    /// Vector from the point of the wall's axis \[m\].
    pub arm: Vector3<C>,
    /// Position \[m\].
    pub position: Vector3<C>,
    /// Velocity, including that of a moving surface \[m/s\].
    pub velocity: Vector3<C>,
    /// Acceleration, without that of a servo, whose speed may jump \[m/s²\].
    pub acceleration: Vector3<C>,
}

/// Motion of the point of a wall that is at `start` at the start of the wall's motion. Other arguments are those of [`place_element()`].
#[cube]
#[inline(always)]
pub fn point_of_wall<C: Real>(
    wall: usize,
    start: &Vector3<C>,
    at_rest: &[C],
    poses: &[C],
    first_pose: usize,
    servos: &[C],
) -> WallPoint<C> {
    let rest = wall * 24usize;
    let pose = (first_pose + wall) * 24usize;
    let servo = wall * 12usize;
    let arm = turned::<C>(&start.minus(&load::<C>(at_rest, rest)), poses, pose);
    let spin = turning::<C>(poses, pose);
    let spin_up = turning_faster::<C>(poses, pose);
    let of_axis = load::<C>(poses, pose + 8usize).plus(&load::<C>(servos, servo).times(servos[servo + 8usize]));
    let running = turned::<C>(&load::<C>(at_rest, rest + 12usize), poses, pose);
    let rolling = turned::<C>(&load::<C>(at_rest, rest + 15usize), poses, pose);
    let from_roller = turned::<C>(&start.minus(&load::<C>(at_rest, rest + 18usize)), poses, pose);
    let of_surface = velocity_of_point::<C>(&running, &rolling, &from_roller);
    WallPoint::<C> {
        position: axis_point::<C>(poses, pose, servos, wall).plus(&arm),
        velocity: velocity_of_point::<C>(&of_axis, &spin, &arm).plus(&of_surface),
        acceleration: acceleration_of_point::<C>(&load::<C>(poses, pose + 13usize), &spin_up, &spin, &arm),
        arm,
    }
}

/// Present angular velocity of a wall, including that of a moving surface \[rad/s\]. Without `poses` walls are at rest. Other arguments are those of
/// [`place_element()`].
#[cube]
#[inline(always)]
pub fn spin_of_wall<C: Real>(wall: usize, at_rest: &[C], poses: &[C], first_pose: usize, #[comptime] has_poses: bool) -> Vector3<C> {
    let mut spin = load::<C>(at_rest, wall * 24usize + 15usize);
    if comptime!(has_poses) {
        let pose = (first_pose + wall) * 24usize;
        spin = turned::<C>(&spin, poses, pose).plus(&turning::<C>(poses, pose));
    }
    spin
}

/// Advances the servo of a wall by a step, from its load \[N\] and the number of grains in contact. It stands still unless `is_on`.
#[cube]
pub fn steer<C: Real>(wall: usize, load: C, touching: C, is_on: C, dt: C, servos: &mut [C]) {
    let at = wall * 12usize;
    let mut gain = servos[at + 4usize];
    if servos[at + 6usize] > C::new(0.0) {
        gain /= larger::<C>(touching, C::new(1.0));
    }
    let speed = servo_speed::<C>(load, servos[at + 3usize], gain, servos[at + 5usize]) * is_on;
    servos[at + 7usize] += speed * dt;
    servos[at + 8usize] = speed;
}
