//! Particle shifting, which keeps particles uniformly distributed away from free surfaces.

use super::Flow;
use super::halo::is_own_fluid;
use crate::fields::{FluidFields, Numbers, numbers, one_each, part_range, parts};
use crate::refusal::WorldError;
use crate::surroundings::Surroundings;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::fluid::shifting::{Shifting, shifting};
use seixo_sweeps::fluid::{mass_at, rest_density_at};
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::{RECORD, add, load, recall, store};
use seixo_sweeps::shifting::{drift_of, taken_up_by};

/// Smallest share of the support filled with fluid and walls for a particle that is not at a free surface \[-\]. At a flat surface it is at most
/// 0.82, with a support of 2.5 spacings; inside of fluid it is one.
const MIN_FILLED: f64 = 0.85;

impl Flow {
    /// Parameters of particle shifting.
    pub fn shifting(&self) -> Shifting<f64> {
        let plan = &self.plan;
        shifting(plan.smoothing, plan.space(), plan.support, plan.spacing, plan.largest_speed)
    }

    /// Computes the velocities of fluid particles with shifting.
    pub fn shift(&mut self, surroundings: &Surroundings) {
        if !self.compiled_for.shifting {
            return;
        }
        let n = self.fields.len();
        let (shifting, smoother, plan, sides) = (self.shifting(), self.smoother(), self.compiled_for, &self.stepping.sides);
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, copy, pairs) = (&kind[..], &position[..], &flow[..], &copy[..], &self.pairs);
        let data = (numbers(motion, RECORD),);
        surroundings.context.device.run(parts(n), data, |part, (motion,): (Numbers,)| {
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

    /// Adds the momentum that shifted particles advect, after all other forces are computed. The ledger adds the energy of the drift, by shifting or by
    /// XSPH, to that of the density diffusion. It is the work of the drift against all forces and gravity, less the energy of the advected momentum.
    pub(super) fn account_for_drift(&mut self, surroundings: &Surroundings) {
        if !self.compiled_for.has_drift() {
            return;
        }
        let n = self.fields.len();
        let (smoother, plan, stepping, media) = (self.smoother(), self.compiled_for, &self.stepping, &self.media[..]);
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            force_density_rate: rate,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion, copy) = (&kind[..], &position[..], &flow[..], &motion[..], &copy[..]);
        let pairs = &self.pairs;
        let data = (numbers(rate, RECORD), one_each(&mut self.contact_power_sums));
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (rate, power_sums): (Numbers, Strided<FluidPowerSums>)| {
                let (first, end) = part_range(part, n);
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let (at, own_kind) = ((i - first) * RECORD, kind[i] as usize);
                    // XSPH leaves the momentum as it is.
                    let carried = if plan.shifting {
                        taken_up_by::<f64, f64>(
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
                        )
                    } else {
                        Vector3::zero()
                    };
                    let velocity: Vector3<f64> = load(flow, i * RECORD);
                    let drift = load::<f64>(motion, i * RECORD).minus(&velocity);
                    let against = drift.dot(&recall(rate.items, at));
                    let risen = drift.dot(&stepping.gravity.times(mass_at(media, own_kind)));
                    power_sums.items[0].diffusive += against + risen - carried.dot(&velocity);
                    power_sums.items[0].wall += against;
                    add(rate.items, at, &carried);
                }
            });
    }

    /// Rejects shifting if a fluid particle is at a free surface: it would drift away from it.
    pub(crate) fn check_shifting(&self) -> Result<(), WorldError> {
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
            if filled < MIN_FILLED {
                let Vector3 { x, y, z } = here;
                return Err(WorldError::Fluid(format!(
                    "particle {} of fluid {:?} at ({x:.4}, {y:.4}, {z:.4}) m is at a free surface: fluid and walls fill {filled:.2} of what it sees, and where \
                     particles are shifted it must be at least {MIN_FILLED}; write particle_shifting = false, or fill what holds the fluid",
                    self.fields.id[i], self.plan.kinds[self.fields.kind[i] as usize].name
                )));
            }
        }
        Ok(())
    }
}
