//! Download of the state and the ledger of a simulation on a GPU.

use super::domain::StepPart;
use super::polyhedra::GpuShapes;
use super::{FinishedSteps, GpuBackend, GpuGrains, LaunchState, Number, PendingHistories, SharedWithFluids, raised, stepping};
use crate::measure::NO_CONTACT;
use crate::pending_grains::PendingSpheres;
use crate::populations::Populations;
use crate::preview::{ColorScalar, PendingPreview};
use crate::program::GrainLaunch;
use crate::search::ListCounts;
use crate::state::arrays::{ArraysError, ParticleArray};
use crate::state::{GrainColumns, Ledger};
use crate::world::{Vec3, vector};
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bonds::BondPowerSums;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::kernels::bonds::SOME_BROKE;
use seixo_sweeps::kernels::measure::{collect, energies, wall_energies};
use seixo_sweeps::kernels::polyhedra::CONTACT_THREADS;
use seixo_sweeps::kernels::polyhedra_walls::WALL_GRAINS;
use seixo_sweeps::kernels::wall_forces::WALL_THREADS;
use seixo_sweeps::kernels::{KINDS, THREADS};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::SHEARED;
use std::any::Any;

/// Number of grains from which on they are observed in place of a copy on its way, which would take gigabytes of page-locked memory.
const TOO_MANY_FOR_A_COPY: usize = 1 << 25;

