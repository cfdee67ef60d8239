//! Incompressible fluids (DFSPH): the passes of their step.

use super::Flow;
use super::halo::{Halo, is_own_fluid};
use super::pressure_solver::{Constraint, IterationError, PressureSolver, iterate};
use crate::fields::{FluidFields, Numbers, numbers, one_each, part_range, parts};
use crate::surroundings::Surroundings;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::fluid::dfsph;
use seixo_sweeps::dfsph::{density_error_of, density_rate_of, pressure_acceleration_of, pressure_corrected, viscous_force_of};
use seixo_sweeps::fluid::{WALL, advanced, going, kicked, mass_at};
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::{RECORD, load, recall, store};
use seixo_sweeps::motion::{AT_REST, MotionReport};

impl Flow {
    /// Computes viscous forces; with these and gravity, it predicts velocities without pressures.
    pub fn viscous_forces_of(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            half_velocity,
            force_density_rate: rate,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion, copy) = (&kind[..], &position[..], &flow[..], &motion[..], &copy[..]);
        let data = (
            numbers(rate, RECORD),
            numbers(half_velocity, 3),
            numbers(&mut self.projector.moving, RECORD),
        );
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (rate, half, moving): (Numbers, Numbers, Numbers)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let (slot, at) = (i - first, (i - first) * RECORD);
                    let force = viscous_force_of::<f64, f64>(
                        i,
                        pairs.row[i] as usize,
                        pairs.row[i + 1] - pairs.row[i],
                        &pairs.neighbors,
                        position,
                        flow,
                        flow,
                        motion,
                        kind,
                        media,
                        &stepping.gravity,
                        &smoother,
                        &stepping.sides,
                        1,
                        plan,
                    );
                    store(rate.items, at, &force);
                    rate.items[at + 3] = 0.0;
                    if is_own_fluid(kind, copy, i) {
                        let mass = mass_at(media, kind[i] as usize);
                        let after = kicked::<f64, f64>(&recall(half.items, 3 * slot), &force, mass, stepping);
                        store(half.items, 3 * slot, &after);
                        store(moving.items, at, &after);
                    }
                }
            });
    }

    /// Solves for the pressures that satisfy a constraint, together with other subdomains of the fluid, and applies them.
    pub fn project<O: Halo>(&mut self, surroundings: &Surroundings, constraint: Constraint, others: &mut O) -> Result<(), O::Lost> {
        if constraint.corrects() {
            others.exchange_columns(self, |flow| vec![&mut flow.projector.moving])?;
        }
        self.density_error(surroundings, constraint);
        let projection = self.plan.projection;
        let solved = iterate(constraint, &projection, |carry| -> Result<[f64; 2], O::Lost> {
            others.exchange_columns(self, |flow| vec![&mut flow.projector.solving])?;
            self.pressure_acceleration(surroundings);
            others.exchange_columns(self, |flow| vec![&mut flow.projector.moving])?;
            let left = self.correct(surroundings, carry);
            Ok(others.sum(left)?.mean())
        })?;
        self.projector.solves.add_iterations(constraint, &solved);
        self.push(surroundings, constraint);
        Ok(())
    }

    /// Computes densities at the start.
    pub fn begin_as_incompressible(&mut self, surroundings: &Surroundings) {
        self.density_error(surroundings, Constraint::Divergence);
    }

    /// Sums the densities of fluid particles, and initializes the solution for their pressures.
    fn density_error(&mut self, surroundings: &Surroundings, constraint: Constraint) {
        let n = self.fields.len();
        let (smoother, plan, corrects) = (self.smoother(), self.compiled_for, constraint.corrects());
        let (relaxation, share) = (self.projector.relaxation(), self.projector.share_of_longest_step(self.stepping.dt));
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            density_error: excess,
            pressures: multipliers,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, position, motion, multipliers, copy) = (&kind[..], &position[..], &motion[..], &multipliers[..], &copy[..]);
        let PressureSolver { moving, solving, .. } = &mut self.projector;
        let moving = if corrects { &moving[..] } else { &flow[..] };
        let data = (numbers(excess, 1), numbers(solving, RECORD));
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (excess, solving): (Numbers, Numbers)| {
                let (first, end) = part_range(part, n);
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let found = density_error_of::<f64, f64>(
                        i,
                        pairs.row[i] as usize,
                        pairs.row[i + 1] - pairs.row[i],
                        &pairs.neighbors,
                        position,
                        moving,
                        motion,
                        kind,
                        media,
                        &smoother,
                        &smoother,
                        &stepping.sides,
                        1,
                        plan,
                    );
                    let warm = multipliers[2 * i + usize::from(!corrects)];
                    let source = dfsph::source::<f64>(found.excess, found.density_rate, stepping.dt, share, corrects);
                    let step = dfsph::step_of_pressure::<f64>(found.stiffness, relaxation, stepping.dt);
                    solving.items[(i - first) * RECORD..][..RECORD].copy_from_slice(&[warm, warm, source, step]);
                    excess.items[i - first] = found.excess.max(0.0);
                }
            });
    }

    /// Computes the accelerations of fluid particles by the extrapolated pressures, and stores both together.
    fn pressure_acceleration(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let FluidFields {
            kind,
            position,
            ghost: copy,
            ..
        } = &self.fields;
        let (kind, position, copy) = (&kind[..], &position[..], &copy[..]);
        let PressureSolver { moving, solving, .. } = &mut self.projector;
        let solving = &solving[..];
        let data = (numbers(moving, RECORD),);
        surroundings.context.device.run(parts(n), data, |part, (moving,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                let sum = pressure_acceleration_of::<f64, f64>(
                    i,
                    pairs.row[i] as usize,
                    pairs.row[i + 1] - pairs.row[i],
                    &pairs.neighbors,
                    position,
                    solving,
                    &smoother,
                    &stepping.sides,
                    0,
                    1,
                    plan,
                );
                let (volume, mass) = (position[i * RECORD + 3], mass_at(media, kind[i] as usize));
                store(moving.items, (i - first) * RECORD, &sum.times(-(volume / mass)));
                moving.items[(i - first) * RECORD + 3] = solving[i * RECORD];
            }
        });
    }

    /// One iteration of the pressures; returns the remaining error.
    fn correct(&mut self, surroundings: &Surroundings, carry: f64) -> IterationError {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, stepping) = (&self.pairs, &self.stepping);
        let FluidFields {
            kind,
            position,
            ghost: copy,
            ..
        } = &self.fields;
        let (kind, position, copy) = (&kind[..], &position[..], &copy[..]);
        let PressureSolver { moving, solving, left, .. } = &mut self.projector;
        let moving = &moving[..];
        let data = (numbers(solving, RECORD), one_each(left));
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (solving, left): (Numbers, Strided<IterationError>)| {
                let (first, end) = part_range(part, n);
                let mut all = IterationError::default();
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let density_rate = density_rate_of::<f64, f64>(
                        i,
                        pairs.row[i] as usize,
                        pairs.row[i + 1] - pairs.row[i],
                        &pairs.neighbors,
                        position,
                        moving,
                        &smoother,
                        &stepping.sides,
                        1,
                        plan,
                    );
                    let own = &mut solving.items[(i - first) * RECORD..][..RECORD];
                    let next = dfsph::corrected::<f64>(own[0], own[1], own[2], own[3], density_rate, stepping.dt, carry);
                    (own[0], own[1]) = (next.ahead, next.pressure);
                    all.add_iterations(next.error, next.overshoot);
                }
                left.items[0] = all;
            });
        left.iter().fold(IterationError::default(), |all, part| all.plus(part))
    }

    /// Applies the pressures with the last computed error to fluid and walls, and adds the work of forces to the ledger.
    fn push(&mut self, surroundings: &Surroundings, constraint: Constraint) {
        let n = self.fields.len();
        let (smoother, plan, corrects) = (self.smoother(), self.compiled_for, constraint.corrects());
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let moving = &self.projector.moving[..];
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            half_velocity,
            force_density_rate: rate,
            pressures: multipliers,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, position, motion, copy) = (&kind[..], &position[..], &motion[..], &copy[..]);
        let data = (
            numbers(flow, RECORD),
            numbers(half_velocity, 3),
            numbers(rate, RECORD),
            numbers(multipliers, 2),
            one_each(&mut self.contact_power_sums),
        );
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, FluidPowerSums>);
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (flow, half, rate, multipliers, power_sums): Data| {
                let (first, end) = part_range(part, n);
                let mut took = FluidPowerSums::default();
                for i in first..end {
                    let sum = pressure_acceleration_of::<f64, f64>(
                        i,
                        pairs.row[i] as usize,
                        pairs.row[i + 1] - pairs.row[i],
                        &pairs.neighbors,
                        position,
                        moving,
                        &smoother,
                        &stepping.sides,
                        3,
                        1,
                        plan,
                    );
                    let (slot, at) = (i - first, (i - first) * RECORD);
                    let volume = position[i * RECORD + 3];
                    let coupled: Vector3<f64> = recall(rate.items, at);
                    // Viscous forces were applied before the density correction, and only then.
                    let drag = if corrects { coupled } else { Vector3::zero() };
                    if is_own_fluid(kind, copy, i) {
                        let mass = mass_at(media, kind[i] as usize);
                        let (before, kept) = (recall(flow.items, at), recall(half.items, 3 * slot));
                        let now = pressure_corrected::<f64, f64>(&sum, &drag, &before, &kept, volume, mass, stepping.dt);
                        store(half.items, 3 * slot, &now.kept);
                        store(flow.items, at, &now.velocity);
                        store(rate.items, at, &coupled.plus(&now.force));
                        let own = &mut multipliers.items[2 * slot..][..2];
                        own[usize::from(!corrects)] = moving[i * RECORD + 3];
                        flow.items[at + 3] = if corrects { own[0] } else { own[0] + own[1] };
                        took.viscous += now.viscous;
                        took.diffusive += now.projected;
                    } else if kind[i] & WALL != 0 {
                        let force = sum.times(volume);
                        store(rate.items, at, &coupled.plus(&force));
                        if plan.moving {
                            let surface = load::<f64>(motion, i * RECORD).times(stepping.dt);
                            let way = going(&surface, motion[i * RECORD + 3]);
                            let (viscous, projected) = (-drag.dot(&surface), -force.dot(&way));
                            took.viscous += viscous;
                            took.diffusive += projected;
                            took.wall += viscous + projected;
                        }
                    }
                }
                power_sums.items[0] = took;
            });
        self.work = self.work.plus(&self.powers());
    }

    /// Moves fluid particles with their velocities.
    pub fn drift(&mut self, surroundings: &Surroundings) {
        self.steps_since_listed += 1;
        let n = self.fields.len();
        let stepping = &self.stepping;
        let FluidFields {
            kind,
            position,
            half_velocity,
            reference,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, half_velocity, reference, copy) = (&kind[..], &half_velocity[..], &reference[..], &copy[..]);
        let data = (numbers(position, RECORD), one_each(&mut self.moves));
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (position, moves): (Numbers, Strided<MotionReport<f64>>)| {
                let (first, end) = part_range(part, n);
                let mut all = AT_REST;
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let at = (i - first) * RECORD;
                    let now = advanced::<f64, f64>(
                        &recall(position.items, at),
                        &load(half_velocity, 3 * i),
                        &load(reference, i * RECORD),
                        stepping,
                    );
                    store(position.items, at, &now.position);
                    all.flags |= now.flags;
                }
                moves.items[0] = all;
            });
    }
}
