//! Checkpoints of fluids, and restarts from them.

use super::{Flow, InletState, OpenBoundaries};
use crate::state::{Column, PassedParticles, Sections, State};
use seixo_sweeps::fluid::{OUTLET, WALL, is_outward, is_passing};
use seixo_sweeps::fluid_lanes::FluidPowerSums;

/// Section of the powers of the last step, the energies dissipated and gained, and the energy that left.
pub(crate) const LEDGER_SECTION: &str = "fluid/books";

/// Section of the positions of wall particles at the start of the motions of their walls.
pub(crate) const BOUNDARY: &str = "fluid/boundary";

/// Sections of inlets and outlets, if there are any. The first has the next id and the next check; for each inlet whether it is open, whether it
/// runs, since when, and its layers; then the number of particles that passed each. The second has the energy of inserted fluid, the displacement of
/// the layers of each inlet, and the mass that passed each.
const OPEN_BOUNDARIES: [&str; 2] = ["fluid/passages", "fluid/passed"];

/// Section of the next id if there are no inlets and outlets.
pub(crate) const NEXT_ID: &str = "fluid/next_id";

impl OpenBoundaries {
    fn save(&self, to: &mut dyn Sections) {
        let of_inlet = |feeding: &InletState| [u64::from(feeding.is_open), u64::from(feeding.runs), feeding.since, feeding.layers];
        let mut whole = vec![self.next_id, self.next_check];
        whole.extend(self.feeding.iter().flat_map(of_inlet));
        whole.extend(self.passed.iter().map(|passed| passed.count));
        let mut numbers = vec![self.inserted];
        numbers.extend(self.feeding.iter().map(|feeding| feeding.way));
        numbers.extend(self.passed.iter().map(|passed| passed.mass));
        to.put(OPEN_BOUNDARIES[0], Column::U64(whole));
        to.put(OPEN_BOUNDARIES[1], Column::F64(numbers));
    }

    /// The saved state of these numbers of inlets and outlets; `None` if the saved numbers differ.
    pub(crate) fn load(state: &State, inlets: usize, outlets: usize) -> Option<OpenBoundaries> {
        let (Some(Column::U64(whole)), Some(Column::F64(numbers))) = (state.get(OPEN_BOUNDARIES[0]), state.get(OPEN_BOUNDARIES[1])) else {
            return None;
        };
        let all = inlets + outlets;
        if whole.len() != 2 + 4 * inlets + all || numbers.len() != 1 + inlets + all {
            return None;
        }
        let (of_inlets, counts) = whole[2..].split_at(4 * inlets);
        let (ways, masses) = numbers[1..].split_at(inlets);
        let feeding = of_inlets.chunks_exact(4).zip(ways).map(|(words, &way)| InletState {
            is_open: words[0] > 0,
            runs: words[1] > 0,
            since: words[2],
            layers: words[3],
            way,
        });
        let passed = counts.iter().zip(masses);
        Some(OpenBoundaries {
            feeding: feeding.collect(),
            passed: passed.map(|(&count, &mass)| PassedParticles { count, mass }).collect(),
            next_id: whole[0],
            next_check: whole[1],
            inserted: numbers[0],
            fresh: Vec::new(),
        })
    }
}

impl Flow {
    /// Saves everything that a restart depends on.
    pub fn save(&self, to: &mut dyn Sections) {
        self.fields.save(None, to);
        let numbers = |power_sums: &FluidPowerSums| [power_sums.viscous, power_sums.diffusive, power_sums.wall];
        let [last, work] = [numbers(&self.last), numbers(&self.work)];
        let ledger = [&last[..], &work[..], &[self.left]].concat();
        to.put(LEDGER_SECTION, Column::F64(ledger));
        to.put(BOUNDARY, Column::F64(self.plan.boundary.position.concat()));
        self.save_frozen(to);
        self.save_skin(to);
        if self.has_open_boundaries() {
            self.open_boundaries.save(to);
        } else {
            to.put(NEXT_ID, Column::U64(vec![self.open_boundaries.next_id]));
        }
    }

    /// Whether a particle with this id and this kind can exist, in a world with this number of walls.
    pub(crate) fn can_exist(&self, id: u32, kind: u32, walls: usize) -> bool {
        if is_passing(kind) {
            let among = if is_outward(kind) {
                self.plan.outlets.len()
            } else {
                self.plan.inlets.len()
            };
            ((kind & (OUTLET - 1)) as usize) < among
        } else if kind & WALL != 0 {
            if self.body_boundaries.of_kind(kind).is_some() {
                return self.body_boundaries.can_be_body_particle(id, kind);
            }
            let is_listed = id & WALL != 0 && ((id & !WALL) as usize) < self.plan.boundary.position.len();
            is_listed && ((kind & !WALL) as usize) < walls
        } else {
            (kind as usize) < self.plan.kinds.len()
        }
    }
}
