//! Halos of two subdomains on GPUs of their own, for grains and fluids alike. The GPUs exchange them by themselves in batches of steps, and their hosts
//! send each other nothing.
//!
//! Where GPUs reach each other's memory, each writes its halo into an [inbox](super::inboxes) of the other one. A halo without other columns goes from the
//! records straight into the inbox, and from there straight into those of the ghosts.
//!
//! Elsewhere the two exchange one sum. Both GPUs have a memory with room for the halos of both. Each packs its own halo and leaves the other part zero.
//! The sum of the words then has both halos, bit for bit. CubeCL runs a sum on a queue of its own, and lets its caller choose what waits for it. A copy
//! to another GPU is waited for at once, and takes a launch for each direction, of which the second could only begin when all inner grains were launched.

use super::halo_exchange::PackedHalo;
use super::inboxes::{Inboxes, Post};
use super::{Number, words_of};
use seixo_device::gpu::{Buffer, Gpu, GpuError, PART_WORDS};
use seixo_sweeps::layout::RECORD;
use std::sync::Arc;

/// Two neighbor subdomains on GPUs of their own.
#[derive(Clone)]
pub(crate) struct HaloPair {
    /// Their GPUs, in the order of their ranks.
    pub gpus: [Gpu; 2],
    /// Rank of this subdomain, and that of the other one.
    pub ranks: [usize; 2],
    /// The inboxes of all subdomains, if their GPUs write to each other.
    pub inboxes: Option<Arc<Inboxes>>,
}

/// Memory for the data of a pair.
pub(super) struct JointMemory {
    /// The own data, and zeros.
    given: Arc<Buffer<u32>>,
    /// The data of both, after the sum.
    sums: Arc<Buffer<u32>>,
    /// Words of both.
    words: usize,
    /// Words at which the own data begin, and those of the other subdomain.
    starts: [usize; 2],
    /// The own words, and those that arrive.
    own: Buffer<u32>,
    arriving: Buffer<u32>,
    pair: HaloPair,
    post: Post,
}

impl JointMemory {
    /// Room for so many `own` words and so many of the other subdomain: multiples of [`PART_WORDS`]. They are zeros, if both are to be summed. Uses the
    /// memory before, if that is large enough.
    fn new(gpu: &Gpu, before: Option<JointMemory>, pair: HaloPair, post: Post, [own, theirs]: [usize; 2]) -> Result<JointMemory, GpuError> {
        let words = own + theirs;
        let (given, sums) = match before.filter(|before| before.given.len() >= words) {
            Some(before) => (before.given, before.sums),
            None => {
                let room = words + words / 4;
                (Arc::new(gpu.buffer(room, "domains")?), Arc::new(gpu.buffer(room, "domains")?))
            }
        };
        match &pair.inboxes {
            Some(inboxes) => inboxes.prepare(gpu, post, pair.ranks, theirs)?,
            // Of the part of the other one, the sum takes zeros.
            None => gpu.clear(&given),
        }
        let starts = if pair.ranks[0] < pair.ranks[1] { [0, own] } else { [theirs, 0] };
        Ok(JointMemory {
            own: given.part_from(starts[0], own),
            arriving: sums.part_from(starts[1], theirs),
            given,
            sums,
            words,
            starts,
            pair,
            post,
        })
    }

    /// Begins to send, after all launches so far. See [`Gpu::post`] and [`Gpu::start_sum`].
    fn send(&self, gpu: &Gpu) -> Result<(), GpuError> {
        match &self.pair.inboxes {
            Some(inboxes) => inboxes.post(gpu, self.post, self.pair.ranks, &self.own),
            None => gpu.start_sum(&self.given, &self.sums, self.words, &self.pair.gpus),
        }
    }
}

/// Makes later launches wait for what others send: the data of all these pairs.
pub(super) fn await_all<'a>(gpu: &Gpu, pairs: impl IntoIterator<Item = &'a JointMemory>) -> Result<(), GpuError> {
    let mut has_sums = false;
    for memory in pairs {
        match &memory.pair.inboxes {
            Some(inboxes) => inboxes.collect(gpu, memory.post, memory.pair.ranks, &memory.arriving)?,
            None => has_sums = true,
        }
    }
    if has_sums { gpu.await_sums() } else { Ok(()) }
}

/// The halos of a pair in one memory.
pub(super) struct JointHalo<C, R> {
    pub memory: JointMemory,
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
        let words = [shown, followed].map(|particles| PackedHalo::<C, R>::words(particles, widths, numbers));
        let memory = JointMemory::new(gpu, before.map(|before| before.memory), pair, Post::Halo, words)?;
        let [own_at, theirs_at] = memory.starts;
        Ok(JointHalo {
            packed: Arc::new(PackedHalo::from_word(memory.given.clone(), own_at, shown, widths, numbers)),
            arrived: PackedHalo::from_word(memory.sums.clone(), theirs_at, followed, widths, numbers),
            memory,
        })
    }

    /// The inboxes and the ranks of the pair if the halo goes straight from records to records. Nothing is packed then. Both subdomains have the same
    /// columns, so both say the same.
    pub fn straight(&self) -> Option<(&Inboxes, [usize; 2])> {
        let HaloPair { inboxes, ranks, .. } = &self.memory.pair;
        let inboxes = inboxes.as_deref().filter(|_| self.packed.columns.is_empty());
        inboxes.map(|inboxes| (inboxes, *ranks))
    }

    /// Begins to send the packed halo to the other subdomain, after all launches so far. [`await_all`] makes later ones wait for the other halo.
    pub fn send(&self, gpu: &Gpu) -> Result<(), GpuError> {
        self.memory.send(gpu)
    }
}

