//! Grains, fluid particles, bonds and lines of probes as NumPy arrays.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seixo::engine::BondSnapshot;
use seixo::engine::state::{FluidSnapshot, GrainSnapshot};

/// An array of these rows; nothing is copied.
pub fn rows<const N: usize>(py: Python<'_>, rows: Vec<[f64; N]>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = rows.len();
    rows.into_flattened().into_pyarray(py).reshape([count, N])
}

/// Grains as arrays by the names of their columns.
pub fn arrays_of_grains(py: Python<'_>, grains: GrainSnapshot) -> PyResult<Bound<'_, PyDict>> {
    let (arrays, scalars) = (PyDict::new(py), PyDict::new(py));
    for (scalar, values) in grains.scalars.carried() {
        scalars.set_item(scalar.name(), PyArray1::from_slice(py, values))?;
    }
    let count = grains.id.len();
    let orientation = grains.drawn_orientation().into_owned();
    // Snapshots leave out what no grain of the world has.
    let body = if grains.body.is_empty() { vec![-1; count] } else { grains.body };
    arrays.set_item("id", grains.id.into_pyarray(py))?;
    arrays.set_item("position", rows(py, grains.position)?)?;
    arrays.set_item("velocity", rows(py, grains.velocity)?)?;
    arrays.set_item("angular_velocity", rows(py, grains.angular_velocity)?)?;
    arrays.set_item("force", rows(py, grains.force)?)?;
    arrays.set_item("torque", rows(py, grains.torque)?)?;
    arrays.set_item("radius", grains.radius.into_pyarray(py))?;
    arrays.set_item("mass", grains.mass.into_pyarray(py))?;
    arrays.set_item("volume", grains.volume.into_pyarray(py))?;
    arrays.set_item("material", grains.material.into_pyarray(py))?;
    arrays.set_item("group", grains.group.into_pyarray(py))?;
    arrays.set_item("body", body.into_pyarray(py))?;
    arrays.set_item("coordination", grains.coordination.into_pyarray(py))?;
    arrays.set_item("orientation", rows(py, orientation)?)?;
    arrays.set_item("scalars", scalars)?;
    Ok(arrays)
}

/// Fluid particles as arrays by the names of their columns.
pub fn arrays_of_fluid(py: Python<'_>, fluid: FluidSnapshot) -> PyResult<Bound<'_, PyDict>> {
    let arrays = PyDict::new(py);
    arrays.set_item("id", fluid.id.into_pyarray(py))?;
    arrays.set_item("kind", fluid.kind.into_pyarray(py))?;
    arrays.set_item("position", rows(py, fluid.position)?)?;
    arrays.set_item("velocity", rows(py, fluid.velocity)?)?;
    arrays.set_item("density", fluid.density.into_pyarray(py))?;
    arrays.set_item("pressure", fluid.pressure.into_pyarray(py))?;
    Ok(arrays)
}

/// Bonds as arrays by the names of their columns.
pub fn arrays_of_bonds<'py>(py: Python<'py>, bonds: &[BondSnapshot]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    let words = |of: fn(&BondSnapshot) -> u32| bonds.iter().map(of).collect::<Vec<u32>>().into_pyarray(py);
    let numbers = |of: fn(&BondSnapshot) -> f64| bonds.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
    let ends: Vec<[f64; 3]> = bonds.iter().flat_map(|bond| bond.ends).collect();
    let ends: Bound<'py, PyArray3<f64>> = ends.into_flattened().into_pyarray(py).reshape([bonds.len(), 2, 3])?;
    arrays.set_item("kind", words(|bond| bond.kind))?;
    arrays.set_item("i", words(|bond| bond.grains[0]))?;
    arrays.set_item("j", words(|bond| bond.grains[1]))?;
    arrays.set_item("ends", ends)?;
    arrays.set_item("force", rows(py, bonds.iter().map(|bond| bond.force).collect())?)?;
    arrays.set_item("tension", numbers(|bond| bond.tension))?;
    arrays.set_item("shear", numbers(|bond| bond.shear))?;
    arrays.set_item("bending", numbers(|bond| bond.bending))?;
    arrays.set_item("torsion", numbers(|bond| bond.torsion))?;
    arrays.set_item("energy", numbers(|bond| bond.energy))?;
    arrays.set_item("utilization", numbers(|bond| bond.utilization))?;
    Ok(arrays)
}

/// Columns of a table, from its rows.
pub fn columns_of(names: &[String], rows: &[Vec<f64>]) -> Vec<(String, Vec<f64>)> {
    let column = |at: usize| rows.iter().filter_map(|row| row.get(at).copied()).collect();
    names.iter().enumerate().map(|(at, name)| (name.clone(), column(at))).collect()
}

/// A table as arrays by the names of its columns.
pub fn table(py: Python<'_>, columns: Vec<(String, Vec<f64>)>) -> PyResult<Bound<'_, PyDict>> {
    let arrays = PyDict::new(py);
    for (name, values) in columns {
        arrays.set_item(name, values.into_pyarray(py))?;
    }
    Ok(arrays)
}
