//! Lists that the threads of a block share: numbers of items, and windows of those that passed a test.

use super::polyhedra::CONTACT_THREADS;
use cubecl::prelude::*;

/// Threads of a block.
pub(super) const BLOCK: u32 = CONTACT_THREADS as u32;

/// A count of a thread among those of its block.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct Share {
    /// Sum over the threads before this one.
    pub before: u32,
    /// Sum over all threads.
    pub all: u32,
}

/// Adds up a number of each thread. All threads of the block call it; `counts` has a word for each.
#[cube]
pub(super) fn share_of_block(own: u32, counts: &mut [u32]) -> Share {
    let unit = UNIT_POS as usize;
    counts[unit] = own;
    sync_cube();
    let mut before = 0u32.runtime();
    let mut all = 0u32.runtime();
    for s in 0..CONTACT_THREADS {
        let count = counts[s];
        if s < unit {
            before += count;
        }
        all += count;
    }
    sync_cube();
    Share { before, all }
}

/// The thread to which an item belongs: the items of a thread start at its word of `first`, which ascend.
#[cube]
pub(super) fn owner_of(item: u32, first: &[u32]) -> usize {
    let mut low = 0u32.runtime();
    let mut high = BLOCK.runtime();
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

/// Lists the items of this thread that passed, as far as their numbers among those of the block are in the window of [`CONTACT_THREADS`] from `done` on.
/// Bit b is that of item `base` + b, so lists ascend. `before` of those that passed belong to the threads before.
#[cube]
pub(super) fn list_passed(bits: u32, base: u32, before: u32, done: u32, passed: &mut [u32]) {
    let mut rest = bits;
    let mut number = before;
    while rest != 0u32 {
        let bit = rest.trailing_zeros();
        if number >= done && number < done + BLOCK {
            passed[(number - done) as usize] = base + bit;
        }
        number += 1u32;
        rest -= 1u32 << bit;
    }
}
