//! Files that only grow: tables of numbers (CSV) and logs. A checkpoint keeps a [`Mark`] of each, and a resumed run cuts
//! the file back to it, so that the whole file is what an uninterrupted run would have written.
//!
//! ```
//! use seixo_files::layer::{FaultyDisk, FileLayer};
//! use seixo_files::table::Table;
//! use std::path::Path;
//!
//! let (disk, path) = (FaultyDisk::new(), Path::new("/energies.csv"));
//! let mut table = Table::create(&disk, path, &["time [s]", "kinetic [J]"])?;
//! table.row(&[0.1, 2e-3])?;
//! let mark = table.mark()?;
//! table.row(&[0.2, 3e-3])?;
//! Table::resume(&disk, path, &mark)?;
//! assert_eq!(disk.read(path)?, b"time [s],kinetic [J]\n0.1,0.002\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::error::quoted;
use crate::layer::{FileLayer, LayerFile, folder_of};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How far a file was written, and what it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Length \[bytes\].
    pub bytes: u64,
    /// BLAKE3 of these bytes.
    pub blake3: String,
}

/// A file that only grows. After an error, only [`Table::resume`] makes it whole again.
pub struct Table {
    path: PathBuf,
    file: Box<dyn LayerFile>,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl Table {
    /// A new table with a line of column names, units in brackets: `time [s]`. An existing file is an error.
    pub fn create(layer: &dyn FileLayer, path: &Path, columns: &[&str]) -> Result<Table, FilesError> {
        let mut table = Table::create_log(layer, path)?;
        table.line(&columns.join(","))?;
        Ok(table)
    }

    /// A new file of lines, without column names. An existing file is an error.
    pub fn create_log(layer: &dyn FileLayer, path: &Path) -> Result<Table, FilesError> {
        let create = || {
            let file = layer.create_new(path)?;
            layer.sync_dir(folder_of(path))?;
            Ok(file)
        };
        let file = create().map_err(FilesError::disk(path, "create it"))?;
        Ok(Table {
            path: path.to_owned(),
            file,
            bytes: 0,
            hasher: blake3::Hasher::new(),
        })
    }

    /// Continues a file from a mark: what was written after it is cut off, what was written before must be unchanged.
    pub fn resume(layer: &dyn FileLayer, path: &Path, mark: &Mark) -> Result<Table, FilesError> {
        const REMEDY: &str = "put the file back as the run left it, or start the run again";
        let mut hasher = blake3::Hasher::new();
        let mut read_start = || io::copy(&mut layer.open(path)?.take(mark.bytes), &mut hasher);
        let bytes = read_start().map_err(FilesError::disk(path, "read it"))?;
        if bytes < mark.bytes {
            let problem = format!("{bytes} bytes, but the checkpoint has {}: it was cut short", mark.bytes);
            return Err(FilesError::content(path, problem, REMEDY));
        }
        if hasher.finalize().to_string() != mark.blake3 {
            let problem = format!("its first {bytes} bytes are not those of the checkpoint");
            return Err(FilesError::content(path, problem, REMEDY));
        }
        let reopen = || {
            layer.truncate(path, mark.bytes)?;
            layer.append(path)
        };
        let file = reopen().map_err(FilesError::disk(path, "continue it"))?;
        Ok(Table {
            path: path.to_owned(),
            file,
            bytes,
            hasher,
        })
    }

    /// Appends a row of numbers, each in the shortest form that reads back to the same bits.
    pub fn row(&mut self, values: &[f64]) -> Result<(), FilesError> {
        let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        self.line(&values.join(","))
    }

    /// Appends a line of text.
    pub fn line(&mut self, text: &str) -> Result<(), FilesError> {
        let line = format!("{text}\n");
        self.file
            .write_all(line.as_bytes())
            .map_err(FilesError::disk(&self.path, "append to it"))?;
        self.hasher.update(line.as_bytes());
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Where the file stands. Its contents up to here survive a power cut, so that a checkpoint may rely on it.
    pub fn mark(&mut self) -> Result<Mark, FilesError> {
        self.file.sync().map_err(FilesError::disk(&self.path, "sync it"))?;
        if !self.file.is_at(&self.path).map_err(FilesError::disk(&self.path, "look at it"))? {
            const REMEDY: &str = "start the run again, and leave its files where they are until it ends";
            return Err(FilesError::content(
                &self.path,
                "it was removed, moved or replaced while it was written",
                REMEDY,
            ));
        }
        Ok(Mark {
            bytes: self.bytes,
            blake3: self.hasher.finalize().to_string(),
        })
    }
}

/// The names and the values of the columns of a table of numbers. An incomplete last line is left out, and an empty cell is NaN.
///
/// # Errors
/// If the file cannot be read, or a line has other cells than numbers, or not as many as there are names.
pub fn read(layer: &dyn FileLayer, path: &Path) -> Result<(Vec<String>, Vec<Vec<f64>>), FilesError> {
    const REMEDY: &str = "put the file back as the run left it, or start the run again";
    let bytes = layer.read(path).map_err(FilesError::disk(path, "read it"))?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut lines = (1..).zip(whole.lines()).filter(|(_, line)| !line.starts_with('#'));
    let names = lines.next().map_or_else(Vec::new, |(_, line)| cells(line));
    let mut columns = vec![Vec::new(); names.len()];
    for (number, line) in lines {
        let count = line.split(',').count();
        if count != names.len() {
            let problem = format!("{count} values where the first line names {}", names.len());
            return Err(FilesError::line(path, number, problem, REMEDY));
        }
        for (column, cell) in columns.iter_mut().zip(line.split(',').map(str::trim)) {
            let value = if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
            column.push(value.map_err(|_| FilesError::line(path, number, format!("{} is not a number", quoted(cell)), REMEDY))?);
        }
    }
    Ok((names, columns))
}

/// The cells of a line; those in quotes may have commas.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{FaultyDisk, replace};

    #[test]
    fn a_table_is_read_back_with_its_bits() {
        let (disk, path) = (FaultyDisk::new(), Path::new("/probe.csv"));
        let mut table = Table::create(&disk, path, &["time [s]", "\"height at (0, 1) [m]\"", "count"]).unwrap();
        table.row(&[0.0, 0.1 + 0.2, 3.0]).unwrap();
        table.row(&[1e-9, f64::NAN, 4.0]).unwrap();
        table.line("2.0,1.0").unwrap();
        let refused = read(&disk, path).unwrap_err().to_string();
        assert!(
            refused.starts_with("/probe.csv:4: 2 values where the first line names 3"),
            "{refused}"
        );
        let text = String::from_utf8(disk.read(path).unwrap()).unwrap();
        // Cut short by a crash.
        replace(&disk, path, text.replace("2.0,1.0\n", "2.0,1.").as_bytes()).unwrap();
        let (names, columns) = read(&disk, path).unwrap();
        assert_eq!(names, ["time [s]", "height at (0, 1) [m]", "count"]);
        assert_eq!((&columns[0], &columns[2]), (&vec![0.0, 1e-9], &vec![3.0, 4.0]));
        assert_eq!(columns[1][0].to_bits(), (0.1_f64 + 0.2).to_bits());
        assert!(columns[1][1].is_nan());
        replace(&disk, path, text.replace("NaN", "one").as_bytes()).unwrap();
        let refused = read(&disk, path).unwrap_err().to_string();
        assert!(refused.starts_with("/probe.csv:3: `one` is not a number"), "{refused}");
    }
}
