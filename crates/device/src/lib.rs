//! Execution of n parts on CPU threads or GPUs. This crate does not depend on what the parts compute.

mod cpu;
pub mod gpu;
mod memory;
mod sort;
mod split;

pub use cpu::{Cpu, CpuError};
pub use memory::Aligned;
pub use sort::{exclusive_scan, stable_order_by_key};
pub use split::{Ranges, Split, Strided};
