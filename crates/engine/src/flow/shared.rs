//! Fluids that are divided among domains: what one of them has, and what it asks the others for.

use super::Flow;
use super::projector::Left;
use crate::fields::{FluidFields, Sorted};
use crate::refusal::Refusal;
use crate::simulation::Simulation;
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

    /// Takes over the particles that another flow owns, and what it booked since that was done last.
    pub fn take_share(&mut self, share: &mut Flow) {
        let mut own = share.fields.pick(&share.own_places());
        own.copy.clear();
        self.count += share.count;
        // They solve together.
        self.projector.solves = share.projector.solves;
        self.fields.append(&own);
        self.last = self.last.plus(&share.last);
        self.work = self.work.plus(&std::mem::take(&mut share.work));
        self.left += std::mem::take(&mut share.left);
    }

    /// Forgets all particles and powers, to take them over from others.
    pub fn clear(&mut self) {
        (self.fields, self.last, self.count) = (FluidFields::default(), FlowTally::default(), 0);
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
