//! Agreement of the ranks of a run: on their input files, and on requests by signals and clocks, which reach each rank at another step.

use super::RunError;
use seixo_engine::Ranks;
use seixo_transport::Transport;

/// Requests to a run between two series of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunRequests {
    /// Write a checkpoint and stop.
    pub stop: bool,
    /// Write a checkpoint.
    pub checkpoint: bool,
    /// Largest number of steps until the next check.
    pub steps: u64,
}

impl RunRequests {
    /// Combines the requests of all ranks, if there are several: stop if any rank is to stop, else follow the first rank.
    pub fn by_all(self, ranks: Option<&Ranks>) -> Result<RunRequests, RunError> {
        let Some(ranks) = ranks else { return Ok(self) };
        let own = [u64::from(self.stop), u64::from(self.checkpoint), self.steps].map(u64::to_le_bytes);
        let all = ranks.clone().gather(own.as_flattened().to_vec())?;
        let number = |reported: &[u8], k: usize| reported.as_chunks::<8>().0.get(k).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Ok(RunRequests {
            stop: all.iter().any(|reported| number(reported, 0) > 0),
            checkpoint: number(&all[0], 1) > 0,
            steps: number(&all[0], 2),
        })
    }
}

/// Waits for all ranks, if there are several, and fails unless all found the same data.
pub(super) fn compare(ranks: Option<&Ranks>, what: &'static str, found: impl FnOnce() -> String) -> Result<(), RunError> {
    let Some(ranks) = ranks else { return Ok(()) };
    let all = ranks.clone().gather(found().into_bytes())?;
    match all.iter().position(|other| *other != all[0]) {
        Some(rank) => Err(RunError::Unlike { rank, what }),
        None => Ok(()),
    }
}

/// Calls a function on the first rank before all others, if there are several.
pub(super) fn first_alone<T>(ranks: Option<&Ranks>, look: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    let meet = |ranks: Option<&Ranks>| ranks.map_or(Ok(()), |ranks| ranks.clone().gather(Vec::new()).map(drop));
    meet(ranks.filter(|ranks| !ranks.is_first()))?;
    let found = look()?;
    meet(ranks.filter(|ranks| ranks.is_first()))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_transport::Channels;
    use std::sync::Mutex;
    use std::thread;

    /// Returns the results of three ranks, each in a thread instead of a process.
    fn among_three<T: Send>(program: impl Fn(usize, Option<&Ranks>) -> T + Sync) -> Vec<T> {
        thread::scope(|scope| {
            let program = &program;
            let threads: Vec<_> = Channels::all(3)
                .into_iter()
                .map(|way| {
                    scope.spawn(move || {
                        let mut ranks = Ranks::new(Box::new(way));
                        let done = program(ranks.rank(), Some(&ranks));
                        ranks.finish().unwrap();
                        done
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_stop_where_one_is_asked_to_and_else_do_as_the_first() {
        let own = |rank: usize| RunRequests {
            stop: rank == 2,
            checkpoint: rank == 1,
            steps: 10 + rank as u64,
        };
        let all = RunRequests {
            stop: true,
            checkpoint: false,
            steps: 10,
        };
        let found = among_three(|rank, ranks| own(rank).by_all(ranks).unwrap());
        assert_eq!(found, [all; 3]);
        assert_eq!(own(1).by_all(None).unwrap(), own(1));
    }

    #[test]
    fn who_reads_otherwise_is_named_by_all() {
        let found = among_three(|rank, ranks| compare(ranks, "the scene", || (rank / 2).to_string()).map_err(|error| error.to_string()));
        for reported in found {
            let reported = reported.unwrap_err();
            assert!(reported.contains("rank 2 reads the scene otherwise"), "{reported}");
        }
        assert!(
            among_three(|_, ranks| compare(ranks, "the scene", String::new).is_ok())
                .iter()
                .all(|same| *same)
        );
    }

    #[test]
    fn the_first_looks_before_all_others() {
        let order = Mutex::new(Vec::new());
        among_three(|rank, ranks| {
            first_alone(ranks, || {
                order.lock().unwrap().push(rank);
                Ok(())
            })
            .unwrap();
        });
        let order = order.into_inner().unwrap();
        assert!(order.len() == 3 && order[0] == 0, "{order:?}");
    }
}
