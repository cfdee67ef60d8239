//! Runs into folders, and their progress.

use pyo3::prelude::*;

/// Adds this file's classes and functions to the module.
pub fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
