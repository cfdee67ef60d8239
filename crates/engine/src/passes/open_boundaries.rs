//! Insertion and removal of fluid at open boundaries.

use crate::guard::StepError;
use crate::populations::Populations;
use seixo_sweeps::fluid::WALL;

impl Populations {
    /// Inserts and removes fluid as far as that is due at this step. The ledger gets the resulting change in energies, with forces before and after.
    pub(crate) fn pass_open_boundaries(&mut self) -> Result<(), StepError> {
        if self.are_open_boundaries_due()?
            && let Some(before) = self.insert_and_remove()
        {
            self.list_inserted();
            self.add_inserted_energy(before);
        }
        Ok(())
    }

    /// Whether inlets or outlets are due at this step.
    pub(crate) fn are_open_boundaries_due(&self) -> Result<bool, StepError> {
        let steps = self.context.steps;
        let due = self.flow.as_deref().filter(|flow| flow.next_open_boundary_event() <= steps);
        let Some(flow) = due else { return Ok(false) };
        let coming: usize = flow.plan.inlets.iter().map(|inlet| inlet.sites.len()).sum();
        if flow.open_boundaries.next_id + coming as u64 > u64::from(WALL) {
            let what = "more than 2^31 particles of fluids have come: no id is left for more; end the run before";
            return Err(self.failed(what.to_owned()));
        }
        Ok(true)
    }

    /// Inserts and removes fluid. Returns the energy before \[J\], if anything changed.
    pub(crate) fn insert_and_remove(&mut self) -> Option<f64> {
        self.with_flow(|flow, surroundings| {
            let before = flow.total_fluid_energy();
            flow.pass(surroundings).then_some(before)
        })
    }

    /// Lists the fluid after an insertion or removal, and computes its forces.
    pub(crate) fn list_inserted(&mut self) {
        self.with_flow(|flow, surroundings| flow.migrate(surroundings));
        self.recompute_body_loads();
    }

    pub(crate) fn add_inserted_energy(&mut self, before: f64) {
        self.with_flow(|flow, _| flow.open_boundaries.inserted += flow.total_fluid_energy() - before);
    }

    /// Whether fluids have inlets or outlets.
    pub(crate) fn has_open_boundaries(&self) -> bool {
        let plan = self.flow.as_ref().map(|flow| &flow.plan);
        plan.is_some_and(|plan| !(plan.inlets.is_empty() && plan.outlets.is_empty()))
    }
}
