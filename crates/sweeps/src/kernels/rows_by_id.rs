//! Rows in the order of the ids of neighbors, for decomposition-invariant runs.
//!
//! Only ids are sorted, by a bitonic network \[Batcher 1968\]. Which ids it compares does not depend on them. So each thread holds its ids in registers,
//! and all threads do the same. Then the place of an entry is found by a binary search of its id in the sorted ids. This takes fewer instructions than to
//! move entries along with ids.
//!
//! A thread sorts a run of 8 or 16 ids. Then runs of several threads are merged. To compare ids of different runs, each thread takes the ids at a few
//! places of all runs, through shared memory. Then it takes its own run again.
//!
//! The longest row of a tile says how its rows are sorted:
//!
//! | longest row | how |
//! |---|---|
//! | up to 16 | by one thread a row; the threads of a block sort eight tiles at the same time |
//! | up to 64 | by four threads a row, tile by tile; the others wait |
//! | up to 128 | by eight threads a row, tile by tile |
//! | longer | in rounds, as follows |
//!
//! A round sorts parts of 128 entries. Parts of every other round begin 64 entries later than those of the round before. After as many rounds as a row has
//! halves of parts, it is sorted \[Baudet 1978\].
//!
//! Shared memory has the ids in the order of the tile, so threads that sort different rows use different banks. The list is read and written in whole
//! lines. Each entry of it is read and written by the same thread in all rounds.

use super::THREADS;
use crate::entries::TILE;
use cubecl::prelude::*;

/// Threads that sort a row, at most. A block has as many tiles.
const SORTERS: usize = THREADS / TILE;

/// Ids of a run, at most, and those of a run of shorter rows.
const RUN: usize = 16;
const SHORT_RUN: usize = RUN / 2;

/// Entries of a row that are sorted at once, at most. Ids and entries of a tile take 32 KiB of shared memory.
const SORTED_AT_ONCE: usize = RUN * SORTERS;

/// By how many entries the parts of one round are shifted in the next one.
const SHIFT: usize = SORTED_AT_ONCE / 2;

/// Stands for ids behind the end of a row.
const BEHIND: u32 = u32::MAX;

/// Sorts the rows of n grains by the ids of neighbors. No id is in a row twice. Each block sorts eight tiles.
#[cube(launch)]
pub fn sort_rows(tile_first: &[u32], count: &[u32], list: &mut [u32], id: &[u32], n: u32) {
    let mut ids = Shared::<[u32]>::new_slice(SORTED_AT_ONCE * TILE);
    let mut sorted = Shared::<[u32]>::new_slice(SORTED_AT_ONCE * TILE);
    let row = UNIT_POS as usize % TILE;
    let sorter = UNIT_POS as usize / TILE;
    let own = CUBE_POS * SORTERS + sorter;
    let own_width = width_of_tile(own, tile_first, n);
    if own_width > 0usize && own_width <= RUN {
        let first = tile_first[own] as usize + row;
        let length = length_of_row(own * TILE + row, count, n);
        // Each thread has places of its own.
        let place = sorter * RUN * TILE + row;
        sort_at_once(first, length, 0usize, place, list, id, &mut ids, &mut sorted, RUN, 1usize);
    }
    sync_cube();
    for k in 0..SORTERS {
        let tile = CUBE_POS * SORTERS + k;
        // The same for all threads of the block.
        let width = width_of_tile(tile, tile_first, n);
        if width > RUN {
            let first = tile_first[tile] as usize + row;
            let length = length_of_row(tile * TILE + row, count, n);
            if width <= comptime!(4 * SHORT_RUN) {
                sort_at_once(first, length, sorter, row, list, id, &mut ids, &mut sorted, SHORT_RUN, 4usize);
            } else if width <= comptime!(4 * RUN) {
                sort_at_once(first, length, sorter, row, list, id, &mut ids, &mut sorted, RUN, 4usize);
            } else {
                // Up to 128 entries are one part, and the second round has none.
                let mut round = 0usize.runtime();
                while round * SHIFT < width {
                    let mut from = round % 2usize * SHIFT;
                    while from + SHIFT < width {
                        let mut part = 0usize;
                        if length > from {
                            part = min(length - from, SORTED_AT_ONCE);
                        }
                        let part_first = first + from * TILE;
                        sort_at_once(part_first, part, sorter, row, list, id, &mut ids, &mut sorted, RUN, SORTERS);
                        from += SORTED_AT_ONCE;
                    }
                    round += 1usize;
                }
            }
        }
    }
}

/// Length of the longest row of a tile.
#[cube]
fn width_of_tile(tile: usize, tile_first: &[u32], n: u32) -> usize {
    let mut width = 0usize;
    if tile * TILE < n as usize {
        width = (tile_first[tile + 1usize] - tile_first[tile]) as usize / TILE;
    }
    width
}

/// Length of the row of grain i.
#[cube]
fn length_of_row(i: usize, count: &[u32], n: u32) -> usize {
    let mut length = 0usize;
    if i < n as usize {
        length = count[i] as usize;
    }
    length
}

