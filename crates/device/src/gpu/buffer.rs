//! GPU memory.

#![allow(unsafe_code, reason = "launches take raw buffers")]

use super::fetch::Fetch;
use super::patience::Patience;
use super::queue::Queue;
use super::recording::outside_recordings;
use super::runtime::{Coming, Runtime};
use super::{Api, Gpu, GpuError, Room, cuda, units};
use bytemuck::Pod;
use cubecl::bytes::Bytes;
use cubecl::prelude::*;
use cubecl::server::Handle;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

/// Most bytes of a buffer: kernels number its words with 32 bits.
const MOST_BYTES: u64 = size_of::<u32>() as u64 * u32::MAX as u64;

/// Words of which the start of a [part of a buffer](Buffer::part_from) is a multiple, as some GPUs require.
pub const PART_WORDS: usize = 64;

/// Memory accounting and the limit of waits, shared by all clones of a [`Gpu`].
#[derive(Default)]
pub struct Account {
    held: AtomicU64,
    peak: AtomicU64,
    /// Allocations until one fails on purpose; 0 = none fails.
    until_failure: AtomicU64,
    /// How long waits for the GPU may take.
    pub patience: Patience,
}

/// Items in GPU memory. After a drop, the memory is free once no launch needs it.
pub struct Buffer<T> {
    handle: Handle,
    len: usize,
    account: Arc<Account>,
    items: PhantomData<T>,
}

impl<T> Buffer<T> {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Argument for kernels that take `&[T]`, `&mut [T]` or, for `u32`, `&[Atomic<u32>]`. Pass a buffer once per launch: arguments must not overlap.
    pub fn argument(&self) -> BufferArg {
        // SAFETY: the memory has room for this many items.
        unsafe { BufferArg::from_raw_parts(self.handle.clone(), self.len) }
    }

    /// Argument for kernels that take `&[Vector<T, Const<4>>]` or similar: four items are one record.
    ///
    /// # Panics
    /// If the number of items is not a multiple of four.
    pub fn records(&self) -> BufferArg {
        assert!(self.len.is_multiple_of(4), "{} items are no records of four", self.len);
        // SAFETY: the memory holds four times this many items.
        unsafe { BufferArg::from_raw_parts(self.handle.clone(), self.len / 4) }
    }

    /// Number of words of 32 bits.
    pub fn words(&self) -> usize {
        self.len * size_of::<T>() / size_of::<u32>()
    }

    /// Argument for kernels that take `&[u32]` or `&mut [u32]` and use the memory as words, while no other kernel needs the items.
    pub fn as_words(&self) -> BufferArg {
        // SAFETY: the memory has room for this many words.
        unsafe { BufferArg::from_raw_parts(self.handle.clone(), self.words()) }
    }

    /// The memory of all items.
    pub(super) fn whole(&self) -> Handle {
        self.handle.clone()
    }

    /// The memory of the first `len` items.
    ///
    /// # Panics
    /// If `len` is zero or exceeds the number of items.
    pub(super) fn part(&self, len: usize) -> Handle {
        assert!((1..=self.len).contains(&len), "{len} of {} items", self.len);
        part_of(self, &(0..len))
    }

    fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.account.held.fetch_sub(self.bytes(), Relaxed);
    }
}

#[cube(launch_unchecked)]
fn clear(words: &mut [u32]) {
    if ABSOLUTE_POS < words.len() {
        words[ABSOLUTE_POS] = 0;
    }
}

#[cube(launch_unchecked)]
fn copy_words(from: &[u32], to: &mut [u32], n: u32) {
    if ABSOLUTE_POS < n as usize {
        to[ABSOLUTE_POS] = from[ABSOLUTE_POS];
    }
}

impl Gpu {
    /// Allocates memory for `len` items with undefined contents. `what` names it in errors.
    ///
    /// # Errors
    /// If there is not enough memory, if indices of 32 bits cannot number the words, or if the device is lost.
    pub fn buffer<T: Pod>(&self, len: usize, what: &'static str) -> Result<Buffer<T>, GpuError> {
        // A dedicated allocation, released when freed: CubeCL's pools round sizes up and keep memory.
        self.allocate(len, what, |bytes| {
            let client = self.client();
            client.memory_dedicated_allocation((), |()| client.empty(bytes))
        })
    }

