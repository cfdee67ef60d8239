//! Müller's fluid on a GPU: three launches a step, and one more if walls move.

use super::GpuFluid;
use crate::flow::{Flow, FlowEnergies, Muller, is_marked};
use crate::gpu::step::BATCH;
use crate::gpu::{Number, numbers, stepping};
use crate::surroundings::Surroundings;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_laws::fluid::muller::FunctionsLaunch;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::kernels::muller::{move_on, muller_forces, place_container, sum_densities};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::muller::CONTAINER_ELEMENT;

/// Additional buffers of Müller's solver on a GPU. All except the tables are valid within a step.
pub(super) struct GpuMuller<C, R> {
    fluid_parameters: Buffer<R>,
    container: Buffer<C>,
    /// Number of its elements.
    elements: u32,
    /// Signed distances of those that are meshes.
    samples: Buffer<R>,
    meshes: bool,
    /// The containers of the coming steps, if walls move.
    ahead: Option<Buffer<C>>,
    pub dense: Buffer<R>,
    pub driven: Buffer<R>,
    smooths: bool,
}

impl<C: Number, R: Number> GpuMuller<C, R> {
    /// Buffers for n particles of these fluids; with `moves`, within moving walls.
    pub fn new(gpu: &Gpu, host: &Muller, n: usize, moves: bool) -> Result<GpuMuller<C, R>, GpuError> {
        // Buffers cannot be empty.
        let container = host.container.iter().copied().chain([0.0; CONTAINER_ELEMENT]);
        let samples: &[f64] = if host.has_meshes() { &host.samples[..] } else { &[0.0] };
        let ahead = (moves && !host.container.is_empty()).then(|| gpu.buffer(BATCH * host.container.len(), "walls"));
        Ok(GpuMuller {
            fluid_parameters: gpu.upload(&numbers::<R>(host.fluid_parameters.iter().copied()), "fluids")?,
            container: gpu.upload(&numbers::<C>(container), "walls")?,
            samples: gpu.upload(&numbers::<R>(samples.iter().copied()), "signed distances of meshes")?,
            meshes: host.has_meshes(),
            elements: (host.container.len() / CONTAINER_ELEMENT) as u32,
            ahead: ahead.transpose()?,
            dense: gpu.zeros(RECORD * n, "densities")?,
            driven: gpu.zeros(RECORD * n, "velocities")?,
            smooths: host.smooths(),
        })
    }
}

impl<C, R: Number> GpuMuller<C, R> {
    /// Makes room for n particles.
    pub fn make_room(&mut self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        gpu.lengthen(&mut self.dense, RECORD * n, "densities")?;
        gpu.lengthen(&mut self.driven, RECORD * n, "velocities")
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

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Sends the walls that contain fluid, for the `more` steps after a step.
    pub(super) fn send_containers(&self, host: &Flow, surroundings: &Surroundings, step: u64, more: u64) {
        let Some(ahead) = self.muller.as_ref().and_then(|muller| muller.ahead.as_ref()) else {
            return;
        };
        let mut containers = host.containers(surroundings, step + 1..=step + more);
        containers.resize(ahead.len(), 0.0);
        self.gpu.write(ahead, &numbers::<C>(containers));
    }

    /// Sums the present densities.
    pub(super) fn sum_muller_densities(&self, host: &Flow, parity: u32) {
        let (Some(muller), Some(given)) = (&self.muller, &host.muller) else {
            return;
        };
        let (count, dim) = units(self.n);
        sum_densities::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            muller.fluid_parameters.argument(),
            self.position[self.now].argument(),
            muller.dense.records(),
            self.flags.argument(),
            functions::<R>(given),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            parity,
            self.plan,
        );
    }

    /// Computes the present forces, and the velocities after them.
    pub(super) fn muller_forces(&self, host: &Flow, parity: u32, advance: bool) {
        let (Some(muller), Some(given)) = (&self.muller, &host.muller) else {
            return;
        };
        let (count, dim) = units(self.n);
        muller_forces::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            muller.fluid_parameters.argument(),
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
            self.n as u32,
            parity,
            self.plan,
        );
        self.sum_forces_on_bodies(parity, advance);
    }

    /// Moves the fluid inside its walls.
    pub(super) fn muller_motion(&mut self, host: &Flow, parity: u32) {
        let (Some(muller), Some(given)) = (&self.muller, &host.muller) else {
            return;
        };
        if let Some(ahead) = &muller.ahead {
            let held = ahead.len() / BATCH;
            let (count, dim) = units(held);
            place_container::launch::<C>(
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
        // Small blocks use the registers better.
        let (count, dim) = units_in_cubes_of(128, self.n);
        move_on::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.border.as_ref().map_or(&self.nothing, |border| &border.owned).argument(),
            self.media.argument(),
            muller.fluid_parameters.argument(),
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
            muller.samples.argument(),
            self.flags.argument(),
            functions::<R>(given),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            muller.elements,
            parity,
            self.plan,
            muller.smooths,
            muller.meshes,
            self.border.is_some(),
        );
        self.now ^= 1;
    }

    /// Downloads the additional data of Müller's fluid: present densities and pressures, and the ledger. The other fields are already on the host.
    pub(super) fn download_muller(&mut self, host: &mut Flow, half: &[f64], thermal: &[f64]) -> Result<(), GpuError> {
        let Some(muller) = &self.muller else { return Ok(()) };
        let dense = self.read(&muller.dense)?;
        let fields = &mut host.fields;
        let mut sums = FlowEnergies::default();
        host.springs = 0.0;
        // Spheres of bodies have none.
        fields.density_error.fill(0.0);
        // The host has all data of the spheres of bodies.
        for i in (0..self.n).filter(|&i| fields.kind[i] & WALL == 0) {
            let at = RECORD * i;
            fields.position[at + 3] = dense[at];
            fields.velocity_pressure[at + 3] = dense[at + 1];
            fields.density_error[i] = dense[at + 2];
            if is_marked(&fields.ghost, i) {
                // The subdomain that owns it counts it.
                continue;
            }
            host.springs += dense[at + 3];
            sums.viscous += thermal[at + 2];
            sums.gained += half[at + 3];
        }
        // Particles sum energies, not powers as with other solvers.
        let since = sums.minus(&self.ledger);
        host.work = host.work.plus(&FluidPowerSums {
            viscous: since.viscous,
            diffusive: 0.0,
            wall: since.gained,
        });
        self.ledger = sums;
        Ok(())
    }
}
