//! Compaction, gather and scatter of items.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::scan::{BLOCK, ITEMS, place_of, sum_of_threads, sum_of_totals, sum_up};
use super::{Buffer, Gpu, GpuError, THREADS_PER_BLOCK, Word, cubes, units};
use cubecl::prelude::*;

/// Most blocks of threads that share the items of a list. With more items, each block takes more of them. So every block adds up the totals of all before
/// it by itself.
const MOST_BLOCKS: usize = 1024;

/// Most lists of a compaction: the bits of a mark.
const MOST_LISTS: usize = 32;

/// Counts the kept items of each list in each block of `span` items. List k keeps those that have one of these bits, shifted by k.
#[cube(launch_unchecked)]
fn count_kept(keep: &[u32], totals: &mut [u32], bits: u32, blocks: u32, span: u32, n: u32) {
    let wanted = bits << (CUBE_POS as u32 / blocks);
    let start = CUBE_POS as u32 % blocks * span;
    let end = start + min(span, n - start);
    let mut own = 0u32;
    let mut item = start + UNIT_POS;
    while item < end {
        if keep[item as usize] & wanted != 0u32 {
            own += 1u32;
        }
        item += THREADS_PER_BLOCK;
    }
    let total = sum_of_threads(own);
    if UNIT_POS == 0u32 {
        totals[CUBE_POS] = total;
    }
}

/// Writes the indices of the kept items of each list, at most `room`, and their number. `totals` are those of [`count_kept()`].
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn place_kept(keep: &[u32], totals: &[u32], places: &mut [u32], kept: &mut [u32], bits: u32, blocks: u32, span: u32, room: u32, n: u32) {
    let mut block = Shared::<[u32]>::new_slice(BLOCK + BLOCK / 32);
    let list = CUBE_POS as u32 / blocks;
    let own = CUBE_POS as u32 % blocks;
    let wanted = bits << list;
    let first_place = (list * room) as usize;
    let mut before = sum_of_totals(totals, (list * blocks) as usize, CUBE_POS);
    let start = own * span;
    let end = (start + min(span, n - start)) as usize;
    let mut from = start as usize;
    while from < end {
        #[unroll]
        for k in 0..ITEMS {
            let item = UNIT_POS as usize + k * THREADS_PER_BLOCK as usize;
            let mut mark = 0u32;
            if from + item < end {
                mark = min(keep[from + item] & wanted, 1u32);
            }
            block[place_of(item)] = mark;
        }
        sync_cube();
        let total = sum_up(&mut block);
        #[unroll]
        for k in 0..ITEMS {
            let item = UNIT_POS as usize + k * THREADS_PER_BLOCK as usize;
            if from + item < end {
                let place = before + block[place_of(item)];
                if keep[from + item] & wanted != 0u32 && place < room {
                    places[first_place + place as usize] = (from + item) as u32;
                }
            }
        }
        before += total;
        // The next items come to the same memory.
        sync_cube();
        from += BLOCK;
    }
    if UNIT_POS == 0u32 && own + 1u32 == blocks {
        kept[list as usize] = before;
    }
}

/// Counts the items of each block of `span` that are not 0, and sums them. The sums of all blocks come behind their numbers.
#[cube(launch_unchecked)]
fn count_and_sum(counts: &[u32], totals: &mut [u32], blocks: u32, span: u32, n: u32) {
    let start = CUBE_POS as u32 * span;
    let end = start + min(span, n - start);
    let mut own = 0u32;
    let mut own_sum = 0u32;
    let mut item = start + UNIT_POS;
    while item < end {
        let count = counts[item as usize];
        own += min(count, 1u32);
        own_sum += count;
        item += THREADS_PER_BLOCK;
    }
    let number = sum_of_threads(own);
    let sum = sum_of_threads(own_sum);
    if UNIT_POS == 0u32 {
        totals[CUBE_POS] = number;
        totals[blocks as usize + CUBE_POS] = sum;
    }
}

