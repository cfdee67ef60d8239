//! Where and how n shares run. Nothing here knows what the shares compute.

mod cpu;
pub mod gpu;
mod memory;
mod sort;
mod split;

pub use cpu::{Cpu, CpuError};
pub use memory::Aligned;
pub use sort::{exclusive_scan, stable_order_by_key};
pub use split::{Ranges, Split, Strided};
