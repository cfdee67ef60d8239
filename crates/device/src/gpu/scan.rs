//! Exclusive scan (prefix sum).

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::{Buffer, Gpu, GpuError, THREADS_PER_BLOCK, cubes};
use cubecl::prelude::*;

/// Items per thread.
pub(super) const ITEMS: usize = 8;
/// Items per block of threads.
pub(super) const BLOCK: usize = ITEMS * THREADS_PER_BLOCK as usize;

/// Index in shared memory of an item of a block. Threads that read adjacent items, and threads that read items 8 apart, access different banks.
#[cube]
fn place_of(item: usize) -> usize {
    item + item / 32usize
}

/// Scans every block separately; `totals` gets the sum of each. Items from `given` on count as 0. With `as_marks`, an item counts as 1 if it has one of these
/// `bits`, and as 0 if not.
#[cube(launch_unchecked)]
fn scan_blocks(counts: &[u32], sums: &mut [u32], totals: &mut [u32], given: u32, n: u32, bits: u32, #[comptime] as_marks: bool) {
    let mut block = Shared::<[u32]>::new_slice(BLOCK + BLOCK / 32);
    let mut shared = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK as usize);
    let unit = UNIT_POS as usize;
    let start = CUBE_POS * BLOCK;
    #[unroll]
    for k in 0..ITEMS {
        let item = unit + k * THREADS_PER_BLOCK as usize;
        let mut count = 0u32;
        if start + item < given as usize {
            count = counts[start + item];
            if as_marks {
                count = min(count & bits, 1u32);
            }
        }
        block[place_of(item)] = count;
    }
    sync_cube();
    let mut own = 0u32;
    #[unroll]
    for k in 0..ITEMS {
        let place = place_of(unit * ITEMS + k);
        let count = block[place];
        block[place] = own;
        own += count;
    }
    shared[unit] = own;
    sync_cube();
    let mut reach = 1usize;
    while reach < THREADS_PER_BLOCK as usize {
        let mut left = 0u32;
        if unit >= reach {
            left = shared[unit - reach];
        }
        sync_cube();
        shared[unit] += left;
        sync_cube();
        reach *= 2;
    }
    let first = shared[unit] - own;
    #[unroll]
    for k in 0..ITEMS {
        block[place_of(unit * ITEMS + k)] += first;
    }
    sync_cube();
    #[unroll]
    for k in 0..ITEMS {
        let item = unit + k * THREADS_PER_BLOCK as usize;
        if start + item < n as usize {
            sums[start + item] = block[place_of(item)];
        }
    }
    if UNIT_POS == THREADS_PER_BLOCK - 1 && CUBE_POS < totals.len() {
        totals[CUBE_POS] = first + own;
    }
}

/// Adds to every item the sum of all earlier blocks.
#[cube(launch_unchecked)]
fn add_to_blocks(sums: &mut [u32], bases: &[u32], n: u32) {
    let start = CUBE_POS * BLOCK + UNIT_POS as usize;
    if CUBE_POS < bases.len() {
        let base = bases[CUBE_POS];
        #[unroll]
        for k in 0..ITEMS {
            let place = start + k * THREADS_PER_BLOCK as usize;
            if place < n as usize {
                sums[place] += base;
            }
        }
    }
}

/// Sum of all blocks of a scan before this one, from the sums of each of these `blocks`.
#[cube]
pub(super) fn sum_of_earlier_blocks(totals: &[u32], blocks: u32) -> u32 {
    let mut shared = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK as usize);
    let unit = UNIT_POS as usize;
    let mut end = CUBE_POS;
    if end > blocks as usize {
        end = blocks as usize;
    }
    let mut own = 0u32;
    let mut block = UNIT_POS as usize;
    while block < end {
        own += totals[block];
        block += THREADS_PER_BLOCK as usize;
    }
    shared[unit] = own;
    sync_cube();
    let mut reach = 128usize;
    while reach > 0usize {
        if unit < reach {
            let other = shared[unit + reach];
            shared[unit] += other;
        }
        sync_cube();
        reach /= 2usize;
    }
    shared[0]
}

/// Adds to every item the sum of all earlier blocks, from the sums of each of these `blocks`.
#[cube(launch_unchecked)]
fn add_earlier_blocks(sums: &mut [u32], totals: &[u32], blocks: u32, n: u32) {
    let base = sum_of_earlier_blocks(totals, blocks);
    let start = CUBE_POS * BLOCK + UNIT_POS as usize;
    #[unroll]
    for k in 0..ITEMS {
        let place = start + k * THREADS_PER_BLOCK as usize;
        if place < n as usize {
            sums[place] += base;
        }
    }
}

/// Most blocks whose sums every block adds up by itself. With more, their sums are scanned.
const FEW_BLOCKS: usize = BLOCK;

/// Memory for the sums of blocks, of blocks of blocks, and so on.
#[derive(Default)]
pub(super) struct ScanRoom {
    totals: Vec<Buffer<u32>>,
    bases: Vec<Buffer<u32>>,
}

