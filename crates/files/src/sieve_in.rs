//! Sieve curves from text files: a first line of column names with units, then a line for each sieve, finest first.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("sand.csv");
//! std::fs::write(&path, "diameter[mm],passing[%]\n2,0\n4,50\n8,100\n")?;
//! let curve = seixo_files::sieve_in::read(&path)?;
//! assert_eq!(curve[1].radius, 2e-3);
//! assert_eq!(curve[1].passing, 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::columns::{Header, Known, Lines, Quantity, open_input};
use std::path::Path;

/// Longest file \[bytes\], and most sieves: laser diffraction gives some hundred.
const LONGEST_FILE: u64 = 1 << 20;
const MAX_SIEVES: usize = 10_000;
/// How far the last share may be from 1: shares are given with some digits.
const ROUNDING: f64 = 1e-6;

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sieve {
    /// Radius of the largest grain that passes \[m\].
    pub radius: f64,
    /// Share of the mass that passes \[-\].
    pub passing: f64,
}

const KNOWN: [Known; 3] = [
    Known {
        names: &["diameter", "d", "size"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["radius", "r"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["passing", "finer", "cumulative"],
        quantity: Quantity::Share,
    },
];
const DIAMETER: usize = 0;
const RADIUS: usize = 1;
const PASSING: usize = 2;

/// Reads a sieve curve: radii above zero that ascend from line to line, shares that ascend from 0 to 1. Columns stand apart by commas, or by
/// tabs and spaces; lines that are blank or start with `#` are skipped.
pub fn read(path: &Path) -> Result<Vec<Sieve>, FilesError> {
    let (file, _) = open_input(path, "a sieve curve", LONGEST_FILE)?;
    let mut lines = Lines::new(path, file);
    let mut text = String::new();
    if lines.next(&mut text)?.is_none() {
        return Err(FilesError::content(
            path,
            "the file is empty",
            "start it with a line like `diameter[mm] passing[%]`",
        ));
    }
    let header = Header::parse(&lines, &text, &KNOWN)?;
    if header.has(DIAMETER) == header.has(RADIUS) || !header.has(PASSING) {
        return Err(lines.error(
            "a sieve curve has a column `diameter` or `radius`, and a column `passing`",
            "start the file with a line like `diameter[mm] passing[%]`",
        ));
    }
    let mut curve: Vec<Sieve> = Vec::new();
    while lines.next(&mut text)?.is_some() {
        if curve.len() == MAX_SIEVES {
            return Err(lines.error(
                format!("more than {MAX_SIEVES} sieves, which is the limit"),
                "leave some of them out",
            ));
        }
        let before = curve.last().copied();
        let mut sieve = Sieve { radius: 0.0, passing: 0.0 };
        header.row(&lines, &text, |column, value| {
            let number = column.number(&lines, value)?;
            let wrong = |problem: &str, remedy: &str| Err(column.wrong(&lines, value, problem, remedy));
            if column.slot == PASSING {
                sieve.passing = number;
                return match before {
                    _ if !(0.0..=1.0 + ROUNDING).contains(&number) => {
                        wrong("is not a share", "use numbers from 0 to 1, or 0 to 100 under `passing[%]`")
                    }
                    None if number != 0.0 => wrong(
                        "is where the curve starts, but nothing is finer than its finest grains",
                        "add a first line with the finest size and 0",
                    ),
                    Some(before) if number < before.passing => wrong(
                        "is less than in the line before",
                        "give the share of the mass that is finer, finest sieve first",
                    ),
                    _ => Ok(()),
                };
            }
            sieve.radius = if column.slot == DIAMETER { number / 2.0 } else { number };
            match before {
                _ if number <= 0.0 => wrong("is not a size", "use a number above zero"),
                Some(before) if sieve.radius <= before.radius => {
                    wrong("is not above the line before", "give the finest sieve first, each once")
                }
                _ => Ok(()),
            }
        })?;
        curve.push(sieve);
    }
    match curve.last() {
        Some(last) if curve.len() > 1 && (last.passing - 1.0).abs() <= ROUNDING => Ok(curve),
        Some(last) if curve.len() > 1 => Err(lines.error(
            format!("the curve ends where a share of {} is finer, not at 1", last.passing),
            "add a last line with the size that all grains are below",
        )),
        _ => Err(lines.error("a curve of fewer than two sieves", "give the finest and the coarsest size at least")),
    }
}
