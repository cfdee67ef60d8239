//! Müller's fluid on the CPU: the passes of a step, the walls that hold it, and what springs between it and bodies store.

use super::Flow;
use crate::fields::{FluidFields, Numbers, numbers, one_each, part_range, parts};
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::walls::Walls;
use crate::world::{Fluid, Fluids, Solver, WallShape};
use seixo_device::{Cpu, Strided};
use seixo_laws::Vector3;
use seixo_laws::fluid::muller::Functions;
use seixo_laws::wall::beside_frustum;
use seixo_sweeps::fluid::{self, kicked, mass_at};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::motion::{Moved, STILL};
use seixo_sweeps::muller::{HABITS, HOLD, dense_of, density_of, draw_on, drawn, force_on, settled};
use seixo_sweeps::views::{ELEMENT, FRUSTUM, PLANE, RECORD, SPHERE, WALL, load, recall, store};

/// What Müller's solver has beside all others.
pub(crate) struct Muller {
    pub functions: Functions<f64>,
    /// Rows of [`HABITS`] numbers, one per fluid.
    pub habits: Vec<f64>,
    /// Records of the elements that hold fluid now, see [`HOLD`].
    pub container: Vec<f64>,
    /// Volumes, pressures and excesses of densities, see [`seixo_sweeps::muller`].
    dense: Vec<f64>,
    /// Velocities after forces, x y z and padding \[m/s\].
    driven: Vec<f64>,
}

impl Muller {
    /// What these fluids ask for; `None` if they do not move like this.
    pub fn of(fluids: &Fluids, walls: &Walls) -> Result<Option<Muller>, Refusal> {
        if fluids.solver != Solver::Muller2003 {
            return Ok(None);
        }
        if fluids.inside.len() != walls.given.len() {
            return Err(Refusal::Fluid(format!(
                "of {} walls {} say whether fluids are inside of them; solver = \"muller2003\" asks for all",
                walls.given.len(),
                fluids.inside.len()
            )));
        }
        if let Some(mesh) = walls.given.iter().find(|wall| matches!(wall.shape, WallShape::Mesh(_))) {
            return Err(Refusal::Fluid(format!(
                "wall {:?} is a mesh, which has no implicit surface to put fluid back onto; with solver = \"muller2003\" use planes, boxes, round \
                 walls without segments and spheres, or take solver = \"wcsph\"",
                mesh.name
            )));
        }
        Ok(Some(Muller {
            functions: Functions::new(fluids.support),
            habits: fluids.kinds.iter().flat_map(|fluid| habit(fluids, fluid)).collect(),
            container: Vec::new(),
            dense: Vec::new(),
            driven: Vec::new(),
        }))
    }

    /// Whether any fluid has XSPH.
    pub fn smooths(&self) -> bool {
        self.habits.chunks_exact(HABITS).any(|habit| habit[0] > 0.0)
    }

    /// Bytes that the arrays hold.
    pub fn bytes(&self) -> u64 {
        ((self.container.capacity() + self.dense.capacity() + self.driven.capacity()) * 8) as u64
    }

    /// Takes what fields tell of densities, and makes room.
    fn take_over(&mut self, fields: &FluidFields) {
        self.dense.clear();
        for ((place, flow), excess) in fields
            .position
            .chunks_exact(RECORD)
            .zip(fields.flow.chunks_exact(RECORD))
            .zip(&fields.excess)
        {
            self.dense.extend([place[3], flow[3], *excess, 0.0]);
        }
        self.driven.resize(fields.len() * RECORD, 0.0);
    }
}

/// Whether a particle of this kind is one of fluid, and no sphere of a body.
fn is_fluid(kind: u32) -> bool {
    kind & fluid::WALL == 0
}

/// The row of a fluid's habits.
fn habit(fluids: &Fluids, fluid: &Fluid) -> [f64; HABITS] {
    let [stiffness, damping] = fluids.spring(fluid);
    [fluid.xsph, fluid.restitution, stiffness, damping]
}

