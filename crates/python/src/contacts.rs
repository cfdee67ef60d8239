//! Contacts as NumPy arrays.

use crate::snapshots::rows;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seixo::engine::{ContactRecord, Partner};

/// Contacts as arrays by the names of their columns. A wall as a partner is −1 minus its index.
pub fn arrays_of_contacts<'py>(py: Python<'py>, contacts: &[ContactRecord], walls: bool) -> PyResult<Bound<'py, PyDict>> {
    let wanted: Vec<&ContactRecord> = contacts
        .iter()
        .filter(|contact| walls || matches!(contact.b, Partner::Grain(_)))
        .collect();
    let partner = |contact: &&ContactRecord| match contact.b {
        Partner::Grain(id) => i64::from(id),
        Partner::Wall(wall) => -1 - i64::from(wall),
    };
    let vectors = |of: fn(&ContactRecord) -> [f64; 3]| rows(py, wanted.iter().map(|contact| of(contact)).collect());
    let arrays = PyDict::new(py);
    let first: Vec<i64> = wanted.iter().map(|contact| i64::from(contact.a)).collect();
    let second: Vec<i64> = wanted.iter().map(partner).collect();
    let overlap: Vec<f64> = wanted.iter().map(|contact| contact.overlap).collect();
    arrays.set_item("i", first.into_pyarray(py))?;
    arrays.set_item("j", second.into_pyarray(py))?;
    arrays.set_item("point", vectors(|contact| contact.point)?)?;
    arrays.set_item("normal", vectors(|contact| contact.normal)?)?;
    arrays.set_item("branch", vectors(|contact| contact.branch)?)?;
    arrays.set_item("force", vectors(ContactRecord::force)?)?;
    arrays.set_item("overlap", overlap.into_pyarray(py))?;
    Ok(arrays)
}
