//! A domain at work whose grains and fluids are on a GPU.

use super::cuts::Cuts;
use super::letters::Illegible;
use super::samples::Sample;
use super::subdomain::{Halt, Subdomain, Verdict, agree, halt, through, verdict};
use crate::gpu::{Halts, Handed, Remote, Swaps, lists_are_stale};
use crate::simulation::Simulation;
use crate::state::Profile;
use crate::world::Precision;
use seixo_device::gpu::{Gpu, GpuError};
use seixo_transport::Transport;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What domains of one process share whose GPUs reach each other.
pub struct Desk {
    /// What they leave for each other that is no bytes: by who left it, and for whom.
    handed: Mutex<HashMap<(usize, usize), Handed>>,
    /// How their GPUs hear of each other's halts, where hosts need not wait for every step.
    halts: Option<Halts>,
}

impl Desk {
    /// Lets the GPU of a domain and those of the domains beside it copy from each other what they show; says how many bytes this one gave.
    ///
    /// Every two domains beside each other are a pair, whose lower one asks for the copies both ways. Pairs take turns, so that every GPU meets its copies in
    /// the same order as its neighbors, see [`Gpu::copy_to`].
    pub fn swap(&self, domain: &(impl Swaps + ?Sized), cuts: &Cuts, transport: &mut dyn Transport) -> Result<u64, Halt> {
        let (rank, mut bytes) = (transport.rank(), 0);
        for &other in cuts.turns(rank) {
            let Ok(side) = cuts.beside(rank).binary_search(&other) else {
                continue;
            };
            if rank < other {
                let handed = self.take_from(other, transport)?;
                let copied = domain.swap(side, handed)?;
                self.put_for(other, copied, transport)?;
            } else {
                self.put_for(other, domain.hand(side), transport)?;
                let copied = self.take_from(other, transport)?;
                domain.follow_handed(side, copied)?;
            }
            bytes += domain.bytes_handed(side);
        }
        Ok(bytes)
    }

    /// Puts something here for another domain, and tells it.
    fn put_for(&self, other: usize, handed: Handed, transport: &mut dyn Transport) -> Result<(), Halt> {
        self.handed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((transport.rank(), other), handed);
        Ok(transport.send(other, Vec::new())?)
    }

    /// Waits until another domain has put something here for this one, and takes it.
    fn take_from(&self, other: usize, transport: &mut dyn Transport) -> Result<Handed, Halt> {
        transport.receive(other)?;
        let key = (other, transport.rank());
        let handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        Ok(handed.ok_or(Illegible)?)
    }
}

/// A desk for domains on these GPUs; none where some cannot reach each other, or where some of several GPUs have more than one: domains of one GPU do not
/// wait for each other to take their turns. With `waits`, the hosts wait for every step.
pub fn desk_for(gpus: &[Gpu], waits: bool) -> Result<Option<Arc<Desk>>, GpuError> {
    let all_reach = gpus.iter().all(|gpu| gpus.iter().all(|other| gpu.reaches(other)));
    let on = |gpu: &Gpu| gpus.iter().filter(|other| gpu.is_same(other)).count();
    let take_turns = gpus.iter().all(|gpu| [1, gpus.len()].contains(&on(gpu)));
    if !all_reach || !take_turns || gpus.len() < 2 {
        return Ok(None);
    }
    Ok(Some(Arc::new(Desk {
        handed: Mutex::default(),
        halts: if waits { None } else { Some(Halts::of(gpus)?) },
    })))
}

impl Subdomain {
    /// Hands grains and fluids, listed here, over to a GPU.
    pub fn hand_over(&mut self, gpu: &Gpu, precision: Precision) -> Result<(), Halt> {
        let simulation = &mut self.simulation;
        simulation.settings.precision = Some(precision);
        simulation.profile = Profile::new(&crate::gpu::PASSES);
        simulation.gpu = Some(gpu.clone());
        if self.has_grains {
            simulation.hand_grains_over(gpu.clone())?;
            let shared = std::mem::take(&mut self.shared);
            self.on_gpu(|remote, _| Ok(remote.share(&shared)?))?;
        }
        match &mut self.fluids {
            Some(fluids) => fluids.hand_over(gpu, &mut self.simulation),
            None => Ok(()),
        }
    }

