//! Fluids that are divided among domains: what one of them has, and what it asks the others for.

use super::Flow;
use super::projector::{Left, Solves};
use crate::division::Illegible;
use crate::fields::{FluidFields, Sorted};
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::state::{Column, Sections, State};
use crate::world::{Domain, Leaving, Solver};
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FlowTally;
use std::convert::Infallible;

/// Columns of a flow, of records.
pub(crate) type Columns = fn(&mut Flow) -> Vec<&mut Vec<f64>>;

/// Those who have other parts of a fluid.
pub(crate) trait Others {
    /// Why they cannot be asked.
    type Lost;

    /// Tells what stands in these columns of the fluid that others have copies of, and takes over what they tell.
    fn tell(&mut self, flow: &mut Flow, columns: Columns) -> Result<(), Self::Lost>;

    /// What is left in all parts.
    fn sum(&mut self, own: Left) -> Result<Left, Self::Lost>;
}

/// Nobody has another part.
pub(crate) struct Nobody;

impl Others for Nobody {
    type Lost = Infallible;

    fn tell(&mut self, _: &mut Flow, _: Columns) -> Result<(), Infallible> {
        Ok(())
    }

    fn sum(&mut self, own: Left) -> Result<Left, Infallible> {
        Ok(own)
    }
}

/// What a domain tells of its fluids whoever looks at the whole.
pub(crate) struct Share {
    fields: FluidFields,
    last: FlowTally,
    work: FlowTally,
    left: f64,
    /// Particles of fluid.
    pub count: usize,
    rebuilds: u64,
    solves: Solves,
}

/// Names of what a domain booked, and of what it counted.
const BOOKS: [&str; 2] = ["fluid/books of a domain", "fluid/counts of a domain"];

impl Share {
    /// As named columns.
    pub fn save(&self, to: &mut dyn Sections) {
        self.fields.save(to);
        let of_tally = |tally: &FlowTally| [tally.viscous, tally.diffusive, tally.wall];
        let Solves {
            steps,
            iterations,
            unfinished,
            largest_error,
        } = self.solves;
        let numbers = [&of_tally(&self.last)[..], &of_tally(&self.work), &[self.left], &largest_error].concat();
        let counts = [&[self.count as u64, self.rebuilds, steps][..], &iterations, &unfinished].concat();
        to.put(BOOKS[0], Column::F64(numbers));
        to.put(BOOKS[1], Column::U64(counts));
    }

    /// From named columns; none where nothing flows.
    pub fn load(state: &State) -> Result<Option<Share>, Illegible> {
        let [Some(Column::F64(numbers)), Some(Column::U64(counts))] = BOOKS.map(|name| state.get(name)) else {
            return Ok(None);
        };
        let tally = |&[viscous, diffusive, wall]: &[f64; 3]| FlowTally { viscous, diffusive, wall };
        let (Ok([l0, l1, l2, w0, w1, w2, left, e0, e1]), Ok([count, rebuilds, steps, i0, i1, u0, u1])) =
            (<[f64; 9]>::try_from(&numbers[..]), <[u64; 7]>::try_from(&counts[..]))
        else {
            return Err(Illegible);
        };
        Ok(Some(Share {
            fields: FluidFields::load(state).map_err(|_| Illegible)?,
            last: tally(&[l0, l1, l2]),
            work: tally(&[w0, w1, w2]),
            left,
            count: count as usize,
            rebuilds,
            solves: Solves {
                steps,
                iterations: [i0, i1],
                unfinished: [u0, u1],
                largest_error: [e0, e1],
            },
        }))
    }
}

/// Whether particle i is marked as a copy; where there are no copies, none is.
pub fn is_marked(copy: &[u32], i: usize) -> bool {
    copy.get(i).is_some_and(|mark| *mark > 0)
}

/// Whether particle i is one of fluid, and no copy.
pub fn is_own_fluid(kind: &[u32], copy: &[u32], i: usize) -> bool {
    kind[i] & WALL == 0 && !is_marked(copy, i)
}

impl Flow {
    /// Why these fluids cannot be divided in a domain of the world, if they cannot.
    pub fn why_whole(&self, domain: Option<&Domain>) -> Option<&'static str> {
        let takes_away = domain.is_some_and(|domain| domain.leaving == Leaving::Delete);
        let asks = [
            (self.plan.solver == Solver::Muller2003, "fluids of solver = \"muller2003\""),
            (self.compiled_for.carrying, "small grains in fluids"),
            (self.has_passages(), "inlets or outlets of fluids"),
            (
                self.compiled_for.cohesive && takes_away,
                "a surface tension of fluid that is taken away where it leaves",
            ),
        ];
        asks.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, what)| what)
    }

    /// Fluids like these with these particles, for a domain.
    pub fn share(&self, fields: FluidFields, simulation: &Simulation) -> Result<Flow, Refusal> {
        let mut share = Flow {
            compiled_for: self.compiled_for,
            stepping: self.stepping,
            there: self.there.clone(),
            fields,
            ..Flow::new(self.plan.clone(), simulation)?
        };
        share.projector.solves = self.projector.solves;
        share.follow_bodies(simulation);
        Ok(share)
    }

    /// The particles that it owns, and what it booked since that was asked for last.
    pub fn give_share(&mut self) -> Share {
        let mut own = self.fields.pick(&self.own_places());
        own.copy.clear();
        Share {
            fields: own,
            last: self.last,
            work: std::mem::take(&mut self.work),
            left: std::mem::take(&mut self.left),
            count: self.count,
            rebuilds: std::mem::take(&mut self.rebuilds),
            solves: self.projector.solves,
        }
    }

    /// Takes over all particles and powers, and what was booked since that was done last, from all domains.
    pub fn take_shares(&mut self, shares: Vec<Share>) {
        (self.fields, self.last, self.count) = (FluidFields::default(), FlowTally::default(), 0);
        if let Some(first) = shares.first() {
            // They renew their lists together, and solve together.
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

    /// Whether particle i is a copy of one that another domain owns.
    pub fn is_copy(&self, i: usize) -> bool {
        is_marked(&self.fields.copy, i)
    }

    /// Places of the particles that are no copies.
    fn own_places(&self) -> Vec<u32> {
        (0..self.fields.len()).filter(|&i| !self.is_copy(i)).map(|i| i as u32).collect()
    }

    /// Drops copies and, if it `takes_away`, fluid that left; hands out all other particles, with where they are kept for new lists.
    pub fn settle_own(&mut self, simulation: &Simulation, takes_away: bool) -> FluidFields {
        let own = self.own_places();
        self.fields.reorder(&simulation.device, &own);
        self.fields.copy.clear();
        self.drop_hulls_of_lost_bodies(simulation);
        // What was listed stands elsewhere now.
        self.pairs.row.clear();
        if takes_away {
            self.settle(simulation);
        } else {
            self.stand_here(simulation);
        }
        std::mem::take(&mut self.fields)
    }

    /// Lists particles and copies, by where they are kept to have been when that was done.
    pub fn list_with_copies(&mut self, mut own: FluidFields, copies: &mut [FluidFields], simulation: &Simulation) {
        own.copy = vec![0; own.len()];
        for copies in copies {
            copies.copy = vec![1; copies.len()];
            own.append(copies);
        }
        self.fields = own;
        self.list_anew(simulation);
        self.count = self.of_fluid().filter(|&i| !self.is_copy(i)).count();
    }
}
