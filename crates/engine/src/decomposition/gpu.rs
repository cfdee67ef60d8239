//! A subdomain whose grains and fluids are on a GPU.

use super::load_balancing::{Load, LoadSample};
use super::partition::Partition;
use super::subdomain::{QueuedDomainStep, StepStatus, Subdomain, agree, encode_lists, halt_on_gpu, read_lists, step_status, through};
use super::work::Work;
use crate::backend::Observed;
use crate::exchange::{DecodeError, HaltReason};
use crate::gpu::{
    ColumnExchange, FluidColumn, GhostExchange, GpuBackend, HaloExchange, HaloMessage, HaloPair, HaltFlags, Inboxes, LISTS,
    SharedServoLoads, lists_out_of_date,
};
use crate::local_domain::compute_present_forces;
use crate::populations::Populations;
use crate::search::ListCounts;
use crate::state::Profile;
use crate::world::{GhostSelection, HaloOverlap, Precision, Solver};
use seixo_device::gpu::{Gpu, GpuError, Link};
use seixo_transport::Transport;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Shared by the subdomains of one process whose GPUs can copy from each other.
pub struct PeerExchange {
    /// Halo messages between GPUs in their order, by sender and receiver.
    halo_messages: Mutex<HashMap<(usize, usize), VecDeque<HaloMessage>>>,
    /// Whether each subdomain reads the packed ghosts of others where they are: on its own GPU, or on one to which there is a link.
    reads_ghosts: bool,
    /// Flags by which their GPUs halt at the same step; hosts then do not wait for every step.
    halts: Option<Arc<HaltFlags>>,
    /// Memory into which their GPUs write what they exchange in steps for which no host waits; `None` if some cannot write to others.
    inboxes: Option<Arc<Inboxes>>,
    /// Sum of the loads on servos of all these subdomains.
    servo_loads: SharedServoLoads,
}

impl PeerExchange {
    /// The flags by which GPUs halt at the same step, unless hosts wait for every step.
    pub fn halts(&self) -> Option<&HaltFlags> {
        self.halts.as_deref()
    }

    /// Whether the exchange of a step starts what is queued on the GPUs: sums do, words that one writes to another do not.
    pub fn sets_off(&self) -> bool {
        self.inboxes.is_none() && self.halts().is_some_and(|halts| halts.gpus().is_some())
    }

    /// The sum of the loads on servos of all subdomains.
    pub fn servo_loads(&self) -> &SharedServoLoads {
        &self.servo_loads
    }

    /// The pairs of the subdomain of this rank with its neighbors, if each subdomain has its own GPU and hosts do not wait for every step.
    pub fn pairs(&self, cuts: &Partition, rank: usize) -> Vec<Option<HaloPair>> {
        let gpus = self.halts().and_then(HaltFlags::gpus);
        let pair = |&other: &usize| {
            gpus.map(|gpus| HaloPair {
                gpus: [rank.min(other), rank.max(other)].map(|one| gpus[one].clone()),
                ranks: [rank, other],
                inboxes: self.inboxes.clone(),
            })
        };
        cuts.beside(rank).iter().map(pair).collect()
    }

    /// Runs the halo exchange between the GPUs of this subdomain and of its neighbors; returns how many bytes this one sent.
    pub fn copy_between_peers(
        &self,
        domain: &(impl HaloExchange + ?Sized),
        cuts: &Partition,
        transport: &mut dyn Transport,
    ) -> Result<u64, HaltReason> {
        self.in_pairs(&mut HaloOf(domain), cuts, transport)?;
        let sides = 0..cuts.beside(transport.rank()).len();
        Ok(sides.map(|side| domain.bytes_exchanged(side)).sum())
    }

    /// Exchanges the ghosts that were selected between the GPUs of this subdomain and of its neighbors; returns how many bytes this one sent. Where they are
    /// read, no host waits for the answer of another one.
    pub fn copy_ghosts_between_peers(
        &self,
        domain: &mut (impl GhostExchange + ?Sized),
        cuts: &Partition,
        transport: &mut dyn Transport,
    ) -> Result<u64, HaltReason> {
        if !self.reads_ghosts {
            self.in_pairs(&mut GhostsOf(&mut *domain), cuts, transport)?;
            return Ok(domain.ghost_bytes());
        }
        let beside = cuts.beside(transport.rank());
        for (side, &other) in beside.iter().enumerate() {
            self.post_for(other, domain.hand_ghosts(side), transport)?;
        }
        for (side, &other) in beside.iter().enumerate() {
            let theirs = self.receive_from(other, transport)?;
            domain.receive_ghosts(side, theirs)?;
        }
        Ok(domain.ghost_bytes())
    }

