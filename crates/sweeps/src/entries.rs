//! Entries of GPU rows: their indices, and their contact histories, which are interleaved in the same way. A history has 3 numbers (spring force), 4
//! (with the contact radius, if a law needs it) or 10 (extended contact).
//!
//! ```
//! use seixo_sweeps::entries::{TILE, first_entry, history_at};
//! // Two tiles. The rows of the first have five entries each.
//! let tile_first = [0, 160];
//! assert_eq!([0, 1, 32, 35].map(|i| first_entry(i, &tile_first)), [0, 1, 160, 163]);
//! // The numbers of one history are as far apart as the entries of one row.
//! assert_eq!(history_at(163, 1, 3) - history_at(163, 0, 3), TILE);
//! ```

use crate::layout::BITS;
use cubecl::prelude::*;
use seixo_laws::contact::ExtendedHistory;
use seixo_laws::{Real, Vector3};

/// Grains per tile.
pub const TILE: usize = 32;
/// Bits of an entry that hold the index of the neighbor.
pub const PLACE: u32 = IN_CONTACT - 1;
/// Bit of an entry that is set if the pair was in contact at the last step.
pub const IN_CONTACT: u32 = 1 << IN_CONTACT_BIT;
/// Number of that bit.
pub const IN_CONTACT_BIT: u32 = 31;

/// First entry of grain i.
#[cube]
#[inline(always)]
pub fn first_entry(i: usize, tile_first: &[u32]) -> usize {
    tile_first[i / TILE] as usize + i % TILE
}

/// Index of number c of the history of an entry with `numbers` each: 32 after the number before.
#[cube]
#[inline(always)]
pub fn history_at(entry: usize, c: usize, #[comptime] numbers: usize) -> usize {
    (entry / TILE * numbers + c) * TILE + entry % TILE
}

/// Tangential spring force of an entry.
#[cube]
#[inline(always)]
pub fn spring_of<R: Real>(entry: usize, history: &[R], #[comptime] numbers: usize) -> Vector3<R> {
    Vector3::<R> {
        x: history[history_at(entry, 0usize, numbers)],
        y: history[history_at(entry, 1usize, numbers)],
        z: history[history_at(entry, 2usize, numbers)],
    }
}

/// Contact history of an entry beside its tangential spring, for an extended contact.
#[cube]
#[inline(always)]
pub fn extended_history_of<R: Real>(entry: usize, history: &[R]) -> ExtendedHistory<R> {
    let at = history_at(entry, 4usize, 10usize);
    ExtendedHistory::<R> {
        rolling: Vector3::<R> {
            x: history[at],
            y: history[at + TILE],
            z: history[at + 64usize],
        },
        twisting: history[at + 96usize],
        largest_overlap: history[at + 128usize],
        holds: history[at + 160usize],
    }
}

/// Sorts `count` entries from `first` on by the ids of their grains; none of them is flagged.
#[cube]
#[inline(always)]
pub fn sort_by_id(first: usize, count: u32, list: &mut [u32], id: &[u32]) {
    for s in 0..count {
        let j = list[first + s as usize * TILE];
        let own = id[j as usize];
        let mut place = s;
        let mut goes_on = s > 0u32;
        while goes_on {
            let before = list[first + (place as usize - 1usize) * TILE];
            goes_on = id[before as usize] > own;
            if goes_on {
                list[first + place as usize * TILE] = before;
                place -= 1u32;
                goes_on = place > 0u32;
            }
        }
        list[first + place as usize * TILE] = j;
    }
}

/// Number of entries in the row of grain i whose pair was in contact at the last step.
#[cube]
#[inline(always)]
pub fn contacts_in_row(i: usize, count: u32, tile_first: &[u32], list: &[u32]) -> u32 {
    let first = first_entry(i, tile_first);
    let mut contacts = 0u32;
    for s in 0..count {
        contacts += list[first + s as usize * TILE] >> IN_CONTACT_BIT;
    }
    contacts
}

