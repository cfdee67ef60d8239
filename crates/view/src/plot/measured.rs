//! Tables of measured data, as instruments and spreadsheets write them.

use std::path::{Path, PathBuf};

use super::Column;
use crate::ViewError;

/// A table of measured data.
pub struct Measured {
    path: PathBuf,
    columns: Vec<MeasuredColumn>,
}

/// A column whose cells may be words.
struct MeasuredColumn {
    column: Column,
    /// Line and text of the first cell that is not a number.
    fault: Option<(usize, String)>,
}

/// The cells of a line; a separator between quotes separates nothing.
fn cells(line: &str, separator: char) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |letter: char| {
        is_quoted ^= letter == '"';
        letter == separator && !is_quoted
    };
    line.split(is_end).map(|cell| cell.trim().trim_matches('"').trim()).collect()
}

/// A column with the unit in brackets or parentheses behind its name.
fn titled(label: &str) -> MeasuredColumn {
    let mut column = Column::named(label);
    if let Some((name, unit)) = label.split_once('(').filter(|_| label.ends_with(')')) {
        column = Column::named(name);
        column.unit = unit.trim_end_matches(')').trim().to_owned();
    }
    MeasuredColumn { column, fault: None }
}

/// A cell as a number; NaN for an empty one.
fn number(cell: &str, has_decimal_commas: bool) -> Option<f64> {
    if cell.is_empty() {
        return Some(f64::NAN);
    }
    if has_decimal_commas && !cell.contains('.') {
        return cell.replace(',', ".").parse().ok();
    }
    cell.parse().ok()
}

/// A name without differences of case, spaces and underscores.
fn plain(name: &str) -> String {
    name.trim().replace('_', " ").to_lowercase()
}

