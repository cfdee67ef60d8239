//! GPUs through CubeCL: list them, open one, and report errors.
//!
//! Memory consists of [`Buffer`]s. Kernels are launched on [`Gpu::client`] one after another, in one [`Queue`] or in several. The module also has the primitives that CubeCL lacks:
//! scan, sort, reductions, compaction and gather. Their results are bitwise reproducible.
//!
//! ```no_run
//! use seixo_device::gpu::{Buffer, Gpu};
//!
//! let gpu = Gpu::open(None)?;
//! let counts: Buffer<u32> = gpu.upload(&[1, 2, 4], "counts")?;
//! let sums: Buffer<u32> = gpu.buffer(4, "sums")?;
//! gpu.exclusive_scan(&counts, 3, &sums)?;
//! assert_eq!(gpu.download(&sums)?, [0, 1, 3, 7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adapter;
mod address;
mod bins;
mod buffer;
mod compact;
mod cuda;
mod fetch;
mod inbox;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod interop;
mod patience;
mod peers;
mod queue;
mod recording;
mod reduce;
mod runtime;
mod scan;
mod shared_buffer;
mod sort;
mod stopwatch;
mod timeline;
mod workspace;

pub use address::CudaMemory;
pub use bins::Bins;
pub use buffer::{Arrived, Buffer, Copies, Download, PART_WORDS, PendingCopies, Ticket};
pub use cubecl::client::Client;
pub use inbox::{Inbox, Link, Route, Rows};
pub use queue::Queue;
pub use recording::{Recording, claim_cuda};
pub use reduce::Fold;
pub use shared_buffer::SharedBuffer;
pub use sort::Order;
pub use stopwatch::Stopwatch;
pub use timeline::{LaunchTimes, TimedWork, own_launches};
pub use workspace::Workspace;

use buffer::Account;
use cubecl::ir::{ElemType, IntKind};
use cubecl::prelude::{CubeCount, CubeDim, Float, LaunchArg, Numeric};
use runtime::Runtime;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// API through which a GPU is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// NVIDIA's CUDA.
    Cuda,
    /// Vulkan, Metal or DirectX 12, depending on the machine.
    Wgpu,
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Api::Cuda => "cuda",
            Api::Wgpu => "wgpu",
        })
    }
}

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// API of this GPU.
    pub api: Api,
    /// Index among the GPUs of this API, from 0.
    pub index: usize,
    /// Its name and, in brackets, the backend: "Vulkan", "Metal", "DirectX 12" or "CUDA".
    pub name: String,
    /// Whether it is a software implementation on the CPU.
    pub is_software: bool,
    /// Whether it supports double precision.
    pub has_f64: bool,
    /// Its memory \[bytes\], if the API reports it.
    pub memory: Option<u64>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.api, self.index, self.name)
    }
}

/// Result of a search for GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Usable GPUs, the most capable first.
    pub found: Vec<Description>,
    /// Reasons why an API found no GPU, one line each.
    pub missing: Vec<String>,
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.found.iter().map(Description::to_string).chain(self.missing.clone()).collect();
        f.write_str(&lines.join("; "))
    }
}

/// All GPUs of this machine: CUDA first, software last. Starts none of them.
pub fn list() -> Listing {
    let mut listing = Listing::default();
    let mut add = |api: &str, answer: Result<Vec<Description>, String>| match answer {
        Ok(found) => listing.found.extend(found),
        Err(reason) => listing.missing.push(format!("{api}: {reason}")),
    };
    add("CUDA", runtime::caught(cuda::list).and_then(|answer| answer));
    add("Vulkan/Metal/DirectX 12", runtime::caught(adapter::list).and_then(|answer| answer));
    listing.found.sort_by_key(|description| description.is_software);
    listing
}

/// The chosen GPU or, without a choice, the first one, among all of its API; else as [`list`]. Where those of CUDA suffice, no other API is asked, as it
/// would load drivers of its own.
pub fn list_with(choice: Option<(Api, usize)>) -> Listing {
    let is_chosen = |found: &Description| choice.is_none_or(|chosen| chosen == (found.api, found.index));
    if choice.is_none_or(|(api, _)| api == Api::Cuda) {
        let found = runtime::caught(cuda::list).and_then(|answer| answer).unwrap_or_default();
        if found.iter().any(is_chosen) {
            return Listing {
                found,
                missing: Vec::new(),
            };
        }
    }
    list()
}

