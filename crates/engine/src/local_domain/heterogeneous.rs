//! Steps of grains on the CPU and, at the same time, of fluids on a GPU.

use super::one_gpu::{OneGpu, has_fluid_left, step_incompressible};
use super::queued_steps::run;
use crate::gpu::PASSES;
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::pass::Pass;
use crate::populations::Populations;
use crate::program::Moment;
use crate::state::Profile;
use crate::world::Solver;
use std::time::Instant;

impl Populations {
    /// Computes the forces on grains that moved, if they are pending.
    fn compute_pending_grain_forces(&mut self) -> Result<(), StepError> {
        if std::mem::take(&mut self.grains.forces_pending) {
            self.grain_forces()?;
        }
        Ok(())
    }
}

impl LocalDomain {
    /// Takes steps of the grains on the CPU and, at the same time, of the fluids on a GPU. Bodies move in between, when the loads of the fluids are
    /// there. While the GPU computes these, the CPU computes the contact forces. So a step ends with the motion of grains; the forces at their new
    /// positions are computed in the next step, or at an observation.
    pub(crate) fn advance_heterogeneous(&mut self, steps: u64) -> Result<(), StepError> {
        let end = self.populations.context.steps + steps;
        self.backend.observed = None;
        if self.populations.solver_of_fluids() == Solver::Incompressible {
            return (0..steps).try_for_each(|_| self.step_beside_incompressible_fluids());
        }
        while self.populations.context.steps < end {
            self.with_fluid_gpu_backend(|remote, _, surroundings, _| {
                remote.update_bodies(surroundings.bodies);
                Ok(())
            })?;
            self.start_fluid_step()?;
            let pushed = self.populations.compute_pending_grain_forces();
            let load = self.wait_for_fluids()?;
            pushed?;
            self.apply_loads_of_fluids(load)?;
            self.populations.move_grains()?;
            self.populations.grains.forces_pending = true;
            self.update_open_boundaries_if_due()?;
        }
        Ok(())
    }

    /// Computes all pending forces of grains and fluids, for an observation.
    pub(crate) fn compute_pending_forces(&mut self) -> Result<(), StepError> {
        if !self.populations.grains.forces_pending {
            return Ok(());
        }
        self.populations.compute_pending_grain_forces()?;
        let load = std::mem::take(&mut self.populations.bodies.load);
        self.apply_loads_of_fluids(load)
    }

    /// A step with fluids whose steps wait for the host: one thread of the host serves them, while the others compute the forces on grains.
    fn step_beside_incompressible_fluids(&mut self) -> Result<(), StepError> {
        self.populations.move_grains()?;
        let Some(remote) = &mut self.backend.fluids else {
            return self.populations.grain_forces();
        };
        let Some(mut flow) = self.populations.flow.take() else {
            return self.populations.grain_forces();
        };
        if let Some(trace) = &mut self.populations.trace {
            trace.ask();
        }
        remote.update_bodies(&self.populations.bodies);
        let surroundings = self.populations.surroundings();
        remote.open(&flow, &surroundings, 1);
        let (device, domain, mut of_gpu) = (
            self.populations.context.device.clone(),
            self.populations.context.domain,
            Profile::new(&PASSES),
        );
        let populations = &mut self.populations;
        let (stepped, (pushed, done)) = device.both(
            || step_incompressible(remote.as_mut(), &mut flow, domain, &mut of_gpu),
            || (populations.grain_forces(), Instant::now()),
        );
        let load = flow.body_boundaries.apply_body_load(&self.populations.bodies);
        self.populations.flow = Some(flow);
        self.populations.profile.add_of_gpu(&of_gpu);
        self.populations.profile.add_time(Pass::Fluids as usize, done, 1);
        if let Some(trace) = &mut self.populations.trace {
            trace.note("fluid steps", None, self.populations.context.steps);
            trace.note("waiting", Some(done), self.populations.context.steps);
        }
        pushed?;
        let closed = stepped.map_err(|halt| self.stopped_by(halt))?;
        if closed.needs_host {
            self.handle_fluid_flags(closed.raised)?;
        }
        self.apply_loads_of_fluids(load)
    }

    /// Starts a step of the fluids on the GPU, with the bodies that it has. It starts again after a rebuild, and bodies can have left
    /// meanwhile: the GPU gets these with the next step.
    fn start_fluid_step(&mut self) -> Result<(), StepError> {
        if let Some(trace) = &mut self.populations.trace {
            trace.ask();
        }
        self.with_fluid_gpu_backend(|remote, flow, surroundings, _| {
            remote.open(flow, surroundings, 1);
            Ok(())
        })?;
        let list = self.queued_lists().fluids;
        run(&mut OneGpu::of(self), list, Moment::Step(0))
    }

    /// Waits until fluids have finished the step that they started; returns their loads on bodies at its start.
    fn wait_for_fluids(&mut self) -> Result<Vec<f64>, StepError> {
        let start = Instant::now();
        loop {
            let closed = self.with_fluid_gpu_backend(|remote, flow, surroundings, profile| {
                let mut closed = remote.close(flow, profile, false)?;
                let load = flow.body_boundaries.apply_body_load(surroundings.bodies);
                closed.needs_host |= has_fluid_left(remote, surroundings.context.domain, closed.raised)?;
                if !closed.needs_host {
                    remote.rebuild_if_needed(flow, closed.raised, profile)?;
                }
                Ok(Some((closed, load)))
            });
            let Some((closed, load)) = closed? else { return Ok(Vec::new()) };
            if closed.needs_host {
                // Fluids are a step ahead.
                self.populations.context.steps += closed.taken;
                let seen_to = self.handle_fluid_flags(closed.raised);
                self.populations.context.steps -= closed.taken;
                seen_to?;
            }
            if closed.taken > 0 {
                self.populations.profile.add_time(Pass::Fluids as usize, start, 1);
                if let Some(trace) = &mut self.populations.trace {
                    trace.note("fluid steps", None, self.populations.context.steps + 1);
                    trace.note("waiting", Some(start), self.populations.context.steps);
                }
                return Ok(load);
            }
            // A body moved too far since the last rebuild. Bodies that left meanwhile are removed from the fluids when this step is taken.
            self.start_fluid_step()?;
        }
    }

    /// Takes the loads of fluids on bodies; removes bodies that left meanwhile from the fluids.
    fn apply_loads_of_fluids(&mut self, load: Vec<f64>) -> Result<(), StepError> {
        if self.populations.with_flow(|flow, surroundings| flow.follow_bodies(surroundings)) {
            // On the GPU, bodies have the previous order.
            self.observe_fluids_only()?;
            self.upload_fluids_again()?;
        }
        self.populations.bodies.load = load;
        Ok(())
    }
}
