//! Grains of a domain that others own or see: chosen, packed, taken in. Particles of fluids and walls are chosen and let go alike.
//!
//! A grain that leaves, or a copy of one, is three words – id, material, group –, three records of coordinates – position, velocity and spin at half steps –
//! and two of motion – velocity, spin. Other columns, where there are any, are packed one by one.

use super::lists::{entry_of_origin, is_outside};
use crate::domain::{Block, is_in_block};
use crate::entries::{first_entry, history_at};
use crate::views::{Record, record, xyz};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Keys that grains which are no longer here are spread over, behind those of cells and of what is outside: many of one key are slow to order.
pub const SPREAD: usize = 1024;

/// Whether each grain that this domain owns, and that is inside of the world, is in a block; or, with `beyond`, whether it is not.
#[cube(launch)]
pub fn find_within<C: Real>(
    position: &[Record<C>],
    member: &[u32],
    domain: &[C],
    keep: &mut [u32],
    block: &Block<C>,
    n: u32,
    #[comptime] beyond: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let p = xyz::<C>(position[i]);
        let mut is_meant = is_in_block::<C>(&p, block);
        if beyond {
            is_meant = !is_meant;
        }
        let mut kept = 0u32;
        if is_meant && member[i] == 0xffff_ffffu32 {
            if !is_outside::<C>(&p, domain) {
                kept = 1u32;
            }
        }
        keep[i] = kept;
    }
}

/// Packs m grains at these places.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack<R: Real, C: Real>(
    place: &[u32],
    id: &[u32],
    material: &[u32],
    group: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &[Record<C>],
    half_spin: &[Record<C>],
    words: &mut [u32],
    coordinates: &mut [Record<C>],
    motions: &mut [Record<R>],
    m: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        words[k * 3usize] = id[i];
        words[k * 3usize + 1usize] = material[i];
        words[k * 3usize + 2usize] = group[i];
        coordinates[k * 3usize] = position[i];
        coordinates[k * 3usize + 1usize] = half_velocity[i];
        motions[k * 2usize] = velocity[i];
        if frictional {
            coordinates[k * 3usize + 2usize] = half_spin[i];
            motions[k * 2usize + 1usize] = spin[i];
        }
    }
}

/// Takes m packed grains in from place `from` on, as such members.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn unpack<R: Real, C: Real>(
    words: &[u32],
    coordinates: &[Record<C>],
    motions: &[Record<R>],
    id: &mut [u32],
    material: &mut [u32],
    group: &mut [u32],
    member: &mut [u32],
    position: &mut [Record<C>],
    velocity: &mut [Record<R>],
    spin: &mut [Record<R>],
    half_velocity: &mut [Record<C>],
    half_spin: &mut [Record<C>],
    from: u32,
    m: u32,
    of: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = from as usize + k;
        id[i] = words[k * 3usize];
        material[i] = words[k * 3usize + 1usize];
        group[i] = words[k * 3usize + 2usize];
        member[i] = of;
        position[i] = coordinates[k * 3usize];
        half_velocity[i] = coordinates[k * 3usize + 1usize];
        velocity[i] = motions[k * 2usize];
        if frictional {
            half_spin[i] = coordinates[k * 3usize + 2usize];
            spin[i] = motions[k * 2usize + 1usize];
        }
    }
}

/// Packs where m grains are and how they move: a record of coordinates, and one of velocity, with friction one of spin.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn show<R: Real, C: Real>(
    place: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    coordinates: &mut [Record<C>],
    motions: &mut [Record<R>],
    m: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        coordinates[k] = position[i];
        if frictional {
            motions[k * 2usize] = velocity[i];
            // The last number adds up what contacts of the original take.
            motions[k * 2usize + 1usize] = record::<R>(&xyz::<R>(spin[i]), R::new(0.0));
        } else {
            motions[k] = velocity[i];
        }
    }
}

