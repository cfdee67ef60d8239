//! Motion of grains by Gear's method: corrected by the force of the step before, then predicted.

use crate::bodies::{recalled_turn, store_turn, turn_at};
use crate::motion::{Moved, Stepping, acceleration, angular_acceleration, flags_of};
use crate::views::{load, recall, store};
use cubecl::prelude::*;
use seixo_laws::motion::gear::{Series, corrected, predicted};
use seixo_laws::{Quaternion, Real, Vector3};

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
#[cube]
#[inline(always)]
fn pure<C: Real>(v: &Vector3<C>) -> Quaternion<C> {
    Quaternion::<C> {
        w: C::new(0.0),
        x: v.x,
        y: v.y,
        z: v.z,
    }
}

/// ω = 2 q̇ q* in space.
#[cube]
#[inline(always)]
fn spin_of<C: Real>(turn: &Quaternion<C>, rate: &Quaternion<C>) -> Vector3<C> {
    let half = rate.after(&turn.back());
    Vector3::<C> {
        x: half.x * C::new(2.0),
        y: half.y * C::new(2.0),
        z: half.z * C::new(2.0),
    }
}

/// q̈ = ½ ω̇ q − |q̇|² q of a sphere with this angular acceleration in space (\[PUC-Rio n.d., Algorithm 6\], with the moments of a sphere).
#[cube]
#[inline(always)]
fn acceleration_of_turn<C: Real>(turn: &Quaternion<C>, rate: &Quaternion<C>, turning: &Vector3<C>) -> Quaternion<C> {
    let bend = pure::<C>(turning).after(turn);
    let square = rate.w * rate.w + rate.x * rate.x + rate.y * rate.y + rate.z * rate.z;
    Quaternion::<C> {
        w: C::new(0.5) * bend.w - square * turn.w,
        x: C::new(0.5) * bend.x - square * turn.x,
        y: C::new(0.5) * bend.y - square * turn.y,
        z: C::new(0.5) * bend.z - square * turn.z,
    }
}

/// A number and its first derivative.
#[derive(CubeType, Clone, Copy, Debug)]
struct Pace<C: Real> {
    value: C,
    first: C,
}

/// A number one step on, whose second derivative should be `second`. Its second to fourth derivatives are in `higher` from `at` on, each `apart`
/// from the one before.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a number, its derivatives, and where they are")]
fn onward<C: Real>(higher: &mut [C], at: usize, apart: usize, value: C, first: C, second: C, share: C, dt: C) -> Pace<C> {
    let fourth = higher[at + apart + apart];
    let series = Series::<C> {
        value,
        first,
        second: higher[at],
        third: higher[at + apart],
        fourth,
    };
    let mended = corrected::<C>(&series, second, share, dt);
    let next = predicted::<C>(&mended, dt);
    higher[at] = next.second;
    higher[at + apart] = next.third;
    higher[at + apart + apart] = next.fourth;
    Pace::<C> {
        value: next.value,
        first: next.first,
    }
}

/// A grain one step on.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Way<C: Real> {
    /// Its center \[m\].
    pub position: Vector3<C>,
    /// Its velocity \[m/s\].
    pub velocity: Vector3<C>,
}

/// Center and velocity of the grain in slot i one step on, with this acceleration; its other derivatives are in `ways`. `share` as
/// [`corrected()`] takes it.
#[cube]
#[inline(always)]
pub fn move_by_gear<C: Real>(
    i: usize,
    position: &Vector3<C>,
    velocity: &Vector3<C>,
    rate: &Vector3<C>,
    ways: &mut [C],
    share: C,
    dt: C,
) -> Way<C> {
    let at = i * 9usize;
    let x = onward::<C>(ways, at, 3usize, position.x, velocity.x, rate.x, share, dt);
    let y = onward::<C>(ways, at + 1usize, 3usize, position.y, velocity.y, rate.y, share, dt);
    let z = onward::<C>(ways, at + 2usize, 3usize, position.z, velocity.z, rate.z, share, dt);
    let place = Vector3::<C> {
        x: x.value,
        y: y.value,
        z: z.value,
    };
    let speed = Vector3::<C> {
        x: x.first,
        y: y.first,
        z: z.first,
    };
    Way::<C> {
        position: place,
        velocity: speed,
    }
}

/// A grain turned one step on.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Turned<C: Real> {
    /// Its orientation.
    pub turn: Quaternion<C>,
    /// Its angular velocity \[rad/s\].
    pub spin: Vector3<C>,
}

/// Orientation and angular velocity ω = 2 q̇ q* of the grain in slot i one step on, with this angular acceleration; |q| = 1 and q·q̇ = 0 are put
/// right. Its derivatives are in `turns`.
#[cube]
#[inline(always)]
pub fn turn_by_gear<C: Real>(i: usize, turn: &Quaternion<C>, turning: &Vector3<C>, turns: &mut [C], share: C, dt: C) -> Turned<C> {
    let at = i * 16usize;
    let rate = recalled_turn::<C>(turns, at);
    let second = acceleration_of_turn::<C>(turn, &rate, turning);
    let w = onward::<C>(turns, at + 4usize, 4usize, turn.w, rate.w, second.w, share, dt);
    let x = onward::<C>(turns, at + 5usize, 4usize, turn.x, rate.x, second.x, share, dt);
    let y = onward::<C>(turns, at + 6usize, 4usize, turn.y, rate.y, second.y, share, dt);
    let z = onward::<C>(turns, at + 7usize, 4usize, turn.z, rate.z, second.z, share, dt);
    let long = Quaternion::<C> {
        w: w.value,
        x: x.value,
        y: y.value,
        z: z.value,
    };
    let after = long.normalized();
    let along = after.w * w.first + after.x * x.first + after.y * y.first + after.z * z.first;
    let next = Quaternion::<C> {
        w: w.first - along * after.w,
        x: x.first - along * after.x,
        y: y.first - along * after.y,
        z: z.first - along * after.z,
    };
    store_turn::<C>(turns, at, &next);
    let spin = spin_of::<C>(&after, &next);
    Turned::<C> { turn: after, spin }
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
    store(grains.spin, at, &spin_of(&turn, &turn_at(grains.turns, i * TURNS)));
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
    let Quaternion { w, x, y, z } = acceleration_of_turn(&turn_at(grains.turn, at), &turn_at(grains.turns, i * TURNS), &turning);
    (rate, [w, x, y, z])
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
    let gone = move_by_gear(i, &old, &velocity, &moving.rate, grains.ways, share, dt);
    store(grains.position, at, &gone.position);
    store(grains.velocity, at, &gone.velocity);
    store(grains.half_velocity, i * 3, &gone.velocity);
    if !grains.turn.is_empty() {
        let spin: Vector3<f64> = recall(grains.spin, at);
        let turning = angular_acceleration(&spin, mass, radius, &load(pushed.torque, at), stepping);
        damping_work -= turning.brake.dot(&spin) * dt;
        let turned = turn_by_gear(i, &turn_at(grains.turn, at), &turning.rate, grains.turns, share, dt);
        store_turn(grains.turn, at, &turned.turn);
        store(grains.spin, at, &turned.spin);
        store(grains.half_spin, i * 3, &turned.spin);
    }
    let new = gone.position;
    let (stride, moved) = (new.minus(&old), new.minus(&load(pushed.reference, i * 3)));
    Moved {
        flags: flags_of(&new, stride.dot(&stride), moved.dot(&moved), stepping),
        damping_work,
        stride_square: stride.dot(&stride),
    }
}