/// Sum of all powers in the records of the blocks, and the powers of the last step, which had so many blocks.
fn powers<C: Number>(power: &[C], cubes: usize) -> ([f64; RECORD], [f64; RECORD]) {
    let (mut all, mut last) = ([0.0; RECORD], [0.0; RECORD]);
    for (cube, records) in power.chunks_exact(2 * RECORD).enumerate() {
        for k in 0..RECORD {
            all[k] += records[k].double();
            // Blocks beyond those of the last step hold old values.
            if cube < cubes {
                last[k] += records[RECORD + k].double();
            }
        }
    }
    (all, last)
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Computes the forces at the current positions.
    fn finalize_forces(&mut self, host: &Populations) -> Result<(), GpuError> {
        self.gpu.clear(&self.flags);
        self.send_poses(host, 1);
        self.send_loads(host, 1);
        self.place_walls(host);
        self.wall_forces(host, 0);
        self.shape_wall_forces(host, 0);
        self.bond_forces(host, 0, true);
        self.shape_pair_forces(host, 0);
        if self.contacts.is_some() {
            self.assemble_forces(host, 0)?;
        } else {
            self.forces_and_motion(host, 0, 0, (true, false, false), StepPart::Whole);
        }
        self.forces_known = true;
        self.collect();
        Ok(())
    }

    /// As [`GpuBackend::first_forces`].
    fn compute_first_forces(&mut self, host: &mut Populations) -> Result<u32, GpuError> {
        self.forces_known = false;
        self.finalize_forces(host)?;
        // These powers have done no work yet.
        self.gpu.clear(&self.power);
        self.gpu.clear(&self.wall_power);
        self.step_back(host)?;
        self.sum_energies(host, false);
        self.sum_energies_of_walls(host);
        let cubes = self.cubes();
        let mut copies = self.gpu.copies();
        let flags = copies.add(&self.flags, 0..KINDS);
        let energy = copies.add(&self.energy, 0..2 * RECORD * cubes);
        let wall_energy = copies.add(&self.wall_energy, 0..RECORD * cubes);
        let arrived = copies.wait()?;
        host.ledger.on_gpu = held(&arrived.take(energy), &arrived.take(wall_energy));
        Ok(raised(&arrived.take(flags)))
    }

    /// Moves the work of contacts since the last time from the GPU's ledger to the host's. The work of a step is that of the mean of the powers at
    /// its two ends. So the sum of all powers counts, except for half of the first and half of the last.
    fn add_powers(
        &self,
        host: &mut Populations,
        [power, wall_power, contact_power, outside_power, shape_power, shape_wall_power]: [&[C]; 6],
    ) {
        let of_grains = self.n.div_ceil(THREADS);
        let (mut grains, mut last_of_grains) = powers(power, of_grains);
        let near_walls = self.walls.as_ref().map_or(0, |near| near.near);
        let (mut walls, mut last_of_walls) = powers(wall_power, near_walls.div_ceil(WALL_THREADS));
        let (outside, last_outside) = powers(outside_power, of_grains);
        let room = self.contacts.as_ref().map_or(0, |contacts| contacts.room);
        let (contacts, last_of_contacts) = powers(contact_power, room.div_ceil(THREADS));
        let listed = self.shapes.as_ref().map_or(0, GpuShapes::listed);
        let (pairs, last_of_pairs) = powers(shape_power, listed.div_ceil(CONTACT_THREADS));
        for k in 0..3 {
            grains[k] += last_of_grains[k] + contacts[k] + pairs[k];
            last_of_grains[k] += last_of_contacts[k] + last_of_pairs[k];
        }
        let (at_walls, last_at_walls) = powers(shape_wall_power, near_walls.div_ceil(WALL_GRAINS));
        for k in 0..RECORD {
            walls[k] += at_walls[k];
            last_of_walls[k] += last_at_walls[k];
        }
        let power_sums = |grains: [f64; RECORD], walls: [f64; RECORD], outside: [f64; RECORD]| PowerSums {
            normal_power: grains[0] + walls[0],
            tangential_power: grains[1] + walls[1],
            damping_power: grains[2] + walls[2],
            wall_power: walls[3] + outside[3],
            ..NO_CONTACT
        };
        let (all, now) = (
            power_sums(grains, walls, outside),
            power_sums(last_of_grains, last_of_walls, last_outside),
        );
        let before = std::mem::replace(&mut host.ledger.last_power_sums, now);
        let (dt, half) = (host.context.stepping.dt, 0.5 * host.context.stepping.dt);
        let share = |of: fn(&PowerSums<f64>) -> f64| half * (of(&before) - of(&now)) + dt * of(&all);
        host.ledger.work.normal_damping += share(|power_sums| power_sums.normal_power);
        host.ledger.work.tangential += share(|power_sums| power_sums.tangential_power);
        host.ledger.work.tangential_damping += share(|power_sums| power_sums.damping_power);
        host.ledger.work.wall += share(|power_sums| power_sums.wall_power);
        if let Some(network) = &mut host.bonds {
            let now = BondPowerSums {
                damping_power: last_outside[0],
                energy: last_outside[1],
                ..BondPowerSums::default()
            };
            let before = std::mem::replace(&mut network.last, now);
            network.work.damping += half * (before.damping_power - now.damping_power) + dt * outside[0];
        }
        if self.kind.sides == SHEARED {
            host.ledger.work.wall += grains[3] + last_of_grains[3];
        } else {
            host.ledger.work.local_damping += grains[3];
        }
        self.gpu.clear(&self.power);
        self.gpu.clear(&self.wall_power);
        if let Some(contacts) = &self.contacts {
            self.gpu.clear(&contacts.power);
        }
        if let Some(holding) = &self.holding {
            self.gpu.clear(&holding.power);
        }
        if let Some(shapes) = &self.shapes {
            self.gpu.clear(&shapes.power);
            self.gpu.clear(&shapes.wall_power);
        }
    }

    /// Adds half of the present power of prescribed motion to the ledger in place of half of its power at the last observation. All steps in between
    /// were added as they were taken.
    fn add_prescribed_work(&self, host: &mut Populations) {
        let now = host.power_of_prescribed_motion();
        let before = std::mem::replace(&mut host.bodies.power_of_prescribed_motion, now);
        host.ledger.last_power_sums.wall_power += now;
        host.ledger.work.wall += 0.5 * host.context.stepping.dt * (now - before);
    }

    /// Adds the power sums of the grains to the ledger records of their blocks.
    pub(super) fn collect(&self) {
        let (count, dim) = units(self.n);
        collect::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.half_velocity.records(),
            self.half_spin.records(),
            self.spin[self.now].records(),
            self.power.records(),
            self.n as u32,
            self.kind.frictional,
        );
    }

    /// Sums kinetic, rotational and gravity energy, and the energy in springs between grains, for each block \[J\]. With `outside`, only grains outside
    /// the domain count, and no springs.
    fn sum_energies(&self, host: &Populations, outside: bool) {
        let (held, is_any_held) = self.moved_by_others();
        let mut parameters = host.context.stepping;
        if let Some([low, high]) = host.context.domain.map(|domain| domain.open_corners()) {
            (parameters.domain_min, parameters.domain_max) = (vector(low), vector(high));
        }
        let (count, dim) = units(self.n);
        energies::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.rows.history.argument(),
            self.material.argument(),
            held.argument(),
            self.table.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.force.records(),
            self.torque.records(),
            self.energy.records(),
            stepping::<C, R>(&parameters),
            self.n as u32,
            host.context.materials.count,
            self.kind.frictional,
            self.kind.numbers,
            self.kind.sides,
            outside,
            is_any_held,
        );
    }

    /// Computes the forces at the current positions, if they are not known, and brings the ledger of the host up to date, and with `all` grains and walls,
    /// too. Returns the flags that this raised.
    fn update_host(&mut self, host: &mut Populations, all: bool) -> Result<u32, GpuError> {
        let is_new = !self.forces_known;
        if is_new {
            self.finalize_forces(host)?;
        }
        self.sum_energies(host, false);
        self.add_energies_of_bins(host);
        self.sum_energies_of_walls(host);
        // All data are downloaded in one copy, so an observation costs one wait.
        let mut copies = self.gpu.copies();
        let cubes = self.cubes();
        let flags = copies.add(&self.flags, 0..KINDS);
        let [power, wall_power] = [&self.power, &self.wall_power].map(|buffer| copies.add(buffer, 0..buffer.len()));
        let contact_power = self.contacts.as_ref().map(|contacts| &contacts.power);
        let contact_power = contact_power.map(|buffer| copies.add(buffer, 0..buffer.len()));
        let energy = copies.add(&self.energy, 0..2 * RECORD * cubes);
        let wall_energy = copies.add(&self.wall_energy, 0..RECORD * cubes);
        let outside_power = self.holding.as_ref().map(|holding| &holding.power);
        let outside_power = outside_power.map(|buffer| copies.add(buffer, 0..buffer.len()));
        let shape_powers = self.shapes.as_ref().map(|shapes| [&shapes.power, &shapes.wall_power]);
        let shape_powers = shape_powers.map(|buffers| buffers.map(|buffer| copies.add(buffer, 0..buffer.len())));
        let fetched = all.then(|| self.ask_for_fields(&mut copies));
        let some_broke = copies.add(&self.flags, SOME_BROKE..SOME_BROKE + 1);
        let arrived = copies.wait()?;
        if is_new {
            let [contact_power, outside_power] =
                [contact_power, outside_power].map(|ticket| ticket.map_or(Vec::new(), |ticket| arrived.take(ticket)));
            let [shape_power, shape_wall_power] = match shape_powers {
                Some(tickets) => tickets.map(|ticket| arrived.take(ticket)),
                None => [Vec::new(), Vec::new()],
            };
            // Prescribed motion is added separately, below.
            host.ledger.last_power_sums.wall_power -= host.bodies.power_of_prescribed_motion;
            self.add_powers(
                host,
                [
                    &arrived.take(power),
                    &arrived.take(wall_power),
                    &contact_power,
                    &outside_power,
                    &shape_power,
                    &shape_wall_power,
                ],
            );
            if arrived.take(some_broke)[0] != 0 {
                self.fetch_breaks(host, host.context.steps)?;
            }
        }
        host.ledger.on_gpu = held(&arrived.take(energy), &arrived.take(wall_energy));
        host.ledger.on_gpu.elastic_bonds = host.energy_of_bonds();
        if let Some(fetched) = fetched {
            self.download_fields(host, &arrived, fetched)?;
            self.fetch_shapes(host, false)?;
        }
        self.add_energies_of_shapes(host);
        if is_new {
            self.add_prescribed_work(host);
        }
        for b in 0..host.bodies.len() {
            let [kinetic, rotational, gravity] = host.energies_of_body(b);
            host.ledger.on_gpu.kinetic += kinetic;
            host.ledger.on_gpu.rotational += rotational;
            host.ledger.on_gpu.gravity += gravity;
        }
        Ok(if is_new { raised(&arrived.take(flags)) } else { 0 })
    }

    /// Energy of the grains outside the domain \[J\].
    pub(super) fn energy_outside(&self, host: &Populations) -> Result<f64, GpuError> {
        self.sum_energies(host, true);
        let cubes = self.gpu.download_part(&self.energy, 0..2 * RECORD * self.cubes()).wait()?;
        let ledger = held(&cubes, &[]);
        Ok(ledger.kinetic + ledger.rotational + ledger.gravity)
    }

    /// As [`GpuGrains::sum_energies`], for the energy in wall contacts.
    fn sum_energies_of_walls(&self, host: &Populations) {
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) else {
            self.gpu.clear(&self.wall_energy);
            return;
        };
        let (marks, shaped) = self.marks_of_shapes();
        let (count, dim) = units(self.n);
        wall_energies::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            near.row.argument(),
            near.list.argument(),
            near.elements.argument(),
            near.records.argument(),
            near.history.argument(),
            near.wall_contacts.argument(),
            self.position[self.now].argument(),
            self.material.argument(),
            marks.argument(),
            self.table.argument(),
            self.wall_energy.records(),
            self.n as u32,
            host.context.materials.count,
            self.kind.frictional,
            self.kind.is_extended,
            shaped,
        );
    }
}