    /// Exchanges a column that was packed in this turn between the GPUs of this subdomain and of its neighbors; returns how many bytes this one sent.
    pub fn copy_column_between_peers(
        &self,
        fluid: &(impl ColumnExchange + ?Sized),
        (column, turn): (FluidColumn, usize),
        cuts: &Partition,
        transport: &mut dyn Transport,
    ) -> Result<u64, HaltReason> {
        self.in_pairs(&mut ColumnOf(fluid, column, turn), cuts, transport)?;
        Ok(fluid.column_bytes())
    }

    /// Exchanges data with each neighbor.
    ///
    /// In each pair of neighbors the lower rank requests the copies in both directions. Pairs follow a schedule, so that the copies on every GPU have
    /// the same order as those on its neighbors, see [`Gpu::copy_to`].
    fn in_pairs(&self, domain: &mut dyn Paired, cuts: &Partition, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let rank = transport.rank();
        for &side in cuts.sides_in_order(rank).iter() {
            let other = cuts.beside(rank)[side];
            if rank < other {
                let theirs = self.receive_from(other, transport)?;
                let (copied, own) = domain.copy(side, theirs)?;
                // The other host goes on before this one queues more.
                self.post_for(other, copied, transport)?;
                if let Some(own) = own {
                    domain.receive(side, own)?;
                }
            } else {
                self.post_for(other, domain.hand(side), transport)?;
                let copied = self.receive_from(other, transport)?;
                domain.receive(side, copied)?;
            }
        }
        Ok(())
    }

    /// Posts a message for another subdomain, and notifies it.
    fn post_for(&self, other: usize, halo_message: HaloMessage, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let way = (transport.rank(), other);
        self.messages().entry(way).or_default().push_back(halo_message);
        Ok(transport.send(other, Vec::new())?)
    }

    /// Waits for the next message that another subdomain posts for this one, and takes it.
    fn receive_from(&self, other: usize, transport: &mut dyn Transport) -> Result<HaloMessage, HaltReason> {
        transport.receive(other)?;
        let way = (other, transport.rank());
        let halo_message = self.messages().get_mut(&way).and_then(VecDeque::pop_front);
        Ok(halo_message.ok_or(DecodeError)?)
    }

    fn messages(&self) -> MutexGuard<'_, HashMap<(usize, usize), VecDeque<HaloMessage>>> {
        self.halo_messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a subdomain exchanges with its neighbors, which have numbers.
trait Paired {
    /// Data for this neighbor.
    fn hand(&self, side: usize) -> HaloMessage;
    /// Copies the data of both between their GPUs. Returns those for the other one, and those for this one if it did not take them yet.
    fn copy(&mut self, side: usize, theirs: HaloMessage) -> Result<(HaloMessage, Option<HaloMessage>), HaltReason>;
    /// Takes the data that were copied to this GPU.
    fn receive(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason>;
}

/// The halo of a subdomain.
struct HaloOf<'a, D: ?Sized>(&'a D);

impl<D: HaloExchange + ?Sized> Paired for HaloOf<'_, D> {
    fn hand(&self, side: usize) -> HaloMessage {
        self.0.hand(side)
    }

    fn copy(&mut self, side: usize, theirs: HaloMessage) -> Result<(HaloMessage, Option<HaloMessage>), HaltReason> {
        let [there, here] = self.0.copy_between_peers(side, theirs)?;
        Ok((there, Some(here)))
    }

    fn receive(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        self.0.receive_ghost_updates(side, copied)
    }
}

/// A column of a subdomain that was packed in this turn.
struct ColumnOf<'a, D: ?Sized>(&'a D, FluidColumn, usize);

