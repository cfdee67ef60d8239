//! Exceptions of the package: their texts are those of the command line.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use seixo::files::FilesError;
use seixo::run;
use seixo::scene::{Diagnostics, key_of};
use seixo::{StepError, WorldError};

create_exception!(
    seixo,
    SeixoError,
    PyException,
    "Base of the errors of Seixo. Its text is that of the command line."
);
create_exception!(
    seixo,
    SceneError,
    SeixoError,
    "A scene is wrong. `diagnostics` lists all errors, each with file, line, column, key, message and remedy."
);
create_exception!(
    seixo,
    RunError,
    SeixoError,
    "A run did not start, or stopped before its end; the text names the last good state."
);
create_exception!(seixo, FileError, SeixoError, "A file could not be read or written.");

/// One error of a scene; as text it is the line that the command line prints.
#[pyclass(frozen, get_all, module = "seixo")]
pub struct Diagnostic {
    /// File of the scene, or `--set` for a value that was given beside it.
    file: String,
    /// Line of the file, from 1; None without a place.
    line: Option<u64>,
    /// Column of the line, from 1; None without a place.
    column: Option<u64>,
    /// Dotted path of the key, as `run.until`; None without a key.
    key: Option<String>,
    /// What is wrong.
    message: String,
    /// The value as it is written; None without one.
    value: Option<String>,
    /// The accepted values; None without a limit.
    limit: Option<String>,
    /// What to do.
    remedy: String,
}

#[pymethods]
impl Diagnostic {
    fn __str__(&self) -> String {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            _ => self.file.clone(),
        };
        let limit = self.limit.as_ref().map(|limit| format!(" (accepted: {limit})")).unwrap_or_default();
        let remedy = if self.remedy.is_empty() {
            String::new()
        } else {
            format!("; {}", self.remedy)
        };
        format!("{place}: {}{limit}{remedy}", self.message)
    }

    fn __repr__(&self) -> String {
        format!("<Diagnostic {}>", self.__str__())
    }
}

/// The errors of a scene, one by one.
fn listed(found: &Diagnostics) -> Vec<Diagnostic> {
    let placed = found.to_json();
    let text = |index: usize, key: &str| placed[index][key].as_str().map(str::to_owned);
    let diagnostic = |(index, one)| Diagnostic {
        file: text(index, "file").unwrap_or_default(),
        line: placed[index]["line"].as_u64(),
        column: placed[index]["column"].as_u64(),
        key: key_of(found, one),
        message: text(index, "message").unwrap_or_default(),
        value: text(index, "value"),
        limit: text(index, "limit"),
        remedy: text(index, "remedy").unwrap_or_default(),
    };
    found.list().iter().enumerate().map(diagnostic).collect()
}

/// The exception for errors of a scene.
pub fn of_scene(py: Python<'_>, found: &Diagnostics) -> PyErr {
    let error = SceneError::new_err(found.plain());
    let listed = PyList::new(py, listed(found)).and_then(|list| error.value(py).setattr("diagnostics", list));
    match listed {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The exception for a run that did not start or did not reach its end.
pub fn of_run(py: Python<'_>, error: &run::RunError) -> PyErr {
    match error {
        run::RunError::Scene(found) => of_scene(py, found),
        run::RunError::Files(error) => of_files(error),
        run::RunError::Refused(refusal) => of_world(refusal),
        run::RunError::NotARun { .. } | run::RunError::Misfit { .. } => FileError::new_err(error.to_string()),
        run::RunError::UserChange(what) => wrong(what.clone()),
        error => RunError::new_err(error.to_string()),
    }
}

/// The exception for a world that cannot be simulated.
pub fn of_world(error: &WorldError) -> PyErr {
    match error {
        WorldError::Stopped(stop) => of_step(stop),
        WorldError::Gpu(_) => RunError::new_err(error.to_string()),
        WorldError::ExternalForces(_) => wrong(error.to_string()),
        _ => SceneError::new_err(error.to_string()),
    }
}

/// The exception for steps that cannot be taken.
pub fn of_step(error: &StepError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// The exception for a file that cannot be read or written.
pub fn of_files(error: &FilesError) -> PyErr {
    FileError::new_err(error.to_string())
}

/// The exception for a wrong argument: the message names it, its limit and the remedy.
pub fn wrong(message: String) -> PyErr {
    PyValueError::new_err(message)
}

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let of_scenes = py.get_type::<SceneError>();
    // For scenes that the engine refuses without a position in their text.
    of_scenes.setattr("diagnostics", PyTuple::empty(py))?;
    module.add("SeixoError", py.get_type::<SeixoError>())?;
    module.add("SceneError", of_scenes)?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("FileError", py.get_type::<FileError>())?;
    module.add_class::<Diagnostic>()
}
