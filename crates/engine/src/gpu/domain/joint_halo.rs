//! Halos of two subdomains on GPUs of their own, which the two exchange as one sum.
//!
//! Both GPUs have a memory with room for the halos of both. Each packs its own halo and leaves the other part zero. The sum of the words then has both
//! halos, bit for bit. CubeCL runs a sum on a queue of its own, and lets its caller choose what waits for it. A copy to another GPU is waited for at
//! once, and takes a launch for each direction, of which the second could only begin when all inner grains were launched.

use crate::gpu::Number;
use crate::gpu::halo_exchange::PackedHalo;
use seixo_device::gpu::{Buffer, Gpu, GpuError};
use std::sync::Arc;

/// Two neighbor subdomains on GPUs of their own.
pub(crate) struct HaloPair {
    /// Their GPUs, in the order of their ranks.
    pub gpus: [Gpu; 2],
    /// Whether this subdomain is the first of them.
    pub is_first: bool,
}

/// The halos of a pair in one memory.
pub(super) struct JointHalo<C, R> {
    /// The own halo, and zeros.
    given: Arc<Buffer<u32>>,
    /// Both halos, after the sum.
    sums: Arc<Buffer<u32>>,
    /// Words of both halos.
    words: usize,
    gpus: [Gpu; 2],
    /// Where the own halo is packed.
    pub packed: Arc<PackedHalo<C, R>>,
    /// Where the halo of the other subdomain arrives.
    pub arrived: PackedHalo<C, R>,
}

impl<C: Number, R: Number> JointHalo<C, R> {
    /// Room for the halo of `shown` own particles and for that of `followed` ghosts, with columns of these `widths` and this many `numbers` of motion
    /// each. Uses the memory of the halo before, if that is large enough.
    pub fn new(
        gpu: &Gpu,
        before: Option<JointHalo<C, R>>,
        pair: HaloPair,
        [shown, followed]: [usize; 2],
        (widths, numbers): (&[usize], usize),
    ) -> Result<JointHalo<C, R>, GpuError> {
        let [own, theirs] = [shown, followed].map(|particles| PackedHalo::<C, R>::words(particles, widths, numbers));
        let (own_at, theirs_at) = if pair.is_first { (0, own) } else { (theirs, 0) };
        let words = own + theirs;
        let (given, sums) = match before.filter(|before| before.given.len() >= words) {
            Some(before) => (before.given, before.sums),
            None => {
                let room = words + words / 4;
                (Arc::new(gpu.buffer(room, "domains")?), Arc::new(gpu.buffer(room, "domains")?))
            }
        };
        gpu.clear(&given);
        Ok(JointHalo {
            packed: Arc::new(PackedHalo::from_word(given.clone(), own_at, shown, widths, numbers)),
            arrived: PackedHalo::from_word(sums.clone(), theirs_at, followed, widths, numbers),
            given,
            sums,
            words,
            gpus: pair.gpus,
        })
    }

    /// Begins the sum, after all launches so far, see [`Gpu::start_sum`].
    pub fn send(&self, gpu: &Gpu) -> Result<(), GpuError> {
        gpu.start_sum(&self.given, &self.sums, self.words, &self.gpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn the_sum_of_two_memories_has_both_halos() {
        let gpu = Gpu::open(None).unwrap();
        let (shown, followed, widths, numbers) = (3, 70, [1, 4], 8);
        let new = |is_first: bool, counts: [usize; 2], before: Option<JointHalo<f64, f32>>| {
            let pair = HaloPair {
                gpus: [gpu.clone(), gpu.clone()],
                is_first,
            };
            JointHalo::<f64, f32>::new(&gpu, before, pair, counts, (&widths, numbers)).unwrap()
        };
        // The second one takes over memory that has other contents.
        let larger = new(false, [200, 100], None);
        gpu.write(&larger.given, &vec![7; larger.given.len()]);
        let halos = [new(true, [shown, followed], None), new(false, [followed, shown], Some(larger))];
        let mut sums = vec![0u32; halos[0].words];
        assert_eq!(halos[0].words, halos[1].words);
        let mut packed = Vec::new();
        for (halo, sign) in halos.iter().zip([1.0, -1.0]) {
            let coordinates: Vec<f64> = (0..halo.packed.coordinates.len()).map(|k| sign * (0.1 + k as f64)).collect();
            let motions: Vec<f32> = (0..halo.packed.motions.len()).map(|k| sign as f32 * (0.3 + k as f32)).collect();
            gpu.write(&halo.packed.coordinates, &coordinates);
            let of_column = |column: &Buffer<f64>| -> Vec<f64> { (0..column.len()).map(|k| sign * (0.2 + k as f64)).collect() };
            let columns: Vec<Vec<f64>> = halo.packed.columns.iter().map(of_column).collect();
            gpu.write(&halo.packed.motions, &motions);
            for (column, numbers) in halo.packed.columns.iter().zip(&columns) {
                gpu.write(column, numbers);
            }
            gpu.write(&halo.packed.halts, &[5]);
            packed.push((coordinates, columns, motions));
            for (sum, word) in sums.iter_mut().zip(gpu.download(&halo.given).unwrap()) {
                *sum = sum.wrapping_add(word);
            }
        }
        packed.reverse();
        for (halo, (coordinates, columns, motions)) in halos.iter().zip(packed) {
            gpu.write_part(&halo.sums, 0, &sums);
            assert_eq!(gpu.download(&halo.arrived.coordinates).unwrap(), coordinates);
            assert_eq!(halo.arrived.columns.len(), widths.len());
            for (column, numbers) in halo.arrived.columns.iter().zip(columns) {
                assert_eq!(gpu.download(column).unwrap(), numbers);
            }
            assert_eq!(gpu.download(&halo.arrived.motions).unwrap(), motions);
            assert_eq!(gpu.download(&halo.arrived.halts).unwrap(), [5]);
        }
    }
}
