//! Uploads of columns in pieces that all threads make. So the host never holds a second copy of a column.

use crate::fields::computed;
use seixo_device::Cpu;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Word};
use std::ops::Range;

/// Items of a piece.
pub(super) const PIECE: usize = 1 << 23;
/// Pieces that are sent before the host waits for the GPU, as each takes memory until it has arrived.
const PIECES_AT_ONCE: usize = 8;

/// A GPU that gets columns, and the threads that make them.
#[derive(Clone, Copy)]
pub(super) struct Upload<'a> {
    pub gpu: &'a Gpu,
    pub device: &'a Cpu,
}

impl Upload<'_> {
    /// A new buffer with room for `room` items, of which the first are the results of `of` for 0 to `given` − 1, and the others are zero. `what` names
    /// it in errors.
    pub fn column<T: Word>(
        self,
        [room, given]: [usize; 2],
        what: &'static str,
        of: impl Fn(usize) -> T + Sync,
    ) -> Result<Buffer<T>, GpuError> {
        let buffer = self.gpu.buffer(room, what)?;
        self.write(&buffer, 0..room, |k| if k < given { of(k) } else { T::default() })?;
        Ok(buffer)
    }

    /// Writes the results of `of` for these items of a buffer.
    pub fn write<T: Word>(self, to: &Buffer<T>, items: Range<usize>, of: impl Fn(usize) -> T + Sync) -> Result<(), GpuError> {
        for (sent, start) in items.clone().step_by(PIECE).enumerate() {
            if sent % PIECES_AT_ONCE == PIECES_AT_ONCE - 1 {
                self.gpu.wait()?;
            }
            let end = (start + PIECE).min(items.end);
            self.gpu
                .write_items(to, start, computed(self.device, end - start, |k| of(start + k)));
        }
        Ok(())
    }
}
