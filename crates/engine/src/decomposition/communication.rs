//! Counts the messages between subdomains, for threads and ranks alike.

use super::report::Report;
use super::subdomain::Subdomain;
use crate::decomposition::Traffic;
use crate::exchange::DecodeError;
use crate::state::{Column, Timeline};
use seixo_transport::{Disconnected, Transport};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Messages that a subdomain sent, with their wall time, and the selection of the ghosts that it sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Communication {
    /// Number of messages to neighbor subdomains.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Number of global reductions of the step status; each subdomain sends some bytes in each.
    pub collectives: u64,
    /// Wall time of sending and receiving. The subdomain that finishes first waits longest.
    pub spent: Duration,
    /// Wall time in which particles were selected that are ghosts of neighbors, at rebuilds of the neighbor lists. For grains on GPUs it includes their
    /// packing.
    pub selecting: Duration,
    /// Number of grains that were tested for that on the CPU. A grain counts once for each neighbor.
    pub tested: u64,
}

/// Name of this section in the report of a subdomain.
const COMMUNICATION: &str = "domain/traffic";

impl Communication {
    fn plus(self, other: Communication) -> Communication {
        Communication {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            collectives: self.collectives + other.collectives,
            spent: self.spent + other.spent,
            selecting: self.selecting + other.selecting,
            tested: self.tested + other.tested,
        }
    }

    /// The section name and column of these numbers in a report.
    pub(super) fn into_section(self) -> (&'static str, Column) {
        let [spent, selecting] = [self.spent, self.selecting].map(|time| time.as_nanos() as u64);
        let counts = vec![self.messages, self.bytes, self.collectives, spent, selecting, self.tested];
        (COMMUNICATION, Column::U64(counts))
    }

    /// The numbers from the report of a subdomain.
    fn of_report(report: &Report) -> Result<Communication, DecodeError> {
        let Some(Column::U64(counts)) = report.reported.get(COMMUNICATION) else {
            return Err(DecodeError);
        };
        let &[messages, bytes, collectives, spent, selecting, tested] = counts.as_slice() else {
            return Err(DecodeError);
        };
        Ok(Communication {
            messages,
            bytes,
            collectives,
            spent: Duration::from_nanos(spent),
            selecting: Duration::from_nanos(selecting),
            tested,
        })
    }
}

/// A transport that counts its messages.
pub struct CountingTransport {
    way: Box<dyn Transport>,
    communication: Communication,
    /// Calls, while a timeline is recorded.
    pub timeline: Option<Timeline>,
}

impl CountingTransport {
    /// A transport without messages so far.
    pub fn new(way: Box<dyn Transport>) -> CountingTransport {
        CountingTransport {
            way,
            communication: Communication::default(),
            timeline: None,
        }
    }

    fn timed<T>(&mut self, name: &'static str, verb: impl FnOnce(&mut dyn Transport) -> T) -> T {
        let clock = Instant::now();
        let done = verb(self.way.as_mut());
        self.communication.spent += clock.elapsed();
        if let Some(timeline) = &mut self.timeline {
            timeline.note(name, clock);
        }
        done
    }
}

impl Transport for CountingTransport {
    fn rank(&self) -> usize {
        self.way.rank()
    }

    fn ranks(&self) -> usize {
        self.way.ranks()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Disconnected> {
        self.communication.messages += 1;
        self.communication.bytes += message.len() as u64;
        self.timed("send", |way| way.send(to, message))
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Disconnected> {
        self.timed("receive", |way| way.receive(from))
    }

    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Disconnected> {
        self.communication.collectives += 1;
        self.timed("gather", |way| way.gather(message))
    }

    fn finish(&mut self) -> Result<(), Disconnected> {
        self.way.finish()
    }

    fn fail(&mut self, why: &str) {
        self.way.fail(why);
    }
}

impl Subdomain {
    /// Returns the counts since the last observation, and resets them.
    pub fn take_communication(&mut self) -> Communication {
        let of_fluids = self.fluids.as_mut().map(|fluids| std::mem::take(&mut fluids.selecting));
        let mut taken = std::mem::take(self.counted());
        taken.selecting += of_fluids.unwrap_or_default();
        taken
    }

    /// Runs work that is no part of a step, such as an observation, without counting its messages.
    pub fn uncounted<T>(&mut self, work: impl FnOnce(&mut Subdomain) -> T) -> T {
        let before = *self.counted();
        let done = work(self);
        *self.counted() = before;
        done
    }

    /// The counts since the last observation.
    pub(super) fn counted(&mut self) -> &mut Communication {
        &mut self.transport.get_mut().unwrap_or_else(PoisonError::into_inner).communication
    }
}

impl Traffic {
    /// Adds the counts of all subdomains since the last observation.
    pub(crate) fn add(&mut self, reports: &[Report]) -> Result<(), DecodeError> {
        self.communication.resize(reports.len(), Communication::default());
        for (all, report) in self.communication.iter_mut().zip(reports) {
            *all = all.plus(Communication::of_report(report)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_transport::Channels;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn what_goes_along_a_way_is_counted() {
        let mut ways: Vec<CountingTransport> = Channels::all(2)
            .into_iter()
            .map(|way| CountingTransport::new(Box::new(way)))
            .collect();
        let (wait, ready) = (Duration::from_millis(200), Barrier::new(2));
        let (first, second) = ways.split_at_mut(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                ready.wait();
                thread::sleep(wait);
                first[0].send(1, vec![0; 70]).unwrap();
                first[0].send(1, vec![0; 7]).unwrap();
                first[0].gather(vec![1]).unwrap();
            });
            scope.spawn(|| {
                ready.wait();
                let received = [0; 2].map(|from| second[0].receive(from).unwrap().len());
                assert_eq!((received, second[0].gather(vec![2]).unwrap()), ([70, 7], vec![vec![1], vec![2]]));
            });
        });
        let [first, second] = [0, 1].map(|rank| ways[rank].communication);
        assert_eq!((first.messages, first.bytes, first.collectives), (2, 77, 1));
        assert_eq!((second.messages, second.bytes, second.collectives), (0, 0, 1));
        assert!(second.spent >= wait / 2, "{second:?}");
    }
}