/// A column of records of a pair in one memory.
pub(super) struct JointColumn<R> {
    pub memory: JointMemory,
    /// Where the own records are packed.
    pub packed: Buffer<R>,
    /// Where the records of the other subdomain arrive.
    pub arrived: Buffer<R>,
}

impl<R: Number> JointColumn<R> {
    /// Room for the records of `shown` own particles and of `followed` ghosts. Uses the memory of the column before, if that is large enough.
    pub fn new(
        gpu: &Gpu,
        before: Option<JointColumn<R>>,
        pair: HaloPair,
        [shown, followed]: [usize; 2],
    ) -> Result<JointColumn<R>, GpuError> {
        let words = [shown, followed].map(|particles| words_of::<R>(RECORD * particles.max(1)).next_multiple_of(PART_WORDS));
        let memory = JointMemory::new(gpu, before.map(|before| before.memory), pair, Post::Column, words)?;
        let [own_at, theirs_at] = memory.starts;
        Ok(JointColumn {
            packed: memory.given.part_from(own_at, RECORD * shown.max(1)),
            arrived: memory.sums.part_from(theirs_at, RECORD * followed.max(1)),
            memory,
        })
    }

    /// As [`JointHalo::send`].
    pub fn send(&self, gpu: &Gpu) -> Result<(), GpuError> {
        self.memory.send(gpu)
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
                ranks: if is_first { [0, 1] } else { [1, 0] },
                inboxes: None,
            };
            JointHalo::<f64, f32>::new(&gpu, before, pair, counts, (&widths, numbers)).unwrap()
        };
        // The second one takes over memory that has other contents.
        let larger = new(false, [200, 100], None);
        gpu.write(&larger.memory.given, &vec![7; larger.memory.given.len()]);
        let halos = [new(true, [shown, followed], None), new(false, [followed, shown], Some(larger))];
        let mut sums = vec![0u32; halos[0].memory.words];
        assert_eq!(halos[0].memory.words, halos[1].memory.words);
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
            for (sum, word) in sums.iter_mut().zip(gpu.download(&halo.memory.given).unwrap()) {
                *sum = sum.wrapping_add(word);
            }
        }
        packed.reverse();
        for (halo, (coordinates, columns, motions)) in halos.iter().zip(packed) {
            gpu.write_part(&halo.memory.sums, 0, &sums);
            assert_eq!(gpu.download(&halo.arrived.coordinates).unwrap(), coordinates);
            assert_eq!(halo.arrived.columns.len(), widths.len());
            for (column, numbers) in halo.arrived.columns.iter().zip(columns) {
                assert_eq!(gpu.download(column).unwrap(), numbers);
            }
            assert_eq!(gpu.download(&halo.arrived.motions).unwrap(), motions);
            assert_eq!(gpu.download(&halo.arrived.halts).unwrap(), [5]);
        }
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn the_sum_of_two_columns_has_the_records_of_both() {
        let gpu = Gpu::open(None).unwrap();
        // The first subdomain has no ghosts of the second.
        for [shown, followed] in [[5, 0], [3, 70]] {
            let new = |is_first: bool, counts: [usize; 2]| {
                let pair = HaloPair {
                    gpus: [gpu.clone(), gpu.clone()],
                    ranks: if is_first { [0, 1] } else { [1, 0] },
                    inboxes: None,
                };
                JointColumn::<f32>::new(&gpu, None, pair, counts).unwrap()
            };
            let columns = [new(true, [shown, followed]), new(false, [followed, shown])];
            let mut sums = vec![0u32; columns[0].memory.words];
            assert_eq!(columns[0].memory.words, columns[1].memory.words);
            let mut packed = Vec::new();
            for (column, sign) in columns.iter().zip([1.0, -1.0]) {
                let records: Vec<f32> = (0..column.packed.len()).map(|k| sign * (0.1 + k as f32)).collect();
                gpu.write(&column.packed, &records);
                for (sum, word) in sums.iter_mut().zip(gpu.download(&column.memory.given).unwrap()) {
                    *sum = sum.wrapping_add(word);
                }
                packed.push(records);
            }
            packed.reverse();
            for (column, records) in columns.iter().zip(packed) {
                gpu.write_part(&column.memory.sums, 0, &sums);
                assert_eq!(gpu.download(&column.arrived).unwrap(), records);
            }
        }
    }
}
