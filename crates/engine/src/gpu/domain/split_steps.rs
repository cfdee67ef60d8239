//! Steps of a subdomain in parts, so that halos travel between GPUs while other grains are computed.
//!
//! First come the grains that are ghosts elsewhere. They are packed at once, and sent on a queue of their own. Ghosts and all other grains are computed
//! meanwhile. Only then do the subdomains agree whether they halt, as any grain may be the reason. This takes one word, which travels while
//! ghosts are updated.
//!
//! No grain reads what a launch of the same step writes. So the order changes no result, and rows stay where they are.
//!
//! NCCL's blocks need nearly all registers of a multiprocessor, and its stream has no higher priority. So the inner grains, launched first, are expected to
//! keep it waiting until nearly all of their blocks have begun. Hence the ghosts are a launch between: they have no rows, so it should be short, and the
//! transfer is next in turn. This order was not compared with others.

use super::DomainState;
use crate::gpu::halo_exchange::HaloSource;
use crate::gpu::joint_halo::HaloPair;
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{GpuGrains, Number};
use crate::populations::Populations;
use crate::world::HaloOverlap;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::domain::list_part;
use seixo_sweeps::kernels::{BORDER, GHOST_ROWS, INNER, WHOLE};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::SHEARED;

/// The grains that a launch of a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum StepPart {
    /// All.
    Whole,
    /// Those that are ghosts elsewhere.
    Border,
    /// Ghosts of the grains of others.
    Ghosts,
    /// All that are in no other part.
    Inner,
}

impl StepPart {
    /// Its number in kernels.
    pub fn number(self) -> u32 {
        match self {
            StepPart::Whole => WHOLE,
            StepPart::Border => BORDER,
            StepPart::Ghosts => GHOST_ROWS,
            StepPart::Inner => INNER,
        }
    }

    /// Whether it follows another part of the same step.
    pub fn is_later(self) -> bool {
        matches!(self, StepPart::Ghosts | StepPart::Inner)
    }
}

/// Where the table of parts lists the grains of a part, and how many threads these need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) struct PartRows {
    /// First word.
    pub first: usize,
    /// Words, some of which may stand for a grain that is listed before.
    pub listed: usize,
    pub threads: usize,
}

/// The parts of the steps until the next rebuild of the lists.
pub(super) struct SplitSteps {
    /// See [`seixo_sweeps::kernels::step::grains()`].
    table: Buffer<u32>,
    n: usize,
    ghosts: usize,
    shown: usize,
    is_on: bool,
    /// Whether the present step computes contacts.
    touches: bool,
}

impl SplitSteps {
    /// No parts.
    pub fn new(gpu: &Gpu) -> Result<SplitSteps, GpuError> {
        Ok(SplitSteps {
            table: gpu.buffer(RECORD, "domains")?,
            n: 0,
            ghosts: 0,
            shown: 0,
            is_on: false,
            touches: true,
        })
    }

    /// Whether steps are in parts.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Lists the parts of n grains: the ghosts at these indices, and the grains that are ghosts elsewhere. A grain may be a ghost in several subdomains.
    fn list(&mut self, gpu: &Gpu, n: usize, ghosts: &[(&Buffer<u32>, usize)], shown: &[(&Buffer<u32>, usize)]) -> Result<(), GpuError> {
        let [of_ghosts, of_shown] = [ghosts, shown].map(|lists| lists.iter().map(|(_, m)| *m).sum::<usize>());
        make_room(gpu, &mut self.table, n + of_ghosts + of_shown + 1, "domains")?;
        gpu.clear(&self.table);
        let mut first = n;
        for &(places, m) in ghosts.iter().chain(shown) {
            if m > 0 {
                let (count, dim) = units(m);
                let (places, table) = (places.argument(), self.table.argument());
                list_part::launch(gpu.client(), count, dim, places, table, first as u32, m as u32);
            }
            first += m;
        }
        (self.n, self.ghosts, self.shown) = (n, of_ghosts, of_shown);
        self.is_on = true;
        Ok(())
    }

