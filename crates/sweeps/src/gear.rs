//! Motion of grains by Gear's method: corrected by the force of the step before, then predicted.

use crate::bodies::{store_turn, turn_at};
use crate::motion::{Moved, Stepping, acceleration, angular_acceleration, flags_of};
use crate::views::{load, recall, store};
use seixo_laws::motion::gear::{Series, corrected, predicted};
use seixo_laws::{Quaternion, Vector3};

/// Numbers of a grain's higher derivatives of its place: second, third and fourth.
pub const WAYS: usize = 9;

/// Numbers of the derivatives of its orientation: first to fourth.
pub const TURNS: usize = 16;

/// What moves a grain, slot by slot.
pub struct Geared<'a> {
    /// Centers and radii.
    pub position: &'a mut [f64],
    /// Velocities and masses.
    pub velocity: &'a mut [f64],
    /// Velocities as readers see them, the same.
    pub half_velocity: &'a mut [f64],
    /// Second to fourth derivatives of places.
    pub ways: &'a mut [f64],
    /// Angular velocities; empty where nothing rotates.
    pub spin: &'a mut [f64],
    /// Angular velocities as readers see them, the same.
    pub half_spin: &'a mut [f64],
    /// Orientations.
    pub turn: &'a mut [f64],
    /// First to fourth derivatives of orientations.
    pub turns: &'a mut [f64],
}

/// Forces that act on grains, slot by slot.
pub struct Pushed<'a> {
    /// Forces of contacts.
    pub force: &'a [f64],
    /// Torques; empty where nothing rotates.
    pub torque: &'a [f64],
    /// Places at which grains were listed.
    pub reference: &'a [f64],
}

impl Geared<'_> {
    /// Place of the grain in slot i along an axis, with its derivatives.
    fn way(&self, i: usize, axis: usize) -> Series<f64> {
        let ways = i * WAYS + axis;
        Series {
            value: self.position[i * 4 + axis],
            first: self.velocity[i * 4 + axis],
            second: self.ways[ways],
            third: self.ways[ways + 3],
            fourth: self.ways[ways + 6],
        }
    }

    /// A number of the orientation of the grain in slot i, with its derivatives.
    fn turning(&self, i: usize, part: usize) -> Series<f64> {
        let turns = &self.turns[i * TURNS..];
        Series {
            value: self.turn[i * 4 + part],
            first: turns[part],
            second: turns[4 + part],
            third: turns[8 + part],
            fourth: turns[12 + part],
        }
    }
}

/// A vector as a quaternion.
fn pure(v: &Vector3<f64>) -> Quaternion<f64> {
    Quaternion {
        w: 0.0,
        x: v.x,
        y: v.y,
        z: v.z,
    }
}

/// ω = 2 q̇ q* in space.
fn spin_of(turn: &Quaternion<f64>, rate: &[f64]) -> Vector3<f64> {
    let Quaternion { x, y, z, .. } = turn_at(rate, 0).after(&turn.back());
    Vector3 { x, y, z }.times(2.0)
}

/// q̈ = ½ ω̇ q − |q̇|² q of a sphere with this angular acceleration in space (S1, Algorithm 6, with the moments of a sphere).
fn acceleration_of_turn(turn: &Quaternion<f64>, rate: &[f64], turning: &Vector3<f64>) -> [f64; 4] {
    let bend = pure(turning).after(turn);
    let square: f64 = rate.iter().map(|part| part * part).sum();
    [
        0.5 * bend.w - square * turn.w,
        0.5 * bend.x - square * turn.x,
        0.5 * bend.y - square * turn.y,
        0.5 * bend.z - square * turn.z,
    ]
}

/// Begins with the grain in slot i: its derivatives are those of the forces that it feels, the third and fourth are zero.
pub fn begin(i: usize, grains: &mut Geared, pushed: &Pushed, stepping: &Stepping<f64, f64>) {
    grains.ways[i * WAYS..(i + 1) * WAYS].fill(0.0);
    if !grains.turn.is_empty() {
        let (turn, spin) = (turn_at(grains.turn, i * 4), load(grains.spin, i * 4));
        let first = pure(&spin.times(0.5)).after(&turn);
        grains.turns[i * TURNS..(i + 1) * TURNS].fill(0.0);
        store_turn(grains.turns, i * TURNS, &first);
    }
    let (way, turning) = rates_of(i, grains, pushed, stepping);
    grains.ways[i * WAYS..][..3].copy_from_slice(&way);
    if !grains.turn.is_empty() {
        grains.turns[i * TURNS + 4..][..4].copy_from_slice(&turning);
    }
}

/// Puts the grain in slot i where its series has it some time on \[s\], without a look at forces.
pub fn look_ahead(i: usize, grains: &mut Geared, time: f64) {
    let at = i * 4;
    for axis in 0..3 {
        let ahead = predicted(&grains.way(i, axis), time);
        (grains.position[at + axis], grains.velocity[at + axis]) = (ahead.value, ahead.first);
    }
    if grains.turn.is_empty() {
        return;
    }
    for part in 0..4 {
        let ahead = predicted(&grains.turning(i, part), time);
        (grains.turn[at + part], grains.turns[i * TURNS + part]) = (ahead.value, ahead.first);
    }
    let turn = turn_at(grains.turn, at).normalized();
    store_turn(grains.turn, at, &turn);
    store(grains.spin, at, &spin_of(&turn, &grains.turns[i * TURNS..]));
}

