//! Processor cores.

use crate::crew::Crew;
use crate::split::{Split, Strided};
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError, TryLockError};

/// Threads on the cores of this machine.
pub struct Cpu {
    threads: usize,
    /// All threads but one, which is that of the caller.
    crew: Crew,
    /// Number of threads that wait in [`Cpu::both`].
    waiting: AtomicUsize,
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
/// Name of the environment variable with the number of threads where none is given, see [`Cpu::new`]. Threads that draw pictures have the same one, so
/// it limits both.
pub const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";
/// Items that a thread computes at once; fewer are not worth a second thread.
const BLOCK: usize = 1 << 14;

impl Cpu {
    /// Most threads that are of any use on this machine.
    pub fn most_threads() -> usize {
        MAX_ANYWHERE.max(MAX_PER_CORE * cores())
    }

    /// Starts this many threads, of which the caller is one; 0 = as many as the environment variable [`THREADS_VARIABLE`] says, or one per core.
    ///
    /// # Errors
    /// If they are more than [`Cpu::most_threads`], or the system refuses the threads.
    pub fn new(threads: usize) -> Result<Cpu, CpuError> {
        let threads = if threads > 0 { threads } else { usual_threads() };
        let refused = |cause: String| CpuError { threads, cause };
        let most = Cpu::most_threads();
        if threads > most {
            return Err(refused(format!("at most {most} are of any use on this machine")));
        }
        let crew = Crew::new(threads - 1).map_err(|error| refused(error.to_string()))?;
        let waiting = AtomicUsize::new(0);
        Ok(Cpu { threads, crew, waiting })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `waits` on this thread and, meanwhile, `works` on all others. Runs of `works` that begin after `waits` has returned have all threads. `waits`
    /// should mostly wait for something else. With a single thread, runs `works` first, then `waits`.
    ///
    /// # Panics
    /// If one of them panics, or the system refuses another thread: each call starts one, which begins the runs of `works`.
    pub fn both<A, B: Send>(&self, waits: impl FnOnce() -> A, works: impl FnOnce() -> B + Send) -> (A, B) {
        if self.threads == 1 {
            let done = works();
            return (waits(), done);
        }
        self.waiting.fetch_add(1, Relaxed);
        let counted = Waiting(&self.waiting);
        std::thread::scope(|scope| {
            let works = scope.spawn(works);
            let waited = waits();
            drop(counted);
            (waited, works.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Runs `body(part, data of that part)` for every part in parallel, on this thread and others. A part must not depend on the others, so the result
    /// is the same with any number of threads. If the others are busy, as in a run inside a run, this thread takes all parts. Allocates nothing, except
    /// a lock on macOS.
    pub fn run<D: Split>(&self, parts: usize, data: D, body: impl Fn(usize, D) + Sync) {
        let all = Span { first: 0, parts, data };
        let threads = self.threads.saturating_sub(self.waiting.load(Relaxed));
        if threads < 2 || parts < 2 {
            return all.in_turn(&body);
        }
        let rest = Mutex::new(Some(all));
        self.crew.share(threads.min(parts) - 1, &|is_caller: bool| {
            while let Some(claimed) = claim(&rest, threads, is_caller) {
                claimed.in_turn(&body);
            }
        });
    }

    /// The results of `of` for 0 to n − 1, computed in parallel. Each thread is the first to write to its part of the new memory: zeros that one thread
    /// wrote there beforehand would take longer than the results.
    #[allow(
        unsafe_code,
        reason = "the safe way to a vector of this length writes all of it on one thread first"
    )]
    pub fn collect<T: Copy + Send>(&self, n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        if n <= BLOCK || self.threads == 1 {
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Number of threads where none is given.
fn usual_threads() -> usize {
    let given = std::env::var(THREADS_VARIABLE).ok().and_then(|text| text.parse::<usize>().ok());
    given.filter(|&threads| threads > 0).unwrap_or_else(cores).min(Cpu::most_threads())
}

/// A thread that waits in [`Cpu::both`], until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Parts in a row.
struct Span<D> {
    first: usize,
    parts: usize,
    data: D,
}

impl<D: Split> Span<D> {
    /// The first parts, so many of them, and the others.
    fn split(self, parts: usize) -> (Span<D>, Span<D>) {
        let (left, right) = self.data.split(parts);
        let of = |first, parts, data| Span { first, parts, data };
        (of(self.first, parts, left), of(self.first + parts, self.parts - parts, right))
    }

    /// Runs the parts on this thread.
    fn in_turn(self, body: &impl Fn(usize, D)) {
        let Span { first, parts, data } = self;
        // Not by recursion: a hundred thousand parts would not fit on the stack.
        let mut rest = data;
        for part in 1..parts {
            let (one, others) = rest.split(1);
            body(first + part - 1, one);
            rest = others;
        }
        if parts > 0 {
            body(first + parts - 1, rest);
        }
    }
}

/// Claims some of the parts that no thread has claimed. They are few, so threads end at about the same time though parts cost differently. The caller
/// of a run claims at the front and the others at the back: so most parts are on the same core, and in its cache, in each pass.
fn claim<D: Split>(rest: &Mutex<Option<Span<D>>>, threads: usize, is_caller: bool) -> Option<Span<D>> {
    let mut rest = loop {
        match rest.try_lock() {
            Ok(rest) => break rest,
            Err(TryLockError::Poisoned(rest)) => break PoisonError::into_inner(rest),
            // Another thread claims, which takes far less time than a sleep.
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    };
    let all = rest.take()?;
    let parts = (all.parts / (4 * threads)).max(1);
    let others = all.parts - parts;
    if others == 0 {
        return Some(all);
    }
    let (claimed, others) = if is_caller {
        all.split(parts)
    } else {
        let (others, claimed) = all.split(others);
        (claimed, others)
    };
    *rest = Some(others);
    Some(claimed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Ranges;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    const MINUTE: Duration = Duration::from_secs(60);

    fn each<T>(items: &mut [T]) -> Strided<'_, T> {
        Strided { items, per_part: 1 }
    }

    /// Whether two parts run at the same time. The first waits so long for the second.
    fn run_together(cpu: &Cpu, longest: Duration) -> bool {
        let ((sender, reported), mut came) = (channel(), [false; 2]);
        let reported = Mutex::new(reported);
        cpu.run(2, each(&mut came), |part, came: Strided<bool>| {
            came.items[0] = match part {
                0 => reported.lock().unwrap().recv_timeout(longest).is_ok(),
                _ => sender.send(()).is_ok(),
            };
        });
        came[0]
    }

    #[test]
    fn parts_run_at_the_same_time_after_any_pause() {
        for threads in [2, 8] {
            let cpu = Cpu::new(threads).unwrap();
            for pause in [0, 0, 5, 0, 5] {
                std::thread::sleep(Duration::from_millis(pause));
                assert!(run_together(&cpu, MINUTE), "{pause} ms on {threads}");
            }
        }
    }

    #[test]
    fn work_leaves_a_thread_to_what_waits() {
        let cpu = Cpu::new(2).unwrap();
        let (sender, has_worked) = channel::<()>();
        let works = || {
            let were_together = run_together(&cpu, Duration::from_millis(50));
            drop(sender);
            were_together
        };
        let (_, were_together) = cpu.both(move || has_worked.recv(), works);
        assert!(!were_together);
        assert!(run_together(&cpu, MINUTE));
    }

    #[test]
    fn each_part_runs_once() {
        for threads in [1, 2, 3, 8] {
            let cpu = Cpu::new(threads).unwrap();
            for _ in 0..20 {
                let mut items = [0; 500];
                cpu.run(500, each(&mut items), |part, item: Strided<usize>| item.items[0] += part + 1);
                assert!(items.into_iter().eq(1..=500), "{threads}");
            }
        }
    }

    #[test]
    fn runs_inside_runs_and_of_several_threads_end() {
        let cpu = Cpu::new(3).unwrap();
        let fill = || {
            let mut items = [0; 35];
            let rows = Strided {
                items: &mut items[..],
                per_part: 7,
            };
            cpu.run(5, rows, |row, of_row: Strided<usize>| {
                cpu.run(7, each(of_row.items), |k, item: Strided<usize>| item.items[0] += 7 * row + k + 1);
            });
            assert!(items.into_iter().eq(1..=35));
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| fill()));
            }
        });
    }

    /// One item of each part.
    struct Items(Vec<Arc<()>>);

    impl Split for Items {
        fn split(mut self, part: usize) -> (Items, Items) {
            let others = self.0.split_off(part);
            (self, Items(others))
        }
    }

    #[test]
    fn a_panic_in_a_part_reaches_the_caller_and_drops_the_data() {
        for (threads, bad) in [(1, 0), (2, 0), (2, 63), (8, 0), (8, 63)] {
            let cpu = Cpu::new(threads).unwrap();
            for _ in 0..20 {
                let item = Arc::new(());
                let items = Items((0..64).map(|_| item.clone()).collect());
                let run = || {
                    cpu.run(64, items, |part, _| {
                        if part == bad {
                            resume_unwind(Box::new(part));
                        }
                    });
                };
                let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
                assert_eq!(panic.downcast_ref::<usize>(), Some(&bad), "{threads}");
                assert_eq!(Arc::strong_count(&item), 1, "{bad} on {threads}");
            }
            assert!(threads == 1 || run_together(&cpu, MINUTE), "{bad} on {threads}");
        }
    }

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
    fn a_panic_in_what_waits_or_works_reaches_the_caller_and_all_threads_remain() {
        let end = |panics: bool, name: &'static str| {
            if panics {
                resume_unwind(Box::new(name));
            }
        };
        for threads in [1, 2, 8] {
            let cpu = Cpu::new(threads).unwrap();
            // A single thread works before it waits, and does not come to the latter.
            let first = if threads == 1 { "works" } else { "waits" };
            for (waits, works, expected) in [(true, false, "waits"), (false, true, "works"), (true, true, first)] {
                let both = || cpu.both(|| end(waits, "waits"), || end(works, "works"));
                let panic = catch_unwind(AssertUnwindSafe(both)).unwrap_err();
                assert_eq!(panic.downcast_ref::<&str>(), Some(&expected), "{waits} {works} on {threads}");
                // No thread is still counted as one that waits.
                assert_eq!(cpu.waiting.load(Relaxed), 0, "{waits} {works} on {threads}");
                assert!(threads == 1 || run_together(&cpu, MINUTE), "{waits} {works} on {threads}");
                let sum = || cpu.collect(3 * BLOCK, |k| k).into_iter().sum::<usize>();
                assert_eq!(cpu.both(|| threads, sum), (threads, 3 * BLOCK * (3 * BLOCK - 1) / 2));
            }
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
