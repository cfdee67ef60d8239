//! Motion of grains by Gear's method: corrected by the force of the step before, then predicted.

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

fn quaternion(numbers: &[f64]) -> Quaternion<f64> {
    Quaternion {
        w: numbers[0],
        x: numbers[1],
        y: numbers[2],
        z: numbers[3],
    }
}

/// q̈ = ½ ω̇ q − |q̇|² q of a sphere with this angular acceleration in space (S1, Algorithm 6, with the moments of a sphere).
fn acceleration_of_turn(turn: &Quaternion<f64>, rate: &[f64], turning: &Vector3<f64>) -> [f64; 4] {
    let push = Quaternion {
        w: 0.0,
        x: turning.x,
        y: turning.y,
        z: turning.z,
    };
    let bend = push.after(turn);
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
    let at = i * 4;
    let (radius, mass) = (grains.position[at + 3], grains.velocity[at + 3]);
    let rate = acceleration(&recall(grains.velocity, at), mass, &load(pushed.force, at), stepping).rate;
    grains.ways[i * WAYS..(i + 1) * WAYS].fill(0.0);
    store(grains.ways, i * WAYS, &rate);
    if grains.turn.is_empty() {
        return;
    }
    let spin: Vector3<f64> = recall(grains.spin, at);
    let turning = angular_acceleration(&spin, mass, radius, &load(pushed.torque, at), stepping).rate;
    let turn = quaternion(&grains.turn[at..at + 4]);
    let half = Quaternion {
        w: 0.0,
        x: 0.5 * spin.x,
        y: 0.5 * spin.y,
        z: 0.5 * spin.z,
    };
    let first = half.after(&turn);
    let first = [first.w, first.x, first.y, first.z];
    let turns = &mut grains.turns[i * TURNS..(i + 1) * TURNS];
    turns.fill(0.0);
    turns[..4].copy_from_slice(&first);
    turns[4..8].copy_from_slice(&acceleration_of_turn(&turn, &first, &turning));
}

/// Puts the grain in slot i where its series has it some time on \[s\], without a look at forces.
pub fn look_ahead(i: usize, grains: &mut Geared, time: f64) {
    let at = i * 4;
    for axis in 0..3 {
        let ways = i * WAYS + axis;
        let ahead = predicted(
            &Series {
                value: grains.position[at + axis],
                first: grains.velocity[at + axis],
                second: grains.ways[ways],
                third: grains.ways[ways + 3],
                fourth: grains.ways[ways + 6],
            },
            time,
        );
        (grains.position[at + axis], grains.velocity[at + axis]) = (ahead.value, ahead.first);
    }
    if grains.turn.is_empty() {
        return;
    }
    let (mut next, mut rate) = ([0.0; 4], [0.0; 4]);
    for part in 0..4 {
        let turns = &grains.turns[i * TURNS..];
        let ahead = predicted(
            &Series {
                value: grains.turn[at + part],
                first: turns[part],
                second: turns[4 + part],
                third: turns[8 + part],
                fourth: turns[12 + part],
            },
            time,
        );
        (next[part], rate[part]) = (ahead.value, ahead.first);
    }
    let turn = quaternion(&next).normalized();
    grains.turn[at..at + 4].copy_from_slice(&[turn.w, turn.x, turn.y, turn.z]);
    grains.turns[i * TURNS..i * TURNS + 4].copy_from_slice(&rate);
    let spin = quaternion(&rate).after(&turn.back());
    let spin = Vector3 {
        x: 2.0 * spin.x,
        y: 2.0 * spin.y,
        z: 2.0 * spin.z,
    };
    store(grains.spin, at, &spin);
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
    (rate, acceleration_of_turn(&quaternion(&grains.turn[at..at + 4]), first, &turning))
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
        let series = Series {
            value: grains.position[at + axis],
            first: grains.velocity[at + axis],
            second: grains.ways[ways],
            third: grains.ways[ways + 3],
            fourth: grains.ways[ways + 6],
        };
        let next = predicted(&corrected(&series, rate, share, dt), dt);
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
    let at = i * 4;
    let turns = &mut grains.turns[i * TURNS..(i + 1) * TURNS];
    let now = quaternion(&grains.turn[at..at + 4]);
    let seconds = acceleration_of_turn(&now, &turns[..4], turning);
    let mut next = [0.0; 4];
    for (part, second) in seconds.into_iter().enumerate() {
        let series = Series {
            value: grains.turn[at + part],
            first: turns[part],
            second: turns[4 + part],
            third: turns[8 + part],
            fourth: turns[12 + part],
        };
        let after = predicted(&corrected(&series, second, share, dt), dt);
        next[part] = after.value;
        (turns[part], turns[4 + part], turns[8 + part], turns[12 + part]) = (after.first, after.second, after.third, after.fourth);
    }
    let turn = quaternion(&next).normalized();
    let numbers = [turn.w, turn.x, turn.y, turn.z];
    let along: f64 = numbers.iter().zip(&turns[..4]).map(|(q, rate)| q * rate).sum();
    for (rate, q) in turns[..4].iter_mut().zip(numbers) {
        *rate -= along * q;
    }
    grains.turn[at..at + 4].copy_from_slice(&numbers);
    let spin = quaternion(&turns[..4]).after(&turn.back());
    let spin = Vector3 {
        x: 2.0 * spin.x,
        y: 2.0 * spin.y,
        z: 2.0 * spin.z,
    };
    store(grains.spin, at, &spin);
    store(grains.half_spin, i * 3, &spin);
}
