//! What domains tell each other, counted on its way: the same among threads and among ranks.

use super::letters::Illegible;
use super::report::Report;
use super::subdomain::Subdomain;
use crate::simulation::Simulation;
use crate::state::Column;
use seixo_transport::{Lost, Transport};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// What a domain told the others, and how long that took it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages that it sent to the domains beside it.
    pub messages: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// How often it waited for all domains, to hear what every one of them thinks of a step; each of them tells some bytes then.
    pub gathers: u64,
    /// Wall time in which it sent, and waited for what others send. Who is done first waits longest.
    pub spent: Duration,
}

/// Name of what a domain reports of it.
const TRAFFIC: &str = "domain/traffic";

impl Traffic {
    fn plus(self, other: Traffic) -> Traffic {
        Traffic {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            gathers: self.gathers + other.gathers,
            spent: self.spent + other.spent,
        }
    }

    /// Under which name, and as what, it is reported.
    pub(super) fn told(self) -> (&'static str, Column) {
        let nanoseconds = self.spent.as_nanos() as u64;
        (TRAFFIC, Column::U64(vec![self.messages, self.bytes, self.gathers, nanoseconds]))
    }

    /// What a domain reported.
    fn reported(report: &Report) -> Result<Traffic, Illegible> {
        let Some(Column::U64(counts)) = report.told.get(TRAFFIC) else {
            return Err(Illegible);
        };
        let &[messages, bytes, gathers, nanoseconds] = counts.as_slice() else {
            return Err(Illegible);
        };
        Ok(Traffic {
            messages,
            bytes,
            gathers,
            spent: Duration::from_nanos(nanoseconds),
        })
    }
}

/// The way to other domains, which counts what goes along it.
pub struct Counted {
    way: Box<dyn Transport>,
    traffic: Traffic,
}

impl Counted {
    /// Nothing went along this way yet.
    pub fn new(way: Box<dyn Transport>) -> Counted {
        Counted {
            way,
            traffic: Traffic::default(),
        }
    }

    fn timed<T>(&mut self, verb: impl FnOnce(&mut dyn Transport) -> T) -> T {
        let clock = Instant::now();
        let done = verb(self.way.as_mut());
        self.traffic.spent += clock.elapsed();
        done
    }
}

impl Transport for Counted {
    fn rank(&self) -> usize {
        self.way.rank()
    }

    fn ranks(&self) -> usize {
        self.way.ranks()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Lost> {
        self.traffic.messages += 1;
        self.traffic.bytes += message.len() as u64;
        self.timed(|way| way.send(to, message))
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Lost> {
        self.timed(|way| way.receive(from))
    }

    fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        self.traffic.gathers += 1;
        self.timed(|way| way.gather(message))
    }

    fn finish(&mut self) -> Result<(), Lost> {
        self.way.finish()
    }

    fn fail(&mut self, why: &str) {
        self.way.fail(why);
    }
}

impl Subdomain {
    /// What it told since somebody looked, which is forgotten.
    pub fn take_traffic(&mut self) -> Traffic {
        std::mem::take(self.counted())
    }

    /// Does something that is no part of a step, such as being looked at: what it tells meanwhile is not counted.
    pub fn uncounted<T>(&mut self, work: impl FnOnce(&mut Subdomain) -> T) -> T {
        let before = *self.counted();
        let done = work(self);
        *self.counted() = before;
        done
    }

    /// What it told since somebody looked.
    pub(super) fn counted(&mut self) -> &mut Traffic {
        &mut self.transport.get_mut().unwrap_or_else(PoisonError::into_inner).traffic
    }
}

impl Simulation {
    /// Adds what domains told since somebody looked.
    pub(super) fn add_traffic(&mut self, reports: &[Report]) -> Result<(), Illegible> {
        self.traffic.resize(reports.len(), Traffic::default());
        for (all, report) in self.traffic.iter_mut().zip(reports) {
            *all = all.plus(Traffic::reported(report)?);
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
        let mut ways: Vec<Counted> = Channels::all(2).into_iter().map(|way| Counted::new(Box::new(way))).collect();
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
        let [first, second] = [0, 1].map(|rank| ways[rank].traffic);
        assert_eq!((first.messages, first.bytes, first.gathers), (2, 77, 1));
        assert_eq!((second.messages, second.bytes, second.gathers), (0, 0, 1));
        assert!(second.spent >= wait / 2, "{second:?}");
    }
}
