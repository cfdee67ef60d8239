//! Assembly of forces in several launches, as in the literature, for comparison with the single launch of [`crate::kernels::step::grains()`].
//!
//! There are two methods, and all their sums have a fixed order.
//!
//! - With a list of contacts \[PUC-Rio 2009\]: count the contacts of every grain, form the prefix sums, and find every contact by its number. Compute
//!   it for the grain that owns its row, and add up by grain. Each of the two grains has the contact in its own row.
//! - With every contact once \[ME964 2011\]: only the earlier of the two grains counts it. The results for both are sorted by grain before they are
//!   added up.
//!
//! The first launch decides which pairs are in contact, and sets the highest bit of their entries, see [`crate::tiles`]. No later launch decides
//! again, with other roundings. The history of a new contact is zero.

use super::{add_and_store_sum, is_halted, raise};
use crate::entries::{IN_CONTACT_BIT, PLACE, TILE, first_entry, history_at};
use crate::grain::{Grain, grain_of, no_load, pair_of};
use crate::layout::{Record, coefficients, last, record, xyz};
use crate::motion::TOO_DEEP;
use crate::pair::{depth_of, frictional_pair_contact, normal_pair_contact};
use crate::periodic::{Image, open_sides};
use crate::tiles::{ContactKernelConfig, fetch, if_uniform, of_pair, push_on, resolve};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, smaller};

/// 1 if grain i counts its contact with the grain at `place`, else 0. With `once`, only the earlier of the two grains counts it.
#[cube]
fn counted(i: usize, place: u32, #[comptime] once: bool) -> u32 {
    let mut share = 1u32;
    if once {
        if place < i as u32 {
            share = 0u32;
        }
    }
    share
}

/// Clears the history of an entry.
#[cube]
fn forget<R: Real>(entry: usize, history: &mut [R], #[comptime] numbers: usize) {
    #[unroll]
    for c in 0..numbers {
        history[history_at(entry, c, numbers)] = R::new(0.0);
    }
}

/// Counts the contacts of every grain, and flags their entries. With `once`, only the earlier of two grains counts.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn count_contacts<R: Real, C: Real>(
    tile_first: &[u32],
    count: &[u32],
    list: &mut [u32],
    history: &mut [R],
    position: &[Record<C>],
    flags: &mut [u32],
    contact_count: &mut [u32],
    n: u32,
    parity: u32,
    #[comptime] frictional: bool,
    #[comptime] numbers: usize,
    #[comptime] once: bool,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if i < n as usize {
            let here = xyz::<C>(position[i]);
            let reach = last::<C>(position[i]);
            let first = first_entry(i, tile_first);
            let mut contacts = 0u32;
            for s in 0..count[i] {
                let entry = first + s as usize * TILE;
                let word = list[entry];
                let place = word & PLACE;
                let touched = word >> IN_CONTACT_BIT;
                let there = position[place as usize];
                let apart = here.minus(&xyz::<C>(there));
                let depth = depth_of::<C>(&apart, reach + last::<C>(there));
                if depth > C::new(0.0) {
                    contacts += counted(i, place, once);
                    if touched == 0u32 {
                        list[entry] = place | 0x8000_0000u32;
                        if frictional {
                            forget::<R>(entry, history, numbers);
                        }
                    }
                } else if touched == 1u32 {
                    list[entry] = place;
                }
            }
            contact_count[i] = contacts;
        }
    }
}

/// Finds the grain and the entry of every contact. The contacts of grain i have the numbers from `first_contact[i]` to before `first_contact[i + 1]`,
/// in the order of its row. `once` is that of [`count_contacts()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn identify_contacts(
    first_contact: &[u32],
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    contact_grain: &mut [u32],
    contact_entry: &mut [u32],
    flags: &mut [u32],
    n: u32,
    parity: u32,
    #[comptime] once: bool,
) {
    let k = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if k < first_contact[n as usize] as usize {
            // The last grain with a first contact at or before k. A grain without contacts has the same first contact as the next.
            let mut i = 0usize;
            let mut end = n as usize;
            while end - i > 1usize {
                let middle = (i + end) / 2usize;
                if k >= first_contact[middle] as usize {
                    i = middle;
                } else {
                    end = middle;
                }
            }
            let first = first_entry(i, tile_first);
            let mut next = first_contact[i] as usize;
            for s in 0..count[i] {
                let entry = first + s as usize * TILE;
                let word = list[entry];
                if word >> IN_CONTACT_BIT == 1u32 {
                    if counted(i, word & PLACE, once) == 1u32 {
                        if next == k {
                            contact_entry[k] = entry as u32;
                        }
                        next += 1usize;
                    }
                }
            }
            contact_grain[k] = i as u32;
        }
    }
}

