//! Columns of the tables of one or several runs over another column, with measured data.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use super::{ChartFormat, Column, Table, extent_of, measured::Measured, panel_of, probes};
use crate::{
    ViewError,
    chart::{Chart, Curve, encode},
    picture::{check_folder, name_of, title_of},
    scale,
};

/// Columns of tables of runs, over another column.
///
/// A column is given by its name, such as `strain_zz`, or by table and name, such as `core.strain_zz` or `energies.kinetic`; tables are the energies
/// and the probes.
#[derive(Clone, Debug, Default)]
pub struct ColumnPlot {
    /// Folders of the runs.
    pub runs: Vec<PathBuf>,
    /// Column of the horizontal axis; `None` = the time.
    pub horizontal: Option<String>,
    /// Columns of the vertical axis; a panel for each unit.
    pub vertical: Vec<String>,
    /// Files with measured data.
    pub measured: Vec<PathBuf>,
    /// Columns of the runs, each with the name of the corresponding column of measured data. The other columns have the same name in both.
    pub mapped: Vec<(String, String)>,
}

/// Draws columns of tables of runs over another column. `factor` gives what one of the first unit is in the second, if they have the same dimension;
/// it converts measured data.
///
/// # Errors
/// If a column does not exist or is in several tables, if columns have no numbers in common rows, or if measured data cannot be read or converted.
pub fn plot_columns(plot: &ColumnPlot, factor: impl Fn(&str, &str) -> Option<f64>, format: ChartFormat) -> Result<Vec<u8>, ViewError> {
    encode(&chart_of(plot, factor)?, format)
}

/// Curves and measured data of one unit.
struct Group {
    /// Names of the columns, each once.
    names: Vec<String>,
    unit: String,
    curves: Vec<Curve>,
    measured: Vec<Curve>,
}

/// The horizontal axis.
struct Axis {
    name: String,
    unit: String,
}

fn chart_of(plot: &ColumnPlot, factor: impl Fn(&str, &str) -> Option<f64>) -> Result<Chart, ViewError> {
    let labels = labels(&plot.runs);
    let (mut axis, mut groups): (Option<Axis>, Vec<Group>) = (None, Vec::new());
    for (run, label) in plot.runs.iter().zip(&labels) {
        for key in &plot.vertical {
            let [horizontal, vertical] = pair(run, plot.horizontal.as_deref(), key)?;
            let axis = axis.get_or_insert_with(|| Axis {
                name: horizontal.name.clone(),
                unit: horizontal.unit.clone(),
            });
            if axis.unit != horizontal.unit {
                return Err(ViewError::MixedUnits {
                    column: horizontal.name,
                    units: [axis.unit.clone(), horizontal.unit],
                });
            }
            let name = match (plot.runs.len(), plot.vertical.len()) {
                (1, _) => vertical.name.clone(),
                (_, 1) => label.clone(),
                _ => format!("{label} · {}", vertical.name),
            };
            let points = points(&horizontal.values, &vertical.values);
            if points.is_empty() {
                return Err(ViewError::NoPoints {
                    path: run.clone(),
                    vertical: vertical.name,
                    horizontal: horizontal.name,
                });
            }
            let group = group_of(&mut groups, vertical);
            group.curves.push((name, points));
        }
    }
    let Some(axis) = axis else {
        return Err(ViewError::NothingToPlot {
            folder: plot.runs.first().cloned().unwrap_or_default(),
        });
    };
    for path in &plot.measured {
        add_measured(plot, path, &axis, &mut groups, &factor)?;
    }
    Ok(chart(plot, axis, groups))
}

/// The group with the unit of a column, which is new for a new unit. Notes the name of the column.
fn group_of(groups: &mut Vec<Group>, column: Column) -> &mut Group {
    let known = groups.iter().position(|group| group.unit == column.unit);
    let index = known.unwrap_or_else(|| {
        groups.push(Group {
            names: Vec::new(),
            unit: column.unit,
            curves: Vec::new(),
            measured: Vec::new(),
        });
        groups.len() - 1
    });
    let group = &mut groups[index];
    if !group.names.contains(&column.name) {
        group.names.push(column.name);
    }
    group
}