/// Appends what walls that are there hold fluid by, see [`HOLD`]; they and their elements have these records.
fn hold(walls: &Walls, inside: &[bool], records: &[f64], elements: &[f64], container: &mut Vec<f64>) {
    let there = walls.all_there().iter().enumerate().filter(|(_, is_there)| **is_there);
    for (wall, _) in there {
        for element in walls.elements_of_wall(wall) {
            let at = element * ELEMENT;
            // A wall moves as a whole: where it began, its fluid was on the same side.
            let sign = side_of_fluid(&walls.start[at..][..ELEMENT], &load(&walls.middle[wall], 0), inside[wall]);
            container.extend(&elements[at..][..10]);
            container.extend([sign, wall as f64]);
            container.extend(&records[wall * WALL..][..9]);
            container.extend([0.0; 3]);
        }
    }
    debug_assert!(container.len().is_multiple_of(HOLD));
}

/// The sign of distances from an element on the side of the fluid, which is inside of its wall or not; `middle` is that of the wall, and inside of it.
fn side_of_fluid(element: &[f64], middle: &Vector3<f64>, is_inside: bool) -> f64 {
    let kind = element[9];
    if kind == f64::from(PLANE) {
        return 1.0;
    }
    let is_middle_behind = if kind == f64::from(FRUSTUM) {
        beside_frustum::<f64>(middle, &load(element, 0), &load(element, 3), &load(element, 6)).distance < 0.0
    } else {
        debug_assert_eq!(kind, f64::from(SPHERE));
        true
    };
    if is_middle_behind == is_inside { -1.0 } else { 1.0 }
}

impl Flow {
    /// Takes what fields tell of densities where they have a new order, or come from elsewhere.
    pub fn take_over_densities(&mut self) {
        if let Some(muller) = &mut self.muller {
            muller.take_over(&self.fields);
        }
    }

    /// Finds where walls hold fluid now, if they do without particles.
    pub fn hold_in_container(&mut self, simulation: &Simulation) {
        if let Some(muller) = &mut self.muller {
            let walls = &simulation.walls;
            muller.container.clear();
            hold(walls, &self.plan.inside, &walls.records, &walls.elements, &mut muller.container);
        }
    }

    /// What walls hold fluid by at some steps, one behind the other.
    pub fn containers(&self, simulation: &Simulation, steps: impl Iterator<Item = u64>) -> Vec<f64> {
        let walls = &simulation.walls;
        let (mut records, mut elements) = (walls.records.clone(), walls.elements.clone());
        let (mut poses, mut containers) = (Vec::new(), Vec::new());
        for step in steps {
            let time = step as f64 * simulation.stepping.dt;
            poses.clear();
            poses.extend(walls.poses(time, time));
            walls.put(&poses, false, &mut records, &mut elements);
            hold(walls, &self.plan.inside, &records, &elements, &mut containers);
        }
        containers
    }

