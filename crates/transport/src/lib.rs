//! How domains reach each other: as threads of one process ([`Channels`]), or as ranks of MPI (`Mpi`, with the cargo feature `mpi`).

mod launch;
#[cfg(feature = "mpi")]
mod ranks;
mod threads;

pub use launch::{Launch, launched_by_mpi};
#[cfg(feature = "mpi")]
pub use ranks::{Mpi, end_job};
pub use threads::Channels;

/// How domains reach each other. Every domain calls the same verbs in the same order.
pub trait Transport: Send {
    /// Which domain this is, from 0.
    fn rank(&self) -> usize;

    /// How many domains there are.
    fn ranks(&self) -> usize;

    /// Sends a message to another domain, or to this one; does not wait for it to be taken.
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Lost>;

    /// Waits for the next message of a domain. Messages between two domains arrive in their order.
    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Lost>;

    /// Waits for all domains; every one gets what all gave, in the order of ranks. Messages on their way do not matter to it.
    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost>;

    /// Ends well: waits until all domains have come to this end. Nothing can be sent or received afterwards.
    fn finish(&mut self) -> Result<(), Lost>;

    /// Tells all others that this domain cannot go on, and why. With MPI, this ends the whole job, and does not return.
    fn fail(&mut self, why: &str);
}

/// A domain that cannot be reached any more, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("domain {rank} cannot be reached any more: {why}")]
pub struct Lost {
    /// Which domain it is.
    pub rank: usize,
    /// What became of it.
    pub why: String,
}
