//! Decomposition of a world into subdomains: each is a simulation that owns the grains of one block.
//!
//! The decomposed [`Simulation`] remains: readers, events and checkpoints use it, and it is updated when it is observed, as with a GPU. Results are
//! the same to the last bit for any number of subdomains, see [`crate::world::Settings::decomposition_invariant`]. A ghost grain is a grain that its
//! subdomain does not move ([`GHOST`](seixo_sweeps::bodies::GHOST)). Both owners compute a pair across a border, and each adds half of its energies
//! to the ledger.

mod bodies;
mod bonds;
mod communication;
mod contacts;
mod failures;
mod fluids;
mod gpu;
mod load_balancing;
mod partition;
mod pending_contacts;
mod ranks;
mod report;
mod step_errors;
mod subdomain;
mod timeline;
mod work;

pub use communication::Communication;
pub(crate) use contacts::merged_contacts;
pub(crate) use failures::limit_waits;
pub(crate) use gpu::{exchange_over_links, failed_links, peer_exchange_for, try_links};
pub(crate) use partition::Partition;
pub use partition::{HaloEstimate, PartitionExtent};
pub(crate) use pending_contacts::put_contacts_of_domains;
pub(crate) use report::Report;
pub(crate) use subdomain::Subdomain;

use crate::exchange::HaltReason;
use crate::guard::StepError;
use crate::pending_grains::PendingSpheres;
use crate::populations::Populations;
use crate::ranks::Ranks;
use crate::state::GrainColumns;
use failures::stop_waiting;
use seixo_device::gpu::{Gpu, own_launches};
use seixo_sweeps::bodies::is_ghost;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a world is decomposed into subdomains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decomposition {
    /// Grains that each subdomain owns.
    pub grains: Vec<usize>,
    /// Fluid particles that each subdomain owns; empty in a world without fluids.
    pub fluid: Vec<usize>,
    /// The space that was partitioned: the extent of the grains or, where there are few of them, of the fluid.
    pub space: PartitionExtent,
    /// Number of migrations of grains, fluid particles and wall particles from one subdomain to another.
    pub migrations: u64,
    /// Messages that each subdomain has sent since the simulation was created.
    pub communication: Vec<Communication>,
    /// Work time of a step of the grains of each subdomain, smoothed over rebuilds of neighbor lists \[s\]; 0 where it was not measured.
    pub grain_work: Vec<f64>,
    /// Likewise of fluids; empty in a world without fluids.
    pub fluid_work: Vec<f64>,
    /// How often planes moved for the balance of load since the simulation was created: those of grains, and those of fluids.
    pub cut_moves: u64,
}

impl Decomposition {
    /// Number of particles of the subdomain with most of them, relative to the mean, less 1 \[-\]: of grains or fluids, whichever is more.
    pub fn imbalance_by_count(&self) -> f64 {
        let [grains, fluid] = [&self.grains, &self.fluid].map(|counts| counts.iter().map(|count| *count as f64).collect::<Vec<f64>>());
        imbalance(&grains).max(imbalance(&fluid))
    }

    /// Likewise of their work time; `None` if it was not measured in all subdomains that have particles.
    pub fn imbalance_by_time(&self) -> Option<f64> {
        let of_both = [(&self.grains, &self.grain_work), (&self.fluid, &self.fluid_work)];
        let of_present = of_both.into_iter().filter(|(counts, _)| counts.iter().any(|count| *count > 0));
        let is_known = |(counts, times): &(&Vec<usize>, &Vec<f64>)| {
            counts.len() == times.len() && counts.iter().zip(*times).all(|(count, time)| *count == 0 || *time > 0.0)
        };
        let imbalances: Option<Vec<f64>> = of_present.map(|both| is_known(&both).then(|| imbalance(both.1))).collect();
        imbalances?.into_iter().reduce(f64::max)
    }
}

/// The largest of these loads relative to the mean, less 1; 0 without any load.
fn imbalance(loads: &[f64]) -> f64 {
    let total: f64 = loads.iter().sum();
    let most = loads.iter().copied().fold(0.0, f64::max);
    if total > 0.0 {
        most * loads.len() as f64 / total - 1.0
    } else {
        0.0
    }
}

/// Migrations and messages between the domains of a simulation.
#[derive(Default)]
pub(crate) struct Traffic {
    /// Number of migrations from one domain to another.
    pub migrations: u64,
    /// Messages of each domain.
    pub communication: Vec<Communication>,
    /// How often planes moved.
    pub cut_moves: u64,
}

/// The subdomains of a world.
pub(crate) struct Subdomains {
    /// The subdomains of this process.
    pub(crate) domains: Vec<Subdomain>,
    /// The other processes, each with one subdomain, if there are several.
    pub(crate) ranks: Option<Ranks>,
    /// Grains and fluid particles that each subdomain owned at the last observation, and the bytes of the arrays of all.
    pub(crate) grains: Vec<usize>,
    pub(crate) fluid: Vec<usize>,
    pub(crate) bytes: u64,
    /// Work time of a grain and of a fluid particle in a step of each subdomain, likewise \[s\].
    pub(crate) costs: Vec<[f64; 2]>,
    /// Whether subdomains stopped in states that do not fit together, so that they cannot be gathered any more.
    pub(crate) is_broken: bool,
}

impl Subdomains {
    /// Number of grains at the last observation.
    pub fn grains(&self) -> usize {
        self.grains.iter().sum()
    }

    /// Number of fluid particles at the last observation.
    pub fn fluid_particles(&self) -> usize {
        self.fluid.iter().sum()
    }