    /// Allocates temporary memory from CubeCL's pools, which are faster.
    pub(super) fn scratch<T: Pod>(&self, len: usize) -> Result<Buffer<T>, GpuError> {
        self.allocate(len, "intermediate results", |bytes| self.client().empty(bytes))
    }

    fn allocate<T: Pod>(&self, len: usize, what: &'static str, request: impl Fn(usize) -> Handle) -> Result<Buffer<T>, GpuError> {
        let (runtime, account) = (&self.runtime, &self.account);
        const {
            assert!(
                size_of::<T>() > 0 && size_of::<T>().is_multiple_of(4),
                "GPUs copy words of four bytes"
            )
        };
        let bytes = len.saturating_mul(size_of::<T>());
        let refusal = |room| self.out_of_memory(what, bytes as u64, room);
        let countdown = |until: u64| until.checked_sub(1);
        if account.until_failure.fetch_update(Relaxed, Relaxed, countdown) == Ok(1) || runtime.is_full.load(Relaxed) {
            return Err(refusal(Room::Unknown));
        }
        let largest = self.largest();
        if bytes as u64 > largest {
            return Err(refusal(Room::Block(largest)));
        }
        let attempt = || {
            runtime.guard(|| {
                let handle = request(bytes);
                // CubeCL allocates later on its own thread and silently skips a launch whose memory could not be allocated. So check now.
                runtime.client.check([&handle]).map(|()| handle)
            })
        };
        let retry = |_| {
            // A lost device also fails to allocate, but then lack of memory is not the cause.
            runtime.wait(&account.patience)?;
            // Pools keep unused memory.
            runtime.guard(|| runtime.client.memory_cleanup())?;
            attempt().map_err(|_| match runtime.description.api {
                Api::Cuda => refusal(cuda::room(&runtime.description)),
                Api::Wgpu => refusal(Room::Unknown),
            })
        };
        Ok(self.adopt(attempt().or_else(retry)?, len))
    }

    /// The error of this GPU if it has no memory for this purpose, for which so many bytes are needed.
    pub fn out_of_memory(&self, what: &'static str, needed: u64, room: Room) -> GpuError {
        GpuError::OutOfMemory {
            gpu: self.description().to_string(),
            what,
            needed,
            held: self.bytes_in_use(),
            room,
        }
    }

    /// Wraps memory of this GPU for `len` items.
    pub(super) fn adopt<T>(&self, handle: Handle, len: usize) -> Buffer<T> {
        counted(handle, len, self.account.clone())
    }

    /// Allocates memory for `len` items with all bits zero.
    ///
    /// # Errors
    /// As [`Gpu::buffer`].
    pub fn zeros<T: Pod>(&self, len: usize, what: &'static str) -> Result<Buffer<T>, GpuError> {
        let buffer = self.buffer(len, what)?;
        self.clear(&buffer);
        Ok(buffer)
    }

    /// Sets all bits to zero.
    pub fn clear<T: Pod>(&self, buffer: &Buffer<T>) {
        if buffer.is_empty() {
            return;
        }
        let (count, dim) = units(buffer.len * size_of::<T>() / 4);
        // SAFETY: the kernel compares its index with the number of words.
        unsafe { clear::launch_unchecked(self.client(), count, dim, buffer.argument()) };
    }

    /// Allocates memory and copies these items into it.
    ///
    /// # Errors
    /// As [`Gpu::buffer`].
    pub fn upload<T: Pod>(&self, items: &[T], what: &'static str) -> Result<Buffer<T>, GpuError> {
        let buffer = self.buffer(items.len(), what)?;
        self.write(&buffer, items);
        Ok(buffer)
    }

    /// Replaces all items, after all launches so far and before later ones.
    ///
    /// # Panics
    /// If the number of items differs from that of the buffer.
    pub fn write<T: Pod>(&self, to: &Buffer<T>, items: &[T]) {
        assert_eq!(items.len(), to.len, "a buffer is written as a whole");
        self.write_part(to, 0, items);
    }

