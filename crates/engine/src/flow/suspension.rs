//! Grains that are smaller than the particles of fluids: what fluids do to them, and they to fluids.

use super::Flow;
use crate::fields::{FluidFields, Numbers, numbers, part_range, parts};
use crate::search::Pairs;
use crate::simulation::Simulation;
use crate::world::Fluids;
use seixo_laws::fluid::suspension::{Coupling, coupling};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::suspension::{borne_by, suspended};
use seixo_sweeps::views::{RECORD, add, load, store};

/// Numbers that are found of a grain: two records, what becomes of its rate and of its flow.
const FOUND: usize = 2 * RECORD;

/// Grains that are smaller than the particles of fluids.
pub(crate) struct Suspension {
    /// Places of the grains among the particles.
    pub grains: Vec<u32>,
    /// All that is near each grain.
    pub around: Pairs,
    /// The grains near each particle of fluid.
    pub near: Pairs,
    /// What was found of the grains, in the order of `grains`.
    found: Vec<f64>,
    pub coupling: Coupling<f64>,
    /// Powers at the last step: what drag takes, and what fluid gained and drag took beyond what it lost to grains \[W\].
    pub tally: FlowTally,
}

impl Suspension {
    /// Without grains yet, in fluids that take steps of this length \[s\].
    pub fn new(fluids: &Fluids, dt: f64) -> Suspension {
        Suspension {
            grains: Vec::new(),
            around: Pairs::default(),
            near: Pairs::default(),
            found: Vec::new(),
            coupling: coupling(fluids.smoothing, fluids.support, dt),
            tally: FlowTally::default(),
        }
    }

    /// Whether there are no grains.
    pub fn is_empty(&self) -> bool {
        self.grains.is_empty()
    }

    /// Drops all lists of pairs.
    pub fn forget_rows(&mut self) {
        (self.around, self.near) = (Pairs::default(), Pairs::default());
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        self.around.bytes() + self.near.bytes() + (self.grains.capacity() * 4 + self.found.capacity() * 8) as u64
    }
}

impl Flow {
    /// Lets fluids and grains that are smaller than their particles act on each other, once all other forces on fluids are known.
    pub fn suspend(&mut self, simulation: &Simulation) {
        self.suspension.tally = FlowTally::default();
        if self.suspension.is_empty() {
            return;
        }
        self.push_grains(simulation);
        let (mut viscous, mut lost) = (0.0, 0.0);
        for (&i, found) in self.suspension.grains.iter().zip(self.suspension.found.chunks_exact(FOUND)) {
            let at = i as usize * RECORD;
            self.fields.rate[at..][..RECORD].copy_from_slice(&found[..RECORD]);
            self.fields.flow[at..][..RECORD].copy_from_slice(&found[RECORD..]);
            viscous += found[RECORD - 1];
            lost += found[FOUND - 1];
        }
        self.suspension.tally = FlowTally {
            viscous,
            wall: viscous - lost,
            ..FlowTally::default()
        };
        self.bear_grains(simulation);
    }

    /// Finds what fluids do to each grain.
    fn push_grains(&mut self, simulation: &Simulation) {
        let n = self.suspension.grains.len();
        self.suspension.found.resize(n * FOUND, 0.0);
        let (smoother, plan, sides) = (self.smoother(), self.compiled_for, &self.stepping.sides);
        let (fields, media, hulls, bodies) = (&self.fields, &self.media[..], &self.hulls, &simulation.bodies);
        let Suspension {
            grains,
            around,
            found,
            coupling,
            ..
        } = &mut self.suspension;
        let (grains, around, coupling) = (&grains[..], &*around, &*coupling);
        let data = (numbers(found, FOUND),);
        simulation.device.run(parts(n), data, |part, (found,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for (slot, &i) in grains[first..end].iter().enumerate() {
                let (i, at) = (i as usize, slot * FOUND);
                found.items[at..][..FOUND].fill(0.0);
                let Some(b) = hulls.seat_of(fields.kind[i]) else { continue };
                let now = suspended::<f64, f64>(
                    i,
                    around.row[i] as usize,
                    around.row[i + 1] - around.row[i],
                    &around.neighbors,
                    &fields.position,
                    &fields.flow,
                    &fields.motion,
                    &fields.rate,
                    &fields.kind,
                    media,
                    bodies.center[b * RECORD + 3],
                    &load(&fields.half_velocity, 3 * i),
                    coupling,
                    &smoother,
                    sides,
                    1,
                    plan,
                );
                store(found.items, at, &now.force);
                found.items[at + RECORD - 1] = now.drag_power;
                store(found.items, at + RECORD, &now.pull);
                found.items[at + FOUND - 1] = now.lost_power;
            }
        });
    }

    /// Lets each particle of fluid bear its share of what is done to grains.
    fn bear_grains(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let (smoother, plan, sides) = (self.smoother(), self.compiled_for, &self.stepping.sides);
        let FluidFields { position, flow, rate, .. } = &mut self.fields;
        let (position, flow, near) = (&position[..], &flow[..], &self.suspension.near);
        let data = (numbers(rate, RECORD),);
        simulation.device.run(parts(n), data, |part, (rate,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for j in first..end {
                let (entry, count) = (near.row[j] as usize, near.row[j + 1] - near.row[j]);
                if count > 0 {
                    let force = borne_by::<f64, f64>(j, entry, count, &near.neighbors, position, flow, &smoother, sides, 1, plan);
                    add(rate.items, (j - first) * RECORD, &force);
                }
            }
        });
    }
}

impl Simulation {
    /// Lets fluids and grains that are smaller than their particles act on each other.
    pub(crate) fn suspend_grains(&mut self) {
        self.with_flow(|flow, simulation| flow.suspend(simulation));
    }
}
