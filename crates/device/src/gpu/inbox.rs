//! Memory of a GPU into which other GPUs of the process write by themselves, and memory that they read, through CUDA.
//!
//! Each word travels with the number of its turn, in one store of 64 bits. The receiver reads it again and again until it has the number of the turn that
//! is due. So no event, no copy and no host takes part, and stores may arrive in any order. NCCL has this protocol for short messages.
//!
//! Volatile accesses of 64 bits are single ones, as other GPUs see them, and no compiler leaves them out.

#![allow(unsafe_code, reason = "launches write to addresses")]

mod rows;

pub use rows::Rows;

use super::{Api, Buffer, CudaMemory, Gpu, GpuError, cuda, units};
use bytemuck::Pod;
use cubecl::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Bytes of a word with its turn.
const BYTES: u64 = size_of::<u64>() as u64;

/// Words with which a link is tried.
const TRIED: u32 = 1000;

/// Whether launches on a GPU can access memory of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// They can: words did arrive when this was tried.
    Works,
    /// They cannot: the driver does not link the two, or not both use CUDA.
    Absent,
    /// The driver links the two, but words did not arrive when this was tried.
    Fails,
}

/// GPUs by their indices, and the links from the first to the second.
static LINKS: Mutex<Vec<([usize; 2], Link)>> = Mutex::new(Vec::new());

/// Memory for the words of two turns, odd and even ones. While those of a turn are read, those of the next may arrive.
pub struct Inbox {
    words: Buffer<u64>,
    memory: CudaMemory,
}

impl Inbox {
    /// Number of words of a turn for which there is room.
    pub fn room(&self) -> usize {
        self.words.len() / 2
    }

    /// Address of the words of this turn.
    fn address(&self, turn: u32) -> u64 {
        self.memory.address() + self.offset(turn)
    }

    /// Bytes before the words of this turn.
    fn offset(&self, turn: u32) -> u64 {
        u64::from(turn & 1) * self.room() as u64 * BYTES
    }
}

/// The way from a GPU into the inboxes of several, which have equal room.
pub struct Route {
    /// Addresses of the first word that it writes, for an even turn.
    addresses: Buffer<u64>,
    /// Bytes from there to the word for an odd turn.
    odd: u64,
}

/// Writes a word with its turn to an address of any GPU.
#[cube]
fn store(address: u64, word: u64) {
    gpu_asm!("st.volatile.global.u64 [{address}], {word};", address = in(_) address, word = in(_) word);
}

/// Reads a word with its turn, which another GPU may write at the same time.
#[cube]
fn load(address: u64) -> u64 {
    let word: u64;
    gpu_asm!("ld.volatile.global.u64 {word}, [{address}];", address = in(_) address, word = out(_) word);
    word
}

/// Reads a word of another GPU.
#[cube]
fn load_plain(address: u64) -> u32 {
    let word: u32;
    gpu_asm!("ld.volatile.global.u32 {word}, [{address}];", address = in(_) address, word = out(_) word);
    word
}

/// Copies n words from an address.
#[cube(launch_unchecked)]
fn fetch_words(address: u64, to: &mut [u32], n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        to[k] = load_plain(address + (k as u64) * 4u64);
    }
}

/// Writes n words of this turn to an address.
#[cube(launch_unchecked)]
fn post_words(from: &[u32], address: u64, turn: u32, n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let word = ((turn as u64) << 32u64) + (from[k] as u64);
        store(address + (k as u64) * 8u64, word);
    }
}

/// Writes n words of this turn to each of several addresses plus an offset.
#[cube(launch_unchecked)]
fn post_to_each(from: &[u32], addresses: &[u64], offset: u64, turn: u32, n: u32, receivers: u32) {
    let k = ABSOLUTE_POS as u32;
    if k < n * receivers {
        let at = k % n;
        let word = ((turn as u64) << 32u64) + (from[at as usize] as u64);
        let address = addresses[(k / n) as usize] + offset;
        store(address + (at as u64) * 8u64, word);
    }
}