impl ScanRoom {
    /// Memory to scan n counts, allocated by `allocate`.
    pub(super) fn new(n: usize, allocate: impl Fn(usize) -> Result<Buffer<u32>, GpuError>) -> Result<ScanRoom, GpuError> {
        let (mut totals, mut bases) = (Vec::new(), Vec::new());
        let mut blocks = (n + 1).div_ceil(BLOCK);
        loop {
            totals.push(allocate(blocks)?);
            if blocks <= FEW_BLOCKS {
                return Ok(ScanRoom { totals, bases });
            }
            bases.push(allocate(blocks)?);
            blocks = blocks.div_ceil(BLOCK);
        }
    }

    /// Whether it has no memory yet.
    pub(super) fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }
}

impl Gpu {
    /// Sets `sums[k]` to the sum of the first k counts, and `sums[n]` to the sum of all n. Sums beyond 2³² wrap. A [`super::Workspace`] does the same
    /// without an allocation.
    ///
    /// # Errors
    /// If there is no memory for the sums of blocks, 4 bytes for every 2048 items.
    ///
    /// # Panics
    /// If there are fewer than n counts or n + 1 sums.
    pub fn exclusive_scan(&self, counts: &Buffer<u32>, n: usize, sums: &Buffer<u32>) -> Result<(), GpuError> {
        self.scan_in(&self.scan_room(n)?, counts, n, sums);
        Ok(())
    }

    /// Allocates temporary memory to scan n counts.
    pub(super) fn scan_room(&self, n: usize) -> Result<ScanRoom, GpuError> {
        ScanRoom::new(n, |blocks| self.scratch(blocks))
    }

    /// As [`Gpu::exclusive_scan`], in memory for at least as many counts.
    pub(super) fn scan_in(&self, room: &ScanRoom, counts: &Buffer<u32>, n: usize, sums: &Buffer<u32>) {
        assert!(counts.len() >= n && sums.len() > n, "{n} counts, {} sums", sums.len());
        self.scan_level(room, 0, counts, n, sums, n + 1);
    }

    /// Queues the scan of n items of which the first n − 1 are marked if they have one of these bits, as a [`Gpu::scan_in`] of 1 for each mark. The sums
    /// count from the start of a block on, if that saves a launch. Returns the sums of the blocks, and how many of them are to be added: all, or none.
    pub(super) fn scan_marks<'a>(
        &self,
        room: &'a ScanRoom,
        (marks, bits): (&Buffer<u32>, u32),
        n: usize,
        sums: &Buffer<u32>,
    ) -> (&'a Buffer<u32>, usize) {
        assert!(marks.len() + 1 >= n && sums.len() >= n, "{n} items");
        let (blocks, totals) = (n.div_ceil(BLOCK), &room.totals[0]);
        self.scan_each_block(totals, marks, (n - 1, Some(bits)), sums, n);
        if blocks <= FEW_BLOCKS {
            return (totals, blocks);
        }
        self.add_blocks_of_blocks(room, 0, sums, n);
        (totals, 0)
    }

    /// Queues the scan of each block of n items. The first `given` of them are given; the rest count as 0. With bits, those that have one of these count as
    /// 1, and all others as 0.
    fn scan_each_block(
        &self,
        totals: &Buffer<u32>,
        counts: &Buffer<u32>,
        (given, bits): (usize, Option<u32>),
        sums: &Buffer<u32>,
        n: usize,
    ) {
        let blocks = n.div_ceil(BLOCK);
        assert!(totals.len() >= blocks, "{blocks} blocks, room for {}", totals.len());
        // SAFETY: counts are read below `given`, sums are written below n, totals below their number.
        unsafe {
            scan_blocks::launch_unchecked(
                self.client(),
                cubes(blocks),
                CubeDim::new_1d(THREADS_PER_BLOCK),
                counts.argument(),
                sums.argument(),
                totals.argument(),
                given as u32,
                n as u32,
                bits.unwrap_or(0),
                bits.is_some(),
            );
        }
    }

    /// Scans the sums of the many blocks of n items, and adds them to the items.
    fn add_blocks_of_blocks(&self, room: &ScanRoom, level: usize, sums: &Buffer<u32>, n: usize) {
        let (blocks, totals, bases) = (n.div_ceil(BLOCK), &room.totals[level], &room.bases[level]);
        self.scan_level(room, level + 1, totals, blocks, bases, blocks);
        // SAFETY: sums are written below n; bases are read below their number.
        unsafe {
            add_to_blocks::launch_unchecked(
                self.client(),
                cubes(blocks),
                CubeDim::new_1d(THREADS_PER_BLOCK),
                sums.argument(),
                bases.argument(),
                n as u32,
            );
        }
    }

    /// Scans one level. The first `given` of the n counts are given; the rest count as 0.
    fn scan_level(&self, room: &ScanRoom, level: usize, counts: &Buffer<u32>, given: usize, sums: &Buffer<u32>, n: usize) {
        let blocks = n.div_ceil(BLOCK);
        let totals = &room.totals[level];
        self.scan_each_block(totals, counts, (given, None), sums, n);
        if blocks > FEW_BLOCKS {
            self.add_blocks_of_blocks(room, level, sums, n);
        } else if blocks > 1 {
            // SAFETY: sums are written below n; totals are read below the number of blocks, for which they have room.
            unsafe {
                add_earlier_blocks::launch_unchecked(
                    self.client(),
                    cubes(blocks),
                    CubeDim::new_1d(THREADS_PER_BLOCK),
                    sums.argument(),
                    totals.argument(),
                    blocks as u32,
                    n as u32,
                );
            }
        }
    }
}
