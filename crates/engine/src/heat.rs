//! Data of heat conduction: heat capacities, temperatures of walls, and the heat ledger.

use crate::fields::Fields;
use crate::state::{Column, State};
use crate::world::World;
use seixo_laws::heat::heat_content;
use seixo_sweeps::layout::RECORD;

/// Largest share of its temperature difference to the surroundings that a grain may lose in a step, see [`seixo_laws::heat::share_per_step`].
pub(crate) const MAX_PER_STEP: f64 = 1.0;

/// Section of the heat ledger in checkpoints.
pub(crate) const LEDGER_SECTION: &str = "heat/books";

/// Data of heat conduction beside the temperatures.
#[derive(Default)]
pub(crate) struct Heat {
    /// Specific heat capacities by material \[J/(kg K)\].
    pub capacities: Vec<f64>,
    /// Temperatures of walls \[K\]; negative for insulated ones.
    pub walls: Vec<f64>,
    /// Heat from each wall to grains \[J\].
    pub given: Vec<f64>,
    /// Heat of grains that were added \[J\].
    pub inserted: f64,
    /// Heat of grains that left \[J\].
    pub left: f64,
    /// Heat of the grains at time zero \[J\].
    pub initial: f64,
    /// Temperatures after the step, during their computation \[K\].
    pub(crate) next: Vec<f64>,
    /// Thermal conductance of each grain \[W/K\].
    pub(crate) conductance: Vec<f64>,
    /// Largest share per step in each part.
    pub(crate) shares: Vec<f64>,
    /// Heat flow into a grain for each entry of the wall list \[W\].
    pub(crate) flows: Vec<f64>,
}

impl Heat {
    /// Data for a world, if it conducts heat.
    pub fn of(world: &World) -> Option<Box<Heat>> {
        let conduction = world.conduction.as_ref()?;
        let capacities = conduction
            .materials
            .iter()
            .map(|thermal| thermal.specific_heat_capacity.unwrap_or(0.0));
        Some(Box::new(Heat {
            capacities: capacities.collect(),
            walls: conduction.walls.iter().map(|temperature| temperature.unwrap_or(-1.0)).collect(),
            given: vec![0.0; conduction.walls.len()],
            ..Heat::default()
        }))
    }

    /// Data for a subdomain, with an empty ledger.
    pub fn of_domain(&self) -> Box<Heat> {
        Box::new(Heat {
            capacities: self.capacities.clone(),
            walls: self.walls.clone(),
            given: vec![0.0; self.given.len()],
            ..Heat::default()
        })
    }

    /// Adds the ledger that a subdomain saved.
    pub fn take_over(&mut self, reported: &State) {
        if let Some(Column::F64(ledger)) = reported.get(LEDGER_SECTION)
            && let [_, left, _, given @ ..] = &ledger[..]
        {
            self.left += left;
            self.given.iter_mut().zip(given).for_each(|(all, more)| *all += more);
        }
    }

    /// Resets the ledger.
    pub fn forget(&mut self) {
        self.left = 0.0;
        self.given.fill(0.0);
    }

    /// Heat content of grain i \[J\].
    pub fn of_grain(&self, fields: &Fields, i: usize) -> f64 {
        let mass = fields.velocity[i * RECORD + 3];
        heat_content(mass, self.capacities[fields.material[i] as usize], fields.temperature[i])
    }

    /// Heat content of all these grains \[J\].
    pub fn of_all(&self, fields: &Fields) -> f64 {
        (0..fields.len()).map(|i| self.of_grain(fields, i)).sum()
    }
}
