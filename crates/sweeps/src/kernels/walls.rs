//! Wall poses, servos, and wear.

use super::{DONE, THREADS, is_halted, sum_of_cube};
use crate::layout::{Record, load, recall};
use crate::wall_pose::{load_of_contact, place_element, place_wall, servo_axis, steer};
use crate::wear::wear_of;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3};

/// Moves elements and walls, one thread each, to their poses at this step. `poses` holds one pose per wall for every step since the last
/// synchronization with the host. Every wall has at least one element.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn place<C: Real>(
    start: &[C],
    at_rest: &[C],
    poses: &[C],
    servos: &[C],
    records: &mut [C],
    elements: &mut [C],
    flags: &[u32],
    walls: u32,
    n: u32,
) {
    let e = ABSOLUTE_POS;
    let first_pose = (flags[DONE] * walls) as usize;
    if e < n as usize {
        place_element::<C>(e, start, at_rest, poses, first_pose, servos, elements);
    }
    if e < walls as usize {
        place_wall::<C>(e, at_rest, poses, first_pose, servos, records);
    }
}

/// Whether entry k of the wall list belongs to this wall.
#[cube]
pub(super) fn is_of_wall<C: Real>(k: usize, wall: usize, list: &[u32], elements: &[C]) -> bool {
    C::whole(elements[list[k] as usize * 12usize + 10usize]) as usize == wall
}

/// Whether entry k of the wall list is a contact with this wall.
#[cube]
pub(super) fn touches_wall<C: Real>(k: usize, wall: usize, list: &[u32], elements: &[C], wall_contacts: &[C]) -> bool {
    is_of_wall::<C>(k, wall, list, elements) && wall_contacts[k * 8usize + 7usize] > C::new(0.0)
}

/// Load of the contact of entry k on a servo, see [`load_of_contact()`].
#[cube]
pub(super) fn load_of_entry<C: Real>(k: usize, wall_contacts: &[C], direction: &Vector3<C>, axis: &Vector3<C>, through: &Vector3<C>) -> C {
    let force = load::<C>(wall_contacts, k * 8usize + 4usize);
    let point = load::<C>(wall_contacts, k * 8usize);
    load_of_contact::<C>(&force, &point, direction, axis, through)
}

/// Advances the servos by one step, one block each. The load is the sum over the grains in contact with the wall, in a fixed order.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn control<C: Real>(
    wall_contacts: &[C],
    list: &[u32],
    elements: &[C],
    poses: &[C],
    servos: &mut [C],
    flags: &mut [u32],
    entries: u32,
    walls: u32,
    dt: C,
    parity: u32,
) {
    let wall = CUBE_POS;
    if !is_halted(flags, parity) {
        let own = min(wall, walls as usize - 1usize);
        let servo = own * 20usize;
        let pose = ((flags[DONE] * walls) as usize + own) * 24usize;
        let direction = recall::<C>(servos, servo);
        let axis = servo_axis::<C>(poses, pose, servos[servo + 11usize]);
        let through = load::<C>(poses, pose);
        let mut pushed = C::new(0.0);
        let mut touching = C::new(0.0);
        let mut k = UNIT_POS as usize;
        while k < entries as usize {
            if touches_wall::<C>(k, wall, list, elements, wall_contacts) {
                pushed += load_of_entry::<C>(k, wall_contacts, &direction, &axis, &through);
                touching += C::new(1.0);
            }
            k += THREADS;
        }
        let mut amounts = Record::<C>::new(C::new(0.0));
        amounts.insert(0usize, pushed);
        amounts.insert(1usize, touching);
        let total = sum_of_cube::<C>(amounts);
        if UNIT_POS == 0u32 && wall < walls as usize {
            let is_on = poses[pose + 12usize];
            steer::<C>(wall, total.extract(0usize), total.extract(1usize), is_on, dt, elements, servos);
        }
    }
}

/// Adds the sliding work of a step of the n grains near walls, whose indices are in `grains`, to the sums of their wall contacts: one number for
/// every entry of the list.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wear<R: Real, C: Coordinate<R>>(
    grains: &[u32],
    row: &[u32],
    list: &[u32],
    elements: &[C],
    records: &[C],
    wall_contacts: &[C],
    work: &mut [C],
    position: &[C],
    velocity: &[R],
    spin: &[R],
    flags: &mut [u32],
    dt: R,
    n: u32,
    parity: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize && !is_halted(flags, parity) {
        let i = grains[k] as usize;
        wear_of::<C, R>(
            i,
            row[i] as usize,
            row[i + 1usize] as usize,
            list,
            0usize,
            elements,
            records,
            wall_contacts,
            work,
            position,
            velocity,
            spin,
            dt,
            frictional,
        );
    }
}
