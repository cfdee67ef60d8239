//! Paths of walls: text tables of places at times, with columns `t`, `x`, `y`, `z` and `angle`.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("lift.csv");
//! std::fs::write(&path, "t[s],z[mm]\n0,0\n2,4\n")?;
//! let lift = seixo_files::path_in::read(&path)?;
//! assert_eq!(lift.time, [0.0, 2.0]);
//! assert_eq!(lift.position[1], [0.0, 0.0, 4e-3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::columns::{Header, Known, Lines, Quantity, open_input};
use seixo_engine::world::WallPath;
use std::path::Path;

/// Longest file \[bytes\]: some million rows.
const LONGEST_FILE: u64 = 64 << 20;
/// Places of the columns in [`KNOWN`].
const TIME: usize = 0;
const ANGLE: usize = 4;

const KNOWN: [Known; 5] = [
    Known {
        names: &["t", "time"],
        quantity: Quantity::Time,
    },
    Known {
        names: &["x"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["y"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["z"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["angle"],
        quantity: Quantity::Angle,
    },
];

/// Reads a path; its axis is left to the scene. A coordinate without a column stays what it is.
pub fn read(path: &Path) -> Result<WallPath, FilesError> {
    let (file, _) = open_input(path, "a path", LONGEST_FILE)?;
    let mut lines = Lines::new(path, file);
    let mut text = String::new();
    let remedy = "name t and what changes with it – x, y, z, angle – in the first line, and give two rows or more";
    if lines.next(&mut text)?.is_none() {
        return Err(FilesError::content(path, "the file says nothing", remedy));
    }
    let header = Header::parse(&lines, &text, &KNOWN)?;
    // Each column moves something: one that is not understood is not left out.
    header.refuse_unread(&lines, &KNOWN)?;
    if !header.has(TIME) || header.columns.len() < 2 {
        return Err(lines.error("no column `t`, or nothing beside it", remedy));
    }
    let mut way = WallPath::default();
    while lines.next(&mut text)?.is_some() {
        let mut row = [0.0; KNOWN.len()];
        header.row(&lines, &text, |column, value| {
            row[column.slot] = column.number(&lines, value)?;
            Ok(())
        })?;
        if let Some(before) = way.time.last().filter(|&&before| before >= row[TIME]) {
            let problem = format!("the time {} s is not after that of the row before, {before} s", row[TIME]);
            return Err(lines.error(problem, "sort the rows by time, one row for each"));
        }
        way.time.push(row[TIME]);
        way.position.push([row[1], row[2], row[3]]);
        if header.has(ANGLE) {
            way.angle.push(row[ANGLE]);
        }
    }
    if way.time.len() < 2 {
        return Err(FilesError::content(path, "a path of fewer than two places", remedy));
    }
    Ok(way)
}
