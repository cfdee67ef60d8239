//! Tests of the GPU part on any adapter, such as Mesa's software Vulkan. Without an adapter these tests fail.

#![allow(unsafe_code, reason = "kernels of the tests are launched with buffers of their sizes")]

mod compact;
mod memory;
mod peers;
mod recording;
mod reduce;
mod scan;
mod sort;
mod stopwatch;

use seixo_device::gpu::Gpu;

/// The first GPU, with its own memory accounting.
fn gpu() -> Gpu {
    Gpu::open(None).expect("a GPU; on a machine without one install mesa-vulkan-drivers")
}

/// Sizes just below, at and above the size of a thread block or scan block.
const SIZES: [usize; 10] = [0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 100_003];

/// More than 65,535 thread blocks of 256 threads, and more than 2048 scan blocks of 2048 items.
const MANY: usize = (1 << 24) + 1;

/// Pseudo-random numbers with a fixed sequence per seed.
fn random(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}

/// Numbers from 0 to n - 1 in a random order.
fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut random = random(seed);
    let mut numbers: Vec<u32> = (0..n as u32).collect();
    for k in (1..n).rev() {
        numbers.swap(k, random() as usize % (k + 1));
    }
    numbers
}
