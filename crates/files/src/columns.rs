//! Text tables whose first line names columns and units; what grain files and wall files have in common.

use crate::FilesError;
use crate::error::quoted;
use crate::layer::irregular;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line of a text file \[bytes\].
const LONGEST_LINE: u64 = 64 << 10;

/// Opens what a user names: regular files only that hold something, no longer than `limit`; gives the file and its length \[bytes\].
pub(crate) fn open_input(path: &Path, what: &'static str, limit: u64) -> Result<(File, u64), FilesError> {
    // Looked at before it is opened, because opening a pipe waits for its other end.
    let metadata = std::fs::metadata(path).map_err(FilesError::disk(path, "read it"))?;
    if let Some(found) = irregular(&metadata) {
        return Err(FilesError::NotAFile {
            path: path.to_owned(),
            found,
        });
    }
    if metadata.len() > limit {
        return Err(FilesError::TooLarge {
            path: path.to_owned(),
            what,
            size: metadata.len(),
            limit,
        });
    }
    // Files of system information say that they are empty, and some of them wait for news when they are read.
    if metadata.len() == 0 {
        return Err(FilesError::content(
            path,
            "the file is empty and says nothing",
            "give the path of a file with something in it, not one of those in which the system describes itself",
        ));
    }
    let file = File::open(path).map_err(FilesError::disk(path, "read it"))?;
    Ok((file, metadata.len()))
}

/// The lines of a text file that say something: neither blank nor a `#` comment.
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    number: u64,
    bytes: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(path: &Path, file: File) -> Lines {
        Lines {
            path: path.to_owned(),
            reader: BufReader::with_capacity(1 << 16, file),
            number: 0,
            bytes: Vec::new(),
        }
    }

    /// Puts the next line into `text` and gives its number, from 1; `None` at the end of the file.
    pub(crate) fn next(&mut self, text: &mut String) -> Result<Option<u64>, FilesError> {
        loop {
            self.bytes.clear();
            let taken = (&mut self.reader).take(LONGEST_LINE + 1).read_until(b'\n', &mut self.bytes);
            let taken = taken.map_err(FilesError::disk(&self.path, "read it"))?;
            if taken == 0 {
                return Ok(None);
            }
            self.number += 1;
            if taken as u64 > LONGEST_LINE {
                let problem = format!("a line of more than {LONGEST_LINE} bytes");
                return Err(self.error(problem, "is this a text file? Give one row a line"));
            }
            text.clear();
            text.push_str(String::from_utf8_lossy(&self.bytes).trim_start_matches('\u{feff}').trim());
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some(self.number));
            }
        }
    }

    /// An error in the line read last.
    pub(crate) fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> FilesError {
        FilesError::line(&self.path, self.number.max(1), problem, remedy)
    }
}

/// What a column measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Length,
    Velocity,
    AngularVelocity,
    Mass,
    /// Force per length.
    Stiffness,
    /// Parts of a whole.
    Share,
    Time,
    Angle,
    Temperature,
    /// Words and counts: no unit.
    Plain,
}

impl Quantity {
    /// The units a header may give, with their size in SI.
    fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Quantity::Length => &[
                ("m", 1.0),
                ("cm", 1e-2),
                ("mm", 1e-3),
                ("um", 1e-6),
                ("µm", 1e-6),
                ("μm", 1e-6),
                ("nm", 1e-9),
            ],
            Quantity::Velocity => &[("m/s", 1.0), ("cm/s", 1e-2), ("mm/s", 1e-3), ("um/s", 1e-6), ("km/h", 1.0 / 3.6)],
            Quantity::AngularVelocity => &[
                ("rad/s", 1.0),
                ("1/s", 1.0),
                ("deg/s", std::f64::consts::PI / 180.0),
                ("rpm", std::f64::consts::PI / 30.0),
            ],
            Quantity::Mass => &[
                ("kg", 1.0),
                ("g", 1e-3),
                ("mg", 1e-6),
                ("ug", 1e-9),
                ("µg", 1e-9),
                ("μg", 1e-9),
                ("t", 1e3),
            ],
            Quantity::Stiffness => &[("N/m", 1.0), ("kN/m", 1e3), ("MN/m", 1e6), ("N/mm", 1e3), ("mN/m", 1e-3)],
            Quantity::Share => &[("-", 1.0), ("1", 1.0), ("%", 1e-2)],
            Quantity::Time => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("min", 60.0)],
            Quantity::Angle => &[("rad", 1.0), ("deg", std::f64::consts::PI / 180.0)],
            Quantity::Temperature => &[("K", 1.0)],
            Quantity::Plain => &[],
        }
    }
}

