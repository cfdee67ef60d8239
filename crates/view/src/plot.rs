//! The tables of a run folder as charts: energies, probes, time per pass, and the passes of CPU and GPU over time.

mod columns;
mod measured;

pub use columns::{ColumnPlot, plot_columns};

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use crate::{
    ViewError,
    chart::{Bars, Chart, Curve, Panel, encode},
    picture::{check_folder, title_of},
    scale, trace,
};

/// Which charts to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charts {
    /// All charts with data.
    #[default]
    All,
    /// The energy ledger.
    Energies,
    /// Each probe.
    Probes,
    /// Time per pass.
    Profile,
    /// The passes of CPU and GPU over time, for a heterogeneous run.
    Trace,
}

/// How charts are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChartFormat {
    /// Scalable Vector Graphics; the viewer's sans-serif font.
    #[default]
    Svg,
    /// An image of 2400 pixels width.
    Png,
}

impl ChartFormat {
    /// The file extension.
    pub fn extension(self) -> &'static str {
        match self {
            ChartFormat::Svg => "svg",
            ChartFormat::Png => "png",
        }
    }
}

/// The charts of a run folder, each with a file name.
pub fn plot(run_folder: &Path, charts: Charts, format: ChartFormat) -> Result<Vec<(String, Vec<u8>)>, ViewError> {
    check_folder(run_folder)?;
    let run = title_of(run_folder);
    let wanted = |kind: Charts| charts == kind || charts == Charts::All;
    let mut files = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| files.push((format!("{name}.{}", format.extension()), bytes));
    if wanted(Charts::Energies)
        && let Some(chart) = energies_of(run_folder, &run)?
    {
        add("energies", encode(&chart, format)?);
    }
    if wanted(Charts::Probes) {
        for (name, chart) in probes_of(run_folder, &run)? {
            add(&format!("probe-{name}"), encode(&chart, format)?);
        }
    }
    let rows = if wanted(Charts::Profile) {
        seconds_of(run_folder)?
    } else {
        Vec::new()
    };
    if !rows.is_empty() {
        let title = format!("{run} · time per pass");
        add("profile", encode(&Bars { title, rows }, format)?);
    }
    let path = run_folder.join("trace.csv");
    if wanted(Charts::Trace) && path.exists() {
        let spans = trace::spans(&path)?;
        if !spans.is_empty() {
            add("trace", encode(&trace::lanes(&spans, &run), format)?);
        }
    }
    if files.is_empty() {
        Err(ViewError::NothingToPlot {
            folder: run_folder.to_path_buf(),
        })
    } else {
        Ok(files)
    }
}

/// A chart of curves of one quantity over another. `horizontal` and `vertical` are their names with units; `curves` are named lists of points.
///
/// # Errors
/// If the chart cannot be encoded.
pub fn curves(title: &str, horizontal: &str, vertical: &str, curves: &[Curve], format: ChartFormat) -> Result<Vec<u8>, ViewError> {
    let panel = Panel {
        vertical: vertical.to_owned(),
        height: 430.0,
        curves: curves.to_vec(),
        measured: Vec::new(),
    };
    let chart = Chart {
        title: title.to_owned(),
        horizontal: horizontal.to_owned(),
        panels: vec![panel],
        is_logarithmic: false,
    };
    encode(&chart, format)
}

/// The energy ledger over time; `None` if it has no rows.
pub(crate) fn energies_of(run_folder: &Path, run: &str) -> Result<Option<Chart>, ViewError> {
    let path = run_folder.join("energies.csv");
    if !path.exists() {
        return Ok(None);
    }
    let table = Table::read(&path)?;
    Ok(table.has_rows().then(|| energy_chart(table, format!("{run} · energies"))))
}

/// The probes that have rows, with their names.
pub(crate) fn probes_of(run_folder: &Path, run: &str) -> Result<Vec<(String, Chart)>, ViewError> {
    let mut charts = Vec::new();
    for path in probes(&run_folder.join("probes"))? {
        let table = Table::read(&path)?;
        if table.has_rows() {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let chart = probe_chart(table, format!("{run} · {name}"));
            charts.push((name, chart));
        }
    }
    Ok(charts)
}

