//! Wall poses: elements and records of walls at the pose of a step, and their motion by servos.
//!
//! ```
//! use seixo_sweeps::wall_pose::{SERVO, steer};
//! // A servo along z with a target load of 10 N. Without load it moves at its limit of 0.1 m/s. At the target load it stands still.
//! let mut servo = [0.0; SERVO];
//! servo[2..6].copy_from_slice(&[1.0, 10.0, 0.5, 0.1]);
//! // A force acts on an area of 1 × 1. Elements of walls do not matter then.
//! (servo[14], servo[17]) = (1.0, 1.0);
//! let elements = [0.0; 12];
//! steer::<f64>(0, 0.0, 0.0, 1.0, 2.0, &elements, &mut servo);
//! assert_eq!((servo[7], servo[8]), (0.2, 0.1));
//! steer::<f64>(0, 10.0, 1.0, 1.0, 2.0, &elements, &mut servo);
//! assert_eq!((servo[7], servo[8]), (0.2, 0.0));
//! // In the last step nothing was missing of these 10 N.
//! assert_eq!((servo[18], servo[19]), (0.0, 10.0));
//! ```

use crate::layout::{TRIANGLE, load, store};
use cubecl::prelude::*;
use seixo_laws::rotation::cosine_and_sine;
use seixo_laws::wall::{acceleration_of_point, rotated, servo_action, velocity_of_point};
use seixo_laws::{Real, Vector3, larger};

/// Numbers of a pose: present point of the axis, the axis, cosine and sine of the angle of rotation, velocity of the axis, angular velocity about it,
/// whether a servo acts in the next step, acceleration of the axis, angular acceleration about it; and for a wall in a moving frame, else zero: angular
/// velocity and angular acceleration normal to the axis, and 1.
pub const POSE: usize = 24;

/// Numbers of a servo: unit direction, target load on an area of one, gain, limit of the speed, whether the gain is per grain in contact;
/// displacement so far, speed, integral part of the speed; step over the integral time, full turn; two extents of the area; missing load and target
/// load on the present area in the last step.
///
/// All are zero for a wall without a servo. A servo that turns its wall, about the axis of its pose, has the full turn 2π and no direction; its
/// displacement is an angle. An extent is two elements, which are planes, and a length that is added to their distance.
pub const SERVO: usize = 20;

/// The present point of the wall's axis.
#[cube]
#[inline(always)]
fn axis_point<C: Real>(poses: &[C], pose: usize, servos: &[C], wall: usize) -> Vector3<C> {
    let servo = wall * 20usize;
    load::<C>(poses, pose).plus(&load::<C>(servos, servo).times(servos[servo + 7usize]))
}

/// Rotation of a wall about the axis of its pose.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct WallRotation<C: Real> {
    /// Unit axis; zero without rotation.
    pub axis: Vector3<C>,
    /// Cosine of the angle.
    pub cosine: C,
    /// Sine of the angle.
    pub sine: C,
    /// Angular velocity about the axis \[rad/s\].
    pub rate: C,
}

/// Rotation of a wall by its pose.
#[cube]
#[inline(always)]
fn rotation_of_pose<C: Real>(poses: &[C], pose: usize) -> WallRotation<C> {
    WallRotation::<C> {
        axis: load::<C>(poses, pose + 3usize),
        cosine: poses[pose + 6usize],
        sine: poses[pose + 7usize],
        rate: poses[pose + 11usize],
    }
}

/// Present rotation of a wall, by its pose or by its servo.
#[cube]
#[inline(always)]
pub fn rotation_of_wall<C: Real>(poses: &[C], pose: usize, servos: &[C], wall: usize) -> WallRotation<C> {
    let servo = wall * 20usize;
    let full = servos[servo + 11usize];
    let mut rotation = rotation_of_pose::<C>(poses, pose);
    if full > C::new(0.0) {
        let angle = cosine_and_sine::<C>(servos[servo + 7usize], full);
        rotation.cosine = angle.cosine;
        rotation.sine = angle.sine;
        rotation.rate = servos[servo + 8usize];
    }
    rotation
}