impl<D: ColumnExchange + ?Sized> Paired for ColumnOf<'_, D> {
    fn hand(&self, side: usize) -> HaloMessage {
        self.0.hand_column(side, self.2)
    }

    fn copy(&mut self, side: usize, theirs: HaloMessage) -> Result<(HaloMessage, Option<HaloMessage>), HaltReason> {
        let [there, here] = self.0.copy_column(side, self.2, theirs)?;
        Ok((there, Some(here)))
    }

    fn receive(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        self.0.follow_column(self.1, side, copied)
    }
}

/// The ghosts that a subdomain selected for its neighbors.
struct GhostsOf<'a, D: ?Sized>(&'a mut D);

impl<D: GhostExchange + ?Sized> Paired for GhostsOf<'_, D> {
    fn hand(&self, side: usize) -> HaloMessage {
        self.0.hand_ghosts(side)
    }

    fn copy(&mut self, side: usize, theirs: HaloMessage) -> Result<(HaloMessage, Option<HaloMessage>), HaltReason> {
        Ok((self.0.copy_ghosts(side, theirs)?, None))
    }

    fn receive(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        self.0.receive_ghosts(side, copied)
    }
}

/// The exchange for subdomains on these GPUs. `None` if some GPUs cannot reach each other, or if there are several GPUs and one of them has more than
/// one subdomain: subdomains of one GPU do not wait for each other. There are this many walls. With `waits`, the hosts wait for every step.
pub fn peer_exchange_for(gpus: &[Gpu], walls: usize, waits: bool) -> Result<Option<Arc<PeerExchange>>, GpuError> {
    let Some(have_own) = have_own_gpus(gpus) else {
        return Ok(None);
    };
    try_links(gpus);
    let inboxes = if have_own { Inboxes::of(gpus) } else { None };
    let halts = if waits {
        None
    } else {
        Some(Arc::new(HaltFlags::of(gpus, inboxes.is_some())?))
    };
    Ok(Some(Arc::new(PeerExchange {
        halo_messages: Mutex::default(),
        reads_ghosts: !have_own || inboxes.is_some(),
        servo_loads: SharedServoLoads::of(gpus, walls, inboxes.is_some())?,
        halts,
        inboxes: inboxes.filter(|_| !waits).map(Arc::new),
    })))
}

/// Whether each of the subdomains on these GPUs has its own; `None` if they exchange through their hosts, see [`peer_exchange_for`].
fn have_own_gpus(gpus: &[Gpu]) -> Option<bool> {
    let all_reach = gpus.iter().all(|gpu| gpus.iter().all(|other| gpu.reaches(other)));
    let on = |gpu: &Gpu| gpus.iter().filter(|other| gpu.is_same(other)).count();
    let take_turns = gpus.iter().all(|gpu| [1, gpus.len()].contains(&on(gpu)));
    (all_reach && take_turns && gpus.len() > 1).then(|| on(&gpus[0]) == 1)
}

/// Whether subdomains on these GPUs exchange over links between them.
pub fn exchange_over_links(gpus: &[Gpu]) -> bool {
    have_own_gpus(gpus) == Some(true)
}

/// Tries the links between these GPUs if subdomains on them exchange over links. Then [`peer_exchange_for`] does not wait for that.
pub fn try_links(gpus: &[Gpu]) {
    if exchange_over_links(gpus) {
        Gpu::try_links(gpus);
    }
}

/// Tries the links between all these GPUs, so that none is tried during a run. Returns a notice for each that fails: the GPUs then exchange by NCCL what
/// would go over it.
pub fn failed_links(gpus: &[Gpu]) -> Vec<String> {
    let pairs = gpus.iter().flat_map(|from| gpus.iter().map(move |to| (from, to)));
    let failed = pairs.filter(|(from, to)| from.link_to(to) == Link::Fails);
    let notice = |(from, to): (&Gpu, &Gpu)| {
        let [from, to] = [from, to].map(Gpu::description);
        format!("the driver links {from} to {to}, but words did not arrive there: these GPUs exchange halos and ghosts through NCCL")
    };
    failed.map(notice).collect()
}

