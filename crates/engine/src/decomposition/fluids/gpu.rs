//! Fluids of a subdomain whose particles are on a GPU.

use super::{FluidSubdomain, sum_of_errors, tune_skin};
use crate::decomposition::gpu::{PeerExchange, gather_loads};
use crate::decomposition::load_balancing::{Load, LoadSample};
use crate::decomposition::subdomain::{balance, halt_on_gpu};
use crate::exchange::{HaltReason, exchange};
use crate::flow::{Constraint, Flow, IterationError};
use crate::gpu::{FLUID_LISTS, FluidColumn, FluidDomainBackend, FluidGpuBackend, FluidNeighbors};
use crate::local_domain::{LocalDomain, fatal_for_fluids};
use crate::program::Moment;
use crate::state::Profile;
use crate::surroundings::Surroundings;
use crate::world::Solver;
use seixo_device::gpu::Gpu;
use seixo_sweeps::motion::{LEFT_DOMAIN, SKIN_EXCEEDED};
use seixo_transport::Transport;
use std::sync::Arc;
use std::time::Instant;

impl FluidSubdomain {
    /// Uploads the particles, which are listed here, to a GPU.
    pub fn upload(&mut self, gpu: &Gpu, local: &mut LocalDomain) -> Result<(), HaltReason> {
        local.upload_fluids(gpu)?;
        if !local.populations.fluids_on_gpu() {
            return Err(HaltReason::no_fluid());
        }
        let shared = std::mem::take(&mut self.fluid);
        self.walls.clear();
        on_gpu(local, |remote, _, _, _| Ok(remote.share(&shared)?))?;
        self.join_halos(local)
    }

    /// Lets GPUs exchange the halos until the next rebuild of the lists by themselves, if each subdomain has its own and takes many steps without its host.
    fn join_halos(&self, local: &mut LocalDomain) -> Result<(), HaltReason> {
        let pairs = match self.exchange_in_batches(local) {
            Some(peer_exchange) => peer_exchange.pairs(&self.cuts, self.rank),
            None => vec![None; self.cuts.beside(self.rank).len()],
        };
        on_gpu(local, |remote, _, _, _| Ok(remote.join_halos(pairs)?))
    }

    /// The exchange by which GPUs take many steps of fluids without their hosts; `None` if the hosts wait for every step. All subdomains have the same
    /// answer.
    fn exchange_in_batches(&self, local: &LocalDomain) -> Option<Arc<PeerExchange>> {
        let populations = &local.populations;
        let flow = populations.flow.as_ref().filter(|flow| flow.is_on_gpu)?;
        // The hosts compare errors of iterations, exchange the forces on bodies within a step, and move servos. Grains halt at steps of their own.
        let needs_hosts = flow.plan.solver == Solver::Incompressible
            || flow.body_boundaries.particles() > 0
            || populations.walls.has_servos()
            || populations.grains_on_gpu();
        let peer_exchange = self.peer_exchange.clone().filter(|_| !needs_hosts);
        peer_exchange.filter(|peer_exchange| peer_exchange.halts().is_some())
    }

    /// Whether GPUs take many steps of fluids without their hosts.
    pub fn steps_in_batches(&self, local: &LocalDomain) -> bool {
        self.exchange_in_batches(local).is_some()
    }

    /// Whether the halo exchange of each step of a batch makes the GPU start what is queued.
    pub fn exchanges_set_off(&self, local: &LocalDomain) -> bool {
        let peer_exchange = self.exchange_in_batches(local);
        peer_exchange.is_some_and(|peer_exchange| peer_exchange.sets_off()) && !self.cuts.beside(self.rank).is_empty()
    }

