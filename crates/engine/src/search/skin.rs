//! The skin of the neighbor lists follows from the motion of the grains, or of the particles of fluids.
//!
//! A wide skin lasts long, but lists many pairs. With a skin s, lists cost in each step
//!
//! ```text
//! p(s) + r(s) (A n + B p(s))    with    p(s) = p₀ ((d + s) / (d + s₀))³    and    r(s) = min(r₀ s₀ / s, 1)
//! ```
//!
//! passes over one entry of a list. Here p is the number of entries, n that of grains, r that of rebuilds per step, and d the diameter of a grain. For
//! fluids, n is the number of particles, and d the support. The index 0 is for the lists so far. All of these are counted; only A and B, of
//! [`ListCost`], were measured before. So the choice has no clock in it. It is the same on any number of threads and domains, and after a restart.

use crate::world::Solver;

/// Skins to choose from \[default skins\]. The step of √2 is so small that the best of them costs hardly more than the optimum.
const LADDER: [f64; 10] = [0.177, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0];
/// Index of the default skin.
const DEFAULT: usize = 5;

/// Number of rebuilds, or of steps, after which the skin is chosen again.
const REBUILDS: u64 = 8;
const STEPS: u64 = 2000;
/// Share of the cost that another skin must save, so that the choice does not change to and fro \[-\].
const SAVED: f64 = 0.02;

/// Cost of a rebuild of the lists \[passes over one entry of a list in a step\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListCost {
    /// For each grain: sorting and search.
    pub grain: f64,
    /// For each entry: writing it, and carrying its contact history over.
    pub entry: f64,
}

impl ListCost {
    /// THE table of costs. Where its numbers are from, and how to measure them, is in `docs/design/skin.md`.
    pub fn of(is_on_gpu: bool, is_frictional: bool) -> ListCost {
        let (grain, entry) = match (is_on_gpu, is_frictional) {
            (false, true) => (2000.0, 20.0),
            (false, false) => (400.0, 3.0),
            (true, true) => (150.0, 6.0),
            (true, false) => (150.0, 3.0),
        };
        ListCost { grain, entry }
    }

    /// The same for fluids of this solver. A step of some solvers passes over the entries several times, so that a rebuild costs fewer steps.
    pub fn of_fluid(is_on_gpu: bool, solver: Solver) -> ListCost {
        let (grain, entry) = if is_on_gpu { (50.0, 5.0) } else { (1000.0, 20.0) };
        let passes = match solver {
            Solver::WeaklyCompressible => 1.0,
            Solver::Muller2003 => 2.0,
            Solver::Incompressible => 10.0,
        };
        ListCost {
            grain: grain / passes,
            entry: entry / passes,
        }
    }
}

/// Counts of neighbor lists that are out of date, in one domain or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ListCounts {
    /// Number of grains, or of particles of fluids, without ghost particles.
    pub grains: f64,
    /// Number of entries; zero if the skin is not chosen after these lists.
    pub entries: f64,
}

impl ListCounts {
    /// The counts of two domains together.
    pub fn plus(self, other: ListCounts) -> ListCounts {
        ListCounts {
            grains: self.grains + other.grains,
            entries: self.entries + other.entries,
        }
    }
}

/// The choice of the skin, and what was counted for the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinTuning {
    /// Default skin \[m\].
    default: f64,
    /// Diameter of a typical grain, or support of fluids \[m\].
    diameter: f64,
    /// Indices of the widest and of the present skin in the ladder.
    widest: usize,
    now: usize,
    /// Rebuilds because of motion since the last choice, and the steps that their lists lasted.
    rebuilds: u64,
    steps: u64,
}

impl SkinTuning {
    /// Begins with the default skin \[m\], for grains of this diameter, or fluids of this support \[m\]. It becomes wider only as far as `is_allowed`
    /// says.
    pub fn new(default: f64, diameter: f64, is_allowed: impl Fn(f64) -> bool) -> SkinTuning {
        let wider = (DEFAULT..LADDER.len()).rev().find(|&index| is_allowed(default * LADDER[index]));
        SkinTuning {
            default,
            diameter,
            widest: wider.unwrap_or(DEFAULT),
            now: DEFAULT,
            rebuilds: 0,
            steps: 0,
        }
    }

    /// The present skin \[m\].
    pub fn skin(&self) -> f64 {
        self.default * LADDER[self.now]
    }

    /// The widest skin that it may choose, or the present one if that is wider \[m\].
    pub fn widest(&self) -> f64 {
        self.default * LADDER[self.widest.max(self.now)]
    }

