//! What readers see of a simulation on a GPU.

use super::{Closed, Number, OfBodies, OnGpu, Remembered, Remote, raised, stepping};
use crate::glance::{Glancing, Shade};
use crate::simulation::Simulation;
use crate::state::Ledger;
use crate::world::Vec3;
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bonds::BondTally;
use seixo_sweeps::contact::Tally;
use seixo_sweeps::kernels::bonds::SOME_BROKE;
use seixo_sweeps::kernels::measure::{collect, energies, wall_energies};
use seixo_sweeps::kernels::{KINDS, UNITS};
use seixo_sweeps::sides::SHEARED;
use seixo_sweeps::views::RECORD;
use std::any::Any;

/// Sum of all powers booked by the cubes, and those of the last step of n grains.
fn powers<C: Number>(power: &[C], n: usize) -> ([f64; RECORD], [f64; RECORD]) {
    let (mut all, mut last) = ([0.0; RECORD], [0.0; RECORD]);
    for (cube, records) in power.chunks_exact(2 * RECORD).enumerate() {
        for k in 0..RECORD {
            all[k] += records[k].double();
            // Cubes beyond the n grains that there are now hold what once was.
            if cube < n.div_ceil(UNITS) {
                last[k] += records[RECORD + k].double();
            }
        }
    }
    (all, last)
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Finds forces for where the grains are.
    fn settle(&mut self, host: &Simulation) -> Result<(), GpuError> {
        self.gpu.clear(&self.flags);
        self.send_poses(host, 1);
        self.place_walls(host);
        self.bear_on_walls(host, 0);
        self.hold_grains(host, 0, true);
        if self.contacts.is_some() {
            self.assemble_forces(host, 0)?;
        } else {
            self.touch_and_advance(host, 0, 0, (true, false, false));
        }
        self.forces_known = true;
        self.collect();
        Ok(())
    }

    /// Moves what contacts took since the last time from the GPU's books into the host's. A step's share is the mean of the powers at its
    /// two ends, so the sum of all powers counts, but for half of the first and half of the last.
    fn book(&self, host: &mut Simulation, [power, wall_power, contact_power, outside_power]: [&[C]; 4]) {
        let (mut grains, mut last_of_grains) = powers(power, self.n);
        let near_walls = self.walls.as_ref().map_or(0, |near| near.near);
        let (walls, last_of_walls) = powers(wall_power, near_walls);
        let (outside, last_outside) = powers(outside_power, self.n);
        let room = self.contacts.as_ref().map_or(0, |contacts| contacts.room);
        let (contacts, last_of_contacts) = powers(contact_power, room);
        for k in 0..3 {
            grains[k] += last_of_grains[k] + contacts[k];
            last_of_grains[k] += last_of_contacts[k];
        }
        let tally = |grains: [f64; RECORD], walls: [f64; RECORD], outside: [f64; RECORD]| Tally {
            normal_power: grains[0] + walls[0],
            tangential_power: grains[1] + walls[1],
            damping_power: grains[2] + walls[2],
            wall_power: walls[3] + outside[3],
            excess: -1.0,
        };
        let (all, now) = (tally(grains, walls, outside), tally(last_of_grains, last_of_walls, last_outside));
        let before = std::mem::replace(&mut host.last_tally, now);
        let (dt, half) = (host.stepping.dt, 0.5 * host.stepping.dt);
        let share = |of: fn(&Tally<f64>) -> f64| half * (of(&before) - of(&now)) + dt * of(&all);
        host.work.normal_damping += share(|tally| tally.normal_power);
        host.work.tangential += share(|tally| tally.tangential_power);
        host.work.tangential_damping += share(|tally| tally.damping_power);
        host.work.wall += share(|tally| tally.wall_power);
        if let Some(network) = &mut host.bonds {
            let now = BondTally {
                damping_power: last_outside[0],
                energy: last_outside[1],
                ..BondTally::default()
            };
            let before = std::mem::replace(&mut network.last, now);
            network.work.damping += half * (before.damping_power - now.damping_power) + dt * outside[0];
        }
        if self.kind.sides == SHEARED {
            host.work.wall += grains[3] + last_of_grains[3];
        } else {
            host.work.local_damping += grains[3];
        }
        self.gpu.clear(&self.power);
        self.gpu.clear(&self.wall_power);
        if let Some(contacts) = &self.contacts {
            self.gpu.clear(&contacts.power);
        }
        if let Some(holding) = &self.holding {
            self.gpu.clear(&holding.power);
        }
    }

    /// Books half of what holding bodies takes now in place of half of what it took when somebody looked before: all steps between were booked as
    /// they came.
    fn book_holding(&self, host: &mut Simulation) {
        let now = host.power_of_holding();
        let before = std::mem::replace(&mut host.bodies.power_of_holding, now);
        host.last_tally.wall_power += now;
        host.work.wall += 0.5 * host.stepping.dt * (now - before);
    }

    /// Takes the powers that grains added up into the books of their cubes.
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

    /// Sums kinetic, rotational and gravity energy by cube, and what is stored in springs between grains \[J\].
    fn sum_energies(&self, host: &Simulation, outside: bool) {
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
            self.member().argument(),
            self.table.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.force.records(),
            self.torque.records(),
            self.energy.records(),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            host.materials,
            self.kind.frictional,
            self.kind.numbers,
            self.kind.sides,
            outside,
            self.has_members(),
        );
    }

    /// Energy that the grains outside the domain take along \[J\].
    pub(super) fn energy_outside(&self, host: &Simulation) -> Result<f64, GpuError> {
        self.sum_energies(host, true);
        let cubes = self.gpu.download_part(&self.energy, 0..2 * RECORD * self.cubes()).wait()?;
        let ledger = held(&cubes, &[]);
        Ok(ledger.kinetic + ledger.rotational + ledger.gravity)
    }

    /// As [`OnGpu::sum_energies`], of what is stored in walls' contacts.
    fn sum_energies_of_walls(&self, host: &Simulation) {
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) else {
            self.gpu.clear(&self.wall_energy);
            return;
        };
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
            near.touches.argument(),
            self.position[self.now].argument(),
            self.material.argument(),
            self.table.argument(),
            self.wall_energy.records(),
            self.n as u32,
            host.materials,
            self.kind.frictional,
            self.kind.compound,
        );
    }
}

