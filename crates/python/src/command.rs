//! The command line.

use pyo3::prelude::*;
use seixo::command::{self, Host};
use seixo::sweep::Program;
use std::ffi::OsString;
use std::path::PathBuf;

/// Signals, besides that of Ctrl-C, that the command line reacts to.
const SIGNALS: [&str; 3] = ["SIGTERM", "SIGHUP", "SIGUSR1"];

/// Runs a command line, its first word being the name of the program, and returns the exit code.
#[pyfunction]
#[pyo3(name = "main")]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let host = Host {
        program: this_program(py)?,
        default_signals: default_signals(py)?,
    };
    Ok(py.detach(|| command::main(arguments, &host)))
}

/// Starts processes of the command line with this interpreter; `None` where Python is part of another program.
fn this_program(py: Python<'_>) -> PyResult<Option<Program>> {
    let path: Option<PathBuf> = py.import("sys")?.getattr("executable")?.extract()?;
    let path = path.filter(|path| !path.as_os_str().is_empty());
    Ok(path.map(|path| Program::new(path, vec!["-m".into(), "seixo".into()])))
}

/// Signals that Python leaves to the system.
fn default_signals(py: Python<'_>) -> PyResult<Vec<i32>> {
    let signal = py.import("signal")?;
    let default = signal.getattr("SIG_DFL")?;
    let mut found = Vec::new();
    for name in SIGNALS {
        let number = signal.getattr(name)?;
        if signal.call_method1("getsignal", (&number,))?.eq(&default)? {
            found.push(number.extract()?);
        }
    }
    Ok(found)
}

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_command, module)?)
}