    /// Whether the skin is chosen after lists that lasted this many steps.
    pub fn is_due(&self, steps: u64) -> bool {
        self.rebuilds + 1 >= REBUILDS || self.steps + steps >= STEPS
    }

    /// Counts lists that lasted this many steps and, when it is due, chooses the skin of the next ones. Returns whether it changed.
    pub fn count(&mut self, lists: &ListCounts, steps: u64, cost: ListCost) -> bool {
        let is_due = self.is_due(steps);
        self.rebuilds += 1;
        self.steps += steps;
        if !is_due {
            return false;
        }
        let before = self.now;
        let most = (1.0 - SAVED) * self.cost_of(before, lists, cost);
        let beside = [before.saturating_sub(1), (before + 1).min(self.widest)].map(|index| (self.cost_of(index, lists, cost), index));
        let better = beside.into_iter().filter(|(cost, _)| *cost < most);
        self.now = better.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(before, |(_, index)| index);
        (self.rebuilds, self.steps) = (0, 0);
        self.now != before
    }

    /// Cost of the lists in a step with this skin \[passes over one entry\].
    fn cost_of(&self, index: usize, lists: &ListCounts, cost: ListCost) -> f64 {
        let skin = self.default * LADDER[index];
        let longer = (self.diameter + skin) / (self.diameter + self.skin());
        let entries = lists.entries * longer * longer * longer;
        let rebuilds_per_step = self.rebuilds as f64 / self.steps as f64 * self.skin() / skin;
        entries + rebuilds_per_step.min(1.0) * (cost.grain * lists.grains + cost.entry * entries)
    }

    /// Its state, for a checkpoint.
    pub fn saved(&self) -> [u64; 3] {
        [self.now as u64, self.rebuilds, self.steps]
    }

    /// The same choice in a saved state; `None` if there is no such state.
    pub fn restored(self, saved: &[u64]) -> Option<SkinTuning> {
        self.restored_beyond(saved).filter(|tuning| tuning.now <= tuning.widest)
    }