    /// Replaces the items from index `start` on, as [`Gpu::write`].
    ///
    /// # Panics
    /// If the items do not fit into the buffer from there.
    pub fn write_part<T: Pod>(&self, to: &Buffer<T>, start: usize, items: &[T]) {
        let part = start..start + items.len();
        assert!(part.end <= to.len, "{part:?} of {} items", to.len);
        if !items.is_empty() {
            let bytes = bytemuck::cast_slice(items).to_vec();
            self.client().write(&part_of(to, &part), Bytes::from_bytes_vec(bytes));
        }
    }

    /// As [`Gpu::write_part`], without a copy of the items.
    ///
    /// # Panics
    /// As [`Gpu::write_part`].
    pub fn write_items<T: Pod + Send + Sync>(&self, to: &Buffer<T>, start: usize, items: Vec<T>) {
        let part = start..start + items.len();
        assert!(part.end <= to.len, "{part:?} of {} items", to.len);
        if !items.is_empty() {
            self.client().write(&part_of(to, &part), Bytes::from_elems(items));
        }
    }

    /// Most items of a buffer.
    pub fn most_items<T>(&self) -> usize {
        (self.largest() / size_of::<T>() as u64) as usize
    }

    /// Most bytes of a buffer.
    fn largest(&self) -> u64 {
        self.runtime.largest.map_or(MOST_BYTES, |largest| largest.min(MOST_BYTES))
    }

    /// Enlarges a buffer to `len` items if it is shorter; keeps its contents.
    ///
    /// # Errors
    /// As [`Gpu::buffer`].
    pub fn lengthen<T: Pod>(&self, buffer: &mut Buffer<T>, len: usize, what: &'static str) -> Result<(), GpuError> {
        if buffer.len < len {
            let longer = self.zeros(len, what)?;
            self.copy(buffer, buffer.len, &longer);
            *buffer = longer;
        }
        Ok(())
    }

    /// Copies the first `len` items of a buffer to the beginning of another.
    ///
    /// # Panics
    /// If either buffer is shorter.
    pub fn copy<T: Pod>(&self, from: &Buffer<T>, len: usize, to: &Buffer<T>) {
        assert!(from.len >= len && to.len >= len, "{len} items");
        if len > 0 {
            let words = len * size_of::<T>() / 4;
            let (count, dim) = units(words);
            // SAFETY: the kernel compares its index with this number of words, which both buffers have.
            unsafe { copy_words::launch_unchecked(self.client(), count, dim, from.argument(), to.argument(), words as u32) };
        }
    }

    /// Downloads all items, after the launches so far.
    ///
    /// # Errors
    /// If a kernel that computes them failed, or the device is lost.
    pub fn download<T: Pod>(&self, from: &Buffer<T>) -> Result<Vec<T>, GpuError> {
        self.download_later(from).wait()
    }

    /// Queues a download of all items, as the launches so far leave them. Later launches do not change the result.
    pub fn download_later<T: Pod>(&self, from: &Buffer<T>) -> Download<T> {
        self.download_part(from, 0..from.len)
    }

    /// Queues a download of some items, as [`Gpu::download_later`].
    ///
    /// # Panics
    /// If the range exceeds the buffer.
    pub fn download_part<T: Pod>(&self, from: &Buffer<T>, part: Range<usize>) -> Download<T> {
        assert!(part.start <= part.end && part.end <= from.len, "{part:?} of {} items", from.len);
        let handles = if part.is_empty() { Vec::new() } else { vec![part_of(from, &part)] };
        Download {
            coming: self.queue_copies(handles),
            items: PhantomData,
        }
    }

    fn queue_copies(&self, handles: Vec<Handle>) -> PendingCopies {
        let client = self.client().clone();
        let state = if handles.is_empty() {
            State::Here(Ok(Vec::new()))
        } else {
            let mut arrival: Arrival = Box::pin(async move {
                let coming = client.read_async(handles);
                pause().await;
                coming.await
            });
            // The first poll queues the copy; a test launches after it and checks that. CubeCL's own future would wait for CUDA in its first poll.
            let first = {
                let _calls = outside_recordings();
                catch_unwind(AssertUnwindSafe(|| arrival.as_mut().poll(&mut Context::from_waker(Waker::noop()))))
            };
            match first {
                Ok(Poll::Pending) => State::PendingCopies(arrival),
                Ok(Poll::Ready(bytes)) => State::Here(self.runtime.guard(|| bytes)),
                Err(panic) => State::Here(self.runtime.guard(|| resume_unwind(panic))),
            }
        };
        PendingCopies {
            state,
            runtime: self.runtime.clone(),
            account: self.account.clone(),
        }
    }

