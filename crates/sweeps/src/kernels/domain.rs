//! Migration and halo exchange of grains: selection, packing and unpacking. Fluid and wall particles are selected and removed in the same way.
//!
//! A migrating grain or a ghost particle consists of four words, three coordinate records and two motion records. The words are id, material, group
//! and member number. The coordinate records are position, velocity and angular velocity at half steps. The motion records are velocity and angular
//! velocity for laws. Other columns, if any, are packed one by one.

use super::neighbor_lists::{FAR, entry_of_origin, is_outside, lower, put_corners, upper};
use super::{HALTED, THREADS};
use crate::bodies::{FREE, GHOST, REMOVED, ghost_of, is_ghost, is_owned};
use crate::cells::cell_number;
use crate::domain::{Block, is_in_block};
use crate::entries::{IN_CONTACT_BIT, PLACE, TILE, contacts_in_row, first_entry, history_at};
use crate::fluid::{WALL_BIT, is_suspended};
use crate::layout::{Record, last, load, record, xyz};
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Mark of [`find_for_others()`] for a grain that leaves this subdomain. The next bits are the marks of ghosts, one for each neighbor.
pub const LEAVES: u32 = 1;

/// Most neighbors for which [`find_for_others()`] has marks.
pub const MOST_NEIGHBORS: usize = 31;

/// Numbers of a block in [`find_for_others()`]: its lower and upper bounds, and the distances of its images.
const BLOCK: usize = 9;

/// Number of keys for removed grains, after those of cells and of the outside. They are spread because sorting is slow with many grains of one key.
pub const REMOVED_KEYS: usize = 1024;

/// For each grain that this subdomain owns and that is inside the world: whether it is in a block or, with `beyond`, whether it is not.
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
        let mut kept = 0u32;
        if is_sought::<C>(position[i], member[i], domain, block, beyond) {
            kept = 1u32;
        }
        keep[i] = kept;
    }
}

/// Whether this subdomain owns a grain that is inside the world and in a block or, with `beyond`, not in it.
#[cube]
fn is_sought<C: Real>(position: Record<C>, member: u32, domain: &[C], block: &Block<C>, #[comptime] beyond: bool) -> bool {
    let p = xyz::<C>(position);
    let mut is_meant = is_in_block::<C>(&p, block);
    if beyond {
        is_meant = !is_meant;
    }
    let mut is_kept = false;
    if is_meant && is_owned(member) {
        if !is_outside::<C>(&p, domain) {
            is_kept = true;
        }
    }
    is_kept
}

/// Marks the grains that this subdomain owns and that are inside the world: with [`LEAVES`] those outside the first block, which is that of this subdomain,
/// and with bit k those that stay and are in block k, which is that of a neighbor with its halo. Also finds the box around all n grains, as
/// [`crate::kernels::neighbor_lists::bounds()`]. So all positions are read once.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn find_for_others<C: Real>(
    position: &[Record<C>],
    member: &[u32],
    domain: &[C],
    blocks: &[C],
    marks: &mut [u32],
    corners: &mut [Record<C>],
    number_of_blocks: u32,
    n: u32,
) {
    let far = C::new(FAR);
    let mut low = Vector3::<C> { x: far, y: far, z: far };
    let mut high = low.times(C::new(-1.0));
    let mut inside = C::new(0.0);
    let own = block_at::<C>(blocks, 0usize);
    let mut i = ABSOLUTE_POS;
    while i < n as usize {
        let p = xyz::<C>(position[i]);
        let mut mark = 0u32.runtime();
        if !is_outside::<C>(&p, domain) {
            low = lower::<C>(&low, &p);
            high = upper::<C>(&high, &p);
            inside += C::new(1.0);
            if is_owned(member[i]) {
                if is_in_block::<C>(&p, &own) {
                    for k in 1u32..number_of_blocks {
                        let block = block_at::<C>(blocks, k as usize);
                        if is_in_block::<C>(&p, &block) {
                            mark |= 1u32 << k;
                        }
                    }
                } else {
                    mark = LEAVES.runtime();
                }
            }
        }
        marks[i] = mark;
        i += 65536usize;
    }
    put_corners::<C>(&low, &high, inside, corners);
}

/// The block with this number.
#[cube]
fn block_at<C: Real>(blocks: &[C], k: usize) -> Block<C> {
    let first = k * BLOCK;
    Block::<C> {
        low: load::<C>(blocks, first),
        high: load::<C>(blocks, first + 3usize),
        length: load::<C>(blocks, first + 6usize),
    }
}

