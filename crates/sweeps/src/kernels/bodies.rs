//! Motion of rigid bodies under the forces on their grains, and motion of these grains.

use super::bonds::record_of;
use super::{DONE, THREADS, is_halted, raise, sum_of_cube};
use crate::bodies::{
    BodyForce, FREE, advance_body, carry, drop_own, ghost_of, is_carried, orientation_at, original_of, place_prescribed_body, push_on,
    stored_orientation_at, with_load,
};
use crate::entries::{TILE, first_entry};
use crate::gear::advance_body_by_gear;
use crate::joints::{NO_JOINT, advance_on_joint};
use crate::layout::{Record, between_steps, kept_beside, last, load, recall, record, store, xyz};
use crate::motion::{MotionReport, StepParameters, flags_of};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, near_vector};

/// Index of the grain of a member that is in another subdomain.
pub const NOWHERE: u32 = u32::MAX;

/// How a body moves: freely, or by a motion that is prescribed. If it is, one subdomain counts the power of the loads on it.
pub const FREELY: u32 = 0;
/// See [`FREELY`].
pub const PRESCRIBED: u32 = 1;
/// Prescribed, with loads that another subdomain counts; see [`FREELY`].
pub const PRESCRIBED_ELSEWHERE: u32 = 2;

/// Marks those of the n bodies with prescribed motion whose first grain is here: this subdomain counts the power of their loads.
#[cube(launch)]
pub fn find_loads(row: &[u32], place: &[u32], is_held: &mut [u32], n: u32) {
    let b = ABSOLUTE_POS;
    if b < n as usize {
        if is_held[b] != FREELY {
            if place[row[b] as usize] == NOWHERE {
                is_held[b] = PRESCRIBED_ELSEWHERE;
            } else {
                is_held[b] = PRESCRIBED;
            }
        }
    }
}

/// Records the motion of body b: adds the work of local damping to the last number of its `half_velocity`.
#[cube]
fn add_motion_report<C: Real>(b: usize, moved: &MotionReport<C>, half_velocity: &mut [C], flags: &mut [u32], parity: u32) {
    half_velocity[b * 4usize + 3usize] += moved.damping_work;
    raise(flags, parity, moved.flags);
}

/// Adds the power of the prescribed motion of body b to the last number of its `momentum`. Loads count if `held` is [`PRESCRIBED`].
#[cube]
fn add_power_of_prescribed<C: Real>(
    b: usize,
    held: u32,
    touched: &BodyForce<C>,
    push: &BodyForce<C>,
    velocity: &mut [C],
    spin: &mut [C],
    momentum: &mut [C],
) {
    let moving = recall::<C>(velocity, b * 4usize);
    let turning = recall::<C>(spin, b * 4usize);
    let mut power = touched.force.dot(&moving) + touched.torque.dot(&turning);
    if held == PRESCRIBED {
        power = push.force.dot(&moving) + push.torque.dot(&turning);
    }
    momentum[b * 4usize + 3usize] -= power;
}

/// Number of members above which a block of threads sums the forces on a body, in place of one thread: as many as a block has threads.
pub const LARGE: usize = THREADS;

/// Sums the forces on the members of `n` bodies, one block each. `large` holds their indices, and `sums` gets forces and torques as the buffer of loads,
/// see [`crate::bodies::with_load()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn sum_forces_on_members<R: Real, C: Coordinate<R>>(
    large: &[u32],
    row: &[u32],
    place: &[u32],
    offset: &[C],
    orientation: &[C],
    force: &[R],
    torque: &[R],
    sums: &mut [C],
    flags: &mut [u32],
    n: u32,
    parity: u32,
) {
    let k = min(CUBE_POS, n as usize - 1usize);
    if !is_halted(flags, parity) {
        let b = large[k] as usize;
        let end = row[b + 1usize] as usize;
        let share = (end - row[b] as usize) / THREADS + 1usize;
        let first = min(row[b] as usize + UNIT_POS as usize * share, end);
        let body_orientation = orientation_at::<C>(orientation, b * 4usize);
        let own = push_on::<C, R>(
            first,
            min(first + share, end),
            place,
            offset,
            &body_orientation,
            force,
            torque,
            true,
        );
        let nothing = C::new(0.0);
        let total = xyz::<C>(sum_of_cube::<C>(record::<C>(&own.force, nothing)));
        let turning = xyz::<C>(sum_of_cube::<C>(record::<C>(&own.torque, nothing)));
        if UNIT_POS == 0u32 && CUBE_POS < n as usize {
            store::<C>(sums, b * 8usize, &total);
            store::<C>(sums, b * 8usize + 4usize, &turning);
        }
    }
}

