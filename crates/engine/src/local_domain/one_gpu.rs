//! A domain on one GPU without others: there is no one to exchange data with.

use super::queued_steps::GpuExecutor;
use crate::backend::Backend;
use crate::exchange::HaltReason;
use crate::flow::{Constraint, Flow};
use crate::gpu::{FinishedSteps, FluidGpuBackend, NoNeighbors, lists_out_of_date};
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::program::{Exchange, Moment, QueuedLists, Work};
use crate::state::Profile;
use crate::world::{Domain, LeavingPolicy, Solver};
use seixo_device::gpu::GpuError;
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, SKIN_EXCEEDED, TOO_COMPRESSED, TOO_FAST};
use std::ops::ControlFlow;

/// A domain on one GPU, and what its last steps raised.
pub(super) struct OneGpu<'a> {
    local: &'a mut LocalDomain,
    grains: FinishedSteps,
    fluids: FinishedSteps,
    /// Whether the host is to remove grains and bodies that left, after the rebuild of the lists.
    have_grains_left: bool,
}

/// Flags of fluids in this domain after which a step stops at once.
pub(crate) fn fatal_for_fluids(domain: Option<Domain>) -> u32 {
    let is_guarded = domain.is_some_and(|domain| domain.leaving == LeavingPolicy::Error);
    NOT_FINITE | TOO_FAST | TOO_COMPRESSED | if is_guarded { LEFT_DOMAIN } else { 0 }
}

impl OneGpu<'_> {
    /// This domain.
    pub fn of(local: &mut LocalDomain) -> OneGpu<'_> {
        OneGpu {
            local,
            grains: FinishedSteps::default(),
            fluids: FinishedSteps::default(),
            have_grains_left: false,
        }
    }

    /// Waits for the queued steps, up to which the clock goes.
    fn close(&mut self) -> Result<(), StepError> {
        let local = &mut *self.local;
        let (waits_for_host, has_grains) = (local.host_waits_for_fluids(), local.populations.grains_on_gpu());
        if has_grains {
            let began = local.populations.now();
            self.grains = local.with_gpu_backend(|remote, host| remote.close(host, false))?;
            local.populations.note("waiting", began);
        }
        // Walls are at the end of the steps now.
        if !waits_for_host {
            let began = local.populations.now();
            self.fluids = local.with_fluid_gpu_backend(|remote, flow, _, profile| remote.close(flow, profile, false))?;
            local.populations.note("waiting", began);
        }
        if !has_grains {
            local.populations.pass_time(if waits_for_host { 1 } else { self.fluids.taken });
        }
        debug_assert!(!has_grains || waits_for_host || !local.populations.fluids_on_gpu() || self.grains.taken == self.fluids.taken);
        Ok(())
    }

    /// Looks for grains and bodies that left, once the lists of grains are out of date. The rebuild removes them, or the host after it.
    fn find_left_grains(&mut self) -> Result<(), StepError> {
        let is_due = lists_out_of_date(&self.local.populations, self.grains.raised);
        if is_due && self.local.with_gpu_backend(|remote, host| remote.has_outside(host))? {
            self.have_grains_left = self.local.populations.loses_on_host();
            self.grains.raised |= if self.have_grains_left { 0 } else { LEFT_DOMAIN };
        }
        Ok(())
    }

    /// Looks for fluid that left, once its lists are out of date: the host then removes it at the end of the step.
    fn find_left_fluid(&mut self) -> Result<(), StepError> {
        let raised = self.fluids.raised;
        let finds_some = self
            .local
            .with_fluid_gpu_backend(|remote, _, surroundings, _| has_fluid_left(remote, surroundings.context.domain, raised))?;
        self.fluids.needs_host |= finds_some;
        Ok(())
    }

    /// Finds the possible contacts of bodies on the cores, and lists the fluids meanwhile, unless these wait for the host.
    fn look_for_contacts(&mut self) -> Result<(), StepError> {
        if !self.local.host_waits_for_fluids() && !self.fluids.needs_host {
            self.find_left_fluid()?;
        }
        let has_fluids_to_list = !self.local.host_waits_for_fluids() && !self.fluids.needs_host;
        let raised = if has_fluids_to_list { self.fluids.raised } else { 0 };
        self.local.look_beside_fluids(raised)?;
        if has_fluids_to_list {
            self.fluids.raised &= !SKIN_EXCEEDED;
        }
        Ok(())
    }
}

