//! The table of a sweep: settings, state, run time and probes of each point.

use super::plan::Plan;
use super::point_process::State;
use crate::run::Record;
use crate::run::folder::PROBES;
use seixo_files::layer::{Disk, FileLayer};
use seixo_files::{FilesError, table};
use seixo_scene::quantity::number_and_unit;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Name of the table in the folder of the sweep.
pub const TABLE: &str = "sweep.csv";

/// Results of a finished point.
pub struct Results {
    /// Simulated time reached \[s\].
    time: f64,
    /// Wall time of all starts and resumes \[s\].
    pub wall_time: f64,
    /// Final value and mean over time of each column of each probe, with the names of their columns.
    probes: Vec<(String, f64)>,
}

impl Results {
    /// Reads the results of a run folder, with means from a simulated time \[s\] on.
    ///
    /// # Errors
    /// If a table of a probe cannot be read.
    pub fn read(folder: &Path, from: f64) -> Result<Results, FilesError> {
        let inside = folder.join(PROBES);
        let listed = Disk.list(&inside).map_err(|source| FilesError::Disk {
            path: inside,
            action: "list it",
            source,
        })?;
        let mut probes = Vec::new();
        for path in listed.iter().filter(|path| path.extension().is_some_and(|ending| ending == "csv")) {
            let probe = path.file_stem().unwrap_or_default().to_string_lossy();
            let (names, columns) = table::read(&Disk, path)?;
            let Some((times, columns)) = columns.split_first() else { continue };
            for (name, values) in names.iter().skip(1).zip(columns) {
                probes.push((heading(&probe, name, ""), values.last().copied().unwrap_or(f64::NAN)));
                probes.push((heading(&probe, name, "_mean"), mean(times, values, from)));
            }
        }
        let record = Record::read(&Disk, folder);
        let (time, wall_time) = record.map_or((f64::NAN, f64::NAN), |record| (record.time, record.wall_time));
        Ok(Results { time, wall_time, probes })
    }
}

/// Name of a column: `lid.force_z_mean [N]` for the mean of `force_z [N]` of the probe `lid`.
fn heading(probe: &str, column: &str, what: &str) -> String {
    match column.split_once(" [") {
        Some((name, unit)) => format!("{probe}.{name}{what} [{unit}"),
        None => format!("{probe}.{column}{what}"),
    }
}

/// Mean over time of a quantity that is linear between its lines, from the time `from` on; NaN if it has no line there. Lines without a value are left
/// out.
fn mean(times: &[f64], values: &[f64], from: f64) -> f64 {
    let lines = times.iter().copied().zip(values.iter().copied());
    let lines: Vec<(f64, f64)> = lines.filter(|(time, value)| *time >= from && value.is_finite()).collect();
    match lines[..] {
        [] => f64::NAN,
        [(_, only)] => only,
        [(first, _), .., (last, _)] => {
            let sum: f64 = lines
                .windows(2)
                .map(|pair| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0))
                .sum();
            sum / (last - first)
        }
    }
}

