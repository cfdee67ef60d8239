//! Saving fluids, and going on from what was saved.

use super::{Feeding, Flow, Passages, layout};
use crate::fields::FluidFields;
use crate::refusal::Refusal;
use crate::resume::misfit;
use crate::simulation::Simulation;
use crate::state::{Column, Passed, Sections, State};
use crate::world::Fluids;
use seixo_sweeps::fluid::{OUTWARD, WALL, is_outward, is_passing};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::views::RECORD;

/// Section of the powers of the last step, of the energies taken, and of what left.
const BOOKS: &str = "fluid/books";

/// Section of where particles of walls are when the motions of their walls begin.
pub(super) const BOUNDARY: &str = "fluid/boundary";

/// Sections of inlets and outlets, where there are any: the next id and look, and of each inlet whether it is open, whether it runs, since when,
/// and its layers, then how many passed each; the energy that came, how far the layers of each inlet are, and the mass that passed each.
const PASSAGES: [&str; 2] = ["fluid/passages", "fluid/passed"];

/// Section of the next id where there are none.
const NEXT_ID: &str = "fluid/next_id";

impl Passages {
    fn save(&self, to: &mut dyn Sections) {
        let of_inlet = |feeding: &Feeding| [u64::from(feeding.is_open), u64::from(feeding.runs), feeding.since, feeding.layers];
        let mut whole = vec![self.next_id, self.next_look];
        whole.extend(self.feeding.iter().flat_map(of_inlet));
        whole.extend(self.passed.iter().map(|passed| passed.count));
        let mut numbers = vec![self.inserted];
        numbers.extend(self.feeding.iter().map(|feeding| feeding.way));
        numbers.extend(self.passed.iter().map(|passed| passed.mass));
        to.put(PASSAGES[0], Column::U64(whole));
        to.put(PASSAGES[1], Column::F64(numbers));
    }

    /// Those of so many inlets and outlets, as they were saved; `None` if they were others.
    fn load(state: &State, inlets: usize, outlets: usize) -> Option<Passages> {
        let (Some(Column::U64(whole)), Some(Column::F64(numbers))) = (state.get(PASSAGES[0]), state.get(PASSAGES[1])) else {
            return None;
        };
        let all = inlets + outlets;
        if whole.len() != 2 + 4 * inlets + all || numbers.len() != 1 + inlets + all {
            return None;
        }
        let (of_inlets, counts) = whole[2..].split_at(4 * inlets);
        let (ways, masses) = numbers[1..].split_at(inlets);
        let feeding = of_inlets.chunks_exact(4).zip(ways).map(|(words, &way)| Feeding {
            is_open: words[0] > 0,
            runs: words[1] > 0,
            since: words[2],
            layers: words[3],
            way,
        });
        let passed = counts.iter().zip(masses);
        Some(Passages {
            feeding: feeding.collect(),
            passed: passed.map(|(&count, &mass)| Passed { count, mass }).collect(),
            next_id: whole[0],
            next_look: whole[1],
            inserted: numbers[0],
            fresh: Vec::new(),
        })
    }
}

impl Flow {
    /// Copies all that a continuation depends on.
    pub fn save(&self, to: &mut dyn Sections) {
        self.fields.save(to);
        let numbers = |tally: &FlowTally| [tally.viscous, tally.diffusive, tally.wall];
        let [last, work] = [numbers(&self.last), numbers(&self.work)];
        let books = [&last[..], &work[..], &[self.left]].concat();
        to.put(BOOKS, Column::F64(books));
        to.put(BOUNDARY, Column::F64(self.plan.boundary.position.concat()));
        if self.has_passages() {
            self.passages.save(to);
        } else {
            to.put(NEXT_ID, Column::U64(vec![self.passages.next_id]));
        }
    }

    /// Whether there can be a particle of this identity and this kind, in a world of so many walls.
    fn knows(&self, id: u32, kind: u32, walls: usize) -> bool {
        if is_passing(kind) {
            let among = if is_outward(kind) {
                self.plan.outlets.len()
            } else {
                self.plan.inlets.len()
            };
            ((kind & (OUTWARD - 1)) as usize) < among
        } else if kind & WALL != 0 {
            if self.hulls.of_kind(kind).is_some() {
                return self.hulls.knows(id, kind);
            }
            let is_listed = id & WALL != 0 && ((id & !WALL) as usize) < self.plan.boundary.position.len();
            is_listed && ((kind & !WALL) as usize) < walls
        } else {
            (kind as usize) < self.plan.kinds.len()
        }
    }
}

impl Simulation {
    /// Takes fluids back as they were saved.
    pub(crate) fn restore_fluids(&mut self, fluids: Option<Fluids>, state: &State) -> Result<(), Refusal> {
        let Some(mut fluids) = fluids else { return Ok(()) };
        layout::as_saved(
            &mut fluids,
            state,
            self.walls.all_there().len(),
            (&self.bodies, self.domain.as_ref()),
        );
        let mut flow = Flow::new(fluids, self)?;
        flow.plan.particles = Default::default();
        flow.fields = FluidFields::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let (n, walls) = (flow.fields.len(), self.walls.all_there().len());
        let mut particles = flow.fields.id.iter().zip(&flow.fields.kind);
        if flow.fields.position.len() != n * RECORD || !particles.all(|(&id, &kind)| flow.knows(id, kind, walls)) {
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
        if flow.has_passages() {
            let (inlets, outlets) = (flow.plan.inlets.len(), flow.plan.outlets.len());
            flow.passages = Passages::load(state, inlets, outlets).ok_or_else(|| misfit("its fluids have other inlets or outlets"))?;
        } else {
            let Some(Column::U64(next_id)) = state.get(NEXT_ID) else {
                return Err(misfit("section fluid/next_id is missing"));
            };
            flow.passages.next_id = next_id.first().copied().ok_or_else(|| misfit("section fluid/next_id is empty"))?;
        }
        flow.there = self.walls.all_there().to_vec();
        flow.find_running(self);
        flow.follow_bodies(self);
        flow.list_anew(self);
        flow.count = flow.of_fluid().count();
        self.flow = Some(Box::new(flow));
        self.load_bodies();
        Ok(())
    }
}