/// Points of two columns; rows without both numbers are left out.
fn points(across: &[f64], up: &[f64]) -> Vec<(f64, f64)> {
    let rows = across.iter().copied().zip(up.iter().copied());
    rows.filter(|(across, up)| across.is_finite() && up.is_finite()).collect()
}

/// Adds the measured data of a file to the groups. A file may lack some of the columns of the vertical axis, but not all.
fn add_measured(
    plot: &ColumnPlot,
    path: &Path,
    axis: &Axis,
    groups: &mut [Group],
    factor: impl Fn(&str, &str) -> Option<f64>,
) -> Result<(), ViewError> {
    let measured = Measured::read(path)?;
    let named = |key: &str| {
        let mapped = plot.mapped.iter().find(|(of_run, _)| of_run == key);
        mapped.map_or_else(|| bare(key).to_owned(), |(_, of_file)| of_file.clone())
    };
    let across = measured.values(&named(plot.horizontal.as_deref().unwrap_or(TIME)), &axis.unit, &factor)?;
    let is_mapped = |key: &str| plot.mapped.iter().any(|(of_run, _)| of_run == key);
    let has_any = plot.vertical.iter().any(|key| measured.has(&named(key)));
    for key in &plot.vertical {
        let column = named(key);
        if has_any && !is_mapped(key) && !measured.has(&column) {
            continue;
        }
        let spelled = bare(key).replace('_', " ");
        let Some(group) = groups
            .iter_mut()
            .find(|group| group.names.iter().any(|name| is_named(name, &spelled)))
        else {
            continue;
        };
        let found = points(&across, &measured.values(&column, &group.unit, &factor)?);
        if found.is_empty() {
            return Err(ViewError::NoPoints {
                path: path.to_owned(),
                vertical: column,
                horizontal: named(plot.horizontal.as_deref().unwrap_or(TIME)),
            });
        }
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = if plot.vertical.len() == 1 {
            file.into_owned()
        } else {
            format!("{file} · {column}")
        };
        group.measured.push((name, found));
    }
    Ok(())
}

/// Name of the column of times, the first one of every table.
const TIME: &str = "time";

/// A panel for each unit.
fn chart(plot: &ColumnPlot, axis: Axis, mut groups: Vec<Group>) -> Chart {
    let curves = groups.iter().flat_map(|group| group.curves.iter().chain(&group.measured));
    let places = curves.flat_map(|(_, points)| points).map(|point| point.0);
    let (factor, unit) = scale::readable(extent_of(places), &axis.unit);
    for group in &mut groups {
        let points = group.curves.iter_mut().chain(&mut group.measured).flat_map(|(_, points)| points);
        points.for_each(|point| point.0 *= factor);
    }
    let names: Vec<String> = groups.iter().flat_map(|group| group.names.clone()).collect();
    let what = format!("{} over {}", names.join(", "), axis.name);
    let titles: Vec<String> = plot.runs.iter().map(|run| title_of(run)).collect();
    let is_one = titles.iter().all(|title| *title == titles[0]);
    let height: f64 = if groups.len() > 1 { 240.0 } else { 430.0 };
    let panels = groups.into_iter().map(|group| {
        let count = group.curves.len() + group.measured.len();
        let name = group.names.join(", ");
        panel_of(
            (&name, &group.unit),
            [group.curves, group.measured],
            height.max(24.0 * count as f64),
        )
    });
    Chart {
        title: if is_one { format!("{} · {what}", titles[0]) } else { what },
        horizontal: scale::with_unit(&axis.name, &unit),
        panels: panels.collect(),
        is_logarithmic: false,
    }
}

/// Names of the run folders, or their paths if names repeat.
fn labels(runs: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = runs.iter().map(|run| name_of(run)).collect();
    let is_once = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    if names.iter().all(is_once) {
        names
    } else {
        runs.iter().map(|run| run.display().to_string()).collect()
    }
}