    /// Whether its grains, or its fluids, are on a GPU.
    pub(super) fn is_on_gpu(&self) -> bool {
        self.simulation.is_remote() || self.simulation.flows_remotely()
    }

    /// Lets the GPU do something.
    pub(super) fn on_gpu<T>(&mut self, run: impl FnOnce(&mut dyn Remote, &mut Simulation) -> Result<T, Halt>) -> Result<T, Halt> {
        let Some(mut remote) = self.simulation.remote.take() else {
            return Err(Halt::Lost("a domain lost its GPU".to_owned()));
        };
        let done = run(remote.as_mut(), &mut self.simulation);
        self.simulation.remote = Some(remote);
        done
    }

    /// Takes steps on the GPU, as many at once as need nothing of the host.
    pub(super) fn advance_on_gpu(&mut self, steps: u64) -> Result<(), Halt> {
        match self.desk.clone().filter(|desk| desk.halts.is_some() && self.simulation.is_remote()) {
            Some(desk) => {
                let mut left = steps;
                while left > 0 {
                    left -= self.take_batch(&desk, left)?;
                }
                Ok(())
            }
            None => (0..steps).try_for_each(|_| self.step_on_gpu()),
        }
    }

    /// Queues a batch of steps of grains, `most` at most, and waits for it; says how many were taken until a domain halted.
    fn take_batch(&mut self, desk: &Desk, most: u64) -> Result<u64, Halt> {
        let Some(halts) = &desk.halts else { return Ok(0) };
        let wished = self.on_gpu(|remote, host| Ok(remote.batch(host, most)))?;
        let batch = self.least(wished)?;
        self.on_gpu(|remote, host| {
            remote.open(host, batch);
            Ok(())
        })?;
        let rank = self.rank;
        for ahead in 0..batch as u32 {
            let all_must_have_told = self.on_gpu(|remote, host| {
                remote.queue_and_show(host, ahead)?;
                Ok(remote.tell_halt(halts, rank, ahead)?)
            })?;
            if all_must_have_told {
                self.transport().gather(Vec::new())?;
            }
            self.on_gpu(|remote, _| {
                remote.hear_halts(halts, rank, ahead);
                Ok(())
            })?;
            self.swap_with_others()?;
        }
        let closed = self.on_gpu(|remote, host| Ok(remote.close(host)?))?;
        if self.agree_on_gpu(closed.must_be_seen_to, closed.raised)? == Verdict::Stale {
            self.settle_anew_on_gpu(closed.raised)?;
        }
        Ok(closed.taken)
    }

    /// The least of what all domains wish for.
    fn least(&mut self, wished: u64) -> Result<u64, Halt> {
        let all = self.transport().gather(wished.to_le_bytes().to_vec())?;
        let numbers: Result<Vec<u64>, Illegible> = all
            .iter()
            .map(|said| Ok(u64::from_le_bytes(said[..].try_into().map_err(|_| Illegible)?)))
            .collect();
        Ok(numbers?.into_iter().fold(wished, u64::min))
    }

    /// What all domains think of steps that raised these flags here; what cannot go on is an error.
    fn agree_on_gpu(&mut self, must_be_seen_to: bool, raised: u32) -> Result<Verdict, Halt> {
        let own = match (must_be_seen_to, lists_are_stale(&self.simulation, raised)) {
            (true, _) => Verdict::Failed,
            (false, true) => Verdict::Stale,
            (false, false) => Verdict::Fine,
        };
        match agree(self.transport(), own)? {
            Verdict::Failed if own == Verdict::Failed => Err(Halt::Stopped(Box::new(self.simulation.explained(raised)))),
            Verdict::Failed => Err(Halt::Elsewhere),
            all => Ok(all),
        }
    }