    /// Allocates a buffer for copies that [`Copies::carry_off`] downloads, without waiting for the allocation. If it fails, the download returns the
    /// error.
    ///
    /// # Panics
    /// If `len` is zero.
    pub fn parcel<T: Pod>(&self, len: usize) -> Buffer<T> {
        assert!(len > 0, "an empty parcel");
        self.adopt(self.client().empty(len.saturating_mul(size_of::<T>())), len)
    }

    /// An empty list of copies; see [`Copies`].
    pub fn copies(&self) -> Copies {
        Copies {
            handles: Vec::new(),
            gpu: self.clone(),
        }
    }

    /// Bytes in live buffers.
    pub fn bytes_in_use(&self) -> u64 {
        self.account.held.load(Relaxed)
    }

    /// Largest number of bytes held so far.
    pub fn peak(&self) -> u64 {
        self.account.peak.load(Relaxed)
    }

    /// For tests: the k-th allocation from now fails as if memory were exhausted; 1 is the next one, 0 none.
    pub fn fail_allocation(&self, k: u64) {
        self.account.until_failure.store(k, Relaxed);
    }

    /// For tests: whether all allocations fail from now on, as if other programs had all of the memory, for all that opened this GPU in this process.
    pub fn exhaust(&self, is_full: bool) {
        self.runtime.is_full.store(is_full, Relaxed);
    }
}

impl Buffer<u32> {
    /// `len` items in the memory of these words, from word `start` on, as a buffer of their own. One copy of all words takes several such parts along.
    /// A part starts at a multiple of [`PART_WORDS`].
    ///
    /// # Panics
    /// If the part exceeds the words.
    pub fn part_from<T: Pod>(&self, start: usize, len: usize) -> Buffer<T> {
        let words = start..start + len * size_of::<T>() / size_of::<u32>();
        assert!(words.end <= self.len, "{words:?} of {} words", self.len);
        // The memory counts once, in the account of the words.
        counted(part_of(self, &words), len, Arc::default())
    }
}

/// A buffer whose memory counts in this account.
fn counted<T>(handle: Handle, len: usize, account: Arc<Account>) -> Buffer<T> {
    let buffer = Buffer {
        handle,
        len,
        account,
        items: PhantomData,
    };
    let held = buffer.account.held.fetch_add(buffer.bytes(), Relaxed) + buffer.bytes();
    buffer.account.peak.fetch_max(held, Relaxed);
    buffer
}

/// The memory of some items.
fn part_of<T>(from: &Buffer<T>, part: &Range<usize>) -> Handle {
    let (before, behind) = (part.start * size_of::<T>(), (from.len - part.end) * size_of::<T>());
    from.handle.clone().offset_start(before as u64).offset_end(behind as u64)
}

/// Downloads that share one wait: reading many buffers costs one wait.
pub struct Copies {
    pub(super) handles: Vec<Handle>,
    pub(super) gpu: Gpu,
}

/// Access to items of [`Copies`] once they have arrived.
pub struct Ticket<T> {
    pub(super) index: Option<usize>,
    items: PhantomData<T>,
}

/// Downloaded items.
pub struct Arrived(Vec<Bytes>);

impl Copies {
    /// Adds some items of a buffer.
    ///
    /// # Panics
    /// If the range exceeds the buffer.
    pub fn add<T: Pod>(&mut self, from: &Buffer<T>, part: Range<usize>) -> Ticket<T> {
        assert!(part.start <= part.end && part.end <= from.len, "{part:?} of {} items", from.len);
        let index = (!part.is_empty()).then_some(self.handles.len());
        if index.is_some() {
            self.handles.push(part_of(from, &part));
        }
        Ticket { index, items: PhantomData }
    }

    /// Queues all copies, of what the launches so far leave there. Later launches do not change the result, and the GPU goes on with them while the host
    /// waits for the copies.
    pub fn queue(self) -> PendingCopies {
        self.gpu.queue_copies(self.handles)
    }

