//! Working memory of scans, sorts and compactions that is kept between calls.

use super::compact::totals_of;
use super::scan::ScanRoom;
use super::{Buffer, Gpu, GpuError, Order};

/// Working memory of scans, sorts and compactions, which it keeps from call to call. A call allocates only if it has more items than all before it.
///
/// An allocation waits until all earlier launches have been submitted. So many small tasks in a row are faster with a workspace than with the
/// functions of the same names of [`Gpu`], which allocate at every call.
pub struct Workspace {
    /// Totals of blocks of compactions.
    totals: Buffer<u32>,
    /// Counts of keys; zeros between calls.
    counts: Buffer<u32>,
    scan: ScanRoom,
    /// Counts that can be scanned.
    scanned: usize,
}

impl Workspace {
    /// A workspace without memory yet.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn new(gpu: &Gpu) -> Result<Workspace, GpuError> {
        Ok(Workspace {
            totals: gpu.buffer(0, "intermediate results")?,
            counts: gpu.buffer(0, "intermediate results")?,
            scan: ScanRoom::default(),
            scanned: 0,
        })
    }

    /// As [`Gpu::exclusive_scan`].
    ///
    /// # Errors
    /// If there is no memory for more items than before.
    ///
    /// # Panics
    /// As [`Gpu::exclusive_scan`].
    pub fn exclusive_scan(&mut self, gpu: &Gpu, counts: &Buffer<u32>, n: usize, sums: &Buffer<u32>) -> Result<(), GpuError> {
        self.make_room_to_scan(gpu, n)?;
        gpu.scan_in(&self.scan, counts, n, sums);
        Ok(())
    }

    /// As [`Gpu::compact`].
    ///
    /// # Errors
    /// If there is no memory for more items than before.
    ///
    /// # Panics
    /// As [`Gpu::compact`].
    pub fn compact(&mut self, gpu: &Gpu, keep: &Buffer<u32>, n: usize, places: &Buffer<u32>, kept: &Buffer<u32>) -> Result<(), GpuError> {
        self.make_room_for_totals(gpu, totals_of(n, 1))?;
        gpu.compact_in(&self.totals, (keep, u32::MAX, 1), n, (places, n), kept);
        Ok(())
    }

    /// As [`Gpu::compact`], into so many lists at once, of which list k keeps the items whose marks have bit k. The indices of those, at most `room`, begin at
    /// `places[k × room]`, and their number is `kept[k]`. There may be more than `room`.
    ///
    /// # Errors
    /// If there is no memory for more items than before.
    ///
    /// # Panics
    /// As [`Gpu::compact`], or without a list or with more than 32.
    pub fn compact_by_bits(
        &mut self,
        gpu: &Gpu,
        (marks, lists): (&Buffer<u32>, usize),
        n: usize,
        (places, room): (&Buffer<u32>, usize),
        kept: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        self.make_room_for_totals(gpu, totals_of(n, lists))?;
        gpu.compact_in(&self.totals, (marks, 1, lists), n, (places, room), kept);
        Ok(())
    }

    /// As [`Workspace::exclusive_scan`] and [`Workspace::compact`] of the same counts, with as many launches as one of them. `kept[1]` becomes the sum of all.
    ///
    /// # Errors
    /// If there is no memory for more items than before.
    ///
    /// # Panics
    /// As these.
    pub fn scan_and_compact(
        &mut self,
        gpu: &Gpu,
        counts: &Buffer<u32>,
        n: usize,
        sums: &Buffer<u32>,
        (places, kept): (&Buffer<u32>, &Buffer<u32>),
    ) -> Result<(), GpuError> {
        self.make_room_for_totals(gpu, totals_of(n, 2))?;
        gpu.scan_and_compact_in(&self.totals, counts, n, sums, (places, kept));
        Ok(())
    }

    /// As [`Gpu::order_by_key`].
    ///
    /// # Errors
    /// If there is no memory for more keys than before.
    ///
    /// # Panics
    /// As [`Gpu::order_by_key`].
    pub fn order_by_key(
        &mut self,
        gpu: &Gpu,
        key: &Buffer<u32>,
        id: &Buffer<u32>,
        n: usize,
        keys: usize,
        into: Order,
    ) -> Result<(), GpuError> {
        self.make_room_to_scan(gpu, keys)?;
        if self.counts.len() < keys {
            // The old memory is free before the new is allocated.
            self.counts = gpu.buffer(0, "intermediate results")?;
            self.counts = gpu.zeros(with_reserve(keys), "intermediate results")?;
        }
        gpu.order_in((&self.counts, &self.scan), key, id, n, keys, into);
        Ok(())
    }

    fn make_room_to_scan(&mut self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        if self.scan.is_empty() || self.scanned < n {
            let room = with_reserve(n);
            self.scan = ScanRoom::new(room, |blocks| gpu.buffer(blocks, "intermediate results"))?;
            self.scanned = room;
        }
        Ok(())
    }

    fn make_room_for_totals(&mut self, gpu: &Gpu, len: usize) -> Result<(), GpuError> {
        if self.totals.len() < len {
            self.totals = gpu.buffer(with_reserve(len), "intermediate results")?;
        }
        Ok(())
    }
}

/// Room for this many items and an eighth more, as they become a few more from call to call.
fn with_reserve(len: usize) -> usize {
    len + len / 8
}