/// Second derivatives of place and orientation of the grain in slot i under the forces that act on it.
pub fn rates_of(i: usize, grains: &Geared, pushed: &Pushed, stepping: &Stepping<f64, f64>) -> ([f64; 3], [f64; 4]) {
    let at = i * 4;
    let (radius, mass) = (grains.position[at + 3], grains.velocity[at + 3]);
    let rate = acceleration(&load(grains.velocity, at), mass, &load(pushed.force, at), stepping).rate;
    let rate = [rate.x, rate.y, rate.z];
    if grains.turn.is_empty() {
        return (rate, [0.0; 4]);
    }
    let turning = angular_acceleration(&load(grains.spin, at), mass, radius, &load(pushed.torque, at), stepping).rate;
    let first = &grains.turns[i * TURNS..i * TURNS + 4];
    (rate, acceleration_of_turn(&turn_at(grains.turn, at), first, &turning))
}

/// Gives the grain in slot i its third and fourth derivatives, from the second ones now and a time before and after \[s\].
pub fn give_higher(i: usize, grains: &mut Geared, before: &([f64; 3], [f64; 4]), after: &([f64; 3], [f64; 4]), time: f64) {
    let slopes = |now: f64, before: f64, after: f64| [(after - before) / (2.0 * time), (after - 2.0 * now + before) / (time * time)];
    let ways = &mut grains.ways[i * WAYS..(i + 1) * WAYS];
    for axis in 0..3 {
        [ways[3 + axis], ways[6 + axis]] = slopes(ways[axis], before.0[axis], after.0[axis]);
    }
    if grains.turn.is_empty() {
        return;
    }
    let turns = &mut grains.turns[i * TURNS..(i + 1) * TURNS];
    for part in 0..4 {
        [turns[8 + part], turns[12 + part]] = slopes(turns[4 + part], before.1[part], after.1[part]);
    }
}

/// Moves the grain in slot i by one step; `share` as [`corrected()`] takes it.
pub fn advance_by_gear(i: usize, grains: &mut Geared, pushed: &Pushed, stepping: &Stepping<f64, f64>, share: f64) -> Moved<f64> {
    let (at, dt) = (i * 4, stepping.dt);
    let (radius, mass) = (grains.position[at + 3], grains.velocity[at + 3]);
    let old: Vector3<f64> = recall(grains.position, at);
    let velocity: Vector3<f64> = recall(grains.velocity, at);
    let moving = acceleration(&velocity, mass, &load(pushed.force, at), stepping);
    let mut damping_work = -moving.brake.dot(&velocity) * dt;
    let rates = [moving.rate.x, moving.rate.y, moving.rate.z];
    for (axis, rate) in rates.into_iter().enumerate() {
        let ways = i * WAYS + axis;
        let next = predicted(&corrected(&grains.way(i, axis), rate, share, dt), dt);
        grains.position[at + axis] = next.value;
        grains.velocity[at + axis] = next.first;
        grains.half_velocity[i * 3 + axis] = next.first;
        grains.ways[ways] = next.second;
        grains.ways[ways + 3] = next.third;
        grains.ways[ways + 6] = next.fourth;
    }
    if !grains.turn.is_empty() {
        let spin: Vector3<f64> = recall(grains.spin, at);
        let turning = angular_acceleration(&spin, mass, radius, &load(pushed.torque, at), stepping);
        damping_work -= turning.brake.dot(&spin) * dt;
        turn_by_gear(i, grains, &turning.rate, share, dt);
    }
    let new: Vector3<f64> = recall(grains.position, at);
    let (stride, moved) = (new.minus(&old), new.minus(&load(pushed.reference, i * 3)));
    Moved {
        flags: flags_of(&new, stride.dot(&stride), moved.dot(&moved), stepping),
        damping_work,
        stride_square: stride.dot(&stride),
    }
}

/// Orientation and angular velocity ω = 2 q̇ q* one step on; |q| = 1 and q·q̇ = 0 are put right.
fn turn_by_gear(i: usize, grains: &mut Geared, turning: &Vector3<f64>, share: f64, dt: f64) {
    let (at, first) = (i * 4, i * TURNS);
    let seconds = acceleration_of_turn(&turn_at(grains.turn, at), &grains.turns[first..first + 4], turning);
    for (part, second) in seconds.into_iter().enumerate() {
        let next = predicted(&corrected(&grains.turning(i, part), second, share, dt), dt);
        grains.turn[at + part] = next.value;
        let derivatives = [next.first, next.second, next.third, next.fourth];
        for (order, derivative) in derivatives.into_iter().enumerate() {
            grains.turns[first + 4 * order + part] = derivative;
        }
    }
    let turn = turn_at(grains.turn, at).normalized();
    store_turn(grains.turn, at, &turn);
    let rate = &mut grains.turns[first..first + 4];
    let numbers = &grains.turn[at..at + 4];
    let along: f64 = numbers.iter().zip(&*rate).map(|(q, rate)| q * rate).sum();
    for (rate, q) in rate.iter_mut().zip(numbers) {
        *rate -= along * q;
    }
    let spin = spin_of(&turn, rate);
    store(grains.spin, at, &spin);
    store(grains.half_spin, i * 3, &spin);
}
