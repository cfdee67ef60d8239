//! The step of a subdomain on CPU cores: the passes of all, and what their exchanges mean among domains.

use super::{StepStatus, Subdomain, agree, halt, step_status};
use crate::decomposition::fluids::{FluidRebuild, reduce_body_boundary_forces};
use crate::decomposition::work::WorkClock;
use crate::exchange::HaltReason;
use crate::flow::Constraint;
use crate::guard::StepError;
use crate::populations::Populations;
use crate::program::{Exchange, Executor};

use seixo_sweeps::motion::SKIN_EXCEEDED;

/// A step of a subdomain.
pub(super) struct DomainStep<'a> {
    domain: &'a mut Subdomain,
    /// Last agreement of all subdomains.
    all: StepStatus,
    clock: WorkClock,
}

impl DomainStep<'_> {
    /// A step that has not begun.
    pub fn of(domain: &mut Subdomain) -> DomainStep<'_> {
        let clock = WorkClock::started(domain.counted().spent);
        DomainStep {
            domain,
            all: StepStatus::Fine,
            clock,
        }
    }

    /// Adds the time since the step of grains to the work for fluids.
    pub fn finish(mut self) {
        let time = self.clock.lap(self.domain.counted().spent);
        if let Some(fluids) = &mut self.domain.fluids {
            fluids.work.add(time);
        }
    }

    /// Agrees on errors and neighbor lists of grains, and learns how far any grain moved.
    fn agree_on_lists(&mut self, failure: Option<&StepError>) -> Result<(), HaltReason> {
        let domain = &mut *self.domain;
        let lists_out_of_date = domain.local.populations.lists_out_of_date();
        let (all, farthest) = domain.agree(step_status(failure, lists_out_of_date))?;
        // A ghost moves as far as its original, however little the own grains move.
        if let Some(first) = domain.local.populations.grains.motion_reports.first_mut() {
            first.stride_square = farthest;
        }
        domain.local.populations.grains.border.goes_ahead = all == StepStatus::Fine;
        self.all = all;
        Ok(())
    }

    /// Receives ghosts, or migrates grains and rebuilds the neighbor lists, as all agreed.
    fn receive_or_migrate(&mut self, failure: &mut Option<StepError>) -> Result<(), HaltReason> {
        self.domain.local.populations.grains.border.goes_ahead = false;
        self.domain.receive_ghost_positions()?;
        match self.all {
            StepStatus::Failed => Err(halt(failure.take())),
            StepStatus::ListsOutOfDate | StepStatus::BodiesLeft => self.domain.migrate(),
            StepStatus::Fine => Ok(()),
        }
    }

    /// Updates ghosts of fluid, or rebuilds its neighbor lists if a domain has to, as this one says of itself.
    fn fluid_lists(&mut self, is_due: bool, reason: FluidRebuild, failure: &mut Option<StepError>) -> Result<(), HaltReason> {
        let own = step_status(failure.as_ref(), is_due);
        self.domain.migrated += self
            .domain
            .with_fluids(|fluids, local, transport| fluids.go_on(own, reason, failure, local, transport))?;
        Ok(())
    }
}

impl Executor for DomainStep<'_> {
    type Halt = HaltReason;

    fn populations(&mut self) -> &mut Populations {
        &mut self.domain.local.populations
    }

    fn exchange(&mut self, exchange: Exchange, failure: &mut Option<StepError>) -> Result<(), HaltReason> {
        match exchange {
            Exchange::ServoLoads => self.domain.reduce_servo_loads(),
            Exchange::BodyForces => self.domain.reduce_body_forces(),
            Exchange::GhostPositions | Exchange::Agreement | Exchange::NeighborLists | Exchange::Status if !self.domain.has_grains => {
                Ok(())
            }
            Exchange::GhostPositions => self.domain.send_ghost_positions(),
            Exchange::Agreement => self.agree_on_lists(failure.as_ref()),
            Exchange::NeighborLists => self.receive_or_migrate(failure),
            Exchange::Status => match agree(self.domain.transport(), step_status(failure.as_ref(), false))? {
                StepStatus::Failed => Err(halt(failure.take())),
                _ => {
                    // The step of grains ends here.
                    let time = self.clock.lap(self.domain.counted().spent);
                    self.domain.work.add(time);
                    Ok(())
                }
            },
            Exchange::FluidLists(removes) => {
                let flow = self.domain.local.populations.flow.as_ref();
                let is_used_up = flow.is_some_and(|flow| flow.flags() & SKIN_EXCEEDED != 0);
                let reason = if removes {
                    FluidRebuild::Motion
                } else {
                    FluidRebuild::MotionWithinStep
                };
                self.fluid_lists(is_used_up, reason, failure)
            }
            Exchange::LostFluid => {
                let populations = &mut self.domain.local.populations;
                let has_left = populations.with_flow(|flow, surroundings| flow.lists_left_fluid(surroundings));
                self.fluid_lists(has_left, FluidRebuild::Loss, failure)
            }
            // On the CPU, they follow with the agreement on lists.
            Exchange::FluidGhosts => Ok(()),
            Exchange::WallPressures => self
                .domain
                .with_fluids(|fluids, local, transport| fluids.exchange_wall_pressures(local, transport)),
            Exchange::ParticleVelocities => self
                .domain
                .with_fluids(|fluids, local, transport| fluids.exchange_particle_velocities(local, transport)),
            Exchange::DrivenVelocities => self
                .domain
                .with_fluids(|fluids, local, transport| fluids.exchange_driven_velocities(local, transport)),
            Exchange::Densities => self
                .domain
                .with_fluids(|fluids, local, transport| fluids.exchange_densities(local, transport)),
            Exchange::BodyBoundaryForces => self
                .domain
                .with_fluids(|_, local, transport| reduce_body_boundary_forces(local, transport)),
        }
    }

    fn solve(&mut self, constraint: Constraint) -> Result<(), HaltReason> {
        self.domain
            .with_fluids(|fluids, local, transport| fluids.project(constraint, local, transport))
    }

    fn stop(&self, error: StepError) -> HaltReason {
        // No exchange reported it to the others.
        HaltReason::lost(&error)
    }
}
