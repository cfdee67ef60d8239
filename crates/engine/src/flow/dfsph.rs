//! Incompressible fluids: the passes of their step.

use super::Flow;
use super::projector::{Constraint, Projector, iterate};
use crate::fields::{FluidFields, PART, part_range, parts};
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::fluid::dfsph;
use seixo_laws::motion::{drift, kick};
use seixo_sweeps::dfsph::{crowd_of, drag_of, lean_of, pushed, swelling_of};
use seixo_sweeps::fluid::{MEDIUM, WALL};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::motion::{Moved, STILL, flags_of};
use seixo_sweeps::views::{RECORD, load, recall, store};
use std::convert::Infallible;

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
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion) = (&kind[..], &position[..], &flow[..], &motion[..]);
        let data = (
            Strided {
                items: &mut rate[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut half_velocity[..],
                per_part: PART * 3,
            },
            Strided {
                items: &mut self.projector.moving[..],
                per_part: PART * RECORD,
            },
        );
        simulation.device.run(
            parts(n),
            data,
            |part, (rate, half, moving): (Strided<f64>, Strided<f64>, Strided<f64>)| {
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
                    if kind[i] & WALL == 0 {
                        let mass = media[kind[i] as usize * MEDIUM + 6];
                        let acceleration = force.times(1.0 / mass).plus(&stepping.gravity);
                        let after = kick::<f64, f64>(&recall(half.items, 3 * slot), &acceleration, stepping.dt);
                        store(half.items, 3 * slot, &after);
                        store(moving.items, at, &after);
                    }
                }
            },
        );
    }

    /// Finds the pressures that keep what is asked for, and lets them push.
    pub fn project(&mut self, simulation: &Simulation, constraint: Constraint) {
        self.crowd(simulation, constraint);
        let (projection, count) = (self.plan.projection, self.count.max(1) as f64);
        let Ok(solved) = iterate(constraint, &projection, |carry| -> Result<[f64; 2], Infallible> {
            self.lean(simulation);
            let [error, turn] = self.correct(simulation, carry);
            Ok([error / count, turn])
        });
        self.projector.solves.book(constraint, &solved);
        self.push(simulation, constraint);
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
            ..
        } = &mut self.fields;
        let (kind, position, motion, multipliers) = (&kind[..], &position[..], &motion[..], &multipliers[..]);
        let Projector { moving, solving, .. } = &mut self.projector;
        let moving = if corrects { &moving[..] } else { &flow[..] };
        let data = (
            Strided {
                items: &mut excess[..],
                per_part: PART,
            },
            Strided {
                items: &mut solving[..],
                per_part: PART * RECORD,
            },
        );
        simulation
            .device
            .run(parts(n), data, |part, (excess, solving): (Strided<f64>, Strided<f64>)| {
                let (first, end) = part_range(part, n);
                for i in (first..end).filter(|&i| kind[i] & WALL == 0) {
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
        let (kind, position) = (&self.fields.kind[..], &self.fields.position[..]);
        let Projector { moving, solving, .. } = &mut self.projector;
        let solving = &solving[..];
        let data = (Strided {
            items: &mut moving[..],
            per_part: PART * RECORD,
        },);
        simulation.device.run(parts(n), data, |part, (moving,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| kind[i] & WALL == 0) {
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
                let (volume, mass) = (position[i * RECORD + 3], media[kind[i] as usize * MEDIUM + 6]);
                store(moving.items, (i - first) * RECORD, &sum.times(-(volume / mass)));
                moving.items[(i - first) * RECORD + 3] = solving[i * RECORD];
            }
        });
    }

    /// One iteration for the pressures; returns the excess of density that was left, summed over particles, and how far the last two changes go the
    /// same way.
    fn correct(&mut self, simulation: &Simulation, carry: f64) -> [f64; 2] {
        let n = self.fields.len();
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (pairs, stepping) = (&self.pairs, &self.stepping);
        let (kind, position) = (&self.fields.kind[..], &self.fields.position[..]);
        let Projector { moving, solving, left, .. } = &mut self.projector;
        let moving = &moving[..];
        let data = (
            Strided {
                items: &mut solving[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut left[..],
                per_part: 1,
            },
        );
        simulation
            .device
            .run(parts(n), data, |part, (solving, left): (Strided<f64>, Strided<[f64; 2]>)| {
                let (first, end) = part_range(part, n);
                let mut sums = [0.0; 2];
                for i in (first..end).filter(|&i| kind[i] & WALL == 0) {
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
                    sums = [sums[0] + next.error, sums[1] + next.turn];
                }
                left.items[0] = sums;
            });
        let all = left.iter();
        all.fold([0.0; 2], |[error, turn], part| [error + part[0], turn + part[1]])
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
            ..
        } = &mut self.fields;
        let (kind, position, motion) = (&kind[..], &position[..], &motion[..]);
        let data = (
            Strided {
                items: &mut flow[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut half_velocity[..],
                per_part: PART * 3,
            },
            Strided {
                items: &mut rate[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut multipliers[..],
                per_part: PART * 2,
            },
            Strided {
                items: &mut self.tallies[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, FlowTally>,
        );
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
                    if kind[i] & WALL == 0 {
                        let mass = media[kind[i] as usize * MEDIUM + 6];
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
                    } else {
                        let force = sum.times(volume);
                        store(rate.items, at, &felt.plus(&force));
                        if plan.moving {
                            let way = load::<f64>(motion, i * RECORD).times(stepping.dt);
                            let (viscous, projected) = (-drag.dot(&way), -force.dot(&way));
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
            ..
        } = &mut self.fields;
        let (kind, half_velocity, reference) = (&kind[..], &half_velocity[..], &reference[..]);
        let data = (
            Strided {
                items: &mut position[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut self.moves[..],
                per_part: 1,
            },
        );
        simulation
            .device
            .run(parts(n), data, |part, (position, moves): (Strided<f64>, Strided<Moved<f64>>)| {
                let (first, end) = part_range(part, n);
                let mut all = STILL;
                for i in (first..end).filter(|&i| kind[i] & WALL == 0) {
                    let at = (i - first) * RECORD;
                    let velocity = load::<f64>(half_velocity, 3 * i);
                    let place = drift::<f64>(&recall(position.items, at), &velocity, stepping.dt);
                    let stride = velocity.times(stepping.dt);
                    let far = place.minus(&load(reference, i * RECORD));
                    store(position.items, at, &place);
                    all.flags |= flags_of::<f64, f64>(&place, stride.dot(&stride), far.dot(&far), stepping);
                }
                moves.items[0] = all;
            });
    }
}
