//! What the ranks of one run agree on: that they read the same, and what signals and clocks ask for, which no two of them see at the same step.

use super::RunError;
use seixo_engine::Ranks;
use seixo_transport::Transport;

/// What a run is asked for between two stretches of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// To write a checkpoint and to stop.
    pub stop: bool,
    /// To write a checkpoint.
    pub checkpoint: bool,
    /// Steps until this is asked again, at most.
    pub steps: u64,
}

impl Asked {
    /// What all ranks are asked for, if there are several: to stop as soon as one of them is, else what the first is.
    pub fn by_all(self, ranks: Option<&Ranks>) -> Result<Asked, RunError> {
        let Some(ranks) = ranks else { return Ok(self) };
        let own = [u64::from(self.stop), u64::from(self.checkpoint), self.steps].map(u64::to_le_bytes);
        let all = ranks.clone().gather(own.as_flattened().to_vec())?;
        let number = |told: &[u8], k: usize| told.as_chunks::<8>().0.get(k).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Ok(Asked {
            stop: all.iter().any(|told| number(told, 0) > 0),
            checkpoint: number(&all[0], 1) > 0,
            steps: number(&all[0], 2),
        })
    }
}

/// Waits for all ranks, if there are several; an error unless all found the same of this.
pub(super) fn compare(ranks: Option<&Ranks>, what: &'static str, found: impl FnOnce() -> String) -> Result<(), RunError> {
    let Some(ranks) = ranks else { return Ok(()) };
    let all = ranks.clone().gather(found().into_bytes())?;
    match all.iter().position(|other| *other != all[0]) {
        Some(rank) => Err(RunError::Unlike { rank, what }),
        None => Ok(()),
    }
}

/// Does something on the first rank, if there are several, before all others do it, too.
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

    /// What three ranks come to, each with a thread in place of a process.
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
        let own = |rank: usize| Asked {
            stop: rank == 2,
            checkpoint: rank == 1,
            steps: 10 + rank as u64,
        };
        let all = Asked {
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
        for told in found {
            let told = told.unwrap_err();
            assert!(told.contains("rank 2 reads the scene otherwise"), "{told}");
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
