//! Contact histories that outlast a rebuild of the neighbor lists: packed from the old rows, and copied to the new.
//!
//! Each thread packs the contacts of one grain, so adjacent threads write to places a few contacts apart. A transaction of memory that is written in parts
//! takes as long as several whole ones. So the threads of a block collect their contacts in shared memory, and then write all of them, in order.

use super::THREADS;
use crate::entries::{IN_CONTACT_BIT, PLACE, TILE, carry_history_of, contacts_in_row, first_entry, history_at, put_packed_number};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Number of contacts of each of n grains at the last step.
#[cube(launch)]
pub fn count_contacts(count: &[u32], tile_first: &[u32], list: &[u32], out: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        out[i] = contacts_in_row(i, count[i], tile_first, list);
    }
}

/// Bytes of shared memory in which a block collects contacts: six a grain with three numbers of four bytes.
const COLLECTED: usize = 24 << 10;

/// Most contacts that a block collects, for this many numbers a contact, of so many bytes.
pub fn most_collected(numbers: usize, bytes: usize) -> usize {
    COLLECTED / (size_of::<u32>() + numbers * bytes)
}

/// Packs the contacts of n grains, from the grain's entry of `start` on: the index of the other grain to `partner` or, with `by_id`, its id; and the history to
/// the buffers a to d and `rest`, see [`put_packed_number()`]. A block collects at most `most` contacts, and writes those beyond one by one. `list` has room
/// for two more rows of a tile, as each entry is read before that before it is packed.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack_contacts<R: Real>(
    tile_first: &[u32],
    list: &[u32],
    history: &[R],
    start: &[u32],
    id: &[u32],
    partner: &mut [u32],
    a: &mut [R],
    b: &mut [R],
    c: &mut [R],
    d: &mut [R],
    rest: &mut [R],
    in_spare: u32,
    n: u32,
    #[comptime] numbers: usize,
    #[comptime] most: usize,
    #[comptime] by_id: bool,
) {
    let mut partners = Shared::<[u32]>::new_slice(most);
    let mut collected = Shared::<[R]>::new_slice(comptime!(numbers * most));
    let unit = UNIT_POS as usize;
    let block = CUBE_POS * THREADS;
    let grains = n as usize;
    // The contacts of all grains of the block.
    let mut first = 0usize;
    let mut contacts = 0usize;
    if block < grains {
        let mut after = block + THREADS;
        if after > grains {
            after = grains;
        }
        first = start[block] as usize;
        contacts = start[after] as usize - first;
    }
    let i = block + unit;
    if i < grains {
        let mut entry = first_entry(i, tile_first);
        let tile_end = tile_first[i / TILE + 1usize] as usize;
        let mut at = start[i] as usize;
        let end = start[i + 1usize] as usize;
        let mut ahead = list[entry];
        // Entries after the row have no meaning; the last contact is before them.
        let mut goes_on = at < end && entry < tile_end;
        while goes_on {
            let word = ahead;
            ahead = list[entry + TILE];
            if word >> IN_CONTACT_BIT == 1u32 {
                let mut name = word & PLACE;
                if by_id {
                    name = id[name as usize];
                }
                let place = at - first;
                if place < most {
                    partners[place] = name;
                    #[unroll]
                    for number in 0..numbers {
                        collected[number * most + place] = history[history_at(entry, number, numbers)];
                    }
                } else {
                    partner[at] = name;
                    #[unroll]
                    for number in 0..numbers {
                        let value = history[history_at(entry, number, numbers)];
                        put_packed_number::<R>(value, at, number, a, b, c, d, rest, in_spare, numbers);
                    }
                }
                at += 1usize;
            }
            entry += TILE;
            goes_on = at < end && entry < tile_end;
        }
    }
    sync_cube();
    let mut place = unit;
    while place < contacts && place < most {
        let at = first + place;
        partner[at] = partners[place];
        #[unroll]
        for number in 0..numbers {
            let value = collected[number * most + place];
            put_packed_number::<R>(value, at, number, a, b, c, d, rest, in_spare, numbers);
        }
        place += THREADS;
    }
}

/// Copies the packed contact histories to the new rows of n grains.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_histories<R: Real>(
    count: &[u32],
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
    n: u32,
    #[comptime] numbers: usize,
    #[comptime] by_id: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        carry_history_of::<R>(
            i, count[i], tile_first, list, history, old_of, start, partner, a, b, c, d, rest, in_spare, id, known, numbers, by_id,
        );
    }
}
