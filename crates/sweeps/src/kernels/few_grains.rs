//! A step of few grains in one launch: contacts, forces of walls at rest, and motion.
//!
//! A step of few grains lasts as long as its launches and as a thread waits. So half of the threads of a block compute contacts, and the other half
//! compute the forces of walls on the same grains at the same time. These hand their results over in shared memory.
//!
//! All forces come from the functions of [`super::step::grains()`] and [`super::wall_forces::walls()`], and are added in the same order.

use super::step::{add_buffered_forces, go_on_from};
use super::wall_forces::push_by_walls;
use super::{begins, raise, widened_record};
use crate::entries::{TILE, first_entry};
use crate::grain::{grain_of, no_load};
use crate::layout::Record;
use crate::motion::StepParameters;
use crate::tiles::{ContactKernelConfig, contacts_of};
use cubecl::prelude::*;
use seixo_laws::Coordinate;
use seixo_laws::contact::Coefficients;

/// Grains of a block of [`grains_and_walls()`].
pub const GRAINS_OF_BLOCK: usize = TILE;

/// Threads of a block of [`grains_and_walls()`]: two for each grain.
pub const THREADS_OF_BLOCK: usize = 2 * GRAINS_OF_BLOCK;

/// Contact and wall forces of this step, and motion to the next. Walls are at rest or were placed before, and all grains move by themselves, without
/// bonds, loads, orientations and local damping. Arguments are those of [`crate::kernels::step::grains()`] and [`crate::kernels::wall_forces::walls()`].
///
/// The first of the two records of each block in `wall_power` sums what walls do to its grains.
///
/// Each grain is compared with its position at the last rebuild of the lists, which is read before contacts are computed. So no strides are marked.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn grains_and_walls<R: Coordinate<R>, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &mut [u32],
    history: &mut [R],
    material: &[u32],
    table: &[R],
    wall_row: &[u32],
    wall_list: &[u32],
    elements: &[C],
    records: &[C],
    wall_history: &mut [R],
    wall_contacts: &mut [C],
    wall_power: &mut [Record<C>],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    flags: &mut [u32],
    stepping: &StepParameters<C, R>,
    shared: &Coefficients<R>,
    overlap_limit: R,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] kind: ContactKernelConfig,
) {
    let mut wall_force = Shared::<[Record<R>]>::new_slice(GRAINS_OF_BLOCK);
    let mut wall_torque = Shared::<[Record<R>]>::new_slice(GRAINS_OF_BLOCK);
    let mut powers = Shared::<[Record<R>]>::new_slice(GRAINS_OF_BLOCK);
    let unit = UNIT_POS as usize;
    let row = unit % GRAINS_OF_BLOCK;
    let is_for_walls = unit >= GRAINS_OF_BLOCK;
    let i = CUBE_POS * GRAINS_OF_BLOCK + row;
    let is_meant = i < n as usize;
    // Reads that do not depend on the flag come before it, so that one wait serves all.
    let own = min(i, n as usize - 1usize);
    let here = position[own];
    let moving = velocity[own];
    let mut turning = Record::<R>::new(R::new(0.0));
    if kind.frictional {
        turning = spin[own];
    }
    let listed = count[own];
    let first = first_entry(own, tile_first);
    // A row without neighbors has room for these reads, too.
    let word = list[first];
    let mut second = 0u32;
    if !kind.frictional {
        second = list[first + TILE];
    }
    let own_material = material[own];
    let mut material_of_contacts = 0u32;
    if !kind.uniform {
        material_of_contacts = own_material;
    }
    let first_of_walls = wall_row[own] as usize;
    let end_of_walls = wall_row[own + 1usize] as usize;
    let is_near_walls = first_of_walls < end_of_walls;
    let mut half = Record::<R>::new(R::new(0.0));
    half = half_velocity[own];
    let mut half_turning = Record::<R>::new(R::new(0.0));
    if kind.frictional {
        half_turning = half_spin[own];
    }
    let origin = reference[own];
    let of_block = CUBE_POS * 2usize;
    let mut power_sum = Record::<C>::new(C::new(0.0));
    power_sum = wall_power[of_block];
    let goes = begins(flags, parity, true);
    let is_computed = goes && is_meant;
    let grain = grain_of::<C, R>(here, moving, turning);
    // For the threads of walls, the row has no entries.
    let is_for_contacts = is_computed && !is_for_walls;
    let neighbors = select(is_for_contacts, listed, 0u32);
    let mut load = no_load::<R>();
    load = contacts_of::<C, R>(
        &grain,
        neighbors,
        first,
        word,
        second,
        material_of_contacts,
        shared,
        list,
        history,
        position,
        velocity,
        spin,
        material,
        materials,
        table,
        &stepping.sides,
        stepping.dt,
        overlap_limit,
        kind,
    );
    if is_for_walls {
        let mut took = Record::<R>::new(R::new(0.0));
        if is_computed && is_near_walls {
            took = push_by_walls::<R, C>(
                row,
                &grain,
                own_material,
                first_of_walls,
                end_of_walls,
                wall_list[first_of_walls],
                wall_list,
                elements,
                records,
                wall_history,
                wall_contacts,
                table,
                &mut wall_force,
                &mut wall_torque,
                flags,
                stepping.dt,
                overlap_limit,
                materials,
                parity,
                kind.frictional,
                kind.is_extended,
            );
        }
        powers[row] = took;
    }
    sync_cube();
    if is_for_walls {
        if goes && row == 0usize {
            let mut total = Record::<C>::new(C::new(0.0));
            for k in 0..GRAINS_OF_BLOCK {
                total += widened_record::<C, R>(powers[k]);
            }
            power_sum += total;
            wall_power[of_block] = power_sum;
        }
    } else if is_computed {
        let mut raised = 0u32;
        if load.excess > R::new(0.0) {
            raised |= 16u32;
        }
        if is_near_walls {
            add_buffered_forces::<R>(row, &mut wall_force, &mut wall_torque, &mut load, kind.frictional);
        }
        let gone = go_on_from::<C, R>(
            i,
            &grain,
            &load,
            turning,
            half,
            half_turning,
            origin,
            half_velocity,
            half_spin,
            reference,
            new_position,
            new_velocity,
            new_spin,
            stepping,
            R::new(-1.0),
            kind.frictional,
            true,
        );
        raised |= gone.flags;
        raise(flags, parity, raised);
    }
}
