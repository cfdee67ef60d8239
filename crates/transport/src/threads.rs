//! Domains as threads of one process.

use crate::{Lost, Transport};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What one domain holds of the channels between the threads of a process.
///
/// As soon as a domain is lost, every call of every other one returns who it was: one that [failed](Transport::fail), or whose channels were dropped
/// before it [finished](Transport::finish), as they are when the thread that owns them panics. Where they outlive the thread, their owner has to tell.
pub struct Channels {
    rank: usize,
    /// Lead to the inbox of each domain, its own included.
    outboxes: Vec<Sender<Letter>>,
    inbox: Receiver<Letter>,
    /// What came before it was asked for: by verb, by sender, in its order.
    waiting: [Vec<VecDeque<Vec<u8>>>; 2],
    /// The first loss that was heard of.
    lost: Option<Lost>,
    /// Whether the others know how this domain ended.
    is_over: bool,
}

/// What lies in an inbox: a message, or that somebody is lost.
type Letter = Result<Message, Lost>;

struct Message {
    verb: Verb,
    from: usize,
    bytes: Vec<u8>,
}

/// What a message was given to; those of one verb never stand in the way of those of the other.
#[derive(Clone, Copy)]
enum Verb {
    Send,
    Gather,
}

impl Channels {
    /// The channels of all domains, in the order of ranks, each for a thread of its own.
    pub fn all(ranks: usize) -> Vec<Channels> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let ends = inboxes.into_iter().enumerate().map(|(rank, inbox)| Channels {
            rank,
            outboxes: outboxes.clone(),
            inbox,
            waiting: [vec![VecDeque::new(); ranks], vec![VecDeque::new(); ranks]],
            lost: None,
            is_over: false,
        });
        ends.collect()
    }

    /// Opens what lies in the inbox; an error if somebody is lost.
    fn look(&mut self) -> Result<(), Lost> {
        while let Ok(letter) = self.inbox.try_recv() {
            self.open(letter);
        }
        self.lost.clone().map_or(Ok(()), Err)
    }

    fn open(&mut self, letter: Letter) {
        match letter {
            Ok(Message { verb, from, bytes }) => self.waiting[verb as usize][from].push_back(bytes),
            Err(lost) => {
                self.lost.get_or_insert(lost);
            }
        }
    }

    fn post(&mut self, verb: Verb, to: usize, bytes: Vec<u8>) -> Result<(), Lost> {
        let from = self.rank;
        if self.outboxes[to].send(Ok(Message { verb, from, bytes })).is_ok() {
            return Ok(());
        }
        // Who is gone has said why, unless all was well.
        self.look()?;
        Err(Lost {
            rank: to,
            why: "it has finished".to_owned(),
        })
    }

    fn next(&mut self, verb: Verb, from: usize) -> Result<Vec<u8>, Lost> {
        loop {
            self.look()?;
            if let Some(bytes) = self.waiting[verb as usize][from].pop_front() {
                return Ok(bytes);
            }
            let letter = self.inbox.recv().expect("an inbox stays open, for its owner has a way to it, too");
            self.open(letter);
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

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Lost> {
        self.look()?;
        self.post(Verb::Send, to, message)
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Lost> {
        self.next(Verb::Send, from)
    }

    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        self.look()?;
        for to in 0..self.ranks() {
            self.post(Verb::Gather, to, message.clone())?;
        }
        (0..self.ranks()).map(|from| self.next(Verb::Gather, from)).collect()
    }

    fn finish(&mut self) -> Result<(), Lost> {
        self.gather(Vec::new())?;
        self.is_over = true;
        Ok(())
    }

    fn fail(&mut self, why: &str) {
        self.is_over = true;
        // One that fails because of another is no cause: the others hear of that one, whose own letter may come later.
        let (rank, why) = (self.rank, why.to_owned());
        let lost = self.lost.get_or_insert(Lost { rank, why });
        for outbox in &self.outboxes {
            // Nobody is left to tell where an inbox is gone.
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