/// Where the energy is, from the sums of cubes; the rest of the ledger is the host's.
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

impl<C: Number + Coordinate<R>, R: Number> Remote for OnGpu<C, R> {
    fn advance(&mut self, host: &mut Simulation, steps: u64) -> Result<u32, GpuError> {
        self.steps(host, steps)
    }

    fn go_ahead(&mut self, host: &Simulation, steps: u64) -> Result<(), GpuError> {
        self.queue_batch(host, steps)
    }

    fn batch(&self, host: &Simulation, most: u64) -> u64 {
        self.steps_at_once(host, most)
    }

    fn open(&mut self, host: &Simulation, batch: u64) {
        self.set_out(host, batch);
    }

    fn queue(&mut self, host: &Simulation, ahead: u32) -> Result<(), GpuError> {
        self.step(host, ahead)
    }

    fn close(&mut self, host: &mut Simulation) -> Result<Closed, GpuError> {
        let before = host.steps;
        let raised = self.collect_steps(host)?;
        Ok(Closed {
            raised,
            taken: host.steps - before,
            must_be_seen_to: self.must_be_seen_to(host, raised),
        })
    }

    fn renew_when_stale(&mut self, host: &mut Simulation, raised: u32) -> Result<(), GpuError> {
        self.renew_stale_lists(host, raised)
    }

    fn of_bodies(&self) -> Option<Box<dyn Any>> {
        let carriers = self.carriers.as_ref()?;
        Some(Box::new(OfBodies {
            bodies: carriers.felt.clone(),
            flags: self.flags.clone(),
        }))
    }

    fn observe(&mut self, host: &mut Simulation) -> Result<u32, GpuError> {
        let is_new = !self.forces_known;
        if is_new {
            self.settle(host)?;
        }
        self.sum_energies(host, false);
        self.add_energies_of_bins(host);
        self.sum_energies_of_walls(host);
        // All that is looked at comes in one copy, so a look costs one wait.
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
        let fetched = self.ask_for_fields(&mut copies);
        let some_broke = copies.add(&self.flags, SOME_BROKE..SOME_BROKE + 1);
        let arrived = copies.wait()?;
        if is_new {
            let [contact_power, outside_power] =
                [contact_power, outside_power].map(|ticket| ticket.map_or(Vec::new(), |ticket| arrived.take(ticket)));
            // What holds bodies is booked apart, below.
            host.last_tally.wall_power -= host.bodies.power_of_holding;
            self.book(
                host,
                [&arrived.take(power), &arrived.take(wall_power), &contact_power, &outside_power],
            );
            if arrived.take(some_broke)[0] != 0 {
                self.fetch_breaks(host, host.steps)?;
            }
        }
        host.held = held(&arrived.take(energy), &arrived.take(wall_energy));
        host.held.elastic_bonds = host.energy_of_bonds();
        self.show_fields(host, &arrived, fetched);
        if is_new {
            self.book_holding(host);
        }
        for b in 0..host.bodies.len() {
            let [kinetic, rotational, gravity] = host.energies_of_body(b);
            host.held.kinetic += kinetic;
            host.held.rotational += rotational;
            host.held.gravity += gravity;
        }
        Ok(if is_new { raised(&arrived.take(flags)) } else { 0 })
    }

    fn glance(&self, origin: Vec3, shade: Shade) -> Glancing {
        self.glance_at(origin, shade)
    }

    fn give_back(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let mut copies = self.gpu.copies();
        let fetched = self.ask_for_fields(&mut copies);
        self.show_fields(host, &copies.wait()?, fetched);
        Ok(())
    }

    fn remembered(&self) -> Result<Vec<Remembered>, GpuError> {
        self.touching()
    }

    fn list_anew(&mut self, host: &mut Simulation) -> Result<(), GpuError> {
        self.renew_lists(host, false)?;
        self.gpu.wait()
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
