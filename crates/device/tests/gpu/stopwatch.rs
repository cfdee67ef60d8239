use crate::gpu;
use seixo_device::gpu::Workspace;
use std::time::Duration;

/// Numbers that are added up: enough that the GPU works longer than the host takes for a launch.
const N: usize = 1 << 22;

/// Time in which the GPU makes this many sums over many numbers.
fn time_of(sums: usize) -> Duration {
    let gpu = gpu();
    let counts = gpu.upload(&vec![1u32; N], "counts").unwrap();
    let to = gpu.buffer(N + 1, "sums").unwrap();
    let mut workspace = Workspace::new(&gpu).unwrap();
    // Compiles the kernels.
    workspace.exclusive_scan(&gpu, &counts, N, &to).unwrap();
    let stopwatch = gpu.start_stopwatch().unwrap();
    for _ in 0..sums {
        workspace.exclusive_scan(&gpu, &counts, N, &to).unwrap();
    }
    stopwatch.stop(&gpu).unwrap().unwrap_or_default()
}

#[test]
fn more_work_takes_longer() {
    // Eight times the work of the smaller measurement, on a machine that may do other things meanwhile.
    let (one, many) = (time_of(1), time_of(8));
    assert!(one > Duration::ZERO && many > 2 * one, "{one:?}, {many:?}");
}

#[test]
fn what_was_queued_before_does_not_count() {
    let gpu = gpu();
    let counts = gpu.upload(&vec![1u32; N], "counts").unwrap();
    let to = gpu.buffer(N + 1, "sums").unwrap();
    let mut workspace = Workspace::new(&gpu).unwrap();
    for _ in 0..8 {
        workspace.exclusive_scan(&gpu, &counts, N, &to).unwrap();
    }
    let stopwatch = gpu.start_stopwatch().unwrap();
    let nothing = stopwatch.stop(&gpu).unwrap().unwrap_or_default();
    assert!(nothing < time_of(8) / 4, "{nothing:?}");
}
