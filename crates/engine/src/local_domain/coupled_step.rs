//! Steps of grains and fluids of which one or both are on a GPU: one after the other on the GPU, or at the same time, on the CPU and on the GPU.

use crate::backend::Backend;
use crate::gpu::{FinishedSteps, FluidGpuBackend, GpuBackend, PASSES};
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::pass::Pass;
use crate::populations::Populations;
use crate::state::Profile;
use crate::world::Solver;
use seixo_device::gpu::GpuError;
use std::time::Instant;

/// Steps that both grains and fluids finished.
struct CoupledSteps {
    grains: FinishedSteps,
    fluids: FinishedSteps,
}

impl Populations {
    /// Whether fluids on a GPU are coupled to bodies.
    pub(crate) fn gpu_fluids_couple_bodies(&self) -> bool {
        self.flow
            .as_ref()
            .is_some_and(|flow| flow.is_on_gpu && !flow.body_boundaries.is_empty())
    }

    /// Computes the forces on grains that moved, if they are pending.
    fn compute_pending_grain_forces(&mut self) -> Result<(), StepError> {
        if std::mem::take(&mut self.grains.forces_pending) {
            self.grain_forces()?;
        }
        Ok(())
    }
}

impl LocalDomain {
    /// Takes steps of grains and fluids on one GPU that depend on each other, as bodies are in the fluids.
    pub(crate) fn advance_together(&mut self, steps: u64) -> Result<(), StepError> {
        let end = self.populations.context.steps + steps;
        while self.populations.context.steps < end {
            if !self.populations.grains_on_gpu() || !self.populations.gpu_fluids_couple_bodies() {
                return self.advance_by_backend(end - self.populations.context.steps);
            }
            self.backend.is_current = false;
            let most = self
                .populations
                .steps_until_open_boundary_event(self.populations.context.steps, end - self.populations.context.steps);
            let CoupledSteps { grains, fluids } = match self.populations.solver_of_fluids() {
                Solver::Incompressible => self.step_one_after_the_other()?,
                _ => self.step_concurrently(most)?,
            };
            debug_assert_eq!(grains.taken, fluids.taken);
            if fluids.needs_host {
                self.handle_fluid_flags(fluids.raised)?;
            }
            if grains.needs_host {
                self.handle_grain_flags(grains.raised)?;
            }
            self.update_open_boundaries_if_due()?;
        }
        Ok(())
    }

    /// Queues steps of both. Fluids come first, as their loads act on the bodies that grains then move. If one halts, the other does as well.
    fn step_concurrently(&mut self, most: u64) -> Result<CoupledSteps, StepError> {
        self.with_both_backends(|grains, fluids, host| {
            let batch = grains.batch(host, most).min(fluids.batch(most));
            let first = host.context.steps;
            host.with_flow(|flow, surroundings| fluids.open(flow, surroundings, first, batch));
            grains.open(host, batch);
            for ahead in 0..batch as u32 {
                host.with_flow(|flow, _| fluids.queue(flow, ahead));
                grains.queue(host, ahead)?;
                fluids.set_off(ahead);
            }
            let of_fluids = match host.fluids() {
                Some((flow, _, profile)) => {
                    let closed = fluids.close(flow, profile)?;
                    if !closed.needs_host {
                        fluids.rebuild_if_needed(flow, closed.raised, profile)?;
                    }
                    closed
                }
                None => FinishedSteps::default(),
            };
            let of_grains = grains.close(host)?;
            if !of_grains.needs_host {
                grains.rebuild_if_needed(host, of_grains.raised)?;
            }
            Ok(CoupledSteps {
                grains: of_grains,
                fluids: of_fluids,
            })
        })
    }

    /// A step of grains, then one of fluids that waits for the host and loads bodies at the end of the step.
    fn step_one_after_the_other(&mut self) -> Result<CoupledSteps, StepError> {
        self.with_both_backends(|grains, fluids, host| {
            grains.open(host, 1);
            grains.queue(host, 0)?;
            let of_grains = grains.close(host)?;
            if !of_grains.needs_host {
                grains.rebuild_if_needed(host, of_grains.raised)?;
            }
            let of_fluids = match host.fluids() {
                Some((flow, surroundings, profile)) if of_grains.taken > 0 => fluids.advance(flow, &surroundings, 1, profile)?,
                _ => FinishedSteps::default(),
            };
            Ok(CoupledSteps {
                grains: of_grains,
                fluids: of_fluids,
            })
        })
    }

    /// Takes steps of the grains on the CPU and, at the same time, of the fluids on a GPU. Bodies move in between, when the loads of the fluids are
    /// there. While the GPU computes these, the CPU computes the contact forces. So a step ends with the motion of grains; the forces at their new
    /// positions are computed in the next step, or at an observation.
    pub(crate) fn advance_heterogeneous(&mut self, steps: u64) -> Result<(), StepError> {
        let device = self.populations.context.device.clone();
        device.enter(|| self.overlap(steps))
    }

    fn overlap(&mut self, steps: u64) -> Result<(), StepError> {
        let end = self.populations.context.steps + steps;
        self.backend.is_current = false;
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
        let device = self.populations.context.device.clone();
        device.enter(|| self.populations.compute_pending_grain_forces())?;
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
        remote.update_walls(&self.populations.surroundings());
        let (device, mut of_gpu) = (self.populations.context.device.clone(), Profile::new(&PASSES));
        let populations = &mut self.populations;
        let (stepped, (pushed, done)) = device.both(
            || remote.step_alone(&mut flow, &mut of_gpu),
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
        let closed = stepped.map_err(|error| self.populations.failed(error.to_string()))?;
        if closed.needs_host {
            self.handle_fluid_flags(closed.raised)?;
        }
        self.apply_loads_of_fluids(load)
    }

    /// Starts a step of the fluids on the GPU, with the bodies in their last known positions.
    fn start_fluid_step(&mut self) -> Result<(), StepError> {
        if let Some(trace) = &mut self.populations.trace {
            trace.ask();
        }
        self.with_fluid_gpu_backend(|remote, flow, surroundings, _| {
            remote.open(flow, surroundings, surroundings.context.steps, 1);
            remote.queue(flow, 0);
            Ok(())
        })
    }

    /// Waits until fluids have finished the step that they started; returns their loads on bodies at its start.
    fn wait_for_fluids(&mut self) -> Result<Vec<f64>, StepError> {
        let start = Instant::now();
        loop {
            let closed = self.with_fluid_gpu_backend(|remote, flow, surroundings, profile| {
                let closed = remote.close(flow, profile)?;
                let load = flow.body_boundaries.apply_body_load(surroundings.bodies);
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
            self.with_fluid_gpu_backend(|remote, flow, surroundings, _| remote.observe(flow, surroundings))?;
            self.upload_fluids_again()?;
        }
        self.populations.bodies.load = load;
        Ok(())
    }

    fn with_both_backends<T>(
        &mut self,
        run: impl FnOnce(&mut dyn GpuBackend, &mut dyn FluidGpuBackend, &mut Populations) -> Result<T, GpuError>,
    ) -> Result<T, StepError> {
        let Backend { grains, fluids, .. } = &mut self.backend;
        let (grains, fluids) = grains.as_mut().zip(fluids.as_mut()).expect("grains and fluids are on the GPU");
        let result = run(grains.as_mut(), fluids.as_mut(), &mut self.populations);
        result.map_err(|error| self.populations.failed(error.to_string()))
    }
}
