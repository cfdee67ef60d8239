use crate::gpu;
use cubecl::prelude::*;
use seixo_device::gpu::{Api, Buffer, Gpu, claim_cuda, units};

/// A sum that shows in which order the launches ran, and how often.
#[cube(launch_unchecked)]
fn fold_in(from: &[u32], to: &mut [u32], factor: u32) {
    if ABSOLUTE_POS < to.len() {
        to[ABSOLUTE_POS] = to[ABSOLUTE_POS] * factor + from[ABSOLUTE_POS];
    }
}

fn fold(gpu: &Gpu, from: &Buffer<u32>, to: &Buffer<u32>, factor: u32) {
    let (count, dim) = units(to.len());
    // SAFETY: the kernel compares its index with the number of words, which both buffers have.
    unsafe { fold_in::launch_unchecked(gpu.client(), count, dim, from.argument(), to.argument(), factor) };
}

/// The words of both buffers after this many rounds of the launches of the test.
fn folded(rounds: usize) -> [u32; 2] {
    let [mut a, mut b] = [1u32, 2];
    for _ in 0..rounds {
        a = a.wrapping_mul(3).wrapping_add(b);
        b = b.wrapping_mul(5).wrapping_add(a);
    }
    [a, b]
}

#[test]
fn launches_of_a_recording_run_once_and_again_at_every_replay() {
    claim_cuda();
    let gpu = gpu();
    let (a, b) = (gpu.upload(&[1u32; 1000], "a").unwrap(), gpu.upload(&[2u32; 1000], "b").unwrap());
    let assert_folded = |rounds: usize| {
        let [of_a, of_b] = folded(rounds);
        assert_eq!(gpu.download(&a).unwrap(), [of_a; 1000], "after {rounds} rounds");
        assert_eq!(gpu.download(&b).unwrap(), [of_b; 1000], "after {rounds} rounds");
    };
    let mut rounds = 0;
    // Other tests may use CUDA at this moment.
    for _ in 0..200 {
        let recorded = gpu.record(|| {
            fold(&gpu, &b, &a, 3);
            fold(&gpu, &a, &b, 5);
            Ok(())
        });
        let recorded = recorded.unwrap();
        rounds += 1;
        assert_folded(rounds);
        assert!(recorded.is_none() || gpu.description().api == Api::Cuda);
        if let Some(recording) = recorded {
            for _ in 0..5 {
                gpu.replay(&recording).unwrap();
                rounds += 1;
            }
            // Launches and replays take turns in the order in which they were made.
            fold(&gpu, &b, &a, 3);
            fold(&gpu, &a, &b, 5);
            gpu.replay(&recording).unwrap();
            rounds += 2;
            assert_folded(rounds);
            drop(recording);
            assert_folded(rounds);
            return;
        }
        if !gpu.can_record() {
            return;
        }
    }
    println!("nothing was recorded: other tests use CUDA all the time, or share its memory; run this one alone");
}
