//! Files of runs as NumPy arrays.

use crate::errors;
use numpy::IntoPyArray;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use seixo::engine::state::Column;
use seixo::files::FilesError;
use seixo::files::checkpoint;
use seixo::files::layer::{Disk, Unwritten};
use seixo::files::table;
use seixo::files::vtk::{self, Field, VtkIndex, VtkNumbers, VtkType};
use std::path::PathBuf;

/// Names and columns of a table.
type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// Largest number below which doubles have all whole numbers.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FrameFile>()?;
    module.add_function(wrap_pyfunction!(grain_fields, module)?)?;
    module.add_function(wrap_pyfunction!(read_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(read_collection, module)?)?;
    module.add_function(wrap_pyfunction!(read_table, module)?)
}

/// A file of a frame, of which arrays are read one by one.
#[pyclass(frozen, module = "seixo._seixo")]
pub struct FrameFile {
    index: VtkIndex,
}

#[pymethods]
impl FrameFile {
    /// Finds the arrays of a file without reading them.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<FrameFile> {
        let index = py.detach(|| VtkIndex::open(&path)).map_err(|error| errors::of_files(&error))?;
        Ok(FrameFile { index })
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.index.time
    }

    /// Number of points.
    #[getter]
    fn points(&self) -> usize {
        self.index.points
    }

    /// Number of vertices, lines or polygons.
    #[getter]
    fn cells(&self) -> usize {
        self.index.cells
    }

    /// Group, name and number of components of each array.
    fn arrays(&self) -> Vec<(&str, &str, usize)> {
        let arrays = self.index.arrays.iter();
        arrays
            .map(|array| (array.group.as_str(), array.name.as_str(), array.components))
            .collect()
    }

    /// Numbers of the whole file, by name.
    fn numbers(&self) -> Vec<(&str, f64)> {
        self.index.numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    }

    /// Names of walls.
    fn names(&self) -> Vec<&str> {
        self.index.names.iter().map(String::as_str).collect()
    }

    /// First point [m], distances of points [m] and number of points along x, y and z; None without a grid.
    fn grid(&self) -> Option<([f64; 3], [f64; 3], [usize; 3])> {
        self.index.grid.map(|grid| (grid.origin, grid.spacing, grid.points))
    }

    /// First byte in the file, number and NumPy type of the numbers of an array; None if they are compressed, or there is no such array.
    fn raw_range(&self, group: &str, name: &str) -> Option<(u64, u64, &'static str)> {
        let range = self.index.find(group, name)?.raw_range()?;
        let of_numpy = match range.kind {
            VtkType::F64 => "<f8",
            VtkType::F32 => "<f4",
            VtkType::U32 => "<u4",
            VtkType::I64 => "<i8",
        };
        Some((range.offset, range.length / range.kind.width() as u64, of_numpy))
    }

    /// The numbers of an array, one after the other, in the type of the file.
    fn read<'py>(&self, py: Python<'py>, group: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = self.index.find(group, name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        let numbers = py.detach(|| self.index.read(array)).map_err(|error| errors::of_files(&error))?;
        Ok(match numbers {
            VtkNumbers::F64(values) => values.into_pyarray(py).into_any(),
            VtkNumbers::F32(values) => values.into_pyarray(py).into_any(),
            VtkNumbers::U32(values) => values.into_pyarray(py).into_any(),
            VtkNumbers::I64(values) => values.into_pyarray(py).into_any(),
        })
    }
}

/// Names and SI units of all arrays of grains that `output.fields` of a scene selects.
#[pyfunction]
fn grain_fields() -> Vec<(&'static str, &'static str)> {
    Field::all().map(|(_, keyword)| (keyword, vtk::unit_of(keyword))).collect()
}

/// Times [s] and files of a `.pvd`.
#[pyfunction]
fn read_collection(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(f64, String)>> {
    py.detach(|| vtk::read_collection(&path)).map_err(|error| errors::of_files(&error))
}

/// Headers and columns of a table of numbers. Columns of whole numbers are integers.
#[pyfunction]
fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Columns<'_>> {
    let read = || -> Result<Vec<(String, Values)>, FilesError> {
        let (names, columns) = table::read(&Disk, &path)?;
        let columns = names.into_iter().zip(columns).map(|(name, values)| {
            let values = Values::of(&name, values);
            (name, values)
        });
        Ok(columns.collect())
    };
    let columns = py.detach(read).map_err(|error| errors::of_files(&error))?;
    let columns = columns.into_iter().map(|(name, values)| {
        let array = match values {
            Values::Whole(values) => values.into_pyarray(py).into_any(),
            Values::Real(values) => values.into_pyarray(py).into_any(),
        };
        (name, array)
    });
    Ok(columns.collect())
}

/// Values of a column.
enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

impl Values {
    /// A header without a unit in brackets is that of whole numbers. Where some of them are missing, they stay real numbers, for NaN.
    fn of(header: &str, values: Vec<f64>) -> Values {
        let is_whole = |value: &f64| value.fract() == 0.0 && value.abs() < LARGEST_WHOLE;
        if !header.contains('[') && values.iter().all(is_whole) {
            Values::Whole(values.into_iter().map(|value| value as i64).collect())
        } else {
            Values::Real(values)
        }
    }
}

/// Time [s], steps, and names and columns of the newest whole checkpoint in a folder, which is left as it is.
#[pyfunction]
fn read_checkpoint(py: Python<'_>, folder: PathBuf) -> PyResult<(f64, u64, Columns<'_>)> {
    let read = || checkpoint::newest_valid(&Unwritten, &folder);
    let (_, header, state) = py.detach(read).map_err(|error| errors::of_files(&error))?;
    let columns = state.sections.into_iter().map(|(name, column)| {
        let array = match column {
            Column::F64(values) => values.into_pyarray(py).into_any(),
            Column::U32(values) => values.into_pyarray(py).into_any(),
            Column::U64(values) => values.into_pyarray(py).into_any(),
        };
        (name, array)
    });
    Ok((header.time, header.steps, columns.collect()))
}