/// Finds the same grains as [`find_within()`] without `beyond`, among m candidates, see [`crate::cells`]. With `in_cells`, a candidate is a cell with all
/// its grains: the box of these cells begins at the cell x y z of a grid, and is `wide_x` and `wide_y` cells wide. With `bonded`, it is the grain at one of
/// these indices, which is listed unless it is found in the block. Else it is one of the grains from index `first` on.
///
/// Counts the grains of each candidate, from index `from` of `found` on. With `fill`, writes their indices from the entry in `start` on instead.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn find_among<C: Real>(
    position: &[Record<C>],
    member: &[u32],
    domain: &[C],
    cell_first: &[u32],
    shapes: &[u32],
    place: &[u32],
    start: &[u32],
    found: &mut [u32],
    block: &Block<C>,
    grid: u32,
    x: u32,
    y: u32,
    z: u32,
    wide_x: u32,
    wide_y: u32,
    first: u32,
    from: u32,
    m: u32,
    #[comptime] in_cells: bool,
    #[comptime] bonded: bool,
    #[comptime] fill: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let mut begin = first as usize + k;
        if bonded {
            begin = place[k] as usize;
        }
        let mut end = begin + 1usize;
        if in_cells {
            let along = k as u32;
            let row = along / wide_x;
            let cell = cell_number(shapes, grid as usize, x + along % wide_x, y + row % wide_y, z + row / wide_y, false) as usize;
            begin = cell_first[cell] as usize;
            end = cell_first[cell + 1usize] as usize;
        }
        let entry = from as usize + k;
        let mut at = 0u32;
        if fill {
            at = start[entry];
        }
        for i in begin..end {
            let mut is_listed = is_sought::<C>(position[i], member[i], domain, block, false);
            if bonded {
                is_listed = !is_listed;
            }
            if is_listed {
                if fill {
                    found[at as usize] = i as u32;
                }
                at += 1u32;
            }
        }
        if !fill {
            found[entry] = at;
        }
    }
}

/// Packs m grains: the first of a list of found indices, which begins at entry `first` of `found`. The list has a number, by which `kept` has how many were
/// found. If these are fewer, grain 0 follows. `place` gets the indices.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack<R: Real, C: Real>(
    found: &[u32],
    kept: &[u32],
    place: &mut [u32],
    id: &[u32],
    material: &[u32],
    group: &[u32],
    member: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &[Record<R>],
    half_spin: &[Record<R>],
    words: &mut [u32],
    coordinates: &mut [Record<C>],
    motions: &mut [Record<R>],
    list: u32,
    first: u32,
    m: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let mut taken = 0u32;
        if k < kept[list as usize] as usize {
            taken = found[first as usize + k];
        }
        place[k] = taken;
        let i = taken as usize;
        words[k * 4usize] = id[i];
        words[k * 4usize + 1usize] = material[i];
        words[k * 4usize + 2usize] = group[i];
        words[k * 4usize + 3usize] = member[i];
        coordinates[k] = position[i];
        motions[k * 4usize] = velocity[i];
        motions[k * 4usize + 1usize] = half_velocity[i];
        if frictional {
            motions[k * 4usize + 2usize] = spin[i];
            motions[k * 4usize + 3usize] = half_spin[i];
        }
    }
}

/// Unpacks m packed grains to the indices from `from` on, as ghost particles or as own grains. `place` gets the indices of ghosts, behind those that are
/// `listed`.
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
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    place: &mut [u32],
    listed: u32,
    from: u32,
    m: u32,
    #[comptime] as_ghosts: bool,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = from as usize + k;
        id[i] = words[k * 4usize];
        material[i] = words[k * 4usize + 1usize];
        group[i] = words[k * 4usize + 2usize];
        let own = words[k * 4usize + 3usize];
        if as_ghosts {
            member[i] = ghost_of(own);
            place[listed as usize + k] = i as u32;
        } else {
            member[i] = own;
        }
        position[i] = coordinates[k];
        velocity[i] = motions[k * 4usize];
        half_velocity[i] = with_own_sum::<R>(motions[k * 4usize + 1usize], as_ghosts);
        if frictional {
            spin[i] = with_own_sum::<R>(motions[k * 4usize + 2usize], as_ghosts);
            half_spin[i] = with_own_sum::<R>(motions[k * 4usize + 3usize], as_ghosts);
        }
    }
}

