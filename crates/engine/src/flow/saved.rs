//! Saving fluids, and going on from what was saved.

use super::Flow;
use crate::fields::FluidFields;
use crate::refusal::Refusal;
use crate::resume::misfit;
use crate::simulation::Simulation;
use crate::state::{Column, Sections, State};
use crate::world::Fluids;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::views::RECORD;

/// Section of the powers of the last step, of the energies taken, and of what left.
const BOOKS: &str = "fluid/books";

/// Section of where particles of walls are when the motions of their walls begin.
const BOUNDARY: &str = "fluid/boundary";

impl Flow {
    /// Copies all that a continuation depends on.
    pub fn save(&self, to: &mut dyn Sections) {
        self.fields.save(to);
        let numbers = |tally: &FlowTally| [tally.viscous, tally.diffusive, tally.wall];
        let [last, work] = [numbers(&self.last), numbers(&self.work)];
        let books = [&last[..], &work[..], &[self.left]].concat();
        to.put(BOOKS, Column::F64(books));
        to.put(BOUNDARY, Column::F64(self.plan.boundary.position.concat()));
    }
}

impl Simulation {
    /// Takes fluids back as they were saved.
    pub(crate) fn restore_fluids(&mut self, fluids: Option<Fluids>, state: &State) -> Result<(), Refusal> {
        let Some(fluids) = fluids else { return Ok(()) };
        let mut flow = Flow::new(fluids, self)?;
        flow.plan.particles = Default::default();
        flow.fields = FluidFields::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let (n, kinds) = (flow.fields.len(), flow.plan.kinds.len() as u32);
        let is_known = |kind: &u32| kind & WALL != 0 && ((kind & !WALL) as usize) < self.walls.all_there().len() || *kind < kinds;
        if flow.fields.position.len() != n * RECORD || !flow.fields.kind.iter().all(is_known) {
            return Err(misfit("its fluids have other columns, kinds or walls"));
        }
        flow.compiled_for.moving |= !flow.fields.motion.is_empty();
        if flow.compiled_for.moving && flow.fields.motion.len() != n * RECORD {
            return Err(misfit("its walls stand still, those of the scene move"));
        }
        let pressures = if flow.is_incompressible() { 2 * n } else { 0 };
        if flow.fields.multipliers.len() != pressures {
            return Err(misfit("its fluids are moved by another solver"));
        }
        let Some(Column::F64(books)) = state.get(BOOKS) else {
            return Err(misfit("section fluid/books is missing"));
        };
        let &[viscous, diffusive, wall, by_viscosity, by_diffusion, by_walls, left] = books.as_slice() else {
            return Err(misfit("section fluid/books has the wrong size"));
        };
        let Some(Column::F64(places)) = state.get(BOUNDARY) else {
            return Err(misfit("section fluid/boundary is missing"));
        };
        let (places, _) = places.as_chunks::<3>();
        if places.len() != flow.plan.boundary.position.len() {
            return Err(misfit("its fluids have other boundaries"));
        }
        flow.plan.boundary.position.copy_from_slice(places);
        flow.last = FlowTally { viscous, diffusive, wall };
        flow.work = FlowTally {
            viscous: by_viscosity,
            diffusive: by_diffusion,
            wall: by_walls,
        };
        flow.left = left;
        flow.there = self.walls.all_there().to_vec();
        flow.list_anew(self);
        flow.count = flow.of_fluid().count();
        self.flow = Some(Box::new(flow));
        Ok(())
    }
}
