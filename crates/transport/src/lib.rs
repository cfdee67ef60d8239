//! How domains reach each other.

use std::sync::mpsc::{Receiver, Sender, channel};

/// A domain that cannot be reached any more, and why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("domain {rank} cannot be reached: {why}")]
pub struct Lost {
    /// Its number.
    pub rank: usize,
    /// Why.
    pub why: String,
}

/// How domains reach each other. Every domain calls the same verbs in the same order.
pub trait Transport: Send {
    /// Which domain this is.
    fn rank(&self) -> usize;
    /// How many there are.
    fn ranks(&self) -> usize;
    /// Sends a message.
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Lost>;
    /// Waits for the next message of another domain.
    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Lost>;
    /// Waits for all.
    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost>;
}

/// In-process.
pub struct Channels {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl Channels {
    /// All ends.
    pub fn all(ranks: usize) -> Vec<Channels> {
        let mut ends: Vec<Channels> = (0..ranks)
            .map(|rank| Channels {
                rank,
                to: Vec::new(),
                from: Vec::new(),
            })
            .collect();
        for a in 0..ranks {
            for b in 0..ranks {
                let (to, from) = channel();
                ends[a].to.push(to);
                ends[b].from.push(from);
            }
        }
        ends
    }
}

impl Transport for Channels {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.to.len()
    }
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Lost> {
        self.to[to].send(message).map_err(|_| Lost {
            rank: to,
            why: "ended".to_owned(),
        })
    }
    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Lost> {
        self.from[from].recv().map_err(|_| Lost {
            rank: from,
            why: "ended".to_owned(),
        })
    }
    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        for to in 0..self.ranks() {
            self.send(to, message.clone())?;
        }
        (0..self.ranks()).map(|from| self.receive(from)).collect()
    }
}