/// Reads a number of a packed contact history, see [`put_packed_number()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn packed_number<R: Real>(
    contact: usize,
    number: usize,
    a: &[R],
    b: &[R],
    c: &[R],
    d: &[R],
    rest: &[R],
    in_spare: u32,
    #[comptime] numbers: usize,
) -> R {
    let mut value = R::new(0.0);
    if contact >= in_spare as usize {
        value = rest[(contact - in_spare as usize) * numbers + number];
    } else if number == 0usize {
        value = a[contact];
    } else if number == 1usize {
        value = b[contact];
    } else if number == 2usize {
        value = c[contact];
    } else {
        value = d[contact];
    }
    value
}

/// Writes a number of a packed contact history, `numbers` for each contact. Contacts are numbered by grain, see [`contacts_in_row()`]. Those of the first
/// `in_spare` contacts, which have at most four numbers each, are in the buffers a to d, number by number. All others are in `rest`, contact by contact.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn put_packed_number<R: Real>(
    value: R,
    contact: usize,
    number: usize,
    a: &mut [R],
    b: &mut [R],
    c: &mut [R],
    d: &mut [R],
    rest: &mut [R],
    in_spare: u32,
    #[comptime] numbers: usize,
) {
    if contact >= in_spare as usize {
        rest[(contact - in_spare as usize) * numbers + number] = value;
    } else if number == 0usize {
        a[contact] = value;
    } else if number == 1usize {
        b[contact] = value;
    } else if number == 2usize {
        c[contact] = value;
    } else {
        d[contact] = value;
    }
}

/// Copies the histories of grain i from the packed contacts of its old row to its new row. The contacts of a row are numbered from its entry of `start`
/// on, see [`put_packed_number()`], and `partner` has the old index of the other grain of each. `old_of` gives the old index of each grain; grains with
/// an old index from `known` on had no row. A row has each pair once, and none of its entries is flagged yet.
///
/// With `by_id` grains and ghost particles may have been added or removed, so pairs are matched by ids: `partner` has the id of the other grain, and both
/// rows are in the order of ids.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn carry_history_of<R: Real>(
    i: usize,
    count: u32,
    tile_first: &[u32],
    list: &mut [u32],
    history: &mut [R],
    old_of: &[u32],
    start: &[u32],
    partner: &[u32],
    a: &[R],
    b: &[R],
    c: &[R],
    d: &[R],
    rest: &[R],
    in_spare: u32,
    id: &[u32],
    known: u32,
    #[comptime] numbers: usize,
    #[comptime] by_id: bool,
) {
    let first = first_entry(i, tile_first);
    // The old contacts that are still to be carried.
    let mut begin = 0usize;
    let mut end = 0usize;
    if old_of[i] < known {
        begin = start[old_of[i] as usize] as usize;
        end = start[old_of[i] as usize + 1usize] as usize;
    }
    while begin < end {
        // As many at a time as a word has bits: one for each that no entry has got yet.
        let contacts = min((end - begin) as u32, BITS);
        let mut left = 0xffff_ffffu32 >> (BITS - contacts);
        // Adjacent threads look at the same entry of their rows, so they read and write whole transactions of memory.
        let mut s = 0u32;
        let mut ahead = 0u32;
        if count > 0u32 {
            ahead = list[first];
        }
        while s < count && left != 0u32 {
            let entry = first + s as usize * TILE;
            let j = ahead & PLACE;
            s += 1u32;
            // The next entry is read while this one is searched.
            if s < count {
                ahead = list[entry + TILE];
            }
            let mut name = 0u32;
            if by_id {
                name = id[j as usize];
            } else {
                name = old_of[j as usize];
            }
            // Both rows have nearly the same order, so the first contact that is left is often the one.
            let mut tried = left;
            let mut at = begin;
            let mut is_same = false;
            while tried != 0u32 && !is_same {
                at = begin + tried.trailing_zeros() as usize;
                tried &= tried - 1u32;
                let old_name = partner[at];
                is_same = old_name == name;
                if by_id {
                    // The ids of all further contacts are larger still.
                    if old_name > name {
                        tried = 0u32;
                    }
                }
            }
            if is_same {
                left -= 1u32 << ((at - begin) as u32);
                list[entry] = j | 0x8000_0000u32;
                #[unroll]
                for number in 0..numbers {
                    let value = packed_number::<R>(at, number, a, b, c, d, rest, in_spare, numbers);
                    history[history_at(entry, number, numbers)] = value;
                }
            }
        }
        begin += contacts as usize;
    }
}
