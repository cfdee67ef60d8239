//! Fluids of a domain whose particles are on a GPU.

use super::SharedFluids;
use crate::division::letters::exchange;
use crate::division::samples::Sample;
use crate::division::subdomain::{Halt, balance, halt};
use crate::flow::Flow;
use crate::gpu::RemoteFlow;
use crate::simulation::Simulation;
use crate::world::{Leaving, Solver};
use seixo_device::gpu::Gpu;
use seixo_sweeps::motion::{LEFT, NOT_FINITE, STALE, TOO_COMPRESSED, TOO_FAST};
use seixo_transport::Transport;

impl SharedFluids {
    /// Hands the particles, listed here, over to a GPU.
    pub fn hand_over(&mut self, gpu: &Gpu, simulation: &mut Simulation) -> Result<(), Halt> {
        simulation.hand_fluids_over(gpu)?;
        if !simulation.flows_remotely() {
            return Err(Halt::no_fluid());
        }
        let shared = std::mem::take(&mut self.fluid);
        self.walls.clear();
        on_gpu(simulation, |remote, _, _| Ok(remote.share(&shared)?))
    }

    /// As [`SharedFluids::step`], on the GPU.
    pub(super) fn step_on_gpu(&mut self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<u64, Halt> {
        let by_letters = self.desk.is_none();
        let (own, letters) = on_gpu(simulation, |remote, flow, simulation| {
            Ok(remote.step_and_show(flow, simulation, by_letters)?)
        })?;
        let raised = raised_anywhere(own, transport)?;
        let leaving = if simulation.leaving() == Leaving::Error { LEFT } else { 0 };
        let fatal = NOT_FINITE | TOO_FAST | TOO_COMPRESSED | leaving;
        if own & fatal != 0 {
            return Err(halt(simulation.guard_fluids_on_gpu(own)));
        }
        if raised & fatal != 0 {
            return Err(Halt::Elsewhere);
        }
        if raised & (STALE | LEFT) == STALE {
            return self.settle_anew_on_gpu(simulation, transport);
        }
        match &self.desk {
            Some(desk) => self.handed = on_gpu(simulation, |remote, _, _| desk.swap(remote, &self.cuts, transport))?,
            None => {
                let told = exchange(transport, self.cuts.beside(self.rank), letters)?;
                on_gpu(simulation, |remote, _, _| remote.follow(&told))?;
            }
        }
        if raised & LEFT != 0 {
            return self.settle_anew_here(simulation, transport);
        }
        Ok(0)
    }

    /// Lets particles that went into other blocks change hands, and lists all anew; returns how many it sent.
    fn settle_anew_on_gpu(&mut self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<u64, Halt> {
        let places = on_gpu(simulation, |remote, flow, _| Ok(remote.prepare(flow)?))?;
        let sample = Sample::of(simulation.fluid_particles(), &places);
        let (partners, _) = balance(&mut self.cuts, &sample, transport)?;
        let (cuts, rank) = (&self.cuts, self.rank);
        let (sent, letters) = on_gpu(simulation, |remote, flow, _| {
            remote.send_away(flow, &cuts.owned(rank), &cuts.owned_by(&partners))
        })?;
        let received = exchange(transport, &partners, letters)?;
        let letters = on_gpu(simulation, |remote, flow, _| {
            remote.take_in(flow, &received)?;
            Ok(remote.copies_for(&cuts.felt_beside(rank))?)
        })?;
        let received = exchange(transport, cuts.beside(rank), letters)?;
        on_gpu(simulation, |remote, flow, _| remote.list_with(flow, &received))?;
        Ok(sent)
    }

    /// As [`SharedFluids::settle_anew`], without fluid that left, which is booked here: then all goes back to the GPU.
    fn settle_anew_here(&mut self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<u64, Halt> {
        // The others wait for this one, whatever happens.
        simulation.observe_fluids().map_err(|stop| Halt::Lost(stop.to_string()))?;
        simulation.with_flow(|flow, _| flow.remote = None);
        let sent = self.settle_anew(true, simulation, transport)?;
        match simulation.gpu.clone() {
            Some(gpu) => self.hand_over(&gpu, simulation)?,
            None => return Err(Halt::Lost("a domain lost its GPU".to_owned())),
        }
        Ok(sent)
    }
}

/// Lets the GPU do something with the fluids of a domain.
fn on_gpu<T>(
    simulation: &mut Simulation,
    run: impl FnOnce(&mut dyn RemoteFlow, &mut Flow, &mut Simulation) -> Result<T, Halt>,
) -> Result<T, Halt> {
    let lost = || Halt::Lost("a domain lost its GPU".to_owned());
    let mut flow = simulation.flow.take().ok_or_else(lost)?;
    let done = match flow.remote.take() {
        Some(mut remote) => {
            let done = run(remote.as_mut(), &mut flow, simulation);
            flow.remote = Some(remote);
            done
        }
        None => Err(lost()),
    };
    simulation.flow = Some(flow);
    done
}

/// The flags that a step raised in any domain, of which it raised these in this one.
fn raised_anywhere(own: u32, transport: &mut dyn Transport) -> Result<u32, Halt> {
    let told = transport.gather(own.to_le_bytes().to_vec())?;
    let flags = told.iter().filter_map(|told| told.first_chunk::<4>().copied());
    Ok(flags.fold(0, |all, flags| all | u32::from_le_bytes(flags)))
}

impl Simulation {
    /// Why fluids cannot be divided on GPUs, if they cannot.
    pub(in crate::division) fn why_fluids_are_not_on_gpus(&self) -> Option<&'static str> {
        if self.shifts_fluids() {
            return Some("fluids whose particles are shifted");
        }
        let is_incompressible = self.solver_of_fluids() == Solver::Incompressible;
        is_incompressible.then_some("incompressible fluids")
    }
}
