//! Rigid bodies: moved under what their grains meet, and their grains with them.

use super::bonds::record_of;
use super::{is_halted, raise};
use crate::bodies::{advance_body, carry, drop_own, push_on, put_held, recalled_turn, turn_at, with_load};
use crate::entries::first_entry;
use crate::joints::{LOOSE, advance_on_joint};
use crate::motion::{Moved, Stepping, flags_of};
use crate::views::{Record, last, load, recall, record, xyz};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, near_vector};

/// Books what came of moving body b: what local damping took adds up in the last number of its `half_velocity`.
#[cube]
fn book_moved<C: Real>(b: usize, moved: &Moved<C>, half_velocity: &mut [C], flags: &mut [u32], parity: u32) {
    half_velocity[b * 4usize + 3usize] += moved.damping_work;
    raise(flags, parity, moved.flags);
}

/// The n bodies one step on, but for those that are held; `loads` push beside their grains, and some may be on `joints`. What local damping takes adds up in the last numbers of
/// `half_velocity`, the power that what holds bodies puts in in those of `momentum`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn advance_bodies<R: Real, C: Coordinate<R> + Coordinate<C>>(
    row: &[u32],
    place: &[u32],
    offset: &[C],
    moments: &[C],
    force: &[R],
    torque: &[R],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    turn: &mut [C],
    velocity: &mut [C],
    spin: &mut [C],
    is_held: &[u32],
    loads: &[C],
    joints: &[C],
    flags: &mut [u32],
    stepping: &Stepping<C, C>,
    n: u32,
    parity: u32,
    #[comptime] jointed: bool,
) {
    let b = ABSOLUTE_POS;
    if b < n as usize {
        if !is_halted(flags, parity) {
            let stands = recalled_turn::<C>(turn, b * 4usize);
            let touched = push_on::<C, R>(
                row[b] as usize,
                row[b + 1usize] as usize,
                place,
                offset,
                &stands,
                force,
                torque,
                true,
            );
            let push = with_load::<C>(&touched, b, loads);
            if is_held[b] == 1u32 {
                let moving = recall::<C>(velocity, b * 4usize);
                let turning = recall::<C>(spin, b * 4usize);
                momentum[b * 4usize + 3usize] -= push.force.dot(&moving) + push.torque.dot(&turning);
            } else if jointed {
                if joints[b * 24usize] == C::new(LOOSE) {
                    let moved = advance_body::<C>(b, &push, center, half_velocity, momentum, turn, moments, velocity, spin, stepping);
                    book_moved::<C>(b, &moved, half_velocity, flags, parity);
                } else {
                    let moved = advance_on_joint::<C>(b, &push, joints, center, half_velocity, momentum, turn, velocity, spin, stepping);
                    book_moved::<C>(b, &moved, half_velocity, flags, parity);
                }
            } else {
                let moved = advance_body::<C>(b, &push, center, half_velocity, momentum, turn, moments, velocity, spin, stepping);
                book_moved::<C>(b, &moved, half_velocity, flags, parity);
            }
        }
    }
}

/// Puts the n bodies that are held and do not stand still, of which `held` gives the places, where they are at the end of this step. `poses` holds
/// a pose for each of them for every step from the last look of the host on.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn hold_bodies<C: Coordinate<C>>(
    held: &[u32],
    poses: &[C],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    turn: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
    flags: &mut [u32],
    stepping: &Stepping<C, C>,
    n: u32,
    parity: u32,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        if !is_halted(flags, parity) {
            let pose = ((flags[10] - 1u32) * n) as usize + k;
            put_held::<C>(
                held[k] as usize,
                pose * 16usize,
                poses,
                center,
                half_velocity,
                momentum,
                turn,
                moments,
                velocity,
                spin,
            );
            let nowhere = C::new(0.0);
            raise(
                flags,
                parity,
                flags_of::<C, C>(&load::<C>(poses, pose * 16usize), nowhere, nowhere, stepping) & 8u32,
            );
        }
    }
}

/// The grains of the n members where their bodies have them now. Masses and what the grains added up stand in their records already.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_grains<R: Real, C: Coordinate<R> + Coordinate<C>>(
    place: &[u32],
    body_of: &[u32],
    offset: &[C],
    center: &[C],
    turn: &[C],
    velocity: &[C],
    spin: &[C],
    position: &[Record<C>],
    reference: &[Record<C>],
    half_velocity: &mut [Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    own_turn: &[C],
    turn_of_grain: &mut [Record<C>],
    flags: &mut [u32],
    stepping: &Stepping<C, C>,
    n: u32,
    parity: u32,
    #[comptime] sides: u32,
    #[comptime] turns: bool,
) {
    let m = ABSOLUTE_POS;
    if m < n as usize {
        if !is_halted(flags, parity) {
            let i = place[m] as usize;
            let carried = carry::<C>(
                body_of[m] as usize,
                m,
                &xyz::<C>(position[i]),
                &xyz::<C>(reference[i]),
                offset,
                center,
                turn,
                velocity,
                spin,
                stepping,
                sides,
            );
            new_position[i] = record::<C>(&carried.position, last::<C>(position[i]));
            let mass = last::<R>(new_velocity[i]);
            new_velocity[i] = record::<R>(&near_vector::<C, R>(&carried.velocity), mass);
            let took = last::<R>(new_spin[i]);
            new_spin[i] = record::<R>(&near_vector::<C, R>(&carried.spin), took);
            half_velocity[i] = record::<C>(&carried.moving, last::<C>(half_velocity[i]));
            if turns {
                let own = turn_at::<C>(own_turn, m * 4usize);
                let of_body = turn_at::<C>(turn, body_of[m] as usize * 4usize);
                turn_of_grain[i] = record_of::<C>(&of_body.after(&own));
            }
            raise(flags, parity, carried.flags);
        }
    }
}

/// Notes where the grains of all members are.
#[cube(launch)]
pub fn find_places(member: &[u32], place: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let m = member[i];
        if m != 0xffff_ffffu32 {
            place[m as usize] = i as u32;
        }
    }
}

/// Drops the pairs of grains that one body carries from their rows.
#[cube(launch)]
pub fn drop_inside_bodies(tile_first: &[u32], count: &mut [u32], list: &mut [u32], member: &[u32], body_of: &[u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let m = member[i];
        if m != 0xffff_ffffu32 {
            let own = body_of[m as usize];
            count[i] = drop_own(own, first_entry(i, tile_first), count[i], 32usize, list, member, body_of);
        }
    }
}
