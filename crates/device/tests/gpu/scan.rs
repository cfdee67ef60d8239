use crate::{MANY, SIZES, gpu, random};
use seixo_device::gpu::Workspace;

fn sums_of(counts: &[u32]) -> Vec<u32> {
    let gpu = gpu();
    let given = gpu.upload(counts, "counts").unwrap();
    let run = || {
        let sums = gpu.buffer(counts.len() + 1, "sums").unwrap();
        gpu.exclusive_scan(&given, counts.len(), &sums).unwrap();
        gpu.download(&sums).unwrap()
    };
    let sums = run();
    assert_eq!(sums, run(), "another run gives the same");
    sums
}

fn expected(counts: &[u32]) -> Vec<u32> {
    let mut sums = counts.to_vec();
    sums.push(0);
    seixo_device::exclusive_scan(&mut sums);
    sums
}

#[test]
fn sums_are_those_of_the_cpu() {
    for n in SIZES {
        let mut random = random(n as u64);
        let counts: Vec<u32> = (0..n).map(|_| random() % 1000).collect();
        assert_eq!(sums_of(&counts), expected(&counts), "{n} counts");
    }
}

#[test]
fn sums_of_many_are_those_of_the_cpu() {
    let mut random = random(3);
    let counts: Vec<u32> = (0..MANY).map(|_| random() % 200).collect();
    assert!(sums_of(&counts) == expected(&counts));
}

#[test]
fn sums_of_more_blocks_than_a_block_has_threads_are_those_of_the_cpu() {
    let mut random = random(4);
    let counts: Vec<u32> = (0..700_001).map(|_| random() % 200).collect();
    assert!(sums_of(&counts) == expected(&counts));
}

#[test]
fn a_workspace_serves_more_and_fewer_counts_without_another_allocation() {
    let gpu = gpu();
    let mut workspace = Workspace::new(&gpu).unwrap();
    let mut held = Vec::new();
    for n in [5_000, 70_000, 0, 300, 70_000] {
        let mut random = random(n as u64);
        let counts: Vec<u32> = (0..n).map(|_| random() % 1000).collect();
        let given = gpu.upload(&counts, "counts").unwrap();
        let sums = gpu.buffer(n + 1, "sums").unwrap();
        let own = gpu.bytes_in_use();
        workspace.exclusive_scan(&gpu, &given, n, &sums).unwrap();
        held.push(gpu.bytes_in_use() - own);
        assert_eq!(gpu.download(&sums).unwrap(), expected(&counts), "{n} counts");
    }
    assert!(held[0] > 0 && held[1] > 0, "{held:?}");
    assert_eq!(held[2..], [0; 3], "bytes that a call allocates");
}

#[test]
fn what_lies_behind_the_counts_is_not_summed() {
    let gpu = gpu();
    let counts = gpu.upload(&[1, 2, 4, 8, 1000], "counts").unwrap();
    let sums = gpu.upload(&[77; 7], "sums").unwrap();
    gpu.exclusive_scan(&counts, 4, &sums).unwrap();
    assert_eq!(gpu.download(&sums).unwrap(), [0, 1, 3, 7, 15, 77, 77]);
}