/// A record whose last number sums powers of a grain, see [`super::step::grains()`]. A ghost has none: they are those of its original.
#[cube]
fn with_own_sum<R: Real>(received: Record<R>, #[comptime] as_ghost: bool) -> Record<R> {
    let mut sum = last::<R>(received);
    if as_ghost {
        sum = R::new(0.0);
    }
    record::<R>(&xyz::<R>(received), sum)
}

/// Packs positions and motion of m grains: a record of coordinates, one of velocity and, with friction, one of angular velocity. The first word of
/// `halts` becomes the halt flag for the next step. Fluid particles are packed in the same way: position with volume, and velocity with pressure.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn show<R: Real, C: Real>(
    place: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    flags: &[u32],
    coordinates: &mut [Record<C>],
    motions: &mut [Record<R>],
    halts: &mut [u32],
    m: u32,
    parity: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k == 0usize {
        halts[0] = flags[(1u32 - parity) as usize + HALTED];
    }
    if k < m as usize {
        let i = place[k] as usize;
        coordinates[k] = position[i];
        if frictional {
            motions[k * 2usize] = velocity[i];
            // The last number sums the powers of the original's contacts.
            motions[k * 2usize + 1usize] = record::<R>(&xyz::<R>(spin[i]), R::new(0.0));
        } else {
            motions[k] = velocity[i];
        }
    }
}

/// Updates m ghosts of grains or fluid particles from their originals, see [`show()`]. Halts the next step if the other subdomain halts.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn follow<R: Real, C: Real>(
    place: &[u32],
    coordinates: &[Record<C>],
    motions: &[Record<R>],
    halts: &[u32],
    position: &mut [Record<C>],
    velocity: &mut [Record<R>],
    spin: &mut [Record<R>],
    flags: &mut [u32],
    m: u32,
    parity: u32,
    #[comptime] frictional: bool,
) {
    let k = ABSOLUTE_POS;
    if k == 0usize {
        if halts[0] != 0u32 {
            flags[(1u32 - parity) as usize + HALTED] = 1u32;
        }
    }
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

/// Sends the halt flag for the next step to other subdomains: two words for each of those on a GPU, one for either parity.
#[cube(launch)]
pub fn send_halt(flags: &[u32], reported: &mut [u32], domain: u32, parity: u32) {
    if ABSOLUTE_POS == 0usize {
        reported[(2u32 * domain + parity) as usize] = flags[(1u32 - parity) as usize + HALTED];
    }
}

/// Halts the next step if one of the received words is set, see [`send_halt()`].
#[cube(launch)]
pub fn receive_halts(reported: &[u32], flags: &mut [u32], domains: u32, parity: u32) {
    if ABSOLUTE_POS == 0usize {
        let mut halted = 0u32;
        for domain in 0..domains {
            halted |= reported[(2u32 * domain + parity) as usize];
        }
        flags[(1u32 - parity) as usize + HALTED] = halted;
    }
}

/// Adds the m grains at these indices to those that are kept.
#[cube(launch)]
pub fn keep_too(place: &[u32], keep: &mut [u32], m: u32) {
    if ABSOLUTE_POS < m as usize {
        keep[place[ABSOLUTE_POS] as usize] = 1u32;
    }
}

/// Word of [`list_part()`] for a grain that is listed already.
pub const LISTED: u32 = u32::MAX;

/// Lists the m grains at these indices as a part of a step, from word `first` of `parts` on, and marks them by the word at their index. A grain that is
/// marked already is left out. The indices are distinct.
#[cube(launch)]
pub fn list_part(place: &[u32], parts: &mut [u32], first: u32, m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k];
        let mut row = LISTED.runtime();
        if parts[i as usize] == 0u32 {
            parts[i as usize] = 1u32;
            row = i;
        }
        parts[first as usize + k] = row;
    }
}

/// Writes m successive indices, from this one on.
#[cube(launch)]
pub fn count_from(place: &mut [u32], first: u32, m: u32) {
    if ABSOLUTE_POS < m as usize {
        place[ABSOLUTE_POS] = first + ABSOLUTE_POS as u32;
    }
}

/// Marks m grains as removed.
#[cube(launch)]
pub fn mark_removed(place: &[u32], member: &mut [u32], m: u32) {
    if ABSOLUTE_POS < m as usize {
        member[place[ABSOLUTE_POS] as usize] = REMOVED;
    }
}

/// Marks all ghost particles as removed.
#[cube(launch)]
pub fn mark_ghosts_removed(member: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if is_ghost(member[i]) {
            member[i] = REMOVED;
        }
    }
}