impl GpuExecutor for OneGpu<'_> {
    type Halt = StepError;

    fn local(&mut self) -> &mut LocalDomain {
        self.local
    }

    fn batch(&mut self, wished: u64) -> Result<u64, StepError> {
        Ok(wished)
    }

    fn exchange(&mut self, exchange: Exchange, _: Moment) -> Result<ControlFlow<()>, StepError> {
        match exchange {
            Exchange::Agreement => self.close()?,
            Exchange::NeighborLists => {
                if self.local.populations.grains_on_gpu() && !self.grains.needs_host {
                    self.find_left_grains()?;
                    let raised = self.grains.raised;
                    let populations = &self.local.populations;
                    if populations.splits_broad_phase() && lists_out_of_date(populations, raised) {
                        self.look_for_contacts()?;
                    }
                    self.local.with_gpu_backend(|remote, host| remote.rebuild_if_needed(host, raised))?;
                }
                if self.local.host_waits_for_fluids() {
                    if self.local.populations.grains_on_gpu() && self.grains.taken == 0 {
                        return Ok(ControlFlow::Break(()));
                    }
                    self.local.open_fluids(1)?;
                }
            }
            Exchange::FluidLists(true) if !self.fluids.needs_host => {
                self.find_left_fluid()?;
                if !self.fluids.needs_host {
                    let raised = self.fluids.raised;
                    self.local
                        .with_fluid_gpu_backend(|remote, flow, _, profile| remote.rebuild_if_needed(flow, raised, profile))?;
                }
            }
            Exchange::FluidLists(false) => {
                let domain = self.local.populations.context.domain;
                self.fluids = self
                    .local
                    .with_fluid_gpu_backend(|remote, flow, _, profile| follow_motion(remote, flow, domain, profile))?;
                if self.fluids.raised & fatal_for_fluids(domain) != 0 {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Exchange::LostFluid => self
                .local
                .with_fluid_gpu_backend(|remote, flow, _, profile| remote.finish(flow, profile))?,
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn solve(&mut self, constraint: Constraint) -> Result<(), StepError> {
        let Backend { fluids: Some(fluids), .. } = &mut self.local.backend else {
            return Ok(());
        };
        let Some(flow) = self.local.populations.flow.as_deref_mut() else {
            return Ok(());
        };
        let solved = fluids.solve(flow, constraint, &mut NoNeighbors);
        solved.map_err(|halt| self.local.stopped_by(halt))
    }

    fn settle(&mut self) -> Result<(), StepError> {
        if self.fluids.needs_host {
            self.local.handle_fluid_flags(self.fluids.raised)?;
        }
        if self.grains.needs_host {
            return Err(self.local.explained(self.grains.raised));
        }
        if std::mem::take(&mut self.have_grains_left) {
            self.local.remove_left_with_bodies()?;
        }
        self.local.update_open_boundaries_if_due()
    }

    fn stop(&self, error: StepError) -> StepError {
        error
    }

    fn is_alone(&self) -> bool {
        true
    }
}

/// Whether lists of fluid are out of date after a step that raised these flags, and fluid is outside a domain that removes it.
pub(super) fn has_fluid_left(remote: &dyn FluidGpuBackend, domain: Option<Domain>, raised: u32) -> Result<bool, GpuError> {
    let removes = |domain: &Domain| domain.leaving == LeavingPolicy::Delete && raised & SKIN_EXCEEDED != 0;
    match domain.filter(removes) {
        Some(domain) => remote.has_outside(&domain),
        None => Ok(false),
    }
}

/// After the motion of incompressible fluid: downloads what it raised, and rebuilds the neighbor lists if these are out of date and the step goes on.
/// The host then removes fluid that left at the end of the step.
fn follow_motion(
    remote: &mut dyn FluidGpuBackend,
    flow: &mut Flow,
    domain: Option<Domain>,
    profile: &mut Profile,
) -> Result<FinishedSteps, GpuError> {
    let mut moved = remote.close(flow, profile, false)?;
    if moved.raised & fatal_for_fluids(domain) == 0 {
        remote.rebuild_if_needed(flow, moved.raised, profile)?;
        moved.needs_host |= has_fluid_left(remote, domain, moved.raised)?;
    }
    Ok(moved)
}

/// A step of incompressible fluid without anything else, on the thread that calls it. It was opened.
pub(super) fn step_incompressible(
    remote: &mut dyn FluidGpuBackend,
    flow: &mut Flow,
    domain: Option<Domain>,
    profile: &mut Profile,
) -> Result<FinishedSteps, HaltReason> {
    let mut moved = FinishedSteps::default();
    for queued in QueuedLists::of(Some(Solver::Incompressible)).end_of_fluids {
        match queued.work {
            Work::Fluids(launch) => remote.launch(launch, flow, Moment::Step(0)),
            Work::Solve(constraint) => remote.solve(flow, constraint, &mut NoNeighbors)?,
            Work::Exchange(Exchange::FluidLists(_)) => {
                moved = follow_motion(remote, flow, domain, profile)?;
                if moved.raised & fatal_for_fluids(domain) != 0 {
                    break;
                }
            }
            Work::Exchange(Exchange::LostFluid) => remote.finish(flow, profile)?,
            Work::Exchange(_) | Work::Grains(_) => {}
        }
    }
    Ok(moved)
}
