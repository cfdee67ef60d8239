//! Queues: sequences of launches that a GPU may run at the same time.

use cubecl_environment::stream::StreamId;

/// A sequence of launches, transfers and allocations on a GPU, which run in the order in which they were made.
///
/// All threads use one queue, except inside of [`Queue::enter`]. With CUDA, a GPU runs launches of several queues at the same time. With wgpu they take
/// turns. One thread of CubeCL submits the launches of all queues of a GPU.
///
/// Use a buffer only on the queue where it was allocated. Another queue waits for that one only at its first use of memory that was allocated
/// there since its last wait. After that it may read old contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue(StreamId);

impl Queue {
    /// Queue of downloads that overlap with launches.
    pub(super) const ASIDE: Queue = Queue(StreamId { value: 1 });

    /// Two queues for two tasks that share no buffer. All other work is on queue 0.
    pub const PAIR: [Queue; 2] = [Queue(StreamId { value: 2 }), Queue(StreamId { value: 3 })];

    /// Runs `work` on this thread, with all that it asks of GPUs on this queue. Threads that `work` starts do not inherit the queue.
    pub fn enter<T>(self, work: impl FnOnce() -> T) -> T {
        self.0.executes(work)
    }
}