    /// Bytes of the arrays of all subdomains at the last observation.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The reports of all subdomains, in their order, with or without fluids.
    pub(crate) fn reports(&mut self, with_fluids: bool) -> Result<Vec<Report>, HaltReason> {
        self.refuse_broken()?;
        // A report of many contacts takes one thread long.
        let own = self.each(|domain| Report::of(domain, with_fluids))?;
        match &mut self.ranks {
            Some(ranks) => ranks.all_reports(own),
            None => Ok(own),
        }
    }

    /// Queues a copy of these columns of all subdomains, which are free spheres on GPUs of this process.
    pub(crate) fn queue_spheres(&mut self, columns: GrainColumns) -> Result<Vec<PendingSpheres>, HaltReason> {
        self.each(|domain| domain.local.queue_spheres(columns))
    }

    /// Fails if the states of the subdomains do not fit together.
    pub(crate) fn refuse_broken(&self) -> Result<(), HaltReason> {
        if self.is_broken {
            return Err(HaltReason::Lost(
                "the domains stopped before, in states that do not fit together".to_owned(),
            ));
        }
        Ok(())
    }

    /// Runs some work in all subdomains of this process at the same time; returns its results in their order. The subdomains must not exchange
    /// messages in it.
    fn each<T: Send>(&mut self, work: impl Fn(&mut Subdomain) -> Result<T, StepError> + Sync) -> Result<Vec<T>, HaltReason> {
        let work = &work;
        let done: Vec<Result<T, HaltReason>> = std::thread::scope(|scope| {
            let run = |domain: &mut Subdomain| {
                own_launches(domain.rank);
                work(domain).map_err(|stop| HaltReason::Stopped(Box::new(stop)))
            };
            let threads: Vec<_> = self.domains.iter_mut().map(|domain| scope.spawn(move || run(domain))).collect();
            let panicked = |_| Err(HaltReason::Lost("a domain panicked".to_owned()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        done.into_iter().collect()
    }

    /// Bytes of the arrays of the subdomains of this process. A GPU counts once, however many of them are on it.
    pub(crate) fn bytes_here(&self) -> u64 {
        let gpu_of = |domain: &Subdomain| {
            domain
                .local
                .backend
                .gpu
                .clone()
                .filter(|_| domain.local.populations.grains_on_gpu())
        };
        let is_counted_before = |k: usize| {
            let own = gpu_of(&self.domains[k]);
            own.is_some_and(|own| self.domains[..k].iter().filter_map(gpu_of).any(|gpu| gpu.is_same(&own)))
        };
        let first_of_all = (0..self.domains.len()).filter(|&k| !is_counted_before(k));
        first_of_all.map(|k| self.domains[k].local.bytes()).sum()
    }

    /// Runs some work in all subdomains at the same time; returns the gravest of their errors. Subdomains that one has left do nothing any more: its GPU
    /// may have stopped halfway through a rebuild.
    pub(crate) fn all(&mut self, work: impl Fn(&mut Subdomain) -> Result<(), HaltReason> + Sync) -> Result<(), HaltReason> {
        self.refuse_broken()?;
        let work = &work;
        let gpus: Vec<Gpu> = self.domains.iter().filter_map(|domain| domain.local.backend.gpu.clone()).collect();
        // Number of subdomains that halted so far.
        let halted = AtomicUsize::new(0);
        let ends: Vec<Result<(), (HaltReason, usize)>> = std::thread::scope(|scope| {
            let run = |domain: &mut Subdomain| {
                own_launches(domain.rank);
                let panicked = |_| Err(HaltReason::Lost("it panicked, which is a fault of this program".to_owned()));
                let done = catch_unwind(AssertUnwindSafe(|| work(domain))).unwrap_or_else(panicked);
                done.map_err(|halt| {
                    let before = halted.fetch_add(1, Ordering::Relaxed);
                    domain.abort(&halt);
                    if halt.is_alone() {
                        stop_waiting(&gpus);
                    }
                    (domain.named(halt), before)
                })
            };
            let threads: Vec<_> = self.domains.iter_mut().map(|domain| scope.spawn(move || run(domain))).collect();
            let panicked = |_| Err((HaltReason::Lost("a domain panicked".to_owned()), usize::MAX));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        let mut halts: Vec<(HaltReason, usize)> = ends.into_iter().filter_map(Result::err).collect();
        // The subdomain in which the error occurred has the most detailed report. Of several that were lost, the first one may have made the others fail.
        // Steps fail everywhere at the same step, so the order of the subdomains decides there, and not that of their threads.
        halts.sort_by_key(|(halt, before)| match halt {
            HaltReason::Stopped(_) | HaltReason::Refused(_) => (0, 0),
            HaltReason::Lost(_) => (1, *before),
            HaltReason::Unreached(_) => (2, *before),
            HaltReason::Elsewhere => (3, 0),
        });
        let are_apart = halts.iter().any(|(halt, _)| halt.is_alone());
        let Some((halt, _)) = halts.into_iter().next() else { return Ok(()) };
        let halt = match &mut self.ranks {
            Some(ranks) => ranks.explained(halt),
            None => halt,
        };
        self.is_broken |= are_apart || halt.is_alone();
        Err(halt)
    }
}

impl Populations {
    /// Whether grain i is a ghost.
    pub(crate) fn is_ghost(&self, i: usize) -> bool {
        self.grains.has_ghosts && is_ghost(self.grains.fields.member[i])
    }

    /// The error that a user gets when a subdomain has halted.
    pub(crate) fn halted(&self, halt: HaltReason) -> StepError {
        match halt {
            HaltReason::Stopped(stop) => *stop,
            HaltReason::Refused(refusal) => self.failed(refusal.to_string()),
            HaltReason::Lost(why) | HaltReason::Unreached(why) => self.failed(why),
            HaltReason::Elsewhere => self.failed("another domain halted".to_owned()),
        }
    }
}
