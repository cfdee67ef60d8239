//! Jobs on several threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// Does a number of jobs on some threads, this one among them, and returns the results in the order of the jobs.
pub(crate) fn in_parallel<T: Send>(jobs: usize, threads: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if threads.min(jobs) <= 1 {
        return (0..jobs).map(job).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= jobs {
                return done;
            }
            done.push((index, job(index)));
        }
    };
    let mut done = thread::scope(|scope| {
        // If the system has no more threads, those that there are do the work.
        let others: Vec<_> = (1..threads.min(jobs))
            .map_while(|_| Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs_on_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 100] {
            for jobs in [0, 1, 50] {
                let squares = in_parallel(jobs, threads, |job| job * job);
                assert_eq!(squares, (0..jobs).map(|job| job * job).collect::<Vec<_>>());
            }
        }
    }
}
