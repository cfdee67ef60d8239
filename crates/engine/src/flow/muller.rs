//! Müller's fluid on the CPU: the passes of a step, the walls that contain it, and the energy of springs between it and bodies.

use super::Flow;
use super::halo::{is_marked, is_own_fluid};
use crate::fields::{FluidFields, Numbers, numbers, one_each, part_range, parts};
use crate::refusal::WorldError;
use crate::surroundings::Surroundings;
use crate::walls::Walls;
use crate::world::{Fluid, Fluids, Solver, Wall, WallShape};
use seixo_device::{Cpu, Strided};
use seixo_laws::Vector3;
use seixo_laws::fluid::muller::Functions;
use seixo_laws::wall::beside_frustum;
use seixo_sweeps::fluid::{self, kicked, mass_at};
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::{ELEMENT, FRUSTUM, PLANE, RECORD, SPHERE, WALL, load, recall, store};
use seixo_sweeps::motion::{AT_REST, MotionReport};
use seixo_sweeps::muller::{CONTAINER_ELEMENT, MULLER_PARAMETERS, contain, dense_of, density_of, draw_on, drawn, force_on};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Additional data of Müller's solver.
pub(crate) struct Muller {
    pub functions: Functions<f64>,
    /// Rows of [`MULLER_PARAMETERS`] numbers, one per fluid.
    pub fluid_parameters: Vec<f64>,
    /// Records of the elements that contain fluid now, see [`CONTAINER_ELEMENT`].
    pub container: Vec<f64>,
    /// Signed distances of meshes, on the grids of these elements \[m\]; empty without meshes.
    pub samples: Arc<Vec<f64>>,
    /// Volumes, pressures and density errors, see [`seixo_sweeps::muller`].
    pub dense: Vec<f64>,
    /// Velocities after forces, x y z and padding \[m/s\].
    pub driven: Vec<f64>,
}

impl Muller {
    /// Data for these fluids; `None` if they use another solver.
    pub fn of(fluids: &Fluids, walls: &Walls) -> Result<Option<Muller>, WorldError> {
        if fluids.solver != Solver::Muller2003 {
            return Ok(None);
        }
        if fluids.inside.len() != walls.given.len() {
            return Err(WorldError::Fluid(format!(
                "of {} walls {} say whether fluids are inside of them; solver = \"muller2003\" asks for all",
                walls.given.len(),
                fluids.inside.len()
            )));
        }
        check_meshes(fluids, walls)?;
        Ok(Some(Muller {
            functions: Functions::new(fluids.support),
            fluid_parameters: fluids.kinds.iter().flat_map(|fluid| parameters_of_fluid(fluids, fluid)).collect(),
            container: Vec::new(),
            samples: fluids.signed_distances.samples().clone(),
            dense: Vec::new(),
            driven: Vec::new(),
        }))
    }

    /// Whether any fluid has XSPH.
    pub fn smooths(&self) -> bool {
        self.fluid_parameters
            .chunks_exact(MULLER_PARAMETERS)
            .any(|parameters_of_fluid| parameters_of_fluid[0] > 0.0)
    }

    /// Whether any wall that contains fluid is a mesh.
    pub fn has_meshes(&self) -> bool {
        !self.samples.is_empty()
    }

    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        ((self.container.capacity() + self.samples.capacity() + self.dense.capacity() + self.driven.capacity()) * 8) as u64
    }

    /// Imports densities from fields, and allocates arrays.
    fn take_over(&mut self, fields: &FluidFields) {
        self.dense.clear();
        for ((place, flow), excess) in fields
            .position
            .chunks_exact(RECORD)
            .zip(fields.velocity_pressure.chunks_exact(RECORD))
            .zip(&fields.density_error)
        {
            self.dense.extend([place[3], flow[3], *excess, 0.0]);
        }
        self.driven.resize(fields.len() * RECORD, 0.0);
    }
}

/// Whether a particle of this kind is a fluid particle, and no sphere of a body.
fn is_fluid(kind: u32) -> bool {
    kind & fluid::WALL == 0
}

/// The row of parameters of a fluid.
fn parameters_of_fluid(fluids: &Fluids, fluid: &Fluid) -> [f64; MULLER_PARAMETERS] {
    let [stiffness, damping] = fluids.spring(fluid);
    [fluid.xsph, fluid.restitution, stiffness, damping]
}

