//! Sieve curves from text files: a first line of column names with units, then a line for each sieve, finest or coarsest first.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("sand.csv");
//! std::fs::write(&path, "Sieve size (mm);Retained (g)\n8;0\n4;120,5\n2;120,5\n")?;
//! let curve = seixo_files::sieve_in::read(&path, &mut Vec::new())?;
//! assert_eq!(curve[1].radius, 2e-3);
//! assert_eq!(curve[1].passing, 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::columns::{Column, Header, Known, Lines, Quantity, add_note, open_input};
use std::path::Path;

/// Longest file \[bytes\], and most sieves: laser diffraction gives some hundred.
const LONGEST_FILE: u64 = 1 << 20;
const MAX_SIEVES: usize = 10_000;
/// How far the last share may be from 1: shares are given with some digits.
const ROUNDING: f64 = 1e-6;
/// How far the sum of the retained shares may be from 1: laboratories lose some of a sample, and round.
const LOSS: f64 = 1e-2;
/// Largest size without a unit \[m\]: above it, the numbers are meant in another unit than meters.
const LARGEST_WITHOUT_UNIT: f64 = 1.0;
/// What stands in place of a size where grains fell through the finest sieve.
const PANS: [&str; 9] = [
    "pan",
    "bottom",
    "base",
    "fundo",
    "prato",
    "boden",
    "schale",
    "auffangschale",
    "siebboden",
];

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sieve {
    /// Radius of the largest grain that passes \[m\].
    pub radius: f64,
    /// Share of the mass that passes \[-\].
    pub passing: f64,
}

/// Names of the shares that stay on one sieve and pass all coarser ones; a table gives them in percent or weighs them.
const RETAINED_NAMES: &[&str] = &[
    "retained",
    "mass retained",
    "retained mass",
    "weight retained",
    "retained on sieve",
    "individual retained",
    "retida",
    "retido",
    "massa retida",
    "massa retida individual",
    "retida individual",
    "retido individual",
    "material retido",
    "Rückstand",
    "Rueckstand",
    "Siebrückstand",
    "Siebrueckstand",
    "Masse Rückstand",
];

const KNOWN: [Known; 6] = [
    Known {
        names: &[
            "diameter",
            "d",
            "size",
            "sieve",
            "sieve size",
            "sieve opening",
            "sieve aperture",
            "opening",
            "opening size",
            "aperture",
            "aperture size",
            "mesh size",
            "mesh opening",
            "screen size",
            "particle size",
            "particle diameter",
            "grain size",
            "grain diameter",
            "peneira",
            "peneiras",
            "malha",
            "abertura",
            "abertura da peneira",
            "abertura da malha",
            "abertura nominal",
            "diâmetro",
            "diametro",
            "diâmetro dos grãos",
            "diâmetro da partícula",
            "tamanho",
            "tamanho da peneira",
            "tamanho da partícula",
            "Durchmesser",
            "Sieb",
            "Siebweite",
            "Siebgröße",
            "Siebgroesse",
            "Sieböffnung",
            "Maschenweite",
            "Korngröße",
            "Korngroesse",
            "Korndurchmesser",
            "Partikelgröße",
        ],
        quantity: Quantity::Length,
    },
    Known {
        names: &["radius", "r"],
        quantity: Quantity::Length,
    },
    Known {
        names: &[
            "passing",
            "finer",
            "cumulative",
            "cumulative passing",
            "passing cumulative",
            "passing by mass",
            "passing by weight",
            "finer by mass",
            "finer by weight",
            "cumulative finer",
            "undersize",
            "cumulative undersize",
            "passante",
            "passante acumulado",
            "passante acumulada",
            "passando",
            "que passa",
            "passa",
            "massa passante",
            "material passante",
            "Durchgang",
            "Siebdurchgang",
            "Durchgang kumuliert",
            "Durchgangssumme",
            "Summendurchgang",
            "Massendurchgang",
        ],
        quantity: Quantity::Share,
    },
    Known {
        names: &[
            "cumulative retained",
            "retained cumulative",
            "coarser",
            "oversize",
            "cumulative oversize",
            "retida acumulada",
            "retido acumulado",
            "massa retida acumulada",
            "acumulada retida",
            "acumulado retido",
            "Rückstandssumme",
            "Rueckstandssumme",
            "Rückstand kumuliert",
            "Siebrückstand kumuliert",
        ],
        quantity: Quantity::Share,
    },
    Known {
        names: RETAINED_NAMES,
        quantity: Quantity::Share,
    },
    Known {
        names: RETAINED_NAMES,
        quantity: Quantity::Mass,
    },
];
const DIAMETER: usize = 0;
const RADIUS: usize = 1;
const PASSING: usize = 2;
const COARSER: usize = 3;
const RETAINED: usize = 4;
const RETAINED_MASS: usize = 5;