/// Puts m copies where their originals are, see [`show()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn follow<R: Real, C: Real>(
    place: &[u32],
    coordinates: &[Record<C>],
    motions: &[Record<R>],
    position: &mut [Record<C>],
    velocity: &mut [Record<R>],
    spin: &mut [Record<R>],
    m: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        position[i] = coordinates[k];
        if frictional {
            velocity[i] = motions[k * 2usize];
            spin[i] = motions[k * 2usize + 1usize];
        } else {
            velocity[i] = motions[k];
        }
    }
}

/// Tells other domains whether what comes after a step of this parity is to halt: a word of each of those on a GPU, for either parity.
#[cube(launch)]
pub fn tell_halt(flags: &[u32], told: &mut [u32], domain: u32, domains: u32, parity: u32) {
    if ABSOLUTE_POS == 0usize {
        told[(parity * domains + domain) as usize] = flags[9usize - parity as usize];
    }
}

/// Halts what comes after a step of this parity if any of these words tells that another domain does, see [`tell_halt()`].
#[cube(launch)]
pub fn hear_halts(told: &[u32], flags: &mut [u32], domains: u32, parity: u32) {
    if ABSOLUTE_POS == 0usize {
        let mut halted = 0u32;
        for domain in 0..domains {
            halted |= told[(parity * domains + domain) as usize];
        }
        flags[9usize - parity as usize] = halted;
    }
}

/// Keeps the m grains at these places, too.
#[cube(launch)]
pub fn keep_too(place: &[u32], keep: &mut [u32], m: u32) {
    if ABSOLUTE_POS < m as usize {
        keep[place[ABSOLUTE_POS] as usize] = 1u32;
    }
}

/// Marks m grains as no longer here.
#[cube(launch)]
pub fn let_go(place: &[u32], member: &mut [u32], m: u32) {
    if ABSOLUTE_POS < m as usize {
        member[place[ABSOLUTE_POS] as usize] = 0xffff_fffdu32;
    }
}

/// Marks all copies as no longer here.
#[cube(launch)]
pub fn let_copies_go(member: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if member[i] == 0xffff_fffeu32 {
            member[i] = 0xffff_fffdu32;
        }
    }
}

/// Marks copies of fluid, which need no rows, by the member of a copy, and all else as free: how such a copy is pushed, its own domain finds. Copies of
/// walls have rows, for how a wall presses is found wherever fluid sees it.
#[cube(launch)]
pub fn mark_rowless(kind: &[u32], owned: &[u32], marks: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = 0xffff_ffffu32;
        if kind[i] >> 31u32 == 0u32 && owned[i] == 0xffff_fffeu32 {
            mark = 0xffff_fffeu32;
        }
        marks[i] = mark;
    }
}

/// Gives grains that are no longer here keys behind those of `cells` cells and of what is outside, see [`SPREAD`].
#[cube(launch)]
pub fn put_last(member: &[u32], key: &mut [u32], cells: u32, n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if member[i] == 0xffff_fffdu32 {
            key[i] = cells + 1u32 + i as u32 % 1024u32;
        }
    }
}

/// Where each of n grains of an order went.
#[cube(launch)]
pub fn invert(order: &[u32], place_of: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        place_of[order[i] as usize] = i as u32;
    }
}

/// From places before to places now.
#[cube(launch)]
pub fn rename(place: &mut [u32], place_of: &[u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        place[k] = place_of[place[k] as usize];
    }
}

/// How many grains each of m grains touched at the last step.
#[cube(launch)]
pub fn count_touched(place: &[u32], count: &[u32], tile_first: &[u32], list: &[u32], out: &mut [u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let first = first_entry(i, tile_first);
        let mut touched = 0u32;
        for s in 0..count[i] {
            touched += list[first + s as usize * 32usize] >> 31u32;
        }
        out[k] = touched;
    }
}