    /// Lets forces act on velocities, and neighbors draw them to theirs.
    fn smooth_velocities(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let smooths = muller.smooths();
        let (functions, habits, dense) = (muller.functions, &muller.habits[..], &muller.dense[..]);
        let (media, stepping, plan) = (&self.media[..], &self.stepping, self.compiled_for);
        let FluidFields {
            kind,
            position,
            half_velocity,
            rate,
            ..
        } = &mut self.fields;
        let (kind, position, rate) = (&kind[..], &position[..], &rate[..]);
        let mass = |i: usize| mass_at(media, kind[i] as usize);
        type Data<'a> = (Numbers<'a>, Numbers<'a>);
        let data = (numbers(&mut muller.driven, RECORD), numbers(half_velocity, 3));
        simulation.device.run(parts(n), data, |part, (driven, velocity): Data| {
            let (first, end) = part_range(part, n);
            for slot in (0..end - first).filter(|slot| is_fluid(kind[first + slot])) {
                let i = first + slot;
                let after = kicked::<f64, f64>(&recall(velocity.items, 3 * slot), &load(rate, i * RECORD), mass(i), stepping);
                store(driven.items, slot * RECORD, &after);
            }
        });
        let driven = &muller.driven[..];
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let data = (numbers(half_velocity, 3), one_each(&mut self.tallies));
        simulation
            .device
            .run(parts(n), data, |part, (velocity, tally): (Numbers, Strided<FlowTally>)| {
                let (first, end) = part_range(part, n);
                let mut viscous = 0.0;
                for slot in (0..end - first).filter(|slot| is_fluid(kind[first + slot])) {
                    let i = first + slot;
                    let mut all = Vector3::zero();
                    if smooths {
                        let count = row[i + 1] - row[i];
                        all = draw_on::<f64, f64>(
                            i,
                            row[i] as usize,
                            count,
                            neighbors,
                            position,
                            driven,
                            dense,
                            &functions,
                            &stepping.sides,
                            1,
                            plan,
                        );
                    }
                    let xsph = habits[kind[i] as usize * HABITS];
                    let now = drawn::<f64, f64>(&load(driven, i * RECORD), &all, xsph, mass(i));
                    store(velocity.items, 3 * slot, &now.velocity);
                    viscous += now.taken + rate[i * RECORD + 3] * stepping.dt;
                }
                tally.items[0] = FlowTally {
                    viscous,
                    ..FlowTally::default()
                };
            });
    }

