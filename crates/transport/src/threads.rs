//! Domains as threads of one process.

use crate::{Disconnected, Transport, receive_awake};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The end of one domain of the channels between the threads of a process.
///
/// As soon as a domain is lost, every call of every other one returns its rank. A domain is lost if it [failed](Transport::fail), or if its channels
/// were dropped before it [finished](Transport::finish), as after a panic of the thread that owns them. If the channels outlive the thread, their
/// owner must call `fail`.
pub struct Channels {
    rank: usize,
    /// Senders to the inbox of each domain, its own included.
    outboxes: Vec<Sender<InboxItem>>,
    inbox: Receiver<InboxItem>,
    /// Messages that arrived before they were requested: by verb, by sender, in their order.
    waiting: [Vec<VecDeque<Vec<u8>>>; 2],
    /// The first loss that was received.
    lost: Option<Disconnected>,
    /// Whether the others were notified of the end of this domain.
    is_over: bool,
    /// Whether a wait keeps its thread awake at first: each domain has a core, so that none waits for that of another.
    stays_awake: bool,
}

/// An item of an inbox: a message, or the loss of a domain.
type InboxItem = Result<Message, Disconnected>;

struct Message {
    verb: Verb,
    from: usize,
    bytes: Vec<u8>,
}

/// The method that a message belongs to; messages of one never block those of the other.
#[derive(Clone, Copy)]
enum Verb {
    Send,
    Gather,
}

impl Channels {
    /// The channels of all domains, in the order of ranks, each for a thread of its own.
    pub fn all(ranks: usize) -> Vec<Channels> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let stays_awake = thread::available_parallelism().is_ok_and(|cores| ranks <= cores.get());
        let ends = inboxes.into_iter().enumerate().map(|(rank, inbox)| Channels {
            rank,
            outboxes: outboxes.clone(),
            inbox,
            waiting: [vec![VecDeque::new(); ranks], vec![VecDeque::new(); ranks]],
            lost: None,
            is_over: false,
            stays_awake,
        });
        ends.collect()
    }

    /// Takes the next item of the inbox; an error if a domain is lost.
    fn open_message(&mut self) -> Result<(), Disconnected> {
        while let Ok(message) = self.inbox.try_recv() {
            self.open(message);
        }
        self.lost.clone().map_or(Ok(()), Err)
    }

    fn open(&mut self, message: InboxItem) {
        match message {
            Ok(Message { verb, from, bytes }) => self.waiting[verb as usize][from].push_back(bytes),
            Err(lost) => {
                self.lost.get_or_insert(lost);
            }
        }
    }

    fn post(&mut self, verb: Verb, to: usize, bytes: Vec<u8>) -> Result<(), Disconnected> {
        let from = self.rank;
        if self.outboxes[to].send(Ok(Message { verb, from, bytes })).is_ok() {
            return Ok(());
        }
        // A domain that ended has sent its reason, unless it ended regularly.
        self.open_message()?;
        Err(Disconnected {
            rank: to,
            why: "it has finished".to_owned(),
        })
    }

    fn next(&mut self, verb: Verb, from: usize) -> Result<Vec<u8>, Disconnected> {
        loop {
            self.open_message()?;
            if let Some(bytes) = self.waiting[verb as usize][from].pop_front() {
                return Ok(bytes);
            }
            let soon = if self.stays_awake { receive_awake(&self.inbox) } else { None };
            let message = soon.map_or_else(|| self.inbox.recv(), Ok);
            self.open(message.expect("an inbox stays open, for its owner has a way to it, too"));
        }
    }
}

impl Transport for Channels {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.outboxes.len()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Disconnected> {
        self.open_message()?;
        self.post(Verb::Send, to, message)
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Disconnected> {
        self.next(Verb::Send, from)
    }

    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Disconnected> {
        self.open_message()?;
        for to in 0..self.ranks() {
            self.post(Verb::Gather, to, message.clone())?;
        }
        (0..self.ranks()).map(|from| self.next(Verb::Gather, from)).collect()
    }

    fn finish(&mut self) -> Result<(), Disconnected> {
        self.gather(Vec::new())?;
        self.is_over = true;
        Ok(())
    }

    fn fail(&mut self, why: &str) {
        self.is_over = true;
        // A domain that fails because of another is not the cause: the others receive the loss of that one, perhaps later.
        let (rank, why) = (self.rank, why.to_owned());
        let lost = self.lost.get_or_insert(Disconnected { rank, why });
        for outbox in &self.outboxes {
            // A closed inbox has no receiver to notify.
            let _ = outbox.send(Err(lost.clone()));
        }
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        if !self.is_over {
            let is_panicking = thread::panicking();
            self.fail(if is_panicking {
                "its thread panicked"
            } else {
                "it ended before the others"
            });
        }
    }
}
