//! Flags of a step of fluids become one error that names particle, place, step and likely cause.

use super::Flow;
use crate::contact_records::array;
use crate::guard::{Cause, InFluid, Stop};
use crate::simulation::Simulation;
use crate::world::Leaving;
use seixo_laws::Vector3;
use seixo_sweeps::motion::{LEFT, NOT_FINITE, TOO_FAST};
use seixo_sweeps::views::{RECORD, load};

/// Excess of density \[-\] that no flow has: where it is reached, the equation of state means nothing any more.
const MOST_EXCESS: f64 = 0.5;

impl Flow {
    /// The error that flags mean, if they mean one.
    pub fn stopped_by(&self, flags: u32, simulation: &Simulation) -> Option<Stop> {
        // Where densities are sums, drops and surfaces have low ones.
        let judged: &[f64] = if self.muller.is_some() { &[] } else { &self.fields.excess };
        let excess = judged.iter().fold(0.0, |most: f64, e| most.max(e.abs()));
        let leaves = simulation.leaving() == Leaving::Error && flags & LEFT != 0;
        if flags & (NOT_FINITE | TOO_FAST) == 0 && !leaves && excess < MOST_EXCESS {
            return None;
        }
        let fields = &self.fields;
        let place = |i: usize| -> Vector3<f64> { load(&fields.position, i * RECORD) };
        let limit = self.stepping.stride_square.sqrt();
        let stride = |i: usize| load::<f64>(&fields.half_velocity, 3 * i).length() * self.stepping.dt;
        let is_bad = |i: usize| {
            if flags & NOT_FINITE != 0 {
                !array(&place(i)).iter().all(|x| x.abs() < 1e18)
            } else if flags & TOO_FAST != 0 {
                stride(i) > limit
            } else if leaves {
                simulation.has_left(&array(&place(i)))
            } else {
                fields.excess[i].abs() >= MOST_EXCESS
            }
        };
        let bad: Vec<usize> = self.of_fluid().filter(|&i| is_bad(i)).collect();
        let worst = bad.iter().copied().min_by_key(|&i| fields.id[i])?;
        let cause = if flags & NOT_FINITE != 0 {
            Cause::NotFinite
        } else if flags & TOO_FAST != 0 {
            Cause::TooFast {
                moved: stride(worst),
                limit,
            }
        } else if leaves {
            Cause::LeftDomain
        } else {
            Cause::TooCompressed {
                excess: fields.excess[worst],
            }
        };
        Some(Stop {
            grain: fields.id[worst],
            affected: bad.len(),
            position: array(&place(worst)),
            velocity: array(&load(&fields.flow, worst * RECORD)),
            cause: Cause::InFluid(Box::new(InFluid {
                fluid: self.plan.kinds[fields.kind[worst] as usize].name.clone(),
                cause,
            })),
            step: simulation.steps,
            time: simulation.time(),
        })
    }
}

impl Simulation {
    /// Turns the flags of the moving pass of fluids into an error.
    pub(crate) fn guard_fluids(&mut self) -> Result<(), Stop> {
        self.with_flow(|flow, simulation| flow.stopped_by(flow.flags(), simulation))
            .map_or(Ok(()), Err)
    }
}
