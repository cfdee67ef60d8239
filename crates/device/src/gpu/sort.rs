//! Sorting by key.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::scan::ScanRoom;
use super::{Buffer, Gpu, GpuError, units};
use cubecl::prelude::*;

/// Counts the items of every key. `rank` gets the number of items of the same key counted before, in any order.
#[cube(launch_unchecked)]
fn count_keys(key: &[u32], counts: &[Atomic<u32>], rank: &mut [u32], n: u32) {
    if ABSOLUTE_POS < n as usize {
        rank[ABSOLUTE_POS] = counts[key[ABSOLUTE_POS] as usize].fetch_add(1u32);
    }
}

/// Writes each item to the range of its key, at the offset `rank`.
#[cube(launch_unchecked)]
fn drop_in(key: &[u32], rank: &[u32], first: &[u32], items: &mut [u32], n: u32) {
    if ABSOLUTE_POS < n as usize {
        items[(first[key[ABSOLUTE_POS] as usize] + rank[ABSOLUTE_POS]) as usize] = ABSOLUTE_POS as u32;
    }
}

/// Sorts the items of one key by id: each item counts the smaller ids. Clears the counts of all keys for the next use.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn sort_equal_keys_by_id(key: &[u32], id: &[u32], first: &[u32], items: &[u32], order: &mut [u32], counts: &mut [u32], n: u32, keys: u32) {
    if ABSOLUTE_POS < keys as usize {
        counts[ABSOLUTE_POS] = 0u32;
    }
    if ABSOLUTE_POS < n as usize {
        let item = items[ABSOLUTE_POS];
        let own = id[item as usize];
        let segment = key[item as usize] as usize;
        let start = first[segment];
        let mut smaller = 0u32;
        for place in start..first[segment + 1] {
            if id[items[place as usize] as usize] < own {
                smaller += 1;
            }
        }
        order[(start + smaller) as usize] = item;
    }
}

/// Outputs of a sort.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// Entry k becomes the index of the k-th item in order.
    pub order: &'a Buffer<u32>,
    /// First place of every key; the last entry is the number of items.
    pub first: &'a Buffer<u32>,
    /// Working memory for as many items; its contents are lost.
    pub room: &'a Buffer<u32>,
}

/// Working memory for grouping.
#[derive(Clone, Copy)]
pub(super) struct Grouping<'a> {
    pub counts: &'a Buffer<u32>,
    pub rank: &'a Buffer<u32>,
    pub scan: &'a ScanRoom,
}

impl Gpu {
    /// Sorts n items by key, then by id. Keys are below `keys`; ids are distinct. The order is deterministic, although items are counted in any
    /// order.
    ///
    /// Every item is compared with all items of its key. This is fast if keys have few items (cells of a grid), and quadratic if one key has all
    /// items. Needs 4 bytes per key temporarily.
    ///
    /// # Errors
    /// If there is no memory for that.
    ///
    /// # Panics
    /// If a buffer is shorter than required.
    pub fn order_by_key(&self, key: &Buffer<u32>, id: &Buffer<u32>, n: usize, keys: usize, into: Order) -> Result<(), GpuError> {
        let counts = self.scratch::<u32>(keys)?;
        self.clear(&counts);
        self.order_in((&counts, &self.scan_room(keys)?), key, id, n, keys, into);
        Ok(())
    }

    /// As [`Gpu::order_by_key`], in memory for at least as many counts of keys, and to scan them. Counts must be zero before, and are so afterwards.
    pub(super) fn order_in(
        &self,
        (counts, scan): (&Buffer<u32>, &ScanRoom),
        key: &Buffer<u32>,
        id: &Buffer<u32>,
        n: usize,
        keys: usize,
        Order { order, first, room }: Order,
    ) {
        assert!(key.len() >= n && id.len() >= n && order.len() >= n, "{n} items");
        assert!(room.len() >= n, "room for {n} items");
        assert!(
            first.len() > keys && counts.len() >= keys,
            "{keys} keys, {} firsts, {} counts",
            first.len(),
            counts.len()
        );
        let grouping = Grouping {
            counts,
            // `order` is written last; until then it holds the offsets.
            rank: order,
            scan,
        };
        self.group_by_key(key, n, keys, grouping, room, first);
        let (count, dim) = units(n.max(keys));
        // SAFETY: items are below n and keys below the last entry of `first`. As ids are distinct, first + smaller is below n. Counts are written at keys.
        unsafe {
            sort_equal_keys_by_id::launch_unchecked(
                self.client(),
                count,
                dim,
                key.argument(),
                id.argument(),
                first.argument(),
                room.argument(),
                order.argument(),
                counts.argument(),
                n as u32,
                keys as u32,
            );
        }
    }

    /// Groups n items by key, in any order within a key: `items[first[k]..first[k + 1]]` become those of key k. `counts` must be zero before;
    /// afterwards it holds the counts of items. `rank` is overwritten.
    pub(super) fn group_by_key(
        &self,
        key: &Buffer<u32>,
        n: usize,
        keys: usize,
        Grouping { counts, rank, scan }: Grouping,
        items: &Buffer<u32>,
        first: &Buffer<u32>,
    ) {
        let (count, dim) = units(n);
        // SAFETY: items are read and written below n, counts at keys, which are below their number.
        unsafe {
            count_keys::launch_unchecked(
                self.client(),
                count.clone(),
                dim,
                key.argument(),
                counts.argument(),
                rank.argument(),
                n as u32,
            );
        }
        self.scan_in(scan, counts, keys, first);
        // SAFETY: items are read below n, `first` at keys; first + turn takes every value below n once.
        unsafe {
            drop_in::launch_unchecked(
                self.client(),
                count,
                dim,
                key.argument(),
                rank.argument(),
                first.argument(),
                items.argument(),
                n as u32,
            );
        }
    }
}
