//! Where fluids are stepped: here, or on a GPU.

use super::Flow;
use crate::gpu::{FlowOnGpu, PASSAGES, RemoteFlow};
use crate::guard::Stop;
use crate::refusal::Refusal;
use crate::search::Pairs;
use crate::simulation::Simulation;
use crate::world::Precision;
use seixo_device::gpu::{Gpu, GpuError};
use seixo_sweeps::motion::{LEFT, STALE};
use std::time::Instant;

impl Flow {
    /// Takes the particles back from the GPU. What the host knows of them must be up to date.
    pub fn come_home(&mut self, simulation: &Simulation) {
        if self.remote.take().is_some() {
            self.list_anew(simulation);
        }
    }

    /// Hands the particles to a GPU.
    fn hand_over(&mut self, gpu: Gpu, simulation: &Simulation) -> Result<(), GpuError> {
        if self.follow_bodies(simulation) {
            self.list_anew(simulation);
        }
        let bodies = simulation.remote.as_ref().and_then(|remote| remote.of_bodies());
        let remote: Box<dyn RemoteFlow> = match simulation.precision() {
            Precision::F64 => Box::new(FlowOnGpu::<f64, f64>::take_over(gpu, self, simulation, bodies)?),
            Precision::Mixed => Box::new(FlowOnGpu::<f64, f32>::take_over(gpu, self, simulation, bodies)?),
            Precision::F32 => Box::new(FlowOnGpu::<f32, f32>::take_over(gpu, self, simulation, bodies)?),
        };
        self.surface = self.surface_energy(&simulation.device);
        self.remote = Some(remote);
        (self.pairs, self.before_walls) = (Pairs::default(), Pairs::default());
        self.suspension.forget_rows();
        Ok(())
    }
}

impl Simulation {
    /// Whether fluids are on a GPU.
    pub(crate) fn flows_remotely(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.remote.is_some())
    }

    /// Why fluids cannot go to a GPU, if they cannot: there, they are stepped after all grains, and a servo follows these step by step.
    pub(crate) fn keeps_fluids_here(&self) -> Option<String> {
        let flow = self.flow.as_ref()?;
        let bounds = |wall: usize| flow.muller.is_some() || flow.plan.boundary.wall.contains(&(wall as u32));
        let mut walls = self.walls.given.iter().enumerate();
        let (_, wall) = walls.find(|(index, wall)| wall.motion.servo.is_some() && bounds(*index))?;
        let name = &wall.name;
        Some(format!("wall {name} has a servo and bounds a fluid, which does not go on a GPU"))
    }

    /// Hands fluids, if there are any, to the GPU.
    pub(crate) fn hand_fluids_over(&mut self, gpu: &Gpu) -> Result<(), Refusal> {
        if self.flow.as_ref().is_none_or(|flow| flow.fields.len() == 0) {
            return Ok(());
        }
        if let Some(why) = self.keeps_fluids_here() {
            return Err(Refusal::Fluid(format!("{why}; use --device cpu")));
        }
        let handed = match self.flow.take() {
            Some(mut flow) => {
                let handed = flow.hand_over(gpu.clone(), self);
                self.flow = Some(flow);
                handed
            }
            None => Ok(()),
        };
        self.is_current = false;
        Ok(handed?)
    }

    /// Does something with the fluids that are on a GPU; where none are, nothing.
    pub(crate) fn with_remote_flow<T: Default>(
        &mut self,
        run: impl FnOnce(&mut dyn RemoteFlow, &mut Flow, &Simulation) -> Result<T, GpuError>,
    ) -> Result<T, Stop> {
        let Some(mut flow) = self.flow.take() else {
            return Ok(T::default());
        };
        let result = match flow.remote.take() {
            Some(mut remote) => {
                let result = run(remote.as_mut(), &mut flow, self);
                flow.remote = Some(remote);
                result
            }
            None => Ok(T::default()),
        };
        self.flow = Some(flow);
        result.map_err(|error| self.failed(error.to_string()))
    }

    /// Steps from one on until something comes or goes at inlets and outlets, `most` at most and one at least.
    pub(crate) fn until_passage(&self, from: u64, most: u64) -> u64 {
        let next = self.flow.as_ref().map_or(u64::MAX, |flow| flow.next_passage());
        next.saturating_sub(from).clamp(1, most)
    }

    /// Lets come and go what is due at inlets and outlets of fluids on a GPU.
    pub(crate) fn let_pass_when_due(&mut self) -> Result<(), Stop> {
        if self.flow.as_ref().is_some_and(|flow| flow.next_passage() <= self.steps) {
            let start = Instant::now();
            self.let_fluids_pass()?;
            self.profile.book_on_gpu(PASSAGES, start, 1);
        }
        Ok(())
    }

    /// Takes the fluids so many steps on, on the GPU, to where the clock is.
    pub(crate) fn advance_fluids_remotely(&mut self, steps: u64) -> Result<(), Stop> {
        let end = self.steps;
        let mut left = steps;
        while left > 0 && self.flows_remotely() {
            // No further than to where something comes or goes.
            let most = self.until_passage(end - left, left);
            // Poses of walls are those of the steps until there.
            self.steps = end - left + most;
            let mut profile = std::mem::take(&mut self.profile);
            let advanced = self.with_remote_flow(|remote, flow, simulation| {
                remote.see_bodies(&simulation.bodies);
                remote.advance(flow, simulation, most, &mut profile)
            });
            self.profile = profile;
            let closed = advanced?;
            left -= closed.taken;
            self.steps = end - left;
            if closed.must_be_seen_to {
                self.see_to_fluids(closed.raised)?;
            }
            self.let_pass_when_due()?;
            self.steps = end;
        }
        Ok(())
    }

    /// Turns flags of the GPU into the error that they mean, or takes away what left.
    pub(crate) fn see_to_fluids(&mut self, raised: u32) -> Result<(), Stop> {
        self.guard_fluids_on_gpu(raised)?;
        debug_assert_eq!(raised & !(STALE | LEFT), 0);
        // What left is taken away here, and the rest goes back.
        self.send_fluids_anew()
    }

    /// Turns flags of the GPU into the error that they mean, if they mean one; all that is known of fluids is brought up to date.
    pub(crate) fn guard_fluids_on_gpu(&mut self, raised: u32) -> Result<(), Stop> {
        self.observe_fluids()?;
        self.with_flow(|flow, simulation| flow.stopped_by(raised, simulation))
            .map_or(Ok(()), Err)
    }

    /// Lists fluids here, without what left, and hands them to the GPU again.
    pub(crate) fn send_fluids_anew(&mut self) -> Result<(), Stop> {
        self.with_flow(|flow, simulation| {
            flow.come_home(simulation);
            flow.renew_lists(simulation);
        });
        match self.gpu.clone() {
            Some(gpu) => self.hand_fluids_over(&gpu).map_err(|refusal| self.failed(refusal.to_string())),
            None => Ok(()),
        }
    }

    /// Brings what the host knows of fluids up to date.
    pub(crate) fn observe_fluids(&mut self) -> Result<(), Stop> {
        if !self.flows_remotely() {
            return Ok(());
        }
        self.with_remote_flow(|remote, flow, simulation| {
            remote.see_bodies(&simulation.bodies);
            remote.observe(flow, simulation)
        })?;
        self.take_loads_of_fluids();
        Ok(())
    }
}
