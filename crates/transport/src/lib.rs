//! Transport of messages between domains: threads of one process ([`Channels`]), or MPI ranks (`Mpi`, with the cargo feature `mpi`).
//!
//! ```
//! use seixo_transport::{Channels, Transport};
//!
//! let spawned = Channels::all(2).into_iter().map(|mut domain| {
//!     std::thread::spawn(move || {
//!         let rank = domain.rank() as u8;
//!         let gathered = domain.gather(vec![rank]);
//!         domain.finish().and(gathered)
//!     })
//! });
//! for thread in spawned.collect::<Vec<_>>() {
//!     assert_eq!(thread.join().unwrap()?, [[0], [1]]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod awake;
mod launch;
#[cfg(feature = "mpi")]
mod ranks;
mod threads;

pub use awake::receive_awake;
pub use launch::{Launch, launched_by_mpi, rank_on_host};
#[cfg(feature = "mpi")]
pub use ranks::{Mpi, end_job};
pub use threads::Channels;

/// Transport of messages between domains. All domains call the same methods in the same order.
pub trait Transport: Send {
    /// Rank of this domain, from 0.
    fn rank(&self) -> usize;

    /// Number of domains.
    fn ranks(&self) -> usize;

    /// Sends a message to another domain, or to this one; does not wait until it is received.
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Disconnected>;

    /// Waits for the next message of a domain. Messages between two domains arrive in their order.
    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Disconnected>;

    /// Waits for all domains and returns the messages of all, in the order of ranks. It is independent of sent messages that were not received yet.
    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Disconnected>;

    /// Regular end: waits until all domains have called it. Afterwards nothing can be sent or received.
    fn finish(&mut self) -> Result<(), Disconnected>;

    /// Notifies all others that this domain cannot continue, and why. With MPI, this ends the whole job, and does not return.
    fn fail(&mut self, why: &str);
}

/// A domain that cannot be reached any more, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("domain {rank} cannot be reached any more: {why}")]
pub struct Disconnected {
    /// Rank of the domain.
    pub rank: usize,
    /// The reason.
    pub why: String,
}