/// Names, seconds and descriptions of the passes of a run; empty before the run has written them.
pub(crate) fn seconds_of(run_folder: &Path) -> Result<Vec<(String, f64, String)>, ViewError> {
    let path = run_folder.join("profile.csv");
    if path.exists() { profile_rows(&path) } else { Ok(Vec::new()) }
}

/// The probe tables, sorted by name.
fn probes(folder: &Path) -> Result<Vec<PathBuf>, ViewError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).map_err(ViewError::io(folder))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(ViewError::io(folder))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    paths.sort();
    Ok(paths)
}

/// Numbers in named columns; the first column is the time.
struct Table {
    columns: Vec<Column>,
}

#[derive(Clone)]
struct Column {
    name: String,
    unit: String,
    values: Vec<f64>,
}

impl Table {
    fn read(path: &Path) -> Result<Table, ViewError> {
        let mut columns: Vec<Column> = Vec::new();
        each_line(path, |line, cells| {
            if line == 1 {
                columns = cells.iter().map(|cell| Column::named(cell)).collect();
                return Ok(());
            }
            if cells.len() != columns.len() {
                return Err(format!("{} values where the header names {}", cells.len(), columns.len()));
            }
            for (column, cell) in columns.iter_mut().zip(cells) {
                let name = &column.name;
                column
                    .values
                    .push(cell.parse().map_err(|_| format!("{cell:?} in column {name:?} is not a number"))?);
            }
            Ok(())
        })?;
        Ok(Table { columns })
    }

    fn has_rows(&self) -> bool {
        self.columns.len() > 1 && !self.columns[0].values.is_empty()
    }

    fn take(&mut self, name: &str) -> Option<Column> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.remove(at))
    }
}

impl Column {
    fn named(header: &str) -> Column {
        let (name, unit) = header.split_once('[').unwrap_or((header, ""));
        Column {
            name: name.trim().replace('_', " "),
            unit: unit.trim_end_matches(']').trim().to_string(),
            values: Vec::new(),
        }
    }

    fn extent(&self) -> f64 {
        extent_of(self.values.iter().copied())
    }
}

/// Largest magnitude of the finite values.
fn extent_of(values: impl Iterator<Item = f64>) -> f64 {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(0.0, |extent, value| f64::max(extent, value.abs()))
}

/// Calls `use_line` with the number and the cells of each line; ignores an incomplete last line.
pub(crate) fn each_line(path: &Path, mut use_line: impl FnMut(usize, &[&str]) -> Result<(), String>) -> Result<(), ViewError> {
    let mut reader = BufReader::new(File::open(path).map_err(ViewError::io(path))?);
    let mut text = String::new();
    for line in 1.. {
        text.clear();
        reader.read_line(&mut text).map_err(ViewError::io(path))?;
        if !text.ends_with('\n') {
            break;
        }
        let cells: Vec<&str> = text.trim_end().split(',').map(str::trim).collect();
        use_line(line, &cells).map_err(|cause| ViewError::Table {
            path: path.to_path_buf(),
            line,
            cause,
        })?;
    }
    Ok(())
}

/// Columns of one unit as curves over time; non-finite values are left out.
fn panel(name: &str, times: &[f64], columns: &[Column], height: f64) -> Panel {
    let unit = columns.first().map_or("", |column| &column.unit);
    let points = |column: &Column| times.iter().copied().zip(column.values.iter().copied()).collect();
    let curves = columns.iter().map(|column| (column.name.clone(), points(column))).collect();
    panel_of((name, unit), [curves, Vec::new()], height)
}

/// Curves and measured data of one unit in a readable one; non-finite values are left out.
fn panel_of((name, unit): (&str, &str), [mut curves, mut measured]: [Vec<Curve>; 2], height: f64) -> Panel {
    let points = curves.iter().chain(&measured).flat_map(|(_, points)| points);
    let (factor, unit) = scale::readable(extent_of(points.map(|point| point.1)), unit);
    for (_, points) in curves.iter_mut().chain(&mut measured) {
        points.iter_mut().for_each(|point| point.1 *= factor);
        points.retain(|(across, value)| across.is_finite() && value.is_finite());
    }
    Panel {
        vertical: scale::with_unit(name, &unit),
        height,
        curves,
        measured,
    }
}