    /// As [`SkinTuning::restored`], but the saved skin may be wider than those that are chosen from now on.
    pub fn restored_beyond(self, saved: &[u64]) -> Option<SkinTuning> {
        let &[now, rebuilds, steps] = saved else { return None };
        let now = usize::try_from(now).ok().filter(|now| *now < LADDER.len())?;
        Some(SkinTuning {
            now,
            rebuilds,
            steps,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIAMETER: f64 = 1e-3;
    const DEFAULT_SKIN: f64 = 1e-4;
    const COST: ListCost = ListCost { grain: 150.0, entry: 6.0 };

    /// A thousand grains with this many entries each at the default skin, of which the fastest moves `stride` in a step \[m\].
    struct Flow {
        entries: f64,
        stride: f64,
    }

    impl Flow {
        fn lists(&self, skin: f64) -> (ListCounts, u64) {
            let growth = ((DIAMETER + skin) / (DIAMETER + DEFAULT_SKIN)).powi(3);
            let lists = ListCounts {
                grains: 1000.0,
                entries: (1000.0 * self.entries * growth).round(),
            };
            (lists, (0.5 * skin / self.stride).ceil() as u64)
        }

        /// Cost of a step with a skin \[passes over one entry\].
        fn cost(&self, skin: f64) -> f64 {
            let (lists, steps) = self.lists(skin);
            lists.entries + (COST.grain * lists.grains + COST.entry * lists.entries) / steps as f64
        }

        /// The tuning after many rebuilds, and the number of changes of the skin in the second half of them.
        fn tuned(&self) -> (SkinTuning, usize) {
            let mut tuning = SkinTuning::new(DEFAULT_SKIN, DIAMETER, |_| true);
            let mut late = 0;
            for rebuild in 0..400 {
                let (lists, steps) = self.lists(tuning.skin());
                late += usize::from(tuning.count(&lists, steps, COST) && rebuild >= 200);
            }
            (tuning, late)
        }
    }

    #[test]
    fn the_chosen_skin_is_close_to_the_best_of_all_and_stays() {
        for entries in [0.5, 4.0, 12.0] {
            for stride in [1e-8, 1e-7, 1e-6, 3e-6, 1e-5] {
                let flow = Flow { entries, stride };
                let (tuning, late) = flow.tuned();
                let skins = (0..200).map(|k| DEFAULT_SKIN * (0.177 + f64::from(k) * (4.0 - 0.177) / 199.0));
                let best = skins.map(|skin| flow.cost(skin)).fold(f64::INFINITY, f64::min);
                let found = flow.cost(tuning.skin());
                assert!(found < 1.05 * best, "{entries} entries, {stride} m: {found} > {best} at {tuning:?}");
                assert_eq!(late, 0, "{entries} entries, {stride} m");
            }
        }
    }

    #[test]
    fn a_gas_gets_a_wide_skin_and_a_bed_at_rest_a_narrow_one() {
        let gas = Flow {
            entries: 0.5,
            stride: 1e-5,
        };
        let bed = Flow {
            entries: 12.0,
            stride: 1e-9,
        };
        assert_eq!(gas.tuned().0.skin(), 4.0 * DEFAULT_SKIN);
        assert_eq!(bed.tuned().0.skin(), 0.177 * DEFAULT_SKIN);
    }

    #[test]
    fn the_skin_is_never_wider_than_allowed() {
        let mut tuning = SkinTuning::new(DEFAULT_SKIN, DIAMETER, |skin| skin < 2.5 * DEFAULT_SKIN);
        assert_eq!(tuning.widest(), 2.0 * DEFAULT_SKIN);
        let gas = Flow {
            entries: 0.5,
            stride: 1e-5,
        };
        for _ in 0..100 {
            let (lists, steps) = gas.lists(tuning.skin());
            tuning.count(&lists, steps, COST);
        }
        assert_eq!(tuning.skin(), tuning.widest());
        assert_eq!(SkinTuning::new(DEFAULT_SKIN, DIAMETER, |_| false).widest(), DEFAULT_SKIN);
    }

    #[test]
    fn a_saved_state_goes_on_as_if_it_had_not_been_saved() {
        let flow = Flow {
            entries: 4.0,
            stride: 3e-6,
        };
        let new = SkinTuning::new(DEFAULT_SKIN, DIAMETER, |_| true);
        let mut whole = new;
        for _ in 0..50 {
            let mut second = new.restored(&whole.saved()).unwrap();
            let (lists, steps) = flow.lists(whole.skin());
            assert_eq!(whole.count(&lists, steps, COST), second.count(&lists, steps, COST));
            assert_eq!(whole, second);
        }
        assert_ne!(whole.skin(), DEFAULT_SKIN);
        assert_eq!(new.restored(&[10, 0, 0]), None);
        assert_eq!(new.restored(&[5, 0]), None);
    }

    #[test]
    fn a_saved_skin_that_is_too_wide_is_kept_until_a_narrower_one_is_chosen() {
        let narrow = SkinTuning::new(DEFAULT_SKIN, DIAMETER, |_| false);
        let saved = [8, 0, 0];
        assert_eq!(narrow.restored(&saved), None);
        let mut tuning = narrow.restored_beyond(&saved).unwrap();
        assert_eq!((tuning.skin(), tuning.widest()), (2.828 * DEFAULT_SKIN, 2.828 * DEFAULT_SKIN));
        let bed = Flow {
            entries: 12.0,
            stride: 1e-7,
        };
        for _ in 0..100 {
            let before = tuning.skin();
            let (lists, steps) = bed.lists(before);
            tuning.count(&lists, steps, COST);
            assert!(tuning.skin() <= before.max(DEFAULT_SKIN));
        }
        assert!(tuning.skin() <= DEFAULT_SKIN && tuning.widest() == DEFAULT_SKIN);
        assert_eq!(narrow.restored_beyond(&[10, 0, 0]), None);
    }

    #[test]
    fn a_fast_fluid_gets_a_wider_skin_than_one_at_rest() {
        // Eighty neighbors within a support of 2.6 spacings, and a skin of 0.3.
        let (spacing, support) = (1e-2, 2.6e-2);
        let tuned = |stride: f64, cost: ListCost| {
            let mut tuning = SkinTuning::new(0.3 * spacing, support, |skin| skin < 0.85 * spacing);
            for _ in 0..400 {
                let skin = tuning.skin();
                let lists = ListCounts {
                    grains: 1000.0,
                    entries: (8e4 * (1.0 + skin / support).powi(3)).round(),
                };
                tuning.count(&lists, (0.5 * skin / stride).ceil() as u64, cost);
            }
            tuning.skin() / spacing
        };
        for is_on_gpu in [false, true] {
            let cost = ListCost::of_fluid(is_on_gpu, Solver::WeaklyCompressible);
            let [still, fast] = [1e-6, 3e-4].map(|stride| tuned(stride, cost));
            assert!(still < 0.2 && fast > 0.3, "{still} {fast}");
            // Where a step passes over the entries more often, entries weigh more.
            assert!(tuned(3e-4, ListCost::of_fluid(is_on_gpu, Solver::Incompressible)) < fast);
        }
    }
}
