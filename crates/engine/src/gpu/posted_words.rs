//! Words that each subdomain on a GPU of its own writes into the memory of all, itself included, once in each step. No host takes part, and no sum of
//! NCCL.
//!
//! No two GPUs wait for each other forever. All GPUs queue the same launches of a step in the same order, in one queue. A launch that waits for words
//! comes after the one that posts those of its own GPU, and waits for words that others post at the same place of their queues. So whatever keeps a GPU
//! waiting is queued before what may wait for this GPU. Sums of NCCL are on a queue of their own, but later launches wait for them at once, so that no
//! launch that waits for words runs beside one: the same order holds.

use super::inboxes::turn_after;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Inbox, Route};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The same number of words from each subdomain.
pub(crate) struct PostedWords {
    inboxes: Vec<Inbox>,
    routes: Vec<Route>,
    /// The words of all subdomains, one after the other, as each of them received these.
    received: Vec<Buffer<u32>>,
    /// The turn of each subdomain.
    turns: Vec<AtomicU32>,
}

impl PostedWords {
    /// Room for so many words of each subdomain on these GPUs, each of which can write to all others.
    pub fn of(gpus: &[Gpu], words: usize) -> Result<PostedWords, GpuError> {
        let all = words * gpus.len();
        let inboxes = gpus
            .iter()
            .map(|gpu| gpu.inbox(all, "domains"))
            .collect::<Result<Vec<Inbox>, GpuError>>()?;
        let routes = gpus.iter().enumerate().map(|(rank, gpu)| gpu.route(&inboxes, words * rank));
        Ok(PostedWords {
            routes: routes.collect::<Result<_, GpuError>>()?,
            received: gpus.iter().map(|gpu| gpu.buffer(all, "domains")).collect::<Result<_, GpuError>>()?,
            turns: gpus.iter().map(|_| AtomicU32::new(0)).collect(),
            inboxes,
        })
    }

    /// Posts the words of the subdomain of this rank to all, after all launches on its GPU so far.
    pub fn post(&self, gpu: &Gpu, words: &Buffer<u32>, rank: usize) {
        let turn = turn_after(self.turns[rank].load(Relaxed));
        self.turns[rank].store(turn, Relaxed);
        gpu.post_to_all(words, &self.routes[rank], turn);
    }

    /// The words of all subdomains in the turn of the last post, for which later launches on this GPU wait.
    pub fn collected(&self, gpu: &Gpu, rank: usize) -> &Buffer<u32> {
        gpu.collect(&self.inboxes[rank], self.turns[rank].load(Relaxed), &self.received[rank]);
        &self.received[rank]
    }
}