/// Errors of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no GPU, or not the requested one.
    #[error(
        "no usable GPU ({looked}); `seixo info` lists those of this machine: use one of them, install the driver of the graphics card – for cuda that \
         of NVIDIA, or mesa-vulkan-drivers, which draws on the processor –, or compute on the CPU"
    )]
    None {
        /// What was requested and found.
        looked: String,
    },
    /// It supports single precision only.
    #[error("{name} has no double precision; use --precision f32, or another device")]
    NoDouble {
        /// Name of the GPU.
        name: String,
    },
    /// It supports 32-bit integers only.
    #[error("{name} has no whole numbers of 64 bits; use --device cpu, or another GPU")]
    NoLong {
        /// Name of the GPU.
        name: String,
    },
    /// It is there, but does not start.
    #[error(
        "{gpu} does not start: {reason}; see whether its driver answers (seixo info) and whether other programs have its memory, or use another device"
    )]
    NoStart {
        /// API, index and name of the GPU.
        gpu: String,
        /// Message of the driver.
        reason: String,
    },
    /// It has too little memory.
    #[error(
        "{gpu} has no memory left for {what}: {} are needed beside {} in use, {} together{}; use a smaller world, more GPUs with a domain each (--gpus), \
         a lower precision (--precision mixed or f32), or another device",
        Bytes(*needed), Bytes(*held), Bytes(needed.saturating_add(*held)), room.described(*held)
    )]
    OutOfMemory {
        /// API, index and name of the GPU.
        gpu: String,
        /// Purpose of the memory.
        what: &'static str,
        /// Bytes requested.
        needed: u64,
        /// Bytes in live buffers.
        held: u64,
        /// What the API reports of the remaining memory.
        room: Room,
    },
    /// It stopped working: a lost device, a driver error, or a kernel that did not compile.
    #[error(
        "the GPU failed: {cause}; see whether its driver still answers (seixo info), then go on from what was saved last, there or with \
         --device cpu"
    )]
    Lost {
        /// Message of the driver.
        cause: String,
    },
}

/// What an API reports of the remaining memory of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Nothing.
    Unknown,
    /// The largest block that can be allocated \[bytes\].
    Block(u64),
    /// All memory \[bytes\].
    Memory {
        /// Free bytes.
        free: u64,
        /// All bytes.
        total: u64,
    },
}

impl Room {
    /// The end of a sentence on it, where live buffers have this many bytes. It mentions other programs if they may be the cause.
    fn described(self, held: u64) -> String {
        match self {
            Room::Unknown => String::new(),
            Room::Block(most) => format!(", and a block has at most {}", Bytes(most)),
            Room::Memory { free, total } => {
                let others = total.saturating_sub(free).saturating_sub(held);
                let by_others = if others > total / 10 {
                    format!(", and {} are used otherwise, as by other programs", Bytes(others))
                } else {
                    String::new()
                };
                format!("; {} of {} are free{by_others}", Bytes(free), Bytes(total))
            }
        }
    }
}

/// A number of bytes in readable units.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["bytes", "kB", "MB", "GB", "TB"];
        let power = (0..5).rev().find(|&power| self.0 >= 1000u64.pow(power)).unwrap_or(0);
        match power {
            0 => write!(f, "{} bytes", self.0),
            _ => write!(f, "{:.1} {}", self.0 as f64 / 1000f64.powi(power as i32), units[power as usize]),
        }
    }
}

/// The GPU of a listing with this API and index, or its first one.
fn described(listing: &Listing, choice: Option<(Api, usize)>) -> Result<Description, GpuError> {
    let chosen = match choice {
        None => listing.found.first(),
        Some((api, index)) => listing.found.iter().find(|found| found.api == api && found.index == index),
    };
    chosen.cloned().ok_or_else(|| GpuError::None {
        looked: match choice {
            None => listing.to_string(),
            Some((api, index)) => format!("{api}:{index} was asked for, and there is: {listing}"),
        },
    })
}

