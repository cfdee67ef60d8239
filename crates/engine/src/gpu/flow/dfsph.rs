//! Incompressible fluids on a GPU. How many iterations a step takes is known when they are done: the host waits for each, and queues no steps.

use super::super::step::{FLUIDS, LISTS_OF_FLUIDS};
use super::super::{Closed, Number, raised, room_for_cubes, stepping};
use super::{FlowOnGpu, smoother};
use crate::flow::{Constraint, Flow, FlowEnergies, iterate};
use crate::simulation::Simulation;
use crate::state::Profile;
use crate::world::Leaving;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::kernels::UNITS;
use seixo_sweeps::kernels::dfsph::{correct, crowd, drag, drift_on, lean, push};
use seixo_sweeps::motion::{LEFT, NOT_FINITE, STALE, TOO_FAST};
use seixo_sweeps::views::RECORD;
use std::time::Instant;

/// What iterations for pressures work on.
pub(super) struct Projecting<R> {
    /// Velocities that neighbors read, later accelerations.
    moving: Buffer<R>,
    /// See [`seixo_sweeps::dfsph`].
    solving: Buffer<R>,
    /// The flags with which a step ends where it is.
    fatal: u32,
}

impl<R: Number> Projecting<R> {
    /// Room for n particles, which may leave the domain or not.
    pub fn new(gpu: &Gpu, n: usize, leaving: Leaving) -> Result<Projecting<R>, GpuError> {
        let leaves = if leaving == Leaving::Error { LEFT } else { 0 };
        Ok(Projecting {
            fatal: NOT_FINITE | TOO_FAST | leaves,
            moving: gpu.zeros(RECORD * n, "accelerations")?,
            solving: gpu.zeros(RECORD * n, "pressures")?,
        })
    }
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// As [`super::RemoteFlow::advance`].
    pub(super) fn advance_incompressible(
        &mut self,
        host: &mut Flow,
        simulation: &Simulation,
        steps: u64,
        profile: &mut Profile,
    ) -> Result<Closed, GpuError> {
        for taken in 1..=steps {
            self.send_poses(simulation, simulation.steps - steps + taken, 0);
            let closed = self.step_incompressible(host, profile)?;
            if closed.must_be_seen_to {
                return Ok(Closed { taken, ..closed });
            }
        }
        Ok(Closed {
            taken: steps,
            ..Closed::default()
        })
    }

    /// One step, to where walls have the poses that were sent. Of the flags it tells those that the host must see to.
    pub(super) fn step_incompressible(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<Closed, GpuError> {
        let closed = |raised: u32| Closed {
            raised,
            taken: 1,
            must_be_seen_to: raised != 0,
        };
        let start = Instant::now();
        self.gpu.clear(&self.flags);
        if self.plan.viscous.is_some() {
            self.press(host, 0, false);
        }
        self.drag(host);
        self.project(host, Constraint::Density)?;
        self.drift(host);
        self.place_boundaries(host, 0, true);
        let raised = raised(&self.gpu.download(&self.flags)?);
        profile.book_on_gpu(FLUIDS, start, 1);
        if raised & self.projecting.fatal != 0 {
            return Ok(closed(raised));
        }
        self.since_renewal += 1;
        if raised & STALE != 0 {
            let start = Instant::now();
            self.renew_lists(host)?;
            profile.book_on_gpu(LISTS_OF_FLUIDS, start, 1);
        }
        let start = Instant::now();
        self.project(host, Constraint::Divergence)?;
        if self.hulls.is_some() {
            // A step that found lists stale has made them anew, and goes on.
            self.gpu.clear(&self.flags);
            self.bear_on_bodies(0, true);
            self.collect_flags(host)?;
        }
        profile.book_on_gpu(FLUIDS, start, 0);
        Ok(closed(raised & LEFT))
    }

    /// Finds the forces of viscosities; with them and gravity, velocities go on as they would without pressures.
    fn drag(&self, host: &Flow) {
        let (count, dim) = units(self.n);
        drag::launch::<R, C>(
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

    /// Finds the pressures that keep what is asked for, and lets them push.
    fn project(&self, host: &mut Flow, constraint: Constraint) -> Result<(), GpuError> {
        self.crowd(host, constraint);
        let (projection, particles) = (host.plan.projection, host.count.max(1) as f64);
        let solved = iterate(constraint, &projection, |carry| -> Result<[f64; 2], GpuError> {
            self.lean(host);
            let [error, turn] = self.correct(host, carry)?;
            Ok([error / particles, turn])
        })?;
        host.projector.solves.book(constraint, &solved);
        self.push(host, constraint);
        Ok(())
    }

    /// Sums densities up, and sets out for pressures.
    fn crowd(&self, host: &Flow, constraint: Constraint) {
        let moving = if constraint.corrects() {
            self.projecting.moving.argument()
        } else {
            self.flowing[self.now].argument()
        };
        let (count, dim) = units(self.n);
        crowd::launch::<R, C>(
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

    /// Finds accelerations by the pressures that are looked at.
    fn lean(&self, host: &Flow) {
        let (count, dim) = units(self.n);
        lean::launch::<R, C>(
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

    /// One iteration; returns the excess of density that was left, summed over particles, and how far the last two changes go the same way.
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
        let cubes = self.n.div_ceil(UNITS);
        debug_assert!(cubes <= room_for_cubes(self.n));
        let left = self.gpu.download_part(&self.power, 0..2 * RECORD * cubes).wait()?;
        let noted = left
            .chunks_exact(2 * RECORD)
            .map(|cube| [cube[RECORD].double(), cube[RECORD + 1].double()]);
        Ok(noted.fold([0.0; 2], |[error, turn], cube| [error + cube[0], turn + cube[1]]))
    }

    /// Lets the pressures push fluid and walls whose error was found last.
    fn push(&self, host: &Flow, constraint: Constraint) {
        let (count, dim) = units(self.n);
        push::launch::<R, C>(
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

    /// Moves particles of fluid with their velocities.
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

    /// Brings to the host what else it keeps of incompressible fluids, whose other fields it has: densities, pressures, books.
    pub(super) fn tell(&mut self, host: &mut Flow, half: &[f64], thermal: &[f64]) {
        let fields = &mut host.fields;
        let mut now = FlowTally::default();
        fields.multipliers.clear();
        for (i, (half, thermal)) in half.chunks_exact(RECORD).zip(thermal.chunks_exact(RECORD)).enumerate() {
            fields.excess[i] = thermal[0];
            fields.multipliers.extend(&thermal[1..3]);
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
        let since = sums.minus(&self.booked).tally();
        self.booked = sums;
        host.work = host.work.plus(&since);
    }
}
