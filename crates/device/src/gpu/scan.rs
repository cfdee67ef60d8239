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
pub(super) fn place_of(item: usize) -> usize {
    item + item / 32usize
}

/// Replaces each count of a block of items, which are in shared memory at their [places](place_of), by the sum of those before it. Returns the sum of all. All
/// threads of the block must call it, after all counts are there; then all sums are there.
#[cube]
pub(super) fn sum_up(block: &mut [u32]) -> u32 {
    let mut shared = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK as usize);
    let unit = UNIT_POS as usize;
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
    let all = shared[THREADS_PER_BLOCK as usize - 1usize];
    #[unroll]
    for k in 0..ITEMS {
        block[place_of(unit * ITEMS + k)] += first;
    }
    // Nothing reads shared memory of this function after that.
    sync_cube();
    all
}

/// Scans every block separately; `totals` gets the sum of each. Items from `given` on count as 0.
#[cube(launch_unchecked)]
fn scan_blocks(counts: &[u32], sums: &mut [u32], totals: &mut [u32], given: u32, n: u32) {
    let mut block = Shared::<[u32]>::new_slice(BLOCK + BLOCK / 32);
    let unit = UNIT_POS as usize;
    let start = CUBE_POS * BLOCK;
    #[unroll]
    for k in 0..ITEMS {
        let item = unit + k * THREADS_PER_BLOCK as usize;
        let mut count = 0u32;
        if start + item < given as usize {
            count = counts[start + item];
        }
        block[place_of(item)] = count;
    }
    sync_cube();
    let total = sum_up(&mut block);
    #[unroll]
    for k in 0..ITEMS {
        let item = unit + k * THREADS_PER_BLOCK as usize;
        if start + item < n as usize {
            sums[start + item] = block[place_of(item)];
        }
    }
    if UNIT_POS == 0 && CUBE_POS < totals.len() {
        totals[CUBE_POS] = total;
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

/// Sum of the numbers of all threads of a block, which must all call it.
#[cube]
pub(super) fn sum_of_threads(own: u32) -> u32 {
    let mut shared = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK as usize);
    let unit = UNIT_POS as usize;
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
    let sum = shared[0];
    // Nothing reads shared memory of this function after that.
    sync_cube();
    sum
}

/// Sum of the totals of blocks from the first one to the one before `end`. All threads of a block must call it.
#[cube]
pub(super) fn sum_of_totals(totals: &[u32], first: usize, end: usize) -> u32 {
    let mut own = 0u32;
    let mut block = first + UNIT_POS as usize;
    while block < end {
        own += totals[block];
        block += THREADS_PER_BLOCK as usize;
    }
    sum_of_threads(own)
}

/// Adds to every item the sum of all earlier blocks, from the sums of each of these `blocks`.
#[cube(launch_unchecked)]
fn add_earlier_blocks(sums: &mut [u32], totals: &[u32], blocks: u32, n: u32) {
    let base = sum_of_totals(totals, 0usize, min(CUBE_POS, blocks as usize));
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

    /// Queues the scan of each block of n items. The first `given` of them are given; the rest count as 0.
    fn scan_each_block(&self, totals: &Buffer<u32>, counts: &Buffer<u32>, given: usize, sums: &Buffer<u32>, n: usize) {
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
        self.scan_each_block(totals, counts, given, sums, n);
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
