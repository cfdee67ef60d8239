//! The step of a subdomain on a GPU: what the exchanges of its lists mean among domains.

use super::{StepStatus, Subdomain};
use crate::decomposition::fluids::FluidSubdomain;
use crate::exchange::HaltReason;
use crate::flow::Constraint;
use crate::gpu::FluidColumn;
use crate::guard::StepError;
use crate::local_domain::{GpuExecutor, LocalDomain, compute_present_forces, queue_batch};
use crate::program::{Exchange, Moment};
use seixo_device::gpu::Stopwatch;
use seixo_sweeps::motion::LEFT_DOMAIN;
use seixo_transport::Transport;
use std::ops::ControlFlow;

/// Steps of a subdomain on a GPU.
pub(in crate::decomposition) struct QueuedDomainStep<'a> {
    domain: &'a mut Subdomain,
    /// Last agreement of all subdomains on their grains.
    all: StepStatus,
    /// Flags that the last steps of grains raised here.
    raised: u32,
    /// Messages with the own grains that are ghosts elsewhere.
    messages: Vec<Vec<u8>>,
    /// Flags that the last motion of fluids raised in any subdomain.
    raised_by_fluids: u32,
    /// The time of a step on the GPU, while it is measured.
    stopwatch: Option<Stopwatch>,
}

impl QueuedDomainStep<'_> {
    /// Steps that have not begun.
    pub fn of(domain: &mut Subdomain) -> QueuedDomainStep<'_> {
        QueuedDomainStep {
            domain,
            all: StepStatus::Fine,
            raised: 0,
            messages: Vec::new(),
            raised_by_fluids: 0,
            stopwatch: None,
        }
    }

    /// Begins to measure the time of the next step on the GPU, if it is to be measured. What was queued before does not count, so no wait for others does.
    fn begin_measurement(&mut self) -> Result<(), HaltReason> {
        self.stopwatch = None;
        let is_wanted = self.domain.work_on_gpu().is_some_and(|work| work.needs_measurement());
        if let Some(gpu) = self.domain.local.backend.gpu.as_ref().filter(|_| is_wanted) {
            self.stopwatch = Some(gpu.start_stopwatch()?);
        }
        Ok(())
    }

    /// Ends the measurement, before the halo of the step is sent.
    fn end_measurement(&mut self) -> Result<(), HaltReason> {
        let (Some(stopwatch), Some(gpu)) = (self.stopwatch.take(), &self.domain.local.backend.gpu) else {
            return Ok(());
        };
        let time = stopwatch.stop(gpu)?;
        if let (Some(time), Some(work)) = (time, self.domain.work_on_gpu()) {
            work.add(time);
        }
        Ok(())
    }

    /// Waits for the queued steps of grains, up to which the clock goes, and agrees on errors and neighbor lists.
    fn close(&mut self) -> Result<(), HaltReason> {
        let domain = &mut *self.domain;
        self.all = StepStatus::Fine;
        if domain.fluids_step_in_batches() {
            // Their flags say how many steps were taken.
            return Ok(());
        }
        if !domain.local.populations.grains_on_gpu() {
            domain.local.populations.pass_time(1);
            let sent = domain.local.send_servos();
            return sent.map_err(|error| self.stop(error));
        }
        let by_messages = domain.peer_exchange.is_none();
        let began = domain.local.populations.now();
        let closed = domain.on_gpu(|remote, host| Ok(remote.close(host, by_messages)?))?;
        domain.local.populations.note("waiting", began);
        self.all = domain.agree_on_gpu(closed.needs_host, closed.raised)?;
        (self.raised, self.messages) = (closed.raised, closed.messages);
        if self.all == StepStatus::ListsOutOfDate {
            let (has_left, all) = domain.agree_on_leaving()?;
            self.all = all;
            self.raised |= if has_left { LEFT_DOMAIN } else { 0 };
        }
        Ok(())
    }

    /// Updates the ghosts of grains, or migrates grains and rebuilds the neighbor lists, as all agreed.
    fn receive_or_migrate(&mut self) -> Result<(), HaltReason> {
        let domain = &mut *self.domain;
        if !domain.local.populations.grains_on_gpu() {
            return Ok(());
        }
        let messages = std::mem::take(&mut self.messages);
        let is_out_of_date = matches!(self.all, StepStatus::ListsOutOfDate | StepStatus::BodiesLeft);
        // A bond migrates with either of its grains; the ghost shows whether the other grain has left.
        let bonds_leave = domain.local.populations.is_bonded() && domain.local.populations.context.domain.is_some();
        if domain.halts().is_none() && (!is_out_of_date || bonds_leave) {
            match domain.peer_exchange {
                None => domain.follow_on_gpu(messages)?,
                Some(_) => domain.exchange_halo()?,
            }
        }
        match self.all {
            StepStatus::ListsOutOfDate => domain.migrate_on_gpu(self.raised),
            // The host removes what left, once forces are known.
            StepStatus::BodiesLeft => domain.migrate_on_gpu(self.raised & !LEFT_DOMAIN),
            StepStatus::Fine | StepStatus::Failed => Ok(()),
        }
    }

    /// Removes fluid from all subdomains, if any left the domain of the world.
    fn remove_lost_fluid(&mut self) -> Result<(), HaltReason> {
        if self.raised_by_fluids & LEFT_DOMAIN != 0 {
            compute_present_forces(self)?;
            self.domain.migrated += self
                .domain
                .with_fluids(|fluids, local, transport| fluids.migrate_on_host(local, transport))?;
        }
        Ok(())
    }

    /// Counts the bytes that fluids sent between GPUs.
    fn count_fluid_halo(&mut self) {
        let fluids = self.domain.fluids.as_mut();
        let bytes = fluids.map_or(0, |fluids| std::mem::take(&mut fluids.halo_message));
        self.domain.counted().bytes += bytes;
    }
}

