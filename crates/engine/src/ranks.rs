//! Domains that are processes of their own.

use seixo_transport::{Disconnected, Transport};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The ranks among which a world is decomposed, one subdomain each, with the transport of this rank.
///
/// All ranks set up the same world with the same settings, and call the same methods of their simulations in the same order. Every call that takes
/// steps, observes grains or changes something waits for all ranks. All ranks then have the same observed state, and return the same results.
#[derive(Clone)]
pub struct Ranks {
    rank: usize,
    ranks: usize,
    /// The rank among those of the same host.
    rank_on_host: usize,
    /// None after this rank has left.
    transport: Arc<Mutex<Option<Box<dyn Transport>>>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.ranks)
    }
}

impl Ranks {
    /// The ranks that a transport connects.
    pub fn new(transport: Box<dyn Transport>) -> Ranks {
        Ranks {
            rank: transport.rank(),
            ranks: transport.ranks(),
            rank_on_host: transport.rank(),
            transport: Arc::new(Mutex::new(Some(transport))),
        }
    }

    /// These ranks, where this one has a rank of its own among those of its host. Otherwise all count as ranks of one host.
    pub fn on_host(self, rank_on_host: usize) -> Ranks {
        Ranks { rank_on_host, ..self }
    }

    /// The GPU of this rank among so many of its host. Ranks share GPUs if these are fewer.
    pub(crate) fn own_gpu(&self, gpus: usize) -> usize {
        self.rank_on_host % gpus
    }

    /// Whether this is the first rank.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Leaves the other ranks, which cannot continue without this one: it neither sends nor waits any more. Threads of one process are notified; with
    /// MPI the others wait until the job ends.
    pub fn leave(&self) {
        *self.transport.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn through<T>(&self, verb: impl FnOnce(&mut dyn Transport) -> Result<T, Disconnected>) -> Result<T, Disconnected> {
        match self.transport.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(transport) => verb(transport.as_mut()),
            None => Err(Disconnected {
                rank: self.rank,
                why: "this rank has left the run".to_owned(),
            }),
        }
    }
}

impl Transport for Ranks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Disconnected> {
        self.through(|transport| transport.send(to, message))
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Disconnected> {
        self.through(|transport| transport.receive(from))
    }

    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Disconnected> {
        self.through(|transport| transport.gather(message))
    }

    fn finish(&mut self) -> Result<(), Disconnected> {
        self.through(|transport| transport.finish())
    }

    fn fail(&mut self, why: &str) {
        // A rank that has left does not notify the others.
        let _ = self.through(|transport| {
            transport.fail(why);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_transport::Channels;

    #[test]
    fn each_rank_of_a_host_has_its_own_gpu_as_far_as_there_are_any() {
        let ways = Channels::all(4).into_iter();
        let ranks: Vec<Ranks> = ways.map(|way| Ranks::new(Box::new(way))).collect();
        let own = |gpus: usize| ranks.iter().map(|ranks| ranks.own_gpu(gpus)).collect::<Vec<usize>>();
        assert_eq!((own(4), own(3), own(1)), (vec![0, 1, 2, 3], vec![0, 1, 2, 0], vec![0; 4]));
        // Two hosts with two GPUs, among which the ranks alternate.
        let alternating = ranks.iter().map(|ranks| ranks.clone().on_host(ranks.rank() / 2).own_gpu(2));
        assert_eq!(alternating.collect::<Vec<usize>>(), [0, 0, 1, 1]);
    }
}
