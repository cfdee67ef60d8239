//! Incompressible fluids on a GPU. The number of iterations of a step is not known in advance: the host waits for each iteration, and queues no
//! steps.

use super::super::step::{FLUID_LISTS, FLUIDS};
use super::super::{FinishedSteps, Number, raised, room_for_cubes, stepping};
use super::{GpuFluid, smoother};
use crate::flow::{Constraint, Flow, FlowEnergies, iterate};
use crate::state::Profile;
use crate::surroundings::Surroundings;
use crate::world::LeavingPolicy;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::dfsph::{correct, density_errors, drift_on, pressure_accelerations, push_by_pressure, viscous_forces};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, SKIN_EXCEEDED, TOO_FAST};
use std::time::Instant;

/// Buffers of the pressure iteration.
pub(super) struct GpuPressureSolver<R> {
    /// Velocities that neighbors read, later accelerations.
    moving: Buffer<R>,
    /// See [`seixo_sweeps::dfsph`].
    solving: Buffer<R>,
    /// Flags after which a step stops at once.
    fatal: u32,
}

impl<R: Number> GpuPressureSolver<R> {
    /// Room for n particles. The policy for leaving particles decides whether leaving is an error.
    pub fn new(gpu: &Gpu, n: usize, leaving: LeavingPolicy) -> Result<GpuPressureSolver<R>, GpuError> {
        let leaves = if leaving == LeavingPolicy::Error { LEFT_DOMAIN } else { 0 };
        Ok(GpuPressureSolver {
            fatal: NOT_FINITE | TOO_FAST | leaves,
            moving: gpu.zeros(RECORD * n, "accelerations")?,
            solving: gpu.zeros(RECORD * n, "pressures")?,
        })
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// As [`super::FluidGpuBackend::advance`].
    pub(super) fn advance_incompressible(
        &mut self,
        host: &mut Flow,
        surroundings: &Surroundings,
        steps: u64,
        profile: &mut Profile,
    ) -> Result<FinishedSteps, GpuError> {
        for taken in 1..=steps {
            self.send_poses(surroundings, surroundings.context.steps - steps + taken, 0);
            let closed = self.step_incompressible(host, profile)?;
            if closed.needs_host {
                return Ok(FinishedSteps { taken, ..closed });
            }
        }
        Ok(FinishedSteps {
            taken: steps,
            ..FinishedSteps::default()
        })
    }

    /// Takes one step, with walls in the poses that were sent. Returns the flags that require an action of the host.
    pub(super) fn step_incompressible(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<FinishedSteps, GpuError> {
        let closed = |raised: u32| FinishedSteps {
            raised,
            taken: 1,
            needs_host: raised != 0,
        };
        let start = Instant::now();
        self.gpu.clear(&self.flags);
        if self.plan.viscous.is_some() {
            self.wall_particle_pressures_on_gpu(host, 0, false);
        }
        self.viscous_forces_of(host);
        self.project(host, Constraint::Density)?;
        self.drift(host);
        self.place_boundaries(host, 0, true);
        let raised = raised(&self.gpu.download(&self.flags)?);
        profile.add_on_gpu(FLUIDS, start, 1);
        if raised & self.projecting.fatal != 0 {
            return Ok(closed(raised));
        }
        self.since_rebuild += 1;
        if raised & SKIN_EXCEEDED != 0 {
            let start = Instant::now();
            self.rebuild_neighbor_lists(host)?;
            profile.add_on_gpu(FLUID_LISTS, start, 1);
        }
        let start = Instant::now();
        self.project(host, Constraint::Divergence)?;
        if self.body_boundaries.is_some() {
            // If lists were out of date, this step has rebuilt them and goes on: so the flags are cleared.
            self.gpu.clear(&self.flags);
            self.sum_forces_on_bodies(0, true);
            self.collect_flags(host)?;
        }
        profile.add_on_gpu(FLUIDS, start, 0);
        Ok(closed(raised & LEFT_DOMAIN))
    }

    /// Computes the viscous forces. With them and gravity, velocities are advanced as they would be without pressures.
    fn viscous_forces_of(&self, host: &Flow) {
        let (count, dim) = units(self.n);
        viscous_forces::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            self.flowing[self.now].argument(),
            self.seen.argument(),
            self.motion.argument(),
            self.half_velocity.records(),
            self.projecting.moving.records(),
            self.rate.records(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            self.plan,
        );
    }

    /// Computes the pressures that satisfy this constraint, and applies them.
    fn project(&self, host: &mut Flow, constraint: Constraint) -> Result<(), GpuError> {
        self.density_error(host, constraint);
        let (projection, particles) = (host.plan.projection, host.count.max(1) as f64);
        let solved = iterate(constraint, &projection, |carry| -> Result<[f64; 2], GpuError> {
            self.pressure_acceleration(host);
            let [error, overshoot] = self.correct(host, carry)?;
            Ok([error / particles, overshoot])
        })?;
        host.projector.solves.add_iterations(constraint, &solved);
        self.push(host, constraint);
        Ok(())
    }

    /// Sums densities, and initializes the pressures.
    fn density_error(&self, host: &Flow, constraint: Constraint) {
        let moving = if constraint.corrects() {
            self.projecting.moving.argument()
        } else {
            self.flowing[self.now].argument()
        };
        let (count, dim) = units(self.n);
        density_errors::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            moving,
            self.motion.argument(),
            self.thermal.records(),
            self.projecting.solving.records(),
            self.smoother(host),
            smoother::<C>(host),
            stepping::<C, R>(&host.stepping),
            R::of(host.projector.relaxation()),
            self.n as u32,
            self.plan,
            constraint.corrects(),
        );
    }

    /// Computes the accelerations by the present pressures of the iteration.
    fn pressure_acceleration(&self, host: &Flow) {
        let (count, dim) = units(self.n);
        pressure_accelerations::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            self.projecting.solving.argument(),
            self.projecting.moving.records(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            self.plan,
        );
    }

    /// One iteration. Returns the remaining excess of density and `overshoot`, both summed over particles. `overshoot` is positive once the iterations have
    /// overshot, see [`seixo_laws::fluid::dfsph`].
    fn correct(&self, host: &Flow, carry: f64) -> Result<[f64; 2], GpuError> {
        let (count, dim) = units(self.n);
        correct::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.position[self.now].argument(),
            self.projecting.moving.argument(),
            self.projecting.solving.records(),
            self.power.records(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            R::of(carry),
            self.n as u32,
            self.plan,
        );
        let cubes = self.n.div_ceil(THREADS);
        debug_assert!(cubes <= room_for_cubes(self.n));
        let left = self.gpu.download_part(&self.power, 0..2 * RECORD * cubes).wait()?;
        let noted = left
            .chunks_exact(2 * RECORD)
            .map(|cube| [cube[RECORD].double(), cube[RECORD + 1].double()]);
        Ok(noted.fold([0.0; 2], |[error, overshoot], cube| [error + cube[0], overshoot + cube[1]]))
    }

    /// Applies the pressures of the last iteration to fluid and walls.
    fn push(&self, host: &Flow, constraint: Constraint) {
        let (count, dim) = units(self.n);
        push_by_pressure::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.kind.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            self.projecting.moving.argument(),
            self.motion.argument(),
            self.half_velocity.records(),
            self.thermal.records(),
            self.flowing[self.now].records(),
            self.rate.records(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            self.plan,
            constraint.corrects(),
        );
    }

    /// Moves fluid particles with their velocities.
    fn drift(&self, host: &Flow) {
        let (count, dim) = units(self.n);
        drift_on::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.half_velocity.records(),
            self.reference.records(),
            self.flags.argument(),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
        );
    }

    /// Downloads the additional data of incompressible fluids: densities, pressures and the ledger. The other fields are already on the host.
    pub(super) fn download_incompressible(&mut self, host: &mut Flow, half: &[f64], thermal: &[f64]) {
        let fields = &mut host.fields;
        let mut now = FluidPowerSums::default();
        fields.pressures.clear();
        for (i, (half, thermal)) in half.chunks_exact(RECORD).zip(thermal.chunks_exact(RECORD)).enumerate() {
            fields.density_error[i] = thermal[0];
            fields.pressures.extend(&thermal[1..3]);
            let (projected, viscous) = (half[3], thermal[3]);
            now.diffusive += projected;
            now.viscous += viscous;
            if fields.kind[i] & WALL != 0 {
                now.wall += projected + viscous;
            }
        }
        let sums = FlowEnergies {
            viscous: now.viscous,
            diffusive: now.diffusive,
            gained: now.wall - now.viscous - now.diffusive,
        };
        let since = sums.minus(&self.ledger).power_sums();
        self.ledger = sums;
        host.work = host.work.plus(&since);
    }
}