/// Starts the GPU of this description, which was not started before.
fn start(description: &Description) -> Result<Runtime, GpuError> {
    let started = runtime::caught(|| match description.api {
        Api::Cuda => cuda::open(description.clone()),
        Api::Wgpu => adapter::open(description.clone()),
    });
    started.and_then(|answer| answer).map_err(|reason| GpuError::NoStart {
        gpu: description.to_string(),
        reason,
    })
}

/// An open GPU. Clones share it and its memory accounting; opening it again starts a new accounting.
#[derive(Clone)]
pub struct Gpu {
    runtime: Arc<Runtime>,
    account: Arc<Account>,
}

/// Opened GPUs: CubeCL starts each GPU once per process.
static OPENED: Mutex<Vec<Arc<Runtime>>> = Mutex::new(Vec::new());

impl Gpu {
    /// Opens the GPU with this API and index, or the first of [`list`].
    ///
    /// # Errors
    /// If there is no such GPU, or it does not start.
    pub fn open(choice: Option<(Api, usize)>) -> Result<Gpu, GpuError> {
        let description = described(&list_with(choice), choice)?;
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = match opened.iter().find(|runtime| runtime.description == description) {
            Some(runtime) => runtime.clone(),
            None => {
                opened.push(Arc::new(start(&description)?));
                opened[opened.len() - 1].clone()
            }
        };
        Ok(Gpu {
            runtime,
            account: Arc::default(),
        })
    }

    /// Opens the GPUs with this API and these indices, in their order. With CUDA they start at the same time, as each takes a while.
    ///
    /// # Errors
    /// As [`Gpu::open`], for the first of them that fails.
    pub fn open_all(api: Api, indices: &[usize]) -> Result<Vec<Gpu>, GpuError> {
        let listing = list_with(indices.iter().max().map(|&last| (api, last)));
        let descriptions = indices.iter().map(|&index| described(&listing, Some((api, index))));
        let descriptions = descriptions.collect::<Result<Vec<Description>, GpuError>>()?;
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<&Description> = Vec::new();
        for description in &descriptions {
            if !new.contains(&description) && !opened.iter().any(|runtime| runtime.description == *description) {
                new.push(description);
            }
        }
        let at_once = if api == Api::Cuda { new.len() } else { 1 };
        for some in new.chunks(at_once.max(1)) {
            let started: Vec<Result<Runtime, GpuError>> = thread::scope(|scope| {
                let threads: Vec<_> = some.iter().map(|description| scope.spawn(move || start(description))).collect();
                let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
                joined.map(|runtime| runtime.unwrap_or_else(|panic| resume_unwind(panic))).collect()
            });
            for runtime in started {
                opened.push(Arc::new(runtime?));
            }
        }
        let all = descriptions.iter().filter_map(|description| {
            let runtime = opened.iter().find(|runtime| runtime.description == *description)?;
            Some(Gpu {
                runtime: runtime.clone(),
                account: Arc::default(),
            })
        });
        Ok(all.collect())
    }

    /// Description of this GPU.
    pub fn description(&self) -> &Description {
        &self.runtime.description
    }

    /// Client for kernel launches. Launches from all threads run one after another, unless a thread has entered another [`Queue`].
    pub fn client(&self) -> &Client {
        self.runtime.client()
    }

    /// Checks that the GPU supports double precision.
    ///
    /// # Errors
    /// If it does not.
    pub fn demand_double(&self) -> Result<(), GpuError> {
        let Description { name, has_f64, .. } = self.description();
        has_f64.then_some(()).ok_or_else(|| GpuError::NoDouble { name: name.clone() })
    }

    /// Checks that the GPU supports 64-bit integers.
    ///
    /// # Errors
    /// If it does not.
    pub fn demand_long(&self) -> Result<(), GpuError> {
        let has_long = self.client().properties().supports_type(ElemType::Int(IntKind::I64));
        let name = &self.description().name;
        has_long.then_some(()).ok_or_else(|| GpuError::NoLong { name: name.clone() })
    }