/// State of grain i for its contacts.
#[cube]
fn grain_at<C: Coordinate<R>, R: Real>(
    i: usize,
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    #[comptime] frictional: bool,
) -> Grain<C, R> {
    let mut turning = Record::<R>::new(R::new(0.0));
    if frictional {
        turning = spin[i];
    }
    grain_of::<C, R>(position[i], velocity[i], turning)
}

/// Computes every contact for the grain that owns its row: force and number of contacts, torque, half of the powers, history.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn compute_ends<R: Real, C: Coordinate<R>>(
    first_contact: &[u32],
    contact_grain: &[u32],
    contact_entry: &[u32],
    list: &mut [u32],
    history: &mut [R],
    material: &[u32],
    table: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    contact_force: &mut [Record<R>],
    contact_torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    dt: R,
    overlap_limit: R,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] kind: ContactKernelConfig,
) {
    let k = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        if k < first_contact[n as usize] as usize {
            let i = contact_grain[k] as usize;
            let entry = contact_entry[k] as usize;
            let stride = history_at(entry, 0usize, kind.numbers);
            let word = list[entry];
            let grain = grain_at::<C, R>(i, position, velocity, spin, kind.frictional);
            let neighbor = fetch::<C, R>(word, stride, history, position, velocity, spin, kind);
            let own_row = material[if_uniform(i, kind.uniform)] * materials;
            let own = coefficients::<R>(table, (own_row + material[if_uniform(i, kind.uniform)]) as usize);
            let laws = of_pair::<R>(&own, table, own_row, material, neighbor.place as usize, kind);
            let mut load = no_load::<R>();
            if kind.frictional {
                resolve::<C, R>(
                    &grain,
                    &neighbor,
                    &laws,
                    entry,
                    stride,
                    list,
                    history,
                    &open_sides::<C, R>(),
                    dt,
                    overlap_limit,
                    &mut load,
                    kind,
                );
            } else {
                push_on::<C, R>(&grain, &neighbor, &laws, &open_sides::<C, R>(), overlap_limit, &mut load, 0u32);
            }
            contact_force[k] = record::<R>(&load.force, load.contacts);
            if kind.frictional {
                contact_torque[k] = record::<R>(&load.torque, R::new(0.0));
            }
            took.insert(0usize, load.normal_power);
            took.insert(1usize, load.tangential_power);
            took.insert(2usize, load.damping_power);
            if load.excess > R::new(0.0) {
                raise(flags, parity, TOO_DEEP);
            }
        }
        add_and_store_sum::<C, R>(power, took, 16usize);
    }
}

/// The entry of the grain at `place` in the row of its neighbor j.
#[cube]
fn entry_in_row_of(j: usize, place: u32, tile_first: &[u32], count: &[u32], list: &[u32]) -> usize {
    let first = first_entry(j, tile_first);
    let mut found = first;
    for s in 0..count[j] {
        let entry = first + s as usize * TILE;
        let other = list[entry] & PLACE;
        if other == place {
            found = entry;
        }
    }
    found
}

/// Writes the history of one end of a contact: its spring force \[N\] and the contact radius \[m\].
#[cube]
fn store_history<R: Real>(entry: usize, force: &Vector3<R>, contact_radius: R, history: &mut [R], #[comptime] kind: ContactKernelConfig) {
    history[history_at(entry, 0usize, kind.numbers)] = force.x;
    history[history_at(entry, 1usize, kind.numbers)] = force.y;
    history[history_at(entry, 2usize, kind.numbers)] = force.z;
    if kind.numbers == 4usize {
        history[history_at(entry, 3usize, kind.numbers)] = contact_radius;
    }
}

