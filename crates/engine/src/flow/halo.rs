//! Decomposed fluids: the part of a subdomain, and its halo exchange with the others.

use super::Flow;
use super::pressure_solver::{IterationError, PressureSolves};
use crate::exchange::DecodeError;
use crate::fields::{FluidFields, Sorted};
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::surroundings::Surroundings;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use std::convert::Infallible;

/// Columns of a flow, in records.
pub(crate) type Columns = fn(&mut Flow) -> Vec<&mut Vec<f64>>;

/// Access to the other parts of a fluid.
pub(crate) trait Halo {
    /// The error if they cannot be reached.
    type Lost;

    /// Sends these columns of the fluid that is ghosts elsewhere, and receives those of its own ghosts.
    fn exchange_columns(&mut self, flow: &mut Flow, columns: Columns) -> Result<(), Self::Lost>;

    /// The sum of the remaining errors of all parts.
    fn sum(&mut self, own: IterationError) -> Result<IterationError, Self::Lost>;
}

/// There are no other parts.
pub(crate) struct NoHalo;

impl Halo for NoHalo {
    type Lost = Infallible;

    fn exchange_columns(&mut self, _: &mut Flow, _: Columns) -> Result<(), Infallible> {
        Ok(())
    }

    fn sum(&mut self, own: IterationError) -> Result<IterationError, Infallible> {
        Ok(own)
    }
}

/// The report of a subdomain about its fluids.
pub(crate) struct FluidReport {
    fields: FluidFields,
    last: FluidPowerSums,
    work: FluidPowerSums,
    left: f64,
    /// Number of fluid particles.
    pub count: usize,
    rebuilds: u64,
    solves: PressureSolves,
}

/// Sections for the ledger of a subdomain, and for its counters.
const REPORT_SECTIONS: [&str; 2] = ["fluid/ledger of a domain", "fluid/counts of a domain"];

impl FluidReport {
    /// Writes named columns.
    pub fn save(&self, to: &mut dyn Sections) {
        self.fields.save(None, to);
        let of_power_sums = |power_sums: &FluidPowerSums| [power_sums.viscous, power_sums.diffusive, power_sums.wall];
        let PressureSolves {
            steps,
            iterations,
            unfinished,
            largest_error,
        } = self.solves;
        let numbers = [
            &of_power_sums(&self.last)[..],
            &of_power_sums(&self.work),
            &[self.left],
            &largest_error,
        ]
        .concat();
        let counts = [&[self.count as u64, self.rebuilds, steps][..], &iterations, &unfinished].concat();
        to.put(REPORT_SECTIONS[0], Column::F64(numbers));
        to.put(REPORT_SECTIONS[1], Column::U64(counts));
    }

    /// Reads named columns; none if there are no fluids.
    pub fn load(state: &State) -> Result<Option<FluidReport>, DecodeError> {
        let [Some(Column::F64(numbers)), Some(Column::U64(counts))] = REPORT_SECTIONS.map(|name| state.get(name)) else {
            return Ok(None);
        };
        let power_sums = |&[viscous, diffusive, wall]: &[f64; 3]| FluidPowerSums { viscous, diffusive, wall };
        let (Ok([l0, l1, l2, w0, w1, w2, left, e0, e1]), Ok([count, rebuilds, steps, i0, i1, u0, u1])) =
            (<[f64; 9]>::try_from(&numbers[..]), <[u64; 7]>::try_from(&counts[..]))
        else {
            return Err(DecodeError);
        };
        Ok(Some(FluidReport {
            fields: FluidFields::load(state).map_err(|_| DecodeError)?,
            last: power_sums(&[l0, l1, l2]),
            work: power_sums(&[w0, w1, w2]),
            left,
            count: count as usize,
            rebuilds,
            solves: PressureSolves {
                steps,
                iterations: [i0, i1],
                unfinished: [u0, u1],
                largest_error: [e0, e1],
            },
        }))
    }
}

/// Whether particle i is marked as a ghost; without ghosts, none is.
pub fn is_marked(copy: &[u32], i: usize) -> bool {
    copy.get(i).is_some_and(|mark| *mark > 0)
}

/// Whether particle i is a fluid particle, and no ghost.
pub fn is_own_fluid(kind: &[u32], copy: &[u32], i: usize) -> bool {
    kind[i] & WALL == 0 && !is_marked(copy, i)
}

impl Flow {
    /// Fluids like these with these particles, for a subdomain.
    pub fn share(&self, fields: FluidFields, surroundings: &Surroundings) -> Result<Flow, WorldError> {
        let mut share = Flow {
            compiled_for: self.compiled_for,
            stepping: self.stepping,
            there: self.there.clone(),
            fields,
            ..Flow::new(self.plan.clone(), surroundings)?
        };
        share.projector.solves = self.projector.solves;
        share.take_over_skin(self);
        share.follow_bodies(surroundings);
        Ok(share)
    }

    /// Its own particles, and its ledger since the last call.
    pub fn report_share(&mut self) -> FluidReport {
        let mut own = self.fields.pick(&self.owned_indices());
        own.ghost.clear();
        FluidReport {
            fields: own,
            last: self.last,
            work: std::mem::take(&mut self.work),
            left: std::mem::take(&mut self.left),
            count: self.count,
            rebuilds: std::mem::take(&mut self.rebuilds),
            solves: self.projector.solves,
        }
    }

    /// Gathers all particles and powers, and the ledgers since the last call, from all subdomains.
    pub fn merge_reports(&mut self, shares: Vec<FluidReport>) {
        (self.fields, self.last, self.count) = (FluidFields::default(), FluidPowerSums::default(), 0);
        if let Some(first) = shares.first() {
            // Subdomains rebuild their neighbor lists together, and solve together.
            self.rebuilds += first.rebuilds;
            self.projector.solves = first.solves;
        }
        for share in shares {
            self.count += share.count;
            self.fields.append(&share.fields);
            self.last = self.last.plus(&share.last);
            self.work = self.work.plus(&share.work);
            self.left += share.left;
        }
    }

    /// Whether particle i is a ghost.
    pub fn is_ghost(&self, i: usize) -> bool {
        is_marked(&self.fields.ghost, i)
    }

    /// Indices of the particles that are no ghosts.
    fn owned_indices(&self) -> Vec<u32> {
        (0..self.fields.len()).filter(|&i| !self.is_ghost(i)).map(|i| i as u32).collect()
    }

    /// Removes ghosts and, with `takes_away`, fluid that left; returns all other particles, with their positions stored for new lists.
    pub fn drop_ghosts_and_left(&mut self, surroundings: &Surroundings, takes_away: bool) -> FluidFields {
        let own = self.owned_indices();
        self.fields.reorder(&surroundings.context.device, &own);
        self.fields.ghost.clear();
        self.remove_particles_of_left_bodies(surroundings);
        // The listed indices are no longer valid.
        self.pairs.row.clear();
        if takes_away {
            self.remove_left_and_keep_positions(surroundings);
        } else {
            self.wrap_and_keep_positions(surroundings);
        }
        std::mem::take(&mut self.fields)
    }

    /// Lists own and ghost particles, at their stored positions of the last rebuild.
    pub fn list_with_ghosts(&mut self, mut own: FluidFields, copies: &mut [FluidFields], surroundings: &Surroundings) {
        own.ghost = vec![0; own.len()];
        for copies in copies {
            copies.ghost = vec![1; copies.len()];
            own.append(copies);
        }
        self.fields = own;
        self.rebuild_lists(surroundings);
        self.count = self.of_fluid().filter(|&i| !self.is_ghost(i)).count();
    }
}