    /// For tests: makes the device unusable for this process, as after a driver crash. Returns whether the API supports that.
    pub fn lose(&self) -> bool {
        self.runtime.lose.as_ref().map(|lose| lose()).is_some()
    }

    /// Lets the device start steps that are still being queued; `ahead` counts the steps queued after the first. CubeCL hands launches to the device in
    /// batches of dozens. Without this call the device would idle until the first batch, and again after the first few steps.
    pub fn set_off(&self, ahead: u32) {
        // Few times, as each needs a call to CubeCL's thread of the device. Increasing distances, as the device falls behind the queue.
        if matches!(ahead, 0 | 3 | 9) {
            self.submit();
        }
    }

    /// Lets the device start all launches so far, as [`Gpu::set_off`]. It pays before work of the host that takes longer than a few launches. Where waits
    /// are [limited](Gpu::limit_waits), another thread waits for CubeCL's, and this one goes on at once.
    pub fn submit(&self) {
        if self.account.patience.longest().is_some() {
            self.set_off_aside();
        } else {
            set_off_queued(&self.runtime.client, self.runtime.description.api);
        }
    }

    /// As [`Gpu::submit`] with CUDA, but this thread goes on at once in any case. So it also pays before a few launches, which come later, as always. Does
    /// nothing with wgpu.
    pub fn submit_aside(&self) {
        if self.runtime.description.api == Api::Cuda {
            self.set_off_aside();
        }
    }

    fn set_off_aside(&self) {
        let (client, api) = (self.runtime.client.clone(), self.runtime.description.api);
        self.account.patience.aside(move || set_off_queued(&client, api));
    }

    /// Waits until all launches so far have finished, those on other [`Queue`]s excepted.
    ///
    /// # Errors
    /// If the device was lost. A kernel that did not compile is reported when its result is downloaded.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.runtime.wait(&self.account.patience)
    }

    /// Limits how long waits for this GPU and its clones may take, from now on; `None` = no limit, as at first. After a longer wait the GPU counts as
    /// lost: it may wait for another one that failed. Waits that began under another limit follow the new one.
    pub fn limit_waits(&self, longest: Option<Duration>) {
        self.account.patience.limit(longest);
    }
}

/// Makes CubeCL's thread of a device pass on all that is queued. A failure is reported when the result is downloaded.
fn set_off_queued(client: &Client, api: Api) {
    // With CUDA, a task that does nothing suffices. A flush would also free what the host has sent, and for that wait until the GPU is where it was at the
    // flush before. With wgpu, only a flush starts the launches.
    let _ = runtime::caught(|| match api {
        Api::Cuda => client.exclusive(|| ()),
        Api::Wgpu => client.flush(),
    });
}

/// Threads per block. CubeCL calls threads units and blocks cubes.
pub const THREADS_PER_BLOCK: u32 = 256;

/// Most blocks in one dimension of a grid with any API. More blocks make a grid of several rows; with r rows, up to r − 1 blocks are surplus.
pub const MAX_BLOCKS: u32 = 65_535;

/// Numbers of blocks and threads for one thread per item. Kernels number items by `ABSOLUTE_POS` and compare it with `n`, since there may be more
/// threads.
///
/// # Panics
/// If there are more threads than a 32-bit index can number.
pub fn units(n: usize) -> (CubeCount, CubeDim) {
    units_in_cubes_of(THREADS_PER_BLOCK, n)
}

/// As [`units`], with another block size. Small blocks leave more registers per thread.
///
/// # Panics
/// As [`units`].
pub fn units_in_cubes_of(size: u32, n: usize) -> (CubeCount, CubeDim) {
    (cubes(n.div_ceil(size as usize)), CubeDim::new_1d(size))
}

/// A grid of at least this many blocks, numbered by `CUBE_POS`. Blocks beyond one dimension go into the second.
fn cubes(n: usize) -> CubeCount {
    let most = (u32::MAX / THREADS_PER_BLOCK) as usize;
    assert!(
        n <= most - MAX_BLOCKS as usize,
        "{n} cubes are more than indices of 32 bits can number"
    );
    let n = n.max(1) as u32;
    let rows = n.div_ceil(MAX_BLOCKS);
    CubeCount::Static(n.div_ceil(rows), rows, 1)
}