/// A line of the file.
struct Row {
    line: u64,
    /// Radius of the opening \[m\]; 0 for the pan below the finest sieve.
    radius: f64,
    /// The size as the file has it.
    size: String,
    /// Share or mass, by the column.
    amount: f64,
    /// The amount as the file has it.
    value: String,
}

/// Reads a sieve curve: each size once, finest or coarsest first, with the share of the mass that passes, that is coarser, or that stays on one sieve
/// and passes the next coarser one. The curve that it gives ascends from 0 to 1. Columns stand apart by semicolons, tabs, commas or spaces; lines
/// that are blank or start with `#` are skipped. Adds a note to `notes` for columns that are not read, and for what the table leaves open.
pub fn read(path: &Path, notes: &mut Vec<String>) -> Result<Vec<Sieve>, FilesError> {
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
    let mut header = Header::parse(&lines, &text, &KNOWN)?;
    let amounts = [PASSING, COARSER, RETAINED, RETAINED_MASS];
    let amount = amounts.into_iter().find(|&slot| header.has(slot)).unwrap_or(PASSING);
    amounts
        .into_iter()
        .filter(|&slot| slot != amount)
        .for_each(|slot| header.leave_out(slot));
    let find = |is_wanted: fn(usize) -> bool| header.columns.iter().find(move |column| is_wanted(column.slot));
    let (Some(sizes), Some(amounts), true) = (
        find(|slot| slot <= RADIUS),
        find(|slot| slot > RADIUS),
        header.has(DIAMETER) != header.has(RADIUS),
    ) else {
        return Err(lines.error(
            "a sieve curve has a column `diameter` or `radius`, and a column `passing`, `cumulative retained` or `retained`",
            "start the file with a line like `diameter[mm] passing[%]`",
        ));
    };
    header.note_unread(&lines, notes);
    let rows = rows(&mut lines, &header)?;
    let table = Table {
        lines: &lines,
        sizes,
        amounts,
    };
    let (rows, is_descending) = table.sieves(rows)?;
    match amount {
        PASSING | COARSER => table.cumulative(&rows, is_descending),
        _ => table.retained(&rows, notes),
    }
}

