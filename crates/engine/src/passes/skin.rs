//! The skin of the neighbor lists of grains: when it is chosen, and what follows from it.

use crate::checkpoint::misfit;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::{ListCost, ListCounts};
use crate::state::{Column, Sections, State};

/// Section of the choice of the skin.
const SKIN: &str = "lists/skin";

impl Populations {
    /// Number of steps since the last rebuild of the lists.
    fn steps_since_listed(&self) -> u64 {
        let listed = (self.walls.listed_at / self.context.stepping.dt).round() as u64;
        self.context.steps.saturating_sub(listed).max(1)
    }

    /// Whether the entries of the present lists must be counted when they are out of date.
    pub(crate) fn counts_entries(&self) -> bool {
        let tuning = &self.grains.skin_tuning;
        tuning.is_some_and(|tuning| tuning.is_due(self.steps_since_listed()))
    }

    /// Whether [`Populations::counts_entries`] may hold after up to this many steps.
    pub(crate) fn may_count_entries(&self, steps: u64) -> bool {
        let tuning = &self.grains.skin_tuning;
        tuning.is_some_and(|tuning| tuning.is_due(self.steps_since_listed() + steps))
    }

    /// Counts of the lists of this domain, which are out of date; on the CPU.
    pub(crate) fn list_counts(&self) -> ListCounts {
        let own = (0..self.grains.fields.len()).filter(|&i| !self.is_ghost(i));
        // Pairs of polyhedral grains are in a list of their own, also those with ghosts.
        let listed = self.polyhedra.iter().flat_map(|polyhedra| polyhedra.pairs.places.as_flattened());
        let ends = listed.filter(|&&i| !self.is_ghost(i as usize));
        ListCounts {
            grains: own.count() as f64,
            entries: (self.grains.pairs.neighbors.len() + ends.count()) as f64,
        }
    }

    /// Chooses the skin of the next lists, unless it is given. These are the counts of the lists that are out of date, in all domains.
    ///
    /// It is at most √2 narrower than before. So energies of contacts can still be summed over the old cells, in which grains moved by half the skin.
    pub(crate) fn tune_skin(&mut self, lists: &ListCounts) {
        // In a split broad phase, the cores have compared boxes with the present skin.
        let is_compared = self.grains.are_on_gpu && self.splits_broad_phase();
        if is_compared || !self.lists_pairs() {
            return;
        }
        let steps = self.steps_since_listed();
        let cost = ListCost::of(self.grains.are_on_gpu, self.context.materials.has_friction);
        if let Some(tuning) = &mut self.grains.skin_tuning
            && tuning.count(lists, steps, cost)
        {
            let skin = tuning.skin();
            self.set_skin(skin);
        }
    }

    /// Takes over the skins of a domain, which all have.
    pub(crate) fn take_over_skin(&mut self, domain: &Populations) {
        if let (Some(flow), Some(of_domain)) = (&mut self.flow, &domain.flow) {
            flow.take_over_skin(of_domain);
        }
        let before = self.grains.skin_tuning.map(|tuning| tuning.skin());
        self.grains.skin_tuning = domain.grains.skin_tuning;
        if let Some(tuning) = self.grains.skin_tuning.filter(|tuning| before != Some(tuning.skin())) {
            self.set_skin(tuning.skin());
        }
    }

    /// Sets the skin of the next lists \[m\], which must be built before the next step.
    fn set_skin(&mut self, skin: f64) {
        self.grains.cells.skin = skin + self.grains.cells.gap;
        self.walls.set_skin(skin);
        // Half of the skin is that of moving sides.
        let strides = if self.images_move() { 4.0 } else { 2.0 };
        self.context.stepping.skin_exceeded_square = (skin / strides).powi(2);
    }

    /// Saves the choice of the skin, unless it is given.
    pub(crate) fn save_skin(&self, to: &mut dyn Sections) {
        if let Some(tuning) = &self.grains.skin_tuning {
            to.put(SKIN, Column::U64(tuning.saved().to_vec()));
        }
    }

    /// Restores the choice of the skin. Without a saved one, it begins with the default.
    pub(crate) fn restore_skin(&mut self, state: &State) -> Result<(), WorldError> {
        if let (Some(tuning), Some(Column::U64(saved))) = (self.grains.skin_tuning, state.get(SKIN)) {
            let restored = tuning
                .restored(saved)
                .ok_or_else(|| misfit("its neighbor lists have a skin that this world does not allow"))?;
            self.grains.skin_tuning = Some(restored);
            self.set_skin(restored.skin());
        }
        Ok(())
    }
}
