//! Step of smooth grains whose cells are rebuilt at every step.

use super::step::{StepKernelConfig, add_buffered_forces, go_on, record_long_stride, sure_stride_square};
use super::{add_sum, begins, raise, store_sum, sum_of_cube};
use crate::bins::{normal_forces_on, stored_around};
use crate::cells::{cell_of, class_of};
use crate::grain::{grain_of, no_load};
use crate::layout::{Record, record, xyz};
use crate::motion::StepParameters;
use cubecl::prelude::*;
use seixo_laws::Coordinate;

/// As [`crate::kernels::step::grains()`], for grains with normal contacts only. If they move, `key` gets their new cells. Only the lists of walls can
/// get out of date.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn forces_and_advance<R: Coordinate<R>, C: Coordinate<R>>(
    grids: &[C],
    shapes: &[u32],
    cell_first: &[u32],
    items: &[u32],
    binned: &[Record<C>],
    key: &mut [u32],
    material: &[u32],
    table: &[R],
    wall_row: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &StepParameters<C, R>,
    overlap_limit: R,
    widest_square: R,
    stride_square: R,
    level: u32,
    number_of_grids: u32,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] plan: StepKernelConfig,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    // Reads that do not depend on the flag come before it, so that one wait serves all.
    let is_meant = i < n as usize;
    let mut here = Record::<C>::new(C::new(0.0));
    let mut moving = Record::<R>::new(R::new(0.0));
    let mut half = Record::<R>::new(R::new(0.0));
    let mut sure_square = stride_square;
    if is_meant {
        here = position[i];
        moving = velocity[i];
        if plan.advance {
            if plan.reads_early {
                half = half_velocity[i];
                sure_square = sure_stride_square::<R>(flags, level, stride_square);
            }
        }
    }
    let goes = begins(flags, parity, plan.advance);
    if goes && is_meant {
        let turning = Record::<R>::new(R::new(0.0));
        let grain = grain_of::<C, R>(here, moving, turning);
        let mut load = no_load::<R>();
        let mut raised = 0u32;
        if plan.touch {
            load = normal_forces_on::<C, R>(
                i,
                &grain,
                grids,
                shapes,
                number_of_grids as usize,
                cell_first,
                items,
                binned,
                velocity,
                material,
                materials,
                table,
                overlap_limit,
                plan.kind,
            );
            if load.excess > R::new(0.0) {
                raised |= 16u32;
            }
            if plan.walls {
                if wall_row[i] < wall_row[i + 1usize] {
                    add_buffered_forces::<R>(i, force, torque, &mut load, false);
                }
            }
        } else {
            load.force = xyz::<R>(force[i]);
        }
        if plan.advance {
            if !plan.reads_early {
                half = half_velocity[i];
                sure_square = sure_stride_square::<R>(flags, level, stride_square);
            }
            let half_turning = Record::<R>::new(R::new(0.0));
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
            raised |= gone.flags;
            record_long_stride::<R>(flags, gone.moved_square, widest_square);
            took.insert(3usize, gone.damping_work);
            let class = class_of::<C>(grain.reach, grids, number_of_grids as usize);
            key[i] = cell_of::<C>(&gone.position, grids, shapes, class, true);
        } else {
            force[i] = record::<R>(&load.force, load.contacts);
            took.insert(0usize, load.normal_power);
        }
        raise(flags, parity, raised);
    }
    if plan.advance {
        if plan.damped {
            add_sum::<C, R>(power, took);
        }
    } else {
        store_sum::<C, R>(power, took);
    }
}

/// Energy stored in the contacts of the grains of every block \[J\], as the last number of the first of its two energy records.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn stored_in_bins<R: Coordinate<R>, C: Coordinate<R>>(
    grids: &[C],
    shapes: &[u32],
    cell_first: &[u32],
    items: &[u32],
    position: &[Record<C>],
    material: &[u32],
    table: &[R],
    energy: &mut [Record<C>],
    number_of_grids: u32,
    n: u32,
    materials: u32,
) {
    let i = ABSOLUTE_POS;
    let mut stored = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let around = stored_around::<C, R>(
            i,
            grids,
            shapes,
            number_of_grids as usize,
            cell_first,
            items,
            position,
            material,
            materials,
            table,
        );
        stored.insert(3usize, C::wide(around));
    }
    let of_cube = sum_of_cube::<C>(stored);
    if UNIT_POS == 0u32 {
        energy[CUBE_POS * 2usize] += of_cube;
    }
}
