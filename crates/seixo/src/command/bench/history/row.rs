//! A row of the table of measurements, and the file that holds it.

use crate::command::{Done, Failure, write_file};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;

/// Names of the columns, with units.
const HEADER: &str = "date,commit,machine,device,threads,case,options,precision,particles,\
                      particle-steps [1/s],slowest [1/s],fastest [1/s],bytes a particle,note";
/// What to do about a file that cannot be read.
const REMEDY: &str = "restore it, or name another file";

/// Measurement of a case at a commit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Day of the measurement, UTC.
    pub date: String,
    pub commit: String,
    /// Number of cores and model of the processor.
    pub machine: String,
    /// "CPU", or the name of the GPU.
    pub device: String,
    pub threads: usize,
    pub case: String,
    /// Options of the command line that change the work.
    pub options: String,
    pub precision: String,
    pub particles: usize,
    /// Median, slowest and fastest of the measurements \[1/s\].
    pub particle_steps_per_second: f64,
    pub slowest: f64,
    pub fastest: f64,
    pub bytes_per_particle: f64,
    pub note: String,
}

impl Row {
    /// Whether both rows measure the same work on the same machine.
    pub fn is_comparable(&self, other: &Row) -> bool {
        self.work() == other.work()
    }

    fn work(&self) -> ([&str; 5], usize, usize) {
        let names = [&self.machine, &self.device, &self.case, &self.options, &self.precision];
        (names.map(String::as_str), self.threads, self.particles)
    }

    /// Formats the row as a line of the table.
    fn line(&self) -> String {
        let cells = [
            self.date.clone(),
            self.commit.clone(),
            self.machine.clone(),
            self.device.clone(),
            self.threads.to_string(),
            self.case.clone(),
            self.options.clone(),
            self.precision.clone(),
            self.particles.to_string(),
            format!("{:.0}", self.particle_steps_per_second),
            format!("{:.0}", self.slowest),
            format!("{:.0}", self.fastest),
            format!("{:.1}", self.bytes_per_particle),
            self.note.clone(),
        ];
        cells.map(|text| cell(&text)).join(",")
    }

    /// Reads a line of the table; `None` if it is no row.
    fn of(line: &str) -> Option<Row> {
        let cells: Vec<&str> = line.split(',').collect();
        let [
            date,
            commit,
            machine,
            device,
            threads,
            case,
            options,
            precision,
            particles,
            median,
            slowest,
            fastest,
            bytes,
            note,
        ] = cells[..]
        else {
            return None;
        };
        let rate = |text: &str| text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
        Some(Row {
            date: date.to_owned(),
            commit: commit.to_owned(),
            machine: machine.to_owned(),
            device: device.to_owned(),
            threads: threads.parse().ok()?,
            case: case.to_owned(),
            options: options.to_owned(),
            precision: precision.to_owned(),
            particles: particles.parse().ok()?,
            particle_steps_per_second: rate(median)?,
            slowest: rate(slowest)?,
            fastest: rate(fastest)?,
            bytes_per_particle: rate(bytes)?,
            note: note.to_owned(),
        })
    }
}

/// Makes a text fit into a cell without quotes, so that any program, and a reader of a diff, can read the table.
pub fn cell(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| match c {
            ',' => ';',
            '"' => '\'',
            _ if c.is_control() => ' ',
            _ => c,
        })
        .collect();
    text.trim().to_owned()
}

/// Returns the text of a file; nothing if it does not exist.
fn text_of(path: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| Failure::Input(format!("{}: cannot read it: {error}; {REMEDY}", path.display()))),
    }
}

/// Reads all rows of a table; none if there is no such file.
///
/// # Errors
/// If the file cannot be read, or is another table.
pub fn read(path: &Path) -> Result<Vec<Row>, Failure> {
    let text = text_of(path)?;
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_some_and(|(_, header)| header != HEADER) {
        return Err(Failure::Input(format!(
            "{}: is no table of `seixo bench --record`: its first line is not \"{HEADER}\"; {REMEDY}",
            path.display()
        )));
    }
    let wrong = |number: usize| {
        Failure::Input(format!(
            "{}, line {number}: is no row of {} cells with positive rates; correct or delete it",
            path.display(),
            HEADER.split(',').count()
        ))
    };
    lines.map(|(number, line)| Row::of(line).ok_or_else(|| wrong(number))).collect()
}

/// Adds a row to a table, which is created if it does not exist.
///
/// # Errors
/// If the file cannot be read or written.
pub fn append(path: &Path, row: &Row) -> Done {
    let mut text = text_of(path)?;
    if text.is_empty() {
        text = HEADER.to_owned();
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text += &row.line();
    text.push('\n');
    write_file(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_it_was_written() {
        let row = Row {
            date: "2026-11-29".to_owned(),
            commit: "abc1234".to_owned(),
            machine: "2 cores of a processor".to_owned(),
            device: "CPU".to_owned(),
            threads: 2,
            case: "bed".to_owned(),
            options: "--solid-fraction 0.6".to_owned(),
            precision: "f64".to_owned(),
            particles: 1000,
            particle_steps_per_second: 17_000_000.0,
            slowest: 16_000_000.0,
            fastest: 18_000_000.0,
            bytes_per_particle: 523.5,
            note: String::new(),
        };
        assert_eq!(Row::of(&row.line()), Some(row.clone()));
        assert_eq!(row.line().split(',').count(), HEADER.split(',').count());
        let remarked = Row {
            note: "quiet, \"cold\"\nmachine ".to_owned(),
            ..row.clone()
        };
        assert_eq!(
            Row::of(&remarked.line()).map(|read| read.note).as_deref(),
            Some("quiet; 'cold' machine")
        );
        assert!(row.is_comparable(&remarked));
        let more = Row { threads: 4, ..row.clone() };
        assert!(!row.is_comparable(&more));
        assert_eq!(Row::of("2026-11-29,abc1234"), None);
    }
}