/// The counts of the lists of all subdomains together, and the load of each, from those of this one. The hosts wait for each other once for both.
pub(super) fn gather_loads(own: ListCounts, load: &Load, transport: &mut dyn Transport) -> Result<(ListCounts, Vec<Load>), HaltReason> {
    let mut message = encode_lists(own);
    let bytes = message.len();
    message.extend(load.encode());
    let (mut all, mut loads) = (ListCounts::default(), Vec::new());
    for reported in transport.gather(message)? {
        let (lists, load) = reported.split_at_checked(bytes).ok_or(DecodeError)?;
        all = all.plus(read_lists(lists)?);
        loads.push(Load::read(load)?);
    }
    Ok((all, loads))
}

impl Subdomain {
    /// Uploads grains and fluids, which are listed here, to a GPU.
    pub fn upload(&mut self, gpu: &Gpu, precision: Precision) -> Result<(), HaltReason> {
        self.prepare_for(gpu, precision);
        if self.has_grains {
            self.local.upload_grains(gpu.clone())?;
            let shared = std::mem::take(&mut self.shared);
            self.on_gpu(|remote, _| Ok(remote.share(&shared)?))?;
            self.agree_on_parts()?;
        }
        match &mut self.fluids {
            Some(fluids) => fluids.upload(gpu, &mut self.local),
            None => Ok(()),
        }
    }

    /// Prepares the profile and settings for a GPU.
    pub(super) fn prepare_for(&mut self, gpu: &Gpu, precision: Precision) {
        let local = &mut self.local;
        local.populations.context.settings.precision = Some(precision);
        if local.populations.profile.passes.len() != crate::gpu::PASSES.len() {
            local.populations.profile = Profile::new(&crate::gpu::PASSES);
        }
        local.backend.gpu = Some(gpu.clone());
    }

    /// Runs some work on the GPU.
    pub(super) fn on_gpu<T>(
        &mut self,
        run: impl FnOnce(&mut dyn GpuBackend, &mut Populations) -> Result<T, HaltReason>,
    ) -> Result<T, HaltReason> {
        match &mut self.local.backend.grains {
            Some(remote) => run(remote.as_mut(), &mut self.local.populations),
            None => Err(HaltReason::Lost("a domain lost its GPU".to_owned())),
        }
    }

    /// The smallest of the values of all subdomains.
    pub(super) fn least(&mut self, wished: u64) -> Result<u64, HaltReason> {
        let all = self.transport().gather(wished.to_le_bytes().to_vec())?;
        let numbers: Result<Vec<u64>, DecodeError> = all
            .iter()
            .map(|said| Ok(u64::from_le_bytes(said[..].try_into().map_err(|_| DecodeError)?)))
            .collect();
        Ok(numbers?.into_iter().fold(wished, u64::min))
    }

    /// The step status of all subdomains after steps that raised these flags here; an error if the run cannot continue.
    pub(super) fn agree_on_gpu(&mut self, needs_host: bool, raised: u32) -> Result<StepStatus, HaltReason> {
        let populations = &self.local.populations;
        let own = match (needs_host, lists_out_of_date(populations, raised)) {
            (true, _) => StepStatus::Failed,
            (false, true) => StepStatus::ListsOutOfDate,
            (false, false) => StepStatus::Fine,
        };
        match agree(self.transport(), own)? {
            StepStatus::Failed if own == StepStatus::Failed => Err(halt_on_gpu(self.local.explained_here(raised))),
            StepStatus::Failed => Err(HaltReason::Elsewhere),
            all => Ok(all),
        }
    }

    /// Once the lists of a subdomain are out of date: whether a grain or a body here is outside the world, and the step status of all subdomains. Their
    /// hosts remove what left if there are bodies or polyhedral grains.
    pub(super) fn agree_on_leaving(&mut self) -> Result<(bool, StepStatus), HaltReason> {
        let has_left = self.on_gpu(|remote, host| Ok(remote.has_outside(host)?))?;
        let populations = &self.local.populations;
        if populations.context.domain_to_leave().is_none() || !populations.loses_on_host() {
            return Ok((has_left, StepStatus::ListsOutOfDate));
        }
        let own = if has_left {
            StepStatus::BodiesLeft
        } else {
            StepStatus::ListsOutOfDate
        };
        Ok((has_left, agree(self.transport(), own)?))
    }

    /// The flags by which GPUs halt at the same step, if hosts do not wait for every step of grains.
    pub(super) fn halts(&self) -> Option<Arc<HaltFlags>> {
        let peer_exchange = self.peer_exchange.as_ref().filter(|_| self.local.populations.grains_on_gpu());
        peer_exchange.and_then(|peer_exchange| peer_exchange.halts.clone())
    }

