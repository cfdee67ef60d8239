//! Hulls of bodies in fluids: their particles go where bodies have them, and what fluid does to them is summed up for their bodies.

use super::{is_halted, raise, sum_of_cube};
use crate::bodies::{carry, in_plane, turn_at};
use crate::motion::Stepping;
use crate::views::{Record, last, load, record, store, xyz};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector, widened};

/// Notes where the particles of hulls are among all `n`: theirs are the ids from `first` on.
#[cube(launch)]
pub fn find_hulls(id: &[u32], place: &mut [u32], first: u32, n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if id[i] >= first {
            place[(id[i] - first) as usize] = i as u32;
        }
    }
}

/// Puts each of the `n` particles of hulls where its body has it, unless that left. With `watch`, one that is too far from where it is listed halts
/// this step and not the next one: it is here already.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn place_hulls<R: Real, C: Coordinate<R> + Coordinate<C>>(
    place: &[u32],
    body_of: &[u32],
    offset: &[C],
    center: &[C],
    turn: &[C],
    velocity: &[C],
    spin: &[C],
    reference: &[Record<C>],
    position: &mut [Record<C>],
    motion: &mut [Record<R>],
    flags: &mut [u32],
    stepping: &Stepping<C, C>,
    n: u32,
    parity: u32,
    #[comptime] sides: u32,
    #[comptime] across: u32,
    #[comptime] watch: bool,
) {
    let m = ABSOLUTE_POS;
    if m < n as usize {
        if place[m] != 0xffff_ffffu32 {
            let i = place[m] as usize;
            let listed = xyz::<C>(reference[i]);
            let now = carry::<C>(
                body_of[m] as usize,
                m,
                &listed,
                &listed,
                offset,
                center,
                turn,
                velocity,
                spin,
                stepping,
                sides,
            );
            let before = position[i];
            let velocity = in_plane::<C>(&now.velocity, &Vector3::<C>::zero(), across);
            position[i] = record::<C>(&in_plane::<C>(&now.position, &listed, across), last::<C>(before));
            motion[i] = record::<R>(&near_vector::<C, R>(&velocity), R::new(0.0));
            if comptime!(watch) {
                raise(flags, 1u32 - parity, now.flags & 1u32);
            }
        }
    }
}

/// Sums up what fluid does to the `n` hulls, a cube each, as loads of their bodies, see [`crate::bodies::with_load()`]. Of the power that each body gains,
/// `power` gets two numbers: the sum over the steps that it `adds_up`, and that of now.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn bear_on_bodies<R: Real, C: Coordinate<R>>(
    row: &[u32],
    body: &[u32],
    place: &[u32],
    offset: &[C],
    turn: &[C],
    velocity: &[C],
    spin: &[C],
    rate: &[Record<R>],
    loads: &mut [C],
    power: &mut [C],
    flags: &mut [u32],
    n: u32,
    parity: u32,
    #[comptime] adds_up: bool,
) {
    let hull = min(CUBE_POS, n as usize - 1usize);
    if !is_halted(flags, parity) && body[hull] != 0xffff_ffffu32 {
        let b = body[hull] as usize;
        let stands = turn_at::<C>(turn, b * 4usize);
        let mut force = Vector3::<C>::zero();
        let mut torque = Vector3::<C>::zero();
        let mut m = row[hull] as usize + UNIT_POS as usize;
        while m < row[hull + 1usize] as usize {
            let push = widened::<C, R>(&xyz::<R>(rate[place[m] as usize]));
            let arm = stands.turned(&load::<C>(offset, m * 4usize));
            force = force.plus(&push);
            torque = torque.plus(&arm.cross(&push));
            m += 256usize;
        }
        let nothing = C::new(0.0);
        let force = xyz::<C>(sum_of_cube::<C>(record::<C>(&force, nothing)));
        let torque = xyz::<C>(sum_of_cube::<C>(record::<C>(&torque, nothing)));
        if UNIT_POS == 0u32 && CUBE_POS < n as usize {
            store::<C>(loads, b * 8usize, &force);
            store::<C>(loads, b * 8usize + 4usize, &torque);
            let gained = force.dot(&load::<C>(velocity, b * 4usize)) + torque.dot(&load::<C>(spin, b * 4usize));
            power[hull * 2usize + 1usize] = gained;
            if comptime!(adds_up) {
                power[hull * 2usize] += gained;
            }
        }
    }
}

/// Halts the step of this parity for grains and fluids alike, if it is to halt for either.
#[cube(launch)]
pub fn halt_together(flags: &mut [u32], others: &mut [u32], parity: u32) {
    if ABSOLUTE_POS == 0usize {
        if is_halted(flags, parity) {
            others[8usize + parity as usize] = 1u32;
        }
        if is_halted(others, parity) {
            flags[8usize + parity as usize] = 1u32;
        }
    }
}