/// Refuses meshes without signed distances, and signed distances of walls that are no meshes.
fn check_meshes(fluids: &Fluids, walls: &Walls) -> Result<(), WorldError> {
    let sampled: BTreeSet<usize> = fluids.signed_distances.walls().map(|wall| wall as usize).collect();
    let is_mesh = |wall: &usize| {
        matches!(
            walls.given.get(*wall),
            Some(Wall {
                shape: WallShape::Mesh(_),
                ..
            })
        )
    };
    if let Some(other) = sampled.iter().find(|wall| !is_mesh(wall)) {
        return Err(WorldError::Fluid(format!(
            "signed distances are given for wall number {other}, which is not one of the meshes among {} walls; give them for meshes alone",
            walls.given.len()
        )));
    }
    let bare = (0..walls.given.len()).find(|wall| is_mesh(wall) && !sampled.contains(wall));
    bare.map_or(Ok(()), |wall| {
        Err(WorldError::Fluid(format!(
            "wall {:?} is a mesh without signed distances, by which solver = \"muller2003\" puts fluid back onto it; add them, or use planes, round \
             walls and spheres",
            walls.given[wall].name
        )))
    })
}

/// Appends the elements of present walls that contain these fluids, see [`CONTAINER_ELEMENT`]; walls and elements have these records.
fn hold(walls: &Walls, fluids: &Fluids, records: &[f64], elements: &[f64], container: &mut Vec<f64>) {
    let is_there = walls.all_there();
    let mut add = |geometry: &[f64], sign: f64, wall: usize, samples: [f64; 6]| {
        container.extend(geometry);
        container.extend([sign, wall as f64]);
        container.extend(&records[wall * WALL..][..9]);
        container.extend(samples);
        container.push(0.0);
    };
    let others = (0..walls.given.len()).filter(|&wall| is_there[wall] && !matches!(walls.given[wall].shape, WallShape::Mesh(_)));
    for wall in others {
        for element in walls.elements_of_wall(wall) {
            let at = element * ELEMENT;
            // A wall moves as a whole: at its start, its fluid was on the same side.
            let sign = side_of_fluid(&walls.start[at..][..ELEMENT], &load(&walls.middle[wall], 0), fluids.inside[wall]);
            add(&elements[at..][..10], sign, wall, [0.0; 6]);
        }
    }
    for grid in fluids.signed_distances.grids().iter().filter(|grid| is_there[grid.wall()]) {
        let first = walls.elements_of_wall(grid.wall()).start;
        let corner = |corner: usize| load(elements, (first + corner / 3) * ELEMENT + 3 * (corner % 3));
        add(&grid.placed(&grid.corners().map(corner)), 1.0, grid.wall(), grid.layout());
    }
    debug_assert!(container.len().is_multiple_of(CONTAINER_ELEMENT));
}