/// Sorts `length` entries of a row, of which the first is `first`, in `runs` runs of `run` ids. Sorter k of the row sorts run k; those without a run wait
/// for the others. The row has every 32nd word of `ids` and `sorted` from `place` on. All threads of a block call it together, unless there is one run.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn sort_at_once(
    first: usize,
    length: usize,
    sorter: usize,
    place: usize,
    list: &mut [u32],
    id: &[u32],
    ids: &mut [u32],
    sorted: &mut [u32],
    #[comptime] run: usize,
    #[comptime] runs: usize,
) {
    let has_run = sorter < runs;
    let own = place + sorter * run * TILE;
    if has_run {
        let mut held = Sequence::<u32>::new();
        #[unroll]
        for k in 0..run {
            let s = sorter + k * runs;
            let mut listed = BEHIND.runtime();
            if s < length {
                listed = id[list[first + s * TILE] as usize];
            }
            held.push(listed);
        }
        let levels = comptime!(run.ilog2() as usize);
        #[unroll]
        for level in 0..levels {
            merge(&mut held, run, comptime!(1usize << level), 1usize);
        }
        put_run(&held, ids, own, run);
    }
    let doublings = comptime!(runs.ilog2() as usize);
    #[unroll]
    for doubling in 0..doublings {
        sync_cube();
        if has_run {
            merge_runs(ids, place, sorter, run, runs, doubling);
        }
        sync_cube();
        if has_run {
            let mut held = Sequence::<u32>::new();
            #[unroll]
            for k in 0..run {
                held.push(ids[own + k * TILE]);
            }
            halve(&mut held, run, run, 1usize);
            put_run(&held, ids, own, run);
        }
    }
    if comptime!(runs > 1) {
        sync_cube();
    }
    if has_run {
        let halvings = comptime!((run * runs).ilog2() as usize);
        let mut s = sorter;
        while s < length {
            let entry = list[first + s * TILE];
            let sought = id[entry as usize];
            let mut at = place;
            #[unroll]
            for halving in 0..halvings {
                let step = comptime!(((run * runs) >> (halving + 1)) * TILE);
                let before = comptime!(step - TILE);
                if ids[at + before] < sought {
                    at += step;
                }
            }
            sorted[at] = entry;
            s += runs;
        }
    }
    if comptime!(runs > 1) {
        sync_cube();
    }
    if has_run {
        let mut s = sorter;
        while s < length {
            list[first + s * TILE] = sorted[place + s * TILE];
            s += runs;
        }
    }
}

/// Merges sorted sequences of 2^`doubling` runs, two at a time, as far as ids of different runs have to be compared. Then each run is a bitonic sequence,
/// and has no smaller id than the run before it. Words of `ids` as for [`sort_at_once()`].
#[cube]
fn merge_runs(ids: &mut [u32], place: usize, sorter: usize, #[comptime] run: usize, #[comptime] runs: usize, #[comptime] doubling: usize) {
    // A thread takes so many ids of each run, and as many again that mirror them in the run. So it has both ids of each comparison.
    let half = comptime!(run / runs / 2);
    let near = place + sorter * half * TILE;
    let far = place + (run - half - sorter * half) * TILE;
    let mut held = Sequence::<u32>::new();
    #[unroll]
    for other in 0..runs {
        #[unroll]
        for k in 0..half {
            held.push(ids[near + comptime!((run * other + k) * TILE)]);
        }
        #[unroll]
        for k in 0..half {
            held.push(ids[far + comptime!((run * other + k) * TILE)]);
        }
    }
    merge(&mut held, run, comptime!((2 * half) << doubling), comptime!(2 * half));
    #[unroll]
    for other in 0..runs {
        #[unroll]
        for k in 0..half {
            let first = comptime!(2 * half * other + k);
            let mirrored = comptime!(first + half);
            ids[near + comptime!((run * other + k) * TILE)] = held[first];
            ids[far + comptime!((run * other + k) * TILE)] = held[mirrored];
        }
    }
}

/// Writes the ids that a thread holds to every 32nd word from `start` on.
#[cube]
fn put_run(held: &Sequence<u32>, ids: &mut [u32], start: usize, #[comptime] run: usize) {
    #[unroll]
    for k in 0..run {
        ids[start + k * TILE] = held[k];
    }
}

/// Merges sorted sequences of `length` ids, two at a time, down to bitonic sequences of `shortest` ids, each of which has no smaller id than the one before
/// it. With 1, the result is sorted.
#[cube]
fn merge(held: &mut Sequence<u32>, #[comptime] run: usize, #[comptime] length: usize, #[comptime] shortest: usize) {
    compare(held, run, comptime!(2 * length - 1));
    halve(held, run, length, shortest);
}

/// Divides bitonic sequences of `length` ids into bitonic halves, the first of which has the smaller ids, and goes on with these down to `shortest` ids.
#[cube]
fn halve(held: &mut Sequence<u32>, #[comptime] run: usize, #[comptime] length: usize, #[comptime] shortest: usize) {
    let halvings = comptime!((length / shortest).ilog2() as usize);
    #[unroll]
    for halving in 0..halvings {
        compare(held, run, comptime!(length >> (halving + 1)));
    }
}

/// Puts every two ids in order whose places differ in exactly these bits.
#[cube]
fn compare(held: &mut Sequence<u32>, #[comptime] run: usize, #[comptime] bits: usize) {
    #[unroll]
    for low in 0..run {
        let high = comptime!(low ^ bits);
        if comptime!(low < high) {
            let one = held[low];
            let other = held[high];
            held.insert(low, min(one, other));
            held.insert(high, max(one, other));
        }
    }
}
