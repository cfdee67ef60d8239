//! Compaction, gather and scatter of items.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::scan::{BLOCK, ITEMS, ScanRoom, sum_of_earlier_blocks};
use super::{Buffer, Gpu, GpuError, THREADS_PER_BLOCK, Word, cubes, units};
use cubecl::prelude::*;

/// Writes the indices of the kept items, those whose `keep` has one of these bits. `sums` has the number of kept ones before each item, without those of the
/// earlier ones of these `blocks`, whose numbers are in `totals`. Index n stands for the end.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn place_kept(keep: &[u32], sums: &[u32], totals: &[u32], places: &mut [u32], kept: &mut [u32], bits: u32, blocks: u32, n: u32) {
    let base = sum_of_earlier_blocks(totals, blocks);
    let start = CUBE_POS * BLOCK + UNIT_POS as usize;
    #[unroll]
    for k in 0..ITEMS {
        let item = start + k * THREADS_PER_BLOCK as usize;
        if item < n as usize {
            if keep[item] & bits != 0u32 {
                places[(sums[item] + base) as usize] = item as u32;
            }
        } else if item == n as usize {
            kept[0] = sums[item] + base;
        }
    }
}

#[cube(launch_unchecked)]
fn gather_words<W: Word>(from: &[W], order: &[u32], to: &mut [W], n: u32, width: u32) {
    let word = ABSOLUTE_POS as u32;
    if word < n * width {
        to[word as usize] = from[(order[(word / width) as usize] * width + word % width) as usize];
    }
}

#[cube(launch_unchecked)]
fn gather_records<W: Word>(from: &[Vector<W, Const<4>>], order: &[u32], to: &mut [Vector<W, Const<4>>], n: u32) {
    if ABSOLUTE_POS < n as usize {
        to[ABSOLUTE_POS] = from[order[ABSOLUTE_POS] as usize];
    }
}

#[cube(launch)]
fn scatter_words<W: Word>(from: &[W], places: &[u32], to: &mut [W], n: u32, width: u32) {
    let word = ABSOLUTE_POS as u32;
    if word < n * width {
        to[(places[(word / width) as usize] * width + word % width) as usize] = from[word as usize];
    }
}

impl Gpu {
    /// Sets `places[k]` to the index of the k-th of the first n items whose `keep` is not 0, and `kept[0]` to their number.
    ///
    /// # Errors
    /// If there is no memory for n + 1 sums.
    ///
    /// # Panics
    /// If a buffer is shorter than required.
    pub fn compact(&self, keep: &Buffer<u32>, n: usize, places: &Buffer<u32>, kept: &Buffer<u32>) -> Result<(), GpuError> {
        let sums = self.scratch::<u32>(n + 1)?;
        self.compact_in((&sums, &self.scan_room(n)?), (keep, u32::MAX), n, places, kept);
        Ok(())
    }

    /// As [`Gpu::compact`], for the items whose `keep` has one of these bits, in memory for at least n + 1 sums, and to scan n counts.
    pub(super) fn compact_in(
        &self,
        (sums, scan): (&Buffer<u32>, &ScanRoom),
        (keep, bits): (&Buffer<u32>, u32),
        n: usize,
        places: &Buffer<u32>,
        kept: &Buffer<u32>,
    ) {
        assert!(keep.len() >= n && places.len() >= n && !kept.is_empty(), "{n} items");
        let (totals, blocks) = self.scan_marks(scan, (keep, bits), n + 1, sums);
        // SAFETY: items are read up to n, sums of blocks below their number; the sum of a kept item is at most its index.
        unsafe {
            place_kept::launch_unchecked(
                self.client(),
                cubes((n + 1).div_ceil(BLOCK)),
                CubeDim::new_1d(THREADS_PER_BLOCK),
                keep.argument(),
                sums.argument(),
                totals.argument(),
                places.argument(),
                kept.argument(),
                bits,
                blocks as u32,
                n as u32,
            );
        }
    }

    /// Reorders n items of `width` words each: item k of `to` becomes item `order[k]` of `from`.
    ///
    /// # Panics
    /// If a buffer is too short, or a 32-bit index cannot number the words. All values of `order` must be indices of `from`.
    pub fn gather<W: Word>(&self, from: &Buffer<W>, order: &Buffer<u32>, n: usize, width: usize, to: &Buffer<W>) {
        assert!(order.len() >= n && to.len() >= n * width, "{n} items of {width} words");
        let are_records = width == 4 && from.len().is_multiple_of(4) && to.len().is_multiple_of(4);
        let (count, dim) = units(if are_records { n } else { n * width });
        if are_records {
            // SAFETY: `order` is read and records are written below n; `order` holds indices of records.
            unsafe {
                gather_records::launch_unchecked::<W>(self.client(), count, dim, from.records(), order.argument(), to.records(), n as u32);
            }
        } else {
            // SAFETY: `order` is read below n, words are written below n × width; `order` holds indices of items.
            unsafe {
                gather_words::launch_unchecked::<W>(
                    self.client(),
                    count,
                    dim,
                    from.argument(),
                    order.argument(),
                    to.argument(),
                    n as u32,
                    width as u32,
                );
            }
        }
    }

    /// Scatters n items of `width` words each: item k of `from` becomes item `places[k]` of `to`. The other items of `to` stay unchanged.
    ///
    /// # Panics
    /// If a buffer is too short, or a 32-bit index cannot number the words. All `places` must be distinct indices of `to`.
    pub fn scatter<W: Word>(&self, from: &Buffer<W>, places: &Buffer<u32>, n: usize, width: usize, to: &Buffer<W>) {
        assert!(places.len() >= n && from.len() >= n * width, "{n} items of {width} words");
        if n == 0 {
            return;
        }
        let (count, dim) = units(n * width);
        scatter_words::launch::<W>(
            self.client(),
            count,
            dim,
            from.argument(),
            places.argument(),
            to.argument(),
            n as u32,
            width as u32,
        );
    }
}
