//! Long rows in the order of the ids of neighbors. [`super::neighbor_lists::sort_rows()`] gives them the same order, but compares each entry with all others
//! of its row. Rows of fluids have some hundred.
//!
//! A block sorts the rows of a tile, with eight threads for each. No id is in a row twice, so the place of an entry is the number of smaller ids in its row.
//! A row has four parts. Two threads sort a part by comparisons, and then the smaller ids in every part are found by bisection.
//!
//! Shared memory has the ids in the order of the tile, so threads that sort different rows read different banks, and the list is read and written in whole
//! lines. In a tile with a row that is too long for shared memory, each row is sorted in place by one thread.

use super::THREADS;
use crate::entries::{TILE, sort_by_id};
use cubecl::prelude::*;

/// Parts of a row.
const PARTS: usize = 4;

/// Most entries of a part: what [`smaller_in_part()`] bisects.
const PART: usize = 32;

/// Words of a part of all rows in shared memory.
const PART_WORDS: usize = PART * TILE;

/// Words of all parts, for rows of up to 128 entries. Ids and entries of a tile take 32 KiB of shared memory.
const WORDS: usize = PARTS * PART_WORDS;

/// Threads that sort a row, and those that sort a part of it.
const SORTERS: usize = THREADS / TILE;
const SORTERS_OF_PART: usize = SORTERS / PARTS;

/// Distance of the entries of a thread in shared memory.
const APART: usize = SORTERS_OF_PART * TILE;

/// Entries of a part between the first ones of two fours of a thread.
const FOUR: usize = 4 * SORTERS_OF_PART;

/// Stands behind the ids of a part.
const BEHIND: u32 = u32::MAX;

// A thread has four times four entries of a part.
const _: () = assert!(PART == 4 * FOUR);

/// A part of a row.
#[derive(CubeType, Clone, Copy, Debug)]
struct RowPart {
    /// Index in shared memory of the first entry of the row.
    row: usize,
    /// Index in shared memory of the first entry of the part.
    first: usize,
    /// Index of that entry in the list.
    entry: usize,
    /// Number of entries of the part.
    entries: usize,
}

/// Sorts all rows by the ids of neighbors. Each block sorts one tile.
#[cube(launch)]
pub fn sort_long_rows(tile_first: &[u32], count: &[u32], list: &mut [u32], id: &[u32], n: u32) {
    let mut ids = Shared::<[u32]>::new_slice(WORDS);
    let mut sorted = Shared::<[u32]>::new_slice(WORDS);
    let tile = CUBE_POS;
    let row = UNIT_POS as usize % TILE;
    let sorter = UNIT_POS as usize / TILE;
    let i = tile * TILE + row;
    let mut first = 0usize;
    let mut length = 0usize;
    // The same for all threads of a block.
    let mut entries = 0u32;
    if tile * TILE < n as usize {
        entries = tile_first[tile + 1usize] - tile_first[tile];
        first = tile_first[tile] as usize + row;
        if i < n as usize {
            length = count[i] as usize;
        }
    }
    let fits = entries as usize <= WORDS;
    let width = (entries as usize / TILE + 3usize) / PARTS;
    let number = sorter / SORTERS_OF_PART;
    let own = sorter % SORTERS_OF_PART;
    let before = number * width;
    let mut in_part = 0usize.runtime();
    if length > before {
        in_part = min(length - before, width);
    }
    let part = RowPart {
        row,
        first: number * PART_WORDS + row,
        entry: first + before * TILE,
        entries: in_part,
    };
    if fits {
        let mut s = own;
        while s < PART {
            if s < part.entries {
                ids[part.first + s * TILE] = id[list[part.entry + s * TILE] as usize];
            } else {
                sorted[part.first + s * TILE] = BEHIND;
            }
            s += SORTERS_OF_PART;
        }
    }
    sync_cube();
    if fits {
        let mut s = own;
        while s < part.entries {
            sort_four(s, &part, &ids, &mut sorted);
            s += FOUR;
        }
    }
    sync_cube();
    // Places in the row, four in a word.
    let mut places_a = 0u32;
    let mut places_b = 0u32;
    let mut places_c = 0u32;
    let mut places_d = 0u32;
    if fits {
        places_a = places_of_four(own, &part, &ids, &sorted);
        places_b = places_of_four(own + FOUR, &part, &ids, &sorted);
        places_c = places_of_four(own + comptime!(2 * FOUR), &part, &ids, &sorted);
        places_d = places_of_four(own + comptime!(3 * FOUR), &part, &ids, &sorted);
    }
    sync_cube();
    if fits {
        // The ids are not needed any more.
        put_four(places_a, own, &part, list, &mut sorted);
        put_four(places_b, own + FOUR, &part, list, &mut sorted);
        put_four(places_c, own + comptime!(2 * FOUR), &part, list, &mut sorted);
        put_four(places_d, own + comptime!(3 * FOUR), &part, list, &mut sorted);
    }
    sync_cube();
    if fits {
        let mut s = sorter;
        while s < length {
            list[first + s * TILE] = sorted[s * TILE + row];
            s += SORTERS;
        }
    } else if sorter == 0usize {
        sort_by_id(first, length as u32, list, id);
    }
}