/// The table of all points, with the results of those that are finished.
pub fn text(plan: &Plan, states: &[State], results: &[Option<Results>]) -> String {
    let mut known = HashSet::new();
    let named = results
        .iter()
        .flatten()
        .flat_map(|point| point.probes.iter().map(|(name, _)| name.as_str()));
    let probes: Vec<&str> = named.filter(|name| known.insert(*name)).collect();
    let units: Vec<&str> = (0..plan.keys().count()).map(|k| unit_of(plan, k)).collect();

    let mut header = vec!["point".to_owned()];
    header.extend(plan.keys().zip(&units).map(|(key, unit)| {
        if unit.is_empty() {
            key.to_owned()
        } else {
            format!("{key} [{unit}]")
        }
    }));
    header.extend(["state", "time [s]", "wall_time [s]"].map(str::to_owned));
    header.extend(probes.iter().map(|name| (*name).to_owned()));
    header.push("reason".to_owned());
    let mut text = line(&header);
    for ((point, state), results) in plan.points.iter().zip(states).zip(results) {
        let mut row = vec![point.name.clone()];
        row.extend(point.settings.iter().zip(&units).map(|((_, value), unit)| {
            let digits = value.trim_end().strip_suffix(*unit).unwrap_or(value);
            digits.trim_end().to_owned()
        }));
        row.push(state.word().to_owned());
        let number = |value: f64| if value.is_nan() { String::new() } else { format!("{value:?}") };
        let of = |value: fn(&Results) -> f64| results.as_ref().map_or_else(String::new, |results| number(value(results)));
        row.extend([of(|results| results.time), of(|results| results.wall_time)]);
        let values: HashMap<&str, f64> = results
            .iter()
            .flat_map(|results| &results.probes)
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        row.extend(
            probes
                .iter()
                .map(|name| values.get(name).map_or_else(String::new, |value| number(*value))),
        );
        row.push(match state {
            State::Failed(reason) => reason.clone(),
            _ => String::new(),
        });
        text += &line(&row);
    }
    text
}

/// The unit of all values of the k-th varied key; empty if they have none, or different ones, or are no numbers.
fn unit_of(plan: &Plan, k: usize) -> &str {
    let units = plan
        .points
        .iter()
        .map(|point| number_and_unit(&point.settings[k].1).map(|(_, unit)| unit));
    let units: Option<HashSet<&str>> = units.collect();
    let units: Vec<&str> = units.into_iter().flatten().collect();
    if let [unit] = units[..] { unit } else { "" }
}

/// A line of a table in CSV.
fn line(cells: &[String]) -> String {
    let cell = |text: &String| {
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\"").replace(['\n', '\r'], " "))
        } else {
            text.clone()
        }
    };
    let cells: Vec<String> = cells.iter().map(cell).collect();
    cells.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::plan::Point;
    use super::*;

    #[test]
    fn the_mean_of_a_uniform_motion_is_its_middle_however_it_is_sampled() {
        let times = [0.0, 0.1, 0.2, 0.7, 2.0];
        let places = times.map(|time| 3.0 + 2.0 * time);
        assert!((mean(&times, &places, 0.0) - 5.0).abs() < 1e-14);
        assert!((mean(&times, &places, 0.2) - 5.2).abs() < 1e-14);
        // The grain of a probe that has left has no position.
        let mut gone = places;
        gone[4] = f64::NAN;
        assert!((mean(&times, &gone, 0.0) - 3.7).abs() < 1e-14);
        assert_eq!(mean(&times, &places, 2.0), 7.0);
        assert!(mean(&times, &places, 2.1).is_nan());
    }

    #[test]
    fn the_table_has_settings_results_and_words() {
        let point = |name: &str, radius: &str| Point {
            name: name.to_owned(),
            settings: vec![("grains.a.radius".to_owned(), radius.to_owned())],
        };
        let plan = Plan {
            version: String::new(),
            scene: String::new(),
            digest: String::new(),
            settings: Vec::new(),
            points: vec![point("p", "1 mm"), point("q", "2 mm")],
        };
        let results = Results {
            time: 0.5,
            wall_time: 2.0,
            probes: vec![
                (heading("lid", "force_z [N]", "_mean"), 0.25),
                (heading("lid", "count", ""), f64::NAN),
            ],
        };
        let states = [State::Finished, State::Failed("too \"large\", by far\nof all".to_owned())];
        assert_eq!(
            text(&plan, &states, &[Some(results), None]),
            "point,grains.a.radius [mm],state,time [s],wall_time [s],lid.force_z_mean [N],lid.count,reason\n\
             p,1,finished,0.5,2.0,0.25,,\n\
             q,2,failed,,,,,\"too \"\"large\"\", by far of all\"\n"
        );
    }
}