/// A column that a kind of file may have.
pub(crate) struct Known {
    /// The names it goes by, in lower case; the first is the one to recommend.
    pub(crate) names: &'static [&'static str],
    pub(crate) quantity: Quantity,
}

/// A column that a file has.
pub(crate) struct Column {
    /// Its place in the table of known columns.
    pub(crate) slot: usize,
    /// What one unit of it is in SI.
    scale: f64,
    /// As the file spells it.
    label: String,
}

/// The first line of a table, understood.
pub(crate) struct Header {
    pub(crate) columns: Vec<Column>,
    has_commas: bool,
}

impl Header {
    pub(crate) fn parse(lines: &Lines, text: &str, known: &[Known]) -> Result<Header, FilesError> {
        let names = || known.iter().map(|known| known.names[0]).collect::<Vec<_>>().join(", ");
        let has_commas = text.contains(',');
        let mut columns: Vec<Column> = Vec::new();
        for label in labels(text, has_commas) {
            let (name, unit) = match label.split_once('[') {
                Some((name, unit)) => (name.trim(), Some(unit.trim_end_matches(']').trim())),
                None => (label.trim(), None),
            };
            let lower = name.to_lowercase();
            let Some(slot) = known.iter().position(|known| known.names.contains(&lower.as_str())) else {
                let problem = format!("the first line must name the columns, and {} is none of them", quoted(name));
                return Err(lines.error(problem, format!("use {} with units like `x[mm]`", names())));
            };
            if columns.iter().any(|column| column.slot == slot) {
                return Err(lines.error(format!("column {} is there twice", quoted(name)), "remove one of them"));
            }
            let units = known[slot].quantity.units();
            let scale = match unit {
                None => 1.0,
                Some(unit) => match units.iter().find(|(name, _)| *name == unit) {
                    Some((_, scale)) => *scale,
                    None if units.is_empty() => {
                        return Err(lines.error(
                            format!("column {} takes no unit, not {}", quoted(name), quoted(unit)),
                            "remove the unit",
                        ));
                    }
                    None => {
                        let units = units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                        return Err(lines.error(
                            format!("column {} cannot be in {}", quoted(name), quoted(unit)),
                            format!("use one of {units}"),
                        ));
                    }
                },
            };
            columns.push(Column {
                slot,
                scale,
                label: label.trim().to_owned(),
            });
        }
        Ok(Header { columns, has_commas })
    }

    pub(crate) fn has(&self, slot: usize) -> bool {
        self.columns.iter().any(|column| column.slot == slot)
    }

    /// Hands each value of a row to `put`, with its column.
    pub(crate) fn row<'a>(
        &self,
        lines: &Lines,
        text: &'a str,
        mut put: impl FnMut(&Column, &'a str) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        let count = self.values(text).count();
        if count != self.columns.len() {
            let problem = format!(
                "{count} values, but the header names {} columns: {}",
                self.columns.len(),
                quoted(text)
            );
            return Err(lines.error(problem, "give each row one value a column"));
        }
        self.columns
            .iter()
            .zip(self.values(text))
            .try_for_each(|(column, value)| put(column, value))
    }

    fn values<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let (by_comma, by_space) = if self.has_commas {
            (Some(text.split(',').map(str::trim)), None)
        } else {
            (None, Some(text.split_whitespace()))
        };
        by_comma.into_iter().flatten().chain(by_space.into_iter().flatten())
    }
}

impl Column {
    /// A finite number in SI.
    pub(crate) fn number(&self, lines: &Lines, value: &str) -> Result<f64, FilesError> {
        let number = number(value).map(|number| number * self.scale).filter(|number| number.is_finite());
        number.ok_or_else(|| self.wrong(lines, value, "is not a finite number", "write it like 0.25 or 2.5e-1"))
    }

    pub(crate) fn wrong(&self, lines: &Lines, value: &str, problem: &str, remedy: &str) -> FilesError {
        lines.error(format!("column {}: {} {problem}", quoted(&self.label), quoted(value)), remedy)
    }
}

/// A finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Column names of a header; what stands in brackets belongs to the name before it, spaces or not.
fn labels(text: &str, has_commas: bool) -> Vec<String> {
    let mut labels = vec![String::new()];
    let mut in_brackets = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let Some(label) = labels.last_mut() else { break };
        in_brackets = if in_brackets { character != ']' } else { character == '[' };
        let space = character.is_whitespace();
        while space && characters.next_if(|next| next.is_whitespace()).is_some() {}
        let before_unit = space && characters.peek() == Some(&'[');
        if space && (in_brackets || before_unit) {
            continue;
        }
        if !in_brackets && (character == ',' || space && !has_commas) {
            labels.push(String::new());
        } else {
            label.push(character);
        }
    }
    labels
}