/// All lines of the file.
fn rows(lines: &mut Lines, header: &Header) -> Result<Vec<Row>, FilesError> {
    let (mut rows, mut text) = (Vec::new(), String::new());
    while let Some(line) = lines.next(&mut text)? {
        if rows.len() == MAX_SIEVES {
            return Err(lines.error(
                format!("more than {MAX_SIEVES} sieves, which is the limit"),
                "leave some of them out",
            ));
        }
        let mut row = Row {
            line,
            radius: 0.0,
            size: String::new(),
            amount: 0.0,
            value: String::new(),
        };
        header.row(lines, &text, |column, value| {
            if column.slot > RADIUS {
                row.amount = column.number(lines, value)?;
                row.value = value.to_owned();
                return Ok(());
            }
            row.size = value.to_owned();
            if PANS.contains(&value.to_lowercase().as_str()) {
                return Ok(());
            }
            if !rows.is_empty() && value.starts_with(char::is_alphabetic) {
                let remedy = "write it like 0.25; remove lines that are no sieves, such as a total";
                return Err(column.wrong(lines, value, "is not a finite number", remedy));
            }
            let size = column.number(lines, value)?;
            if size < 0.0 {
                return Err(column.wrong(lines, value, "is not a size", "use a number above zero"));
            }
            if !column.has_unit && size > LARGEST_WITHOUT_UNIT {
                let problem = format!("would be {size} m, as the column has no unit");
                return Err(column.wrong(lines, value, &problem, "write the unit into the first line, as in `diameter[mm]`"));
            }
            row.radius = if column.slot == DIAMETER { size / 2.0 } else { size };
            Ok(())
        })?;
        rows.push(row);
    }
    Ok(rows)
}

/// The columns of a sieve curve, for messages.
struct Table<'a> {
    lines: &'a Lines,
    sizes: &'a Column,
    amounts: &'a Column,
}

