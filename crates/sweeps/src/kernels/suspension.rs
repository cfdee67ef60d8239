//! Grains in suspension, smaller than fluid particles: their order in rows, the fluid forces on them, and the motion of the fluid under the reaction.

use super::fluid::{add_up, fly_on};
use super::is_halted;
use crate::entries::{TILE, first_entry, sort_by_id};
use crate::fluid::{FluidKernelConfig, is_suspended, kind_of};
use crate::layout::{Record, four_numbers, last, load, record, xyz};
use crate::motion::StepParameters;
use crate::suspension::{borne_by, suspended};
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::fluid::suspension::Coupling;
use seixo_laws::{Coordinate, Real, near_vector, widened};

/// Moves grains in suspension to the end of the rows of the `n` other particles. The lengths of these rows no longer include them; `aside` holds
/// their numbers. Rows of these grains are unchanged.
#[cube(launch)]
pub fn order_small_grains_last(tile_first: &[u32], kind: &[u32], count: &mut [u32], list: &mut [u32], aside: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let entries = count[i];
        let mut grains = 0u32;
        if !is_suspended(kind[i]) {
            let first = first_entry(i, tile_first);
            for s in 0..entries {
                let entry = first + s as usize * TILE;
                let j = list[entry];
                if is_suspended(kind[j as usize]) {
                    grains += 1u32;
                } else {
                    let to = entry - grains as usize * TILE;
                    let other = list[to];
                    list[to] = j;
                    list[entry] = other;
                }
            }
        }
        count[i] = entries - grains;
        aside[i] = grains;
    }
}

/// Sorts the grains in suspension at the end of rows by their ids.
#[cube(launch)]
pub fn sort_aside(tile_first: &[u32], count: &[u32], aside: &[u32], list: &mut [u32], id: &[u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        sort_by_id(first_entry(i, tile_first) + count[i] as usize * TILE, aside[i], list, id);
    }
}

/// Computes the fluid forces on those of the `n` body boundary particles that are grains in suspension. `force` gets the force on each and the power
/// dissipated by drag. `seen` gets its reaction, see [`crate::suspension`]. `rate` holds all other forces on fluid, `half_velocity` the forces on
/// grains in the step before, `center` the masses of bodies.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn push_grains<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    place: &[u32],
    body_of: &[u32],
    center: &[C],
    kind: &[u32],
    media: &[R],
    position: &[C],
    flow: &[R],
    motion: &[R],
    rate: &[R],
    half_velocity: &[C],
    seen: &mut [Record<R>],
    force: &mut [Record<R>],
    flags: &mut [u32],
    coupling: &Coupling<R>,
    smoother: &Smoother<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    parity: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let m = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if m < n as usize {
            if place[m] != 0xffff_ffffu32 {
                let i = place[m] as usize;
                if is_suspended(kind[i]) {
                    let mass = C::near(center[body_of[m] as usize * 4usize + 3usize]);
                    let now = suspended::<C, R>(
                        i,
                        first_entry(i, tile_first),
                        count[i],
                        list,
                        position,
                        flow,
                        motion,
                        rate,
                        kind,
                        media,
                        mass,
                        &near_vector::<C, R>(&load::<C>(half_velocity, i * 4usize)),
                        coupling,
                        smoother,
                        &stepping.sides,
                        TILE,
                        plan,
                    );
                    seen[i] = record::<R>(&now.pull, now.lost_power);
                    force[m] = record::<R>(&now.force, now.drag_power);
                }
            }
        }
    }
}

/// Applies the reaction of grains in suspension to fluid particles, and advances these by one step. Without `advance`, `rate` gets the total force on
/// them. The forces on grains are written to `rate` and, for the next step, to `half_velocity`. Their particles have the ids from `first_id` on.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn apply_reaction_to_fluid<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    aside: &[u32],
    list: &[u32],
    id: &[u32],
    kind: &[u32],
    media: &[R],
    position: &[C],
    seen: &[R],
    force: &[Record<R>],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    rate: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_flow: &mut [Record<R>],
    flags: &mut [u32],
    smoother: &Smoother<R>,
    stepping: &StepParameters<C, R>,
    first_id: u32,
    n: u32,
    parity: u32,
    #[comptime] plan: FluidKernelConfig,
    #[comptime] advance: bool,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if i < n as usize {
            let zero = R::new(0.0);
            if position[i * 4usize + 3usize] > C::new(0.0) {
                let met = rate[i];
                let borne = borne_by::<C, R>(
                    i,
                    first_entry(i, tile_first) + count[i] as usize * TILE,
                    aside[i],
                    list,
                    position,
                    seen,
                    smoother,
                    &stepping.sides,
                    TILE,
                    plan,
                );
                let all = xyz::<R>(met).plus(&borne);
                if comptime!(advance) {
                    fly_on::<R, C>(
                        i,
                        &load::<C>(position, i * 4usize),
                        &all,
                        last::<R>(met),
                        Record::<R>::new(zero),
                        kind_of(kind, i, plan.mixed),
                        media,
                        half_velocity,
                        thermal,
                        reference,
                        new_position,
                        new_flow,
                        flags,
                        stepping,
                        parity,
                    );
                } else {
                    rate[i] = record::<R>(&all, last::<R>(met));
                }
            } else if is_suspended(kind[i]) {
                let found = force[(id[i] - first_id) as usize];
                rate[i] = found;
                if comptime!(advance) {
                    // The power that fluid gains is minus the power that it loses to the grain.
                    let took = four_numbers::<R>(last::<R>(found), zero, -seen[i * 4usize + 3usize], zero);
                    add_up::<R, C>(i, took, half_velocity, thermal);
                    let sums = half_velocity[i];
                    half_velocity[i] = record::<C>(&widened::<C, R>(&xyz::<R>(found)), last::<C>(sums));
                }
            }
        }
    }
}