    /// Moves all particles by the velocities that they had before, within their container.
    fn move_in_container(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        if simulation.walls.has_moving() {
            self.hold_in_container(simulation);
        }
        let Some(muller) = &self.muller else { return };
        let (habits, container) = (&muller.habits[..], &muller.container[..]);
        let elements = (container.len() / HOLD) as u32;
        let (media, stepping) = (&self.media[..], &self.stepping);
        let FluidFields {
            kind,
            position,
            flow,
            half_velocity,
            reference,
            ..
        } = &mut self.fields;
        let (kind, reference) = (&kind[..], &reference[..]);
        type Data<'a> = (
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Strided<'a, Moved<f64>>,
            Strided<'a, FlowTally>,
        );
        let data = (
            numbers(position, RECORD),
            numbers(flow, RECORD),
            numbers(half_velocity, 3),
            one_each(&mut self.moves),
            one_each(&mut self.tallies),
        );
        simulation
            .device
            .run(parts(n), data, |part, (position, flow, velocity, moves, tally): Data| {
                let (first, end) = part_range(part, n);
                let mut all = STILL;
                for slot in (0..end - first).filter(|slot| is_fluid(kind[first + slot])) {
                    let (i, at) = (first + slot, slot * RECORD);
                    let fluid = kind[i] as usize;
                    let now = settled::<f64, f64>(
                        &recall(position.items, at),
                        &recall(flow.items, at),
                        &recall(velocity.items, 3 * slot),
                        &load(reference, i * RECORD),
                        mass_at(media, fluid),
                        habits[fluid * HABITS + 1],
                        container,
                        elements,
                        stepping,
                    );
                    store(position.items, at, &now.position);
                    store(flow.items, at, &now.velocity);
                    store(velocity.items, 3 * slot, &now.velocity);
                    tally.items[0].wall += now.given;
                    all.flags |= now.flags;
                }
                moves.items[0] = all;
            });
    }

    /// Sums densities up, which tell volumes and pressures.
    fn sum_densities(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let Muller {
            functions, habits, dense, ..
        } = muller;
        let (functions, habits) = (*functions, &habits[..]);
        let (media, sides, plan) = (&self.media[..], &self.stepping.sides, self.compiled_for);
        let FluidFields {
            kind,
            position,
            flow,
            excess,
            ..
        } = &mut self.fields;
        let kind = &kind[..];
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let (device, places) = (&simulation.device, &position[..]);
        device.run(parts(n), (numbers(dense, RECORD),), |part, (dense,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for (slot, i) in (first..end).enumerate() {
                if !is_fluid(kind[i]) {
                    dense.items[slot * RECORD..][..3].copy_from_slice(&[places[i * RECORD + 3], 0.0, 0.0]);
                    continue;
                }
                let (from, count) = (row[i] as usize, row[i + 1] - row[i]);
                let summed = density_of::<f64, f64>(i, from, count, neighbors, places, kind, media, habits, &functions, sides, 1, plan);
                let found = dense_of::<f64>(i, summed.density, kind, media, plan);
                dense.items[slot * RECORD..][..3].copy_from_slice(&[found.volume, found.pressure, found.excess]);
            }
        });
        let dense = &dense[..];
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>);
        let data = (numbers(position, RECORD), numbers(flow, RECORD), numbers(excess, 1));
        device.run(parts(n), data, |part, (position, flow, excess): Data| {
            let (first, end) = part_range(part, n);
            for (slot, found) in dense[first * RECORD..end * RECORD].chunks_exact(RECORD).enumerate() {
                position.items[slot * RECORD + 3] = found[0];
                flow.items[slot * RECORD + 3] = found[1];
                excess.items[slot] = found[2];
            }
        });
    }

    /// Finds what drives all particles now.
    fn drive(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let (functions, habits, dense) = (muller.functions, &muller.habits[..], &muller.dense[..]);
        let (media, sides, plan) = (&self.media[..], &self.stepping.sides, self.compiled_for);
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            rate,
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion) = (&kind[..], &position[..], &flow[..], &motion[..]);
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        simulation
            .device
            .run(parts(n), (numbers(rate, RECORD),), |part, (rate,): (Numbers,)| {
                let (first, end) = part_range(part, n);
                for (slot, i) in (first..end).enumerate() {
                    let (from, count) = (row[i] as usize, row[i + 1] - row[i]);
                    let found = force_on::<f64, f64>(
                        i, from, count, neighbors, position, flow, motion, dense, kind, media, habits, &functions, sides, 1, plan,
                    );
                    store(rate.items, slot * RECORD, &found.force);
                    rate.items[slot * RECORD + 3] = found.viscous_power;
                }
            });
    }

    /// What springs between fluids and bodies store \[J\], or what a GPU last found them to.
    pub fn spring_energy(&self, device: &Cpu) -> f64 {
        let felt = self.muller.as_ref().filter(|_| self.remote.is_none() && self.compiled_for.bounded);
        let Some(muller) = felt else { return self.springs };
        let n = self.fields.len();
        let FluidFields { kind, position, .. } = &self.fields;
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let mut shares = vec![0.0; parts(n)];
        device.run(parts(n), (one_each(&mut shares),), |part, (share,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_fluid(kind[i])) {
                let summed = density_of::<f64, f64>(
                    i,
                    row[i] as usize,
                    row[i + 1] - row[i],
                    neighbors,
                    position,
                    kind,
                    &self.media,
                    &muller.habits,
                    &muller.functions,
                    &self.stepping.sides,
                    1,
                    self.compiled_for,
                );
                share.items[0] += summed.elastic;
            }
        });
        shares.iter().sum()
    }

    /// Finds densities and forces of the start.
    pub fn begin_as_muller(&mut self, simulation: &Simulation) {
        self.sum_densities(simulation);
        self.drive(simulation);
    }

    /// Books what viscosity, neighbors and walls took and gave in this step.
    fn book_step(&mut self) {
        self.work = self.work.plus(&self.powers());
    }
}

/// The passes of `step.rs`.
impl Simulation {
    pub(crate) fn smooth_velocities(&mut self) {
        self.with_flow(|flow, simulation| flow.smooth_velocities(simulation));
    }

    pub(crate) fn move_in_container(&mut self) {
        self.with_flow(|flow, simulation| flow.move_in_container(simulation));
    }

    pub(crate) fn sum_densities(&mut self) {
        self.with_flow(|flow, simulation| flow.sum_densities(simulation));
    }

    pub(crate) fn drive_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.drive(simulation));
    }

    pub(crate) fn book_step_of_fluids(&mut self) {
        self.with_flow(|flow, _| flow.book_step());
    }
}