/// The sign of distances from an element on the side of the fluid, which is inside of its wall or not; `middle` is the center of the wall, and inside
/// of it.
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
    /// Imports densities from fields after these were reordered or replaced.
    pub fn import_densities(&mut self) {
        if let Some(muller) = &mut self.muller {
            muller.take_over(&self.fields);
        }
    }

    /// Computes the current elements of walls that contain fluid without particles.
    pub fn place_container(&mut self, surroundings: &Surroundings) {
        if let Some(muller) = &mut self.muller {
            let walls = &surroundings.walls;
            muller.container.clear();
            hold(walls, &self.plan, &walls.records, &walls.elements, &mut muller.container);
        }
    }

    /// The container elements of walls at some steps, one after the other.
    pub fn containers(&self, surroundings: &Surroundings, steps: impl Iterator<Item = u64>) -> Vec<f64> {
        let walls = &surroundings.walls;
        let (mut records, mut elements) = (walls.records.clone(), walls.elements.clone());
        let (mut poses, mut containers) = (Vec::new(), Vec::new());
        for step in steps {
            let time = step as f64 * surroundings.context.stepping.dt;
            poses.clear();
            poses.extend(walls.poses(time, time));
            walls.put(&poses, false, &mut records, &mut elements);
            hold(walls, &self.plan, &records, &elements, &mut containers);
        }
        containers
    }

    /// Applies forces to velocities.
    pub(crate) fn drive_velocities(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let (media, stepping) = (&self.media[..], &self.stepping);
        let FluidFields {
            kind,
            ghost,
            half_velocity,
            force_density_rate: rate,
            ..
        } = &self.fields;
        surroundings
            .context
            .device
            .run(parts(n), (numbers(&mut muller.driven, RECORD),), |part, (driven,): (Numbers,)| {
                let (first, end) = part_range(part, n);
                for i in (first..end).filter(|&i| is_own_fluid(kind, ghost, i)) {
                    let mass = mass_at(media, kind[i] as usize);
                    let after = kicked::<f64, f64>(&load(half_velocity, 3 * i), &load(rate, i * RECORD), mass, stepping);
                    store(driven.items, (i - first) * RECORD, &after);
                }
            });
    }

    /// Takes the velocities after forces, with XSPH smoothing.
    pub(crate) fn xsph_velocities(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let smooths = muller.smooths();
        let (functions, fluid_parameters, dense) = (muller.functions, &muller.fluid_parameters[..], &muller.dense[..]);
        let (media, stepping, plan) = (&self.media[..], &self.stepping, self.compiled_for);
        let FluidFields {
            kind,
            ghost,
            position,
            half_velocity,
            force_density_rate: rate,
            ..
        } = &mut self.fields;
        let (kind, ghost, position, rate) = (&kind[..], &ghost[..], &position[..], &rate[..]);
        let mass = |i: usize| mass_at(media, kind[i] as usize);
        let driven = &muller.driven[..];
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let data = (numbers(half_velocity, 3), one_each(&mut self.contact_power_sums));
        surroundings.context.device.run(
            parts(n),
            data,
            |part, (velocity, power_sums): (Numbers, Strided<FluidPowerSums>)| {
                let (first, end) = part_range(part, n);
                let mut viscous = 0.0;
                for slot in (0..end - first).filter(|slot| is_own_fluid(kind, ghost, first + slot)) {
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
                    let xsph = fluid_parameters[kind[i] as usize * MULLER_PARAMETERS];
                    let now = drawn::<f64, f64>(&load(driven, i * RECORD), &all, xsph, mass(i));
                    store(velocity.items, 3 * slot, &now.velocity);
                    viscous += now.taken + rate[i * RECORD + 3] * stepping.dt;
                }
                power_sums.items[0] = FluidPowerSums {
                    viscous,
                    ..FluidPowerSums::default()
                };
            },
        );
    }

    /// Moves all particles by their previous velocities, within their container.
    pub(crate) fn move_in_container(&mut self, surroundings: &Surroundings) {
        self.steps_since_listed += 1;
        let n = self.fields.len();
        if surroundings.walls.has_moving() {
            self.place_container(surroundings);
        }
        let Some(muller) = &self.muller else { return };
        let (fluid_parameters, container) = (&muller.fluid_parameters[..], &muller.container[..]);
        let (samples, meshes) = (&muller.samples[..], muller.has_meshes());
        let elements = (container.len() / CONTAINER_ELEMENT) as u32;
        let (media, stepping) = (&self.media[..], &self.stepping);
        let FluidFields {
            kind,
            ghost,
            position,
            velocity_pressure: flow,
            half_velocity,
            reference,
            ..
        } = &mut self.fields;
        let (kind, ghost, reference) = (&kind[..], &ghost[..], &reference[..]);
        type Data<'a> = (
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Strided<'a, MotionReport<f64>>,
            Strided<'a, FluidPowerSums>,
        );
        let data = (
            numbers(position, RECORD),
            numbers(flow, RECORD),
            numbers(half_velocity, 3),
            one_each(&mut self.moves),
            one_each(&mut self.contact_power_sums),
        );
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (position, flow, velocity, moves, power_sums): Data| {
                let (first, end) = part_range(part, n);
                let mut all = AT_REST;
                for slot in (0..end - first).filter(|slot| is_own_fluid(kind, ghost, first + slot)) {
                    let (i, at) = (first + slot, slot * RECORD);
                    let fluid = kind[i] as usize;
                    let now = contain::<f64, f64>(
                        &recall(position.items, at),
                        &recall(flow.items, at),
                        &recall(velocity.items, 3 * slot),
                        &load(reference, i * RECORD),
                        mass_at(media, fluid),
                        fluid_parameters[fluid * MULLER_PARAMETERS + 1],
                        container,
                        samples,
                        elements,
                        stepping,
                        meshes,
                    );
                    store(position.items, at, &now.position);
                    store(flow.items, at, &now.velocity);
                    store(velocity.items, 3 * slot, &now.velocity);
                    power_sums.items[0].wall += now.given;
                    all.flags |= now.flags;
                }
                moves.items[0] = all;
            });
    }

    /// Sums densities, which determine volumes and pressures. Those of ghosts come from their owners.
    pub(crate) fn sum_densities(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let Muller {
            functions,
            fluid_parameters,
            dense,
            ..
        } = muller;
        let (functions, fluid_parameters) = (*functions, &fluid_parameters[..]);
        let (media, sides, plan) = (&self.media[..], &self.stepping.sides, self.compiled_for);
        let FluidFields {
            kind,
            ghost,
            position,
            velocity_pressure: flow,
            density_error: excess,
            ..
        } = &mut self.fields;
        let (kind, ghost) = (&kind[..], &ghost[..]);
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let (device, places) = (&surroundings.context.device, &position[..]);
        device.run(parts(n), (numbers(dense, RECORD),), |part, (dense,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for (slot, i) in (first..end).enumerate() {
                if !is_fluid(kind[i]) {
                    dense.items[slot * RECORD..][..3].copy_from_slice(&[places[i * RECORD + 3], 0.0, 0.0]);
                    continue;
                }
                if is_marked(ghost, i) {
                    continue;
                }
                let (from, count) = (row[i] as usize, row[i + 1] - row[i]);
                let summed = density_of::<f64, f64>(
                    i,
                    from,
                    count,
                    neighbors,
                    places,
                    kind,
                    media,
                    fluid_parameters,
                    &functions,
                    sides,
                    1,
                    plan,
                );
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

    /// Computes the current forces on all particles.
    pub(crate) fn drive(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let Some(muller) = &mut self.muller else { return };
        let (functions, fluid_parameters, dense) = (muller.functions, &muller.fluid_parameters[..], &muller.dense[..]);
        let (media, sides, plan) = (&self.media[..], &self.stepping.sides, self.compiled_for);
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            force_density_rate: rate,
            ..
        } = &mut self.fields;
        let (kind, position, flow, motion) = (&kind[..], &position[..], &flow[..], &motion[..]);
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        surroundings
            .context
            .device
            .run(parts(n), (numbers(rate, RECORD),), |part, (rate,): (Numbers,)| {
                let (first, end) = part_range(part, n);
                for (slot, i) in (first..end).enumerate() {
                    let (from, count) = (row[i] as usize, row[i + 1] - row[i]);
                    let found = force_on::<f64, f64>(
                        i,
                        from,
                        count,
                        neighbors,
                        position,
                        flow,
                        motion,
                        dense,
                        kind,
                        media,
                        fluid_parameters,
                        &functions,
                        sides,
                        1,
                        plan,
                    );
                    store(rate.items, slot * RECORD, &found.force);
                    rate.items[slot * RECORD + 3] = found.viscous_power;
                }
            });
    }

    /// Energy of the springs between fluids and bodies \[J\], or the last value from a GPU.
    pub fn spring_energy(&self, device: &Cpu) -> f64 {
        let coupled = self.muller.as_ref().filter(|_| !self.is_on_gpu && self.compiled_for.bounded);
        let Some(muller) = coupled else { return self.springs };
        let n = self.fields.len();
        let FluidFields { kind, ghost, position, .. } = &self.fields;
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let mut shares = vec![0.0; parts(n)];
        device.run(parts(n), (one_each(&mut shares),), |part, (share,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_own_fluid(kind, ghost, i)) {
                let summed = density_of::<f64, f64>(
                    i,
                    row[i] as usize,
                    row[i + 1] - row[i],
                    neighbors,
                    position,
                    kind,
                    &self.media,
                    &muller.fluid_parameters,
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

    /// Computes densities and forces at the start.
    pub fn begin_as_muller(&mut self, surroundings: &Surroundings) {
        self.sum_densities(surroundings);
        self.drive(surroundings);
    }

    /// Adds the energies of viscosity, neighbors and walls in this step to the ledger.
    pub(crate) fn add_muller_step(&mut self) {
        self.work = self.work.plus(&self.powers());
    }
}