impl Measured {
    /// Reads a table whose first line names columns, separated by semicolons, tabs or commas. Blank lines and lines that begin with `#` are skipped.
    /// Empty cells are missing values.
    ///
    /// # Errors
    /// If the file cannot be read or names no columns, or if a line has more cells than the first one.
    pub fn read(path: &Path) -> Result<Measured, ViewError> {
        let bytes = std::fs::read(path).map_err(|source| ViewError::NoMeasured {
            path: path.to_owned(),
            source,
        })?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}');
        let wrong = |line: usize, cause: String| ViewError::Measured {
            path: path.to_owned(),
            line,
            cause,
        };
        let lines = (1..).zip(text.lines().map(str::trim_end));
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((_, header)) = lines.next() else {
            return Err(wrong(1, "the file is empty; name the columns in the first line".to_owned()));
        };
        let separator = [';', '\t'].into_iter().find(|&mark| header.contains(mark)).unwrap_or(',');
        let mut columns: Vec<MeasuredColumn> = cells(header, separator).into_iter().map(titled).collect();
        for (line, row) in lines {
            let row = cells(row, separator);
            if let Some(extra) = row.iter().skip(columns.len()).find(|cell| !cell.is_empty()) {
                let cause = format!(
                    "{extra:?} lies beyond the {} columns of the first line; name its column",
                    columns.len()
                );
                return Err(wrong(line, cause));
            }
            for (index, MeasuredColumn { column, fault }) in columns.iter_mut().enumerate() {
                let cell = row.get(index).copied().unwrap_or_default();
                let value = number(cell, separator != ',');
                if value.is_none() {
                    fault.get_or_insert_with(|| (line, cell.to_owned()));
                }
                column.values.push(value.unwrap_or(f64::NAN));
            }
        }
        Ok(Measured {
            path: path.to_owned(),
            columns,
        })
    }

    /// The column of this name; without one, that of a similar name.
    fn find(&self, name: &str) -> Option<&MeasuredColumn> {
        let is_same = |known: &&MeasuredColumn| known.column.name == name;
        let is_similar = |known: &&MeasuredColumn| plain(&known.column.name) == plain(name);
        self.columns.iter().find(is_same).or_else(|| self.columns.iter().find(is_similar))
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Values of a column in a unit. `factor` gives what one of the first unit is in the second, if they have the same dimension. A column without a
    /// unit is in SI units.
    ///
    /// # Errors
    /// If there is no such column, a cell is not a number, or the units differ in their dimension.
    pub fn values(&self, name: &str, unit: &str, factor: impl Fn(&str, &str) -> Option<f64>) -> Result<Vec<f64>, ViewError> {
        let path = || self.path.clone();
        let Some(MeasuredColumn { column, fault }) = self.find(name) else {
            return Err(ViewError::UnknownMeasuredColumn {
                path: path(),
                column: name.to_owned(),
                known: self.columns.iter().map(|known| known.column.name.clone()).collect(),
            });
        };
        if let Some((line, cell)) = fault {
            return Err(ViewError::Measured {
                path: path(),
                line: *line,
                cause: format!("{cell:?} in column {name:?} is not a number; remove the line, or let it begin with #"),
            });
        }
        let one = if column.unit.is_empty() || column.unit == unit {
            Some(1.0)
        } else {
            factor(&column.unit, unit)
        };
        let Some(one) = one else {
            return Err(ViewError::MeasuredUnit {
                path: path(),
                column: column.name.clone(),
                unit: column.unit.clone(),
                wanted: unit.to_owned(),
            });
        };
        Ok(column.values.iter().map(|value| one * value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Measured, ViewError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.csv");
        std::fs::write(&path, text).unwrap();
        Measured::read(&path)
    }

    fn kilo(from: &str, to: &str) -> Option<f64> {
        (from == "kPa" && to == "Pa").then_some(1e3)
    }

    #[test]
    fn tables_of_instruments_and_spreadsheets_give_the_same_numbers() {
        for text in [
            "strain,stress [kPa]\n0.01,50\n0.02,80.5\n",
            "\u{feff}# Test 7\r\nstrain;stress [kPa]\r\n0,01;50\r\n\r\n0,02;80,5\r\n",
            "\"Strain\"\t\"Stress (kPa)\"\n0.01\t50\n0.02\t80.5",
            "note,strain,stress [kPa],\n\"start, slow\",0.01,50,\n,0.02,80.5,\n",
        ] {
            let measured = read(text).unwrap();
            assert_eq!(measured.values("strain", "-", kilo).unwrap(), [0.01, 0.02], "{text}");
            assert_eq!(measured.values("stress", "Pa", kilo).unwrap(), [50e3, 80.5e3], "{text}");
        }
        // Names that differ in their case only.
        let both = read("t,T [kPa]\n1,2\n").unwrap();
        assert_eq!(both.values("T", "Pa", kilo).unwrap(), [2e3]);
        assert_eq!(both.values("t", "s", kilo).unwrap(), [1.0]);
        let gap = read("strain,stress\n0.01,\n0.02,3\n")
            .unwrap()
            .values("stress", "Pa", kilo)
            .unwrap();
        assert!(gap[0].is_nan() && gap[1] == 3.0);
    }

    #[test]
    fn what_is_wrong_in_a_table_is_named() {
        let message = |text: &str, column: &str| {
            let values = read(text).and_then(|measured| measured.values(column, "Pa", kilo));
            values.unwrap_err().to_string()
        };
        for (text, column, reported) in [
            ("", "q", &["test.csv:1", "is empty"][..]),
            ("# only words\n", "q", &["is empty"]),
            ("q\n1\n2,3\n", "q", &["test.csv:3", "\"3\"", "1 columns"]),
            ("q,p\n1,2\n[kPa],3\n", "q", &["test.csv:3", "\"[kPa]\"", "#"]),
            ("q,p\n1,2\n", "r", &["\"r\"", "q, p"]),
            ("q [mm]\n1\n", "q", &["[mm]", "[Pa]"]),
        ] {
            let message = message(text, column);
            assert!(reported.iter().all(|phrase| message.contains(phrase)), "{text:?}: {message}");
        }
    }
}
