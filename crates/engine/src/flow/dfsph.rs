//! Incompressible fluids: the passes of their step.

use super::Flow;
use super::projector::{Constraint, Left, Projector, iterate};
use super::shared::{Others, is_own_fluid};
use crate::fields::{FluidFields, Numbers, numbers, one_each, part_range, parts};
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::fluid::dfsph;
use seixo_sweeps::dfsph::{crowd_of, drag_of, lean_of, pushed, swelling_of};
use seixo_sweeps::fluid::{WALL, flowed, going, kicked, mass_at};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::motion::{Moved, STILL};
use seixo_sweeps::views::{RECORD, load, recall, store};

impl Flow {
    /// Finds the forces of viscosities; with them and gravity, velocities go on as they would without pressures.
    pub fn drag(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            half_velocity,
            rate,
            copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion, copy) = (&kind[..], &position[..], &flow[..], &motion[..], &copy[..]);
        let data = (
            numbers(rate, RECORD),
            numbers(half_velocity, 3),
            numbers(&mut self.projector.moving, RECORD),
        );
        simulation
            .device
            .run(parts(n), data, |part, (rate, half, moving): (Numbers, Numbers, Numbers)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let (slot, at) = (i - first, (i - first) * RECORD);
                    let force = drag_of::<f64, f64>(
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

    /// Finds the pressures that keep what is asked for, together with others that have parts of the fluid, and lets them push.
    pub fn project<O: Others>(&mut self, simulation: &Simulation, constraint: Constraint, others: &mut O) -> Result<(), O::Lost> {
        if constraint.corrects() {
            others.tell(self, |flow| vec![&mut flow.projector.moving])?;
        }
        self.crowd(simulation, constraint);
        let projection = self.plan.projection;
        let solved = iterate(constraint, &projection, |carry| -> Result<[f64; 2], O::Lost> {
            others.tell(self, |flow| vec![&mut flow.projector.solving])?;
            self.lean(simulation);
            others.tell(self, |flow| vec![&mut flow.projector.moving])?;
            let left = self.correct(simulation, carry);
            Ok(others.sum(left)?.mean())
        })?;
        self.projector.solves.book(constraint, &solved);
        self.push(simulation, constraint);
        Ok(())
    }

    /// Finds densities of the start.
    pub fn begin_as_incompressible(&mut self, simulation: &Simulation) {
        self.crowd(simulation, Constraint::Divergence);
    }

    /// Sums densities of particles of fluid up, and sets out for their pressures.
    fn crowd(&mut self, simulation: &Simulation, constraint: Constraint) {
        let n = self.fields.len();
        let (smoother, plan, corrects) = (self.smoother(), self.compiled_for, constraint.corrects());
        let relaxation = self.projector.relaxation();
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            excess,
            multipliers,
            copy,
            ..
        } = &mut self.fields;
        let (kind, position, motion, multipliers, copy) = (&kind[..], &position[..], &motion[..], &multipliers[..], &copy[..]);
        let Projector { moving, solving, .. } = &mut self.projector;
        let moving = if corrects { &moving[..] } else { &flow[..] };
        let data = (numbers(excess, 1), numbers(solving, RECORD));
        simulation
            .device
            .run(parts(n), data, |part, (excess, solving): (Numbers, Numbers)| {
                let (first, end) = part_range(part, n);
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let found = crowd_of::<f64, f64>(
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
                    let source = dfsph::source::<f64>(found.excess, found.swelling, stepping.dt, corrects);
                    let step = dfsph::step_of_pressure::<f64>(found.stiffness, relaxation, stepping.dt);
                    solving.items[(i - first) * RECORD..][..RECORD].copy_from_slice(&[warm, warm, source, step]);
                    excess.items[i - first] = found.excess.max(0.0);
                }
            });
    }

    /// Finds the accelerations of particles of fluid by the pressures that are looked at, and keeps the two together.
    fn lean(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let FluidFields { kind, position, copy, .. } = &self.fields;
        let (kind, position, copy) = (&kind[..], &position[..], &copy[..]);
        let Projector { moving, solving, .. } = &mut self.projector;
        let solving = &solving[..];
        let data = (numbers(moving, RECORD),);
        simulation.device.run(parts(n), data, |part, (moving,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                let sum = lean_of::<f64, f64>(
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

    /// One iteration for the pressures; returns what was left.
    fn correct(&mut self, simulation: &Simulation, carry: f64) -> Left {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, stepping) = (&self.pairs, &self.stepping);
        let FluidFields { kind, position, copy, .. } = &self.fields;
        let (kind, position, copy) = (&kind[..], &position[..], &copy[..]);
        let Projector { moving, solving, left, .. } = &mut self.projector;
        let moving = &moving[..];
        let data = (numbers(solving, RECORD), one_each(left));
        simulation
            .device
            .run(parts(n), data, |part, (solving, left): (Numbers, Strided<Left>)| {
                let (first, end) = part_range(part, n);
                let mut all = Left::default();
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let swelling = swelling_of::<f64, f64>(
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
                    let next = dfsph::corrected::<f64>(own[0], own[1], own[2], own[3], swelling, stepping.dt, carry);
                    (own[0], own[1]) = (next.ahead, next.pressure);
                    all.book(next.error, next.turn);
                }
                left.items[0] = all;
            });
        left.iter().fold(Left::default(), |all, part| all.plus(part))
    }

    /// Lets the pressures push fluid and walls whose error was found last, and books what forces took.
    fn push(&mut self, simulation: &Simulation, constraint: Constraint) {
        let n = self.fields.len();
        let (smoother, plan, corrects) = (self.smoother(), self.compiled_for, constraint.corrects());
        let (pairs, media, stepping) = (&self.pairs, &self.media[..], &self.stepping);
        let moving = &self.projector.moving[..];
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            half_velocity,
            rate,
            multipliers,
            copy,
            ..
        } = &mut self.fields;
        let (kind, position, motion, copy) = (&kind[..], &position[..], &motion[..], &copy[..]);
        let data = (
            numbers(flow, RECORD),
            numbers(half_velocity, 3),
            numbers(rate, RECORD),
            numbers(multipliers, 2),
            one_each(&mut self.tallies),
        );
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, FlowTally>);
        simulation
            .device
            .run(parts(n), data, |part, (flow, half, rate, multipliers, tally): Data| {
                let (first, end) = part_range(part, n);
                let mut took = FlowTally::default();
                for i in first..end {
                    let sum = lean_of::<f64, f64>(
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
                    let felt: Vector3<f64> = recall(rate.items, at);
                    // Viscosities have been at work before densities are corrected, and only then.
                    let drag = if corrects { felt } else { Vector3::zero() };
                    if is_own_fluid(kind, copy, i) {
                        let mass = mass_at(media, kind[i] as usize);
                        let (before, kept) = (recall(flow.items, at), recall(half.items, 3 * slot));
                        let now = pushed::<f64, f64>(&sum, &drag, &before, &kept, volume, mass, stepping.dt);
                        store(half.items, 3 * slot, &now.kept);
                        store(flow.items, at, &now.velocity);
                        store(rate.items, at, &felt.plus(&now.force));
                        let own = &mut multipliers.items[2 * slot..][..2];
                        own[usize::from(!corrects)] = moving[i * RECORD + 3];
                        flow.items[at + 3] = if corrects { own[0] } else { own[0] + own[1] };
                        took.viscous += now.viscous;
                        took.diffusive += now.projected;
                    } else if kind[i] & WALL != 0 {
                        let force = sum.times(volume);
                        store(rate.items, at, &felt.plus(&force));
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
                tally.items[0] = took;
            });
        self.work = self.work.plus(&self.powers());
    }

    /// Moves particles of fluid with their velocities.
    pub fn drift(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let stepping = &self.stepping;
        let FluidFields {
            kind,
            position,
            half_velocity,
            reference,
            copy,
            ..
        } = &mut self.fields;
        let (kind, half_velocity, reference, copy) = (&kind[..], &half_velocity[..], &reference[..], &copy[..]);
        let data = (numbers(position, RECORD), one_each(&mut self.moves));
        simulation
            .device
            .run(parts(n), data, |part, (position, moves): (Numbers, Strided<Moved<f64>>)| {
                let (first, end) = part_range(part, n);
                let mut all = STILL;
                for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                    let at = (i - first) * RECORD;
                    let now = flowed::<f64, f64>(
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
