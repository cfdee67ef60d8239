//! Values of a scene as Python has them, and back.

use super::edit::{HEADERS, Here};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use toml_edit::{Array, ArrayOfTables, InlineTable, Item, Table, TableLike, Value};

/// What stands at a path, as Python has it: tables as dictionaries.
pub fn of_place<'py>(py: Python<'py>, here: &Here<'_>) -> PyResult<Bound<'py, PyAny>> {
    match here {
        Here::Table(table) => of_table(py, *table),
        Here::Tables(tables) => {
            let tables: PyResult<Vec<Bound<'py, PyAny>>> = tables.iter().map(|table| of_table(py, table)).collect();
            tables?.into_bound_py_any(py)
        }
        Here::Value(value) => of_value(py, value),
    }
}

fn of_table<'py>(py: Python<'py>, table: &dyn TableLike) -> PyResult<Bound<'py, PyAny>> {
    let entries = PyDict::new(py);
    for (key, item) in table.iter() {
        if let Some(here) = Here::of_item(item) {
            entries.set_item(key, of_place(py, &here)?)?;
        }
    }
    Ok(entries.into_any())
}

fn of_value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::String(text) => text.value().as_str().into_bound_py_any(py),
        Value::Integer(number) => (*number.value()).into_bound_py_any(py),
        Value::Float(number) => (*number.value()).into_bound_py_any(py),
        Value::Boolean(flag) => (*flag.value()).into_bound_py_any(py),
        Value::Datetime(time) => time.value().to_string().into_bound_py_any(py),
        Value::Array(list) => {
            let items: PyResult<Vec<Bound<'py, PyAny>>> = list.iter().map(|item| of_value(py, item)).collect();
            items?.into_bound_py_any(py)
        }
        Value::InlineTable(table) => of_table(py, table),
    }
}

/// A value of JSON as Python has it.
pub fn of_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        serde_json::Value::Null => Ok(py.None().into_bound(py)),
        serde_json::Value::Bool(flag) => (*flag).into_bound_py_any(py),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_bound_py_any(py),
            None => number.as_f64().into_bound_py_any(py),
        },
        serde_json::Value::String(text) => text.as_str().into_bound_py_any(py),
        serde_json::Value::Array(list) => {
            let items: PyResult<Vec<Bound<'py, PyAny>>> = list.iter().map(|item| of_json(py, item)).collect();
            items?.into_bound_py_any(py)
        }
        serde_json::Value::Object(table) => {
            let entries = PyDict::new(py);
            for (key, value) in table {
                entries.set_item(key.as_str(), of_json(py, value)?)?;
            }
            Ok(entries.into_any())
        }
    }
}

/// A value of Python as an item at this depth of a scene: dictionaries near the top become tables with headers.
pub fn to_item(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Item> {
    if let Some(entries) = value.cast::<PyDict>().ok().filter(|_| depth <= HEADERS) {
        return to_table(entries, depth).map(Item::Table);
    }
    let is_dictionary = |item: Bound<'_, PyAny>| item.is_instance_of::<PyDict>();
    match value.cast::<PyList>() {
        Ok(list) if depth == 1 && !list.is_empty() && list.iter().all(is_dictionary) => {
            let mut tables = ArrayOfTables::new();
            for item in list.iter() {
                tables.push(to_table(item.cast::<PyDict>()?, depth + 1)?);
            }
            Ok(Item::ArrayOfTables(tables))
        }
        _ => to_value(value).map(Item::Value),
    }
}

fn to_table(entries: &Bound<'_, PyDict>, depth: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in entries.iter() {
        table.insert(&key.extract::<String>()?, to_item(&value, depth + 1)?);
    }
    // Only tables inside: their headers name this one, too.
    let has_only_tables = !table.is_empty() && table.iter().all(|(_, item)| item.is_table());
    table.set_implicit(has_only_tables);
    Ok(table)
}

fn to_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // First, because a bool of Python is an int, too.
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract::<i64>()?.into());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(value.extract::<String>()?.into());
    }
    if let Ok(list) = value.cast::<PyList>() {
        let mut items = Array::new();
        for item in list.iter() {
            items.push(to_value(&item)?);
        }
        return Ok(items.into());
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        let mut table = InlineTable::new();
        for (key, value) in entries.iter() {
            table.insert(key.extract::<String>()?, to_value(&value)?);
        }
        return Ok(table.into());
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a scene has no values of the type {kind}; give a number, a text, a bool, a list or a dictionary"
    )))
}