/// Marks as removed: the m of n grains at these indices, which are no ghosts, and all ghosts.
#[cube(launch)]
pub fn mark_gone(place: &[u32], member: &mut [u32], m: u32, n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if is_ghost(member[i]) {
            member[i] = REMOVED;
        }
    }
    if i < m as usize {
        member[place[i] as usize] = REMOVED;
    }
}

/// Marks ghost fluid particles, which need no rows, by the member number of a ghost, and all others as free. The subdomain that owns a fluid particle
/// computes its force. Ghost wall particles have rows, because their pressures are computed in every subdomain with fluid near them.
#[cube(launch)]
pub fn mark_without_rows(kind: &[u32], owned: &[u32], marks: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = FREE.runtime();
        if kind[i] >> WALL_BIT == 0u32 && owned[i] == GHOST {
            mark = GHOST.runtime();
        }
        marks[i] = mark;
    }
}

/// For each of n places in a list of found particles: whether it is one of the first `kept`, and its particle is fluid.
#[cube(launch)]
pub fn mark_fluid(found: &[u32], kept: &[u32], kind: &[u32], keep: &mut [u32], n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let mut is_kept = 0u32;
        if k < kept[0] as usize {
            if kind[found[k] as usize] >> WALL_BIT == 0u32 {
                is_kept = 1u32;
            }
        }
        keep[k] = is_kept;
    }
}

/// Marks m particles of these kinds, from index `from` on, as ghosts, with their bodies for the lists: 0 for wall particles that are no small grains.
/// `fluid` has the places of the `followed` fluid particles among the m, and `place` gets their indices.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn mark_ghosts_of_fluid(
    kind: &[u32],
    fluid: &[u32],
    member: &mut [u32],
    owned: &mut [u32],
    place: &mut [u32],
    from: u32,
    m: u32,
    followed: u32,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = from as usize + k;
        let mut body = FREE.runtime();
        if kind[k] >> WALL_BIT != 0u32 {
            if !is_suspended(kind[k]) {
                body = 0u32;
            }
        }
        member[i] = body;
        owned[i] = GHOST;
    }
    if k < followed as usize {
        place[k] = from + fluid[k];
    }
}

/// New index of each of the n grains in an order.
#[cube(launch)]
pub fn invert(order: &[u32], place_of: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        place_of[order[i] as usize] = i as u32;
    }
}

/// Replaces old indices by new ones.
#[cube(launch)]
pub fn rename(place: &mut [u32], place_of: &[u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        place[k] = place_of[place[k] as usize];
    }
}

/// As [`rename()`], for m indices and for `too` others.
#[cube(launch)]
pub fn rename_both(place: &mut [u32], other: &mut [u32], place_of: &[u32], m: u32, too: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        place[k] = place_of[place[k] as usize];
    }
    if k < too as usize {
        other[k] = place_of[other[k] as usize];
    }
}

/// Number of contacts of each of m grains at the last step.
#[cube(launch)]
pub fn count_in_contact(place: &[u32], count: &[u32], tile_first: &[u32], list: &[u32], out: &mut [u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        out[k] = contacts_in_row(i, count[i], tile_first, list);
    }
}

/// Sum of the numbers of the threads of this block before this one. All threads of the block must call it.
#[cube]
fn sum_before(own: u32) -> u32 {
    let unit = UNIT_POS as usize;
    let mut sums = Shared::<[u32]>::new_slice(THREADS);
    sums[unit] = own;
    sync_cube();
    let mut reach = 1usize;
    while reach < THREADS {
        let mut left = 0u32;
        if unit >= reach {
            left = sums[unit - reach];
        }
        sync_cube();
        sums[unit] += left;
        sync_cube();
        reach *= 2usize;
    }
    sums[unit] - own
}

