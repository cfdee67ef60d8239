//! Grains and fluids of which the one or the other is on a GPU: each step after the other on it, or both at the same time, on the cores of this
//! machine and on the GPU.

use crate::flow::Flow;
use crate::gpu::{Closed, PASSES, Remote, RemoteFlow};
use crate::guard::Stop;
use crate::simulation::{Pass, Simulation};
use crate::state::Profile;
use crate::world::{DeviceChoice, Leaving, Solver};
use seixo_device::gpu::GpuError;
use seixo_sweeps::motion::{LEFT, STALE};
use std::time::Instant;

/// What came of steps that both took.
struct Taken {
    grains: Closed,
    fluids: Closed,
}

impl Simulation {
    /// Whether grains stay on the cores of this machine while fluids are on a GPU.
    pub(crate) fn is_heterogeneous(&self) -> bool {
        matches!(self.settings.device, DeviceChoice::Heterogeneous(_))
    }

    /// Whether fluids on a GPU feel bodies.
    pub(crate) fn feels_bodies_remotely(&self) -> bool {
        self.flow
            .as_ref()
            .is_some_and(|flow| flow.remote.is_some() && !flow.hulls.is_empty())
    }

    /// Takes steps in which grains and fluids on one GPU wait for each other, as bodies are in the fluids.
    pub(crate) fn advance_together(&mut self, steps: u64) -> Result<(), Stop> {
        let end = self.steps + steps;
        while self.steps < end {
            if !self.is_remote() || !self.feels_bodies_remotely() {
                return self.advance_remotely(end - self.steps);
            }
            self.is_current = false;
            let most = self.until_passage(self.steps, end - self.steps);
            let Taken { grains, fluids } = match self.solver_of_fluids() {
                Solver::Incompressible => self.step_one_after_the_other()?,
                _ => self.step_together(most)?,
            };
            debug_assert_eq!(grains.taken, fluids.taken);
            if fluids.must_be_seen_to {
                self.see_to_fluids(fluids.raised)?;
            }
            if grains.must_be_seen_to {
                self.see_to_grains(grains.raised)?;
            }
            self.let_pass_when_due()?;
        }
        Ok(())
    }

    /// Queues steps of both, fluids first, which load the bodies that grains then move; one that halts for the one halts for the other.
    fn step_together(&mut self, most: u64) -> Result<Taken, Stop> {
        self.with_both(|grains, fluids, flow, host| {
            let batch = grains.batch(host, most).min(fluids.batch(most));
            fluids.open(flow, host, host.steps, batch);
            grains.open(host, batch);
            for ahead in 0..batch as u32 {
                fluids.queue(flow, ahead);
                grains.queue(host, ahead)?;
                fluids.set_off(ahead);
            }
            let mut profile = std::mem::take(&mut host.profile);
            let of_fluids = fluids.close(flow, &mut profile)?;
            if !of_fluids.must_be_seen_to {
                fluids.renew_when_stale(flow, of_fluids.raised, &mut profile)?;
            }
            host.profile = profile;
            let of_grains = grains.close(host)?;
            if !of_grains.must_be_seen_to {
                grains.renew_when_stale(host, of_grains.raised)?;
            }
            Ok(Taken {
                grains: of_grains,
                fluids: of_fluids,
            })
        })
    }

    /// A step of grains, then one of fluids that waits for the host and is at the end of the step when it loads bodies.
    fn step_one_after_the_other(&mut self) -> Result<Taken, Stop> {
        self.with_both(|grains, fluids, flow, host| {
            grains.open(host, 1);
            grains.queue(host, 0)?;
            let of_grains = grains.close(host)?;
            if !of_grains.must_be_seen_to {
                grains.renew_when_stale(host, of_grains.raised)?;
            }
            let mut of_fluids = Closed::default();
            if of_grains.taken > 0 {
                let mut profile = std::mem::take(&mut host.profile);
                of_fluids = fluids.advance(flow, host, 1, &mut profile)?;
                host.profile = profile;
            }
            Ok(Taken {
                grains: of_grains,
                fluids: of_fluids,
            })
        })
    }

    /// Turns flags that grains on a GPU raised into the error that they mean, or takes away what left.
    pub(crate) fn see_to_grains(&mut self, raised: u32) -> Result<(), Stop> {
        if self.carries && self.leaving() == Leaving::Delete && raised & !(STALE | LEFT) == 0 {
            return self.take_lost_away();
        }
        Err(self.explained(raised))
    }

    /// Takes steps in which the cores of this machine step the grains, and a GPU the fluids at the same time. Bodies are moved in between, when what
    /// fluids do to them is known: while the GPU finds that, the cores find what grains do to each other. So a step ends with grains moved, and what
    /// pushes them there is found in the next one, or when somebody looks.
    pub(crate) fn advance_on_both(&mut self, steps: u64) -> Result<(), Stop> {
        let device = self.device.clone();
        device.enter(|| self.overlap(steps))
    }

    fn overlap(&mut self, steps: u64) -> Result<(), Stop> {
        let end = self.steps + steps;
        self.is_current = false;
        if self.solver_of_fluids() == Solver::Incompressible {
            return (0..steps).try_for_each(|_| self.step_beside_incompressible_fluids());
        }
        while self.steps < end {
            self.with_remote_flow(|remote, _, simulation| {
                remote.see_bodies(&simulation.bodies);
                Ok(())
            })?;
            self.send_fluids_ahead()?;
            let pushed = self.push_grains_if_owed();
            let load = self.wait_for_fluids()?;
            pushed?;
            self.take_loads(load)?;
            self.move_grains()?;
            self.owes_forces = true;
            self.let_pass_when_due()?;
        }
        Ok(())
    }