/// Waits for n words of this turn at an address, and keeps them.
#[cube(launch_unchecked)]
fn await_words(address: u64, to: &mut [u32], turn: u32, n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let own = address + (k as u64) * 8u64;
        let due = turn as u64;
        let mut word = load(own);
        while word >> 32u64 != due {
            word = load(own);
        }
        to[k] = word as u32;
    }
}

impl Gpu {
    /// Whether launches on this GPU can access memory of the other one, such as an [`Inbox`], see [`Gpu::link_to`].
    pub fn accesses(&self, other: &Gpu) -> bool {
        self.link_to(other) == Link::Works
    }

    /// The link from this GPU to another one, which is enabled and tried here. The first call for a pair waits for both GPUs.
    pub fn link_to(&self, other: &Gpu) -> Link {
        let [own, theirs] = [self, other].map(Gpu::description);
        if own.api != Api::Cuda || theirs.api != Api::Cuda {
            return Link::Absent;
        }
        let pair = [own.index, theirs.index];
        let known = |links: &[([usize; 2], Link)]| links.iter().find(|(known, _)| *known == pair).map(|(_, link)| *link);
        if let Some(link) = known(&LINKS.lock().unwrap_or_else(PoisonError::into_inner)) {
            return link;
        }
        // Others may try their links meanwhile.
        let link = if self.is_same(other) {
            Link::Works
        } else {
            match cuda::link(own.index, theirs.index) {
                Ok(false) => Link::Absent,
                Ok(true) if self.exchanges_words_with(other).unwrap_or(false) => Link::Works,
                _ => Link::Fails,
            }
        };
        let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
        known(&links).unwrap_or_else(|| {
            links.push((pair, link));
            link
        })
    }

    /// Tries the links between all of these GPUs, those of all pairs at the same time: each GPU compiles what that takes. [`Gpu::link_to`] then has the
    /// answers at once.
    pub fn try_links(gpus: &[Gpu]) {
        thread::scope(|scope| {
            for from in gpus {
                for to in gpus.iter().filter(|to| !from.is_same(to)) {
                    scope.spawn(move || from.link_to(to));
                }
            }
        });
    }

    /// Posts words to another GPU and fetches others from there. Returns whether both arrived: some machines have links that lose them.
    fn exchanges_words_with(&self, other: &Gpu) -> Result<bool, GpuError> {
        let words: Vec<u32> = (1..=TRIED).collect();
        let turn = 1;
        let inbox = other.inbox(words.len(), "a link")?;
        self.post(&self.upload(&words, "a link")?, &inbox, turn);
        self.wait()?;
        let posted = other.download(&inbox.words)?;
        let with_turn = words.iter().map(|word| (u64::from(turn) << 32) + u64::from(*word));
        if !posted[inbox.room()..].iter().copied().eq(with_turn) {
            return Ok(false);
        }
        let collected = other.zeros(words.len(), "a link")?;
        other.collect(&inbox, turn, &collected);
        if other.download(&collected)? != words {
            return Ok(false);
        }
        let Some(memory) = other.cuda_memory(&collected)? else {
            return Ok(false);
        };
        let fetched = self.zeros(words.len(), "a link")?;
        self.fetch((&collected, &memory), words.len(), &fetched);
        Ok(self.download(&fetched)? == words)
    }

    /// Copies the first `len` items of a buffer of another GPU, whose memory is given beside it, to a buffer of this one, after all launches here so far.
    /// All launches that write the items must have finished, and none may write them until this copy has. The host does not wait.
    ///
    /// # Panics
    /// If `len` exceeds either buffer.
    pub fn fetch<T: Pod>(&self, (from, memory): (&Buffer<T>, &CudaMemory), len: usize, to: &Buffer<T>) {
        assert!(len <= from.len() && len <= to.len(), "{len} items");
        if len > 0 {
            let words = len * size_of::<T>() / size_of::<u32>();
            let (count, dim) = units(words);
            // SAFETY: threads beyond the words do nothing. Both buffers have that many; the memory of `from` stays in place while `memory` exists, which
            // the caller keeps as `from`. This GPU may read there, see `accesses`.
            unsafe { fetch_words::launch_unchecked(self.client(), count, dim, memory.address(), to.as_words(), words as u32) };
        }
    }

