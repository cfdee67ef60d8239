//! Graphics processors, through CubeCL: which there are, how one is opened, and what can go wrong.
//!
//! Memory is [`Buffer`]s; what runs is kernels, launched on [`Gpu::client`] one after another. Beside them stand the primitives that
//! CubeCL lacks: scan, sort, reductions, compaction and gather, whose results are the same bits every time.

mod adapter;
mod bins;
mod buffer;
mod compact;
mod cuda;
mod fetch;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod interop;
mod lend;
mod peers;
mod reduce;
mod runtime;
mod scan;
mod sort;

pub use bins::Bins;
pub use buffer::{Arrived, Buffer, Coming, Copies, Download, Ticket};
pub use cubecl::client::Client;
pub use lend::Lent;
pub use reduce::Fold;
pub use sort::Order;

use buffer::Account;
use cubecl::ir::{ElemType, IntKind};
use cubecl::prelude::{CubeCount, CubeDim, Float, LaunchArg, Numeric};
use runtime::Runtime;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Which API reaches a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// NVIDIA's own.
    Cuda,
    /// Vulkan, Metal or DirectX 12, as the machine has.
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

/// A GPU that this machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// How it is reached.
    pub api: Api,
    /// Its place among those that this API reaches, from 0.
    pub index: usize,
    /// Its name and, in brackets, the backend: "Vulkan", "Metal", "DirectX 12" or "CUDA".
    pub name: String,
    /// Whether it is a program that runs on the processor.
    pub is_software: bool,
    /// Whether it computes in double precision.
    pub has_f64: bool,
    /// Its memory \[bytes\], where the API tells.
    pub memory: Option<u64>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.api, self.index, self.name)
    }
}

/// What was looked for and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// GPUs that can be used, the most capable first.
    pub found: Vec<Description>,
    /// Why an API reaches none, one line each.
    pub missing: Vec<String>,
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.found.iter().map(Description::to_string).chain(self.missing.clone()).collect();
        f.write_str(&lines.join("; "))
    }
}

/// All GPUs of this machine: CUDA's before the others, software last. Starts none of them.
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

/// What can go wrong with a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is none, or not the one asked for.
    #[error(
        "no usable GPU ({looked}); install the driver of the graphics card – or mesa-vulkan-drivers, which draws on the processor –, \
         or compute on the CPU"
    )]
    None {
        /// What was asked for and found.
        looked: String,
    },
    /// It computes in single precision only.
    #[error("{name} has no double precision; use --precision f32, or another device")]
    NoDouble {
        /// The GPU.
        name: String,
    },
    /// It has whole numbers of 32 bits only.
    #[error("{name} has no whole numbers of 64 bits; use --device cpu, or another GPU")]
    NoLong {
        /// The GPU.
        name: String,
    },
    /// Its memory does not suffice.
    #[error(
        "the GPU has no memory left for {what}: {} are needed, {} are in use{}; use fewer items, --precision mixed, or another device",
        Bytes(*needed), Bytes(*held), free.map(|free| format!(", {} can be had in one piece", Bytes(free))).unwrap_or_default()
    )]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes asked for.
        needed: u64,
        /// Bytes in live buffers.
        held: u64,
        /// Bytes that could be had in one piece, where the API tells.
        free: Option<u64>,
    },
    /// It stopped working: a lost device, an error of the driver, a kernel that did not compile.
    #[error(
        "the GPU failed: {cause}; see whether its driver still answers (seixo info), then go on from what was saved last, there or with \
         --device cpu"
    )]
    Lost {
        /// What the driver reported.
        cause: String,
    },
}

/// A number of bytes, for people.
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

/// An open GPU. Clones share it and its account of memory; opening it again makes a new account.
#[derive(Clone)]
pub struct Gpu {
    runtime: Arc<Runtime>,
    account: Arc<Account>,
}

/// GPUs that were opened: CubeCL starts each once per process.
static OPENED: Mutex<Vec<Arc<Runtime>>> = Mutex::new(Vec::new());

impl Gpu {
    /// The GPU of that API and index, else the first of [`list`].
    ///
    /// # Errors
    /// If there is none, or it does not start.
    pub fn open(choice: Option<(Api, usize)>) -> Result<Gpu, GpuError> {
        let listing = list();
        let chosen = match choice {
            None => listing.found.first(),
            Some((api, index)) => listing.found.iter().find(|found| found.api == api && found.index == index),
        };
        let description = chosen.ok_or_else(|| GpuError::None {
            looked: match choice {
                None => listing.to_string(),
                Some((api, index)) => format!("{api}:{index} was asked for, and there is: {listing}"),
            },
        })?;
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = match opened.iter().find(|runtime| runtime.description == *description) {
            Some(runtime) => runtime.clone(),
            None => {
                let started = runtime::caught(|| match description.api {
                    Api::Cuda => cuda::open(description.clone()),
                    Api::Wgpu => adapter::open(description.clone()),
                });
                let runtime = started.and_then(|answer| answer).map_err(|reason| GpuError::None {
                    looked: format!("{description} does not start: {reason}"),
                })?;
                opened.push(Arc::new(runtime));
                opened[opened.len() - 1].clone()
            }
        };
        Ok(Gpu {
            runtime,
            account: Arc::default(),
        })
    }