    /// Whether the halo exchange of each step makes CubeCL start all that is queued, without a wait of this host.
    pub(super) fn exchanges_set_off(&self) -> bool {
        let peer_exchange = self.peer_exchange.as_ref().filter(|_| self.local.populations.grains_on_gpu());
        let of_grains = peer_exchange.is_some_and(|peer_exchange| peer_exchange.sets_off()) && !self.cuts.beside(self.rank).is_empty();
        of_grains || self.fluids.as_ref().is_some_and(|fluids| fluids.exchanges_set_off(&self.local))
    }

    /// Queues the halo exchange of a step whose flags the host will read later.
    pub(super) fn queue_halo_exchange(&mut self, ahead: u32) -> Result<(), HaltReason> {
        let Some(halts) = self.halts() else { return Ok(()) };
        if self.on_gpu(|remote, _| Ok(remote.is_split()))? {
            return self.queue_parts(&halts, ahead);
        }
        // Halt flags come with the halos, but only from neighbors.
        if !self.cuts.are_all_neighbors() {
            let rank = self.rank;
            let all_domains_reported = self.on_gpu(|remote, _| Ok(remote.send_halt(&halts, rank, ahead)?))?;
            if all_domains_reported {
                self.transport().gather(Vec::new())?;
            }
            self.on_gpu(|remote, _| Ok(remote.receive_halts(&halts, rank, ahead)?))?;
        }
        if !self.on_gpu(|remote, _| Ok(remote.has_joint_halos()))? {
            return self.exchange_halo();
        }
        let sides = self.cuts.sides_in_order(self.rank);
        let bytes = self.on_gpu(|remote, _| {
            remote.sum_halos(&sides)?;
            Ok(sides.iter().map(|&side| remote.bytes_exchanged(side)).sum::<u64>())
        })?;
        self.counted().bytes += bytes;
        Ok(())
    }

    /// Queues the halo exchange of a step in parts, of which the first is queued, and all other parts. Between GPUs, halos travel while these are
    /// computed. Halt flags travel on their own, since any grain may be the reason for a halt.
    fn queue_parts(&mut self, halts: &HaltFlags, ahead: u32) -> Result<(), HaltReason> {
        let (rank, goes_between_gpus) = (self.rank, halts.gpus().is_some());
        let sides = self.cuts.sides_in_order(self.rank);
        self.on_gpu(|remote, host| {
            if goes_between_gpus {
                remote.send_halos(&sides)?;
            }
            remote.finish_motion(host, ahead);
            if goes_between_gpus {
                // Timed from the end of all parts on: what the overlap does not hide.
                remote.gpu().timed("halo exchange", || remote.await_halos())?;
            }
            Ok(())
        })?;
        let all_domains_reported = self.on_gpu(|remote, _| Ok(remote.send_halt(halts, rank, ahead)?))?;
        if all_domains_reported {
            self.transport().gather(Vec::new())?;
        }
        if goes_between_gpus {
            let bytes = self.on_gpu(|remote, _| {
                remote.follow_halos()?;
                Ok(sides.iter().map(|&side| remote.bytes_exchanged(side)).sum::<u64>())
            })?;
            self.counted().bytes += bytes;
        } else {
            self.exchange_halo()?;
        }
        self.on_gpu(|remote, _| Ok(remote.receive_halts(halts, rank, ahead)?))
    }

    /// Takes the steps until the next rebuild in parts, if all subdomains request that: halt flags then travel in another way for all. Makes room for the
    /// halos of these steps.
    fn agree_on_parts(&mut self) -> Result<(), HaltReason> {
        // All subdomains have the same settings, so none waits for the others without need.
        let is_wished = self.local.populations.context.settings.halo_overlap == HaloOverlap::Always;
        let mut splits = is_wished && self.halts().is_some();
        if splits {
            let requests = self.on_gpu(|remote, host| Ok(remote.requests_parts(host)))?;
            splits = self.least(u64::from(requests))? == 1;
        }
        let peer_exchange = self.peer_exchange.as_ref();
        let alone = || vec![None; self.cuts.beside(self.rank).len()];
        let pairs = peer_exchange.map_or_else(alone, |peer_exchange| peer_exchange.pairs(&self.cuts, self.rank));
        self.on_gpu(|remote, _| Ok(remote.split_steps(splits, pairs)?))
    }

