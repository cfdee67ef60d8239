//! Forces of walls on grains, and the poses of few walls, in one launch.
//!
//! What few grains near walls cost a step is not work, but waiting: for reads that depend on one another, and for launches. So rows are read through
//! records that are made with the lists, all that a grain needs is read before any of it is used, and walls of few elements need no launch of their own.

use super::{DONE, is_halted, raise, sum_of_square_cube, widened_record};
use crate::bodies::FREE;
use crate::grain::{Grain, grain_of};
use crate::layout::{ELEMENT, Record, WALL, four_numbers, record};
use crate::motion::TOO_DEEP;
use crate::wall::walls_of;
use crate::wall_pose::{place_element, place_wall};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real};

/// Threads per block of [`walls()`]. Few grains are near walls, and each takes long, as its reads depend on each other. So small blocks, which spread over
/// all multiprocessors and whose threads seldom wait for each other, are faster.
pub const WALL_THREADS: usize = 64;

/// Number of wall elements up to which [`walls()`] places them.
pub const PLACED_ELEMENTS: usize = WALL_THREADS;

/// Number of walls up to which [`walls()`] places them.
pub const PLACED_WALLS: usize = 16;

/// Wall forces on the n grains near walls. They overwrite the force and torque of these grains. `leads` has a record for each of them, see
/// [`wall_rows()`](crate::kernels::neighbor_lists::wall_rows()). If some are `shaped`, `shape` has the mark [`FREE`] for spheres; the others get no force
/// here, see [`crate::kernels::polyhedra_walls::shape_walls()`].
///
/// If it `places` walls, it does first what [`place()`](crate::kernels::walls::place()) does, also in a step that is halted: each block for itself, in
/// shared memory, so that none waits for another. `elements` and `records` are then those at rest, and the first block writes the present ones to
/// `placed` and `placed_records`. There are at most [`PLACED_ELEMENTS`] and [`PLACED_WALLS`].
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn walls<R: Real, C: Coordinate<R>>(
    leads: &[Record<u32>],
    list: &[u32],
    elements: &[C],
    records: &[C],
    poses: &[C],
    servos: &[C],
    placed: &mut [C],
    placed_records: &mut [C],
    history: &mut [R],
    wall_contacts: &mut [C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    material: &[u32],
    shape: &[u32],
    table: &[R],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    dt: R,
    overlap_limit: R,
    n: u32,
    materials: u32,
    elements_to_place: u32,
    walls_to_place: u32,
    parity: u32,
    #[comptime] frictional: bool,
    #[comptime] is_extended: bool,
    #[comptime] shaped: bool,
    #[comptime] places: bool,
) {
    let k = ABSOLUTE_POS;
    // Reads come as early as they can, so that one wait serves many.
    let lead = leads[min(k, n as usize - 1usize)];
    // A grid of several rows may have more blocks than there are records.
    let at = CUBE_POS * 2usize;
    let mut power_sum = Record::<C>::new(C::new(0.0));
    power_sum = power[min(at, power.len() - 1usize)];
    let goes = !is_halted(flags, parity);
    let i = lead.extract(0usize) as usize;
    let first = lead.extract(1usize) as usize;
    let mut end = lead.extract(2usize) as usize;
    let mut turning = Record::<R>::new(R::new(0.0));
    if frictional {
        turning = spin[i];
    }
    let grain = grain_of::<C, R>(position[i], velocity[i], turning);
    let own_material = material[i];
    if shaped {
        if shape[i] != FREE {
            end = first;
        }
    }
    let is_meant = goes && k < n as usize;
    let mut took = Record::<R>::new(R::new(0.0));
    if places {
        let mut own_elements = Shared::<[C]>::new_slice(PLACED_ELEMENTS * ELEMENT);
        let mut own_records = Shared::<[C]>::new_slice(PLACED_WALLS * WALL);
        place_in_block::<C>(
            elements,
            records,
            poses,
            servos,
            placed,
            placed_records,
            flags,
            elements_to_place,
            walls_to_place,
            &mut own_elements,
            &mut own_records,
        );
        if is_meant {
            took = push_by_walls::<R, C>(
                i,
                &grain,
                own_material,
                first,
                end,
                lead.extract(3usize),
                list,
                &own_elements,
                &own_records,
                history,
                wall_contacts,
                table,
                force,
                torque,
                flags,
                dt,
                overlap_limit,
                materials,
                parity,
                frictional,
                is_extended,
            );
        }
        // The sums below may use the same shared memory.
        sync_cube();
    }
    if comptime!(!places) {
        if is_meant {
            took = push_by_walls::<R, C>(
                i,
                &grain,
                own_material,
                first,
                end,
                lead.extract(3usize),
                list,
                elements,
                records,
                history,
                wall_contacts,
                table,
                force,
                torque,
                flags,
                dt,
                overlap_limit,
                materials,
                parity,
                frictional,
                is_extended,
            );
        }
    }
    if goes {
        let total = widened_record::<C, R>(sum_of_square_cube::<R>(took, 8usize));
        if UNIT_POS == 0u32 && at < power.len() {
            power_sum += total;
            power[at] = power_sum;
            power[at + 1usize] = total;
        }
    }
}

/// Places walls in `own_elements` and `own_records`, see [`walls()`]. Numbers that do not move are taken from `placed` and `placed_records`.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn place_in_block<C: Real>(
    start: &[C],
    at_rest: &[C],
    poses: &[C],
    servos: &[C],
    placed: &mut [C],
    placed_records: &mut [C],
    flags: &mut [u32],
    elements: u32,
    walls: u32,
    own_elements: &mut [C],
    own_records: &mut [C],
) {
    let e = UNIT_POS as usize;
    let first_pose = (flags[DONE] * walls) as usize;
    if e < elements as usize {
        let from = e * 12usize;
        place_element::<C>(e, start, at_rest, poses, first_pose, servos, own_elements);
        own_elements[from + 9usize] = placed[from + 9usize];
        own_elements[from + 10usize] = placed[from + 10usize];
        if CUBE_POS == 0usize {
            #[unroll]
            for c in 0..9usize {
                let number = from + c;
                placed[number] = own_elements[number];
            }
        }
    }
    // Walls are placed by the other half of the threads first, so that they do not wait for the elements.
    let w = (e + WALL_THREADS / 2usize) % WALL_THREADS;
    if w < walls as usize {
        let from = w * 24usize;
        place_wall::<C>(w, at_rest, poses, first_pose, servos, own_records);
        own_records[from + 9usize] = placed_records[from + 9usize];
        own_records[from + 10usize] = placed_records[from + 10usize];
        if CUBE_POS == 0usize {
            #[unroll]
            for c in 0..9usize {
                placed_records[from + c] = own_records[from + c];
                placed_records[from + 12usize + c] = own_records[from + 12usize + c];
            }
        }
    }
    sync_cube();
}

