//! Tests of the loops over particles.

mod gpu_equals_native;
mod mindlin_cycles;
mod pairs;
