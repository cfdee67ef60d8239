//! Order by keys.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::scan::ScanRoom;
use super::{Buffer, Gpu, GpuError, units};
use cubecl::prelude::*;

/// Counts the items of every key; `turn` says how many of its key came before, in any order.
#[cube(launch_unchecked)]
fn count_keys(key: &[u32], counts: &[Atomic<u32>], turn: &mut [u32], n: u32) {
    if ABSOLUTE_POS < n as usize {
        turn[ABSOLUTE_POS] = counts[key[ABSOLUTE_POS] as usize].fetch_add(1u32);
    }
}

/// Brings items to the places of their key, in the order of their turns.
#[cube(launch_unchecked)]
fn drop_in(key: &[u32], turn: &[u32], first: &[u32], items: &mut [u32], n: u32) {
    if ABSOLUTE_POS < n as usize {
        items[(first[key[ABSOLUTE_POS] as usize] + turn[ABSOLUTE_POS]) as usize] = ABSOLUTE_POS as u32;
    }
}

/// Brings items of one key into the order of their ids: each counts the smaller ones.
#[cube(launch_unchecked)]
fn settle(key: &[u32], id: &[u32], first: &[u32], items: &[u32], order: &mut [u32], n: u32) {
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

/// What ordering writes.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// Its k-th item becomes the index of the k-th item in order.
    pub order: &'a Buffer<u32>,
    /// First place of every key, and the number of items.
    pub first: &'a Buffer<u32>,
    /// Room for as many items, whose contents are lost.
    pub room: &'a Buffer<u32>,
}

/// Room that grouping needs.
#[derive(Clone, Copy)]
pub(super) struct Grouping<'a> {
    pub counts: &'a Buffer<u32>,
    pub turn: &'a Buffer<u32>,
    pub scan: &'a ScanRoom,
}

impl Gpu {
    /// Orders n items by key and then id. Keys are below `keys`, ids differ. The order is the same every time, although items are counted
    /// in any order.
    ///
    /// Every item is compared with all of its key: fast where keys have few items – cells of a grid –, quadratic where one key has
    /// all of them. Needs 4 bytes per key for a moment.
    ///
    /// # Errors
    /// If there is no memory for that.
    ///
    /// # Panics
    /// If a buffer has fewer items than that.
    pub fn order_by_key(
        &self,
        key: &Buffer<u32>,
        id: &Buffer<u32>,
        n: usize,
        keys: usize,
        Order { order, first, room }: Order,
    ) -> Result<(), GpuError> {
        assert!(key.len() >= n && id.len() >= n && order.len() >= n, "{n} items");
        assert!(room.len() >= n, "room for {n} items");
        assert!(first.len() > keys, "{keys} keys, {} firsts", first.len());
        let counts = self.scratch::<u32>(keys)?;
        self.clear(&counts);
        let grouping = Grouping {
            counts: &counts,
            // The order is written last: until then there is room for the turns.
            turn: order,
            scan: &self.scan_room(keys)?,
        };
        self.group_by_key(key, n, keys, grouping, room, first);
        let (count, dim) = units(n);
        // SAFETY: items are below n, keys below the last first, and as ids differ, first + smaller is below n.
        unsafe {
            settle::launch_unchecked(
                self.client(),
                count,
                dim,
                key.argument(),
                id.argument(),
                first.argument(),
                room.argument(),
                order.argument(),
                n as u32,
            );
        }
        Ok(())
    }

    /// Brings n items together by key, in any order within one: `items[first[k]..first[k + 1]]` become those of key k. Counts are zero before
    /// and those of the items afterwards; turns are lost.
    pub(super) fn group_by_key(
        &self,
        key: &Buffer<u32>,
        n: usize,
        keys: usize,
        Grouping { counts, turn, scan }: Grouping,
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
                turn.argument(),
                n as u32,
            );
        }
        self.scan_in(scan, counts, keys, first);
        // SAFETY: items are read below n, firsts at keys; first + turn takes every value below n once.
        unsafe {
            drop_in::launch_unchecked(
                self.client(),
                count,
                dim,
                key.argument(),
                turn.argument(),
                first.argument(),
                items.argument(),
                n as u32,
            );
        }
    }
}
