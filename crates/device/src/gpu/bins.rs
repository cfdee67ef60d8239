//! Sorting by keys that change often.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::scan::ScanRoom;
use super::sort::Grouping;
use super::{Buffer, Gpu, GpuError, units};
use cubecl::prelude::*;

/// Sorts the items of every key, of which most keys have one or none, and clears its count for the next use.
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

/// Sorts items by key repeatedly, in memory that is allocated once. A sort allocates nothing and cannot fail.
pub struct Bins {
    counts: Buffer<u32>,
    rank: Buffer<u32>,
    room: ScanRoom,
}

impl Bins {
    /// Memory for n items and this many keys.
    ///
    /// # Errors
    /// If there is too little memory: 4 bytes per item and 4 per key.
    pub fn new(gpu: &Gpu, n: usize, keys: usize) -> Result<Bins, GpuError> {
        Ok(Bins {
            counts: gpu.zeros(keys, "counts of keys")?,
            rank: gpu.buffer(n, "turns of items")?,
            room: gpu.scan_room(keys)?,
        })
    }

    /// Number of keys that fit.
    pub fn keys(&self) -> usize {
        self.counts.len()
    }

    /// Makes `items[first[k]..first[k + 1]]` the items below n with key k, in ascending order. Keys are below `keys`.
    ///
    /// One thread sorts the items of one key: fast if keys have few items.
    ///
    /// # Panics
    /// If a buffer is shorter than required.
    pub fn fill(&self, gpu: &Gpu, key: &Buffer<u32>, n: usize, keys: usize, items: &Buffer<u32>, first: &Buffer<u32>) {
        assert!(key.len() >= n && items.len() >= n && self.rank.len() >= n, "{n} items");
        assert!(first.len() > keys && self.keys() >= keys, "{keys} keys, room for {}", self.keys());
        let room = Grouping {
            counts: &self.counts,
            rank: &self.rank,
            scan: &self.room,
        };
        gpu.group_by_key(key, n, keys, room, items, first);
        let (count, dim) = units(keys);
        // SAFETY: `first` is read up to `keys`, counts are written below it; items stay within the range of their key.
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
