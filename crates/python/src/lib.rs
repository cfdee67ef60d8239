//! Seixo for Python: the module `seixo._seixo`, which the package in `python/seixo` completes.

mod command;
mod contacts;
mod errors;
mod external_force;
mod insertion;
mod parts;
mod results;
mod runs;
mod scene;
mod shared;
mod simulation;
mod snapshots;
mod stress;
mod sweep;
mod views;

use pyo3::prelude::*;

/// As in the command line: arrays of grains begin at addresses that vector instructions like.
#[global_allocator]
static MEMORY: seixo::device::Aligned = seixo::device::Aligned;

/// The compiled part of the package `seixo`.
#[pymodule(name = "_seixo")]
fn extension(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    external_force::register(module)?;
    scene::register(module)?;
    runs::register(module)?;
    simulation::register(module)?;
    views::register(module)?;
    results::register(module)?;
    sweep::register(module)?;
    command::register(module)
}