    /// Which GPU this is.
    pub fn description(&self) -> &Description {
        &self.runtime.description
    }

    /// Where kernels are launched. Launches of all threads run one after another.
    pub fn client(&self) -> &Client {
        self.runtime.client()
    }

    /// Makes sure that it computes in double precision.
    ///
    /// # Errors
    /// If it does not.
    pub fn demand_double(&self) -> Result<(), GpuError> {
        let Description { name, has_f64, .. } = self.description();
        has_f64.then_some(()).ok_or_else(|| GpuError::NoDouble { name: name.clone() })
    }

    /// Makes sure that it computes with whole numbers of 64 bits.
    ///
    /// # Errors
    /// If it does not.
    pub fn demand_long(&self) -> Result<(), GpuError> {
        let has_long = self.client().properties().supports_type(ElemType::Int(IntKind::I64));
        let name = &self.description().name;
        has_long.then_some(()).ok_or_else(|| GpuError::NoLong { name: name.clone() })
    }

    /// For tests: from now on the device is gone for this process, as when its driver crashes. Returns whether the API can do that.
    pub fn lose(&self) -> bool {
        self.runtime.lose.as_ref().map(|lose| lose()).is_some()
    }

    /// Lets the device begin with steps that are being queued, this many after the first. CubeCL hands launches on by dozens at a time; until then, and again
    /// behind the first few, the device would have nothing to do.
    pub fn set_off(&self, ahead: u32) {
        // Few, as each costs a word with the thread that CubeCL has for the device, and farther and farther apart, as the device falls behind.
        if matches!(ahead, 0 | 3 | 9) {
            // What failed is told to whoever reads what was to be written.
            let _ = runtime::caught(|| self.runtime.client.flush());
        }
    }

    /// Waits until all launches so far are done.
    ///
    /// # Errors
    /// If the device was lost. A kernel that did not compile shows when what it writes is downloaded.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.runtime.wait()
    }
}

/// Units in a cube.
pub const UNITS: u32 = 256;

/// Cubes that fit into one dimension of a grid, whatever the API. More of them make a grid of several rows, which may have one cube less
/// than rows more than asked for.
pub const MOST_CUBES: u32 = 65_535;

/// Cubes and units for one unit per item. Kernels number items by `ABSOLUTE_POS` and compare it with `n`: there may be more units.
///
/// # Panics
/// If there are more units than an index of 32 bits can number.
pub fn units(n: usize) -> (CubeCount, CubeDim) {
    units_in_cubes_of(UNITS, n)
}

/// As [`units`], in cubes of another size: small ones let more registers be in use.
///
/// # Panics
/// As [`units`].
pub fn units_in_cubes_of(size: u32, n: usize) -> (CubeCount, CubeDim) {
    (cubes(n.div_ceil(size as usize)), CubeDim::new_1d(size))
}

/// A grid of at least so many cubes, numbered by `CUBE_POS`; those beyond one dimension spill into the second.
fn cubes(n: usize) -> CubeCount {
    let most = (u32::MAX / UNITS) as usize;
    assert!(
        n <= most - MOST_CUBES as usize,
        "{n} cubes are more than indices of 32 bits can number"
    );
    let n = n.max(1) as u32;
    let rows = n.div_ceil(MOST_CUBES);
    CubeCount::Static(n.div_ceil(rows), rows, 1)
}

/// What primitives move: `u32`, `f32` or `f64`. A trait of our own as the only bound, since `Numeric` alone makes kernels use a
/// dynamic scalar.
pub trait Word: Numeric + LaunchArg<RuntimeArg = Self, CompilationArg = ()> + bytemuck::Pod {}
impl Word for u32 {}
impl Word for f32 {}
impl Word for f64 {}

/// Items as bytes, in the order of this machine.
pub fn bytes_of<W: Word>(items: &[W]) -> &[u8] {
    bytemuck::cast_slice(items)
}

/// Items that were bytes; none where these are no whole number of items.
pub fn items_of<W: Word>(bytes: &[u8]) -> Option<Vec<W>> {
    let is_whole = bytes.len().is_multiple_of(size_of::<W>());
    is_whole.then(|| bytemuck::pod_collect_to_vec(bytes))
}

/// What primitives sum and compare: `f32` or `f64`.
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
            assert!((1..=MOST_CUBES).contains(&x) && y <= MOST_CUBES && z == 1, "{n}");
            assert!(total - n as u64 <= u64::from(y) * 256 + 256, "{n}: {total} units are too many");
        }
    }

    #[test]
    fn messages_name_what_is_missing_and_what_to_do() {
        let error = GpuError::OutOfMemory {
            what: "positions",
            needed: 17_592_186_044_416,
            held: 999,
            free: Some(2_500_000_000),
        };
        assert_eq!(
            error.to_string(),
            "the GPU has no memory left for positions: 17.6 TB are needed, 999 bytes are in use, 2.5 GB can be had in one piece; \
             use fewer items, --precision mixed, or another device"
        );
        assert_eq!(Bytes(0).to_string(), "0 bytes");
        assert_eq!(Bytes(1000).to_string(), "1.0 kB");
    }
}
