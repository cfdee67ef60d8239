//! The skin of the neighbor lists of fluids: how wide it may become, and what follows from it.

use super::Flow;
use super::halo::is_own_fluid;
use crate::periodic::check_periods;
use crate::search::{ListCost, ListCounts, SkinTuning};
use crate::state::{Column, Sections, State};
use crate::surroundings::Surroundings;
use crate::world::{Fluids, Search, Solver};
use seixo_sweeps::periodic::STRETCHED;

/// Section of the choice of the skin, and of the steps since the last rebuild.
const SECTION: &str = "fluid/skin";

/// Widest skin that a run may choose \[spacings\].
const WIDEST_OF_SPACING: f64 = 0.85;

/// The choice of the skin during the run, if it is not given, from its default \[m\].
///
/// Sides whose distances are controlled use up a part of the skin that no particle does. Blocks of domains are as wide as the widest skin requires, and
/// shall not become fewer. So a run that has the same bits in any number of domains only chooses narrower skins. So do incompressible fluids: their
/// steps are long, and where each step uses up the skin, counts do not say which one would last. A wider skin must fit between periodic sides.
pub(super) fn tuning(fluids: &Fluids, surroundings: &Surroundings, default: f64) -> Option<SkinTuning> {
    let context = surroundings.context;
    let settings = &context.settings;
    if settings.skin.is_some() || settings.search == Search::SpatialHashStatic || context.sides == STRETCHED {
        return None;
    }
    let is_allowed = |skin: f64| {
        let fits = context
            .domain
            .as_ref()
            .is_none_or(|domain| check_periods(domain, fluids.support + skin).is_ok());
        let may_widen = !settings.decomposition_invariant && fluids.solver != Solver::Incompressible;
        may_widen && skin <= WIDEST_OF_SPACING * fluids.spacing && fits
    };
    Some(SkinTuning::new(default, fluids.support, is_allowed))
}

impl Flow {
    /// Largest reach of the lists \[m\], of any run with these fluids, whether or not it is decomposition-invariant.
    pub fn widest_reach(&self) -> f64 {
        let of_choice = self.skin_tuning.map_or(0.0, |_| WIDEST_OF_SPACING * self.plan.spacing);
        self.plan.support + self.cells.widest.max(of_choice)
    }

    /// Reach of the lists with the widest skin that this run may choose \[m\].
    pub fn reach_of_lists(&self) -> f64 {
        self.plan.support + self.cells.widest
    }

    /// Number of steps since the last rebuild of the lists.
    fn steps_listed(&self) -> u64 {
        self.steps_since_listed.max(1)
    }

    /// Whether the entries of the present lists must be counted when they are out of date.
    pub fn counts_entries(&self) -> bool {
        self.skin_tuning.is_some_and(|tuning| tuning.is_due(self.steps_listed()))
    }

    /// Counts of the lists here on the CPU, which are out of date.
    pub fn list_counts(&self) -> ListCounts {
        let entries = if self.counts_entries() { self.entries_of_fluid() } else { 0 };
        ListCounts {
            grains: self.count as f64,
            entries: entries as f64,
        }
    }

    /// Entries in the rows of its own fluid particles. Other rows depend on the number of domains.
    fn entries_of_fluid(&self) -> u64 {
        let rows = self.pairs.row.windows(2).enumerate();
        let own = rows.filter(|(i, _)| is_own_fluid(&self.fields.kind, &self.fields.ghost, *i));
        own.map(|(_, row)| u64::from(row[1] - row[0])).sum()
    }

    /// Chooses the skin of the next lists, unless it is given. These are the counts of the lists that are out of date, in all domains.
    pub fn tune_skin(&mut self, lists: &ListCounts) {
        let steps = self.steps_listed();
        let cost = ListCost::of_fluid(self.is_on_gpu, self.compiled_for.solver);
        if let Some(tuning) = &mut self.skin_tuning
            && tuning.count(lists, steps, cost)
        {
            self.follow_tuning();
        }
    }

    /// Takes over the skin of other lists of the same fluids: those of all domains, or of the whole.
    pub fn take_over_skin(&mut self, other: &Flow) {
        (self.skin_tuning, self.steps_since_listed) = (other.skin_tuning, other.steps_since_listed);
        self.follow_tuning();
    }

    /// Sets the chosen skin for the next lists, which must be built before the next step.
    fn follow_tuning(&mut self) {
        if let Some(tuning) = self.skin_tuning {
            let skin = tuning.skin();
            (self.cells.skin, self.cells.widest) = (skin, tuning.widest());
            self.stepping.skin_exceeded_square = (0.5 * skin).powi(2);
        }
    }

    /// Saves the choice of the skin, unless it is given.
    pub(super) fn save_skin(&self, to: &mut dyn Sections) {
        if let Some(tuning) = &self.skin_tuning {
            let [now, rebuilds, steps] = tuning.saved();
            to.put(SECTION, Column::U64(vec![now, rebuilds, steps, self.steps_since_listed]));
        }
    }

    /// Restores the choice of the skin. Without a saved one, it begins with the default. Returns `None` if there is no such choice.
    ///
    /// The saved lists may have a wider skin than this run may choose, for example as it has several domains. They keep it.
    pub(crate) fn restore_skin(&mut self, state: &State) -> Option<()> {
        if let (Some(tuning), Some(Column::U64(saved))) = (self.skin_tuning, state.get(SECTION)) {
            let (&steps, saved) = saved.split_last()?;
            self.skin_tuning = Some(tuning.restored_beyond(saved)?);
            self.steps_since_listed = steps;
            self.follow_tuning();
        }
        Some(())
    }
}