impl Subdomain {
    /// Starts steps on a GPU, as many of these as all subdomains queue at once. They must be taken next. Does nothing on a CPU.
    pub fn queue_steps(&mut self, steps: u64) -> Result<(), HaltReason> {
        if self.local.is_on_gpu() {
            queue_batch(&mut QueuedDomainStep::of(self), steps)?;
            self.local.backend.is_batch_queued = true;
        }
        Ok(())
    }
}

impl GpuExecutor for QueuedDomainStep<'_> {
    type Halt = HaltReason;

    fn local(&mut self) -> &mut LocalDomain {
        &mut self.domain.local
    }

    fn batch(&mut self, wished: u64) -> Result<u64, HaltReason> {
        let batch = if self.domain.halts().is_some() || self.domain.fluids_step_in_batches() {
            self.domain.least(wished)?
        } else {
            1
        };
        self.begin_measurement()?;
        Ok(batch)
    }

    fn exchange(&mut self, exchange: Exchange, moment: Moment) -> Result<ControlFlow<()>, HaltReason> {
        let column = |column: FluidColumn| {
            move |fluids: &mut FluidSubdomain, local: &mut LocalDomain, transport: &mut dyn Transport| {
                fluids.exchange_column_on_gpu(column, local, transport)
            }
        };
        match exchange {
            Exchange::ServoLoads => {
                if let Moment::Step(ahead) = moment
                    && self.domain.local.populations.walls.has_servos()
                {
                    // The sum waits for other GPUs.
                    self.end_measurement()?;
                    self.domain.control_servos_on_gpu(ahead)?;
                }
            }
            Exchange::BodyForces => self.domain.reduce_body_forces_on_gpu()?,
            Exchange::GhostPositions => {
                if let Moment::Step(ahead) = moment {
                    self.end_measurement()?;
                    self.domain.queue_halo_exchange(ahead)?;
                }
            }
            Exchange::Agreement => self.close()?,
            Exchange::NeighborLists => {
                self.receive_or_migrate()?;
                if self.domain.local.host_waits_for_fluids() {
                    let opened = self.domain.local.open_fluids(1);
                    opened.map_err(|error| self.stop(error))?;
                }
            }
            Exchange::FluidGhosts => {
                if let Moment::Step(ahead) = moment {
                    self.end_measurement()?;
                    self.domain
                        .with_fluids(|fluids, local, transport| fluids.queue_halo_exchange(ahead, local, transport))?;
                }
            }
            Exchange::FluidLists(takes_away) => {
                let (sent, raised) = self
                    .domain
                    .with_fluids(|fluids, local, transport| fluids.follow_motion_on_gpu(takes_away, local, transport))?;
                self.domain.migrated += sent;
                self.raised_by_fluids = raised;
                if takes_away {
                    self.remove_lost_fluid()?;
                }
                self.count_fluid_halo();
            }
            Exchange::LostFluid => {
                self.domain
                    .with_fluids(|fluids, local, transport| fluids.finish_step_on_gpu(local, transport))?;
                self.remove_lost_fluid()?;
                self.count_fluid_halo();
            }
            Exchange::ParticleVelocities if self.domain.local.populations.has_drift() => {
                self.domain.with_fluids(column(FluidColumn::ParticleVelocities))?
            }
            Exchange::DrivenVelocities if self.domain.local.populations.smooths_velocities() => {
                self.domain.with_fluids(column(FluidColumn::DrivenVelocities))?
            }
            Exchange::Densities => self.domain.with_fluids(column(FluidColumn::Densities))?,
            Exchange::BodyBoundaryForces => self
                .domain
                .with_fluids(|fluids, local, transport| fluids.load_bodies_on_gpu(moment, local, transport))?,
            // Each domain has the fluid within twice the reach of its own, and computes the pressures of wall particles itself.
            Exchange::WallPressures | Exchange::ParticleVelocities | Exchange::DrivenVelocities => {}
            // The agreement has it.
            Exchange::Status => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn solve(&mut self, constraint: Constraint) -> Result<(), HaltReason> {
        self.domain
            .with_fluids(|fluids, local, transport| fluids.project_on_gpu(constraint, local, transport))
    }

    fn settle(&mut self) -> Result<(), HaltReason> {
        match self.all {
            StepStatus::BodiesLeft => self.domain.migrate(),
            _ => Ok(()),
        }
    }

    fn stop(&self, error: StepError) -> HaltReason {
        // The others have not agreed on it.
        HaltReason::lost(&error)
    }

    fn exchanges_set_off(&self) -> bool {
        self.domain.exchanges_set_off()
    }
}