/// A name of a column without that of its table.
fn bare(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

/// Whether a column has this name. A gauge may be named without its place, as in `height1 (0.04 0)`.
fn is_named(column: &str, name: &str) -> bool {
    column == name || column.split_once(" (").is_some_and(|(bare, _)| bare == name)
}

/// The tables of energies and probes of a run, with their names.
fn tables(run: &Path) -> Result<Vec<(String, PathBuf)>, ViewError> {
    check_folder(run)?;
    let energies = Some(run.join("energies.csv")).filter(|path| path.exists());
    let paths = energies.into_iter().chain(probes(&run.join("probes"))?);
    let named = paths.map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path));
    let tables: Vec<(String, PathBuf)> = named.collect();
    if tables.is_empty() {
        return Err(ViewError::NothingToPlot { folder: run.to_owned() });
    }
    Ok(tables)
}

/// The columns of a table without their values.
fn header(path: &Path) -> Result<Vec<Column>, ViewError> {
    let mut text = String::new();
    let mut reader = BufReader::new(File::open(path).map_err(ViewError::io(path))?);
    reader.read_line(&mut text).map_err(ViewError::io(path))?;
    Ok(text.trim_end().split(',').map(|cell| Column::named(cell.trim())).collect())
}

/// Table and name of a column. Of several tables with such a column, the one `beside` is meant.
fn place_of(run: &Path, key: &str, beside: Option<&Path>) -> Result<(PathBuf, String), ViewError> {
    let (mut found, mut known) = (Vec::new(), Vec::new());
    let short = key.strip_prefix("probe.").unwrap_or(key);
    for (table, path) in tables(run)? {
        let columns = header(&path)?;
        let of_table = short.strip_prefix(table.as_str()).and_then(|rest| rest.strip_prefix('.'));
        let wanted = of_table.unwrap_or(short).replace('_', " ");
        let names: Vec<String> = columns.iter().map(|column| column.name.replace(' ', "_")).collect();
        known.push(format!("{table}: {}", names.join(", ")));
        let mut names = columns.into_iter().map(|column| column.name);
        let Some(column) = names.find(|name| is_named(name, &wanted)) else {
            continue;
        };
        if beside == Some(&*path) {
            return Ok((path, column));
        }
        found.push((table, path, column));
    }
    match found.len() {
        0 => Err(ViewError::UnknownColumn {
            folder: run.to_owned(),
            column: key.to_owned(),
            known,
        }),
        1 => {
            let (_, path, wanted) = found.remove(0);
            Ok((path, wanted))
        }
        _ => Err(ViewError::AmbiguousColumn {
            folder: run.to_owned(),
            column: key.to_owned(),
            tables: found.into_iter().map(|(table, ..)| table).collect(),
        }),
    }
}

/// Two columns of a run, row by row. If they are of different tables, the horizontal one is interpolated at the times of the vertical one.
fn pair(run: &Path, horizontal: Option<&str>, vertical: &str) -> Result<[Column; 2], ViewError> {
    let (path, name) = place_of(run, vertical, None)?;
    let mut table = Table::read(&path)?;
    let no_column = || ViewError::NothingToPlot { folder: run.to_owned() };
    let up = table
        .columns
        .iter()
        .find(|column| column.name == name)
        .cloned()
        .ok_or_else(no_column)?;
    let Some(key) = horizontal else {
        return Ok([table.columns.remove(0), up]);
    };
    let (other, name) = place_of(run, key, Some(&path))?;
    if other == path {
        let across = table.take(&name).ok_or_else(no_column)?;
        return Ok([across, up]);
    }
    let mut other = Table::read(&other)?;
    let times = other.columns.first().map_or_else(Vec::new, |column| column.values.clone());
    let mut across = other.take(&name).ok_or_else(no_column)?;
    across.values = table.columns[0]
        .values
        .iter()
        .map(|&time| at_time(&times, &across.values, time))
        .collect();
    Ok([across, up])
}