/// Force on the members of body b. If bodies with more than [`LARGE`] members are `summed`, `sums` has theirs, and zero for the others.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn force_on_members<C: Coordinate<R>, R: Real>(
    b: usize,
    row: &[u32],
    place: &[u32],
    offset: &[C],
    body_orientation: &Quaternion<C>,
    force: &[R],
    torque: &[R],
    sums: &[C],
    #[comptime] summed: bool,
) -> BodyForce<C> {
    let first = row[b] as usize;
    let mut end = row[b + 1usize] as usize;
    if comptime!(summed) {
        if end - first > LARGE {
            end = first;
        }
    }
    let own = push_on::<C, R>(first, end, place, offset, body_orientation, force, torque, true);
    if comptime!(summed) { with_load::<C>(&own, b, sums) } else { own }
}

/// Advances the n bodies by one step, except those with prescribed motion, which `is_held` marks as [`PRESCRIBED`]. `loads` act on them in addition to
/// the forces on their grains, and some may be on `joints`. If large bodies are `summed`, `sums` has the forces on their grains. The work of local
/// damping is added to the last numbers of `half_velocity`, and the power of prescribed motion to those of `momentum`.
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
    orientation: &mut [C],
    velocity: &mut [C],
    spin: &mut [C],
    is_held: &[u32],
    loads: &[C],
    sums: &[C],
    joints: &[C],
    flags: &mut [u32],
    stepping: &StepParameters<C, C>,
    n: u32,
    parity: u32,
    #[comptime] jointed: bool,
    #[comptime] summed: bool,
) {
    let b = ABSOLUTE_POS;
    if b < n as usize {
        if !is_halted(flags, parity) {
            let body_orientation = stored_orientation_at::<C>(orientation, b * 4usize);
            let touched = force_on_members::<C, R>(b, row, place, offset, &body_orientation, force, torque, sums, summed);
            let push = with_load::<C>(&touched, b, loads);
            if is_held[b] != FREELY {
                add_power_of_prescribed::<C>(b, is_held[b], &touched, &push, velocity, spin, momentum);
            } else if jointed {
                if joints[b * 24usize] == C::new(NO_JOINT) {
                    let moved = advance_body::<C>(
                        b,
                        &push,
                        center,
                        half_velocity,
                        momentum,
                        orientation,
                        moments,
                        velocity,
                        spin,
                        stepping,
                    );
                    add_motion_report::<C>(b, &moved, half_velocity, flags, parity);
                } else {
                    let moved = advance_on_joint::<C>(
                        b,
                        &push,
                        joints,
                        center,
                        half_velocity,
                        momentum,
                        orientation,
                        velocity,
                        spin,
                        stepping,
                    );
                    add_motion_report::<C>(b, &moved, half_velocity, flags, parity);
                }
            } else {
                let moved = advance_body::<C>(
                    b,
                    &push,
                    center,
                    half_velocity,
                    momentum,
                    orientation,
                    moments,
                    velocity,
                    spin,
                    stepping,
                );
                add_motion_report::<C>(b, &moved, half_velocity, flags, parity);
            }
        }
    }
}

/// As [`advance_bodies()`], by Gear's method with the coefficient `share`; no body is on a joint.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn advance_bodies_by_gear<R: Real, C: Coordinate<R> + Coordinate<C>>(
    row: &[u32],
    place: &[u32],
    offset: &[C],
    moments: &[C],
    force: &[R],
    torque: &[R],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    orientation: &mut [C],
    velocity: &mut [C],
    spin: &mut [C],
    is_held: &[u32],
    loads: &[C],
    sums: &[C],
    position_derivatives: &mut [C],
    orientation_derivatives: &mut [C],
    flags: &mut [u32],
    stepping: &StepParameters<C, C>,
    share: C,
    n: u32,
    parity: u32,
    #[comptime] summed: bool,
) {
    let b = ABSOLUTE_POS;
    if b < n as usize {
        if !is_halted(flags, parity) {
            let body_orientation = stored_orientation_at::<C>(orientation, b * 4usize);
            let touched = force_on_members::<C, R>(b, row, place, offset, &body_orientation, force, torque, sums, summed);
            let push = with_load::<C>(&touched, b, loads);
            if is_held[b] != FREELY {
                add_power_of_prescribed::<C>(b, is_held[b], &touched, &push, velocity, spin, momentum);
            } else {
                let moved = advance_body_by_gear::<C>(
                    b,
                    &push,
                    center,
                    half_velocity,
                    momentum,
                    orientation,
                    moments,
                    velocity,
                    spin,
                    position_derivatives,
                    orientation_derivatives,
                    stepping,
                    share,
                );
                add_motion_report::<C>(b, &moved, half_velocity, flags, parity);
            }
        }
    }
}

