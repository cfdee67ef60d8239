//! Lists that the threads of a block share: numbers of items, and windows of those that passed a test.

use cubecl::prelude::*;

/// Threads whose counts one thread adds up.
pub(super) const SEGMENT: usize = 8;

/// Pairs that a block takes one after the other from the order of pairs. A block takes a multiple of it.
pub(super) const RUN: usize = 4;

/// A count of a thread among those of its block.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct Numbered {
    /// Sum over the threads before this one.
    pub before: u32,
    /// Sum over all threads.
    pub all: u32,
}

/// Place in the order of pairs of pair `unit` of those that this block takes. A block takes short runs of pairs from all over the order, as those that
/// touched come first in it, and would be the work of few blocks.
#[cube]
pub(super) fn place_of_pair(unit: usize) -> usize {
    ((unit / RUN) * CUBE_COUNT + CUBE_POS) * RUN + unit % RUN
}

/// Adds up a number of each thread of a block of `threads`, a multiple of [`SEGMENT`]. All threads of the block call it; `counts` has a word for each, and
/// one for each segment. No thread returns before all have called it.
#[cube]
pub(super) fn number_in_block(own: u32, counts: &mut [u32], #[comptime] threads: usize) -> Numbered {
    let segments = comptime!(threads / SEGMENT);
    let unit = UNIT_POS as usize;
    counts[unit] = own;
    sync_cube();
    if unit < segments {
        let mut sum = 0u32.runtime();
        for s in 0..SEGMENT {
            let at = unit * SEGMENT + s;
            let count = counts[at];
            counts[at] = sum;
            sum += count;
        }
        counts[unit + threads] = sum;
    }
    sync_cube();
    // The next call changes no word that is read here before all threads have called it.
    let mut before = counts[unit];
    let mut all = 0u32.runtime();
    for s in 0..segments {
        let sum = counts[s + threads];
        if s < unit / SEGMENT {
            before += sum;
        }
        all += sum;
    }
    Numbered { before, all }
}

/// The bits that any thread of a block of `threads` has. All threads of the block call it; `counts` has a word for each.
#[cube]
pub(super) fn bits_in_block(own: u32, counts: &mut [u32], #[comptime] threads: usize) -> u32 {
    counts[UNIT_POS as usize] = own;
    sync_cube();
    let mut all = 0u32.runtime();
    for s in 0..threads {
        all |= counts[s];
    }
    sync_cube();
    all
}

/// The one of so many `owners` to which an item belongs: the items of an owner start at its word of `first`, which ascend.
#[cube]
pub(super) fn owner_of(item: u32, first: &mut [u32], #[comptime] owners: u32) -> usize {
    let mut low = 0u32.runtime();
    let mut high = owners.runtime();
    while high - low > 1u32 {
        let middle = (low + high) / 2u32;
        if first[middle as usize] <= item {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as usize
}

/// Lists the items of this thread that passed, one a bit, as far as their numbers among those of the block are in a `window` from `done` on. The word of
/// bit b is `base` + b `stride`. `before` of those that passed belong to the threads before.
#[cube]
pub(super) fn list_passed(
    bits: u32,
    base: u32,
    #[comptime] stride: u32,
    before: u32,
    done: u32,
    #[comptime] window: u32,
    passed: &mut [u32],
) {
    let mut rest = bits;
    let mut number = before;
    while rest != 0u32 {
        let bit = rest.trailing_zeros();
        if number >= done && number < done + window {
            passed[(number - done) as usize] = base + bit * stride;
        }
        number += 1u32;
        rest -= 1u32 << bit;
    }
}