    /// Queues the halo exchange of a step whose flags the hosts will read later, if there is one. With the halo goes whether this subdomain halts.
    pub fn queue_halo_exchange(&mut self, ahead: u32, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let Some(peer_exchange) = self.exchange_in_batches(local) else {
            return Ok(());
        };
        let rank = self.rank;
        on_gpu(local, |remote, flow, _, _| {
            remote.place_for_next_step(flow, ahead);
            Ok(())
        })?;
        // Halt flags come with the halos, but only from neighbors.
        if let Some(halts) = peer_exchange.halts().filter(|_| !self.cuts.are_all_neighbors()) {
            let all_domains_reported = on_gpu(local, |remote, _, _, _| Ok(remote.send_halt(halts, rank, ahead)?))?;
            if all_domains_reported {
                transport.gather(Vec::new())?;
            }
            on_gpu(local, |remote, _, _, _| Ok(remote.receive_halts(halts, rank, ahead)?))?;
        }
        on_gpu(local, |remote, _, _, _| {
            remote.pack_queued_halo(ahead);
            Ok(())
        })?;
        self.exchange_between_gpus(&peer_exchange, local, transport)
    }

    /// Updates the ghosts of all subdomains with the packed halos, between their GPUs.
    fn exchange_between_gpus(
        &mut self,
        peer_exchange: &PeerExchange,
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<(), HaltReason> {
        let cuts = &self.cuts;
        let sides = cuts.sides_in_order(self.rank);
        self.halo_message += on_gpu(local, |remote, _, _, _| {
            if !remote.has_joint_halos() {
                return peer_exchange.copy_between_peers(remote, cuts, transport);
            }
            remote.sum_halos(&sides)?;
            Ok(sides.iter().map(|&side| remote.bytes_exchanged(side)).sum::<u64>())
        })?;
        Ok(())
    }

    /// Loads bodies with the forces of fluids in all subdomains, after a step or for an observation; does nothing if no body is coupled to fluids.
    pub fn load_bodies_on_gpu(&self, moment: Moment, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let own = on_gpu(local, |remote, _, _, _| Ok(remote.boundary_forces()?))?;
        let Some(own) = own else { return Ok(()) };
        let all = transport.gather(own)?;
        on_gpu(local, |remote, flow, _, _| remote.load_bodies(flow, &all, moment.advances()))
    }

    /// Exchanges a column of fluid that two subdomains have.
    pub fn exchange_column_on_gpu(
        &mut self,
        column: FluidColumn,
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<(), HaltReason> {
        let mut others = NeighborGpus { fluids: self, transport };
        on_gpu(local, |remote, _, _, _| others.exchange(remote, column))
    }

    /// Solves for the pressures of incompressible fluids together with the other subdomains.
    pub fn project_on_gpu(
        &mut self,
        constraint: Constraint,
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<(), HaltReason> {
        let mut others = NeighborGpus { fluids: self, transport };
        on_gpu(local, |remote, flow, _, _| remote.solve(flow, constraint, &mut others))
    }

    /// After the motion of fluid: updates the ghosts of all subdomains, or rebuilds their neighbor lists if those of one are out of date. After a batch
    /// of steps the ghosts are up to date, and the clock goes up to there. If fluid that left is taken away next, which lists it again, `takes_away` is
    /// set. Returns how many particles migrated to other subdomains, and the flags that the motion raised in any. If lists were out of date, these say
    /// whether fluid is outside the world.
    pub fn follow_motion_on_gpu(
        &mut self,
        takes_away: bool,
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<(u64, u32), HaltReason> {
        let (by_messages, in_batches) = (self.peer_exchange.is_none(), self.steps_in_batches(local));
        let moved = on_gpu(local, |remote, flow, _, profile| Ok(remote.close(flow, profile, by_messages)?))?;
        if in_batches {
            local.populations.pass_time(moved.taken);
        }
        let mut raised = raised_anywhere(moved.raised, transport)?;
        let fatal = fatal_for_fluids(local.populations.context.domain);
        if moved.raised & fatal != 0 {
            return Err(halt_on_gpu(local.guard_fluids_on_gpu(moved.raised).err()));
        }
        if raised & fatal != 0 {
            return Err(HaltReason::Elsewhere);
        }
        let domain = local.populations.context.domain_to_leave();
        if let Some(domain) = domain.filter(|_| raised & SKIN_EXCEEDED != 0) {
            let has_left = on_gpu(local, |remote, _, _, _| Ok(remote.has_outside(&domain)?))?;
            raised |= raised_anywhere(if has_left { LEFT_DOMAIN } else { 0 }, transport)?;
        }
        let is_lost = takes_away && raised & LEFT_DOMAIN != 0;
        if raised & SKIN_EXCEEDED != 0 && !is_lost {
            return Ok((self.migrate_on_gpu(local, transport)?, raised));
        }
        if !in_batches {
            self.update_ghosts_on_gpu(moved.messages, local, transport)?;
        }
        Ok((0, raised))
    }

    /// Ends a step that went on after its motion: updates the ghosts.
    pub fn finish_step_on_gpu(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let by_messages = self.peer_exchange.is_none();
        let messages = on_gpu(local, |remote, flow, _, profile| {
            remote.finish(flow, profile)?;
            Ok(remote.pack_halo(by_messages)?)
        })?;
        self.update_ghosts_on_gpu(messages, local, transport)
    }

    /// Updates the ghosts of all subdomains, by these messages or between GPUs.
    fn update_ghosts_on_gpu(
        &mut self,
        messages: Vec<Vec<u8>>,
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<(), HaltReason> {
        match self.peer_exchange.clone() {
            Some(peer_exchange) => self.exchange_between_gpus(&peer_exchange, local, transport),
            None => {
                let reported = exchange(transport, self.cuts.beside(self.rank), messages)?;
                on_gpu(local, |remote, _, _, _| remote.follow(&reported))
            }
        }
    }

    /// Migrates particles that moved into other blocks, and rebuilds the neighbor lists, whose skin was used up; returns how many it sent.
    fn migrate_on_gpu(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<u64, HaltReason> {
        let clock = Instant::now();
        let lists = on_gpu(local, |remote, flow, _, _| Ok(remote.list_counts(flow)?))?;
        let load = self.work.load(local.populations.fluid_particles(), local.populations.context.steps);
        let (lists, loads) = gather_loads(lists, &load, transport)?;
        on_gpu(local, |remote, flow, _, _| {
            flow.tune_skin(&lists);
            Ok(remote.prepare(flow)?)
        })?;
        let partners = self.balance_on_gpu(load, &loads, local, transport)?;
        let (cuts, rank) = (&self.cuts, self.rank);
        let (sent, messages) = on_gpu(local, |remote, flow, _, _| {
            remote.send_migrating(flow, &cuts.owned(rank), &cuts.owned_by(&partners))
        })?;
        let received = exchange(transport, &partners, messages)?;
        let by_messages = self.peer_exchange.is_none();
        // Where planes moved, this domain does not have all wall particles near its fluid yet.
        let have_moved = self.work.have_planes_moved();
        let (messages, spent) = on_gpu(local, |remote, flow, _, _| {
            remote.receive_migrating(flow, &received)?;
            let near = (!have_moved).then(|| cuts.halos_of_neighbors(rank, flow.reach_of_lists()));
            Ok(remote.ghosts_for(flow, &cuts.halo_per_neighbor(rank), near.as_deref(), by_messages)?)
        })?;
        self.selecting += spent;
        let received = match &self.peer_exchange {
            None => exchange(transport, cuts.beside(rank), messages)?,
            Some(peer_exchange) => {
                let gpu = local.backend.gpu.clone();
                self.halo_message += on_gpu(local, |remote, _, _, _| {
                    timed(gpu.as_ref(), "ghost exchange", || {
                        peer_exchange.copy_ghosts_between_peers(remote, cuts, transport)
                    })
                })?;
                Vec::new()
            }
        };
        on_gpu(local, |remote, flow, _, _| remote.list_with(flow, &received))?;
        self.join_halos(local)?;
        self.work.rebuilt(clock.elapsed());
        // With the waits for other subdomains.
        local.populations.profile.add_on_gpu(FLUID_LISTS, clock, 1);
        Ok(sent)
    }

    /// Balances this load here and those elsewhere. Returns the subdomains to and from which particles may migrate. Positions are sampled only if planes
    /// may move, as the host waits for them.
    fn balance_on_gpu(
        &mut self,
        load: Load,
        loads: &[Load],
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<Vec<usize>, HaltReason> {
        if !self.work.may_move(&self.cuts, loads) {
            return Ok(self.cuts.beside(self.rank).to_vec());
        }
        let places = on_gpu(local, |remote, _, _, _| Ok(remote.sample_positions()?))?;
        let sample = LoadSample::of(local.populations.fluid_particles(), &places).with_load(load);
        let (partners, _) = balance(&mut self.cuts, &sample, &mut self.work, transport)?;
        Ok(partners)
    }

    /// As [`FluidSubdomain::migrate`], but on the host: removes fluid that left, adds its energy to the ledger, and uploads all particles again. The
    /// present forces were computed in all subdomains together.
    pub fn migrate_on_host(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<u64, HaltReason> {
        // The other subdomains wait for this one, even after an error.
        local.observe_fluids().map_err(|stop| HaltReason::lost(&stop))?;
        // Lists of incompressible fluids were rebuilt, and counted, within the step.
        if local.populations.flow.as_ref().is_some_and(|flow| flow.steps_since_listed > 0) {
            let lists = on_gpu(local, |remote, flow, _, _| Ok(remote.list_counts(flow)?))?;
            tune_skin(lists, local, transport)?;
        }
        local.backend.fluids = None;
        // Pairs hold energy that fluid takes along.
        local.populations.with_flow(|flow, surroundings| flow.download(surroundings));
        let sent = self.migrate(true, local, transport)?;
        match local.backend.gpu.clone() {
            Some(gpu) => self.upload(&gpu, local)?,
            None => return Err(HaltReason::Lost("a domain lost its GPU".to_owned())),
        }
        Ok(sent)
    }
}

/// The neighbors of a subdomain on GPUs: each has ghosts of the other's particles.
struct NeighborGpus<'a> {
    fluids: &'a mut FluidSubdomain,
    transport: &'a mut dyn Transport,
}

impl FluidNeighbors for NeighborGpus<'_> {
    fn exchange(&mut self, fluid: &dyn FluidDomainBackend, column: FluidColumn) -> Result<(), HaltReason> {
        let FluidSubdomain {
            cuts,
            rank,
            peer_exchange,
            halo_message,
            columns_sent,
            ..
        } = &mut *self.fluids;
        let Some(peer_exchange) = peer_exchange else {
            let messages = fluid.column_messages(column)?;
            let reported = exchange(self.transport, cuts.beside(*rank), messages)?;
            return fluid.receive_column(column, &reported);
        };
        if fluid.has_joint_halos() {
            fluid.sum_column(column, &cuts.sides_in_order(*rank))?;
            *halo_message += fluid.column_bytes();
            return Ok(());
        }
        let turn = *columns_sent % 2;
        *columns_sent += 1;
        fluid.pack_column(column, turn);
        *halo_message += peer_exchange.copy_column_between_peers(fluid, (column, turn), cuts, self.transport)?;
        Ok(())
    }

    fn sum(&mut self, own: IterationError) -> Result<IterationError, HaltReason> {
        sum_of_errors(own, self.transport)
    }
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

/// Runs work on this GPU, which a timeline shows under this name, see [`Gpu::timed`].
fn timed<T>(gpu: Option<&Gpu>, name: &'static str, work: impl FnOnce() -> T) -> T {
    match gpu {
        Some(gpu) => gpu.timed(name, work),
        None => work(),
    }
}

/// The flags that a step raised in any subdomain, given those of this one.
fn raised_anywhere(own: u32, transport: &mut dyn Transport) -> Result<u32, HaltReason> {
    let reported = transport.gather(own.to_le_bytes().to_vec())?;
    let flags = reported.iter().filter_map(|reported| reported.first_chunk::<4>().copied());
    Ok(flags.fold(0, |all, flags| all | u32::from_le_bytes(flags)))
}
