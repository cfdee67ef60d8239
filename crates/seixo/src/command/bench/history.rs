//! `seixo bench history`: the newest measurement of each case and machine, relative to those before.

mod record;
mod row;

pub use record::{RecordArguments, Recorder};

use super::case::Case;
use crate::command::{Done, Failure};
use crate::terminal;
use clap::Args;
use row::Row;
use serde::Serialize;
use std::path::PathBuf;

/// Compare the newest measurements of a history with those before
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench bed --threads 1,2 --record docs/evidence/history.csv --commit $(git rev-parse --short HEAD)
                                               measure, and add a row for each number of threads
  seixo bench history                          compare the newest rows of docs/evidence/history.csv
  seixo bench history mine.csv --case bed,lattice --json

Rows are compared if machine, device, precision, threads, case, number of particles and all options that change the work are the same.
For each such series, the newest row is compared with the one before and with the fastest of all before. A ratio below 1 is a loss.
A loss is named as such only if the fastest repeat of the newest row is slower than the slowest repeat of the other. On a shared
machine, even that can be due to other work: measure both commits in turns before you believe it.")]
pub struct HistoryArguments {
    /// Table that `seixo bench --record` wrote
    #[arg(default_value = "docs/evidence/history.csv")]
    file: PathBuf,
    /// Cases to compare, separated by commas; default: all
    #[arg(long = "case", value_name = "CASE", value_enum, value_delimiter = ',')]
    cases: Vec<Case>,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// The newest measurement of a series, and earlier ones.
#[derive(Debug, Serialize)]
struct Compared<'a> {
    newest: &'a Row,
    /// Number of measurements of the series.
    count: usize,
    before: Option<Earlier<'a>>,
    best: Option<Earlier<'a>>,
}

/// An earlier measurement of a series.
#[derive(Debug, Serialize)]
struct Earlier<'a> {
    row: &'a Row,
    /// Median of the newest measurement over the median of this one.
    ratio: f64,
    /// Whether every repeat of the newest measurement is slower than every repeat of this one.
    is_loss: bool,
}

/// Prints the comparison.
pub fn history(arguments: &HistoryArguments) -> Done {
    let HistoryArguments { file, cases, json } = arguments;
    if !file.exists() {
        return Err(Failure::Input(format!(
            "{0}: there is no such file; write it with `seixo bench --record {0} --commit HASH`, or name another",
            file.display()
        )));
    }
    let mut rows = row::read(file)?;
    rows.retain(|row| cases.is_empty() || cases.iter().any(|case| case.name() == row.case));
    if rows.is_empty() {
        terminal::note(&format!("{}: has no measurements of what was asked for", file.display()));
    }
    for series in in_series(rows) {
        let Some(compared) = compare(&series) else { continue };
        if *json {
            terminal::json(&compared)?;
        } else {
            terminal::out(&compared.text())?;
        }
    }
    Ok(())
}

/// Groups rows that are comparable, in the order of the table.
fn in_series(rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut all: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match all.iter_mut().find(|series| series[0].is_comparable(&row)) {
            Some(series) => series.push(row),
            None => all.push(vec![row]),
        }
    }
    all
}

/// Compares the last row of a series with the one before and with the fastest of all before.
fn compare(series: &[Row]) -> Option<Compared<'_>> {
    let (newest, earlier) = series.split_last()?;
    let beside = |row| Earlier::of(row, newest);
    let fastest = earlier
        .iter()
        .max_by(|a, b| a.particle_steps_per_second.total_cmp(&b.particle_steps_per_second));
    Some(Compared {
        newest,
        count: series.len(),
        before: earlier.last().map(beside),
        best: fastest.map(beside),
    })
}

impl<'a> Earlier<'a> {
    fn of(row: &'a Row, newest: &Row) -> Earlier<'a> {
        Earlier {
            row,
            ratio: newest.particle_steps_per_second / row.particle_steps_per_second,
            is_loss: newest.fastest < row.slowest,
        }
    }

    fn text(&self, which: &str) -> String {
        let Earlier { row, ratio, is_loss } = self;
        format!(
            "\n  {ratio:.3} of {which}, {} of {}: {} particle-steps/s, {:.0} bytes a particle{}",
            row.commit,
            row.date,
            terminal::scaled(row.particle_steps_per_second, ""),
            row.bytes_per_particle,
            if *is_loss { "; a loss, beyond all repeats" } else { "" }
        )
    }
}

impl Compared<'_> {
    fn text(&self) -> String {
        let row = self.newest;
        let work = format!("{} {}", row.case, row.options);
        let mut text = format!(
            "{} · {} · {} · {}\n  {} of {}: {} particle-steps/s ({} to {}), {:.0} bytes a particle",
            work.trim_end(),
            terminal::many(row.particles, "particle"),
            terminal::place(&row.device, &row.precision, row.threads),
            row.machine,
            row.commit,
            row.date,
            terminal::scaled(row.particle_steps_per_second, ""),
            terminal::scaled(row.slowest, ""),
            terminal::scaled(row.fastest, ""),
            row.bytes_per_particle,
        );
        if !row.note.is_empty() {
            text += &format!("; {}", row.note);
        }
        let earlier = [(&self.before, "the one before"), (&self.best, "the fastest before")];
        for (earlier, which) in earlier {
            text += &earlier.as_ref().map_or_else(String::new, |earlier| earlier.text(which));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(commit: &str, [slowest, median, fastest]: [f64; 3], threads: usize) -> Row {
        Row {
            date: "2026-11-29".to_owned(),
            commit: commit.to_owned(),
            machine: "2 cores of a processor".to_owned(),
            device: "CPU".to_owned(),
            threads,
            case: "bed".to_owned(),
            options: String::new(),
            precision: "f64".to_owned(),
            particles: 1000,
            particle_steps_per_second: median,
            slowest,
            fastest,
            bytes_per_particle: 500.0,
            note: String::new(),
        }
    }

    #[test]
    fn the_newest_row_stands_beside_the_one_before_and_the_fastest() {
        let rows = vec![
            row("first", [19e6, 20e6, 21e6], 2),
            row("alone", [9e6, 10e6, 11e6], 1),
            row("second", [14e6, 16e6, 18e6], 2),
            row("third", [14e6, 15e6, 16e6], 2),
        ];
        let all = in_series(rows);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
        let compared = compare(&all[0]).unwrap();
        let found = |earlier: &Option<Earlier<'_>>| {
            let Earlier { row, ratio, is_loss } = earlier.as_ref().unwrap();
            (row.commit.clone(), *ratio, *is_loss)
        };
        assert_eq!(compared.newest.commit, "third");
        // The repeats of the third overlap with those of the second, not with those of the first.
        assert_eq!(found(&compared.before), ("second".to_owned(), 15.0 / 16.0, false));
        assert_eq!(found(&compared.best), ("first".to_owned(), 0.75, true));
        assert!(
            compared.text().contains("0.750 of the fastest before, first"),
            "{}",
            compared.text()
        );
        let alone = compare(&all[1]).unwrap();
        assert!(alone.before.is_none() && alone.best.is_none());
    }
}