/// The value at a time, interpolated linearly between rows; NaN before the first and after the last row.
fn at_time(times: &[f64], values: &[f64], time: f64) -> f64 {
    let after = times.partition_point(|&row| row < time);
    match (after.checked_sub(1), times.get(after)) {
        (_, Some(&next)) if next == time => values[after],
        (Some(before), Some(&next)) => {
            let share = (time - times[before]) / (next - times[before]);
            values[before] + share * (values[after] - values[before])
        }
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Folder of a compression test with this stiffness \[Pa\]: a probe of strains, and one of stresses with half as many rows.
    fn run(parent: &Path, name: &str, stiffness: f64) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir_all(folder.join("probes")).unwrap();
        let rows = |every: usize, value: &dyn Fn(f64) -> String| -> String {
            let times = (0..=20).step_by(every).map(|k| f64::from(k) * 0.1);
            times.map(|time| format!("{time},{}\n", value(time))).collect()
        };
        let strain = |time: f64| 0.01 * time;
        let strains = rows(1, &|time| strain(time).to_string());
        fs::write(
            folder.join("probes/sample.csv"),
            format!("time [s],strain_zz [-]\n{strains}2.1,0.0"),
        )
        .unwrap();
        let stresses = rows(2, &|time| {
            format!("{},{},7", stiffness * strain(time), 0.1 * stiffness * strain(time))
        });
        fs::write(
            folder.join("probes/core.csv"),
            format!("time [s],contact_zz [Pa],contact_xx [Pa],contacts\n{stresses}"),
        )
        .unwrap();
        fs::write(folder.join("energies.csv"), "time [s],kinetic [J]\n0,1\n1,2\n").unwrap();
        folder
    }

    fn over_strain(runs: &[PathBuf], vertical: &[&str]) -> ColumnPlot {
        ColumnPlot {
            runs: runs.to_vec(),
            horizontal: Some("strain_zz".to_owned()),
            vertical: vertical.iter().map(|&key| key.to_owned()).collect(),
            ..ColumnPlot::default()
        }
    }

    fn factor(from: &str, to: &str) -> Option<f64> {
        match (from, to) {
            ("kPa", "Pa") => Some(1e3),
            ("%", "-") => Some(1e-2),
            _ => None,
        }
    }

    /// Slope of every step of a curve.
    fn slopes((_, points): &Curve) -> Vec<f64> {
        points
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0))
            .collect()
    }

    #[test]
    fn stress_over_strain_has_the_stiffness_of_each_run_as_its_slope() {
        let parent = tempfile::tempdir().unwrap();
        let runs = [("soft.out", 1e6), ("stiff.out", 4e6)].map(|(name, stiffness)| run(parent.path(), name, stiffness));
        let chart = chart_of(&over_strain(&runs, &["contact_zz"]), factor).unwrap();
        let [panel] = &chart.panels[..] else { panic!("one panel") };
        let names: Vec<&str> = panel.curves.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["soft", "stiff"]);
        assert_eq!(
            (panel.vertical.as_str(), chart.horizontal.as_str()),
            ("contact zz [kPa]", "strain zz")
        );
        for (curve, stiffness) in panel.curves.iter().zip([1e3, 4e3]) {
            // Stresses have half as many rows as strains.
            assert_eq!(curve.1.len(), 11);
            assert!(
                slopes(curve).iter().all(|slope| (slope / stiffness - 1.0).abs() < 1e-9),
                "{curve:?}"
            );
        }
        // The other way round, strains are drawn at their own times, and stresses are interpolated between theirs.
        let turned = ColumnPlot {
            horizontal: Some("core.contact_zz".to_owned()),
            ..over_strain(&runs[..1], &["sample.strain_zz"])
        };
        let chart = chart_of(&turned, factor).unwrap();
        let curve = &chart.panels[0].curves[0];
        assert_eq!(curve.1.len(), 21);
        assert!(slopes(curve).iter().all(|slope| (slope * 1e3 - 1.0).abs() < 1e-9), "{curve:?}");
    }

    #[test]
    fn measured_points_lie_on_the_curve_that_they_confirm() {
        let parent = tempfile::tempdir().unwrap();
        let runs = [run(parent.path(), "soft.out", 1e6)];
        let file = parent.path().join("laboratory.csv");
        fs::write(&file, "eps [%];Axial stress (kPa);note\n0,5;5,0;ok\n1,5;15,0;ok\n").unwrap();
        let plot = ColumnPlot {
            measured: vec![file.clone()],
            mapped: vec![
                ("strain_zz".to_owned(), "eps".to_owned()),
                ("core.contact_zz".to_owned(), "axial stress".to_owned()),
            ],
            ..over_strain(&runs, &["core.contact_zz"])
        };
        let panel = &chart_of(&plot, factor).unwrap().panels[0];
        let [(name, points)] = &panel.measured[..] else {
            panic!("one file")
        };
        assert_eq!((name.as_str(), points.len()), ("laboratory", 2));
        for (strain, stress) in points {
            assert!((stress / (1e3 * strain) - 1.0).abs() < 1e-9, "{strain} {stress}");
        }
        let svg = plot_columns(&plot, factor, ChartFormat::Svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (1, 2));

        let unmapped = ColumnPlot {
            mapped: Vec::new(),
            ..plot.clone()
        };
        let message = chart_of(&unmapped, factor).err().unwrap().to_string();
        assert!(
            message.contains("\"strain_zz\"") && message.contains("eps") && message.contains("Axial stress"),
            "{message}"
        );
    }

    #[test]
    fn columns_of_one_unit_share_a_panel_and_others_have_their_own() {
        let parent = tempfile::tempdir().unwrap();
        let runs = [run(parent.path(), "soft.out", 1e6)];
        let plot = ColumnPlot {
            horizontal: None,
            ..over_strain(&runs, &["contact_zz", "energies.kinetic", "contact_xx"])
        };
        let chart = chart_of(&plot, factor).unwrap();
        let verticals: Vec<&str> = chart.panels.iter().map(|panel| panel.vertical.as_str()).collect();
        assert_eq!(verticals, ["contact zz, contact xx [kPa]", "kinetic [J]"]);
        assert_eq!(chart.title, "soft · contact zz, contact xx, kinetic over time");
        assert_eq!(chart.horizontal, "time [s]");
    }

    #[test]
    fn a_gauge_needs_no_place_in_its_name() {
        let parent = tempfile::tempdir().unwrap();
        let runs = [run(parent.path(), "soft.out", 1e6)];
        let table = "time [s],height1 (0.04 0) [m],height2 (0.9 0) [m]\n0,1,2\n1,3,5\n";
        fs::write(runs[0].join("probes/surface.csv"), table).unwrap();
        let file = parent.path().join("tank.csv");
        fs::write(&file, "time [s],height2 [m]\n0.5,3.5\n").unwrap();
        let plot = ColumnPlot {
            horizontal: None,
            measured: vec![file],
            ..over_strain(&runs, &["height2"])
        };
        let panel = &chart_of(&plot, factor).unwrap().panels[0];
        assert_eq!(panel.curves[0].1, [(0.0, 2.0), (1.0, 5.0)]);
        assert_eq!(panel.measured[0].1, [(0.5, 3.5)]);
    }

    #[test]
    fn a_column_that_is_not_there_or_not_clear_is_refused_with_those_that_are() {
        let parent = tempfile::tempdir().unwrap();
        let folder = run(parent.path(), "soft.out", 1e6);
        fs::copy(folder.join("probes/core.csv"), folder.join("probes/rim.csv")).unwrap();
        let message = |horizontal: &str, vertical: &str| {
            let plot = ColumnPlot {
                horizontal: Some(horizontal.to_owned()),
                ..over_strain(std::slice::from_ref(&folder), &[vertical])
            };
            chart_of(&plot, factor).err().unwrap().to_string()
        };
        for (horizontal, vertical, reported) in [
            ("strain_zz", "sigma_zz", &["\"sigma_zz\"", "core: time, contact_zz"][..]),
            ("strain_zz", "contact_zz", &["core, rim", "core.contact_zz"]),
            ("strain_xx", "core.contact_zz", &["\"strain_xx\"", "sample: time, strain_zz"]),
            ("strain_zz", "rim.strain_zz", &["\"rim.strain_zz\""]),
        ] {
            let message = message(horizontal, vertical);
            assert!(
                reported.iter().all(|phrase| message.contains(phrase)) && message.contains("soft.out"),
                "{horizontal} {vertical}: {message}"
            );
        }
        fs::write(folder.join("probes/core.csv"), "time [s],pressure [Pa]\n5,1\n6,2\n").unwrap();
        let message = message("strain_zz", "pressure");
        assert!(message.contains("pressure") && message.contains("strain zz"), "{message}");
    }
}