    /// An inbox with room for so many words of a turn, in which no turn has arrived. Turns count from 1. `what` names it in errors.
    ///
    /// # Errors
    /// If there is no memory, the device is lost, or it is not used through CUDA.
    pub fn inbox(&self, room: usize, what: &'static str) -> Result<Inbox, GpuError> {
        let words = self.zeros::<u64>(2 * room.max(1), what)?;
        let memory = self.cuda_memory(&words)?.ok_or_else(|| GpuError::Lost {
            cause: "its memory has no address for other GPUs".to_owned(),
        })?;
        // Others write without regard to the launches here.
        self.wait()?;
        Ok(Inbox { words, memory })
    }

    /// The way from this GPU to inboxes of equal room. Its words of a turn begin at word `first` in each.
    ///
    /// # Errors
    /// If there is no memory, or the device is lost.
    pub fn route(&self, inboxes: &[Inbox], first: usize) -> Result<Route, GpuError> {
        let addresses: Vec<u64> = inboxes.iter().map(|inbox| inbox.address(0) + first as u64 * BYTES).collect();
        Ok(Route {
            addresses: self.upload(&addresses, "addresses")?,
            odd: inboxes.first().map_or(0, |inbox| inbox.offset(1)),
        })
    }

    /// Writes all words of a buffer into an inbox, after all launches here so far. The other GPU collects them as those of this turn. The host does not
    /// wait.
    ///
    /// No turn may begin before the GPU of the inbox has collected the last but one. It has, if both write to each other once a turn, and each collects
    /// a turn before it begins the next.
    ///
    /// # Panics
    /// If the inbox has no room for them.
    pub fn post(&self, words: &Buffer<u32>, to: &Inbox, turn: u32) {
        assert!(words.len() <= to.room(), "{} words for an inbox of {}", words.len(), to.room());
        let (count, dim) = units(words.len());
        // SAFETY: threads beyond the words do nothing. The inbox has room for the words of a turn from this address on, and its memory stays there while
        // it exists. The caller keeps it until they were collected, and this GPU may write there, see `accesses`.
        unsafe {
            post_words::launch_unchecked(
                self.client(),
                count,
                dim,
                words.argument(),
                to.address(turn),
                turn,
                words.len() as u32,
            )
        };
    }

    /// As [`Gpu::post`], into several inboxes, which have room for the words where they begin.
    pub fn post_to_all(&self, words: &Buffer<u32>, to: &Route, turn: u32) {
        let receivers = to.addresses.len();
        let (count, dim) = units(words.len() * receivers);
        let offset = u64::from(turn & 1) * to.odd;
        // SAFETY: as in `post`, for each of the addresses.
        unsafe {
            post_to_each::launch_unchecked(
                self.client(),
                count,
                dim,
                words.argument(),
                to.addresses.argument(),
                offset,
                turn,
                words.len() as u32,
                receivers as u32,
            );
        }
    }

    /// Makes later launches wait for the words of this turn in an inbox of this GPU, and writes them to a buffer: as many as it has. The host does not
    /// wait. If another GPU does not post them, this one waits forever: see [`Gpu::limit_waits`].
    ///
    /// # Panics
    /// If the inbox has no room for so many.
    pub fn collect(&self, from: &Inbox, turn: u32, words: &Buffer<u32>) {
        assert!(words.len() <= from.room(), "{} words from an inbox of {}", words.len(), from.room());
        let (count, dim) = units(words.len());
        // SAFETY: threads beyond the words do nothing, and the inbox has that many for each turn.
        unsafe {
            await_words::launch_unchecked(
                self.client(),
                count,
                dim,
                from.address(turn),
                words.argument(),
                turn,
                words.len() as u32,
            )
        };
    }
}