    /// One step of grains and fluids that are on the GPU.
    fn step_on_gpu(&mut self) -> Result<(), Halt> {
        if self.simulation.is_remote() {
            self.step_grains_on_gpu()?;
        } else {
            self.simulation.rest(1);
        }
        self.step_fluids()
    }

    fn step_grains_on_gpu(&mut self) -> Result<(), Halt> {
        let by_letters = self.desk.is_none();
        let stepped = self.on_gpu(|remote, host| Ok(remote.step_and_show(host, by_letters)?))?;
        self.lead_servos_on_gpu()?;
        match self.agree_on_gpu(stepped.must_be_seen_to, stepped.raised)? {
            Verdict::Stale => {
                if self.simulation.is_bonded() && self.simulation.domain.is_some() {
                    // A bond goes with either of its grains: whether that of another domain has left, its copy tells.
                    self.follow_on_gpu(stepped.letters)?;
                }
                self.settle_anew_on_gpu(stepped.raised)
            }
            _ if by_letters => self.follow_on_gpu(stepped.letters),
            _ => self.swap_with_others(),
        }
    }

    /// Puts copies where their originals are now, of which these letters tell others.
    fn follow_on_gpu(&mut self, letters: Vec<Vec<u8>>) -> Result<(), Halt> {
        let told = self.exchange(letters)?;
        self.on_gpu(|remote, _| remote.follow(&told))
    }

    /// Lets GPUs copy from each other where originals are.
    fn swap_with_others(&mut self) -> Result<(), Halt> {
        let (Some(desk), Some(remote)) = (self.desk.as_deref(), self.simulation.remote.as_deref()) else {
            return Err(Halt::Lost("a domain lost its GPU".to_owned()));
        };
        let bytes = desk.swap(remote, &self.cuts, through(&mut self.transport))?;
        self.counted().bytes += bytes;
        Ok(())
    }

    /// Lets grains that went into other blocks change hands, and lists all anew, after a step that raised these flags.
    fn settle_anew_on_gpu(&mut self, raised: u32) -> Result<(), Halt> {
        let (grains, places) = self.on_gpu(|remote, host| Ok(remote.prepare(host, raised)?))?;
        let partners = self.balance(&Sample::of(grains, &places))?;
        let (own, others) = (self.cuts.owned(self.rank), self.cuts.owned_by(&partners));
        let (sent, letters) = self.on_gpu(|remote, host| remote.send_away(host, &own, &others))?;
        self.sent_away += sent;
        let received = self.exchange_with(&partners, letters)?;
        self.on_gpu(|remote, _| remote.take_in(&received))?;
        let bonded = self.hand_bonds_on(&partners)?;
        let felt = self.cuts.felt_beside(self.rank);
        let letters = self.on_gpu(|remote, _| Ok(remote.copies_for(&felt, &bonded)?))?;
        let received = self.exchange(letters)?;
        self.on_gpu(|remote, host| remote.list_with(host, &received))?;
        Ok(self.simulation.refuse_torn_bonds()?)
    }

    /// Brings what is seen here of grains and fluids up to date, if all domains can.
    pub fn observe(&mut self) -> Result<(), Halt> {
        if !self.is_on_gpu() {
            return Ok(());
        }
        // Steps were taken since somebody looked.
        self.simulation.is_current = false;
        let observed = self.simulation.observe();
        match self.uncounted(|domain| agree(domain.transport(), verdict(&observed, false)))? {
            Verdict::Failed => Err(halt(observed)),
            _ => Ok(()),
        }
    }

    /// Brings the grains back, whatever state they are in.
    pub fn give_back(&mut self) {
        if self.simulation.is_remote() {
            // Where even that fails, those that were seen last have to do.
            let _ = self.simulation.with_remote(|remote, host| remote.give_back(host));
        }
    }
}
