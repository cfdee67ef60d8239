//! Sums over the pairs of polyhedral grains, see [`super::polyhedra_pairs`], and motion.
//!
//! A grain has its shape in the table, or the mark [`FREE`] if it is a sphere. So [`super::step::grains()`] takes these marks for those of grains that
//! other kernels move. Ghost particles and grains of bodies have larger marks, see [`super::polyhedra_lists::mark_held()`].

use super::bonds::{quaternion, record_of};
use super::polyhedra_blocks::SEGMENT;
use super::polyhedra_lists::{NO_END, PAIR_LOAD};
use super::step::{go_on, record_long_stride, sure_stride_square};
use super::{add_sum, begins, is_halted, raise};
use crate::bodies::{FREE, is_carried};
use crate::grain::{grain_of, no_load};
use crate::layout::{Record, between_steps, kept_beside, last, record, xyz};
use crate::motion::StepParameters;
use crate::shape_features::PosedShape;
use crate::shape_motion::rotated_shape;
use crate::shapes::{moments_of, shape_at};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, near_vector};

/// Threads of a block that computes contacts of polyhedral grains. They take many registers and different times, so blocks are small.
pub const CONTACT_THREADS: usize = SIDE * SIDE;

/// The same, as items are counted.
pub(super) const CONTACT_BLOCK: u32 = CONTACT_THREADS as u32;

/// Words for the counts of such a block, see [`super::polyhedra_blocks::number_in_block()`].
pub(super) const CONTACT_COUNTS: usize = CONTACT_THREADS + CONTACT_THREADS / SEGMENT;

/// Threads of a side of such a block, if they stand in a square.
pub(super) const SIDE: usize = 8;

/// Grains of a block that adds up pairs: as few as have about as many ends as the block has threads.
pub const SUM_GRAINS: usize = 8;

const _: () =
    assert!(CONTACT_THREADS / SEGMENT * SEGMENT == CONTACT_THREADS && CONTACT_THREADS / SUM_GRAINS * SUM_GRAINS == CONTACT_THREADS);

/// Grain i as the laws of polyhedral grains read it; it may be a sphere, which is the first shape of the table.
#[cube]
pub(super) fn posed<C: Coordinate<R>, R: Real>(
    i: usize,
    shape: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
) -> PosedShape<C, R> {
    let mut of_table = shape[i];
    if of_table == FREE {
        of_table = 0u32;
    }
    PosedShape::<C, R> {
        shape: of_table,
        scale: last::<C>(position[i]),
        orientation: quaternion::<C>(orientation[i]),
        spin: xyz::<R>(spin[i]),
        mass: last::<R>(velocity[i]),
    }
}

/// Adds the loads of its pairs to the force and torque of each of n grains, in the order of the ids of its partners. The buffers then hold values for
/// all grains. They do so before with `outside`; otherwise, with `walls`, those of grains near walls.
///
/// Blocks have [`CONTACT_THREADS`] threads, and take [`SUM_GRAINS`] grains. Reads of an end depend on one another, so each end has a thread; then the thread
/// of a grain adds up its own.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn add_up_shape_pairs<R: Real>(
    end_first: &[u32],
    ends: &[u32],
    loads: &[Record<R>],
    wall_row: &[u32],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    n: u32,
    parity: u32,
    #[comptime] outside: bool,
    #[comptime] walls: bool,
) {
    let mut pushes = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let mut turns = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let unit = UNIT_POS as usize;
    let grains_from = CUBE_POS * SUM_GRAINS;
    if grains_from < n as usize && !is_halted(flags, parity) {
        let i = grains_from + unit;
        let grains_to = min(grains_from + SUM_GRAINS, n as usize);
        let is_own = i < grains_to;
        let mut first = 0u32.runtime();
        let mut end = 0u32.runtime();
        let mut push = Record::<R>::new(R::new(0.0));
        let mut turn = Record::<R>::new(R::new(0.0));
        if is_own {
            first = end_first[i];
            end = end_first[i + 1usize];
            if outside {
                push = force[i];
                turn = torque[i];
            } else if walls {
                if wall_row[i] < wall_row[i + 1usize] {
                    push = force[i];
                    turn = torque[i];
                }
            }
        }
        // The ends of these grains follow each other.
        let all = end_first[grains_to];
        let mut from = end_first[grains_from];
        while from < all {
            let s = from + UNIT_POS;
            let mut of_push = Record::<R>::new(R::new(0.0));
            let mut of_turn = Record::<R>::new(R::new(0.0));
            if s < all {
                let word = ends[s as usize];
                if word != NO_END {
                    let at = (word >> 1u32) as usize * PAIR_LOAD;
                    let of_pair = loads[at];
                    if last::<R>(of_pair) > R::new(0.0) {
                        if word & 1u32 == 0u32 {
                            of_push = record::<R>(&xyz::<R>(of_pair), R::new(1.0));
                            of_turn = loads[at + 1usize];
                        } else {
                            of_push = record::<R>(&xyz::<R>(of_pair).times(R::new(-1.0)), R::new(1.0));
                            of_turn = loads[at + 2usize];
                        }
                    }
                }
            }
            pushes[unit] = of_push;
            turns[unit] = of_turn;
            sync_cube();
            if is_own {
                // Ends of this grain among these.
                let begin = max(first, from) - from;
                let upto = max(min(end, from + CONTACT_BLOCK), from) - from;
                for k in begin..upto {
                    push += pushes[k as usize];
                    turn += turns[k as usize];
                }
            }
            sync_cube();
            from += CONTACT_BLOCK;
        }
        if is_own {
            force[i] = push;
            // The last numbers of torques of pairs are energies.
            torque[i] = record::<R>(&xyz::<R>(turn), R::new(0.0));
        }
    }
}