/// Packs the contact histories of m grains, from their entry of `start` on, with the number of the grain among the m and the id of the other grain.
/// Entries beyond the `room` are left out. With `counts`, one block counts them for itself, and writes `start` first.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack_histories<R: Real>(
    place: &[u32],
    start: &mut [u32],
    count: &[u32],
    tile_first: &[u32],
    list: &[u32],
    history: &[R],
    id: &[u32],
    whose: &mut [u32],
    histories: &mut [R],
    room: u32,
    m: u32,
    #[comptime] counts: bool,
    #[comptime] numbers: usize,
) {
    let k = ABSOLUTE_POS;
    if counts {
        let mut own = 0u32;
        if k < m as usize {
            let i = place[k] as usize;
            own = contacts_in_row(i, count[i], tile_first, list);
        }
        let before = sum_before(own);
        if k < m as usize {
            start[k] = before;
            if k + 1usize == m as usize {
                start[k + 1usize] = before + own;
            }
        }
    }
    if k < m as usize {
        let i = place[k] as usize;
        let first = first_entry(i, tile_first);
        let mut at = start[k] as usize;
        for s in 0..count[i] {
            let entry = first + s as usize * TILE;
            let word = list[entry];
            if word >> IN_CONTACT_BIT == 1u32 {
                if at < room as usize {
                    whose[at * 2usize] = k as u32;
                    whose[at * 2usize + 1usize] = id[(word & PLACE) as usize];
                    #[unroll]
                    for c in 0..numbers {
                        histories[at * numbers + c] = history[history_at(entry, c, numbers)];
                    }
                }
                at += 1usize;
            }
        }
    }
}

/// Restores contact histories of grains, see [`pack_histories()`]; `place` holds their present indices, from entry `from` on. Histories with grains that are
/// no longer near are dropped.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn unpack_histories<R: Real>(
    whose: &[u32],
    histories: &[R],
    place: &[u32],
    count: &[u32],
    tile_first: &[u32],
    list: &mut [u32],
    history: &mut [R],
    id: &[u32],
    from: u32,
    entries: u32,
    #[comptime] numbers: usize,
) {
    let at = ABSOLUTE_POS;
    if at < entries as usize {
        let i = place[(from + whose[at * 2usize]) as usize] as usize;
        let other = whose[at * 2usize + 1usize];
        let first = first_entry(i, tile_first);
        for s in 0..count[i] {
            let entry = first + s as usize * TILE;
            let j = list[entry] & PLACE;
            if id[j as usize] == other {
                list[entry] = j | 0x8000_0000u32;
                #[unroll]
                for c in 0..numbers {
                    history[history_at(entry, c, numbers)] = histories[at * numbers + c];
                }
            }
        }
    }
}

/// Number of wall elements near each of m grains.
#[cube(launch)]
pub fn count_near(place: &[u32], row: &[u32], out: &mut [u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        out[k] = row[i + 1usize] - row[i];
    }
}

/// As [`pack_histories()`], for wall elements.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack_wall_histories<R: Real>(
    place: &[u32],
    start: &mut [u32],
    row: &[u32],
    list: &[u32],
    history: &[R],
    whose: &mut [u32],
    histories: &mut [R],
    room: u32,
    m: u32,
    #[comptime] counts: bool,
    #[comptime] numbers: usize,
) {
    let k = ABSOLUTE_POS;
    if counts {
        let mut own = 0u32;
        if k < m as usize {
            let i = place[k] as usize;
            own = row[i + 1usize] - row[i];
        }
        let before = sum_before(own);
        if k < m as usize {
            start[k] = before;
            if k + 1usize == m as usize {
                start[k + 1usize] = before + own;
            }
        }
    }
    if k < m as usize {
        let i = place[k] as usize;
        let first = row[i] as usize;
        for q in first..row[i + 1usize] as usize {
            let at = start[k] as usize + q - first;
            if at < room as usize {
                whose[at * 2usize] = k as u32;
                whose[at * 2usize + 1usize] = list[q];
                #[unroll]
                for c in 0..numbers {
                    histories[at * numbers + c] = history[q * numbers + c];
                }
            }
        }
    }
}

/// As [`unpack_histories()`], for wall elements, or for their images if a grain was wrapped at a periodic side.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn unpack_wall_histories<R: Real, C: Real>(
    whose: &[u32],
    histories: &[R],
    place: &[u32],
    row: &[u32],
    list: &[u32],
    elements: &[C],
    history: &mut [R],
    from: u32,
    entries: u32,
    #[comptime] numbers: usize,
) {
    let at = ABSOLUTE_POS;
    let mark = comptime!(if numbers == 12usize { 9usize } else { 3usize });
    if at < entries as usize {
        let remembers = histories[at * numbers + mark] > R::new(0.0);
        if remembers {
            let i = place[(from + whose[at * 2usize]) as usize] as usize;
            let q = entry_of_origin::<C>(whose[at * 2usize + 1usize], row[i], row[i + 1usize], list, elements);
            if q < row[i + 1usize] {
                #[unroll]
                for c in 0..numbers {
                    history[q as usize * numbers + c] = histories[at * numbers + c];
                }
            }
        }
    }
}
