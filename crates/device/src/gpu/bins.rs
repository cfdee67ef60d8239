//! Order by keys that change all the time.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::scan::ScanRoom;
use super::sort::Grouping;
use super::{Buffer, Gpu, GpuError, units};
use cubecl::prelude::*;

/// Brings the items of every key into their order – most have one or none – and empties its count for the next time.
#[cube(launch_unchecked)]
fn tidy_up(first: &[u32], items: &mut [u32], counts: &mut [u32], keys: u32) {
    if ABSOLUTE_POS < keys as usize {
        counts[ABSOLUTE_POS] = 0u32;
        let start = first[ABSOLUTE_POS] as usize;
        let end = first[ABSOLUTE_POS + 1] as usize;
        for place in start + 1..end {
            let item = items[place];
            let mut gap = place;
            let mut goes_on = true;
            while goes_on {
                goes_on = false;
                if gap > start {
                    let before = items[gap - 1];
                    if before > item {
                        items[gap] = before;
                        gap -= 1;
                        goes_on = true;
                    }
                }
            }
            items[gap] = item;
        }
    }
}

/// Brings items into the order of keys again and again, in room that is made once: ordering allocates nothing and cannot fail.
pub struct Bins {
    counts: Buffer<u32>,
    turn: Buffer<u32>,
    room: ScanRoom,
}

impl Bins {
    /// Room for n items and so many keys.
    ///
    /// # Errors
    /// If there is no memory for that: 4 bytes per item and 4 per key.
    pub fn new(gpu: &Gpu, n: usize, keys: usize) -> Result<Bins, GpuError> {
        Ok(Bins {
            counts: gpu.zeros(keys, "counts of keys")?,
            turn: gpu.buffer(n, "turns of items")?,
            room: gpu.scan_room(keys)?,
        })
    }

    /// Keys there is room for.
    pub fn keys(&self) -> usize {
        self.counts.len()
    }

    /// `items[first[k]..first[k + 1]]` become the items below n that have key k, in ascending order. Keys are below `keys`.
    ///
    /// Items of one key are ordered one after the other: fast where keys have few items.
    ///
    /// # Panics
    /// If a buffer has fewer items than that.
    pub fn fill(&self, gpu: &Gpu, key: &Buffer<u32>, n: usize, keys: usize, items: &Buffer<u32>, first: &Buffer<u32>) {
        assert!(key.len() >= n && items.len() >= n && self.turn.len() >= n, "{n} items");
        assert!(first.len() > keys && self.keys() >= keys, "{keys} keys, room for {}", self.keys());
        let room = Grouping {
            counts: &self.counts,
            turn: &self.turn,
            scan: &self.room,
        };
        gpu.group_by_key(key, n, keys, room, items, first);
        let (count, dim) = units(keys);
        // SAFETY: firsts are read up to `keys`, counts written below; items stay between the firsts of their key.
        unsafe {
            tidy_up::launch_unchecked(
                gpu.client(),
                count,
                dim,
                first.argument(),
                items.argument(),
                self.counts.argument(),
                keys as u32,
            );
        }
    }
}