    /// Sums the forces on the grains of free bodies over all subdomains.
    pub(super) fn reduce_body_forces_on_gpu(&mut self) -> Result<(), HaltReason> {
        if !(self.local.populations.grains_on_gpu() && self.local.populations.has_loose_bodies()) {
            return Ok(());
        }
        let own = self.on_gpu(|remote, host| Ok(remote.body_forces(host)?))?;
        let all = self.transport().gather(own)?;
        self.on_gpu(|remote, host| remote.take_body_forces(host, &all))
    }

    /// Updates ghosts, with these messages to the other subdomains.
    pub(super) fn follow_on_gpu(&mut self, messages: Vec<Vec<u8>>) -> Result<(), HaltReason> {
        let reported = self.exchange(messages)?;
        self.on_gpu(|remote, _| remote.follow(&reported))
    }

    /// Runs the halo exchange between GPUs.
    pub(super) fn exchange_halo(&mut self) -> Result<(), HaltReason> {
        let (Some(peer_exchange), Some(remote)) = (self.peer_exchange.as_deref(), self.local.backend.grains.as_deref()) else {
            return Err(HaltReason::Lost("a domain lost its GPU".to_owned()));
        };
        let (cuts, transport) = (&self.cuts, through(&mut self.transport));
        let copy = || peer_exchange.copy_between_peers(remote, cuts, transport);
        let bytes = remote.gpu().timed("halo exchange", copy)?;
        self.counted().bytes += bytes;
        Ok(())
    }

    /// Migrates grains that moved into other blocks, and rebuilds the neighbor lists, after a step that raised these flags.
    pub(super) fn migrate_on_gpu(&mut self, raised: u32) -> Result<(), HaltReason> {
        let clock = Instant::now();
        let lists = self.on_gpu(|remote, host| Ok(remote.list_counts(host)?))?;
        let grains = self.on_gpu(|remote, _| Ok(remote.owned_count()))?;
        let load = self.work.load(grains, self.local.populations.context.steps);
        let (lists, loads) = gather_loads(lists, &load, self.transport())?;
        if self.local.populations.grains.skin_tuning.is_some() {
            self.local.populations.tune_skin(&lists);
        }
        self.list_on_gpu(raised, (grains, load, &loads))?;
        self.local.populations.refuse_torn_bonds()?;
        self.work.rebuilt(clock.elapsed());
        // With the waits for other subdomains.
        self.local.populations.profile.add_on_gpu(LISTS, clock, 1);
        Ok(())
    }

    /// Lists grains that were just uploaded, with new ghosts.
    pub(super) fn list_first_on_gpu(&mut self) -> Result<(), HaltReason> {
        let grains = self.on_gpu(|remote, _| Ok(remote.owned_count()))?;
        let load = self.work.load(grains, self.local.populations.context.steps);
        let (_, loads) = gather_loads(ListCounts::default(), &load, self.transport())?;
        self.list_on_gpu(0, (grains, load, &loads))
    }

    /// Migrates grains that are in the blocks of others, and rebuilds the neighbor lists with new ghosts, after a step that raised these flags. It
    /// needs the number of grains here, and the loads here and everywhere.
    fn list_on_gpu(&mut self, raised: u32, (grains, load, loads): (usize, Load, &[Load])) -> Result<(), HaltReason> {
        self.on_gpu(|remote, host| Ok(remote.prepare(host, raised)?))?;
        let partners = self.balance_on_gpu(grains, load, loads)?;
        let (own, others) = (self.cuts.owned(self.rank), self.cuts.owned_by(&partners));
        let (blocks_in_reach, by_messages) = (self.cuts.halo_per_neighbor(self.rank), self.peer_exchange.is_none());
        let populations = &self.local.populations;
        // Bonds across a border follow from the migration, and layers of cells need all grains.
        let begins = !by_messages && !populations.is_bonded() && populations.context.settings.ghost_selection == GhostSelection::All;
        let begun_for = begins.then_some(&blocks_in_reach[..]);
        let (sent, messages) = self.on_gpu(|remote, host| remote.send_migrating(host, &own, &others, begun_for))?;
        self.migrated += sent;
        let received = self.exchange_with(&partners, messages)?;
        self.on_gpu(|remote, _| remote.receive_migrating(&received))?;
        let bonded = self.migrate_bonds(&partners)?;
        let (messages, spent) = self.on_gpu(|remote, host| Ok(remote.ghosts_for(host, &blocks_in_reach, &bonded, by_messages)?))?;
        self.counted().selecting += spent;
        let received = if by_messages {
            self.exchange(messages)?
        } else {
            self.exchange_ghosts_on_gpu()?;
            Vec::new()
        };
        self.on_gpu(|remote, host| remote.list_with(host, &received))?;
        self.agree_on_parts()
    }