/// Energies from the sums of the blocks; the host has the rest of the ledger.
fn held<C: Number>(of_grains: &[C], of_walls: &[C]) -> Ledger {
    let mut ledger = Ledger::default();
    for records in of_grains.chunks_exact(2 * RECORD) {
        ledger.kinetic += records[0].double();
        ledger.rotational += records[1].double();
        ledger.gravity += records[2].double();
        ledger.elastic_normal += records[3].double();
        ledger.elastic_tangential += records[RECORD].double();
    }
    for record in of_walls.chunks_exact(RECORD) {
        ledger.elastic_normal += record[0].double();
        ledger.elastic_tangential += record[1].double();
    }
    ledger
}

impl<C: Number + Coordinate<R>, R: Number> GpuBackend for GpuGrains<C, R> {
    fn batch(&self, host: &Populations, most: u64) -> u64 {
        self.steps_at_once(host, most)
    }

    fn open(&mut self, host: &Populations, batch: u64) {
        self.set_out(host, batch);
    }

    fn launch(&mut self, launch: GrainLaunch, host: &Populations, ahead: u32) -> Result<(), GpuError> {
        match launch {
            GrainLaunch::ForcesAndMotion => self.forces_and_motion_of_grains(host, ahead),
            GrainLaunch::Bodies => {
                self.finish_step(host, ahead);
                self.show(ahead);
                Ok(())
            }
        }
    }