/// Present angular velocity of a wall with this rotation.
#[cube]
#[inline(always)]
fn turning<C: Real>(poses: &[C], pose: usize, rotation: &WallRotation<C>) -> Vector3<C> {
    let mut spin = rotation.axis.times(rotation.rate);
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

/// A direction of the wall, rotated to its present orientation.
#[cube]
#[inline(always)]
fn turned<C: Real>(v: &Vector3<C>, rotation: &WallRotation<C>) -> Vector3<C> {
    rotated::<C>(v, &rotation.axis, rotation.cosine, rotation.sine)
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
    let rotation = rotation_of_wall::<C>(poses, pose, servos, wall);
    let first = load::<C>(start, at).minus(&from);
    store::<C>(elements, at, &turned::<C>(&first, &rotation).plus(&to));
    // For all kinds except triangles, the second three numbers are a direction, and the rest are lengths.
    let mut second = turned::<C>(&load::<C>(start, at + 3usize), &rotation);
    let mut third = load::<C>(start, at + 6usize);
    if start[at + 9usize] == C::new(TRIANGLE) {
        second = turned::<C>(&load::<C>(start, at + 3usize).minus(&from), &rotation).plus(&to);
        third = turned::<C>(&third.minus(&from), &rotation).plus(&to);
    }
    store::<C>(elements, at + 3usize, &second);
    store::<C>(elements, at + 6usize, &third);
}

/// Writes the present motion of a wall to its record. Arguments are those of [`place_element()`].
#[cube]
pub fn place_wall<C: Real>(wall: usize, at_rest: &[C], poses: &[C], first_pose: usize, servos: &[C], records: &mut [C]) {
    let at = wall * 24usize;
    let pose = (first_pose + wall) * 24usize;
    let servo = wall * 20usize;
    let to = axis_point::<C>(poses, pose, servos, wall);
    let rotation = rotation_of_wall::<C>(poses, pose, servos, wall);
    store::<C>(records, at, &to);
    let velocity = load::<C>(poses, pose + 8usize).plus(&load::<C>(servos, servo).times(servos[servo + 8usize]));
    store::<C>(records, at + 3usize, &velocity);
    store::<C>(records, at + 6usize, &turning::<C>(poses, pose, &rotation));
    store::<C>(records, at + 12usize, &turned::<C>(&load::<C>(at_rest, at + 12usize), &rotation));
    store::<C>(records, at + 15usize, &turned::<C>(&load::<C>(at_rest, at + 15usize), &rotation));
    let from_axis = load::<C>(at_rest, at + 18usize).minus(&load::<C>(at_rest, at));
    store::<C>(records, at + 18usize, &turned::<C>(&from_axis, &rotation).plus(&to));
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
    let servo = wall * 20usize;
    let rotation = rotation_of_wall::<C>(poses, pose, servos, wall);
    let arm = turned::<C>(&start.minus(&load::<C>(at_rest, rest)), &rotation);
    let spin = turning::<C>(poses, pose, &rotation);
    let spin_up = turning_faster::<C>(poses, pose);
    let of_axis = load::<C>(poses, pose + 8usize).plus(&load::<C>(servos, servo).times(servos[servo + 8usize]));
    let running = turned::<C>(&load::<C>(at_rest, rest + 12usize), &rotation);
    let rolling = turned::<C>(&load::<C>(at_rest, rest + 15usize), &rotation);
    let from_roller = turned::<C>(&start.minus(&load::<C>(at_rest, rest + 18usize)), &rotation);
    let of_surface = velocity_of_point::<C>(&running, &rolling, &from_roller);
    WallPoint::<C> {
        position: axis_point::<C>(poses, pose, servos, wall).plus(&arm),
        velocity: velocity_of_point::<C>(&of_axis, &spin, &arm).plus(&of_surface),
        acceleration: acceleration_of_point::<C>(&load::<C>(poses, pose + 13usize), &spin_up, &spin, &arm),
        arm,
    }
}

/// Present angular velocity of a wall, including that of a moving surface \[rad/s\]; no servo turns this wall. Without `poses` walls are at rest. Other
/// arguments are those of [`place_element()`].
#[cube]
#[inline(always)]
pub fn spin_of_wall<C: Real>(wall: usize, at_rest: &[C], poses: &[C], first_pose: usize, #[comptime] has_poses: bool) -> Vector3<C> {
    let mut spin = load::<C>(at_rest, wall * 24usize + 15usize);
    if comptime!(has_poses) {
        let pose = (first_pose + wall) * 24usize;
        let rotation = rotation_of_pose::<C>(poses, pose);
        spin = turned::<C>(&spin, &rotation).plus(&turning::<C>(poses, pose, &rotation));
    }
    spin
}

/// Load of a contact on a servo: the force \[N\] along its direction, or the torque \[N m\] about the axis of a servo that turns its wall. `force` is
/// that of the wall on the grain at `point`. For a servo without rotation `axis` is zero, for another one `direction` is.
#[cube]
#[inline(always)]
pub fn load_of_contact<C: Real>(
    force: &Vector3<C>,
    point: &Vector3<C>,
    direction: &Vector3<C>,
    axis: &Vector3<C>,
    through: &Vector3<C>,
) -> C {
    force.dot(direction) + point.minus(through).cross(force).dot(axis)
}

/// Axis about which a servo turns its wall; zero if it does not. `full` is the full turn of its record.
#[cube]
#[inline(always)]
pub fn servo_axis<C: Real>(poses: &[C], pose: usize, full: C) -> Vector3<C> {
    let mut turns = C::new(0.0);
    if full > C::new(0.0) {
        turns = C::new(1.0);
    }
    load::<C>(poses, pose + 3usize).times(turns)
}

/// The extent of an area whose record begins at `at` \[m\].
#[cube]
fn extent<C: Real>(at: usize, elements: &[C], servos: &mut [C]) -> C {
    let one = C::whole(servos[at]) as usize * 12usize;
    let other = C::whole(servos[at + 1usize]) as usize * 12usize;
    let across = load::<C>(elements, other).minus(&load::<C>(elements, one));
    larger::<C>(across.dot(&load::<C>(elements, one + 3usize)) + servos[at + 2usize], C::new(0.0))
}

/// Advances the servo of a wall by a step, from its load \[N, N m\] and the number of grains in contact. It stands still unless `is_on`. `elements` are
/// those of walls in the step of the load.
#[cube]
pub fn steer<C: Real>(wall: usize, load: C, touching: C, is_on: C, dt: C, elements: &[C], servos: &mut [C]) {
    let at = wall * 20usize;
    let first = extent::<C>(at + 12usize, elements, servos);
    let second = extent::<C>(at + 15usize, elements, servos);
    let target = servos[at + 3usize] * first * second;
    let mut gain = servos[at + 4usize];
    if servos[at + 6usize] > C::new(0.0) {
        gain /= larger::<C>(touching, C::new(1.0));
    }
    let integral = servos[at + 9usize];
    let missing = target - load;
    let action = servo_action::<C>(missing, target, integral, gain, servos[at + 10usize], servos[at + 5usize]);
    let speed = action.speed * is_on;
    servos[at + 7usize] += speed * dt;
    servos[at + 8usize] = speed;
    servos[at + 9usize] = action.integral * is_on;
    servos[at + 18usize] = missing;
    servos[at + 19usize] = target;
}
