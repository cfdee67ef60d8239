//! Müller's fluid on a GPU: three launches a step, and one more where walls move.

use super::FlowOnGpu;
use crate::flow::{Flow, FlowEnergies, Muller};
use crate::gpu::step::BATCH;
use crate::gpu::{Number, numbers, stepping};
use crate::simulation::Simulation;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_laws::fluid::muller::FunctionsLaunch;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::kernels::muller::{drive, hold, move_on, sum_densities};
use seixo_sweeps::muller::HOLD;
use seixo_sweeps::views::RECORD;

/// What Müller's solver has on a GPU beside all others. All of it but tables lives for a step.
pub(super) struct MullerOnGpu<C, R> {
    habits: Buffer<R>,
    container: Buffer<C>,
    /// Elements of it.
    elements: u32,
    /// The containers of coming steps, where walls move.
    ahead: Option<Buffer<C>>,
    dense: Buffer<R>,
    driven: Buffer<R>,
    smooths: bool,
}

impl<C: Number, R: Number> MullerOnGpu<C, R> {
    /// What n particles of these fluids ask for; with `moves`, within walls that move.
    pub fn new(gpu: &Gpu, host: &Muller, n: usize, moves: bool) -> Result<MullerOnGpu<C, R>, GpuError> {
        // Buffers cannot be empty.
        let container = host.container.iter().copied().chain([0.0; HOLD]);
        let ahead = (moves && !host.container.is_empty()).then(|| gpu.buffer(BATCH * host.container.len(), "walls"));
        Ok(MullerOnGpu {
            habits: gpu.upload(&numbers::<R>(host.habits.iter().copied()), "fluids")?,
            container: gpu.upload(&numbers::<C>(container), "walls")?,
            elements: (host.container.len() / HOLD) as u32,
            ahead: ahead.transpose()?,
            dense: gpu.zeros(RECORD * n, "densities")?,
            driven: gpu.zeros(RECORD * n, "velocities")?,
            smooths: host.smooths(),
        })
    }
}

fn functions<R: Number>(host: &Muller) -> FunctionsLaunch<R> {
    let functions = &host.functions;
    FunctionsLaunch::new(
        R::of(functions.per_support),
        R::of(functions.of_density),
        R::of(functions.of_pressure),
        R::of(functions.of_viscosity),
        R::of(functions.softening),
    )
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Lets walls hold fluid where they are so many steps on from a step.
    pub(super) fn send_containers(&self, host: &Flow, simulation: &Simulation, step: u64, more: u64) {
        let Some(ahead) = self.muller.as_ref().and_then(|muller| muller.ahead.as_ref()) else {
            return;
        };
        let mut containers = host.containers(simulation, step + 1..=step + more);
        containers.resize(ahead.len(), 0.0);
        self.gpu.write(ahead, &numbers::<C>(containers));
    }

    /// One step or, without `advance`, densities and forces of this moment. The host only queues it.
    pub(super) fn step_muller(&mut self, host: &Flow, parity: u32, advance: bool) {
        let (Some(muller), Some(given)) = (&self.muller, &host.muller) else {
            return;
        };
        self.place_hulls(host, parity, advance);
        let n = self.n as u32;
        let (count, dim) = units(self.n);
        sum_densities::launch::<R, C>(
            self.gpu.client(),
            count.clone(),
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            muller.habits.argument(),
            self.position[self.now].argument(),
            muller.dense.records(),
            self.flags.argument(),
            functions::<R>(given),
            stepping::<C, R>(&host.stepping),
            n,
            parity,
            self.plan,
        );
        drive::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            muller.habits.argument(),
            self.position[self.now].argument(),
            self.flowing[self.now].argument(),
            self.motion.argument(),
            muller.dense.argument(),
            self.half_velocity.records(),
            self.rate.records(),
            muller.driven.records(),
            self.flags.argument(),
            functions::<R>(given),
            stepping::<C, R>(&host.stepping),
            n,
            parity,
            self.plan,
        );
        self.bear_on_bodies(parity, advance);
        if !advance {
            return;
        }
        if let Some(ahead) = &muller.ahead {
            let held = ahead.len() / BATCH;
            let (count, dim) = units(held);
            hold::launch::<C>(
                self.gpu.client(),
                count,
                dim,
                ahead.argument(),
                muller.container.argument(),
                self.flags.argument(),
                held as u32,
                parity,
            );
        }
        // Small cubes let more registers be in use.
        let (count, dim) = units_in_cubes_of(128, self.n);
        move_on::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            muller.habits.argument(),
            self.position[self.now].argument(),
            muller.dense.argument(),
            muller.driven.argument(),
            self.rate.records(),
            self.half_velocity.records(),
            self.thermal.records(),
            self.reference.records(),
            self.position[self.now ^ 1].records(),
            self.flowing[self.now ^ 1].records(),
            muller.container.argument(),
            self.flags.argument(),
            functions::<R>(given),
            stepping::<C, R>(&host.stepping),
            n,
            muller.elements,
            parity,
            self.plan,
            muller.smooths,
        );
        self.now ^= 1;
    }

    /// Brings to the host what else it keeps of Müller's fluid, whose other fields it has: densities and pressures of this moment, books.
    pub(super) fn tell_of_muller(&mut self, host: &mut Flow, half: &[f64], thermal: &[f64]) -> Result<(), GpuError> {
        let Some(muller) = &self.muller else { return Ok(()) };
        let dense = self.read(&muller.dense)?;
        let fields = &mut host.fields;
        let mut sums = FlowEnergies::default();
        host.springs = 0.0;
        // Of spheres of bodies the host knows all.
        for i in (0..self.n).filter(|&i| fields.kind[i] & WALL == 0) {
            let at = RECORD * i;
            fields.position[at + 3] = dense[at];
            fields.flow[at + 3] = dense[at + 1];
            fields.excess[i] = dense[at + 2];
            host.springs += dense[at + 3];
            sums.viscous += thermal[at + 2];
            sums.gained += half[at + 3];
        }
        // What particles add up are energies, and not powers as with other solvers.
        let since = sums.minus(&self.booked);
        host.work = host.work.plus(&FlowTally {
            viscous: since.viscous,
            diffusive: 0.0,
            wall: since.gained,
        });
        self.booked = sums;
        Ok(())
    }
}