/// Packs what m grains remember of those they touched, from their entry of `start` on: whose it is, by its number among the m, and the id of the
/// other.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn take_histories<R: Real>(
    place: &[u32],
    start: &[u32],
    count: &[u32],
    tile_first: &[u32],
    list: &[u32],
    history: &[R],
    id: &[u32],
    whose: &mut [u32],
    remembered: &mut [R],
    m: u32,
    #[comptime] numbers: usize,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let first = first_entry(i, tile_first);
        let mut at = start[k] as usize;
        for s in 0..count[i] {
            let entry = first + s as usize * 32usize;
            let word = list[entry];
            if word >> 31u32 == 1u32 {
                whose[at * 2usize] = k as u32;
                whose[at * 2usize + 1usize] = id[(word & 0x7fff_ffffu32) as usize];
                #[unroll]
                for c in 0..numbers {
                    remembered[at * numbers + c] = history[history_at(entry, c, numbers)];
                }
                at += 1usize;
            }
        }
    }
}

/// Gives grains back what they remember of those they touched, see [`take_histories()`]; `place` tells where they are now. What is of grains that
/// are no longer near is let go.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn give_histories<R: Real>(
    whose: &[u32],
    remembered: &[R],
    place: &[u32],
    count: &[u32],
    tile_first: &[u32],
    list: &mut [u32],
    history: &mut [R],
    id: &[u32],
    entries: u32,
    #[comptime] numbers: usize,
) {
    let at = ABSOLUTE_POS;
    if at < entries as usize {
        let i = place[whose[at * 2usize] as usize] as usize;
        let other = whose[at * 2usize + 1usize];
        let first = first_entry(i, tile_first);
        for s in 0..count[i] {
            let entry = first + s as usize * 32usize;
            let j = list[entry] & 0x7fff_ffffu32;
            if id[j as usize] == other {
                list[entry] = j | 0x8000_0000u32;
                #[unroll]
                for c in 0..numbers {
                    history[history_at(entry, c, numbers)] = remembered[at * numbers + c];
                }
            }
        }
    }
}

/// How many elements of walls each of m grains is near.
#[cube(launch)]
pub fn count_near(place: &[u32], row: &[u32], out: &mut [u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        out[k] = row[i + 1usize] - row[i];
    }
}

/// As [`take_histories()`], of elements of walls.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn take_wall_histories<R: Real>(
    place: &[u32],
    start: &[u32],
    row: &[u32],
    list: &[u32],
    history: &[R],
    whose: &mut [u32],
    remembered: &mut [R],
    m: u32,
    #[comptime] numbers: usize,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let first = row[i] as usize;
        for q in first..row[i + 1usize] as usize {
            let at = start[k] as usize + q - first;
            whose[at * 2usize] = k as u32;
            whose[at * 2usize + 1usize] = list[q];
            #[unroll]
            for c in 0..numbers {
                remembered[at * numbers + c] = history[q * numbers + c];
            }
        }
    }
}

/// As [`give_histories()`], of elements of walls, or of their images where a grain was put back at a periodic side.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn give_wall_histories<R: Real, C: Real>(
    whose: &[u32],
    remembered: &[R],
    place: &[u32],
    row: &[u32],
    list: &[u32],
    elements: &[C],
    history: &mut [R],
    entries: u32,
    #[comptime] numbers: usize,
) {
    let at = ABSOLUTE_POS;
    let mark = comptime!(if numbers == 12usize { 9usize } else { 3usize });
    if at < entries as usize {
        let remembers = remembered[at * numbers + mark] > R::new(0.0);
        if remembers {
            let i = place[whose[at * 2usize] as usize] as usize;
            let q = entry_of_origin::<C>(whose[at * 2usize + 1usize], row[i], row[i + 1usize], list, elements);
            if q < row[i + 1usize] {
                #[unroll]
                for c in 0..numbers {
                    history[q as usize * numbers + c] = remembered[at * numbers + c];
                }
            }
        }
    }
}
