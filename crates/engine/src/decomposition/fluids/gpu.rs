//! Fluids of a subdomain whose particles are on a GPU.

use super::FluidSubdomain;
use crate::decomposition::load_balancing::LoadSample;
use crate::decomposition::subdomain::{balance, halt};
use crate::exchange::{HaltReason, exchange};
use crate::flow::Flow;
use crate::gpu::FluidGpuBackend;
use crate::local_domain::LocalDomain;
use crate::state::Profile;
use crate::surroundings::Surroundings;
use crate::world::LeavingPolicy;
use seixo_device::gpu::Gpu;
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, SKIN_EXCEEDED, TOO_COMPRESSED, TOO_FAST};
use seixo_transport::Transport;

impl FluidSubdomain {
    /// Uploads the particles, which are listed here, to a GPU.
    pub fn upload(&mut self, gpu: &Gpu, local: &mut LocalDomain) -> Result<(), HaltReason> {
        local.upload_fluids(gpu)?;
        if !local.populations.fluids_on_gpu() {
            return Err(HaltReason::no_fluid());
        }
        let shared = std::mem::take(&mut self.fluid);
        self.walls.clear();
        on_gpu(local, |remote, _, _, _| Ok(remote.share(&shared)?))
    }

    /// First part of a step on the GPU: forces and motion of fluid, and loads on bodies.
    pub fn begin_step_on_gpu(&self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let own = on_gpu(local, |remote, flow, surroundings, _| Ok(remote.step_fluid(flow, surroundings)?))?;
        load_bodies_on_gpu(own, true, local, transport)
    }

    /// Computes the present forces of fluids, with the loads on bodies, for an observation.
    pub fn present_forces_on_gpu(&self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let own = on_gpu(
            local,
            |remote, flow, surroundings, _| Ok(remote.present_forces(flow, surroundings)?),
        )?;
        load_bodies_on_gpu(own, false, local, transport)
    }

    /// Second part of a step on the GPU, after bodies moved; returns how many particles migrated to other subdomains.
    pub fn finish_step_on_gpu(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<u64, HaltReason> {
        let by_messages = self.peer_exchange.is_none();
        let (own, messages) = on_gpu(local, |remote, flow, _, profile| {
            Ok(remote.finish_step_and_pack_halo(flow, profile, by_messages)?)
        })?;
        let raised = raised_anywhere(own, transport)?;
        let leaving = if local.populations.leaving() == LeavingPolicy::Error {
            LEFT_DOMAIN
        } else {
            0
        };
        let fatal = NOT_FINITE | TOO_FAST | TOO_COMPRESSED | leaving;
        if own & fatal != 0 {
            return Err(halt(local.guard_fluids_on_gpu(own).err()));
        }
        if raised & fatal != 0 {
            return Err(HaltReason::Elsewhere);
        }
        if raised & (SKIN_EXCEEDED | LEFT_DOMAIN) == SKIN_EXCEEDED {
            return self.migrate_on_gpu(local, transport);
        }
        match &self.peer_exchange {
            Some(peer_exchange) => {
                self.halo_message = on_gpu(local, |remote, _, _, _| {
                    peer_exchange.copy_between_peers(remote, &self.cuts, transport)
                })?
            }
            None => {
                let reported = exchange(transport, self.cuts.beside(self.rank), messages)?;
                on_gpu(local, |remote, _, _, _| remote.follow(&reported))?;
            }
        }
        if raised & LEFT_DOMAIN != 0 {
            return self.migrate_on_host(local, transport);
        }
        Ok(0)
    }

    /// Migrates particles that moved into other blocks, and rebuilds the neighbor lists; returns how many it sent.
    fn migrate_on_gpu(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<u64, HaltReason> {
        let places = on_gpu(local, |remote, flow, _, _| Ok(remote.prepare(flow)?))?;
        let sample = LoadSample::of(local.populations.fluid_particles(), &places);
        let (partners, _) = balance(&mut self.cuts, &sample, transport)?;
        let (cuts, rank) = (&self.cuts, self.rank);
        let (sent, messages) = on_gpu(local, |remote, flow, _, _| {
            remote.send_migrating(flow, &cuts.owned(rank), &cuts.owned_by(&partners))
        })?;
        let received = exchange(transport, &partners, messages)?;
        let messages = on_gpu(local, |remote, flow, _, _| {
            remote.receive_migrating(flow, &received)?;
            Ok(remote.ghosts_for(&cuts.halo_per_neighbor(rank))?)
        })?;
        let received = exchange(transport, cuts.beside(rank), messages)?;
        on_gpu(local, |remote, flow, _, _| remote.list_with(flow, &received))?;
        Ok(sent)
    }

    /// As [`FluidSubdomain::migrate`], but on the host: removes fluid that left, adds its energy to the ledger, and uploads all particles again.
    fn migrate_on_host(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<u64, HaltReason> {
        self.present_forces_on_gpu(local, transport)?;
        // The other subdomains wait for this one, even after an error.
        local.observe_fluids().map_err(|stop| HaltReason::Lost(stop.to_string()))?;
        local.backend.fluids = None;
        local.populations.with_flow(|flow, _| flow.is_on_gpu = false);
        let sent = self.migrate(true, local, transport)?;
        match local.backend.gpu.clone() {
            Some(gpu) => self.upload(&gpu, local)?,
            None => return Err(HaltReason::Lost("a domain lost its GPU".to_owned())),
        }
        Ok(sent)
    }
}

/// Loads bodies with the forces of fluids in all subdomains, given those of this one; does nothing if no body is coupled to fluids.
fn load_bodies_on_gpu(
    own: Option<Vec<u8>>,
    adds_up: bool,
    local: &mut LocalDomain,
    transport: &mut dyn Transport,
) -> Result<(), HaltReason> {
    let Some(own) = own else { return Ok(()) };
    let all = transport.gather(own)?;
    on_gpu(local, |remote, flow, _, _| remote.load_bodies(flow, &all, adds_up))
}

/// Runs some work on the GPU with the fluids of a subdomain.
fn on_gpu<T>(
    local: &mut LocalDomain,
    run: impl FnOnce(&mut dyn FluidGpuBackend, &mut Flow, &Surroundings, &mut Profile) -> Result<T, HaltReason>,
) -> Result<T, HaltReason> {
    match (local.populations.fluids(), &mut local.backend.fluids) {
        (Some((flow, surroundings, profile)), Some(remote)) => run(remote.as_mut(), flow, &surroundings, profile),
        _ => Err(HaltReason::Lost("a domain lost its GPU".to_owned())),
    }
}

/// The flags that a step raised in any subdomain, given those of this one.
fn raised_anywhere(own: u32, transport: &mut dyn Transport) -> Result<u32, HaltReason> {
    let reported = transport.gather(own.to_le_bytes().to_vec())?;
    let flags = reported.iter().filter_map(|reported| reported.first_chunk::<4>().copied());
    Ok(flags.fold(0, |all, flags| all | u32::from_le_bytes(flags)))
}
