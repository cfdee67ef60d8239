//! Writes the results of cases: a table of the rows, and for each curve a table of points and a chart.

use super::{Curve, Report, Row};
use seixo_files::layer::{Disk, FileLayer, replace};
use seixo_view::{ChartFormat, ViewError, curves};
use std::io;
use std::path::{Path, PathBuf};

/// Reason why curves could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum CurveError {
    /// A file operation failed.
    #[error("cannot write {}: {source}", path.display())]
    Disk {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A chart cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ViewError),
}

/// Formats the points of a curve as a table: name of the line, and both coordinates with their units.
fn table(curve: &Curve) -> String {
    let [x, y] = &curve.axes;
    let rows = curve
        .lines
        .iter()
        .flat_map(|(line, points)| points.iter().map(move |(x, y)| format!("{line}, {x:.6e}, {y:.6e}\n")));
    format!("line, {x}, {y}\n{}", rows.collect::<String>())
}

/// Formats rows as a table.
fn rows(report: &Report) -> String {
    let row = |row: &Row| {
        let result = if row.passes() { "pass" } else { "FAIL" };
        let Row {
            name,
            measured,
            expected,
            tolerance,
            ..
        } = row;
        format!("\"{name}\", {measured:.6e}, {expected:.6e}, {tolerance:.2e}, {result}\n")
    };
    let lines: String = report.rows.iter().map(row).collect();
    format!("quantity, measured, expected, tolerance, verdict\n{lines}")
}

/// Writes `CASE-rows.csv`, and `CASE-CURVE.csv` and `CASE-CURVE.svg` for each curve of a case.
///
/// # Errors
/// If a file cannot be written or a chart cannot be drawn.
pub(super) fn write(folder: &Path, report: &Report) -> Result<(), CurveError> {
    let disk = |path: PathBuf, done: io::Result<()>| done.map_err(|source| CurveError::Disk { path, source });
    disk(folder.to_owned(), Disk.create_dir_all(folder))?;
    let path = folder.join(format!("{}-rows.csv", report.case));
    disk(path.clone(), replace(&Disk, &path, rows(report).as_bytes()))?;
    for curve in &report.curves {
        let stem = format!("{}-{}", report.case, curve.name);
        let [x, y] = &curve.axes;
        let chart = curves(&format!("{} · {}", report.case, curve.name), x, y, &curve.lines, ChartFormat::Svg)?;
        for (ending, bytes) in [("csv", table(curve).into_bytes()), ("svg", chart)] {
            let path = folder.join(format!("{stem}.{ending}"));
            disk(path.clone(), replace(&Disk, &path, &bytes))?;
        }
    }
    Ok(())
}
