//! Steps on GPUs: the one function that runs the lists of what is queued, in one domain and in several.

use crate::flow::Constraint;
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::local_domain::repeated_steps::{RepeatedSteps, repeatable_batch};
use crate::program::{Exchange, FluidLaunch, GrainLaunch, Moment, QueuedLists, QueuedWork, Work};
use crate::world::Solver;
use std::ops::ControlFlow;

/// Runs the lists of a domain that is on a GPU.
pub(crate) trait GpuExecutor {
    /// The reason for which steps end early.
    type Halt;

    /// This domain.
    fn local(&mut self) -> &mut LocalDomain;

    /// The number of steps that all domains queue at once, if this one requests so many.
    ///
    /// # Errors
    /// If the others cannot be reached.
    fn batch(&mut self, wished: u64) -> Result<u64, Self::Halt>;

    /// Exchanges data with the other domains, for this moment. Breaks if the rest is not to be run: no step was taken, or it cannot
    /// go on.
    ///
    /// # Errors
    /// If this domain or another one failed.
    fn exchange(&mut self, exchange: Exchange, moment: Moment) -> Result<ControlFlow<()>, Self::Halt>;

    /// Solves for pressures, together with the other domains.
    ///
    /// # Errors
    /// If the GPU failed, or the others cannot be reached.
    fn solve(&mut self, constraint: Constraint) -> Result<(), Self::Halt>;

    /// Acts on what the steps of a batch raised.
    ///
    /// # Errors
    /// If a state became impossible.
    fn settle(&mut self) -> Result<(), Self::Halt>;

    /// The reason to stop for an error of this domain.
    fn stop(&self, error: StepError) -> Self::Halt;

    /// Whether exchanges queue nothing within a step of grains, so that steps can be recorded.
    fn is_alone(&self) -> bool {
        false
    }

    /// Whether exchanges within a step make the GPU start what is queued.
    fn exchanges_set_off(&self) -> bool {
        false
    }
}

/// Takes steps on a GPU, in batches that need nothing from the host.
pub(crate) fn advance_on_gpu<E: GpuExecutor>(executor: &mut E, steps: u64) -> Result<(), E::Halt> {
    let end = executor.local().populations.context.steps + steps;
    let mut repeated = executor.is_alone().then(RepeatedSteps::default);
    loop {
        let local = executor.local();
        let left = end - local.populations.context.steps;
        if left == 0 {
            return Ok(());
        }
        if !local.is_on_gpu() {
            local.populations.pass_time(left);
            return Ok(());
        }
        local.backend.observed = None;
        if std::mem::take(&mut local.backend.is_batch_queued) {
            local.restart_clocks();
        } else {
            let began = local.populations.now();
            queue(executor, left, repeated.as_mut())?;
            executor.local().populations.note("queue of a batch of steps", began);
        }
        let QueuedLists {
            end_of_grains,
            end_of_fluids,
            ..
        } = executor.local().queued_lists();
        run(executor, end_of_grains.iter().chain(end_of_fluids), Moment::Step(0))?;
        executor.settle()?;
    }
}

/// Queues at most `most` steps.
pub(crate) fn queue_batch<E: GpuExecutor>(executor: &mut E, most: u64) -> Result<(), E::Halt> {
    queue(executor, most, None)
}

/// Queues at most `most` steps, as many from a recording as possible.
fn queue<E: GpuExecutor>(executor: &mut E, most: u64, repeated: Option<&mut RepeatedSteps>) -> Result<(), E::Halt> {
    let local = executor.local();
    let wished = local.wished_batch(most);
    let wished = if repeated.is_some() {
        repeatable_batch(local, wished)
    } else {
        wished
    };
    let batch = executor.batch(wished)?;
    let opened = executor.local().open(batch);
    opened.map_err(|error| executor.stop(error))?;
    let QueuedLists { fluids, grains, .. } = executor.local().queued_lists();
    let queued = match repeated {
        Some(repeated) => repeated.queue(executor.local(), batch, most),
        None => Ok(0),
    };
    let queued = queued.map_err(|error| executor.stop(error))?;
    for ahead in queued as u32..batch as u32 {
        run(executor, fluids.iter().chain(grains), Moment::Step(ahead))?;
        if !executor.exchanges_set_off() {
            executor.local().set_off(ahead);
        }
    }
    Ok(())
}

/// Computes the present forces of fluids, if an observation needs them.
pub(crate) fn compute_present_forces<E: GpuExecutor>(executor: &mut E) -> Result<(), E::Halt> {
    let local = executor.local();
    if !local.backend.fluids.as_ref().is_some_and(|fluids| fluids.needs_present_forces()) {
        return Ok(());
    }
    let opened = local.open_present();
    opened.map_err(|error| executor.stop(error))?;
    let list = executor.local().queued_lists().fluids;
    run(executor, list, Moment::Present)
}