    /// Finds what pushes grains where they are, if they were moved there and that was left for later.
    fn push_grains_if_owed(&mut self) -> Result<(), Stop> {
        if std::mem::take(&mut self.owes_forces) {
            self.push_grains()?;
        }
        Ok(())
    }

    /// Finds all that a step on both left for the next one, as somebody looks.
    pub(crate) fn settle_what_is_owed(&mut self) -> Result<(), Stop> {
        if !self.owes_forces {
            return Ok(());
        }
        let device = self.device.clone();
        device.enter(|| self.push_grains_if_owed())?;
        let load = std::mem::take(&mut self.bodies.load);
        self.take_loads(load)
    }

    /// A step beside fluids whose steps wait for the host: one of its threads sees to them, while the others find what pushes grains.
    fn step_beside_incompressible_fluids(&mut self) -> Result<(), Stop> {
        self.move_grains()?;
        let Some(mut flow) = self.flow.take() else {
            return self.push_grains();
        };
        let Some(mut remote) = flow.remote.take() else {
            self.flow = Some(flow);
            return self.push_grains();
        };
        if let Some(trace) = &mut self.trace {
            trace.ask();
        }
        remote.see_bodies(&self.bodies);
        remote.see_walls(self);
        let (device, mut of_gpu) = (self.device.clone(), Profile::new(&PASSES));
        let (stepped, (pushed, done)) = device.both(
            || remote.step_alone(&mut flow, &mut of_gpu),
            || (self.push_grains(), Instant::now()),
        );
        let load = flow.hulls.take_load(&self.bodies);
        flow.remote = Some(remote);
        self.flow = Some(flow);
        self.profile.add_of_gpu(&of_gpu);
        self.profile.book(Pass::Fluids as usize, done, 1);
        if let Some(trace) = &mut self.trace {
            trace.note("fluids", None, self.steps);
            trace.note("waiting", Some(done), self.steps);
        }
        pushed?;
        let closed = stepped.map_err(|error| self.failed(error.to_string()))?;
        if closed.must_be_seen_to {
            self.see_to_fluids(closed.raised)?;
        }
        self.take_loads(load)
    }

    /// Lets fluids on the GPU begin with their step, beside bodies as they saw them last.
    fn send_fluids_ahead(&mut self) -> Result<(), Stop> {
        if let Some(trace) = &mut self.trace {
            trace.ask();
        }
        self.with_remote_flow(|remote, flow, simulation| {
            remote.open(flow, simulation, simulation.steps, 1);
            remote.queue(flow, 0);
            Ok(())
        })
    }

    /// Waits until fluids have taken the step that they began with; returns what they did to bodies at its start.
    fn wait_for_fluids(&mut self) -> Result<Vec<f64>, Stop> {
        let start = Instant::now();
        loop {
            let mut profile = std::mem::take(&mut self.profile);
            let closed = self.with_remote_flow(|remote, flow, simulation| {
                let closed = remote.close(flow, &mut profile)?;
                let load = flow.hulls.take_load(&simulation.bodies);
                if !closed.must_be_seen_to {
                    remote.renew_when_stale(flow, closed.raised, &mut profile)?;
                }
                Ok(Some((closed, load)))
            });
            self.profile = profile;
            let Some((closed, load)) = closed? else { return Ok(Vec::new()) };
            if closed.must_be_seen_to {
                // Fluids are a step ahead.
                self.steps += closed.taken;
                let seen_to = self.see_to_fluids(closed.raised);
                self.steps -= closed.taken;
                seen_to?;
            }
            if closed.taken > 0 {
                self.profile.book(Pass::Fluids as usize, start, 1);
                if let Some(trace) = &mut self.trace {
                    trace.note("fluids", None, self.steps + 1);
                    trace.note("waiting", Some(start), self.steps);
                }
                return Ok(load);
            }
            // A body went too far from where it was listed. Some may have left meanwhile, which fluids are told of when this step is taken.
            self.send_fluids_ahead()?;
        }
    }

    /// Takes over what fluids did to bodies; those that left meanwhile, fluids feel no more.
    fn take_loads(&mut self, load: Vec<f64>) -> Result<(), Stop> {
        if self.with_flow(|flow, simulation| flow.follow_bodies(simulation)) {
            // On the GPU, bodies stand in the order before.
            self.with_remote_flow(|remote, flow, simulation| remote.observe(flow, simulation))?;
            self.send_fluids_anew()?;
        }
        self.bodies.load = load;
        Ok(())
    }

    fn with_both<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Remote, &mut dyn RemoteFlow, &mut Flow, &mut Simulation) -> Result<T, GpuError>,
    ) -> Result<T, Stop> {
        let mut flow = self.flow.take().expect("fluids are on the GPU");
        let mut fluids = flow.remote.take().expect("fluids are on the GPU");
        let mut grains = self.remote.take().expect("grains are on the GPU");
        let result = run(grains.as_mut(), fluids.as_mut(), &mut flow, self);
        flow.remote = Some(fluids);
        (self.flow, self.remote) = (Some(flow), Some(grains));
        result.map_err(|error| self.failed(error.to_string()))
    }
}