/// Items of the primitives: `u32`, `f32` or `f64`. An own trait as the only bound, since `Numeric` alone makes kernels use a dynamic scalar.
pub trait Word: Numeric + LaunchArg<RuntimeArg = Self, CompilationArg = ()> + bytemuck::Pod {}
impl Word for u32 {}
impl Word for f32 {}
impl Word for f64 {}

/// Items as bytes, in the byte order of this machine.
pub fn bytes_of<W: Word>(items: &[W]) -> &[u8] {
    bytemuck::cast_slice(items)
}

/// Items from bytes; `None` if the length is not a multiple of the item size.
pub fn items_of<W: Word>(bytes: &[u8]) -> Option<Vec<W>> {
    let is_whole = bytes.len().is_multiple_of(size_of::<W>());
    is_whole.then(|| bytemuck::pod_collect_to_vec(bytes))
}

/// Items that primitives sum and compare: `f32` or `f64`.
pub trait Number: Word + Float {}
impl Number for f32 {}
impl Number for f64 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_a_unit_per_item_and_rows_that_every_api_takes() {
        for n in [0, 1, 255, 256, 257, 16_776_960, 16_776_961, 100_000_000, 4_000_000_000] {
            let (CubeCount::Static(x, y, z), dim) = units(n) else {
                panic!("the grid is known")
            };
            let total = u64::from(x) * u64::from(y) * u64::from(z) * u64::from(dim.x);
            assert!(total >= n as u64 && total < u64::from(u32::MAX), "{n}: {total}");
            assert!((1..=MAX_BLOCKS).contains(&x) && y <= MAX_BLOCKS && z == 1, "{n}");
            assert!(total - n as u64 <= u64::from(y) * 256 + 256, "{n}: {total} units are too many");
        }
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_gpu_that_is_opened_with_others_is_the_one_that_is_opened_alone() {
        let one = Gpu::open(None).unwrap();
        let Description { api, index, .. } = *one.description();
        let all = Gpu::open_all(api, &[index, index]).unwrap();
        assert!(all.len() == 2 && all.iter().all(|gpu| gpu.is_same(&one)));
        assert!(matches!(Gpu::open_all(api, &[index, 999]), Err(GpuError::None { looked }) if looked.contains(":999")));
        assert!(Gpu::open_all(api, &[]).unwrap().is_empty());
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_shorter_list_has_the_chosen_gpu_at_the_same_place() {
        let all = list();
        let first = all.found.first();
        assert!(first.is_some() && list_with(None).found.first() == first);
        for one in &all.found {
            assert!(list_with(Some((one.api, one.index))).found.contains(one), "{one}");
        }
        assert_eq!(list_with(Some((Api::Cuda, 999))), all);
    }

    #[test]
    fn messages_name_what_is_missing_and_what_to_do() {
        let message = |held: u64, room: Room| {
            let error = GpuError::OutOfMemory {
                gpu: "cuda:1 a card".to_owned(),
                what: "positions",
                needed: 17_592_186_044_416,
                held,
                room,
            };
            error.to_string()
        };
        assert_eq!(
            message(999, Room::Block(2_500_000_000)),
            "cuda:1 a card has no memory left for positions: 17.6 TB are needed beside 999 bytes in use, 17.6 TB together, and a block has at most \
             2.5 GB; use a smaller world, more GPUs with a domain each (--gpus), a lower precision (--precision mixed or f32), or another device"
        );
        let (free, total) = (10_000_000_000, 80_000_000_000);
        let of_memory = |held: u64| message(held, Room::Memory { free, total });
        assert!(of_memory(69_000_000_000).contains("; 10.0 GB of 80.0 GB are free; use"));
        assert!(
            of_memory(1_000_000_000).contains("; 10.0 GB of 80.0 GB are free, and 69.0 GB are used otherwise, as by other programs; use")
        );
        assert!(message(999, Room::Unknown).contains("17.6 TB together; use"));
        assert_eq!(Bytes(0).to_string(), "0 bytes");
        assert_eq!(Bytes(1000).to_string(), "1.0 kB");
    }
}
