//! Reductions in a fixed order.

#![allow(unsafe_code, reason = "kernels are launched without checks of their indices")]

use super::{Buffer, Gpu, GpuError, Number, THREADS_PER_BLOCK, cubes};
use cubecl::prelude::*;

/// Reduction operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Sum; 0 without values.
    Sum,
    /// Minimum; the largest finite number without values. NaN is ignored.
    Smallest,
    /// Maximum; the smallest finite number without values. NaN is ignored.
    Largest,
}

#[cube]
fn joined<N: Number>(a: N, b: N, #[comptime] fold: Fold) -> N {
    let mut result = a;
    match comptime!(fold) {
        Fold::Sum => result = a + b,
        Fold::Smallest => {
            if b < a {
                result = b;
            }
        }
        Fold::Largest => {
            if b > a {
                result = b;
            }
        }
    }
    result
}

/// Reduces the numbers of all threads of a block; the first thread has the result. All threads of the block must call it.
#[cube]
fn fold_cube<N: Number>(own: N, #[comptime] units: usize, #[comptime] fold: Fold) -> N {
    let mut shared = Shared::<[N]>::new_slice(units);
    let unit = UNIT_POS as usize;
    shared[unit] = own;
    sync_cube();
    let mut half = (units / 2).runtime();
    while half > 0 {
        if unit < half {
            shared[unit] = joined::<N>(shared[unit], shared[unit + half], fold);
        }
        sync_cube();
        half /= 2;
    }
    shared[0]
}

#[cube(launch_unchecked)]
fn fold_blocks<N: Number>(values: &[N], results: &mut [N], neutral: N, n: u32, #[comptime] fold: Fold) {
    let mut own = neutral;
    if ABSOLUTE_POS < n as usize {
        own = joined::<N>(neutral, values[ABSOLUTE_POS], fold);
    }
    let result = fold_cube::<N>(own, comptime!(THREADS_PER_BLOCK as usize), fold);
    if UNIT_POS == 0 && CUBE_POS < results.len() {
        results[CUBE_POS] = result;
    }
}

/// Threads per segment.
const LANES: u32 = 64;

#[cube(launch_unchecked)]
fn sum_segments<N: Number>(values: &[N], first: &[u32], sums: &mut [N], zero: N, segments: u32, #[comptime] width: usize) {
    // Blocks beyond the last segment have an empty one, so that all threads reach the same barriers.
    let mut start = 0u32;
    let mut end = 0u32;
    let is_there = CUBE_POS < segments as usize;
    if is_there {
        start = first[CUBE_POS];
        end = first[CUBE_POS + 1];
    }
    for column in 0..width {
        let mut own = zero;
        let mut item = start + UNIT_POS;
        while item < end {
            own += values[item as usize * width + column];
            item += LANES;
        }
        let sum = fold_cube::<N>(own, comptime!(LANES as usize), Fold::Sum);
        if is_there && UNIT_POS == 0 {
            sums[CUBE_POS * width + column] = sum;
        }
        sync_cube();
    }
}

impl Gpu {
    /// Reduces the first n values into a buffer of one item. Blocks of 256 are reduced in pairs, then their results, and so on: bitwise reproducible.
    ///
    /// # Errors
    /// If there is no memory for the results of the blocks.
    ///
    /// # Panics
    /// If there are fewer than n values.
    pub fn fold<N: Number>(&self, values: &Buffer<N>, n: usize, fold: Fold) -> Result<Buffer<N>, GpuError> {
        assert!(values.len() >= n, "{n} of {} values", values.len());
        let blocks = n.div_ceil(THREADS_PER_BLOCK as usize).max(1);
        let results = self.scratch::<N>(blocks)?;
        let neutral = match fold {
            Fold::Sum => N::from_int(0),
            Fold::Smallest => N::max_value(),
            Fold::Largest => N::min_value(),
        };
        // SAFETY: values are read below n; results are written below their number.
        unsafe {
            fold_blocks::launch_unchecked::<N>(
                self.client(),
                cubes(blocks),
                CubeDim::new_1d(THREADS_PER_BLOCK),
                values.argument(),
                results.argument(),
                neutral,
                n as u32,
                fold,
            );
        }
        if blocks == 1 {
            Ok(results)
        } else {
            self.fold(&results, blocks, fold)
        }
    }

    /// Sums the items of every segment. Items `first[s]` to `first[s + 1]` of `values`, each of `width` numbers, are added to the `width` numbers of
    /// `sums` at s. 64 threads share a segment, each adds every 64th item in turn, and their sums are added in pairs. The result is bitwise
    /// reproducible and does not depend on the position of the segment.
    ///
    /// # Panics
    /// If `first` or `sums` is too short. The values of `first` must not exceed the number of items.
    pub fn sum_by_segment<N: Number>(&self, values: &Buffer<N>, width: usize, first: &Buffer<u32>, segments: usize, sums: &Buffer<N>) {
        assert!(first.len() > segments && sums.len() >= segments * width, "{segments} segments");
        // SAFETY: `first` is read up to the number of segments, values between its entries; sums are written below segments × width.
        unsafe {
            sum_segments::launch_unchecked::<N>(
                self.client(),
                cubes(segments),
                CubeDim::new_1d(LANES),
                values.argument(),
                first.argument(),
                sums.argument(),
                N::from_int(0),
                segments as u32,
                width,
            );
        }
    }
}