/// Stores the wall forces on a grain as records i of `force` and `torque`, and returns their powers. `lead` is the element of the first entry of its row.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn push_by_walls<R: Real, C: Coordinate<R>>(
    i: usize,
    grain: &Grain<C, R>,
    material: u32,
    first: usize,
    end: usize,
    lead: u32,
    list: &[u32],
    elements: &[C],
    records: &[C],
    history: &mut [R],
    wall_contacts: &mut [C],
    table: &[R],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    dt: R,
    overlap_limit: R,
    materials: u32,
    parity: u32,
    #[comptime] frictional: bool,
    #[comptime] is_extended: bool,
) -> Record<R> {
    let load = walls_of::<C, R>(
        grain,
        material,
        first,
        end,
        lead,
        list,
        0usize,
        elements,
        records,
        history,
        wall_contacts,
        materials,
        table,
        dt,
        overlap_limit,
        frictional,
        is_extended,
    );
    force[i] = record::<R>(&load.force, load.contacts);
    if frictional {
        torque[i] = record::<R>(&load.torque, R::new(0.0));
    }
    if load.powers.excess > R::new(0.0) {
        raise(flags, parity, TOO_DEEP);
    }
    four_numbers::<R>(
        load.powers.normal_power,
        load.powers.tangential_power,
        load.powers.damping_power,
        load.powers.wall_power,
    )
}