/// Writes the sum of all items before each item, and the indices of the items that are not 0. `kept` gets their number and sum. `totals` are those of
/// [`count_and_sum()`].
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn place_and_scan(counts: &[u32], totals: &[u32], sums: &mut [u32], places: &mut [u32], kept: &mut [u32], blocks: u32, span: u32, n: u32) {
    let mut marks = Shared::<[u32]>::new_slice(BLOCK + BLOCK / 32);
    let mut block = Shared::<[u32]>::new_slice(BLOCK + BLOCK / 32);
    let mut marked_before = sum_of_totals(totals, 0usize, CUBE_POS);
    let mut before = sum_of_totals(totals, blocks as usize, blocks as usize + CUBE_POS);
    let start = CUBE_POS as u32 * span;
    let end = (start + min(span, n - start)) as usize;
    let mut from = start as usize;
    while from < end {
        #[unroll]
        for k in 0..ITEMS {
            let item = UNIT_POS as usize + k * THREADS_PER_BLOCK as usize;
            let mut count = 0u32;
            if from + item < end {
                count = counts[from + item];
            }
            block[place_of(item)] = count;
            marks[place_of(item)] = min(count, 1u32);
        }
        sync_cube();
        let sum = sum_up(&mut block);
        let number = sum_up(&mut marks);
        #[unroll]
        for k in 0..ITEMS {
            let item = UNIT_POS as usize + k * THREADS_PER_BLOCK as usize;
            if from + item < end {
                sums[from + item] = before + block[place_of(item)];
                let place = marked_before + marks[place_of(item)];
                if counts[from + item] != 0u32 {
                    places[place as usize] = (from + item) as u32;
                }
            }
        }
        before += sum;
        marked_before += number;
        // The next items come to the same memory.
        sync_cube();
        from += BLOCK;
    }
    if UNIT_POS == 0u32 && CUBE_POS as u32 + 1u32 == blocks {
        sums[n as usize] = before;
        kept[0] = marked_before;
        kept[1] = before;
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

/// Items of a list that a block of threads takes, of n.
fn span_of(n: usize) -> usize {
    n.div_ceil(MOST_BLOCKS).max(1).next_multiple_of(BLOCK)
}

/// Totals of the blocks of a compaction of n items into so many lists.
pub(super) fn totals_of(n: usize, lists: usize) -> usize {
    lists * n.div_ceil(span_of(n)).max(1)
}

impl Gpu {
    /// Sets `places[k]` to the index of the k-th of the first n items whose `keep` is not 0, and `kept[0]` to their number.
    ///
    /// # Errors
    /// If there is no memory for the numbers of blocks, at most 4 kB.
    ///
    /// # Panics
    /// If a buffer is shorter than required.
    pub fn compact(&self, keep: &Buffer<u32>, n: usize, places: &Buffer<u32>, kept: &Buffer<u32>) -> Result<(), GpuError> {
        self.compact_in(&self.scratch(totals_of(n, 1))?, (keep, u32::MAX, 1), n, (places, n), kept);
        Ok(())
    }

    /// Compacts n items into so many lists at once. List k keeps the items whose `keep` has one of these bits, shifted by k: their indices, at most `room`,
    /// begin at `places[k × room]`, and their number is `kept[k]`. `totals` is memory for at least [`totals_of`] these.
    pub(super) fn compact_in(
        &self,
        totals: &Buffer<u32>,
        (keep, bits, lists): (&Buffer<u32>, u32, usize),
        n: usize,
        (places, room): (&Buffer<u32>, usize),
        kept: &Buffer<u32>,
    ) {
        assert!((1..=MOST_LISTS).contains(&lists), "{lists} lists");
        assert!(keep.len() >= n && kept.len() >= lists, "{n} items in {lists} lists");
        assert!(places.len() >= lists * room, "{lists} lists of {room} items");
        let (blocks, span) = (totals_of(n, 1), span_of(n));
        assert!(totals.len() >= lists * blocks, "{lists} lists, room for {}", totals.len());
        let (count, dim) = (cubes(lists * blocks), CubeDim::new_1d(THREADS_PER_BLOCK));
        // SAFETY: there are as many blocks as totals, and each reads items below n.
        unsafe {
            count_kept::launch_unchecked(
                self.client(),
                count.clone(),
                dim,
                keep.argument(),
                totals.argument(),
                bits,
                blocks as u32,
                span as u32,
                n as u32,
            );
        }
        // SAFETY: items are read below n, totals below their number; each list writes to its own `room` places and its own number.
        unsafe {
            place_kept::launch_unchecked(
                self.client(),
                count,
                dim,
                keep.argument(),
                totals.argument(),
                places.argument(),
                kept.argument(),
                bits,
                blocks as u32,
                span as u32,
                room as u32,
                n as u32,
            );
        }
    }

    /// As [`Gpu::exclusive_scan`] and [`Gpu::compact`] of the same n counts; `kept[1]` becomes their sum. `totals` is memory for at least [`totals_of`] two lists.
    pub(super) fn scan_and_compact_in(
        &self,
        totals: &Buffer<u32>,
        counts: &Buffer<u32>,
        n: usize,
        sums: &Buffer<u32>,
        (places, kept): (&Buffer<u32>, &Buffer<u32>),
    ) {
        assert!(counts.len() >= n && sums.len() > n, "{n} counts, {} sums", sums.len());
        assert!(places.len() >= n && kept.len() > 1, "{n} items");
        let (blocks, span) = (totals_of(n, 1), span_of(n));
        assert!(totals.len() >= 2 * blocks, "{blocks} blocks, room for {}", totals.len());
        let (count, dim) = (cubes(blocks), CubeDim::new_1d(THREADS_PER_BLOCK));
        // SAFETY: each block reads counts below n, and writes two totals of its own.
        unsafe {
            count_and_sum::launch_unchecked(
                self.client(),
                count.clone(),
                dim,
                counts.argument(),
                totals.argument(),
                blocks as u32,
                span as u32,
                n as u32,
            );
        }
        // SAFETY: counts are read below n, totals below their number; sums are written up to n, and as many places as there are counts at most.
        unsafe {
            place_and_scan::launch_unchecked(
                self.client(),
                count,
                dim,
                counts.argument(),
                totals.argument(),
                sums.argument(),
                places.argument(),
                kept.argument(),
                blocks as u32,
                span as u32,
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