/// Moves the polyhedral ones of n grains by one step, under the forces and torques in these buffers. Velocities and flags are as in
/// [`crate::kernels::step::grains()`], which comes before. If these grains are `alone`, it is not launched, and the step is counted here. `held` has the
/// shapes of the grains to move, and larger numbers for all others.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn move_shapes<R: Coordinate<R>, C: Coordinate<R>>(
    held: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    force: &[Record<R>],
    torque: &[Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    orientation: &mut [Record<C>],
    momentum: &mut [Record<C>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &StepParameters<C, R>,
    widest_square: R,
    stride_square: R,
    level: u32,
    n: u32,
    parity: u32,
    #[comptime] damped: bool,
    #[comptime] alone: bool,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    let mut goes = !is_halted(flags, parity);
    if alone {
        goes = begins(flags, parity, true);
    }
    if goes && i < n as usize {
        let mark = held[i];
        if is_carried(mark) {
            let here = position[i];
            let turning = spin[i];
            let grain = grain_of::<C, R>(here, velocity[i], turning);
            let mut load = no_load::<R>();
            load.force = xyz::<R>(force[i]);
            let sure_square = sure_stride_square::<R>(flags, level, stride_square);
            let half = half_velocity[i];
            let half_turning = half_spin[i];
            let gone = go_on::<C, R>(
                i,
                &grain,
                &load,
                turning,
                half,
                half_turning,
                half_velocity,
                half_spin,
                reference,
                new_position,
                new_velocity,
                new_spin,
                stepping,
                sure_square,
                false,
            );
            let own = shape_at(words, mark);
            let moments = moments_of::<C>(&own, numbers, C::wide(grain.mass), last::<C>(here));
            let turned = rotated_shape::<C, R>(
                &quaternion::<C>(orientation[i]),
                &xyz::<C>(momentum[i]),
                &grain.spin,
                &xyz::<R>(torque[i]),
                &moments,
                stepping,
            );
            orientation[i] = record_of::<C>(&turned.orientation);
            momentum[i] = record::<C>(&turned.momentum, last::<C>(momentum[i]));
            // The angular velocity between steps stays what it is: the angular momentum has its part.
            let kept = between_steps::<C, R>(turning, half_turning);
            let read = near_vector::<C, R>(&turned.spin);
            half_spin[i] = kept_beside::<C, R>(&kept, &read, last::<R>(half_turning));
            new_spin[i] = record::<R>(&read, last::<R>(turning));
            took.insert(3usize, gone.damping_work + turned.damping_work);
            record_long_stride::<R>(flags, gone.moved_square, widest_square);
            raise(flags, parity, gone.flags);
        }
    }
    if damped {
        add_sum::<C, R>(power, took);
    }
}