/// Places the n bodies with prescribed motion that are not at rest at their poses at the end of this step. `held` holds their indices. `poses` holds
/// a pose for each of them for every step since the last synchronization with the host.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn move_prescribed_bodies<C: Coordinate<C>>(
    held: &[u32],
    poses: &[C],
    center: &mut [C],
    half_velocity: &mut [C],
    momentum: &mut [C],
    orientation: &mut [C],
    moments: &[C],
    velocity: &mut [C],
    spin: &mut [C],
    flags: &mut [u32],
    stepping: &StepParameters<C, C>,
    n: u32,
    parity: u32,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        if !is_halted(flags, parity) {
            let pose = ((flags[DONE] - 1u32) * n) as usize + k;
            place_prescribed_body::<C>(
                held[k] as usize,
                pose * 16usize,
                poses,
                center,
                half_velocity,
                momentum,
                orientation,
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

/// Moves the grains of the n members with their bodies, if they are here. Masses and sums of the grains are already in their records.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_grains<R: Real, C: Coordinate<R> + Coordinate<C>>(
    place: &[u32],
    body_of: &[u32],
    offset: &[C],
    center: &[C],
    orientation: &[C],
    velocity: &[C],
    spin: &[C],
    position: &[Record<C>],
    reference: &[Record<C>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    own_orientation: &[C],
    turn_of_grain: &mut [Record<C>],
    flags: &mut [u32],
    stepping: &StepParameters<C, C>,
    n: u32,
    parity: u32,
    #[comptime] sides: u32,
    #[comptime] rotates: bool,
) {
    let m = ABSOLUTE_POS;
    if m < n as usize {
        let is_here = place[m] != NOWHERE;
        if is_here && !is_halted(flags, parity) {
            let i = place[m] as usize;
            let carried = carry::<C>(
                body_of[m] as usize,
                m,
                &xyz::<C>(position[i]),
                &xyz::<C>(reference[i]),
                offset,
                center,
                orientation,
                velocity,
                spin,
                stepping,
                sides,
            );
            new_position[i] = record::<C>(&carried.position, last::<C>(position[i]));
            let mass = last::<R>(new_velocity[i]);
            let read = near_vector::<C, R>(&carried.velocity);
            new_velocity[i] = record::<R>(&read, mass);
            half_velocity[i] = kept_beside::<C, R>(&carried.moving, &read, last::<R>(half_velocity[i]));
            // No one reads the angular velocity of a member between steps, so it stays what it is.
            let turning = new_spin[i];
            let half_turning = half_spin[i];
            let kept = between_steps::<C, R>(turning, half_turning);
            let read_spin = near_vector::<C, R>(&carried.spin);
            new_spin[i] = record::<R>(&read_spin, last::<R>(turning));
            half_spin[i] = kept_beside::<C, R>(&kept, &read_spin, last::<R>(half_turning));
            if rotates {
                let own = orientation_at::<C>(own_orientation, m * 4usize);
                let of_body = orientation_at::<C>(orientation, body_of[m] as usize * 4usize);
                turn_of_grain[i] = record_of::<C>(&of_body.after(&own));
            }
            raise(flags, parity, carried.flags);
        }
    }
}

/// Writes the indices of the grains of the members that are here.
#[cube(launch)]
pub fn find_places(member: &[u32], place: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let m = member[i];
        if is_carried(m) {
            place[m as usize] = i as u32;
        }
    }
}

/// Forces and torques on the grains of the n members, in their order; zero for members that are not here.
#[cube(launch)]
pub fn forces_on_members<R: Real>(
    place: &[u32],
    force: &[Record<R>],
    torque: &[Record<R>],
    member_force: &mut [Record<R>],
    member_torque: &mut [Record<R>],
    n: u32,
) {
    let m = ABSOLUTE_POS;
    if m < n as usize {
        let mut push = Vector3::<R>::zero();
        let mut turning = Vector3::<R>::zero();
        if place[m] != NOWHERE {
            push = xyz::<R>(force[place[m] as usize]);
            turning = xyz::<R>(torque[place[m] as usize]);
        }
        member_force[m] = record::<R>(&push, R::new(0.0));
        member_torque[m] = record::<R>(&turning, R::new(0.0));
    }
}

/// Copies the member numbers of n grains for a search among them. Grains of bodies get the number of a ghost, which has no row, unless `near` marks
/// the group of their member with a bit of `asked`.
#[cube(launch)]
pub fn mark_candidates(member: &[u32], group_of: &[u32], near: &[u32], marks: &mut [u32], asked: u32, n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let m = member[i];
        marks[i] = m;
        if is_carried(m) {
            if near[group_of[m as usize] as usize] & asked == 0u32 {
                marks[i] = ghost_of(m);
            }
        }
    }
}

/// Removes the pairs of grains of the same body from their rows.
#[cube(launch)]
pub fn drop_inside_bodies(tile_first: &[u32], count: &mut [u32], list: &mut [u32], member: &[u32], body_of: &[u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let m = original_of(member[i]);
        if m != FREE {
            let own = body_of[m as usize];
            count[i] = drop_own(own, first_entry(i, tile_first), count[i], TILE, list, member, body_of);
        }
    }
}
