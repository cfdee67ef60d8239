//! Pairs of grains from a text file: a first line that names the columns `a` and `b`, then the ids of two grains a line. Columns `stiffness` and
//! `strength` give values of the bond of each pair.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("pairs.csv");
//! std::fs::write(&path, "a,b,stiffness[kN/m]\n3,7,50\n7,9,80\n")?;
//! let pairs = seixo_files::pairs_in::read(&path, &mut Vec::new())?;
//! assert_eq!((pairs[1].line, pairs[1].ids), (3, [7, 9]));
//! assert_eq!((pairs[1].stiffness, pairs[1].strength), (Some(8e4), None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::columns::{Header, Known, Lines, Quantity, open_input};
use std::path::Path;

/// Longest file \[bytes\], and most pairs.
const LONGEST_FILE: u64 = 4 << 30;
const MAX_PAIRS: usize = 100_000_000;

/// Two grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Line of the file, from 1, for messages.
    pub line: u64,
    /// Their ids, which differ.
    pub ids: [u32; 2],
    /// Stiffness of their bond \[N/m\], if the file has it.
    pub stiffness: Option<f64>,
    /// Factor on the strengths of their bond \[-\], if the file has it.
    pub strength: Option<f64>,
}

const KNOWN: [Known; 4] = [
    Known {
        names: &["a", "id_a", "id1", "first"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["b", "id_b", "id2", "second"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["stiffness", "k"],
        quantity: Quantity::Stiffness,
    },
    Known {
        names: &["strength"],
        quantity: Quantity::Share,
    },
];

/// Number of the column `stiffness`.
const STIFFNESS: usize = 2;

/// Reads pairs, each given once, in either order. Columns stand apart by semicolons, tabs, commas or spaces; lines that are blank or start with `#`
/// are skipped. Adds a note to `notes` if there are further columns, which are not read.
pub fn read(path: &Path, notes: &mut Vec<String>) -> Result<Vec<Pair>, FilesError> {
    let (file, _) = open_input(path, "a file of pairs", LONGEST_FILE)?;
    let mut lines = Lines::new(path, file);
    let mut text = String::new();
    let remedy = "start it with the line `a b`, and give the ids of two grains in each line after it";
    if lines.next(&mut text)?.is_none() {
        return Err(FilesError::content(path, "the file says nothing", remedy));
    }
    let header = Header::parse(&lines, &text, &KNOWN)?;
    if !(header.has(0) && header.has(1)) {
        return Err(lines.error("no column `a`, or no column `b`", remedy));
    }
    header.note_unread(&lines, notes);
    let mut pairs = Vec::new();
    while let Some(line) = lines.next(&mut text)? {
        if pairs.len() == MAX_PAIRS {
            return Err(lines.error(format!("more than {MAX_PAIRS} pairs, which is the limit"), "bond fewer grains"));
        }
        let mut pair = Pair {
            line,
            ids: [0; 2],
            stiffness: None,
            strength: None,
        };
        header.row(&lines, &text, |column, value| {
            if let Some(id) = pair.ids.get_mut(column.slot) {
                let found = value.parse::<u32>();
                *id = found.map_err(|_| column.wrong(&lines, value, "is not an id", "use whole numbers from 0 to 4294967295"))?;
                return Ok(());
            }
            let number = column.number(&lines, value)?;
            if number <= 0.0 {
                return Err(column.wrong(&lines, value, "is not positive", "give a number above 0, or leave the pair out"));
            }
            let slot = if column.slot == STIFFNESS {
                &mut pair.stiffness
            } else {
                &mut pair.strength
            };
            *slot = Some(number);
            Ok(())
        })?;
        let [a, b] = pair.ids;
        if a == b {
            return Err(lines.error(format!("the grain {a} makes a pair with itself"), "give the ids of two grains"));
        }
        pairs.push(pair);
    }
    if pairs.is_empty() {
        return Err(FilesError::content(path, "the file names no pair", remedy));
    }
    refuse_equal_pairs(path, &pairs)?;
    Ok(pairs)
}

fn refuse_equal_pairs(path: &Path, pairs: &[Pair]) -> Result<(), FilesError> {
    let in_order = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let mut sorted: Vec<([u32; 2], u64)> = pairs.iter().map(|pair| (in_order(pair.ids), pair.line)).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|two| two[0].0 == two[1].0) {
        Some(&[([a, b], first), (_, second)]) => Err(FilesError::line(
            path,
            second,
            format!("the grains {a} and {b} are already the pair of line {first}"),
            "give each pair once, in either order",
        )),
        _ => Ok(()),
    }
}