/// The times in a readable unit, and the name of the axis.
fn time_axis(table: &mut Table) -> (Vec<f64>, String) {
    let mut time = table.columns.remove(0);
    let (factor, unit) = scale::readable(time.extent(), &time.unit);
    time.values.iter_mut().for_each(|value| *value *= factor);
    (time.values, scale::with_unit(&time.name, &unit))
}

/// The terms of the energy ledger that are not zero throughout, and the residual on its own scale.
///
/// The gravitational potential counts from an arbitrary height and can dwarf every other term. So it is shown as its change since the start, and the
/// initial energy without it, which does not change the residual.
fn energy_chart(mut table: Table, title: String) -> Chart {
    let (times, horizontal) = time_axis(&mut table);
    let residual = table.take("residual");
    let first = |name: &str| {
        table
            .columns
            .iter()
            .find(|column| column.name == name)
            .and_then(|column| column.values.first().copied())
    };
    let offset = first("gravity").unwrap_or(0.0);
    for column in &mut table.columns {
        if matches!(column.name.as_str(), "gravity" | "initial") {
            column.values.iter_mut().for_each(|value| *value -= offset);
            column
                .name
                .push_str(if column.name == "gravity" { " (change)" } else { " (no gravity)" });
        }
    }
    table.columns.retain(|column| column.extent() > 0.0);
    let mut panels = vec![panel("energy", &times, &table.columns, 430.0)];
    panels.extend(residual.map(|residual| panel("residual", &times, &[residual], 130.0)));
    Chart {
        title,
        horizontal,
        panels,
        is_logarithmic: false,
    }
}

/// The quantity of which a column is a component: `contact` for `contact xx`, `share` for `share 3`; empty for other names.
fn whole_of(column: &Column) -> &str {
    let is_component = |word: &str| {
        let is_axis = (1..=2).contains(&word.len()) && word.chars().all(|c| matches!(c, 'x' | 'y' | 'z'));
        is_axis || word.parse::<u32>().is_ok()
    };
    match column.name.rsplit_once(' ') {
        Some((whole, component)) if is_component(component) => whole,
        _ if is_coordinate(&column.name) => "position",
        _ => "",
    }
}

/// Whether a column is a coordinate of a gauge that rides, such as `x2`.
fn is_coordinate(name: &str) -> bool {
    let number = name.strip_prefix(['x', 'y', 'z']);
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// One panel for each unit, and for each vector, tensor or distribution.
fn probe_chart(mut table: Table, title: String) -> Chart {
    let (times, horizontal) = time_axis(&mut table);
    let mut groups: Vec<Vec<Column>> = Vec::new();
    for column in table.columns {
        let fits = |group: &&mut Vec<Column>| group[0].unit == column.unit && whole_of(&group[0]) == whole_of(&column);
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(column),
            None => groups.push(vec![column]),
        }
    }
    let height: f64 = if groups.len() > 1 { 240.0 } else { 430.0 };
    let name = |group: &[Column]| match whole_of(&group[0]) {
        whole if whole.is_empty() || group.len() == 1 => group.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", "),
        whole => whole.to_owned(),
    };
    let panels = groups
        .iter()
        .map(|group| panel(&name(group), &times, group, height.max(24.0 * group.len() as f64)))
        .collect();
    Chart {
        title,
        horizontal,
        panels,
        is_logarithmic: false,
    }
}

/// One row for each pass of `pass,seconds,share,calls`.
fn profile_rows(path: &Path) -> Result<Vec<(String, f64, String)>, ViewError> {
    let mut rows = Vec::new();
    let mut total = 0.0;
    each_line(path, |line, cells| {
        if line == 1 {
            return Ok(());
        }
        let [name, seconds, ..] = cells else {
            return Err("a pass and its seconds belong here".to_string());
        };
        let seconds: f64 = seconds.parse().map_err(|_| format!("{seconds:?} is not a number of seconds"))?;
        total += seconds;
        rows.push((
            name.to_string(),
            seconds,
            cells.get(3).map_or(String::new(), |calls| format!("   ·   {calls} calls")),
        ));
        Ok(())
    })?;
    for (_, seconds, text) in &mut rows {
        let (factor, unit) = scale::readable(*seconds, "s");
        let share = if total > 0.0 { 100.0 * *seconds / total } else { 0.0 };
        *text = format!("{share:.1} %   ·   {} {unit}{text}", scale::digits(*seconds * factor, 3));
    }
    Ok(rows)
}