    /// As [`Copies::queue`], for a thread that may begin to wait much later.
    pub fn queue_for_later(self) -> PendingCopies {
        // CubeCL's thread would keep a core busy until a thread waits for a copy from wgpu. This one is on its way once it is submitted.
        let bytes: u64 = self.handles.iter().map(|handle| handle.size_in_used()).sum();
        let is_small = self.gpu.runtime.largest.is_none_or(|largest| bytes <= largest);
        match self.gpu.runtime.setup.as_ref().filter(|_| bytes > 0 && is_small) {
            Some(setup) => PendingCopies {
                state: self.fetch(setup).map_or_else(|error| State::Here(Err(error)), State::Fetched),
                runtime: self.gpu.runtime.clone(),
                account: self.gpu.account.clone(),
            },
            None => self.queue(),
        }
    }

    /// Copies everything, as the launches so far leave it, and waits.
    ///
    /// # Errors
    /// If a kernel that computes it failed, or the device is lost.
    pub fn wait(self) -> Result<Arrived, GpuError> {
        self.queue().wait()
    }

    /// Queues all copies from any thread. No launch may write their memory any more. With CUDA, the copies overlap with later launches.
    pub fn carry_off(mut self) -> PendingCopies {
        match self.gpu.runtime.description.api {
            Api::Cuda => {
                // A stream waits for another only if it reads memory allocated there since the last wait. This new buffer causes that wait.
                self.add(&self.gpu.parcel::<u32>(1), 0..1);
                Queue::ASIDE.enter(|| self.gpu.queue_copies(self.handles))
            }
            // wgpu has one queue.
            Api::Wgpu => self.queue_for_later(),
        }
    }
}

impl Arrived {
    /// The items of a ticket.
    pub fn take<T: Pod>(&self, ticket: Ticket<T>) -> Vec<T> {
        self.make(ticket, <[T]>::to_vec)
    }

    /// Applies `make` to the items of a ticket without copying them.
    pub fn make<T: Pod, U>(&self, ticket: Ticket<T>, make: impl FnOnce(&[T]) -> U) -> U {
        let bytes: &[u8] = ticket.index.map_or(&[], |index| &self.0[index]);
        match bytemuck::try_cast_slice(bytes) {
            Ok(items) => make(items),
            // The bytes are not aligned for this type.
            Err(_) => make(&bytemuck::pod_collect_to_vec::<u8, T>(bytes)),
        }
    }
}

/// Is ready at its second poll.
async fn pause() {
    let mut is_first = true;
    poll_fn(|_| {
        if std::mem::take(&mut is_first) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

type Arrival = Coming<Vec<Bytes>>;

enum State {
    PendingCopies(Arrival),
    Fetched(Fetch),
    Here(Result<Vec<Bytes>, GpuError>),
}

/// Pending downloads from a GPU.
pub struct PendingCopies {
    state: State,
    runtime: Arc<Runtime>,
    account: Arc<Account>,
}

impl PendingCopies {
    /// Waits for the downloads.
    ///
    /// # Errors
    /// If a kernel that computes them failed, memory could not be allocated, or the device is lost.
    pub fn wait(mut self) -> Result<Arrived, GpuError> {
        self.arrive().map(Arrived)
    }

    fn arrive(&mut self) -> Result<Vec<Bytes>, GpuError> {
        match std::mem::replace(&mut self.state, State::Here(Ok(Vec::new()))) {
            State::Here(parts) => parts,
            State::PendingCopies(arrival) => self.runtime.wait_for(arrival, &self.account.patience),
            State::Fetched(fetch) => fetch.wait(&self.runtime, &self.account.patience),
        }
    }
}

impl Drop for PendingCopies {
    /// Waits for the copies: otherwise CubeCL would reuse their host memory while the API still writes to it.
    fn drop(&mut self) {
        let _ = self.arrive();
    }
}

/// Pending download of items from a GPU.
pub struct Download<T> {
    coming: PendingCopies,
    items: PhantomData<T>,
}

impl<T: Pod> Download<T> {
    /// Waits for the items.
    ///
    /// # Errors
    /// If a kernel that computes them failed, or the device is lost.
    pub fn wait(self) -> Result<Vec<T>, GpuError> {
        let arrived = self.coming.wait()?;
        let index = (!arrived.0.is_empty()).then_some(0);
        Ok(arrived.take(Ticket { index, items: PhantomData }))
    }
}
