//! Inboxes of subdomains on GPUs that write into each other's memory, for all that two neighbors exchange in a step.
//!
//! A subdomain makes room for what it will receive at each rebuild of the lists. Before the next exchange the hosts wait for each other once, so that all
//! see the memory of all.

use seixo_device::gpu::{Buffer, Gpu, GpuError, Inbox, Rows};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a neighbor sends, each into an inbox of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Post {
    Halo,
    /// A column within a step.
    Column,
}

/// What goes from one subdomain to another one, by their ranks.
type Way = (Post, usize, usize);

/// The inbox of a way, and how far both ends are.
#[derive(Default)]
struct Ends {
    inbox: Option<Arc<Inbox>>,
    /// Turns that the sender began, and those that the receiver collects.
    sent: u32,
    collected: u32,
    /// Rebuilds of the lists for which the sender is ready, and those for which the receiver has made room.
    announced: u64,
    prepared: u64,
}

/// The inboxes of all subdomains of a process, each of which has its own GPU.
#[derive(Default)]
pub(crate) struct Inboxes(Mutex<HashMap<Way, Ends>>);

impl Inboxes {
    /// Inboxes for subdomains on these GPUs; `None` if some cannot write to others.
    pub fn of(gpus: &[Gpu]) -> Option<Inboxes> {
        let all_linked = gpus.iter().all(|gpu| gpus.iter().all(|other| gpu.accesses(other)));
        all_linked.then(Inboxes::default)
    }

    fn ways(&self) -> MutexGuard<'_, HashMap<Way, Ends>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares the subdomain of rank `own` on this GPU for the exchange with another one until the next rebuild: it receives so many words a turn. Both
    /// do this at every rebuild while they are neighbors.
    pub(super) fn prepare(&self, gpu: &Gpu, post: Post, [own, other]: [usize; 2], words: usize) -> Result<(), GpuError> {
        let before = {
            let mut ways = self.ways();
            ways.entry((post, own, other)).or_default().announced += 1;
            ways.get(&(post, other, own)).and_then(|ends| ends.inbox.clone())
        };
        let inbox = match before.filter(|before| before.room() >= words) {
            Some(before) => before,
            // The words of all turns in the former one were collected, since the host has waited for the steps.
            None => Arc::new(gpu.inbox(words + words / 4, "domains")?),
        };
        let mut ways = self.ways();
        let ends = ways.entry((post, other, own)).or_default();
        ends.inbox = Some(inbox);
        ends.prepared += 1;
        Ok(())
    }

    /// Begins a turn of so many words from the subdomain of rank `own` to another one. Returns the inbox for them, and the turn.
    fn begin(&self, post: Post, [own, other]: [usize; 2], words: usize) -> Result<(Arc<Inbox>, u32), GpuError> {
        let mut ways = self.ways();
        let ends = ways.entry((post, own, other)).or_default();
        ends.sent = turn_after(ends.sent);
        let is_ready = ends.announced == ends.prepared;
        let inbox = ends.inbox.clone().filter(|inbox| is_ready && inbox.room() >= words);
        Ok((inbox.ok_or_else(no_room)?, ends.sent))
    }

    /// The inbox of the subdomain of rank `own` for another one, and the next turn that arrives there.
    fn next_turn(&self, post: Post, [own, other]: [usize; 2]) -> Result<(Arc<Inbox>, u32), GpuError> {
        let mut ways = self.ways();
        let ends = ways.entry((post, other, own)).or_default();
        ends.collected = turn_after(ends.collected);
        Ok((ends.inbox.clone().ok_or_else(no_room)?, ends.collected))
    }

    /// Begins a turn: sends these words of the subdomain of rank `own` to another one, after all launches on this GPU so far.
    pub(super) fn post(&self, gpu: &Gpu, post: Post, ranks: [usize; 2], words: &Buffer<u32>) -> Result<(), GpuError> {
        let (inbox, turn) = self.begin(post, ranks, words.len())?;
        gpu.post(words, &inbox, turn);
        Ok(())
    }

    /// As [`Inboxes::post`], for a halo that goes from its columns straight into the inbox.
    pub(super) fn post_rows<C, R>(&self, gpu: &Gpu, ranks: [usize; 2], rows: &Rows<'_, C, R>) -> Result<(), GpuError> {
        let (inbox, turn) = self.begin(Post::Halo, ranks, rows.words())?;
        gpu.post_rows(rows, &inbox, turn);
        Ok(())
    }

    /// Makes later launches on this GPU wait for the words of the next turn from another subdomain to that of rank `own`.
    pub(super) fn collect(&self, gpu: &Gpu, post: Post, ranks: [usize; 2], words: &Buffer<u32>) -> Result<(), GpuError> {
        let (inbox, turn) = self.next_turn(post, ranks)?;
        gpu.collect(&inbox, turn, words);
        Ok(())
    }

    /// As [`Inboxes::collect`], for a halo that goes straight into its columns, see [`Inboxes::post_rows`].
    pub(super) fn collect_rows<C, R>(&self, gpu: &Gpu, ranks: [usize; 2], rows: &Rows<'_, C, R>) -> Result<(), GpuError> {
        let (inbox, turn) = self.next_turn(Post::Halo, ranks)?;
        gpu.collect_rows(&inbox, turn, rows);
        Ok(())
    }
}

/// The turn after this one. Zero is that of memory without words, and turns alternate between two zones, so an even one follows the last.
pub(super) fn turn_after(turn: u32) -> u32 {
    turn.checked_add(1).unwrap_or(2)
}

/// The error of subdomains that are not in lock step.
fn no_room() -> GpuError {
    GpuError::Lost {
        cause: "another domain has no room for a halo".to_owned(),
    }
}