    fn launch_state(&self, host: &Populations) -> Option<LaunchState> {
        self.state_of_launches(host)
    }

    fn restart_clock(&mut self) {
        self.restart_clock_of_steps();
    }

    fn close(&mut self, host: &mut Populations, by_messages: bool) -> Result<FinishedSteps, GpuError> {
        self.collect_steps(host, by_messages)
    }

    fn send_servos(&self, host: &Populations) {
        self.send_servos_of(host);
    }

    fn download_poses(&self, host: &mut Populations) -> Result<(), GpuError> {
        self.fetch_poses(host)
    }

    fn has_outside(&self, host: &Populations) -> Result<bool, GpuError> {
        self.finds_outside(host)
    }

    fn list_counts(&self, host: &Populations) -> Result<ListCounts, GpuError> {
        self.counts_of_lists(host)
    }

    fn rebuild_if_needed(&mut self, host: &mut Populations, raised: u32) -> Result<(), GpuError> {
        self.rebuild_lists_if_flagged(host, raised)
    }

    fn shared_with_fluids(&self) -> Box<dyn Any> {
        Box::new(SharedWithFluids {
            flags: self.flags.clone(),
            bodies: self.carriers.as_ref().map(|carriers| carriers.coupled.clone()),
            servos: self.walls.as_ref().map(|near| near.servos.clone()),
        })
    }

    fn observe(&mut self, host: &mut Populations) -> Result<u32, GpuError> {
        self.update_host(host, true)
    }

    fn are_free_spheres(&self) -> bool {
        let are_alone = self.carriers.is_none() && self.shapes.is_none() && self.holding.is_none();
        let is_worn = self.walls.as_ref().is_some_and(|near| near.work.is_some());
        let are_few = self.n < TOO_MANY_FOR_A_COPY;
        are_alone && are_few && self.all_orientations().is_none() && self.diffusions.is_empty() && !is_worn
    }

    fn observe_ledger(&mut self, host: &mut Populations) -> Result<u32, GpuError> {
        let raised = self.update_host(host, false)?;
        let now = host.context.time();
        host.walls.place(now, false);
        Ok(raised)
    }

    fn request_spheres(&self, columns: GrainColumns) -> PendingSpheres {
        self.queue_spheres(columns)
    }

    fn first_forces(&mut self, host: &mut Populations) -> Result<u32, GpuError> {
        self.compute_first_forces(host)
    }

    fn takes_given_loads(&self) -> bool {
        self.has_given_loads() && self.carriers.is_none() && self.geared.is_none() && self.shapes.is_none()
    }

    fn send_given_loads(&self, host: &Populations) {
        self.write_given_loads(host);
    }

    fn preview(&self, origin: Vec3, shade: ColorScalar) -> PendingPreview {
        self.preview_of(origin, shade)
    }

    fn download_state(&self, host: &mut Populations) -> Result<(), GpuError> {
        let mut copies = self.gpu.copies();
        let fetched = self.ask_for_fields(&mut copies);
        self.download_fields(host, &copies.wait()?, fetched)?;
        self.fetch_shapes(host, false)
    }

    fn fetch_histories_of_shapes(&self, host: &mut Populations) -> Result<(), GpuError> {
        self.fetch_shapes(host, true)
    }

    fn contact_histories(&self) -> Result<PendingHistories, GpuError> {
        self.touching()
    }

    fn rebuild_lists(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        // Marks of the broad phase hold for the positions of the lists before.
        host.grains.bounding_volumes.forget();
        self.rebuild_neighbor_lists(host, false, None)?;
        self.gpu.wait()
    }

    fn arrays(&self) -> Result<Vec<ParticleArray<'static>>, ArraysError> {
        self.cuda_arrays()
    }

    fn listed(&self) -> Result<u64, GpuError> {
        self.rows.ends(&self.gpu, self.n)
    }

    fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn grains(&self) -> usize {
        self.n
    }
}
