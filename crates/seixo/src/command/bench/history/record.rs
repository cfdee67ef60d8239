//! What adds measurements to a history: the options, and where and when a measurement is made.

use super::super::Measured;
use super::row::{self, Row, cell};
use crate::command::info::processor;
use crate::command::{Done, Failure};
use clap::Args;
use std::path::PathBuf;
use std::time::SystemTime;

/// Environment variable with the commit of the program.
const COMMIT: &str = "SEIXO_COMMIT";

/// Options that add measurements to a history.
#[derive(Args, Clone, Debug, Default)]
pub struct RecordArguments {
    /// Add a row for each measurement to this table (CSV), for `seixo bench history`; it is created if it does not exist
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Commit of this program, for --record; default: the environment variable SEIXO_COMMIT
    #[arg(long, value_name = "HASH", requires = "record")]
    commit: Option<String>,
    /// Remark for the rows of --record, such as what else ran on the machine
    #[arg(long, value_name = "TEXT", requires = "record")]
    note: Option<String>,
}

/// A table that measurements are added to.
pub struct Recorder {
    file: PathBuf,
    date: String,
    commit: String,
    machine: String,
    note: String,
}

impl RecordArguments {
    /// Checks the table and finds what its rows need before anything is measured; `None` without `--record`.
    ///
    /// # Errors
    /// If the commit is missing, or the file is another table or in a folder that does not exist.
    pub fn recorder(&self) -> Result<Option<Recorder>, Failure> {
        let Some(file) = self.record.clone() else {
            return Ok(None);
        };
        let named = self.commit.clone().or_else(|| std::env::var(COMMIT).ok());
        let commit = cell(&named.unwrap_or_default());
        if commit.is_empty() {
            let text = format!("--record needs the commit of this program: add --commit $(git rev-parse --short HEAD), or set {COMMIT}");
            return Err(Failure::Input(text));
        }
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            return Err(Failure::Input(format!(
                "--record {}: there is no folder {}; create it first",
                file.display(),
                folder.display()
            )));
        }
        row::read(&file)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Some(Recorder {
            file,
            date: date_of(now.as_secs()),
            commit,
            machine: machine(),
            note: self.note.clone().unwrap_or_default(),
        }))
    }
}

impl Recorder {
    /// Adds a measurement, made with these options.
    pub fn add(&self, measured: &Measured, options: String) -> Done {
        let row = Row {
            date: self.date.clone(),
            commit: self.commit.clone(),
            machine: self.machine.clone(),
            device: measured.device.clone(),
            threads: measured.threads,
            case: measured.case.to_owned(),
            options,
            precision: measured.precision.to_owned(),
            particles: measured.particles,
            particle_steps_per_second: measured.particle_steps_per_second,
            slowest: measured.slowest,
            fastest: measured.fastest,
            bytes_per_particle: measured.bytes_per_particle,
            note: self.note.clone(),
        };
        row::append(&self.file, &row)
    }
}

/// Describes this machine by its cores and its processor.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{cores} core{} of {processor}", if cores == 1 { "" } else { "s" })
}

/// Returns the day of a time in seconds since 1970, UTC, as `2026-11-29`.
fn date_of(seconds: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut days = seconds / 86_400;
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar_are_found() {
        // From `date --utc --date @SECONDS +%F`.
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (1_735_689_600, "2025-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date_of(seconds), day);
        }
    }
}
