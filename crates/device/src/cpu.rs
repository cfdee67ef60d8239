//! Processor cores.

use crate::split::{Split, Strided};
use std::mem::MaybeUninit;

/// A pool of threads on the cores of this machine.
pub struct Cpu {
    pool: rayon::ThreadPool,
}

/// The threads could not be started.
#[derive(Debug)]
pub struct CpuError {
    /// Number of threads requested.
    pub threads: usize,
    /// Error message of the operating system.
    pub cause: String,
}

impl std::fmt::Display for CpuError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "cannot start {} threads: {}; ask for fewer with --threads",
            self.threads, self.cause
        )
    }
}

impl std::error::Error for CpuError {}

/// Most threads per core, and most on any machine. Further threads would wait for the others instead of working.
const MAX_PER_CORE: usize = 8;
const MAX_ANYWHERE: usize = 64;
/// Items that a thread computes at once; fewer are not worth a second thread.
const BLOCK: usize = 1 << 14;

impl Cpu {
    /// Most threads that a pool may have on this machine.
    pub fn most_threads() -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        MAX_ANYWHERE.max(MAX_PER_CORE * cores)
    }

    /// A pool of this many threads; 0 = one per core.
    ///
    /// # Errors
    /// If they are more than [`Cpu::most_threads`], or the system refuses the threads.
    pub fn new(threads: usize) -> Result<Cpu, CpuError> {
        let most = Cpu::most_threads();
        if threads > most {
            let cause = format!("at most {most} are of any use on this machine");
            return Err(CpuError { threads, cause });
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|k| format!("seixo-{k}"))
            .build()
            .map_err(|error| CpuError {
                threads,
                cause: error.to_string(),
            })?;
        Ok(Cpu { pool })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `body` on a thread of the pool. Calls of [`Cpu::run`] inside it start without switching threads.
    pub fn enter<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T {
        if self.threads() == 1 { body() } else { self.pool.install(body) }
    }

    /// Runs `waits` on one thread of the pool and `works` on the others. `waits` should mostly wait for something else. With a single thread, runs
    /// `works` first, then `waits`.
    pub fn both<A: Send, B: Send>(&self, waits: impl FnOnce() -> A + Send, works: impl FnOnce() -> B + Send) -> (A, B) {
        if self.threads() == 1 {
            let done = works();
            return (waits(), done);
        }
        self.enter(|| rayon::join(waits, works))
    }

    /// Runs `body(part, data of that part)` for every part in parallel. A part must not depend on the others, so the result is the same with any
    /// number of threads. Allocates nothing.
    pub fn run<D: Split>(&self, parts: usize, data: D, body: impl Fn(usize, D) + Sync) {
        if self.threads() == 1 {
            // Not by recursion: a hundred thousand parts would not fit on the stack.
            let mut rest = data;
            for part in 1..parts {
                let (one, others) = rest.split(1);
                body(part - 1, one);
                rest = others;
            }
            if parts > 0 {
                body(parts - 1, rest);
            }
            return;
        }
        fn halves<D: Split>(first: usize, parts: usize, data: D, body: &(impl Fn(usize, D) + Sync)) {
            match parts {
                0 => {}
                1 => body(first, data),
                _ => {
                    let half = parts / 2;
                    let (left, right) = data.split(half);
                    rayon::join(
                        || halves(first, half, left, body),
                        || halves(first + half, parts - half, right, body),
                    );
                }
            }
        }
        self.enter(|| halves(0, parts, data, &body));
    }

    /// The results of `of` for 0 to n − 1, computed in parallel. Each thread is the first to write to its part of the new memory: zeros that one thread
    /// wrote there beforehand would take longer than the results.
    #[allow(
        unsafe_code,
        reason = "the safe way to a vector of this length writes all of it on one thread first"
    )]
    pub fn collect<T: Copy + Send>(&self, n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        if n <= BLOCK || self.threads() == 1 {
            return (0..n).map(of).collect();
        }
        let mut items: Vec<T> = Vec::with_capacity(n);
        let room = Strided {
            items: &mut items.spare_capacity_mut()[..n],
            per_part: BLOCK,
        };
        self.run(n.div_ceil(BLOCK), (room,), |block, (to,): (Strided<MaybeUninit<T>>,)| {
            for (k, item) in to.items.iter_mut().enumerate() {
                item.write(of(block * BLOCK + k));
            }
        });
        // SAFETY: the room for n items was divided into the parts of the run, each of which has written all of its items. A panic in one of them does not
        // come here.
        unsafe { items.set_len(n) };
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Ranges;

    #[test]
    fn what_waits_holds_nothing_up() {
        for threads in [1, 2, 8] {
            let (sender, reported) = std::sync::mpsc::channel();
            let both = Cpu::new(threads).unwrap().both(
                move || reported.recv_timeout(std::time::Duration::from_secs(60)),
                move || sender.send(6).is_ok(),
            );
            assert_eq!(both, (Ok(6), true), "{threads}");
        }
    }

    #[test]
    fn a_thread_takes_a_million_parts_in_turn() {
        let mut items = vec![0u32; 1_000_000];
        let data = (Strided {
            items: &mut items[..],
            per_part: 1,
        },);
        Cpu::new(1).unwrap().run(1_000_000, data, |part, (item,): (Strided<u32>,)| {
            item.items[0] = part as u32;
        });
        assert!(items.iter().zip(0..).all(|(&item, part)| item == part));
    }

    #[test]
    fn results_are_collected_in_their_order() {
        for threads in [1, 2, 8] {
            let cpu = Cpu::new(threads).unwrap();
            for n in [0, 1, BLOCK, BLOCK + 1, 5 * BLOCK - 7] {
                let found = cpu.collect(n, |k| [k, k * k]);
                assert!(found == (0..n).map(|k| [k, k * k]).collect::<Vec<_>>(), "{n} on {threads}");
            }
        }
    }

    #[test]
    fn every_part_gets_its_own_items() {
        for threads in [1, 2, 3, 8] {
            let cpu = Cpu::new(threads).unwrap();
            for parts in [0usize, 1, 2, 7, 64] {
                let bounds: Vec<u32> = (0..=parts as u32).map(|k| k * (k + 1) / 2).collect();
                let mut ragged = vec![u32::MAX; 2 * bounds[parts] as usize];
                let mut even = vec![u32::MAX; parts * 3];
                let data = (
                    Ranges {
                        items: &mut ragged,
                        bounds: &bounds,
                        stride: 2,
                    },
                    Strided {
                        items: &mut even,
                        per_part: 3,
                    },
                );
                cpu.run(parts, data, |part, (ragged, even): (Ranges<u32>, Strided<u32>)| {
                    assert_eq!(ragged.items.len(), 2 * (part + 1));
                    ragged.items.fill(part as u32);
                    even.items.fill(part as u32);
                });
                for part in 0..parts {
                    assert!(
                        ragged[2 * bounds[part] as usize..2 * bounds[part + 1] as usize]
                            .iter()
                            .all(|&p| p == part as u32)
                    );
                    assert!(even[3 * part..3 * part + 3].iter().all(|&p| p == part as u32));
                }
            }
        }
    }
}