impl Table<'_> {
    fn wrong_amount(&self, row: &Row, problem: &str, remedy: &str) -> FilesError {
        self.amounts.wrong_at(self.lines, row.line, &row.value, problem, remedy)
    }

    /// The sieves, finest first, and whether the file has the coarsest first. A pan below them holds nothing, and is left out.
    fn sieves(&self, mut rows: Vec<Row>) -> Result<(Vec<Row>, bool), FilesError> {
        if rows.len() < 2 {
            return Err(self
                .lines
                .error("a curve of fewer than two sieves", "give the finest and the coarsest size at least"));
        }
        let is_descending = rows[1].radius < rows[0].radius;
        let wrong = |row: &Row, problem: &str, remedy: &str| Err(self.sizes.wrong_at(self.lines, row.line, &row.size, problem, remedy));
        for pair in rows.windows(2) {
            if is_descending && pair[1].radius >= pair[0].radius {
                return wrong(&pair[1], "is not below the line before", "give the coarsest sieve first, each once");
            }
            if !is_descending && pair[1].radius <= pair[0].radius {
                return wrong(&pair[1], "is not above the line before", "give the finest sieve first, each once");
            }
        }
        if is_descending {
            rows.reverse();
        }
        if rows[0].radius == 0.0 {
            let pan = rows.remove(0);
            let is_empty = match self.amounts.slot {
                COARSER => true,
                _ => pan.amount == 0.0,
            };
            if !is_empty {
                let problem = format!("holds {}, but the size of its finest grains is not given", pan.value);
                return wrong(&pan, &problem, "write the size of the finest grains in its place");
            }
        }
        if rows.len() < 2 {
            return Err(self
                .lines
                .error("a curve of fewer than two sieves", "give the finest and the coarsest size at least"));
        }
        Ok((rows, is_descending))
    }

    /// Factor of the shares: they are in percent where their column has no unit and their whole is 100.
    fn scale(&self, whole: f64, tolerance: f64) -> f64 {
        if !self.amounts.has_unit && (whole / 100.0 - 1.0).abs() <= tolerance {
            0.01
        } else {
            1.0
        }
    }

    /// The curve of shares that are finer, or of those that are coarser.
    fn cumulative(&self, rows: &[Row], is_descending: bool) -> Result<Vec<Sieve>, FilesError> {
        let is_coarser = self.amounts.slot == COARSER;
        let largest = rows.iter().fold(0.0, |largest: f64, row| largest.max(row.amount));
        let scale = self.scale(largest, ROUNDING);
        let mut curve: Vec<Sieve> = Vec::with_capacity(rows.len());
        for (k, row) in rows.iter().enumerate() {
            let share = row.amount * scale;
            if !(0.0..=1.0 + ROUNDING).contains(&share) {
                return Err(self.wrong_amount(row, "is not a share", "use numbers from 0 to 1, or 0 to 100 under `passing[%]`"));
            }
            let passing = if is_coarser { (1.0 - share).max(0.0) } else { share };
            let is_start = passing == 0.0 || is_coarser && passing <= ROUNDING;
            match curve.last() {
                None if !is_start => {
                    let problem = "is where the curve starts, but nothing is finer than its finest grains";
                    let remedy = "add a line with the finest size, which nothing passes";
                    return Err(self.wrong_amount(row, problem, remedy));
                }
                Some(finer) if passing < finer.passing => {
                    // In a file that starts with the coarsest sieve, the finer of the two has the later line.
                    let later = if is_descending { &rows[k - 1] } else { row };
                    let than = if is_descending == is_coarser { "less" } else { "more" };
                    let problem = format!("is {than} than in the line before");
                    return Err(self.wrong_amount(later, &problem, "no more of the mass can pass a finer sieve than a coarser one"));
                }
                _ => {}
            }
            curve.push(Sieve {
                radius: row.radius,
                passing: if curve.is_empty() { 0.0 } else { passing },
            });
        }
        match curve.last() {
            Some(last) if (last.passing - 1.0).abs() > ROUNDING => Err(self.lines.error_at(
                rows[rows.len() - 1].line,
                format!("the curve ends where a share of {} is finer, not at 1", last.passing),
                "add a line with the size that all grains are below",
            )),
            _ => Ok(curve),
        }
    }

    /// The curve of shares or masses that stay on one sieve and pass the next coarser one.
    fn retained(&self, rows: &[Row], notes: &mut Vec<String>) -> Result<Vec<Sieve>, FilesError> {
        if let Some(row) = rows.iter().find(|row| row.amount < 0.0) {
            return Err(self.wrong_amount(row, "is negative", "give what stays on this sieve and passes the next coarser one"));
        }
        let sum: f64 = rows.iter().map(|row| row.amount).sum();
        let whole = sum * self.scale(sum, LOSS);
        let is_share = self.amounts.slot == RETAINED;
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        if sum == 0.0 || is_share && (whole - 1.0).abs() > LOSS {
            let problem = format!("the retained shares add up to {whole}, not to 1");
            let remedy = "give the share of every sieve, as in `retained[%]`, or masses as in `retained[g]`";
            return Err(self.lines.error_at(last.line.max(first.line), problem, remedy));
        }
        let path = self.lines.path().display();
        if is_share && (whole - 1.0).abs() > ROUNDING {
            add_note(
                notes,
                format!(
                    "{path}: the retained shares add up to {:.2} %, and are divided by their sum",
                    100.0 * whole
                ),
            );
        }
        // What stays on a sieve lies between its size and the next coarser one; the coarsest sieve then retains nothing.
        let is_by_lower_size = last.amount == 0.0;
        if !is_by_lower_size && first.amount != 0.0 {
            let problem = "stays on the coarsest sieve, and the size of its grains is not given";
            return Err(self.wrong_amount(last, problem, "add a line with the next coarser sieve, on which 0 stays"));
        }
        if !is_by_lower_size {
            add_note(
                notes,
                format!(
                    "{path}: 0 stays on the finest size and {} on the coarsest, so each value is taken as what lies between its size and the next \
                     finer one; if it is what stays on its sieve, add a line with the next coarser sieve and 0",
                    last.value
                ),
            );
        }
        let mut passing = 0.0;
        let sieve = |(k, row): (usize, &Row)| {
            let finer = if is_by_lower_size {
                k.checked_sub(1).map(|k| &rows[k])
            } else {
                Some(row)
            };
            passing += finer.map_or(0.0, |row| row.amount);
            Sieve {
                radius: row.radius,
                passing: passing / sum,
            }
        };
        Ok(rows.iter().enumerate().map(sieve).collect())
    }
}