/// Runs a list.
pub(super) fn run<E: GpuExecutor>(
    executor: &mut E,
    list: impl IntoIterator<Item = &'static QueuedWork>,
    moment: Moment,
) -> Result<(), E::Halt> {
    for queued in list.into_iter().filter(|queued| moment.advances() || !queued.is_motion) {
        let began = executor.local().populations.now();
        match queued.work {
            Work::Grains(launch) => {
                let launched = executor.local().launch_grains(launch, moment);
                launched.map_err(|error| executor.stop(error))?;
            }
            Work::Fluids(launch) => {
                let launched = executor.local().launch_fluids(launch, moment);
                launched.map_err(|error| executor.stop(error))?;
            }
            Work::Solve(constraint) => executor.solve(constraint)?,
            Work::Exchange(exchange) => {
                if executor.exchange(exchange, moment)?.is_break() {
                    break;
                }
            }
        }
        executor.local().populations.note(queued.name_in_timeline(), began);
    }
    Ok(())
}

impl LocalDomain {
    /// The lists of this domain.
    pub(super) fn queued_lists(&self) -> QueuedLists {
        QueuedLists::of(self.populations.fluids_on_gpu().then(|| self.populations.solver_of_fluids()))
    }

    /// Number of steps that are best queued at once, at most `most`.
    pub(super) fn wished_batch(&self, most: u64) -> u64 {
        let populations = &self.populations;
        let most = populations.steps_until_open_boundary_event(populations.context.steps, most);
        // Without grains on this GPU, the host moves servos.
        let most = if self.backend.grains.is_none() && populations.walls.has_servos() {
            1
        } else {
            most
        };
        let of_grains = self.backend.grains.as_ref().map(|remote| remote.batch(populations, most));
        let of_fluids = self.backend.fluids.as_ref().map(|remote| remote.batch(most));
        of_grains.into_iter().chain(of_fluids).fold(most, u64::min)
    }

    /// Prepares a batch of steps.
    fn open(&mut self, batch: u64) -> Result<(), StepError> {
        if !self.host_waits_for_fluids() {
            self.open_fluids(batch)?;
        }
        if self.populations.grains_on_gpu() {
            self.with_gpu_backend(|remote, host| {
                remote.open(host, batch);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Prepares a batch of steps of fluids, if they are on the GPU.
    pub(crate) fn open_fluids(&mut self, batch: u64) -> Result<(), StepError> {
        self.with_fluid_gpu_backend(|remote, flow, surroundings, _| {
            remote.update_bodies(surroundings.bodies);
            remote.open(flow, surroundings, batch);
            Ok(())
        })
    }

    /// Sends the servos of the host's clock to fluids on the GPU, if no grains there have them.
    pub(crate) fn send_servos(&mut self) -> Result<(), StepError> {
        self.with_fluid_gpu_backend(|remote, _, surroundings, _| {
            remote.update_servos(surroundings);
            Ok(())
        })
    }

    /// Whether fluids are on the GPU, and their steps wait for the host: they follow grains, which moved already.
    pub(crate) fn host_waits_for_fluids(&self) -> bool {
        self.populations.fluids_on_gpu() && self.populations.solver_of_fluids() == Solver::Incompressible
    }

    /// Starts what is queued.
    fn set_off(&self, ahead: u32) {
        if let Some(gpu) = &self.backend.gpu {
            gpu.set_off(ahead);
        }
    }

    /// The host did other work while queued steps ran: their time in the profile starts now.
    fn restart_clocks(&mut self) {
        if let Some(remote) = &mut self.backend.grains {
            remote.restart_clock();
        }
        if let Some(remote) = &mut self.backend.fluids {
            remote.restart_clock();
        }
    }

    fn launch_grains(&mut self, launch: GrainLaunch, moment: Moment) -> Result<(), StepError> {
        match moment {
            Moment::Step(ahead) if self.populations.grains_on_gpu() => {
                self.with_gpu_backend(|remote, host| remote.launch(launch, host, ahead))
            }
            _ => Ok(()),
        }
    }

    fn launch_fluids(&mut self, launch: FluidLaunch, moment: Moment) -> Result<(), StepError> {
        self.with_fluid_gpu_backend(|remote, flow, _, _| {
            remote.launch(launch, flow, moment);
            Ok(())
        })
    }

    fn open_present(&mut self) -> Result<(), StepError> {
        self.with_fluid_gpu_backend(|remote, _, surroundings, _| {
            remote.open_present(surroundings);
            Ok(())
        })
    }
}