    fn rows_of(&self, part: StepPart) -> PartRows {
        let (first, listed, threads) = match part {
            StepPart::Ghosts => (self.n, self.ghosts, self.ghosts),
            // Also without such grains: this part counts the step.
            StepPart::Border => (self.n + self.ghosts, self.shown, self.shown.max(1)),
            StepPart::Inner | StepPart::Whole => (0, 0, self.n),
        };
        PartRows { first, listed, threads }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    fn split(&self) -> Option<&SplitSteps> {
        self.border.as_ref().map(|border| &border.split).filter(|split| split.is_on)
    }

    /// The part with which a step begins. `touches`: whether it computes contacts.
    pub(in crate::gpu) fn first_part(&mut self, touches: bool) -> StepPart {
        match self.border.as_mut().map(|border| &mut border.split).filter(|split| split.is_on) {
            Some(split) => {
                split.touches = touches;
                StepPart::Border
            }
            None => StepPart::Whole,
        }
    }

    /// The rows of a part.
    pub(in crate::gpu) fn rows_of(&self, part: StepPart) -> PartRows {
        match self.split() {
            Some(split) => split.rows_of(part),
            None => PartRows {
                first: 0,
                listed: 0,
                threads: self.n,
            },
        }
    }

    /// The table of parts, or another buffer that a step does not need if there are no parts.
    pub(in crate::gpu) fn table_of_parts(&self) -> &Buffer<u32> {
        self.split().map_or(&self.order, |split| &split.table)
    }

    /// As [`super::DomainBackend::requests_parts`]. Steps are not in parts if another launch than that of contacts moves or loads grains, or if powers
    /// are summed over blocks.
    ///
    /// A step in parts has four launches more, and one more transfer between GPUs. Parts with few grains take as long as the slowest of them.
    pub(super) fn can_split(&self, host: &Populations) -> bool {
        let is_alone = self.binned.is_none()
            && self.contacts.is_none()
            && self.geared.is_none()
            && self.carriers.is_none()
            && self.holding.is_none()
            && self.shapes.is_none()
            && self.diffusions.is_empty();
        let sums = host.context.stepping.local_damping > 0.0 || self.kind.sides == SHEARED;
        let is_wished = host.context.settings.halo_overlap == HaloOverlap::Always && self.owned_without_ghosts() > 0;
        is_alone && !sums && is_wished
    }

    /// As [`super::DomainBackend::split_steps`].
    pub(super) fn list_parts(&mut self, splits: bool, pairs: Vec<Option<HaloPair>>) -> Result<(), GpuError> {
        let (gpu, n, widths, numbers) = (self.gpu.clone(), self.n, self.widths_of_columns(), self.numbers_of_motion());
        let DomainState { split, sides, .. } = self.border();
        split.is_on = false;
        for (side, pair) in sides.iter_mut().zip(pairs) {
            let counts = [side.shown, side.followed_ghosts];
            side.halo.make_room(&gpu, pair, counts, (&widths, numbers))?;
        }
        if !splits {
            return Ok(());
        }
        let ghosts: Vec<_> = sides.iter().map(|side| (&side.ghosts, side.followed_ghosts)).collect();
        let shown: Vec<_> = sides.iter().map(|side| (&side.own, side.shown)).collect();
        split.list(&gpu, n, &ghosts, &shown)
    }

    /// As [`super::DomainBackend::finish_motion`].
    pub(super) fn launch_later_parts(&self, host: &Populations, ahead: u32) {
        let Some(split) = self.split() else { return };
        for part in [StepPart::Ghosts, StepPart::Inner] {
            if split.rows_of(part).threads > 0 {
                self.forces_and_motion(host, ahead, ahead & 1, (split.touches, true, false), part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::kernels::domain::LISTED;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn each_grain_is_in_one_part_and_all_that_halos_read_are_in_the_first() {
        let gpu = Gpu::open(None).unwrap();
        let n = 1000;
        // Grains 40 to 59 are ghosts in two subdomains.
        let (left, right): (Vec<u32>, Vec<u32>) = ((0..60).rev().collect(), (40..300).collect());
        let (of_left, of_right): (Vec<u32>, Vec<u32>) = ((900..930).collect(), (950..1000).collect());
        let lists = [&of_left, &of_right, &left, &right].map(|list| (gpu.upload(list, "a test").unwrap(), list.len()));
        let lists: Vec<(&Buffer<u32>, usize)> = lists.iter().map(|(list, m)| (list, *m)).collect();
        let mut split = SplitSteps::new(&gpu).unwrap();
        assert!(!split.is_on());
        // Once more, in memory that has other contents.
        for _ in 0..2 {
            split.list(&gpu, n, &lists[..2], &lists[2..]).unwrap();
        }
        assert!(split.is_on());
        let table = gpu.download(&split.table).unwrap();
        let listed = |part: StepPart| {
            let rows = split.rows_of(part);
            let listed = table[rows.first..rows.first + rows.listed].iter().copied();
            let mut listed: Vec<u32> = listed.filter(|row| *row != LISTED).collect();
            listed.sort_unstable();
            listed
        };
        assert_eq!(listed(StepPart::Border), (0..300).collect::<Vec<u32>>());
        assert_eq!(listed(StepPart::Ghosts), (900..930).chain(950..1000).collect::<Vec<u32>>());
        let inner: Vec<u32> = (0..n as u32).filter(|i| table[*i as usize] == 0).collect();
        assert_eq!(inner, (300..900).chain(930..950).collect::<Vec<u32>>());
        assert_eq!(split.rows_of(StepPart::Inner).threads, n);
        // A launch reads one word behind the last list.
        let last = split.rows_of(StepPart::Border);
        assert!(last.first + last.listed < table.len());
    }
}