/// Puts four ids of a part where they are in it once it is sorted: those of a thread from entry `s` on.
#[cube]
fn sort_four(s: usize, part: &RowPart, ids: &[u32], sorted: &mut [u32]) {
    // Four entries for each id that is read. Those beyond the part have no place.
    let at = part.first + s * TILE;
    let one = ids[at];
    let two = ids[at + APART];
    let three = ids[at + comptime!(2 * APART)];
    let four = ids[at + comptime!(3 * APART)];
    let mut below_one = 0u32;
    let mut below_two = 0u32;
    let mut below_three = 0u32;
    let mut below_four = 0u32;
    for k in 0..part.entries {
        let other = ids[part.first + k * TILE];
        if other < one {
            below_one += 1u32;
        }
        if other < two {
            below_two += 1u32;
        }
        if other < three {
            below_three += 1u32;
        }
        if other < four {
            below_four += 1u32;
        }
    }
    sorted[part.first + below_one as usize * TILE] = one;
    if s + SORTERS_OF_PART < part.entries {
        sorted[part.first + below_two as usize * TILE] = two;
    }
    if s + comptime!(2 * SORTERS_OF_PART) < part.entries {
        sorted[part.first + below_three as usize * TILE] = three;
    }
    if s + comptime!(3 * SORTERS_OF_PART) < part.entries {
        sorted[part.first + below_four as usize * TILE] = four;
    }
}

/// Places in the sorted row of four entries of a thread, those from entry `s` of the part on, in the bytes of a word.
#[cube]
fn places_of_four(s: usize, part: &RowPart, ids: &[u32], sorted: &[u32]) -> u32 {
    let mut places = 0u32.runtime();
    #[unroll]
    for k in 0..4usize {
        let entry = s + k * SORTERS_OF_PART;
        if entry < part.entries {
            let key = ids[part.first + entry * TILE];
            let mut place = smaller_in_part(key, part.row, sorted);
            place += smaller_in_part(key, part.row + PART_WORDS, sorted);
            place += smaller_in_part(key, part.row + comptime!(2 * PART_WORDS), sorted);
            place += smaller_in_part(key, part.row + comptime!(3 * PART_WORDS), sorted);
            places |= place << (8u32 * k as u32);
        }
    }
    places
}

/// Number of the ids of a sorted part, which begins at index `first`, that are smaller than this one.
#[cube]
fn smaller_in_part(key: u32, first: usize, sorted: &[u32]) -> u32 {
    let mut at = first;
    at = behind_smaller(key, at, 16usize, sorted);
    at = behind_smaller(key, at, 8usize, sorted);
    at = behind_smaller(key, at, 4usize, sorted);
    at = behind_smaller(key, at, 2usize, sorted);
    at = behind_smaller(key, at, 1usize, sorted);
    at = behind_smaller(key, at, 1usize, sorted);
    ((at - first) / TILE) as u32
}

/// The index behind so many `entries`, if all of them are smaller than this id, or else the index before them.
#[cube]
fn behind_smaller(key: u32, at: usize, #[comptime] entries: usize, sorted: &[u32]) -> usize {
    let last = comptime!((entries - 1) * TILE);
    let mut next = at;
    if sorted[at + last] < key {
        next = at + last + TILE;
    }
    next
}

/// Puts four entries of a thread, those from entry `s` of the part on, at their places in the row.
#[cube]
fn put_four(places: u32, s: usize, part: &RowPart, list: &mut [u32], sorted: &mut [u32]) {
    #[unroll]
    for k in 0..4usize {
        let entry = s + k * SORTERS_OF_PART;
        if entry < part.entries {
            let place = (places >> (8u32 * k as u32)) & 255u32;
            sorted[part.row + place as usize * TILE] = list[part.entry + entry * TILE];
        }
    }
}
