//! Measures the bandwidth of memory copies on this machine.

use std::hint::black_box;
use std::time::Instant;

/// Number of doubles in an array \[-\]: 128 MiB, more than any cache holds.
const LENGTH: usize = 16 << 20;
const REPEATS: usize = 5;

/// Returns the bytes read plus written per second by a copy on this many threads: the best of several.
pub fn of_copying(threads: usize) -> f64 {
    let source = vec![1.0f64; LENGTH];
    let mut target = vec![2.0f64; LENGTH];
    let share = LENGTH.div_ceil(threads.max(1));
    let copy = |target: &mut [f64]| {
        std::thread::scope(|scope| {
            for (to, from) in target.chunks_mut(share).zip(source.chunks(share)) {
                scope.spawn(move || to.copy_from_slice(black_box(from)));
            }
        });
    };
    let seconds = (0..REPEATS).map(|_| {
        let clock = Instant::now();
        copy(&mut target);
        black_box(&mut target);
        clock.elapsed().as_secs_f64()
    });
    2.0 * (LENGTH * size_of::<f64>()) as f64 / seconds.fold(f64::INFINITY, f64::min)
}