    /// Balances the load of this many grains here and those elsewhere, as [`Subdomain::balance`]. Positions are sampled only if planes may move, as the
    /// host waits for them.
    fn balance_on_gpu(&mut self, grains: usize, load: Load, loads: &[Load]) -> Result<Vec<usize>, HaltReason> {
        if !self.work.may_move(&self.cuts, loads) {
            self.narrow_halos(loads.iter().map(|load| load.particles).sum());
            return Ok(self.cuts.beside(self.rank).to_vec());
        }
        let places = self.on_gpu(|remote, _| Ok(remote.sample_positions()?))?;
        self.balance(&LoadSample::of(grains, &places).with_load(load))
    }

    /// The work that the launches of a step on this GPU do, if they do one kind of work and nothing else: no other subdomain uses this GPU, and no
    /// host takes part in the step. Nor are steps in parts, of which the halo follows the first.
    pub(super) fn work_on_gpu(&mut self) -> Option<&mut Work> {
        let populations = &self.local.populations;
        let is_split = self.local.backend.grains.as_deref().is_some_and(|remote| remote.is_split());
        if !self.has_own_gpu || is_split || populations.has_loose_bodies() {
            return None;
        }
        let is_one_launch = |solver: Solver| solver == Solver::WeaklyCompressible && !populations.has_drift();
        match (populations.grains_on_gpu(), populations.fluids_on_gpu()) {
            (true, false) => Some(&mut self.work),
            (false, true) if is_one_launch(populations.solver_of_fluids()) => self.fluids.as_mut().map(|fluids| &mut fluids.work),
            _ => None,
        }
    }

    /// Exchanges the selected ghosts between GPUs.
    fn exchange_ghosts_on_gpu(&mut self) -> Result<(), HaltReason> {
        let (Some(peer_exchange), Some(remote)) = (self.peer_exchange.as_deref(), self.local.backend.grains.as_deref_mut()) else {
            return Err(HaltReason::Lost("a domain lost its GPU".to_owned()));
        };
        let (gpu, cuts, transport) = (remote.gpu().clone(), &self.cuts, through(&mut self.transport));
        let bytes = gpu.timed("ghost exchange", || {
            peer_exchange.copy_ghosts_between_peers(remote, cuts, transport)
        })?;
        self.counted().bytes += bytes;
        Ok(())
    }

    /// Downloads what observers need of grains and fluids, if all subdomains can. The ledger alone is for free spheres.
    pub fn observe(&mut self, needed: Observed) -> Result<(), HaltReason> {
        if !self.local.is_on_gpu() {
            return Ok(());
        }
        // Steps were taken since the last observation.
        self.local.backend.observed = None;
        self.uncounted(|domain| compute_present_forces(&mut QueuedDomainStep::of(domain)))?;
        if let Some(fluids) = &mut self.fluids {
            // What was sent for that is not counted either.
            fluids.halo_message = 0;
        }
        let observed = match needed {
            Observed::Everything => self.local.observe(),
            Observed::Ledger => self.local.observe_ledger(),
        };
        match self.uncounted(|domain| agree(domain.transport(), step_status(observed.as_ref().err(), false)))? {
            StepStatus::Failed => Err(halt_on_gpu(observed.err())),
            _ => Ok(()),
        }
    }

    /// Downloads the grains in any state, for example after an error.
    pub fn download_state(&mut self) {
        if self.local.populations.grains_on_gpu() {
            // If that fails as well, the last observed grains are used.
            let _ = self.local.with_gpu_backend(|remote, host| remote.download_state(host));
        }
    }
}
