//! Scenes: loading, editing, checking.

mod edit;
mod values;

use crate::errors;
use edit::Here;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use seixo::run::RunError;
use seixo::scene::{Diagnostics, check_value, explain, load_text, templates, text_of};
use std::path::{Path, PathBuf};
use toml_edit::DocumentMut;

/// The text of a scene, which a program edits key by key; comments and order survive. `seixo.Scene` gives access to its keys by their names.
#[pyclass(subclass, module = "seixo._seixo")]
pub struct Scene {
    document: DocumentMut,
    path: PathBuf,
}

impl Scene {
    /// The scene as TOML, as edited.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Path of the scene, for messages; files that it names are relative to its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the scene with overrides, as the command line does with `--set`, and assembles its world.
    pub fn load(&self, overrides: &[(String, String)]) -> Result<seixo::Scene, Diagnostics> {
        load_text(&self.text(), &self.path, overrides)
    }

    /// Replaces the document, unless the value at this path is wrong.
    fn accept(&mut self, py: Python<'_>, edited: DocumentMut, path: &[String]) -> PyResult<()> {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        check_value(&edited.to_string(), &self.path, &keys).map_err(|found| errors::of_scene(py, &found))?;
        self.document = edited;
        Ok(())
    }
}

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (text = "", path = None))]
    fn new(py: Python<'_>, text: &str, path: Option<PathBuf>) -> PyResult<Scene> {
        let path = path.unwrap_or_else(|| PathBuf::from("<text>"));
        check_value(text, &path, &[]).map_err(|found| errors::of_scene(py, &found))?;
        let document = text
            .parse::<DocumentMut>()
            .map_err(|error| errors::wrong(format!("{}: this is not TOML: {error}", path.display())))?;
        Ok(Scene { document, path })
    }

    /// Path of the scene, for messages; files that it names are relative to its folder.
    #[getter(path)]
    fn own_path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The scene as TOML, as edited, with its comments.
    fn to_toml(&self) -> String {
        self.text()
    }

    /// The scene as TOML with all defaults filled in and all paths absolute. Raises `SceneError`.
    fn resolved(&self, py: Python<'_>) -> PyResult<String> {
        let loaded = py.detach(|| self.load(&[]));
        loaded.map(|scene| scene.resolved).map_err(|found| errors::of_scene(py, &found))
    }

    /// What stands at a path: "" (nothing), "table", "list" or "value".
    #[pyo3(name = "kind_at")]
    fn kind(&self, path: Vec<String>) -> &'static str {
        match edit::find(&self.document, &path) {
            None => "",
            Some(Here::Table(_)) => "table",
            Some(Here::Tables(_) | Here::Value(toml_edit::Value::Array(_))) => "list",
            Some(Here::Value(_)) => "value",
        }
    }

    /// Copy of what stands at a path, tables as dictionaries; `None` for nothing.
    #[pyo3(name = "value_at")]
    fn value<'py>(&self, py: Python<'py>, path: Vec<String>) -> PyResult<Option<Bound<'py, PyAny>>> {
        edit::find(&self.document, &path)
            .map(|here| values::of_place(py, &here))
            .transpose()
    }

    /// Keys of the table at a path, in the order of the text.
    #[pyo3(name = "keys_at")]
    fn keys(&self, path: Vec<String>) -> Vec<String> {
        match edit::find(&self.document, &path) {
            Some(Here::Table(table)) => table.iter().map(|(key, _)| key.to_owned()).collect(),
            _ => Vec::new(),
        }
    }

    /// Number of items of the list at a path.
    #[pyo3(name = "length_at")]
    fn length(&self, path: Vec<String>) -> usize {
        match edit::find(&self.document, &path) {
            Some(Here::Tables(tables)) => tables.len(),
            Some(Here::Value(toml_edit::Value::Array(list))) => list.len(),
            _ => 0,
        }
    }

    /// Sets the value at a path, and creates missing tables. The scene stays as it is if the value is wrong.
    #[pyo3(name = "set_at")]
    fn set(&mut self, py: Python<'_>, path: Vec<String>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut edited = self.document.clone();
        let item = values::to_item(value, path.len())?;
        edit::put(edited.as_table_mut(), &path, item, false, 1).map_err(errors::wrong)?;
        self.accept(py, edited, &path)
    }

    /// Removes what stands at a path; returns whether something stood there.
    #[pyo3(name = "remove_at")]
    fn delete(&mut self, path: Vec<String>) -> bool {
        edit::take(self.document.as_table_mut(), &path)
    }

    /// Text and JSON of what `seixo check` finds.
    #[pyo3(name = "findings")]
    fn check(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let found = py.detach(|| {
            let scene = self.load(&[]).map_err(RunError::Scene)?;
            seixo::command::findings(scene, &self.path)
        });
        let (text, values) = found.map_err(|error| errors::of_run(py, &error))?;
        Ok((text, values.to_string()))
    }
}

/// What the language of scenes has at a path.
#[pyclass(frozen, get_all, module = "seixo._seixo")]
struct Place {
    /// Keys of the table.
    keys: Vec<String>,
    /// Whether it is a table.
    is_table: bool,
    /// Whether a single value or a list may stand there.
    is_value: bool,
    /// Whether the user names its entries.
    has_names: bool,
    /// Whether it is a list of tables.
    is_list_of_tables: bool,
    /// Default of the value, or `None`.
    default: Py<PyAny>,
}

/// What the language of scenes has at a path; `KeyError` with the advice of the command line if a key is unknown.
#[pyfunction]
fn place_at(py: Python<'_>, path: Vec<String>) -> PyResult<Place> {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let place = explain::at(&keys).map_err(|complaint| PyKeyError::new_err(format!("{}; {}", complaint.message, complaint.remedy)))?;
    Ok(Place {
        keys: place.keys,
        is_table: place.is_table,
        is_value: place.is_value,
        has_names: place.has_names,
        is_list_of_tables: place.is_list_of_tables,
        default: values::of_json(py, &place.default.unwrap_or_default())?.unbind(),
    })
}

/// The text of a scene file.
#[pyfunction]
fn scene_text(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    text_of(&path).map_err(|found| errors::of_scene(py, &found))
}

/// A template as Python takes it: its name, topic, description and text, and the names and contents of the files that it reads.
type TemplateParts = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str)>,
);

/// All templates.
#[pyfunction]
fn scene_templates() -> Vec<TemplateParts> {
    let parts = templates()
        .iter()
        .map(|one| (one.name, one.topic, one.about, one.text, one.beside.to_vec()));
    parts.collect()
}

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Scene>()?;
    module.add_class::<Place>()?;
    module.add_function(wrap_pyfunction!(place_at, module)?)?;
    module.add_function(wrap_pyfunction!(scene_text, module)?)?;
    module.add_function(wrap_pyfunction!(scene_templates, module)?)
}
