//! Curves of the cases as files: a table of points and a chart of each.

use super::{Curve, Report};
use seixo_files::layer::{Disk, FileLayer, replace};
use seixo_view::{ChartFormat, ViewError, curves};
use std::io;
use std::path::{Path, PathBuf};

/// Why curves could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum CurveError {
    /// The disk refuses.
    #[error("cannot write {}: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A chart cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ViewError),
}

/// Points as a table: which line, and both coordinates with their units.
fn table(curve: &Curve) -> String {
    let [x, y] = &curve.axes;
    let rows = curve
        .lines
        .iter()
        .flat_map(|(line, points)| points.iter().map(move |(x, y)| format!("{line}, {x:.6e}, {y:.6e}\n")));
    format!("line, {x}, {y}\n{}", rows.collect::<String>())
}

/// Writes `CASE-CURVE.csv` and `CASE-CURVE.svg` for every curve of a case.
///
/// # Errors
/// If a file cannot be written or a chart not be drawn.
pub(super) fn write(folder: &Path, report: &Report) -> Result<(), CurveError> {
    let disk = |path: PathBuf, done: io::Result<()>| done.map_err(|source| CurveError::Disk { path, source });
    disk(folder.to_owned(), Disk.create_dir_all(folder))?;
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
