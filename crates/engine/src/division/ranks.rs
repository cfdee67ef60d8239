//! Domains that are processes of their own: the way from one to the others.

use super::letters::{Illegible, letter, read};
use super::report::Report;
use super::stops::{read_stop, stop_letter};
use super::subdomain::Halt;
use crate::state::State;
use crate::world::Settings;
use seixo_transport::{Channels, Lost, Transport};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The processes among which the grains of a world are divided, a domain each, as one of them reaches the others.
///
/// All set the same world up with the same settings, and call the same methods of their simulations in the same order: whatever takes steps, looks at
/// grains or changes something waits for all. Then all hold the same picture, and come to the same ends.
#[derive(Clone)]
pub struct Ranks {
    rank: usize,
    ranks: usize,
    /// None once this one has left.
    transport: Arc<Mutex<Option<Box<dyn Transport>>>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.ranks)
    }
}

impl Ranks {
    /// Those that a transport leads to.
    pub fn new(transport: Box<dyn Transport>) -> Ranks {
        Ranks {
            rank: transport.rank(),
            ranks: transport.ranks(),
            transport: Arc::new(Mutex::new(Some(transport))),
        }
    }

    /// Whether this is the first of them.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Leaves the others, who cannot go on without this one: nothing is sent any more, and nothing waited for. Threads of one process hear of it; with
    /// MPI the others wait until the job ends.
    pub fn leave(&self) {
        *self.transport.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn through<T>(&self, verb: impl FnOnce(&mut dyn Transport) -> Result<T, Lost>) -> Result<T, Lost> {
        match self.transport.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(transport) => verb(transport.as_mut()),
            None => Err(Lost {
                rank: self.rank,
                why: "it has left the others".to_owned(),
            }),
        }
    }

    /// What all tell, in the order of ranks.
    pub(super) fn all_reports(&mut self, own: Vec<Report>) -> Result<Vec<Report>, Halt> {
        let own = own.into_iter().next().map_or_else(State::default, Report::into_state);
        let letters = self.gather(letter(&own))?;
        let reports = letters.iter().map(|letter| Report::from_state(read(letter)?));
        Ok(reports.collect::<Result<Vec<Report>, Illegible>>()?)
    }

    /// Why all have halted, which only some of them know: what the first of these says.
    pub(super) fn explained(&mut self, halt: Halt) -> Halt {
        let own = match &halt {
            Halt::Stopped(stop) => stop_letter(stop),
            Halt::Elsewhere => Vec::new(),
            Halt::Lost(_) | Halt::Refused(_) => return halt,
        };
        let told = match self.gather(own) {
            Ok(told) => told,
            Err(lost) => return lost.into(),
        };
        let first = told.iter().find(|letter| !letter.is_empty());
        match first.and_then(|letter| read_stop(letter).ok()) {
            Some(stop) => Halt::Stopped(Box::new(stop)),
            None => halt,
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

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Lost> {
        self.through(|transport| transport.send(to, message))
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Lost> {
        self.through(|transport| transport.receive(from))
    }

    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        self.through(|transport| transport.gather(message))
    }

    fn finish(&mut self) -> Result<(), Lost> {
        self.through(|transport| transport.finish())
    }

    fn fail(&mut self, why: &str) {
        // Who has left needs to tell nobody.
        let _ = self.through(|transport| {
            transport.fail(why);
            Ok(())
        });
    }
}

impl Settings {
    /// Among ranks there are as many domains as these; and as several of them may share a machine, a rank takes no more cores of it than it was told to.
    pub(crate) fn heed_ranks(&mut self) {
        if let Some(ranks) = &self.ranks {
            (self.domains, self.threads) = (ranks.ranks, self.threads.max(1));
        }
    }

    /// The ways between domains, one for each that this process has.
    pub(super) fn transports(&self) -> Vec<Box<dyn Transport>> {
        match &self.ranks {
            Some(ranks) => vec![Box::new(ranks.clone())],
            None => Channels::all(self.domains)
                .into_iter()
                .map(|way| Box::new(way) as Box<dyn Transport>)
                .collect(),
        }
    }
}
