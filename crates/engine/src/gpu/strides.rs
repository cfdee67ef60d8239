//! Steps in which grains need not be compared with their positions at the last rebuild of the lists.
//!
//! The comparison reads a record of each grain. It is not needed while no grain can have used up its skin: in step N after the rebuild, if no grain
//! ever moved farther in a step than half the skin divided by N. So the flags are raised at the same steps as if all grains were compared.
//!
//! There are several levels of such strides, from long to short ones. Grains that move farther mark the level. A step uses the longest stride that
//! its number allows. If a grain marked that level, all grains are compared until the next rebuild. The strides follow from the life of the lists
//! before, as speeds change little from lists to lists.

use super::{GpuGrains, Number};
use crate::populations::Populations;
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::{LONG_STRIDES, STRIDE_LEVELS, STRIDE_RATIO};

/// Share of (half the skin)² for the sum of strides. The rest is far more than their rounding.
const SHARE: f64 = 0.998;
/// Smallest squared stride \[m²\]: far smaller ones are zero in single precision.
const SMALLEST_SQUARE: f64 = 1e-30;

/// Which levels of strides grains exceeded since the last rebuild of the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LongStrides {
    exceeded: [bool; STRIDE_LEVELS],
    /// Number of rebuilds before the lists whose grains were elsewhere from the start, as in a run that is resumed.
    displaced: Option<u64>,
}

/// Strides of a step for [`seixo_sweeps::kernels::step::grains()`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StrideBounds {
    /// Squared stride of the first level \[m²\].
    pub widest_square: f64,
    /// Squared stride of the level of this step; negative if all grains must be compared \[m²\].
    pub square: f64,
    /// Level of this step.
    pub level: u32,
}

/// For steps that compare all grains: no stride is marked.
const UNBOUNDED: StrideBounds = StrideBounds {
    widest_square: 3e38,
    square: -1.0,
    level: 0,
};

impl LongStrides {
    /// The grains begin at other positions than those of the lists, which are the last after this number of rebuilds.
    pub fn begin_displaced(&mut self, rebuilds: u64) {
        self.displaced = Some(rebuilds);
    }

    /// The lists are new.
    pub fn forget(&mut self) {
        self.exceeded = [false; STRIDE_LEVELS];
    }

    /// Takes over the levels that queued steps marked in the words of the GPU.
    pub fn take_over(&mut self, flags: &[u32]) {
        for (exceeded, &word) in self.exceeded.iter_mut().zip(&flags[LONG_STRIDES..]) {
            *exceeded |= word != 0;
        }
    }

    /// Bounds for the step with this number after the last of `rebuilds` rebuilds of the lists. `skin_square` is (half the skin)² \[m²\], and `interval`
    /// the number of steps for which the lists before lasted.
    fn bounds(&self, skin_square: f64, interval: u64, step: u64, rebuilds: u64) -> StrideBounds {
        // The first level serves half an interval, the last some 480 of them.
        let first = (0.5 * interval as f64).max(1.0);
        let widest_square = SHARE * skin_square / (first * first);
        let squares = (0..STRIDE_LEVELS).map(|level| f64::from(STRIDE_RATIO).powi(level as i32));
        let mut levels = squares.zip(0usize..);
        let found = levels.find(|(square, _)| (step as f64).powi(2) * square <= first * first);
        match found {
            Some((square, level))
                if self.displaced != Some(rebuilds) && !self.exceeded[level] && widest_square * square > SMALLEST_SQUARE =>
            {
                StrideBounds {
                    widest_square,
                    square: widest_square * square,
                    level: level as u32,
                }
            }
            _ => UNBOUNDED,
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Bounds for the step that is `ahead` steps after the host's clock.
    pub(super) fn stride_bounds(&self, host: &Populations, ahead: u32) -> StrideBounds {
        self.stride_bounds_within(host, ahead, host.context.stepping.skin_exceeded_square)
    }

    /// As [`GpuGrains::stride_bounds()`], for lists with this (half the skin)² \[m²\].
    pub(super) fn stride_bounds_within(&self, host: &Populations, ahead: u32, skin_square: f64) -> StrideBounds {
        let step = self.since_rebuild + u64::from(ahead) + 1;
        let bounds = self.strides.bounds(skin_square, self.interval, step, host.grains.rebuilds);
        if self.is_repeated() || self.are_few(host) {
            // Launches that are repeated must not depend on the number of the step. A step of few grains that is one launch marks no strides.
            StrideBounds {
                square: UNBOUNDED.square,
                level: UNBOUNDED.level,
                ..bounds
            }
        } else {
            bounds
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_SKIN: f64 = 1e-4;

    fn bounds_of(strides: &LongStrides, interval: u64, step: u64) -> StrideBounds {
        strides.bounds(HALF_SKIN * HALF_SKIN, interval, step, 7)
    }

    #[test]
    fn strides_without_a_comparison_add_up_to_less_than_half_the_skin() {
        for interval in [0, 1, 2, 3, 23, 64, 1001] {
            let mut widest = None;
            for step in 1..400 * interval.max(2) {
                let bounds = bounds_of(&LongStrides::default(), interval, step);
                assert_ne!(bounds, UNBOUNDED, "{interval} {step}");
                assert!(step as f64 * bounds.square.sqrt() < HALF_SKIN, "{interval} {step} {bounds:?}");
                // What a kernel marks is what a later step relies on.
                let marked = bounds.widest_square * f64::from(STRIDE_RATIO).powi(bounds.level as i32);
                assert!(
                    (bounds.square / marked - 1.0).abs() < 1e-12,
                    "{interval} {step} {bounds:?} {marked}"
                );
                assert_eq!(*widest.get_or_insert(bounds.widest_square), bounds.widest_square);
            }
        }
    }

    #[test]
    fn a_marked_level_counts_until_the_lists_are_new() {
        let mut strides = LongStrides::default();
        let mut flags = [0; LONG_STRIDES + STRIDE_LEVELS];
        flags[LONG_STRIDES + 1..].fill(1);
        strides.take_over(&flags);
        strides.take_over(&[0; LONG_STRIDES + STRIDE_LEVELS]);
        // The first level serves half the interval.
        assert_ne!(bounds_of(&strides, 20, 10), UNBOUNDED);
        assert_eq!(bounds_of(&strides, 20, 11), UNBOUNDED);
        strides.forget();
        assert_ne!(bounds_of(&strides, 20, 11), UNBOUNDED);
    }

    #[test]
    fn grains_that_begin_elsewhere_are_compared_until_the_next_rebuild() {
        let mut strides = LongStrides::default();
        strides.begin_displaced(7);
        assert_eq!(bounds_of(&strides, 20, 1), UNBOUNDED);
        assert_ne!(strides.bounds(HALF_SKIN * HALF_SKIN, 20, 1, 8), UNBOUNDED);
    }

    #[test]
    fn skins_too_narrow_for_single_precision_are_always_compared() {
        assert_eq!(LongStrides::default().bounds(1e-34, 2, 1, 0), UNBOUNDED);
    }
}
