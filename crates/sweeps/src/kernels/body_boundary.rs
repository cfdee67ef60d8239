//! Body boundary particles: they move with their bodies, and the fluid forces on them are summed for their bodies.

use super::bodies::NOWHERE;
use super::neighbor_lists::is_outside;
use super::{HALTED, THREADS, is_halted, raise, sum_of_cube};
use crate::bodies::{FREE, GHOST, carry, in_plane, is_ghost, orientation_at};
use crate::layout::{Record, last, load, record, store, xyz};
use crate::motion::{SKIN_EXCEEDED, StepParameters};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector, widened};

/// Writes the indices of body boundary particles among all `n` particles. Their ids are those from `first` on.
#[cube(launch)]
pub fn index_body_boundaries(id: &[u32], place: &mut [u32], first: u32, n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if id[i] >= first {
            place[(id[i] - first) as usize] = i as u32;
        }
    }
}

/// Marks those body boundary particles, with ids from `first` on, that are outside of a box around all fluid: they need no rows, and get the member
/// number of a ghost. All others of n particles are marked as free. Both corners of the box are in `corners`.
#[cube(launch)]
pub fn mark_dry<C: Real>(id: &[u32], reference: &[Record<C>], corners: &[C], marks: &mut [u32], first: u32, n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = FREE.runtime();
        if id[i] >= first {
            if is_outside::<C>(&xyz::<C>(reference[i]), corners) {
                mark = GHOST.runtime();
            }
        }
        marks[i] = mark;
    }
}

/// Places each of the `n` body boundary particles at its position in its body, unless it has left. With `watch`, a particle that is too far from its
/// position at the last list rebuild halts this step, not the next one: it has already moved.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn place_body_boundaries<R: Real, C: Coordinate<R> + Coordinate<C>>(
    place: &[u32],
    body_of: &[u32],
    offset: &[C],
    center: &[C],
    orientation: &[C],
    velocity: &[C],
    spin: &[C],
    reference: &[Record<C>],
    position: &mut [Record<C>],
    motion: &mut [Record<R>],
    flags: &mut [u32],
    stepping: &StepParameters<C, C>,
    n: u32,
    parity: u32,
    #[comptime] sides: u32,
    #[comptime] across: u32,
    #[comptime] watch: bool,
) {
    let m = ABSOLUTE_POS;
    if m < n as usize {
        if place[m] != NOWHERE {
            let i = place[m] as usize;
            let listed = xyz::<C>(reference[i]);
            let now = carry::<C>(
                body_of[m] as usize,
                m,
                &listed,
                &listed,
                offset,
                center,
                orientation,
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
                raise(flags, 1u32 - parity, now.flags & SKIN_EXCEEDED);
            }
        }
    }
}

/// Forces on those of the `n` body boundary particles that are here and that this subdomain owns, in their order; zero for the others.
#[cube(launch)]
pub fn forces_on_boundary_particles<R: Real>(place: &[u32], owned: &[u32], rate: &[Record<R>], forces: &mut [Record<R>], n: u32) {
    let m = ABSOLUTE_POS;
    if m < n as usize {
        let mut push = Vector3::<R>::zero();
        if place[m] != NOWHERE {
            if !is_ghost(owned[place[m] as usize]) {
                push = xyz::<R>(rate[place[m] as usize]);
            }
        }
        forces[m] = record::<R>(&push, R::new(0.0));
    }
}

/// Sums the fluid forces on the `n` body boundaries, one block each, as loads of their bodies, see [`crate::bodies::with_load()`]. `power` gets two
/// numbers of the power that each body gains: the sum over the steps with `adds_up`, and the present value.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn sum_forces_on_bodies<R: Real, C: Coordinate<R>>(
    row: &[u32],
    body: &[u32],
    place: &[u32],
    offset: &[C],
    orientation: &[C],
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
    let body_boundary = min(CUBE_POS, n as usize - 1usize);
    if !is_halted(flags, parity) && body[body_boundary] != 0xffff_ffffu32 {
        let b = body[body_boundary] as usize;
        let body_orientation = orientation_at::<C>(orientation, b * 4usize);
        let mut force = Vector3::<C>::zero();
        let mut torque = Vector3::<C>::zero();
        let mut m = row[body_boundary] as usize + UNIT_POS as usize;
        while m < row[body_boundary + 1usize] as usize {
            let push = widened::<C, R>(&xyz::<R>(rate[place[m] as usize]));
            let arm = body_orientation.to_space(&load::<C>(offset, m * 4usize));
            force = force.plus(&push);
            torque = torque.plus(&arm.cross(&push));
            m += THREADS;
        }
        let nothing = C::new(0.0);
        let force = xyz::<C>(sum_of_cube::<C>(record::<C>(&force, nothing)));
        let torque = xyz::<C>(sum_of_cube::<C>(record::<C>(&torque, nothing)));
        if UNIT_POS == 0u32 && CUBE_POS < n as usize {
            store::<C>(loads, b * 8usize, &force);
            store::<C>(loads, b * 8usize + 4usize, &torque);
            let gained = force.dot(&load::<C>(velocity, b * 4usize)) + torque.dot(&load::<C>(spin, b * 4usize));
            power[body_boundary * 2usize + 1usize] = gained;
            if comptime!(adds_up) {
                power[body_boundary * 2usize] += gained;
            }
        }
    }
}

/// Halts the step of this parity for grains and fluids if either of them halts.
#[cube(launch)]
pub fn halt_all(flags: &mut [u32], others: &mut [u32], parity: u32) {
    if ABSOLUTE_POS == 0usize {
        if is_halted(flags, parity) {
            others[8usize + parity as usize] = 1u32;
        }
        if is_halted(others, parity) {
            flags[parity as usize + HALTED] = 1u32;
        }
    }
}