/// Computes every contact once, for both of its grains. Items 2k and 2k + 1 are the results of contact k for the two grains, and their keys are the
/// indices of the grains. Both entries of the contact store its history. `room` is the largest number of contacts.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn compute_pairs<R: Real, C: Coordinate<R>>(
    first_contact: &[u32],
    contact_grain: &[u32],
    contact_entry: &[u32],
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    history: &mut [R],
    material: &[u32],
    table: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    key: &mut [u32],
    contact_force: &mut [Record<R>],
    contact_torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    dt: R,
    overlap_limit: R,
    room: u32,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] kind: ContactKernelConfig,
) {
    let k = ABSOLUTE_POS;
    // Unused items get a key of their own each, after all grains, because sorting compares items of one key. Sorting does not check for a halt, so
    // the keys must be valid then, too.
    let mut key_i = n + k as u32 * 2u32;
    let mut key_j = n + k as u32 * 2u32 + 1u32;
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        if k < first_contact[n as usize] as usize {
            let place = contact_grain[k];
            let i = place as usize;
            let entry = contact_entry[k] as usize;
            let stride = history_at(entry, 0usize, kind.numbers);
            let grain = grain_at::<C, R>(i, position, velocity, spin, kind.frictional);
            let neighbor = fetch::<C, R>(list[entry], stride, history, position, velocity, spin, kind);
            let own_row = material[if_uniform(i, kind.uniform)] * materials;
            let own = coefficients::<R>(table, (own_row + material[if_uniform(i, kind.uniform)]) as usize);
            let laws = of_pair::<R>(&own, table, own_row, material, neighbor.place as usize, kind);
            let apart = grain.position.minus(&neighbor.position);
            let depth = depth_of::<C>(&apart, grain.reach + neighbor.reach);
            let mut force_i = Record::<R>::new(R::new(0.0));
            let mut force_j = Record::<R>::new(R::new(0.0));
            let mut torque_i = Record::<R>::new(R::new(0.0));
            let mut torque_j = Record::<R>::new(R::new(0.0));
            let mut excess = R::new(-1.0);
            // If rounding differs from that of the count, such a shallow contact has no force.
            if depth > C::new(0.0) {
                let one = R::new(1.0);
                let minus = R::new(-1.0);
                let image = Image::<C> {
                    apart,
                    passed: C::new(0.0),
                    crossed: Vector3::<C>::zero(),
                };
                let pair = pair_of::<C, R>(&grain, &neighbor, &image, depth, &open_sides::<C, R>(), 0u32);
                let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
                if kind.frictional {
                    let outcome = frictional_pair_contact::<R>(&pair, &grain.spin, &neighbor.spin, &neighbor.stored_history, &laws, dt);
                    let other = entry_in_row_of(neighbor.place as usize, place, tile_first, count, list);
                    let contact_radius = outcome.history.contact_radius;
                    store_history::<R>(entry, &outcome.history.force, contact_radius, history, kind);
                    store_history::<R>(other, &outcome.history.force.times(minus), contact_radius, history, kind);
                    force_i = record::<R>(&outcome.force, one);
                    force_j = record::<R>(&outcome.force.times(minus), one);
                    torque_i = record::<R>(&outcome.bend.times(outcome.arm_i), R::new(0.0));
                    torque_j = record::<R>(&outcome.bend.times(outcome.arm_j), R::new(0.0));
                    took.insert(0usize, outcome.normal_power);
                    took.insert(1usize, outcome.tangential_power);
                    took.insert(2usize, outcome.damping_power);
                    excess = outcome.overlap - allowed;
                } else {
                    let outcome = normal_pair_contact::<R>(&pair, &laws);
                    force_i = record::<R>(&outcome.force, one);
                    force_j = record::<R>(&outcome.force.times(minus), one);
                    took.insert(0usize, outcome.normal_power);
                    excess = outcome.overlap - allowed;
                }
            }
            key_i = place;
            key_j = neighbor.place;
            contact_force[k * 2usize] = force_i;
            contact_force[k * 2usize + 1usize] = force_j;
            if kind.frictional {
                contact_torque[k * 2usize] = torque_i;
                contact_torque[k * 2usize + 1usize] = torque_j;
            }
            if excess > R::new(0.0) {
                raise(flags, parity, TOO_DEEP);
            }
        }
        add_and_store_sum::<C, R>(power, took, 16usize);
    }
    if k < room as usize {
        key[k * 2usize] = key_i;
        key[k * 2usize + 1usize] = key_j;
    }
}

/// Adds up the results for every grain, one item after the other: the items from `first[i]` to before `first[i + 1]` or, with `sorted`, those of
/// `order` in this range. With `walls`, the wall forces from kernel [`crate::kernels::wall_forces::walls()`] are added for the grains near walls.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn assemble<R: Real>(
    first: &[u32],
    order: &[u32],
    contact_force: &[Record<R>],
    contact_torque: &[Record<R>],
    wall_row: &[u32],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    n: u32,
    parity: u32,
    #[comptime] frictional: bool,
    #[comptime] sorted: bool,
    #[comptime] walls: bool,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if i < n as usize {
            let mut pushed = Record::<R>::new(R::new(0.0));
            let mut turned = Record::<R>::new(R::new(0.0));
            for place in first[i] as usize..first[i + 1usize] as usize {
                let mut item = place;
                if sorted {
                    item = order[place] as usize;
                }
                pushed += contact_force[item];
                if frictional {
                    turned += contact_torque[item];
                }
            }
            if walls {
                if wall_row[i] < wall_row[i + 1usize] {
                    pushed += force[i];
                    if frictional {
                        turned += torque[i];
                    }
                }
            }
            force[i] = pushed;
            if frictional {
                torque[i] = turned;
            }
        }
    }
}
