//! Steps of few grains, which last as long as their launches and as a thread waits: contacts, walls and motion are one launch, and small blocks spread
//! over all multiprocessors.
//!
//! What is chosen follows from the world and the number of grains, so a resumed run has the same. Decomposition-invariant runs choose as with many
//! grains: their subdomains have different numbers of grains, and compilers might fuse operations differently in another kernel.

use super::{GpuGrains, Number};
use crate::populations::Populations;
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::few_grains::GRAINS_OF_BLOCK;
use seixo_sweeps::periodic::SHEARED;

/// Number of grains up to which a step may be one launch. Half of its threads only wait in most blocks. With 128 registers a thread, an H200 still holds
/// all blocks of so many grains at once.
const ONE_LAUNCH: usize = 32_768;

/// Blocks of a step that is one launch, with n grains; none if these are too many.
pub(super) fn blocks_of_one_launch(n: usize) -> usize {
    if n <= ONE_LAUNCH { n.div_ceil(GRAINS_OF_BLOCK) } else { 0 }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Whether the grains are few, in a run whose kernels may depend on that. It does not change while lists last.
    pub(super) fn are_few(&self, host: &Populations) -> bool {
        blocks_of_one_launch(self.n) > 0 && !host.context.settings.decomposition_invariant
    }

    /// Threads per block of the launch that computes contacts and moves grains. The smallest blocks spread few grains over all multiprocessors.
    pub(super) fn threads_of_blocks(&self, host: &Populations) -> u32 {
        // Measured on an H200 with many grains: blocks of this size use the registers better than larger ones, by 5 to 10 %.
        if self.are_few(host) { 32 } else { 128 }
    }

    /// Whether the next step is one launch: few grains that move by themselves, between walls at rest. Wear, bonds, loads, heat and what sums over blocks
    /// in each step need other launches, or what these leave in memory. So do forces that an observation left there.
    pub(super) fn is_step_one_launch(&self, host: &Populations) -> bool {
        let needs_others = self.forces_known
            || self.has_members()
            || self.shapes.is_some()
            || self.holding.is_some()
            || self.geared.is_some()
            || self.binned.is_some()
            || self.contacts.is_some()
            || !self.diffusions.is_empty()
            || host.context.stepping.local_damping > 0.0
            || self.kind.sides == SHEARED
            || host.walls.has_moving();
        self.are_few(host) && !needs_others && self.walls.as_ref().is_some_and(|near| near.work.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_grain_has_a_place_in_a_block_if_there_are_few() {
        assert_eq!(
            [0, 1, 32, 33, 10_648, ONE_LAUNCH].map(blocks_of_one_launch),
            [0, 1, 1, 2, 333, 1024]
        );
        assert_eq!(blocks_of_one_launch(ONE_LAUNCH + 1), 0);
    }
}
