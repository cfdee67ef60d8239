//! Incompressible fluids on a GPU. The number of iterations of a step is not known in advance: the host waits for each iteration, and queues no
//! steps.

use super::super::{Number, room_for_cubes, stepping};
use super::{FluidColumn, FluidNeighbors, GpuFluid, smoother};
use crate::exchange::HaltReason;
use crate::flow::{Constraint, Flow, FlowEnergies, IterationError, is_marked, iterate};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::dfsph::{correct, density_errors, drift_on, pressure_accelerations, push_by_pressure, viscous_forces};
use seixo_sweeps::layout::RECORD;

/// Buffers of the pressure iteration.
pub(super) struct GpuPressureSolver<R> {
    /// Velocities that neighbors read, later accelerations.
    pub moving: Buffer<R>,
    /// See [`seixo_sweeps::dfsph`].
    pub solving: Buffer<R>,
    /// Remaining error of each particle, in decomposition-invariant runs.
    errors: Buffer<R>,
}

impl<R: Number> GpuPressureSolver<R> {
    /// Room for n particles; with `invariant`, also for the error of each.
    pub fn new(gpu: &Gpu, n: usize, invariant: bool) -> Result<GpuPressureSolver<R>, GpuError> {
        Ok(GpuPressureSolver {
            moving: gpu.zeros(RECORD * n, "accelerations")?,
            solving: gpu.zeros(RECORD * n, "pressures")?,
            errors: gpu.zeros(RECORD * if invariant { n } else { 1 }, "pressures")?,
        })
    }

    /// Makes room for n particles.
    pub fn make_room(&mut self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        for column in [&mut self.moving, &mut self.solving, &mut self.errors] {
            gpu.lengthen(column, RECORD * n, "pressures")?;
        }
        Ok(())
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Computes the viscous forces. With them and gravity, velocities are advanced as they would be without pressures.
    pub(super) fn viscous_forces_of(&self, host: &Flow) {
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

    /// Computes the pressures that satisfy this constraint, and applies them. The order of exchanges is that of the CPU, see `Flow::project`.
    pub(super) fn project(&self, host: &mut Flow, constraint: Constraint, others: &mut dyn FluidNeighbors) -> Result<(), HaltReason> {
        if constraint.corrects() {
            others.exchange(self, FluidColumn::Moving)?;
        }
        self.density_error(host, constraint);
        let projection = host.plan.projection;
        let solved = iterate(constraint, &projection, |carry| -> Result<[f64; 2], HaltReason> {
            others.exchange(self, FluidColumn::Pressures)?;
            self.pressure_acceleration(host);
            others.exchange(self, FluidColumn::Moving)?;
            self.correct(host, carry);
            if self.border.is_some() {
                return Ok(others.sum(self.remaining_errors()?)?.mean());
            }
            let [error, overshoot] = self.remaining_error()?;
            Ok([error / host.count.max(1) as f64, overshoot])
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
            R::of(host.projector.share_of_longest_step(host.stepping.dt)),
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

    /// One iteration.
    fn correct(&self, host: &Flow, carry: f64) {
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
            self.projecting.errors.records(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            R::of(carry),
            self.n as u32,
            self.plan,
            self.border.is_some(),
        );
    }

    /// The remaining excess of density and `overshoot`, both summed over particles. `overshoot` is positive once the iterations have overshot, see
    /// [`seixo_laws::fluid::dfsph`].
    fn remaining_error(&self) -> Result<[f64; 2], GpuError> {
        let cubes = self.n.div_ceil(THREADS);
        debug_assert!(cubes <= room_for_cubes(self.n));
        let left = self.gpu.download_part(&self.power, 0..2 * RECORD * cubes).wait()?;
        let noted = left
            .chunks_exact(2 * RECORD)
            .map(|cube| [cube[RECORD].double(), cube[RECORD + 1].double()]);
        Ok(noted.fold([0.0; 2], |[error, overshoot], cube| [error + cube[0], overshoot + cube[1]]))
    }

    /// The same of the own particles, as sums that are the same in any order.
    fn remaining_errors(&self) -> Result<IterationError, GpuError> {
        let mut copies = self.gpu.copies();
        let errors = copies.add(&self.projecting.errors, 0..RECORD * self.n);
        let kind = copies.add(&self.kind, 0..self.n);
        let owned = self.border.as_ref().filter(|border| border.is_decomposed);
        let owned = owned.map(|border| copies.add(&border.owned, 0..self.n));
        let arrived = copies.wait()?;
        let (errors, kind) = (arrived.take(errors), arrived.take(kind));
        let owned = owned.map(|owned| arrived.take(owned));
        let is_own = |i: usize| owned.as_ref().is_none_or(|owned| !is_ghost(owned[i]));
        let mut all = IterationError::default();
        for i in (0..self.n).filter(|&i| kind[i] & WALL == 0 && is_own(i)) {
            all.add_iterations(errors[RECORD * i].double(), errors[RECORD * i + 1].double());
        }
        Ok(all)
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
    pub(super) fn drift(&self, host: &Flow) {
        let (count, dim) = units(self.n);
        drift_on::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.border.as_ref().map_or(&self.nothing, |border| &border.owned).argument(),
            self.position[self.now].records(),
            self.half_velocity.records(),
            self.reference.records(),
            self.flags.argument(),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            self.border.is_some(),
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
            if is_marked(&fields.ghost, i) {
                // The subdomain that owns it counts it.
                continue;
            }
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
