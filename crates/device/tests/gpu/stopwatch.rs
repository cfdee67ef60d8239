use crate::gpu;
use seixo_device::gpu::{Queue, Workspace};
use std::time::Duration;

/// Numbers that are added up: enough that the GPU works longer than the host takes for a launch.
const N: usize = 1 << 22;

/// Time in which the GPU makes this many sums over many numbers: the shortest of some measurements, as other tests may use the GPU meanwhile.
fn shortest(sums: usize) -> Duration {
    Queue::PAIR[0].enter(|| {
        let gpu = gpu();
        let counts = gpu.upload(&vec![1u32; N], "counts").unwrap();
        let to = gpu.buffer(N + 1, "sums").unwrap();
        let mut workspace = Workspace::new(&gpu).unwrap();
        // Compiles the kernels.
        workspace.exclusive_scan(&gpu, &counts, N, &to).unwrap();
        let mut measure = || {
            let stopwatch = gpu.start_stopwatch().unwrap();
            for _ in 0..sums {
                workspace.exclusive_scan(&gpu, &counts, N, &to).unwrap();
            }
            stopwatch.stop(&gpu).unwrap().unwrap()
        };
        (0..3).map(|_| measure()).min().unwrap()
    })
}

#[test]
fn more_work_takes_longer() {
    // Eight times the work, on a machine that may do other things meanwhile.
    let (one, many) = (shortest(1), shortest(8));
    assert!(one > Duration::ZERO && many > 2 * one, "{one:?}, {many:?}");
}
