//! Shifting of particles, which keeps them evenly apart where nothing is free of fluid and walls.

use super::Flow;
use super::shared::is_own_fluid;
use crate::fields::{FluidFields, Numbers, numbers, one_each, part_range, parts};
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::fluid::shifting::{Shifting, shifting};
use seixo_sweeps::fluid::{mass_at, rest_density_at};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::shifting::{drift_of, taken_up_by};
use seixo_sweeps::views::{RECORD, add, load, recall, store};

/// The least share of what it sees that is filled with fluid and walls around a particle that is at no surface \[-\]. At a flat surface it is at most
/// 0.82, with a support of 2.5 spacings; inside of fluid it is one.
const LEAST_FILLED: f64 = 0.85;

impl Flow {
    /// How particles are shifted.
    pub fn shifting(&self) -> Shifting<f64> {
        let plan = &self.plan;
        shifting(plan.smoothing, plan.space(), plan.support, plan.spacing, plan.fastest)
    }

    /// Finds with which velocities particles of fluid go on, where they are shifted.
    pub fn shift(&mut self, simulation: &Simulation) {
        if !self.compiled_for.shifting {
            return;
        }
        let n = self.fields.len();
        let (shifting, smoother, plan, sides) = (self.shifting(), self.smoother(), self.compiled_for, &self.stepping.sides);
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, copy, pairs) = (&kind[..], &position[..], &flow[..], &copy[..], &self.pairs);
        let data = (numbers(motion, RECORD),);
        simulation.device.run(parts(n), data, |part, (motion,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                let drift = drift_of::<f64, f64>(
                    i,
                    pairs.row[i] as usize,
                    pairs.row[i + 1] - pairs.row[i],
                    &pairs.neighbors,
                    position,
                    &shifting,
                    &smoother,
                    sides,
                    1,
                    plan,
                );
                let velocity: Vector3<f64> = load(flow, i * RECORD);
                store(motion.items, (i - first) * RECORD, &velocity.plus(&drift));
            }
        });
    }

    /// Lets shifted particles take up the motion that is carried past them, once all other forces are known. What shifting takes is booked with what the
    /// diffusion of density does: its work against all forces and gravity, less what comes with that motion.
    pub(super) fn take_up_motion(&mut self, simulation: &Simulation) {
        if !self.compiled_for.shifting {
            return;
        }
        let n = self.fields.len();
        let (smoother, plan, stepping, media) = (self.smoother(), self.compiled_for, &self.stepping, &self.media[..]);
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            rate,
            copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion, copy) = (&kind[..], &position[..], &flow[..], &motion[..], &copy[..]);
        let pairs = &self.pairs;
        let data = (numbers(rate, RECORD), one_each(&mut self.tallies));
        simulation
            .device
            .run(parts(n), data, |part, (rate, tally): (Numbers, Strided<FlowTally>)| {
                let (first, end) = part_range(part, n);
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let (at, own_kind) = ((i - first) * RECORD, kind[i] as usize);
                    let carried = taken_up_by::<f64, f64>(
                        i,
                        pairs.row[i] as usize,
                        pairs.row[i + 1] - pairs.row[i],
                        &pairs.neighbors,
                        position,
                        flow,
                        motion,
                        rest_density_at(media, own_kind),
                        &smoother,
                        &stepping.sides,
                        1,
                        plan,
                    );
                    let velocity: Vector3<f64> = load(flow, i * RECORD);
                    let drift = load::<f64>(motion, i * RECORD).minus(&velocity);
                    let against = drift.dot(&recall(rate.items, at));
                    let risen = drift.dot(&stepping.gravity.times(mass_at(media, own_kind)));
                    tally.items[0].diffusive += against + risen - carried.dot(&velocity);
                    tally.items[0].wall += against;
                    add(rate.items, at, &carried);
                }
            });
    }

    /// Refuses to shift particles of fluid of which one is at a free surface: it would drift away from it.
    pub(super) fn check_shifting(&self) -> Result<(), Refusal> {
        if !self.compiled_for.shifting {
            return Ok(());
        }
        let smoother = self.smoother();
        for i in self.of_fluid() {
            let here = self.place(i);
            let weight =
                |j: usize, distance: f64| self.fields.position[j * RECORD + 3].abs() * smoother.value(distance, self.plan.smoothing);
            let around = self
                .pairs
                .of(i)
                .iter()
                .map(|&j| weight(j as usize, self.apart(&here, j as usize).length()));
            let filled = weight(i, 0.0) + around.sum::<f64>();
            if filled < LEAST_FILLED {
                let Vector3 { x, y, z } = here;
                return Err(Refusal::Fluid(format!(
                    "particle {} of fluid {:?} at ({x:.4}, {y:.4}, {z:.4}) m is at a free surface: fluid and walls fill {filled:.2} of what it sees, and where \
                     particles are shifted it must be at least {LEAST_FILLED}; write particle_shifting = false, or fill what holds the fluid",
                    self.fields.id[i], self.plan.kinds[self.fields.kind[i] as usize].name
                )));
            }
        }
        Ok(())
    }
}

impl Simulation {
    /// Whether particles of fluids are shifted.
    pub(crate) fn shifts_fluids(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.compiled_for.shifting)
    }
}
