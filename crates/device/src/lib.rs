//! Execution of n parts on CPU threads or GPUs. This crate does not depend on what the parts compute.
//!
//! ```
//! use seixo_device::{Cpu, Strided};
//!
//! let cpu = Cpu::new(2)?;
//! let mut squares = vec![0; 6];
//! let pairs = Strided { items: &mut squares[..], per_part: 2 };
//! cpu.run(3, pairs, |part, pair| pair.items.fill(part * part));
//! assert_eq!(squares, [0, 0, 1, 1, 4, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cpu;
mod crew;
pub mod gpu;
mod memory;
mod sort;
mod split;

pub use cpu::{Cpu, CpuError, THREADS_VARIABLE};
pub use memory::Aligned;
pub use sort::{exclusive_scan, stable_order_by_key};
pub use split::{Ranges, Split, Strided};
